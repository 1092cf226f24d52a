//! Custom traversal: the items behind a tee, each with the narrowest pipe on the path to it.
//!
//!     cargo run --example 10_walk

use std::collections::{HashSet, VecDeque};
use std::error::Error;
use std::fs;

use pidq::{Edge, Graph, Limits, NodeId, Query, Value};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;
    let tee = graph.find("TEE-102")?.ok_or("there is no such tee")?;

    let reached = walk(&graph, tee).into_iter().map(|(node, narrowest)| (text(graph.node(node), "tag"), narrowest));
    let (tags, narrowest): (Vec<&str>, Vec<f64>) = reached.unzip();
    for (tag, narrowest) in tags.iter().zip(&narrowest) {
        println!("{tag:9} DN {narrowest}");
    }

    // Without a value accumulated along the path, a query does it.
    let asked = Query::parse(r#"downstream("TEE-102") | map(.tag)"#)?.to_json(&graph, Limits::default())?;
    assert_eq!(format!("{tags:?}").replace(' ', ""), asked);
    assert_eq!(narrowest.iter().filter(|diameter| **diameter == 50.0).count(), 4, "the line for the minimum flow");
    Ok(())
}

/// Returns the nodes behind a node along its pipes, breadth first, with the smallest diameter on the path to each.
fn walk(graph: &Graph, start: NodeId) -> Vec<(NodeId, f64)> {
    let mut reached = Vec::new();
    let mut seen = HashSet::from([start]);
    let mut open = VecDeque::from([(start, f64::INFINITY)]);
    while let Some((node, narrowest)) = open.pop_front() {
        // A node has outgoing edges of every kind, including membership.
        for (edge, next) in graph.outgoing(node).filter(|(edge, _)| is_pipe(graph.edge(*edge))) {
            if seen.insert(next) {
                let step = (next, narrowest.min(diameter(graph.edge(edge))));
                open.push_back(step);
                reached.push(step);
            }
        }
    }
    reached
}

fn is_pipe(edge: Edge<'_>) -> bool {
    text(edge.value(), "edge_type") == "physically_connected_to"
}

/// Returns the diameter of a pipe; infinite if unknown.
fn diameter(pipe: Edge<'_>) -> f64 {
    let diameter = pipe.value().as_object().and_then(|pipe| pipe.get("nominal_diameter"));
    diameter.and_then(Value::as_f64).unwrap_or(f64::INFINITY)
}

/// Returns a string field of an object; empty if there is none.
fn text<'a>(item: Value<'a>, field: &str) -> &'a str {
    item.as_object().and_then(|object| object.get(field)).and_then(Value::as_str).unwrap_or_default()
}

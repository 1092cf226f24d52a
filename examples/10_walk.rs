//! Custom walk: the items downstream of a tee, each with the smallest pipe diameter on the path to it.
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

    let reached = walk(&graph, tee).into_iter().map(|(node, smallest)| (text(graph.node(node), "tag"), smallest));
    let (tags, smallest): (Vec<&str>, Vec<f64>) = reached.unzip();
    for (tag, smallest) in tags.iter().zip(&smallest) {
        println!("{tag:9} DN {smallest}");
    }

    // A query finds the same items. It cannot accumulate a value along the path.
    let result = Query::parse(r#"downstream("TEE-102") | map(.tag)"#)?.to_json(&graph, Limits::default())?;
    assert_eq!(format!("{tags:?}").replace(' ', ""), result);
    assert_eq!(smallest.iter().filter(|diameter| **diameter == 50.0).count(), 4, "the line for the minimum flow");
    Ok(())
}

/// Returns the nodes downstream of a node, breadth first, each with the smallest diameter on the path to it.
fn walk(graph: &Graph, start: NodeId) -> Vec<(NodeId, f64)> {
    let mut reached = Vec::new();
    let mut visited = HashSet::from([start]);
    let mut queue = VecDeque::from([(start, f64::INFINITY)]);
    while let Some((node, smallest)) = queue.pop_front() {
        // A node has outgoing edges of every kind, including membership.
        for (edge, next) in graph.outgoing(node).filter(|(edge, _)| is_pipe(graph.edge(*edge))) {
            if visited.insert(next) {
                let step = (next, smallest.min(diameter(graph.edge(edge))));
                queue.push_back(step);
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

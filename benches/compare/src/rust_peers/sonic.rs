//! sonic-rs: a loop over `Value`, and structs that borrow.

use std::collections::HashMap;

use serde::{Deserialize, Serialize, Serializer};
use sonic_rs::{JsonContainerTrait, JsonValueTrait, LazyValue, Value};

use crate::Result;

/// Drawing as structs with borrowed strings and unparsed attributes.
#[derive(Deserialize)]
#[expect(dead_code, reason = "read to be timed")]
pub struct Drawing<'a> {
    #[serde(borrow)]
    pid_graph: Graph<'a>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "read to be timed")]
struct Graph<'a> {
    #[serde(borrow)]
    metadata: LazyValue<'a>,
    #[serde(borrow)]
    nodes: Vec<Node<'a>>,
    #[serde(borrow)]
    edges: Vec<Edge<'a>>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "read to be timed")]
struct Node<'a> {
    id: &'a str,
    node_type: &'a str,
    tag: &'a str,
    class: &'a str,
    #[serde(borrow)]
    attributes: LazyValue<'a>,
    bbox: [f64; 4],
    #[serde(borrow)]
    position: Position<'a>,
    parent: Option<&'a str>,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "read to be timed")]
struct Position<'a> {
    x: f64,
    y: f64,
    sheet: &'a str,
}

#[derive(Deserialize)]
#[expect(dead_code, reason = "read to be timed")]
struct Edge<'a> {
    id: &'a str,
    source: &'a str,
    target: &'a str,
    edge_type: &'a str,
    direction: &'a str,
    #[serde(borrow)]
    attributes: LazyValue<'a>,
}

pub fn run(drawing: &Value, task: &str, out: &mut Vec<u8>) -> Result<usize> {
    let nodes = drawing["pid_graph"]["nodes"].as_array().ok_or("no nodes")?;
    let is_component = |node: &&Value| text(node, "node_type") == Some("pid_component");
    match task {
        "q1 ids" => return Ok(nodes.iter().filter(is_component).collect::<Vec<_>>().len()),
        "q1" => sonic_rs::to_writer(out, &nodes.iter().filter(is_component).collect::<Vec<_>>())?,
        "q2" => {
            let mut components: Vec<&Value> = nodes.iter().filter(is_component).collect();
            components.sort_by_key(|node| text(node, "tag"));
            let picked = components.iter().map(|node| {
                let fields = ["id", "tag", "class"];
                fields.map(|field| (field, text(node, field).unwrap_or_default()))
            });
            sonic_rs::to_writer(out, &picked.map(Picked).collect::<Vec<_>>())?;
        }
        "q3" => {
            let mut counts = HashMap::<&str, u64>::new();
            for class in nodes.iter().filter_map(|node| text(node, "class")) {
                *counts.entry(class).or_default() += 1;
            }
            sonic_rs::to_writer(out, &counts)?;
        }
        _ => {
            let is_high = |node: &&Value| {
                text(node, "class") == Some("GateValve")
                    && node.get("attributes").get("design_pressure").as_f64().is_some_and(|pressure| pressure > 40.0)
            };
            sonic_rs::to_writer(out, &nodes.iter().filter(is_high).count())?;
        }
    }
    Ok(1)
}

fn text<'v>(node: &'v Value, field: &str) -> Option<&'v str> {
    node.get(field)?.as_str()
}

struct Picked<'a>([(&'static str, &'a str); 3]);

impl Serialize for Picked<'_> {
    fn serialize<S: Serializer>(&self, output: S) -> Result<S::Ok, S::Error> {
        output.collect_map(self.0)
    }
}

//! Values: read a result in Rust without printing and parsing JSON. Values are views that borrow from the graph.

use std::error::Error;
use std::fs;

use pidq::{Graph, Limits, Query, Scratch, Value};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;
    let query = Query::parse(r#".pid_graph.nodes | filter(.node_type == "loop") | sort(.set_point)"#)?;

    // New values are allocated in the scratch memory; existing ones are borrowed from the graph.
    let scratch = Scratch::new();
    let result = query.run(&graph, &scratch, Limits::default())?;
    for row in result.rows() {
        let text = |field| row.get(field).and_then(Value::as_str).unwrap_or_default();
        let set_point = row.get("set_point").and_then(Value::as_f64).unwrap_or(f64::NAN);
        println!("{:8} {:12} {set_point:>6} {}", text("tag"), text("loop_kind"), text("unit"));
    }

    // A JSON Pointer reaches into a document.
    let first = graph.root().pointer("/pid_graph/nodes/0/tag").and_then(Value::as_str);
    println!("the first node is {}", first.unwrap_or("not tagged"));
    Ok(())
}

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
    let outcome = query.run(&graph, &scratch, Limits::default())?;

    let loops = outcome.value.as_array().ok_or("the result is not an array")?;
    for item in loops.iter() {
        println!("{:8} {:12} {:>6} {}", text(item, "tag"), text(item, "loop_kind"), number(item), text(item, "unit"));
    }
    Ok(())
}

/// Returns a string field of an object; empty if there is none.
fn text<'a>(item: Value<'a>, field: &str) -> &'a str {
    item.as_object().and_then(|object| object.get(field)).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the set point of a loop; NaN if there is none.
fn number(item: Value<'_>) -> f64 {
    item.as_object().and_then(|object| object.get("set_point")).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

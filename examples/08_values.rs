//! Take an answer apart in Rust, without printing and parsing JSON: values are views that borrow from the graph.

use std::error::Error;
use std::fs;

use pidq::{Graph, Limits, Query, Scratch, Value};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;
    let query = Query::parse(r#".pid_graph.nodes | filter(.node_type == "loop") | sort(.set_point)"#)?;

    // What the run builds lives in the scratch memory, what it found stays in the graph.
    let scratch = Scratch::new();
    let outcome = query.run(&graph, &scratch, Limits::default())?;

    let loops = outcome.value.as_array().ok_or("the answer is a list")?;
    for item in loops.iter() {
        println!("{:8} {:12} {:>6} {}", text(item, "tag"), text(item, "loop_kind"), number(item), text(item, "unit"));
    }
    Ok(())
}

/// A text of an object; empty where there is none.
fn text<'a>(item: Value<'a>, field: &str) -> &'a str {
    item.as_object().and_then(|object| object.get(field)).and_then(Value::as_str).unwrap_or_default()
}

/// The set point of a loop; not a number where there is none.
fn number(item: Value<'_>) -> f64 {
    item.as_object().and_then(|object| object.get("set_point")).and_then(Value::as_f64).unwrap_or(f64::NAN)
}

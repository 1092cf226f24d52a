//! Filtering: valves that are closed in normal operation, and their services.

use std::error::Error;
use std::fs;

use pidq::{Graph, Limits, Query};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;
    let query = Query::parse(r#".pid_graph.nodes | filter(.normal_position == "closed") | pick(.tag, .service)"#)?;
    println!("{}", query.to_json(&graph, Limits::default())?);
    Ok(())
}

//! Errors: message, location and help as text, and a code for programs.

use std::error::Error;
use std::fs;

use pidq::{Graph, Limits, Query};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

const INVALID_QUERIES: [&str; 3] = [
    r#".pid_graph.nodes | fliter(.node_type == "loop")"#,
    r#".pid_graph.nodes | filter(.node_type = "loop")"#,
    ".pid_graph.metadata.revision | map(.tag)",
];

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;
    for text in INVALID_QUERIES {
        match evaluate(&graph, text) {
            Ok(result) => println!("{result}"),
            // The code is stable and for programs; the text is for people and may change.
            Err(error) => println!("code {}\n{}", error.code().as_str(), error.render(text)),
        }
    }
    Ok(())
}

fn evaluate(graph: &Graph, text: &str) -> Result<String, pidq::Error> {
    Query::parse(text)?.to_json(graph, Limits::default())
}

//! Grouping and counting: lines by fluid, and control valves by their fail action.

use std::error::Error;
use std::fs;

use pidq::{Graph, Limits, Query};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

const QUERIES: [(&str, &str); 2] = [
    (
        "lines by fluid",
        r#".pid_graph.nodes | filter(.node_type == "pipe_system") | groupBy(.fluid_code) | mapValues(size())"#,
    ),
    (
        "control valves by fail action",
        r#"
            .pid_graph.nodes
            | filter(.node_classification == "piping_component.control_valve")
            | groupBy(.fail_action)
            | mapValues(map(.tag))
        "#,
    ),
];

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;
    for (title, text) in QUERIES {
        let result = Query::parse(text)?.to_json(&graph, Limits::default())?;
        println!("{title}: {result}");
    }
    Ok(())
}

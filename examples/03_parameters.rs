//! Parameters: a query is compiled once and runs with many values. A parameter is data and never changes the meaning of a
//! query.

use std::error::Error;
use std::fs;

use pidq::{Graph, Limits, OwnedValue, Query, Value};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;

    // Every `$name` that the query does not bind itself is a parameter.
    let query = Query::prepare(".pid_graph.nodes | filter(.node_type == $kind) | map(.tag) | limit($count)")?;
    for (kind, count) in [("loop", 2), ("pipe_system", 3)] {
        let bound = query.bind([("kind", Value::from(kind)), ("count", Value::from(count))])?;
        println!("{count} of {kind}: {}", bound.to_json(&graph, Limits::default())?);
    }

    // Lists and objects are parameters, too: parts of a document, results, or values of the program.
    let tags = OwnedValue::from(vec!["P-101A", "P-101B"]);
    let services = Query::prepare("nodes() | filter(.tag in $tags) | map(.service)")?;
    let found: Vec<String> = services.bind([("tags", &tags)])?.run_as(&graph, Limits::default())?;
    println!("{}", found.join("; "));

    match services.bind([("tga", "P-101A")]) {
        Ok(_) => println!("bound"),
        Err(error) => println!("{error}"),
    }
    Ok(())
}

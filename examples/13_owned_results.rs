//! Owned results: values that outlive their graph, move to other threads, and become documents.

use std::error::Error;
use std::fs;
use std::io::BufReader;
use std::thread;

use pidq::{Graph, Limits, OwnedValue, Query};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

/// Returns the nodes and edges of the loops; the graph ends with the function.
fn loops() -> Result<OwnedValue, Box<dyn Error>> {
    let graph = Graph::from_reader(BufReader::new(fs::File::open(DRAWING)?))?;
    let query = Query::parse(r#"{nodes: nodes() | filter(.node_type == "loop"), edges: []}"#)?;
    Ok(query.run_as(&graph, Limits::default())?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let loops = loops()?;
    println!("the first loop is {}", loops["nodes"][0]["tag"].as_str().unwrap_or("not tagged"));
    // A missing key is null, as in a query.
    println!("its color is {:?}", loops["nodes"][0]["color"]["name"]);

    let worker = thread::spawn(move || -> Result<String, pidq::Error> {
        let graph = Graph::from_value(&loops)?;
        Query::parse("nodes() | map(.loop_kind) | uniq()")?.to_json(&graph, Limits::default())
    });
    println!("{}", worker.join().map_err(|_| "the thread panicked")??);
    Ok(())
}

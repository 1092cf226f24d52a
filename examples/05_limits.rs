//! Limits: an untrusted query gets a budget, and ends with an error code when it is exhausted.

use std::error::Error;
use std::fs;

use pidq::{Graph, Limits, Query, Scratch};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;
    let query = Query::parse(r#".pid_graph.nodes | map(.tag + " on " + .line) | sort()"#)?;

    let scratch = Scratch::new();
    let outcome = query.run(&graph, &scratch, Limits::default())?;
    println!("with the default limits the query takes {} units of fuel", outcome.fuel);

    // Fuel counts steps, not time: the query stops at the same point on every machine.
    let tight = Limits { fuel: 100, ..Limits::default() };
    match query.to_json(&graph, tight) {
        Ok(_) => println!("a hundred units are enough"),
        Err(error) => println!("with a hundred units it stops with {}", error.code().as_str()),
    }
    Ok(())
}

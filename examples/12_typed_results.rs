//! Typed results: a result becomes a struct with serde, without JSON text in between.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use pidq::{Graph, Limits, Query, Scratch};
use serde::Deserialize;

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

#[derive(Debug, Deserialize)]
struct Equipment {
    tag: String,
    design_pressure: Option<f64>,
}

/// Its strings borrow from the graph.
#[derive(Deserialize)]
struct Service<'a> {
    tag: &'a str,
    service: &'a str,
}

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;
    let query = Query::parse("nodes() | filter(.design_pressure > 5) | limit(3)")?;
    let equipment: Vec<Equipment> = query.run_as(&graph, Limits::default())?;
    for item in &equipment {
        println!("{} is designed for {:?}", item.tag, item.design_pressure);
    }

    let counts: BTreeMap<String, u32> =
        Query::parse("nodes() | countBy(.node_type)")?.run_as(&graph, Limits::default())?;
    println!("{counts:?}");

    let (query, scratch) = (Query::parse("nodes() | filter(.service != null) | limit(2)")?, Scratch::new());
    let result = query.run(&graph, &scratch, Limits::default())?;
    for Service { tag, service } in result.deserialize::<Vec<Service>>()? {
        println!("{tag}: {service}");
    }

    // The error says which value does not fit.
    match Query::parse("nodes() | map({tag: .tag, design_pressure: .service})")?
        .run_as::<Vec<Equipment>>(&graph, Limits::default())
    {
        Ok(equipment) => println!("{} items", equipment.len()),
        Err(error) => println!("{} in the result: {error}", error.data_path().unwrap_or_default()),
    }
    Ok(())
}

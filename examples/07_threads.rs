//! Threads: one graph and one query shared by several threads. Both are immutable, so no lock is needed.

use std::error::Error;
use std::fs;
use std::thread;

use pidq::{Graph, Limits, Query};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");
const THREADS: usize = 4;
const ROUNDS: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;
    let query = Query::parse(".pid_graph.nodes | groupBy(.node_type) | mapValues(size())")?;

    let results = thread::scope(|scope| {
        let handles: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| run_repeatedly(&graph, &query))).collect();
        handles.into_iter().map(|handle| handle.join().expect("a thread does not panic")).collect::<Result<Vec<_>, _>>()
    })?;

    assert!(results.iter().all(|result| *result == results[0]), "the result is the same on every thread");
    println!("{THREADS} threads, {ROUNDS} runs each: {}", results[0]);
    Ok(())
}

/// Returns the result of the last of many runs.
fn run_repeatedly(graph: &Graph, query: &Query) -> Result<String, pidq::Error> {
    let mut result = String::new();
    for _ in 0..ROUNDS {
        result = query.to_json(graph, Limits::default())?;
    }
    Ok(result)
}

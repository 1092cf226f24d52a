//! Async code: a query in the thread pool of tokio, with a timeout, cancelled when its caller disappears.

use std::error::Error;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use pidq::{Cancel, Graph, Limits, Query};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(print_results())
}

async fn print_results() -> Result<(), Box<dyn Error>> {
    let graph = Arc::new(Graph::from_json(fs::read(DRAWING)?)?);
    let short = Arc::new(Query::parse(".pid_graph.nodes | size()")?);
    println!("{} nodes", run(graph.clone(), short, Duration::from_secs(5)).await?);

    let triples = "nodes() | map(let({a: get()}, nodes() | map(let({b: get()}, nodes(.tag == $a.tag + $b.tag)))))";
    let long = Arc::new(Query::parse(triples)?);
    match run(graph, long, Duration::from_millis(1)).await {
        Ok(_) => println!("the long query ended in time"),
        Err(error) => println!("the long query was stopped with {}", error.code().as_str()),
    }
    Ok(())
}

/// Runs a query in the thread pool, for a limited time. The run is also stopped if the caller drops the future, for
/// example because its client disconnected.
async fn run(graph: Arc<Graph>, query: Arc<Query>, timeout: Duration) -> Result<String, pidq::Error> {
    let cancel = Arc::new(Cancel::default());
    let _guard = CancelOnDrop(cancel.clone());
    let flag = cancel.clone();
    let mut run = tokio::task::spawn_blocking(move || {
        let limits = Limits { cancel: Some(&flag), ..Limits::default() };
        query.to_json(&graph, limits)
    });
    let result = match tokio::time::timeout(timeout, &mut run).await {
        Ok(result) => result,
        Err(_) => {
            cancel.time_out();
            // The run ends soon, with `PQ4005`.
            run.await
        }
    };
    result.expect("a query does not panic")
}

struct CancelOnDrop(Arc<Cancel>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

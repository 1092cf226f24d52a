//! Parameters: pass external values as parameters, never by string concatenation. A parameter cannot change the meaning
//! of a query.

use std::error::Error;
use std::fs;

use pidq::{Dialect, Graph, Limits};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;
    let dialect = Dialect::standard();
    let text = ".pid_graph.nodes | filter(.node_type == $kind) | map(.tag) | limit($count)";
    for params in [r#"{"kind": "loop", "count": 2}"#, r#"{"kind": "pipe_system", "count": 3}"#] {
        let query = dialect.parse_with(text, params)?;
        println!("{params} gives {}", query.to_json(&graph, Limits::default())?);
    }
    Ok(())
}

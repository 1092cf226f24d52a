//! Custom operator and function: `.service has "pump"`.

use std::error::Error;
use std::fs;

use pidq::{Dialect, Function, Graph, Limits, Operator, Precedence, Value};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;
    let has = Operator {
        name: "hasText".into(),
        text: "has".into(),
        precedence: Precedence::At("==".into()),
        vararg: false,
        left_associative: false,
    };
    let has_text = Function::new("hasText", |_, _, args| match args {
        [Value::String(text), Value::String(part)] => Ok(Value::Bool(text.contains(part))),
        _ => Ok(Value::Bool(false)),
    });
    let dialect = Dialect::standard().with_function(has_text).with_operators(&[has])?;
    let query = dialect.parse(r#".pid_graph.nodes | filter(.service has "pump") | pick(.tag, .service)"#)?;
    println!("{}", query.to_json(&graph, Limits::default())?);
    Ok(())
}

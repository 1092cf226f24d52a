//! Custom functions: declared parameters, arguments that the function evaluates itself, and names known at run time.

use std::error::Error;
use std::fs;

use pidq::{CustomParam, Dialect, Function, Graph, Limits, Value};

const DRAWING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/plant.json");

/// Factors to bar, for example from a file.
const UNITS: [(&str, f64); 3] = [("psi", 0.068_947_6), ("kPa", 0.01), ("MPa", 10.0)];

fn main() -> Result<(), Box<dyn Error>> {
    let graph = Graph::from_json(fs::read(DRAWING)?)?;
    let mut dialect = Dialect::standard();

    // One function for each unit: `from_psi(value)`. A missing pressure stays missing.
    for (unit, factor) in UNITS {
        let convert = Function::new(format!("from_{unit}"), move |_, _, args| {
            Ok(Value::from(args.first().and_then(|value| value.as_f64()).map(|value| value * factor)))
        });
        dialect = dialect.with_function(convert.with_params([CustomParam::number("value").optional()]));
    }

    // A function that evaluates its argument on one item after the other, until it is true.
    let first_where = Function::lazy("firstWhere", |cx, list, args| {
        for item in list.items() {
            if cx.eval_argument(args, 0, item)?.is_truthy() {
                return Ok(item);
            }
        }
        Ok(Value::Null)
    });
    let first_where = first_where
        .with_params([CustomParam::any("condition")])
        .with_summary("The first item for which the condition is true; null if there is none.");
    dialect = dialect.with_function(first_where);

    let query = dialect.parse("nodes() | firstWhere(from_MPa(.design_pressure) > 200) | .tag")?;
    println!("{}", query.to_json(&graph, Limits::default())?);

    // Mistakes are found before the run.
    for text in ["from_kPa()", r#"from_kPa("high")"#] {
        match dialect.parse(text) {
            Ok(_) => println!("{text} compiles"),
            Err(error) => print!("{}", error.render(text)),
        }
    }
    Ok(())
}

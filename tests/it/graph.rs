//! Questions to the graph of a drawing: the worked examples, corners in a notation of our own, and oracles.

use pidq::{Dialect, Graph, Limits};
use serde_json::Value;

/// The answer to a query with parameters, or the first line of its error.
fn ask(graph: &Graph, query: &str, params: &str) -> Result<Value, String> {
    let answer =
        Dialect::standard().parse_with(query, params).and_then(|query| query.to_json(graph, Limits::default()));
    answer.map(|json| serde_json::from_str(&json).expect("an answer is JSON")).map_err(|error| error.to_string())
}

#[test]
fn the_worked_examples_hold() {
    let graph = Graph::from_json(include_str!("../data/graph/pid_small.json")).expect("the drawing is JSON");
    let cases: Value =
        serde_json::from_str(include_str!("../data/graph/graph_examples.json")).expect("the cases are JSON");
    let cases = cases["cases"].as_array().expect("a list of cases");
    let wrong: Vec<String> = cases.iter().filter_map(|case| differs(&graph, case)).collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    assert_eq!(cases.len(), 39);
}

/// What is wrong with the answer to a case, if anything is.
fn differs(graph: &Graph, case: &Value) -> Option<String> {
    let query = case["query"].as_str().expect("a case has a query");
    let params = case.get("params").map_or("{}".into(), Value::to_string);
    let answer = ask(graph, query, &params);
    let is_right = match (&answer, case.get("error")) {
        // Where the data was is beside the point here.
        (Err(shown), Some(error)) => {
            shown.replace(" at .;", ";") == format!("{}: {}", text(error, "code"), text(error, "message"))
        }
        (Ok(answer), None) => same(answer, &case["output"]),
        _ => false,
    };
    let tree =
        Dialect::standard().tree(query).map(|tree| serde_json::from_str::<Value>(&tree).expect("a tree is JSON"));
    let same_tree = case.get("json_query").is_none_or(|expected| tree.as_ref().is_ok_and(|tree| same(tree, expected)));
    (!is_right || !same_tree)
        .then(|| format!("{query}\n  gives {answer:?}\n  not {}", case.get("output").unwrap_or(&case["error"])))
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().expect("a text")
}

/// Equality of JSON values in which `1` and `1.0` are the same.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

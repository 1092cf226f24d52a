//! Documentation of functions: every function is documented, and its example returns the documented result.

use pidq::{Dialect, Function, Graph, Limits};
use serde_json::json;

/// The drawing of the examples.
pub const DRAWING: &str = include_str!("../data/graph/pid_small.json");

#[test]
fn every_example_returns_its_documented_result() {
    let dialect = Dialect::standard();
    let graph = Graph::from_json(DRAWING).expect("the drawing is JSON");
    let mut wrong = Vec::new();
    for function in dialect.functions() {
        let (query, expected) = function.example().split_once(" => ").expect("an example is `query => result`");
        let result = dialect.parse(query).and_then(|query| query.to_json(&graph, Limits::default()));
        if result.as_deref().ok() != Some(expected) {
            wrong.push(format!("{}: {query}: {result:?}", function.name()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_function_is_documented_and_named_once() {
    let dialect = Dialect::standard();
    let mut names: Vec<&str> = dialect.functions().map(Function::name).collect();
    for function in dialect.functions() {
        assert!(function.summary().ends_with('.'), "{}: a summary is a sentence", function.name());
    }
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a name occurs twice: {names:?}");
    assert_eq!(Dialect::json_query().functions().count(), 55);
}

#[test]
fn the_dialect_as_json_lists_functions_and_operators() {
    let listed = serde_json::to_value(Dialect::standard()).expect("JSON");
    let values = |list: &str, field: &str| -> Vec<String> {
        let rows = listed[list].as_array().expect("a list").iter();
        rows.map(|row| row[field].as_str().expect("a text").to_owned()).collect()
    };
    let names: Vec<_> = Dialect::standard().functions().map(|function| function.name().to_owned()).collect();
    assert_eq!(values("functions", "name"), names);
    assert!(values("operators", "function").iter().all(|name| names.contains(name)));
    let isolate = names.iter().position(|name| name == "isolate").expect("a function of drawings");
    let options = &listed["functions"][isolate]["params"][1];
    assert_eq!((&options["expects"], &options["optional"]), (&json!("options"), &json!(true)));
    assert!(options["options"].as_array().is_some_and(|options| options.contains(&json!("barriers"))), "{options}");
    assert_eq!(listed["operators"][0], json!({"text": "^", "function": "pow", "level": 0}));
}

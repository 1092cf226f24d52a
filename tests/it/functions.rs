//! Every function is documented, and its example gives what it says.

use pidq::{Dialect, Graph, Limits};

/// The drawing that examples ask about.
pub const DRAWING: &str = include_str!("../data/graph/pid_small.json");

#[test]
fn every_example_holds() {
    let dialect = Dialect::standard();
    let graph = Graph::from_json(DRAWING).expect("the drawing is JSON");
    let mut wrong = Vec::new();
    for function in dialect.functions() {
        let (query, result) = function.example.split_once(" => ").expect("an example is `query => result`");
        let answer = dialect.parse(query).and_then(|query| query.to_json(&graph, Limits::default()));
        if answer.as_deref().ok() != Some(result) {
            wrong.push(format!("{}: {query}: {answer:?}", function.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_function_is_documented_and_named_once() {
    let dialect = Dialect::standard();
    let mut names: Vec<&str> = dialect.functions().map(|function| function.name).collect();
    for function in dialect.functions() {
        assert!(function.summary.ends_with('.'), "{}: a summary is a sentence", function.name);
    }
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "a name stands twice: {names:?}");
    assert_eq!(Dialect::json_query().functions().count(), 55);
}

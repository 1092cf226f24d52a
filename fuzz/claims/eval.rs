//! A query in the first line, a document in the rest: results are the same with and without shortcuts, and so is the
//! fuel, unless a step may end early.
//!
//! Columns are read for long lists only, so the document is asked once as it is and once as a long list of its parts.

use pidq_core::error::{Code, Stage};
use pidq_core::{Graph, Limits, Query, Scratch, Value};

/// Items of the long list.
const LONG: usize = 72;

/// Panics where the claim does not hold.
pub fn check(input: &str) {
    let Some((text, document)) = input.split_once('\n') else { return };
    let Ok(graph) = Graph::from_json(document) else { return };
    ask(text, &graph);
    if let Ok(long) = Graph::from_json(long(&graph)) {
        ask(text, &long);
    }
}

fn ask(text: &str, graph: &Graph) {
    let Ok(query) = Query::parse(text) else { return };
    let Ok(plain) = Query::parse(text).map(Query::without_shortcuts) else { return };
    let (fast, fuel) = run(&query, graph);
    let (slow, plain_fuel) = run(&plain, graph);
    // A limit may stop only one of the two: they need different memory.
    if is_limit(&fast) || is_limit(&slow) {
        return;
    }
    assert_eq!(fast, slow, "with and without shortcuts");
    let ends_early = ["limit", "first", ".0"].iter().any(|word| text.contains(word)) || text.contains("filter");
    assert!(fuel == plain_fuel || ends_early && fuel < plain_fuel, "{fuel:?} and {plain_fuel:?} steps");
}

/// A list of the items of a list, or of copies of anything else, again and again.
fn long(graph: &Graph) -> String {
    let items: Vec<Value<'_>> = match graph.root() {
        Value::Array(array) if !array.is_empty() => array.iter().take(LONG).collect(),
        other => vec![other],
    };
    let texts: Vec<String> = items.iter().map(|item| format!("{item:?}")).collect();
    let long: Vec<&str> = texts.iter().cycle().take(LONG).map(String::as_str).collect();
    format!("[{}]", long.join(","))
}

fn run(query: &Query, graph: &Graph) -> (Result<String, Code>, Option<u64>) {
    let limits = Limits { fuel: 200_000, memory: 16 << 20, output: 4 << 20, ..Limits::default() };
    let scratch = Scratch::new();
    match query.run(graph, &scratch, limits) {
        Ok(outcome) => {
            let mut json = Vec::new();
            let written = outcome.write_json(&mut json).map(|()| String::from_utf8_lossy(&json).into_owned());
            (written.map_err(|error| error.code()), Some(outcome.fuel))
        }
        Err(error) => (Err(error.code()), None),
    }
}

fn is_limit(result: &Result<String, Code>) -> bool {
    result.as_ref().is_err_and(|code| code.stage() == Stage::Limit)
}

//! A query in the first line, a document in the rest: results are the same with and without shortcuts.

use pidq_core::error::{Code, Stage};
use pidq_core::{Graph, Limits, Query};

/// Panics where the claim does not hold.
pub fn check(input: &str) {
    let Some((text, document)) = input.split_once('\n') else { return };
    let Ok(query) = Query::parse(text) else { return };
    let Ok(graph) = Graph::from_json(document) else { return };

    let fast = run(&query, &graph);
    let slow = run(&query.without_shortcuts(), &graph);
    // Shortcuts spend less, so a limit may stop only one of the two.
    if !is_limit(&fast) && !is_limit(&slow) {
        assert_eq!(fast, slow, "with and without shortcuts");
    }
}

fn run(query: &Query, graph: &Graph) -> Result<String, Code> {
    let limits = Limits { fuel: 200_000, memory: 16 << 20, output: 4 << 20, ..Limits::default() };
    query.to_json(graph, limits).map_err(|error| error.code())
}

fn is_limit(result: &Result<String, Code>) -> bool {
    result.as_ref().is_err_and(|code| code.stage() == Stage::Limit)
}

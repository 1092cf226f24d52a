//! Properties of the fuzz targets, checked on their corpora without a fuzzer. `make test-long` runs the fuzzer.

#[path = "../../fuzz/properties/eval.rs"]
mod eval;
#[path = "../../fuzz/properties/graph.rs"]
mod graph;
#[path = "../../fuzz/properties/json_format.rs"]
mod json_format;
#[path = "../../fuzz/properties/load.rs"]
mod load;
#[path = "../../fuzz/properties/parse.rs"]
mod parse;
#[path = "../../fuzz/properties/replay.rs"]
mod replay;

use std::path::Path;

use replay::{Property, replay, text};

/// The fuzz targets and their properties.
const PROPERTIES: [(&str, Property); 5] = [
    ("eval", |input| text(input, eval::check)),
    ("graph", graph::check),
    ("json_format", |input| text(input, json_format::check)),
    ("load", load::check),
    ("parse", |input| text(input, parse::check)),
];

#[test]
fn every_input_of_the_corpora_satisfies_the_properties() {
    replay(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus"), &PROPERTIES);
}

#[test]
fn queries_on_random_drawings_satisfy_the_properties() {
    // Xorshift: the same drawings on every machine. `PIDQ_ROUNDS` is the number of drawings per query.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let rounds = std::env::var("PIDQ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20);
    for query in (0..graph::QUERIES.len()).cycle().take(rounds * graph::QUERIES.len()) {
        let rest = (0..200).map(|_| next());
        let input: Vec<u8> = std::iter::once(query as u8).chain(rest).collect();
        graph::check(&input);
    }
}

#[test]
fn every_graph_function_is_tested() {
    let dialect = pidq::Dialect::standard();
    let groups = dialect.groups().filter(|(group, _)| ["graph", "pid", "pid_reports"].contains(group));
    for function in groups.flat_map(|(_, rows)| rows) {
        let call = format!("{}(", function.name());
        let is_covered = graph::QUERIES.iter().any(|query| {
            query.match_indices(&call).any(|(at, _)| !query[..at].ends_with(|c: char| c.is_alphanumeric()))
        });
        assert!(is_covered, "no query calls `{}`", function.name());
    }
}

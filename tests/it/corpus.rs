//! Claims of the fuzz targets on their corpora, without a fuzzer. `make soak` grows them with the fuzzer.

#[path = "../../fuzz/claims/eval.rs"]
mod eval;
#[path = "../../fuzz/claims/graph.rs"]
mod graph;
#[path = "../../fuzz/claims/json_format.rs"]
mod json_format;
#[path = "../../fuzz/claims/load.rs"]
mod load;
#[path = "../../fuzz/claims/parse.rs"]
mod parse;
#[path = "../../fuzz/claims/replay.rs"]
mod replay;

use std::path::Path;

use replay::{Claim, replay, text};

/// The targets and their claims.
const CLAIMS: [(&str, Claim); 5] = [
    ("eval", |input| text(input, eval::check)),
    ("graph", graph::check),
    ("json_format", |input| text(input, json_format::check)),
    ("load", load::check),
    ("parse", |input| text(input, parse::check)),
];

#[test]
fn every_input_of_the_corpora_keeps_the_claims() {
    replay(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus"), &CLAIMS);
}

#[test]
fn queries_on_random_drawings_keep_the_claims() {
    // Xorshift: the same drawings on every machine. `make soak` runs more of them.
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
    let about_drawings = pidq::Dialect::standard();
    let names = about_drawings.groups().filter(|(group, _)| ["graph", "pid"].contains(group));
    for function in names.flat_map(|(_, rows)| rows) {
        let call = format!("{}(", function.name);
        let is_covered = graph::QUERIES.iter().any(|query| {
            query.match_indices(&call).any(|(at, _)| !query[..at].ends_with(|c: char| c.is_alphanumeric()))
        });
        assert!(is_covered, "no query calls `{}`", function.name);
    }
}

//! The claims of the fuzz targets on their corpora, without a fuzzer. `make soak` lets the fuzzer grow them.

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

/// The targets and what they claim.
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
fn questions_to_drawings_of_chance_keep_the_claim() {
    // Xorshift: the same drawings everywhere. More of them: `make soak`.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let rounds = std::env::var("PIDQ_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(20);
    for question in (0..graph::QUESTIONS.len()).cycle().take(rounds * graph::QUESTIONS.len()) {
        let rest = (0..200).map(|_| next());
        let input: Vec<u8> = std::iter::once(question as u8).chain(rest).collect();
        graph::check(&input);
    }
}

#[test]
fn every_function_about_drawings_is_asked() {
    let about_drawings = pidq::Dialect::standard();
    let names = about_drawings.groups().filter(|(group, _)| ["graph", "pid"].contains(group));
    for function in names.flat_map(|(_, rows)| rows) {
        let call = format!("{}(", function.name);
        let is_asked = graph::QUESTIONS.iter().any(|question| {
            question.match_indices(&call).any(|(at, _)| !question[..at].ends_with(|c: char| c.is_alphanumeric()))
        });
        assert!(is_asked, "no question asks `{}`", function.name);
    }
}

//! Replay of the fuzz corpora for untrusted input, without a fuzzer.

#[path = "../../../fuzz/claims/form.rs"]
mod form;
#[path = "../../../fuzz/claims/parts.rs"]
mod parts;
#[path = "../../../fuzz/claims/replay.rs"]
mod replay;
#[path = "../../../fuzz/claims/token.rs"]
mod token;
#[path = "../../../fuzz/claims/world.rs"]
mod world;

use std::path::Path;

use replay::{Claim, replay, text};

/// Fuzz targets with their checks.
const CLAIMS: [(&str, Claim); 3] =
    [("form", form::check), ("parts", parts::check), ("token", |input| text(input, token::check))];

#[test]
fn every_input_of_the_corpora_keeps_the_claims() {
    replay(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus"), &CLAIMS);
}

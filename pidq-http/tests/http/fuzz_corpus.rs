//! Replay of the fuzz corpora for untrusted input, without a fuzzer.

#[path = "../../../fuzz/properties/fixture.rs"]
mod fixture;
#[path = "../../../fuzz/properties/form.rs"]
mod form;
#[path = "../../../fuzz/properties/parts.rs"]
mod parts;
#[path = "../../../fuzz/properties/replay.rs"]
mod replay;
#[path = "../../../fuzz/properties/token.rs"]
mod token;

use std::path::Path;

use replay::{Property, replay, text};

/// Fuzz targets with their properties.
const PROPERTIES: [(&str, Property); 3] =
    [("form", form::check), ("parts", parts::check), ("token", |input| text(input, token::check))];

#[test]
fn every_input_of_the_corpora_satisfies_the_properties() {
    replay(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus"), &PROPERTIES);
}

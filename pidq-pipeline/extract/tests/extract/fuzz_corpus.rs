//! Replay of the fuzz corpora of documents, without a fuzzer.

#[path = "../../../../fuzz/properties/document.rs"]
mod document;
#[path = "../../../../fuzz/properties/extraction.rs"]
mod extraction;
#[path = "../../../../fuzz/properties/mail.rs"]
mod mail;
#[path = "../../../../fuzz/properties/office.rs"]
mod office;
#[allow(dead_code, reason = "other targets read text")]
#[path = "../../../../fuzz/properties/replay.rs"]
mod replay;
#[path = "../../../../fuzz/properties/words.rs"]
mod words;

use std::path::Path;

use replay::{Property, replay};

/// Fuzz targets with their properties.
const PROPERTIES: [(&str, Property); 4] =
    [("document", document::check), ("mail", mail::check), ("office", office::check), ("words", words::check)];

#[test]
fn every_input_of_the_corpora_satisfies_the_properties() {
    replay(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus"), &PROPERTIES);
}

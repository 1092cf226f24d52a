//! Fuzz property of `document`: a document in any format is extracted or rejected, with and without a file name.

use super::extraction::{extract, options};

/// Names of formats that the content alone seldom determines.
const NAMES: &[&str] = &["a.csv", "a.html", "a.json", "a.md", "a.rtf", "a.tsv", "a.txt", "a.xml", "a.pdf"];

/// Panics if the property is violated.
pub fn check(input: &[u8]) {
    let _ = extract(input, None, &options());
    // The length selects the name, so that every sample is a seed as it is.
    let _ = extract(input, Some(NAMES[input.len() % NAMES.len()]), &options());
}

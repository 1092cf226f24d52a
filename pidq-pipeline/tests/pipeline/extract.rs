//! Text extraction from documents.

mod formats;
mod hostile;
mod isolation;
mod mutations;
mod office;
mod pages;
mod samples;

use std::path::PathBuf;

use pidq_pipeline::extract::{ErrorCode, ExtractError, Extracted, Options, Upload, read};

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/data/documents"].iter().collect()
}

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

/// Extracts a document with a file name, using the built-in readers.
fn read_named(name: &str, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    read(&Upload { bytes, name: Some(name), media_type: None }, &Options::default())
}

/// Extracts a document without a file name.
fn read_nameless(bytes: &[u8]) -> Result<Extracted, ExtractError> {
    read(&Upload { bytes, ..Upload::default() }, &Options::default())
}

#[track_caller]
fn refused(name: &str, bytes: &[u8], code: ErrorCode) {
    match read_named(name, bytes) {
        Err(failure) => assert_eq!(failure.code, code, "{name}: {failure}"),
        Ok(found) => panic!("{name} was read as {}: {:.200}", found.format, found.text),
    }
}

/// Returns a text with its white space collapsed.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

//! Documents: what is read from them, and what is refused.

mod formats;
mod hostile;
mod isolation;
mod mutations;
mod office;
mod pages;
mod samples;

use std::path::PathBuf;

use pidq_pipeline::extract::{Code, Extracted, Failure, Options, Upload, read};

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/data/documents"].iter().collect()
}

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

/// Reads a document of a name with the built-in readers.
fn read_named(name: &str, bytes: &[u8]) -> Result<Extracted, Failure> {
    read(&Upload { bytes, name: Some(name), media_type: None }, &Options::default())
}

/// A name that ends in nothing says nothing.
fn read_nameless(bytes: &[u8]) -> Result<Extracted, Failure> {
    read(&Upload { bytes, ..Upload::default() }, &Options::default())
}

#[track_caller]
fn refused(name: &str, bytes: &[u8], code: Code) {
    match read_named(name, bytes) {
        Err(failure) => assert_eq!(failure.code, code, "{name}: {failure}"),
        Ok(found) => panic!("{name} was read as {}: {:.200}", found.format, found.text),
    }
}

/// One blank for many.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

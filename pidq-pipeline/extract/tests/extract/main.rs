//! Text extraction from documents.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod attachments;
mod conversion;
mod formats;
mod fuzz_corpus;
mod hostile;
mod msg;
mod mutations;
mod office;
mod page_image;
mod pdf;
mod recognition;
mod samples;
mod sandbox;
mod word_boxes;

use std::path::PathBuf;

use pidq_extract::{ErrorCode, ExtractError, Extracted, Options, Upload, extract_in_process};

fn folder() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/data/documents"].iter().collect()
}

fn sample(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

/// Extracts a document with a file name, using the built-in readers.
fn extract_named(name: &str, bytes: &[u8]) -> Result<Extracted, ExtractError> {
    extract_in_process(&Upload { bytes, name: Some(name), media_type: None }, &Options::default())
}

/// Extracts a document without a file name.
fn extract_unnamed(bytes: &[u8]) -> Result<Extracted, ExtractError> {
    extract_in_process(&Upload { bytes, ..Upload::default() }, &Options::default())
}

#[track_caller]
fn assert_rejected(name: &str, bytes: &[u8], code: ErrorCode) {
    match extract_named(name, bytes) {
        Err(error) => assert_eq!(error.code, code, "{name}: {error}"),
        Ok(extracted) => panic!("{name} was extracted as {}: {:.200}", extracted.format, extracted.text),
    }
}

/// Returns a text with its white space collapsed.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

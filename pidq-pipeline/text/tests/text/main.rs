//! Tests of text processing.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod analyzer;
mod conformance;
mod embedding;
mod eval;
mod faithfulness;
mod manuals;
mod search;

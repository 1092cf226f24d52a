//! Tests of the document platform.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod corpora;

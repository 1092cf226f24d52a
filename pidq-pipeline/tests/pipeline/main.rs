//! Tests of the document platform.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod api;
mod analyser;
mod corpora;
#[allow(dead_code, reason = "another suite has more use for it")]
#[path = "../../../pidq-http/tests/identity/databases.rs"]
mod databases;
mod jobs;
mod platform;
mod eval;
mod search;
mod extract;

//! Tests of the document platform.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod analyser;
mod api;
mod corpora;
#[path = "../../../pidq-http/tests/identity/databases.rs"]
mod databases;
mod eval;
mod extract;
mod jobs;
mod platform;
mod reading;
mod search;
mod answer;
mod corpora;
mod doubles;
mod egress;
mod encrypted;
mod honest;
mod llm;
mod real;

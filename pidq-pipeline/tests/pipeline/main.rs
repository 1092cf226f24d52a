//! Tests of the document platform.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accounts;
mod analyser;
mod another_model;
mod answer;
mod api;
mod asking;
mod audit;
mod cache;
mod contract;
mod corpora;
#[path = "../../../pidq-http/tests/identity/databases.rs"]
mod databases;
mod degraded;
mod documents;
mod doubles;
mod egress;
mod embedding;
mod encrypted;
mod eval;
mod events;
mod extract;
mod figures;
mod honest;
mod indexes;
mod jobs;
mod kept;
mod labels;
mod licences;
mod llm;
mod messages;
mod meters;
mod near;
mod offsets;
mod orders;
mod platform;
mod rates;
mod reading;
mod real;
mod refusals;
mod reindex;
mod repeated;
mod rerank;
mod room;
mod routes;
mod search;
mod servers;
mod service;
mod snapshots;
mod spooled;
mod states;
mod stored;
mod together;
mod vouched;
mod webhooks;

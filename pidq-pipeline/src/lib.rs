//! The document platform of pidq: documents in pipelines, and questions answered from them with citations.

#![forbid(unsafe_code)]

pub mod analyser;
pub mod answer;
pub mod audit;
pub mod cache;
pub mod citations;
pub mod conformance;
pub mod connections;
pub mod egress;
pub mod embedding;
pub mod eval;
pub mod events;
pub mod extract;
pub mod health;
pub mod indexes;
pub mod ingest;
pub mod keeping;
pub mod keys;
pub mod license;
pub mod llm;
pub mod manual;
pub mod messages;
pub mod models;
pub mod near;
pub mod operations;
pub mod outages;
pub mod prompt;
pub mod ranking;
pub mod rates;
pub mod records;
pub mod replicas;
pub mod rerank;
pub mod seal;
pub mod search;
pub mod splitter;
pub mod store;
pub mod webhooks;

mod ask;
mod catalogue;
mod documents;
mod figures;
mod idempotency;
mod licensing;
mod limits;
mod opening;
mod pipelines;
mod platform;
mod policies;
mod problems;
mod queries;
mod questions;
mod routes;
mod running;
mod settings;
mod tokens;
mod uploads;
mod usage;

pub use opening::{OpenError, open, system_id};
pub use platform::{Bell, Limits, Platform};
pub use routes::ROUTES;
pub use running::{Part, start};
pub use settings::{SETTINGS, TABLES};
pub use uploads::Uploads;

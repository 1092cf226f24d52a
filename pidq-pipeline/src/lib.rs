//! The document platform of pidq: documents in pipelines, and questions answered from them with citations.

#![forbid(unsafe_code)]

pub mod analyser;
pub mod conformance;
pub mod keys;
pub mod license;
pub mod extract;
pub mod ranking;
pub mod records;
pub mod embedding;
pub mod eval;
pub mod ranking;
pub mod search;
pub mod splitter;
pub mod store;

mod catalogue;
mod documents;
mod licensing;
mod limits;
mod opening;
mod pipelines;
mod platform;
mod problems;
mod routes;
mod settings;
mod tokens;

pub use opening::{OpenError, open};
pub use platform::{Bell, Limits, Platform};
pub use routes::ROUTES;
pub use settings::SETTINGS;

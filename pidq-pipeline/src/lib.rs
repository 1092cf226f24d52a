//! The document platform of pidq: documents in pipelines, and questions answered from them with citations.

#![forbid(unsafe_code)]

pub mod conformance;
pub mod ranking;
pub mod splitter;

//! How good a document fits a question: the words they share, several rankings made one, and how good a ranking is.

pub mod bm25;
pub mod fusion;
pub mod metrics;

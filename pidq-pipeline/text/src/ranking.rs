//! Ranking: BM25 scores, rank fusion, and evaluation metrics.

pub mod bm25;
pub mod fusion;
pub mod metrics;

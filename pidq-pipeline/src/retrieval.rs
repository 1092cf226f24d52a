//! Retrieval: ranking, partitions and their cache, approximate search, reranking, evaluation.

pub mod evaluation;
pub mod index_cache;
pub mod pgvector;
pub mod ranking;
pub mod reranker;
pub mod search;

//! Retrieval: the cache of partitions, approximate search, reranking.

pub mod chunk_header;
pub mod index_cache;
pub mod pgvector;
pub mod reranker;

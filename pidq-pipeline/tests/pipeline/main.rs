//! Tests of the document platform.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod access_tokens;
mod account_limits;
mod api;
mod ask;
mod attachments;
mod audit;
mod backend_servers;
mod cache;
mod cancellation;
mod classification_isolation;
mod clock_set_back;
#[cfg(feature = "otel")]
#[path = "../../../pidq-http/tests/collector.rs"]
mod collector;
mod concurrent_updates;
mod contract;
#[path = "../../../pidq-http/tests/identity/databases.rs"]
mod databases;
mod degraded;
mod document_lifecycle;
mod documents;
mod egress;
mod embedding_service;
mod events;
mod idempotency;
mod index_cache;
mod ingestion;
mod invalid_bodies;
mod job_model;
mod jobs;
mod licenses;
mod limits_and_metrics;
mod llm;
mod llm_tls;
#[path = "../../../pidq-http/tests/service/metric_families.rs"]
mod metric_families;
mod mock_prompt_model;
mod mock_server;
mod offsets;
#[path = "../../../pidq-http/tests/service/openapi_types.rs"]
mod openapi_types;
mod page_images;
mod page_words;
mod pgvector;
mod platform;
mod programs;
mod prompt_injection;
#[allow(dead_code, reason = "shared with the tests of identities")]
#[path = "../../../pidq-http/tests/identity/provider.rs"]
mod provider;
mod pubsub;
mod quotas_under_load;
mod rag;
mod rate_limit;
mod reindex;
mod reindex_model;
mod rerank;
mod routes;
mod snapshots;
mod splitter_limits;
mod store_fixtures;
mod stored_answers;
mod third_party_llm;
mod tls_roots;
#[cfg(feature = "otel")]
mod traces;
mod upload_spool;
mod usage_report;
mod webhooks;

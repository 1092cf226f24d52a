//! Tests of the HTTP interface: each endpoint, each error, each header.
//!
//! The service is built from settings, with accounts in SQLite. Most requests are in-process calls; `disconnects` uses
//! sockets.

mod accounts;
mod batch_query;
mod check_order;
mod disconnects;
mod fixtures;
mod get_graph;
mod graph_params;
mod invalid_settings;
mod list_graphs;
#[path = "../../../pidq-http/tests/service/metric_families.rs"]
mod metric_families;
mod metrics;
mod oauth;
#[path = "../../../pidq-http/tests/service/openapi_types.rs"]
mod openapi_types;
mod put_graph;
mod query;
mod request_log;
mod result_cache;
mod routes;
mod tenants;
mod upload;

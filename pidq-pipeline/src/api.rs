//! HTTP API: routes, handlers, authentication, and what handlers share.

pub(crate) mod accept_header;
pub(crate) mod audit_middleware;
pub(crate) mod auth;
pub(crate) mod classification;
pub(crate) mod graph_query;
pub(crate) mod handlers;
pub(crate) mod idempotency;
pub(crate) mod json_body;
pub(crate) mod llm_problems;
pub(crate) mod merge_patch;
pub(crate) mod operation_response;
pub(crate) mod page_response;
pub(crate) mod pipeline_access;
pub(crate) mod policies;
pub(crate) mod problems;
pub(crate) mod quota;
pub(crate) mod routes;
pub(crate) mod schema;

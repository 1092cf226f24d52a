//! Handlers of the endpoints, one module per resource.

pub(crate) mod account_limits;
pub(crate) mod answers;
pub(crate) mod api_keys;
pub(crate) mod ask;
pub(crate) mod audit;
pub(crate) mod catalog;
pub(crate) mod documents;
pub(crate) mod events;
pub(crate) mod license;
pub(crate) mod limits;
pub(crate) mod llm_connections;
pub(crate) mod oauth;
pub(crate) mod operations;
pub(crate) mod pipelines;
pub(crate) mod search;
pub(crate) mod usage;
pub(crate) mod webhooks;

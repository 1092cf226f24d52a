//! Domain types, below storage and handlers.

pub mod api_key;
pub mod audit_context;
pub mod event;
pub mod license;
pub mod llm_connection;
pub mod model;
pub mod operation;
pub mod webhook;

pub mod classification;

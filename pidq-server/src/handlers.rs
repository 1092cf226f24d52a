//! Handlers of the endpoints, one module per resource.

pub(crate) mod accounts;
mod administration;
pub(crate) mod batch_query;
pub(crate) mod clients;
pub(crate) mod functions;
pub(crate) mod graphs;
pub(crate) mod oauth;
pub(crate) mod own_account;
pub(crate) mod query;

//! Queries on stored graphs: the request, the run, and the response body.

pub(crate) mod execution;
pub(crate) mod graph_params;
pub(crate) mod request;
pub(crate) mod splice_body;
pub(crate) mod task;

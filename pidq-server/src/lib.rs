//! The graph query service of pidq: tokens, the graph of a job, queries on it.

#![forbid(unsafe_code)]

pub mod door;
pub mod graphs;
pub mod served;
pub mod store;

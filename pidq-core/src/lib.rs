//! The pidq engine: JSON Query 5.1.1 with extensions, for documents that are loaded once and queried often.
//!
//! ```
//! use pidq_core::{Graph, Limits, Query};
//!
//! let graph = Graph::from_json(r#"{"nodes": [{"tag": "P-101", "kw": 15}, {"tag": "P-102", "kw": 7.5}]}"#)?;
//! let query = Query::parse(".nodes | filter(.kw > 10) | map(.tag)")?;
//! assert_eq!(query.to_json(&graph, Limits::default())?, r#"["P-101"]"#);
//! # Ok::<(), pidq_core::Error>(())
//! ```
//!
//! Graphs and queries are immutable and can be shared between threads; values borrow and are never cloned. The crate
//! does no I/O, starts no threads, reads no clock and has no `unsafe` code; time and memory are bounded for every
//! input.
//!
//! # Overview
//!
//! | task | items |
//! |---|---|
//! | load a document | [`Graph::from_json`], [`Query::load`] for one query, [`TopologyConfig`] for other field names |
//! | compile a query | [`Query::parse`], [`Query::with_params`], [`Query::from_json`] |
//! | run it | [`Query::to_json`], or [`Query::run`] with a [`Scratch`] for the [`RunResult`] |
//! | bound it | [`Limits`], [`Cancel`] |
//! | read a result | [`Value`], [`Array`], [`Object`], [`Number`], [`ColumnRef`] |
//! | find mistakes | [`Query::check`], [`Graph::warnings`], [`Error`] |
//! | understand its cost | [`Query::plan`], [`Query::explain`] |
//! | extend the language | [`Dialect`], [`Function`], [`Operator`], [`EvalContext`] |
//! | walk the graph in Rust | [`Graph::node`], [`Graph::find`], [`Graph::outgoing`], [`NodeId`], [`Edge`] |
//! | compare and join drawings | [`diff`], [`join_sheets`] |
//!
//! # Guides
//!
//! [The language](guide::language) · [Limits](guide::limits) · [Custom functions](guide::custom_functions) ·
//! [Async code](guide::async_code)

#![forbid(unsafe_code)]

mod arena;
mod check;
pub mod error;
mod eval;
mod functions;
mod graph;
pub mod guide;
pub mod limits;
mod pid;
mod query;
mod regex;
mod suggest;
mod syntax;
mod value;

pub use error::{Error, Result};
pub use eval::plan::function::{Function, Param};
pub use eval::{EvalContext, Scratch};
pub use graph::Graph;
pub use graph::column_ref::ColumnRef;
pub use graph::config::TopologyConfig;
pub use graph::items::{Edge, EdgeId, NodeId};
pub use graph::vocabulary;
pub use limits::{Cancel, Limits};
pub use pid::data_quality::{GraphWarning, ItemRef};
pub use pid::diff::DiffOptions;
pub use pid::join::JoinBy;
pub use pid::json_results::{diff, graph_warnings, join_sheets};
pub use query::{Dialect, PlanStep, ProfileStep, ProjectedDocument, Query, QueryPlan, RunProfile, RunResult};
pub use syntax::Profile;
pub use syntax::operators::{Operator, Precedence};
pub use syntax::print::PrintOptions;
pub use value::{Array, Number, Object, OutputChunk, Value};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

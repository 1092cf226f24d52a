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
//! | load a document | [`Graph::from_json`], [`Graph::from_reader`], [`Graph::from_value`], [`Query::load`] for one query |
//! | compile a query | [`Query::parse`], [`Query::prepare`] for many runs with different parameters, [`Query::from_json`] |
//! | set parameters | [`Query::bind`] for a [`BoundQuery`], [`Query::with_params`], [`Query::with_graphs`] |
//! | run it | [`Query::run_as`] for a Rust type, [`Query::to_json`], or [`Query::run`] with a [`Scratch`] for the [`RunResult`] |
//! | bound it | [`Limits`], [`Cancel`] |
//! | read a result | [`Value`], [`Array`], [`Object`], [`Number`], [`ColumnRef`] |
//! | keep a result | [`OwnedValue`] |
//! | find mistakes | [`Query::check`], [`Graph::warnings`], [`Error`] |
//! | understand its cost | [`Query::plan`], [`Query::explain`] |
//! | extend the language | [`Dialect`], [`Function`], [`CustomParam`], [`Operator`], [`EvalContext`] |
//! | walk the graph in Rust | [`Graph::node`], [`Graph::find`], [`Graph::outgoing`], [`NodeId`], [`Edge`] |
//! | compare and join drawings | [`diff`], [`join_sheets`] |
//!
//! # All items
//!
//! | of | items |
//! |---|---|
//! | documents | [`Graph`], [`ProjectedDocument`], [`TopologyConfig`], [`vocabulary`], [`fail_mark`], [`pressure_unit_name`] |
//! | their nodes and edges | [`NodeId`], [`EdgeId`], [`Edge`] |
//! | queries | [`Query`], [`BoundQuery`], [`Scratch`], [`RunResult`], [`OutputChunk`] |
//! | their cost | [`QueryPlan`], [`PlanStep`], [`RunProfile`], [`ProfileStep`] |
//! | values | [`Value`], [`Array`], [`Object`], [`Number`], [`ColumnRef`] |
//! | owned values | [`OwnedValue`], [`OwnedObject`], [`OwnedNumber`] |
//! | limits | [`Limits`], [`Cancel`], [`limits`] |
//! | errors | [`Error`], [`Result`], [`error`] with codes, spans and warnings |
//! | warnings about a drawing | [`GraphWarning`], [`ItemRef`], [`graph_warnings`] |
//! | languages | [`Dialect`], [`Profile`], [`Operator`], [`Precedence`], [`PrintOptions`] |
//! | functions | [`Function`], [`Param`], [`CustomParam`], [`EvalContext`], [`Arguments`] |
//! | several drawings | [`diff`], [`DiffOptions`], [`join_sheets`], [`JoinBy`] |
//! | guides | [`guide`] |
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `dates` (default) | functions of dates and durations, such as `dateAdd`; the dependency jiff |
//! | `encoding` (default) | functions of encodings, such as `base64Decode`; the dependencies data-encoding and percent-encoding |
//! | `units` (default) | the functions `convertUnit` and `units` |
//!
//! A query that uses a function of a feature that was left out does not compile: `PQ1014` names the feature.
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
pub use eval::plan::custom_function::{Arguments, CustomParam};
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
pub use pid::quantity::pressure_unit_name;
pub use pid::valve_state::fail_action::fail_mark;
pub use query::{
    BoundQuery, Dialect, PlanStep, ProfileStep, ProjectedDocument, Query, QueryPlan, RunProfile, RunResult,
};
pub use syntax::Profile;
pub use syntax::operators::{Operator, Precedence};
pub use syntax::print::PrintOptions;
pub use value::{Array, Number, Object, OutputChunk, OwnedNumber, OwnedObject, OwnedValue, Value};

/// The examples of the README run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

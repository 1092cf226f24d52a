//! The pidq engine: JSON Query 5.1.1 with extensions, for documents that are loaded once and queried often.
//!
//! Four types: [`Graph`] is a loaded document, [`Query`] a compiled query, [`Limits`] the budgets of a run and
//! [`Value`] its result. Graphs and queries are immutable and can be shared between threads; values borrow and are
//! never cloned. The crate does no I/O, starts no threads, reads no clock and has no `unsafe` code; time and memory are
//! bounded for every input.
//!
//! ```
//! use pidq_core::{Graph, Limits, Query};
//!
//! let graph = Graph::from_json(r#"{"nodes": [{"tag": "P-101", "kw": 15}, {"tag": "P-102", "kw": 7.5}]}"#)?;
//! let query = Query::parse(".nodes | filter(.kw > 10) | map(.tag)")?;
//! assert_eq!(query.to_json(&graph, Limits::default())?, r#"["P-101"]"#);
//! # Ok::<(), pidq_core::Error>(())
//! ```

#![forbid(unsafe_code)]

mod arena;
mod check;
pub mod error;
mod eval;
mod functions;
mod graph;
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

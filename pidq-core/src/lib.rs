//! The pidq engine: JSON Query 5.1.1 and more, over documents that are read once and asked often.
//!
//! Four nouns: a [`Graph`] is a document, a [`Query`] a compiled text, [`Limits`] what a run may cost, a [`Value`] what
//! it gives. Graphs and queries are immutable and shared between threads; values borrow and are never cloned. No I/O,
//! no threads, no clock, no `unsafe`; bounded in time and memory whatever it is asked.
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
pub use eval::function::{Function, Param};
pub use eval::{Cx, Scratch};
pub use graph::Graph;
pub use graph::config::TopologyConfig;
pub use graph::items::{Edge, EdgeId, NodeId};
pub use graph::lent::Field;
pub use graph::vocabulary;
pub use limits::{Cancel, Limits};
pub use pid::diff::DiffOptions;
pub use pid::doubts::{Doubt, Spot};
pub use pid::join::JoinBy;
pub use pid::report::{diff, doubts, join_sheets};
pub use query::{Dialect, Explanation, Outcome, Outline, Planned, Query, Reading, Step};
pub use syntax::Profile;
pub use syntax::operators::{Operator, Place};
pub use syntax::print::PrintOptions;
pub use value::{Array, Number, Object, Value, Written};

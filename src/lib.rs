//! pidq: a query engine for P&ID graphs. Everything of `pidq-core`, under one name.

#![forbid(unsafe_code)]

pub use pidq_core::*;

//! Query engine for P&ID graphs: re-exports `pidq-core`.

#![forbid(unsafe_code)]

pub use pidq_core::*;

//! Query engine for P&ID graphs: re-exports `pidq-core`.

#![forbid(unsafe_code)]

pub use pidq_core::*;

/// The examples of the page about Rust run as tests.
#[cfg(doctest)]
#[doc = include_str!("../docs/rust.md")]
struct RustPage;

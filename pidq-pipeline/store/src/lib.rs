//! Storage of the document platform in SQLite or PostgreSQL: domain types, tables, encryption, and the upload spool.

#![forbid(unsafe_code)]

pub mod crypto;
pub mod domain;
pub mod spool;

mod store;

pub use store::*;

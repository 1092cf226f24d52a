//! Uploads in progress: spooled files, and their memory and disk budget.

pub mod budget;
pub mod spool;

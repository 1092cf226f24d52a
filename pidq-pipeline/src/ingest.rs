//! Ingestion of documents: the worker, the stages of a document, and reindexing.

pub mod worker;

pub(crate) mod extract_and_split;
pub(crate) mod file_name;
pub(crate) mod page_image;

mod attachments;
mod error;
mod job_lease;
mod progress_writer;
mod reindex;
mod stages;

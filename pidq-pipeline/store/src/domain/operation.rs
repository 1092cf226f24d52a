//! Long-running operation with its progress.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::model::string_enum;

string_enum! {
    /// Kind of an operation.
    OperationKind {
        /// Building a new index of a pipeline.
        Reindex = "reindex",
        /// Deleting a pipeline with its documents.
        Delete = "delete",
    }
}

string_enum! {
    /// State of an operation.
    OperationState {
        /// In progress.
        Running = "running",
        /// Completed.
        Succeeded = "succeeded",
        /// Failed; the previous state is unchanged.
        Failed = "failed",
        /// Cancelled; the previous state is unchanged.
        Cancelled = "cancelled",
    }
}

/// A long-running operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// A UUID of version 7.
    pub id: String,
    /// Kind.
    pub kind: OperationKind,
    /// The pipeline.
    pub pipeline_id: String,
    /// State.
    pub state: OperationState,
    /// Progress.
    pub progress: Progress,
    /// Reason of the failure.
    pub error: Option<OperationError>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

/// Progress of an operation.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Progress {
    /// Completed documents.
    pub done: i64,
    /// Total documents.
    pub total: Option<i64>,
    /// Error of the last attempt, if it is retried.
    pub error: Option<OperationError>,
    /// Time of the retry, in milliseconds since 1970.
    pub next_attempt_at: Option<i64>,
}

/// Error of an operation.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct OperationError {
    /// Machine-readable code.
    pub code: String,
    /// Human-readable message.
    pub message: String,
    /// The document that caused it.
    pub document_id: Option<String>,
}

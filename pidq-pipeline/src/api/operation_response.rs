//! Representation of a long-running operation, and the response of a request that starts one.

use pidq_http::{Problem, Response, StatusCode};
use pidq_store::domain::operation::{Operation, OperationError, OperationKind, OperationState};
use schemars::JsonSchema;
use serde::Serialize;

use crate::api::schema::{DateTime, Uuid};

/// Long-running operation.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Operation")]
pub(crate) struct OperationResponse<'a> {
    /// Id.
    #[schemars(with = "Uuid")]
    id: &'a str,
    /// Kind.
    kind: OperationKind,
    /// The pipeline.
    #[schemars(with = "Uuid")]
    pipeline_id: &'a str,
    /// State.
    status: OperationState,
    /// `true` if the operation has ended.
    terminal: bool,
    /// Progress.
    progress: OperationProgress,
    /// Reason of the failure, or the error of the last attempt while it is retried.
    error: Option<&'a OperationError>,
    /// Time of the next attempt. Null if none is planned.
    next_attempt_at: Option<DateTime>,
    /// Start.
    created_at: DateTime,
    /// Last change.
    updated_at: DateTime,
}

/// Progress of an operation.
#[derive(JsonSchema, Serialize)]
struct OperationProgress {
    /// Completed documents.
    done: i64,
    /// All documents. Null if the number is not known yet.
    total: Option<i64>,
}

impl<'a> From<&'a Operation> for OperationResponse<'a> {
    fn from(operation: &'a Operation) -> OperationResponse<'a> {
        let progress = &operation.progress;
        OperationResponse {
            id: &operation.id,
            kind: operation.kind,
            pipeline_id: &operation.pipeline_id,
            status: operation.state,
            terminal: operation.state != OperationState::Running,
            progress: OperationProgress { done: progress.done, total: progress.total },
            error: operation.error.as_ref().or(progress.error.as_ref()),
            next_attempt_at: progress.next_attempt_at.map(DateTime),
            created_at: DateTime(operation.created_at),
            updated_at: DateTime(operation.updated_at),
        }
    }
}

/// Returns 202 with the location of the operation.
pub(crate) fn accepted(operation: &Operation) -> Result<Response, Problem> {
    let location = format!("/api/operations/{}", operation.id);
    Ok(Response::json(&OperationResponse::from(operation))?.created(location).status(StatusCode::ACCEPTED))
}

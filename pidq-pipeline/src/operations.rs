//! `/api/operations`: long-running operations with progress and cancellation.

use std::sync::Arc;

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, Request, Response, StatusCode, codes};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api_keys;
use crate::catalog;
use crate::pipelines::{self, reject_unknown_fields, text_splitter};
use crate::platform::Platform;
use crate::problems::{store_problem, validation};
use crate::records::string_enum;
use crate::store::ReindexTarget;

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
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct OperationError {
    /// Machine-readable code.
    pub code: String,
    /// Human-readable message.
    pub message: String,
    /// The document that caused it.
    pub document_id: Option<String>,
}

impl Operation {
    /// Returns the JSON representation.
    pub fn to_json(&self) -> Value {
        let timestamp = |milliseconds| Timestamp(milliseconds).to_rfc3339();
        json!({
            "id": self.id, "kind": self.kind.as_str(), "pipeline_id": self.pipeline_id, "status": self.state.as_str(),
            "terminal": self.state != OperationState::Running,
            "progress": {"done": self.progress.done, "total": self.progress.total},
            "error": self.error.as_ref().or(self.progress.error.as_ref()),
            "next_attempt_at": self.progress.next_attempt_at.map(timestamp),
            "created_at": timestamp(self.created_at), "updated_at": timestamp(self.updated_at),
        })
    }

    /// Returns 202 with the location of the operation.
    pub(crate) fn accepted(&self) -> Result<Response, Problem> {
        let location = format!("/api/operations/{}", self.id);
        Ok(Response::json(&self.to_json())?.created(location).status(StatusCode::ACCEPTED))
    }
}

/// `GET /api/operations/{operation_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    Response::json(&find_operation(platform, &request).await?.to_json())
}

/// `POST /api/operations/{operation_id}/cancel`: cancels a reindex; the active index stays.
pub(crate) async fn cancel(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let operation = find_operation(platform, &request).await?;
    pipelines::require_unrestricted(&api_keys::from_request(&request)?)?;
    let conflict = |detail: &str| Problem::new(codes::OPERATION_NOT_CANCELLABLE).detail(detail);
    match (operation.kind, operation.state) {
        (OperationKind::Delete, OperationState::Running) => {
            return Err(conflict("The deletion of a pipeline cannot be cancelled."));
        }
        (OperationKind::Reindex, OperationState::Running) => {
            platform.store.cancel_reindex(&operation).await.map_err(store_problem)?
        }
        _ => return Err(conflict("The operation has already ended.")),
    }
    Response::json(&find_operation(platform, &request).await?.to_json())
}

/// Returns the operation of a request if the caller may see its pipeline.
async fn find_operation(platform: &Platform, request: &Request) -> Result<Operation, Problem> {
    let (id, key) = (request.path("operation_id")?, api_keys::from_request(request)?);
    let operation = platform.store.operation(id).await.map_err(store_problem)?;
    let visible = operation.filter(|operation| key.visible_classifications(&operation.pipeline_id, &[]).is_some());
    visible.ok_or_else(|| Problem::new(codes::OPERATION_NOT_FOUND).detail("Operation not found."))
}

/// `POST /api/pipelines/{pipeline_id}/reindex`: new model, new splitter, both, or a rebuild.
pub(crate) async fn reindex(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = pipelines::find_pipeline(platform, &request).await?;
    pipelines::require_unrestricted(&key)?;
    let body: Map<String, Value> = request.object().await?;
    reject_unknown_fields(&body, &["embedding_model", "text_splitter"])?;
    platform.licensing.require_license()?;
    let embedding_model = match body.get("embedding_model") {
        None => pipeline.embedding_model.clone(),
        Some(Value::String(name)) => name.clone(),
        Some(_) => return Err(validation("/embedding_model", "Expected a string.")),
    };
    let (splitter, splitter_parameters) = match body.get("text_splitter") {
        None => (pipeline.text_splitter.clone(), pipeline.splitter_parameters.clone()),
        Some(splitter) => text_splitter(splitter)?,
    };
    let target = ReindexTarget {
        embedding_dimensions: catalog::dimensions(&platform.models, &embedding_model).await? as i64,
        embedding_model,
        text_splitter: splitter,
        splitter_parameters,
    };
    let operation = platform.store.begin_reindex(&pipeline.id, &target).await.map_err(store_problem)?;
    platform.job_notifier.notify_all();
    operation.accepted()
}

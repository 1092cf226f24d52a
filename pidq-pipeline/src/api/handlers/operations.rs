//! `/api/operations`: long-running operations with progress and cancellation.

use std::sync::Arc;

use pidq_http::{Problem, Request, Response, codes};
use pidq_store::ReindexTarget;
use pidq_store::domain::operation::{Operation, OperationKind, OperationState};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::api::auth::request_key;
use crate::api::handlers::catalog;
use crate::api::handlers::pipelines::{TextSplitterChoice, text_splitter};
use crate::api::json_body;
use crate::api::operation_response::{OperationResponse, accepted};
use crate::api::pipeline_access::{find_pipeline, require_unrestricted};
use crate::api::problems::store_problem;
use crate::api::schema::not_null;
use crate::platform::Platform;

/// New index of a pipeline. Without any field, the index is rebuilt.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReindexRequest {
    /// Name of another embedding model.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String")]
    embedding_model: Option<String>,
    /// Another text splitter.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "TextSplitterChoice")]
    text_splitter: Option<Value>,
}

/// `GET /api/operations/{operation_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    Response::json(&OperationResponse::from(&find_operation(platform, &request).await?))
}

/// `POST /api/operations/{operation_id}/cancel`: cancels a reindex; the active index stays.
pub(crate) async fn cancel(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let operation = find_operation(platform, &request).await?;
    require_unrestricted(&request_key(&request)?)?;
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
    Response::json(&OperationResponse::from(&find_operation(platform, &request).await?))
}

/// Returns the operation of a request if the caller may see its pipeline.
async fn find_operation(platform: &Platform, request: &Request) -> Result<Operation, Problem> {
    let (id, key) = (request.path("operation_id")?, request_key(request)?);
    let operation = platform.store.operation(id).await.map_err(store_problem)?;
    let visible = operation.filter(|operation| key.visible_classifications(&operation.pipeline_id, &[]).is_some());
    visible.ok_or_else(|| Problem::new(codes::OPERATION_NOT_FOUND).detail("Operation not found."))
}

/// `POST /api/pipelines/{pipeline_id}/reindex`: new model, new splitter, both, or a rebuild.
pub(crate) async fn reindex(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = find_pipeline(platform, &request).await?;
    require_unrestricted(&key)?;
    let body: ReindexRequest = json_body::parse(&mut request).await?;
    platform.licensing.require_license()?;
    let embedding_model = body.embedding_model.unwrap_or_else(|| pipeline.embedding_model.clone());
    let (splitter, splitter_parameters) = match &body.text_splitter {
        None => (pipeline.text_splitter.clone(), pipeline.splitter_parameters.clone()),
        Some(splitter) => text_splitter(splitter)?,
    };
    let target = ReindexTarget {
        embedding_dimensions: catalog::dimensions(&platform.search.models, &embedding_model).await? as i64,
        embedding_model,
        text_splitter: splitter,
        splitter_parameters,
    };
    let operation = platform.store.begin_reindex(&pipeline.id, &target).await.map_err(store_problem)?;
    platform.messaging.job_notifier.notify_all();
    accepted(&operation)
}

//! Access of a request to a pipeline and its classifications.

use pidq_http::{Problem, Request, codes};
use pidq_store::domain::api_key::{ApiKey, Verb};
use pidq_store::domain::model::{Pipeline, PipelineStatus};

use crate::api::auth::request_key;
use crate::api::problems::{forbidden, store_problem, unprocessable};
use crate::platform::Platform;

/// Returns 403 for restricted keys.
pub(crate) fn require_unrestricted(key: &ApiKey) -> Result<(), Problem> {
    if key.is_unrestricted() {
        Ok(())
    } else {
        Err(forbidden("This requires an unrestricted API key: one for all pipelines and classifications."))
    }
}

/// Returns the pipeline of a request if the caller may see it.
pub(crate) async fn find_pipeline(platform: &Platform, request: &Request) -> Result<(Pipeline, ApiKey), Problem> {
    let (id, key) = (request.path("pipeline_id")?, request_key(request)?);
    let pipeline = platform.store.pipeline(id).await.map_err(store_problem)?;
    match pipeline.filter(|pipeline| key.visible_classifications(&pipeline.id, &[]).is_some()) {
        Some(pipeline) => Ok((pipeline, key)),
        None => Err(Problem::new(codes::PIPELINE_NOT_FOUND).detail("Pipeline not found.")),
    }
}

/// Like `find_pipeline`; 409 if the pipeline is being deleted.
pub(crate) async fn find_active_pipeline(
    platform: &Platform,
    request: &Request,
) -> Result<(Pipeline, ApiKey), Problem> {
    let (pipeline, key) = find_pipeline(platform, request).await?;
    require_not_deleting(&pipeline)?;
    Ok((pipeline, key))
}

/// Returns 409 for a pipeline that is being deleted.
pub(crate) fn require_not_deleting(pipeline: &Pipeline) -> Result<(), Problem> {
    if pipeline.status == PipelineStatus::Deleting {
        let detail = "The pipeline is being deleted.";
        return Err(Problem::new(codes::PIPELINE_BUSY).detail(detail));
    }
    Ok(())
}

/// Returns 403 unless a key allows a verb on a classification, existing or not; 422 for an unrestricted key.
pub(crate) fn require_access(
    key: &ApiKey,
    pipeline: &Pipeline,
    classification: &str,
    verb: Verb,
) -> Result<(), Problem> {
    if !key.allows(&pipeline.id, classification, verb) {
        let problem = Problem::new(codes::CLASSIFICATION_FORBIDDEN);
        return Err(problem.detail("The key has no access to this classification."));
    }
    if pipeline.classifications.iter().any(|name| name == classification) {
        return Ok(());
    }
    let problem = unprocessable(codes::UNKNOWN_CLASSIFICATION, "/classification", "Unknown classification.");
    Err(problem
        .with("allowed", key.visible_classifications(&pipeline.id, &pipeline.classifications).unwrap_or_default()))
}

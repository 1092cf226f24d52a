//! Health of embedding models: during an outage, jobs wait without failing, and pipelines are `degraded`.
//!
//! A failure on one document is no outage: a model counts as down only if it cannot
//! embed a single word either.

use std::sync::Arc;

use pidq_store::domain::model::Pipeline;
use pidq_store::{ModelOutage, StoreError};
use pidq_text::embedding;

use crate::platform::Platform;

/// Checks the model of a pipeline; records an outage and returns true if it is down.
///
/// # Errors
/// If the database does not answer.
pub(crate) async fn is_down(platform: &Platform, pipeline: &Pipeline) -> Result<bool, StoreError> {
    match platform.search.models.check(&pipeline.embedding_model, pipeline.embedding_dimensions).await {
        Err(embedding::Error::Unavailable { detail }) => {
            tracing::warn!(
                model = pipeline.embedding_model,
                detail,
                "embedding model unavailable; its jobs are postponed"
            );
            platform.store.record_outage(&pipeline.embedding_model, &detail).await?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Checks a model in the background after a failed request.
pub(crate) fn check_in_background(platform: &Arc<Platform>, pipeline: &Pipeline) {
    let (platform, pipeline) = (platform.clone(), pipeline.clone());
    tokio::spawn(async move {
        if let Err(error) = is_down(&platform, &pipeline).await {
            tracing::warn!(%error, "recording a model outage failed");
        }
    });
}

/// Rechecks unavailable models until the future is dropped; waiting jobs become due when one recovers.
pub async fn watch(platform: Arc<Platform>) {
    loop {
        tokio::time::sleep(platform.ingestion.job_lease / 3).await;
        if let Err(error) = recheck(&platform).await {
            tracing::warn!(%error, "rechecking unavailable models failed; retrying");
        }
    }
}

async fn recheck(platform: &Platform) -> Result<(), StoreError> {
    for outage in platform.store.outages().await? {
        if is_over(platform, &outage).await {
            tracing::info!(model = outage.model, "embedding model outage ended");
            platform.store.end_outage(&outage.model).await?;
            platform.messaging.job_notifier.notify_all();
        }
    }
    Ok(())
}

async fn is_over(platform: &Platform, outage: &ModelOutage) -> bool {
    match outage.dimensions {
        Some(dimensions) => platform.search.models.check(&outage.model, dimensions).await.is_ok(),
        None => true,
    }
}

//! Embedding models that do not answer: jobs wait for them without being given up, and pipelines say `degraded`.
//!
//! One document that a service chokes on is no outage: a model counts as one that does not answer only when it does
//! not answer a single word either.

use std::sync::Arc;

use crate::embedding;
use crate::platform::Platform;
use crate::records::Pipeline;
use crate::store::{Outage, StoreError};

/// Whether the model of a pipeline does not answer now. If so, that is noted.
///
/// # Errors
/// If the database does not answer.
pub(crate) async fn is_down(platform: &Platform, pipeline: &Pipeline) -> Result<bool, StoreError> {
    match platform.models.check(&pipeline.embedding_model, pipeline.embedding_dimensions).await {
        Err(embedding::Error::Unavailable { detail }) => {
            tracing::warn!(model = pipeline.embedding_model, detail, "an embedding model does not answer");
            platform.store.note_outage(&pipeline.embedding_model, &detail).await?;
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Looks in the background whether the model of a pipeline, which just did not answer, answers nobody.
pub(crate) fn suspect(platform: &Arc<Platform>, pipeline: &Pipeline) {
    let (platform, pipeline) = (platform.clone(), pipeline.clone());
    tokio::spawn(async move {
        if let Err(error) = is_down(&platform, &pipeline).await {
            tracing::warn!(%error, "a model that does not answer cannot be noted");
        }
    });
}

/// Looks after models that do not answer until the future is dropped: jobs are due again when one does.
pub async fn watch(platform: Arc<Platform>) {
    loop {
        tokio::time::sleep(platform.hold / 3).await;
        if let Err(error) = look(&platform).await {
            tracing::warn!(%error, "models that do not answer cannot be looked after");
        }
    }
}

async fn look(platform: &Platform) -> Result<(), StoreError> {
    for outage in platform.store.outages().await? {
        if is_over(platform, &outage).await {
            tracing::info!(model = outage.model, "an embedding model answers again, or nobody wants it");
            platform.store.end_outage(&outage.model).await?;
            platform.bell.ring();
        }
    }
    Ok(())
}

async fn is_over(platform: &Platform, outage: &Outage) -> bool {
    match outage.dimensions {
        Some(dimensions) => platform.models.check(&outage.model, dimensions).await.is_ok(),
        None => true,
    }
}

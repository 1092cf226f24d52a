//! Reindexing of a pipeline in time slices; other jobs run between two slices.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_store::domain::model::Pipeline;
use pidq_store::domain::operation::OperationError;
use pidq_store::{Job, OLD_GENERATION_GRACE, Reindex, StoreError, SwapOutcome};
use tokio::time::Instant;

use super::error::IngestError;
use super::job_lease::{MAX_ATTEMPTS, renew_lease, retry_delay};
use super::stages::DocumentJob;
use crate::background::embedding_outage;
use crate::embedding_registry::UNAVAILABLE_CODE;
use crate::platform::Platform;

/// Approximate duration of a slice.
const SLICE_DURATION: Duration = Duration::from_secs(5);
/// Documents per query for missing documents.
const DOCUMENT_BATCH: usize = 20;
/// Chunks deleted per statement.
const SWEEP_BATCH: usize = 1000;

/// Result of a slice.
enum SliceResult {
    /// The index is active, or the reindex was abandoned.
    Finished,
    /// More documents remain.
    Unfinished,
}

/// Error of reindexing, with the document that caused it.
struct ReindexError {
    document: Option<String>,
    error: IngestError,
}

impl<F: Into<IngestError>> From<F> for ReindexError {
    fn from(error: F) -> ReindexError {
        ReindexError { document: None, error: error.into() }
    }
}

/// Runs one slice of a reindex.
pub(super) async fn reindex(platform: &Arc<Platform>, job: &Job) -> Result<(), StoreError> {
    let (pipeline, reindex) =
        (platform.store.pipeline(&job.pipeline_id).await?, platform.store.reindex(&job.pipeline_id).await?);
    let Some((pipeline, reindex)) = pipeline.zip(reindex) else {
        return platform.store.complete_job(job).await;
    };
    let outcome = tokio::select! {
        outcome = run_slice(platform, job, &pipeline, &reindex) => outcome,
        () = renew_lease(platform, job) => return Ok(()),
    };
    match outcome {
        Ok(SliceResult::Finished) => Ok(()),
        Ok(SliceResult::Unfinished) => {
            platform.store.yield_job(job).await?;
            platform.messaging.job_notifier.notify_all();
            Ok(())
        }
        Err(ReindexError { error: IngestError::Cancelled, .. }) => Ok(()),
        Err(ReindexError { error: IngestError::Store(error), .. }) => Err(error),
        Err(ReindexError { error: IngestError::ModelDown { message, .. }, document }) => {
            wait_for_model(platform, job, &reindex, operation_error(UNAVAILABLE_CODE, message, document)).await
        }
        Err(ReindexError { error: IngestError::Failed { code: UNAVAILABLE_CODE, message, .. }, document })
            if embedding_outage::is_down(platform, &reindex.apply_to(&pipeline)).await? =>
        {
            wait_for_model(platform, job, &reindex, operation_error(UNAVAILABLE_CODE, message, document)).await
        }
        Err(ReindexError { error: IngestError::Failed { code, message, retryable: true, .. }, document }) => {
            retry_later(platform, job, &reindex, operation_error(code, message, document)).await
        }
        Err(ReindexError { error: IngestError::Failed { code, message, .. }, document }) => {
            platform.store.fail_reindex(job, &reindex, &operation_error(code, message, document)).await
        }
    }
}

fn operation_error(code: &str, message: String, document_id: Option<String>) -> OperationError {
    OperationError { code: code.to_owned(), message, document_id }
}

/// Schedules a retry, up to the maximum number of attempts.
async fn retry_later(
    platform: &Platform,
    job: &Job,
    reindex: &Reindex,
    error: OperationError,
) -> Result<(), StoreError> {
    if job.attempts >= MAX_ATTEMPTS {
        return platform.store.fail_reindex(job, reindex, &error).await;
    }
    let retry_at = (Timestamp::now() + retry_delay(job.attempts)).0;
    record_error(platform, job, reindex, error, retry_at).await?;
    platform.store.delay_job(job, retry_at).await
}

/// Postpones the reindex while the model is down, without a limit on attempts: the old index stays active, and the new
/// one keeps the documents that it already contains.
async fn wait_for_model(
    platform: &Platform,
    job: &Job,
    reindex: &Reindex,
    error: OperationError,
) -> Result<(), StoreError> {
    let until = (Timestamp::now() + platform.ingestion.job_lease).0;
    record_error(platform, job, reindex, error, until).await?;
    platform.store.postpone_job(job, until).await
}

async fn record_error(
    platform: &Platform,
    job: &Job,
    reindex: &Reindex,
    error: OperationError,
    retry_at: i64,
) -> Result<(), StoreError> {
    let mut progress = platform.store.reindex_progress(&job.pipeline_id, reindex).await?;
    (progress.error, progress.next_attempt_at) = (Some(error), Some(retry_at));
    platform.store.update_operation_progress(&reindex.operation_id, &progress).await
}

async fn run_slice(
    platform: &Arc<Platform>,
    job: &Job,
    pipeline: &Pipeline,
    reindex: &Reindex,
) -> Result<SliceResult, ReindexError> {
    let (store, started, target) = (&platform.store, Instant::now(), reindex.apply_to(pipeline));
    while started.elapsed() < SLICE_DURATION {
        let missing = store.missing_documents(&pipeline.id, reindex, DOCUMENT_BATCH).await?;
        for (document, revision) in &missing {
            reindex_document(platform, job, &target, reindex, document, *revision).await?;
            if started.elapsed() >= SLICE_DURATION {
                break;
            }
        }
        let progress = store.reindex_progress(&pipeline.id, reindex).await?;
        store.update_operation_progress(&reindex.operation_id, &progress).await?;
        if missing.is_empty() {
            match store.swap_index(job, reindex, OLD_GENERATION_GRACE).await? {
                SwapOutcome::Swapped | SwapOutcome::Abandoned => return Ok(SliceResult::Finished),
                SwapOutcome::Incomplete => {}
            }
        }
    }
    Ok(SliceResult::Unfinished)
}

/// Adds one document to the new index. A document that was deleted or changed meanwhile is skipped; the next query for
/// missing documents covers it.
async fn reindex_document(
    platform: &Arc<Platform>,
    job: &Job,
    target: &Pipeline,
    reindex: &Reindex,
    document: &str,
    revision: i64,
) -> Result<(), ReindexError> {
    let job = job.with_document(document, revision);
    let ingested = match DocumentJob::without_progress(platform.clone(), job.clone()).ingest_for(target).await {
        Err(IngestError::Cancelled) => return Ok(()),
        result => result.map_err(|error| ReindexError { document: Some(document.to_owned()), error })?,
    };
    match platform.store.store_reindexed_document(&job, reindex, &ingested).await? {
        true => Ok(()),
        false => Err(IngestError::Cancelled.into()),
    }
}

/// Deletes the chunks of an old generation.
pub(super) async fn sweep(platform: &Platform, job: &Job) -> Result<(), StoreError> {
    while platform.store.sweep_chunks(&job.pipeline_id, job.revision, SWEEP_BATCH).await? == SWEEP_BATCH {
        if !platform.store.renew_job_lease(job, platform.ingestion.job_lease).await? {
            return Ok(());
        }
    }
    platform.store.complete_job(job).await
}

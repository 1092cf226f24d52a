//! Workers: lease due jobs and run them.
//!
//! Ingesting a document has stages: its text is extracted in a separate process, split into chunks and embedded; text
//! and chunks are then stored atomically. A crash leaves a job that another worker takes when the lease expires.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_http::{Span, SpanKind, uuid_v7};
use pidq_store::domain::model::{Failure, Progress, Status};
use pidq_store::{Job, JobKind, StoreError};

use super::error::IngestError;
use super::job_lease::{MAX_ATTEMPTS, renew_lease, retry_delay};
use super::progress_writer::ProgressWriter;
use super::reindex;
use super::stages::DocumentJob;
use crate::background::embedding_outage;
use crate::cluster::pubsub::{Received, Signal};
use crate::embedding_registry::UNAVAILABLE_CODE;
use crate::platform::Platform;

/// Poll interval of an idle worker without notifications.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Documents deleted between two lease renewals while a pipeline is deleted.
const DELETE_BATCH: usize = 100;

/// Runs until the future is dropped.
pub async fn run_worker(platform: Arc<Platform>) {
    let lease_owner = uuid_v7();
    loop {
        match platform.store.lease_job(&lease_owner, platform.ingestion.job_lease).await {
            Ok(Some(job)) => {
                // Wakes other workers of this process: more jobs may be due, and a notification wakes only one worker.
                platform.messaging.job_notifier.notify_local();
                run_job(&platform, &job).await;
            }
            Ok(None) => {
                platform.ingestion.readers.purge();
                tokio::select! {
                    () = platform.messaging.job_notifier.notified() => {}
                    () = tokio::time::sleep(POLL_INTERVAL) => {}
                }
            }
            Err(error) => {
                tracing::warn!(%error, "leasing a job failed; retrying in 1 s");
                tokio::time::sleep(POLL_INTERVAL).await;
            }
        }
    }
}

/// Runs a job. If the database is unavailable at its end, the job runs again when the lease expires.
async fn run_job(platform: &Arc<Platform>, job: &Job) {
    let mut span = job_span(platform, job);
    let trace = span.trace().clone();
    let work = async {
        match job.kind {
            JobKind::Ingest => ingest_document(platform, job, &mut span).await,
            JobKind::Delete => delete_pipeline(platform, job).await,
            JobKind::Reindex => reindex::reindex(platform, job).await,
            JobKind::Sweep => reindex::sweep(platform, job).await,
        }
    };
    if let Err(error) = trace.clone().scope(work).await {
        span.fail("database");
        let trace_id = trace.id();
        tracing::warn!(job = job.id, trace_id, %error, "running a job failed; it is retried when its lease expires");
    }
}

/// Begins the span of an attempt, in the trace of the request that added the job.
fn job_span(platform: &Platform, job: &Job) -> Span {
    let kind = job.kind.as_str();
    let trace = platform.tracer.continued(job.traceparent.as_deref());
    let mut span = trace.span(SpanKind::Consumer, format!("process {kind}"));
    span.set("messaging.system", "pidq");
    span.set("messaging.destination.name", "jobs");
    span.set("messaging.operation.type", "process");
    span.set("messaging.operation.name", "process");
    span.set("pidq.job.kind", kind);
    span.set("pidq.job.id", job.id.clone());
    span.set("pidq.job.attempt", job.attempts);
    span.set("pidq.pipeline.id", job.pipeline_id.clone());
    job.document_id.iter().for_each(|id| span.set("pidq.document.id", id.clone()));
    span
}

/// Ingests a document. A lost lease or a deleted document ends it without a result.
async fn ingest_document(platform: &Arc<Platform>, job: &Job, span: &mut Span) -> Result<(), StoreError> {
    let progress_writer = Arc::new(ProgressWriter::default());
    let outcome = tokio::select! {
        outcome = try_ingest(platform, job, &progress_writer) => outcome,
        error = progress_writer.run(&platform.store, job) => Err(error),
        () = renew_lease(platform, job) => Err(IngestError::Cancelled),
        () = cancelled(platform, job) => Err(IngestError::Cancelled),
    };
    let job = &progress_writer.take_pending(job).await;
    match outcome {
        Ok(()) | Err(IngestError::Cancelled) => Ok(()),
        Err(IngestError::Store(error)) => Err(error),
        Err(IngestError::Failed { stage, code, message, retryable }) => {
            span.fail(code);
            fail_document(platform, job, stage, code, message, retryable).await
        }
        Err(IngestError::ModelDown { stage, message }) => {
            span.fail(UNAVAILABLE_CODE);
            wait_for_model(platform, job, stage, message).await
        }
    }
}

/// Ingests a document. While the model is down, the attempt does not count.
async fn try_ingest(
    platform: &Arc<Platform>,
    job: &Job,
    progress_writer: &Arc<ProgressWriter>,
) -> Result<(), IngestError> {
    match DocumentJob::new(platform.clone(), job.clone(), progress_writer.clone()).run().await {
        Err(IngestError::Failed { stage, code: UNAVAILABLE_CODE, message, retryable: true })
            if is_model_down(platform, job).await? =>
        {
            Err(IngestError::ModelDown { stage, message })
        }
        outcome => outcome,
    }
}

/// Resolves when the document is cancelled or deleted. A worker that misses the signal notices at the next report.
async fn cancelled(platform: &Platform, job: &Job) {
    let cancellation = Signal::DocumentCancelled { document: job.document_id.clone().unwrap_or_default() };
    let mut signals = platform.messaging.pubsub.subscribe(cancellation.subject());
    while let Some(received) = signals.next().await {
        if matches!(received, Received::Message(message) if Signal::from_message(&message).as_ref() == Some(&cancellation))
        {
            return;
        }
    }
    std::future::pending().await
}

async fn fail_document(
    platform: &Platform,
    job: &Job,
    stage: Status,
    code: &str,
    message: String,
    retryable: bool,
) -> Result<(), StoreError> {
    let retries = retryable && job.attempts < MAX_ATTEMPTS;
    let retry_at = retries.then(|| (Timestamp::now() + retry_delay(job.attempts)).0);
    let failure =
        Failure { stage: stage.as_str().to_owned(), code: code.to_owned(), message, retryable, attempt: job.attempts };
    let progress = Progress { failure: Some(failure), next_attempt_at: retry_at, ..Progress::default() };
    if platform.store.fail_job(job, &progress, retry_at).await? && retry_at.is_none() {
        platform.metrics.count_failed_document(code);
    }
    Ok(())
}

/// Postpones a document until its model responds or is checked again.
async fn wait_for_model(platform: &Platform, job: &Job, stage: Status, message: String) -> Result<(), StoreError> {
    let until = (Timestamp::now() + platform.ingestion.job_lease).0;
    let (stage, code) = (stage.as_str().to_owned(), UNAVAILABLE_CODE.to_owned());
    let failure = Failure { stage, code, message, retryable: true, attempt: job.attempts };
    let progress = Progress { failure: Some(failure), next_attempt_at: Some(until), ..Progress::default() };
    platform.store.postpone_document(job, &progress, until).await?;
    Ok(())
}

/// Returns true if the model of the job's pipeline is down.
async fn is_model_down(platform: &Platform, job: &Job) -> Result<bool, StoreError> {
    match platform.store.pipeline(&job.pipeline_id).await? {
        Some(pipeline) => embedding_outage::is_down(platform, &pipeline).await,
        None => Ok(false),
    }
}

/// Deletes a pipeline with its documents.
async fn delete_pipeline(platform: &Platform, job: &Job) -> Result<(), StoreError> {
    loop {
        let documents = platform.store.document_ids(&job.pipeline_id, DELETE_BATCH).await?;
        for document in &documents {
            platform.store.delete_document(&job.pipeline_id, document).await?;
        }
        if !platform.store.renew_job_lease(job, platform.ingestion.job_lease).await? {
            return Ok(());
        }
        if platform.store.delete_pipeline(&job.pipeline_id).await? {
            return Ok(());
        }
    }
}

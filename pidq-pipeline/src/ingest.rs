//! Workers: they take jobs that are due and hold them while they work.
//!
//! Reading a document goes through stages: its text is read in a process of its own, split, embedded, and stored with
//! the chunks at once. Whatever dies in between leaves a job that another worker takes when the hold is over.

pub(crate) mod reader;
mod reindex;
mod stages;
mod telling;

use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Moment;
use pidq_http::uuid_v7;

use crate::embedding;
use crate::messages::{Heard, Signal};
use crate::outages;
use crate::platform::Platform;
use crate::records::{Failure, Progress, Status};
use crate::store::{Job, JobKind, StoreError};
use stages::{Fault, Reading};
use telling::Telling;

/// How often an idle worker looks, if nobody rings.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often a document is tried.
const ATTEMPTS: i64 = 5;
/// How many documents of a pipeline that goes away are deleted before the job is held again.
const AT_ONCE: usize = 100;

/// Works until the future is dropped.
pub async fn work(platform: Arc<Platform>) {
    let holder = uuid_v7();
    loop {
        match platform.store.take_job(&holder, platform.hold).await {
            Ok(Some(job)) => {
                // Others may have heard the bell for this one.
                platform.bell.ring_here();
                done(&platform, &job).await;
            }
            Ok(None) => {
                tokio::select! {
                    () = platform.bell.heard() => {}
                    () = tokio::time::sleep(LOOK_EVERY) => {}
                }
            }
            Err(error) => {
                tracing::warn!(%error, "jobs cannot be taken");
                tokio::time::sleep(LOOK_EVERY).await;
            }
        }
    }
}

/// Does a job. One that cannot be ended because the database does not answer is taken again when the hold is over.
async fn done(platform: &Arc<Platform>, job: &Job) {
    let end = match job.kind {
        JobKind::Read => read(platform, job).await,
        JobKind::Delete => delete(platform, job).await,
        JobKind::Reindex => reindex::reindex(platform, job).await,
        JobKind::Sweep => reindex::sweep(platform, job).await,
    };
    if let Err(error) = end {
        tracing::warn!(job = job.id, %error, "a job was left");
    }
}

/// Reads a document. A hold that is lost, or a document that is not wanted any more, ends it without a trace.
async fn read(platform: &Arc<Platform>, job: &Job) -> Result<(), StoreError> {
    let telling = Arc::new(Telling::default());
    let outcome = tokio::select! {
        outcome = attempt(platform, job, &telling) => outcome,
        fault = telling.tell(&platform.store, job) => Err(fault),
        () = holding(platform, job) => Err(Fault::Unwanted),
        () = stopped(platform, job) => Err(Fault::Unwanted),
    };
    let job = &telling.rest(job).await;
    match outcome {
        Ok(()) | Err(Fault::Unwanted) => Ok(()),
        Err(Fault::Store(error)) => Err(error),
        Err(Fault::Failed { stage, code, message, retryable }) => {
            fail(platform, job, stage, code, message, retryable).await
        }
        Err(Fault::Waiting { stage, message }) => wait_for_model(platform, job, stage, message).await,
    }
}

/// Reads a document. One whose model answers nobody was not tried at all.
async fn attempt(platform: &Arc<Platform>, job: &Job, telling: &Arc<Telling>) -> Result<(), Fault> {
    match Reading::new(platform.clone(), job.clone(), telling.clone()).run().await {
        Err(Fault::Failed { stage, code: embedding::UNAVAILABLE, message, retryable: true })
            if is_without_model(platform, job).await? =>
        {
            Err(Fault::Waiting { stage, message })
        }
        outcome => outcome,
    }
}

/// Holds a job as long as it can be held.
async fn holding(platform: &Platform, job: &Job) {
    loop {
        tokio::time::sleep(platform.hold / 3).await;
        match platform.store.hold_job(job, platform.hold).await {
            Ok(true) => {}
            Ok(false) => return,
            Err(error) => tracing::warn!(job = job.id, %error, "a job cannot be held"),
        }
    }
}

/// Until somebody says that nobody wants the document any more. Who does not hear it finds out at the next report.
async fn stopped(platform: &Platform, job: &Job) {
    let stop = Signal::Stop { document: job.document_id.clone().unwrap_or_default() };
    let mut signals = platform.messages.subscribe(stop.subject());
    while let Some(heard) = signals.next().await {
        if matches!(heard, Heard::Message(message) if Signal::of(&message).as_ref() == Some(&stop)) {
            return;
        }
    }
    std::future::pending().await
}

async fn fail(
    platform: &Platform,
    job: &Job,
    stage: Status,
    code: &str,
    message: String,
    retryable: bool,
) -> Result<(), StoreError> {
    let again = retryable && job.attempts < ATTEMPTS;
    let again_at = again.then(|| (Moment::now() + wait(job.attempts)).0);
    let failure =
        Failure { stage: stage.word().to_owned(), code: code.to_owned(), message, retryable, attempt: job.attempts };
    let progress = Progress { failure: Some(failure), next_attempt_at: again_at, ..Progress::default() };
    platform.store.fail(job, &progress, again_at).await?;
    Ok(())
}

/// Puts a document back until its model answers, or is looked for again.
async fn wait_for_model(platform: &Platform, job: &Job, stage: Status, message: String) -> Result<(), StoreError> {
    let until = (Moment::now() + platform.hold).0;
    let (stage, code) = (stage.word().to_owned(), embedding::UNAVAILABLE.to_owned());
    let failure = Failure { stage, code, message, retryable: true, attempt: job.attempts };
    let progress = Progress { failure: Some(failure), next_attempt_at: Some(until), ..Progress::default() };
    platform.store.postpone(job, &progress, until).await?;
    Ok(())
}

/// Whether a job failed because the model of its pipeline does not answer anybody.
async fn is_without_model(platform: &Platform, job: &Job) -> Result<bool, StoreError> {
    match platform.store.pipeline(&job.pipeline_id).await? {
        Some(pipeline) => outages::is_down(platform, &pipeline).await,
        None => Ok(false),
    }
}

/// 1, 4, 16, 64 seconds.
fn wait(attempts: i64) -> Duration {
    let exponent = u32::try_from(attempts - 1).unwrap_or(0).min(8);
    Duration::from_secs(4u64.pow(exponent))
}

/// Takes a pipeline away with its documents.
async fn delete(platform: &Platform, job: &Job) -> Result<(), StoreError> {
    loop {
        let some = platform.store.any_documents(&job.pipeline_id, AT_ONCE).await?;
        for document in &some {
            platform.store.delete_document(&job.pipeline_id, document).await?;
        }
        if !platform.store.hold_job(job, platform.hold).await? {
            return Ok(());
        }
        if platform.store.delete_pipeline(&job.pipeline_id).await? {
            return Ok(());
        }
    }
}

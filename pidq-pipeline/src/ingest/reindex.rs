//! Another index of a pipeline, a slice of documents at a time: between two slices other jobs have their turn.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Moment;
use tokio::time::Instant;

use super::stages::{Fault, Reading};
use super::{ATTEMPTS, holding, wait};
use crate::embedding;
use crate::operations;
use crate::outages;
use crate::platform::Platform;
use crate::records::Pipeline;
use crate::store::{Job, LATECOMERS, Reindex, StoreError, Swap};

/// How long a slice is, about.
const SLICE: Duration = Duration::from_secs(5);
/// Documents that are looked for at once.
const AT_ONCE: usize = 20;
/// Chunks that are removed at once.
const SWEPT: usize = 1000;

/// What came of a slice.
enum Outcome {
    /// The index answers, or nobody wants it.
    Over,
    /// There is more to do.
    More,
}

/// A document that cannot be read in the new way, and why.
struct Unread {
    document: Option<String>,
    fault: Fault,
}

impl<F: Into<Fault>> From<F> for Unread {
    fn from(fault: F) -> Unread {
        Unread { document: None, fault: fault.into() }
    }
}

/// Works on an index for a while.
pub(super) async fn reindex(platform: &Arc<Platform>, job: &Job) -> Result<(), StoreError> {
    let (pipeline, reindex) =
        (platform.store.pipeline(&job.pipeline_id).await?, platform.store.reindex(&job.pipeline_id).await?);
    let Some((pipeline, reindex)) = pipeline.zip(reindex) else {
        return platform.store.end_job(job).await;
    };
    let outcome = tokio::select! {
        outcome = slice(platform, job, &pipeline, &reindex) => outcome,
        () = holding(platform, job) => return Ok(()),
    };
    match outcome {
        Ok(Outcome::Over) => Ok(()),
        Ok(Outcome::More) => {
            platform.store.yield_job(job).await?;
            platform.bell.ring();
            Ok(())
        }
        Err(Unread { fault: Fault::Unwanted, .. }) => Ok(()),
        Err(Unread { fault: Fault::Store(error), .. }) => Err(error),
        Err(Unread { fault: Fault::Waiting { message, .. }, document }) => {
            wait_for_model(platform, job, &reindex, told(embedding::UNAVAILABLE, message, document)).await
        }
        Err(Unread { fault: Fault::Failed { code: embedding::UNAVAILABLE, message, .. }, document })
            if outages::is_down(platform, &reindex.of(&pipeline)).await? =>
        {
            wait_for_model(platform, job, &reindex, told(embedding::UNAVAILABLE, message, document)).await
        }
        Err(Unread { fault: Fault::Failed { code, message, retryable: true, .. }, document }) => {
            try_later(platform, job, &reindex, told(code, message, document)).await
        }
        Err(Unread { fault: Fault::Failed { code, message, .. }, document }) => {
            platform.store.fail_reindex(job, &reindex, &told(code, message, document)).await
        }
    }
}

fn told(code: &str, message: String, document_id: Option<String>) -> operations::Fault {
    operations::Fault { code: code.to_owned(), message, document_id }
}

/// Tries again later, but not for ever.
async fn try_later(
    platform: &Platform,
    job: &Job,
    reindex: &Reindex,
    fault: operations::Fault,
) -> Result<(), StoreError> {
    if job.attempts >= ATTEMPTS {
        return platform.store.fail_reindex(job, reindex, &fault).await;
    }
    let again_at = (Moment::now() + wait(job.attempts)).0;
    note_fault(platform, job, reindex, fault, again_at).await?;
    platform.store.put_off(job, again_at).await
}

/// Waits for a model that answers nobody, for as long as it takes: the old index answers meanwhile, and what is in the new
/// one stays there.
async fn wait_for_model(
    platform: &Platform,
    job: &Job,
    reindex: &Reindex,
    fault: operations::Fault,
) -> Result<(), StoreError> {
    let until = (Moment::now() + platform.hold).0;
    note_fault(platform, job, reindex, fault, until).await?;
    platform.store.wait_until(job, until).await
}

async fn note_fault(
    platform: &Platform,
    job: &Job,
    reindex: &Reindex,
    fault: operations::Fault,
    again_at: i64,
) -> Result<(), StoreError> {
    let mut progress = platform.store.progress_of(&job.pipeline_id, reindex).await?;
    (progress.fault, progress.next_attempt_at) = (Some(fault), Some(again_at));
    platform.store.note_progress(&reindex.operation, &progress).await
}

async fn slice(platform: &Arc<Platform>, job: &Job, pipeline: &Pipeline, reindex: &Reindex) -> Result<Outcome, Unread> {
    let (store, begun, future) = (&platform.store, Instant::now(), reindex.of(pipeline));
    while begun.elapsed() < SLICE {
        let missing = store.missing_in(&pipeline.id, reindex, AT_ONCE).await?;
        for (document, revision) in &missing {
            one(platform, job, &future, reindex, document, *revision).await?;
            if begun.elapsed() >= SLICE {
                break;
            }
        }
        let progress = store.progress_of(&pipeline.id, reindex).await?;
        store.note_progress(&reindex.operation, &progress).await?;
        if missing.is_empty() {
            match store.swap(job, reindex, LATECOMERS).await? {
                Swap::Done | Swap::Unwanted => return Ok(Outcome::Over),
                Swap::NotYet => {}
            }
        }
    }
    Ok(Outcome::More)
}

/// Puts one document into the new index. One that is gone, or changed in between, is left to the next look.
async fn one(
    platform: &Arc<Platform>,
    job: &Job,
    future: &Pipeline,
    reindex: &Reindex,
    document: &str,
    revision: i64,
) -> Result<(), Unread> {
    let job = job.with_document(document, revision);
    let read = match Reading::beside(platform.clone(), job.clone()).anew(future).await {
        Err(Fault::Unwanted) => return Ok(()),
        read => read.map_err(|fault| Unread { document: Some(document.to_owned()), fault })?,
    };
    match platform.store.shadow(&job, reindex, &read).await? {
        true => Ok(()),
        false => Err(Fault::Unwanted.into()),
    }
}

/// Removes what is searched no more.
pub(super) async fn sweep(platform: &Platform, job: &Job) -> Result<(), StoreError> {
    while platform.store.sweep(&job.pipeline_id, job.revision, SWEPT).await? == SWEPT {
        if !platform.store.hold_job(job, platform.hold).await? {
            return Ok(());
        }
    }
    platform.store.end_job(job).await
}

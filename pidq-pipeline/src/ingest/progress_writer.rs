//! Delayed progress writes: stored after a short delay, or with the final result, whichever comes first.
//!
//! A small document passes its stages in milliseconds, and a transaction for each would cost more than the ingestion.

use std::time::Duration;

use pidq_store::domain::model::{Progress, Status};
use pidq_store::{Job, StageTransition, Store};
use tokio::sync::{Mutex, Notify};

use super::error::IngestError;

/// Delay that batches progress updates.
const BATCH_DELAY: Duration = Duration::from_millis(100);

/// Batches the progress of a document. The lock is held while writing, so that updates are written once and in order.
#[derive(Default)]
pub(super) struct ProgressWriter {
    pending: Mutex<PendingProgress>,
    notify: Notify,
}

#[derive(Default)]
struct PendingProgress {
    /// Current stage.
    status: Option<Status>,
    progress: Progress,
    stages: Vec<StageTransition>,
}

impl ProgressWriter {
    /// Reports progress.
    pub async fn update(&self, store: &Store, status: Status, progress: &Progress) {
        let mut pending = self.pending.lock().await;
        if pending.status.replace(status) != Some(status) {
            pending.stages.push(StageTransition { status, at: store.outbox().next_timestamp() });
        }
        pending.progress.clone_from(progress);
        self.notify.notify_one();
    }

    /// Writes updates until a write fails or the job is cancelled; returns the error.
    pub async fn run(&self, store: &Store, job: &Job) -> IngestError {
        loop {
            self.notify.notified().await;
            tokio::time::sleep(BATCH_DELAY).await;
            match self.flush(store, job).await {
                Ok(()) => {}
                Err(error) => return error,
            }
        }
    }

    async fn flush(&self, store: &Store, job: &Job) -> Result<(), IngestError> {
        let mut pending = self.pending.lock().await;
        let Some(status) = pending.status else { return Ok(()) };
        let job = job.with_pending_stages(pending.stages.clone());
        if !store.report_progress(&job, status, &pending.progress).await? {
            return Err(IngestError::Cancelled);
        }
        pending.stages.clear();
        Ok(())
    }

    /// Takes the unwritten stages into the job, for the transaction that ends it.
    pub async fn take_pending(&self, job: &Job) -> Job {
        job.with_pending_stages(std::mem::take(&mut *self.pending.lock().await).stages)
    }
}

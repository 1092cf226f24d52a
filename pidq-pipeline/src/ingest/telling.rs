//! How far a document is, as others see it: written a moment after it is so, or with what comes of it, if that is sooner.
//!
//! A small document goes through its stages in milliseconds, and a transaction for each would cost more than its reading.

use std::time::Duration;

use tokio::sync::{Mutex, Notify};

use super::stages::Fault;
use crate::records::{Progress, Status};
use crate::store::{Job, Stage, Store};

/// How long news gather.
const GATHER: Duration = Duration::from_millis(100);

/// What is to be written of a document that is read. Whoever writes holds it, so that all is written once and in order.
#[derive(Default)]
pub(super) struct Telling {
    news: Mutex<News>,
    bell: Notify,
}

#[derive(Default)]
struct News {
    /// Where the document is.
    status: Option<Status>,
    progress: Progress,
    untold: Vec<Stage>,
}

impl Telling {
    /// Says how far the document is.
    pub async fn say(&self, store: &Store, status: Status, progress: &Progress) {
        let mut news = self.news.lock().await;
        if news.status.replace(status) != Some(status) {
            news.untold.push(Stage { status, at: store.outbox().moment() });
        }
        news.progress.clone_from(progress);
        self.bell.notify_one();
    }

    /// Writes what is said, until nobody wants to know it any more.
    pub async fn tell(&self, store: &Store, job: &Job) -> Fault {
        loop {
            self.bell.notified().await;
            tokio::time::sleep(GATHER).await;
            match self.write(store, job).await {
                Ok(()) => {}
                Err(fault) => return fault,
            }
        }
    }

    async fn write(&self, store: &Store, job: &Job) -> Result<(), Fault> {
        let mut news = self.news.lock().await;
        let Some(status) = news.status else { return Ok(()) };
        let told = job.with_untold(news.untold.clone());
        if !store.report(&told, status, &news.progress).await? {
            return Err(Fault::Unwanted);
        }
        news.untold.clear();
        Ok(())
    }

    /// A job with the stages that are not written yet, for the transaction that ends it. Nothing else is written of them.
    pub async fn rest(&self, job: &Job) -> Job {
        job.with_untold(std::mem::take(&mut *self.news.lock().await).untold)
    }
}

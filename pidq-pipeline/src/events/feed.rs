//! The newest events in memory, so that many listeners cost the database one look.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::Event;
use crate::store::{Store, StoreError};

/// Events that are kept in memory. A listener that is further behind reads the database.
const RECENT: usize = 1000;
/// Events that are read at once.
pub(super) const BATCH: usize = 100;

/// What this process knows of the events that have a place.
pub struct Feed {
    recent: Mutex<VecDeque<Arc<Event>>>,
    last: watch::Sender<i64>,
    places: Arc<Semaphore>,
}

impl Feed {
    /// Events behind a position, for so many listeners at once.
    pub fn new(last: i64, listeners: usize) -> Feed {
        let places = Arc::new(Semaphore::new(listeners.min(Semaphore::MAX_PERMITS)));
        Feed { recent: Mutex::default(), last: watch::Sender::new(last), places }
    }

    /// The position of the newest event that is known here.
    pub fn last(&self) -> i64 {
        *self.last.borrow()
    }

    /// Tells of every newer position, and of the end.
    pub(crate) fn heard(&self) -> watch::Receiver<i64> {
        self.last.subscribe()
    }

    /// A place for a listener, if there is one.
    pub(super) fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.places.clone().try_acquire_owned().ok()
    }

    /// Sends all listeners home, because the service ends.
    pub fn close(&self) {
        self.places.close();
        self.last.send_modify(|_| ());
    }

    /// Whether nobody else can listen.
    pub fn is_full(&self) -> bool {
        self.places.available_permits() == 0
    }

    pub(super) fn is_closed(&self) -> bool {
        self.places.is_closed()
    }

    /// Takes in what got a place since, here or in another replica.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn catch_up(&self, store: &Store) -> Result<(), StoreError> {
        loop {
            let events = store.events_after(self.last(), BATCH).await?;
            let Some(last) = events.last().map(|event| event.position) else { return Ok(()) };
            let mut recent = self.recent();
            recent.extend(events.into_iter().map(Arc::new));
            let surplus = recent.len().saturating_sub(RECENT);
            recent.drain(..surplus);
            drop(recent);
            self.last.send_replace(last);
        }
    }

    /// Events behind a position, in their order.
    pub(super) async fn after(&self, store: &Store, position: i64) -> Result<Vec<Arc<Event>>, StoreError> {
        if position >= self.last() {
            return Ok(Vec::new());
        }
        if let Some(events) = self.remembered(position) {
            return Ok(events);
        }
        Ok(store.events_after(position, BATCH).await?.into_iter().map(Arc::new).collect())
    }

    /// Positions have no gaps, so what is in memory is all there is from its first on.
    fn remembered(&self, position: i64) -> Option<Vec<Arc<Event>>> {
        let recent = self.recent();
        let first = recent.front()?.position;
        if position + 1 < first {
            return None;
        }
        let known = recent.partition_point(|event| event.position <= position);
        Some(recent.iter().skip(known).take(BATCH).cloned().collect())
    }

    fn recent(&self) -> MutexGuard<'_, VecDeque<Arc<Event>>> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

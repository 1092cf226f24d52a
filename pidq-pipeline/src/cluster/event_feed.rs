//! Buffer of recent events, so that many event streams cost one database query.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pidq_store::domain::event::Event;
use pidq_store::{Store, StoreError};
use tokio::sync::watch;

use crate::shared_budget::{BudgetPermit, SharedBudget};

/// Capacity of the buffer. A stream that is further behind reads from the database.
const BUFFER_SIZE: usize = 1000;
/// Events per query.
pub(crate) const BATCH_SIZE: usize = 100;

/// In-memory feed of positioned events.
pub struct Feed {
    buffer: Mutex<VecDeque<Arc<Event>>>,
    last: watch::Sender<i64>,
    streams: SharedBudget,
    is_closed: AtomicBool,
}

impl Feed {
    /// Creates a feed after a position, with a limit on open streams.
    pub fn new(last: i64, stream_limit: usize) -> Feed {
        let streams = SharedBudget::new(stream_limit as u64);
        Feed { buffer: Mutex::default(), last: watch::Sender::new(last), streams, is_closed: AtomicBool::new(false) }
    }

    /// Returns the position of the newest event in the feed.
    pub fn last_position(&self) -> i64 {
        *self.last.borrow()
    }

    /// Returns a receiver that is notified of newer positions and of the shutdown.
    pub(crate) fn subscribe(&self) -> watch::Receiver<i64> {
        self.last.subscribe()
    }

    /// Returns a permit for a stream; none if the limit or the share of the caller is reached.
    pub(crate) fn acquire_permit(&self, caller: &str) -> Option<BudgetPermit> {
        self.streams.try_acquire(caller, 1)
    }

    /// Closes the feed and ends all streams, at shutdown.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
        self.last.send_modify(|_| ());
    }

    /// Returns true if the limit of streams is reached.
    pub fn is_full(&self) -> bool {
        self.streams.available() == 0
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    /// Loads the events that were positioned since, by any replica.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn catch_up(&self, store: &Store) -> Result<(), StoreError> {
        loop {
            let events = store.events_after(self.last_position(), BATCH_SIZE).await?;
            let Some(last) = events.last().map(|event| event.position) else { return Ok(()) };
            let mut buffer = self.buffer();
            buffer.extend(events.into_iter().map(Arc::new));
            let surplus = buffer.len().saturating_sub(BUFFER_SIZE);
            buffer.drain(..surplus);
            drop(buffer);
            self.last.send_replace(last);
        }
    }

    /// Returns events after a position, in order.
    pub(crate) async fn after(&self, store: &Store, position: i64) -> Result<Vec<Arc<Event>>, StoreError> {
        if position >= self.last_position() {
            return Ok(Vec::new());
        }
        if let Some(events) = self.buffered(position) {
            return Ok(events);
        }
        Ok(store.events_after(position, BATCH_SIZE).await?.into_iter().map(Arc::new).collect())
    }

    /// Returns events from the buffer; positions have no gaps, so it is complete from its first event on.
    fn buffered(&self, position: i64) -> Option<Vec<Arc<Event>>> {
        let buffer = self.buffer();
        let first = buffer.front()?.position;
        if position + 1 < first {
            return None;
        }
        let index = buffer.partition_point(|event| event.position <= position);
        Some(buffer.iter().skip(index).take(BATCH_SIZE).cloned().collect())
    }

    fn buffer(&self) -> MutexGuard<'_, VecDeque<Arc<Event>>> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

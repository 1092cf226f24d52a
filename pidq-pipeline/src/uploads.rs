//! The memory of uploads that are on their way: one budget for all of them, so that many large ones are told to come
//! back and nobody else notices them.

use std::sync::Arc;

use pidq_http::{Problem, Request};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The budget.
pub struct Uploads {
    left: Arc<Semaphore>,
    largest: u64,
}

/// A part of the budget, until it is dropped.
pub(crate) struct Room {
    _taken: OwnedSemaphorePermit,
}

/// What is counted at once.
const UNIT: u64 = 1 << 10;
/// When to come back, in seconds.
const LATER: u64 = 2;

impl Uploads {
    /// A budget in bytes. The largest upload always fits when no other is on its way.
    pub fn new(budget: u64, largest: u64) -> Uploads {
        let units = usize::try_from(budget.max(largest).div_ceil(UNIT)).unwrap_or(usize::MAX);
        Uploads { left: Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))), largest }
    }

    /// Takes room for the body of a request before it is read. One that does not say how long it is may be the largest.
    ///
    /// 503 if there is not enough left.
    pub(crate) fn admit(&self, request: &Request) -> Result<Room, Problem> {
        let bytes = request.announced().map_or(self.largest, |bytes| bytes.min(self.largest));
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        let taken = self.left.clone().try_acquire_many_owned(units).map_err(|_| full())?;
        Ok(Room { _taken: taken })
    }
}

fn full() -> Problem {
    let detail = "So many documents are on their way that there is no memory for another. Try again.";
    Problem::unavailable("too-many-uploads", detail, LATER)
}

//! What is being sent: a budget of memory and one of disk for all of it, so that many large documents are told to come
//! back and nobody else notices them.

use std::sync::Arc;

use pidq_http::{Problem, Request};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::spool::{Incoming, PIECE, Spool};

/// The budgets, and where documents wait that are large.
pub struct Uploads {
    memory: Budget,
    disk: Budget,
    largest: u64,
    spool: Spool,
}

/// A part of the budgets, until it is dropped.
pub(crate) struct Room {
    _taken: [Option<OwnedSemaphorePermit>; 2],
}

/// Bytes that are lent.
struct Budget(Arc<Semaphore>);

/// What is counted at once.
const UNIT: u64 = 1 << 10;
/// When to come back, in seconds.
const LATER: u64 = 2;
/// What a document takes of memory that goes to a file: what is being written, and what comes meanwhile.
const SPOOLED: u64 = 4 * PIECE as u64;

impl Uploads {
    /// Budgets in bytes. The largest upload always fits when no other is on its way.
    pub fn new(memory: u64, disk: u64, largest: u64, spool: Spool) -> Uploads {
        let (memory, disk) = (Budget::of(memory.max(largest)), Budget::of(disk.max(largest)));
        Uploads { memory, disk, largest, spool }
    }

    /// Takes room for a document before it is read, and says where it goes: to a file, if it is large. One that does not
    /// say how long it is may be the largest.
    ///
    /// 503 if there is not enough left.
    pub(crate) fn take(&self, request: &Request) -> Result<(Room, Incoming), Problem> {
        let bytes = self.announced(request);
        let memory = self.memory.lend(bytes.min(SPOOLED))?;
        let disk = if bytes > PIECE as u64 { Some(self.disk.lend(bytes)?) } else { None };
        Ok((Room { _taken: [Some(memory), disk] }, self.spool.take(self.largest)))
    }

    fn announced(&self, request: &Request) -> u64 {
        request.announced().map_or(self.largest, |bytes| bytes.min(self.largest))
    }
}

impl Budget {
    fn of(bytes: u64) -> Budget {
        let units = usize::try_from(bytes.div_ceil(UNIT)).unwrap_or(usize::MAX);
        Budget(Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS))))
    }

    fn lend(&self, bytes: u64) -> Result<OwnedSemaphorePermit, Problem> {
        let units = u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX);
        self.0.clone().try_acquire_many_owned(units).map_err(|_| full())
    }
}

fn full() -> Problem {
    let detail = "So many documents are on their way that there is no room for another. Try again.";
    Problem::unavailable("too-many-uploads", detail, LATER)
}

//! Memory budget shared by all running queries.
//!
//! Most queries need little memory. A run starts with a small reservation; only a run that exceeds it is repeated with
//! the maximum of a query, as soon as that much is free. The result of a run stays reserved until it is sent.

mod response_budget;

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use pidq_core::error::Code;
use pidq_core::{Cancel, Scratch};
use tokio::sync::Notify;

use crate::response_format::QueryFailure;
use crate::store::lock;
use response_budget::ResponseBudget;
pub(crate) use response_budget::ResponseReservation;

/// Initial reservation of a run in bytes.
pub(crate) const INITIAL_MEMORY: usize = 4 << 20;
/// Maximum size in bytes of scratch memory kept for reuse.
const MAX_POOLED_SCRATCH: usize = 4 << 20;
/// Interval at which a waiting run checks for cancellation.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Memory budget of all runs.
#[derive(Debug)]
pub struct MemoryPool {
    total: usize,
    free: Mutex<FreeMemory>,
    response_budget: Mutex<ResponseBudget>,
    freed: Condvar,
    /// Signaled when responses release memory.
    released: Notify,
    /// Reusable scratch memory. Reuse is cheaper than touching fresh pages.
    scratch_pool: Mutex<Vec<Scratch>>,
}

#[derive(Debug)]
struct FreeMemory {
    /// Free bytes; negative while responses hold more than is free.
    bytes: isize,
    /// Number of runs waiting for memory.
    waiting: usize,
}

/// Reservation of a run.
struct RunReservation<'m> {
    memory: &'m MemoryPool,
    bytes: usize,
}

impl MemoryPool {
    /// Creates a pool with a total size in bytes.
    pub fn new(total: usize) -> MemoryPool {
        let total = total.min(isize::MAX as usize);
        let free = Mutex::new(FreeMemory { bytes: total as isize, waiting: 0 });
        MemoryPool {
            total,
            free,
            response_budget: Mutex::default(),
            freed: Condvar::new(),
            released: Notify::new(),
            scratch_pool: Mutex::new(Vec::new()),
        }
    }

    /// Runs a query that may use `max_bytes` bytes. Blocks until memory is free or the query is cancelled.
    pub(crate) fn run<T>(
        &self,
        max_bytes: usize,
        cancel: &Cancel,
        mut run: impl FnMut(&Scratch, usize) -> Result<T, QueryFailure>,
    ) -> Result<T, QueryFailure> {
        let max_bytes = max_bytes.min(self.total);
        let small = INITIAL_MEMORY.min(max_bytes);
        let mut scratch = lock(&self.scratch_pool).pop().unwrap_or_default();
        let mut within = |scratch: &Scratch, bytes| {
            let _reservation = self.reserve_run(bytes, cancel);
            run(scratch, bytes)
        };
        let mut done = within(&scratch, small);
        if small < max_bytes && matches!(&done, Err(QueryFailure::Query(error)) if error.code() == Code::OutOfMemory) {
            scratch.reset();
            done = within(&scratch, max_bytes);
        }
        self.return_scratch(scratch);
        done
    }

    /// Runs a query with a number of bytes if they are free. Never blocks.
    pub(crate) fn try_run<T>(&self, bytes: usize, run: impl FnOnce(&Scratch) -> T) -> Option<T> {
        let _reservation = self.try_reserve_run(bytes)?;
        let scratch = lock(&self.scratch_pool).pop().unwrap_or_default();
        let done = run(&scratch);
        self.return_scratch(scratch);
        Some(done)
    }

    fn try_reserve_run(&self, bytes: usize) -> Option<RunReservation<'_>> {
        let mut free = lock(&self.free);
        let is_free = free.bytes >= bytes as isize;
        is_free.then(|| {
            free.bytes -= bytes as isize;
            RunReservation { memory: self, bytes }
        })
    }

    fn release_run(&self, bytes: usize) {
        let mut free = lock(&self.free);
        free.bytes += bytes as isize;
        // Notifying without waiters costs as much as with waiters.
        if free.waiting > 0 {
            self.freed.notify_all();
        }
    }

    /// Reserves memory for a run. A cancelled run needs none: it stops at its first step.
    fn reserve_run(&self, bytes: usize, cancel: &Cancel) -> RunReservation<'_> {
        let mut free = lock(&self.free);
        free.waiting += 1;
        while free.bytes < bytes as isize && !cancel.is_cancelled() {
            free = self.freed.wait_timeout(free, CANCEL_POLL_INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
        free.waiting -= 1;
        let bytes = bytes.min(free.bytes.max(0) as usize);
        free.bytes -= bytes as isize;
        RunReservation { memory: self, bytes }
    }

    fn return_scratch(&self, mut scratch: Scratch) {
        scratch.reset();
        if scratch.size() <= MAX_POOLED_SCRATCH {
            lock(&self.scratch_pool).push(scratch);
        }
    }
}

impl Drop for RunReservation<'_> {
    fn drop(&mut self) {
        self.memory.release_run(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;

    use pidq_core::{Graph, Limits, Query};

    use super::*;

    /// Returns a run that fails with out-of-memory below `needed` bytes.
    fn needs(needed: usize) -> impl FnMut(&Scratch, usize) -> Result<usize, QueryFailure> {
        move |_, bytes| if bytes < needed { Err(QueryFailure::Query(out_of_memory())) } else { Ok(bytes) }
    }

    fn out_of_memory() -> pidq_core::Error {
        let graph = Graph::from_json(b"[1, 2, 3]".to_vec()).expect("a document");
        let query = Query::parse("map(get() + 1)").expect("a query");
        let limits = Limits { memory: 0, ..Limits::default() };
        let scratch = Scratch::new();
        let Err(error) = query.run(&graph, &scratch, limits) else { panic!("there is no memory") };
        assert_eq!(error.code(), Code::OutOfMemory);
        error
    }

    #[test]
    fn a_run_starts_small_and_is_repeated_with_the_maximum() {
        let memory = MemoryPool::new(100 << 20);
        let granted = |needed, max_bytes| memory.run(max_bytes, &Cancel::default(), needs(needed)).ok();
        assert_eq!(granted(1, 64 << 20), Some(INITIAL_MEMORY));
        assert_eq!(granted(INITIAL_MEMORY + 1, 64 << 20), Some(64 << 20));
        assert_eq!(granted(INITIAL_MEMORY + 1, 1 << 30), Some(100 << 20));
        assert_eq!(granted(65 << 20, 64 << 20), None);
        assert_eq!(lock(&memory.free).bytes, 100 << 20);
    }

    #[test]
    fn concurrent_runs_never_exceed_the_pool() {
        let memory = MemoryPool::new(3 * INITIAL_MEMORY);
        let (current, peak) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let run = |_: &Scratch, bytes| {
            peak.fetch_max(current.fetch_add(bytes, SeqCst) + bytes, SeqCst);
            thread::yield_now();
            current.fetch_sub(bytes, SeqCst);
            if bytes > INITIAL_MEMORY { Ok(()) } else { Err(QueryFailure::Query(out_of_memory())) }
        };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert!(memory.run(2 * INITIAL_MEMORY, &Cancel::default(), run).is_ok()));
            }
        });
        assert!(peak.load(SeqCst) <= 3 * INITIAL_MEMORY);
        assert_eq!(lock(&memory.free).bytes, 3 * INITIAL_MEMORY as isize);
    }

    #[test]
    fn a_run_without_waiting_needs_free_memory() {
        let memory = MemoryPool::new(INITIAL_MEMORY);
        assert_eq!(memory.try_run(INITIAL_MEMORY, |_| memory.try_run(1, |_| ())), Some(None));
        assert_eq!(memory.try_run(INITIAL_MEMORY, |_| ()), Some(()));
        assert_eq!(memory.try_run(INITIAL_MEMORY + 1, |_| ()), None);
    }

    #[test]
    fn a_cancelled_run_stops_waiting() {
        let memory = MemoryPool::new(INITIAL_MEMORY);
        let cancel = Cancel::default();
        cancel.cancel();
        let all = memory.reserve_run(INITIAL_MEMORY, &Cancel::default());
        assert!(memory.run(INITIAL_MEMORY, &cancel, |_, _| Ok(())).is_ok());
        drop(all);
    }
}

//! The memory of the queries that run: one budget for all of them.
//!
//! Most queries take little. So each runs with a small share first, and only one that fails for it runs once more, with
//! all that a query may have, as soon as that much is free. What a run gave counts on until it is read.

mod unread;

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use pidq_core::error::Code;
use pidq_core::{Cancel, Scratch};
use tokio::sync::Notify;

use crate::rendering::Failure;
use crate::store::held;
pub(crate) use unread::Held;
use unread::Unread;

/// What a query has at first.
pub(crate) const SMALL: usize = 4 << 20;
/// A scratch that has grown beyond this is given back to the system.
const KEPT: usize = 4 << 20;
/// How often whoever waits looks whether anybody still wants the answer.
const LOOK: Duration = Duration::from_millis(20);

/// The memory of all runs together.
#[derive(Debug)]
pub struct Memory {
    total: usize,
    free: Mutex<Free>,
    unread: Mutex<Unread>,
    more: Condvar,
    /// Results have given memory back.
    given_back: Notify,
    /// Scratches for the next runs: touching fresh memory costs more than filling it.
    shelf: Mutex<Vec<Scratch>>,
}

#[derive(Debug)]
struct Free {
    /// Less than nothing while results hold what runs have.
    bytes: isize,
    /// How many wait for more.
    waiting: usize,
}

/// A part of the memory that a run holds.
struct Share<'m> {
    memory: &'m Memory,
    bytes: usize,
}

impl Memory {
    /// So many bytes for all.
    pub fn new(total: usize) -> Memory {
        let total = total.min(isize::MAX as usize);
        let free = Mutex::new(Free { bytes: total as isize, waiting: 0 });
        Memory {
            total,
            free,
            unread: Mutex::default(),
            more: Condvar::new(),
            given_back: Notify::new(),
            shelf: Mutex::new(Vec::new()),
        }
    }

    /// Runs a query that may take `most` bytes. Blocks while others have what it needs, until it is cancelled.
    pub(crate) fn run<T>(
        &self,
        most: usize,
        cancel: &Cancel,
        mut run: impl FnMut(&Scratch, usize) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let most = most.min(self.total);
        let small = SMALL.min(most);
        let mut scratch = held(&self.shelf).pop().unwrap_or_default();
        let mut within = |scratch: &Scratch, bytes| {
            let _share = self.take(bytes, cancel);
            run(scratch, bytes)
        };
        let mut done = within(&scratch, small);
        if small < most && matches!(&done, Err(Failure::Query(error)) if error.code() == Code::OutOfMemory) {
            scratch.reset();
            done = within(&scratch, most);
        }
        self.put_back(scratch);
        done
    }

    /// Runs a query that may take so many bytes, if they are free now. Never blocks.
    pub(crate) fn run_now<T>(&self, bytes: usize, run: impl FnOnce(&Scratch) -> T) -> Option<T> {
        let _share = self.share(bytes)?;
        let scratch = held(&self.shelf).pop().unwrap_or_default();
        let done = run(&scratch);
        self.put_back(scratch);
        Some(done)
    }

    fn share(&self, bytes: usize) -> Option<Share<'_>> {
        let mut free = held(&self.free);
        let is_free = free.bytes >= bytes as isize;
        is_free.then(|| {
            free.bytes -= bytes as isize;
            Share { memory: self, bytes }
        })
    }

    fn give(&self, bytes: usize) {
        let mut free = held(&self.free);
        free.bytes += bytes as isize;
        // Waking nobody costs as much as waking somebody.
        if free.waiting > 0 {
            self.more.notify_all();
        }
    }

    /// A run that is cancelled needs nothing: it ends with its first step.
    fn take(&self, bytes: usize, cancel: &Cancel) -> Share<'_> {
        let mut free = held(&self.free);
        free.waiting += 1;
        while free.bytes < bytes as isize && !cancel.is_cancelled() {
            free = self.more.wait_timeout(free, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        free.waiting -= 1;
        let bytes = bytes.min(free.bytes.max(0) as usize);
        free.bytes -= bytes as isize;
        Share { memory: self, bytes }
    }

    fn put_back(&self, mut scratch: Scratch) {
        scratch.reset();
        if scratch.size() <= KEPT {
            held(&self.shelf).push(scratch);
        }
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.memory.give(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::thread;

    use pidq_core::{Graph, Limits, Query};

    use super::*;

    /// What a run got: it fails for want of memory below `needed`.
    fn needs(needed: usize) -> impl FnMut(&Scratch, usize) -> Result<usize, Failure> {
        move |_, bytes| if bytes < needed { Err(Failure::Query(out_of_memory())) } else { Ok(bytes) }
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
    fn a_query_gets_little_then_all_and_never_more() {
        let memory = Memory::new(100 << 20);
        let got = |needed, most| memory.run(most, &Cancel::default(), needs(needed)).ok();
        assert_eq!(got(1, 64 << 20), Some(SMALL));
        assert_eq!(got(SMALL + 1, 64 << 20), Some(64 << 20));
        assert_eq!(got(SMALL + 1, 1 << 30), Some(100 << 20));
        assert_eq!(got(65 << 20, 64 << 20), None);
        assert_eq!(held(&memory.free).bytes, 100 << 20);
    }

    #[test]
    fn together_they_never_have_more_than_there_is() {
        let memory = Memory::new(3 * SMALL);
        let (now, peak) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let run = |_: &Scratch, bytes| {
            peak.fetch_max(now.fetch_add(bytes, SeqCst) + bytes, SeqCst);
            thread::yield_now();
            now.fetch_sub(bytes, SeqCst);
            if bytes > SMALL { Ok(()) } else { Err(Failure::Query(out_of_memory())) }
        };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| assert!(memory.run(2 * SMALL, &Cancel::default(), run).is_ok()));
            }
        });
        assert!(peak.load(SeqCst) <= 3 * SMALL);
        assert_eq!(held(&memory.free).bytes, 3 * SMALL as isize);
    }

    #[test]
    fn a_run_that_may_not_wait_has_what_is_free_or_does_not_begin() {
        let memory = Memory::new(SMALL);
        assert_eq!(memory.run_now(SMALL, |_| memory.run_now(1, |_| ())), Some(None));
        assert_eq!(memory.run_now(SMALL, |_| ()), Some(()));
        assert_eq!(memory.run_now(SMALL + 1, |_| ()), None);
    }

    #[test]
    fn whoever_is_cancelled_waits_no_longer() {
        let memory = Memory::new(SMALL);
        let cancel = Cancel::default();
        cancel.cancel();
        let all = memory.take(SMALL, &Cancel::default());
        assert!(memory.run(SMALL, &cancel, |_, _| Ok(())).is_ok());
        drop(all);
    }
}

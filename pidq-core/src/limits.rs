//! What a run may cost, and how it is stopped.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Code, Error, Result};

/// The budgets of one query: of its text, its run and its result.
///
/// Plain data: take the default and lower what you like. Fuel is deterministic, so the same query on the same
/// document stops at the same place on every machine; `cancel` is the backstop for wall-clock time.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'c> {
    /// Steps: one per part of the query evaluated, item visited, edge followed, 64 bytes copied.
    pub fuel: u64,
    /// Bytes of working memory.
    pub memory: usize,
    /// Bytes of the printed result.
    pub output: usize,
    /// Bytes of one text that the query builds.
    pub string: usize,
    /// Backtracks of one search with a regular expression that has lookaround or back-references. They cost fuel too.
    pub backtracks: usize,
    /// Rows of a walk or of a list about the graph.
    pub rows: usize,
    /// Paths and circuits that one call lists if it does not say how many; if it does (`limit`), `rows` is what it may list.
    pub paths: usize,
    /// Steps of a walk from its start.
    pub depth: usize,
    /// Set from another thread, it stops the run.
    pub cancel: Option<&'c Cancel>,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits {
            fuel: 20_000_000,
            memory: 256 << 20,
            output: 64 << 20,
            string: 16 << 20,
            backtracks: 1_000_000,
            rows: 100_000,
            paths: 1_000,
            depth: 10_000,
            cancel: None,
        }
    }
}

/// Bytes of a query text.
pub const MAX_QUERY: usize = 64 << 10;
/// Levels of nesting of a query.
pub const MAX_NESTING: usize = 128;
/// Parts of a query: calls, constants, paths.
pub const MAX_PARTS: usize = 10_000;
/// Levels of nesting of an input document.
pub const MAX_DEPTH: usize = 512;
/// Bytes of a compiled regular expression.
pub const MAX_REGEX: usize = 1 << 20;
/// Bytes of all compiled regular expressions of a query.
pub const MAX_PATTERNS: usize = 16 << 20;
/// Names in a list of a topology, pairs of edge ends, and rules for roles: what a drawing says of its own words.
pub const MAX_WORDS: usize = 100;
/// Bytes of one of them, or of the pattern of a rule.
pub const MAX_WORD: usize = 1_000;
/// Parameters given with a query.
pub const MAX_PARAMS: usize = 64;
/// Bytes of the parameters given with a query, as JSON.
pub const MAX_PARAMS_SIZE: usize = 1 << 20;

impl Limits<'_> {
    /// Whether the run may go on.
    pub(crate) fn check(&self) -> Result<()> {
        match self.cancel.filter(|cancel| cancel.is_cancelled()) {
            None => Ok(()),
            Some(cancel) if cancel.is_late() => Err(Error::new(Code::OutOfTime, "The query took longer than allowed")),
            Some(_) => Err(Error::new(Code::Cancelled, "The query was cancelled")),
        }
    }
}

/// Stops a run from another thread: share it, hand it to the run in [`Limits::cancel`], and fire it.
#[derive(Debug, Default)]
pub struct Cancel {
    state: AtomicBool,
    late: AtomicBool,
}

impl Cancel {
    /// Stops the runs that look at this; they end with `PQ4008`.
    pub fn cancel(&self) {
        self.state.store(true, Ordering::Relaxed);
    }

    /// Stops the runs that look at this because their time is over; they end with `PQ4005`.
    pub fn time_out(&self) {
        self.late.store(true, Ordering::Relaxed);
        self.cancel();
    }

    /// Whether it was fired.
    pub fn is_cancelled(&self) -> bool {
        self.state.load(Ordering::Relaxed)
    }

    /// Whether it was fired because the time is over.
    pub fn is_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }
}

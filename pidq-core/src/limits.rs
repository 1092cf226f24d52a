//! Limits of a run, and its cancellation.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Code, Error, Result};

/// The limits of a query: of its text, its run and its result.
///
/// Plain data: start from the default and change what you need. Fuel is deterministic, so the same query on the same
/// document stops at the same point on every machine; `cancel` limits wall-clock time.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'c> {
    /// Fuel: one unit per node of the query evaluated, item visited, edge followed, 64 bytes copied.
    pub fuel: u64,
    /// Working memory in bytes.
    pub memory: usize,
    /// Size of the printed result in bytes.
    pub output: usize,
    /// Size in bytes of one string that the query builds.
    pub string: usize,
    /// Backtracks of one search with a regular expression that has lookaround or back-references. They also use fuel.
    pub backtracks: usize,
    /// Rows of a walk, such as `downstream` and `trace`. What else a query lists is limited by fuel and memory.
    pub rows: usize,
    /// Paths and cycles that one call returns by default; with an explicit `limit` option, `rows` is the maximum.
    pub paths: usize,
    /// Depth of a traversal from its start.
    pub depth: usize,
    /// Flag that stops the run when set from another thread.
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

/// Size of a query in text format, in bytes.
pub const MAX_QUERY_SIZE: usize = 64 << 10;
/// Nesting depth of a query.
pub const MAX_QUERY_DEPTH: usize = 128;
/// Nodes of a query: calls, constants, paths.
pub const MAX_QUERY_NODES: usize = 10_000;
/// Nesting depth of a document.
pub const MAX_DOCUMENT_DEPTH: usize = 512;
/// Size of a compiled regular expression in bytes.
pub const MAX_REGEX_SIZE: usize = 1 << 20;
/// Total size of all compiled regular expressions of a query in bytes.
pub const MAX_REGEX_TOTAL_SIZE: usize = 16 << 20;
/// Names in a list of a topology, pairs of edge ends, and rules for roles.
pub const MAX_TOPOLOGY_NAMES: usize = 100;
/// Size of such a name, or of the pattern of a rule, in bytes.
pub const MAX_TOPOLOGY_NAME_SIZE: usize = 1_000;
/// Number of parameters of a query.
pub const MAX_PARAMS: usize = 64;
/// Maximum number of graph parameters of a query.
pub const MAX_GRAPH_PARAMS: usize = 16;
/// Size of the parameters of a query as JSON, in bytes.
pub const MAX_PARAMS_SIZE: usize = 1 << 20;

impl Limits<'_> {
    /// Returns an error if the run was cancelled or timed out.
    pub(crate) fn check(&self) -> Result<()> {
        match self.cancel.filter(|cancel| cancel.is_cancelled()) {
            None => Ok(()),
            Some(cancel) if cancel.is_timed_out() => {
                Err(Error::new(Code::OutOfTime, "The query took longer than allowed"))
            }
            Some(_) => Err(Error::new(Code::Cancelled, "The query was cancelled")),
        }
    }
}

/// Cancellation flag: share it with another thread, pass it to the run in [`Limits::cancel`], and set it to stop the
/// run.
#[derive(Debug, Default)]
pub struct Cancel {
    state: AtomicBool,
    timed_out: AtomicBool,
}

impl Cancel {
    /// Creates a flag that is not set.
    pub const fn new() -> Cancel {
        Cancel { state: AtomicBool::new(false), timed_out: AtomicBool::new(false) }
    }

    /// Stops the runs with this flag; they end with `PQ4008`.
    pub fn cancel(&self) {
        self.state.store(true, Ordering::Relaxed);
    }

    /// Stops the runs with this flag because of a timeout; they end with `PQ4005`.
    pub fn time_out(&self) {
        self.timed_out.store(true, Ordering::Relaxed);
        self.cancel();
    }

    /// Returns true if the flag is set.
    pub fn is_cancelled(&self) -> bool {
        self.state.load(Ordering::Relaxed)
    }

    /// Returns true if the flag is set because of a timeout.
    pub fn is_timed_out(&self) -> bool {
        self.timed_out.load(Ordering::Relaxed)
    }
}

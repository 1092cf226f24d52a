//! Connection of a request: peer, listener, framing, and the activity that the watchdog observes.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};

use crate::message::vectored::PendingTail;

/// Connection data that the request pipeline needs.
#[derive(Clone)]
pub(crate) struct ConnInfo {
    pub peer: IpAddr,
    pub tls: bool,
    pub listener_kind: ListenerKind,
    /// Maximum number of response bytes handed to hyper at once.
    pub chunk_size: usize,
    pub activity: Arc<ConnActivity>,
}

/// Set of routes that a listener serves.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ListenerKind {
    Public,
    Admin,
}

/// Framing of a request: whether its end is unambiguous.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Framing {
    Unambiguous,
    Ambiguous,
}

/// Activity counters of one connection, for the watchdog that closes connections without progress. Hot: they are
/// counters without timestamps; the watchdog keeps the time.
#[derive(Default)]
pub(crate) struct ConnActivity {
    /// Responses buffered in hyper until the client takes more. Responses that wait for their producer do not count.
    pub in_flight: AtomicI64,
    /// Requests whose response is not complete.
    pub open: AtomicI64,
    /// Progress counter.
    pub progress: AtomicU64,
    /// Number of attempts to write.
    pub writes: AtomicU64,
    /// True while a write waits for the client.
    pub is_write_pending: AtomicBool,
    /// Rest of the response that is being written.
    pub tail: Arc<PendingTail>,
}

impl ConnActivity {
    pub fn record_progress(&self) {
        self.progress.fetch_add(1, Relaxed);
    }

    /// Counts a write. Hot: only the task of the connection does so.
    pub fn record_write(&self) {
        self.writes.store(self.writes.load(Relaxed) + 1, Relaxed);
    }
}

//! Deadline of a call, and the cause of a timeout.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// Deadline of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Deadline(Instant);

/// Cause of a timeout.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum TimeoutCause {
    /// The server sent nothing.
    Idle,
    /// The deadline of the call passed.
    Deadline,
}

impl Deadline {
    pub(super) fn until(end: Instant) -> Deadline {
        Deadline(end)
    }

    pub(super) fn remaining(&self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Awaits a future, at most for `timeout` and until the deadline.
    pub(super) async fn within<F: Future>(&self, timeout: Duration, future: F) -> Result<F::Output, TimeoutCause> {
        let limit = Instant::now() + timeout;
        let cause = if limit < self.0 { TimeoutCause::Idle } else { TimeoutCause::Deadline };
        timeout_at(limit.min(self.0), future).await.map_err(|_| cause)
    }
}

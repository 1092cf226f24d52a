//! Activity of clients: whether anyone would notice that the server stops.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time without a connection after which a server is idle. Load balancers and probes connect more often.
const IDLE_TIME: Duration = Duration::from_secs(60);

/// Open connections of all listeners, and the time of the last one.
#[derive(Clone, Default)]
pub(super) struct Activity(Arc<Mutex<Connections>>);

#[derive(Default)]
struct Connections {
    open: usize,
    last: Option<Instant>,
}

/// Open connection; counted until it is dropped.
pub(super) struct OpenConnection(Activity);

impl Activity {
    /// Counts a connection until the result is dropped.
    pub fn connection(&self) -> OpenConnection {
        self.change(|connections| connections.open += 1);
        OpenConnection(self.clone())
    }

    /// Returns whether no connection is open, and none was for a minute.
    pub fn is_idle(&self) -> bool {
        let connections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        connections.open == 0 && connections.last.is_none_or(|last| last.elapsed() > IDLE_TIME)
    }

    fn change(&self, change: impl FnOnce(&mut Connections)) {
        let mut connections = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut connections);
        connections.last = Some(Instant::now());
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.change(|connections| connections.open = connections.open.saturating_sub(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_idle_until_the_first_connection_and_a_minute_after_the_last() {
        let activity = Activity::default();
        assert!(activity.is_idle());
        let connection = activity.connection();
        assert!(!activity.is_idle());
        drop(connection);
        assert!(!activity.is_idle());
        let long_ago = Instant::now().checked_sub(IDLE_TIME * 2).expect("a time");
        activity.change(|_| {});
        activity.0.lock().expect("no panic").last = Some(long_ago);
        assert!(activity.is_idle());
    }
}

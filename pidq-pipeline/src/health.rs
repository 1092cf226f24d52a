//! Whether the servers that the platform can do without are there: what `/readyz` and the metrics say of them.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A server that may go away while the platform goes on. Clones are of one server.
#[derive(Clone)]
pub struct Health(Arc<Known>);

struct Known {
    name: &'static str,
    without: &'static str,
    up: AtomicBool,
    told: AtomicBool,
}

impl Health {
    /// A server that nobody has reached yet, and what is different without it.
    pub fn of(name: &'static str, without: &'static str) -> Health {
        Health(Arc::new(Known { name, without, up: AtomicBool::new(false), told: AtomicBool::new(false) }))
    }

    /// What it is called.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    /// Whether it answered when it was last asked.
    pub fn is_up(&self) -> bool {
        self.0.up.load(Ordering::Relaxed)
    }

    /// Notes what somebody found. A change is a line in the log, and only a change.
    pub fn found(&self, up: bool) {
        let changed = self.0.up.swap(up, Ordering::Relaxed) != up;
        let first = !self.0.told.swap(true, Ordering::Relaxed);
        let Known { name, without, .. } = *self.0;
        match (changed || first, up) {
            (false, _) => {}
            (true, true) => tracing::info!(server = name, "it answers"),
            (true, false) => tracing::warn!(server = name, without, "it does not answer"),
        }
    }
}

impl fmt::Debug for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.name, if self.is_up() { "up" } else { "down" })
    }
}

//! Circuit breaker per model server: after consecutive failures, calls fail at once until a cooldown has passed.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::error::LlmError;

/// Maximum number of servers with recorded failures; callers choose their addresses.
const MAX_SERVERS: usize = 1024;

#[derive(Debug)]
pub(super) struct Breakers {
    failure_threshold: u32,
    cooldown: Duration,
    servers: Mutex<HashMap<String, Server>>,
}

#[derive(Debug)]
struct Server {
    /// Consecutive failures.
    failures: u32,
    open_until: Option<Instant>,
}

impl Breakers {
    pub(super) fn new(failure_threshold: u32, cooldown: Duration) -> Breakers {
        Breakers { failure_threshold, cooldown, servers: Mutex::default() }
    }

    /// Admits a request unless the breaker is open. After the cooldown, one request is admitted as a probe; the others are
    /// rejected until it succeeds.
    pub(super) fn admit(&self, server: &str) -> Result<(), LlmError> {
        let mut servers = self.servers();
        let Some(until) = servers.get_mut(server).and_then(|server| server.open_until.as_mut()) else {
            return Ok(());
        };
        let now = Instant::now();
        if now < *until {
            return Err(LlmError::circuit_open(*until - now));
        }
        *until = now + self.cooldown;
        Ok(())
    }

    pub(super) fn record_success(&self, server: &str) {
        self.servers().remove(server);
    }

    pub(super) fn record_failure(&self, server: &str) {
        let mut servers = self.servers();
        if servers.len() >= MAX_SERVERS && !servers.contains_key(server) {
            servers.retain(|_, server| server.open_until.is_some_and(|until| Instant::now() < until));
            if servers.len() >= MAX_SERVERS {
                return;
            }
        }
        let entry = servers.entry(server.to_owned()).or_insert(Server { failures: 0, open_until: None });
        entry.failures = entry.failures.saturating_add(1);
        if entry.failures >= self.failure_threshold {
            entry.open_until = Some(Instant::now() + self.cooldown);
        }
    }

    /// Locks the map; a panic cannot leave it inconsistent.
    fn servers(&self) -> MutexGuard<'_, HashMap<String, Server>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn consecutive_failures_open_the_breaker_until_a_probe_succeeds() {
        let breakers = Breakers::new(2, Duration::from_secs(30));
        breakers.record_failure("a");
        breakers.record_success("a");
        breakers.record_failure("a");
        assert!(breakers.admit("a").is_ok());
        breakers.record_failure("a");
        assert!(breakers.admit("a").is_err());
        assert!(breakers.admit("b").is_ok());
        tokio::time::advance(Duration::from_secs(31)).await;
        assert!(breakers.admit("a").is_ok());
        assert!(breakers.admit("a").is_err(), "only one probe");
        breakers.record_success("a");
        assert!(breakers.admit("a").is_ok());
    }

    #[test]
    fn the_number_of_tracked_servers_is_limited() {
        let breakers = Breakers::new(1, Duration::from_secs(30));
        for number in 0..3000 {
            breakers.record_failure(&number.to_string());
        }
        assert!(breakers.servers().len() <= MAX_SERVERS);
    }
}

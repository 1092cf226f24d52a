//! Servers that keep failing are left alone for a while, so that callers hear at once what they would hear anyway.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::error::LlmError;

/// How many servers are remembered: their addresses come with queries.
const REMEMBERED: usize = 1024;

#[derive(Debug)]
pub(super) struct Breakers {
    failures: u32,
    rest: Duration,
    servers: Mutex<HashMap<String, Server>>,
}

#[derive(Debug)]
struct Server {
    /// In a row.
    failures: u32,
    rests_until: Option<Instant>,
}

impl Breakers {
    pub(super) fn new(failures: u32, rest: Duration) -> Breakers {
        Breakers { failures, rest, servers: Mutex::default() }
    }

    /// Lets a request through. After a rest one goes first: the others wait until it has come back.
    pub(super) fn admit(&self, server: &str) -> Result<(), LlmError> {
        let mut servers = self.servers();
        let Some(until) = servers.get_mut(server).and_then(|server| server.rests_until.as_mut()) else {
            return Ok(());
        };
        let now = Instant::now();
        if now < *until {
            return Err(LlmError::resting(*until - now));
        }
        *until = now + self.rest;
        Ok(())
    }

    pub(super) fn answered(&self, server: &str) {
        self.servers().remove(server);
    }

    pub(super) fn failed(&self, server: &str) {
        let mut servers = self.servers();
        if servers.len() >= REMEMBERED && !servers.contains_key(server) {
            servers.retain(|_, server| server.rests_until.is_some_and(|until| Instant::now() < until));
            if servers.len() >= REMEMBERED {
                return;
            }
        }
        let known = servers.entry(server.to_owned()).or_insert(Server { failures: 0, rests_until: None });
        known.failures = known.failures.saturating_add(1);
        if known.failures >= self.failures {
            known.rests_until = Some(Instant::now() + self.rest);
        }
    }

    /// A thread that panicked left nothing half done here.
    fn servers(&self) -> MutexGuard<'_, HashMap<String, Server>> {
        self.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_rests_after_failures_in_a_row_and_one_request_goes_first() {
        let breakers = Breakers::new(2, Duration::from_secs(30));
        breakers.failed("a");
        breakers.answered("a");
        breakers.failed("a");
        assert!(breakers.admit("a").is_ok());
        breakers.failed("a");
        assert!(breakers.admit("a").is_err());
        assert!(breakers.admit("b").is_ok());
        tokio::time::advance(Duration::from_secs(31)).await;
        assert!(breakers.admit("a").is_ok());
        assert!(breakers.admit("a").is_err(), "only one goes first");
        breakers.answered("a");
        assert!(breakers.admit("a").is_ok());
    }

    #[test]
    fn servers_that_callers_make_up_fill_no_memory() {
        let breakers = Breakers::new(1, Duration::from_secs(30));
        for number in 0..3000 {
            breakers.failed(&number.to_string());
        }
        assert!(breakers.servers().len() <= REMEMBERED);
    }
}

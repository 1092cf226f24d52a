//! Rate limiter and concurrency limit, per principal or per network.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::header::HeaderName;

use crate::problem::{Problem, codes};

/// Named rate limiter: a number of requests per window, refilled evenly (GCRA).
///
/// State is one time per key: the time at which the key's bucket is full again.
pub struct RateLimiter {
    name: &'static str,
    burst: u32,
    window: Duration,
    started_at: Instant,
    full_at: Mutex<HashMap<String, Duration>>,
}

/// Maximum number of keys. Beyond it, full buckets are removed first, and new keys are limited.
const KEY_LIMIT: usize = 100_000;

/// Rate-limit decision for a request, shown in the response headers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RateDecision {
    name: &'static str,
    burst: u32,
    window: Duration,
    remaining: u32,
    /// Time until the bucket is full again, or until the next attempt if the request is limited.
    retry_after: Duration,
    is_limited: bool,
}

impl RateLimiter {
    /// Creates a limiter of `burst` requests per window.
    pub fn new(name: &'static str, burst: u32, window: Duration) -> Self {
        let burst = burst.max(1);
        RateLimiter { name, burst, window, started_at: Instant::now(), full_at: Mutex::default() }
    }

    /// Returns the name used in headers.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the number of requests per window.
    pub fn burst(&self) -> u32 {
        self.burst
    }

    /// Returns the time in which an empty bucket refills.
    pub fn window(&self) -> Duration {
        self.window
    }

    /// Returns the time in which one request refills.
    pub fn interval(&self) -> Duration {
        self.window / self.burst
    }

    /// Takes one request from the bucket of a key.
    pub fn check(&self, key: &str) -> RateDecision {
        self.check_at(key, self.started_at.elapsed())
    }

    fn check_at(&self, key: &str, now: Duration) -> RateDecision {
        let one = self.interval();
        let mut table = locked(&self.full_at);
        if let Some(full_at) = table.get_mut(key) {
            let after = (*full_at).max(now) + one;
            if after > now + self.window {
                return self.decision(after - now - self.window, true);
            }
            *full_at = after;
            return self.decision(after - now, false);
        }
        if table.len() >= KEY_LIMIT {
            table.retain(|_, full_at| *full_at > now);
            if table.len() >= KEY_LIMIT {
                return self.decision(one, true);
            }
        }
        table.insert(key.to_owned(), now + one);
        self.decision(one, false)
    }

    /// Creates a decision from an external counter: `wait` is the time until the bucket is full again, or until the
    /// next attempt if the request is limited.
    pub fn decision(&self, wait: Duration, is_limited: bool) -> RateDecision {
        let refilled = self.window.saturating_sub(wait).as_nanos() / self.interval().as_nanos().max(1);
        let remaining = if is_limited { 0 } else { u32::try_from(refilled).unwrap_or(u32::MAX) };
        RateDecision {
            name: self.name,
            burst: self.burst,
            window: self.window,
            remaining,
            retry_after: wait,
            is_limited,
        }
    }
}

impl RateDecision {
    /// Returns the problem, if the request is limited.
    pub fn problem(&self) -> Option<Problem> {
        let problem = || {
            Problem::new(codes::RATE_LIMITED)
                .detail("Rate limit exceeded. Retry after the time in `Retry-After`.")
                .retry_after(seconds(self.retry_after))
        };
        self.is_limited.then(problem)
    }

    /// Returns the headers `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers.
    pub(crate) fn headers(decisions: &[RateDecision]) -> [(HeaderName, String); 2] {
        let (mut policy, mut state) = (String::with_capacity(64), String::with_capacity(64));
        for decision in decisions {
            add_item(&mut policy, decision.name, [("q", decision.burst.into()), ("w", seconds(decision.window))]);
            add_item(
                &mut state,
                decision.name,
                [("r", decision.remaining.into()), ("t", seconds(decision.retry_after))],
            );
        }
        [(HeaderName::from_static("ratelimit-policy"), policy), (HeaderName::from_static("ratelimit"), state)]
    }
}

/// Adds an item with its parameters to a structured list (RFC 9651). Hot: once per response, into one string.
fn add_item(list: &mut String, name: &str, parameters: [(&str, u64); 2]) {
    let mut numbers = itoa::Buffer::new();
    list.push_str(if list.is_empty() { "\"" } else { ", \"" });
    list.push_str(name);
    list.push('"');
    for (key, value) in parameters {
        list.push(';');
        list.push_str(key);
        list.push('=');
        list.push_str(numbers.format(value));
    }
}

/// Returns whole seconds, rounded up, so that a retry is not too early.
fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

/// Concurrency limit per principal, for requests or for running queries.
pub struct ConcurrencyLimit {
    limit: usize,
    open: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

/// Permit of a [`ConcurrencyLimit`], released on drop.
pub struct ConcurrencyPermit {
    key: Arc<str>,
    open: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

impl ConcurrencyLimit {
    /// Creates a limit per principal.
    pub fn new(limit: usize) -> Self {
        ConcurrencyLimit { limit, open: Arc::default() }
    }

    /// Acquires a permit, or returns 429 if none is free.
    pub fn acquire(&self, key: Arc<str>) -> Result<ConcurrencyPermit, Problem> {
        let mut open = locked(&self.open);
        let count = open.entry(key.clone()).or_default();
        if *count >= self.limit {
            return Err(Problem::new(codes::TOO_MANY_CONCURRENT_REQUESTS)
                .detail(format!("This principal already has {} concurrent requests, which is the limit.", self.limit))
                .retry_after(1));
        }
        *count += 1;
        Ok(ConcurrencyPermit { key, open: self.open.clone() })
    }
}

impl Drop for ConcurrencyPermit {
    fn drop(&mut self) {
        let mut open = locked(&self.open);
        if let Entry::Occupied(mut count) = open.entry(self.key.clone()) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

/// Locks a mutex; a poisoned one stays usable, since no update here can be left incomplete by a panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_at_once_and_fills_evenly() {
        let limiter = RateLimiter::new("user", 3, Duration::from_secs(6));
        let at = |key, second| {
            let decision = limiter.check_at(key, Duration::from_secs(second));
            if decision.is_limited {
                format!("wait {}", decision.retry_after.as_secs())
            } else {
                format!("left {}", decision.remaining)
            }
        };
        assert_eq!([at("a", 0), at("a", 0), at("a", 0), at("a", 0)], ["left 2", "left 1", "left 0", "wait 2"]);
        assert_eq!(at("b", 0), "left 2", "keys are independent");
        assert_eq!([at("a", 2), at("a", 2)], ["left 0", "wait 2"]);
        assert_eq!(at("a", 60), "left 2", "a full bucket does not overflow");
    }

    #[test]
    fn the_number_of_keys_is_bounded() {
        let limiter = RateLimiter::new("user", 3, Duration::from_secs(6));
        let is_limited = |key: &str, second| limiter.check_at(key, Duration::from_secs(second)).is_limited;
        assert!((0..KEY_LIMIT).all(|key| !is_limited(&key.to_string(), 0)));
        assert!(is_limited("new", 1) && !is_limited("7", 1), "known keys have their buckets");
        assert!(!is_limited("new", 2), "full buckets are removed");
        assert_eq!(locked(&limiter.full_at).len(), 2);
    }

    #[test]
    fn the_headers_show_the_remaining_requests() {
        let decision = |name, burst| RateLimiter::new(name, burst, Duration::from_secs(60)).check("a");
        let [(_, policy), (_, state)] = RateDecision::headers(&[decision("uploads", 120), decision("user", 600)]);
        assert_eq!(policy, "\"uploads\";q=120;w=60, \"user\";q=600;w=60");
        assert_eq!(state, "\"uploads\";r=119;t=1, \"user\";r=599;t=1");
    }

    #[test]
    fn permits_are_released() {
        let open = ConcurrencyLimit::new(2);
        let (first, _second) = (open.acquire("a".into()).expect("free"), open.acquire("a".into()).expect("free"));
        assert!(open.acquire("a".into()).is_err());
        assert!(open.acquire("b".into()).is_ok());
        drop(first);
        assert!(open.acquire("a".into()).is_ok());
    }
}

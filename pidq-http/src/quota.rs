//! How often, and how many at once: per principal, or per network where nobody is known.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use hyper::header::HeaderName;

use crate::problem::Problem;

/// A rate with a name: so many per window, spent and refilled evenly (GCRA).
///
/// It is a table with one time per key: when the key's bucket will be full again.
pub struct Quota {
    name: &'static str,
    burst: u32,
    window: Duration,
    begun: Instant,
    full_again: Mutex<HashMap<String, Duration>>,
}

/// Keys that are remembered. More at once come from many networks at least; then the full buckets are forgotten.
const KEYS: usize = 100_000;

/// What a request cost, for the headers of its answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Charge {
    name: &'static str,
    burst: u32,
    window: Duration,
    left: u32,
    /// How long until the bucket is full again, or until the next try when it is empty.
    wait: Duration,
    refused: bool,
}

impl Quota {
    /// So many per window.
    pub fn new(name: &'static str, burst: u32, window: Duration) -> Self {
        let burst = burst.max(1);
        Quota { name, burst, window, begun: Instant::now(), full_again: Mutex::default() }
    }

    /// What it is called in headers.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How many there may be in a window.
    pub fn burst(&self) -> u32 {
        self.burst
    }

    /// How long an empty bucket takes until it is full.
    pub fn window(&self) -> Duration {
        self.window
    }

    /// How long one of them takes.
    pub fn one(&self) -> Duration {
        self.window / self.burst
    }

    /// Takes one from the bucket of a key.
    pub fn charge(&self, key: &str) -> Charge {
        self.charge_at(key, self.begun.elapsed())
    }

    fn charge_at(&self, key: &str, now: Duration) -> Charge {
        let one = self.one();
        let mut table = locked(&self.full_again);
        let before = table.get(key).copied().unwrap_or_default().max(now);
        let after = before + one;
        if after > now + self.window {
            return self.counted(after - now - self.window, true);
        }
        if table.len() >= KEYS && !table.contains_key(key) {
            table.retain(|_, full_again| *full_again > now);
            if table.len() >= KEYS {
                return self.counted(one, true);
            }
        }
        table.insert(key.to_owned(), after);
        self.counted(after - now, false)
    }

    /// What a request cost where somebody else counts: how long until the bucket is full again, or until the next try
    /// if it was empty.
    pub fn counted(&self, wait: Duration, refused: bool) -> Charge {
        let left = self.window.saturating_sub(wait).as_nanos() / self.one().as_nanos().max(1);
        let left = if refused { 0 } else { u32::try_from(left).unwrap_or(u32::MAX) };
        Charge { name: self.name, burst: self.burst, window: self.window, left, wait, refused }
    }
}

impl Charge {
    /// The problem, if there was nothing left.
    pub fn refused(&self) -> Option<Problem> {
        let problem = || {
            Problem::new(StatusCode::TOO_MANY_REQUESTS, "rate-limited")
                .detail("There were too many requests in a short time.")
                .retry_after(seconds(self.wait))
        };
        self.refused.then(problem)
    }

    /// `RateLimit` and `RateLimit-Policy`, as draft-ietf-httpapi-ratelimit-headers has them.
    pub(crate) fn headers(charges: &[Charge]) -> [(HeaderName, String); 2] {
        let each = |show: fn(&Charge) -> String| charges.iter().map(show).collect::<Vec<_>>().join(", ");
        let policy = each(|charge| format!("\"{}\";q={};w={}", charge.name, charge.burst, seconds(charge.window)));
        let now = each(|charge| format!("\"{}\";r={};t={}", charge.name, charge.left, seconds(charge.wait)));
        [(HeaderName::from_static("ratelimit-policy"), policy), (HeaderName::from_static("ratelimit"), now)]
    }
}

/// Whole seconds, rounded up: who comes back then is not too early.
fn seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

/// How many of something a principal has open: requests, or queries that are running.
pub struct Concurrency {
    limit: usize,
    open: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

/// A place in the count, given back when dropped.
pub struct Held {
    key: Arc<str>,
    open: Arc<Mutex<HashMap<Arc<str>, usize>>>,
}

impl Concurrency {
    /// So many for each.
    pub fn new(limit: usize) -> Self {
        Concurrency { limit, open: Arc::default() }
    }

    /// A place for a principal, or 429 when all of its places are taken.
    pub fn hold(&self, key: Arc<str>) -> Result<Held, Problem> {
        let mut open = locked(&self.open);
        let count = open.entry(key.clone()).or_default();
        if *count >= self.limit {
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-many-at-once")
                .detail(format!("There are {} requests of this principal open already.", self.limit))
                .retry_after(1));
        }
        *count += 1;
        Ok(Held { key, open: self.open.clone() })
    }
}

impl Drop for Held {
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

/// Nothing here can be left half done by a panic.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_at_once_and_fills_evenly() {
        let quota = Quota::new("user", 3, Duration::from_secs(6));
        let at = |key, second| {
            let charge = quota.charge_at(key, Duration::from_secs(second));
            if charge.refused { format!("wait {}", charge.wait.as_secs()) } else { format!("left {}", charge.left) }
        };
        assert_eq!([at("a", 0), at("a", 0), at("a", 0), at("a", 0)], ["left 2", "left 1", "left 0", "wait 2"]);
        assert_eq!(at("b", 0), "left 2", "keys are strangers to each other");
        assert_eq!([at("a", 2), at("a", 2)], ["left 0", "wait 2"]);
        assert_eq!(at("a", 60), "left 2", "a full bucket does not overflow");
    }

    #[test]
    fn the_headers_say_what_is_left() {
        let charge = |name, burst| Quota::new(name, burst, Duration::from_secs(60)).charge("a");
        let [(_, policy), (_, now)] = Charge::headers(&[charge("uploads", 120), charge("user", 600)]);
        assert_eq!(policy, "\"uploads\";q=120;w=60, \"user\";q=600;w=60");
        assert_eq!(now, "\"uploads\";r=119;t=1, \"user\";r=599;t=1");
    }

    #[test]
    fn places_are_given_back() {
        let open = Concurrency::new(2);
        let (first, _second) = (open.hold("a".into()).expect("free"), open.hold("a".into()).expect("free"));
        assert!(open.hold("a".into()).is_err());
        assert!(open.hold("b".into()).is_ok());
        drop(first);
        assert!(open.hold("a".into()).is_ok());
    }
}

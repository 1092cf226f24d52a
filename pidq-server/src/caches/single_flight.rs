//! Single-flight cache, bounded in bytes and entries.

use std::fmt;
use std::hash::{Hash, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use quick_cache::sync::GuardResult;
use quick_cache::{Lifecycle, OptionsBuilder, Weighter};

use crate::store::lock;

/// Overhead of an entry in bytes: two copies of the key, and the bookkeeping.
pub(crate) const ENTRY_OVERHEAD: usize = 512;
/// Expected number of entries, by which the cache limits its list of evicted keys.
const EXPECTED_ENTRIES: usize = 1_000;

/// Cache that keeps the entries that were used several times or recently.
pub(crate) struct Cache<K, V, E> {
    /// One shard: an entry may take nearly the whole capacity.
    entries: quick_cache::sync::Cache<K, Outcome<V, E>, OutcomeWeighter, RandomState, Tracker<V>>,
    tracker: Tracker<V>,
}

/// Number and size of cached entries.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CacheUsage {
    /// Number of entries.
    pub count: usize,
    /// Estimated size in bytes.
    pub bytes: usize,
}

/// Outcome of a computation. An error reaches all concurrent callers, and is not kept.
type Outcome<V, E> = Result<Entry<V>, E>;

#[derive(Debug)]
struct Entry<V> {
    value: Arc<V>,
    bytes: usize,
}

impl<V> Clone for Entry<V> {
    fn clone(&self) -> Entry<V> {
        Entry { value: self.value.clone(), bytes: self.bytes }
    }
}

/// Weighs an entry by its bytes, and bounds the number of entries by a minimum.
#[derive(Clone)]
struct OutcomeWeighter {
    min: u64,
}

impl<K, V, E> Weighter<K, Outcome<V, E>> for OutcomeWeighter {
    fn weight(&self, _: &K, outcome: &Outcome<V, E>) -> u64 {
        // An error is too heavy to be kept.
        outcome.as_ref().map_or(u64::MAX, |entry| self.min.max(entry.bytes as u64))
    }
}

/// Tracker of the bytes of kept entries, and of evicted values that are still in use.
struct Tracker<V>(Arc<Tracked<V>>);

struct Tracked<V> {
    kept_bytes: AtomicUsize,
    /// Evicted values that were still in use, with their sizes.
    evicted_in_use: Mutex<Vec<(Weak<V>, usize)>>,
}

impl<V> Clone for Tracker<V> {
    fn clone(&self) -> Tracker<V> {
        Tracker(self.0.clone())
    }
}

impl<K, V, E> Lifecycle<K, Outcome<V, E>> for Tracker<V> {
    /// Evicted values, dropped after the lock of the cache is released.
    type RequestState = Vec<Arc<V>>;

    fn on_evict(&self, evicted: &mut Vec<Arc<V>>, _: K, outcome: Outcome<V, E>) {
        let Ok(Entry { value, bytes }) = outcome else { return };
        self.0.kept_bytes.fetch_sub(bytes, Relaxed);
        if Arc::strong_count(&value) > 1 {
            let mut in_use = lock(&self.0.evicted_in_use);
            in_use.retain(|(value, _)| value.strong_count() > 0);
            in_use.push((Arc::downgrade(&value), bytes));
        }
        evicted.push(value);
    }
}

impl<K: Clone + Eq + Hash, V, E: Clone> Cache<K, V, E> {
    pub fn new(bytes: usize, count: usize) -> Cache<K, V, E> {
        let options = OptionsBuilder::new()
            .shards(1)
            .weight_capacity(bytes as u64)
            .estimated_items_capacity(count.min(EXPECTED_ENTRIES))
            .build()
            .expect("the capacities are set");
        let weighter = OutcomeWeighter { min: bytes.checked_div(count).map_or(u64::MAX, |min| min as u64) };
        let tracked = Tracked { kept_bytes: AtomicUsize::new(0), evicted_in_use: Mutex::default() };
        let tracker = Tracker(Arc::new(tracked));
        let entries = quick_cache::sync::Cache::with_options(options, weighter, RandomState::new(), tracker.clone());
        Cache { entries, tracker }
    }

    /// Returns the cached value.
    pub fn get(&self, key: &K) -> Option<Arc<V>> {
        self.entries.get(key)?.ok().map(|entry| entry.value)
    }

    /// Returns the cached value, or computes and caches it. Concurrent callers wait for one computation. An error is
    /// returned to all of them and not cached. If the computation panics, a waiting caller repeats it.
    pub fn load(
        &self,
        key: &K,
        compute: impl FnOnce() -> Result<V, E>,
        size_of: impl FnOnce(&V) -> usize,
    ) -> Result<Arc<V>, E> {
        loop {
            match self.entries.get_value_or_guard(key, None) {
                GuardResult::Value(outcome) => return outcome.map(|entry| entry.value),
                GuardResult::Guard(guard) => {
                    let outcome = compute().map(|value| {
                        let bytes = size_of(&value);
                        self.entry(Arc::new(value), bytes)
                    });
                    // It fails only for a removed key, and keys are not removed.
                    let _ = guard.insert(outcome.clone());
                    return outcome.map(|entry| entry.value);
                }
                GuardResult::Timeout => {}
            }
        }
    }

    /// Adds a value computed elsewhere, unless the key is present or being computed.
    pub fn put(&self, key: &K, value: &Arc<V>, bytes: usize) {
        if let GuardResult::Guard(guard) = self.entries.get_value_or_guard(key, Some(Duration::ZERO)) {
            let _ = guard.insert(Ok(self.entry(value.clone(), bytes)));
        }
    }

    pub fn usage(&self) -> CacheUsage {
        CacheUsage { count: self.entries.len(), bytes: self.tracker.0.kept_bytes.load(Relaxed) }
    }

    /// Returns the bytes of evicted values that are still in use.
    pub fn evicted_in_use(&self) -> usize {
        let mut in_use = lock(&self.tracker.0.evicted_in_use);
        in_use.retain(|(value, _)| value.strong_count() > 0);
        in_use.iter().map(|(_, bytes)| bytes).sum()
    }

    /// Creates an entry, and counts it as kept. The cache reports what it evicts or rejects.
    fn entry(&self, value: Arc<V>, bytes: usize) -> Entry<V> {
        let bytes = bytes + ENTRY_OVERHEAD;
        self.tracker.0.kept_bytes.fetch_add(bytes, Relaxed);
        Entry { value, bytes }
    }
}

impl<K, V, E> fmt::Debug for Cache<K, V, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("bytes", &self.tracker.0.kept_bytes).finish_non_exhaustive()
    }
}

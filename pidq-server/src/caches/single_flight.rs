//! Single-flight LRU cache, bounded in bytes and entries.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};

use crate::store::lock;

/// Overhead of an entry in bytes: two copies of the key, and the bookkeeping.
pub(crate) const ENTRY_OVERHEAD: usize = 512;

/// Cache that evicts the least recently used entry.
#[derive(Debug)]
pub(crate) struct Cache<K, V, E> {
    state: Mutex<CacheState<K, V, E>>,
    bytes: usize,
    count: usize,
}

#[derive(Debug)]
struct CacheState<K, V, E> {
    entries: HashMap<K, Entry<V>>,
    /// Keys in eviction order, with their last use when they were queued.
    order: VecDeque<(u64, K)>,
    clock: u64,
    bytes: usize,
    /// Evicted values that were still in use, with their sizes.
    evicted_in_use: Vec<(Weak<V>, usize)>,
    /// Values that are being computed.
    in_flight: HashMap<K, Arc<InFlight<V, E>>>,
}

#[derive(Debug)]
struct Entry<V> {
    value: Arc<V>,
    bytes: usize,
    last_used: u64,
}

/// Number and size of cached entries.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct CacheUsage {
    /// Number of entries.
    pub count: usize,
    /// Estimated size in bytes.
    pub bytes: usize,
}

/// Value that one thread computes and others wait for.
#[derive(Debug)]
struct InFlight<V, E> {
    state: Mutex<FlightState<V, E>>,
    changed: Condvar,
}

#[derive(Clone, Debug)]
enum FlightState<V, E> {
    Pending,
    Done(Result<Arc<V>, E>),
    /// The computing thread panicked; a waiting thread retries.
    Panicked,
}

/// Outcome of a lookup.
enum Lookup<V, E> {
    Hit(Arc<V>),
    Wait(Arc<InFlight<V, E>>),
    Compute(Arc<InFlight<V, E>>),
}

impl<K: Clone + Eq + Hash, V, E: Clone> Cache<K, V, E> {
    pub fn new(bytes: usize, count: usize) -> Cache<K, V, E> {
        let state = CacheState {
            entries: HashMap::new(),
            order: VecDeque::new(),
            clock: 0,
            bytes: 0,
            evicted_in_use: Vec::new(),
            in_flight: HashMap::new(),
        };
        Cache { state: Mutex::new(state), bytes, count }
    }

    /// Returns the cached value.
    pub fn get(&self, key: &K) -> Option<Arc<V>> {
        lock(&self.state).get(key)
    }

    /// Returns the cached value, or computes and caches it. Concurrent callers wait for one computation. An error is
    /// returned to all of them and not cached.
    pub fn load(
        &self,
        key: &K,
        compute: impl FnOnce() -> Result<V, E>,
        size_of: impl FnOnce(&V) -> usize,
    ) -> Result<Arc<V>, E> {
        loop {
            match self.lookup(key) {
                Lookup::Hit(value) => return Ok(value),
                Lookup::Wait(flight) => match flight.wait() {
                    FlightState::Done(result) => return result,
                    FlightState::Pending | FlightState::Panicked => {}
                },
                Lookup::Compute(flight) => {
                    let guard = CompleteGuard { cache: self, key, flight: &flight };
                    let computed = compute().map(Arc::new);
                    if let Ok(value) = &computed {
                        self.put(key, value, size_of(value));
                    }
                    guard.complete(computed.clone());
                    return computed;
                }
            }
        }
    }

    /// Adds a value computed elsewhere, unless the key is present.
    pub fn put(&self, key: &K, value: &Arc<V>, bytes: usize) {
        let bytes = bytes + ENTRY_OVERHEAD;
        let mut state = lock(&self.state);
        // A value that would evict everything else is not cached.
        if bytes > self.bytes || self.count == 0 {
            state.track_evicted(value, bytes);
            return;
        }
        // Two threads may have computed it concurrently.
        if state.entries.contains_key(key) {
            return;
        }
        while state.bytes + bytes > self.bytes || state.entries.len() >= self.count {
            if !state.evict_oldest() {
                break;
            }
        }
        state.add(key.clone(), value.clone(), bytes);
    }

    pub fn usage(&self) -> CacheUsage {
        let state = lock(&self.state);
        CacheUsage { count: state.entries.len(), bytes: state.bytes }
    }

    /// Returns the bytes of evicted values that are still in use.
    pub fn evicted_in_use(&self) -> usize {
        let mut state = lock(&self.state);
        state.evicted_in_use.retain(|(value, _)| value.strong_count() > 0);
        state.evicted_in_use.iter().map(|(_, bytes)| bytes).sum()
    }

    fn lookup(&self, key: &K) -> Lookup<V, E> {
        let mut state = lock(&self.state);
        if let Some(value) = state.get(key) {
            return Lookup::Hit(value);
        }
        if let Some(flight) = state.in_flight.get(key) {
            return Lookup::Wait(flight.clone());
        }
        let flight = Arc::new(InFlight { state: Mutex::new(FlightState::Pending), changed: Condvar::new() });
        state.in_flight.insert(key.clone(), flight.clone());
        Lookup::Compute(flight)
    }
}

impl<K: Clone + Eq + Hash, V, E> CacheState<K, V, E> {
    fn get(&mut self, key: &K) -> Option<Arc<V>> {
        // Hot: only the timestamp changes. The eviction order is updated lazily.
        let entry = self.entries.get_mut(key)?;
        self.clock += 1;
        entry.last_used = self.clock;
        Some(entry.value.clone())
    }

    fn add(&mut self, key: K, value: Arc<V>, bytes: usize) {
        self.clock += 1;
        self.order.push_back((self.clock, key.clone()));
        self.bytes += bytes;
        self.entries.insert(key, Entry { value, bytes, last_used: self.clock });
    }

    /// Evicts the least recently used entry. Returns false if the cache is empty.
    fn evict_oldest(&mut self) -> bool {
        while let Some((last_used, key)) = self.order.pop_front() {
            match self.entries.get(&key) {
                // Used since it was queued: moved to the end.
                Some(entry) if entry.last_used != last_used => self.order.push_back((entry.last_used, key)),
                _ => {
                    self.evict(&key);
                    return true;
                }
            }
        }
        false
    }

    fn evict(&mut self, key: &K) {
        let Some(entry) = self.entries.remove(key) else { return };
        self.bytes -= entry.bytes;
        if Arc::strong_count(&entry.value) > 1 {
            self.track_evicted(&entry.value, entry.bytes);
        }
    }

    fn track_evicted(&mut self, value: &Arc<V>, bytes: usize) {
        self.evicted_in_use.retain(|(value, _)| value.strong_count() > 0);
        self.evicted_in_use.push((Arc::downgrade(value), bytes));
    }
}

impl<V, E: Clone> InFlight<V, E> {
    fn wait(&self) -> FlightState<V, E> {
        let mut state = lock(&self.state);
        while matches!(*state, FlightState::Pending) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        match &*state {
            FlightState::Done(result) => FlightState::Done(result.clone()),
            FlightState::Pending | FlightState::Panicked => FlightState::Panicked,
        }
    }
}

/// Completes a computation, even if it panics.
struct CompleteGuard<'c, K: Clone + Eq + Hash, V, E> {
    cache: &'c Cache<K, V, E>,
    key: &'c K,
    flight: &'c InFlight<V, E>,
}

impl<K: Clone + Eq + Hash, V, E> CompleteGuard<'_, K, V, E> {
    fn complete(self, computed: Result<Arc<V>, E>) {
        *lock(&self.flight.state) = FlightState::Done(computed);
    }
}

impl<K: Clone + Eq + Hash, V, E> Drop for CompleteGuard<'_, K, V, E> {
    fn drop(&mut self) {
        lock(&self.cache.state).in_flight.remove(self.key);
        let mut state = lock(&self.flight.state);
        if matches!(*state, FlightState::Pending) {
            *state = FlightState::Panicked;
        }
        self.flight.changed.notify_all();
    }
}

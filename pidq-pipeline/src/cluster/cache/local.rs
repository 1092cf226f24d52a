//! In-process LRU cache with a capacity in bytes.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use bytes::Bytes;

/// Cache key: a digest.
pub(super) type CacheKey = [u8; 32];

/// Approximate overhead of an entry: its key twice, its times, and two table slots.
const ENTRY_OVERHEAD: usize = 200;

/// LRU cache.
pub(super) struct LocalCache {
    values: HashMap<CacheKey, Value>,
    /// Key of the entry used at a tick.
    by_tick: BTreeMap<u64, CacheKey>,
    tick: u64,
    bytes: usize,
    capacity: usize,
}

struct Value {
    bytes: Bytes,
    expires_at: Instant,
    /// Tick of the last use.
    last_used: u64,
}

impl LocalCache {
    pub fn with_capacity(capacity: usize) -> LocalCache {
        LocalCache { values: HashMap::new(), by_tick: BTreeMap::new(), tick: 0, bytes: 0, capacity }
    }

    pub fn get(&mut self, key: &CacheKey, now: Instant) -> Option<Bytes> {
        self.tick += 1;
        let value = self.values.get_mut(key)?;
        if value.expires_at <= now {
            self.remove(key);
            return None;
        }
        self.by_tick.remove(&value.last_used);
        value.last_used = self.tick;
        self.by_tick.insert(self.tick, *key);
        Some(value.bytes.clone())
    }

    pub fn put(&mut self, key: CacheKey, bytes: Bytes, ttl: Duration, now: Instant) {
        self.remove(&key);
        if bytes.len() + ENTRY_OVERHEAD > self.capacity {
            return;
        }
        self.tick += 1;
        self.bytes += bytes.len() + ENTRY_OVERHEAD;
        self.by_tick.insert(self.tick, key);
        self.values.insert(key, Value { bytes, expires_at: now + ttl, last_used: self.tick });
        while self.bytes > self.capacity {
            let Some((_, oldest)) = self.by_tick.first_key_value() else { return };
            let oldest = *oldest;
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, key: &CacheKey) {
        if let Some(value) = self.values.remove(key) {
            self.by_tick.remove(&value.last_used);
            self.bytes -= value.bytes.len() + ENTRY_OVERHEAD;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn key(number: u8) -> CacheKey {
        [number; 32]
    }

    #[test]
    fn the_least_recently_used_entry_is_evicted() {
        let (mut cache, now) = (LocalCache::with_capacity(3 * (ENTRY_OVERHEAD + 10)), Instant::now());
        let value = || Bytes::from_static(&[7; 10]);
        for number in 0..3 {
            cache.put(key(number), value(), LONG, now);
        }
        assert!(cache.get(&key(0), now).is_some());
        cache.put(key(3), value(), LONG, now);
        let present: Vec<bool> = (0..4).map(|number| cache.get(&key(number), now).is_some()).collect();
        assert_eq!(present, [true, false, true, true]);
        assert_eq!((cache.values.len(), cache.by_tick.len()), (3, 3));
    }

    #[test]
    fn entries_end_with_their_ttl_and_fit_the_capacity() {
        let (mut cache, now) = (LocalCache::with_capacity(1000), Instant::now());
        cache.put(key(1), Bytes::from_static(b"a"), LONG, now);
        cache.put(key(1), Bytes::from_static(b"b"), LONG, now);
        assert_eq!(cache.get(&key(1), now).as_deref(), Some(&b"b"[..]));
        assert_eq!(cache.get(&key(1), now + LONG), None);
        cache.put(key(2), Bytes::from(vec![0; 1000]), LONG, now);
        assert_eq!(cache.get(&key(2), now), None, "larger than the capacity");
        assert_eq!((cache.bytes, cache.values.len(), cache.by_tick.len()), (0, 0, 0));
    }
}

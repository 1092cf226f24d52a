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
    used: BTreeMap<u64, CacheKey>,
    tick: u64,
    bytes: usize,
    capacity: usize,
}

struct Value {
    bytes: Bytes,
    until: Instant,
    used: u64,
}

impl LocalCache {
    pub fn of(capacity: usize) -> LocalCache {
        LocalCache { values: HashMap::new(), used: BTreeMap::new(), tick: 0, bytes: 0, capacity }
    }

    pub fn get(&mut self, name: &CacheKey, now: Instant) -> Option<Bytes> {
        self.tick += 1;
        let value = self.values.get_mut(name)?;
        if value.until <= now {
            self.remove(name);
            return None;
        }
        self.used.remove(&value.used);
        value.used = self.tick;
        self.used.insert(self.tick, *name);
        Some(value.bytes.clone())
    }

    pub fn put(&mut self, name: CacheKey, bytes: Bytes, ttl: Duration, now: Instant) {
        self.remove(&name);
        if bytes.len() + ENTRY_OVERHEAD > self.capacity {
            return;
        }
        self.tick += 1;
        self.bytes += bytes.len() + ENTRY_OVERHEAD;
        self.used.insert(self.tick, name);
        self.values.insert(name, Value { bytes, until: now + ttl, used: self.tick });
        while self.bytes > self.capacity {
            let Some((_, oldest)) = self.used.first_key_value() else { return };
            let oldest = *oldest;
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, name: &CacheKey) {
        if let Some(value) = self.values.remove(name) {
            self.used.remove(&value.used);
            self.bytes -= value.bytes.len() + ENTRY_OVERHEAD;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn name(number: u8) -> CacheKey {
        [number; 32]
    }

    #[test]
    fn what_was_used_last_stays() {
        let (mut cache, now) = (LocalCache::of(3 * (ENTRY_OVERHEAD + 10)), Instant::now());
        let ten = || Bytes::from_static(&[7; 10]);
        for number in 0..3 {
            cache.put(name(number), ten(), LONG, now);
        }
        assert!(cache.get(&name(0), now).is_some());
        cache.put(name(3), ten(), LONG, now);
        let there: Vec<bool> = (0..4).map(|number| cache.get(&name(number), now).is_some()).collect();
        assert_eq!(there, [true, false, true, true]);
        assert_eq!((cache.values.len(), cache.used.len()), (3, 3));
    }

    #[test]
    fn nothing_is_kept_beyond_its_time_or_its_size() {
        let (mut cache, now) = (LocalCache::of(1000), Instant::now());
        cache.put(name(1), Bytes::from_static(b"a"), LONG, now);
        cache.put(name(1), Bytes::from_static(b"b"), LONG, now);
        assert_eq!(cache.get(&name(1), now).as_deref(), Some(&b"b"[..]));
        assert_eq!(cache.get(&name(1), now + LONG), None);
        cache.put(name(2), Bytes::from(vec![0; 1000]), LONG, now);
        assert_eq!(cache.get(&name(2), now), None, "larger than the capacity");
        assert_eq!((cache.bytes, cache.values.len(), cache.used.len()), (0, 0, 0));
    }
}

//! In-process cache with a capacity in bytes and a TTL per entry.

use std::time::{Duration, Instant};

use bytes::Bytes;
use quick_cache::Weighter;
use quick_cache::unsync::Cache;

/// Cache key: a digest.
pub(super) type CacheKey = [u8; 32];

/// Approximate overhead of an entry: its key, its time, and its table slots.
const ENTRY_OVERHEAD: usize = 200;

/// Assumed size of a value in bytes, for the initial size of the table: a query vector.
const TYPICAL_VALUE_SIZE: usize = 1800;

/// Cache that prefers entries that were used again over those that were not.
pub(super) struct LocalCache(Cache<CacheKey, Value, ByteWeighter>);

struct Value {
    bytes: Bytes,
    expires_at: Instant,
}

#[derive(Clone)]
struct ByteWeighter;

impl Weighter<CacheKey, Value> for ByteWeighter {
    fn weight(&self, _: &CacheKey, value: &Value) -> u64 {
        (value.bytes.len() + ENTRY_OVERHEAD) as u64
    }
}

impl LocalCache {
    pub fn with_capacity(capacity: usize) -> LocalCache {
        let entries = capacity / (TYPICAL_VALUE_SIZE + ENTRY_OVERHEAD);
        LocalCache(Cache::with_weighter(entries, capacity as u64, ByteWeighter))
    }

    pub fn get(&mut self, key: &CacheKey, now: Instant) -> Option<Bytes> {
        let value = self.0.get(key)?;
        if value.expires_at <= now {
            self.0.remove(key);
            return None;
        }
        Some(value.bytes.clone())
    }

    pub fn put(&mut self, key: CacheKey, bytes: Bytes, ttl: Duration, now: Instant) {
        self.0.insert(key, Value { bytes, expires_at: now + ttl });
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
    fn an_unused_entry_is_evicted_before_a_used_one() {
        let (mut cache, now) = (LocalCache::with_capacity(3 * (ENTRY_OVERHEAD + 10)), Instant::now());
        let value = || Bytes::from_static(&[7; 10]);
        for number in 0..3 {
            cache.put(key(number), value(), LONG, now);
        }
        assert!(cache.get(&key(0), now).is_some());
        cache.put(key(3), value(), LONG, now);
        let present: Vec<bool> = (0..4).map(|number| cache.get(&key(number), now).is_some()).collect();
        assert!(present[0] && present[3] && present[1] != present[2], "{present:?}");
        assert_eq!(cache.0.len(), 3);
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
        assert_eq!((cache.0.weight(), cache.0.len()), (0, 0));
    }
}

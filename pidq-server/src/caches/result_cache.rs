//! Cache of query results, and the expected cost of uncached queries.
//!
//! A result depends only on the versions of the graphs and the request body. Permissions are checked before the lookup, and the
//! tenant is part of the key.

use std::convert::Infallible;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use bytes::Bytes;
use pidq_http::Fingerprint;
use pidq_http::header::HeaderValue;

use crate::caches::GraphKey;
use crate::caches::single_flight::{Cache, CacheUsage, ENTRY_OVERHEAD};
use crate::store::{GraphMeta, Tenant};

/// Maximum number of cached results. Most are small.
const ENTRY_LIMIT: usize = 10_000;
/// Number of slots for expected costs.
const COST_SLOTS: usize = 1 << 14;

/// Cache key: the body of a request about a graph version, and the versions that its graph parameters refer to.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct ResultKey {
    graph: GraphKey,
    graph_params: Box<[GraphKey]>,
    body: Bytes,
}

impl ResultKey {
    pub fn new(tenant: &Tenant, meta: &GraphMeta, body: &Bytes) -> ResultKey {
        ResultKey { graph: GraphKey::new(tenant, meta), graph_params: Box::default(), body: body.clone() }
    }

    /// Adds the versions of the graph parameters.
    pub fn with_graph_params(self, graph_params: Box<[GraphKey]>) -> ResultKey {
        ResultKey { graph_params, ..self }
    }

    /// Copies the key, detached from the connection's receive buffer.
    fn detached(&self) -> ResultKey {
        ResultKey { body: Bytes::copy_from_slice(&self.body), ..self.clone() }
    }
}

/// Cached result.
#[derive(Debug)]
pub(crate) struct CachedResponse {
    pub body: Bytes,
    pub headers: ResultHeaders,
}

/// Values for the response headers and the access log.
#[derive(Clone, Debug)]
pub(crate) struct ResultHeaders {
    pub kind: &'static str,
    pub fuel: u64,
    pub fuel_used: HeaderValue,
    pub version: Option<HeaderValue>,
    pub query: Fingerprint,
}

/// Expected run time of a query.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ExpectedCost {
    /// Shorter than a hand-over to another thread.
    Short,
    Long,
}

/// Slot of a query in the table of expected costs.
#[derive(Clone, Copy)]
pub(crate) struct CostSlot<'r> {
    slot: &'r AtomicU64,
    fingerprint: u64,
}

/// Body that counts its bytes until it is dropped.
struct TrackedBody {
    body: Bytes,
    total: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for TrackedBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl Drop for TrackedBody {
    fn drop(&mut self) {
        self.total.fetch_sub(self.body.len(), Relaxed);
    }
}

/// Result cache with the table of expected costs.
#[derive(Debug)]
pub struct ResultCache {
    cache: Cache<ResultKey, CachedResponse, Infallible>,
    /// Limits in bytes: cached results, evicted results still being sent, and a single result.
    bytes: usize,
    max_entry: usize,
    /// Bytes of all results that are cached or still being sent.
    in_use: Arc<AtomicUsize>,
    hasher: RandomState,
    /// Fingerprints of queries; the lowest bit is set for long runs. A newer query overwrites a colliding one.
    costs: Box<[AtomicU64]>,
}

impl ResultCache {
    /// Creates a cache with a total size in bytes.
    pub fn new(bytes: usize) -> ResultCache {
        let costs = (0..COST_SLOTS).map(|_| AtomicU64::new(0)).collect();
        let (bytes, max_entry) = (bytes / 2, bytes * 3 / 8);
        let cache = Cache::new(bytes, ENTRY_LIMIT);
        ResultCache { cache, bytes, max_entry, in_use: Arc::default(), hasher: RandomState::new(), costs }
    }

    /// Returns the cached result.
    pub(crate) fn get(&self, key: &ResultKey) -> Option<Arc<CachedResponse>> {
        self.cache.get(key)
    }

    /// Adds a result to the cache and returns its shared bytes.
    pub(crate) fn put(&self, key: &ResultKey, body: Bytes, headers: ResultHeaders) -> Bytes {
        let bytes = body.len() + key.body.len() + key.graph_params.len() * ENTRY_OVERHEAD;
        self.in_use.fetch_add(body.len(), Relaxed);
        let body = Bytes::from_owner(TrackedBody { body, total: self.in_use.clone() });
        self.cache.put(&key.detached(), &Arc::new(CachedResponse { body: body.clone(), headers }), bytes);
        body
    }

    /// Returns true if a result of this length may be cached. Cached results, and evicted results that are still being
    /// sent, may each take half of the total size.
    pub(crate) fn accepts(&self, len: usize) -> bool {
        let cached = self.cache.usage().bytes;
        let evicted = self.in_use.load(Relaxed).saturating_sub(cached);
        len + ENTRY_OVERHEAD <= self.max_entry && evicted + len <= self.bytes
    }

    /// Returns the cost slot of a query.
    pub(crate) fn cost_slot(&self, key: &ResultKey) -> CostSlot<'_> {
        let hash = self.hasher.hash_one(key);
        // Differs from an empty slot.
        let fingerprint = hash & !1 | 1 << 63;
        CostSlot { slot: &self.costs[hash as usize >> 1 & (COST_SLOTS - 1)], fingerprint }
    }

    /// Returns the number and size of the cached results.
    pub fn usage(&self) -> CacheUsage {
        self.cache.usage()
    }
}

impl CostSlot<'_> {
    /// Returns the cost of the previous run, if it is still recorded.
    pub(crate) fn expected_cost(self) -> Option<ExpectedCost> {
        match self.slot.load(Relaxed) ^ self.fingerprint {
            0 => Some(ExpectedCost::Short),
            1 => Some(ExpectedCost::Long),
            _ => None,
        }
    }

    /// Records the cost of a run.
    pub(crate) fn record(self, cost: ExpectedCost) {
        self.slot.store(self.fingerprint | u64::from(cost == ExpectedCost::Long), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{GraphId, Timestamp, Version};

    fn key(tenant: &str, version: u64, body: &'static str) -> ResultKey {
        let meta = GraphMeta {
            graph_id: GraphId::parse("unit-7").expect("a graph id"),
            version: Version::number(version),
            schema_version: "1".into(),
            drawing_name: None,
            nodes: 0,
            edges: 0,
            size: 0,
            sha256: [0; 32],
            content_hash: [0; 32],
            created_on: Timestamp(0),
        };
        ResultKey::new(&Tenant::parse(tenant).expect("a tenant"), &meta, &Bytes::from_static(body.as_bytes()))
    }

    fn put(result_cache: &ResultCache, key: &ResultKey, body: &'static str) -> Bytes {
        let (fuel_used, query) = (HeaderValue::from_static("1"), Fingerprint::from_text("get()"));
        let headers = ResultHeaders { kind: "array", fuel: 1, fuel_used, version: None, query };
        result_cache.put(key, Bytes::from_static(body.as_bytes()), headers)
    }

    #[test]
    fn a_result_belongs_to_one_request_on_one_version_of_one_tenant() {
        let result_cache = ResultCache::new(1 << 20);
        put(&result_cache, &key("acme", 1, "q"), "a");
        let found = |key| result_cache.get(&key).map(|cached| cached.body.clone());
        assert_eq!(found(key("acme", 1, "q")), Some(Bytes::from("a")));
        assert_eq!(found(key("rival", 1, "q")), None);
        assert_eq!(found(key("acme", 2, "q")), None);
        assert_eq!(found(key("acme", 1, "r")), None);
        let compared = |version| key("acme", 1, "q").with_graph_params([key("acme", version, "").graph].into());
        put(&result_cache, &compared(2), "b");
        assert_eq!(found(compared(2)), Some(Bytes::from("b")));
        assert_eq!(found(compared(3)), None);
        assert_eq!(found(key("acme", 1, "q")), Some(Bytes::from("a")));
    }

    #[test]
    fn the_cache_is_bounded() {
        let result_cache = ResultCache::new(8 * ENTRY_OVERHEAD);
        for version in 0..100 {
            put(&result_cache, &key("acme", version, "q"), "a");
        }
        assert!(result_cache.usage().bytes <= 4 * ENTRY_OVERHEAD && result_cache.usage().count > 0);
        assert!(result_cache.accepts(2 * ENTRY_OVERHEAD) && !result_cache.accepts(2 * ENTRY_OVERHEAD + 1));
    }

    #[test]
    fn evicted_results_count_while_they_are_sent() {
        const TEXT: &str = "0123456789";
        let result_cache = ResultCache::new(16 * ENTRY_OVERHEAD);
        let sent: Vec<Bytes> = (0..900).map(|version| put(&result_cache, &key("acme", version, "q"), TEXT)).collect();
        assert!(!result_cache.accepts(1));
        drop(sent);
        assert!(result_cache.accepts(1));
    }

    #[test]
    fn the_cost_of_a_query_is_recorded() {
        let result_cache = ResultCache::new(0);
        let cost = |version| result_cache.cost_slot(&key("acme", version, "q")).expected_cost();
        assert_eq!(cost(1), None);
        for found in [ExpectedCost::Short, ExpectedCost::Long, ExpectedCost::Short] {
            result_cache.cost_slot(&key("acme", 1, "q")).record(found);
            assert_eq!(cost(1), Some(found));
        }
        assert_eq!(cost(2), None);
    }
}

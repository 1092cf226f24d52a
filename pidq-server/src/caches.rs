//! Bounded caches of parsed graphs, encoded bodies and compiled queries.
//!
//! Parsing and compiling are CPU-bound: call `load` on a worker thread. Concurrent requests for the same entry compute
//! it once (single-flight).

pub(crate) mod decompressing_body;
pub mod result_cache;
pub(crate) mod single_flight;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use pidq_core::limits::{MAX_REGEX_SIZE, MAX_REGEX_TOTAL_SIZE};
use pidq_core::{Graph, Profile, Query};
use tokio::runtime::Handle;
use tokio::sync::{OwnedMutexGuard, Semaphore};

use crate::memory::graph_permits::GraphPermits;
use crate::memory::memory_pool::{self, MemoryPool};
use crate::store::compression::{self, Compression};
use crate::store::{
    Coding, Error, GraphId, GraphMeta, Result, Store, StoredGraph, Tenant, Version, VersionSelector, lock, run_blocking,
};

use single_flight::Cache;
pub use single_flight::CacheUsage;

/// Functions whose patterns are compiled with the query. Each pattern may use the engine's maximum.
const PATTERN_FUNCTIONS: [&str; 2] = ["regex", "match"];
/// Maximum number of concurrent graph loads. A store may need one more blocking thread per load, so this stays below
/// the size of the blocking pool.
const LOAD_LIMIT: usize = 32;
/// Estimated size in bytes of a compiled query without its patterns: fixed, and per byte of text.
const QUERY_SIZE: usize = 4 << 10;
const QUERY_SIZE_PER_BYTE: usize = 64;

/// Cache key of a graph version. Tenants share no entries, not even for equal content.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct GraphKey {
    tenant: Tenant,
    graph_id: GraphId,
    version: Version,
    /// A file in a read-only directory may change without a new version.
    sha256: [u8; 32],
}

impl GraphKey {
    /// Creates the key of a version.
    pub fn new(tenant: &Tenant, meta: &GraphMeta) -> GraphKey {
        let (graph_id, version) = (meta.graph_id.clone(), meta.version.clone());
        GraphKey { tenant: tenant.clone(), graph_id, version, sha256: meta.sha256 }
    }
}

/// Cache of parsed graphs.
#[derive(Debug)]
pub struct GraphCache {
    cache: Cache<GraphKey, Graph, Error>,
    bytes: usize,
    load_permits: Semaphore,
    /// Graphs that are parsed at the same time.
    parse_permits: GraphPermits,
}

impl GraphCache {
    /// Creates a cache with a capacity in bytes, of graphs of a maximum size.
    pub fn new(bytes: usize, max_graph_size: usize) -> GraphCache {
        GraphCache {
            cache: Cache::new(bytes, usize::MAX),
            bytes,
            load_permits: Semaphore::new(LOAD_LIMIT),
            parse_permits: GraphPermits::new(max_graph_size),
        }
    }

    /// Returns the cached graph, without blocking.
    pub fn get(&self, key: &GraphKey) -> Option<Arc<Graph>> {
        self.cache.get(key)
    }

    /// Returns the cached graph, or parses the JSON that `json` returns. Blocks and is CPU-bound.
    ///
    /// # Errors
    /// The error of `json`; `graph-corrupt` if it is not JSON.
    pub fn load(&self, key: &GraphKey, json: impl FnOnce() -> Result<Bytes>) -> Result<Arc<Graph>> {
        let read = || Graph::from_json(Vec::from(json()?)).map_err(|_| Error::GraphCorrupt);
        self.cache.load(key, read, graph_size)
    }

    /// Returns the number and size of the entries.
    pub fn usage(&self) -> CacheUsage {
        self.cache.usage()
    }

    /// Returns true if responses in progress keep too many evicted graphs alive.
    pub fn exceeds_in_use_limit(&self) -> bool {
        self.cache.evicted_in_use() > self.bytes / 4
    }
}

/// Estimated size of a graph in bytes: source, parsed form, and lazily built indexes.
fn graph_size(graph: &Graph) -> usize {
    graph.source().len() + graph.max_size()
}

/// Returns a version of a graph, parsed. The version is looked up in the store each time, so commits of other replicas
/// are visible.
///
/// # Errors
/// Those of [`Store::head`] and [`Store::get`].
pub async fn load_graph(
    store: &Arc<dyn Store>,
    graphs: &Arc<GraphCache>,
    tenant: &Tenant,
    graph_id: &GraphId,
    selector: &VersionSelector,
) -> Result<(Arc<GraphMeta>, Arc<Graph>)> {
    let meta = store.head(tenant, graph_id, selector).await?;
    let graph = load_version(store, graphs, tenant, &meta).await?;
    Ok((meta, graph))
}

/// Returns the parsed graph of a known version.
///
/// # Errors
/// Those of [`Store::get`].
pub async fn load_version(
    store: &Arc<dyn Store>,
    graphs: &Arc<GraphCache>,
    tenant: &Tenant,
    meta: &GraphMeta,
) -> Result<Arc<Graph>> {
    let key = GraphKey::new(tenant, meta);
    if let Some(graph) = graphs.get(&key) {
        return Ok(graph);
    }
    let selector = VersionSelector::Version(meta.version.clone());
    // Boxed to keep the future of a cache hit small.
    Box::pin(load_from_store(store.clone(), graphs.clone(), key, selector, meta.size as usize)).await
}

/// Loads a version, whose JSON has this size in bytes, from the store into the cache.
async fn load_from_store(
    store: Arc<dyn Store>,
    graphs: Arc<GraphCache>,
    key: GraphKey,
    selector: VersionSelector,
    size: usize,
) -> Result<Arc<Graph>> {
    // First, so that large graphs that wait do not keep small ones from being loaded.
    let parse_permit = graphs.parse_permits.acquire(size).await;
    let _permit = graphs.load_permits.acquire().await;
    let (cache, runtime) = (graphs.clone(), Handle::current());
    let load = move || {
        let _parse_permit = parse_permit;
        cache.load(&key, || {
            let stored = runtime.block_on(store.get(&key.tenant, &key.graph_id, &selector, Coding::Identity))?;
            // The file changed in the meantime; the next request sees the new content.
            if stored.meta.sha256 == key.sha256 { Ok(stored.bytes) } else { Err(Error::VersionNotFound) }
        })
    };
    run_blocking(load).await
}

/// Encoded bodies of graphs, shared by all responses of one version.
#[derive(Debug)]
pub struct BodyCache {
    /// Recently sent bodies.
    cache: Cache<BodyKey, Bytes, Error>,
    /// Bodies that are being sent.
    in_flight: Mutex<HashMap<BodyKey, Weak<InFlightBody>>>,
    /// Locks of bodies that are being fetched: one request fetches, concurrent ones wait.
    fetch_locks: Mutex<HashMap<BodyKey, Weak<tokio::sync::Mutex<()>>>>,
    /// Limits gzip compression to one body at a time.
    gzip_permit: Semaphore,
    /// Accounts for bodies until they are sent.
    memory: Arc<MemoryPool>,
}

type BodyKey = (GraphKey, Compression);

/// Request for the encoded body of a version.
#[derive(Clone, Copy)]
pub struct BodyRequest<'a> {
    /// Store that holds the version.
    pub store: &'a Arc<dyn Store>,
    /// Tenant that owns the graph.
    pub tenant: &'a Tenant,
    /// Version to send.
    pub meta: &'a Arc<GraphMeta>,
    /// Caller charged for the memory of the body, unless it is shared.
    pub owner: &'a Arc<str>,
}

/// Result of a body lookup: the cached body, or the lock and memory to fetch it.
enum BodyLookup {
    Found(Bytes),
    Load(OwnedMutexGuard<()>, memory_pool::ResponseReservation),
}

/// Body that is being sent, with its memory reservation.
#[derive(Debug)]
struct InFlightBody {
    bytes: Arc<Bytes>,
    _reservation: memory_pool::ResponseReservation,
}

/// Handle to a body that is being sent.
struct SharedBody(Arc<InFlightBody>);

impl AsRef<[u8]> for SharedBody {
    fn as_ref(&self) -> &[u8] {
        &self.0.bytes
    }
}

impl BodyRequest<'_> {
    fn key(&self, compression: Compression) -> BodyKey {
        (GraphKey::new(self.tenant, self.meta), compression)
    }

    /// Estimates the size in bytes before the body is loaded.
    fn estimated_size(&self, compression: Compression) -> usize {
        const COMPRESSION_RATIO: usize = 4;
        let size = self.meta.size as usize;
        if compression == Compression::None { size } else { size / COMPRESSION_RATIO }
    }

    async fn fetch(&self, coding: Coding) -> Result<StoredGraph> {
        self.store
            .get(self.tenant, &self.meta.graph_id, &VersionSelector::Version(self.meta.version.clone()), coding)
            .await
    }
}

impl BodyCache {
    /// Creates a cache with a capacity in bytes for bodies that are not being sent. Bodies being sent are charged to
    /// `memory`.
    pub fn new(bytes: usize, memory: Arc<MemoryPool>) -> BodyCache {
        BodyCache {
            cache: Cache::new(bytes, usize::MAX),
            in_flight: Mutex::default(),
            fetch_locks: Mutex::default(),
            gzip_permit: Semaphore::new(1),
            memory,
        }
    }

    /// Returns the body of a version, loading it from the store on a cache miss.
    ///
    /// # Errors
    /// Those of [`Store::get`]; [`Error::Overloaded`] if response memory does not become free in time, or immediately
    /// for uncompressed bodies.
    pub async fn load(&self, request: BodyRequest<'_>, coding: Coding) -> Result<StoredGraph> {
        let (_fetch_lock, reservation) = match self.lookup(request, coding.into()).await? {
            BodyLookup::Found(bytes) => return Ok(StoredGraph { meta: request.meta.clone(), bytes, coding }),
            BodyLookup::Load(fetch_lock, reservation) => (fetch_lock, reservation),
        };
        let stored = request.fetch(coding).await?;
        // The file may have changed in the meantime, and a store may return another coding.
        let key = (GraphKey::new(request.tenant, &stored.meta), stored.coding.into());
        Ok(StoredGraph { bytes: self.publish(key, stored.bytes.clone(), reservation), ..stored })
    }

    /// Returns the gzip body of a version, compressed once for all clients.
    ///
    /// # Errors
    /// As [`BodyCache::load`].
    pub async fn gzip(&self, request: BodyRequest<'_>) -> Result<(Arc<GraphMeta>, Bytes)> {
        let (_fetch_lock, reservation) = match self.lookup(request, Compression::Gzip).await? {
            BodyLookup::Found(bytes) => return Ok((request.meta.clone(), bytes)),
            BodyLookup::Load(fetch_lock, reservation) => (fetch_lock, reservation),
        };
        let _permit = self.gzip_permit.acquire().await;
        let stored = request.fetch(Coding::Identity).await?;
        let key = (GraphKey::new(request.tenant, &stored.meta), Compression::Gzip);
        let compressed = run_blocking(move || compression::compress_gzip(&stored.bytes)).await?;
        Ok((stored.meta, self.publish(key, compressed.into(), reservation)))
    }

    async fn lookup(&self, request: BodyRequest<'_>, compression: Compression) -> Result<BodyLookup> {
        let key = request.key(compression);
        if let Some(bytes) = self.cached_body(&key, request).await? {
            return Ok(BodyLookup::Found(bytes));
        }
        let fetch_lock = self.fetch_lock(&key).lock_owned().await;
        match self.cached_body(&key, request).await? {
            Some(bytes) => Ok(BodyLookup::Found(bytes)),
            None => Ok(BodyLookup::Load(
                fetch_lock,
                self.reserve(request, compression, request.estimated_size(compression)).await?,
            )),
        }
    }

    /// Returns a body that is being sent or cached.
    async fn cached_body(&self, key: &BodyKey, request: BodyRequest<'_>) -> Result<Option<Bytes>> {
        let sent = lock(&self.in_flight).get(key).and_then(Weak::upgrade);
        if let Some(sent) = sent {
            return Ok(Some(Bytes::from_owner(SharedBody(sent))));
        }
        let Some(bytes) = self.cache.get(key) else { return Ok(None) };
        let reservation = self.reserve(request, key.1, bytes.len()).await?;
        Ok(Some(self.send(key.clone(), bytes, reservation)))
    }

    async fn reserve(
        &self,
        request: BodyRequest<'_>,
        compression: Compression,
        bytes: usize,
    ) -> Result<memory_pool::ResponseReservation> {
        let reservation = match compression {
            Compression::None => self.memory.reserve_shared(bytes),
            _ => self.memory.reserve_within_timeout(request.owner, bytes).await,
        };
        reservation.ok_or(Error::Overloaded)
    }

    fn fetch_lock(&self, key: &BodyKey) -> Arc<tokio::sync::Mutex<()>> {
        let mut fetch_locks = lock(&self.fetch_locks);
        fetch_locks.retain(|_, fetch_lock| fetch_lock.strong_count() > 0);
        let fetch_lock = fetch_locks.get(key).and_then(Weak::upgrade).unwrap_or_default();
        fetch_locks.insert(key.clone(), Arc::downgrade(&fetch_lock));
        fetch_lock
    }

    /// Adds a fetched body to the cache.
    fn publish(&self, key: BodyKey, bytes: Bytes, mut reservation: memory_pool::ResponseReservation) -> Bytes {
        reservation.resize(bytes.len());
        let bytes = Arc::new(bytes);
        self.cache.put(&key, &bytes, bytes.len());
        self.send(key, bytes, reservation)
    }

    /// Registers a body as being sent, or joins a concurrent send.
    fn send(&self, key: BodyKey, bytes: Arc<Bytes>, reservation: memory_pool::ResponseReservation) -> Bytes {
        let mut in_flight = lock(&self.in_flight);
        in_flight.retain(|_, sent| sent.strong_count() > 0);
        let sent = in_flight
            .get(&key)
            .and_then(Weak::upgrade)
            .unwrap_or_else(|| Arc::new(InFlightBody { bytes, _reservation: reservation }));
        in_flight.insert(key, Arc::downgrade(&sent));
        Bytes::from_owner(SharedBody(sent))
    }
}

/// Cache key of a query: text, parameters as JSON, names of graph parameters, and dialect.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct QueryKey {
    is_extended: bool,
    text: Box<str>,
    params: Box<str>,
    graph_params: Box<[Box<str>]>,
}

/// Cache of compiled queries.
#[derive(Debug)]
pub struct QueryCache(Cache<QueryKey, Query, pidq_core::Error>);

impl QueryCache {
    /// Creates a cache with a capacity in entries and bytes.
    pub fn new(count: usize, bytes: usize) -> QueryCache {
        QueryCache(Cache::new(bytes, count))
    }

    /// Returns the cached query, or compiles it with `parse`. Blocks and is CPU-bound. Parameters are part of the key
    /// because they are bound at compile time; the empty string means none.
    ///
    /// # Errors
    /// The error of `parse`.
    pub fn load(
        &self,
        profile: Profile,
        text: &str,
        params: &str,
        graph_params: &[&str],
        parse: impl FnOnce() -> pidq_core::Result<Query>,
    ) -> pidq_core::Result<Arc<Query>> {
        let graph_params = graph_params.iter().map(|name| (*name).into()).collect();
        let is_extended = profile == Profile::Pidq;
        let key = QueryKey { is_extended, text: text.into(), params: params.into(), graph_params };
        self.0.load(&key, parse, |_| query_size(text, params))
    }

    /// Returns the number and size of the entries.
    pub fn usage(&self) -> CacheUsage {
        self.0.usage()
    }
}

/// Returns true if compiling the query compiles regular expressions, which may be slow.
pub(crate) fn compiles_patterns(text: &str) -> bool {
    PATTERN_FUNCTIONS.iter().any(|name| text.contains(name))
}

fn query_size(text: &str, params: &str) -> usize {
    let patterns: usize = PATTERN_FUNCTIONS.iter().map(|name| text.matches(name).count()).sum();
    QUERY_SIZE
        + QUERY_SIZE_PER_BYTE * (text.len() + params.len())
        + patterns.saturating_mul(MAX_REGEX_SIZE).min(MAX_REGEX_TOTAL_SIZE)
}

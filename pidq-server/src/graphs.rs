//! Graphs that were read and queries that were compiled, kept for the next request within bounds.
//!
//! Making them is work for a processor: call `load` where that is done, on a pool. Of many who want the same thing
//! at once, one makes it and the others wait.

pub(crate) mod cache;
pub(crate) mod unpacked;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use bytes::Bytes;
use pidq_core::limits::{MAX_PATTERNS, MAX_REGEX};
use pidq_core::{Graph, Profile, Query};
use tokio::runtime::Handle;
use tokio::sync::{OwnedMutexGuard, Semaphore};

use crate::memory::{self, Memory};
use crate::store::packing::{self, Packing};
use crate::store::{Coding, Error, JobId, Meta, Result, Store, StoredGraph, Tenant, Version, Which, aside, held};

use cache::Cache;
pub use cache::Held;

/// Functions whose patterns are compiled with a query. Each pattern may be as large as the engine allows.
const WITH_PATTERNS: [&str; 2] = ["regex", "match"];
/// Threads that [`open`] takes at once. A store may need one more for each: never all that there are.
const LOADERS: usize = 32;
/// Bytes of a compiled query beside its patterns, and for each byte of its text.
const QUERY: usize = 4 << 10;
const QUERY_PER_BYTE: usize = 64;

/// A version of a graph, and whose it is. Tenants share nothing, not even what is equal.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct GraphKey {
    tenant: Tenant,
    job: JobId,
    version: Version,
    /// A served file may change without a new version.
    sha256: [u8; 32],
}

impl GraphKey {
    /// The key of a version.
    pub fn new(tenant: &Tenant, meta: &Meta) -> GraphKey {
        let (job, version) = (meta.job.clone(), meta.version.clone());
        GraphKey { tenant: tenant.clone(), job, version, sha256: meta.sha256 }
    }
}

/// Graphs that were read.
#[derive(Debug)]
pub struct Graphs {
    cache: Cache<GraphKey, Graph, Error>,
    bytes: usize,
    loading: Semaphore,
}

impl Graphs {
    /// Keeps graphs of so many bytes together.
    pub fn new(bytes: usize) -> Graphs {
        Graphs { cache: Cache::new(bytes, usize::MAX), bytes, loading: Semaphore::new(LOADERS) }
    }

    /// The graph, if it was read before. Quick.
    pub fn get(&self, key: &GraphKey) -> Option<Arc<Graph>> {
        self.cache.get(key)
    }

    /// The graph, read from the JSON that `json` gives if it was not before. Blocks and takes a processor.
    ///
    /// # Errors
    /// What `json` returns; `graph-corrupt` when it is no JSON.
    pub fn load(&self, key: &GraphKey, json: impl FnOnce() -> Result<Bytes>) -> Result<Arc<Graph>> {
        let read = || Graph::from_json(Vec::from(json()?)).map_err(|_| Error::GraphCorrupt);
        self.cache.load(key, read, weight)
    }

    /// What is kept.
    pub fn held(&self) -> Held {
        self.cache.held()
    }

    /// Whether answers that are written from their graphs keep so many of them beside those that are kept anyway that
    /// there should be no more.
    pub fn are_crowded(&self) -> bool {
        self.cache.lingering() > self.bytes / 4
    }
}

/// Bytes of a graph: its text, what was read from it, and what queries may come to keep beside that.
fn weight(graph: &Graph) -> usize {
    graph.source().len() + graph.size_in_use()
}

/// A version of a job, with its graph ready to be asked. The version is looked up anew each time, so that one that
/// another replica has committed is seen.
///
/// # Errors
/// Those of [`Store::head`] and [`Store::get`].
pub async fn open(
    store: &Arc<dyn Store>,
    graphs: &Arc<Graphs>,
    tenant: &Tenant,
    job: &JobId,
    which: &Which,
) -> Result<(Arc<Meta>, Arc<Graph>)> {
    let meta = store.head(tenant, job, which).await?;
    let graph = of_version(store, graphs, tenant, &meta).await?;
    Ok((meta, graph))
}

/// The graph of a version that is known already, ready to be asked.
///
/// # Errors
/// Those of [`Store::get`].
pub async fn of_version(
    store: &Arc<dyn Store>,
    graphs: &Arc<Graphs>,
    tenant: &Tenant,
    meta: &Meta,
) -> Result<Arc<Graph>> {
    let key = GraphKey::new(tenant, meta);
    if let Some(graph) = graphs.get(&key) {
        return Ok(graph);
    }
    // Boxed, so that whoever finds it has a small future.
    Box::pin(load(store.clone(), graphs.clone(), key, Which::Version(meta.version.clone()))).await
}

/// Reads a version, and keeps it.
async fn load(store: Arc<dyn Store>, graphs: Arc<Graphs>, key: GraphKey, which: Which) -> Result<Arc<Graph>> {
    let _one_of_few = graphs.loading.acquire().await;
    let (kept, runtime) = (graphs.clone(), Handle::current());
    let load = move || {
        kept.load(&key, || {
            let stored = runtime.block_on(store.get(&key.tenant, &key.job, &which, Coding::Identity))?;
            // A served file that has changed since: the next request sees the new one.
            if stored.meta.sha256 == key.sha256 { Ok(stored.bytes) } else { Err(Error::VersionNotFound) }
        })
    };
    aside(load).await
}

/// What is sent of graphs: bytes that many readers of one version share, also those who take their time.
#[derive(Debug)]
pub struct Copies {
    /// What was sent of late, ready to be sent again.
    kept: Cache<CopyKey, Bytes, Error>,
    /// What is on its way to somebody.
    sent: Mutex<HashMap<CopyKey, Weak<Sent>>>,
    /// What is being brought just now: of many who want the same, one brings it and the others find it.
    brought: Mutex<HashMap<CopyKey, Weak<tokio::sync::Mutex<()>>>>,
    /// One at a time packs.
    packer: Semaphore,
    /// What is sent counts in it until it is read.
    memory: Arc<Memory>,
}

type CopyKey = (GraphKey, Packing);

/// A version that somebody wants to be sent.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    /// Where it is.
    pub store: &'a Arc<dyn Store>,
    /// Whose it is.
    pub tenant: &'a Tenant,
    /// Which it is.
    pub meta: &'a Arc<Meta>,
    /// Who holds the memory that it takes until it is read, if nobody else reads it.
    pub who: &'a Arc<str>,
}

/// Bytes that others have, or the turn to bring them, with the memory that they need.
enum Copy {
    Here(Bytes),
    Yours(OwnedMutexGuard<()>, memory::Held),
}

/// Bytes on their way, and the memory that they hold.
#[derive(Debug)]
struct Sent {
    bytes: Arc<Bytes>,
    _held: memory::Held,
}

/// Bytes with an owner that others may ask for.
struct Shared(Arc<Sent>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0.bytes
    }
}

impl Wanted<'_> {
    fn key(&self, packing: Packing) -> CopyKey {
        (GraphKey::new(self.tenant, self.meta), packing)
    }

    /// How long it may be before it is seen.
    fn guess(&self, packing: Packing) -> usize {
        const PACKED: usize = 4;
        let size = self.meta.size as usize;
        if packing == Packing::None { size } else { size / PACKED }
    }

    async fn bring(&self, coding: Coding) -> Result<StoredGraph> {
        self.store.get(self.tenant, &self.meta.job, &Which::Version(self.meta.version.clone()), coding).await
    }
}

impl Copies {
    /// Keeps so many bytes of what nobody is reading. What is read counts in the memory of queries.
    pub fn new(bytes: usize, memory: Arc<Memory>) -> Copies {
        Copies {
            kept: Cache::new(bytes, usize::MAX),
            sent: Mutex::default(),
            brought: Mutex::default(),
            packer: Semaphore::new(1),
            memory,
        }
    }

    /// The bytes of a version, read from the store if nobody has them.
    ///
    /// # Errors
    /// Those of [`Store::get`]; [`Error::NoRoom`] where other graphs are not read in time, and at once where there is
    /// little room for bytes that are not packed.
    pub async fn of_version(&self, wanted: Wanted<'_>, coding: Coding) -> Result<StoredGraph> {
        let (_turn, held) = match self.find(wanted, coding.into()).await? {
            Copy::Here(bytes) => return Ok(StoredGraph { meta: wanted.meta.clone(), bytes, coding }),
            Copy::Yours(turn, held) => (turn, held),
        };
        let stored = wanted.bring(coding).await?;
        // A served file may have changed since, and not every store packs.
        let key = (GraphKey::new(wanted.tenant, &stored.meta), stored.coding.into());
        Ok(StoredGraph { bytes: self.share(key, stored.bytes.clone(), held), ..stored })
    }

    /// The bytes of a version for those who know gzip and nothing better: packed once for all of them.
    ///
    /// # Errors
    /// As [`Copies::of_version`].
    pub async fn in_gzip(&self, wanted: Wanted<'_>) -> Result<(Arc<Meta>, Bytes)> {
        let (_turn, held) = match self.find(wanted, Packing::Gzip).await? {
            Copy::Here(bytes) => return Ok((wanted.meta.clone(), bytes)),
            Copy::Yours(turn, held) => (turn, held),
        };
        let _one_of_few = self.packer.acquire().await;
        let stored = wanted.bring(Coding::Identity).await?;
        let key = (GraphKey::new(wanted.tenant, &stored.meta), Packing::Gzip);
        let packed = aside(move || packing::pack_gzip(&stored.bytes)).await?;
        Ok((stored.meta, self.share(key, packed.into(), held)))
    }

    async fn find(&self, wanted: Wanted<'_>, packing: Packing) -> Result<Copy> {
        let key = wanted.key(packing);
        if let Some(bytes) = self.here(&key, wanted).await? {
            return Ok(Copy::Here(bytes));
        }
        let turn = self.turn(&key).lock_owned().await;
        match self.here(&key, wanted).await? {
            Some(bytes) => Ok(Copy::Here(bytes)),
            None => Ok(Copy::Yours(turn, self.room(wanted, packing, wanted.guess(packing)).await?)),
        }
    }

    /// Bytes that somebody reads, or that are kept.
    async fn here(&self, key: &CopyKey, wanted: Wanted<'_>) -> Result<Option<Bytes>> {
        let sent = held(&self.sent).get(key).and_then(Weak::upgrade);
        if let Some(sent) = sent {
            return Ok(Some(Bytes::from_owner(Shared(sent))));
        }
        let Some(bytes) = self.kept.get(key) else { return Ok(None) };
        let room = self.room(wanted, key.1, bytes.len()).await?;
        Ok(Some(self.send(key.clone(), bytes, room)))
    }

    async fn room(&self, wanted: Wanted<'_>, packing: Packing, bytes: usize) -> Result<memory::Held> {
        let room = match packing {
            Packing::None => self.memory.hold_in_plenty(bytes),
            _ => self.memory.hold_soon(wanted.who, bytes).await,
        };
        room.ok_or(Error::NoRoom)
    }

    fn turn(&self, key: &CopyKey) -> Arc<tokio::sync::Mutex<()>> {
        let mut brought = held(&self.brought);
        brought.retain(|_, turn| turn.strong_count() > 0);
        let turn = brought.get(key).and_then(Weak::upgrade).unwrap_or_default();
        brought.insert(key.clone(), Arc::downgrade(&turn));
        turn
    }

    /// Bytes that were brought, for others too.
    fn share(&self, key: CopyKey, bytes: Bytes, mut room: memory::Held) -> Bytes {
        room.resize(bytes.len());
        let bytes = Arc::new(bytes);
        self.kept.put(&key, &bytes, bytes.len());
        self.send(key, bytes, room)
    }

    /// The same bytes, or those that somebody has sent in the meantime.
    fn send(&self, key: CopyKey, bytes: Arc<Bytes>, room: memory::Held) -> Bytes {
        let mut all = held(&self.sent);
        all.retain(|_, sent| sent.strong_count() > 0);
        let sent = all.get(&key).and_then(Weak::upgrade).unwrap_or_else(|| Arc::new(Sent { bytes, _held: room }));
        all.insert(key, Arc::downgrade(&sent));
        Bytes::from_owner(Shared(sent))
    }
}

/// A query: its text, its parameters as JSON, and the language that it is in.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct QueryKey {
    is_extended: bool,
    text: Box<str>,
    params: Box<str>,
}

/// Queries that were compiled.
#[derive(Debug)]
pub struct Queries(Cache<QueryKey, Query, pidq_core::Error>);

impl Queries {
    /// Keeps so many queries, and so many bytes of them.
    pub fn new(count: usize, bytes: usize) -> Queries {
        Queries(Cache::new(bytes, count))
    }

    /// The query of a text, compiled by `parse` if it was not before. Blocks and takes a processor. Parameters are a
    /// part of it, since they are bound when it is compiled; the empty text stands for none.
    ///
    /// # Errors
    /// What `parse` returns.
    pub fn load(
        &self,
        profile: Profile,
        text: &str,
        params: &str,
        parse: impl FnOnce() -> pidq_core::Result<Query>,
    ) -> pidq_core::Result<Arc<Query>> {
        let key = QueryKey { is_extended: profile == Profile::Pidq, text: text.into(), params: params.into() };
        self.0.load(&key, parse, |_| query_weight(text, params))
    }

    /// What is kept.
    pub fn held(&self) -> Held {
        self.0.held()
    }
}

/// Whether compiling a query means compiling patterns, which may take a while.
pub(crate) fn has_patterns(text: &str) -> bool {
    WITH_PATTERNS.iter().any(|name| text.contains(name))
}

fn query_weight(text: &str, params: &str) -> usize {
    let patterns: usize = WITH_PATTERNS.iter().map(|name| text.matches(name).count()).sum();
    QUERY + QUERY_PER_BYTE * (text.len() + params.len()) + patterns.saturating_mul(MAX_REGEX).min(MAX_PATTERNS)
}

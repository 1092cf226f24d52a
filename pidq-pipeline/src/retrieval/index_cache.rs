//! Cache of search partitions, kept up to date with the database.

mod flush;
mod index_codec;
mod snapshot_files;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use pidq_store::domain::model::{self, Pipeline};
use pidq_store::{IndexedRevision, SearchableDocument, Store, StoreError, StoredChunk};
use pidq_text::embedding::from_blob;
use pidq_text::search::{Chunk, Document, Partition};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock, Semaphore, mpsc};

use crate::retrieval::chunk_header::chunk_header;
use snapshot_files::SnapshotId;

pub use snapshot_files::SnapshotFiles;

/// Partitions in memory, by pipeline, generation and classification. The least recently used ones are evicted when the
/// total exceeds the memory budget.
pub struct IndexCache {
    state: Mutex<CacheState>,
    budget: usize,
    /// Permits for full reads of a partition: each keeps a database connection busy while its texts are analyzed.
    full_reads: Semaphore,
    /// Snapshots of partitions on disk.
    snapshots: Option<Arc<SnapshotFiles>>,
}

#[derive(Default)]
struct CacheState {
    partitions: HashMap<Key, Entry>,
    /// Logical clock for the order of use.
    clock: u64,
}

struct Entry {
    shared: SharedIndex,
    /// Time of the last use, by the logical clock.
    last_used: u64,
    bytes: usize,
}

type Key = (String, i64, String);
/// A partition that many readers search and one writer updates.
pub(crate) type SharedIndex = Arc<RwLock<PartitionIndex>>;

/// A partition with the displayed properties of its documents and chunks.
pub struct PartitionIndex {
    /// The searchable partition.
    pub partition: Partition,
    /// Documents by id.
    pub documents: HashMap<String, DocumentInfo>,
    /// Displayed properties of chunks, by chunk id.
    pub chunks: HashMap<String, ChunkInfo>,
    /// Change count of the database that this reflects.
    change_count: i64,
    snapshot_id: SnapshotId,
    /// Change count at the last attempt to write a snapshot.
    saved_change_count: AtomicI64,
    /// Time of the last change.
    changed_at: Instant,
    /// `true` if a writer waits for the lock.
    update_pending: AtomicBool,
}

/// Displayed properties of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct DocumentInfo {
    /// Indexed revision.
    pub revision: i64,
    /// Metadata for filters.
    pub metadata: Map<String, Value>,
    /// Title, or the file name.
    pub title: String,
    /// File name.
    pub filename: String,
    indexed_at: i64,
    chunks: Vec<String>,
}

/// Displayed properties of a chunk, in addition to its text.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct ChunkInfo {
    /// Start and end in the document's text, in characters.
    pub char_range: Option<(i64, i64)>,
    /// Text between the previous chunk and this one, if they do not touch.
    pub gap: Option<String>,
    /// Page on which the chunk starts.
    pub page: Option<i64>,
    /// Tags in the chunk.
    pub tags: Vec<String>,
}

/// Maximum number of changed documents that are read one by one. With more, the whole partition is read.
const MAX_SINGLE_READS: usize = 32;
/// Maximum number of concurrent full reads, which leaves database connections for other requests.
const MAX_FULL_READS: usize = 2;
/// Capacity of the channel between the database reader and the analyzing thread, in documents.
const READ_AHEAD: usize = 16;
/// Maximum number of attempts to read a document that is replaced during the read. Afterwards the old revision stays until
/// the next query, because each replacement increments the change count.
const MAX_READ_ATTEMPTS: usize = 4;

impl IndexCache {
    /// Creates a cache with a memory budget in bytes. It is exceeded only by partitions in use, or by a single larger one.
    pub fn new(budget: usize) -> IndexCache {
        IndexCache { state: Mutex::default(), budget, full_reads: Semaphore::new(MAX_FULL_READS), snapshots: None }
    }

    /// Adds snapshots on disk.
    #[must_use]
    pub fn with_snapshots(self, snapshots: SnapshotFiles) -> IndexCache {
        IndexCache { snapshots: Some(Arc::new(snapshots)), ..self }
    }

    /// Returns the snapshots on disk, if configured.
    pub fn snapshots(&self) -> Option<&SnapshotFiles> {
        self.snapshots.as_deref()
    }

    /// Returns the partition of a classification, brought up to date with the database.
    ///
    /// # Errors
    /// Fails if the database is unavailable.
    pub async fn get(
        &self,
        store: &Store,
        pipeline: &Pipeline,
        classification: &str,
    ) -> Result<SharedIndex, StoreError> {
        let shared = self.shared(pipeline, classification);
        // Read before the documents: later changes are seen by the next call.
        let change_count = store.change_count(&pipeline.id, classification).await?;
        if shared.read().await.is_older_than(change_count) {
            let index = shared.clone().write_owned().await;
            if index.change_count < change_count {
                let index = self.load_snapshot(index, store).await?;
                let bytes = self.refresh(index, store, pipeline, classification, change_count).await?;
                self.record_size(store, &shared, bytes);
            }
        }
        Ok(shared)
    }

    /// Returns whether a partition of a classification is in memory, in any generation.
    pub fn is_open(&self, pipeline: &str, classification: &str) -> bool {
        self.state().partitions.keys().any(|key| key.0 == pipeline && key.2 == classification)
    }

    /// Returns the number of partitions in memory.
    pub fn len(&self) -> usize {
        self.state().partitions.len()
    }

    /// Returns whether no partition is in memory.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the approximate memory use of all partitions in bytes.
    pub fn bytes(&self) -> usize {
        self.state().partitions.values().map(|entry| entry.bytes).sum()
    }

    fn state(&self) -> MutexGuard<'_, CacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self, pipeline: &Pipeline, classification: &str) -> SharedIndex {
        let mut state = self.state();
        // Older generations are no longer searched.
        state.partitions.retain(|key, _| key.0 != pipeline.id || key.1 >= pipeline.generation);
        state.clock += 1;
        let last_used = state.clock;
        let key = (pipeline.id.clone(), pipeline.generation, classification.to_owned());
        let new = || Entry {
            shared: Arc::new(RwLock::new(PartitionIndex::new(pipeline, classification))),
            last_used,
            bytes: 0,
        };
        let entry = state.partitions.entry(key).or_insert_with(new);
        entry.last_used = last_used;
        entry.shared.clone()
    }

    /// Records the size of a partition, and evicts others if the budget is exceeded.
    fn record_size(&self, store: &Store, shared: &SharedIndex, bytes: usize) {
        let mut state = self.state();
        if let Some(entry) = state.partitions.values_mut().find(|entry| Arc::ptr_eq(&entry.shared, shared)) {
            entry.bytes = bytes;
        }
        let evicted = state.evict_to(self.budget);
        drop(state);
        if !evicted.is_empty() {
            tracing::debug!(partitions = evicted.len(), "least recently used partitions were evicted");
            tokio::spawn(flush::save_and_drop(evicted, store.clone(), self.snapshots.clone()));
        }
    }

    /// Brings a partition up to date and returns its size in bytes. This task reads the database; a blocking thread analyzes
    /// the texts. If the caller is cancelled, the changes applied so far remain.
    async fn refresh(
        &self,
        index: OwnedRwLockWriteGuard<PartitionIndex>,
        store: &Store,
        pipeline: &Pipeline,
        classification: &str,
        change_count: i64,
    ) -> Result<usize, StoreError> {
        let indexed = index.indexed_revisions();
        let (sender, receiver) = mpsc::channel(READ_AHEAD);
        let owned_pipeline = pipeline.clone();
        let applying = tokio::task::spawn_blocking(move || apply_changes(index, &owned_pipeline, receiver));
        let sent = ChangeReader { store, pipeline, classification, full_reads: &self.full_reads, changes: sender }
            .run(indexed)
            .await;
        let mut index = applying.await.map_err(|_| StoreError::Corrupt("building a partition failed".into()))??;
        sent?;
        (index.change_count, index.changed_at) = (change_count, Instant::now());
        index.update_pending.store(false, Relaxed);
        Ok(index.bytes())
    }

    /// Evicts the partitions of a pipeline.
    pub fn evict_pipeline(&self, pipeline: &str) {
        self.state().partitions.retain(|key, _| key.0 != pipeline);
    }
}

impl Default for IndexCache {
    fn default() -> IndexCache {
        IndexCache::new(1 << 30)
    }
}

impl CacheState {
    /// Removes the least recently used partitions until the budget is met. Partitions in use stay, because removing them would
    /// free nothing.
    fn evict_to(&mut self, budget: usize) -> Vec<SharedIndex> {
        let mut evicted = Vec::new();
        let mut bytes: usize = self.partitions.values().map(|entry| entry.bytes).sum();
        while bytes > budget {
            let idle = self.partitions.iter().filter(|(_, entry)| Arc::strong_count(&entry.shared) == 1);
            let Some(key) = idle.min_by_key(|(_, entry)| entry.last_used).map(|(key, _)| key.clone()) else { break };
            if let Some(entry) = self.partitions.remove(&key) {
                bytes -= entry.bytes;
                evicted.push(entry.shared);
            }
        }
        evicted
    }
}

/// A change of a document, to be applied to a partition.
enum Change {
    Removed(String),
    Updated(SearchableDocument, Vec<StoredChunk>),
}

fn apply_changes(
    mut index: OwnedRwLockWriteGuard<PartitionIndex>,
    pipeline: &Pipeline,
    mut changes: mpsc::Receiver<Change>,
) -> Result<OwnedRwLockWriteGuard<PartitionIndex>, StoreError> {
    while let Some(change) = changes.blocking_recv() {
        match change {
            Change::Removed(id) => index.remove(&id),
            Change::Updated(document, chunks) => index.put(pipeline, document, chunks)?,
        }
    }
    Ok(index)
}

/// Reader of the changes between a partition and the database.
struct ChangeReader<'a> {
    store: &'a Store,
    pipeline: &'a Pipeline,
    classification: &'a str,
    full_reads: &'a Semaphore,
    changes: mpsc::Sender<Change>,
}

impl ChangeReader<'_> {
    /// Sends removed, new and changed documents. A document may be replaced between two reads, which removes its old chunks:
    /// it is read again, so that one of the revisions is always found.
    async fn run(self, mut indexed: HashMap<String, IndexedRevision>) -> Result<(), StoreError> {
        for _ in 0..MAX_READ_ATTEMPTS {
            let current = self.store.indexed_revisions(&self.pipeline.id, self.classification).await?;
            let ids: HashSet<&str> = current.iter().map(|revision| revision.id.as_str()).collect();
            let removed: Vec<String> = indexed.keys().filter(|id| !ids.contains(id.as_str())).cloned().collect();
            for id in removed {
                indexed.remove(&id);
                self.send(Change::Removed(id)).await;
            }
            let is_changed = |revision: &IndexedRevision| indexed.get(&revision.id) != Some(revision);
            let changed: Vec<IndexedRevision> = current.into_iter().filter(is_changed).collect();
            let found = match changed.len() {
                0 => return Ok(()),
                count if count > MAX_SINGLE_READS => {
                    let found = self.read_all(changed).await?;
                    // None of them has chunks in this generation.
                    if found.is_empty() {
                        return Ok(());
                    }
                    found
                }
                _ => self.read_single(changed).await?,
            };
            indexed.extend(found.into_iter().map(|revision| (revision.id.clone(), revision)));
        }
        Ok(())
    }

    /// Reads documents one by one. Returns those that exist.
    async fn read_single(&self, changed: Vec<IndexedRevision>) -> Result<Vec<IndexedRevision>, StoreError> {
        let mut found = Vec::new();
        for revision in changed {
            let document = self.store.searchable_document(&self.pipeline.id, self.classification, &revision.id).await?;
            let Some(document) = document else { continue };
            let chunks = self.store.chunks(&document.id, document.revision, self.pipeline.generation).await?;
            if !chunks.is_empty() {
                found.push(document.indexed_revision());
                self.send(Change::Updated(document, chunks)).await;
            }
        }
        Ok(found)
    }

    /// Reads all documents of the partition. Returns those of the changed ones that exist.
    async fn read_all(&self, changed: Vec<IndexedRevision>) -> Result<Vec<IndexedRevision>, StoreError> {
        // The semaphore is never closed, so this always succeeds.
        let _permit = self.full_reads.acquire().await.ok();
        let changed: HashSet<String> = changed.into_iter().map(|revision| revision.id).collect();
        let all = self.store.searchable_documents(&self.pipeline.id, self.classification).await?.into_iter();
        let documents = all.filter(|document| changed.contains(&document.id));
        let mut documents: HashMap<String, SearchableDocument> =
            documents.map(|document| (document.id.clone(), document)).collect();
        let (sender, mut receiver) = mpsc::channel(READ_AHEAD);
        let mut found = Vec::new();
        let sending = async {
            while let Some((id, revision, chunks)) = receiver.recv().await {
                let document = documents.remove(&id).filter(|document| document.revision == revision);
                if let Some(document) = document {
                    found.push(document.indexed_revision());
                    self.send(Change::Updated(document, chunks)).await;
                }
            }
            Ok(())
        };
        let (id, generation) = (&self.pipeline.id, self.pipeline.generation);
        tokio::try_join!(self.store.stream_partition_chunks(id, generation, self.classification, sender), sending)?;
        Ok(found)
    }

    /// Sends a change. The receiver is dropped after an error, which the applying thread returns.
    async fn send(&self, change: Change) {
        let _ = self.changes.send(change).await;
    }
}

impl PartitionIndex {
    /// Returns the change count of the database that this reflects.
    pub fn change_count(&self) -> i64 {
        self.change_count
    }

    fn new(pipeline: &Pipeline, classification: &str) -> PartitionIndex {
        PartitionIndex::empty(
            usize::try_from(pipeline.embedding_dimensions).unwrap_or(0),
            SnapshotId::new(pipeline, classification),
        )
    }

    fn empty(dimensions: usize, snapshot_id: SnapshotId) -> PartitionIndex {
        PartitionIndex {
            partition: Partition::new(dimensions),
            documents: HashMap::new(),
            chunks: HashMap::new(),
            // Less than any count, so that the first refresh reads everything.
            change_count: -1,
            snapshot_id,
            saved_change_count: AtomicI64::new(-1),
            changed_at: Instant::now(),
            update_pending: AtomicBool::new(false),
        }
    }

    /// Returns whether the partition is outdated, and if so interrupts a snapshot being written.
    fn is_older_than(&self, change_count: i64) -> bool {
        let is_older = self.change_count < change_count;
        if is_older {
            self.update_pending.store(true, Relaxed);
        }
        is_older
    }

    fn is_update_pending(&self) -> bool {
        self.update_pending.load(Relaxed)
    }

    /// Returns the revisions of the documents.
    fn indexed_revisions(&self) -> HashMap<String, IndexedRevision> {
        let revision = |id: &String, document: &DocumentInfo| IndexedRevision {
            id: id.clone(),
            revision: document.revision,
            indexed_at: document.indexed_at,
        };
        self.documents.iter().map(|(id, document)| (id.clone(), revision(id, document))).collect()
    }

    /// Returns the approximate memory use in bytes.
    fn bytes(&self) -> usize {
        let chunk_bytes = |(id, chunk): (&String, &ChunkInfo)| {
            let tags: usize = chunk.tags.iter().map(|tag| tag.len() + size_of::<String>()).sum();
            // The id is stored here and in the list of its document.
            2 * (id.len() + size_of::<String>())
                + size_of::<ChunkInfo>()
                + tags
                + chunk.gap.as_ref().map_or(0, String::len)
        };
        let document_bytes = |(id, document): (&String, &DocumentInfo)| {
            id.len() + document.title.len() + document.filename.len() + size_of::<DocumentInfo>() + size_of::<String>()
        };
        self.partition.bytes()
            + self.chunks.iter().map(chunk_bytes).sum::<usize>()
            + self.documents.iter().map(document_bytes).sum::<usize>()
    }

    fn remove(&mut self, id: &str) {
        self.partition.remove(id);
        if let Some(document) = self.documents.remove(id) {
            document.chunks.iter().for_each(|chunk| drop(self.chunks.remove(chunk)));
        }
    }

    fn put(
        &mut self,
        pipeline: &Pipeline,
        document: SearchableDocument,
        stored_chunks: Vec<StoredChunk>,
    ) -> Result<(), StoreError> {
        self.remove(&document.id);
        let ids = stored_chunks.iter().map(|chunk| chunk.id.clone()).collect();
        let mut chunks = Vec::with_capacity(stored_chunks.len());
        for StoredChunk { id, number, chunk } in stored_chunks {
            let header = chunk_header(pipeline, &document.title, &chunk.headings);
            let (gap, tags) = (chunk.gap.clone(), chunk.tags.clone());
            let info = ChunkInfo { char_range: chunk.char_range, gap, page: chunk.page, tags };
            chunks.push(to_search_chunk(id.clone(), number, header, chunk)?);
            self.chunks.insert(id, info);
        }
        let indexed = Document { id: document.id.clone(), metadata: document.metadata.clone(), chunks };
        self.partition.put(indexed).map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let SearchableDocument { id, revision, indexed_at, metadata, title, filename } = document;
        self.documents.insert(id, DocumentInfo { revision, metadata, title, filename, indexed_at, chunks: ids });
        Ok(())
    }
}

fn to_search_chunk(id: String, number: i64, header: String, chunk: model::Chunk) -> Result<Chunk, StoreError> {
    let vector = from_blob(&chunk.vector).ok_or_else(|| StoreError::Corrupt("a stored vector is invalid".into()))?;
    let byte = |offset: i64| usize::try_from(offset).unwrap_or(0);
    Ok(Chunk {
        id,
        index: u32::try_from(number).unwrap_or(u32::MAX),
        span: chunk.byte_range.map(|(first, last)| byte(first)..byte(last)),
        header,
        text: chunk.content,
        vector,
    })
}

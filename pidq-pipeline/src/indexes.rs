//! The partitions that are open: what queries find under a label, as of the last change in the database.

mod saving;
mod snapshot;
mod snapshots;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock, Semaphore, mpsc};

use crate::embedding::from_blob;
use crate::records::{self, Pipeline};
use crate::search::{Chunk, Document, Partition};
use crate::store::{Listing, Searchable, Store, StoreError, StoredChunk};
use snapshots::Subject;

pub use snapshots::Snapshots;

/// The partitions that are open, by pipeline, generation and label. Those that were not asked for the longest time are
/// closed when all together take more memory than they may.
pub struct Indexes {
    open: Mutex<Open>,
    budget: usize,
    /// Whole labels that are read at once: each keeps a connection busy as long as its texts are analysed.
    whole: Semaphore,
    /// What is kept of them beside the memory.
    snapshots: Option<Arc<Snapshots>>,
}

#[derive(Default)]
struct Open {
    partitions: HashMap<Key, Entry>,
    /// Counts questions, so that the order of the last ones is known.
    questions: u64,
}

struct Entry {
    shared: Shared,
    /// The last question that asked for it.
    asked: u64,
    bytes: usize,
}

type Key = (String, i64, String);
/// A partition that is searched by many, and brought up to date by one.
pub(crate) type Shared = Arc<RwLock<Index>>;

/// A partition, and what is shown of its chunks.
pub struct Index {
    /// What is searched.
    pub partition: Partition,
    /// What is known of the documents in it.
    pub documents: HashMap<String, Known>,
    /// What is shown of a chunk, by its id.
    pub chunks: HashMap<String, Shown>,
    /// The count of changes that this is as of.
    changes: i64,
    subject: Subject,
    /// The count of changes as of which it was written to a file, or could not be.
    saved: AtomicI64,
    /// When it changed.
    changed: Instant,
    /// Whether somebody waits to change it.
    wanted: AtomicBool,
}

/// A document in a partition.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    /// The revision that is found.
    pub revision: i64,
    /// What filters look at.
    pub metadata: Map<String, Value>,
    /// What it calls itself, or its file is called.
    pub title: String,
    /// What its file is called.
    pub filename: String,
    indexed_at: i64,
    chunks: Vec<String>,
}

/// What is shown of a chunk beside its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// Where it begins and ends, in characters.
    pub place: Option<(i64, i64)>,
    /// What stands between the chunk before and this one, where they do not touch.
    pub gap: Option<String>,
    /// The page that it begins on.
    pub page: Option<i64>,
    /// The tags in it.
    pub tags: Vec<String>,
}

/// How many changed documents are read one by one. More are read with all others in one go.
const FEW: usize = 32;
/// How many labels are read as a whole at once. The others wait, and leave connections to whoever asks for little.
const WHOLE: usize = 2;
/// Documents on their way from the database to the thread that analyses them.
const AHEAD: usize = 16;
/// How often a document is looked for that was replaced while it was read. After that it is as it was before, until
/// the next question: each replacement is counted.
const READS: usize = 4;

impl Indexes {
    /// Partitions that take so many bytes together. More only while they are in use, or when one alone is larger.
    pub fn new(budget: usize) -> Indexes {
        Indexes { open: Mutex::default(), budget, whole: Semaphore::new(WHOLE), snapshots: None }
    }

    /// The same with files of what is open.
    #[must_use]
    pub fn with_snapshots(self, snapshots: Snapshots) -> Indexes {
        Indexes { snapshots: Some(Arc::new(snapshots)), ..self }
    }

    /// The files of what is open, if there are any.
    pub fn snapshots(&self) -> Option<&Snapshots> {
        self.snapshots.as_deref()
    }

    /// The partition of a label as it is in the database now.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn of(&self, store: &Store, pipeline: &Pipeline, label: &str) -> Result<Shared, StoreError> {
        let shared = self.shared(pipeline, label);
        // Read before the documents are: what changes in between is seen the next time.
        let changes = store.changes(&pipeline.id, label).await?;
        if shared.read().await.is_older_than(changes) {
            let index = shared.clone().write_owned().await;
            if index.changes < changes {
                let index = self.opened(index, store).await?;
                let bytes = self.refresh(index, store, pipeline, label, changes).await?;
                self.weigh(store, &shared, bytes);
            }
        }
        Ok(shared)
    }

    /// Whether the partition of a label is open, in whatever generation.
    pub fn is_open(&self, pipeline: &str, label: &str) -> bool {
        self.open().partitions.keys().any(|key| key.0 == pipeline && key.2 == label)
    }

    /// How many partitions are open.
    pub fn len(&self) -> usize {
        self.open().partitions.len()
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many bytes the open partitions take, about.
    pub fn bytes(&self) -> usize {
        self.open().partitions.values().map(|entry| entry.bytes).sum()
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shared(&self, pipeline: &Pipeline, label: &str) -> Shared {
        let mut open = self.open();
        // What an older generation left is searched no more.
        open.partitions.retain(|key, _| key.0 != pipeline.id || key.1 >= pipeline.generation);
        open.questions += 1;
        let asked = open.questions;
        let key = (pipeline.id.clone(), pipeline.generation, label.to_owned());
        let new = || Entry { shared: Arc::new(RwLock::new(Index::new(pipeline, label))), asked, bytes: 0 };
        let entry = open.partitions.entry(key).or_insert_with(new);
        entry.asked = asked;
        entry.shared.clone()
    }

    /// Notes what a partition takes now, and closes others where that is too much.
    fn weigh(&self, store: &Store, shared: &Shared, bytes: usize) {
        let mut open = self.open();
        if let Some(entry) = open.partitions.values_mut().find(|entry| Arc::ptr_eq(&entry.shared, shared)) {
            entry.bytes = bytes;
        }
        let closed = open.close_down_to(self.budget);
        drop(open);
        if !closed.is_empty() {
            tracing::debug!(partitions = closed.len(), "closed what was not asked for lately");
            tokio::spawn(saving::close(closed, store.clone(), self.snapshots.clone()));
        }
    }

    /// Brings a partition up to date: this task reads, and a thread for such work analyses. Gives the bytes that it
    /// takes then. When nobody waits any more, what was told stays, and the rest is told the next time.
    async fn refresh(
        &self,
        index: OwnedRwLockWriteGuard<Index>,
        store: &Store,
        pipeline: &Pipeline,
        label: &str,
        changes: i64,
    ) -> Result<usize, StoreError> {
        let known = index.listings();
        let (news, heard) = mpsc::channel(AHEAD);
        let of = pipeline.clone();
        let learning = tokio::task::spawn_blocking(move || learn(index, &of, heard));
        let told = Telling { store, pipeline, label, whole: &self.whole, news }.tell(known).await;
        let mut index = learning.await.map_err(|_| StoreError::Damaged("a partition cannot be built".into()))??;
        told?;
        (index.changes, index.changed) = (changes, Instant::now());
        index.wanted.store(false, Relaxed);
        Ok(index.bytes())
    }

    /// Closes the partitions of a pipeline.
    pub fn forget(&self, pipeline: &str) {
        self.open().partitions.retain(|key, _| key.0 != pipeline);
    }
}

impl Default for Indexes {
    fn default() -> Indexes {
        Indexes::new(1 << 30)
    }
}

impl Open {
    /// Takes out what was not asked for the longest time, until the others take no more than they may. What somebody
    /// uses stays: letting go of it would free nothing.
    fn close_down_to(&mut self, budget: usize) -> Vec<Shared> {
        let mut closed = Vec::new();
        let mut bytes: usize = self.partitions.values().map(|entry| entry.bytes).sum();
        while bytes > budget {
            let idle = self.partitions.iter().filter(|(_, entry)| Arc::strong_count(&entry.shared) == 1);
            let Some(key) = idle.min_by_key(|(_, entry)| entry.asked).map(|(key, _)| key.clone()) else { break };
            if let Some(entry) = self.partitions.remove(&key) {
                bytes -= entry.bytes;
                closed.push(entry.shared);
            }
        }
        closed
    }
}

/// What a partition is told on its way to what is in the database.
enum News {
    Gone(String),
    Found(Searchable, Vec<StoredChunk>),
}

fn learn(
    mut index: OwnedRwLockWriteGuard<Index>,
    pipeline: &Pipeline,
    mut heard: mpsc::Receiver<News>,
) -> Result<OwnedRwLockWriteGuard<Index>, StoreError> {
    while let Some(news) = heard.blocking_recv() {
        match news {
            News::Gone(id) => index.remove(&id),
            News::Found(document, chunks) => index.put(pipeline, document, chunks)?,
        }
    }
    Ok(index)
}

/// What is in the database on its way to a partition.
struct Telling<'a> {
    store: &'a Store,
    pipeline: &'a Pipeline,
    label: &'a str,
    whole: &'a Semaphore,
    news: mpsc::Sender<News>,
}

impl Telling<'_> {
    /// Tells what is gone, and what is new or changed. A document may be replaced between two reads, and its old chunks
    /// are gone then: it is looked for again, so that there is no moment at which neither is found.
    async fn tell(self, mut known: HashMap<String, Listing>) -> Result<(), StoreError> {
        for _ in 0..READS {
            let now = self.store.listing(&self.pipeline.id, self.label).await?;
            let ids: HashSet<&str> = now.iter().map(|listing| listing.id.as_str()).collect();
            let gone: Vec<String> = known.keys().filter(|id| !ids.contains(id.as_str())).cloned().collect();
            for id in gone {
                known.remove(&id);
                self.say(News::Gone(id)).await;
            }
            let changed: Vec<Listing> = now.into_iter().filter(|now| known.get(&now.id) != Some(now)).collect();
            let told = match changed.len() {
                0 => return Ok(()),
                many if many > FEW => {
                    let told = self.many(changed).await?;
                    // Not one of so many: they have no chunks in this generation, and get none while we look.
                    if told.is_empty() {
                        return Ok(());
                    }
                    told
                }
                _ => self.few(changed).await?,
            };
            known.extend(told.into_iter().map(|listing| (listing.id.clone(), listing)));
        }
        Ok(())
    }

    /// Reads documents one by one. Gives those that were there.
    async fn few(&self, changed: Vec<Listing>) -> Result<Vec<Listing>, StoreError> {
        let mut told = Vec::new();
        for listing in changed {
            let found = self.store.one_searchable(&self.pipeline.id, self.label, &listing.id).await?;
            let Some(document) = found else { continue };
            let chunks = self.store.chunks(&document.id, document.revision, self.pipeline.generation).await?;
            if !chunks.is_empty() {
                told.push(document.listing());
                self.say(News::Found(document, chunks)).await;
            }
        }
        Ok(told)
    }

    /// Reads all documents of the label in one go. Gives those of the changed ones that were there.
    async fn many(&self, changed: Vec<Listing>) -> Result<Vec<Listing>, StoreError> {
        // Never closed, so that there is always a turn.
        let _turn = self.whole.acquire().await.ok();
        let changed: HashSet<String> = changed.into_iter().map(|listing| listing.id).collect();
        let all = self.store.searchable(&self.pipeline.id, self.label).await?.into_iter();
        let wanted = all.filter(|document| changed.contains(&document.id));
        let mut wanted: HashMap<String, Searchable> = wanted.map(|document| (document.id.clone(), document)).collect();
        let (taken, mut read) = mpsc::channel(AHEAD);
        let mut told = Vec::new();
        let telling = async {
            while let Some((id, revision, chunks)) = read.recv().await {
                let document = wanted.remove(&id).filter(|document| document.revision == revision);
                if let Some(document) = document {
                    told.push(document.listing());
                    self.say(News::Found(document, chunks)).await;
                }
            }
            Ok(())
        };
        let (id, generation) = (&self.pipeline.id, self.pipeline.generation);
        tokio::try_join!(self.store.chunks_of_label(id, generation, self.label, taken), telling)?;
        Ok(told)
    }

    /// Nobody listens after a failure, which is told when the thread is done.
    async fn say(&self, what: News) {
        let _ = self.news.send(what).await;
    }
}

impl Index {
    /// The count of changes that this is as of.
    pub fn changes(&self) -> i64 {
        self.changes
    }

    fn new(pipeline: &Pipeline, label: &str) -> Index {
        Index::empty(usize::try_from(pipeline.embedding_dimensions).unwrap_or(0), Subject::of(pipeline, label))
    }

    fn empty(dimensions: usize, subject: Subject) -> Index {
        Index {
            partition: Partition::new(dimensions),
            documents: HashMap::new(),
            chunks: HashMap::new(),
            // Less than any count, so that the first look reads everything.
            changes: -1,
            subject,
            saved: AtomicI64::new(-1),
            changed: Instant::now(),
            wanted: AtomicBool::new(false),
        }
    }

    /// Whether it is to be brought up to date. Whoever writes it to a file leaves off then.
    fn is_older_than(&self, changes: i64) -> bool {
        let is_older = self.changes < changes;
        if is_older {
            self.wanted.store(true, Relaxed);
        }
        is_older
    }

    fn is_wanted(&self) -> bool {
        self.wanted.load(Relaxed)
    }

    /// The documents in it, as far as they tell a change.
    fn listings(&self) -> HashMap<String, Listing> {
        let listing = |id: &String, known: &Known| Listing {
            id: id.clone(),
            revision: known.revision,
            indexed_at: known.indexed_at,
        };
        self.documents.iter().map(|(id, known)| (id.clone(), listing(id, known))).collect()
    }

    /// How many bytes it takes, about.
    fn bytes(&self) -> usize {
        let shown = |(id, shown): (&String, &Shown)| {
            let tags: usize = shown.tags.iter().map(|tag| tag.len() + size_of::<String>()).sum();
            // The id stands here and in the list of its document.
            2 * (id.len() + size_of::<String>()) + size_of::<Shown>() + tags + shown.gap.as_ref().map_or(0, String::len)
        };
        let known = |(id, known): (&String, &Known)| {
            id.len() + known.title.len() + known.filename.len() + size_of::<Known>() + size_of::<String>()
        };
        self.partition.bytes()
            + self.chunks.iter().map(shown).sum::<usize>()
            + self.documents.iter().map(known).sum::<usize>()
    }

    fn remove(&mut self, id: &str) {
        self.partition.remove(id);
        if let Some(known) = self.documents.remove(id) {
            known.chunks.iter().for_each(|chunk| drop(self.chunks.remove(chunk)));
        }
    }

    fn put(&mut self, pipeline: &Pipeline, document: Searchable, stored: Vec<StoredChunk>) -> Result<(), StoreError> {
        self.remove(&document.id);
        let ids = stored.iter().map(|chunk| chunk.id.clone()).collect();
        let mut chunks = Vec::with_capacity(stored.len());
        for StoredChunk { id, number, chunk } in stored {
            let context = pipeline.context(&document.title, &chunk.headings);
            let (gap, tags) = (chunk.gap.clone(), chunk.tags.clone());
            let shown = Shown { place: chunk.place, gap, page: chunk.page, tags };
            chunks.push(searched(id.clone(), number, context, chunk)?);
            self.chunks.insert(id, shown);
        }
        let put = Document { id: document.id.clone(), metadata: document.metadata.clone(), chunks };
        self.partition.put(put).map_err(|error| StoreError::Damaged(error.to_string()))?;
        let Searchable { id, revision, indexed_at, metadata, title, filename } = document;
        self.documents.insert(id, Known { revision, metadata, title, filename, indexed_at, chunks: ids });
        Ok(())
    }
}

fn searched(id: String, number: i64, context: String, chunk: records::Chunk) -> Result<Chunk, StoreError> {
    let vector = from_blob(&chunk.vector).ok_or_else(|| StoreError::Damaged("a vector cannot be read".into()))?;
    let byte = |at: i64| usize::try_from(at).unwrap_or(0);
    Ok(Chunk {
        id,
        index: u32::try_from(number).unwrap_or(u32::MAX),
        span: chunk.bytes.map(|(first, last)| byte(first)..byte(last)),
        context,
        text: chunk.content,
        vector,
    })
}

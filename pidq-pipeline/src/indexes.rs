//! The partitions that are open: what queries find under a label, as of the last change in the database.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::RwLock;

use crate::embedding::from_blob;
use crate::records::{self, Pipeline};
use crate::search::{Chunk, Document, Partition};
use crate::store::{Searchable, Store, StoreError, StoredChunk};

/// The partitions that are open, by pipeline, generation and label.
#[derive(Default)]
pub struct Indexes {
    open: Mutex<HashMap<Key, Shared>>,
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
    /// The page that it begins on.
    pub page: Option<i64>,
    /// The tags in it.
    pub tags: Vec<String>,
}

impl Indexes {
    /// The partition of a label as it is in the database now.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn of(&self, store: &Store, pipeline: &Pipeline, label: &str) -> Result<Shared, StoreError> {
        let shared = self.shared(pipeline, label);
        // Read before the documents are: what changes in between is seen the next time.
        let changes = store.changes(&pipeline.id, label).await?;
        if shared.read().await.changes < changes {
            let mut index = shared.write().await;
            if index.changes < changes {
                index.refresh(store, pipeline, label).await?;
                index.changes = changes;
            }
        }
        Ok(shared)
    }

    fn shared(&self, pipeline: &Pipeline, label: &str) -> Shared {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // What an older generation left is searched no more.
        open.retain(|key, _| key.0 != pipeline.id || key.1 >= pipeline.generation);
        let key = (pipeline.id.clone(), pipeline.generation, label.to_owned());
        open.entry(key).or_insert_with(|| Arc::new(RwLock::new(Index::new(pipeline)))).clone()
    }

    /// Closes the partitions of a pipeline.
    pub fn forget(&self, pipeline: &str) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|key, _| key.0 != pipeline);
    }
}

impl Index {
    fn new(pipeline: &Pipeline) -> Index {
        let partition = Partition::new(usize::try_from(pipeline.embedding_dimensions).unwrap_or(0));
        // Less than any count, so that the first look reads everything.
        Index { partition, documents: HashMap::new(), chunks: HashMap::new(), changes: -1 }
    }

    /// Takes out what is gone, and reads what is new or changed.
    async fn refresh(&mut self, store: &Store, pipeline: &Pipeline, label: &str) -> Result<(), StoreError> {
        let now = store.searchable(&pipeline.id, label).await?;
        let ids: HashSet<&str> = now.iter().map(|document| document.id.as_str()).collect();
        let gone: Vec<String> = self.documents.keys().filter(|id| !ids.contains(id.as_str())).cloned().collect();
        gone.iter().for_each(|id| self.remove(id));
        for document in now {
            let known = self.documents.get(&document.id);
            if known.is_none_or(|known| known.indexed_at != document.indexed_at) {
                let chunks = store.chunks(&document.id, document.revision, pipeline.generation).await?;
                self.put(pipeline, document, chunks)?;
            }
        }
        Ok(())
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
            let shown = Shown { place: chunk.place, page: chunk.page, tags: chunk.tags.clone() };
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

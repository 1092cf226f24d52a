//! Search in a partition: the documents of one classification of one pipeline.
//!
//! Partitions are independent. The counts, scores and order of a partition depend only on its current documents, not on
//! other partitions, removed documents, or the order of insertion.

mod filter;
mod hybrid;
mod merge_hits;
mod partition_codec;
mod relevance;
mod tag_matches;
mod top_k;
mod vector_scan;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::analyzer;
use crate::embedding::{Error, normalize};
use crate::ranking::bm25::{Groups, InvertedIndex};
use vector_scan::VectorTable;

pub use filter::{Filter, FilterError};
pub use hybrid::{MODES, Mode, RankedChunk, SearchQuery};
pub use merge_hits::Hit;
pub use relevance::MIN_RELEVANCE;

/// An indexed document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Id.
    pub id: String,
    /// Metadata for filters.
    pub metadata: Map<String, Value>,
    /// Chunks in document order.
    pub chunks: Vec<Chunk>,
}

/// A chunk of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// Id.
    pub id: String,
    /// Index among the chunks of the document, from 0.
    pub index: u32,
    /// Byte range in the document's text; none if the chunk is composed of scattered parts.
    pub span: Option<Range<usize>>,
    /// Title of the document and headings above the chunk. They are searched, but are not part of the text.
    pub header: String,
    /// Text.
    pub text: String,
    /// Vector of [`indexed_text`](Self::indexed_text); empty in a partition without vectors.
    pub vector: Vec<f32>,
}

impl Chunk {
    /// Returns the text that is indexed and embedded: header and text.
    pub fn indexed_text(&self) -> String {
        indexed_text(&self.header, &self.text)
    }
}

/// Returns a chunk's header and text as one string.
pub fn indexed_text(header: &str, text: &str) -> String {
    if header.is_empty() { text.to_owned() } else { format!("{header}\n{text}") }
}

/// Minimum number of removed chunks before the partition is compacted.
const MIN_REMOVED_FOR_COMPACTION: usize = 1024;

/// Search index of the documents of one classification of one pipeline.
#[derive(Debug, Default)]
pub struct Partition {
    /// Chunks by slot; none for removed documents.
    chunks: Vec<Option<ChunkSlot>>,
    documents: HashMap<String, DocumentSlots>,
    index: InvertedIndex,
    /// Chunks of the index by document.
    groups: Groups,
    vectors: VectorTable,
}

/// A chunk with the id of its document. Its vector is stored in the vector table.
#[derive(Debug)]
struct ChunkSlot {
    document: String,
    chunk: Chunk,
}

/// Metadata and slots of a document.
#[derive(Debug)]
struct DocumentSlots {
    metadata: Map<String, Value>,
    slots: Range<u32>,
}

impl Partition {
    /// Creates a partition for vectors of a length; with length 0 only terms are searched.
    pub fn new(dimensions: usize) -> Self {
        Partition { vectors: VectorTable::new(dimensions), ..Partition::default() }
    }

    /// Returns the length of the vectors.
    pub fn dimensions(&self) -> usize {
        self.vectors.dimensions()
    }

    /// Returns the number of chunks.
    pub fn len(&self) -> usize {
        self.index.document_count()
    }

    /// Returns whether the partition has no chunks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the ids of the documents in no particular order.
    pub fn documents(&self) -> impl Iterator<Item = &str> {
        self.documents.keys().map(String::as_str)
    }

    /// Returns the approximate memory use in bytes.
    pub fn bytes(&self) -> usize {
        let chunk = |slot: &ChunkSlot| {
            let Chunk { id, header, text, .. } = &slot.chunk;
            slot.document.capacity() + id.capacity() + header.capacity() + text.capacity()
        };
        let documents = self.documents.iter().map(|(id, entry)| {
            let metadata = Value::Object(entry.metadata.clone()).to_string().len();
            // Parsed JSON takes several times the memory of its text.
            id.capacity() + size_of::<(String, DocumentSlots)>() + 4 * metadata
        });
        self.chunks.capacity() * size_of::<Option<ChunkSlot>>()
            + self.chunks.iter().flatten().map(chunk).sum::<usize>()
            + documents.sum::<usize>()
            + self.index.bytes()
            + self.groups.bytes()
            + self.vectors.bytes()
    }

    /// Inserts a document, replacing the one with the same id.
    ///
    /// # Errors
    /// Fails without changes if a vector has a different length.
    pub fn put(&mut self, document: Document) -> Result<(), Error> {
        let expected = self.dimensions();
        if let Some(chunk) = document.chunks.iter().find(|chunk| chunk.vector.len() != expected) {
            return Err(Error::Dimensions { expected, found: chunk.vector.len() });
        }
        self.remove(&document.id);
        self.push(document);
        Ok(())
    }

    fn push(&mut self, document: Document) {
        let start = self.chunks.len() as u32;
        for mut chunk in document.chunks {
            let mut vector = std::mem::take(&mut chunk.vector);
            normalize(&mut vector);
            self.vectors.push(&vector);
            let terms = analyzer::index_terms(&chunk.indexed_text());
            self.index.add(terms.iter().map(String::as_str));
            self.chunks.push(Some(ChunkSlot { document: document.id.clone(), chunk }));
        }
        self.groups.push(&self.index);
        let slots = start..self.chunks.len() as u32;
        self.documents.insert(document.id, DocumentSlots { metadata: document.metadata, slots });
    }

    /// Removes a document and returns it.
    pub fn remove(&mut self, id: &str) -> Option<Document> {
        let entry = self.documents.remove(id)?;
        if !entry.slots.is_empty() {
            self.groups.remove(entry.slots.start);
        }
        let chunks = entry.slots.clone().filter_map(|slot| self.take(slot)).collect();
        let removed = self.chunks.len() - self.len();
        if removed > MIN_REMOVED_FOR_COMPACTION && removed > self.len() {
            self.compact();
        }
        Some(Document { id: id.to_owned(), metadata: entry.metadata, chunks })
    }

    fn take(&mut self, slot: u32) -> Option<Chunk> {
        let ChunkSlot { mut chunk, .. } = self.chunks.get_mut(slot as usize)?.take()?;
        let terms = analyzer::index_terms(&chunk.indexed_text());
        self.index.remove(slot, terms.iter().map(String::as_str));
        chunk.vector = self.vectors.get(slot).to_vec();
        self.vectors.remove(slot);
        Some(chunk)
    }

    /// Returns the metadata of a document.
    pub fn metadata(&self, id: &str) -> Option<&Map<String, Value>> {
        self.documents.get(id).map(|entry| &entry.metadata)
    }

    /// Replaces the metadata of a document. Returns whether the document exists.
    pub fn set_metadata(&mut self, id: &str, metadata: Map<String, Value>) -> bool {
        self.documents.get_mut(id).map(|entry| entry.metadata = metadata).is_some()
    }

    /// Rebuilds the partition without the slots of removed chunks.
    fn compact(&mut self) {
        let mut old = std::mem::replace(self, Partition::new(self.dimensions()));
        let mut documents: Vec<_> = std::mem::take(&mut old.documents).into_iter().collect();
        documents.sort_unstable_by_key(|(_, entry)| entry.slots.start);
        for (id, entry) in documents {
            let chunks = entry
                .slots
                .filter_map(|slot| old.chunks[slot as usize].take().map(|slot_chunk| (slot, slot_chunk.chunk)));
            let chunks = chunks.map(|(slot, chunk)| Chunk { vector: old.vectors.get(slot).to_vec(), ..chunk });
            self.push(Document { id, metadata: entry.metadata, chunks: chunks.collect() });
        }
    }

    /// Returns the hits for a query, best first, without duplicates and with adjacent chunks merged.
    pub fn search(&self, query: &SearchQuery<'_>) -> Vec<Hit<'_>> {
        self.search_candidates(query, None)
    }

    /// Like [`search`](Self::search), but only chunks in `candidates` (from a vector index) have dense matches.
    pub fn search_candidates(&self, query: &SearchQuery<'_>, candidates: Option<&[(String, u32)]>) -> Vec<Hit<'_>> {
        merge_hits::hits(
            self,
            &self.rank_candidates(query, merge_hits::ranking_depth(query.top), candidates),
            query.top,
        )
    }

    /// Returns the slot of a chunk, if it exists.
    fn slot(&self, document: &str, index: u32) -> Option<u32> {
        let slots = &self.documents.get(document)?.slots;
        let slot = slots.start.checked_add(index).filter(|slot| slots.contains(slot))?;
        self.chunk_at(slot).filter(|slot_chunk| slot_chunk.chunk.index == index).map(|_| slot)
    }

    fn chunk_at(&self, slot: u32) -> Option<&ChunkSlot> {
        self.chunks.get(slot as usize)?.as_ref()
    }

    /// Orders chunks of equal score by document and index. Slots would depend on the insertion order.
    fn tie_break(&self, a: u32, b: u32) -> Ordering {
        self.position(a).cmp(&self.position(b))
    }

    fn position(&self, slot: u32) -> (&str, u32) {
        self.chunk_at(slot).map_or(("", 0), |slot_chunk| (&slot_chunk.document, slot_chunk.chunk.index))
    }
}

/// Returns the header of a chunk: the document's title and the headings above the chunk as one line.
pub fn chunk_header<'h>(title: &'h str, headings: impl IntoIterator<Item = &'h str>) -> String {
    let parts = [title].into_iter().chain(headings).map(str::trim).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" › ")
}

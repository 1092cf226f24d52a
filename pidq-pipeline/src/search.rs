//! Finding the chunks that answer a question, in one partition: the documents of one classification of one pipeline.
//!
//! A partition knows of no other. Its counts, its scores and its order depend on what it holds alone, not on what others
//! hold, nor on what it held before, nor on the order in which documents came.

mod best;
mod dense;
mod filter;
mod rank;
mod snapshot;
mod tidy;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Map, Value};

use crate::analyser;
use crate::embedding::{Error, normalize};
use crate::ranking::bm25::Postings;
use dense::Vectors;

pub use filter::{BadFilter, Filter};
pub use rank::{MODES, Mode, Question, Ranked};
pub use tidy::Hit;

/// A document as it is searched.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// Its id.
    pub id: String,
    /// What filters look at.
    pub metadata: Map<String, Value>,
    /// Its parts, in the order of its text.
    pub chunks: Vec<Chunk>,
}

/// A part of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// Its id.
    pub id: String,
    /// Its place among the chunks of the document, from 0.
    pub index: u32,
    /// The bytes of the document's text that it is; none if it is made of parts from all over it.
    pub span: Option<Range<usize>>,
    /// Where it stands: the title and the headings above it. It is found by them, but they are not in its text.
    pub context: String,
    /// What it says.
    pub text: String,
    /// The vector of [`indexed`](Self::indexed); empty in a partition without vectors.
    pub vector: Vec<f32>,
}

impl Chunk {
    /// What the chunk is found by, and what its vector is made from.
    pub fn indexed(&self) -> String {
        indexed(&self.context, &self.text)
    }
}

/// A text with what stands above it.
pub fn indexed(context: &str, text: &str) -> String {
    if context.is_empty() { text.to_owned() } else { format!("{context}\n{text}") }
}

/// The title of a document and the headings above a chunk as one line.
pub fn context<'h>(title: &'h str, headings: impl IntoIterator<Item = &'h str>) -> String {
    let parts = [title].into_iter().chain(headings).map(str::trim).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join(" › ")
}

/// How many removed chunks are put up with, if they are not the greater part.
const SLACK: usize = 1024;

/// The documents of one classification of one pipeline.
#[derive(Debug, Default)]
pub struct Partition {
    /// By slot; none where a document was removed.
    chunks: Vec<Option<Placed>>,
    documents: HashMap<String, Held>,
    postings: Postings,
    vectors: Vectors,
}

/// A chunk in its slot. Its vector is with the others.
#[derive(Debug)]
struct Placed {
    document: String,
    chunk: Chunk,
}

/// A document by its slots.
#[derive(Debug)]
struct Held {
    metadata: Map<String, Value>,
    slots: Range<u32>,
}

impl Partition {
    /// A partition for vectors of a length; with the length 0 only words are searched.
    pub fn new(dimensions: usize) -> Self {
        Partition { vectors: Vectors::new(dimensions), ..Partition::default() }
    }

    /// The length of its vectors.
    pub fn dimensions(&self) -> usize {
        self.vectors.dimensions()
    }

    /// How many chunks there are.
    pub fn len(&self) -> usize {
        self.postings.texts()
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The ids of the documents, in no order.
    pub fn documents(&self) -> impl Iterator<Item = &str> {
        self.documents.keys().map(String::as_str)
    }

    /// How many bytes it takes, about.
    pub fn bytes(&self) -> usize {
        let chunk = |placed: &Placed| {
            let Chunk { id, context, text, .. } = &placed.chunk;
            placed.document.capacity() + id.capacity() + context.capacity() + text.capacity()
        };
        let documents = self.documents.iter().map(|(id, held)| {
            let metadata = Value::Object(held.metadata.clone()).to_string().len();
            // Structures in memory are some times as large as their text.
            id.capacity() + size_of::<(String, Held)>() + 4 * metadata
        });
        self.chunks.capacity() * size_of::<Option<Placed>>()
            + self.chunks.iter().flatten().map(chunk).sum::<usize>()
            + documents.sum::<usize>()
            + self.postings.bytes()
            + self.vectors.bytes()
    }

    /// Puts a document in, in the place of the one with its id.
    ///
    /// # Errors
    /// If a vector has another length; then nothing is changed.
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
            let terms = analyser::index_terms(&chunk.indexed());
            self.postings.add(terms.iter().map(String::as_str));
            self.chunks.push(Some(Placed { document: document.id.clone(), chunk }));
        }
        let slots = start..self.chunks.len() as u32;
        self.documents.insert(document.id, Held { metadata: document.metadata, slots });
    }

    /// Takes a document out and gives it, so that another partition can have it.
    pub fn remove(&mut self, id: &str) -> Option<Document> {
        let held = self.documents.remove(id)?;
        let chunks = held.slots.clone().filter_map(|slot| self.take(slot)).collect();
        let removed = self.chunks.len() - self.len();
        if removed > SLACK && removed > self.len() {
            self.compact();
        }
        Some(Document { id: id.to_owned(), metadata: held.metadata, chunks })
    }

    fn take(&mut self, slot: u32) -> Option<Chunk> {
        let Placed { mut chunk, .. } = self.chunks.get_mut(slot as usize)?.take()?;
        let terms = analyser::index_terms(&chunk.indexed());
        self.postings.remove(slot, terms.iter().map(String::as_str));
        chunk.vector = self.vectors.get(slot).to_vec();
        Some(chunk)
    }

    /// What filters see of a document.
    pub(crate) fn metadata(&self, id: &str) -> Option<&Map<String, Value>> {
        self.documents.get(id).map(|held| &held.metadata)
    }

    /// Changes what filters see of a document; tells whether there is one.
    pub fn set_metadata(&mut self, id: &str, metadata: Map<String, Value>) -> bool {
        self.documents.get_mut(id).map(|held| held.metadata = metadata).is_some()
    }

    /// Builds everything anew without the slots of removed chunks.
    fn compact(&mut self) {
        let mut old = std::mem::replace(self, Partition::new(self.dimensions()));
        let mut documents: Vec<_> = std::mem::take(&mut old.documents).into_iter().collect();
        documents.sort_unstable_by_key(|(_, held)| held.slots.start);
        for (id, held) in documents {
            let chunks =
                held.slots.filter_map(|slot| old.chunks[slot as usize].take().map(|placed| (slot, placed.chunk)));
            let chunks = chunks.map(|(slot, chunk)| Chunk { vector: old.vectors.get(slot).to_vec(), ..chunk });
            self.push(Document { id, metadata: held.metadata, chunks: chunks.collect() });
        }
    }

    /// The chunks that answer a question, best first: no two that say the same, and neighbours as one.
    pub fn search(&self, question: &Question<'_>) -> Vec<Hit<'_>> {
        self.search_among(question, None)
    }

    /// The same, where an index names the chunks whose vectors may be near: by document, and place there.
    pub fn search_among(&self, question: &Question<'_>, near: Option<&[(String, u32)]>) -> Vec<Hit<'_>> {
        tidy::hits(self, &self.rank_among(question, tidy::depth(question.top), near), question.top)
    }

    /// The slot of a chunk; none if it is not there, or not there any more.
    fn slot(&self, document: &str, index: u32) -> Option<u32> {
        let slots = &self.documents.get(document)?.slots;
        let slot = slots.start.checked_add(index).filter(|slot| slots.contains(slot))?;
        self.placed(slot).filter(|placed| placed.chunk.index == index).map(|_| slot)
    }

    fn placed(&self, slot: u32) -> Option<&Placed> {
        self.chunks.get(slot as usize)?.as_ref()
    }

    /// What decides between chunks of equal score: their documents, then their places. Slots would tell of the past.
    fn tie(&self, a: u32, b: u32) -> Ordering {
        self.name(a).cmp(&self.name(b))
    }

    fn name(&self, slot: u32) -> (&str, u32) {
        self.placed(slot).map_or(("", 0), |placed| (&placed.document, placed.chunk.index))
    }
}

//! Serialization of partitions, which avoids reading and analyzing all chunks again at startup.
//!
//! Records: a header, each document followed by its chunks, the terms with their postings, and a term without postings. Equal partitions have equal
//! bytes. The caller must ensure that the bytes are unmodified and of the current analyzer version.

use std::borrow::Cow;
use std::io::{self, Read, Write};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::vector_scan::VectorTable;
use super::{Chunk, ChunkSlot, DocumentSlots, Partition};
use crate::codec::{Reader, Writer, invalid_data};
use crate::ranking::bm25::{InvertedIndex, Posting};

/// First record.
#[derive(Deserialize, Serialize)]
struct HeaderRecord {
    dimensions: usize,
    documents: usize,
}

/// A document. The records of its chunks follow.
#[derive(Deserialize, Serialize)]
struct DocumentRecord<'a> {
    id: &'a str,
    /// JSON text, which preserves every bit of a number, as in the database.
    metadata: &'a str,
    chunks: usize,
}

#[derive(Deserialize, Serialize)]
struct ChunkRecord<'a> {
    id: &'a str,
    index: u32,
    span: Option<Range<usize>>,
    header: &'a str,
    text: &'a str,
    vector: Cow<'a, [f32]>,
}

#[derive(Deserialize, Serialize)]
struct TermRecord<'a> {
    term: &'a str,
    postings: Vec<Posting>,
}

impl Partition {
    /// Serializes the partition.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to memory fails only for records of 4 GiB.
        self.write(&mut Writer(&mut bytes)).map(|()| bytes).unwrap_or_default()
    }

    /// Deserializes a partition; none if the bytes are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader::new(bytes);
        let partition = Partition::read(&mut input).ok()?;
        input.end().ok().map(|()| partition)
    }

    /// Writes the partition.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write(&self, out: &mut Writer<impl Write>) -> io::Result<()> {
        out.record(&HeaderRecord { dimensions: self.dimensions(), documents: self.documents.len() })?;
        let slots = self.write_documents(out)?;
        self.write_terms(&slots, out)
    }

    /// Writes the documents in the order of their ids. Returns the new number of every slot.
    fn write_documents(&self, out: &mut Writer<impl Write>) -> io::Result<Vec<u32>> {
        let mut documents: Vec<_> = self.documents.iter().collect();
        documents.sort_unstable_by_key(|(id, _)| id.as_str());
        let mut slots = vec![0; self.chunks.len()];
        let mut next = 0;
        for (id, entry) in documents {
            let metadata = serde_json::to_string(&entry.metadata)?;
            out.record(&DocumentRecord { id, metadata: &metadata, chunks: entry.slots.len() })?;
            for slot in entry.slots.clone() {
                slots[slot as usize] = next;
                next += 1;
                self.write_chunk(slot, out)?;
            }
        }
        Ok(slots)
    }

    fn write_chunk(&self, slot: u32, out: &mut Writer<impl Write>) -> io::Result<()> {
        let Some(ChunkSlot { chunk, .. }) = self.chunk_at(slot) else { return Ok(()) };
        out.record(&ChunkRecord {
            id: &chunk.id,
            index: chunk.index,
            span: chunk.span.clone(),
            header: &chunk.header,
            text: &chunk.text,
            vector: Cow::Borrowed(self.vectors.get(slot)),
        })
    }

    fn write_terms(&self, slots: &[u32], out: &mut Writer<impl Write>) -> io::Result<()> {
        for (term, postings) in self.index.terms() {
            let renumbered = |posting: Posting| Posting { document: slots[posting.document as usize], ..posting };
            let mut postings: Vec<_> = postings.map(renumbered).collect();
            if postings.is_empty() {
                continue;
            }
            postings.sort_unstable_by_key(|posting| posting.document);
            out.record(&TermRecord { term, postings })?;
        }
        out.record(&TermRecord { term: "", postings: Vec::new() })
    }

    /// Reads a partition.
    ///
    /// # Errors
    /// Fails if the bytes are not those of a partition.
    pub fn read(input: &mut Reader<impl Read>) -> io::Result<Self> {
        let HeaderRecord { dimensions, documents } = input.record()?;
        let mut partition = Partition { vectors: VectorTable::new(dimensions), ..Partition::default() };
        for _ in 0..documents {
            partition.read_document(input)?;
        }
        let chunks = u32::try_from(partition.chunks.len()).map_err(|_| invalid_data())?;
        partition.index = read_terms(chunks, input)?;
        let mut documents: Vec<Range<u32>> = partition.documents.values().map(|entry| entry.slots.clone()).collect();
        documents.sort_unstable_by_key(|slots| (slots.start, slots.end));
        documents.into_iter().for_each(|slots| partition.groups.push_range(&partition.index, slots));
        Ok(partition)
    }

    fn read_document(&mut self, input: &mut Reader<impl Read>) -> io::Result<()> {
        let record: DocumentRecord = input.record()?;
        let (id, metadata, chunks) = (record.id.to_owned(), serde_json::from_str(record.metadata)?, record.chunks);
        let start = self.chunks.len() as u32;
        for _ in 0..chunks {
            self.push_chunk(&id, input.record()?)?;
        }
        let slots = start..self.chunks.len() as u32;
        self.documents.insert(id, DocumentSlots { metadata, slots }).map_or(Ok(()), |_| Err(invalid_data()))
    }

    fn push_chunk(&mut self, document: &str, record: ChunkRecord<'_>) -> io::Result<()> {
        let ChunkRecord { id, index, span, header, text, vector } = record;
        let is_valid_span = span.as_ref().is_none_or(|span| span.start <= span.end);
        let is_valid_vector = vector.len() == self.dimensions() && vector.iter().all(|x| x.is_finite());
        if !is_valid_span || !is_valid_vector {
            return Err(invalid_data());
        }
        self.vectors.push(&vector);
        let (id, header, text) = (id.to_owned(), header.to_owned(), text.to_owned());
        let chunk = Chunk { id, index, span, header, text, vector: Vec::new() };
        self.chunks.push(Some(ChunkSlot { document: document.to_owned(), chunk }));
        Ok(())
    }
}

fn read_terms(chunks: u32, input: &mut Reader<impl Read>) -> io::Result<InvertedIndex> {
    let mut terms = Vec::new();
    loop {
        let TermRecord { term, postings } = input.record()?;
        if postings.is_empty() {
            return InvertedIndex::from_terms(chunks, terms).ok_or_else(invalid_data);
        }
        terms.push((term.to_owned(), postings));
    }
}

//! Serialization of partitions, which avoids reading and analyzing all chunks again at startup.
//!
//! Format: vector length, documents with their chunks and vectors, terms with their postings. Equal partitions have equal
//! bytes. The caller must ensure that the bytes are unmodified and of the current analyzer version.

use std::io::{self, Read, Write};
use std::ops::Range;

use super::vector_scan::VectorTable;
use super::{Chunk, ChunkSlot, DocumentSlots, Partition};
use crate::codec::{Reader, Writer, invalid_data};
use crate::embedding::{from_blob, to_blob};
use crate::ranking::bm25::{InvertedIndex, Posting};

impl Partition {
    /// Serializes the partition.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Writing to memory fails only for counts above 2³², which slots cannot reach.
        self.write(&mut Writer(&mut bytes)).map(|()| bytes).unwrap_or_default()
    }

    /// Deserializes a partition; none if the bytes are invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader(bytes);
        let partition = Partition::read(&mut input).ok()?;
        input.end().ok().map(|()| partition)
    }

    /// Writes the partition.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write(&self, out: &mut Writer<impl Write>) -> io::Result<()> {
        out.count(self.dimensions())?;
        let slots = self.write_documents(out)?;
        self.write_terms(&slots, out)
    }

    /// Writes the documents in the order of their ids. Returns the new number of every slot.
    fn write_documents(&self, out: &mut Writer<impl Write>) -> io::Result<Vec<u32>> {
        let mut documents: Vec<_> = self.documents.iter().collect();
        documents.sort_unstable_by_key(|(id, _)| id.as_str());
        let mut slots = vec![0; self.chunks.len()];
        let mut next = 0;
        out.count(documents.len())?;
        for (id, entry) in documents {
            out.string(id)?;
            out.object(&entry.metadata)?;
            out.count(entry.slots.len())?;
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
        out.string(&chunk.id)?;
        out.count(chunk.index as usize)?;
        out.option(chunk.span.as_ref(), |out, span| {
            out.long(span.start as i64)?;
            out.long(span.end as i64)
        })?;
        out.string(&chunk.header)?;
        out.string(&chunk.text)?;
        out.bytes(&to_blob(self.vectors.get(slot)))
    }

    fn write_terms(&self, slots: &[u32], out: &mut Writer<impl Write>) -> io::Result<()> {
        for (term, postings) in self.index.terms() {
            let mut postings: Vec<_> =
                postings.map(|posting| (slots[posting.document as usize], posting.frequency)).collect();
            if postings.is_empty() {
                continue;
            }
            postings.sort_unstable();
            out.count(postings.len())?;
            out.string(term)?;
            let pairs =
                postings.iter().flat_map(|(document, frequency)| [document.to_le_bytes(), frequency.to_le_bytes()]);
            out.bytes(&pairs.flatten().collect::<Vec<u8>>())?;
        }
        // Every term has postings: a count of 0 marks the end.
        out.count(0)
    }

    /// Reads a partition.
    ///
    /// # Errors
    /// Fails if the bytes are not those of a partition.
    pub fn read(input: &mut Reader<impl Read>) -> io::Result<Self> {
        let mut partition = Partition { vectors: VectorTable::new(input.count()?), ..Partition::default() };
        for _ in 0..input.count()? {
            partition.read_document(input)?;
        }
        let documents = u32::try_from(partition.chunks.len()).map_err(|_| invalid_data())?;
        partition.index = read_terms(documents, input)?;
        Ok(partition)
    }

    fn read_document(&mut self, input: &mut Reader<impl Read>) -> io::Result<()> {
        let (id, metadata) = (input.string()?, input.object()?);
        let start = self.chunks.len() as u32;
        for _ in 0..input.count()? {
            let (chunk, vector) = read_chunk(self.dimensions(), input)?;
            self.vectors.push(&vector);
            self.chunks.push(Some(ChunkSlot { document: id.clone(), chunk }));
        }
        let slots = start..self.chunks.len() as u32;
        self.documents.insert(id, DocumentSlots { metadata, slots }).map_or(Ok(()), |_| Err(invalid_data()))
    }
}

fn read_chunk(dimensions: usize, input: &mut Reader<impl Read>) -> io::Result<(Chunk, Vec<f32>)> {
    let (id, index) = (input.string()?, input.count()? as u32);
    let span = input.option(read_span)?;
    let (header, text) = (input.string()?, input.string()?);
    let blob = input.bytes(dimensions.checked_mul(4).ok_or_else(invalid_data)?)?;
    let vector = from_blob(&blob).ok_or_else(invalid_data)?;
    Ok((Chunk { id, index, span, header, text, vector: Vec::new() }, vector))
}

fn read_span(input: &mut Reader<impl Read>) -> io::Result<Range<usize>> {
    let mut offset = || usize::try_from(input.long()?).map_err(|_| invalid_data());
    let (start, end) = (offset()?, offset()?);
    if start <= end { Ok(start..end) } else { Err(invalid_data()) }
}

fn read_terms(documents: u32, input: &mut Reader<impl Read>) -> io::Result<InvertedIndex> {
    let mut terms = Vec::new();
    loop {
        let postings = input.count()?;
        if postings == 0 {
            return InvertedIndex::from_terms(documents, terms).ok_or_else(invalid_data);
        }
        let term = input.string()?;
        let pairs = input.bytes(postings.checked_mul(8).ok_or_else(invalid_data)?)?;
        terms.push((term, pairs.as_chunks::<8>().0.iter().map(|pair| posting(*pair)).collect()));
    }
}

fn posting(pair: [u8; 8]) -> Posting {
    let [a, b, c, d, e, f, g, h] = pair;
    Posting { document: u32::from_le_bytes([a, b, c, d]), frequency: u32::from_le_bytes([e, f, g, h]) }
}

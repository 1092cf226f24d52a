//! A partition as bytes and back, so that a start need not read and analyse all chunks again.
//!
//! The length of vectors, the documents with their chunks and vectors, and the words with their postings. Equal
//! partitions have equal bytes. Whoever keeps them sees to it that they are whole, and of this version of the analyser.

use std::io::{self, Read, Write};
use std::ops::Range;

use super::dense::Vectors;
use super::{Chunk, Held, Partition, Placed};
use crate::embedding::{from_blob, to_blob};
use crate::ranking::bm25::{Posting, Postings};
use crate::wire::{Reader, Writer, wrong};

impl Partition {
    /// The partition as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        // Memory takes all but more than 2³² of anything, and a slot has no such number.
        self.write(&mut Writer(&mut bytes)).map(|()| bytes).unwrap_or_default()
    }

    /// The partition of bytes; none if they are not those of one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader(bytes);
        let partition = Partition::read(&mut input).ok()?;
        input.end().ok().map(|()| partition)
    }

    /// Writes it down.
    ///
    /// # Errors
    /// What `out` says.
    pub(crate) fn write(&self, out: &mut Writer<impl Write>) -> io::Result<()> {
        out.count(self.dimensions())?;
        let slots = self.write_documents(out)?;
        self.write_words(&slots, out)
    }

    /// Writes the documents in the order of their ids, and gives the new number of every slot.
    fn write_documents(&self, out: &mut Writer<impl Write>) -> io::Result<Vec<u32>> {
        let mut documents: Vec<_> = self.documents.iter().collect();
        documents.sort_unstable_by_key(|(id, _)| id.as_str());
        let mut slots = vec![0; self.chunks.len()];
        let mut next = 0;
        out.count(documents.len())?;
        for (id, held) in documents {
            out.text(id)?;
            out.members(&held.metadata)?;
            out.count(held.slots.len())?;
            for slot in held.slots.clone() {
                slots[slot as usize] = next;
                next += 1;
                self.write_chunk(slot, out)?;
            }
        }
        Ok(slots)
    }

    fn write_chunk(&self, slot: u32, out: &mut Writer<impl Write>) -> io::Result<()> {
        let Some(Placed { chunk, .. }) = self.placed(slot) else { return Ok(()) };
        out.text(&chunk.id)?;
        out.count(chunk.index as usize)?;
        out.maybe(chunk.span.as_ref(), |out, span| {
            out.long(span.start as i64)?;
            out.long(span.end as i64)
        })?;
        out.text(&chunk.context)?;
        out.text(&chunk.text)?;
        out.bytes(&to_blob(self.vectors.get(slot)))
    }

    fn write_words(&self, slots: &[u32], out: &mut Writer<impl Write>) -> io::Result<()> {
        for (word, postings) in self.postings.words() {
            let mut postings: Vec<_> = postings.map(|posting| (slots[posting.text as usize], posting.times)).collect();
            if postings.is_empty() {
                continue;
            }
            postings.sort_unstable();
            out.count(postings.len())?;
            out.text(word)?;
            let pairs = postings.iter().flat_map(|(text, times)| [text.to_le_bytes(), times.to_le_bytes()]);
            out.bytes(&pairs.flatten().collect::<Vec<u8>>())?;
        }
        // No word stands nowhere: this is the end.
        out.count(0)
    }

    /// Reads what was written.
    ///
    /// # Errors
    /// If these are not the bytes of a partition.
    pub(crate) fn read(input: &mut Reader<impl Read>) -> io::Result<Self> {
        let mut partition = Partition { vectors: Vectors::new(input.count()?), ..Partition::default() };
        for _ in 0..input.count()? {
            partition.read_document(input)?;
        }
        let texts = u32::try_from(partition.chunks.len()).map_err(|_| wrong())?;
        partition.postings = read_words(texts, input)?;
        Ok(partition)
    }

    fn read_document(&mut self, input: &mut Reader<impl Read>) -> io::Result<()> {
        let (id, metadata) = (input.text()?, input.members()?);
        let start = self.chunks.len() as u32;
        for _ in 0..input.count()? {
            let (chunk, vector) = read_chunk(self.dimensions(), input)?;
            self.vectors.push(&vector);
            self.chunks.push(Some(Placed { document: id.clone(), chunk }));
        }
        let slots = start..self.chunks.len() as u32;
        self.documents.insert(id, Held { metadata, slots }).map_or(Ok(()), |_| Err(wrong()))
    }
}

fn read_chunk(dimensions: usize, input: &mut Reader<impl Read>) -> io::Result<(Chunk, Vec<f32>)> {
    let (id, index) = (input.text()?, input.count()? as u32);
    let span = input.maybe(read_span)?;
    let (context, text) = (input.text()?, input.text()?);
    let blob = input.bytes(dimensions.checked_mul(4).ok_or_else(wrong)?)?;
    let vector = from_blob(&blob).ok_or_else(wrong)?;
    Ok((Chunk { id, index, span, context, text, vector: Vec::new() }, vector))
}

fn read_span(input: &mut Reader<impl Read>) -> io::Result<Range<usize>> {
    let mut place = || usize::try_from(input.long()?).map_err(|_| wrong());
    let (start, end) = (place()?, place()?);
    if start <= end { Ok(start..end) } else { Err(wrong()) }
}

fn read_words(texts: u32, input: &mut Reader<impl Read>) -> io::Result<Postings> {
    let mut words = Vec::new();
    loop {
        let postings = input.count()?;
        if postings == 0 {
            return Postings::from_words(texts, words).ok_or_else(wrong);
        }
        let word = input.text()?;
        let pairs = input.bytes(postings.checked_mul(8).ok_or_else(wrong)?)?;
        words.push((word, pairs.as_chunks::<8>().0.iter().map(|pair| posting(*pair)).collect()));
    }
}

fn posting(pair: [u8; 8]) -> Posting {
    let [a, b, c, d, e, f, g, h] = pair;
    Posting { text: u32::from_le_bytes([a, b, c, d]), times: u32::from_le_bytes([e, f, g, h]) }
}

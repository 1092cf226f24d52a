//! A partition as bytes and back, so that a start need not read and analyse all chunks again.
//!
//! Little-endian throughout. A head (mark, version of the analyser, length of vectors), the documents with their chunks
//! and vectors, the words with their postings, and a sum of all that. Equal partitions have equal bytes.

use std::hash::Hasher;
use std::ops::Range;

use serde_json::{Map, Value};

use super::dense::Vectors;
use super::{Chunk, Held, Partition, Placed};
use crate::analyser;
use crate::embedding::{from_blob, to_blob};
use crate::ranking::bm25::{Posting, Postings};

const MARK: &[u8; 8] = b"pidq-px1";
/// Stands for a chunk without a span.
const NO_SPAN: u64 = u64::MAX;

impl Partition {
    /// The partition as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.bytes.extend_from_slice(MARK);
        out.count(analyser::VERSION as usize);
        out.count(self.dimensions());
        let slots = self.write_documents(&mut out);
        self.write_words(&slots, &mut out);
        let sum = sum(&out.bytes);
        out.bytes.extend_from_slice(&sum.to_le_bytes());
        out.bytes
    }

    /// Writes the documents in the order of their ids, and gives the new number of every slot.
    fn write_documents(&self, out: &mut Writer) -> Vec<u32> {
        let mut documents: Vec<_> = self.documents.iter().collect();
        documents.sort_unstable_by_key(|(id, _)| id.as_str());
        let mut slots = vec![0; self.chunks.len()];
        let mut next = 0;
        out.count(documents.len());
        for (id, held) in documents {
            out.text(id);
            out.text(&Value::Object(held.metadata.clone()).to_string());
            out.count(held.slots.len());
            for slot in held.slots.clone() {
                slots[slot as usize] = next;
                next += 1;
                self.write_chunk(slot, out);
            }
        }
        slots
    }

    fn write_chunk(&self, slot: u32, out: &mut Writer) {
        let Some(Placed { chunk, .. }) = self.placed(slot) else { return };
        let (start, end) = chunk.span.as_ref().map_or((NO_SPAN, NO_SPAN), |span| (span.start as u64, span.end as u64));
        out.text(&chunk.id);
        out.count(chunk.index as usize);
        out.bytes.extend_from_slice(&start.to_le_bytes());
        out.bytes.extend_from_slice(&end.to_le_bytes());
        out.text(&chunk.context);
        out.text(&chunk.text);
        out.bytes.extend(to_blob(self.vectors.get(slot)));
    }

    fn write_words(&self, slots: &[u32], out: &mut Writer) {
        for (word, postings) in self.postings.words() {
            let mut postings: Vec<_> = postings.map(|posting| (slots[posting.text as usize], posting.times)).collect();
            if postings.is_empty() {
                continue;
            }
            postings.sort_unstable();
            out.text(word);
            out.count(postings.len());
            for (text, times) in postings {
                out.count(text as usize);
                out.count(times as usize);
            }
        }
    }

    /// The partition of bytes; none if they are not a whole snapshot of this version, so that it must be built anew.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (bytes, expected) = bytes.split_at_checked(bytes.len().checked_sub(8)?)?;
        let intact = sum(bytes).to_le_bytes() == expected;
        let mut input = Reader { bytes: bytes.strip_prefix(MARK).filter(|_| intact)? };
        (input.count()? == analyser::VERSION as usize).then_some(())?;
        let dimensions = input.count()?;
        let mut partition = Partition { vectors: Vectors::new(dimensions), ..Partition::default() };
        for _ in 0..input.count()? {
            partition.read_document(&mut input)?;
        }
        partition.postings = input.postings(u32::try_from(partition.chunks.len()).ok()?)?;
        Some(partition)
    }

    fn read_document(&mut self, input: &mut Reader<'_>) -> Option<()> {
        let id = input.text()?;
        let metadata: Map<String, Value> = serde_json::from_str(&input.text()?).ok()?;
        let start = self.chunks.len() as u32;
        for _ in 0..input.count()? {
            let (chunk, vector) = input.chunk(self.dimensions())?;
            self.vectors.push(&vector);
            self.chunks.push(Some(Placed { document: id.clone(), chunk }));
        }
        let slots = start..self.chunks.len() as u32;
        self.documents.insert(id, Held { metadata, slots }).is_none().then_some(())
    }
}

/// A sum that a broken file does not have by chance. Not against forgers: the file is ours.
fn sum(bytes: &[u8]) -> u64 {
    // SipHash with fixed keys: the only hash of the standard library, and quick enough beside reading the file.
    #[expect(deprecated, reason = "the hasher that is not deprecated does not promise its bits")]
    let mut hasher = std::hash::SipHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    fn count(&mut self, count: usize) {
        self.bytes.extend_from_slice(&(count as u32).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }
}

struct Reader<'b> {
    bytes: &'b [u8],
}

impl<'b> Reader<'b> {
    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    fn count(&mut self) -> Option<usize> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?) as usize)
    }

    fn long(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.count()?;
        String::from_utf8(self.take(length)?.to_vec()).ok()
    }

    fn chunk(&mut self, dimensions: usize) -> Option<(Chunk, Vec<f32>)> {
        let id = self.text()?;
        let index = self.count()? as u32;
        let span = (self.long()?, self.long()?);
        let (context, text) = (self.text()?, self.text()?);
        let vector = from_blob(self.take(dimensions.checked_mul(4)?)?)?;
        Some((Chunk { id, index, span: span_of(span)?, context, text, vector: Vec::new() }, vector))
    }

    /// The words up to the end.
    fn postings(&mut self, texts: u32) -> Option<Postings> {
        let mut words = Vec::new();
        while !self.bytes.is_empty() {
            let word = self.text()?;
            let pairs = self.count()?.checked_mul(8)?;
            let (pairs, _) = self.take(pairs)?.as_chunks::<8>();
            words.push((word, pairs.iter().map(|pair| posting(*pair)).collect()));
        }
        Postings::from_words(texts, words)
    }
}

fn span_of(span: (u64, u64)) -> Option<Option<Range<usize>>> {
    match span {
        (NO_SPAN, NO_SPAN) => Some(None),
        (start, end) if start <= end => Some(Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)),
        _ => None,
    }
}

fn posting(pair: [u8; 8]) -> Posting {
    let [a, b, c, d, e, f, g, h] = pair;
    Posting { text: u32::from_le_bytes([a, b, c, d]), times: u32::from_le_bytes([e, f, g, h]) }
}

//! Conversion of a ranking to hits: removes duplicates and merges adjacent chunks into passages.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Map, Value};

use super::{Chunk, ChunkSlot, Partition, RankedChunk};
use crate::analyzer;

/// Cosine similarity above which texts are duplicates.
const DUPLICATE_SIMILARITY: f64 = 0.98;
/// Maximum number of chunks in a passage.
const MAX_PASSAGE_CHUNKS: usize = 4;

/// A search hit: a chunk, or several adjacent ones.
#[derive(Debug)]
pub struct Hit<'p> {
    /// Id of the document.
    pub document: &'p str,
    /// Metadata of the document.
    pub metadata: &'p Map<String, Value>,
    /// Chunks in document order, without their vectors.
    pub chunks: Vec<&'p Chunk>,
    /// The best-ranked chunk.
    pub best: &'p Chunk,
    /// Score of the best chunk in the mode of the query.
    pub score: f64,
    /// Sparse score.
    pub sparse: f64,
    /// Dense score.
    pub dense: f64,
    pub(super) slot: u32,
}

impl Hit<'_> {
    /// Returns the byte range in the document's text from the first chunk to the last; none if one of them is composed.
    pub fn span(&self) -> Option<Range<usize>> {
        let spans: Option<Vec<_>> = self.chunks.iter().map(|chunk| chunk.span.clone()).collect();
        let spans = spans?;
        Some(spans.iter().map(|span| span.start).min()?..spans.iter().map(|span| span.end).max()?)
    }

    /// Returns the text of the chunks without repeating overlaps. Chunks that do not touch are joined with a line break,
    /// because the splitter removed the white space: for the exact text, slice the [`span`](Self::span) from the document.
    pub fn text(&self) -> String {
        self.text_with(|_| None)
    }

    /// Like [`text`](Self::text), with the document's text between chunks that do not touch, if `gap` returns it.
    pub fn text_with<'g>(&self, gap: impl Fn(&Chunk) -> Option<&'g str>) -> String {
        let mut text = self.chunks[0].text.clone();
        for pair in self.chunks.windows(2) {
            match text_after(pair[0], pair[1]) {
                Some(suffix) => text.push_str(suffix),
                None => text.extend([gap(pair[1]).unwrap_or("\n"), &pair[1].text]),
            }
        }
        text
    }

    fn is_adjacent(&self, document: &str, index: u32) -> bool {
        let (first, last) = (self.chunks[0].index, self.chunks[self.chunks.len() - 1].index);
        let touches = index.checked_add(1) == Some(first) || last.checked_add(1) == Some(index);
        self.document == document && touches && self.chunks.len() < MAX_PASSAGE_CHUNKS
    }

    fn overlaps(&self, document: &str, chunk: &Chunk) -> bool {
        let same_document = self.document == document;
        same_document
            && self.chunks.iter().any(|merged| match (&merged.span, &chunk.span) {
                (Some(a), Some(b)) => a.start < b.end && b.start < a.end,
                _ => merged.index == chunk.index,
            })
    }
}

/// Returns the part of a chunk after the end of the previous chunk, if they touch.
fn text_after<'p>(previous: &Chunk, chunk: &'p Chunk) -> Option<&'p str> {
    let (previous, span) = (previous.span.as_ref()?, chunk.span.as_ref()?);
    let exact = span.len() == chunk.text.len();
    let overlap = previous.end.checked_sub(span.start)?;
    if exact { chunk.text.get(overlap.min(span.len())..) } else { None }
}

/// Returns the depth of a ranking for a number of hits, some of which will be merged or dropped.
pub fn ranking_depth(top: usize) -> usize {
    top.saturating_mul(4).max(20)
}

/// Returns the hits of a ranking, at most `top`.
pub fn hits<'p>(partition: &'p Partition, ranking: &[RankedChunk], top: usize) -> Vec<Hit<'p>> {
    let mut hits: Vec<Hit<'p>> = Vec::new();
    for ranked in ranking {
        if hits.len() == top {
            break;
        }
        let Some(slot_chunk) = partition.chunk_at(ranked.slot) else { continue };
        if let Some(hit) = hits.iter_mut().find(|hit| hit.is_adjacent(&slot_chunk.document, slot_chunk.chunk.index)) {
            hit.chunks.push(&slot_chunk.chunk);
            hit.chunks.sort_unstable_by_key(|chunk| chunk.index);
        } else if !hits.iter().any(|hit| is_duplicate(partition, hit, ranked, slot_chunk)) {
            hits.extend(hit(partition, ranked, slot_chunk));
        }
    }
    hits
}

fn hit<'p>(partition: &'p Partition, ranked: &RankedChunk, slot_chunk: &'p ChunkSlot) -> Option<Hit<'p>> {
    let RankedChunk { slot, score, sparse, dense } = *ranked;
    let document = &slot_chunk.document;
    let metadata = &partition.documents.get(document)?.metadata;
    let best = &slot_chunk.chunk;
    Some(Hit { document, metadata, chunks: vec![best], best, score, sparse, dense, slot })
}

/// Returns whether a chunk duplicates a hit. Texts with different tags or numbers are never duplicates.
fn is_duplicate(partition: &Partition, hit: &Hit<'_>, ranked: &RankedChunk, slot_chunk: &ChunkSlot) -> bool {
    let is_similar =
        || partition.vectors.similarity(hit.slot, partition.vectors.get(ranked.slot)) > DUPLICATE_SIMILARITY;
    hit.overlaps(&slot_chunk.document, &slot_chunk.chunk)
        || (is_similar() && tags_and_numbers(&hit.best.text) == tags_and_numbers(&slot_chunk.chunk.text))
}

/// Returns the tags and numbers of a text.
fn tags_and_numbers(text: &str) -> BTreeSet<String> {
    let has_digit = |term: &String| term.bytes().any(|b| b.is_ascii_digit());
    analyzer::terms(text).into_iter().filter(has_digit).collect()
}

//! From a ranking to what is shown: nothing twice, and neighbours of one document as one passage.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::{Map, Value};

use super::{Chunk, Partition, Placed, Ranked};
use crate::analyser;

/// Vectors nearer than this are of texts that say the same.
const SAME: f64 = 0.98;
/// A passage has at most so many chunks: more would be the document.
const PASSAGE: usize = 4;

/// What is found: a chunk, or several that stand beside each other.
#[derive(Debug)]
pub struct Hit<'p> {
    /// The id of the document.
    pub document: &'p str,
    /// The metadata of the document.
    pub metadata: &'p Map<String, Value>,
    /// The chunks in the order of the document's text, without their vectors.
    pub chunks: Vec<&'p Chunk>,
    /// Which of them was found first.
    pub best: &'p Chunk,
    /// How good the best is, by the mode of the question.
    pub score: f64,
    /// How good it is by words.
    pub sparse: f64,
    /// How good it is by vectors.
    pub dense: f64,
    slot: u32,
}

impl Hit<'_> {
    /// The bytes of the document's text from the first chunk to the last; none if one of them is made.
    pub fn span(&self) -> Option<Range<usize>> {
        let spans: Option<Vec<_>> = self.chunks.iter().map(|chunk| chunk.span.clone()).collect();
        let spans = spans?;
        Some(spans.iter().map(|span| span.start).min()?..spans.iter().map(|span| span.end).max()?)
    }

    /// The text of the chunks, what they share once. Between chunks that do not touch stands a line break, since the
    /// splitter took the blanks there: for the exact text cut the [`span`](Self::span) from the document.
    pub fn text(&self) -> String {
        self.text_with(|_| None)
    }

    /// The same with what stands in the document before a chunk that does not touch the one before it, if that is known.
    pub fn text_with<'g>(&self, gap: impl Fn(&Chunk) -> Option<&'g str>) -> String {
        let mut text = self.chunks[0].text.clone();
        for pair in self.chunks.windows(2) {
            match beyond(pair[0], pair[1]) {
                Some(rest) => text.push_str(rest),
                None => text.extend([gap(pair[1]).unwrap_or("\n"), &pair[1].text]),
            }
        }
        text
    }

    fn joins(&self, document: &str, index: u32) -> bool {
        let (first, last) = (self.chunks[0].index, self.chunks[self.chunks.len() - 1].index);
        let beside = index.checked_add(1) == Some(first) || last.checked_add(1) == Some(index);
        self.document == document && beside && self.chunks.len() < PASSAGE
    }

    fn overlaps(&self, document: &str, chunk: &Chunk) -> bool {
        let of_one = self.document == document;
        of_one
            && self.chunks.iter().any(|known| match (&known.span, &chunk.span) {
                (Some(a), Some(b)) => a.start < b.end && b.start < a.end,
                _ => known.index == chunk.index,
            })
    }
}

/// What of a chunk stands behind the chunk before it, if they touch.
fn beyond<'p>(before: &Chunk, chunk: &'p Chunk) -> Option<&'p str> {
    let (before, span) = (before.span.as_ref()?, chunk.span.as_ref()?);
    let exact = span.len() == chunk.text.len();
    let shared = before.end.checked_sub(span.start)?;
    if exact { chunk.text.get(shared.min(span.len())..) } else { None }
}

/// How deep a ranking must go for so many hits, some of which will be one or none.
pub fn depth(top: usize) -> usize {
    top.saturating_mul(4).max(20)
}

/// The hits of a ranking, at most `top`.
pub fn hits<'p>(partition: &'p Partition, ranking: &[Ranked], top: usize) -> Vec<Hit<'p>> {
    let mut hits: Vec<Hit<'p>> = Vec::new();
    for ranked in ranking {
        if hits.len() == top {
            break;
        }
        let Some(placed) = partition.placed(ranked.slot) else { continue };
        if let Some(hit) = hits.iter_mut().find(|hit| hit.joins(&placed.document, placed.chunk.index)) {
            hit.chunks.push(&placed.chunk);
            hit.chunks.sort_unstable_by_key(|chunk| chunk.index);
        } else if !hits.iter().any(|hit| is_again(partition, hit, ranked, placed)) {
            hits.extend(hit(partition, ranked, placed));
        }
    }
    hits
}

fn hit<'p>(partition: &'p Partition, ranked: &Ranked, placed: &'p Placed) -> Option<Hit<'p>> {
    let Ranked { slot, score, sparse, dense } = *ranked;
    let document = &placed.document;
    let metadata = &partition.documents.get(document)?.metadata;
    let best = &placed.chunk;
    Some(Hit { document, metadata, chunks: vec![best], best, score, sparse, dense, slot })
}

/// Whether a hit says what a chunk says. However near two texts are, they differ if a tag or a number does.
fn is_again(partition: &Partition, hit: &Hit<'_>, ranked: &Ranked, placed: &Placed) -> bool {
    let near = || partition.vectors.nearness(hit.slot, partition.vectors.get(ranked.slot)) > SAME;
    hit.overlaps(&placed.document, &placed.chunk) || (near() && figures(&hit.best.text) == figures(&placed.chunk.text))
}

/// The tags and numbers of a text.
fn figures(text: &str) -> BTreeSet<String> {
    let figure = |term: &String| term.bytes().any(|b| b.is_ascii_digit());
    analyser::terms(text).into_iter().filter(figure).collect()
}

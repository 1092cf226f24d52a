//! Whole sentences, put together until a chunk is full.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::merge::{CHUNK_OVERLAP, CHUNK_SIZE, Join, LENGTH, STRIP, Size, merge};
use super::room::Chunks;
use super::{Chunk, Embed, Refusal, Split, Splitter};

/// The row.
pub const SENTENCE: Splitter = Splitter {
    name: "sentence",
    summary: "whole sentences by the rules of Unicode (UAX #29), put together as recursive_character does; ours",
    parameters: &[CHUNK_SIZE, CHUNK_OVERLAP, LENGTH, STRIP],
    build: |parameters| Ok(Box::new(Sentences { size: Size::of(parameters)? })),
};

struct Sentences {
    size: Size,
}

impl Split for Sentences {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, Refusal> {
        let size = Size { length: self.size.length.for_text(text), ..self.size };
        let sentences: Vec<Range<usize>> =
            text.split_sentence_bound_indices().map(|(at, sentence)| at..at + sentence.len()).collect();
        let mut chunks = Chunks::of(text);
        merge(text, &sentences, Join::Nothing, size, &mut chunks)?;
        Ok(chunks.into_list())
    }
}

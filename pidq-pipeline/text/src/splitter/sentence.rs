//! The `sentence` splitter: merges whole sentences into chunks.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::merge::{CHUNK_OVERLAP, CHUNK_SIZE, ChunkSize, Join, LENGTH, STRIP, merge};
use super::size_limit::ChunkList;
use super::{Chunk, Embed, Split, SplitError, Splitter};

/// The `sentence` splitter.
pub const SENTENCE: Splitter = Splitter {
    name: "sentence",
    summary: "whole sentences by the rules of Unicode (UAX #29), merged like recursive_character; specific to pidq",
    parameters: &[CHUNK_SIZE, CHUNK_OVERLAP, LENGTH, STRIP],
    build: |parameters| Ok(Box::new(SentenceSplitter { size: ChunkSize::from_parameters(parameters)? })),
};

struct SentenceSplitter {
    size: ChunkSize,
}

impl Split for SentenceSplitter {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, SplitError> {
        let size = ChunkSize { length: self.size.length.for_text(text), ..self.size };
        let sentences: Vec<Range<usize>> =
            text.split_sentence_bound_indices().map(|(start, sentence)| start..start + sentence.len()).collect();
        let mut chunks = ChunkList::for_text(text);
        merge(text, &sentences, Join::Nothing, size, &mut chunks)?;
        Ok(chunks.into_vec())
    }
}

//! The `tag_aware` splitter: never splits equipment tags.
//!
//! A tag contains no space, so only splitting between characters can break it. This splitter splits at paragraphs, lines,
//! ends of sentences, words, and finally between characters that do not belong to one word of letters, digits and the
//! punctuation of tags.

use std::ops::Range;

use super::merge::{CHUNK_OVERLAP, CHUNK_SIZE, ChunkSize, Join, LENGTH, STRIP, merge, push_exact};
use super::parameters::Parameters;
use super::separators::{self, KeepSeparator, Separator};
use super::size_limit::ChunkList;
use super::{Chunk, Embed, Split, SplitError, Splitter};

/// The `tag_aware` splitter.
pub const TAG_AWARE: Splitter = Splitter {
    name: "tag_aware",
    summary: "like recursive_character, but never splits equipment tags such as PSV-2015A or 20-PR-0107; specific to pidq",
    parameters: &[CHUNK_SIZE, CHUNK_OVERLAP, LENGTH, STRIP],
    build: |parameters| Ok(Box::new(TagAware::new(parameters)?)),
};

struct TagAware {
    separators: Vec<Separator>,
    size: ChunkSize,
}

impl TagAware {
    fn new(parameters: &Parameters) -> Result<Self, SplitError> {
        let separators = ["\n\n", "\n", ". ", " "].iter().map(|text| Separator::new("", text, false));
        Ok(TagAware {
            separators: separators.collect::<Result<_, _>>()?,
            size: ChunkSize::from_parameters(parameters)?,
        })
    }
}

impl Split for TagAware {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, SplitError> {
        let size = ChunkSize { length: self.size.length.for_text(text), ..self.size };
        let mut pieces = Vec::new();
        collect_pieces(text, 0..text.len(), &self.separators, size, &mut pieces)?;
        let mut chunks = ChunkList::for_text(text);
        merge_runs(text, &pieces, size, &mut chunks)?;
        Ok(chunks.into_vec())
    }
}

/// Collects the coarsest pieces that are short enough, in order.
fn collect_pieces(
    text: &str,
    range: Range<usize>,
    separators: &[Separator],
    size: ChunkSize,
    out: &mut Vec<Range<usize>>,
) -> Result<(), SplitError> {
    if size.length.measure(&text[range.clone()]) <= size.chunk {
        out.extend((!range.is_empty()).then_some(range));
        return Ok(());
    }
    let Some((separator, finer)) = separators.split_first() else {
        out.extend(words(text, range));
        return Ok(());
    };
    let matches = separator.find_all(&text[range.clone()])?;
    for piece in separators::split_at(range, &matches, KeepSeparator::End) {
        collect_pieces(text, piece, finer, size, out)?;
    }
    Ok(())
}

/// Returns words that may be tags, and every other character as its own piece.
fn words(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut in_tag = false;
    for character in separators::characters(text, range) {
        let is_tag_char = text[character.clone()].chars().all(is_tag_char);
        match words.last_mut() {
            Some(word) if in_tag && is_tag_char => word.end = character.end,
            _ => words.push(character),
        }
        in_tag = is_tag_char;
    }
    words
}

fn is_tag_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.' | '#' | '"')
}

fn merge_runs<'t>(
    text: &'t str,
    pieces: &[Range<usize>],
    size: ChunkSize,
    chunks: &mut ChunkList<'t>,
) -> Result<(), SplitError> {
    let mut start = 0;
    for (index, piece) in pieces.iter().enumerate() {
        if size.length.measure(&text[piece.clone()]) > size.chunk {
            merge(text, &pieces[start..index], Join::Nothing, size, chunks)?;
            push_exact(text, piece.clone(), size.strip, chunks)?;
            start = index + 1;
        }
    }
    merge(text, &pieces[start..], Join::Nothing, size, chunks)
}

//! Splitting that leaves the tags of equipment whole.
//!
//! A tag has no blank in it, so that only the last resort of cutting between characters can harm it. Here a text is cut
//! at paragraphs, lines, ends of sentences, words, and at last between any two characters that are not of one word of
//! letters, digits and the signs that tags are written with.

use std::ops::Range;

use super::cut::{self, Keep, Separator};
use super::merge::{CHUNK_OVERLAP, CHUNK_SIZE, Join, LENGTH, STRIP, Size, merge, push_exact};
use super::parameters::Parameters;
use super::room::Chunks;
use super::{Chunk, Embed, Refusal, Split, Splitter};

/// The row.
pub const TAG_AWARE: Splitter = Splitter {
    name: "tag_aware",
    summary: "as recursive_character, but tags of equipment such as PSV-2015A or 20-PR-0107 are never cut; ours",
    parameters: &[CHUNK_SIZE, CHUNK_OVERLAP, LENGTH, STRIP],
    build: |parameters| Ok(Box::new(TagAware::new(parameters)?)),
};

struct TagAware {
    separators: Vec<Separator>,
    size: Size,
}

impl TagAware {
    fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        let separators = ["\n\n", "\n", ". ", " "].iter().map(|text| Separator::new("", text, false));
        Ok(TagAware { separators: separators.collect::<Result<_, _>>()?, size: Size::of(parameters)? })
    }
}

impl Split for TagAware {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, Refusal> {
        let size = Size { length: self.size.length.for_text(text), ..self.size };
        let mut pieces = Vec::new();
        atoms(text, 0..text.len(), &self.separators, size, &mut pieces)?;
        let mut chunks = Chunks::of(text);
        merge_runs(text, &pieces, size, &mut chunks)?;
        Ok(chunks.into_list())
    }
}

/// The coarsest pieces that are short enough, in order.
fn atoms(
    text: &str,
    whole: Range<usize>,
    separators: &[Separator],
    size: Size,
    out: &mut Vec<Range<usize>>,
) -> Result<(), Refusal> {
    if size.length.of(&text[whole.clone()]) <= size.chunk {
        out.extend((!whole.is_empty()).then_some(whole));
        return Ok(());
    }
    let Some((separator, finer)) = separators.split_first() else {
        out.extend(words(text, whole));
        return Ok(());
    };
    let places = separator.places(&text[whole.clone()])?;
    for piece in cut::pieces(whole, &places, Keep::End) {
        atoms(text, piece, finer, size, out)?;
    }
    Ok(())
}

/// Words that could be tags, and every other character alone.
fn words(text: &str, whole: Range<usize>) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut goes_on = false;
    for character in cut::characters(text, whole) {
        let is_of_tag = text[character.clone()].chars().all(is_of_tag);
        match words.last_mut() {
            Some(word) if goes_on && is_of_tag => word.end = character.end,
            _ => words.push(character),
        }
        goes_on = is_of_tag;
    }
    words
}

fn is_of_tag(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/' | '.' | '#' | '"')
}

fn merge_runs<'t>(text: &'t str, pieces: &[Range<usize>], size: Size, chunks: &mut Chunks<'t>) -> Result<(), Refusal> {
    let mut from = 0;
    for (at, piece) in pieces.iter().enumerate() {
        if size.length.of(&text[piece.clone()]) > size.chunk {
            merge(text, &pieces[from..at], Join::Nothing, size, chunks)?;
            push_exact(text, piece.clone(), size.strip, chunks)?;
            from = at + 1;
        }
    }
    merge(text, &pieces[from..], Join::Nothing, size, chunks)
}

//! The `token` splitter: windows of a fixed number of tokens.

use super::length::{ENCODINGS, Encoding};
use super::merge::{CHUNK_OVERLAP, CHUNK_SIZE};
use super::parameters::{Parameter, ParameterKind, Parameters};
use super::size_limit::ChunkList;
use super::{Chunk, Embed, Split, SplitError, Splitter};

/// The `token` splitter.
pub const TOKEN: Splitter = Splitter {
    name: "token",
    summary: "windows of a fixed number of tokens; a character that is split between windows becomes U+FFFD",
    parameters: &[
        CHUNK_SIZE,
        CHUNK_OVERLAP,
        Parameter {
            name: "encoding",
            kind: ParameterKind::OneOf(ENCODINGS),
            default: "\"cl100k_base\"",
            summary: "the token encoding",
        },
    ],
    build: |parameters| Ok(Box::new(TokenSplitter::new(parameters)?)),
};

struct TokenSplitter {
    size: usize,
    step: usize,
    encoding: Encoding,
}

impl TokenSplitter {
    fn new(parameters: &Parameters) -> Result<Self, SplitError> {
        let (size, overlap) = (parameters.count("chunk_size")?, parameters.count("chunk_overlap")?);
        if overlap >= size {
            return Err(SplitError::parameter(
                "chunk_overlap",
                format!("must be < chunk_size ({size}), got {overlap}"),
            ));
        }
        Ok(TokenSplitter { size, step: size - overlap, encoding: Encoding::from_name(parameters.text("encoding")) })
    }
}

impl Split for TokenSplitter {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, SplitError> {
        let ends = token_ends(self.encoding, text)?;
        let mut chunks = ChunkList::for_text(text);
        let mut first = 0;
        while first < ends.len() {
            let last = (first + self.size).min(ends.len());
            let start = if first == 0 { 0 } else { ends[first - 1] };
            chunks.push(window(text, start, ends[last - 1]))?;
            if last == ends.len() {
                break;
            }
            first += self.step;
        }
        Ok(chunks.into_vec())
    }
}

/// Returns the byte offset of each token's end, which may be inside a character.
fn token_ends(encoding: Encoding, text: &str) -> Result<Vec<usize>, SplitError> {
    let tokens = encoding.vocabulary();
    let mut end = 0;
    let mut ends = Vec::new();
    for token in encoding.encode(text) {
        let bytes = tokens.decode_bytes(&[token]).map_err(|error| SplitError::text(error.to_string()))?;
        end += bytes.len();
        ends.push(end);
    }
    Ok(ends)
}

fn window(text: &str, start: usize, end: usize) -> Chunk<'_> {
    if text.is_char_boundary(start) && text.is_char_boundary(end) {
        return Chunk::exact(text, start..end);
    }
    let lossy = String::from_utf8_lossy(&text.as_bytes()[start..end]).into_owned();
    Chunk::composed(lossy, Some(text.floor_char_boundary(start)..ceil_char_boundary(text, end)))
}

fn ceil_char_boundary(text: &str, index: usize) -> usize {
    (index..=text.len()).find(|&index| text.is_char_boundary(index)).unwrap_or(text.len())
}

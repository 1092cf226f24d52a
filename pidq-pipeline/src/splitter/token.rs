//! Windows of tokens of a vocabulary.

use super::length::{ENCODINGS, Encoding};
use super::merge::{CHUNK_OVERLAP, CHUNK_SIZE};
use super::parameters::{Kind, Parameter, Parameters};
use super::room::Chunks;
use super::{Chunk, Embed, Refusal, Split, Splitter};

/// The row.
pub const TOKEN: Splitter = Splitter {
    name: "token",
    summary: "windows of so many tokens; a character that a window cuts becomes U+FFFD",
    parameters: &[
        CHUNK_SIZE,
        CHUNK_OVERLAP,
        Parameter {
            name: "encoding",
            kind: Kind::OneOf(ENCODINGS),
            default: "\"cl100k_base\"",
            summary: "the vocabulary",
        },
    ],
    build: |parameters| Ok(Box::new(Windows::new(parameters)?)),
};

struct Windows {
    size: usize,
    step: usize,
    encoding: Encoding,
}

impl Windows {
    fn new(parameters: &Parameters) -> Result<Self, Refusal> {
        let (size, overlap) = (parameters.count("chunk_size")?, parameters.count("chunk_overlap")?);
        if overlap >= size {
            return Err(Refusal::of("chunk_overlap", format!("must be < chunk_size ({size}), got {overlap}")));
        }
        Ok(Windows { size, step: size - overlap, encoding: Encoding::of_name(parameters.text("encoding")) })
    }
}

impl Split for Windows {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, Refusal> {
        let ends = ends_of_tokens(self.encoding, text)?;
        let mut chunks = Chunks::of(text);
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
        Ok(chunks.into_list())
    }
}

/// Where each token ends, in bytes. Tokens may end within a character.
fn ends_of_tokens(encoding: Encoding, text: &str) -> Result<Vec<usize>, Refusal> {
    let tokens = encoding.tokens();
    let mut end = 0;
    let mut ends = Vec::new();
    for token in encoding.of_text(text) {
        let bytes = tokens.decode_bytes(&[token]).map_err(|error| Refusal::text(error.to_string()))?;
        end += bytes.len();
        ends.push(end);
    }
    Ok(ends)
}

fn window(text: &str, start: usize, end: usize) -> Chunk<'_> {
    if text.is_char_boundary(start) && text.is_char_boundary(end) {
        return Chunk::exact(text, start..end);
    }
    let made = String::from_utf8_lossy(&text.as_bytes()[start..end]).into_owned();
    Chunk::made(made, Some(text.floor_char_boundary(start)..ceil(text, end)))
}

fn ceil(text: &str, at: usize) -> usize {
    (at..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap_or(text.len())
}

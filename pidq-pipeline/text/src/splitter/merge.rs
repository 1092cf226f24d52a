//! Merging of pieces into chunks of limited size with overlap.

use std::collections::VecDeque;
use std::ops::Range;

use super::length::{LengthUnit, is_space};
use super::parameters::{Parameter, ParameterKind, Parameters};
use super::size_limit::ChunkList;
use super::{Chunk, SplitError};

/// Size options of chunks.
#[derive(Clone, Copy, Debug)]
pub struct ChunkSize {
    /// Maximum length of a chunk, if the pieces allow it.
    pub chunk: usize,
    /// Maximum overlap of consecutive chunks.
    pub overlap: usize,
    /// Unit of lengths.
    pub length: LengthUnit,
    /// `true` if white space around chunks is removed.
    pub strip: bool,
}

/// Joining of pieces.
#[derive(Clone, Copy, Debug)]
pub enum Join<'s> {
    /// Without a separator.
    Nothing,
    /// With the separator as given; of a pattern, its source.
    Text(&'s str),
}

/// The parameter `chunk_size`.
pub const CHUNK_SIZE: Parameter = Parameter {
    name: "chunk_size",
    kind: ParameterKind::Integer,
    default: "1000",
    summary: "maximum length of a chunk",
};
/// The parameter `chunk_overlap`.
pub const CHUNK_OVERLAP: Parameter = Parameter {
    name: "chunk_overlap",
    kind: ParameterKind::Integer,
    default: "200",
    summary: "maximum length shared by consecutive chunks",
};
/// The parameter `length`.
pub const LENGTH: Parameter = Parameter {
    name: "length",
    kind: ParameterKind::OneOf(super::length::LENGTH_UNITS),
    default: "\"chars\"",
    summary: "unit of lengths",
};
/// The parameter `strip_whitespace`.
pub const STRIP: Parameter = Parameter {
    name: "strip_whitespace",
    kind: ParameterKind::Flag,
    default: "true",
    summary: "whether white space around a chunk is removed",
};

impl ChunkSize {
    /// Reads the size parameters.
    ///
    /// # Errors
    /// Fails if the size is not positive, or the overlap exceeds it.
    pub fn from_parameters(parameters: &Parameters) -> Result<ChunkSize, SplitError> {
        let (chunk, overlap) = (parameters.integer("chunk_size"), parameters.integer("chunk_overlap"));
        if chunk <= 0 {
            return Err(SplitError::parameter("chunk_size", format!("must be > 0, got {chunk}")));
        }
        let (chunk, overlap) = (chunk as usize, usize::try_from(overlap).map_err(|_| negative_overlap(overlap))?);
        if overlap > chunk {
            return Err(SplitError::parameter(
                "chunk_overlap",
                format!("must be <= chunk_size ({chunk}), got {overlap}"),
            ));
        }
        let length = LengthUnit::from_name(parameters.text("length"));
        Ok(ChunkSize { chunk, overlap, length, strip: parameters.value("strip_whitespace") != false })
    }
}

fn negative_overlap(overlap: i64) -> SplitError {
    SplitError::parameter("chunk_overlap", format!("must be >= 0, got {overlap}"))
}

/// A piece and its length.
struct Piece {
    span: Range<usize>,
    length: usize,
}

/// Merges pieces of a text and adds each chunk to `chunks`.
///
/// # Errors
/// Fails if the chunks exceed the size limit.
pub fn merge<'t>(
    text: &'t str,
    pieces: &[Range<usize>],
    join: Join<'_>,
    size: ChunkSize,
    chunks: &mut ChunkList<'t>,
) -> Result<(), SplitError> {
    let separator = match join {
        Join::Nothing => "",
        Join::Text(separator) => separator,
    };
    let separator_length = size.length.measure(separator);
    let mut chunk = ChunkBuilder { text, separator, separator_length, size, pieces: VecDeque::new(), total: 0 };
    for span in pieces {
        chunk.add(Piece { span: span.clone(), length: size.length.measure_part(text, span) }, chunks)?;
    }
    chunk.emit(chunks)
}

/// A chunk under construction.
struct ChunkBuilder<'t, 's> {
    text: &'t str,
    separator: &'s str,
    /// Length of the separator.
    separator_length: usize,
    size: ChunkSize,
    pieces: VecDeque<Piece>,
    total: usize,
}

impl<'t> ChunkBuilder<'t, '_> {
    fn add(&mut self, piece: Piece, chunks: &mut ChunkList<'t>) -> Result<(), SplitError> {
        if self.overflows(&piece) && !self.pieces.is_empty() {
            self.emit(chunks)?;
            self.trim_to_overlap(&piece);
        }
        self.total += piece.length + self.next_separator_length();
        self.pieces.push_back(piece);
        Ok(())
    }

    fn overflows(&self, next: &Piece) -> bool {
        self.total + next.length + self.next_separator_length() > self.size.chunk
    }

    fn next_separator_length(&self) -> usize {
        if self.pieces.is_empty() { 0 } else { self.separator_length }
    }

    /// Drops pieces from the front until the rest is within the overlap and the next piece fits.
    fn trim_to_overlap(&mut self, next: &Piece) {
        while self.total > self.size.overlap || (self.overflows(next) && self.total > 0) {
            let Some(first) = self.pieces.pop_front() else { break };
            self.total -= first.length + self.next_separator_length();
        }
    }

    fn emit(&self, chunks: &mut ChunkList<'t>) -> Result<(), SplitError> {
        let (Some(first), Some(last)) = (self.pieces.front(), self.pieces.back()) else { return Ok(()) };
        let span = first.span.start..last.span.end;
        if self.is_contiguous() {
            push_exact(self.text, span, self.size.strip, chunks)
        } else {
            self.emit_composed(span, chunks)
        }
    }

    /// Returns whether the joined pieces equal the text: only one separator was between any two.
    fn is_contiguous(&self) -> bool {
        let mut pairs = self.pieces.iter().zip(self.pieces.iter().skip(1));
        if self.separator.is_empty() {
            return pairs.all(|(a, b)| a.span.end == b.span.start);
        }
        pairs.all(|(a, b)| &self.text[a.span.end..b.span.start] == self.separator)
    }

    fn emit_composed(&self, span: Range<usize>, chunks: &mut ChunkList<'t>) -> Result<(), SplitError> {
        let parts: Vec<_> = self.pieces.iter().map(|piece| &self.text[piece.span.clone()]).collect();
        let joined = parts.join(self.separator);
        let text = if self.size.strip { joined.trim_matches(is_space) } else { &joined };
        if text.is_empty() { Ok(()) } else { chunks.push(Chunk::composed(text.to_owned(), Some(span))) }
    }
}

/// Adds a span of the text as a chunk, unless it is empty.
///
/// # Errors
/// Fails if the chunks exceed the size limit.
pub fn push_exact<'t>(
    text: &'t str,
    span: Range<usize>,
    strip: bool,
    chunks: &mut ChunkList<'t>,
) -> Result<(), SplitError> {
    let span = if strip { stripped(text, span) } else { span };
    if span.is_empty() { Ok(()) } else { chunks.push(Chunk::exact(text, span)) }
}

/// Returns a span without surrounding white space.
pub fn stripped(text: &str, span: Range<usize>) -> Range<usize> {
    let inside = &text[span.clone()];
    let start = span.start + inside.len() - inside.trim_start_matches(is_space).len();
    start..start + text[start..span.end].trim_end_matches(is_space).len()
}

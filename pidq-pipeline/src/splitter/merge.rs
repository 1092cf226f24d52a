//! Small pieces put together until a chunk is full, and the overlap of one chunk with the next.

use std::collections::VecDeque;
use std::ops::Range;

use super::length::{Length, is_space};
use super::parameters::{Kind, Parameter, Parameters};
use super::room::Chunks;
use super::{Chunk, Refusal};

/// How large chunks are.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// At most so long, where pieces allow it.
    pub chunk: usize,
    /// At most so much of one chunk is in the next.
    pub overlap: usize,
    /// What is counted.
    pub length: Length,
    /// Whether white space around chunks is dropped.
    pub strip: bool,
}

/// How pieces are joined.
#[derive(Clone, Copy, Debug)]
pub enum Join<'s> {
    /// They follow each other.
    Nothing,
    /// With the separator between them, as it was given: the source of a pattern stands for itself.
    Text(&'s str),
}

/// The size of a chunk.
pub const CHUNK_SIZE: Parameter =
    Parameter { name: "chunk_size", kind: Kind::Integer, default: "1000", summary: "how long a chunk may be" };
/// How much chunks share.
pub const CHUNK_OVERLAP: Parameter = Parameter {
    name: "chunk_overlap",
    kind: Kind::Integer,
    default: "200",
    summary: "how much of a chunk may be in the next one too",
};
/// The unit.
pub const LENGTH: Parameter = Parameter {
    name: "length",
    kind: Kind::OneOf(super::length::LENGTHS),
    default: "\"chars\"",
    summary: "what is counted",
};
/// White space around chunks.
pub const STRIP: Parameter = Parameter {
    name: "strip_whitespace",
    kind: Kind::Flag,
    default: "true",
    summary: "whether white space around a chunk is dropped",
};

impl Size {
    /// Reads the parameters of a size.
    ///
    /// # Errors
    /// If a chunk has no size, or the overlap does not fit in it.
    pub fn of(parameters: &Parameters) -> Result<Size, Refusal> {
        let (chunk, overlap) = (parameters.integer("chunk_size"), parameters.integer("chunk_overlap"));
        if chunk <= 0 {
            return Err(Refusal::of("chunk_size", format!("must be > 0, got {chunk}")));
        }
        let (chunk, overlap) = (chunk as usize, usize::try_from(overlap).map_err(|_| negative(overlap))?);
        if overlap > chunk {
            return Err(Refusal::of("chunk_overlap", format!("must be <= chunk_size ({chunk}), got {overlap}")));
        }
        let length = Length::of_name(parameters.text("length"));
        Ok(Size { chunk, overlap, length, strip: parameters.value("strip_whitespace") != false })
    }
}

fn negative(overlap: i64) -> Refusal {
    Refusal::of("chunk_overlap", format!("must be >= 0, got {overlap}"))
}

/// A piece and how long it is.
struct Piece {
    span: Range<usize>,
    length: usize,
}

/// Puts pieces of a text together and gives each chunk to `emit`.
///
/// # Errors
/// If there is no room for the chunks.
pub fn merge<'t>(
    text: &'t str,
    pieces: &[Range<usize>],
    join: Join<'_>,
    size: Size,
    emit: &mut Chunks<'t>,
) -> Result<(), Refusal> {
    let separator = match join {
        Join::Nothing => "",
        Join::Text(separator) => separator,
    };
    let joint = size.length.of(separator);
    let mut chunk = Growing { text, separator, joint, size, pieces: VecDeque::new(), total: 0 };
    for span in pieces {
        chunk.add(Piece { span: span.clone(), length: size.length.of_part(text, span) }, emit)?;
    }
    chunk.emit(emit)
}

/// A chunk that is not full yet.
struct Growing<'t, 's> {
    text: &'t str,
    separator: &'s str,
    /// How long the separator is.
    joint: usize,
    size: Size,
    pieces: VecDeque<Piece>,
    total: usize,
}

impl<'t> Growing<'t, '_> {
    fn add(&mut self, piece: Piece, emit: &mut Chunks<'t>) -> Result<(), Refusal> {
        if self.overflows(&piece) && !self.pieces.is_empty() {
            self.emit(emit)?;
            self.leave_overlap(&piece);
        }
        self.total += piece.length + self.joint_before_next();
        self.pieces.push_back(piece);
        Ok(())
    }

    fn overflows(&self, next: &Piece) -> bool {
        self.total + next.length + self.joint_before_next() > self.size.chunk
    }

    fn joint_before_next(&self) -> usize {
        if self.pieces.is_empty() { 0 } else { self.joint }
    }

    /// Drops pieces from the front until the rest is an overlap, and leaves room for the next piece.
    fn leave_overlap(&mut self, next: &Piece) {
        while self.total > self.size.overlap || (self.overflows(next) && self.total > 0) {
            let Some(first) = self.pieces.pop_front() else { break };
            self.total -= first.length + self.joint_before_next();
        }
    }

    fn emit(&self, emit: &mut Chunks<'t>) -> Result<(), Refusal> {
        let (Some(first), Some(last)) = (self.pieces.front(), self.pieces.back()) else { return Ok(()) };
        let span = first.span.start..last.span.end;
        if self.is_as_written() {
            push_exact(self.text, span, self.size.strip, emit)
        } else {
            self.emit_made(span, emit)
        }
    }

    /// Whether the joined pieces are what stands in the text: nothing but one separator was between any two.
    fn is_as_written(&self) -> bool {
        let mut pairs = self.pieces.iter().zip(self.pieces.iter().skip(1));
        if self.separator.is_empty() {
            return pairs.all(|(a, b)| a.span.end == b.span.start);
        }
        pairs.all(|(a, b)| &self.text[a.span.end..b.span.start] == self.separator)
    }

    fn emit_made(&self, span: Range<usize>, emit: &mut Chunks<'t>) -> Result<(), Refusal> {
        let parts: Vec<_> = self.pieces.iter().map(|piece| &self.text[piece.span.clone()]).collect();
        let made = parts.join(self.separator);
        let text = if self.size.strip { made.trim_matches(is_space) } else { &made };
        if text.is_empty() { Ok(()) } else { emit.push(Chunk::made(text.to_owned(), Some(span))) }
    }
}

/// A span of the text as a chunk, unless nothing is left of it.
///
/// # Errors
/// If there is no room for it.
pub fn push_exact<'t>(text: &'t str, span: Range<usize>, strip: bool, emit: &mut Chunks<'t>) -> Result<(), Refusal> {
    let span = if strip { stripped(text, span) } else { span };
    if span.is_empty() { Ok(()) } else { emit.push(Chunk::exact(text, span)) }
}

/// A span without the white space around it.
pub fn stripped(text: &str, span: Range<usize>) -> Range<usize> {
    let inside = &text[span.clone()];
    let start = span.start + inside.len() - inside.trim_start_matches(is_space).len();
    start..start + text[start..span.end].trim_end_matches(is_space).len()
}

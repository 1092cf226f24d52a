//! The chunks of a text so far, and how much they may hold together.

use super::{Chunk, Refusal};

/// What chunks may hold of any text.
const LEAST: usize = 64 << 20;
/// And how often they may repeat each byte of it: overlaps and headings stand in more than one.
const TIMES: usize = 8;

/// Room for chunks. Without a bound a text of a megabyte makes a terabyte of them: with overlaps that are nearly as long
/// as chunks, or under a heading of half its length.
pub struct Room {
    left: usize,
}

impl Room {
    /// The room that chunks of a text have.
    pub fn of(text: &str) -> Self {
        Room { left: LEAST + TIMES * text.len() }
    }

    /// Takes so many bytes of it.
    ///
    /// # Errors
    /// If there are not so many left.
    pub fn take(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.left = self.left.checked_sub(bytes).ok_or_else(Refusal::too_much)?;
        Ok(())
    }
}

/// Chunks in order.
pub struct Chunks<'t> {
    pub room: Room,
    chunks: Vec<Chunk<'t>>,
}

impl<'t> Chunks<'t> {
    /// None yet.
    pub fn of(text: &str) -> Self {
        Chunks { room: Room::of(text), chunks: Vec::new() }
    }

    /// Adds one.
    ///
    /// # Errors
    /// If there is no room for it.
    pub fn push(&mut self, chunk: Chunk<'t>) -> Result<(), Refusal> {
        let headings: usize = chunk.headings.iter().map(|(name, heading)| name.len() + heading.len()).sum();
        // What stands in its place is what is kept of it, and may be more than it says.
        let text = chunk.text.len().max(chunk.span.as_ref().map_or(0, |span| span.len()));
        self.room.take(size_of::<Chunk<'_>>() + text + headings)?;
        self.chunks.push(chunk);
        Ok(())
    }

    /// The one that was added last.
    pub fn last_mut(&mut self) -> Option<&mut Chunk<'t>> {
        self.chunks.last_mut()
    }

    /// All of them.
    pub fn into_list(self) -> Vec<Chunk<'t>> {
        self.chunks
    }
}

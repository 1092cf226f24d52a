//! Size limit of the chunks of a text.

use super::{Chunk, SplitError};

/// Size that is allowed for any text, in bytes.
const MIN_LIMIT: usize = 64 << 20;
/// Allowed repetition of the text: overlaps and headings are in more than one chunk.
const MAX_REPETITION: usize = 8;

/// Remaining size for chunks. Without a limit, a text of a megabyte can produce a terabyte of chunks: with overlaps nearly
/// as long as chunks, or under a heading of half its length.
pub struct SizeLimit {
    remaining: usize,
}

impl SizeLimit {
    /// Returns the limit for the chunks of a text.
    pub fn for_text(text: &str) -> Self {
        SizeLimit { remaining: MIN_LIMIT + MAX_REPETITION * text.len() }
    }

    /// Charges a number of bytes.
    ///
    /// # Errors
    /// Fails if the limit is exceeded.
    pub fn charge(&mut self, bytes: usize) -> Result<(), SplitError> {
        self.remaining = self.remaining.checked_sub(bytes).ok_or_else(SplitError::too_large)?;
        Ok(())
    }
}

/// List of chunks with a size limit.
pub struct ChunkList<'t> {
    pub limit: SizeLimit,
    chunks: Vec<Chunk<'t>>,
}

impl<'t> ChunkList<'t> {
    /// Creates an empty list for the chunks of a text.
    pub fn for_text(text: &str) -> Self {
        ChunkList { limit: SizeLimit::for_text(text), chunks: Vec::new() }
    }

    /// Adds a chunk.
    ///
    /// # Errors
    /// Fails if the limit is exceeded.
    pub fn push(&mut self, chunk: Chunk<'t>) -> Result<(), SplitError> {
        let headings: usize = chunk.headings.iter().map(|(name, heading)| name.len() + heading.len()).sum();
        // The span is stored instead of the text and may be longer.
        let text = chunk.text.len().max(chunk.span.as_ref().map_or(0, |span| span.len()));
        self.limit.charge(size_of::<Chunk<'_>>() + text + headings)?;
        self.chunks.push(chunk);
        Ok(())
    }

    /// Returns the last chunk.
    pub fn last_mut(&mut self) -> Option<&mut Chunk<'t>> {
        self.chunks.last_mut()
    }

    /// Returns all chunks.
    pub fn into_vec(self) -> Vec<Chunk<'t>> {
        self.chunks
    }
}

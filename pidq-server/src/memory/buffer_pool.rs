//! Pool of response buffers. Reusing memory is cheaper than touching fresh pages.

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::store::lock;

/// Size of a regular buffer in bytes.
const BUFFER_SIZE: usize = 256 << 10;
/// Size of a large buffer in bytes. The kernel wakes the reader for each buffer, which costs more than the copy, so
/// fewer and larger buffers are faster as long as one fits into the CPU cache. Slow readers would pin much memory, so
/// their number is limited.
pub(crate) const LARGE_BUFFER_SIZE: usize = 1 << 20;
/// Number of regular buffers kept for reuse, and total number of large buffers.
const POOLED_LIMIT: usize = 16;
const LARGE_BUFFER_LIMIT: usize = 8;

/// Pool of free buffers.
#[derive(Debug, Default)]
pub struct BufferPool(Mutex<FreeBuffers>);

#[derive(Debug, Default)]
struct FreeBuffers {
    regular: Vec<Vec<u8>>,
    large: Vec<Vec<u8>>,
    /// Number of large buffers in existence, including those in use.
    large_count: usize,
}

/// Buffer that returns to its pool when dropped.
struct PooledBuffer {
    bytes: Vec<u8>,
    pool: Arc<BufferPool>,
}

impl BufferPool {
    /// Fills a buffer with at most `limit` bytes. `write` gets the buffer and the number of bytes it may write.
    pub(crate) fn fill(self: &Arc<BufferPool>, limit: usize, write: impl FnOnce(&mut Vec<u8>, usize)) -> Bytes {
        // The buffer returns to the pool even if `write` panics.
        let mut buffer = PooledBuffer { bytes: lock(&self.0).take(limit), pool: self.clone() };
        let limit = limit.min(buffer.bytes.capacity());
        write(&mut buffer.bytes, limit);
        Bytes::from_owner(buffer)
    }
}

impl FreeBuffers {
    /// Returns a buffer for up to `limit` bytes; it may be smaller.
    fn take(&mut self, limit: usize) -> Vec<u8> {
        if limit > BUFFER_SIZE {
            let may_allocate = self.large.is_empty() && self.large_count < LARGE_BUFFER_LIMIT;
            self.large_count += usize::from(may_allocate);
            if let Some(large) =
                self.large.pop().or_else(|| may_allocate.then(|| Vec::with_capacity(LARGE_BUFFER_SIZE)))
            {
                return large;
            }
        }
        self.regular.pop().unwrap_or_else(|| Vec::with_capacity(BUFFER_SIZE))
    }

    fn put_back(&mut self, mut bytes: Vec<u8>) {
        bytes.clear();
        match bytes.capacity() {
            LARGE_BUFFER_SIZE => self.large.push(bytes),
            BUFFER_SIZE if self.regular.len() < POOLED_LIMIT => self.regular.push(bytes),
            _ => {}
        }
    }
}

impl AsRef<[u8]> for PooledBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        lock(&self.pool.0).put_back(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sent_buffer_is_reused() {
        let buffers = Arc::new(BufferPool::default());
        let write = |text: &'static str| buffers.fill(text.len(), |bytes, _| bytes.extend(text.bytes()));
        let (first, second) = (write("a"), write("b"));
        let address = first.as_ptr();
        assert_eq!((&first[..], &second[..]), (&b"a"[..], &b"b"[..]));
        drop(first);
        let third = write("c");
        assert_eq!((third.as_ptr(), &third[..]), (address, &b"c"[..]));
    }

    /// Fills a buffer completely.
    fn filled(buffers: &Arc<BufferPool>, limit: usize) -> Bytes {
        buffers.fill(limit, |bytes, limit| bytes.resize(limit, 0))
    }

    #[test]
    fn pooled_buffers_are_bounded() {
        let buffers = Arc::new(BufferPool::default());
        drop((0..2 * POOLED_LIMIT).map(|_| filled(&buffers, 1)).collect::<Vec<_>>());
        assert_eq!(lock(&buffers.0).regular.len(), POOLED_LIMIT);
    }

    #[test]
    fn without_a_free_large_buffer_a_regular_one_is_used() {
        let buffers = Arc::new(BufferPool::default());
        let buffer: Vec<Bytes> = (0..LARGE_BUFFER_LIMIT + 1).map(|_| filled(&buffers, usize::MAX)).collect();
        let lens: Vec<usize> = buffer.iter().map(Bytes::len).collect();
        assert_eq!(lens, [vec![LARGE_BUFFER_SIZE; LARGE_BUFFER_LIMIT], vec![BUFFER_SIZE]].concat());
        drop(buffer);
        assert_eq!(
            [BUFFER_SIZE, BUFFER_SIZE + 1, usize::MAX].map(|limit| filled(&buffers, limit).len()),
            [BUFFER_SIZE, BUFFER_SIZE + 1, LARGE_BUFFER_SIZE]
        );
        assert_eq!(lock(&buffers.0).large_count, LARGE_BUFFER_LIMIT);
    }
}

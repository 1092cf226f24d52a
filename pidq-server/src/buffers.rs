//! Memory that answers are written into, used again and again: touching fresh memory costs more than filling it.

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::store::held;

/// Bytes of a buffer. With less the kernel wakes the reader for each, which costs more than what it copies; with more it would
/// not stay in the cache of a processor.
pub(crate) const FRAME: usize = 256 << 10;
/// Buffers that are kept for the next answers.
const KEPT: usize = 32;

/// Buffers that nobody uses now.
#[derive(Debug, Default)]
pub struct Buffers(Mutex<Vec<Vec<u8>>>);

/// A buffer that goes back when it has been sent.
struct Lent {
    bytes: Vec<u8>,
    home: Arc<Buffers>,
}

impl Buffers {
    /// What is written into a buffer. It must not become longer than that.
    pub(crate) fn fill(self: &Arc<Buffers>, write: impl FnOnce(&mut Vec<u8>)) -> Bytes {
        let free = held(&self.0).pop();
        let mut bytes = free.unwrap_or_else(|| Vec::with_capacity(FRAME));
        write(&mut bytes);
        Bytes::from_owner(Lent { bytes, home: self.clone() })
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        let mut free = held(&self.home.0);
        if free.len() < KEPT && bytes.capacity() == FRAME {
            free.push(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_when_it_was_sent() {
        let buffers = Arc::new(Buffers::default());
        let write = |text: &'static str| buffers.fill(|bytes| bytes.extend(text.bytes()));
        let (first, second) = (write("a"), write("b"));
        let place = first.as_ptr();
        assert_eq!((&first[..], &second[..]), (&b"a"[..], &b"b"[..]));
        drop(first);
        let third = write("c");
        assert_eq!((third.as_ptr(), &third[..]), (place, &b"c"[..]));
    }

    #[test]
    fn there_are_only_so_many() {
        let buffers = Arc::new(Buffers::default());
        drop((0..2 * KEPT).map(|_| buffers.fill(|_| ())).collect::<Vec<_>>());
        assert_eq!(held(&buffers.0).len(), KEPT);
    }
}

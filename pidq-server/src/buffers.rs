//! Memory that answers are written into, used again and again: touching fresh memory costs more than filling it.

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use crate::store::held;

/// Bytes of a buffer.
const FRAME: usize = 256 << 10;
/// Bytes of a large one. The kernel wakes the reader for each that it is given, which costs more than copying them: the
/// fewer, the better, as long as one stays in the cache of a processor. Slow readers would hold much memory with these, so
/// there are few, for whoever finds one.
pub(crate) const LARGE: usize = 1 << 20;
/// Buffers that are kept for the next answers, and all the large ones.
const KEPT: usize = 16;
const LARGE_ONES: usize = 8;

/// Buffers that nobody uses now.
#[derive(Debug, Default)]
pub struct Buffers(Mutex<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    usual: Vec<Vec<u8>>,
    large: Vec<Vec<u8>>,
    /// How many large ones there are, also those that are lent out.
    large_ones: usize,
}

/// A buffer that goes back when it has been sent.
struct Lent {
    bytes: Vec<u8>,
    home: Arc<Buffers>,
}

impl Buffers {
    /// What is written into a buffer: so many bytes at most, and no more than are told to who writes.
    pub(crate) fn fill(self: &Arc<Buffers>, most: usize, write: impl FnOnce(&mut Vec<u8>, usize)) -> Bytes {
        // It goes back even where the writing fails.
        let mut lent = Lent { bytes: held(&self.0).take(most), home: self.clone() };
        let fits = most.min(lent.bytes.capacity());
        write(&mut lent.bytes, fits);
        Bytes::from_owner(lent)
    }
}

impl Shelf {
    /// A buffer for so many bytes, or for some of them.
    fn take(&mut self, most: usize) -> Vec<u8> {
        if most > FRAME {
            let may_be_made = self.large.is_empty() && self.large_ones < LARGE_ONES;
            self.large_ones += usize::from(may_be_made);
            if let Some(large) = self.large.pop().or_else(|| may_be_made.then(|| Vec::with_capacity(LARGE))) {
                return large;
            }
        }
        self.usual.pop().unwrap_or_else(|| Vec::with_capacity(FRAME))
    }

    fn put_back(&mut self, mut bytes: Vec<u8>) {
        bytes.clear();
        match bytes.capacity() {
            LARGE => self.large.push(bytes),
            FRAME if self.usual.len() < KEPT => self.usual.push(bytes),
            _ => {}
        }
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        held(&self.home.0).put_back(std::mem::take(&mut self.bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_used_again_when_it_was_sent() {
        let buffers = Arc::new(Buffers::default());
        let write = |text: &'static str| buffers.fill(text.len(), |bytes, _| bytes.extend(text.bytes()));
        let (first, second) = (write("a"), write("b"));
        let place = first.as_ptr();
        assert_eq!((&first[..], &second[..]), (&b"a"[..], &b"b"[..]));
        drop(first);
        let third = write("c");
        assert_eq!((third.as_ptr(), &third[..]), (place, &b"c"[..]));
    }

    /// As much as there is room for.
    fn filled(buffers: &Arc<Buffers>, most: usize) -> Bytes {
        buffers.fill(most, |bytes, until| bytes.resize(until, 0))
    }

    #[test]
    fn there_are_only_so_many() {
        let buffers = Arc::new(Buffers::default());
        drop((0..2 * KEPT).map(|_| filled(&buffers, 1)).collect::<Vec<_>>());
        assert_eq!(held(&buffers.0).usual.len(), KEPT);
    }

    #[test]
    fn who_finds_no_large_one_takes_what_there_is() {
        let buffers = Arc::new(Buffers::default());
        let lent: Vec<Bytes> = (0..LARGE_ONES + 1).map(|_| filled(&buffers, usize::MAX)).collect();
        let lens: Vec<usize> = lent.iter().map(Bytes::len).collect();
        assert_eq!(lens, [vec![LARGE; LARGE_ONES], vec![FRAME]].concat());
        drop(lent);
        assert_eq!([FRAME, FRAME + 1, usize::MAX].map(|most| filled(&buffers, most).len()), [FRAME, FRAME + 1, LARGE]);
        assert_eq!(held(&buffers.0).large_ones, LARGE_ONES);
    }
}

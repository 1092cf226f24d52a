//! Vectored bodies, sent without copying and with more slices per write than hyper uses.
//!
//! hyper writes at most 64 slices at a time, and a system call costs more than copying a few KiB. So hyper gets as
//! many slices as it requests, and the rest is registered with the connection, which writes it along with them. hyper
//! advances the body by the number of bytes written, and takes the remaining length from the body, not from the slices.

use std::io::IoSlice;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Buf;

/// Maximum number of slices per write (`IOV_MAX`).
const IOV_MAX: usize = 1024;
/// Minimum number of body slices for which the tail is registered. Some of hyper's 64 slices are for heads.
const MIN_SLICES: usize = 32;

/// Body that consists of parts in memory.
pub trait VectoredBody: Send + Sync + 'static {
    /// Returns the total size of the parts.
    fn size(&self) -> usize;
    /// Returns the part with this index; it may be empty. `None` after the last one.
    fn part(&self, index: usize) -> Option<&[u8]>;
}

/// Position within the parts.
#[derive(Clone, Copy, Default)]
struct Position {
    index: usize,
    offset: usize,
}

/// Remaining parts of a vectored body.
pub(crate) struct VectoredBuf {
    parts: Arc<dyn VectoredBody>,
    position: Position,
    remaining: usize,
    tail: Option<Arc<PendingTail>>,
}

impl VectoredBuf {
    pub fn new(parts: impl VectoredBody) -> Self {
        debug_assert_eq!(parts.size(), (0..).map_while(|index| parts.part(index)).map(<[u8]>::len).sum::<usize>());
        VectoredBuf { remaining: parts.size(), parts: Arc::new(parts), position: Position::default(), tail: None }
    }

    /// Attaches the slot of the connection that writes the tail.
    pub fn with_tail(self, tail: &Arc<PendingTail>) -> Self {
        VectoredBuf { tail: Some(tail.clone()), ..self }
    }

    fn rest(&self) -> impl Iterator<Item = (&[u8], Position)> {
        rest(&*self.parts, self.position)
    }
}

/// Returns the remaining parts from a position, each with the position after it.
fn rest(parts: &dyn VectoredBody, mut position: Position) -> impl Iterator<Item = (&[u8], Position)> {
    std::iter::from_fn(move || {
        loop {
            let text = &parts.part(position.index)?[position.offset..];
            position = Position { index: position.index + 1, offset: 0 };
            if !text.is_empty() {
                return Some((text, position));
            }
        }
    })
}

impl Buf for VectoredBuf {
    fn remaining(&self) -> usize {
        self.remaining
    }

    fn chunk(&self) -> &[u8] {
        self.rest().next().map_or(&[], |(text, _)| text)
    }

    fn chunks_vectored<'a>(&'a self, into: &mut [IoSlice<'a>]) -> usize {
        let (mut count, mut position_after) = (0, self.position);
        for (slice, (text, next)) in into.iter_mut().zip(self.rest()) {
            *slice = IoSlice::new(text);
            (count, position_after) = (count + 1, next);
        }
        let is_full = count == into.len() && count >= MIN_SLICES;
        if let Some(pending) = self.tail.as_ref().filter(|_| is_full) {
            pending.set(Tail { after: end(&into[count - 1]), parts: self.parts.clone(), position: position_after });
        }
        count
    }

    fn advance(&mut self, mut count: usize) {
        self.remaining -= count;
        while let Some(part) = self.parts.part(self.position.index).filter(|_| count > 0) {
            let taken = count.min(part.len() - self.position.offset);
            count -= taken;
            self.position.offset += taken;
            if self.position.offset == part.len() {
                self.position = Position { index: self.position.index + 1, offset: 0 };
            }
        }
    }
}

/// Rest of the body after the slices that hyper got last.
#[derive(Default)]
pub(crate) struct PendingTail(Mutex<Option<Tail>>);

/// Rest of a body after a slice.
pub(crate) struct Tail {
    /// End address of the slice.
    after: usize,
    parts: Arc<dyn VectoredBody>,
    position: Position,
}

impl PendingTail {
    fn set(&self, tail: Tail) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(tail);
    }

    /// Takes out the tail of these slices, if it is registered. It is never stale, since hyper writes immediately
    /// after requesting slices; the address shows whether other bytes follow, such as the end of a chunk.
    pub fn take(&self, slices: &[IoSlice<'_>]) -> Option<Tail> {
        let last = slices.get(MIN_SLICES - 1..)?.last()?;
        let tail = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        tail.filter(|tail| tail.after == end(last))
    }
}

impl Tail {
    /// Returns the slices, extended up to the size of one write.
    pub fn extended<'a>(&'a self, slices: &[IoSlice<'a>], max_write: usize) -> Vec<IoSlice<'a>> {
        let more = rest(&*self.parts, self.position).map(|(text, _)| IoSlice::new(text));
        let mut remaining = max_write;
        let fits = |slice: &IoSlice<'_>| {
            let has_capacity = remaining > 0;
            remaining = remaining.saturating_sub(slice.len());
            has_capacity
        };
        slices.iter().copied().chain(more).take(IOV_MAX).take_while(fits).collect()
    }
}

fn end(slice: &IoSlice<'_>) -> usize {
    slice.as_ptr_range().end.addr()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Texts(Vec<Vec<u8>>);

    impl VectoredBody for Texts {
        fn size(&self) -> usize {
            self.0.iter().map(Vec::len).sum()
        }

        fn part(&self, index: usize) -> Option<&[u8]> {
            self.0.get(index).map(Vec::as_slice)
        }
    }

    fn joined(slices: &[IoSlice<'_>]) -> Vec<u8> {
        slices.iter().flat_map(|slice| slice.iter().copied()).collect()
    }

    proptest! {
        /// Writes as hyper and the connection do: 64 slices and their tail, of which the kernel accepts a part.
        #[test]
        fn every_byte_is_written_once(lengths in prop::collection::vec(0_usize..9, 0..3000), taken in prop::collection::vec(1_usize..4000, 1..9), max_write in prop_oneof![Just(usize::MAX), 1_usize..4000]) {
            let mut bytes = (0_u8..=250).cycle();
            let texts: Vec<Vec<u8>> = lengths.iter().map(|length| bytes.by_ref().take(*length).collect()).collect();
            let (all, pending) = (texts.concat(), Arc::new(PendingTail::default()));
            let mut buf = VectoredBuf::new(Texts(texts)).with_tail(&pending);
            let (mut sent, mut taken) = (Vec::new(), taken.into_iter().cycle());
            while buf.has_remaining() {
                let mut slices = [IoSlice::new(&[]); 64];
                let count = buf.chunks_vectored(&mut slices);
                let tail = pending.take(&slices[..count]);
                let more = tail.as_ref().map_or_else(|| slices[..count].to_vec(), |tail| tail.extended(&slices[..count], max_write));
                prop_assert!(buf.chunk() == &*slices[0] && more.len() <= IOV_MAX);
                let mut written = joined(&more);
                prop_assert!(all[sent.len()..].starts_with(&written));
                let is_full = more.len() == IOV_MAX || written.len() >= max_write;
                prop_assert!(count < 64 || is_full || sent.len() + written.len() == all.len(), "{count}");
                written.truncate(taken.next().unwrap_or(1));
                buf.advance(written.len());
                sent.extend(written);
            }
            prop_assert!(sent == all);
            prop_assert_eq!(buf.chunk(), b"");
        }
    }

    #[test]
    fn a_tail_is_taken_once_and_only_for_its_slices() {
        let pending = Arc::new(PendingTail::default());
        let texts = || VectoredBuf::new(Texts(vec![b"part".to_vec(); 100])).with_tail(&pending);
        let (one, other) = (texts(), texts());
        let (mut slices, mut others) = ([IoSlice::new(&[]); 64], [IoSlice::new(&[]); 64]);
        one.chunks_vectored(&mut slices);
        assert_eq!(pending.take(&slices).map(|tail| tail.extended(&slices, usize::MAX).len()), Some(100));
        assert!(pending.take(&slices).is_none());
        one.chunks_vectored(&mut slices);
        other.chunks_vectored(&mut others);
        assert!(pending.take(&slices).is_none());
        assert!(pending.take(&others).is_none(), "a tail of other slices is discarded");
    }
}

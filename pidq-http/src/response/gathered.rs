//! Answers that lie in many places, sent from where they lie, with more of them in a write than hyper asks for.
//!
//! hyper writes 64 slices at a time, and a write costs the kernel more than to copy a few KiB. So hyper is given what it
//! has room for, and a note of what follows is left at the connection, which writes that along with it. hyper advances the
//! answer by as many bytes as it is told were written, and asks the answer, not the slices, how much is left.

use std::io::IoSlice;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Buf;

use super::body::Activity;

/// Slices that the kernel takes in one write (`IOV_MAX`).
const MOST: usize = 1024;
/// Of hyper's 64 slices some are for heads. Where there are fewer, no note is left, and none is looked for.
const MANY: usize = 32;

/// A body that lies in parts, which stay as they are.
pub trait Gathering: Send + Sync + 'static {
    /// Bytes of all parts together, exactly.
    fn size(&self) -> usize;
    /// The part with this number, counted from 0; it may be empty. Nothing behind the last one.
    fn part(&self, number: usize) -> Option<&[u8]>;
}

/// How far parts were sent.
#[derive(Clone, Copy, Default)]
struct Place {
    number: usize,
    offset: usize,
}

/// What is left of parts.
pub(crate) struct Gathered {
    parts: Arc<dyn Gathering>,
    place: Place,
    left: usize,
    connection: Option<Arc<Activity>>,
}

impl Gathered {
    pub fn new(parts: impl Gathering) -> Self {
        debug_assert_eq!(parts.size(), (0..).map_while(|number| parts.part(number)).map(<[u8]>::len).sum::<usize>());
        Gathered { left: parts.size(), parts: Arc::new(parts), place: Place::default(), connection: None }
    }

    /// The same on its way to a connection, which writes what follows along.
    pub fn on(self, connection: &Arc<Activity>) -> Self {
        Gathered { connection: Some(connection.clone()), ..self }
    }

    fn rest(&self) -> impl Iterator<Item = (&[u8], Place)> {
        rest(&*self.parts, self.place)
    }
}

/// What is left of parts from a place on, each with the place behind it.
fn rest(parts: &dyn Gathering, mut place: Place) -> impl Iterator<Item = (&[u8], Place)> {
    std::iter::from_fn(move || {
        loop {
            let text = &parts.part(place.number)?[place.offset..];
            place = Place { number: place.number + 1, offset: 0 };
            if !text.is_empty() {
                return Some((text, place));
            }
        }
    })
}

impl Buf for Gathered {
    fn remaining(&self) -> usize {
        self.left
    }

    fn chunk(&self) -> &[u8] {
        self.rest().next().map_or(&[], |(text, _)| text)
    }

    fn chunks_vectored<'a>(&'a self, into: &mut [IoSlice<'a>]) -> usize {
        let (mut count, mut behind) = (0, self.place);
        for (slice, (text, next)) in into.iter_mut().zip(self.rest()) {
            *slice = IoSlice::new(text);
            (count, behind) = (count + 1, next);
        }
        let is_full = count == into.len() && count >= MANY;
        if let Some(connection) = self.connection.as_ref().filter(|_| is_full) {
            let next = Next { after: end(&into[count - 1]), parts: self.parts.clone(), place: behind };
            connection.following.note(next);
        }
        count
    }

    fn advance(&mut self, mut count: usize) {
        self.left -= count;
        while let Some(part) = self.parts.part(self.place.number).filter(|_| count > 0) {
            let taken = count.min(part.len() - self.place.offset);
            count -= taken;
            self.place.offset += taken;
            if self.place.offset == part.len() {
                self.place = Place { number: self.place.number + 1, offset: 0 };
            }
        }
    }
}

/// What follows the slices that hyper was given last.
#[derive(Default)]
pub(crate) struct Following(Mutex<Option<Next>>);

/// What follows a slice.
pub(crate) struct Next {
    /// Where the slice ends.
    after: usize,
    parts: Arc<dyn Gathering>,
    place: Place,
}

impl Following {
    fn note(&self, next: Next) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
    }

    /// What follows these slices, if that is known. A note is never old, since hyper writes as soon as it has asked for
    /// slices; the address tells whether something else stands behind ours, like the end of a chunk.
    pub fn take(&self, slices: &[IoSlice<'_>]) -> Option<Next> {
        let last = slices.get(MANY - 1..)?.last()?;
        let next = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        next.filter(|next| next.after == end(last))
    }
}

impl Next {
    /// The slices, and as many more as a write takes that has room for so many bytes.
    pub fn along<'a>(&'a self, slices: &[IoSlice<'a>], room: usize) -> Vec<IoSlice<'a>> {
        let more = rest(&*self.parts, self.place).map(|(text, _)| IoSlice::new(text));
        let mut left = room;
        let fits = |slice: &IoSlice<'_>| {
            let has_room = left > 0;
            left = left.saturating_sub(slice.len());
            has_room
        };
        slices.iter().copied().chain(more).take(MOST).take_while(fits).collect()
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

    impl Gathering for Texts {
        fn size(&self) -> usize {
            self.0.iter().map(Vec::len).sum()
        }

        fn part(&self, number: usize) -> Option<&[u8]> {
            self.0.get(number).map(Vec::as_slice)
        }
    }

    fn joined(slices: &[IoSlice<'_>]) -> Vec<u8> {
        slices.iter().flat_map(|slice| slice.iter().copied()).collect()
    }

    proptest! {
        /// As hyper and the connection do it: 64 slices and what follows them, of which the kernel takes some.
        #[test]
        fn every_byte_is_written_once(lengths in prop::collection::vec(0_usize..9, 0..3000), taken in prop::collection::vec(1_usize..4000, 1..9), room in prop_oneof![Just(usize::MAX), 1_usize..4000]) {
            let mut bytes = (0_u8..=250).cycle();
            let texts: Vec<Vec<u8>> = lengths.iter().map(|length| bytes.by_ref().take(*length).collect()).collect();
            let (all, connection) = (texts.concat(), Arc::new(Activity::default()));
            let mut gathered = Gathered::new(Texts(texts)).on(&connection);
            let (mut sent, mut taken) = (Vec::new(), taken.into_iter().cycle());
            while gathered.has_remaining() {
                let mut slices = [IoSlice::new(&[]); 64];
                let count = gathered.chunks_vectored(&mut slices);
                let next = connection.following.take(&slices[..count]);
                let more = next.as_ref().map_or_else(|| slices[..count].to_vec(), |next| next.along(&slices[..count], room));
                prop_assert!(gathered.chunk() == &*slices[0] && more.len() <= MOST);
                let mut written = joined(&more);
                prop_assert!(all[sent.len()..].starts_with(&written));
                let is_full = more.len() == MOST || written.len() >= room;
                prop_assert!(count < 64 || is_full || sent.len() + written.len() == all.len(), "{count}");
                written.truncate(taken.next().unwrap_or(1));
                gathered.advance(written.len());
                sent.extend(written);
            }
            prop_assert!(sent == all);
            prop_assert_eq!(gathered.chunk(), b"");
        }
    }

    #[test]
    fn what_follows_is_told_once_and_only_for_its_own_slices() {
        let connection = Arc::new(Activity::default());
        let texts = || Gathered::new(Texts(vec![b"part".to_vec(); 100])).on(&connection);
        let (one, other) = (texts(), texts());
        let (mut slices, mut others) = ([IoSlice::new(&[]); 64], [IoSlice::new(&[]); 64]);
        one.chunks_vectored(&mut slices);
        assert_eq!(connection.following.take(&slices).map(|next| next.along(&slices, usize::MAX).len()), Some(100));
        assert!(connection.following.take(&slices).is_none());
        one.chunks_vectored(&mut slices);
        other.chunks_vectored(&mut others);
        assert!(connection.following.take(&slices).is_none());
        assert!(connection.following.take(&others).is_none(), "a note that did not fit is thrown away");
    }
}

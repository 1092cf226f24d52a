//! Results that wait for their readers: they hold memory of the queries, and nobody's readers hold much of it.
//!
//! A run waits for what results hold, but a result never waits: whoever has it in the hand would hold it meanwhile. So
//! the memory may be overdrawn by what results may have, until runs have given back as much.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::Memory;
use crate::store::held;

/// Smaller results are not counted: requests that are open at once bound them well enough.
const SMALL: usize = 64 << 10;
/// How long somebody waits until others have read their results.
const PATIENCE: Duration = Duration::from_secs(10);

/// What results hold: all together, and for each who asked.
#[derive(Debug, Default)]
pub(super) struct Unread {
    all: usize,
    of: HashMap<Arc<str>, usize>,
    plenty: usize,
}

/// Who holds memory.
#[derive(Debug)]
enum Holder {
    Somebody(Arc<str>),
    /// Nobody: there is enough for now.
    Plenty,
}

/// Memory that a result holds until this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    bytes: usize,
    who: Holder,
    memory: Arc<Memory>,
}

/// A result that holds its memory until it is dropped.
struct Kept {
    result: Vec<u8>,
    _held: Held,
}

impl Memory {
    /// The result as bytes that are counted until the last of them was sent. None: there is no room for it now.
    pub(crate) fn keep(self: &Arc<Memory>, who: &Arc<str>, mut result: Vec<u8>) -> Option<Bytes> {
        if result.len() <= SMALL {
            return Some(result.into());
        }
        // What a result grew by while it was written is not what it needs.
        result.shrink_to_fit();
        Some(self.hold(who, result.len())?.keep(result))
    }

    /// Memory for so many bytes of a result, counted until it is dropped. None: there is no room for it now.
    pub(crate) fn hold(self: &Arc<Memory>, who: &Arc<str>, bytes: usize) -> Option<Held> {
        self.hold_as(Holder::Somebody(who.clone()), bytes)
    }

    /// Memory for what could be had with less, only slower: nobody's in particular, a quarter of all.
    pub(crate) fn hold_in_plenty(self: &Arc<Memory>, bytes: usize) -> Option<Held> {
        self.hold_as(Holder::Plenty, bytes)
    }

    fn hold_as(self: &Arc<Memory>, who: Holder, bytes: usize) -> Option<Held> {
        let bytes = counted(bytes);
        let has_room = bytes == 0 || self.count(&who, bytes);
        has_room.then(|| Held { bytes, who, memory: self.clone() })
    }

    /// As [`Memory::hold`], but waits for the readers of other results, as long as honest ones may take.
    pub(crate) async fn hold_soon(self: &Arc<Memory>, who: &Arc<str>, bytes: usize) -> Option<Held> {
        let wait = async {
            loop {
                // Asked for before the look, so that nothing which is given back after it is missed.
                let given_back = self.given_back.notified();
                if let Some(held) = self.hold(who, bytes) {
                    return held;
                }
                given_back.await;
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.ok()
    }

    /// Half of the memory is for results, an eighth for those of one. The first always has room, however long it is.
    fn count(&self, who: &Holder, bytes: usize) -> bool {
        let mut unread = held(&self.unread);
        let fits = |taken: usize, limit: usize| taken == 0 || taken + bytes <= limit;
        let has_room = match who {
            Holder::Somebody(who) => {
                let mine = unread.of.get(who).copied().unwrap_or(0);
                fits(unread.all, self.total / 2) && fits(mine, self.total / 8)
            }
            Holder::Plenty => fits(unread.plenty, self.total / 4),
        };
        if has_room {
            self.take_for(&mut unread, who, bytes);
        }
        has_room
    }

    fn take_for(&self, unread: &mut Unread, who: &Holder, bytes: usize) {
        *unread.of(who) += bytes;
        if let Holder::Somebody(_) = who {
            unread.all += bytes;
        }
        held(&self.free).bytes -= bytes as isize;
    }

    fn give_back(&self, who: &Holder, bytes: usize) {
        let mut unread = held(&self.unread);
        let left = unread.of(who);
        *left -= bytes;
        let is_last = *left == 0;
        if let Holder::Somebody(who) = who {
            unread.all -= bytes;
            if is_last {
                unread.of.remove(who);
            }
        }
        drop(unread);
        self.give(bytes);
        self.given_back.notify_waiters();
    }
}

impl Unread {
    /// What somebody holds.
    fn of(&mut self, who: &Holder) -> &mut usize {
        match who {
            Holder::Somebody(who) => self.of.entry(who.clone()).or_default(),
            Holder::Plenty => &mut self.plenty,
        }
    }
}

impl Held {
    /// What it was held for, counted until the last of it was sent.
    pub(crate) fn keep(self, result: Vec<u8>) -> Bytes {
        Bytes::from_owner(Kept { result, _held: self })
    }

    /// So many bytes from now on: what was held until now was a guess.
    pub(crate) fn resize(&mut self, bytes: usize) {
        let before = std::mem::replace(&mut self.bytes, counted(bytes));
        match self.bytes.checked_sub(before) {
            Some(more) => self.memory.take_for(&mut held(&self.memory.unread), &self.who, more),
            None => self.memory.give_back(&self.who, before - self.bytes),
        }
    }
}

fn counted(bytes: usize) -> usize {
    if bytes <= SMALL { 0 } else { bytes }
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.result
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.memory.give_back(&self.who, self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn memory() -> Arc<Memory> {
        Arc::new(Memory::new(16 * MIB))
    }

    fn kept(memory: &Arc<Memory>, who: &str, bytes: usize) -> Option<Bytes> {
        memory.keep(&who.into(), vec![b'x'; bytes])
    }

    #[test]
    fn nobody_holds_more_than_an_eighth_and_all_together_half() {
        let memory = memory();
        let ann: Vec<Bytes> = (0..3).filter_map(|_| kept(&memory, "ann", MIB)).collect();
        assert_eq!(ann.len(), 2, "an eighth of 16 MiB");
        let others = ["b", "c", "d", "e"].map(|who| kept(&memory, who, 2 * MIB));
        assert_eq!(others.iter().flatten().count(), 3, "half of 16 MiB");
        drop(ann);
        assert!(kept(&memory, "e", 2 * MIB).is_some(), "what is read is given back");
        drop(others);
        assert_eq!(held(&memory.free).bytes, 16 * MIB as isize);
        assert!(held(&memory.unread).of.is_empty());
    }

    #[test]
    fn the_first_result_always_has_room_and_small_ones_do_not_count() {
        let memory = memory();
        let long = kept(&memory, "ann", 20 * MIB).expect("the first");
        assert!(kept(&memory, "bob", MIB).is_none() && kept(&memory, "bob", SMALL).is_some());
        assert_eq!(held(&memory.free).bytes, -4 * MIB as isize, "runs wait until it is read");
        drop(long);
        assert!(kept(&memory, "bob", MIB).is_some());
    }

    #[test]
    fn a_part_of_a_result_holds_all_of_it() {
        let memory = memory();
        let mut result = kept(&memory, "ann", 2 * MIB).expect("room");
        let piece = result.split_to(10);
        drop(result);
        assert!(kept(&memory, "ann", MIB).is_none(), "the piece is not sent yet");
        drop(piece);
        assert!(kept(&memory, "ann", MIB).is_some());
    }

    #[test]
    fn plenty_ends_and_leaves_room_for_the_rest() {
        let (memory, who): (_, Arc<str>) = (memory(), "ann".into());
        let some = memory.hold_in_plenty(3 * MIB).expect("the first has room");
        assert!(memory.hold_in_plenty(2 * MIB).is_none());
        assert!(memory.hold(&who, 2 * MIB).is_some(), "it is nobody's");
        drop(some);
        assert!(memory.hold_in_plenty(2 * MIB).is_some());
    }

    #[tokio::test]
    async fn who_waits_has_room_when_another_result_was_read() {
        let (memory, who): (_, Arc<str>) = (memory(), "ann".into());
        let mut first = memory.hold(&who, 2 * MIB).expect("room");
        assert!(memory.hold(&who, MIB).is_none());
        let waiting = tokio::spawn({
            let (memory, who) = (memory.clone(), who.clone());
            async move { memory.hold_soon(&who, MIB / 2).await.is_some() }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        first.resize(MIB / 4);
        assert!(waiting.await.expect("no crash"));
        first.resize(2 * MIB);
        assert!(memory.hold(&who, MIB).is_none(), "what it has grown to counts");
    }
}

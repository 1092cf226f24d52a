//! Results that wait for their readers: they hold memory of the queries, and nobody's readers hold much of it.
//!
//! A run waits for what results hold, but a result never waits: whoever has it in the hand would hold it meanwhile. So
//! the memory may be overdrawn by what results may have, until runs have given back as much.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::Memory;
use crate::store::held;

/// Smaller results are not counted: requests that are open at once bound them well enough.
const SMALL: usize = 64 << 10;

/// What results hold: all together, and for each who asked.
#[derive(Debug, Default)]
pub(super) struct Unread {
    all: usize,
    of: HashMap<Arc<str>, usize>,
}

/// Memory that a result holds until this is dropped.
pub(crate) struct Held {
    bytes: usize,
    who: Arc<str>,
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
        let held = self.hold(who, result.len())?;
        Some(Bytes::from_owner(Kept { result, _held: held }))
    }

    /// Memory for so many bytes of a result, counted until it is dropped. None: there is no room for it now.
    pub(crate) fn hold(self: &Arc<Memory>, who: &Arc<str>, bytes: usize) -> Option<Held> {
        let bytes = if bytes <= SMALL { 0 } else { bytes };
        let has_room = bytes == 0 || self.count(who, bytes);
        has_room.then(|| Held { bytes, who: who.clone(), memory: self.clone() })
    }

    /// Half of the memory is for results, an eighth for those of one. The first always has room, however long it is.
    fn count(&self, who: &Arc<str>, bytes: usize) -> bool {
        let mut unread = held(&self.unread);
        let mine = unread.of.get(who).copied().unwrap_or(0);
        let fits = |taken: usize, limit: usize| taken == 0 || taken + bytes <= limit;
        let has_room = fits(unread.all, self.total / 2) && fits(mine, self.total / 8);
        if has_room {
            unread.all += bytes;
            unread.of.insert(who.clone(), mine + bytes);
            held(&self.free).bytes -= bytes as isize;
        }
        has_room
    }

    fn give_back(&self, who: &Arc<str>, bytes: usize) {
        let mut unread = held(&self.unread);
        unread.all -= bytes;
        let mine = unread.of.get(who).map_or(0, |mine| mine - bytes);
        match mine {
            0 => drop(unread.of.remove(who)),
            mine => drop(unread.of.insert(who.clone(), mine)),
        }
        self.give(bytes);
    }
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
}

//! Values in this process: the latest ones, within so many bytes.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use bytes::Bytes;

/// What a value is found by: a digest.
pub(super) type Name = [u8; 32];

/// What a value takes beside its bytes, about: its name twice, its times, its places in two tables.
const BESIDE: usize = 200;

/// The values that were used last.
pub(super) struct Memory {
    values: HashMap<Name, Value>,
    /// The name of the value that was used at a tick.
    used: BTreeMap<u64, Name>,
    tick: u64,
    bytes: usize,
    most: usize,
}

struct Value {
    bytes: Bytes,
    until: Instant,
    used: u64,
}

impl Memory {
    pub fn of(most: usize) -> Memory {
        Memory { values: HashMap::new(), used: BTreeMap::new(), tick: 0, bytes: 0, most }
    }

    pub fn get(&mut self, name: &Name, now: Instant) -> Option<Bytes> {
        self.tick += 1;
        let value = self.values.get_mut(name)?;
        if value.until <= now {
            self.remove(name);
            return None;
        }
        self.used.remove(&value.used);
        value.used = self.tick;
        self.used.insert(self.tick, *name);
        Some(value.bytes.clone())
    }

    pub fn put(&mut self, name: Name, bytes: Bytes, lasts: Duration, now: Instant) {
        self.remove(&name);
        if bytes.len() + BESIDE > self.most {
            return;
        }
        self.tick += 1;
        self.bytes += bytes.len() + BESIDE;
        self.used.insert(self.tick, name);
        self.values.insert(name, Value { bytes, until: now + lasts, used: self.tick });
        while self.bytes > self.most {
            let Some((_, oldest)) = self.used.first_key_value() else { return };
            let oldest = *oldest;
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, name: &Name) {
        if let Some(value) = self.values.remove(name) {
            self.used.remove(&value.used);
            self.bytes -= value.bytes.len() + BESIDE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn name(number: u8) -> Name {
        [number; 32]
    }

    #[test]
    fn what_was_used_last_stays() {
        let (mut memory, now) = (Memory::of(3 * (BESIDE + 10)), Instant::now());
        let ten = || Bytes::from_static(&[7; 10]);
        for number in 0..3 {
            memory.put(name(number), ten(), LONG, now);
        }
        assert!(memory.get(&name(0), now).is_some());
        memory.put(name(3), ten(), LONG, now);
        let there: Vec<bool> = (0..4).map(|number| memory.get(&name(number), now).is_some()).collect();
        assert_eq!(there, [true, false, true, true]);
        assert_eq!((memory.values.len(), memory.used.len()), (3, 3));
    }

    #[test]
    fn nothing_is_kept_beyond_its_time_or_its_size() {
        let (mut memory, now) = (Memory::of(1000), Instant::now());
        memory.put(name(1), Bytes::from_static(b"a"), LONG, now);
        memory.put(name(1), Bytes::from_static(b"b"), LONG, now);
        assert_eq!(memory.get(&name(1), now).as_deref(), Some(&b"b"[..]));
        assert_eq!(memory.get(&name(1), now + LONG), None);
        memory.put(name(2), Bytes::from(vec![0; 1000]), LONG, now);
        assert_eq!(memory.get(&name(2), now), None, "larger than all");
        assert_eq!((memory.bytes, memory.values.len(), memory.used.len()), (0, 0, 0));
    }
}

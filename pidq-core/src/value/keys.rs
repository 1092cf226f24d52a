//! Keys of objects that a run builds, and the lookup of a key's index.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

/// Distinct keys in JavaScript's order. Objects of one `map` or `pick` share them.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    pub names: &'a [&'a str],
    /// For long lists.
    pub index: Option<KeyIndex<'a>>,
}

/// Index of a long key list.
#[derive(Clone, Copy)]
pub(crate) enum KeyIndex<'a> {
    /// A hash table and its hasher.
    HashTable(&'a [u32], &'a DefaultHashBuilder),
    /// An existing index.
    External(&'a dyn KeyLookup),
}

/// Lookup of a name in a list of keys.
pub(crate) trait KeyLookup: Sync {
    /// Returns the position of a name.
    fn position(&self, text: &str) -> Option<usize>;
}

impl Keys<'_> {
    /// Above this number of keys an index is used.
    pub const LINEAR_SEARCH_LIMIT: usize = 16;

    /// Returns the position of a key.
    pub fn slot(&self, name: &str) -> Option<usize> {
        match self.index {
            None => self.names.iter().position(|key| *key == name),
            Some(KeyIndex::External(lookup)) => lookup.position(name),
            Some(KeyIndex::HashTable(index, hasher)) => {
                find(index, hasher.hash_one(name), |slot| self.names[slot] == name).ok()
            }
        }
    }
}

/// A hash table of key positions: the position plus 1, or 0 if empty. At most half full. The hash is seeded, since
/// documents may be untrusted; the order of the slots is not observable.
#[derive(Debug, Default)]
pub(crate) struct Index {
    slots: Vec<u32>,
    len: usize,
}

impl Index {
    /// Builds the index of distinct keys.
    pub fn from_names(names: &[&str], hasher: &DefaultHashBuilder) -> Index {
        let mut index = Index { slots: vec![0; capacity_for(names.len())], len: 0 };
        for name in names {
            index.add(hasher.hash_one(name));
        }
        index
    }

    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// Returns the position of `name` in `names`; if it is new, adds it as the next position.
    pub fn find_or_add(&mut self, name: &str, names: &[&str], hasher: &DefaultHashBuilder) -> Option<usize> {
        if 2 * (self.len + 1) > self.slots.len() {
            *self = Index { slots: vec![0; capacity_for(self.len + 1)], len: 0 };
            names.iter().for_each(|name| self.add(hasher.hash_one(name)));
        }
        let hash = hasher.hash_one(name);
        match find(&self.slots, hash, |position| names[position] == name) {
            Ok(position) => Some(position),
            Err(free) => {
                self.len += 1;
                self.slots[free] = self.len as u32;
                None
            }
        }
    }

    /// Returns the position of a name; `is_match` compares it with the name at a position.
    pub fn position(&self, name: &str, hasher: &DefaultHashBuilder, is_match: impl Fn(usize) -> bool) -> Option<usize> {
        find(&self.slots, hasher.hash_one(name), is_match).ok()
    }

    /// Adds the next position for a new key.
    fn add(&mut self, hash: u64) {
        if let Err(free) = find(&self.slots, hash, |_| false) {
            self.len += 1;
            self.slots[free] = self.len as u32;
        }
    }
}

/// Returns a table size of at least twice the number of keys.
fn capacity_for(len: usize) -> usize {
    (2 * len.max(4)).next_power_of_two()
}

/// Returns the position of the matching key, or the free slot of the table for it.
fn find(index: &[u32], hash: u64, is_match: impl Fn(usize) -> bool) -> Result<usize, usize> {
    let mask = index.len() - 1;
    let mut at = hash as usize & mask;
    loop {
        match index[at] {
            0 => return Err(at),
            position if is_match(position as usize - 1) => return Ok(position as usize - 1),
            _ => at = (at + 1) & mask,
        }
    }
}

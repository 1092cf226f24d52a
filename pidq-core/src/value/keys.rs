//! The keys of objects that a run builds, and how the place of a key is found.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

/// Distinct keys in JavaScript's order. Objects of one `map` or `pick` share them.
#[derive(Clone, Copy)]
pub(crate) struct Keys<'a> {
    pub names: &'a [&'a str],
    /// Of long lists.
    pub index: Option<KeyIndex<'a>>,
}

/// Finds the places of keys where there are many.
#[derive(Clone, Copy)]
pub(crate) enum KeyIndex<'a> {
    /// A hash table, and what made it.
    Made(&'a [u32], &'a DefaultHashBuilder),
    /// One that was there before.
    Known(&'a dyn Places),
}

/// Knows at which place of a list a text stands.
pub(crate) trait Places {
    /// The place of a text.
    fn place(&self, text: &str) -> Option<usize>;
}

impl Keys<'_> {
    /// Above this many keys there is an index.
    pub const LINEAR: usize = 16;

    /// The place of a key.
    pub fn slot(&self, name: &str) -> Option<usize> {
        match self.index {
            None => self.names.iter().position(|key| *key == name),
            Some(KeyIndex::Known(places)) => places.place(name),
            Some(KeyIndex::Made(index, hasher)) => {
                find(index, hasher.hash_one(name), |slot| self.names[slot] == name).ok()
            }
        }
    }
}

/// A hash table of the places of keys: a place and 1, or 0. At most half full. The hash is seeded, since documents may
/// come from strangers; the order of the places in here never shows.
#[derive(Debug, Default)]
pub(crate) struct Index {
    places: Vec<u32>,
    len: usize,
}

impl Index {
    /// The index of keys that are all different.
    pub fn of(names: &[&str], hasher: &DefaultHashBuilder) -> Index {
        let mut index = Index { places: vec![0; room(names.len())], len: 0 };
        for name in names {
            index.add(hasher.hash_one(name));
        }
        index
    }

    pub fn places(&self) -> &[u32] {
        &self.places
    }

    /// The place of `name` among `names`; if it is new, the next one is noted for it.
    pub fn find_or_add(&mut self, name: &str, names: &[&str], hasher: &DefaultHashBuilder) -> Option<usize> {
        if 2 * (self.len + 1) > self.places.len() {
            *self = Index { places: vec![0; room(self.len + 1)], len: 0 };
            names.iter().for_each(|name| self.add(hasher.hash_one(name)));
        }
        let hash = hasher.hash_one(name);
        match find(&self.places, hash, |place| names[place] == name) {
            Ok(place) => Some(place),
            Err(free) => {
                self.len += 1;
                self.places[free] = self.len as u32;
                None
            }
        }
    }

    /// Notes the next place for a key that is new.
    fn add(&mut self, hash: u64) {
        if let Err(free) = find(&self.places, hash, |_| false) {
            self.len += 1;
            self.places[free] = self.len as u32;
        }
    }
}

/// The room for so many keys, and at least as many again.
fn room(len: usize) -> usize {
    (2 * len.max(4)).next_power_of_two()
}

/// The place whose key is the wanted one, or else where in the index it could be noted.
fn find(index: &[u32], hash: u64, is_wanted: impl Fn(usize) -> bool) -> Result<usize, usize> {
    let mask = index.len() - 1;
    let mut at = hash as usize & mask;
    loop {
        match index[at] {
            0 => return Err(at),
            place if is_wanted(place as usize - 1) => return Ok(place as usize - 1),
            _ => at = (at + 1) & mask,
        }
    }
}

//! Which parts of a document are wanted: a tree of keys.
//!
//! Lists are not told from their items: a part is a value, or each item of a list in its place.

/// The number of a part.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct PartId(u32);

impl PartId {
    /// The whole document.
    pub const DOCUMENT: PartId = PartId(0);
    /// Any part that is wanted with all that is in it.
    pub const WHOLE: PartId = PartId(u32::MAX);
    /// Any part that is not wanted.
    pub const NONE: PartId = PartId(u32::MAX - 1);
}

/// The parts of a document that are wanted. Of the objects in a part all keys are, but the values of those keys alone
/// that are parts themselves.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Wanted {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Part {
    is_whole: bool,
    keys: Vec<(Box<str>, PartId)>,
}

/// With more parts than that a document is read as a whole: hardly anything would be left out.
const MOST: usize = 64;

impl Wanted {
    /// The whole document.
    pub const ALL: Wanted = Wanted { parts: Vec::new() };

    /// Nothing but the outermost keys.
    pub fn nothing() -> Wanted {
        Wanted { parts: vec![Part::default()] }
    }

    /// The part under a key. It is wanted from now on.
    pub fn inside(&mut self, part: PartId, key: &str) -> PartId {
        if self.is_whole(part) {
            return PartId::WHOLE;
        }
        if let Some(known) = self.find(part, key) {
            return known;
        }
        if self.parts.len() == MOST {
            self.take_whole(part);
            return PartId::WHOLE;
        }
        let new = PartId(self.parts.len() as u32);
        self.parts.push(Part::default());
        self.parts[part.0 as usize].keys.push((key.into(), new));
        new
    }

    /// All that is in a part is wanted.
    pub fn take_whole(&mut self, part: PartId) {
        if let Some(part) = self.parts.get_mut(part.0 as usize) {
            *part = Part { is_whole: true, keys: Vec::new() };
        }
    }

    /// Whether all that is in a part is wanted.
    pub fn is_whole(&self, part: PartId) -> bool {
        self.parts.get(part.0 as usize).is_none_or(|part| part.is_whole)
    }

    /// The part under a key, if it is wanted.
    pub fn find(&self, part: PartId, key: &str) -> Option<PartId> {
        let Some(Part { is_whole: false, keys }) = self.parts.get(part.0 as usize) else { return Some(PartId::WHOLE) };
        let (_, found) = keys.iter().find(|(known, _)| **known == *key)?;
        Some(if self.is_whole(*found) { PartId::WHOLE } else { *found })
    }
}

#[cfg(test)]
impl Wanted {
    /// The paths of the parts, those with all that is in them marked with `*`.
    pub fn paths(&self) -> Vec<String> {
        let mut paths = Vec::new();
        self.list(PartId::DOCUMENT, "", &mut paths);
        paths
    }

    fn list(&self, part: PartId, path: &str, paths: &mut Vec<String>) {
        let Part { is_whole, keys } = &self.parts[part.0 as usize];
        if keys.is_empty() {
            paths.push(format!("{path}{}", if *is_whole { "*" } else { "" }));
        }
        for (key, inside) in keys {
            self.list(*inside, &format!("{path}.{key}"), paths);
        }
    }
}

/// Finds parts by the steps of a loader.
#[derive(Debug)]
pub(super) struct Sieve<'w> {
    wanted: &'w Wanted,
    /// By step and part, where it was looked up.
    known: Vec<Option<PartId>>,
}

/// So many look-ups are remembered. Keys that come often come early; a document of a million keys is looked up each time.
const REMEMBERED: usize = 1 << 16;

impl<'w> Sieve<'w> {
    pub fn new(wanted: &'w Wanted) -> Sieve<'w> {
        Sieve { wanted, known: Vec::new() }
    }

    /// The part of the document itself.
    pub fn document(&self) -> PartId {
        if self.wanted.is_whole(PartId::DOCUMENT) { PartId::WHOLE } else { PartId::DOCUMENT }
    }

    /// The part under the key of a step.
    ///
    /// Hot: once a key.
    #[inline(always)]
    pub fn inside<'k>(&mut self, part: PartId, step: u32, key: impl FnOnce() -> &'k str) -> PartId {
        if part == PartId::WHOLE || part == PartId::NONE {
            return part;
        }
        let place = step as usize * self.wanted.parts.len() + part.0 as usize;
        match self.known.get(place) {
            Some(Some(known)) => *known,
            _ => self.look_up(part, place, key()),
        }
    }

    #[inline(never)]
    fn look_up(&mut self, part: PartId, place: usize, key: &str) -> PartId {
        let found = self.wanted.find(part, key).unwrap_or(PartId::NONE);
        if place >= self.known.len() && place < REMEMBERED {
            self.known.resize(place + 1, None);
        }
        if let Some(known) = self.known.get_mut(place) {
            *known = Some(found);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_its_keys_or_is_whole() {
        let mut wanted = Wanted::nothing();
        let nodes = wanted.inside(PartId::DOCUMENT, "nodes");
        let tag = wanted.inside(nodes, "tag");
        assert_eq!(wanted.inside(nodes, "tag"), tag);
        assert_eq!(wanted.find(nodes, "tag"), Some(tag));
        assert_eq!(wanted.find(nodes, "id"), None);

        wanted.take_whole(nodes);
        assert_eq!(wanted.find(PartId::DOCUMENT, "nodes"), Some(PartId::WHOLE));
        assert_eq!(wanted.inside(nodes, "id"), PartId::WHOLE);
    }

    #[test]
    fn too_many_parts_are_one() {
        let mut wanted = Wanted::nothing();
        let last = (0..100).map(|at| wanted.inside(PartId::DOCUMENT, &at.to_string())).last();
        assert_eq!(last, Some(PartId::WHOLE));
        assert!(wanted.is_whole(PartId::DOCUMENT));
    }
}

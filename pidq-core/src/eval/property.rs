//! Property access: `.a.b`.
//!
//! Hot: runs once per value and condition. Thousands of objects share a shape, so each key is looked up once per shape.

use super::EvalContext;
use super::plan::{Key, Path};
use crate::arena::{Arena, Cell, ContainerId, ShapeId};
use crate::error::{Code, Error, Result};
use crate::graph::column::LookupResult;
use crate::value::{Array, Fields, Object, Value, prototype};

/// Inline cache of one key of a path: the slot of the key by shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyCache {
    /// Shape number and slot of the key, indexed by the last bits of the number.
    slots: [(u32, u32); KeyCache::SHAPES],
    /// True if the key was looked up in an object, and if one had it.
    looked_up: bool,
    found: bool,
    /// True if the key was read on a list.
    read_on_list: bool,
    /// True if the key is an index, and was read on a number, or on a list.
    index_of_number: bool,
    index_of_list: bool,
}

/// No shape, no slot.
const NONE: u32 = u32::MAX;

impl Default for KeyCache {
    fn default() -> Self {
        KeyCache {
            slots: [(NONE, NONE); KeyCache::SHAPES],
            looked_up: false,
            found: false,
            read_on_list: false,
            index_of_number: false,
            index_of_list: false,
        }
    }
}

impl KeyCache {
    /// Objects of a few shapes alternate: the attributes of pumps, of valves, of instruments.
    const SHAPES: usize = 8;

    /// Returns the slot of the key in the objects of a shape. Records that it was looked up, and whether it was found.
    #[inline]
    pub(super) fn slot(&mut self, arena: &Arena, shape: u32, key: &str) -> Option<u32> {
        let (known, slot) = self.slots[shape as usize % KeyCache::SHAPES];
        if known != shape {
            return self.look_up(arena, shape, key);
        }
        (slot != NONE).then_some(slot)
    }

    #[cold]
    fn look_up(&mut self, arena: &Arena, shape: u32, key: &str) -> Option<u32> {
        let slot = arena.find_symbol(key).and_then(|symbol| arena.slot(ShapeId(shape), symbol));
        self.slots[shape as usize % KeyCache::SHAPES] = (shape, slot.unwrap_or(NONE));
        self.looked_up = true;
        self.found |= slot.is_some();
        slot
    }
}

impl KeyCache {
    /// Merges lookups of the key in a column.
    pub(super) fn record(&mut self, lookup: LookupResult) {
        self.looked_up |= lookup.attempted;
        self.found |= lookup.found;
    }

    /// Merges the lookups of another key of this name.
    pub(super) fn record_all(&mut self, other: &KeyCache) {
        self.looked_up |= other.looked_up;
        self.found |= other.found;
        self.read_on_list |= other.read_on_list;
        self.index_of_number |= other.index_of_number;
        self.index_of_list |= other.index_of_list;
    }
}

impl<'a> EvalContext<'a> {
    /// Returns the value at a path; `null` if a part of it is missing.
    ///
    /// Hot: nearly all paths go through stored objects only.
    #[inline(never)]
    pub(crate) fn get(&mut self, path: &'a Path, input: Value<'a>) -> Result<Value<'a>> {
        if let Value::Object(Object(Fields::Stored(arena, id))) = input
            && path.is_plain
            && self.allows_fast_path(arena)
            && let Some(cell) = self.follow_path(path, id)
        {
            self.charge(path.keys.len() as u64)?;
            return Ok(Value::stored(arena, cell));
        }
        self.get_by_steps(path, input)
    }

    /// Returns the cell at a path of objects; the null cell if a part is missing, `None` if a part is not an object.
    #[inline]
    pub(super) fn follow_path(&mut self, path: &Path, start: ContainerId) -> Option<Cell> {
        let document = self.document;
        let mut cell = Cell::object(start);
        for (key, cache) in path.keys.iter().zip(&mut self.caches[path.first..]) {
            let Some(id) = cell.object_id() else { return (cell == Cell::NULL).then_some(cell) };
            let container = document.container(id);
            match cache.slot(document, container.extent, &key.name) {
                Some(slot) => cell = document.cell(container.first + slot),
                None => return Some(Cell::NULL),
            }
        }
        Some(cell)
    }

    /// Returns true if values of an arena may be read by the fast path.
    #[inline]
    pub(crate) fn allows_fast_path(&self, arena: &Arena) -> bool {
        self.is_optimized && std::ptr::eq(arena, self.document)
    }

    #[inline(never)]
    fn get_by_steps(&mut self, path: &'a Path, input: Value<'a>) -> Result<Value<'a>> {
        let mut value = input;
        for (at, key) in path.keys.iter().enumerate() {
            value = self.property(value, key, path.first + at)?;
        }
        Ok(if let Value::Undefined = value { Value::Null } else { value })
    }

    /// Returns the value of one key; `null` if it is missing.
    fn property(&mut self, holder: Value<'a>, key: &'a Key, cache: usize) -> Result<Value<'a>> {
        self.charge(1)?;
        let found = match holder {
            Value::Undefined | Value::Null => return Ok(Value::Null),
            Value::Object(object) => self.field(object, key, cache),
            Value::Array(array) => {
                let cache = &mut self.caches[cache];
                cache.read_on_list |= key.index.is_none();
                cache.index_of_list |= key.index.is_some();
                item(array, key)
            }
            Value::Number(_) => {
                self.caches[cache].index_of_number |= key.index.is_some();
                None
            }
            _ => None,
        };
        match found {
            Some(value) => Ok(value),
            None => missing_property(holder, key),
        }
    }

    fn field(&mut self, object: Object<'a>, key: &'a Key, cache: usize) -> Option<Value<'a>> {
        let value = match object.0 {
            Fields::Stored(arena, id) if std::ptr::eq(arena, self.document) => {
                let shape = arena.shape(id);
                let first = arena.container(id).first;
                let slot = self.caches[cache].slot(arena, shape.0, &key.name)?;
                Some(Value::stored(arena, arena.cell(first + slot)))
            }
            _ => object.get(&key.name),
        };
        let cache = &mut self.caches[cache];
        cache.looked_up = true;
        cache.found |= value.is_some();
        value
    }

    /// Records that a key of a path was looked up in an object, by a function that reads the path itself.
    pub(crate) fn record_lookup(&mut self, path: &Path, at: usize, is_found: bool) {
        if let Some(cache) = self.caches.get_mut(path.first + at) {
            cache.looked_up = true;
            cache.found |= is_found;
        }
    }

    /// Returns true if the key was looked up in objects and none had it.
    pub(crate) fn never_found(&self, property: usize) -> bool {
        self.caches[property].looked_up && !self.caches[property].found
    }

    /// Returns true if the key was read on lists, and never on an object.
    pub(crate) fn read_only_on_lists(&self, property: usize) -> bool {
        self.caches[property].read_on_list && !self.caches[property].looked_up
    }

    /// Returns true if the key is an index that was read on numbers, and never on a list or an object.
    pub(crate) fn index_only_of_numbers(&self, property: usize) -> bool {
        let cache = &self.caches[property];
        cache.index_of_number && !cache.index_of_list && !cache.looked_up
    }
}

fn item<'a>(array: Array<'a>, key: &Key) -> Option<Value<'a>> {
    key.index.and_then(|index| array.get(index as usize))
}

/// Returns `null` for a missing property. As in the reference implementation, a property of a JavaScript prototype is
/// an error.
fn missing_property<'a>(holder: Value<'a>, key: &Key) -> Result<Value<'a>> {
    let is_character = matches!((holder, key.index), (Value::String(text), Some(index))
        if (index as usize) < crate::value::convert::utf16_len(text));
    if !is_character && !prototype::has(holder, &key.name) {
        return Ok(Value::Null);
    }
    let error = Error::new(Code::UnsupportedProperty, format!("Unsupported property \"{}\"", key.name))
        .with_span(key.span)
        .with_label(format!("not a property of {} value", article(holder.type_name())));
    Err(match (holder, &*key.name) {
        (Value::Array(_) | Value::String(_), "length") => error.with_help("the number of items is `size()`"),
        (Value::Array(_), name) => error.with_help(format!("to call a function, pipe into it: `| {name}()`")),
        (Value::String(_), _) if is_character => error.with_help("a part of a string is `substring(text, start, end)`"),
        _ => error,
    })
}

fn article(noun: &str) -> String {
    let vowel = matches!(noun.as_bytes(), [b'a' | b'e' | b'i' | b'o' | b'u', ..]);
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

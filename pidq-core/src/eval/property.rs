//! Reading properties: `.a.b`.
//!
//! Hot: runs once per value and condition. Thousands of objects share a shape, so a key is looked up once per shape.

use super::Cx;
use super::plan::{Key, Path};
use crate::arena::{Arena, Cell, ContainerId, ShapeId};
use crate::error::{Code, Error, Result};
use crate::graph::column::Seen;
use crate::value::{Array, Fields, Object, Value, prototype};

/// What a part of a path has seen: shapes, and where its key is in them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cache {
    /// By the last bits of its number: a shape and the slot of the key in it.
    seen: [(u32, u32); Cache::SHAPES],
    /// An object was asked for the key; one had it.
    asked: bool,
    found: bool,
    /// A list was asked for it.
    of_list: bool,
}

/// No shape, no slot.
const NONE: u32 = u32::MAX;

impl Default for Cache {
    fn default() -> Self {
        Cache { seen: [(NONE, NONE); Cache::SHAPES], asked: false, found: false, of_list: false }
    }
}

impl Cache {
    /// Objects of a handful of shapes come in turns: the attributes of pumps, of valves, of instruments.
    const SHAPES: usize = 8;

    /// Where a key is in the objects of a shape. Notes that it was looked for, and whether it was there.
    #[inline]
    pub(super) fn slot(&mut self, arena: &Arena, shape: u32, key: &str) -> Option<u32> {
        let (known, slot) = self.seen[shape as usize % Cache::SHAPES];
        if known != shape {
            return self.look_up(arena, shape, key);
        }
        (slot != NONE).then_some(slot)
    }

    #[cold]
    fn look_up(&mut self, arena: &Arena, shape: u32, key: &str) -> Option<u32> {
        let slot = arena.find_symbol(key).and_then(|symbol| arena.slot(ShapeId(shape), symbol));
        self.seen[shape as usize % Cache::SHAPES] = (shape, slot.unwrap_or(NONE));
        self.asked = true;
        self.found |= slot.is_some();
        slot
    }
}

impl Cache {
    /// Notes what was seen of the key elsewhere.
    pub(super) fn note(&mut self, seen: Seen) {
        self.asked |= seen.asked;
        self.found |= seen.found;
    }

    /// Notes all that another key of this name has seen.
    pub(super) fn note_all(&mut self, other: &Cache) {
        self.asked |= other.asked;
        self.found |= other.found;
        self.of_list |= other.of_list;
    }
}

impl<'a> Cx<'a> {
    /// The value at a path; `null` where a part of it is missing.
    ///
    /// Hot: nearly always the path leads through stored objects only.
    #[inline(never)]
    pub(crate) fn get(&mut self, path: &'a Path, input: Value<'a>) -> Result<Value<'a>> {
        if let Value::Object(Object(Fields::Stored(arena, id))) = input
            && path.is_plain
            && self.is_fast(arena)
            && let Some(cell) = self.follow(path, id)
        {
            self.spend(path.keys.len() as u64)?;
            return Ok(Value::stored(arena, cell));
        }
        self.get_by_steps(path, input)
    }

    /// The cell at a path of objects, null where a part is missing; nothing where a part is not an object.
    #[inline]
    fn follow(&mut self, path: &Path, start: ContainerId) -> Option<Cell> {
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

    /// Whether shortcuts may be taken over the values of an arena.
    #[inline]
    pub(crate) fn is_fast(&self, arena: &Arena) -> bool {
        self.shortcuts && std::ptr::eq(arena, self.document)
    }

    #[inline(never)]
    fn get_by_steps(&mut self, path: &'a Path, input: Value<'a>) -> Result<Value<'a>> {
        let mut value = input;
        for (at, key) in path.keys.iter().enumerate() {
            value = self.property(value, key, path.first + at)?;
        }
        Ok(if let Value::Undefined = value { Value::Null } else { value })
    }

    /// The value of one key; `null` where it is missing.
    fn property(&mut self, holder: Value<'a>, key: &'a Key, cache: usize) -> Result<Value<'a>> {
        self.spend(1)?;
        let found = match holder {
            Value::Undefined | Value::Null => return Ok(Value::Null),
            Value::Object(object) => self.field(object, key, cache),
            Value::Array(array) => {
                self.caches[cache].of_list |= key.index.is_none();
                item(array, key)
            }
            _ => None,
        };
        match found {
            Some(value) => Ok(value),
            None => missing(holder, key),
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
        cache.asked = true;
        cache.found |= value.is_some();
        value
    }

    /// Whether objects were asked for a part of a path and none had it.
    pub(crate) fn never_found(&self, property: usize) -> bool {
        self.caches[property].asked && !self.caches[property].found
    }

    /// Whether lists were asked for a part of a path, and nothing that could have it.
    pub(crate) fn asked_of_lists(&self, property: usize) -> bool {
        self.caches[property].of_list && !self.caches[property].asked
    }
}

fn item<'a>(array: Array<'a>, key: &Key) -> Option<Value<'a>> {
    key.index.and_then(|index| array.get(index as usize))
}

/// A missing property is `null`, but the reference refuses what JavaScript would find on a prototype.
fn missing<'a>(holder: Value<'a>, key: &Key) -> Result<Value<'a>> {
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
        (Value::String(_), _) if is_character => error.with_help("a part of a text is `substring(text, start, end)`"),
        _ => error,
    })
}

fn article(noun: &str) -> String {
    let vowel = matches!(noun.as_bytes(), [b'a' | b'e' | b'i' | b'o' | b'u', ..]);
    format!("{} {noun}", if vowel { "an" } else { "a" })
}

//! Reader of the same fields of many objects: a key is looked up once per shape.

use super::adjacency::NONE;
use crate::arena::Arena;
use crate::value::{Fields, Object, Value};

/// Slots of keys in the objects of a document.
pub(crate) struct FieldReader<'k, 'a> {
    keys: Vec<&'k str>,
    arena: Option<&'a Arena>,
    /// By shape: the slot of each key.
    slots: Vec<Option<Box<[u32]>>>,
}

/// Limit of shapes with cached slots. In a document with more, hardly any two objects have the same shape.
const MAX_SHAPES: usize = 1 << 14;

impl<'k, 'a> FieldReader<'k, 'a> {
    pub fn new(keys: impl IntoIterator<Item = &'k String>) -> FieldReader<'k, 'a> {
        FieldReader { keys: keys.into_iter().map(String::as_str).collect(), arena: None, slots: Vec::new() }
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the value of a key by its index; `None` for null.
    pub fn get(&mut self, object: Object<'a>, key: usize) -> Option<Value<'a>> {
        self.get_or_null(object, key).filter(|value| !value.is_null())
    }

    /// Returns the value of a key, including null.
    pub fn get_or_null(&mut self, object: Object<'a>, key: usize) -> Option<Value<'a>> {
        match object.0 {
            Fields::Stored(arena, _) if std::ptr::eq(arena, *self.arena.get_or_insert(arena)) => {
                let slot = self.slot(arena, object, key);
                (slot != NONE).then(|| object.value(slot as usize))
            }
            _ => object.get(self.keys[key]),
        }
    }

    /// Returns the value of the first key that the object has.
    pub fn first(&mut self, object: Object<'a>) -> Option<Value<'a>> {
        (0..self.len()).find_map(|key| self.get(object, key))
    }

    fn slot(&mut self, arena: &Arena, object: Object<'a>, key: usize) -> u32 {
        let Fields::Stored(_, id) = object.0 else { return NONE };
        let shape = arena.shape(id);
        let at = shape.0 as usize;
        let find = |name: &&str| arena.find_symbol(name).and_then(|symbol| arena.slot(shape, symbol)).unwrap_or(NONE);
        if at >= MAX_SHAPES {
            return find(&self.keys[key]);
        }
        if at >= self.slots.len() {
            self.slots.resize(at + 1, None);
        }
        self.slots[at].get_or_insert_with(|| self.keys.iter().map(find).collect())[key]
    }
}

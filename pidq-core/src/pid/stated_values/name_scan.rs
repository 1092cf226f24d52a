//! Scan of many items for fields and attributes with some names: the keys are looked at once per shape.

use super::{has_attribute, is_container};
use crate::arena::Arena;
use crate::graph::config::name_filter::NameFilter;
use crate::value::{Fields, Object, Value};

/// Finds the items that may state something under some names.
pub(crate) struct NameScan<'f, 'a> {
    names: &'f NameFilter,
    arena: Option<&'a Arena>,
    /// By shape: what its keys say.
    shapes: Vec<Option<Keys>>,
}

/// Keys of an object.
#[derive(Clone)]
enum Keys {
    /// One of them may be one of the names.
    Named,
    /// None of them is. The attributes in these slots may be.
    Others(Box<[u32]>),
}

/// Limit of shapes whose keys are kept. In a document with more, hardly any two objects have the same shape.
const MAX_SHAPES: usize = 1 << 14;

impl<'f, 'a> NameScan<'f, 'a> {
    pub fn new(names: &'f NameFilter) -> NameScan<'f, 'a> {
        NameScan { names, arena: None, shapes: Vec::new() }
    }

    /// Returns the same as [`may_state`](super::may_state).
    pub fn may_state(&mut self, holder: Value<'a>) -> bool {
        let Some(object) = holder.as_object() else { return false };
        let at = match object.0 {
            Fields::Stored(arena, id) if std::ptr::eq(arena, *self.arena.get_or_insert(arena)) => {
                arena.shape(id).0 as usize
            }
            _ => MAX_SHAPES,
        };
        if at >= MAX_SHAPES {
            return super::may_state(holder, self.names);
        }
        if at >= self.shapes.len() {
            self.shapes.resize(at + 1, None);
        }
        let names = self.names;
        match self.shapes[at].get_or_insert_with(|| keys_of(object, names)) {
            Keys::Named => true,
            Keys::Others(containers) => {
                containers.iter().any(|slot| has_attribute(object.value(*slot as usize), names))
            }
        }
    }
}

fn keys_of(object: Object<'_>, names: &NameFilter) -> Keys {
    match object.iter().any(|(key, _)| names.may_contain(key)) {
        true => Keys::Named,
        false => Keys::Others(
            object.iter().zip(0..).filter(|((key, _), _)| is_container(key)).map(|(_, slot)| slot).collect(),
        ),
    }
}

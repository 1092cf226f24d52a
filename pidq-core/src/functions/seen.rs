//! The items that were met already, for `uniq`: found by a hash of all that is in them.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::error::Result;
use crate::eval::Cx;
use crate::syntax::json;
use crate::value::Value;

/// Items, each once.
#[derive(Default)]
pub(super) struct Seen<'a> {
    table: HashTable<(u64, Value<'a>)>,
    hasher: DefaultHashBuilder,
}

impl<'a> Seen<'a> {
    /// Bytes of an item in the table, with the room that a growing table keeps.
    const ROW: usize = 3 * size_of::<(u64, Value<'_>)>();

    /// Collects an item that is new.
    pub fn take(&mut self, cx: &mut Cx<'a>, item: Value<'a>) -> Result<()> {
        let hash = deep_hash(cx, &self.hasher, item)?;
        for (other_hash, other) in self.table.iter_hash(hash) {
            if *other_hash == hash && cx.is_equal(*other, item)? {
                return Ok(());
            }
        }
        cx.hold(Seen::ROW)?;
        self.table.insert_unique(hash, (hash, item), |(hash, _)| *hash);
        cx.push(item)
    }

    /// Gives back what it held.
    pub fn end(self, cx: &mut Cx<'a>) {
        cx.release(self.table.len() * Seen::ROW);
    }
}

/// A hash that equal values share: the sum of what stands at each place of a value, so that the order of fields does not
/// matter, and two values that differ anywhere are told apart.
fn deep_hash<'a>(cx: &mut Cx<'a>, hasher: &DefaultHashBuilder, value: Value<'a>) -> Result<u64> {
    match inside(value) {
        0 => at_place(cx, hasher, 0, value),
        _ => container_hash(cx, hasher, value),
    }
}

fn container_hash<'a>(cx: &mut Cx<'a>, hasher: &DefaultHashBuilder, value: Value<'a>) -> Result<u64> {
    /// Places that are looked at for a unit of fuel.
    const PLACES: u64 = 8;
    /// Values of one list or object that wait unpaid.
    const FEW: usize = 1000;
    const WAITING: usize = size_of::<(u64, Value<'_>)>();
    let (mut sum, mut places, mut held) = (0_u64, 0_u64, 0);
    let mut waiting = vec![(0_u64, value)];
    while let Some((place, value)) = waiting.pop() {
        places += 1;
        cx.spend(u64::from(places.is_multiple_of(PLACES)))?;
        if inside(value) > FEW {
            cx.hold(inside(value) * WAITING)?;
            held += inside(value) * WAITING;
        }
        sum = sum.wrapping_add(at_place(cx, hasher, place, value)?);
        wait_for_inside(hasher, place, value, &mut waiting);
    }
    cx.release(held);
    Ok(sum)
}

/// What stands at a place: a value without what is in it. A list may equal an object. Long texts are paid for.
fn at_place<'a>(cx: &mut Cx<'a>, hasher: &DefaultHashBuilder, place: u64, value: Value<'a>) -> Result<u64> {
    if let Value::String(text) = value {
        cx.spend_bytes(text.len())?;
    }
    Ok(match value {
        Value::Undefined => hasher.hash_one((place, 0u8)),
        Value::Null => hasher.hash_one((place, 1u8)),
        Value::Bool(value) => hasher.hash_one((place, 2u8, value)),
        // 0 and -0 are equal.
        Value::Number(number) => hasher.hash_one((place, 3u8, (number.value() + 0.0).to_bits())),
        Value::String(text) => hasher.hash_one((place, 4u8, text)),
        Value::Array(_) | Value::Object(_) => hasher.hash_one((place, 5u8, inside(value))),
    })
}

/// How many values a value holds.
fn inside(value: Value<'_>) -> usize {
    match value {
        Value::Array(array) => array.len(),
        Value::Object(object) => object.len(),
        _ => 0,
    }
}

fn wait_for_inside<'a>(hasher: &DefaultHashBuilder, place: u64, value: Value<'a>, waiting: &mut Vec<(u64, Value<'a>)>) {
    match value {
        Value::Array(array) => {
            waiting.extend(array.iter().zip(0u32..).map(|(item, at)| (hasher.hash_one((place, at)), item)));
        }
        Value::Object(object) => {
            waiting.extend(object.iter().map(|(key, value)| (place_of(hasher, place, key), value)));
        }
        _ => {}
    }
}

/// The place of a field: that of an item, where its key is the number of one.
fn place_of(hasher: &DefaultHashBuilder, place: u64, key: &str) -> u64 {
    match json::array_index(key) {
        Some(at) => hasher.hash_one((place, at)),
        None => hasher.hash_one((place, key)),
    }
}

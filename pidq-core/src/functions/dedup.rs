//! Deduplication for `uniq`: a hash set of values.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

use crate::error::Result;
use crate::eval::EvalContext;
use crate::syntax::json;
use crate::value::Value;

/// Set of distinct items.
#[derive(Default)]
pub(super) struct DedupSet<'a> {
    table: HashTable<(u64, Value<'a>)>,
    hasher: DefaultHashBuilder,
}

impl<'a> DedupSet<'a> {
    /// Bytes of an item in the table, including the spare capacity of a growing table.
    const ROW: usize = 3 * size_of::<(u64, Value<'_>)>();

    /// Inserts an item and collects it if it is new.
    pub fn insert(&mut self, cx: &mut EvalContext<'a>, item: Value<'a>) -> Result<()> {
        let hash = deep_hash(cx, &self.hasher, item)?;
        for (other_hash, other) in self.table.iter_hash(hash) {
            if *other_hash == hash && cx.is_equal(*other, item)? {
                return Ok(());
            }
        }
        cx.reserve(DedupSet::ROW)?;
        self.table.insert_unique(hash, (hash, item), |(hash, _)| *hash);
        cx.push(item)
    }

    /// Releases the reserved memory.
    pub fn release(self, cx: &mut EvalContext<'a>) {
        cx.release(self.table.len() * DedupSet::ROW);
    }
}

/// Returns a hash that is the same for equal values: the sum of the hashes at each position, so that the order of
/// fields does not matter.
fn deep_hash<'a>(cx: &mut EvalContext<'a>, hasher: &DefaultHashBuilder, value: Value<'a>) -> Result<u64> {
    match child_count(value) {
        0 => hash_at(cx, hasher, 0, value),
        _ => container_hash(cx, hasher, value),
    }
}

fn container_hash<'a>(cx: &mut EvalContext<'a>, hasher: &DefaultHashBuilder, value: Value<'a>) -> Result<u64> {
    /// Values visited per unit of fuel.
    const VALUES_PER_UNIT: u64 = 8;
    /// Values of one array or object that may be on the stack without being reserved.
    const FEW: usize = 1000;
    const ENTRY: usize = size_of::<(u64, Value<'_>)>();
    let (mut sum, mut visited, mut reserved) = (0_u64, 0_u64, 0);
    let mut stack = vec![(0_u64, value)];
    while let Some((position, value)) = stack.pop() {
        visited += 1;
        cx.charge(u64::from(visited.is_multiple_of(VALUES_PER_UNIT)))?;
        if child_count(value) > FEW {
            cx.reserve(child_count(value) * ENTRY)?;
            reserved += child_count(value) * ENTRY;
        }
        sum = sum.wrapping_add(hash_at(cx, hasher, position, value)?);
        push_children(hasher, position, value, &mut stack);
    }
    cx.release(reserved);
    Ok(sum)
}

/// Returns the hash of a value at a position, without its children. Arrays and objects hash alike, since an array may
/// equal an object. Long strings are charged.
fn hash_at<'a>(cx: &mut EvalContext<'a>, hasher: &DefaultHashBuilder, position: u64, value: Value<'a>) -> Result<u64> {
    if let Value::String(text) = value {
        cx.charge_bytes(text.len())?;
    }
    Ok(match value {
        Value::Undefined => hasher.hash_one((position, 0u8)),
        Value::Null => hasher.hash_one((position, 1u8)),
        Value::Bool(value) => hasher.hash_one((position, 2u8, value)),
        // 0 and -0 are equal.
        Value::Number(number) => hasher.hash_one((position, 3u8, (number.value() + 0.0).to_bits())),
        Value::String(text) => hasher.hash_one((position, 4u8, text)),
        Value::Array(_) | Value::Object(_) => hasher.hash_one((position, 5u8, child_count(value))),
    })
}

/// The number of children of a value.
fn child_count(value: Value<'_>) -> usize {
    match value {
        Value::Array(array) => array.len(),
        Value::Object(object) => object.len(),
        _ => 0,
    }
}

fn push_children<'a>(hasher: &DefaultHashBuilder, position: u64, value: Value<'a>, stack: &mut Vec<(u64, Value<'a>)>) {
    match value {
        Value::Array(array) => {
            stack.extend(array.iter().zip(0u32..).map(|(item, at)| (hasher.hash_one((position, at)), item)));
        }
        Value::Object(object) => {
            stack.extend(object.iter().map(|(key, value)| (child_position(hasher, position, key), value)));
        }
        _ => {}
    }
}

/// Returns the position of a field: that of an array item if its key is an index.
fn child_position(hasher: &DefaultHashBuilder, position: u64, key: &str) -> u64 {
    match json::array_index(key) {
        Some(at) => hasher.hash_one((position, at)),
        None => hasher.hash_one((position, key)),
    }
}

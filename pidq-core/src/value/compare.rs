//! When two values are equal, and the order that `sort` and `<` use: as the reference implementation has it.

use std::cmp::Ordering;

use super::{Array, Object, Value};
use crate::arena::load::array_index;
use crate::error::Result;

/// Whether two values are equal: the same primitive, or the same keys with equal values all the way down.
///
/// A list is compared with an object as if its places were keys, as the reference does. Iterative, because a run can
/// build values of any depth; `spend` is called once for every pair compared below the first.
pub(crate) fn is_equal<'a>(a: Value<'a>, b: Value<'a>, mut spend: impl FnMut(u64) -> Result<()>) -> Result<bool> {
    let mut pairs: Vec<(Value<'a>, Value<'a>)> = Vec::new();
    let mut next = Some((a, b));
    while let Some((a, b)) = next {
        if !is_same_here(a, b, &mut pairs) {
            return Ok(false);
        }
        next = pairs.pop();
        spend(u64::from(next.is_some()))?;
    }
    Ok(true)
}

/// Compares two values without looking into them; what they hold is added to `pairs`.
fn is_same_here<'a>(a: Value<'a>, b: Value<'a>, pairs: &mut Vec<(Value<'a>, Value<'a>)>) -> bool {
    match (a, b) {
        (Value::Undefined, Value::Undefined) | (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a.value() == b.value(),
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Array(a), Value::Array(b)) => pair_items(a, b, pairs),
        (Value::Object(a), Value::Object(b)) => pair_fields(a, b, pairs),
        (Value::Array(a), Value::Object(b)) => pair_indexes(a, b, pairs),
        (Value::Object(a), Value::Array(b)) => pair_indexes(b, a, pairs),
        _ => false,
    }
}

fn pair_items<'a>(a: Array<'a>, b: Array<'a>, pairs: &mut Vec<(Value<'a>, Value<'a>)>) -> bool {
    if a.len() != b.len() {
        return false;
    }
    pairs.extend(a.iter().zip(b.iter()));
    true
}

fn pair_fields<'a>(a: Object<'a>, b: Object<'a>, pairs: &mut Vec<(Value<'a>, Value<'a>)>) -> bool {
    a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).map(|other| pairs.push((value, other))).is_some())
}

fn pair_indexes<'a>(a: Array<'a>, b: Object<'a>, pairs: &mut Vec<(Value<'a>, Value<'a>)>) -> bool {
    let item = |key: &str| array_index(key).and_then(|index| a.get(index as usize));
    a.len() == b.len() && b.iter().all(|(key, value)| item(key).map(|item| pairs.push((item, value))).is_some())
}

/// The order of two values where both are booleans, numbers or texts; nothing for all other pairs.
pub(crate) fn partial_order(a: Value<'_>, b: Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(&b)),
        (Value::Number(a), Value::Number(b)) => a.value().partial_cmp(&b.value()),
        (Value::String(a), Value::String(b)) => Some(text_order(a, b)),
        _ => None,
    }
}

/// The order of `sort`: booleans, numbers, texts, then everything else as equal. A total order; NaN is above numbers.
pub(crate) fn sort_order(a: Value<'_>, b: Value<'_>) -> Ordering {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => number_order(a.value(), b.value()),
        (Value::String(a), Value::String(b)) => text_order(a, b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(&b),
        _ => rank(a).cmp(&rank(b)),
    }
}

pub(crate) fn number_order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// A number that orders values as `sort_order` does, as far as it goes: equal ones have to be compared.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct SortKey {
    rank: u8,
    prefix: u128,
}

impl SortKey {
    pub fn of(value: Value<'_>) -> SortKey {
        let prefix = match value {
            Value::Bool(value) => u128::from(value),
            Value::Number(number) => u128::from(number_prefix(number.value())),
            Value::String(text) => text_prefix(text),
            _ => 0,
        };
        SortKey { rank: rank(value), prefix }
    }
}

/// Bits that ascend with the number: -0 is 0, NaN is above all.
fn number_prefix(value: f64) -> u64 {
    let bits = if value.is_nan() { f64::NAN.abs().to_bits() } else { (value + 0.0).to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The first sixteen bytes, so changed that they ascend as UTF-16 units do: see `text_order`.
fn text_prefix(text: &str) -> u128 {
    let byte = |at: usize| match text.as_bytes().get(at).copied().unwrap_or(0) {
        byte @ (0xEE | 0xEF) => byte + 0x0A,
        byte => byte,
    };
    u128::from_be_bytes(std::array::from_fn(byte))
}

fn rank(value: Value<'_>) -> u8 {
    match value {
        Value::Bool(_) => 0,
        Value::Number(_) => 1,
        Value::String(_) => 2,
        _ => 3,
    }
}

/// The order of two texts by UTF-16 code units.
///
/// It differs from the order of the UTF-8 bytes in one case: characters above U+FFFF (first byte F0 and up) come
/// before those from U+E000 to U+FFFF (first byte EE or EF).
pub(crate) fn text_order(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    match a.iter().zip(b).find(|(x, y)| x != y) {
        None => a.len().cmp(&b.len()),
        Some((x, y)) if *x >= 0xEE && *y >= 0xEE && (*x >= 0xF0) != (*y >= 0xF0) => y.cmp(x),
        Some((x, y)) => x.cmp(y),
    }
}

#[cfg(test)]
mod tests {
    use super::{SortKey, Value, sort_order, text_order};

    #[test]
    fn texts_are_ordered_by_utf_16_units() {
        let texts = ["", "a", "ab", "é", "\u{D7FF}", "\u{E000}", "ﬀ", "\u{FFFF}", "😀", "😁", "\u{10FFFF}"];
        for a in texts {
            for b in texts {
                let units = a.encode_utf16().cmp(b.encode_utf16());
                assert_eq!(text_order(a, b), units, "{a:?} {b:?}");
                let keys = SortKey::of(Value::String(a)).cmp(&SortKey::of(Value::String(b)));
                assert!(keys == units || keys.is_eq(), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn sort_keys_ascend_as_numbers_do() {
        let numbers = [f64::NEG_INFINITY, -1e300, -2.0, -1.5, -0.0, 0.0, 1e-300, 1.0, 1.5, f64::INFINITY, f64::NAN];
        for a in numbers.map(Value::number) {
            for b in numbers.map(Value::number) {
                assert_eq!(SortKey::of(a).cmp(&SortKey::of(b)), sort_order(a, b), "{a:?} {b:?}");
            }
        }
    }
}

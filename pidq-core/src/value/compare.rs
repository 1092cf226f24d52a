//! Equality and order of values, as in the reference implementation.

use std::cmp::Ordering;

use super::{Array, Number, Object, Value};
use crate::arena::load::array_index;
use crate::arena::{MAX_EXACT, is_rounded_integer};
use crate::error::Result;

/// Returns true if two values are equal: the same primitive, or the same keys with equal values at every level.
///
/// An array is compared with an object as if its indexes were keys, as in the reference implementation. Iterative,
/// because a run can build values of any depth; `charge` is called for every nested pair before it is compared, so that
/// neither time nor memory depends on the values after the first difference.
pub(crate) fn is_equal<'a>(a: Value<'a>, b: Value<'a>, charge: impl FnMut(u64) -> Result<()>) -> Result<bool> {
    is_equal_as_doubles(a, b, charge, |_| {})
}

/// As [`is_equal`]. `rounded` gets integers that are equal as doubles, but not as written.
pub(crate) fn is_equal_as_doubles<'a>(
    a: Value<'a>,
    b: Value<'a>,
    mut charge: impl FnMut(u64) -> Result<()>,
    mut rounded: impl FnMut(Value<'a>),
) -> Result<bool> {
    let mut stack: Vec<Pairs<'a>> = Vec::new();
    let mut pair = (a, b);
    loop {
        match compare_shallow(pair.0, pair.1) {
            ShallowOrder::Different => return Ok(false),
            ShallowOrder::Equal => rounded_tie(pair.0, pair.1).into_iter().for_each(&mut rounded),
            ShallowOrder::Nested(pairs) => stack.push(pairs),
        }
        pair = loop {
            let Some(innermost) = stack.last_mut() else { return Ok(true) };
            match innermost.next() {
                Some(Some(pair)) => break pair,
                Some(None) => return Ok(false),
                None => drop(stack.pop()),
            }
        };
        charge(1 + text_cost(pair.0, pair.1))?;
    }
}

/// Returns one of two numbers that are equal as doubles if they are integers with different digits.
#[cold]
fn rounded_pair<'a>(a: Number<'a>, b: Number<'a>) -> Option<Value<'a>> {
    let is_same = a.lexeme().is_some() && a.lexeme() == b.lexeme();
    [a, b].into_iter().find(|number| is_rounded(*number)).map(Value::Number).filter(|_| !is_same)
}

/// Returns true if a number is an integer in a document whose double is another integer: 9007199254740993.
pub(crate) fn is_rounded(number: Number<'_>) -> bool {
    number.value().abs() >= MAX_EXACT
        && number.lexeme().is_some_and(|digits| is_rounded_integer(digits, number.value()))
}

/// Returns one of two values if they are integers that are equal as doubles, but not as written.
pub(crate) fn rounded_tie<'a>(a: Value<'a>, b: Value<'a>) -> Option<Value<'a>> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) if a.value() == b.value() && a.value().abs() >= MAX_EXACT => {
            rounded_pair(a, b)
        }
        _ => None,
    }
}

/// Result of a comparison without descending.
enum ShallowOrder<'a> {
    Different,
    Equal,
    /// Equal so far: the children are to be compared pair by pair.
    Nested(Pairs<'a>),
}

fn compare_shallow<'a>(a: Value<'a>, b: Value<'a>) -> ShallowOrder<'a> {
    let is_equal = match (a, b) {
        (Value::Undefined, Value::Undefined) | (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => a.value() == b.value(),
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => return ShallowOrder::Nested(Pairs::Items(a, b, 0)),
        (Value::Object(a), Value::Object(b)) if a.len() == b.len() => {
            return ShallowOrder::Nested(Pairs::Fields(a, b, 0));
        }
        (Value::Array(a), Value::Object(b)) | (Value::Object(b), Value::Array(a)) if a.len() == b.len() => {
            return ShallowOrder::Nested(Pairs::Indexes(a, b, 0));
        }
        _ => false,
    };
    if is_equal { ShallowOrder::Equal } else { ShallowOrder::Different }
}

/// Returns the cost of comparing two strings.
fn text_cost(a: Value<'_>, b: Value<'_>) -> u64 {
    match (a, b) {
        (Value::String(a), Value::String(b)) if a.len() == b.len() => a.len() as u64 / 64,
        _ => 0,
    }
}

/// Two containers of the same length, and the number of pairs taken.
enum Pairs<'a> {
    Items(Array<'a>, Array<'a>, usize),
    Fields(Object<'a>, Object<'a>, usize),
    /// The keys of the object are indexes of the array.
    Indexes(Array<'a>, Object<'a>, usize),
}

impl<'a> Pairs<'a> {
    /// Returns the next two values; `None` at the end, and no pair if the other container lacks a key.
    fn next(&mut self) -> Option<Option<(Value<'a>, Value<'a>)>> {
        let (Pairs::Items(_, _, at) | Pairs::Fields(_, _, at) | Pairs::Indexes(_, _, at)) = self;
        let index = *at;
        *at += 1;
        match self {
            Pairs::Items(a, b, _) => a.get(index).map(|item| Some((item, b.get(index)?))),
            Pairs::Fields(a, b, _) if index < a.len() => Some(b.get(a.key(index)).map(|other| (a.value(index), other))),
            Pairs::Indexes(a, b, _) if index < b.len() => {
                let item = array_index(b.key(index)).and_then(|index| a.get(index as usize));
                Some(item.map(|item| (item, b.value(index))))
            }
            _ => None,
        }
    }
}

/// Returns the order of two booleans, numbers or strings; `None` for all other pairs.
pub(crate) fn partial_order(a: Value<'_>, b: Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(&b)),
        (Value::Number(a), Value::Number(b)) => a.value().partial_cmp(&b.value()),
        (Value::String(a), Value::String(b)) => Some(text_order(a, b)),
        _ => None,
    }
}

/// Returns the order of `sort`: booleans, numbers, strings, then everything else as equal. A total order; NaN is above
/// all numbers.
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

/// A prefix of the sort order: values with equal keys have to be compared.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct SortKey {
    rank: u8,
    prefix: u128,
}

impl SortKey {
    pub fn new(value: Value<'_>) -> SortKey {
        let prefix = match value {
            Value::Bool(value) => u128::from(value),
            Value::Number(number) => u128::from(number_prefix(number.value())),
            Value::String(text) => text_prefix(text),
            _ => 0,
        };
        SortKey { rank: rank(value), prefix }
    }
}

/// Returns bits that ascend with the number: -0 is 0, NaN is above all.
fn number_prefix(value: f64) -> u64 {
    let bits = if value.is_nan() { f64::NAN.abs().to_bits() } else { (value + 0.0).to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Returns the first sixteen bytes, mapped so that they ascend like UTF-16 units: see `text_order`.
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

/// Returns the order of two strings by UTF-16 code units.
///
/// It differs from the order of the UTF-8 bytes in one case: characters above U+FFFF (first byte F0 and up) come
/// before those from U+E000 to U+FFFF (first byte EE or EF).
pub(crate) fn text_order(a: &str, b: &str) -> Ordering {
    let (a, b) = without_common_blocks(a.as_bytes(), b.as_bytes());
    match a.iter().zip(b).find(|(x, y)| x != y) {
        None => a.len().cmp(&b.len()),
        Some((x, y)) if *x >= 0xEE && *y >= 0xEE && (*x >= 0xF0) != (*y >= 0xF0) => y.cmp(x),
        Some((x, y)) => x.cmp(y),
    }
}

/// Skips the blocks that two strings have in common at the start.
fn without_common_blocks<'a, 'b>(mut a: &'a [u8], mut b: &'b [u8]) -> (&'a [u8], &'b [u8]) {
    const BLOCK: usize = 64;
    while let (Some((first, rest)), Some((other, other_rest))) = (a.split_at_checked(BLOCK), b.split_at_checked(BLOCK))
        && first == other
    {
        (a, b) = (rest, other_rest);
    }
    (a, b)
}

#[cfg(test)]
mod tests {
    use super::{SortKey, Value, sort_order, text_order};

    #[test]
    fn strings_are_ordered_by_utf_16_units() {
        let texts = ["", "a", "ab", "é", "\u{D7FF}", "\u{E000}", "ﬀ", "\u{FFFF}", "😀", "😁", "\u{10FFFF}"];
        for a in texts {
            for b in texts {
                let units = a.encode_utf16().cmp(b.encode_utf16());
                assert_eq!(text_order(a, b), units, "{a:?} {b:?}");
                let keys = SortKey::new(Value::String(a)).cmp(&SortKey::new(Value::String(b)));
                assert!(keys == units || keys.is_eq(), "{a:?} {b:?}");
                let (long_a, long_b) = (format!("{}{a}", "é-x".repeat(50)), format!("{}{b}", "é-x".repeat(50)));
                assert_eq!(text_order(&long_a, &long_b), units, "{a:?} {b:?} after a common prefix");
            }
        }
    }

    #[test]
    fn sort_keys_of_numbers_are_in_numeric_order() {
        let numbers = [f64::NEG_INFINITY, -1e300, -2.0, -1.5, -0.0, 0.0, 1e-300, 1.0, 1.5, f64::INFINITY, f64::NAN];
        for a in numbers.map(Value::number) {
            for b in numbers.map(Value::number) {
                assert_eq!(SortKey::new(a).cmp(&SortKey::new(b)), sort_order(a, b), "{a:?} {b:?}");
            }
        }
    }
}

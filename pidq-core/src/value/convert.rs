//! JavaScript's conversions: `Number(x)`, `String(x)`, lengths in UTF-16 units. Source: ECMA-262, section 7.1.

use std::fmt::{self, Write};

use super::js_number_format::NumberBuffer;
use super::{Array, Value};

/// `Number(x)`.
pub(crate) fn to_number(value: Value<'_>) -> f64 {
    match value {
        Value::Undefined | Value::Object(_) => f64::NAN,
        Value::Null => 0.0,
        Value::Bool(value) => f64::from(u8::from(value)),
        Value::Number(number) => number.value(),
        Value::String(text) => text_to_number(text),
        Value::Array(array) => array_to_number(array),
    }
}

/// Returns `Number([...])`: the number of the array's text. Only an array with at most one value, at any depth, has
/// one.
fn array_to_number(array: Array<'_>) -> f64 {
    let mut array = array;
    loop {
        match (array.len(), array.get(0)) {
            (0, _) => return 0.0,
            (1, Some(Value::Array(inner))) => array = inner,
            (1, Some(Value::Undefined | Value::Null)) => return 0.0,
            (1, Some(Value::Bool(_) | Value::Object(_))) => return f64::NAN,
            (1, Some(Value::Number(number))) => return number.value(),
            (1, Some(Value::String(text))) => return text_to_number(text),
            _ => return f64::NAN,
        }
    }
}

/// Returns `Number("...")`: white space around, decimal digits, `Infinity`, or an unsigned `0x`, `0b`, `0o`.
pub(crate) fn text_to_number(text: &str) -> f64 {
    if let Some(number) = short_integer(text) {
        return number;
    }
    let text = text.trim_matches(is_space);
    match text.as_bytes() {
        [] => 0.0,
        [b'0', b'x' | b'X', ..] => digits_to_number(&text[2..], 16),
        [b'0', b'o' | b'O', ..] => digits_to_number(&text[2..], 8),
        [b'0', b'b' | b'B', ..] => digits_to_number(&text[2..], 2),
        _ => decimal_to_number(text),
    }
}

/// Parses a string of a few digits, which a double represents exactly.
fn short_integer(text: &str) -> Option<f64> {
    const EXACT: usize = 15;
    let digits = text.as_bytes();
    if let (4..=8, Some(first), Some(last)) = (digits.len(), digits.first_chunk(), digits.last_chunk()) {
        return eight_digits(*first, *last, digits.len());
    }
    if digits.is_empty() || digits.len() > EXACT {
        return None;
    }
    let (mut number, mut is_number) = (0_i64, true);
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        is_number &= digit <= 9;
        number = number * 10 + i64::from(digit);
    }
    is_number.then_some(number as f64)
}

/// Parses four to eight digits, given as the first four and the last four, at once in one word (D. Lemire, "Quickly
/// parsing eight digits", 2018).
fn eight_digits(first: [u8; 4], last: [u8; 4], len: usize) -> Option<f64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let missing = 8 * (8 - len) as u32;
    let text = u64::from(u32::from_le_bytes(first)) << missing | u64::from(u32::from_le_bytes(last)) << 32;
    let text = text | ZEROS & !(u64::MAX << missing);
    // Adding six to a digit does not change its upper four bits.
    let [own, above] = [text, text.wrapping_add(0x0606_0606_0606_0606)].map(|text| text & 0xF0F0_F0F0_F0F0_F0F0);
    if own != ZEROS || above != ZEROS {
        return None;
    }
    let digits = text - ZEROS;
    let pairs = digits * 10 + (digits >> 8);
    let odd = (pairs & 0xFF_0000_00FF).wrapping_mul(100 + (1_000_000 << 32));
    let even = (pairs >> 16 & 0xFF_0000_00FF).wrapping_mul(1 + (10_000 << 32));
    Some(f64::from((odd.wrapping_add(even) >> 32) as u32))
}

fn digits_to_number(digits: &str, radix: u32) -> f64 {
    if digits.is_empty() {
        return f64::NAN;
    }
    // Exact up to 2^53; above it every digit rounds, which appears to match JavaScript for powers of two.
    let digit = |c: char| c.to_digit(radix).map(f64::from);
    digits.chars().try_fold(0.0, |sum, c| Some(sum * f64::from(radix) + digit(c)?)).unwrap_or(f64::NAN)
}

fn decimal_to_number(text: &str) -> f64 {
    let (sign, digits) = match text.as_bytes()[0] {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    if digits == "Infinity" {
        return sign * f64::INFINITY;
    }
    // Rust accepts `inf`, `nan` and a second sign; JavaScript does not.
    let plain = digits.bytes().next().is_some_and(|b| b.is_ascii_digit() || b == b'.')
        && digits.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    if !plain {
        return f64::NAN;
    }
    digits.parse::<f64>().map_or(f64::NAN, |value| sign * value)
}

/// JavaScript's white space (ECMA-262 12.2 and 12.3).
pub(crate) fn is_space(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\u{B}' | '\u{C}' | '\r' | ' ' | '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202F}' | '\u{205F}' | '\u{3000}' | '\u{FEFF}')
}

/// Writes `String(x)` to `out`, which may return an error. Iterative: a run can build arrays of any depth.
#[inline]
pub(crate) fn write_text(value: Value<'_>, out: &mut impl Write) -> fmt::Result {
    match value {
        Value::String(text) => out.write_str(text),
        other => write_other(other, out),
    }
}

fn write_other(value: Value<'_>, out: &mut impl Write) -> fmt::Result {
    let Value::Array(array) = value else { return write_scalar(value, out) };
    let mut stack = vec![(array, 0)];
    while let Some((array, at)) = stack.last_mut() {
        let Some(item) = array.get(*at) else {
            stack.pop();
            continue;
        };
        if *at > 0 {
            out.write_char(',')?;
        }
        *at += 1;
        match item {
            Value::Undefined | Value::Null => {}
            Value::Array(inner) => stack.push((inner, 0)),
            scalar => write_scalar(scalar, out)?,
        }
    }
    Ok(())
}

/// Returns `String(x)` of a value that is known to be small: a constant of a query.
pub(crate) fn to_text(value: Value<'_>) -> String {
    let mut text = String::new();
    let written = write_text(value, &mut text);
    debug_assert!(written.is_ok(), "a string takes everything");
    text
}

fn write_scalar(value: Value<'_>, out: &mut impl Write) -> fmt::Result {
    match value {
        Value::Undefined => out.write_str("undefined"),
        Value::Null => out.write_str("null"),
        Value::Bool(value) => out.write_str(if value { "true" } else { "false" }),
        Value::Number(number) => out.write_str(NumberBuffer::new().text(number.value())),
        Value::String(text) => out.write_str(text),
        Value::Array(_) => Ok(()),
        Value::Object(_) => out.write_str("[object Object]"),
    }
}

/// Returns the length of a string in UTF-16 units.
pub(crate) fn utf16_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() }
}

/// Returns the part of a string between two offsets in UTF-16 units. A cut through a surrogate pair gives U+FFFD for
/// the half.
pub(crate) fn utf16_slice(text: &str, start: usize, end: usize) -> Slice<'_> {
    if text.is_ascii() {
        return Slice::Part(&text[start.min(text.len())..end.clamp(start.min(text.len()), text.len())]);
    }
    let mut at = 0;
    let (mut first, mut last) = (text.len(), text.len());
    let (mut splits_first, mut splits_last) = (false, false);
    for (byte, c) in text.char_indices() {
        let next = at + c.len_utf16();
        if first == text.len() && (at >= start || next > start) {
            (first, splits_first) = if at >= start { (byte, false) } else { (byte + c.len_utf8(), true) };
        }
        if next > end {
            (last, splits_last) = (byte, at < end);
            break;
        }
        at = next;
    }
    if end <= start || first > last {
        let half = end > start && (splits_first || splits_last);
        return if half { Slice::Halves(true, "", false) } else { Slice::Part("") };
    }
    if splits_first || splits_last {
        return Slice::Halves(splits_first, &text[first..last], splits_last);
    }
    Slice::Part(&text[first..last])
}

/// A part of a string: verbatim, or with a replacement character for half a surrogate pair before or after it.
#[derive(Debug, PartialEq)]
pub(crate) enum Slice<'t> {
    Part(&'t str),
    Halves(bool, &'t str, bool),
}

impl fmt::Display for Slice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Slice::Part(text) => f.write_str(text),
            Slice::Halves(before, text, after) => {
                let half = |cut: bool| if cut { "\u{FFFD}" } else { "" };
                write!(f, "{}{text}{}", half(*before), half(*after))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{text_to_number, utf16_slice};

    #[test]
    fn strings_become_numbers_as_in_javascript() {
        let cases = [
            ("", 0.0),
            (" \n\u{A0}\u{FEFF}", 0.0),
            ("12", 12.0),
            (" 1. ", 1.0),
            (".5", 0.5),
            ("+5", 5.0),
            ("-5e-1", -0.5),
            ("0x1F", 31.0),
            ("0b101", 5.0),
            ("0o17", 15.0),
            ("-Infinity", f64::NEG_INFINITY),
            ("1e400", f64::INFINITY),
        ];
        for (text, number) in cases {
            assert_eq!(text_to_number(text), number, "{text:?}");
        }
        for text in ["a", "1a", "inf", "nan", "NaN", "--1", "-0x1", "0x", "1_000", ".", "e5", "1e", "infinity", "٣"] {
            assert!(text_to_number(text).is_nan(), "{text:?}");
        }
    }

    #[test]
    fn blocks_of_digits_are_parsed_like_single_digits() {
        for number in
            (0..200_u64).chain((0..500).map(|n| n * 1_999_993)).chain([99_999_999, 100_000_000, 999_999_999_999_999])
        {
            for text in [format!("{number}"), format!("{number:04}"), format!("{number:08}"), format!("{number:015}")] {
                assert_eq!(text_to_number(&text), number as f64, "{text:?}");
            }
        }
        for byte in (0..=0x7F_u8).filter(|byte| !byte.is_ascii_digit() && !b" \t\n\x0b\x0c\r.eE".contains(byte)) {
            for text in [format!("123{}", byte as char), format!("12345{}78", byte as char)] {
                assert!(text_to_number(&text).is_nan(), "{text:?}");
            }
        }
        assert!(text_to_number("12é45").is_nan() && text_to_number("1234\u{FA}").is_nan());
    }

    #[test]
    fn slices_count_utf_16_units() {
        let cases = [
            ("abc", 1, 2, "b"),
            ("abc", 2, 1, ""),
            ("a😀b", 1, 3, "😀"),
            ("a😀b", 3, 9, "b"),
            ("a😀b", 2, 4, "\u{FFFD}b"),
            ("a😀b", 0, 2, "a\u{FFFD}"),
            ("é1", 1, 2, "1"),
            ("😀", 1, 1, ""),
            ("", 0, 5, ""),
        ];
        for (text, start, end, part) in cases {
            assert_eq!(utf16_slice(text, start, end).to_string(), part, "{text:?} {start} {end}");
        }
    }
}

//! String functions: splitting, slicing, joining, and conversion to strings.

use std::fmt::{self, Write};

use super::array;
use super::number::{argument, number_of};
use crate::arena::{Arena, Cell};
use crate::error::{Code, Error, Result};
use crate::eval::EvalContext;
use crate::eval::build::LimitedText;
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::value::convert::Slice;
use crate::value::write::describe;
use crate::value::{Array, Value, convert};

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "join",
        params: &[Param::constant("separator").optional()],
        summary: "The items of an array as one string, with a separator between them.",
        example: r#"["P", 101] | join("-") => "P-101""#,
        body: Body::Piped(join),
    },
    Function {
        name: "split",
        params: &[Param::query("text"), Param::query("separator").optional()],
        summary: "The parts of a string between separators; without a separator, its words.",
        example: r#"split("a-b", "-") => ["a","b"]"#,
        body: Body::Strict(split),
    },
    Function {
        name: "string",
        params: &[Param::query("value")],
        summary: "The value as a string.",
        example: r#"string(2.50) => "2.5""#,
        body: Body::Batched(string, strings),
    },
    Function {
        name: "substring",
        params: &[Param::query("text"), Param::query("start"), Param::query("end").optional()],
        summary: "The part of a string or array from start up to, not including, end; a negative end counts from the end, a negative start is 0.",
        example: r#"substring("P-101A", 2, -1) => "101""#,
        body: Body::Batched(substring, substrings),
    },
];

fn join<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let list = array::list(input)?;
    let separator = match args.first() {
        Some(separator) => cx.eval(separator, input)?,
        None => Value::String(""),
    };
    let separator = cx.convert_to_text(separator)?;
    cx.charge(list.len() as u64)?;
    if let Some((arena, cells)) = list.cells()
        && cx.allows_fast_path(arena)
        && let Some(len) = joined_len(arena, cells, separator)
    {
        return cx.text_of_len(len, |out| join_cells(arena, cells, separator, out)).map(Value::String);
    }
    cx.build_text(|out| write_joined(list, separator, out)).map(Value::String)
}

/// Returns the length of the joined strings; `None` if some values are neither strings nor null.
fn joined_len(arena: &Arena, cells: &[Cell], separator: &str) -> Option<usize> {
    let mut len = cells.len().saturating_sub(1).saturating_mul(separator.len());
    for cell in cells {
        len = len.saturating_add(arena.text_or_null_len(*cell)?);
    }
    Some(len)
}

/// Joins strings of the document.
///
/// Hot: a short string is copied as a block of sixteen bytes, without a call, and the next one overwrites the rest.
fn join_cells(arena: &Arena, cells: &[Cell], separator: &str, out: &mut [u8]) {
    let mut rest = out;
    let separator = ShortText::new(separator).ok_or(separator);
    for (number, cell) in cells.iter().enumerate() {
        if number > 0 {
            rest = match &separator {
                Ok(short) => write_block(rest, &short.block, short.len),
                Err(long) => write_bytes(rest, long.as_bytes()),
            };
        }
        rest = match arena.short_block(*cell) {
            Some((block, len)) => write_block(rest, block, len),
            None => write_bytes(rest, arena.string(*cell).as_bytes()),
        };
    }
}

/// A string of at most sixteen bytes, as a block.
struct ShortText {
    block: [u8; 16],
    len: usize,
}

impl ShortText {
    fn new(text: &str) -> Option<ShortText> {
        let mut block = [0; 16];
        block.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(ShortText { block, len: text.len() })
    }
}

/// Writes the first `len` bytes of a block, and returns the space after them.
#[inline]
fn write_block<'o>(out: &'o mut [u8], block: &[u8; 16], len: usize) -> &'o mut [u8] {
    match out.first_chunk_mut() {
        Some(space) => *space = *block,
        None => write_last(out, &block[..len]),
    }
    &mut out[len..]
}

/// Writes a string before the end of the space. Not inlined: the compiler would combine it with the copy of a whole
/// block, to a call.
#[cold]
#[inline(never)]
fn write_last(out: &mut [u8], bytes: &[u8]) {
    out[..bytes.len()].copy_from_slice(bytes);
}

fn write_bytes<'o>(out: &'o mut [u8], bytes: &[u8]) -> &'o mut [u8] {
    let (space, rest) = out.split_at_mut(bytes.len());
    space.copy_from_slice(bytes);
    rest
}

fn write_joined(list: Array<'_>, separator: &str, out: &mut LimitedText) -> fmt::Result {
    let mut before = "";
    for item in list.iter() {
        match item {
            Value::String(text) => out.push_pair(before, text)?,
            item if item.is_null() => out.write_str(before)?,
            item => {
                out.write_str(before)?;
                convert::write_text(item, out)?;
            }
        }
        before = separator;
    }
    Ok(())
}

fn split<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let text = expect_text(argument(args, 0))?;
    cx.charge_bytes(text.len())?;
    let separator = match argument(args, 1) {
        Value::Undefined => return words(cx, text),
        separator => cx.convert_to_text(separator)?,
    };
    cx.charge_bytes(separator.len())?;
    match separator {
        "" => units(cx, text),
        // A search for one byte has no setup, which costs more than the search in a tag.
        _ => match separator.as_bytes() {
            [byte] => texts(cx, text.split(char::from(*byte))),
            _ => texts(cx, text.split(separator)),
        },
    }
}

fn words<'a>(cx: &mut EvalContext<'a>, text: &'a str) -> Result<Value<'a>> {
    let text = text.trim_matches(convert::is_space);
    if text.is_empty() {
        return texts(cx, [""].into_iter());
    }
    texts(cx, text.split(convert::is_space).filter(|word| !word.is_empty()))
}

/// Returns single UTF-16 units. A character outside the basic plane has two, and neither is a character.
fn units<'a>(cx: &mut EvalContext<'a>, text: &'a str) -> Result<Value<'a>> {
    const HALVES: [&str; 2] = ["\u{FFFD}"; 2];
    let base = cx.mark();
    for (at, c) in text.char_indices() {
        let unit = [&text[at..at + c.len_utf8()]];
        let units: &[&'a str] = if c.len_utf16() == 2 { &HALVES } else { &unit };
        for unit in units {
            cx.charge(1)?;
            cx.push(Value::String(unit))?;
        }
    }
    cx.collect_list(base)
}

fn texts<'a>(cx: &mut EvalContext<'a>, parts: impl Iterator<Item = &'a str>) -> Result<Value<'a>> {
    let base = cx.mark();
    for part in parts {
        cx.charge(1)?;
        cx.push(Value::String(part))?;
    }
    cx.collect_list(base)
}

/// Converts to a string. No argument is the empty string, like `String()`; an argument without a value would be
/// `"undefined"`.
fn string<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args.first() {
        Some(value) => cx.convert_to_text(*value).map(Value::String),
        None => Ok(Value::String("")),
    }
}

/// Converts numbers and booleans, free of charge like single ones.
fn strings<'a>(cx: &mut EvalContext<'a>, values: &mut [Value<'a>], _: &[Value<'a>]) -> usize {
    cx.convert_scalars_to_text(values)
}

fn substring<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    if let Some(part) = short_substring(args) {
        return Ok(Value::String(part));
    }
    match argument(args, 0) {
        Value::Array(list) => {
            let (start, end) = bounds(cx, args, list.len())?;
            cx.slice_list(list, start.min(end), end)
        }
        value => {
            let text = expect_text(value)?;
            cx.charge_bytes(text.len())?;
            if text.is_ascii() {
                let (start, end) = bounds(cx, args, text.len())?;
                return Ok(Value::String(&text[start.min(end)..end]));
            }
            let (start, end) = bounds(cx, args, convert::utf16_len(text))?;
            part_of_text(cx, text, start, end)
        }
    }
}

/// Cuts short strings at numeric positions, free of charge.
fn substrings<'a>(_: &mut EvalContext<'a>, values: &mut [Value<'a>], positions: &[Value<'a>]) -> usize {
    let Some((start, end)) = numeric_positions(positions) else { return 0 };
    for (at, value) in values.iter_mut().enumerate() {
        let part = value.as_str().and_then(|text| short_part(text, start, end));
        let Some(part) = part else { return at };
        *value = Value::String(part);
    }
    values.len()
}

/// Returns a part of a short ASCII string between numeric positions: the common case, free of charge.
#[inline]
fn short_substring<'a>(args: &[Value<'a>]) -> Option<&'a str> {
    let [Value::String(text), positions @ ..] = args else { return None };
    let (start, end) = numeric_positions(positions)?;
    short_part(text, start, end)
}

/// Returns start and end if both are numbers and the end is not counted from the end of the string.
#[inline]
fn numeric_positions(positions: &[Value<'_>]) -> Option<(usize, usize)> {
    match *positions {
        [Value::Number(start)] => Some((start.value() as usize, usize::MAX)),
        [Value::Number(start), Value::Number(end)] if end.value() >= 0.0 => {
            Some((start.value() as usize, end.value() as usize))
        }
        _ => None,
    }
}

/// Returns a part of a string if it is short and ASCII.
#[inline]
fn short_part(text: &str, start: usize, end: usize) -> Option<&str> {
    let end = end.min(text.len());
    if text.len() < 64 && text.is_ascii() { text.get(start.min(end)..end) } else { None }
}

/// Returns start and end of a part like JavaScript's `slice(Math.max(start, 0), end)`.
#[inline]
fn bounds<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>], len: usize) -> Result<(usize, usize)> {
    // Casts truncate fractions and map NaN to 0 and numbers out of range to the nearest limit, like JavaScript for the
    // start.
    let start = number_of(cx, argument(args, 1))? as usize;
    let end = match argument(args, 2) {
        Value::Undefined => return Ok((start, len)),
        end => number_of(cx, end)? as i64,
    };
    let end = if end < 0 { (len as i64).saturating_add(end).max(0) } else { end };
    Ok((start, (end as usize).min(len)))
}

fn part_of_text<'a>(cx: &mut EvalContext<'a>, text: &'a str, start: usize, end: usize) -> Result<Value<'a>> {
    match convert::utf16_slice(text, start, end) {
        Slice::Part(part) => Ok(Value::String(part)),
        halves => cx.build_text(|out| write!(out, "{halves}")).map(Value::String),
    }
}

/// Returns a string argument.
pub(super) fn expect_text<'a>(value: Value<'a>) -> Result<&'a str> {
    value.as_str().ok_or_else(|| {
        let help = match value.type_name() {
            "null" => "the value is null: a property may be missing".to_owned(),
            name => format!("the value is of type {name}: `string(...)` converts it"),
        };
        let error = Error::new(Code::StringExpected, "String expected").with_help(help);
        error.with_label(format!("got {}", describe(value)))
    })
}

//! JSON in parts that are JSON again, each value at its own path.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value};

use super::parameters::{Kind, Parameter, Parameters};
use super::room::Room;
use super::{Chunk, Embed, Refusal, Split, Splitter};

/// The row.
pub const JSON: Splitter = Splitter {
    name: "json",
    summary: "parts of a JSON object, each with the paths to what it holds; sizes are those of Python's json.dumps",
    parameters: &[
        Parameter {
            name: "max_chunk_size",
            kind: Kind::Integer,
            default: "2000",
            summary: "how long a part may be, where values allow it",
        },
        Parameter {
            name: "min_chunk_size",
            kind: Kind::Integer,
            default: "null",
            summary: "how long a part must be before a new one begins; 200 less than the most, at least 50",
        },
        Parameter {
            name: "convert_lists",
            kind: Kind::Flag,
            default: "false",
            summary: "whether lists are taken apart too, as objects with numbers for keys",
        },
    ],
    build: |parameters| Ok(Box::new(Sizes::new(parameters))),
};

struct Sizes {
    most: i64,
    least: i64,
    convert_lists: bool,
}

impl Sizes {
    fn new(parameters: &Parameters) -> Self {
        let most = parameters.integer("max_chunk_size");
        let least = parameters.optional_integer("min_chunk_size").unwrap_or((most - 200).max(50));
        Sizes { most, least, convert_lists: parameters.flag("convert_lists") }
    }

    /// Puts what is in `value` into the last part, or into new ones.
    fn add(&self, value: Value, path: &mut Vec<String>, parts: &mut Parts) -> Result<(), Refusal> {
        match value {
            Value::Object(members) if !members.is_empty() => {
                for (key, value) in members {
                    self.add_member(key, value, path, parts)?;
                }
                Ok(())
            }
            leaf if !path.is_empty() => parts.set(path, leaf),
            _ => Ok(()),
        }
    }

    fn add_member(&self, key: String, value: Value, path: &mut Vec<String>, parts: &mut Parts) -> Result<(), Refusal> {
        let full = parts.last().size;
        let size = 2 + text_size(&key) + 2 + size(&value);
        path.push(key);
        if size < self.most - full {
            parts.set(path, value)?;
        } else {
            if full >= self.least {
                parts.list.push(Part::default());
            }
            self.add(value, path, parts)?;
        }
        path.pop();
        Ok(())
    }
}

impl Split for Sizes {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, Refusal> {
        let value: Value = serde_json::from_str(&with_long_integers(text))
            .map_err(|error| Refusal::text(format!("not JSON: {error}")))?;
        let value = if self.convert_lists { without_lists(value) } else { value };
        if !value.is_object() && !value.is_null() {
            let hint = if value.is_array() { "; convert_lists takes lists too" } else { "" };
            return Err(Refusal::text(format!("the JSON must be an object{hint}")));
        }
        let mut parts = Parts { list: vec![Part::default()], room: Room::of(text) };
        self.add(value, &mut Vec::new(), &mut parts)?;
        parts.list.pop_if(|last| last.members.is_empty());
        Ok(parts.list.into_iter().map(|part| Chunk::made(dumps(&Value::Object(part.members)), None)).collect())
    }
}

/// The parts so far. A key stands in each part that has something below it.
struct Parts {
    list: Vec<Part>,
    room: Room,
}

impl Parts {
    #[expect(clippy::expect_used, reason = "there is always a first part")]
    fn last(&mut self) -> &mut Part {
        self.list.last_mut().expect("a part")
    }

    /// Puts a value into the last part.
    fn set(&mut self, path: &[String], value: Value) -> Result<(), Refusal> {
        let grown = self.last().set(path, value);
        self.room.take(usize::try_from(grown).unwrap_or(0))
    }
}

/// An object that grows.
struct Part {
    members: Map<String, Value>,
    /// How long it is. Counting it anew for each member would take the square of its time.
    size: i64,
}

impl Default for Part {
    fn default() -> Self {
        Part { members: Map::new(), size: 2 }
    }
}

impl Part {
    /// Puts a value at its path. Says by how much the part grew. No two values have one path: an object of JSON has a key
    /// once, and what has members is no value of its own.
    fn set(&mut self, path: &[String], value: Value) -> i64 {
        let Some((key, above)) = path.split_last() else { return 0 };
        let before = self.size;
        let mut members = &mut self.members;
        for key in above {
            if !members.contains_key(key) {
                self.size += beside(members) + text_size(key) + 2 + 2;
            }
            let inner = members.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(inner) = inner else { return self.size - before };
            members = inner;
        }
        self.size += beside(members) + text_size(key) + 2 + size(&value);
        members.insert(key.clone(), value);
        self.size - before
    }
}

/// How long what separates the next member from those that are there is.
fn beside(members: &Map<String, Value>) -> i64 {
    if members.is_empty() { 0 } else { 2 }
}

fn without_lists(value: Value) -> Value {
    match value {
        Value::Object(members) => members.into_iter().map(|(key, value)| (key, without_lists(value))).collect(),
        Value::Array(items) => {
            items.into_iter().enumerate().map(|(at, item)| (at.to_string(), without_lists(item))).collect()
        }
        leaf => leaf,
    }
}

/// The length of a value as Python's `json.dumps` writes it in ASCII.
fn size(value: &Value) -> i64 {
    match value {
        Value::Object(members) => object_size(members),
        Value::Array(items) => 2 + items.iter().map(size).sum::<i64>() + 2 * (items.len() as i64 - 1).max(0),
        Value::String(text) => text.strip_prefix(LONG).map_or_else(|| text_size(text), |digits| digits.len() as i64),
        leaf => dumps(leaf).len() as i64,
    }
}

fn object_size(members: &Map<String, Value>) -> i64 {
    let inside: i64 = members.iter().map(|(key, value)| text_size(key) + 2 + size(value)).sum();
    2 + inside + 2 * (members.len() as i64 - 1).max(0)
}

fn text_size(text: &str) -> i64 {
    let of = |c: char| match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        ' '..='~' => 1,
        '\u{10000}'.. => 12,
        _ => 6,
    };
    2 + text.chars().map(of).sum::<i64>()
}

/// A value as Python's `json.dumps` writes it with `ensure_ascii` off: blanks after commas and colons.
fn dumps(value: &Value) -> String {
    let mut out = Vec::new();
    // Writing a value to memory cannot fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut out, Python));
    as_integers(String::from_utf8(out).unwrap_or_default())
}

/// What an integer begins with that no number of this program holds: until it is written it is a text, with all its digits.
const LONG: &str = "\0\0";
/// The same in JSON.
const LONG_WRITTEN: &str = "\"\\u0000\\u0000";

/// Puts integers that are too long for a number into quotes.
fn with_long_integers(json: &str) -> Cow<'_, str> {
    let (mut out, mut done, mut at) = (String::new(), 0, 0);
    let bytes = json.as_bytes();
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => end_of_text(bytes, at),
            byte if is_of_number(byte) => at + bytes[at..].iter().take_while(|byte| is_of_number(byte)).count(),
            _ => at + 1,
        };
        if is_long_integer(&bytes[at..end]) {
            out.extend([&json[done..at], LONG_WRITTEN, &json[at..end], "\""]);
            done = end;
        }
        at = end;
    }
    if done == 0 { Cow::Borrowed(json) } else { Cow::Owned(out + &json[done..]) }
}

/// The place behind a text that begins with a quote.
fn end_of_text(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

fn is_of_number(byte: &u8) -> bool {
    byte.is_ascii_digit() || b"+-.eE".contains(byte)
}

/// An integer of JSON, which has no nought before others, beyond 64 bits.
fn is_long_integer(token: &[u8]) -> bool {
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    let is_integer = digits.iter().all(u8::is_ascii_digit) && !digits.starts_with(b"0") && digits.len() >= 19;
    let number = str::from_utf8(token).unwrap_or_default();
    is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err()
}

/// Takes the quotes from integers again.
fn as_integers(json: String) -> String {
    if !json.contains(LONG_WRITTEN) {
        return json;
    }
    let mut parts = json.split(LONG_WRITTEN);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut out, part| {
        let (digits, rest) = part.split_once('"').unwrap_or((part, ""));
        out.extend([digits, rest]);
        out
    })
}

struct Python;

impl Formatter for Python {
    fn begin_array_value<W: Write + ?Sized>(&mut self, out: &mut W, is_first: bool) -> io::Result<()> {
        if is_first { Ok(()) } else { out.write_all(b", ") }
    }

    fn begin_object_key<W: Write + ?Sized>(&mut self, out: &mut W, is_first: bool) -> io::Result<()> {
        self.begin_array_value(out, is_first)
    }

    fn begin_object_value<W: Write + ?Sized>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn write_f64<W: Write + ?Sized>(&mut self, out: &mut W, number: f64) -> io::Result<()> {
        out.write_all(float(number).as_bytes())
    }
}

/// A number as Python's `repr` writes it: an exponent below 1e-4 and from 1e16 on, else at least one decimal.
fn float(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-4..1e16).contains(&size) {
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
        return format!("{digits}e{sign}{exponent:0>2}");
    }
    format!("{number:?}")
}

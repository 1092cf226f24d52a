//! The `json` splitter: splits a JSON object into smaller objects, each value at its own path.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value};

use super::parameters::{Parameter, ParameterKind, Parameters};
use super::size_limit::SizeLimit;
use super::{Chunk, Embed, Split, SplitError, Splitter};

/// The `json` splitter.
pub const JSON: Splitter = Splitter {
    name: "json",
    summary: "parts of a JSON object, each with the paths of its values; sizes are those of Python's json.dumps",
    parameters: &[
        Parameter {
            name: "max_chunk_size",
            kind: ParameterKind::Integer,
            default: "2000",
            summary: "maximum size of a part, if the values allow it",
        },
        Parameter {
            name: "min_chunk_size",
            kind: ParameterKind::Integer,
            default: "null",
            summary: "minimum size of a part before a new one starts; default: max_chunk_size - 200, at least 50",
        },
        Parameter {
            name: "convert_lists",
            kind: ParameterKind::Flag,
            default: "false",
            summary: "whether arrays are split too, as objects with indexes as keys",
        },
    ],
    build: |parameters| Ok(Box::new(JsonSplitter::new(parameters))),
};

struct JsonSplitter {
    max_size: i64,
    min_size: i64,
    convert_lists: bool,
}

impl JsonSplitter {
    fn new(parameters: &Parameters) -> Self {
        let max_size = parameters.integer("max_chunk_size");
        let min_size = parameters.optional_integer("min_chunk_size").unwrap_or((max_size - 200).max(50));
        JsonSplitter { max_size, min_size, convert_lists: parameters.flag("convert_lists") }
    }

    /// Adds the contents of `value` to the last part, or to new ones.
    fn add(&self, value: Value, path: &mut Vec<String>, parts: &mut Parts) -> Result<(), SplitError> {
        match value {
            Value::Object(fields) if !fields.is_empty() => {
                for (key, value) in fields {
                    self.add_field(key, value, path, parts)?;
                }
                Ok(())
            }
            leaf if !path.is_empty() => parts.set(path, leaf),
            _ => Ok(()),
        }
    }

    fn add_field(
        &self,
        key: String,
        value: Value,
        path: &mut Vec<String>,
        parts: &mut Parts,
    ) -> Result<(), SplitError> {
        let part_size = parts.last().size;
        let size = 2 + text_size(&key) + 2 + size(&value);
        path.push(key);
        if size < self.max_size - part_size {
            parts.set(path, value)?;
        } else {
            if part_size >= self.min_size {
                parts.list.push(Part::default());
            }
            self.add(value, path, parts)?;
        }
        path.pop();
        Ok(())
    }
}

impl Split for JsonSplitter {
    fn split<'t>(&self, text: &'t str, _: &Embed<'_>) -> Result<Vec<Chunk<'t>>, SplitError> {
        let value: Value = serde_json::from_str(&quote_big_integers(text))
            .map_err(|error| SplitError::text(format!("not JSON: {error}")))?;
        let value = if self.convert_lists { without_lists(value) } else { value };
        if !value.is_object() && !value.is_null() {
            let hint = if value.is_array() { "; set convert_lists to split arrays too" } else { "" };
            return Err(SplitError::text(format!("the JSON must be an object{hint}")));
        }
        let mut parts = Parts { list: vec![Part::default()], limit: SizeLimit::for_text(text) };
        self.add(value, &mut Vec::new(), &mut parts)?;
        parts.list.pop_if(|last| last.fields.is_empty());
        Ok(parts.list.into_iter().map(|part| Chunk::composed(dumps(&Value::Object(part.fields)), None)).collect())
    }
}

/// The parts so far. A key is repeated in each part that has a value below it.
struct Parts {
    list: Vec<Part>,
    limit: SizeLimit,
}

impl Parts {
    #[expect(clippy::expect_used, reason = "the list of parts is never empty")]
    fn last(&mut self) -> &mut Part {
        self.list.last_mut().expect("the list of parts is never empty")
    }

    /// Adds a value to the last part.
    fn set(&mut self, path: &[String], value: Value) -> Result<(), SplitError> {
        let growth = self.last().set(path, value);
        self.limit.charge(usize::try_from(growth).unwrap_or(0))
    }
}

/// An object under construction.
struct Part {
    fields: Map<String, Value>,
    /// Serialized size, updated incrementally: recomputing it for each field would take quadratic time.
    size: i64,
}

impl Default for Part {
    fn default() -> Self {
        Part { fields: Map::new(), size: 2 }
    }
}

impl Part {
    /// Sets the value at a path and returns the growth of the part. Paths are unique, because the keys of an object are
    /// unique and only leaves are set.
    fn set(&mut self, path: &[String], value: Value) -> i64 {
        let Some((key, parents)) = path.split_last() else { return 0 };
        let old_size = self.size;
        let mut fields = &mut self.fields;
        for key in parents {
            if !fields.contains_key(key) {
                self.size += separator_size(fields) + text_size(key) + 2 + 2;
            }
            let inner = fields.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(inner) = inner else { return self.size - old_size };
            fields = inner;
        }
        self.size += separator_size(fields) + text_size(key) + 2 + size(&value);
        fields.insert(key.clone(), value);
        self.size - old_size
    }
}

/// Returns the size of the separator before the next field.
fn separator_size(fields: &Map<String, Value>) -> i64 {
    if fields.is_empty() { 0 } else { 2 }
}

fn without_lists(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, without_lists(value))).collect(),
        Value::Array(items) => {
            items.into_iter().enumerate().map(|(index, item)| (index.to_string(), without_lists(item))).collect()
        }
        leaf => leaf,
    }
}

/// Returns the size of a value as Python's `json.dumps` writes it in ASCII.
fn size(value: &Value) -> i64 {
    match value {
        Value::Object(fields) => object_size(fields),
        Value::Array(items) => 2 + items.iter().map(size).sum::<i64>() + 2 * (items.len() as i64 - 1).max(0),
        Value::String(text) => {
            text.strip_prefix(BIG_INTEGER).map_or_else(|| text_size(text), |digits| digits.len() as i64)
        }
        leaf => dumps(leaf).len() as i64,
    }
}

fn object_size(fields: &Map<String, Value>) -> i64 {
    let inside: i64 = fields.iter().map(|(key, value)| text_size(key) + 2 + size(value)).sum();
    2 + inside + 2 * (fields.len() as i64 - 1).max(0)
}

fn text_size(text: &str) -> i64 {
    let width = |c: char| match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        ' '..='~' => 1,
        '\u{10000}'.. => 12,
        _ => 6,
    };
    2 + text.chars().map(width).sum::<i64>()
}

/// Serializes a value as Python's `json.dumps` with `ensure_ascii` off: with spaces after commas and colons.
fn dumps(value: &Value) -> String {
    let mut out = Vec::new();
    // Writing a value to memory cannot fail.
    let _ = value.serialize(&mut Serializer::with_formatter(&mut out, PythonFormatter));
    unquote_big_integers(String::from_utf8(out).unwrap_or_default())
}

/// Prefix of integers beyond 64 bits, which are kept as strings with all digits until serialization.
const BIG_INTEGER: &str = "\0\0";
/// The prefix as serialized in JSON, with the opening quote.
const BIG_INTEGER_JSON: &str = "\"\\u0000\\u0000";

/// Quotes integers beyond 64 bits.
fn quote_big_integers(json: &str) -> Cow<'_, str> {
    let (mut out, mut copied, mut position) = (String::new(), 0, 0);
    let bytes = json.as_bytes();
    while let Some(byte) = bytes.get(position) {
        let end = match byte {
            b'"' => end_of_string(bytes, position),
            byte if is_number_byte(byte) => {
                position + bytes[position..].iter().take_while(|byte| is_number_byte(byte)).count()
            }
            _ => position + 1,
        };
        if is_big_integer(&bytes[position..end]) {
            out.extend([&json[copied..position], BIG_INTEGER_JSON, &json[position..end], "\""]);
            copied = end;
        }
        position = end;
    }
    if copied == 0 { Cow::Borrowed(json) } else { Cow::Owned(out + &json[copied..]) }
}

/// Returns the position after a string that starts at `start`.
fn end_of_string(json: &[u8], start: usize) -> usize {
    let mut position = start + 1;
    while let Some(byte) = json.get(position) {
        match byte {
            b'"' => return position + 1,
            b'\\' => position += 2,
            _ => position += 1,
        }
    }
    json.len()
}

fn is_number_byte(byte: &u8) -> bool {
    byte.is_ascii_digit() || b"+-.eE".contains(byte)
}

/// Returns whether a token is a JSON integer (without leading zeros) beyond 64 bits.
fn is_big_integer(token: &[u8]) -> bool {
    let digits = token.strip_prefix(b"-").unwrap_or(token);
    let is_integer = digits.iter().all(u8::is_ascii_digit) && !digits.starts_with(b"0") && digits.len() >= 19;
    let number = str::from_utf8(token).unwrap_or_default();
    is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err()
}

/// Removes the quotes from integers beyond 64 bits.
fn unquote_big_integers(json: String) -> String {
    if !json.contains(BIG_INTEGER_JSON) {
        return json;
    }
    let mut parts = json.split(BIG_INTEGER_JSON);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut out, part| {
        let (digits, remaining) = part.split_once('"').unwrap_or((part, ""));
        out.extend([digits, remaining]);
        out
    })
}

struct PythonFormatter;

impl Formatter for PythonFormatter {
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

/// Formats a number as Python's `repr`: with an exponent below 1e-4 and from 1e16 on, otherwise with at least one decimal.
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

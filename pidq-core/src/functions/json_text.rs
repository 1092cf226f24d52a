//! JSON in strings: `fromJson` and `toJson`.

use super::helpers::string_args;
use super::number::argument;
use crate::error::{Code, Error, Location, Result};
use crate::eval::EvalContext;
use crate::eval::build::ObjectBuilder;
use crate::eval::plan::function::{Body, Function, Param};
use crate::limits::MAX_DOCUMENT_DEPTH;
use crate::syntax::Node;
use crate::syntax::token;
use crate::value::{Value, convert};

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "fromJson",
        params: &[Param::query("text")],
        summary: "The value of a string that contains JSON; null for null.",
        example: r#"fromJson("{\"tag\": \"P-1\", \"kw\": 7.50}") => {"tag":"P-1","kw":7.50}"#,
        body: Body::Strict(from_json),
    },
    Function {
        name: "toJson",
        params: &[Param::query("value")],
        summary: "The value as JSON in a string, without white space between its parts.",
        example: r#"toJson({tag: "P-1", kw: [7.5]}) => "{\"tag\":\"P-1\",\"kw\":[7.5]}""#,
        body: Body::Strict(to_json),
    },
];

fn to_json<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    json_text(cx, argument(args, 0)).map(Value::String)
}

/// Returns a value as JSON.
pub(super) fn json_text<'a>(cx: &mut EvalContext<'a>, value: Value<'a>) -> Result<&'a str> {
    let value = if value.is_null() { Value::Null } else { value };
    let mut json = CompactJson::default();
    let (limit, mut reserved) = (cx.limits().string, 0);
    value.write_json(limit, &mut |chunk| {
        cx.charge_bytes(chunk.len())?;
        cx.reserve(chunk.len())?;
        reserved += chunk.len();
        json.push(chunk);
        Ok(())
    })?;
    let CompactJson { text: json, .. } = json;
    let text = cx.make_string(&json)?.as_str().unwrap_or_default();
    cx.release(reserved);
    Ok(text)
}

/// JSON without the white space between its parts. Values of the document are written as they were read.
#[derive(Default)]
struct CompactJson {
    text: String,
    /// True inside of a string.
    is_quoted: bool,
    is_escaped: bool,
}

impl CompactJson {
    /// Adds a part of the JSON text, which may begin and end anywhere.
    fn push(&mut self, chunk: &str) {
        for c in chunk.chars() {
            if self.is_quoted || !matches!(c, ' ' | '\n' | '\t' | '\r') {
                self.text.push(c);
            }
            self.is_quoted ^= c == '"' && !self.is_escaped;
            self.is_escaped = c == '\\' && !self.is_escaped;
        }
    }
}

fn from_json<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let Some([text]) = string_args(cx, args)? else { return Ok(Value::Null) };
    Reader { text, at: 0, open: Vec::new() }.document(cx)
}

/// Parser of a string. Not recursive, so that nested calls fit on a small stack.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The containers around the next value, the innermost last.
    open: Vec<Container<'a>>,
}

/// An open container. Its parts are on the stack of collected values.
enum Container<'a> {
    Array {
        base: usize,
    },
    Object {
        builder: ObjectBuilder<'a>,
        /// Key of the next value.
        key: &'a str,
    },
}

impl<'a> Reader<'a> {
    fn document(mut self, cx: &mut EvalContext<'a>) -> Result<Value<'a>> {
        loop {
            cx.charge(1)?;
            let Some(value) = self.value(cx)? else { continue };
            if let Some(document) = self.add(cx, value)? {
                return match self.next_byte() {
                    None => Ok(document),
                    Some(_) => Err(self.error("the end is expected")),
                };
            }
        }
    }

    /// Reads a scalar or an empty container. Returns `None` if a container opens, whose first value is next.
    fn value(&mut self, cx: &mut EvalContext<'a>) -> Result<Option<Value<'a>>> {
        match self.next_byte() {
            Some(b'[') => self.open_array(cx),
            Some(b'{') => self.open_object(cx),
            Some(b'"') => self.string(cx).map(Value::String).map(Some),
            Some(b'-' | b'0'..=b'9') => self.number(cx).map(Some),
            _ => self.keyword().map(Some),
        }
    }

    fn open_array(&mut self, cx: &mut EvalContext<'a>) -> Result<Option<Value<'a>>> {
        self.open(cx, Container::Array { base: cx.mark() })?;
        if self.next_byte() == Some(b']') {
            return self.close(cx);
        }
        Ok(None)
    }

    fn open_object(&mut self, cx: &mut EvalContext<'a>) -> Result<Option<Value<'a>>> {
        self.open(cx, Container::Object { builder: ObjectBuilder::new(cx), key: "" })?;
        if self.next_byte() == Some(b'}') {
            return self.close(cx);
        }
        self.key(cx).map(|()| None)
    }

    fn open(&mut self, cx: &mut EvalContext<'a>, container: Container<'a>) -> Result<()> {
        if self.open.len() == MAX_DOCUMENT_DEPTH {
            return Err(self.error(&format!("it is nested deeper than {MAX_DOCUMENT_DEPTH} levels")));
        }
        cx.reserve(size_of::<Container<'_>>())?;
        self.open.push(container);
        self.at += 1;
        Ok(())
    }

    /// Closes the innermost container at its bracket, and returns it.
    fn close(&mut self, cx: &mut EvalContext<'a>) -> Result<Option<Value<'a>>> {
        self.at += 1;
        cx.release(size_of::<Container<'_>>());
        match self.open.pop() {
            Some(Container::Array { base }) => cx.collect_list(base).map(Some),
            Some(Container::Object { builder, .. }) => builder.into_object(cx).map(Some),
            None => Ok(None),
        }
    }

    /// Adds a value to its container, and closes the containers that end after it. Returns the value if it is in none.
    fn add(&mut self, cx: &mut EvalContext<'a>, mut value: Value<'a>) -> Result<Option<Value<'a>>> {
        loop {
            let is_array = match self.open.last_mut() {
                None => return Ok(Some(value)),
                Some(Container::Array { .. }) => cx.push(value).map(|()| true)?,
                Some(Container::Object { builder, key }) => builder.insert(cx, key, value).map(|()| false)?,
            };
            match (self.next_byte(), is_array) {
                (Some(b','), _) => {
                    self.at += 1;
                    return if is_array { Ok(None) } else { self.key(cx).map(|()| None) };
                }
                (Some(b']'), true) | (Some(b'}'), false) => match self.close(cx)? {
                    Some(container) => value = container,
                    None => return Ok(None),
                },
                (_, true) => return Err(self.error("`,` or `]` is expected")),
                (_, false) => return Err(self.error("`,` or `}` is expected")),
            }
        }
    }

    fn key(&mut self, cx: &mut EvalContext<'a>) -> Result<()> {
        if self.next_byte() != Some(b'"') {
            return Err(self.error("a key in quotes is expected"));
        }
        let name = self.string(cx)?;
        if self.next_byte() != Some(b':') {
            return Err(self.error("`:` is expected"));
        }
        self.at += 1;
        if let Some(Container::Object { key, .. }) = self.open.last_mut() {
            *key = name;
        }
        Ok(())
    }

    /// Reads a string; one without escapes is a part of the text.
    fn string(&mut self, cx: &mut EvalContext<'a>) -> Result<&'a str> {
        let rest = &self.text[self.at..];
        let (after, quoted) = token::string(rest).map_err(|_| self.error("a string has no closing quote"))?;
        let inner = &quoted[1..quoted.len() - 1];
        let is_plain = !inner.bytes().any(|byte| byte == b'\\' || byte < b' ');
        let text = if is_plain { inner } else { self.unescaped(cx, inner)? };
        self.at = self.text.len() - after.len();
        Ok(text)
    }

    fn unescaped(&self, cx: &mut EvalContext<'a>, inner: &str) -> Result<&'a str> {
        cx.reserve(inner.len())?;
        let text = token::unescape(inner).map_err(|bad| {
            let at = Reader { text: self.text, at: self.at + 1 + bad.at(), open: Vec::new() };
            at.error(bad.message())
        })?;
        let copy = cx.make_string(&text)?.as_str().unwrap_or_default();
        cx.release(inner.len());
        Ok(copy)
    }

    /// Reads a number. It keeps its digits if they are not those of JavaScript, as a number of a document does.
    fn number(&mut self, cx: &mut EvalContext<'a>) -> Result<Value<'a>> {
        let rest = &self.text[self.at..];
        let (after, lexeme) = token::number(rest).map_err(|_| self.error("a digit is expected"))?;
        self.at = self.text.len() - after.len();
        if after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.') {
            return Err(self.error("a number is malformed"));
        }
        let value = Value::number(token::number_of(lexeme));
        if is_short_integer(lexeme) || convert::to_text(value) == lexeme {
            return Ok(value);
        }
        cx.number_with_digits(lexeme)
    }

    fn keyword(&mut self) -> Result<Value<'a>> {
        let (len, node) = token::keyword(&self.text[self.at..]).ok_or_else(|| self.error("a value is expected"))?;
        self.at += len;
        if self.text[self.at..].starts_with(|c: char| c.is_ascii_alphanumeric()) {
            self.at -= len;
            return Err(self.error("a value is expected"));
        }
        Ok(if let Node::Bool(value) = node { Value::Bool(value) } else { Value::Null })
    }

    /// Returns the next byte that is not white space.
    fn next_byte(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(self.at) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    #[cold]
    fn error(&self, reason: &str) -> Error {
        let Location { line, column, .. } = Location::new(self.text, self.at);
        let message = format!("The string is not JSON: {reason} (line {line}, column {column} of the string)");
        let error = Error::new(Code::InvalidValue, message);
        error.with_help("`tryOr(fromJson(.a), null)` replaces a string that is not JSON")
    }
}

/// Returns true for an integer whose digits JavaScript prints too.
fn is_short_integer(lexeme: &str) -> bool {
    lexeme.len() <= 15 && !lexeme.starts_with('-') && lexeme.bytes().all(|byte| byte.is_ascii_digit())
}

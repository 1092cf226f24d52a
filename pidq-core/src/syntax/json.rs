//! JSON format of queries: parser and writer.
//!
//! It has its own parser because it has the same limits as the text format and shares its strings and numbers.

use std::collections::HashMap;

use nom::IResult;

use crate::error::{Code, Error, Result, Span};
use crate::limits::{MAX_QUERY_DEPTH, MAX_QUERY_NODES, MAX_QUERY_SIZE};
use crate::syntax::token::{keyword, number, number_of, string, syntax_error, unescape};
use crate::syntax::{Expr, Key, Node};

/// Size of a query in JSON format, in bytes. It is longer than the text format.
const MAX_JSON_SIZE: usize = 8 * MAX_QUERY_SIZE;

/// Parses a query in JSON format. Errors have a JSON Pointer and a byte range.
pub(crate) fn from_json(json: &str) -> Result<Expr> {
    if json.len() > MAX_JSON_SIZE {
        let message = format!("the query has {} bytes, more than {MAX_JSON_SIZE}", json.len());
        return Err(Error::new(Code::QueryTooLong, message));
    }
    let mut parser = Parser { text: json, at: 0, frames: Vec::new(), arrays: 0, objects: 0, parts: 0 };
    parser.query().map_err(|error| error.locate(json))
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    /// The open arrays and objects, the innermost last.
    frames: Vec<Frame>,
    arrays: usize,
    objects: usize,
    parts: usize,
}

enum Frame {
    Array(Vec<Expr>, usize),
    Object(Vec<(Key, Expr)>, Key, usize),
}

impl<'t> Parser<'t> {
    fn query(&mut self) -> Result<Expr> {
        loop {
            let Some(value) = self.value()? else { continue };
            if let Some(query) = self.add_value(value)? {
                return self.finish(query);
            }
        }
    }

    fn finish(&mut self, query: Expr) -> Result<Expr> {
        match self.skip() {
            None => Ok(query),
            Some(_) => Err(self.error(Code::TrailingText, "Unexpected text after the query")),
        }
    }

    /// Parses a constant or an empty container. Returns `None` if a container opens: its first value is next.
    fn value(&mut self) -> Result<Option<Expr>> {
        let next = self.skip();
        let start = self.at;
        let node = match next {
            Some(b'[') => return self.array(),
            Some(b'{') => return self.object(),
            Some(b'"') => self.quoted()?.map(Node::String),
            Some(b'-' | b'0'..=b'9') => self.token(number).map(|lexeme| Node::Number(number_of(lexeme))),
            _ => self.keyword(),
        };
        let node = node.ok_or_else(|| self.value_expected())?;
        Ok(Some(self.node_from(start, node)))
    }

    fn node_from(&self, start: usize, node: Node) -> Expr {
        Expr::new(node, Span::new(start, self.at))
    }

    fn array(&mut self) -> Result<Option<Expr>> {
        let start = self.at;
        self.at += 1;
        self.arrays += 1;
        self.count()?;
        self.check_depth()?;
        if self.skip() == Some(b']') {
            self.at += 1;
            self.arrays -= 1;
            return Ok(Some(self.node_from(start, Node::Array(Vec::new()))));
        }
        self.frames.push(Frame::Array(Vec::new(), start));
        Ok(None)
    }

    fn object(&mut self) -> Result<Option<Expr>> {
        let start = self.at;
        self.at += 1;
        self.objects += 1;
        self.check_depth()?;
        if self.skip() == Some(b'}') {
            self.at += 1;
            self.objects -= 1;
            return Ok(Some(self.node_from(start, Node::Object(Vec::new()))));
        }
        let key = self.key()?;
        self.frames.push(Frame::Object(Vec::new(), key, start));
        Ok(None)
    }

    fn key(&mut self) -> Result<Key> {
        self.skip();
        let start = self.at;
        let name = self.quoted()?.ok_or_else(|| self.error(Code::KeyExpected, "Key expected"))?;
        let key = Key { name, span: Span::new(start, self.at) };
        match self.skip() {
            Some(b':') => self.at += 1,
            _ => return Err(self.error(Code::CharacterExpected, "Character ':' expected")),
        }
        Ok(key)
    }

    /// Adds a value to the innermost container, and closes containers at closing brackets. Returns the query when all
    /// are closed.
    fn add_value(&mut self, mut value: Expr) -> Result<Option<Expr>> {
        loop {
            self.count_constant(&value)?;
            let Some(mut frame) = self.frames.pop() else { return Ok(Some(value)) };
            match &mut frame {
                Frame::Array(items, _) => items.push(value),
                Frame::Object(entries, key, _) => entries.push((key.clone(), value)),
            }
            let close = frame.close();
            match self.skip() {
                Some(b',') => return self.next(frame).map(|()| None),
                Some(byte) if byte == close => value = self.close(frame),
                Some(_) => return Err(self.error(Code::CharacterExpected, "Character ',' expected")),
                None => {
                    return Err(self.error(Code::CharacterExpected, &format!("Character '{}' expected", close as char)));
                }
            }
        }
    }

    fn next(&mut self, mut frame: Frame) -> Result<()> {
        self.at += 1;
        if let Frame::Object(_, key, _) = &mut frame {
            *key = self.key()?;
        }
        self.frames.push(frame);
        Ok(())
    }

    fn close(&mut self, frame: Frame) -> Expr {
        self.at += 1;
        match frame {
            Frame::Array(items, start) => {
                self.arrays -= 1;
                self.node_from(start, Node::Array(items))
            }
            Frame::Object(entries, _, start) => {
                self.objects -= 1;
                self.node_from(start, Node::Object(last_wins(entries)))
            }
        }
    }

    // Limits. Arrays and objects are counted separately: an object literal is both, and the text format counts it once.

    fn check_depth(&self) -> Result<()> {
        if self.arrays <= MAX_QUERY_DEPTH && self.objects <= MAX_QUERY_DEPTH {
            return Ok(());
        }
        let message = format!("the query is nested more than {MAX_QUERY_DEPTH} levels deep");
        Err(self.error(Code::NestedTooDeep, &message).with_limit("depth", MAX_QUERY_DEPTH as u64))
    }

    /// The name of a call is not a node of its own.
    fn count_constant(&mut self, value: &Expr) -> Result<()> {
        let is_name = matches!(self.frames.last(), Some(Frame::Array(items, _)) if items.is_empty());
        let is_constant = !matches!(value.node, Node::Array(_) | Node::Object(_));
        if is_constant && !is_name { self.count() } else { Ok(()) }
    }

    fn count(&mut self) -> Result<()> {
        self.parts += 1;
        if self.parts <= MAX_QUERY_NODES {
            return Ok(());
        }
        let message = format!("the query has more than {MAX_QUERY_NODES} parts");
        Err(self.error(Code::NestedTooDeep, &message).with_limit("nodes", MAX_QUERY_NODES as u64))
    }

    // The text.

    /// Skips white space and returns the next byte.
    fn skip(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at), Some(b' ' | b'\n' | b'\t' | b'\r')) {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn token(&mut self, terminal: impl Fn(&'t str) -> IResult<&'t str, &'t str>) -> Option<&'t str> {
        let (_, found) = terminal(&self.text[self.at..]).ok()?;
        self.at += found.len();
        Some(found)
    }

    fn quoted(&mut self) -> Result<Option<Box<str>>> {
        let start = self.at;
        let Some(lexeme) = self.token(string) else { return Ok(None) };
        let text = unescape(&lexeme[1..lexeme.len() - 1]);
        text.map(Some).map_err(|bad| bad.error(self.text, start + 1).with_pointer(self.pointer()))
    }

    fn keyword(&mut self) -> Option<Node> {
        let (length, node) = keyword(&self.text[self.at..])?;
        self.at += length;
        Some(node)
    }

    fn error(&self, code: Code, message: &str) -> Error {
        syntax_error(self.text, self.at, 1, code, message).with_pointer(self.pointer())
    }

    /// Error for a missing value: probably a query in text format.
    fn value_expected(&self) -> Error {
        let error = self.error(Code::ValueExpected, "Value expected");
        match self.text[self.at..].chars().next() {
            Some(_) if self.frames.is_empty() => {
                error.with_help(r#"in JSON format a call is an array, as in `["get", "name"]`"#)
            }
            _ => error,
        }
    }

    /// Returns the JSON Pointer of the next value.
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for frame in &self.frames {
            match frame {
                Frame::Array(items, _) => add_token(&items.len().to_string(), &mut pointer),
                Frame::Object(_, key, _) => add_token(&key.name, &mut pointer),
            }
        }
        pointer
    }
}

impl Frame {
    fn close(&self) -> u8 {
        match self {
            Frame::Array(..) => b']',
            Frame::Object(..) => b'}',
        }
    }
}

/// Returns the JSON Pointer (RFC 6901) of the innermost node around a span, or of the node that the span begins in.
pub(crate) fn pointer(query: &Expr, span: Span) -> String {
    let (mut pointer, mut part) = (String::new(), query);
    while part.span != span && span.end <= part.span.end {
        let Some((token, child)) = child_at(part, span.start) else { break };
        add_token(&token, &mut pointer);
        part = child;
    }
    pointer
}

fn child_at(part: &Expr, byte: u32) -> Option<(String, &Expr)> {
    let has = |span: Span| span.start <= byte && byte < span.end;
    match &part.node {
        Node::Array(items) => {
            let at = items.iter().position(|item| has(item.span))?;
            Some((at.to_string(), &items[at]))
        }
        Node::Object(entries) => {
            let (key, value) = entries.iter().find(|(key, value)| has(key.span) || has(value.span))?;
            Some((key.name.to_string(), value))
        }
        _ => None,
    }
}

fn add_token(token: &str, pointer: &mut String) {
    pointer.push('/');
    pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
}

/// Keeps the last value of every key, at the position of the first.
pub(crate) fn last_wins(entries: Vec<(Key, Expr)>) -> Vec<(Key, Expr)> {
    let mut positions: HashMap<Box<str>, usize> = HashMap::with_capacity(entries.len());
    let mut out: Vec<(Key, Expr)> = Vec::with_capacity(entries.len());
    for entry in entries {
        let position = *positions.entry(entry.0.name.clone()).or_insert(out.len());
        match out.get_mut(position) {
            Some(old) => *old = entry,
            None => out.push(entry),
        }
    }
    out
}

/// Pending output.
enum WriteTask<'e> {
    Value(&'e Expr),
    Key(&'e str),
    Text(&'static str),
}

/// Writes a query as compact JSON. Pending output is on an explicit stack, as in the parser.
pub(crate) fn to_json(expr: &Expr, out: &mut String) {
    let mut tasks = vec![WriteTask::Value(expr)];
    while let Some(task) = tasks.pop() {
        match task {
            WriteTask::Value(expr) => write(expr, &mut tasks, out),
            WriteTask::Key(key) => {
                quote(key, out);
                out.push(':');
            }
            WriteTask::Text(text) => out.push_str(text),
        }
    }
}

/// Writes a constant, or the opening bracket of a container, and pushes the rest of the container, last first.
fn write<'e>(expr: &'e Expr, tasks: &mut Vec<WriteTask<'e>>, out: &mut String) {
    match &expr.node {
        Node::Null => out.push_str("null"),
        Node::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Node::Number(value) => write_number(*value, out),
        Node::String(text) => quote(text, out),
        Node::Array(items) => {
            out.push('[');
            tasks.push(WriteTask::Text("]"));
            for (at, item) in items.iter().enumerate().rev() {
                tasks.extend([WriteTask::Value(item), WriteTask::Text(if at > 0 { "," } else { "" })]);
            }
        }
        Node::Object(entries) => {
            out.push('{');
            tasks.push(WriteTask::Text("}"));
            for (at, (key, value)) in in_order(entries).into_iter().enumerate().rev() {
                let comma = WriteTask::Text(if at > 0 { "," } else { "" });
                tasks.extend([WriteTask::Value(value), WriteTask::Key(&key.name), comma]);
            }
        }
    }
}

/// Returns the entries in JavaScript's order: array indexes first and ascending, then the rest as written.
pub(crate) fn in_order(entries: &[(Key, Expr)]) -> Vec<&(Key, Expr)> {
    let mut sorted: Vec<&(Key, Expr)> = entries.iter().collect();
    sorted.sort_by_key(|(key, _)| array_index(&key.name).unwrap_or(u32::MAX));
    sorted
}

/// Parses `0` to `4294967294` without leading zeros.
pub(crate) fn array_index(key: &str) -> Option<u32> {
    let canonical = key == "0" || (key.starts_with(|c: char| c.is_ascii_digit()) && !key.starts_with('0'));
    key.parse().ok().filter(|index| canonical && *index < u32::MAX)
}

/// Writes a number as JSON: without a negative zero, and null for numbers that JSON lacks.
pub(crate) fn write_number(value: f64, out: &mut String) {
    match value.is_finite() {
        true => out.push_str(ryu_js::Buffer::new().format_finite(value)),
        false => out.push_str("null"),
    }
}

/// Writes a JSON string.
pub(crate) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserialize(json: &str) -> String {
        match from_json(json) {
            Ok(expr) => {
                let mut out = String::new();
                to_json(&expr, &mut out);
                out
            }
            Err(error) => format!("{} {}", error.code().as_str(), error.message()),
        }
    }

    fn check(json: &str, expected: &str) {
        assert_eq!(reserialize(json), expected, "{json}");
    }

    #[test]
    fn queries_round_trip() {
        for json in
            [r#"["pipe",["get","a",0],["object",{"b":1.5,"c":[]}]]"#, "null", r#""a\"\\\n\u0001é😀""#, "{}", "[[[]]]"]
        {
            check(json, json);
        }
    }

    #[test]
    fn white_space_is_allowed_between_all_tokens() {
        check(" [ \"f\" , { \"a\" : true } ] \r\n\t", r#"["f",{"a":true}]"#);
    }

    #[test]
    fn numbers_print_as_in_javascript() {
        check(
            "[1.0,1e21,1e-7,0.000001,-0,1e400,12345678901234567890]",
            "[1,1e+21,1e-7,0.000001,0,null,12345678901234567000]",
        );
    }

    #[test]
    fn keys_are_ordered_as_in_javascript() {
        check(
            r#"{"b":1,"10":2,"2":3,"01":4,"a":5,"b":6,"4294967295":7}"#,
            r#"{"2":3,"10":2,"b":6,"01":4,"a":5,"4294967295":7}"#,
        );
    }

    #[test]
    fn lone_surrogates_are_refused() {
        for json in [r#""\ud83d""#, r#""a\ude00""#, r#""\ud83d\ud83d\ude00""#] {
            assert!(from_json(json).expect_err(json).message().starts_with("Lone surrogate in string"), "{json}");
        }
        check(r#""\ud83d\ude00""#, "\"😀\"");
    }

    #[test]
    fn errors_have_positions() {
        check("", "PQ0001 Value expected (pos: 0)");
        check("[1,]", "PQ0001 Value expected (pos: 3)");
        check("[1 2]", "PQ0004 Character ',' expected (pos: 3)");
        check("[1", "PQ0004 Character ']' expected (pos: 2)");
        check(r#"{"a":1,}"#, "PQ0003 Key expected (pos: 7)");
        check(r#"{"a" 1}"#, "PQ0004 Character ':' expected (pos: 5)");
        check("{a:1}", "PQ0003 Key expected (pos: 1)");
        check("1 x", "PQ0005 Unexpected text after the query (pos: 2)");
        check("truex", "PQ0005 Unexpected text after the query (pos: 4)");
        check("\"a", "PQ0001 Value expected (pos: 0)");
        check(r#"["é\q"]"#, "PQ0006 Bad escaped character in string (pos: 3)");
        let help = |json: &str| from_json(json).expect_err(json).help().map(String::from);
        assert_eq!(help(".a").as_deref(), Some(r#"in JSON format a call is an array, as in `["get", "name"]`"#));
        assert_eq!((help(""), help("[.a]")), (None, None));
        assert_eq!(from_json(r#"["é\q"]"#).err().and_then(|error| error.span()), Some(Span::new(4, 5)));
    }

    #[test]
    fn errors_have_pointers_to_the_invalid_part() {
        let check = |json: &str, pointer: &str| {
            let error = from_json(json).expect_err(json);
            assert_eq!(error.pointer(), Some(pointer), "{json}");
        };
        check("", "");
        check("[1,]", "/1");
        check("[1,[2 3]]", "/1");
        check(r#"["object",{"a/b":["f",],"c":1}]"#, "/1/a~1b/1");
        check(r#"["object",{"a":1,}]"#, "/1");
        check(r#"["object",{"~":"\q"}]"#, "/1/~0");
        check("1 x", "");
    }

    #[test]
    fn every_span_has_its_pointer() {
        let json = r#"["pipe", ["get", "a"], ["object", {"x/y": ["f", 1 , 2], "x/y": ["f", 10 , 20]}]]"#;
        let query = from_json(json).expect(json);
        let check = |text: &str, expected: &str| {
            let start = json.rfind(text).expect(text);
            assert_eq!(pointer(&query, Span::new(start, start + text.len())), expected, "{text}");
        };
        check(json, "");
        check(r#"["get", "a"]"#, "/1");
        check(r#""get""#, "/1/0");
        check(r#""x/y""#, "/2/1/x~1y");
        check("10 , 20", "/2/1/x~1y/1");
        check("20", "/2/1/x~1y/2");
    }

    #[test]
    fn nesting_and_size_are_limited() {
        let code = |json: &str| from_json(json).err().map(|error| error.code());
        let nested = |levels| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(code(&nested(MAX_QUERY_DEPTH)), None);
        assert_eq!(code(&nested(MAX_QUERY_DEPTH + 1)), Some(Code::NestedTooDeep));
        assert_eq!(code(&"[".repeat(300_000)), Some(Code::NestedTooDeep));
        assert_eq!(code(&"{\"a\":".repeat(90_000)), Some(Code::NestedTooDeep));
        assert_eq!(code(&format!("[1{}]", ",1".repeat(MAX_QUERY_NODES))), Some(Code::NestedTooDeep));
        assert_eq!(code(&" ".repeat(MAX_JSON_SIZE + 1)), Some(Code::QueryTooLong));
    }
}

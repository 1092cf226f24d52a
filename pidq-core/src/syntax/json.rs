//! The JSON format: JSON text ⇄ `Expr`.
//!
//! A reader of its own, because it is bounded like the text format and shares its strings and numbers.

use std::collections::HashMap;

use nom::IResult;

use crate::error::{Code, Error, Result, Span};
use crate::limits::{MAX_NESTING, MAX_PARTS, MAX_QUERY};
use crate::syntax::token::{keyword, number, number_of, string, syntax_error, unescape};
use crate::syntax::{Expr, Key, Node};

/// Bytes of a query in JSON format. It takes more of them than the text format does.
const MAX_JSON: usize = 8 * MAX_QUERY;

/// Reads a query in JSON format. Its errors say where by a JSON Pointer, and by the bytes too.
pub(crate) fn from_json(json: &str) -> Result<Expr> {
    if json.len() > MAX_JSON {
        let message = format!("the query has {} bytes, more than {MAX_JSON}", json.len());
        return Err(Error::new(Code::QueryTooLong, message));
    }
    let mut reader = Reader { text: json, at: 0, open: Vec::new(), arrays: 0, objects: 0, parts: 0 };
    reader.query().map_err(|error| error.locate(json))
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// The open arrays and objects, the innermost last.
    open: Vec<Open>,
    arrays: usize,
    objects: usize,
    parts: usize,
}

enum Open {
    Array(Vec<Expr>, usize),
    Object(Vec<(Key, Expr)>, Key, usize),
}

impl<'t> Reader<'t> {
    fn query(&mut self) -> Result<Expr> {
        loop {
            let Some(value) = self.value()? else { continue };
            if let Some(query) = self.put(value)? {
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

    /// Reads a constant or an empty bracket. Nothing if a bracket opens: then its first value is next.
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
        let node = node.ok_or_else(|| self.no_value())?;
        Ok(Some(self.since(start, node)))
    }

    fn since(&self, start: usize, node: Node) -> Expr {
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
            return Ok(Some(self.since(start, Node::Array(Vec::new()))));
        }
        self.open.push(Open::Array(Vec::new(), start));
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
            return Ok(Some(self.since(start, Node::Object(Vec::new()))));
        }
        let key = self.key()?;
        self.open.push(Open::Object(Vec::new(), key, start));
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

    /// Puts a value into what is open, and closes that as often as the text does. Gives the query once all is closed.
    fn put(&mut self, mut value: Expr) -> Result<Option<Expr>> {
        loop {
            self.count_constant(&value)?;
            let Some(mut open) = self.open.pop() else { return Ok(Some(value)) };
            match &mut open {
                Open::Array(items, _) => items.push(value),
                Open::Object(entries, key, _) => entries.push((key.clone(), value)),
            }
            let close = open.close();
            match self.skip() {
                Some(b',') => return self.next(open).map(|()| None),
                Some(byte) if byte == close => value = self.close(open),
                Some(_) => return Err(self.error(Code::CharacterExpected, "Character ',' expected")),
                None => {
                    return Err(self.error(Code::CharacterExpected, &format!("Character '{}' expected", close as char)));
                }
            }
        }
    }

    fn next(&mut self, mut open: Open) -> Result<()> {
        self.at += 1;
        if let Open::Object(_, key, _) = &mut open {
            *key = self.key()?;
        }
        self.open.push(open);
        Ok(())
    }

    fn close(&mut self, open: Open) -> Expr {
        self.at += 1;
        match open {
            Open::Array(items, start) => {
                self.arrays -= 1;
                self.since(start, Node::Array(items))
            }
            Open::Object(entries, _, start) => {
                self.objects -= 1;
                self.since(start, Node::Object(last_wins(entries)))
            }
        }
    }

    // Limits. Arrays and objects count apart: an object literal is both, and the text format counts it once.

    fn check_depth(&self) -> Result<()> {
        if self.arrays <= MAX_NESTING && self.objects <= MAX_NESTING {
            return Ok(());
        }
        let message = format!("the query is nested more than {MAX_NESTING} levels deep");
        Err(self.error(Code::NestedTooDeep, &message).with_limit("depth", MAX_NESTING as u64))
    }

    /// The name of a call is no part of its own.
    fn count_constant(&mut self, value: &Expr) -> Result<()> {
        let is_name = matches!(self.open.last(), Some(Open::Array(items, _)) if items.is_empty());
        let is_constant = !matches!(value.node, Node::Array(_) | Node::Object(_));
        if is_constant && !is_name { self.count() } else { Ok(()) }
    }

    fn count(&mut self) -> Result<()> {
        self.parts += 1;
        if self.parts <= MAX_PARTS {
            return Ok(());
        }
        let message = format!("the query has more than {MAX_PARTS} parts");
        Err(self.error(Code::NestedTooDeep, &message).with_limit("nodes", MAX_PARTS as u64))
    }

    // The text.

    /// Steps over white space; the byte after it.
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

    /// A query in text format, most likely.
    fn no_value(&self) -> Error {
        let error = self.error(Code::ValueExpected, "Value expected");
        match self.text[self.at..].chars().next() {
            Some(_) if self.open.is_empty() => {
                error.with_help(r#"in JSON format a call is a list, as in `["get", "name"]`"#)
            }
            _ => error,
        }
    }

    /// Where the next value goes.
    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for open in &self.open {
            match open {
                Open::Array(items, _) => add_token(&items.len().to_string(), &mut pointer),
                Open::Object(_, key, _) => add_token(&key.name, &mut pointer),
            }
        }
        pointer
    }
}

impl Open {
    fn close(&self) -> u8 {
        match self {
            Open::Array(..) => b']',
            Open::Object(..) => b'}',
        }
    }
}

/// The JSON Pointer (RFC 6901) of the innermost part of a query around a span, or of the part that the span begins in.
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

/// Keeps the last value of every key, in the place of the first.
pub(crate) fn last_wins(entries: Vec<(Key, Expr)>) -> Vec<(Key, Expr)> {
    let mut places: HashMap<Box<str>, usize> = HashMap::with_capacity(entries.len());
    let mut out: Vec<(Key, Expr)> = Vec::with_capacity(entries.len());
    for entry in entries {
        let place = *places.entry(entry.0.name.clone()).or_insert(out.len());
        match out.get_mut(place) {
            Some(old) => *old = entry,
            None => out.push(entry),
        }
    }
    out
}

/// What is still to be written.
enum Piece<'e> {
    Value(&'e Expr),
    Key(&'e str),
    Text(&'static str),
}

/// Writes a query as compact JSON text. What waits is on a stack of its own, as in the reader.
pub(crate) fn to_json(expr: &Expr, out: &mut String) {
    let mut pieces = vec![Piece::Value(expr)];
    while let Some(piece) = pieces.pop() {
        match piece {
            Piece::Value(expr) => write(expr, &mut pieces, out),
            Piece::Key(key) => {
                quote(key, out);
                out.push(':');
            }
            Piece::Text(text) => out.push_str(text),
        }
    }
}

/// Writes a constant, or the bracket that a container begins with. The rest of it is put onto the stack, last first.
fn write<'e>(expr: &'e Expr, pieces: &mut Vec<Piece<'e>>, out: &mut String) {
    match &expr.node {
        Node::Null => out.push_str("null"),
        Node::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Node::Number(value) => write_number(*value, out),
        Node::String(text) => quote(text, out),
        Node::Array(items) => {
            out.push('[');
            pieces.push(Piece::Text("]"));
            for (at, item) in items.iter().enumerate().rev() {
                pieces.extend([Piece::Value(item), Piece::Text(if at > 0 { "," } else { "" })]);
            }
        }
        Node::Object(entries) => {
            out.push('{');
            pieces.push(Piece::Text("}"));
            for (at, (key, value)) in in_order(entries).into_iter().enumerate().rev() {
                let comma = Piece::Text(if at > 0 { "," } else { "" });
                pieces.extend([Piece::Value(value), Piece::Key(&key.name), comma]);
            }
        }
    }
}

/// The entries as a JavaScript object orders them: array indexes first and ascending, then the rest as written.
pub(crate) fn in_order(entries: &[(Key, Expr)]) -> Vec<&(Key, Expr)> {
    let mut sorted: Vec<&(Key, Expr)> = entries.iter().collect();
    sorted.sort_by_key(|(key, _)| array_index(&key.name).unwrap_or(u32::MAX));
    sorted
}

/// `0` to `4294967294` without leading zeros.
pub(crate) fn array_index(key: &str) -> Option<u32> {
    let canonical = key == "0" || (key.starts_with(|c: char| c.is_ascii_digit()) && !key.starts_with('0'));
    key.parse().ok().filter(|index| canonical && *index < u32::MAX)
}

/// A number as JSON has it: without a sign of zero, and null where JSON has no number.
pub(crate) fn write_number(value: f64, out: &mut String) {
    match value.is_finite() {
        true => out.push_str(ryu_js::Buffer::new().format_finite(value)),
        false => out.push_str("null"),
    }
}

/// A text as a JSON string.
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

    fn read(json: &str) -> String {
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
        assert_eq!(read(json), expected, "{json}");
    }

    #[test]
    fn a_query_reads_back_as_it_is_written() {
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
    fn half_a_surrogate_pair_becomes_the_replacement_character() {
        check(r#""\ud83d""#, "\"\u{fffd}\"");
    }

    #[test]
    fn errors_say_where() {
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
        assert_eq!(help(".a").as_deref(), Some(r#"in JSON format a call is a list, as in `["get", "name"]`"#));
        assert_eq!((help(""), help("[.a]")), (None, None));
        assert_eq!(from_json(r#"["é\q"]"#).err().and_then(|error| error.span()), Some(Span::new(4, 5)));
    }

    #[test]
    fn errors_point_to_what_is_missing_or_wrong() {
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
        let check = |text: &str, wanted: &str| {
            let start = json.rfind(text).expect(text);
            assert_eq!(pointer(&query, Span::new(start, start + text.len())), wanted, "{text}");
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
        assert_eq!(code(&nested(MAX_NESTING)), None);
        assert_eq!(code(&nested(MAX_NESTING + 1)), Some(Code::NestedTooDeep));
        assert_eq!(code(&"[".repeat(300_000)), Some(Code::NestedTooDeep));
        assert_eq!(code(&"{\"a\":".repeat(90_000)), Some(Code::NestedTooDeep));
        assert_eq!(code(&format!("[1{}]", ",1".repeat(MAX_PARTS))), Some(Code::NestedTooDeep));
        assert_eq!(code(&" ".repeat(MAX_JSON + 1)), Some(Code::QueryTooLong));
    }
}

//! Tokens of both formats: words, numbers and strings.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, digit1, none_of, one_of, satisfy};
use nom::combinator::{opt, recognize};
use nom::multi::many0_count;
use nom::sequence::{delimited, pair};
use nom::{IResult, Parser as _};

use crate::error::{Code, Error, Span, floor_char_boundary};
use crate::syntax::Node;

pub(super) fn begins_word(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '$'
}

pub(super) fn in_word(c: char) -> bool {
    begins_word(c) || c.is_ascii_digit()
}

/// Returns true if a text can be a name without quotes.
pub(crate) fn is_word(text: &str) -> bool {
    text.starts_with(begins_word) && text.chars().all(in_word)
}

/// Returns true if a text can follow the `$` of a variable.
pub(crate) fn is_variable(text: &str) -> bool {
    !text.is_empty() && text.chars().all(in_word)
}

pub(super) fn word(text: &str) -> IResult<&str, &str> {
    recognize(pair(satisfy(begins_word), take_while(in_word))).parse(text)
}

pub(super) fn int(text: &str) -> IResult<&str, &str> {
    // Not `digit0`: at the end of a text, nom 8.0.0 returns a rest that `recognize` cannot measure.
    let digits = take_while(|c: char| c.is_ascii_digit());
    alt((tag("0"), recognize(pair(one_of("123456789"), digits)))).parse(text)
}

pub(crate) fn number(text: &str) -> IResult<&str, &str> {
    let fraction = opt(pair(char('.'), digit1));
    let exponent = opt((one_of("eE"), opt(one_of("+-")), digit1));
    recognize((opt(char('-')), int, fraction, exponent)).parse(text)
}

/// Parses a string with its quotes. A backslash may precede any character but a line end.
pub(crate) fn string(text: &str) -> IResult<&str, &str> {
    let plain = take_while1(|c| c != '"' && c != '\\');
    let escaped = recognize(pair(char('\\'), none_of("\n\r\u{2028}\u{2029}")));
    recognize(delimited(char('"'), many0_count(alt((plain, escaped))), char('"'))).parse(text)
}

/// Returns the value of a number. Numbers that are too large are infinite, as in JavaScript.
pub(crate) fn number_of(lexeme: &str) -> f64 {
    lexeme.parse().unwrap_or(f64::NAN)
}

/// Returns the keyword at the start of a text, and its length.
pub(crate) fn keyword(text: &str) -> Option<(usize, Node)> {
    let table = [("true", Node::Bool(true)), ("false", Node::Bool(false)), ("null", Node::Null)];
    let (word, node) = table.into_iter().find(|(word, _)| text.starts_with(word))?;
    Some((word.len(), node))
}

/// Error in a string, and its position.
pub(crate) struct BadString {
    at: usize,
    message: &'static str,
    help: &'static str,
}

impl BadString {
    /// Returns the byte of the string's contents.
    pub fn at(&self) -> usize {
        self.at
    }

    pub fn message(&self) -> &'static str {
        self.message
    }

    /// Returns the error for a string whose contents begin at a byte of the text.
    pub fn error(&self, text: &str, start: usize) -> Error {
        let error = syntax_error(text, start + self.at, 1, Code::BadString, self.message);
        error.with_label("not allowed in a string").with_help(self.help)
    }
}

/// Resolves the escapes of a string's contents.
pub(crate) fn unescape(text: &str) -> Result<Box<str>, BadString> {
    if let Some(at) = text.bytes().position(|byte| byte < b' ') {
        let help = "write line breaks and tabs as `\\n` and `\\t`, others as `\\u00XX`";
        return Err(BadString { at, message: "Bad control character in string", help });
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (c, length) = escape(&rest[at..]).ok_or_else(|| bad_escape(&rest[at..], text.len() - rest.len() + at))?;
        out.push(c);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    Ok(out.into())
}

/// Returns the error for an escape at the start of a text, at a byte of the string's contents.
fn bad_escape(text: &str, at: usize) -> BadString {
    let (message, help) = if hex(text).is_some() {
        ("Lone surrogate in string", "write both surrogates of the pair, or the character itself")
    } else if text.starts_with("\\(") {
        ("Bad escaped character in string", "to insert a value, use `format(\"{a.b}\")`, or join strings with `+`")
    } else {
        let escapes = r#"in a pattern, `\` is written twice, as in `\\d`; the escapes are `\"` `\\` `\/` `\b` `\f` `\n` `\r` `\t` and `\uXXXX`"#;
        ("Bad escaped character in string", escapes)
    };
    BadString { at, message, help }
}

/// Returns the character of an escape, and the length of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    let c = match text.as_bytes().get(1)? {
        b'u' => return unicode_escape(text),
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        c @ (b'"' | b'\\' | b'/') => *c as char,
        _ => return None,
    };
    Some((c, 2))
}

/// Parses `\uXXXX`, or a surrogate pair of them; `None` for a lone surrogate, which UTF-8 cannot represent.
fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let high = hex(text)?;
    let low = text.get(6..).and_then(hex).filter(|low| (0xDC00..0xE000).contains(low));
    match (high, low) {
        (0xD800..0xDC00, Some(low)) => {
            char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00)).map(|c| (c, 12))
        }
        _ => char::from_u32(high).map(|c| (c, 6)),
    }
}

fn hex(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    // `from_str_radix` would accept a sign.
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Returns an error at a byte of the text; the message contains the position in UTF-16 units. Marks `length` bytes,
/// rounded to whole characters.
pub(crate) fn syntax_error(text: &str, at: usize, length: usize, code: Code, message: &str) -> Error {
    let at = floor_char_boundary(text, at);
    let next = text[at..].chars().next().map_or(0, char::len_utf8);
    let end = floor_char_boundary(text, at + length).max(at + next);
    let pos = text[..at].encode_utf16().count();
    let error = Error::new(code, format!("{message} (pos: {pos})")).with_span(Span::new(at, end));
    error.with_expected(expected(code, message))
}

/// Returns the syntax that the parser expected at an error.
fn expected(code: Code, message: &str) -> Option<String> {
    let what = match code {
        Code::ValueExpected => "a value",
        Code::PropertyExpected => "a property name",
        Code::KeyExpected => "a key",
        Code::TrailingText => "the end of the query",
        _ => {
            let character = message.strip_prefix("Character '")?.strip_suffix("' expected")?;
            return Some(format!("`{character}`"));
        }
    };
    Some(what.into())
}

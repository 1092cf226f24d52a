//! JSON: kept as it stands, for the splitter that cuts it by its structure; for readers with the letters that escapes
//! stand for, since nobody looks for `\u00dc`, and `\nPSV-1` is no tag.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use super::gather::Gather;
use super::look::{Fit, Look};
use super::{Failure, Format, Markup, Source, plain};

/// The row.
pub const JSON: Format = Format {
    name: "json",
    media_types: &["application/json", "text/json"],
    extensions: &["json", "geojson"],
    summary: "JSON, checked: as it stands for the splitter that cuts it; for all others escaped letters, blanks and line breaks are what they stand for",
    sniff,
    read,
};

/// Levels of nesting, as for graphs.
const MAX_DEPTH: usize = 512;

fn sniff(look: &Look<'_>) -> Fit {
    match look.text() {
        Some(decoded) if !decoded.text.trim_start().starts_with(['{', '[']) && is_json(&decoded.text) => Fit::Possible,
        Some(decoded) if !decoded.text.trim_start().starts_with(['{', '[']) => Fit::No,
        Some(decoded) if is_json(&decoded.text) => Fit::Certain,
        Some(_) => Fit::Possible,
        None => Fit::No,
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn read(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let text = plain::text(source, gather)?;
    if depth(text) > MAX_DEPTH {
        return Err(Failure::corrupt(format!("the JSON is nested deeper than {MAX_DEPTH} levels")));
    }
    serde_json::from_str::<IgnoredAny>(text)
        .map_err(|error| Failure::corrupt(format!("no JSON at line {}, column {}", error.line(), error.column())))?;
    match source.options.markup {
        Markup::Keep => gather.push(text),
        Markup::Read => gather.push(&unescaped(text)),
    }
}

/// The text with the characters that escapes stand for, but for quotes, backslashes and controls.
fn unescaped(json: &str) -> Cow<'_, str> {
    if !json.contains('\\') {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (taken, character) = escape(&rest[at..]);
        match character {
            Some(character) => out.push(character),
            None => out.push_str(&rest[at..at + taken]),
        }
        rest = &rest[at + taken..];
    }
    Cow::Owned(out + rest)
}

/// How long an escape is, and what it stands for, unless it stays.
fn escape(text: &str) -> (usize, Option<char>) {
    match text.as_bytes().get(1) {
        Some(b'n') => (2, Some('\n')),
        Some(b'r') => (2, Some('\r')),
        Some(b't') => (2, Some('\t')),
        Some(b'/') => (2, Some('/')),
        Some(b'u') => numbered(text),
        Some(_) => (2, None),
        None => (1, None),
    }
}

/// A character by one number of UTF-16, or by two.
fn numbered(text: &str) -> (usize, Option<char>) {
    let unit = |at: usize| {
        let digits = text.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let units = [unit(0), unit(6)].into_iter().map_while(|unit| unit);
    let decoded = char::decode_utf16(units).next().and_then(Result::ok);
    let kept = |c: &char| !c.is_control() && !matches!(c, '"' | '\\');
    let length = if decoded.is_some_and(|c| c.len_utf16() == 2) { 12 } else { 6.min(text.len()) };
    (length, decoded.filter(kept))
}

/// How deep brackets are nested outside of texts.
fn depth(json: &str) -> usize {
    let (mut depth, mut deepest, mut quoted, mut escaped) = (0usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

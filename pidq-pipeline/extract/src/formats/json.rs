//! JSON reader: keeps the source for the `json` splitter; otherwise decodes escapes, so that `\u00dc` is searchable and
//! `\nPSV-1` yields a tag.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::formats::txt;
use crate::sniff::{Confidence, Content};
use crate::text_sink::TextSink;
use crate::{ExtractError, Format, Markup, Source};

/// The `json` format.
pub const JSON: Format = Format {
    name: "json",
    media_types: &["application/json", "text/json"],
    extensions: &["json", "geojson"],
    summary: "validated JSON: the unchanged source for the `json` splitter, the source with decoded escapes for all others",
    sniff,
    read,
};

/// Maximum nesting depth, as for graphs.
const MAX_DEPTH: usize = 512;

fn sniff(content: &Content<'_>) -> Confidence {
    match content.text() {
        Some(decoded) if !decoded.text.trim_start().starts_with(['{', '[']) && is_json(&decoded.text) => {
            Confidence::Possible
        }
        Some(decoded) if !decoded.text.trim_start().starts_with(['{', '[']) => Confidence::No,
        Some(decoded) if is_json(&decoded.text) => Confidence::Certain,
        Some(_) => Confidence::Possible,
        None => Confidence::No,
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let text = txt::text(source, sink)?;
    if depth(text) > MAX_DEPTH {
        return Err(ExtractError::corrupt(format!("the JSON is nested deeper than {MAX_DEPTH} levels")));
    }
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
        ExtractError::corrupt(format!("invalid JSON at line {}, column {}", error.line(), error.column()))
    })?;
    match source.options.markup {
        Markup::Keep => sink.push(text),
        Markup::Strip => sink.push(&decode_escapes(text)),
    }
}

/// Decodes escapes, except those of quotes, backslashes and control characters.
fn decode_escapes(json: &str) -> Cow<'_, str> {
    if !json.contains('\\') {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len());
    let mut remaining = json;
    while let Some(index) = remaining.find('\\') {
        out.push_str(&remaining[..index]);
        let (length, character) = escape(&remaining[index..]);
        match character {
            Some(character) => out.push(character),
            None => out.push_str(&remaining[index..index + length]),
        }
        remaining = &remaining[index + length..];
    }
    Cow::Owned(out + remaining)
}

/// Returns the length of an escape and its character, or none if the escape is kept.
fn escape(text: &str) -> (usize, Option<char>) {
    match text.as_bytes().get(1) {
        Some(b'n') => (2, Some('\n')),
        Some(b'r') => (2, Some('\r')),
        Some(b't') => (2, Some('\t')),
        Some(b'/') => (2, Some('/')),
        Some(b'u') => unicode_escape(text),
        Some(_) => (2, None),
        None => (1, None),
    }
}

/// Decodes one `\u` escape, or a surrogate pair.
fn unicode_escape(text: &str) -> (usize, Option<char>) {
    let unit = |index: usize| {
        let digits = text.get(index..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let units = [unit(0), unit(6)].into_iter().map_while(|unit| unit);
    let decoded = char::decode_utf16(units).next().and_then(Result::ok);
    let is_decoded = |c: &char| !c.is_control() && !matches!(c, '"' | '\\');
    let length = if decoded.is_some_and(|c| c.len_utf16() == 2) { 12 } else { 6.min(text.len()) };
    (length, decoded.filter(is_decoded))
}

/// Returns the nesting depth of brackets outside strings.
fn depth(json: &str) -> usize {
    let (mut depth, mut max_depth, mut quoted, mut escaped) = (0usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        max_depth = max_depth.max(depth);
    }
    max_depth
}

//! Byte offsets in JSON text: object fields, lone surrogates and duplicate keys.
//!
//! The text was parsed before; this module only finds offsets, so that the original bytes can be kept. On unexpected
//! input it returns `None` and never panics.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// Fields of an object.
pub(super) struct ObjectFields<'a> {
    /// Keys with the byte ranges of their values, in order.
    pub fields: Vec<(Cow<'a, str>, Range<usize>)>,
    /// Offset of the closing brace.
    pub end: usize,
}

impl ObjectFields<'_> {
    /// Returns the ranges of all values of a key. The last one counts.
    pub fn values_of<'m>(&'m self, key: &'m str) -> impl DoubleEndedIterator<Item = Range<usize>> + 'm {
        self.fields.iter().filter(move |(name, _)| name == key).map(|(_, value)| value.clone())
    }
}

/// Parses the fields of the object that starts at or after `at`.
pub(super) fn object_fields(json: &str, at: usize) -> Option<ObjectFields<'_>> {
    let bytes = json.as_bytes();
    let mut at = after_space(bytes, at);
    let mut fields = Vec::new();
    if bytes.get(at) != Some(&b'{') {
        return None;
    }
    at = after_space(bytes, at + 1);
    while bytes.get(at) == Some(&b'"') {
        let key_end = after_string(bytes, at);
        let key = decode(json.get(at + 1..key_end.checked_sub(1)?)?);
        let colon = after_space(bytes, key_end);
        let start = after_space(bytes, colon + 1);
        let end = after_value(bytes, start);
        fields.push((key, start..end));
        at = after_space(bytes, end);
        if bytes.get(at) == Some(&b',') {
            at = after_space(bytes, at + 1);
        }
    }
    (bytes.get(at) == Some(&b'}')).then_some(ObjectFields { fields, end: at })
}

/// Returns the offset of the first lone surrogate escape.
pub(crate) fn lone_surrogate(json: &str) -> Option<usize> {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(found) = bytes.get(at..)?.iter().position(|byte| *byte == b'\\') {
        let escape = at + found;
        at = match utf16_unit(json, escape) {
            Some(0xd800..=0xdbff) if matches!(utf16_unit(json, escape + 6), Some(0xdc00..=0xdfff)) => escape + 12,
            Some(0xd800..=0xdfff) => return Some(escape),
            _ => escape + 2,
        };
    }
    None
}

/// Returns the JSON pointer of the first duplicate key.
pub(super) fn duplicate_key(json: &str) -> Option<String> {
    let bytes = json.as_bytes();
    let mut open: Vec<OpenContainer<'_>> = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let start = at;
        at = if *byte == b'"' { after_string(bytes, at) } else { at + 1 };
        match (byte, open.last_mut()) {
            (b'{', _) => open.push(OpenContainer::Object { keys: HashSet::new(), at: None }),
            (b'[', _) => open.push(OpenContainer::Array(0)),
            (b'}' | b']', _) => drop(open.pop()),
            (b',', Some(OpenContainer::Object { at, .. })) => *at = None,
            (b',', Some(OpenContainer::Array(index))) => *index += 1,
            (b'"', Some(OpenContainer::Object { keys, at: key @ None })) => {
                let name = decode(json.get(start + 1..at.checked_sub(1)?)?);
                *key = Some(name.clone());
                if !keys.insert(name) {
                    return Some(open.iter().map(OpenContainer::pointer).collect());
                }
            }
            _ => {}
        }
    }
    None
}

/// Open container and the position in it.
enum OpenContainer<'a> {
    Array(usize),
    Object {
        keys: HashSet<Cow<'a, str>>,
        /// Key of the current value; `None` where a key is expected.
        at: Option<Cow<'a, str>>,
    },
}

impl OpenContainer<'_> {
    fn pointer(&self) -> String {
        match self {
            OpenContainer::Array(index) => format!("/{index}"),
            OpenContainer::Object { at, .. } => pidq_http::pointer_step(at.as_deref().unwrap_or_default()),
        }
    }
}

/// Returns the text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            '\0'..='\x1f' => json.push_str(&format!("\\u{:04x}", character as u32)),
            _ => json.push(character),
        }
    }
    json.push('"');
    json
}

/// Returns the UTF-16 code unit of an escape `\uXXXX`.
fn utf16_unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..)?.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

/// Decodes the content between the quotes of a JSON string.
fn decode(raw: &str) -> Cow<'_, str> {
    if !raw.contains('\\') {
        return Cow::Borrowed(raw);
    }
    let mut units: Vec<u16> = Vec::with_capacity(raw.len());
    let mut characters = raw.char_indices();
    while let Some((at, character)) = characters.next() {
        if character != '\\' {
            units.extend_from_slice(character.encode_utf16(&mut [0; 2]));
            continue;
        }
        let escape = characters.next().map(|(_, escape)| escape);
        units.push(match escape {
            Some('u') => utf16_unit(raw, at).unwrap_or(0xfffd),
            Some('b') => 8,
            Some('t') => 9,
            Some('n') => 10,
            Some('f') => 12,
            Some('r') => 13,
            Some(other) => u16::try_from(other as u32).unwrap_or(0xfffd),
            None => 0xfffd,
        });
        if escape == Some('u') {
            characters.by_ref().take(4).for_each(drop);
        }
    }
    Cow::Owned(String::from_utf16_lossy(&units))
}

fn after_space(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// Returns the offset after the string that starts at `at`.
fn after_string(bytes: &[u8], mut at: usize) -> usize {
    at += 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => return bytes.len(),
        }
    }
}

/// Returns the offset after the value that starts at `at`, without recursion.
fn after_value(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => {
                at = after_string(bytes, at);
                if depth == 0 {
                    return at;
                }
                continue;
            }
            Some(b'{' | b'[') => depth += 1,
            Some(b'}' | b']') if depth <= 1 => return if depth == 1 { at + 1 } else { at },
            Some(b'}' | b']') => depth -= 1,
            Some(b',' | b' ' | b'\t' | b'\n' | b'\r') if depth == 0 => return at,
            Some(_) => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: &[(&str, &str)]) {
        let found = object_fields(json, 0).expect("an object");
        let found: Vec<(&str, &str)> =
            found.fields.iter().map(|(key, value)| (key.as_ref(), &json[value.clone()])).collect();
        assert_eq!(found, expected, "{json}");
    }

    #[test]
    fn fields_are_found_with_their_bytes() {
        check("{}", &[]);
        check(" { } ", &[]);
        check(r#"{"a":1}"#, &[("a", "1")]);
        check(r#" { "a" : 1.0e5 , "b" : "x,}\"" } "#, &[("a", "1.0e5"), ("b", r#""x,}\"""#)]);
        check(
            r#"{"a":[{"b":"]"},[]],"c":{"d":{}},"e":null}"#,
            &[("a", r#"[{"b":"]"},[]]"#), ("c", r#"{"d":{}}"#), ("e", "null")],
        );
        check(r#"{"a\u0062\n":true,"ab":false}"#, &[("ab\n", "true"), ("ab", "false")]);
        check(r#"{"\ud83d\ude00ä":-1}"#, &[("😀ä", "-1")]);
    }

    #[test]
    fn invalid_objects_have_no_fields() {
        for json in ["", "[]", "1", "\"{}\"", "{", "{\"a", "{\"a\":1", "{\"a\":[", "{\"a\\"] {
            assert!(object_fields(json, 0).is_none(), "{json}");
        }
    }

    #[test]
    fn lone_surrogates_are_found() {
        let check = |json: &str, expected| assert_eq!(lone_surrogate(json), expected, "{json}");
        check(r#""plain""#, None);
        check(r#""\ud83d\ude00""#, None);
        check(r#""\ud83d""#, Some(1));
        check(r#""a\ude00""#, Some(2));
        check(r#""\ud83d\ud83d\ude00""#, Some(1));
        check(r#""\\ud83d""#, None);
        check(r#""\\\ud83d""#, Some(3));
        check(r#""\uD83Dx""#, Some(1));
    }

    #[test]
    fn duplicate_keys_are_found() {
        let check = |json: &str, expected: Option<&str>| assert_eq!(duplicate_key(json).as_deref(), expected, "{json}");
        check(r#"{"a":1,"b":{"a":"a"},"c":["a","a",{"a":1},{"a":2}]}"#, None);
        check(r#"{"a":1,"a":2}"#, Some("/a"));
        check(r#"{"x":[0,{"k":{}},{"a/b~":1,"k":",{","a\u002fb~":[]}]}"#, Some("/x/2/a~1b~0"));
        check(r#"{"":1,"b":[{}],"":2}"#, Some("/"));
        for json in ["", "\"", "{\"", "[{\"a", "]", "}"] {
            check(json, None);
        }
    }

    #[test]
    fn quoted_strings_are_json() {
        assert_eq!(quoted("a\"b\\c\n\u{1f}ä"), "\"a\\\"b\\\\c\\u000a\\u001fä\"");
    }
}

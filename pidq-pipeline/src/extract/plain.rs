//! Text in any encoding: by its mark, as UTF-8, as it declares, or as it looks.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use super::look::Fit;
use super::{Format, Gather, Source};
use crate::extract::Failure;

/// The row.
pub const TEXT: Format = Format {
    name: "text",
    media_types: &["text/plain", "application/xml", "text/xml", "application/x-ndjson", "application/yaml"],
    extensions: &["txt", "text", "log", "xml", "ndjson", "jsonl", "yaml", "yml", "toml", "ini", "tex", "rst", "adoc"],
    summary: "text in any encoding, as it stands",
    sniff: |look| if look.text().is_some() { Fit::Possible } else { Fit::No },
    read: |source, gather| whole(source, gather),
};

/// A text that was bytes.
pub struct Decoded {
    pub text: String,
    /// What the reader should know about it.
    pub warning: Option<String>,
}

/// The text of a source, with what there is to say about it.
pub fn text<'s>(source: &Source<'s>, gather: &mut Gather) -> Result<&'s str, Failure> {
    let decoded = source.look.text().ok_or_else(|| Failure::corrupt("the content is no text"))?;
    if let Some(warning) = &decoded.warning {
        gather.warn(warning);
    }
    Ok(&decoded.text)
}

/// The text as it stands.
pub fn whole(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let text = text(source, gather)?;
    gather.push(text)
}

/// Bytes as text; nothing if they are something else.
pub fn decode(bytes: &[u8]) -> Option<Decoded> {
    marked(bytes).or_else(|| utf_8(bytes)).or_else(|| wide(bytes)).or_else(|| guessed(bytes))
}

/// By a mark at the beginning.
fn marked(bytes: &[u8]) -> Option<Decoded> {
    if let Some(rest) = bytes.strip_prefix(b"\xFF\xFE\0\0") {
        return Some(utf_32(rest, u32::from_le_bytes));
    }
    if let Some(rest) = bytes.strip_prefix(b"\0\0\xFE\xFF") {
        return Some(utf_32(rest, u32::from_be_bytes));
    }
    let (encoding, mark) = Encoding::for_bom(bytes)?;
    let decoded = known(encoding, &bytes[mark..]);
    (!is_binary(decoded.text.as_bytes())).then_some(decoded)
}

fn utf_32(bytes: &[u8], value: fn([u8; 4]) -> u32) -> Decoded {
    let (units, rest) = bytes.as_chunks::<4>();
    let text = units.iter().map(|unit| char::from_u32(value(*unit)).unwrap_or('\u{FFFD}')).collect();
    told(text, !rest.is_empty(), "UTF-32")
}

/// UTF-8, also with a few wrong bytes: a text that is mostly right is not of another encoding.
fn utf_8(bytes: &[u8]) -> Option<Decoded> {
    if is_binary(bytes) || memchr::memchr(0x1B, bytes).is_some() {
        return None;
    }
    match str::from_utf8(bytes) {
        Ok(text) => Some(Decoded { text: text.to_owned(), warning: None }),
        Err(_) if is_mostly_utf_8(bytes) => Some(known(UTF_8, bytes)),
        Err(_) => None,
    }
}

fn is_mostly_utf_8(bytes: &[u8]) -> bool {
    let (mut right, mut wrong) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        right += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    right > 2 * wrong
}

/// UTF-16 without a mark: of Western text every other byte is 0.
fn wide(bytes: &[u8]) -> Option<Decoded> {
    let (pairs, _) = bytes[..bytes.len().min(4096)].as_chunks::<2>();
    let zeros = |place: usize| pairs.iter().filter(|pair| pair[place] == 0).count();
    let (first, second) = (zeros(0), zeros(1));
    let encoding = match () {
        () if pairs.len() < 4 => return None,
        () if second > pairs.len() / 2 && first == 0 => UTF_16LE,
        () if first > pairs.len() / 2 && second == 0 => UTF_16BE,
        () => return None,
    };
    let decoded = known(encoding, bytes);
    (!is_binary(decoded.text.as_bytes())).then_some(decoded)
}

/// What the document declares, else what it looks like.
fn guessed(bytes: &[u8]) -> Option<Decoded> {
    if is_binary(bytes) || infer::get(bytes).is_some_and(|kind| kind.matcher_type() != infer::MatcherType::Text) {
        return None;
    }
    if let Some(encoding) = declared(bytes) {
        return Some(known(encoding, bytes));
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    let encoding = detector.guess(None, Utf8Detection::Allow);
    let decoded = known(encoding, bytes);
    let note = format!("the text was read as {}, which nothing but its bytes says", encoding.name());
    let is_plain = encoding == UTF_8;
    Some(Decoded { warning: decoded.warning.or((!is_plain).then_some(note)), text: decoded.text })
}

/// The encoding that the beginning of HTML or XML names.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(1024)].to_ascii_lowercase();
    let after = |word: &[u8]| memchr::memmem::find(head, word).map(|at| &head[at + word.len()..]);
    let value = after(b"charset=").or_else(|| head.starts_with(b"<?xml").then(|| after(b"encoding="))?)?;
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_:".contains(byte);
    let name: Vec<u8> = value.iter().skip_while(|byte| b"\"' ".contains(byte)).take_while(is_name).copied().collect();
    Encoding::for_label(&name).filter(|encoding| encoding.is_ascii_compatible())
}

fn known(encoding: &'static Encoding, bytes: &[u8]) -> Decoded {
    let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
    told(
        match text {
            Cow::Borrowed(text) => text.to_owned(),
            Cow::Owned(text) => text,
        },
        had_errors,
        encoding.name(),
    )
}

fn told(text: String, had_errors: bool, encoding: &str) -> Decoded {
    let warning = had_errors.then(|| format!("some bytes are no {encoding} and became \u{FFFD}"));
    Decoded { text, warning }
}

/// Text has hardly a control character: one in a hundred is a broken text, more is none.
fn is_binary(bytes: &[u8]) -> bool {
    let controls = bytes.iter().filter(|byte| **byte < 0x20 && !b"\t\n\r\x0B\x0C\x1B".contains(byte)).count();
    controls * 100 > bytes.len()
}

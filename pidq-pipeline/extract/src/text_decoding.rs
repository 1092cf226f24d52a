//! Text decoding: by byte order mark, UTF-8 validity, declaration, or statistics.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Decoded text.
pub struct Decoded {
    pub text: String,
    /// Warning about the decoding.
    pub warning: Option<String>,
}

/// Decodes bytes as text; none for binary content.
pub fn decode(bytes: &[u8]) -> Option<Decoded> {
    decode_by_bom(bytes)
        .or_else(|| decode_utf_8(bytes))
        .or_else(|| decode_utf_16(bytes))
        .or_else(|| decode_by_detection(bytes))
}

/// Decodes by byte order mark.
fn decode_by_bom(bytes: &[u8]) -> Option<Decoded> {
    if let Some(content) = bytes.strip_prefix(b"\xFF\xFE\0\0") {
        return Some(decode_utf_32(content, u32::from_le_bytes));
    }
    if let Some(content) = bytes.strip_prefix(b"\0\0\xFE\xFF") {
        return Some(decode_utf_32(content, u32::from_be_bytes));
    }
    let (encoding, bom_length) = Encoding::for_bom(bytes)?;
    let decoded = decode_as(encoding, &bytes[bom_length..]);
    (!is_binary(decoded.text.as_bytes())).then_some(decoded)
}

fn decode_utf_32(bytes: &[u8], value: fn([u8; 4]) -> u32) -> Decoded {
    let (units, remainder) = bytes.as_chunks::<4>();
    let text = units.iter().map(|unit| char::from_u32(value(*unit)).unwrap_or('\u{FFFD}')).collect();
    with_warning(text, !remainder.is_empty(), "UTF-32")
}

/// Decodes UTF-8, also with a few invalid bytes: text that is mostly valid UTF-8 has no other encoding.
fn decode_utf_8(bytes: &[u8]) -> Option<Decoded> {
    if is_binary(bytes) || memchr::memchr(0x1B, bytes).is_some() {
        return None;
    }
    match str::from_utf8(bytes) {
        Ok(text) => Some(Decoded { text: text.to_owned(), warning: None }),
        Err(_) if is_mostly_utf_8(bytes) => Some(decode_as(UTF_8, bytes)),
        Err(_) => None,
    }
}

fn is_mostly_utf_8(bytes: &[u8]) -> bool {
    let (mut valid, mut invalid) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        invalid += usize::from(!chunk.invalid().is_empty());
    }
    valid > 2 * invalid
}

/// Decodes UTF-16 without a byte order mark: in Western text every other byte is 0.
fn decode_utf_16(bytes: &[u8]) -> Option<Decoded> {
    let (pairs, _) = bytes[..bytes.len().min(4096)].as_chunks::<2>();
    let zeros = |index: usize| pairs.iter().filter(|pair| pair[index] == 0).count();
    let (first, second) = (zeros(0), zeros(1));
    let encoding = match () {
        () if pairs.len() < 4 => return None,
        () if second > pairs.len() / 2 && first == 0 => UTF_16LE,
        () if first > pairs.len() / 2 && second == 0 => UTF_16BE,
        () => return None,
    };
    let decoded = decode_as(encoding, bytes);
    (!is_binary(decoded.text.as_bytes())).then_some(decoded)
}

/// Decodes by the declared encoding, or else by the statistically detected one.
fn decode_by_detection(bytes: &[u8]) -> Option<Decoded> {
    if is_binary(bytes) || infer::get(bytes).is_some_and(|kind| kind.matcher_type() != infer::MatcherType::Text) {
        return None;
    }
    if let Some(encoding) = declared_encoding(bytes) {
        return Some(decode_as(encoding, bytes));
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(bytes, true);
    let encoding = detector.guess(None, Utf8Detection::Allow);
    let decoded = decode_as(encoding, bytes);
    let warning = format!("the encoding was guessed as {}", encoding.name());
    let is_plain = encoding == UTF_8;
    Some(Decoded { warning: decoded.warning.or((!is_plain).then_some(warning)), text: decoded.text })
}

/// Returns the encoding that HTML or XML declares in its first 1024 bytes.
fn declared_encoding(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(1024)].to_ascii_lowercase();
    let after = |word: &[u8]| memchr::memmem::find(head, word).map(|index| &head[index + word.len()..]);
    let value = after(b"charset=").or_else(|| head.starts_with(b"<?xml").then(|| after(b"encoding="))?)?;
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_:".contains(byte);
    let name: Vec<u8> = value.iter().skip_while(|byte| b"\"' ".contains(byte)).take_while(is_name).copied().collect();
    Encoding::for_label(&name).filter(|encoding| encoding.is_ascii_compatible())
}

fn decode_as(encoding: &'static Encoding, bytes: &[u8]) -> Decoded {
    let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
    with_warning(
        match text {
            Cow::Borrowed(text) => text.to_owned(),
            Cow::Owned(text) => text,
        },
        had_errors,
        encoding.name(),
    )
}

fn with_warning(text: String, had_errors: bool, encoding: &str) -> Decoded {
    let warning = had_errors.then(|| format!("some bytes are not valid {encoding} and were replaced by \u{FFFD}"));
    Decoded { text, warning }
}

/// Returns whether bytes are binary: more than one in a hundred is a control character.
fn is_binary(bytes: &[u8]) -> bool {
    let controls = bytes.iter().filter(|byte| **byte < 0x20 && !b"\t\n\r\x0B\x0C\x1B".contains(byte)).count();
    controls * 100 > bytes.len()
}

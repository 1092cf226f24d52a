//! Character decoding: by byte order mark, then the XML declaration, then UTF-8.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::error::{Code, Error, Result};

/// Number of bytes in which the declaration is searched.
const DECLARATION_SIZE: usize = 1024;

/// Decodes an XML file.
///
/// # Errors
/// `PQ6005` for an unknown encoding, and for bytes that are invalid in the encoding.
pub fn decode_xml(bytes: &[u8]) -> Result<Cow<'_, str>> {
    if let Some((encoding, bom_len)) = Encoding::for_bom(bytes) {
        return decode(encoding, &bytes[bom_len..]);
    }
    decode(sniff_utf16(bytes).map_or_else(|| declared_encoding(bytes), Ok)?, bytes)
}

/// Decodes a file that is UTF-8 unless it has another byte order mark.
///
/// # Errors
/// `PQ6005` for an unknown encoding, and for bytes that are invalid in the encoding.
pub fn decode_plain(bytes: &[u8]) -> Result<Cow<'_, str>> {
    let (encoding, bom_len) = Encoding::for_bom(bytes).unwrap_or((UTF_8, 0));
    decode(encoding, &bytes[bom_len..])
}

fn decode<'b>(encoding: &'static Encoding, bytes: &'b [u8]) -> Result<Cow<'b, str>> {
    encoding
        .decode_without_bom_handling_and_without_replacement(bytes)
        .ok_or_else(|| Error::new(Code::BadEncoding, format!("the bytes are not {}", encoding.name())))
}

/// Detects UTF-16 without a byte order mark by the zero byte next to the first `<`.
fn sniff_utf16(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [b'<', 0, ..] => Some(UTF_16LE),
        [0, b'<', ..] => Some(UTF_16BE),
        _ => None,
    }
}

/// Returns the encoding declared by `<?xml encoding="…"?>`. A declaration of UTF-16 that is readable as ASCII is
/// ignored.
fn declared_encoding(bytes: &[u8]) -> Result<&'static Encoding> {
    let head = &bytes[..bytes.len().min(DECLARATION_SIZE)];
    let Some(label) = label(head) else { return Ok(UTF_8) };
    let unknown = || Error::new(Code::BadEncoding, format!("unknown encoding `{}`", label.escape_ascii()));
    let encoding = Encoding::for_label(label).ok_or_else(unknown)?;
    Ok(if encoding == UTF_16LE || encoding == UTF_16BE { UTF_8 } else { encoding })
}

fn label(head: &[u8]) -> Option<&[u8]> {
    let declaration = head.trim_ascii_start().strip_prefix(b"<?xml")?;
    let declaration = &declaration[..find(declaration, b"?>")?];
    let after = declaration[find(declaration, b"encoding")? + b"encoding".len()..].trim_ascii_start();
    let value = after.strip_prefix(b"=")?.trim_ascii_start();
    let quote = *value.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
    value[1..].split(|byte| *byte == quote).next()
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], text: &str) {
        assert_eq!(decode_xml(bytes).expect("it is text"), text);
    }

    fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn xml_without_a_declared_encoding_is_utf_8() {
        check("<a>ü</a>".as_bytes(), "<a>ü</a>");
        check("\u{FEFF}<a>ü</a>".as_bytes(), "<a>ü</a>");
    }

    #[test]
    fn utf_16_is_decoded_in_both_byte_orders_with_and_without_bom() {
        check(&utf_16("\u{FEFF}<a>ü</a>", u16::to_le_bytes), "<a>ü</a>");
        check(&utf_16("\u{FEFF}<a>ü</a>", u16::to_be_bytes), "<a>ü</a>");
        check(&utf_16("<a>ü</a>", u16::to_le_bytes), "<a>ü</a>");
        check(&utf_16("<a>ü</a>", u16::to_be_bytes), "<a>ü</a>");
    }

    #[test]
    fn a_declared_encoding_is_used() {
        let bytes = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xFC</a>";
        check(bytes, "<?xml version='1.0' encoding='ISO-8859-1'?><a>ü</a>");
    }

    #[test]
    fn a_utf_16_declaration_in_ascii_is_ignored() {
        check(b"<?xml version='1.0' encoding='UTF-16'?><a/>", "<?xml version='1.0' encoding='UTF-16'?><a/>");
    }

    #[test]
    fn invalid_bytes_and_unknown_encodings_are_rejected() {
        for bytes in [&b"<a>\xFC</a>"[..], b"<?xml encoding='klingon'?><a/>", b"\xFF\xFE<\0a"] {
            assert_eq!(decode_xml(bytes).expect_err("it is no text").code(), Code::BadEncoding);
        }
    }
}

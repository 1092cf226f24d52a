//! Percent-encoding of paths, queries and forms. Decoding is strict: escapes must be valid, and the result UTF-8.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode, percent_decode_str, utf8_percent_encode};
use zeroize::Zeroizing;

/// All but the unreserved characters (RFC 3986, section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Decodes `%41` to `A`. `None` for an invalid escape or bytes that are not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    let decoded = has_valid_escapes(text.as_bytes()).then(|| percent_decode_str(text).decode_utf8())?;
    decoded.ok().map(String::from)
}

/// Decodes a secret of a form, where a plus is a space, and erases all copies. `None` like [`decode`].
pub(crate) fn decode_secret(text: &[u8]) -> Option<Zeroizing<String>> {
    let with_spaces: Zeroizing<Vec<u8>> =
        Zeroizing::new(text.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect());
    // The capacity suffices, so that no copy is left behind by growing.
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    bytes.extend(has_valid_escapes(text).then(|| percent_decode(&with_spaces))?);
    std::str::from_utf8(&bytes).ok().map(|text| Zeroizing::new(text.to_owned()))
}

/// Encodes all but unreserved characters, for paths and queries.
pub fn encode(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Returns whether all escapes are valid and the decoded text is UTF-8. Libraries replace what is invalid.
pub(crate) fn is_decodable(text: &str) -> bool {
    has_valid_escapes(text.as_bytes()) && percent_decode_str(text).decode_utf8().is_ok()
}

fn has_valid_escapes(text: &[u8]) -> bool {
    let mut after_signs = text.split(|byte| *byte == b'%').skip(1);
    after_signs.all(|rest| rest.get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_once_and_invalid_ones_are_rejected() {
        let cases = [
            ("a%20b", Some("a b")),
            ("%252e", Some("%2e")),
            ("%C3%A4", Some("ä")),
            ("a+b", Some("a+b")),
            ("", Some("")),
            ("%", None),
            ("%4", None),
            ("%%41", None),
            ("%zz", None),
            ("%C3", None),
        ];
        for (text, expected) in cases {
            assert_eq!(decode(text).as_deref(), expected, "{text}");
            assert_eq!(is_decodable(text), expected.is_some(), "{text}");
            let secret = decode_secret(text.as_bytes()).map(|secret| secret.to_string());
            assert_eq!(secret, expected.map(|text| text.replace('+', " ")), "{text}");
        }
        assert_eq!(decode_secret(b"a+b%2B").as_deref().map(String::as_str), Some("a b+"));
    }

    #[test]
    fn encoding_round_trips() {
        for text in ["", "a b", "ä/%&=+", "~-._"] {
            assert_eq!(decode(&encode(text)).as_deref(), Some(text));
        }
    }
}

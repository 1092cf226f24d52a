//! Percent-encoding of paths, queries and forms. Decoding is strict: the result must be UTF-8.

/// Decodes `%41` to `A`. `None` for an invalid escape or bytes that are not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.to_owned());
    }
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(if byte == b'%' { hex(bytes.next()?)? << 4 | hex(bytes.next()?)? } else { byte });
    }
    String::from_utf8(decoded).ok()
}

/// Decodes a form or query value, where a plus is a space.
pub(crate) fn decode_form(text: &str) -> Option<String> {
    if text.contains('+') { decode(&text.replace('+', " ")) } else { decode(text) }
}

/// Encodes all but unreserved characters, for paths and queries.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte as char),
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// Returns the value of a hexadecimal digit.
pub(crate) fn hex(digit: u8) -> Option<u8> {
    (digit as char).to_digit(16).map(|value| value as u8)
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
            ("%zz", None),
            ("%C3", None),
        ];
        for (text, expected) in cases {
            assert_eq!(decode(text).as_deref(), expected, "{text}");
        }
        assert_eq!(decode_form("a+b%2B").as_deref(), Some("a b+"));
    }

    #[test]
    fn encoding_round_trips() {
        for text in ["", "a b", "ä/%&=+", "~-._"] {
            assert_eq!(decode(&encode(text)).as_deref(), Some(text));
        }
    }
}

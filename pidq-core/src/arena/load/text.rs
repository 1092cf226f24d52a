//! String parser of the document loader: string ends and escapes.

use super::{Loader, span};
use crate::arena::Text;
use crate::error::{Code, Error, Result, Span};

impl<const PARTIAL: bool> Loader<'_, PARTIAL> {
    /// Parses the string whose quote is at `at`; also returns the position after its closing quote.
    pub(super) fn text(&mut self, at: usize) -> Result<(Text, usize)> {
        let start = at + 1;
        let end = plain_end(self.bytes, start);
        if self.byte(end) == b'"' {
            return Ok((Text { raw: span(start, end), decoded: Span::default() }, end + 1));
        }
        self.escaped_text(start, end)
    }

    /// Parses the rest of a string from its first escape on.
    fn escaped_text(&mut self, start: usize, escape: usize) -> Result<(Text, usize)> {
        let first = self.decoded.len();
        let (mut plain, mut at) = (start, escape);
        loop {
            self.decoded.push_str(&self.source[plain..at]);
            plain = match self.bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => self.escape(at)?,
                Some(_) => return Err(self.not_json(at, "a control character must be written as an escape")),
                None => return Err(self.not_json(start - 1, "a string has no closing quote")),
            };
            at = plain_end(self.bytes, plain);
        }
        if self.decoded.len() >= u32::MAX as usize {
            return Err(Error::new(Code::InputTooLarge, "The input has too many strings with escapes"));
        }
        Ok((Text { raw: span(start, at), decoded: span(first, self.decoded.len()) }, at + 1))
    }

    /// Parses one escape.
    fn escape(&mut self, at: usize) -> Result<usize> {
        let plain = match self.bytes.get(at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{C}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(at),
            _ => return Err(self.not_json(at, "unknown escape")),
        };
        self.decoded.push(plain);
        Ok(at + 2)
    }

    /// Parses `\uXXXX`. A lone surrogate becomes U+FFFD.
    fn unicode_escape(&mut self, at: usize) -> Result<usize> {
        let Some(unit) = self.utf16_unit(at) else {
            return Err(self.not_json(at, "`\\u` needs four hexadecimal digits"));
        };
        let (mut c, mut end) = (char::from_u32(unit), at + 6);
        if let (0xD800..0xDC00, Some(low @ 0xDC00..0xE000)) = (unit, self.utf16_unit(end)) {
            c = char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
            end += 6;
        }
        self.decoded.push(c.unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(end)
    }

    /// Returns the UTF-16 unit of the escape `\uXXXX` at `at`.
    fn utf16_unit(&self, at: usize) -> Option<u32> {
        let digits = self.bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
        digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
    }
}

/// Returns the length of a string of at most 15 bytes without escapes if the block begins with it and its closing
/// quote.
#[inline(always)]
pub(super) fn short_len(block: [u8; 16]) -> Option<usize> {
    let len = plain_len(block);
    // If all sixteen bytes are plain, the first is not a quote.
    (block[len & 15] == b'"').then_some(len)
}

/// Returns the bytes of a short string, padded with zeros.
#[inline(always)]
pub(super) fn head(block: [u8; 16], len: usize) -> u128 {
    u128::from_le_bytes(block) & MASKS[len & 15]
}

/// Masks of the lowest 0 to 15 bytes.
const MASKS: [u128; 16] = {
    let mut masks = [0; 16];
    let mut len = 1;
    while len < 16 {
        masks[len] = masks[len - 1] << 8 | 0xFF;
        len += 1;
    }
    masks
};

/// Returns the first position from `at` on with a quote, a backslash, a control character or the end of the input.
fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        let len = plain_len(*block);
        at += len;
        if len < 16 {
            return at;
        }
    }
    while bytes.get(at).is_some_and(|byte| is_plain(*byte)) {
        at += 1;
    }
    at
}

/// Counts the bytes of a block before its first quote, backslash or control character.
///
/// Hot: once per string. Written so that the compiler compares all bytes at once.
#[inline(always)]
fn plain_len(block: [u8; 16]) -> usize {
    let mut ends = [0; 16];
    for (end, byte) in ends.iter_mut().zip(block) {
        *end = if is_plain(byte) { 0 } else { 0xFF };
    }
    u128::from_le_bytes(ends).trailing_zeros() as usize / 8
}

/// Returns true if a byte needs no escape. Flipping one bit moves the quote right after the control characters.
#[inline(always)]
fn is_plain(byte: u8) -> bool {
    byte ^ 2 > 0x20 && byte != b'\\'
}

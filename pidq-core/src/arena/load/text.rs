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

    /// Parses `\uXXXX`. A lone surrogate is an error: with another character in its place, the text would be another one.
    fn unicode_escape(&mut self, at: usize) -> Result<usize> {
        let Some(unit) = self.utf16_unit(at) else {
            return Err(self.not_json(at, "`\\u` needs four hexadecimal digits"));
        };
        let (mut c, mut end) = (char::from_u32(unit), at + 6);
        if let (0xD800..0xDC00, Some(low @ 0xDC00..0xE000)) = (unit, self.utf16_unit(end)) {
            c = char::from_u32(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
            end += 6;
        }
        self.decoded.push(c.ok_or_else(|| self.lone_surrogate(at))?);
        Ok(end)
    }

    #[cold]
    fn lone_surrogate(&self, at: usize) -> Error {
        let escape = &self.source[at..at + 6];
        let message = format!("A string has a lone surrogate, which UTF-8 cannot represent: `{escape}`");
        let span = Span::new(at, at + 6);
        self.error_in(span, Code::NotUtf8, &message).with_help("replace it, or write both surrogates of the pair")
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
    let [low, high] = words(block);
    let (low_ends, high_ends) = (ends(low), ends(high));
    let (word, ends, before) = if low_ends != 0 { (low, low_ends, 0) } else { (high, high_ends, 8) };
    let first = ends & ends.wrapping_neg();
    (quotes(word) & first != 0).then_some(before + first_byte(ends))
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
#[inline(always)]
fn plain_len(block: [u8; 16]) -> usize {
    let [low, high] = words(block).map(ends);
    if low != 0 { first_byte(low) } else { 8 + first_byte(high) }
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// Returns the two halves of a block, with the first byte in the lowest.
#[inline(always)]
fn words(block: [u8; 16]) -> [u64; 2] {
    let block = u128::from_le_bytes(block);
    [block as u64, (block >> 64) as u64]
}

/// Marks the quotes, backslashes and control characters of eight bytes with the highest bit of each. Only the lowest
/// mark is exact: a borrow can mark bytes above it.
///
/// Hot: once per string. The words stay in general registers, because moving a comparison of sixteen bytes out of a
/// vector register takes longer.
#[inline(always)]
fn ends(word: u64) -> u64 {
    let controls = word.wrapping_sub(ONES * 0x20) & !word;
    (controls & ONES << 7) | quotes(word) | equal(word, b'\\')
}

/// Marks the quotes of eight bytes; only the lowest mark is exact.
#[inline(always)]
fn quotes(word: u64) -> u64 {
    equal(word, b'"')
}

/// Marks the bytes of a word that have a value; only the lowest mark is exact.
#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    let differences = word ^ (ONES * u64::from(byte));
    differences.wrapping_sub(ONES) & !differences & ONES << 7
}

/// Returns the index of the lowest mark; 8 if there is none.
#[inline(always)]
fn first_byte(marks: u64) -> usize {
    marks.trailing_zeros() as usize / 8
}

/// Returns true if a byte needs no escape.
fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every byte at every position, after and before every other kind of byte.
    #[test]
    fn the_first_byte_that_is_not_plain_ends_a_block() {
        for before in [b'a', b' ', b'!', b'#', b']', 0x7F, 0x80, 0xA2, 0xDC, 0xFF] {
            for (at, byte) in (0..16).flat_map(|at| (0..=255).map(move |byte| (at, byte))) {
                for after in [b'a', b'"', b'\\', 0, 0x1F, 0x21, 0x23, 0x5D, 0x80, 0xFF] {
                    let mut block = [before; 16];
                    block[at..].fill(after);
                    block[at] = byte;
                    let expected = block.iter().position(|byte| !is_plain(*byte)).unwrap_or(16);
                    assert_eq!(plain_len(block), expected, "{block:?}");
                    let is_closed = block.get(expected) == Some(&b'"');
                    assert_eq!(short_len(block), is_closed.then_some(expected), "{block:?}");
                }
            }
        }
    }
}

//! Lenient parser of the `ToUnicode` CMaps of PDF fonts.

use std::collections::BTreeMap;

/// Maximum number of ranges of a map; a font has 65,536 codes.
const MAX_RANGES: usize = 1 << 17;

/// Ranges of codes with the text of the first code; for each further code the last UTF-16 unit is incremented.
#[derive(Debug, Default)]
pub struct ToUnicodeMap {
    ranges: BTreeMap<u32, (u32, Vec<u16>)>,
}

impl ToUnicodeMap {
    /// Parses a map, skipping everything unknown.
    pub fn parse(source: &[u8]) -> ToUnicodeMap {
        let mut map = ToUnicodeMap::default();
        let mut operands: Vec<Token<'_>> = Vec::new();
        for token in tokens(source).take(MAX_RANGES * 4) {
            match token {
                Token::Word(b"beginbfchar" | b"beginbfrange") => operands.clear(),
                Token::Word(b"endbfchar") => map.add_chars(&std::mem::take(&mut operands)),
                Token::Word(b"endbfrange") => map.add_ranges(&std::mem::take(&mut operands)),
                token => operands.push(token),
            }
        }
        map
    }

    /// Returns the text of a code; none for unmapped codes and for NUL.
    pub fn text(&self, code: u32) -> Option<String> {
        let (first, (last, units)) = self.ranges.range(..=code).next_back()?;
        let step = (code <= *last).then_some(code - first)?;
        let (end, front) = units.split_last()?;
        let units: Vec<u16> = front.iter().copied().chain([end.wrapping_add(step as u16)]).collect();
        (units != [0]).then(|| String::from_utf16_lossy(&units))
    }

    fn add(&mut self, first: u32, last: u32, text: &[u8]) {
        if self.ranges.len() < MAX_RANGES {
            self.ranges.insert(first, (last, units(text)));
        }
    }

    fn add_chars(&mut self, tokens: &[Token<'_>]) {
        for pair in tokens.chunks_exact(2) {
            if let [Token::Hex(code), Token::Hex(text)] = pair {
                self.add(number(code), number(code), text);
            }
        }
    }

    fn add_ranges(&mut self, mut tokens: &[Token<'_>]) {
        while let [Token::Hex(first), Token::Hex(last), remaining @ ..] = tokens {
            let (first, last) = (number(first), number(last));
            tokens = match remaining {
                [Token::Hex(text), remaining @ ..] => {
                    self.add(first, last, text);
                    remaining
                }
                [Token::Open, remaining @ ..] => self.add_list(first, remaining),
                _ => return,
            };
        }
    }

    /// Adds a list with a text for each code of a range. Returns the tokens after the list.
    fn add_list<'p, 's>(&mut self, first: u32, tokens: &'p [Token<'s>]) -> &'p [Token<'s>] {
        let end = tokens.iter().position(|token| *token == Token::Close).unwrap_or(tokens.len());
        for (code, token) in (first..=u32::MAX).zip(&tokens[..end]) {
            if let Token::Hex(text) = token {
                self.add(code, code, text);
            }
        }
        tokens.get(end + 1..).unwrap_or(&[])
    }
}

#[derive(Debug, PartialEq)]
enum Token<'s> {
    Hex(Vec<u8>),
    Open,
    Close,
    Word(&'s [u8]),
}

/// Returns the tokens of a map: hexadecimal strings, list brackets, and words. Dictionaries yield their words.
fn tokens(mut source: &[u8]) -> impl Iterator<Item = Token<'_>> {
    std::iter::from_fn(move || {
        loop {
            let (first, after) = source.split_first()?;
            let (token, remaining) = match first {
                b'%' => (None, skip_while(source, |byte| !b"\r\n".contains(byte))),
                b'[' => (Some(Token::Open), after),
                b']' => (Some(Token::Close), after),
                b'<' if !after.starts_with(b"<") => {
                    let end = memchr::memchr(b'>', after).unwrap_or(after.len());
                    (Some(Token::Hex(decode_hex(&after[..end]))), &after[end..])
                }
                byte if is_word_byte(byte) => {
                    let remaining = skip_while(source, is_word_byte);
                    (Some(Token::Word(&source[..source.len() - remaining.len()])), remaining)
                }
                b'<' => (None, &after[1..]),
                _ => (None, after),
            };
            source = remaining;
            if token.is_some() {
                return token;
            }
        }
    })
}

fn skip_while(text: &[u8], predicate: impl Fn(&u8) -> bool) -> &[u8] {
    &text[text.iter().take_while(|byte| predicate(byte)).count()..]
}

fn is_word_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-._*'".contains(byte)
}

/// Decodes hexadecimal digits; white space is ignored, and a single last digit is padded with a zero.
fn decode_hex(digits: &[u8]) -> Vec<u8> {
    let values: Vec<u8> = digits.iter().filter_map(|digit| (*digit as char).to_digit(16)).map(|v| v as u8).collect();
    values.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
}

/// Returns a code of up to four bytes.
fn number(code: &[u8]) -> u32 {
    code.iter().take(4).fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Returns UTF-16 code units; some writers use a single byte for a character.
fn units(text: &[u8]) -> Vec<u16> {
    match text {
        [byte] => vec![u16::from(*byte)],
        text => text.as_chunks::<2>().0.iter().map(|unit| u16::from_be_bytes(*unit)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_characters_ranges_and_lists() {
        let map = ToUnicodeMap::parse(
            b"/CIDInit /ProcSet findresource begin << /Registry (Adobe) >> def 1 begincodespacerange <00> <FF> \
            endcodespacerange 2 beginbfchar <01> <00660069> <0002><D83D DE00> endbfchar % a remark <03> <0041>\n\
            3 beginbfrange <10> <12> <0041> <20> <21> [<0078> <00790079>] <30><30><5A> endbfrange",
        );
        let texts: Vec<_> = [1, 2, 3, 0x0F, 0x10, 0x12, 0x13, 0x20, 0x21, 0x30].map(|code| map.text(code)).into();
        let expected =
            [Some("fi"), Some("😀"), None, None, Some("A"), Some("C"), None, Some("x"), Some("yy"), Some("Z")];
        assert_eq!(texts, expected.map(|text| text.map(str::to_owned)));
    }

    #[test]
    fn malformed_maps_are_parsed_up_to_the_error() {
        for source in ["", "<", "<<", "endbfrange", "beginbfrange <1> [", "beginbfchar <> <> endbfchar", "[ ] ]"] {
            assert_eq!(ToUnicodeMap::parse(source.as_bytes()).text(1), None, "{source}");
        }
        assert_eq!(
            ToUnicodeMap::parse(b"beginbfrange <00> <FFFFFFFF> <0041> endbfrange").text(1).as_deref(),
            Some("B")
        );
    }
}

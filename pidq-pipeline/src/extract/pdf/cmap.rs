//! Maps from codes to text as fonts of PDF carry them (`ToUnicode`), read without asking for more form than they need.

use std::collections::BTreeMap;

/// Pieces of one map; a font has 65,536 codes.
const MAX_PIECES: usize = 1 << 17;

/// Texts of codes: of each code of a range, the text of the first with its last unit counted up.
#[derive(Debug, Default)]
pub struct Map {
    ranges: BTreeMap<u32, (u32, Vec<u16>)>,
}

impl Map {
    /// Reads a map. What is not understood is passed over.
    pub fn of(source: &[u8]) -> Map {
        let mut map = Map::default();
        let mut before: Vec<Piece<'_>> = Vec::new();
        for piece in pieces(source).take(MAX_PIECES * 4) {
            match piece {
                Piece::Word(b"beginbfchar" | b"beginbfrange") => before.clear(),
                Piece::Word(b"endbfchar") => map.characters(&std::mem::take(&mut before)),
                Piece::Word(b"endbfrange") => map.spans(&std::mem::take(&mut before)),
                piece => before.push(piece),
            }
        }
        map
    }

    /// What a code says. Nothing and a NUL are no text.
    pub fn text(&self, code: u32) -> Option<String> {
        let (first, (last, units)) = self.ranges.range(..=code).next_back()?;
        let step = (code <= *last).then_some(code - first)?;
        let (end, front) = units.split_last()?;
        let units: Vec<u16> = front.iter().copied().chain([end.wrapping_add(step as u16)]).collect();
        (units != [0]).then(|| String::from_utf16_lossy(&units))
    }

    fn add(&mut self, first: u32, last: u32, text: &[u8]) {
        if self.ranges.len() < MAX_PIECES {
            self.ranges.insert(first, (last, units(text)));
        }
    }

    fn characters(&mut self, pieces: &[Piece<'_>]) {
        for pair in pieces.chunks_exact(2) {
            if let [Piece::Hex(code), Piece::Hex(text)] = pair {
                self.add(number(code), number(code), text);
            }
        }
    }

    fn spans(&mut self, mut pieces: &[Piece<'_>]) {
        while let [Piece::Hex(first), Piece::Hex(last), rest @ ..] = pieces {
            let (first, last) = (number(first), number(last));
            pieces = match rest {
                [Piece::Hex(text), rest @ ..] => {
                    self.add(first, last, text);
                    rest
                }
                [Piece::Open, rest @ ..] => self.list(first, rest),
                _ => return,
            };
        }
    }

    /// A text for each code of a range. Gives what comes after the list.
    fn list<'p, 's>(&mut self, first: u32, pieces: &'p [Piece<'s>]) -> &'p [Piece<'s>] {
        let end = pieces.iter().position(|piece| *piece == Piece::Close).unwrap_or(pieces.len());
        for (code, piece) in (first..=u32::MAX).zip(&pieces[..end]) {
            if let Piece::Hex(text) = piece {
                self.add(code, code, text);
            }
        }
        pieces.get(end + 1..).unwrap_or(&[])
    }
}

#[derive(Debug, PartialEq)]
enum Piece<'s> {
    Hex(Vec<u8>),
    Open,
    Close,
    Word(&'s [u8]),
}

/// The pieces of a map: texts in angle brackets, lists, and words. Dictionaries fall apart into words, which is fine.
fn pieces(source: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = source;
    std::iter::from_fn(move || {
        loop {
            let (first, after) = rest.split_first()?;
            let (piece, left) = match first {
                b'%' => (None, behind(rest, |byte| !b"\r\n".contains(byte))),
                b'[' => (Some(Piece::Open), after),
                b']' => (Some(Piece::Close), after),
                b'<' if !after.starts_with(b"<") => {
                    let end = memchr::memchr(b'>', after).unwrap_or(after.len());
                    (Some(Piece::Hex(bytes(&after[..end]))), &after[end..])
                }
                byte if is_of_word(byte) => {
                    let left = behind(rest, is_of_word);
                    (Some(Piece::Word(&rest[..rest.len() - left.len()])), left)
                }
                b'<' => (None, &after[1..]),
                _ => (None, after),
            };
            rest = left;
            if piece.is_some() {
                return piece;
            }
        }
    })
}

fn behind(text: &[u8], belongs: impl Fn(&u8) -> bool) -> &[u8] {
    &text[text.iter().take_while(|byte| belongs(byte)).count()..]
}

fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+-._*'".contains(byte)
}

/// Hexadecimal digits as bytes; blanks between them do not count, and a last digit alone has a zero behind it.
fn bytes(digits: &[u8]) -> Vec<u8> {
    let values: Vec<u8> = digits.iter().filter_map(|digit| (*digit as char).to_digit(16)).map(|v| v as u8).collect();
    values.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect()
}

/// A code of up to four bytes.
fn number(code: &[u8]) -> u32 {
    code.iter().take(4).fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Text in UTF-16; some writers give a single byte for a letter.
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
    fn characters_ranges_and_lists_are_read() {
        let map = Map::of(
            b"/CIDInit /ProcSet findresource begin << /Registry (Adobe) >> def 1 begincodespacerange <00> <FF> \
            endcodespacerange 2 beginbfchar <01> <00660069> <0002><D83D DE00> endbfchar % a remark <03> <0041>\n\
            3 beginbfrange <10> <12> <0041> <20> <21> [<0078> <00790079>] <30><30><5A> endbfrange",
        );
        let texts: Vec<_> = [1, 2, 3, 0x0F, 0x10, 0x12, 0x13, 0x20, 0x21, 0x30].map(|code| map.text(code)).into();
        let said = [Some("fi"), Some("😀"), None, None, Some("A"), Some("C"), None, Some("x"), Some("yy"), Some("Z")];
        assert_eq!(texts, said.map(|text| text.map(str::to_owned)));
    }

    #[test]
    fn broken_maps_are_read_as_far_as_they_go() {
        for source in ["", "<", "<<", "endbfrange", "beginbfrange <1> [", "beginbfchar <> <> endbfchar", "[ ] ]"] {
            assert_eq!(Map::of(source.as_bytes()).text(1), None, "{source}");
        }
        assert_eq!(Map::of(b"beginbfrange <00> <FFFFFFFF> <0041> endbfrange").text(1).as_deref(), Some("B"));
    }
}

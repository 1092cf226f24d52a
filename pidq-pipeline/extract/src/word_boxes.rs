//! Boxes of the words of a page, and their compact encoding: one block a page, in columns, compressed.
//!
//! Positions are integers in tenths of the page's unit, on the page as displayed, from its top left corner.

use std::io::{self, Read, Write};
use std::ops::Range;

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;

/// Version of the encoding.
const VERSION: u64 = 1;
/// Positions per unit.
const SCALE: f32 = 10.0;
/// Largest width or height of a page, in positions.
const MAX_SIZE: f32 = 16_777_216.0;
/// Columns of a word: gap before it, length, left, top, width and height.
const COLUMNS: usize = 6;
/// Maximum size of the number of a column in bytes.
const MAX_NUMBER_SIZE: usize = 5;
/// Maximum number of words of a page with boxes; drawings of size A0 have a tenth of it. Further words have none.
const MAX_WORDS: usize = 200_000;

/// Maximum size of the encoded pages of a document in bytes; further pages have no boxes.
pub const MAX_ENCODED_SIZE: usize = 128 << 20;

/// Unit of the positions on a page.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PageUnit {
    /// 1/72 inch.
    Point,
    /// A pixel of an image.
    Pixel,
}

/// Size of a page as displayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PageSize {
    /// Width in units.
    pub width: f32,
    /// Height in units.
    pub height: f32,
    /// The unit.
    pub unit: PageUnit,
    /// Clockwise turn in degrees by which the file's page is displayed: 0, 90, 180 or 270.
    pub rotation: u16,
}

/// A rectangle on a page: left, top, right and bottom in units.
pub type PageRect = [f32; 4];

/// A word, or the part of one that is in one line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WordBox {
    /// Range in the text of the page, in characters (code points).
    pub characters: Range<usize>,
    /// Left, top, right and bottom in tenths of the page's unit. Invariant: not empty, and within the page.
    pub place: [u32; 4],
}

/// Size of a page and the boxes of its words, in the order of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct PageWords {
    /// The unit.
    pub unit: PageUnit,
    /// Clockwise turn in degrees by which the file's page is displayed.
    pub rotation: u16,
    /// Width in tenths of the unit.
    pub width: u32,
    /// Height in tenths of the unit.
    pub height: u32,
    /// The words. Invariant: their ranges are increasing and do not overlap.
    pub words: Vec<WordBox>,
}

impl PageWords {
    /// Creates a page from the text and the words on it, with their ranges in bytes. The part of a box that is outside of the
    /// page is cut off; a word that is entirely outside has no box. Returns `None` for a page without a size.
    pub fn new(size: PageSize, text: &str, words: &[(Range<usize>, PageRect)]) -> Option<PageWords> {
        let scaled = |length: f32| (length * SCALE).round();
        let is_size = |length: f32| (1.0..=MAX_SIZE).contains(&length);
        let (width, height) = (scaled(size.width), scaled(size.height));
        if !is_size(width) || !is_size(height) {
            return None;
        }
        let mut found = Vec::with_capacity(words.len());
        let (mut byte, mut character) = (0, 0);
        for (range, rect) in words.iter().take(MAX_WORDS) {
            let (Some(before), Some(word)) = (text.get(byte..range.start), text.get(range.clone())) else { continue };
            let start = character + before.chars().count();
            (byte, character) = (range.end, start + word.chars().count());
            let edges = [(rect[0], width), (rect[1], height), (rect[2], width), (rect[3], height)];
            // A position that is not a number becomes 0, which makes the box empty or larger, but never invalid.
            let place = edges.map(|(edge, limit)| scaled(edge).clamp(0.0, limit) as u32);
            if place[0] < place[2] && place[1] < place[3] && start < character {
                found.push(WordBox { characters: start..character, place });
            }
        }
        let (width, height) = (width as u32, height as u32);
        Some(PageWords { unit: size.unit, rotation: size.rotation, width, height, words: found })
    }

    /// Returns the words that overlap a range of characters of the page's text.
    pub fn words_in(&self, range: Range<usize>) -> &[WordBox] {
        let first = self.words.partition_point(|word| word.characters.end <= range.start);
        let end = self.words.partition_point(|word| word.characters.start < range.end);
        self.words.get(first..end).unwrap_or_default()
    }

    /// Encodes the page.
    ///
    /// # Errors
    /// Never on valid pages: writing to memory does not fail.
    pub fn encode(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let unit = match self.unit {
            PageUnit::Point => 0,
            PageUnit::Pixel => 1,
        };
        let head = [VERSION, unit, u64::from(self.rotation), self.width.into(), self.height.into()];
        head.into_iter().chain([self.words.len() as u64]).for_each(|number| push_number(&mut bytes, number));
        let mut columns: [Vec<u8>; COLUMNS] = Default::default();
        let mut previous = Previous::default();
        for word in &self.words {
            for (column, number) in columns.iter_mut().zip(previous.differences(word)) {
                push_number(column, number);
            }
        }
        let mut encoder = DeflateEncoder::new(bytes, Compression::default());
        columns.iter().try_for_each(|column| encoder.write_all(column))?;
        encoder.finish()
    }

    /// Decodes a page whose text has a number of characters.
    ///
    /// # Errors
    /// If the bytes are no page of that text.
    pub fn decode(bytes: &[u8], characters: usize) -> io::Result<PageWords> {
        let mut input = bytes;
        let mut head = [0; COLUMNS];
        for field in &mut head {
            *field = read_number(&mut input)?;
        }
        let [version, unit, rotation, width, height, count] = head;
        let unit = match unit {
            0 => PageUnit::Point,
            1 => PageUnit::Pixel,
            _ => return Err(invalid()),
        };
        let limit = characters.min(MAX_WORDS);
        let count = usize::try_from(count).ok().filter(|count| *count <= limit).ok_or_else(invalid)?;
        let is_valid = version == VERSION && rotation < 360 && rotation.is_multiple_of(90);
        let size = |length: u64| u32::try_from(length).ok().filter(|length| *length as f32 <= MAX_SIZE && *length > 0);
        let (Some(width), Some(height), true) = (size(width), size(height), is_valid) else { return Err(invalid()) };
        let words = decode_words(input, count)?;
        let page = PageWords { unit, rotation: rotation as u16, width, height, words };
        if page.is_consistent(characters) { Ok(page) } else { Err(invalid()) }
    }

    /// Returns whether the boxes are on the page, and their ranges in its text.
    fn is_consistent(&self, characters: usize) -> bool {
        let is_on_page = |word: &WordBox| {
            let [left, top, right, bottom] = word.place;
            left < right && right <= self.width && top < bottom && bottom <= self.height
        };
        let mut end = 0;
        self.words.iter().all(|word| {
            let follows = word.characters.start >= end && word.characters.end > word.characters.start;
            end = word.characters.end;
            follows && is_on_page(word)
        }) && end <= characters
    }
}

/// Decodes the compressed columns of words.
fn decode_words(bytes: &[u8], count: usize) -> io::Result<Vec<WordBox>> {
    let limit = (count * COLUMNS * MAX_NUMBER_SIZE) as u64;
    let mut unpacked = Vec::new();
    DeflateDecoder::new(bytes).take(limit).read_to_end(&mut unpacked)?;
    let mut input = unpacked.as_slice();
    let mut columns: [Vec<u64>; COLUMNS] = Default::default();
    for column in &mut columns {
        for _ in 0..count {
            column.push(read_number(&mut input)?);
        }
    }
    if !input.is_empty() {
        return Err(invalid());
    }
    let mut previous = Previous::default();
    (0..count).map(|index| previous.word([0, 1, 2, 3, 4, 5].map(|column: usize| columns[column][index]))).collect()
}

/// The word before, from which positions are counted: most words of a line differ in few of them.
#[derive(Default)]
struct Previous {
    end: u64,
    right: u64,
    top: u64,
    height: u64,
}

impl Previous {
    /// Returns the numbers that encode the next word.
    fn differences(&mut self, word: &WordBox) -> [u64; COLUMNS] {
        let [left, top, right, bottom] = word.place.map(u64::from);
        let (start, end) = (word.characters.start as u64, word.characters.end as u64);
        let height = bottom - top;
        let numbers = [
            start - self.end,
            end - start,
            difference(left, self.right),
            difference(top, self.top),
            right - left,
            difference(height, self.height),
        ];
        *self = Previous { end, right, top, height };
        numbers
    }

    /// Returns the next word.
    fn word(&mut self, [gap, length, left, top, width, height]: [u64; COLUMNS]) -> io::Result<WordBox> {
        let decoded = || {
            let start = self.end.checked_add(gap)?;
            let end = start.checked_add(length)?;
            let left = apply_difference(self.right, left)?;
            let top = apply_difference(self.top, top)?;
            let height = apply_difference(self.height, height)?;
            let (right, bottom) = (left.checked_add(width)?, top.checked_add(height)?);
            Some((start, end, [left, top, right, bottom], height))
        };
        let (start, end, place, height) = decoded().ok_or_else(invalid)?;
        let [left, top, right, bottom] = place.map(u32::try_from);
        let place = [left, top, right, bottom].into_iter().collect::<Result<Vec<_>, _>>().map_err(|_| invalid())?;
        let place: [u32; 4] = place.try_into().map_err(|_| invalid())?;
        *self = Previous { end, right: place[2].into(), top: place[1].into(), height };
        let index = |number: u64| usize::try_from(number).map_err(|_| invalid());
        Ok(WordBox { characters: index(start)?..index(end)?, place })
    }
}

/// Returns a difference as a number without sign: even for positive ones, odd for negative ones.
fn difference(value: u64, from: u64) -> u64 {
    if value >= from { (value - from) << 1 } else { ((from - value - 1) << 1) | 1 }
}

fn apply_difference(from: u64, difference: u64) -> Option<u64> {
    let half = difference >> 1;
    if difference & 1 == 0 { from.checked_add(half) } else { from.checked_sub(half)?.checked_sub(1) }
}

/// Appends a number in groups of seven bits, the lowest first; the highest bit of a byte marks that more follow.
fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read_number(input: &mut &[u8]) -> io::Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = input.split_first().ok_or_else(invalid)?;
        *input = rest;
        number |= u64::from(byte & 0x7F) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(invalid())
}

fn invalid() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the boxes of words are invalid")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: PageSize = PageSize { width: 595.0, height: 842.0, unit: PageUnit::Point, rotation: 90 };

    fn words(text: &str, rects: &[(Range<usize>, PageRect)]) -> PageWords {
        PageWords::new(SIZE, text, rects).expect("a page with a size")
    }

    #[test]
    fn ranges_are_in_characters_and_boxes_in_tenths() {
        let page = words("é PSV-2015A", &[(0..2, [1.0, 2.0, 3.0, 4.0]), (3..12, [10.04, 2.0, 60.06, 4.0])]);
        let expected = [
            WordBox { characters: 0..1, place: [10, 20, 30, 40] },
            WordBox { characters: 2..11, place: [100, 20, 601, 40] },
        ];
        assert_eq!((page.width, page.height, page.words.as_slice()), (5950, 8420, &expected[..]));
    }

    #[test]
    fn boxes_are_cut_at_the_edges_of_the_page() {
        let rects = [
            (0..1, [-5.0, -5.0, 5.0, 5.0]),
            (1..2, [590.0, 840.0, 600.0, 900.0]),
            (2..3, [600.0, 0.0, 700.0, 10.0]),
            (3..4, [5.0, 5.0, 5.0, 9.0]),
            (4..5, [f32::NAN, f32::NAN, f32::INFINITY, 1e30]),
        ];
        let page = words("abcde", &rects);
        let places: Vec<_> = page.words.iter().map(|word| (word.characters.start, word.place)).collect();
        let expected = [(0, [0, 0, 50, 50]), (1, [5900, 8400, 5950, 8420]), (4, [0, 0, 5950, 8420])];
        assert_eq!(places, expected);
        assert_eq!(PageWords::decode(&page.encode().expect("encoded"), 5).expect("decoded"), page);
    }

    #[test]
    fn a_page_without_a_size_has_no_words() {
        for size in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e9] {
            assert_eq!(PageWords::new(PageSize { width: size, ..SIZE }, "", &[]), None, "{size}");
        }
    }

    #[test]
    fn the_words_of_a_range_are_those_that_overlap_it() {
        let rect = [1.0, 1.0, 2.0, 2.0];
        let page = words("one two three", &[(0..3, rect), (4..7, rect), (8..13, rect)]);
        let found = |range| page.words_in(range).iter().map(|word| word.characters.start).collect::<Vec<_>>();
        assert_eq!(found(4..7), [4]);
        assert_eq!(found(2..5), [0, 4]);
        assert_eq!(found(3..4), [0; 0]);
        assert_eq!(found(0..99), [0, 4, 8]);
        assert_eq!(found(5..5), [4]);
        assert_eq!(found(13..20), [0; 0]);
    }

    #[test]
    fn what_is_encoded_is_decoded() {
        let text = "word ".repeat(3000);
        let rects: Vec<_> = (0..3000)
            .map(|index| {
                let (x, y) = ((index * 37 % 500) as f32, (index / 10) as f32 * 2.5);
                (index * 5..index * 5 + 4, [x, y, x + 20.3, y + 9.9])
            })
            .collect();
        let page = words(&text, &rects);
        assert_eq!(page.words.len(), 3000);
        let encoded = page.encode().expect("encoded");
        assert_eq!(PageWords::decode(&encoded, text.len()).expect("decoded"), page);
        assert!(PageWords::decode(&encoded, 100).is_err(), "the words are not in a shorter text");
    }

    #[test]
    fn damaged_bytes_are_an_error_or_a_valid_page() {
        let page = words("one two", &[(0..3, [1.0, 1.0, 20.0, 9.0]), (4..7, [22.0, 1.0, 40.0, 9.0])]);
        let encoded = page.encode().expect("encoded");
        for end in 0..encoded.len() {
            assert!(PageWords::decode(&encoded[..end], 7).is_err(), "cut at {end}");
        }
        for index in 0..encoded.len() {
            for bit in 0..8 {
                let mut damaged = encoded.clone();
                damaged[index] ^= 1 << bit;
                if let Ok(decoded) = PageWords::decode(&damaged, 7) {
                    assert!(decoded.is_consistent(7), "{decoded:?}");
                }
            }
        }
    }

    #[test]
    fn a_compressed_block_cannot_grow_beyond_its_words() {
        let mut bytes = Vec::new();
        [VERSION, 0, 0, 100, 100, 2].into_iter().for_each(|number| push_number(&mut bytes, number));
        let mut encoder = DeflateEncoder::new(bytes, Compression::best());
        encoder.write_all(&vec![1; 4 << 20]).expect("written");
        let encoded = encoder.finish().expect("compressed");
        assert!(PageWords::decode(&encoded, 1000).is_err());
    }
}

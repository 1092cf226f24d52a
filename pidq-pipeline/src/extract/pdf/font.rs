//! Fonts of PDF: which text their codes are, and how far they go.
//!
//! What a font says of its text itself (`ToUnicode`) counts first, then the names of its glyphs, then its encoding.

use std::collections::HashMap;

use encoding_rs::{BIG5, EUC_JP, EUC_KR, GB18030, SHIFT_JIS, UTF_16BE};
use lopdf::{Dictionary, Document, Object};

use super::cmap::Map;
use super::widths::Widths;
use crate::extract::symbols;

/// Encodings of East Asian fonts by a part of their names.
const EAST_ASIAN: &[(&[u8], &encoding_rs::Encoding)] = &[
    (b"UCS2", UTF_16BE),
    (b"UTF16", UTF_16BE),
    (b"RKSJ", SHIFT_JIS),
    (b"GBK", GB18030),
    (b"GB-EUC", GB18030),
    (b"B5", BIG5),
    (b"KSC", EUC_KR),
    (b"EUC", EUC_JP),
];

/// A font that is ready to be read.
#[derive(Debug)]
pub struct Font {
    map: Map,
    codes: Codes,
    widths: Widths,
}

/// How bytes are codes, and what codes say without a map.
#[derive(Debug)]
enum Codes {
    /// A byte each.
    Bytes(Box<[Option<String>; 256]>),
    /// Two bytes each, which only the map knows.
    Pairs,
    /// Text in an encoding.
    Text(&'static encoding_rs::Encoding),
}

/// What some codes say.
pub struct Shown {
    pub text: String,
    /// How far they go, in sizes of the font.
    pub width: f64,
    /// Codes, and blanks among them that stretch with the space of words.
    pub codes: usize,
    pub blanks: usize,
    /// Whether nobody knows what some of them say.
    pub unknown: bool,
}

impl Font {
    /// Reads what a font says of itself, from streams of at most so many bytes.
    pub fn of(font: &Dictionary, document: &Document, limit: usize) -> Font {
        let map = font.get_deref(b"ToUnicode", document).and_then(Object::as_stream);
        let map = map.and_then(|stream| stream.get_plain_content_with_limit(limit));
        Font {
            map: map.map(|source| Map::of(&source)).unwrap_or_default(),
            codes: Codes::of(font, document),
            widths: Widths::of(font, document),
        }
    }

    /// What bytes of a string say.
    pub fn show(&self, bytes: &[u8]) -> Shown {
        match &self.codes {
            Codes::Bytes(texts) => self.codes_of(bytes.iter().map(|&byte| u32::from(byte)), |code| {
                texts.get(code as usize).cloned().flatten()
            }),
            Codes::Pairs => self.codes_of(pairs(bytes), |_| None),
            Codes::Text(encoding) => self.text_of(encoding, bytes),
        }
    }

    fn codes_of(&self, codes: impl Iterator<Item = u32>, plain: impl Fn(u32) -> Option<String>) -> Shown {
        let mut shown = Shown { text: String::new(), width: 0.0, codes: 0, blanks: 0, unknown: false };
        for code in codes {
            match self.map.text(code).or_else(|| plain(code)) {
                Some(text) => shown.text.push_str(&text),
                None => shown.unknown = true,
            }
            shown.width += self.widths.of_code(code);
            shown.codes += 1;
            shown.blanks += usize::from(code == 0x20 && matches!(self.codes, Codes::Bytes(_)));
        }
        shown
    }

    /// Text of an encoding, whose characters go as far as the font's do by default.
    fn text_of(&self, encoding: &'static encoding_rs::Encoding, bytes: &[u8]) -> Shown {
        let (text, unknown) = encoding.decode_without_bom_handling(bytes);
        let codes = text.chars().count();
        let width = self.widths.by_default() * codes as f64;
        Shown { text: text.into_owned(), width, codes, blanks: 0, unknown }
    }
}

/// Codes of two bytes; a last one alone is one.
fn pairs(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks(2).map(|pair| pair.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)))
}

impl Codes {
    fn of(font: &Dictionary, document: &Document) -> Codes {
        if !matches!(font.get(b"Subtype").and_then(Object::as_name), Ok(b"Type0")) {
            return Codes::Bytes(Box::new(letters(font, document)));
        }
        let name = font.get_deref(b"Encoding", document).and_then(Object::as_name).unwrap_or(b"");
        let known = EAST_ASIAN.iter().find(|(part, _)| memchr::memmem::find(name, part).is_some());
        known.map_or(Codes::Pairs, |(_, encoding)| Codes::Text(encoding))
    }
}

/// What the 256 codes of a simple font say.
fn letters(font: &Dictionary, document: &Document) -> [Option<String>; 256] {
    let base_font = font.get_deref(b"BaseFont", document).and_then(Object::as_name).unwrap_or(b"");
    let name = String::from_utf8_lossy(behind_mark(base_font)).into_owned();
    let encoding = font.get_deref(b"Encoding", document).ok();
    let dictionary = encoding.and_then(|encoding| encoding.as_dict().ok());
    let base = dictionary.map_or(encoding, |own| own.get_deref(b"BaseEncoding", document).ok());
    let plain = of_encoding(base.and_then(|base| base.as_name().ok()));
    let mut letters = std::array::from_fn(|code| {
        let sign = symbols::of_font(&name, code as u8).map(String::from);
        sign.or_else(|| plain.as_ref().and_then(|of| of(code as u8)))
    });
    let differences = dictionary.and_then(|own| own.get_deref(b"Differences", document).ok());
    if let Some(list) = differences.and_then(|list| list.as_array().ok()) {
        differ(&mut letters, list, document);
    }
    letters
}

/// The name of a font without the six letters that say which part of it is there.
fn behind_mark(name: &[u8]) -> &[u8] {
    match name {
        [.., b'+'] => name,
        name if name.get(6) == Some(&b'+') => &name[7..],
        name => name,
    }
}

/// The letters of an encoding by its name; those of Adobe's standard, if it has none that is known.
fn of_encoding(name: Option<&[u8]>) -> Option<impl Fn(u8) -> Option<String>> {
    let known = [&b"WinAnsiEncoding"[..], b"MacRomanEncoding", b"MacExpertEncoding", b"StandardEncoding"];
    let name = name.filter(|name| known.contains(name)).unwrap_or(b"StandardEncoding").to_vec();
    let font = Dictionary::from_iter([("Type", Object::Name(b"Font".into())), ("Encoding", Object::Name(name))]);
    let texts: Vec<_> = (0..=255).map(|code| by_library(&font, code)).collect();
    Some(move |code: u8| texts[usize::from(code)].clone())
}

/// Glyphs that have other codes than the encoding says: a code, and names from there on.
fn differ(letters: &mut [Option<String>; 256], list: &[Object], document: &Document) {
    let mut known: HashMap<&[u8], Option<String>> = HashMap::new();
    let mut code = 0usize;
    for item in list {
        match document.dereference(item).map_or(item, |(_, found)| found) {
            Object::Name(name) => {
                if let Some(letter) = letters.get_mut(code) {
                    *letter = known.entry(name).or_insert_with(|| glyph(name)).clone();
                }
                code += 1;
            }
            number => code = number.as_i64().ok().and_then(|number| usize::try_from(number).ok()).unwrap_or(256),
        }
    }
}

/// The text of a glyph by its name: `uni0416`, `u1F600`, `f_i`, `a.alt`, `eacute`.
fn glyph(name: &[u8]) -> Option<String> {
    let name = str::from_utf8(name).ok()?;
    let name = name.split_once('.').map_or(name, |(stem, _)| stem);
    name.split('_')
        .filter(|part| !part.is_empty())
        .map(part)
        .collect::<Option<String>>()
        .filter(|text| !text.is_empty())
}

fn part(name: &str) -> Option<String> {
    by_number(name).or_else(|| by_name(name))
}

fn by_number(name: &str) -> Option<String> {
    let is_number = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if let Some(digits) = name.strip_prefix("uni").filter(is_number).filter(|digits| digits.len() % 4 == 0) {
        let units = digits.as_bytes().chunks(4).filter_map(|four| str::from_utf8(four).ok());
        let units: Vec<u16> = units.filter_map(|four| u16::from_str_radix(four, 16).ok()).collect();
        return String::from_utf16(&units).ok();
    }
    let digits = name.strip_prefix('u').filter(is_number).filter(|digits| (4..=6).contains(&digits.len()))?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?).map(String::from)
}

/// A name of Adobe's list, which the library knows: a font with this one glyph says its letter.
fn by_name(name: &str) -> Option<String> {
    let list = Object::Array(vec![Object::Integer(1), Object::Name(name.into())]);
    let encoding = Dictionary::from_iter([("Differences", list)]);
    let font = [("Type", Object::Name(b"Font".into())), ("Encoding", Object::Dictionary(encoding))];
    by_library(&Dictionary::from_iter(font), 1)
}

fn by_library(font: &Dictionary, code: u8) -> Option<String> {
    let nothing = Document::new();
    let encoding = font.get_font_encoding(&nothing).ok()?;
    encoding.bytes_to_string(&[code]).ok().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_glyphs_are_read() {
        for (name, text) in [
            ("eacute", Some("é")),
            ("Euro", Some("€")),
            ("alpha", Some("α")),
            ("fi", Some("ﬁ")),
            ("f_i", Some("fi")),
            ("a.alt", Some("a")),
            ("uni0416", Some("Ж")),
            ("uniD83DDE00", Some("😀")),
            ("u1F600", Some("😀")),
            ("g23", None),
            ("", None),
            (".notdef", None),
            ("uniD800", None),
        ] {
            assert_eq!(glyph(name.as_bytes()).as_deref(), text, "{name}");
        }
    }

    #[test]
    fn a_mark_of_a_part_is_no_name() {
        assert_eq!(behind_mark(b"ABCDEF+Symbol"), b"Symbol");
        assert_eq!(behind_mark(b"Symbol"), b"Symbol");
        assert_eq!(behind_mark(b"ABCDEF+"), b"ABCDEF+");
    }
}

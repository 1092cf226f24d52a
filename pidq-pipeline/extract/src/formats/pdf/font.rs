//! PDF fonts: decoding of character codes to text and widths.
//!
//! The `ToUnicode` map of a font has priority, then the names of its glyphs, then its encoding.

use std::collections::HashMap;

use encoding_rs::{BIG5, EUC_JP, EUC_KR, GB18030, SHIFT_JIS, UTF_16BE};
use lopdf::{Dictionary, Document, Object};

use super::cmap::ToUnicodeMap;
use super::glyph_widths::GlyphWidths;
use crate::formats::symbol_fonts;

/// Encodings of East Asian fonts, by a part of the CMap name.
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

/// A loaded font.
#[derive(Debug)]
pub struct Font {
    map: ToUnicodeMap,
    codes: CodeEncoding,
    widths: GlyphWidths,
}

/// Splitting of bytes into codes, and the text of codes without a map.
#[derive(Debug)]
enum CodeEncoding {
    /// One byte per code.
    SingleByte(Box<[Option<String>; 256]>),
    /// Two bytes per code; only the map has their text.
    TwoByte,
    /// Text in a legacy encoding.
    Legacy(&'static encoding_rs::Encoding),
}

/// A decoded code of a string.
pub struct DecodedGlyph {
    /// Its text; none if the font has no mapping for it.
    pub text: Option<String>,
    /// Advance width, in units of the font size.
    pub width: f64,
    /// `true` if word spacing applies.
    pub is_word_space: bool,
}

impl Font {
    /// Loads a font, reading streams up to `limit` bytes.
    pub fn load(font: &Dictionary, document: &Document, limit: usize) -> Font {
        let map = font.get_deref(b"ToUnicode", document).and_then(Object::as_stream);
        let map = map.and_then(|stream| stream.get_plain_content_with_limit(limit));
        Font {
            map: map.map(|source| ToUnicodeMap::parse(&source)).unwrap_or_default(),
            codes: CodeEncoding::load(font, document),
            widths: GlyphWidths::load(font, document),
        }
    }

    /// Decodes the bytes of a string.
    pub fn decode(&self, bytes: &[u8]) -> Vec<DecodedGlyph> {
        match &self.codes {
            CodeEncoding::SingleByte(texts) => self.decode_codes(bytes.iter().map(|&byte| u32::from(byte)), |code| {
                texts.get(code as usize).cloned().flatten()
            }),
            CodeEncoding::TwoByte => self.decode_codes(pairs(bytes), |_| None),
            CodeEncoding::Legacy(encoding) => self.decode_legacy(encoding, bytes),
        }
    }

    fn decode_codes(
        &self,
        codes: impl Iterator<Item = u32>,
        fallback: impl Fn(u32) -> Option<String>,
    ) -> Vec<DecodedGlyph> {
        let glyph = |code| DecodedGlyph {
            text: self.map.text(code).or_else(|| fallback(code)).map(without_ligatures),
            width: self.widths.width(code),
            is_word_space: code == 0x20 && matches!(self.codes, CodeEncoding::SingleByte(_)),
        };
        codes.map(glyph).collect()
    }

    /// Decodes text in a legacy encoding, whose characters have the default width.
    fn decode_legacy(&self, encoding: &'static encoding_rs::Encoding, bytes: &[u8]) -> Vec<DecodedGlyph> {
        let (text, has_errors) = encoding.decode_without_bom_handling(bytes);
        let width = self.widths.default_width();
        let known = |c: char| !has_errors || c != char::REPLACEMENT_CHARACTER;
        let glyph = |c: char| DecodedGlyph { text: known(c).then(|| c.into()), width, is_word_space: false };
        text.chars().map(glyph).collect()
    }
}

/// Returns a text with the letters of Latin ligatures, which no reader would search for.
fn without_ligatures(text: String) -> String {
    const LIGATURES: [(char, &str); 7] =
        [('ﬀ', "ff"), ('ﬁ', "fi"), ('ﬂ', "fl"), ('ﬃ', "ffi"), ('ﬄ', "ffl"), ('ﬅ', "st"), ('ﬆ', "st")];
    let is_ligature = |c: char| ('ﬀ'..='ﬆ').contains(&c);
    match text.contains(is_ligature) {
        true => LIGATURES.iter().fold(text, |text, (ligature, letters)| text.replace(*ligature, letters)),
        false => text,
    }
}

/// Returns codes of two bytes; a single last byte is a code too.
fn pairs(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks(2).map(|pair| pair.iter().fold(0, |code, byte| code << 8 | u32::from(*byte)))
}

impl CodeEncoding {
    fn load(font: &Dictionary, document: &Document) -> CodeEncoding {
        if !matches!(font.get(b"Subtype").and_then(Object::as_name), Ok(b"Type0")) {
            return CodeEncoding::SingleByte(Box::new(simple_encoding(font, document)));
        }
        let name = font.get_deref(b"Encoding", document).and_then(Object::as_name).unwrap_or(b"");
        let encoding = EAST_ASIAN.iter().find(|(part, _)| memchr::memmem::find(name, part).is_some());
        encoding.map_or(CodeEncoding::TwoByte, |(_, encoding)| CodeEncoding::Legacy(encoding))
    }
}

/// Returns the text of the 256 codes of a simple font.
fn simple_encoding(font: &Dictionary, document: &Document) -> [Option<String>; 256] {
    let base_font = font.get_deref(b"BaseFont", document).and_then(Object::as_name).unwrap_or(b"");
    let name = String::from_utf8_lossy(strip_subset_tag(base_font)).into_owned();
    let encoding = font.get_deref(b"Encoding", document).ok();
    let dictionary = encoding.and_then(|encoding| encoding.as_dict().ok());
    let base = dictionary.map_or(encoding, |dictionary| dictionary.get_deref(b"BaseEncoding", document).ok());
    let decode = base_encoding(base.and_then(|base| base.as_name().ok()));
    let mut texts = std::array::from_fn(|code| {
        let symbol = symbol_fonts::decode(&name, code as u8).map(String::from);
        symbol.or_else(|| decode.as_ref().and_then(|decode| decode(code as u8)))
    });
    let differences = dictionary.and_then(|dictionary| dictionary.get_deref(b"Differences", document).ok());
    if let Some(list) = differences.and_then(|list| list.as_array().ok()) {
        apply_differences(&mut texts, list, document);
    }
    texts
}

/// Returns the name of a font without its subset tag of six letters.
fn strip_subset_tag(name: &[u8]) -> &[u8] {
    match name {
        [.., b'+'] => name,
        name if name.get(6) == Some(&b'+') => &name[7..],
        name => name,
    }
}

/// Returns a decoder of a named encoding, or of Adobe's standard encoding if the name is unknown.
fn base_encoding(name: Option<&[u8]>) -> Option<impl Fn(u8) -> Option<String>> {
    let supported = [&b"WinAnsiEncoding"[..], b"MacRomanEncoding", b"MacExpertEncoding", b"StandardEncoding"];
    let name = name.filter(|name| supported.contains(name)).unwrap_or(b"StandardEncoding").to_vec();
    let font = Dictionary::from_iter([("Type", Object::Name(b"Font".into())), ("Encoding", Object::Name(name))]);
    let texts: Vec<_> = (0..=255).map(|code| decode_with_lopdf(&font, code)).collect();
    Some(move |code: u8| texts[usize::from(code)].clone())
}

/// Applies the `Differences` of an encoding: a code, followed by glyph names for it and the following codes.
fn apply_differences(texts: &mut [Option<String>; 256], list: &[Object], document: &Document) {
    let mut cache: HashMap<&[u8], Option<String>> = HashMap::new();
    let mut code = 0usize;
    for item in list {
        match document.dereference(item).map_or(item, |(_, found)| found) {
            Object::Name(name) => {
                if let Some(text) = texts.get_mut(code) {
                    *text = cache.entry(name).or_insert_with(|| glyph_text(name)).clone();
                }
                code += 1;
            }
            number => code = number.as_i64().ok().and_then(|number| usize::try_from(number).ok()).unwrap_or(256),
        }
    }
}

/// Returns the text of a glyph name: `uni0416`, `u1F600`, `f_i`, `a.alt`, `eacute`.
fn glyph_text(name: &[u8]) -> Option<String> {
    let name = str::from_utf8(name).ok()?;
    let name = name.split_once('.').map_or(name, |(stem, _)| stem);
    name.split('_')
        .filter(|part| !part.is_empty())
        .map(component_text)
        .collect::<Option<String>>()
        .filter(|text| !text.is_empty())
}

fn component_text(name: &str) -> Option<String> {
    code_point_name(name).or_else(|| listed_glyph_name(name))
}

fn code_point_name(name: &str) -> Option<String> {
    let is_number = |digits: &&str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if let Some(digits) = name.strip_prefix("uni").filter(is_number).filter(|digits| digits.len() % 4 == 0) {
        let units = digits.as_bytes().chunks(4).filter_map(|four| str::from_utf8(four).ok());
        let units: Vec<u16> = units.filter_map(|four| u16::from_str_radix(four, 16).ok()).collect();
        return String::from_utf16(&units).ok();
    }
    let digits = name.strip_prefix('u').filter(is_number).filter(|digits| (4..=6).contains(&digits.len()))?;
    char::from_u32(u32::from_str_radix(digits, 16).ok()?).map(String::from)
}

/// Returns the text of a name in Adobe's glyph list, by decoding a font that has only this glyph with lopdf.
fn listed_glyph_name(name: &str) -> Option<String> {
    let list = Object::Array(vec![Object::Integer(1), Object::Name(name.into())]);
    let encoding = Dictionary::from_iter([("Differences", list)]);
    let font = [("Type", Object::Name(b"Font".into())), ("Encoding", Object::Dictionary(encoding))];
    decode_with_lopdf(&Dictionary::from_iter(font), 1)
}

fn decode_with_lopdf(font: &Dictionary, code: u8) -> Option<String> {
    let empty = Document::new();
    let encoding = font.get_font_encoding(&empty).ok()?;
    encoding.bytes_to_string(&[code]).ok().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glyph_names_are_decoded() {
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
            assert_eq!(glyph_text(name.as_bytes()).as_deref(), text, "{name}");
        }
    }

    #[test]
    fn a_subset_tag_is_not_part_of_the_name() {
        assert_eq!(strip_subset_tag(b"ABCDEF+Symbol"), b"Symbol");
        assert_eq!(strip_subset_tag(b"Symbol"), b"Symbol");
        assert_eq!(strip_subset_tag(b"ABCDEF+"), b"ABCDEF+");
    }
}

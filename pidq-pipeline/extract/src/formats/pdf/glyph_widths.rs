//! Glyph widths of PDF fonts, in units of the font size.

use std::collections::HashMap;

use lopdf::{Dictionary, Document, Object};

/// Maximum number of codes with a width.
const MAX_CODES: usize = 1 << 16;

/// Glyph widths by code.
#[derive(Debug)]
pub struct GlyphWidths {
    by_code: HashMap<u32, f64>,
    default: f64,
}

impl GlyphWidths {
    /// Loads the widths of a font. The standard fonts may omit them.
    pub fn load(font: &Dictionary, document: &Document) -> GlyphWidths {
        let kind = font.get(b"Subtype").and_then(Object::as_name).unwrap_or(b"");
        match kind {
            b"Type0" => composite_widths(font, document).unwrap_or_else(|| GlyphWidths::uniform(1.0)),
            _ => simple_widths(font, document, kind).unwrap_or_else(|| standard_widths(font, document)),
        }
    }

    fn uniform(default: f64) -> GlyphWidths {
        GlyphWidths { by_code: HashMap::new(), default }
    }

    /// Returns the width of a code.
    pub fn width(&self, code: u32) -> f64 {
        self.by_code.get(&code).copied().unwrap_or(self.default)
    }

    /// Returns the width of codes without an entry.
    pub fn default_width(&self) -> f64 {
        self.default
    }
}

fn number(object: &Object, document: &Document) -> Option<f64> {
    let found = document.dereference(object).map_or(object, |(_, found)| found);
    found.as_float().ok().map(f64::from)
}

fn list<'d>(dictionary: &'d Dictionary, name: &[u8], document: &'d Document) -> Option<&'d Vec<Object>> {
    dictionary.get_deref(name, document).ok()?.as_array().ok()
}

/// Reads the widths of a simple font, starting at `FirstChar`. Type 3 fonts have their own unit.
fn simple_widths(font: &Dictionary, document: &Document, kind: &[u8]) -> Option<GlyphWidths> {
    let first = font.get_deref(b"FirstChar", document).and_then(Object::as_i64).ok()?;
    let first = u32::try_from(first).ok()?;
    let matrix = list(font, b"FontMatrix", document).and_then(|numbers| number(numbers.first()?, document));
    let unit = matrix.filter(|_| kind == b"Type3").unwrap_or(0.001).abs();
    let widths = list(font, b"Widths", document)?.iter().take(MAX_CODES);
    let by_code =
        (first..=u32::MAX).zip(widths).filter_map(|(code, width)| Some((code, number(width, document)? * unit)));
    let descriptor = font.get_deref(b"FontDescriptor", document).and_then(Object::as_dict).ok();
    let missing = descriptor.and_then(|descriptor| number(descriptor.get(b"MissingWidth").ok()?, document));
    Some(GlyphWidths { by_code: by_code.collect(), default: missing.map_or(0.5, |width| width * unit) })
}

/// Reads the widths of a composite font: a code and a list, or two codes and the width of all codes between them.
fn composite_widths(font: &Dictionary, document: &Document) -> Option<GlyphWidths> {
    let descendant = list(font, b"DescendantFonts", document)?.first()?;
    let descendant = document.dereference(descendant).ok()?.1.as_dict().ok()?;
    let default = descendant.get(b"DW").ok().and_then(|width| number(width, document)).unwrap_or(1000.0);
    let mut widths = GlyphWidths::uniform(default / 1000.0);
    let mut items = list(descendant, b"W", document).map_or(&[][..], Vec::as_slice);
    while let [first, second, rest @ ..] = items {
        let code = number(first, document)? as u32;
        items = match (document.dereference(second).map_or(second, |(_, found)| found), rest) {
            (Object::Array(list), rest) => {
                widths.add((code..=u32::MAX).zip(list.iter().filter_map(|width| number(width, document))));
                rest
            }
            (last, [width, rest @ ..]) => {
                let (last, width) = (number(last, document)? as u32, number(width, document)?);
                widths.add((code..=last).map(|code| (code, width)));
                rest
            }
            _ => break,
        };
    }
    Some(widths)
}

impl GlyphWidths {
    fn add(&mut self, widths: impl Iterator<Item = (u32, f64)>) {
        let remaining = MAX_CODES.saturating_sub(self.by_code.len());
        self.by_code.extend(widths.take(remaining).map(|(code, width)| (code, width / 1000.0)));
    }
}

/// Glyph widths of the standard fonts from space to tilde, in thousandths.
const STANDARD: &[(&str, [u16; 95])] = &[
    (
        "helvetica",
        [
            278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
            556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278,
            500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469,
            556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500,
            278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
        ],
    ),
    (
        "helveticabold",
        [
            278, 333, 474, 556, 556, 889, 722, 238, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556,
            556, 556, 556, 556, 556, 333, 333, 584, 584, 584, 611, 975, 722, 722, 722, 722, 667, 611, 778, 722, 278,
            556, 722, 611, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 333, 278, 333, 584,
            556, 333, 556, 611, 556, 611, 556, 333, 611, 611, 278, 278, 556, 278, 889, 611, 611, 611, 611, 389, 556,
            333, 611, 556, 778, 556, 556, 500, 389, 280, 389, 584,
        ],
    ),
    (
        "times",
        [
            250, 333, 408, 500, 500, 833, 778, 180, 333, 333, 500, 564, 250, 333, 250, 278, 500, 500, 500, 500, 500,
            500, 500, 500, 500, 500, 278, 278, 564, 564, 564, 444, 921, 722, 667, 667, 722, 611, 556, 722, 722, 333,
            389, 722, 611, 889, 722, 722, 556, 722, 667, 556, 611, 722, 722, 944, 722, 722, 611, 333, 278, 333, 469,
            500, 333, 444, 500, 444, 500, 444, 333, 500, 500, 278, 278, 500, 278, 778, 500, 500, 500, 500, 333, 389,
            278, 500, 500, 722, 500, 500, 444, 480, 200, 480, 541,
        ],
    ),
    (
        "timesbold",
        [
            250, 333, 555, 500, 500, 1000, 833, 278, 333, 333, 500, 570, 250, 333, 250, 278, 500, 500, 500, 500, 500,
            500, 500, 500, 500, 500, 333, 333, 570, 570, 570, 500, 930, 722, 667, 722, 722, 667, 611, 778, 778, 389,
            500, 778, 667, 944, 722, 778, 611, 778, 722, 556, 667, 722, 722, 1000, 722, 722, 667, 333, 278, 333, 581,
            500, 333, 500, 556, 444, 556, 444, 333, 500, 556, 278, 333, 556, 278, 833, 556, 500, 556, 556, 444, 389,
            333, 556, 500, 722, 500, 500, 444, 394, 220, 394, 520,
        ],
    ),
    (
        "timesitalic",
        [
            250, 333, 420, 500, 500, 833, 778, 214, 333, 333, 500, 675, 250, 333, 250, 278, 500, 500, 500, 500, 500,
            500, 500, 500, 500, 500, 333, 333, 675, 675, 675, 500, 920, 611, 611, 667, 722, 611, 611, 722, 722, 333,
            444, 667, 556, 833, 667, 722, 611, 722, 611, 500, 556, 722, 611, 833, 611, 556, 556, 389, 278, 389, 422,
            500, 333, 500, 500, 444, 500, 444, 278, 500, 500, 278, 278, 444, 278, 722, 500, 500, 500, 500, 389, 389,
            278, 500, 444, 667, 444, 444, 389, 400, 275, 400, 541,
        ],
    ),
    (
        "timesbolditalic",
        [
            250, 389, 555, 500, 500, 833, 778, 278, 333, 333, 500, 570, 250, 333, 250, 278, 500, 500, 500, 500, 500,
            500, 500, 500, 500, 500, 333, 333, 570, 570, 570, 500, 832, 667, 667, 667, 722, 667, 667, 722, 778, 389,
            500, 667, 611, 889, 722, 722, 611, 722, 667, 556, 611, 722, 667, 889, 667, 611, 611, 333, 278, 333, 570,
            500, 333, 500, 500, 444, 500, 444, 333, 500, 556, 278, 278, 500, 278, 778, 556, 500, 500, 500, 389, 389,
            278, 556, 444, 667, 500, 444, 389, 348, 220, 348, 570,
        ],
    ),
];

/// Returns the widths of the standard font that resembles a font by its name.
fn standard_widths(font: &Dictionary, document: &Document) -> GlyphWidths {
    let name = font.get_deref(b"BaseFont", document).and_then(Object::as_name).unwrap_or(b"");
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    if name.contains("courier") || name.contains("mono") {
        return GlyphWidths::uniform(0.6);
    }
    let family = if name.contains("times") { "times" } else { "helvetica" };
    let weight = if name.contains("bold") { "bold" } else { "" };
    let slant = if family == "times" && name.contains("italic") { "italic" } else { "" };
    let style = format!("{family}{weight}{slant}");
    let found = STANDARD.iter().find(|(name, _)| *name == style);
    let by_code = found.into_iter().flat_map(|(_, widths)| (0x20..).zip(widths.iter().map(|w| f64::from(*w) / 1000.0)));
    GlyphWidths { by_code: by_code.collect(), default: 0.5 }
}

//! Sheet of all symbols of our own, each with its name and the words of classes that select it, for review.

use std::fmt::Write;

use super::style::Style;
use crate::symbols::{Body, Placement, SYMBOLS, Symbol, outlet_turn};

const COLUMNS: usize = 8;
/// Width and height of the field of a symbol, and the height of its center in it.
const FIELD: (f64, f64) = (150.0, 170.0);
const CENTER: f64 = 72.0;
/// Length of the pipes at a symbol in a pipe.
const PIPE: f64 = 22.0;
/// Longest list of words in letters; longer ones are truncated.
const MAX_WORDS: usize = 30;

/// Draws all symbols as one SVG: in the table's order, in a pipe where they belong to one.
///
/// # Examples
/// ```
/// let svg = pidq_formats::symbol_sheet(pidq_formats::Style::Light);
/// assert!(svg.starts_with("<svg ") && svg.contains(">gate_valve<"));
/// ```
pub fn symbol_sheet(style: Style) -> String {
    let rows = SYMBOLS.len().div_ceil(COLUMNS);
    let (width, height) = (FIELD.0 * COLUMNS as f64, FIELD.1 * rows as f64);
    let (paper, ink) = style.paper_and_ink();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" class=\"pidq\" \
         font-family=\"sans-serif\" text-anchor=\"middle\" fill=\"{ink}\"><style>{}</style>\
         <rect width=\"{width}\" height=\"{height}\" fill=\"{paper}\"/>\n",
        style.symbol_css()
    );
    for (at, symbol) in SYMBOLS.iter().enumerate() {
        let x = FIELD.0 * ((at % COLUMNS) as f64 + 0.5);
        let y = FIELD.1 * (at / COLUMNS) as f64;
        svg.push_str(&field(symbol, (x, y)));
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws the field of a symbol, whose top center is at a point.
fn field(symbol: &Symbol, (x, y): (f64, f64)) -> String {
    let (half_width, half_height) = symbol.half;
    let mut svg = format!("<g transform=\"translate({x} {:.1})\">", y + CENTER);
    if symbol.placement == Placement::Inline {
        let end = half_width + PIPE;
        let outlet = match outlet_turn(symbol) {
            1 => format!("M0 {half_height}V{}", half_height + PIPE),
            3 => format!("M0 -{half_height}V-{}", half_height + PIPE),
            _ => format!("M{half_width} 0H{end}"),
        };
        // Writing to a `String` cannot fail.
        let _ = write!(svg, "<path class=\"n\" d=\"M-{end} 0H-{half_width}{outlet}\"/>");
    }
    match symbol.body {
        Body::Fixed(body) => svg.push_str(body),
        Body::Stretched(draw) => svg.push_str(&draw(symbol.half.0, symbol.half.1)),
    }
    let words = symbol.words.join(", ");
    let is_long = words.chars().count() > MAX_WORDS;
    let words: String = words.chars().take(MAX_WORDS).chain(is_long.then_some('…')).collect();
    let (name_y, words_y) = (FIELD.1 - CENTER - 28.0, FIELD.1 - CENTER - 14.0);
    let _ = writeln!(
        svg,
        "<text y=\"{name_y}\" font-size=\"11\">{}</text><text y=\"{words_y}\" font-size=\"8\">{words}</text></g>",
        symbol.name
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_symbol_is_on_the_sheet_within_its_field() {
        let svg = symbol_sheet(Style::Dark);
        for symbol in SYMBOLS {
            assert!(svg.contains(&format!(">{}</text>", symbol.name)), "{}", symbol.name);
            let (width, height) = symbol.half;
            assert!(width + PIPE <= FIELD.0 / 2.0 && height <= CENTER, "{}", symbol.name);
        }
        // The outlet of an angle valve leaves at its side.
        for (name, outlet) in [("angle_valve_right", "M0 10V32"), ("angle_safety_valve_left", "M0 -10V-32")] {
            let field = svg.split("<g ").find(|field| field.contains(&format!(">{name}<"))).unwrap_or_default();
            assert!(field.contains(&format!("M-32 0H-10{outlet}\"")), "{field}");
        }
        let count = |tag: &str| svg.matches(tag).count();
        assert_eq!((count("<g "), count("</g>"), count("<text ")), (SYMBOLS.len(), SYMBOLS.len(), 2 * SYMBOLS.len()));
    }
}

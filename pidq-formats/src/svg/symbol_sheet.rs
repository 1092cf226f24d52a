//! Sheet of all symbols of our own, each with its name, the words of classes that select it and its standard, for review.
//!
//! Below them: positions of valves, locations and systems of instruments, and kinds of signals.

use std::fmt::Write;

use super::signals::KINDS;
use super::style::Style;
use super::symbol_marks::{FRAMES, LocationLine, closed_body};
use crate::symbols::{Body, Placement, SYMBOLS, Symbol, outlet_turn, standard};

const COLUMNS: usize = 8;
/// Width and height of a field, and the height of the center of its symbol.
const FIELD: (f64, f64) = (150.0, 164.0);
const CENTER: f64 = 66.0;
/// Length of the pipes at a symbol in a pipe.
const PIPE: f64 = 22.0;
/// Half length of a signal.
const SIGNAL: f64 = 45.0;
/// Longest list of words in letters; longer ones are truncated.
const MAX_WORDS: usize = 34;
/// Radius of the bubble of an instrument.
const BUBBLE: f64 = 16.0;

/// Entry of the sheet.
struct Entry {
    name: String,
    words: String,
    standard: &'static str,
    drawing: String,
}

/// Draws all symbols as one SVG: in the table's order, in a pipe where they belong to one.
///
/// # Examples
/// ```
/// let svg = pidq_formats::symbol_sheet(pidq_formats::Style::Light);
/// assert!(svg.starts_with("<svg ") && svg.contains(">gate_valve<"));
/// ```
pub fn symbol_sheet(style: Style) -> String {
    let entries: Vec<Entry> =
        SYMBOLS.iter().map(symbol_entry).chain(positions()).chain(instruments()).chain(signals()).collect();
    let rows = entries.len().div_ceil(COLUMNS);
    let (width, height) = (FIELD.0 * COLUMNS as f64, FIELD.1 * rows as f64);
    let (paper, ink) = style.paper_and_ink();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" class=\"pidq\" \
         font-family=\"Helvetica,Arial,sans-serif\" text-anchor=\"middle\" fill=\"{ink}\"><style>{}</style>\
         <rect width=\"{width}\" height=\"{height}\" fill=\"{paper}\"/>\n",
        style.symbol_css()
    );
    for (at, entry) in entries.iter().enumerate() {
        let x = FIELD.0 * ((at % COLUMNS) as f64 + 0.5);
        let y = FIELD.1 * (at / COLUMNS) as f64;
        svg.push_str(&field(entry, (x, y)));
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws the field of an entry, whose top center is at a point.
fn field(entry: &Entry, (x, y): (f64, f64)) -> String {
    let Entry { name, words, standard, drawing } = entry;
    let bottom = FIELD.1 - CENTER;
    let texts = [(name, bottom - 32.0, 11), (words, bottom - 19.0, 8), (&(*standard).to_owned(), bottom - 8.0, 8)];
    let mut svg = format!("<g transform=\"translate({x} {:.1})\">{drawing}", y + CENTER);
    for (text, y, size) in texts.into_iter().filter(|(text, ..)| !text.is_empty()) {
        // Writing to a `String` cannot fail.
        let _ = write!(svg, "<text y=\"{y}\" font-size=\"{size}\">{text}</text>");
    }
    svg.push_str("</g>\n");
    svg
}

fn symbol_entry(symbol: &Symbol) -> Entry {
    let words = truncate(&symbol.words.join(", "));
    let drawing = pipes(symbol) + &body(symbol);
    Entry { name: symbol.name.to_owned(), words, standard: standard(symbol), drawing }
}

fn truncate(words: &str) -> String {
    let is_long = words.chars().count() > MAX_WORDS;
    words.chars().take(MAX_WORDS).chain(is_long.then_some('…')).collect()
}

/// Returns the pipes at a symbol in a pipe.
fn pipes(symbol: &Symbol) -> String {
    if symbol.placement != Placement::Inline {
        return String::new();
    }
    let (half_width, half_height) = symbol.half;
    let end = half_width + PIPE;
    let outlet = match outlet_turn(symbol) {
        1 => format!("M0 {half_height}V{}", half_height + PIPE),
        3 => format!("M0 -{half_height}V-{}", half_height + PIPE),
        _ => format!("M{half_width} 0H{end}"),
    };
    format!("<path class=\"n\" d=\"M-{end} 0H-{half_width}{outlet}\"/>")
}

fn body(symbol: &Symbol) -> String {
    match symbol.body {
        Body::Fixed(body) => body.to_owned(),
        Body::Stretched(draw) => draw(symbol.half.0, symbol.half.1),
    }
}

/// Returns the positions of valves and blinds, with their marks.
fn positions() -> impl Iterator<Item = Entry> {
    const POSITIONS: &[(&str, &str, &str)] = &[
        ("normally closed", "gate_valve", ""),
        ("normally closed", "ball_valve", ""),
        ("closed blind", "spectacle_blind", ""),
        ("locked open", "gate_valve", "LO"),
        ("locked closed", "gate_valve", "LC"),
        ("car sealed open", "gate_valve", "CSO"),
        ("car sealed closed", "gate_valve", "CSC"),
        ("fail open", "control_valve", "FO"),
        ("fail closed", "control_valve", "FC"),
        ("fail last", "control_valve", "FL"),
        ("fail indeterminate", "control_valve", "FI"),
    ];
    POSITIONS.iter().filter_map(|(position, name, mark)| {
        let symbol = SYMBOLS.iter().find(|symbol| symbol.name == *name)?;
        let is_closed = position.ends_with("closed") && !position.starts_with("fail") || *position == "closed blind";
        let body = if is_closed { closed_body(symbol, &body(symbol)) } else { body(symbol) };
        let text = match *mark {
            "" => String::new(),
            mark => format!("<text y=\"19\" font-size=\"8\">{mark}</text>"),
        };
        let standard = if position.starts_with("fail") { "ISA-5.1" } else { "ISO 10628-2" };
        Some(Entry {
            name: (*position).to_owned(),
            words: (*name).to_owned(),
            standard,
            drawing: pipes(symbol) + &body + &text,
        })
    })
}

/// Returns the bubbles of instruments, by their location and their system.
fn instruments() -> impl Iterator<Item = Entry> {
    const LOCATIONS: &[(&str, bool, bool)] = &[
        ("control room", false, false),
        ("local panel", true, false),
        ("behind the panel", false, true),
        ("behind the local panel", true, true),
    ];
    let locations = LOCATIONS.iter().map(|(name, is_double, is_dashed)| {
        let line = LocationLine { is_double: *is_double, is_dashed: *is_dashed };
        let circle = format!("<circle class=\"s\" r=\"{BUBBLE}\"/>");
        ((*name).to_owned(), String::new(), circle + &super::location_path(line, BUBBLE))
    });
    let systems =
        FRAMES.iter().map(|(words, frame)| (format!("system: {}", words[0]), words.join(", "), (*frame).to_owned()));
    let all = locations.chain(systems);
    all.map(|(name, words, drawing)| Entry { name, words: truncate(&words), standard: "ISA-5.1", drawing })
}

/// Returns the kinds of signals.
fn signals() -> impl Iterator<Item = Entry> {
    let electric = std::iter::once(("signal: electric".to_owned(), String::new(), "d", ""));
    let kinds = KINDS.iter().map(|kind| (format!("signal: {}", kind.words[0]), kind.words.join(", "), "n", kind.mark));
    electric.chain(kinds).map(|(name, words, class, mark)| {
        let marks: String = [-SIGNAL / 2.0, SIGNAL / 2.0]
            .iter()
            .filter(|_| !mark.is_empty())
            .map(|x| format!("<path class=\"n\" transform=\"translate({x} 0)\" d=\"{mark}\"/>"))
            .collect();
        let drawing = format!("<path class=\"{class}\" d=\"M-{SIGNAL} 0H{SIGNAL}\"/>{marks}");
        Entry { name, words: truncate(&words), standard: "ISA-5.1", drawing }
    })
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
        assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
    }

    #[test]
    fn positions_locations_systems_and_signals_are_on_the_sheet() {
        let svg = symbol_sheet(Style::Light);
        let field = |name: &str| {
            let field = svg.split("<g transform").find(|field| field.contains(&format!(">{name}</text>")));
            field.unwrap_or_else(|| panic!("{name} is missing")).to_owned()
        };
        assert!(field("normally closed").contains("class=\"f\" d=\"M-10 -7V7L10 -7V7Z\""));
        assert!(
            field("fail closed").contains(">FC</text>") && field("fail closed").contains("class=\"s\" d=\"M-10 -7")
        );
        assert!(field("local panel").contains("M-16.0 -1.4H16.0M-16.0 1.4H16.0"));
        assert!(field("behind the panel").contains("<path class=\"d\" d=\"M-16.0 0.0H16.0\"/>"));
        assert_eq!(field("signal: pneumatic").matches("M-4 4L0 -4M0 4L4 -4").count(), 2);
        assert!(field("system: plc").contains("ISA-5.1"));
    }
}

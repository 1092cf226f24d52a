//! Words of any script (UAX #29), English ones by their stem.

use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use super::identifiers::{self, Piece};
use super::numbers;

/// What is longer, in bytes, is no word but data in letters, and nobody asks for it.
const LONGEST: usize = 256;

/// The words of a folded text with what stands before each.
pub fn pieces(folded: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut end = 0;
    for (start, word) in folded.unicode_word_indices() {
        // A mark behind a blank is one word with it by UAX #29.
        let own = word.trim_start_matches(|c: char| !c.is_alphanumeric());
        for (at, part) in parts(own) {
            let from = start + word.len() - own.len() + at;
            pieces.push(Piece { gap: &folded[end..from], text: part });
            end = from + part.len();
        }
    }
    pieces
}

/// A word as UAX #29 has it, cut where a point or an underscore joins what is not a number: `stop.start`, `psv_2015`.
fn parts(word: &str) -> impl Iterator<Item = (usize, &str)> {
    let whole = numbers::is_number(word) || numbers::unit_apart(word).is_some();
    let cut = move |c: char| !whole && matches!(c, '.' | ',' | '_' | ':' | ';');
    let mut next = 0;
    let placed = word.split(cut).map(move |part| {
        let start = next;
        next += part.len() + 1;
        (start, part)
    });
    placed.filter(|(_, part)| !part.is_empty() && part.len() <= LONGEST)
}

/// The terms of a word that is not part of a chain.
pub fn alone(word: &Piece<'_>, terms: &mut Vec<String>) {
    let text = word.text;
    if numbers::is_number(text) {
        terms.push(numbers::plain(text));
    } else if let Some((number, unit)) = numbers::unit_apart(text) {
        terms.extend([numbers::plain(number), unit.to_owned()]);
    } else if identifiers::is_mixed(text) {
        identifiers::mixed(text, terms);
    } else if !is_without_blanks(text) {
        terms.push(stem(text));
    }
}

/// The stem of an English word in lower case; other words are their own.
pub fn stem(word: &str) -> String {
    static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
    let english = word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'');
    if english { ENGLISH.stem(word).into_owned() } else { word.to_owned() }
}

/// Scripts that put no blanks between words give two characters each, overlapping, or one that stands alone.
pub fn runs(pieces: &[Piece<'_>], terms: &mut Vec<String>) {
    let mut before: Option<&str> = None;
    let mut paired = false;
    for (at, piece) in pieces.iter().enumerate().filter(|(_, piece)| is_without_blanks(piece.text)) {
        match before.filter(|_| piece.gap.is_empty()) {
            Some(before) => terms.push(format!("{before}{}", piece.text)),
            None => paired = false,
        }
        paired |= piece.gap.is_empty() && before.is_some();
        let ends = pieces.get(at + 1).is_none_or(|next| !next.gap.is_empty() || !is_without_blanks(next.text));
        if ends && !paired {
            terms.push(piece.text.to_owned());
        }
        before = (!ends).then_some(piece.text);
    }
}

/// Han, Hiragana, Thai, Lao, Khmer, Myanmar: one letter here is not a word, and where words end nobody wrote.
fn is_without_blanks(word: &str) -> bool {
    let first = word.chars().next().unwrap_or(' ');
    matches!(first,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{309f}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

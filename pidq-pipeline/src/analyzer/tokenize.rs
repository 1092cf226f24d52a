//! Word segmentation for any script (UAX #29), with stemming of English words.

use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use super::identifiers::{self, Word};
use super::quantities;

/// Maximum size of a word in bytes. Longer tokens are encoded data and are not indexed.
const MAX_WORD_SIZE: usize = 256;

/// Returns the words of a normalized text, each with the text before it.
pub fn tokenize(normalized: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut end = 0;
    for (start, word) in normalized.unicode_word_indices() {
        // UAX #29 joins a combining mark with the space before it.
        let own = word.trim_start_matches(|c: char| !c.is_alphanumeric());
        for (at, part) in split_word(own) {
            let from = start + word.len() - own.len() + at;
            words.push(Word { gap: &normalized[end..from], text: part });
            end = from + part.len();
        }
    }
    words
}

/// Splits a UAX #29 word at points and underscores unless it is a number: `stop.start`, `psv_2015`.
fn split_word(word: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_quantity = quantities::is_number(word) || quantities::split_unit(word).is_some();
    let cut = move |c: char| !is_quantity && matches!(c, '.' | ',' | '_' | ':' | ';');
    let mut next = 0;
    let parts = word.split(cut).map(move |part| {
        let start = next;
        next += part.len() + 1;
        (start, part)
    });
    parts.filter(|(_, part)| !part.is_empty() && part.len() <= MAX_WORD_SIZE)
}

/// Adds the terms of a single word.
pub fn word_terms(word: &Word<'_>, terms: &mut Vec<String>) {
    let text = word.text;
    if quantities::is_number(text) {
        terms.push(quantities::normalize_number(text));
    } else if let Some((number, unit)) = quantities::split_unit(text) {
        terms.extend([quantities::normalize_number(number), unit.to_owned()]);
    } else if identifiers::is_mixed(text) {
        identifiers::mixed_terms(text, terms);
    } else if !is_unspaced_script(text) {
        terms.push(stem(text));
    }
}

/// Returns the stem of a lower-case English word; other words are returned unchanged.
pub fn stem(word: &str) -> String {
    static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
    let english = word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'');
    if english { ENGLISH.stem(word).into_owned() } else { word.to_owned() }
}

/// Adds overlapping bigrams for scripts without spaces between words, or a single character that has no neighbor.
pub fn bigrams(words: &[Word<'_>], terms: &mut Vec<String>) {
    let mut before: Option<&str> = None;
    let mut paired = false;
    for (at, word) in words.iter().enumerate().filter(|(_, word)| is_unspaced_script(word.text)) {
        match before.filter(|_| word.gap.is_empty()) {
            Some(before) => terms.push(format!("{before}{}", word.text)),
            None => paired = false,
        }
        paired |= word.gap.is_empty() && before.is_some();
        let ends = words.get(at + 1).is_none_or(|next| !next.gap.is_empty() || !is_unspaced_script(next.text));
        if ends && !paired {
            terms.push(word.text.to_owned());
        }
        before = (!ends).then_some(word.text);
    }
}

/// Returns whether a word is in a script without spaces between words: Han, Hiragana, Thai, Lao, Khmer, Myanmar.
fn is_unspaced_script(word: &str) -> bool {
    let first = word.chars().next().unwrap_or(' ');
    matches!(first,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{309f}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

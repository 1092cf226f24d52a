//! Word segmentation for any script (UAX #29), with stemming of English words.

use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use super::word::Word;
use super::{mixed_words, quantities};

/// Maximum size of a word in bytes. Longer tokens are encoded data and are not indexed.
const MAX_WORD_SIZE: usize = 256;

/// Returns the words of a normalized text, each with the text before it.
pub fn tokenize(normalized: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut end = 0;
    for (start, word) in normalized.unicode_word_indices() {
        // UAX #29 joins a combining mark with the space before it.
        let trimmed = word.trim_start_matches(|c: char| !c.is_alphanumeric());
        for (offset, part) in split_word(trimmed) {
            let part_start = start + word.len() - trimmed.len() + offset;
            words.push(Word { gap: &normalized[end..part_start], text: part });
            end = part_start + part.len();
        }
    }
    words
}

/// Splits a UAX #29 word at points and underscores unless it is a number: `stop.start`, `psv_2015`.
fn split_word(word: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_quantity = quantities::is_number(word) || quantities::split_unit(word).is_some();
    let is_boundary = move |c: char| !is_quantity && matches!(c, '.' | ',' | '_' | ':' | ';');
    let mut next = 0;
    let parts = word.split(is_boundary).map(move |part| {
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
    } else if mixed_words::is_mixed(text) {
        mixed_words::mixed_terms(text, terms);
    } else if !is_unspaced_script(text) {
        terms.push(stem(text));
    }
}

/// Returns the stem of a lower-case English word; other words are returned unchanged.
pub fn stem(word: &str) -> String {
    static ENGLISH: LazyLock<Stemmer> = LazyLock::new(|| Stemmer::create(Algorithm::English));
    let is_english = word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'');
    if is_english { ENGLISH.stem(word).into_owned() } else { word.to_owned() }
}

/// Adds overlapping bigrams for scripts without spaces between words, or a single character that has no neighbor.
pub fn bigrams(words: &[Word<'_>], terms: &mut Vec<String>) {
    let mut previous: Option<&str> = None;
    let mut has_bigram = false;
    for (index, word) in words.iter().enumerate().filter(|(_, word)| is_unspaced_script(word.text)) {
        match previous.filter(|_| word.gap.is_empty()) {
            Some(previous) => terms.push(format!("{previous}{}", word.text)),
            None => has_bigram = false,
        }
        has_bigram |= word.gap.is_empty() && previous.is_some();
        let is_last = words.get(index + 1).is_none_or(|next| !next.gap.is_empty() || !is_unspaced_script(next.text));
        if is_last && !has_bigram {
            terms.push(word.text.to_owned());
        }
        previous = (!is_last).then_some(word.text);
    }
}

/// Returns whether a word is in a script without spaces between words: Han, Hiragana, Thai, Lao, Khmer, Myanmar.
fn is_unspaced_script(word: &str) -> bool {
    let first = word.chars().next().unwrap_or(' ');
    matches!(first,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{309f}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

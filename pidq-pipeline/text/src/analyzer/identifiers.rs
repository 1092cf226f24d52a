//! Tokenizer for engineering identifiers: letters and digits joined by hyphens or separated by a space.

use super::mixed_words::{hyphenated, is_mixed};
use super::tokenize;
use super::word::Word;

/// Maximum number of words joined into one identifier; bounds the work on hostile text.
const MAX_CHAIN_LENGTH: usize = 8;
/// Words that often precede a number and are not the prefix of a tag.
const NOT_PREFIXES: &[&str] =
    &["a", "an", "and", "are", "at", "by", "for", "from", "in", "is", "no", "of", "on", "or", "the", "to", "was"];

/// Returns the leading words that hyphens join into one identifier: at least one word.
pub fn chain<'p, 't>(words: &'p [Word<'t>]) -> &'p [Word<'t>] {
    let joined = |pair: &&[Word<'t>]| joins(pair[0].text, pair[1]);
    let count = words.windows(2).take(MAX_CHAIN_LENGTH - 1).take_while(joined).count();
    &words[..1 + count]
}

/// Returns whether a word continues an identifier: `20-PR-0107`, `6"-PL-1001`, `psv_2015`. A slash counts only as in
/// `p-101a/b`, because `m3/h` and `and/or` exist.
fn joins(previous: &str, word: Word<'_>) -> bool {
    match word.gap {
        "-" | "_" | "\"-" => true,
        "/" => is_letter(word.text) && (ends_with_suffix_letter(previous) || is_letter(previous)),
        _ => false,
    }
}

/// Returns whether a word ends with a digit and one letter, such as `101a`.
fn ends_with_suffix_letter(word: &str) -> bool {
    let mut last = word.bytes().rev();
    last.next().is_some_and(|b| b.is_ascii_lowercase()) && last.next().is_some_and(|b| b.is_ascii_digit())
}

/// Adds the terms of an identifier of several words: hyphenated, joined, and its parts.
pub fn chain_terms(chain: &[Word<'_>], terms: &mut Vec<String>) {
    for part in chain {
        tokenize::word_terms(part, terms);
    }
    let (name, others) = split_alternatives(chain);
    let joined: String = name.iter().map(|word| word.text).collect();
    if is_mixed(&joined) {
        terms.extend([hyphenated(&joined), joined.clone()]);
        terms.extend(others.iter().map(|other| replace_suffix_letter(&joined, other.text)));
        terms.extend(inner_tags(name));
    } else if name.len() > 1 {
        terms.push(tokenize::stem(&joined));
    }
}

/// Replaces the term of a name by that of its part when a part follows, as in `P-101A N1`.
pub fn qualify_with_part(chain: &[Word<'_>], next: Option<&Word<'_>>, terms: &mut Vec<String>) {
    let Some(part) = next.filter(|next| next.gap == " " && is_part_name(next.text)) else { return };
    let joined: String = chain.iter().map(|word| word.text).collect();
    let name = hyphenated(&joined);
    if is_mixed(&joined) && terms.contains(&name) {
        terms.retain(|term| *term != name);
        terms.push(format!("{name}-{}", part.text));
    }
}

/// Returns whether a word names a nozzle or a similar part: one letter and a number, such as `n1` or `m12`.
fn is_part_name(word: &str) -> bool {
    let mut bytes = word.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_lowercase())
        && (2..=3).contains(&word.len())
        && bytes.all(|b| b.is_ascii_digit())
}

/// Returns the tags inside a longer identifier: `pr0107` of `20-pr-0107-a1`.
fn inner_tags<'p>(name: &'p [Word<'_>]) -> impl Iterator<Item = String> + 'p {
    let pairs = name.windows(2).filter(|_| name.len() > 2);
    let tags = pairs.filter(|pair| is_prefix(pair[0].text) && is_tag_number(pair[1].text));
    tags.map(|pair| format!("{}{}", pair[0].text, pair[1].text))
}

/// Splits a chain at its first slash: the name, and the alternative suffix letters (`P-101A/B/C` names three pumps).
fn split_alternatives<'p, 't>(chain: &'p [Word<'t>]) -> (&'p [Word<'t>], &'p [Word<'t>]) {
    let slash = chain[1..].iter().position(|word| word.gap == "/").map_or(chain.len(), |index| index + 1);
    let (name, others) = chain.split_at(slash);
    let are_letters = others.iter().all(|other| other.text.len() == 1);
    (name, if are_letters { others } else { &[] })
}

fn replace_suffix_letter(joined: &str, letter: &str) -> String {
    format!("{}{letter}", joined.trim_end_matches(|c: char| c.is_ascii_lowercase()))
}

/// Adds the terms of a tag written with spaces: `psv 2015 a` becomes `psv2015a`.
pub fn spaced_tag_terms(words: &[Word<'_>], terms: &mut Vec<String>) {
    let [letters, number, after @ ..] = words else { return };
    if number.gap != " " || !is_prefix(letters.text) || !is_tag_number(number.text) {
        return;
    }
    let suffix = after.first().filter(|word| matches!(word.gap, " " | "-") && is_letter(word.text));
    let has_no_suffix = number.text.bytes().all(|b| b.is_ascii_digit());
    let joined = format!("{}{}", letters.text, number.text);
    if let Some(suffix) = suffix.filter(|_| has_no_suffix) {
        let joined = format!("{joined}{}", suffix.text);
        terms.extend([hyphenated(&joined), joined]);
    }
    terms.extend([hyphenated(&joined), joined]);
}

fn is_prefix(word: &str) -> bool {
    word.len() <= 5 && word.bytes().all(|b| b.is_ascii_lowercase()) && !NOT_PREFIXES.contains(&word)
}

fn is_tag_number(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    (2..=6).contains(&digits)
        && (word.len() == digits || word.len() == digits + 1)
        && word.is_ascii()
        && !word.ends_with(|c: char| !c.is_ascii_alphanumeric())
}

fn is_letter(word: &str) -> bool {
    word.len() == 1 && word.bytes().all(|b| b.is_ascii_lowercase())
}

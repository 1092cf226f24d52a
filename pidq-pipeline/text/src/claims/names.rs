//! Names in an answer: of makers, standards and places. They must occur in the passages or in the question.
//!
//! A capital letter is the sign of a name in English only, so names are looked for in English sentences; abbreviations
//! in capital letters, in all.

use std::ops::Range;

use super::facts::{Content, Facts};
use super::matching::Cited;
use super::plain::Plain;
use crate::analyzer;

/// A name.
pub struct Name {
    /// Range of characters.
    pub range: Range<usize>,
    /// Its index terms.
    terms: Vec<String>,
    /// Letters in lower case, if it is an abbreviation.
    abbreviation: Option<String>,
}

/// Words that begin with a capital letter and are no names.
const COMMON: &[&str] = &[
    "answer",
    "appendix",
    "april",
    "august",
    "celsius",
    "chapter",
    "december",
    "document",
    "documents",
    "drawing",
    "fahrenheit",
    "february",
    "figure",
    "friday",
    "i",
    "january",
    "july",
    "june",
    "kelvin",
    "march",
    "may",
    "monday",
    "no",
    "note",
    "november",
    "october",
    "page",
    "passage",
    "passages",
    "saturday",
    "section",
    "september",
    "step",
    "sunday",
    "table",
    "thursday",
    "tuesday",
    "warning",
    "wednesday",
    "yes",
];

/// Abbreviations and words in capital letters that need no source.
const COMMON_CAPITALS: &[&str] = &[
    "AND", "CAUTION", "DO", "EG", "FYI", "IE", "IF", "IN", "IS", "MUST", "N/A", "NA", "NB", "NO", "NOT", "NOTE", "OF",
    "OK", "ON", "ONLY", "OR", "PDF", "PID", "THE", "TO", "WARNING", "YES",
];

/// Words by which an English sentence is recognized, and those of German.
const ENGLISH: &[&str] =
    &["the", "is", "are", "of", "and", "by", "with", "has", "was", "for", "from", "it", "at", "to"];
const GERMAN: &[&str] =
    &["der", "die", "das", "ist", "und", "von", "mit", "ein", "eine", "den", "dem", "bei", "wird", "sind"];

/// Reads the names in the sentences of an answer.
pub fn read(plain: &Plain, sentences: &[Range<usize>], facts: &Facts) -> Vec<Name> {
    let mut names = Vec::new();
    for sentence in sentences {
        let words = words(plain, sentence, facts);
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&&*plain.text(word.clone()).to_lowercase()));
        let is_english = has(ENGLISH) && !has(GERMAN);
        let first =
            (sentence.start..sentence.end).find(|&index| plain.at(index).is_alphabetic()).unwrap_or(sentence.end);
        names.extend(words.iter().filter_map(|word| name(plain, first, word, is_english)));
    }
    names
}

/// Returns the words of a sentence that consist of letters and are no part of a fact.
fn words(plain: &Plain, sentence: &Range<usize>, facts: &Facts) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut index = sentence.start;
    while index < sentence.end {
        let end = plain.run(index, char::is_alphanumeric).min(sentence.end);
        if end == index {
            index += 1;
            continue;
        }
        let position = facts.list.partition_point(|fact| fact.range.end <= index);
        let is_fact = facts.list.get(position).is_some_and(|fact| {
            fact.range.start < end && !matches!(fact.content, Content::Value(_) if fact.range.start >= end)
        });
        if !is_fact && plain.chars[index..end].iter().all(|c| c.is_alphabetic()) {
            words.push(index..end);
        }
        index = end;
    }
    words
}

fn name(plain: &Plain, first: usize, word: &Range<usize>, is_english: bool) -> Option<Name> {
    let text = plain.text(word.clone());
    let is_capitals = text.chars().count() > 1 && text.chars().all(char::is_uppercase);
    let abbreviation = is_capitals.then(|| text.to_lowercase());
    let is_name = match is_capitals {
        true => !COMMON_CAPITALS.contains(&text.as_str()),
        false => is_english && is_capitalized(&text) && !is_first(plain, first, word.start),
    };
    let terms = || analyzer::terms(&text);
    is_name.then(|| Name { range: word.clone(), terms: terms(), abbreviation }).filter(|name| !name.terms.is_empty())
}

fn is_capitalized(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some_and(char::is_lowercase)
        && word.chars().count() > 2
        && !COMMON.contains(&word.to_lowercase().as_str())
}

/// Returns whether a word begins a sentence, whose first letter is at `first`, an item, a cell or a quote.
fn is_first(plain: &Plain, first: usize, word: usize) -> bool {
    let before = (first..word).rev().map(|index| plain.at(index)).find(|c| *c != ' ');
    before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, ',' | '-' | '&' | '/' | '\'' | '’'))
}

impl Name {
    /// Returns whether passages or the question contain the name, or the words for which it stands.
    pub fn is_supported(&self, passages: &[&Cited], question: &Cited) -> bool {
        let texts = || passages.iter().copied().chain([question]);
        let is_written = texts().any(|text| self.terms.iter().any(|term| text.terms().contains(term)));
        let stands_for = |letters: &String| letters.len() > 2 && texts().any(|text| text.has_initials(letters));
        is_written || self.abbreviation.as_ref().is_some_and(stands_for)
    }
}

//! Recognition of the tags of equipment, instruments and lines in a text, with their positions.
//!
//! Stricter than the index terms: a tag here becomes a link to the drawing, so ISO-9001 and H2S must not match.

use std::ops::Range;

use unicode_normalization::char::decompose_compatible;

use super::mixed_words;
use super::normalize::{hyphen, is_invisible};

/// A tag in a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tag {
    /// Canonical spelling: `PSV-2015A` for PSV 2015 A, PSV2015A and PSV-2015-A.
    pub name: String,
    /// Byte range of the tag in the text.
    pub span: Range<usize>,
}

/// Prefixes of names that look like tags but are not: standards, sizes, words of headings.
const NOT_TAGS: &[&str] = &[
    "ANSI", "API", "ASME", "ASTM", "ATEX", "BS", "CLASS", "COVID", "DIN", "DN", "EN", "FIG", "IEC", "IEEE", "IN", "IP",
    "ISA", "ISO", "NACE", "NFPA", "NO", "NPS", "OSHA", "PAGE", "PART", "PN", "REV", "SECTION", "SIL", "STEP", "TABLE",
    "UNIT", "UTF",
];

/// Maximum length of a tag's prefix, in letters.
const MAX_PREFIX_LENGTH: usize = 8;

/// Month names as in 12-MAY-2019. They exclude a name only after a number: SEP-201 is a separator.
const MONTHS: &[&str] = &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

/// Returns the tags of a text in reading order, including repetitions.
pub fn tags(text: &str) -> Vec<Tag> {
    let text = PlainText::new(text);
    let mut tags = Vec::new();
    let mut index = 0;
    while index < text.len() {
        if !text.is_word(index) {
            index += 1;
            continue;
        }
        let name = text.name(index);
        index = match text.add_spaced(&name, &mut tags) {
            Some(end) => end,
            None => text.add_hyphenated(&name, &mut tags),
        };
    }
    tags
}

/// Returns the tags of a query that are written with a blank and have only two digits, such as `LIC 27`. In a document
/// they would be prose as often as tags, but a query is matched with the tags that exist.
pub fn short_spaced_tags(text: &str) -> impl Iterator<Item = String> + '_ {
    let words = move || text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words().zip(words().skip(1)).filter_map(|(prefix, number)| {
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        let is_prefix = (1..=4).contains(&prefix.len()) && prefix.bytes().all(|b| b.is_ascii_uppercase());
        let is_number = digits == 2 && number.len() <= 3 && number.bytes().all(|b| b.is_ascii_alphanumeric());
        (is_prefix && is_number && !is_excluded(&[prefix.to_owned()])).then(|| format!("{prefix}-{number}"))
    })
}

/// The visible characters of a text in their plain form, each with the byte offset at which it starts.
struct PlainText {
    plain: Vec<char>,
    /// One more entry than characters: the last is the end of the text.
    starts: Vec<usize>,
}

impl PlainText {
    fn new(text: &str) -> Self {
        let visible = || text.char_indices().filter(|(_, c)| !is_invisible(*c));
        let starts = visible().map(|(start, _)| start).chain([text.len()]);
        PlainText { plain: visible().map(|(_, c)| plain_char(c)).collect(), starts: starts.collect() }
    }

    fn len(&self) -> usize {
        self.plain.len()
    }

    fn char_at(&self, index: usize) -> char {
        self.plain.get(index).copied().unwrap_or(' ')
    }

    fn is_word(&self, index: usize) -> bool {
        self.char_at(index).is_alphanumeric()
    }

    fn text(&self, span: &Range<usize>) -> String {
        self.plain[span.clone()].iter().collect()
    }

    fn word(&self, start: usize) -> Range<usize> {
        let start = start.min(self.len());
        let end = (start..self.len()).find(|&index| !self.is_word(index)).unwrap_or(self.len());
        start..end
    }

    /// Returns the hyphen-joined words starting at `start`.
    fn name(&self, start: usize) -> Vec<Range<usize>> {
        let mut parts = vec![self.word(start)];
        while let Some(next) = parts.last().and_then(|last| self.next_word(last.end)) {
            parts.push(self.word(next));
        }
        parts
    }

    /// Returns the start of the next word of a name whose previous word ends at `end`, if there is one.
    fn next_word(&self, end: usize) -> Option<usize> {
        let next = match (self.char_at(end), self.char_at(end + 1)) {
            ('"', '-') => end + 2,
            ('-' | '_', _) => end + 1,
            _ => return None,
        };
        self.is_word(next).then_some(next)
    }

    /// Adds a hyphenated name if it is a tag, with the alternatives of `P-101A/B`. Returns the end of the name.
    fn add_hyphenated(&self, parts: &[Range<usize>], tags: &mut Vec<Tag>) -> usize {
        let words: Vec<String> = parts.iter().map(|part| self.text(part)).collect();
        let end = parts[parts.len() - 1].end;
        let Some(name) = canonical_name(&words) else { return end };
        self.push(name.clone(), parts[0].start..end, tags);
        self.add_alternatives(&name, end, tags)
    }

    fn add_alternatives(&self, name: &str, mut end: usize, tags: &mut Vec<Tag>) -> usize {
        let Some(stem) = name.strip_suffix(|c: char| c.is_ascii_uppercase()) else { return end };
        while self.char_at(end) == '/' && self.char_at(end + 1).is_ascii_uppercase() && !self.continues(end + 2) {
            self.push(format!("{stem}{}", self.char_at(end + 1)), end + 1..end + 2, tags);
            end += 2;
        }
        end
    }

    /// Returns whether the name continues at `index`.
    fn continues(&self, index: usize) -> bool {
        self.is_word(index) || self.next_word(index).is_some()
    }

    /// Adds a tag written with spaces, such as `PSV 2015 A`. Returns its end.
    fn add_spaced(&self, parts: &[Range<usize>], tags: &mut Vec<Tag>) -> Option<usize> {
        let [letters] = parts else { return None };
        let prefix = self.text(letters);
        let number = self.word(letters.end + 1);
        if self.char_at(letters.end) != ' ' || !is_prefix(&prefix) || !is_long_number(&self.text(&number)) {
            return None;
        }
        let end = self.suffix_end(&number).unwrap_or(number.end);
        let joined: String = self.text(&(number.start..end)).replace([' ', '-'], "");
        self.push(format!("{prefix}-{joined}"), letters.start..end, tags);
        Some(end)
    }

    /// Returns the end of a single capital letter after a number.
    fn suffix_end(&self, number: &Range<usize>) -> Option<usize> {
        let has_no_suffix = self.char_at(number.end - 1).is_ascii_digit();
        let is_separated = matches!(self.char_at(number.end), ' ' | '-');
        let has_letter = self.char_at(number.end + 1).is_ascii_uppercase() && !self.is_word(number.end + 2);
        (has_no_suffix && is_separated && has_letter).then_some(number.end + 2)
    }

    fn push(&self, name: String, letters: Range<usize>, tags: &mut Vec<Tag>) {
        tags.push(Tag { name, span: self.starts[letters.start]..self.starts[letters.end] });
    }
}

/// Returns the compatibility decomposition of a character if it is a single character.
fn plain_char(c: char) -> char {
    let mut last = None;
    let mut count = 0;
    decompose_compatible(c, |part| {
        last = Some(part);
        count += 1;
    });
    hyphen(last.filter(|_| count == 1).unwrap_or(c))
}

fn is_prefix(word: &str) -> bool {
    let is_uppercase = word.bytes().all(|b| b.is_ascii_uppercase());
    is_uppercase && word.len() <= 5 && !matches!(word, "A" | "I") && !NOT_TAGS.contains(&word)
}

/// Returns whether a word is a tag number such as `2015` or `2015A`: at least three digits, because `OF 12` is prose.
fn is_long_number(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let suffix = &word.as_bytes()[digits..];
    (3..=6).contains(&digits) && (suffix.is_empty() || (suffix.len() == 1 && suffix[0].is_ascii_uppercase()))
}

/// Returns the canonical spelling of a name, or none if the name is not a tag.
fn canonical_name(words: &[String]) -> Option<String> {
    let mut words = words.to_vec();
    uppercase_suffix(&mut words);
    let letters = |c: &char| c.is_alphabetic();
    let is_uppercase = words.iter().flat_map(|word| word.chars()).filter(letters).all(char::is_uppercase);
    if !is_uppercase || is_excluded(&words) {
        return None;
    }
    match words.as_slice() {
        [word] => single_word_tag(word),
        many => has_number_after_letters(many).then(|| join_words(many)),
    }
}

/// Returns whether the prefix marks a name as something other than a tag.
fn is_excluded(words: &[String]) -> bool {
    let letters = |c: &char| c.is_alphabetic();
    let prefix = words.iter().flat_map(|word| word.chars()).skip_while(|c| !letters(c)).take_while(letters);
    let prefix: String = prefix.take(MAX_PREFIX_LENGTH + 1).collect();
    let is_date = words[0].bytes().all(|b| b.is_ascii_digit()) && MONTHS.contains(&prefix.as_str());
    is_date || prefix.chars().count() > MAX_PREFIX_LENGTH || NOT_TAGS.contains(&prefix.as_str())
}

/// Changes `P-101a` to `P-101A`: the suffix letter is often written in lower case.
fn uppercase_suffix(words: &mut [String]) {
    let Some(last) = words.last_mut() else { return };
    let digits = last.trim_end_matches(|c: char| c.is_ascii_lowercase());
    if last.len() == digits.len() + 1 && digits.ends_with(|c: char| c.is_ascii_digit()) {
        *last = last.to_uppercase();
    }
}

/// Returns a tag of one word: at least two digits must follow its letters (V201, not H2S).
fn single_word_tag(word: &str) -> Option<String> {
    let number_part = word.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(char::is_alphabetic);
    let digits = number_part.chars().take_while(char::is_ascii_digit).count();
    (digits > 1).then(|| mixed_words::hyphenated(word))
}

/// Returns whether a digit follows a letter somewhere in several words.
fn has_number_after_letters(words: &[String]) -> bool {
    let mut after_letter = false;
    words.iter().flat_map(|word| word.chars()).any(|c| {
        let found = after_letter && c.is_ascii_digit();
        after_letter |= c.is_alphabetic();
        found
    })
}

/// Joins words with hyphens, but without one before a single letter that follows a number.
fn join_words(words: &[String]) -> String {
    let mut name = words[0].clone();
    for word in &words[1..] {
        let is_letter = word.len() == 1 && word.chars().all(char::is_alphabetic);
        if !is_letter || !name.ends_with(|c: char| c.is_ascii_digit()) {
            name.push('-');
        }
        name.push_str(word);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the names of a text's tags and the text of their spans.
    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = tags(text);
        let found: Vec<_> = found.iter().map(|tag| (tag.name.as_str(), &text[tag.span.clone()])).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn variants_of_a_tag_have_one_canonical_name() {
        check("PSV-2015A", &[("PSV-2015A", "PSV-2015A")]);
        check("see PSV2015A.", &[("PSV-2015A", "PSV2015A")]);
        check("PSV 2015 A is set", &[("PSV-2015A", "PSV 2015 A")]);
        check("PSV 2015A", &[("PSV-2015A", "PSV 2015A")]);
        check("PSV-2015-A", &[("PSV-2015A", "PSV-2015-A")]);
        check("P-101a", &[("P-101A", "P-101a")]);
        check("ＰＳＶ－２０１５Ａ", &[("PSV-2015A", "ＰＳＶ－２０１５Ａ")]);
        check("ä PSV\u{2011}2015A ö", &[("PSV-2015A", "PSV\u{2011}2015A")]);
    }

    #[test]
    fn alternatives_of_a_tag_are_tags() {
        check("P-101A/B run", &[("P-101A", "P-101A"), ("P-101B", "B")]);
        check("P-101A/B/C", &[("P-101A", "P-101A"), ("P-101B", "B"), ("P-101C", "C")]);
    }

    #[test]
    fn lines_and_equipment_are_tags() {
        check("line 20-PR-0107-A1 to V-201", &[("20-PR-0107-A1", "20-PR-0107-A1"), ("V-201", "V-201")]);
        check("6\"-PL-1001", &[("6-PL-1001", "6\"-PL-1001")]);
        check("SEP-201", &[("SEP-201", "SEP-201")]);
        check("TK_701 and T-1", &[("TK-701", "TK_701"), ("T-1", "T-1")]);
    }

    #[test]
    fn standards_formulas_and_quantities_are_not_tags() {
        for text in
            ["ISO-9001", "API 520", "H2S", "CO2", "DN50", "38.5 barg", "12-MAY-2019", "2026-11-21", "A 300 mm pipe"]
        {
            check(text, &[]);
        }
        check("m3/h, shut-down, x-ray, 24VDC, e-mail, and/or", &[]);
    }

    #[test]
    fn a_text_without_letters_has_no_tags() {
        check("", &[]);
        check("-", &[]);
        check("PSV-", &[]);
        check("-2015", &[]);
    }
}

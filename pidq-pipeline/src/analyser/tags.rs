//! The tags of equipment, instruments and lines that a text names, and where.
//!
//! Stricter than the terms: a tag here becomes a link to the drawing, so ISO-9001 and H2S must not be one.

use std::ops::Range;

use unicode_normalization::char::decompose_compatible;

use super::fold::{hyphen, is_unseen};
use super::identifiers;

/// A tag in a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Tag {
    /// Its usual spelling: `PSV-2015A` for PSV 2015 A, PSV2015A and PSV-2015-A.
    pub name: String,
    /// The bytes of the text that name it.
    pub span: Range<usize>,
}

/// What is written like a tag, and is none: standards, sizes, words of headings.
const NOT_TAGS: &[&str] = &[
    "ANSI", "API", "ASME", "ASTM", "ATEX", "BS", "CLASS", "COVID", "DIN", "DN", "EN", "FIG", "IEC", "IEEE", "IN", "IP",
    "ISA", "ISO", "NACE", "NFPA", "NO", "NPS", "OSHA", "PAGE", "PART", "PN", "REV", "SECTION", "SIL", "STEP", "TABLE",
    "UNIT", "UTF",
];

/// The longest letters that a tag begins with.
const MOST_LETTERS: usize = 8;

/// The letters of 12-MAY-2019; SEP-201 is a separator.
const MONTHS: &[&str] = &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];

/// The tags of a text in reading order, as often as they stand there.
pub fn tags(text: &str) -> Vec<Tag> {
    let letters = Letters::of(text);
    let mut tags = Vec::new();
    let mut at = 0;
    while at < letters.len() {
        if !letters.is_word(at) {
            at += 1;
            continue;
        }
        let name = letters.name(at);
        at = match letters.spaced(&name, &mut tags) {
            Some(end) => end,
            None => letters.written(&name, &mut tags),
        };
    }
    tags
}

/// A text by the characters of it that are seen, in plain spelling, each with the byte it begins at.
struct Letters {
    plain: Vec<char>,
    /// One more than the characters: the last is where the text ends.
    starts: Vec<usize>,
}

impl Letters {
    fn of(text: &str) -> Self {
        let seen = || text.char_indices().filter(|(_, c)| !is_unseen(*c));
        let starts = seen().map(|(start, _)| start).chain([text.len()]);
        Letters { plain: seen().map(|(_, c)| plain(c)).collect(), starts: starts.collect() }
    }

    fn len(&self) -> usize {
        self.plain.len()
    }

    fn at(&self, at: usize) -> char {
        self.plain.get(at).copied().unwrap_or(' ')
    }

    fn is_word(&self, at: usize) -> bool {
        self.at(at).is_alphanumeric()
    }

    fn text(&self, span: &Range<usize>) -> String {
        self.plain[span.clone()].iter().collect()
    }

    fn word(&self, start: usize) -> Range<usize> {
        let start = start.min(self.len());
        let end = (start..self.len()).find(|&at| !self.is_word(at)).unwrap_or(self.len());
        start..end
    }

    /// The words from `start` on that hyphens join.
    fn name(&self, start: usize) -> Vec<Range<usize>> {
        let mut parts = vec![self.word(start)];
        while let Some(next) = parts.last().and_then(|last| self.joined(last.end)) {
            parts.push(self.word(next));
        }
        parts
    }

    /// Where the next word of a name begins, if one does behind a word that ends at `end`.
    fn joined(&self, end: usize) -> Option<usize> {
        let next = match (self.at(end), self.at(end + 1)) {
            ('"', '-') => end + 2,
            ('-' | '_', _) => end + 1,
            _ => return None,
        };
        self.is_word(next).then_some(next)
    }

    /// Takes a name as it is written, if it is a tag, with the others of `P-101A/B`, and tells where they end.
    fn written(&self, parts: &[Range<usize>], tags: &mut Vec<Tag>) -> usize {
        let words: Vec<String> = parts.iter().map(|part| self.text(part)).collect();
        let end = parts[parts.len() - 1].end;
        let Some(name) = usual(&words) else { return end };
        self.push(name.clone(), parts[0].start..end, tags);
        self.others(&name, end, tags)
    }

    fn others(&self, name: &str, mut end: usize, tags: &mut Vec<Tag>) -> usize {
        let Some(stem) = name.strip_suffix(|c: char| c.is_ascii_uppercase()) else { return end };
        while self.at(end) == '/' && self.at(end + 1).is_ascii_uppercase() && !self.goes_on(end + 2) {
            self.push(format!("{stem}{}", self.at(end + 1)), end + 1..end + 2, tags);
            end += 2;
        }
        end
    }

    /// Whether what ends before `at` is the beginning of a longer name.
    fn goes_on(&self, at: usize) -> bool {
        self.is_word(at) || self.joined(at).is_some()
    }

    /// Takes `PSV 2015 A`, and tells where it ends.
    fn spaced(&self, parts: &[Range<usize>], tags: &mut Vec<Tag>) -> Option<usize> {
        let [letters] = parts else { return None };
        let prefix = self.text(letters);
        let number = self.word(letters.end + 1);
        if self.at(letters.end) != ' ' || !is_prefix(&prefix) || !is_long_number(&self.text(&number)) {
            return None;
        }
        let end = self.suffix(&number).unwrap_or(number.end);
        let joined: String = self.text(&(number.start..end)).replace([' ', '-'], "");
        self.push(format!("{prefix}-{joined}"), letters.start..end, tags);
        Some(end)
    }

    /// Where a capital letter alone ends behind a number.
    fn suffix(&self, number: &Range<usize>) -> Option<usize> {
        let bare = self.at(number.end - 1).is_ascii_digit();
        let apart = matches!(self.at(number.end), ' ' | '-');
        let letter = self.at(number.end + 1).is_ascii_uppercase() && !self.is_word(number.end + 2);
        (bare && apart && letter).then_some(number.end + 2)
    }

    fn push(&self, name: String, letters: Range<usize>, tags: &mut Vec<Tag>) {
        tags.push(Tag { name, span: self.starts[letters.start]..self.starts[letters.end] });
    }
}

/// A character in its plain spelling, if that is one character.
fn plain(c: char) -> char {
    let mut last = None;
    let mut count = 0;
    decompose_compatible(c, |part| {
        last = Some(part);
        count += 1;
    });
    hyphen(last.filter(|_| count == 1).unwrap_or(c))
}

fn is_prefix(word: &str) -> bool {
    let capital = word.bytes().all(|b| b.is_ascii_uppercase());
    capital && word.len() <= 5 && !matches!(word, "A" | "I") && !NOT_TAGS.contains(&word)
}

/// `2015` or `2015A`: from three digits on, since `OF 12` is text.
fn is_long_number(word: &str) -> bool {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &word.as_bytes()[digits..];
    (3..=6).contains(&digits) && (rest.is_empty() || (rest.len() == 1 && rest[0].is_ascii_uppercase()))
}

/// The usual spelling of a name that is a tag.
fn usual(words: &[String]) -> Option<String> {
    let mut words = words.to_vec();
    lift_last_letter(&mut words);
    let letters = |c: &char| c.is_alphabetic();
    let capital = words.iter().flat_map(|word| word.chars()).filter(letters).all(char::is_uppercase);
    if !capital || is_other(&words) {
        return None;
    }
    match words.as_slice() {
        [word] => alone(word),
        many => numbered(many).then(|| joined(many)),
    }
}

/// Whether a name is something else by its first letters.
fn is_other(words: &[String]) -> bool {
    let letters = |c: &char| c.is_alphabetic();
    let prefix = words.iter().flat_map(|word| word.chars()).skip_while(|c| !letters(c)).take_while(letters);
    let prefix: String = prefix.take(MOST_LETTERS + 1).collect();
    let date = words[0].bytes().all(|b| b.is_ascii_digit()) && MONTHS.contains(&prefix.as_str());
    date || prefix.chars().count() > MOST_LETTERS || NOT_TAGS.contains(&prefix.as_str())
}

/// `P-101a` is `P-101A`: people write the letter of a twin small.
fn lift_last_letter(words: &mut [String]) {
    let Some(last) = words.last_mut() else { return };
    let digits = last.trim_end_matches(|c: char| c.is_ascii_lowercase());
    if last.len() == digits.len() + 1 && digits.ends_with(|c: char| c.is_ascii_digit()) {
        *last = last.to_uppercase();
    }
}

/// One word is a tag if two digits or more follow its letters: V201, not H2S.
fn alone(word: &str) -> Option<String> {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches(char::is_alphabetic);
    let digits = rest.chars().take_while(char::is_ascii_digit).count();
    (digits > 1).then(|| identifiers::hyphenated(word))
}

/// Several words are a tag if a number follows letters somewhere.
fn numbered(words: &[String]) -> bool {
    let mut letters = false;
    words.iter().flat_map(|word| word.chars()).any(|c| {
        let found = letters && c.is_ascii_digit();
        letters |= c.is_alphabetic();
        found
    })
}

/// With hyphens, but none before the single letter that follows a number.
fn joined(words: &[String]) -> String {
    let mut name = words[0].clone();
    for word in &words[1..] {
        let letter = word.len() == 1 && word.chars().all(char::is_alphabetic);
        if !letter || !name.ends_with(|c: char| c.is_ascii_digit()) {
            name.push('-');
        }
        name.push_str(word);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the tags of a text, and that their spans are where they stand.
    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = tags(text);
        let found: Vec<_> = found.iter().map(|tag| (tag.name.as_str(), &text[tag.span.clone()])).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_tag_has_one_spelling() {
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
    fn twins_are_each_a_tag() {
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
    fn standards_formulas_and_quantities_are_no_tags() {
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

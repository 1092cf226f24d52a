//! Patterns as Python writes them, for an engine that has other habits in a few places.

use std::ops::Range;

use fancy_regex::{Regex, RegexBuilder};

use super::Refusal;

/// Steps back that one search may take: far more than a sound separator needs, far less than a hostile one wants.
const BACKTRACKS: usize = 200_000;

/// The longest pattern.
const LONGEST: usize = 1_000;

/// A pattern that was understood.
#[derive(Debug)]
pub struct Pattern {
    regex: Regex,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// If it is not one, or too long.
    pub fn new(parameter: &str, source: &str) -> Result<Pattern, Refusal> {
        if source.len() > LONGEST {
            return Err(Refusal::of(parameter, format!("a pattern has at most {LONGEST} bytes")));
        }
        let mut builder = RegexBuilder::new(&translate(source));
        builder.backtrack_limit(BACKTRACKS).delegate_size_limit(1 << 20).delegate_dfa_size_limit(4 << 20);
        match builder.build() {
            Ok(regex) => Ok(Pattern { regex }),
            Err(error) => Err(Refusal::of(parameter, format!("{source:?} is no pattern: {error}"))),
        }
    }

    /// All places where it matches, as `re.finditer` of Python finds them: an empty match may follow a full one.
    ///
    /// # Errors
    /// If looking for them costs too much.
    pub fn find_all(&self, text: &str) -> Result<Vec<Range<usize>>, Refusal> {
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some(span) = self.find_from(text, from)? {
            from = if span.is_empty() { after(text, span.end) } else { span.end };
            found.push(span);
            if from > text.len() {
                break;
            }
        }
        Ok(found)
    }

    fn find_from(&self, text: &str, from: usize) -> Result<Option<Range<usize>>, Refusal> {
        match self.regex.find_from_pos(text, from) {
            Ok(found) => Ok(found.map(|found| found.start()..found.end())),
            Err(_) => Err(Refusal::text(format!("the pattern {:?} costs too much on this text", self.regex.as_str()))),
        }
    }
}

fn after(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
}

/// The same pattern where the two engines differ: a brace that counts nothing stands for itself, white space has four
/// characters more, and the end may come before a last line break.
fn translate(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 16);
    let (mut rest, mut in_class) = (source, false);
    while let Some(c) = rest.chars().next() {
        let (taken, written) = next(rest, in_class);
        match c {
            '[' if !in_class => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        out.push_str(&written);
        rest = &rest[taken..];
    }
    out
}

/// What comes next: how long it is, and what to write for it.
fn next(rest: &str, in_class: bool) -> (usize, String) {
    let same = |length: usize| (length, rest[..length].to_owned());
    if let Some(escaped) = rest.strip_prefix('\\') {
        return match escaped.chars().next() {
            Some('s') if in_class => (2, r"\s\x1c-\x1f".to_owned()),
            Some('s') => (2, r"[\s\x1c-\x1f]".to_owned()),
            Some('S') if !in_class => (2, r"[^\s\x1c-\x1f]".to_owned()),
            Some('Z') => (2, r"\z".to_owned()),
            Some(c) => same(1 + c.len_utf8()),
            None => same(1),
        };
    }
    match rest.chars().next() {
        Some('{') if !in_class && !counts(rest) => (1, r"\{".to_owned()),
        Some('}') if !in_class => same(1),
        Some('$') if !in_class => (1, r"(?=\n?\z)".to_owned()),
        Some(c) => same(c.len_utf8()),
        None => same(0),
    }
}

/// Whether a brace begins a count: `{2}`, `{2,}`, `{,3}`, `{2,3}`.
fn counts(rest: &str) -> bool {
    let Some((inside, _)) = rest[1..].split_once('}') else { return false };
    let numbers: Vec<_> = inside.split(',').collect();
    let digits = |text: &&str| text.bytes().all(|b| b.is_ascii_digit());
    numbers.len() <= 2 && numbers.iter().all(digits) && numbers.iter().any(|number| !number.is_empty())
}

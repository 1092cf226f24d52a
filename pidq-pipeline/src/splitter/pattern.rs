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

/// What Python takes for letters of words: no marks, and nothing that only joins.
const WORD: &str = r"\p{L}\p{N}_";
/// What Python takes for white space: four characters more.
const SPACE: &str = r"\s\x1c-\x1f";

/// The same pattern where the two engines differ: a brace that counts nothing stands for itself, white space and letters
/// of words are others, sets are not nested, and the end may come before a last line break.
fn translate(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 16);
    let by_lines = has_lines(source);
    let (mut rest, mut in_class) = (source, false);
    while let Some(c) = rest.chars().next() {
        let (taken, written) = match c {
            '[' if !in_class => set(rest),
            _ if in_class => of_set(rest),
            '$' if by_lines => (1, "$".to_owned()),
            _ => next(rest),
        };
        match c {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        out.push_str(&written);
        rest = &rest[taken..];
    }
    out
}

/// Whether `^` and `$` are those of lines: a group of flags has `m`.
fn has_lines(source: &str) -> bool {
    let flags = source.split("(?").skip(1).map(|rest| rest.split(|c: char| !c.is_ascii_lowercase()).next());
    flags.flatten().any(|flags| flags.contains('m'))
}

/// The beginning of a set; a bracket that would end it at once stands for itself.
fn set(rest: &str) -> (usize, String) {
    let head = if rest.starts_with("[^") { "[^" } else { "[" };
    match rest[head.len()..].starts_with(']') {
        true => (head.len() + 1, format!(r"{head}\]")),
        false => (head.len(), head.to_owned()),
    }
}

/// What comes next in a set: how long it is, and what to write for it.
fn of_set(rest: &str) -> (usize, String) {
    match rest.as_bytes() {
        [b'\\', b's', ..] => (2, SPACE.to_owned()),
        [b'\\', b'S', ..] => (2, format!("[^{SPACE}]")),
        [b'\\', b'w', ..] => (2, WORD.to_owned()),
        [b'\\', b'W', ..] => (2, format!("[^{WORD}]")),
        [b'\\', b'b', ..] => (2, r"\x08".to_owned()),
        [b'\\', ..] => same(rest, 1 + rest[1..].chars().next().map_or(0, char::len_utf8)),
        [b'-', b'-', ..] => (1, r"\-".to_owned()),
        [c @ (b'[' | b'&' | b'~'), ..] => (1, format!(r"\{}", *c as char)),
        _ => same(rest, rest.chars().next().map_or(0, char::len_utf8)),
    }
}

/// What comes next outside of sets.
fn next(rest: &str) -> (usize, String) {
    match rest.as_bytes() {
        [b'\\', b's', ..] => (2, format!("[{SPACE}]")),
        [b'\\', b'S', ..] => (2, format!("[^{SPACE}]")),
        [b'\\', b'w', ..] => (2, format!("[{WORD}]")),
        [b'\\', b'W', ..] => (2, format!("[^{WORD}]")),
        [b'\\', b'b', ..] => (2, format!("(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))")),
        [b'\\', b'B', ..] => (2, format!("(?:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))")),
        [b'\\', b'Z', ..] => (2, r"\z".to_owned()),
        [b'\\', ..] => same(rest, 1 + rest[1..].chars().next().map_or(0, char::len_utf8)),
        [b'{', ..] if !counts(rest) => (1, r"\{".to_owned()),
        [b'$', ..] => (1, r"(?=\n?\z)".to_owned()),
        _ => same(rest, rest.chars().next().map_or(0, char::len_utf8)),
    }
}

fn same(rest: &str, length: usize) -> (usize, String) {
    (length, rest[..length].to_owned())
}

/// Whether a brace begins a count: `{2}`, `{2,}`, `{,3}`, `{2,3}`.
fn counts(rest: &str) -> bool {
    let Some((inside, _)) = rest[1..].split_once('}') else { return false };
    let numbers: Vec<_> = inside.split(',').collect();
    let digits = |text: &&str| text.bytes().all(|b| b.is_ascii_digit());
    numbers.len() <= 2 && numbers.iter().all(digits) && numbers.iter().any(|number| !number.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where Python's `re.finditer` finds the pattern, in bytes.
    type Case = (&'static str, &'static str, &'static [(usize, usize)]);

    #[test]
    fn patterns_match_where_python_s_do() {
        let cases: &[Case] = &[
            (r"\w+", "na\u{308}h \u{6f22}_\u{b2}", &[(0, 2), (4, 5), (6, 12)]),
            (r"\W", "a\u{301}b \u{200d}", &[(1, 3), (4, 5), (5, 8)]),
            (r"[\w-]+", "P-101\u{200d} x", &[(0, 5), (9, 10)]),
            (r"[^\w]", "a\u{301} b", &[(1, 3), (3, 4)]),
            (r"\b", "a\u{301}b c", &[(0, 0), (1, 1), (3, 3), (4, 4), (5, 5), (6, 6)]),
            (r"\B", "ab c", &[(1, 1)]),
            (r"[]a]+", "x]a[", &[(1, 3)]),
            (r"[^]a]", "]ab", &[(2, 3)]),
            (r"[[a]+", "[a]b", &[(0, 2)]),
            (r"[a&&b]+", "a&b~", &[(0, 3)]),
            (r"[--b]+", "-a.c", &[(0, 3)]),
            (r"[~~b]", "~a", &[(0, 1)]),
            (r"(?m:$)", "a\u{a}b", &[(1, 1), (3, 3)]),
            (r"(?m)^", "a\u{a}b", &[(0, 0), (2, 2)]),
            (r"$", "a\u{a}b\u{a}", &[(3, 3), (4, 4)]),
            (r"[\b]", "a\u{8}b", &[(1, 2)]),
            (r"[\S]+", "a\u{1c}b c", &[(0, 1), (2, 3), (4, 5)]),
            (r"[\W]", "a\u{301}", &[(1, 3)]),
            (r"[$]", "a$", &[(1, 2)]),
            (r"x{2", "x{2", &[(0, 3)]),
            (r"[\]{]+", "]{a", &[(0, 2)]),
            (r"[\s]+", "a\u{1c} b", &[(1, 3)]),
        ];
        for (pattern, text, expected) in cases {
            let found = Pattern::new("separator", pattern).and_then(|pattern| pattern.find_all(text));
            let found = found.map(|spans| spans.into_iter().map(|span| (span.start, span.end)).collect::<Vec<_>>());
            assert_eq!(found.as_deref(), Ok(*expected), "{pattern} in {text:?}");
        }
    }
}

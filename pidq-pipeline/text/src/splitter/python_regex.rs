//! Python regular expressions, translated to the syntax of `fancy_regex`.

use std::ops::Range;

use fancy_regex::{Regex, RegexBuilder};

use super::SplitError;

/// Backtracking limit of one search: far more than a sensible separator needs, and a bound for hostile ones.
const BACKTRACK_LIMIT: usize = 200_000;

/// Maximum size of a pattern in bytes.
const MAX_PATTERN_SIZE: usize = 1_000;

/// A compiled pattern.
#[derive(Debug)]
pub struct Pattern {
    regex: Regex,
}

impl Pattern {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// Fails if the pattern is invalid or too long.
    pub fn new(parameter: &str, source: &str) -> Result<Pattern, SplitError> {
        if source.len() > MAX_PATTERN_SIZE {
            return Err(SplitError::parameter(
                parameter,
                format!("a pattern must not exceed {MAX_PATTERN_SIZE} bytes"),
            ));
        }
        let mut builder = RegexBuilder::new(&translate(source));
        builder.backtrack_limit(BACKTRACK_LIMIT).delegate_size_limit(1 << 20).delegate_dfa_size_limit(4 << 20);
        match builder.build() {
            Ok(regex) => Ok(Pattern { regex }),
            Err(error) => {
                Err(SplitError::parameter(parameter, format!("{source:?} is not a valid regular expression: {error}")))
            }
        }
    }

    /// Returns all matches, as Python's `re.finditer`: an empty match may follow another match.
    ///
    /// # Errors
    /// Fails if the search exceeds the backtracking limit.
    pub fn find_all(&self, text: &str) -> Result<Vec<Range<usize>>, SplitError> {
        let (mut matches, mut start) = (Vec::new(), 0);
        while let Some(span) = self.find_from(text, start)? {
            start = if span.is_empty() { next_char_boundary(text, span.end) } else { span.end };
            matches.push(span);
            if start > text.len() {
                break;
            }
        }
        Ok(matches)
    }

    fn find_from(&self, text: &str, start: usize) -> Result<Option<Range<usize>>, SplitError> {
        match self.regex.find_from_pos(text, start) {
            Ok(found) => Ok(found.map(|found| found.start()..found.end())),
            Err(_) => Err(SplitError::text(format!(
                "the pattern {:?} exceeds the backtracking limit on this text",
                self.regex.as_str()
            ))),
        }
    }
}

fn next_char_boundary(text: &str, index: usize) -> usize {
    index + text[index..].chars().next().map_or(1, char::len_utf8)
}

/// Python's word characters: without combining marks and joiners.
const WORD: &str = r"\p{L}\p{N}_";
/// Python's white space: four more characters than Rust's.
const SPACE: &str = r"\s\x1c-\x1f";

/// Translates a pattern where the engines differ: a brace that is not a quantifier is literal, white space and word
/// characters differ, character classes do not nest, and `$` matches before a final line break.
fn translate(source: &str) -> String {
    let mut out = String::with_capacity(source.len() + 16);
    let is_multiline = has_multiline_flag(source);
    let (mut remaining, mut in_class) = (source, false);
    while let Some(c) = remaining.chars().next() {
        let (length, translation) = match c {
            '[' if !in_class => class_start(remaining),
            _ if in_class => class_item(remaining),
            '$' if is_multiline => (1, "$".to_owned()),
            _ => item(remaining),
        };
        match c {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
        out.push_str(&translation);
        remaining = &remaining[length..];
    }
    out
}

/// Returns whether a flag group contains `m`.
fn has_multiline_flag(source: &str) -> bool {
    let flags = source.split("(?").skip(1).map(|rest| rest.split(|c: char| !c.is_ascii_lowercase()).next());
    flags.flatten().any(|flags| flags.contains('m'))
}

/// Translates the start of a character class; a closing bracket directly after it is literal.
fn class_start(pattern: &str) -> (usize, String) {
    let head = if pattern.starts_with("[^") { "[^" } else { "[" };
    match pattern[head.len()..].starts_with(']') {
        true => (head.len() + 1, format!(r"{head}\]")),
        false => (head.len(), head.to_owned()),
    }
}

/// Translates the next item of a character class. Returns the length of the item and its translation.
fn class_item(pattern: &str) -> (usize, String) {
    match pattern.as_bytes() {
        [b'\\', b's', ..] => (2, SPACE.to_owned()),
        [b'\\', b'S', ..] => (2, format!("[^{SPACE}]")),
        [b'\\', b'w', ..] => (2, WORD.to_owned()),
        [b'\\', b'W', ..] => (2, format!("[^{WORD}]")),
        [b'\\', b'b', ..] => (2, r"\x08".to_owned()),
        [b'\\', ..] => unchanged(pattern, 1 + pattern[1..].chars().next().map_or(0, char::len_utf8)),
        [b'-', b'-', ..] => (1, r"\-".to_owned()),
        [c @ (b'[' | b'&' | b'~'), ..] => (1, format!(r"\{}", *c as char)),
        _ => unchanged(pattern, pattern.chars().next().map_or(0, char::len_utf8)),
    }
}

/// Translates the next item outside character classes.
fn item(pattern: &str) -> (usize, String) {
    match pattern.as_bytes() {
        [b'\\', b's', ..] => (2, format!("[{SPACE}]")),
        [b'\\', b'S', ..] => (2, format!("[^{SPACE}]")),
        [b'\\', b'w', ..] => (2, format!("[{WORD}]")),
        [b'\\', b'W', ..] => (2, format!("[^{WORD}]")),
        [b'\\', b'b', ..] => (2, format!("(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))")),
        [b'\\', b'B', ..] => (2, format!("(?:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))")),
        [b'\\', b'Z', ..] => (2, r"\z".to_owned()),
        [b'\\', ..] => unchanged(pattern, 1 + pattern[1..].chars().next().map_or(0, char::len_utf8)),
        [b'{', ..] if !is_quantifier(pattern) => (1, r"\{".to_owned()),
        [b'$', ..] => (1, r"(?=\n?\z)".to_owned()),
        _ => unchanged(pattern, pattern.chars().next().map_or(0, char::len_utf8)),
    }
}

fn unchanged(pattern: &str, length: usize) -> (usize, String) {
    (length, pattern[..length].to_owned())
}

/// Returns whether a brace starts a quantifier: `{2}`, `{2,}`, `{,3}`, `{2,3}`.
fn is_quantifier(pattern: &str) -> bool {
    let Some((inside, _)) = pattern[1..].split_once('}') else { return false };
    let numbers: Vec<_> = inside.split(',').collect();
    let digits = |text: &&str| text.bytes().all(|b| b.is_ascii_digit());
    numbers.len() <= 2 && numbers.iter().all(digits) && numbers.iter().any(|number| !number.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pattern, text, and the matches of Python's `re.finditer` as byte ranges.
    type Case = (&'static str, &'static str, &'static [(usize, usize)]);

    #[test]
    fn patterns_match_as_in_python() {
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

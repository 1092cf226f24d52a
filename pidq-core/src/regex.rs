//! ECMAScript regular expressions, for `regex`, `match` and `matchAll`.
//!
//! A pattern is parsed into a tree. Nearly all patterns run on the `regex` crate, in linear time. Lookaround and
//! back-references run on a backtracking engine of this crate, which behaves like JavaScript but stops with `PQ4006` at
//! a limit; it also runs very deep patterns, and patterns with unusual empty rounds if captures are needed. On short
//! ASCII texts, unambiguous patterns run on a one-pass matcher. Text is matched by code points, also without the flag
//! `u`.

mod backtrack;
mod flags;
mod linear_engine;
mod one_pass;
mod parse;
mod program;
mod properties;
mod set;
mod tree;

use std::ops::Range;

pub(crate) use backtrack::BacktrackBudget;
use flags::Flags;
use linear_engine::{LinearEngine, Spans};
pub(crate) use one_pass::{Bounds, MAX_TEXT_LEN, NO_BOUNDS, OnePass};
use parse::PatternError;
use program::Program;
use tree::{Assert, Node};

use crate::error::{Code, Error, Result};

/// Size of a pattern in bytes.
const MAX_PATTERN: usize = 4 << 10;
/// Maximum number of characters of a pattern in an error message.
const MAX_SHOWN_CHARS: usize = 80;

/// A compiled regular expression.
#[derive(Debug)]
pub(crate) struct Regex {
    engine: Engine,
    /// For short texts, if the pattern is unambiguous.
    one_pass: Option<OnePass>,
    flags: Flags,
    names: Vec<Option<String>>,
    cost: u64,
}

#[derive(Debug)]
enum Engine {
    Linear(LinearEngine),
    Backtracking(Program),
    /// The linear engine may deviate as described by the third field; the program then replaces it.
    Both(LinearEngine, Program, LinearDeviations),
}

/// Constructs of a pattern that the linear engine treats differently than JavaScript.
#[derive(Clone, Copy, Debug)]
struct LinearDeviations {
    /// Assertions about lines, or about words with the flags `i` and `u`: wrong for a few characters in the text.
    assertions: bool,
    /// Empty rounds of repetitions: the start of the match is right, but its end may be wrong.
    empty_rounds: bool,
}

impl Regex {
    /// Compiles a pattern with JavaScript flags: `PQ1007` for a malformed or too large pattern, `PQ1008` for bad flags.
    pub fn new(pattern: &str, flags: &str) -> Result<Regex> {
        let parsed_flags = Flags::parse(flags)?;
        if pattern.len() > MAX_PATTERN {
            let message = format!("longer than {MAX_PATTERN} bytes");
            return Err(Error::new(Code::BadRegex, error_message(pattern, flags, &message)));
        }
        let parsed = parse::parse(pattern, parsed_flags).map_err(|error| bad_pattern(pattern, flags, error))?;
        let engine = Engine::new(&parsed.node, &parsed.names, parsed_flags).ok_or_else(|| {
            let error = Error::new(Code::BadRegex, error_message(pattern, flags, "too large when compiled"));
            error.with_help("use smaller repetition counts")
        })?;
        let is_linear = matches!(engine, Engine::Linear(_));
        let one_pass = if is_linear { OnePass::new(&parsed.node, parsed.names.len()) } else { None };
        Ok(Regex { engine, one_pass, flags: parsed_flags, names: parsed.names, cost: parsed.node.size() })
    }

    /// Returns the one-pass matcher if it accepts the text.
    #[inline]
    fn one_pass_for(&self, text: &str) -> Option<&OnePass> {
        self.one_pass.as_ref().filter(|_| OnePass::accepts(text))
    }

    /// Returns the one-pass matcher if it applies to every short ASCII text.
    pub fn as_one_pass(&self) -> Option<&OnePass> {
        self.one_pass.as_ref().filter(|_| !self.flags.sticky)
    }

    /// Returns true if `text` has a match. `PQ4006` after too many backtracks.
    pub fn is_match(&self, text: &str, budget: &mut BacktrackBudget) -> Result<bool> {
        if let Some(one_pass) = self.one_pass_for(text).filter(|_| !self.flags.sticky) {
            let mut bounds = NO_BOUNDS;
            return Ok(one_pass.find(text.as_bytes(), 0, &mut bounds));
        }
        match &self.engine {
            Engine::Linear(linear) if !self.flags.sticky => Ok(linear.is_match(text)),
            Engine::Both(linear, _, deviations) if !self.flags.sticky && !deviations.affects(text) => {
                Ok(linear.is_match(text))
            }
            _ => Ok(self.captures(text, 0, budget)?.is_some()),
        }
    }

    /// Returns the first match at or after the byte `start`; with the flag `y`, exactly there. `PQ4006` as for
    /// `is_match`.
    ///
    /// Returns none if `start` is beyond the text.
    pub fn captures(&self, text: &str, start: usize, budget: &mut BacktrackBudget) -> Result<Option<Captures>> {
        if !text.is_char_boundary(start) {
            return Ok(None);
        }
        let found = match self.one_pass_for(text) {
            Some(one_pass) => {
                let mut bounds = NO_BOUNDS;
                let is_found = one_pass.find(text.as_bytes(), start, &mut bounds);
                is_found.then(|| Captures::from_one_pass(one_pass, &bounds))
            }
            None => self.spans(text, start, budget)?.and_then(Captures::new),
        };
        Ok(found.filter(|found| !self.flags.sticky || found.range().start == start))
    }

    /// Returns the span of each group.
    fn spans(&self, text: &str, start: usize, budget: &mut BacktrackBudget) -> Result<Option<Spans>> {
        Ok(match &self.engine {
            Engine::Linear(linear) => linear.captures(text, start),
            Engine::Both(linear, program, deviations) if !deviations.affects(text) => match linear.find(text, start) {
                Some(found) if deviations.empty_rounds => backtrack::search(program, text, found, budget)?,
                Some(_) => linear.captures(text, start),
                None => None,
            },
            Engine::Both(_, program, _) | Engine::Backtracking(program) => {
                backtrack::search(program, text, start, budget)?
            }
        })
    }

    /// Returns the names of the groups, beginning with group 1. A name may occur twice, in branches that exclude each
    /// other.
    pub fn group_names(&self) -> &[Option<String>] {
        &self.names
    }

    /// Returns the size in bytes, rounded up; at most `MAX_REGEX_SIZE` for each engine.
    pub fn size(&self) -> usize {
        let program = usize::try_from(self.cost).unwrap_or(usize::MAX).saturating_mul(program::STEP_SIZE);
        match &self.engine {
            Engine::Linear(linear) => linear.size(),
            Engine::Backtracking(_) => program,
            Engine::Both(linear, ..) => linear.size().saturating_add(program),
        }
    }

    /// Returns the number of steps of the program, approximately.
    pub fn program_size(&self) -> u64 {
        self.cost
    }

    /// Returns the approximate cost of a search in a text of `len` bytes: its length times the size of the compiled form.
    #[inline]
    pub fn search_cost(&self, len: usize) -> u64 {
        (len as u64).saturating_mul(self.cost) / 64 + 1
    }
}

impl Engine {
    /// Returns `None` if the compiled form is too large.
    fn new(node: &Node, names: &[Option<String>], flags: Flags) -> Option<Engine> {
        let program = || Program::new(node, names, flags);
        if linear_engine::is_too_deep(node) || node.any(&|part| matches!(part, Node::Lookaround(_) | Node::Backref(_)))
        {
            return program().map(Engine::Backtracking);
        }
        let linear = LinearEngine::new(node, names.len(), flags)?;
        match LinearDeviations::new(node, flags) {
            LinearDeviations { assertions: false, empty_rounds: false } => Some(Engine::Linear(linear)),
            deviations => Some(Engine::Both(linear, program()?, deviations)),
        }
    }
}

impl LinearDeviations {
    fn new(node: &Node, flags: Flags) -> LinearDeviations {
        let assertions = node.any(&|part| match part {
            Node::Assert(Assert::LineStart | Assert::LineEnd) => true,
            Node::Assert(Assert::Word | Assert::NotWord) => flags.folds_unicode(),
            _ => false,
        });
        let rounds = node.any(&|part| matches!(part, Node::Repeat(repeat) if repeat.has_unusual_empty_rounds()));
        LinearDeviations { assertions, empty_rounds: rounds }
    }

    /// Returns true if assertions may be wrong for this text: it has a line terminator other than `\n`, or a
    /// letter outside ASCII that folds to a word character.
    fn affects(self, text: &str) -> bool {
        self.assertions && text.contains(['\r', '\u{2028}', '\u{2029}', '\u{17F}', '\u{212A}'])
    }
}

/// Formats a message that begins like V8's.
fn error_message(pattern: &str, flags: &str, reason: &str) -> String {
    let shown: String = pattern.chars().take(MAX_SHOWN_CHARS).collect();
    let ellipsis = if shown.len() < pattern.len() { "…" } else { "" };
    format!("Invalid regular expression: /{shown}{ellipsis}/{flags}: {reason}")
}

fn bad_pattern(pattern: &str, flags: &str, pattern_error: PatternError) -> Error {
    let reason = format!("{} (at character {})", pattern_error.message, pattern_error.at + 1);
    let error = Error::new(Code::BadRegex, error_message(pattern, flags, &reason));
    match pattern_error.help {
        Some(help) => error.with_help(help),
        None => error,
    }
}

/// A match: a byte range for each group.
#[derive(Debug)]
pub(crate) struct Captures {
    overall: Range<usize>,
    groups: Groups,
}

#[derive(Debug)]
enum Groups {
    /// From group 0.
    Spans(Spans),
    /// From group 1: their number and ranges; all of them have matched.
    Inline(usize, [Range<u8>; INLINE_GROUPS]),
}

/// Number of groups that are stored inline.
const INLINE_GROUPS: usize = 8;

impl Captures {
    fn new(groups: Spans) -> Option<Captures> {
        let overall = groups.first()?.clone()?;
        Some(Captures { overall, groups: Groups::Spans(groups) })
    }

    fn from_one_pass(one_pass: &OnePass, bounds: &Bounds) -> Captures {
        let mut inline = [const { 0..0 }; INLINE_GROUPS];
        inline.iter_mut().zip(one_pass.groups(bounds)).for_each(|(group, found)| *group = found);
        Captures { overall: one_pass.match_range(bounds), groups: Groups::Inline(one_pass.group_count(), inline) }
    }

    /// Returns the range of the overall match.
    pub fn range(&self) -> Range<usize> {
        self.overall.clone()
    }

    /// Returns the range of a group: `None` if it did not match. Group 0 is the overall match.
    pub fn get(&self, group: usize) -> Option<Range<usize>> {
        match &self.groups {
            Groups::Spans(spans) => spans.get(group)?.clone(),
            Groups::Inline(..) if group == 0 => Some(self.overall.clone()),
            Groups::Inline(count, inline) => {
                let found = inline[..*count].get(group - 1)?;
                Some(usize::from(found.start)..usize::from(found.end))
            }
        }
    }

    /// Returns the start of the search for the next match: after this one, and one character further if this one is
    /// empty.
    ///
    /// Beyond the text if there is no next one.
    pub fn next_start(&self, text: &str) -> usize {
        let end = self.overall.end;
        if !self.overall.is_empty() {
            return end;
        }
        let next = text.get(end..).and_then(|rest| rest.chars().next());
        end + next.map_or(1, char::len_utf8)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn budget() -> BacktrackBudget {
        BacktrackBudget::new(1_000_000)
    }
    const CASES: &str = include_str!("../../tests/data/regex/cases.json");

    /// Intended deviations from JavaScript: pattern and reason.
    const DEVIATIONS: &[(&str, &str)] = &[
        ("^.$", "text is matched by code points, not by UTF-16 units, also without the flag `u`"),
        ("..", "text is matched by code points, not by UTF-16 units, also without the flag `u`"),
        (r"\u{110000}", "110,000 times `u` is larger than we allow"),
        ("a{99999999999}", "is larger than we allow"),
        ("(?:a()|b)*", "an empty group right before the last round is taken for a part of that round"),
        (r"\p{RGI_Emoji}", "properties of strings are not supported"),
        (r"[\q{ab}]", r"`\q{..}` is not supported"),
    ];

    /// Returns a match in the form of the test cases.
    fn match_json(regex: &Regex, text: &str, found: &Captures) -> Value {
        let part = |group: usize| found.get(group).map(|range| &text[range]);
        let groups: Vec<Value> = (1..=regex.group_names().len()).map(|group| json!(part(group))).collect();
        let mut named = serde_json::Map::new();
        for (name, group) in regex.group_names().iter().zip(1..) {
            if let Some(name) = name {
                named.insert(name.clone(), json!(part(group)));
            }
        }
        let index = text[..found.range().start].encode_utf16().count();
        json!({"value": part(0), "index": index, "groups": groups, "named": named})
    }

    fn run(pattern: &str, flags: &str, text: &str) -> Value {
        let Ok(regex) = Regex::new(pattern, flags) else { return json!({"error": true}) };
        let found = regex.captures(text, 0, &mut budget()).expect("the cases backtrack little");
        assert_eq!(regex.is_match(text, &mut budget()).expect("the cases backtrack little"), found.is_some());
        found.map_or(Value::Null, |found| match_json(&regex, text, &found))
    }

    fn code(pattern: &str, flags: &str) -> Code {
        Regex::new(pattern, flags).expect_err(pattern).code()
    }

    fn message(pattern: &str) -> String {
        Regex::new(pattern, "").expect_err(pattern).to_string()
    }

    /// Returns all matches as `matchAll` does.
    fn all(pattern: &str, flags: &str, text: &str) -> Vec<Range<usize>> {
        let regex = Regex::new(pattern, flags).expect(pattern);
        let (mut start, mut found) = (0, Vec::new());
        while let Some(captures) = regex.captures(text, start, &mut budget()).expect("backtracks little") {
            found.push(captures.range());
            start = captures.next_start(text);
        }
        found
    }

    #[test]
    fn patterns_match_as_in_javascript() {
        let cases: Vec<Value> = serde_json::from_str(CASES).expect("the cases are JSON");
        assert!(cases.len() > 3_000);
        for case in &cases {
            let field = |name: &str| case[name].as_str().expect("a text");
            let (pattern, flags, text) = (field("pattern"), field("flags"), field("text"));
            if !DEVIATIONS.iter().any(|(known, _)| *known == pattern) {
                assert_eq!(run(pattern, flags, text), case["expected"], "/{pattern}/{flags} on {text:?}");
            }
        }
    }

    #[test]
    fn the_one_pass_engine_matches_like_the_others() {
        let patterns = [
            "^GV-1[0-9]+A$",
            "([A-Z]+)-([0-9]+)",
            "[0-9]",
            "a*b",
            "^a?b{2,3}",
            "(a)(b*)c",
            "x*",
            "",
            "^$",
            "[^-]+-?$",
            "a{2}",
            "a{0}b",
            r"\w+\s\d*",
            "(?<n>a+)b",
            "(a*)$",
            "a+?b",
            "a+a",
            "[ab]*(c)",
            ".*x",
            "(x?)(y?)(z?)",
            "^",
        ];
        let texts = [
            "", "a", "b", "ab", "aab", "aabb", "GV-12A", "GV-1A", "xGV-12A", "T-10", "w 1", "aaac", "bbbab c", "xyz-",
            "é", "aé b",
        ];
        let mut one_pass_count = 0;
        for (pattern, flags) in patterns.into_iter().flat_map(|pattern| [(pattern, ""), (pattern, "i"), (pattern, "y")])
        {
            let regex = Regex::new(pattern, flags).expect(pattern);
            one_pass_count += usize::from(regex.one_pass.is_some());
            let plain = Regex { one_pass: None, ..Regex::new(pattern, flags).expect(pattern) };
            for (text, start) in texts.into_iter().flat_map(|text| (0..=text.len() + 1).map(move |start| (text, start)))
            {
                let found = |regex: &Regex| {
                    let found = regex.captures(text, start, &mut budget()).expect("no backtracks");
                    found.map(|found| (0..4).map(|group| found.get(group)).collect::<Vec<_>>())
                };
                assert_eq!(found(&regex), found(&plain), "/{pattern}/{flags} on {text:?} from {start}");
                let is_match = |regex: &Regex| regex.is_match(text, &mut budget()).expect("no backtracks");
                assert_eq!(is_match(&regex), is_match(&plain), "/{pattern}/{flags} on {text:?}");
            }
        }
        assert!(one_pass_count > 50, "{one_pass_count}");
    }

    #[test]
    fn text_is_matched_by_code_points() {
        assert_eq!(run("^.$", "", "😀")["value"], "😀");
        assert_eq!(run("..", "", "😀"), Value::Null);
        assert_eq!(run(r"[\ud800-\udbff]", "", "😀"), Value::Null);
        assert_eq!(all("", "", "a😀"), [0..0, 1..1, 5..5]);
    }

    #[test]
    fn a_name_may_be_repeated_in_another_branch() {
        let expected = json!({"value": "y", "index": 0, "groups": [null, "y"], "named": {"a": "y"}});
        assert_eq!(run("(?<a>x)|(?<a>y)", "", "y"), expected);
        assert_eq!(run(r"(?:(?<a>x)|(?<a>y))\k<a>", "", "xyy")["value"], "yy");
        assert_eq!(code("(?:(?<a>x)|b)(?<a>y)", ""), Code::BadRegex);
    }

    #[test]
    fn an_empty_group_before_the_last_round_is_kept() {
        assert_eq!(run("(?:a()|b)*", "", "ab")["groups"], json!([""]));
        assert_eq!(run("(?:a(x*)|b)*", "", "axb")["groups"], json!([null]));
    }

    #[test]
    fn all_matches_are_found() {
        assert_eq!(all(r"\d+", "", "1a22"), [0..1, 2..4]);
        assert_eq!(all("a*", "", "baa"), [0..0, 1..3, 3..3]);
        assert_eq!(all("(?<=a)b", "", "abab"), [1..2, 3..4]);
        assert_eq!(all("^a", "m", "aa\na"), [0..1, 3..4]);
        assert_eq!(all("a", "y", "aaba"), [0..1, 1..2]);
        assert_eq!(all("(?=a)a", "y", "aaba"), [0..1, 1..2]);
    }

    #[test]
    fn a_start_outside_the_text_or_inside_a_character_finds_nothing() {
        for (pattern, start) in [("", 4), ("", 1), ("(?=)", 4), ("(?=)", 1)] {
            let regex = Regex::new(pattern, "").expect("a pattern");
            assert!(regex.captures("é", start, &mut budget()).expect("no backtracks").is_none());
        }
    }

    #[test]
    fn errors_have_a_message_and_a_position() {
        let star = "PQ1007: Invalid regular expression: /a**/: Nothing to repeat (at character 3); \
            to match the character itself, put `\\\\` before it in the string";
        assert_eq!(message("a**"), star);
        assert!(message("x(a").contains("Unterminated group (at character 2)"));
        assert!(message(&"(".repeat(200)).contains(&format!("/{}…/", "(".repeat(80))));
        assert_eq!(code("a", "q"), Code::BadRegexFlag);
        assert_eq!(code("a", "gg"), Code::BadRegexFlag);
        assert_eq!(code("a", "uv"), Code::BadRegexFlag);
    }

    #[test]
    fn large_patterns_are_rejected() {
        let long = "a".repeat(MAX_PATTERN + 1);
        let deep = |levels: usize| "(".repeat(levels) + &")".repeat(levels);
        for pattern in ["(a{1000}){1000}", "(?=(a{1000}){1000})", "(?:(?:){1000000000}a){1000000}", &long, &deep(51)] {
            assert_eq!(code(pattern, ""), Code::BadRegex, "{pattern}");
        }
        let doubling = format!("(?=){}a*{}", "(?:".repeat(49), ")+".repeat(49));
        assert_eq!(code(&doubling, ""), Code::BadRegex);
        assert_eq!(code(&"[".repeat(60), "v"), Code::BadRegex);
        let heavy = |count| (0..count).map(|n| format!(r"[\p{{L}}{}]", char::from(n + b'0'))).collect::<String>();
        assert_eq!(code(&format!("(?={})", heavy(40)), "u"), Code::BadRegex);
        assert!(Regex::new(r"(?=\p{L}{500})", "u").is_ok());
        assert!(Regex::new(&deep(50), "").is_ok());
    }

    #[test]
    fn deep_patterns_need_little_stack() {
        let nested = |open: &str, close: &str, levels| format!("{}a{}", open.repeat(levels), close.repeat(levels));
        let pairs = [("(", ")"), ("(?:b|", ")*?"), ("(b|", "|)*"), ("(?=", ")"), ("(?<!b|", ")"), ("[", "]")];
        let more = [("(?:[ab]", ")+"), ("(x", "y){1,2}"), ("(?:a|b|(", "))"), (r"(\b^", "$)?"), ("(?:", "b*)*c")];
        let pairs = pairs.into_iter().chain(more);
        let patterns: Vec<String> = pairs
            .flat_map(|(open, close)| [1, 2, 3, 4, 5, 6, 8, 12, 24, 36, 50].map(|levels| nested(open, close, levels)))
            .collect();
        let body = move || patterns.iter().for_each(|pattern| drop(run(pattern, "v", "aab")));
        let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(body).expect("a thread");
        thread.join().expect("no overflow");
    }

    #[test]
    fn plain_patterns_take_linear_time() {
        let text = "a".repeat(20_000) + "!";
        for pattern in ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(a*)*b", "(?:a?){50}a{50}b", "^(([a-z])+.)+[A-Z]$"] {
            let regex = Regex::new(pattern, "").expect(pattern);
            assert!(matches!(regex.engine, Engine::Linear(_)), "{pattern}");
            assert!(!regex.is_match(&text, &mut BacktrackBudget::new(0)).expect("no backtracks"), "{pattern}");
        }
    }

    #[test]
    fn testing_a_plain_pattern_takes_linear_time() {
        let text = "a".repeat(20_000) + "!";
        for pattern in ["^(|a)+$", "^(?:(|a){2,3}a)+$", "^(?:(a*){1,3}){1,3}b"] {
            let regex = Regex::new(pattern, "").expect(pattern);
            assert!(!regex.is_match(&text, &mut BacktrackBudget::new(0)).expect("no backtracks"), "{pattern}");
            assert!(
                regex.captures(&text, 0, &mut BacktrackBudget::new(0)).expect("no backtracks").is_none(),
                "{pattern}"
            );
        }
    }

    #[test]
    fn branches_with_a_common_prefix_keep_their_order() {
        assert_eq!(run(".*a|.*[ab]", "", "abbab")["value"], "abba");
        assert_eq!(run("(?:x|xy)z?1|(?:x|xy)z?2", "", "xyz2")["value"], "xyz2");
        assert_eq!(run("(?:b.*1|b.*2|b.*3)", "", "ab123")["value"], "b1");
    }

    #[test]
    fn backtracking_is_bounded() {
        let text = "a".repeat(100_000);
        for pattern in [r"^(?=(a+)+$)b", r"(?=(a+)+b)", r"(?=.*x)q", r"(?:a(?:(?=.*x)|))*b", r"(a*)\1b", r"(?<=b.*)c"] {
            let regex = Regex::new(pattern, "").expect(pattern);
            let error = regex.is_match(&text, &mut BacktrackBudget::new(10_000)).expect_err(pattern);
            assert_eq!(error.code(), Code::RegexBacktracking, "{pattern}");
            assert_eq!(error.limit(), Some(("backtracks", 10_000)), "{pattern}");
        }
    }

    #[test]
    fn lookaround_runs_on_long_texts() {
        let text = "a".repeat(1_000_000) + "b";
        for pattern in ["(?<!b)b", "(?=b)b", "(?!a)."] {
            assert_eq!(run(pattern, "", &text)["index"], 1_000_000, "{pattern}");
        }
    }
}

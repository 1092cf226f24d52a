//! Linear-time engine: translates a pattern for the `regex` crate.
//!
//! That crate chooses the same match as JavaScript, but its groups keep captures of earlier rounds of a repetition. So
//! a repetition that needs it gets a group of its own, the *round*: captures outside the last round are cleared.

use std::ops::Range;

use regex::RegexBuilder;

use super::flags::Flags;
use super::set::NOTHING;
use super::tree::{Assert, Node, Repeat};
use crate::limits::MAX_REGEX_SIZE;

/// Size limits of a compiled pattern in bytes. The smallest sufficient one is recorded as its size.
const SIZES: [usize; 3] = [MAX_REGEX_SIZE >> 6, MAX_REGEX_SIZE >> 3, MAX_REGEX_SIZE];

/// A range of the text for each group, from group 0.
pub(super) type Spans = Vec<Option<Range<usize>>>;

/// A pattern compiled by the `regex` crate.
#[derive(Debug)]
pub(super) struct LinearEngine {
    regex: regex::Regex,
    /// For each group of the pattern its number in `regex`; 0 for a group that cannot match.
    groups: Vec<usize>,
    rounds: Vec<Round>,
    size: usize,
}

#[derive(Debug)]
struct Round {
    /// The number of its group in `regex`.
    group: usize,
    /// The groups of the pattern inside.
    inside: Range<usize>,
    /// True if JavaScript rejects an empty round.
    optional: bool,
}

impl LinearEngine {
    /// Returns `None` if the compiled form is too large.
    pub fn new(node: &Node, group_count: usize, flags: Flags) -> Option<LinearEngine> {
        let mut printer =
            Printer { text: String::new(), next: 1, groups: vec![0; group_count + 1], rounds: Vec::new() };
        printer.print(node);
        let mut builder = RegexBuilder::new(&printer.text);
        builder.case_insensitive(flags.folds_unicode()).dfa_size_limit(MAX_REGEX_SIZE);
        let mut fitting = SIZES.into_iter().filter_map(|size| Some((builder.size_limit(size).build().ok()?, size)));
        let (regex, size) = fitting.next()?;
        Some(LinearEngine { regex, groups: printer.groups, rounds: printer.rounds, size })
    }

    /// Returns the size in bytes, rounded up.
    pub fn size(&self) -> usize {
        self.size
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// Returns the start of the first match at or after `start`.
    pub fn find(&self, text: &str, start: usize) -> Option<usize> {
        Some(self.regex.find_at(text, start)?.start())
    }

    /// Returns the first match at or after `start`, which is at most the length of `text`.
    pub fn captures(&self, text: &str, start: usize) -> Option<Spans> {
        let found = self.regex.captures_at(text, start)?;
        let span = |group: usize| found.get(group).map(|part| part.range());
        let of = |&group: &usize| if group == 0 { None } else { span(group) };
        let mut spans: Spans = self.groups.iter().map(of).collect();
        for round in &self.rounds {
            if let Some(last) = span(round.group) {
                round.clear_earlier_rounds(&last, &mut spans);
            }
        }
        if let Some(overall) = spans.first_mut() {
            *overall = span(0);
        }
        Some(spans)
    }
}

impl Round {
    fn clear_earlier_rounds(&self, last: &Range<usize>, spans: &mut Spans) {
        let is_rejected = self.optional && last.is_empty();
        for span in spans.iter_mut().take(self.inside.end).skip(self.inside.start) {
            let is_inside = |span: &Range<usize>| last.start <= span.start && span.end <= last.end;
            if is_rejected || !span.as_ref().is_some_and(is_inside) {
                *span = None;
            }
        }
    }
}

/// KiB of stack that the crate may use below its first level. In a debug build it uses 115 without any nesting.
const MAX_STACK: u64 = 100;

/// Returns true if compiling the pattern would overflow the crate's part of a 256 KiB stack in a debug build.
pub(super) fn is_too_deep(node: &Node) -> bool {
    stack(node) > MAX_STACK
}

/// Estimates the stack of the crate for a node in KiB, from measurements.
fn stack(node: &Node) -> u64 {
    let deepest = |parts: &[Node]| parts.iter().map(stack).max().unwrap_or(0);
    match node {
        Node::Group(_, body) => 3 + stack(body),
        Node::Concat(parts) => 4 + deepest(parts),
        Node::Alt(branches) => 9 + deepest(branches),
        Node::Repeat(repeat) => 16 + stack(&repeat.body),
        _ => 0,
    }
}

struct Printer {
    text: String,
    next: usize,
    groups: Vec<usize>,
    rounds: Vec<Round>,
}

impl Printer {
    fn print(&mut self, node: &Node) {
        match node {
            Node::Char(c) => self.text.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
            Node::Class(class) => self.text.push_str(&class.rust),
            Node::Assert(assert) => self.text.push_str(assertion(*assert)),
            Node::Group(number, body) => self.group(*number, body),
            Node::Concat(parts) => parts.iter().for_each(|part| self.print(part)),
            Node::Alt(branches) => self.branches(branches),
            Node::Repeat(repeat) => self.repeat(repeat),
            Node::Empty | Node::Lookaround(_) | Node::Backref(_) => self.text.push_str("(?:)"),
        }
    }

    fn open(&mut self) -> usize {
        self.text.push('(');
        self.next += 1;
        self.next - 1
    }

    fn group(&mut self, number: usize, body: &Node) {
        let group = self.open();
        if let Some(slot) = self.groups.get_mut(number) {
            *slot = group;
        }
        self.print(body);
        self.text.push(')');
    }

    fn branches(&mut self, branches: &[Node]) {
        self.text.push_str("(?:");
        // The crate would merge `.*a|.*b` into `.*(?:a|b)`, which prefers another match. An empty group prevents that.
        if branches.iter().all(Node::has_choices) {
            self.open();
            self.text.push(')');
        }
        for (at, branch) in branches.iter().enumerate() {
            self.text.push_str(if at > 0 { "|" } else { "" });
            self.print(branch);
        }
        self.text.push_str(if branches.is_empty() { NOTHING } else { "" });
        self.text.push(')');
    }

    fn repeat(&mut self, repeat: &Repeat) {
        let replaced = repeat.linear_body();
        let body = replaced.as_ref().unwrap_or(&repeat.body);
        let optional = repeat.min == 0 && body.is_nullable();
        let keeps = repeat.max != Some(1) && !body.sets_all_groups();
        if !repeat.groups.is_empty() && (optional || keeps) {
            let group = self.open();
            self.rounds.push(Round { group, inside: repeat.groups.clone(), optional });
        } else {
            self.text.push_str("(?:");
        }
        self.print(body);
        self.text.push(')');
        self.text.push_str(&quantifier(repeat));
    }
}

fn quantifier(repeat: &Repeat) -> String {
    let bounds = match (repeat.min, repeat.max) {
        (0, None) => String::from("*"),
        (1, None) => String::from("+"),
        (0, Some(1)) => String::from("?"),
        (min, None) => format!("{{{min},}}"),
        (min, Some(max)) => format!("{{{min},{max}}}"),
    };
    bounds + if repeat.greedy { "" } else { "?" }
}

/// Returns an assertion of the `regex` crate. Its line assertions only know `\n`: a text with another line terminator
/// goes to the backtracking engine.
fn assertion(assert: Assert) -> &'static str {
    match assert {
        Assert::TextStart => r"\A",
        Assert::TextEnd => r"\z",
        Assert::LineStart => "(?m:^)",
        Assert::LineEnd => "(?m:$)",
        Assert::Word => r"(?-u:\b)",
        Assert::NotWord => r"(?-u:\B)",
    }
}

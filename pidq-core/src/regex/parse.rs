//! Parser of ECMAScript patterns, including Annex B.
//!
//! Independent of the engines, except that a class carries its text for the `regex` crate. Characters are code points
//! throughout, also without the flag `u`.

mod class;

use super::flags::Flags;
use super::set::{self, Set};
use super::tree::{Assert, Class, LookaroundNode, Node, Reference, Repeat};

/// Nesting depth of groups and classes. Recursive functions on the tree nest at most about twice as deep.
const MAX_PATTERN_DEPTH: usize = 50;
/// Repetition counts from this value on mean "unbounded", as in V8.
const UNBOUNDED: u32 = i32::MAX as u32;

/// A parsed pattern.
pub(super) struct Pattern {
    pub node: Node,
    /// The name of each group, beginning with group 1.
    pub names: Vec<Option<String>>,
}

/// Error in a pattern, and the character at which it occurs.
pub(super) struct PatternError {
    pub at: usize,
    pub message: String,
    pub help: Option<&'static str>,
}

pub(super) type Parsed<T> = Result<T, PatternError>;

/// Parses all of `pattern`.
pub(super) fn parse(pattern: &str, flags: Flags) -> Parsed<Pattern> {
    let mut parser = Parser::new(pattern, flags);
    let node = parser.parse_pattern()?;
    parser.check_references()?;
    Ok(Pattern { node, names: parser.groups.into_iter().map(|group| group.name).collect() })
}

pub(super) struct Parser {
    chars: Vec<char>,
    pub at: usize,
    pub flags: Flags,
    /// Groups of the whole pattern, counted in advance: `\2` is a back-reference only if there are two.
    group_count: usize,
    /// True if the pattern has a named group: then `\k` is a back-reference also without the flag `u`.
    pub has_names: bool,
    groups: Vec<GroupInfo>,
    /// Names in back-references, with their positions.
    references: Vec<(usize, String)>,
    /// The open groups; the first frame is the whole pattern.
    frames: Vec<Frame>,
    disjunctions: usize,
    classes: usize,
}

/// A capturing group: its name, and for a named one the branches around it.
struct GroupInfo {
    name: Option<String>,
    path: Vec<(usize, usize)>,
}

/// An unfinished disjunction.
struct Frame {
    id: usize,
    start: usize,
    kind: Kind,
    groups_before: usize,
    /// The complete branches.
    branches: Vec<Node>,
    /// The terms of the last branch so far.
    parts: Vec<Node>,
}

/// Kind of group around a disjunction.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Whole,
    Plain,
    Capture(usize),
    Look { behind: bool, negated: bool },
}

impl Kind {
    /// Returns true if a quantifier may follow. A lookahead is repeatable without the flag `u` (Annex B).
    fn is_repeatable(self, flags: Flags) -> bool {
        match self {
            Kind::Look { behind, .. } => !behind && !flags.unicode,
            _ => true,
        }
    }
}

impl Frame {
    fn end_branch(&mut self) {
        self.branches.push(single_or(std::mem::take(&mut self.parts), Node::Concat));
    }

    fn into_node(mut self) -> Node {
        self.end_branch();
        let body = single_or(self.branches, Node::Alt);
        match self.kind {
            Kind::Whole | Kind::Plain => body,
            Kind::Capture(number) => Node::Group(number, Box::new(body)),
            Kind::Look { behind, negated } => Node::Lookaround(Box::new(LookaroundNode { body, behind, negated })),
        }
    }
}

impl PatternError {
    pub fn with_help(mut self, help: &'static str) -> PatternError {
        self.help = Some(help);
        self
    }
}

/// A term of a branch, and true if a quantifier may follow.
struct Term {
    node: Node,
    repeatable: bool,
}

impl Term {
    fn atom(node: Node) -> Term {
        Term { node, repeatable: true }
    }

    fn fixed(node: Node) -> Term {
        Term { node, repeatable: false }
    }
}

impl Parser {
    fn new(pattern: &str, flags: Flags) -> Parser {
        let chars: Vec<char> = pattern.chars().collect();
        let (group_count, has_names) = count_groups(&chars, flags);
        Parser {
            chars,
            at: 0,
            flags,
            group_count,
            has_names,
            groups: Vec::new(),
            references: Vec::new(),
            frames: Vec::new(),
            disjunctions: 0,
            classes: 0,
        }
    }

    pub fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    pub fn next(&mut self) -> Option<char> {
        let next = self.peek();
        self.at += usize::from(next.is_some());
        next
    }

    /// Consumes `text` if it comes next.
    pub fn eat(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(ahead, c)| self.peek_at(ahead) == Some(c));
        self.at += if found { text.chars().count() } else { 0 };
        found
    }

    pub fn error(&self, message: impl Into<String>) -> PatternError {
        self.error_at(self.at, message)
    }

    pub fn error_at(&self, at: usize, message: impl Into<String>) -> PatternError {
        PatternError { at, message: message.into(), help: None }
    }

    /// Enters a nested class.
    pub fn enter_class(&mut self) -> Parsed<()> {
        self.classes += 1;
        self.check_nesting()
    }

    pub fn leave_class(&mut self) {
        self.classes -= 1;
    }

    fn check_nesting(&self) -> Parsed<()> {
        if self.frames.len() + self.classes > MAX_PATTERN_DEPTH + 1 {
            return Err(self.error(format!("nested more than {MAX_PATTERN_DEPTH} levels deep")));
        }
        Ok(())
    }

    /// Parses the pattern. Open groups are on an explicit stack: a pattern cannot exhaust that of the thread.
    fn parse_pattern(&mut self) -> Parsed<Node> {
        self.open(0, Kind::Whole)?;
        while let Some(c) = self.peek() {
            let (start, groups_before) = (self.at, self.groups.len());
            match c {
                '|' => self.next_branch(),
                '(' => self.group(start)?,
                ')' => self.close(start)?,
                c => {
                    let term = self.term(c)?;
                    self.add(term, groups_before)?;
                }
            }
        }
        match (self.frames.pop(), self.frames.pop()) {
            (Some(root), None) => Ok(root.into_node()),
            (Some(group), _) => Err(self
                .error_at(group.start, "Unterminated group")
                .with_help("to match `(` itself, write `\\\\(` in the string")),
            (None, _) => Ok(Node::Empty),
        }
    }

    fn open(&mut self, start: usize, kind: Kind) -> Parsed<()> {
        let groups_before = self.groups.len() - usize::from(matches!(kind, Kind::Capture(_)));
        let id = self.disjunctions;
        self.disjunctions += 1;
        self.frames.push(Frame { id, start, kind, groups_before, branches: Vec::new(), parts: Vec::new() });
        self.check_nesting()
    }

    fn next_branch(&mut self) {
        self.at += 1;
        if let Some(open) = self.frames.last_mut() {
            open.end_branch();
        }
    }

    fn close(&mut self, start: usize) -> Parsed<()> {
        self.at += 1;
        match self.frames.pop() {
            Some(group) if group.kind != Kind::Whole => {
                let groups_before = group.groups_before;
                let repeatable = group.kind.is_repeatable(self.flags);
                self.add(Term { node: group.into_node(), repeatable }, groups_before)
            }
            _ => Err(self.error_at(start, "Unmatched ')'").with_help("escape it as `\\)`")),
        }
    }

    /// Adds a term, with the quantifier after it, to the innermost group.
    fn add(&mut self, term: Term, groups_before: usize) -> Parsed<()> {
        let node = self.repeated(term, groups_before)?;
        if let Some(open) = self.frames.last_mut() {
            open.parts.push(node);
        }
        Ok(())
    }

    /// Returns the open branches: for each, the number of its disjunction and its index in it.
    fn path(&self) -> Vec<(usize, usize)> {
        self.frames.iter().map(|open| (open.id, open.branches.len())).collect()
    }

    fn term(&mut self, c: char) -> Parsed<Term> {
        let start = self.at;
        self.at += 1;
        match c {
            '^' => Ok(Term::fixed(Node::Assert(self.line_or_text(Assert::LineStart, Assert::TextStart)))),
            '$' => Ok(Term::fixed(Node::Assert(self.line_or_text(Assert::LineEnd, Assert::TextEnd)))),
            '.' => Ok(Term::atom(self.dot())),
            '[' => Ok(Term::atom(Node::Class(class::parse(self, start)?))),
            '\\' => self.escape(start),
            '*' | '+' | '?' => Err(self.nothing_to_repeat(start)),
            '{' => self.brace(start),
            '}' | ']' if self.flags.unicode => Err(self.lone_bracket(start)),
            c => Ok(Term::atom(self.literal(u32::from(c)))),
        }
    }

    fn line_or_text(&self, line: Assert, text: Assert) -> Assert {
        if self.flags.multiline { line } else { text }
    }

    fn dot(&self) -> Node {
        let line_ends = if self.flags.dot_all { Set::default() } else { Set::new(set::LINE_ENDS) };
        Node::Class(Class::from_set(line_ends.negated()))
    }

    /// Parses `{`. Without the flag `u`, a brace that does not begin a quantifier is a character.
    fn brace(&mut self, start: usize) -> Parsed<Term> {
        self.at = start;
        if self.flags.unicode || self.braces()?.is_some() {
            return Err(self.nothing_to_repeat(start));
        }
        self.at = start + 1;
        Ok(Term::atom(Node::Char('{')))
    }

    fn nothing_to_repeat(&self, at: usize) -> PatternError {
        self.error_at(at, "Nothing to repeat")
            .with_help("to match the character itself, put `\\\\` before it in the string")
    }

    fn lone_bracket(&self, at: usize) -> PatternError {
        self.error_at(at, "Lone quantifier brackets")
            .with_help("to match the character itself, put `\\\\` before it in the string")
    }

    /// Returns one code point, with its case variants if the flag `i` is set. A lone surrogate matches nothing.
    fn literal(&self, point: u32) -> Node {
        let Some(c) = char::from_u32(point) else { return Node::Class(Class::from_set(Set::default())) };
        if !self.flags.ignore_case || (c.is_ascii() && !c.is_ascii_alphabetic()) {
            return Node::Char(c);
        }
        Node::Class(class::case_variants(c, self.flags))
    }

    fn group(&mut self, start: usize) -> Parsed<()> {
        self.at += 1;
        let kinds = [
            ("?:", Kind::Plain),
            ("?=", Kind::Look { behind: false, negated: false }),
            ("?!", Kind::Look { behind: false, negated: true }),
            ("?<=", Kind::Look { behind: true, negated: false }),
            ("?<!", Kind::Look { behind: true, negated: true }),
        ];
        for (head, kind) in kinds {
            if self.eat(head) {
                return self.open(start, kind);
            }
        }
        self.capturing_group(start)
    }

    fn capturing_group(&mut self, start: usize) -> Parsed<()> {
        let name = if self.eat("?<") { Some(self.new_name(start)?) } else { None };
        if name.is_none() && self.peek() == Some('?') {
            return Err(self.error_at(start, "Invalid group").with_help(
                "groups are `(..)`, `(?:..)`, `(?<name>..)`; flags are the last argument: `regex(.a, \"x\", \"i\")`",
            ));
        }
        let path = if name.is_some() { self.path() } else { Vec::new() };
        self.groups.push(GroupInfo { name, path });
        self.open(start, Kind::Capture(self.groups.len()))
    }

    /// Parses the name of a group. A name may be repeated only in another branch, where both cannot match.
    fn new_name(&mut self, start: usize) -> Parsed<String> {
        let name = self.name().ok_or_else(|| self.error_at(start, "Invalid capture group name"))?;
        let path = self.path();
        let clashes = |group: &GroupInfo| group.name.as_ref() == Some(&name) && !in_other_branch(&group.path, &path);
        if self.groups.iter().any(clashes) {
            return Err(self.error_at(start, "Duplicate capture group name"));
        }
        Ok(name)
    }

    /// Parses an identifier and the `>` after it.
    fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        loop {
            let c = match self.next()? {
                '>' if !name.is_empty() => return Some(name),
                '\\' if self.eat("u") => char::from_u32(self.unicode_escape(true)?)?,
                c => c,
            };
            let inside = !name.is_empty() && (c.is_numeric() || matches!(c, '\u{200C}' | '\u{200D}'));
            if !(c.is_alphabetic() || c == '$' || c == '_' || inside) {
                return None;
            }
            name.push(c);
        }
    }

    /// Parses the quantifier after a term, if there is one.
    fn repeated(&mut self, term: Term, groups_before: usize) -> Parsed<Node> {
        let start = self.at;
        let Some((min, max)) = self.quantifier()? else { return Ok(term.node) };
        if !term.repeatable {
            return Err(self.nothing_to_repeat(start));
        }
        let greedy = !self.eat("?");
        let groups = groups_before + 1..self.groups.len() + 1;
        Ok(repeat(Repeat { body: term.node, min, max, greedy, groups }))
    }

    fn quantifier(&mut self) -> Parsed<Option<(u32, Option<u32>)>> {
        let bounds = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => return self.counted_quantifier(),
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(bounds))
    }

    fn counted_quantifier(&mut self) -> Parsed<Option<(u32, Option<u32>)>> {
        let start = self.at;
        let bounds = self.braces()?;
        if bounds.is_none() {
            self.at = start;
            if self.flags.unicode {
                return Err(self
                    .error("Incomplete quantifier")
                    .with_help("to match `{` itself, write `\\\\{` in the string"));
            }
        }
        Ok(bounds)
    }

    /// Parses `{n}`, `{n,}` or `{n,m}`; other text is not a quantifier.
    fn braces(&mut self) -> Parsed<Option<(u32, Option<u32>)>> {
        let start = self.at;
        self.at += 1;
        let Some(min) = self.number() else { return Ok(None) };
        let max = if self.eat(",") { self.number() } else { Some(min) };
        if !self.eat("}") {
            return Ok(None);
        }
        if max.is_some_and(|max| max < min) {
            return Err(self.error_at(start, "numbers out of order in {} quantifier"));
        }
        Ok(Some((min, max.filter(|max| *max < UNBOUNDED))))
    }

    fn number(&mut self) -> Option<u32> {
        let mut number: Option<u32> = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit).min(UNBOUNDED));
            self.at += 1;
        }
        number
    }

    /// Parses an escape outside a class; the backslash at `start` is consumed.
    fn escape(&mut self, start: usize) -> Parsed<Term> {
        let Some(c) = self.peek() else { return Err(self.error_at(start, "\\ at end of pattern")) };
        match c {
            'b' | 'B' => {
                self.at += 1;
                Ok(Term::fixed(Node::Assert(if c == 'b' { Assert::Word } else { Assert::NotWord })))
            }
            '1'..='9' => self.numbered_reference(start),
            'k' if self.flags.unicode || self.has_names => self.named_reference(start),
            _ => self.atom_escape(start),
        }
    }

    fn atom_escape(&mut self, start: usize) -> Parsed<Term> {
        let mut builder = class::ClassBuilder::default();
        if class::class_escape(self, &mut builder)? {
            return Ok(Term::atom(Node::Class(builder.finish(self.flags, false))));
        }
        let point = self.character_escape(start)?;
        Ok(Term::atom(self.literal(point)))
    }

    fn numbered_reference(&mut self, start: usize) -> Parsed<Term> {
        let digits = self.at;
        let number = self.number().map_or(usize::MAX, |number| number as usize);
        if number <= self.group_count {
            return Ok(Term::atom(Node::Backref(Reference::Number(number))));
        }
        if self.flags.unicode {
            return Err(self.error_at(start, "Invalid escape").with_help("there is no such group"));
        }
        self.at = digits;
        let point = self.character_escape(start)?;
        Ok(Term::atom(self.literal(point)))
    }

    fn named_reference(&mut self, start: usize) -> Parsed<Term> {
        self.at += 1;
        let name = if self.eat("<") { self.name() } else { None };
        let name = name.ok_or_else(|| self.error_at(start, "Invalid named reference"))?;
        self.references.push((start, name.clone()));
        Ok(Term::atom(Node::Backref(Reference::Name(name))))
    }

    fn check_references(&self) -> Parsed<()> {
        let known = |name: &String| self.groups.iter().any(|group| group.name.as_ref() == Some(name));
        match self.references.iter().find(|(_, name)| !known(name)) {
            Some((at, _)) => Err(self.error_at(*at, "Invalid named capture referenced")),
            None => Ok(()),
        }
    }

    /// Parses an escape for one code point, inside or outside a class; the backslash at `start` is consumed.
    pub fn character_escape(&mut self, start: usize) -> Parsed<u32> {
        let Some(c) = self.next() else { return Err(self.error_at(start, "\\ at end of pattern")) };
        let point = match c {
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'v' => 0x0B,
            'c' => return self.control_escape(start),
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => 0,
            '0'..='7' if !self.flags.unicode => self.octal_escape(c),
            '0'..='9' if self.flags.unicode => return Err(self.error_at(start, "Invalid decimal escape")),
            'x' => return self.or_identity(start, |parser| parser.hex(2)),
            'u' => return self.or_identity(start, |parser| parser.unicode_escape(parser.flags.unicode)),
            'k' if self.has_names => return Err(self.error_at(start, "Invalid escape")),
            c if self.flags.unicode && !is_syntax(c) => {
                return Err(self
                    .error_at(start, "Invalid escape")
                    .with_help("with the flag `u`, only syntax is escaped"));
            }
            c => u32::from(c),
        };
        Ok(point)
    }

    /// Parses `\x` or `\u` with its digits; without them and without the flag `u`, the letter itself.
    fn or_identity(&mut self, start: usize, escape: impl Fn(&mut Parser) -> Option<u32>) -> Parsed<u32> {
        let letter = self.at;
        if let Some(point) = escape(self) {
            return Ok(point);
        }
        self.at = letter;
        match self.chars.get(letter - 1) {
            Some(c) if !self.flags.unicode => Ok(u32::from(*c)),
            Some('u') => Err(self.error_at(start, "Invalid Unicode escape")),
            _ => Err(self.error_at(start, "Invalid escape")),
        }
    }

    /// Parses `\cJ`; without a letter and without the flag `u`, the backslash itself.
    fn control_escape(&mut self, start: usize) -> Parsed<u32> {
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() => {
                self.at += 1;
                Ok(u32::from(c) % 32)
            }
            _ if self.flags.unicode => Err(self.error_at(start, "Invalid unicode escape")),
            _ => {
                self.at -= 1;
                Ok(u32::from('\\'))
            }
        }
    }

    /// Parses up to three digits, at most `\377`.
    fn octal_escape(&mut self, first: char) -> u32 {
        let mut value = first.to_digit(8).unwrap_or(0);
        for _ in 0..2 {
            match self.peek().and_then(|c| c.to_digit(8)) {
                Some(digit) if value * 8 + digit <= 0o377 => value = value * 8 + digit,
                _ => break,
            }
            self.at += 1;
        }
        value
    }

    fn hex(&mut self, digits: usize) -> Option<u32> {
        let mut value = 0;
        for _ in 0..digits {
            value = value * 16 + self.next()?.to_digit(16)?;
        }
        Some(value)
    }

    /// Parses the text after `\u`. Two escaped surrogates are one code point.
    fn unicode_escape(&mut self, braces: bool) -> Option<u32> {
        if braces && self.eat("{") {
            return self.braced_code_point();
        }
        let high = self.hex(4)?;
        let after = self.at;
        if (0xD800..0xDC00).contains(&high)
            && self.eat("\\u")
            && let Some(low @ 0xDC00..=0xDFFF) = self.hex(4)
        {
            return Some(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
        }
        self.at = after;
        Some(high)
    }

    fn braced_code_point(&mut self) -> Option<u32> {
        let mut value = 0;
        let start = self.at;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(16)) {
            value = value * 16 + digit;
            self.at += 1;
            if value > u32::from(char::MAX) {
                return None;
            }
        }
        (self.at > start && self.eat("}")).then_some(value)
    }
}

/// Returns true for a syntax character of patterns, which the flag `u` allows to escape.
fn is_syntax(c: char) -> bool {
    "^$\\.*+?()[]{}|/".contains(c)
}

fn single_or(mut parts: Vec<Node>, many: fn(Vec<Node>) -> Node) -> Node {
    match (parts.pop(), parts.is_empty()) {
        (None, _) => Node::Empty,
        (Some(only), true) => only,
        (Some(last), false) => {
            parts.push(last);
            many(parts)
        }
    }
}

/// Returns a repetition, unless it is trivial: JavaScript rejects optional empty rounds.
fn repeat(repeat: Repeat) -> Node {
    match (repeat.min, repeat.max) {
        (_, Some(0)) => Node::Empty,
        (0, _) if repeat.body.is_zero_width() => Node::Empty,
        _ if repeat.body.is_zero_width() => repeat.body,
        (1, Some(1)) => repeat.body,
        _ => Node::Repeat(Box::new(repeat)),
    }
}

/// Returns true if the paths diverge at a disjunction that they share.
fn in_other_branch(one: &[(usize, usize)], other: &[(usize, usize)]) -> bool {
    one.iter().zip(other).any(|(one, other)| one.0 == other.0 && one.1 != other.1)
}

/// Counts the capturing groups; also returns true if one has a name.
fn count_groups(chars: &[char], flags: Flags) -> (usize, bool) {
    let (mut count, mut named, mut classes, mut at) = (0, false, 0_usize, 0);
    while let Some(c) = chars.get(at) {
        match c {
            '\\' => at += 1,
            '[' if classes == 0 || flags.sets => classes += 1,
            ']' => classes = classes.saturating_sub(1),
            '(' if classes == 0 => match (chars.get(at + 1), chars.get(at + 2), chars.get(at + 3)) {
                (Some('?'), Some('<'), Some('=' | '!')) => {}
                (Some('?'), Some('<'), _) => (count, named) = (count + 1, true),
                (Some('?'), ..) => {}
                _ => count += 1,
            },
            _ => {}
        }
        at += 1;
    }
    (count, named)
}

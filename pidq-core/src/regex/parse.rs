//! Reads a pattern of ECMAScript, Annex B included, into a tree.
//!
//! Knows nothing of the engines, except that a class carries its text for the `regex` crate. Characters are code
//! points throughout, also without the flag `u`.

use super::class;
use super::flags::Flags;
use super::set::{self, Set};
use super::tree::{Assert, Class, Look, Node, Reference, Repeat};

/// Groups and classes within each other. What walks over the tree calls itself about twice as often at most.
const MAX_NESTING: usize = 50;
/// Repetition counts of this size mean "without end", as in V8.
const ENDLESS: u32 = i32::MAX as u32;

/// A pattern that was understood.
pub(super) struct Pattern {
    pub node: Node,
    /// The name of each group, beginning with group 1.
    pub names: Vec<Option<String>>,
}

/// What is wrong with a pattern, and at which character.
pub(super) struct Fault {
    pub at: usize,
    pub what: String,
    pub help: Option<&'static str>,
}

pub(super) type Parsed<T> = Result<T, Fault>;

/// Reads the whole of `pattern`.
pub(super) fn parse(pattern: &str, flags: Flags) -> Parsed<Pattern> {
    let mut parser = Parser::new(pattern, flags);
    let node = parser.whole()?;
    parser.check_references()?;
    Ok(Pattern { node, names: parser.groups.into_iter().map(|group| group.name).collect() })
}

pub(super) struct Parser {
    chars: Vec<char>,
    pub at: usize,
    pub flags: Flags,
    /// Groups of the whole pattern, counted beforehand: `\2` is a back-reference only when there are two.
    group_count: usize,
    /// Whether the pattern has a named group: then `\k` is a back-reference also without the flag `u`.
    pub has_names: bool,
    groups: Vec<GroupHead>,
    /// Names that back-references use, and where.
    references: Vec<(usize, String)>,
    /// The whole pattern, then the groups that are not closed yet.
    open: Vec<Open>,
    disjunctions: usize,
    classes: usize,
}

/// What is known of a capturing group: its name, and for a named one the branches that it stands in.
struct GroupHead {
    name: Option<String>,
    path: Vec<(usize, usize)>,
}

/// A disjunction that is being read.
struct Open {
    id: usize,
    start: usize,
    kind: Kind,
    groups_before: usize,
    /// The branches that are complete.
    branches: Vec<Node>,
    /// What the last branch has so far.
    parts: Vec<Node>,
}

/// What is around a disjunction.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Kind {
    Whole,
    Plain,
    Capture(usize),
    Look { behind: bool, negated: bool },
}

impl Kind {
    /// A lookahead can be repeated without the flag `u`: an accident of the web.
    fn is_repeatable(self, flags: Flags) -> bool {
        match self {
            Kind::Look { behind, .. } => !behind && !flags.unicode,
            _ => true,
        }
    }
}

impl Open {
    fn end_branch(&mut self) {
        self.branches.push(one_or(std::mem::take(&mut self.parts), Node::Concat));
    }

    fn into_node(mut self) -> Node {
        self.end_branch();
        let body = one_or(self.branches, Node::Alt);
        match self.kind {
            Kind::Whole | Kind::Plain => body,
            Kind::Capture(number) => Node::Group(number, Box::new(body)),
            Kind::Look { behind, negated } => Node::Look(Box::new(Look { body, behind, negated })),
        }
    }
}

impl Fault {
    pub fn helped(mut self, help: &'static str) -> Fault {
        self.help = Some(help);
        self
    }
}

/// A part of a branch, and whether a quantifier may follow.
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
            open: Vec::new(),
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

    /// Takes `text` if it comes next.
    pub fn eat(&mut self, text: &str) -> bool {
        let found = text.chars().enumerate().all(|(ahead, c)| self.peek_at(ahead) == Some(c));
        self.at += if found { text.chars().count() } else { 0 };
        found
    }

    pub fn fault(&self, what: impl Into<String>) -> Fault {
        self.fault_at(self.at, what)
    }

    pub fn fault_at(&self, at: usize, what: impl Into<String>) -> Fault {
        Fault { at, what: what.into(), help: None }
    }

    /// One level deeper.
    pub fn enter_class(&mut self) -> Parsed<()> {
        self.classes += 1;
        self.check_nesting()
    }

    pub fn leave_class(&mut self) {
        self.classes -= 1;
    }

    fn check_nesting(&self) -> Parsed<()> {
        if self.open.len() + self.classes > MAX_NESTING + 1 {
            return Err(self.fault(format!("nested more than {MAX_NESTING} levels deep")));
        }
        Ok(())
    }

    /// Reads everything. Open groups are on a stack of our own: a pattern cannot exhaust that of the thread.
    fn whole(&mut self) -> Parsed<Node> {
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
        match (self.open.pop(), self.open.pop()) {
            (Some(whole), None) => Ok(whole.into_node()),
            (Some(group), _) => {
                Err(self.fault_at(group.start, "Unterminated group").helped("to match `(` itself, write `\\(`"))
            }
            (None, _) => Ok(Node::Empty),
        }
    }

    fn open(&mut self, start: usize, kind: Kind) -> Parsed<()> {
        let groups_before = self.groups.len() - usize::from(matches!(kind, Kind::Capture(_)));
        let id = self.disjunctions;
        self.disjunctions += 1;
        self.open.push(Open { id, start, kind, groups_before, branches: Vec::new(), parts: Vec::new() });
        self.check_nesting()
    }

    fn next_branch(&mut self) {
        self.at += 1;
        if let Some(open) = self.open.last_mut() {
            open.end_branch();
        }
    }

    fn close(&mut self, start: usize) -> Parsed<()> {
        self.at += 1;
        match self.open.pop() {
            Some(group) if group.kind != Kind::Whole => {
                let groups_before = group.groups_before;
                let repeatable = group.kind.is_repeatable(self.flags);
                self.add(Term { node: group.into_node(), repeatable }, groups_before)
            }
            _ => Err(self.fault_at(start, "Unmatched ')'").helped("escape it as `\\)`")),
        }
    }

    /// Adds a term, with the quantifier behind it, to the innermost group.
    fn add(&mut self, term: Term, groups_before: usize) -> Parsed<()> {
        let node = self.repeated(term, groups_before)?;
        if let Some(open) = self.open.last_mut() {
            open.parts.push(node);
        }
        Ok(())
    }

    /// Which branches are open: for each, the number of its disjunction and its place in it.
    fn path(&self) -> Vec<(usize, usize)> {
        self.open.iter().map(|open| (open.id, open.branches.len())).collect()
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
        Node::Class(Class::of(line_ends.negated()))
    }

    /// Without the flag `u`, a brace that does not begin a quantifier is a character.
    fn brace(&mut self, start: usize) -> Parsed<Term> {
        self.at = start;
        if self.flags.unicode || self.braces()?.is_some() {
            return Err(self.nothing_to_repeat(start));
        }
        self.at = start + 1;
        Ok(Term::atom(Node::Char('{')))
    }

    fn nothing_to_repeat(&self, at: usize) -> Fault {
        self.fault_at(at, "Nothing to repeat").helped("to match the character itself, put `\\` before it")
    }

    fn lone_bracket(&self, at: usize) -> Fault {
        self.fault_at(at, "Lone quantifier brackets").helped("to match the character itself, put `\\` before it")
    }

    /// One code point, with what is the same under the flag `i`. A lone surrogate matches nothing.
    fn literal(&self, point: u32) -> Node {
        let Some(c) = char::from_u32(point) else { return Node::Class(Class::of(Set::default())) };
        if !self.flags.ignore_case || (c.is_ascii() && !c.is_ascii_alphabetic()) {
            return Node::Char(c);
        }
        Node::Class(class::of_letter(c, self.flags))
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
            return Err(self.fault_at(start, "Invalid group").helped("groups are `(..)`, `(?:..)`, `(?<name>..)`"));
        }
        let path = if name.is_some() { self.path() } else { Vec::new() };
        self.groups.push(GroupHead { name, path });
        self.open(start, Kind::Capture(self.groups.len()))
    }

    /// The name of a group. A name may come again only in another branch, where both cannot match.
    fn new_name(&mut self, start: usize) -> Parsed<String> {
        let name = self.name().ok_or_else(|| self.fault_at(start, "Invalid capture group name"))?;
        let path = self.path();
        let clashes = |group: &GroupHead| group.name.as_ref() == Some(&name) && !in_other_branch(&group.path, &path);
        if self.groups.iter().any(clashes) {
            return Err(self.fault_at(start, "Duplicate capture group name"));
        }
        Ok(name)
    }

    /// An identifier and the `>` behind it.
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

    /// A term with the quantifier behind it, if there is one.
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
            Some('{') => return self.counted(),
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(bounds))
    }

    fn counted(&mut self) -> Parsed<Option<(u32, Option<u32>)>> {
        let start = self.at;
        let bounds = self.braces()?;
        if bounds.is_none() {
            self.at = start;
            if self.flags.unicode {
                return Err(self.fault("Incomplete quantifier").helped("to match `{` itself, write `\\{`"));
            }
        }
        Ok(bounds)
    }

    /// `{n}`, `{n,}` or `{n,m}`; anything else is no quantifier.
    fn braces(&mut self) -> Parsed<Option<(u32, Option<u32>)>> {
        let start = self.at;
        self.at += 1;
        let Some(min) = self.number() else { return Ok(None) };
        let max = if self.eat(",") { self.number() } else { Some(min) };
        if !self.eat("}") {
            return Ok(None);
        }
        if max.is_some_and(|max| max < min) {
            return Err(self.fault_at(start, "numbers out of order in {} quantifier"));
        }
        Ok(Some((min, max.filter(|max| *max < ENDLESS))))
    }

    fn number(&mut self) -> Option<u32> {
        let mut number: Option<u32> = None;
        while let Some(digit) = self.peek().and_then(|c| c.to_digit(10)) {
            number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit).min(ENDLESS));
            self.at += 1;
        }
        number
    }

    /// An escape outside a class; the backslash at `start` is read.
    fn escape(&mut self, start: usize) -> Parsed<Term> {
        let Some(c) = self.peek() else { return Err(self.fault_at(start, "\\ at end of pattern")) };
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
        let mut builder = class::Builder::default();
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
            return Err(self.fault_at(start, "Invalid escape").helped("there is no such group"));
        }
        self.at = digits;
        let point = self.character_escape(start)?;
        Ok(Term::atom(self.literal(point)))
    }

    fn named_reference(&mut self, start: usize) -> Parsed<Term> {
        self.at += 1;
        let name = if self.eat("<") { self.name() } else { None };
        let name = name.ok_or_else(|| self.fault_at(start, "Invalid named reference"))?;
        self.references.push((start, name.clone()));
        Ok(Term::atom(Node::Backref(Reference::Name(name))))
    }

    fn check_references(&self) -> Parsed<()> {
        let known = |name: &String| self.groups.iter().any(|group| group.name.as_ref() == Some(name));
        match self.references.iter().find(|(_, name)| !known(name)) {
            Some((at, _)) => Err(self.fault_at(*at, "Invalid named capture referenced")),
            None => Ok(()),
        }
    }

    /// An escape that stands for one code point, inside or outside a class; the backslash at `start` is read.
    pub fn character_escape(&mut self, start: usize) -> Parsed<u32> {
        let Some(c) = self.next() else { return Err(self.fault_at(start, "\\ at end of pattern")) };
        let point = match c {
            'f' => 0x0C,
            'n' => 0x0A,
            'r' => 0x0D,
            't' => 0x09,
            'v' => 0x0B,
            'c' => return self.control_escape(start),
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => 0,
            '0'..='7' if !self.flags.unicode => self.octal_escape(c),
            '0'..='9' if self.flags.unicode => return Err(self.fault_at(start, "Invalid decimal escape")),
            'x' => return self.or_identity(start, |parser| parser.hex(2)),
            'u' => return self.or_identity(start, |parser| parser.unicode_escape(parser.flags.unicode)),
            'k' if self.has_names => return Err(self.fault_at(start, "Invalid escape")),
            c if self.flags.unicode && !is_syntax(c) => {
                return Err(self.fault_at(start, "Invalid escape").helped("with the flag `u`, only syntax is escaped"));
            }
            c => u32::from(c),
        };
        Ok(point)
    }

    /// `\x` or `\u` with its digits; without them and without the flag `u`, the letter itself.
    fn or_identity(&mut self, start: usize, escape: impl Fn(&mut Parser) -> Option<u32>) -> Parsed<u32> {
        let letter = self.at;
        if let Some(point) = escape(self) {
            return Ok(point);
        }
        self.at = letter;
        match self.chars.get(letter - 1) {
            Some(c) if !self.flags.unicode => Ok(u32::from(*c)),
            Some('u') => Err(self.fault_at(start, "Invalid Unicode escape")),
            _ => Err(self.fault_at(start, "Invalid escape")),
        }
    }

    /// `\cJ`; without a letter and without the flag `u`, the backslash itself.
    fn control_escape(&mut self, start: usize) -> Parsed<u32> {
        match self.peek() {
            Some(c) if c.is_ascii_alphabetic() => {
                self.at += 1;
                Ok(u32::from(c) % 32)
            }
            _ if self.flags.unicode => Err(self.fault_at(start, "Invalid unicode escape")),
            _ => {
                self.at -= 1;
                Ok(u32::from('\\'))
            }
        }
    }

    /// Up to three digits, at most `\377`.
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

    /// What follows `\u`. Two escaped surrogates are one code point.
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

/// A character that has a meaning in patterns, so that the flag `u` allows to escape it.
fn is_syntax(c: char) -> bool {
    "^$\\.*+?()[]{}|/".contains(c)
}

fn one_or(mut parts: Vec<Node>, many: fn(Vec<Node>) -> Node) -> Node {
    match (parts.pop(), parts.is_empty()) {
        (None, _) => Node::Empty,
        (Some(only), true) => only,
        (Some(last), false) => {
            parts.push(last);
            many(parts)
        }
    }
}

/// A repetition, unless it is none: JavaScript refuses optional rounds that take nothing.
fn repeat(repeat: Repeat) -> Node {
    match (repeat.min, repeat.max) {
        (_, Some(0)) => Node::Empty,
        (0, _) if repeat.body.is_zero_width() => Node::Empty,
        _ if repeat.body.is_zero_width() => repeat.body,
        (1, Some(1)) => repeat.body,
        _ => Node::Repeat(Box::new(repeat)),
    }
}

/// Whether the paths part at a disjunction that they share.
fn in_other_branch(one: &[(usize, usize)], other: &[(usize, usize)]) -> bool {
    one.iter().zip(other).any(|(one, other)| one.0 == other.0 && one.1 != other.1)
}

/// Counts the capturing groups, and says whether one has a name.
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

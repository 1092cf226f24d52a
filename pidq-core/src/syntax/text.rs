//! Parser of the text format.
//!
//! Terminals are nom parsers. Above them, a loop keeps unfinished nodes on an explicit stack, not on the call stack: a
//! query may be nested up to the limit on any thread, and operators need no function per level.

pub(crate) mod hints;

use nom::IResult;

use self::hints::{ImplicitPipe, ParseFailure, unclosed_bracket};
use crate::arena::is_rounded_integer;
use crate::error::{Code, Error, Result, Span};
use crate::limits::{MAX_QUERY_DEPTH, MAX_QUERY_NODES, MAX_QUERY_SIZE};
use crate::syntax::json::last_wins;
use crate::syntax::operators::{Chain, OperatorEntry, Operators, PIPE};
use crate::syntax::token::{
    begins_word, int, is_word, keyword, number, number_of, string, syntax_error, unescape, word,
};
use crate::syntax::{Expr, Key, Node, Profile};

/// Parses a query in text format.
pub(crate) fn parse(text: &str, operators: &Operators, profile: Profile) -> Result<Expr> {
    parse_with_comments(text, operators, profile).map(|(expr, _)| expr)
}

/// Parses a query and returns the spans of its comments.
pub(crate) fn parse_with_comments(text: &str, operators: &Operators, profile: Profile) -> Result<(Expr, Vec<Span>)> {
    parse_with_trivia(text, operators, profile).map(|(expr, trivia)| (expr, trivia.comments))
}

/// Parts of a text that the expression does not contain, or not exactly. In the order of the text.
#[derive(Default)]
pub(crate) struct Trivia {
    pub comments: Vec<Span>,
    /// Dots of paths that follow a value after white space in the same line, as in `.a .b`.
    pub detached_dots: Vec<Span>,
    /// Integers whose doubles are other integers.
    pub rounded_integers: Vec<Span>,
}

/// Parses a query into its expression and its trivia.
pub(crate) fn parse_with_trivia(text: &str, operators: &Operators, profile: Profile) -> Result<(Expr, Trivia)> {
    if text.len() > MAX_QUERY_SIZE {
        let message = format!("the query has {} bytes, more than {MAX_QUERY_SIZE}", text.len());
        return Err(Error::new(Code::QueryTooLong, message));
    }
    let mut parser = Parser {
        text,
        at: 0,
        operators,
        profile,
        frames: Vec::with_capacity(8),
        groups: 0,
        parts: 0,
        value: Span::default(),
        piped: None,
        trivia: Trivia::default(),
    };
    let expr = parser.query().map_err(|error| error.locate(text))?;
    Ok((expr, parser.trivia))
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    operators: &'t Operators,
    profile: Profile,
    /// Unfinished nodes, the innermost last.
    frames: Vec<Frame<'t>>,
    groups: usize,
    parts: usize,
    /// The span of the last value, including parentheses.
    value: Span,
    /// The last implicit pipe, and the start of the text after it.
    piped: Option<(ImplicitPipe, usize)>,
    /// Invariant: each part once, though text may be scanned twice.
    trivia: Trivia,
}

/// A complete value. Its span includes the parentheses around it, unlike that of the `Expr`.
struct Operand {
    expr: Expr,
    span: Span,
    depth: usize,
}

/// Position of a value.
#[derive(Clone, Copy)]
struct ValuePosition {
    /// Operators of the levels before this one may follow.
    max_level: usize,
    /// True if it begins with a parenthesis.
    parenthesis: bool,
    /// As `parenthesis`, without white space before it. JSON Query only considers this one.
    exact: bool,
}

enum Frame<'t> {
    Operator(Pending<'t>),
    Group(Group),
}

/// A left side and an operator.
struct Pending<'t> {
    left: Operand,
    position: ValuePosition,
    level: usize,
    row: &'t OperatorEntry,
    span: Span,
}

/// An open parenthesis, bracket or brace.
struct Group {
    kind: Kind,
    position: ValuePosition,
    start: usize,
    /// The position of the bracket; a call starts before it.
    open: usize,
    depth: usize,
}

enum Kind {
    Parenthesis,
    Call(Vec<Expr>),
    Array(Vec<Expr>),
    Object(Vec<(Key, Expr)>, Key),
}

/// Next step of the parser.
enum Step {
    /// Parse a value that operators of the levels before this one may follow.
    Value(usize),
    /// Parse operators from this level on.
    After(Operand, ValuePosition, usize),
    /// Pass a value to the innermost unfinished node.
    Complete(Operand),
}

impl<'t> Parser<'t> {
    fn query(&mut self) -> Result<Expr> {
        let mut step = Step::Value(self.operators.levels());
        loop {
            step = match step {
                Step::Value(max_level) => self.value(max_level)?,
                Step::After(left, position, level) => self.after(left, position, level)?,
                Step::Complete(value) => match self.frames.pop() {
                    Some(Frame::Operator(pending)) => self.combine(pending, value)?,
                    Some(Frame::Group(group)) => self.add_value(group, value)?,
                    None => return self.finish(value),
                },
            };
        }
    }

    fn finish(&self, value: Operand) -> Result<Expr> {
        if self.at == self.text.len() {
            return Ok(value.expr);
        }
        Err(self.error(Code::TrailingText, &format!("Unexpected part '{}'", self.rest())))
    }

    fn value(&mut self, max_level: usize) -> Result<Step> {
        let start = self.at;
        self.skip()?;
        let parenthesis = self.peek() == Some(b'(');
        let position = ValuePosition { max_level, parenthesis, exact: parenthesis && start == self.at };
        match self.peek() {
            Some(b'.') => self.path(position),
            Some(b'"') => self.string(position),
            Some(b'-' | b'0'..=b'9') => self.number(position),
            Some(b'(') => self.open(Kind::Parenthesis, self.at, position),
            Some(b'[') => self.array(position),
            Some(b'{') => self.object(position),
            Some(byte) if begins_word(byte as char) => self.word(position),
            _ => Err(self.value_expected()),
        }
    }

    // Constants and paths.

    fn string(&mut self, position: ValuePosition) -> Result<Step> {
        let start = self.at;
        let text = self.quoted()?.ok_or_else(|| self.value_expected())?;
        self.leaf(Node::String(text), start, position)
    }

    fn number(&mut self, position: ValuePosition) -> Result<Step> {
        let start = self.at;
        let lexeme = self.token(number).ok_or_else(|| self.value_expected())?;
        let number = number_of(lexeme);
        if is_rounded_integer(lexeme, number) {
            self.trivia.rounded_integers.push(Span::new(start, self.at));
        }
        self.leaf(Node::Number(number), start, position)
    }

    /// Parses a call, a variable or a keyword. Keywords need no delimiter: `trueand` is `true` and the operator `and`.
    fn word(&mut self, position: ValuePosition) -> Result<Step> {
        let start = self.at;
        let name = self.token(word).unwrap_or_default();
        let end = self.at;
        self.skip()?;
        if self.peek() == Some(b'(') {
            return self.call(name, Span::new(start, end), position);
        }
        self.at = end;
        if self.profile == Profile::Pidq && name.len() > 1 && name.starts_with('$') {
            return self.variable(&name[1..], start, position);
        }
        self.at = start;
        let (length, node) = keyword(self.rest()).ok_or_else(|| self.value_expected())?;
        self.at += length;
        self.leaf(node, start, position)
    }

    fn leaf(&mut self, node: Node, start: usize, position: ValuePosition) -> Result<Step> {
        let span = Span::new(start, self.at);
        self.count(1)?;
        Ok(Step::After(Operand { expr: Expr::new(node, span), span, depth: 0 }, position, 0))
    }

    fn path(&mut self, position: ValuePosition) -> Result<Step> {
        let start = self.at;
        if self.profile == Profile::Pidq && self.is_lone_dot()? {
            let value = self.getter(start, start + 1, vec![name("get", Span::new(start, start + 1))])?;
            return Ok(Step::After(value, position, 0));
        }
        let value = self.keys(start, vec![name("get", Span::new(start, start + 1))])?;
        Ok(Step::After(value, position, 0))
    }

    fn variable(&mut self, name_text: &str, start: usize, position: ValuePosition) -> Result<Step> {
        let span = Span::new(start + 1, self.at);
        let items = vec![name("$", Span::new(start, start + 1)), name(name_text, span)];
        let value = self.keys(start, items)?;
        Ok(Step::After(value, position, 0))
    }

    /// Parses `.a."b c".0` and adds the keys to the call.
    fn keys(&mut self, start: usize, mut items: Vec<Expr>) -> Result<Operand> {
        let mut end = self.at;
        self.skip()?;
        while self.peek() == Some(b'.') {
            if self.at > start {
                self.note_detached_dot();
            }
            self.at += 1;
            items.push(self.property()?);
            end = self.at;
            self.skip()?;
        }
        self.getter(start, end, items)
    }

    fn getter(&mut self, start: usize, end: usize, items: Vec<Expr>) -> Result<Operand> {
        self.count(items.len())?;
        let span = Span::new(start, end);
        Ok(Operand { expr: Expr::new(Node::Array(items), span), span, depth: 1 })
    }

    fn property(&mut self) -> Result<Expr> {
        let start = self.at;
        let node = match self.peek() {
            Some(b'"') => self.quoted()?.map(Node::String),
            Some(b'0'..=b'9') => self.token(int).map(|digits| Node::Number(number_of(digits))),
            _ => self.token(word).map(|key| Node::String(key.into())),
        };
        let node = node.ok_or_else(|| self.error(Code::PropertyExpected, "Property expected"))?;
        Ok(Expr::new(node, Span::new(start, self.at)))
    }

    /// Consumes a dot that means the current value, and the white space after it.
    fn is_lone_dot(&mut self) -> Result<bool> {
        let start = self.at;
        self.at += 1;
        if self.peek().is_some_and(|byte| byte == b'"' || byte.is_ascii_digit() || begins_word(byte as char)) {
            self.at = start;
            return Ok(false);
        }
        self.skip()?;
        let is_lone = matches!(self.peek(), None | Some(b')' | b',' | b']' | b'}'))
            || self.operators.match_any(self.rest()).is_some();
        if !is_lone {
            self.at = start;
        }
        Ok(is_lone)
    }

    // Groups.

    fn call(&mut self, function: &str, span: Span, position: ValuePosition) -> Result<Step> {
        self.open(Kind::Call(vec![name(function, span)]), span.start as usize, position)
    }

    fn array(&mut self, position: ValuePosition) -> Result<Step> {
        let bracket = Span::new(self.at, self.at + 1);
        self.open(Kind::Array(vec![name("array", bracket)]), self.at, position)
    }

    fn object(&mut self, position: ValuePosition) -> Result<Step> {
        self.open(Kind::Object(Vec::new(), placeholder_key()), self.at, position)
    }

    /// Consumes the bracket.
    fn open(&mut self, kind: Kind, start: usize, position: ValuePosition) -> Result<Step> {
        self.groups += 1;
        self.check_depth(self.groups)?;
        let mut group = Group { kind, position, start, open: self.at, depth: 0 };
        self.at += 1;
        // White space after a parenthesis is kept: it decides how `((a) and b)` merges.
        if !matches!(group.kind, Kind::Parenthesis) {
            self.skip()?;
            if group.close() == self.peek() {
                return self.close(group);
            }
            if self.peek().is_none() && !matches!(group.kind, Kind::Call(_)) {
                return Err(self.missing_character(&group, group.close()));
            }
        }
        if matches!(group.kind, Kind::Object(..)) {
            self.entry(&mut group)?;
        }
        self.frames.push(Frame::Group(group));
        Ok(Step::Value(self.operators.levels()))
    }

    /// Adds a value to a group.
    fn add_value(&mut self, mut group: Group, value: Operand) -> Result<Step> {
        group.depth = group.depth.max(value.depth);
        self.skip()?;
        match &mut group.kind {
            Kind::Parenthesis => return self.close_parenthesis(group, value),
            Kind::Call(items) | Kind::Array(items) => items.push(value.expr),
            Kind::Object(entries, key) => entries.push((std::mem::replace(key, placeholder_key()), value.expr)),
        }
        match self.peek() {
            Some(b',') => self.next(group),
            byte if byte == group.close() => self.close(group),
            byte => Err(self.missing_character(&group, byte.map_or(group.close(), |_| Some(b',')))),
        }
    }

    fn close_parenthesis(&mut self, group: Group, mut value: Operand) -> Result<Step> {
        if self.peek() != Some(b')') {
            return Err(self.missing_character(&group, Some(b')')));
        }
        self.at += 1;
        self.groups -= 1;
        value.span = Span::new(group.start, self.at);
        Ok(Step::After(value, group.position, 0))
    }

    /// Consumes a comma.
    fn next(&mut self, mut group: Group) -> Result<Step> {
        self.at += 1;
        match group.kind {
            Kind::Array(_) => self.skip()?,
            Kind::Object(..) => {
                self.skip()?;
                self.entry(&mut group)?;
            }
            Kind::Call(_) | Kind::Parenthesis => {}
        }
        self.frames.push(Frame::Group(group));
        Ok(Step::Value(self.operators.levels()))
    }

    /// Parses `key:` of an object.
    fn entry(&mut self, group: &mut Group) -> Result<()> {
        let start = self.at;
        let name = self.key()?;
        let name = name.ok_or_else(|| self.error(Code::KeyExpected, "Key expected"))?;
        if let Kind::Object(_, key) = &mut group.kind {
            *key = Key { name, span: Span::new(start, self.at) };
        }
        self.skip()?;
        if self.peek() != Some(b':') {
            return Err(self.missing_character(group, Some(b':')));
        }
        self.at += 1;
        Ok(())
    }

    fn key(&mut self) -> Result<Option<Box<str>>> {
        Ok(match self.peek() {
            Some(b'"') => self.quoted()?,
            Some(b'0'..=b'9') => self.token(int).map(|digits| ryu_js::Buffer::new().format(number_of(digits)).into()),
            _ => self.token(word).map(Into::into),
        })
    }

    /// Consumes the closing bracket.
    fn close(&mut self, group: Group) -> Result<Step> {
        self.at += 1;
        self.groups -= 1;
        let span = Span::new(group.start, self.at);
        let items = match group.kind {
            Kind::Call(items) | Kind::Array(items) => items,
            Kind::Object(entries, _) => object(entries, span),
            Kind::Parenthesis => Vec::new(),
        };
        self.call_of(items, span, group.depth).map(|value| Step::After(value, group.position, 0))
    }

    // Operators.

    /// Parses an operator. A level is not entered again once it was left: its chain ended there.
    fn after(&mut self, left: Operand, position: ValuePosition, from: usize) -> Result<Step> {
        if from == 0 {
            self.value = left.span;
        }
        if from >= position.max_level {
            return Ok(Step::Complete(left));
        }
        self.skip()?;
        let Some(byte) = self.peek().filter(|byte| *byte == b'.' || self.operators.may_begin(*byte)) else {
            return Ok(Step::Complete(left));
        };
        for level in from..position.max_level {
            if byte == b'.' && self.operators.has_pipe(level) {
                return self.implicit_pipe(left, position, level);
            }
            if let Some(row) = self.operators.match_at_level(level, self.rest()) {
                return self.operator(Pending { left, position, level, row, span: Span::default() });
            }
        }
        Ok(Step::Complete(left))
    }

    fn operator(&mut self, mut pending: Pending<'t>) -> Result<Step> {
        let (start, level) = (self.at, pending.level);
        self.at += pending.row.text.len();
        pending.span = Span::new(start, self.at);
        self.frames.push(Frame::Operator(pending));
        self.skip()?;
        Ok(Step::Value(level))
    }

    /// Pipes a value into a path after it, as in `f() .a`; a pipe before it is extended, even one in parentheses.
    fn implicit_pipe(&mut self, left: Operand, position: ValuePosition, level: usize) -> Result<Step> {
        let start = self.at;
        self.note_detached_dot();
        let path = self.keys(start, vec![name("get", Span::new(start, start + 1))])?;
        self.piped = Some((ImplicitPipe { value: self.value, path: path.span }, self.at));
        let value = match left.expr.head() {
            Some(PIPE) => self.append(left, path)?,
            _ => self.nest(PIPE, Span::new(start, start), left, path)?,
        };
        Ok(Step::After(value, position, level))
    }

    /// Builds `left op right`, where the left side may already be a call of the same function.
    fn combine(&mut self, pending: Pending<'t>, right: Operand) -> Result<Step> {
        let Pending { left, position, level, row, span } = pending;
        let chained = !position.exact && left.expr.head() == Some(&*row.name);
        if chained && row.chain == Chain::NotAllowed && !position.parenthesis {
            self.at = span.start as usize;
            return Ok(Step::After(left, position, level + 1));
        }
        let value = match chained && row.chain == Chain::Flat {
            true => self.append(left, right)?,
            false => self.nest(&row.name, span, left, right)?,
        };
        Ok(Step::After(value, position, level))
    }

    fn nest(&mut self, function: &str, at: Span, left: Operand, right: Operand) -> Result<Operand> {
        let (span, depth) = (left.span.to(right.span), left.depth.max(right.depth));
        self.call_of(vec![name(function, at), left.expr, right.expr], span, depth)
    }

    fn append(&mut self, mut left: Operand, right: Operand) -> Result<Operand> {
        left.span = left.span.to(right.span);
        left.depth = left.depth.max(right.depth + 1);
        left.expr.span = left.span;
        if let Node::Array(items) = &mut left.expr.node {
            items.push(right.expr);
        }
        self.check_depth(left.depth)?;
        Ok(left)
    }

    /// Builds a call around values of this depth.
    fn call_of(&mut self, items: Vec<Expr>, span: Span, depth: usize) -> Result<Operand> {
        self.check_depth(depth + 1)?;
        self.count(1)?;
        Ok(Operand { expr: Expr::new(Node::Array(items), span), span, depth: depth + 1 })
    }

    // Limits.

    fn check_depth(&self, depth: usize) -> Result<()> {
        if depth <= MAX_QUERY_DEPTH {
            return Ok(());
        }
        let message = format!("the query is nested more than {MAX_QUERY_DEPTH} levels deep");
        Err(self.error(Code::NestedTooDeep, &message).with_limit("depth", MAX_QUERY_DEPTH as u64))
    }

    fn count(&mut self, parts: usize) -> Result<()> {
        self.parts += parts;
        if self.parts <= MAX_QUERY_NODES {
            return Ok(());
        }
        let message = format!("the query has more than {MAX_QUERY_NODES} parts");
        Err(self.error(Code::NestedTooDeep, &message).with_limit("nodes", MAX_QUERY_NODES as u64))
    }

    // The text.

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Consumes a terminal, if there is one.
    fn token(&mut self, terminal: impl Fn(&'t str) -> IResult<&'t str, &'t str>) -> Option<&'t str> {
        let (_, found) = terminal(self.rest()).ok()?;
        self.at += found.len();
        Some(found)
    }

    /// Consumes a string and returns its value; `None` if it is not closed.
    fn quoted(&mut self) -> Result<Option<Box<str>>> {
        let start = self.at;
        let Some(lexeme) = self.token(string) else { return Ok(None) };
        unescape(&lexeme[1..lexeme.len() - 1]).map(Some).map_err(|bad| bad.error(self.text, start + 1))
    }

    /// Consumes white space and comments.
    fn skip(&mut self) -> Result<()> {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\n' | b'\t' | b'\r' => self.at += 1,
                b'/' if self.profile == Profile::Pidq => {
                    let Some(length) = self.comment()? else { break };
                    self.add_comment(Span::new(self.at, self.at + length));
                    self.at += length;
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Returns the length of the comment at the current position.
    fn comment(&self) -> Result<Option<usize>> {
        let rest = self.rest();
        if rest.starts_with("//") {
            return Ok(Some(rest.find('\n').unwrap_or(rest.len())));
        }
        if !rest.starts_with("/*") {
            return Ok(None);
        }
        let end = rest[2..].find("*/").map(|at| at + 4);
        end.map(Some).ok_or_else(|| {
            let error = syntax_error(self.text, self.at, 2, Code::CharacterExpected, "Unclosed comment");
            let error = error.with_expected(Some("`*/`".into()));
            error.with_label("a comment begins here").with_help("close it with `*/`")
        })
    }

    fn add_comment(&mut self, comment: Span) {
        if self.trivia.comments.last().is_none_or(|last| last.start < comment.start) {
            self.trivia.comments.push(comment);
        }
    }

    /// Records the dot at the current position if white space separates it from the value before it, in the same line.
    fn note_detached_dot(&mut self) {
        let before = &self.text[..self.at];
        let value = before.trim_end_matches([' ', '\t']);
        let dot = Span::new(self.at, self.at + 1);
        let is_new = self.trivia.detached_dots.last().is_none_or(|last| last.start < dot.start);
        if value.len() < before.len() && !value.ends_with(['\n', '\r']) && is_new {
            self.trivia.detached_dots.push(dot);
        }
    }

    // Errors.

    fn error(&self, code: Code, message: &str) -> Error {
        let piped = self.piped.filter(|(_, end)| *end == self.at).map(|(piped, _)| piped);
        ParseFailure { text: self.text, at: self.at, code, operators: self.operators, piped }.to_error(message)
    }

    fn value_expected(&self) -> Error {
        self.error(Code::ValueExpected, "Value expected")
    }

    fn missing_character(&self, group: &Group, byte: Option<u8>) -> Error {
        let message = format!("Character '{}' expected", byte.unwrap_or_default() as char);
        let error = self.error(Code::CharacterExpected, &message);
        if let (Some(b':'), Kind::Object(_, key)) = (byte, &group.kind) {
            return error.with_help(colon_help(&key.name, self.peek()));
        }
        match error.help() {
            Some(_) => error,
            None => error.with_help(unclosed_bracket(self.text, group.open)),
        }
    }
}

impl Group {
    fn close(&self) -> Option<u8> {
        Some(match self.kind {
            Kind::Parenthesis | Kind::Call(_) => b')',
            Kind::Array(_) => b']',
            Kind::Object(..) => b'}',
        })
    }
}

/// Returns the help for a missing `:` after a key.
fn colon_help(key: &str, found: Option<u8>) -> String {
    match found {
        Some(b',' | b'}') if key.starts_with('$') => format!("there is no short form: write `{}: {key}`", &key[1..]),
        Some(b',' | b'}') if is_word(key) => format!("there is no short form: write `{key}: .{key}`"),
        _ => "a key, a `:` and a value make an entry of an object".into(),
    }
}

/// Returns the first item of a call, or a key of a path.
fn name(text: &str, span: Span) -> Expr {
    Expr::new(Node::String(text.into()), span)
}

/// Placeholder of a key that is parsed later.
fn placeholder_key() -> Key {
    Key { name: Box::default(), span: Span::default() }
}

/// Returns the items of the call of an object literal.
fn object(entries: Vec<(Key, Expr)>, span: Span) -> Vec<Expr> {
    let brace = Span::new(span.start as usize, span.start as usize + 1);
    vec![name("object", brace), Expr::new(Node::Object(last_wins(entries)), span)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::json::{from_json, to_json};
    use crate::syntax::operators::{Operator, Precedence};

    fn json_of(expr: &Expr) -> String {
        let mut out = String::new();
        to_json(expr, &mut out);
        out
    }

    /// Returns the tree in one profile, or the error on one line.
    fn parse_to_json(text: &str, profile: Profile) -> String {
        match parse(text, Operators::standard(), profile) {
            Ok(expr) => json_of(&expr),
            Err(error) => format!("{} {}", error.code().as_str(), error.message()),
        }
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(parse_to_json(text, Profile::Pidq), expected, "{text}");
        assert_eq!(parse_to_json(text, Profile::JsonQuery), expected, "{text} in JSON Query");
    }

    fn check_extension(text: &str, pidq: &str, json_query: &str) {
        assert_eq!(parse_to_json(text, Profile::Pidq), pidq, "{text}");
        assert_eq!(parse_to_json(text, Profile::JsonQuery), json_query, "{text} in JSON Query");
    }

    fn error(text: &str) -> Error {
        parse(text, Operators::standard(), Profile::Pidq).expect_err(text)
    }

    /// Returns every node of a tree as the text of its span.
    fn spans(text: &str) -> Vec<String> {
        fn walk(expr: &Expr, text: &str, out: &mut Vec<String>) {
            out.push(text[expr.span.range(text)].to_string());
            match &expr.node {
                Node::Array(items) => items.iter().for_each(|item| walk(item, text, out)),
                Node::Object(entries) => entries.iter().for_each(|(key, value)| {
                    out.push(format!("key {}", &text[key.span.range(text)]));
                    walk(value, text, out);
                }),
                _ => {}
            }
        }
        let mut out = Vec::new();
        walk(&parse(text, Operators::standard(), Profile::Pidq).expect(text), text, &mut out);
        out
    }

    /// Runs in a thread with a small stack: deep queries must not need more.
    fn on_small_stack(work: impl FnOnce() + Send + 'static) {
        let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(work);
        thread.expect("a thread starts").join().expect("the work fits on the stack");
    }

    #[test]
    fn paths_are_one_call() {
        check(".a", r#"["get","a"]"#);
        check(r#".a .0."b c""#, r#"["get","a",0,"b c"]"#);
        check(" .$x_1 ", r#"["get","$x_1"]"#);
    }

    #[test]
    fn constants_are_json() {
        check("-1.5e3", "-1500");
        check("1e400", "null");
        check("-0", "0");
        check(r#""a\n\u00e9\ud83d\ude00/\/""#, r#""a\né😀//""#);
        check(r#""\ud83d \ud83d\ude00""#, "PQ0006 Lone surrogate in string (pos: 1)");
        check(r#""\ud83d\ude00 \udc00""#, "PQ0006 Lone surrogate in string (pos: 14)");
        check("null", "null");
        check("01", "PQ0005 Unexpected part '1' (pos: 1)");
    }

    #[test]
    fn duplicate_keys_keep_the_last_value_at_the_first_position() {
        check("{b: 1, 2: 2, a: 3, 1: 4}", r#"["object",{"1":4,"2":2,"b":1,"a":3}]"#);
        check(r#"{a: 1, b: 2, "a": 3}"#, r#"["object",{"a":3,"b":2}]"#);
        check("{}", r#"["object",{}]"#);
    }

    #[test]
    fn operators_bind_by_level() {
        check("1 + 2 * 3", r#"["add",1,["multiply",2,3]]"#);
        check("1 - 2 - 3", r#"["subtract",["subtract",1,2],3]"#);
        check(".a == 1 and .b not in [2] | size()", SIZE_OF_CONDITION);
        check("2--3", r#"["subtract",2,-3]"#);
        check("-2 ^ 2", r#"["pow",-2,2]"#);
        check("1 < 2 > 3", r#"["gt",["lt",1,2],3]"#);
        check("1and2", r#"["and",1,2]"#);
    }

    const SIZE_OF_CONDITION: &str =
        r#"["pipe",["and",["eq",["get","a"],1],["not in",["get","b"],["array",2]]],["size"]]"#;

    #[test]
    fn chains_are_flat_unless_a_parenthesis_comes_first() {
        check("1 and 2 and 3", r#"["and",1,2,3]"#);
        check("(1) and 2 and 3", r#"["and",["and",1,2],3]"#);
        check(" (1) and 2 and 3", r#"["and",1,2,3]"#);
        check("f(1, (1) and 2 and 3)", r#"["f",1,["and",1,2,3]]"#);
        check("[1, (1) and 2 and 3]", r#"["array",1,["and",["and",1,2],3]]"#);
        check("and(1, 2) and 3", r#"["and",1,2,3]"#);
    }

    #[test]
    fn comparisons_do_not_chain() {
        check("1 == 2 == 3", "PQ0005 Unexpected part '== 3' (pos: 7)");
        check("eq(1, 2) == 3", "PQ0005 Unexpected part '== 3' (pos: 9)");
        check("f(1 == 2 == 3)", "PQ0004 Character ',' expected (pos: 9)");
        check("(1 == 2) == 3 == 4", r#"["eq",["eq",["eq",1,2],3],4]"#);
        check("[1, (1 == 2) == 3]", r#"["array",1,["eq",["eq",1,2],3]]"#);
    }

    #[test]
    fn quirks_of_the_reference_parser_are_accepted() {
        check(" (1 == 2) == 3", r#"["eq",["eq",1,2],3]"#);
        check("{a: (1 == 2) == 3}", r#"["object",{"a":["eq",["eq",1,2],3]}]"#);
        check("null == 1", r#"["eq",null,1]"#);
        check("null | .a", r#"["pipe",null,["get","a"]]"#);
    }

    #[test]
    fn a_path_after_a_value_is_piped() {
        check("f().a", r#"["pipe",["f"],["get","a"]]"#);
        check("(1 | 2).a", r#"["pipe",1,2,["get","a"]]"#);
        check("1 + 2 .x", r#"["pipe",["add",1,2],["get","x"]]"#);
        check("f().x == 1", "PQ0005 Unexpected part '== 1' (pos: 6)");
    }

    #[test]
    fn variables_bind_tightly() {
        check_extension("$a", r#"["$","a"]"#, "PQ0001 Value expected (pos: 0)");
        check_extension(r#"1 + $a.b.0."c d""#, r#"["add",1,["$","a","b",0,"c d"]]"#, "PQ0001 Value expected (pos: 4)");
        check(r#"$("a").b"#, r#"["pipe",["$","a"],["get","b"]]"#);
        check("$x(1)", r#"["$x",1]"#);
        check("$", "PQ0001 Value expected (pos: 0)");
    }

    #[test]
    fn a_lone_dot_is_the_current_value() {
        check_extension("sort(.)", r#"["sort",["get"]]"#, "PQ0002 Property expected (pos: 6)");
        check_extension(
            "[. , {a: . }]",
            r#"["array",["get"],["object",{"a":["get"]}]]"#,
            "PQ0002 Property expected (pos: 2)",
        );
        check_extension(
            ". | . in [1]",
            r#"["pipe",["get"],["in",["get"],["array",1]]]"#,
            "PQ0002 Property expected (pos: 1)",
        );
        check_extension(".", r#"["get"]"#, "PQ0002 Property expected (pos: 1)");
        check_extension(".a | . ", r#"["pipe",["get","a"],["get"]]"#, "PQ0002 Property expected (pos: 6)");
        check(". \"a\"", "PQ0002 Property expected (pos: 1)");
        check("f(1 .)", "PQ0002 Property expected (pos: 5)");
    }

    #[test]
    fn comments_are_white_space() {
        check_extension(".a // b\n", r#"["get","a"]"#, "PQ0001 Value expected (pos: 4)");
        check_extension("/* a */f/**/(/*\n*/1)", r#"["f",1]"#, "PQ0001 Value expected (pos: 0)");
        check_extension("1 /* a", "PQ0004 Unclosed comment (pos: 2)", "PQ0001 Value expected (pos: 3)");
        check(r#""// /*""#, r#""// /*""#);
    }

    #[test]
    fn messages_count_utf16_units() {
        check("\"😀é\" x", "PQ0005 Unexpected part 'x' (pos: 6)");
        check("", "PQ0001 Value expected (pos: 0)");
        check("f(1", "PQ0004 Character ')' expected (pos: 3)");
        check("f(1 2)", "PQ0004 Character ',' expected (pos: 4)");
        check("[", "PQ0004 Character ']' expected (pos: 1)");
        check("{a 1}", "PQ0004 Character ':' expected (pos: 3)");
        check("{a: 1,}", "PQ0003 Key expected (pos: 6)");
        check(".a\u{a0}", "PQ0005 Unexpected part '\u{a0}' (pos: 2)");
        check(r#""a\x""#, "PQ0006 Bad escaped character in string (pos: 2)");
        check("\"a\n\"", "PQ0006 Bad control character in string (pos: 2)");
        check(r#""\u12+4""#, "PQ0006 Bad escaped character in string (pos: 1)");
    }

    #[test]
    fn the_label_contains_the_expected_syntax() {
        let expected_and_label = |text| {
            let error = error(text);
            [error.expected(), error.label()].map(|text| text.unwrap_or_default().to_owned())
        };
        assert_eq!(expected_and_label(""), ["a value", "a value is expected here"]);
        assert_eq!(expected_and_label(".a."), ["a property name", "a property name is expected here"]);
        assert_eq!(expected_and_label("{a: 1,}"), ["a key", "a key is expected here"]);
        assert_eq!(expected_and_label("f(1"), ["`)`", "`)` expected"]);
        assert_eq!(expected_and_label("{a 1}"), ["`:`", "`:` expected"]);
        assert_eq!(expected_and_label("1 2"), ["the end of the query", "not expected here"]);
        assert_eq!(expected_and_label("1 /* a"), ["`*/`", "a comment begins here"]);
        assert_eq!(expected_and_label(r#""a\x""#), ["", "not allowed in a string"]);
    }

    #[test]
    fn every_node_has_its_source_span() {
        assert_eq!(spans("f( .a.\"é\" )"), ["f( .a.\"é\" )", "f", ".a.\"é\"", ".", "a", "\"é\""]);
        assert_eq!(spans("(1 + 2) == .x"), ["(1 + 2) == .x", "==", "1 + 2", "+", "1", "2", ".x", ".", "x"]);
        assert_eq!(spans("1 or 2 or f ()"), ["1 or 2 or f ()", "or", "1", "2", "f ()", "f"]);
        assert_eq!(spans("{a: [1], a: 2}"), ["{a: [1], a: 2}", "{", "{a: [1], a: 2}", "key a", "2"]);
        assert_eq!(spans("$n.a"), ["$n.a", "$", "n", "a"]);
    }

    #[test]
    fn custom_operators_take_their_level() {
        let precedence = Precedence::Before("|".into());
        let custom =
            Operator { name: "coalesce".into(), text: "??".into(), precedence, vararg: true, left_associative: true };
        let operators = Operators::standard().with(&[custom]).expect("the operator is valid");
        let tree = |text| parse(text, &operators, Profile::JsonQuery).map(|expr| json_of(&expr));
        assert_eq!(tree("1 ?? 2 ?? 3 | .a").ok().as_deref(), Some(r#"["pipe",["coalesce",1,2,3],["get","a"]]"#));
        assert_eq!(tree(".a or .b ?? 3").ok().as_deref(), Some(r#"["coalesce",["or",["get","a"],["get","b"]],3]"#));
    }

    #[test]
    fn nesting_is_limited_and_needs_little_stack() {
        on_small_stack(|| {
            for (open, inner, close) in [
                ("(", "1", ")"),
                ("[", "", "]"),
                ("f(", "", ")"),
                ("{a:", "1", "}"),
                ("1 or 1 and 1 == 1 > 1 + 1 * 1 ^ (", "1", ")"),
            ] {
                let nested = |levels| format!("{}{inner}{}", open.repeat(levels), close.repeat(levels));
                let levels = if open.starts_with('1') { MAX_QUERY_DEPTH / 7 } else { MAX_QUERY_DEPTH };
                let expr = parse(&nested(levels), Operators::standard(), Profile::Pidq).expect(open);
                assert_eq!(from_json(&json_of(&expr)).map(|expr| json_of(&expr)).ok(), Some(json_of(&expr)));
                assert_eq!(error(&nested(levels + 1)).code(), Code::NestedTooDeep, "{open}");
                assert_eq!(error(&nested(9000 / open.len())).code(), Code::NestedTooDeep, "{open}");
            }
        });
    }

    #[test]
    fn long_chains_are_deep_and_flat_chains_are_not() {
        on_small_stack(|| {
            let chain = |operator: &str, count| vec!["1"; count].join(operator);
            assert!(parse(&chain("+", MAX_QUERY_DEPTH + 1), Operators::standard(), Profile::Pidq).is_ok());
            assert_eq!(error(&chain("+", MAX_QUERY_DEPTH + 2)).code(), Code::NestedTooDeep);
            assert!(parse(&chain("|", 9000), Operators::standard(), Profile::Pidq).is_ok());
            assert_eq!(error(&chain("|", MAX_QUERY_NODES)).code(), Code::NestedTooDeep);
            assert_eq!(error(&format!("1{}", " ".repeat(MAX_QUERY_SIZE))).code(), Code::QueryTooLong);
        });
    }
}

//! Formatter: lays out a query and keeps its comments.
//!
//! Unlike `stringify`, its output always parses to the same tree. A tree that operators cannot express is written as a
//! call: `and(x)`, `eq(1, 2, 3)`.

use crate::error::{Code, Error, Result, Span};
use crate::syntax::json::{quote, to_json, write_number};
use crate::syntax::operators::{Chain, OperatorEntry, Operators};
use crate::syntax::print::{fits, joined, length16, property};
use crate::syntax::text::parse_with_comments;
use crate::syntax::token::{is_variable, is_word};
use crate::syntax::{Expr, Key, Node, Profile};

/// Maximum line length, if a call can be broken into several lines.
const MAX_WIDTH: usize = 80;
/// One level of indentation.
const INDENT: &str = "  ";

/// Formats a query text. Formatting is idempotent.
pub(crate) fn format(text: &str, operators: &Operators, profile: Profile) -> Result<String> {
    let (expr, spans) = parse_with_comments(text, operators, profile)?;
    let comments = comments(text, &spans);
    let formatted_text = Formatter::new(operators, profile, &comments).query(&expr);
    // The formatter must not change a query, so it parses its own output before returning it.
    let verified = formatted_text.ok().filter(|new| parses_as(new, &expr, &comments, operators, profile));
    Ok(verified.unwrap_or_else(|| text.to_owned()))
}

/// Prints a query that has no source text.
pub(crate) fn print(expr: &Expr, operators: &Operators) -> Result<String> {
    Formatter::new(operators, Profile::Pidq, &[]).query(expr)
}

/// Returns true if a text parses to this tree and these comments.
fn parses_as(text: &str, expr: &Expr, comments: &[Comment], operators: &Operators, profile: Profile) -> bool {
    parse_with_comments(text, operators, profile).is_ok_and(|(new, spans)| {
        let (mut old_json, mut new_json) = (String::new(), String::new());
        to_json(expr, &mut old_json);
        to_json(&new, &mut new_json);
        let has_same_comments =
            self::comments(text, &spans).iter().map(|comment| comment.text).eq(comments.iter().map(|c| c.text));
        old_json == new_json && has_same_comments
    })
}

/// A comment and the line breaks around it.
struct Comment<'t> {
    text: &'t str,
    start: usize,
    line_before: bool,
    line_after: bool,
}

fn comments<'t>(text: &'t str, spans: &[Span]) -> Vec<Comment<'t>> {
    let is_blank = |c: char| matches!(c, ' ' | '\n' | '\t' | '\r');
    let comment = |span: &Span| {
        let range = span.range(text);
        let (before, after) = (&text[..range.start], &text[range.end..]);
        let (blank_before, blank_after) = (before.trim_end_matches(is_blank), after.trim_start_matches(is_blank));
        Comment {
            text: text[range.clone()].trim_end(),
            start: range.start,
            line_before: before[blank_before.len()..].contains('\n'),
            line_after: blank_after.is_empty() || after[..after.len() - blank_after.len()].contains('\n'),
        }
    };
    spans.iter().map(comment).collect()
}

/// The comments between two nodes of a query.
#[derive(Default)]
struct AttachedComments<'q> {
    /// At the end of the previous line.
    trailing: Vec<&'q str>,
    /// On lines of their own.
    own_line: Vec<&'q str>,
    /// On the line of the next node.
    inline: Vec<&'q str>,
}

impl<'q> AttachedComments<'q> {
    fn new(comments: &'q [Comment<'q>]) -> AttachedComments<'q> {
        let texts = |comments: &'q [Comment<'q>]| comments.iter().map(|comment| comment.text).collect();
        let lines = comments.iter().rposition(|comment| comment.line_after).map_or(0, |last| last + 1);
        let (lines, inline) = comments.split_at(lines);
        let (trailing, own) = lines.split_at(first_line(lines));
        AttachedComments { trailing: texts(trailing), own_line: texts(own), inline: texts(inline) }
    }

    fn is_empty(&self) -> bool {
        self.trailing.is_empty() && self.own_line.is_empty() && self.inline.is_empty()
    }

    fn breaks(&self) -> bool {
        !self.trailing.is_empty() || !self.own_line.is_empty()
    }

    /// Moves inline comments after others to lines of their own: before a closing bracket there is no line for them.
    fn at_end(mut self) -> AttachedComments<'q> {
        if self.breaks() {
            self.own_line.append(&mut self.inline);
        }
        self
    }

    /// Ends the line, and writes the comment lines before the next node.
    fn write_lines(&self, indent: &str, out: &mut String) {
        for comment in &self.trailing {
            out.push_str(&format!(" {comment}"));
        }
        for comment in &self.own_line {
            out.push_str(&format!("\n{indent}{comment}"));
        }
    }

    /// Returns the comments after the last node on its line.
    fn suffix(&self) -> String {
        self.inline.iter().map(|comment| format!(" {comment}")).collect()
    }

    /// Returns the comments before the next node on its line.
    fn prefix(&self) -> String {
        self.inline.iter().map(|comment| format!("{comment} ")).collect()
    }
}

/// Returns the number of comments that fit at the end of the previous line. Nothing can follow `//` there.
fn first_line(comments: &[Comment]) -> usize {
    let same_line = comments.iter().take_while(|comment| !comment.line_before).count();
    let to_slashes = comments.iter().position(|comment| comment.text.starts_with("//")).map_or(same_line, |at| at + 1);
    same_line.min(to_slashes)
}

/// Notation of a node, and its effect on the parser.
#[derive(Clone, Copy, Default)]
struct Notation {
    /// The level of the operator.
    level: Option<usize>,
    /// True if the left side is in parentheses.
    left_in_parentheses: bool,
    /// True if the text begins with a parenthesis.
    begins_with_parenthesis: bool,
    /// True if the node needs parentheses, so that its own first parenthesis counts.
    wrapped: bool,
}

/// An item of a bracketed list.
struct FormattedItem<'q> {
    comments: AttachedComments<'q>,
    text: String,
}

/// Bracketed items.
#[derive(Clone, Copy)]
enum Items<'e> {
    Call(&'e str, &'e [Expr]),
    Array(&'e [Expr]),
    Object(&'e [(Key, Expr)]),
}

struct Formatter<'q> {
    operators: &'q Operators,
    profile: Profile,
    comments: &'q [Comment<'q>],
    /// Index of the first comment not yet written.
    next: usize,
    /// Unfinished nodes, the innermost last: a query may be deeper than the call stack.
    frames: Vec<Frame<'q>>,
}

/// An unfinished node.
enum Frame<'q> {
    Parentheses,
    Chain(Operation<'q>),
    List(List<'q>),
}

/// An operator and its operands.
struct Operation<'q> {
    level: usize,
    row: &'q OperatorEntry,
    args: &'q [Expr],
    indent: usize,
    formatted: Vec<FormattedItem<'q>>,
    /// Comments before the current operand.
    comments: AttachedComments<'q>,
}

/// Items in brackets.
struct List<'q> {
    items: Items<'q>,
    span: Span,
    indent: usize,
    /// True if a comment within ends a line.
    breaks: bool,
    /// True if the only argument of a call stays on the line of the call: `map({`.
    hugs: bool,
    formatted: Vec<FormattedItem<'q>>,
    /// Comments before the current item.
    comments: AttachedComments<'q>,
}

/// Next step of the formatter.
enum Step<'q> {
    /// Writes a node on its own at a level of indentation. `exact`: no white space before it.
    Part { expr: &'q Expr, indent: usize, exact: bool },
    /// Passes a text to the innermost unfinished node.
    Text(String),
}

impl<'q> Formatter<'q> {
    fn new(operators: &'q Operators, profile: Profile, comments: &'q [Comment<'q>]) -> Formatter<'q> {
        Formatter { operators, profile, comments, next: 0, frames: Vec::new() }
    }

    fn query(&mut self, expr: &'q Expr) -> Result<String> {
        let head = self.take_comments(self.begin(expr));
        let mut out: String =
            head.trailing.iter().chain(&head.own_line).map(|comment| format!("{comment}\n")).collect();
        out.push_str(&head.prefix());
        let mut text = self.part(expr, head.is_empty())?;
        // A dot at the end of a text would parse as a path without a name.
        if text.ends_with('.') {
            text.pop();
            text.push_str("get()");
        }
        out.push_str(&text);
        let tail = self.take_comments(usize::MAX).at_end();
        out.push_str(&tail.suffix());
        tail.write_lines("", &mut out);
        Ok(out)
    }

    fn part(&mut self, expr: &'q Expr, exact: bool) -> Result<String> {
        let mut step = Step::Part { expr, indent: 0, exact };
        loop {
            step = match step {
                Step::Part { expr, indent, exact } => self.begin_node(expr, indent, exact)?,
                Step::Text(text) => match self.frames.pop() {
                    Some(Frame::Parentheses) => Step::Text(format!("({text})")),
                    Some(Frame::Chain(operation)) => self.add_operand(operation, text),
                    Some(Frame::List(list)) => self.add_item(list, &text),
                    None => return Ok(text),
                },
            };
        }
    }

    // Comments.

    /// Takes the comments before a byte of the text.
    fn take_comments(&mut self, until: usize) -> AttachedComments<'q> {
        let rest = &self.comments[self.next..];
        let comments = &rest[..rest.partition_point(|comment| comment.start < until)];
        self.next += comments.len();
        AttachedComments::new(comments)
    }

    /// Returns true if a comment within a span ends a line.
    fn breaks(&self, span: Span) -> bool {
        let within = |comment: &&Comment| comment.start < span.end as usize;
        self.comments[self.next..].iter().take_while(within).any(|comment| comment.line_after)
    }

    /// Returns the start of a node's text: a call written as an operator begins with its left side.
    fn begin(&self, mut expr: &Expr) -> usize {
        while let Some((.., args)) = self.operation(expr) {
            expr = &args[0];
        }
        expr.span.start as usize
    }

    // Operators.

    /// Returns the operator and the operands of a node, if it can be written as an operator.
    fn operation<'e>(&self, expr: &'e Expr) -> Option<(usize, &'q OperatorEntry, &'e [Expr])> {
        let (name, args) = call(expr)?;
        let (level, row) = self.operators.find(name)?;
        let fits = args.len() == 2 || (args.len() > 2 && row.chain == Chain::Flat);
        (fits && row.is_parseable).then_some((level, row, args))
    }

    /// Returns the notation of a node. `exact`: no white space before it that would hide its first parenthesis.
    ///
    /// The rules mirror those of the parser. `(a and b) and c` nests, but after white space it parses as `a and b and
    /// c`. A chain of three that begins with a parenthesis nests as well.
    fn notation(&self, expr: &Expr, exact: bool) -> Notation {
        // The left side is written first, so the innermost node comes first.
        let mut spine = Vec::new();
        let mut part = expr;
        while let Some(operation) = self.operation(part) {
            spine.push(operation);
            part = &operation.2[0];
        }
        let mut notation = Notation::default();
        while let Some((level, row, args)) = spine.pop() {
            notation = notation_around(notation, level, row, args, exact);
        }
        notation
    }

    fn begin_node(&mut self, expr: &'q Expr, indent: usize, exact: bool) -> Result<Step<'q>> {
        let notation = self.notation(expr, exact);
        if notation.wrapped {
            return Ok(self.in_parentheses(expr, indent));
        }
        match (notation.level, self.operation(expr)) {
            (Some(_), Some((level, row, args))) => {
                // Only an operator on the left is indented relative to the operator around it.
                let inner = indent + usize::from(self.operation(&args[0]).is_some());
                let (formatted, comments) = (Vec::with_capacity(args.len()), AttachedComments::default());
                self.frames.push(Frame::Chain(Operation { level, row, args, indent, formatted, comments }));
                Ok(self.operand(&args[0], notation.left_in_parentheses, inner, exact))
            }
            _ => self.plain(expr, indent),
        }
    }

    fn in_parentheses(&mut self, expr: &'q Expr, indent: usize) -> Step<'q> {
        self.frames.push(Frame::Parentheses);
        Step::Part { expr, indent, exact: true }
    }

    fn operand(&mut self, expr: &'q Expr, parentheses: bool, indent: usize, exact: bool) -> Step<'q> {
        if parentheses { self.in_parentheses(expr, indent) } else { Step::Part { expr, indent, exact } }
    }

    fn add_operand(&mut self, mut operation: Operation<'q>, text: String) -> Step<'q> {
        let comments = std::mem::take(&mut operation.comments);
        operation.formatted.push(FormattedItem { text: comments.prefix() + &text, comments });
        let Some(arg) = operation.args.get(operation.formatted.len()) else {
            return Step::Text(chain(&operation.formatted, &operation.row.text, operation.indent));
        };
        operation.comments = self.take_comments(self.begin(arg));
        let parentheses = self.notation(arg, true).level.is_some_and(|own| own >= operation.level);
        let inner = operation.indent + 1;
        self.frames.push(Frame::Chain(operation));
        self.operand(arg, parentheses, inner, true)
    }

    // Everything else.

    fn plain(&mut self, expr: &'q Expr, indent: usize) -> Result<Step<'q>> {
        let Some((name, args)) = call(expr) else { return constant(expr).map(Step::Text) };
        if let Some(text) = self.getter(name, args) {
            return Ok(Step::Text(text));
        }
        match (name, args) {
            ("array", _) => Ok(self.list(Items::Array(args), expr.span, indent)),
            ("object", [Expr { node: Node::Object(entries), .. }]) => {
                Ok(self.list(Items::Object(entries), expr.span, indent))
            }
            _ if is_word(name) => Ok(self.list(Items::Call(name, args), expr.span, indent)),
            _ => Err(no_text_format(name, args.len())),
        }
    }

    /// Returns a path, a variable, or a dot for the current value.
    fn getter(&self, name: &str, args: &[Expr]) -> Option<String> {
        match (name, args, self.profile) {
            ("get", [], Profile::Pidq) => Some(".".into()),
            ("get", [_, ..], _) => path(args),
            ("$", [Expr { node: Node::String(name), .. }, keys @ ..], Profile::Pidq) if is_variable(name) => {
                path(keys).map(|keys| format!("${name}{keys}"))
            }
            _ => None,
        }
    }

    fn list(&mut self, items: Items<'q>, span: Span, indent: usize) -> Step<'q> {
        let breaks = self.breaks(span);
        let hugs = matches!(items, Items::Call(_, [_])) && !breaks;
        let (formatted, comments) = (Vec::new(), AttachedComments::default());
        self.next_item(List { items, span, indent, breaks, hugs, formatted, comments })
    }

    /// Starts the next item. White space before it is skipped after `(` and in arrays, but not after a comma in a call.
    fn next_item(&mut self, mut list: List<'q>) -> Step<'q> {
        let at = list.formatted.len();
        let (item, exact) = match list.items {
            Items::Call(_, args) => (args.get(at), at == 0),
            Items::Array(args) => (args.get(at), true),
            Items::Object(entries) => (entries.get(at).map(|(_, value)| value), false),
        };
        let Some(expr) = item else { return self.end_list(&list) };
        list.comments = self.take_comments(self.begin(expr));
        let indent = list.indent + usize::from(!list.hugs);
        self.frames.push(Frame::List(list));
        Step::Part { expr, indent, exact }
    }

    /// Moves comments between a key and its value before the key.
    fn add_item(&mut self, mut list: List<'q>, text: &str) -> Step<'q> {
        let comments = std::mem::take(&mut list.comments);
        let key = match list.items {
            Items::Object(entries) => entries.get(list.formatted.len()).map(|(key, _)| property(&key.name) + ": "),
            _ => None,
        };
        let text = format!("{}{}{text}", comments.prefix(), key.unwrap_or_default());
        list.formatted.push(FormattedItem { text, comments });
        self.next_item(list)
    }

    fn end_list(&mut self, list: &List<'q>) -> Step<'q> {
        let end = self.take_comments(list.span.end as usize).at_end();
        let (brackets, indent) = (list.items.brackets(), list.indent * INDENT.len());
        let (line, fits) = one_line(&brackets, &list.formatted, &end, indent);
        Step::Text(match !list.breaks && (list.hugs || fits || list.formatted.is_empty()) {
            true => line,
            false => lines(&brackets, &list.formatted, &end, list.indent),
        })
    }
}

/// Returns the notation of an operator from that of its left side.
fn notation_around(left: Notation, level: usize, row: &OperatorEntry, args: &[Expr], exact: bool) -> Notation {
    let is_same_operator = args[0].head() == Some(&*row.name);
    let binds_looser = left.wrapped || left.level.is_some_and(|inner| inner > level);
    let left_in_parentheses =
        binds_looser || (is_same_operator && row.chain != Chain::Left && !left.begins_with_parenthesis);
    let begins_with_parenthesis = left_in_parentheses || left.begins_with_parenthesis;
    match (row.chain, args.len()) {
        (Chain::Flat, 2) if is_same_operator && !exact => Notation { wrapped: true, ..Notation::default() },
        (Chain::Flat, 3..) if is_same_operator || (exact && begins_with_parenthesis) => Notation::default(),
        _ => Notation { level: Some(level), left_in_parentheses, begins_with_parenthesis, wrapped: false },
    }
}

/// The brackets around items on one line, and around items on separate lines.
struct Brackets {
    one_line: [String; 2],
    broken: [String; 2],
}

impl Items<'_> {
    fn brackets(&self) -> Brackets {
        let both = |open: &str, close: &str| [open.to_owned(), close.to_owned()];
        match self {
            Items::Call(name, _) => {
                let open = format!("{name}(");
                Brackets { one_line: both(&open, ")"), broken: both(&open, ")") }
            }
            Items::Array(_) => Brackets { one_line: both("[", "]"), broken: both("[", "]") },
            Items::Object([]) => Brackets { one_line: both("{", "}"), broken: both("{", "}") },
            Items::Object(_) => Brackets { one_line: both("{ ", " }"), broken: both("{", "}") },
        }
    }
}

/// Returns the function and the arguments of a call.
fn call(expr: &Expr) -> Option<(&str, &[Expr])> {
    match &expr.node {
        Node::Array(items) => Some((expr.head()?, items.get(1..)?)),
        _ => None,
    }
}

/// Joins operands with their operator: on one line, or each on a line that begins with the operator.
fn chain(formatted: &[FormattedItem], operator: &str, indent: usize) -> String {
    let inner = INDENT.repeat(indent + 1);
    let texts: Vec<String> = formatted.iter().map(|item| item.text.clone()).collect();
    let line = ["", &format!(" {operator} "), ""];
    let in_line = |item: &FormattedItem| !item.text.contains('\n') && !item.comments.breaks();
    if formatted.iter().all(in_line) && fits(&texts, line, MAX_WIDTH.saturating_sub(indent * INDENT.len())) {
        return joined(&texts, line);
    }
    let mut out = String::new();
    for (at, item) in formatted.iter().enumerate() {
        item.comments.write_lines(&inner, &mut out);
        if at > 0 {
            out.push_str(&format!("\n{inner}{operator} "));
        }
        out.push_str(&item.text);
    }
    out
}

/// Returns all items on one line, and true if it fits.
fn one_line(brackets: &Brackets, formatted: &[FormattedItem], end: &AttachedComments, indent: usize) -> (String, bool) {
    let [open, close] = &brackets.one_line;
    let last = end.suffix();
    let close = format!("{}{close}", if formatted.is_empty() { last.trim_start() } else { &last });
    let texts: Vec<String> = formatted.iter().map(|item| item.text.clone()).collect();
    let line = joined(&texts, [open, ", ", &close]);
    let in_line = formatted.iter().all(|item| !item.text.contains('\n'));
    let fits = in_line && indent + length16(&line) <= MAX_WIDTH;
    (line, fits)
}

/// Returns the items on separate lines.
fn lines(brackets: &Brackets, formatted: &[FormattedItem], end: &AttachedComments, indent: usize) -> String {
    let [open, close] = &brackets.broken;
    let (outer, inner) = (INDENT.repeat(indent), INDENT.repeat(indent + 1));
    let mut out = open.to_owned();
    for (at, item) in formatted.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        item.comments.write_lines(&inner, &mut out);
        out.push_str(&format!("\n{inner}{}", item.text));
    }
    end.write_lines(&inner, &mut out);
    out.push_str(&format!("\n{outer}{}{close}", end.prefix()));
    out
}

fn constant(expr: &Expr) -> Result<String> {
    let mut out = String::new();
    match &expr.node {
        Node::Null => out.push_str("null"),
        Node::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Node::String(text) => quote(text, &mut out),
        // JSON has no infinity and no negative zero; the text format does.
        Node::Number(value) if value.is_infinite() => out.push_str(if *value > 0.0 { "1e400" } else { "-1e400" }),
        Node::Number(value) if *value == 0.0 && value.is_sign_negative() => out.push_str("-0"),
        Node::Number(value) => write_number(*value, &mut out),
        Node::Array(_) | Node::Object(_) => return Err(not_a_call(expr)),
    }
    Ok(out)
}

/// Returns `.a.0."b c"`, unless a key can only be an argument of `get`.
fn path(keys: &[Expr]) -> Option<String> {
    let mut out = String::new();
    for key in keys {
        out.push('.');
        match &key.node {
            Node::String(name) => out.push_str(&property(name)),
            Node::Number(value) if is_index(*value) => write_number(*value, &mut out),
            _ => return None,
        }
    }
    Some(out)
}

/// Returns true if a number prints as digits only.
fn is_index(value: f64) -> bool {
    let mut text = String::new();
    write_number(value, &mut text);
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the error for a node of a query in JSON format that is not a query.
fn not_a_call(expr: &Expr) -> Error {
    let mut json = String::new();
    to_json(expr, &mut json);
    let len = crate::error::floor_char_boundary(&json, 60);
    match expr.node {
        Node::Object(_) => {
            let message = format!("Function notation [\"object\", {{...}}] expected but got {}", &json[..len]);
            Error::new(Code::ObjectNotation, message)
        }
        _ => Error::new(Code::UnknownFunction, format!("Unknown function in {}", &json[..len])),
    }
}

/// Returns the error for a call that the text format cannot express.
fn no_text_format(name: &str, args: usize) -> Error {
    let error = Error::new(Code::UnknownFunction, format!("Unknown function '{name}'"));
    error.with_help(format!("a call of `{name}` with {args} arguments has no text format"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::json::from_json;
    use crate::syntax::operators::{Operator, Precedence};
    use crate::syntax::text::parse;

    fn json_of(expr: &Expr) -> String {
        let mut out = String::new();
        to_json(expr, &mut out);
        out
    }

    fn format_once(text: &str) -> String {
        format(text, Operators::standard(), Profile::Pidq).expect(text)
    }

    /// Checks the layout of a text, and that formatting is idempotent.
    fn check(text: &str, expected: &str) {
        assert_eq!(format_once(text), expected, "{text}");
        assert_eq!(format_once(expected), expected, "again");
    }

    /// Checks the text of a tree, and that it parses to the same tree.
    fn check_print(json: &str, expected: &str) {
        let operators = Operators::standard();
        let text = print(&from_json(json).expect(json), operators).expect(json);
        assert_eq!(text, expected, "{json}");
        assert_eq!(json_of(&parse(&text, operators, Profile::Pidq).expect(&text)), json, "{text}");
    }

    #[test]
    fn white_space_is_normalized() {
        check(" .a|filter( .b==1 )", ".a | filter(.b == 1)");
        check("{a:1,\"b c\":[ ],0:$x .y}", "{ a: 1, \"b c\": [], \"0\": $x.y }");
        check("((.a))", ".a");
        check("f().a", "f() | .a");
    }

    #[test]
    fn long_queries_break_at_operators_and_commas() {
        check(
            r#"nodes(.component_class in ["vessel","tank"]) | filter(not(downstream({depth:2}) | any(.sub_class=="safety"))) | map(.tag)"#,
            concat!(
                "nodes(.component_class in [\"vessel\", \"tank\"])\n",
                "  | filter(not(downstream({ depth: 2 }) | any(.sub_class == \"safety\")))\n",
                "  | map(.tag)"
            ),
        );
        check(
            r#"map({tag: .tag, on: neighbors("both", .edge_type == "signal") | filter(.component_class != "instrument")})"#,
            concat!(
                "map({\n",
                "  tag: .tag,\n",
                "  on: neighbors(\"both\", .edge_type == \"signal\")\n",
                "    | filter(.component_class != \"instrument\")\n",
                "})"
            ),
        );
    }

    #[test]
    fn comments_keep_their_position() {
        check(
            ".nodes // all\n|filter(.a) // some\n// count\n|size()",
            ".nodes // all\n  | filter(.a) // some\n  // count\n  | size()",
        );
        check("f(/* a */1,/* b */2)", "f(/* a */ 1, /* b */ 2)");
        check("f(1, // one\n2 // two\n)", "f(\n  1, // one\n  2 // two\n)");
        check("// top\n/* x */ .a // end", "// top\n/* x */ .a // end");
        check("{a: // why\n1 /* last */}", "{ // why\n  a: 1\n/* last */ }");
        check("f(/**/)", "f(/**/)");
        check("f( // none\n)", "f( // none\n)");
        check("\"// no\"", "\"// no\"");
    }

    #[test]
    fn a_lone_dot_stays_unless_it_ends_the_query() {
        check("sort(get())", "sort(.)");
        check(". | size() == .\n | get()", ". | size() == . | get()");
        assert_eq!(
            format("sort(get())", Operators::standard(), Profile::JsonQuery).ok().as_deref(),
            Some("sort(get())")
        );
        assert_eq!(format("$(\"a\")", Operators::standard(), Profile::JsonQuery).ok().as_deref(), Some("$(\"a\")"));
    }

    #[test]
    fn parentheses_keep_the_tree() {
        check("(1 and 2) and 3", "(1 and 2) and 3");
        check(" (1 and 2) and 3", "1 and 2 and 3");
        check("/* a */((1 and 2) and 3)", "/* a */ ((1 and 2) and 3)");
        check("f(1,(1 and 2) and 3)", "f(1, ((1 and 2) and 3))");
        check("[1,(1 and 2) and 3]", "[1, (1 and 2) and 3]");
        check("f(1, (1 or 2) and 3 and 4)", "f(1, (1 or 2) and 3 and 4)");
        check("f( (1 or 2) and 3 and 4)", "f((1 or 2) and 3 and 4)");
        check("(1 == 2) == 3", "(1 == 2) == 3");
        check("1 - (2 - 3)", "1 - (2 - 3)");
        check("1 == (2 == 3)", "1 == (2 == 3)");
    }

    #[test]
    fn trees_without_operator_notation_are_calls() {
        check_print(r#"["and",1]"#, "and(1)");
        check_print(r#"["pipe"]"#, "pipe()");
        check_print(r#"["eq",1,2,3]"#, "eq(1, 2, 3)");
        check_print(r#"["and",["and",1,2],3,4]"#, "and(1 and 2, 3, 4)");
        check_print(r#"["and",["or",1,2],3,4]"#, "and(1 or 2, 3, 4)");
        check_print(r#"["and",["and"],3]"#, "(and()) and 3");
        check_print(r#"["get",true]"#, "get(true)");
        check_print(r#"["get",-1,["add",1,1]]"#, "get(-1, 1 + 1)");
        check_print(r#"["object",["object",{"a":1}],2]"#, "object({ a: 1 }, 2)");
        check_print(r#"["$","a b"]"#, "$(\"a b\")");
    }

    #[test]
    fn numbers_that_json_lacks_are_kept() {
        check("[1e999, -1e999, -0]", "[1e400, -1e400, -0]");
    }

    #[test]
    fn trees_without_text_format_are_errors() {
        let code = |json: &str| print(&from_json(json).expect(json), Operators::standard()).err().map(|e| e.code());
        assert_eq!(code("{\"a\":1}"), Some(Code::ObjectNotation));
        assert_eq!(code("[]"), Some(Code::UnknownFunction));
        assert_eq!(code("[[1]]"), Some(Code::UnknownFunction));
        assert_eq!(code("[\"not in\",1]"), Some(Code::UnknownFunction));
        assert_eq!(code("[\"a b\"]"), Some(Code::UnknownFunction));
    }

    #[test]
    fn a_custom_operator_that_another_hides_prints_as_a_call() {
        let precedence = Precedence::After("+".into());
        let hidden =
            Operator { name: "concat".into(), text: "++".into(), precedence, vararg: false, left_associative: true };
        let operators = Operators::standard().with(&[hidden]).expect("the operator is valid");
        let printed = print(&from_json(r#"["concat",1,2]"#).expect("the query is valid"), &operators);
        assert_eq!(printed.ok().as_deref(), Some("concat(1, 2)"));
    }

    /// Deterministic pseudo-random numbers.
    struct Rng(u64);

    impl Rng {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % bound
        }

        fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
            from[self.below(from.len())]
        }
    }

    const SEPARATORS: &[&str] =
        &["", "", " ", "\n", " /* a */", "// b\n", "\n// c\n", "\n/* d */", "/* e\n e */", "/* f */\n"];
    const LEAVES: &[&str] =
        &["1", "-2", "null", "\"x // y\"", ".a.\"b c\".0", "get()", "$x.a", ".", "f()", "get(true)"];
    const OPERATORS: &[&str] = &["|", "and", "or", "==", "!=", "<", "in", "+", "-", "*", "^"];
    const NAMES: &[&str] = &["f", "and", "or", "eq", "pipe", "add"];

    fn random_query(random: &mut Rng, depth: usize) -> String {
        let gap = |random: &mut Rng| random.pick(SEPARATORS);
        let (before, after) = (gap(random), gap(random));
        if depth == 0 {
            return format!("{before}{}{after}", random.pick(LEAVES));
        }
        let (a, b) = (random_query(random, depth - 1), random_query(random, depth - 1));
        match random.below(9) {
            0 => format!("{before}[{a},{b}]{after}"),
            1 => format!("{before}{{a:{a},{before}b{after}:{b}}}"),
            2 => format!("{before}{}({a},{b})", random.pick(NAMES)),
            3 | 4 => format!("{before}({a}){after}"),
            5 => format!("({a}) {0} {b} {0} {a}", random.pick(OPERATORS)),
            _ => format!("{a} {} {b}", random.pick(OPERATORS)),
        }
    }

    #[test]
    fn formatting_keeps_tree_and_comments_and_is_idempotent() {
        let (operators, mut random, mut query_count) = (Operators::standard(), Rng(7), 0);
        for round in 0..4000 {
            let text = random_query(&mut random, round % 5);
            let Ok((expr, spans)) = parse_with_comments(&text, operators, Profile::Pidq) else { continue };
            let comments = comments(&text, &spans);
            let layout = Formatter::new(operators, Profile::Pidq, &comments).query(&expr);
            let once = layout.expect(&text);
            assert!(parses_as(&once, &expr, &comments, operators, Profile::Pidq), "{text:?}\nbecame\n{once}");
            assert_eq!(format_once(&once), once, "from {text:?}");
            query_count += 1;
        }
        assert!(query_count > 1000, "only {query_count} texts were queries");
    }

    #[test]
    fn deep_queries_can_be_printed() {
        let limit = crate::limits::MAX_QUERY_DEPTH;
        let deep = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
            for (open, inner, close) in [("f(", "", ")"), ("f(1, ", "2", ")"), ("[", "", "]"), ("{a: ", "1", "}")] {
                let text = format!("{}{inner}{}", open.repeat(limit), close.repeat(limit));
                let once = format_once(&text);
                assert_eq!(format_once(&once), once, "{open}");
            }
        });
        deep.expect("a thread starts").join().expect("printing fits on the stack");
    }
}

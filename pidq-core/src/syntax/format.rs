//! The formatter: a query → the same query, laid out. Comments stay.
//!
//! Unlike `stringify`, what it writes always reads back as the same tree. Where operators cannot say it, it writes a
//! call: `and(x)`, `eq(1, 2, 3)`.

use crate::error::{Code, Error, Result, Span};
use crate::syntax::json::{quote, to_json, write_number};
use crate::syntax::operators::{Chain, Operators, Row};
use crate::syntax::print::{fits, joined, length16, property};
use crate::syntax::text::parse_with_comments;
use crate::syntax::token::{is_variable, is_word};
use crate::syntax::{Expr, Key, Node, Profile};

/// The longest line, where a call can be broken into several.
const WIDTH: usize = 80;
/// One step of indentation.
const STEP: &str = "  ";

/// Lays a query text out again. Formatting it twice changes nothing.
pub(crate) fn format(text: &str, operators: &Operators, profile: Profile) -> Result<String> {
    let (expr, spans) = parse_with_comments(text, operators, profile)?;
    let comments = comments(text, &spans);
    let laid_out = Layout::new(operators, profile, &comments).query(&expr);
    // A formatter must not change a query, so this one reads its own text before it hands it out.
    let safe = laid_out.ok().filter(|new| reads_as(new, &expr, &comments, operators, profile));
    Ok(safe.unwrap_or_else(|| text.to_owned()))
}

/// Prints a query that has no text of its own.
pub(crate) fn print(expr: &Expr, operators: &Operators) -> Result<String> {
    Layout::new(operators, Profile::Pidq, &[]).query(expr)
}

/// Whether a text has this tree and these comments.
fn reads_as(text: &str, expr: &Expr, comments: &[Comment], operators: &Operators, profile: Profile) -> bool {
    parse_with_comments(text, operators, profile).is_ok_and(|(new, spans)| {
        let (mut old_json, mut new_json) = (String::new(), String::new());
        to_json(expr, &mut old_json);
        to_json(&new, &mut new_json);
        let kept = self::comments(text, &spans).iter().map(|comment| comment.text).eq(comments.iter().map(|c| c.text));
        old_json == new_json && kept
    })
}

/// A comment and what is around it.
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

/// The comments between two parts of a query.
#[derive(Default)]
struct Notes<'q> {
    /// At the end of the line before.
    trailing: Vec<&'q str>,
    /// On lines of their own.
    own: Vec<&'q str>,
    /// In the line of what follows.
    inline: Vec<&'q str>,
}

impl<'q> Notes<'q> {
    fn new(comments: &'q [Comment<'q>]) -> Notes<'q> {
        let texts = |comments: &'q [Comment<'q>]| comments.iter().map(|comment| comment.text).collect();
        let lines = comments.iter().rposition(|comment| comment.line_after).map_or(0, |last| last + 1);
        let (lines, inline) = comments.split_at(lines);
        let (trailing, own) = lines.split_at(first_line(lines));
        Notes { trailing: texts(trailing), own: texts(own), inline: texts(inline) }
    }

    fn is_empty(&self) -> bool {
        self.trailing.is_empty() && self.own.is_empty() && self.inline.is_empty()
    }

    fn breaks(&self) -> bool {
        !self.trailing.is_empty() || !self.own.is_empty()
    }

    /// Where nothing follows but the end of something, there is no line for inline comments behind others.
    fn at_end(mut self) -> Notes<'q> {
        if self.breaks() {
            self.own.append(&mut self.inline);
        }
        self
    }

    /// Ends a line, and writes the lines up to the next part.
    fn write_lines(&self, indent: &str, out: &mut String) {
        for note in &self.trailing {
            out.push_str(&format!(" {note}"));
        }
        for note in &self.own {
            out.push_str(&format!("\n{indent}{note}"));
        }
    }

    /// What stands behind the last part in its line.
    fn suffix(&self) -> String {
        self.inline.iter().map(|note| format!(" {note}")).collect()
    }

    /// What stands before the next part in its line.
    fn prefix(&self) -> String {
        self.inline.iter().map(|note| format!("{note} ")).collect()
    }
}

/// How many comments can stand at the end of the line before. Nothing can follow `//` there.
fn first_line(comments: &[Comment]) -> usize {
    let same_line = comments.iter().take_while(|comment| !comment.line_before).count();
    let to_slashes = comments.iter().position(|comment| comment.text.starts_with("//")).map_or(same_line, |at| at + 1);
    same_line.min(to_slashes)
}

/// How a part is written, and what the parser makes of it there.
#[derive(Clone, Copy, Default)]
struct Shape {
    /// The level of the operator that it is written with.
    level: Option<usize>,
    /// Whether the left side stands in parentheses.
    left_in_parentheses: bool,
    /// Whether the text begins with a parenthesis.
    opens: bool,
    /// Whether it needs parentheses around the whole, so that its own first parenthesis counts.
    wrapped: bool,
}

/// A part of a list in brackets.
struct Piece<'q> {
    notes: Notes<'q>,
    text: String,
}

/// What stands in brackets.
#[derive(Clone, Copy)]
enum Items<'e> {
    Call(&'e str, &'e [Expr]),
    Array(&'e [Expr]),
    Object(&'e [(Key, Expr)]),
}

struct Layout<'q> {
    operators: &'q Operators,
    profile: Profile,
    comments: &'q [Comment<'q>],
    /// The first comment that is not written yet.
    next: usize,
    /// The parts that are begun and wait for a text, the innermost last: a query may be deeper than the call stack.
    open: Vec<Open<'q>>,
}

/// A part whose first texts are written.
enum Open<'q> {
    Parentheses,
    Chain(Operation<'q>),
    List(List<'q>),
}

/// An operator and its operands.
struct Operation<'q> {
    level: usize,
    row: &'q Row,
    args: &'q [Expr],
    indent: usize,
    pieces: Vec<Piece<'q>>,
    /// What stands before the operand that is being written.
    notes: Notes<'q>,
}

/// Items in brackets.
struct List<'q> {
    items: Items<'q>,
    span: Span,
    indent: usize,
    /// Whether a comment within ends a line.
    breaks: bool,
    /// Whether the only argument of a call stays in the line of the call: `map({`.
    hugs: bool,
    pieces: Vec<Piece<'q>>,
    /// What stands before the item that is being written.
    notes: Notes<'q>,
}

/// What to do next.
enum Step<'q> {
    /// Write a part that stands alone, indented by so many steps. `exact`: no white space before it.
    Part { expr: &'q Expr, indent: usize, exact: bool },
    /// Hand a text to what waits for it.
    Text(String),
}

impl<'q> Layout<'q> {
    fn new(operators: &'q Operators, profile: Profile, comments: &'q [Comment<'q>]) -> Layout<'q> {
        Layout { operators, profile, comments, next: 0, open: Vec::new() }
    }

    fn query(&mut self, expr: &'q Expr) -> Result<String> {
        let head = self.take(self.begin(expr));
        let mut out: String = head.trailing.iter().chain(&head.own).map(|note| format!("{note}\n")).collect();
        out.push_str(&head.prefix());
        let mut text = self.part(expr, head.is_empty())?;
        // A dot at the end of a text would be a path without a name.
        if text.ends_with('.') {
            text.pop();
            text.push_str("get()");
        }
        out.push_str(&text);
        let tail = self.take(usize::MAX).at_end();
        out.push_str(&tail.suffix());
        tail.write_lines("", &mut out);
        Ok(out)
    }

    fn part(&mut self, expr: &'q Expr, exact: bool) -> Result<String> {
        let mut step = Step::Part { expr, indent: 0, exact };
        loop {
            step = match step {
                Step::Part { expr, indent, exact } => self.slot(expr, indent, exact)?,
                Step::Text(text) => match self.open.pop() {
                    Some(Open::Parentheses) => Step::Text(format!("({text})")),
                    Some(Open::Chain(operation)) => self.add_operand(operation, text),
                    Some(Open::List(list)) => self.add_item(list, &text),
                    None => return Ok(text),
                },
            };
        }
    }

    // Comments.

    /// The comments before a byte of the text.
    fn take(&mut self, until: usize) -> Notes<'q> {
        let rest = &self.comments[self.next..];
        let taken = &rest[..rest.partition_point(|comment| comment.start < until)];
        self.next += taken.len();
        Notes::new(taken)
    }

    /// Whether a comment within a part ends a line.
    fn breaks(&self, span: Span) -> bool {
        let within = |comment: &&Comment| comment.start < span.end as usize;
        self.comments[self.next..].iter().take_while(within).any(|comment| comment.line_after)
    }

    /// Where the text of a part begins when it is written: a call written as an operator begins with its left side.
    fn begin(&self, mut expr: &Expr) -> usize {
        while let Some((.., args)) = self.operation(expr) {
            expr = &args[0];
        }
        expr.span.start as usize
    }

    // Operators.

    /// An operator and its operands, if the part can be written so.
    fn operation<'e>(&self, expr: &'e Expr) -> Option<(usize, &'q Row, &'e [Expr])> {
        let (name, args) = call(expr)?;
        let (level, row) = self.operators.find(name)?;
        let fits = args.len() == 2 || (args.len() > 2 && row.chain == Chain::Flat);
        (fits && row.readable).then_some((level, row, args))
    }

    /// How a part is written. `exact`: no white space before it that would hide its first parenthesis.
    ///
    /// The rules are those of the parser turned round. `(a and b) and c` nests, but where blanks may precede it, it
    /// reads as `a and b and c`. And a chain of three that begins with a parenthesis nests too.
    fn shape(&self, expr: &Expr, exact: bool) -> Shape {
        // A left side is written before what it is the left side of, so the innermost comes first.
        let mut spine = Vec::new();
        let mut part = expr;
        while let Some(operation) = self.operation(part) {
            spine.push(operation);
            part = &operation.2[0];
        }
        let mut shape = Shape::default();
        while let Some((level, row, args)) = spine.pop() {
            shape = shape_around(shape, level, row, args, exact);
        }
        shape
    }

    fn slot(&mut self, expr: &'q Expr, indent: usize, exact: bool) -> Result<Step<'q>> {
        let shape = self.shape(expr, exact);
        if shape.wrapped {
            return Ok(self.in_parentheses(expr, indent));
        }
        match (shape.level, self.operation(expr)) {
            (Some(_), Some((level, row, args))) => {
                // Only an operator on the left is set off from the operator around it.
                let inner = indent + usize::from(self.operation(&args[0]).is_some());
                let (pieces, notes) = (Vec::with_capacity(args.len()), Notes::default());
                self.open.push(Open::Chain(Operation { level, row, args, indent, pieces, notes }));
                Ok(self.operand(&args[0], shape.left_in_parentheses, inner, exact))
            }
            _ => self.plain(expr, indent),
        }
    }

    fn in_parentheses(&mut self, expr: &'q Expr, indent: usize) -> Step<'q> {
        self.open.push(Open::Parentheses);
        Step::Part { expr, indent, exact: true }
    }

    fn operand(&mut self, expr: &'q Expr, parentheses: bool, indent: usize, exact: bool) -> Step<'q> {
        if parentheses { self.in_parentheses(expr, indent) } else { Step::Part { expr, indent, exact } }
    }

    fn add_operand(&mut self, mut operation: Operation<'q>, text: String) -> Step<'q> {
        let notes = std::mem::take(&mut operation.notes);
        operation.pieces.push(Piece { text: notes.prefix() + &text, notes });
        let Some(arg) = operation.args.get(operation.pieces.len()) else {
            return Step::Text(chain(&operation.pieces, &operation.row.text, operation.indent));
        };
        operation.notes = self.take(self.begin(arg));
        let parentheses = self.shape(arg, true).level.is_some_and(|own| own >= operation.level);
        let inner = operation.indent + 1;
        self.open.push(Open::Chain(operation));
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
            _ => Err(no_text(name, args.len())),
        }
    }

    /// A path, a variable, or a dot for the current value.
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
        let (pieces, notes) = (Vec::new(), Notes::default());
        self.next_item(List { items, span, indent, breaks, hugs, pieces, notes })
    }

    /// Begins the next item. White space before it is skipped after `(` and in arrays, but not after a comma in a call.
    fn next_item(&mut self, mut list: List<'q>) -> Step<'q> {
        let at = list.pieces.len();
        let (item, exact) = match list.items {
            Items::Call(_, args) => (args.get(at), at == 0),
            Items::Array(args) => (args.get(at), true),
            Items::Object(entries) => (entries.get(at).map(|(_, value)| value), false),
        };
        let Some(expr) = item else { return self.end_list(&list) };
        list.notes = self.take(self.begin(expr));
        let indent = list.indent + usize::from(!list.hugs);
        self.open.push(Open::List(list));
        Step::Part { expr, indent, exact }
    }

    /// Comments between a key and its value go before the key.
    fn add_item(&mut self, mut list: List<'q>, text: &str) -> Step<'q> {
        let notes = std::mem::take(&mut list.notes);
        let key = match list.items {
            Items::Object(entries) => entries.get(list.pieces.len()).map(|(key, _)| property(&key.name) + ": "),
            _ => None,
        };
        let text = format!("{}{}{text}", notes.prefix(), key.unwrap_or_default());
        list.pieces.push(Piece { text, notes });
        self.next_item(list)
    }

    fn end_list(&mut self, list: &List<'q>) -> Step<'q> {
        let end = self.take(list.span.end as usize).at_end();
        let (brackets, indent) = (list.items.brackets(), list.indent * STEP.len());
        let (line, fits) = one_line(&brackets, &list.pieces, &end, indent);
        Step::Text(match !list.breaks && (list.hugs || fits || list.pieces.is_empty()) {
            true => line,
            false => lines(&brackets, &list.pieces, &end, list.indent),
        })
    }
}

/// How an operator is written whose left side is written so.
fn shape_around(left: Shape, level: usize, row: &Row, args: &[Expr], exact: bool) -> Shape {
    let same = args[0].head() == Some(&*row.name);
    let looser = left.wrapped || left.level.is_some_and(|inner| inner > level);
    let left_in_parentheses = looser || (same && row.chain != Chain::Left && !left.opens);
    let opens = left_in_parentheses || left.opens;
    match (row.chain, args.len()) {
        (Chain::Flat, 2) if same && !exact => Shape { wrapped: true, ..Shape::default() },
        (Chain::Flat, 3..) if same || (exact && opens) => Shape::default(),
        _ => Shape { level: Some(level), left_in_parentheses, opens, wrapped: false },
    }
}

/// The brackets around items in one line, and around items on lines of their own.
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

/// The function and the arguments of a call.
fn call(expr: &Expr) -> Option<(&str, &[Expr])> {
    match &expr.node {
        Node::Array(items) => Some((expr.head()?, items.get(1..)?)),
        _ => None,
    }
}

/// Operands, and the operator between them: in one line, or each on a line that begins with the operator.
fn chain(pieces: &[Piece], operator: &str, indent: usize) -> String {
    let inner = STEP.repeat(indent + 1);
    let texts: Vec<String> = pieces.iter().map(|piece| piece.text.clone()).collect();
    let line = ["", &format!(" {operator} "), ""];
    let in_line = |piece: &Piece| !piece.text.contains('\n') && !piece.notes.breaks();
    if pieces.iter().all(in_line) && fits(&texts, line, WIDTH.saturating_sub(indent * STEP.len())) {
        return joined(&texts, line);
    }
    let mut out = String::new();
    for (at, piece) in pieces.iter().enumerate() {
        piece.notes.write_lines(&inner, &mut out);
        if at > 0 {
            out.push_str(&format!("\n{inner}{operator} "));
        }
        out.push_str(&piece.text);
    }
    out
}

/// All items in one line, and whether that fits the width.
fn one_line(brackets: &Brackets, pieces: &[Piece], end: &Notes, indent: usize) -> (String, bool) {
    let [open, close] = &brackets.one_line;
    let last = end.suffix();
    let close = format!("{}{close}", if pieces.is_empty() { last.trim_start() } else { &last });
    let texts: Vec<String> = pieces.iter().map(|piece| piece.text.clone()).collect();
    let line = joined(&texts, [open, ", ", &close]);
    let in_line = pieces.iter().all(|piece| !piece.text.contains('\n'));
    let fits = in_line && indent + length16(&line) <= WIDTH;
    (line, fits)
}

/// Every item on a line of its own.
fn lines(brackets: &Brackets, pieces: &[Piece], end: &Notes, indent: usize) -> String {
    let [open, close] = &brackets.broken;
    let (outer, inner) = (STEP.repeat(indent), STEP.repeat(indent + 1));
    let mut out = open.to_owned();
    for (at, piece) in pieces.iter().enumerate() {
        out.push_str(if at > 0 { "," } else { "" });
        piece.notes.write_lines(&inner, &mut out);
        out.push_str(&format!("\n{inner}{}", piece.text));
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
        // JSON has no infinity and no negative zero, but the text format has.
        Node::Number(value) if value.is_infinite() => out.push_str(if *value > 0.0 { "1e400" } else { "-1e400" }),
        Node::Number(value) if *value == 0.0 && value.is_sign_negative() => out.push_str("-0"),
        Node::Number(value) => write_number(*value, &mut out),
        Node::Array(_) | Node::Object(_) => return Err(no_call(expr)),
    }
    Ok(out)
}

/// `.a.0."b c"`, unless a key can only be an argument of `get`.
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

/// Whether a number prints as digits alone.
fn is_index(value: f64) -> bool {
    let mut text = String::new();
    write_number(value, &mut text);
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A part of a query in JSON format that is no query.
fn no_call(expr: &Expr) -> Error {
    let mut json = String::new();
    to_json(expr, &mut json);
    let shown = crate::error::floor_char_boundary(&json, 60);
    match expr.node {
        Node::Object(_) => {
            let message = format!("Function notation [\"object\", {{...}}] expected but got {}", &json[..shown]);
            Error::new(Code::ObjectNotation, message)
        }
        _ => Error::new(Code::UnknownFunction, format!("Unknown function in {}", &json[..shown])),
    }
}

/// A call that the text format has no words for.
fn no_text(name: &str, args: usize) -> Error {
    let error = Error::new(Code::UnknownFunction, format!("Unknown function '{name}'"));
    error.with_help(format!("a call of `{name}` with {args} arguments has no text format"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::json::from_json;
    use crate::syntax::operators::{Operator, Place};
    use crate::syntax::text::parse;

    fn json_of(expr: &Expr) -> String {
        let mut out = String::new();
        to_json(expr, &mut out);
        out
    }

    fn format_once(text: &str) -> String {
        format(text, Operators::standard(), Profile::Pidq).expect(text)
    }

    /// What a text is laid out as. Doing so again changes nothing.
    fn check(text: &str, expected: &str) {
        assert_eq!(format_once(text), expected, "{text}");
        assert_eq!(format_once(expected), expected, "again");
    }

    /// What a tree is printed as. It reads back as the same tree.
    fn check_print(json: &str, expected: &str) {
        let operators = Operators::standard();
        let text = print(&from_json(json).expect(json), operators).expect(json);
        assert_eq!(text, expected, "{json}");
        assert_eq!(json_of(&parse(&text, operators, Profile::Pidq).expect(&text)), json, "{text}");
    }

    #[test]
    fn white_space_is_normal() {
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
    fn comments_stay_where_they_belong() {
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
    fn what_operators_cannot_say_is_a_call() {
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
    fn numbers_without_json_survive() {
        check("[1e999, -1e999, -0]", "[1e400, -1e400, -0]");
    }

    #[test]
    fn what_no_text_can_say_is_an_error() {
        let code = |json: &str| print(&from_json(json).expect(json), Operators::standard()).err().map(|e| e.code());
        assert_eq!(code("{\"a\":1}"), Some(Code::ObjectNotation));
        assert_eq!(code("[]"), Some(Code::UnknownFunction));
        assert_eq!(code("[[1]]"), Some(Code::UnknownFunction));
        assert_eq!(code("[\"not in\",1]"), Some(Code::UnknownFunction));
        assert_eq!(code("[\"a b\"]"), Some(Code::UnknownFunction));
    }

    #[test]
    fn a_custom_operator_that_another_hides_prints_as_a_call() {
        let place = Place::After("+".into());
        let hidden =
            Operator { name: "concat".into(), text: "++".into(), place, vararg: false, left_associative: true };
        let operators = Operators::standard().with(&[hidden]).expect("the operator is valid");
        let printed = print(&from_json(r#"["concat",1,2]"#).expect("the query is valid"), &operators);
        assert_eq!(printed.ok().as_deref(), Some("concat(1, 2)"));
    }

    /// Numbers that look random and are the same in every run.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, sides: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % sides
        }

        fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
            from[self.roll(from.len())]
        }
    }

    const GAPS: &[&str] =
        &["", "", " ", "\n", " /* a */", "// b\n", "\n// c\n", "\n/* d */", "/* e\n e */", "/* f */\n"];
    const LEAVES: &[&str] =
        &["1", "-2", "null", "\"x // y\"", ".a.\"b c\".0", "get()", "$x.a", ".", "f()", "get(true)"];
    const OPERATORS: &[&str] = &["|", "and", "or", "==", "!=", "<", "in", "+", "-", "*", "^"];
    const NAMES: &[&str] = &["f", "and", "or", "eq", "pipe", "add"];

    fn random_query(dice: &mut Dice, depth: usize) -> String {
        let gap = |dice: &mut Dice| dice.pick(GAPS);
        let (before, after) = (gap(dice), gap(dice));
        if depth == 0 {
            return format!("{before}{}{after}", dice.pick(LEAVES));
        }
        let (a, b) = (random_query(dice, depth - 1), random_query(dice, depth - 1));
        match dice.roll(9) {
            0 => format!("{before}[{a},{b}]{after}"),
            1 => format!("{before}{{a:{a},{before}b{after}:{b}}}"),
            2 => format!("{before}{}({a},{b})", dice.pick(NAMES)),
            3 | 4 => format!("{before}({a}){after}"),
            5 => format!("({a}) {0} {b} {0} {a}", dice.pick(OPERATORS)),
            _ => format!("{a} {} {b}", dice.pick(OPERATORS)),
        }
    }

    #[test]
    fn formatting_keeps_tree_and_comments_and_is_done_once() {
        let (operators, mut dice, mut read) = (Operators::standard(), Dice(7), 0);
        for round in 0..4000 {
            let text = random_query(&mut dice, round % 5);
            let Ok((expr, spans)) = parse_with_comments(&text, operators, Profile::Pidq) else { continue };
            let comments = comments(&text, &spans);
            let layout = Layout::new(operators, Profile::Pidq, &comments).query(&expr);
            let once = layout.expect(&text);
            assert!(reads_as(&once, &expr, &comments, operators, Profile::Pidq), "{text:?}\nbecame\n{once}");
            assert_eq!(format_once(&once), once, "from {text:?}");
            read += 1;
        }
        assert!(read > 1000, "only {read} texts were queries");
    }

    #[test]
    fn deep_queries_can_be_printed() {
        let limit = crate::limits::MAX_NESTING;
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

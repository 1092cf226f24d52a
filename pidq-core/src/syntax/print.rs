//! `stringify`: converts a tree to text exactly as JSON Query does.
//!
//! Exists for compatibility. Its output may parse to another tree: `and(x)` prints as `x`, and nested `and` flatten.
//! The printer with a faithful output is in `format`.

use crate::error::Result;
use crate::syntax::json::{in_order, quote, to_json};
use crate::syntax::operators::{Chain, Operators};
use crate::syntax::token::is_word;
use crate::syntax::{Expr, Key, Node};

/// Layout options of `stringify`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PrintOptions {
    /// One level of indentation.
    pub indentation: String,
    /// Maximum length of a call on one line, in UTF-16 units.
    pub max_line_length: usize,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions { indentation: "  ".into(), max_line_length: 40 }
    }
}

/// Prints a query.
pub(crate) fn stringify(expr: &Expr, options: &PrintOptions, operators: &Operators) -> Result<String> {
    Ok(Printer { options, operators, tasks: Vec::new(), texts: Vec::new() }.print(expr))
}

/// Keeps tasks and printed texts on explicit stacks: a query may be deeper than the call stack.
struct Printer<'p> {
    options: &'p PrintOptions,
    operators: &'p Operators,
    /// Pending tasks, the next one last.
    tasks: Vec<Task<'p>>,
    /// Printed texts to be joined.
    texts: Vec<String>,
}

enum Task<'p> {
    Print(Part<'p>),
    /// Joins the last texts.
    Join(Join),
}

/// A node to print, its level of indentation, and its parentheses.
struct Part<'p> {
    expr: &'p Expr,
    indent: usize,
    parentheses: Parentheses,
}

/// The text before, between and after the joined texts, on one line and on several.
struct Join {
    count: usize,
    compact: [String; 3],
    broken: [String; 3],
    /// The prefix of each text.
    keys: Vec<String>,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Parentheses {
    With,
    Without,
}

impl<'p> Printer<'p> {
    fn print(mut self, expr: &'p Expr) -> String {
        self.tasks.push(Task::Print(Part { expr, indent: 0, parentheses: Parentheses::Without }));
        while let Some(task) = self.tasks.pop() {
            match task {
                Task::Print(part) => self.begin(&part),
                Task::Join(join) => self.end(&join),
            }
        }
        self.texts.pop().unwrap_or_default()
    }

    fn begin(&mut self, part: &Part<'p>) {
        let Node::Array(items) = &part.expr.node else { return self.texts.push(constant(part.expr)) };
        let (name, args) = (call_name(items), items.get(1..).unwrap_or_default());
        match (&*name, args) {
            ("get", [_, ..]) => self.texts.push(path(args)),
            ("object", [Expr { node: Node::Object(entries), .. }, ..]) => self.object(entries, part.indent),
            ("array", _) => self.array(args, part.indent),
            _ if self.operators.find(&name).is_some() => self.operator(&name, args, part),
            _ => self.call(&name, args, part.indent),
        }
    }

    /// Schedules nodes and then their join. They are printed first to last.
    fn schedule(&mut self, parts: impl DoubleEndedIterator<Item = Part<'p>>, join: Join) {
        self.tasks.push(Task::Join(join));
        self.tasks.extend(parts.rev().map(Task::Print));
    }

    fn end(&mut self, join: &Join) {
        let mut items = self.texts.split_off(self.texts.len() - join.count);
        for (item, key) in items.iter_mut().zip(&join.keys) {
            item.insert_str(0, key);
        }
        let compact = fits(&items, strs(&join.compact), self.options.max_line_length);
        self.texts.push(joined(&items, strs(if compact { &join.compact } else { &join.broken })));
    }

    fn object(&mut self, entries: &'p [(Key, Expr)], indent: usize) {
        let entries = in_order(entries);
        let keys = entries.iter().map(|(key, _)| format!("{}: ", property(&key.name))).collect();
        let join = Join {
            count: entries.len(),
            compact: texts(["{ ", ", ", " }"]),
            broken: self.broken(["{", ",", "}"], indent),
            keys,
        };
        let parts = entries.into_iter().map(|(_, value)| plain(value, indent + 1));
        self.schedule(parts, join);
    }

    fn array(&mut self, items: &'p [Expr], indent: usize) {
        let broken = self.broken(["[", ",", "]"], indent);
        let join = Join { count: items.len(), compact: texts(["[", ", ", "]"]), broken, keys: Vec::new() };
        self.schedule(items.iter().map(|item| plain(item, indent)), join);
    }

    fn operator(&mut self, name: &str, args: &'p [Expr], part: &Part<'p>) {
        let text = self.operators.find(name).map_or("", |(_, row)| &row.text);
        let (open, close) = if part.parentheses == Parentheses::With { ("(", ")") } else { ("", "") };
        let inner = part.indent + 1;
        let join = Join {
            count: args.len(),
            compact: texts([open, &format!(" {text} "), close]),
            broken: texts([open, &format!("\n{}{text} ", self.indentation(inner)), close]),
            keys: Vec::new(),
        };
        let operands: Vec<Part<'p>> = args
            .iter()
            .enumerate()
            .map(|(at, arg)| Part { expr: arg, indent: inner, parentheses: self.parentheses(name, arg, at) })
            .collect();
        self.schedule(operands.into_iter(), join);
    }

    /// Decides as JSON Query does whether an operand gets parentheses.
    fn parentheses(&self, name: &str, arg: &Expr, index: usize) -> Parentheses {
        let (Some((level, row)), Some(inner)) = (self.operators.find(name), self.level_of(arg)) else {
            return Parentheses::Without;
        };
        let chain = arg.head() == Some(name) && row.chain == Chain::NotAllowed;
        match level < inner || (level == inner && index > 0) || chain {
            true => Parentheses::With,
            false => Parentheses::Without,
        }
    }

    fn level_of(&self, arg: &Expr) -> Option<usize> {
        self.operators.find(arg.head()?).map(|(level, _)| level)
    }

    /// A single argument stays on the line of its call.
    fn call(&mut self, name: &str, args: &'p [Expr], indent: usize) {
        let open = format!("{name}(");
        let compact = texts([&open, ", ", ")"]);
        let is_alone = args.len() == 1;
        let broken = if is_alone { compact.clone() } else { self.broken([&open, ",", ")"], indent) };
        let join = Join { count: args.len(), compact, broken, keys: Vec::new() };
        self.schedule(args.iter().map(|arg| plain(arg, indent + usize::from(!is_alone))), join);
    }

    /// Returns brackets and a comma for items on separate lines.
    fn broken(&self, [open, separator, close]: [&str; 3], indent: usize) -> [String; 3] {
        let (outer, inner) = (self.indentation(indent), self.indentation(indent + 1));
        [format!("{open}\n{inner}"), format!("{separator}\n{inner}"), format!("\n{outer}{close}")]
    }

    fn indentation(&self, steps: usize) -> String {
        self.options.indentation.repeat(steps)
    }
}

fn plain(expr: &Expr, indent: usize) -> Part<'_> {
    Part { expr, indent, parentheses: Parentheses::Without }
}

fn texts(texts: [&str; 3]) -> [String; 3] {
    texts.map(str::to_owned)
}

fn strs(texts: &[String; 3]) -> [&str; 3] {
    [&texts[0], &texts[1], &texts[2]]
}

/// Returns true if the items on one line, with brackets and separators, are at most `length` long.
pub(crate) fn fits(items: &[String], [open, separator, close]: [&str; 3], length: usize) -> bool {
    let inner: usize = items.iter().map(|item| length16(item) + length16(separator)).sum();
    // Without items the reference implementation counts one separator less than none.
    length16(open) + inner + length16(close) <= length.saturating_add(length16(separator))
}

/// Joins items with brackets and separators.
pub(crate) fn joined(items: &[String], [open, separator, close]: [&str; 3]) -> String {
    format!("{open}{}{close}", items.join(separator))
}

/// Returns the length as JavaScript counts it.
pub(crate) fn length16(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Returns the first item of a call as a name; as in JavaScript, any value prints as one.
fn call_name(items: &[Expr]) -> String {
    match items.first() {
        None => "undefined".into(),
        Some(Expr { node: Node::String(name), .. }) => name.to_string(),
        Some(other) => constant(other),
    }
}

fn constant(expr: &Expr) -> String {
    let mut out = String::new();
    to_json(expr, &mut out);
    out
}

fn path(keys: &[Expr]) -> String {
    let key = |key: &Expr| match &key.node {
        Node::String(name) => format!(".{}", property(name)),
        _ => format!(".{}", constant(key)),
    };
    keys.iter().map(key).collect()
}

/// Returns a key as a word if it is one, otherwise in quotes.
pub(crate) fn property(name: &str) -> String {
    if is_word(name) {
        return name.into();
    }
    let mut out = String::new();
    quote(name, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::json::from_json;

    fn check_with(json: &str, length: usize, expected: &str) {
        let options = PrintOptions { max_line_length: length, ..PrintOptions::default() };
        let expr = from_json(json).expect(json);
        assert_eq!(stringify(&expr, &options, Operators::standard()).ok().as_deref(), Some(expected), "{json}");
    }

    fn check(json: &str, expected: &str) {
        check_with(json, 40, expected);
    }

    #[test]
    fn calls_are_printed_in_their_notation() {
        check(r#"["pipe",["get","a",0,"b c"],["size"]]"#, r#".a.0."b c" | size()"#);
        check(r#"["object",{"b":1,"a b":["array"],"1":2}]"#, r#"{ "1": 2, b: 1, "a b": [] }"#);
        check(r#"["get"]"#, "get()");
        check(r#"["object",{}]"#, "{  }");
    }

    #[test]
    fn parentheses_match_json_query() {
        check(r#"["multiply",["add",1,2],["subtract",3,4]]"#, "(1 + 2) * (3 - 4)");
        check(r#"["subtract",["subtract",1,2],["subtract",3,4]]"#, "1 - 2 - (3 - 4)");
        check(r#"["eq",["eq",1,2],["in",3,4]]"#, "(1 == 2) == 3 in 4");
        check(r#"["and",["and",1,2],3]"#, "1 and 2 and 3");
    }

    #[test]
    fn unusual_calls_are_printed_as_in_json_query() {
        check(r#"["and",1]"#, "1");
        check(r#"["pipe"]"#, "");
        check(r#"["get",["add",1,1]]"#, r#".["add",1,1]"#);
        check(r#"{"a":1}"#, r#"{"a":1}"#);
        check("[]", "undefined()");
        check("[1,2]", "1(2)");
    }

    #[test]
    fn lines_break_when_their_text_is_too_long() {
        check_with(r#"["f",["pipe",1,2],3]"#, 0, "f(\n  1\n    | 2,\n  3\n)");
        check_with(r#"["f",["g",["h",1,2]]]"#, 10, "f(g(h(1, 2)))");
        check_with(r#"["size"]"#, 0, "size(\n  \n)");
        check_with(r#"["object",{"a":["object",{"b":1}]}]"#, 12, "{\n  a: { b: 1 }\n}");
    }

    #[test]
    fn lengths_are_utf16() {
        check_with(r#"["array","😀"]"#, 6, "[\"😀\"]");
        check_with(r#"["array","😀"]"#, 5, "[\n  \"😀\"\n]");
    }
}

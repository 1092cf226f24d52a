//! `stringify`: `Expr` → text, exactly as JSON Query prints it.
//!
//! Kept for compatibility. Not every tree reads back as it was: `and(x)` prints as `x`, and nested `and` flatten. The
//! printer that is safe to read back is in `format`.

use crate::error::Result;
use crate::syntax::json::{in_order, quote, to_json};
use crate::syntax::operators::{Chain, Operators};
use crate::syntax::token::is_word;
use crate::syntax::{Expr, Key, Node};

/// How `stringify` lays a query out.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PrintOptions {
    /// One step of indentation.
    pub indentation: String,
    /// The longest text of a call that stays in one line, in UTF-16 units.
    pub max_line_length: usize,
}

impl Default for PrintOptions {
    fn default() -> Self {
        PrintOptions { indentation: "  ".into(), max_line_length: 40 }
    }
}

/// Prints a query.
pub(crate) fn stringify(expr: &Expr, options: &PrintOptions, operators: &Operators) -> Result<String> {
    Ok(Printer { options, operators }.query(expr, "", Parentheses::Without))
}

struct Printer<'p> {
    options: &'p PrintOptions,
    operators: &'p Operators,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Parentheses {
    With,
    Without,
}

impl Printer<'_> {
    fn query(&self, expr: &Expr, indent: &str, parentheses: Parentheses) -> String {
        let Node::Array(items) = &expr.node else { return constant(expr) };
        let (name, args) = (call_name(items), items.get(1..).unwrap_or_default());
        match (&*name, args) {
            ("get", [_, ..]) => path(args),
            ("object", [Expr { node: Node::Object(entries), .. }, ..]) => self.object(entries, indent),
            ("array", _) => self.array(args, indent),
            _ if self.operators.find(&name).is_some() => self.operator(&name, args, indent, parentheses),
            _ => self.call(&name, args, indent),
        }
    }

    fn object(&self, entries: &[(Key, Expr)], indent: &str) -> String {
        let inner = self.indented(indent);
        let entry = |(key, value): &(Key, Expr)| {
            let value = self.query(value, &inner, Parentheses::Without);
            format!("{}: {value}", property(&key.name))
        };
        let texts: Vec<String> = in_order(entries).into_iter().map(entry).collect();
        let broken = [&*format!("{{\n{inner}"), &format!(",\n{inner}"), &format!("\n{indent}}}")];
        self.join(&texts, ["{ ", ", ", " }"], broken)
    }

    fn array(&self, items: &[Expr], indent: &str) -> String {
        let inner = self.indented(indent);
        let texts: Vec<String> = items.iter().map(|item| self.query(item, indent, Parentheses::Without)).collect();
        let broken = [&*format!("[\n{inner}"), &format!(",\n{inner}"), &format!("\n{indent}]")];
        self.join(&texts, ["[", ", ", "]"], broken)
    }

    fn operator(&self, name: &str, args: &[Expr], indent: &str, parentheses: Parentheses) -> String {
        let inner = self.indented(indent);
        let operand = |(index, arg)| self.query(arg, &inner, self.parentheses(name, arg, index));
        let texts: Vec<String> = args.iter().enumerate().map(operand).collect();
        let text = self.operators.find(name).map_or("", |(_, row)| &row.text);
        let (open, close) = if parentheses == Parentheses::With { ("(", ")") } else { ("", "") };
        self.join(&texts, [open, &format!(" {text} "), close], [open, &format!("\n{inner}{text} "), close])
    }

    /// Whether JSON Query puts an operand in parentheses.
    fn parentheses(&self, name: &str, arg: &Expr, index: usize) -> Parentheses {
        let (Some((level, row)), Some(inner)) = (self.operators.find(name), self.level_of(arg)) else {
            return Parentheses::Without;
        };
        let chain = arg.head() == Some(name) && row.chain == Chain::Refused;
        match level < inner || (level == inner && index > 0) || chain {
            true => Parentheses::With,
            false => Parentheses::Without,
        }
    }

    fn level_of(&self, arg: &Expr) -> Option<usize> {
        self.operators.find(arg.head()?).map(|(level, _)| level)
    }

    fn call(&self, name: &str, args: &[Expr], indent: &str) -> String {
        let inner = self.indented(indent);
        let at = if args.len() == 1 { indent } else { &inner };
        let texts: Vec<String> = args.iter().map(|arg| self.query(arg, at, Parentheses::Without)).collect();
        let open = format!("{name}(");
        match texts.as_slice() {
            [only] => format!("{open}{only})"),
            _ => {
                let broken = [&*format!("{open}\n{inner}"), &format!(",\n{inner}"), &format!("\n{indent})")];
                self.join(&texts, [&open, ", ", ")"], broken)
            }
        }
    }

    fn indented(&self, indent: &str) -> String {
        format!("{indent}{}", self.options.indentation)
    }

    fn join(&self, items: &[String], compact: [&str; 3], broken: [&str; 3]) -> String {
        match fits(items, compact, self.options.max_line_length) {
            true => joined(items, compact),
            false => joined(items, broken),
        }
    }
}

/// Whether items in one line, with what stands before, between and after them, are at most so long.
pub(crate) fn fits(items: &[String], [open, separator, close]: [&str; 3], length: usize) -> bool {
    let inner: usize = items.iter().map(|item| length16(item) + length16(separator)).sum();
    // Without items the reference counts one separator less than none.
    length16(open) + inner + length16(close) <= length + length16(separator)
}

/// Items with what stands before, between and after them.
pub(crate) fn joined(items: &[String], [open, separator, close]: [&str; 3]) -> String {
    format!("{open}{}{close}", items.join(separator))
}

/// The length as JavaScript counts it.
pub(crate) fn length16(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// Any head prints as a name, as it does in JavaScript.
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

/// A key as a word if it is one, else in quotes.
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
    fn calls_print_as_their_syntax() {
        check(r#"["pipe",["get","a",0,"b c"],["size"]]"#, r#".a.0."b c" | size()"#);
        check(r#"["object",{"b":1,"a b":["array"],"1":2}]"#, r#"{ "1": 2, b: 1, "a b": [] }"#);
        check(r#"["get"]"#, "get()");
        check(r#"["object",{}]"#, "{  }");
    }

    #[test]
    fn parentheses_stand_where_json_query_puts_them() {
        check(r#"["multiply",["add",1,2],["subtract",3,4]]"#, "(1 + 2) * (3 - 4)");
        check(r#"["subtract",["subtract",1,2],["subtract",3,4]]"#, "1 - 2 - (3 - 4)");
        check(r#"["eq",["eq",1,2],["in",3,4]]"#, "(1 == 2) == 3 in 4");
        check(r#"["and",["and",1,2],3]"#, "1 and 2 and 3");
    }

    #[test]
    fn odd_calls_print_as_in_json_query() {
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

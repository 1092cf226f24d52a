//! Hints for syntax errors: syntax of other languages, and typing mistakes.
//!
//! Messages of errors are those of JSON Query; labels, help and suggestions are pidq's.

use crate::error::{Code, Error, Span, Warning};
use crate::suggest;
use crate::syntax::Profile;
use crate::syntax::json::quote;
use crate::syntax::operators::{Chain, OperatorEntry, Operators};
use crate::syntax::text::parse;
use crate::syntax::token::{in_word, int, is_word, string, syntax_error, word};

/// Maximum number of bytes of trailing text that are marked.
const MAX_MARKED_LEN: usize = 40;

/// A position at which the parser failed.
pub(super) struct ParseFailure<'t> {
    pub text: &'t str,
    pub at: usize,
    pub code: Code,
    pub operators: &'t Operators,
    /// The path right before the position that is piped into without a `|`.
    pub piped: Option<ImplicitPipe>,
}

/// An implicit pipe such as `f().a`: a value and the path that it is piped into.
#[derive(Clone, Copy)]
pub(super) struct ImplicitPipe {
    pub value: Span,
    pub path: Span,
}

/// A hint: help text and replacements.
struct Hint {
    help: String,
    /// Number of bytes to mark; 0 if unknown.
    length: usize,
    replacements: Vec<String>,
    /// The replaced bytes, if they are not those at the position.
    replaced: Option<Span>,
}

/// Syntax of another language: the text before and after the position, and its equivalent in JSON Query.
struct ForeignSyntax {
    before: &'static str,
    after: &'static str,
    help: &'static str,
    replacement: Option<&'static str>,
}

const NO_ASSIGNMENT: &str = "a changed copy is `set(.a, 2)`, or `update(.a, get() + 1)` from the old value; a query does not change the document";

const FOREIGN_SYNTAX: &[ForeignSyntax] = &[
    ForeignSyntax { before: "==", after: "=", help: "equality is `==`; there is no `===`", replacement: Some("") },
    ForeignSyntax { before: "!=", after: "=", help: "inequality is `!=`; there is no `!==`", replacement: Some("") },
    ForeignSyntax { before: "<", after: ">", help: "inequality is `!=`", replacement: None },
    ForeignSyntax { before: "-", after: ">", help: "the pipe is `|`", replacement: None },
    ForeignSyntax { before: "+", after: "=", help: NO_ASSIGNMENT, replacement: None },
    ForeignSyntax { before: "-", after: "=", help: NO_ASSIGNMENT, replacement: None },
    ForeignSyntax { before: "|", after: "=", help: NO_ASSIGNMENT, replacement: None },
    ForeignSyntax { before: "|", after: ">", help: "the pipe is `|`", replacement: Some("") },
    ForeignSyntax { before: "(", after: "*)", help: "the number of items is `| size()`", replacement: None },
    ForeignSyntax { before: "|", after: "|", help: "`or` joins conditions; `|` is the pipe", replacement: None },
    ForeignSyntax { before: "", after: "||", help: "`or` joins conditions; `|` is the pipe", replacement: Some("or") },
    ForeignSyntax { before: "", after: "&&", help: "`and` joins conditions", replacement: Some("and") },
    ForeignSyntax { before: "", after: "&", help: "`and` joins conditions", replacement: Some("and") },
    ForeignSyntax { before: "*", after: "*", help: "the power operator is `^`", replacement: None },
    ForeignSyntax { before: "", after: "!", help: "negation is `not(…)`", replacement: None },
    ForeignSyntax { before: "", after: "=>", help: "write `>=`", replacement: Some(">=") },
    ForeignSyntax { before: "", after: "=<", help: "write `<=`", replacement: Some("<=") },
    ForeignSyntax { before: "", after: "=~", help: "to test a pattern, use `regex(.tag, \"^P-\")`", replacement: None },
    ForeignSyntax { before: "", after: "~", help: "to test a pattern, use `regex(.tag, \"^P-\")`", replacement: None },
    ForeignSyntax {
        before: "",
        after: "=",
        help: "equality is `==`; a changed copy is `set(.a, 2)`",
        replacement: Some("=="),
    },
    ForeignSyntax { before: "", after: "≥", help: "write `>=`", replacement: Some(">=") },
    ForeignSyntax { before: "", after: "≤", help: "write `<=`", replacement: Some("<=") },
    ForeignSyntax { before: "", after: "≠", help: "inequality is `!=`", replacement: Some("!=") },
    ForeignSyntax { before: "", after: "×", help: "multiplication is `*`", replacement: Some("*") },
    ForeignSyntax { before: "", after: "·", help: "multiplication is `*`", replacement: Some("*") },
    ForeignSyntax { before: "", after: "÷", help: "division is `/`", replacement: Some("/") },
    ForeignSyntax { before: "", after: "∧", help: "`and` joins conditions", replacement: Some("and") },
    ForeignSyntax { before: "", after: "∨", help: "`or` joins conditions", replacement: Some("or") },
    ForeignSyntax { before: "", after: "¬", help: "negation is `not(…)`", replacement: None },
    ForeignSyntax { before: "", after: "∈", help: "write `in`, as in `.a in [1, 2]`", replacement: Some("in") },
    ForeignSyntax {
        before: "",
        after: "∉",
        help: "write `not in`, as in `.a not in [1, 2]`",
        replacement: Some("not in"),
    },
    ForeignSyntax {
        before: "",
        after: "$.",
        help: "JSONPath's `$.a` is `.a` here, and a parameter is `$name`",
        replacement: Some("."),
    },
    ForeignSyntax {
        before: "",
        after: "$[",
        help: "JSONPath's `$[0]` is `.0` here, and a parameter is `$name`",
        replacement: None,
    },
    ForeignSyntax { before: "", after: "@.", help: "the current value needs no `@`: `.a`", replacement: Some(".") },
    ForeignSyntax { before: "", after: "??", help: "to replace null, write `coalesce(.a, 0)`", replacement: None },
    ForeignSyntax {
        before: "",
        after: "? ",
        help: "for a conditional, use `if(condition, value, otherwise)`",
        replacement: None,
    },
    ForeignSyntax { before: "", after: "?", help: "a missing property is null without `?`", replacement: Some("") },
    ForeignSyntax { before: "", after: ";", help: "arguments are separated by `,`", replacement: Some(",") },
    ForeignSyntax {
        before: ".",
        after: ".",
        help: "all nested values are `descendants()`; otherwise name every step of a path",
        replacement: None,
    },
    ForeignSyntax {
        before: "",
        after: ":=",
        help: "to bind a name, use `let({name: query}, body)`",
        replacement: None,
    },
    ForeignSyntax { before: "", after: "# ", help: "a comment begins with `//`", replacement: Some("// ") },
];

const COMPUTED_KEY: &str = "an object with a computed key is `[{key: .a, value: .b}] | fromEntries()`";

/// Constants of other languages.
const FOREIGN_CONSTANTS: &[(&str, &str)] =
    &[("true", "true"), ("false", "false"), ("null", "null"), ("none", "null"), ("nil", "null"), ("undefined", "null")];

/// Words of other languages in the position of an operator.
const FOREIGN_OPERATORS: &[(&str, &str)] = &[
    ("like", "to test a pattern, use `regex(.tag, \"^P-\")`; to test for a part, use `contains(.tag, \"P\")`"),
    ("matches", "to test a pattern, use `regex(.tag, \"^P-\")`"),
    ("contains", "`contains` is a function: `contains(.tag, \"P\")`"),
    ("is", "equality is `==`, inequality `!=`"),
    ("between", "write `.a >= 1 and .a <= 2`"),
    ("order", "to sort, use `| sort(.a)` or `| sort(.a, \"desc\")`"),
    ("desc", "the direction is a string argument: `sort(.a, \"desc\")`"),
    ("asc", "the direction is a string argument: `sort(.a, \"asc\")`"),
    ("where", "to keep some items, use `| filter(…)`"),
    ("as", "to bind a name, use `let({name: query}, body)`"),
    ("div", "division is `/`"),
    ("mod", "the remainder is `%`"),
    ("not", "write `.a not in […]`, or `not(…)` around a condition"),
    ("then", "for a conditional, use `if(condition, value, otherwise)`"),
];

/// First words of queries in other languages.
const FOREIGN_KEYWORDS: &[(&str, &str)] = &[
    ("select", "SQL's `select tag from nodes where kw > 1` is `.nodes | filter(.kw > 1) | pick(.tag)`"),
    ("from", "SQL's `from nodes` is `.nodes` here"),
    ("def", "functions cannot be defined; bind a value with `let({name: query}, body)`"),
    ("reduce", "jq's `reduce .a[] as $x (0; . + $x)` is `.a | reduce(0, .result + .item)`"),
    ("foreach", "jq's `foreach .a[] as $x (0; . + $x)` is `.a | scan(0, .result + .item)`"),
    ("try", "a default for an error is `tryOr(query, default)`"),
    ("let", "to bind a name, use `let({name: query}, body)`"),
    ("if", "for a conditional, use `if(condition, value, otherwise)`"),
];

/// First words of clauses with `by`.
const FOREIGN_ORDERS: &[(&str, &str)] = &[
    ("group", "SQL's `group by tag` is `groupBy(.tag)`; the numbers of items are `countBy(.tag)`"),
    ("order", "SQL's `order by tag` is `sort(.tag)`, or `sort(.tag, \"desc\")`"),
    ("sort", "to sort, use `sort(.tag)`, or `sort(.tag, \"desc\")`"),
];

/// Sort directions.
const DIRECTIONS: &[&str] = &["asc", "desc"];

fn help_for(word: &str, table: &[(&str, &'static str)]) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    table.iter().find(|(known, _)| *known == lower).map(|(_, help)| *help)
}

impl ParseFailure<'_> {
    /// Returns the error with its label, help and replacements.
    pub fn to_error(&self, message: &str) -> Error {
        let hint = self.hint();
        let error = syntax_error(self.text, self.at, self.marked_len(hint.as_ref()), self.code, message);
        let label = self.label(error.expected());
        let error = error.with_label(label);
        match hint {
            Some(hint) => error.with_help(hint.help).with_replacements(hint.replacements, hint.replaced),
            None => error,
        }
    }

    /// Returns the number of bytes to mark: the replaced bytes, the trailing text, or one character.
    fn marked_len(&self, hint: Option<&Hint>) -> usize {
        match hint.filter(|hint| hint.length > 0 || !hint.replacements.is_empty() && hint.replaced.is_none()) {
            Some(hint) => hint.length,
            None if self.code == Code::TrailingText => self.remaining().trim_end().len().min(MAX_MARKED_LEN),
            None => 1,
        }
    }

    fn label(&self, expected: Option<&str>) -> String {
        match (self.code, expected) {
            (Code::TrailingText, _) => "not expected here".into(),
            (Code::CharacterExpected, Some(character)) => format!("{character} expected"),
            (_, Some(what)) => format!("{what} is expected here"),
            (_, None) => "here".into(),
        }
    }

    fn remaining(&self) -> &str {
        &self.text[self.at..]
    }

    fn before(&self) -> &str {
        &self.text[..self.at]
    }

    fn hint(&self) -> Option<Hint> {
        if self.code == Code::NestedTooDeep {
            return hint(
                "split the query, or nest fewer brackets; each operator of `.a + .b + .c` is a level, and `[.a, .b, .c] | join(\"\")` or `sum()` is one",
            );
        }
        if self.remaining().is_empty() {
            return self.end();
        }
        let rules = [
            Self::sign,
            Self::negative_index,
            Self::slash,
            Self::operator,
            Self::semicolon,
            Self::foreign_syntax,
            Self::quote,
            Self::index,
            Self::bracket,
            Self::method,
            Self::operator_word,
            Self::word,
            Self::comma,
            Self::letter,
        ];
        rules.iter().find_map(|rule| rule(self)).or_else(|| self.adjacent_value())
    }

    /// Hint for the end of the text.
    fn end(&self) -> Option<Hint> {
        let before = without_comments(self.before());
        let before = before.trim_end();
        match self.code {
            Code::ValueExpected if before.is_empty() => hint(match self.text.trim() {
                "" => "the query is empty; `get()` returns the input",
                _ => "the query is only a comment; `get()` returns the input",
            }),
            Code::ValueExpected => hint(format!("nothing follows `{}`", last_token(before, self.operators)?)),
            Code::PropertyExpected => hint("name a property, as in `.name`; the current value is `get()`"),
            _ => None,
        }
    }

    /// `-(x)`, `-.a`, `+1`: only numbers have a sign, and only a minus.
    fn sign(&self) -> Option<Hint> {
        let rest = Some(self.remaining()).filter(|_| self.code == Code::ValueExpected)?;
        let before_value = |text: &str| text.starts_with(|c: char| !c.is_whitespace() && !"-+=>".contains(c));
        if rest.strip_prefix('-').is_some_and(before_value) {
            return Hint::replace("only numbers have a sign; write `0 - …`", 1, "0 - ");
        }
        rest.strip_prefix('+').filter(|after| after.starts_with(|c: char| c.is_ascii_digit()))?;
        Hint::replace("a number cannot begin with `+`", 1, "")
    }

    /// `/nodes/node`, and `/P-.*/` for a pattern.
    fn slash(&self) -> Option<Hint> {
        let after = self.remaining().strip_prefix('/').filter(|_| self.code == Code::ValueExpected)?;
        if self.before().trim().is_empty() {
            return hint("a path is written with dots: `.nodes.0.tag`");
        }
        let end = after.find('/').filter(|_| self.before().trim_end().ends_with(['(', ',']))?;
        let flags = after[end + 1..].find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len() - end - 1);
        Hint::replace("a pattern is a string; flags are the next argument", end + 2 + flags, &quoted(&after[..end]))
    }

    /// An operator in the position of a value.
    fn operator(&self) -> Option<Hint> {
        let rest = self.remaining();
        let entry = FOREIGN_SYNTAX.iter().any(|entry| !entry.before.is_empty() && entry.matches(self.before(), rest));
        let row =
            self.operators.match_any(rest).filter(|row| !entry && !rest.starts_with("||") && ends_after(rest, row))?;
        match self.code {
            Code::ValueExpected => hint(format!("there is nothing before `{}`", row.text)),
            Code::TrailingText | Code::CharacterExpected => {
                self.after_piped(row).or_else(|| hint(chain_help(row)).filter(|_| row.chain == Chain::NotAllowed))
            }
            _ => None,
        }
    }

    /// `f().a == 1`: the path is piped into, and a pipe binds looser than every operator.
    fn after_piped(&self, row: &OperatorEntry) -> Option<Hint> {
        const MAX_SHOWN_LEN: usize = 60;
        let ImplicitPipe { value, path } = self.piped?;
        let [receiver, keys] = [value, path].map(|span| &self.text[span.range(self.text)]);
        let grouped = format!("({receiver} | {keys})");
        let shown = if grouped.len() <= MAX_SHOWN_LEN { &*grouped } else { "(… | .name)" };
        let rest = Some(self.remaining().trim_end()).filter(|_| self.code == Code::TrailingText);
        let rest = rest.filter(|rest| rest.len() <= MAX_SHOWN_LEN).map_or(format!("{} …", row.text), String::from);
        let help = format!("a path after a value is a pipe, and `|` has the lowest precedence: write `{shown} {rest}`");
        Some(Hint { help, length: 0, replacements: vec![grouped], replaced: Some(value.to(path)) })
    }

    /// `.a.-1`: an item from the end.
    fn negative_index(&self) -> Option<Hint> {
        let digits = self.remaining().strip_prefix('-').filter(|_| self.code == Code::PropertyExpected)?;
        let (rest, _) = int(digits).ok()?;
        let key = &self.remaining()[..self.remaining().len() - rest.len()];
        let help = format!("an item from the end is `nth({key})`: `.a | nth({key})`");
        hint_with_len(key.len(), help)
    }

    /// `limit(3; .a)`: a function of jq whose counterpart reads the piped value.
    fn semicolon(&self) -> Option<Hint> {
        self.remaining().strip_prefix(';')?;
        let (call, _) = self.before().rsplit_once('(')?;
        let name = &call[call.trim_end_matches(in_word).len()..];
        hint(match name {
            "limit" | "first" => "jq's `limit(3; .a[])` is `.a | limit(3)`",
            "any" | "all" => "jq's `any(.a[]; . > 1)` is `.a | any(get() > 1)`",
            "last" | "nth" => "jq's `nth(1; .a[])` is `.a | nth(1)`",
            "until" | "while" | "IN" | "INDEX" | "sub" | "gsub" => suggest::foreign_name(name)?.help(),
            _ => return None,
        })
    }

    fn foreign_syntax(&self) -> Option<Hint> {
        let entry = FOREIGN_SYNTAX.iter().find(|entry| entry.matches(self.before(), self.remaining()))?;
        let replacements = entry.replacement.map(String::from).into_iter().collect();
        Some(Hint { help: entry.help.into(), length: entry.after.len(), replacements, replaced: None })
    }

    /// Other kinds of quotes, and an unclosed string.
    fn quote(&self) -> Option<Hint> {
        let rest = self.remaining();
        let quote = rest.chars().next()?;
        let closing = match quote {
            '"' if string(rest).is_err() => return hint(r#"the string is not closed: a `"` is missing"#),
            '\'' | '`' => &['\'', '`'][..],
            '“' | '”' | '„' | '‟' | '«' | '»' => &['“', '”', '»', '«', '"'],
            '‘' | '’' | '‚' => &['‘', '’', '\''],
            _ => return None,
        };
        let help = r#"strings are quoted with `"`"#;
        let inner = &rest[quote.len_utf8()..];
        if quote == '\'' && self.before().trim().is_empty() && inner.starts_with('.') {
            return hint("the shell did not remove these quotes: in this shell, quote the query with `\"`");
        }
        let Some(end) = inner.find(closing) else { return hint(help) };
        let length = rest.len() - inner.len() + end + inner[end..].chars().next().map_or(0, char::len_utf8);
        Hint::replace(help, length, &quoted(&inner[..end]))
    }

    /// `[0]`, `["a"]`, `[*]`, `[]` after a value or a dot.
    fn index(&self) -> Option<Hint> {
        let inner = self.remaining().strip_prefix('[').filter(|_| self.code != Code::ValueExpected)?;
        if self.code == Code::KeyExpected {
            return hint(COMPUTED_KEY);
        }
        let end = inner.find(']')?;
        let (inside, after) = (inner[..end].trim(), &inner[end..]);
        if matches!(inside, "" | "*") {
            let filters = after.contains("select(");
            let select = "jq's `.[] | select(…)` is `filter(…)`, and `.[] | f` is `map(f)`";
            return hint(if filters { select } else { "for every item of an array, use `map(…)`" });
        }
        if inside.starts_with('?') {
            return hint("JSONPath's `[?(…)]` is `| filter(…)`");
        }
        if inside.starts_with('-') || inside.contains(':') {
            return hint(
                "for ranges and items from the end, use `slice(…)` and `last()`; a part of a text is `substring(.a, 0, 2)`",
            );
        }
        let key = index_key(inside)?;
        let dot = if self.code == Code::PropertyExpected { "" } else { "." };
        Hint::replace(&format!("items and properties are read with a dot: `.{key}`"), end + 2, &format!("{dot}{key}"))
    }

    fn bracket(&self) -> Option<Hint> {
        let close = self.remaining().chars().next().filter(|c| ")]}".contains(*c))?;
        let before = self.before().trim_end();
        match self.code {
            Code::ValueExpected | Code::KeyExpected if before.ends_with(',') => {
                hint(format!("remove the `,` before `{close}`"))
            }
            Code::ValueExpected if before.ends_with('(') => hint("a query is missing between the parentheses"),
            Code::ValueExpected => hint(format!("nothing follows `{}`", last_token(before, self.operators)?)),
            Code::PropertyExpected => hint("name a property, as in `.name`; the current value is `get()`"),
            Code::TrailingText => hint(format!("there is no open bracket for `{close}` to close")),
            _ => None,
        }
    }

    /// `.nodes.size()`: a function is not a property.
    fn method(&self) -> Option<Hint> {
        self.remaining().strip_prefix('(').filter(|_| self.code != Code::ValueExpected)?;
        let path = self.before().trim_end_matches(in_word);
        let name = &self.before()[path.len()..];
        (path.ends_with('.') && !name.is_empty()).then_some(())?;
        let function = suggest::foreign_name(name).map_or(name, |entry| entry.function);
        hint(format!("a function is not a property: pipe into it, `| {function}(…)`"))
    }

    /// A word in the position of an operator, also one that begins like an operator: `order` is not `or`.
    fn operator_word(&self) -> Option<Hint> {
        let (_, rest) = word(self.remaining()).ok()?;
        let stem = self.before().trim_end_matches(in_word);
        let is_attached = self.code == Code::ValueExpected && !stem.is_empty() && stem.len() < self.at;
        if is_attached {
            let full = format!("{}{rest}", &self.before()[stem.len()..]);
            let is_operator_prefix = self.operators.match_any(&full).is_some();
            let help = help_for(&full, FOREIGN_OPERATORS).map(String::from);
            let help = help.unwrap_or_else(|| format!("there is no operator `{full}`"));
            return is_operator_prefix.then(|| hint_with_len(rest.len(), help))?;
        }
        hint_with_len(rest.len(), help_for(rest, FOREIGN_OPERATORS).filter(|_| self.code != Code::ValueExpected)?)
    }

    /// A word that is not a call, or an operator in capital letters.
    fn word(&self) -> Option<Hint> {
        let (after, found) = word(self.remaining()).ok()?;
        let lower = found.to_ascii_lowercase();
        if self.code != Code::ValueExpected {
            let row = self.operators.match_any(&lower).filter(|row| *row.text == *lower && lower != found)?;
            return Hint::replace(&format!("operators are in lower case: `{}`", row.text), found.len(), &lower);
        }
        if let Some((_, replacements)) = FOREIGN_CONSTANTS.iter().find(|(word, _)| *word == lower) {
            return Hint::replace(&format!("write `{replacements}`"), found.len(), replacements);
        }
        if found == "not" || found.starts_with('$') {
            let help = match found {
                "not" if self.before().trim_end().ends_with('|') => "negation is `not(…)`",
                "not" if !after.trim_start().is_empty() => "`not` is a function: `not(…)`",
                _ => "a property is `.name`, a function `name(…)`",
            };
            return hint_with_len(found.len(), help);
        }
        if after.trim_start().starts_with(':') && self.before().trim_end().ends_with(['(', ',']) {
            return hint_with_len(found.len(), format!("names with values are an object in braces: `{{{found}: …}}`"));
        }
        self.hyphen(found)
            .or_else(|| self.call_without_parentheses(found))
            .or_else(|| self.bare_path(found.len()))
            .or_else(|| bare_word(found))
    }

    /// `node.tag`: a path without its first dot.
    fn bare_path(&self, first: usize) -> Option<Hint> {
        let end = self.remaining().find(|c| !in_word(c) && c != '.').unwrap_or(self.remaining().len());
        let path = &self.remaining()[..end];
        if let Some(help) = suggest::help_without_counterpart(&path[..first]).filter(|_| end > first) {
            return hint_with_len(first, help);
        }
        let is_path = end > first && !self.remaining()[end..].starts_with('(') && path.split('.').all(is_word);
        is_path.then(|| Hint::replace(&format!("a path begins with a dot: `.{path}`"), end, &format!(".{path}")))?
    }

    /// `.node-type` and `P-101`: a hyphen is a minus, so such names need quotes.
    fn hyphen(&self, found: &str) -> Option<Hint> {
        let in_name = |c: char| in_word(c) || c == '-';
        let begin = self.before().trim_end_matches(in_name);
        let end = self.remaining().find(|c| !in_name(c)).unwrap_or(self.remaining().len());
        let full = &self.text[begin.len()..self.at + end];
        let is_name = full.contains('-') && full.starts_with(in_word) && full.ends_with(in_word);
        is_name.then_some(())?;
        match begin.ends_with('.') {
            true => hint_with_len(
                found.len(),
                format!("a name with `-` needs quotes: `.\"{full}\"`; a subtraction needs spaces around `-`"),
            ),
            false if full.starts_with(found) => {
                Hint::replace(r#"a string is quoted with `"`"#, end, &format!("\"{full}\""))
            }
            false => None,
        }
    }

    /// `map .tag`, `x => x.tag`, `select * from nodes`: a call or query in the syntax of another language.
    fn call_without_parentheses(&self, found: &str) -> Option<Hint> {
        let after = &self.remaining()[found.len()..];
        let next = after.trim_start();
        if next.starts_with("=>") {
            let help = "there is no `=>`: in `map(.tag)` and `filter(.tag)` each item is the current value";
            return hint_with_len(found.len(), help);
        }
        if DIRECTIONS.contains(&found) {
            return Hint::replace(
                &format!("a direction is a string: `\"{found}\"`"),
                found.len(),
                &format!("\"{found}\""),
            );
        }
        let is_operator = self.operators.match_any(next).is_some_and(|row| row.text.starts_with(in_word));
        let begins_value = next.starts_with(|c: char| in_word(c) || "\".[{*'".contains(c));
        (after.len() > next.len() && begins_value && !is_operator).then_some(())?;
        let function = suggest::foreign_name(found).map_or(found, |entry| entry.function);
        let call = format!("a function call needs parentheses: `{function}(…)`; a property is `.{found}`");
        let by = word(next).is_ok_and(|(_, second)| second.eq_ignore_ascii_case("by")).then_some(FOREIGN_ORDERS);
        let known = by.and_then(|table| help_for(found, table)).or_else(|| help_for(found, FOREIGN_KEYWORDS));
        let known = known.or_else(|| suggest::help_without_counterpart(found));
        hint_with_len(found.len(), known.map_or(call, String::from))
    }

    /// `.a, .b`, and `in (1, 2)`.
    fn comma(&self) -> Option<Hint> {
        self.remaining().strip_prefix(',')?;
        match self.code {
            Code::TrailingText => hint("several values need an array: `[.a, .b]`"),
            Code::CharacterExpected => hint("an array is written in brackets: `[1, 2]`"),
            _ => None,
        }
    }

    /// A name with letters beyond ASCII, or a space before it.
    fn letter(&self) -> Option<Hint> {
        matches!(self.code, Code::PropertyExpected | Code::KeyExpected).then_some(())?;
        let rest = self.remaining();
        if rest.starts_with('(') && self.code == Code::KeyExpected {
            return hint(COMPUTED_KEY);
        }
        if rest.starts_with('.') && self.code == Code::KeyExpected {
            return hint("an object needs keys, `{tag: .tag}`; `pick(.tag)` keeps the field names");
        }
        if rest.trim_start().starts_with("as ") && rest.starts_with(' ') {
            return hint("to bind a name, use `let({name: query}, body)`");
        }
        if rest.starts_with([' ', '\n', '\t', '\r']) {
            return hint("no white space is allowed between the dot and the name");
        }
        if rest.starts_with('*') {
            return hint("for every item of an array, use `map(…)`; the values of an object are `values()`");
        }
        let in_name = |c: char| c.is_alphanumeric() || "_@#:-".contains(c);
        let end = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
        rest.starts_with(|c: char| c.is_alphabetic() || "@#".contains(c)).then_some(())?;
        Hint::replace(
            r#"names with characters other than `a` to `z`, digits and `_` are quoted with `"`"#,
            end,
            &quoted(&rest[..end]),
        )
    }

    /// `nulls`: a word that begins with a constant.
    fn longer_word(&self) -> Option<Hint> {
        let start = self.before().trim_end_matches(in_word).len();
        let end = self.remaining().find(|c| !in_word(c)).map_or(self.text.len(), |len| self.at + len);
        let hint = bare_word(&self.text[start..end])?;
        Some(Hint { length: end - self.at, replaced: Some(Span::new(start, end)), ..hint })
    }

    /// `@csv`, `@json`: formats of jq.
    fn output_format(&self) -> Option<Hint> {
        let name = word(&self.remaining()[1..]).map_or("", |(_, name)| name);
        let help = match name {
            "csv" | "tsv" => {
                return hint_with_len(
                    1 + name.len(),
                    format!("a table is printed by `pidq query --{name}`; one line is `join(\",\")`"),
                );
            }
            "json" => "the JSON of a value is `toJson(.a)`",
            "text" => "the text of a value is `string(.a)`",
            "uri" => "a part of a URI is `uriEncode(.a)`",
            "urid" => "the text of a part of a URI is `uriDecode(.a)`",
            "base64" => "base64 is `base64Encode(.a)`",
            "base64d" => "the text of base64 is `base64Decode(.a)`",
            "html" => "a text in HTML is `htmlEncode(.a)`",
            _ => {
                "there is no `@`: results are values; options of `pidq query`, such as `--csv`, print them in other formats"
            }
        };
        hint_with_len(1 + name.len(), help)
    }

    /// A value right after a value, or a character that is not allowed anywhere.
    fn adjacent_value(&self) -> Option<Hint> {
        let c = self.remaining().chars().next()?;
        if c == '\u{feff}' && self.at == 0 {
            return Hint::replace("remove the byte order mark at the start", c.len_utf8(), "");
        }
        if "\u{2010}\u{2011}\u{2012}–—−".contains(c) {
            return Hint::replace("the minus sign is `-`", c.len_utf8(), "-");
        }
        if c.is_whitespace() || "\u{feff}\u{200b}\u{200c}\u{200d}\u{2060}".contains(c) {
            return hint(format!("the character U+{:04X} is not white space in a query; use a space", c as u32));
        }
        if c.is_alphabetic() && !c.is_ascii() {
            return hint(r#"names with letters other than `a` to `z` are quoted with `"`"#);
        }
        if c == '@' {
            return self.output_format();
        }
        if in_word(c) && self.before().ends_with(|c: char| c.is_ascii_digit()) {
            return hint("numbers are decimal, without `_` and without units: `1000`, `1.5e3`");
        }
        if in_word(c) && self.before().ends_with(in_word) {
            return self.longer_word();
        }
        let value = in_word(c) || "\".{[(".contains(c);
        let between = matches!(self.code, Code::TrailingText | Code::CharacterExpected) && value;
        (between && !self.before().ends_with('{')).then(|| hint("an operator such as `|` or a `,` is missing here"))?
    }
}

impl ForeignSyntax {
    fn matches(&self, before: &str, rest: &str) -> bool {
        before.ends_with(self.before) && rest.starts_with(self.after)
    }
}

impl Hint {
    fn replace(help: &str, length: usize, replacements: &str) -> Option<Hint> {
        Some(Hint { help: help.into(), length, replacements: vec![replacements.into()], replaced: None })
    }
}

fn hint(help: impl Into<String>) -> Option<Hint> {
    hint_with_len(0, help)
}

/// Returns a hint that marks `length` bytes.
fn hint_with_len(length: usize, help: impl Into<String>) -> Option<Hint> {
    Some(Hint { help: help.into(), length, replacements: Vec::new(), replaced: None })
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    quote(text, &mut out);
    out
}

/// Returns the hint for a lone word: a property, or a call of the function with this name in other languages.
fn bare_word(found: &str) -> Option<Hint> {
    let foreign = suggest::foreign_name(found);
    let help = match (foreign, suggest::help_without_counterpart(found)) {
        (Some(entry), _) if !entry.is_synonym() => format!("{}; a property is `.{found}`", entry.help()),
        (None, Some(help)) => return hint_with_len(found.len(), format!("{help}; a property is `.{found}`")),
        _ => format!("did you mean `.{found}` or `{}()`?", foreign.map_or(found, |entry| entry.function)),
    };
    let function = foreign.map_or(found, |entry| entry.function);
    Some(Hint {
        help,
        length: found.len(),
        replacements: vec![format!(".{found}"), format!("{function}()")],
        replaced: None,
    })
}

/// Returns parsed text with each comment replaced by a space.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let comment = match rest.as_bytes() {
            [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => rest[2..].find("*/").map_or(rest.len(), |at| at + 4),
            _ => 0,
        };
        let text = match c {
            // An unclosed string is the rest of the text; searching for its end repeatedly would take quadratic time.
            '"' => string(rest).map_or(rest.len(), |(after, _)| rest.len() - after.len()),
            c => c.len_utf8(),
        };
        out.push_str(if comment > 0 { " " } else { &rest[..text] });
        rest = &rest[comment.max(text)..];
    }
    out
}

/// Returns the help for an operator that cannot follow one of its kind.
fn chain_help(row: &OperatorEntry) -> String {
    let text = &row.text;
    match &*row.name {
        "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "not in" => {
            format!("`{text}` cannot follow `{text}`: use parentheses, or join two conditions with `and`")
        }
        _ => format!("`{text}` cannot follow `{text}`: use parentheses to group them"),
    }
}

/// Returns true if the operator is a whole word: `order` does not begin with `or`.
fn ends_after(rest: &str, row: &OperatorEntry) -> bool {
    !row.text.ends_with(in_word) || !rest[row.text.len()..].starts_with(in_word)
}

/// Parses `0`, `'a'` or `"a"` as a key of a path.
fn index_key(inside: &str) -> Option<String> {
    if int(inside).is_ok_and(|(rest, _)| rest.is_empty()) {
        return Some(inside.into());
    }
    let key = inside.strip_prefix(['"', '\''])?.strip_suffix(['"', '\''])?;
    Some(if is_word(key) { key.into() } else { quoted(key) })
}

/// Returns the operator or bracket at the end of a text.
fn last_token<'t>(before: &'t str, operators: &Operators) -> Option<&'t str> {
    let candidates = (1..=before.len().min(8)).rev().filter_map(|length| before.get(before.len() - length..));
    let is_operator = |text: &str| operators.match_any(text).is_some_and(|row| *row.text == *text);
    let bracket = before.len().checked_sub(1).and_then(|last| before.get(last..));
    candidates.filter(|text| is_operator(text)).chain(bracket).next()
}

/// Describes the open bracket. The closing one may be in a comment.
pub(super) fn unclosed_bracket(text: &str, open: usize) -> String {
    let bracket = text.get(open..=open).unwrap_or_default();
    let location = crate::error::Location::new(text, open);
    let rest = text.get(open..).unwrap_or_default();
    let comment = match without_comments(rest).len() < rest.len() {
        true if hides_value(rest) => "; `//` begins a comment: to replace null, write `coalesce(.a, 0)`",
        true => "; `//` begins a comment",
        false => "",
    };
    match text.contains('\n') {
        true => format!("the `{bracket}` in line {}, column {} is not closed{comment}", location.line, location.column),
        false => format!("the `{bracket}` in column {} is not closed{comment}", location.column),
    }
}

/// Returns true if a value follows the last `//`, as in jq's `.a // "default"`.
fn hides_value(text: &str) -> bool {
    let (_, content) = text.rsplit_once("//").unwrap_or_default();
    content.trim_start().starts_with(|c: char| c.is_ascii_digit() || "\".[{$".contains(c))
}

/// PQW12: jq's `.a // "default"`. Warns if a comment contains a value rather than words.
pub(crate) fn commented_values(text: &str, comments: &[Span], operators: &Operators) -> Vec<Warning> {
    let contains_query = |comment: &&Span| {
        let range = comment.range(text);
        let Some(content) = text[range.clone()].strip_prefix("//") else { return false };
        let line = text[..range.start].rsplit('\n').next().unwrap_or_default();
        !line.trim().is_empty() && parse(content, operators, Profile::Pidq).is_ok()
    };
    let warning = |comment: &Span| {
        let warning = Warning::new("PQW12", "`//` begins a comment, so this is ignored").with_span(*comment);
        warning.with_help("to replace null, write `coalesce(.a, 0)`")
    };
    comments.iter().filter(contains_query).map(warning).collect()
}

/// PQW26: an integer that is not exact as a double.
pub(crate) fn rounded_integer(text: &str, span: &Span) -> Warning {
    let digits = &text[span.range(text)];
    let double: f64 = digits.parse().unwrap_or(f64::NAN);
    let message = format!("{digits} is read as {double:.0}: numbers are doubles, exact up to 2^53");
    let warning = Warning::new("PQW26", message).with_span(*span);
    warning.with_help(format!("compare the digits, as a text: `toJson(.id) == \"{digits}\"`"))
}

/// PQW25: `[.a .b]`, where a comma or a pipe may have been forgotten.
pub(crate) fn detached_path(dot: &Span) -> Warning {
    let warning = Warning::new("PQW25", "this path is read from the value before it").with_span(*dot);
    warning.with_help("write `,` before it for a value of its own, `|` to read it from the value, or no space")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> Error {
        parse(text, Operators::standard(), Profile::Pidq).expect_err(text)
    }

    fn check_help(text: &str, help: &str) {
        assert_eq!(error(text).help(), Some(help), "{text}");
    }

    /// Applies the first suggestion; the result is a valid query or fails at a later position.
    fn check_repair(text: &str, repaired: &str) {
        let error = error(text);
        let suggestion = error.suggestions().first().expect(text);
        let span = suggestion.span.expect("a suggestion of the parser has a span").range(text);
        assert_eq!(format!("{}{}{}", &text[..span.start], suggestion.text, &text[span.end..]), repaired);
    }

    #[test]
    fn errors_mark_their_span() {
        let marked = |text: &str| text[error(text).span().expect(text).range(text)].to_string();
        assert_eq!(marked(".a == 'é'"), "'é'");
        assert_eq!(marked("[1, }"), "}");
        assert_eq!(marked(".a |"), "");
        assert_eq!(marked("1 == 2 == 3"), "== 3");
        assert_eq!(error("1 +\n  )").location().map(|location| (location.line, location.column)), Some((2, 3)));
    }

    #[test]
    fn syntax_of_other_languages_gets_a_hint() {
        check_repair(".a = 1", ".a == 1");
        check_repair(".a === 1", ".a == 1");
        check_repair("filter(.a && .b)", "filter(.a and .b)");
        check_repair(".a[0].b", ".a.0.b");
        check_repair(".a['b c']", r#".a."b c""#);
        check_repair(".[0]", ".0");
        check_repair(".a == 'x'", r#".a == "x""#);
        check_repair(".a == “x”", r#".a == "x""#);
        check_repair("-(1)", "0 - (1)");
        check_repair("$.a", ".a");
        check_repair("nodes | size()", ".nodes | size()");
        check_repair("[True]", "[true]");
        check_repair(".a AND .b", ".a and .b");
        check_repair(".é", r#"."é""#);
        check_help(".a || .b", "`or` joins conditions; `|` is the pipe");
        check_help("!.a", "negation is `not(…)`");
        check_help(".a.b[*]", "for every item of an array, use `map(…)`");
        check_help(".[] | select(.a)", "jq's `.[] | select(…)` is `filter(…)`, and `.[] | f` is `map(f)`");
        check_help("nodes", "did you mean `.nodes` or `nodes()`?");
    }

    #[test]
    fn other_notations_get_a_hint() {
        check_repair("filter(.kw => 1)", "filter(.kw >= 1)");
        check_repair("filter(.kw =< 1)", "filter(.kw <= 1)");
        check_repair("sort(.kw, desc)", "sort(.kw, \"desc\")");
        check_repair("regex(.tag, /^P-/i)", "regex(.tag, \"^P-\")");
        check_repair(".tag == P-101", ".tag == \"P-101\"");
        check_repair(".@type", ".\"@type\"");
        check_repair("+1", "1");
        check_repair(".nodes | length", ".nodes | .length");
        check_help(".nodes.length()", "a function is not a property: pipe into it, `| size(…)`");
        check_help(".nodes.map(.tag)", "a function is not a property: pipe into it, `| map(…)`");
        check_help(
            ".tag like \"P%\"",
            "to test a pattern, use `regex(.tag, \"^P-\")`; to test for a part, use `contains(.tag, \"P\")`",
        );
        check_help(".nodes order by .kw", "to sort, use `| sort(.a)` or `| sort(.a, \"desc\")`");
        check_help(".a andalso .b", "there is no operator `andalso`");
        check_help("map .tag", "a function call needs parentheses: `map(…)`; a property is `.map`");
        check_help("{tag, kw: .kw}", "there is no short form: write `tag: .tag`");
        check_help("{tag}", "there is no short form: write `tag: .tag`");
        check_help("1 in (1, 2)", "an array is written in brackets: `[1, 2]`");
        check_help(".a, .b", "several values need an array: `[.a, .b]`");
        check_help("/nodes/node", "a path is written with dots: `.nodes.0.tag`");
        check_help(".a += 1", NO_ASSIGNMENT);
        check_repair(".nodes |> size()", ".nodes | size()");
        check_help("count(*)", "the number of items is `| size()`");
        check_help("filter(.tag ~ \"P\")", "to test a pattern, use `regex(.tag, \"^P-\")`");
        check_help("map({.tag})", "an object needs keys, `{tag: .tag}`; `pick(.tag)` keeps the field names");
        check_help(".nodes -> size()", "the pipe is `|`");
        let formats = "there is no `@`: results are values; options of `pidq query`, such as `--csv`, print them in other formats";
        check_help(".nodes | @sh", formats);
        check_help(".nodes | @base64", "base64 is `base64Encode(.a)`");
        check_help(".nodes | @csv", "a table is printed by `pidq query --csv`; one line is `join(\",\")`");
        check_help(
            "reduce .a[] as $x (0; . + $x)",
            "jq's `reduce .a[] as $x (0; . + $x)` is `.a | reduce(0, .result + .item)`",
        );
        check_help("try .a catch 1", "a default for an error is `tryOr(query, default)`");
        check_help("{(.a): 1}", "an object with a computed key is `[{key: .a, value: .b}] | fromEntries()`");
        check_help(".. | .a", "all nested values are `descendants()`; otherwise name every step of a path");
        check_help("$x := 1", "to bind a name, use `let({name: query}, body)`");
        check_help(".a | not", "negation is `not(…)`");
        check_help("{$x}", "there is no short form: write `x: $x`");
        check_repair("# all\n.a", "// all\n.a");
        check_help("0x10", "numbers are decimal, without `_` and without units: `1000`, `1.5e3`");
    }

    #[test]
    fn a_subtraction_is_not_a_name() {
        check_help(".a - b", "did you mean `.b` or `b()`?");
        check_help(".a and b", "did you mean `.b` or `b()`?");
        check_help("f(a, .b)", "did you mean `.a` or `a()`?");
        check_help(".a == b and .c", "did you mean `.b` or `b()`?");
    }

    #[test]
    fn typing_mistakes_get_a_hint() {
        check_help("[1, ]", "remove the `,` before `]`");
        check_help("| .a", "there is nothing before `|`");
        check_help(".a and", "nothing follows `and`");
        check_help("\"abc", "the string is not closed: a `\"` is missing");
        check_help("f(1,\n(2", "the `(` in line 2, column 1 is not closed");
        check_help("f(1))", "there is no open bracket for `)` to close");
        check_help("1 == 2 == 3", "`==` cannot follow `==`: use parentheses, or join two conditions with `and`");
        let power = "`^` cannot follow `^`: use parentheses to group them";
        check_help("2 ^ 3 ^ 2", power);
        check_help("f(2 ^ 3 ^ 2)", power);
        check_help(".a \"b\"", "an operator such as `|` or a `,` is missing here");
        check_help("'.a'", "the shell did not remove these quotes: in this shell, quote the query with `\"`");
        check_repair("'a'", "\"a\"");
        check_repair(".a – 1", ".a - 1");
        check_repair("\u{2212}1", "-1");
        check_repair("\u{feff}.a", ".a");
        check_repair("filter(node.tag == 1)", "filter(.node.tag == 1)");
    }

    #[test]
    fn an_operator_after_a_piped_path_needs_parentheses() {
        check_repair("node(\"T-101\").tag == 5", "(node(\"T-101\") | .tag) == 5");
        check_repair("filter(node(.id).x.\"y z\" > 1)", "filter((node(.id) | .x.\"y z\") > 1)");
        check_repair("1 == f().x == 3", "1 == (f() | .x) == 3");
        check_repair("(1 | 2) .a and .b", "((1 | 2) | .a) and .b");
        check_repair("{a: [\"b\"].0 + 1}", "{a: ([\"b\"] | .0) + 1}");
        check_repair("f(g(.a).b).c /* no == */ + 1", "(f(g(.a).b) | .c) /* no == */ + 1");
        let write = "a path after a value is a pipe, and `|` has the lowest precedence: write";
        check_help("f().x == 1", &format!("{write} `(f() | .x) == 1`"));
        check_help("map(f().x == 1)", &format!("{write} `(f() | .x) == …`"));
        let long = "\"a long text\", ".repeat(9);
        check_help(&format!("f({long}1).x ^ 1"), &format!("{write} `(… | .name) ^ 1`"));
        check_help("f().x = 1", "equality is `==`; a changed copy is `set(.a, 2)`");
        assert_eq!(error("f().x == 1").message(), "Unexpected part '== 1' (pos: 6)");
    }

    /// The mistake is a chain; the implicit pipe elsewhere is irrelevant.
    #[test]
    fn an_explicit_path_gets_no_pipe_hint() {
        let chain = "`==` cannot follow `==`: use parentheses, or join two conditions with `and`";
        check_help("[f().x, 1 == 2 == 3]", chain);
        check_help("f().x | 1 == 2 == 3", chain);
        check_help("$a.b == 2 == 3", chain);
    }

    #[test]
    fn paths_after_white_space_are_reported() {
        for (text, dots) in [
            ("[.a.b .a]", vec![6]),
            ("map(\"x\" .a) | sort(.b\t.c)", vec![8, 22]),
            ("f() .a .b", vec![4, 7]),
            ("{a: (1 | 2) .c}", vec![12]),
            ("f()\n  .a\n  .b", vec![]),
            (".a and .b or not(.c) | .d in .e - .f", vec![]),
            ("[.a, .b] | f( .a ) | { a: .b }", vec![]),
            (". | .a", vec![]),
        ] {
            let (_, trivia) = super::super::parse_with_trivia(text, Operators::standard(), Profile::Pidq).expect(text);
            let found: Vec<u32> = trivia.detached_dots.iter().map(|dot| dot.start).collect();
            assert_eq!(found, dots, "{text}");
        }
    }

    #[test]
    fn comments_are_not_operands() {
        check_help(".a | // the rest", "nothing follows `|`");
        check_help("\"//\" + /* é */ // é\n", "nothing follows `+`");
        check_help("//nodes", "the query is only a comment; `get()` returns the input");
        check_help(" /* a */ ", "the query is only a comment; `get()` returns the input");
        check_help(
            "map(.b // 0)",
            "the `(` in column 4 is not closed; `//` begins a comment: to replace null, write `coalesce(.a, 0)`",
        );
        check_help("map(.b // the default)", "the `(` in column 4 is not closed; `//` begins a comment");
        check_help("{[.a]: 1}", COMPUTED_KEY);
        check_help("{a: 1, (.b): 2}", COMPUTED_KEY);
        check_help("downstream(\"T-1\", pass: \"zone\")", "names with values are an object in braces: `{pass: …}`");
        check_help("let(x: 1, $x)", "names with values are an object in braces: `{x: …}`");
        check_help(" ", "the query is empty; `get()` returns the input");
    }
}

//! What to do about a text that is no query: habits from other languages, and slips.
//!
//! The message of an error is that of JSON Query; label, help and suggestions are ours.

use crate::error::{Code, Error, Span, Warning};
use crate::suggest;
use crate::syntax::Profile;
use crate::syntax::json::quote;
use crate::syntax::operators::{Chain, Operators, Row};
use crate::syntax::text::parse;
use crate::syntax::token::{in_word, int, is_word, string, syntax_error, word};

/// The most bytes of left-over text that are marked.
const MARKED: usize = 40;

/// A place that the parser cannot go on from.
pub(super) struct Place<'t> {
    pub text: &'t str,
    pub at: usize,
    pub code: Code,
    pub operators: &'t Operators,
    /// The path right before the place that is piped into without a `|`.
    pub piped: Option<Piped>,
}

/// `f().a`: a value, and the path that it is piped into.
#[derive(Clone, Copy)]
pub(super) struct Piped {
    pub value: Span,
    pub path: Span,
}

/// What to do about it: words, and texts to put in place of some bytes.
struct Advice {
    help: String,
    /// How many bytes it is about; 0 where that is not known.
    length: usize,
    instead: Vec<String>,
    /// What the texts replace, where that is not the place itself.
    replaced: Option<Span>,
}

/// A habit from another language: what stands before and after the place, and what to write here.
struct Habit {
    before: &'static str,
    here: &'static str,
    help: &'static str,
    instead: Option<&'static str>,
}

const NO_ASSIGNMENT: &str = "nothing is assigned here: a query gives a new value and leaves the document as it is";

const HABITS: &[Habit] = &[
    Habit { before: "==", here: "=", help: "equality is `==`; there is no `===`", instead: Some("") },
    Habit { before: "!=", here: "=", help: "inequality is `!=`; there is no `!==`", instead: Some("") },
    Habit { before: "<", here: ">", help: "inequality is `!=`", instead: None },
    Habit { before: "-", here: ">", help: "the pipe is `|`", instead: None },
    Habit { before: "+", here: "=", help: NO_ASSIGNMENT, instead: None },
    Habit { before: "-", here: "=", help: NO_ASSIGNMENT, instead: None },
    Habit { before: "|", here: "=", help: NO_ASSIGNMENT, instead: None },
    Habit { before: "|", here: ">", help: "the pipe is `|`", instead: Some("") },
    Habit { before: "(", here: "*)", help: "the number of items is `| size()`", instead: None },
    Habit { before: "|", here: "|", help: "`or` joins conditions; `|` is the pipe", instead: None },
    Habit { before: "", here: "||", help: "`or` joins conditions; `|` is the pipe", instead: Some("or") },
    Habit { before: "", here: "&&", help: "`and` joins conditions", instead: Some("and") },
    Habit { before: "", here: "&", help: "`and` joins conditions", instead: Some("and") },
    Habit { before: "*", here: "*", help: "the power operator is `^`", instead: None },
    Habit { before: "", here: "!", help: "negation is `not(…)`", instead: None },
    Habit { before: "", here: "=>", help: "at least is `>=`", instead: Some(">=") },
    Habit { before: "", here: "=<", help: "at most is `<=`", instead: Some("<=") },
    Habit { before: "", here: "=~", help: "a pattern is tested by `regex(.tag, \"^P-\")`", instead: None },
    Habit { before: "", here: "~", help: "a pattern is tested by `regex(.tag, \"^P-\")`", instead: None },
    Habit { before: "", here: "=", help: "equality is `==`", instead: Some("==") },
    Habit {
        before: "",
        here: "$.",
        help: "JSONPath's `$.a` is `.a` here, and a parameter is `$name`",
        instead: Some("."),
    },
    Habit { before: "", here: "$[", help: "JSONPath's `$[0]` is `.0` here, and a parameter is `$name`", instead: None },
    Habit { before: "", here: "@.", help: "the current value needs no `@`: `.a`", instead: Some(".") },
    Habit { before: "", here: "??", help: "a value in place of null is `coalesce(.a, 0)`", instead: None },
    Habit { before: "", here: "? ", help: "a choice is `if(condition, value, otherwise)`", instead: None },
    Habit { before: "", here: "?", help: "a missing property is null without `?`", instead: Some("") },
    Habit { before: "", here: ";", help: "arguments are separated by `,`", instead: Some(",") },
    Habit { before: ".", here: ".", help: "there is no `..`: name every step of a path", instead: None },
];

/// Words of other languages.
const WORDS: &[(&str, &str)] =
    &[("true", "true"), ("false", "false"), ("null", "null"), ("none", "null"), ("nil", "null"), ("undefined", "null")];

/// Words of other languages where an operator is expected.
const OPERATOR_WORDS: &[(&str, &str)] = &[
    ("like", "a pattern is tested by `regex(.tag, \"^P-\")`, a part by `contains(.tag, \"P\")`"),
    ("matches", "a pattern is tested by `regex(.tag, \"^P-\")`"),
    ("contains", "`contains` is a function: `contains(.tag, \"P\")`"),
    ("is", "equality is `==`, inequality `!=`"),
    ("between", "write `.a >= 1 and .a <= 2`"),
    ("order", "sorting is `| sort(.a)`, or `| sort(.a, \"desc\")`"),
    ("desc", "the direction is a text of its own: `sort(.a, \"desc\")`"),
    ("asc", "the direction is a text of its own: `sort(.a, \"asc\")`"),
    ("where", "keeping some items is `| filter(…)`"),
    ("as", "a name is given by `let({name: query}, body)`"),
    ("div", "division is `/`"),
    ("mod", "the remainder is `%`"),
    ("not", "write `.a not in […]`, or `not(…)` around a condition"),
    ("then", "a choice is `if(condition, value, otherwise)`"),
];

/// How other languages begin.
const BEGINNINGS: &[(&str, &str)] = &[
    ("select", "SQL's `select tag from nodes where kw > 1` is `.nodes | filter(.kw > 1) | pick(.tag)`"),
    ("from", "SQL's `from nodes` is `.nodes` here"),
    ("def", "there are no functions of one's own; a value gets a name by `let({name: query}, body)`"),
    ("reduce", "there is no `reduce`; over lists go `sum()`, `prod()`, `min()`, `max()`, `join()` and `merge()`"),
    ("let", "a name is given by `let({name: query}, body)`"),
    ("if", "a choice is `if(condition, value, otherwise)`"),
];

/// Words that say how to sort.
const DIRECTIONS: &[&str] = &["asc", "desc"];

fn help_for(word: &str, table: &[(&str, &'static str)]) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    table.iter().find(|(known, _)| *known == lower).map(|(_, help)| *help)
}

impl Place<'_> {
    /// The error, with all that can be said about it.
    pub fn advise(&self, message: &str) -> Error {
        let advice = self.advice();
        let error = syntax_error(self.text, self.at, self.marked(advice.as_ref()), self.code, message);
        let label = self.label(error.expected());
        let error = error.with_label(label);
        match advice {
            Some(advice) => error.with_help(advice.help).with_replacements(advice.instead, advice.replaced),
            None => error,
        }
    }

    /// The bytes to mark: what a suggestion replaces, what is left over, or one character.
    fn marked(&self, advice: Option<&Advice>) -> usize {
        match advice.filter(|advice| advice.length > 0 || !advice.instead.is_empty() && advice.replaced.is_none()) {
            Some(advice) => advice.length,
            None if self.code == Code::TrailingText => self.here().trim_end().len().min(MARKED),
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

    fn here(&self) -> &str {
        &self.text[self.at..]
    }

    fn before(&self) -> &str {
        &self.text[..self.at]
    }

    fn advice(&self) -> Option<Advice> {
        if self.code == Code::NestedTooDeep {
            return advice("split the query into several, or write fewer brackets");
        }
        if self.here().is_empty() {
            return self.end();
        }
        let rules = [
            Self::sign,
            Self::slash,
            Self::operator,
            Self::habit,
            Self::quote,
            Self::index,
            Self::bracket,
            Self::method,
            Self::operator_word,
            Self::word,
            Self::comma,
            Self::letter,
        ];
        rules.iter().find_map(|rule| rule(self)).or_else(|| self.neighbour())
    }

    /// At the end of the text.
    fn end(&self) -> Option<Advice> {
        let before = without_comments(self.before());
        let before = before.trim_end();
        match self.code {
            Code::ValueExpected if before.is_empty() => advice(match self.text.trim() {
                "" => "the query is empty; `get()` is the whole input",
                _ => "the query is a comment alone; `get()` is the whole input",
            }),
            Code::ValueExpected => advice(format!("nothing follows `{}`", last_token(before, self.operators)?)),
            Code::PropertyExpected => advice("name a property, as in `.name`; the current value is `get()`"),
            _ => None,
        }
    }

    /// `-(x)`, `-.a`, `+1`: the sign belongs to a number, and there is one sign.
    fn sign(&self) -> Option<Advice> {
        let here = Some(self.here()).filter(|_| self.code == Code::ValueExpected)?;
        let before_value = |text: &str| text.starts_with(|c: char| !c.is_whitespace() && !"-+=>".contains(c));
        if here.strip_prefix('-').is_some_and(before_value) {
            return Advice::replace("only numbers have a sign; write `0 - …`", 1, "0 - ");
        }
        here.strip_prefix('+').filter(|after| after.starts_with(|c: char| c.is_ascii_digit()))?;
        Advice::replace("a number has no `+` before it", 1, "")
    }

    /// `/nodes/node`, and `/P-.*/` for a pattern.
    fn slash(&self) -> Option<Advice> {
        let after = self.here().strip_prefix('/').filter(|_| self.code == Code::ValueExpected)?;
        if self.before().trim().is_empty() {
            return advice("a path is written with dots: `.nodes.0.tag`");
        }
        let end = after.find('/').filter(|_| self.before().trim_end().ends_with(['(', ',']))?;
        let flags = after[end + 1..].find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len() - end - 1);
        Advice::replace(
            "a pattern is a text, with the flags as the next argument",
            end + 2 + flags,
            &quoted(&after[..end]),
        )
    }

    /// An operator where none can be.
    fn operator(&self) -> Option<Advice> {
        let here = self.here();
        let habit = HABITS.iter().any(|habit| !habit.before.is_empty() && habit.fits(self.before(), here));
        let row = self.operators.any(here).filter(|row| !habit && !here.starts_with("||") && ends_after(here, row))?;
        match self.code {
            Code::ValueExpected => advice(format!("nothing stands before `{}`", row.text)),
            Code::TrailingText | Code::CharacterExpected => {
                self.after_piped(row).or_else(|| advice(chain_help(row)).filter(|_| row.chain == Chain::Refused))
            }
            _ => None,
        }
    }

    /// `f().a == 1`: the path is piped into, and a pipe binds looser than every operator.
    fn after_piped(&self, row: &Row) -> Option<Advice> {
        const SHOWN: usize = 60;
        let Piped { value, path } = self.piped?;
        let [holder, keys] = [value, path].map(|span| &self.text[span.range(self.text)]);
        let grouped = format!("({holder} | {keys})");
        let shown = if grouped.len() <= SHOWN { &*grouped } else { "(… | .name)" };
        let rest = Some(self.here().trim_end()).filter(|_| self.code == Code::TrailingText);
        let rest = rest.filter(|rest| rest.len() <= SHOWN).map_or(format!("{} …", row.text), String::from);
        let help = format!("a path after a value is piped, and `|` binds loosest: write `{shown} {rest}`");
        Some(Advice { help, length: 0, instead: vec![grouped], replaced: Some(value.to(path)) })
    }

    fn habit(&self) -> Option<Advice> {
        let habit = HABITS.iter().find(|habit| habit.fits(self.before(), self.here()))?;
        let instead = habit.instead.map(String::from).into_iter().collect();
        Some(Advice { help: habit.help.into(), length: habit.here.len(), instead, replaced: None })
    }

    /// Quotes of other kinds, and one that is not closed.
    fn quote(&self) -> Option<Advice> {
        let here = self.here();
        let quote = here.chars().next()?;
        let closing = match quote {
            '"' if string(here).is_err() => return advice(r#"the string is not closed: a `"` is missing"#),
            '\'' | '`' => &['\'', '`'][..],
            '“' | '”' | '„' | '‟' | '«' | '»' => &['“', '”', '»', '«', '"'],
            '‘' | '’' | '‚' => &['‘', '’', '\''],
            _ => return None,
        };
        let help = r#"strings stand in `"`"#;
        let inner = &here[quote.len_utf8()..];
        if quote == '\'' && self.before().trim().is_empty() && inner.starts_with('.') {
            return advice("these quotes are for a shell, and this one has left them: there, write the query in `\"`");
        }
        let Some(end) = inner.find(closing) else { return advice(help) };
        let length = here.len() - inner.len() + end + inner[end..].chars().next().map_or(0, char::len_utf8);
        Advice::replace(help, length, &quoted(&inner[..end]))
    }

    /// `[0]`, `["a"]`, `[*]`, `[]` after a value or a dot.
    fn index(&self) -> Option<Advice> {
        let inner = self.here().strip_prefix('[').filter(|_| self.code != Code::ValueExpected)?;
        let end = inner.find(']')?;
        let (inside, after) = (inner[..end].trim(), &inner[end..]);
        if matches!(inside, "" | "*") {
            let filters = after.contains("select(");
            let select = "jq's `.[] | select(…)` is `filter(…)`, and `.[] | f` is `map(f)`";
            return advice(if filters { select } else { "for every item of a list, use `map(…)`" });
        }
        if inside.starts_with('?') {
            return advice("JSONPath's `[?(…)]` is `| filter(…)`");
        }
        if inside.starts_with('-') || inside.contains(':') {
            return advice("ranges and items from the end have functions: `slice(…)`, `last()`");
        }
        let key = index_key(inside)?;
        let dot = if self.code == Code::PropertyExpected { "" } else { "." };
        Advice::replace(&format!("items and properties are read with a dot: `.{key}`"), end + 2, &format!("{dot}{key}"))
    }

    fn bracket(&self) -> Option<Advice> {
        let close = self.here().chars().next().filter(|c| ")]}".contains(*c))?;
        let before = self.before().trim_end();
        match self.code {
            Code::ValueExpected | Code::KeyExpected if before.ends_with(',') => {
                advice(format!("remove the `,` before `{close}`"))
            }
            Code::ValueExpected if before.ends_with('(') => advice("a query is missing between the parentheses"),
            Code::ValueExpected => advice(format!("nothing follows `{}`", last_token(before, self.operators)?)),
            Code::PropertyExpected => advice("name a property, as in `.name`; the current value is `get()`"),
            Code::TrailingText => advice(format!("no bracket is open that `{close}` could close")),
            _ => None,
        }
    }

    /// `.nodes.size()`: a function is not a property.
    fn method(&self) -> Option<Advice> {
        self.here().strip_prefix('(').filter(|_| self.code != Code::ValueExpected)?;
        let path = self.before().trim_end_matches(in_word);
        let name = &self.before()[path.len()..];
        (path.ends_with('.') && !name.is_empty()).then_some(())?;
        let function = suggest::habit(name).map_or(name, |habit| habit.function);
        advice(format!("a function is not a property: pipe into it, `| {function}(…)`"))
    }

    /// A word where an operator is expected, also one that begins like an operator: `order` is not `or`.
    fn operator_word(&self) -> Option<Advice> {
        let (_, rest) = word(self.here()).ok()?;
        let stem = self.before().trim_end_matches(in_word);
        let glued = self.code == Code::ValueExpected && !stem.is_empty() && stem.len() < self.at;
        if glued {
            let whole = format!("{}{rest}", &self.before()[stem.len()..]);
            let begins = self.operators.any(&whole).is_some();
            let help = help_for(&whole, OPERATOR_WORDS).map(String::from);
            let help = help.unwrap_or_else(|| format!("there is no operator `{whole}`"));
            return begins.then(|| about(rest.len(), help))?;
        }
        about(rest.len(), help_for(rest, OPERATOR_WORDS).filter(|_| self.code != Code::ValueExpected)?)
    }

    /// A word that is no call, or an operator in capital letters.
    fn word(&self) -> Option<Advice> {
        let (after, found) = word(self.here()).ok()?;
        let lower = found.to_ascii_lowercase();
        if self.code != Code::ValueExpected {
            let row = self.operators.any(&lower).filter(|row| *row.text == *lower && lower != found)?;
            return Advice::replace(&format!("operators are in lower case: `{}`", row.text), found.len(), &lower);
        }
        if let Some((_, instead)) = WORDS.iter().find(|(word, _)| *word == lower) {
            return Advice::replace(&format!("write `{instead}`"), found.len(), instead);
        }
        if found == "not" || found.starts_with('$') {
            let not = found == "not" && !after.trim_start().is_empty();
            return about(
                found.len(),
                if not { "`not` is a function: `not(…)`" } else { "a property is `.name`, a function `name(…)`" },
            );
        }
        self.hyphen(found)
            .or_else(|| self.call_without(found))
            .or_else(|| self.bare_path(found.len()))
            .or_else(|| bare_word(found))
    }

    /// `node.tag`: a path without its first dot.
    fn bare_path(&self, first: usize) -> Option<Advice> {
        let end = self.here().find(|c| !in_word(c) && c != '.').unwrap_or(self.here().len());
        let path = &self.here()[..end];
        let is_path = end > first && !self.here()[end..].starts_with('(') && path.split('.').all(is_word);
        is_path.then(|| Advice::replace(&format!("a path begins with a dot: `.{path}`"), end, &format!(".{path}")))?
    }

    /// `.node-type` and `P-101`: a hyphen is a minus, so both stand in quotes.
    fn hyphen(&self, found: &str) -> Option<Advice> {
        let in_name = |c: char| in_word(c) || c == '-';
        let begin = self.before().trim_end_matches(in_name);
        let end = self.here().find(|c| !in_name(c)).unwrap_or(self.here().len());
        let whole = &self.text[begin.len()..self.at + end];
        let is_name = whole.contains('-') && whole.starts_with(in_word) && whole.ends_with(in_word);
        is_name.then_some(())?;
        match begin.ends_with('.') {
            true => about(
                found.len(),
                format!("a name with `-` stands in quotes: `.\"{whole}\"`; a difference has blanks around it"),
            ),
            false if whole.starts_with(found) => {
                Advice::replace(r#"a text stands in `"`"#, end, &format!("\"{whole}\""))
            }
            false => None,
        }
    }

    /// `map .tag`, `x => x.tag`, `select * from nodes`: the beginning of something that is written in another way here.
    fn call_without(&self, found: &str) -> Option<Advice> {
        let after = &self.here()[found.len()..];
        let next = after.trim_start();
        if next.starts_with("=>") {
            let help = "there is no `=>`: in `map(.tag)` and `filter(.tag)` each item is the current value";
            return about(found.len(), help);
        }
        if DIRECTIONS.contains(&found) {
            return Advice::replace(
                &format!("a direction is a text: `\"{found}\"`"),
                found.len(),
                &format!("\"{found}\""),
            );
        }
        let is_operator = self.operators.any(next).is_some_and(|row| row.text.starts_with(in_word));
        let begins_value = next.starts_with(|c: char| in_word(c) || "\".[{*'".contains(c));
        (after.len() > next.len() && begins_value && !is_operator).then_some(())?;
        let function = suggest::habit(found).map_or(found, |habit| habit.function);
        let call = format!("a function has its arguments in parentheses: `{function}(…)`; a property is `.{found}`");
        about(found.len(), help_for(found, BEGINNINGS).map_or(call, String::from))
    }

    /// `.a, .b`, and `in (1, 2)`.
    fn comma(&self) -> Option<Advice> {
        self.here().strip_prefix(',')?;
        match self.code {
            Code::TrailingText => advice("several values are a list: `[.a, .b]`"),
            Code::CharacterExpected => advice("a list stands in brackets: `[1, 2]`"),
            _ => None,
        }
    }

    /// A name with letters beyond ASCII, or a blank before it.
    fn letter(&self) -> Option<Advice> {
        matches!(self.code, Code::PropertyExpected | Code::KeyExpected).then_some(())?;
        let here = self.here();
        if here.starts_with('.') && self.code == Code::KeyExpected {
            return advice("an object has keys, `{tag: .tag}`; `pick(.tag)` takes fields under their names");
        }
        if here.starts_with([' ', '\n', '\t', '\r']) {
            return advice("no white space may stand between the dot and the name");
        }
        if here.starts_with('*') {
            return advice("for every item of a list, use `map(…)`; the values of an object are `values()`");
        }
        let in_name = |c: char| c.is_alphanumeric() || "_@#:-".contains(c);
        let end = here.find(|c| !in_name(c)).unwrap_or(here.len());
        here.starts_with(|c: char| c.is_alphabetic() || "@#".contains(c)).then_some(())?;
        Advice::replace(
            r#"names with other characters than `a` to `z`, digits and `_` stand in `"`"#,
            end,
            &quoted(&here[..end]),
        )
    }

    /// A value right after a value, or a character that is nowhere allowed.
    fn neighbour(&self) -> Option<Advice> {
        let c = self.here().chars().next()?;
        if c == '\u{feff}' && self.at == 0 {
            return Advice::replace("remove the byte order mark at the start", c.len_utf8(), "");
        }
        if "\u{2010}\u{2011}\u{2012}–—−".contains(c) {
            return Advice::replace("a minus is `-`", c.len_utf8(), "-");
        }
        if c.is_whitespace() || "\u{feff}\u{200b}\u{200c}\u{200d}\u{2060}".contains(c) {
            return advice(format!("the character U+{:04X} is no white space here; use a blank", c as u32));
        }
        if c.is_alphabetic() && !c.is_ascii() {
            return advice(r#"names with other letters than `a` to `z` stand in `"`"#);
        }
        if c == '@' {
            return advice("there is no `@`: results are values, printed as JSON");
        }
        if in_word(c) && self.before().ends_with(|c: char| c.is_ascii_digit()) {
            return advice("numbers are decimal, without `_` and without units: `1000`, `1.5e3`");
        }
        let value = in_word(c) || "\".{[(".contains(c);
        let between = matches!(self.code, Code::TrailingText | Code::CharacterExpected) && value;
        (between && !self.before().ends_with('{'))
            .then(|| advice("an operator such as `|` or a `,` is missing here"))?
    }
}

impl Habit {
    fn fits(&self, before: &str, here: &str) -> bool {
        before.ends_with(self.before) && here.starts_with(self.here)
    }
}

impl Advice {
    fn replace(help: &str, length: usize, instead: &str) -> Option<Advice> {
        Some(Advice { help: help.into(), length, instead: vec![instead.into()], replaced: None })
    }
}

fn advice(help: impl Into<String>) -> Option<Advice> {
    about(0, help)
}

/// Advice about so many bytes.
fn about(length: usize, help: impl Into<String>) -> Option<Advice> {
    Some(Advice { help: help.into(), length, instead: Vec::new(), replaced: None })
}

fn quoted(text: &str) -> String {
    let mut out = String::new();
    quote(text, &mut out);
    out
}

/// A word alone: a property or a call, of the function that other languages call so.
fn bare_word(found: &str) -> Option<Advice> {
    let function = suggest::habit(found).map_or(found, |habit| habit.function);
    let help = format!("did you mean `.{found}` or `{function}()`?");
    Some(Advice {
        help,
        length: found.len(),
        instead: vec![format!(".{found}"), format!("{function}()")],
        replaced: None,
    })
}

/// A text that the parser has read, with a blank for each comment.
fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let comment = match rest.as_bytes() {
            [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
            [b'/', b'*', ..] => rest[2..].find("*/").map_or(rest.len(), |at| at + 4),
            _ => 0,
        };
        let text = match c {
            // A string that is not closed is the rest: to look for its end again and again would take long.
            '"' => string(rest).map_or(rest.len(), |(after, _)| rest.len() - after.len()),
            c => c.len_utf8(),
        };
        kept.push_str(if comment > 0 { " " } else { &rest[..text] });
        rest = &rest[comment.max(text)..];
    }
    kept
}

/// What to do about an operator that its own kind cannot follow.
fn chain_help(row: &Row) -> String {
    let text = &row.text;
    match &*row.name {
        "eq" | "ne" | "gt" | "gte" | "lt" | "lte" | "in" | "not in" => {
            format!("`{text}` cannot follow `{text}`: use parentheses, or join two conditions with `and`")
        }
        _ => format!("`{text}` cannot follow `{text}`: say with parentheses which of them comes first"),
    }
}

/// Whether an operator is a whole word: `order` does not begin with `or`.
fn ends_after(here: &str, row: &Row) -> bool {
    !row.text.ends_with(in_word) || !here[row.text.len()..].starts_with(in_word)
}

/// `0`, `'a'` or `"a"` as a key of a path.
fn index_key(inside: &str) -> Option<String> {
    if int(inside).is_ok_and(|(rest, _)| rest.is_empty()) {
        return Some(inside.into());
    }
    let key = inside.strip_prefix(['"', '\''])?.strip_suffix(['"', '\''])?;
    Some(if is_word(key) { key.into() } else { quoted(key) })
}

/// The operator or the bracket that a text ends with.
fn last_token<'t>(before: &'t str, operators: &Operators) -> Option<&'t str> {
    let longest = (1..=before.len().min(8)).rev().filter_map(|length| before.get(before.len() - length..));
    let is_operator = |text: &str| operators.any(text).is_some_and(|row| *row.text == *text);
    let bracket = before.len().checked_sub(1).and_then(|last| before.get(last..));
    longest.filter(|text| is_operator(text)).chain(bracket).next()
}

/// Which bracket is open. What should close it may stand in a comment.
pub(super) fn unclosed(text: &str, open: usize) -> String {
    let bracket = text.get(open..=open).unwrap_or_default();
    let place = crate::error::Location::of(text, open);
    let rest = text.get(open..).unwrap_or_default();
    let comment = if without_comments(rest).len() < rest.len() { "; `//` begins a comment" } else { "" };
    match text.contains('\n') {
        true => format!("the `{bracket}` in line {}, column {} is not closed{comment}", place.line, place.column),
        false => format!("the `{bracket}` in column {} is not closed{comment}", place.column),
    }
}

/// PQW12: jq's `.a // "default"`. A remark in words is no query; a value behind `//` is not meant to be left out.
pub(crate) fn swallowed(text: &str, comments: &[Span], operators: &Operators) -> Vec<Warning> {
    let is_swallowed = |comment: &&Span| {
        let range = comment.range(text);
        let Some(said) = text[range.clone()].strip_prefix("//") else { return false };
        let line = text[..range.start].rsplit('\n').next().unwrap_or_default();
        !line.trim().is_empty() && parse(said, operators, Profile::Pidq).is_ok()
    };
    let warning = |comment: &Span| {
        let warning = Warning::new("PQW12", "`//` begins a comment, so this is left out").with_span(*comment);
        warning.with_help("a value in place of null is `coalesce(.a, 0)`")
    };
    comments.iter().filter(is_swallowed).map(warning).collect()
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

    /// The text with the first suggestion applied is a query, or fails further on.
    fn check_repair(text: &str, repaired: &str) {
        let error = error(text);
        let suggestion = error.suggestions().first().expect(text);
        let span = suggestion.span.expect("a suggestion of the parser has a place").range(text);
        assert_eq!(format!("{}{}{}", &text[..span.start], suggestion.text, &text[span.end..]), repaired);
    }

    #[test]
    fn errors_mark_their_place() {
        let marked = |text: &str| text[error(text).span().expect(text).range(text)].to_string();
        assert_eq!(marked(".a == 'é'"), "'é'");
        assert_eq!(marked("[1, }"), "}");
        assert_eq!(marked(".a |"), "");
        assert_eq!(marked("1 == 2 == 3"), "== 3");
        assert_eq!(error("1 +\n  )").location().map(|place| (place.line, place.column)), Some((2, 3)));
    }

    #[test]
    fn habits_from_other_languages_get_a_hint() {
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
        check_help(".a.b[*]", "for every item of a list, use `map(…)`");
        check_help(".[] | select(.a)", "jq's `.[] | select(…)` is `filter(…)`, and `.[] | f` is `map(f)`");
        check_help("nodes", "did you mean `.nodes` or `nodes()`?");
    }

    #[test]
    fn other_ways_to_write_it_get_a_hint() {
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
            "a pattern is tested by `regex(.tag, \"^P-\")`, a part by `contains(.tag, \"P\")`",
        );
        check_help(".nodes order by .kw", "sorting is `| sort(.a)`, or `| sort(.a, \"desc\")`");
        check_help(".a andalso .b", "there is no operator `andalso`");
        check_help("map .tag", "a function has its arguments in parentheses: `map(…)`; a property is `.map`");
        check_help("{tag, kw: .kw}", "there is no short form of `tag: .tag`");
        check_help("{tag}", "there is no short form of `tag: .tag`");
        check_help("1 in (1, 2)", "a list stands in brackets: `[1, 2]`");
        check_help(".a, .b", "several values are a list: `[.a, .b]`");
        check_help("/nodes/node", "a path is written with dots: `.nodes.0.tag`");
        check_help(".a += 1", NO_ASSIGNMENT);
        check_repair(".nodes |> size()", ".nodes | size()");
        check_help("count(*)", "the number of items is `| size()`");
        check_help("filter(.tag ~ \"P\")", "a pattern is tested by `regex(.tag, \"^P-\")`");
        check_help("map({.tag})", "an object has keys, `{tag: .tag}`; `pick(.tag)` takes fields under their names");
        check_help(".nodes -> size()", "the pipe is `|`");
        check_help(".nodes | @csv", "there is no `@`: results are values, printed as JSON");
        check_help("0x10", "numbers are decimal, without `_` and without units: `1000`, `1.5e3`");
    }

    #[test]
    fn a_subtraction_is_no_name() {
        check_help(".a - b", "did you mean `.b` or `b()`?");
        check_help(".a and b", "did you mean `.b` or `b()`?");
        check_help("f(a, .b)", "did you mean `.a` or `a()`?");
        check_help(".a == b and .c", "did you mean `.b` or `b()`?");
    }

    #[test]
    fn slips_get_a_hint() {
        check_help("[1, ]", "remove the `,` before `]`");
        check_help("| .a", "nothing stands before `|`");
        check_help(".a and", "nothing follows `and`");
        check_help("\"abc", "the string is not closed: a `\"` is missing");
        check_help("f(1,\n(2", "the `(` in line 2, column 1 is not closed");
        check_help("f(1))", "no bracket is open that `)` could close");
        check_help("1 == 2 == 3", "`==` cannot follow `==`: use parentheses, or join two conditions with `and`");
        let power = "`^` cannot follow `^`: say with parentheses which of them comes first";
        check_help("2 ^ 3 ^ 2", power);
        check_help("f(2 ^ 3 ^ 2)", power);
        check_help(".a \"b\"", "an operator such as `|` or a `,` is missing here");
        check_help("'.a'", "these quotes are for a shell, and this one has left them: there, write the query in `\"`");
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
        let write = "a path after a value is piped, and `|` binds loosest: write";
        check_help("f().x == 1", &format!("{write} `(f() | .x) == 1`"));
        check_help("map(f().x == 1)", &format!("{write} `(f() | .x) == …`"));
        let long = "\"a long text\", ".repeat(9);
        check_help(&format!("f({long}1).x ^ 1"), &format!("{write} `(… | .name) ^ 1`"));
        check_help("f().x = 1", "equality is `==`");
        assert_eq!(error("f().x == 1").message(), "Unexpected part '== 1' (pos: 6)");
    }

    /// The mistake is a chain, though a path is piped elsewhere.
    #[test]
    fn a_path_that_is_not_piped_is_none_of_the_matter() {
        let chain = "`==` cannot follow `==`: use parentheses, or join two conditions with `and`";
        check_help("[f().x, 1 == 2 == 3]", chain);
        check_help("f().x | 1 == 2 == 3", chain);
        check_help("$a.b == 2 == 3", chain);
    }

    #[test]
    fn a_comment_is_nothing_that_something_follows() {
        check_help(".a | // the rest", "nothing follows `|`");
        check_help("\"//\" + /* é */ // é\n", "nothing follows `+`");
        check_help("//nodes", "the query is a comment alone; `get()` is the whole input");
        check_help(" /* a */ ", "the query is a comment alone; `get()` is the whole input");
        check_help("map(.b // 0)", "the `(` in column 4 is not closed; `//` begins a comment");
        check_help(" ", "the query is empty; `get()` is the whole input");
    }
}

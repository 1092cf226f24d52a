//! What to do about a text that is no query: habits from other languages, and slips.
//!
//! The message of an error is that of JSON Query; label, help and suggestions are ours.

use crate::error::{Code, Error};
use crate::syntax::operators::{Chain, Operators, Row};
use crate::syntax::token::{in_word, int, is_word, string, syntax_error, word};

/// The most bytes of left-over text that are marked.
const MARKED: usize = 40;

/// A place that the parser cannot go on from.
pub(super) struct Place<'t> {
    pub text: &'t str,
    pub at: usize,
    pub code: Code,
    pub operators: &'t Operators,
}

/// What to do about it: words, and texts to put in place of some bytes.
struct Advice {
    help: String,
    length: usize,
    instead: Vec<String>,
}

/// A habit from another language: what stands before and after the place, and what to write here.
struct Habit {
    before: &'static str,
    here: &'static str,
    help: &'static str,
    instead: Option<&'static str>,
}

const HABITS: &[Habit] = &[
    Habit { before: "==", here: "=", help: "equality is `==`; there is no `===`", instead: Some("") },
    Habit { before: "!=", here: "=", help: "inequality is `!=`; there is no `!==`", instead: Some("") },
    Habit { before: "<", here: ">", help: "inequality is `!=`", instead: None },
    Habit { before: "|", here: "|", help: "`or` joins conditions; `|` is the pipe", instead: None },
    Habit { before: "", here: "||", help: "`or` joins conditions; `|` is the pipe", instead: Some("or") },
    Habit { before: "", here: "&&", help: "`and` joins conditions", instead: Some("and") },
    Habit { before: "", here: "&", help: "`and` joins conditions", instead: Some("and") },
    Habit { before: "*", here: "*", help: "the power operator is `^`", instead: None },
    Habit { before: "", here: "!", help: "negation is `not(…)`", instead: None },
    Habit { before: "", here: "=", help: "equality is `==`", instead: Some("==") },
    Habit {
        before: "",
        here: "$.",
        help: "JSONPath's `$.a` is `.a` here, and a parameter is `$name`",
        instead: Some("."),
    },
    Habit { before: "", here: "$[", help: "JSONPath's `$[0]` is `.0` here, and a parameter is `$name`", instead: None },
    Habit { before: "", here: "@.", help: "the current value needs no `@`: `.a`", instead: Some(".") },
    Habit { before: "", here: "?", help: "a missing property is null without `?`", instead: Some("") },
    Habit { before: "", here: ";", help: "arguments are separated by `,`", instead: Some(",") },
    Habit { before: ".", here: ".", help: "there is no `..`: name every step of a path", instead: None },
];

/// Words of other languages.
const WORDS: &[(&str, &str)] =
    &[("true", "true"), ("false", "false"), ("null", "null"), ("none", "null"), ("nil", "null"), ("undefined", "null")];

impl Place<'_> {
    /// The error, with all that can be said about it.
    pub fn advise(&self, message: &str) -> Error {
        let advice = self.advice();
        let error = syntax_error(self.text, self.at, self.marked(advice.as_ref()), self.code, message);
        let error = error.with_label(self.label(message));
        match advice {
            Some(advice) => error.with_help(advice.help).with_suggestions(advice.instead),
            None => error,
        }
    }

    /// The bytes to mark: what a suggestion replaces, what is left over, or one character.
    fn marked(&self, advice: Option<&Advice>) -> usize {
        match advice.filter(|advice| !advice.instead.is_empty()) {
            Some(advice) => advice.length,
            None if self.code == Code::TrailingText => self.here().trim_end().len().min(MARKED),
            None => 1,
        }
    }

    fn label(&self, message: &str) -> String {
        match self.code {
            Code::ValueExpected => "a value is expected here".into(),
            Code::PropertyExpected => "a property name is expected here".into(),
            Code::KeyExpected => "a key is expected here".into(),
            Code::TrailingText => "not expected here".into(),
            Code::CharacterExpected => message.replace("Character '", "`").replace('\'', "`"),
            _ => "here".into(),
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
            Self::minus,
            Self::operator,
            Self::habit,
            Self::quote,
            Self::index,
            Self::bracket,
            Self::word,
            Self::letter,
        ];
        rules.iter().find_map(|rule| rule(self)).or_else(|| self.neighbour())
    }

    /// At the end of the text.
    fn end(&self) -> Option<Advice> {
        let before = self.before().trim_end();
        match self.code {
            Code::ValueExpected if before.is_empty() => advice("the query is empty; `get()` is the whole input"),
            Code::ValueExpected => advice(format!("nothing follows `{}`", last_token(before, self.operators)?)),
            Code::PropertyExpected => advice("name a property, as in `.name`; the current value is `get()`"),
            _ => None,
        }
    }

    /// `-(x)`, `-.a`: the sign belongs to a number.
    fn minus(&self) -> Option<Advice> {
        let after = self.here().strip_prefix('-').filter(|_| self.code == Code::ValueExpected)?;
        after.starts_with(|c: char| !c.is_whitespace() && c != '-').then_some(())?;
        Advice::replace("only numbers have a sign; write `0 - …`", 1, "0 - ")
    }

    /// An operator where none can be.
    fn operator(&self) -> Option<Advice> {
        let here = self.here();
        let habit = HABITS.iter().any(|habit| !habit.before.is_empty() && habit.fits(self.before(), here));
        let row = self.operators.any(here).filter(|row| !habit && !here.starts_with("||") && ends_after(here, row))?;
        match self.code {
            Code::ValueExpected => advice(format!("nothing stands before `{}`", row.text)),
            Code::TrailingText | Code::CharacterExpected if row.chain == Chain::Refused => advice(format!(
                "`{0}` cannot follow `{0}`: use parentheses, or join two conditions with `and`",
                row.text
            )),
            _ => None,
        }
    }

    fn habit(&self) -> Option<Advice> {
        let habit = HABITS.iter().find(|habit| habit.fits(self.before(), self.here()))?;
        let instead = habit.instead.map(String::from).into_iter().collect();
        Some(Advice { help: habit.help.into(), length: habit.here.len(), instead })
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
        let Some(end) = inner.find(closing) else { return advice(help) };
        let length = here.len() - inner.len() + end + inner[end..].chars().next().map_or(0, char::len_utf8);
        let mut instead = String::new();
        crate::syntax::json::quote(&inner[..end], &mut instead);
        Advice::replace(help, length, &instead)
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
            return advice(if not {
                "`not` is a function: `not(…)`"
            } else {
                "a property is `.name`, a function `name(…)`"
            });
        }
        let help = format!("did you mean `.{found}` or `{found}()`?");
        Some(Advice { help, length: found.len(), instead: vec![format!(".{found}"), format!("{found}()")] })
    }

    /// A name with letters beyond ASCII, or a blank before it.
    fn letter(&self) -> Option<Advice> {
        matches!(self.code, Code::PropertyExpected | Code::KeyExpected).then_some(())?;
        let here = self.here();
        if here.starts_with([' ', '\n', '\t', '\r']) {
            return advice("no white space may stand between the dot and the name");
        }
        let end = here.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(here.len());
        here.starts_with(char::is_alphabetic).then_some(())?;
        let mut quoted = String::new();
        crate::syntax::json::quote(&here[..end], &mut quoted);
        Advice::replace(r#"names with other letters than `a` to `z` stand in `"`"#, end, &quoted)
    }

    /// A value right after a value, or a character that is nowhere allowed.
    fn neighbour(&self) -> Option<Advice> {
        let c = self.here().chars().next()?;
        if c.is_whitespace() || "\u{feff}\u{200b}\u{200c}\u{200d}\u{2060}".contains(c) {
            return advice(format!("the character U+{:04X} is no white space here; use a blank", c as u32));
        }
        if c.is_alphabetic() && !c.is_ascii() {
            return advice(r#"names with other letters than `a` to `z` stand in `"`"#);
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
        Some(Advice { help: help.into(), length, instead: vec![instead.into()] })
    }
}

fn advice(help: impl Into<String>) -> Option<Advice> {
    Some(Advice { help: help.into(), length: 0, instead: Vec::new() })
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
    let mut quoted = String::new();
    crate::syntax::json::quote(key, &mut quoted);
    Some(if is_word(key) { key.into() } else { quoted })
}

/// The operator or the bracket that a text ends with.
fn last_token<'t>(before: &'t str, operators: &Operators) -> Option<&'t str> {
    let longest = (1..=before.len().min(8)).rev().filter_map(|length| before.get(before.len() - length..));
    let is_operator = |text: &str| operators.any(text).is_some_and(|row| *row.text == *text);
    let bracket = before.len().checked_sub(1).and_then(|last| before.get(last..));
    longest.filter(|text| is_operator(text)).chain(bracket).next()
}

/// Which bracket is open.
pub(super) fn unclosed(text: &str, open: usize) -> String {
    let bracket = text.get(open..=open).unwrap_or_default();
    let place = crate::error::Location::of(text, open);
    match text.contains('\n') {
        true => format!("the `{bracket}` in line {}, column {} is not closed", place.line, place.column),
        false => format!("the `{bracket}` in column {} is not closed", place.column),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::Profile;
    use crate::syntax::text::parse;

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
    fn slips_get_a_hint() {
        check_help("[1, ]", "remove the `,` before `]`");
        check_help("| .a", "nothing stands before `|`");
        check_help(".a and", "nothing follows `and`");
        check_help("\"abc", "the string is not closed: a `\"` is missing");
        check_help("f(1,\n(2", "the `(` in line 2, column 1 is not closed");
        check_help("f(1))", "no bracket is open that `)` could close");
        check_help("1 == 2 == 3", "`==` cannot follow `==`: use parentheses, or join two conditions with `and`");
        check_help(".a \"b\"", "an operator such as `|` or a `,` is missing here");
    }
}

//! Option specifications of functions: the kind of value that each option takes. Used by the compiler for constants,
//! and during a run.

use std::fmt::Write;

use crate::error::{Code, Error, Result};
use crate::value::Value;
use crate::value::write::quoted_prefix;

/// Option of a function, or a keyword or number that is an argument of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OptionSpec {
    /// The name that queries use.
    pub name: &'static str,
    kind: OptionKind,
    /// Effect of the option, for the manual; empty for an argument of its own.
    meaning: &'static str,
}

/// Kind of value that an option takes. All but queries are constants or parameters.
#[derive(Clone, Copy, Debug)]
enum OptionKind {
    /// A query, evaluated once per node or edge.
    Query,
    /// A query that is true, false or null for each node.
    Condition,
    /// A number of at least zero.
    Number,
    /// Any number. Unlike an option, it must not be null; the same holds for `String`.
    AnyNumber,
    /// Any string.
    String,
    /// True or false.
    Flag,
    /// One of these keywords.
    Keyword(&'static [&'static str]),
    /// One of these words in the plural, or its singular.
    PluralKeyword(&'static [&'static str]),
    /// A list of some of these keywords.
    KeywordList(&'static [&'static str]),
    /// A string or an array of strings that a predicate accepts, and its description.
    Strings(fn(&str) -> bool, &'static str),
}

impl OptionSpec {
    const fn new(name: &'static str, kind: OptionKind) -> OptionSpec {
        OptionSpec { name, kind, meaning: "" }
    }

    /// Sets the effect of the option.
    pub const fn means(self, meaning: &'static str) -> OptionSpec {
        OptionSpec { meaning, ..self }
    }

    /// Returns the kind of value that the option takes, and its effect.
    pub fn description(&self) -> String {
        let separator = if self.meaning.is_empty() { "" } else { ": " };
        format!("{}{separator}{}", self.expects(), self.meaning)
    }

    pub const fn query(name: &'static str) -> OptionSpec {
        OptionSpec::new(name, OptionKind::Query)
    }

    pub const fn condition(name: &'static str) -> OptionSpec {
        OptionSpec::new(name, OptionKind::Condition)
    }

    pub const fn number(name: &'static str) -> OptionSpec {
        OptionSpec::new(name, OptionKind::Number)
    }

    pub const fn any_number(name: &'static str) -> OptionSpec {
        OptionSpec::new(name, OptionKind::AnyNumber)
    }

    pub const fn string(name: &'static str) -> OptionSpec {
        OptionSpec::new(name, OptionKind::String)
    }

    pub const fn flag(name: &'static str) -> OptionSpec {
        OptionSpec::new(name, OptionKind::Flag)
    }

    pub const fn keyword(name: &'static str, known: &'static [&'static str]) -> OptionSpec {
        OptionSpec::new(name, OptionKind::Keyword(known))
    }

    #[cfg_attr(not(feature = "dates"), expect(dead_code, reason = "only functions of dates take units of time"))]
    pub const fn plural_keyword(name: &'static str, known: &'static [&'static str]) -> OptionSpec {
        OptionSpec::new(name, OptionKind::PluralKeyword(known))
    }

    pub const fn keyword_list(name: &'static str, known: &'static [&'static str]) -> OptionSpec {
        OptionSpec::new(name, OptionKind::KeywordList(known))
    }

    pub const fn strings(name: &'static str, accepts: fn(&str) -> bool, expected: &'static str) -> OptionSpec {
        OptionSpec::new(name, OptionKind::Strings(accepts, expected))
    }

    /// Returns the expected kind of value for messages and the manual: `a number`, `"down", "up" or "both"`.
    pub fn expects(&self) -> String {
        match self.kind {
            OptionKind::Query => "a query".into(),
            OptionKind::Condition => "a condition such as `.tag == \"HV-101\"`".into(),
            OptionKind::Number => "a number of at least zero".into(),
            OptionKind::AnyNumber => "a number".into(),
            OptionKind::String => "a string".into(),
            OptionKind::Flag => "true or false".into(),
            OptionKind::Keyword(known) | OptionKind::PluralKeyword(known) => quoted_alternatives(known),
            OptionKind::KeywordList(known) => format!("an array of {}", quoted_alternatives(known)),
            OptionKind::Strings(_, expected) => expected.into(),
        }
    }

    pub fn is_query(&self) -> bool {
        matches!(self.kind, OptionKind::Query | OptionKind::Condition)
    }

    pub fn is_list(&self) -> bool {
        matches!(self.kind, OptionKind::Strings(..) | OptionKind::KeywordList(_))
    }

    /// Checks a value.
    pub fn check(&self, value: Value<'_>) -> Result<()> {
        match self.kind {
            OptionKind::Query => Ok(()),
            OptionKind::Number => self.as_number(value).map(drop),
            OptionKind::AnyNumber => value.as_f64().map(drop).ok_or_else(|| self.invalid_value(value)),
            OptionKind::String => value.as_str().map(drop).ok_or_else(|| self.invalid_value(value)),
            OptionKind::Flag | OptionKind::Condition => self.as_flag(value).map(drop),
            OptionKind::Keyword(_) | OptionKind::PluralKeyword(_) => self.as_keyword(value).map(drop),
            OptionKind::KeywordList(_) => match value {
                Value::Array(items) => items.iter().try_for_each(|item| self.check_item(item)),
                _ if value.is_null() => Ok(()),
                _ => Err(self.invalid_value(value)),
            },
            OptionKind::Strings(..) => self.as_strings(value).map(drop),
        }
    }

    /// Checks one item of a list, if it takes lists.
    pub fn check_item(&self, item: Value<'_>) -> Result<()> {
        match self.kind {
            OptionKind::KeywordList(_) => self.as_keyword(item).map(drop),
            _ => self.check(item),
        }
    }

    pub fn as_number(&self, value: Value<'_>) -> Result<Option<f64>> {
        match value.as_f64() {
            Some(number) if number >= 0.0 => Ok(Some(number)),
            _ if value.is_null() => Ok(None),
            _ => Err(self.invalid_value(value)),
        }
    }

    pub fn as_flag(&self, value: Value<'_>) -> Result<Option<bool>> {
        match value {
            Value::Bool(flag) => Ok(Some(flag)),
            _ if value.is_null() => Ok(None),
            _ => Err(self.invalid_value(value)),
        }
    }

    /// Returns whether a condition holds by its value for a node. A value other than true, false or null is an error: a
    /// list of tags, for example, would hold for each node.
    pub fn holds(&self, value: Value<'_>) -> Result<bool> {
        Ok(self.as_flag(value)? == Some(true))
    }

    /// Returns the index of the keyword.
    pub fn as_keyword(&self, value: Value<'_>) -> Result<Option<usize>> {
        let text = value.as_str();
        let found = match self.kind {
            OptionKind::Keyword(known) | OptionKind::KeywordList(known) => {
                known.iter().position(|keyword| text == Some(keyword))
            }
            OptionKind::PluralKeyword(known) => {
                known.iter().position(|keyword| text == Some(keyword) || text == keyword.strip_suffix('s'))
            }
            _ => return Ok(None),
        };
        if found.is_none() && !value.is_null() { Err(self.invalid_value(value)) } else { Ok(found) }
    }

    pub fn as_strings<'a>(&self, value: Value<'a>) -> Result<Vec<&'a str>> {
        let OptionKind::Strings(accepts, _) = self.kind else { return Ok(Vec::new()) };
        let one =
            |value: Value<'a>| value.as_str().filter(|text| accepts(text)).ok_or_else(|| self.invalid_value(value));
        match value {
            Value::Array(items) => items.iter().map(one).collect(),
            _ if value.is_null() => Ok(Vec::new()),
            value => Ok(vec![one(value)?]),
        }
    }

    /// Returns the error for a value of the wrong kind.
    pub fn invalid_value(&self, value: Value<'_>) -> Error {
        bad_option(self.name, value, &self.expects())
    }
}

/// Returns a list of alternatives such as `"down", "up" or "both"`.
fn quoted_alternatives(keywords: &[&str]) -> String {
    let mut text = String::new();
    for (at, keyword) in keywords.iter().enumerate() {
        let before = if at == 0 {
            ""
        } else if at + 1 == keywords.len() {
            " or "
        } else {
            ", "
        };
        let _ = write!(text, "{before}\"{keyword}\"");
    }
    text
}

pub(crate) fn bad_option(name: &str, value: Value<'_>, expected: &str) -> Error {
    let message = format!("{expected} expected for `{name}`, not {}", describe_value(value));
    Error::new(Code::BadOption, message)
}

/// Returns a value in a short form for messages.
pub(crate) fn describe_value(value: Value<'_>) -> String {
    const MAX_CHARS: usize = 80;
    match value {
        Value::Array(_) | Value::Object(_) => format!("an {}", value.type_name()),
        Value::String(text) => quoted_prefix(text, MAX_CHARS),
        value => format!("{value:?}"),
    }
}

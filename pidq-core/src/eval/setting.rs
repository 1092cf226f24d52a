//! Options of functions: what each of them takes. One table for the compiler, which looks at constants, and for a run.

use std::fmt::Write;

use crate::error::{Code, Error, Result};
use crate::value::Value;
use crate::value::write::quoted_start;

/// An option of a function, or a word or number that is an argument of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// The name that queries use.
    pub name: &'static str,
    takes: Takes,
}

/// What an option takes. All but queries are constants or parameters of the request.
#[derive(Clone, Copy, Debug)]
enum Takes {
    /// Asked for each node or edge.
    Query,
    /// A number of at least zero.
    Number,
    /// Any number. Unlike options, which may be left out, it is not null; so it is with a text.
    Amount,
    /// Any text.
    Text,
    /// True or false.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of some of these words.
    Words(&'static [&'static str]),
    /// A text or a list of texts that a rule allows, and what it allows in words.
    Texts(fn(&str) -> bool, &'static str),
}

impl Setting {
    pub const fn query(name: &'static str) -> Setting {
        Setting { name, takes: Takes::Query }
    }

    pub const fn number(name: &'static str) -> Setting {
        Setting { name, takes: Takes::Number }
    }

    pub const fn amount(name: &'static str) -> Setting {
        Setting { name, takes: Takes::Amount }
    }

    pub const fn text(name: &'static str) -> Setting {
        Setting { name, takes: Takes::Text }
    }

    pub const fn flag(name: &'static str) -> Setting {
        Setting { name, takes: Takes::Flag }
    }

    pub const fn word(name: &'static str, known: &'static [&'static str]) -> Setting {
        Setting { name, takes: Takes::Word(known) }
    }

    pub const fn words(name: &'static str, known: &'static [&'static str]) -> Setting {
        Setting { name, takes: Takes::Words(known) }
    }

    pub const fn texts(name: &'static str, fits: fn(&str) -> bool, expected: &'static str) -> Setting {
        Setting { name, takes: Takes::Texts(fits, expected) }
    }

    /// What it takes, in words of the manual: `a number`, `"down", "up" or "both"`.
    pub fn expects(&self) -> String {
        match self.takes {
            Takes::Query => "a query".into(),
            Takes::Number => "a number of at least zero".into(),
            Takes::Amount => "a number".into(),
            Takes::Text => "a text".into(),
            Takes::Flag => "true or false".into(),
            Takes::Word(known) => one_of(known),
            Takes::Words(known) => format!("a list of {}", one_of(known)),
            Takes::Texts(_, expected) => expected.into(),
        }
    }

    pub fn is_query(&self) -> bool {
        matches!(self.takes, Takes::Query)
    }

    pub fn is_list(&self) -> bool {
        matches!(self.takes, Takes::Texts(..) | Takes::Words(_))
    }

    /// Whether this value can be given.
    pub fn check(&self, value: Value<'_>) -> Result<()> {
        match self.takes {
            Takes::Query => Ok(()),
            Takes::Number => self.as_number(value).map(drop),
            Takes::Amount => value.as_f64().map(drop).ok_or_else(|| self.refuse(value)),
            Takes::Text => value.as_str().map(drop).ok_or_else(|| self.refuse(value)),
            Takes::Flag => self.as_flag(value).map(drop),
            Takes::Word(_) => self.as_word(value).map(drop),
            Takes::Words(_) => match value {
                Value::Array(items) => items.iter().try_for_each(|item| self.check_item(item)),
                _ if value.is_null() => Ok(()),
                _ => Err(self.refuse(value)),
            },
            Takes::Texts(..) => self.as_texts(value).map(drop),
        }
    }

    /// Whether a list with this item can be given, where it takes lists.
    pub fn check_item(&self, item: Value<'_>) -> Result<()> {
        match self.takes {
            Takes::Words(_) => self.as_word(item).map(drop),
            _ => self.check(item),
        }
    }

    pub fn as_number(&self, value: Value<'_>) -> Result<Option<f64>> {
        match value.as_f64() {
            Some(number) if number >= 0.0 => Ok(Some(number)),
            _ if value.is_null() => Ok(None),
            _ => Err(self.refuse(value)),
        }
    }

    pub fn as_flag(&self, value: Value<'_>) -> Result<Option<bool>> {
        match value {
            Value::Bool(flag) => Ok(Some(flag)),
            _ if value.is_null() => Ok(None),
            _ => Err(self.refuse(value)),
        }
    }

    /// The place of the word in the table.
    pub fn as_word(&self, value: Value<'_>) -> Result<Option<usize>> {
        let (Takes::Word(known) | Takes::Words(known)) = self.takes else { return Ok(None) };
        match known.iter().position(|word| value.as_str() == Some(word)) {
            None if !value.is_null() => Err(self.refuse(value)),
            found => Ok(found),
        }
    }

    pub fn as_texts<'a>(&self, value: Value<'a>) -> Result<Vec<&'a str>> {
        let Takes::Texts(fits, _) = self.takes else { return Ok(Vec::new()) };
        let one = |value: Value<'a>| value.as_str().filter(|text| fits(text)).ok_or_else(|| self.refuse(value));
        match value {
            Value::Array(items) => items.iter().map(one).collect(),
            _ if value.is_null() => Ok(Vec::new()),
            value => Ok(vec![one(value)?]),
        }
    }

    /// The error of a value that it does not take.
    pub fn refuse(&self, value: Value<'_>) -> Error {
        bad_option(self.name, value, &self.expects())
    }
}

/// `"down", "up" or "both"`.
fn one_of(words: &[&str]) -> String {
    let mut text = String::new();
    for (at, word) in words.iter().enumerate() {
        let before = if at == 0 {
            ""
        } else if at + 1 == words.len() {
            " or "
        } else {
            ", "
        };
        let _ = write!(text, "{before}\"{word}\"");
    }
    text
}

pub(crate) fn bad_option(name: &str, value: Value<'_>, expected: &str) -> Error {
    let message = format!("{expected} expected for `{name}`, not {}", shown(value));
    Error::new(Code::BadOption, message)
}

/// A value in a message: short, whatever it is.
pub(crate) fn shown(value: Value<'_>) -> String {
    const LONGEST: usize = 80;
    match value {
        Value::Array(_) | Value::Object(_) => format!("an {}", value.type_name()),
        Value::String(text) => quoted_start(text, LONGEST),
        value => format!("{value:?}"),
    }
}

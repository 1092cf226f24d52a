//! Parameters of splitters: what can be set, and how it is read.

use serde_json::{Map, Value};

use super::Refusal;

/// Something that can be set.
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub kind: Kind,
    /// What it is if nobody says, as JSON.
    pub default: &'static str,
    /// One line for the manual.
    pub summary: &'static str,
}

/// What a parameter may be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A text.
    Text,
    /// One of some texts.
    OneOf(&'static [&'static str]),
    /// `true`, `false`, `"start"` or `"end"`.
    Keep,
    /// Yes or no.
    Flag,
    /// A list of texts.
    Texts,
    /// A list of pairs of texts.
    Pairs,
}

/// What was set, and the defaults of the rest.
pub struct Parameters {
    values: Map<String, Value>,
}

impl Parameters {
    /// Reads what was given against the table.
    ///
    /// # Errors
    /// If a name is unknown or a value is not of its kind.
    pub fn read(table: &[Parameter], given: &Map<String, Value>) -> Result<Self, Refusal> {
        if let Some(name) = given.keys().find(|name| !table.iter().any(|row| row.name == name.as_str())) {
            let known: Vec<_> = table.iter().map(|row| row.name).collect();
            return Err(Refusal::of(name, format!("unknown; known are {}", known.join(", "))));
        }
        let mut values = Map::new();
        for row in table {
            let value = match given.get(row.name) {
                Some(value) if !value.is_null() => row.check(value)?,
                _ => row.default(),
            };
            values.insert(row.name.to_owned(), value);
        }
        Ok(Parameters { values })
    }

    /// All values, for showing.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// A whole number.
    pub fn integer(&self, name: &str) -> i64 {
        self.values.get(name).and_then(Value::as_i64).unwrap_or(0)
    }

    /// A whole number that may be absent.
    pub fn optional_integer(&self, name: &str) -> Option<i64> {
        self.values.get(name).and_then(Value::as_i64)
    }

    /// A whole number that is not negative.
    ///
    /// # Errors
    /// If it is.
    pub fn count(&self, name: &str) -> Result<usize, Refusal> {
        let given = self.integer(name);
        usize::try_from(given).map_err(|_| Refusal::of(name, format!("must be >= 0, got {given}")))
    }

    /// A number that may be absent.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.values.get(name).and_then(Value::as_f64)
    }

    /// A text.
    pub fn text(&self, name: &str) -> &str {
        self.values.get(name).and_then(Value::as_str).unwrap_or("")
    }

    /// Yes or no.
    pub fn flag(&self, name: &str) -> bool {
        self.values.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// The value as it is.
    pub fn value(&self, name: &str) -> &Value {
        self.values.get(name).unwrap_or(&Value::Null)
    }

    /// A list of texts.
    pub fn texts(&self, name: &str) -> Vec<String> {
        list(self.value(name)).iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    }

    /// A list of pairs of texts.
    pub fn pairs(&self, name: &str) -> Vec<(String, String)> {
        let pair = |pair: &Value| Some((pair.get(0)?.as_str()?.to_owned(), pair.get(1)?.as_str()?.to_owned()));
        list(self.value(name)).iter().filter_map(pair).collect()
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl Parameter {
    fn default(&self) -> Value {
        serde_json::from_str(self.default).unwrap_or(Value::Null)
    }

    fn check(&self, value: &Value) -> Result<Value, Refusal> {
        if self.kind.holds(value) {
            Ok(value.clone())
        } else {
            Err(Refusal::of(self.name, format!("must be {}", self.kind.says())))
        }
    }
}

impl Kind {
    fn holds(self, value: &Value) -> bool {
        match self {
            Kind::Integer => value.is_i64(),
            Kind::Number => value.is_number(),
            Kind::Text => value.is_string(),
            Kind::OneOf(names) => value.as_str().is_some_and(|name| names.contains(&name)),
            Kind::Keep => value.is_boolean() || matches!(value.as_str(), Some("start" | "end")),
            Kind::Flag => value.is_boolean(),
            Kind::Texts => all(value, Value::is_string),
            Kind::Pairs => all(value, |pair| all(pair, Value::is_string) && list(pair).len() == 2),
        }
    }

    /// In words.
    pub fn says(self) -> String {
        match self {
            Kind::Integer => "a whole number".to_owned(),
            Kind::Number => "a number".to_owned(),
            Kind::Text => "a text".to_owned(),
            Kind::OneOf(names) => format!("one of {}", names.join(", ")),
            Kind::Keep => "true, false, \"start\" or \"end\"".to_owned(),
            Kind::Flag => "true or false".to_owned(),
            Kind::Texts => "a list of texts".to_owned(),
            Kind::Pairs => "a list of pairs of texts".to_owned(),
        }
    }
}

fn all(value: &Value, holds: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(holds))
}

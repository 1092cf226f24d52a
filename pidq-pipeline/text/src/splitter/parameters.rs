//! Parameters of splitters: definitions and parsing.

use serde_json::{Map, Value};

use super::SplitError;

/// Definition of a parameter.
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Type of the value.
    pub kind: ParameterKind,
    /// Default value as JSON.
    pub default: &'static str,
    /// One-line summary for the manual.
    pub summary: &'static str,
}

/// Type of a parameter's value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ParameterKind {
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// A string.
    Text,
    /// One of some strings.
    OneOf(&'static [&'static str]),
    /// `true`, `false`, `"start"` or `"end"`.
    Keep,
    /// A boolean.
    Flag,
    /// An array of strings.
    Strings,
    /// An array of pairs of strings.
    Pairs,
}

/// Parameter values, including defaults.
pub struct Parameters {
    values: Map<String, Value>,
}

impl Parameters {
    /// Parses values according to the definitions.
    ///
    /// # Errors
    /// Fails if a name is unknown or a value has the wrong type.
    pub fn parse(definitions: &[Parameter], values: &Map<String, Value>) -> Result<Self, SplitError> {
        if let Some(name) =
            values.keys().find(|name| !definitions.iter().any(|parameter| parameter.name == name.as_str()))
        {
            let names: Vec<_> = definitions.iter().map(|parameter| parameter.name).collect();
            return Err(SplitError::parameter(
                name,
                format!("unknown parameter; expected one of {}", names.join(", ")),
            ));
        }
        let mut complete = Map::new();
        for parameter in definitions {
            let value = match values.get(parameter.name) {
                Some(value) if !value.is_null() => parameter.check(value)?,
                _ => parameter.default(),
            };
            complete.insert(parameter.name.to_owned(), value);
        }
        Ok(Parameters { values: complete })
    }

    /// Returns all values, for display.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// Returns an integer.
    pub fn integer(&self, name: &str) -> i64 {
        self.values.get(name).and_then(Value::as_i64).unwrap_or(0)
    }

    /// Returns an integer that may be absent.
    pub fn optional_integer(&self, name: &str) -> Option<i64> {
        self.values.get(name).and_then(Value::as_i64)
    }

    /// Returns an integer that is not negative.
    ///
    /// # Errors
    /// Fails if it is negative.
    pub fn count(&self, name: &str) -> Result<usize, SplitError> {
        let number = self.integer(name);
        usize::try_from(number).map_err(|_| SplitError::parameter(name, format!("must be >= 0, got {number}")))
    }

    /// Returns a number that may be absent.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.values.get(name).and_then(Value::as_f64)
    }

    /// Returns a string.
    pub fn text(&self, name: &str) -> &str {
        self.values.get(name).and_then(Value::as_str).unwrap_or("")
    }

    /// Returns a boolean.
    pub fn flag(&self, name: &str) -> bool {
        self.values.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns the JSON value.
    pub fn value(&self, name: &str) -> &Value {
        self.values.get(name).unwrap_or(&Value::Null)
    }

    /// Returns an array of strings.
    pub fn strings(&self, name: &str) -> Vec<String> {
        list(self.value(name)).iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    }

    /// Returns an array of pairs of strings.
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

    fn check(&self, value: &Value) -> Result<Value, SplitError> {
        if self.kind.accepts(value) {
            Ok(value.clone())
        } else {
            Err(SplitError::parameter(self.name, format!("must be {}", self.kind.description())))
        }
    }
}

impl ParameterKind {
    fn accepts(self, value: &Value) -> bool {
        match self {
            ParameterKind::Integer => value.is_i64(),
            ParameterKind::Number => value.is_number(),
            ParameterKind::Text => value.is_string(),
            ParameterKind::OneOf(names) => value.as_str().is_some_and(|name| names.contains(&name)),
            ParameterKind::Keep => value.is_boolean() || matches!(value.as_str(), Some("start" | "end")),
            ParameterKind::Flag => value.is_boolean(),
            ParameterKind::Strings => all(value, Value::is_string),
            ParameterKind::Pairs => all(value, |pair| all(pair, Value::is_string) && list(pair).len() == 2),
        }
    }

    /// Returns a description of the allowed values.
    pub fn description(self) -> String {
        match self {
            ParameterKind::Integer => "an integer".to_owned(),
            ParameterKind::Number => "a number".to_owned(),
            ParameterKind::Text => "a string".to_owned(),
            ParameterKind::OneOf(names) => format!("one of {}", names.join(", ")),
            ParameterKind::Keep => "true, false, \"start\" or \"end\"".to_owned(),
            ParameterKind::Flag => "true or false".to_owned(),
            ParameterKind::Strings => "an array of strings".to_owned(),
            ParameterKind::Pairs => "an array of pairs of strings".to_owned(),
        }
    }
}

fn all(value: &Value, accepts: impl Fn(&Value) -> bool) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(accepts))
}

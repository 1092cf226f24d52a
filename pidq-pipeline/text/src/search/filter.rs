//! Metadata filters: `{"unit": 20, "kind": {"in": ["datasheet"]}, "year": {"gte": 2020}}`.

use std::cmp::Ordering;

use serde_json::{Map, Value};

/// A conjunction of conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    conditions: Vec<Condition>,
}

/// A condition on a field. An array in the metadata matches if one of its items does.
#[derive(Clone, Debug, PartialEq)]
struct Condition {
    field: String,
    operator: &'static Operator,
    value: Value,
}

/// A comparison operator: a row of [`OPERATORS`].
#[derive(Debug)]
struct Operator {
    name: &'static str,
    /// Description of valid operands.
    operand: &'static str,
    is_valid_operand: fn(&Value) -> bool,
    matches: fn(&Value, &Value) -> bool,
}

impl PartialEq for Operator {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const EQUAL: &Operator = &Operator {
    name: "eq",
    operand: "a string, a number, a boolean or null",
    is_valid_operand: is_scalar,
    matches: equal,
};

const OPERATORS: &[&Operator] = &[
    EQUAL,
    &Operator {
        name: "in",
        operand: "an array of at most 1000 strings, numbers, booleans or nulls",
        is_valid_operand: |value| {
            value.as_array().is_some_and(|items| items.len() <= 1000 && items.iter().all(is_scalar))
        },
        matches: |found, value| value.as_array().is_some_and(|items| items.iter().any(|item| equal(found, item))),
    },
    &Operator {
        name: "gt",
        operand: RANGE,
        is_valid_operand: is_ordered,
        matches: |a, b| order(a, b).is_some_and(Ordering::is_gt),
    },
    &Operator {
        name: "gte",
        operand: RANGE,
        is_valid_operand: is_ordered,
        matches: |a, b| order(a, b).is_some_and(Ordering::is_ge),
    },
    &Operator {
        name: "lt",
        operand: RANGE,
        is_valid_operand: is_ordered,
        matches: |a, b| order(a, b).is_some_and(Ordering::is_lt),
    },
    &Operator {
        name: "lte",
        operand: RANGE,
        is_valid_operand: is_ordered,
        matches: |a, b| order(a, b).is_some_and(Ordering::is_le),
    },
];

const RANGE: &str = "a string or a number";
const MAX_CONDITIONS: usize = 32;

fn is_scalar(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn is_ordered(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

/// Compares values; `20` equals `20.0`.
fn equal(a: &Value, b: &Value) -> bool {
    a == b || order(a, b) == Some(Ordering::Equal)
}

/// Orders numbers by value and strings by code points (which orders RFC 3339 dates); other values are not comparable.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// An error in a filter.
#[derive(Clone, Debug, Eq, thiserror::Error, PartialEq)]
#[error("filter{pointer}: {detail}")]
pub struct FilterError {
    /// JSON pointer to the position in the filter.
    pub pointer: String,
    /// Description of the expected value.
    pub detail: String,
}

impl FilterError {
    fn at(path: &[&str], detail: impl Into<String>) -> Self {
        FilterError { pointer: path.iter().map(|step| pointer_step(step)).collect(), detail: detail.into() }
    }
}

/// Returns a step of a JSON pointer (RFC 6901).
fn pointer_step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

impl Filter {
    /// Parses a filter.
    ///
    /// # Errors
    /// Returns a [`FilterError`] with the position.
    pub fn parse(filter: &Value) -> Result<Self, FilterError> {
        let fields = filter.as_object().ok_or_else(|| FilterError::at(&[], "must be an object"))?;
        let mut conditions = Vec::new();
        for (field, value) in fields {
            match value {
                Value::Object(operators) => parse_operators(field, operators, &mut conditions)?,
                value => conditions.push(condition(&[field], EQUAL, value)?),
            }
        }
        if conditions.len() > MAX_CONDITIONS {
            return Err(FilterError::at(&[], format!("must have at most {MAX_CONDITIONS} conditions")));
        }
        Ok(Filter { conditions })
    }

    /// Returns whether metadata matches all conditions.
    pub fn matches(&self, metadata: &Map<String, Value>) -> bool {
        self.conditions.iter().all(|condition| condition.matches(metadata.get(&condition.field)))
    }
}

fn parse_operators(
    field: &str,
    operators: &Map<String, Value>,
    conditions: &mut Vec<Condition>,
) -> Result<(), FilterError> {
    for (name, value) in operators {
        let names = || OPERATORS.iter().map(|operator| operator.name).collect::<Vec<_>>().join(", ");
        let operator = OPERATORS.iter().find(|operator| operator.name == name);
        let operator =
            operator.ok_or_else(|| FilterError::at(&[field, name], format!("must be one of {}", names())))?;
        conditions.push(condition(&[field, name], operator, value)?);
    }
    Ok(())
}

fn condition(path: &[&str], operator: &'static Operator, value: &Value) -> Result<Condition, FilterError> {
    if (operator.is_valid_operand)(value) {
        Ok(Condition { field: path[0].to_owned(), operator, value: value.clone() })
    } else {
        Err(FilterError::at(path, format!("must be {}", operator.operand)))
    }
}

impl Condition {
    fn matches(&self, found: Option<&Value>) -> bool {
        match found {
            Some(Value::Array(items)) => items.iter().any(|item| (self.operator.matches)(item, &self.value)),
            Some(found) => (self.operator.matches)(found, &self.value),
            None => (self.operator.matches)(&Value::Null, &self.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(filter: Value, metadata: Value, expected: bool) {
        let matches = Filter::parse(&filter).map(|filter| filter.matches(metadata.as_object().unwrap_or(&Map::new())));
        assert_eq!(matches, Ok(expected), "{filter} on {metadata}");
    }

    #[test]
    fn fields_must_be_equal() {
        check(json!({}), json!({}), true);
        check(json!({"unit": 20}), json!({"unit": 20.0}), true);
        check(json!({"unit": 20}), json!({"unit": "20"}), false);
        check(json!({"unit": 20, "kind": "log"}), json!({"unit": 20}), false);
        check(json!({"unit": null}), json!({}), true);
        check(json!({"kind": {"eq": "log"}}), json!({"kind": "log"}), true);
    }

    #[test]
    fn fields_may_be_one_of_several() {
        check(json!({"kind": {"in": ["a", "b"]}}), json!({"kind": "b"}), true);
        check(json!({"kind": {"in": []}}), json!({"kind": "b"}), false);
        check(json!({"tags": "b"}), json!({"tags": ["a", "b"]}), true);
        check(json!({"tags": {"in": ["c"]}}), json!({"tags": ["a", "b"]}), false);
    }

    #[test]
    fn fields_may_be_in_a_range() {
        check(json!({"year": {"gte": 2020, "lt": 2024}}), json!({"year": 2020}), true);
        check(json!({"year": {"gte": 2020, "lt": 2024}}), json!({"year": 2024}), false);
        check(json!({"day": {"gt": "2026-01-31"}}), json!({"day": "2026-02-01"}), true);
        check(json!({"day": {"gt": 5}}), json!({"day": "2026-02-01"}), false);
        check(json!({"day": {"lte": 5}}), json!({}), false);
    }

    #[test]
    fn errors_name_the_position() {
        let pointer = |filter: Value| Filter::parse(&filter).map_err(|error| error.pointer);
        assert_eq!(pointer(json!([])), Err(String::new()));
        assert_eq!(pointer(json!({"a": {"like": 1}})), Err("/a/like".to_owned()));
        assert_eq!(pointer(json!({"a/b": {"in": 1}})), Err("/a~1b/in".to_owned()));
        assert_eq!(pointer(json!({"a": [1]})), Err("/a".to_owned()));
        assert_eq!(pointer(json!({"a": {"gt": null}})), Err("/a/gt".to_owned()));
    }
}

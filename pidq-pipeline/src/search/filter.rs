//! What the metadata of a document must be: `{"unit": 20, "kind": {"in": ["datasheet"]}, "year": {"gte": 2020}}`.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Map, Value};

/// Conditions that must all hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    conditions: Vec<Condition>,
}

/// What one member must be. A list in the metadata holds it if one of its items does.
#[derive(Clone, Debug, PartialEq)]
struct Condition {
    member: String,
    test: &'static Test,
    value: Value,
}

/// A way to test a member: a row of [`TESTS`].
#[derive(Debug)]
struct Test {
    name: &'static str,
    /// What the value to compare with must be.
    wants: &'static str,
    takes: fn(&Value) -> bool,
    holds: fn(&Value, &Value) -> bool,
}

impl PartialEq for Test {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const EQUAL: &Test = &Test { name: "eq", wants: "a text, a number, a boolean or null", takes: is_plain, holds: equal };

const TESTS: &[&Test] = &[
    EQUAL,
    &Test {
        name: "in",
        wants: "a list of at most 1000 texts, numbers, booleans or nulls",
        takes: |value| value.as_array().is_some_and(|items| items.len() <= 1000 && items.iter().all(is_plain)),
        holds: |found, value| value.as_array().is_some_and(|items| items.iter().any(|item| equal(found, item))),
    },
    &Test { name: "gt", wants: RANGE, takes: is_ordered, holds: |a, b| order(a, b).is_some_and(Ordering::is_gt) },
    &Test { name: "gte", wants: RANGE, takes: is_ordered, holds: |a, b| order(a, b).is_some_and(Ordering::is_ge) },
    &Test { name: "lt", wants: RANGE, takes: is_ordered, holds: |a, b| order(a, b).is_some_and(Ordering::is_lt) },
    &Test { name: "lte", wants: RANGE, takes: is_ordered, holds: |a, b| order(a, b).is_some_and(Ordering::is_le) },
];

const RANGE: &str = "a text or a number";
const MOST: usize = 32;

fn is_plain(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn is_ordered(value: &Value) -> bool {
    value.is_string() || value.is_number()
}

/// `20` and `20.0` are one number.
fn equal(a: &Value, b: &Value) -> bool {
    a == b || order(a, b) == Some(Ordering::Equal)
}

/// Numbers by size, texts by code points (so that dates in RFC 3339 are in order); nothing else compares.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// What is wrong with a filter, and where.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BadFilter {
    /// The place in the filter, as a JSON pointer.
    pub pointer: String,
    /// What it must be.
    pub detail: String,
}

impl BadFilter {
    fn at(path: &[&str], detail: impl Into<String>) -> Self {
        BadFilter { pointer: path.iter().map(|step| pidq_http::pointer_step(step)).collect(), detail: detail.into() }
    }
}

impl fmt::Display for BadFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "filter{}: {}", self.pointer, self.detail)
    }
}

impl std::error::Error for BadFilter {}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// A [`BadFilter`] names the place.
    pub fn parse(filter: &Value) -> Result<Self, BadFilter> {
        let members = filter.as_object().ok_or_else(|| BadFilter::at(&[], "must be an object"))?;
        let mut conditions = Vec::new();
        for (member, value) in members {
            match value {
                Value::Object(tests) => read_tests(member, tests, &mut conditions)?,
                value => conditions.push(condition(&[member], EQUAL, value)?),
            }
        }
        if conditions.len() > MOST {
            return Err(BadFilter::at(&[], format!("must have at most {MOST} conditions")));
        }
        Ok(Filter { conditions })
    }

    /// Whether metadata is as wanted.
    pub fn accepts(&self, metadata: &Map<String, Value>) -> bool {
        self.conditions.iter().all(|condition| condition.holds(metadata.get(&condition.member)))
    }
}

fn read_tests(member: &str, tests: &Map<String, Value>, conditions: &mut Vec<Condition>) -> Result<(), BadFilter> {
    for (name, value) in tests {
        let names = || TESTS.iter().map(|test| test.name).collect::<Vec<_>>().join(", ");
        let test = TESTS.iter().find(|test| test.name == name);
        let test = test.ok_or_else(|| BadFilter::at(&[member, name], format!("must be one of {}", names())))?;
        conditions.push(condition(&[member, name], test, value)?);
    }
    Ok(())
}

fn condition(path: &[&str], test: &'static Test, value: &Value) -> Result<Condition, BadFilter> {
    if (test.takes)(value) {
        Ok(Condition { member: path[0].to_owned(), test, value: value.clone() })
    } else {
        Err(BadFilter::at(path, format!("must be {}", test.wants)))
    }
}

impl Condition {
    fn holds(&self, found: Option<&Value>) -> bool {
        match found {
            Some(Value::Array(items)) => items.iter().any(|item| (self.test.holds)(item, &self.value)),
            Some(found) => (self.test.holds)(found, &self.value),
            None => (self.test.holds)(&Value::Null, &self.value),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(filter: Value, metadata: Value, expected: bool) {
        let accepts = Filter::parse(&filter).map(|filter| filter.accepts(metadata.as_object().unwrap_or(&Map::new())));
        assert_eq!(accepts, Ok(expected), "{filter} on {metadata}");
    }

    #[test]
    fn members_must_be_equal() {
        check(json!({}), json!({}), true);
        check(json!({"unit": 20}), json!({"unit": 20.0}), true);
        check(json!({"unit": 20}), json!({"unit": "20"}), false);
        check(json!({"unit": 20, "kind": "log"}), json!({"unit": 20}), false);
        check(json!({"unit": null}), json!({}), true);
        check(json!({"kind": {"eq": "log"}}), json!({"kind": "log"}), true);
    }

    #[test]
    fn members_may_be_one_of_several() {
        check(json!({"kind": {"in": ["a", "b"]}}), json!({"kind": "b"}), true);
        check(json!({"kind": {"in": []}}), json!({"kind": "b"}), false);
        check(json!({"tags": "b"}), json!({"tags": ["a", "b"]}), true);
        check(json!({"tags": {"in": ["c"]}}), json!({"tags": ["a", "b"]}), false);
    }

    #[test]
    fn members_may_be_in_a_range() {
        check(json!({"year": {"gte": 2020, "lt": 2024}}), json!({"year": 2020}), true);
        check(json!({"year": {"gte": 2020, "lt": 2024}}), json!({"year": 2024}), false);
        check(json!({"day": {"gt": "2026-01-31"}}), json!({"day": "2026-02-01"}), true);
        check(json!({"day": {"gt": 5}}), json!({"day": "2026-02-01"}), false);
        check(json!({"day": {"lte": 5}}), json!({}), false);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let pointer = |filter: Value| Filter::parse(&filter).map_err(|bad| bad.pointer);
        assert_eq!(pointer(json!([])), Err(String::new()));
        assert_eq!(pointer(json!({"a": {"like": 1}})), Err("/a/like".to_owned()));
        assert_eq!(pointer(json!({"a/b": {"in": 1}})), Err("/a~1b/in".to_owned()));
        assert_eq!(pointer(json!({"a": [1]})), Err("/a".to_owned()));
        assert_eq!(pointer(json!({"a": {"gt": null}})), Err("/a/gt".to_owned()));
    }
}

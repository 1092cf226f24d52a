//! Members of drawn elements: texts, numbers and points.

use pidq_core::{Object, Value};

use crate::svg::scene::Point;

/// Returns a text member; empty if there is none.
pub fn text<'a>(object: Object<'a>, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a plausible coordinate or length.
pub fn number(object: Object<'_>, key: &str) -> Option<f64> {
    object.get(key).and_then(coordinate)
}

/// Returns a number that is a plausible coordinate.
fn coordinate(value: Value<'_>) -> Option<f64> {
    value.as_f64().filter(|number| number.abs() < 1e9)
}

/// Returns the plausible numbers of a list.
pub fn numbers(object: Object<'_>, key: &str) -> Vec<f64> {
    let list = object.get(key).and_then(Value::as_array);
    list.into_iter().flat_map(|list| list.iter()).filter_map(coordinate).collect()
}

/// Returns a pair of numbers.
pub fn point(object: Object<'_>, key: &str) -> Option<Point> {
    let list = object.get(key).and_then(Value::as_array)?;
    Some((coordinate(list.get(0)?)?, coordinate(list.get(1)?)?))
}

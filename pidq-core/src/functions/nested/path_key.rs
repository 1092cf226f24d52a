//! Keys of computed paths: names of properties, and indexes of items.

use std::fmt::Write;

use super::invalid;
use crate::arena::load::array_index;
use crate::error::Result;
use crate::eval::EvalContext;
use crate::eval::plan::Path;
use crate::value::{Value, js_number_format};

/// A key of a path. As in `.a.0`, a number is also the name of a property, and a name of digits is also an index.
#[derive(Clone, Copy)]
pub(in crate::functions) struct PathKey<'a> {
    pub name: &'a str,
    /// The index in an array; a negative one counts from the end.
    pub index: Option<i64>,
    /// Written as a number: a missing container becomes an array.
    pub is_number: bool,
}

impl<'a> PathKey<'a> {
    pub fn from_value(cx: &mut EvalContext<'a>, key: Value<'a>) -> Result<PathKey<'a>> {
        /// Integers up to this are exact.
        const MAX: f64 = 9_007_199_254_740_991.0;
        match key {
            Value::String(name) => {
                cx.charge_bytes(name.len())?;
                Ok(PathKey { name, index: array_index(name).map(i64::from), is_number: false })
            }
            Value::Number(number) if number.value().trunc() == number.value() && number.value().abs() <= MAX => {
                let number = number.value();
                let name = cx.build_text(|out| write!(out, "{}", js_number_format::number_text(number)))?;
                Ok(PathKey { name, index: Some(number as i64), is_number: true })
            }
            Value::Number(_) => Err(invalid("Index expected: an integer", key)),
            _ => {
                let error = invalid("Key expected: a string or an integer", key);
                Err(error.with_help("a path is an array of keys, such as `[\"nodes\", 0, \"tag\"]`"))
            }
        }
    }

    /// Resolves the index in an array of a length. The result may be beyond the end.
    pub fn position(&self, len: usize) -> Option<usize> {
        let index = self.index?;
        let position = if index < 0 { index + len as i64 } else { index };
        usize::try_from(position).ok()
    }
}

/// Reads a computed path: an array of keys, or a single key.
pub(super) fn from_value<'a>(cx: &mut EvalContext<'a>, keys: Value<'a>) -> Result<Vec<PathKey<'a>>> {
    let Value::Array(keys) = keys else { return Ok(vec![PathKey::from_value(cx, keys)?]) };
    let mut path = Vec::new();
    for key in keys.iter() {
        cx.charge(1)?;
        path.push(PathKey::from_value(cx, key)?);
    }
    Ok(path)
}

/// Returns the keys of a path that is written in the query.
pub(super) fn from_literal(path: &Path) -> Vec<PathKey<'_>> {
    let keys = path.keys.iter().map(|key| {
        let index = key.index.map(i64::from);
        PathKey { name: &key.name, index, is_number: index.is_some() }
    });
    keys.collect()
}

/// Returns the property or item of a key; `None` if it is missing.
pub(in crate::functions) fn child<'a>(holder: Value<'a>, key: &PathKey<'_>) -> Option<Value<'a>> {
    let found = match holder {
        Value::Object(object) => object.get(key.name),
        Value::Array(array) => array.get(key.position(array.len())?),
        _ => None,
    };
    found.filter(|value| !matches!(value, Value::Undefined))
}

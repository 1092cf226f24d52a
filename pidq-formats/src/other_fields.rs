//! Fields that a format cannot hold exactly, such as nulls: JSON text in one more field of the element.

use pidq_core::{Graph, Object, Value};

use crate::json::{Fields, Json};

/// Name of the field with the JSON text.
pub const OTHER_FIELDS: &str = "pidq_other_fields";

/// Returns the fields of an object that were not read back unchanged, as JSON text; `None` if there are none.
pub fn unread_fields(fields: Object<'_>, read: &Fields) -> Option<String> {
    json_text(fields.iter().filter(|(key, value)| !is_equal(*value, read.get(key))))
}

/// Returns fields as the JSON text of an object; `None` if there are none.
pub fn json_text<'a>(fields: impl Iterator<Item = (&'a str, Value<'a>)>) -> Option<String> {
    let mut other = Fields::default();
    for (key, value) in fields.filter(|(_, value)| !matches!(value, Value::Undefined)) {
        other.add(key, Json::from_value(value));
    }
    let mut text = String::new();
    other.write(&mut text);
    (!other.is_empty()).then_some(text)
}

fn is_equal(value: Value<'_>, read: Option<&Json>) -> bool {
    match (value, read) {
        (Value::Null, Some(Json::Null)) => true,
        (Value::Bool(value), Some(Json::Bool(read))) => value == *read,
        (Value::String(value), Some(Json::String(read))) => value == read,
        (Value::Number(_), Some(Json::Number(digits))) => Json::from_value(value) == Json::Raw(digits.clone()),
        (Value::Array(_) | Value::Object(_), Some(Json::Raw(_))) => Some(&Json::from_value(value)) == read,
        _ => false,
    }
}

/// Returns the object that the field of other fields holds, with the values as JSON, and removes the field. Another
/// value under this name is a field like any other.
pub fn take(fields: &mut Fields) -> Fields {
    let mut other = Fields::default();
    let Some(at) = fields.0.iter().position(|(key, _)| key == OTHER_FIELDS) else { return other };
    let graph = match &fields.0[at].1 {
        Json::Raw(text) | Json::String(text) => Graph::from_json(text.clone()).ok(),
        _ => None,
    };
    let Some(object) = graph.as_ref().and_then(|graph| graph.root().as_object()) else { return other };
    for (key, value) in object.iter() {
        other.add(key, Json::from_value(value));
    }
    fields.0.remove(at);
    other
}

/// Restores the fields of an object that its format could not hold.
pub fn restore(fields: &mut Fields) {
    for (key, value) in take(fields).0 {
        fields.set(&key, value);
    }
}

//! Members of the graph that are not read back from the document: they are added as members of the extension.

use std::collections::{HashMap, VecDeque};

use pidq_core::{Array, Object, Value};

use crate::json::{Fields, Json};
use crate::model::json;

use super::super::extension;
use super::document::{Document, xml_text};

/// Adds the members of a node, an edge or the metadata that are not read back, and states those that are read although
/// they are not there. `elsewhere` lists members that are left out.
pub fn add(document: &mut Document, object: usize, fields: Object<'_>, read: Object<'_>, elsewhere: &[&str]) {
    for (key, value) in fields.iter().filter(|(key, _)| !elsewhere.contains(key)) {
        match (key, value, read.get(key)) {
            (_, value, Some(read)) if is_same(value, read) => {}
            ("attributes", Value::Array(list), read) if list.iter().all(|item| matches!(item, Value::Object(_))) => {
                let read = read.and_then(Value::as_array);
                document.member(object, key, Some(&attributes(list, read)));
            }
            _ => document.member(object, key, Some(&json(value))),
        }
    }
    for (key, _) in read.iter().filter(|(key, _)| !elsewhere.contains(key) && fields.get(key).is_none()) {
        document.member(object, key, None);
    }
}

/// Adds JSON texts to a property of the plant.
pub fn add_texts(document: &mut Document, plant: usize, name: &str, texts: &[String]) {
    if texts.is_empty() {
        return;
    }
    let data = document.data(plant, &format!("{}/{}", extension::PREFIX, extension::encode(name)));
    texts.iter().for_each(|text| document.value(data, "String", &xml_text(text)));
}

/// Returns a list of attributes as JSON text. An attribute that is read back is the number of its place there, or has
/// the place and the members that differ.
fn attributes(list: Array<'_>, read: Option<Array<'_>>) -> String {
    let key = |value: Value<'_>| {
        let fields = value.as_object();
        let member = |key| fields.and_then(|fields| fields.get(key)).map(json).unwrap_or_default();
        format!("{} {}", member("name"), member("value"))
    };
    let mut places: HashMap<String, VecDeque<(usize, Value<'_>)>> = HashMap::new();
    for (index, value) in read.into_iter().flat_map(Array::iter).enumerate() {
        places.entry(key(value)).or_default().push_back((index, value));
    }
    let entries = list.iter().map(|value| match (places.get_mut(&key(value)).and_then(VecDeque::pop_front), value) {
        (Some((place, read)), _) if is_same(value, read) => place.to_string(),
        (Some((place, Value::Object(read))), Value::Object(fields)) => changed_attribute(fields, place, read),
        _ => json(value),
    });
    format!("[{}]", entries.collect::<Vec<String>>().join(","))
}

fn changed_attribute(fields: Object<'_>, place: usize, read: Object<'_>) -> String {
    let mut changed = Fields::default();
    changed.add(extension::PLACE, Json::count(place));
    for (key, value) in fields.iter() {
        if !read.get(key).is_some_and(|read| is_same(value, read)) {
            changed.add(key, Json::from_value(value));
        }
    }
    let without: Vec<Json> =
        read.iter().filter(|(key, _)| fields.get(key).is_none()).map(|(key, _)| Json::text(key)).collect();
    if !without.is_empty() {
        changed.add(extension::WITHOUT, Json::Array(without));
    }
    Json::Object(changed).to_text()
}

/// Returns true for values that are equal as JSON: objects in any order, numbers by their value.
pub fn is_same(a: Value<'_>, b: Value<'_>) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, value)| b.get(key).is_some_and(|other| is_same(value, other)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(a, b)),
        (Value::Number(a), Value::Number(b)) => a.value() == b.value(),
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Null | Value::Undefined, Value::Null | Value::Undefined) => true,
        _ => false,
    }
}

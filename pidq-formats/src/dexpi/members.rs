//! Members of the extension: values of the graph that the classes of the objects cannot state.

use std::collections::{HashMap, HashSet};

use pidq_core::{Graph, Object, Value};

use crate::json::{Fields, Json};

use super::extension;
use super::objects::Objects;

/// Returns the members of an object, and marks them as taken. `None` stands for a member that it does not have.
pub fn members(objects: &Objects<'_>, object: usize) -> Vec<(String, Option<Json>)> {
    let data = objects.extension(object, "Data").collect::<Vec<_>>();
    data.into_iter().filter_map(|(index, name)| Some((extension::decode(name), member(objects, index)?))).collect()
}

/// Returns the value of a member; the outer option is `None` for text that is not JSON.
fn member(objects: &Objects<'_>, data: usize) -> Option<Option<Json>> {
    objects.take_all(data);
    let (_, value) = objects.tree.children(data).next()?;
    match value.name.as_str() {
        "Undefined" => Some(None),
        _ => json(&value.text).map(Some),
    }
}

/// Returns the value of JSON text.
pub fn json(text: &str) -> Option<Json> {
    let graph = Graph::from_json(text.to_owned()).ok()?;
    Some(match graph.root() {
        Value::String(text) => Json::text(text),
        _ => Json::Raw(text.to_owned()),
    })
}

/// Returns the texts of a property, and marks them as taken.
pub fn texts<'t>(objects: &Objects<'t>, object: usize, property: &str) -> Vec<&'t str> {
    let data: Vec<usize> =
        objects.extension(object, "Data").filter(|(_, name)| *name == property).map(|(data, _)| data).collect();
    data.iter().for_each(|data| objects.take_all(*data));
    let tree = objects.tree;
    data.into_iter().flat_map(|data| tree.children(data).map(|(_, value)| value.text.as_str())).collect()
}

/// Returns an object of JSON text with its members as JSON.
pub fn object(text: &str) -> Option<Fields> {
    let graph = Graph::from_json(text.to_owned()).ok()?;
    let json = |value| match value {
        Value::String(text) => Json::text(text),
        value => Json::from_value(value),
    };
    let members = graph.root().as_object()?.iter().map(|(key, value)| (key.to_owned(), json(value)));
    Some(Fields(members.collect()))
}

/// Returns the groups that enclose an element, from the outermost: the number of each and its members.
pub fn enclosing_groups(objects: &Objects<'_>, element: usize) -> Vec<(usize, Fields)> {
    let texts = texts(objects, element, extension::GROUPS);
    let groups = texts.into_iter().filter_map(|text| text.split_once(' '));
    let groups = groups.filter_map(|(number, members)| Some((number.parse().ok()?, object(members)?)));
    groups.take(extension::MAX_GROUPS).collect()
}

/// Graphical element, with the groups that enclose it.
type Enclosed = (Vec<(usize, Fields)>, Json);

/// Puts elements into the groups that enclose them. Neighbors with the same group are in it together.
pub fn nest(elements: Vec<Enclosed>) -> Vec<Json> {
    let mut nested = Vec::new();
    let mut open: Option<(usize, Fields, Vec<Enclosed>)> = None;
    for (mut groups, element) in elements {
        let first = if groups.is_empty() { None } else { Some(groups.remove(0)) };
        match (&mut open, first) {
            (Some((number, _, inside)), Some((first, _))) if *number == first => inside.push((groups, element)),
            (_, first) => {
                nested.extend(open.take().map(|(_, fields, inside)| closed(fields, inside)));
                match first {
                    Some((number, fields)) => open = Some((number, fields, vec![(groups, element)])),
                    None => nested.push(element),
                }
            }
        }
    }
    nested.extend(open.map(|(_, fields, inside)| closed(fields, inside)));
    nested
}

fn closed(mut fields: Fields, inside: Vec<Enclosed>) -> Json {
    fields.set("elements", Json::Array(nest(inside)));
    Json::Object(fields)
}

/// Properties of the extension that are not members.
const OTHER_PROPERTIES: &[&str] = &[
    extension::NODES,
    extension::EDGES,
    extension::ABSENT_NODES,
    extension::ABSENT_EDGES,
    extension::ELEMENT,
    extension::GROUPS,
];

/// Sets the members of an object that its class cannot state.
pub fn restore(fields: &mut Fields, members: Vec<(String, Option<Json>)>) {
    let mut places: HashMap<String, usize> =
        fields.0.iter().enumerate().map(|(index, (key, _))| (key.clone(), index)).collect();
    let mut absent = HashSet::new();
    for (name, value) in members {
        match value {
            _ if OTHER_PROPERTIES.contains(&name.as_str()) => {}
            Some(Json::Raw(text)) if name == "attributes" => restore_attributes(fields, &text),
            Some(value) => match places.get(&name) {
                Some(index) => fields.0[*index].1 = value,
                None => {
                    places.insert(name.clone(), fields.0.len());
                    fields.add(&name, value);
                }
            },
            None => drop(absent.insert(name)),
        }
    }
    fields.0.retain(|(key, _)| !absent.contains(key));
}

/// Sets the attributes: a number stands for an attribute that the class of the object has, by its place.
fn restore_attributes(fields: &mut Fields, text: &str) {
    let Ok(graph) = Graph::from_json(text.to_owned()) else { return };
    let Some(list) = graph.root().as_array() else { return fields.set("attributes", Json::Raw(text.to_owned())) };
    let known = match fields.get("attributes") {
        Some(Json::Array(known)) => known.clone(),
        _ => Vec::new(),
    };
    let place = |number: Value<'_>| known.get(number.as_f64()? as usize);
    let attribute = |value: Value<'_>| match value {
        Value::Number(_) => place(value).cloned(),
        Value::Object(members) => Some(match members.get(extension::PLACE).and_then(place) {
            Some(Json::Object(known)) => Json::Object(changed_attribute(known.clone(), members)),
            _ => Json::from_value(value),
        }),
        value => Some(Json::from_value(value)),
    };
    fields.set("attributes", Json::Array(list.iter().filter_map(attribute).collect()));
}

/// Returns an attribute with other members.
fn changed_attribute(mut attribute: Fields, members: Object<'_>) -> Fields {
    for (key, value) in members.iter().filter(|(key, _)| ![extension::PLACE, extension::WITHOUT].contains(key)) {
        attribute.set(key, Json::from_value(value));
    }
    let without = members.get(extension::WITHOUT).and_then(Value::as_array);
    for key in without.into_iter().flat_map(|list| list.iter().filter_map(Value::as_str)) {
        attribute.0.retain(|(name, _)| name != key);
    }
    attribute
}

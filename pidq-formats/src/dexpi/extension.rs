//! Extension of DEXPI 2.0 for what its information model cannot say: the ids and members of the graph.
//!
//! A file that imports the model [`SOURCE`] under the prefix [`PREFIX`] may have, on any object, `Data` with a property
//! `Pidq/NAME`: the member `NAME` of the node, edge, metadata or graphical element, as JSON text, or `Undefined` if it
//! has none. Ids and names are encoded, since those of DEXPI consist of letters, digits and `_`.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use pidq_core::{Graph, Object, Value};

use crate::json::{Fields, Json};
use crate::xml::{Element, Tree};

use super::objects::Objects;

/// Prefix of the extension.
pub const PREFIX: &str = "Pidq";
/// Address of the extension, by which it is recognized.
pub const SOURCE: &str = "https://github.com/pidq/pidq/dexpi-extension/1";
/// Start of an id of an object that has none in the graph. No encoded id starts with it.
pub const GENERATED: &str = "_x_";
/// Property of the plant with nodes that are not items, or differ from those that are read, as JSON text.
pub const NODES: &str = "pidq_nodes";
/// Property of the plant with edges that are not pipes, signals or associations, or differ from those, as JSON text.
pub const EDGES: &str = "pidq_edges";
/// Property of the plant with the ids of nodes that are read although the graph does not have them, as JSON text.
pub const ABSENT_NODES: &str = "pidq_absent_nodes";
/// Property of the plant with the kinds and ends of edges that are read although the graph does not have them.
pub const ABSENT_EDGES: &str = "pidq_absent_edges";
/// Members of an attribute in a list of attributes: its place among those that are read, and what it does not have.
pub const PLACE: &str = "pidq_place";
pub const WITHOUT: &str = "pidq_without";
/// Property with the name of the Proteus element of an object.
pub const ELEMENT: &str = "pidq_element";
/// Property with the graphical groups that enclose an element inside the group that is drawn.
pub const GROUPS: &str = "pidq_groups";
/// Attribute of an object in memory: its id as written.
const WRITTEN_ID: &str = "written id";

/// Encodes a text as a name: other characters than letters and digits become `_x` with their number and `_`.
pub fn encode(text: &str) -> String {
    let mut name = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let is_plain = match c {
            '_' => characters.peek() != Some(&'x'),
            c if name.is_empty() => c.is_ascii_alphabetic(),
            c => c.is_ascii_alphanumeric(),
        };
        match is_plain {
            true => name.push(c),
            // Writing to a `String` cannot fail.
            false => drop(write!(name, "_x{:X}_", c as u32)),
        }
    }
    if name.is_empty() {
        name.push_str("_x0_");
    }
    name
}

/// Decodes a name that [`encode`] returned. Other names stay as they are.
pub fn decode(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("_x") {
        text.push_str(&rest[..at]);
        let code = &rest[at + 2..];
        let end = code.find('_').filter(|end| (1..=6).contains(end));
        let character =
            end.and_then(|end| u32::from_str_radix(&code[..end], 16).ok().and_then(char::from_u32).map(|c| (c, end)));
        match character {
            Some((c, end)) => {
                text.extend((c != '\0').then_some(c));
                rest = &code[end + 1..];
            }
            None => {
                text.push_str("_x");
                rest = code;
            }
        }
    }
    text.push_str(rest);
    text
}

/// Returns true if a file uses the extension.
pub fn is_used(tree: &Tree) -> bool {
    if tree.elements.is_empty() {
        return false;
    }
    let mut imports = tree.named(0, "Import");
    imports.any(|(_, import)| import.get("prefix") == Some(PREFIX) && import.get("source") == Some(SOURCE))
}

/// Decodes the ids of the objects of a file that uses the extension, and keeps those that are written.
pub fn decode_ids(tree: &mut Tree) {
    if !is_used(tree) {
        return;
    }
    for element in tree.elements.iter_mut().filter(|element| element.name == "Object") {
        let Some((_, id)) = element.attributes.iter_mut().find(|(name, _)| name == "id") else { continue };
        if !id.starts_with(GENERATED) {
            let written = std::mem::take(id);
            *id = decode(&written);
            element.attributes.push((WRITTEN_ID.to_owned(), written));
        }
    }
}

/// Returns the id of an object as it was written, if it was decoded.
pub fn written_id(element: &Element) -> Option<&str> {
    element.get(WRITTEN_ID)
}

/// Returns the members of an object, and marks them as taken. `None` stands for a member that it does not have.
pub fn members(objects: &Objects<'_>, object: usize) -> Vec<(String, Option<Json>)> {
    let data = objects.extension(object, "Data").collect::<Vec<_>>();
    data.into_iter().filter_map(|(index, name)| Some((decode(name), member(objects, index)?))).collect()
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
    let texts = texts(objects, element, GROUPS);
    let groups = texts.into_iter().filter_map(|text| text.split_once(' '));
    let groups = groups.filter_map(|(number, members)| Some((number.parse().ok()?, object(members)?)));
    groups.take(MAX_GROUPS).collect()
}

/// Graphical element, with the groups that enclose it.
type Enclosed = (Vec<(usize, Fields)>, Json);

/// Maximum nesting of graphical groups.
pub const MAX_GROUPS: usize = 16;

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
const OTHER_PROPERTIES: &[&str] = &[NODES, EDGES, ABSENT_NODES, ABSENT_EDGES, ELEMENT, GROUPS];

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
        Value::Object(members) => Some(match members.get(PLACE).and_then(place) {
            Some(Json::Object(known)) => Json::Object(changed_attribute(known.clone(), members)),
            _ => Json::from_value(value),
        }),
        value => Some(Json::from_value(value)),
    };
    fields.set("attributes", Json::Array(list.iter().filter_map(attribute).collect()));
}

/// Returns an attribute with other members.
fn changed_attribute(mut attribute: Fields, members: Object<'_>) -> Fields {
    for (key, value) in members.iter().filter(|(key, _)| ![PLACE, WITHOUT].contains(key)) {
        attribute.set(key, Json::from_value(value));
    }
    let without = members.get(WITHOUT).and_then(Value::as_array);
    for key in without.into_iter().flat_map(|list| list.iter().filter_map(Value::as_str)) {
        attribute.0.retain(|(name, _)| name != key);
    }
    attribute
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_a_name_of_its_own_that_decodes_to_it() {
        let texts = [
            "A",
            "",
            "a-b",
            "a#2",
            "1",
            "_",
            "_x",
            "__x2D_",
            "_x2D_",
            "x2D_",
            "-x2D_",
            "P 101/A",
            "ü\u{1F600}",
            "a_b",
            "_x_1",
            "\n\t",
            "-",
            "--",
            "a_-",
            "_xZZ_",
            "_x110000_",
            "_x0_",
        ];
        let names: Vec<String> = texts.iter().map(|text| encode(text)).collect();
        for (text, name) in texts.iter().zip(&names) {
            assert_eq!(decode(name), *text, "{name}");
            let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            assert!(is_name && !name.starts_with(|c: char| c.is_ascii_digit()), "{name}");
            assert!(!name.starts_with(GENERATED), "{name}");
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1, "{name}");
        }
        assert_eq!(encode("V-101"), "V_x2D_101");
    }
}

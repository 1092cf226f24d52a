//! Nodes and edges of the graph that have no object, and those that are read although the graph does not have them.

use std::collections::{BTreeMap, HashMap};

use pidq_core::{Object, Value};

use crate::json::{Fields, Json};
use crate::model::{Model, json};

use super::super::extension;
use super::document::Document;
use super::members::{add_texts, is_same};
use super::names::text;

/// Members by which relations are told apart.
const KEYS: &[&str] = &["edge_type", "edge_classification", "from", "to"];

/// Adds the differences of a graph from the one that was read.
pub fn add(document: &mut Document, model: &Model<'_>, read: &Model<'_>, plant: usize) {
    add_nodes(document, model, read, plant);
    add_edges(document, model, read, plant);
}

fn add_nodes(document: &mut Document, model: &Model<'_>, read: &Model<'_>, plant: usize) {
    let known: HashMap<&str, Object<'_>> = read.nodes.iter().map(|node| (node.name.as_str(), node.fields)).collect();
    let is_read = |name: &str, fields: Object<'_>| {
        known.get(name).is_some_and(|read| is_same(Value::Object(fields), Value::Object(*read)))
    };
    // A node without an id has one in the document.
    let further = model.nodes.iter().filter(|node| node.id().is_some() && !is_read(&node.name, node.fields));
    let further: Vec<String> = further.map(|node| json(Value::Object(node.fields))).collect();
    add_texts(document, plant, extension::NODES, &further);
    let known: HashMap<&str, ()> = model.nodes.iter().map(|node| (node.name.as_str(), ())).collect();
    let absent = read.nodes.iter().filter(|node| !known.contains_key(node.name.as_str()));
    let absent: Vec<String> = absent.filter_map(|node| node.fields.get("id").map(json)).collect();
    add_texts(document, plant, extension::ABSENT_NODES, &absent);
}

/// Adds the edges of every kind and pair of ends of which one differs, and states those that were read.
fn add_edges(document: &mut Document, model: &Model<'_>, read: &Model<'_>, plant: usize) {
    let mut groups: BTreeMap<String, [Vec<Object<'_>>; 2]> = BTreeMap::new();
    for (at, model) in [model, read].into_iter().enumerate() {
        for edge in &model.edges {
            groups.entry(key(edge.fields)).or_default()[at].push(edge.fields);
        }
    }
    let differs = |[edges, read]: &&[Vec<Object<'_>>; 2]| {
        edges.len() != read.len() || edges.iter().zip(read).any(|(edge, read)| !is_same_edge(*edge, *read))
    };
    let different: Vec<_> = groups.values().filter(differs).collect();
    let further: Vec<String> =
        different.iter().flat_map(|[edges, _]| edges).map(|edge| json(Value::Object(*edge))).collect();
    let absent: Vec<String> = different.iter().flat_map(|[_, read]| read).map(|edge| key(*edge)).collect();
    add_texts(document, plant, extension::EDGES, &further);
    add_texts(document, plant, extension::ABSENT_EDGES, &absent);
}

/// Returns the kind and the ends of an edge as JSON text.
pub fn key(edge: Object<'_>) -> String {
    let members = KEYS.iter().filter_map(|key| Some(((*key).to_owned(), Json::from_value(edge.get(key)?))));
    Json::Object(Fields(members.collect())).to_text()
}

/// Returns true for edges that are equal, except for the number in the id of a relation.
pub fn is_same_edge(edge: Object<'_>, read: Object<'_>) -> bool {
    let is_numbered = |edge: Object<'_>| text(Some(edge), "id").is_some_and(|id| id.starts_with("rel-"));
    let is_same = |key: &str| match (edge.get(key), read.get(key)) {
        (Some(a), Some(b)) => is_same(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    let is_id_same = is_same("id") || is_numbered(edge) && is_numbered(read);
    let mut keys = edge.iter().chain(read.iter()).map(|(key, _)| key);
    is_id_same && keys.all(|key| key == "id" || is_same(key))
}

//! Losses of a drawing in a document: the differences of the graph that is read back.

use std::collections::{BTreeMap, HashMap};

use pidq_core::{Graph, Object, Value};

use crate::error::Result;
use crate::import::{Diagnostic, Finding, ImportBuilder};
use crate::model::Model;

use super::differences::{is_same_edge, key};
use super::members::is_same;

/// Lists what the document does not hold, or holds in another way, and what other programs do not find in it.
///
/// # Errors
/// `PQ6003` for a value without nodes.
pub fn losses(value: Value<'_>) -> Result<Vec<Diagnostic>> {
    let converted = super::converted(value)?;
    let (written, extension_only) = super::write_counting(converted.as_ref().map_or(value, Graph::root))?;
    let read = super::graph(super::super::read(&[written.as_bytes()])?.json)?;
    let mut builder = ImportBuilder::default();
    let mut found = counts(value, converted.as_ref(), read.root())?;
    found.extend(extension_only);
    builder.report_counts(Finding::NotInDexpi, &found);
    Ok(builder.diagnostics)
}

/// Counts the parts of a drawing, in its own coordinates and those of DEXPI, that are not read back.
pub fn counts(value: Value<'_>, converted: Option<&Graph>, read: Value<'_>) -> Result<BTreeMap<String, usize>> {
    let mut counts = BTreeMap::new();
    if converted.is_some() {
        counts.insert("coordinates in other units than millimeters, or with y upwards".to_owned(), 1);
    }
    count_members_of_document(value, &mut counts);
    let value = converted.map_or(value, Graph::root);
    count(&Model::from_value(value)?, &Model::from_value(read)?, &mut counts);
    Ok(counts)
}

type Counts = BTreeMap<String, usize>;

fn add(counts: &mut Counts, name: String) {
    *counts.entry(name).or_default() += 1;
}

/// Counts the members of a document next to its graph, and of the graph next to its nodes, edges and metadata.
fn count_members_of_document(value: Value<'_>, counts: &mut Counts) {
    let Some(document) = value.as_object() else { return };
    let graph = document.get("pid_graph").and_then(Value::as_object);
    if graph.unwrap_or(document).get("nodes").is_none() {
        return add(counts, "places of the nodes and edges in the document".to_owned());
    }
    if graph.is_some() {
        let other = document.iter().filter(|(key, _)| *key != "pid_graph");
        other.for_each(|(key, _)| add(counts, format!("document.{key}")));
    }
    let members = graph.unwrap_or(document).iter();
    let other = members.filter(|(key, _)| !["nodes", "edges", "links", "metadata", "graph"].contains(key));
    other.for_each(|(key, _)| add(counts, format!("graph.{key}")));
}

/// Counts the members that differ.
fn count(model: &Model<'_>, read: &Model<'_>, counts: &mut Counts) {
    let nodes: HashMap<&str, Object<'_>> = read.nodes.iter().map(|node| (node.name.as_str(), node.fields)).collect();
    for node in &model.nodes {
        match nodes.get(node.name.as_str()) {
            Some(read) => count_different(node.fields, *read, "node", counts),
            None => add(counts, "node".to_owned()),
        }
    }
    let names = |model: &Model<'_>| model.nodes.iter().map(|node| node.name.clone()).collect::<Vec<String>>();
    if names(model) != names(read) {
        add(counts, "order of the nodes".to_owned());
    }
    for _ in model.nodes.len()..read.nodes.len() {
        add(counts, "node that was added".to_owned());
    }
    match (model.metadata, read.metadata) {
        (Some(metadata), Some(read)) => count_different(metadata, read, "metadata", counts),
        (None, Some(_)) => add(counts, "metadata that was added".to_owned()),
        _ => {}
    }
    count_edges(model, read, counts);
}

fn count_different(fields: Object<'_>, read: Object<'_>, owner: &str, counts: &mut Counts) {
    for (key, value) in fields.iter() {
        if !read.get(key).is_some_and(|read| is_same(value, read)) {
            add(counts, format!("{owner}.{key}"));
        }
    }
    for (key, _) in read.iter().filter(|(key, _)| fields.get(key).is_none()) {
        add(counts, format!("{owner}.{key}"));
    }
}

fn count_edges(model: &Model<'_>, read: &Model<'_>, counts: &mut Counts) {
    let mut groups: BTreeMap<String, [Vec<Object<'_>>; 2]> = BTreeMap::new();
    for (at, model) in [model, read].into_iter().enumerate() {
        for edge in &model.edges {
            groups.entry(key(edge.fields)).or_default()[at].push(edge.fields);
        }
    }
    for [edges, read] in groups.values() {
        for (edge, read) in edges.iter().zip(read) {
            match (edge.get("id"), read.get("id")) {
                _ if !is_same_edge(*edge, *read) => count_different(*edge, *read, "edge", counts),
                (Some(id), Some(other)) if !is_same(id, other) => add(counts, "id of a relation".to_owned()),
                _ => {}
            }
        }
        (read.len()..edges.len()).for_each(|_| add(counts, "edge".to_owned()));
        (edges.len()..read.len()).for_each(|_| add(counts, "edge that was added".to_owned()));
    }
}

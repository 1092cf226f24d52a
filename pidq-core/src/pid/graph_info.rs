//! Report on how a document is read: location of the graph, names and words found, and their interpretation.

use super::{ChargeFn, Datum};
use crate::error::Result;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::EdgeFlags;
use crate::value::Value;

const INFO: &[&str] = &[
    "nodes",
    "edges",
    "drawing_name",
    "schema_version",
    "change_version",
    "node_types",
    "roles",
    "classes_without_role",
    "edge_kinds",
    "kinds_without_meaning",
    "endpoints",
    "ports",
    "dangling_edges",
    "topology",
    "topology_problems",
];

/// Counts of strings, in order of first appearance.
#[derive(Default)]
struct Counter {
    indices: hashbrown::HashMap<String, usize>,
    counts: Vec<(String, usize)>,
}

impl Counter {
    fn add(&mut self, text: &str) {
        let next = self.counts.len();
        let index = *self.indices.entry_ref(text).or_insert(next);
        match self.counts.get_mut(index) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((text.into(), 1)),
        }
    }

    fn into_datum<'a>(self) -> Datum<'a> {
        Datum::Map(self.counts.into_iter().map(|(text, count)| (text, Datum::count(count))).collect())
    }
}

/// Counts the words of the nodes: their types, the roles of their classes, and classes without a role.
fn count_nodes(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<[Counter; 3]> {
    let [mut types, mut roles, mut unknown] = [Counter::default(), Counter::default(), Counter::default()];
    for node in 0..drawing.topology.node_count() as u32 {
        charge(1)?;
        types.add(drawing.node_field(node, Names::NodeType).and_then(Value::as_str).unwrap_or(""));
        let role = drawing.topology.roles[node as usize];
        roles.add(role.name());
        if role == Role::None {
            unknown.add(drawing.class(node).unwrap_or(""));
        }
    }
    Ok([types, roles, unknown])
}

/// Counts the kinds of the edges, and those without a meaning.
fn count_edges(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<[Counter; 2]> {
    let [mut kinds, mut unknown] = [Counter::default(), Counter::default()];
    for edge in 0..drawing.topology.edge_count() as u32 {
        charge(1)?;
        let kind = drawing.edge_field(edge, Names::EdgeKind).and_then(Value::as_str).unwrap_or("");
        kinds.add(kind);
        if drawing.topology.edge_flags[edge as usize].contains(EdgeFlags::UNKNOWN) {
            unknown.add(kind);
        }
    }
    Ok([kinds, unknown])
}

/// Returns the config in its JSON form: lists of names, pairs of ends, rules of roles.
fn config<'a>(drawing: &Drawing<'a>) -> Datum<'a> {
    const RULE: &[&str] = &["role", "match"];
    let config = &drawing.topology.config;
    let lists = config.lists().map(|(key, names)| (key.into(), Datum::strings(names.iter().cloned())));
    let pair = |pair: &[String; 2]| Datum::strings(pair.iter().cloned());
    let pairs = Datum::Array(config.endpoints().iter().map(pair).collect());
    let rules = config.roles().map(|(role, pattern)| vec![Datum::Word(role), Datum::String(pattern.into())]);
    let rules = Datum::Table(RULE, rules.collect());
    Datum::Map(lists.chain([("endpoints".into(), pairs), ("roles".into(), rules)]).collect())
}

/// Returns the report on a drawing.
pub(crate) fn info<'a>(drawing: &Drawing<'a>, charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    let topology = &drawing.topology;
    let [types, roles, unknown] = count_nodes(drawing, charge)?;
    let [kinds, unknown_kinds] = count_edges(drawing, charge)?;
    let metadata_value = |key: &str| Datum::value(drawing.metadata.as_object().and_then(|metadata| metadata.get(key)));
    let pairs = topology.endpoint_pairs_found.iter().map(|at| topology.config.endpoints()[*at].join(" → "));
    Ok(Datum::Record(
        INFO,
        vec![
            Datum::count(topology.node_count()),
            Datum::count(topology.edge_count()),
            Datum::value(drawing.field(drawing.metadata, Names::DrawingName)),
            metadata_value("schema_version"),
            metadata_value("change_version"),
            types.into_datum(),
            roles.into_datum(),
            unknown.into_datum(),
            kinds.into_datum(),
            unknown_kinds.into_datum(),
            Datum::strings(pairs),
            Datum::count(topology.ports.arc_count()),
            Datum::count(topology.dangling.len()),
            config(drawing),
            Datum::strings(topology.config_problems.iter().cloned()),
        ],
    ))
}

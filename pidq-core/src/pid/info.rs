//! What a document was found to be: where its graph is, which names and words were met, what they were taken for.

use super::{Datum, Pay};
use crate::error::Result;
use crate::graph::config::Names;
use crate::graph::plant::Plant;
use crate::graph::roles::Role;
use crate::graph::topology::Link;
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

/// How often each text was met, in the order of the first.
#[derive(Default)]
struct Tally {
    places: hashbrown::HashMap<String, usize>,
    counts: Vec<(String, usize)>,
}

impl Tally {
    fn add(&mut self, text: &str) {
        let next = self.counts.len();
        let place = *self.places.entry_ref(text).or_insert(next);
        match self.counts.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => self.counts.push((text.into(), 1)),
        }
    }

    fn datum<'a>(self) -> Datum<'a> {
        Datum::Map(self.counts.into_iter().map(|(text, count)| (text, Datum::count(count))).collect())
    }
}

/// The words of the nodes of a drawing: their types, the roles that their classes have, and classes without one.
fn of_nodes(plant: &Plant<'_>, pay: Pay<'_>) -> Result<[Tally; 3]> {
    let [mut types, mut roles, mut unknown] = [Tally::default(), Tally::default(), Tally::default()];
    for node in 0..plant.topology.node_count() as u32 {
        pay(1)?;
        types.add(plant.of_node(node, Names::NodeType).and_then(Value::as_str).unwrap_or(""));
        let role = plant.topology.roles[node as usize];
        roles.add(role.name());
        if role == Role::None {
            unknown.add(plant.class(node).unwrap_or(""));
        }
    }
    Ok([types, roles, unknown])
}

/// The kinds of the edges of a drawing, and those that mean nothing here.
fn of_edges(plant: &Plant<'_>, pay: Pay<'_>) -> Result<[Tally; 2]> {
    let [mut kinds, mut meaningless] = [Tally::default(), Tally::default()];
    for edge in 0..plant.topology.edge_count() as u32 {
        pay(1)?;
        let kind = plant.of_edge(edge, Names::EdgeKind).and_then(Value::as_str).unwrap_or("");
        kinds.add(kind);
        if plant.topology.links[edge as usize].has(Link::UNKNOWN) {
            meaningless.add(kind);
        }
    }
    Ok([kinds, meaningless])
}

/// How the drawing is read, in the form in which a config is given: lists of names, pairs of ends, rules of roles.
fn config<'a>(plant: &Plant<'a>) -> Datum<'a> {
    const RULE: &[&str] = &["role", "match"];
    let config = &plant.topology.config;
    let lists = config.lists().map(|(key, names)| (key.into(), Datum::texts(names.iter().cloned())));
    let pair = |pair: &[String; 2]| Datum::texts(pair.iter().cloned());
    let pairs = Datum::List(config.endpoints().iter().map(pair).collect());
    let rules = config.roles().map(|(role, pattern)| vec![Datum::Word(role), Datum::Text(pattern.into())]);
    let rules = Datum::Table(RULE, rules.collect());
    Datum::Map(lists.chain([("endpoints".into(), pairs), ("roles".into(), rules)]).collect())
}

/// The report on a drawing.
pub(crate) fn info<'a>(plant: &Plant<'a>, pay: Pay<'_>) -> Result<Datum<'a>> {
    let topology = &plant.topology;
    let [types, roles, unknown] = of_nodes(plant, pay)?;
    let [kinds, meaningless] = of_edges(plant, pay)?;
    let said = |key: &str| Datum::value(plant.metadata.as_object().and_then(|metadata| metadata.get(key)));
    let pairs = topology.endpoints_met.iter().map(|at| topology.config.endpoints()[*at].join(" → "));
    Ok(Datum::Record(
        INFO,
        vec![
            Datum::count(topology.node_count()),
            Datum::count(topology.edge_count()),
            Datum::value(plant.field(plant.metadata, Names::DrawingName)),
            said("schema_version"),
            said("change_version"),
            types.datum(),
            roles.datum(),
            unknown.datum(),
            kinds.datum(),
            meaningless.datum(),
            Datum::texts(pairs),
            Datum::count(topology.ports.arc_count()),
            Datum::count(topology.dangling.len()),
            config(plant),
            Datum::texts(topology.problems.iter().cloned()),
        ],
    ))
}

//! What changed between two revisions of a drawing.
//!
//! A node is the same if its identity says so: an id that survives revisions, else its id, else tag and class where
//! both sides have them once. Nothing is guessed beyond that.

use hashbrown::{HashMap, HashSet};

use super::{Datum, Pay};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::index::Key;
use crate::graph::plant::Plant;
use crate::graph::topology::{Dir, Link, Over};
use crate::value::{Value, compare, write};

/// How two revisions are compared.
#[derive(Clone, Debug, Default)]
pub struct DiffOptions {
    /// Only one identity counts: `persistent_id`, `id` or `tag`.
    pub identity: Option<String>,
    /// Fields and attributes that are not compared.
    pub ignore: Vec<String>,
    /// Nodes that moved less than this have not moved.
    pub tolerance: f64,
}

const RESULT: &[&str] =
    &["added", "removed", "changed", "moved", "retagged", "rewired", "edges_added", "edges_removed", "equal"];
const CHANGED: &[&str] = &["id", "tag", "field", "before", "after"];
const MOVED: &[&str] = &["id", "tag", "dx", "dy"];
const RETAGGED: &[&str] = &["id", "before", "after"];
const REWIRED: &[&str] = &["id", "tag", "side", "before", "after"];

/// Fields that say where a node is drawn.
const GEOMETRY: &[&str] =
    &["orig_x", "orig_y", "orig_bbox_width", "orig_bbox_height", "bbox", "position", "x", "y", "rotation", "extent"];

/// Which nodes of two revisions are the same.
struct Pairs {
    /// By old node.
    new_of: Vec<NodeId>,
    /// By new node.
    old_of: Vec<NodeId>,
}

impl Pairs {
    fn join(&mut self, old: NodeId, new: NodeId) {
        (self.new_of[old as usize], self.old_of[new as usize]) = (new, old);
    }

    fn both(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        (0..).zip(&self.new_of).filter(|(_, new)| **new != NONE).map(|(old, new)| (old, *new))
    }
}

/// Compares two revisions.
pub(crate) fn diff<'a>(old: &Plant<'a>, new: &Plant<'a>, options: &DiffOptions, pay: Pay<'_>) -> Result<Datum<'a>> {
    let pairs = pair(old, new, options, pay)?;
    let left = |of: &[NodeId], plant: &Plant<'a>| {
        let alone = (0..of.len() as u32).filter(|node| of[*node as usize] == NONE);
        Datum::List(alone.map(|node| Datum::Value(plant.node(node))).collect())
    };
    let (added, removed) = (left(&pairs.old_of, new), left(&pairs.new_of, old));
    let [mut changed, mut moved, mut retagged, mut rewired] = [vec![], vec![], vec![], vec![]];
    for (before, after) in pairs.both() {
        compare_fields(old, new, (before, after), options, &mut changed, pay)?;
        moved.extend(shift(old, new, (before, after), options.tolerance));
        retagged.extend(retag(old, new, (before, after)));
        rewire(old, new, (before, after), &pairs, &mut rewired, pay)?;
    }
    let (edges_added, edges_removed) = compare_edges(old, new, &pairs, pay)?;
    let lists = [&changed, &moved, &retagged, &rewired];
    let is_equal = lists.iter().all(|list| list.is_empty())
        && [&added, &removed, &edges_added, &edges_removed]
            .iter()
            .all(|list| matches!(list, Datum::List(list) if list.is_empty()));
    Ok(Datum::Record(
        RESULT,
        vec![
            added,
            removed,
            Datum::Table(CHANGED, changed),
            Datum::Table(MOVED, moved),
            Datum::Table(RETAGGED, retagged),
            Datum::Table(REWIRED, rewired),
            edges_added,
            edges_removed,
            Datum::Bool(is_equal),
        ],
    ))
}

/// What a node may be recognised by.
#[derive(Eq, Hash, PartialEq)]
enum Identity<'a> {
    Key(Key<'a>),
    TagAndClass(&'a str, &'a str),
}

/// A way to recognise nodes.
type Recognise = for<'a> fn(&Plant<'a>, NodeId) -> Option<Identity<'a>>;

const IDENTITIES: &[(&str, Recognise)] = &[
    ("persistent_id", |plant, node| plant.of_node(node, Names::PersistentId).and_then(Key::of).map(Identity::Key)),
    ("id", |plant, node| Key::of(plant.id(node)).map(Identity::Key)),
    ("tag", |plant, node| Some(Identity::TagAndClass(plant.tag(node)?, plant.class(node).unwrap_or("")))),
];

/// Whether there is an identity of a name.
pub(crate) fn is_identity(name: &str) -> bool {
    IDENTITIES.iter().any(|(known, _)| *known == name)
}

fn pair(old: &Plant<'_>, new: &Plant<'_>, options: &DiffOptions, pay: Pay<'_>) -> Result<Pairs> {
    let (before, after) = (old.topology.node_count(), new.topology.node_count());
    let mut pairs = Pairs { new_of: vec![NONE; before], old_of: vec![NONE; after] };
    for (name, recognise) in IDENTITIES {
        if options.identity.as_deref().is_some_and(|wanted| wanted != *name) {
            continue;
        }
        pay((before + after) as u64)?;
        let old_names = alone(old, &pairs.new_of, *recognise);
        let new_names = alone(new, &pairs.old_of, *recognise);
        let mut same: Vec<(NodeId, NodeId)> =
            old_names.iter().filter_map(|(name, old)| Some((*old, *new_names.get(name)?))).collect();
        same.sort_unstable();
        same.into_iter().for_each(|(old, new)| pairs.join(old, new));
    }
    Ok(pairs)
}

/// The identities that one unpaired node alone has.
fn alone<'a>(plant: &Plant<'a>, paired: &[NodeId], recognise: Recognise) -> HashMap<Identity<'a>, NodeId> {
    let mut names: HashMap<Identity<'a>, NodeId> = HashMap::new();
    for node in (0..paired.len() as u32).filter(|node| paired[*node as usize] == NONE) {
        if let Some(name) = recognise(plant, node) {
            names.entry(name).and_modify(|other| *other = NONE).or_insert(node);
        }
    }
    names.retain(|_, node| *node != NONE);
    names
}

/// The fields of a node, with its attributes under their names and languages.
fn fields<'a>(value: Value<'a>) -> Vec<(String, Value<'a>)> {
    let Some(object) = value.as_object() else { return Vec::new() };
    let mut fields = Vec::new();
    for (key, value) in object.iter() {
        match (key, value) {
            ("attributes", Value::Array(entries)) => fields.extend(entries.iter().filter_map(named)),
            ("attributes", Value::Object(entries)) => {
                fields.extend(entries.iter().map(|(name, value)| (format!("attributes.{name}"), value)));
            }
            _ => fields.push((key.into(), value)),
        }
    }
    fields
}

/// An entry of a list of attributes: its name, with its language where it has one, and its value.
fn named(entry: Value<'_>) -> Option<(String, Value<'_>)> {
    let entry = entry.as_object()?;
    let name = entry.get("name")?.as_str()?;
    let language = entry.get("language").and_then(Value::as_str).map(|language| format!("@{language}"));
    Some((format!("attributes.{name}{}", language.unwrap_or_default()), entry.get("value").unwrap_or(Value::Null)))
}

fn compare_fields<'a>(
    old: &Plant<'a>,
    new: &Plant<'a>,
    (before, after): (NodeId, NodeId),
    options: &DiffOptions,
    changed: &mut Vec<Vec<Datum<'a>>>,
    pay: Pay<'_>,
) -> Result<()> {
    let (old_fields, new_fields) = (fields(old.node(before)), fields(new.node(after)));
    pay(1 + (old_fields.len() + new_fields.len()) as u64)?;
    let config = &old.topology.config;
    let is_compared = |name: &str| {
        let bare = name.strip_prefix("attributes.").unwrap_or(name);
        let is_special = GEOMETRY.contains(&name)
            || config.names(Names::NodeId).iter().chain(config.names(Names::Tag)).any(|known| known == name);
        !is_special && !options.ignore.iter().any(|ignored| ignored == name || ignored == bare)
    };
    let new_of: HashMap<&str, Value<'a>> = new_fields.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let old_names: HashSet<&str> = old_fields.iter().map(|(name, _)| name.as_str()).collect();
    let mut row = |name: &str, before_value: Datum<'a>, after_value: Datum<'a>| {
        let id = Datum::Value(new.id(after));
        changed.push(vec![id, Datum::text(new.tag(after)), Datum::Text(name.into()), before_value, after_value]);
    };
    for (name, value) in old_fields.iter().filter(|(name, _)| is_compared(name)) {
        match new_of.get(name.as_str()) {
            None => row(name, Datum::Value(*value), Datum::Null),
            Some(other) if !compare::is_equal(*value, *other, &mut *pay)? => {
                row(name, Datum::Value(*value), Datum::Value(*other));
            }
            Some(_) => {}
        }
    }
    for (name, value) in new_fields.iter().filter(|(name, _)| is_compared(name)) {
        if !old_names.contains(name.as_str()) {
            row(name, Datum::Null, Datum::Value(*value));
        }
    }
    Ok(())
}

/// Where a node is drawn.
pub(crate) fn place(value: Value<'_>) -> Option<[f64; 2]> {
    let object = value.as_object()?;
    let pair = |x: &str, y: &str| Some([object.get(x)?.as_f64()?, object.get(y)?.as_f64()?]);
    let position = || {
        let position = object.get("position")?.as_object()?;
        Some([position.get("x")?.as_f64()?, position.get("y")?.as_f64()?])
    };
    let corner = || {
        let bbox = object.get("bbox")?.as_array()?;
        Some([bbox.get(0)?.as_f64()?, bbox.get(1)?.as_f64()?])
    };
    pair("orig_x", "orig_y").or_else(position).or_else(|| pair("x", "y")).or_else(corner)
}

fn shift<'a>(old: &Plant<'a>, new: &Plant<'a>, pair: (NodeId, NodeId), tolerance: f64) -> Option<Vec<Datum<'a>>> {
    let (before, after) = (place(old.node(pair.0))?, place(new.node(pair.1))?);
    let [dx, dy] = [after[0] - before[0], after[1] - before[1]];
    let moved = dx.abs() > tolerance || dy.abs() > tolerance;
    let row = || vec![Datum::Value(new.id(pair.1)), Datum::text(new.tag(pair.1)), Datum::Number(dx), Datum::Number(dy)];
    moved.then(row)
}

fn retag<'a>(old: &Plant<'a>, new: &Plant<'a>, (before, after): (NodeId, NodeId)) -> Option<Vec<Datum<'a>>> {
    let (was, is) = (old.tag(before), new.tag(after));
    (was != is).then(|| vec![Datum::Value(new.id(after)), Datum::text(was), Datum::text(is)])
}

/// Whether the items before and after a node in the flow are others.
fn rewire<'a>(
    old: &Plant<'a>,
    new: &Plant<'a>,
    (before, after): (NodeId, NodeId),
    pairs: &Pairs,
    rows: &mut Vec<Vec<Datum<'a>>>,
    pay: Pay<'_>,
) -> Result<()> {
    for (side, dir) in [("in", Dir::Up), ("out", Dir::Down)] {
        let was = old.topology.table(Over::Flow, dir).nodes(before);
        let is = new.topology.table(Over::Flow, dir).nodes(after);
        pay(1 + (was.len() + is.len()) as u64)?;
        let mut expected: Vec<NodeId> = was.iter().map(|node| pairs.new_of[*node as usize]).collect();
        let mut found = is.to_vec();
        expected.sort_unstable();
        found.sort_unstable();
        if expected != found {
            let names = |plant: &Plant<'_>, nodes: &[NodeId]| {
                Datum::texts(nodes.iter().map(|node| plant.name(*node)).collect::<Vec<_>>())
            };
            rows.push(vec![
                Datum::Value(new.id(after)),
                Datum::text(new.tag(after)),
                Datum::Word(side),
                names(old, was),
                names(new, is),
            ]);
        }
    }
    Ok(())
}

/// What makes an edge the same on both sides: its kind and class, its ends and their ports.
type EdgeKey = (String, [NodeId; 2], String);

fn edge_key(plant: &Plant<'_>, edge: EdgeId, ends: [NodeId; 2]) -> EdgeKey {
    let word = |names: Names| plant.of_edge(edge, names).and_then(Value::as_str).unwrap_or("");
    let object = plant.edge(edge).as_object();
    let port = |key: &str| object.and_then(|object| object.get(key)).map(write::to_string).unwrap_or_default();
    let kind = format!("{}/{}", word(Names::EdgeKind), word(Names::EdgeClass));
    let is_backward = plant.topology.links[edge as usize].has(Link::BACKWARD);
    (kind, if is_backward { [ends[1], ends[0]] } else { ends }, format!("{}/{}", port("from_port"), port("to_port")))
}

/// The edges that only one side has; equal ones are counted.
fn compare_edges<'a>(old: &Plant<'a>, new: &Plant<'a>, pairs: &Pairs, pay: Pay<'_>) -> Result<(Datum<'a>, Datum<'a>)> {
    pay((old.topology.edge_count() + new.topology.edge_count()) as u64)?;
    let mut left: HashMap<EdgeKey, Vec<EdgeId>> = HashMap::new();
    let mut removed: Vec<EdgeId> = Vec::new();
    for edge in 0..old.topology.edge_count() as u32 {
        let ends = old.topology.ends[edge as usize];
        let mapped = ends.map(|end| if end == NONE { NONE } else { pairs.new_of[end as usize] });
        match mapped.contains(&NONE) && !ends.contains(&NONE) {
            true => removed.push(edge),
            false => left.entry(edge_key(old, edge, mapped)).or_default().push(edge),
        }
    }
    // Backwards, so that of equal edges the first ones pair.
    left.values_mut().for_each(|edges| edges.reverse());
    let mut added = Vec::new();
    for edge in 0..new.topology.edge_count() as u32 {
        let key = edge_key(new, edge, new.topology.ends[edge as usize]);
        if left.get_mut(&key).and_then(Vec::pop).is_none() {
            added.push(Datum::Value(new.edge(edge)));
        }
    }
    removed.extend(left.into_values().flatten());
    removed.sort_unstable();
    Ok((Datum::List(added), Datum::List(removed.into_iter().map(|edge| Datum::Value(old.edge(edge))).collect())))
}

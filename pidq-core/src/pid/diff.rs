//! Comparison of two revisions of a drawing.
//!
//! Nodes are paired by identity: a persistent id, else the id, else tag and class if unique on both sides, else the tag
//! of a nozzle behind that of its equipment; nodes without any of these if they are identical, or by their connections if the
//! ids of the other nodes were renewed. Ids that were given to other nodes do not count. Nothing else is guessed.

mod contexts;
mod renumbered;

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};

use super::{ChargeFn, Datum};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::index::Key;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::value::{Array, Value, compare::is_equal, write};

/// Options of a comparison of two revisions.
#[derive(Clone, Debug, Default)]
pub struct DiffOptions {
    /// The only identity to use: `persistent_id`, `id` or `tag`.
    pub identity: Option<String>,
    /// Fields and attributes to ignore.
    pub ignore: Vec<String>,
    /// Tolerance of positions: nodes that moved less have not moved.
    pub tolerance: f64,
}

const RESULT: &[&str] = &[
    "added",
    "removed",
    "changed",
    "moved",
    "renamed",
    "retagged",
    "rewired",
    "edges_added",
    "edges_removed",
    "edges_changed",
    "equal",
];
const CHANGED: &[&str] = &["id", "tag", "field", "before", "after"];
const MOVED: &[&str] = &["id", "tag", "dx", "dy"];
const RENAMED: &[&str] = &["tag", "before", "after"];
const RETAGGED: &[&str] = &["id", "before", "after"];
const REWIRED: &[&str] = &["id", "tag", "side", "before", "after"];
const EDGE_CHANGED: &[&str] = &["id", "from", "to", "field", "before", "after"];

/// Fields with the geometry of an item.
const GEOMETRY: &[&str] = &[
    "orig_x",
    "orig_y",
    "orig_bbox_width",
    "orig_bbox_height",
    "bbox",
    STATE_OR_PLACE,
    "x",
    "y",
    "rotation",
    "extent",
    "orig_from_x",
    "orig_from_y",
    "orig_to_x",
    "orig_to_y",
    "orig_path",
    "graphics",
];

/// Field with the position of an item on the sheet, or with that of a valve or a blind.
const STATE_OR_PLACE: &str = "position";

/// Fields that identify an edge and are therefore not compared.
const EDGE_PORTS: [&str; 2] = ["from_port", "to_port"];

/// Pairs of the same nodes in two revisions.
struct Pairs {
    /// By old node.
    new_of: Vec<NodeId>,
    /// By new node.
    old_of: Vec<NodeId>,
    /// The nodes of the new revision have other ids, and so have their ports and what refers to them.
    are_ids_renewed: bool,
}

impl Pairs {
    fn link(&mut self, old: NodeId, new: NodeId) {
        (self.new_of[old as usize], self.old_of[new as usize]) = (new, old);
    }

    /// Returns whether a node of a revision has a partner.
    fn is_paired(&self, node: NodeId, revision: Revision) -> bool {
        match revision {
            Revision::Old => self.new_of[node as usize] != NONE,
            Revision::New => self.old_of[node as usize] != NONE,
        }
    }

    /// Returns the number of a paired node in the new revision; `NONE` for one without a partner.
    fn new_number(&self, node: NodeId, revision: Revision) -> NodeId {
        match revision {
            Revision::Old => self.new_of[node as usize],
            Revision::New if self.old_of[node as usize] != NONE => node,
            Revision::New => NONE,
        }
    }

    fn both(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        (0..).zip(&self.new_of).filter(|(_, new)| **new != NONE).map(|(old, new)| (old, *new))
    }
}

/// One of two revisions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Revision {
    Old,
    New,
}

/// Differences between two revisions. A pair is the old and the new node or edge.
pub(crate) struct Differences<'a> {
    /// Nodes of the new revision.
    pub added: Vec<NodeId>,
    /// Nodes of the old revision.
    pub removed: Vec<NodeId>,
    pub changed: Vec<((NodeId, NodeId), Change<'a>)>,
    /// Nodes with another position: the shift in x and y.
    pub moved: Vec<((NodeId, NodeId), [f64; 2])>,
    pub renamed: Vec<(NodeId, NodeId)>,
    pub retagged: Vec<(NodeId, NodeId)>,
    pub rewired: Vec<Rewired>,
    pub edges_added: Vec<EdgeId>,
    pub edges_removed: Vec<EdgeId>,
    pub edges_changed: Vec<((EdgeId, EdgeId), Change<'a>)>,
}

/// A node with other items before (`in`) or after it (`out`) in the flow.
pub(crate) struct Rewired {
    pub pair: (NodeId, NodeId),
    pub side: &'static str,
    pub before: Vec<NodeId>,
    pub after: Vec<NodeId>,
}

/// Returns the differences between two revisions.
pub(crate) fn compare<'a>(
    old: &Drawing<'a>,
    new: &Drawing<'a>,
    options: &DiffOptions,
    charge: ChargeFn<'_>,
) -> Result<Differences<'a>> {
    let pairs = pair(old, new, options, charge)?;
    let revisions = Revisions { old, new, pairs: &pairs, options };
    let (mut changed, mut moved, mut renamed) = (Vec::new(), Vec::new(), Vec::new());
    let (mut retagged, mut rewired) = (Vec::new(), Vec::new());
    for pair in pairs.both() {
        changed.extend(revisions.changes_of_node(pair, charge)?.into_iter().map(|change| (pair, change)));
        moved.extend(shift(old, new, pair, options.tolerance).map(|shift| (pair, shift)));
        renamed.extend(revisions.is_renamed(pair).then_some(pair));
        retagged.extend((old.tag(pair.0) != new.tag(pair.1)).then_some(pair));
        rewire(old, new, pair, &pairs, &mut rewired, charge)?;
    }
    let edges = compare_edges(&revisions, charge)?;
    let mut edges_changed = Vec::new();
    for pair in &edges.paired {
        edges_changed.extend(revisions.changes_of_edge(*pair, charge)?.into_iter().map(|change| (*pair, change)));
    }
    Ok(Differences {
        added: unpaired_nodes(&pairs.old_of),
        removed: unpaired_nodes(&pairs.new_of),
        changed,
        moved,
        renamed,
        retagged,
        rewired,
        edges_added: edges.added,
        edges_removed: edges.removed,
        edges_changed,
    })
}

/// Returns the differences between two revisions as a record.
pub(crate) fn diff<'a>(
    old: &Drawing<'a>,
    new: &Drawing<'a>,
    options: &DiffOptions,
    charge: ChargeFn<'_>,
) -> Result<Datum<'a>> {
    let found = compare(old, new, options, charge)?;
    let id_and_tag = |node: NodeId| [Datum::Value(new.id(node)), Datum::string(new.tag(node))];
    let field_and_values =
        |(field, before, after): Change<'a>| [Datum::String(field), Datum::value(before), Datum::value(after)];
    let changed = |((_, node), change): ((NodeId, NodeId), Change<'a>)| {
        id_and_tag(node).into_iter().chain(field_and_values(change)).collect()
    };
    let moved = |((_, node), shift): ((NodeId, NodeId), [f64; 2])| {
        id_and_tag(node).into_iter().chain(shift.map(Datum::Number)).collect()
    };
    let renamed = |(before, after): (NodeId, NodeId)| {
        vec![Datum::string(new.tag(after)), Datum::Value(old.id(before)), Datum::Value(new.id(after))]
    };
    let retagged = |(before, after): (NodeId, NodeId)| {
        vec![Datum::Value(new.id(after)), Datum::string(old.tag(before)), Datum::string(new.tag(after))]
    };
    let rewired = |row: Rewired| {
        let values = [Datum::Word(row.side), names(old, &row.before), names(new, &row.after)];
        id_and_tag(row.pair.1).into_iter().chain(values).collect()
    };
    let edge_changed = |((_, edge), change): ((EdgeId, EdgeId), Change<'a>)| {
        let ends = new.topology.flow_ends(edge).map(|end| Datum::string((end != NONE).then(|| new.name(end))));
        let id = Datum::Value(new.edge_id(edge));
        [id].into_iter().chain(ends).chain(field_and_values(change)).collect()
    };
    let mut parts = vec![
        node_objects(new, &found.added),
        node_objects(old, &found.removed),
        Datum::Table(CHANGED, found.changed.into_iter().map(changed).collect()),
        Datum::Table(MOVED, found.moved.into_iter().map(moved).collect()),
        Datum::Table(RENAMED, found.renamed.into_iter().map(renamed).collect()),
        Datum::Table(RETAGGED, found.retagged.into_iter().map(retagged).collect()),
        Datum::Table(REWIRED, found.rewired.into_iter().map(rewired).collect()),
        edge_objects(new, &found.edges_added),
        edge_objects(old, &found.edges_removed),
        Datum::Table(EDGE_CHANGED, found.edges_changed.into_iter().map(edge_changed).collect()),
    ];
    parts.push(Datum::Bool(parts.iter().all(is_empty)));
    Ok(Datum::Record(RESULT, parts))
}

/// Returns the names of nodes.
pub(crate) fn names<'a>(drawing: &Drawing<'_>, nodes: &[NodeId]) -> Datum<'a> {
    Datum::strings(nodes.iter().map(|node| drawing.name(*node)))
}

/// Returns the nodes of a revision without a counterpart in the other one.
fn unpaired_nodes(partners: &[NodeId]) -> Vec<NodeId> {
    (0..partners.len() as u32).filter(|node| partners[*node as usize] == NONE).collect()
}

fn node_objects<'a>(drawing: &Drawing<'a>, nodes: &[NodeId]) -> Datum<'a> {
    Datum::Array(nodes.iter().map(|node| Datum::Value(drawing.node(*node))).collect())
}

fn edge_objects<'a>(drawing: &Drawing<'a>, edges: &[EdgeId]) -> Datum<'a> {
    Datum::Array(edges.iter().map(|edge| Datum::Value(drawing.edge(*edge))).collect())
}

/// Returns whether a part of the result is empty.
fn is_empty(found: &Datum<'_>) -> bool {
    match found {
        Datum::Array(items) => items.is_empty(),
        Datum::Table(_, rows) => rows.is_empty(),
        _ => false,
    }
}

/// Identity of a node.
#[derive(Eq, Hash, PartialEq)]
enum Identity<'a> {
    Key(Key<'a>),
    TagAndClass(&'a str, &'a str),
    QualifiedTagAndClass(String, &'a str),
}

/// Function that returns the identity of a node.
type Identify = for<'a> fn(&Drawing<'a>, NodeId) -> Option<Identity<'a>>;

const IDENTITIES: &[(&str, Identify)] = &[
    ("persistent_id", |drawing, node| {
        drawing.node_field(node, Names::PersistentId).and_then(Key::from_value).map(Identity::Key)
    }),
    ("id", |drawing, node| Key::from_value(drawing.id(node)).map(Identity::Key)),
    ("tag", TAG_AND_CLASS),
    ("tag", |drawing, node| {
        Some(Identity::QualifiedTagAndClass(drawing.qualified_tag(node)?, drawing.class(node).unwrap_or("")))
    }),
];

const TAG_AND_CLASS: Identify =
    |drawing, node| Some(Identity::TagAndClass(drawing.tag(node)?, drawing.class(node).unwrap_or("")));

/// Returns whether there is an identity with a name.
pub(crate) fn is_identity(name: &str) -> bool {
    IDENTITIES.iter().any(|(known, _)| *known == name)
}

fn pair(old: &Drawing<'_>, new: &Drawing<'_>, options: &DiffOptions, charge: ChargeFn<'_>) -> Result<Pairs> {
    let (before, after) = (old.topology.node_count(), new.topology.node_count());
    let mut pairs = Pairs { new_of: vec![NONE; before], old_of: vec![NONE; after], are_ids_renewed: false };
    if let Some(identity) = &options.identity {
        for (_, identify) in IDENTITIES.iter().filter(|(name, _)| identity == name) {
            pair_by(old, new, *identify, &mut pairs, charge)?;
        }
        // Tags say nothing about parts and ports without one; what they belong to does, whatever their ids.
        if identity == "tag" {
            pairs.are_ids_renewed = true;
            contexts::pair_by_connections(old, new, &mut pairs, charge)?;
        }
        return Ok(pairs);
    }
    pairs.are_ids_renewed = renumbered::are_ids_renumbered(old, new, charge)?;
    for (name, identify) in IDENTITIES {
        if !(pairs.are_ids_renewed && *name == "id") {
            pair_by(old, new, *identify, &mut pairs, charge)?;
        }
    }
    if !pairs.are_ids_renewed {
        pair_identical(old, new, &mut pairs, charge)?;
        pairs.are_ids_renewed = contexts::are_ids_renewed(old, new, &pairs);
    }
    if pairs.are_ids_renewed {
        contexts::pair_by_connections(old, new, &mut pairs, charge)?;
        pair_identical(old, new, &mut pairs, charge)?;
    }
    Ok(pairs)
}

/// Pairs the nodes that have a unique identity of a kind in both revisions.
fn pair_by(
    old: &Drawing<'_>,
    new: &Drawing<'_>,
    identify: Identify,
    pairs: &mut Pairs,
    charge: ChargeFn<'_>,
) -> Result<()> {
    charge((pairs.new_of.len() + pairs.old_of.len()) as u64)?;
    let old_nodes = unique_identities(old, &pairs.new_of, identify);
    let new_nodes = unique_identities(new, &pairs.old_of, identify);
    let mut matching: Vec<(NodeId, NodeId)> =
        old_nodes.iter().filter_map(|(name, old)| Some((*old, *new_nodes.get(name)?))).collect();
    matching.sort_unstable();
    matching.into_iter().for_each(|(old, new)| pairs.link(old, new));
    Ok(())
}

/// Pairs nodes without a unique identity, such as nodes that share an id, if both sides have identical objects.
fn pair_identical(old: &Drawing<'_>, new: &Drawing<'_>, pairs: &mut Pairs, charge: ChargeFn<'_>) -> Result<()> {
    let mut identical: HashMap<String, VecDeque<NodeId>> = HashMap::new();
    for node in (0..pairs.new_of.len() as u32).filter(|node| pairs.new_of[*node as usize] == NONE) {
        let text = write::to_string(old.node(node));
        charge(1 + text.len() as u64 / 64)?;
        identical.entry(text).or_default().push_back(node);
    }
    for node in 0..pairs.old_of.len() as u32 {
        if identical.is_empty() || pairs.old_of[node as usize] != NONE {
            continue;
        }
        let text = write::to_string(new.node(node));
        charge(1 + text.len() as u64 / 64)?;
        if let Some(old) = identical.get_mut(&text).and_then(VecDeque::pop_front) {
            pairs.link(old, node);
        }
    }
    Ok(())
}

/// Returns the identities that exactly one unpaired node has.
fn unique_identities<'a>(
    drawing: &Drawing<'a>,
    paired: &[NodeId],
    identify: Identify,
) -> HashMap<Identity<'a>, NodeId> {
    let mut nodes_by_identity: HashMap<Identity<'a>, NodeId> = HashMap::new();
    for node in (0..paired.len() as u32).filter(|node| paired[*node as usize] == NONE) {
        if let Some(name) = identify(drawing, node) {
            nodes_by_identity.entry(name).and_modify(|other| *other = NONE).or_insert(node);
        }
    }
    nodes_by_identity.retain(|_, node| *node != NONE);
    nodes_by_identity
}

/// Fields and their values on one side.
type Fields<'a> = Vec<(String, Value<'a>)>;

/// Returns the fields of a node or an edge, with its attributes under their names and languages.
fn fields(value: Value<'_>) -> Fields<'_> {
    let Some(object) = value.as_object() else { return Vec::new() };
    let mut fields = Vec::new();
    for (key, value) in object.iter() {
        match (key, value) {
            ("attributes", Value::Array(entries)) => add_entries(entries, &mut fields),
            ("attributes", Value::Object(entries)) => {
                fields.extend(entries.iter().map(|(name, value)| (format!("attributes.{name}"), value)));
            }
            _ => fields.push((key.into(), value)),
        }
    }
    fields
}

/// Adds the entries of an attribute array: each under its name, with its language if it has one and a number if the
/// name repeats; its unit separately.
fn add_entries<'a>(entries: Array<'a>, fields: &mut Fields<'a>) {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for entry in entries.iter().filter_map(Value::as_object) {
        let Some(name) = entry.get("name").and_then(Value::as_str) else { continue };
        let language = entry.get("language").and_then(Value::as_str).map(|language| format!("@{language}"));
        let mut key = format!("attributes.{name}{}", language.unwrap_or_default());
        let count = counts.entry(key.clone()).or_insert(0);
        *count += 1;
        if *count > 1 {
            key = format!("{key}#{count}");
        }
        if let Some(unit) = ["unit", "units"].iter().find_map(|key| entry.get(key)).filter(|unit| !unit.is_null()) {
            fields.push((format!("{key} unit"), unit));
        }
        fields.push((key, entry.get("value").unwrap_or(Value::Null)));
    }
}

/// Context of a comparison.
struct Revisions<'r, 'a> {
    old: &'r Drawing<'a>,
    new: &'r Drawing<'a>,
    pairs: &'r Pairs,
    options: &'r DiffOptions,
}

/// A field that differs: its old and its new value.
pub(crate) type Change<'a> = (String, Option<Value<'a>>, Option<Value<'a>>);

impl<'a> Revisions<'_, 'a> {
    fn changes_of_node(&self, (before, after): (NodeId, NodeId), charge: ChargeFn<'_>) -> Result<Vec<Change<'a>>> {
        let config = &self.old.topology.config;
        // Reported as `renamed` and `retagged`.
        let is_excluded = |name: &str| config.is_key(&[Names::NodeId, Names::Tag], name);
        self.changes(fields(self.old.node(before)), fields(self.new.node(after)), &is_excluded, charge)
    }

    fn changes_of_edge(&self, (before, after): (EdgeId, EdgeId), charge: ChargeFn<'_>) -> Result<Vec<Change<'a>>> {
        let config = &self.old.topology.config;
        let is_undirected = [(self.old, before), (self.new, after)]
            .map(|(drawing, edge)| drawing.topology.edge_flags[edge as usize].contains(EdgeFlags::UNDIRECTED));
        let is_excluded = |name: &str| {
            let is_kind = config.is_key(&[Names::EdgeId, Names::EdgeKind, Names::EdgeClass], name);
            // An edge with swapped ends and direction still leads the same way.
            let is_same_direction = is_undirected[0] == is_undirected[1] && config.is_key(&[Names::Direction], name);
            config.is_endpoint(name) || is_kind || is_same_direction || EDGE_PORTS.contains(&name)
        };
        self.changes(fields(self.old.edge(before)), fields(self.new.edge(after)), &is_excluded, charge)
    }

    /// Returns the fields that differ, those of the old side first. `is_excluded` selects fields that are reported
    /// otherwise.
    fn changes(
        &self,
        old: Fields<'a>,
        new: Fields<'a>,
        is_excluded: &dyn Fn(&str) -> bool,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<Change<'a>>> {
        charge(1 + (old.len() + new.len()) as u64)?;
        // The state of a valve or a blind, such as `closed`, and not a place on the sheet.
        let is_state = |(name, value): &(String, Value<'_>)| name == STATE_OR_PLACE && value.as_str().is_some();
        let has_state = old.iter().chain(&new).any(is_state);
        let is_geometry = |name: &str| GEOMETRY.contains(&name) && !(name == STATE_OR_PLACE && has_state);
        let is_compared = |name: &str| !is_geometry(name) && !is_excluded(name) && !self.is_ignored(name);
        let new_of: HashMap<&str, Value<'a>> = new.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let old_names: HashSet<&str> = old.iter().map(|(name, _)| name.as_str()).collect();
        let mut changes = Vec::new();
        for (name, old_value) in old.iter().filter(|(name, _)| is_compared(name)) {
            let new_value = new_of.get(name.as_str()).copied();
            if !new_value.map_or(Ok(false), |new_value| self.is_same(name, *old_value, new_value, charge))? {
                changes.push((name.clone(), Some(*old_value), new_value));
            }
        }
        let is_new = |name: &str| is_compared(name) && !old_names.contains(name);
        changes.extend(
            new.iter().filter(|(name, _)| is_new(name)).map(|(name, new_value)| (name.clone(), None, Some(*new_value))),
        );
        Ok(changes)
    }

    /// Returns whether the id of a node changed. Ids are ignored if tags are the identity.
    fn is_renamed(&self, (before, after): (NodeId, NodeId)) -> bool {
        let is_reported = self.options.identity.as_deref() != Some("tag") && !self.is_ignored("id");
        is_reported && Key::from_value(self.old.id(before)) != Key::from_value(self.new.id(after))
    }

    /// Matches the full name, or the name of the attribute without language and unit.
    fn is_ignored(&self, name: &str) -> bool {
        let attribute = name.strip_prefix("attributes.").unwrap_or(name);
        let attribute = attribute.strip_suffix(" unit").unwrap_or(attribute);
        let short = attribute.split(['@', '#']).next().unwrap_or(attribute);
        self.options.ignore.iter().any(|ignored| [name, attribute, short].contains(&ignored.as_str()))
    }

    /// Returns whether a field is the same on both sides: equal values; or ids of the same node; or ports that differ
    /// only in geometry.
    fn is_same(&self, name: &str, old_value: Value<'a>, new_value: Value<'a>, charge: ChargeFn<'_>) -> Result<bool> {
        const REFERENCES: [Names; 5] = [Names::Parent, Names::Owner, Names::Zone, Names::Segment, Names::Line];
        if is_equal(old_value, new_value, &mut *charge)? {
            return Ok(true);
        }
        let config = &self.old.topology.config;
        if config.is_key(&[Names::Ports], name) {
            return same_ports(old_value, new_value, self.pairs.are_ids_renewed, charge);
        }
        let both = || Some((self.old.by_id(old_value)?, self.new.by_id(new_value)?));
        let is_pair = |(old, new): (NodeId, NodeId)| self.pairs.new_of[old as usize] == new;
        Ok((self.pairs.are_ids_renewed || config.is_key(&REFERENCES, name)) && both().is_some_and(is_pair))
    }
}

/// Returns whether ports are equal except for their geometry, and for their ids if these were renewed.
fn same_ports(old_value: Value<'_>, new_value: Value<'_>, are_ids_renewed: bool, charge: ChargeFn<'_>) -> Result<bool> {
    let (Value::Array(old_value), Value::Array(new_value)) = (old_value, new_value) else { return Ok(false) };
    if old_value.len() != new_value.len() {
        return Ok(false);
    }
    for (old_value, new_value) in old_value.iter().zip(new_value.iter()) {
        let (Value::Object(old_value), Value::Object(new_value)) = (old_value, new_value) else { return Ok(false) };
        let is_compared = |key: &&str| !(GEOMETRY.contains(key) || are_ids_renewed && *key == "id");
        let keys = old_value.iter().chain(new_value.iter()).map(|(key, _)| key).filter(is_compared);
        for key in keys {
            let [old_value, new_value] = [old_value, new_value].map(|port| port.get(key).unwrap_or(Value::Null));
            if !is_equal(old_value, new_value, &mut *charge)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Returns the position of a node.
pub(crate) fn position_of(value: Value<'_>) -> Option<[f64; 2]> {
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

fn shift(old: &Drawing<'_>, new: &Drawing<'_>, pair: (NodeId, NodeId), tolerance: f64) -> Option<[f64; 2]> {
    let (before, after) = (position_of(old.node(pair.0))?, position_of(new.node(pair.1))?);
    let [dx, dy] = [after[0] - before[0], after[1] - before[1]];
    (dx.abs() > tolerance || dy.abs() > tolerance).then_some([dx, dy])
}

/// Adds a row if the items before or after a node in the flow differ.
fn rewire(
    old: &Drawing<'_>,
    new: &Drawing<'_>,
    pair: (NodeId, NodeId),
    pairs: &Pairs,
    rows: &mut Vec<Rewired>,
    charge: ChargeFn<'_>,
) -> Result<()> {
    for (side, dir) in [("in", Direction::Up), ("out", Direction::Down)] {
        let before = old.topology.table(EdgeFilter::Flow, dir).nodes(pair.0);
        let after = new.topology.table(EdgeFilter::Flow, dir).nodes(pair.1);
        charge(1 + (before.len() + after.len()) as u64)?;
        let mut expected: Vec<NodeId> = before.iter().map(|node| pairs.new_of[*node as usize]).collect();
        let mut found = after.to_vec();
        expected.sort_unstable();
        found.sort_unstable();
        if expected != found {
            rows.push(Rewired { pair, side, before: before.to_vec(), after: after.to_vec() });
        }
    }
    Ok(())
}

/// Identity of an edge on both sides: kind and class, ends and their ports.
type EdgeKey = (String, [NodeId; 2], String);

/// Returns the identity of an edge, with its ends as numbers of the new revision. Ports whose ids were renewed count by their
/// place in the list of their item.
fn edge_key(drawing: &Drawing<'_>, edge: EdgeId, ends: [NodeId; 2], are_ids_renewed: bool) -> EdgeKey {
    let word = |names: Names| drawing.edge_field(edge, names).and_then(Value::as_str).unwrap_or("");
    let object = drawing.edge(edge).as_object();
    let port = |at: usize| {
        let Some(port) = object.and_then(|object| object.get(EDGE_PORTS[at])) else { return String::new() };
        let node = drawing.topology.ends[edge as usize][at];
        let place =
            Some(node).filter(|node| are_ids_renewed && *node != NONE).and_then(|node| port_place(drawing, node, port));
        place.map_or_else(|| write::to_string(port), |place| format!("#{place}"))
    };
    let kind = format!("{}/{}", word(Names::EdgeKind), word(Names::EdgeClass));
    let is_backward = drawing.topology.edge_flags[edge as usize].contains(EdgeFlags::BACKWARD);
    (kind, if is_backward { [ends[1], ends[0]] } else { ends }, format!("{}/{}", port(0), port(1)))
}

/// Returns the place of the port with an id in the list of an item.
fn port_place(drawing: &Drawing<'_>, node: NodeId, id: Value<'_>) -> Option<usize> {
    let (ports, id) = (drawing.node_field(node, Names::Ports)?.as_array()?, Key::from_value(id)?);
    let has_id = |port: Value<'_>| port.as_object().and_then(|port| Key::from_value(port.get("id")?)) == Some(id);
    ports.iter().position(has_id)
}

/// Edges of only one side, and pairs of the same edges.
#[derive(Default)]
struct Edges {
    added: Vec<EdgeId>,
    removed: Vec<EdgeId>,
    paired: Vec<(EdgeId, EdgeId)>,
}

fn compare_edges(revisions: &Revisions<'_, '_>, charge: ChargeFn<'_>) -> Result<Edges> {
    let Revisions { old, new, pairs, .. } = *revisions;
    let are_ids_renewed = pairs.are_ids_renewed;
    charge((old.topology.edge_count() + new.topology.edge_count()) as u64)?;
    let mut edges = Edges::default();
    let mut edges_by_key: HashMap<EdgeKey, [Vec<EdgeId>; 2]> = HashMap::new();
    for edge in 0..old.topology.edge_count() as u32 {
        let ends = old.topology.ends[edge as usize];
        let new_ends = ends.map(|end| if end == NONE { NONE } else { pairs.new_of[end as usize] });
        match new_ends.contains(&NONE) && !ends.contains(&NONE) {
            true => edges.removed.push(edge),
            false => edges_by_key.entry(edge_key(old, edge, new_ends, are_ids_renewed)).or_default()[0].push(edge),
        }
    }
    for edge in 0..new.topology.edge_count() as u32 {
        let key = edge_key(new, edge, new.topology.ends[edge as usize], are_ids_renewed);
        edges_by_key.entry(key).or_default()[1].push(edge);
    }
    for [before, after] in edges_by_key.into_values() {
        pair_edges(old, new, (before, after), &mut edges);
    }
    edges.added.sort_unstable();
    edges.removed.sort_unstable();
    edges.paired.sort_unstable_by_key(|(_, after)| *after);
    Ok(edges)
}

/// Pairs edges between the same nodes: those with the same id, then the others in order.
fn pair_edges(old: &Drawing<'_>, new: &Drawing<'_>, (before, after): (Vec<EdgeId>, Vec<EdgeId>), edges: &mut Edges) {
    let edge_id = |drawing: &Drawing<'_>, edge: EdgeId| drawing.edge_field(edge, Names::EdgeId).map(write::to_string);
    let mut old_by_id: HashMap<String, EdgeId> =
        before.iter().rev().filter_map(|edge| Some((edge_id(old, *edge)?, *edge))).collect();
    let mut paired = HashSet::new();
    let mut unpaired = Vec::new();
    for edge in after {
        match edge_id(new, edge).and_then(|id| old_by_id.remove(&id)) {
            Some(old_edge) => {
                paired.insert(old_edge);
                edges.paired.push((old_edge, edge));
            }
            None => unpaired.push(edge),
        }
    }
    let mut remaining_old = before.into_iter().filter(|edge| !paired.contains(edge));
    for edge in unpaired {
        match remaining_old.next() {
            Some(old_edge) => edges.paired.push((old_edge, edge)),
            None => edges.added.push(edge),
        }
    }
    edges.removed.extend(remaining_old);
}

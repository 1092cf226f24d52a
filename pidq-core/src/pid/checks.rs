//! What looks wrong on a drawing: each rule is one row, each finding names its evidence.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::ends::{DeadEnd, carries_instrument, carries_sensor, dead_ends, is_manhole};
use super::isolate::pipes_made_for;
use super::lists::{Field, different, is_component, is_property_break, may_change};
use super::segments::{self, Missing};
use super::{Datum, Pay, loops};
use crate::error::Result;
use crate::graph::adjacency::{Adjacency, EdgeId, NONE, NodeId};
use crate::graph::config::{Names, snake_case};
use crate::graph::index::Key;
use crate::graph::parts::strong_parts;
use crate::graph::plant::Plant;
use crate::graph::roles::Role;
use crate::graph::topology::{Dir, Link, Over};
use crate::graph::vocabulary;
use crate::graph::walk::{self, Guide, Pass, Rules, Space};
use crate::value::{Value, convert};

/// How bad a finding is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Severity {
    Info,
    Warning,
    Error,
}

impl Severity {
    /// The words, from the mildest on.
    pub const WORDS: [&'static str; 3] = ["info", "warning", "error"];

    pub fn of(place: usize) -> Severity {
        [Info, Warning, Error][place.min(2)]
    }
}

/// A rule: code, name, severity, whether it is on unless asked for, and how it looks.
struct Rule {
    code: &'static str,
    name: &'static str,
    severity: Severity,
    is_usual: bool,
    look: fn(&mut Checker<'_, '_>, Pay<'_>) -> Result<()>,
}

const fn rule(
    code: &'static str,
    name: &'static str,
    severity: Severity,
    look: fn(&mut Checker<'_, '_>, Pay<'_>) -> Result<()>,
) -> Rule {
    Rule { code, name, severity, is_usual: true, look }
}

use Severity::{Error, Info, Warning};

const RULES: &[Rule] = &[
    rule("G003", "no_edges_array", Error, no_edges),
    rule("G004", "node_not_object", Error, |checker, _| checker.scalars(true)),
    rule("G005", "edge_not_object", Error, |checker, _| checker.scalars(false)),
    rule("G010", "node_without_id", Error, nodes_without_id),
    rule("G011", "duplicate_node_id", Error, duplicate_node_ids),
    rule("G012", "duplicate_edge_id", Error, duplicate_edge_ids),
    rule("G013", "id_type_mixed", Warning, mixed_ids),
    rule("G020", "dangling_edge", Error, dangling_edges),
    rule("G021", "edge_without_endpoint", Error, edges_without_ends),
    rule("G022", "self_loop_on_flow", Warning, self_loops),
    rule("G023", "parallel_edge", Info, parallel_edges),
    rule("G030", "containment_cycle", Error, containment_cycles),
    rule("G031", "several_parents", Warning, several_parents),
    rule("G032", "parent_field_contradicts_edge", Warning, contradicting_parents),
    rule("G040", "unknown_node_type", Info, unknown_node_types),
    rule("G041", "unknown_edge_type", Info, unknown_edge_types),
    rule("G042", "unknown_class", Info, unknown_classes),
    rule("G050", "missing_metadata", Warning, missing_metadata),
    rule("G051", "bad_schema_version", Error, bad_version),
    rule("P101", "non_terminating_line", Warning, non_terminating),
    rule("P102", "unconnected_component", Warning, |checker, pay| checker.unconnected(false, pay)),
    rule("P103", "unconnected_nozzle", Info, |checker, pay| checker.unconnected(true, pay)),
    rule("P104", "size_mismatch", Warning, |checker, pay| checker.mismatch(Names::Size, pay)),
    rule("P105", "spec_mismatch", Warning, |checker, pay| checker.mismatch(Names::PipingClass, pay)),
    rule("P106", "flow_direction_conflict", Warning, direction_conflicts),
    rule("P107", "unmatched_off_page_connector", Warning, unmatched_connectors),
    rule("P108", "missing_tag", Info, missing_tags),
    rule("P109", "duplicate_tag", Warning, duplicate_tags),
    rule("P110", "loop_without_member", Warning, |checker, pay| checker.loops(true, pay)),
    rule("P111", "loop_open", Info, |checker, pay| checker.loops(false, pay)),
    rule("P112", "control_valve_without_fail_action", Info, without_fail_action),
    Rule { is_usual: false, ..rule("P113", "relief_path_blocked", Info, blocked_relief) },
    Rule { is_usual: false, ..rule("P114", "pump_discharge_without_check_valve", Info, pumps_without_check) },
    Rule { is_usual: false, ..rule("P115", "dead_leg", Info, dead_legs) },
];

/// Something that looks wrong.
struct Finding {
    rule: usize,
    message: String,
    nodes: Vec<NodeId>,
    edges: Vec<EdgeId>,
    /// Whether the drawing tells it, or cannot tell.
    is_certain: bool,
}

struct Checker<'p, 'a> {
    plant: &'p Plant<'a>,
    rule: usize,
    findings: Vec<Finding>,
}

/// The findings of the rules that `asks` wants, of a severity at least.
///
/// Without a wish, all but the heuristics run; a code or its beginning, such as `P1`, asks for those that have it.
pub(crate) fn validate<'a>(plant: &Plant<'a>, wishes: &[String], least: Severity, pay: Pay<'_>) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["code", "name", "severity", "message", "ids", "evidence", "certain"];
    let mut checker = Checker { plant, rule: 0, findings: Vec::new() };
    for (at, rule) in RULES.iter().enumerate() {
        let is_wished = wishes.iter().any(|wish| rule.code.starts_with(wish.as_str()) || rule.name == wish);
        let runs = if wishes.is_empty() { rule.is_usual } else { is_wished };
        if runs && rule.severity >= least {
            checker.rule = at;
            (rule.look)(&mut checker, pay)?;
        }
    }
    let row = |finding: &Finding| {
        let rule = &RULES[finding.rule];
        let nodes = finding.nodes.iter().map(|node| Datum::Value(plant.id(*node)));
        let edges = finding.edges.iter().map(|edge| Datum::Value(plant.edge_id(*edge)));
        vec![
            Datum::Word(rule.code),
            Datum::Word(rule.name),
            Datum::Word(Severity::WORDS[rule.severity as usize]),
            Datum::Text(finding.message.clone()),
            Datum::List(nodes.collect()),
            Datum::List(edges.collect()),
            Datum::Bool(finding.is_certain),
        ]
    };
    Ok(Datum::Table(KEYS, checker.findings.iter().map(row).collect()))
}

impl<'a> Checker<'_, 'a> {
    fn find(&mut self, message: impl Into<String>, nodes: &[NodeId], edges: &[EdgeId]) {
        self.judge(true, message, nodes, edges);
    }

    /// Something that looks wrong, or that the drawing cannot tell.
    fn judge(&mut self, is_certain: bool, message: impl Into<String>, nodes: &[NodeId], edges: &[EdgeId]) {
        let (rule, message) = (self.rule, message.into());
        self.findings.push(Finding { rule, message, nodes: nodes.into(), edges: edges.into(), is_certain });
    }

    fn nodes(&self) -> std::ops::Range<u32> {
        0..self.plant.topology.node_count() as u32
    }

    fn edges(&self) -> std::ops::Range<u32> {
        0..self.plant.topology.edge_count() as u32
    }

    fn name(&self, node: NodeId) -> String {
        self.plant.name(node)
    }

    fn scalars(&mut self, of_nodes: bool) -> Result<()> {
        let list = if of_nodes { self.plant.nodes } else { self.plant.edges };
        for (at, item) in list.iter().enumerate().filter(|(_, item)| item.as_object().is_none()) {
            let message = format!("item {at} is {}, not an object", item.type_name());
            self.find(message, &[], &[]);
        }
        Ok(())
    }

    fn unconnected(&mut self, of_nozzles: bool, pay: Pay<'_>) -> Result<()> {
        pay(self.nodes().len() as u64)?;
        for node in self.nodes().filter(|node| is_unconnected(self.plant, *node)) {
            if self.is_nozzle(node) == of_nozzles {
                let message = format!("{} is not connected", self.name(node));
                self.find(message, &[node], &[]);
            }
        }
        Ok(())
    }

    fn is_nozzle(&self, node: NodeId) -> bool {
        self.plant.topology.owner(node).is_some() || self.plant.topology.roles[node as usize] == Role::Port
    }

    fn mismatch(&mut self, names: Names, pay: Pay<'_>) -> Result<()> {
        let field = Field::Named(names);
        for node in self.nodes() {
            let plant = self.plant;
            let edges = plant.topology.table(Over::Flow, Dir::Both).edges(node);
            pay(1 + edges.len() as u64)?;
            let (values, changed) = different(plant, edges, &field);
            if changed && !may_change(plant, node, &field) {
                let values: Vec<String> = values.into_iter().map(convert::to_text).collect();
                let message = format!("{} joins {}", self.name(node), values.join(" and "));
                self.find(message, &[node], edges);
            }
        }
        Ok(())
    }

    fn loops(&mut self, without_members: bool, pay: Pay<'_>) -> Result<()> {
        for found in loops::loops(self.plant, pay)? {
            let Some(node) = found.node else { continue };
            let record = loops::record(self.plant, &found, pay)?;
            let is_closed = matches!(record.field("closed"), Some(Datum::Bool(true)));
            let message = match (without_members, found.members.is_empty(), is_closed) {
                (true, true, _) => format!("loop {} has no members", found.name),
                (false, false, false) => format!("loop {} lacks a sensor or a final element", found.name),
                _ => continue,
            };
            let nodes: Vec<NodeId> = std::iter::once(node).chain(found.members).collect();
            self.find(message, &nodes, &[]);
        }
        Ok(())
    }
}

/// Whether a component has no pipe, though it is made for one; or a nozzle neither pipe nor instrument.
pub(crate) fn is_unconnected(plant: &Plant<'_>, node: NodeId) -> bool {
    let topology = &plant.topology;
    let role = topology.roles[node as usize];
    let ports = topology.ports.nodes(node);
    if topology.flow_degree(node) > 0 || ports.iter().any(|port| topology.flow_degree(*port) > 0) {
        return false;
    }
    if topology.owner(node).is_some() || role == Role::Port {
        return !is_manhole(plant, node) && !carries_instrument(plant, node);
    }
    match role {
        Role::Instrument => false,
        // A chamber, a note or the end of a signal has no pipe either, and a property break may be a mark beside one.
        Role::None => plant.is_piping(node) && !is_property_break(plant, node),
        _ => true,
    }
}

/// The open ends of a drawing: those that are drawn, and items that stand in a line with a side that leads nowhere.
pub(crate) fn open_ends<'a>(plant: &Plant<'a>, pay: Pay<'_>) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["item", "kind", "edges"];
    let mut rows = Vec::new();
    for node in 0..plant.topology.node_count() as u32 {
        pay(1)?;
        if let Some(kind) = open_end(plant, node) {
            let edges = plant.topology.table(Over::Flow, Dir::Both).edges(node);
            rows.push(vec![Datum::Node(node), Datum::Word(kind), Datum::Edges(edges.into())]);
        }
    }
    Ok(Datum::Table(KEYS, rows))
}

/// Why a line does not end properly at a node.
fn open_end(plant: &Plant<'_>, node: NodeId) -> Option<&'static str> {
    let degree = plant.topology.flow_degree(node);
    match plant.topology.roles[node as usize] {
        Role::OpenEnd => Some("open_end"),
        // A blind ends a line, however many ports its symbol has.
        Role::PositiveBarrier => None,
        // Beyond the valve is an instrument, which is joined by a signal.
        Role::Barrier if carries_sensor(plant, node) => None,
        _ if degree > 0 && degree < pipes_made_for(plant, node) => Some("free_port"),
        _ => None,
    }
}

/// Components and nozzles without a connection, as nodes.
pub(crate) fn unconnected<'a>(plant: &Plant<'a>, pay: Pay<'_>) -> Result<Datum<'a>> {
    let count = plant.topology.node_count() as u32;
    pay(u64::from(count))?;
    Ok(Datum::Nodes((0..count).filter(|node| is_unconnected(plant, *node)).collect()))
}

fn no_edges(checker: &mut Checker<'_, '_>, _: Pay<'_>) -> Result<()> {
    let config = &checker.plant.topology.config;
    let last = |path: &String| path.rsplit('.').next().map(String::from).unwrap_or_default();
    let keys: Vec<String> = config.names(Names::EdgesAt).iter().map(last).collect();
    let object = checker.plant.graph.as_object();
    let has_list = keys
        .iter()
        .any(|key| object.and_then(|object| object.get(key)).is_some_and(|value| value.as_array().is_some()));
    if !has_list && checker.plant.edges.is_empty() {
        checker.find("the graph has no list of edges", &[], &[]);
    }
    Ok(())
}

fn nodes_without_id(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.nodes().len() as u64)?;
    let plant = checker.plant;
    let is_object = |node: &NodeId| plant.node(*node).as_object().is_some();
    for node in checker.nodes().filter(is_object).filter(|node| Key::of(plant.id(*node)).is_none()) {
        let message = format!("the node in place {node} has no id");
        checker.find(message, &[node], &[]);
    }
    Ok(())
}

/// The places of each key that stands more than once, in the order of the first.
fn repeated<'a>(keys: impl Iterator<Item = (u32, Key<'a>)>) -> Vec<Vec<u32>> {
    let mut places: HashMap<Key<'a>, Vec<u32>> = HashMap::new();
    keys.for_each(|(at, key)| places.entry(key).or_default().push(at));
    let mut several: Vec<Vec<u32>> = places.into_values().filter(|places| places.len() > 1).collect();
    several.sort_unstable();
    several
}

fn duplicate_node_ids(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.nodes().len() as u64)?;
    let plant = checker.plant;
    for nodes in repeated(checker.nodes().filter_map(|node| Some((node, Key::of(plant.id(node))?)))) {
        let message = format!("{} nodes have the id {:?}", nodes.len(), plant.id(nodes[0]));
        checker.find(message, &nodes, &[]);
    }
    Ok(())
}

/// The id that an edge has of its own.
pub(super) fn own_id<'a>(plant: &Plant<'a>, edge: EdgeId) -> Option<Key<'a>> {
    plant.of_edge(edge, Names::EdgeId).and_then(Key::of)
}

fn duplicate_edge_ids(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.edges().len() as u64)?;
    let plant = checker.plant;
    for edges in repeated(checker.edges().filter_map(|edge| Some((edge, own_id(plant, edge)?)))) {
        let message = format!("{} edges have the id {:?}", edges.len(), plant.edge_id(edges[0]));
        checker.find(message, &[], &edges);
    }
    Ok(())
}

fn mixed_ids(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.nodes().len() as u64)?;
    let is_number = |node: &NodeId| checker.plant.id(*node).as_f64().is_some();
    let numbers = checker.nodes().filter(is_number).count();
    let texts = checker.nodes().filter(|node| checker.plant.id(*node).as_str().is_some()).count();
    if numbers > 0 && texts > 0 {
        let message = format!("{numbers} ids are numbers and {texts} are texts: 1 and \"1\" differ");
        checker.find(message, &[], &[]);
    }
    Ok(())
}

/// The ends of an edge as they are written, whether they name nodes or not.
pub(super) fn written_ends<'a>(plant: &Plant<'a>, edge: EdgeId) -> Option<[Value<'a>; 2]> {
    let object = plant.edge(edge).as_object()?;
    plant.topology.config.endpoints().iter().find_map(|[from, to]| Some([object.get(from)?, object.get(to)?]))
}

fn dangling_edges(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.edges().len() as u64)?;
    for edge in checker.edges() {
        let ends = checker.plant.topology.ends[edge as usize];
        let Some(written) = written_ends(checker.plant, edge).filter(|_| ends.contains(&NONE)) else { continue };
        let known: Vec<NodeId> = ends.into_iter().filter(|end| *end != NONE).collect();
        checker.find(without_node(checker.plant, edge, written), &known, &[edge]);
    }
    Ok(())
}

/// A value in a message: it may be any text.
pub(super) fn shown(value: Value<'_>) -> String {
    format!("{value:?}").chars().take(80).collect()
}

pub(super) fn without_node(plant: &Plant<'_>, edge: EdgeId, written: [Value<'_>; 2]) -> String {
    let missing = plant.topology.ends[edge as usize].iter().zip(written).filter(|(end, _)| **end == NONE);
    let missing: Vec<String> = missing.map(|(_, value)| shown(value)).collect();
    format!("no node has the id {}", missing.join(" or "))
}

pub(super) const WITHOUT_END: &str = "the edge lacks an end";

fn edges_without_ends(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.edges().len() as u64)?;
    for edge in checker.edges() {
        let is_object = checker.plant.edge(edge).as_object().is_some();
        if is_object && written_ends(checker.plant, edge).is_none() {
            let ends = checker.plant.topology.ends[edge as usize];
            let known: Vec<NodeId> = ends.into_iter().filter(|end| *end != NONE).collect();
            checker.find(WITHOUT_END, &known, &[edge]);
        }
    }
    Ok(())
}

fn self_loops(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.edges().len() as u64)?;
    let topology = &checker.plant.topology;
    let loops: Vec<EdgeId> = topology
        .edges_of(Link::FLOW)
        .filter(|edge| {
            let [from, to] = topology.ends[*edge as usize];
            from == to
        })
        .collect();
    for edge in loops {
        let node = checker.plant.topology.ends[edge as usize][0];
        let message = format!("a pipe leads from {} to itself", checker.name(node));
        checker.find(message, &[node], &[edge]);
    }
    Ok(())
}

fn parallel_edges(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.edges().len() as u64)?;
    let topology = &checker.plant.topology;
    let mut between: HashMap<[NodeId; 2], Vec<EdgeId>> = HashMap::new();
    for edge in topology.edges_of(Link::FLOW) {
        between.entry(topology.flow_ends(edge)).or_default().push(edge);
    }
    let mut several: Vec<([NodeId; 2], Vec<EdgeId>)> =
        between.into_iter().filter(|(_, edges)| edges.len() > 1).collect();
    several.sort_unstable();
    for (ends, edges) in several {
        let message = format!("{} pipes lead from {} to {}", edges.len(), checker.name(ends[0]), checker.name(ends[1]));
        checker.find(message, &ends, &edges);
    }
    Ok(())
}

/// Containers and what they contain, by parts.
fn containment(plant: &Plant<'_>) -> Vec<(NodeId, NodeId, EdgeId)> {
    let topology = &plant.topology;
    let parts = topology.edges_of(Link::PART).map(|edge| (topology.ends[edge as usize], edge));
    parts.map(|([holder, part], edge)| (holder, part, edge)).collect()
}

/// What a field alone says is a part of something: an edge wins.
fn named_parents(plant: &Plant<'_>, known: &[(NodeId, NodeId, EdgeId)]) -> Vec<(NodeId, NodeId, EdgeId)> {
    let held: HashSet<NodeId> = known.iter().map(|(_, part, _)| *part).collect();
    let nodes = (0..plant.topology.node_count() as u32).filter(|node| !held.contains(node));
    let parent = |node: NodeId| plant.by_id(plant.of_node(node, Names::Parent)?);
    nodes.filter_map(|node| Some((parent(node)?, node, NONE))).collect()
}

fn containment_cycles(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    for nodes in containment_circles(checker.plant, pay)? {
        checker.find(contain_each_other(checker.plant, &nodes), &nodes, &[]);
    }
    Ok(())
}

/// Nodes that contain each other, or themselves.
pub(super) fn containment_circles(plant: &Plant<'_>, pay: Pay<'_>) -> Result<Vec<Vec<NodeId>>> {
    let topology = &plant.topology;
    pay(topology.node_count() as u64)?;
    let mut pairs = containment(plant);
    pairs.extend(topology.memberships().map(|(group, member)| (group, member, NONE)));
    pairs.extend(named_parents(plant, &pairs));
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let table = Adjacency::new(topology.node_count(), || pairs.iter().copied());
    let parts = strong_parts(&table, pay)?;
    let mut sizes = vec![0_u32; parts.len()];
    parts.of().iter().for_each(|part| sizes[*part as usize] += 1);
    let is_in_circle = |part: u32, node: NodeId| sizes[part as usize] > 1 || table.nodes(node).contains(&node);
    let mut circles: BTreeMap<u32, Vec<NodeId>> = BTreeMap::new();
    for (part, node) in parts.of().iter().zip(0..).filter(|(part, node)| is_in_circle(**part, *node)) {
        circles.entry(*part).or_default().push(node);
    }
    Ok(circles.into_values().collect())
}

pub(super) fn contain_each_other(plant: &Plant<'_>, nodes: &[NodeId]) -> String {
    let names: Vec<String> = nodes.iter().take(5).map(|node| plant.name(*node)).collect();
    format!("these contain each other: {}", names.join(", "))
}

fn several_parents(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    let mut parents: HashMap<NodeId, Vec<(NodeId, EdgeId)>> = HashMap::new();
    for (holder, part, edge) in containment(checker.plant) {
        pay(1)?;
        parents.entry(part).or_default().push((holder, edge));
    }
    let mut several: Vec<(NodeId, Vec<(NodeId, EdgeId)>)> =
        parents.into_iter().filter(|(_, holders)| holders.iter().any(|holder| holder.0 != holders[0].0)).collect();
    several.sort_unstable();
    for (part, holders) in several {
        let nodes: Vec<NodeId> = std::iter::once(part).chain(holders.iter().map(|holder| holder.0)).collect();
        let edges: Vec<EdgeId> = holders.iter().map(|holder| holder.1).collect();
        checker.find(format!("{} is a part of {} items", checker.name(part), holders.len()), &nodes, &edges);
    }
    Ok(())
}

fn contradicting_parents(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    for (holder, part, edge) in containment(checker.plant) {
        pay(1)?;
        let field = checker.plant.of_node(part, Names::Parent).and_then(|parent| checker.plant.by_id(parent));
        if let Some(parent) = field.filter(|parent| *parent != holder) {
            let [part_name, parent_name, holder_name] = [part, parent, holder].map(|node| checker.name(node));
            let message = format!("{part_name} names {parent_name} as its parent, an edge {holder_name}");
            checker.find(message, &[part, parent, holder], &[edge]);
        }
    }
    Ok(())
}

/// Reports each unknown word once, with how often and where first.
fn unknown_words(checker: &mut Checker<'_, '_>, what: &str, words: Vec<(String, u32)>, of_nodes: bool) {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut counts: Vec<(String, u32, usize)> = Vec::new();
    for (word, first) in words {
        let at = *places.entry(word.clone()).or_insert(counts.len());
        match counts.get_mut(at) {
            Some((_, _, count)) => *count += 1,
            None => counts.push((word, first, 1)),
        }
    }
    for (word, first, count) in counts {
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        let message = format!("{what} `{word}` is unknown{times}");
        let (nodes, edges) = if of_nodes { (vec![first], vec![]) } else { (vec![], vec![first]) };
        checker.find(message, &nodes, &edges);
    }
}

fn unknown_node_types(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    const OTHERS: &[&str] = &["pid_component", "annotation"];
    pay(checker.nodes().len() as u64)?;
    let plant = checker.plant;
    let types = [Names::LineType, Names::SegmentType, Names::LoopType];
    let is_known = |word: &str| {
        OTHERS.contains(&word)
            || vocabulary::has(vocabulary::GROUP_TYPES, word)
            || types.iter().any(|names| plant.topology.config.has(*names, word))
    };
    let words = checker.nodes().filter_map(|node| Some((plant.of_node(node, Names::NodeType)?.as_str()?, node)));
    let unknown = words.filter(|(word, node)| !is_known(word) && plant.topology.roles[*node as usize] == Role::None);
    let unknown = unknown.map(|(word, node)| (word.to_owned(), node)).collect();
    unknown_words(checker, "the node type", unknown, true);
    Ok(())
}

fn unknown_edge_types(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.edges().len() as u64)?;
    let plant = checker.plant;
    let unknown = checker.edges().filter(|edge| plant.topology.links[*edge as usize].has(Link::UNKNOWN));
    let kind = |edge: EdgeId| plant.of_edge(edge, Names::EdgeKind).and_then(Value::as_str).unwrap_or("").to_owned();
    let unknown = unknown.map(|edge| (kind(edge), edge)).collect();
    unknown_words(checker, "the edge type", unknown, false);
    Ok(())
}

fn unknown_classes(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.nodes().len() as u64)?;
    let plant = checker.plant;
    let has_no_role = |node: &NodeId| plant.topology.roles[*node as usize] == Role::None && is_component(plant, *node);
    let unknown = checker.nodes().filter(has_no_role).filter_map(|node| Some((plant.class(node)?.to_owned(), node)));
    let unknown = unknown.collect();
    unknown_words(checker, "the class", unknown, true);
    Ok(())
}

fn missing_metadata(checker: &mut Checker<'_, '_>, _: Pay<'_>) -> Result<()> {
    let object = checker.plant.metadata.as_object();
    let is_missing = |key: &&str| object.and_then(|object| object.get(key)).is_none_or(Value::is_null);
    let missing: Vec<&str> =
        ["drawing_name", "job_id", "schema_version", "change_version"].into_iter().filter(is_missing).collect();
    if !missing.is_empty() {
        checker.find(format!("the metadata lack {}", missing.join(", ")), &[], &[]);
    }
    Ok(())
}

/// A version is digits and dots: `1`, `1.2`, `1.2.0`.
fn bad_version(checker: &mut Checker<'_, '_>, _: Pay<'_>) -> Result<()> {
    let said = checker.plant.metadata.as_object().and_then(|object| object.get("schema_version"));
    let Some(version) = said.filter(|version| !version.is_null()) else { return Ok(()) };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_good = version.as_str().is_some_and(|text| text.split('.').count() <= 3 && text.split('.').all(is_number));
    if !is_good {
        checker.find(format!("{} is no schema version such as \"1.2.0\"", shown(version)), &[], &[]);
    }
    Ok(())
}

fn non_terminating(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.nodes().len() as u64)?;
    for node in checker.nodes() {
        if let Some(kind) = open_end(checker.plant, node) {
            let message = format!("a line ends openly at {} ({kind})", checker.name(node));
            let edges = checker.plant.topology.table(Over::Flow, Dir::Both).edges(node).to_vec();
            checker.find(message, &[node], &edges);
        }
    }
    open_segments(checker, pay)
}

/// Segments of which the drawing does not name both ends, though it names ends of segments.
fn open_segments(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    let plant = checker.plant;
    let mut missing = Missing::default();
    for segment in checker.nodes().filter(|node| plant.has_type(*node, Names::SegmentType)) {
        let lacking = match missing.of(plant, segment, pay)? {
            [true, true] => "neither a start nor an end",
            [true, false] => "no start",
            [false, true] => "no end",
            [false, false] => continue,
        };
        let known: Vec<EdgeId> = segments::ends(plant, segment, pay)?.map(|(_, edge)| edge).collect();
        checker.find(format!("the segment {} has {lacking}", checker.name(segment)), &[segment], &known);
    }
    Ok(())
}

/// Where all pipes lead in, or all lead out.
fn direction_conflicts(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    for node in checker.nodes() {
        pay(1)?;
        let topology = &checker.plant.topology;
        let degree = |dir: Dir| topology.table(Over::Flow, dir).degree(node);
        let (out, inward, all) = (degree(Dir::Down), degree(Dir::Up), topology.flow_degree(node));
        let is_through =
            !topology.is_equipment(node) && !matches!(topology.roles[node as usize], Role::OffPage | Role::OpenEnd);
        let word = match (out, inward) {
            (0, _) if all > 1 => "into",
            (_, 0) if all > 1 => "out of",
            _ => continue,
        };
        if is_through {
            let edges = topology.table(Over::Flow, Dir::Both).edges(node).to_vec();
            checker.find(format!("all {all} pipes lead {word} {}", checker.name(node)), &[node], &edges);
        }
    }
    Ok(())
}

fn unmatched_connectors(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.nodes().len() as u64)?;
    let plant = checker.plant;
    let is_off_page = |node: &NodeId| {
        let class = plant.class(*node).map(snake_case).unwrap_or_default();
        plant.topology.roles[*node as usize] == Role::OffPage && !class.contains("outlet") && !class.contains("inlet")
    };
    let is_matched = |node: NodeId| {
        let says = |names: Names| plant.cross_page(node, names).is_some();
        says(Names::CrossPagePartner)
            || says(Names::CrossPageDrawing) && says(Names::CrossPageLabel)
            || plant.topology.flow_degree(node) > 1
    };
    let unmatched: Vec<NodeId> = checker.nodes().filter(is_off_page).filter(|node| !is_matched(*node)).collect();
    for node in unmatched {
        checker.find(format!("{} does not say where it goes on", checker.name(node)), &[node], &[]);
    }
    Ok(())
}

fn missing_tags(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.nodes().len() as u64)?;
    let plant = checker.plant;
    let needs_tag = |node: &NodeId| {
        matches!(
            plant.topology.roles[*node as usize],
            Role::Equipment | Role::Instrument | Role::Control | Role::Relief
        )
    };
    let untagged: Vec<NodeId> = checker.nodes().filter(needs_tag).filter(|node| plant.tag(*node).is_none()).collect();
    for node in untagged {
        let message = format!("{} has no tag", plant.class(node).unwrap_or("an item"));
        checker.find(message, &[node], &[]);
    }
    Ok(())
}

/// What a tag is given to: things of one sort have different ones. Nozzles repeat theirs on purpose, an end of the sheet
/// has that of its line, and tees and reducers are called by what they are.
fn sort_of(plant: &Plant<'_>, node: NodeId) -> Option<&'static str> {
    if plant.topology.owner(node).is_some() {
        return None;
    }
    match plant.topology.roles[node as usize] {
        Role::Equipment => Some("equipment"),
        Role::Instrument => Some("instrument"),
        Role::Port | Role::OffPage | Role::OpenEnd | Role::Junction | Role::SizeBreak => None,
        Role::None if !plant.is_piping(node) => None,
        _ => Some("piping"),
    }
}

/// Tags that stand more than once among things of one sort.
fn duplicate_tags(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.nodes().len() as u64)?;
    let plant = checker.plant;
    // Valves that are numbered within their run have tags that are unique with the name of the run before them.
    let unique = |node: NodeId| plant.of_node(node, Names::QualifiedTag).and_then(Value::as_str);
    let mut places: HashMap<[&str; 3], Vec<NodeId>> = HashMap::new();
    for node in checker.nodes() {
        if let (Some(tag), Some(sort)) = (plant.tag(node), sort_of(plant, node)) {
            places.entry([tag, sort, unique(node).unwrap_or("")]).or_default().push(node);
        }
    }
    let mut several: Vec<Vec<NodeId>> = places.into_values().filter(|nodes| nodes.len() > 1).collect();
    several.sort_unstable();
    for nodes in several {
        if !are_one(plant, &nodes, pay)? {
            let message = format!("{} items have the tag {}", nodes.len(), plant.tag(nodes[0]).unwrap_or(""));
            checker.find(message, &nodes, &[]);
        }
    }
    Ok(())
}

/// Whether nodes are parts of one thing, joined by anything but pipes: an actuator has the tag of its function.
fn are_one(plant: &Plant<'_>, nodes: &[NodeId], pay: Pay<'_>) -> Result<bool> {
    let topology = &plant.topology;
    let mut left: HashSet<NodeId> = nodes.iter().copied().collect();
    left.remove(&nodes[0]);
    let mut open = vec![nodes[0]];
    while let Some(node) = open.pop() {
        let arcs = topology.table(Over::All, Dir::Both).arcs(node);
        let parts = topology.named_members(node);
        pay(1 + (arcs.len() + parts.len()) as u64)?;
        let joined = arcs.filter(|(_, edge)| !topology.links[*edge as usize].has(Link::FLOW)).map(|(other, _)| other);
        let named = topology.named_group(node).into_iter().chain(parts.iter().copied());
        open.extend(joined.chain(named).filter(|other| left.remove(other)));
    }
    Ok(left.is_empty())
}

fn without_fail_action(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    pay(checker.nodes().len() as u64)?;
    let plant = checker.plant;
    let is_silent = |node: &NodeId| {
        plant.topology.roles[*node as usize] == Role::Control && plant.of_node(*node, Names::FailAction).is_none()
    };
    for node in checker.nodes().filter(is_silent).collect::<Vec<_>>() {
        checker.find(format!("{} does not say how it fails", checker.name(node)), &[node], &[]);
    }
    Ok(())
}

/// A guide that ends branches at nodes of some roles.
struct Until<'p, 't> {
    pay: Pay<'p>,
    ends: &'t dyn Fn(NodeId) -> bool,
}

impl Guide for Until<'_, '_> {
    fn pay(&mut self, units: u64) -> Result<()> {
        (self.pay)(units)
    }

    fn ends_at(&mut self, node: NodeId) -> Result<bool> {
        Ok((self.ends)(node))
    }
}

/// The pipes from the start of a walk to one of its steps.
fn way_to(steps: &[walk::Step], end: &walk::Step) -> Vec<EdgeId> {
    let mut way = Vec::new();
    let mut step = Some(end);
    while let Some(here) = step {
        way.extend(Some(here.via).filter(|edge| *edge != NONE));
        step = steps.get(here.from as usize);
    }
    way.reverse();
    way
}

/// Whether a way ends at an item only because the drawing does: at the edge of the sheet, or where a pipe is missing. A
/// valve with nothing behind it is a drain or a vent.
fn leaves_drawing(plant: &Plant<'_>, missing: &mut Missing, node: NodeId, pay: Pay<'_>) -> Result<bool> {
    let (degree, role) = (plant.topology.flow_degree(node), plant.topology.roles[node as usize]);
    if degree > 1 || role == Role::OffPage || role.closes() {
        return Ok(degree < 2 && role == Role::OffPage);
    }
    Ok(degree < pipes_made_for(plant, node) || missing.ends_openly(plant, node, pay)?)
}

/// The first step after the start at which a way leaves the drawing.
fn leaving<'s>(
    plant: &Plant<'_>,
    missing: &mut Missing,
    steps: &'s [walk::Step],
    pay: Pay<'_>,
) -> Result<Option<&'s walk::Step>> {
    for step in steps.iter().filter(|step| step.depth > 0) {
        pay(1)?;
        if leaves_drawing(plant, missing, step.node, pay)? {
            return Ok(Some(step));
        }
    }
    Ok(None)
}

/// Valves that could shut the way from what is protected to its relief device, or from there on.
fn blocked_relief(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    let plant = checker.plant;
    let topology = &plant.topology;
    let rules = Rules { over: Over::Flow, dir: Dir::Both, pass: Pass::None, depth: 20 };
    // A connector with its partner is no end: the way goes on on the other sheet.
    let ends = |node: NodeId| topology.flow_degree(node) > 2 || topology.roles[node as usize] == Role::Relief;
    let (mut space, mut missing) = (Space::default(), Missing::default());
    for device in checker.nodes().filter(|node| topology.roles[*node as usize] == Role::Relief) {
        let steps = walk::walk(topology, &mut space, &[device], &rules, &mut Until { pay, ends: &ends })?;
        let is_valve = |step: &&walk::Step| step.depth > 0 && topology.roles[step.node as usize].closes();
        for step in steps.iter().filter(is_valve) {
            pay(u64::from(step.depth))?;
            let message = format!("{} could shut the way of {}", checker.name(step.node), checker.name(device));
            checker.find(message, &[device, step.node], &way_to(&steps, step));
        }
        if steps.iter().any(|step| is_valve(&step)) {
            continue;
        }
        if let Some(step) = leaving(plant, &mut missing, &steps, pay)? {
            let [device_name, end] = [device, step.node].map(|node| checker.name(node));
            let message =
                format!("beyond {end} the drawing does not tell whether a valve could shut the way of {device_name}");
            checker.judge(false, message, &[device, step.node], &way_to(&steps, step));
        }
    }
    Ok(())
}

/// Pumps from which the flow reaches other equipment without a check valve. Where it leaves the drawing before, nobody can
/// tell.
fn pumps_without_check(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    let plant = checker.plant;
    let topology = &plant.topology;
    let rules = Rules { over: Over::Flow, dir: Dir::Down, pass: Pass::None, depth: 200 };
    let is_pump = |node: &NodeId| {
        topology.roles[*node as usize] == Role::Equipment
            && plant.class(*node).is_some_and(|class| snake_case(class).contains("pump"))
    };
    let ends = |node: NodeId| topology.roles[node as usize] == Role::OneWay;
    let (mut space, mut missing) = (Space::default(), Missing::default());
    for pump in checker.nodes().filter(is_pump) {
        let start = [pump];
        let starts = walk::starts(topology, &rules, &start);
        let steps = walk::walk(topology, &mut space, &starts, &rules, &mut Until { pay, ends: &ends })?;
        let arrival = steps.iter().find(|step| step.depth > 0 && topology.is_equipment(step.node));
        let is_certain = arrival.is_some();
        let Some(end) = (if is_certain { arrival } else { leaving(plant, &mut missing, &steps, pay)? }) else {
            continue;
        };
        let [pump_name, end_name] = [pump, end.node].map(|node| checker.name(node));
        let message = if is_certain {
            format!("no check valve between {pump_name} and {end_name}")
        } else {
            format!("no check valve between {pump_name} and {end_name}, and the drawing does not tell what follows")
        };
        pay(u64::from(end.depth))?;
        checker.judge(is_certain, message, &[pump, end.node], &way_to(&steps, end));
    }
    Ok(())
}

fn dead_legs(checker: &mut Checker<'_, '_>, pay: Pay<'_>) -> Result<()> {
    let plant = checker.plant;
    let mut missing = Missing::default();
    for DeadEnd { at, items, class } in dead_ends(plant, pay)? {
        let from = if at == NONE { String::from("nothing") } else { checker.name(at) };
        let end = items.last().copied().unwrap_or(at);
        let way = pipes_between(plant, at, &items, pay)?;
        let count = items.len();
        if leaves_drawing(plant, &mut missing, end, pay)? {
            let end = checker.name(end);
            let message = format!(
                "a branch of {count} items at {from} ({class}), and the drawing does not tell what follows {end}"
            );
            checker.judge(false, message, &items, &way);
        } else {
            checker.find(format!("a dead end of {count} items at {from} ({class})"), &items, &way);
        }
    }
    Ok(())
}

/// The pipes of a branch from what it leaves to its end. Its items have two pipes at most, so they are asked.
fn pipes_between(plant: &Plant<'_>, at: NodeId, items: &[NodeId], pay: Pay<'_>) -> Result<Vec<EdgeId>> {
    let table = plant.topology.table(Over::Flow, Dir::Both);
    let mut pipes = Vec::with_capacity(items.len());
    let mut before = at;
    for item in items {
        pay(1 + table.degree(*item) as u64)?;
        pipes.extend(table.arcs(*item).find(|(other, _)| *other == before).map(|(_, edge)| edge));
        before = *item;
    }
    Ok(pipes)
}

/// The codes of rules that exist, for checking a wish.
pub(crate) fn is_wish(text: &str) -> bool {
    !text.is_empty() && RULES.iter().any(|rule| rule.code.starts_with(text) || rule.name == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_named_once_and_ascend() {
        let codes: Vec<&str> = RULES.iter().map(|rule| rule.code).collect();
        assert!(codes.is_sorted());
        assert_eq!(codes.iter().collect::<HashSet<_>>().len(), codes.len());
    }
}

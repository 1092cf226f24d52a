//! Validation rules for drawings: each rule is one row, each finding names its evidence.

mod connections;
mod relief;

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use self::connections::{is_branch_of_header, is_unconnected};
use super::dead_ends::{DeadEnd, dead_ends, has_sensor};
use super::isolate::expected_pipe_count;
use super::lists::{EdgeField, distinct_values, is_component, may_change};
use super::loop_parts::{self, Gap, LoopParts};
use super::loops::Loops;
use super::segments::{self, MissingEnds};
use super::valve_state::actuation::is_actuated;
use super::valve_state::fail_action;
use super::{ChargeFn, Datum, join, joints};
use crate::error::Result;
use crate::graph::adjacency::{Adjacency, EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::connectivity::strongly_connected;
use crate::graph::drawing::Drawing;
use crate::graph::index::Key;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::graph::walk::{self, EquipmentPolicy, Visitor, WalkOptions, WalkScratch};
use crate::value::{Value, convert};

/// Severity of a finding.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Severity {
    Info,
    Warning,
    Error,
}

impl Severity {
    /// Names in ascending order of severity.
    pub const NAMES: [&'static str; 3] = ["info", "warning", "error"];

    pub fn from_index(index: usize) -> Severity {
        [Info, Warning, Error][index.min(2)]
    }
}

/// A rule: code, name, severity, whether it runs by default, and its check.
struct Rule {
    code: &'static str,
    name: &'static str,
    /// Of its findings, or the highest of them.
    severity: Severity,
    is_default: bool,
    check: fn(&mut Checker<'_, '_>, ChargeFn<'_>) -> Result<()>,
}

const fn rule(
    code: &'static str,
    name: &'static str,
    severity: Severity,
    check: fn(&mut Checker<'_, '_>, ChargeFn<'_>) -> Result<()>,
) -> Rule {
    Rule { code, name, severity, is_default: true, check }
}

use Severity::{Error, Info, Warning};

const RULES: &[Rule] = &[
    rule("G003", "no_edges_array", Error, no_edges),
    rule("G004", "node_not_object", Error, |checker, _| checker.non_objects(true)),
    rule("G005", "edge_not_object", Error, |checker, _| checker.non_objects(false)),
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
    rule("P102", "unconnected_component", Warning, |checker, charge| checker.unconnected(false, charge)),
    rule("P103", "unconnected_nozzle", Info, |checker, charge| checker.unconnected(true, charge)),
    rule("P104", "size_mismatch", Warning, |checker, charge| checker.mismatch(Names::Size, charge)),
    rule("P105", "spec_mismatch", Warning, |checker, charge| checker.mismatch(Names::PipingClass, charge)),
    rule("P106", "flow_direction_conflict", Warning, direction_conflicts),
    rule("P107", "unmatched_off_page_connector", Warning, unmatched_connectors),
    rule("P108", "missing_tag", Info, missing_tags),
    rule("P109", "duplicate_tag", Warning, duplicate_tags),
    rule("P110", "loop_without_member", Warning, |checker, charge| checker.loops_without_members(charge)),
    rule("P111", "loop_open", Info, |checker, charge| checker.open_loops(charge)),
    rule("P112", "control_valve_without_fail_action", Info, without_fail_action),
    rule("P113", "relief_path_blocked", Error, relief::blocked_relief),
    Rule { is_default: false, ..rule("P114", "pump_discharge_without_check_valve", Info, pumps_without_check) },
    Rule { is_default: false, ..rule("P115", "dead_leg", Info, dead_legs) },
    rule("P120", "joint_of_different_pipes", Warning, joints_of_different_pipes),
    rule("P121", "missing_partner_connector", Warning, missing_partner_connectors),
];

/// A finding.
struct Finding {
    rule: usize,
    severity: Severity,
    message: String,
    nodes: Vec<NodeId>,
    edges: Vec<EdgeId>,
    /// The drawing proves the finding; otherwise it may be wrong.
    is_certain: bool,
}

struct Checker<'p, 'a> {
    drawing: &'p Drawing<'a>,
    rule: usize,
    findings: Vec<Finding>,
}

/// Returns the findings of the selected rules, of at least a severity.
///
/// Without filters, all rules but the heuristics run; a filter is a code, a prefix of codes such as `P1`, or a rule
/// name.
pub(crate) fn validate<'a>(
    drawing: &Drawing<'a>,
    filters: &[String],
    min_severity: Severity,
    charge: ChargeFn<'_>,
) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["code", "name", "severity", "message", "ids", "evidence", "certain"];
    let mut checker = Checker { drawing, rule: 0, findings: Vec::new() };
    for (at, rule) in RULES.iter().enumerate() {
        let is_selected = filters.iter().any(|filter| rule.code.starts_with(filter.as_str()) || rule.name == filter);
        let runs = if filters.is_empty() { rule.is_default } else { is_selected };
        if runs && rule.severity >= min_severity {
            checker.rule = at;
            (rule.check)(&mut checker, charge)?;
        }
    }
    let row = |finding: &Finding| {
        let rule = &RULES[finding.rule];
        let nodes = finding.nodes.iter().map(|node| Datum::Value(drawing.id(*node)));
        let edges = finding.edges.iter().map(|edge| Datum::Value(drawing.edge_id(*edge)));
        vec![
            Datum::Word(rule.code),
            Datum::Word(rule.name),
            Datum::Word(Severity::NAMES[finding.severity as usize]),
            Datum::String(finding.message.clone()),
            Datum::Array(nodes.collect()),
            Datum::Array(edges.collect()),
            Datum::Bool(finding.is_certain),
        ]
    };
    let is_severe = |finding: &&Finding| finding.severity >= min_severity;
    Ok(Datum::Table(KEYS, checker.findings.iter().filter(is_severe).map(row).collect()))
}

impl<'a> Checker<'_, 'a> {
    fn report(&mut self, message: impl Into<String>, nodes: &[NodeId], edges: &[EdgeId]) {
        self.report_finding(true, message, nodes, edges);
    }

    /// Adds a finding, certain or not decidable from the drawing.
    fn report_finding(&mut self, is_certain: bool, message: impl Into<String>, nodes: &[NodeId], edges: &[EdgeId]) {
        self.report_graded(RULES[self.rule].severity, is_certain, message, nodes, edges);
    }

    /// Adds a finding of a rule whose findings differ in severity.
    fn report_graded(
        &mut self,
        severity: Severity,
        is_certain: bool,
        message: impl Into<String>,
        nodes: &[NodeId],
        edges: &[EdgeId],
    ) {
        let (rule, message) = (self.rule, message.into());
        self.findings.push(Finding { rule, severity, message, nodes: nodes.into(), edges: edges.into(), is_certain });
    }

    fn nodes(&self) -> std::ops::Range<u32> {
        0..self.drawing.topology.node_count() as u32
    }

    fn edges(&self) -> std::ops::Range<u32> {
        0..self.drawing.topology.edge_count() as u32
    }

    fn name(&self, node: NodeId) -> String {
        self.drawing.name(node)
    }

    fn non_objects(&mut self, count_nodes: bool) -> Result<()> {
        let list = if count_nodes { self.drawing.nodes } else { self.drawing.edges };
        for (at, item) in list.iter().enumerate().filter(|(_, item)| item.as_object().is_none()) {
            let message = format!("item {at} is {}, not an object", item.type_name());
            self.report(message, &[], &[]);
        }
        Ok(())
    }

    fn unconnected(&mut self, of_nozzles: bool, charge: ChargeFn<'_>) -> Result<()> {
        charge(self.nodes().len() as u64)?;
        for node in self.nodes().filter(|node| is_unconnected(self.drawing, *node)) {
            if self.is_nozzle(node) == of_nozzles {
                let message = format!("{} is not connected", self.name(node));
                self.report(message, &[node], &[]);
            }
        }
        Ok(())
    }

    fn is_nozzle(&self, node: NodeId) -> bool {
        self.drawing.topology.owner(node).is_some() || self.drawing.topology.roles[node as usize] == Role::Port
    }

    fn mismatch(&mut self, names: Names, charge: ChargeFn<'_>) -> Result<()> {
        let field = EdgeField::Named(names);
        for node in self.nodes() {
            let drawing = self.drawing;
            let edges = drawing.topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
            charge(1 + edges.len() as u64)?;
            let (values, changed) = distinct_values(drawing, edges, &field);
            let is_branch = || names == Names::Size && is_branch_of_header(drawing, node, edges);
            if changed && !may_change(drawing, node, &field) && !is_branch() {
                let values: Vec<String> = values.into_iter().map(convert::to_text).collect();
                let message = format!("{} joins {}", self.name(node), values.join(" and "));
                self.report(message, &[node], edges);
            }
        }
        Ok(())
    }

    fn loops_without_members(&mut self, charge: ChargeFn<'_>) -> Result<()> {
        for found in Loops::find(self.drawing, charge)?.list {
            if let Some(node) = found.node.filter(|_| found.members.is_empty()) {
                self.report(format!("loop {} has no members", found.name), &[node], &[]);
            }
        }
        Ok(())
    }

    /// Reports loops that lack a sensor or a final element, and trips without a signal between them. An indication needs no final element, and what is operated
    /// by hand no sensor. Of the loops without a node, only trips are reported, since a trip that does not act is a
    /// missing safeguard; its parts may be on another sheet.
    fn open_loops(&mut self, charge: ChargeFn<'_>) -> Result<()> {
        let loops = Loops::find(self.drawing, charge)?;
        for (at, found) in loops.list.iter().enumerate() {
            if found.members.is_empty() || found.node.is_none() && found.protection.is_none() {
                continue;
            }
            let parts = LoopParts::find(self.drawing, &loops, at, charge)?;
            let (kind, _) = loop_parts::kind(self.drawing, found, &parts);
            let lacks_final_element = parts.final_elements.is_empty() && kind != Some("indication");
            let lacks_sensor = parts.sensors.is_empty() && !loop_parts::is_hand_operated(self.drawing, &parts);
            let is_protective = found.protection.is_some();
            let missing = match (lacks_sensor, lacks_final_element) {
                (true, true) => "lacks a sensor and a final element",
                (true, false) => "lacks a sensor",
                (false, true) => "lacks a final element",
                (false, false) if is_protective && parts.gap() == Some(Gap::NoSignal) => {
                    "has no signal from a sensor to a final element"
                }
                (false, false) => continue,
            };
            let noun = if is_protective { "trip" } else { "loop" };
            let nodes: Vec<NodeId> = found.node.into_iter().chain(found.members.iter().copied()).collect();
            let is_certain = found.node.is_some() && parts.closed().is_some();
            self.report_finding(is_certain, format!("{noun} {} {missing}", found.name), &nodes, &[]);
        }
        Ok(())
    }
}

/// Returns the open ends of a drawing: those drawn as such, and items in a line with an unconnected side.
pub(crate) fn open_ends<'a>(drawing: &Drawing<'a>, charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["item", "kind", "edges"];
    let mut rows = Vec::new();
    for node in 0..drawing.topology.node_count() as u32 {
        charge(1)?;
        if let Some(kind) = open_end(drawing, node) {
            let edges = drawing.topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
            rows.push(vec![Datum::Node(node), Datum::Word(kind), Datum::Edges(edges.into())]);
        }
    }
    Ok(Datum::Table(KEYS, rows))
}

/// Returns the kind of open end at a node, if any.
fn open_end(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    let degree = drawing.topology.flow_degree(node);
    match drawing.topology.roles[node as usize] {
        Role::OpenEnd => Some("open_end"),
        // A blind ends a line, regardless of the number of ports of its symbol.
        Role::PositiveBarrier | Role::Blind => None,
        // Behind the valve is an instrument, connected by a signal.
        Role::Barrier if has_sensor(drawing, node) => None,
        _ if degree > 0 && degree < expected_pipe_count(drawing, node) => Some("free_port"),
        _ => None,
    }
}

/// Returns components and nozzles without a connection, as nodes.
pub(crate) fn unconnected<'a>(drawing: &Drawing<'a>, charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    let count = drawing.topology.node_count() as u32;
    charge(u64::from(count))?;
    Ok(Datum::Nodes((0..count).filter(|node| is_unconnected(drawing, *node)).collect()))
}

fn no_edges(checker: &mut Checker<'_, '_>, _: ChargeFn<'_>) -> Result<()> {
    let config = &checker.drawing.topology.config;
    let last = |path: &String| path.rsplit('.').next().map(String::from).unwrap_or_default();
    let keys: Vec<String> = config.names(Names::EdgesPath).iter().map(last).collect();
    let object = checker.drawing.graph.as_object();
    let has_list = keys
        .iter()
        .any(|key| object.and_then(|object| object.get(key)).is_some_and(|value| value.as_array().is_some()));
    if !has_list && checker.drawing.edges.is_empty() {
        checker.report("the graph has no array of edges", &[], &[]);
    }
    Ok(())
}

fn nodes_without_id(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    let is_object = |node: &NodeId| drawing.node(*node).as_object().is_some();
    for node in checker.nodes().filter(is_object).filter(|node| Key::from_value(drawing.id(*node)).is_none()) {
        let message = format!("the node at index {node} has no id");
        checker.report(message, &[node], &[]);
    }
    Ok(())
}

/// Returns the indices of each duplicate key, in order of first appearance.
fn find_duplicates<'a>(keys: impl Iterator<Item = (u32, Key<'a>)>) -> Vec<Vec<u32>> {
    let mut indices: HashMap<Key<'a>, Vec<u32>> = HashMap::new();
    keys.for_each(|(at, key)| indices.entry(key).or_default().push(at));
    let mut duplicates: Vec<Vec<u32>> = indices.into_values().filter(|indices| indices.len() > 1).collect();
    duplicates.sort_unstable();
    duplicates
}

fn duplicate_node_ids(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    for nodes in find_duplicates(checker.nodes().filter_map(|node| Some((node, Key::from_value(drawing.id(node))?)))) {
        let message = format!("{} nodes have the id {:?}", nodes.len(), drawing.id(nodes[0]));
        checker.report(message, &nodes, &[]);
    }
    Ok(())
}

/// Returns the id of an edge as a key.
pub(super) fn edge_key<'a>(drawing: &Drawing<'a>, edge: EdgeId) -> Option<Key<'a>> {
    drawing.edge_field(edge, Names::EdgeId).and_then(Key::from_value)
}

fn duplicate_edge_ids(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.edges().len() as u64)?;
    let drawing = checker.drawing;
    for edges in find_duplicates(checker.edges().filter_map(|edge| Some((edge, edge_key(drawing, edge)?)))) {
        let message = format!("{} edges have the id {:?}", edges.len(), drawing.edge_id(edges[0]));
        checker.report(message, &[], &edges);
    }
    Ok(())
}

fn mixed_ids(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let is_number = |node: &NodeId| checker.drawing.id(*node).as_f64().is_some();
    let numbers = checker.nodes().filter(is_number).count();
    let strings = checker.nodes().filter(|node| checker.drawing.id(*node).as_str().is_some()).count();
    if numbers > 0 && strings > 0 {
        let message = format!("{numbers} ids are numbers and {strings} are strings: 1 and \"1\" differ");
        checker.report(message, &[], &[]);
    }
    Ok(())
}

/// Returns the ends of an edge as written, whether or not they name nodes.
pub(super) fn written_ends<'a>(drawing: &Drawing<'a>, edge: EdgeId) -> Option<[Value<'a>; 2]> {
    let object = drawing.edge(edge).as_object()?;
    drawing.topology.config.endpoints().iter().find_map(|[from, to]| Some([object.get(from)?, object.get(to)?]))
}

fn dangling_edges(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.edges().len() as u64)?;
    for edge in checker.edges() {
        let ends = checker.drawing.topology.ends[edge as usize];
        let Some(written) = written_ends(checker.drawing, edge).filter(|_| ends.contains(&NONE)) else { continue };
        let known: Vec<NodeId> = ends.into_iter().filter(|end| *end != NONE).collect();
        checker.report(missing_nodes_message(checker.drawing, edge, written), &known, &[edge]);
    }
    Ok(())
}

/// Formats a value for a message, truncated.
pub(super) fn quoted(value: Value<'_>) -> String {
    format!("{value:?}").chars().take(80).collect()
}

pub(super) fn missing_nodes_message(drawing: &Drawing<'_>, edge: EdgeId, written: [Value<'_>; 2]) -> String {
    let missing = drawing.topology.ends[edge as usize].iter().zip(written).filter(|(end, _)| **end == NONE);
    let missing: Vec<String> = missing.map(|(_, value)| quoted(value)).collect();
    format!("no node has the id {}", missing.join(" or "))
}

pub(super) const MISSING_END: &str = "the edge has no source or no target";

fn edges_without_ends(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.edges().len() as u64)?;
    for edge in checker.edges() {
        let is_object = checker.drawing.edge(edge).as_object().is_some();
        if is_object && written_ends(checker.drawing, edge).is_none() {
            let ends = checker.drawing.topology.ends[edge as usize];
            let known: Vec<NodeId> = ends.into_iter().filter(|end| *end != NONE).collect();
            checker.report(MISSING_END, &known, &[edge]);
        }
    }
    Ok(())
}

fn self_loops(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.edges().len() as u64)?;
    let topology = &checker.drawing.topology;
    let loops: Vec<EdgeId> = topology
        .edges_of(EdgeFlags::FLOW)
        .filter(|edge| {
            let [from, to] = topology.ends[*edge as usize];
            from == to
        })
        .collect();
    for edge in loops {
        let node = checker.drawing.topology.ends[edge as usize][0];
        let message = format!("a pipe leads from {} to itself", checker.name(node));
        checker.report(message, &[node], &[edge]);
    }
    Ok(())
}

fn parallel_edges(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.edges().len() as u64)?;
    let topology = &checker.drawing.topology;
    let mut between: HashMap<[NodeId; 2], Vec<EdgeId>> = HashMap::new();
    for edge in topology.edges_of(EdgeFlags::FLOW) {
        between.entry(topology.flow_ends(edge)).or_default().push(edge);
    }
    let mut parallel: Vec<([NodeId; 2], Vec<EdgeId>)> =
        between.into_iter().filter(|(_, edges)| edges.len() > 1).collect();
    parallel.sort_unstable();
    for (ends, edges) in parallel {
        let message = format!("{} pipes lead from {} to {}", edges.len(), checker.name(ends[0]), checker.name(ends[1]));
        checker.report(message, &ends, &edges);
    }
    Ok(())
}

/// Returns containers and their parts, by part edges.
fn containment(drawing: &Drawing<'_>) -> Vec<(NodeId, NodeId, EdgeId)> {
    let topology = &drawing.topology;
    let parts = topology.edges_of(EdgeFlags::PART).map(|edge| (topology.ends[edge as usize], edge));
    parts.map(|([container, part], edge)| (container, part, edge)).collect()
}

/// Returns the parts defined only by a field: an edge takes precedence.
fn named_parents(drawing: &Drawing<'_>, known: &[(NodeId, NodeId, EdgeId)]) -> Vec<(NodeId, NodeId, EdgeId)> {
    let with_edge: HashSet<NodeId> = known.iter().map(|(_, part, _)| *part).collect();
    let nodes = (0..drawing.topology.node_count() as u32).filter(|node| !with_edge.contains(node));
    let parent = |node: NodeId| drawing.by_id(drawing.node_field(node, Names::Parent)?);
    nodes.filter_map(|node| Some((parent(node)?, node, NONE))).collect()
}

fn containment_cycles(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    for nodes in find_containment_cycles(checker.drawing, charge)? {
        checker.report(containment_message(checker.drawing, &nodes), &nodes, &[]);
    }
    Ok(())
}

/// Returns groups of nodes that contain each other or themselves.
pub(super) fn find_containment_cycles(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<Vec<NodeId>>> {
    let topology = &drawing.topology;
    charge(topology.node_count() as u64)?;
    let mut pairs = containment(drawing);
    pairs.extend(topology.memberships().map(|(group, member)| (group, member, NONE)));
    pairs.extend(named_parents(drawing, &pairs));
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let table = Adjacency::new(topology.node_count(), || pairs.iter().copied());
    let parts = strongly_connected(&table, charge)?;
    let mut sizes = vec![0_u32; parts.len()];
    parts.labels().iter().for_each(|part| sizes[*part as usize] += 1);
    let is_in_cycle = |part: u32, node: NodeId| sizes[part as usize] > 1 || table.nodes(node).contains(&node);
    let mut cycles: BTreeMap<u32, Vec<NodeId>> = BTreeMap::new();
    for (part, node) in parts.labels().iter().zip(0..).filter(|(part, node)| is_in_cycle(**part, *node)) {
        cycles.entry(*part).or_default().push(node);
    }
    Ok(cycles.into_values().collect())
}

pub(super) fn containment_message(drawing: &Drawing<'_>, nodes: &[NodeId]) -> String {
    let names: Vec<String> = nodes.iter().take(5).map(|node| drawing.name(*node)).collect();
    format!("these items contain each other: {}", names.join(", "))
}

fn several_parents(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let mut parents: HashMap<NodeId, Vec<(NodeId, EdgeId)>> = HashMap::new();
    for (container, part, edge) in containment(checker.drawing) {
        charge(1)?;
        parents.entry(part).or_default().push((container, edge));
    }
    let mut shared: Vec<(NodeId, Vec<(NodeId, EdgeId)>)> = parents
        .into_iter()
        .filter(|(_, containers)| containers.iter().any(|container| container.0 != containers[0].0))
        .collect();
    shared.sort_unstable();
    for (part, containers) in shared {
        let nodes: Vec<NodeId> = std::iter::once(part).chain(containers.iter().map(|container| container.0)).collect();
        let edges: Vec<EdgeId> = containers.iter().map(|container| container.1).collect();
        checker.report(format!("{} is part of {} items", checker.name(part), containers.len()), &nodes, &edges);
    }
    Ok(())
}

fn contradicting_parents(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    for (container, part, edge) in containment(checker.drawing) {
        charge(1)?;
        let field = checker.drawing.node_field(part, Names::Parent).and_then(|parent| checker.drawing.by_id(parent));
        if let Some(parent) = field.filter(|parent| *parent != container) {
            let [part_name, parent_name, container_name] = [part, parent, container].map(|node| checker.name(node));
            let message =
                format!("the parent field of {part_name} names {parent_name}, but an edge names {container_name}");
            checker.report(message, &[part, parent, container], &[edge]);
        }
    }
    Ok(())
}

/// Reports each unknown word once, with its count and first occurrence.
fn unknown_words(checker: &mut Checker<'_, '_>, subject: &str, words: Vec<(String, u32)>, count_nodes: bool) {
    let mut indices: HashMap<String, usize> = HashMap::new();
    let mut counts: Vec<(String, u32, usize)> = Vec::new();
    for (word, first) in words {
        let at = *indices.entry(word.clone()).or_insert(counts.len());
        match counts.get_mut(at) {
            Some((_, _, count)) => *count += 1,
            None => counts.push((word, first, 1)),
        }
    }
    for (word, first, count) in counts {
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        let message = format!("{subject} `{word}` is unknown{times}");
        let (nodes, edges) = if count_nodes { (vec![first], vec![]) } else { (vec![], vec![first]) };
        checker.report(message, &nodes, &edges);
    }
}

fn unknown_node_types(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    const ACCEPTED_TYPES: &[&str] = &["pid_component", "annotation"];
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    let types = [Names::LineType, Names::SegmentType, Names::LoopType];
    let is_known = |word: &str| {
        ACCEPTED_TYPES.contains(&word)
            || vocabulary::contains(vocabulary::GROUP_TYPES, word)
            || types.iter().any(|names| drawing.topology.config.contains(*names, word))
    };
    let words = checker.nodes().filter_map(|node| Some((drawing.node_field(node, Names::NodeType)?.as_str()?, node)));
    let unknown = words.filter(|(word, node)| !is_known(word) && drawing.topology.roles[*node as usize] == Role::None);
    let unknown = unknown.map(|(word, node)| (word.to_owned(), node)).collect();
    unknown_words(checker, "the node type", unknown, true);
    Ok(())
}

fn unknown_edge_types(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.edges().len() as u64)?;
    let drawing = checker.drawing;
    let unknown =
        checker.edges().filter(|edge| drawing.topology.edge_flags[*edge as usize].contains(EdgeFlags::UNKNOWN));
    let kind =
        |edge: EdgeId| drawing.edge_field(edge, Names::EdgeKind).and_then(Value::as_str).unwrap_or("").to_owned();
    let unknown = unknown.map(|edge| (kind(edge), edge)).collect();
    unknown_words(checker, "the edge type", unknown, false);
    Ok(())
}

fn unknown_classes(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    let is_unknown = |node: &NodeId| {
        drawing.topology.roles[*node as usize] == Role::None
            && is_component(drawing, *node)
            && drawing.passage(*node).is_none()
    };
    let unknown = checker.nodes().filter(is_unknown).filter_map(|node| Some((drawing.class(node)?.to_owned(), node)));
    let unknown = unknown.collect();
    unknown_words(checker, "the class", unknown, true);
    Ok(())
}

fn missing_metadata(checker: &mut Checker<'_, '_>, _: ChargeFn<'_>) -> Result<()> {
    let object = checker.drawing.metadata.as_object();
    let is_missing = |key: &&str| object.and_then(|object| object.get(key)).is_none_or(Value::is_null);
    let missing: Vec<&str> =
        ["drawing_name", "job_id", "schema_version", "change_version"].into_iter().filter(is_missing).collect();
    if !missing.is_empty() {
        checker.report(format!("the metadata lacks {}", missing.join(", ")), &[], &[]);
    }
    Ok(())
}

/// A version consists of digits and dots: `1`, `1.2`, `1.2.0`.
fn bad_version(checker: &mut Checker<'_, '_>, _: ChargeFn<'_>) -> Result<()> {
    let stored = checker.drawing.metadata.as_object().and_then(|object| object.get("schema_version"));
    let Some(version) = stored.filter(|version| !version.is_null()) else { return Ok(()) };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_valid = version.as_str().is_some_and(|text| text.split('.').count() <= 3 && text.split('.').all(is_number));
    if !is_valid {
        checker.report(format!("{} is not a schema version such as \"1.2.0\"", quoted(version)), &[], &[]);
    }
    Ok(())
}

fn non_terminating(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    for node in checker.nodes() {
        if let Some(kind) = open_end(checker.drawing, node) {
            let message = format!("a line has an open end at {} ({kind})", checker.name(node));
            let edges = checker.drawing.topology.table(EdgeFilter::Flow, Direction::Both).edges(node).to_vec();
            checker.report(message, &[node], &edges);
        }
    }
    open_segments(checker, charge)
}

/// Reports segments with a missing end, if the drawing names ends of segments.
fn open_segments(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let drawing = checker.drawing;
    let mut missing = MissingEnds::default();
    for segment in checker.nodes().filter(|node| drawing.has_type(*node, Names::SegmentType)) {
        let missing_ends = match missing.missing_sides(drawing, segment, charge)? {
            [true, true] => "neither a start nor an end",
            [true, false] => "no start",
            [false, true] => "no end",
            [false, false] => continue,
        };
        let known: Vec<EdgeId> = segments::ends(drawing, segment, charge)?.map(|(_, edge)| edge).collect();
        checker.report(format!("the segment {} has {missing_ends}", checker.name(segment)), &[segment], &known);
    }
    Ok(())
}

/// Reports nodes where all pipes lead in, or all lead out.
fn direction_conflicts(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    for node in checker.nodes() {
        charge(1)?;
        let topology = &checker.drawing.topology;
        let degree = |dir: Direction| topology.table(EdgeFilter::Flow, dir).degree(node);
        let (outgoing, incoming, total) = (degree(Direction::Down), degree(Direction::Up), topology.flow_degree(node));
        let is_through =
            !topology.is_equipment(node) && !matches!(topology.roles[node as usize], Role::OffPage | Role::OpenEnd);
        let word = match (outgoing, incoming) {
            (0, _) if total > 1 => "into",
            (_, 0) if total > 1 => "out of",
            _ => continue,
        };
        if is_through {
            let edges = topology.table(EdgeFilter::Flow, Direction::Both).edges(node).to_vec();
            checker.report(format!("all {total} pipes lead {word} {}", checker.name(node)), &[node], &edges);
        }
    }
    Ok(())
}

fn unmatched_connectors(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    let is_off_page = |node: &NodeId| {
        let class = drawing.class(*node).map(snake_case).unwrap_or_default();
        drawing.topology.roles[*node as usize] == Role::OffPage && !class.contains("outlet") && !class.contains("inlet")
    };
    let is_matched = |node: NodeId| {
        let has_field = |names: Names| drawing.cross_page(node, names).is_some();
        has_field(Names::CrossPagePartner)
            || has_field(Names::CrossPageDrawing) && has_field(Names::CrossPageLabel)
            || drawing.topology.flow_degree(node) > 1
    };
    let unmatched: Vec<NodeId> = checker.nodes().filter(is_off_page).filter(|node| !is_matched(*node)).collect();
    for node in unmatched {
        checker.report(format!("{} does not define its continuation", checker.name(node)), &[node], &[]);
    }
    Ok(())
}

/// Reports the joints of joined sheets whose pipes differ.
fn joints_of_different_pipes(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let drawing = checker.drawing;
    charge(drawing.topology.edge_count() as u64)?;
    let is_joint = |edge: &EdgeId| drawing.topology.is_joint(*edge);
    let joint_edges: Vec<EdgeId> = drawing.topology.edges_of(EdgeFlags::FLOW).filter(is_joint).collect();
    for edge in joint_edges {
        let ends = drawing.topology.flow_ends(edge);
        let from = joints::values(drawing, ends[0], charge)?;
        let to = joints::values(drawing, ends[1], charge)?;
        for difference in joints::differences(&from, &to) {
            let names = ends.map(|end| checker.name(end));
            let [from, to] = difference.values;
            let message =
                format!("{} and {} are joined, but {} is {from} and {to}", names[0], names[1], difference.property);
            checker.report(message, &ends, &[edge]);
        }
    }
    Ok(())
}

/// Reports the connectors of joined sheets that name one of the sheets, which lacks their partner.
fn missing_partner_connectors(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let drawing = checker.drawing;
    let report = drawing.metadata.as_object().and_then(|metadata| metadata.get(join::REPORT)?.as_object());
    let rows = report.and_then(|report| report.get(join::MISSING_PARTNERS)?.as_array());
    for row in rows.into_iter().flat_map(|rows| rows.iter()).filter_map(Value::as_object) {
        charge(1)?;
        let text = |key: &str| row.get(key).map(convert::to_text).unwrap_or_default();
        let Some(node) = row.get("id").and_then(|id| drawing.by_id(id)) else { continue };
        let message = format!("{} names the sheet {}, which lacks its partner", checker.name(node), text("sheet"));
        checker.report(message, &[node], &[]);
    }
    Ok(())
}

fn missing_tags(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    let needs_tag = |node: &NodeId| {
        matches!(
            drawing.topology.roles[*node as usize],
            Role::Equipment | Role::Instrument | Role::Control | Role::Relief
        )
    };
    let untagged: Vec<NodeId> = checker.nodes().filter(needs_tag).filter(|node| drawing.tag(*node).is_none()).collect();
    for node in untagged {
        let message = format!("{} has no tag", drawing.class(node).unwrap_or("an item"));
        checker.report(message, &[node], &[]);
    }
    Ok(())
}

/// Returns the category within which tags are unique. Nozzles repeat theirs on purpose, an off-page connector has the
/// tag of its line, and tees and reducers are named after their type.
fn tag_category(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    if drawing.topology.owner(node).is_some() {
        return None;
    }
    match drawing.topology.roles[node as usize] {
        Role::Equipment => Some("equipment"),
        Role::Instrument => Some("instrument"),
        Role::Port | Role::OffPage | Role::OpenEnd | Role::Junction | Role::SizeBreak => None,
        Role::None if !drawing.is_piping(node) => None,
        _ => Some("piping"),
    }
}

/// Reports tags that occur more than once within a category.
fn duplicate_tags(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    // Valves numbered within their line have tags that are unique together with its name.
    let qualified_tag = |node: NodeId| drawing.node_field(node, Names::QualifiedTag).and_then(Value::as_str);
    let mut indices: HashMap<[&str; 3], Vec<NodeId>> = HashMap::new();
    for node in checker.nodes() {
        if let (Some(tag), Some(category)) = (drawing.tag(node), tag_category(drawing, node)) {
            indices.entry([tag, category, qualified_tag(node).unwrap_or("")]).or_default().push(node);
        }
    }
    let mut duplicates: Vec<Vec<NodeId>> = indices.into_values().filter(|nodes| nodes.len() > 1).collect();
    duplicates.sort_unstable();
    for nodes in duplicates {
        if !are_same_item(drawing, &nodes, charge)? {
            let message = format!("{} items have the tag {}", nodes.len(), drawing.tag(nodes[0]).unwrap_or(""));
            checker.report(message, &nodes, &[]);
        }
    }
    Ok(())
}

/// Returns whether nodes are parts of one item, connected by anything but pipes: an actuator has the tag of its
/// function.
fn are_same_item(drawing: &Drawing<'_>, nodes: &[NodeId], charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    let mut remaining: HashSet<NodeId> = nodes.iter().copied().collect();
    remaining.remove(&nodes[0]);
    let mut stack = vec![nodes[0]];
    while let Some(node) = stack.pop() {
        let arcs = topology.table(EdgeFilter::All, Direction::Both).arcs(node);
        let parts = topology.field_members(node);
        charge(1 + (arcs.len() + parts.len()) as u64)?;
        let connected = arcs
            .filter(|(_, edge)| !topology.edge_flags[*edge as usize].contains(EdgeFlags::FLOW))
            .map(|(other, _)| other);
        let grouped = topology.field_group(node).into_iter().chain(parts.iter().copied());
        stack.extend(connected.chain(grouped).filter(|other| remaining.remove(other)));
    }
    Ok(remaining.is_empty())
}

fn without_fail_action(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    for node in checker.nodes().collect::<Vec<_>>() {
        let is_actuated = match drawing.topology.roles[node as usize] {
            Role::Control => true,
            Role::Barrier => is_actuated(drawing, node, charge)?,
            _ => false,
        };
        if is_actuated && fail_action::stated(drawing, node, charge)?.is_none() {
            checker.report(format!("{} has no fail action", checker.name(node)), &[node], &[]);
        }
    }
    Ok(())
}

/// Visitor that ends branches at selected nodes.
struct StopVisitor<'p, 't> {
    charge: ChargeFn<'p>,
    ends: &'t dyn Fn(NodeId) -> bool,
}

impl Visitor for StopVisitor<'_, '_> {
    fn charge(&mut self, units: u64) -> Result<()> {
        (self.charge)(units)
    }

    fn ends_at(&mut self, node: NodeId) -> Result<bool> {
        Ok((self.ends)(node))
    }
}

/// Returns the pipes from the start of a walk to one of its steps.
fn edges_to(steps: &[walk::Step], end: &walk::Step) -> Vec<EdgeId> {
    let mut path = Vec::new();
    let mut step = Some(end);
    while let Some(current) = step {
        path.extend(Some(current.via).filter(|edge| *edge != NONE));
        step = steps.get(current.from as usize);
    }
    path.reverse();
    path
}

/// Returns whether a path ends at an item only because the drawing ends: at the edge of the sheet, or at a missing
/// pipe. A valve with nothing behind it is a drain or a vent.
fn leaves_drawing(
    drawing: &Drawing<'_>,
    missing: &mut MissingEnds,
    node: NodeId,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let (degree, role) = (drawing.topology.flow_degree(node), drawing.topology.roles[node as usize]);
    if degree > 1 || role == Role::OffPage || role.closes() {
        return Ok(drawing.topology.is_sheet_end(node));
    }
    Ok(degree < expected_pipe_count(drawing, node) || missing.ends_at_missing_side(drawing, node, charge)?)
}

/// Returns the first step after the start at which a path leaves the drawing.
fn first_exit<'s>(
    drawing: &Drawing<'_>,
    missing: &mut MissingEnds,
    steps: &'s [walk::Step],
    charge: ChargeFn<'_>,
) -> Result<Option<&'s walk::Step>> {
    for step in steps.iter().filter(|step| step.depth > 0) {
        charge(1)?;
        if leaves_drawing(drawing, missing, step.node, charge)? {
            return Ok(Some(step));
        }
    }
    Ok(None)
}

/// Reports pumps from which the flow reaches other equipment without a check valve. If it leaves the drawing first, the
/// finding is not certain.
fn pumps_without_check(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let drawing = checker.drawing;
    let topology = &drawing.topology;
    let walk_options =
        WalkOptions { edges: EdgeFilter::Flow, dir: Direction::Down, pass: EquipmentPolicy::None, depth: 200 };
    let is_pump = |node: &NodeId| {
        topology.roles[*node as usize] == Role::Equipment
            && drawing.class(*node).is_some_and(|class| snake_case(class).contains("pump"))
    };
    let ends = |node: NodeId| topology.roles[node as usize] == Role::OneWay;
    let (mut scratch, mut missing) = (WalkScratch::default(), MissingEnds::default());
    for pump in checker.nodes().filter(is_pump) {
        let start = [pump];
        let starts = walk::starts(topology, &walk_options, &start);
        let steps =
            walk::walk(topology, &mut scratch, &starts, &walk_options, &mut StopVisitor { charge, ends: &ends })?;
        let arrival = steps.iter().find(|step| step.depth > 0 && topology.is_equipment(step.node));
        let is_certain = arrival.is_some();
        let Some(end) = (if is_certain { arrival } else { first_exit(drawing, &mut missing, &steps, charge)? }) else {
            continue;
        };
        let [pump_name, end_name] = [pump, end.node].map(|node| checker.name(node));
        let message = if is_certain {
            format!("no check valve between {pump_name} and {end_name}")
        } else {
            format!("no check valve between {pump_name} and {end_name}, and the drawing does not show what follows")
        };
        charge(u64::from(end.depth))?;
        checker.report_finding(is_certain, message, &[pump, end.node], &edges_to(&steps, end));
    }
    Ok(())
}

fn dead_legs(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let drawing = checker.drawing;
    let mut missing = MissingEnds::default();
    for DeadEnd { at, items, class } in dead_ends(drawing, charge)? {
        let place = if at == NONE { String::new() } else { format!(" at {}", checker.name(at)) };
        let end = items.last().copied().unwrap_or(at);
        let path = pipes_between(drawing, at, &items, charge)?;
        let count = if items.len() == 1 { "1 item".to_owned() } else { format!("{} items", items.len()) };
        if leaves_drawing(drawing, &mut missing, end, charge)? {
            let end = checker.name(end);
            let message =
                format!("a branch of {count}{place} ({class}), and the drawing does not show what follows {end}");
            checker.report_finding(false, message, &items, &path);
        } else {
            checker.report(format!("a dead end of {count}{place} ({class})"), &items, &path);
        }
    }
    Ok(())
}

/// Returns the pipes of a branch from its start to its end. Iterates over its items, which have at most two pipes each.
fn pipes_between(drawing: &Drawing<'_>, at: NodeId, items: &[NodeId], charge: ChargeFn<'_>) -> Result<Vec<EdgeId>> {
    let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    let mut pipes = Vec::with_capacity(items.len());
    let mut before = at;
    for item in items {
        charge(1 + table.degree(*item) as u64)?;
        pipes.extend(table.arcs(*item).find(|(other, _)| *other == before).map(|(_, edge)| edge));
        before = *item;
    }
    Ok(pipes)
}

/// Returns whether a filter matches a rule.
pub(crate) fn is_rule_filter(text: &str) -> bool {
    !text.is_empty() && RULES.iter().any(|rule| rule.code.starts_with(text) || rule.name == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_codes_are_unique_and_sorted() {
        let codes: Vec<&str> = RULES.iter().map(|rule| rule.code).collect();
        assert!(codes.is_sorted());
        assert_eq!(codes.iter().collect::<HashSet<_>>().len(), codes.len());
    }
}

//! Checks of the nodes, edges, ids and metadata of a graph.

use hashbrown::HashMap;

use super::Checker;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::index::Key;
use crate::graph::topology::EdgeFlags;
use crate::pid::ChargeFn;
use crate::value::Value;

pub(super) fn no_edges(checker: &mut Checker<'_, '_>, _: ChargeFn<'_>) -> Result<()> {
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

pub(super) fn nodes_without_id(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
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

pub(super) fn duplicate_node_ids(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    for nodes in find_duplicates(checker.nodes().filter_map(|node| Some((node, Key::from_value(drawing.id(node))?)))) {
        let message = format!("{} nodes have the id {:?}", nodes.len(), drawing.id(nodes[0]));
        checker.report(message, &nodes, &[]);
    }
    Ok(())
}

/// Returns the id of an edge as a key.
pub(in crate::pid) fn edge_key<'a>(drawing: &Drawing<'a>, edge: EdgeId) -> Option<Key<'a>> {
    drawing.edge_field(edge, Names::EdgeId).and_then(Key::from_value)
}

pub(super) fn duplicate_edge_ids(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.edges().len() as u64)?;
    let drawing = checker.drawing;
    for edges in find_duplicates(checker.edges().filter_map(|edge| Some((edge, edge_key(drawing, edge)?)))) {
        let message = format!("{} edges have the id {:?}", edges.len(), drawing.edge_id(edges[0]));
        checker.report(message, &[], &edges);
    }
    Ok(())
}

pub(super) fn mixed_ids(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
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
pub(in crate::pid) fn written_ends<'a>(drawing: &Drawing<'a>, edge: EdgeId) -> Option<[Value<'a>; 2]> {
    let object = drawing.edge(edge).as_object()?;
    drawing.topology.config.endpoints().iter().find_map(|[from, to]| Some([object.get(from)?, object.get(to)?]))
}

pub(super) fn dangling_edges(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
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
pub(in crate::pid) fn quoted(value: Value<'_>) -> String {
    format!("{value:?}").chars().take(80).collect()
}

pub(in crate::pid) fn missing_nodes_message(drawing: &Drawing<'_>, edge: EdgeId, written: [Value<'_>; 2]) -> String {
    let missing = drawing.topology.ends[edge as usize].iter().zip(written).filter(|(end, _)| **end == NONE);
    let missing: Vec<String> = missing.map(|(_, value)| quoted(value)).collect();
    format!("no node has the id {}", missing.join(" or "))
}

pub(in crate::pid) const MISSING_END: &str = "the edge has no source or no target";

pub(super) fn edges_without_ends(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
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

pub(super) fn self_loops(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
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

pub(super) fn parallel_edges(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
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

pub(super) fn missing_metadata(checker: &mut Checker<'_, '_>, _: ChargeFn<'_>) -> Result<()> {
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
pub(super) fn bad_version(checker: &mut Checker<'_, '_>, _: ChargeFn<'_>) -> Result<()> {
    let stored = checker.drawing.metadata.as_object().and_then(|object| object.get("schema_version"));
    let Some(version) = stored.filter(|version| !version.is_null()) else { return Ok(()) };
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let is_valid = version.as_str().is_some_and(|text| text.split('.').count() <= 3 && text.split('.').all(is_number));
    if !is_valid {
        checker.report(format!("{} is not a schema version such as \"1.2.0\"", quoted(version)), &[], &[]);
    }
    Ok(())
}

pub(super) fn non_objects(checker: &mut Checker<'_, '_>, count_nodes: bool) -> Result<()> {
    let list = if count_nodes { checker.drawing.nodes } else { checker.drawing.edges };
    for (at, item) in list.iter().enumerate().filter(|(_, item)| item.as_object().is_none()) {
        let message = format!("item {at} is {}, not an object", item.type_name());
        checker.report(message, &[], &[]);
    }
    Ok(())
}

//! Checks of what contains what.

use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;

use super::Checker;
use crate::error::Result;
use crate::graph::adjacency::{Adjacency, EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::connectivity::strongly_connected;
use crate::graph::drawing::Drawing;
use crate::graph::topology::EdgeFlags;
use crate::pid::ChargeFn;

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

pub(super) fn containment_cycles(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    for nodes in find_containment_cycles(checker.drawing, charge)? {
        checker.report(containment_message(checker.drawing, &nodes), &nodes, &[]);
    }
    Ok(())
}

/// Returns groups of nodes that contain each other or themselves.
pub(in crate::pid) fn find_containment_cycles(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<Vec<NodeId>>> {
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

pub(in crate::pid) fn containment_message(drawing: &Drawing<'_>, nodes: &[NodeId]) -> String {
    let names: Vec<String> = nodes.iter().take(5).map(|node| drawing.name(*node)).collect();
    format!("these items contain each other: {}", names.join(", "))
}

pub(super) fn several_parents(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
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

pub(super) fn contradicting_parents(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
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

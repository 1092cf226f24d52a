//! Edges of unknown kind that may be pipes: those that lead to an item of pipes or to equipment.

use hashbrown::HashSet;

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::instrument_class::{acts_by_class, is_sensor_by_class};

/// Returns the edges of unknown kind from a node to items outside of a volume.
pub(crate) fn unknown_connections(
    drawing: &Drawing<'_>,
    node: NodeId,
    inside: &HashSet<NodeId>,
    charge: ChargeFn<'_>,
) -> Result<Vec<EdgeId>> {
    let mut found = Vec::new();
    for (other, edge) in unknown_arcs(drawing, node, charge)? {
        if !inside.contains(&other) && leads_to_item(drawing, [node, other], inside, charge)? {
            found.push(edge);
        }
    }
    Ok(found)
}

fn unknown_arcs(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<(NodeId, EdgeId)>> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Both);
    charge(1 + table.degree(node) as u64)?;
    let is_unknown = |edge: EdgeId| topology.edge_flags[edge as usize].contains(EdgeFlags::UNKNOWN);
    Ok(table.arcs(node).filter(|(_, edge)| is_unknown(*edge)).collect())
}

/// Returns whether an edge of unknown kind leads to an item of pipes or to equipment, past instruments and items of
/// unknown class with two such edges. What has one or many is a note or a group, unless its class is that of a piping item. Back
/// at the volume, as by the second tap of a level gauge, nothing leads out of it.
fn leads_to_item(
    drawing: &Drawing<'_>,
    [from, to]: [NodeId; 2],
    inside: &HashSet<NodeId>,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    const MAX_STEPS: usize = 20;
    let (mut before, mut node) = (from, to);
    for _ in 0..MAX_STEPS {
        if is_item(drawing, node) {
            return Ok(!inside.contains(&node));
        }
        if measures_beside_pipe(drawing, node) {
            return Ok(false);
        }
        if !matches!(drawing.topology.roles[node as usize], Role::None | Role::Instrument) || is_group(drawing, node) {
            return Ok(false);
        }
        let arcs = unknown_arcs(drawing, node, charge)?;
        let mut next = arcs.iter().map(|(next, _)| *next).filter(|next| *next != before);
        match (next.next(), next.next()) {
            (Some(only), None) => (before, node) = (node, only),
            _ => return Ok(false),
        }
    }
    Ok(true)
}

/// Returns whether a node is in a pipe, or could be: what measures is connected by other edges too, and what moves a valve.
fn is_item(drawing: &Drawing<'_>, node: NodeId) -> bool {
    if acts_by_class(drawing, node) {
        return false;
    }
    let topology = &drawing.topology;
    let is_passed = || drawing.class_texts(node).any(|class| topology.config.passage_of(class).is_some());
    topology.flow_degree(node) > 0
        || topology.owner(node).is_some()
        || match topology.roles[node as usize] {
            Role::Instrument => false,
            Role::None => !is_group(drawing, node) && (is_passed() || drawing.is_piping(node)),
            // The shaft of a drive without pipes.
            Role::Equipment => {
                !drawing.class_has_word(node, vocabulary::PRIME_MOVERS)
                    || topology.ports.nodes(node).iter().any(|port| topology.flow_degree(*port) > 0)
            }
            _ => true,
        }
}

/// Returns whether an item is the sensor or the transmitter of a level, a pressure or a temperature by its class, without a
/// pipe: several impulse lines may lead to it, and nothing flows through it.
fn measures_beside_pipe(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    topology.roles[node as usize] == Role::Instrument
        && topology.flow_degree(node) == 0
        && drawing.class_has_word(node, vocabulary::STATIC_VARIABLES)
        && is_sensor_by_class(drawing, node)
        && !drawing.class_has(node, vocabulary::FLOW_INSTRUMENTS)
}

fn is_group(drawing: &Drawing<'_>, node: NodeId) -> bool {
    [Names::LineType, Names::SegmentType, Names::LoopType].iter().any(|types| drawing.has_type(node, *types))
}

//! Connections of an item that the checks judge: whether it lacks one, and whether its pipes may differ in size.

use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::dead_ends::{has_instrument, is_covered};
use crate::pid::lists::{EdgeField, edge_value, is_property_break};
use crate::pid::quantity::nominal_size;

/// Returns whether a branch leaves a header of one size at an item such as a tee: a smaller one needs no reducer, and the
/// class of the tee seldom says that it reduces.
pub(super) fn is_branch_of_header(drawing: &Drawing<'_>, node: NodeId, edges: &[EdgeId]) -> bool {
    let field = EdgeField::Named(Names::Size);
    // Sizes in inches are texts.
    let size = |edge: &EdgeId| {
        let size = edge_value(drawing, *edge, &field)?;
        size.as_f64().or_else(|| size.as_str().and_then(nominal_size::dn))
    };
    let Some(sizes) = edges.iter().map(size).collect::<Option<Vec<f64>>>() else { return false };
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let is_through = sizes.iter().filter(|size| **size == largest).count() > 1;
    sizes.len() > 2 && is_through && !drawing.topology.roles[node as usize].closes()
}

/// Returns whether a component that needs a pipe has none, or a nozzle has neither pipe nor instrument.
pub(super) fn is_unconnected(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let role = topology.roles[node as usize];
    let ports = topology.ports.nodes(node);
    if topology.flow_degree(node) > 0 || ports.iter().any(|port| topology.flow_degree(*port) > 0) {
        return false;
    }
    if topology.owner(node).is_some() || role == Role::Port {
        return !is_covered(drawing, node) && !has_instrument(drawing, node);
    }
    match role {
        Role::Instrument => false,
        Role::None if topology.item_of_port(node).is_some() => false,
        // A pilot valve, the motor of a pump and a connector of signals have signals and shafts.
        Role::Control if drawing.class_has(node, vocabulary::SOLENOIDS) => !has_other_edge(drawing, node),
        Role::Equipment if drawing.class_has_word(node, vocabulary::PRIME_MOVERS) => !has_other_edge(drawing, node),
        Role::OffPage => !has_other_edge(drawing, node),
        // Chambers, notes and signal ends have no pipes either, and a property break may be a mark next to one.
        Role::None => drawing.is_piping(node) && !is_property_break(drawing, node),
        _ => true,
    }
}

/// Returns whether an item has a signal or a shaft: an edge that is neither a pipe nor one of parts or groups.
fn has_other_edge(drawing: &Drawing<'_>, node: NodeId) -> bool {
    const STRUCTURE: [EdgeFlags; 5] =
        [EdgeFlags::FLOW, EdgeFlags::PART, EdgeFlags::MEMBER, EdgeFlags::MEMBER_REVERSED, EdgeFlags::ZONE];
    let topology = &drawing.topology;
    let is_other = |edge: &EdgeId| STRUCTURE.iter().all(|flag| !topology.edge_flags[*edge as usize].contains(*flag));
    topology.table(EdgeFilter::All, Direction::Both).edges(node).iter().any(is_other)
}

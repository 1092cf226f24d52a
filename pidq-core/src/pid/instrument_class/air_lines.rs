//! Air lines: pipes from a solenoid valve or a converter to the actuator of a valve, which carry the signal on.
//!
//! Drawings show the air to an actuator as a signal or as a pipe. A pipe that ends at an actuator is one.

use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::instrument_class::{self, LoopFunction};

/// Limit of the items of an air line. It makes a search as cheap as reading an item, so that callers charge for that.
const MAX_ITEMS: usize = 16;

/// Returns the actuators that pipes lead to from a solenoid valve or from an instrument that acts, each with its pipe.
pub(crate) fn actuators(drawing: &Drawing<'_>, node: NodeId) -> Vec<(NodeId, EdgeId)> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Down);
    let mut found: Vec<(NodeId, EdgeId)> = Vec::new();
    if table.degree(node) == 0 || !is_source(drawing, node) {
        return found;
    }
    let mut items = vec![node];
    let mut at = 0;
    while let Some(item) = items.get(at).copied() {
        at += 1;
        for (next, edge) in table.arcs(item).take(MAX_ITEMS) {
            if items.contains(&next) || found.iter().any(|(actuator, _)| *actuator == next) {
                continue;
            }
            if instrument_class::acts_by_class(drawing, next) {
                found.push((next, edge));
            } else if items.len() < MAX_ITEMS && passes_air(drawing, next) {
                items.push(next);
            }
        }
    }
    found
}

/// Returns the valve that a pipe of a solenoid valve leads to, and the pipe, if it may be the air of its actuator: the
/// valve has more pipes than those of its line.
pub(crate) fn possible_valve(drawing: &Drawing<'_>, node: NodeId) -> Option<(NodeId, EdgeId)> {
    let topology = &drawing.topology;
    let is_moved = |other: NodeId| topology.roles[other as usize] == Role::Control && topology.flow_degree(other) > 2;
    let mut arcs = topology.table(EdgeFilter::Flow, Direction::Down).arcs(node).take(MAX_ITEMS);
    let is_solenoid = topology.roles[node as usize].closes() && drawing.class_has(node, vocabulary::SOLENOIDS);
    arcs.find(|(other, _)| is_solenoid && is_moved(*other) && !drawing.class_has(*other, vocabulary::SOLENOIDS))
}

/// Returns whether an item with pipes is a part of an air line: an actuator, or what feeds one.
pub(crate) fn is_part(drawing: &Drawing<'_>, node: NodeId) -> bool {
    instrument_class::acts_by_class(drawing, node) || !actuators(drawing, node).is_empty()
}

fn is_source(drawing: &Drawing<'_>, node: NodeId) -> bool {
    match drawing.topology.roles[node as usize] {
        Role::Instrument => instrument_class::loop_function(drawing, node) == LoopFunction::Acts,
        role => role.closes() && drawing.class_has(node, vocabulary::SOLENOIDS),
    }
}

/// Returns whether air passes an item on the way to an actuator: a fitting, an accessory, a hand valve or another solenoid
/// valve, but no instrument, equipment or end of a pipe.
pub(crate) fn passes_air(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_accessory =
        || [vocabulary::SOLENOIDS, vocabulary::AIR_ACCESSORIES].iter().any(|words| drawing.class_has(node, words));
    let is_fitting = match topology.roles[node as usize] {
        Role::Junction | Role::None | Role::OneWay | Role::SizeBreak | Role::Barrier => true,
        Role::Control | Role::MultiWay => is_accessory(),
        _ => false,
    };
    is_fitting && !topology.is_equipment(node)
}

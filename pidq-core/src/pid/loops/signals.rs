//! Signals and parts along which loops are followed.

use hashbrown::HashSet;

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::instrument_class::{self, air_lines};

/// Limit of the signals from a function to a final element: converter, relay, solenoid, positioner, actuator.
pub(crate) const MAX_STEPS: u32 = 6;

/// Returns whether an edge may lead to what an instrument acts on. A sensor does not act on its location.
fn is_action(flags: EdgeFlags) -> bool {
    let followed = [EdgeFlags::SIGNAL, EdgeFlags::ACTUATES, EdgeFlags::PART, EdgeFlags::MEMBER];
    followed.into_iter().any(|flag| flags.contains(flag)) && !flags.contains(EdgeFlags::ZONE)
}

/// Returns the nodes that the signals of a node lead to, and its parts.
pub(crate) fn successors(
    drawing: &Drawing<'_>,
    node: NodeId,
    charge: ChargeFn<'_>,
) -> Result<Vec<(NodeId, EdgeFlags)>> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Down);
    let parts = topology.field_members(node);
    charge(1 + (table.degree(node) + parts.len()) as u64)?;
    let by_edge = table.arcs(node).map(|(next, edge)| (next, topology.edge_flags[edge as usize]));
    let by_field = parts.iter().map(|next| (*next, EdgeFlags::MEMBER));
    let by_air = air_lines::actuators(drawing, node).into_iter().map(|(next, _)| (next, EdgeFlags::SIGNAL));
    Ok(by_edge.chain(by_field).chain(by_air).filter(|(next, flags)| *next != node && is_action(*flags)).collect())
}

/// Returns the role of a node in a loop: a solenoid valve in the air to an actuator, without another pipe, is an
/// instrument.
pub(crate) fn role(drawing: &Drawing<'_>, node: NodeId) -> Role {
    let topology = &drawing.topology;
    let role = topology.roles[node as usize];
    let has_no_line = || topology.flow_degree(node) == 0 || !air_lines::actuators(drawing, node).is_empty();
    let is_pilot = || drawing.class_has(node, vocabulary::SOLENOIDS) && has_no_line();
    if role == Role::Control && is_pilot() { Role::Instrument } else { role }
}

/// Returns whether a node is what a loop may act on: it closes a line, or it is equipment with a drive.
pub(crate) fn is_target(drawing: &Drawing<'_>, node: NodeId) -> bool {
    role(drawing, node).closes() || instrument_class::is_driven(drawing, node)
}

/// Returns the instruments and targets that the signals of an instrument lead to. The walk passes the instruments for
/// which `passes` holds.
pub(super) fn reached(
    drawing: &Drawing<'_>,
    start: NodeId,
    passes: &dyn Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<Vec<NodeId>> {
    let mut seen: HashSet<NodeId> = [start].into_iter().collect();
    let mut found = Vec::new();
    let mut queue = vec![(start, 0)];
    let mut at = 0;
    while let Some((node, depth)) = queue.get(at).copied() {
        at += 1;
        for (next, flags) in successors(drawing, node, charge)? {
            let is_instrument = role(drawing, next) == Role::Instrument;
            let is_known = is_instrument || is_target(drawing, next);
            if !is_known || !leads_on(drawing, node, next, flags) || !seen.insert(next) {
                continue;
            }
            found.push(next);
            if is_instrument && depth + 1 < MAX_STEPS && passes(next) {
                queue.push((next, depth + 1));
            }
        }
    }
    Ok(found)
}

/// Returns whether a signal leads from one node to another: not to a sensor from anything but a sensor, and without a
/// direction only toward the final element.
fn leads_on(drawing: &Drawing<'_>, from: NodeId, to: NodeId, flags: EdgeFlags) -> bool {
    if role(drawing, to) != Role::Instrument {
        return true;
    }
    let [from, to] = [from, to].map(|node| instrument_class::stage(drawing, node));
    match flags.contains(EdgeFlags::UNDIRECTED) {
        true => from < to,
        false => from == instrument_class::Stage::Sensor || to != instrument_class::Stage::Sensor,
    }
}

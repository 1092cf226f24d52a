//! Signals and parts along which loops are followed.

use hashbrown::HashSet;

use super::interlock_symbols;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::instrument_class::{self, LoopFunction, air_lines};

/// Limit of the signals from a function to a final element: converter, relay, solenoid, positioner, actuator.
pub(crate) const MAX_STEPS: u32 = 6;

/// Returns whether an edge may lead to what an instrument acts on. A sensor does not act on its location.
fn is_action(flags: EdgeFlags) -> bool {
    let followed = [EdgeFlags::SIGNAL, EdgeFlags::ACTUATES, EdgeFlags::PART, EdgeFlags::MEMBER];
    followed.into_iter().any(|flag| flags.contains(flag)) && !flags.contains(EdgeFlags::ZONE)
}

/// Returns the nodes that the signals of a node lead to, its parts, the valve that an actuator is a part of, and the other symbols
/// of an interlock.
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
    let moved = moved_valves(drawing, node, charge)?.into_iter().map(|(valve, _)| (valve, EdgeFlags::ACTUATES));
    let actuated = actuated_items(drawing, node, charge)?.into_iter().map(|(item, _)| (item, EdgeFlags::SIGNAL));
    let symbols = interlock_symbols::others(drawing, node, charge)?.into_iter();
    Ok(by_edge
        .chain(by_field)
        .chain(by_air)
        .chain(moved)
        .chain(actuated)
        .chain(symbols.map(|symbol| (symbol, EdgeFlags::SIGNAL)))
        .filter(|(next, flags)| *next != node && is_action(*flags))
        .collect())
}

/// Returns whether nothing says that an item passes a signal on.
pub(crate) fn is_of_unknown_class(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let words = [vocabulary::VALVE_DRIVES, vocabulary::ACTUATORS, vocabulary::SOLENOIDS, vocabulary::AIR_ACCESSORIES];
    role(drawing, node) == Role::None
        && drawing.passage(node).is_none()
        && !drawing.is_note(node)
        && !instrument_class::is_driven(drawing, node)
        && !words.iter().any(|words| drawing.class_has(node, words))
}

/// Returns whether an item in a pipe has an unknown class, so that a signal may move it.
pub(crate) fn is_unknown_target(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    is_of_unknown_class(drawing, node)
        && topology.flow_degree(node) > 0
        && topology.owner(node).is_none()
        && !topology.is_equipment(node)
}

/// Returns whether an item without a pipe sends a signal and has no class, tag or text that describes it: it may start a trip.
pub(crate) fn is_unknown_source(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_signal = |edge: EdgeId| topology.edge_flags[edge as usize].contains(EdgeFlags::SIGNAL);
    let is_fed = || topology.table(EdgeFilter::All, Direction::Up).edges(node).iter().any(|edge| is_signal(*edge));
    let is_unknown = || match topology.roles[node as usize] {
        Role::Instrument => {
            instrument_class::loop_function(drawing, node) == LoopFunction::Unknown
                && !instrument_class::senses(drawing, node)
                && !instrument_class::is_by_hand(drawing, node)
                && !instrument_class::acts_by_class(drawing, node)
                && !drawing.class_has(node, vocabulary::VALVE_REFERENCES)
        }
        _ => is_of_unknown_class(drawing, node) && topology.owner(node).is_none(),
    };
    topology.flow_degree(node) == 0
        && topology.table(EdgeFilter::All, Direction::Down).edges(node).iter().any(|edge| is_signal(*edge))
        && is_unknown()
        && !is_fed()
}

/// Returns the valves that an actuator belongs to, with the edge, if it is not by a field.
pub(crate) fn moved_valves(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<(NodeId, EdgeId)>> {
    let topology = &drawing.topology;
    if !drawing.class_has(node, vocabulary::VALVE_DRIVES) || topology.roles[node as usize].closes() {
        return Ok(Vec::new());
    }
    let table = topology.table(EdgeFilter::All, Direction::Both);
    charge(1 + table.degree(node) as u64)?;
    let is_whole = |edge: EdgeId| {
        let ([whole, part], flags) = (topology.ends[edge as usize], topology.edge_flags[edge as usize]);
        part == node && (flags.contains(EdgeFlags::PART) || flags.contains(EdgeFlags::MEMBER))
            || whole == node && flags.contains(EdgeFlags::MEMBER_REVERSED)
    };
    let by_edge = table.arcs(node).filter(|(_, edge)| is_whole(*edge));
    let by_field = topology.field_group(node).map(|whole| (whole, NONE));
    Ok(by_edge.chain(by_field).filter(|(whole, _)| topology.roles[*whole as usize].closes()).collect())
}

/// Returns the equipment and the valves at which an actuating function is located, with the edge: DEXPI states the machine that
/// a function starts and stops by its location, the machine or a nozzle of it.
pub(crate) fn actuated_items(
    drawing: &Drawing<'_>,
    node: NodeId,
    charge: ChargeFn<'_>,
) -> Result<Vec<(NodeId, EdgeId)>> {
    let topology = &drawing.topology;
    if !topology.all_flags.contains(EdgeFlags::ZONE) || !drawing.class_has(node, vocabulary::ACTUATING_FUNCTIONS) {
        return Ok(Vec::new());
    }
    let table = topology.table(EdgeFilter::All, Direction::Down);
    charge(1 + table.degree(node) as u64)?;
    let locations = table.arcs(node).filter(|(_, edge)| topology.edge_flags[*edge as usize].contains(EdgeFlags::ZONE));
    let items = locations.map(|(item, edge)| (topology.equipment_or_self(item), edge));
    let is_actuated = |node: NodeId| topology.roles[node as usize] == Role::Equipment || is_target(drawing, node);
    Ok(items.filter(|(item, _)| is_actuated(*item)).collect())
}

/// Returns whether an actuating function is located at an item or at a port of it.
pub(crate) fn is_actuated_at_location(drawing: &Drawing<'_>, item: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    if !topology.all_flags.contains(EdgeFlags::ZONE) {
        return Ok(false);
    }
    let table = topology.table(EdgeFilter::All, Direction::Up);
    for place in std::iter::once(item).chain(topology.ports.nodes(item).iter().copied()) {
        charge(1 + table.degree(place) as u64)?;
        let is_location = |edge: EdgeId| topology.edge_flags[edge as usize].contains(EdgeFlags::ZONE);
        let mut functions = table.arcs(place).filter(|(_, edge)| is_location(*edge));
        if functions.any(|(function, _)| drawing.class_has(function, vocabulary::ACTUATING_FUNCTIONS)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the role of a node in a loop: a solenoid valve in the air to an actuator, without another pipe, or with a signal to
/// what it moves, is an instrument.
pub(crate) fn role(drawing: &Drawing<'_>, node: NodeId) -> Role {
    let topology = &drawing.topology;
    let role = topology.roles[node as usize];
    let has_no_line = || topology.flow_degree(node) == 0 || !air_lines::actuators(drawing, node).is_empty();
    let is_pilot =
        || drawing.class_has(node, vocabulary::SOLENOIDS) && (has_no_line() || sends_to_valve(drawing, node));
    if role == Role::Control && is_pilot() { Role::Instrument } else { role }
}

/// Returns whether a solenoid valve sends a signal to a valve or an actuator: its pipe is the supply of air then.
pub(crate) fn sends_to_valve(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_moved = |other: NodeId| {
        topology.roles[other as usize].closes() && !drawing.class_has(other, vocabulary::SOLENOIDS)
            || instrument_class::acts_by_class(drawing, other)
    };
    let mut arcs = topology.table(EdgeFilter::All, Direction::Down).arcs(node);
    drawing.class_has(node, vocabulary::SOLENOIDS)
        && arcs.any(|(other, edge)| {
            let is_signal = topology.edge_flags[edge as usize].contains(EdgeFlags::SIGNAL);
            other != node && is_signal && !topology.is_assumed(edge) && is_moved(other)
        })
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

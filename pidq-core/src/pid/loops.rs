//! Control loops: sensors, functions, final elements, and whether a loop is closed.

use hashbrown::{HashMap, HashSet};

use super::tag::Tag;
use super::{ChargeFn, Datum, instrument_class, pipe_lines};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};

/// A loop: its node, if there is one, and its members.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub node: Option<NodeId>,
    pub name: String,
    pub members: Vec<NodeId>,
}

const LOOP: &[&str] = &[
    "loop",
    "node",
    "members",
    "sensors",
    "sensing_points",
    "functions",
    "signals",
    "final_elements",
    "lines",
    "fail_action",
    "closed",
];

/// Returns all loops: loop nodes, then the remaining instruments grouped by the letters and numbers of their tags.
pub(crate) fn loops(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<Loop>> {
    let topology = &drawing.topology;
    let groups = pipe_lines::Members::collect(drawing, charge)?;
    let mut found = Vec::new();
    let mut assigned: HashSet<NodeId> = HashSet::new();
    for node in 0..topology.node_count() as u32 {
        charge(1)?;
        if drawing.has_type(node, Names::LoopType) {
            let mut members = groups.all_members(node, charge)?;
            members.sort_unstable();
            assigned.extend(&members);
            found.push(Loop { node: Some(node), name: name_of(drawing, node, &members), members });
        }
    }
    add_connected_instruments(drawing, &mut assigned, charge)?;
    let mut by_tag: HashMap<String, usize> = HashMap::new();
    for node in 0..topology.node_count() as u32 {
        let is_unassigned = topology.roles[node as usize] == Role::Instrument && !assigned.contains(&node);
        let Some(tag) = drawing.tag(node).filter(|_| is_unassigned).and_then(Tag::parse) else { continue };
        let name = tag.loop_id();
        let at = *by_tag.entry(name.clone()).or_insert(found.len());
        if at == found.len() {
            found.push(Loop { node: None, name, members: Vec::new() });
        }
        found[at].members.push(node);
    }
    charge(topology.node_count() as u64)?;
    add_valves(drawing, &mut found, &by_tag, &assigned);
    Ok(found)
}

/// Adds control valves without another loop to the loops that their tags name: a valve alone is not a loop.
fn add_valves(drawing: &Drawing<'_>, found: &mut [Loop], by_tag: &HashMap<String, usize>, assigned: &HashSet<NodeId>) {
    let topology = &drawing.topology;
    let is_unassigned = |node: &NodeId| topology.roles[*node as usize] == Role::Control && !assigned.contains(node);
    for node in (0..topology.node_count() as u32).filter(is_unassigned) {
        let tag = drawing.tag(node).and_then(Tag::parse);
        if let Some(at) = tag.and_then(|tag| by_tag.get(&tag.loop_id())) {
            found[*at].members.push(node);
        }
    }
    by_tag.values().for_each(|at| found[*at].members.sort_unstable());
}

/// Adds the instruments connected to those of a loop, such as the actuator of a function.
fn add_connected_instruments(
    drawing: &Drawing<'_>,
    assigned: &mut HashSet<NodeId>,
    charge: ChargeFn<'_>,
) -> Result<()> {
    let topology = &drawing.topology;
    let is_instrument = |node: NodeId| topology.roles[node as usize] == Role::Instrument;
    let mut stack: Vec<NodeId> = assigned.iter().copied().filter(|node| is_instrument(*node)).collect();
    while let Some(node) = stack.pop() {
        let neighbors = topology.table(EdgeFilter::All, Direction::Both).nodes(node);
        let parts = topology.field_members(node);
        charge(1 + (neighbors.len() + parts.len()) as u64)?;
        let connected = neighbors.iter().chain(parts).copied().chain(topology.field_group(node));
        stack.extend(connected.filter(|next| is_instrument(*next) && assigned.insert(*next)));
    }
    Ok(())
}

/// Returns the tag of a loop, or the loop in the tags of its members.
fn name_of(drawing: &Drawing<'_>, node: NodeId, members: &[NodeId]) -> String {
    let own_tag = drawing.tag(node).map(String::from);
    let member_loop = || members.iter().find_map(|member| Some(Tag::parse(drawing.tag(*member)?)?.loop_id()));
    own_tag.or_else(member_loop).unwrap_or_default()
}

/// Returns the row of a loop with the parts of its members.
pub(crate) fn row<'a>(drawing: &Drawing<'a>, found: &Loop, charge: ChargeFn<'_>) -> Result<Vec<Datum<'a>>> {
    let topology = &drawing.topology;
    charge(1 + found.members.len() as u64)?;
    let final_elements = final_elements(drawing, &found.members, charge)?;
    let is_other_instrument = |node: &NodeId| {
        topology.roles[*node as usize] == Role::Instrument && final_elements.binary_search(node).is_err()
    };
    let instruments: Vec<NodeId> = found.members.iter().copied().filter(is_other_instrument).collect();
    let (sensors, functions): (Vec<NodeId>, Vec<NodeId>) =
        instruments.iter().partition(|node| instrument_class::senses(drawing, **node));
    let points = sensing_points(drawing, &sensors, charge)?;
    let signals = signals(drawing, &found.members, &final_elements, charge)?;
    let edges = final_elements
        .iter()
        .flat_map(|node| topology.table(EdgeFilter::Flow, Direction::Both).edges(*node).iter().copied());
    let lines = pipe_lines::lines_of(drawing, edges);
    let fail_action = final_elements.iter().find_map(|node| drawing.node_field(*node, Names::FailAction));
    let closed = !sensors.is_empty() && !final_elements.is_empty();
    Ok(vec![
        Datum::String(found.name.clone()),
        Datum::node(found.node),
        Datum::Nodes(found.members.clone()),
        Datum::Nodes(sensors),
        Datum::Nodes(points),
        Datum::Nodes(functions),
        Datum::Edges(signals),
        Datum::Nodes(final_elements),
        Datum::strings(lines),
        Datum::value(fail_action),
        Datum::Bool(closed),
    ])
}

/// Returns loops as rows.
pub(crate) fn rows<'a>(drawing: &Drawing<'a>, loops: &[Loop], charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    let mut rows = Vec::with_capacity(loops.len());
    for found in loops {
        rows.push(row(drawing, found, charge)?);
    }
    Ok(Datum::Table(LOOP, rows))
}

/// Returns one loop as a record.
pub(crate) fn record<'a>(drawing: &Drawing<'a>, found: &Loop, charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    Ok(Datum::Record(LOOP, row(drawing, found, charge)?))
}

/// Returns the valves that are members, or that members act on through signals and actuators. Ascending.
pub(crate) fn final_elements(drawing: &Drawing<'_>, members: &[NodeId], charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    const MAX_STEPS: u32 = 3;
    let topology = &drawing.topology;
    let is_action = |edge: EdgeId| {
        let flags = topology.edge_flags[edge as usize];
        let is_followed = [EdgeFlags::SIGNAL, EdgeFlags::ACTUATES, EdgeFlags::PART, EdgeFlags::MEMBER]
            .into_iter()
            .any(|flag| flags.contains(flag));
        // A sensor does not act on its location.
        is_followed && !flags.contains(EdgeFlags::ZONE)
    };
    // Every item that an actuator moves is a final element, regardless of its class; an item that a sensor refers to is
    // its sensing element.
    let is_actuated = |node: NodeId| {
        let mut arcs = topology.table(EdgeFilter::All, Direction::Up).arcs(node);
        let is_actuating = |(from, edge): (NodeId, EdgeId)| {
            topology.edge_flags[edge as usize].contains(EdgeFlags::ACTUATES)
                && !instrument_class::is_sensor_by_class(drawing, from)
        };
        topology.flow_degree(node) > 0 && arcs.any(is_actuating)
    };
    let is_final = |node: NodeId| topology.roles[node as usize].closes() || is_actuated(node);
    let mut seen: HashSet<NodeId> = members.iter().copied().collect();
    let mut queue: Vec<(NodeId, u32)> = members.iter().map(|member| (*member, 0)).collect();
    let mut at = 0;
    while let Some((node, depth)) = queue.get(at).copied() {
        at += 1;
        if is_final(node) || depth == MAX_STEPS {
            continue;
        }
        let table = topology.table(EdgeFilter::All, Direction::Down);
        let parts = topology.field_members(node);
        charge(1 + (table.degree(node) + parts.len()) as u64)?;
        let acted_on = table.arcs(node).filter(|(_, edge)| is_action(*edge)).map(|(next, _)| next);
        for next in acted_on.chain(parts.iter().copied()) {
            let is_in_signal_path = is_final(next) || topology.flow_degree(next) == 0;
            if is_in_signal_path && seen.insert(next) {
                queue.push((next, depth + 1));
            }
        }
    }
    let mut final_elements: Vec<NodeId> =
        queue.into_iter().map(|(node, _)| node).filter(|node| is_final(*node)).collect();
    final_elements.sort_unstable();
    Ok(final_elements)
}

/// Returns the sensing points: the locations of sensors, the sources of their signals other than instruments, and the
/// items at their pipes.
fn sensing_points(drawing: &Drawing<'_>, sensors: &[NodeId], charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    let mut points = Vec::new();
    for sensor in sensors {
        charge(1 + topology.table(EdgeFilter::All, Direction::Both).degree(*sensor) as u64)?;
        let located = topology
            .table(EdgeFilter::All, Direction::Down)
            .arcs(*sensor)
            .filter(|(_, edge)| topology.edge_flags[*edge as usize].contains(EdgeFlags::ZONE));
        let tapped = topology.table(EdgeFilter::All, Direction::Up).arcs(*sensor).filter(|(node, edge)| {
            topology.edge_flags[*edge as usize].contains(EdgeFlags::SIGNAL)
                && topology.roles[*node as usize] != Role::Instrument
        });
        let piped = topology.table(EdgeFilter::Flow, Direction::Both).arcs(*sensor);
        points.extend(located.chain(tapped).chain(piped).map(|(node, _)| node));
    }
    points.sort_unstable();
    points.dedup();
    Ok(points)
}

/// Returns the signals between the parts of a loop, from the sensor on.
fn signals(
    drawing: &Drawing<'_>,
    members: &[NodeId],
    final_elements: &[NodeId],
    charge: ChargeFn<'_>,
) -> Result<Vec<EdgeId>> {
    let topology = &drawing.topology;
    let parts: HashSet<NodeId> = members.iter().chain(final_elements).copied().collect();
    let table = topology.table(EdgeFilter::All, Direction::Down);
    let mut edges = Vec::new();
    for part in &parts {
        charge(1 + table.degree(*part) as u64)?;
        let signal_arcs = table.arcs(*part).filter(|(next, edge)| {
            parts.contains(next) && topology.edge_flags[*edge as usize].contains(EdgeFlags::SIGNAL)
        });
        edges.extend(signal_arcs.map(|(_, edge)| edge));
    }
    edges.sort_unstable();
    edges.dedup();
    let order = pipe_lines::flow_order(drawing, &edges, &[], charge)?;
    let position: HashMap<NodeId, usize> = order.iter().copied().zip(0..).collect();
    edges.sort_by_key(|edge| position.get(&topology.flow_ends(*edge)[0]).copied());
    Ok(edges)
}

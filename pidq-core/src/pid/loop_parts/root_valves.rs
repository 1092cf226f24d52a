//! Sensors that measure nothing: a closed valve or blind, or a missing pipe or signal, between a sensor and the process.
//!
//! A sensor at the end of an impulse line is followed back along its pipes: it measures if an open way leads to equipment
//! or to the end of the sheet. Each line of a level or pressure sensor counts, since these have no flow through them.

use hashbrown::HashSet;

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary::{self, has_any};
use crate::pid::ChargeFn;
use crate::pid::loops::position_feedback;
use crate::pid::tag::Tag;
use crate::pid::valve_state::drawn_closed::may_be_drawn_closed;
use crate::pid::valve_state::out_of_action::{is_said_closed_off, signal_may_not_act};
use crate::pid::valve_state::phrases::clauses;
use crate::pid::valve_state::pipes::{PipeState, pipe_state};
use crate::pid::valve_state::texts;
use crate::pid::valve_state::unread_texts::has_opening;

/// Maximum number of items of an impulse line. A longer way is part of the plant.
const MAX_ITEMS: usize = 64;

/// Returns the item by which a sensor is shut off from the process: a closed valve or blind, or the item at a pipe that is
/// closed or not there. `None` if an open way leads to the process, or the drawing shows no line.
pub(crate) fn shut_off_at(drawing: &Drawing<'_>, sensor: NodeId, charge: ChargeFn<'_>) -> Result<Option<NodeId>> {
    if position_feedback::is_position(drawing, sensor) {
        return Ok(None);
    }
    let pipes = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    charge(1 + pipes.degree(sensor) as u64)?;
    let mut lines: Vec<Step> = pipes.arcs(sensor).map(|(first, pipe)| (first, Some(pipe))).collect();
    let (cut, others): (Vec<_>, Vec<_>) = other_points(drawing, sensor, charge)?
        .into_iter()
        .partition(|(node, edge)| signal_may_not_act(drawing, *edge) || is_blinded_nozzle(drawing, *node));
    let mut found = cut.first().map(|(node, _)| *node);
    let mut is_open = others.iter().any(|(node, _)| !is_at_end(drawing, *node));
    if is_open && (found.is_none() || !has_no_flow(drawing, sensor)) {
        return Ok(None);
    }
    let at_end = others.into_iter().filter(|(node, _)| is_at_end(drawing, *node));
    lines.extend(at_end.map(|(node, _)| (node, None)));
    for first in lines {
        let line = follow(drawing, sensor, first, charge)?;
        is_open |= line.is_open;
        found = found.or(line.shut_off);
    }
    Ok(found.filter(|_| !is_open || has_no_flow(drawing, sensor)))
}

/// Returns whether a sensor is of a level or a pressure: it is at the end of its lines, never in a pipe with a flow.
fn has_no_flow(drawing: &Drawing<'_>, sensor: NodeId) -> bool {
    let tag = drawing.tag(sensor).and_then(Tag::parse_letters);
    tag.is_some_and(|tag| tag.letters.starts_with(['L', 'P']))
}

/// Returns the items of the plant that a sensor measures at by a signal or its location, with the edges to them.
fn other_points(drawing: &Drawing<'_>, sensor: NodeId, charge: ChargeFn<'_>) -> Result<Vec<(NodeId, EdgeId)>> {
    let topology = &drawing.topology;
    charge(topology.table(EdgeFilter::All, Direction::Both).degree(sensor) as u64)?;
    let by = |direction: Direction, flag: EdgeFlags| {
        let arcs = topology.table(EdgeFilter::All, direction).arcs(sensor);
        arcs.filter(move |(_, edge)| topology.edge_flags[*edge as usize].contains(flag))
    };
    let points = by(Direction::Up, EdgeFlags::SIGNAL).chain(by(Direction::Down, EdgeFlags::ZONE));
    Ok(points.filter(|(node, _)| topology.roles[*node as usize] != Role::Instrument).collect())
}

/// Returns whether the drawing says that a nozzle is closed by a blind, without a connection through it.
fn is_blinded_nozzle(drawing: &Drawing<'_>, node: NodeId) -> bool {
    const BLINDED: &[&str] = &["blanked", "blind", "blinded", "capped", "plugged", "spaded", "verblindet"];
    let says_so = |text: &str| {
        let is_blinded =
            |clause: &Vec<String>| has_any(clause, BLINDED) && !has_any(clause, vocabulary::PHRASE_DENIALS);
        clauses(text).iter().any(is_blinded)
    };
    let names = [Names::Status, Names::Remarks, Names::Description];
    drawing.topology.roles[node as usize] == Role::Port
        && (is_said_closed_off(drawing, node) || names.iter().any(|names| texts(drawing, node, *names).any(says_so)))
        && !has_opening(drawing, node)
}

/// Returns whether an item is a valve at the end of a pipe, as the root valve of a sensor without a pipe.
fn is_at_end(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.flow_degree(node) == 1 && drawing.topology.roles[node as usize].closes()
}

/// An item, and the pipe to it.
type Step = (NodeId, Option<EdgeId>);

/// A line from a sensor.
struct Line {
    /// An open way leads to the process.
    is_open: bool,
    /// The item that shuts the line off from the process.
    shut_off: Option<NodeId>,
}

/// Follows a line from a sensor through all its branches: first through what is open, then through the rest, since a
/// closed drain shuts nothing off.
fn follow(drawing: &Drawing<'_>, sensor: NodeId, first: Step, charge: ChargeFn<'_>) -> Result<Line> {
    let mut seen: HashSet<NodeId> = [sensor].into_iter().collect();
    let mut closed = Vec::new();
    let mut stack = vec![first];
    let is_open = reaches_process(drawing, &mut stack, &mut seen, Some(&mut closed), charge)?;
    let mut shut_off = None;
    for (node, pipe) in closed.into_iter().filter(|_| !is_open) {
        let mut stack = vec![(node, pipe)];
        if shut_off.is_none() && reaches_process(drawing, &mut stack, &mut seen, None, charge)? {
            shut_off = Some(node);
        }
    }
    Ok(Line { is_open, shut_off })
}

/// Returns whether pipes lead to equipment or the end of the sheet. With `closed`, closed items are added to it instead of
/// being passed.
fn reaches_process(
    drawing: &Drawing<'_>,
    stack: &mut Vec<Step>,
    seen: &mut HashSet<NodeId>,
    mut closed: Option<&mut Vec<Step>>,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    while let Some((node, pipe)) = stack.pop() {
        charge(1 + table.degree(node) as u64)?;
        if seen.contains(&node) {
            continue;
        }
        if let Some(closed) = closed.as_mut().filter(|_| may_be_drawn_closed(drawing, node) || is_cut(drawing, pipe)) {
            closed.push((node, pipe));
            continue;
        }
        seen.insert(node);
        if seen.len() > MAX_ITEMS || topology.is_equipment(node) || topology.roles[node as usize] == Role::OffPage {
            return Ok(true);
        }
        stack.extend(table.arcs(node).map(|(next, pipe)| (next, Some(pipe))));
    }
    Ok(false)
}

/// Returns whether a pipe is closed or not there.
fn is_cut(drawing: &Drawing<'_>, pipe: Option<EdgeId>) -> bool {
    pipe.is_some_and(|pipe| matches!(pipe_state(drawing, pipe), PipeState::Closed | PipeState::NotInstalled))
}

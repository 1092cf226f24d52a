//! Valves inside a section of the plant: which may be switched, which are drawn closed, and which are bypassed.

use hashbrown::HashSet;

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::{Role, TagLetters};
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::tag::Tag;
use crate::pid::valve_state::actuation::tag_letters;
use crate::pid::valve_state::{BlindPosition, blind_position, is_closed, is_not_installed, is_stated_as_actuated};

/// Returns whether a valve has an actuator and does not only throttle by itself, by its class, its fields or the letters
/// of its tag: it may be closed in an emergency.
pub(super) fn may_be_switched(drawing: &Drawing<'_>, node: NodeId) -> bool {
    match drawing.topology.roles[node as usize] {
        Role::Control => !drawing.only_throttles(node) || is_closed_by_hand(drawing, node),
        Role::Barrier => is_stated_as_actuated(drawing, node) || tag_letters(drawing, node) == TagLetters::Actuated,
        _ => false,
    }
}

/// Returns whether a control valve is operated by hand from afar, as an `HCV` is: an operator may close it.
fn is_closed_by_hand(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.tag(node).and_then(Tag::parse).is_some_and(|tag| tag.letters.starts_with('H'))
}

/// Returns whether an item is drawn closed: a valve, a blind, or a blind flange between two pipes.
pub(super) fn is_drawn_closed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    match drawing.topology.roles[node as usize] {
        Role::Blind => blind_position(drawing, node) == BlindPosition::Closed,
        Role::PositiveBarrier => blind_position(drawing, node) != BlindPosition::Open,
        role => role.closes() && is_closed(drawing, node),
    }
}

/// Returns whether the drawing states that a valve opens when its actuator fails.
pub(super) fn fails_open(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let stated = drawing.node_field(node, Names::FailAction).and_then(|value| value.as_str());
    stated.is_some_and(|text| vocabulary::FAIL_OPEN.contains(&snake_case(text.trim()).as_str()))
}

/// Returns whether pipes lead around an item with two pipes, from one side to the other, without equipment, a relief
/// device, anything that is drawn closed, or an item that does the same (`is_like`).
pub(crate) fn has_open_bypass(
    drawing: &Drawing<'_>,
    node: NodeId,
    is_like: impl Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let Some((first, others)) = table.nodes(node).split_first() else { return Ok(false) };
    let mut stack: Vec<NodeId> = others.iter().copied().filter(|other| other != first).collect();
    let mut seen: HashSet<NodeId> = stack.iter().copied().chain([node]).collect();
    while let Some(next) = stack.pop() {
        charge(1 + table.degree(next) as u64)?;
        if is_drawn_closed(drawing, next) {
            continue;
        }
        if next == *first {
            return Ok(true);
        }
        if !topology.is_equipment(next) && topology.roles[next as usize] != Role::Relief && !is_like(next) {
            stack.extend(table.nodes(next).iter().copied().filter(|node| seen.insert(*node)));
        }
    }
    Ok(false)
}

/// Returns whether pipes lead around a check valve that do not pass another one.
pub(crate) fn is_check_valve_bypassed(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let is_check_valve = |other: NodeId| drawing.topology.roles[other as usize] == Role::OneWay;
    has_open_bypass(drawing, node, |other| is_check_valve(other) && !is_not_installed(drawing, other), charge)
}

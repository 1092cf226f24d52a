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
use crate::pid::valve_state::{BlindPosition, blind_position, is_closed, is_stated_as_actuated};

/// Returns whether a valve has an actuator and does not only throttle by itself, by its class, its fields or the letters
/// of its tag: it may be closed in an emergency.
pub(super) fn may_be_switched(drawing: &Drawing<'_>, node: NodeId) -> bool {
    match drawing.topology.roles[node as usize] {
        Role::Control => !drawing.class_has(node, vocabulary::THROTTLING_VALVES) || is_closed_by_hand(drawing, node),
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

/// Returns whether pipes lead around a check valve, from one side to the other, without equipment, another check valve, a
/// relief device or anything that is drawn closed.
pub(super) fn has_open_bypass(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    let neighbors = |direction| topology.table(EdgeFilter::Flow, direction).nodes(node).iter().copied();
    let before: HashSet<NodeId> = neighbors(Direction::Up).collect();
    let mut stack: Vec<NodeId> = neighbors(Direction::Down).collect();
    let mut seen: HashSet<NodeId> = stack.iter().copied().chain([node]).collect();
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    while let Some(next) = stack.pop() {
        charge(1 + table.degree(next) as u64)?;
        if is_drawn_closed(drawing, next) {
            continue;
        }
        if before.contains(&next) {
            return Ok(true);
        }
        let role = topology.roles[next as usize];
        if !topology.is_equipment(next) && !matches!(role, Role::OneWay | Role::Relief) {
            stack.extend(table.nodes(next).iter().copied().filter(|node| seen.insert(*node)));
        }
    }
    Ok(false)
}

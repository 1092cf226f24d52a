//! Valves inside a section of the plant: which may be switched, which are drawn closed, and what may keep one from closing.

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::{Role, TagLetters};
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::neighbors;
use crate::pid::tag::Tag;
use crate::pid::valve_state::actuation::tag_letters;
use crate::pid::valve_state::closed_texts::{says_closed, says_locked};
use crate::pid::valve_state::fail_action::{FailAction, fail_action, fail_action_in_texts};
use crate::pid::valve_state::way_count::{Ways, ways};
use crate::pid::valve_state::{
    BlindPosition, blind_position, has_several_ways, is_closed, is_locked_closed, is_locked_open,
    is_stated_as_actuated, may_not_be_tight,
};

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

/// Returns whether an item is drawn closed, or a text of it says so: `closed`, `LC`.
pub(super) fn may_be_drawn_closed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    is_drawn_closed(drawing, node) || drawing.topology.roles[node as usize].closes() && says_closed(drawing, node)
}

/// Returns whether the drawing states that a valve opens when its actuator fails.
pub(super) fn fails_open(drawing: &Drawing<'_>, node: NodeId) -> bool {
    fail_action(drawing, node) == Some(FailAction::Opens)
}

/// Returns what may keep a shutdown valve from closing, by its fields and its texts: it needs air for that or may, it is
/// locked open, it may leak, or it does not close all its ways.
pub(super) fn hindrance(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Option<&'static str>> {
    let is_multi_way = drawing.topology.roles[node as usize] == Role::MultiWay || has_several_ways(drawing, node);
    let fail_reason = match fail_action(drawing, node).max(fail_action_in_texts(drawing, node)) {
        Some(FailAction::Opens) => Some("fails_open"),
        Some(FailAction::Stays) => Some("fails_in_place"),
        Some(FailAction::Unknown) => Some("unknown_fail_action"),
        Some(FailAction::Closes) | None => None,
    };
    Ok(match () {
        () if fail_reason.is_some() => fail_reason,
        () if is_locked_open(drawing, node) || says_locked(drawing, node, Names::LockedOpen) => Some("locked_open"),
        () if may_not_be_tight(drawing, node) => Some("not_tight"),
        () if ways(drawing, node) == Ways::Unknown => Some("unknown_ways"),
        () if is_multi_way || neighbors(drawing, node, charge)?.len() > 2 => Some("several_pipes"),
        () => None,
    })
}

/// Returns what may keep a blowdown valve from opening: it needs air for that or may, or it is locked closed.
pub(super) fn blowdown_hindrance(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    let is_locked = || is_locked_closed(drawing, node) || says_locked(drawing, node, Names::LockedClosed);
    let stated = [fail_action(drawing, node), fail_action_in_texts(drawing, node)];
    match stated.into_iter().flatten().min() {
        Some(FailAction::Closes) => Some("fails_closed"),
        Some(FailAction::Stays) => Some("fails_in_place"),
        Some(FailAction::Unknown) => Some("unknown_fail_action"),
        Some(FailAction::Opens) | None => is_locked().then_some("locked_closed"),
    }
}

/// Returns whether the drawing gives an item one direction: a pipe into it and a pipe out of it.
pub(crate) fn has_one_direction(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let degree = |direction| drawing.topology.table(EdgeFilter::Flow, direction).degree(node);
    drawing.topology.flow_degree(node) == 2 && degree(Direction::Up) == 1 && degree(Direction::Down) == 1
}

/// Returns the kind of an item that stops a flame, a leak or a reverse flow by itself.
pub(super) fn passive_kind(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    let known = vocabulary::PASSIVE_SAFEGUARDS.iter();
    known.copied().find(|(word, _)| drawing.class_has(node, &[*word])).map(|(_, kind)| kind)
}

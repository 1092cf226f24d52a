//! State of shutdown valves, blowdown valves and relief devices: what may keep one from closing its line, or from opening it.
//!
//! The fail position, the lock, the ways and the texts of a valve are read as `isolate` and the relief paths read them.

use super::closed_ways::closed_item_behind;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::trip_words::EmergencyValve;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::neighbors;
use crate::pid::loops::protection;
use crate::pid::relief::devices;
use crate::pid::valve_state::actuation::{described_roles, says_manual};
use crate::pid::valve_state::actuators::{actuators, is_drive, parts};
use crate::pid::valve_state::closed_texts::says_locked;
use crate::pid::valve_state::fail_action::{FailAction, fail_action_in_texts, fail_actions};
use crate::pid::valve_state::out_of_action::is_out_of_action;
use crate::pid::valve_state::phrases::DriveAction;
use crate::pid::valve_state::unread_texts::has_doubtful_text;
use crate::pid::valve_state::way_count::{Ways, ways};
use crate::pid::valve_state::{
    all_texts, has_several_ways, installation, is_locked_closed, is_locked_open, may_not_move, phrases, texts,
};

/// Reason why a valve may not act, and the item with it: the valve, or a part of it.
pub(super) type Hindrance = (&'static str, NodeId);

/// Returns the function of a valve in the emergency shutdown, also by the tag of an actuator of it: many drawings write the tag
/// of the valve there.
pub(super) fn emergency_valve_or_actuator(
    drawing: &Drawing<'_>,
    node: NodeId,
    charge: ChargeFn<'_>,
) -> Result<Option<EmergencyValve>> {
    let own = protection::emergency_valve(drawing, node).map(|(valve, _)| valve);
    let is_certain = own.is_some_and(|valve| valve != EmergencyValve::Possible);
    if is_certain || !drawing.topology.roles[node as usize].closes() {
        return Ok(own);
    }
    let by_actuators = actuators(drawing, node, charge)?.into_iter().filter_map(|item| drawing.tag(item));
    let mut found =
        by_actuators.filter_map(protection::emergency_valve_by_tag).filter(|valve| *valve != EmergencyValve::Possible);
    Ok(found.next().or(own))
}

/// Returns what may keep a shutdown valve from closing: it needs air for that or may, it is locked open, it does not close
/// all its ways, or a text, an actuator or a part of it says so.
pub(super) fn shutdown_hindrance(
    drawing: &Drawing<'_>,
    node: NodeId,
    charge: ChargeFn<'_>,
) -> Result<Option<Hindrance>> {
    let is_multi_way = drawing.topology.roles[node as usize] == Role::MultiWay || has_several_ways(drawing, node);
    let fail_reason = match all_fail_actions(drawing, node, charge)?.into_iter().max() {
        Some(FailAction::Opens) => Some("fails_open"),
        Some(FailAction::Stays) => Some("fails_in_place"),
        Some(FailAction::Unknown) => Some("unknown_fail_action"),
        // A motor stays where it is without power, whatever a trip sends to it.
        None if has_motor(drawing, node) => Some("fails_in_place"),
        Some(FailAction::Closes) | None => None,
    };
    let reason = match () {
        () if fail_reason.is_some() => fail_reason,
        () if is_locked_open(drawing, node) || says_locked(drawing, node, Names::LockedOpen) => Some("locked_open"),
        () if ways(drawing, node) == Ways::Unknown => Some("unknown_ways"),
        () if is_multi_way || neighbors(drawing, node, charge)?.len() > 2 => Some("several_pipes"),
        () if may_not_move(drawing, node, DriveAction::Closes) => Some("not_tight"),
        () => None,
    };
    match reason {
        Some(reason) => Ok(Some((reason, node))),
        None => common_hindrance(drawing, node, charge),
    }
}

/// Returns whether a class or the operator of a valve is a motor.
fn has_motor(drawing: &Drawing<'_>, node: NodeId) -> bool {
    const OPERATORS: [Names; 3] = [Names::Operation, Names::Operator, Names::Actuated];
    let names_motor = |text: &str| {
        let text = text.to_lowercase();
        text.contains("motor") || text.contains("electric")
    };
    drawing.class_has_word(node, &["mov", "motor_operated", "motor_operated_valve", "motorized", "motorised"])
        || OPERATORS.iter().any(|names| texts(drawing, node, *names).any(names_motor))
}

/// Returns what may keep a blowdown valve from opening: it needs air for that or may, it is locked closed, or a text, an
/// actuator or a part of it says so.
pub(super) fn blowdown_hindrance(
    drawing: &Drawing<'_>,
    node: NodeId,
    charge: ChargeFn<'_>,
) -> Result<Option<Hindrance>> {
    let actions = all_fail_actions(drawing, node, charge)?;
    let states = |action: FailAction| actions.contains(&action);
    let reason = match () {
        () if states(FailAction::Closes) => Some("fails_closed"),
        () if states(FailAction::Stays) => Some("fails_in_place"),
        () if states(FailAction::Unknown) => Some("unknown_fail_action"),
        () if is_locked_closed(drawing, node) || says_locked(drawing, node, Names::LockedClosed) => {
            Some("locked_closed")
        }
        // Stuck, seized, defective.
        () if may_not_move(drawing, node, DriveAction::Opens) => Some("out_of_action"),
        () => None,
    };
    match reason {
        Some(reason) => Ok(Some((reason, node))),
        None => common_hindrance(drawing, node, charge),
    }
}

/// Returns what may keep a blowdown valve from relieving its section: it may not open, it has no way out, or all ways behind
/// it are closed.
pub(super) fn blowdown_obstacle(
    drawing: &Drawing<'_>,
    node: NodeId,
    charge: ChargeFn<'_>,
) -> Result<Option<Hindrance>> {
    let found = blowdown_hindrance(drawing, node, charge)?;
    if found.is_some() {
        return Ok(found);
    }
    let is_mounted = drawing.node_field(node, Names::Parent).is_some();
    if !is_mounted && neighbors(drawing, node, charge)?.len() < 2 {
        return Ok(Some(("no_outlet", node)));
    }
    Ok(closed_item_behind(drawing, node, charge)?.map(|closed| ("closed_item", closed)))
}

/// Returns the fail positions of a valve by its fields, its actuators and its texts.
fn all_fail_actions(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<FailAction>> {
    let mut actions = fail_actions(drawing, node, charge)?;
    actions.extend(fail_action_in_texts(drawing, node));
    Ok(actions)
}

/// Returns what may keep a relief device from opening: it is marked as isolated, locked closed or bypassed.
pub(super) fn relief_hindrance(drawing: &Drawing<'_>, node: NodeId) -> Option<Hindrance> {
    devices::is_closed_off(drawing, node).then_some(("device_isolated", node))
}

/// Returns what keeps a valve from acting in either direction: a text says that it is out of function or another kind of
/// item, it is operated by hand, its actuator may not be there, or another valve is a part of it.
fn common_hindrance(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Option<Hindrance>> {
    let reason = match () {
        () if is_out_of_action(drawing, node) => Some("out_of_action"),
        () if has_doubtful_text(drawing, node) => Some("unread_text"),
        () if is_called_other(drawing, node) => Some("contradictory_class"),
        // A signal moves nothing that has a lever only.
        () if says_manual(drawing, node) && actuators(drawing, node, charge)?.is_empty() => Some("operated_by_hand"),
        () => None,
    };
    if let Some(reason) = reason {
        return Ok(Some((reason, node)));
    }
    for actuator in actuators(drawing, node, charge)? {
        if let Some(reason) = installation(drawing, actuator).uncertainty() {
            return Ok(Some((reason, actuator)));
        }
    }
    let is_valve = |part: &NodeId| {
        let role = drawing.topology.roles[*part as usize];
        let is_moved = role != Role::PositiveBarrier && role.closes() && !is_drive(drawing, *part);
        is_moved || matches!(role, Role::OneWay | Role::Relief | Role::OpenEnd)
    };
    let part = parts(drawing, node, charge)?.into_iter().find(is_valve);
    Ok(part.map(|part| ("unknown_part", part)))
}

/// Returns whether a class, a symbol or a text of a valve calls it something that does not close its line: a check valve, a
/// relief valve, a valve of several ways.
fn is_called_other(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let config = &drawing.topology.config;
    let does_not_close = |role: Role| matches!(role, Role::OneWay | Role::Relief | Role::MultiWay | Role::OpenEnd);
    let of_class =
        |class: &str| config.role_of(class).or_else(|| config.role_of_valve(class)).is_some_and(does_not_close);
    let mut classes = texts(drawing, node, Names::Class).chain(texts(drawing, node, Names::ComponentName));
    classes.any(of_class)
        || all_texts(drawing, node).any(|(text, kind)| phrases::names_other_item(text, kind))
        || described_roles(drawing, node).any(does_not_close)
}

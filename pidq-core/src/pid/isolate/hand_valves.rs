//! Hand valves, and what in the drawing says that a valve of such a class is none or closes nothing for certain.

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::node_memo::Property;
use crate::graph::roles::{Role, TagLetters};
use crate::graph::snake_case::snake_case;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::neighbors;
use crate::pid::valve_state::{
    self, BlindPosition, Installation, actuation, blind_position, has_several_ways, installation, is_declared,
};

/// Kind of a valve of the class of a hand valve, for an isolation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum HandValve {
    /// Moved by hand, as far as the drawing says.
    Certain,
    /// Another field calls it something that does not close.
    ContradictoryClass,
    /// It has an actuator.
    Actuated,
    /// Its tag is that of a valve with an actuator.
    ActuatedByTag,
    /// Its tag is that of a check valve or a relief valve.
    SelfActingByTag,
}

/// Returns what a valve is whose class is that of a hand valve.
pub(super) fn hand_valve(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<HandValve> {
    if is_declared(drawing, node) {
        return Ok(HandValve::Certain);
    }
    if is_contradicted(drawing, node) {
        return Ok(HandValve::ContradictoryClass);
    }
    if actuation::is_actuated(drawing, node, charge)? {
        return Ok(HandValve::Actuated);
    }
    Ok(match actuation::tag_letters(drawing, node) {
        TagLetters::HandValve => HandValve::Certain,
        TagLetters::Actuated => HandValve::ActuatedByTag,
        TagLetters::SelfActing => HandValve::SelfActingByTag,
    })
}

/// Returns whether an item separates its two sides when it is closed: it is there, has no third way, and is moved by hand
/// or by an actuator that is accepted. So does a blind flange, and a blind that is closed.
pub(super) fn separates(
    drawing: &Drawing<'_>,
    node: NodeId,
    accepts_actuated: bool,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    if installation(drawing, node) != Installation::Installed {
        return Ok(false);
    }
    let role = drawing.topology.roles[node as usize];
    match role {
        Role::PositiveBarrier => return Ok(blind_position(drawing, node) != BlindPosition::Open),
        Role::Blind => return Ok(blind_position(drawing, node) == BlindPosition::Closed),
        Role::Barrier | Role::Control => {}
        _ => return Ok(false),
    }
    if has_several_ways(drawing, node) || !is_declared(drawing, node) && neighbors(drawing, node, charge)?.len() > 2 {
        return Ok(false);
    }
    Ok(match role {
        Role::Control => accepts_actuated,
        _ => match hand_valve(drawing, node, charge)? {
            HandValve::Certain => true,
            HandValve::Actuated | HandValve::ActuatedByTag => accepts_actuated,
            HandValve::ContradictoryClass | HandValve::SelfActingByTag => false,
        },
    })
}

/// Returns whether another field of a valve, or the name of its symbol, calls it something that does not close, or its
/// description calls it a check valve or one of several ways.
fn is_contradicted(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.memos.is_or_compute(Property::IsContradicted, node, || reads_contradiction(drawing, node))
}

fn reads_contradiction(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let config = &drawing.topology.config;
    let is_other = |role: Role| {
        matches!(role, Role::OneWay | Role::Relief | Role::Control | Role::MultiWay | Role::Blind | Role::OpenEnd)
    };
    let does_not_close = |role: Role| matches!(role, Role::OneWay | Role::Relief | Role::MultiWay);
    let is_check_valve = |text: &str| config.role_of(text) == Some(Role::OneWay) && snake_case(text).ends_with("valve");
    let symbols = valve_state::texts(drawing, node, Names::ComponentName);
    drawing.class_texts(node).chain(symbols).any(|class| match config.role_of(class) {
        Some(role) => is_other(role),
        None => config.passage_of(class).is_some() || config.role_of_valve(class).is_some_and(does_not_close),
    }) || valve_state::texts(drawing, node, Names::Description).any(is_check_valve)
        || actuation::described_roles(drawing, node).any(does_not_close)
}

//! Hand valves, and what in the drawing says that a valve of such a class is none or closes nothing for certain.

use super::is_unknown;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::node_memo::Property;
use crate::graph::roles::{Role, TagLetters};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::pipe_ends;
use crate::pid::valve_state::unread_texts::may_not_close;
use crate::pid::valve_state::way_count::{Ways, ways};
use crate::pid::valve_state::{
    self, BlindPosition, Installation, actuation, blind_position, installation, is_declared, phrases,
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
    /// Its tag may be that of one, or of a hand valve.
    UnknownByTag,
    /// A part of unknown class belongs to it, which may be an actuator, or a valve of its own, such as an integral bypass.
    UnknownPart,
    /// A nozzle with a pipe belongs to it, such as a drain of its body: it may be on either side.
    ThirdPipe,
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
        TagLetters::HandValve => by_parts(drawing, node, charge)?,
        TagLetters::Actuated => HandValve::ActuatedByTag,
        TagLetters::SelfActing => HandValve::SelfActingByTag,
        TagLetters::Ambiguous => HandValve::UnknownByTag,
    })
}

/// Returns what a hand valve is by what belongs to it.
fn by_parts(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<HandValve> {
    let topology = &drawing.topology;
    let is_pipe_end = |part: &NodeId| topology.roles[*part as usize] == Role::Port && topology.flow_degree(*part) > 0;
    let parts = actuation::parts(drawing, node, charge)?;
    if topology.flow_degree(node) > 1 && parts.iter().any(is_pipe_end) {
        return Ok(HandValve::ThirdPipe);
    }
    // The drive of a valve is its actuator.
    let is_known = |part: NodeId| {
        topology.item_of_port(part).is_some()
            || drawing.class_has_word(part, vocabulary::SOLID_PARTS) && !drawing.class_has_word(part, &["drive"])
            || drawing.class_has(part, vocabulary::HAND_DRIVES)
    };
    let is_valve = |part: &NodeId| {
        let role = topology.roles[*part as usize];
        role != Role::PositiveBarrier && role.closes() || matches!(role, Role::OneWay | Role::Relief | Role::OpenEnd)
    };
    let is_unknown_part =
        |part: &NodeId| is_unknown(drawing, *part) && topology.flow_degree(*part) == 0 && !is_known(*part);
    Ok(if parts.iter().any(|part| is_unknown_part(part) || is_valve(part)) {
        HandValve::UnknownPart
    } else {
        HandValve::Certain
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
    if installation(drawing, node) != Installation::Installed || may_not_close(drawing, node) {
        return Ok(false);
    }
    let role = drawing.topology.roles[node as usize];
    match role {
        Role::PositiveBarrier => return Ok(blind_position(drawing, node) != BlindPosition::Open),
        Role::Blind => return Ok(blind_position(drawing, node) == BlindPosition::Closed),
        Role::Barrier | Role::Control => {}
        _ => return Ok(false),
    }
    if ways(drawing, node) != Ways::AtMostTwo || !is_declared(drawing, node) && pipe_ends(drawing, node, charge)? > 2 {
        return Ok(false);
    }
    Ok(match role {
        Role::Control => accepts_actuated,
        _ => match hand_valve(drawing, node, charge)? {
            HandValve::Certain => true,
            HandValve::Actuated | HandValve::ActuatedByTag => accepts_actuated,
            HandValve::ContradictoryClass | HandValve::SelfActingByTag | HandValve::UnknownByTag => false,
            HandValve::UnknownPart | HandValve::ThirdPipe => false,
        },
    })
}

/// Returns whether a text of a valve, or the name of its symbol, calls it something that does not close, or a class field
/// that it is not there.
fn is_contradicted(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.memos.is_or_compute(Property::IsContradicted, node, || reads_contradiction(drawing, node))
}

fn reads_contradiction(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let config = &drawing.topology.config;
    let is_other = |role: Role| {
        matches!(role, Role::OneWay | Role::Relief | Role::Control | Role::MultiWay | Role::Blind | Role::OpenEnd)
    };
    let does_not_close = |role: Role| matches!(role, Role::OneWay | Role::Relief | Role::MultiWay);
    let is_other_class = |class: &str| match config.role_of(class) {
        Some(role) => is_other(role),
        None => config.passage_of(class).is_some() || config.role_of_valve(class).is_some_and(does_not_close),
    };
    // Labels and descriptions are read by `installation`.
    let is_absent = |class: &str| phrases::installation_by_text(class) != Installation::Installed;
    let is_there = || installation(drawing, node) == Installation::Installed;
    let symbols = valve_state::texts(drawing, node, Names::ComponentName);
    let classes = valve_state::texts(drawing, node, Names::Class);
    classes.chain(symbols).any(|class| is_other_class(class) || is_absent(class) && is_there())
        || valve_state::all_texts(drawing, node).any(|(text, kind)| phrases::names_other_item(text, kind))
        || actuation::described_roles(drawing, node).any(does_not_close)
}

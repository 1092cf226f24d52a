//! Effect of an item on the flow through a relief path, by its class and by what the drawing states about it.
//!
//! API 520-2, ISO 23251 and NORSOK P-002 accept a stop valve in a relief path only if it is locked or sealed open; a
//! valve that merely is open may be closed at any time.

use hashbrown::HashSet;

use super::devices::opens_inwards;
use super::paths::{Branches, Search, is_air_end, is_end};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::index::Key;
use crate::graph::node_memo::Property;
use crate::graph::roles::{Passage, Role, TagLetters};
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary::{self, Limited, text_limits};
use crate::pid::dead_ends::neighbors;
use crate::pid::valve_state::actuation::{is_actuated, tag_letters};
use crate::pid::valve_state::check_valves::has_handwheel;
use crate::pid::valve_state::closed_texts::{may_not_stay_open, says_closed};
use crate::pid::valve_state::out_of_action::is_out_of_action;
use crate::pid::valve_state::pipes::{self, PipeState};
use crate::pid::valve_state::unread_texts::{has_doubtful_text, has_unread_note, says_faulty};
use crate::pid::valve_state::way_count::{Ways, ways};
use crate::pid::valve_state::{self, BlindPosition, Installation, Spool, blind_position, has_several_ways};
use crate::pid::{ChargeFn, joints};

/// Passage of an item or a side, as the drawing states it.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) enum Effect {
    /// Open, and nobody can close it.
    Open,
    /// Open, but it may be closed.
    MayClose,
    Unknown,
    Closed,
}

/// Direction of the relief flow along a path that starts at the device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Flow {
    ToDevice,
    FromDevice,
    /// The sides are not known, or the device opens in both directions.
    Unknown,
}

/// Property of an item, or of a device, that its relief depends on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Cause {
    LockedOpen,
    /// A check valve that opens in the direction of the relief flow.
    CheckValve,
    /// An item that is narrower than the pipe.
    Restriction,
    /// A rupture disc behind the outlet, which bursts at its own set pressure and is open then.
    SecondDisc,
    /// An orifice in the inlet, which is narrower than the device needs.
    Orifice,
    /// The relief valve of a rupture disc, before or behind it, which opens at its own set pressure.
    ValveOfDisc,
    /// Another relief valve behind the outlet, which opens only at its own set pressure.
    ReliefDevice,
    /// A vacuum breaker in the path, which lets only air in.
    OpensInwards,
    /// A coupling that is released by hand or by a pull, and may close then.
    Coupling,
    /// An item at which a pipe ends in the open air: a vent line, a funnel.
    AirEnd,
    /// An item that is often the end of a pipe in the open air: a silencer.
    LikelyAirEnd,
    /// A pipe of the path without a direction, or against the relief flow.
    PipeDirection,
    /// An edge of unknown kind at the device, which may be a pipe.
    UnknownConnection,
    /// The machine whose outlet the device protects, if the flow returns to its suction.
    OwnSuction,
    NotLocked,
    Actuated,
    OpenBlind,
    RemovableSpool,
    /// A valve of several ways that may close more than one of them.
    SomeWaysClosed,
    ClosedValve,
    LockedClosed,
    ClosedBlind,
    BlindFlange,
    /// A cap or a plug: the pipe ends there.
    Capped,
    RemovedSpool,
    CheckValveAgainstFlow,
    CheckValveDirection,
    BlindWithoutPosition,
    OpenBlindFlange,
    UnknownPosition,
    SeveralWays,
    ExcessFlowValve,
    Trap,
    UnknownClass,
    NotInstalled,
    UnknownStatus,
    /// Another item has the same id.
    SharedId,
    /// The pipe to the item is closed.
    ClosedPipe,
    /// The pipe to the item is not there.
    PipeNotInstalled,
    UnknownPipeStatus,
    /// The pipes of the two connectors of joined sheets differ.
    DifferentPipes,
    /// The only way leads through a machine.
    Machine,
    /// The path continues on another sheet.
    OffSheet,
    /// The pipes lead to an end only against their direction.
    FlowDirection,
    NoInlet,
    NoOutlet,
    /// Pipes without a direction, none of which is known to be the inlet.
    UnstatedInlet,
    /// Equipment of a flare without an outlet.
    NoWayOut,
    /// An open end that an import has added where the drawing has no end.
    EndNotDrawn,
    /// An outlet of equipment that may be on another side than the relief flow.
    UnstatedSide,
    /// Equipment without a way out, or whose own relief or all ways out are closed or lead only back.
    ReceiverNotRelieved,
    /// The device is marked as isolated, locked closed or bypassed.
    DeviceIsolated,
    /// A text or a mark of the device says that it does not act.
    DeviceOutOfAction,
    /// A text of the device may say that it does not act, in words that no rule understands.
    UnreadText,
    DeviceNotInstalled,
    UnknownDeviceStatus,
}

/// Causes in their order, with their word in results, their effect, and the text of a finding after the name of the item.
const CAUSES: &[(Cause, &str, Effect, &str)] = &[
    (Cause::LockedOpen, "locked_open", Effect::Open, "is locked open"),
    (Cause::CheckValve, "check_valve", Effect::Open, "is a check valve, which must open for the relief flow"),
    (Cause::Restriction, "restriction", Effect::Open, "is narrower than the pipe and limits the relief flow"),
    (
        Cause::SecondDisc,
        "relief_device",
        Effect::Open,
        "is a rupture disc, which must burst for the relief flow at its own set pressure",
    ),
    (Cause::Orifice, "restriction", Effect::Open, "is an orifice in the inlet and limits the relief flow"),
    (
        Cause::ValveOfDisc,
        "relief_device",
        Effect::Open,
        "is the relief valve in series with the disc, and opens at its own set pressure",
    ),
    (
        Cause::ReliefDevice,
        "relief_device",
        Effect::Unknown,
        "is a relief device, which must open for the relief flow at its own set pressure",
    ),
    (Cause::OpensInwards, "opens_inwards", Effect::Unknown, "opens inwards only and lets no relief flow out"),
    (Cause::Coupling, "coupling", Effect::Unknown, "is a coupling, which may be released"),
    (Cause::AirEnd, "open_end", Effect::Open, "ends in the open air"),
    (Cause::LikelyAirEnd, "likely_open_end", Effect::Open, "is likely to end in the open air"),
    (
        Cause::PipeDirection,
        "pipe_direction",
        Effect::Open,
        "is joined by a pipe without a direction, or against the relief flow",
    ),
    (Cause::UnknownConnection, "unknown_connection", Effect::Open, "has an edge of unknown kind, which may be a pipe"),
    (Cause::OwnSuction, "own_suction", Effect::Open, "receives the relief flow at its own suction, where it heats up"),
    (Cause::NotLocked, "not_locked_open", Effect::MayClose, "could be closed, since it is not locked open"),
    (Cause::Actuated, "actuated_valve", Effect::MayClose, "could be closed by its actuator"),
    (Cause::OpenBlind, "open_blind", Effect::MayClose, "is a blind, which could be closed"),
    (Cause::RemovableSpool, "removable_spool", Effect::MayClose, "is a spool, which could be removed"),
    (
        Cause::SomeWaysClosed,
        "several_ways",
        Effect::MayClose,
        "is a valve of several ways and may close more than one of them",
    ),
    (Cause::ClosedValve, "closed_valve", Effect::Closed, "is closed"),
    (Cause::LockedClosed, "locked_closed", Effect::Closed, "is locked closed"),
    (Cause::ClosedBlind, "closed_blind", Effect::Closed, "is a closed blind"),
    (Cause::BlindFlange, "blind_flange", Effect::Closed, "is a blind flange"),
    (Cause::Capped, "capped", Effect::Closed, "is a cap or a plug, at which the pipe ends"),
    (Cause::RemovedSpool, "removed_spool", Effect::Closed, "is a removed spool"),
    (
        Cause::CheckValveAgainstFlow,
        "check_valve_against_flow",
        Effect::Closed,
        "is a check valve that closes against the relief flow",
    ),
    (
        Cause::CheckValveDirection,
        "check_valve_direction",
        Effect::Unknown,
        "is a check valve that may close against the relief flow",
    ),
    (Cause::BlindWithoutPosition, "blind_without_position", Effect::Unknown, "is a blind without a position"),
    (Cause::OpenBlindFlange, "open_blind_flange", Effect::Unknown, "is a blind flange that is drawn open"),
    (Cause::UnknownPosition, "unknown_position", Effect::Unknown, "has an unknown position"),
    (Cause::SeveralWays, "several_ways", Effect::Unknown, "joins several pipes and may close some of them"),
    (
        Cause::ExcessFlowValve,
        "excess_flow_valve",
        Effect::Unknown,
        "is an excess flow valve, which closes at a high flow",
    ),
    (Cause::Trap, "trap", Effect::Unknown, "lets only gas or only liquid through"),
    (Cause::UnknownClass, "unknown_class", Effect::Unknown, "is of unknown class"),
    (Cause::NotInstalled, "not_installed", Effect::Unknown, "is not installed"),
    (Cause::UnknownStatus, "unknown_status", Effect::Unknown, "has a status that does not say whether it is installed"),
    (Cause::SharedId, "shared_id", Effect::Unknown, "has the id of another item, whose pipes may be meant"),
    (Cause::ClosedPipe, "closed_pipe", Effect::Closed, "is reached by a pipe that is closed"),
    (Cause::PipeNotInstalled, "pipe_not_installed", Effect::Unknown, "is reached by a pipe that is not installed"),
    (
        Cause::UnknownPipeStatus,
        "unknown_pipe_status",
        Effect::Unknown,
        "is reached by a pipe whose status does not say whether it is installed",
    ),
    (
        Cause::DifferentPipes,
        "joint_of_different_pipes",
        Effect::Unknown,
        "is joined to a connector whose pipe differs, and may be no partner of it",
    ),
    (Cause::Machine, "machine", Effect::Unknown, "is a machine, which may let no flow through when it stands still"),
    (Cause::OffSheet, "continues_off_sheet", Effect::Unknown, "is where the sheet ends"),
    (Cause::FlowDirection, "flow_direction", Effect::Unknown, "can be reached only against the direction of the pipes"),
    (Cause::NoInlet, "no_inlet", Effect::Unknown, "has no inlet from anything that it protects"),
    (Cause::NoOutlet, "no_outlet", Effect::Unknown, "has no outlet to where it discharges"),
    (Cause::UnstatedInlet, "unstated_inlet", Effect::Unknown, "has pipes that do not say which of them is its inlet"),
    (Cause::NoWayOut, "no_way_out", Effect::Unknown, "has no outlet to anything"),
    (Cause::EndNotDrawn, "end_not_drawn", Effect::Unknown, "is where the pipe has no end on the drawing"),
    (
        Cause::UnstatedSide,
        "unstated_side",
        Effect::Unknown,
        "may be on another side of its equipment than the relief flow",
    ),
    (
        Cause::ReceiverNotRelieved,
        "receiver_not_relieved",
        Effect::Unknown,
        "takes in the relief flow and has no way out, or only one that is closed or leads back to where it comes from",
    ),
    (Cause::DeviceIsolated, "device_isolated", Effect::Unknown, "is marked as isolated, locked closed or bypassed"),
    (Cause::DeviceOutOfAction, "device_out_of_action", Effect::Unknown, "is said not to act"),
    (Cause::UnreadText, "unread_text", Effect::Unknown, "has a text that may say that it does not act"),
    (Cause::DeviceNotInstalled, "device_not_installed", Effect::Closed, "is not installed"),
    (
        Cause::UnknownDeviceStatus,
        "unknown_device_status",
        Effect::Unknown,
        "has a status that does not say whether it is installed",
    ),
];

/// The row of a cause is that of its number.
const _: () = {
    let mut at = 0;
    while at < CAUSES.len() {
        assert!(CAUSES[at].0 as usize == at);
        at += 1;
    }
};

impl Cause {
    fn row(self) -> &'static (Cause, &'static str, Effect, &'static str) {
        &CAUSES[self as usize]
    }

    /// Returns the word in results.
    pub fn word(self) -> &'static str {
        self.row().1
    }

    /// Returns whether a path with it is not certain, though nothing closes it.
    pub fn is_uncertainty(self) -> bool {
        matches!(self, Cause::PipeDirection | Cause::UnknownConnection | Cause::LikelyAirEnd | Cause::Orifice)
    }

    /// Returns whether it is listed, and is no finding.
    pub fn is_only_listed(self) -> bool {
        matches!(self, Cause::AirEnd | Cause::ValveOfDisc) || self.is_uncertainty() && self != Cause::Orifice
    }

    pub fn effect(self) -> Effect {
        self.row().2
    }

    /// Returns the predicate of a sentence about the item.
    pub fn predicate(self) -> &'static str {
        self.row().3
    }
}

/// Returns what may hinder the flow at an item of a path, or be said about it; `None` if it is always open.
/// `before` is the item next to it towards the device, `next` the one behind it or `NONE`.
pub(super) fn cause_at(
    drawing: &Drawing<'_>,
    [before, node, next]: [NodeId; 3],
    flow: Flow,
    charge: ChargeFn<'_>,
) -> Result<Option<Cause>> {
    let of_pipe = pipe_cause(drawing, [before, node], charge)?;
    let of_item = item_cause(drawing, [before, node, next], flow, charge)?;
    let effect = |cause: &Option<Cause>| cause.map(Cause::effect);
    Ok(if effect(&of_pipe) > effect(&of_item) { of_pipe } else { of_item })
}

/// Returns what may hinder the flow in the pipe between two items; `None` if it is open, or one of them is [`NONE`].
pub(super) fn pipe_cause(drawing: &Drawing<'_>, between: [NodeId; 2], charge: ChargeFn<'_>) -> Result<Option<Cause>> {
    if between.contains(&NONE) {
        return Ok(None);
    }
    Ok(match pipes::state_between(drawing, between, charge)? {
        PipeState::Open => joint_cause(drawing, between, charge)?,
        PipeState::Unknown => Some(Cause::UnknownPipeStatus),
        PipeState::NotInstalled => Some(Cause::PipeNotInstalled),
        PipeState::Closed => Some(Cause::ClosedPipe),
    })
}

/// Returns whether an item is closed, from whichever side the flow comes, or all pipes to it from the one before it,
/// which may be [`NONE`].
pub(crate) fn is_closed(drawing: &Drawing<'_>, [before, node]: [NodeId; 2], charge: ChargeFn<'_>) -> Result<bool> {
    let role = drawing.topology.roles[node as usize];
    let cause = match role.closes() || matches!(role, Role::OneWay | Role::None) {
        true => item_cause(drawing, [NONE, node, NONE], Flow::Unknown, charge)?,
        false => None,
    };
    if cause.is_some_and(|cause| cause.effect() == Effect::Closed) {
        return Ok(true);
    }
    Ok(before != NONE && pipes::state_between(drawing, [before, node], charge)? == PipeState::Closed)
}

/// Returns whether two connectors are joined whose pipes differ.
fn joint_cause(drawing: &Drawing<'_>, between: [NodeId; 2], charge: ChargeFn<'_>) -> Result<Option<Cause>> {
    if between.iter().any(|node| drawing.topology.roles[*node as usize] != Role::OffPage) {
        return Ok(None);
    }
    let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    let joints = table.arcs(between[0]).filter(|(other, _)| *other == between[1]).map(|(_, edge)| edge);
    for joint in joints.filter(|edge| drawing.topology.is_joint(*edge)) {
        if joints::is_contradicting(drawing, joint, charge)? {
            return Ok(Some(Cause::DifferentPipes));
        }
    }
    Ok(None)
}

/// Returns the same for the item without the pipe to it.
pub(super) fn item_cause(
    drawing: &Drawing<'_>,
    [before, node, next]: [NodeId; 3],
    flow: Flow,
    charge: ChargeFn<'_>,
) -> Result<Option<Cause>> {
    let cause = class_cause(drawing, [before, node, next], flow, charge)?;
    let role = drawing.topology.roles[node as usize];
    if matches!(role, Role::Equipment | Role::Port) || cause.is_some_and(|cause| cause.effect() >= Effect::Unknown) {
        return Ok(cause);
    }
    let by_id = || has_shared_id(drawing, node).then_some(Cause::SharedId);
    let by_text = || {
        let may_be_closed = match role {
            Role::OffPage => is_out_of_action(drawing, node) || has_doubtful_text(drawing, node),
            _ => role == Role::OpenEnd && says_faulty(drawing, node),
        };
        may_be_closed.then_some(Cause::UnknownStatus)
    };
    let by_status = installation_cause(valve_state::installation(drawing, node));
    Ok(by_status.or_else(by_id).or_else(by_text).or(cause))
}

/// Returns whether another node has the id of an item: an edge may mean either of them.
fn has_shared_id(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let Some(key) = Key::from_value(drawing.id(node)) else { return false };
    let has_id = |other: NodeId| Key::from_value(drawing.id(other)) == Some(key);
    drawing.topology.by_id(key, has_id).nth(1).is_some()
}

/// Returns what may hinder the flow at a port of equipment: the pipe to it, or that the port or the equipment is not there.
pub(super) fn port_cause(
    drawing: &Drawing<'_>,
    [before, port]: [NodeId; 2],
    charge: ChargeFn<'_>,
) -> Result<Option<Cause>> {
    let of_pipe = pipe_cause(drawing, [before, port], charge)?;
    if of_pipe.is_some_and(|cause| cause.effect() >= Effect::Unknown) {
        return Ok(of_pipe);
    }
    let equipment = drawing.topology.equipment_or_self(port);
    let worst = valve_state::installation(drawing, port).max(valve_state::installation(drawing, equipment));
    Ok(installation_cause(worst).or(of_pipe))
}

/// Returns whether the drawing leaves no doubt that an end of a pipe is there, and the equipment that it belongs to.
pub(super) fn is_there(drawing: &Drawing<'_>, end: NodeId) -> bool {
    [end, drawing.topology.equipment_or_self(end)]
        .into_iter()
        .all(|node| valve_state::installation(drawing, node) == Installation::Installed)
}

fn installation_cause(installation: Installation) -> Option<Cause> {
    match installation {
        Installation::Installed => None,
        Installation::Unknown => Some(Cause::UnknownStatus),
        Installation::NotInstalled => Some(Cause::NotInstalled),
    }
}

/// Returns the same for an item that is there.
fn class_cause(
    drawing: &Drawing<'_>,
    [before, node, next]: [NodeId; 3],
    flow: Flow,
    charge: ChargeFn<'_>,
) -> Result<Option<Cause>> {
    Ok(match drawing.topology.roles[node as usize] {
        Role::MultiWay => several_ways(drawing, [before, node, next], flow, charge)?,
        Role::Barrier | Role::Control if has_several_ways(drawing, node) => {
            several_ways(drawing, [before, node, next], flow, charge)?
        }
        Role::Barrier | Role::Control if ways(drawing, node) == Ways::Unknown => Some(Cause::SeveralWays),
        // The class is not that of a change-over valve: it may close all ways.
        Role::Barrier | Role::Control if neighbors(drawing, node, charge)?.len() > 2 => Some(Cause::SeveralWays),
        Role::Barrier | Role::Control => Some(valve_cause(drawing, node, charge)?),
        Role::Blind | Role::PositiveBarrier | Role::None => stated_cause(drawing, node),
        // A stop check valve has a handwheel, and may be locked by it.
        Role::OneWay if valve_state::is_locked_closed(drawing, node) => Some(Cause::LockedClosed),
        Role::OneWay => {
            let by_direction = check_valve_cause(drawing, [before, node, next], flow, charge)?;
            let by_handwheel = match has_handwheel(drawing, node) {
                true => Some(valve_cause(drawing, node, charge)?),
                false => None,
            };
            let effect = |cause: &Option<Cause>| cause.map(Cause::effect);
            if effect(&by_handwheel) > effect(&by_direction) { by_handwheel } else { by_direction }
        }
        Role::OpenEnd if is_synthetic(drawing, node) => Some(Cause::EndNotDrawn),
        Role::Relief if flow != Flow::Unknown && opens_inwards(drawing, node) => Some(Cause::OpensInwards),
        _ => None,
    })
}

/// Returns whether an item was made by an import, and is not on the drawing.
pub(super) fn is_synthetic(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let object = drawing.node(node).as_object();
    object.and_then(|object| object.get("synthetic")).and_then(valve_state::truth) == Some(true)
}

fn valve_cause(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Cause> {
    if let Some(cause) = stated_cause(drawing, node) {
        return Ok(cause);
    }
    Ok(match () {
        // A trip or the loss of its supply closes it in spite of a lock of its handwheel.
        () if drawing.topology.roles[node as usize] == Role::Control => Cause::Actuated,
        () if is_actuated(drawing, node, charge)? => Cause::Actuated,
        () if tag_letters(drawing, node) == TagLetters::Actuated => Cause::Actuated,
        () if valve_state::is_locked_open(drawing, node) => Cause::LockedOpen,
        () if valve_state::has_unknown_position(drawing, node) => Cause::UnknownPosition,
        () => Cause::NotLocked,
    })
}

/// Returns what a blind, an item without a role, or the position, the lock and the texts of a valve say about the flow.
/// Searches need it repeatedly.
fn stated_cause(drawing: &Drawing<'_>, node: NodeId) -> Option<Cause> {
    let read = || match drawing.topology.roles[node as usize] {
        Role::Blind => Some(blind_cause(drawing, node)),
        Role::PositiveBarrier => Some(closure_cause(drawing, node)),
        Role::None => unclassified_cause(drawing, node),
        _ => position_cause(drawing, node),
    };
    let read = || read().map_or(0, |cause| cause as u8 + 1);
    let number = drawing.topology.memos.get_or_compute(Property::StatedCause, node, read);
    CAUSES.get(usize::from(number).checked_sub(1)?).map(|row| row.0)
}

fn position_cause(drawing: &Drawing<'_>, node: NodeId) -> Option<Cause> {
    match () {
        () if valve_state::is_not_installed(drawing, node) => Some(Cause::NotInstalled),
        () if valve_state::is_locked_closed(drawing, node) => Some(Cause::LockedClosed),
        () if valve_state::is_closed(drawing, node) => Some(Cause::ClosedValve),
        () if valve_state::is_locked_in_unknown_position(drawing, node) => Some(Cause::UnknownPosition),
        () if valve_state::contradicts_open(drawing, node) => Some(Cause::UnknownPosition),
        () if says_closed(drawing, node) || has_unread_note(drawing, node) => Some(Cause::UnknownPosition),
        () if may_not_stay_open(drawing, node) => Some(Cause::UnknownPosition),
        () => None,
    }
}

fn blind_cause(drawing: &Drawing<'_>, node: NodeId) -> Cause {
    match valve_state::spool(drawing, node) {
        Spool::Removed => return Cause::RemovedSpool,
        Spool::Removable => return Cause::RemovableSpool,
        Spool::Installed => {}
    }
    match blind_position(drawing, node) {
        BlindPosition::Closed => Cause::ClosedBlind,
        BlindPosition::Open => Cause::OpenBlind,
        BlindPosition::Unknown => Cause::BlindWithoutPosition,
    }
}

fn closure_cause(drawing: &Drawing<'_>, node: NodeId) -> Cause {
    match () {
        () if valve_state::spool(drawing, node) == Spool::Removed => Cause::RemovedSpool,
        () if valve_state::is_not_installed(drawing, node) => Cause::NotInstalled,
        () if blind_position(drawing, node) == BlindPosition::Open => Cause::OpenBlindFlange,
        () => Cause::BlindFlange,
    }
}

fn unclassified_cause(drawing: &Drawing<'_>, node: NodeId) -> Option<Cause> {
    match valve_state::spool(drawing, node) {
        Spool::Installed if is_air_end(drawing, node) => {
            let is_sure = drawing.class_ends_with_word(node, vocabulary::AIR_ENDS);
            Some(if is_sure { Cause::AirEnd } else { Cause::LikelyAirEnd })
        }
        Spool::Removed => Some(Cause::RemovedSpool),
        Spool::Removable => Some(Cause::RemovableSpool),
        Spool::Installed if valve_state::is_not_installed(drawing, node) => Some(Cause::NotInstalled),
        Spool::Installed if valve_state::is_declared(drawing, node) => None,
        Spool::Installed if is_there_at_times(drawing, node) => Some(Cause::UnknownStatus),
        Spool::Installed if drawing.class_has(node, vocabulary::EXCESS_FLOW) => Some(Cause::ExcessFlowValve),
        Spool::Installed if drawing.class_has(node, vocabulary::TRAPS) => Some(Cause::Trap),
        Spool::Installed if drawing.class_has(node, vocabulary::COUPLINGS) => Some(Cause::Coupling),
        Spool::Installed if is_end_of_pipe(drawing, node) => Some(Cause::Capped),
        Spool::Installed if drawing.passage(node).is_none() => Some(Cause::UnknownClass),
        Spool::Installed => drawing.class_has(node, vocabulary::RESTRICTIONS).then_some(Cause::Restriction),
    }
}

/// Returns whether a text of a hose says that it is there at times only: `connect when required`.
fn is_there_at_times(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let says_so = |text: &str| text_limits(&text.to_lowercase(), Limited::Hose);
    drawing.class_has(node, vocabulary::HOSES)
        && (has_doubtful_text(drawing, node)
            || [Names::Remarks, Names::Description]
                .into_iter()
                .any(|names| valve_state::texts(drawing, node, names).any(says_so)))
}

/// Returns whether a pipe ends at an item: at a cap, at a plug, or at a well without a further pipe.
fn is_end_of_pipe(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.passage(node) == Some(Passage::End)
        && (drawing.topology.flow_degree(node) < 2 || !drawing.class_has(node, vocabulary::WELLS))
}

/// Returns what is to be said about a check valve. It is open if one of its pipes runs with the relief flow, and none
/// against it.
fn check_valve_cause(
    drawing: &Drawing<'_>,
    [before, node, next]: [NodeId; 3],
    flow: Flow,
    charge: ChargeFn<'_>,
) -> Result<Option<Cause>> {
    let outward = [direction(drawing, before, node, charge)?, direction(drawing, node, next, charge)?];
    let with_flow = outward.map(|is_outward| is_outward.map(|is_outward| is_outward == (flow == Flow::FromDevice)));
    Ok(match () {
        () if flow == Flow::Unknown => Some(Cause::CheckValveDirection),
        () if with_flow.contains(&Some(false)) => Some(Cause::CheckValveAgainstFlow),
        () if with_flow.contains(&Some(true)) => Some(Cause::CheckValve),
        () => Some(Cause::CheckValveDirection),
    })
}

/// Returns whether the pipe between two items runs from the first to the second; `None` if the drawing does not state
/// it.
pub(super) fn direction(drawing: &Drawing<'_>, from: NodeId, to: NodeId, charge: ChargeFn<'_>) -> Result<Option<bool>> {
    let topology = &drawing.topology;
    if [from, to].contains(&NONE) {
        return Ok(None);
    }
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    // A header may have many pipes.
    let [near, far] = if table.degree(to) < table.degree(from) { [to, from] } else { [from, to] };
    charge(table.degree(near) as u64)?;
    let mut found = None;
    for (_, edge) in table.arcs(near).filter(|(other, edge)| *other == far && !topology.is_assumed(*edge)) {
        let is_forward = topology.flow_ends(edge)[0] == from;
        if found.is_some_and(|known| known != is_forward) {
            return Ok(None);
        }
        found = Some(is_forward);
    }
    Ok(found)
}

/// Returns what may be wrong with a valve of several ways. A change-over valve is open to one of its devices in any
/// position, unless it is drawn closed or not there; one in an outlet is open to one of its ends. Other valves of several
/// ways may be turned so that they close more than one.
fn several_ways(
    drawing: &Drawing<'_>,
    [before, node, next]: [NodeId; 3],
    flow: Flow,
    charge: ChargeFn<'_>,
) -> Result<Option<Cause>> {
    if valve_cause(drawing, node, charge)?.effect() >= Effect::Unknown {
        return Ok(Some(Cause::SeveralWays));
    }
    let around = neighbors(drawing, node, charge)?;
    let others: Vec<NodeId> = around.into_iter().filter(|other| ![before, next].contains(other)).collect();
    for other in &others {
        if !leads_elsewhere(drawing, node, *other, flow, charge)? {
            return Ok(Some(Cause::SeveralWays));
        }
    }
    Ok(match () {
        () if others.is_empty() => Some(Cause::SeveralWays),
        () if is_changeover(drawing, node) => None,
        () => Some(Cause::SomeWaysClosed),
    })
}

/// Returns whether a class or a description of a valve states that one of its ways is always open.
pub(super) fn is_changeover(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let names_changeover = |text: &str| {
        let text = snake_case(text);
        vocabulary::CHANGEOVER.iter().any(|word| text.contains(word))
    };
    let texts = [Names::Description, Names::ComponentName].map(|names| valve_state::texts(drawing, node, names));
    // A remark may be about another valve, unless it says nothing else.
    let is_changeover_alone = |text: &str| {
        let text = snake_case(text.trim());
        vocabulary::CHANGEOVER.contains(&text.strip_suffix("_valve").unwrap_or(&text))
            || vocabulary::CHANGEOVER.contains(&text.as_str())
    };
    drawing.class_has(node, vocabulary::CHANGEOVER)
        || texts.into_iter().flatten().any(names_changeover)
        || [Names::Remarks, Names::Service]
            .into_iter()
            .any(|names| valve_state::texts(drawing, node, names).any(is_changeover_alone))
}

/// Returns whether another way of a valve leads, past nothing that is closed or unknown, to another relief device, or
/// to an end at which an outlet discharges.
fn leads_elsewhere(
    drawing: &Drawing<'_>,
    valve: NodeId,
    first: NodeId,
    flow: Flow,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    const MAX_STEPS: usize = 20;
    let (mut before, mut node) = (valve, first);
    for _ in 0..MAX_STEPS {
        if drawing.topology.roles[node as usize] == Role::Relief {
            return Ok(true);
        }
        if is_end(drawing, node) {
            return Ok(flow == Flow::FromDevice);
        }
        let avoided = HashSet::from([before]);
        let search = Search::new(drawing, &avoided).along(Branches::MainAndRelief);
        let next = search.continuations(node, charge)?;
        let [only] = next.as_slice() else { return Ok(false) };
        let is_valve_of_several_ways =
            drawing.topology.roles[node as usize].closes() && neighbors(drawing, node, charge)?.len() > 2;
        let is_open = match drawing.topology.roles[node as usize] {
            Role::MultiWay | Role::OneWay => false,
            _ if is_valve_of_several_ways => false,
            _ => cause_at(drawing, [before, node, *only], Flow::Unknown, charge)?
                .is_none_or(|cause| cause.effect() < Effect::Unknown),
        };
        if !is_open {
            return Ok(false);
        }
        (before, node) = (node, *only);
    }
    Ok(false)
}

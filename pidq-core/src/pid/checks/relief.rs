//! Rule about relief paths: what closes, could close or hides the paths of relief devices.

use hashbrown::HashSet;

use super::Checker;
use super::Severity::{Error, Info, Warning};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::pid::relief::devices::{StatedBy, devices, opens_inwards};
use crate::pid::relief::inlet_ends::InletEnds;
use crate::pid::relief::items::{Cause, Effect};
use crate::pid::relief::protected::{EquipmentSide, Protected, is_driven, open_vent};
use crate::pid::relief::tails::Tails;
use crate::pid::relief::{PathState, Reason, ReliefPath};

/// Reports what closes or could close the paths of relief devices, and paths that the drawing does not show.
///
/// API 520-2, ISO 23251 and NORSOK P-002 demand a free path, or stop valves that are locked or sealed open. A standby
/// device may be closed off while another one protects the same equipment.
pub(super) fn blocked_relief(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    let drawing = checker.drawing;
    let (mut paths, mut by_tag) = (Vec::new(), Vec::new());
    let mut tails = Tails::default();
    for (device, stated_by) in devices(drawing, charge)? {
        let paths = if stated_by == StatedBy::Class { &mut paths } else { &mut by_tag };
        let path = ReliefPath::find(drawing, device, &mut tails, charge)?;
        let ends = InletEnds::find(drawing, &path, charge)?;
        paths.push((path, ends));
    }
    for (path, _) in &mut by_tag {
        path.reasons.iter_mut().for_each(|reason| reason.is_certain = false);
    }
    for (path, ends) in paths.iter().chain(&by_tag) {
        charge(1 + path.reasons.len() as u64)?;
        let standby = match path.state {
            PathState::Blocked => {
                ends.standby(drawing, path.device, &paths, charge)?.filter(|other| !opens_inwards(drawing, *other))
            }
            _ => None,
        };
        for reason in &path.reasons {
            report_relief(checker, path, reason, standby, charge)?;
        }
    }
    for (path, _) in
        by_tag.iter().filter(|(path, _)| path.reasons.iter().all(|reason| reason.state() == PathState::Open))
    {
        let name = checker.name(path.device);
        let message = format!("{name} has the tag of a relief device, and a class that does not say that it is one");
        checker.report_graded(Warning, false, message, &[path.device], &[]);
    }
    separated_relief(checker, &paths, charge)
}

/// Reports what could separate equipment from the only relief device near it, which is on a line to it. A device that
/// only its tag states protects nothing for certain, and is not asked for.
fn separated_relief(
    checker: &mut Checker<'_, '_>,
    paths: &[(ReliefPath, InletEnds)],
    charge: ChargeFn<'_>,
) -> Result<()> {
    let drawing = checker.drawing;
    let mut covered: HashSet<EquipmentSide> = HashSet::new();
    let relieves = |path: &&ReliefPath| path.state != PathState::Blocked && !opens_inwards(drawing, path.device);
    for path in paths.iter().map(|(path, _)| path).filter(relieves) {
        covered.extend(Protected::find(drawing, path, charge)?.certain());
    }
    for (path, ends) in paths.iter().filter(|(path, _)| path.state != PathState::Blocked) {
        let is_named = |at: NodeId| path.reasons.iter().any(|reason| reason.at == at);
        for (side, reason) in ends.separations(drawing, path, charge)? {
            charge(1 + path.reasons.len() as u64)?;
            if covered.contains(&side) || is_driven(drawing, side.0) || is_named(reason.at) {
                continue;
            }
            // Equipment is named once, with the first device.
            covered.insert(side);
            if open_vent(drawing, side, charge)?.is_none() {
                let [item, equipment, device] = [reason.at, side.0, path.device].map(|node| checker.name(node));
                let predicate = reason.cause.predicate();
                let message =
                    format!("{item} {predicate}, between {equipment} and {device}, the relief device next to it");
                let pipes = pipes_along(drawing, &reason.path, charge)?;
                checker.report_graded(Info, false, message, &[path.device, reason.at], &pipes);
            }
        }
    }
    Ok(())
}

/// Reports one item of a relief path. `standby` is an open device that protects the same equipment.
fn report_relief(
    checker: &mut Checker<'_, '_>,
    path: &ReliefPath,
    reason: &Reason,
    standby: Option<NodeId>,
    charge: ChargeFn<'_>,
) -> Result<()> {
    let is_worse = |other: &Reason| other.side == reason.side && other.cause.effect() > Effect::Open;
    let is_said = reason.cause == Cause::OffSheet
        && path.reasons.iter().any(|other| is_worse(other) && other.cause != Cause::OffSheet);
    let is_unconnected = path.sides.is_empty() && !is_of_device(reason.cause);
    if is_said || is_unconnected || reason.cause.is_only_listed() {
        return Ok(());
    }
    let effect = reason.cause.effect();
    let severity = match effect {
        _ if reason.cause == Cause::OffSheet => Info,
        Effect::Open => Info,
        Effect::MayClose if reason.behind.is_some() && !reason.is_certain => Info,
        Effect::MayClose | Effect::Unknown => Warning,
        // Whether it is a relief device or a valve, a closed one with this tag relieves nothing.
        Effect::Closed if is_closed_valve_with_tag(path, reason) => Error,
        Effect::Closed if !reason.is_certain => Warning,
        Effect::Closed => match (standby, reason.cause) {
            (Some(_), Cause::LockedClosed) => Info,
            (Some(_), Cause::ClosedValve) => Warning,
            _ => Error,
        },
    };
    let is_certain = reason.is_certain && effect != Effect::Unknown;
    let mut message = relief_message(checker, path.device, reason);
    if let Some(standby) = standby.filter(|_| effect == Effect::Closed) {
        message += &format!("; {} protects the same equipment", checker.name(standby));
    }
    let mut nodes = vec![path.device];
    nodes.extend(Some(reason.at).filter(|node| *node != path.device));
    let pipes = pipes_along(checker.drawing, &reason.path, charge)?;
    checker.report_graded(severity, is_certain, message, &nodes, &pipes);
    Ok(())
}

/// Returns whether a closed valve has the tag of a relief device.
fn is_closed_valve_with_tag(path: &ReliefPath, reason: &Reason) -> bool {
    reason.at == path.device && matches!(reason.cause, Cause::ClosedValve | Cause::LockedClosed)
}

/// Returns whether a cause is about the device itself, whatever is connected to it.
fn is_of_device(cause: Cause) -> bool {
    matches!(cause, Cause::DeviceNotInstalled | Cause::UnknownDeviceStatus | Cause::DeviceIsolated)
}

fn relief_message(checker: &Checker<'_, '_>, device: NodeId, reason: &Reason) -> String {
    let [item, device] = [reason.at, device].map(|node| checker.name(node));
    let (predicate, side) = (reason.cause.predicate(), reason.side.word());
    match (reason.cause, reason.behind) {
        (Cause::OffSheet, None) => {
            format!("beyond {item}, the drawing does not show whether a valve could block the relief path of {device}")
        }
        (Cause::NoInlet | Cause::NoOutlet, None) => format!("{device} {predicate}"),
        (cause, None) if is_of_device(cause) => format!("{device} {predicate}"),
        (_, Some(equipment)) => {
            let equipment = checker.name(equipment);
            format!("{item} {predicate}, on the way out of {equipment}, which {device} discharges to")
        }
        (_, None) => format!("{item} {predicate}, in the {side} of {device}"),
    }
}

/// Returns the pipes between the items of a path. The sides of equipment on the way have none.
fn pipes_along(drawing: &Drawing<'_>, path: &[NodeId], charge: ChargeFn<'_>) -> Result<Vec<EdgeId>> {
    let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    let mut pipes = Vec::with_capacity(path.len());
    for pair in path.windows(2) {
        charge(1 + table.degree(pair[0]) as u64)?;
        pipes.extend(table.arcs(pair[0]).find(|(other, _)| *other == pair[1]).map(|(_, edge)| edge));
    }
    Ok(pipes)
}

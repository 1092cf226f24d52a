//! Sides of a relief device: which of its pipes belong to the inlet, and which to the outlet.

use hashbrown::HashSet;

use super::items::{Flow, direction};
use super::paths::Search;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::{is_bleed_valve, neighbors};
use crate::pid::pipe_lines::impulse_lines::ends_impulse_line;

/// Side of a relief device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SideKind {
    Inlet,
    Outlet,
    /// A pipe by which a pilot senses the pressure.
    SensingLine,
    /// The drawing does not tell which one.
    Either,
}

impl SideKind {
    /// Returns the word in messages.
    pub fn word(self) -> &'static str {
        match self {
            SideKind::Inlet => "inlet",
            SideKind::Outlet => "outlet",
            SideKind::SensingLine => "sensing line",
            SideKind::Either => "path",
        }
    }
}

/// Returns the first items of a device, and whether they are on its inlet or its outlet.
///
/// The pipes tell it. Where they do not, and for a device that opens in both directions, the inlet is the side that
/// leads to equipment if the other does not.
pub(super) fn sides_of(drawing: &Drawing<'_>, device: NodeId, charge: ChargeFn<'_>) -> Result<Vec<(NodeId, SideKind)>> {
    let around = neighbors(drawing, device, charge)?;
    let is_breathing = drawing.class_has(device, vocabulary::VACUUM_RELIEF);
    let mut sides = Vec::with_capacity(around.len());
    for first in around {
        let kind = match direction(drawing, first, device, charge)?.filter(|_| !is_breathing) {
            Some(true) => SideKind::Inlet,
            Some(false) => SideKind::Outlet,
            None => SideKind::Either,
        };
        sides.push((first, kind));
    }
    let has = |sides: &[(NodeId, SideKind)], kind: SideKind| sides.iter().any(|(_, known)| *known == kind);
    match (has(&sides, SideKind::Inlet), has(&sides, SideKind::Outlet)) {
        (true, true) => sides.retain(|(_, kind)| *kind != SideKind::Either),
        _ if sides.len() == 1 => replace_unknown(&mut sides, SideKind::Inlet),
        (true, false) if has(&sides, SideKind::Either) => replace_unknown(&mut sides, SideKind::Outlet),
        (false, true) if has(&sides, SideKind::Either) => replace_unknown(&mut sides, SideKind::Inlet),
        _ => infer_sides(drawing, device, &mut sides, charge)?,
    }
    if is_breathing && sides.iter().all(|(_, kind)| *kind == SideKind::Either) {
        state_sides_by_pipes(drawing, device, &mut sides, charge)?;
    }
    remove_drains(drawing, device, &mut sides, charge)?;
    Ok(sides)
}

/// Takes the direction of the pipes as that of the relief of an overpressure, if there is one into the device and one out
/// of it: both sides of a breather valve lead to equipment where a tank breathes into a scrubber or a flare.
fn state_sides_by_pipes(
    drawing: &Drawing<'_>,
    device: NodeId,
    sides: &mut [(NodeId, SideKind)],
    charge: ChargeFn<'_>,
) -> Result<()> {
    let mut kinds = Vec::with_capacity(sides.len());
    for (first, _) in sides.iter() {
        kinds.push(direction(drawing, *first, device, charge)?);
    }
    if kinds.contains(&Some(true)) && kinds.contains(&Some(false)) && !kinds.contains(&None) {
        for ((_, kind), enters) in sides.iter_mut().zip(kinds) {
            *kind = if enters == Some(true) { SideKind::Inlet } else { SideKind::Outlet };
        }
    }
    Ok(())
}

/// Removes drains of the device itself and gauges at it, if it has another pipe on that side.
fn remove_drains(
    drawing: &Drawing<'_>,
    device: NodeId,
    sides: &mut Vec<(NodeId, SideKind)>,
    charge: ChargeFn<'_>,
) -> Result<()> {
    for kind in [SideKind::Inlet, SideKind::Outlet] {
        let mut drains = HashSet::new();
        for (first, _) in sides.iter().filter(|(_, known)| *known == kind) {
            let is_drain = ends_impulse_line(drawing, *first) || is_bleed_valve(drawing, *first, device, charge)?;
            drains.extend(is_drain.then_some(*first));
        }
        if sides.iter().any(|(first, known)| *known == kind && !drains.contains(first)) {
            sides.retain(|(first, _)| !drains.contains(first));
        }
    }
    Ok(())
}

fn replace_unknown(sides: &mut [(NodeId, SideKind)], by: SideKind) {
    sides.iter_mut().filter(|(_, kind)| *kind == SideKind::Either).for_each(|(_, kind)| *kind = by);
}

/// Takes the sides that lead to equipment as inlets if others do not: a flare is no equipment that is protected. If none
/// does, only another sheet can have what the device protects.
fn infer_sides(
    drawing: &Drawing<'_>,
    device: NodeId,
    sides: &mut [(NodeId, SideKind)],
    charge: ChargeFn<'_>,
) -> Result<()> {
    let topology = &drawing.topology;
    let avoided = sides.iter().map(|(first, _)| *first).chain([device]).collect();
    let (mut reaches_equipment, mut reaches_protected) = (Vec::with_capacity(sides.len()), Vec::new());
    let mut leaves_sheet = false;
    for (first, _) in sides.iter() {
        let ends = Search::new(drawing, &avoided).ends(*first, charge)?;
        let is_protected =
            |end: NodeId| topology.is_equipment(end) && !drawing.is_relief_end(topology.equipment_or_self(end));
        reaches_protected.push(ends.iter().any(|end| is_protected(*end)));
        reaches_equipment.push(ends.iter().any(|end| topology.is_equipment(*end)));
        leaves_sheet |= ends.iter().any(|end| topology.roles[*end as usize] == Role::OffPage);
    }
    if !reaches_equipment.contains(&false) {
        reaches_equipment = reaches_protected;
    }
    let is_decided = reaches_equipment.contains(&true) && reaches_equipment.contains(&false);
    let undecided = match reaches_equipment.contains(&true) || leaves_sheet {
        true => SideKind::Either,
        false => SideKind::Outlet,
    };
    for ((_, kind), reaches) in sides.iter_mut().zip(reaches_equipment) {
        *kind = match (is_decided, reaches) {
            (false, _) => undecided,
            (true, true) => SideKind::Inlet,
            (true, false) => SideKind::Outlet,
        };
    }
    Ok(())
}

pub(super) fn flow_of(drawing: &Drawing<'_>, device: NodeId, kind: SideKind) -> Flow {
    match kind {
        _ if drawing.class_has(device, vocabulary::VACUUM_RELIEF) => Flow::Unknown,
        SideKind::Inlet | SideKind::SensingLine => Flow::ToDevice,
        SideKind::Outlet => Flow::FromDevice,
        SideKind::Either => Flow::Unknown,
    }
}

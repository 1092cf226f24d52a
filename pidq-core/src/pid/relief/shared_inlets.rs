//! Lines to several ends at the inlet of a relief device: a line that goes on past the device, or an inlet that several
//! vessels share, each by a branch of its own.

use std::collections::VecDeque;

use hashbrown::HashSet;

use super::best_route::Routes;
use super::devices::is_thermal;
use super::items::{Effect, direction};
use super::paths::Search;
use super::reasons::is_position_stated;
use super::side_search::{Found, Start};
use super::sides::SideKind;
use super::{PathState, ReliefPath, copy_cost};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::pid::loops::protection;

/// Line at the inlet of a device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum InletLine {
    /// Line to one side of equipment, or one that is closed or unknown before it branches.
    ToOneEnd,
    /// Line that flows on to an end, and is open to the device: the device may protect the pipe alone.
    GoesOn,
    /// Line between several ends with pipes of unknown direction: it may go on, or be a shared inlet.
    MayGoOn,
    /// Line into which several ends flow, and that leads only to the device: each branch belongs to the inlet.
    Shared,
}

/// Returns which line a device has at an inlet that has been searched. `shared` are the positions of the items that all its
/// ways lead through.
pub(super) fn inlet_line(
    drawing: &Drawing<'_>,
    start: &Start,
    found: &Found<'_, '_>,
    shared: &[usize],
    charge: ChargeFn<'_>,
) -> Result<InletLine> {
    if start.kind != SideKind::Inlet {
        return Ok(InletLine::ToOneEnd);
    }
    let mut line = InletLine::GoesOn;
    let mut last_shared = shared.last().copied().unwrap_or(0);
    if !has_several_ends(drawing, &found.search, start.first, charge)? {
        // The line may go on past the item at the outlet: a device around a valve.
        let avoided = HashSet::from([start.device]);
        let around = found.search.avoiding(&avoided);
        if !has_several_ends(drawing, &around, start.first, charge)? {
            return Ok(InletLine::ToOneEnd);
        }
        last_shared = around.shared_positions(&found.path, charge)?.last().copied().unwrap_or(0);
    } else {
        line = line_to_ends(drawing, &found.search, start.first, charge)?;
    }
    if line == InletLine::Shared {
        return Ok(line);
    }
    for at in 0..=last_shared {
        let cause = start.cause(drawing, &found.path, at, charge)?;
        if cause.is_some_and(|cause| cause.effect() >= Effect::Unknown) {
            return Ok(InletLine::ToOneEnd);
        }
    }
    Ok(line)
}

/// Returns whether a device is at a line that it may protect alone, and that flows on to an end.
pub(super) fn is_line_alone(
    drawing: &Drawing<'_>,
    start: &Start,
    found: &Found<'_, '_>,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    Ok(start.kind == SideKind::Inlet
        && protects_line_alone(drawing, start, charge)?
        && has_several_ends(drawing, &found.search, start.first, charge)?
        && line_to_ends(drawing, &found.search, start.first, charge)? == InletLine::GoesOn)
}

/// Returns whether a device at a line that flows on protects it, whatever closes farther on and wherever it comes from: it is
/// for the expansion of what is in the line, or the line comes from a valve that reduces its pressure.
pub(super) fn protects_line_alone(drawing: &Drawing<'_>, start: &Start, charge: ChargeFn<'_>) -> Result<bool> {
    Ok(is_thermal(drawing, start.device) || is_behind_reducing_valve(drawing, start.first, charge)?)
}

/// Returns whether the line at an item comes from a control valve or a regulator on this sheet, along its direction.
fn is_behind_reducing_valve(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    const MAX_ITEMS: usize = 64;
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Up);
    let mut seen: HashSet<NodeId> = HashSet::from([node]);
    let mut queue = vec![node];
    while let Some(node) = queue.pop().filter(|_| seen.len() <= MAX_ITEMS) {
        charge(1 + table.degree(node) as u64)?;
        if topology.roles[node as usize] == Role::Control && !protection::is_shutdown_valve(drawing, node) {
            return Ok(true);
        }
        if topology.is_equipment(node) || topology.is_sheet_end(node) {
            continue;
        }
        let stated = table.arcs(node).filter(|(_, pipe)| !topology.is_assumed(*pipe));
        queue.extend(stated.map(|(next, _)| next).filter(|next| seen.insert(*next)));
    }
    Ok(false)
}

impl ReliefPath {
    /// Returns the state of the path for the equipment at the end of a way that starts next to the device. The device may be
    /// open to other equipment of a shared inlet; if something on this way is not stated to be open, another way may be.
    pub(crate) fn state_along(&self, drawing: &Drawing<'_>, way: &[NodeId], charge: ChargeFn<'_>) -> Result<PathState> {
        let side = self.sides.iter().find(|side| side.kind == SideKind::Inlet && way.first() == Some(&side.first));
        let Some(side) = side.filter(|_| self.state == PathState::Open) else { return Ok(self.state) };
        let start = Start::new(drawing, self.device, side.first, side.kind);
        let end = way.iter().position(|node| drawing.topology.is_equipment(*node)).unwrap_or(way.len());
        for at in 0..end {
            let cause = start.cause(drawing, way, at, charge)?;
            let is_open = cause
                .is_none_or(|cause| cause.effect() < Effect::Unknown && is_position_stated(drawing, cause, way[at]));
            if !is_open {
                return Ok(PathState::Unknown);
            }
        }
        Ok(PathState::Open)
    }

    /// Adds what is known about the branches of a shared inlet that are stated to be open, beside what all ways lead through,
    /// and returns their items: through them, the device protects the equipment at their ends.
    pub(super) fn add_branches(
        &mut self,
        drawing: &Drawing<'_>,
        start: &Start,
        routes: &Routes<'_, '_, '_>,
        on_all_ways: &HashSet<NodeId>,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<NodeId>> {
        let mut known = on_all_ways.clone();
        let mut items = Vec::new();
        for way in routes.all(&[[start.device, start.first]], charge)? {
            let end = drawing.topology.equipment_or_self(way.end());
            let is_protected = drawing.topology.is_equipment(end) && !drawing.is_relief_end(end);
            if way.effect > Effect::MayClose || !is_protected {
                continue;
            }
            let mut causes = Vec::with_capacity(way.items.len());
            for at in 0..way.items.len() {
                causes.extend(start.cause(drawing, &way.items, at, charge)?.map(|cause| (at, cause)));
            }
            let is_stated = causes.iter().all(|(at, cause)| {
                cause.effect() < Effect::Unknown && is_position_stated(drawing, *cause, way.items[*at])
            });
            if !is_stated {
                continue;
            }
            for (at, cause) in causes.into_iter().filter(|(at, _)| known.insert(way.items[*at])) {
                charge(copy_cost(at))?;
                self.add(drawing, start.reason(cause, &way.items[..=at], true));
            }
            items.extend(way.items.into_iter().filter(|item| !on_all_ways.contains(item)));
        }
        let mut listed = HashSet::new();
        items.retain(|item| listed.insert(*item));
        Ok(items)
    }
}

/// Returns whether a search leads to several ends: to different equipment, or to different sides of it.
fn has_several_ends(
    drawing: &Drawing<'_>,
    search: &Search<'_, '_>,
    first: NodeId,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let (mut known, mut has_others) = (None, false);
    let is_same = |end: NodeId| {
        let chamber = chamber(drawing, end);
        has_others = *known.get_or_insert(chamber) != chamber;
        !has_others
    };
    search.ends_if_all(first, is_same, charge)?;
    Ok(has_others)
}

/// Returns which line leads to several ends, by the directions of the pipes at them. A flare takes in what is blown down, and
/// is no end of a line.
fn line_to_ends(
    drawing: &Drawing<'_>,
    search: &Search<'_, '_>,
    first: NodeId,
    charge: ChargeFn<'_>,
) -> Result<InletLine> {
    let mut line = InletLine::Shared;
    let mut seen: HashSet<NodeId> = [first].into();
    let mut queue: VecDeque<NodeId> = [first].into();
    while let Some(node) = queue.pop_front() {
        charge(1)?;
        for next in search.continuations(node, charge)? {
            if !search.is_end(next) {
                queue.extend(seen.insert(next).then_some(next));
            } else if !drawing.is_relief_end(drawing.topology.equipment_or_self(next)) {
                match direction(drawing, node, next, charge)? {
                    Some(true) => return Ok(InletLine::GoesOn),
                    Some(false) => {}
                    None => line = InletLine::MayGoOn,
                }
            }
        }
    }
    Ok(line)
}

/// Returns the equipment that an end is or belongs to, or the side of it.
fn chamber(drawing: &Drawing<'_>, end: NodeId) -> NodeId {
    let zone = drawing.topology.zone(end);
    if zone == NONE { drawing.topology.equipment_or_self(end) } else { zone }
}

//! Drains, vents and bleeds at a barrier, and the isolation method that they make possible.

use super::hand_valves::separates;
use super::is_unknown;
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
pub(super) use crate::pid::dead_ends::neighbors;
use crate::pid::dead_ends::{has_sensor, names_bleed};
use crate::pid::valve_state::{Installation, installation};

/// Items behind a barrier, up to the second one in series.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Behind {
    pub second: Option<NodeId>,
    /// A bleed between the two, one on the sheet first.
    pub bleed: Option<(NodeId, BleedEnd)>,
}

impl Behind {
    fn add_bleed(&mut self, valve: NodeId, end: BleedEnd) {
        let is_better = self.bleed.is_none_or(|(_, known)| known == BleedEnd::OtherSheet && end == BleedEnd::OnSheet);
        self.bleed = if is_better { Some((valve, end)) } else { self.bleed };
    }
}

/// Returns the second barrier in series, and the first bleed that branches off before it. What is not there, a valve
/// that may be none, and one behind an item of unknown class is no second barrier; a valve that an actuator closes is one
/// if `accepts_actuated`.
pub(super) fn behind(
    drawing: &Drawing<'_>,
    [before, barrier]: [NodeId; 2],
    accepts_actuated: bool,
    charge: ChargeFn<'_>,
) -> Result<Behind> {
    const MAX_STEPS: usize = 20;
    let topology = &drawing.topology;
    let (mut node, mut before) = (barrier, before);
    let mut found = Behind::default();
    for _ in 0..MAX_STEPS {
        let mut rest = Vec::new();
        for next in neighbors(drawing, node, charge)?.into_iter().filter(|next| *next != before) {
            match installed_bleed(drawing, next, node, charge)? {
                Some(end) => found.add_bleed(next, end),
                None => rest.push(next),
            }
        }
        let [only] = rest.as_slice() else { return Ok(found) };
        if topology.is_equipment(*only) {
            return Ok(found);
        }
        match topology.roles[*only as usize] {
            _ if installation(drawing, *only) == Installation::NotInstalled => (before, node) = (node, *only),
            Role::Barrier | Role::PositiveBarrier | Role::Control | Role::Blind
                if separates(drawing, *only, accepts_actuated, charge)? =>
            {
                return Ok(Behind { second: Some(*only), ..found });
            }
            Role::Barrier | Role::PositiveBarrier => return Ok(found),
            Role::OffPage if !topology.is_sheet_end(*only) => (before, node) = (node, *only),
            // It may be a vent or lead to another source.
            Role::None if is_unknown(drawing, *only) => return Ok(found),
            Role::Control | Role::MultiWay | Role::OffPage | Role::OpenEnd | Role::Relief => return Ok(found),
            _ => (before, node) = (node, *only),
        }
    }
    Ok(found)
}

/// Returns the first bleed on the sheet that branches off a junction, other than towards `others`.
pub(super) fn bleed_at(
    drawing: &Drawing<'_>,
    junction: NodeId,
    others: [NodeId; 2],
    charge: ChargeFn<'_>,
) -> Result<Option<NodeId>> {
    if drawing.topology.roles[junction as usize] != Role::Junction {
        return Ok(None);
    }
    for next in neighbors(drawing, junction, charge)?.into_iter().filter(|next| !others.contains(next)) {
        if installed_bleed(drawing, next, junction, charge)? == Some(BleedEnd::OnSheet) {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

/// End of the branch of a valve that drains or vents what is before it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum BleedEnd {
    OnSheet,
    /// A connector, where words state that the branch is a drain or a vent: the drawing does not show its end.
    OtherSheet,
}

/// Returns the end of the branch of a valve if it is a bleed: it leads to nothing or to another sheet, and lets something
/// out. The root valve of an instrument does not, nor does a check valve that opens inwards, as at a purge connection.
pub(super) fn bleed_end(
    drawing: &Drawing<'_>,
    valve: NodeId,
    before: NodeId,
    charge: ChargeFn<'_>,
) -> Result<Option<BleedEnd>> {
    const MAX_STEPS: usize = 10;
    let topology = &drawing.topology;
    let (mut node, mut before, mut is_named) = (valve, before, false);
    for _ in 0..MAX_STEPS {
        is_named |= names_bleed(drawing, node);
        if topology.is_sheet_end(node) {
            return Ok((is_named && flows_out(drawing, [before, node], charge)?).then_some(BleedEnd::OtherSheet));
        }
        let next = neighbors(drawing, node, charge)?;
        let mut next = next.into_iter().filter(|next| *next != before);
        let only = match (next.next(), next.next()) {
            (None, _) => return Ok((before != NONE && is_outlet(drawing, node)).then_some(BleedEnd::OnSheet)),
            (Some(only), None) => only,
            _ => return Ok(None),
        };
        let is_inwards = topology.roles[node as usize] == Role::OneWay && !flows_out(drawing, [node, only], charge)?;
        // What protects by opening is not opened to drain.
        if is_inwards || topology.roles[only as usize] == Role::Relief || topology.is_equipment(only) {
            return Ok(None);
        }
        (before, node) = (node, only);
    }
    Ok(None)
}

/// Returns whether the last item of a branch can let something out. An instrument or a well cannot.
fn is_outlet(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    !topology.is_equipment(node)
        && topology.roles[node as usize] != Role::OffPage
        && !has_sensor(drawing, node)
        && !drawing.class_has(node, vocabulary::WELLS)
}

/// Returns whether all pipes between two items state that they lead from the first to the second.
fn flows_out(drawing: &Drawing<'_>, [from, to]: [NodeId; 2], charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    charge(table.degree(to) as u64)?;
    let mut pipes = table.arcs(to).filter(|(other, _)| *other == from).map(|(_, pipe)| pipe);
    Ok(pipes.all(|pipe| topology.flow_ends(pipe)[0] == from && !topology.is_assumed(pipe)))
}

/// Returns whether a valve is a bleed that is there, and where it ends: another one proves nothing.
fn installed_bleed(
    drawing: &Drawing<'_>,
    valve: NodeId,
    before: NodeId,
    charge: ChargeFn<'_>,
) -> Result<Option<BleedEnd>> {
    let is_there = drawing.topology.roles[valve as usize] == Role::Barrier
        && installation(drawing, valve) == Installation::Installed;
    if is_there { bleed_end(drawing, valve, before, charge) } else { Ok(None) }
}

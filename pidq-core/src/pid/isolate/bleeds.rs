//! Drains, vents and bleeds at a barrier, and the isolation method that they make possible.

use super::hand_valves::separates;
use super::is_unknown;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::pid::ChargeFn;
pub(super) use crate::pid::dead_ends::{is_bleed, is_bleed_valve, neighbors};
use crate::pid::valve_state::{Installation, installation};

/// Items behind a barrier, up to the second one in series.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Behind {
    pub second: Option<NodeId>,
    /// A bleed between the two.
    pub bleed: Option<NodeId>,
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
            if is_installed_bleed(drawing, next, node, charge)? {
                found.bleed = found.bleed.or(Some(next));
            } else {
                rest.push(next);
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

/// Returns the first bleed that branches off a junction, other than towards `others`.
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
        if is_installed_bleed(drawing, next, junction, charge)? {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

/// Returns whether a valve is a bleed that is there: another one proves nothing.
fn is_installed_bleed(drawing: &Drawing<'_>, valve: NodeId, before: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    Ok(installation(drawing, valve) == Installation::Installed && is_bleed_valve(drawing, valve, before, charge)?)
}

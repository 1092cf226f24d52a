//! Drains, vents and bleeds at a barrier, and the isolation method that they make possible.

use hashbrown::HashSet;

use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::pid::valve_state::{BlindPosition, blind_position};

/// Returns the neighbors of a node, each once, and charges fuel for them.
pub(super) fn neighbors(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let nodes = drawing.topology.table(EdgeFilter::Flow, Direction::Both).nodes(node);
    charge(nodes.len() as u64)?;
    let mut distinct = Vec::with_capacity(nodes.len());
    let mut seen = HashSet::new();
    distinct.extend(nodes.iter().copied().filter(|next| *next != node && seen.insert(*next)));
    Ok(distinct)
}

/// Items behind a barrier, up to the second one in series.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Behind {
    pub second: Option<NodeId>,
    /// A bleed between the two.
    pub bleed: Option<NodeId>,
}

/// Returns the second barrier in series, and the first bleed that branches off before it.
pub(super) fn behind(drawing: &Drawing<'_>, barrier: NodeId, before: NodeId, charge: ChargeFn<'_>) -> Result<Behind> {
    const MAX_STEPS: usize = 20;
    let topology = &drawing.topology;
    let (mut node, mut before) = (barrier, before);
    let mut found = Behind::default();
    for _ in 0..MAX_STEPS {
        let mut rest = Vec::new();
        for next in neighbors(drawing, node, charge)?.into_iter().filter(|next| *next != before) {
            if is_bleed_valve(drawing, next, node, charge)? {
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
            Role::Barrier | Role::PositiveBarrier => return Ok(Behind { second: Some(*only), ..found }),
            Role::Blind if blind_position(drawing, *only) == BlindPosition::Closed => {
                return Ok(Behind { second: Some(*only), ..found });
            }
            Role::Control | Role::MultiWay | Role::OffPage | Role::OpenEnd | Role::Relief => return Ok(found),
            _ => (before, node) = (node, *only),
        }
    }
    Ok(found)
}

/// Returns the first bleed that branches off a junction, other than towards `before`.
pub(super) fn bleed_at(
    drawing: &Drawing<'_>,
    junction: NodeId,
    before: NodeId,
    charge: ChargeFn<'_>,
) -> Result<Option<NodeId>> {
    if drawing.topology.roles[junction as usize] != Role::Junction {
        return Ok(None);
    }
    for next in neighbors(drawing, junction, charge)?.into_iter().filter(|next| *next != before) {
        if is_bleed_valve(drawing, next, junction, charge)? {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

pub(super) fn is_bleed_valve(
    drawing: &Drawing<'_>,
    node: NodeId,
    before: NodeId,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    Ok(drawing.topology.roles[node as usize] == Role::Barrier && is_bleed(drawing, node, before, charge)?)
}

/// Returns whether a valve, reached from one side, leads to nothing: a drain, a vent or a bleed.
pub(super) fn is_bleed(drawing: &Drawing<'_>, valve: NodeId, before: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    const MAX_STEPS: usize = 10;
    let topology = &drawing.topology;
    let (mut node, mut before) = (valve, before);
    if before == NONE {
        return Ok(false);
    }
    for _ in 0..MAX_STEPS {
        let next = neighbors(drawing, node, charge)?;
        let mut next = next.into_iter().filter(|next| *next != before);
        match (next.next(), next.next()) {
            (None, _) => return Ok(!topology.is_equipment(node) && topology.roles[node as usize] != Role::OffPage),
            // What protects by opening is not opened to drain.
            (Some(only), None) if topology.roles[only as usize] == Role::Relief => return Ok(false),
            (Some(only), None) => (before, node) = (node, only),
            _ => return Ok(false),
        }
    }
    Ok(false)
}

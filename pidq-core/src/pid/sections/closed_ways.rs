//! Ways from a blowdown valve or a relief device that lead nowhere: all of them are closed.

use hashbrown::HashSet;

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::pid::dead_ends::neighbors;
use crate::pid::relief::items;
use crate::pid::valve_state::closed_texts::says_closed;

/// Returns the nearest closed item behind a side of a device, if no way from this side is open: to equipment, to another
/// sheet, to an open end or to where the drawing stops.
pub(super) fn closed_item_behind(
    drawing: &Drawing<'_>,
    device: NodeId,
    charge: ChargeFn<'_>,
) -> Result<Option<NodeId>> {
    for first in neighbors(drawing, device, charge)? {
        if let Some(closed) = closure(drawing, [device, first], charge)? {
            return Ok(Some(closed));
        }
    }
    Ok(None)
}

/// Returns the nearest closed item on the ways from one item by the next one; `None` if a way is open.
fn closure(drawing: &Drawing<'_>, start: [NodeId; 2], charge: ChargeFn<'_>) -> Result<Option<NodeId>> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let mut seen: HashSet<NodeId> = start.into();
    let mut queue = vec![start];
    let mut closed = None;
    let mut at = 0;
    while let Some([before, node]) = queue.get(at).copied() {
        at += 1;
        charge(1 + table.degree(node) as u64)?;
        let is_said_closed = topology.roles[node as usize].closes() && says_closed(drawing, node);
        if is_said_closed || items::is_closed(drawing, [before, node], charge)? {
            closed = closed.or(Some(node));
            continue;
        }
        let is_end = table.degree(node) < 2 && topology.roles[node as usize] != Role::Instrument;
        if is_end || topology.is_equipment(node) || topology.is_sheet_end(node) {
            return Ok(None);
        }
        queue.extend(table.nodes(node).iter().filter(|next| seen.insert(**next)).map(|next| [node, *next]));
    }
    Ok(closed)
}

//! Like safeguards in series: they stop one flow together, so that a way around all of them leads around each.

use hashbrown::HashSet;

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::pid::valve_state::drawn_closed::is_drawn_closed;

/// Maximum number of items between the first and the last of them.
const MAX_ITEMS: usize = 64;

/// Returns the outer sides of the items that do the same as one (`is_like`) and are in series with it behind a side of it: no
/// equipment and no other sheet is between.
pub(super) fn ends_in_series(
    drawing: &Drawing<'_>,
    [node, side]: [NodeId; 2],
    is_like: impl Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<Vec<NodeId>> {
    let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    let mut seen: HashSet<NodeId> = [node, side].into();
    let (mut ends, mut starts) = (Vec::new(), vec![side]);
    while let Some(start) = starts.pop() {
        for item in like_items_around(drawing, start, &mut seen, &is_like, charge)? {
            charge(1 + table.degree(item) as u64)?;
            let outer = table.nodes(item).iter().copied().filter(|next| seen.insert(*next));
            let known = ends.len();
            ends.extend(outer);
            starts.extend(&ends[known..]);
        }
    }
    Ok(ends)
}

/// Returns the like items around an item that pipes lead to, past nothing that is drawn closed; none if equipment or another
/// sheet is among them, which the items shut off.
fn like_items_around(
    drawing: &Drawing<'_>,
    start: NodeId,
    seen: &mut HashSet<NodeId>,
    is_like: impl Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let leads_on = |item: NodeId| {
        topology.is_equipment(item)
            || topology.roles[item as usize] == Role::OffPage && topology.flow_degree(item) < 2
            || topology.has_dangling_pipe(item)
    };
    let (mut items, mut like) = (vec![start], Vec::new());
    while let Some(item) = items.pop() {
        charge(1 + table.degree(item) as u64)?;
        if is_like(item) {
            like.push(item);
        } else if leads_on(item) || seen.len() > MAX_ITEMS {
            return Ok(Vec::new());
        } else if !is_drawn_closed(drawing, item) {
            items.extend(table.nodes(item).iter().copied().filter(|next| seen.insert(*next)));
        }
    }
    Ok(like)
}

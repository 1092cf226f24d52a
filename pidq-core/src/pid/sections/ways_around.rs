//! Open ways around a safeguard: along its line, or through vessels without a valve.

use hashbrown::HashSet;

use super::open_ways::OpenWays;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::pid::valve_state::drawn_closed::is_drawn_closed;
use crate::pid::valve_state::out_of_action::may_pass_back;
use crate::pid::valve_state::{Installation, installation};

/// Returns whether pipes lead around an item with two pipes, from one side to the other, without equipment, a relief
/// device, anything that is drawn closed, or an item that does the same (`is_like`); or through vessels without a valve.
pub(crate) fn has_open_bypass(
    drawing: &Drawing<'_>,
    node: NodeId,
    is_like: impl Fn(NodeId) -> bool,
    open_ways: &OpenWays,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    let Some((first, others)) = table.nodes(node).split_first() else { return Ok(false) };
    let is_bypassed = is_end_reached(drawing, node, others, *first, |[_, next]| is_like(next), charge)?;
    Ok(is_bypassed || open_ways.lead_around(drawing, node, charge)?)
}

/// Returns whether pipes lead from some items around another one to an end, past nothing that closes and nothing that
/// `stops` the way into it: called with the item before it, and the item.
fn is_end_reached(
    drawing: &Drawing<'_>,
    around: NodeId,
    starts: &[NodeId],
    end: NodeId,
    stops: impl Fn([NodeId; 2]) -> bool,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let starts = starts.iter().copied().filter(|start| *start != end);
    let mut stack: Vec<[NodeId; 2]> = starts.map(|start| [around, start]).collect();
    let mut seen: HashSet<NodeId> = stack.iter().map(|[_, start]| *start).chain([around]).collect();
    while let Some([before, next]) = stack.pop() {
        charge(1 + table.degree(next) as u64)?;
        if is_drawn_closed(drawing, next) {
            continue;
        }
        if next == end {
            return Ok(true);
        }
        if stops([before, next]) {
            // Another pipe may enter it from its other side.
            seen.remove(&next);
        } else if !topology.is_equipment(next) && topology.roles[next as usize] != Role::Relief {
            let others = table.nodes(next).iter().copied().filter(|other| seen.insert(*other));
            stack.extend(others.map(|other| [next, other]));
        }
    }
    Ok(false)
}

/// Returns whether pipes lead around a check valve from its outlet to its inlet, without another one that stops this
/// flow: one that is there and is not known to open in its direction; or through vessels, without a valve or through a check
/// valve that opens in its direction.
pub(crate) fn is_check_valve_bypassed(
    drawing: &Drawing<'_>,
    node: NodeId,
    open_ways: &OpenWays,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let topology = &drawing.topology;
    let [inlets, outlets] =
        [Direction::Up, Direction::Down].map(|side| topology.table(EdgeFilter::Flow, side).nodes(node));
    let is_stated = outlets.iter().all(|outlet| !inlets.contains(outlet));
    let stops = |[before, other]: [NodeId; 2]| {
        topology.roles[other as usize] == Role::OneWay
            && installation(drawing, other) == Installation::Installed
            && !may_pass_back(drawing, other)
            && !(is_stated && enters(drawing, [before, other]))
    };
    // From the outlet, if the pipes state which it is: the flow that the valve is to stop.
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let (starts, end) = match (is_stated, inlets.first(), table.nodes(node).split_first()) {
        (true, Some(inlet), _) if !outlets.is_empty() => (outlets, *inlet),
        (_, _, Some((first, others))) => (others, *first),
        _ => return Ok(false),
    };
    Ok(is_end_reached(drawing, node, starts, end, stops, charge)?
        || open_ways.lead_around(drawing, node, charge)?
        || is_stated && open_ways.lead_back(drawing, node, charge)?)
}

/// Returns whether a pipe with a stated direction leads from one item into another.
fn enters(drawing: &Drawing<'_>, [from, to]: [NodeId; 2]) -> bool {
    let topology = &drawing.topology;
    let arcs = topology.table(EdgeFilter::Flow, Direction::Both).arcs(to);
    let mut pipes = arcs.filter(|(other, _)| *other == from).map(|(_, pipe)| pipe);
    pipes.any(|pipe| !topology.is_assumed(pipe) && topology.flow_ends(pipe) == [from, to])
}

//! Open ways around a safeguard: along its line, or through vessels without a valve.

use hashbrown::{HashMap, HashSet};

use super::open_ways::OpenWays;
use super::series::ends_in_series;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::pid::dead_ends::{neighbors, only_branch};
use crate::pid::valve_state::check_valves::opens_from;
use crate::pid::valve_state::drawn_closed::is_drawn_closed;
use crate::pid::valve_state::out_of_action::may_pass_back;
use crate::pid::valve_state::{Installation, installation, position};

/// Returns whether pipes lead around an item with two pipes, from one side to the other, without equipment, a relief
/// device, anything that is drawn closed, or an item that does the same (`is_like`); or through vessels without a valve.
/// Like items in series stop one flow together: a way around all of them leads around each. A machine in a line is a way too.
pub(crate) fn has_open_bypass(
    drawing: &Drawing<'_>,
    node: NodeId,
    is_like: impl Fn(NodeId) -> bool,
    open_ways: &OpenWays,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    let Some((first, others)) = table.nodes(node).split_first() else { return Ok(false) };
    let first = Side::find(drawing, [node, *first], &is_like, charge)?;
    for other in others {
        let other = Side::find(drawing, [node, *other], &is_like, charge)?;
        let machines = [first.machine, other.machine];
        for (from, to) in other.ends.iter().flat_map(|from| first.ends.iter().map(move |to| (*from, *to))) {
            let flow = flow_at_vessel(drawing, node, [from, to]);
            let by_machines = match flow {
                Some(flow) => vec![flow],
                None => vec![[from, to], [to, from]],
            };
            let mut is_around = is_way_open(drawing, node, [from, to], flow, &is_like, charge)?;
            for [from, to] in by_machines {
                is_around = is_around || is_reached_by_machines(drawing, [node, from, to], machines, &is_like, charge)?;
            }
            if is_around {
                return Ok(true);
            }
        }
    }
    open_ways.lead_around(drawing, node, charge)
}

/// Returns whether an item is equipment without nozzles, in which all its lines meet.
fn is_vessel(drawing: &Drawing<'_>, item: NodeId) -> bool {
    drawing.topology.is_equipment(item) && drawing.topology.owner(item).is_none()
}

/// Returns the ends of an item in the order of its flow, if one of them is equipment without nozzles and its pipe to the item
/// states a direction.
fn flow_at_vessel(drawing: &Drawing<'_>, node: NodeId, ends: [NodeId; 2]) -> Option<[NodeId; 2]> {
    let [vessel, other] = match ends.map(|end| is_vessel(drawing, end)) {
        [true, false] => ends,
        [false, true] => [ends[1], ends[0]],
        _ => return None,
    };
    match [[vessel, node], [node, vessel]].map(|pipe| enters(drawing, pipe)) {
        [true, false] => Some([vessel, other]),
        [false, true] => Some([other, vessel]),
        _ => None,
    }
}

/// Returns whether pipes lead from one end of an item to the other one around it, past no like item. In equipment without
/// nozzles, a way only ends, and one of a stated flow ends at a check valve that closes against it.
fn is_way_open(
    drawing: &Drawing<'_>,
    node: NodeId,
    [from, to]: [NodeId; 2],
    flow: Option<[NodeId; 2]>,
    is_like: impl Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let (start, end) = if is_vessel(drawing, from) { (to, from) } else { (from, to) };
    if is_vessel(drawing, start) {
        return Ok(false);
    }
    // The way is searched against the flow if that comes from the equipment.
    let is_against = flow.map(|[source, _]| source == end);
    let stops = |[before, next]: [NodeId; 2]| {
        let opens_back = opens_from(drawing, next, before).filter(|_| !may_pass_back(drawing, next));
        is_like(next) || is_against.is_some() && opens_back == is_against
    };
    is_end_reached(drawing, node, &[start], end, stops, charge)
}

/// A side of an item in its line.
struct Side {
    /// The item next to it, and those behind like items in series.
    ends: Vec<NodeId>,
    /// The machine at the end of the line.
    machine: Option<NodeId>,
}

impl Side {
    fn find(
        drawing: &Drawing<'_>,
        [node, next]: [NodeId; 2],
        is_like: impl Fn(NodeId) -> bool,
        charge: ChargeFn<'_>,
    ) -> Result<Side> {
        let mut ends = vec![next];
        ends.extend(ends_in_series(drawing, [node, next], is_like, charge)?);
        Ok(Side { ends, machine: machine_at_end(drawing, [node, next], charge)? })
    }
}

/// Returns the machine at the end of a line, without a branch but drains and vents.
fn machine_at_end(
    drawing: &Drawing<'_>,
    [mut before, mut node]: [NodeId; 2],
    charge: ChargeFn<'_>,
) -> Result<Option<NodeId>> {
    const MAX_STEPS: usize = 20;
    let topology = &drawing.topology;
    for _ in 0..MAX_STEPS {
        if topology.is_equipment(node) {
            return Ok(Some(topology.equipment_or_self(node)).filter(|machine| drawing.is_machine(*machine)));
        }
        let mut ways = Vec::new();
        for next in neighbors(drawing, node, charge)?.into_iter().filter(|next| *next != before) {
            if !leads_to_nothing(drawing, [node, next], charge)? {
                ways.push(next);
            }
        }
        let [only] = ways[..] else { break };
        (before, node) = (node, only);
    }
    Ok(None)
}

/// Returns whether a flow may take a way from one end of an item to another one through a machine beside its line, running
/// or at rest, past no other equipment, no like item and no check valve that closes against it.
fn is_reached_by_machines(
    drawing: &Drawing<'_>,
    [around, from, to]: [NodeId; 3],
    machines_in_line: [Option<NodeId>; 2],
    is_like: impl Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let is_in_line = |machine: NodeId| machines_in_line.contains(&Some(machine));
    if from == to {
        return Ok(false);
    }
    let mut stack = vec![[around, from]];
    let mut seen: HashSet<NodeId> = [around, from].into();
    while let Some([before, next]) = stack.pop() {
        charge(1 + table.degree(next) as u64)?;
        if next == to {
            return Ok(!is_drawn_closed(drawing, next));
        }
        let equipment = topology.equipment_or_self(next);
        let is_passed = if topology.is_equipment(next) {
            drawing.is_machine(equipment) && !is_in_line(equipment)
        } else {
            topology.roles[next as usize] != Role::Relief && opens_from(drawing, next, before) != Some(false)
        };
        if !is_passed || is_like(next) || is_drawn_closed(drawing, next) {
            // Another pipe may enter a check valve from its other side.
            seen.remove(&next);
            continue;
        }
        let mut others = table.nodes(next).to_vec();
        if topology.is_equipment(next) {
            charge(topology.ports.degree(equipment) as u64)?;
            others.extend(topology.ports.nodes(equipment).iter().chain([&equipment]));
        }
        stack.extend(others.into_iter().filter(|other| seen.insert(*other)).map(|other| [next, other]));
    }
    Ok(false)
}

/// Returns whether a branch ends without equipment and on this sheet: a drain, a vent, a gauge.
fn leads_to_nothing(drawing: &Drawing<'_>, branch: [NodeId; 2], charge: ChargeFn<'_>) -> Result<bool> {
    let items = only_branch(drawing, branch, |_| false, charge)?;
    let end = items.as_deref().and_then(<[NodeId]>::last);
    Ok(end.is_some_and(|end| {
        !drawing.topology.is_equipment(*end)
            && !matches!(drawing.topology.roles[*end as usize], Role::OffPage | Role::Port)
    }))
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
        // Another pipe may be at the nozzle next to the item.
        let is_next_nozzle = before == around && topology.owner(next).is_some();
        if stops([before, next]) {
            // Another pipe may enter it from its other side.
            seen.remove(&next);
        } else if (is_next_nozzle || !topology.is_equipment(next)) && topology.roles[next as usize] != Role::Relief {
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
        is_sound_check_valve(drawing, other) && !(is_stated && enters(drawing, [before, other]))
    };
    // From the outlet, if the pipes state which it is: the flow that the valve is to stop.
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let (starts, end) = match (is_stated, inlets.first(), table.nodes(node).split_first()) {
        (true, Some(inlet), _) if !outlets.is_empty() => (outlets, *inlet),
        (_, _, Some((first, others))) => (others, *first),
        _ => return Ok(false),
    };
    Ok(is_end_reached(drawing, node, starts, end, stops, charge)?
        || is_outlet_left(drawing, [node, end], starts, is_stated, charge)?
        || open_ways.lead_around(drawing, node, charge)?
        || is_stated && open_ways.lead_back(drawing, node, charge)?)
}

/// Returns whether pipes lead from an outlet of a check valve that is equipment without nozzles to its inlet. Lines meet in such
/// equipment, so that the way is searched from its end.
fn is_outlet_left(
    drawing: &Drawing<'_>,
    [valve, inlet]: [NodeId; 2],
    outlets: &[NodeId],
    is_stated: bool,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let stops = |[before, other]: [NodeId; 2]| {
        is_sound_check_valve(drawing, other) && !(is_stated && enters(drawing, [other, before]))
    };
    if is_vessel(drawing, inlet) {
        return Ok(false);
    }
    for outlet in outlets.iter().copied().filter(|outlet| is_vessel(drawing, *outlet)) {
        if is_end_reached(drawing, valve, &[inlet], outlet, stops, charge)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a check valve is there and lets nothing back.
fn is_sound_check_valve(drawing: &Drawing<'_>, item: NodeId) -> bool {
    drawing.topology.roles[item as usize] == Role::OneWay
        && installation(drawing, item) == Installation::Installed
        && !may_pass_back(drawing, item)
}

/// Returns whether one side of an item ends in the open air, and the other one does so too past it: by a way along the line or
/// through the equipment at its end, without a valve that is not stated to be open, a relief device or a like item.
pub(crate) fn has_open_way_to_air(
    drawing: &Drawing<'_>,
    node: NodeId,
    is_like: impl Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let sides = drawing.topology.table(EdgeFilter::Flow, Direction::Both).nodes(node);
    for outlet in sides {
        if !reaches_air(drawing, [node, *outlet], AirWay::AlongPipes, &is_like, charge)? {
            continue;
        }
        for other in sides.iter().filter(|other| *other != outlet) {
            if reaches_air(drawing, [node, *other], AirWay::ThroughEquipment, &is_like, charge)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Way to the open air.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum AirWay {
    AlongPipes,
    /// Also through the first equipment.
    ThroughEquipment,
}

fn reaches_air(
    drawing: &Drawing<'_>,
    [around, start]: [NodeId; 2],
    way: AirWay,
    is_like: impl Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let is_open = |item: NodeId| {
        let is_stated = || {
            let stated = position(drawing, item).and_then(|value| value.as_str());
            stated.is_some_and(|text| {
                [Names::Open, Names::LockedOpen].iter().any(|names| topology.config.is_spelling(*names, text))
            })
        };
        !topology.roles[item as usize].closes() || is_stated()
    };
    let mut first_equipment = None;
    let mut seen: HashSet<NodeId> = [around, start].into();
    let mut stack = vec![start];
    while let Some(item) = stack.pop() {
        charge(1 + table.degree(item) as u64)?;
        match topology.roles[item as usize] {
            Role::OpenEnd => return Ok(!is_drawn_closed(drawing, item)),
            Role::Relief | Role::OneWay => continue,
            _ if is_like(item) || is_drawn_closed(drawing, item) || !is_open(item) => continue,
            _ => {}
        }
        let mut next = table.nodes(item).to_vec();
        if topology.is_equipment(item) {
            let equipment = topology.equipment_or_self(item);
            if way == AirWay::AlongPipes || *first_equipment.get_or_insert(equipment) != equipment {
                continue;
            }
            charge(topology.ports.degree(equipment) as u64)?;
            next.extend(topology.ports.nodes(equipment).iter().chain([&equipment]));
        }
        stack.extend(next.into_iter().filter(|next| seen.insert(*next)));
    }
    Ok(false)
}

/// Returns whether a pipe with a stated direction leads from one item into another.
fn enters(drawing: &Drawing<'_>, [from, to]: [NodeId; 2]) -> bool {
    let topology = &drawing.topology;
    let arcs = topology.table(EdgeFilter::Flow, Direction::Both).arcs(to);
    let mut pipes = arcs.filter(|(other, _)| *other == from).map(|(_, pipe)| pipe);
    pipes.any(|pipe| !topology.is_assumed(pipe) && topology.flow_ends(pipe) == [from, to])
}

/// Items and pipes on ways around safeguards, whether something on them is drawn closed or not.
#[derive(Debug, Default)]
pub(crate) struct WaysAround {
    pub items: HashSet<NodeId>,
    pub pipes: HashSet<EdgeId>,
}

impl WaysAround {
    /// Adds the ways around an item with two pipes, from one side to the other without equipment, a relief device, or an item
    /// that does the same (`is_like`).
    pub fn add(
        &mut self,
        drawing: &Drawing<'_>,
        node: NodeId,
        is_like: impl Fn(NodeId) -> bool,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
        let [first, second] = table.nodes(node) else { return Ok(()) };
        self.add_between(drawing, node, [*first, *second], &is_like, charge)?;
        // Around several of them in series.
        for end in ends_in_series(drawing, [node, *second], &is_like, charge)? {
            self.add_between(drawing, node, [*first, end], &is_like, charge)?;
        }
        for end in ends_in_series(drawing, [node, *first], &is_like, charge)? {
            self.add_between(drawing, node, [end, *second], &is_like, charge)?;
        }
        Ok(())
    }

    /// Adds the ways from one side of an item to another one.
    fn add_between(
        &mut self,
        drawing: &Drawing<'_>,
        node: NodeId,
        [first, second]: [NodeId; 2],
        is_like: impl Fn(NodeId) -> bool,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let topology = &drawing.topology;
        let table = topology.table(EdgeFilter::Flow, Direction::Both);
        // Lines meet in equipment without nozzles: a way has to start elsewhere.
        let is_start = |end: NodeId| !topology.is_equipment(end) || topology.owner(end).is_some();
        let (start, end) = match [first, second].map(is_start) {
            [true, _] => (first, second),
            [false, true] => (second, first),
            _ => return Ok(()),
        };
        let is_passed = |next: NodeId| {
            !is_like(next) && !topology.is_equipment(next) && topology.roles[next as usize] != Role::Relief
        };
        let mut found: HashSet<NodeId> = [start].into_iter().collect();
        let mut stack = vec![start];
        while let Some(item) = stack.pop() {
            charge(1 + table.degree(item) as u64)?;
            let next = table.nodes(item).iter().copied().filter(|next| *next != node);
            let next = next.filter(|next| *next == end || is_passed(*next));
            stack.extend(next.filter(|next| found.insert(*next) && *next != end));
        }
        if start == end || !found.contains(&end) {
            return Ok(());
        }
        retain_ways(drawing, &mut found, [start, end], charge)?;
        self.items.extend(found.iter().copied().filter(|item| ![start, end].contains(item)));
        for item in &found {
            charge(1 + table.degree(*item) as u64)?;
            self.pipes.extend(table.arcs(*item).filter(|(next, _)| found.contains(next)).map(|(_, pipe)| pipe));
        }
        Ok(())
    }
}

/// Removes items that lead to no other end than that from which they start, such as drains.
fn retain_ways(
    drawing: &Drawing<'_>,
    items: &mut HashSet<NodeId>,
    ends: [NodeId; 2],
    charge: ChargeFn<'_>,
) -> Result<()> {
    let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
    let mut degrees: HashMap<NodeId, usize> = HashMap::with_capacity(items.len());
    for item in items.iter() {
        charge(1 + table.degree(*item) as u64)?;
        let degree = table.nodes(*item).iter().filter(|next| items.contains(*next)).count();
        degrees.insert(*item, degree);
    }
    let mut leaves: Vec<NodeId> =
        items.iter().copied().filter(|item| degrees[item] < 2 && !ends.contains(item)).collect();
    while let Some(leaf) = leaves.pop() {
        items.remove(&leaf);
        for next in table.nodes(leaf).iter().filter(|next| items.contains(*next) && !ends.contains(next)) {
            charge(1)?;
            let degree = degrees.entry(*next).or_default();
            *degree = degree.saturating_sub(1);
            if *degree == 1 {
                leaves.push(*next);
            }
        }
    }
    Ok(())
}

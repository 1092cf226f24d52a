//! Relief paths: the valves without which a relief device loses its inlet or its outlet.
//!
//! From each side of a device, a path leads to what it protects or discharges to: equipment, another sheet, an open
//! end. An item that is on all such paths of a side blocks the device. Drains lead nowhere, and other relief devices
//! only if there is no other way: a rupture disc may be in series.

use std::collections::VecDeque;

use hashbrown::{HashMap, HashSet};

use super::bleeds::{is_bleed_valve, neighbors};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::pid::ChargeFn;

/// One side of a relief device.
struct Side {
    device: NodeId,
    /// From the neighbor of the device to the item at which the path ends.
    path: Vec<NodeId>,
    /// Positions in the path of the items that all paths share.
    shared: Vec<usize>,
}

/// Relief paths of the parts of a drawing that an isolation has reached. A path does not lead through equipment, so only
/// the devices in the piping around an item can depend on it.
#[derive(Default)]
pub(super) struct ReliefPaths {
    /// Items of the piping whose devices are known.
    explored: HashSet<NodeId>,
    devices: HashSet<NodeId>,
    sides: Vec<Side>,
    /// By valve: the sides that it blocks.
    sides_blocked: HashMap<NodeId, Vec<usize>>,
}

impl ReliefPaths {
    /// Finds the paths of the devices that may depend on an item: those in the same piping, up to equipment and the ends
    /// of the sheet.
    pub fn explore(&mut self, drawing: &Drawing<'_>, item: NodeId, charge: ChargeFn<'_>) -> Result<()> {
        let is_relief = |node: NodeId| drawing.topology.roles[node as usize] == Role::Relief;
        let belongs = |node: NodeId| is_relief(node) || !is_end(drawing, node);
        if drawing.topology.relief_devices.is_empty() || !belongs(item) || !self.explored.insert(item) {
            return Ok(());
        }
        let (mut queue, mut devices) = (vec![item], Vec::new());
        while let Some(node) = queue.pop() {
            charge(1)?;
            devices.extend(is_relief(node).then_some(node));
            if !is_end(drawing, node) {
                let around = neighbors(drawing, node, charge)?;
                queue.extend(around.into_iter().filter(|next| belongs(*next) && self.explored.insert(*next)));
            }
        }
        devices.sort_unstable();
        for device in devices {
            if self.devices.insert(device) {
                self.add_device(drawing, device, charge)?;
            }
        }
        Ok(())
    }

    fn add_device(&mut self, drawing: &Drawing<'_>, device: NodeId, charge: ChargeFn<'_>) -> Result<()> {
        let around = neighbors(drawing, device, charge)?;
        for first in &around {
            let blocked = around.iter().copied().filter(|other| other != first).chain([device]).collect();
            let side = find_side(drawing, device, *first, blocked, charge)?;
            for node in side.shared.iter().map(|position| side.path[*position]) {
                if drawing.topology.roles[node as usize].closes() {
                    self.sides_blocked.entry(node).or_default().push(self.sides.len());
                }
            }
            self.sides.push(side);
        }
        Ok(())
    }

    /// Returns the devices that lose their inlet or outlet if a valve is closed. Ascending.
    pub fn blocked_by(&self, valve: NodeId) -> Vec<NodeId> {
        let sides = self.sides_blocked.get(&valve).map_or(&[][..], Vec::as_slice);
        let mut devices: Vec<NodeId> = sides.iter().map(|side| self.sides[*side].device).collect();
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    pub fn blocks(&self, valve: NodeId) -> bool {
        self.sides_blocked.contains_key(&valve)
    }

    /// Returns the valves that block a device, from the device outward on each side.
    pub fn valves_of(&self, device: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let sides = self.sides.iter().filter(move |side| side.device == device);
        let items = sides.flat_map(|side| side.shared.iter().map(|at| side.path[*at]));
        items.filter(|node| self.blocks(*node))
    }

    /// Returns the path from a valve that blocks a device to the device, without the valve.
    pub fn path_from(&self, valve: NodeId, device: NodeId) -> Vec<NodeId> {
        for side in self.sides.iter().filter(|side| side.device == device) {
            if let Some(at) = side.path.iter().position(|node| *node == valve) {
                return side.path[..at].iter().rev().copied().chain([device]).collect();
            }
        }
        vec![device]
    }
}

/// Items that the paths of a side do not enter.
struct Blocked {
    items: HashSet<NodeId>,
    /// Other relief devices lead nowhere.
    relief: bool,
}

/// Returns a side of a device. Without an end, the path leads to the item farthest away.
fn find_side(
    drawing: &Drawing<'_>,
    device: NodeId,
    first: NodeId,
    items: HashSet<NodeId>,
    charge: ChargeFn<'_>,
) -> Result<Side> {
    let mut blocked = Blocked { items, relief: true };
    let mut path = path_to_end(drawing, first, &blocked, charge)?;
    if !path.last().is_some_and(|last| is_end(drawing, *last)) {
        blocked.relief = false;
        path = path_to_end(drawing, first, &blocked, charge)?;
    }
    let shared = shared_positions(drawing, &path, &blocked, charge)?;
    Ok(Side { device, path, shared })
}

/// Returns whether a path ends at an item: at equipment, where the sheet ends, at an open end.
fn is_end(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    match topology.roles[node as usize] {
        Role::OffPage => topology.flow_degree(node) < 2,
        Role::OpenEnd => true,
        _ => topology.is_equipment(node),
    }
}

/// Returns the items that a path continues to.
fn continuations(drawing: &Drawing<'_>, node: NodeId, blocked: &Blocked, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let around = neighbors(drawing, node, charge)?;
    let is_branching = around.len() > 2;
    let mut next = Vec::with_capacity(around.len());
    for other in around.into_iter().filter(|other| !blocked.items.contains(other)) {
        let leads_nowhere = blocked.relief && drawing.topology.roles[other as usize] == Role::Relief
            || is_branching && is_bleed_valve(drawing, other, node, charge)?;
        if !leads_nowhere {
            next.push(other);
        }
    }
    Ok(next)
}

/// Returns a shortest path to an end; without one, the path to the item farthest away.
fn path_to_end(drawing: &Drawing<'_>, first: NodeId, blocked: &Blocked, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    if blocked.relief && drawing.topology.roles[first as usize] == Role::Relief {
        return Ok(Vec::new());
    }
    let mut before: HashMap<NodeId, NodeId> = [(first, NONE)].into();
    let mut queue: VecDeque<NodeId> = [first].into();
    let mut last = first;
    while let Some(node) = queue.pop_front() {
        charge(1)?;
        last = node;
        if is_end(drawing, node) {
            break;
        }
        for next in continuations(drawing, node, blocked, charge)? {
            before.entry(next).or_insert_with(|| {
                queue.push_back(next);
                node
            });
        }
    }
    let mut path: Vec<NodeId> =
        std::iter::successors(Some(last), |node| before.get(node).copied()).take_while(|node| *node != NONE).collect();
    path.reverse();
    Ok(path)
}

/// Returns the positions of the items of a path that no other path to an end avoids.
///
/// From the items up to a position, everything beside the path is explored. An item is shared if nothing found so far
/// leads past it.
fn shared_positions(
    drawing: &Drawing<'_>,
    path: &[NodeId],
    blocked: &Blocked,
    charge: ChargeFn<'_>,
) -> Result<Vec<usize>> {
    let position: HashMap<NodeId, usize> = path.iter().copied().zip(0..).collect();
    let mut seen: HashSet<NodeId> = HashSet::new();
    let (mut shared, mut reached) = (Vec::new(), 0);
    for (at, node) in path.iter().enumerate() {
        if at >= reached {
            shared.push(at);
        }
        reached = reached.max(at + 1);
        let mut queue = vec![*node];
        while let Some(node) = queue.pop() {
            charge(1)?;
            // Another way to an end: no further item is on all paths.
            if is_end(drawing, node) {
                return Ok(shared);
            }
            for next in continuations(drawing, node, blocked, charge)? {
                match position.get(&next) {
                    Some(position) => reached = reached.max(*position),
                    None if seen.insert(next) => queue.push(next),
                    None => {}
                }
            }
        }
    }
    Ok(shared)
}

//! Relief that a locked-open valve in a process line gives, and that is lost if the valve is closed.
//!
//! Equipment without a relief device of its own may be protected by that of its neighbor, through a valve that is
//! locked open for this reason (ISO 23251, API 521). If such a valve is a barrier, one of its sides is left without
//! relief, whether it is the volume or keeps its pressure outside of it.

use hashbrown::{HashMap, HashSet};

use super::Isolation;
use super::bleeds::neighbors;
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::pid::relief::protected::{EquipmentSide, Protected, is_driven};
use crate::pid::relief::tails::Tails;
use crate::pid::relief::{PathState, ReliefPath};
use crate::pid::valve_state::is_locked_open;

/// Relief devices that are not blocked, by the equipment that they protect.
#[derive(Default)]
pub(super) struct Protection {
    /// With each device, whether it protects the side for certain.
    devices_of: HashMap<EquipmentSide, Vec<(NodeId, bool)>>,
}

/// A part of the plant on one side of a barrier, up to the next valve that may be closed.
struct Part {
    equipment: Vec<EquipmentSide>,
    /// By item: the one before it on the way from the barrier.
    before: HashMap<NodeId, NodeId>,
    /// By side of equipment: the port at which it was reached.
    reached_at: HashMap<EquipmentSide, NodeId>,
}

impl Part {
    /// Returns whether it has equipment of its own that may be under pressure.
    fn keeps_pressure(&self, drawing: &Drawing<'_>) -> bool {
        self.equipment.iter().any(|(equipment, _)| !is_driven(drawing, *equipment))
    }

    /// Returns the path from next to the barrier to a side of equipment.
    fn path_to(&self, side: EquipmentSide) -> Vec<NodeId> {
        let last = self.reached_at.get(&side).copied();
        let mut path: Vec<NodeId> =
            std::iter::successors(last, |node| self.before.get(node).copied().filter(|node| *node != NONE)).collect();
        path.reverse();
        path
    }
}

impl Protection {
    /// Finds what each relief device of a drawing protects.
    pub fn find(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Protection> {
        let (mut protection, mut tails) = (Protection::default(), Tails::default());
        for device in &drawing.topology.relief_devices {
            let path = ReliefPath::find(drawing, *device, &mut tails, charge)?;
            if path.state == PathState::Blocked {
                continue;
            }
            let protected = Protected::find(drawing, &path, charge)?;
            charge(protected.equipment.len() as u64)?;
            for (at, side) in protected.equipment.iter().enumerate() {
                let is_certain = at < protected.certain().len();
                protection.devices_of.entry(*side).or_default().push((*device, is_certain));
            }
        }
        Ok(protection)
    }

    /// Returns the devices of a part with a path to each, from next to the barrier.
    fn devices(&self, part: &Part, charge: ChargeFn<'_>) -> Result<Vec<(NodeId, Vec<NodeId>)>> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for side in &part.equipment {
            let devices = self.devices_of.get(side).into_iter().flatten();
            for (device, _) in devices.filter(|(device, _)| seen.insert(*device)) {
                let path = part.path_to(*side);
                charge(1 + path.len() as u64)?;
                found.push((*device, [path.as_slice(), &[*device]].concat()));
            }
        }
        Ok(found)
    }

    /// Returns whether a device protects a part for certain.
    fn is_certain(&self, part: &Part) -> bool {
        let devices = part.equipment.iter().filter_map(|side| self.devices_of.get(side)).flatten();
        devices.into_iter().any(|(_, is_certain)| *is_certain)
    }
}

impl Isolation<'_, '_> {
    /// Returns whether a barrier is locked open.
    pub(super) fn has_locked_open_barrier(&self) -> bool {
        self.barriers.iter().any(|barrier| is_locked_open(self.drawing, self.steps[barrier.step as usize].node))
    }

    /// Returns the relief devices on one side of a locked-open barrier that are the only ones of the other side, with
    /// the path from next to the barrier.
    pub(super) fn relief_lost_at(
        &self,
        barrier: NodeId,
        protection: &Protection,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<(NodeId, Vec<NodeId>)>> {
        if !is_locked_open(self.drawing, barrier) {
            return Ok(Vec::new());
        }
        let mut around = neighbors(self.drawing, barrier, charge)?;
        around.retain(|next| !self.barrier_of.contains_key(next));
        let (inside, outside): (Vec<NodeId>, Vec<NodeId>) =
            around.into_iter().partition(|next| self.visited.contains(next));
        let [inside, outside] = [self.part(barrier, inside, charge)?, self.part(barrier, outside, charge)?];
        if inside.equipment.iter().any(|side| outside.reached_at.contains_key(side)) {
            return Ok(Vec::new());
        }
        let [of_inside, of_outside] = [protection.devices(&inside, charge)?, protection.devices(&outside, charge)?];
        let lacks_relief = |part: &Part| !protection.is_certain(part) && part.keeps_pressure(self.drawing);
        Ok(match () {
            () if !of_outside.is_empty() && lacks_relief(&inside) => of_outside,
            () if !of_inside.is_empty() && lacks_relief(&outside) => of_inside,
            () => Vec::new(),
        })
    }

    /// Returns the part of the plant from some items on. Only valves that are locked open are passed.
    fn part(&self, barrier: NodeId, starts: Vec<NodeId>, charge: ChargeFn<'_>) -> Result<Part> {
        let topology = &self.drawing.topology;
        let table = topology.table(EdgeFilter::Flow, Direction::Both);
        let before = starts.iter().map(|start| (*start, NONE)).collect();
        let mut part = Part { equipment: Vec::new(), before, reached_at: HashMap::new() };
        let mut queue = starts;
        let mut at = 0;
        while let Some(node) = queue.get(at).copied() {
            at += 1;
            charge(1 + table.degree(node) as u64)?;
            let role = topology.roles[node as usize];
            let is_shut = role.closes() && !is_locked_open(self.drawing, node);
            if is_shut || matches!(role, Role::Relief | Role::OpenEnd) || topology.is_sheet_end(node) {
                continue;
            }
            let mut next: Vec<NodeId> = table.nodes(node).to_vec();
            if topology.is_equipment(node) {
                let side = (topology.equipment_or_self(node), topology.zone(node));
                if !part.reached_at.contains_key(&side) {
                    part.reached_at.insert(side, node);
                    part.equipment.push(side);
                }
                if is_driven(self.drawing, side.0) {
                    continue;
                }
                charge(topology.ports.degree(side.0) as u64)?;
                let ports = topology.ports.nodes(side.0).iter().copied();
                next.extend(ports.filter(|port| topology.zone(*port) == side.1));
            }
            for next in next {
                if next != barrier && !self.barrier_of.contains_key(&next) && !part.before.contains_key(&next) {
                    part.before.insert(next, node);
                    queue.push(next);
                }
            }
        }
        Ok(part)
    }
}

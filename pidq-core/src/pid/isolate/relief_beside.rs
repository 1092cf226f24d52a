//! Relief devices beside a line that a barrier separates from what they relieve.
//!
//! A device at a branch of a line is open to both of its ends, so a barrier in the line takes it from one of them: from the
//! volume, or from a machine outside of it that goes on to raise the pressure.

use hashbrown::HashSet;

use super::bleeds::neighbors;
use super::relief_lost::{Part, Protection};
use super::{Barrier, Isolation};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::relief::PathState;
use crate::pid::relief::protected::EquipmentSide;
use crate::pid::relief::sides::SideKind;
use crate::pid::valve_state::check_valves::opens_from;
use crate::pid::valve_state::is_locked_open;

/// A relief device, and the path to it from next to a barrier.
type DevicePath = (NodeId, Vec<NodeId>);

/// Side of a barrier.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Side {
    Inside,
    Outside,
}

impl Isolation<'_, '_> {
    /// Returns the devices behind a barrier without which the volume has no relief. `known` are devices that are listed
    /// otherwise.
    ///
    /// A device of a line protects no equipment behind a valve of it, as `reliefList` says, so it counts only if the volume
    /// has no device of its own.
    pub(super) fn relief_behind(
        &self,
        barrier: &Barrier,
        known: impl Fn(NodeId) -> bool,
        protection: &mut Protection,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<DevicePath>> {
        let node = self.steps[barrier.step as usize].node;
        let mut found = self.devices_beside(node, Side::Outside, protection, charge)?;
        found.retain(|(device, _)| !known(*device));
        let way = self.path(barrier.step);
        charge(way.len() as u64)?;
        let is_behind_trap = way.iter().any(|item| self.drawing.class_has(*item, vocabulary::TRAPS));
        let mut lost = Vec::new();
        for (device, path) in found {
            let before = path.iter().rev().nth(1).copied().unwrap_or(node);
            if is_behind_trap && self.is_inlet(device, before, protection, charge)? {
                continue;
            }
            if self.depends_on(device, node, path.last_chunk(), protection, charge)? {
                lost.push((device, path));
            }
        }
        if lost.is_empty() || self.needs_no_other_relief(node, &lost, protection, charge)? {
            return Ok(Vec::new());
        }
        Ok(lost)
    }

    /// Returns whether what is open to a barrier inside the volume has a relief device besides some others, or needs none: a
    /// flare, an open tank, an instrument with its pipes.
    fn needs_no_other_relief(
        &self,
        barrier: NodeId,
        others: &[DevicePath],
        protection: &mut Protection,
        charge: ChargeFn<'_>,
    ) -> Result<bool> {
        let mut inside = neighbors(self.drawing, barrier, charge)?;
        inside.retain(|next| self.visited.contains(next) && !self.barrier_of.contains_key(next));
        let is_barrier = |node: NodeId| node == barrier || self.barrier_of.contains_key(&node);
        let part = Part::find(self.drawing, inside, is_barrier, charge)?;
        let equipment = part.equipment();
        let is_instrument = |node: &NodeId| self.drawing.topology.roles[*node as usize] == Role::Instrument;
        if equipment.is_empty() && self.targets.iter().all(is_instrument) {
            return Ok(true);
        }
        if !equipment.is_empty() && equipment.iter().all(|(equipment, _)| self.drawing.is_relief_end(*equipment)) {
            return Ok(true);
        }
        protection.explore(self.drawing, &part, charge)?;
        let is_other = |device: NodeId| others.iter().any(|(other, _)| *other == device);
        if protection.devices(&part, charge)?.iter().any(|(device, _)| !is_other(*device)) {
            return Ok(true);
        }
        for [device, before] in part.relief_devices(self.drawing, barrier) {
            if self.is_inlet(device, before, protection, charge)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the relief devices in the volume that alone relieve a machine outside of it, which goes on to raise the
    /// pressure when the barrier is closed. A machine whose casing is open makes a pressure that is limited.
    pub(super) fn relief_of_machine_lost_at(
        &self,
        barrier: &Barrier,
        protection: &mut Protection,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<DevicePath>> {
        let node = self.steps[barrier.step as usize].node;
        if self.drawing.topology.relief_devices.is_empty() || self.is_closed(barrier) {
            return Ok(Vec::new());
        }
        let mut lost = Vec::new();
        for (device, path) in self.devices_beside(node, Side::Inside, protection, charge)? {
            let before = path.iter().rev().nth(1).copied().unwrap_or(node);
            if self.is_inlet(device, before, protection, charge)? {
                lost.push((device, path));
            }
        }
        let machines = if lost.is_empty() { Vec::new() } else { self.machines_before(node, charge)? };
        for (machine, port) in machines {
            if !protection.protects_besides(self.drawing, (machine, port), |device| is_in(&lost, device), charge)? {
                return Ok(lost);
            }
        }
        Ok(Vec::new())
    }

    /// Returns the sides of machines outside of the volume that discharge to a barrier, past no item that is closed, with
    /// their ports.
    pub(super) fn machines_before(
        &self,
        barrier: NodeId,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<(EquipmentSide, NodeId)>> {
        let topology = &self.drawing.topology;
        let table = topology.table(EdgeFilter::Flow, Direction::Both);
        let mut seen: HashSet<NodeId> = [barrier].into();
        let (mut queue, mut machines, mut at) = (vec![barrier], Vec::new(), 0);
        while let Some(node) = queue.get(at).copied() {
            at += 1;
            charge(1 + table.degree(node) as u64)?;
            let leads_here = |edge: EdgeId| topology.is_assumed(edge) || topology.flow_ends(edge)[1] == node;
            for (next, edge) in table.arcs(node) {
                if self.visited.contains(&next) || !leads_here(edge) || !seen.insert(next) {
                    continue;
                }
                let equipment = topology.equipment_or_self(next);
                match topology.is_equipment(next) {
                    true if self.makes_unlimited_pressure(equipment) => {
                        machines.push(((equipment, topology.zone(next)), next));
                    }
                    true => {}
                    false if self.is_shut(next) || topology.is_sheet_end(next) => {}
                    false => queue.push(next),
                }
            }
        }
        Ok(machines)
    }

    fn makes_unlimited_pressure(&self, equipment: NodeId) -> bool {
        self.drawing.raises_pressure(equipment) && !self.drawing.class_has_word(equipment, vocabulary::OPEN_MACHINES)
    }

    /// Returns whether an item is the first one at an inlet of a relief device.
    fn is_inlet(
        &self,
        device: NodeId,
        first: NodeId,
        protection: &mut Protection,
        charge: ChargeFn<'_>,
    ) -> Result<bool> {
        Ok(protection.inlet_ways(self.drawing, device, charge)?.iter().any(|way| way.first == first))
    }

    /// Returns whether a device behind a barrier loses its inlet or its outlet by it. Reached from its outlet, it does only if
    /// all that it discharges passes the barrier, and not if it returns to the suction of the machine that alone it
    /// protects: what is before the suction takes in nothing of it.
    fn depends_on(
        &self,
        device: NodeId,
        barrier: NodeId,
        end: Option<&[NodeId; 2]>,
        protection: &mut Protection,
        charge: ChargeFn<'_>,
    ) -> Result<bool> {
        let topology = &self.drawing.topology;
        let before = end.map_or(barrier, |[before, _]| *before);
        let table = topology.table(EdgeFilter::Flow, Direction::Both);
        charge(table.degree(device) as u64)?;
        let mut pipes = table.arcs(device).filter(|(next, _)| *next == before).map(|(_, pipe)| pipe);
        if !pipes.all(|pipe| topology.flow_ends(pipe)[0] == device && !topology.is_assumed(pipe)) {
            return Ok(true);
        }
        let path = protection.path(self.drawing, device, charge)?;
        let keeps_own_suction = path.returns_to_suction() && path.state == PathState::Open;
        Ok(!keeps_own_suction && !path.valves(SideKind::Outlet, |valve| valve == barrier).is_empty())
    }

    /// Returns the relief devices on a side of a barrier, up to the next valve or equipment, with the paths to them. A check
    /// valve that closes against the relief flow separates the inlet of a device from the barrier, and so does a trap, which
    /// holds back gas or liquid.
    fn devices_beside(
        &self,
        barrier: NodeId,
        side: Side,
        protection: &mut Protection,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<DevicePath>> {
        let topology = &self.drawing.topology;
        if topology.relief_devices.is_empty() {
            return Ok(Vec::new());
        }
        let (mut seen, mut shut_off): (HashSet<NodeId>, HashSet<NodeId>) = Default::default();
        let mut queue: Vec<DevicePath> = vec![(barrier, Vec::new())];
        let (mut found, mut at) = (Vec::new(), 0);
        while at < queue.len() {
            let (node, path) = queue[at].clone();
            at += 1;
            charge(1 + path.len() as u64 / 16)?;
            for next in neighbors(self.drawing, node, charge)? {
                let is_there = self.visited.contains(&next) == (side == Side::Inside);
                if !is_there || !seen.insert(next) || topology.owner(next).is_some() {
                    continue;
                }
                let path = [path.as_slice(), &[next]].concat();
                let is_trap = self.drawing.class_has(next, vocabulary::TRAPS);
                let is_shut_off =
                    shut_off.contains(&node) || is_trap || opens_from(self.drawing, next, node) == Some(false);
                shut_off.extend(is_shut_off.then_some(next));
                match topology.roles[next as usize] {
                    Role::Relief if is_shut_off && self.is_inlet(next, node, protection, charge)? => {}
                    Role::Relief => found.push((next, path)),
                    Role::None | Role::Junction | Role::SizeBreak | Role::OneWay | Role::Instrument => {
                        queue.push((next, path));
                    }
                    Role::OffPage if !topology.is_sheet_end(next) => queue.push((next, path)),
                    Role::Barrier if is_locked_open(self.drawing, next) => queue.push((next, path)),
                    _ => {}
                }
            }
        }
        Ok(found)
    }
}

fn is_in(devices: &[DevicePath], device: NodeId) -> bool {
    devices.iter().any(|(known, _)| *known == device)
}

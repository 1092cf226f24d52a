//! Relief devices that a branch reaches from their outlet, and that relieve equipment outside of the volume.
//!
//! Such a device may open at any time, and what it relieves goes on to need it: a branch ends there and stays open. Neither
//! its own valves nor those of the header that it shares with the volume are closed to isolate something else.

use hashbrown::HashSet;

use super::{Isolation, NodeEffect, OpenBranch};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::walk::Visitor;
use crate::pid::ChargeFn;
use crate::pid::relief::protected::{EquipmentSide, is_driven};

/// Kind of a branch that ends at the outlet of a relief device.
const RELIEF_DEVICE: &str = "relief_device";

impl Isolation<'_, '_> {
    /// Returns the end of a branch at the outlet of a device that relieves others; `None` if the branch passes it.
    pub(super) fn relief_outlet_effect(
        &self,
        device: NodeId,
        before: NodeId,
        charge: ChargeFn<'_>,
    ) -> Result<Option<NodeEffect>> {
        let is_end = self.is_outlet(device, before, charge)? && self.relieves_others(device, charge)?;
        Ok(is_end.then_some(NodeEffect::StaysOpen(RELIEF_DEVICE, device)))
    }

    /// Continues at the outlets of devices that turn out to be of the volume: a branch has reached their inlet, or what
    /// they relieve.
    pub(super) fn follow_own_devices<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        while let Some(at) = self.own_device_at_end(&mut |units| visitor.charge(units))? {
            let OpenBranch { step, at: device, .. } = self.open.remove(at);
            let is_between = self.relieves_others(device, &mut |units| visitor.charge(units))?;
            self.devices_between += usize::from(is_between);
            self.steps[step as usize].is_end = false;
            self.relief.push(step);
            self.pass(step, visitor)?;
            let first_new = self.steps.len();
            self.expand(step, visitor)?;
            self.follow_from(first_new, visitor)?;
        }
        Ok(())
    }

    fn own_device_at_end(&self, charge: ChargeFn<'_>) -> Result<Option<usize>> {
        for (at, open) in self.open.iter().enumerate().filter(|(_, open)| open.kind == RELIEF_DEVICE) {
            let is_inlet_reached = {
                let mut protection = self.protection.borrow_mut();
                let inlets = protection.inlet_ways(self.drawing, open.at, charge)?;
                let is_inside = |node: &NodeId| self.visited.contains(node) && !self.barrier_of.contains_key(node);
                inlets.iter().any(|way| is_inside(&way.first))
            };
            if is_inlet_reached || !self.relieves_others(open.at, charge)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    /// Returns the valves that are passed since they are to stay open, without those that a device which relieves others
    /// needs: no search uses them.
    pub(super) fn closable_last(&self, charge: ChargeFn<'_>) -> Result<HashSet<NodeId>> {
        let passed: HashSet<NodeId> = self.relief.iter().map(|step| self.node_at(*step)).collect();
        let mut closable = HashSet::with_capacity(self.kept_open.len());
        for valve in self.kept_open.iter().copied() {
            let devices = self.relief_paths.borrow().blocked_by(valve);
            let mut is_needed = false;
            for device in devices.into_iter().filter(|device| !passed.contains(device)) {
                is_needed = is_needed || self.relieves_others(device, charge)?;
            }
            closable.extend((!is_needed).then_some(valve));
        }
        Ok(closable)
    }

    /// Returns whether an item is at the outlet of a device whose inlet is known.
    fn is_outlet(&self, device: NodeId, first: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let mut protection = self.protection.borrow_mut();
        let inlets = protection.inlet_ways(self.drawing, device, charge)?;
        Ok(!inlets.is_empty() && inlets.iter().all(|way| way.first != first))
    }

    /// Returns whether a device relieves equipment outside of the volume. A machine needs no relief while it stands still, and
    /// what isolates an item of its relief path, or where it discharges, takes it out of service anyway.
    fn relieves_others(&self, device: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let mut protection = self.protection.borrow_mut();
        let protected = protection.protected_by(self.drawing, device, charge)?.certain();
        charge(protected.len() as u64)?;
        let is_other = |side: &EquipmentSide| !is_driven(self.drawing, side.0) && !self.is_in_volume(*side);
        if !protected.iter().any(is_other) {
            return Ok(false);
        }
        let is_target = |node: NodeId| self.targets.contains(&node);
        Ok(!self.relief_paths.borrow().has(self.drawing, device, is_target))
    }

    fn is_in_volume(&self, (equipment, side): EquipmentSide) -> bool {
        self.targets.contains(&equipment) || self.targets.contains(&side) || self.entered_equipment.contains(&equipment)
    }
}

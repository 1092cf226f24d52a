//! Relief devices whose discharge has no other way out than a barrier: they relieve into equipment behind it, such as a
//! knock-out drum, of which the barrier closes the only outlet.

use hashbrown::HashSet;

use super::bleeds::neighbors;
use super::{Barrier, Isolation};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::dead_ends::is_bleed_valve;
use crate::pid::valve_state::is_locked_open;

impl Isolation<'_, '_> {
    /// Returns the devices that relieve into equipment outside of the volume of which a barrier closes the only way out, each
    /// with the path to it from next to the barrier.
    pub(super) fn devices_without_way_out(
        &self,
        barrier: &Barrier,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<(NodeId, Vec<NodeId>)>> {
        let node = self.steps[barrier.step as usize].node;
        let mut found = Vec::new();
        if self.drawing.topology.relief_devices.is_empty() || self.is_closed(barrier) {
            return Ok(found);
        }
        for (port, path) in self.before(vec![node], |next| self.drawing.topology.is_equipment(next), charge)? {
            let equipment = self.drawing.topology.equipment_or_self(port);
            if self.drawing.is_machine(equipment) || self.has_other_outlet(equipment, node, charge)? {
                continue;
            }
            let ports = self.drawing.topology.ports.nodes(equipment).iter().copied().chain([equipment]).collect();
            let is_device = |next: NodeId| self.drawing.topology.roles[next as usize] == Role::Relief;
            for (device, way) in self.before(ports, is_device, charge)? {
                if found.iter().all(|(known, _)| *known != device) {
                    found.push((device, [path.as_slice(), &way].concat()));
                }
            }
        }
        Ok(found)
    }

    /// Returns the ends of the ways that lead against the flow from some items, past nothing that is closed and no equipment,
    /// with the items from next to the start.
    fn before(
        &self,
        starts: Vec<NodeId>,
        is_end: impl Fn(NodeId) -> bool,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<(NodeId, Vec<NodeId>)>> {
        let topology = &self.drawing.topology;
        let table = topology.table(EdgeFilter::Flow, Direction::Both);
        let mut seen: HashSet<NodeId> = starts.iter().copied().collect();
        let mut queue: Vec<(NodeId, Vec<NodeId>)> = starts.into_iter().map(|start| (start, Vec::new())).collect();
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some((node, path)) = queue.get(at).cloned() {
            at += 1;
            charge(1 + (table.degree(node) + path.len() / 16) as u64)?;
            let leads_here = |edge: EdgeId| topology.is_assumed(edge) || topology.flow_ends(edge)[1] == node;
            for (next, edge) in table.arcs(node) {
                if self.visited.contains(&next) || !leads_here(edge) || !seen.insert(next) {
                    continue;
                }
                let path = [path.as_slice(), &[next]].concat();
                match () {
                    () if is_end(next) => found.push((next, path)),
                    () if topology.is_equipment(next) || topology.is_sheet_end(next) || self.is_shut(next) => {}
                    () => queue.push((next, path)),
                }
            }
        }
        Ok(found)
    }

    /// Returns whether something else than a drain or a machine leads out of equipment beside a barrier: a pipe along the flow,
    /// or a relief device. From a drum of a flare, liquid leaves by a valve, and gas by none that can be closed.
    fn has_other_outlet(&self, equipment: NodeId, barrier: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let topology = &self.drawing.topology;
        let table = topology.table(EdgeFilter::Flow, Direction::Down);
        if self.drawing.is_relief_end(equipment) {
            return Ok(true);
        }
        let is_flare_drum = self.drawing.class_has_word(equipment, vocabulary::FLARE_DRUMS);
        let may_close = |node: NodeId| {
            topology.roles[node as usize].closes() && !is_locked_open(self.drawing, node) && is_flare_drum
        };
        let mut queue: Vec<NodeId> = topology.ports.nodes(equipment).iter().copied().chain([equipment]).collect();
        let mut seen: HashSet<NodeId> = queue.iter().copied().chain([barrier]).collect();
        while let Some(node) = queue.pop() {
            charge(1 + table.degree(node) as u64)?;
            for next in table.nodes(node).iter().copied().filter(|next| seen.insert(*next)) {
                let is_drain = !is_locked_open(self.drawing, next) && is_bleed_valve(self.drawing, next, node, charge)?;
                let is_machine =
                    topology.is_equipment(next) && self.drawing.is_machine(topology.equipment_or_self(next));
                if is_drain || is_machine || self.is_shut(next) || may_close(next) {
                    continue;
                }
                let is_end = topology.is_equipment(next)
                    || matches!(topology.roles[next as usize], Role::Relief | Role::OffPage | Role::OpenEnd);
                if is_end || neighbors(self.drawing, next, charge)?.len() < 2 {
                    return Ok(true);
                }
                queue.push(next);
            }
        }
        Ok(false)
    }
}

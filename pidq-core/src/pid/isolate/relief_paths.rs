//! Relief paths of an isolation: the valves without which a relief device loses its inlet or its outlet.
//!
//! From each side of a device, a path leads to what it protects or discharges to, as `relief` finds it. A valve that is
//! on all such paths of a side blocks the device.

use hashbrown::{HashMap, HashSet};

use super::Isolation;
use super::bleeds::neighbors;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::pid::relief::paths::is_end;
use crate::pid::relief::protected::{Bodies, Protected};
use crate::pid::relief::tails::Tails;
use crate::pid::relief::{PathState, ReliefPath, SideWay};
use crate::pid::valve_state::check_valves::has_handwheel;

/// Relief paths of the parts of a drawing that an isolation has reached. A path does not lead through equipment, so only
/// the devices in the piping around an item can depend on it.
#[derive(Default)]
pub(super) struct ReliefPaths {
    /// Items of the piping whose devices are known.
    explored: HashSet<NodeId>,
    devices: HashSet<NodeId>,
    /// With the device of each.
    sides: Vec<(NodeId, SideWay)>,
    /// By valve: the sides that it blocks.
    sides_blocked: HashMap<NodeId, Vec<usize>>,
    tails: Tails,
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
        for side in ReliefPath::side_ways(drawing, device, &mut self.tails, charge)? {
            charge(side.shared.len() as u64)?;
            let may_close = |node: NodeId| match drawing.topology.roles[node as usize] {
                Role::OneWay => has_handwheel(drawing, node),
                role => role.closes(),
            };
            for node in side.shared.iter().filter(|node| may_close(**node)) {
                self.sides_blocked.entry(*node).or_default().push(self.sides.len());
            }
            self.sides.push((device, side));
        }
        Ok(())
    }

    /// Returns the devices that lose their inlet or outlet if a valve is closed. Ascending.
    pub fn blocked_by(&self, valve: NodeId) -> Vec<NodeId> {
        let sides = self.sides_blocked.get(&valve).map_or(&[][..], Vec::as_slice);
        let mut devices: Vec<NodeId> = sides.iter().map(|side| self.sides[*side].0).collect();
        devices.sort_unstable();
        devices.dedup();
        devices
    }

    pub fn blocks(&self, valve: NodeId) -> bool {
        self.sides_blocked.contains_key(&valve)
    }

    /// Returns whether one of some items is on all ways of a side of a device, or equipment that it discharges into.
    pub fn has(&self, drawing: &Drawing<'_>, device: NodeId, is_item: impl Fn(NodeId) -> bool) -> bool {
        let topology = &drawing.topology;
        let flows_into = |path: &[NodeId]| {
            let [before, end] = *path.last_chunk().unwrap_or(&[device, path.first().copied().unwrap_or(device)]);
            let mut pipes = topology.table(EdgeFilter::Flow, Direction::Both).arcs(end);
            pipes.any(|(from, pipe)| {
                from == before && topology.flow_ends(pipe) == [before, end] && !topology.is_assumed(pipe)
            }) && is_item(topology.equipment_or_self(end))
        };
        let mut sides = self.sides.iter().filter(|(of, _)| *of == device);
        sides.any(|(_, side)| side.shared.iter().any(|node| is_item(*node)) || flows_into(&side.path))
    }

    /// Returns the valves that block a device, from the device outward on each side.
    pub fn valves_of(&self, device: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let sides = self.sides.iter().filter(move |(of, _)| *of == device);
        sides.flat_map(|(_, side)| side.shared.iter().copied()).filter(|node| self.blocks(*node))
    }

    /// Returns the path from a valve that blocks a device to the device, without the valve.
    pub fn path_from(&self, valve: NodeId, device: NodeId) -> Vec<NodeId> {
        for (_, side) in self.sides.iter().filter(|(of, _)| *of == device) {
            if let Some(at) = side.path.iter().position(|node| *node == valve) {
                return side.path[..at].iter().rev().copied().chain([device]).collect();
            }
        }
        vec![device]
    }
}

impl Isolation<'_, '_> {
    /// Returns the state of the path of a device for the volume: never open if the device protects none of its equipment, as
    /// `reliefList` says.
    pub(super) fn state_for_volume(
        &self,
        path: &ReliefPath,
        way: &[NodeId],
        charge: ChargeFn<'_>,
    ) -> Result<PathState> {
        let state = path.state_along(self.drawing, way, charge)?;
        let mut equipment =
            self.inside.iter().chain(&self.targets).map(|node| self.drawing.topology.equipment_or_self(*node));
        let has_equipment = equipment.any(|node| self.drawing.topology.roles[node as usize] == Role::Equipment);
        if state != PathState::Open || !has_equipment {
            return Ok(state);
        }
        let parts = self.parts;
        let bodies = |equipment: NodeId, charge: ChargeFn<'_>| {
            Ok(Bodies { open: parts.open_bodies(self.drawing, equipment, charge)?, same_tag: Vec::new() })
        };
        let protected = Protected::find_through(self.drawing, path, &bodies, charge)?;
        charge((self.inside.len() + self.targets.len() + protected.equipment.len()) as u64)?;
        let sides: HashSet<NodeId> = protected.equipment.iter().map(|(equipment, _)| *equipment).collect();
        let mut inside = self.inside.iter().chain(&self.targets);
        let protects = inside.any(|node| sides.contains(&self.drawing.topology.equipment_or_self(*node)));
        Ok(if protects { state } else { PathState::Unknown })
    }
}

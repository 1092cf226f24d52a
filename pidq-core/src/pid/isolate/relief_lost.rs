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
use crate::pid::relief::protected::{
    EquipmentSide, Inlet, Protected, enters_pump, is_driven, may_block, ports_of_side,
};
use crate::pid::relief::tails::Tails;
use crate::pid::relief::{PathState, ReliefPath, SideWay};
use crate::pid::valve_state::check_valves::opens_from;
use crate::pid::valve_state::is_locked_open;

/// Relief devices that are not blocked, by the equipment that they protect: those around the barriers looked at so far.
#[derive(Default)]
pub(super) struct Protection {
    /// With each device, whether it protects the side for certain.
    devices_of: HashMap<EquipmentSide, Vec<(NodeId, bool)>>,
    judged: HashSet<NodeId>,
    /// By device: what the searches around several barriers need of it.
    inlets: HashMap<NodeId, Vec<SideWay>>,
    protected: HashMap<NodeId, Protected>,
    paths: HashMap<NodeId, ReliefPath>,
    tails: Tails,
}

/// A part of the plant on one side of a barrier, up to the next valve that may be closed.
pub(super) struct Part {
    equipment: Vec<EquipmentSide>,
    /// By item: the one before it on the way from the barrier.
    before: HashMap<NodeId, NodeId>,
    /// By side of equipment: the port at which it was reached.
    reached_at: HashMap<EquipmentSide, NodeId>,
}

impl Part {
    /// Returns the part of the plant from some items on. Only valves that are locked open are passed, and no barrier.
    pub fn find(
        drawing: &Drawing<'_>,
        starts: Vec<NodeId>,
        is_barrier: impl Fn(NodeId) -> bool,
        charge: ChargeFn<'_>,
    ) -> Result<Part> {
        let topology = &drawing.topology;
        let table = topology.table(EdgeFilter::Flow, Direction::Both);
        let before = starts.iter().map(|start| (*start, NONE)).collect();
        let mut part = Part { equipment: Vec::new(), before, reached_at: HashMap::new() };
        let mut queue = starts;
        let mut at = 0;
        while let Some(node) = queue.get(at).copied() {
            at += 1;
            charge(1 + table.degree(node) as u64)?;
            let role = topology.roles[node as usize];
            let is_shut = role.closes() && !is_locked_open(drawing, node);
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
                if is_driven(drawing, side.0) {
                    continue;
                }
                charge(topology.ports.degree(side.0) as u64)?;
                let ports = topology.ports.nodes(side.0).iter().copied();
                next.extend(ports.filter(|port| topology.zone(*port) == side.1));
            }
            for next in next {
                if !is_barrier(next) && !part.before.contains_key(&next) {
                    part.before.insert(next, node);
                    queue.push(next);
                }
            }
        }
        Ok(part)
    }

    pub fn equipment(&self) -> &[EquipmentSide] {
        &self.equipment
    }

    /// Returns the relief devices at its ends, each with the item before it; `barrier` is before the first items.
    pub fn relief_devices(&self, drawing: &Drawing<'_>, barrier: NodeId) -> Vec<[NodeId; 2]> {
        let is_relief = |node: NodeId| drawing.topology.roles[node as usize] == Role::Relief;
        let devices = self.before.iter().filter(|(node, _)| is_relief(**node));
        let mut devices: Vec<[NodeId; 2]> =
            devices.map(|(node, before)| [*node, if *before == NONE { barrier } else { *before }]).collect();
        devices.sort_unstable();
        devices
    }

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
    /// Finds what the relief devices around a part protect.
    pub fn explore(&mut self, drawing: &Drawing<'_>, part: &Part, charge: ChargeFn<'_>) -> Result<()> {
        for device in devices_around(drawing, &part.equipment, charge)? {
            if self.judged.contains(&device) {
                continue;
            }
            let protected = self.protected_by(drawing, device, charge)?;
            charge(protected.equipment.len() as u64)?;
            if protected.equipment.iter().any(|side| part.reached_at.contains_key(side)) {
                self.judge(drawing, device, charge)?;
            }
        }
        Ok(())
    }

    /// Adds a device with what it protects, unless it is blocked.
    fn judge(&mut self, drawing: &Drawing<'_>, device: NodeId, charge: ChargeFn<'_>) -> Result<()> {
        self.judged.insert(device);
        let path = self.path(drawing, device, charge)?;
        if path.state == PathState::Blocked {
            return Ok(());
        }
        let is_open = path.is_open_on_sheet();
        let protected = &self.protected[&device];
        for (at, side) in protected.equipment.iter().enumerate() {
            let is_certain = at < protected.certain().len() && is_open;
            self.devices_of.entry(*side).or_default().push((device, is_certain));
        }
        Ok(())
    }

    /// Returns what a device protects by its inlets.
    pub fn protected_by(&mut self, drawing: &Drawing<'_>, device: NodeId, charge: ChargeFn<'_>) -> Result<&Protected> {
        if !self.protected.contains_key(&device) {
            let ways = self.inlet_ways(drawing, device, charge)?;
            let inlets: Vec<Inlet<'_>> = ways.iter().map(|way| (way.first, way.shared.as_slice())).collect();
            let protected = Protected::from_inlets(drawing, device, &inlets, charge)?;
            self.protected.insert(device, protected);
        }
        Ok(&self.protected[&device])
    }

    /// Returns the ways of the inlets of a device.
    pub fn inlet_ways(&mut self, drawing: &Drawing<'_>, device: NodeId, charge: ChargeFn<'_>) -> Result<&[SideWay]> {
        if !self.inlets.contains_key(&device) {
            self.inlets.insert(device, ReliefPath::inlet_ways(drawing, device, charge)?);
        }
        Ok(&self.inlets[&device])
    }

    /// Returns the relief paths of a device.
    pub fn path(&mut self, drawing: &Drawing<'_>, device: NodeId, charge: ChargeFn<'_>) -> Result<&ReliefPath> {
        if !self.paths.contains_key(&device) {
            let path = ReliefPath::find(drawing, device, &mut self.tails, charge)?;
            self.paths.insert(device, path);
        }
        Ok(&self.paths[&device])
    }

    /// Returns the devices of a part with a path to each, from next to the barrier.
    pub fn devices(&self, part: &Part, charge: ChargeFn<'_>) -> Result<Vec<(NodeId, Vec<NodeId>)>> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for side in &part.equipment {
            let devices = self.devices_of.get(side).map_or(&[][..], Vec::as_slice);
            let mut devices: Vec<NodeId> = devices.iter().map(|(device, _)| *device).collect();
            charge(devices.len() as u64)?;
            devices.sort_unstable();
            for device in devices.into_iter().filter(|device| seen.insert(*device)) {
                let path = part.path_to(*side);
                charge(1 + path.len() as u64)?;
                found.push((device, [path.as_slice(), &[device]].concat()));
            }
        }
        Ok(found)
    }

    /// Returns whether a device besides some others protects a side of equipment, which has a port, for certain.
    pub fn protects_besides(
        &mut self,
        drawing: &Drawing<'_>,
        (side, port): (EquipmentSide, NodeId),
        is_other: impl Fn(NodeId) -> bool,
        charge: ChargeFn<'_>,
    ) -> Result<bool> {
        let part = Part { equipment: vec![side], before: HashMap::new(), reached_at: [(side, port)].into() };
        self.explore(drawing, &part, charge)?;
        let devices = self.devices_of.get(&side).map_or(&[][..], Vec::as_slice);
        charge(devices.len() as u64)?;
        Ok(devices.iter().any(|(device, is_certain)| *is_certain && !is_other(*device)))
    }

    /// Returns whether a device protects a part for certain.
    fn is_certain(&self, part: &Part) -> bool {
        let devices = part.equipment.iter().filter_map(|side| self.devices_of.get(side)).flatten();
        devices.into_iter().any(|(_, is_certain)| *is_certain)
    }
}

impl Isolation<'_, '_> {
    /// Returns the relief devices on one side of a locked-open barrier that are the only ones of the other side, with
    /// the path from next to the barrier.
    pub(super) fn relief_lost_at(
        &self,
        barrier: NodeId,
        protection: &mut Protection,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<(NodeId, Vec<NodeId>)>> {
        if !is_locked_open(self.drawing, barrier) {
            return Ok(Vec::new());
        }
        let mut around = neighbors(self.drawing, barrier, charge)?;
        around.retain(|next| !self.barrier_of.contains_key(next));
        let (inside, outside): (Vec<NodeId>, Vec<NodeId>) =
            around.into_iter().partition(|next| self.visited.contains(next));
        let is_barrier = |node: NodeId| node == barrier || self.barrier_of.contains_key(&node);
        let inside = Part::find(self.drawing, inside, is_barrier, charge)?;
        let outside = Part::find(self.drawing, outside, is_barrier, charge)?;
        if inside.equipment.iter().any(|side| outside.reached_at.contains_key(side)) {
            return Ok(Vec::new());
        }
        for part in [&inside, &outside] {
            protection.explore(self.drawing, part, charge)?;
        }
        let [mut of_inside, mut of_outside] =
            [protection.devices(&inside, charge)?, protection.devices(&outside, charge)?];
        // From the other side of the barrier to the device, a check valve may close.
        let is_open = |(_, path): &(NodeId, Vec<NodeId>)| {
            let mut before = barrier;
            path.iter()
                .all(|node| opens_from(self.drawing, *node, std::mem::replace(&mut before, *node)) != Some(false))
        };
        of_inside.retain(is_open);
        of_outside.retain(is_open);
        let lacks_relief = |part: &Part| !protection.is_certain(part) && part.keeps_pressure(self.drawing);
        // A machine that goes on against the closed valve raises the pressure before it.
        let mut has_machine = || -> Result<bool> { Ok(!self.machines_before(barrier, charge)?.is_empty()) };
        Ok(match () {
            () if !of_outside.is_empty() && lacks_relief(&inside) => of_outside,
            () if of_inside.is_empty() => Vec::new(),
            () if lacks_relief(&outside) || !protection.is_certain(&outside) && has_machine()? => of_inside,
            () => Vec::new(),
        })
    }
}

/// Returns the relief devices that may protect some sides of equipment: those from which a search that passes what a
/// device may pass reaches one. Ascending.
///
/// From the sides back, everything is passed that closes nothing, as [`Protected`] does it. Valves are passed only in the
/// piping of the device itself, up to the first equipment on its inlet: what is behind a valve is searched up to there.
fn devices_around(drawing: &Drawing<'_>, sides: &[EquipmentSide], charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let mut search = DeviceSearch { drawing, open: HashSet::new(), piping: HashSet::new(), devices: Vec::new() };
    for side in sides {
        search.follow(*side, charge)?;
    }
    search.devices.sort_unstable();
    search.devices.dedup();
    Ok(search.devices)
}

/// Search from sides of equipment back to relief devices.
struct DeviceSearch<'d, 'a> {
    drawing: &'d Drawing<'a>,
    /// Items that lead to a side past nothing that closes.
    open: HashSet<NodeId>,
    /// Items that lead to one of these past valves, and past no equipment.
    piping: HashSet<NodeId>,
    devices: Vec<NodeId>,
}

impl DeviceSearch<'_, '_> {
    fn follow(&mut self, side: EquipmentSide, charge: ChargeFn<'_>) -> Result<()> {
        let topology = &self.drawing.topology;
        let table = topology.table(EdgeFilter::Flow, Direction::Both);
        let mut queue = self.ports_of(side, charge)?;
        queue.retain(|port| self.open.insert(*port));
        while let Some(node) = queue.pop() {
            charge(1 + table.degree(node) as u64)?;
            if topology.is_equipment(node) && !is_driven(self.drawing, topology.equipment_or_self(node)) {
                let ports = self.ports_of((topology.equipment_or_self(node), topology.zone(node)), charge)?;
                queue.extend(ports.into_iter().filter(|port| self.open.insert(*port)));
            }
            for (before, edge) in table.arcs(node) {
                let role = topology.roles[before as usize];
                // The pipes of a device itself are followed whatever they lead into.
                let is_not_followed = role != Role::Relief && enters_pump(self.drawing, node, edge);
                if is_not_followed || topology.is_sheet_end(before) {
                    continue;
                }
                let is_driven = || is_driven(self.drawing, topology.equipment_or_self(before));
                match () {
                    () if topology.is_equipment(before) && is_driven() => {}
                    () if may_block(self.drawing, before) || matches!(role, Role::Relief | Role::OpenEnd) => {
                        self.follow_piping(before, charge)?;
                    }
                    () => queue.extend(self.open.insert(before).then_some(before)),
                }
            }
        }
        Ok(())
    }

    /// Adds the devices of the piping of an item, up to equipment and the ends of the sheet.
    fn follow_piping(&mut self, item: NodeId, charge: ChargeFn<'_>) -> Result<()> {
        let topology = &self.drawing.topology;
        let mut queue = vec![item];
        queue.retain(|item| self.piping.insert(*item));
        while let Some(node) = queue.pop() {
            charge(1)?;
            self.devices.extend((topology.roles[node as usize] == Role::Relief).then_some(node));
            for next in neighbors(self.drawing, node, charge)? {
                if !topology.is_equipment(next) && !topology.is_sheet_end(next) && self.piping.insert(next) {
                    queue.push(next);
                }
            }
        }
        Ok(())
    }

    fn ports_of(&self, side: EquipmentSide, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        charge(1 + self.drawing.topology.ports.degree(side.0) as u64)?;
        Ok(ports_of_side(self.drawing, side))
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, Protection};
    use crate::Graph;
    use crate::graph::adjacency::NodeId;
    use crate::graph::bidirectional::random::Rng;
    use crate::graph::drawing::Drawing;
    use crate::graph::topology::{Direction, EdgeFilter};
    use crate::limits::Limits;
    use crate::pid::relief::ReliefPath;
    use crate::pid::relief::protected::Protected;
    use crate::pid::relief::tails::Tails;
    use crate::pid::valve_state::is_locked_open;

    /// Returns what all relief devices of a drawing protect.
    fn of_all_devices(drawing: &Drawing<'_>) -> Protection {
        let mut protection = Protection::default();
        for device in &drawing.topology.relief_devices {
            let path = ReliefPath::find(drawing, *device, &mut Tails::default(), &mut |_| Ok(())).expect("no limit");
            let protected = Protected::find(drawing, &path, &mut |_| Ok(())).expect("no limit");
            protection.protected.insert(*device, protected);
            protection.judge(drawing, *device, &mut |_| Ok(())).expect("no limit");
        }
        protection
    }

    /// Returns a plant whose items and pipes are random: mostly one after the other, with some further pipes.
    fn random_plant(rng: &mut Rng) -> Graph {
        const ITEMS: &[&str] = &[
            r#""class": "vessel""#,
            r#""class": "pump""#,
            r#""class": "heat_exchanger""#,
            r#""class": "gate_valve", "lock": "locked_open""#,
            r#""class": "gate_valve", "lock": "locked_open""#,
            r#""class": "gate_valve""#,
            r#""class": "gate_valve", "normally": "closed""#,
            r#""class": "check_valve""#,
            r#""class": "safety_valve""#,
            r#""class": "safety_valve""#,
            r#""class": "rupture_disc""#,
            r#""class": "pipe_tee""#,
            r#""class": "pipe_tee""#,
            r#""class": "reducer""#,
            r#""class": "gadget""#,
            r#""class": "special_valve""#,
            r#""class": "open_end""#,
            r#""class": "off_page_connector""#,
        ];
        let count = 4 + rng.index(16);
        let item = |id: usize, rng: &mut Rng| format!(r#"{{"id": {id}, {}}}"#, ITEMS[rng.index(ITEMS.len())]);
        let mut nodes: Vec<String> = (0..count).map(|id| item(id, rng)).collect();
        let mut pipes: Vec<[usize; 2]> = (1..count).map(|id| [id - 1, id]).collect();
        pipes.extend((0..rng.index(6)).map(|_| [rng.index(count), rng.index(count)]));
        let mut edges: Vec<String> = Vec::new();
        for _ in 0..rng.index(3) {
            let vessel = nodes.len();
            let ports = vessel + 1..vessel + 3 + rng.index(2);
            nodes.push(format!(r#"{{"id": {vessel}, "class": "vessel"}}"#));
            for port in ports {
                let zone = ["", r#", "zone": "a""#, r#", "zone": "b""#][rng.index(3)];
                nodes.push(format!(r#"{{"id": {port}, "class": "nozzle", "parent_id": {vessel}{zone}}}"#));
                pipes.push([rng.index(count), port]);
            }
        }
        let direction = |rng: &mut Rng| ["", r#", "direction": "unknown""#][usize::from(rng.index(4) == 0)];
        for [from, to] in pipes {
            let [from, to] = if rng.index(4) == 0 { [to, from] } else { [from, to] };
            edges.push(format!(r#"{{"from": {from}, "to": {to}{}}}"#, direction(rng)));
        }
        let text = format!(r#"{{"nodes": [{}], "edges": [{}]}}"#, nodes.join(","), edges.join(","));
        Graph::from_json(text).expect("valid JSON")
    }

    #[test]
    fn devices_around_a_barrier_are_those_of_all_devices_that_protect_its_sides() {
        let mut rng = Rng(0x9E37_79B9_7F4A_7C15);
        let (mut parts, mut protected) = (0, 0);
        for _ in 0..2000 {
            let graph = random_plant(&mut rng);
            let drawing = graph.drawing(&Limits::default()).ok().flatten().expect("a drawing");
            let (all, mut around) = (of_all_devices(&drawing), Protection::default());
            let valves = (0..drawing.nodes.len() as NodeId).filter(|node| is_locked_open(&drawing, *node));
            for barrier in valves {
                for next in drawing.topology.table(EdgeFilter::Flow, Direction::Both).nodes(barrier) {
                    let part = Part::find(&drawing, vec![*next], |node| node == barrier, &mut |_| Ok(()));
                    let part = part.expect("no limit");
                    around.explore(&drawing, &part, &mut |_| Ok(())).expect("no limit");
                    let found =
                        |of: &Protection| (of.devices(&part, &mut |_| Ok(())).expect("no limit"), of.is_certain(&part));
                    assert_eq!(found(&around), found(&all), "{barrier} {next} on {:?}", graph.root());
                    parts += 1;
                    protected += usize::from(!found(&all).0.is_empty());
                }
            }
        }
        assert!(protected > 200, "{protected} of {parts} parts with relief");
    }
}

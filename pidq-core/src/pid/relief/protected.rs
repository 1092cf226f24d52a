//! Equipment and pipes that a relief device protects: connected to its inlet without a valve between that closes.

use hashbrown::HashSet;

use super::{ReliefPath, SideKind};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::equipment_sides::is_unstated;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::valve_state::pipes::{PipeState, pipe_state};
use crate::pid::{ChargeFn, lists};

/// One side of equipment: the equipment, and its chamber or `NONE`.
pub(crate) type EquipmentSide = (NodeId, u32);

/// Inlet of a relief device: its first item, and the items that all its ways lead through.
pub(crate) type Inlet<'s> = (NodeId, &'s [NodeId]);

/// Equipment and pipes that a relief device protects.
#[derive(Debug, Default)]
pub(crate) struct Protected {
    /// Those that are certain come first.
    pub equipment: Vec<EquipmentSide>,
    certain_count: usize,
    pub pipes: Vec<EdgeId>,
    /// Ports that may or may not be on a side that is protected, since the drawing does not state their side.
    pub unstated: Vec<NodeId>,
}

impl Protected {
    /// Collects equipment and pipes from the inlet of a device on. What all ways of the inlet lead through is passed,
    /// and judged by the path itself. Equipment with a drive ends the search, since the pressures on its sides differ; a
    /// pump is protected only from its outlet.
    pub fn find(drawing: &Drawing<'_>, path: &ReliefPath, charge: ChargeFn<'_>) -> Result<Protected> {
        let inlets = path.sides.iter().filter(|side| side.kind == SideKind::Inlet);
        let inlets: Vec<Inlet<'_>> = inlets.map(|side| (side.first, side.shared.as_slice())).collect();
        Protected::from_inlets(drawing, path.device, &inlets, charge)
    }

    /// Collects the same from the inlets of a device that is not judged.
    pub fn from_inlets(
        drawing: &Drawing<'_>,
        device: NodeId,
        inlets: &[Inlet<'_>],
        charge: ChargeFn<'_>,
    ) -> Result<Protected> {
        let mut search = ProtectedSearch::begin(drawing, device, inlets, charge)?;
        search.follow(charge)?;
        search.found.certain_count = search.found.equipment.len();
        let unstated = std::mem::take(&mut search.deferred);
        search.queue.extend(unstated.into_iter().filter(|port| search.seen.insert(*port)));
        search.is_certain = false;
        search.follow(charge)?;
        let mut listed = HashSet::new();
        search.found.unstated.retain(|port| listed.insert(*port));
        Ok(search.found)
    }

    /// Returns the sides of equipment that are protected for certain: reached past no port whose side is not stated.
    pub fn certain(&self) -> &[EquipmentSide] {
        &self.equipment[..self.certain_count]
    }
}

/// Search from the inlet of a relief device.
struct ProtectedSearch<'p, 'a> {
    drawing: &'p Drawing<'a>,
    found: Protected,
    /// Items that all ways of the inlet lead through.
    passed: HashSet<NodeId>,
    pipes: HashSet<EdgeId>,
    sides: HashSet<EquipmentSide>,
    seen: HashSet<NodeId>,
    queue: Vec<NodeId>,
    at: usize,
    is_certain: bool,
    /// Ports without a side that may be on the side of another one without.
    deferred: Vec<NodeId>,
}

impl<'p, 'a> ProtectedSearch<'p, 'a> {
    fn begin(
        drawing: &'p Drawing<'a>,
        device: NodeId,
        inlets: &[Inlet<'_>],
        charge: ChargeFn<'_>,
    ) -> Result<ProtectedSearch<'p, 'a>> {
        let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
        let firsts: HashSet<NodeId> = inlets.iter().map(|(first, _)| *first).collect();
        let mut search = ProtectedSearch {
            drawing,
            found: Protected::default(),
            passed: inlets.iter().flat_map(|(_, shared)| shared.iter().copied()).collect(),
            pipes: HashSet::new(),
            sides: HashSet::new(),
            seen: [device].into(),
            queue: Vec::new(),
            at: 0,
            is_certain: true,
            deferred: Vec::new(),
        };
        charge(table.degree(device) as u64)?;
        for (first, edge) in table.arcs(device).filter(|(first, _)| firsts.contains(first)) {
            search.add_pipe(edge);
            search.queue.extend(search.seen.insert(first).then_some(first));
        }
        Ok(search)
    }

    fn add_pipe(&mut self, edge: EdgeId) {
        self.found.pipes.extend(self.pipes.insert(edge).then_some(edge));
    }

    fn follow(&mut self, charge: ChargeFn<'_>) -> Result<()> {
        let topology = &self.drawing.topology;
        let table = topology.table(EdgeFilter::Flow, Direction::Both);
        while let Some(node) = self.queue.get(self.at).copied() {
            self.at += 1;
            charge(1 + table.degree(node) as u64)?;
            let role = topology.roles[node as usize];
            let may_end = may_block(self.drawing, node) || matches!(role, Role::Relief | Role::OpenEnd);
            if topology.is_sheet_end(node) || may_end && !self.passed.contains(&node) {
                continue;
            }
            if topology.is_equipment(node) && !self.enter(node, charge)? {
                continue;
            }
            for (next, edge) in table.arcs(node) {
                let is_open = pipe_state(self.drawing, edge) == PipeState::Open;
                if !is_open && ![node, next].iter().all(|end| self.passed.contains(end)) {
                    continue;
                }
                self.add_pipe(edge);
                if !enters_pump(self.drawing, next, edge) {
                    self.queue.extend(self.seen.insert(next).then_some(next));
                }
            }
        }
        Ok(())
    }

    /// Adds the side of equipment that a port is on, and its other ports. Returns whether the search goes on from it.
    fn enter(&mut self, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let topology = &self.drawing.topology;
        let side = (topology.equipment_or_self(node), topology.zone(node));
        let is_new = self.sides.insert(side);
        self.found.equipment.extend(is_new.then_some(side));
        if is_driven(self.drawing, side.0) {
            return Ok(false);
        }
        if !is_new {
            return Ok(true);
        }
        let ports = topology.ports.nodes(side.0);
        charge(ports.len() as u64)?;
        let may_have_several = side.1 == NONE && self.drawing.may_have_several_sides(side.0, charge)?;
        for port in ports.iter().copied().filter(|port| *port != node) {
            if self.seen.contains(&port) {
                continue;
            }
            let zone = topology.zone(port);
            let is_unstated = is_unstated([side.1, zone], may_have_several);
            if is_unstated && topology.flow_degree(port) > 0 {
                self.found.unstated.push(port);
            }
            match (zone == side.1, is_unstated && self.is_certain) {
                (true, true) => self.deferred.push(port),
                (true, false) => {
                    self.seen.insert(port);
                    self.queue.push(port);
                }
                (false, _) => {}
            }
        }
        Ok(true)
    }
}

/// Returns whether a pipe leads into a pump, a compressor or other equipment that raises the pressure: a device at that
/// pipe does not limit the pressure that the equipment makes (API 521).
pub(crate) fn enters_pump(drawing: &Drawing<'_>, node: NodeId, pipe: EdgeId) -> bool {
    let topology = &drawing.topology;
    topology.is_equipment(node)
        && !topology.is_assumed(pipe)
        && topology.flow_ends(pipe)[1] == node
        && drawing.raises_pressure(topology.equipment_or_self(node))
}

/// Returns whether a side of equipment is open to the atmosphere, past nothing that closes.
pub(crate) fn has_open_vent(
    drawing: &Drawing<'_>,
    (equipment, zone): EquipmentSide,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    charge(1 + topology.ports.degree(equipment) as u64)?;
    let ports = topology.ports.nodes(equipment).iter().copied();
    let mut queue: Vec<NodeId> = ports.chain([equipment]).filter(|port| topology.zone(*port) == zone).collect();
    let mut seen: HashSet<NodeId> = queue.iter().copied().collect();
    let start_count = queue.len();
    let mut at = 0;
    while let Some(node) = queue.get(at).copied() {
        charge(1 + table.degree(node) as u64)?;
        let role = topology.roles[node as usize];
        if role == Role::OpenEnd {
            return Ok(true);
        }
        let open_pipes = table.arcs(node).filter(|(_, pipe)| pipe_state(drawing, *pipe) == PipeState::Open);
        let is_stop = may_block(drawing, node) || role == Role::Relief || topology.is_sheet_end(node);
        if at < start_count || !is_stop && !topology.is_equipment(node) {
            queue.extend(open_pipes.map(|(next, _)| next).filter(|next| seen.insert(*next)));
        }
        at += 1;
    }
    Ok(false)
}

/// Returns whether an item may close a line or a direction of it. A valve of unknown kind may.
pub(crate) fn may_block(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let role = drawing.topology.roles[node as usize];
    role.closes() || role != Role::Relief && lists::is_valve(drawing, node)
}

/// Returns whether equipment is a machine or is fired, by its class: a pump, a compressor, a furnace.
pub(crate) fn is_driven(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.holds_back_pressure(node)
}

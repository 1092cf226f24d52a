//! Equipment and pipes that a relief device protects: connected to its inlet without a valve between that closes.

use hashbrown::HashSet;

use super::items::{Cause, Effect, Flow, is_synthetic, is_there, item_cause};
use super::paths::is_air_end;
use super::{ReliefPath, SideKind};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::equipment_sides::is_unstated;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::valve_state::pipes::{PipeState, pipe_state};
use crate::pid::{ChargeFn, lists};

/// One side of equipment: the equipment, and its chamber or `NONE`.
pub(crate) type EquipmentSide = (NodeId, u32);

/// Returns the ports of a side of equipment, and the equipment itself if it is on this side.
pub(crate) fn ports_of_side(drawing: &Drawing<'_>, (equipment, zone): EquipmentSide) -> Vec<NodeId> {
    let topology = &drawing.topology;
    let ports = topology.ports.nodes(equipment).iter().copied().chain([equipment]);
    ports.filter(|port| topology.zone(*port) == zone).collect()
}

/// Function that returns the bodies that are open to equipment, or may be.
pub(crate) type OpenBodies<'p> = &'p dyn Fn(NodeId, ChargeFn<'_>) -> Result<Bodies>;

/// Bodies that are open to equipment, or may be.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    /// Its parts, and the equipment that it is a part of.
    pub open: Vec<NodeId>,
    /// Equipment with its tag, which may be the same, drawn on another sheet.
    pub same_tag: Vec<NodeId>,
}

/// Inlet of a relief device: its first item, and the items that all its ways lead through, or an open branch of it.
pub(crate) type Inlet<'s> = (NodeId, &'s [NodeId]);

/// Equipment and pipes that a relief device protects.
#[derive(Debug, Default)]
pub(crate) struct Protected {
    /// Those that are certain come first.
    pub equipment: Vec<EquipmentSide>,
    certain_count: usize,
    /// Those that are certain come first.
    pub pipes: Vec<EdgeId>,
    pub certain_pipe_count: usize,
    /// Ports that may or may not be on a side that is protected, since the drawing does not state their side.
    pub unstated: Vec<NodeId>,
    /// Items that may close the way to some of the equipment, or may not be there.
    pub unknown: Vec<(Cause, NodeId)>,
}

impl Protected {
    /// Collects equipment and pipes from the inlet of a device on. What all ways of the inlet lead through is passed,
    /// and judged by the path itself. Equipment with a drive ends the search, since the pressures on its sides differ; a
    /// pump is protected only from its outlet.
    pub fn find(drawing: &Drawing<'_>, path: &ReliefPath, charge: ChargeFn<'_>) -> Result<Protected> {
        Protected::from_inlets(drawing, path.device, &inlets_of(path), charge)
    }

    /// Collects the same, also through the bodies that are open to equipment, such as a boot, and from them to it. What is
    /// protected only if equipment with the same tag is the same is not certain.
    pub fn find_through(
        drawing: &Drawing<'_>,
        path: &ReliefPath,
        bodies: OpenBodies<'_>,
        charge: ChargeFn<'_>,
    ) -> Result<Protected> {
        let search = ProtectedSearch::begin(drawing, path.device, &inlets_of(path), charge)?;
        ProtectedSearch { bodies: Some(bodies), ..search }.finish(charge)
    }

    /// Collects the same from the inlets of a device that is not judged.
    pub fn from_inlets(
        drawing: &Drawing<'_>,
        device: NodeId,
        inlets: &[Inlet<'_>],
        charge: ChargeFn<'_>,
    ) -> Result<Protected> {
        ProtectedSearch::begin(drawing, device, inlets, charge)?.finish(charge)
    }

    /// Returns the sides of equipment that are protected for certain: reached past no port whose side is not stated, and
    /// past no item that may be closed.
    pub fn certain(&self) -> &[EquipmentSide] {
        &self.equipment[..self.certain_count]
    }
}

fn inlets_of(path: &ReliefPath) -> Vec<Inlet<'_>> {
    let inlets = path.sides.iter().filter(|side| side.kind == SideKind::Inlet);
    inlets.flat_map(|side| [(side.first, side.shared.as_slice()), (side.first, side.branches.as_slice())]).collect()
}

/// Parts of the classes of items through which little flows: not of an orifice that only measures.
const NARROW_ITEMS: &[&str] = &["restriction", "restrictor", "flame_arrest", "detonation_arrest"];

/// Search from the inlet of a relief device.
struct ProtectedSearch<'p, 'a> {
    drawing: &'p Drawing<'a>,
    /// None if the search keeps to nozzles.
    bodies: Option<OpenBodies<'p>>,
    found: Protected,
    /// Items that all ways of the inlet lead through, or an open branch of a shared inlet.
    passed: HashSet<NodeId>,
    pipes: HashSet<EdgeId>,
    sides: HashSet<EquipmentSide>,
    seen: HashSet<NodeId>,
    queue: Vec<NodeId>,
    at: usize,
    is_certain: bool,
    /// Ports without a side that may be on the side of another one without.
    deferred: Vec<NodeId>,
    /// Equipment whose pipes may be on different sides, and equipment that may be the same as some of the equipment found.
    deferred_bodies: Vec<NodeId>,
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
            bodies: None,
            found: Protected::default(),
            passed: inlets.iter().flat_map(|(_, shared)| shared.iter().copied()).collect(),
            pipes: HashSet::new(),
            sides: HashSet::new(),
            seen: [device].into(),
            queue: Vec::new(),
            at: 0,
            is_certain: true,
            deferred: Vec::new(),
            deferred_bodies: Vec::new(),
        };
        charge(table.degree(device) as u64)?;
        for (first, edge) in table.arcs(device).filter(|(first, _)| firsts.contains(first)) {
            search.add_pipe(edge);
            search.queue.extend(search.seen.insert(first).then_some(first));
        }
        Ok(search)
    }

    /// Follows what is certain, then what is not.
    fn finish(mut self, charge: ChargeFn<'_>) -> Result<Protected> {
        self.follow(charge)?;
        self.found.certain_count = self.found.equipment.len();
        self.found.certain_pipe_count = self.found.pipes.len();
        let unstated = std::mem::take(&mut self.deferred);
        self.queue.extend(unstated.into_iter().filter(|port| self.seen.insert(*port)));
        self.queue.extend(self.deferred_bodies.iter().copied());
        self.queue.extend(self.found.unknown.iter().map(|(_, item)| *item));
        self.is_certain = false;
        self.follow(charge)?;
        if self.found.certain_count == self.found.equipment.len() {
            self.found.unknown.clear();
        }
        let mut listed = HashSet::new();
        self.found.unstated.retain(|port| listed.insert(*port));
        Ok(self.found)
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
            if self.is_certain && self.is_unknown(node, charge)? {
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

    /// Returns whether an item may be closed or may not be there, and keeps it until all that is certain is found. What all
    /// ways of the inlet lead through is judged by the path.
    fn is_unknown(&mut self, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        if self.passed.contains(&node) || self.drawing.topology.is_equipment(node) {
            return Ok(false);
        }
        let cause = item_cause(self.drawing, [NONE, node, NONE], Flow::Unknown, charge)?;
        // A narrow item limits the flow that reaches the device.
        let is_narrow = |cause: &Cause| *cause == Cause::Restriction && self.drawing.class_has(node, NARROW_ITEMS);
        let cause = cause.filter(|cause| cause.effect() >= Effect::Unknown || is_narrow(cause));
        self.found.unknown.extend(cause.map(|cause| (cause, node)));
        Ok(cause.is_some())
    }

    /// Adds the side of equipment that a port is on, and its other ports. Returns whether the search goes on from it.
    fn enter(&mut self, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        if self.is_certain && self.has_several_owners(node, charge)? {
            self.found.unstated.push(node);
            self.deferred_bodies.push(node);
            return Ok(false);
        }
        let side = (self.drawing.topology.equipment_or_self(node), self.drawing.topology.zone(node));
        let is_new = self.sides.insert(side);
        self.found.equipment.extend(is_new.then_some(side));
        if is_driven(self.drawing, side.0) {
            return Ok(false);
        }
        if is_new {
            self.add_ports(node, side, charge)?;
            self.enter_bodies(side.0, charge)?;
        }
        // The pipes at equipment without nozzles may be on different sides too.
        let is_unstated = self.is_certain
            && node == side.0
            && self.drawing.topology.flow_degree(node) > 1
            && self.drawing.may_have_several_sides(node, charge)?;
        if is_unstated {
            self.found.unstated.push(node);
            self.deferred_bodies.push(node);
        }
        Ok(!is_unstated)
    }

    /// Returns whether edges state that a nozzle belongs to several items of equipment.
    fn has_several_owners(&self, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let topology = &self.drawing.topology;
        if topology.roles[node as usize] != Role::Port {
            return Ok(false);
        }
        let table = topology.table(EdgeFilter::All, Direction::Both);
        charge(1 + table.degree(node) as u64)?;
        let is_owner = |(other, edge): &(NodeId, EdgeId)| {
            topology.edge_flags[*edge as usize].contains(EdgeFlags::PART)
                && topology.ends[*edge as usize][1] == node
                && topology.roles[*other as usize] == Role::Equipment
        };
        let mut owners: Vec<NodeId> = table.arcs(node).filter(is_owner).map(|(other, _)| other).collect();
        owners.dedup();
        Ok(owners.len() > 1)
    }

    /// Adds the other ports of a side of equipment that has been entered by a node.
    fn add_ports(&mut self, node: NodeId, side: EquipmentSide, charge: ChargeFn<'_>) -> Result<()> {
        let topology = &self.drawing.topology;
        let ports = topology.ports.nodes(side.0);
        charge(ports.len() as u64)?;
        let may_have_several = self.drawing.may_have_several_sides(side.0, charge)?;
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
        Ok(())
    }

    /// Adds equipment that is open to equipment as a part of it, or that it is a part of. A machine in a vessel is not
    /// protected with it: what it makes of the pressure is not limited.
    fn enter_bodies(&mut self, equipment: NodeId, charge: ChargeFn<'_>) -> Result<()> {
        let Some(open_bodies) = self.bodies else { return Ok(()) };
        let Bodies { open: mut bodies, same_tag } = open_bodies(equipment, charge)?;
        if self.is_certain {
            self.deferred_bodies.extend(same_tag);
        }
        bodies.retain(|body| {
            self.drawing.topology.roles[*body as usize] == Role::Equipment && !is_driven(self.drawing, *body)
        });
        for body in bodies {
            let side = (body, NONE);
            if self.sides.insert(side) {
                self.found.equipment.push(side);
                self.add_ports(body, side, charge)?;
                if self.seen.insert(body) {
                    self.queue.push(body);
                }
            }
        }
        Ok(())
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

/// Returns the end, or the flare or stack, at which a side of equipment is open to the atmosphere, past nothing that closes.
pub(crate) fn open_vent(drawing: &Drawing<'_>, side: EquipmentSide, charge: ChargeFn<'_>) -> Result<Option<NodeId>> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    charge(1 + topology.ports.degree(side.0) as u64)?;
    let mut queue = ports_of_side(drawing, side);
    let mut seen: HashSet<NodeId> = queue.iter().copied().collect();
    let start_count = queue.len();
    let mut at = 0;
    while let Some(node) = queue.get(at).copied() {
        charge(1 + table.degree(node) as u64)?;
        let role = topology.roles[node as usize];
        let is_open_end = role == Role::OpenEnd || is_air_end(drawing, node);
        if is_open_end && !is_synthetic(drawing, node) && is_there(drawing, node) {
            return Ok(Some(node));
        }
        let equipment = topology.equipment_or_self(node);
        let is_stack = topology.is_equipment(node) && drawing.class_ends_with_word(equipment, vocabulary::OPEN_STACKS);
        if at >= start_count && is_stack && is_there(drawing, equipment) && is_there(drawing, node) {
            return Ok(Some(equipment));
        }
        let open_pipes = table.arcs(node).filter(|(_, pipe)| pipe_state(drawing, *pipe) == PipeState::Open);
        if at < start_count || !topology.is_equipment(node) && !may_stop_flow(drawing, node, charge)? {
            queue.extend(open_pipes.map(|(next, _)| next).filter(|next| seen.insert(*next)));
        }
        at += 1;
    }
    Ok(None)
}

/// Returns the sides of equipment that some pipes of an item lead to, past nothing that may stop a flow. Machines and what is
/// fired hold back a pressure, and are none.
pub(crate) fn sides_behind(
    drawing: &Drawing<'_>,
    node: NodeId,
    pipes: &[EdgeId],
    charge: ChargeFn<'_>,
) -> Result<Vec<EquipmentSide>> {
    const MAX_ITEMS: usize = 256;
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let is_open = |pipe: &EdgeId| pipe_state(drawing, *pipe) == PipeState::Open;
    let other_end = |pipe: &EdgeId| topology.ends[*pipe as usize].into_iter().find(|end| *end != node);
    let mut queue: Vec<NodeId> = pipes.iter().filter(|pipe| is_open(pipe)).filter_map(other_end).collect();
    let mut seen: HashSet<NodeId> = queue.iter().copied().chain([node]).collect();
    let mut sides = Vec::new();
    let mut at = 0;
    while let Some(next) = queue.get(at).copied().filter(|_| at < MAX_ITEMS) {
        at += 1;
        charge(1 + table.degree(next) as u64)?;
        if topology.is_equipment(next) {
            let owner = topology.equipment_or_self(next);
            sides.extend((!is_driven(drawing, owner)).then_some((owner, topology.zone(next))));
        } else if !may_stop_flow(drawing, next, charge)? {
            let open_pipes = table.arcs(next).filter(|(_, pipe)| is_open(pipe));
            queue.extend(open_pipes.map(|(other, _)| other).filter(|other| seen.insert(*other)));
        }
    }
    sides.sort_unstable();
    sides.dedup();
    Ok(sides)
}

/// Returns whether an item may stop a flow in either direction: it may close, is unknown, or ends the sheet.
fn may_stop_flow(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    let cause = item_cause(drawing, [NONE, node, NONE], Flow::Unknown, charge)?;
    Ok(cause.is_some_and(|cause| cause.effect() >= Effect::Unknown)
        || may_block(drawing, node)
        || drawing.topology.roles[node as usize] == Role::Relief
        || drawing.topology.is_sheet_end(node))
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

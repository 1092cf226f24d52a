//! Equipment and pipes that a relief device protects: connected to its inlet without a valve between that closes.

use hashbrown::HashSet;

use super::{ReliefPath, SideKind};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::pid::{ChargeFn, instrument_class, lists};

/// One side of equipment: the equipment, and its chamber or `NONE`.
pub(crate) type EquipmentSide = (NodeId, u32);

/// Equipment and pipes that a relief device protects.
#[derive(Debug, Default)]
pub(crate) struct Protected {
    pub equipment: Vec<EquipmentSide>,
    pub pipes: Vec<EdgeId>,
}

impl Protected {
    /// Collects equipment and pipes from the inlet of a device on. What all ways of the inlet lead through is passed,
    /// and judged by the path itself. Equipment with a drive ends the search, since the pressures on its sides differ; a
    /// pump is protected only from its outlet.
    pub fn find(drawing: &Drawing<'_>, path: &ReliefPath, charge: ChargeFn<'_>) -> Result<Protected> {
        let topology = &drawing.topology;
        let table = topology.table(EdgeFilter::Flow, Direction::Both);
        let inlets = || path.sides.iter().filter(|side| side.kind == SideKind::Inlet);
        let passed: HashSet<NodeId> = inlets().flat_map(|side| side.shared.iter().copied()).collect();
        let firsts: HashSet<NodeId> = inlets().map(|side| side.first).collect();
        let mut found = Protected::default();
        let mut pipes: HashSet<EdgeId> = HashSet::new();
        let mut sides: HashSet<EquipmentSide> = HashSet::new();
        let mut seen: HashSet<NodeId> = [path.device].into();
        let mut queue: Vec<NodeId> = Vec::new();
        charge(table.degree(path.device) as u64)?;
        for (first, edge) in table.arcs(path.device).filter(|(first, _)| firsts.contains(first)) {
            found.pipes.extend(pipes.insert(edge).then_some(edge));
            queue.extend(seen.insert(first).then_some(first));
        }
        let mut at = 0;
        while let Some(node) = queue.get(at).copied() {
            at += 1;
            charge(1 + table.degree(node) as u64)?;
            let role = topology.roles[node as usize];
            let may_end = may_block(drawing, node) || matches!(role, Role::Relief | Role::OpenEnd);
            if topology.is_sheet_end(node) || may_end && !passed.contains(&node) {
                continue;
            }
            if topology.is_equipment(node) {
                let side = (topology.equipment_or_self(node), topology.zone(node));
                found.equipment.extend(sides.insert(side).then_some(side));
                if is_driven(drawing, side.0) {
                    continue;
                }
                charge(topology.ports.degree(side.0) as u64)?;
                let ports = topology.ports.nodes(side.0).iter().copied();
                queue.extend(ports.filter(|port| topology.zone(*port) == side.1 && seen.insert(*port)));
            }
            for (next, edge) in table.arcs(node) {
                found.pipes.extend(pipes.insert(edge).then_some(edge));
                if !enters_pump(drawing, next, edge) {
                    queue.extend(seen.insert(next).then_some(next));
                }
            }
        }
        Ok(found)
    }
}

/// Returns whether a pipe leads into a pump, a compressor or other equipment that raises the pressure: a device at that
/// pipe does not limit the pressure that the equipment makes (API 521).
fn enters_pump(drawing: &Drawing<'_>, node: NodeId, pipe: EdgeId) -> bool {
    let topology = &drawing.topology;
    topology.is_equipment(node)
        && !topology.is_assumed(pipe)
        && topology.flow_ends(pipe)[1] == node
        && drawing.class_has(topology.equipment_or_self(node), vocabulary::PRESSURE_RAISING)
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
        let is_stop = may_block(drawing, node) || role == Role::Relief || topology.is_sheet_end(node);
        if at < start_count || !is_stop && !topology.is_equipment(node) {
            queue.extend(table.nodes(node).iter().copied().filter(|next| seen.insert(*next)));
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

/// Returns whether equipment has a drive, by its class: a pump, a compressor.
pub(crate) fn is_driven(drawing: &Drawing<'_>, node: NodeId) -> bool {
    instrument_class::has_drive(drawing, node)
}

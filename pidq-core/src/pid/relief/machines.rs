//! Machines in relief paths: pumps, compressors and others that a relief flow would have to pass.
//!
//! A device on the outlet of a running pump protects that outlet. If the pump has no other outlet, the device looks like
//! the relief of what is before the pump, and nothing states that the flow passes a pump that stands still.

use hashbrown::HashSet;

use super::paths::{Search, path_back};
use super::protected::EquipmentSide;
use super::side_search::Start;
use super::sides::SideKind;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;

/// Returns the machine that an inlet gets all its flow through: each end is a machine, fed from elsewhere, without an
/// outlet to anything but the relief devices. Outlets have no source.
pub(super) fn only_source(
    drawing: &Drawing<'_>,
    start: &Start,
    search: &Search<'_, '_>,
    charge: ChargeFn<'_>,
) -> Result<Option<NodeId>> {
    let topology = &drawing.topology;
    if start.kind != SideKind::Inlet {
        return Ok(None);
    }
    let Some(ends) = search.ends_if_all(start.first, |end| is_machine(drawing, end), charge)? else { return Ok(None) };
    let mut piping: HashSet<NodeId> = search.predecessors(start.first, charge)?.into_keys().collect();
    piping.insert(start.device);
    for end in &ends {
        if !is_passed(drawing, topology.equipment_or_self(*end), &piping, charge)? {
            return Ok(None);
        }
    }
    Ok(ends.first().map(|end| topology.equipment_or_self(*end)))
}

/// Returns whether a machine is connected to something beside the piping of an inlet, and no pipe leads from it there.
fn is_passed(drawing: &Drawing<'_>, machine: NodeId, piping: &HashSet<NodeId>, charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let ports = topology.ports.nodes(machine);
    let mut is_fed = false;
    for port in ports.iter().copied().chain([machine]) {
        charge(1 + table.degree(port) as u64)?;
        let leaves = |pipe: EdgeId| !topology.is_assumed(pipe) && topology.flow_ends(pipe)[0] == port;
        for (other, pipe) in table.arcs(port).filter(|(other, _)| !piping.contains(other)) {
            if topology.roles[other as usize] == Role::Relief {
                continue;
            }
            if leaves(pipe) {
                return Ok(false);
            }
            is_fed = true;
        }
    }
    Ok(is_fed)
}

/// Returns the machines that a device protects and to whose suction its outlet returns along the flow, with the paths
/// to them.
pub(super) fn own_suctions(
    drawing: &Drawing<'_>,
    first: NodeId,
    avoided: &HashSet<NodeId>,
    protected: &[EquipmentSide],
    charge: ChargeFn<'_>,
) -> Result<Vec<(NodeId, Vec<NodeId>)>> {
    charge(protected.len() as u64)?;
    let is_own = |machine: NodeId| {
        drawing.raises_pressure(machine) && protected.iter().any(|(equipment, _)| *equipment == machine)
    };
    let search = Search::new(drawing, avoided).towards(Direction::Down);
    let before = search.predecessors(first, charge)?;
    let mut found: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
    for end in search.ends(first, charge)? {
        let machine = drawing.topology.equipment_or_self(end);
        charge(1 + protected.len() as u64)?;
        let is_new = found.iter().all(|(known, _)| *known != machine);
        if is_new && drawing.topology.is_equipment(end) && is_own(machine) && is_entered(drawing, end) {
            found.push((machine, path_back(&before, end)));
        }
    }
    Ok(found)
}

/// Returns whether the pipes at a port, or at a machine without ports, state that they lead into it.
fn is_entered(drawing: &Drawing<'_>, end: NodeId) -> bool {
    let pipes = drawing.topology.table(EdgeFilter::Flow, Direction::Up).edges(end);
    !pipes.is_empty() && pipes.iter().all(|pipe| !drawing.topology.is_assumed(*pipe))
}

pub(super) fn is_machine(drawing: &Drawing<'_>, end: NodeId) -> bool {
    let topology = &drawing.topology;
    let equipment = topology.equipment_or_self(end);
    topology.is_equipment(end) && drawing.is_machine(equipment)
}

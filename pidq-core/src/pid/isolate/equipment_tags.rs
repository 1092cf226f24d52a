//! Equipment of a drawing by its tags.

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::equipment_tags::EquipmentTags;
use crate::pid::ChargeFn;

/// Collects the equipment of a drawing with its tags.
pub(super) fn equipment_tags(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<EquipmentTags> {
    const NODES_PER_UNIT: u64 = 16;
    let topology = &drawing.topology;
    let equipment =
        || (0..topology.node_count() as NodeId).filter(|node| topology.roles[*node as usize] == Role::Equipment);
    charge(topology.node_count() as u64 / NODES_PER_UNIT + equipment().count() as u64)?;
    Ok(EquipmentTags::new(equipment().filter_map(|node| Some((node, drawing.tag(node)?)))))
}

//! Relief devices of a drawing: those by their class, and valves that only their tag calls one.
//!
//! A tag such as `PSV-101` on a valve of another class, or of none, may be right or wrong. What such a valve protects is
//! shown, so that it is not overlooked, and nothing about it is certain.

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::tag::Tag;

/// Source of the statement that an item is a relief device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum StatedBy {
    Class,
    /// The letters of its tag alone.
    Tag,
}

/// Returns the relief devices in document order, and what states each.
pub(crate) fn devices(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<(NodeId, StatedBy)>> {
    let topology = &drawing.topology;
    charge(topology.node_count() as u64)?;
    let stated_by = |node: NodeId| match topology.roles[node as usize] {
        Role::Relief => Some(StatedBy::Class),
        _ => is_device_by_tag(drawing, node).then_some(StatedBy::Tag),
    };
    let nodes = 0..topology.node_count() as u32;
    Ok(nodes.filter_map(|node| Some((node, stated_by(node)?))).collect())
}

/// Returns whether only the tag of a valve says that it is a relief device, such as that of `PSV-1` of unknown class.
pub(crate) fn is_device_by_tag(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    matches!(topology.roles[node as usize], Role::None | Role::Barrier)
        && topology.flow_degree(node) > 0
        && drawing.tag(node).and_then(Tag::parse).is_some_and(|tag| vocabulary::RELIEF_LETTERS.contains(&&*tag.letters))
}

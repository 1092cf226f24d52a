//! Way out of equipment that takes in what relief devices discharge: certain, possible, or none.

use super::items::Cause;
use super::protected::EquipmentSide;
use crate::graph::adjacency::NodeId;

/// Way out of a side of equipment.
#[derive(Clone, Debug)]
pub(super) enum WayOut {
    None,
    Possible(Uncertainty),
    Certain,
}

/// First item on a way that may close it, or behind which the drawing does not show it.
#[derive(Clone, Debug)]
pub(super) struct Uncertainty {
    pub cause: Cause,
    pub at: NodeId,
    /// From the equipment to the item.
    pub path: Vec<NodeId>,
}

/// Equipment into which a way leads, and the items from an outlet of what is before it to its port.
pub(super) type Receiver = (EquipmentSide, Vec<NodeId>);

/// Relief device of equipment, unless it is blocked.
#[derive(Clone, Debug)]
pub(super) struct OpenDevice {
    /// The path in it is from the device.
    pub uncertainty: Option<Uncertainty>,
    /// Equipment into which it discharges, with the path from the device.
    pub receivers: Vec<Receiver>,
}

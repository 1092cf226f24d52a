//! Relief devices and blowdown valves that end sections of a review: those in a line that goes on, and those at a header of
//! several devices.
//!
//! Behind a device, another pressure holds. A device between one side of equipment and its own outlet is a part of one
//! section, as a section of its inlet alone says nothing.

use hashbrown::{HashMap, HashSet};

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::connectivity::UnionFind;
use crate::graph::drawing::Drawing;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::pid::ChargeFn;

/// Returns the devices that end sections. `parts` are the parts of the piping between the ends, which all devices are.
pub(super) fn relief_boundaries(
    drawing: &Drawing<'_>,
    devices: &[NodeId],
    is_end: &dyn Fn(NodeId) -> bool,
    parts: &mut UnionFind,
    charge: ChargeFn<'_>,
) -> Result<Vec<NodeId>> {
    let sides: HashMap<NodeId, [u32; 2]> =
        devices.iter().filter_map(|device| Some((*device, sides_of(drawing, *device, parts)?))).collect();
    let mut ends_of: HashMap<u32, HashSet<End>> = HashMap::new();
    charge(drawing.topology.edge_count() as u64)?;
    for pipe in drawing.topology.edges_of(EdgeFlags::FLOW) {
        let root = parts.find(pipe);
        for node in drawing.topology.ends[pipe as usize] {
            let end = match sides.get(&node) {
                Some(sides) => Some(End::Device(*sides)),
                None => is_end(node).then(|| End::Item(drawing.topology.equipment_or_self(node))),
            };
            ends_of.entry(root).or_default().extend(end);
        }
    }
    let goes_on = |device: &NodeId| {
        let Some(own) = sides.get(device) else { return false };
        let others = |root: &u32| {
            let ends = ends_of.get(root).into_iter().flatten();
            ends.filter(|end| **end != End::Device(*own)).count()
        };
        own[0] != own[1] && own.iter().any(|root| others(root) > 1)
    };
    Ok(devices.iter().copied().filter(goes_on).collect())
}

/// End of a part of the piping.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum End {
    Item(NodeId),
    /// Devices between the same two parts: a device and its spare are one.
    Device([u32; 2]),
}

/// Returns the parts of the piping before and behind a device with one pipe on each side.
fn sides_of(drawing: &Drawing<'_>, device: NodeId, parts: &mut UnionFind) -> Option<[u32; 2]> {
    let topology = &drawing.topology;
    let only = |pipes: &[EdgeId]| match pipes {
        [only] if !topology.is_assumed(*only) => Some(*only),
        _ => None,
    };
    let [inlet, outlet] =
        [Direction::Up, Direction::Down].map(|side| only(topology.table(EdgeFilter::Flow, side).edges(device)));
    Some([parts.find(inlet?), parts.find(outlet?)])
}

//! Division of a network into the parts that are connected without passing some items, the ends.
//!
//! The sides of equipment are apart, and its parts that are open to it, such as a boot, belong to it.

use hashbrown::HashMap;

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::connectivity::UnionFind;
use crate::graph::drawing::Drawing;
use crate::graph::topology::EdgeFlags;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::isolate::parts::Parts;

/// Items that are connected without passing an end.
pub(super) struct Partition {
    parts: UnionFind,
    /// By equipment and named side: its index.
    sides: HashMap<(NodeId, u32), u32>,
}

impl Partition {
    /// Divides a network at some ends, along all pipes.
    pub fn new(drawing: &Drawing<'_>, is_end: impl Fn(NodeId) -> bool, charge: ChargeFn<'_>) -> Result<Partition> {
        Partition::along(drawing, is_end, |_| true, charge)
    }

    /// Divides a network at some ends, along the pipes that a condition accepts.
    pub fn along(
        drawing: &Drawing<'_>,
        is_end: impl Fn(NodeId) -> bool,
        is_pipe: impl Fn(EdgeId) -> bool,
        charge: ChargeFn<'_>,
    ) -> Result<Partition> {
        let topology = &drawing.topology;
        charge((topology.node_count() + topology.edge_count()) as u64)?;
        let mut sides: HashMap<(NodeId, u32), u32> = HashMap::new();
        let mut count = topology.node_count() as u32;
        for port in 0..topology.node_count() as u32 {
            let side = topology.zone(port);
            let Some(owner) = topology.owner(port).filter(|owner| side != NONE && !is_end(*owner)) else { continue };
            sides.entry((owner, side)).or_insert_with(|| {
                count += 1;
                count - 1
            });
        }
        let mut parts = UnionFind::new(count as usize);
        for port in 0..topology.node_count() as u32 {
            if let Some(owner) = topology.owner(port).filter(|owner| !is_end(*owner)) {
                let interior = sides.get(&(owner, topology.zone(port))).copied().unwrap_or(owner);
                parts.join(port, interior);
            }
        }
        join_bodies(drawing, &mut parts, &sides, &is_end, charge)?;
        for edge in topology.edges_of(EdgeFlags::FLOW) {
            let [from, to] = topology.ends[edge as usize];
            if !is_end(from) && !is_end(to) && is_pipe(edge) {
                parts.join(from, to);
            }
        }
        Ok(Partition { parts, sides })
    }

    /// Joins two items that something else than a pipe may connect.
    pub fn join(&mut self, a: NodeId, b: NodeId) {
        self.parts.join(a, b);
    }

    /// Returns the part of a node; for a port, that of its side.
    pub fn root_of(&mut self, drawing: &Drawing<'_>, node: NodeId) -> u32 {
        let topology = &drawing.topology;
        let side = topology.owner(node).and_then(|owner| self.sides.get(&(owner, topology.zone(node))).copied());
        self.parts.find(side.unwrap_or(node))
    }
}

/// Joins equipment with its parts that are open to it, such as a boot, but not with its chambers, which may be its sides.
fn join_bodies(
    drawing: &Drawing<'_>,
    sections: &mut UnionFind,
    sides: &HashMap<(NodeId, u32), u32>,
    is_end: &impl Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<()> {
    let topology = &drawing.topology;
    let parts = Parts::collect(drawing, charge)?;
    for node in parts.owned().into_iter().filter(|node| !is_end(*node)) {
        // A nozzle is joined with the side of its equipment that it is on.
        if topology.owner(node).is_some() || drawing.class_has_word(node, vocabulary::CHAMBERS) {
            continue;
        }
        for whole in parts.wholes_of(drawing, node, charge)?.into_iter().filter(|whole| !is_end(*whole)) {
            sections.join(sides.get(&(whole, node)).copied().unwrap_or(node), whole);
        }
    }
    Ok(())
}

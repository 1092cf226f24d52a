//! Parts of the plant behind hand valves that are drawn closed, as behind a drain or a sample valve.

use hashbrown::HashSet;

use super::partition::Partition;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::pid::dead_ends::{is_end_of_vent, names_bleed};
use crate::pid::valve_state::drawn_closed::may_be_drawn_closed;
use crate::pid::valve_state::unread_texts::may_not_close;
use crate::pid::valve_state::{Installation, contradicts_open, installation};

/// Parts of a drawing that is divided at closed hand valves. One without equipment, an end of a section or an end of the sheet
/// that is none of a drain or a vent is sheltered, if the rest of its section has any.
pub(super) struct ShelteredParts {
    partition: Partition,
    ends: HashSet<NodeId>,
    with_content: HashSet<u32>,
    /// The section that was added last has content.
    has_content: bool,
}

impl ShelteredParts {
    /// Divides a drawing at the ends of its sections and at the hand valves that are closed.
    pub fn new(drawing: &Drawing<'_>, is_end: impl Fn(NodeId) -> bool, charge: ChargeFn<'_>) -> Result<ShelteredParts> {
        let nodes = 0..drawing.topology.node_count() as NodeId;
        charge(u64::from(nodes.end))?;
        let ends: HashSet<NodeId> = nodes.clone().filter(|node| is_end(*node)).collect();
        let closed: HashSet<NodeId> = nodes.filter(|node| is_certainly_closed(drawing, *node)).collect();
        let partition = Partition::new(drawing, |node| ends.contains(&node) || closed.contains(&node), charge)?;
        Ok(ShelteredParts { partition, ends, with_content: HashSet::new(), has_content: false })
    }

    /// Adds the items and the equipment of a section.
    pub fn add_content(
        &mut self,
        drawing: &Drawing<'_>,
        nodes: impl Iterator<Item = NodeId>,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let topology = &drawing.topology;
        let table = topology.table(EdgeFilter::Flow, Direction::Both);
        self.has_content = false;
        for node in nodes {
            charge(1 + table.degree(node) as u64)?;
            let is_body =
                topology.is_equipment(node) && topology.flow_degree(node) > 0 && !is_end_of_vent(drawing, node);
            let is_at_end = || table.nodes(node).iter().any(|other| self.ends.contains(other));
            // A drain or a vent to a header on another sheet leads to nothing of the section.
            let continues = topology.is_sheet_end(node) && !names_bleed(drawing, node);
            if is_body || continues || is_at_end() {
                self.with_content.insert(self.partition.root_of(drawing, node));
                self.has_content = true;
            }
        }
        Ok(())
    }

    /// Returns whether an item of the section that was added last is in a part without content.
    pub fn is_sheltered(&mut self, drawing: &Drawing<'_>, node: NodeId) -> bool {
        self.has_content
            && !is_certainly_closed(drawing, node)
            && drawing.topology.flow_degree(node) > 0
            && !self.with_content.contains(&self.partition.root_of(drawing, node))
    }
}

/// Returns whether a hand valve between two items is drawn closed, and nothing in the drawing speaks against it.
pub(super) fn is_certainly_closed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let has_two_pipes = || {
        let next = drawing.topology.table(EdgeFilter::Flow, Direction::Both).nodes(node);
        matches!(next, [one, other] if one != other)
    };
    drawing.topology.roles[node as usize] == Role::Barrier
        && may_be_drawn_closed(drawing, node)
        && has_two_pipes()
        && !contradicts_open(drawing, node)
        && !may_not_close(drawing, node)
        && installation(drawing, node) == Installation::Installed
}

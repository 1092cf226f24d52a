//! Signals between the instruments that have a loop, directly or through others.

use hashbrown::HashSet;

use super::groups::Group;
use super::signals;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::pid::ChargeFn;
use crate::pid::instrument_class;

/// Signals between instruments with a loop: from, to. Position feedback leads nowhere.
pub(super) struct Links<'l> {
    links: Vec<(NodeId, NodeId)>,
    /// Instruments of the groups.
    tagged: HashSet<NodeId>,
    /// Instruments of loop nodes.
    pub assigned: &'l HashSet<NodeId>,
}

impl<'l> Links<'l> {
    pub fn find(
        drawing: &Drawing<'_>,
        groups: &[Group],
        assigned: &'l HashSet<NodeId>,
        charge: ChargeFn<'_>,
    ) -> Result<Links<'l>> {
        let mut found = Links { links: Vec::new(), tagged: HashSet::new(), assigned };
        for group in groups {
            charge(1 + group.items.len() as u64)?;
            found.tagged.extend(group.items.iter().map(|item| item.node));
        }
        let passes = |node: NodeId| !found.is_instrument(node);
        let mut sources: Vec<NodeId> = found.tagged.iter().chain(assigned).copied().collect();
        sources.sort_unstable();
        let mut links = Vec::new();
        for source in sources.into_iter().filter(|node| !instrument_class::has_position_letters(drawing, *node)) {
            let targets = signals::reached(drawing, source, &passes, charge)?;
            links.extend(targets.into_iter().map(|target| (source, target)));
        }
        found.links = links;
        Ok(found)
    }

    pub fn iter(&self) -> impl Iterator<Item = &(NodeId, NodeId)> {
        self.links.iter()
    }

    /// Returns whether a node is an instrument with a loop.
    pub fn is_instrument(&self, node: NodeId) -> bool {
        self.tagged.contains(&node) || self.assigned.contains(&node)
    }
}

//! Equipment of a volume that may be drawn a second time, on the same sheet or on another one.

use hashbrown::HashSet;

use super::Isolation;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary;
use crate::graph::walk::Visitor;
use crate::value::{Value, write};

impl Isolation<'_, '_> {
    /// Finds other equipment with pipes and the tag of equipment inside the volume: it may be the same, drawn twice or on
    /// two sheets, and then its pipes are branches too.
    pub(super) fn find_other_drawings<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        let has_pipe = |node: NodeId| topology.flow_degree(node) > 0;
        let is_piped = |node: NodeId| has_pipe(node) || topology.ports.nodes(node).iter().any(|port| has_pipe(*port));
        let is_equipment = |node: NodeId| topology.roles[node as usize] == Role::Equipment;
        for node in self.inside.clone().into_iter().filter(|node| is_equipment(*node)) {
            let Some(tag) = self.drawing.tag(node).filter(|tag| !tag.trim().is_empty()) else { continue };
            let same = self.drawing.by_tag(tag);
            visitor.charge(1 + same.len() as u64)?;
            let may_be_same = |other: &NodeId| {
                !inside.contains(other)
                    && is_equipment(*other)
                    && is_piped(*other)
                    && !self.drawing.class_has_word(*other, vocabulary::PRIME_MOVERS)
                    && !differ(self.drawing, node, *other)
            };
            if same.iter().any(may_be_same) {
                self.note("same_tag", node);
            }
        }
        Ok(())
    }
}

/// Returns whether the drawing states that two items with one tag are different ones: by tags that are unique in the
/// plant, by parts of the plant in each of which tags are counted, or since only one of them is a machine.
///
/// The area of a sheet does not tell them apart: equipment may be shown again on the sheet of another area.
fn differ<'a>(drawing: &Drawing<'a>, node: NodeId, other: NodeId) -> bool {
    let is_other = |read: &dyn Fn(NodeId) -> Option<Value<'a>>| match (read(node), read(other)) {
        (Some(one), Some(two)) => write::to_string(one) != write::to_string(two),
        _ => false,
    };
    is_other(&|node| drawing.node_field(node, Names::QualifiedTag))
        || vocabulary::PARTS_OF_PLANT.iter().any(|name| is_other(&|node| stated(drawing.node(node), name)))
        || drawing.is_machine(node) != drawing.is_machine(other)
}

/// Returns a field by its name in snake_case.
fn stated<'a>(fields: Value<'a>, name: &str) -> Option<Value<'a>> {
    let mut entries = fields.as_object()?.iter();
    entries.find(|(key, value)| !value.is_null() && snake_case(key) == name).map(|(_, value)| value)
}

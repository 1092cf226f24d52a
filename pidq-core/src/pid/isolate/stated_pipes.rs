//! Pipes and items that only fields tie to a volume: a line from equipment of it without a drawn pipe, a valve without a
//! pipe that names an item of it.

use hashbrown::HashSet;

use super::parts::parent_of;
use super::{DataGap, Isolation};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::EdgeFlags;
use crate::graph::vocabulary;
use crate::graph::walk::Visitor;
use crate::pid::ChargeFn;
use crate::pid::pipe_lines::Members;
use crate::pid::stated_values::{plain_name, stated_fields};
use crate::value::Value;

/// Lines and segments of which a pipe is drawn.
struct DrawnLines {
    named: HashSet<NodeId>,
    members: Members,
}

impl Isolation<'_, '_> {
    /// Finds lines without a drawn pipe that a field ties to an item of the volume, and items without a pipe that name one.
    pub(super) fn find_stated_pipes<V: Visitor>(&mut self, visitor: &mut V) -> Result<()> {
        let topology = &self.drawing.topology;
        let charge: ChargeFn<'_> = &mut |units| visitor.charge(units);
        charge((topology.node_count() + self.inside.len()) as u64)?;
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        let mut drawn = None;
        let mut found = Vec::new();
        for line in (0..topology.node_count() as u32).filter(|node| is_line(self.drawing, *node)) {
            let Some(end) = named_end_inside(self.drawing, line, &inside, charge)? else { continue };
            let drawn = match &drawn {
                Some(drawn) => drawn,
                None => drawn.insert(DrawnLines::collect(self.drawing, charge)?),
            };
            if !drawn.has(self.drawing, line, charge)? {
                found.push(DataGap { kind: "unknown_connection", at: end, edge: NONE });
            }
        }
        for item in self.parts.without_pipes().iter().copied().filter(|item| !self.visited.contains(item)) {
            if named_end_inside(self.drawing, item, &inside, charge)?.is_some() {
                found.push(DataGap { kind: "free_port", at: item, edge: NONE });
            }
        }
        found.retain(|gap| !self.gaps.iter().any(|known| known.at == gap.at && known.kind == gap.kind));
        self.gaps.extend(found);
        Ok(())
    }
}

impl DrawnLines {
    fn collect(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<DrawnLines> {
        let topology = &drawing.topology;
        charge(topology.edge_count() as u64)?;
        let mut named = HashSet::new();
        for edge in topology.edges_of(EdgeFlags::FLOW) {
            let names = [Names::Line, Names::Segment].into_iter().filter_map(|names| drawing.edge_field(edge, names));
            named.extend(names.filter_map(|name| drawing.by_id(name).or_else(|| drawing.first_by_tag(name.as_str()?))));
        }
        // Segments whose ends are edges are looked at elsewhere.
        named.extend(topology.edges_of(EdgeFlags::SEGMENT_END).map(|edge| topology.ends[edge as usize][0]));
        Ok(DrawnLines { named, members: Members::collect(drawing, charge)? })
    }

    /// Returns whether a pipe, an item in a pipe or a segment of a line is drawn.
    fn has(&self, drawing: &Drawing<'_>, line: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let mut all = self.members.all_members(line, charge)?;
        all.push(line);
        Ok(all.iter().any(|node| self.named.contains(node) || drawing.topology.flow_degree(*node) > 0))
    }
}

/// Returns whether a node without a pipe stands for a line, a segment or a pipe.
fn is_line(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.roles[node as usize] == Role::None
        && drawing.topology.flow_degree(node) == 0
        && ([Names::LineType, Names::SegmentType].iter().any(|types| drawing.has_type(node, *types))
            || drawing.class_ends_with_word(node, vocabulary::PIPE_WORDS)
                && !drawing.class_has_word(node, vocabulary::SIGNAL_WORDS))
}

/// Returns an item of a volume that a field of a node names as an end.
fn named_end_inside(
    drawing: &Drawing<'_>,
    node: NodeId,
    inside: &HashSet<NodeId>,
    charge: ChargeFn<'_>,
) -> Result<Option<NodeId>> {
    let fields = drawing.node(node).as_object().into_iter().flat_map(stated_fields);
    for (_, stated) in fields.filter(|(name, _)| is_end_field(name)) {
        for value in stated.value.as_array().map_or(vec![stated.value], |list| list.iter().collect::<Vec<Value<'_>>>())
        {
            charge(1)?;
            let end = parent_of(drawing, value, charge)?;
            if let Some(end) = end.filter(|end| *end != node && inside.contains(end)) {
                return Ok(Some(end));
            }
        }
    }
    Ok(None)
}

/// Returns whether a field names the end of a pipe, or what it is connected to.
pub(super) fn is_end_field(name: &str) -> bool {
    name.len() <= MAX_CLASS && vocabulary::PIPE_ENDS.contains(&plain_name(name).as_str())
}

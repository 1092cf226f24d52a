//! Pipe lines: their edges and items, in flow order.

pub(crate) mod impulse_lines;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::{HashMap, HashSet};

use super::ChargeFn;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::index::Key;
use crate::graph::topology::EdgeFlags;
use crate::value::{Value, convert};

/// Returns the flow edges of a line: those that name it as given, or by the id of the node with this number.
pub(crate) fn edges_with_line(drawing: &Drawing<'_>, line: Value<'_>, charge: ChargeFn<'_>) -> Result<Vec<EdgeId>> {
    charge(drawing.topology.edge_count() as u64)?;
    let key = Key::from_value(line);
    let is_match = |name: Value<'_>| {
        Key::from_value(name) == key || line_number(drawing, name).is_some_and(|number| Some(number) == line.as_str())
    };
    let names_line = |edge: &EdgeId| drawing.edge_field(*edge, Names::Line).is_some_and(is_match);
    Ok(drawing.topology.edges_of(EdgeFlags::FLOW).filter(names_line).collect())
}

/// Returns the line node with an id.
pub(crate) fn line_with_id(drawing: &Drawing<'_>, id: Value<'_>) -> Option<NodeId> {
    drawing.by_id(id).filter(|node| drawing.has_type(*node, Names::LineType))
}

/// Returns the number of the line node with an id.
pub(crate) fn line_number<'a>(drawing: &Drawing<'a>, id: Value<'_>) -> Option<&'a str> {
    drawing.tag(line_with_id(drawing, id)?)
}

/// Returns the display name of a line that an item or a pipe names: its number, or the id of its node.
pub(crate) fn line_name(drawing: &Drawing<'_>, name: Value<'_>) -> String {
    line_number(drawing, name).map_or_else(|| convert::to_text(name), String::from)
}

/// Groups and their members.
pub(crate) struct Members {
    members_by_group: HashMap<NodeId, Vec<NodeId>>,
}

impl Members {
    pub fn collect(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Members> {
        charge(drawing.topology.membership_steps())?;
        let mut members_by_group: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for (group, member) in drawing.topology.memberships() {
            members_by_group.entry(group).or_default().push(member);
        }
        Ok(Members { members_by_group })
    }

    /// Returns the members of a group and their members: for a line also those of its segments.
    pub fn all_members(&self, group: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let mut seen: HashSet<NodeId> = [group].into_iter().collect();
        let mut queue = vec![group];
        let mut at = 0;
        while at < queue.len() {
            let members = self.members_by_group.get(&queue[at]).map_or(&[][..], Vec::as_slice);
            charge(1 + members.len() as u64)?;
            queue.extend(members.iter().filter(|member| seen.insert(**member)));
            at += 1;
        }
        queue.remove(0);
        Ok(queue)
    }
}

/// Returns the items of a line node in flow order: its members and the ends of its segments.
pub(crate) fn flow_run(drawing: &Drawing<'_>, line: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let name = drawing.tag(line).map_or(drawing.id(line), Value::String);
    let by_name = edges_with_line(drawing, name, charge)?;
    if !by_name.is_empty() {
        return flow_order(drawing, &by_name, &[], charge);
    }
    let members = Members::collect(drawing, charge)?.all_members(line, charge)?;
    let is_group =
        |node: &NodeId| drawing.has_type(*node, Names::SegmentType) || drawing.has_type(*node, Names::LineType);
    let segments: HashSet<NodeId> = members.iter().copied().filter(is_group).chain([line]).collect();
    let mut items: Vec<NodeId> = members.iter().copied().filter(|node| !is_group(node)).collect();
    for edge in drawing.topology.edges_of(EdgeFlags::SEGMENT_END) {
        let [segment, item] = drawing.topology.ends[edge as usize];
        if segments.contains(&segment) {
            items.push(item);
        }
    }
    let item_set: HashSet<NodeId> = items.iter().copied().collect();
    let is_inner = |edge: &EdgeId| drawing.topology.ends[*edge as usize].iter().all(|end| item_set.contains(end));
    let edges: Vec<EdgeId> = drawing.topology.edges_of(EdgeFlags::FLOW).filter(is_inner).collect();
    flow_order(drawing, &edges, &items, charge)
}

/// Returns the ends of some edges and further nodes in flow order: topological, ties in document order.
///
/// Kahn 1962. In a flow cycle, the first remaining node of the document goes first.
pub(crate) fn flow_order(
    drawing: &Drawing<'_>,
    edges: &[EdgeId],
    more: &[NodeId],
    charge: ChargeFn<'_>,
) -> Result<Vec<NodeId>> {
    charge((edges.len() + more.len()) as u64)?;
    let ends = || edges.iter().map(|edge| drawing.topology.flow_ends(*edge)).filter(|[from, to]| from != to);
    let mut nodes: Vec<NodeId> =
        edges.iter().flat_map(|edge| drawing.topology.ends[*edge as usize]).chain(more.iter().copied()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let mut in_degree: HashMap<NodeId, usize> = nodes.iter().map(|node| (*node, 0)).collect();
    let mut successors: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    for [from, to] in ends() {
        *in_degree.entry(to).or_default() += 1;
        successors.entry(from).or_default().push(to);
    }
    let mut ready: BinaryHeap<Reverse<NodeId>> =
        nodes.iter().copied().filter(|node| in_degree[node] == 0).map(Reverse).collect();
    let mut remaining = nodes.iter().copied().peekable();
    let mut placed = HashSet::new();
    let mut order = Vec::with_capacity(nodes.len());
    while order.len() < nodes.len() {
        charge(1)?;
        let next = ready.pop().map(|Reverse(node)| node).or_else(|| remaining.find(|node| !placed.contains(node)));
        let Some(node) = next.filter(|node| placed.insert(*node)) else { continue };
        order.push(node);
        for next in successors.remove(&node).unwrap_or_default() {
            let count = in_degree.entry(next).or_default();
            *count = count.saturating_sub(1);
            if *count == 0 && !placed.contains(&next) {
                ready.push(Reverse(next));
            }
        }
    }
    Ok(order)
}

/// Returns the lines of some pipes, each once, in order of first appearance.
pub(crate) fn lines_of(drawing: &Drawing<'_>, edges: impl Iterator<Item = EdgeId>) -> Vec<String> {
    let mut seen = HashSet::new();
    let names = edges.filter_map(|edge| drawing.edge_field(edge, Names::Line)).map(|name| line_name(drawing, name));
    names.filter(|name| seen.insert(name.clone())).collect()
}

//! Pipe lines: which edges and items belong to one, and in what order something flows through them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use hashbrown::{HashMap, HashSet};

use super::Pay;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::index::Key;
use crate::graph::plant::Plant;
use crate::graph::topology::Link;
use crate::value::{Value, convert};

/// The flow edges of a line: those that name it as it is given, or by the id of a node that has this number.
pub(crate) fn edges_with_line(plant: &Plant<'_>, line: Value<'_>, pay: Pay<'_>) -> Result<Vec<EdgeId>> {
    pay(plant.topology.edge_count() as u64)?;
    let key = Key::of(line);
    let is_it =
        |name: Value<'_>| Key::of(name) == key || number_of(plant, name).is_some_and(|it| Some(it) == line.as_str());
    let names_it = |edge: &EdgeId| plant.of_edge(*edge, Names::Line).is_some_and(is_it);
    Ok(plant.topology.edges_of(Link::FLOW).filter(names_it).collect())
}

/// The line whose node has an id.
pub(crate) fn line_with_id(plant: &Plant<'_>, id: Value<'_>) -> Option<NodeId> {
    plant.by_id(id).filter(|node| plant.has_type(*node, Names::LineType))
}

/// The number of the line whose node has an id.
pub(crate) fn number_of<'a>(plant: &Plant<'a>, id: Value<'_>) -> Option<&'a str> {
    plant.tag(line_with_id(plant, id)?)
}

/// What the line is called that an item or a pipe names: by its number, or by the id of its node.
pub(crate) fn line_called(plant: &Plant<'_>, name: Value<'_>) -> String {
    number_of(plant, name).map_or_else(|| convert::to_text(name), String::from)
}

/// Groups and their members.
pub(crate) struct Members {
    of_group: HashMap<NodeId, Vec<NodeId>>,
}

impl Members {
    pub fn of(plant: &Plant<'_>, pay: Pay<'_>) -> Result<Members> {
        pay(plant.topology.membership_steps())?;
        let mut of_group: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
        for (group, member) in plant.topology.memberships() {
            of_group.entry(group).or_default().push(member);
        }
        Ok(Members { of_group })
    }

    /// The members of a group, and the members of its members: of a line those of its segments.
    pub fn all(&self, group: NodeId, pay: Pay<'_>) -> Result<Vec<NodeId>> {
        let mut seen: HashSet<NodeId> = [group].into_iter().collect();
        let mut queue = vec![group];
        let mut at = 0;
        while at < queue.len() {
            let members = self.of_group.get(&queue[at]).map_or(&[][..], Vec::as_slice);
            pay(1 + members.len() as u64)?;
            queue.extend(members.iter().filter(|member| seen.insert(**member)));
            at += 1;
        }
        queue.remove(0);
        Ok(queue)
    }
}

/// The items of a line that is a node: its members and the ends of its segments, in flow order.
pub(crate) fn line_run(plant: &Plant<'_>, line: NodeId, pay: Pay<'_>) -> Result<Vec<NodeId>> {
    let name = plant.tag(line).map_or(plant.id(line), Value::String);
    let by_name = edges_with_line(plant, name, pay)?;
    if !by_name.is_empty() {
        return order(plant, &by_name, &[], pay);
    }
    let parts = Members::of(plant, pay)?.all(line, pay)?;
    let is_group = |node: &NodeId| plant.has_type(*node, Names::SegmentType) || plant.has_type(*node, Names::LineType);
    let segments: HashSet<NodeId> = parts.iter().copied().filter(is_group).chain([line]).collect();
    let mut items: Vec<NodeId> = parts.iter().copied().filter(|node| !is_group(node)).collect();
    for edge in plant.topology.edges_of(Link::SEGMENT_END) {
        let [segment, item] = plant.topology.ends[edge as usize];
        if segments.contains(&segment) {
            items.push(item);
        }
    }
    let kept: HashSet<NodeId> = items.iter().copied().collect();
    let inner = |edge: &EdgeId| plant.topology.ends[*edge as usize].iter().all(|end| kept.contains(end));
    let edges: Vec<EdgeId> = plant.topology.edges_of(Link::FLOW).filter(inner).collect();
    order(plant, &edges, &items, pay)
}

/// The ends of some edges and some more nodes in the order of the flow: topological, ties by the order of the document.
///
/// Kahn 1962. Where the flow runs in a circle, the first node of the document that is left goes first.
pub(crate) fn order(plant: &Plant<'_>, edges: &[EdgeId], more: &[NodeId], pay: Pay<'_>) -> Result<Vec<NodeId>> {
    pay((edges.len() + more.len()) as u64)?;
    let ends = || edges.iter().map(|edge| plant.topology.flow_ends(*edge)).filter(|[from, to]| from != to);
    let mut nodes: Vec<NodeId> =
        edges.iter().flat_map(|edge| plant.topology.ends[*edge as usize]).chain(more.iter().copied()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let mut before: HashMap<NodeId, usize> = nodes.iter().map(|node| (*node, 0)).collect();
    let mut after: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    for [from, to] in ends() {
        *before.entry(to).or_default() += 1;
        after.entry(from).or_default().push(to);
    }
    let mut ready: BinaryHeap<Reverse<NodeId>> =
        nodes.iter().copied().filter(|node| before[node] == 0).map(Reverse).collect();
    let mut left = nodes.iter().copied().peekable();
    let mut is_placed = HashSet::new();
    let mut order = Vec::with_capacity(nodes.len());
    while order.len() < nodes.len() {
        pay(1)?;
        let next = ready.pop().map(|Reverse(node)| node).or_else(|| left.find(|node| !is_placed.contains(node)));
        let Some(node) = next.filter(|node| is_placed.insert(*node)) else { continue };
        order.push(node);
        for next in after.remove(&node).unwrap_or_default() {
            let count = before.entry(next).or_default();
            *count = count.saturating_sub(1);
            if *count == 0 && !is_placed.contains(&next) {
                ready.push(Reverse(next));
            }
        }
    }
    Ok(order)
}

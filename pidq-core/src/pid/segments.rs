//! Pipe segments as nodes: the segments of an item, and missing segment ends.

use hashbrown::{HashMap, HashSet};

use super::ChargeFn;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::limits::MAX_TOPOLOGY_NAME_SIZE;
use crate::value::Value;

/// Returns the end of its segment that an edge names: 0 the start, 1 the end; `None` if its words do not define it.
pub(crate) fn end_index(drawing: &Drawing<'_>, edge: EdgeId) -> Option<usize> {
    const SIDES: [[&str; 2]; 2] = [["start", "source"], ["end", "target"]];
    let word = |names: Names| {
        drawing.edge_field(edge, names).and_then(Value::as_str).filter(|word| word.len() <= MAX_TOPOLOGY_NAME_SIZE)
    };
    let words = [Names::EdgeKind, Names::EdgeClass].map(|names| word(names).map(snake_case));
    let matches = |words_of_end: &[&str; 2]| {
        words.iter().flatten().any(|word| words_of_end.iter().any(|part| word.contains(part)))
    };
    SIDES.iter().position(matches)
}

/// Returns the edges from a segment to the items at its ends.
pub(crate) fn ends<'p>(
    drawing: &'p Drawing<'_>,
    segment: NodeId,
    charge: ChargeFn<'_>,
) -> Result<impl Iterator<Item = (NodeId, EdgeId)> + 'p> {
    let topology = &drawing.topology;
    let arcs = topology.table(EdgeFilter::All, Direction::Both).arcs(segment);
    charge(1 + 2 * arcs.len() as u64)?;
    let is_end = move |edge: EdgeId| {
        topology.edge_flags[edge as usize].contains(EdgeFlags::SEGMENT_END)
            && topology.ends[edge as usize][0] == segment
    };
    Ok(arcs.filter(move |(_, edge)| is_end(*edge)))
}

/// Cache of segment ends that the drawing does not name.
#[derive(Default)]
pub(crate) struct MissingEnds {
    by_segment: HashMap<NodeId, [bool; 2]>,
}

impl MissingEnds {
    /// Returns whether the start and the end of a segment are missing. Neither, if the drawing names no segment ends at
    /// all.
    pub fn missing_sides(&mut self, drawing: &Drawing<'_>, segment: NodeId, charge: ChargeFn<'_>) -> Result<[bool; 2]> {
        if !drawing.topology.all_flags.contains(EdgeFlags::SEGMENT_END) {
            return Ok([false; 2]);
        }
        if let Some(cached) = self.by_segment.get(&segment) {
            return Ok(*cached);
        }
        let sides: Vec<Option<usize>> =
            ends(drawing, segment, charge)?.map(|(_, edge)| end_index(drawing, edge)).collect();
        let missing = find_missing(&sides);
        self.by_segment.insert(segment, missing);
        Ok(missing)
    }

    /// Returns whether an item at which a branch ends is the last of a segment without an end, or the first of one that
    /// leads nowhere: then the pipe continues outside the drawing.
    pub fn ends_at_missing_side(&mut self, drawing: &Drawing<'_>, item: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        if !drawing.topology.all_flags.contains(EdgeFlags::SEGMENT_END) {
            return Ok(false);
        }
        for segment in at_item(drawing, item, charge)? {
            charge(1)?;
            if self.missing_sides(drawing, segment, charge)?.contains(&true) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the other end of each segment that ends at a node of a volume, if no pipes lead from the node to it: the segment is
/// stated and not drawn. `ports` are the node and its nozzles, `is_reached` tells what the volume reaches.
pub(crate) fn undrawn_ends(
    drawing: &Drawing<'_>,
    ports: &[NodeId],
    is_reached: impl Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<Vec<(NodeId, EdgeId)>> {
    let topology = &drawing.topology;
    let mut found = Vec::new();
    let table = topology.table(EdgeFilter::All, Direction::Both);
    for port in ports {
        charge(1 + table.degree(*port) as u64)?;
        let is_end = |edge: EdgeId| topology.edge_flags[edge as usize].contains(EdgeFlags::SEGMENT_END);
        for (segment, edge) in table.arcs(*port).filter(|(_, edge)| is_end(*edge)) {
            if topology.ends[edge as usize][0] != segment {
                continue;
            }
            for (other, _) in ends(drawing, segment, charge)? {
                let is_other = other != *port && !is_reached(other);
                if is_other && !is_connected(drawing, ports, other, charge)? {
                    found.push((*port, edge));
                }
            }
        }
    }
    Ok(found)
}

/// Returns whether pipes lead from one of some ports to an item, past no other equipment; true if that takes too many steps.
fn is_connected(drawing: &Drawing<'_>, ports: &[NodeId], end: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    const MAX_ITEMS: usize = 500;
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let is_end = |node: NodeId| node == end || topology.equipment_or_self(node) == end;
    let mut queue = ports.to_vec();
    let mut seen: HashSet<NodeId> = ports.iter().copied().collect();
    let mut at = 0;
    while let Some(node) = queue.get(at).copied() {
        at += 1;
        charge(1 + table.degree(node) as u64)?;
        if table.nodes(node).iter().any(|next| is_end(*next)) || queue.len() > MAX_ITEMS {
            return Ok(true);
        }
        let next = table.nodes(node).iter().copied().filter(|next| !topology.is_equipment(*next));
        queue.extend(next.filter(|next| seen.insert(*next)));
    }
    Ok(false)
}

/// Returns the missing sides. An end without a defined side may be either.
fn find_missing(sides: &[Option<usize>]) -> [bool; 2] {
    let mut unspecified = sides.iter().filter(|side| side.is_none()).count();
    let [end, start] = [1, 0].map(|side| {
        let is_missing = !sides.contains(&Some(side));
        let is_covered = is_missing && unspecified > 0;
        unspecified -= usize::from(is_covered);
        is_missing && !is_covered
    });
    [start, end]
}

/// Returns the segments of an item, as a member or by the pipes at it, and those that name it as an end. Segments that
/// do both by a pipe are omitted: they lack their other end.
fn at_item(drawing: &Drawing<'_>, item: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    let arcs = topology.table(EdgeFilter::All, Direction::Both).arcs(item);
    charge(1 + 2 * arcs.len() as u64)?;
    let is_membership = |edge: EdgeId| {
        let ([from, to], flags) = (topology.ends[edge as usize], topology.edge_flags[edge as usize]);
        flags.contains(EdgeFlags::MEMBER) && to == item || flags.contains(EdgeFlags::MEMBER_REVERSED) && from == item
    };
    let by_name = |value: Option<Value<'_>>| value.and_then(|id| drawing.by_id(id));
    let mut members: Vec<NodeId> = topology.field_group(item).into_iter().collect();
    members.extend(by_name(drawing.node_field(item, Names::Segment)));
    let [mut piped, mut endpoints] = [HashSet::new(), HashSet::new()];
    for (other, edge) in arcs {
        members.extend(is_membership(edge).then_some(other));
        piped.extend(by_name(drawing.edge_field(edge, Names::Segment)));
        endpoints.extend(topology.edge_flags[edge as usize].contains(EdgeFlags::SEGMENT_END).then_some(other));
    }
    let is_pipe_to_end = |node: &NodeId| piped.contains(node) && endpoints.contains(node);
    let all = members.iter().chain(&piped).chain(&endpoints).copied();
    let mut segments: Vec<NodeId> =
        all.filter(|node| !is_pipe_to_end(node) && drawing.has_type(*node, Names::SegmentType)).collect();
    segments.sort_unstable();
    segments.dedup();
    Ok(segments)
}

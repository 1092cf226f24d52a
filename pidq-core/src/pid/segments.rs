//! Runs of pipe as nodes: which one an item is in, and whether the drawing names both of its ends.

use hashbrown::{HashMap, HashSet};

use super::Pay;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{Names, snake_case};
use crate::graph::plant::Plant;
use crate::graph::topology::{Dir, Link, Over};
use crate::limits::MAX_WORD;
use crate::value::Value;

/// Which end of its segment an edge names: 0 the start, 1 the end; nothing where its words do not tell.
pub(crate) fn side(plant: &Plant<'_>, edge: EdgeId) -> Option<usize> {
    const SIDES: [[&str; 2]; 2] = [["start", "source"], ["end", "target"]];
    let word = |names: Names| plant.of_edge(edge, names).and_then(Value::as_str).filter(|word| word.len() <= MAX_WORD);
    let words = [Names::EdgeKind, Names::EdgeClass].map(|names| word(names).map(snake_case));
    let tells = |side: &[&str; 2]| words.iter().flatten().any(|word| side.iter().any(|part| word.contains(part)));
    SIDES.iter().position(tells)
}

/// The edges from a segment to the items at its ends.
pub(crate) fn ends<'p>(
    plant: &'p Plant<'_>,
    segment: NodeId,
    pay: Pay<'_>,
) -> Result<impl Iterator<Item = (NodeId, EdgeId)> + 'p> {
    let topology = &plant.topology;
    let arcs = topology.table(Over::All, Dir::Both).arcs(segment);
    pay(1 + 2 * arcs.len() as u64)?;
    let is_end = move |edge: EdgeId| {
        topology.links[edge as usize].has(Link::SEGMENT_END) && topology.ends[edge as usize][0] == segment
    };
    Ok(arcs.filter(move |(_, edge)| is_end(*edge)))
}

/// Which ends of segments the drawing does not name, looked at once a segment.
#[derive(Default)]
pub(crate) struct Missing {
    of_segment: HashMap<NodeId, [bool; 2]>,
}

impl Missing {
    /// The ends of a segment that are not named: start, end. None where the drawing names no ends of segments at all, since
    /// then it tells nothing of this one.
    pub fn of(&mut self, plant: &Plant<'_>, segment: NodeId, pay: Pay<'_>) -> Result<[bool; 2]> {
        if !plant.topology.met.has(Link::SEGMENT_END) {
            return Ok([false; 2]);
        }
        if let Some(known) = self.of_segment.get(&segment) {
            return Ok(*known);
        }
        let sides: Vec<Option<usize>> = ends(plant, segment, pay)?.map(|(_, edge)| side(plant, edge)).collect();
        let missing = missing_sides(&sides);
        self.of_segment.insert(segment, missing);
        Ok(missing)
    }

    /// Whether an item at which a branch ends is the last of a segment that has no end, or the first of one that leads
    /// nowhere: then the pipe goes on, and the drawing does not say where.
    pub fn ends_openly(&mut self, plant: &Plant<'_>, item: NodeId, pay: Pay<'_>) -> Result<bool> {
        if !plant.topology.met.has(Link::SEGMENT_END) {
            return Ok(false);
        }
        for segment in at_item(plant, item, pay)? {
            pay(1)?;
            if self.of(plant, segment, pay)?.contains(&true) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Which sides are missing among those that are named. An end of which nobody says which it is may be either.
fn missing_sides(sides: &[Option<usize>]) -> [bool; 2] {
    let mut unsaid = sides.iter().filter(|side| side.is_none()).count();
    let [end, start] = [1, 0].map(|side| {
        let is_missing = !sides.contains(&Some(side));
        let is_filled = is_missing && unsaid > 0;
        unsaid -= usize::from(is_filled);
        is_missing && !is_filled
    });
    [start, end]
}

/// The segments that an item is in, as a member or by the pipes at it, and those that name it as an end. Without those that
/// do both by a pipe: what such a segment lacks is its other end.
fn at_item(plant: &Plant<'_>, item: NodeId, pay: Pay<'_>) -> Result<Vec<NodeId>> {
    let topology = &plant.topology;
    let arcs = topology.table(Over::All, Dir::Both).arcs(item);
    pay(1 + 2 * arcs.len() as u64)?;
    let is_holder = |edge: EdgeId| {
        let ([from, to], link) = (topology.ends[edge as usize], topology.links[edge as usize]);
        link.has(Link::MEMBER) && to == item || link.has(Link::MEMBER_REVERSED) && from == item
    };
    let by_name = |value: Option<Value<'_>>| value.and_then(|id| plant.by_id(id));
    let mut members: Vec<NodeId> = topology.named_group(item).into_iter().collect();
    members.extend(by_name(plant.of_node(item, Names::Segment)));
    let [mut piped, mut named] = [HashSet::new(), HashSet::new()];
    for (other, edge) in arcs {
        members.extend(is_holder(edge).then_some(other));
        piped.extend(by_name(plant.of_edge(edge, Names::Segment)));
        named.extend(topology.links[edge as usize].has(Link::SEGMENT_END).then_some(other));
    }
    let is_both = |node: &NodeId| piped.contains(node) && named.contains(node);
    let all = members.iter().chain(&piped).chain(&named).copied();
    let mut segments: Vec<NodeId> =
        all.filter(|node| !is_both(node) && plant.has_type(*node, Names::SegmentType)).collect();
    segments.sort_unstable();
    segments.dedup();
    Ok(segments)
}

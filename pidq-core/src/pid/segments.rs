//! Runs of pipe as nodes: which one an item is in, and whether the drawing names both of its ends.

use super::Pay;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::plant::Plant;
use crate::graph::topology::{Dir, Link, Over};
use crate::value::Value;

/// Which end of its segment an edge names: 0 the start, 1 the end; nothing where its words do not tell.
pub(crate) fn side(plant: &Plant<'_>, edge: EdgeId) -> Option<usize> {
    const SIDES: [[&str; 2]; 2] = [["start", "source"], ["end", "target"]];
    let words = [Names::EdgeKind, Names::EdgeClass].map(|names| plant.of_edge(edge, names).and_then(Value::as_str));
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
    pay(1 + arcs.len() as u64)?;
    let is_end = move |edge: EdgeId| {
        topology.links[edge as usize].has(Link::SEGMENT_END) && topology.ends[edge as usize][0] == segment
    };
    Ok(arcs.filter(move |(_, edge)| is_end(*edge)))
}

/// Which ends of a segment the drawing does not name: start, end. None where it names no ends of segments at all, since
/// then it tells nothing of this one.
pub(crate) fn missing_ends(plant: &Plant<'_>, segment: NodeId, pay: Pay<'_>) -> Result<[bool; 2]> {
    if !plant.topology.met.has(Link::SEGMENT_END) {
        return Ok([false; 2]);
    }
    let sides: Vec<Option<usize>> = ends(plant, segment, pay)?.map(|(_, edge)| side(plant, edge)).collect();
    let unsaid = sides.iter().filter(|side| side.is_none()).count();
    let mut missing = [0, 1].map(|side| !sides.contains(&Some(side)));
    // An end of which nobody says which it is may be either.
    for _ in 0..unsaid {
        if let Some(one) = missing.iter_mut().rev().find(|is_missing| **is_missing) {
            *one = false;
        }
    }
    Ok(missing)
}

/// The segments that an item is in: as a member, or by the pipes at it.
fn of_item(plant: &Plant<'_>, item: NodeId, pay: Pay<'_>) -> Result<Vec<NodeId>> {
    let topology = &plant.topology;
    let arcs = topology.table(Over::All, Dir::Both).arcs(item);
    pay(1 + arcs.len() as u64)?;
    let is_holder = |edge: EdgeId| {
        let ([from, to], link) = (topology.ends[edge as usize], topology.links[edge as usize]);
        link.has(Link::MEMBER) && to == item || link.has(Link::MEMBER_REVERSED) && from == item
    };
    let named = |value: Option<Value<'_>>| value.and_then(|id| plant.by_id(id));
    let mut found: Vec<NodeId> = topology.named_group(item).into_iter().collect();
    for (other, edge) in arcs {
        found.extend(is_holder(edge).then_some(other));
        found.extend(named(plant.of_edge(edge, Names::Segment)));
    }
    found.extend(named(plant.of_node(item, Names::Segment)));
    found.retain(|node| plant.has_type(*node, Names::SegmentType));
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Whether an item at which a branch ends is the last of a segment that has no end: then the pipe goes on, and the drawing
/// does not say where. The end that a segment does name is none.
pub(crate) fn ends_openly(plant: &Plant<'_>, item: NodeId, pay: Pay<'_>) -> Result<bool> {
    if !plant.topology.met.has(Link::SEGMENT_END) {
        return Ok(false);
    }
    for segment in of_item(plant, item, pay)? {
        let is_named = ends(plant, segment, pay)?.any(|(end, _)| end == item);
        if !is_named && missing_ends(plant, segment, pay)?.contains(&true) {
            return Ok(true);
        }
    }
    Ok(false)
}

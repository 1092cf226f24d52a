//! Parts of instruments: measuring and actuating functions, actuators and references that a drawing shows as items of their
//! own, as DEXPI does.
//!
//! Lists and reports name the instrument, or the valve that the part moves: most parts have no tag, or that of the valve.

use hashbrown::HashSet;

use super::acts_by_class;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::pid::ChargeFn;

/// Maximum number of parts in each other.
const MAX_DEPTH: usize = 8;

/// Returns the instrument that a part without a tag belongs to; for anything else the node itself.
pub(crate) fn instrument_of(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<NodeId> {
    let mut part = node;
    for _ in 0..MAX_DEPTH {
        match whole(drawing, part, charge)? {
            Some(whole) => part = whole,
            None => break,
        }
    }
    Ok(part)
}

/// Returns the instruments that some nodes belong to, in the same order, each once.
pub(crate) fn instruments_of(drawing: &Drawing<'_>, nodes: &[NodeId], charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let mut seen = HashSet::new();
    let mut found = Vec::with_capacity(nodes.len());
    for node in nodes {
        let instrument = instrument_of(drawing, *node, charge)?;
        found.extend(seen.insert(instrument).then_some(instrument));
    }
    Ok(found)
}

/// Returns whether an item is a part of an instrument or of a valve: it has no tag and belongs to an instrument, or it moves
/// a valve and has no other tag than the valve.
pub(crate) fn is_part(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    Ok(whole(drawing, node, charge)?.is_some() || moved_valve(drawing, node, charge)?.is_some())
}

/// Returns the valve that an item without another tag moves.
pub(crate) fn moved_valve(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Option<NodeId>> {
    if !acts_by_class(drawing, node) {
        return Ok(None);
    }
    let tag = drawing.tag(node);
    let has_no_other = |valve: &NodeId| tag.is_none() || tag == drawing.tag(*valve);
    Ok(drawing.moved_valve(node, charge)?.filter(has_no_other))
}

/// Returns the parts of an instrument, and theirs.
pub(crate) fn parts(drawing: &Drawing<'_>, instrument: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    let mut parts = vec![instrument];
    let mut at = 0;
    while let Some(node) = parts.get(at).copied() {
        at += 1;
        let members = topology.field_members(node);
        let down = topology.table(EdgeFilter::All, Direction::Down).arcs(node);
        let up = topology.table(EdgeFilter::All, Direction::Up).arcs(node);
        charge(1 + (members.len() + down.len() + up.len()) as u64)?;
        let has = |edge: u32, flag: EdgeFlags| topology.edge_flags[edge as usize].contains(flag);
        let down = down.filter(|(_, edge)| has(*edge, EdgeFlags::PART) || has(*edge, EdgeFlags::MEMBER));
        let up = up.filter(|(_, edge)| has(*edge, EdgeFlags::MEMBER_REVERSED));
        for part in down.chain(up).map(|(part, _)| part).chain(members.iter().copied()) {
            let is_instrument = topology.roles[part as usize] == Role::Instrument;
            if is_instrument && !parts.contains(&part) && is_part(drawing, part, charge)? {
                parts.push(part);
            }
        }
    }
    parts.remove(0);
    Ok(parts)
}

/// Returns the only instrument that an instrument without a tag is a part of.
fn whole(drawing: &Drawing<'_>, part: NodeId, charge: ChargeFn<'_>) -> Result<Option<NodeId>> {
    let topology = &drawing.topology;
    if topology.roles[part as usize] != Role::Instrument || drawing.tag(part).is_some() {
        return Ok(None);
    }
    let up = topology.table(EdgeFilter::All, Direction::Up).arcs(part);
    let down = topology.table(EdgeFilter::All, Direction::Down).arcs(part);
    charge(1 + (up.len() + down.len()) as u64)?;
    let has = |edge: u32, flag: EdgeFlags| topology.edge_flags[edge as usize].contains(flag);
    let up = up.filter(|(_, edge)| has(*edge, EdgeFlags::PART) || has(*edge, EdgeFlags::MEMBER));
    let down = down.filter(|(_, edge)| has(*edge, EdgeFlags::MEMBER_REVERSED));
    let wholes = up.chain(down).map(|(whole, _)| whole).chain(topology.field_group(part));
    let mut wholes: Vec<NodeId> =
        wholes.filter(|whole| *whole != part && topology.roles[*whole as usize] == Role::Instrument).collect();
    wholes.sort_unstable();
    wholes.dedup();
    Ok(Some(wholes).filter(|wholes| wholes.len() == 1).map(|wholes| wholes[0]))
}

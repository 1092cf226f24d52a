//! Recognition of a revision whose export numbered the items anew: an id of the old revision then belongs to another item.

use super::{Fields, Identity, TAG_AND_CLASS, fields, unique_identities};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::index::Key;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::value::compare::is_equal;

/// Returns whether ids of the old revision belong to other items in the new one. Where an item with a tag has another id, and one
/// of both ids is that of another item, either the ids or the tags were exchanged: more fields and adjacent items agree
/// by tags, or by ids. Without a majority the ids count.
pub(super) fn are_ids_renumbered(old: &Drawing<'_>, new: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<bool> {
    charge((old.topology.node_count() + new.topology.node_count()) as u64)?;
    let unpaired = |drawing: &Drawing<'_>| vec![NONE; drawing.topology.node_count()];
    let old_nodes = unique_identities(old, &unpaired(old), TAG_AND_CLASS);
    let new_nodes = unique_identities(new, &unpaired(new), TAG_AND_CLASS);
    let (mut agreeing_by_tag, mut agreeing_by_id) = (0, 0);
    for (identity, before) in &old_nodes {
        let Identity::TagAndClass(tag, _) = identity else { continue };
        let Some(after) = new_nodes.get(identity).filter(|_| !tag.is_empty()) else { continue };
        if Key::from_value(old.id(*before)) == Key::from_value(new.id(*after)) {
            continue;
        }
        let pairs = [(Some(*before), new.by_id(old.id(*before))), (old.by_id(new.id(*after)), Some(*after))];
        for (before_by_id, after_by_id) in pairs {
            let (Some(before_by_id), Some(after_by_id)) = (before_by_id, after_by_id) else { continue };
            agreeing_by_tag += agreement(old, new, (*before, *after), charge)?;
            agreeing_by_id += agreement(old, new, (before_by_id, after_by_id), charge)?;
        }
    }
    Ok(agreeing_by_tag > agreeing_by_id)
}

/// Returns the number of equal fields, but for ids, tags and references, and of equal tags of the items before and after.
fn agreement(
    old: &Drawing<'_>,
    new: &Drawing<'_>,
    (before, after): (NodeId, NodeId),
    charge: ChargeFn<'_>,
) -> Result<usize> {
    let (before_fields, after_fields) = (compared(old, before), compared(new, after));
    charge(1 + (before_fields.len() * after_fields.len()) as u64 / 8)?;
    let mut count = 0;
    for (name, value) in &before_fields {
        let other = after_fields.iter().find(|(other, _)| other == name);
        count += usize::from(other.map_or(Ok(false), |(_, other)| is_equal(*value, *other, &mut *charge))?);
    }
    for direction in [Direction::Up, Direction::Down] {
        let before = adjacent_tags(old, before, direction);
        charge(1 + before.len() as u64)?;
        count += usize::from(!before.is_empty() && before == adjacent_tags(new, after, direction));
    }
    Ok(count)
}

/// Returns the fields of an item that depend neither on its id nor on its tag.
fn compared<'a>(drawing: &Drawing<'a>, node: NodeId) -> Fields<'a> {
    const EXCLUDED: [Names; 8] = [
        Names::NodeId,
        Names::Tag,
        Names::PersistentId,
        Names::Parent,
        Names::Zone,
        Names::Segment,
        Names::Line,
        Names::Ports,
    ];
    let config = &drawing.topology.config;
    let mut fields = fields(drawing.node(node));
    fields.retain(|(name, _)| !config.is_key(&EXCLUDED, name));
    fields
}

/// Returns the tags of the items before or after an item in the flow, sorted.
fn adjacent_tags<'a>(drawing: &Drawing<'a>, node: NodeId, direction: Direction) -> Vec<&'a str> {
    let adjacent = drawing.topology.table(EdgeFilter::Flow, direction).nodes(node);
    let mut tags: Vec<&str> = adjacent.iter().filter_map(|node| drawing.tag(*node)).collect();
    tags.sort_unstable();
    tags
}

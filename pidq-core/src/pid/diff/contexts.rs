//! Pairs of items in two revisions of which one was exported again with other ids: items without an identity of their own, such
//! as the parts of an instrument, segments and tees, by what they belong to and are connected to.

use hashbrown::HashMap;

use super::{Pairs, Revision};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::index::Key;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::pid::ChargeFn;
use crate::value::Value;

/// Maximum number of steps from an item with an identity to one that is paired by its connections.
const MAX_STEPS: usize = 64;

/// Returns whether most of the paired items have other ids in the new revision.
pub(super) fn are_ids_renewed(old: &Drawing<'_>, new: &Drawing<'_>, pairs: &Pairs) -> bool {
    let is_renewed =
        |(before, after): &(NodeId, NodeId)| Key::from_value(old.id(*before)) != Key::from_value(new.id(*after));
    let (count, renewed) = (pairs.both().count(), pairs.both().filter(is_renewed).count());
    2 * renewed > count
}

/// Pairs the items with the same class, tag and connections to paired items. Several such items of one kind are paired in the
/// order of the document if both revisions have the same number of them.
pub(super) fn pair_by_connections(
    old: &Drawing<'_>,
    new: &Drawing<'_>,
    pairs: &mut Pairs,
    charge: ChargeFn<'_>,
) -> Result<()> {
    for _ in 0..MAX_STEPS {
        let before = contexts(old, pairs, Revision::Old, charge)?;
        let after = contexts(new, pairs, Revision::New, charge)?;
        let mut found = Vec::new();
        for (context, old_nodes) in &before {
            let new_nodes = after.get(context).filter(|nodes| nodes.len() == old_nodes.len());
            found.extend(new_nodes.into_iter().flat_map(|nodes| old_nodes.iter().copied().zip(nodes.iter().copied())));
        }
        if found.is_empty() {
            break;
        }
        found.into_iter().for_each(|(old, new)| pairs.link(old, new));
    }
    Ok(())
}

/// Class, tag and connections of an item: the kind and class of an edge, whether it leaves the item, and the paired item at its
/// other end, by its number in the new revision.
type Context<'a> = (&'a str, &'a str, Vec<([&'a str; 2], bool, NodeId)>);

/// Returns the unpaired items with a connection to a paired one, by their contexts.
fn contexts<'a>(
    drawing: &Drawing<'a>,
    pairs: &Pairs,
    revision: Revision,
    charge: ChargeFn<'_>,
) -> Result<HashMap<Context<'a>, Vec<NodeId>>> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Both);
    let mut found: HashMap<Context<'a>, Vec<NodeId>> = HashMap::new();
    charge(1 + topology.node_count() as u64)?;
    for node in (0..topology.node_count() as NodeId).filter(|node| !pairs.is_paired(*node, revision)) {
        let members = topology.field_members(node);
        charge(1 + (table.degree(node) + members.len()) as u64)?;
        let partner = |other: NodeId| Some(pairs.new_number(other, revision)).filter(|partner| *partner != NONE);
        let by_edge = table.arcs(node).filter_map(|(other, edge)| {
            let word = |names: Names| drawing.edge_field(edge, names).and_then(Value::as_str).unwrap_or("");
            let kind = [word(Names::EdgeKind), word(Names::EdgeClass)];
            Some((kind, topology.flow_ends(edge)[0] == node, partner(other)?))
        });
        let by_field = topology.field_group(node).map(|group| (group, false));
        let by_field = by_field.into_iter().chain(members.iter().map(|member| (*member, true)));
        let by_field = by_field.filter_map(|(other, is_group)| Some(([PARENT, ""], is_group, partner(other)?)));
        let mut connections: Vec<([&str; 2], bool, NodeId)> = by_edge.chain(by_field).collect();
        if connections.is_empty() {
            continue;
        }
        connections.sort_unstable();
        let context = (drawing.class(node).unwrap_or(""), drawing.tag(node).unwrap_or(""), connections);
        found.entry(context).or_default().push(node);
    }
    Ok(found)
}

/// Word for a membership that a field states, where edges have their kind.
const PARENT: &str = "parent";

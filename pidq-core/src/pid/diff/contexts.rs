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
/// order of the document if both revisions have the same number of them; an item with a changed connection if most of its
/// connections are those of one other item.
pub(super) fn pair_by_connections(
    old: &Drawing<'_>,
    new: &Drawing<'_>,
    pairs: &mut Pairs,
    charge: ChargeFn<'_>,
) -> Result<()> {
    for _ in 0..MAX_STEPS {
        let before = contexts(old, pairs, Revision::Old, charge)?;
        let after = contexts(new, pairs, Revision::New, charge)?;
        let mut found = with_all_connections(&before, &after);
        if found.is_empty() {
            found = with_most_connections(&before, &after, charge)?;
        }
        if found.is_empty() {
            break;
        }
        found.into_iter().for_each(|(old, new)| pairs.link(old, new));
    }
    Ok(())
}

/// A connection: the kind and class of an edge, whether it leaves the item, and the paired item at its other end, by its number
/// in the new revision.
type Connection<'a> = ([&'a str; 2], bool, NodeId);

/// Class, tag and connections of an item.
#[derive(Eq, Hash, PartialEq)]
struct Context<'a> {
    class: &'a str,
    tag: &'a str,
    connections: Vec<Connection<'a>>,
}

/// Unpaired items with a connection to a paired one, by their contexts.
type Contexts<'a> = HashMap<Context<'a>, Vec<NodeId>>;

fn with_all_connections(before: &Contexts<'_>, after: &Contexts<'_>) -> Vec<(NodeId, NodeId)> {
    let mut found = Vec::new();
    for (context, old_nodes) in before {
        let new_nodes = after.get(context).filter(|nodes| nodes.len() == old_nodes.len());
        found.extend(new_nodes.into_iter().flat_map(|nodes| old_nodes.iter().copied().zip(nodes.iter().copied())));
    }
    found
}

/// Returns the pairs of which each is the one with the most common connections for the other, more than half of its own.
fn with_most_connections(
    before: &Contexts<'_>,
    after: &Contexts<'_>,
    charge: ChargeFn<'_>,
) -> Result<Vec<(NodeId, NodeId)>> {
    // A connection that more items have, as to a line, does not distinguish them.
    const MAX_ITEMS: usize = 8;
    let mut by_connection: HashMap<(&str, &str, &Connection<'_>), Vec<&Context<'_>>> = HashMap::new();
    for context in after.iter().filter(|(_, nodes)| nodes.len() == 1).map(|(context, _)| context) {
        charge(1 + context.connections.len() as u64)?;
        for connection in &context.connections {
            by_connection.entry((context.class, context.tag, connection)).or_default().push(context);
        }
    }
    let mut best_of_new: HashMap<NodeId, (usize, Vec<NodeId>)> = HashMap::new();
    for (context, old_nodes) in before.iter().filter(|(_, nodes)| nodes.len() == 1) {
        let keys = context.connections.iter().map(|connection| (context.class, context.tag, connection));
        let candidates = keys.filter_map(|key| by_connection.get(&key)).filter(|found| found.len() <= MAX_ITEMS);
        let mut common: HashMap<NodeId, (usize, &Context<'_>)> = HashMap::new();
        for other in candidates.flatten() {
            charge(1)?;
            common.entry(after[*other][0]).or_insert((0, other)).0 += 1;
        }
        let most = common.values().map(|(count, _)| *count).max().unwrap_or(0);
        let mut best = common.into_iter().filter(|(_, (count, _))| *count == most);
        let (Some((node, (_, other))), None) = (best.next(), best.next()) else { continue };
        if 2 * most > context.connections.len().max(other.connections.len()) {
            let (known, rivals) = best_of_new.entry(node).or_default();
            if most > *known {
                (*known, *rivals) = (most, Vec::new());
            }
            if most == *known {
                rivals.push(old_nodes[0]);
            }
        }
    }
    let only = best_of_new.into_iter().filter(|(_, (_, rivals))| rivals.len() == 1);
    Ok(only.map(|(new, (_, rivals))| (rivals[0], new)).collect())
}

/// Returns the unpaired items with a connection to a paired one, by their contexts.
fn contexts<'a>(
    drawing: &Drawing<'a>,
    pairs: &Pairs,
    revision: Revision,
    charge: ChargeFn<'_>,
) -> Result<Contexts<'a>> {
    let mut found: Contexts<'a> = HashMap::new();
    charge(1 + drawing.topology.node_count() as u64)?;
    for node in (0..drawing.topology.node_count() as NodeId).filter(|node| !pairs.is_paired(*node, revision)) {
        let connections = connections(drawing, node, pairs, revision, charge)?;
        if !connections.is_empty() {
            let (class, tag) = (drawing.class(node).unwrap_or(""), drawing.tag(node).unwrap_or(""));
            found.entry(Context { class, tag, connections }).or_default().push(node);
        }
    }
    Ok(found)
}

/// Returns the connections of an item to paired ones, sorted, each once.
fn connections<'a>(
    drawing: &Drawing<'a>,
    node: NodeId,
    pairs: &Pairs,
    revision: Revision,
    charge: ChargeFn<'_>,
) -> Result<Vec<Connection<'a>>> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Both);
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
    let mut connections: Vec<Connection<'a>> = by_edge.chain(by_field).collect();
    connections.sort_unstable();
    connections.dedup();
    Ok(connections)
}

/// Word for a membership that a field states, where edges have their kind.
const PARENT: &str = "parent";

//! Checks of tags.

use hashbrown::{HashMap, HashSet};

use super::Checker;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::pid::ChargeFn;
use crate::pid::instrument_class::parts;
use crate::value::Value;

pub(super) fn missing_tags(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    let needs_tag = |node: &NodeId| {
        matches!(
            drawing.topology.roles[*node as usize],
            Role::Equipment | Role::Instrument | Role::Control | Role::Relief
        )
    };
    let untagged: Vec<NodeId> = checker.nodes().filter(needs_tag).filter(|node| drawing.tag(*node).is_none()).collect();
    for node in untagged {
        // In DEXPI, the parts of an instrument and of an actuator have no tags.
        if parts::is_part(drawing, node, charge)? {
            continue;
        }
        let message = format!("{} has no tag", drawing.class(node).unwrap_or("an item"));
        checker.report(message, &[node], &[]);
    }
    Ok(())
}

/// Returns the category within which tags are unique. Nozzles repeat theirs on purpose, an off-page connector has the
/// tag of its line, and tees and reducers are named after their type.
fn tag_category(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    if drawing.topology.owner(node).is_some() {
        return None;
    }
    match drawing.topology.roles[node as usize] {
        Role::Equipment => Some("equipment"),
        Role::Instrument => Some("instrument"),
        Role::Port | Role::OffPage | Role::OpenEnd | Role::Junction | Role::SizeBreak => None,
        Role::None if !drawing.is_piping(node) => None,
        _ => Some("piping"),
    }
}

/// Reports tags that occur more than once within a category.
pub(super) fn duplicate_tags(checker: &mut Checker<'_, '_>, charge: ChargeFn<'_>) -> Result<()> {
    charge(checker.nodes().len() as u64)?;
    let drawing = checker.drawing;
    // Valves numbered within their line have tags that are unique together with its name.
    let qualified_tag = |node: NodeId| drawing.node_field(node, Names::QualifiedTag).and_then(Value::as_str);
    let mut indices: HashMap<[&str; 3], Vec<NodeId>> = HashMap::new();
    for node in checker.nodes() {
        if let (Some(tag), Some(category)) = (drawing.tag(node), tag_category(drawing, node)) {
            indices.entry([tag, category, qualified_tag(node).unwrap_or("")]).or_default().push(node);
        }
    }
    let mut duplicates: Vec<Vec<NodeId>> = indices.into_values().filter(|nodes| nodes.len() > 1).collect();
    duplicates.sort_unstable();
    for nodes in duplicates {
        if !are_same_item(drawing, &nodes, charge)? {
            let message = format!("{} items have the tag {}", nodes.len(), drawing.tag(nodes[0]).unwrap_or(""));
            checker.report(message, &nodes, &[]);
        }
    }
    Ok(())
}

/// Returns whether nodes are parts of one item, connected by anything but pipes: an actuator has the tag of its
/// function.
fn are_same_item(drawing: &Drawing<'_>, nodes: &[NodeId], charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    let mut remaining: HashSet<NodeId> = nodes.iter().copied().collect();
    remaining.remove(&nodes[0]);
    let mut stack = vec![nodes[0]];
    while let Some(node) = stack.pop() {
        let arcs = topology.table(EdgeFilter::All, Direction::Both).arcs(node);
        let parts = topology.field_members(node);
        charge(1 + (arcs.len() + parts.len()) as u64)?;
        let connected = arcs
            .filter(|(_, edge)| !topology.edge_flags[*edge as usize].contains(EdgeFlags::FLOW))
            .map(|(other, _)| other);
        let grouped = topology.field_group(node).into_iter().chain(parts.iter().copied());
        stack.extend(connected.chain(grouped).filter(|other| remaining.remove(other)));
    }
    Ok(remaining.is_empty())
}

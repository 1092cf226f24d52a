//! Items that an isolation starts from: an item itself, or what belongs to a line, a segment, a loop or another group.

use hashbrown::{HashMap, HashSet};

use super::parts::Parts;
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::pipe_lines::Members;
use crate::pid::{ChargeFn, loop_parts};
use crate::value::Value;

/// Start of an isolation.
#[derive(Default)]
pub(super) struct Targets {
    /// Items inside the volume.
    pub items: Vec<NodeId>,
    /// Items at the ends of the pipes of a line that do not belong to it: they may be its barriers.
    pub ends: Vec<NodeId>,
    /// Sides of equipment among the items: chambers, each with the nozzles that are in it.
    pub sides: HashMap<NodeId, Vec<NodeId>>,
    /// Some items belong to a group that was named, and were not named themselves.
    pub has_group: bool,
    /// Nodes from which no isolation can start, with the kind of data gap.
    pub missing: Vec<(&'static str, NodeId)>,
    /// Parts of equipment that are open to it.
    pub parts: Parts,
}

/// Returns what belongs to some nodes.
pub(super) fn targets(drawing: &Drawing<'_>, nodes: &[NodeId], charge: ChargeFn<'_>) -> Result<Targets> {
    let mut found = Targets { parts: Parts::collect(drawing, charge)?, ..Targets::default() };
    let mut members = None;
    for node in nodes {
        if is_chamber(drawing, *node) {
            add_side(drawing, *node, &mut found, charge)?;
            continue;
        }
        if is_in_pipe(drawing, *node) || is_item(drawing, *node) {
            found.items.push(*node);
            continue;
        }
        let members = match &members {
            Some(members) => members,
            None => members.insert(Members::collect(drawing, charge)?),
        };
        add_group(drawing, *node, &members.all_members(*node, charge)?, &mut found, charge)?;
    }
    let items: HashSet<NodeId> = found.items.iter().copied().collect();
    let mut seen = HashSet::new();
    found.items.retain(|item| seen.insert(*item));
    found.ends.retain(|end| !items.contains(end) && seen.insert(*end));
    Ok(found)
}

/// Returns the items of a line or a segment, or the ends of its pipes if nothing is between them; none of a node that is in a
/// pipe itself or is no line.
pub(crate) fn items_of_line(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let is_line = [Names::LineType, Names::SegmentType].iter().any(|types| drawing.has_type(node, *types));
    if !is_line || is_in_pipe(drawing, node) {
        return Ok(Vec::new());
    }
    let mut found = Targets::default();
    let members = Members::collect(drawing, charge)?.all_members(node, charge)?;
    add_group(drawing, node, &members, &mut found, charge)?;
    found.items.retain(|item| *item != node);
    Ok(if found.items.is_empty() { found.ends } else { found.items })
}

/// Returns whether a node is a chamber of equipment: a part of it that has no pipes and no ports of its own.
fn is_chamber(drawing: &Drawing<'_>, node: NodeId) -> bool {
    !is_in_pipe(drawing, node)
        && drawing.topology.roles[node as usize] != Role::Equipment
        && drawing.class_has_word(node, vocabulary::CHAMBERS)
}

/// Adds one side of equipment; a data gap if the drawing puts no nozzle in it.
fn add_side(drawing: &Drawing<'_>, chamber: NodeId, found: &mut Targets, charge: ChargeFn<'_>) -> Result<()> {
    let topology = &drawing.topology;
    charge(topology.node_count() as u64)?;
    let is_in_chamber = |port: &NodeId| topology.zone(*port) == chamber && topology.owner(*port).is_some();
    let ports: Vec<NodeId> = (0..topology.node_count() as u32).filter(is_in_chamber).collect();
    if ports.is_empty() {
        found.missing.push(("no_nozzle_in_chamber", chamber));
        return Ok(());
    }
    found.items.push(chamber);
    found.sides.insert(chamber, ports);
    Ok(())
}

/// Returns whether a pipe is connected to a node or to one of its ports.
fn is_in_pipe(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let ports = topology.ports.nodes(node).iter().copied();
    std::iter::once(node).chain(ports).any(|node| topology.flow_degree(node) > 0)
}

/// Returns whether a node is a component that belongs in a pipe or has ports, although no pipe is drawn.
fn is_item(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_group = [Names::LineType, Names::SegmentType, Names::LoopType];
    let has_role = !matches!(topology.roles[node as usize], Role::None | Role::Instrument);
    topology.owner(node).is_some() || has_role && !is_group.iter().any(|types| drawing.has_type(node, *types))
}

/// Adds what belongs to a group; a data gap if nothing of it is in a pipe.
fn add_group(
    drawing: &Drawing<'_>,
    group: NodeId,
    members: &[NodeId],
    found: &mut Targets,
    charge: ChargeFn<'_>,
) -> Result<()> {
    let is_pipe_group =
        |node: &NodeId| drawing.has_type(*node, Names::LineType) || drawing.has_type(*node, Names::SegmentType);
    let lines: Vec<NodeId> = members.iter().copied().chain([group]).filter(is_pipe_group).collect();
    let count = found.items.len() + found.ends.len();
    let mut items: Vec<NodeId> =
        members.iter().copied().filter(|member| !is_pipe_group(member) && is_in_pipe(drawing, *member)).collect();
    if drawing.has_type(group, Names::LoopType) {
        let final_elements = loop_parts::final_elements_of_node(drawing, group, charge)?;
        items.extend(final_elements.into_iter().filter(|node| is_in_pipe(drawing, *node)));
    }
    if is_pipe_group(&group) {
        items.retain(|item| is_line_item(drawing, *item));
    }
    found.items.extend(items);
    if !lines.is_empty() {
        add_pipes(drawing, &lines, found, charge)?;
    }
    let is_empty = found.items.len() + found.ends.len() == count;
    let is_group = !members.is_empty() || !lines.is_empty() || drawing.has_type(group, Names::LoopType);
    match () {
        () if !is_empty => found.has_group = true,
        () if drawing.topology.roles[group as usize] == Role::Instrument => {
            found.missing.push(("not_in_a_pipe", group))
        }
        () if is_group => found.missing.push(("no_item_in_a_pipe", group)),
        // An item like any other, although without a pipe.
        () => found.items.push(group),
    }
    Ok(())
}

/// Returns whether an item can belong to a line: equipment, nozzles and the ends of sheets are at its ends.
fn is_line_item(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_end = matches!(drawing.topology.roles[node as usize], Role::OffPage | Role::OpenEnd | Role::Port);
    !is_end && !drawing.topology.is_equipment(node)
}

/// Adds the items at the pipes of some lines and segments: those with pipes of these lines only, and the others as
/// ends.
fn add_pipes(drawing: &Drawing<'_>, lines: &[NodeId], found: &mut Targets, charge: ChargeFn<'_>) -> Result<()> {
    let topology = &drawing.topology;
    charge(topology.edge_count() as u64)?;
    let line_set: HashSet<NodeId> = lines.iter().copied().collect();
    let tags: HashSet<&str> = lines.iter().filter_map(|line| drawing.tag(*line)).collect();
    let names_line = |value: Value<'_>| {
        drawing.by_id(value).is_some_and(|node| line_set.contains(&node))
            || value.as_str().is_some_and(|text| tags.contains(text))
    };
    let belongs = |edge: EdgeId| {
        [Names::Line, Names::Segment].iter().any(|names| drawing.edge_field(edge, *names).is_some_and(names_line))
    };
    let pipes: HashSet<EdgeId> = topology.edges_of(EdgeFlags::FLOW).filter(|edge| belongs(*edge)).collect();
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let mut ends: Vec<NodeId> = pipes.iter().flat_map(|edge| topology.ends[*edge as usize]).collect();
    for edge in topology.edges_of(EdgeFlags::SEGMENT_END) {
        let [segment, item] = topology.ends[edge as usize];
        ends.extend(line_set.contains(&segment).then_some(item));
    }
    charge(topology.node_count() as u64)?;
    let names_field = |node: NodeId, names: Names| drawing.node_field(node, names).is_some_and(names_line);
    let is_named = |node: &NodeId| [Names::Line, Names::Segment].iter().any(|names| names_field(*node, *names));
    let named = (0..topology.node_count() as NodeId).filter(is_named);
    let named = named.filter(|node| is_in_pipe(drawing, *node) && is_line_item(drawing, *node));
    found.items.extend(named);
    ends.sort_unstable();
    ends.dedup();
    for node in ends {
        charge(1 + table.degree(node) as u64)?;
        let is_inner = table.degree(node) > 0 && table.edges(node).iter().all(|edge| pipes.contains(edge));
        match is_inner && is_line_item(drawing, node) {
            true => found.items.push(node),
            false => found.ends.push(node),
        }
    }
    Ok(())
}

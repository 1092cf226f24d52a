//! Inventory sections: the parts of the plant between emergency shutdown valves.
//!
//! Candidates read off the drawing. A section ends at shutdown valves, blowdown valves and relief devices only: hand
//! valves, control valves and check valves are open, so that a section is rather too large than too small. It is not
//! certain if one of them may be switched in an emergency, or is drawn closed between equipment or relief devices.

use hashbrown::{HashMap, HashSet};

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::drawing::Drawing;
use crate::graph::equipment_sides::is_unstated;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::trip_words::EmergencyValve;
use crate::pid::dead_ends::is_end_of_vent;
use crate::pid::isolate::equipment_bodies::EquipmentBodies;
use crate::pid::isolate::is_unknown;
use crate::pid::isolate::parts::Parts;
use crate::pid::relief::devices::{is_device_by_tag, opens_inwards};
use crate::pid::valve_state::drawn_closed::{is_drawn_closed, may_be_drawn_closed};
use crate::pid::valve_state::pipes::pipe_state;
use crate::pid::valve_state::unknown_edges::unknown_connections;
use crate::pid::valve_state::{installation, is_not_installed};
use crate::pid::{ChargeFn, Datum, joints, loop_parts, pipe_lines};

use super::closed_ways::closed_item_behind;
use super::emergency_valves::{
    Hindrance, blowdown_obstacle, emergency_valve_or_actuator, relief_hindrance, shutdown_hindrance,
};
use super::inner_valves;
use super::partition::Partition;
use super::separations::Separations;
use super::series::ends_in_series;
use super::sheltered::{ShelteredParts, is_certainly_closed};

const SECTION: &[&str] = &[
    "section",
    "equipment",
    "lines",
    "items",
    "esd_valves",
    "blowdown_valves",
    "relief",
    "continues",
    "certain",
    "uncertain",
];
const UNCERTAINTY: &[&str] = &["reason", "at", "edge"];

/// End of a section.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum End {
    Shutdown,
    Blowdown,
    Relief,
}

/// A section while it is read.
#[derive(Default)]
struct Section {
    items: Vec<NodeId>,
    equipment: Vec<NodeId>,
    pipes: Vec<EdgeId>,
    ends: Vec<(End, NodeId)>,
    continues: Vec<NodeId>,
    uncertainties: Vec<(&'static str, NodeId, EdgeId)>,
}

/// Items that end sections or may do so.
#[derive(Default)]
struct Ends {
    kinds: HashMap<NodeId, End>,
    /// Reasons why an end may not close or open its line.
    hindrances: HashMap<NodeId, Hindrance>,
    /// Items that end no section and may be meant to: why.
    possible: HashMap<NodeId, &'static str>,
}

/// Returns the sections between shutdown valves: those in `cut`, or those by class and tag without it.
pub(crate) fn sections<'a>(
    drawing: &Drawing<'a>,
    cut: Option<&HashSet<NodeId>>,
    charge: ChargeFn<'_>,
) -> Result<Datum<'a>> {
    let ends = find_ends(drawing, cut, charge)?;
    let mut found = collect(drawing, &ends.kinds, &ends.possible, charge)?;
    for section in &mut found {
        let at_ends = sorted(section.ends.iter().map(|(_, node)| *node));
        charge((at_ends.len() + section.uncertainties.len()) as u64)?;
        let listed: HashSet<Hindrance> = section.uncertainties.iter().map(|(reason, at, _)| (*reason, *at)).collect();
        let hindrances = at_ends.into_iter().filter_map(|node| ends.hindrances.get(&node));
        let new = hindrances.filter(|hindrance| !listed.contains(*hindrance)).map(|(reason, at)| (*reason, *at, NONE));
        section.uncertainties.extend(new);
    }
    let rows = found.iter().zip(1..).map(|(section, number)| row(drawing, section, number));
    Ok(Datum::Table(SECTION, rows.collect()))
}

/// Finds the ends of the sections of a drawing, and what is uncertain about each.
fn find_ends(drawing: &Drawing<'_>, cut: Option<&HashSet<NodeId>>, charge: ChargeFn<'_>) -> Result<Ends> {
    let topology = &drawing.topology;
    let mut ends = Ends::default();
    let moved = loop_parts::moved_by_loops(drawing, charge)?;
    for node in 0..topology.node_count() as u32 {
        charge(1)?;
        if topology.flow_degree(node) == 0 || topology.is_equipment(node) {
            continue;
        }
        let kind = emergency_valve_or_actuator(drawing, node, charge)?;
        let is_shutdown = match cut {
            Some(cut) => cut.contains(&node),
            None => kind == Some(EmergencyValve::Shutdown),
        };
        let is_installed = !is_not_installed(drawing, node);
        let end = (is_shutdown && is_installed).then_some(End::Shutdown);
        let end = end.or(match topology.roles[node as usize] {
            Role::Relief => Some(End::Relief),
            _ => (kind == Some(EmergencyValve::Blowdown) && is_installed).then_some(End::Blowdown),
        });
        if let Some(end) = end {
            ends.kinds.insert(node, end);
            // A valve that the condition selects need not have an actuator.
            let is_declared = |reason: &str| reason == "operated_by_hand" && cut.is_some();
            let hindrance = hindrance(drawing, node, end, charge)?.filter(|(reason, _)| !is_declared(reason));
            ends.hindrances.extend(hindrance.map(|hindrance| (node, hindrance)));
            continue;
        }
        let may_be_meant = kind.is_some()
            || is_shutdown
            || moved.by_trips.contains(&node)
            || inner_valves::may_be_switched(drawing, node, &moved.by_controllers, charge)?;
        if may_be_meant {
            ends.possible.insert(node, "possible_esd_valve");
        }
        if is_device_by_tag(drawing, node) {
            ends.possible.insert(node, "possible_relief_device");
        }
    }
    Ok(ends)
}

/// Returns what makes an end of a section uncertain: an item that may not be there, a shutdown valve that may not close, or a
/// blowdown valve or a relief device that may not open or behind which all ways are closed.
fn hindrance(drawing: &Drawing<'_>, node: NodeId, end: End, charge: ChargeFn<'_>) -> Result<Option<Hindrance>> {
    if let Some(reason) = installation(drawing, node).uncertainty() {
        return Ok(Some((reason, node)));
    }
    let found = match end {
        End::Shutdown => return shutdown_hindrance(drawing, node, charge),
        End::Blowdown => return blowdown_obstacle(drawing, node, charge),
        End::Relief => relief_hindrance(drawing, node),
    };
    if found.is_some() {
        return Ok(found);
    }
    Ok(closed_item_behind(drawing, node, charge)?.map(|closed| ("closed_item", closed)))
}

/// Returns the sections in the order of their first items.
fn collect(
    drawing: &Drawing<'_>,
    ends: &HashMap<NodeId, End>,
    possible: &HashMap<NodeId, &'static str>,
    charge: ChargeFn<'_>,
) -> Result<Vec<Section>> {
    let topology = &drawing.topology;
    let mut partition = Partition::new(drawing, |node| ends.contains_key(&node), charge)?;
    let (mut number_of, mut roots): (HashMap<u32, usize>, Vec<u32>) = (HashMap::new(), Vec::new());
    let mut sections: Vec<Section> = Vec::new();
    for node in 0..topology.node_count() as u32 {
        charge(1)?;
        if topology.flow_degree(node) == 0 || ends.contains_key(&node) {
            continue;
        }
        let root = partition.root_of(drawing, node);
        let number = *number_of.entry(root).or_insert(sections.len());
        if number == sections.len() {
            sections.push(Section::default());
            roots.push(root);
        }
        add_item(drawing, &mut sections[number], node, ends, possible, charge)?;
    }
    for edge in topology.dangling.iter().filter(|edge| topology.edge_flags[**edge as usize].contains(EdgeFlags::FLOW)) {
        let end = topology.ends[*edge as usize].into_iter().find(|end| *end != NONE && !ends.contains_key(end));
        let Some(node) = end else { continue };
        let root = partition.root_of(drawing, node);
        if let Some(number) = number_of.get(&root) {
            sections[*number].uncertainties.push(("dangling_edge", node, *edge));
        }
    }
    let parts = Parts::collect(drawing, charge)?;
    let bodies = EquipmentBodies::collect(drawing, charge)?;
    for (section, root) in sections.iter_mut().zip(roots) {
        add_mounted_ends(section, &parts, ends, charge)?;
        add_unstated_sides(drawing, section, |node| partition.root_of(drawing, node) == root, charge)?;
        add_openings(drawing, section, &parts, charge)?;
        add_different_pipes(drawing, section, charge)?;
        add_same_tags(drawing, section, &bodies, charge)?;
    }
    remove_sheltered(drawing, &mut sections, ends, charge)?;
    let mut as_drawn = add_closed_items(drawing, &mut sections, ends, charge)?;
    for section in &mut sections {
        add_bypassed(drawing, section, as_drawn.as_mut(), charge)?;
        add_bypassed_in_series(drawing, section, as_drawn.as_mut(), charge)?;
    }
    Ok(sections)
}

/// Adds the ends of a section that are mounted on its equipment, such as the internal valve of a tank.
fn add_mounted_ends(
    section: &mut Section,
    parts: &Parts,
    ends: &HashMap<NodeId, End>,
    charge: ChargeFn<'_>,
) -> Result<()> {
    for equipment in sorted(section.equipment.iter().copied()) {
        let mounted = parts.mounted_on(equipment);
        charge(1 + mounted.len() as u64)?;
        section.ends.extend(mounted.iter().filter_map(|item| Some((*ends.get(item)?, *item))));
    }
    Ok(())
}

/// Adds the shutdown valves with both sides in a section: another way leads around them, so that they limit nothing. A way
/// past an item that is drawn closed, by the partition that it ends, is none.
fn add_bypassed(
    drawing: &Drawing<'_>,
    section: &mut Section,
    mut as_drawn: Option<&mut Partition>,
    charge: ChargeFn<'_>,
) -> Result<()> {
    charge(section.ends.len() as u64)?;
    let mut pipes: HashMap<NodeId, usize> = HashMap::new();
    for (_, node) in section.ends.iter().filter(|(end, _)| *end == End::Shutdown) {
        *pipes.entry(*node).or_default() += 1;
    }
    let is_inside = |(node, count): &(NodeId, usize)| *count > 1 && *count >= drawing.topology.flow_degree(*node);
    let mut inside = sorted(pipes.into_iter().filter(is_inside).map(|(node, _)| node));
    if let Some(partition) = as_drawn.as_mut() {
        let table = drawing.topology.table(EdgeFilter::Flow, Direction::Both);
        inside.retain(|node| {
            let sides = sorted(table.nodes(*node).iter().map(|other| partition.root_of(drawing, *other)));
            sides.len() == 1
        });
    }
    section.uncertainties.extend(inside.into_iter().map(|node| ("bypassed", node, NONE)));
    Ok(())
}

/// Adds the shutdown valves in series, without equipment between, whose outer sides are in one section: another way leads around
/// all of them.
fn add_bypassed_in_series(
    drawing: &Drawing<'_>,
    section: &mut Section,
    mut as_drawn: Option<&mut Partition>,
    charge: ChargeFn<'_>,
) -> Result<()> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let valves = sorted(section.ends.iter().filter(|(end, _)| *end == End::Shutdown).map(|(_, node)| *node));
    charge(1 + (section.items.len() + section.equipment.len()) as u64)?;
    if valves.len() < 2 {
        return Ok(());
    }
    let inside: HashSet<NodeId> = section.items.iter().chain(&section.equipment).copied().collect();
    let is_inside = |node: &NodeId| inside.contains(node) || inside.contains(&topology.equipment_or_self(*node));
    let is_shutdown = |node: NodeId| valves.binary_search(&node).is_ok();
    for valve in &valves {
        let sides = table.nodes(*valve);
        let Some(own) = sides.iter().copied().find(is_inside) else { continue };
        let mut ends = Vec::new();
        for outer in sides.iter().copied().filter(|side| !is_inside(side)) {
            ends.extend(ends_in_series(drawing, [*valve, outer], is_shutdown, charge)?.into_iter().filter(is_inside));
        }
        let is_bypassed = match as_drawn.as_mut() {
            Some(partition) => {
                let root = partition.root_of(drawing, own);
                ends.iter().any(|end| partition.root_of(drawing, *end) == root)
            }
            None => !ends.is_empty(),
        };
        section.uncertainties.extend(is_bypassed.then_some(("bypassed", *valve, NONE)));
    }
    Ok(())
}

/// Adds the items that are drawn closed between equipment or devices of one section: these are not connected as drawn.
/// Returns the partition of the drawing that closed items end too; `None` if there are none.
fn add_closed_items(
    drawing: &Drawing<'_>,
    sections: &mut [Section],
    ends: &HashMap<NodeId, End>,
    charge: ChargeFn<'_>,
) -> Result<Option<Partition>> {
    let topology = &drawing.topology;
    charge(sections.iter().map(|section| section.items.len() as u64).sum())?;
    let items = sections.iter().flat_map(|section| &section.items).copied();
    let closed: HashSet<NodeId> = items.filter(|node| may_be_drawn_closed(drawing, *node)).collect();
    if closed.is_empty() {
        return Ok(None);
    }
    charge((ends.len() + closed.len()) as u64)?;
    let cuts = ends.iter().map(|(node, end)| (*node, *end)).chain(closed.iter().map(|node| (*node, End::Shutdown)));
    let cuts: HashMap<NodeId, End> = cuts.collect();
    let mut partition = Partition::new(drawing, |node| cuts.contains_key(&node), charge)?;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    for section in sections {
        let mut with_content: HashSet<u32> = HashSet::new();
        for node in section.items.iter().chain(&section.equipment).copied().filter(|node| !closed.contains(node)) {
            charge(1 + table.degree(node) as u64)?;
            let is_end = |other: &NodeId| ends.contains_key(other);
            let is_body =
                topology.is_equipment(node) && topology.flow_degree(node) > 0 && !is_end_of_vent(drawing, node);
            if is_body || table.nodes(node).iter().any(is_end) {
                with_content.insert(partition.root_of(drawing, node));
            }
        }
        let closed_here = || section.items.iter().copied().filter(|node| closed.contains(node));
        for node in closed_here() {
            // A device right behind a closed item is in no part of its own section.
            let ends_behind = table.nodes(node).iter().copied().filter(|other| ends.contains_key(other));
            with_content.extend(ends_behind.map(|end| partition.root_of(drawing, end)));
        }
        if with_content.len() < 2 {
            continue;
        }
        let mut separations = Separations::default();
        for node in section.items.iter().copied().filter(|node| closed.contains(node)) {
            charge(table.degree(node) as u64)?;
            let sides = sorted(table.nodes(node).iter().map(|other| partition.root_of(drawing, *other)));
            separations.add(node, partition.root_of(drawing, node), &sides);
        }
        let separating = separations.separating(|part| with_content.contains(&part));
        section.uncertainties.extend(separating.into_iter().map(|node| ("closed_item", node, NONE)));
    }
    Ok(Some(partition))
}

/// Removes what is uncertain about open ends and items behind closed hand valves, as at a drain: the section ends there.
fn remove_sheltered(
    drawing: &Drawing<'_>,
    sections: &mut [Section],
    ends: &HashMap<NodeId, End>,
    charge: ChargeFn<'_>,
) -> Result<()> {
    const REASONS: [&str; 5] = ["open_end", "free_port", "unknown_class", "possible_esd_valve", "off_page_connector"];
    charge(sections.iter().map(|section| (section.items.len() + section.uncertainties.len()) as u64).sum())?;
    let is_listed = |section: &&mut Section| {
        section.uncertainties.iter().any(|(reason, _, _)| REASONS.contains(reason))
            && section.items.iter().any(|node| is_certainly_closed(drawing, *node))
    };
    let mut listed: Vec<&mut Section> = sections.iter_mut().filter(|section| is_listed(section)).collect();
    if listed.is_empty() {
        return Ok(());
    }
    let mut parts = ShelteredParts::new(drawing, |node| ends.contains_key(&node), charge)?;
    for section in &mut listed {
        let nodes = section.items.iter().chain(&section.equipment).copied();
        parts.add_content(drawing, nodes, charge)?;
        section.uncertainties.retain(|(reason, at, _)| !REASONS.contains(reason) || !parts.is_sheltered(drawing, *at));
        section.continues.retain(|at| !parts.is_sheltered(drawing, *at));
    }
    Ok(())
}

/// Adds nozzles that may be on the side of equipment that is in a section, or on another one: they state no side. Stated
/// sides have inventories of their own; that their wall may leak is no part of the question.
fn add_unstated_sides(
    drawing: &Drawing<'_>,
    section: &mut Section,
    mut is_inside: impl FnMut(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<()> {
    let topology = &drawing.topology;
    for equipment in sorted(section.equipment.iter().copied()) {
        charge(1 + topology.ports.degree(equipment) as u64)?;
        let ports = topology.ports.nodes(equipment).iter().copied().chain([equipment]);
        let ports = ports.filter(|port| topology.flow_degree(*port) > 0);
        let (inside, outside): (Vec<NodeId>, Vec<NodeId>) = ports.partition(|port| is_inside(*port));
        let may_have_several = drawing.may_have_several_sides(equipment, charge)?;
        let sides = sorted(inside.iter().map(|port| topology.zone(*port)));
        charge((sides.len() * outside.len()) as u64)?;
        let is_apart =
            |port: &NodeId| !sides.iter().any(|here| is_unstated([*here, topology.zone(*port)], may_have_several));
        let possible = outside.into_iter().filter(|port| !is_apart(port));
        section.uncertainties.extend(possible.map(|port| ("unstated_side", port, NONE)));
        let unstated: Vec<NodeId> = inside.into_iter().filter(|port| topology.zone(*port) == NONE).collect();
        // Without nozzles, the pipes themselves may be on different sides.
        let has_several_pipes = || unstated.contains(&equipment) && topology.flow_degree(equipment) > 1;
        if may_have_several && (unstated.len() > 1 || has_several_pipes()) {
            section.uncertainties.extend(unstated.into_iter().map(|port| ("unstated_side", port, NONE)));
        }
    }
    Ok(())
}

/// Adds the equipment whose tag other equipment with pipes outside of the section has: it may be the same on another sheet, and
/// its pipes belong to the section then.
fn add_same_tags(
    drawing: &Drawing<'_>,
    section: &mut Section,
    bodies: &EquipmentBodies,
    charge: ChargeFn<'_>,
) -> Result<()> {
    let topology = &drawing.topology;
    let equipment = sorted(section.equipment.iter().copied());
    let has_pipe = |node: NodeId| topology.flow_degree(node) > 0;
    let is_piped = |node: NodeId| has_pipe(node) || topology.ports.nodes(node).iter().any(|port| has_pipe(*port));
    for node in equipment.iter().copied() {
        let same = bodies.open_to(drawing, node, charge)?.same_tag;
        charge(1 + same.len() as u64)?;
        if same.into_iter().any(|other| equipment.binary_search(&other).is_err() && is_piped(other)) {
            section.uncertainties.push(("same_tag", node, NONE));
        }
    }
    Ok(())
}

/// Adds the joints of sheets whose pipes differ: the connectors may be no pair.
fn add_different_pipes(drawing: &Drawing<'_>, section: &mut Section, charge: ChargeFn<'_>) -> Result<()> {
    let pipes = sorted(section.pipes.iter().copied());
    charge(pipes.len() as u64)?;
    for joint in pipes.into_iter().filter(|pipe| drawing.topology.is_joint(*pipe)) {
        if joints::is_contradicting(drawing, joint, charge)? {
            section.uncertainties.push(("joint_of_different_pipes", drawing.topology.flow_ends(joint)[0], joint));
        }
    }
    Ok(())
}

/// Adds the open ends of a section, nozzles, relief devices and open valves on its equipment without a pipe, and the edges of
/// unknown kind that may lead out of it, also at nozzles without pipes.
fn add_openings(drawing: &Drawing<'_>, section: &mut Section, parts: &Parts, charge: ChargeFn<'_>) -> Result<()> {
    let listed: HashSet<NodeId> = section.uncertainties.iter().map(|(_, at, _)| *at).collect();
    let nodes = sorted(section.items.iter().chain(&section.equipment).copied());
    let inside: HashSet<NodeId> = nodes.iter().copied().collect();
    for node in super::leaks(drawing, &nodes, parts, charge)? {
        let unknown = unknown_connections(drawing, node, &inside, charge)?;
        let is_unpiped = drawing.topology.flow_degree(node) == 0;
        let role = drawing.topology.roles[node as usize];
        if role == Role::Port && is_unpiped && is_on_other_side(drawing, section, node) {
            continue;
        }
        let reason = match role {
            Role::Port if is_unpiped => "unconnected_nozzle",
            Role::OpenEnd | Role::Equipment => "open_end",
            role if is_unpiped && role.closes() && is_drawn_closed(drawing, node) => continue,
            _ if is_unpiped => "free_port",
            _ => "open_end",
        };
        if role == Role::Relief && is_unpiped {
            section.ends.push((End::Relief, node));
        }
        if unknown.is_empty() && !listed.contains(&node) {
            section.uncertainties.push((reason, node, NONE));
        }
        section.uncertainties.extend(unknown.into_iter().map(|edge| ("unknown_connection", node, edge)));
    }
    Ok(())
}

/// Returns whether a nozzle without a pipe states another side of its equipment than those that are in a section.
fn is_on_other_side(drawing: &Drawing<'_>, section: &Section, nozzle: NodeId) -> bool {
    let topology = &drawing.topology;
    let (side, owner) = (topology.zone(nozzle), topology.owner(nozzle));
    let is_own = |port: &NodeId| owner.is_some() && topology.owner(*port) == owner && topology.flow_degree(*port) > 0;
    let mut sides = section.items.iter().filter(|port| is_own(port)).map(|port| topology.zone(*port)).peekable();
    side != NONE && sides.peek().is_some() && sides.all(|here| here != NONE && here != side)
}

/// Adds an item with its equipment, its pipes, and what ends the section there.
fn add_item(
    drawing: &Drawing<'_>,
    section: &mut Section,
    node: NodeId,
    ends: &HashMap<NodeId, End>,
    possible: &HashMap<NodeId, &'static str>,
    charge: ChargeFn<'_>,
) -> Result<()> {
    let topology = &drawing.topology;
    if topology.is_equipment(node) {
        section.equipment.push(topology.equipment_or_self(node));
    }
    if topology.roles[node as usize] != Role::Equipment {
        section.items.push(node);
    }
    section.uncertainties.extend(possible.get(&node).map(|reason| (*reason, node, NONE)));
    // It may be a valve or a blind.
    let is_of_unknown_class = is_unknown(drawing, node) && !possible.contains_key(&node);
    section.uncertainties.extend(is_of_unknown_class.then_some(("unknown_class", node, NONE)));
    if topology.is_sheet_end(node) {
        section.continues.push(node);
        section.uncertainties.push(("off_page_connector", node, NONE));
    }
    let table = topology.table(EdgeFilter::All, Direction::Both);
    charge(table.degree(node) as u64)?;
    for (other, edge) in table.arcs(node) {
        if topology.edge_flags[edge as usize].contains(EdgeFlags::FLOW) {
            let is_first_end = topology.ends[edge as usize][0] == node || ends.contains_key(&other);
            let reason = pipe_state(drawing, edge).uncertainty().filter(|_| is_first_end);
            section.uncertainties.extend(reason.map(|reason| (reason, node, edge)));
            section.pipes.push(edge);
            section.ends.extend(ends.get(&other).map(|end| (*end, other)));
        }
    }
    Ok(())
}

fn row<'a>(drawing: &Drawing<'a>, section: &Section, number: usize) -> Vec<Datum<'a>> {
    let of_kind = |kind: End| {
        let nodes = section.ends.iter().filter(|(end, _)| *end == kind).map(|(_, node)| *node);
        sorted(nodes)
    };
    let [shutdown, blowdown, mut relief] = [End::Shutdown, End::Blowdown, End::Relief].map(of_kind);
    relief.retain(|device| !opens_inwards(drawing, *device));
    let mut uncertainties = section.uncertainties.clone();
    if shutdown.is_empty() {
        uncertainties.push(("no_esd_valve", NONE, NONE));
    }
    let mut lines = pipe_lines::lines_of(drawing, sorted(section.pipes.iter().copied()).into_iter());
    lines.sort();
    let uncertainty_row = |(reason, at, edge): &(&'static str, NodeId, EdgeId)| {
        let at = Datum::node(Some(*at).filter(|at| *at != NONE));
        vec![Datum::Word(reason), at, Datum::Edge(*edge)]
    };
    vec![
        Datum::String(format!("S{number}")),
        Datum::Nodes(sorted(section.equipment.iter().copied())),
        Datum::strings(lines),
        Datum::Nodes(section.items.clone()),
        Datum::Nodes(shutdown),
        Datum::Nodes(blowdown),
        Datum::Nodes(relief),
        Datum::Nodes(section.continues.clone()),
        Datum::Bool(uncertainties.is_empty()),
        Datum::Table(UNCERTAINTY, uncertainties.iter().map(uncertainty_row).collect()),
    ]
}

/// Returns indices in document order, each once.
fn sorted(indices: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut indices: Vec<u32> = indices.collect();
    indices.sort_unstable();
    indices.dedup();
    indices
}

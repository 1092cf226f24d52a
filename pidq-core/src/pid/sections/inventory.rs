//! Inventory sections: the parts of the plant between emergency shutdown valves.
//!
//! Candidates read off the drawing. A section ends at shutdown valves, blowdown valves and relief devices only: hand
//! valves, control valves and check valves are open, so that a section is rather too large than too small. It is not
//! certain if one of them may be switched in an emergency, or is drawn closed between equipment or relief devices.

use hashbrown::{HashMap, HashSet};

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::connectivity::UnionFind;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::trip_words::EmergencyValve;
use crate::pid::isolate::connections::unknown_connections;
use crate::pid::loops::protection;
use crate::pid::relief::devices::is_device_by_tag;
use crate::pid::valve_state::pipes::pipe_state;
use crate::pid::valve_state::{installation, is_not_installed};
use crate::pid::{ChargeFn, Datum, joints, loop_parts, pipe_lines};

use super::inner_valves;

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

/// Returns the sections between shutdown valves: those in `cut`, or those by class and tag without it.
pub(crate) fn sections<'a>(
    drawing: &Drawing<'a>,
    cut: Option<&HashSet<NodeId>>,
    charge: ChargeFn<'_>,
) -> Result<Datum<'a>> {
    let topology = &drawing.topology;
    let mut ends: HashMap<NodeId, End> = HashMap::new();
    let mut possible: HashMap<NodeId, &'static str> = HashMap::new();
    let mut uncertain_ends: HashMap<NodeId, &'static str> = HashMap::new();
    let moved_by_trips = loop_parts::final_elements_of_trips(drawing, charge)?;
    for node in 0..topology.node_count() as u32 {
        charge(1)?;
        if topology.flow_degree(node) == 0 || topology.is_equipment(node) {
            continue;
        }
        let kind = protection::emergency_valve(drawing, node).map(|(valve, _)| valve);
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
        ends.extend(end.map(|end| (node, end)));
        let reason = end.and_then(|end| end_uncertainty(drawing, node, end));
        uncertain_ends.extend(reason.map(|reason| (node, reason)));
        let may_be_switched = || moved_by_trips.contains(&node) || inner_valves::may_be_switched(drawing, node);
        if end.is_none() && (kind.is_some() || is_shutdown || cut.is_none() && may_be_switched()) {
            possible.insert(node, "possible_esd_valve");
        }
        if end.is_none() && is_device_by_tag(drawing, node) {
            possible.insert(node, "possible_relief_device");
        }
    }
    let mut found = collect(drawing, &ends, &possible, charge)?;
    for section in &mut found {
        let at_ends = sorted(section.ends.iter().map(|(_, node)| *node));
        charge(at_ends.len() as u64)?;
        let reasons = at_ends.into_iter().filter_map(|node| Some((*uncertain_ends.get(&node)?, node, NONE)));
        section.uncertainties.extend(reasons);
    }
    let rows = found.iter().zip(1..).map(|(section, number)| row(drawing, section, number));
    Ok(Datum::Table(SECTION, rows.collect()))
}

/// Returns what makes an end of a section uncertain: a shutdown valve that fails open, or an item that may not be there.
fn end_uncertainty(drawing: &Drawing<'_>, node: NodeId, end: End) -> Option<&'static str> {
    let fails_open = end == End::Shutdown && inner_valves::fails_open(drawing, node);
    installation(drawing, node).uncertainty().or_else(|| fails_open.then_some("fails_open"))
}

/// Returns the sections in the order of their first items.
fn collect(
    drawing: &Drawing<'_>,
    ends: &HashMap<NodeId, End>,
    possible: &HashMap<NodeId, &'static str>,
    charge: ChargeFn<'_>,
) -> Result<Vec<Section>> {
    let topology = &drawing.topology;
    let mut partition = Partition::new(drawing, ends, charge)?;
    let mut number_of: HashMap<u32, usize> = HashMap::new();
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
    for section in &mut sections {
        add_openings(drawing, section, charge)?;
        add_different_pipes(drawing, section, charge)?;
    }
    add_closed_items(drawing, &mut sections, ends, charge)?;
    Ok(sections)
}

/// Adds the items that are drawn closed between equipment or devices of one section: these are not connected as drawn.
fn add_closed_items(
    drawing: &Drawing<'_>,
    sections: &mut [Section],
    ends: &HashMap<NodeId, End>,
    charge: ChargeFn<'_>,
) -> Result<()> {
    let topology = &drawing.topology;
    charge(sections.iter().map(|section| section.items.len() as u64).sum())?;
    let items = sections.iter().flat_map(|section| &section.items).copied();
    let closed: HashSet<NodeId> = items.filter(|node| inner_valves::is_drawn_closed(drawing, *node)).collect();
    if closed.is_empty() {
        return Ok(());
    }
    charge((ends.len() + closed.len()) as u64)?;
    let cuts = ends.iter().map(|(node, end)| (*node, *end)).chain(closed.iter().map(|node| (*node, End::Shutdown)));
    let cuts: HashMap<NodeId, End> = cuts.collect();
    let mut partition = Partition::new(drawing, &cuts, charge)?;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    for section in sections {
        let mut with_content: HashSet<u32> = HashSet::new();
        for node in section.items.iter().chain(&section.equipment).copied().filter(|node| !closed.contains(node)) {
            charge(1 + table.degree(node) as u64)?;
            let is_end = |other: &NodeId| ends.contains_key(other);
            let has_content =
                topology.is_equipment(node) && topology.flow_degree(node) > 0 || table.nodes(node).iter().any(is_end);
            if has_content {
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
        for node in section.items.iter().copied().filter(|node| closed.contains(node)) {
            charge(table.degree(node) as u64)?;
            let sides = sorted(table.nodes(node).iter().map(|other| partition.root_of(drawing, *other)));
            if sides.len() > 1 && sides.iter().any(|side| with_content.contains(side)) {
                section.uncertainties.push(("closed_item", node, NONE));
            }
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

/// Adds the open ends of a section, and the edges of unknown kind that may lead out of it, also at nozzles without
/// pipes.
fn add_openings(drawing: &Drawing<'_>, section: &mut Section, charge: ChargeFn<'_>) -> Result<()> {
    let listed: HashSet<NodeId> = section.uncertainties.iter().map(|(_, at, _)| *at).collect();
    let nodes = sorted(section.items.iter().chain(&section.equipment).copied());
    let inside: HashSet<NodeId> = nodes.iter().copied().collect();
    for node in super::leaks(drawing, &nodes, charge)? {
        let unknown = unknown_connections(drawing, node, &inside, charge)?;
        if unknown.is_empty() && !listed.contains(&node) {
            section.uncertainties.push(("open_end", node, NONE));
        }
        section.uncertainties.extend(unknown.into_iter().map(|edge| ("unknown_connection", node, edge)));
    }
    Ok(())
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

/// Items that are connected without passing an end. The sides of equipment are apart.
struct Partition {
    parts: UnionFind,
    /// By equipment and named side: its index.
    sides: HashMap<(NodeId, u32), u32>,
}

impl Partition {
    fn new(drawing: &Drawing<'_>, ends: &HashMap<NodeId, End>, charge: ChargeFn<'_>) -> Result<Partition> {
        let topology = &drawing.topology;
        charge((topology.node_count() + topology.edge_count()) as u64)?;
        let mut sides: HashMap<(NodeId, u32), u32> = HashMap::new();
        let mut count = topology.node_count() as u32;
        for port in 0..topology.node_count() as u32 {
            let side = topology.zone(port);
            let Some(owner) = topology.owner(port).filter(|_| side != NONE) else { continue };
            sides.entry((owner, side)).or_insert_with(|| {
                count += 1;
                count - 1
            });
        }
        let mut parts = UnionFind::new(count as usize);
        for port in 0..topology.node_count() as u32 {
            if let Some(owner) = topology.owner(port) {
                let interior = sides.get(&(owner, topology.zone(port))).copied().unwrap_or(owner);
                parts.join(port, interior);
            }
        }
        for edge in topology.edges_of(EdgeFlags::FLOW) {
            let [from, to] = topology.ends[edge as usize];
            if !ends.contains_key(&from) && !ends.contains_key(&to) {
                parts.join(from, to);
            }
        }
        Ok(Partition { parts, sides })
    }

    /// Returns the part of a node; for a port, that of its side.
    fn root_of(&mut self, drawing: &Drawing<'_>, node: NodeId) -> u32 {
        let topology = &drawing.topology;
        let side = topology.owner(node).and_then(|owner| self.sides.get(&(owner, topology.zone(node))).copied());
        self.parts.find(side.unwrap_or(node))
    }
}

fn row<'a>(drawing: &Drawing<'a>, section: &Section, number: usize) -> Vec<Datum<'a>> {
    let of_kind = |kind: End| {
        let nodes = section.ends.iter().filter(|(end, _)| *end == kind).map(|(_, node)| *node);
        sorted(nodes)
    };
    let [shutdown, blowdown, relief] = [End::Shutdown, End::Blowdown, End::Relief].map(of_kind);
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

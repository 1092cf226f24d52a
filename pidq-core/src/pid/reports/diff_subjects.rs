//! Subjects of the items of a revision, for the rules that rank differences: their roles, and what they belong to.

use hashbrown::HashSet;

use super::{relief_devices, trips};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::instrument_class;
use crate::pid::loop_parts::{self, LoopParts};
use crate::pid::loops::{Loops, protection};
use crate::pid::pipe_lines;
use crate::pid::relief::devices;
use crate::pid::sections::inner_valves::passive_kind;
use crate::pid::sections::ways_around::WaysAround;
use crate::pid::{Budget, ChargeFn};

/// Subjects besides the roles of nodes.
pub(super) const OTHER_SUBJECTS: &[&str] = &[
    "trip",
    "relief_path",
    "safeguard",
    "bypass",
    "line",
    "segment",
    "loop",
    "pipe",
    "signal",
    "edge",
    "actuator",
    "valve_part",
    "spelling",
    "restriction",
    "setting",
    "trip_setting",
];

/// Items of a revision that have subjects of their own.
pub(super) struct Revision<'r, 'a> {
    pub drawing: &'r Drawing<'a>,
    path: HashSet<NodeId>,
    path_pipes: HashSet<EdgeId>,
    /// Instruments and valves of trips, whatever their own tags and classes say.
    trip_items: HashSet<NodeId>,
    ways_around: WaysAround,
}

impl<'r, 'a> Revision<'r, 'a> {
    pub fn new(drawing: &'r Drawing<'a>, budget: &mut dyn Budget) -> Result<Revision<'r, 'a>> {
        let devices = relief_devices::relief_devices(drawing, relief_devices::Extent::WithPaths, budget)?;
        let is_end = |node: &NodeId| drawing.topology.roles[*node as usize] != Role::Equipment;
        let ends = devices.iter().flat_map(|device| device.discharges_to.iter().copied()).filter(is_end);
        let mut path: HashSet<NodeId> =
            devices.iter().flat_map(|device| device.path.iter().copied()).chain(ends).collect();
        let path_pipes: HashSet<EdgeId> = devices.iter().flat_map(|device| device.path_pipes.iter().copied()).collect();
        // A nozzle of equipment at the end of a path is a part of it.
        let is_port = |node: &NodeId| *node != NONE && drawing.topology.roles[*node as usize] == Role::Port;
        let ports = path_pipes.iter().flat_map(|pipe| drawing.topology.ends[*pipe as usize]).filter(is_port);
        path.extend(ports);
        // So is the line that states the size of its pipes.
        path.extend(path_pipes.iter().flat_map(|pipe| lines(drawing, *pipe)));
        let charge: ChargeFn<'_> = &mut |units| budget.charge(units);
        let trip_items = trip_items(drawing, charge)?;
        let ways_around = ways_around(drawing, &trip_items, charge)?;
        Ok(Revision { drawing, path, path_pipes, trip_items, ways_around })
    }

    pub fn subjects_of_node(&self, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<&'static str>> {
        const GROUPS: [(Names, &str); 3] =
            [(Names::LineType, "line"), (Names::SegmentType, "segment"), (Names::LoopType, "loop")];
        let mut subjects = vec![self.drawing.topology.roles[node as usize].name()];
        subjects.extend(GROUPS.iter().filter(|(types, _)| self.drawing.has_type(node, *types)).map(|(_, word)| *word));
        subjects.extend(devices::is_device_by_tag(self.drawing, node).then_some(Role::Relief.name()));
        subjects.extend((self.is_of_trip(node) || self.connects_trip(node, charge)?).then_some("trip"));
        subjects.extend(self.path.contains(&node).then_some("relief_path"));
        subjects.extend(passive_kind(self.drawing, node).map(|_| "safeguard"));
        subjects.extend(self.drawing.class_has(node, vocabulary::RESTRICTIONS).then_some("restriction"));
        subjects.extend(self.ways_around.items.contains(&node).then_some("bypass"));
        let moves_valve = self.drawing.moved_valve(node, charge)?.is_some_and(|valve| self.stops(valve));
        subjects.extend((moves_valve || self.is_part_of_valve(node)).then_some("actuator"));
        Ok(subjects)
    }

    /// Returns whether an item is a part of a trip, by what it states or by its signals.
    fn is_of_trip(&self, node: NodeId) -> bool {
        self.trip_items.contains(&node) || trips::trip_reason(self.drawing, node).is_some()
    }

    /// Returns whether an item is a connector of a signal of a trip to or from another sheet.
    fn connects_trip(&self, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let topology = &self.drawing.topology;
        if topology.roles[node as usize] != Role::OffPage {
            return Ok(false);
        }
        let table = topology.table(EdgeFilter::All, Direction::Both);
        charge(1 + table.degree(node) as u64)?;
        let is_signal = |edge: EdgeId| topology.edge_flags[edge as usize].contains(EdgeFlags::SIGNAL);
        Ok(table.arcs(node).any(|(other, edge)| is_signal(edge) && self.is_of_trip(other)))
    }

    /// Returns whether a signal comes from another sheet to a machine, which it may stop.
    fn stops_machine(&self, signal: EdgeId) -> bool {
        let topology = &self.drawing.topology;
        let [from, to] = topology.flow_ends(signal);
        from != NONE
            && to != NONE
            && topology.roles[from as usize] == Role::OffPage
            && instrument_class::is_driven(self.drawing, to)
    }

    fn stops(&self, node: NodeId) -> bool {
        let role = self.drawing.topology.roles[node as usize];
        role.closes() || role == Role::OneWay
    }

    /// Returns whether an item without pipes belongs to a valve by a field.
    fn is_part_of_valve(&self, node: NodeId) -> bool {
        let topology = &self.drawing.topology;
        topology.flow_degree(node) == 0 && topology.field_group(node).is_some_and(|owner| self.stops(owner))
    }

    pub fn subjects_of_edge(&self, edge: EdgeId) -> Vec<&'static str> {
        let topology = &self.drawing.topology;
        let flags = topology.edge_flags[edge as usize];
        let mut subjects = vec!["edge"];
        if flags.contains(EdgeFlags::FLOW) {
            subjects.push("pipe");
            subjects.extend(self.ways_around.pipes.contains(&edge).then_some("bypass"));
        } else if flags.contains(EdgeFlags::SIGNAL) || flags.contains(EdgeFlags::ACTUATES) {
            subjects.push("signal");
            let mut ends =
                topology.ends[edge as usize].into_iter().filter(|end| (*end as usize) < topology.node_count());
            let is_of_trip = ends.any(|end| self.is_of_trip(end)) || self.stops_machine(edge);
            subjects.extend(is_of_trip.then_some("trip"));
        }
        // That a line contains a valve says nothing about its state.
        let is_line = |node: NodeId| {
            [Names::LineType, Names::SegmentType].iter().any(|types| self.drawing.has_type(node, *types))
        };
        let ends = || topology.ends[edge as usize].into_iter().filter(|end| *end != NONE);
        let is_at_valve = ends().any(|end| self.stops(end)) && !ends().any(is_line);
        subjects.extend((is_at_valve && !flags.contains(EdgeFlags::FLOW)).then_some("valve_part"));
        subjects.extend(self.path_pipes.contains(&edge).then_some("relief_path"));
        subjects
    }
}

/// Returns the line nodes that a pipe names, by id or number.
fn lines(drawing: &Drawing<'_>, pipe: EdgeId) -> Vec<NodeId> {
    let Some(name) = drawing.edge_field(pipe, Names::Line) else { return Vec::new() };
    match pipe_lines::line_with_id(drawing, name) {
        Some(line) => vec![line],
        None => name.as_str().map_or_else(Vec::new, |number| drawing.lines_by_tag(number).to_vec()),
    }
}

/// Returns the instruments and valves of the trips of a drawing.
fn trip_items(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<HashSet<NodeId>> {
    let loops = Loops::find(drawing, charge)?;
    let is_item = |node: &NodeId| {
        let role = drawing.topology.roles[*node as usize];
        role == Role::Instrument || role.closes()
    };
    let mut items = HashSet::new();
    for at in (0..loops.list.len()).filter(|at| loops.list[*at].protection.is_some()) {
        let parts = LoopParts::find(drawing, &loops, at, charge)?;
        items.extend(parts.items().copied().filter(is_item));
        let points = loop_parts::sensing_points(drawing, &parts.sensors, charge)?;
        items.extend(points.into_iter().filter(|node| drawing.topology.roles[*node as usize] == Role::Port));
    }
    Ok(items)
}

/// Returns the ways around the valves that trips move, around check valves and around passive safeguards.
fn ways_around(drawing: &Drawing<'_>, trip_items: &HashSet<NodeId>, charge: ChargeFn<'_>) -> Result<WaysAround> {
    let roles = &drawing.topology.roles;
    let is_trip_valve = |node: NodeId| {
        roles[node as usize].closes() && (trip_items.contains(&node) || protection::is_shutdown_valve(drawing, node))
    };
    let is_check_valve = |node: NodeId| roles[node as usize] == Role::OneWay;
    let mut found = WaysAround::default();
    for node in 0..drawing.topology.node_count() as u32 {
        charge(1)?;
        match passive_kind(drawing, node) {
            _ if is_trip_valve(node) => found.add(drawing, node, is_trip_valve, charge)?,
            _ if is_check_valve(node) => found.add(drawing, node, is_check_valve, charge)?,
            Some(kind) => found.add(drawing, node, |other| passive_kind(drawing, other) == Some(kind), charge)?,
            None => {}
        }
    }
    Ok(found)
}

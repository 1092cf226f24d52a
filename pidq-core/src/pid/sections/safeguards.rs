//! Safeguards of the sections of a review: relief devices, check valves, shutdown valves, trips and safety instrumented
//! functions.

use hashbrown::{HashMap, HashSet};

use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::vocabulary;
use crate::pid::loop_parts::{self, LoopParts};
use crate::pid::loops::Loops;
use crate::pid::tag::{Protection, Tag};
use crate::pid::{ChargeFn, Datum};

const SAFEGUARD: &[&str] = &["item", "kind", "loop", "senses", "acts", "sensing_points", "final_elements", "certain"];

/// The trips of a drawing, by the items at which they sense and on which they act.
#[derive(Debug, Default)]
pub(super) struct Safeguards {
    trips: Vec<Trip>,
    sensing_at: HashMap<NodeId, Vec<usize>>,
    acting_on: HashMap<NodeId, Vec<usize>>,
}

/// A trip or a safety instrumented function.
#[derive(Debug)]
struct Trip {
    name: String,
    /// Its node, else its first function, else its first member.
    item: NodeId,
    kind: &'static str,
    /// The drawing states its kind, and shows a sensor and a final element.
    is_certain: bool,
    sensors: Vec<NodeId>,
    sensing_points: Vec<NodeId>,
    final_elements: Vec<NodeId>,
}

/// Items of a section: between its ends, at its ends, and the instruments that sense in it.
pub(super) struct SectionItems<'s> {
    pub inside: &'s [NodeId],
    pub ends: &'s [NodeId],
    pub instruments: &'s [NodeId],
}

impl Safeguards {
    /// Finds the trips of a drawing.
    pub fn find(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Safeguards> {
        let loops = Loops::find(drawing, charge)?;
        let mut safeguards = Safeguards::default();
        for (at, found) in loops.list.iter().enumerate().filter(|(_, found)| found.protection.is_some()) {
            let parts = LoopParts::find(drawing, &loops, at, charge)?;
            let Some(item) = found.node.or(parts.functions.first().copied()).or(found.members.first().copied()) else {
                continue;
            };
            let (kind, is_stated) = loop_parts::kind(drawing, found, &parts);
            let sensing_points = loop_parts::sensing_points(drawing, &parts.sensors, charge)?;
            let is_certain = is_stated && parts.is_closed();
            charge((parts.final_elements.len() + sensing_points.len()) as u64)?;
            let LoopParts { sensors, final_elements, .. } = parts;
            let kind = kind.unwrap_or("trip");
            let name = found.name.clone();
            safeguards.add(Trip { name, item, kind, is_certain, sensors, sensing_points, final_elements });
        }
        Ok(safeguards)
    }

    fn add(&mut self, trip: Trip) {
        let at = self.trips.len();
        for node in trip.sensors.iter().chain(&trip.sensing_points) {
            self.sensing_at.entry(*node).or_default().push(at);
        }
        for node in &trip.final_elements {
            self.acting_on.entry(*node).or_default().push(at);
        }
        self.trips.push(trip);
    }

    /// Returns the safeguards of a section: its devices, then the trips that sense or act in it. A trip that only
    /// senses at an end, such as at the vessel between two sections, belongs to neither.
    pub fn of_section<'a>(
        &self,
        drawing: &Drawing<'a>,
        section: &SectionItems<'_>,
        charge: ChargeFn<'_>,
    ) -> Result<Datum<'a>> {
        let mut rows = Vec::new();
        let at_ends = section.ends.iter().map(|node| (*node, "boundary"));
        for (node, acts) in section.inside.iter().map(|node| (*node, "inside")).chain(at_ends) {
            charge(1)?;
            rows.extend(self.device_row(drawing, node, acts));
        }
        let inside: HashSet<NodeId> = section.inside.iter().copied().collect();
        let ends: HashSet<NodeId> = section.ends.iter().copied().collect();
        let sensing = section.inside.iter().chain(section.instruments).filter_map(|node| self.sensing_at.get(node));
        let acting = section.inside.iter().chain(section.ends).filter_map(|node| self.acting_on.get(node));
        let sensing: HashSet<usize> = sensing.flatten().copied().collect();
        let acting: HashSet<usize> = acting.flatten().copied().collect();
        let mut trips: Vec<usize> = sensing.union(&acting).copied().collect();
        trips.sort_unstable();
        for at in trips {
            let trip = &self.trips[at];
            charge(1 + (trip.final_elements.len() + trip.sensing_points.len()) as u64)?;
            let acts_at = |nodes: &HashSet<NodeId>| trip.final_elements.iter().any(|node| nodes.contains(node));
            let acts = match () {
                () if trip.final_elements.is_empty() => "unknown",
                () if acts_at(&inside) => "inside",
                () if acts_at(&ends) => "boundary",
                () => "outside",
            };
            let senses = match () {
                () if sensing.contains(&at) => "inside",
                () if trip.sensing_points.is_empty() => "unknown",
                () if trip.sensing_points.iter().any(|node| ends.contains(node)) => "boundary",
                () => "outside",
            };
            rows.push(vec![
                Datum::Node(trip.item),
                Datum::Word(trip.kind),
                Datum::String(trip.name.clone()),
                Datum::Word(senses),
                Datum::Word(acts),
                Datum::Nodes(trip.sensing_points.clone()),
                Datum::Nodes(trip.final_elements.clone()),
                Datum::Bool(trip.is_certain),
            ]);
        }
        Ok(Datum::Table(SAFEGUARD, rows))
    }

    /// Returns the row of a device that protects by itself or is moved by a trip. A shutdown valve is certain only if
    /// the drawing shows the trip that closes it.
    fn device_row<'a>(&self, drawing: &Drawing<'a>, node: NodeId, acts: &'static str) -> Option<Vec<Datum<'a>>> {
        let trip = self.acting_on.get(&node).and_then(|trips| trips.first()).map(|at| &self.trips[*at]);
        let (kind, is_certain) = match drawing.topology.roles[node as usize] {
            Role::Relief => ("relief", true),
            Role::OneWay => ("check_valve", true),
            _ if is_shutdown_valve(drawing, node) => ("shutdown_valve", trip.is_some_and(|trip| trip.is_certain)),
            _ => return None,
        };
        Some(vec![
            Datum::Node(node),
            Datum::Word(kind),
            Datum::string(trip.map(|trip| trip.name.clone())),
            Datum::Null,
            Datum::Word(acts),
            Datum::Nodes(Vec::new()),
            Datum::Nodes(Vec::new()),
            Datum::Bool(is_certain),
        ])
    }
}

/// Returns whether a valve is a shutdown valve, by its tag or its class.
fn is_shutdown_valve(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let stated = || drawing.tag(node).and_then(Tag::parse_letters).and_then(|tag| tag.protection());
    drawing.topology.roles[node as usize].closes()
        && (stated().is_some_and(|stated| stated != Protection::Unclear)
            || drawing.class_has_word(node, vocabulary::SHUTDOWN_VALVES))
}

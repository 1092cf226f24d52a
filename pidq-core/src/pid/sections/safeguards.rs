//! Safeguards of the sections of a review: relief devices, check valves, flame arresters, shutdown valves, trips and
//! safety instrumented functions.

use hashbrown::{HashMap, HashSet};

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::trip_words::EmergencyValve;
use crate::graph::vocabulary;
use crate::pid::instrument_class::parts::{instrument_of, instruments_of};
use crate::pid::isolate::equipment_bodies::EquipmentBodies;
use crate::pid::loop_parts::{self, LoopParts};
use crate::pid::loops::{Loop, Loops, protection};
use crate::pid::relief::ReliefPath;
use crate::pid::relief::devices::{StatedBy, devices, has_stated_inlet, opens_inwards};
use crate::pid::relief::protected::{EquipmentSide, Protected};
use crate::pid::relief::tails::Tails;
use crate::pid::tag::Tag;
use crate::pid::valve_state::fail_action::{FailAction, fail_action};
use crate::pid::valve_state::out_of_action::{may_not_act, may_pass_back};
use crate::pid::valve_state::{Installation, installation, may_not_be_tight};
use crate::pid::{ChargeFn, Datum, instrument_class};
use crate::value::Value;

use super::emergency_valves::{blowdown_obstacle, shutdown_hindrance};
use super::inner_valves::{has_one_direction, passive_kind};
use super::open_ways::OpenWays;
use super::ways_around::{has_open_bypass, has_open_way_to_air, is_check_valve_bypassed};

const SAFEGUARD: &[&str] = &["item", "kind", "loop", "senses", "acts", "sensing_points", "final_elements", "certain"];

/// The trips of a drawing, by the items at which they sense and on which they act.
#[derive(Debug, Default)]
pub(super) struct Safeguards {
    trips: Vec<Trip>,
    sensing_at: HashMap<NodeId, Vec<usize>>,
    acting_on: HashMap<NodeId, Vec<usize>>,
    /// By relief device: whether the drawing shows its path to be open and secured.
    relief: HashMap<NodeId, bool>,
    /// Blowdown valves whose way from the plant or to an end is not shown to be open and secured.
    unsecured_blowdown: HashSet<NodeId>,
    /// Relief devices between the outlet and the suction of a machine.
    internal_relief: HashSet<NodeId>,
    open_ways: OpenWays,
    /// By side of equipment: the relief devices that protect it, and whether they do so for certain.
    protecting: HashMap<EquipmentSide, Vec<(NodeId, bool)>>,
    /// Ports that may be on another side of their equipment than a relief device, with the device.
    unstated: HashSet<(NodeId, NodeId)>,
}

/// A trip or a safety instrumented function.
#[derive(Clone, Debug)]
struct Trip {
    name: String,
    /// Its node, else its first function, one that is not operated by hand first, else its first member.
    item: NodeId,
    kind: &'static str,
    /// The drawing states its kind, and shows a sensor and a final element that nothing open leads around.
    is_certain: bool,
    sensors: Vec<NodeId>,
    sensing_points: Vec<NodeId>,
    final_elements: Vec<NodeId>,
    /// The final elements, and the machines that they drive.
    acts_on: Vec<NodeId>,
}

impl Trip {
    /// Returns the trip of a loop; `None` if the loop has no member.
    fn new(drawing: &Drawing<'_>, found: &Loop, parts: &LoopParts, charge: ChargeFn<'_>) -> Result<Option<Trip>> {
        let mut functions = parts.instruments_of_functions(drawing, charge)?;
        functions.retain(|node| !instrument_class::is_motor_starter(drawing, *node));
        let rank = |node: &&NodeId| (instrument_class::is_by_hand(drawing, **node), only_passes_on(drawing, **node));
        let function = functions.iter().min_by_key(rank);
        let Some(item) = found.node.or(function.copied()).or(found.members.first().copied()) else {
            return Ok(None);
        };
        let (kind, is_stated) = loop_parts::kind(drawing, found, parts);
        let sensing_points = loop_parts::sensing_points(drawing, &parts.sensors, charge)?;
        let are_stated = parts.are_stated(drawing, found.protection);
        charge((parts.final_elements.len() + sensing_points.len()) as u64)?;
        let mut acts_on = parts.final_elements.clone();
        for node in &parts.final_elements {
            acts_on.extend(machines(drawing, *node, charge)?);
        }
        Ok(Some(Trip {
            name: found.name.clone(),
            item,
            kind: kind.unwrap_or("trip"),
            is_certain: is_stated && parts.is_closed() && are_stated && is_installed(drawing, item),
            sensors: parts.sensors.clone(),
            sensing_points,
            final_elements: parts.final_elements.clone(),
            acts_on,
        }))
    }

    /// Returns the trip at the other limit of the same variable, if one loop switches at both: they guard against different
    /// deviations. Each has its own switch.
    fn at_other_limit(&self, drawing: &Drawing<'_>, parts: &LoopParts, charge: ChargeFn<'_>) -> Result<Option<Trip>> {
        let Some(own) = switched_limit(drawing, self.item) else { return Ok(None) };
        let functions = parts.instruments_of_functions(drawing, charge)?;
        let other = functions.into_iter().find(|node| switched_limit(drawing, *node).is_some_and(|limit| limit != own));
        charge(self.acts_on.len() as u64)?;
        Ok(other.map(|item| Trip { item, is_certain: self.is_certain && is_installed(drawing, item), ..self.clone() }))
    }

    /// Returns the trip as one for each limit at which a switch of its sensors switches, if there are two: they guard against
    /// different deviations. The switch stands for its trip.
    fn by_limits(self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<Trip>> {
        charge(1 + (self.sensors.len() + self.acts_on.len()) as u64)?;
        let at = |limit: &str| -> Vec<NodeId> {
            let is_at = |node: &NodeId| switched_limit(drawing, *node) == Some(limit);
            self.sensors.iter().copied().filter(is_at).collect()
        };
        let [high, low] = [at("H"), at("L")];
        let variable = |node: &NodeId| drawing.tag(*node).and_then(Tag::parse).map(|tag| tag.variable_id());
        let is_same = |one: &NodeId, other: &NodeId| variable(one).is_some() && variable(one) == variable(other);
        let is_at_both = high.first().zip(low.first()).is_some_and(|(one, other)| is_same(one, other));
        if !is_at_both {
            return Ok(vec![self]);
        }
        let mut trips = Vec::new();
        for (own, other) in [(&high, &low), (&low, &high)] {
            let sensors = self.sensors.iter().copied().filter(|node| !other.contains(node)).collect();
            let trip = self.clone().with_sensors(drawing, sensors, charge)?;
            trips.push(Trip { item: own[0], ..trip });
        }
        Ok(trips)
    }

    /// Returns the trip of some of its sensors; the instrument stands for it if there is one.
    fn with_sensors(mut self, drawing: &Drawing<'_>, sensors: Vec<NodeId>, charge: ChargeFn<'_>) -> Result<Trip> {
        self.sensing_points = loop_parts::sensing_points(drawing, &sensors, charge)?;
        charge((sensors.len() + self.sensing_points.len()) as u64)?;
        if let [instrument] = instruments_of(drawing, &sensors, charge)?[..] {
            self.item = instrument;
        }
        self.sensors = sensors;
        Ok(self)
    }
}

/// Returns whether an instrument only passes on what the logic of a trip decides: a solenoid valve, a relay by its letters.
fn only_passes_on(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_relay = |tag: Tag| {
        let functions = tag.split().1;
        !functions.is_empty() && functions.iter().all(|letter| *letter == 'Y')
    };
    drawing.class_has(node, vocabulary::SOLENOIDS)
        || drawing.tag(node).and_then(Tag::parse_letters).is_some_and(is_relay)
}

/// Returns the direction of the limit at which an instrument switches, by the letters of its tag.
fn switched_limit(drawing: &Drawing<'_>, node: NodeId) -> Option<&'static str> {
    drawing.tag(node).and_then(Tag::parse_letters).and_then(|tag| tag.switched_limit())
}

/// Returns, for logic that other trips pass, its sensors that are in none of them; `None` for other trips.
fn further_sensors(
    drawing: &Drawing<'_>,
    paths: &[(&Loop, LoopParts)],
    charge: ChargeFn<'_>,
) -> Result<Vec<Option<Vec<NodeId>>>> {
    let mut by_logic: HashMap<NodeId, Vec<usize>> = HashMap::new();
    let mut instruments: Vec<HashSet<NodeId>> = Vec::with_capacity(paths.len());
    for (at, (_, logic)) in paths.iter().enumerate() {
        charge(1 + logic.functions.len() as u64)?;
        logic.functions.iter().for_each(|node| by_logic.entry(*node).or_default().push(at));
        instruments.push(instruments_of(drawing, &logic.sensors, charge)?.into_iter().collect());
    }
    let mut further: Vec<Option<Vec<NodeId>>> = vec![None; paths.len()];
    for (at, (_, trip)) in paths.iter().enumerate().filter(|(_, (_, trip))| trip.is_closed()) {
        charge(1 + trip.between.len() as u64)?;
        let mut shared: Vec<usize> =
            trip.between.iter().filter_map(|node| by_logic.get(node)).flatten().copied().collect();
        shared.sort_unstable();
        shared.dedup();
        for other in shared.into_iter().filter(|other| *other != at) {
            let (_, logic) = &paths[other];
            charge((logic.sensors.len() + trip.final_elements.len()) as u64)?;
            let moved: HashSet<&NodeId> = trip.final_elements.iter().collect();
            let is_part = instruments[at].is_subset(&instruments[other])
                && logic.final_elements.iter().all(|node| moved.contains(node))
                && (instruments[at].len(), trip.between.len(), at)
                    < (instruments[other].len(), logic.between.len(), other);
            if !is_part {
                continue;
            }
            let mut left = Vec::new();
            for sensor in further[other].as_ref().unwrap_or(&logic.sensors) {
                let is_own = instruments[at].contains(&instrument_of(drawing, *sensor, charge)?);
                left.extend((!is_own).then_some(*sensor));
            }
            further[other] = Some(left);
        }
    }
    Ok(further)
}

/// Items of a section: its pipes, the items between its ends, those at its ends, and the instruments that sense in it.
pub(super) struct SectionItems<'s> {
    pub pipes: &'s [EdgeId],
    pub inside: &'s [NodeId],
    pub ends: &'s [NodeId],
    pub instruments: &'s [NodeId],
}

impl Safeguards {
    /// Finds the trips of a drawing, and what its relief devices protect.
    pub fn find(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Safeguards> {
        let mut safeguards = Safeguards::default();
        safeguards.add_trips(drawing, charge)?;
        safeguards.withdraw_bypassed(drawing, charge)?;
        let devices = devices(drawing, charge)?;
        let bodies = match devices.is_empty() {
            true => EquipmentBodies::default(),
            false => EquipmentBodies::collect(drawing, charge)?,
        };
        let mut tails = Tails::default();
        for device in devices {
            safeguards.add_relief(drawing, device, &bodies, &mut tails, charge)?;
        }
        charge(drawing.topology.node_count() as u64)?;
        for valve in (0..drawing.topology.node_count() as u32).filter(|node| is_blowdown_valve(drawing, *node)) {
            let path = ReliefPath::find(drawing, valve, &mut tails, charge)?;
            safeguards.unsecured_blowdown.extend((!path.is_way_secured()).then_some(valve));
        }
        Ok(safeguards)
    }

    /// Adds the trips, one for each path from its sensors to its final elements, and logic that several trips share only
    /// for its further sensors.
    fn add_trips(&mut self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<()> {
        let loops = Loops::find(drawing, charge)?;
        let mut seen = HashSet::new();
        let mut paths: Vec<(&Loop, LoopParts)> = Vec::new();
        for (at, found) in loops.list.iter().enumerate().filter(|(_, found)| found.protection.is_some()) {
            let parts = LoopParts::find(drawing, &loops, at, charge)?;
            if !parts.is_closed() || seen.insert(parts.path(drawing, charge)?) {
                paths.push((found, parts));
            }
        }
        let further = further_sensors(drawing, &paths, charge)?;
        for ((found, parts), further) in paths.iter().zip(further) {
            let is_other_trip = further.as_ref().is_some_and(Vec::is_empty);
            if let Some(trip) = Trip::new(drawing, found, parts, charge)?.filter(|_| !is_other_trip) {
                let other = trip.at_other_limit(drawing, parts, charge)?;
                let trip = match further {
                    Some(sensors) => trip.with_sensors(drawing, sensors, charge)?,
                    None => trip,
                };
                trip.by_limits(drawing, charge)?.into_iter().for_each(|trip| self.add(trip));
                other.into_iter().for_each(|other| self.add(other));
            }
        }
        Ok(())
    }

    /// Makes the trips uncertain whose valves have an open path around them, once all valves that trips close are known.
    fn withdraw_bypassed(&mut self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<()> {
        for at in 0..self.trips.len() {
            let mut is_certain = self.trips[at].is_certain;
            for node in self.trips[at].final_elements.iter().copied() {
                is_certain = is_certain
                    && !(closes_in_emergency(drawing, node, charge)?
                        && self.is_shutdown_bypassed(drawing, node, charge)?);
            }
            self.trips[at].is_certain = is_certain;
        }
        Ok(())
    }

    /// Adds a relief device. It is certain only if the drawing shows its path to be open to an end, without a valve that
    /// is not locked open (API 520-2, ISO 23251), and its class says what it is.
    fn add_relief(
        &mut self,
        drawing: &Drawing<'_>,
        (device, stated_by): (NodeId, StatedBy),
        bodies: &EquipmentBodies,
        tails: &mut Tails,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        let path = ReliefPath::find(drawing, device, tails, charge)?;
        let bodies = |equipment: NodeId, charge: ChargeFn<'_>| bodies.open_to(drawing, equipment, charge);
        let mut protected = Protected::find_through(drawing, &path, &bodies, charge)?;
        charge(protected.equipment.len() as u64)?;
        if opens_inwards(drawing, device) {
            protected = Protected::default();
        }
        self.unstated.extend(protected.unstated.iter().map(|port| (*port, device)));
        let certain_count = if has_stated_inlet(drawing, device) { protected.certain().len() } else { 0 };
        for (at, side) in protected.equipment.iter().enumerate() {
            self.protecting.entry(*side).or_default().push((device, at < certain_count));
        }
        self.relief.insert(device, path.is_secured() && stated_by == StatedBy::Class);
        self.internal_relief.extend(path.returns_to_suction().then_some(device));
        Ok(())
    }

    /// Returns the relief devices and the blowdown valves, in document order: behind them, another pressure holds.
    pub fn discharging_devices(&self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        charge(drawing.topology.node_count() as u64)?;
        let nodes = 0..drawing.topology.node_count() as u32;
        Ok(nodes.filter(|node| self.relief.contains_key(node) || is_blowdown_valve(drawing, *node)).collect())
    }

    /// Returns the relief devices between the outlet and the suction of a machine.
    pub fn internal_relief(&self) -> &HashSet<NodeId> {
        &self.internal_relief
    }

    fn add(&mut self, trip: Trip) {
        let at = self.trips.len();
        for node in trip.sensors.iter().chain(&trip.sensing_points) {
            self.sensing_at.entry(*node).or_default().push(at);
        }
        for node in &trip.acts_on {
            self.acting_on.entry(*node).or_default().push(at);
        }
        self.trips.push(trip);
    }

    /// Returns the safeguards of a section: its devices, the relief devices of the equipment at its ends, then the trips
    /// that sense or act in it. A trip that only senses at an end, such as at the vessel between two sections, belongs
    /// to neither.
    pub fn of_section<'a>(
        &self,
        drawing: &Drawing<'a>,
        section: &SectionItems<'_>,
        charge: ChargeFn<'_>,
    ) -> Result<Datum<'a>> {
        let mut rows = Vec::new();
        let at_ends = section.ends.iter().map(|node| (*node, "boundary"));
        let inside: HashSet<NodeId> = section.inside.iter().copied().collect();
        let flow = SectionFlow::find(drawing, section.pipes, charge)?;
        for (node, acts) in section.inside.iter().map(|node| (*node, "inside")).chain(at_ends) {
            charge(1)?;
            // A device does not protect the piping into which it discharges.
            if acts == "boundary" && self.relief.contains_key(&node) && !flow.entered.contains(&node) {
                continue;
            }
            rows.extend(self.device_row(drawing, node, acts, charge)?);
        }
        for (device, protects) in self.relief_at_ends(drawing, section, &flow, charge)? {
            // A device that discharges into the section may protect equipment at another end of it.
            let is_listed = section.ends.contains(&device) && flow.entered.contains(&device);
            if inside.contains(&device) || is_listed {
                continue;
            }
            let row = self.device_row(drawing, device, "boundary", charge)?;
            rows.extend(row.map(|row| if protects { row } else { uncertain(row) }));
        }
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
            let acts_at = |nodes: &HashSet<NodeId>| trip.acts_on.iter().any(|node| nodes.contains(node));
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

    /// Returns the relief devices that protect the equipment at the ends of a section, in document order, and whether
    /// they do so for certain.
    fn relief_at_ends(
        &self,
        drawing: &Drawing<'_>,
        section: &SectionItems<'_>,
        flow: &SectionFlow,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<(NodeId, bool)>> {
        let topology = &drawing.topology;
        // What protects the outlet of a pump does not protect the piping before its suction.
        let is_at_suction = |node: NodeId| {
            let machine = topology.equipment_or_self(node);
            !flow.left.contains(&machine) && drawing.raises_pressure(machine)
        };
        let equipment = section.ends.iter().filter(|node| topology.is_equipment(**node) && !is_at_suction(**node));
        let mut devices = Vec::new();
        for node in equipment {
            let found = self.protecting.get(&(topology.equipment_or_self(*node), topology.zone(*node)));
            charge(1 + found.map_or(0, Vec::len) as u64)?;
            // Of a nozzle, its equipment is at the end too.
            let is_own = |end: &&NodeId| *end == node || topology.equipment_or_self(**end) == *node;
            let own_ends: Vec<NodeId> = section.ends.iter().filter(is_own).copied().collect();
            charge(section.ends.len() as u64)?;
            let is_stated = |device: NodeId| !own_ends.iter().any(|end| self.unstated.contains(&(*end, device)));
            let found = found.into_iter().flatten();
            devices.extend(found.map(|(device, is_certain)| (*device, *is_certain && is_stated(*device))));
        }
        // Certain before uncertain.
        devices.sort_unstable_by_key(|(device, is_certain): &(NodeId, bool)| (*device, !is_certain));
        devices.dedup_by_key(|(device, _)| *device);
        Ok(devices)
    }

    /// Returns the row of a device that protects by itself or is moved by a trip. A shutdown valve is certain only if
    /// the drawing shows the trip that closes it and the valve does not fail open; none is if an open path leads around
    /// it.
    fn device_row<'a>(
        &self,
        drawing: &Drawing<'a>,
        node: NodeId,
        acts: &'static str,
        charge: ChargeFn<'_>,
    ) -> Result<Option<Vec<Datum<'a>>>> {
        // One trip that is known to move the valve is enough.
        let trips = || self.acting_on.get(&node).into_iter().flatten().map(|at| &self.trips[*at]);
        let trip = trips().find(|trip| trip.is_certain).or_else(|| trips().next());
        let role = drawing.topology.roles[node as usize];
        let passive = passive_kind(drawing, node).or((role == Role::OneWay).then_some("check_valve"));
        let (kind, is_certain) = match (self.relief.get(&node), passive) {
            (Some(is_secured), _) if opens_inwards(drawing, node) => ("vacuum_relief", *is_secured),
            (Some(is_secured), _) => ("relief", *is_secured),
            (None, Some(kind)) if role == Role::OneWay => {
                let is_bypassed = is_check_valve_bypassed(drawing, node, &self.open_ways, charge)?;
                (kind, has_one_direction(drawing, node) && !is_bypassed && !may_pass_back(drawing, node))
            }
            (_, Some(kind)) => {
                let is_like = |other| passive_kind(drawing, other) == Some(kind) && is_installed(drawing, other);
                let is_bypassed = has_open_bypass(drawing, node, is_like, &self.open_ways, charge)?
                    || kind == "flame_arrester" && has_open_way_to_air(drawing, node, is_like, charge)?;
                (kind, !is_bypassed)
            }
            _ if is_blowdown_valve(drawing, node) => {
                let is_opened_by_trip = trip.is_some_and(|trip| trip.is_certain);
                let is_free =
                    !self.unsecured_blowdown.contains(&node) && blowdown_obstacle(drawing, node, charge)?.is_none();
                ("blowdown_valve", is_opened_by_trip && is_free)
            }
            _ if self.is_shutdown_valve(drawing, node) => {
                let is_closed_by_trip =
                    trip.is_some_and(|trip| trip.is_certain) && shutdown_hindrance(drawing, node, charge)?.is_none();
                ("shutdown_valve", is_closed_by_trip && !self.is_shutdown_bypassed(drawing, node, charge)?)
            }
            _ => return Ok(None),
        };
        // The hindrances of the valves that a trip moves have been read.
        let is_moved = matches!(kind, "blowdown_valve" | "shutdown_valve");
        let is_tight = self.relief.contains_key(&node) || is_moved || !may_not_be_tight(drawing, node);
        let is_certain = is_certain && is_installed(drawing, node) && is_tight && !may_not_act(drawing, node);
        Ok(Some(vec![
            Datum::Node(node),
            Datum::Word(kind),
            Datum::string(trip.map(|trip| trip.name.clone())),
            Datum::Null,
            Datum::Word(acts),
            Datum::Nodes(Vec::new()),
            Datum::Nodes(Vec::new()),
            Datum::Bool(is_certain),
        ]))
    }

    /// Returns whether an open path leads around a valve that a trip closes, without another one that is shut in an
    /// emergency.
    fn is_shutdown_bypassed(&self, drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let is_like = |other| self.is_shutdown_valve(drawing, other) && is_installed(drawing, other);
        has_open_bypass(drawing, node, is_like, &self.open_ways, charge)
    }

    /// Returns whether a valve is shut in an emergency: its tag or its class says so, or a trip moves it and its letters or the
    /// class of its body are those of a valve that is open or closed: `BallValve`.
    fn is_shutdown_valve(&self, drawing: &Drawing<'_>, node: NodeId) -> bool {
        let is_moved_by_trip = || self.acting_on.contains_key(&node);
        let is_on_off =
            |kind| kind == Some(EmergencyValve::Possible) || drawing.class_has_word(node, vocabulary::ON_OFF_BODIES);
        protection::is_shutdown_valve(drawing, node)
            || drawing.topology.roles[node as usize].closes()
                && match protection::emergency_valve(drawing, node).map(|(kind, _)| kind) {
                    Some(EmergencyValve::Shutdown) => true,
                    kind => is_moved_by_trip() && is_on_off(kind) && !is_control_valve(drawing, node),
                }
    }
}

/// Directions of the pipes of a section at its ends. A pipe without a direction counts for both.
#[derive(Default)]
struct SectionFlow {
    /// Items that a pipe enters.
    entered: HashSet<NodeId>,
    /// Items, or the equipment that they belong to, that a pipe leaves.
    left: HashSet<NodeId>,
}

impl SectionFlow {
    fn find(drawing: &Drawing<'_>, pipes: &[EdgeId], charge: ChargeFn<'_>) -> Result<SectionFlow> {
        let topology = &drawing.topology;
        charge(pipes.len() as u64)?;
        let mut flow = SectionFlow::default();
        for pipe in pipes {
            let [from, to] = topology.flow_ends(*pipe);
            let is_assumed = topology.is_assumed(*pipe);
            flow.entered.extend([Some(to), is_assumed.then_some(from)].into_iter().flatten());
            let left = [Some(from), is_assumed.then_some(to)].into_iter().flatten();
            flow.left.extend(left.map(|node| topology.equipment_or_self(node)));
        }
        Ok(flow)
    }
}

/// Returns whether nothing states that an item is not there or may not be.
fn is_installed(drawing: &Drawing<'_>, node: NodeId) -> bool {
    installation(drawing, node) == Installation::Installed
}

/// Returns whether a final element of a trip is a valve that closes, as far as the drawing says.
fn closes_in_emergency(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
    Ok(drawing.topology.roles[node as usize].closes()
        && !is_blowdown_valve(drawing, node)
        && fail_action(drawing, node, charge)? != Some(FailAction::Opens))
}

/// Returns whether a valve is a control valve by its class or the variable in its tag, as in `FV`: it has another purpose than a
/// trip that closes or opens it too. `UV` is the usual tag of an anti-surge valve.
fn is_control_valve(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let has_variable = |tag: Tag| tag.measures() && tag.letters.starts_with(vocabulary::is_controlled_variable);
    drawing.class_has_word(node, vocabulary::CONTROL_VALVES)
        || drawing.tag(node).and_then(Tag::parse_letters).is_some_and(has_variable)
}

/// Returns whether a valve opens to relieve its section in an emergency.
fn is_blowdown_valve(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.roles[node as usize].closes()
        && matches!(protection::emergency_valve(drawing, node), Some((EmergencyValve::Blowdown, _)))
}

/// Returns a row of a safeguard that is not certain.
fn uncertain(mut row: Vec<Datum<'_>>) -> Vec<Datum<'_>> {
    if let Some(is_certain) = row.last_mut() {
        *is_certain = Datum::Bool(false);
    }
    row
}

/// Returns the equipment that has a drive: the pump whose motor a trip stops, also through the starter of the motor.
fn machines(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    let words = [vocabulary::PRIME_MOVERS, vocabulary::MOTOR_STARTERS];
    if !words.iter().any(|words| drawing.class_has_word(node, words)) {
        return Ok(Vec::new());
    }
    let table = topology.table(EdgeFilter::All, Direction::Both);
    charge(1 + table.degree(node) as u64)?;
    let is_whole = |edge: EdgeId| {
        let flags = topology.edge_flags[edge as usize];
        let is_part = topology.ends[edge as usize][1] == node
            && (flags.contains(EdgeFlags::PART) || flags.contains(EdgeFlags::MEMBER));
        is_part || drives(drawing, edge)
    };
    let by_edge = table.arcs(node).filter(|(_, edge)| is_whole(*edge)).map(|(whole, _)| whole);
    let wholes = by_edge.chain(topology.field_group(node)).chain(topology.owner(node));
    Ok(wholes.filter(|whole| *whole != node && topology.is_equipment(*whole)).collect())
}

/// Returns whether an edge says by its class or its kind that one end drives the other.
fn drives(drawing: &Drawing<'_>, edge: EdgeId) -> bool {
    let says_so = |names: Names| {
        let text = drawing.edge_field(edge, names).and_then(Value::as_str).filter(|text| text.len() <= MAX_CLASS);
        text.is_some_and(|text| vocabulary::text_has_any(&snake_case(text).replace('_', " "), vocabulary::DRIVE_EDGES))
    };
    says_so(Names::EdgeClass) || says_so(Names::EdgeKind)
}

//! Parts of a loop, found along its signals: sensors, functions and final elements, also those of other loops.
//!
//! Signals lead from a sensor to functions and from there to final elements. A transmitter may serve several loops. It
//! is a sensor of each loop whose functions it feeds, but it does not connect these loops: what the functions of one
//! loop move is no final element of the other.

pub(crate) mod air_supply;
pub(crate) mod gates;
pub(crate) mod root_valves;
pub(crate) mod voting;

use hashbrown::{HashMap, HashSet};

use super::instrument_class::parts::{self as instrument_parts, instruments_of};
use super::instrument_class::{self, LoopFunction, air_lines};
use super::loops::connection::{self, Connection};
use super::loops::position_feedback::{self, Feedback};
use super::loops::signals::{self, MAX_STEPS};
use super::loops::{Loop, Loops};
use super::tag::{Protection, Tag};
use super::valve_state::out_of_action::{may_not_act, signal_may_not_act};
use super::valve_state::trip_effects::has_other_effect;
use super::valve_state::{self, Installation, fail_action};
use super::{ChargeFn, Datum, pipe_lines};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::value::convert;

const LOOP: &[&str] = &[
    "loop",
    "node",
    "kind",
    "certain",
    "members",
    "sensors",
    "sensing_points",
    "functions",
    "signals",
    "final_elements",
    "shared",
    "lines",
    "fail_action",
    "closed",
    "gap",
];

/// Reason for which a loop is not known to be closed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Gap {
    NoSensor,
    NoFinalElement,
    NoSensorAndNoFinalElement,
    /// Only the tags or a loop node say that the sensor and the final element belong together.
    NoSignal,
    /// Only a field names a final element of the trip: no signal to it is drawn.
    NamedByField,
    /// Only a hand switch starts the trip: nothing does by itself, and it may be one that resets the trip.
    OnlyByHand,
    /// The sensor or the final element may be on another sheet, where a signal of the loop comes from or leads to.
    OffPage,
}

impl Gap {
    /// Returns the word in results.
    fn word(self) -> &'static str {
        match self {
            Gap::NoSensor => "no_sensor",
            Gap::NoFinalElement => "no_final_element",
            Gap::NoSensorAndNoFinalElement => "no_sensor_and_no_final_element",
            Gap::NoSignal => "no_signal",
            Gap::NamedByField => "named_by_field",
            Gap::OnlyByHand => "only_by_hand",
            Gap::OffPage => "off_page",
        }
    }
}

/// Parts of a loop. All lists are ascending.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopParts {
    pub sensors: Vec<NodeId>,
    pub functions: Vec<NodeId>,
    pub final_elements: Vec<NodeId>,
    /// Sensors, functions and final elements that are members of other loops only.
    pub shared: Vec<NodeId>,
    /// Functions and other items that signals pass between them.
    pub between: Vec<NodeId>,
    /// Signals that lead from a sensor to a final element.
    connection: Connection,
    /// The only initiators are hand switches.
    is_only_by_hand: bool,
    /// A function without a sensor may stand for the measurement too, or an item that feeds it may be a sensor.
    may_sense: bool,
    sheet_ends: SheetEnds,
    uncertainties: Uncertainties,
}

/// Signals of a loop at the ends of its sheet.
#[derive(Clone, Copy, Debug, Default)]
struct SheetEnds {
    /// Signals come from a sheet that is not joined.
    enters: bool,
    /// Signals lead to a sheet that is not joined.
    leaves: bool,
}

/// Reasons for which a drawing does not state what a loop does.
#[derive(Clone, Copy, Debug, Default)]
struct Uncertainties {
    /// A signal between its parts is not there, or may not be.
    has_absent_signal: bool,
    /// A sensor or a final element has no signal: only its number says that it belongs to the loop. Counts for a trip.
    has_part_by_number: bool,
    /// Only a field names a final element of a trip.
    has_part_by_field: bool,
    /// An item of unknown class is on the way to a final element, or a function acts on one in a pipe.
    has_unknown_class: bool,
    /// A closed valve is in the air of an actuator of a trip.
    has_air_shut_off: bool,
    /// A sensor of a trip is shut off from the process.
    has_shut_off_sensor: bool,
    /// A voting of a trip needs more sensors than it has.
    lacks_voters: bool,
    /// A gate of a trip inverts its signal, or has one input where it needs all of several.
    has_unclear_gate: bool,
    /// A text says that a signal of a trip or its logic does something else.
    has_other_effect: bool,
    /// An item that no class, tag or text describes feeds a sensor of a trip, and may be the only one that measures.
    has_unknown_source: bool,
    /// Signals do not connect the loop, and an edge of unknown kind is at a member, which may be one.
    has_unknown_edge: bool,
}

impl Uncertainties {
    /// Returns whether there is one that counts for a loop of any kind.
    fn is_any(self) -> bool {
        self.has_absent_signal
            || self.has_part_by_field
            || self.has_air_shut_off
            || self.has_unknown_class
            || self.has_shut_off_sensor
            || self.lacks_voters
            || self.has_unclear_gate
            || self.has_other_effect
            || self.has_unknown_source
            || self.has_unknown_edge
    }
}

impl LoopParts {
    /// Finds the parts of the loop at an index.
    pub fn find(drawing: &Drawing<'_>, loops: &Loops, at: usize, charge: ChargeFn<'_>) -> Result<LoopParts> {
        let search = Search { drawing, loops, found: &loops.list[at] };
        let Effects { final_elements, passed, leaves_sheet, uncertainties } = search.final_elements(charge)?;
        let (own_sensors, mut functions) = search.own_instruments(&final_elements, charge)?;
        let Causes { sensors, sources, enters_sheet, has_unknown_source } =
            search.sensors(own_sensors, &functions, &passed, charge)?;
        let may_sense = has_unknown_source || functions.iter().any(|node| search.is_bubble(*node));
        let mut sensors = search.without_feedback(sensors, &final_elements, charge)?;
        let by_hand = if sensors.is_empty() { search.hand_switches(&sources, charge)? } else { Vec::new() };
        functions.retain(|node| by_hand.binary_search(node).is_err());
        let is_only_by_hand = !by_hand.is_empty();
        sensors.extend(by_hand);
        let others: Vec<NodeId> = passed.iter().chain(&sources).copied().collect();
        let shared = search.shared(sensors.iter().chain(&final_elements).chain(&others).copied());
        let path = connection::Path { sensors: &sensors, final_elements: &final_elements };
        let (connection, between) = search.signals_between(&path, &functions, &others, charge)?;
        let mut parts = LoopParts {
            sensors,
            functions,
            final_elements,
            shared,
            between,
            connection,
            is_only_by_hand,
            may_sense,
            sheet_ends: SheetEnds { enters: enters_sheet, leaves: leaves_sheet },
            uncertainties: Uncertainties::default(),
        };
        parts.uncertainties = search.uncertainties(&parts, uncertainties, charge)?;
        Ok(parts)
    }

    /// Returns the reason for which the loop is not known to be closed; `None` if signals lead from a sensor to a final
    /// element.
    pub fn gap(&self) -> Option<Gap> {
        match (self.sensors.is_empty(), self.final_elements.is_empty()) {
            (true, true) if self.sheet_ends.enters || self.sheet_ends.leaves => Some(Gap::OffPage),
            (true, false) if self.sheet_ends.enters => Some(Gap::OffPage),
            (false, true) if self.sheet_ends.leaves => Some(Gap::OffPage),
            (true, true) => Some(Gap::NoSensorAndNoFinalElement),
            (true, false) => Some(Gap::NoSensor),
            (false, true) => Some(Gap::NoFinalElement),
            (false, false) if self.connection == Connection::None && self.uncertainties.has_part_by_field => {
                Some(Gap::NamedByField)
            }
            (false, false) if self.connection == Connection::None => Some(Gap::NoSignal),
            (false, false) => self.is_only_by_hand.then_some(Gap::OnlyByHand),
        }
    }

    /// Returns whether signals lead from a sensor to a final element; `None` if the drawing leaves it open.
    pub fn closed(&self) -> Option<bool> {
        match self.gap() {
            None => Some(true),
            Some(Gap::NoSignal | Gap::NamedByField | Gap::OnlyByHand | Gap::OffPage) => None,
            Some(Gap::NoSensor) if self.may_sense => None,
            Some(_) => Some(false),
        }
    }

    /// Returns whether the drawing states what the loop does: no uncertainty counts for it, and all its items are installed and, in
    /// a trip, act.
    pub fn are_stated(&self, drawing: &Drawing<'_>, protection: Option<Protection>) -> bool {
        let mut items = self.items();
        let is_trip = protection.is_some();
        let is_assumed = is_trip && (self.connection == Connection::Assumed || self.uncertainties.has_part_by_number);
        let may_move_other = |node: &NodeId| air_lines::possible_valve(drawing, *node).is_some();
        !is_assumed
            && !self.uncertainties.is_any()
            && items.all(|node| valve_state::installation(drawing, *node) == Installation::Installed)
            && (!is_trip || !self.items().any(|node| may_not_act(drawing, *node)))
            && !self.final_elements.iter().any(may_move_other)
    }

    /// Returns the instruments that the functions belong to, without those that only stand for the actuator of a valve.
    pub fn instruments_of_functions(&self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        let mut functions = Vec::with_capacity(self.functions.len());
        for node in instruments_of(drawing, &self.functions, charge)? {
            if instrument_parts::moved_valve(drawing, node, charge)?.is_none() {
                functions.push(node);
            }
        }
        Ok(functions)
    }

    /// Returns the sensors, the items between and the final elements, each with what it is a part of instead of the part. Two loops
    /// with the same path are one that has two names, such as that of a transmitter and that of the logic behind it.
    pub fn path(&self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<[Vec<NodeId>; 3]> {
        let mut path = [
            instruments_of(drawing, &self.sensors, charge)?,
            instruments_of(drawing, &self.between, charge)?,
            self.final_elements.clone(),
        ];
        path.iter_mut().for_each(|nodes| nodes.sort_unstable());
        Ok(path)
    }

    /// Returns the sensors, the final elements and what is between them.
    pub fn items(&self) -> impl Iterator<Item = &NodeId> {
        self.sensors.iter().chain(&self.final_elements).chain(&self.between)
    }

    /// Returns whether the drawing shows that the loop is closed.
    pub fn is_closed(&self) -> bool {
        self.gap().is_none()
    }
}

/// Returns whether a signal between two of some items is not there or does not act, or may not.
fn has_absent_signal(drawing: &Drawing<'_>, items: impl Iterator<Item = NodeId>, charge: ChargeFn<'_>) -> Result<bool> {
    let items: HashSet<NodeId> = items.collect();
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Down);
    for item in &items {
        charge(1 + table.degree(*item) as u64)?;
        let mut signals = table.arcs(*item).filter(|(next, edge)| {
            items.contains(next) && topology.edge_flags[*edge as usize].contains(EdgeFlags::SIGNAL)
        });
        if signals.any(|(_, edge)| signal_may_not_act(drawing, edge)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether a text says that a signal between the parts of a trip, or its logic, does something else than to trip its
/// final elements, or a text of a sensor that it starts them.
fn is_any_effect_other(
    drawing: &Drawing<'_>,
    sensors: &[NodeId],
    logic: &[NodeId],
    final_elements: &[NodeId],
    charge: ChargeFn<'_>,
) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Down);
    let items: HashSet<NodeId> = logic.iter().chain(final_elements).copied().collect();
    for node in sensors.iter().chain(logic).copied() {
        charge(1 + table.degree(node) as u64)?;
        let is_signal = |edge: EdgeId| topology.edge_flags[edge as usize].contains(EdgeFlags::SIGNAL);
        for (next, edge) in table.arcs(node).filter(|(next, edge)| items.contains(next) && is_signal(*edge)) {
            if has_other_effect(drawing, [node, next], Some(edge), final_elements, charge)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns whether an edge of unknown kind leads from one of some instruments to another one, or to what a signal moves.
fn has_unknown_edge(drawing: &Drawing<'_>, members: &[NodeId], charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    if !topology.all_flags.contains(EdgeFlags::UNKNOWN) {
        return Ok(false);
    }
    let table = topology.table(EdgeFilter::All, Direction::Both);
    let is_in_signals =
        |node: NodeId| topology.roles[node as usize] == Role::Instrument || signals::is_target(drawing, node);
    for node in members.iter().copied().filter(|node| topology.roles[*node as usize] == Role::Instrument) {
        charge(1 + table.degree(node) as u64)?;
        let is_unknown = |edge: EdgeId| topology.edge_flags[edge as usize].contains(EdgeFlags::UNKNOWN);
        if table.arcs(node).any(|(next, edge)| next != node && is_unknown(edge) && is_in_signals(next)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether an item that no class, tag or text describes feeds one of some sensors.
fn has_unknown_source(drawing: &Drawing<'_>, sensors: &[NodeId], charge: ChargeFn<'_>) -> Result<bool> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Up);
    for sensor in sensors {
        for (source, edge) in table.arcs(*sensor) {
            charge(1 + table.degree(source) as u64)?;
            let is_signal = topology.edge_flags[edge as usize].contains(EdgeFlags::SIGNAL);
            if is_signal && signals::is_unknown_source(drawing, source) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns whether one of some sensors is shut off from the process.
fn has_shut_off(drawing: &Drawing<'_>, sensors: &[NodeId], charge: ChargeFn<'_>) -> Result<bool> {
    for sensor in sensors {
        if root_valves::shut_off_at(drawing, *sensor, charge)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether one of some sensors and final elements has no signal, no actuator and no other part, and is no part.
fn has_part_without_signal(
    drawing: &Drawing<'_>,
    parts: impl Iterator<Item = NodeId>,
    charge: ChargeFn<'_>,
) -> Result<bool> {
    const FLAGS: [EdgeFlags; 5] =
        [EdgeFlags::SIGNAL, EdgeFlags::ACTUATES, EdgeFlags::PART, EdgeFlags::MEMBER, EdgeFlags::MEMBER_REVERSED];
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::All, Direction::Both);
    for part in parts {
        charge(1 + table.degree(part) as u64)?;
        // A loop node that lists its members joins nothing.
        let is_loop = |node: NodeId| drawing.has_type(node, Names::LoopType);
        let is_joined = |(other, edge): (NodeId, EdgeId)| {
            let flags = topology.edge_flags[edge as usize];
            FLAGS.into_iter().any(|flag| flags.contains(flag)) && !flags.contains(EdgeFlags::ZONE) && !is_loop(other)
        };
        let by_edge = table.arcs(part).any(is_joined);
        let by_field =
            topology.field_group(part).is_some_and(|group| !is_loop(group)) || !topology.field_members(part).is_empty();
        let by_air = || air_lines::is_part(drawing, part) || !air_lines::actuators(drawing, part).is_empty();
        if !(by_edge || by_field || by_air() || signals::is_actuated_at_location(drawing, part, charge)?) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns whether the letters of an instrument include control.
fn controls(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let tag = drawing.tag(node).and_then(Tag::parse_letters);
    tag.is_some_and(|tag| !tag.is_position() && tag.split().1.contains(&'C'))
}

/// Returns the final elements of the loop of a loop node.
pub(crate) fn final_elements_of_node(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let loops = Loops::find(drawing, charge)?;
    match loops.list.iter().position(|found| found.node == Some(node)) {
        Some(at) => Ok(LoopParts::find(drawing, &loops, at, charge)?.final_elements),
        None => Ok(Vec::new()),
    }
}

/// Items that the loops of a drawing act on.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    /// By trips and safety instrumented functions.
    pub by_trips: HashSet<NodeId>,
    /// By other loops with a controller.
    pub by_controllers: HashSet<NodeId>,
}

/// Returns what the loops of a drawing act on.
pub(crate) fn moved_by_loops(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Moved> {
    let loops = Loops::find(drawing, charge)?;
    let mut moved = Moved::default();
    for found in &loops.list {
        let search = Search { drawing, loops: &loops, found };
        charge(found.members.len() as u64)?;
        let is_controller = |node: &NodeId| {
            drawing.topology.roles[*node as usize] == Role::Instrument
                && instrument_class::is_controller(drawing, *node)
        };
        match found.protection {
            Some(_) => moved.by_trips.extend(search.final_elements(charge)?.final_elements),
            None if found.members.iter().any(is_controller) => {
                moved.by_controllers.extend(search.final_elements(charge)?.final_elements);
            }
            None => {}
        }
    }
    Ok(moved)
}

/// Returns the kind of a loop, if anything is known about it, and whether the drawing states it.
///
/// `safety`: a safety instrumented function. `trip`: a trip, a shutdown or an interlock. `control`: it has a final
/// element, or a function that needs one. `indication`: it only shows, records or reports.
pub(crate) fn kind(drawing: &Drawing<'_>, found: &Loop, parts: &LoopParts) -> (Option<&'static str>, bool) {
    match found.protection {
        Some(Protection::Safety) => return (Some("safety"), true),
        Some(stated) => return (Some("trip"), stated == Protection::Trip),
        None => {}
    }
    let functions = || {
        let members = found.members.iter().filter(|node| drawing.topology.roles[**node as usize] == Role::Instrument);
        // A switch that reports a position or feeds alarms only acts on nothing.
        members.map(|node| {
            match position_feedback::is_position(drawing, *node) || instrument_class::only_reports(drawing, *node) {
                true => LoopFunction::Measures,
                false => instrument_class::loop_function(drawing, *node),
            }
        })
    };
    let node_acts = found.node.is_some_and(|node| instrument_class::loop_function(drawing, node) == LoopFunction::Acts);
    match () {
        () if !parts.final_elements.is_empty() || node_acts => (Some("control"), true),
        () if functions().any(|function| function == LoopFunction::Acts) => (Some("control"), true),
        () if functions().next().is_none() => (None, false),
        () => (Some("indication"), functions().all(|function| function == LoopFunction::Measures)),
    }
}

/// Returns whether the functions of a loop are operated by hand, such as a hand switch of an on-off valve. Functions
/// without letters belong to them.
pub(crate) fn is_hand_operated(drawing: &Drawing<'_>, parts: &LoopParts) -> bool {
    let has_letters = |node: &&NodeId| drawing.tag(**node).and_then(Tag::parse_letters).is_some();
    let mut lettered = parts.functions.iter().filter(has_letters).peekable();
    lettered.peek().is_some() && lettered.all(|node| instrument_class::is_by_hand(drawing, *node))
}

/// Search for the parts of one loop.
struct Search<'p, 'a> {
    drawing: &'p Drawing<'a>,
    loops: &'p Loops,
    found: &'p Loop,
}

/// Final elements of a loop, and what leads to them.
struct Effects {
    final_elements: Vec<NodeId>,
    /// Instruments of other loops between.
    passed: Vec<NodeId>,
    leaves_sheet: bool,
    uncertainties: EffectUncertainties,
}

/// Reasons for which the final elements of a loop are not certain.
#[derive(Clone, Copy)]
struct EffectUncertainties {
    /// A signal of what moves something leads to an item of unknown class in a pipe.
    acts_on_unknown: bool,
    /// Only a field names one of the final elements.
    has_part_by_field: bool,
}

/// Sensors of a loop, and what leads from them to its functions.
struct Causes {
    sensors: Vec<NodeId>,
    /// Functions of other loops between.
    sources: Vec<NodeId>,
    enters_sheet: bool,
    /// An item that no class, tag or text describes feeds a function.
    has_unknown_source: bool,
}

/// Target of a signal.
enum Reached {
    FinalElement,
    /// A function, a converter or an actuator on the way to a final element.
    Path,
}

impl Search<'_, '_> {
    /// Returns the role of a node. A solenoid valve without a pipe, in the air to an actuator, is an instrument.
    fn role(&self, node: NodeId) -> Role {
        signals::role(self.drawing, node)
    }

    fn is_instrument(&self, node: NodeId) -> bool {
        self.role(node) == Role::Instrument
    }

    /// Returns the number of edges that a check of a node reads.
    fn degree(&self, node: NodeId) -> u64 {
        self.drawing.topology.table(EdgeFilter::All, Direction::Up).degree(node) as u64
    }

    fn is_protective(&self) -> bool {
        self.found.protection.is_some()
    }

    fn is_in_other_loop(&self, node: NodeId) -> bool {
        self.found.members.binary_search(&node).is_err() && !self.loops.of_member(node).is_empty()
    }

    /// Returns whether an item is a final element: it closes a line, or an actuator moves it, regardless of its class.
    fn is_final(&self, node: NodeId) -> bool {
        let topology = &self.drawing.topology;
        let mut arcs = topology.table(EdgeFilter::All, Direction::Up).arcs(node);
        // An item that a sensor refers to is its sensing element.
        let is_actuating = |(from, edge): (NodeId, EdgeId)| {
            topology.edge_flags[edge as usize].contains(EdgeFlags::ACTUATES)
                && !instrument_class::is_sensor_by_class(self.drawing, from)
        };
        self.role(node).closes() || topology.flow_degree(node) > 0 && arcs.any(is_actuating)
    }

    /// Returns whether an instrument is the starter of a motor that is not drawn.
    fn is_starter(&self, node: NodeId) -> bool {
        self.is_instrument(node) && instrument_class::is_driven(self.drawing, node)
    }

    fn is_sensor(&self, node: NodeId) -> bool {
        instrument_class::senses(self.drawing, node)
            || self.is_switch(node)
            || instrument_class::senses_at_location(self.drawing, node)
            || position_feedback::is_position(self.drawing, node) && !self.is_fed(node)
    }

    /// Returns whether an instrument is a switch that measures by itself, since no other instrument feeds it.
    fn is_switch(&self, node: NodeId) -> bool {
        let Some(tag) = self.drawing.tag(node).and_then(Tag::parse_letters) else { return false };
        let (modifier, functions) = tag.split();
        let switches = functions.contains(&'S') || modifier == Some('Z') && !functions.contains(&'V');
        let measures = || tag.measures() || instrument_class::is_unclassified_switch(self.drawing, node);
        let is_other = || {
            instrument_class::is_hand_switch_by_class(self.drawing, node)
                || instrument_class::is_no_switch(self.drawing, node)
        };
        switches && measures() && !is_other() && !self.is_fed(node)
    }

    /// Returns whether another instrument feeds a node. A signal without a direction leads from an instrument that
    /// measures.
    fn is_fed(&self, node: NodeId) -> bool {
        let topology = &self.drawing.topology;
        let mut arcs = topology.table(EdgeFilter::All, Direction::Up).arcs(node);
        arcs.any(|(from, edge)| {
            let flags = topology.edge_flags[edge as usize];
            let measures = || instrument_class::loop_function(self.drawing, from) == LoopFunction::Measures;
            let leads_here = !flags.contains(EdgeFlags::UNDIRECTED) || measures();
            flags.contains(EdgeFlags::SIGNAL) && self.is_instrument(from) && leads_here
        })
    }

    /// Returns whether a node may act on functions of other loops: it is not only a source of signals.
    fn is_acting(&self, node: NodeId) -> bool {
        match instrument_class::loop_function(self.drawing, node) {
            LoopFunction::Acts => true,
            LoopFunction::Measures => false,
            LoopFunction::Unknown => !instrument_class::senses(self.drawing, node),
        }
    }

    /// Returns the sensors among the members of the loop, and its functions. Ascending. One bubble may sense and control.
    fn own_instruments(&self, final_elements: &[NodeId], charge: ChargeFn<'_>) -> Result<(Vec<NodeId>, Vec<NodeId>)> {
        let is_function = |node: &NodeId| self.is_instrument(*node) && final_elements.binary_search(node).is_err();
        let instruments: Vec<NodeId> = self.found.members.iter().copied().filter(is_function).collect();
        charge(instruments.iter().map(|node| self.degree(*node)).sum())?;
        let (sensors, mut functions): (Vec<NodeId>, Vec<NodeId>) =
            instruments.iter().partition(|node| self.is_sensor(**node));
        functions.extend(sensors.iter().filter(|node| controls(self.drawing, **node)));
        functions.sort_unstable();
        Ok((sensors, functions))
    }

    /// Returns whether a function is a bubble that may stand for the measurement too.
    fn is_bubble(&self, node: NodeId) -> bool {
        self.drawing.class_has_word(node, vocabulary::BUBBLES) && instrument_class::may_sense(self.drawing, node)
    }

    /// Returns those of some items that are members of other loops only. Ascending.
    fn shared(&self, items: impl Iterator<Item = NodeId>) -> Vec<NodeId> {
        let mut shared: Vec<NodeId> = items.filter(|node| self.is_in_other_loop(*node)).collect();
        shared.sort_unstable();
        shared.dedup();
        shared
    }

    /// Returns how signals lead along a path, and the functions and other items that they pass.
    fn signals_between(
        &self,
        path: &connection::Path<'_>,
        functions: &[NodeId],
        others: &[NodeId],
        charge: ChargeFn<'_>,
    ) -> Result<(Connection, Vec<NodeId>)> {
        let mut between: Vec<NodeId> = functions.iter().chain(others).copied().collect();
        let items = self.found.members.iter().chain(others).copied();
        let connection = path.connection(self.drawing, items, charge)?;
        // An item that only shows what the loop does takes nothing from it.
        if connection != Connection::None {
            let dead_ends = path.dead_ends(self.drawing, &between, charge)?;
            between.retain(|node| !dead_ends.contains(node));
        }
        Ok((connection, between))
    }

    /// Returns the reasons for which the drawing does not state what the loop with some parts does.
    fn uncertainties(
        &self,
        parts: &LoopParts,
        uncertainties: EffectUncertainties,
        charge: ChargeFn<'_>,
    ) -> Result<Uncertainties> {
        let LoopParts { sensors, final_elements, between, .. } = parts;
        let (drawing, is_connected) = (self.drawing, parts.connection != Connection::None);
        let ends = || sensors.iter().chain(final_elements).copied();
        let voting = self.found.node.into_iter().chain(sensors.iter().chain(between).copied());
        charge(between.iter().map(|node| self.degree(*node)).sum())?;
        Ok(Uncertainties {
            has_absent_signal: has_absent_signal(drawing, parts.items().copied(), charge)?,
            // A loop that is not closed is known to be open, whatever has no signal.
            has_part_by_number: is_connected && has_part_without_signal(drawing, ends(), charge)?,
            has_unknown_class: uncertainties.acts_on_unknown
                || between.iter().any(|node| signals::is_of_unknown_class(drawing, *node)),
            has_part_by_field: uncertainties.has_part_by_field,
            has_air_shut_off: self.is_protective() && air_supply::is_any_shut_off(drawing, between, charge)?,
            has_shut_off_sensor: self.is_protective() && has_shut_off(drawing, sensors, charge)?,
            lacks_voters: self.is_protective() && voting::lacks_voters(drawing, voting, sensors, charge)?,
            has_unclear_gate: self.is_protective()
                && between.iter().any(|node| gates::uncertainty(drawing, *node).is_some()),
            has_other_effect: self.is_protective()
                && is_any_effect_other(drawing, sensors, between, final_elements, charge)?,
            has_unknown_source: self.is_protective() && has_unknown_source(drawing, sensors, charge)?,
            has_unknown_edge: !is_connected && has_unknown_edge(drawing, &self.found.members, charge)?,
        })
    }

    /// Returns the final elements that are members or that members act on, and the instruments of other loops between.
    fn final_elements(&self, charge: ChargeFn<'_>) -> Result<Effects> {
        let members = &self.found.members;
        let mut seen: HashSet<NodeId> = members.iter().copied().collect();
        charge(members.iter().map(|node| self.degree(*node)).sum())?;
        let (mut final_elements, members): (Vec<NodeId>, Vec<NodeId>) =
            members.iter().partition(|node| self.is_final(**node) || self.is_starter(**node));
        let mut queue: Vec<(NodeId, u32)> = members.iter().map(|member| (*member, 0)).collect();
        let mut passed = Vec::new();
        let mut leaves_sheet = false;
        let mut acts_on_unknown = false;
        let mut at = 0;
        while let Some((node, depth)) = queue.get(at).copied() {
            at += 1;
            if depth == MAX_STEPS {
                continue;
            }
            for (next, flags) in signals::successors(self.drawing, node, charge)? {
                if seen.contains(&next) {
                    continue;
                }
                charge(1 + self.degree(next))?;
                leaves_sheet |= self.is_end_of_sheet(next);
                acts_on_unknown |= flags.contains(EdgeFlags::SIGNAL) && self.acts_on_unknown(node, next);
                match self.reached(node, next, flags) {
                    Some(Reached::FinalElement) => final_elements.push(next),
                    Some(Reached::Path) => {
                        queue.push((next, depth + 1));
                        passed.push(next);
                    }
                    None => continue,
                }
                seen.insert(next);
            }
        }
        let by_field = self.named_elements(members.iter().chain(&passed), &seen, charge)?;
        let has_part_by_field = !by_field.is_empty();
        final_elements.extend(by_field);
        final_elements.sort_unstable();
        Ok(Effects {
            final_elements,
            passed,
            leaves_sheet,
            uncertainties: EffectUncertainties { acts_on_unknown, has_part_by_field },
        })
    }

    /// Returns the valves and machines of a trip that only fields of them or of its instruments name.
    fn named_elements<'n>(
        &self,
        items: impl Iterator<Item = &'n NodeId>,
        seen: &HashSet<NodeId>,
        charge: ChargeFn<'_>,
    ) -> Result<Vec<NodeId>> {
        let mut named = Vec::new();
        for item in items.filter(|_| self.is_protective()) {
            let targets = self.loops.named.targets(*item);
            charge(1 + targets.len() as u64)?;
            named.extend(targets.iter().copied().filter(|target| !seen.contains(target)));
        }
        named.sort_unstable();
        named.dedup();
        Ok(named)
    }

    /// Returns whether a function sends a signal to an item of unknown class in a pipe, which may be what it moves, or logic to
    /// equipment without a drive, on which its effect is not stated.
    fn acts_on_unknown(&self, node: NodeId, next: NodeId) -> bool {
        let is_equipment = || {
            self.is_protective()
                && self.drawing.topology.roles[next as usize] == Role::Equipment
                && !instrument_class::is_driven(self.drawing, next)
                && instrument_class::stage(self.drawing, node) == instrument_class::Stage::Logic
        };
        instrument_class::loop_function(self.drawing, node) == LoopFunction::Acts
            && (signals::is_unknown_target(self.drawing, next) || is_equipment())
            && !self.is_final(next)
    }

    /// Returns whether a signal continues at a connector on another sheet, which is not joined.
    fn is_end_of_sheet(&self, node: NodeId) -> bool {
        self.role(node) == Role::OffPage && !self.drawing.topology.is_joined(node)
    }

    /// Returns what an edge from a node reaches.
    fn reached(&self, node: NodeId, next: NodeId, flags: EdgeFlags) -> Option<Reached> {
        let topology = &self.drawing.topology;
        if self.is_final(next) {
            return self.moves(node, next).then_some(Reached::FinalElement);
        }
        let function = instrument_class::loop_function(self.drawing, node);
        if flags.contains(EdgeFlags::SIGNAL) && instrument_class::is_driven(self.drawing, next) {
            return (function == LoopFunction::Acts).then_some(Reached::FinalElement);
        }
        let has_no_line = || {
            topology.flow_degree(next) == 0
                || air_lines::is_part(self.drawing, next)
                || signals::sends_to_valve(self.drawing, next)
        };
        let is_in_signal_path = matches!(self.role(next), Role::Instrument | Role::None) && has_no_line();
        (is_in_signal_path && self.leads_on(node, next)).then_some(Reached::Path)
    }

    /// Returns whether a node moves a final element that it has a signal to. What only shows or reports does not; a
    /// transmitter without a function does, if no other loop has the valve.
    fn moves(&self, node: NodeId, valve: NodeId) -> bool {
        if instrument_class::loop_function(self.drawing, node) != LoopFunction::Measures {
            return true;
        }
        let is_position = instrument_class::has_position_letters(self.drawing, node);
        let transmits = self.is_protective() || instrument_class::is_transmitter(self.drawing, node);
        transmits && !is_position && self.role(valve) == Role::Control && !self.is_in_other_loop(valve)
    }

    /// Returns whether a signal between instruments leads on to final elements of this loop. Functions do not act on
    /// sensors, sensors not on the functions of other loops, and control loops not on trips. A trip may act through the
    /// functions of other loops, and a hand switch may start it.
    fn leads_on(&self, node: NodeId, next: NodeId) -> bool {
        let is_sensor = |node: NodeId| instrument_class::loop_function(self.drawing, node) == LoopFunction::Measures;
        if self.is_instrument(next) && !is_sensor(node) && (is_sensor(next) || self.is_switch(next)) {
            return false;
        }
        if !self.is_in_other_loop(next) {
            return true;
        }
        match (self.is_protective(), self.loops.is_protective(next)) {
            (true, true) => true,
            (false, true) => instrument_class::is_by_hand(self.drawing, node),
            (_, false) => self.is_acting(node),
        }
    }

    /// Returns the own sensors and those that feed the functions, and the functions of other loops between. Converters
    /// without a loop are passed, functions of other loops only by trips and displays: the sensor of the primary loop of
    /// a cascade is not one of the secondary loop. A loop without a sensor of its own, such as a selector that two
    /// controllers feed, has those of the loops that feed it.
    fn sensors(
        &self,
        own_sensors: Vec<NodeId>,
        functions: &[NodeId],
        passed: &[NodeId],
        charge: ChargeFn<'_>,
    ) -> Result<Causes> {
        let causes = self.causes(own_sensors, functions, passed, false, charge)?;
        let is_manual = || functions.iter().any(|node| instrument_class::is_by_hand(self.drawing, *node));
        if !causes.sensors.is_empty() || self.is_protective() || is_manual() {
            return Ok(causes);
        }
        self.causes(Vec::new(), functions, passed, true, charge)
    }

    /// Returns the same; with `crosses` through the functions of one other loop.
    fn causes(
        &self,
        own_sensors: Vec<NodeId>,
        functions: &[NodeId],
        passed: &[NodeId],
        crosses: bool,
        charge: ChargeFn<'_>,
    ) -> Result<Causes> {
        let topology = &self.drawing.topology;
        let mut sensors = own_sensors;
        let mut sources = Vec::new();
        let (mut enters_sheet, mut has_unknown_source) = (false, false);
        let mut seen: HashSet<NodeId> = self.found.members.iter().copied().collect();
        // What else moves the same valve feeds no function of this loop.
        let is_own = |node: &&NodeId| {
            self.loops.of_member(**node).is_empty()
                && !self.is_actuator(**node)
                && !instrument_class::is_motor_starter(self.drawing, **node)
        };
        let own_path = passed.iter().filter(is_own);
        let on_path = own_path.map(|node| (*node, 0, true));
        let mut queue: Vec<(NodeId, u32, bool)> =
            functions.iter().map(|node| (*node, 0, false)).chain(on_path).collect();
        let mut at = 0;
        while let Some((node, crossed, is_on_path)) = queue.get(at).copied() {
            at += 1;
            let table = topology.table(EdgeFilter::All, Direction::Up);
            charge(1 + table.degree(node) as u64)?;
            let signals =
                table.arcs(node).filter(|(_, edge)| topology.edge_flags[*edge as usize].contains(EdgeFlags::SIGNAL));
            for (source, _) in signals {
                enters_sheet |= self.is_end_of_sheet(source);
                charge(1 + self.degree(source))?;
                has_unknown_source |= signals::is_unknown_source(self.drawing, source);
                if !self.is_instrument(source) || !seen.insert(source) {
                    continue;
                }
                charge(1 + self.degree(source))?;
                if self.is_sensor(source) {
                    sensors.push(source);
                    continue;
                }
                // Behind its functions, another loop acts on the same final element.
                let is_other_cause = is_on_path && self.is_in_other_loop(source);
                let crossings = self.crossings(node, source, crossed, crosses).filter(|_| !is_other_cause);
                if let Some(crossed) = crossings {
                    queue.push((source, crossed, is_on_path));
                    sources.push(source);
                }
            }
        }
        sensors.sort_unstable();
        Ok(Causes { sensors, sources, enters_sheet, has_unknown_source })
    }

    /// Returns whether an item moves a valve for all functions that act on it, unlike the part of one function for it.
    fn is_actuator(&self, node: NodeId) -> bool {
        self.drawing.class_has(node, vocabulary::ACTUATORS) && !self.drawing.class_has(node, &["actuating_function"])
    }

    /// Returns the sensors without those that report the position of a final element.
    fn without_feedback(
        &self,
        sensors: Vec<NodeId>,
        final_elements: &[NodeId],
        charge: ChargeFn<'_>,
    ) -> Result<Vec<NodeId>> {
        let mut initiators = Vec::with_capacity(sensors.len());
        let mut unknown = Vec::new();
        for node in sensors {
            match position_feedback::of(self.drawing, node, final_elements, charge)? {
                Feedback::No => initiators.push(node),
                Feedback::Unknown => unknown.push(node),
                Feedback::Yes => {}
            }
        }
        Ok(if initiators.is_empty() { unknown } else { initiators })
    }

    /// Returns the hand switches that start a trip.
    fn hand_switches(&self, sources: &[NodeId], charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
        if !self.is_protective() {
            return Ok(Vec::new());
        }
        charge((self.found.members.len() + sources.len()) as u64)?;
        let nodes = self.found.members.iter().chain(sources).copied();
        let mut switches: Vec<NodeId> =
            nodes.filter(|node| instrument_class::is_hand_switch(self.drawing, *node)).collect();
        switches.sort_unstable();
        switches.dedup();
        Ok(switches)
    }

    /// Returns the number of functions of other loops passed on the way back to a source; `None` if it is not passed.
    fn crossings(&self, node: NodeId, source: NodeId, crossed: u32, crosses: bool) -> Option<u32> {
        if !self.is_in_other_loop(source) || self.is_protective() && self.loops.is_protective(source) {
            return Some(crossed);
        }
        let is_display = instrument_class::loop_function(self.drawing, node) == LoopFunction::Measures;
        (crossed == 0 && (self.is_protective() || is_display || crosses && !self.loops.is_protective(source)))
            .then_some(1)
    }
}

/// Returns the row of the loop at an index.
fn row<'a>(drawing: &Drawing<'a>, loops: &Loops, at: usize, charge: ChargeFn<'_>) -> Result<Vec<Datum<'a>>> {
    let topology = &drawing.topology;
    let found = &loops.list[at];
    charge(1 + found.members.len() as u64)?;
    let parts = LoopParts::find(drawing, loops, at, charge)?;
    let points = sensing_points(drawing, &parts.sensors, charge)?;
    let signals = signals(drawing, found, &parts, charge)?;
    let edges = parts
        .final_elements
        .iter()
        .flat_map(|node| topology.table(EdgeFilter::Flow, Direction::Both).edges(*node).iter().copied());
    let lines = pipe_lines::lines_of(drawing, edges);
    let fail_action = fail_action_of_all(drawing, &parts.final_elements, charge)?;
    let (kind, is_stated) = kind(drawing, found, &parts);
    let (closed, gap) = (parts.closed(), parts.gap());
    charge((parts.sensors.len() + parts.final_elements.len() + parts.between.len()) as u64)?;
    let (shown_sensors, shown_functions) =
        (instruments_of(drawing, &parts.sensors, charge)?, parts.instruments_of_functions(drawing, charge)?);
    let are_stated = parts.are_stated(drawing, found.protection);
    Ok(vec![
        Datum::String(found.name.clone()),
        Datum::node(found.node),
        kind.map_or(Datum::Null, Datum::Word),
        Datum::Bool(is_stated && closed.is_some() && are_stated),
        Datum::Nodes(found.members.clone()),
        Datum::Nodes(shown_sensors),
        Datum::Nodes(points),
        Datum::Nodes(shown_functions),
        Datum::Edges(signals),
        Datum::Nodes(parts.final_elements),
        shared_rows(loops, &parts.shared),
        Datum::strings(lines),
        fail_action,
        closed.map_or(Datum::Null, Datum::Bool),
        gap.map_or(Datum::Null, |gap| Datum::Word(gap.word())),
    ])
}

/// Returns the fail positions of final elements: the value if all that state one state the same, else their texts.
fn fail_action_of_all<'a>(drawing: &Drawing<'a>, nodes: &[NodeId], charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    let mut first = None;
    let mut texts: Vec<String> = Vec::new();
    for node in nodes.iter().copied() {
        let Some(value) = fail_action::stated(drawing, node, charge)? else { continue };
        let text = convert::to_text(value);
        if !texts.contains(&text) {
            texts.push(text);
        }
        first = first.or(Some(value));
    }
    Ok(if texts.len() > 1 { Datum::String(texts.join(", ")) } else { Datum::value(first) })
}

/// Returns shared items with the loops that have them.
fn shared_rows<'a>(loops: &Loops, shared: &[NodeId]) -> Datum<'a> {
    const SHARED: &[&str] = &["item", "loop"];
    let row = |node: NodeId, at: &usize| vec![Datum::Node(node), Datum::String(loops.list[*at].name.clone())];
    let rows = shared.iter().flat_map(|node| loops.of_member(*node).iter().map(|at| row(*node, at)));
    Datum::Table(SHARED, rows.collect())
}

/// Returns all loops as rows.
pub(crate) fn rows<'a>(drawing: &Drawing<'a>, loops: &Loops, charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    let mut rows = Vec::with_capacity(loops.list.len());
    for at in 0..loops.list.len() {
        rows.push(row(drawing, loops, at, charge)?);
    }
    Ok(Datum::Table(LOOP, rows))
}

/// Returns the loop at an index as a record.
pub(crate) fn record<'a>(drawing: &Drawing<'a>, loops: &Loops, at: usize, charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    Ok(Datum::Record(LOOP, row(drawing, loops, at, charge)?))
}

/// Returns the sensing points: the locations of sensors, the sources of their signals other than instruments, and the
/// items at their pipes. If there are none, the process items that the sensors have a signal to: some drawings draw
/// them from the instrument to the process. A transmitter without one has those of the elements that feed it.
pub(crate) fn sensing_points(drawing: &Drawing<'_>, sensors: &[NodeId], charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    let has_flag = |edge: EdgeId, flag: EdgeFlags| topology.edge_flags[edge as usize].contains(flag);
    let mut points = Vec::new();
    // The measuring function of a transmitter has the location.
    let mut places = sensors.to_vec();
    for sensor in sensors {
        places.extend(instrument_parts::parts(drawing, *sensor, charge)?);
    }
    let mut at = 0;
    while let Some(sensor) = places.get(at).copied() {
        at += 1;
        charge(1 + topology.table(EdgeFilter::All, Direction::Both).degree(sensor) as u64)?;
        let down = || topology.table(EdgeFilter::All, Direction::Down).arcs(sensor);
        let located = down().filter(|(_, edge)| has_flag(*edge, EdgeFlags::ZONE));
        let feeding = || {
            let up = topology.table(EdgeFilter::All, Direction::Up).arcs(sensor);
            up.filter(|(_, edge)| has_flag(*edge, EdgeFlags::SIGNAL))
        };
        let is_instrument = |node: NodeId| topology.roles[node as usize] == Role::Instrument;
        let tapped = feeding().filter(|(node, _)| !is_instrument(*node));
        let piped = topology.table(EdgeFilter::Flow, Direction::Both).arcs(sensor);
        let before = points.len();
        points.extend(located.chain(tapped).chain(piped).map(|(node, _)| node));
        if points.len() == before {
            let drawn_backward = down().filter(|(node, edge)| {
                has_flag(*edge, EdgeFlags::SIGNAL) && instrument_class::is_process(drawing, *node)
            });
            points.extend(drawn_backward.map(|(node, _)| node));
        }
        if points.len() == before && at <= sensors.len() {
            let is_element = |node: NodeId| is_instrument(node) && instrument_class::is_transmitter(drawing, node);
            let elements = feeding().map(|(node, _)| node).filter(|node| is_element(*node) && !places.contains(node));
            let elements: Vec<NodeId> = elements.collect();
            charge(elements.len() as u64)?;
            places.extend(elements);
        }
    }
    points.sort_unstable();
    points.dedup();
    Ok(points)
}

/// Returns the signals between the parts of a loop, from the sensor on.
fn signals(drawing: &Drawing<'_>, found: &Loop, parts: &LoopParts, charge: ChargeFn<'_>) -> Result<Vec<EdgeId>> {
    let topology = &drawing.topology;
    let used = parts.sensors.iter().chain(&parts.final_elements).chain(&parts.shared);
    let items: HashSet<NodeId> = found.members.iter().chain(used).copied().collect();
    let table = topology.table(EdgeFilter::All, Direction::Down);
    let mut edges = Vec::new();
    for item in &items {
        charge(1 + table.degree(*item) as u64)?;
        let signal_arcs = table.arcs(*item).filter(|(next, edge)| {
            items.contains(next) && topology.edge_flags[*edge as usize].contains(EdgeFlags::SIGNAL)
        });
        edges.extend(signal_arcs.map(|(_, edge)| edge));
    }
    edges.sort_unstable();
    edges.dedup();
    let order = pipe_lines::flow_order(drawing, &edges, &[], charge)?;
    let position: HashMap<NodeId, usize> = order.iter().copied().zip(0..).collect();
    edges.sort_by_key(|edge| position.get(&topology.flow_ends(*edge)[0]).copied());
    Ok(edges)
}

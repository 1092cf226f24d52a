//! Cause-and-effect table: the final elements that each initiator acts on, along its signals.
//!
//! Signals are followed in their direction only. A signal without a direction, one that leaves or enters the sheet, an
//! edge of unknown kind and a signal whose end does not say what it acts on are listed instead.

use hashbrown::{HashMap, HashSet};

use super::{hand_switches, trips};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::pid::instrument_class::parts::instrument_of;
use crate::pid::instrument_class::{self, air_lines};
use crate::pid::loop_parts::voting::{may_not_be_met, stated_voting};
use crate::pid::loop_parts::{air_supply, gates, root_valves};
use crate::pid::loops::position_feedback::{self, Feedback};
use crate::pid::loops::{NamedParts, interlock_symbols, protection, signals};
use crate::pid::tag::Tag;
use crate::pid::valve_state::out_of_action::{is_out_of_action, signal_may_not_act};
use crate::pid::valve_state::pipes::{PipeState, pipe_state};
use crate::pid::valve_state::trip_effects::has_other_effect;
use crate::pid::valve_state::unread_texts::has_doubtful_text;
use crate::pid::valve_state::{fail_action, installation};
use crate::pid::{Budget, ChargeFn, Datum, push_row};
use crate::value::convert;

const RESULT: &[&str] = &["links", "matrix", "alarms", "without_effect", "without_cause", "not_followed"];
const LINK: &[&str] =
    &["initiator", "final_element", "kind", "effect", "fail_action", "voting", "trip_item", "basis", "path", "signals"];
/// Effect of a link to an alarm.
const ALARM: &str = "alarm";
const NOT_FOLLOWED: &[&str] = &["item", "edge", "reason"];

/// Returns the cause-and-effect table: links through trips and interlocks, or with `all` also those of control loops.
pub(crate) fn cause_and_effect<'a>(drawing: &Drawing<'a>, all: bool, budget: &mut dyn Budget) -> Result<Datum<'a>> {
    let mut report = Report::new(drawing, all, budget)?;
    report.find_links(budget)?;
    report.list_unmet_votings(budget)?;
    report.list_named(budget)?;
    report.list_other_sheets(budget)?;
    report.list_unknown_kinds(budget)?;
    report.list_dangling(budget)?;
    report.into_datum(budget)
}

/// A step along the signals of an initiator.
#[derive(Clone)]
struct Step {
    node: NodeId,
    /// True if the node or one before it is part of a trip.
    is_trip: bool,
    /// Index of the step before; `NONE` at the start.
    from: u32,
    via: EdgeId,
    effect: Option<&'static str>,
    /// True for a controller, and for the actuator by which it moves a valve.
    is_control: bool,
}

/// The steps that an initiator leads to, all of them or those behind one of its switches.
struct Walk {
    /// The switch.
    cause: Option<NodeId>,
    steps: Vec<Step>,
}

impl Walk {
    /// Returns the valves and machines that the walk acts on. Ascending.
    fn effects(&self) -> Vec<NodeId> {
        let acting = self.steps.iter().filter(|step| step.effect.is_some_and(|effect| effect != ALARM));
        let mut found: Vec<NodeId> = acting.map(|step| step.node).collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Returns the steps from the first one to one of them.
fn path_to(steps: &[Step], end: usize) -> Vec<Step> {
    let mut path = Vec::new();
    let mut at = end as u32;
    while let Some(step) = steps.get(at as usize) {
        path.push(step.clone());
        at = step.from;
    }
    path.reverse();
    for (at, step) in path.iter_mut().enumerate() {
        step.from = (at as u32).checked_sub(1).unwrap_or(NONE);
    }
    path
}

/// A link from an initiator to a final element.
struct Link<'a> {
    initiator: NodeId,
    /// The switch that acts, of an initiator whose switches have different effects.
    cause: Option<NodeId>,
    final_element: NodeId,
    is_trip: bool,
    voting: Option<String>,
    row: Vec<Datum<'a>>,
}

/// A report in progress.
struct Report<'d, 'a> {
    drawing: &'d Drawing<'a>,
    all: bool,
    named: NamedParts,
    /// By node: the reason for which it is part of a trip.
    trip_reasons: Vec<Option<&'static str>>,
    voting: HashMap<NodeId, Option<String>>,
    /// By item of a link that states a voting: the initiators whose links pass it.
    voters: HashMap<NodeId, Vec<NodeId>>,
    links: Vec<Link<'a>>,
    /// Links to alarms: an alarm does not stop anything by itself.
    alarms: Vec<Link<'a>>,
    without_effect: Vec<NodeId>,
    /// Final elements of any link, and nodes that some initiator reaches.
    effects: HashSet<NodeId>,
    reached: HashSet<NodeId>,
    not_followed: Vec<(NodeId, EdgeId, &'static str)>,
    seen_not_followed: HashSet<(NodeId, EdgeId)>,
}

impl<'d, 'a> Report<'d, 'a> {
    fn new(drawing: &'d Drawing<'a>, all: bool, budget: &mut dyn Budget) -> Result<Report<'d, 'a>> {
        let count = drawing.topology.node_count();
        budget.charge(4 * count as u64)?;
        // The walk of one initiator visits a node at most three times; its memory is used again for the next one.
        budget.reserve(count * (size_of::<Option<&str>>() + 4 * size_of::<Step>()))?;
        Ok(Report {
            drawing,
            all,
            named: NamedParts::find(drawing, &mut |units| budget.charge(units))?,
            trip_reasons: (0..count as u32).map(|node| trips::trip_reason(drawing, node)).collect(),
            voting: HashMap::new(),
            voters: HashMap::new(),
            links: Vec::new(),
            alarms: Vec::new(),
            without_effect: Vec::new(),
            effects: HashSet::new(),
            reached: HashSet::new(),
            not_followed: Vec::new(),
            seen_not_followed: HashSet::new(),
        })
    }

    /// Finds the links of all initiators: sensors and hand switches without an earlier sensor; then candidates that
    /// none of these reaches, such as a bubble `LZAHH` that stands for the measurement too.
    fn find_links(&mut self, budget: &mut dyn Budget) -> Result<()> {
        let drawing = self.drawing;
        let is_instrument = |node: &NodeId| drawing.topology.roles[*node as usize] == Role::Instrument;
        let mut sensors = Vec::new();
        let mut others = Vec::new();
        for node in (0..drawing.topology.node_count() as u32).filter(is_instrument) {
            budget.charge(1 + drawing.topology.table(EdgeFilter::All, Direction::Up).degree(node) as u64)?;
            let is_hand = instrument_class::is_hand_switch(drawing, node);
            if hand_switches::starts_no_trip(drawing, node) {
                self.add_not_followed(node, NONE, "effect_not_stated", budget)?;
                continue;
            }
            let is_sensor = instrument_class::senses(drawing, node);
            if is_hand || is_sensor && !self.has_sensor_before(node, budget)? {
                sensors.push(node);
            } else if is_sensor || trips::is_switch(drawing, node) || stands_for_sensor(drawing, node) {
                others.push(node);
            }
        }
        for node in sensors {
            self.add_initiator(node, budget)?;
        }
        for node in others {
            if !self.reached.contains(&node) {
                self.add_initiator(node, budget)?;
            }
        }
        self.list_unknown_sources(budget)?;
        // A transmitter with several measuring functions is one initiator.
        for links in [&mut self.links, &mut self.alarms] {
            links.sort_by_key(|link| (link.initiator, link.cause, link.final_element, !link.is_trip));
            links.dedup_by_key(|link| (link.initiator, link.cause, link.final_element));
        }
        self.without_effect.sort_unstable();
        self.without_effect.dedup();
        Ok(())
    }

    /// Lists the items that start a trip by their signals, and that no class, tag or text describes.
    fn list_unknown_sources(&mut self, budget: &mut dyn Budget) -> Result<()> {
        let table = self.drawing.topology.table(EdgeFilter::All, Direction::Both);
        for node in 0..self.drawing.topology.node_count() as u32 {
            budget.charge(1 + table.degree(node) as u64)?;
            if self.reached.contains(&node) || !signals::is_unknown_source(self.drawing, node) {
                continue;
            }
            let steps = self.follow(node, budget)?;
            let tag = self.drawing.tag(node).and_then(Tag::parse_letters);
            let is_trip = self.all || tag.is_some_and(|tag| trips::has_trip_letter(&tag));
            if steps.iter().any(|step| step.effect.is_some() && (is_trip || step.is_trip)) {
                self.add_not_followed(node, NONE, "unknown_class", budget)?;
            }
        }
        Ok(())
    }

    fn has_sensor_before(&self, node: NodeId, budget: &mut dyn Budget) -> Result<bool> {
        let topology = &self.drawing.topology;
        for (before, edge) in topology.table(EdgeFilter::All, Direction::Up).arcs(node) {
            budget.charge(1 + topology.table(EdgeFilter::All, Direction::Up).degree(before) as u64)?;
            let is_signal = self.is_signal(edge) && !topology.is_assumed(edge) && before != node;
            let is_instrument = topology.roles[before as usize] == Role::Instrument;
            if is_signal && is_instrument && instrument_class::senses(self.drawing, before) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether an edge is a signal or leads from an actuator to its valve. The location of a sensor is neither.
    fn is_signal(&self, edge: EdgeId) -> bool {
        let flags = self.drawing.topology.edge_flags[edge as usize];
        !flags.contains(EdgeFlags::ZONE)
            && !flags.contains(EdgeFlags::FLOW)
            && (flags.contains(EdgeFlags::SIGNAL) || flags.contains(EdgeFlags::ACTUATES))
    }

    fn add_initiator(&mut self, initiator: NodeId, budget: &mut dyn Budget) -> Result<()> {
        let walks = self.walks(initiator, budget)?;
        let steps = || walks.iter().flat_map(|walk| &walk.steps);
        self.reached.extend(steps().map(|step| step.node));
        let mut final_elements: Vec<NodeId> =
            steps().filter(|step| step.effect.is_some()).map(|step| step.node).collect();
        final_elements.sort_unstable();
        final_elements.dedup();
        let charge: ChargeFn<'_> = &mut |units| budget.charge(units);
        // The limit switch of a valve reports what the trip did.
        if position_feedback::of(self.drawing, initiator, &final_elements, charge)? == Feedback::Yes {
            return Ok(());
        }
        self.effects.extend(final_elements);
        let acts = |step: &Step| step.effect.is_some_and(|effect| effect != ALARM);
        if !steps().any(acts) && (self.all || steps().any(|step| step.is_trip)) {
            self.without_effect.push(instrument_of(self.drawing, initiator, &mut |units| budget.charge(units))?);
        }
        let is_linked = steps().any(|step| step.effect.is_some() && (self.all || step.is_trip));
        if is_linked
            && let Some(valve) = root_valves::shut_off_at(self.drawing, initiator, &mut |units| budget.charge(units))?
        {
            self.add_not_followed(valve, NONE, "sensor_shut_off", budget)?;
        }
        walks.iter().try_for_each(|walk| self.add_links(walk, budget))
    }

    /// Adds the links of a walk: one to each final element, by a trip if there is one.
    fn add_links(&mut self, walk: &Walk, budget: &mut dyn Budget) -> Result<()> {
        let steps = &walk.steps;
        let mut best: HashMap<NodeId, usize> = HashMap::new();
        for (at, step) in steps.iter().enumerate().filter(|(_, step)| step.effect.is_some()) {
            let known = best.entry(step.node).or_insert(at);
            if step.is_trip && !steps[*known].is_trip {
                *known = at;
            }
        }
        let mut ends: Vec<usize> = best.into_values().collect();
        ends.sort_unstable();
        for at in ends.into_iter().filter(|at| self.all || steps[*at].is_trip).collect::<Vec<_>>() {
            self.list_absent(steps, at, budget)?;
            let link = Link { cause: walk.cause, ..self.link(steps, at, budget)? };
            budget.reserve(size_of::<Link<'_>>() + link.row.iter().map(Datum::size).sum::<usize>())?;
            let links = if steps[at].effect == Some(ALARM) { &mut self.alarms } else { &mut self.links };
            links.push(link);
        }
        Ok(())
    }

    /// Follows the signals of an initiator: by themselves, or if its switches have different effects, those of each switch
    /// and what no switch does.
    fn walks(&mut self, initiator: NodeId, budget: &mut dyn Budget) -> Result<Vec<Walk>> {
        let steps = self.follow(initiator, budget)?;
        let switches = self.switches_in(&steps);
        if switches.len() < 2 {
            return Ok(vec![Walk { cause: None, steps }]);
        }
        let mut walks = Vec::with_capacity(switches.len() + 1);
        for switch in &switches {
            let walk = self.follow_from(path_to(&steps, *switch), &[], budget)?;
            budget.reserve(walk.len() * size_of::<Step>())?;
            walks.push(Walk { cause: Some(steps[*switch].node), steps: walk });
        }
        let effects = walks.iter().map(Walk::effects).filter(|effects| !effects.is_empty());
        if effects.collect::<HashSet<_>>().len() < 2 {
            return Ok(vec![Walk { cause: None, steps }]);
        }
        let nodes: Vec<NodeId> = switches.iter().map(|switch| steps[*switch].node).collect();
        let others = self.follow_from(steps[..1].to_vec(), &nodes, budget)?;
        walks.push(Walk { cause: None, steps: others });
        Ok(walks)
    }

    /// Returns the steps to the first switches behind an initiator that is none itself, one for each switch.
    fn switches_in(&self, steps: &[Step]) -> Vec<usize> {
        let mut is_behind = vec![false; steps.len()];
        let mut found: Vec<usize> = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            let is_switch = self.switches_at_limit(step.node);
            is_behind[at] = is_switch || is_behind.get(step.from as usize).copied().unwrap_or_default();
            let is_first = is_switch && !is_behind.get(step.from as usize).copied().unwrap_or_default();
            if is_first && !found.iter().any(|known| steps[*known].node == step.node) {
                found.push(at);
            }
        }
        if found.first() == Some(&0) { Vec::new() } else { found }
    }

    /// Returns whether an instrument switches at a limit of what it measures: `LSHH`, `LZLL`.
    fn switches_at_limit(&self, node: NodeId) -> bool {
        let is_limit = |tag: Tag| {
            tag.measures()
                && trips::has_trip_letter(&tag)
                && tag.split().1.iter().any(|letter| matches!(letter, 'H' | 'L'))
        };
        self.drawing.topology.roles[node as usize] == Role::Instrument
            && !instrument_class::is_hand_switch(self.drawing, node)
            && !instrument_class::is_no_switch(self.drawing, node)
            && self.drawing.tag(node).and_then(Tag::parse_letters).is_some_and(is_limit)
    }

    /// Lists the items of a link that may not be there, may not pass a signal on or do not act, and its signals that may not be
    /// there, from its final element to its initiator.
    fn list_absent(&mut self, steps: &[Step], end: usize, budget: &mut dyn Budget) -> Result<()> {
        let mut at = end as u32;
        let final_element = steps[end].node;
        while let Some(Step { node, from, via, .. }) = steps.get(at as usize) {
            budget.charge(1)?;
            if let Some(before) = steps.get(*from as usize).filter(|_| *via != NONE)
                && has_other_effect(self.drawing, [before.node, *node], Some(*via), &[final_element], &mut |units| {
                    budget.charge(units)
                })?
            {
                self.add_not_followed(*node, *via, "other_effect", budget)?;
            }
            let unknown = || signals::is_of_unknown_class(self.drawing, *node).then_some("unknown_class");
            let disabled = || is_out_of_action(self.drawing, *node).then_some("out_of_action");
            let unread = || has_doubtful_text(self.drawing, *node).then_some("unread_text");
            let gate = || gates::uncertainty(self.drawing, *node).filter(|_| at != end as u32);
            let by_status = installation(self.drawing, *node).uncertainty();
            if let Some(reason) = by_status.or_else(unknown).or_else(disabled).or_else(unread).or_else(gate) {
                self.add_not_followed(*node, NONE, reason, budget)?;
            }
            if *via != NONE
                && let Some(reason) = signal_uncertainty(self.drawing, *via)
            {
                self.add_not_followed(*node, *via, reason, budget)?;
            }
            at = *from;
        }
        Ok(())
    }

    /// Lists the items whose voting needs more initiators than the drawing shows, or cannot be read. The voting of an initiator
    /// is that of the item behind it.
    fn list_unmet_votings(&mut self, budget: &mut dyn Budget) -> Result<()> {
        let mut voters: Vec<(NodeId, Vec<NodeId>)> = self.voters.drain().collect();
        voters.sort_unstable();
        for (item, mut initiators) in voters {
            initiators.sort_unstable();
            initiators.dedup();
            budget.charge(1 + initiators.len() as u64)?;
            let is_initiator = initiators == [item];
            if !is_initiator && may_not_be_met(self.drawing, item, &initiators, &mut |units| budget.charge(units))? {
                self.add_not_followed(item, NONE, "voting", budget)?;
            }
        }
        Ok(())
    }

    /// Lists the valves and machines that only a field says to be moved by a trip: no signal leads to them.
    fn list_named(&mut self, budget: &mut dyn Budget) -> Result<()> {
        let named = self.named.named();
        budget.charge(1 + named.len() as u64)?;
        for item in named.into_iter().filter(|item| !self.effects.contains(item)).collect::<Vec<_>>() {
            self.add_not_followed(item, NONE, "named_by_field", budget)?;
        }
        Ok(())
    }

    /// Follows the signals of an initiator, breadth first. A node is visited again if one path contains a part of a trip and
    /// another does not, or if one without such a part comes from a controller.
    fn follow(&mut self, initiator: NodeId, budget: &mut dyn Budget) -> Result<Vec<Step>> {
        let is_trip = self.trip_reasons[initiator as usize].is_some();
        let is_control = instrument_class::is_controller(self.drawing, initiator);
        let start = Step { node: initiator, is_trip, from: NONE, via: NONE, effect: None, is_control };
        self.follow_from(vec![start], &[], budget)
    }

    /// Follows the signals from the last one of some steps, past none of the `stops`.
    fn follow_from(&mut self, mut steps: Vec<Step>, stops: &[NodeId], budget: &mut dyn Budget) -> Result<Vec<Step>> {
        let state = |step: &Step| (step.node, step.is_trip, step.is_control && !step.is_trip);
        let mut seen: HashSet<(NodeId, bool, bool)> = steps.iter().map(state).collect();
        let mut at = steps.len().saturating_sub(1);
        while at < steps.len() {
            let Step { node, is_trip, is_control, .. } = steps[at];
            let ends_here = matches!(steps[at].effect, Some("valve" | "equipment"));
            let next = if ends_here { Vec::new() } else { self.successors(node, budget)? };
            let is_end = next.is_empty() && !ends_here && at > 0;
            let is_instrument = self.drawing.topology.roles[node as usize] == Role::Instrument;
            // A field may name what it moves.
            let is_end = is_end && self.named.targets(node).is_empty();
            if is_end && (!is_instrument || instrument_class::is_voter(self.drawing, node)) {
                self.add_not_followed(node, steps[at].via, "no_further_signal", budget)?;
            }
            for (next, via) in next.into_iter().filter(|(next, _)| !stops.contains(next)) {
                let effect = self.effect(node, next, via, budget)?;
                let Some(effect) = effect else { continue };
                let by_next =
                    self.trip_reasons[next as usize].is_some() && !(is_control && self.is_possible_trip_valve(next));
                let is_trip = is_trip || by_next;
                let is_control =
                    instrument_class::is_controller(self.drawing, next) || is_control && self.is_of_actuator(next);
                if seen.insert((next, is_trip, is_control && !is_trip)) {
                    steps.push(Step { node: next, is_trip, from: at as u32, via, effect, is_control });
                }
            }
            at += 1;
        }
        Ok(steps)
    }

    /// Returns whether an item only stands between a controller and its valve: an actuator, its function or its reference.
    fn is_of_actuator(&self, node: NodeId) -> bool {
        instrument_class::acts_by_class(self.drawing, node)
            || self.drawing.class_has(node, vocabulary::VALVE_REFERENCES)
    }

    /// Returns whether a valve is part of a trip by its tag only, and may be one of a controller.
    fn is_possible_trip_valve(&self, valve: NodeId) -> bool {
        self.trip_reasons[valve as usize] == Some("tag") && protection::may_be_control_valve(self.drawing, valve)
    }

    /// Returns the nodes that the signals of a node lead to, the parts of an instrument, the valve of an actuator, and the other
    /// symbols of an interlock.
    fn successors(&mut self, node: NodeId, budget: &mut dyn Budget) -> Result<Vec<(NodeId, EdgeId)>> {
        let drawing = self.drawing;
        let topology = &drawing.topology;
        let table = topology.table(EdgeFilter::All, Direction::Down);
        let parts = topology.field_members(node);
        budget.charge(1 + (table.degree(node) + parts.len()) as u64)?;
        let mut next = Vec::new();
        for (other, edge) in table.arcs(node).filter(|(other, _)| *other != node) {
            let flags = topology.edge_flags[edge as usize];
            let is_part = flags.contains(EdgeFlags::PART) || flags.contains(EdgeFlags::MEMBER);
            if self.is_signal(edge) && topology.is_assumed(edge) {
                self.add_not_followed(node, edge, "direction_not_stated", budget)?;
            } else if self.is_signal(edge) || is_part && topology.flow_degree(node) == 0 {
                next.push((other, edge));
            }
        }
        next.extend(parts.iter().map(|part| (*part, NONE)));
        next.extend(air_lines::actuators(drawing, node));
        next.extend(signals::moved_valves(drawing, node, &mut |units| budget.charge(units))?);
        next.extend(signals::actuated_items(drawing, node, &mut |units| budget.charge(units))?);
        let symbols = interlock_symbols::others(drawing, node, &mut |units| budget.charge(units))?;
        next.extend(symbols.into_iter().map(|symbol| (symbol, NONE)));
        Ok(next)
    }

    /// Returns the effect on a node that a signal leads to: `Some(None)` if it only passes the signal on, `None` if the
    /// signal is not followed to it.
    fn effect(
        &mut self,
        from: NodeId,
        node: NodeId,
        via: EdgeId,
        budget: &mut dyn Budget,
    ) -> Result<Option<Option<&'static str>>> {
        let drawing = self.drawing;
        let topology = &drawing.topology;
        budget.charge(1 + topology.table(EdgeFilter::All, Direction::Up).degree(node) as u64)?;
        let role = topology.roles[node as usize];
        // A text about an item, and nothing that a signal leads to.
        if drawing.is_note(node) {
            return Ok(None);
        }
        if self.is_pilot(node) {
            if let Some(closed) = air_supply::shut_off_at(drawing, node, &mut |units| budget.charge(units))? {
                self.add_not_followed(closed, NONE, "air_shut_off", budget)?;
            }
            return Ok(Some(None));
        }
        if role.closes() || self.is_actuated(node) {
            if let Some((_, pipe)) = air_lines::possible_valve(drawing, node) {
                self.add_not_followed(node, pipe, "air_line_or_pipe", budget)?;
            }
            // A solenoid valve of which the drawing does not show what it moves.
            if role == Role::Control
                && signals::role(drawing, node) == Role::Instrument
                && self.named.targets(node).is_empty()
            {
                self.add_not_followed(node, NONE, "no_further_signal", budget)?;
            }
            return Ok(Some(Some("valve")));
        }
        if role == Role::Instrument && instrument_class::is_driven(drawing, node) {
            return Ok(Some(Some("equipment")));
        }
        match role {
            Role::Instrument => Ok(Some(self.is_alarm(node).then_some(ALARM))),
            Role::None if signals::is_unknown_target(drawing, node) => {
                if !instrument_class::senses(drawing, from) {
                    self.add_not_followed(node, via, "unknown_class", budget)?;
                }
                Ok(None)
            }
            // A motor has no pipe, and its class may have no role.
            _ if role == Role::Equipment || instrument_class::is_driven(drawing, node) => {
                let reason = match (instrument_class::is_driven(drawing, node), instrument_class::senses(drawing, from))
                {
                    (true, false) => return Ok(Some(Some("equipment"))),
                    (true, true) if self.is_switch_of_process(from, node) => return Ok(Some(Some("equipment"))),
                    (true, true) => "sensing_point_or_effect",
                    (false, false) => "effect_not_stated",
                    // A sensor refers to the item at which it measures.
                    (false, true) => return Ok(None),
                };
                self.add_not_followed(node, via, reason, budget)?;
                Ok(None)
            }
            // The signal continues on another sheet of the drawing, by an edge of its own.
            Role::OffPage if self.drawing.topology.is_joined(node) => Ok(None),
            Role::OffPage => {
                self.add_not_followed(node, via, "off_page", budget)?;
                Ok(None)
            }
            _ => {
                let is_group = [Names::LineType, Names::SegmentType, Names::LoopType]
                    .iter()
                    .any(|types| drawing.has_type(node, *types));
                let has_no_line = topology.flow_degree(node) == 0 || air_lines::is_part(drawing, node);
                // An actuator is a part of its valve, and leads to it.
                let is_part_of_other = topology.owner(node).is_some()
                    && signals::moved_valves(drawing, node, &mut |units| budget.charge(units))?.is_empty();
                let is_in_signal_path = has_no_line && !is_part_of_other && !is_group;
                Ok(is_in_signal_path.then_some(None))
            }
        }
    }

    /// Returns whether an instrument is a switch that measures at another item than one, so that its signal to that one acts.
    fn is_switch_of_process(&self, node: NodeId, other: NodeId) -> bool {
        let topology = &self.drawing.topology;
        let mut before = topology.table(EdgeFilter::All, Direction::Up).arcs(node);
        let measures = |(item, edge): (NodeId, EdgeId)| {
            let flags = topology.edge_flags[edge as usize];
            item != other
                && (flags.contains(EdgeFlags::SIGNAL) || flags.contains(EdgeFlags::FLOW))
                && topology.roles[item as usize] != Role::Instrument
        };
        trips::is_switch(self.drawing, node) && before.any(measures)
    }

    /// Returns whether a signal with a stated direction leaves an item.
    fn sends_signal(&self, node: NodeId) -> bool {
        let topology = &self.drawing.topology;
        let mut arcs = topology.table(EdgeFilter::All, Direction::Down).arcs(node);
        arcs.any(|(other, edge)| other != node && self.is_signal(edge) && !topology.is_assumed(edge))
    }

    /// Returns whether an instrument raises an alarm: by its class, or by its letters if it passes no signal on. `LZAHH` and
    /// `LIZA` trip too.
    fn is_alarm(&self, node: NodeId) -> bool {
        trips::is_alarm(self.drawing, node)
            && (trips::is_alarm_by_class(self.drawing, node) || !self.sends_signal(node))
    }

    /// Returns whether a valve only passes a signal on, such as a solenoid valve: it has no pipe, and a signal leaves it,
    /// or its pipe is the air to an actuator or the supply of it.
    fn is_pilot(&self, node: NodeId) -> bool {
        let topology = &self.drawing.topology;
        topology.roles[node as usize].closes()
            && (topology.flow_degree(node) == 0 && self.sends_signal(node)
                || signals::sends_to_valve(self.drawing, node)
                || !air_lines::actuators(self.drawing, node).is_empty())
    }

    /// Returns whether an actuator moves an item in a pipe. An item that a sensor refers to is its sensing element.
    fn is_actuated(&self, node: NodeId) -> bool {
        let topology = &self.drawing.topology;
        let mut arcs = topology.table(EdgeFilter::All, Direction::Up).arcs(node);
        let is_actuating = |(from, edge): (NodeId, EdgeId)| {
            topology.edge_flags[edge as usize].contains(EdgeFlags::ACTUATES)
                && !instrument_class::is_sensor_by_class(self.drawing, from)
        };
        topology.flow_degree(node) > 0 && arcs.any(is_actuating)
    }

    fn add_not_followed(
        &mut self,
        item: NodeId,
        edge: EdgeId,
        reason: &'static str,
        budget: &mut dyn Budget,
    ) -> Result<()> {
        if self.seen_not_followed.insert((if edge == NONE { item } else { NONE }, edge)) {
            budget.reserve(8 * size_of::<(NodeId, EdgeId, &str)>())?;
            self.not_followed.push((item, edge, reason));
        }
        Ok(())
    }

    /// Lists the signals at connectors to sheets that are not joined: causes and effects may be on these.
    fn list_other_sheets(&mut self, budget: &mut dyn Budget) -> Result<()> {
        let drawing = self.drawing;
        let topology = &drawing.topology;
        let table = topology.table(EdgeFilter::All, Direction::Both);
        let is_connector = |node: &NodeId| topology.roles[*node as usize] == Role::OffPage;
        for node in (0..topology.node_count() as u32).filter(is_connector) {
            budget.charge(1 + table.degree(node) as u64)?;
            if topology.is_joined(node) {
                continue;
            }
            for edge in table.edges(node).iter().copied() {
                if !self.is_signal(edge) {
                    continue;
                }
                let reason = if topology.is_assumed(edge) { "direction_not_stated" } else { "off_page" };
                self.add_not_followed(node, edge, reason, budget)?;
            }
        }
        Ok(())
    }

    /// Lists the edges of unknown kind from an instrument to what a signal may lead to or come from.
    fn list_unknown_kinds(&mut self, budget: &mut dyn Budget) -> Result<()> {
        let drawing = self.drawing;
        let topology = &drawing.topology;
        if !topology.all_flags.contains(EdgeFlags::UNKNOWN) {
            return Ok(());
        }
        let role = |node: NodeId| topology.roles[node as usize];
        let is_in_signals = |node: NodeId| {
            role(node) == Role::Instrument
                || role(node).closes()
                || role(node) == Role::OffPage
                || instrument_class::is_driven(drawing, node)
        };
        budget.charge(topology.edge_count() as u64)?;
        for edge in topology.edges_of(EdgeFlags::UNKNOWN) {
            budget.charge(1)?;
            let [from, to] = topology.ends[edge as usize];
            if from == NONE || to == NONE || from == to {
                continue;
            }
            let has_instrument = role(from) == Role::Instrument || role(to) == Role::Instrument;
            if has_instrument && is_in_signals(from) && is_in_signals(to) {
                self.add_not_followed(from, edge, "unknown_kind", budget)?;
            }
        }
        Ok(())
    }

    /// Lists the signals with an end that names no node.
    fn list_dangling(&mut self, budget: &mut dyn Budget) -> Result<()> {
        let drawing = self.drawing;
        budget.charge(drawing.topology.dangling.len() as u64)?;
        for edge in drawing.topology.dangling.iter().copied() {
            if !self.is_signal(edge) {
                continue;
            }
            let item = drawing.topology.ends[edge as usize].into_iter().find(|end| *end != NONE).unwrap_or(NONE);
            self.add_not_followed(item, edge, "end_missing", budget)?;
        }
        Ok(())
    }

    fn link(&mut self, steps: &[Step], end: usize, budget: &mut dyn Budget) -> Result<Link<'a>> {
        let mut path = Vec::new();
        let mut at = end as u32;
        while let Some(step) = steps.get(at as usize) {
            budget.charge(1)?;
            path.push(step);
            at = step.from;
        }
        path.reverse();
        // The sensors at the logic vote, and a switch that is operated by hand acts alone.
        let votes = !instrument_class::is_hand_switch(self.drawing, steps[0].node);
        let voting = self.voting_of(path.iter().take_while(|_| votes).map(|step| step.node), budget)?;
        let step = &steps[end];
        let initiator = instrument_of(self.drawing, steps[0].node, &mut |units| budget.charge(units))?;
        let final_element = step.node;
        for item in path.iter().map(|step| step.node).filter(|node| *node != final_element) {
            budget.charge(1)?;
            if !votes || !self.voting.get(&item).is_some_and(Option::is_some) {
                continue;
            }
            self.voters.entry(item).or_default().push(initiator);
        }
        let trip_item = path.iter().map(|step| step.node).find(|node| self.trip_reasons[*node as usize].is_some());
        let basis = trip_item.and_then(|node| self.trip_reasons[node as usize]);
        let word = |word: Option<&'static str>| word.map_or(Datum::Null, Datum::Word);
        let fail_action = fail_action::stated(self.drawing, final_element, &mut |units| budget.charge(units))?;
        let row = vec![
            Datum::Node(initiator),
            Datum::Node(final_element),
            Datum::Word(match () {
                () if step.effect == Some(ALARM) => ALARM,
                () if step.is_trip => "trip",
                () => "control",
            }),
            word(step.effect),
            Datum::value(fail_action),
            Datum::string(voting.clone()),
            Datum::node(trip_item),
            word(basis),
            Datum::Nodes(path.iter().map(|step| step.node).collect()),
            Datum::Edges(path.iter().map(|step| step.via).filter(|edge| *edge != NONE).collect()),
        ];
        Ok(Link { initiator, cause: None, final_element, is_trip: step.is_trip, voting, row })
    }

    /// Returns the voting that the items of a path state, such as `2oo3`.
    fn voting_of(&mut self, nodes: impl Iterator<Item = NodeId>, budget: &mut dyn Budget) -> Result<Option<String>> {
        let mut found: Vec<String> = Vec::new();
        for node in nodes {
            if !self.voting.contains_key(&node) {
                let voting = stated_voting(self.drawing, node, &mut |units| budget.charge(units))?;
                self.voting.insert(node, voting);
            }
            found.extend(
                self.voting[&node].iter().filter(|voting| !found.contains(voting)).cloned().collect::<Vec<_>>(),
            );
        }
        Ok((!found.is_empty()).then(|| found.join(", ")))
    }

    fn into_datum(self, budget: &mut dyn Budget) -> Result<Datum<'a>> {
        let matrix = self.matrix(budget)?;
        let topology = &self.drawing.topology;
        let is_trip_valve = |node: &NodeId| {
            topology.roles[*node as usize].closes()
                && self.trip_reasons[*node as usize].is_some()
                && !self.effects.contains(node)
                // A solenoid valve on the way to the valve that it moves.
                && !(self.reached.contains(node) && self.is_pilot(*node))
        };
        let without_cause = (0..topology.node_count() as u32).filter(is_trip_valve).collect();
        let rows = |links: Vec<Link<'a>>, budget: &mut dyn Budget| -> Result<Datum<'a>> {
            let mut rows = Vec::with_capacity(links.len());
            for link in links {
                push_row(&mut rows, link.row, budget)?;
            }
            Ok(Datum::Table(LINK, rows))
        };
        let (links, alarms) = (rows(self.links, budget)?, rows(self.alarms, budget)?);
        let mut not_followed = self.not_followed;
        not_followed.sort_unstable();
        let not_followed = not_followed
            .into_iter()
            .map(|(item, edge, reason)| vec![Datum::Node(item), Datum::Edge(edge), Datum::Word(reason)]);
        Ok(Datum::Record(
            RESULT,
            vec![
                links,
                matrix,
                alarms,
                Datum::Nodes(self.without_effect),
                Datum::Nodes(without_cause),
                Datum::Table(NOT_FOLLOWED, not_followed.collect()),
            ],
        ))
    }

    /// Returns one flat row per initiator with a column per final element: the voting, or `X`. An initiator whose switches have
    /// different effects has a row for each switch, `LT-1 (LSHH-1)`.
    fn matrix(&self, budget: &mut dyn Budget) -> Result<Datum<'a>> {
        let mut columns: Vec<NodeId> = self.links.iter().map(|link| link.final_element).collect();
        columns.sort_unstable();
        columns.dedup();
        let titles = self.titles(&columns);
        let title_size: usize = titles.iter().map(String::len).sum();
        let mut rows = Vec::new();
        let mut links = self.links.iter().peekable();
        while let Some(first) = links.peek().map(|link| (link.initiator, link.cause)) {
            budget.charge(1 + columns.len() as u64 + title_size as u64 / 64)?;
            budget.reserve(title_size + (columns.len() + 1) * size_of::<(String, Datum<'_>)>())?;
            let (initiator, cause) = (self.drawing.name(first.0), first.1.map(|cause| self.drawing.name(cause)));
            let name = cause.map_or_else(|| initiator.clone(), |cause| format!("{initiator} ({cause})"));
            let mut row = vec![(String::from("initiator"), Datum::String(name))];
            for (column, title) in columns.iter().zip(&titles) {
                let is_cell = |link: &&Link<'a>| (link.initiator, link.cause) == first && link.final_element == *column;
                let cell = links.next_if(is_cell);
                let mark = |link: &Link<'a>| link.voting.clone().unwrap_or_else(|| "X".into());
                row.push((title.clone(), Datum::String(cell.map(mark).unwrap_or_default())));
            }
            rows.push(Datum::Map(row));
        }
        Ok(Datum::Array(rows))
    }

    /// Returns the titles of the columns: names, with the id if several have the same name.
    fn titles(&self, columns: &[NodeId]) -> Vec<String> {
        let names: Vec<String> = columns.iter().map(|node| self.drawing.name(*node)).collect();
        let mut counts: HashMap<&str, usize> = [("initiator", 1)].into_iter().collect();
        names.iter().for_each(|name| *counts.entry(name).or_default() += 1);
        let title = |(name, node): (&String, &NodeId)| match counts[name.as_str()] {
            1 => name.clone(),
            _ => format!("{name} ({})", convert::to_text(self.drawing.id(*node))),
        };
        names.iter().zip(columns).map(title).collect()
    }
}

/// Returns the word for a signal that is not there or does not act, or may not. One that is closed may only be cut off.
fn signal_uncertainty(drawing: &Drawing<'_>, signal: EdgeId) -> Option<&'static str> {
    let by_text = || signal_may_not_act(drawing, signal).then_some("out_of_action");
    pipe_state(drawing, signal).min(PipeState::NotInstalled).uncertainty().or_else(by_text)
}

/// Returns whether a bubble stands for the measurement too, and may move something: not a display.
fn stands_for_sensor(drawing: &Drawing<'_>, node: NodeId) -> bool {
    instrument_class::may_sense(drawing, node) && instrument_class::may_move(drawing, node)
}

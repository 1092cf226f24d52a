//! Loops of a drawing: control loops, indications, trips and safety instrumented functions, with their members.

pub(crate) mod connection;
mod groups;
pub(crate) mod interlock_symbols;
mod links;
mod logic;
mod named_parts;
pub(crate) mod position_feedback;
pub(crate) mod protection;
pub(crate) mod signals;
mod tagged;
mod trains;
mod trip_parts;
mod untagged_logic;

use hashbrown::{HashMap, HashSet};

use super::tag::{Protection, Tag};
use super::{ChargeFn, instrument_class, pipe_lines};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use groups::Key;
pub(crate) use named_parts::NamedParts;

/// A loop: its node, if there is one, its members, and what they state about protection.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub node: Option<NodeId>,
    pub name: String,
    pub members: Vec<NodeId>,
    pub protection: Option<Protection>,
}

/// The loops of a drawing: loop nodes, then the remaining instruments grouped by their tags.
#[derive(Debug, Default)]
pub(crate) struct Loops {
    pub list: Vec<Loop>,
    /// By member: the indices of its loops.
    by_member: HashMap<NodeId, Vec<usize>>,
    pub named: NamedParts,
}

impl Loops {
    /// Finds the loops.
    ///
    /// A loop node has the members that the drawing gives it, even if some control and some trip. Other instruments are
    /// grouped by the measured variable and the number of their tags, trains by their suffix, and those of trips and
    /// safety instrumented functions apart from those of the control loop with the same number. The groups that signals
    /// unite to one trip are one loop.
    pub fn find(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Loops> {
        let mut loops = Loops { named: NamedParts::find(drawing, charge)?, ..Loops::default() };
        let mut grouping = Grouping::default();
        loops.add_loop_nodes(drawing, &mut grouping, charge)?;
        grouping.assign_connected(drawing, charge)?;
        loops.add_tagged_instruments(drawing, &mut grouping, charge)?;
        loops.add_tagged_valves(drawing, &grouping, charge)?;
        for (at, found) in loops.list.iter().enumerate() {
            charge(1 + found.members.len() as u64)?;
            for member in &found.members {
                loops.by_member.entry(*member).or_default().push(at);
            }
        }
        loops.add_protection_of_valves(drawing, charge)?;
        loops.add_untagged_logic(drawing, charge)?;
        Ok(loops)
    }

    /// Marks loops that close a shutdown valve although neither their tags nor their classes state a trip: a shutdown
    /// valve is not one of a control loop, and the drawing does not say what else the loop is.
    fn add_protection_of_valves(&mut self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<()> {
        for at in 0..self.list.len() {
            let found = &self.list[at];
            charge(1 + found.members.len() as u64)?;
            if found.protection.is_some() {
                continue;
            }
            let passes = |node: NodeId| self.of_member(node).is_empty() || found.members.binary_search(&node).is_ok();
            let is_moving = |node: &NodeId| {
                signals::role(drawing, *node) == Role::Instrument && instrument_class::may_move(drawing, *node)
            };
            let mut is_trip = false;
            for member in found.members.iter().copied().filter(is_moving) {
                let reached = signals::reached(drawing, member, &passes, charge)?;
                charge(reached.len() as u64)?;
                // Only the letters `XV` or `UV` of a valve that a controller moves say nothing about a trip.
                let is_control = instrument_class::is_controller(drawing, member);
                let is_shutdown = |node: NodeId| {
                    protection::is_shutdown_valve(drawing, node)
                        && !(is_control && protection::may_be_control_valve(drawing, node))
                };
                is_trip |= reached.into_iter().any(is_shutdown);
            }
            self.list[at].protection = is_trip.then_some(Protection::Unclear);
        }
        Ok(())
    }

    /// Returns the indices of the loops that a node is a member of.
    pub fn of_member(&self, node: NodeId) -> &[usize] {
        self.by_member.get(&node).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a node is a member of a trip or a safety instrumented function.
    pub fn is_protective(&self, node: NodeId) -> bool {
        self.of_member(node).iter().any(|at| self.list[*at].protection.is_some())
    }

    fn add_loop_nodes(&mut self, drawing: &Drawing<'_>, grouping: &mut Grouping, charge: ChargeFn<'_>) -> Result<()> {
        let groups = pipe_lines::Members::collect(drawing, charge)?;
        for node in 0..drawing.topology.node_count() as u32 {
            charge(1)?;
            if !drawing.has_type(node, Names::LoopType) {
                continue;
            }
            let mut members = groups.all_members(node, charge)?;
            members.sort_unstable();
            let mut stated = protection::of_node(drawing, node, charge)?;
            for member in &members {
                let of_member = protection::of_node(drawing, *member, charge)?;
                stated = stated.max(of_member);
                grouping.add_member(drawing, *member, of_member);
            }
            grouping.assigned.extend(&members);
            grouping.in_trips.extend(members.iter().filter(|_| stated.is_some()));
            let name = name_of(drawing, node, &members);
            self.list.push(Loop { node: Some(node), name, members, protection: stated });
        }
        Ok(())
    }

    fn add_tagged_instruments(
        &mut self,
        drawing: &Drawing<'_>,
        grouping: &mut Grouping,
        charge: ChargeFn<'_>,
    ) -> Result<()> {
        for united in tagged::find(drawing, &grouping.assigned, charge)? {
            for (key, suffix) in united.parts {
                grouping.by_key.entry(key).or_default().push((suffix, self.list.len()));
            }
            let groups::United { name, members, protection, .. } = united;
            self.list.push(Loop { node: None, name, members, protection });
        }
        Ok(())
    }

    /// Adds control valves without another loop to the loops that their tags name: a valve alone is not a loop. The
    /// valve of a controller that also trips, such as `PICZA`, belongs to it, and `PV-1` to the loop of `PDIC-1` if
    /// there is no loop of `PIC-1`. A valve that names several trains belongs to those that have a signal to it.
    fn add_tagged_valves(&mut self, drawing: &Drawing<'_>, grouping: &Grouping, charge: ChargeFn<'_>) -> Result<()> {
        let topology = &drawing.topology;
        for node in 0..topology.node_count() as u32 {
            charge(1)?;
            if signals::role(drawing, node) != Role::Control || grouping.assigned.contains(&node) {
                continue;
            }
            let stated = protection::of_node(drawing, node, charge)?;
            let Some(tag) = drawing.tag(node).and_then(Tag::parse) else { continue };
            let key = Key::new(&tag, stated);
            let protective = Key { variable: key.variable.clone(), is_protective: true };
            let difference = tag.with_difference().map(|tag| Key::new(&tag, stated));
            let controls = |at: &usize| self.list[*at].members.iter().any(|member| controls(drawing, *member));
            let found = grouping
                .loop_of(&key, &tag.suffix)
                .or_else(|| grouping.loop_of(&protective, &tag.suffix).filter(controls))
                .or_else(|| grouping.loop_of(&difference?, &tag.suffix).filter(controls));
            if let Some(at) = found {
                self.list[at].members.push(node);
            }
        }
        for found in self.list.iter_mut().filter(|found| found.node.is_none()) {
            found.members.sort_unstable();
        }
        Ok(())
    }
}

/// Instruments that loop nodes have, and the loops of the others.
#[derive(Debug, Default)]
struct Grouping {
    assigned: HashSet<NodeId>,
    /// Members of trips among them, and the relays that only these feed.
    in_trips: HashSet<NodeId>,
    /// Keys of the members of loop nodes, and the suffixes of the controllers among them.
    keys: HashMap<Key, HashSet<String>>,
    /// By key: the suffixes of the trains, and the indices of their loops.
    by_key: HashMap<Key, Vec<(String, usize)>>,
}

impl Grouping {
    fn add_member(&mut self, drawing: &Drawing<'_>, member: NodeId, stated: Option<Protection>) {
        let Some(tag) = drawing.tag(member).and_then(Tag::parse) else { return };
        let suffixes = self.keys.entry(Key::new(&tag, stated)).or_default();
        if tag.split().1.contains(&'C') {
            suffixes.insert(tag.suffix);
        }
    }

    /// Returns the loop that a tag with a suffix names: the only one, the train with the suffix, or else what belongs to
    /// no train.
    fn loop_of(&self, key: &Key, suffix: &str) -> Option<usize> {
        let loops = self.by_key.get(key)?;
        let of = |suffix: &str| {
            let is_named =
                |train: &str| train == suffix || !suffix.is_empty() && train.split('/').any(|one| one == suffix);
            let mut named = loops.iter().filter(|(train, _)| is_named(train)).map(|(_, at)| *at);
            // Two trips of one number, at the high and the low limit: the tag of a valve names neither.
            named.next().filter(|_| named.next().is_none())
        };
        match loops.as_slice() {
            [(_, only)] => Some(*only),
            _ => of(suffix).or_else(|| of("")),
        }
    }

    /// Assigns the instruments connected to those of loop nodes that have no loop of their own: without a tag, with the
    /// tag of the same loop, transmitters of its functions, and actuators. Another instrument with another tag has its
    /// own loop: a trip at the transmitter of a control loop.
    fn assign_connected(&mut self, drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<()> {
        let topology = &drawing.topology;
        let is_instrument = |node: NodeId| topology.roles[node as usize] == Role::Instrument;
        let mut stack: Vec<NodeId> = self.assigned.iter().copied().filter(|node| is_instrument(*node)).collect();
        while let Some(node) = stack.pop() {
            let neighbors = topology.table(EdgeFilter::All, Direction::Both).nodes(node);
            let parts = topology.field_members(node);
            charge(1 + (neighbors.len() + parts.len()) as u64)?;
            let connected = neighbors.iter().chain(parts).copied().chain(topology.field_group(node));
            for next in connected.filter(|next| signals::role(drawing, *next) == Role::Instrument) {
                if self.assigned.contains(&next) {
                    continue;
                }
                let is_of_trip = self.is_fed_by_trips_only(drawing, next, charge)?;
                if is_of_trip || is_instrument(next) && !self.has_own_loop(drawing, next, charge)? {
                    self.in_trips.extend(is_of_trip.then_some(next));
                    self.assigned.insert(next);
                    stack.push(next);
                }
            }
        }
        Ok(())
    }

    /// Returns whether an instrument is a relay to which only members of trips have signals, and hand switches.
    fn is_fed_by_trips_only(&self, drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let topology = &drawing.topology;
        let table = topology.table(EdgeFilter::All, Direction::Up);
        charge(1 + table.degree(node) as u64)?;
        let is_feeder = |(from, edge): &(NodeId, EdgeId)| {
            *from != node
                && topology.edge_flags[*edge as usize].contains(EdgeFlags::SIGNAL)
                && !instrument_class::is_by_hand(drawing, *from)
        };
        let mut feeders = table.arcs(node).filter(is_feeder).peekable();
        Ok(feeders.peek().is_some()
            && trip_parts::is_relay(drawing, node)
            && feeders.all(|(from, edge)| self.in_trips.contains(&from) && !topology.is_assumed(edge)))
    }

    fn has_own_loop(&self, drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<bool> {
        let tag = drawing
            .tag(node)
            .and_then(Tag::parse)
            .filter(|tag| !tag.split().1.is_empty() || tag.protection().is_some());
        if tag.is_none() || instrument_class::acts_by_class(drawing, node) {
            return Ok(false);
        }
        let stated = protection::of_node(drawing, node, charge)?;
        if stated.is_none() && instrument_class::is_transmitter(drawing, node) {
            return Ok(false);
        }
        let Some(tag) = tag else { return Ok(false) };
        Ok(match self.keys.get(&Key::new(&tag, stated)) {
            None => true,
            // A controller with the suffix of another train.
            Some(suffixes) => tag.split().1.contains(&'C') && !suffixes.is_empty() && !suffixes.contains(&tag.suffix),
        })
    }
}

/// Returns whether the letters of an instrument include control.
fn controls(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.tag(node).and_then(Tag::parse_letters).is_some_and(|tag| tag.split().1.contains(&'C'))
}

/// Returns the tag of a loop, or the loop in the tags of its members.
fn name_of(drawing: &Drawing<'_>, node: NodeId, members: &[NodeId]) -> String {
    let own_tag = drawing.tag(node).map(String::from);
    let member_loop = || members.iter().find_map(|member| Some(Tag::parse(drawing.tag(*member)?)?.loop_id()));
    own_tag.or_else(member_loop).unwrap_or_default()
}

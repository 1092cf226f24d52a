//! Groups united to one trip: its transmitters, its logic, its relays and its push buttons have tags of their own.
//!
//! Transmitters, switches and hand switches belong to the trip if they feed nothing else, and logic and relays if
//! nothing else feeds them. Logic with several initiating groups is a trip of its own, as is each of these.

use hashbrown::{HashMap, HashSet};

use super::groups::{Group, Item, Key, United};
use super::links::Links;
use super::trip_parts;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::vocabulary;
use crate::pid::ChargeFn;
use crate::pid::instrument_class::{self, LoopFunction, Stage};
use crate::pid::tag::{Protection, Tag};

/// Part that a group plays in a trip.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    /// Transmitters, switches and alarms without another function.
    Sensors,
    /// Hand switches.
    Hand,
    /// Logic and relays without a sensor.
    Logic,
    /// Groups with a sensor and a function, and all others.
    Other,
}

/// Unites groups to loops, in the order of the groups.
pub(super) fn unite(
    drawing: &Drawing<'_>,
    groups: Vec<Group>,
    assigned: &HashSet<NodeId>,
    charge: ChargeFn<'_>,
) -> Result<Vec<United>> {
    let links = Links::find(drawing, &groups, assigned, charge)?;
    let groups = trip_parts::split(drawing, groups, &links, charge)?;
    let groups = with_single_sensors(drawing, groups, charge)?;
    let mut search = Search::new(drawing, &groups, &links, charge)?;
    while search.pass(charge)? {}
    let mut united: Vec<United> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    let mut sensors: HashMap<(Key, String), usize> = HashMap::new();
    let others = groups.iter().zip(&search.parts).filter(|(_, part)| **part != Part::Sensors);
    let with_functions: HashSet<(&Key, &str)> = others.map(|(group, _)| (&group.key, &*group.suffix)).collect();
    for (at, group) in groups.iter().enumerate() {
        let root = search.root(at);
        // Sensors and hand switches of no trip stay together.
        let first = match search.parts[root] {
            Part::Sensors | Part::Hand => *sensors.entry((group.key.clone(), group.suffix.clone())).or_insert(root),
            _ => root,
        };
        let place = *places.entry(first).or_insert(united.len());
        if place == united.len() {
            let name = groups[root].name();
            united.push(United { name, protection: None, members: Vec::new(), parts: Vec::new() });
        }
        let found = &mut united[place];
        // Logic that only trips feed is a part of them, whatever its tag.
        let by_feeders = (search.is_protective[root]).then_some(Protection::Unclear);
        found.protection = found.protection.max(group.protection()).max(by_feeders);
        found.members.extend(group.items.iter().map(|item| item.node));
        // A valve with the number of the transmitter of a trip is not moved by the trip, and one with the number of a
        // controller not by a transmitter apart from it.
        let part = (group.key.clone(), group.suffix.clone());
        let is_apart = search.parts[at] == Part::Sensors && with_functions.contains(&(&group.key, &*group.suffix));
        if (root == at && !is_apart || search.parts[at] == Part::Logic) && !found.parts.contains(&part) {
            found.parts.push(part);
        }
    }
    for found in &mut united {
        charge(1 + found.members.len() as u64)?;
        found.members.sort_unstable();
        found.members.dedup();
    }
    Ok(united)
}

/// Splits groups of sensors and of hand switches, since each may feed another trip.
fn with_single_sensors(drawing: &Drawing<'_>, groups: Vec<Group>, charge: ChargeFn<'_>) -> Result<Vec<Group>> {
    let mut single = Vec::with_capacity(groups.len());
    for group in groups {
        charge(1 + group.items.len() as u64)?;
        if !matches!(part(drawing, &group), Part::Sensors | Part::Hand) {
            single.push(group);
            continue;
        }
        let Group { key, suffix, items } = group;
        let of = |item| Group { key: key.clone(), suffix: suffix.clone(), items: vec![item] };
        single.extend(items.into_iter().map(of));
    }
    single.sort_by_key(|group| group.items.first().map(|item| item.node));
    Ok(single)
}

/// Search for the groups of one trip.
struct Search {
    /// By group: the group that it belongs to.
    parents: Vec<usize>,
    parts: Vec<Part>,
    is_protective: Vec<bool>,
    /// Signals between groups: from, to. `OUTSIDE` stands for the loops of loop nodes.
    links: Vec<(usize, usize)>,
}

const OUTSIDE: usize = usize::MAX;

impl Search {
    fn new(drawing: &Drawing<'_>, groups: &[Group], links: &Links<'_>, charge: ChargeFn<'_>) -> Result<Search> {
        let mut of_node: HashMap<NodeId, Vec<usize>> = HashMap::new();
        for (at, group) in groups.iter().enumerate() {
            charge(1 + group.items.len() as u64)?;
            group.items.iter().for_each(|item| of_node.entry(item.node).or_default().push(at));
        }
        let of = |node: NodeId| match of_node.get(&node) {
            Some(groups) => groups.as_slice(),
            None if links.assigned.contains(&node) => &[OUTSIDE],
            None => &[],
        };
        let mut between: Vec<(usize, usize)> = Vec::new();
        for (from, to) in links.iter() {
            let [from, to] = [of(*from), of(*to)];
            charge((from.len() * to.len()) as u64)?;
            between.extend(from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to))));
        }
        between.sort_unstable();
        between.dedup();
        between.retain(|(from, to)| from != to);
        Ok(Search {
            parents: (0..groups.len()).collect(),
            parts: groups.iter().map(|group| part(drawing, group)).collect(),
            is_protective: groups.iter().map(|group| group.key.is_protective).collect(),
            links: between,
        })
    }

    fn root(&self, group: usize) -> usize {
        let mut root = group;
        while let Some(parent) = self.parents.get(root).filter(|parent| **parent != root) {
            root = *parent;
        }
        root
    }

    /// Unites groups along the signals once; returns whether anything changed.
    fn pass(&mut self, charge: ChargeFn<'_>) -> Result<bool> {
        charge(1 + (self.links.len() + self.parents.len()) as u64)?;
        let mut targets: HashMap<usize, HashSet<usize>> = HashMap::new();
        let mut feeders: HashMap<usize, HashSet<usize>> = HashMap::new();
        for (from, to) in self.links.iter().map(|(from, to)| (self.root(*from), self.root(*to))) {
            if from == to {
                continue;
            }
            targets.entry(from).or_default().insert(to);
            if from == OUTSIDE || self.parts[from] != Part::Hand {
                feeders.entry(to).or_default().insert(from);
            }
        }
        let mut has_changed = false;
        for group in (0..self.parents.len()).filter(|group| self.parents[*group] == *group).collect::<Vec<_>>() {
            let others = match self.parts[group] {
                Part::Sensors | Part::Hand => targets.get(&group),
                Part::Logic => feeders.get(&group),
                Part::Other => None,
            };
            let is_of_trips = |others: &HashSet<usize>| {
                let mut roots = others.iter().map(|other| self.root(*other));
                roots.all(|other| other != OUTSIDE && self.is_protective[other])
            };
            if self.parts[group] == Part::Logic && !self.is_protective[group] && others.is_some_and(is_of_trips) {
                self.is_protective[group] = true;
                has_changed = true;
            }
            let only = others.filter(|others| others.len() == 1).and_then(|others| others.iter().next());
            let Some(other) = only.copied().filter(|other| *other != OUTSIDE) else { continue };
            let trip = self.root(other);
            if trip == group || !self.is_protective[trip] {
                continue;
            }
            if self.parts[group] == Part::Sensors {
                self.parts[trip] = Part::Other;
            }
            self.parents[group] = trip;
            has_changed = true;
        }
        Ok(has_changed)
    }
}

/// Returns whether an instrument only reports a value or a limit of it: a transmitter, a switch such as `BSL`, or an alarm
/// whose signal leads on.
fn initiates(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_transmitter = || {
        instrument_class::stage(drawing, node) == Stage::Sensor
            && instrument_class::loop_function(drawing, node) == LoopFunction::Measures
    };
    let reports_limit = |tag: Tag| {
        let (_, functions) = tag.split();
        let is_limit = functions.iter().all(|letter| matches!(letter, 'S' | 'A' | 'H' | 'L' | 'I' | 'R'));
        let measures = tag.measures() || instrument_class::is_unclassified_switch(drawing, node);
        measures && is_limit && functions.iter().any(|letter| matches!(letter, 'S' | 'A'))
    };
    is_transmitter()
        || !instrument_class::acts_by_class(drawing, node)
            && !drawing.class_has_word(node, vocabulary::CONTROLLERS)
            && drawing.tag(node).and_then(Tag::parse_letters).is_some_and(reports_limit)
}

fn part(drawing: &Drawing<'_>, group: &Group) -> Part {
    let all = |is: &dyn Fn(&Item) -> bool| group.items.iter().all(is);
    let stage = |item: &Item| instrument_class::stage(drawing, item.node);
    let acts = |item: &Item| instrument_class::loop_function(drawing, item.node) != LoopFunction::Measures;
    match () {
        () if group.items.iter().any(|item| instrument_class::has_position_letters(drawing, item.node)) => Part::Other,
        () if all(&|item| instrument_class::is_by_hand(drawing, item.node)) => Part::Hand,
        () if all(&|item| initiates(drawing, item.node)) && !group.key.is_protective => Part::Sensors,
        () if all(&|item| stage(item) == Stage::Logic && acts(item)) => Part::Logic,
        () => Part::Other,
    }
}

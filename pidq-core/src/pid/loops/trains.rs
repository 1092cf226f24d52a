//! Trains: loops of the same variable and number that the suffixes of their tags distinguish, such as `PIC-101A` and
//! `PIC-101B`.
//!
//! A suffix also distinguishes the voting transmitters, the converters and the valves of one loop. It stands for a train
//! only if two suffixes have a controller, a display or switch with a sensor, or the switch or logic of a trip, and no
//! signal unites them. So do the directions of the limits of switches: `LSHH-1` closes the feed, `LSLL-1` stops the pump.

use hashbrown::{HashMap, HashSet};

use super::groups::{Group, Item};
use super::signals;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::connectivity::UnionFind;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::pid::ChargeFn;
use crate::pid::instrument_class::{self, LoopFunction, Stage};

/// Splits a group into its trains, and what belongs to none of them. A sensor belongs to the trains that it feeds; one
/// without a suffix and without a signal to all.
pub(super) fn split(drawing: &Drawing<'_>, group: Group, charge: ChargeFn<'_>) -> Result<Vec<Group>> {
    charge(group.items.len() as u64)?;
    let suffixes = suffixes_of_trains(drawing, &group.items, charge)?;
    split_by(drawing, group, &suffixes, own_suffix, charge)
}

/// Splits a trip by the directions of the limits at which it switches, if no signal unites them.
pub(super) fn split_by_limits(drawing: &Drawing<'_>, group: Group, charge: ChargeFn<'_>) -> Result<Vec<Group>> {
    charge(group.items.len() as u64)?;
    let first = |limit: &str| group.items.iter().find(|item| item.tag.switched_limit() == Some(limit));
    let limits: Vec<(String, NodeId)> =
        ["H", "L"].into_iter().filter_map(|limit| Some((limit.into(), first(limit)?.node))).collect();
    let suffix = group.suffix.clone();
    let mut parts = split_by(drawing, group, &limits, |item| item.tag.switched_limit(), charge)?;
    parts.iter_mut().for_each(|part| part.suffix.clone_from(&suffix));
    Ok(parts)
}

/// Returns the suffix of a tag, if it names one train.
fn own_suffix(item: &Item) -> Option<&str> {
    Some(&*item.tag.suffix).filter(|suffix| names_one_train(suffix))
}

/// Splits a group by the labels of its instruments, each with its first instrument, if no signal unites them.
fn split_by(
    drawing: &Drawing<'_>,
    group: Group,
    labels: &[(String, NodeId)],
    label: fn(&Item) -> Option<&str>,
    charge: ChargeFn<'_>,
) -> Result<Vec<Group>> {
    if labels.len() < 2 {
        return Ok(vec![group]);
    }
    let mut sets = connected(drawing, &group, label, charge)?;
    let mut trains: Vec<(u32, Vec<&str>)> = Vec::new();
    for (suffix, node) in labels {
        let root = sets.root(*node);
        match trains.iter_mut().find(|(known, _)| *known == root) {
            Some((_, names)) => names.push(suffix),
            None => trains.push((root, vec![suffix])),
        }
    }
    if trains.len() < 2 {
        return Ok(vec![group]);
    }
    let roots: Vec<u32> = trains.iter().map(|(root, _)| *root).collect();
    let names = trains.iter().map(|(_, names)| names.join("/"));
    let part = |suffix: String| Group { key: group.key.clone(), suffix, items: Vec::new() };
    let mut parts: Vec<Group> = names.chain([String::new()]).map(part).collect();
    let rest = parts.len() - 1;
    for item in &group.items {
        for at in trains_of(drawing, item, &mut sets, &roots, charge)? {
            parts[at.unwrap_or(rest)].items.push(item.clone());
        }
    }
    parts.retain(|part| !part.items.is_empty());
    Ok(parts)
}

/// Returns the suffixes with a controller, with a display or a switch next to another instrument, or with a switch or the
/// logic of a trip that has a signal to something; each with its first instrument.
fn suffixes_of_trains(drawing: &Drawing<'_>, items: &[Item], charge: ChargeFn<'_>) -> Result<Vec<(String, NodeId)>> {
    let mut by_suffix: Vec<(&str, Vec<&Item>)> = Vec::new();
    let mut positions: HashMap<&str, usize> = HashMap::new();
    for item in items.iter().filter(|item| names_one_train(&item.tag.suffix)) {
        let at = *positions.entry(&item.tag.suffix).or_insert(by_suffix.len());
        if at == by_suffix.len() {
            by_suffix.push((&item.tag.suffix, Vec::new()));
        }
        by_suffix[at].1.push(item);
    }
    let mut found = Vec::new();
    for (suffix, items) in by_suffix {
        let has_several = items.iter().any(|item| item.tag.letters != items[0].tag.letters);
        for item in &items {
            let functions = item.tag.split().1;
            let is_bubble = functions.iter().any(|letter| "ACIKRS".contains(*letter))
                && instrument_class::stage(drawing, item.node) != Stage::Sensor;
            let may_trip = is_bubble || functions.contains(&'S') || is_logic(drawing, item);
            let acts = item.protection.is_some() && !signals::successors(drawing, item.node, charge)?.is_empty();
            if functions.contains(&'C') || is_bubble && has_several || may_trip && acts {
                found.push((suffix.into(), items[0].node));
                break;
            }
        }
    }
    Ok(found)
}

/// Returns whether an instrument is the logic of a trip, such as `I-1A` or `UZ-1A`, and no relay or actuator behind it.
fn is_logic(drawing: &Drawing<'_>, item: &Item) -> bool {
    item.tag.split().1.iter().all(|letter| *letter == 'Z')
        && instrument_class::stage(drawing, item.node) == Stage::Logic
        && !instrument_class::acts_by_class(drawing, item.node)
}

/// Returns whether a suffix names one train: not `A/B`.
fn names_one_train(suffix: &str) -> bool {
    !suffix.is_empty() && suffix.chars().all(|c| c.is_alphanumeric() || c == '-')
}

/// Unites the instruments of a group with the same label, and those whose signals lead to each other or to the same
/// item; trips that also act on different items share this item and are two. Transmitters unite nothing: several trains
/// may share one.
fn connected<'g>(
    drawing: &Drawing<'_>,
    group: &'g Group,
    label: fn(&'g Item) -> Option<&'g str>,
    charge: ChargeFn<'_>,
) -> Result<Sets> {
    let mut sets = Sets::new();
    let members: HashSet<NodeId> = group.items.iter().map(|item| item.node).collect();
    let mut labels: HashMap<&str, Label> = HashMap::new();
    let is_own = |node: NodeId| members.contains(&node) || drawing.tag(node).is_none();
    let passes = |node: NodeId| {
        signals::role(drawing, node) == Role::Instrument
            && instrument_class::stage(drawing, node) != Stage::Sensor
            && (is_own(node) || group.key.is_protective)
            && instrument_class::loop_function(drawing, node) != LoopFunction::Measures
    };
    for item in &group.items {
        charge(1)?;
        let mut of_label = label(item).map(|label| labels.entry(label).or_insert_with(|| Label::new(item.node)));
        if let Some(label) = &of_label {
            sets.unite(label.first, item.node);
        }
        let switches = group.key.is_protective && item.tag.split().1.contains(&'S');
        if instrument_class::stage(drawing, item.node) == Stage::Sensor && !switches {
            continue;
        }
        for node in signals::reached(drawing, item.node, &passes, charge)? {
            let is_target = signals::is_target(drawing, node);
            match &mut of_label {
                Some(label) if group.key.is_protective && !members.contains(&node) => {
                    label.add(node, is_target, passes(node));
                }
                _ if passes(node) || is_target => sets.unite(item.node, node),
                _ => {}
            }
        }
    }
    unite_same_effects(labels, &mut sets);
    Ok(sets)
}

/// Instruments with a label, and what their signals lead to.
struct Label {
    first: NodeId,
    targets: Vec<NodeId>,
    instruments: Vec<NodeId>,
}

impl Label {
    fn new(first: NodeId) -> Label {
        Label { first, targets: Vec::new(), instruments: Vec::new() }
    }

    fn add(&mut self, node: NodeId, is_target: bool, is_instrument: bool) {
        match (is_target, is_instrument) {
            (true, _) => self.targets.push(node),
            (false, true) => self.instruments.push(node),
            (false, false) => {}
        }
    }

    /// Returns the items that the instruments act on, or else the logic that they lead to.
    fn effects(self) -> Vec<NodeId> {
        let mut effects = if self.targets.is_empty() { self.instruments } else { self.targets };
        effects.sort_unstable();
        effects.dedup();
        effects
    }
}

/// Unites the labels that act on the same items.
fn unite_same_effects(labels: HashMap<&str, Label>, sets: &mut Sets) {
    let mut first_by_effects: HashMap<Vec<NodeId>, NodeId> = HashMap::new();
    for label in labels.into_values() {
        let first = label.first;
        let effects = label.effects();
        if !effects.is_empty() {
            sets.unite(*first_by_effects.entry(effects).or_insert(first), first);
        }
    }
}

/// Returns the indices of the trains of an instrument; `None` for the rest of the group.
fn trains_of(
    drawing: &Drawing<'_>,
    item: &Item,
    sets: &mut Sets,
    roots: &[u32],
    charge: ChargeFn<'_>,
) -> Result<Vec<Option<usize>>> {
    let own = sets.root(item.node);
    if let Some(at) = roots.iter().position(|root| *root == own) {
        return Ok(vec![Some(at)]);
    }
    if instrument_class::stage(drawing, item.node) != Stage::Sensor {
        return Ok(vec![None]);
    }
    let passes = |node: NodeId| drawing.tag(node).is_none() || instrument_class::stage(drawing, node) == Stage::Sensor;
    let fed = signals::reached(drawing, item.node, &passes, charge)?;
    let mut trains: Vec<usize> = Vec::new();
    for node in fed.iter().copied() {
        let root = sets.root(node);
        trains.extend(roots.iter().position(|known| *known == root));
    }
    trains.sort_unstable();
    trains.dedup();
    Ok(match () {
        () if !trains.is_empty() => trains.into_iter().map(Some).collect(),
        () if item.tag.suffix.is_empty() && fed.is_empty() => (0..roots.len()).map(Some).collect(),
        () => vec![None],
    })
}

/// Sets of the few nodes around a group: union-find with an index for each node that occurs.
#[derive(Debug)]
struct Sets {
    indices: HashMap<NodeId, u32>,
    sets: UnionFind,
}

impl Sets {
    fn new() -> Sets {
        Sets { indices: HashMap::new(), sets: UnionFind::new(0) }
    }

    /// Returns the set of a node, by the index of its first node.
    fn root(&mut self, node: NodeId) -> u32 {
        let index = *self.indices.entry(node).or_insert_with(|| self.sets.add());
        self.sets.find(index)
    }

    fn unite(&mut self, one: NodeId, other: NodeId) {
        let [one, other] = [self.root(one), self.root(other)];
        self.sets.join(one, other);
    }
}

//! Parts of trips with the number of a control loop: relays that only trips feed, and transmitters that only they read.
//!
//! The tag of a relay or a transmitter does not state that it belongs to a trip: `FY-1` may be the converter of `FIC-1` or
//! the solenoid of a trip at `FV-1`, and `PT-1A`, `PT-1B` and `PT-1C` may feed a voter while `PT-1` feeds `PIC-1`.

use hashbrown::{HashMap, HashSet};

use super::groups::{Group, Item, Key};
use super::links::Links;
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::pid::ChargeFn;
use crate::pid::instrument_class::{self, LoopFunction, Stage};
use crate::pid::tag::Protection;

/// Returns whether an instrument may be a relay of a trip, whatever its number.
pub(super) fn is_relay(drawing: &Drawing<'_>, node: NodeId) -> bool {
    instrument_class::stage(drawing, node) == Stage::Logic
        && instrument_class::loop_function(drawing, node) == LoopFunction::Acts
        && !instrument_class::acts_by_class(drawing, node)
        && !instrument_class::is_by_hand(drawing, node)
}

/// Makes such parts groups of their own.
pub(super) fn split(
    drawing: &Drawing<'_>,
    groups: Vec<Group>,
    links: &Links<'_>,
    charge: ChargeFn<'_>,
) -> Result<Vec<Group>> {
    let mut neighbors = Neighbors::new(links);
    let mut in_trip: HashSet<NodeId> = HashSet::new();
    let mut in_other: HashSet<NodeId> = HashSet::new();
    for group in &groups {
        charge(1 + group.items.len() as u64)?;
        let set = if group.key.is_protective { &mut in_trip } else { &mut in_other };
        set.extend(group.items.iter().map(|item| item.node));
    }
    in_trip.retain(|node| !in_other.contains(node));
    let relays = neighbors.relays(drawing, &groups, &mut in_trip, charge)?;
    let mut parts = Vec::with_capacity(groups.len());
    for group in groups {
        charge(1 + group.items.len() as u64)?;
        if group.key.is_protective {
            parts.push(group);
            continue;
        }
        let Group { key, suffix, items } = group;
        let (own_relays, items): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|item| relays.contains(&item.node));
        let transmitters = neighbors.transmitters(drawing, &items, &in_trip, charge)?;
        let (transmitters, items): (Vec<Item>, Vec<Item>) =
            items.into_iter().partition(|item| transmitters.contains(&item.node));
        let part = |key: &Key, item| Group { key: key.clone(), suffix: suffix.clone(), items: vec![item] };
        // Whether the trips are stated to be trips is known when the groups are united.
        let protective = Key { is_protective: true, ..key.clone() };
        let relay = |item: Item| part(&protective, Item { protection: Some(Protection::Unclear), ..item });
        parts.extend(own_relays.into_iter().map(relay));
        parts.extend(transmitters.into_iter().map(|item| part(&key, item)));
        if !items.is_empty() {
            parts.push(Group { key, suffix, items });
        }
    }
    parts.sort_by_key(|group| group.items.first().map(|item| item.node));
    Ok(parts)
}

/// Instruments before and behind each instrument along its signals.
struct Neighbors<'l> {
    feeders: HashMap<NodeId, Vec<NodeId>>,
    targets: HashMap<NodeId, Vec<NodeId>>,
    links: &'l Links<'l>,
}

impl Neighbors<'_> {
    fn new<'l>(links: &'l Links<'l>) -> Neighbors<'l> {
        let mut neighbors = Neighbors { feeders: HashMap::new(), targets: HashMap::new(), links };
        for (from, to) in links.iter() {
            neighbors.feeders.entry(*to).or_default().push(*from);
            neighbors.targets.entry(*from).or_default().push(*to);
        }
        neighbors
    }

    /// Returns the relays of groups without protection that only trips feed, directly or through other such relays, and
    /// adds them to `in_trip`. A hand switch may start a loop of either kind.
    fn relays(
        &mut self,
        drawing: &Drawing<'_>,
        groups: &[Group],
        in_trip: &mut HashSet<NodeId>,
        charge: ChargeFn<'_>,
    ) -> Result<HashSet<NodeId>> {
        let ordinary = groups.iter().filter(|group| !group.key.is_protective && group.items.len() > 1);
        let mut candidates: Vec<NodeId> = ordinary
            .flat_map(|group| &group.items)
            .map(|item| item.node)
            .filter(|node| is_relay(drawing, *node))
            .collect();
        let mut relays = HashSet::new();
        loop {
            let before = candidates.len();
            let mut left = Vec::new();
            for node in candidates {
                let feeders = self.feeders.get(&node).map_or(&[][..], Vec::as_slice);
                charge(1 + feeders.len() as u64)?;
                let mut feeders =
                    feeders.iter().filter(|node| !instrument_class::is_by_hand(drawing, **node)).peekable();
                if feeders.peek().is_some() && feeders.all(|feeder| in_trip.contains(feeder)) {
                    in_trip.insert(node);
                    relays.insert(node);
                } else {
                    left.push(node);
                }
            }
            if left.len() == before {
                return Ok(relays);
            }
            candidates = left;
        }
    }

    /// Returns the transmitters of a group that only trips read, if other transmitters feed its functions.
    fn transmitters(
        &self,
        drawing: &Drawing<'_>,
        items: &[Item],
        in_trip: &HashSet<NodeId>,
        charge: ChargeFn<'_>,
    ) -> Result<HashSet<NodeId>> {
        let own: HashSet<NodeId> = items.iter().map(|item| item.node).collect();
        let mut found = HashSet::new();
        let mut is_fed = false;
        for item in items.iter().filter(|item| !instrument_class::has_position_letters(drawing, item.node)) {
            let is_transmitter = instrument_class::stage(drawing, item.node) == Stage::Sensor
                && instrument_class::loop_function(drawing, item.node) == LoopFunction::Measures;
            let targets = self.targets.get(&item.node).map_or(&[][..], Vec::as_slice);
            charge(1 + targets.len() as u64)?;
            let mut targets = targets.iter().filter(|node| self.links.is_instrument(**node)).peekable();
            if !is_transmitter || targets.peek().is_none() {
                continue;
            }
            if targets.clone().all(|target| in_trip.contains(target)) {
                found.insert(item.node);
            } else {
                is_fed |= targets.any(|target| own.contains(target));
            }
        }
        Ok(if is_fed { found } else { HashSet::new() })
    }
}

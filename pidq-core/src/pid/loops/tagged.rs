//! Loops of the instruments that no loop node has, by the measured variable, the number and the suffix of their tags.

use hashbrown::{HashMap, HashSet};

use super::groups::{Group, Item, Key, United};
use super::{logic, protection, signals, trains};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::pid::ChargeFn;
use crate::pid::instrument_class::parts;
use crate::pid::tag::Tag;

/// Finds the loops of the instruments that are not assigned to a loop node.
pub(super) fn find(drawing: &Drawing<'_>, assigned: &HashSet<NodeId>, charge: ChargeFn<'_>) -> Result<Vec<United>> {
    let mut by_key: HashMap<Key, usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for node in 0..drawing.topology.node_count() as u32 {
        charge(1)?;
        if signals::role(drawing, node) != Role::Instrument || assigned.contains(&node) {
            continue;
        }
        let Some(tag) = drawing.tag(node).and_then(Tag::parse) else { continue };
        let protection = protection::of_node(drawing, node, charge)?;
        let key = Key::new(&tag, protection);
        let at = *by_key.entry(key.clone()).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Group { key, suffix: String::new(), items: Vec::new() });
        }
        groups[at].items.push(Item { node, tag, protection });
    }
    unite_differences(drawing, &mut groups, &by_key, charge)?;
    let mut trains = Vec::with_capacity(groups.len());
    for group in groups {
        for train in trains::split(drawing, group, charge)? {
            match train.key.is_protective {
                true => trains.extend(trains::split_by_limits(drawing, train, charge)?),
                false => trains.push(train),
            }
        }
    }
    trains.sort_by_key(|group| group.items.first().map(|item| item.node));
    let united = logic::unite(drawing, trains, assigned, charge)?;
    // The actuator of a valve with the tag of the valve is no loop of its own.
    let mut kept = Vec::with_capacity(united.len());
    for found in united {
        if !are_valve_parts(drawing, &found.members, charge)? {
            kept.push(found);
        }
    }
    Ok(kept)
}

/// Returns whether all of some instruments are parts of valves.
fn are_valve_parts(drawing: &Drawing<'_>, members: &[NodeId], charge: ChargeFn<'_>) -> Result<bool> {
    for member in members {
        if parts::moved_valve(drawing, *member, charge)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Unites the instruments of a difference with those of the variable itself where a signal connects them: transmitters
/// `PT-1A` and `PT-1B` whose difference `PDY-1` computes.
fn unite_differences(
    drawing: &Drawing<'_>,
    groups: &mut Vec<Group>,
    by_key: &HashMap<Key, usize>,
    charge: ChargeFn<'_>,
) -> Result<()> {
    for at in 0..groups.len() {
        let Some(first) = groups[at].items.first().filter(|item| item.tag.measures_difference()) else { continue };
        let key = Key { variable: first.tag.without_difference().variable_id(), ..groups[at].key.clone() };
        let Some(other) = by_key.get(&key).copied().filter(|other| *other != at) else { continue };
        if are_connected(drawing, &groups[at], &groups[other], charge)? {
            let [from, to] = [at.max(other), at.min(other)];
            let moved = std::mem::take(&mut groups[from].items);
            groups[to].items.extend(moved);
            groups[to].items.sort_by_key(|item| item.node);
        }
    }
    groups.retain(|group| !group.items.is_empty());
    Ok(())
}

fn are_connected(drawing: &Drawing<'_>, one: &Group, other: &Group, charge: ChargeFn<'_>) -> Result<bool> {
    let nodes = |group: &Group| group.items.iter().map(|item| item.node).collect::<HashSet<NodeId>>();
    for (group, targets) in [(one, nodes(other)), (other, nodes(one))] {
        for item in &group.items {
            if signals::successors(drawing, item.node, charge)?.iter().any(|(next, _)| targets.contains(next)) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

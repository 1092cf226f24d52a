//! Where pipes end: dead ends, drains, vents and bleeds.
//!
//! Elevation is unknown on a drawing: a drain and a vent look alike unless a word tells them apart.

use super::{Datum, Pay};
use crate::error::Result;
use crate::graph::adjacency::{NONE, NodeId};
use crate::graph::config::{Names, snake_case};
use crate::graph::plant::Plant;
use crate::graph::roles::Role;
use crate::graph::topology::{Dir, Over, Topology};
use crate::value::Value;

/// A branch that leads to nothing: from the item that it leaves, by its items, to its end.
#[derive(Clone, Debug)]
pub(crate) struct DeadEnd {
    /// The item that the branch leaves; `NONE` where it hangs on nothing.
    pub at: NodeId,
    /// From next to `at` to the end.
    pub items: Vec<NodeId>,
    pub class: &'static str,
}

const DEAD_END: &[&str] = &["at", "end", "items", "class"];

/// A dead end, whatever it is for.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    at: NodeId,
    pub items: Vec<NodeId>,
}

/// All branches that reach no equipment, no junction and no other sheet, with what they are for.
pub(crate) fn dead_ends(plant: &Plant<'_>, pay: Pay<'_>) -> Result<Vec<DeadEnd>> {
    let branches = dead_branches(plant, pay)?.into_iter();
    Ok(branches.map(|Branch { at, items }| DeadEnd { at, class: class_of(plant, &items), items }).collect())
}

/// The same as they are drawn.
pub(crate) fn dead_branches(plant: &Plant<'_>, pay: Pay<'_>) -> Result<Vec<Branch>> {
    let topology = &plant.topology;
    let mut found = Vec::new();
    for node in 0..topology.node_count() as u32 {
        pay(1)?;
        let ends_here = topology.flow_degree(node) == 1 && !topology.is_equipment(node);
        if ends_here && topology.roles[node as usize] != Role::OffPage {
            found.extend(branch_to(topology, node, pay)?);
        }
    }
    Ok(found)
}

/// The branch that ends at a node. Nothing where it comes from the far side of another dead end that stands first.
fn branch_to(topology: &Topology, end: NodeId, pay: Pay<'_>) -> Result<Option<Branch>> {
    let table = topology.table(Over::Flow, Dir::Both);
    let mut items = vec![end];
    let (mut node, mut before) = (end, NONE);
    loop {
        pay(1)?;
        let Some(next) = table.nodes(node).iter().copied().find(|next| *next != before) else {
            // A pipe between two ends: named once, at its first end.
            let is_first = end <= node;
            items.reverse();
            return Ok(is_first.then_some(Branch { at: NONE, items }));
        };
        let is_branching = table.degree(next) > 2 || topology.is_equipment(next);
        let is_stop = is_branching || topology.roles[next as usize] == Role::OffPage;
        if is_stop || items.len() > topology.node_count() {
            items.reverse();
            return Ok(Some(Branch { at: next, items }));
        }
        items.push(next);
        (before, node) = (node, next);
    }
}

/// What a dead end is for, by its items and words.
fn class_of(plant: &Plant<'_>, items: &[NodeId]) -> &'static str {
    let topology = &plant.topology;
    let has_valve = items.iter().any(|item| topology.roles[*item as usize] == Role::Barrier);
    let is_measured = items.iter().any(|item| carries_sensor(plant, *item));
    let is_blind = items.last().is_some_and(|end| topology.roles[*end as usize] == Role::PositiveBarrier);
    let words: String = items.iter().map(|item| words_of(plant, *item) + &service_of(plant, *item)).collect();
    let has_word = |is_meant: fn(&str) -> bool| words.split(|c: char| !c.is_alphabetic()).any(is_meant);
    match () {
        () if has_word(|word| word.starts_with("drain")) => "drain",
        // A venturi is no vent.
        () if has_word(|word| matches!(word, "vent" | "vents" | "venting" | "vented" | "ventilation")) => "vent",
        () if is_measured => "instrument_connection",
        () if has_valve && !is_blind => "drain_or_vent",
        () => "plugged",
    }
}

/// What an item is said to be for, such as "low point drain".
fn service_of(plant: &Plant<'_>, node: NodeId) -> String {
    let service = plant.of_node(node, Names::Service).and_then(Value::as_str);
    service.map(|text| format!(" {}", snake_case(text))).unwrap_or_default()
}

fn words_of(plant: &Plant<'_>, node: NodeId) -> String {
    let texts = [Names::Tag, Names::Class].map(|names| plant.of_node(node, names).and_then(Value::as_str));
    let object = plant.node(node).as_object();
    let others = plant.topology.config.names(Names::Description).iter().map(|key| object?.get(key)?.as_str());
    let texts = texts.into_iter().chain(others).flatten();
    texts.map(|text| format!(" {}", snake_case(text))).collect()
}

/// Whether a nozzle is there for people and not for pipes.
pub(crate) fn is_manhole(plant: &Plant<'_>, node: NodeId) -> bool {
    let words = words_of(plant, node) + &service_of(plant, node);
    ["manhole", "manway", "handhole"].iter().any(|word| words.contains(word))
}

/// Whether an instrument is joined to an item, or is it.
pub(crate) fn carries_instrument(plant: &Plant<'_>, node: NodeId) -> bool {
    let topology = &plant.topology;
    let is_instrument = |node: &NodeId| topology.roles[*node as usize] == Role::Instrument;
    is_instrument(&node) || topology.table(Over::All, Dir::Both).nodes(node).iter().any(is_instrument)
}

/// Whether an instrument that is joined to an item measures there. What is joined to a control valve moves it.
pub(crate) fn carries_sensor(plant: &Plant<'_>, node: NodeId) -> bool {
    plant.topology.roles[node as usize] != Role::Control && carries_instrument(plant, node)
}

/// Whether an item makes sense only between two pipes: a valve, a reducer, a tee.
pub(crate) fn stands_in_line(plant: &Plant<'_>, node: NodeId) -> bool {
    match plant.topology.roles[node as usize] {
        Role::Barrier | Role::Control | Role::OneWay | Role::Relief | Role::SizeBreak | Role::Junction => true,
        Role::None => words_of(plant, node).contains("valve"),
        _ => false,
    }
}

/// Dead ends as rows.
pub(crate) fn rows<'a>(ends: &[DeadEnd], keeps: impl Fn(&DeadEnd) -> bool) -> Datum<'a> {
    let row = |end: &DeadEnd| {
        let last = end.items.last().copied().unwrap_or(NONE);
        vec![Datum::Node(end.at), Datum::Node(last), Datum::Nodes(end.items.clone()), Datum::Word(end.class)]
    };
    Datum::Table(DEAD_END, ends.iter().filter(|end| keeps(end)).map(row).collect())
}

//! Control loops: what senses, what decides, what acts, and whether one of them is missing.

use hashbrown::{HashMap, HashSet};

use super::tag::Tag;
use super::{Datum, Pay, flow, sections};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names, snake_case};
use crate::graph::plant::Plant;
use crate::graph::roles::Role;
use crate::graph::topology::{Dir, Link, Over};

/// A loop: the node that stands for it, if there is one, and its members.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub node: Option<NodeId>,
    pub name: String,
    pub members: Vec<NodeId>,
}

const LOOP: &[&str] = &[
    "loop",
    "node",
    "members",
    "sensors",
    "sensing_points",
    "functions",
    "signals",
    "final_elements",
    "lines",
    "fail_action",
    "closed",
];

/// All loops: those that are nodes, then instruments that are in none by the letters and numbers of their tags.
pub(crate) fn loops(plant: &Plant<'_>, pay: Pay<'_>) -> Result<Vec<Loop>> {
    let topology = &plant.topology;
    let groups = flow::Members::of(plant, pay)?;
    let mut found = Vec::new();
    let mut placed: HashSet<NodeId> = HashSet::new();
    for node in 0..topology.node_count() as u32 {
        pay(1)?;
        if plant.has_type(node, Names::LoopType) {
            let mut members = groups.all(node, pay)?;
            members.sort_unstable();
            placed.extend(&members);
            found.push(Loop { node: Some(node), name: name_of(plant, node, &members), members });
        }
    }
    reach_parts(plant, &mut placed, pay)?;
    let mut by_tag: HashMap<String, usize> = HashMap::new();
    for node in 0..topology.node_count() as u32 {
        let is_left = topology.roles[node as usize] == Role::Instrument && !placed.contains(&node);
        let Some(tag) = plant.tag(node).filter(|_| is_left).and_then(Tag::parse) else { continue };
        let name = tag.loop_id();
        let at = *by_tag.entry(name.clone()).or_insert(found.len());
        if at == found.len() {
            found.push(Loop { node: None, name, members: Vec::new() });
        }
        found[at].members.push(node);
    }
    pay(topology.node_count() as u64)?;
    add_valves(plant, &mut found, &by_tag, &placed);
    Ok(found)
}

/// Adds control valves to the loops that their tags name, where there is no other word of their loop: a valve alone is none.
fn add_valves(plant: &Plant<'_>, found: &mut [Loop], by_tag: &HashMap<String, usize>, placed: &HashSet<NodeId>) {
    let topology = &plant.topology;
    let is_left = |node: &NodeId| topology.roles[*node as usize] == Role::Control && !placed.contains(node);
    for node in (0..topology.node_count() as u32).filter(is_left) {
        let tag = plant.tag(node).and_then(Tag::parse);
        if let Some(at) = tag.and_then(|tag| by_tag.get(&tag.loop_id())) {
            found[*at].members.push(node);
        }
    }
    by_tag.values().for_each(|at| found[*at].members.sort_unstable());
}

/// Adds the instruments that are joined to those of a loop, such as the actuator that fulfils a function.
fn reach_parts(plant: &Plant<'_>, placed: &mut HashSet<NodeId>, pay: Pay<'_>) -> Result<()> {
    let topology = &plant.topology;
    let is_instrument = |node: NodeId| topology.roles[node as usize] == Role::Instrument;
    let mut open: Vec<NodeId> = placed.iter().copied().filter(|node| is_instrument(*node)).collect();
    while let Some(node) = open.pop() {
        let near = topology.table(Over::All, Dir::Both).nodes(node);
        let parts = topology.named_members(node);
        pay(1 + (near.len() + parts.len()) as u64)?;
        let all = near.iter().chain(parts).copied().chain(topology.named_group(node));
        open.extend(all.filter(|next| is_instrument(*next) && placed.insert(*next)));
    }
    Ok(())
}

/// The tag of a loop, or what the tags of its members say.
fn name_of(plant: &Plant<'_>, node: NodeId, members: &[NodeId]) -> String {
    let own = plant.tag(node).map(String::from);
    let of_member = || members.iter().find_map(|member| Some(Tag::parse(plant.tag(*member)?)?.loop_id()));
    own.or_else(of_member).unwrap_or_default()
}

/// A loop with the parts that its members play.
pub(crate) fn row<'a>(plant: &Plant<'a>, found: &Loop, pay: Pay<'_>) -> Result<Vec<Datum<'a>>> {
    let topology = &plant.topology;
    pay(1 + found.members.len() as u64)?;
    let finals = final_elements(plant, &found.members, pay)?;
    let is_part =
        |node: &NodeId| topology.roles[*node as usize] == Role::Instrument && finals.binary_search(node).is_err();
    let instruments: Vec<NodeId> = found.members.iter().copied().filter(is_part).collect();
    let (sensors, functions): (Vec<NodeId>, Vec<NodeId>) = instruments.iter().partition(|node| senses(plant, **node));
    let points = sensing_points(plant, &sensors, pay)?;
    let signals = signals(plant, &found.members, &finals, pay)?;
    let edges = finals.iter().flat_map(|node| topology.table(Over::Flow, Dir::Both).edges(*node).iter().copied());
    let lines = sections::lines_of(plant, edges);
    let fail = finals.iter().find_map(|node| plant.of_node(*node, Names::FailAction));
    let closed = !sensors.is_empty() && !finals.is_empty();
    Ok(vec![
        Datum::Text(found.name.clone()),
        Datum::node(found.node),
        Datum::Nodes(found.members.clone()),
        Datum::Nodes(sensors),
        Datum::Nodes(points),
        Datum::Nodes(functions),
        Datum::Edges(signals),
        Datum::Nodes(finals),
        Datum::texts(lines),
        Datum::value(fail),
        Datum::Bool(closed),
    ])
}

/// Loops as rows.
pub(crate) fn rows<'a>(plant: &Plant<'a>, loops: &[Loop], pay: Pay<'_>) -> Result<Datum<'a>> {
    let mut rows = Vec::with_capacity(loops.len());
    for found in loops {
        rows.push(row(plant, found, pay)?);
    }
    Ok(Datum::Table(LOOP, rows))
}

/// One loop as a record.
pub(crate) fn record<'a>(plant: &Plant<'a>, found: &Loop, pay: Pay<'_>) -> Result<Datum<'a>> {
    Ok(Datum::Record(LOOP, row(plant, found, pay)?))
}

/// Whether a class of an instrument says that it moves something.
pub(crate) fn acts_by_class(plant: &Plant<'_>, node: NodeId) -> bool {
    has_word(plant, node, &["actuat", "positioner"])
}

/// Whether an instrument senses: by its pipe or a signal from the process, by its class, or by a letter of its tag.
pub(crate) fn senses(plant: &Plant<'_>, node: NodeId) -> bool {
    let topology = &plant.topology;
    let is_process = |other: NodeId| {
        let role = topology.roles[other as usize];
        role != Role::Instrument && !role.closes() && (topology.flow_degree(other) > 0 || topology.is_equipment(other))
    };
    let mut told = topology.table(Over::All, Dir::Up).arcs(node);
    let is_told = told.any(|(other, edge)| topology.links[edge as usize].has(Link::SIGNAL) && is_process(other));
    // Drawings without sensors of their own join the instrument itself to the process.
    if is_told || topology.flow_degree(node) > 0 {
        return true;
    }
    if is_sensor_by_class(plant, node) {
        return true;
    }
    let letters = plant.tag(node).and_then(Tag::parse_letters).map(|tag| tag.split().1).unwrap_or_default();
    letters.iter().any(|letter| matches!(letter, 'T' | 'E'))
}

/// Whether a class of an instrument says that it senses.
pub(crate) fn is_sensor_by_class(plant: &Plant<'_>, node: NodeId) -> bool {
    has_word(plant, node, &["sensor", "transmitter", "element", "signal_generating", "sensing"])
}

/// Whether a class of a node has a part of a word. What is longer than a class is a text, and looking through it each time
/// that somebody asks would take for ever.
fn has_word(plant: &Plant<'_>, node: NodeId, words: &[&str]) -> bool {
    let object = plant.node(node).as_object();
    let classes = plant.topology.config.names(Names::Class).iter();
    let classes = classes.filter_map(|name| object?.get(name)?.as_str()).filter(|class| class.len() <= MAX_CLASS);
    classes.map(snake_case).any(|class| words.iter().any(|word| class.contains(word)))
}

/// The valves that are members, or that members act on by way of signals and actuators. Ascending.
pub(crate) fn final_elements(plant: &Plant<'_>, members: &[NodeId], pay: Pay<'_>) -> Result<Vec<NodeId>> {
    const FAR: u32 = 3;
    let topology = &plant.topology;
    let acts = |edge: EdgeId| {
        let link = topology.links[edge as usize];
        let leads_on =
            [Link::SIGNAL, Link::ACTUATES, Link::PART, Link::MEMBER].into_iter().any(|wanted| link.has(wanted));
        // What a sensor sits in is not what it acts on.
        leads_on && !link.has(Link::ZONE)
    };
    // What an actuator moves is a final element, whatever its class; what a sensor refers to is the element it senses with.
    let is_moved = |node: NodeId| {
        let mut arcs = topology.table(Over::All, Dir::Up).arcs(node);
        let moves = |(from, edge): (NodeId, EdgeId)| {
            topology.links[edge as usize].has(Link::ACTUATES) && !is_sensor_by_class(plant, from)
        };
        topology.flow_degree(node) > 0 && arcs.any(moves)
    };
    let is_final = |node: NodeId| topology.roles[node as usize].closes() || is_moved(node);
    let mut seen: HashSet<NodeId> = members.iter().copied().collect();
    let mut queue: Vec<(NodeId, u32)> = members.iter().map(|member| (*member, 0)).collect();
    let mut at = 0;
    while let Some((node, depth)) = queue.get(at).copied() {
        at += 1;
        if is_final(node) || depth == FAR {
            continue;
        }
        let table = topology.table(Over::All, Dir::Down);
        let parts = topology.named_members(node);
        pay(1 + (table.degree(node) + parts.len()) as u64)?;
        let acted_on = table.arcs(node).filter(|(_, edge)| acts(*edge)).map(|(next, _)| next);
        for next in acted_on.chain(parts.iter().copied()) {
            let is_on_the_way = is_final(next) || topology.flow_degree(next) == 0;
            if is_on_the_way && seen.insert(next) {
                queue.push((next, depth + 1));
            }
        }
    }
    let mut finals: Vec<NodeId> = queue.into_iter().map(|(node, _)| node).filter(|node| is_final(*node)).collect();
    finals.sort_unstable();
    Ok(finals)
}

/// Where sensors sit: what they are located in, what signals come from that is no instrument, or what a pipe joins them to.
fn sensing_points(plant: &Plant<'_>, sensors: &[NodeId], pay: Pay<'_>) -> Result<Vec<NodeId>> {
    let topology = &plant.topology;
    let mut points = Vec::new();
    for sensor in sensors {
        pay(1 + topology.table(Over::All, Dir::Both).degree(*sensor) as u64)?;
        let located = topology
            .table(Over::All, Dir::Down)
            .arcs(*sensor)
            .filter(|(_, edge)| topology.links[*edge as usize].has(Link::ZONE));
        let tapped = topology.table(Over::All, Dir::Up).arcs(*sensor).filter(|(node, edge)| {
            topology.links[*edge as usize].has(Link::SIGNAL) && topology.roles[*node as usize] != Role::Instrument
        });
        let piped = topology.table(Over::Flow, Dir::Both).arcs(*sensor);
        points.extend(located.chain(tapped).chain(piped).map(|(node, _)| node));
    }
    points.sort_unstable();
    points.dedup();
    Ok(points)
}

/// The signals between the parts of a loop, from the sensor on.
fn signals(plant: &Plant<'_>, members: &[NodeId], finals: &[NodeId], pay: Pay<'_>) -> Result<Vec<EdgeId>> {
    let topology = &plant.topology;
    let parts: HashSet<NodeId> = members.iter().chain(finals).copied().collect();
    let table = topology.table(Over::All, Dir::Down);
    let mut edges = Vec::new();
    for part in &parts {
        pay(1 + table.degree(*part) as u64)?;
        let inner = table
            .arcs(*part)
            .filter(|(next, edge)| parts.contains(next) && topology.links[*edge as usize].has(Link::SIGNAL));
        edges.extend(inner.map(|(_, edge)| edge));
    }
    edges.sort_unstable();
    edges.dedup();
    let order = flow::order(plant, &edges, &[], pay)?;
    let place: HashMap<NodeId, usize> = order.iter().copied().zip(0..).collect();
    edges.sort_by_key(|edge| place.get(&topology.flow_ends(*edge)[0]).copied());
    Ok(edges)
}

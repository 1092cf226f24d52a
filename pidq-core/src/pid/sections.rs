//! Division of a plant: boundaries, cut points, bypasses, recycles, the equipment graph, sections for a review.

mod closed_ways;
mod design_limits;
mod emergency_valves;
pub(crate) mod inner_valves;
pub(crate) mod inventory;
pub(crate) mod open_ways;
mod partition;
mod relief_boundaries;
mod safeguards;
mod separations;
mod series;
mod sheltered;
pub(crate) mod ways_around;

use hashbrown::{HashMap, HashSet};

use super::dead_ends::{is_common_outlet, is_unused_port};
use super::instrument_class::Stage;
use super::instrument_class::parts::instruments_of;
use super::isolate::connections::possible_pipe_end;
use super::isolate::parts::{Parts, open_ends};
use super::isolate::pipe_count;
use super::pipe_lines::impulse_lines::is_impulse_line;
use super::valve_state::open_equipment::{Opening, opening};
use super::valve_state::unknown_edges::unknown_connections;
use super::valve_state::{BlindPosition, Installation, Spool, blind_position, installation, is_not_installed, spool};
use super::{Budget, ChargeFn, Datum, dead_ends, instrument_class, lists, pipe_lines, push_row};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::connectivity::{UnionFind, articulation_points, strongly_connected};
use crate::graph::drawing::Drawing;
use crate::graph::equipment_sides::is_unstated;
use crate::graph::roles::Role;
use crate::graph::routes;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags, Topology};
use crate::graph::vocabulary;
use crate::graph::walk::{self, EquipmentPolicy, Visitor, WalkOptions, WalkScratch};
use crate::value::Value;

use design_limits::design_limits;
use relief_boundaries::relief_boundaries;
use safeguards::{Safeguards, SectionItems};

/// Returns the options of a walk through equipment or not.
fn walk_options(dir: Direction, pass: EquipmentPolicy) -> WalkOptions {
    WalkOptions { edges: EdgeFilter::Flow, dir, pass, depth: u32::MAX }
}

/// Visitor that ends branches at some nodes.
struct BoundaryVisitor<'f, 'p> {
    charge: ChargeFn<'p>,
    ends: &'f HashSet<NodeId>,
}

impl Visitor for BoundaryVisitor<'_, '_> {
    fn charge(&mut self, units: u64) -> Result<()> {
        (self.charge)(units)
    }

    fn ends_at(&mut self, node: NodeId) -> Result<bool> {
        Ok(self.ends.contains(&node))
    }
}

/// Visitor that avoids some nodes and edges.
struct AvoidingVisitor<'d, 'p> {
    charge: ChargeFn<'p>,
    avoided: &'d Avoided,
}

#[derive(Default)]
struct Avoided {
    nodes: HashSet<NodeId>,
    edges: HashSet<EdgeId>,
}

impl Visitor for AvoidingVisitor<'_, '_> {
    fn charge(&mut self, units: u64) -> Result<()> {
        (self.charge)(units)
    }

    fn follows(&mut self, edge: EdgeId) -> Result<bool> {
        Ok(!self.avoided.edges.contains(&edge))
    }

    fn enters(&mut self, node: NodeId) -> Result<bool> {
        Ok(!self.avoided.nodes.contains(&node))
    }
}

/// Returns the items reached from some items without passing the stops.
pub(crate) fn boundary<'a>(
    drawing: &Drawing<'a>,
    inside: &[NodeId],
    stops: &[NodeId],
    charge: ChargeFn<'_>,
) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["inside", "boundary", "unused", "leaks"];
    let stop_set: HashSet<NodeId> = stops.iter().copied().collect();
    let walk_options = walk_options(Direction::Both, EquipmentPolicy::Zone);
    let parts = Parts::collect(drawing, charge)?;
    let reached = reached_with_parts(drawing, inside, &stop_set, &parts, &walk_options, charge)?;
    let (reached_stops, within): (Vec<NodeId>, Vec<NodeId>) = reached.iter().partition(|node| stop_set.contains(*node));
    let used: HashSet<NodeId> = reached_stops.iter().copied().collect();
    let unused = stops.iter().copied().filter(|stop| !used.contains(stop)).collect();
    let mut leaks = leaks(drawing, &within, &parts, charge)?;
    leaks.extend(ports_of_unknown_side(drawing, &within, charge)?);
    leaks.retain(|node| !stop_set.contains(node));
    charge(drawing.topology.dangling.len() as u64)?;
    let seen: HashSet<NodeId> = leaks.iter().copied().collect();
    let dangling = || drawing.topology.dangling.iter().copied();
    let incomplete = dangling().flat_map(|edge| open_ends(drawing, edge));
    let incomplete: HashSet<NodeId> =
        incomplete.chain(dangling().filter_map(|edge| connected_equipment(drawing, edge))).collect();
    leaks.extend(within.iter().copied().filter(|node| incomplete.contains(node) && !seen.contains(node)));
    // A stop that may not be there separates nothing.
    let may_be_absent = |stop: &NodeId| installation(drawing, *stop) != Installation::Installed;
    leaks.extend(reached_stops.iter().copied().filter(may_be_absent));
    Ok(Datum::Record(KEYS, [within, reached_stops, unused, leaks].map(Datum::Nodes).into()))
}

/// Returns the ports of equipment inside a boundary that may be on a side that it includes: they state no side, or those inside
/// do not.
fn ports_of_unknown_side(drawing: &Drawing<'_>, within: &[NodeId], charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    let inside: HashSet<NodeId> = within.iter().copied().collect();
    let bodies = within.iter().copied().filter(|node| topology.ports.degree(*node) > 0);
    let mut found = Vec::new();
    for body in bodies {
        let ports = topology.ports.nodes(body);
        charge(1 + ports.len() as u64)?;
        let is_outside = |port: &NodeId| topology.flow_degree(*port) > 0 && !inside.contains(port);
        if !ports.iter().any(is_outside) {
            continue;
        }
        let may_have_several = drawing.may_have_several_sides(body, charge)?;
        let sides: HashSet<NodeId> =
            ports.iter().filter(|port| inside.contains(*port)).map(|port| topology.zone(*port)).collect();
        let may_be_open =
            |port: &NodeId| sides.iter().any(|side| is_unstated([*side, topology.zone(*port)], may_have_several));
        found.extend(ports.iter().copied().filter(|port| is_outside(port) && may_be_open(port)));
    }
    Ok(found)
}

/// Returns the equipment at an edge of unknown kind to an item that the drawing lacks: it may be a pipe to other equipment.
fn connected_equipment(drawing: &Drawing<'_>, edge: EdgeId) -> Option<NodeId> {
    let topology = &drawing.topology;
    let is_unknown = topology.edge_flags[edge as usize].contains(EdgeFlags::UNKNOWN);
    let mut ends = topology.ends[edge as usize].into_iter().filter(|end| *end != NONE);
    ends.find(|end| is_unknown && topology.roles[*end as usize] == Role::Equipment)
}

/// Returns the items reached from some items without passing the stops, also through the parts of equipment that are open to
/// it, such as a boot.
fn reached_with_parts(
    drawing: &Drawing<'_>,
    inside: &[NodeId],
    stops: &HashSet<NodeId>,
    parts: &Parts,
    walk_options: &WalkOptions,
    charge: ChargeFn<'_>,
) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    let mut bodies = inside.to_vec();
    loop {
        let starts: Vec<NodeId> =
            bodies.iter().copied().chain(walk::starts(topology, walk_options, &bodies).iter().copied()).collect();
        let mut visitor = BoundaryVisitor { charge, ends: stops };
        let steps = walk::walk(topology, &mut WalkScratch::default(), &starts, walk_options, &mut visitor)?;
        let reached: Vec<NodeId> = steps.iter().filter(|step| step.is_shown()).map(|step| step.node).collect();
        let mut seen: HashSet<NodeId> = reached.iter().copied().collect();
        let count = bodies.len();
        for node in reached.iter().copied().filter(|node| topology.is_equipment(*node) && !stops.contains(node)) {
            let open = parts.open_bodies(drawing, node, charge)?;
            bodies.extend(open.into_iter().filter(|node| seen.insert(*node)));
        }
        if bodies.len() == count {
            return Ok(reached);
        }
    }
}

/// Returns the items at which a volume is open, or may be: ends of the sheet, open ends, items with a free side, nozzles,
/// valves and relief devices on equipment without a pipe, and the ends of pipes to nowhere and of edges of unknown kind.
fn leaks(drawing: &Drawing<'_>, within: &[NodeId], parts: &Parts, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    charge(topology.dangling.len() as u64)?;
    let is_pipe = |edge: &&EdgeId| topology.edge_flags[**edge as usize].contains(EdgeFlags::FLOW);
    let pipe_ends = topology.dangling.iter().filter(is_pipe).flat_map(|edge| topology.ends[*edge as usize]);
    let possible_ends = topology.dangling.iter().filter_map(|edge| possible_pipe_end(drawing, *edge));
    let dangling: HashSet<NodeId> = pipe_ends.chain(possible_ends).collect();
    let mut inside: HashSet<NodeId> = within.iter().copied().collect();
    let mut nodes = Vec::with_capacity(within.len());
    for node in within.iter().copied() {
        charge(1 + topology.ports.degree(node) as u64)?;
        nodes.push(node);
        let nozzles = topology.ports.nodes(node).iter().copied();
        nodes.extend(nozzles.filter(|nozzle| topology.flow_degree(*nozzle) == 0 && inside.insert(*nozzle)));
    }
    let mut found = Vec::new();
    for node in nodes {
        let degree = topology.flow_degree(node);
        let role = topology.roles[node as usize];
        let is_open = role == Role::OpenEnd
            || is_open_flange(drawing, node)
            || drawing.class_has(node, vocabulary::VENT_STACKS)
            || is_common_outlet(drawing, node)
            || opening(drawing, node) == Opening::Stated
            || topology.is_sheet_end(node)
            || dangling.contains(&node)
            || !topology.is_equipment(node) && topology.ports.degree(node) == 0 && degree < pipe_count(drawing, node)
            || role == Role::Port && topology.owner(node).is_none() && degree < 2
            || role == Role::Port && degree == 0 && is_unused_port(drawing, node);
        found.extend(parts.unpiped_on(node));
        if is_open || !unknown_connections(drawing, node, &inside, charge)?.is_empty() {
            found.push(node);
        }
    }
    Ok(found)
}

/// Returns whether a blind flange at the end of a pipe is stated to be open, or not to be there.
fn is_open_flange(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.topology.roles[node as usize] == Role::PositiveBarrier
        && drawing.topology.flow_degree(node) < 2
        && spool(drawing, node) != Spool::Removed
        && (blind_position(drawing, node) == BlindPosition::Open || is_not_installed(drawing, node))
}

/// Returns the items without which a connected part of the plant would fall apart, in document order.
pub(crate) fn cut_points<'a>(drawing: &Drawing<'a>, charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    let topology = &drawing.topology;
    if topology.ports.arc_count() == 0 {
        let is_cut = articulation_points(topology.table(EdgeFilter::Flow, Direction::Both), charge)?;
        return Ok(Datum::Nodes((0..topology.node_count() as u32).filter(|node| is_cut[*node as usize]).collect()));
    }
    let starts: Vec<NodeId> =
        (0..topology.node_count() as u32).filter(|node| topology.flow_degree(*node) > 0).collect();
    let walk_options = walk_options(Direction::Both, EquipmentPolicy::Any);
    let subgraph = walk::reachable_subgraph(topology, &starts, &[], &walk_options, &mut walk::ChargeOnly(charge))?;
    let is_cut = articulation_points(&subgraph, charge)?;
    let mut nodes: Vec<NodeId> = (0..subgraph.len()).filter(|at| is_cut[*at]).map(|at| subgraph.nodes[at]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    Ok(Datum::Nodes(nodes))
}

/// Returns the bypasses of some items: paths from the last branching before an item to the next one after it, avoiding
/// its own line and equipment. A drain counts as a branch of the line only if there is no other path.
pub(crate) fn bypasses(drawing: &Drawing<'_>, items: &[NodeId], charge: ChargeFn<'_>) -> Result<Vec<Bypass>> {
    let topology = &drawing.topology;
    let dead: HashSet<NodeId> =
        dead_ends::branches(drawing, charge)?.into_iter().flat_map(|branch| branch.items).collect();
    let mut bypasses = Vec::new();
    for item in items {
        let [before, after] = items_on_both_sides(topology, *item, charge)?;
        // Several pipes to an item have the same bypasses.
        let mut seen: HashSet<Vec<EdgeId>> = HashSet::new();
        let pairs = before.iter().flat_map(|first| after.iter().map(move |last| (first, last)));
        for ((from, first), (to, last)) in pairs {
            charge(1)?;
            if !leads_through(topology, *item, *from, *to) {
                continue;
            }
            let mut paths = bypass_paths(topology, *item, (*first, *last), &dead, charge)?;
            if paths.is_empty() {
                paths = bypass_paths(topology, *item, (*first, *last), &HashSet::new(), charge)?;
            }
            paths.retain(|(_, edges)| seen.insert(edges.clone()));
            bypasses.extend(paths.into_iter().map(|path| {
                let (nodes, edges) = without_own_line(topology, path);
                Bypass { item: *item, nodes, edges }
            }));
        }
    }
    Ok(bypasses)
}

/// A path around an item, with its ends.
pub(crate) struct Bypass {
    item: NodeId,
    pub nodes: Vec<NodeId>,
    pub edges: Vec<EdgeId>,
}

/// Returns bypasses as a table.
pub(crate) fn bypass_rows<'a>(drawing: &Drawing<'a>, bypasses: Vec<Bypass>) -> Datum<'a> {
    const KEYS: &[&str] = &["item", "from", "to", "nodes", "edges", "valves"];
    let closes = |node: &NodeId| drawing.topology.roles[*node as usize].closes();
    let rows = bypasses.into_iter().map(|Bypass { item, nodes, edges }| {
        let valves = nodes.iter().copied().filter(closes).collect();
        let ends = [item, nodes[0], nodes[nodes.len() - 1]].map(Datum::Node);
        ends.into_iter().chain([Datum::Nodes(nodes), Datum::Edges(edges), Datum::Nodes(valves)]).collect()
    });
    Datum::Table(KEYS, rows.collect())
}

/// Returns a bypass without its parts along the own line of the item: a bypass around an inner bypass leaves the line at a branch
/// before, to which its path leads against the flow.
fn without_own_line(topology: &Topology, (nodes, edges): Path) -> Path {
    let is_against =
        |at: usize| topology.flow_ends(edges[at]) == [nodes[at + 1], nodes[at]] && !topology.is_assumed(edges[at]);
    let is_branch = |node: NodeId| topology.flow_degree(node) > 2 && !topology.roles[node as usize].closes();
    let closes = |node: NodeId| topology.roles[node as usize].closes();
    let (last, count) = (nodes.len() - 1, edges.len());
    let own_before = (0..count).take_while(|at| is_against(*at) && !closes(nodes[at + 1])).count();
    let own_after = (0..count).rev().take_while(|at| is_against(*at) && !closes(nodes[*at])).count();
    let first = (1..=own_before).rev().find(|at| is_branch(nodes[*at])).unwrap_or(0);
    let end = (1..=own_after).rev().map(|after| last - after).find(|at| is_branch(nodes[*at])).unwrap_or(last);
    match first < end {
        true => (nodes[first..=end].to_vec(), edges[first..end].to_vec()),
        false => (nodes, edges),
    }
}

/// An item or a port of it, and what is next to it.
type Beside = (NodeId, NodeId);

/// Returns the items before and behind an item, each with the port of the item that it is connected to.
fn items_on_both_sides(topology: &Topology, item: NodeId, charge: ChargeFn<'_>) -> Result<[Vec<Beside>; 2]> {
    let bodies = || std::iter::once(item).chain(topology.ports.nodes(item).iter().copied());
    let at = |dir: Direction| -> Vec<Beside> {
        let table = topology.table(EdgeFilter::Flow, dir);
        bodies().flat_map(|body| table.nodes(body).iter().map(move |next| (body, *next))).collect()
    };
    let sides = [at(Direction::Up), at(Direction::Down)];
    charge(sides.iter().map(|side| side.len() as u64).sum())?;
    Ok(sides)
}

/// Returns whether a flow passes an item from one of its ports to another one: those of equipment are on one side of it.
fn leads_through(topology: &Topology, item: NodeId, from: NodeId, to: NodeId) -> bool {
    from == item && to == item || from != to && topology.zone(from) == topology.zone(to)
}

/// Nodes and edges of a path.
type Path = (Vec<NodeId>, Vec<EdgeId>);

/// Returns the paths around an item between the branchings on both sides: the shortest, and those that share no item
/// and no pipe with a shorter one.
fn bypass_paths(
    topology: &Topology,
    item: NodeId,
    (before, after): (NodeId, NodeId),
    dead: &HashSet<NodeId>,
    charge: ChargeFn<'_>,
) -> Result<Vec<Path>> {
    let mut avoided = Avoided::default();
    avoided.nodes.insert(item);
    avoided.nodes.extend(topology.ports.nodes(item));
    let from = next_branch(topology, before, &mut avoided.nodes, dead, charge)?;
    let to = next_branch(topology, after, &mut avoided.nodes, dead, charge)?;
    let mut paths = Vec::new();
    if from == to {
        return Ok(paths);
    }
    while let Some((nodes, edges)) = shortest_around(topology, from, to, &avoided, charge)? {
        avoided.nodes.extend(&nodes[1..nodes.len() - 1]);
        // A direct pipe would be found again and again.
        avoided.edges.extend(&edges);
        paths.push((nodes, edges));
    }
    Ok(paths)
}

fn shortest_around(
    topology: &Topology,
    from: NodeId,
    to: NodeId,
    avoided: &Avoided,
    charge: ChargeFn<'_>,
) -> Result<Option<Path>> {
    let mut visitor = AvoidingVisitor { charge: &mut *charge, avoided };
    let subgraph = walk::reachable_subgraph(
        topology,
        &[from],
        &[to],
        &walk_options(Direction::Both, EquipmentPolicy::None),
        &mut visitor,
    )?;
    let route = routes::shortest(&subgraph, &subgraph.node_mask(&[to]), charge)?;
    Ok(route.map(|route| {
        let nodes = route.indices(&subgraph).iter().map(|index| subgraph.nodes[*index as usize]).collect();
        (nodes, route.arcs.iter().map(|arc| subgraph.arc(*arc as usize).1).collect())
    }))
}

/// Returns the first item from a node on at which a line branches or ends; adds the items before it to `passed`.
/// Branches to dead items do not count.
fn next_branch(
    topology: &Topology,
    node: NodeId,
    passed: &mut HashSet<NodeId>,
    dead: &HashSet<NodeId>,
    charge: ChargeFn<'_>,
) -> Result<NodeId> {
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let mut node = node;
    loop {
        charge(1 + table.degree(node) as u64)?;
        let live_neighbors = || table.nodes(node).iter().copied().filter(|next| !dead.contains(next));
        let has_dead = live_neighbors().count() < table.degree(node);
        let is_junction = topology.roles[node as usize] == Role::Junction && !has_dead;
        let is_inner = live_neighbors().count() == 2 && !topology.is_equipment(node) && !is_junction;
        let next = live_neighbors().find(|next| !passed.contains(next));
        match next.filter(|_| is_inner) {
            Some(next) if passed.insert(node) => node = next,
            _ => return Ok(node),
        }
    }
}

/// Returns the recycles of the plant: their items, their equipment, and the edges that lead back to an earlier item.
pub(crate) fn recycles<'a>(drawing: &Drawing<'a>, charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["equipment", "items", "returns"];
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Down);
    let starts: Vec<NodeId> = (0..topology.node_count() as u32).filter(|node| table.degree(*node) > 0).collect();
    let subgraph = walk::reachable_subgraph(
        topology,
        &starts,
        &[],
        &walk_options(Direction::Down, EquipmentPolicy::Zone),
        &mut walk::ChargeOnly(charge),
    )?;
    let components = strongly_connected(&subgraph, &mut *charge)?;
    let components = components.labels();
    let mut returns: HashMap<u32, Vec<EdgeId>> = HashMap::new();
    for (component, edge) in back_edges(&subgraph, components, charge)? {
        returns.entry(component).or_default().push(edge);
    }
    let is_circular = is_on_cycle(topology, &subgraph, components, charge)?;
    let mut groups: HashMap<u32, Vec<u32>> = HashMap::new();
    for (index, component) in components.iter().enumerate().filter(|(index, _)| is_circular[*index]) {
        groups.entry(*component).or_default().push(index as u32);
    }
    let mut groups: Vec<Vec<u32>> = groups.into_values().filter(|group| group.len() > 1).collect();
    groups.sort_unstable();
    let row = |group: &Vec<u32>| {
        let mut items: Vec<NodeId> = group.iter().map(|index| subgraph.nodes[*index as usize]).collect();
        items.sort_unstable();
        items.dedup();
        let mut equipment: Vec<NodeId> = items
            .iter()
            .filter(|node| topology.is_equipment(**node))
            .map(|node| topology.equipment_or_self(*node))
            .collect();
        equipment.sort_unstable();
        equipment.dedup();
        let back_edges = returns.get(&components[group[0] as usize]).into_iter().flatten().copied();
        let back_edges: Vec<EdgeId> = back_edges.filter(|edge| *edge != NONE).collect();
        vec![Datum::Nodes(equipment), Datum::Nodes(items), Datum::Edges(back_edges)]
    };
    Ok(Datum::Table(KEYS, groups.iter().map(row).collect()))
}

/// Returns, by index, whether it lies on a cycle or between two. An edge of unknown direction leads back to its start,
/// and so does equipment that a pipe enters at a nozzle while another leaves it: neither is a cycle by itself.
fn is_on_cycle(
    topology: &Topology,
    subgraph: &walk::ReachableSubgraph,
    components: &[u32],
    charge: ChargeFn<'_>,
) -> Result<Vec<bool>> {
    let mut is_circular = vec![true; subgraph.len()];
    if topology.undirected.is_empty() && topology.ports.arc_count() == 0 {
        return Ok(is_circular);
    }
    charge((subgraph.len() + subgraph.arc_count()) as u64)?;
    let mut arcs: Vec<HashSet<(u32, EdgeId)>> = vec![HashSet::new(); subgraph.len()];
    for from in 0..subgraph.len() as u32 {
        for (to, edge) in subgraph.arcs(from).filter(|(to, _)| components[*to as usize] == components[from as usize]) {
            arcs[from as usize].insert((to, edge));
            arcs[to as usize].insert((from, edge));
        }
    }
    let mut stack: Vec<u32> = (0..subgraph.len() as u32).filter(|index| arcs[*index as usize].len() < 2).collect();
    while let Some(index) = stack.pop() {
        is_circular[index as usize] = false;
        for (other, edge) in std::mem::take(&mut arcs[index as usize]) {
            let remaining = &mut arcs[other as usize];
            if remaining.remove(&(index, edge)) && remaining.len() == 1 {
                stack.push(other);
            }
        }
    }
    Ok(is_circular)
}

/// Returns the back edges of a depth-first search, with their component.
fn back_edges(
    subgraph: &walk::ReachableSubgraph,
    components: &[u32],
    charge: ChargeFn<'_>,
) -> Result<Vec<(u32, EdgeId)>> {
    /// Visiting state of an index.
    #[derive(Clone, Copy, PartialEq)]
    enum VisitState {
        Unvisited,
        OnPath,
        Done,
    }
    let mut state = vec![VisitState::Unvisited; subgraph.len()];
    let mut edges = Vec::new();
    for root in 0..subgraph.len() as u32 {
        if state[root as usize] != VisitState::Unvisited {
            continue;
        }
        let mut path = vec![(root, subgraph.range(root).start, NONE)];
        state[root as usize] = VisitState::OnPath;
        while let Some((index, arc, via)) = path.pop() {
            charge(1)?;
            if arc == subgraph.range(index).end {
                state[index as usize] = VisitState::Done;
                continue;
            }
            path.push((index, arc + 1, via));
            let (head, edge) = subgraph.arc(arc);
            // The reverse of the edge just followed: of unknown direction, or the entry into equipment.
            if edge == via && edge != NONE {
                continue;
            }
            match state[head as usize] {
                VisitState::Unvisited => {
                    state[head as usize] = VisitState::OnPath;
                    path.push((head, subgraph.range(head).start, edge));
                }
                VisitState::OnPath => edges.push((components[head as usize], edge)),
                VisitState::Done => {}
            }
        }
    }
    Ok(edges)
}

/// Returns equipment and ends of the sheet with the connections between them, as a graph of its own.
pub(crate) fn equipment_graph<'a>(drawing: &Drawing<'a>, budget: &mut dyn Budget) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["nodes", "edges"];
    const EDGE: &[&str] = &["from", "to", "items", "lines"];
    let topology = &drawing.topology;
    let is_end = |node: &NodeId| {
        matches!(topology.roles[*node as usize], Role::Equipment | Role::OpenEnd) || topology.is_sheet_end(*node)
    };
    let nodes: Vec<NodeId> = (0..topology.node_count() as u32).filter(is_end).collect();
    let walk_options = walk_options(Direction::Down, EquipmentPolicy::None);
    let mut scratch = WalkScratch::default();
    let mut rows = Vec::new();
    let ends: HashSet<NodeId> =
        nodes.iter().copied().filter(|node| topology.roles[*node as usize] != Role::Equipment).collect();
    for from in &nodes {
        let starts = walk::starts(topology, &walk_options, std::slice::from_ref(from));
        let mut visitor = BoundaryVisitor { charge: &mut |units| budget.charge(units), ends: &ends };
        let steps = walk::walk(topology, &mut scratch, &starts, &walk_options, &mut visitor)?;
        // Half of the equipment may lead to the other half, each by a long path.
        for step in steps.iter().filter(|step| step.depth > 0 && (step.stops || ends.contains(&step.node))) {
            budget.charge(u64::from(step.depth))?;
            let path = path_to(&steps, step);
            let items = path[1..path.len() - 1].iter().map(|step| step.node).collect();
            let lines = pipe_lines::lines_of(drawing, path[1..].iter().map(|step| step.via));
            let ends = [*from, topology.equipment_or_self(step.node)].map(|node| Datum::Value(drawing.id(node)));
            let row: Vec<Datum<'a>> = ends.into_iter().chain([Datum::Nodes(items), Datum::strings(lines)]).collect();
            push_row(&mut rows, row, budget)?;
        }
    }
    Ok(Datum::Record(KEYS, vec![Datum::Nodes(nodes), Datum::Table(EDGE, rows)]))
}

/// Returns the steps from the start to `end`.
fn path_to<'s>(steps: &'s [walk::Step], end: &'s walk::Step) -> Vec<&'s walk::Step> {
    let mut path = vec![end];
    let mut at = end.from;
    while let Some(step) = steps.get(at as usize) {
        path.push(step);
        at = step.from;
    }
    path.reverse();
    path
}

/// Additional boundaries of review sections, besides equipment and the ends of the sheet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SectionCuts {
    pub control: bool,
    pub size: bool,
    pub piping_class: bool,
    pub fluid: bool,
}

/// Returns a proposal for the sections of a hazard review: parts of the piping between equipment. `is_minor` selects
/// equipment that does not end a section.
pub(crate) fn review_sections<'a>(
    drawing: &Drawing<'a>,
    cuts: SectionCuts,
    is_minor: &dyn Fn(NodeId) -> bool,
    charge: ChargeFn<'_>,
) -> Result<Datum<'a>> {
    const KEYS: &[&str] =
        &["section", "from", "to", "lines", "items", "equipment", "instruments", "safeguards", "design_limits"];
    let topology = &drawing.topology;
    let safeguards = Safeguards::find(drawing, charge)?;
    let ends_here =
        |node: NodeId| safeguards.internal_relief().contains(&node) || ends_section(drawing, cuts, is_minor, node);
    let mut ends: Vec<bool> = (0..topology.node_count() as u32).map(ends_here).collect();
    let devices = safeguards.discharging_devices(drawing, charge)?;
    let is_end = |node: NodeId| ends[node as usize];
    let mut between_all = parts_between(drawing, |node| is_end(node) || devices.binary_search(&node).is_ok(), charge)?;
    for device in relief_boundaries(drawing, &devices, &is_end, &mut between_all, charge)? {
        ends[device as usize] = true;
    }
    let mut unions = parts_between(drawing, |node| ends[node as usize], charge)?;
    let mut groups: HashMap<u32, Vec<EdgeId>> = HashMap::new();
    for edge in topology.edges_of(EdgeFlags::FLOW) {
        groups.entry(unions.find(edge)).or_default().push(edge);
    }
    let mut groups: Vec<Vec<EdgeId>> = groups.into_values().collect();
    // The impulse lines of an instrument at equipment are no section.
    let is_instrument =
        |node: &NodeId| topology.roles.get(*node as usize).is_some_and(|role| *role == Role::Instrument);
    groups.retain(|edges| {
        !edges.iter().all(|edge| is_impulse_line(drawing, *edge))
            || !edges.iter().flat_map(|edge| topology.ends[*edge as usize]).any(|node| is_instrument(&node))
    });
    groups.sort_unstable();
    // With a pump in the section, both of its sides are one, and a device between them is inside.
    for device in safeguards.internal_relief() {
        let pipes = topology.table(EdgeFilter::Flow, Direction::Both).edges(*device);
        charge(pipes.len() as u64)?;
        let is_between = pipes.windows(2).any(|pair| unions.find(pair[0]) != unions.find(pair[1]));
        ends[*device as usize] = is_between || ends_section(drawing, cuts, is_minor, *device);
    }
    let mut rows = Vec::with_capacity(groups.len());
    for (at, edges) in groups.iter().enumerate() {
        rows.push(section_row(drawing, at + 1, edges, &ends, &safeguards, charge)?);
    }
    Ok(Datum::Table(KEYS, rows))
}

/// Divides the pipes of a drawing into the parts that are connected without passing an end.
fn parts_between(drawing: &Drawing<'_>, is_end: impl Fn(NodeId) -> bool, charge: ChargeFn<'_>) -> Result<UnionFind> {
    let topology = &drawing.topology;
    let table = topology.table(EdgeFilter::Flow, Direction::Both);
    let mut unions = UnionFind::new(topology.edge_count());
    let join = |unions: &mut UnionFind, edges: &[EdgeId]| {
        edges.windows(2).for_each(|pair| unions.join(pair[0], pair[1]));
    };
    for node in (0..topology.node_count() as u32).filter(|node| !is_end(*node)) {
        let edges = table.edges(node);
        charge(1 + edges.len() as u64)?;
        join(&mut unions, edges);
        let at_ports = topology.ports.nodes(node).iter().filter_map(|port| table.edges(*port).first());
        let connected: Vec<EdgeId> = edges.first().into_iter().chain(at_ports).copied().collect();
        join(&mut unions, &connected);
    }
    Ok(unions)
}

/// Returns whether a section ends at a node.
fn ends_section(drawing: &Drawing<'_>, cuts: SectionCuts, is_minor: &dyn Fn(NodeId) -> bool, node: NodeId) -> bool {
    let topology: &Topology = &drawing.topology;
    let changes = |names: Names| {
        let edges = topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
        lists::distinct_values(drawing, edges, &lists::EdgeField::Named(names)).1
    };
    let is_equipment = topology.is_equipment(node) && !is_minor(topology.equipment_or_self(node));
    is_equipment
        || topology.roles[node as usize] == Role::OpenEnd
        || topology.is_sheet_end(node)
        || cuts.control && topology.roles[node as usize] == Role::Control
        || cuts.size && changes(Names::Size)
        || cuts.piping_class && changes(Names::PipingClass)
        || cuts.fluid && changes(Names::Fluid)
}

fn section_row<'a>(
    drawing: &Drawing<'a>,
    number: usize,
    edges: &[EdgeId],
    ends: &[bool],
    safeguards: &Safeguards,
    charge: ChargeFn<'_>,
) -> Result<Vec<Datum<'a>>> {
    let topology = &drawing.topology;
    let is_end = |node: &NodeId| ends[*node as usize];
    let unique = |nodes: Vec<NodeId>| {
        let mut seen = HashSet::new();
        nodes.into_iter().filter(|node| seen.insert(*node)).collect::<Vec<NodeId>>()
    };
    let side = |at: usize| unique(edges.iter().map(|edge| topology.flow_ends(*edge)[at]).filter(is_end).collect());
    let (from, to) = (side(0), side(1));
    let mut nodes: Vec<NodeId> = edges.iter().flat_map(|edge| topology.ends[*edge as usize]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let items: Vec<NodeId> = nodes.iter().copied().filter(|node| !is_end(node)).collect();
    let equipment = unique(
        nodes
            .iter()
            .filter(|node| topology.is_equipment(**node))
            .map(|node| topology.equipment_or_self(*node))
            .collect(),
    );
    let segments = nodes_named_by(drawing, edges, Names::Segment);
    // An instrument may be located in a segment as a whole.
    let mut sensors = Vec::new();
    for item in items.iter().chain(&segments) {
        sensors.extend(sensed_by(drawing, *item, charge)?);
    }
    let instruments = unique(sensors);
    let at_ends: Vec<NodeId> = nodes.iter().copied().filter(is_end).chain(equipment.iter().copied()).collect();
    let section = SectionItems { pipes: edges, inside: &items, ends: &unique(at_ends), instruments: &instruments };
    let safeguards = safeguards.of_section(drawing, &section, charge)?;
    let limits = design_limits(
        drawing,
        items.iter().chain(&equipment).copied().chain(nodes_with_design_limits(drawing, &nodes, edges)),
        edges,
        charge,
    )?;
    let mut lines = pipe_lines::lines_of(drawing, edges.iter().copied());
    lines.sort();
    Ok(vec![
        Datum::String(format!("S{number}")),
        Datum::Nodes(from),
        Datum::Nodes(to),
        Datum::strings(lines),
        Datum::Nodes(items),
        Datum::Nodes(equipment),
        Datum::Nodes(instruments_of(drawing, &instruments, charge)?),
        safeguards,
        limits,
    ])
}

/// Returns further nodes with design limits of a section: the lines and segments of its pipes, and the sides of
/// exchangers at its ends.
fn nodes_with_design_limits(drawing: &Drawing<'_>, nodes: &[NodeId], edges: &[EdgeId]) -> HashSet<NodeId> {
    let topology = &drawing.topology;
    let is_node = |zone: &NodeId| (*zone as usize) < topology.node_count();
    let sides = nodes.iter().map(|node| topology.zone(*node)).filter(is_node);
    let groups = [Names::Line, Names::Segment].into_iter().flat_map(|names| nodes_named_by(drawing, edges, names));
    sides.chain(groups).collect()
}

/// Returns the nodes that a field of some edges names, by id or tag. Each once.
fn nodes_named_by(drawing: &Drawing<'_>, edges: &[EdgeId], names: Names) -> Vec<NodeId> {
    let mut seen = HashSet::new();
    let node = |name: Value<'_>| drawing.by_id(name).or_else(|| drawing.first_by_tag(name.as_str()?));
    let nodes = edges.iter().filter_map(|edge| node(drawing.edge_field(*edge, names)?));
    nodes.filter(|node| seen.insert(*node)).collect()
}

/// Returns the instruments whose sensing point is an item: those in the pipe, located in the item, receiving a signal
/// from it, or connected to it without acting on it.
fn sensed_by(drawing: &Drawing<'_>, item: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let topology = &drawing.topology;
    let is_instrument = |node: NodeId| topology.roles[node as usize] == Role::Instrument;
    let arcs = topology.table(EdgeFilter::All, Direction::Both).arcs(item);
    let members = topology.field_members(item);
    charge(1 + (arcs.len() + members.len()) as u64)?;
    let mut found: Vec<NodeId> = Some(item).filter(|item| is_instrument(*item)).into_iter().collect();
    for (node, edge) in arcs.filter(|(node, _)| is_instrument(*node)) {
        charge(1 + topology.table(EdgeFilter::All, Direction::Up).degree(node) as u64)?;
        // What an instrument in the pipe feeds senses there only if it transmits: a controller does not.
        let is_fed = is_instrument(item) && instrument_class::stage(drawing, node) != Stage::Sensor;
        found.extend((!is_fed && senses_at(drawing, node, item, edge)).then_some(node));
    }
    let members = members.iter().copied().filter(|node| is_instrument(*node));
    found.extend(members.filter(|node| !instrument_class::acts_by_class(drawing, *node)));
    Ok(found)
}

/// Returns whether an edge between an instrument and an item is a sensing connection. An instrument does not sense what
/// it acts on: a controller is connected to its valve, and its sensor is elsewhere.
fn senses_at(drawing: &Drawing<'_>, instrument: NodeId, item: NodeId, edge: EdgeId) -> bool {
    let topology = &drawing.topology;
    let (flags, is_source) = (topology.edge_flags[edge as usize], topology.flow_ends(edge)[0] == item);
    let role = topology.roles[item as usize];
    if flags.contains(EdgeFlags::FLOW) || instrument_class::acts_by_class(drawing, instrument) {
        return false;
    }
    match () {
        () if flags.contains(EdgeFlags::ZONE) => !is_source,
        // An actuator moves the item it refers to; a sensor refers to its sensing element.
        () if flags.contains(EdgeFlags::ACTUATES) => instrument_class::is_sensor_by_class(drawing, instrument),
        () if flags.contains(EdgeFlags::SIGNAL) && is_source => true,
        () => !role.closes() && (role != Role::Equipment || instrument_class::senses(drawing, instrument)),
    }
}

/// Returns whether equipment is part of a line instead of its end: a pump, a filter, a blower.
pub(crate) fn is_minor(drawing: &Drawing<'_>, node: NodeId) -> bool {
    const MINOR: &[&str] = &["pump", "filter", "strainer", "blower", "fan"];
    let classes = drawing.topology.config.names(Names::Class).iter();
    let object = drawing.node(node).as_object();
    let classes = classes.filter_map(|name| object?.get(name)?.as_str()).map(snake_case);
    classes.into_iter().any(|class| MINOR.iter().any(|word| class.contains(word)))
}

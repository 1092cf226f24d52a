//! How a plant divides: what a boundary encloses, what holds it together, ways around an item, sections for a review.

use hashbrown::{HashMap, HashSet};

use super::{Datum, Pay, Purse, ends, flow, lists, loops};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::{Names, snake_case};
use crate::graph::parts::{Unions, cut_points as cuts, strong_parts};
use crate::graph::plant::Plant;
use crate::graph::roles::Role;
use crate::graph::routes;
use crate::graph::topology::{Dir, Link, Over, Topology};
use crate::graph::walk::{self, Guide, Pass, Rules, Space};
use crate::value::Value;

/// A walk against and along the flow, through equipment or not.
fn rules(dir: Dir, pass: Pass) -> Rules {
    Rules { over: Over::Flow, dir, pass, depth: u32::MAX }
}

/// A guide that ends branches at some nodes.
struct Fence<'f, 'p> {
    pay: Pay<'p>,
    ends: &'f HashSet<NodeId>,
}

impl Guide for Fence<'_, '_> {
    fn pay(&mut self, units: u64) -> Result<()> {
        (self.pay)(units)
    }

    fn ends_at(&mut self, node: NodeId) -> Result<bool> {
        Ok(self.ends.contains(&node))
    }
}

/// A guide that enters no node of some and follows no edge of some.
struct Detour<'d, 'p> {
    pay: Pay<'p>,
    avoided: &'d Avoided,
}

#[derive(Default)]
struct Avoided {
    nodes: HashSet<NodeId>,
    edges: HashSet<EdgeId>,
}

impl Guide for Detour<'_, '_> {
    fn pay(&mut self, units: u64) -> Result<()> {
        (self.pay)(units)
    }

    fn follows(&mut self, edge: EdgeId) -> Result<bool> {
        Ok(!self.avoided.edges.contains(&edge))
    }

    fn enters(&mut self, node: NodeId) -> Result<bool> {
        Ok(!self.avoided.nodes.contains(&node))
    }
}

/// What is reached from some items without going beyond the stops.
pub(crate) fn boundary<'a>(plant: &Plant<'a>, inside: &[NodeId], stops: &[NodeId], pay: Pay<'_>) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["inside", "boundary", "unused", "leaks"];
    let topology = &plant.topology;
    let ends: HashSet<NodeId> = stops.iter().copied().collect();
    let rules = rules(Dir::Both, Pass::Any);
    let starts: Vec<NodeId> =
        inside.iter().copied().chain(walk::starts(topology, &rules, inside).iter().copied()).collect();
    let mut fence = Fence { pay, ends: &ends };
    let steps = walk::walk(topology, &mut Space::default(), &starts, &rules, &mut fence)?;
    let reached: Vec<NodeId> = steps.iter().filter(|step| step.is_shown()).map(|step| step.node).collect();
    let is_leak = |node: &NodeId| matches!(topology.roles[*node as usize], Role::OffPage | Role::OpenEnd);
    let (met, within): (Vec<NodeId>, Vec<NodeId>) = reached.iter().partition(|node| ends.contains(*node));
    let used: HashSet<NodeId> = met.iter().copied().collect();
    let unused = stops.iter().copied().filter(|stop| !used.contains(stop)).collect();
    let leaks = within.iter().copied().filter(is_leak).collect();
    Ok(Datum::Record(KEYS, [within, met, unused, leaks].map(Datum::Nodes).into()))
}

/// The items without which a connected part of the plant would fall apart, in the order of the document.
pub(crate) fn cut_points<'a>(plant: &Plant<'a>, pay: Pay<'_>) -> Result<Datum<'a>> {
    let topology = &plant.topology;
    if topology.ports.arc_count() == 0 {
        let is_cut = cuts(topology.table(Over::Flow, Dir::Both), pay)?;
        return Ok(Datum::Nodes((0..topology.node_count() as u32).filter(|node| is_cut[*node as usize]).collect()));
    }
    let starts: Vec<NodeId> =
        (0..topology.node_count() as u32).filter(|node| topology.flow_degree(*node) > 0).collect();
    let rules = rules(Dir::Both, Pass::Any);
    let reach = walk::reach(topology, &starts, &[], &rules, &mut walk::Payer(pay))?;
    let is_cut = cuts(&reach, pay)?;
    let mut nodes: Vec<NodeId> = (0..reach.len()).filter(|at| is_cut[*at]).map(|at| reach.nodes[at]).collect();
    nodes.sort_unstable();
    nodes.dedup();
    Ok(Datum::Nodes(nodes))
}

/// The ways around some items: from where its line last branches before it to where it branches next, not by that line
/// and not through equipment. A drain is no branch of a line, where there is a way beyond it.
pub(crate) fn bypasses<'a>(plant: &Plant<'a>, items: &[NodeId], pay: Pay<'_>) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["item", "from", "to", "nodes", "edges", "valves"];
    let topology = &plant.topology;
    let dead: HashSet<NodeId> = ends::dead_branches(plant, pay)?.into_iter().flat_map(|branch| branch.items).collect();
    let mut rows = Vec::new();
    for item in items {
        let before = topology.table(Over::Flow, Dir::Up).nodes(*item);
        let after = topology.table(Over::Flow, Dir::Down).nodes(*item);
        let pairs = before.iter().flat_map(|from| after.iter().map(move |to| (*from, *to)));
        // Several pipes to an item are gone around by the same ways.
        let mut seen: HashSet<Vec<EdgeId>> = HashSet::new();
        for pair in pairs {
            let mut ways = ways_around(topology, *item, pair, &dead, pay)?;
            if ways.is_empty() {
                ways = ways_around(topology, *item, pair, &HashSet::new(), pay)?;
            }
            ways.retain(|(_, edges)| seen.insert(edges.clone()));
            rows.extend(ways.into_iter().map(|(nodes, edges)| {
                let valves = nodes.iter().copied().filter(|node| topology.roles[*node as usize].closes()).collect();
                let [from, to] = [nodes[0], nodes[nodes.len() - 1]];
                let ends = [*item, from, to].map(Datum::Node);
                ends.into_iter().chain([Datum::Nodes(nodes), Datum::Edges(edges), Datum::Nodes(valves)]).collect()
            }));
        }
    }
    Ok(Datum::Table(KEYS, rows))
}

/// The nodes and edges of a way.
type Way = (Vec<NodeId>, Vec<EdgeId>);

/// The ways around an item between where its line branches on both sides: the shortest, and those that share no item and no
/// pipe with a shorter one.
fn ways_around(
    topology: &Topology,
    item: NodeId,
    (before, after): (NodeId, NodeId),
    dead: &HashSet<NodeId>,
    pay: Pay<'_>,
) -> Result<Vec<Way>> {
    let mut avoided = Avoided::default();
    avoided.nodes.insert(item);
    let from = branching(topology, before, &mut avoided.nodes, dead, pay)?;
    let to = branching(topology, after, &mut avoided.nodes, dead, pay)?;
    let mut ways = Vec::new();
    if from == to {
        return Ok(ways);
    }
    while let Some((nodes, edges)) = shortest_around(topology, from, to, &avoided, pay)? {
        avoided.nodes.extend(&nodes[1..nodes.len() - 1]);
        // A pipe without an item would be found again and again.
        avoided.edges.extend(&edges);
        ways.push((nodes, edges));
    }
    Ok(ways)
}

fn shortest_around(
    topology: &Topology,
    from: NodeId,
    to: NodeId,
    avoided: &Avoided,
    pay: Pay<'_>,
) -> Result<Option<Way>> {
    let mut detour = Detour { pay: &mut *pay, avoided };
    let reach = walk::reach(topology, &[from], &[to], &rules(Dir::Both, Pass::None), &mut detour)?;
    let route = routes::shortest(&reach, &reach.mark(&[to]), pay)?;
    Ok(route.map(|route| {
        let nodes = route.numbers(&reach).iter().map(|number| reach.nodes[*number as usize]).collect();
        (nodes, route.arcs.iter().map(|arc| reach.arc(*arc as usize).1).collect())
    }))
}

/// The first item from a node on at which a line branches or ends; those before it are added to what was passed. Branches
/// to dead items do not count.
fn branching(
    topology: &Topology,
    node: NodeId,
    passed: &mut HashSet<NodeId>,
    dead: &HashSet<NodeId>,
    pay: Pay<'_>,
) -> Result<NodeId> {
    let table = topology.table(Over::Flow, Dir::Both);
    let mut node = node;
    loop {
        pay(1 + table.degree(node) as u64)?;
        let alive = || table.nodes(node).iter().copied().filter(|next| !dead.contains(next));
        let has_dead = alive().count() < table.degree(node);
        let is_junction = topology.roles[node as usize] == Role::Junction && !has_dead;
        let is_inner = alive().count() == 2 && !topology.is_equipment(node) && !is_junction;
        let next = alive().find(|next| !passed.contains(next));
        match next.filter(|_| is_inner) {
            Some(next) if passed.insert(node) => node = next,
            _ => return Ok(node),
        }
    }
}

/// The parts of the plant in which something flows in circles: their items, their equipment, and the edges that lead
/// back to an item that was passed before.
pub(crate) fn recycles<'a>(plant: &Plant<'a>, pay: Pay<'_>) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["equipment", "items", "returns"];
    let topology = &plant.topology;
    let table = topology.table(Over::Flow, Dir::Down);
    let starts: Vec<NodeId> = (0..topology.node_count() as u32).filter(|node| table.degree(*node) > 0).collect();
    let reach = walk::reach(topology, &starts, &[], &rules(Dir::Down, Pass::Zone), &mut walk::Payer(pay))?;
    let parts = strong_parts(&reach, &mut *pay)?;
    let parts = parts.of();
    let mut returns: HashMap<u32, Vec<EdgeId>> = HashMap::new();
    for (part, edge) in returning(&reach, parts, pay)? {
        returns.entry(part).or_default().push(edge);
    }
    let is_circular = circular(topology, &reach, parts, pay)?;
    let mut groups: HashMap<u32, Vec<u32>> = HashMap::new();
    for (number, part) in parts.iter().enumerate().filter(|(number, _)| is_circular[*number]) {
        groups.entry(*part).or_default().push(number as u32);
    }
    let mut groups: Vec<Vec<u32>> = groups.into_values().filter(|group| group.len() > 1).collect();
    groups.sort_unstable();
    let row = |group: &Vec<u32>| {
        let mut items: Vec<NodeId> = group.iter().map(|number| reach.nodes[*number as usize]).collect();
        items.sort_unstable();
        items.dedup();
        let mut equipment: Vec<NodeId> =
            items.iter().filter(|node| topology.is_equipment(**node)).map(|node| topology.holder(*node)).collect();
        equipment.sort_unstable();
        equipment.dedup();
        let back = returns.get(&parts[group[0] as usize]).into_iter().flatten().copied();
        let back: Vec<EdgeId> = back.filter(|edge| *edge != NONE).collect();
        vec![Datum::Nodes(equipment), Datum::Nodes(items), Datum::Edges(back)]
    };
    Ok(Datum::Table(KEYS, groups.iter().map(row).collect()))
}

/// By number: whether it lies on a circle or between two. An edge of unknown direction leads back where it came from, and
/// so does equipment where a pipe comes to a nozzle and another leaves it: that alone is no circle.
fn circular(topology: &Topology, reach: &walk::Reach, parts: &[u32], pay: Pay<'_>) -> Result<Vec<bool>> {
    let mut is_circular = vec![true; reach.len()];
    if topology.undirected.is_empty() && topology.ports.arc_count() == 0 {
        return Ok(is_circular);
    }
    pay((reach.len() + reach.arc_count()) as u64)?;
    let mut ways: Vec<HashSet<(u32, EdgeId)>> = vec![HashSet::new(); reach.len()];
    for from in 0..reach.len() as u32 {
        for (to, edge) in reach.arcs(from).filter(|(to, _)| parts[*to as usize] == parts[from as usize]) {
            ways[from as usize].insert((to, edge));
            ways[to as usize].insert((from, edge));
        }
    }
    let mut loose: Vec<u32> = (0..reach.len() as u32).filter(|number| ways[*number as usize].len() < 2).collect();
    while let Some(number) = loose.pop() {
        is_circular[number as usize] = false;
        for (other, edge) in std::mem::take(&mut ways[number as usize]) {
            let left = &mut ways[other as usize];
            if left.remove(&(number, edge)) && left.len() == 1 {
                loose.push(other);
            }
        }
    }
    Ok(is_circular)
}

/// By part: the edges that lead back to a number that is still on the way, depth first.
fn returning(reach: &walk::Reach, parts: &[u32], pay: Pay<'_>) -> Result<Vec<(u32, EdgeId)>> {
    /// How far a number is: not met, on the way, done.
    #[derive(Clone, Copy, PartialEq)]
    enum Met {
        No,
        OnTheWay,
        Done,
    }
    let mut met = vec![Met::No; reach.len()];
    let mut back = Vec::new();
    for root in 0..reach.len() as u32 {
        if met[root as usize] != Met::No {
            continue;
        }
        let mut way = vec![(root, reach.range(root).start, NONE)];
        met[root as usize] = Met::OnTheWay;
        while let Some((number, arc, via)) = way.pop() {
            pay(1)?;
            if arc == reach.range(number).end {
                met[number as usize] = Met::Done;
                continue;
            }
            way.push((number, arc + 1, via));
            let (head, edge) = reach.arc(arc);
            // Back by the edge that it came by: of unknown direction, or the way into equipment.
            if edge == via && edge != NONE {
                continue;
            }
            match met[head as usize] {
                Met::No => {
                    met[head as usize] = Met::OnTheWay;
                    way.push((head, reach.range(head).start, edge));
                }
                Met::OnTheWay => back.push((parts[head as usize], edge)),
                Met::Done => {}
            }
        }
    }
    Ok(back)
}

/// Bytes of a row among others: the room that lists of them have in reserve, and what an allocator adds to its parts.
const ROW: usize = 2 * size_of::<Vec<Datum<'_>>>() + 4 * 16;

/// The plant as equipment and ends of the sheet, joined by what lies between: a graph of its own.
pub(crate) fn equipment_graph<'a>(plant: &Plant<'a>, purse: &mut dyn Purse) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["nodes", "edges"];
    const EDGE: &[&str] = &["from", "to", "items", "lines"];
    let topology = &plant.topology;
    let is_end =
        |node: &NodeId| matches!(topology.roles[*node as usize], Role::Equipment | Role::OffPage | Role::OpenEnd);
    let nodes: Vec<NodeId> = (0..topology.node_count() as u32).filter(is_end).collect();
    let rules = rules(Dir::Down, Pass::None);
    let mut space = Space::default();
    let mut rows = Vec::new();
    let ends: HashSet<NodeId> =
        nodes.iter().copied().filter(|node| topology.roles[*node as usize] != Role::Equipment).collect();
    for from in &nodes {
        let starts = walk::starts(topology, &rules, std::slice::from_ref(from));
        let mut fence = Fence { pay: &mut |units| purse.pay(units), ends: &ends };
        let steps = walk::walk(topology, &mut space, &starts, &rules, &mut fence)?;
        // Half of the equipment may lead to the other half, and each time by a long way.
        for step in steps.iter().filter(|step| step.depth > 0 && (step.stops || ends.contains(&step.node))) {
            purse.pay(u64::from(step.depth))?;
            let way = way_to(&steps, step);
            let items = way[1..way.len() - 1].iter().map(|step| step.node).collect();
            let lines = lines_of(plant, way[1..].iter().map(|step| step.via));
            let ends = [*from, topology.holder(step.node)].map(|node| Datum::Value(plant.id(node)));
            let row: Vec<Datum<'a>> = ends.into_iter().chain([Datum::Nodes(items), Datum::texts(lines)]).collect();
            purse.hold(ROW + row.iter().map(Datum::size).sum::<usize>())?;
            rows.push(row);
        }
    }
    Ok(Datum::Record(KEYS, vec![Datum::Nodes(nodes), Datum::Table(EDGE, rows)]))
}

/// The steps from the start to one.
fn way_to<'s>(steps: &'s [walk::Step], end: &'s walk::Step) -> Vec<&'s walk::Step> {
    let mut way = vec![end];
    let mut at = end.from;
    while let Some(step) = steps.get(at as usize) {
        way.push(step);
        at = step.from;
    }
    way.reverse();
    way
}

/// The lines of some pipes, each once, in the order of their first appearance.
pub(crate) fn lines_of(plant: &Plant<'_>, edges: impl Iterator<Item = EdgeId>) -> Vec<String> {
    let mut seen = HashSet::new();
    let named = edges.filter_map(|edge| plant.of_edge(edge, Names::Line)).map(|name| flow::line_called(plant, name));
    named.filter(|name| seen.insert(name.clone())).collect()
}

/// Where sections of a review end beside equipment and the ends of the sheet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cuts {
    pub control: bool,
    pub size: bool,
    pub piping_class: bool,
    pub fluid: bool,
}

/// A proposal for the sections of a hazard review: parts of the piping between equipment. `is_minor` tells which
/// equipment does not end a section.
pub(crate) fn review_sections<'a>(
    plant: &Plant<'a>,
    cuts: Cuts,
    is_minor: &dyn Fn(NodeId) -> bool,
    pay: Pay<'_>,
) -> Result<Datum<'a>> {
    const KEYS: &[&str] =
        &["section", "from", "to", "lines", "items", "equipment", "instruments", "safeguards", "design_limits"];
    let topology = &plant.topology;
    let mut unions = Unions::new(topology.edge_count());
    let ends: Vec<bool> =
        (0..topology.node_count() as u32).map(|node| ends_section(plant, cuts, is_minor, node)).collect();
    let join = |unions: &mut Unions, edges: &[EdgeId]| {
        edges.windows(2).for_each(|pair| unions.join(pair[0], pair[1]));
    };
    for node in (0..topology.node_count() as u32).filter(|node| !ends[*node as usize]) {
        let edges = topology.table(Over::Flow, Dir::Both).edges(node);
        pay(1 + edges.len() as u64)?;
        join(&mut unions, edges);
        let ports = topology.ports.nodes(node).iter();
        let at_ports = ports.filter_map(|port| topology.table(Over::Flow, Dir::Both).edges(*port).first());
        let through: Vec<EdgeId> = edges.first().into_iter().chain(at_ports).copied().collect();
        join(&mut unions, &through);
    }
    let mut groups: HashMap<u32, Vec<EdgeId>> = HashMap::new();
    for edge in topology.edges_of(Link::FLOW) {
        groups.entry(unions.find(edge)).or_default().push(edge);
    }
    let mut groups: Vec<Vec<EdgeId>> = groups.into_values().collect();
    groups.sort_unstable();
    let mut rows = Vec::with_capacity(groups.len());
    for (at, edges) in groups.iter().enumerate() {
        rows.push(section_row(plant, at + 1, edges, &ends, pay)?);
    }
    Ok(Datum::Table(KEYS, rows))
}

/// Whether a section ends at a node.
fn ends_section(plant: &Plant<'_>, cuts: Cuts, is_minor: &dyn Fn(NodeId) -> bool, node: NodeId) -> bool {
    let topology: &Topology = &plant.topology;
    let changes = |names: Names| {
        let edges = topology.table(Over::Flow, Dir::Both).edges(node);
        lists::different(plant, edges, &lists::Field::Named(names)).1
    };
    let is_equipment = topology.is_equipment(node) && !is_minor(topology.holder(node));
    is_equipment
        || matches!(topology.roles[node as usize], Role::OffPage | Role::OpenEnd)
        || cuts.control && topology.roles[node as usize] == Role::Control
        || cuts.size && changes(Names::Size)
        || cuts.piping_class && changes(Names::PipingClass)
        || cuts.fluid && changes(Names::Fluid)
}

fn section_row<'a>(
    plant: &Plant<'a>,
    number: usize,
    edges: &[EdgeId],
    ends: &[bool],
    pay: Pay<'_>,
) -> Result<Vec<Datum<'a>>> {
    let topology = &plant.topology;
    let is_end = |node: &NodeId| ends[*node as usize];
    let unique = |nodes: Vec<NodeId>| {
        let mut seen = HashSet::new();
        nodes.into_iter().filter(|node| seen.insert(*node)).collect::<Vec<NodeId>>()
    };
    let side = |at: usize| unique(edges.iter().map(|edge| topology.flow_ends(*edge)[at]).filter(is_end).collect());
    let (from, to) = (side(0), side(1));
    let mut all: Vec<NodeId> = edges.iter().flat_map(|edge| topology.ends[*edge as usize]).collect();
    all.sort_unstable();
    all.dedup();
    let items: Vec<NodeId> = all.iter().copied().filter(|node| !is_end(node)).collect();
    let equipment =
        unique(all.iter().filter(|node| topology.is_equipment(**node)).map(|node| topology.holder(*node)).collect());
    let runs = named_by(plant, edges, Names::Segment);
    // An instrument may be located in a run of pipe as a whole.
    let mut sensing = Vec::new();
    for item in items.iter().chain(&runs) {
        sensing.extend(sensed_by(plant, *item, pay)?);
    }
    let instruments = unique(sensing);
    let guards = |node: &NodeId| matches!(topology.roles[*node as usize], Role::Relief | Role::OneWay);
    let safeguards = items.iter().copied().filter(guards).collect();
    let limits = design_limits(plant, items.iter().chain(&equipment).copied().chain(rated_with(plant, &all, edges)));
    let mut lines = lines_of(plant, edges.iter().copied());
    lines.sort();
    Ok(vec![
        Datum::Text(format!("S{number}")),
        Datum::Nodes(from),
        Datum::Nodes(to),
        Datum::texts(lines),
        Datum::Nodes(items),
        Datum::Nodes(equipment),
        Datum::Nodes(instruments),
        Datum::Nodes(safeguards),
        limits,
    ])
}

/// What else limits the conditions in a section: the lines and runs of its pipes, and the sides of exchangers at its ends.
fn rated_with(plant: &Plant<'_>, nodes: &[NodeId], edges: &[EdgeId]) -> HashSet<NodeId> {
    let topology = &plant.topology;
    let is_node = |zone: &NodeId| (*zone as usize) < topology.node_count();
    let sides = nodes.iter().map(|node| topology.zone(*node)).filter(is_node);
    let groups = [Names::Line, Names::Segment].into_iter().flat_map(|names| named_by(plant, edges, names));
    sides.chain(groups).collect()
}

/// The nodes that a field of some edges names, by their id or tag. Each once.
fn named_by(plant: &Plant<'_>, edges: &[EdgeId], names: Names) -> Vec<NodeId> {
    let mut seen = HashSet::new();
    let node = |name: Value<'_>| plant.by_id(name).or_else(|| plant.first_by_tag(name.as_str()?));
    let named = edges.iter().filter_map(|edge| node(plant.of_edge(*edge, names)?));
    named.filter(|node| seen.insert(*node)).collect()
}

/// The instruments whose sensing point is an item: those that stand in the pipe, are located in the item, are told
/// something by it, or are joined to it and do not act on it.
fn sensed_by(plant: &Plant<'_>, item: NodeId, pay: Pay<'_>) -> Result<Vec<NodeId>> {
    let topology = &plant.topology;
    let is_instrument = |node: NodeId| topology.roles[node as usize] == Role::Instrument;
    let arcs = topology.table(Over::All, Dir::Both).arcs(item);
    let members = topology.named_members(item);
    pay(1 + (arcs.len() + members.len()) as u64)?;
    let mut found: Vec<NodeId> = Some(item).filter(|item| is_instrument(*item)).into_iter().collect();
    for (node, edge) in arcs.filter(|(node, _)| is_instrument(*node)) {
        pay(1 + topology.table(Over::All, Dir::Up).degree(node) as u64)?;
        found.extend(senses_at(plant, node, item, edge).then_some(node));
    }
    let members = members.iter().copied().filter(|node| is_instrument(*node));
    found.extend(members.filter(|node| !loops::acts_by_class(plant, *node)));
    Ok(found)
}

/// Whether an edge between an instrument and an item says that the instrument senses there. What it acts on it does not
/// sense: a controller is joined to its valve, and its sensor is elsewhere.
fn senses_at(plant: &Plant<'_>, instrument: NodeId, item: NodeId, edge: EdgeId) -> bool {
    let topology = &plant.topology;
    let (link, is_told) = (topology.links[edge as usize], topology.flow_ends(edge)[0] == item);
    let role = topology.roles[item as usize];
    if link.has(Link::FLOW) || loops::acts_by_class(plant, instrument) {
        return false;
    }
    match () {
        () if link.has(Link::ZONE) => !is_told,
        // What an actuator refers to it moves; what a sensor refers to is the element it senses with.
        () if link.has(Link::ACTUATES) => loops::is_sensor_by_class(plant, instrument),
        () if link.has(Link::SIGNAL) && is_told => true,
        () => !role.closes() && (role != Role::Equipment || loops::senses(plant, instrument)),
    }
}

/// The lowest of the upper and the highest of the lower design limits of some items, by the name of the field.
fn design_limits<'a>(plant: &Plant<'a>, items: impl Iterator<Item = NodeId>) -> Datum<'a> {
    let mut limits: Vec<(String, f64)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for (name, value) in items.flat_map(|item| numbers_of(plant.node(item))) {
        let snake = snake_case(&name);
        // The head of a pump is no limit.
        let is_limit = snake.contains("pressure") || snake.contains("temperature");
        let is_design = snake.contains("design") && is_limit && !snake.contains("head");
        if !is_design {
            continue;
        }
        let is_lower = snake.contains("lower") || snake.contains("min");
        let place = *places.entry(name.clone()).or_insert(limits.len());
        match limits.get_mut(place) {
            Some((_, limit)) => *limit = if is_lower { limit.max(value) } else { limit.min(value) },
            None => limits.push((name, value)),
        }
    }
    Datum::Map(limits.into_iter().map(|(name, value)| (name, Datum::Number(value))).collect())
}

/// The numbers among the fields and attributes of an item.
fn numbers_of(item: Value<'_>) -> Vec<(String, f64)> {
    let Some(object) = item.as_object() else { return Vec::new() };
    let mut numbers: Vec<(String, f64)> =
        object.iter().filter_map(|(key, value)| Some((key.into(), value.as_f64()?))).collect();
    match object.get("attributes") {
        Some(Value::Object(attributes)) => {
            numbers.extend(attributes.iter().filter_map(|(key, value)| Some((key.into(), value.as_f64()?))));
        }
        Some(Value::Array(attributes)) => {
            let entry = |entry: Value<'_>| {
                let entry = entry.as_object()?;
                let value = entry.get("value")?;
                let number = value.as_f64().or_else(|| value.as_str()?.parse().ok())?;
                Some((entry.get("name")?.as_str()?.into(), number))
            };
            numbers.extend(attributes.iter().filter_map(entry));
        }
        _ => {}
    }
    numbers
}

/// Whether equipment stands in a line rather than at its end: a pump, a filter, a compressor.
pub(crate) fn is_minor(plant: &Plant<'_>, node: NodeId) -> bool {
    const MINOR: &[&str] = &["pump", "filter", "strainer", "blower", "fan"];
    let classes = plant.topology.config.names(Names::Class).iter();
    let object = plant.node(node).as_object();
    let classes = classes.filter_map(|name| object?.get(name)?.as_str()).map(snake_case);
    classes.into_iter().any(|class| MINOR.iter().any(|word| class.contains(word)))
}

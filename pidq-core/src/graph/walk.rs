//! Walking a network breadth first, and the part of it that a walk can reach.
//!
//! Knows nothing of JSON. What is followed, avoided and where a branch ends is asked of a guide, once per edge and node;
//! all other algorithms work on the [`Reach`] that is found here, and ask nobody.

use std::borrow::Cow;
use std::ops::Deref;

use hashbrown::{HashMap, HashSet};

use super::adjacency::{Adjacency, EdgeId, NONE, NodeId};
use super::roles::Role;
use super::topology::{Dir, Marks, Over, Topology};
use crate::error::Result;

/// Whether a walk goes on through equipment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Pass {
    /// It ends at equipment.
    None,
    /// From port to port on the same side.
    Zone,
    Any,
}

/// How a walk goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub over: Over,
    pub dir: Dir,
    pub pass: Pass,
    pub depth: u32,
}

impl Rules {
    /// Whether a walk may follow edges in a direction that the drawing does not say. A walk both ways asks for none.
    pub fn assumes(&self, topology: &Topology) -> bool {
        !topology.undirected.is_empty() && self.dir != Dir::Both
    }
}

/// Pays for a walk and answers what only the one who asked can know.
pub(crate) trait Guide {
    /// Pays for edges followed.
    fn pay(&mut self, units: u64) -> Result<()>;

    /// Whether an edge may be followed.
    fn follows(&mut self, _edge: EdgeId) -> Result<bool> {
        Ok(true)
    }

    /// Whether a node may be entered.
    fn enters(&mut self, _node: NodeId) -> Result<bool> {
        Ok(true)
    }

    /// Whether a branch ends at a node.
    fn ends_at(&mut self, _node: NodeId) -> Result<bool> {
        Ok(false)
    }
}

/// A guide that only pays.
pub(crate) struct Payer<'p>(pub &'p mut dyn FnMut(u64) -> Result<()>);

impl Guide for Payer<'_> {
    fn pay(&mut self, units: u64) -> Result<()> {
        (self.0)(units)
    }
}

/// Which nodes a walk has entered. Kept between walks: a new walk begins by counting up, not by clearing.
#[derive(Debug, Default)]
pub(crate) struct Space {
    stamps: Vec<u32>,
    epoch: u32,
    /// Room for the nodes that the next walk finds.
    room: Vec<NodeId>,
}

impl Space {
    /// Makes it fit for a network, and forgets the walk before.
    pub fn begin(&mut self, nodes: usize) {
        if self.stamps.len() < nodes {
            self.stamps.resize(nodes, 0);
        }
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.stamps.fill(0);
            self.epoch = 1;
        }
    }

    /// Enters a node; whether that is the first time.
    pub fn enter(&mut self, node: NodeId) -> bool {
        std::mem::replace(&mut self.stamps[node as usize], self.epoch) != self.epoch
    }

    /// Whether a node was entered.
    pub fn has(&self, node: NodeId) -> bool {
        self.stamps[node as usize] == self.epoch
    }

    /// Where a plain walk begins.
    fn front(&mut self, topology: &Topology) -> Front<'_> {
        self.begin(topology.node_count());
        if self.room.len() <= self.stamps.len() {
            self.room.resize(self.stamps.len() + 1, NONE);
        }
        Front { room: &mut self.room, len: 0, stamps: &mut self.stamps, epoch: self.epoch }
    }

    /// Takes back the nodes that a walk has found, for the room that they take.
    pub fn keep(&mut self, nodes: Queue) {
        if nodes.room.len() > self.room.len() {
            self.room = nodes.room;
        }
    }

    /// Bytes kept.
    pub fn size(&self) -> usize {
        size_of_val(&*self.stamps) + size_of_val(&*self.room)
    }
}

/// A node that a walk came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub node: NodeId,
    /// The edge it came by; `NONE` at the start.
    pub via: EdgeId,
    /// The step before; `NONE` at the start.
    pub from: u32,
    pub depth: u32,
    /// The walk did not go on from here, though it might have.
    pub stops: bool,
    /// An edge that flows both ways or nobody knows which was taken on the way.
    pub assumed: bool,
    /// Inside of equipment: the side on which it was entered. Shown for the first side only.
    inside: Inside,
}

/// Whether a step stands for the inside of equipment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Inside {
    No,
    Shown(u32),
    Hidden(u32),
}

impl Step {
    fn start(node: NodeId) -> Step {
        Step { node, via: NONE, from: NONE, depth: 0, stops: false, assumed: false, inside: Inside::No }
    }

    /// Whether it is a node of its own and not only a way through equipment that is shown already.
    pub fn is_shown(&self) -> bool {
        !matches!(self.inside, Inside::Hidden(_))
    }
}

/// The ways into and out of equipment that a walk has taken.
#[derive(Default)]
struct Doors {
    /// Equipment and side.
    entered: HashMap<(NodeId, u32), ()>,
    /// Equipment that may not be entered or ends the walk.
    shut: HashSet<NodeId>,
}

/// All nodes that a walk comes to, breadth first, each once; edges in the order of the document.
pub(crate) fn walk<G: Guide>(
    topology: &Topology,
    space: &mut Space,
    starts: &[NodeId],
    rules: &Rules,
    guide: &mut G,
) -> Result<Vec<Step>> {
    walk_until(topology, space, starts, rules, guide, |_| false).map(|(steps, _)| steps)
}

/// As [`walk`], but it ends at the first node that is wanted; the steps until then, and the place of that one.
pub(crate) fn walk_until<G: Guide>(
    topology: &Topology,
    space: &mut Space,
    starts: &[NodeId],
    rules: &Rules,
    guide: &mut G,
    is_wanted: impl Fn(NodeId) -> bool,
) -> Result<(Vec<Step>, Option<usize>)> {
    space.begin(topology.node_count());
    let mut steps: Vec<Step> = Vec::new();
    for start in starts {
        if space.enter(*start) {
            steps.push(Step::start(*start));
        }
    }
    let mut walker = Walker { topology, table: topology.table(rules.over, rules.dir), rules, doors: Doors::default() };
    let (mut at, mut looked) = (0, 0);
    while at < steps.len() {
        if let Some(found) = (looked..steps.len()).find(|at| is_wanted(steps[*at].node)) {
            return Ok((steps, Some(found)));
        }
        looked = steps.len();
        walker.leave(at as u32, &mut steps, space, guide)?;
        at += 1;
    }
    Ok((steps, None))
}

/// The steps from the start to one of them, that one included.
pub(crate) fn way_to(steps: &[Step], end: usize) -> Vec<Step> {
    let mut way = vec![steps[end]];
    while let Some(step) = way.last().and_then(|step| steps.get(step.from as usize)) {
        way.push(*step);
    }
    way.reverse();
    way
}

/// What a walk finds.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub nodes: Queue,
    /// How many of them it began at; they come first.
    pub starts: usize,
    /// How deep it went.
    pub depth: u32,
    /// The edges of unknown direction by which it came to nodes first.
    pub assumed: Vec<EdgeId>,
}

/// Nodes in the order in which they were found, in room that was made before.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    room: Vec<NodeId>,
    len: usize,
}

impl Queue {
    /// Keeps those from a place on that are wanted, in the same room: who makes room anew pays for all nodes there are.
    pub fn keep(&mut self, from: usize, is_wanted: impl Fn(NodeId) -> bool) {
        let mut kept = 0;
        for at in from..self.len {
            let node = self.room[at];
            if is_wanted(node) {
                self.room[kept] = node;
                kept += 1;
            }
        }
        self.len = kept;
    }
}

impl Deref for Queue {
    type Target = [NodeId];

    fn deref(&self) -> &[NodeId] {
        &self.room[..self.len]
    }
}

impl From<Vec<NodeId>> for Queue {
    fn from(room: Vec<NodeId>) -> Queue {
        Queue { len: room.len(), room }
    }
}

/// Fuel that a walk may owe.
pub(super) const CREDIT: u64 = 256;

/// A walk that finds the nodes that [`walk`] does, where nothing has to be asked and no port is passed.
///
/// Hot: touches the table and the stamps, and nothing else, unless the drawing has edges of unknown direction.
pub(crate) struct Plain<'t> {
    topology: &'t Topology,
    table: &'t Adjacency,
    rules: Rules,
    /// The nodes that an edge of unknown direction is at, where that is to be told.
    beside_assumed: Option<&'t Marks>,
}

impl<'t> Plain<'t> {
    pub fn new(topology: &'t Topology, rules: Rules) -> Plain<'t> {
        let beside_assumed = rules.assumes(topology).then(|| topology.beside_assumed());
        Plain { topology, table: topology.table(rules.over, rules.dir), rules, beside_assumed }
    }

    pub fn walk(&self, space: &mut Space, starts: &[NodeId], mut pay: impl FnMut(u64) -> Result<()>) -> Result<Walked> {
        let (mut front, mut assumed) = (space.front(self.topology), Vec::new());
        front.enter(starts);
        let starts = front.len;
        let (len, depth) = match self.beside_assumed {
            None => self.spread(front, |_, _, _| (), &mut pay)?,
            Some(beside) => {
                let tell = |node: NodeId, front: &Front<'_>, before: usize| {
                    if beside.has(node) {
                        let found = &front.room[before..front.len];
                        assumed.extend(assumed_ways(self.topology, self.table, node, found));
                    }
                };
                self.spread(front, tell, &mut pay)?
            }
        };
        Ok(Walked { nodes: Queue { len, room: std::mem::take(&mut space.room) }, starts, depth, assumed })
    }

    /// How many nodes a walk from one node finds, that one included, and how deep it goes. Tells nothing else.
    pub fn count(
        &self,
        space: &mut Space,
        start: NodeId,
        mut pay: impl FnMut(u64) -> Result<()>,
    ) -> Result<(usize, u32)> {
        let mut front = space.front(self.topology);
        front.enter(&[start]);
        self.spread(front, |_, _, _| (), &mut pay)
    }

    /// Goes on from where a walk begins, level by level: how many nodes it finds, and how deep it gets. `tell` hears from
    /// which node it has gone on, and how many were found before that.
    fn spread(
        &self,
        mut front: Front<'_>,
        mut tell: impl FnMut(NodeId, &Front<'_>, usize),
        pay: &mut impl FnMut(u64) -> Result<()>,
    ) -> Result<(usize, u32)> {
        let Plain { topology, rules: Rules { pass, depth: deepest, .. }, .. } = *self;
        let table = self.table.neighbours();
        let ends = |node| pass == Pass::None && topology.is_equipment(node);
        let (mut at, mut depth, mut owed) = (0, 0, 0);
        while at < front.len && depth < deepest {
            let (end, is_wide) = (front.len, front.len - at >= Front::WIDE);
            while at < end {
                let node = front.room[at];
                let neighbours = table.of(node);
                at += 1;
                owed += 1 + neighbours.len() as u64;
                if owed > CREDIT {
                    pay(std::mem::take(&mut owed))?;
                }
                if depth > 0 && ends(node) {
                    continue;
                }
                let before = front.len;
                match is_wide {
                    true => front.enter_unguessed(neighbours),
                    false => front.enter(neighbours),
                }
                tell(node, &front, before);
            }
            depth += u32::from(front.len > end);
        }
        pay(owed)?;
        Ok((front.len, depth))
    }
}

/// What a plain walk has found, and whom it has met.
struct Front<'s> {
    /// Room for all nodes, and one more.
    room: &'s mut [NodeId],
    len: usize,
    stamps: &'s mut [u32],
    epoch: u32,
}

impl Front<'_> {
    /// Where so many nodes wait, it is dear to guess which of the next ones are new. Where few do, the next look at the
    /// queue would have to wait for what is written now.
    const WIDE: usize = 64;

    /// Adds those of some nodes that were not entered yet.
    #[inline]
    fn enter(&mut self, nodes: &[NodeId]) {
        for node in nodes {
            let stamp = &mut self.stamps[*node as usize];
            if *stamp != self.epoch {
                *stamp = self.epoch;
                self.room[self.len] = *node;
                self.len += 1;
            }
        }
    }

    /// The same without a guess: a node is written whether it is new or not, and only the length tells.
    #[inline]
    fn enter_unguessed(&mut self, nodes: &[NodeId]) {
        for node in nodes {
            let stamp = &mut self.stamps[*node as usize];
            self.room[self.len] = *node;
            self.len += usize::from(*stamp != self.epoch);
            *stamp = self.epoch;
        }
    }
}

/// The edges of unknown direction among those by which a walk comes from a node to its next ones: of edges to the same
/// node the first one.
fn assumed_ways<'t>(
    topology: &'t Topology,
    table: &'t Adjacency,
    node: NodeId,
    found: &'t [NodeId],
) -> impl Iterator<Item = EdgeId> + 't {
    // They were found in the order of the edges: one look at each edge is enough.
    let mut next = found.iter().copied().peekable();
    let ways = table.arcs(node).filter(move |(head, _)| next.next_if_eq(head).is_some());
    ways.map(|(_, edge)| edge).filter(|edge| topology.is_assumed(*edge))
}

/// Whether [`Plain::walk`] finds what [`walk`] does, for a guide that only pays.
pub(crate) fn is_plain(topology: &Topology, rules: &Rules) -> bool {
    rules.pass == Pass::None || topology.ports.arc_count() == 0
}

struct Walker<'t> {
    topology: &'t Topology,
    table: &'t Adjacency,
    rules: &'t Rules,
    doors: Doors,
}

impl Walker<'_> {
    /// Hot: once per node. Adds the steps that a step leads to.
    fn leave<G: Guide>(&mut self, at: u32, steps: &mut Vec<Step>, space: &mut Space, guide: &mut G) -> Result<()> {
        let step = steps[at as usize];
        guide.pay(1 + self.table.degree(step.node) as u64)?;
        if step.stops || step.depth >= self.rules.depth {
            return Ok(());
        }
        match (step.inside, self.rules.pass) {
            (Inside::No, Pass::None) => self.follow(at, steps, space, guide),
            (Inside::No, _) => {
                self.follow(at, steps, space, guide)?;
                // A pipe that joins equipment without a port is on the side that nobody names.
                self.leave_by_ports(at, NONE, steps, space, guide)?;
                self.enter_equipment(at, steps, space, guide)
            }
            (Inside::Shown(zone) | Inside::Hidden(zone), _) => {
                if zone == NONE {
                    self.follow(at, steps, space, guide)?;
                }
                self.leave_by_ports(at, zone, steps, space, guide)
            }
        }
    }

    /// By the arcs of a node.
    fn follow<G: Guide>(&mut self, at: u32, steps: &mut Vec<Step>, space: &mut Space, guide: &mut G) -> Result<()> {
        let step = steps[at as usize];
        for (node, edge) in self.table.arcs(step.node) {
            if space.has(node) && !self.has_another_side(node) || !guide.follows(edge)? {
                continue;
            }
            let assumed = step.assumed || self.topology.is_assumed(edge);
            let arrival = Step { node, via: edge, from: at, depth: step.depth + 1, assumed, ..Step::start(node) };
            if !space.enter(node) {
                self.doors.entered.insert((node, NONE), ());
                steps.push(Step { inside: Inside::Hidden(NONE), ..arrival });
                continue;
            }
            let enters = guide.enters(node)?;
            let stops = enters && (guide.ends_at(node)? || self.ends_at(node));
            if enters {
                steps.push(Step { stops, ..arrival });
            }
            self.note_arrival(node, enters && !stops);
        }
        Ok(())
    }

    /// Whether a pipe that is drawn to equipment itself leads to a side of it that no port has led to.
    fn has_another_side(&self, node: NodeId) -> bool {
        self.rules.pass == Pass::Zone
            && self.topology.ports.degree(node) > 0
            && !self.doors.shut.contains(&node)
            && !self.doors.entered.contains_key(&(node, NONE))
    }

    /// Remembers for ports that the walk has come to their equipment by a pipe, and whether it goes on there.
    fn note_arrival(&mut self, node: NodeId, goes_on: bool) {
        if self.rules.pass == Pass::None || self.topology.ports.degree(node) == 0 {
            return;
        }
        self.doors.entered.insert((node, NONE), ());
        if !goes_on {
            self.doors.shut.insert(node);
        }
    }

    /// Whether a branch ends at a node by what it is.
    fn ends_at(&self, node: NodeId) -> bool {
        match self.topology.roles[node as usize] {
            Role::OffPage | Role::OpenEnd => self.topology.flow_degree(node) <= 1,
            _ => self.rules.pass == Pass::None && self.topology.is_equipment(node),
        }
    }

    /// From a port into its equipment, if the walk passes.
    fn enter_equipment<G: Guide>(
        &mut self,
        at: u32,
        steps: &mut Vec<Step>,
        space: &mut Space,
        guide: &mut G,
    ) -> Result<()> {
        let step = steps[at as usize];
        let Some((owner, zone)) = passage(self.topology, self.rules, step.node, step.from == NONE) else {
            return Ok(());
        };
        let before = (step.from != NONE).then(|| steps[step.from as usize].node);
        let came_from_inside = before == Some(owner) && step.via == self.topology.owner_edge(step.node);
        if came_from_inside
            || self.doors.shut.contains(&owner)
            || self.doors.entered.insert((owner, zone), ()).is_some()
        {
            return Ok(());
        }
        let is_first = space.enter(owner);
        if is_first && !guide.enters(owner)? {
            self.doors.shut.insert(owner);
            return Ok(());
        }
        let stops = is_first && guide.ends_at(owner)?;
        if stops {
            self.doors.shut.insert(owner);
        }
        let inside = if is_first { Inside::Shown(zone) } else { Inside::Hidden(zone) };
        let via = self.topology.owner_edge(step.node);
        steps.push(Step { node: owner, via, from: at, depth: step.depth + 1, stops, inside, ..step });
        Ok(())
    }

    /// From equipment to its ports on one side.
    fn leave_by_ports<G: Guide>(
        &mut self,
        at: u32,
        zone: u32,
        steps: &mut Vec<Step>,
        space: &mut Space,
        guide: &mut G,
    ) -> Result<()> {
        let step = steps[at as usize];
        guide.pay(self.topology.ports.degree(step.node) as u64)?;
        for (port, edge) in exits(self.topology, self.rules, self.table, step.node, zone) {
            if !space.enter(port) || !guide.enters(port)? {
                continue;
            }
            let stops = guide.ends_at(port)?;
            let depth = step.depth + 1;
            steps.push(Step { node: port, via: edge, from: at, depth, stops, inside: Inside::No, ..step });
        }
        Ok(())
    }
}

/// The equipment that a walk passes into from a node, and on which side.
///
/// A walk along the flow that begins at a port enters only by an inlet: it does not run backwards into the tank that
/// the port empties.
fn passage(topology: &Topology, rules: &Rules, node: NodeId, is_start: bool) -> Option<(NodeId, u32)> {
    if rules.pass == Pass::None {
        return None;
    }
    let owner = topology.owner(node)?;
    let against = match rules.dir {
        Dir::Down => Some(Dir::Up),
        Dir::Up => Some(Dir::Down),
        Dir::Both => None,
    };
    let is_inlet = against.is_none_or(|against| topology.table(rules.over, against).degree(node) > 0);
    let zone = if rules.pass == Pass::Zone { topology.zone(node) } else { NONE };
    (!is_start || is_inlet).then_some((owner, zone))
}

/// The ports by which a walk leaves equipment: on the same side, and with somewhere to go.
fn exits<'t>(
    topology: &'t Topology,
    rules: &'t Rules,
    table: &'t Adjacency,
    owner: NodeId,
    zone: u32,
) -> impl Iterator<Item = (NodeId, EdgeId)> + 't {
    let is_exit =
        move |port: NodeId| table.degree(port) > 0 && (rules.pass == Pass::Any || topology.zone(port) == zone);
    topology.ports.arcs(owner).filter(move |(port, _)| is_exit(*port))
}

/// The nodes where a walk from some nodes begins: the ports of equipment that have them, in the direction of the walk.
/// Each once, where the nodes are.
pub(crate) fn starts<'n>(topology: &Topology, rules: &Rules, nodes: &'n [NodeId]) -> Cow<'n, [NodeId]> {
    if topology.ports.arc_count() == 0 {
        return Cow::Borrowed(nodes);
    }
    let table = topology.table(rules.over, rules.dir);
    let mut starts = Vec::with_capacity(nodes.len());
    for node in nodes {
        let ports = topology.ports.nodes(*node);
        if ports.is_empty() || table.degree(*node) > 0 {
            starts.push(*node);
        }
        starts.extend(ports.iter().copied().filter(|port| table.degree(*port) > 0));
    }
    let mut seen = HashSet::new();
    starts.retain(|start| nodes.len() == 1 || seen.insert(*start));
    Cow::Owned(starts)
}

/// The nodes at which a walk to some nodes has arrived: the nodes and their ports.
pub(crate) fn targets<'n>(topology: &Topology, nodes: &'n [NodeId]) -> Cow<'n, [NodeId]> {
    if topology.ports.arc_count() == 0 {
        return Cow::Borrowed(nodes);
    }
    let ports = nodes.iter().flat_map(|node| topology.ports.nodes(*node));
    nodes.iter().chain(ports).copied().collect()
}

/// Some nodes to look among: few are looked through.
pub(crate) enum Among<'n> {
    Few(&'n [NodeId]),
    Many(HashSet<NodeId>),
}

impl<'n> Among<'n> {
    pub fn new(nodes: &'n [NodeId]) -> Among<'n> {
        const FEW: usize = 8;
        if nodes.len() <= FEW { Among::Few(nodes) } else { Among::Many(nodes.iter().copied().collect()) }
    }

    pub fn has(&self, node: NodeId) -> bool {
        match self {
            Among::Few(nodes) => nodes.contains(&node),
            Among::Many(nodes) => nodes.contains(&node),
        }
    }
}

/// The part of a network that a walk can reach, with all arcs in it: a network of its own with numbers of its own.
#[derive(Debug, Default)]
pub(crate) struct Reach {
    /// By number: the node. Equipment has a number for each side.
    pub nodes: Vec<NodeId>,
    /// By number: where its arcs begin; one more for the end.
    first: Vec<u32>,
    heads: Vec<u32>,
    edges: Vec<EdgeId>,
    /// How many numbers at the beginning are starts.
    pub starts: usize,
    /// How many steps the farthest number is away.
    pub depth: u32,
}

impl Reach {
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The arcs from a number: to a number, by an edge.
    pub fn arcs(&self, number: u32) -> impl ExactSizeIterator<Item = (u32, EdgeId)> + Clone + '_ {
        let range = self.range(number);
        self.heads[range.clone()].iter().copied().zip(self.edges[range].iter().copied())
    }

    /// The numbers that the arcs of a number lead to.
    pub fn heads_of(&self, number: u32) -> &[u32] {
        &self.heads[self.range(number)]
    }

    /// The edges of the arcs of a number.
    pub fn edges_of(&self, number: u32) -> &[EdgeId] {
        &self.edges[self.range(number)]
    }

    /// Where the arcs of a number stand among all.
    pub fn range(&self, number: u32) -> std::ops::Range<usize> {
        self.first[number as usize] as usize..self.first[number as usize + 1] as usize
    }

    /// The arc at a place.
    pub fn arc(&self, at: usize) -> (u32, EdgeId) {
        (self.heads[at], self.edges[at])
    }

    pub fn arc_count(&self) -> usize {
        self.heads.len()
    }

    /// The edges of the arcs between some numbers.
    pub fn inner_edges(&self, keeps: impl Fn(usize, usize) -> bool) -> impl Iterator<Item = EdgeId> {
        let arcs = (0..self.len() as u32).flat_map(move |from| self.arcs(from).map(move |(to, edge)| (from, to, edge)));
        arcs.filter(move |(from, to, _)| keeps(*from as usize, *to as usize)).map(|(_, _, edge)| edge)
    }

    /// By number: whether its node is one of some.
    pub fn mark(&self, nodes: &[NodeId]) -> Vec<bool> {
        let wanted: HashSet<NodeId> = nodes.iter().copied().collect();
        self.nodes.iter().map(|node| wanted.contains(node)).collect()
    }

    /// The same network without the numbers that are not kept. Starts stay at the beginning.
    pub fn keep(&self, kept: &[bool]) -> Reach {
        let mut numbers = vec![NONE; self.len()];
        let mut reach = Reach { first: vec![0], ..Reach::default() };
        for number in (0..self.len()).filter(|number| kept[*number]) {
            numbers[number] = reach.nodes.len() as u32;
            reach.nodes.push(self.nodes[number]);
            reach.starts += usize::from(number < self.starts);
        }
        for number in (0..self.len()).filter(|number| kept[*number]) {
            for (head, edge) in self.arcs(number as u32).filter(|(head, _)| kept[*head as usize]) {
                reach.heads.push(numbers[head as usize]);
                reach.edges.push(edge);
            }
            reach.first.push(reach.heads.len() as u32);
        }
        reach
    }

    /// The arcs turned round.
    pub fn reversed(&self) -> Adjacency {
        let tails = (0..self.len() as u32).flat_map(|tail| self.range(tail).map(move |at| (tail, at)));
        Adjacency::new(self.len(), || tails.clone().map(|(tail, at)| (self.heads[at], tail, at as u32)))
    }

    /// By number: whether one of some numbers can be reached from it.
    pub fn can_reach(&self, targets: &[bool]) -> Vec<bool> {
        let back = self.reversed();
        let mut reached = targets.to_vec();
        let mut queue: Vec<u32> = (0..self.len() as u32).filter(|number| targets[*number as usize]).collect();
        while let Some(number) = queue.pop() {
            for before in back.nodes(number) {
                if !std::mem::replace(&mut reached[*before as usize], true) {
                    queue.push(*before);
                }
            }
        }
        reached
    }
}

/// What a walk can reach from some nodes, as a network. Ends of branches have no arcs; `closed` nodes neither, nor those
/// as deep as the walk may go.
pub(crate) fn reach<G: Guide>(
    topology: &Topology,
    starts: &[NodeId],
    closed: &[NodeId],
    rules: &Rules,
    guide: &mut G,
) -> Result<Reach> {
    let table = topology.table(rules.over, rules.dir);
    let closed: HashSet<NodeId> = closed.iter().copied().collect();
    let mut explorer = Explorer {
        topology,
        rules,
        closed,
        numbers: HashMap::new(),
        reach: Reach::default(),
        stops: Vec::new(),
        sides: Vec::new(),
    };
    for start in starts {
        let side = explorer.side_of_pipes(*start);
        explorer.numbers.entry((*start, side)).or_insert_with(|| {
            explorer.reach.nodes.push(*start);
            explorer.stops.push(false);
            explorer.sides.push(side);
            explorer.reach.nodes.len() as u32 - 1
        });
    }
    explorer.reach.starts = explorer.reach.len();
    explorer.reach.first.push(0);
    let (mut at, mut level_end) = (0, explorer.reach.starts);
    while at < explorer.reach.len() {
        if explorer.reach.depth < rules.depth {
            explorer.leave(at as u32, table, guide)?;
        }
        explorer.reach.first.push(explorer.reach.heads.len() as u32);
        at += 1;
        if at == level_end && level_end < explorer.reach.len() {
            explorer.reach.depth += 1;
            level_end = explorer.reach.len();
        }
    }
    Ok(explorer.reach)
}

/// The side of a number that is not the inside of equipment.
const OUTSIDE: u32 = u32::MAX - 1;

/// A number that may not be entered.
const REFUSED: u32 = NONE;

struct Explorer<'t> {
    topology: &'t Topology,
    rules: &'t Rules,
    closed: HashSet<NodeId>,
    /// Node and side → number.
    numbers: HashMap<(NodeId, u32), u32>,
    reach: Reach,
    stops: Vec<bool>,
    /// By number: the side, or `OUTSIDE`.
    sides: Vec<u32>,
}

impl Explorer<'_> {
    fn leave<G: Guide>(&mut self, number: u32, table: &Adjacency, guide: &mut G) -> Result<()> {
        let node = self.reach.nodes[number as usize];
        guide.pay(1 + table.degree(node) as u64)?;
        if self.stops[number as usize] {
            return Ok(());
        }
        let side = self.sides[number as usize];
        if matches!(side, OUTSIDE | NONE) {
            for (next, edge) in table.arcs(node) {
                if guide.follows(edge)? {
                    self.arc((next, self.side_of_pipes(next)), edge, guide)?;
                }
            }
        }
        if side != OUTSIDE {
            guide.pay(self.topology.ports.degree(node) as u64)?;
            for (port, edge) in exits(self.topology, self.rules, table, node, side) {
                self.arc((port, OUTSIDE), edge, guide)?;
            }
            return Ok(());
        }
        match passage(self.topology, self.rules, node, (number as usize) < self.reach.starts) {
            Some((owner, zone)) => self.arc((owner, zone), self.topology.owner_edge(node), guide),
            None => Ok(()),
        }
    }

    /// Where a pipe ends that is drawn to a node itself: inside, where that is equipment with ports on other sides.
    fn side_of_pipes(&self, node: NodeId) -> u32 {
        let passes = self.rules.pass != Pass::None && self.topology.ports.degree(node) > 0;
        if passes { NONE } else { OUTSIDE }
    }

    fn arc<G: Guide>(&mut self, to: (NodeId, u32), edge: EdgeId, guide: &mut G) -> Result<()> {
        let number = match self.numbers.get(&to) {
            Some(number) => *number,
            None => self.number(to, guide)?,
        };
        if number != REFUSED {
            self.reach.heads.push(number);
            self.reach.edges.push(edge);
        }
        Ok(())
    }

    /// Gives a node a number, unless it may not be entered.
    fn number<G: Guide>(&mut self, to: (NodeId, u32), guide: &mut G) -> Result<u32> {
        let (node, side) = to;
        let number = if guide.enters(node)? { self.reach.nodes.len() as u32 } else { REFUSED };
        self.numbers.insert(to, number);
        if number != REFUSED {
            let is_end = self.rules.pass == Pass::None && side == OUTSIDE && self.topology.is_equipment(node);
            self.reach.nodes.push(node);
            self.sides.push(side);
            self.stops.push(self.closed.contains(&node) || guide.ends_at(node)? || is_end);
        }
        Ok(number)
    }
}

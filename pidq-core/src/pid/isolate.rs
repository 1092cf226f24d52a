//! Which valves separate an item from the rest of the drawing, and where it stays open.
//!
//! Candidate points on the drawing, not an isolation certificate. Pressure ignores arrows, so branches are followed both
//! ways. Whatever does not close for certain is passed and named; a branch that ends without a barrier is an answer of
//! its own, never left out.

use hashbrown::{HashMap, HashSet};

use super::ends::{carries_instrument, is_manhole, stands_in_line};
use super::{Datum, Pay, segments};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::plant::Plant;
use crate::graph::roles::Role;
use crate::graph::topology::{Dir, Link, Over};
use crate::graph::walk::{Guide, Pass};
use crate::value::Value;

/// What may serve as a barrier, and how far a branch is followed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub accept_conditional: bool,
    pub accept_one_way: bool,
    pub accept_relief: bool,
    pub pass: Pass,
    pub depth: u32,
    /// Other equipment is taken in where a branch ends at it.
    pub grows: bool,
}

impl Default for Terms {
    fn default() -> Self {
        Terms {
            accept_conditional: false,
            accept_one_way: false,
            accept_relief: false,
            pass: Pass::None,
            depth: 200,
            grows: false,
        }
    }
}

const RESULT: &[&str] = &[
    "target",
    "barriers",
    "unresolved",
    "inside",
    "conditional",
    "relief",
    "bleeds",
    "dead_ends",
    "swallowed",
    "data_gaps",
    "complete",
];
const BARRIER: &[&str] = &["node", "port", "ports", "path", "kind", "method", "closed", "fail_action"];
const UNRESOLVED: &[&str] = &["port", "kind", "at", "path", "partner"];
const GAP: &[&str] = &["kind", "at", "edge"];

/// A node on a branch.
struct Place {
    node: NodeId,
    /// The place before; `NONE` at a port of the target.
    from: u32,
    /// The place of the port that the branch begins at.
    port: u32,
    depth: u32,
    /// The branch ends here.
    is_end: bool,
}

/// A barrier, the ports of the branches that it ends, and the place where it was met first.
struct Barrier {
    place: u32,
    ports: Vec<NodeId>,
    kind: &'static str,
}

/// A branch that stays open.
struct Open {
    place: u32,
    kind: &'static str,
    at: NodeId,
}

/// Something that the drawing does not say.
struct Gap {
    kind: &'static str,
    at: NodeId,
    edge: EdgeId,
}

/// What a node does to a branch.
enum Verdict {
    Ends(&'static str),
    Passes,
    Stays(&'static str, NodeId),
}

struct Isolation<'p, 'a> {
    plant: &'p Plant<'a>,
    terms: Terms,
    places: Vec<Place>,
    /// By node: whether a branch has come to it.
    seen: HashSet<NodeId>,
    targets: HashSet<NodeId>,
    /// Other equipment that is inside.
    held: HashSet<NodeId>,
    inside: Vec<NodeId>,
    barriers: Vec<Barrier>,
    /// By node: its barrier.
    barrier_of: HashMap<NodeId, usize>,
    /// Barriers and the ports of the branches that they end.
    closed: HashSet<(NodeId, NodeId)>,
    open: Vec<Open>,
    conditional: Vec<NodeId>,
    relief: Vec<NodeId>,
    dead_ends: Vec<NodeId>,
    swallowed: Vec<NodeId>,
    gaps: Vec<Gap>,
    missing_ends: segments::Missing,
}

/// Follows every branch of some items to its barrier. `guide` says which nodes are barriers beside those of the roles.
pub(crate) fn isolate<'a, G: Guide>(
    plant: &Plant<'a>,
    targets: &[NodeId],
    terms: Terms,
    guide: &mut G,
) -> Result<Datum<'a>> {
    let mut isolation = Isolation {
        plant,
        terms,
        places: Vec::new(),
        seen: HashSet::new(),
        targets: targets.iter().copied().collect(),
        held: HashSet::new(),
        inside: Vec::new(),
        barriers: Vec::new(),
        barrier_of: HashMap::new(),
        closed: HashSet::new(),
        open: Vec::new(),
        conditional: Vec::new(),
        relief: Vec::new(),
        dead_ends: Vec::new(),
        swallowed: Vec::new(),
        gaps: Vec::new(),
        missing_ends: segments::Missing::default(),
    };
    for target in targets {
        isolation.take_in(*target);
    }
    isolation.follow(guide)?;
    isolation.find_dangling(guide)?;
    isolation.result(targets, &mut |units| guide.pay(units))
}

impl Isolation<'_, '_> {
    /// An item and its ports belong to the volume; branches begin at them.
    fn take_in(&mut self, item: NodeId) {
        let topology = &self.plant.topology;
        let ports = topology.ports.nodes(item);
        let begins = |node: NodeId| topology.flow_degree(node) > 0;
        let nodes: Vec<NodeId> = std::iter::once(item).chain(ports.iter().copied()).collect();
        if !nodes.iter().any(|node| begins(*node)) {
            self.gaps.push(Gap { kind: "unconnected", at: item, edge: NONE });
        }
        let mut own = None;
        for node in nodes {
            if !self.seen.insert(node) {
                continue;
            }
            self.inside.push(node);
            if begins(node) {
                let place = self.begin(node);
                own = own.or((node == item).then_some(place));
            } else if node != item && self.is_spare(node) {
                self.gaps.push(Gap { kind: "unconnected_nozzle", at: node, edge: NONE });
            }
        }
        if let Some(owner) = topology.owner(item).filter(|owner| !self.targets.contains(owner)) {
            let place = own.unwrap_or_else(|| self.begin(item));
            self.open_behind(place, owner);
        }
    }

    /// A branch begins at a node; its place.
    fn begin(&mut self, node: NodeId) -> u32 {
        let place = self.places.len() as u32;
        self.places.push(Place { node, from: NONE, port: place, depth: 0, is_end: false });
        place
    }

    /// A nozzle alone is open to its own equipment: there is no barrier between them.
    fn open_behind(&mut self, place: u32, owner: NodeId) {
        if self.passes_equipment() {
            self.enter(place, owner);
        } else {
            self.open.push(Open { place, kind: "equipment", at: owner });
        }
    }

    /// Whether a nozzle has no pipe, no instrument and is no manhole: its connection may have been lost.
    fn is_spare(&self, port: NodeId) -> bool {
        let topology = &self.plant.topology;
        let others = topology.table(Over::All, Dir::Both).edges(port).iter();
        let is_used = others.map(|edge| topology.links[*edge as usize]).any(|link| {
            !link.has(Link::PART)
                && !link.has(Link::ZONE)
                && !link.has(Link::MEMBER)
                && !link.has(Link::MEMBER_REVERSED)
                && !link.has(Link::SEGMENT_END)
        });
        !is_used && !is_manhole(self.plant, port) && !carries_instrument(self.plant, port)
    }

    fn follow<G: Guide>(&mut self, guide: &mut G) -> Result<()> {
        let mut at = 0;
        while at < self.places.len() {
            self.leave(at as u32, guide)?;
            at += 1;
        }
        Ok(())
    }

    /// Looks at the neighbours of a place.
    fn leave<G: Guide>(&mut self, at: u32, guide: &mut G) -> Result<()> {
        let node = self.places[at as usize].node;
        let table = self.plant.topology.table(Over::Flow, Dir::Both);
        guide.pay(1 + table.degree(node) as u64)?;
        if self.places[at as usize].is_end {
            return Ok(());
        }
        if self.places[at as usize].depth >= self.terms.depth {
            self.open.push(Open { place: at, kind: "limit", at: node });
            return Ok(());
        }
        for next in table.nodes(node) {
            self.meet(at, *next, guide)?;
        }
        Ok(())
    }

    /// A branch comes to a node.
    fn meet<G: Guide>(&mut self, from: u32, node: NodeId, guide: &mut G) -> Result<()> {
        let Place { port, depth, .. } = self.places[from as usize];
        if !self.seen.insert(node) {
            self.note_port(node, port);
            return Ok(());
        }
        let place = self.places.len() as u32;
        let verdict = self.judge(node, guide)?;
        self.places.push(Place { node, from, port, depth: depth + 1, is_end: false });
        match verdict {
            Verdict::Passes => self.pass(place, guide)?,
            Verdict::Ends(kind) => {
                let ports = vec![self.places[port as usize].node];
                self.closed.insert((node, ports[0]));
                self.barrier_of.insert(node, self.barriers.len());
                self.barriers.push(Barrier { place, ports, kind });
                self.places[place as usize].is_end = true;
            }
            Verdict::Stays("equipment", equipment) if self.passes_equipment() => self.enter(place, equipment),
            Verdict::Stays(kind, at) => {
                self.open.push(Open { place, kind, at });
                self.places[place as usize].is_end = true;
            }
        }
        Ok(())
    }

    /// A barrier that several branches end at is one row with all their ports.
    fn note_port(&mut self, node: NodeId, port: u32) {
        let port = self.places[port as usize].node;
        let barrier = self.barrier_of.get(&node).map(|at| &mut self.barriers[*at]);
        if let Some(barrier) = barrier.filter(|_| self.closed.insert((node, port))) {
            barrier.ports.push(port);
        }
    }

    fn judge<G: Guide>(&mut self, node: NodeId, guide: &mut G) -> Result<Verdict> {
        let topology = &self.plant.topology;
        if guide.ends_at(node)? {
            return Ok(Verdict::Ends("barrier"));
        }
        if let Some(owner) = topology.owner(node) {
            return Ok(if self.targets.contains(&owner) {
                Verdict::Passes
            } else {
                Verdict::Stays("equipment", owner)
            });
        }
        Ok(match topology.roles[node as usize] {
            Role::PositiveBarrier => Verdict::Ends("positive_barrier"),
            Role::Barrier => Verdict::Ends("barrier"),
            Role::Control => self.note_conditional(node),
            Role::OneWay if self.terms.accept_one_way => Verdict::Ends("one_way"),
            Role::Relief => self.note_relief(node),
            Role::Equipment => Verdict::Stays("equipment", node),
            Role::OffPage if topology.flow_degree(node) < 2 => Verdict::Stays("off_page_connector", node),
            Role::OpenEnd => Verdict::Stays("open_end", node),
            _ => Verdict::Passes,
        })
    }

    fn note_conditional(&mut self, node: NodeId) -> Verdict {
        self.conditional.push(node);
        if self.terms.accept_conditional { Verdict::Ends("conditional") } else { Verdict::Passes }
    }

    fn note_relief(&mut self, node: NodeId) -> Verdict {
        self.relief.push(node);
        if self.terms.accept_relief { Verdict::Ends("relief") } else { Verdict::Passes }
    }

    /// A passed item is inside the volume. Where nothing leads on from it, either the line ends or the drawing does.
    fn pass<G: Guide>(&mut self, place: u32, guide: &mut G) -> Result<()> {
        let node = self.places[place as usize].node;
        self.inside.push(node);
        let degree = self.plant.topology.flow_degree(node);
        if degree < pipes_made_for(self.plant, node) || degree < 2 && self.goes_on(node, guide)? {
            self.gaps.push(Gap { kind: "free_port", at: node, edge: NONE });
            self.open.push(Open { place, kind: "free_port", at: node });
        } else if degree < 2 {
            self.dead_ends.push(node);
        }
        Ok(())
    }

    /// Whether something follows that is not drawn: the end of a segment, or the equipment of a nozzle.
    fn goes_on<G: Guide>(&mut self, node: NodeId, guide: &mut G) -> Result<bool> {
        let topology = &self.plant.topology;
        let is_alone = topology.roles[node as usize] == Role::Port && topology.owner(node).is_none();
        Ok(is_alone || self.missing_ends.ends_openly(self.plant, node, &mut |units| guide.pay(units))?)
    }

    fn passes_equipment(&self) -> bool {
        self.terms.grows || self.terms.pass != Pass::None
    }

    /// Goes on through equipment: by the ports on the same side, or by all where it is taken in. What is joined to the
    /// equipment without a nozzle is on the side that nobody names.
    fn enter(&mut self, place: u32, equipment: NodeId) {
        let topology = &self.plant.topology;
        let Place { node, port, depth, .. } = self.places[place as usize];
        let side = topology.zone(node);
        let is_open =
            |other: &NodeId| self.terms.grows || self.terms.pass == Pass::Any || topology.zone(*other) == side;
        let ports = topology.ports.nodes(equipment).iter().copied();
        let ways: Vec<NodeId> = ports.chain([equipment]).filter(is_open).collect();
        if node != equipment && !self.targets.contains(&node) {
            self.inside.push(node);
        }
        if self.held.insert(equipment) {
            self.inside.push(equipment);
            self.swallowed.extend(self.terms.grows.then_some(equipment));
        }
        for way in ways {
            if !self.seen.insert(way) {
                continue;
            }
            if way != equipment {
                self.inside.push(way);
            }
            if topology.flow_degree(way) > 0 {
                self.places.push(Place { node: way, from: place, port, depth: depth + 1, is_end: false });
            } else if way != equipment && self.is_spare(way) {
                self.gaps.push(Gap { kind: "unconnected_nozzle", at: way, edge: NONE });
            }
        }
    }

    /// Pipes at the volume, and nozzles of what is in it, whose other end names no node.
    fn find_dangling<G: Guide>(&mut self, guide: &mut G) -> Result<()> {
        let topology = &self.plant.topology;
        guide.pay(topology.dangling.len() as u64)?;
        let inside: HashSet<NodeId> = self.inside.iter().copied().collect();
        let opens =
            |edge: &&EdgeId| [Link::FLOW, Link::PART].iter().any(|link| topology.links[**edge as usize].has(*link));
        for edge in topology.dangling.iter().filter(opens) {
            let known = topology.ends[*edge as usize].into_iter().find(|end| inside.contains(end));
            self.gaps.extend(known.map(|node| Gap { kind: "dangling_edge", at: node, edge: *edge }));
        }
        Ok(())
    }

    fn path<'d>(&self, place: u32) -> Datum<'d> {
        let mut nodes = Vec::new();
        let mut at = place;
        while at != NONE {
            nodes.push(self.places[at as usize].node);
            at = self.places[at as usize].from;
        }
        nodes.reverse();
        Datum::Nodes(nodes)
    }
}

impl<'a> Isolation<'_, 'a> {
    fn result(&self, targets: &[NodeId], pay: Pay<'_>) -> Result<Datum<'a>> {
        let target = match targets {
            [target] => Datum::Node(*target),
            several => Datum::Nodes(several.into()),
        };
        let (mut barriers, mut bleeds) = (Vec::with_capacity(self.barriers.len()), Vec::new());
        for barrier in &self.barriers {
            barriers.push(self.barrier(barrier, pay)?);
            let Place { node, from, .. } = self.places[barrier.place as usize];
            if self.is_bleed(node, self.node_at(from), pay)? {
                bleeds.push(node);
            }
        }
        let open = self.open.iter().map(|open| self.open_branch(open)).collect();
        let gap = |gap: &Gap| vec![Datum::Word(gap.kind), Datum::Node(gap.at), Datum::Edge(gap.edge)];
        Ok(Datum::Record(
            RESULT,
            vec![
                target,
                Datum::Table(BARRIER, barriers),
                Datum::Table(UNRESOLVED, open),
                Datum::Nodes(self.inside.clone()),
                Datum::Nodes(self.conditional.clone()),
                Datum::Nodes(self.relief.clone()),
                Datum::Nodes(bleeds),
                Datum::Nodes(self.dead_ends.clone()),
                Datum::Nodes(self.swallowed.clone()),
                Datum::Table(GAP, self.gaps.iter().map(gap).collect()),
                Datum::Bool(self.open.is_empty() && self.gaps.is_empty()),
            ],
        ))
    }

    fn barrier(&self, barrier: &Barrier, pay: Pay<'_>) -> Result<Vec<Datum<'a>>> {
        let node = self.places[barrier.place as usize].node;
        Ok(vec![
            Datum::Node(node),
            Datum::Node(barrier.ports[0]),
            Datum::Nodes(barrier.ports.clone()),
            self.path(barrier.place),
            Datum::Word(barrier.kind),
            Datum::Word(self.method(barrier, pay)?),
            Datum::Bool(is_closed(self.plant, node)),
            Datum::value(self.plant.of_node(node, Names::FailAction)),
        ])
    }

    fn open_branch(&self, open: &Open) -> Vec<Datum<'a>> {
        let port = self.places[open.place as usize].port;
        let cross_page = || self.plant.of_node(open.at, Names::CrossPage);
        let partner = (open.kind == "off_page_connector").then(cross_page).flatten();
        vec![
            Datum::Node(self.places[port as usize].node),
            Datum::Word(open.kind),
            Datum::Node(open.at),
            self.path(open.place),
            Datum::value(partner),
        ]
    }

    /// The node of a place; `NONE` before the first.
    fn node_at(&self, place: u32) -> NodeId {
        self.places.get(place as usize).map_or(NONE, |place| place.node)
    }

    /// What a node is joined to, paid for.
    fn around(&self, node: NodeId, pay: Pay<'_>) -> Result<&[NodeId]> {
        let nodes = self.plant.topology.table(Over::Flow, Dir::Both).nodes(node);
        pay(nodes.len() as u64)?;
        Ok(nodes)
    }

    /// How a branch is closed, by what is drawn at its barrier and beyond.
    fn method(&self, barrier: &Barrier, pay: Pay<'_>) -> Result<&'static str> {
        let Place { node, from, .. } = self.places[barrier.place as usize];
        if self.plant.topology.roles[node as usize] == Role::PositiveBarrier {
            return Ok("positive");
        }
        Ok(match (self.beyond(node, self.node_at(from), pay)?, self.has_bleed_before(from, pay)?) {
            ((true, true), _) => "double_block_bleed",
            ((true, false), _) => "double_block",
            ((false, true), _) | (_, true) => "block_bleed",
            _ => "single",
        })
    }

    /// Whether a second barrier follows in series, and whether a bleed branches off before it.
    fn beyond(&self, barrier: NodeId, before: NodeId, pay: Pay<'_>) -> Result<(bool, bool)> {
        const FAR: usize = 20;
        let topology = &self.plant.topology;
        let (mut node, mut before, mut bled) = (barrier, before, false);
        for _ in 0..FAR {
            let mut rest = Vec::new();
            for next in self.around(node, pay)?.iter().copied().filter(|next| *next != before) {
                if self.leads_to_bleed(next, node, pay)? { bled = true } else { rest.push(next) }
            }
            let [only] = rest.as_slice() else { return Ok((false, bled)) };
            if topology.is_equipment(*only) {
                return Ok((false, bled));
            }
            match topology.roles[*only as usize] {
                Role::Barrier | Role::PositiveBarrier => return Ok((true, bled)),
                Role::Control | Role::OffPage | Role::OpenEnd | Role::Relief => return Ok((false, bled)),
                _ => (before, node) = (node, *only),
            }
        }
        Ok((false, bled))
    }

    /// Whether a bleed branches off the last item before a barrier.
    fn has_bleed_before(&self, place: u32, pay: Pay<'_>) -> Result<bool> {
        let Some(Place { node, from, .. }) = self.places.get(place as usize) else { return Ok(false) };
        if self.plant.topology.roles[*node as usize] != Role::Junction {
            return Ok(false);
        }
        let before = self.node_at(*from);
        for next in self.around(*node, pay)?.iter().copied().filter(|next| *next != before) {
            if self.leads_to_bleed(next, *node, pay)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn leads_to_bleed(&self, node: NodeId, before: NodeId, pay: Pay<'_>) -> Result<bool> {
        Ok(self.plant.topology.roles[node as usize] == Role::Barrier && self.is_bleed(node, before, pay)?)
    }

    /// Whether a valve, come to from one side, leads to nothing: a drain, a vent or a bleed.
    fn is_bleed(&self, valve: NodeId, before: NodeId, pay: Pay<'_>) -> Result<bool> {
        const FAR: usize = 10;
        let topology = &self.plant.topology;
        let (mut node, mut before) = (valve, before);
        if before == NONE {
            return Ok(false);
        }
        for _ in 0..FAR {
            let mut next = self.around(node, pay)?.iter().copied().filter(|next| *next != before);
            match (next.next(), next.next()) {
                (None, _) => return Ok(!topology.is_equipment(node) && topology.roles[node as usize] != Role::OffPage),
                (Some(only), None) => (before, node) = (node, only),
                _ => return Ok(false),
            }
        }
        Ok(false)
    }
}

/// Whether the drawing says that a valve is normally closed.
pub(crate) fn is_closed(plant: &Plant<'_>, node: NodeId) -> bool {
    let position = plant.of_node(node, Names::NormalPosition).and_then(Value::as_str);
    position.is_some_and(|position| plant.topology.config.has(Names::Closed, position))
}

/// How many pipes an item is made for: as many as it has process ports, or two where it stands in a line.
///
/// A nozzle may be drawn with a port to its equipment, and a bubble of an instrument with one on each side: of these no more
/// is known than that one pipe leads to a nozzle, and as many to an instrument as it calls ports of the process.
pub(crate) fn pipes_made_for(plant: &Plant<'_>, node: NodeId) -> usize {
    let Some(kinds) = port_kinds(plant, node) else { return if stands_in_line(plant, node) { 2 } else { 0 } };
    let said = kinds.iter().filter(|kind| **kind == Some("process")).count();
    let unsaid = kinds.iter().filter(|kind| kind.is_none()).count();
    match plant.topology.roles[node as usize] {
        _ if plant.topology.owner(node).is_some() => (said + unsaid).min(1),
        Role::Instrument => said,
        _ => said + unsaid,
    }
}

/// What kinds of ports an item says it has; nothing where it lists none.
fn port_kinds<'a>(plant: &Plant<'a>, node: NodeId) -> Option<Vec<Option<&'a str>>> {
    let ports = plant.of_node(node, Names::Ports)?.as_array()?;
    Some(ports.iter().map(|port| plant.field(port, Names::PortType).and_then(Value::as_str)).collect())
}

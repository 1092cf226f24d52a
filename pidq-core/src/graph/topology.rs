//! What a drawing is as a network: ends of edges, roles of nodes, ports of equipment, sides of exchangers.
//!
//! Built once per document at the first question about its graph, then only read. Numbers only: what the nodes are
//! stays in the document.

use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::adjacency::{Adjacency, EdgeId, NONE, NodeId};
use super::config::{Names, TopologyConfig};
use super::fields::Reader;
use super::index::{Index, Key};
use super::roles::Role;
use super::vocabulary;
use crate::error::{Code, Error, Result};
use crate::limits::Limits;
use crate::value::{Array, Object, Value};

/// What an edge means: a set of the constants below.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Link(u16);

impl Link {
    /// Something flows along it.
    pub const FLOW: Link = Link(1);
    /// From equipment to a nozzle or another part.
    pub const PART: Link = Link(2);
    /// From a group to a member.
    pub const MEMBER: Link = Link(4);
    /// From a member to its group.
    pub const MEMBER_REVERSED: Link = Link(8);
    pub const SIGNAL: Link = Link(16);
    pub const SEGMENT_END: Link = Link(32);
    /// From an actuator to the valve that it moves.
    pub const ACTUATES: Link = Link(64);
    /// From what is located to where it is.
    pub const ZONE: Link = Link(128);
    /// Flows from its target to its source.
    pub const BACKWARD: Link = Link(256);
    /// Flows both ways, or nobody knows which.
    pub const UNDIRECTED: Link = Link(512);
    /// Has a kind that no list names.
    pub const UNKNOWN: Link = Link(1024);

    /// Whether all of another set are in this.
    pub fn has(self, other: Link) -> bool {
        self.0 & other.0 == other.0
    }

    fn with(self, other: Link) -> Link {
        Link(self.0 | other.0)
    }
}

/// Which kinds of an edge are which links.
const KINDS: &[(Names, Link)] = &[
    (Names::Flow, Link::FLOW),
    (Names::Part, Link::PART),
    (Names::Member, Link::MEMBER),
    (Names::MemberReversed, Link::MEMBER_REVERSED),
    (Names::Signal, Link::SIGNAL),
    (Names::SegmentEnd, Link::SEGMENT_END),
    (Names::ActuatedBy, Link::ACTUATES),
    (Names::ZoneEdge, Link::ZONE),
];

/// What a node that stands for others holds: pipes, a loop of instruments, or whatever is in a part of the plant.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Group {
    #[default]
    None,
    Line,
    Loop,
    Structure,
}

/// Which way edges are followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Dir {
    Down,
    Up,
    Both,
}

/// Which edges are followed: those that something flows along, or all.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Over {
    Flow,
    All,
}

/// Some of many numbers, a bit each: what a walk asks of every node stays near.
#[derive(Debug, Default)]
pub(crate) struct Marks(Vec<u64>);

impl Marks {
    fn of(count: usize, numbers: impl Iterator<Item = u32>) -> Marks {
        let mut words = vec![0; count.div_ceil(64)];
        numbers.for_each(|number| words[number as usize / 64] |= 1 << (number % 64));
        Marks(words)
    }

    /// Whether a number is among them.
    pub fn has(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

/// The network of a drawing.
#[derive(Debug)]
pub(crate) struct Topology {
    pub config: Arc<TopologyConfig>,
    /// By edge: the nodes it joins, as written; `NONE` for an end that names no node.
    pub ends: Vec<[NodeId; 2]>,
    /// By edge.
    pub links: Vec<Link>,
    /// By node.
    pub roles: Vec<Role>,
    /// By node: the equipment whose port it is, and the edge that says so.
    owners: Vec<[u32; 2]>,
    /// By node: the chamber or side of the equipment that a port belongs to.
    zones: Vec<u32>,
    /// From equipment to its ports.
    pub ports: Adjacency,
    /// Members and their groups where only a field says so, by member.
    named: Vec<[NodeId; 2]>,
    /// The same from groups to members.
    named_members: OnceLock<Adjacency>,
    ids: Index,
    tags: OnceLock<Index>,
    qualified_tags: OnceLock<Index>,
    tables: [OnceLock<Adjacency>; 6],
    /// Edges of which an end names no node.
    pub dangling: Vec<EdgeId>,
    /// Edges that flow both ways or nobody knows which; the same as a set, and the nodes that have one.
    pub undirected: Vec<EdgeId>,
    is_undirected: Marks,
    beside_undirected: OnceLock<Marks>,
    /// What all edges together mean.
    pub met: Link,
    /// The key names of edge ends that were met, in the order of the config.
    pub endpoints_met: Vec<usize>,
    /// Entries of the document's own config that could not be taken.
    pub problems: Vec<String>,
}

impl Topology {
    /// Reads nodes and edges with a config. It takes no fuel, since all runs share it, but ends when the run has to.
    ///
    /// # Errors
    /// `PQ4007` where it takes more memory than a run may and more than drawings do; those of a run that ends.
    pub fn new<'a>(
        nodes: Array<'a>,
        edges: Array<'a>,
        config: Arc<TopologyConfig>,
        limits: &Limits<'_>,
    ) -> Result<Topology> {
        check_room(nodes.len(), edges.len(), limits)?;
        let ids = Ids::read(nodes, &config);
        let mut topology = Topology::empty(config);
        topology.read_edges(edges, &ids, limits)?;
        let groups = topology.read_nodes(nodes, &ids, limits)?;
        topology.ids = ids.index;
        topology.find_ports(&groups);
        Ok(topology)
    }

    pub fn empty(config: Arc<TopologyConfig>) -> Topology {
        Topology {
            config,
            ends: Vec::new(),
            links: Vec::new(),
            roles: Vec::new(),
            owners: Vec::new(),
            zones: Vec::new(),
            ports: Adjacency::default(),
            named: Vec::new(),
            named_members: OnceLock::new(),
            met: Link::default(),
            ids: Index::default(),
            tags: OnceLock::new(),
            qualified_tags: OnceLock::new(),
            tables: Default::default(),
            dangling: Vec::new(),
            undirected: Vec::new(),
            is_undirected: Marks::default(),
            beside_undirected: OnceLock::new(),
            endpoints_met: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Bytes that it takes, nearly, once all was asked of it; without a config that it shares.
    pub fn size(&self) -> usize {
        let config = if self.has_own_config() { self.config.size() } else { 0 };
        Topology::size_of(self.node_count(), self.edge_count()) + config
    }

    /// The same for so many nodes and edges.
    pub fn size_of(nodes: usize, edges: usize) -> usize {
        // Three indexes, seven tables, roles, owners and zones, and the group that a field names, as a pair and in a table;
        // the arcs of an edge in six tables, its ends and its link.
        const NODE: usize = 3 * 36 + 7 * size_of::<u32>() + 13 + NAMED;
        const NAMED: usize = 5 * size_of::<NodeId>();
        const EDGE: usize = 8 * size_of::<(NodeId, EdgeId)>() + 12;
        size_of::<Topology>() + nodes * NODE + edges * EDGE
    }

    /// Whether the drawing, or a query, says of itself how it is read.
    pub fn has_own_config(&self) -> bool {
        Arc::strong_count(&self.config) == 1
    }

    pub fn node_count(&self) -> usize {
        self.roles.len()
    }

    pub fn edge_count(&self) -> usize {
        self.ends.len()
    }

    /// The nodes with an id; `has` compares.
    pub fn by_id<'i>(&'i self, key: Key<'_>, has: impl Fn(NodeId) -> bool + 'i) -> impl Iterator<Item = NodeId> + 'i {
        self.ids.find(key, has)
    }

    /// The index of tags, made at its first use.
    pub fn tags<'a>(&self, tag: impl Fn(NodeId) -> Option<Key<'a>>) -> &Index {
        self.tags.get_or_init(|| Index::new(self.node_count(), tag))
    }

    /// The index of unique tags, made at its first use.
    pub fn qualified_tags<'a>(&self, tag: impl Fn(NodeId) -> Option<Key<'a>>) -> &Index {
        self.qualified_tags.get_or_init(|| Index::new(self.node_count(), tag))
    }

    /// The equipment whose port a node is.
    pub fn owner(&self, node: NodeId) -> Option<NodeId> {
        Some(self.owners[node as usize][0]).filter(|owner| *owner != NONE)
    }

    /// The edge between a port and its equipment; nothing where only a field says so.
    pub fn owner_edge(&self, node: NodeId) -> EdgeId {
        self.owners[node as usize][1]
    }

    /// The side of its equipment that a port is on; `NONE` where no side is named.
    pub fn zone(&self, node: NodeId) -> u32 {
        self.zones[node as usize]
    }

    /// Whether it is equipment, or the port of some: where a walk ends unless it is told to pass.
    pub fn is_equipment(&self, node: NodeId) -> bool {
        self.roles[node as usize] == Role::Equipment || self.owner(node).is_some()
    }

    /// The equipment that a node is or belongs to; the node itself where it belongs to none.
    pub fn holder(&self, node: NodeId) -> NodeId {
        self.owner(node).unwrap_or(node)
    }

    /// The table of a direction, made at its first use.
    pub fn table(&self, over: Over, dir: Dir) -> &Adjacency {
        self.tables[over as usize * 3 + dir as usize].get_or_init(|| self.build(over, dir))
    }

    /// The nodes that something flows between by way of an edge, in the direction of the flow.
    pub fn flow_ends(&self, edge: EdgeId) -> [NodeId; 2] {
        let [from, to] = self.ends[edge as usize];
        if self.links[edge as usize].has(Link::BACKWARD) { [to, from] } else { [from, to] }
    }

    /// Whether both ends of an edge name nodes.
    pub fn is_whole(&self, edge: EdgeId) -> bool {
        !self.ends[edge as usize].contains(&NONE)
    }

    /// The edges of a link with both ends.
    pub fn edges_of(&self, link: Link) -> impl Iterator<Item = EdgeId> + '_ {
        (0..self.edge_count() as u32).filter(move |edge| self.links[*edge as usize].has(link) && self.is_whole(*edge))
    }

    /// How many ends of flow edges a node has.
    pub fn flow_degree(&self, node: NodeId) -> usize {
        self.table(Over::Flow, Dir::Both).degree(node)
    }

    /// Whether an edge is followed in a direction that the drawing does not say.
    pub fn is_assumed(&self, edge: EdgeId) -> bool {
        self.is_undirected.has(edge)
    }

    /// The nodes that such an edge is at. Made at its first use.
    pub fn beside_assumed(&self) -> &Marks {
        self.beside_undirected.get_or_init(|| {
            let edges = self.undirected.iter().filter(|edge| self.is_whole(**edge));
            Marks::of(self.node_count(), edges.flat_map(|edge| self.ends[*edge as usize]))
        })
    }

    /// Groups and their members: pairs of both, in the order of the edges, then those that only a field tells.
    pub fn memberships(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.drawn_memberships().chain(self.named.iter().map(|[member, group]| (*group, *member)))
    }

    /// How many steps it takes to go through them.
    pub fn membership_steps(&self) -> u64 {
        (self.edge_count() + self.named.len()) as u64
    }

    /// The group of a node where only a field says so.
    pub fn named_group(&self, member: NodeId) -> Option<NodeId> {
        let at = self.named.binary_search_by_key(&member, |[member, _]| *member).ok()?;
        Some(self.named[at][1])
    }

    /// The members of a group where only fields say so. The table is made at its first use.
    pub fn named_members(&self, group: NodeId) -> &[NodeId] {
        if self.named.is_empty() {
            return &[];
        }
        let pairs = || self.named.iter().map(|[member, group]| (*group, *member, NONE));
        self.named_members.get_or_init(|| Adjacency::new(self.node_count(), pairs)).nodes(group)
    }

    fn drawn_memberships(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        (0..self.edge_count() as u32).filter(|edge| self.is_whole(*edge)).filter_map(|edge| {
            let [from, to] = self.ends[edge as usize];
            match self.links[edge as usize] {
                link if link.has(Link::MEMBER) => Some((from, to)),
                link if link.has(Link::MEMBER_REVERSED) => Some((to, from)),
                _ => None,
            }
        })
    }

    fn build(&self, over: Over, dir: Dir) -> Adjacency {
        let follows = move |edge: &EdgeId| {
            self.is_whole(*edge) && (over == Over::All || self.links[*edge as usize].has(Link::FLOW))
        };
        let arcs = || (0..self.edge_count() as u32).filter(follows).flat_map(move |edge| self.arcs_of(edge, dir));
        Adjacency::new(self.node_count(), arcs)
    }

    /// The arcs of an edge in the table of a direction. A self loop is one arc.
    fn arcs_of(&self, edge: EdgeId, dir: Dir) -> impl Iterator<Item = (NodeId, NodeId, EdgeId)> {
        let [from, to] = self.flow_ends(edge);
        let runs_both_ways = dir == Dir::Both || self.links[edge as usize].has(Link::UNDIRECTED);
        let (from, to) = if dir == Dir::Up { (to, from) } else { (from, to) };
        let back = (runs_both_ways && from != to).then_some((to, from, edge));
        std::iter::once((from, to, edge)).chain(back)
    }

    fn read_edges<'a>(&mut self, edges: Array<'a>, ids: &Ids<'a>, limits: &Limits<'_>) -> Result<()> {
        let config = &self.config;
        let mut ends = Reader::new(config.endpoints().iter().flatten());
        let mut kinds = Reader::new(config.names(Names::EdgeKind));
        let mut classes = Reader::new(config.names(Names::EdgeClass));
        let mut directions = Reader::new(config.names(Names::Direction));
        let mut words = Words::new(config, limits);
        let mut met = vec![false; config.endpoints().len()];
        for edge in edges.iter() {
            let Value::Object(edge) = edge else {
                self.ends.push([NONE; 2]);
                self.links.push(Link::default());
                continue;
            };
            let pair =
                (0..met.len()).find_map(|at| Some((at, ends.written(edge, 2 * at)?, ends.written(edge, 2 * at + 1)?)));
            let joined = match pair {
                Some((at, from, to)) => {
                    met[at] = true;
                    [from, to].map(|end| ids.of_end(end, config))
                }
                None => ids.of_lone_end(edge, &mut ends, config),
            };
            let kind = kinds.first(edge).and_then(Value::as_str);
            let class = classes.first(edge).and_then(Value::as_str);
            let direction = directions.first(edge).and_then(Value::as_str);
            self.ends.push(joined);
            self.links.push(words.link(kind, class)?.with(words.direction(direction)?));
        }
        self.met = self.links.iter().copied().fold(Link::default(), Link::with);
        self.dangling = (0..self.ends.len() as u32).filter(|edge| !self.is_whole(*edge)).collect();
        let is_undirected = |edge: &EdgeId| self.links[*edge as usize].has(Link::UNDIRECTED);
        self.undirected = (0..self.edge_count() as u32).filter(is_undirected).collect();
        self.is_undirected = Marks::of(self.edge_count(), self.undirected.iter().copied());
        self.endpoints_met = (0..met.len()).filter(|at| met[*at]).collect();
        Ok(())
    }

    /// Reads nodes, and tells which of them are groups of others.
    fn read_nodes<'a>(&mut self, nodes: Array<'a>, ids: &Ids<'a>, limits: &Limits<'_>) -> Result<Vec<Group>> {
        let count = nodes.len();
        self.owners = vec![[NONE; 2]; count];
        self.zones = vec![NONE; count];
        let config = &self.config;
        let mut classes = Reader::new(config.names(Names::Class));
        let mut types = Reader::new(config.names(Names::NodeType));
        let mut parents = Reader::new(config.names(Names::Parent));
        let mut zones = Reader::new(config.names(Names::Zone));
        let mut actuated = Reader::new(config.names(Names::Actuated));
        let mut words = Words::new(config, limits);
        let mut sides = Sides::default();
        let mut groups = vec![Group::None; count];
        for (node, value) in nodes.iter().enumerate() {
            let Value::Object(object) = value else {
                self.roles.push(Role::None);
                continue;
            };
            let role = words.first_role(&mut classes, object)?;
            // A line or a loop is no item, whatever its class is called.
            let kind = types.first(object).and_then(Value::as_str);
            groups[node] = kind.map_or(Ok(Group::None), |word| words.group(word))?;
            let role = role.filter(|_| !matches!(groups[node], Group::Line | Group::Loop)).unwrap_or_default();
            let is_actuated = matches!(actuated.first(object), Some(Value::Bool(true)));
            self.roles.push(if role == Role::Barrier && is_actuated { Role::Control } else { role });
            if let Some(parent) = parents.first(object).map(|parent| ids.of(parent)).filter(|parent| *parent != NONE) {
                self.named.push([node as u32, parent]);
            }
            if role == Role::Port {
                self.zones[node] = zones.first(object).map_or(NONE, |zone| sides.number(zone, ids));
            }
        }
        Ok(groups)
    }

    /// Who owns which port, by the edges between equipment and its parts, and by the fields that name an owner. An edge
    /// wins over a field.
    fn find_ports(&mut self, groups: &[Group]) {
        let mut holders = vec![[NONE; 2]; self.node_count()];
        let parts: Vec<EdgeId> = self.edges_of(Link::PART).collect();
        for edge in parts {
            let [holder, part] = self.ends[edge as usize];
            if holders[part as usize][0] == NONE && holder != part {
                holders[part as usize] = [holder, edge];
            }
        }
        self.take_named(&mut holders, groups);
        for (node, holder) in holders.iter().enumerate() {
            if holder[0] != NONE && self.is_port(node as u32) {
                self.owners[node] = *holder;
            }
        }
        self.step_out_of_chambers(&holders);
        self.read_zones();
        self.read_actuators();
        let owned = || self.owners.iter().enumerate().filter(|(_, owner)| owner[0] != NONE);
        self.ports =
            Adjacency::new(self.node_count(), || owned().map(|(port, owner)| (owner[0], port as u32, owner[1])));
    }

    /// What a field names as the owner of a node: equipment holds it as a part, a line or a loop as a member. What an edge
    /// says of an owner of that kind wins: an instrument in a pipe is in a loop too, and no edge of the one denies the other.
    /// A nozzle that stands in a line is a member of it, and no port.
    fn take_named(&mut self, holders: &mut [[u32; 2]], groups: &[Group]) {
        if self.named.is_empty() {
            return;
        }
        let members = |kind: Group| self.drawn_memberships().filter(move |(group, _)| groups[*group as usize] == kind);
        let held = [Group::None, Group::Line, Group::Loop, Group::Structure]
            .map(|kind| Marks::of(self.node_count(), members(kind).map(|(_, member)| member)));
        let roles = &self.roles;
        self.named.retain(|[node, owner]| {
            let is_nozzle = roles[*node as usize] == Role::Port;
            let kind = groups[*owner as usize];
            let is_part = kind == Group::None && (is_nozzle || roles[*owner as usize] == Role::Equipment);
            let holder = &mut holders[*node as usize];
            let is_told = holder[0] != NONE || owner == node;
            if is_part && !is_told {
                *holder = [*owner, NONE];
            }
            !is_part && !is_told && !held[kind as usize].has(*node)
        });
    }

    /// A nozzle by its class; or a part of unknown class that something flows through.
    fn is_port(&self, node: NodeId) -> bool {
        match self.roles[node as usize] {
            Role::Port => true,
            Role::None => self.flow_degree(node) > 0,
            _ => false,
        }
    }

    /// A nozzle may be part of a chamber that is part of the equipment, or of a part of it: then the chamber is the side
    /// it is on.
    fn step_out_of_chambers(&mut self, holders: &[[u32; 2]]) {
        for node in 0..self.node_count() {
            let [chamber, _] = self.owners[node];
            let Some(outer) = self.equipment_around(chamber, holders) else { continue };
            self.owners[node][0] = outer;
            // A section of a column is open to the next one: then the nozzle says itself on which side it is.
            if self.zones[node] == NONE {
                self.zones[node] = chamber;
            }
        }
    }

    /// The equipment that a part of it is in; nothing for equipment itself, and where there is none.
    fn equipment_around(&self, part: NodeId, holders: &[[u32; 2]]) -> Option<NodeId> {
        const MAX_PARTS: usize = 8;
        let is_equipment = |node: NodeId| self.roles[node as usize] == Role::Equipment;
        if part == NONE || is_equipment(part) {
            return None;
        }
        let around = |part: &NodeId| Some(holders[*part as usize][0]).filter(|outer| *outer != NONE);
        std::iter::successors(around(&part), around).take(MAX_PARTS).find(|outer| is_equipment(*outer))
    }

    fn read_zones(&mut self) {
        let edges: Vec<EdgeId> = self.edges_of(Link::ZONE).collect();
        for edge in edges {
            let [port, chamber] = self.ends[edge as usize];
            if self.owners[port as usize][0] != NONE && self.zones[port as usize] == NONE {
                self.zones[port as usize] = chamber;
            }
        }
    }

    fn read_actuators(&mut self) {
        let edges: Vec<EdgeId> = self.edges_of(Link::ACTUATES).collect();
        for edge in edges {
            let [_, valve] = self.ends[edge as usize];
            if self.roles[valve as usize] == Role::Barrier {
                self.roles[valve as usize] = Role::Control;
            }
        }
    }
}

/// Two bytes of a document may be a node: a list of numbers is no drawing.
pub(super) fn check_room(nodes: usize, edges: usize, limits: &Limits<'_>) -> Result<()> {
    /// Half a million nodes with their pipes, whatever a run may take.
    const ALWAYS: usize = 64 << 20;
    let most = limits.memory.max(ALWAYS);
    // Before anything was asked: roles, owners, zones, groups, one index and the keys in it; ends and links.
    if nodes.saturating_mul(88).saturating_add(edges.saturating_mul(16)) <= most {
        return Ok(());
    }
    let message = format!("The network of {nodes} nodes and {edges} edges needs more than {most} bytes of memory");
    let error = Error::new(Code::OutOfMemory, message).with_limit("memory", most as u64);
    Err(error.with_help("raise the memory limit"))
}

/// The ids of nodes while a drawing is read.
struct Ids<'a> {
    keys: Vec<Option<Key<'a>>>,
    index: Index,
}

impl<'a> Ids<'a> {
    fn read(nodes: Array<'a>, config: &TopologyConfig) -> Ids<'a> {
        let mut reader = Reader::new(config.names(Names::NodeId));
        let key = |node: Value<'a>| Key::of(reader.first(node.as_object()?)?);
        let keys: Vec<Option<Key<'a>>> = nodes.iter().map(key).collect();
        let index = Index::new(keys.len(), |node| keys[node as usize]);
        Ids { keys, index }
    }

    /// The first node with an id.
    fn of(&self, id: Value<'_>) -> NodeId {
        let Some(key) = Key::of(id) else { return NONE };
        self.index.find(key, |node| self.keys[node as usize] == Some(key)).next().unwrap_or(NONE)
    }

    /// The node that an end of an edge names: by its id, or as an object with the id.
    fn of_end(&self, end: Value<'_>, config: &TopologyConfig) -> NodeId {
        match end {
            Value::Object(object) => {
                config.names(Names::EndpointId).iter().find_map(|key| object.get(key)).map_or(NONE, |id| self.of(id))
            }
            id => self.of(id),
        }
    }

    /// The ends of an edge that has no pair of them: the first one alone that names a node. What is known of a pipe tells
    /// where something is missing.
    fn of_lone_end(&self, edge: Object<'a>, ends: &mut Reader<'_, 'a>, config: &TopologyConfig) -> [NodeId; 2] {
        for key in 0..ends.len() {
            let node = ends.get(edge, key).map_or(NONE, |end| self.of_end(end, config));
            if node != NONE {
                return if key % 2 == 0 { [node, NONE] } else { [NONE, node] };
            }
        }
        [NONE; 2]
    }
}

/// Zones that ports name in a field: a node, or a word of their own.
#[derive(Default)]
struct Sides<'a> {
    words: HashMap<Key<'a>, u32>,
}

impl<'a> Sides<'a> {
    /// Words are numbered from above all nodes.
    fn number(&mut self, zone: Value<'a>, ids: &Ids<'_>) -> u32 {
        const FIRST: u32 = 1 << 31;
        let node = ids.of(zone);
        if node != NONE {
            return node;
        }
        let Some(key) = Key::of(zone) else { return NONE };
        let next = FIRST + self.words.len() as u32;
        *self.words.entry(key).or_insert(next)
    }
}

/// What words mean, looked up once a word.
struct Words<'c, 'a> {
    config: &'c TopologyConfig,
    limits: &'c Limits<'c>,
    links: HashMap<&'a str, Link>,
    directions: HashMap<&'a str, Link>,
    roles: HashMap<&'a str, Option<Role>>,
    groups: HashMap<&'a str, Group>,
}

impl<'c, 'a> Words<'c, 'a> {
    fn new(config: &'c TopologyConfig, limits: &'c Limits<'c>) -> Self {
        Words {
            config,
            limits,
            links: HashMap::new(),
            directions: HashMap::new(),
            roles: HashMap::new(),
            groups: HashMap::new(),
        }
    }

    /// The link of an edge of a kind and class. An edge without a kind is one that something flows along.
    fn link(&mut self, kind: Option<&'a str>, class: Option<&'a str>) -> Result<Link> {
        if kind.or(class).is_none() {
            return Ok(Link::FLOW);
        }
        let mut words = [kind, class].into_iter().flatten();
        let link = words.try_fold(Link::default(), |link, word| Ok(link.with(self.link_of(word)?)))?;
        Ok(if link == Link::default() { Link::UNKNOWN } else { link })
    }

    fn link_of(&mut self, word: &'a str) -> Result<Link> {
        let config = self.config;
        meaning(&mut self.links, word, self.limits, || {
            let of_list = KINDS.iter().filter(|(names, _)| config.has(*names, word)).map(|(_, link)| *link);
            of_list.fold(Link::default(), Link::with)
        })
    }

    fn direction(&mut self, word: Option<&'a str>) -> Result<Link> {
        let (Some(word), config) = (word, self.config) else { return Ok(Link::default()) };
        meaning(&mut self.directions, word, self.limits, || match word {
            word if config.has(Names::Undirected, word) => Link::UNDIRECTED,
            word if config.has(Names::Backward, word) => Link::BACKWARD,
            _ => Link::default(),
        })
    }

    /// What nodes of a type hold.
    fn group(&mut self, kind: &'a str) -> Result<Group> {
        const LISTS: [(Names, Group); 3] =
            [(Names::LineType, Group::Line), (Names::SegmentType, Group::Line), (Names::LoopType, Group::Loop)];
        let config = self.config;
        let listed = || LISTS.iter().find(|(names, _)| config.has(*names, kind)).map(|(_, group)| *group);
        let other = || vocabulary::has(vocabulary::GROUP_TYPES, kind).then_some(Group::Structure);
        meaning(&mut self.groups, kind, self.limits, || listed().or_else(other).unwrap_or_default())
    }

    /// The role of the first class of a node that has one.
    fn first_role(&mut self, classes: &mut Reader<'c, 'a>, node: Object<'a>) -> Result<Option<Role>> {
        let config = self.config;
        for at in 0..classes.len() {
            let Some(class) = classes.get(node, at).and_then(Value::as_str) else { continue };
            let role = meaning(&mut self.roles, class, self.limits, || config.role_of(class))?;
            if role.is_some() {
                return Ok(role);
            }
        }
        Ok(None)
    }
}

/// What a word means. A drawing may have as many words as bytes, and a hundred rules for each.
fn meaning<'a, T: Copy>(
    known: &mut HashMap<&'a str, T>,
    word: &'a str,
    limits: &Limits<'_>,
    find: impl FnOnce() -> T,
) -> Result<T> {
    match known.entry(word) {
        Entry::Occupied(known) => Ok(*known.get()),
        Entry::Vacant(place) => {
            limits.check()?;
            Ok(*place.insert(find()))
        }
    }
}

//! Topology of a drawing: ends of edges, roles of nodes, ports of equipment, sides of exchangers.
//!
//! Built once per document on first use of its graph, then only read. It stores only indices; the nodes themselves stay
//! in the document.

pub(crate) mod absences;
mod equipment_by_nozzles;
pub(crate) mod equipment_tags;
mod item_ports;
mod named_owners;
mod owners_by_tag;
mod ports;

use std::sync::{Arc, OnceLock};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use self::absences::Absences;
use super::adjacency::{Adjacency, EdgeId, NONE, NodeId};
use super::config::name_filter::NameFilter;
use super::config::{MAX_CLASS, Names, TopologyConfig};
use super::field_reader::FieldReader;
use super::index::{Index, Key};
use super::node_memo::{self, EdgeMemos, NodeMemos};
use super::roles::Role;
use super::snake_case::snake_case;
use super::vocabulary;
use crate::error::{Code, Error, Result};
use crate::limits::Limits;
use crate::value::{Array, Object, Value};

/// Classification of an edge: a set of the flags below.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct EdgeFlags(u16);

impl EdgeFlags {
    /// Carries flow.
    pub const FLOW: EdgeFlags = EdgeFlags(1);
    /// From equipment to a nozzle or another part.
    pub const PART: EdgeFlags = EdgeFlags(2);
    /// From a group to a member.
    pub const MEMBER: EdgeFlags = EdgeFlags(4);
    /// From a member to its group.
    pub const MEMBER_REVERSED: EdgeFlags = EdgeFlags(8);
    pub const SIGNAL: EdgeFlags = EdgeFlags(16);
    pub const SEGMENT_END: EdgeFlags = EdgeFlags(32);
    /// From an actuator to the valve that it moves.
    pub const ACTUATES: EdgeFlags = EdgeFlags(64);
    /// From an item to its location.
    pub const ZONE: EdgeFlags = EdgeFlags(128);
    /// Flows from its target to its source.
    pub const BACKWARD: EdgeFlags = EdgeFlags(256);
    /// Flows both ways or in an unknown direction.
    pub const UNDIRECTED: EdgeFlags = EdgeFlags(512);
    /// Has a kind in no list.
    pub const UNKNOWN: EdgeFlags = EdgeFlags(1024);
    /// Connects the connectors of two sheets, as `joinSheets` writes it.
    pub const JOINT: EdgeFlags = EdgeFlags(2048);

    /// Has a direction in no list.
    pub const UNKNOWN_DIRECTION: EdgeFlags = EdgeFlags(4096);

    /// Says that one of its ends measures.
    const MEASURES: EdgeFlags = EdgeFlags(8192);

    /// Returns whether all flags of another set are set.
    pub fn contains(self, other: EdgeFlags) -> bool {
        self.0 & other.0 == other.0
    }

    fn union(self, other: EdgeFlags) -> EdgeFlags {
        EdgeFlags(self.0 | other.0)
    }
}

/// Lists of edge kinds and the flags they set.
const KINDS: &[(Names, EdgeFlags)] = &[
    (Names::Flow, EdgeFlags::FLOW),
    (Names::Part, EdgeFlags::PART),
    (Names::Member, EdgeFlags::MEMBER),
    (Names::MemberReversed, EdgeFlags::MEMBER_REVERSED),
    (Names::Signal, EdgeFlags::SIGNAL),
    (Names::SegmentEnd, EdgeFlags::SEGMENT_END),
    (Names::ActuatedBy, EdgeFlags::ACTUATES),
    (Names::ZoneEdge, EdgeFlags::ZONE),
];

/// Kind of a group node: a pipe line or segment, an instrument loop, or any other plant structure.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum GroupKind {
    #[default]
    None,
    Line,
    Loop,
    Structure,
}

/// Direction in which edges are followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Direction {
    Down,
    Up,
    Both,
}

/// Direction of the edges of a drawing that state none.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum DefaultDirection {
    Forward,
    /// The graph is stated as undirected: the order of the ends of an edge is that of the writing program.
    Unknown,
}

impl DefaultDirection {
    /// Key of node-link JSON; false for an undirected graph.
    pub const KEY: &str = "directed";

    /// Reads the objects that contain the nodes.
    pub fn of_graph(holders: [Value<'_>; 2]) -> DefaultDirection {
        let is_undirected = |holder: &Value<'_>| {
            matches!(holder.as_object().and_then(|object| object.get(Self::KEY)), Some(Value::Bool(false)))
        };
        if holders.iter().any(is_undirected) { DefaultDirection::Unknown } else { DefaultDirection::Forward }
    }

    fn flags(self) -> EdgeFlags {
        match self {
            DefaultDirection::Forward => EdgeFlags::default(),
            DefaultDirection::Unknown => EdgeFlags::UNDIRECTED,
        }
    }
}

/// Edges that are followed: only those that carry flow, or all.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum EdgeFilter {
    Flow,
    All,
}

/// Bit set of indices. Compact, so lookups by a walk stay in the cache.
#[derive(Debug, Default)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    pub fn from_indices(count: usize, indices: impl Iterator<Item = u32>) -> BitSet {
        let mut words = vec![0; count.div_ceil(64)];
        indices.for_each(|index| words[index as usize / 64] |= 1 << (index % 64));
        BitSet(words)
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Returns whether the set contains an index.
    pub fn contains(&self, index: u32) -> bool {
        self.0.get(index as usize / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}

/// The network of a drawing.
#[derive(Debug)]
pub(crate) struct Topology {
    pub config: Arc<TopologyConfig>,
    /// By edge: the nodes it connects, as written; `NONE` for an end that names no node.
    pub ends: Vec<[NodeId; 2]>,
    /// By edge.
    pub edge_flags: Vec<EdgeFlags>,
    /// By node.
    pub roles: Vec<Role>,
    /// By node: the equipment that it is a port of, and the edge that defines this.
    owners: Vec<[u32; 2]>,
    /// By node: the chamber or side of the equipment that a port belongs to.
    zones: Vec<u32>,
    /// From equipment to its ports.
    pub ports: Adjacency,
    /// Some equipment, or a nozzle without an owner, belongs to other equipment: a boot to its vessel.
    pub has_nested_equipment: bool,
    /// Members and their groups defined only by a field, by member.
    field_memberships: Vec<[NodeId; 2]>,
    /// Ports of items in pipes and the items, by port: their pipes are those of the items. Ascending.
    item_ports: Vec<[NodeId; 2]>,
    /// Nozzles and parts of equipment with the owner that a field names otherwise than by the id of a parent.
    pub named_owners: Vec<[NodeId; 2]>,
    /// Nozzles with the equipment that only their tag names.
    pub owners_by_tag: Vec<[NodeId; 2]>,
    /// Equipment and its parts without pipes that only a field defines, such as chambers. Ascending.
    field_parts: Vec<[NodeId; 2]>,
    /// The memberships by field, from groups to members.
    field_members: OnceLock<Adjacency>,
    ids: Index,
    tags: OnceLock<Index>,
    qualified_tags: OnceLock<Index>,
    tables: [OnceLock<Adjacency>; 6],
    /// The nodes with the role of a relief device.
    pub relief_devices: Vec<NodeId>,
    /// Edges with an end that names no node.
    pub dangling: Vec<EdgeId>,
    /// Nodes at pipes with an end that names no node.
    dangling_pipe_nodes: OnceLock<BitSet>,
    /// Edges that flow both ways or in an unknown direction, as a list and as a set, and the nodes at their ends.
    pub undirected: Vec<EdgeId>,
    /// The direction of edges that state none.
    pub default_direction: DefaultDirection,
    is_undirected: BitSet,
    undirected_edge_nodes: OnceLock<BitSet>,
    /// Union of the flags of all edges.
    pub all_flags: EdgeFlags,
    /// The pairs of end fields that occur, as indices in the config.
    pub endpoint_pairs_found: Vec<usize>,
    /// Invalid entries of the document's own config.
    pub config_problems: Vec<String>,
    /// Properties read from the fields of nodes; searches need them repeatedly.
    pub memos: NodeMemos,
    /// States of pipes, read from the fields of edges.
    pub pipe_states: EdgeMemos,
    /// Line nodes by their tag, in the spelling that all tags share which differ only in case, blanks and hyphens.
    pub lines_by_tag: OnceLock<HashMap<String, Vec<NodeId>>>,
    /// Notes on the drawing.
    pub notes: OnceLock<Box<[NodeId]>>,
    /// Valves and their drives by a field of the drive. Ascending.
    pub named_drives: OnceLock<Box<[[NodeId; 2]]>>,
    /// Names of fields and attributes that may state a position, a lock, a status or a removal.
    state_names: OnceLock<NameFilter>,
    /// Names of fields and attributes with a label or a description.
    text_names: OnceLock<NameFilter>,
    /// Items and pipes that may not be there. Found at the first walk.
    pub absences: OnceLock<Absences>,
    /// Members of segments and lines that may not be there.
    pub absent_members: OnceLock<BitSet>,
}

impl Topology {
    /// Builds the topology of nodes and edges. It charges no fuel, since all runs share it, but stops when the run is
    /// cancelled.
    ///
    /// # Errors
    /// `PQ4007` above the memory limit of the run, except for small networks; `PQ4xxx` if the run is cancelled.
    pub fn new<'a>(
        nodes: Array<'a>,
        edges: Array<'a>,
        config: Arc<TopologyConfig>,
        default_direction: DefaultDirection,
        limits: &Limits<'_>,
    ) -> Result<Topology> {
        check_memory(nodes.len(), edges.len(), limits)?;
        let ids = NodeIds::read(nodes, &config);
        let mut topology = Topology { default_direction, ..Topology::empty(config) };
        topology.read_edges(edges, &ids, limits)?;
        let groups = topology.read_nodes(nodes, &ids, limits)?;
        topology.merge_item_ports(nodes, &groups);
        topology.locate_measurements();
        topology.named_owners = topology.named_owners(nodes, &ids, &groups);
        topology.ids = ids.index;
        let owner_pairs = topology.owner_pairs();
        topology.find_equipment_by_nozzles(nodes, &groups, &owner_pairs);
        topology.owners_by_tag = topology.owners_by_tag(nodes, &groups, &owner_pairs);
        topology.find_ports(&groups);
        let is_relief = |node: &NodeId| topology.roles[*node as usize] == Role::Relief;
        topology.relief_devices = (0..topology.node_count() as u32).filter(is_relief).collect();
        topology.memos = NodeMemos::new(nodes.len());
        topology.pipe_states = EdgeMemos::new(edges.len());
        Ok(topology)
    }

    pub fn empty(config: Arc<TopologyConfig>) -> Topology {
        Topology {
            config,
            ends: Vec::new(),
            edge_flags: Vec::new(),
            roles: Vec::new(),
            owners: Vec::new(),
            zones: Vec::new(),
            ports: Adjacency::default(),
            has_nested_equipment: false,
            field_memberships: Vec::new(),
            item_ports: Vec::new(),
            named_owners: Vec::new(),
            owners_by_tag: Vec::new(),
            field_parts: Vec::new(),
            field_members: OnceLock::new(),
            all_flags: EdgeFlags::default(),
            ids: Index::default(),
            tags: OnceLock::new(),
            qualified_tags: OnceLock::new(),
            tables: Default::default(),
            relief_devices: Vec::new(),
            dangling: Vec::new(),
            dangling_pipe_nodes: OnceLock::new(),
            undirected: Vec::new(),
            default_direction: DefaultDirection::Forward,
            is_undirected: BitSet::default(),
            undirected_edge_nodes: OnceLock::new(),
            endpoint_pairs_found: Vec::new(),
            config_problems: Vec::new(),
            memos: NodeMemos::default(),
            pipe_states: EdgeMemos::default(),
            lines_by_tag: OnceLock::new(),
            notes: OnceLock::new(),
            named_drives: OnceLock::new(),
            state_names: OnceLock::new(),
            text_names: OnceLock::new(),
            absences: OnceLock::new(),
            absent_members: OnceLock::new(),
        }
    }

    /// Returns the names of fields and attributes that may state a position, a lock, a status or a removal. Built on
    /// first use.
    pub fn state_names(&self) -> &NameFilter {
        const LISTS: [Names; 7] = [
            Names::NormalPosition,
            Names::BlindPosition,
            Names::Lock,
            Names::Status,
            Names::RemovedMark,
            Names::InstalledMark,
            Names::Remarks,
        ];
        self.state_names.get_or_init(|| {
            let words = LISTS.iter().flat_map(|list| self.config.words_of(*list)).map(String::as_str);
            NameFilter::new(words.chain(vocabulary::CLOSED_MARKS.iter().copied()))
        })
    }

    /// Returns the names of fields and attributes with a label or a description, which may say that an item is not there.
    /// A class is none. Built on first use.
    pub fn text_names(&self) -> &NameFilter {
        self.text_names.get_or_init(|| {
            let lists = [Names::Description, Names::Tag].into_iter();
            let words = lists.flat_map(|list| self.config.words_of(list)).map(String::as_str);
            NameFilter::new(words.filter(|word| !word.ends_with("class")))
        })
    }

    /// Approximate memory in bytes once all tables are built, without a shared config.
    pub fn size(&self) -> usize {
        let config = if self.has_own_config() { self.config.size() } else { 0 };
        Topology::size_of(self.node_count(), self.edge_count()) + config
    }

    /// Like [`Topology::size`], for a number of nodes and edges.
    pub fn size_of(nodes: usize, edges: usize) -> usize {
        // Three indexes, seven tables, roles, owners, zones and memos, and the parent field as a pair and in a table; per edge
        // its arcs in six tables, its ends, its flags, its state and its bit in the set of absent pipes.
        const NODE: usize = 3 * 36 + 7 * size_of::<u32>() + 14 + node_memo::SIZE + MEMBERSHIP;
        const MEMBERSHIP: usize = 7 * size_of::<NodeId>();
        const EDGE: usize = 8 * size_of::<(NodeId, EdgeId)>() + 14;
        size_of::<Topology>() + nodes * NODE + edges * EDGE
    }

    /// Returns whether the drawing or a query overrides the config.
    pub fn has_own_config(&self) -> bool {
        Arc::strong_count(&self.config) == 1
    }

    pub fn node_count(&self) -> usize {
        self.roles.len()
    }

    pub fn edge_count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the nodes with an id; `has` compares.
    pub fn by_id<'i>(&'i self, key: Key<'_>, has: impl Fn(NodeId) -> bool + 'i) -> impl Iterator<Item = NodeId> + 'i {
        self.ids.find(key, has)
    }

    /// Returns the index of tags. Built on first use.
    pub fn tag_index<'a>(&self, tag: impl Fn(NodeId) -> Option<Key<'a>>) -> &Index {
        self.tags.get_or_init(|| Index::new(self.node_count(), tag))
    }

    /// Returns the index of unique tags. Built on first use.
    pub fn qualified_tag_index<'a>(&self, tag: impl Fn(NodeId) -> Option<Key<'a>>) -> &Index {
        self.qualified_tags.get_or_init(|| Index::new(self.node_count(), tag))
    }

    /// Returns the equipment that a node is a port of.
    pub fn owner(&self, node: NodeId) -> Option<NodeId> {
        Some(self.owners[node as usize][0]).filter(|owner| *owner != NONE)
    }

    /// Returns the edge between a port and its equipment; `NONE` if only a field defines it.
    pub fn owner_edge(&self, node: NodeId) -> EdgeId {
        self.owners[node as usize][1]
    }

    /// Returns the side of its equipment that a port is on; `NONE` if no side is named.
    pub fn zone(&self, node: NodeId) -> u32 {
        self.zones[node as usize]
    }

    /// Returns whether a node is equipment or one of its ports, where a walk ends unless its options pass through
    /// equipment.
    pub fn is_equipment(&self, node: NodeId) -> bool {
        self.roles[node as usize] == Role::Equipment || self.owner(node).is_some()
    }

    /// Returns the equipment that a node is or belongs to; the node itself if it belongs to none.
    pub fn equipment_or_self(&self, node: NodeId) -> NodeId {
        self.owner(node).unwrap_or(node)
    }

    /// Returns the table of a direction. Built on first use.
    pub fn table(&self, edges: EdgeFilter, dir: Direction) -> &Adjacency {
        self.tables[edges as usize * 3 + dir as usize].get_or_init(|| self.build(edges, dir))
    }

    /// Returns the nodes of an edge in the direction of the flow.
    pub fn flow_ends(&self, edge: EdgeId) -> [NodeId; 2] {
        let [from, to] = self.ends[edge as usize];
        if self.edge_flags[edge as usize].contains(EdgeFlags::BACKWARD) { [to, from] } else { [from, to] }
    }

    /// Returns whether both ends of an edge name nodes.
    pub fn has_both_ends(&self, edge: EdgeId) -> bool {
        !self.ends[edge as usize].contains(&NONE)
    }

    /// Returns the edges with a flag and both ends.
    pub fn edges_of(&self, flags: EdgeFlags) -> impl Iterator<Item = EdgeId> + '_ {
        (0..self.edge_count() as u32)
            .filter(move |edge| self.edge_flags[*edge as usize].contains(flags) && self.has_both_ends(*edge))
    }

    /// The number of flow edge ends at a node.
    pub fn flow_degree(&self, node: NodeId) -> usize {
        self.table(EdgeFilter::Flow, Direction::Both).degree(node)
    }

    /// Returns the number of flow edge ends at equipment and its ports.
    pub fn flow_degree_with_ports(&self, equipment: NodeId) -> usize {
        let ports = self.ports.nodes(equipment).iter();
        self.flow_degree(equipment) + ports.map(|port| self.flow_degree(*port)).sum::<usize>()
    }

    /// Returns whether a node is an off-page connector whose continuation is not in the drawing. On joined sheets, a
    /// connector leads to its partner; several pipes of one sheet that meet at a connector all leave the sheet there.
    pub fn is_sheet_end(&self, node: NodeId) -> bool {
        self.roles[node as usize] == Role::OffPage && (self.flow_degree(node) < 2 || !self.is_joined(node))
    }

    /// Returns whether an edge connects the off-page connectors of two sheets. On one sheet, a pipe may lead from one
    /// connector to another; without an edge of the class of a joint, it is taken as a joint if it goes on at both.
    pub fn is_joint(&self, edge: EdgeId) -> bool {
        let ends = self.ends[edge as usize];
        let is_between_connectors = ends.iter().all(|end| *end != NONE && self.roles[*end as usize] == Role::OffPage);
        is_between_connectors
            && match self.all_flags.contains(EdgeFlags::JOINT) {
                true => self.edge_flags[edge as usize].contains(EdgeFlags::JOINT),
                false => ends.iter().all(|end| self.goes_on_at(*end)),
            }
    }

    /// Returns whether several pipes or signals end at a connector.
    fn goes_on_at(&self, connector: NodeId) -> bool {
        let is_line = |edge: &&EdgeId| {
            let flags = self.edge_flags[**edge as usize];
            flags.contains(EdgeFlags::FLOW) || flags.contains(EdgeFlags::SIGNAL)
        };
        self.table(EdgeFilter::All, Direction::Both).edges(connector).iter().filter(is_line).nth(1).is_some()
    }

    /// Returns whether a node is an off-page connector that is joined to one of another sheet.
    pub fn is_joined(&self, node: NodeId) -> bool {
        self.roles[node as usize] == Role::OffPage
            && self.table(EdgeFilter::All, Direction::Both).edges(node).iter().any(|edge| self.is_joint(*edge))
    }

    /// Returns whether a pipe of a node leads to an item that the drawing lacks.
    pub fn has_dangling_pipe(&self, node: NodeId) -> bool {
        if self.dangling.is_empty() {
            return false;
        }
        let pipes = || self.dangling.iter().filter(|edge| self.edge_flags[**edge as usize].contains(EdgeFlags::FLOW));
        let known = |edge: &EdgeId| self.ends[*edge as usize].into_iter().filter(|end| *end != NONE);
        let nodes =
            self.dangling_pipe_nodes.get_or_init(|| BitSet::from_indices(self.node_count(), pipes().flat_map(known)));
        nodes.contains(node)
    }

    /// Returns whether the direction of an edge is assumed, since the drawing does not define one.
    pub fn is_assumed(&self, edge: EdgeId) -> bool {
        self.is_undirected.contains(edge)
    }

    /// Returns the nodes at the ends of such edges. Built on first use.
    pub fn undirected_edge_nodes(&self) -> &BitSet {
        self.undirected_edge_nodes.get_or_init(|| {
            let edges = self.undirected.iter().filter(|edge| self.has_both_ends(**edge));
            BitSet::from_indices(self.node_count(), edges.flat_map(|edge| self.ends[*edge as usize]))
        })
    }

    /// Returns pairs of groups and members, in edge order, then those defined only by a field.
    pub fn memberships(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.edge_memberships().chain(self.field_memberships.iter().map(|[member, group]| (*group, *member)))
    }

    /// The number of steps to iterate over the memberships.
    pub fn membership_steps(&self) -> u64 {
        (self.edge_count() + self.field_memberships.len()) as u64
    }

    /// Returns the group of a node defined only by a field.
    pub fn field_group(&self, member: NodeId) -> Option<NodeId> {
        let at = self.field_memberships.binary_search_by_key(&member, |[member, _]| *member).ok()?;
        Some(self.field_memberships[at][1])
    }

    /// Returns the parts of equipment without pipes that only a field defines.
    pub fn field_parts(&self, equipment: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let first = self.field_parts.partition_point(|[owner, _]| *owner < equipment);
        self.field_parts[first..].iter().take_while(move |[owner, _]| *owner == equipment).map(|[_, part]| *part)
    }

    /// Returns the members of a group defined only by fields. The table is built on first use.
    pub fn field_members(&self, group: NodeId) -> &[NodeId] {
        if self.field_memberships.is_empty() {
            return &[];
        }
        let pairs = || self.field_memberships.iter().map(|[member, group]| (*group, *member, NONE));
        self.field_members.get_or_init(|| Adjacency::new(self.node_count(), pairs)).nodes(group)
    }

    fn edge_memberships(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        self.member_edges().map(|([group, member], _)| (group, member))
    }

    /// Returns the groups and members that edges define, with the edges.
    fn member_edges(&self) -> impl Iterator<Item = ([NodeId; 2], EdgeId)> + '_ {
        (0..self.edge_count() as u32).filter(|edge| self.has_both_ends(*edge)).filter_map(|edge| {
            let [from, to] = self.ends[edge as usize];
            match self.edge_flags[edge as usize] {
                flags if flags.contains(EdgeFlags::MEMBER) => Some(([from, to], edge)),
                flags if flags.contains(EdgeFlags::MEMBER_REVERSED) => Some(([to, from], edge)),
                _ => None,
            }
        })
    }

    fn build(&self, edges: EdgeFilter, dir: Direction) -> Adjacency {
        let follows = move |edge: &EdgeId| {
            self.has_both_ends(*edge)
                && (edges == EdgeFilter::All || self.edge_flags[*edge as usize].contains(EdgeFlags::FLOW))
        };
        let arcs = || (0..self.edge_count() as u32).filter(follows).flat_map(move |edge| self.arcs_of(edge, dir));
        Adjacency::new(self.node_count(), arcs)
    }

    /// Returns the arcs of an edge in the table of a direction. A self loop is one arc.
    fn arcs_of(&self, edge: EdgeId, dir: Direction) -> impl Iterator<Item = (NodeId, NodeId, EdgeId)> {
        let [from, to] = self.flow_ends(edge);
        let runs_both_ways = dir == Direction::Both || self.edge_flags[edge as usize].contains(EdgeFlags::UNDIRECTED);
        let (from, to) = if dir == Direction::Up { (to, from) } else { (from, to) };
        let reverse_arc = (runs_both_ways && from != to).then_some((to, from, edge));
        std::iter::once((from, to, edge)).chain(reverse_arc)
    }

    fn read_edges<'a>(&mut self, edges: Array<'a>, ids: &NodeIds<'a>, limits: &Limits<'_>) -> Result<()> {
        let config = &self.config;
        let mut ends = FieldReader::new(config.endpoints().iter().flatten());
        let mut kinds = FieldReader::new(config.names(Names::EdgeKind));
        let mut classes = FieldReader::new(config.names(Names::EdgeClass));
        let mut directions = FieldReader::new(config.names(Names::Direction));
        // A signal has none of these.
        let pipe_fields = [Names::Size, Names::PipingClass, Names::Segment].into_iter();
        let mut pipe_fields = FieldReader::new(pipe_fields.flat_map(|names| config.names(names)));
        let mut classifier = Classifier::new(config, limits);
        let mut found_pairs = vec![false; config.endpoints().len()];
        for edge in edges.iter() {
            let Value::Object(edge) = edge else {
                self.ends.push([NONE; 2]);
                self.edge_flags.push(EdgeFlags::default());
                continue;
            };
            let pair = (0..found_pairs.len())
                .find_map(|at| Some((at, ends.get_or_null(edge, 2 * at)?, ends.get_or_null(edge, 2 * at + 1)?)));
            let edge_ends = match pair {
                Some((at, from, to)) => {
                    found_pairs[at] = true;
                    [from, to].map(|end| ids.resolve_end(end, config))
                }
                None => ids.resolve_single_end(edge, &mut ends, config),
            };
            let kind = kinds.first(edge).and_then(Value::as_str);
            let class = classes.first(edge).and_then(Value::as_str);
            let direction = (0..directions.len()).find_map(|at| Some((at, directions.get(edge, at)?)));
            let direction = direction.map(|(at, value)| (value, config.names(Names::Direction)[at].contains("dir")));
            self.ends.push(edge_ends);
            let joint = if class == Some(vocabulary::JOINT_CLASS) { EdgeFlags::JOINT } else { EdgeFlags::default() };
            let direction = match direction {
                Some((value, _)) if value.as_str().is_some_and(|word| word.trim().is_empty()) => None,
                stated => stated,
            };
            let direction =
                direction.map_or(Ok(self.default_direction.flags()), |stated| classifier.direction(stated))?;
            let mut flags = classifier.flags(kind, class)?;
            let measures = |word: &str| vocabulary::contains_plain(vocabulary::MEASURING_SIGNALS, word);
            let is_measuring = flags.contains(EdgeFlags::SIGNAL) && [kind, class].into_iter().flatten().any(measures);
            if flags == EdgeFlags::SIGNAL && pipe_fields.first(edge).is_some() {
                flags = flags.union(EdgeFlags::UNKNOWN);
            }
            let measuring = if is_measuring { EdgeFlags::MEASURES } else { EdgeFlags::default() };
            self.edge_flags.push(flags.union(direction).union(joint).union(measuring));
        }
        self.all_flags = self.edge_flags.iter().copied().fold(EdgeFlags::default(), EdgeFlags::union);
        self.dangling = (0..self.ends.len() as u32).filter(|edge| !self.has_both_ends(*edge)).collect();
        let is_undirected = |edge: &EdgeId| self.edge_flags[*edge as usize].contains(EdgeFlags::UNDIRECTED);
        self.undirected = (0..self.edge_count() as u32).filter(is_undirected).collect();
        self.is_undirected = BitSet::from_indices(self.edge_count(), self.undirected.iter().copied());
        self.endpoint_pairs_found = (0..found_pairs.len()).filter(|at| found_pairs[*at]).collect();
        Ok(())
    }

    /// Reads nodes and returns which of them are groups.
    fn read_nodes<'a>(&mut self, nodes: Array<'a>, ids: &NodeIds<'a>, limits: &Limits<'_>) -> Result<Vec<GroupKind>> {
        let count = nodes.len();
        self.owners = vec![[NONE; 2]; count];
        self.zones = vec![NONE; count];
        let config = &self.config;
        let mut classes = FieldReader::new(config.names(Names::Class));
        let mut component_names = FieldReader::new(config.names(Names::ComponentName));
        let mut types = FieldReader::new(config.names(Names::NodeType));
        let mut parents = FieldReader::new(config.names(Names::Parent));
        let mut zones = FieldReader::new(config.names(Names::Zone));
        let mut actuated = FieldReader::new(config.names(Names::Actuated));
        let mut classifier = Classifier::new(config, limits);
        let mut zone_numbers = ZoneNumbers::default();
        let mut groups = vec![GroupKind::None; count];
        for (node, value) in nodes.iter().enumerate() {
            let Value::Object(object) = value else {
                self.roles.push(Role::None);
                continue;
            };
            let role = match classifier.first_role(&mut classes, object)? {
                None if classifier.has_general_class(&mut classes, object)? => {
                    classifier.role_by_type(&mut classes, &mut component_names, object)
                }
                role => role,
            };
            // A line or a loop is never an item, whatever its class.
            let kind = types.first(object).and_then(Value::as_str);
            groups[node] = kind.map_or(Ok(GroupKind::None), |word| classifier.group(word))?;
            let role = role.filter(|_| !matches!(groups[node], GroupKind::Line | GroupKind::Loop)).unwrap_or_default();
            let is_actuated = matches!(actuated.first(object), Some(Value::Bool(true)));
            self.roles.push(if role == Role::Barrier && is_actuated { Role::Control } else { role });
            let parent = parents.first(object).map(|parent| ids.resolve_parent(parent, config));
            if let Some(parent) = parent.filter(|parent| *parent != NONE) {
                self.field_memberships.push([node as u32, parent]);
            }
            if role == Role::Port {
                self.zones[node] = zones.first(object).map_or(NONE, |zone| zone_numbers.number(zone, ids));
            }
        }
        Ok(groups)
    }

    /// Marks the edges by which instruments measure at items as those for locations: they move nothing.
    fn locate_measurements(&mut self) {
        if !self.all_flags.contains(EdgeFlags::MEASURES) {
            return;
        }
        let role = |node: NodeId| self.roles.get(node as usize).copied();
        let is_location = |edge: &EdgeId| {
            let [from, to] = self.ends[*edge as usize];
            let flags = self.edge_flags[*edge as usize];
            flags.contains(EdgeFlags::MEASURES)
                && !flags.contains(EdgeFlags::FLOW)
                && !flags.contains(EdgeFlags::BACKWARD)
                && role(from) == Some(Role::Instrument)
                && role(to).is_some_and(|role| role != Role::Instrument)
        };
        let found: Vec<EdgeId> = (0..self.edge_count() as u32).filter(is_location).collect();
        for edge in found {
            self.edge_flags[edge as usize] = self.edge_flags[edge as usize].union(EdgeFlags::ZONE);
            self.all_flags = self.all_flags.union(EdgeFlags::ZONE);
        }
    }

    fn read_actuators(&mut self) {
        let edges: Vec<EdgeId> = self.edges_of(EdgeFlags::ACTUATES).collect();
        for edge in edges {
            let [from, to] = self.ends[edge as usize];
            let without_direction = self.is_undirected.contains(edge).then_some(from);
            for valve in without_direction.into_iter().chain([to]) {
                if self.roles[valve as usize] == Role::Barrier {
                    self.roles[valve as usize] = Role::Control;
                }
            }
        }
    }
}

/// Returns an error if the network exceeds the memory limit: an array of numbers may have a node for every two bytes.
pub(super) fn check_memory(nodes: usize, edges: usize, limits: &Limits<'_>) -> Result<()> {
    /// Always allowed: half a million nodes with their pipes.
    const ALWAYS: usize = 64 << 20;
    let max_bytes = limits.memory.max(ALWAYS);
    // Initial memory: roles, owners, zones, groups, one index with its keys; ends and flags.
    if nodes.saturating_mul(88).saturating_add(edges.saturating_mul(16)) <= max_bytes {
        return Ok(());
    }
    let message = format!("The network of {nodes} nodes and {edges} edges needs more than {max_bytes} bytes of memory");
    let error = Error::new(Code::OutOfMemory, message).with_limit("memory", max_bytes as u64);
    Err(error.with_help("raise the memory limit"))
}

/// Ids of nodes while a drawing is read.
struct NodeIds<'a> {
    keys: Vec<Option<Key<'a>>>,
    index: Index,
}

impl<'a> NodeIds<'a> {
    fn read(nodes: Array<'a>, config: &TopologyConfig) -> NodeIds<'a> {
        let mut reader = FieldReader::new(config.names(Names::NodeId));
        let key = |node: Value<'a>| Key::from_value(reader.first(node.as_object()?)?);
        let keys: Vec<Option<Key<'a>>> = nodes.iter().map(key).collect();
        let index = Index::new(keys.len(), |node| keys[node as usize]);
        NodeIds { keys, index }
    }

    /// Returns the first node with an id.
    fn find(&self, id: Value<'_>) -> NodeId {
        let Some(key) = Key::from_value(id) else { return NONE };
        self.index.find(key, |node| self.keys[node as usize] == Some(key)).next().unwrap_or(NONE)
    }

    /// Returns the node that an end of an edge names: by its id, or as an object with the id.
    fn resolve_end(&self, end: Value<'_>, config: &TopologyConfig) -> NodeId {
        match end {
            Value::Object(object) => {
                config.names(Names::EndpointId).iter().find_map(|key| object.get(key)).map_or(NONE, |id| self.find(id))
            }
            id => self.find(id),
        }
    }

    /// Returns the node that a field for an owner names: as an end of an edge, or as a list of one such value.
    fn resolve_parent(&self, parent: Value<'_>, config: &TopologyConfig) -> NodeId {
        let only = parent.as_array().filter(|list| list.len() == 1).and_then(|list| list.get(0));
        self.resolve_end(only.unwrap_or(parent), config)
    }

    /// Returns the ends of an edge without a complete pair: the first single end that names a node. It locates a
    /// missing connection.
    fn resolve_single_end(
        &self,
        edge: Object<'a>,
        ends: &mut FieldReader<'_, 'a>,
        config: &TopologyConfig,
    ) -> [NodeId; 2] {
        for key in 0..ends.len() {
            let node = ends.get(edge, key).map_or(NONE, |end| self.resolve_end(end, config));
            if node != NONE {
                return if key % 2 == 0 { [node, NONE] } else { [NONE, node] };
            }
        }
        [NONE; 2]
    }
}

/// Numbers of the zones that ports name in a field: nodes, or arbitrary words.
#[derive(Default)]
struct ZoneNumbers<'a> {
    words: HashMap<Key<'a>, u32>,
}

impl<'a> ZoneNumbers<'a> {
    /// Words are numbered above all nodes.
    fn number(&mut self, zone: Value<'a>, ids: &NodeIds<'_>) -> u32 {
        const FIRST: u32 = 1 << 31;
        let node = ids.find(zone);
        if node != NONE {
            return node;
        }
        let Some(key) = Key::from_value(zone) else { return NONE };
        let next = FIRST + self.words.len() as u32;
        *self.words.entry(key).or_insert(next)
    }
}

/// Cached classification of edge kinds, directions, classes and node types.
struct Classifier<'c, 'a> {
    config: &'c TopologyConfig,
    limits: &'c Limits<'c>,
    edge_flags: HashMap<&'a str, EdgeFlags>,
    directions: HashMap<&'a str, EdgeFlags>,
    roles: HashMap<&'a str, Option<Role>>,
    /// By class: whether it leaves the type of an item to another field.
    is_general: HashMap<&'a str, bool>,
    groups: HashMap<&'a str, GroupKind>,
}

impl<'c, 'a> Classifier<'c, 'a> {
    fn new(config: &'c TopologyConfig, limits: &'c Limits<'c>) -> Self {
        Classifier {
            config,
            limits,
            edge_flags: HashMap::new(),
            directions: HashMap::new(),
            roles: HashMap::new(),
            is_general: HashMap::new(),
            groups: HashMap::new(),
        }
    }

    /// Returns the flags of an edge by its kind and class. An edge without a kind carries flow; one whose class names a
    /// pipe and whose kind does not may carry flow. A class of signals decides beside a kind for connections of any sort.
    fn flags(&mut self, kind: Option<&'a str>, class: Option<&'a str>) -> Result<EdgeFlags> {
        if kind.or(class).is_none() {
            return Ok(EdgeFlags::FLOW);
        }
        if let (Some(kind), Some(class)) = (kind, class)
            && vocabulary::contains(vocabulary::GENERAL_KINDS, kind)
            && self.names_signal(class)?
        {
            return Ok(EdgeFlags::SIGNAL);
        }
        let mut words = [kind, class].into_iter().flatten();
        let flags = words.try_fold(EdgeFlags::default(), |flags, word| Ok(flags.union(self.flags_of(word)?)))?;
        let may_be_pipe = flags == EdgeFlags::SIGNAL && class.is_some_and(|class| self.names_pipe(class));
        Ok(match flags == EdgeFlags::default() || may_be_pipe {
            true => flags.union(EdgeFlags::UNKNOWN),
            false => flags,
        })
    }

    /// Returns whether the class of an edge is that of a signal, and not of tubing for a pressure, which may be a pipe.
    fn names_signal(&mut self, class: &'a str) -> Result<bool> {
        let is_of = |words: &[&str]| {
            class.len() <= MAX_CLASS && snake_case(class).split(['.', '_']).any(|word| words.contains(&word))
        };
        let flags = self.flags_of(class)?;
        Ok(flags == EdgeFlags::SIGNAL && is_of(&["data", "electric", "electrical", "signal", "software", "wireless"])
            || flags == EdgeFlags::default() && is_of(&["signal"]))
    }

    /// Returns whether the class of an edge is that of a pipe: its last part is a segment or a line, or it has a word for
    /// pipes and none for signals.
    fn names_pipe(&self, class: &str) -> bool {
        let last = class.rsplit('.').next().unwrap_or(class);
        let is_group = [Names::SegmentType, Names::LineType].iter().any(|types| self.config.contains(*types, last));
        is_group
            || class.len() <= MAX_CLASS && {
                let class = snake_case(class);
                let has = |known: &[&str]| class.split(['.', '_']).any(|word| known.contains(&word));
                has(vocabulary::PIPE_WORDS) && !has(vocabulary::SIGNAL_WORDS)
            }
    }

    fn flags_of(&mut self, word: &'a str) -> Result<EdgeFlags> {
        let config = self.config;
        cached(&mut self.edge_flags, word, self.limits, || {
            let of_list = KINDS.iter().filter(|(names, _)| config.contains(*names, word)).map(|(_, flags)| *flags);
            of_list.fold(EdgeFlags::default(), EdgeFlags::union)
        })
    }

    /// Returns the flags of a direction, given with whether its field is for directions only. A value of such a field that
    /// is in no list is an unknown direction; `flow` may be a quantity or a medium, unless its words are about a direction.
    fn direction(&mut self, (value, is_direction): (Value<'a>, bool)) -> Result<EdgeFlags> {
        let config = self.config;
        let Some(word) = value.as_str() else {
            let is_reversed = value.as_f64() == Some(-1.0) || matches!(value, Value::Bool(false));
            let is_unknown = is_reversed || is_direction && value.as_f64().is_some_and(|number| number != 1.0);
            return Ok(if is_unknown { EdgeFlags::UNDIRECTED } else { EdgeFlags::default() });
        };
        let flags = cached(&mut self.directions, word, self.limits, || match word {
            word if config.contains(Names::Undirected, word) => EdgeFlags::UNDIRECTED,
            word if config.contains(Names::Backward, word) => EdgeFlags::BACKWARD,
            word if vocabulary::contains(vocabulary::FORWARD, word.trim()) => EdgeFlags::default(),
            _ => EdgeFlags::UNKNOWN_DIRECTION,
        })?;
        let is_unknown = flags.contains(EdgeFlags::UNKNOWN_DIRECTION);
        Ok(match is_unknown {
            true if is_direction || is_about_direction(word) => EdgeFlags::UNDIRECTED,
            true => EdgeFlags::default(),
            false => flags,
        })
    }

    /// Returns the group kind of a node type.
    fn group(&mut self, kind: &'a str) -> Result<GroupKind> {
        const LISTS: [(Names, GroupKind); 3] = [
            (Names::LineType, GroupKind::Line),
            (Names::SegmentType, GroupKind::Line),
            (Names::LoopType, GroupKind::Loop),
        ];
        let config = self.config;
        let listed = || LISTS.iter().find(|(names, _)| config.contains(*names, kind)).map(|(_, group)| *group);
        let other = || vocabulary::contains(vocabulary::GROUP_TYPES, kind).then_some(GroupKind::Structure);
        cached(&mut self.groups, kind, self.limits, || listed().or_else(other).unwrap_or_default())
    }

    /// Returns the role of the first class of a node that has one.
    fn first_role(&mut self, classes: &mut FieldReader<'c, 'a>, node: Object<'a>) -> Result<Option<Role>> {
        let config = self.config;
        for at in 0..classes.len() {
            let Some(class) = classes.get(node, at).and_then(Value::as_str) else { continue };
            let role = cached(&mut self.roles, class, self.limits, || config.role_of(class))?;
            if role.is_some() {
                return Ok(role);
            }
        }
        Ok(None)
    }

    /// Returns whether a class of a node leaves its type to another field.
    fn has_general_class(&mut self, classes: &mut FieldReader<'c, 'a>, node: Object<'a>) -> Result<bool> {
        let config = self.config;
        for at in 0..classes.len() {
            let Some(class) = classes.get(node, at).and_then(Value::as_str) else { continue };
            if cached(&mut self.is_general, class, self.limits, || config.is_general_class(class))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the role of a node with a general class, such as `valve`, by the fields with its type; `None` if they
    /// state none or several.
    fn role_by_type(
        &self,
        classes: &mut FieldReader<'c, 'a>,
        component_names: &mut FieldReader<'c, 'a>,
        node: Object<'a>,
    ) -> Option<Role> {
        let config = self.config;
        let of = |fields: &mut FieldReader<'c, 'a>| -> Vec<&'a str> {
            (0..fields.len()).filter_map(|at| fields.get(node, at)?.as_str()).collect()
        };
        let classes = of(classes);
        let is_valve = classes.iter().any(|class| class.to_ascii_lowercase().contains("valve"));
        let types = classes.into_iter().chain(of(component_names));
        let mut roles = types.filter_map(|text| config.role_of_type(text, is_valve));
        let first = roles.next()?;
        roles.all(|role| role == first).then_some(first)
    }
}

/// Returns whether a text in a field that may hold something else is about a direction: it has no letter and no digit, such
/// as `?` and `<->`, or a word for a direction or for an unknown value.
fn is_about_direction(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    words.peek().is_none() || words.any(|word| vocabulary::DIRECTION_WORDS.contains(&word))
}

/// Returns the cached classification of a word. Checks the limits, since a drawing may have as many words as bytes, and
/// a hundred rules for each.
fn cached<'a, T: Copy>(
    cache: &mut HashMap<&'a str, T>,
    word: &'a str,
    limits: &Limits<'_>,
    find: impl FnOnce() -> T,
) -> Result<T> {
    match cache.entry(word) {
        Entry::Occupied(occupied) => Ok(*occupied.get()),
        Entry::Vacant(vacant) => {
            limits.check()?;
            Ok(*vacant.insert(find()))
        }
    }
}

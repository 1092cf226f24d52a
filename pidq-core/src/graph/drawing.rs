//! A drawing: its nodes and edges as stored in the document, with their network.

mod machine_class;

use std::cmp::Ordering;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use hashbrown::HashMap;

use super::adjacency::{EdgeId, NONE, NodeId};
use super::config::{MAX_CLASS, Names, TopologyConfig, at_path};
use super::index::Key;
use super::node_memo::Property;
use super::roles::{Passage, Role};
use super::tag_spelling;
use super::topology::{DefaultDirection, Topology, check_memory};
use super::vocabulary;
use crate::arena::{Arena, Cell, ContainerId, Kind};
use crate::error::{Code, Error, Result};
use crate::limits::Limits;
use crate::value::{Array, Fields, Items, Object, Value, convert, write};

/// A drawing in a document.
#[derive(Clone)]
pub(crate) struct Drawing<'a> {
    /// The object that contains nodes and edges.
    pub graph: Value<'a>,
    /// The metadata object of the drawing; null if there is none.
    pub metadata: Value<'a>,
    pub nodes: Array<'a>,
    pub edges: Array<'a>,
    pub topology: Network<'a>,
}

/// The network of a drawing: shared by all runs and not counted, or built by one run.
#[derive(Clone)]
pub(crate) enum Network<'a> {
    Shared(&'a Topology),
    Owned(Arc<Topology>),
}

impl Deref for Network<'_> {
    type Target = Topology;

    fn deref(&self) -> &Topology {
        match self {
            Network::Shared(topology) => topology,
            Network::Owned(topology) => topology,
        }
    }
}

/// Parts of a drawing in a document.
#[derive(Clone, Copy)]
pub(crate) struct DrawingParts<'a> {
    graph: Value<'a>,
    metadata: Value<'a>,
    pub nodes: Array<'a>,
    pub edges: Array<'a>,
    default_direction: DefaultDirection,
}

/// Container ids of the parts of a drawing, stored with the document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawingLocation {
    graph: Option<ContainerId>,
    metadata: Option<ContainerId>,
    nodes: ContainerId,
    edges: Option<ContainerId>,
    default_direction: DefaultDirection,
}

impl DrawingLocation {
    /// Resolves the ids in the document they came from.
    pub fn parts(self, arena: &Arena) -> DrawingParts<'_> {
        let object = |id: Option<ContainerId>| id.map_or(Value::Null, |id| Value::stored(arena, Cell::object(id)));
        let list = |id: ContainerId| Array(Items::Stored(arena, id));
        let (graph, metadata) = (object(self.graph), object(self.metadata));
        let (nodes, edges) = (list(self.nodes), self.edges.map_or(EMPTY_ARRAY, list));
        DrawingParts { graph, metadata, nodes, edges, default_direction: self.default_direction }
    }
}

/// An empty array.
const EMPTY_ARRAY: Array<'static> = Array(Items::Built(&[]));

impl<'a> DrawingParts<'a> {
    /// Finds nodes and edges at the paths of a config, or at the paths that the drawing itself defines. Returns `None`
    /// without an array of nodes.
    pub fn find(document: Value<'a>, config: &TopologyConfig) -> Option<DrawingParts<'a>> {
        let metadata = config.names(Names::MetadataPath).iter().find_map(|path| at_path(document, path));
        let own = metadata.and_then(|metadata| metadata.as_object()?.get("topology"));
        let own = own.and_then(Value::as_object).filter(|own| own.get("paths").is_some());
        let Some(own) = own else { return DrawingParts::find_at_paths(document, config) };
        let mut own_config = config.clone();
        // Invalid entries are reported when the topology is built.
        drop(own_config.apply_names(own));
        // An extract keeps the metadata of the whole drawing but stores its nodes at the default path.
        DrawingParts::find_at_paths(document, &own_config).or_else(|| DrawingParts::find_at_paths(document, config))
    }

    /// Returns the location in a stored document.
    pub fn location(&self) -> Option<DrawingLocation> {
        let id = |value: Value<'a>| value.container().map(|(_, id)| id);
        let (nodes, edges) = (id(Value::Array(self.nodes))?, id(Value::Array(self.edges)));
        let (graph, metadata, default_direction) = (id(self.graph), id(self.metadata), self.default_direction);
        Some(DrawingLocation { graph, metadata, nodes, edges, default_direction })
    }

    /// Returns an error if the network exceeds the memory limit of a run.
    pub fn check_memory(&self, limits: &Limits<'_>) -> Result<()> {
        check_memory(self.nodes.len(), self.edges.len(), limits)
    }

    /// The number of nodes and of edges.
    pub fn len(&self) -> (usize, usize) {
        (self.nodes.len(), self.edges.len())
    }

    /// Returns the arrays of nodes and of edges.
    pub fn arrays(&self) -> [Array<'a>; 2] {
        [self.nodes, self.edges]
    }

    fn find_at_paths(document: Value<'a>, config: &TopologyConfig) -> Option<DrawingParts<'a>> {
        let list = |names: Names| {
            let paths = config.names(names).iter();
            paths.filter_map(|path| Some((path, at_path(document, path)?.as_array()?))).next()
        };
        let (path, nodes) = list(Names::NodesPath)?;
        let edges = list(Names::EdgesPath).map_or(EMPTY_ARRAY, |(_, edges)| edges);
        let metadata = config.names(Names::MetadataPath).iter().find_map(|path| at_path(document, path));
        let graph = path.rsplit_once('.').map_or(Some(document), |(outer, _)| at_path(document, outer));
        let metadata = metadata.filter(|value| value.as_object().is_some()).unwrap_or(Value::Null);
        let graph = graph.unwrap_or(Value::Null);
        let default_direction = DefaultDirection::of_graph([document, graph]);
        Some(DrawingParts { graph, metadata, nodes, edges, default_direction })
    }

    /// Builds the network of the drawing. The drawing's own `metadata.topology` takes precedence over the config.
    pub fn topology(&self, config: &Arc<TopologyConfig>, limits: &Limits<'_>) -> Result<Topology> {
        let mut config = config.clone();
        let overrides = self.metadata.as_object().and_then(|metadata| metadata.get("topology"));
        let problems = overrides.map(|overrides| Arc::make_mut(&mut config).apply(overrides)).unwrap_or_default();
        let mut topology = Topology::new(self.nodes, self.edges, config, self.default_direction, limits)?;
        topology.config_problems = problems;
        Ok(topology)
    }

    pub fn into_drawing(self, topology: Network<'a>) -> Drawing<'a> {
        let DrawingParts { graph, metadata, nodes, edges, .. } = self;
        Drawing { graph, metadata, nodes, edges, topology }
    }
}

/// Typical size of an item with coordinates and attributes, in bytes.
const TYPICAL_ITEM_SIZE: usize = 8 << 10;

impl<'a> Drawing<'a> {
    /// Fuel charged for operations on the whole drawing in addition to their steps: one unit per 64 bytes of items, as
    /// far as they exceed the typical size.
    pub fn oversize_fuel(&self) -> u64 {
        let size = self.nodes.text_size() + self.edges.text_size();
        let typical = TYPICAL_ITEM_SIZE * (self.nodes.len() + self.edges.len());
        (size.saturating_sub(typical) / 64) as u64
    }

    /// Finds the drawing in a value and builds its network; `None` if it has no nodes.
    pub fn from_value(
        value: Value<'a>,
        config: &Arc<TopologyConfig>,
        limits: &Limits<'_>,
    ) -> Result<Option<Drawing<'a>>> {
        let Some(parts) = DrawingParts::find(value, config) else { return Ok(None) };
        let topology = Arc::new(parts.topology(config, limits)?);
        Ok(Some(parts.into_drawing(Network::Owned(topology))))
    }

    /// Returns a drawing without nodes.
    pub fn empty() -> Drawing<'a> {
        static EMPTY_TOPOLOGY: LazyLock<Topology> =
            LazyLock::new(|| Topology::empty(TopologyConfig::shared_default().clone()));
        let (graph, metadata, topology) = (Value::Null, Value::Null, Network::Shared(&EMPTY_TOPOLOGY));
        Drawing { graph, metadata, nodes: EMPTY_ARRAY, edges: EMPTY_ARRAY, topology }
    }

    /// Builds the drawing of the same document with another config.
    pub fn with_config(
        outer: &Drawing<'a>,
        document: Value<'a>,
        config: TopologyConfig,
        limits: &Limits<'_>,
    ) -> Result<Drawing<'a>> {
        let Drawing { graph, metadata, nodes, edges, topology } = outer;
        let default_direction = topology.default_direction;
        let same = DrawingParts { graph: *graph, metadata: *metadata, nodes: *nodes, edges: *edges, default_direction };
        let parts = DrawingParts::find(document, &config).unwrap_or(same);
        let topology = Topology::new(parts.nodes, parts.edges, config.into(), parts.default_direction, limits)?;
        Ok(parts.into_drawing(Network::Owned(topology.into())))
    }

    pub fn node(&self, node: NodeId) -> Value<'a> {
        self.nodes.get(node as usize).unwrap_or(Value::Null)
    }

    pub fn edge(&self, edge: EdgeId) -> Value<'a> {
        self.edges.get(edge as usize).unwrap_or(Value::Null)
    }

    /// Returns the first field in a list of names that a node has.
    pub fn node_field(&self, node: NodeId, names: Names) -> Option<Value<'a>> {
        self.field(self.node(node), names)
    }

    /// Returns the first field in a list of names that an edge has.
    pub fn edge_field(&self, edge: EdgeId, names: Names) -> Option<Value<'a>> {
        self.field(self.edge(edge), names)
    }

    /// Returns the first field in a list of names that is neither null nor an empty string.
    pub fn field(&self, holder: Value<'a>, names: Names) -> Option<Value<'a>> {
        self.key_and_field(holder, names).map(|(_, value)| value)
    }

    /// Like [`Drawing::field`], with the key of the field.
    pub fn key_and_field(&self, holder: Value<'a>, names: Names) -> Option<(&str, Value<'a>)> {
        let object = holder.as_object()?;
        let is_present = |(_, value): &(&str, Value<'a>)| !value.is_null() && value.as_str() != Some("");
        let names = self.topology.config.names(names).iter();
        names.filter_map(|name| Some((name.as_str(), object.get(name)?))).find(is_present)
    }

    /// Returns the id of a node as stored in the document.
    pub fn id(&self, node: NodeId) -> Value<'a> {
        self.node_field(node, Names::NodeId).unwrap_or(Value::Null)
    }

    pub fn tag(&self, node: NodeId) -> Option<&'a str> {
        self.node_field(node, Names::Tag).and_then(Value::as_str)
    }

    /// Returns the unique tag: the stored one, or for a port the tag of its equipment followed by its own, which may begin with
    /// that of the equipment.
    pub fn qualified_tag(&self, node: NodeId) -> Option<String> {
        if let Some(tag) = self.node_field(node, Names::QualifiedTag).and_then(Value::as_str) {
            return Some(tag.into());
        }
        let owner = self.tag(self.topology.owner(node)?)?;
        let tag = self.tag(node)?;
        let has_owner = tag.strip_prefix(owner).is_some_and(|rest| rest.starts_with(['-', '.', '/', ':', '_', ' ']));
        Some(if has_owner { tag.into() } else { format!("{owner}-{tag}") })
    }

    /// Returns the display name of a node: its unique tag, its tag, or its id.
    pub fn name(&self, node: NodeId) -> String {
        let tag = || self.tag(node).map(String::from);
        self.qualified_tag(node).or_else(tag).unwrap_or_else(|| convert::to_text(self.id(node)))
    }

    /// Returns the node of a value of the document.
    pub fn node_of(&self, value: Value<'a>) -> Option<NodeId> {
        index_of(self.nodes, value.as_object()?)
    }

    /// Returns the edge of a value of the document.
    pub fn edge_of(&self, value: Value<'a>) -> Option<EdgeId> {
        index_of(self.edges, value.as_object()?)
    }

    /// Returns the node of an object of the document, or else the node with the object's id.
    pub fn resolve_object(&self, value: Value<'a>) -> Option<NodeId> {
        let object = value.as_object()?;
        let by_id = || {
            let id = self.field(value, Names::NodeId).or_else(|| object.get("id"));
            id.filter(|_| self.edge_of(value).is_none()).and_then(|id| self.by_id(id))
        };
        self.node_of(value).or_else(by_id)
    }

    /// Returns the node with an id, or else the only one with a tag; if there is none, the only one with a tag that
    /// differs in blanks and hyphens. Nodes with one tag of which all but a valve move this valve are one item, the
    /// valve. Charges fuel for each node with the tag, and for each node of the drawing if the spelling differs.
    pub fn by_reference(
        &self,
        reference: Value<'_>,
        mut charge: impl FnMut(u64) -> Result<()>,
    ) -> Result<Option<NodeId>> {
        if let Some(node) = self.by_id(reference) {
            return Ok(Some(node));
        }
        let tag = reference.as_str().unwrap_or_default();
        let exact = self.by_tag(tag);
        charge(exact.len() as u64)?;
        if !exact.is_empty() {
            return self.single_item(&exact, &mut charge)?.map(Some).ok_or_else(|| self.ambiguous(tag, "", &exact));
        }
        if tag.is_empty() {
            return Ok(None);
        }
        charge(self.topology.node_count() as u64)?;
        let similar = self.by_tag_spelling(tag);
        if similar.is_empty() {
            return Ok(None);
        }
        let found = self.single_item(&similar, &mut charge)?;
        found.map(Some).ok_or_else(|| self.ambiguous(tag, " if blanks and hyphens are ignored", &similar))
    }

    /// Returns the item that some nodes are: the only one, or the valve that all others move.
    fn single_item(&self, nodes: &[NodeId], charge: &mut dyn FnMut(u64) -> Result<()>) -> Result<Option<NodeId>> {
        if let [node] = nodes {
            return Ok(Some(*node));
        }
        let mut item = None;
        for node in nodes {
            let moved = self.moved_valve(*node, charge)?.unwrap_or(*node);
            if item.is_some_and(|item| item != moved) {
                return Ok(None);
            }
            item = Some(moved);
        }
        Ok(item)
    }

    /// Returns the nodes whose unique tag, or else whose tag, differs in blanks and hyphens from a tag.
    fn by_tag_spelling(&self, tag: &str) -> Vec<NodeId> {
        let nodes_with = |names: Names| -> Vec<NodeId> {
            let is_same = |node: &NodeId| {
                let other = self.node_field(*node, names).and_then(Value::as_str);
                other.is_some_and(|other| tag_spelling::is_same(tag, other))
            };
            (0..self.topology.node_count() as u32).filter(is_same).collect()
        };
        Some(nodes_with(Names::QualifiedTag))
            .filter(|nodes| !nodes.is_empty())
            .unwrap_or_else(|| nodes_with(Names::Tag))
    }

    fn ambiguous(&self, tag: &str, condition: &str, nodes: &[NodeId]) -> Error {
        const SHOWN: usize = 10;
        let candidates = nodes.iter().take(SHOWN).map(|node| {
            let id = write::to_string(self.id(*node));
            let tag =
                self.qualified_tag(*node).or_else(|| self.tag(*node).filter(|other| *other != tag).map(String::from));
            tag.map_or(id.clone(), |tag| format!("{id} ({tag})"))
        });
        let candidates: Vec<String> = candidates.collect();
        let more = if nodes.len() > SHOWN { format!(" and {} more", nodes.len() - SHOWN) } else { String::new() };
        let message = format!("{} nodes have the tag \"{tag}\"{condition}", nodes.len());
        let error = Error::new(Code::AmbiguousNode, message);
        error.with_help(format!("use an id: {}{more}", candidates.join(", ")))
    }

    /// Returns the first node with an id.
    pub fn by_id(&self, id: Value<'_>) -> Option<NodeId> {
        let key = Key::from_value(id)?;
        self.topology.by_id(key, |node| Key::from_value(self.id(node)) == Some(key)).next()
    }

    /// Returns the nodes with a unique tag, or else with a tag.
    pub fn by_tag(&self, tag: &str) -> Vec<NodeId> {
        self.by_tag_limited(tag, usize::MAX)
    }

    /// Returns the first of [`Drawing::by_tag`].
    pub fn first_by_tag(&self, tag: &str) -> Option<NodeId> {
        self.by_tag_limited(tag, 1).first().copied()
    }

    /// Returns the line nodes with a tag, in any case and with or without blanks and hyphens.
    pub fn lines_by_tag(&self, tag: &str) -> &[NodeId] {
        let collect = || {
            let mut lines: HashMap<String, Vec<NodeId>> = HashMap::new();
            for node in (0..self.topology.node_count() as NodeId).filter(|node| self.has_type(*node, Names::LineType)) {
                if let Some(tag) = self.tag(node) {
                    lines.entry(tag_spelling::normalized(tag)).or_default().push(node);
                }
            }
            lines
        };
        let lines = self.topology.lines_by_tag.get_or_init(collect);
        if lines.is_empty() { &[] } else { lines.get(&tag_spelling::normalized(tag)).map_or(&[], Vec::as_slice) }
    }

    /// Returns at most `max` nodes with a tag. A limit of 1 makes the lookup independent of the number of matches.
    fn by_tag_limited(&self, tag: &str, max: usize) -> Vec<NodeId> {
        let key = Key::String(tag);
        let qualified_tag_key = |node| self.node_field(node, Names::QualifiedTag).and_then(Key::from_value);
        let qualified_tags = self.topology.qualified_tag_index(qualified_tag_key);
        let found: Vec<NodeId> =
            qualified_tags.find(key, |node| qualified_tag_key(node) == Some(key)).take(max).collect();
        if !found.is_empty() {
            return found;
        }
        let tag_key = |node| self.tag(node).map(Key::String);
        let found: Vec<NodeId> =
            self.topology.tag_index(tag_key).find(key, |node| tag_key(node) == Some(key)).take(max).collect();
        if found.is_empty() { self.by_port(tag) } else { found }
    }

    /// Returns the port with a name such as `P-101-N1`: the tag of the equipment before the tag of the port.
    fn by_port(&self, text: &str) -> Vec<NodeId> {
        let Some((owner, port)) = text.rsplit_once('-') else { return Vec::new() };
        let tag_key = |node| self.tag(node).map(Key::String);
        let owners =
            self.topology.tag_index(tag_key).find(Key::String(owner), |node| tag_key(node) == Some(Key::String(owner)));
        let ports = owners.flat_map(|owner| self.topology.ports.nodes(owner).iter().copied());
        ports.filter(|node| self.tag(*node) == Some(port)).collect()
    }

    /// Returns whether a class field of a node matches a word, entirely or by its last part.
    pub fn has_class(&self, node: NodeId, word: &str) -> bool {
        let Some(object) = self.node(node).as_object() else { return false };
        let word = super::snake_case::snake_case(word);
        let classes = self.topology.config.names(Names::Class).iter().filter_map(|name| object.get(name)?.as_str());
        classes.map(super::snake_case::snake_case).any(|class| {
            class == word || class.strip_suffix(word.as_str()).is_some_and(|rest| rest.ends_with(['.', '/', '#', ':']))
        })
    }

    /// Returns whether a class of a node contains one of some strings.
    pub fn class_has(&self, node: NodeId, parts: &[&str]) -> bool {
        self.classes(node).any(|class| parts.iter().any(|part| class.contains(part)))
    }

    /// Returns whether a class of a node contains one of some words, as words: `trip` is not in `strip`.
    pub fn class_has_word(&self, node: NodeId, words: &[&str]) -> bool {
        self.classes(node).any(|class| words.iter().any(|word| has_word(&class, word)))
    }

    /// Returns whether a class of a node ends with one of some words.
    pub fn class_ends_with_word(&self, node: NodeId, words: &[&str]) -> bool {
        let is_last = |class: &str, word: &str| {
            class.strip_suffix(word).is_some_and(|rest| !rest.ends_with(|c: char| c.is_alphanumeric()))
        };
        self.classes(node).any(|class| words.iter().any(|word| is_last(&class, word)))
    }

    /// Returns whether a node is a note on the drawing, by its class.
    pub fn is_note(&self, node: NodeId) -> bool {
        self.topology.roles[node as usize] == Role::None && self.class_ends_with_word(node, vocabulary::NOTE_CLASSES)
    }

    /// Returns the notes on the drawing, in document order. They are found once per network.
    pub fn notes(&self) -> &[NodeId] {
        self.topology.notes.get_or_init(|| {
            let nodes = 0..self.topology.node_count() as NodeId;
            nodes.filter(|node| self.topology.flow_degree(*node) == 0 && self.is_note(*node)).collect()
        })
    }

    /// Returns the classes of a node in snake_case. Strings longer than a class are skipped, since scanning them on
    /// each call would be too slow.
    pub(super) fn classes(&self, node: NodeId) -> impl Iterator<Item = String> + use<'_, 'a> {
        self.class_texts(node).filter(|class| class.len() <= MAX_CLASS).map(super::snake_case::snake_case)
    }

    /// Returns the classes of a node as written, of any length.
    pub fn class_texts(&self, node: NodeId) -> impl Iterator<Item = &'a str> + use<'_, 'a> {
        let object = self.node(node).as_object();
        let names = self.topology.config.names(Names::Class).iter();
        names.filter_map(move |name| object?.get(name)?.as_str())
    }

    /// Returns what is known about an item whose class has no role: whether a pipe goes on behind it. `None` if its
    /// class is unknown.
    pub fn passage(&self, node: NodeId) -> Option<Passage> {
        const ALL: [Option<Passage>; 3] = [None, Some(Passage::Through), Some(Passage::End)];
        let read = || self.class_texts(node).find_map(|class| self.topology.config.passage_of(class));
        self.topology.memos.one_of_or_compute(Property::Passage, node, &ALL, read)
    }

    /// Returns the most specific class of a node.
    pub fn class(&self, node: NodeId) -> Option<&'a str> {
        self.node_field(node, Names::Class).and_then(Value::as_str)
    }

    /// Returns whether a node is a piping item, by the first part of its class: `piping_component.strainer`.
    pub fn is_piping(&self, node: NodeId) -> bool {
        let sort = self.class(node).and_then(|class| class.split_once('.'));
        sort.is_some_and(|(sort, _)| vocabulary::contains(vocabulary::PIPING, sort))
    }

    /// Returns whether a list contains the type of a node.
    pub fn has_type(&self, node: NodeId, types: Names) -> bool {
        let kind = self.node_field(node, Names::NodeType).and_then(Value::as_str);
        kind.is_some_and(|kind| self.topology.config.contains(types, kind))
    }

    /// Returns the id of an edge, or its index if it has none.
    pub fn edge_id(&self, edge: EdgeId) -> Value<'a> {
        if edge == NONE {
            return Value::Null;
        }
        self.edge_field(edge, Names::EdgeId).unwrap_or(Value::number(f64::from(edge)))
    }

    /// Returns a cross-page field of an off-page connector, from its cross-page object or from the node itself.
    pub fn cross_page(&self, node: NodeId, names: Names) -> Option<Value<'a>> {
        let link = self.node_field(node, Names::CrossPage).filter(|link| link.as_object().is_some());
        self.field(link.unwrap_or(self.node(node)), names)
    }
}

/// Returns the index of an object in an array, by its identity in the document, without comparing contents.
fn index_of<'a>(list: Array<'a>, object: Object<'a>) -> Option<u32> {
    match (list.0, object.0) {
        (Items::Stored(arena, base), Fields::Stored(other, id)) if std::ptr::eq(arena, other) => {
            position(arena.items(base), id)
        }
        (Items::Rows(rows), Fields::Stored(other, id)) if std::ptr::eq(rows.arena, other) => {
            let is_match = |row: &u32| rows.arena.items(rows.base)[*row as usize].kind() == Kind::Object(id);
            rows.rows.iter().position(is_match).map(|at| at as u32)
        }
        _ => {
            let is_match = |item: Value<'a>| item.as_object().is_some_and(|item| is_same(item, object));
            list.iter().position(is_match).map(|at| at as u32)
        }
    }
}

/// Returns whether two objects are identical.
fn is_same(a: Object<'_>, b: Object<'_>) -> bool {
    match (a.0, b.0) {
        (Fields::Stored(a, id), Fields::Stored(b, other)) => std::ptr::eq(a, b) && id == other,
        (Fields::Built(a, row), Fields::Built(b, other)) => std::ptr::eq(a, b) && row == other,
        (Fields::Row(a, row), Fields::Row(b, other)) => std::ptr::eq(a, b) && row == other,
        (Fields::Owned(a), Fields::Owned(b)) => std::ptr::eq(a, b),
        _ => false,
    }
}

/// Returns the index of an object among items. Containers are numbered in the order of their first byte, so items are
/// ascending; items that are not containers are skipped.
fn position(items: &[Cell], id: ContainerId) -> Option<u32> {
    let container = |at: usize| container_of(items[at]);
    let (mut low, mut high) = neighborhood(items, id).unwrap_or((0, items.len()));
    while low < high {
        let middle = (low + high) / 2;
        let Some((at, item)) = (middle..high).find_map(|at| Some((at, container(at)?))) else {
            high = middle;
            continue;
        };
        match item.cmp(&id) {
            Ordering::Equal => return Some(at as u32),
            Ordering::Less => low = at + 1,
            Ordering::Greater => high = middle,
        }
    }
    None
}

fn container_of(cell: Cell) -> Option<ContainerId> {
    match cell.kind() {
        Kind::Array(item) | Kind::Object(item) => Some(item),
        _ => None,
    }
}

/// Returns a small range of items that contains an object. The initial guess assumes that all items contain the same
/// number of containers.
fn neighborhood(items: &[Cell], id: ContainerId) -> Option<(usize, usize)> {
    let last = items.len().checked_sub(1)?;
    let (first_id, last_id) = (container_of(items[0])?, container_of(items[last])?);
    let fraction = f64::from(id.0.checked_sub(first_id.0)?) / f64::from(last_id.0.checked_sub(first_id.0)?.max(1));
    let guess = ((fraction * last as f64) as usize).min(last);
    let mut radius = 4;
    while radius < last {
        let (low, high) = (guess.saturating_sub(radius), (guess + radius).min(last));
        if container_of(items[low])? <= id && id <= container_of(items[high])? {
            return Some((low, high + 1));
        }
        radius *= 8;
    }
    None
}

/// Returns whether a class in snake_case contains a word, as a word.
pub(super) fn has_word(class: &str, word: &str) -> bool {
    let is_boundary = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
    class.match_indices(word).any(|(at, _)| {
        is_boundary(class[..at].chars().next_back()) && is_boundary(class[at + word.len()..].chars().next())
    })
}

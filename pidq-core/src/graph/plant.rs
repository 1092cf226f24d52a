//! A drawing: its nodes and edges as the document has them, and the network that they are.

use std::cmp::Ordering;
use std::ops::Deref;
use std::sync::{Arc, LazyLock};

use super::adjacency::{EdgeId, NONE, NodeId};
use super::config::{Names, TopologyConfig, at_path};
use super::index::Key;
use super::topology::{Topology, check_room};
use super::vocabulary;
use crate::arena::{Arena, Cell, ContainerId, Kind};
use crate::error::{Code, Error, Result};
use crate::limits::Limits;
use crate::value::{Array, Fields, Items, Object, Value, convert, write};

/// A drawing, found in a document.
#[derive(Clone)]
pub(crate) struct Plant<'a> {
    /// The object that holds nodes and edges.
    pub graph: Value<'a>,
    /// The object that says what drawing it is; null where there is none.
    pub metadata: Value<'a>,
    pub nodes: Array<'a>,
    pub edges: Array<'a>,
    pub topology: Network<'a>,
}

/// The network of a drawing: that of a document, which all runs share without counting, or one that a run has made.
#[derive(Clone)]
pub(crate) enum Network<'a> {
    Shared(&'a Topology),
    Own(Arc<Topology>),
}

impl Deref for Network<'_> {
    type Target = Topology;

    fn deref(&self) -> &Topology {
        match self {
            Network::Shared(topology) => topology,
            Network::Own(topology) => topology,
        }
    }
}

/// Where a drawing is in a document.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    graph: Value<'a>,
    metadata: Value<'a>,
    pub nodes: Array<'a>,
    pub edges: Array<'a>,
}

/// The same in numbers, to be kept beside the document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    graph: Option<ContainerId>,
    metadata: Option<ContainerId>,
    nodes: ContainerId,
    edges: Option<ContainerId>,
}

impl Kept {
    /// The place in the document that it was found in.
    pub fn place(self, arena: &Arena) -> Place<'_> {
        let object = |id: Option<ContainerId>| id.map_or(Value::Null, |id| Value::stored(arena, Cell::object(id)));
        let list = |id: ContainerId| Array(Items::Stored(arena, id));
        let (graph, metadata) = (object(self.graph), object(self.metadata));
        Place { graph, metadata, nodes: list(self.nodes), edges: self.edges.map_or(NOTHING, list) }
    }
}

/// No items.
const NOTHING: Array<'static> = Array(Items::Built(&[]));

impl<'a> Place<'a> {
    /// Looks for nodes and edges at the paths of a config, or where the drawing itself says that they are. Without a
    /// list of nodes there is no drawing.
    pub fn find(document: Value<'a>, config: &TopologyConfig) -> Option<Place<'a>> {
        let metadata = config.names(Names::MetadataAt).iter().find_map(|path| at_path(document, path));
        let own = metadata.and_then(|metadata| metadata.as_object()?.get("topology"));
        let own = own.and_then(Value::as_object).filter(|own| own.get("paths").is_some());
        let Some(own) = own else { return Place::at(document, config) };
        let mut own_config = config.clone();
        // What could not be taken is told when the topology is made.
        drop(own_config.change_names(own));
        // A part of a drawing keeps what the drawing says of itself, and has its nodes where parts have them.
        Place::at(document, &own_config).or_else(|| Place::at(document, config))
    }

    /// Where it is in a stored document.
    pub fn kept(&self) -> Option<Kept> {
        let id = |value: Value<'a>| value.container().map(|(_, id)| id);
        let (nodes, edges) = (id(Value::Array(self.nodes))?, id(Value::Array(self.edges)));
        Some(Kept { graph: id(self.graph), metadata: id(self.metadata), nodes, edges })
    }

    /// Whether a run may have its network.
    pub fn check_room(&self, limits: &Limits<'_>) -> Result<()> {
        check_room(self.nodes.len(), self.edges.len(), limits)
    }

    /// How many nodes and edges there are.
    pub fn len(&self) -> (usize, usize) {
        (self.nodes.len(), self.edges.len())
    }

    /// The lists of nodes and of edges.
    pub fn lists(&self) -> [Array<'a>; 2] {
        [self.nodes, self.edges]
    }

    fn at(document: Value<'a>, config: &TopologyConfig) -> Option<Place<'a>> {
        let list = |names: Names| {
            let paths = config.names(names).iter();
            paths.filter_map(|path| Some((path, at_path(document, path)?.as_array()?))).next()
        };
        let (path, nodes) = list(Names::NodesAt)?;
        let edges = list(Names::EdgesAt).map_or(NOTHING, |(_, edges)| edges);
        let metadata = config.names(Names::MetadataAt).iter().find_map(|path| at_path(document, path));
        let graph = path.rsplit_once('.').map_or(Some(document), |(outer, _)| at_path(document, outer));
        let metadata = metadata.filter(|value| value.as_object().is_some()).unwrap_or(Value::Null);
        Some(Place { graph: graph.unwrap_or(Value::Null), metadata, nodes, edges })
    }

    /// The network of the drawing. What the drawing says of itself in `metadata.topology` counts before the config.
    pub fn topology(&self, config: &Arc<TopologyConfig>, limits: &Limits<'_>) -> Result<Topology> {
        let mut config = config.clone();
        let own = self.metadata.as_object().and_then(|metadata| metadata.get("topology"));
        let problems = own.map(|own| Arc::make_mut(&mut config).change(own)).unwrap_or_default();
        let mut topology = Topology::new(self.nodes, self.edges, config, limits)?;
        topology.problems = problems;
        Ok(topology)
    }

    pub fn with(self, topology: Network<'a>) -> Plant<'a> {
        let Place { graph, metadata, nodes, edges } = self;
        Plant { graph, metadata, nodes, edges, topology }
    }
}

/// Bytes of an item as drawings have it, with places and attributes.
const USUAL_ITEM: usize = 8 << 10;

impl<'a> Plant<'a> {
    /// What a question about the whole drawing costs beyond its steps: a step for 64 bytes of what stands in the items, where
    /// they are longer than those of a drawing.
    pub fn long_texts(&self) -> u64 {
        let size = self.nodes.text_size() + self.edges.text_size();
        let usual = USUAL_ITEM * (self.nodes.len() + self.edges.len());
        (size.saturating_sub(usual) / 64) as u64
    }

    /// The drawing of a value; nothing where it has no nodes.
    pub fn of(value: Value<'a>, config: &Arc<TopologyConfig>, limits: &Limits<'_>) -> Result<Option<Plant<'a>>> {
        let Some(place) = Place::find(value, config) else { return Ok(None) };
        let topology = Arc::new(place.topology(config, limits)?);
        Ok(Some(place.with(Network::Own(topology))))
    }

    /// A drawing without nodes.
    pub fn nothing() -> Plant<'a> {
        static NOTHING_AT_ALL: LazyLock<Topology> = LazyLock::new(|| Topology::empty(TopologyConfig::usual().clone()));
        let (graph, metadata, topology) = (Value::Null, Value::Null, Network::Shared(&NOTHING_AT_ALL));
        Plant { graph, metadata, nodes: NOTHING, edges: NOTHING, topology }
    }

    /// The same document, read with another config.
    pub fn again(
        outer: &Plant<'a>,
        document: Value<'a>,
        config: TopologyConfig,
        limits: &Limits<'_>,
    ) -> Result<Plant<'a>> {
        let same = Place { graph: outer.graph, metadata: outer.metadata, nodes: outer.nodes, edges: outer.edges };
        let place = Place::find(document, &config).unwrap_or(same);
        let topology = Topology::new(place.nodes, place.edges, config.into(), limits)?;
        Ok(place.with(Network::Own(topology.into())))
    }

    pub fn node(&self, node: NodeId) -> Value<'a> {
        self.nodes.get(node as usize).unwrap_or(Value::Null)
    }

    pub fn edge(&self, edge: EdgeId) -> Value<'a> {
        self.edges.get(edge as usize).unwrap_or(Value::Null)
    }

    /// The first field of a list of names that a node has.
    pub fn of_node(&self, node: NodeId, names: Names) -> Option<Value<'a>> {
        self.field(self.node(node), names)
    }

    /// The first field of a list of names that an edge has.
    pub fn of_edge(&self, edge: EdgeId, names: Names) -> Option<Value<'a>> {
        self.field(self.edge(edge), names)
    }

    /// The first field of a list of names that is there: neither null nor an empty text.
    pub fn field(&self, holder: Value<'a>, names: Names) -> Option<Value<'a>> {
        self.key_and_field(holder, names).map(|(_, value)| value)
    }

    /// The same with the key that it stands under.
    pub fn key_and_field(&self, holder: Value<'a>, names: Names) -> Option<(&str, Value<'a>)> {
        let object = holder.as_object()?;
        let is_said = |(_, value): &(&str, Value<'a>)| !value.is_null() && value.as_str() != Some("");
        let names = self.topology.config.names(names).iter();
        names.filter_map(|name| Some((name.as_str(), object.get(name)?))).find(is_said)
    }

    /// The id of a node as it stands in the document.
    pub fn id(&self, node: NodeId) -> Value<'a> {
        self.of_node(node, Names::NodeId).unwrap_or(Value::Null)
    }

    pub fn tag(&self, node: NodeId) -> Option<&'a str> {
        self.of_node(node, Names::Tag).and_then(Value::as_str)
    }

    /// The unique tag: as written, or of a port the tag of its equipment before its own.
    pub fn qualified_tag(&self, node: NodeId) -> Option<String> {
        if let Some(tag) = self.of_node(node, Names::QualifiedTag).and_then(Value::as_str) {
            return Some(tag.into());
        }
        let owner = self.tag(self.topology.owner(node)?)?;
        Some(format!("{owner}-{}", self.tag(node)?))
    }

    /// What to call a node: its unique tag, its tag, or its id.
    pub fn name(&self, node: NodeId) -> String {
        let tag = || self.tag(node).map(String::from);
        self.qualified_tag(node).or_else(tag).unwrap_or_else(|| convert::to_text(self.id(node)))
    }

    /// The node that a value of the document is.
    pub fn node_of(&self, value: Value<'a>) -> Option<NodeId> {
        place_of(self.nodes, value.as_object()?)
    }

    /// The edge that a value of the document is.
    pub fn edge_of(&self, value: Value<'a>) -> Option<EdgeId> {
        place_of(self.edges, value.as_object()?)
    }

    /// The node that an object is, or else the one with its id.
    pub fn named_by(&self, value: Value<'a>) -> Option<NodeId> {
        let object = value.as_object()?;
        let by_id = || {
            let id = self.field(value, Names::NodeId).or_else(|| object.get("id"));
            id.filter(|_| self.edge_of(value).is_none()).and_then(|id| self.by_id(id))
        };
        self.node_of(value).or_else(by_id)
    }

    /// The node with an id, or else the only one with a tag. Looking at all that have the tag is paid for.
    pub fn by_reference(&self, reference: Value<'_>, pay: impl FnOnce(u64) -> Result<()>) -> Result<Option<NodeId>> {
        if let Some(node) = self.by_id(reference) {
            return Ok(Some(node));
        }
        let tag = reference.as_str().unwrap_or_default();
        let found = self.by_tag(tag);
        pay(found.len() as u64)?;
        match found.as_slice() {
            [] => Ok(None),
            [node] => Ok(Some(*node)),
            several => Err(self.ambiguous(tag, several)),
        }
    }

    fn ambiguous(&self, tag: &str, nodes: &[NodeId]) -> Error {
        const SHOWN: usize = 10;
        let candidates = nodes.iter().take(SHOWN).map(|node| {
            let id = write::to_string(self.id(*node));
            self.qualified_tag(*node).map_or(id.clone(), |tag| format!("{id} ({tag})"))
        });
        let candidates: Vec<String> = candidates.collect();
        let more = if nodes.len() > SHOWN { format!(" and {} more", nodes.len() - SHOWN) } else { String::new() };
        let error = Error::new(Code::AmbiguousNode, format!("{} nodes have the tag \"{tag}\"", nodes.len()));
        error.with_help(format!("use an id: {}{more}", candidates.join(", ")))
    }

    /// The first node with an id.
    pub fn by_id(&self, id: Value<'_>) -> Option<NodeId> {
        let key = Key::of(id)?;
        self.topology.by_id(key, |node| Key::of(self.id(node)) == Some(key)).next()
    }

    /// The nodes with a unique tag, or else with a tag.
    pub fn by_tag(&self, tag: &str) -> Vec<NodeId> {
        self.some_by_tag(tag, usize::MAX)
    }

    /// The first of them.
    pub fn first_by_tag(&self, tag: &str) -> Option<NodeId> {
        self.some_by_tag(tag, 1).first().copied()
    }

    /// At most so many of them: who wants one should not look at all that share a tag.
    fn some_by_tag(&self, tag: &str, most: usize) -> Vec<NodeId> {
        let key = Key::Text(tag);
        let written = |node| self.of_node(node, Names::QualifiedTag).and_then(Key::of);
        let unique = self.topology.qualified_tags(written);
        let found: Vec<NodeId> = unique.find(key, |node| written(node) == Some(key)).take(most).collect();
        if !found.is_empty() {
            return found;
        }
        let own = |node| self.tag(node).map(Key::Text);
        let found: Vec<NodeId> = self.topology.tags(own).find(key, |node| own(node) == Some(key)).take(most).collect();
        if found.is_empty() { self.by_port(tag) } else { found }
    }

    /// The port that a text such as `P-101-N1` names: the tag of the equipment before that of the port.
    fn by_port(&self, text: &str) -> Vec<NodeId> {
        let Some((owner, port)) = text.rsplit_once('-') else { return Vec::new() };
        let own = |node| self.tag(node).map(Key::Text);
        let owners = self.topology.tags(own).find(Key::Text(owner), |node| own(node) == Some(Key::Text(owner)));
        let ports = owners.flat_map(|owner| self.topology.ports.nodes(owner).iter().copied());
        ports.filter(|node| self.tag(*node) == Some(port)).collect()
    }

    /// Whether one of the class fields of a node has a word: as a whole or as its last part.
    pub fn has_class(&self, node: NodeId, word: &str) -> bool {
        let Some(object) = self.node(node).as_object() else { return false };
        let word = super::config::snake_case(word);
        let classes = self.topology.config.names(Names::Class).iter().filter_map(|name| object.get(name)?.as_str());
        classes.map(super::config::snake_case).any(|class| {
            class == word || class.strip_suffix(word.as_str()).is_some_and(|rest| rest.ends_with(['.', '/', '#', ':']))
        })
    }

    /// The most telling class of a node.
    pub fn class(&self, node: NodeId) -> Option<&'a str> {
        self.of_node(node, Names::Class).and_then(Value::as_str)
    }

    /// Whether a node is a thing of piping, by the first part of its class: `piping_component.strainer`.
    pub fn is_piping(&self, node: NodeId) -> bool {
        let sort = self.class(node).and_then(|class| class.split_once('.'));
        sort.is_some_and(|(sort, _)| vocabulary::has(vocabulary::PIPING, sort))
    }

    /// Whether the type of a node is one of a list.
    pub fn has_type(&self, node: NodeId, types: Names) -> bool {
        let kind = self.of_node(node, Names::NodeType).and_then(Value::as_str);
        kind.is_some_and(|kind| self.topology.config.has(types, kind))
    }

    /// The id of an edge, or its place where it has none.
    pub fn edge_id(&self, edge: EdgeId) -> Value<'a> {
        if edge == NONE {
            return Value::Null;
        }
        self.of_edge(edge, Names::EdgeId).unwrap_or(Value::number(f64::from(edge)))
    }

    /// What an off-page connector says of where it goes on, in an object of its own or beside everything else.
    pub fn cross_page(&self, node: NodeId, names: Names) -> Option<Value<'a>> {
        let link = self.of_node(node, Names::CrossPage).filter(|link| link.as_object().is_some());
        self.field(link.unwrap_or(self.node(node)), names)
    }

    /// A text of the metadata.
    pub fn said(&self, names: Names) -> Option<&'a str> {
        self.field(self.metadata, names)?.as_str()
    }
}

/// The place of an object in a list: by its place in the document, without looking at it.
fn place_of<'a>(list: Array<'a>, object: Object<'a>) -> Option<u32> {
    match (list.0, object.0) {
        (Items::Stored(arena, base), Fields::Stored(other, id)) if std::ptr::eq(arena, other) => {
            position(arena.items(base), id)
        }
        (Items::Rows(rows), Fields::Stored(other, id)) if std::ptr::eq(rows.arena, other) => {
            let is_it = |row: &u32| rows.arena.items(rows.base)[*row as usize].kind() == Kind::Object(id);
            rows.rows.iter().position(is_it).map(|at| at as u32)
        }
        _ => {
            let is_it = |item: Value<'a>| item.as_object().is_some_and(|item| is_same(item, object));
            list.iter().position(is_it).map(|at| at as u32)
        }
    }
}

/// Whether two objects are one and the same.
fn is_same(a: Object<'_>, b: Object<'_>) -> bool {
    match (a.0, b.0) {
        (Fields::Stored(a, id), Fields::Stored(b, other)) => std::ptr::eq(a, b) && id == other,
        (Fields::Built(a, row), Fields::Built(b, other)) => std::ptr::eq(a, b) && row == other,
        (Fields::Row(a, row), Fields::Row(b, other)) => std::ptr::eq(a, b) && row == other,
        _ => false,
    }
}

/// The place of an object among items. Containers are numbered in the order of their first byte, so items ascend; items
/// that are not containers are stepped over.
fn position(items: &[Cell], id: ContainerId) -> Option<u32> {
    let container = |at: usize| container_of(items[at]);
    let (mut low, mut high) = around(items, id).unwrap_or((0, items.len()));
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

/// The neighbourhood of an object among items. They are alike, so that they hold about as many containers each: it is
/// near to where it would be if all held as many.
fn around(items: &[Cell], id: ContainerId) -> Option<(usize, usize)> {
    let last = items.len().checked_sub(1)?;
    let (first_id, last_id) = (container_of(items[0])?, container_of(items[last])?);
    let share = f64::from(id.0.checked_sub(first_id.0)?) / f64::from(last_id.0.checked_sub(first_id.0)?.max(1));
    let guess = ((share * last as f64) as usize).min(last);
    let mut reach = 4;
    while reach < last {
        let (low, high) = (guess.saturating_sub(reach), (guess + reach).min(last));
        if container_of(items[low])? <= id && id <= container_of(items[high])? {
            return Some((low, high + 1));
        }
        reach *= 8;
    }
    None
}

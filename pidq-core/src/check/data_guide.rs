//! DataGuide of a document: the kinds of values on every path, and their number.
//!
//! A DataGuide (Goldman and Widom, 1997) has one node for all values that one path reaches; a step into an array is the
//! same for all of its items. Objects with a `node_type` also have a node for each of its values. Built on demand, with
//! limits on time and size; beyond the limits a node is marked as truncated.

use std::collections::HashMap;

use super::kinds::Kinds;
use crate::arena::{Arena, Cell, ContainerId, Kind, Symbol};
use crate::graph::Graph;
use crate::graph::drawing::DrawingParts;
use crate::limits::{Cancel, Limits};
use crate::value::Value;

/// Limit of nodes.
const MAX_NODES: usize = 10_000;
/// Limit of keys per node: an object with more is a table, and its keys are data.
const MAX_FIELDS: usize = 256;
/// Limit of distinct strings per node.
const MAX_STRINGS: usize = 32;
/// Limit of distinct values of `node_type` with nodes of their own.
const MAX_VARIANTS: usize = 32;
/// Steps between two checks of the cancellation flag.
const CANCEL_CHECK_INTERVAL: u64 = 1024;
/// The field with the type of a graph node.
const VARIANT: &str = "node_type";

/// Index of a node.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct GuideNodeId(u32);

/// The nodes of a document. The first is the document itself.
pub(super) struct DataGuide<'d> {
    arena: &'d Arena,
    nodes: Vec<GuideNode>,
    /// The lists of nodes and of edges, and the DataGuide nodes found for them.
    lists: [(Option<ContainerId>, Option<GuideNodeId>); 2],
}

/// All values that one path reaches.
#[derive(Default)]
pub(super) struct GuideNode {
    pub kinds: Kinds,
    /// The number of values, and of objects among them.
    values: u32,
    objects: u32,
    fields: HashMap<Symbol, GuideNodeId>,
    items: Option<GuideNodeId>,
    /// The distinct strings, and true if there were too many.
    strings: Vec<Cell>,
    has_more_strings: bool,
    /// Nodes by `node_type`, and true if there were too many.
    variants: Vec<(Symbol, GuideNodeId)>,
    has_more_variants: bool,
    /// True if values below are missing from the guide.
    is_truncated: bool,
}

/// Result of following one path step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Lookup {
    /// A node; also null if some objects lack the field.
    Found(GuideNodeId, Kinds),
    Absent,
    Unknown,
}

/// A container that is being traversed.
struct Visit {
    container: ContainerId,
    is_object: bool,
    next: u32,
    node: GuideNodeId,
    /// True if the objects below may be split by `node_type`: at most once per path.
    by_variant: bool,
}

impl<'d> DataGuide<'d> {
    /// Builds the guide of a document. Returns `None` if that takes more fuel than allowed, or is cancelled.
    pub fn build(graph: &'d Graph, limits: &Limits<'_>) -> Option<DataGuide<'d>> {
        let (arena, drawing) = (graph.arena(), DrawingParts::find(graph.root(), graph.config()));
        let lists =
            drawing.map(|drawing| drawing.arrays().map(|list| Value::Array(list).container().map(|(_, id)| id)));
        let lists = lists.unwrap_or_default().map(|list| (list, None));
        let mut guide = DataGuide { arena, nodes: vec![GuideNode::default()], lists };
        let mut visits = Vec::new();
        guide.record_value(arena.root(), GuideNodeId(0), true, &mut visits);
        for step in 0..limits.fuel {
            let Some(visit) = visits.last_mut() else { return Some(guide) };
            if step % CANCEL_CHECK_INTERVAL == 0 && limits.cancel.is_some_and(Cancel::is_cancelled) {
                break;
            }
            match visit.step(arena) {
                Some((key, cell)) => {
                    let (node, by_variant) = (visit.node, visit.by_variant);
                    guide.record_child(node, key, cell, by_variant, &mut visits);
                }
                None => drop(visits.pop()),
            }
        }
        None
    }

    pub fn root(&self) -> GuideNodeId {
        GuideNodeId(0)
    }

    /// Returns the nodes of the lists of graph nodes and edges.
    pub fn lists(&self) -> [Option<GuideNodeId>; 2] {
        self.lists.map(|(_, node)| node)
    }

    pub fn node(&self, id: GuideNodeId) -> &GuideNode {
        &self.nodes[id.0 as usize]
    }

    /// Records a child of a container.
    fn record_child(
        &mut self,
        node: GuideNodeId,
        key: Option<Symbol>,
        cell: Cell,
        by_variant: bool,
        visits: &mut Vec<Visit>,
    ) {
        let known = match key {
            Some(key) => self.node(node).fields.get(&key).copied(),
            None => self.node(node).items,
        };
        match known.or_else(|| self.add(node, key)) {
            Some(child) => self.record_value(cell, child, by_variant, visits),
            None => self.node_mut(node).is_truncated = true,
        }
    }

    fn add(&mut self, node: GuideNodeId, key: Option<Symbol>) -> Option<GuideNodeId> {
        if self.node(node).fields.len() >= MAX_FIELDS {
            return None;
        }
        let child = self.new_node()?;
        let node = self.node_mut(node);
        match key {
            Some(key) => drop(node.fields.insert(key, child)),
            None => node.items = Some(child),
        }
        Some(child)
    }

    fn new_node(&mut self) -> Option<GuideNodeId> {
        let id = GuideNodeId(self.nodes.len() as u32);
        (self.nodes.len() < MAX_NODES).then(|| {
            self.nodes.push(GuideNode::default());
            id
        })
    }

    fn node_mut(&mut self, id: GuideNodeId) -> &mut GuideNode {
        &mut self.nodes[id.0 as usize]
    }

    /// Records a value. Its children are recorded later.
    fn record_value(&mut self, cell: Cell, node: GuideNodeId, by_variant: bool, visits: &mut Vec<Visit>) {
        let kinds = kinds_of(cell);
        self.node_mut(node).values += 1;
        self.node_mut(node).kinds = self.node(node).kinds | kinds;
        match cell.kind() {
            Kind::Array(id) => {
                self.record_list(id, node);
                visits.push(Visit { container: id, is_object: false, next: 0, node, by_variant });
            }
            Kind::Object(id) => {
                self.node_mut(node).objects += 1;
                let variant = if by_variant { self.variant(id, node) } else { None };
                let by_variant = by_variant && variant.is_none();
                visits.push(Visit { container: id, is_object: true, next: 0, node, by_variant });
                if let Some(variant) = variant {
                    self.record_value(cell, variant, false, visits);
                }
            }
            _ if kinds == Kinds::STRING => self.record_string(cell, node),
            _ => {}
        }
    }

    fn record_list(&mut self, list: ContainerId, node: GuideNodeId) {
        for (id, found) in &mut self.lists {
            if *id == Some(list) {
                found.get_or_insert(node);
            }
        }
    }

    fn record_string(&mut self, cell: Cell, node: GuideNodeId) {
        let GuideNode { strings, has_more_strings, .. } = self.node(node);
        if *has_more_strings || strings.contains(&cell) {
            return;
        }
        let text = self.arena.string(cell);
        if strings.iter().any(|known| self.arena.string(*known) == text) {
            return;
        }
        let is_full = strings.len() >= MAX_STRINGS;
        let node = self.node_mut(node);
        if is_full { node.has_more_strings = true } else { node.strings.push(cell) }
    }

    /// Returns the node for objects with this `node_type`.
    fn variant(&mut self, object: ContainerId, node: GuideNodeId) -> Option<GuideNodeId> {
        let Kind::Symbol(name) = self.arena.field(object, VARIANT)?.kind() else { return None };
        let GuideNode { variants, .. } = self.node(node);
        if let Some((_, variant)) = variants.iter().find(|(known, _)| *known == name) {
            return Some(*variant);
        }
        let variant = if variants.len() < MAX_VARIANTS { self.new_node() } else { None };
        let node = self.node_mut(node);
        match variant {
            Some(variant) => node.variants.push((name, variant)),
            None => node.has_more_variants = true,
        }
        variant
    }

    // Lookups.

    /// Returns the values of a key in the objects of a node.
    pub fn field(&self, id: GuideNodeId, key: &str) -> Lookup {
        let node = self.node(id);
        match self.arena.find_symbol(key).and_then(|key| node.fields.get(&key)) {
            Some(_) | None if node.is_truncated => Lookup::Unknown,
            None => Lookup::Absent,
            Some(field) if self.node(*field).values < node.objects => Lookup::Found(*field, Kinds::NULL),
            Some(field) => Lookup::Found(*field, Kinds::NONE),
        }
    }

    /// Returns the fields of the objects of a node, in the order of their first appearance.
    pub fn keys(&self, id: GuideNodeId) -> Vec<&str> {
        let mut fields: Vec<_> = self.node(id).fields.iter().collect();
        fields.sort_unstable_by_key(|(_, node)| node.0);
        fields.into_iter().map(|(key, _)| self.arena.symbol_text(*key)).collect()
    }

    /// Returns the items of the arrays of a node.
    pub fn items(&self, id: GuideNodeId) -> Lookup {
        match (self.node(id).items, self.node(id).is_truncated) {
            (_, true) => Lookup::Unknown,
            (Some(items), _) => Lookup::Found(items, Kinds::NONE),
            (None, _) => Lookup::Absent,
        }
    }

    /// Returns the objects of a node with this value of the field; `None` if they have no node of their own.
    pub fn narrowed(&self, id: GuideNodeId, field: &str, value: &str) -> Option<GuideNodeId> {
        let symbol = self.arena.find_symbol(value).filter(|_| field == VARIANT)?;
        self.node(id).variants.iter().find(|(name, _)| *name == symbol).map(|(_, node)| *node)
    }

    /// Returns the strings of a node if they are few and repeat.
    pub fn enumerated_strings(&self, id: GuideNodeId) -> Option<impl Iterator<Item = &str>> {
        let node = self.node(id);
        let repeats = node.values as usize >= 2 * node.strings.len();
        (repeats && !node.has_more_strings).then(|| node.strings.iter().map(|cell| self.arena.string(*cell)))
    }
}

impl Visit {
    /// Returns the next child, with its key in an object.
    fn step(&mut self, arena: &Arena) -> Option<(Option<Symbol>, Cell)> {
        let at = self.next;
        self.next += 1;
        let first = arena.container(self.container).first;
        if self.is_object {
            let key = arena.keys(self.container).get(at as usize)?;
            return Some((Some(*key), arena.cell(first + at)));
        }
        arena.items(self.container).get(at as usize).map(|cell| (None, *cell))
    }
}

/// Returns the kind of a value.
fn kinds_of(cell: Cell) -> Kinds {
    match cell.kind() {
        Kind::Null => Kinds::NULL,
        Kind::Bool(_) => Kinds::BOOL,
        Kind::Number(_) | Kind::Lexeme(_) => Kinds::NUMBER,
        Kind::Symbol(_) | Kind::Source(..) | Kind::Text(_) => Kinds::STRING,
        Kind::Array(_) => Kinds::ARRAY,
        Kind::Object(_) => Kinds::OBJECT,
    }
}

//! Graph model of the exports: nodes and edges with unique names and resolved ends.
//!
//! Field names and values are those of the engine's vocabulary, or those configured in `metadata.topology`. Flow
//! semantics are not known here.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use pidq_core::{Array, Object, TopologyConfig, Value, fail_mark, vocabulary};

/// Keys of the two ends; the first pair that an edge has is used.
pub use pidq_core::vocabulary::ENDPOINTS as ENDS;

use crate::error::{Code, Error, Result};

/// Names under which Proteus and DEXPI state pressures, by the list of their names here.
pub const PRESSURE_PROPERTIES: &[(&str, &str)] =
    &[("set_pressure", "SetPressureHigh"), ("design_pressure", "UpperLimitDesignPressure")];

/// Values of the fail position of an actuator in Proteus and DEXPI, by its mark.
const FAIL_ACTIONS: &[(&str, &str)] = &[("FO", "FailOpen"), ("FC", "FailClose"), ("FL", "FailRetainPosition")];

/// Returns the fail position in a text as Proteus and DEXPI name it; `None` if it is not understood.
pub fn dexpi_fail_action(text: &str) -> Option<&'static str> {
    let mark = fail_mark(text)?;
    FAIL_ACTIONS.iter().find(|(known, _)| *known == mark).map(|(_, name)| *name)
}

/// Graph to be exported.
pub struct Model<'a> {
    pub nodes: Vec<Node<'a>>,
    pub edges: Vec<Edge<'a>>,
    pub metadata: Option<Object<'a>>,
    /// Metadata of the older revision that removed items are from.
    pub older_metadata: Option<Object<'a>>,
    /// Names of ends without a node, in the order of occurrence.
    pub missing_nodes: Vec<String>,
    /// Line numbers by the id of the line's node.
    lines: HashMap<String, &'a str>,
    /// Field names and values of the document.
    pub config: Rc<TopologyConfig>,
}

/// Node with a unique name.
pub struct Node<'a> {
    pub name: String,
    pub fields: Object<'a>,
    /// True for an item of an older revision.
    pub is_removed: bool,
    config: Rc<TopologyConfig>,
}

/// Edge with resolved ends.
pub struct Edge<'a> {
    pub fields: Object<'a>,
    pub from: Endpoint,
    pub to: Endpoint,
    /// True for an edge of an older revision.
    pub is_removed: bool,
    config: Rc<TopologyConfig>,
}

/// End of an edge: its name, and the index of its node if there is one.
#[derive(Clone, Debug)]
pub struct Endpoint {
    pub name: String,
    pub node: Option<usize>,
}

/// Fields that only hold the class of a node; other class fields of the vocabulary may hold any text.
const CLASSES: &[&str] = &["node_classification", "component_class", "sub_class", "class"];

impl<'a> Model<'a> {
    /// Reads the graph of a document: under `pid_graph`, at the top, or a list of nodes.
    ///
    /// # Errors
    /// `PQ6003` if there is none.
    pub fn from_value(value: Value<'a>) -> Result<Model<'a>> {
        let config = Rc::new(TopologyConfig::from_document(value));
        let (nodes, edges, metadata) = graph_parts(value, &config).ok_or_else(|| {
            Error::new(Code::NotGraph, "the value has no nodes: pass a document with `pid_graph`, or `{nodes, edges}`")
        })?;
        let mut names = NameAllocator::new(&config);
        let nodes: Vec<Node<'a>> = objects(nodes).map(|fields| names.node(fields)).collect();
        let mut missing_nodes = Vec::new();
        let edges = edges.map(|edges| objects(edges).map(|fields| names.edge(fields, &mut missing_nodes)).collect());
        let lines =
            nodes.iter().filter(|node| node.kind().is_some_and(|kind| config.contains_word("line_types", kind)));
        let lines = lines.filter_map(|line| Some((text(line.id()?), line.tag()?))).collect();
        Ok(Model {
            nodes,
            edges: edges.unwrap_or_default(),
            metadata,
            older_metadata: None,
            missing_nodes,
            lines,
            config,
        })
    }
}

impl<'a> Model<'a> {
    /// Adds what was removed since an older revision: its nodes with these ids, and those of its edges that have one of these
    /// ids or lead to such a node. A name in use stays with the newer item; an edge without both ends is not added.
    pub fn add_removed(&mut self, older: Model<'a>, ids: &BTreeSet<String>) {
        let is_listed = |id: Option<Value<'_>>| id.is_some_and(|id| ids.contains(&text(id)));
        let names = self.nodes.iter().enumerate().map(|(index, node)| (node.name.clone(), index));
        let mut indices: HashMap<String, usize> = names.collect();
        let kept = indices.len();
        self.older_metadata = older.metadata;
        for node in older.nodes.into_iter().filter(|node| is_listed(node.id())) {
            if let Entry::Vacant(entry) = indices.entry(node.name.clone()) {
                entry.insert(self.nodes.len());
                self.nodes.push(Node { is_removed: true, ..node });
            }
        }
        for mut edge in older.edges {
            for end in [&mut edge.from, &mut edge.to] {
                end.node = indices.get(&end.name).copied();
            }
            let Some((from, to)) = edge.from.node.zip(edge.to.node) else { continue };
            if is_listed(edge.id()) || from.max(to) >= kept {
                self.edges.push(Edge { is_removed: true, ..edge });
            }
        }
    }
}

impl Model<'_> {
    /// Resolves a line reference, which is a line number or the id of the line's node, to a line number.
    pub fn resolve_line<'m>(&'m self, name: &'m str) -> &'m str {
        self.lines.get(name).copied().unwrap_or(name)
    }

    /// Keeps the nodes with these ids, their owners, parts that connect kept nodes, and the edges between them.
    pub fn retain(&mut self, ids: &BTreeSet<String>) {
        let is_selected = |node: &Node<'_>| node.id().is_some_and(|id| ids.contains(&text(id)));
        let mut kept: Vec<bool> = self.nodes.iter().map(is_selected).collect();
        self.retain_parts(&mut kept);
        let mut next_index = 0;
        let new_indices: Vec<Option<usize>> = kept
            .iter()
            .map(|kept| {
                next_index += usize::from(*kept);
                kept.then(|| next_index - 1)
            })
            .collect();
        let mut flags = kept.iter();
        self.nodes.retain(|_| flags.next().copied().unwrap_or(false));
        for end in self.edges.iter_mut().flat_map(|edge| [&mut edge.from, &mut edge.to]) {
            end.node = end.node.and_then(|node| new_indices[node]);
        }
        self.edges.retain(|edge| edge.from.node.is_some() && edge.to.node.is_some());
        self.missing_nodes.clear();
    }

    fn retain_parts(&self, kept: &mut [bool]) {
        let pairs = |role: EdgeRole| {
            let edges = self.edges.iter().filter(move |edge| edge.role() == role);
            edges.filter_map(|edge| Some((edge.from.node?, edge.to.node?)))
        };
        let owners: Vec<usize> =
            pairs(EdgeRole::Part).filter(|(_, part)| kept[*part]).map(|(owner, _)| owner).collect();
        owners.into_iter().for_each(|owner| kept[owner] = true);
        let parts: HashSet<usize> =
            pairs(EdgeRole::Part).filter(|(owner, _)| kept[*owner]).map(|(_, part)| part).collect();
        let is_selected = |node: usize| kept[node] || parts.contains(&node);
        let ends: Vec<[usize; 2]> = pairs(EdgeRole::Flow)
            .filter(|(from, to)| is_selected(*from) && is_selected(*to))
            .map(|(from, to)| [from, to])
            .collect();
        ends.into_iter().flatten().for_each(|node| kept[node] = true);
    }
}

/// Parts of a document that are not in the model.
pub struct OtherParts {
    /// Names of members beside the graph.
    pub members: Vec<String>,
    /// The number of entries of the lists that are not objects.
    pub rows: usize,
}

impl Model<'_> {
    /// Returns the parts of the document of this model that are not in it. Members of node-link JSON that say how to
    /// read it count as read.
    pub fn others(&self, value: Value<'_>) -> OtherParts {
        const READ: &[&str] = &["pid_graph", "nodes", "edges", "links", "metadata", "graph", "directed", "multigraph"];
        let root = value.as_object();
        let graph = root.and_then(|root| root.get("pid_graph")).and_then(Value::as_object);
        let members = root.into_iter().chain(graph).flat_map(|object| object.iter().map(|(key, _)| key.to_owned()));
        let paths = ["paths.nodes", "paths.edges", "paths.metadata"].map(|key| self.config.list(key));
        let is_path = |key: &str| {
            let first = |path: &String| path.trim_start_matches('.').split('.').next() == Some(key);
            paths.iter().any(|list| list.iter().any(first))
        };
        let members: Vec<String> = members.filter(|key| !READ.contains(&key.as_str()) && !is_path(key)).collect();
        let rows = item_count(value).saturating_sub(self.nodes.len() + self.edges.len());
        OtherParts { members, rows }
    }
}

/// Returns the number of nodes and edges of a graph, or of rows of a list.
pub fn item_count(value: Value<'_>) -> usize {
    let parts = graph_parts(value, &TopologyConfig::from_document(value));
    parts.map_or(0, |(nodes, edges, _)| nodes.len() + edges.map_or(0, Array::len))
}

type GraphParts<'a> = (Array<'a>, Option<Array<'a>>, Option<Object<'a>>);

fn graph_parts<'a>(value: Value<'a>, config: &TopologyConfig) -> Option<GraphParts<'a>> {
    if let Value::Array(list) = value {
        return Some((list, None, None));
    }
    // A part of a drawing keeps the configuration of the drawing, but has its nodes at the default path.
    let at = |key| config.value_at(key, value).or_else(|| TopologyConfig::default().value_at(key, value));
    let list = |key| at(key).and_then(Value::as_array);
    let nodes = list("paths.nodes")?;
    // NetworkX stores graph attributes under `graph`.
    let graph = || value.as_object()?.get("graph");
    let metadata = config.value_at("paths.metadata", value).or_else(graph).and_then(Value::as_object);
    Some((nodes, list("paths.edges"), metadata))
}

fn objects<'a>(list: Array<'a>) -> impl Iterator<Item = Object<'a>> {
    list.iter().filter_map(Value::as_object)
}

/// Allocator of unique names. `1` and `"1"` are two ids; the second one gets another name.
struct NameAllocator {
    config: Rc<TopologyConfig>,
    used: HashSet<String>,
    numbers: HashMap<String, usize>,
    by_id: HashMap<String, (usize, String)>,
    count: usize,
}

impl NameAllocator {
    fn new(config: &Rc<TopologyConfig>) -> NameAllocator {
        let (used, numbers, by_id) = (HashSet::new(), HashMap::new(), HashMap::new());
        NameAllocator { config: config.clone(), used, numbers, by_id, count: 0 }
    }

    fn node<'a>(&mut self, fields: Object<'a>) -> Node<'a> {
        let id = first(fields, self.config.list("node_id"));
        let name = id.map_or_else(|| format!("node-{}", self.count + 1), text);
        let name = self.unique_name(name);
        if let Some(id) = id {
            // A duplicate id refers to the first node.
            self.by_id.entry(json(id)).or_insert_with(|| (self.count, name.clone()));
        }
        self.count += 1;
        Node { name, fields, is_removed: false, config: self.config.clone() }
    }

    fn unique_name(&mut self, base: String) -> String {
        if self.used.insert(base.clone()) {
            return base;
        }
        // Numbering continues where it stopped, so that many equal ids do not take quadratic time.
        let number = self.numbers.entry(base.clone()).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{base}#{number}");
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }

    fn edge<'a>(&mut self, fields: Object<'a>, missing_nodes: &mut Vec<String>) -> Edge<'a> {
        let config = self.config.clone();
        let pair = config.endpoints().iter().find(|pair| pair.iter().all(|key| fields.get(key).is_some()));
        let mut end = |at: usize| self.end(pair.and_then(|pair| fields.get(&pair[at])), missing_nodes);
        let (from, to) = (end(0), end(1));
        Edge { fields, from, to, is_removed: false, config }
    }

    /// Resolves an end, which is an id or an object with one.
    fn end(&mut self, value: Option<Value<'_>>, missing_nodes: &mut Vec<String>) -> Endpoint {
        let id = match value {
            Some(Value::Object(node)) => first(node, self.config.list("endpoint_id")),
            other => other,
        };
        let id = id.unwrap_or(Value::Null);
        if let Some((node, name)) = self.by_id.get(&json(id)) {
            return Endpoint { name: name.clone(), node: Some(*node) };
        }
        let name = if id.is_null() { "nowhere".into() } else { text(id) };
        if self.used.insert(name.clone()) {
            missing_nodes.push(name.clone());
        }
        Endpoint { name, node: None }
    }
}

impl<'a> Node<'a> {
    /// Returns the id in the document.
    pub fn id(&self) -> Option<Value<'a>> {
        first(self.fields, self.config.list("node_id"))
    }

    /// Returns the tag.
    pub fn tag(&self) -> Option<&'a str> {
        first_text(self.fields, self.config.list("tag"))
    }

    /// Returns the display name: tag, label, or the unique name.
    pub fn title(&self) -> String {
        let label = || self.fields.get("label").and_then(Value::as_str).filter(|label| !label.is_empty());
        self.tag().or_else(label).unwrap_or(&self.name).to_owned()
    }

    /// Returns the first text of the fields that the configuration lists for a name.
    pub fn first_text(&self, name: &str) -> Option<&'a str> {
        first_text(self.fields, self.config.list(name))
    }

    /// Returns the nominal diameter.
    pub fn size(&self) -> Option<f64> {
        first(self.fields, self.config.list("size")).and_then(Value::as_f64)
    }

    /// Returns true if the configuration lists a node type under a name.
    pub fn is_of_type(&self, list: &str, kind: &str) -> bool {
        self.config.contains_word(list, kind)
    }

    /// Returns the texts and numbers that the node states under the names of a list: as fields or as attributes.
    pub fn stated(&self, list: &str) -> Vec<String> {
        self.config.stated_texts(self.fields, list)
    }

    /// Returns true for a word of a closed position.
    pub fn is_closed_value(&self, word: &str) -> bool {
        self.has_value("closed_values", word)
    }

    /// Returns true if the configuration lists a word under a name, in any spelling: `normally closed`, `N.C.`.
    pub fn has_value(&self, list: &str, word: &str) -> bool {
        self.config.has_spelling(list, word)
    }

    /// Returns the mark of the lock that a word states: `LO`, `LC`, `CSO` or `CSC`.
    pub fn lock_mark(&self, word: &str) -> Option<&'static str> {
        self.config.lock_mark(word)
    }

    /// Returns the node type.
    pub fn kind(&self) -> Option<&'a str> {
        first_text(self.fields, self.config.list("node_type"))
    }

    /// Returns the node type and the parts of the class as written: labels for a graph database.
    pub fn labels(&self) -> impl Iterator<Item = &'a str> {
        [self.kind(), self.class_name()].into_iter().flatten().flat_map(|text| text.split('.'))
    }

    /// Returns the class as written.
    pub fn class_name(&self) -> Option<&'a str> {
        first_text(self.fields, self.config.list("class_fields"))
    }

    /// Returns all class information of the node, in lower case. Labels and the like are used only if there is nothing
    /// else, since they may be any text.
    pub fn class(&self) -> String {
        let names = || self.config.list("class_fields").iter().map(String::as_str);
        let value = |key: &str| self.fields.get(key).and_then(Value::as_str);
        // A field that the document configures itself holds only the class.
        let is_specific = |key: &&str| CLASSES.contains(key) || !vocabulary::CLASSES.contains(key);
        let specific: Vec<&str> = names().filter(is_specific).filter_map(value).collect();
        let class = match specific.is_empty() {
            true => names().find_map(value).unwrap_or_default().into(),
            false => specific.join(" "),
        };
        lowercase_words(&class)
    }

    /// Returns true for a group that is not drawn itself: a line, a run, a loop, a unit.
    pub fn is_group(&self) -> bool {
        let kind = self.kind().unwrap_or_default();
        let types = ["line_types", "segment_types", "loop_types"];
        vocabulary::contains(vocabulary::GROUP_TYPES, kind)
            || types.iter().any(|list| self.config.contains_word(list, kind))
    }

    /// Returns the line it belongs to.
    pub fn line(&self) -> Option<&'a str> {
        first_text(self.fields, self.config.list("line"))
    }
}

/// Role of an edge.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum EdgeRole {
    /// Flow.
    Flow,
    /// Equipment and its parts.
    Part,
    /// A group and its members.
    Member,
    /// A signal.
    Signal,
    /// Any other role.
    Other,
}

/// Roles of edges and their configured kinds.
const EDGE_ROLES: &[(EdgeRole, &str)] = &[
    (EdgeRole::Flow, "flow_kinds"),
    (EdgeRole::Part, "port_kinds"),
    (EdgeRole::Member, "member_kinds"),
    (EdgeRole::Member, "member_kinds_reversed"),
    (EdgeRole::Member, "segment_ends"),
    (EdgeRole::Signal, "signal_kinds"),
];

/// Flow direction of an edge.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    Forward,
    Backward,
    /// Both directions, or unknown.
    Undirected,
}

impl<'a> Edge<'a> {
    /// Returns the edge type.
    pub fn kind(&self) -> &'a str {
        first_text(self.fields, self.config.list("edge_kind")).unwrap_or_default()
    }

    /// Returns the id in the document.
    pub fn id(&self) -> Option<Value<'a>> {
        first(self.fields, self.config.list("edge_id"))
    }

    /// Returns the line it is a part of.
    pub fn line(&self) -> Option<&'a str> {
        first_text(self.fields, self.config.list("line"))
    }

    /// Returns the class; empty if there is none.
    pub fn class(&self) -> &'a str {
        first_text(self.fields, self.config.list("edge_class")).unwrap_or_default()
    }

    /// Returns the nominal diameter.
    pub fn size(&self) -> Option<f64> {
        first(self.fields, self.config.list("size")).and_then(Value::as_f64)
    }

    /// Returns whether a field states the flow direction.
    pub fn states_direction(&self) -> bool {
        first(self.fields, self.config.list("direction_field"))
            .is_some_and(|value| value.as_str().is_none_or(|word| !word.trim().is_empty()))
    }

    /// Returns the flow direction.
    pub fn direction(&self) -> Direction {
        let word = first_text(self.fields, self.config.list("direction_field")).unwrap_or_default();
        if self.config.contains_word("undirected_values", word) {
            Direction::Undirected
        } else if self.config.contains_word("backward_values", word) {
            Direction::Backward
        } else {
            Direction::Forward
        }
    }

    /// Returns the role.
    pub fn role(&self) -> EdgeRole {
        let class = self.class();
        if class.starts_with("signal_line") {
            return EdgeRole::Signal;
        }
        let kind = self.kind();
        let row = EDGE_ROLES.iter().find(|(_, list)| self.config.contains_word(list, kind));
        match row {
            // An association with a class is not a signal; signal classes are handled above.
            Some((EdgeRole::Signal, _)) if !class.is_empty() => EdgeRole::Other,
            Some((role, _)) => *role,
            // An untyped edge of another tool is a connection.
            None if kind.is_empty() => EdgeRole::Flow,
            None => EdgeRole::Other,
        }
    }
}

/// Returns a class in lower case; for one written `LikeThis`, its words too.
fn lowercase_words(class: &str) -> String {
    let lowercase = class.to_lowercase();
    let mut words = String::with_capacity(class.len() + 4);
    let mut previous = ' ';
    for c in class.chars() {
        if c.is_uppercase() && previous.is_lowercase() {
            words.push('_');
        }
        words.extend(c.to_lowercase());
        previous = c;
    }
    if words == lowercase { lowercase } else { format!("{lowercase} {words}") }
}

fn first<'a>(object: Object<'a>, keys: &[String]) -> Option<Value<'a>> {
    keys.iter().find_map(|key| object.get(key).filter(|value| !value.is_null()))
}

fn first_text<'a>(object: Object<'a>, keys: &[String]) -> Option<&'a str> {
    keys.iter().find_map(|key| object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()))
}

/// Returns a value for display: strings without quotes, the empty string for null, arrays and objects as JSON.
pub fn text(value: Value<'_>) -> String {
    match value {
        Value::Undefined | Value::Null => String::new(),
        Value::String(text) => text.to_owned(),
        other => json(other),
    }
}

/// Returns a value as JSON text. For single fields only.
pub fn json(value: Value<'_>) -> String {
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use pidq_core::Graph;

    use super::*;

    #[track_caller]
    fn check(json: &str, nodes: &[&str], edges: &[&str]) {
        let graph = Graph::from_json(json).expect("valid JSON");
        let model = Model::from_value(graph.root()).expect("it is a graph");
        assert_eq!(model.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), nodes);
        let ends = model.edges.iter().map(|edge| {
            let missing_mark = |end: &Endpoint| if end.node.is_some() { "" } else { "?" };
            format!("{}{} > {}{}", edge.from.name, missing_mark(&edge.from), edge.to.name, missing_mark(&edge.to))
        });
        assert_eq!(ends.collect::<Vec<_>>(), edges);
    }

    #[test]
    fn ends_are_ids_or_objects_under_several_keys() {
        check(
            r#"{"pid_graph": {"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"from": "a", "to": {"id": "b"}}]}}"#,
            &["a", "b"],
            &["a > b"],
        );
        check(r#"{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}"#, &["1", "2"], &["1 > 2"]);
    }

    #[test]
    fn names_are_unique_and_missing_ends_are_marked() {
        check(r#"[{"id": 1}, {"id": "1"}, {}, {"id": "1"}]"#, &["1", "1#2", "node-3", "1#3"], &[]);
        check(
            r#"{"nodes": [{"id": 1}, {"id": "1"}], "edges": [{"from": "1", "to": 1}, {"from": 1, "to": "x"}, {}]}"#,
            &["1", "1#2"],
            &["1#2 > 1", "1 > x?", "nowhere? > nowhere?"],
        );
    }

    #[test]
    fn a_selection_includes_the_connecting_parts() {
        let json = r#"{"nodes": [{"id": "T"}, {"id": "T-N1"}, {"id": "T-N2"}, {"id": "V"}, {"id": "P"}], "edges": [
            {"edge_type": "physically_has_a", "from": "T", "to": "T-N1"},
            {"edge_type": "physically_has_a", "from": "T", "to": "T-N2"},
            {"edge_type": "flow", "from": "T-N1", "to": "V"}, {"edge_type": "flow", "from": "V", "to": "P"}]}"#;
        let graph = Graph::from_json(json).expect("valid JSON");
        let mut model = Model::from_value(graph.root()).expect("it is a graph");
        model.retain(&["T", "V"].map(String::from).into());
        assert_eq!(model.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["T", "T-N1", "V"]);
        let ends: Vec<_> = model.edges.iter().map(|edge| (edge.from.node, edge.to.node)).collect();
        assert_eq!(ends, [(Some(0), Some(1)), (Some(1), Some(2))]);
    }

    #[test]
    fn values_without_nodes_are_rejected() {
        for json in ["1", "{}", r#"{"pid_graph": {}}"#, r#"{"nodes": 1}"#] {
            let graph = Graph::from_json(json).expect("valid JSON");
            assert_eq!(Model::from_value(graph.root()).err().map(|error| error.code()), Some(Code::NotGraph), "{json}");
        }
    }
}

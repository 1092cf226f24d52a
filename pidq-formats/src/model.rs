//! Nodes and edges of a document, as the exports see them: names that are unique, ends that were looked up.
//!
//! Field names and words are those of the engine's vocabulary, or what the document says of them in `metadata.topology`.
//! What a field means for the flow is not known here.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use pidq_core::{Array, Object, TopologyConfig, Value, vocabulary};

/// Keys of the two ends, tried in this order: the first pair that an edge has both of.
pub use pidq_core::vocabulary::ENDPOINTS as ENDS;

use crate::error::{Code, Error, Result};

/// A graph that is being exported.
pub struct Model<'a> {
    pub nodes: Vec<Node<'a>>,
    pub edges: Vec<Edge<'a>>,
    pub metadata: Option<Object<'a>>,
    /// Names of ends that name no node, in the order in which they came.
    pub ghosts: Vec<String>,
    /// The numbers of lines by the ids of their nodes.
    lines: HashMap<String, &'a str>,
    /// What the fields and words of the document are called.
    pub words: Rc<TopologyConfig>,
}

/// A node, with a name that no other node has.
pub struct Node<'a> {
    pub name: String,
    pub fields: Object<'a>,
    words: Rc<TopologyConfig>,
}

/// An edge; its ends by name, and by place where they are nodes.
pub struct Edge<'a> {
    pub fields: Object<'a>,
    pub from: End,
    pub to: End,
    words: Rc<TopologyConfig>,
}

/// An end of an edge.
#[derive(Clone, Debug)]
pub struct End {
    pub name: String,
    pub node: Option<usize>,
}

/// Fields that say of what class a node is and hold nothing else; the others of the vocabulary may be any text.
const CLASSES: &[&str] = &["node_classification", "component_class", "sub_class", "class"];

impl<'a> Model<'a> {
    /// The graph of a document: under `pid_graph`, at the top, or a list of nodes.
    ///
    /// # Errors
    /// `PQ6003` when there is none.
    pub fn of(value: Value<'a>) -> Result<Model<'a>> {
        let words = Rc::new(TopologyConfig::of(value));
        let (nodes, edges, metadata) = parts(value, &words).ok_or_else(|| {
            Error::new(Code::NotGraph, "the value has no nodes: give a document with `pid_graph`, or `{nodes, edges}`")
        })?;
        let mut names = Names::new(&words);
        let nodes: Vec<Node<'a>> = objects(nodes).map(|fields| names.node(fields)).collect();
        let mut ghosts = Vec::new();
        let edges = edges.map(|edges| objects(edges).map(|fields| names.edge(fields, &mut ghosts)).collect());
        let lines = nodes.iter().filter(|node| node.kind().is_some_and(|kind| words.lists_word("line_types", kind)));
        let lines = lines.filter_map(|line| Some((text(line.id()?), line.tag()?))).collect();
        Ok(Model { nodes, edges: edges.unwrap_or_default(), metadata, ghosts, lines, words })
    }
}

impl Model<'_> {
    /// The number of a line that items and pipes name: by this number, or by the id of its node.
    pub fn line_called<'m>(&'m self, name: &'m str) -> &'m str {
        self.lines.get(name).copied().unwrap_or(name)
    }

    /// Keeps the nodes with these ids, what has them as a part, parts that lead from one kept node to another, and the
    /// edges between.
    pub fn keep(&mut self, ids: &BTreeSet<String>) {
        let is_named = |node: &Node<'_>| node.id().is_some_and(|id| ids.contains(&text(id)));
        let mut kept: Vec<bool> = self.nodes.iter().map(is_named).collect();
        self.keep_parts(&mut kept);
        let mut place = 0;
        let places: Vec<Option<usize>> = kept
            .iter()
            .map(|kept| {
                place += usize::from(*kept);
                kept.then(|| place - 1)
            })
            .collect();
        let mut flags = kept.iter();
        self.nodes.retain(|_| flags.next().copied().unwrap_or(false));
        for end in self.edges.iter_mut().flat_map(|edge| [&mut edge.from, &mut edge.to]) {
            end.node = end.node.and_then(|node| places[node]);
        }
        self.edges.retain(|edge| edge.from.node.is_some() && edge.to.node.is_some());
        self.ghosts.clear();
    }

    fn keep_parts(&self, kept: &mut [bool]) {
        let pairs = |purpose: Purpose| {
            let edges = self.edges.iter().filter(move |edge| edge.purpose() == purpose);
            edges.filter_map(|edge| Some((edge.from.node?, edge.to.node?)))
        };
        let owners: Vec<usize> = pairs(Purpose::Part).filter(|(_, part)| kept[*part]).map(|(owner, _)| owner).collect();
        owners.into_iter().for_each(|owner| kept[owner] = true);
        let parts: HashSet<usize> =
            pairs(Purpose::Part).filter(|(owner, _)| kept[*owner]).map(|(_, part)| part).collect();
        let is_in = |node: usize| kept[node] || parts.contains(&node);
        let leading: Vec<[usize; 2]> =
            pairs(Purpose::Flow).filter(|(from, to)| is_in(*from) && is_in(*to)).map(|(from, to)| [from, to]).collect();
        leading.into_iter().flatten().for_each(|node| kept[node] = true);
    }
}

/// How many nodes and edges a graph has, or rows a list.
pub fn items(value: Value<'_>) -> usize {
    let parts = parts(value, &TopologyConfig::of(value));
    parts.map_or(0, |(nodes, edges, _)| nodes.len() + edges.map_or(0, Array::len))
}

type Parts<'a> = (Array<'a>, Option<Array<'a>>, Option<Object<'a>>);

fn parts<'a>(value: Value<'a>, words: &TopologyConfig) -> Option<Parts<'a>> {
    if let Value::Array(list) = value {
        return Some((list, None, None));
    }
    // A part of a drawing keeps what the drawing says of itself, and has its nodes where parts have them.
    let at = |key| words.at(key, value).or_else(|| TopologyConfig::default().at(key, value));
    let list = |key| at(key).and_then(Value::as_array);
    let nodes = list("paths.nodes")?;
    // NetworkX calls what is known of the whole graph so.
    let graph = || value.as_object()?.get("graph");
    let metadata = words.at("paths.metadata", value).or_else(graph).and_then(Value::as_object);
    Some((nodes, list("paths.edges"), metadata))
}

fn objects<'a>(list: Array<'a>) -> impl Iterator<Item = Object<'a>> {
    list.iter().filter_map(Value::as_object)
}

/// The names that were given. `1` and `"1"` are two ids; the second one gets another name.
struct Names {
    words: Rc<TopologyConfig>,
    taken: HashSet<String>,
    numbers: HashMap<String, usize>,
    of_id: HashMap<String, (usize, String)>,
    count: usize,
}

impl Names {
    fn new(words: &Rc<TopologyConfig>) -> Names {
        let (taken, numbers, of_id) = (HashSet::new(), HashMap::new(), HashMap::new());
        Names { words: words.clone(), taken, numbers, of_id, count: 0 }
    }

    fn node<'a>(&mut self, fields: Object<'a>) -> Node<'a> {
        let id = first(fields, self.words.list("node_id"));
        let wanted = id.map_or_else(|| format!("node-{}", self.count + 1), text);
        let name = self.free(wanted);
        if let Some(id) = id {
            // An id that comes twice means the first node.
            self.of_id.entry(json(id)).or_insert_with(|| (self.count, name.clone()));
        }
        self.count += 1;
        Node { name, fields, words: self.words.clone() }
    }

    fn free(&mut self, wanted: String) -> String {
        if self.taken.insert(wanted.clone()) {
            return wanted;
        }
        // Numbers go on where they stopped, so that many equal ids do not take the square of their number.
        let number = self.numbers.entry(wanted.clone()).or_insert(1);
        loop {
            *number += 1;
            let name = format!("{wanted}#{number}");
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }

    fn edge<'a>(&mut self, fields: Object<'a>, ghosts: &mut Vec<String>) -> Edge<'a> {
        let words = self.words.clone();
        let pair = words.ends().iter().find(|pair| pair.iter().all(|key| fields.get(key).is_some()));
        let mut end = |at: usize| self.end(pair.and_then(|pair| fields.get(&pair[at])), ghosts);
        let (from, to) = (end(0), end(1));
        Edge { fields, from, to, words }
    }

    /// An end is an id, or an object that has one.
    fn end(&mut self, value: Option<Value<'_>>, ghosts: &mut Vec<String>) -> End {
        let id = match value {
            Some(Value::Object(node)) => first(node, self.words.list("endpoint_id")),
            other => other,
        };
        let id = id.unwrap_or(Value::Null);
        if let Some((node, name)) = self.of_id.get(&json(id)) {
            return End { name: name.clone(), node: Some(*node) };
        }
        let name = if id.is_null() { "nowhere".into() } else { text(id) };
        if self.taken.insert(name.clone()) {
            ghosts.push(name.clone());
        }
        End { name, node: None }
    }
}

impl<'a> Node<'a> {
    /// The id that the document has for it.
    pub fn id(&self) -> Option<Value<'a>> {
        first(self.fields, self.words.list("node_id"))
    }

    /// What the drawing calls it.
    pub fn tag(&self) -> Option<&'a str> {
        words(self.fields, self.words.list("tag"))
    }

    /// What people call it: tag, label, or its name.
    pub fn title(&self) -> String {
        let label = || self.fields.get("label").and_then(Value::as_str).filter(|label| !label.is_empty());
        self.tag().or_else(label).unwrap_or(&self.name).to_owned()
    }

    /// What sort of node it is.
    pub fn kind(&self) -> Option<&'a str> {
        words(self.fields, self.words.list("node_type"))
    }

    /// Its sort and the parts of its class, as they are written: the labels of a graph database.
    pub fn labels(&self) -> impl Iterator<Item = &'a str> {
        [self.kind(), self.class_name()].into_iter().flatten().flat_map(|text| text.split('.'))
    }

    /// Its class, as it is written.
    pub fn class_name(&self) -> Option<&'a str> {
        words(self.fields, self.words.list("class_fields"))
    }

    /// All that the node says about its class, in lower case. A label and the like say it only where nothing else does:
    /// on drawings they are any text.
    pub fn class(&self) -> String {
        let names = || self.words.list("class_fields").iter().map(String::as_str);
        let value = |key: &str| self.fields.get(key).and_then(Value::as_str);
        // A name that the document gives itself is meant for nothing else.
        let is_telling = |key: &&str| CLASSES.contains(key) || !vocabulary::CLASSES.contains(key);
        let telling: Vec<&str> = names().filter(is_telling).filter_map(value).collect();
        let class = match telling.is_empty() {
            true => names().find_map(value).unwrap_or_default().into(),
            false => telling.join(" "),
        };
        in_words(&class)
    }

    /// Whether it groups others and is nothing on the drawing: a line, a run, a loop, a unit.
    pub fn is_group(&self) -> bool {
        let kind = self.kind().unwrap_or_default();
        let types = ["line_types", "segment_types", "loop_types"];
        vocabulary::has(vocabulary::GROUP_TYPES, kind) || types.iter().any(|list| self.words.lists_word(list, kind))
    }

    /// The line that it is on.
    pub fn line(&self) -> Option<&'a str> {
        words(self.fields, self.words.list("line"))
    }
}

/// What an edge is for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Purpose {
    /// Something flows.
    Flow,
    /// Equipment and what belongs to it.
    Part,
    /// A group and its members.
    Member,
    /// A signal.
    Signal,
    /// Anything else.
    Other,
}

/// What edges are for, and the list of their kinds.
const PURPOSES: &[(Purpose, &str)] = &[
    (Purpose::Flow, "flow_kinds"),
    (Purpose::Part, "port_kinds"),
    (Purpose::Member, "member_kinds"),
    (Purpose::Member, "member_kinds_reversed"),
    (Purpose::Member, "segment_ends"),
    (Purpose::Signal, "signal_kinds"),
];

/// Which way something flows along an edge.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Direction {
    Forward,
    Backward,
    /// Both ways, or nobody knows.
    Open,
}

impl<'a> Edge<'a> {
    /// The type.
    pub fn kind(&self) -> &'a str {
        words(self.fields, self.words.list("edge_kind")).unwrap_or_default()
    }

    /// The id that the document has for it.
    pub fn id(&self) -> Option<Value<'a>> {
        first(self.fields, self.words.list("edge_id"))
    }

    /// The line that it is a part of.
    pub fn line(&self) -> Option<&'a str> {
        words(self.fields, self.words.list("line"))
    }

    /// Which way something flows along it.
    pub fn direction(&self) -> Direction {
        let word = words(self.fields, self.words.list("direction_field")).unwrap_or_default();
        if self.words.lists_word("undirected_values", word) {
            Direction::Open
        } else if self.words.lists_word("backward_values", word) {
            Direction::Backward
        } else {
            Direction::Forward
        }
    }

    /// What it is for.
    pub fn purpose(&self) -> Purpose {
        let class = words(self.fields, self.words.list("edge_class")).unwrap_or_default();
        if class.starts_with("signal_line") {
            return Purpose::Signal;
        }
        let kind = self.kind();
        let row = PURPOSES.iter().find(|(_, list)| self.words.lists_word(list, kind));
        match row {
            // An association is what its class says, and that it is a signal stands above.
            Some((Purpose::Signal, _)) if !class.is_empty() => Purpose::Other,
            Some((purpose, _)) => *purpose,
            // A plain edge of another tool joins things.
            None if kind.is_empty() => Purpose::Flow,
            None => Purpose::Other,
        }
    }
}

/// A class in lower case; of one that is written `LikeThis`, its words as well.
fn in_words(class: &str) -> String {
    let whole = class.to_lowercase();
    let mut words = String::with_capacity(class.len() + 4);
    let mut before = ' ';
    for c in class.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            words.push('_');
        }
        words.extend(c.to_lowercase());
        before = c;
    }
    if words == whole { whole } else { format!("{whole} {words}") }
}

fn first<'a>(object: Object<'a>, keys: &[String]) -> Option<Value<'a>> {
    keys.iter().find_map(|key| object.get(key).filter(|value| !value.is_null()))
}

fn words<'a>(object: Object<'a>, keys: &[String]) -> Option<&'a str> {
    keys.iter().find_map(|key| object.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()))
}

/// A value as people write it: texts without quotes, nothing for null, lists and objects as JSON.
pub fn text(value: Value<'_>) -> String {
    match value {
        Value::Undefined | Value::Null => String::new(),
        Value::String(text) => text.to_owned(),
        other => json(other),
    }
}

/// A value as JSON text. Only called for what one field holds.
pub fn json(value: Value<'_>) -> String {
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use pidq_core::Graph;

    use super::*;

    #[track_caller]
    fn check(json: &str, nodes: &[&str], edges: &[&str]) {
        let graph = Graph::from_json(json).expect("it is JSON");
        let model = Model::of(graph.root()).expect("it is a graph");
        assert_eq!(model.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), nodes);
        let ends = model.edges.iter().map(|edge| {
            let mark = |end: &End| if end.node.is_some() { "" } else { "?" };
            format!("{}{} > {}{}", edge.from.name, mark(&edge.from), edge.to.name, mark(&edge.to))
        });
        assert_eq!(ends.collect::<Vec<_>>(), edges);
    }

    #[test]
    fn ends_are_ids_or_objects_under_many_names() {
        check(
            r#"{"pid_graph": {"nodes": [{"id": "a"}, {"id": "b"}], "edges": [{"from": "a", "to": {"id": "b"}}]}}"#,
            &["a", "b"],
            &["a > b"],
        );
        check(r#"{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2}]}"#, &["1", "2"], &["1 > 2"]);
    }

    #[test]
    fn names_are_unique_and_ends_that_name_nothing_are_known() {
        check(r#"[{"id": 1}, {"id": "1"}, {}, {"id": "1"}]"#, &["1", "1#2", "node-3", "1#3"], &[]);
        check(
            r#"{"nodes": [{"id": 1}, {"id": "1"}], "edges": [{"from": "1", "to": 1}, {"from": 1, "to": "x"}, {}]}"#,
            &["1", "1#2"],
            &["1#2 > 1", "1 > x?", "nowhere? > nowhere?"],
        );
    }

    #[test]
    fn a_selection_has_the_parts_that_lead_from_one_thing_to_another() {
        let json = r#"{"nodes": [{"id": "T"}, {"id": "T-N1"}, {"id": "T-N2"}, {"id": "V"}, {"id": "P"}], "edges": [
            {"edge_type": "physically_has_a", "from": "T", "to": "T-N1"},
            {"edge_type": "physically_has_a", "from": "T", "to": "T-N2"},
            {"edge_type": "flow", "from": "T-N1", "to": "V"}, {"edge_type": "flow", "from": "V", "to": "P"}]}"#;
        let graph = Graph::from_json(json).expect("it is JSON");
        let mut model = Model::of(graph.root()).expect("it is a graph");
        model.keep(&["T", "V"].map(String::from).into());
        assert_eq!(model.nodes.iter().map(|node| node.name.as_str()).collect::<Vec<_>>(), ["T", "T-N1", "V"]);
        let ends: Vec<_> = model.edges.iter().map(|edge| (edge.from.node, edge.to.node)).collect();
        assert_eq!(ends, [(Some(0), Some(1)), (Some(1), Some(2))]);
    }

    #[test]
    fn what_has_no_nodes_is_no_graph() {
        for json in ["1", "{}", r#"{"pid_graph": {}}"#, r#"{"nodes": 1}"#] {
            let graph = Graph::from_json(json).expect("it is JSON");
            assert_eq!(Model::of(graph.root()).err().map(|error| error.code()), Some(Code::NotGraph), "{json}");
        }
    }
}

//! Nodes and edges of a document, as the exports see them: names that are unique, ends that were looked up.
//!
//! Field names and words are those of the engine's vocabulary. What a field means for the flow is not known here.

use std::collections::{BTreeSet, HashMap, HashSet};

use pidq_core::vocabulary::{self, EDGE_KINDS, NODE_IDS, TAGS};
use pidq_core::{Array, Object, Value};

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
}

/// A node, with a name that no other node has.
pub struct Node<'a> {
    pub name: String,
    pub fields: Object<'a>,
}

/// An edge; its ends by name, and by place where they are nodes.
pub struct Edge<'a> {
    pub fields: Object<'a>,
    pub from: End,
    pub to: End,
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
        let (nodes, edges, metadata) = parts(value).ok_or_else(|| {
            Error::new(Code::NotGraph, "the value has no nodes: give a document with `pid_graph`, or `{nodes, edges}`")
        })?;
        let mut names = Names::default();
        let nodes: Vec<Node<'a>> = objects(nodes).map(|fields| names.node(fields)).collect();
        let mut ghosts = Vec::new();
        let edges = edges.map(|edges| objects(edges).map(|fields| names.edge(fields, &mut ghosts)).collect());
        Ok(Model { nodes, edges: edges.unwrap_or_default(), metadata, ghosts })
    }
}

impl Model<'_> {
    /// Keeps the nodes with these ids, what has them as a part, parts that lead from one kept node to another, and the
    /// edges between.
    pub fn keep(&mut self, ids: &BTreeSet<String>) {
        let is_named = |node: &Node<'_>| first(node.fields, NODE_IDS).is_some_and(|id| ids.contains(&text(id)));
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

type Parts<'a> = (Array<'a>, Option<Array<'a>>, Option<Object<'a>>);

fn parts(value: Value<'_>) -> Option<Parts<'_>> {
    if let Value::Array(list) = value {
        return Some((list, None, None));
    }
    let document = value.as_object()?;
    let graph = document.get("pid_graph").and_then(Value::as_object).unwrap_or(document);
    let nodes = graph.get("nodes").and_then(Value::as_array)?;
    let edges = graph.get("edges").or_else(|| graph.get("links")).and_then(Value::as_array);
    let metadata = graph.get("metadata").or_else(|| graph.get("graph")).and_then(Value::as_object);
    Some((nodes, edges, metadata))
}

fn objects<'a>(list: Array<'a>) -> impl Iterator<Item = Object<'a>> {
    list.iter().filter_map(Value::as_object)
}

/// The names that were given. `1` and `"1"` are two ids; the second one gets another name.
#[derive(Default)]
struct Names {
    taken: HashSet<String>,
    numbers: HashMap<String, usize>,
    of_id: HashMap<String, (usize, String)>,
    count: usize,
}

impl Names {
    fn node<'a>(&mut self, fields: Object<'a>) -> Node<'a> {
        let id = first(fields, NODE_IDS);
        let wanted = id.map_or_else(|| format!("node-{}", self.count + 1), text);
        let name = self.free(wanted);
        if let Some(id) = id {
            // An id that comes twice means the first node.
            self.of_id.entry(json(id)).or_insert_with(|| (self.count, name.clone()));
        }
        self.count += 1;
        Node { name, fields }
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
        let pair = ENDS.iter().find(|pair| pair.iter().all(|key| fields.get(key).is_some()));
        let [from, to] = pair.unwrap_or(&ENDS[0]).map(|key| self.end(fields.get(key), ghosts));
        Edge { fields, from, to }
    }

    /// An end is an id, or an object that has one.
    fn end(&mut self, value: Option<Value<'_>>, ghosts: &mut Vec<String>) -> End {
        let id = match value {
            Some(Value::Object(node)) => first(node, NODE_IDS),
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
    /// What people call it: tag, label, or its name.
    pub fn title(&self) -> String {
        let label = || self.fields.get("label").and_then(Value::as_str).filter(|label| !label.is_empty());
        words(self.fields, TAGS).or_else(label).unwrap_or(&self.name).to_owned()
    }

    /// All that the node says about its class, in lower case. A label and the like say it only where nothing else does:
    /// on drawings they are any text.
    pub fn class(&self) -> String {
        let value = |key: &&str| self.fields.get(key).and_then(Value::as_str);
        let values: Vec<&str> = CLASSES.iter().filter_map(value).collect();
        let class = if values.is_empty() {
            vocabulary::CLASSES.iter().find_map(value).unwrap_or_default().into()
        } else {
            values.join(" ")
        };
        class.to_lowercase()
    }

    /// Whether it groups others and is nothing on the drawing: a line, a run, a loop, a unit.
    pub fn is_group(&self) -> bool {
        use vocabulary::{GROUP_TYPES, LINE_TYPES, LOOP_TYPES, SEGMENT_TYPES};
        let kind = words(self.fields, vocabulary::NODE_TYPES).unwrap_or_default();
        [GROUP_TYPES, LINE_TYPES, LOOP_TYPES, SEGMENT_TYPES].iter().any(|types| vocabulary::has(types, kind))
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

/// Edge types, by what they are for.
const PURPOSES: &[(Purpose, &[&str])] = &[
    (Purpose::Flow, vocabulary::FLOW),
    (Purpose::Part, vocabulary::PARTS),
    (Purpose::Member, vocabulary::MEMBERS),
    (Purpose::Member, vocabulary::MEMBERS_REVERSED),
    (Purpose::Member, vocabulary::SEGMENT_ENDS),
    (Purpose::Signal, vocabulary::SIGNALS),
];

impl Edge<'_> {
    /// The type.
    pub fn kind(&self) -> &str {
        words(self.fields, EDGE_KINDS).unwrap_or_default()
    }

    /// What it is for.
    pub fn purpose(&self) -> Purpose {
        let class = words(self.fields, vocabulary::EDGE_CLASSES).unwrap_or_default();
        if class.starts_with("signal_line") {
            return Purpose::Signal;
        }
        let kind = self.kind();
        let row = PURPOSES.iter().find(|(_, kinds)| vocabulary::has(kinds, kind));
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

fn first<'a>(object: Object<'a>, keys: &[&str]) -> Option<Value<'a>> {
    keys.iter().find_map(|key| object.get(key).filter(|value| !value.is_null()))
}

fn words<'a>(object: Object<'a>, keys: &[&str]) -> Option<&'a str> {
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

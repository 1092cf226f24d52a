//! Reader of P&ID graphs: describes each item in sentences that an engineer would search for, one paragraph per item.
//!
//! Field names and classes are those of the engine's vocabulary. JSON that is not a valid graph is read as plain JSON.

use std::collections::HashMap;

use pidq_core::vocabulary::{
    self, CLASSES, EDGE_CLASSES, EDGE_KINDS, ENDPOINTS, NODE_IDS, NODE_TYPES, SEGMENT_TYPES, TAGS,
};
use pidq_core::{Array, Graph, Object, Value};

use crate::formats::json;
use crate::sniff::{Confidence, Content};
use crate::text_sink::{TextSink, one_line};
use crate::{ExtractError, Format, Source};

/// The `drawing` format.
pub const PID_GRAPH: Format = Format {
    name: "drawing",
    media_types: &["application/vnd.pidq.graph+json", "application/vnd.proteus+xml", "application/graphml+xml"],
    extensions: &["json", "xml", "graphml", "pid"],
    summary: "P&ID graphs (pid_graph JSON, Proteus XML, GraphML), described in sentences",
    sniff,
    read,
};

/// Maximum number of names in a sentence; the rest is counted.
const MAX_NAMES: usize = 40;
/// Maximum number of attributes of an item.
const MAX_ATTRIBUTES: usize = 40;
/// Maximum length of an attribute in characters.
const MAX_ATTRIBUTE_LENGTH: usize = 300;

fn sniff(content: &Content<'_>) -> Confidence {
    let Some(decoded) = content.text() else { return Confidence::No };
    let text = decoded.text.trim_start();
    let has = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    match text.as_bytes().first() {
        Some(b'<') => Confidence::certain_if(pidq_formats::Format::sniff(text.as_bytes()).is_some()),
        Some(b'{') => {
            Confidence::certain_if(has("\"nodes\"") && (has("\"pid_graph\"") || has("\"edges\"") || has("\"links\"")))
        }
        _ => Confidence::No,
    }
}

fn read(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let text = source.content.text().map_or("", |decoded| decoded.text.as_str());
    if !text.trim_start().starts_with('{') {
        return read_imported(source, sink);
    }
    match Graph::from_json(text) {
        Ok(graph) if nodes(graph.root()).is_some() => {
            sink.set_media_type("application/json");
            describe(&graph, sink)
        }
        // JSON with these fields that is not a graph is plain JSON.
        _ => {
            sink.set_media_type("application/json");
            (json::JSON.read)(source, sink)
        }
    }
}

fn read_imported(source: &Source<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let import_error = |error: pidq_formats::Error| {
        ExtractError::corrupt(format!("the drawing: {} ({})", error.message(), error.code().as_str()))
    };
    let format = pidq_formats::Format::sniff(source.content.bytes)
        .ok_or_else(|| ExtractError::corrupt("the content is not a drawing"))?;
    let imported = format.import(&[source.content.bytes]).map_err(import_error)?;
    for finding in
        imported.diagnostics.iter().filter(|finding| finding.finding.severity() == pidq_formats::Severity::Warning)
    {
        sink.warn(&finding.message);
    }
    sink.set_media_type(format.media_type);
    let graph =
        Graph::from_json(imported.json).map_err(|_| ExtractError::corrupt("the drawing is nested too deeply"))?;
    describe(&graph, sink)
}

fn graph(root: Value<'_>) -> Option<Object<'_>> {
    let document = root.as_object()?;
    Some(document.get("pid_graph").and_then(Value::as_object).unwrap_or(document))
}

fn nodes(root: Value<'_>) -> Option<Array<'_>> {
    graph(root)?.get("nodes")?.as_array()
}

fn describe(document: &Graph, sink: &mut TextSink) -> Result<(), ExtractError> {
    let Some(graph) = graph(document.root()) else { return Ok(()) };
    let drawing = Drawing::from_graph(graph);
    heading(graph, sink)?;
    for item in 0..drawing.items.len() {
        sink.end_paragraph()?;
        for sentence in drawing.sentences(item) {
            sink.push(&sentence)?;
            sink.push("\n")?;
        }
    }
    Ok(())
}

/// Writes the sentence about the drawing itself.
fn heading(graph: Object<'_>, sink: &mut TextSink) -> Result<(), ExtractError> {
    let Some(metadata) = graph.get("metadata").and_then(Value::as_object) else { return Ok(()) };
    let field = |key: &str| metadata.get(key).and_then(scalar);
    let Some(name) = field("drawing_name").or_else(|| field("title")).or_else(|| field("drawing_number")) else {
        return Ok(());
    };
    sink.set_title(&name);
    let more: Vec<String> =
        [("title", "title"), ("drawing_number", "drawing"), ("revision", "revision"), ("unit", "unit")]
            .into_iter()
            .filter_map(|(key, word)| Some(format!("{word} {}", field(key).filter(|value| *value != name)?)))
            .collect();
    let more = if more.is_empty() { String::new() } else { format!(", {}", more.join(", ")) };
    sink.push(&format!("Drawing {name}{more}.\n"))
}

/// Relation of an item to the item at the other end of an edge.
#[derive(Clone, Copy, PartialEq)]
enum Relation {
    FlowTo,
    FlowFrom,
    Part,
    PartOf,
    Member,
    MemberOf,
    SignalTo,
    SignalFrom,
    With,
}

/// Phrase of each relation, in the order of the sentences.
const RELATION_PHRASES: &[(Relation, &str)] = &[
    (Relation::PartOf, "is part of"),
    (Relation::MemberOf, "belongs to"),
    (Relation::FlowFrom, "is fed from"),
    (Relation::FlowTo, "is connected to and flows to"),
    (Relation::SignalFrom, "receives a signal from"),
    (Relation::SignalTo, "sends a signal to"),
    (Relation::With, "is associated with"),
    (Relation::Part, "has the parts"),
    (Relation::Member, "contains"),
];

/// Kinds of edges, each with the relation of the source to the target, and the reverse.
const EDGE_RELATIONS: &[(&[&str], Relation, Relation)] = &[
    (vocabulary::FLOW, Relation::FlowTo, Relation::FlowFrom),
    (vocabulary::PARTS, Relation::Part, Relation::PartOf),
    (vocabulary::MEMBERS, Relation::Member, Relation::MemberOf),
    (vocabulary::MEMBERS_REVERSED, Relation::MemberOf, Relation::Member),
    (vocabulary::SEGMENT_ENDS, Relation::With, Relation::With),
];

struct Item<'a> {
    fields: Object<'a>,
    name: String,
    relations: Vec<(Relation, usize)>,
}

struct Drawing<'a> {
    items: Vec<Item<'a>>,
}

impl<'a> Drawing<'a> {
    fn from_graph(graph: Object<'a>) -> Self {
        let list = |key: &str| {
            graph.get(key).and_then(Value::as_array).into_iter().flat_map(Array::iter).filter_map(Value::as_object)
        };
        let items: Vec<Item<'_>> =
            list("nodes").map(|fields| Item { fields, name: name(fields), relations: Vec::new() }).collect();
        let mut drawing = Drawing { items };
        let mut items_by_id = HashMap::new();
        for (index, item) in drawing.items.iter().enumerate() {
            if let Some(id) = first(item.fields, NODE_IDS) {
                // A duplicate id refers to the first item.
                items_by_id.entry(key(id)).or_insert(index);
            }
        }
        for edge in list("edges").chain(list("links")) {
            drawing.relation(edge, &items_by_id);
        }
        drawing.name_parts();
        drawing
    }

    fn relation(&mut self, edge: Object<'a>, items_by_id: &HashMap<String, usize>) {
        let item_at = |end: &str| {
            let value = edge.get(end)?;
            let id = value.as_object().map_or(Some(value), |node| first(node, NODE_IDS))?;
            items_by_id.get(&key(id)).copied()
        };
        let ends = ENDPOINTS.iter().find_map(|[from, to]| Some((item_at(from)?, item_at(to)?)));
        let Some((from, to)) = ends else { return };
        let (forward, backward) = relations(edge);
        self.items[from].relations.push((forward, to));
        self.items[to].relations.push((backward, from));
    }

    /// Prefixes the names of parts with their owner, because names such as N1 are not unique.
    fn name_parts(&mut self) {
        let owner = |item: &Item<'_>| {
            let owner =
                item.relations.iter().find(|(relation, _)| *relation == Relation::PartOf).map(|(_, owner)| *owner)?;
            let owner = &self.items[owner].name;
            (!item.name.contains(owner.as_str())).then(|| format!("{owner} {}", item.name))
        };
        let names: Vec<Option<String>> = self.items.iter().map(owner).collect();
        for (item, name) in self.items.iter_mut().zip(names) {
            item.name = name.unwrap_or_else(|| std::mem::take(&mut item.name));
        }
    }

    /// Returns the sentences about an item.
    fn sentences(&self, item: usize) -> impl Iterator<Item = String> {
        let subject = &self.items[item];
        let properties = [Some(class_sentence(subject)), attribute_sentence(subject)].into_iter().flatten();
        let relations = RELATION_PHRASES.iter().filter_map(move |(relation, words)| {
            Some(format!(
                "{} {words} {}.",
                subject.name,
                self.names(subject.relations.iter().filter(|(kind, _)| kind == relation).map(|(_, other)| *other))?
            ))
        });
        properties.chain(relations).chain(self.through_parts(subject))
    }

    /// Returns the sentences about connections through nozzles, which readers rarely search for by name.
    fn through_parts(&self, subject: &Item<'_>) -> impl Iterator<Item = String> {
        let parts: Vec<usize> = subject
            .relations
            .iter()
            .filter(|(relation, _)| *relation == Relation::Part)
            .map(|(_, part)| *part)
            .take(MAX_NAMES)
            .collect();
        let phrases = [(Relation::FlowFrom, "is fed from"), (Relation::FlowTo, "flows to")];
        let sentences = phrases.map(|(relation, words)| {
            let others = parts.iter().flat_map(|part| self.items[*part].relations.iter().take(MAX_NAMES));
            let names = self.names(others.filter(|(kind, _)| *kind == relation).map(|(_, other)| *other))?;
            Some(format!("{} {words} {names} through its parts.", subject.name))
        });
        sentences.into_iter().flatten()
    }

    fn names(&self, items: impl Iterator<Item = usize>) -> Option<String> {
        let mut names: Vec<&str> = Vec::new();
        let mut more = 0;
        for item in items {
            match self.items[item].name.as_str() {
                name if names.contains(&name) => {}
                _ if names.len() == MAX_NAMES => more += 1,
                name => names.push(name),
            }
        }
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!names.is_empty()).then(|| format!("{}{more}", names.join(", ")))
    }
}

fn relations(edge: Object<'_>) -> (Relation, Relation) {
    let word = |keys: &[&str]| first(edge, keys).and_then(|value| value.as_str()).unwrap_or_default();
    let (kind, class) = (word(EDGE_KINDS), word(EDGE_CLASSES));
    if class.starts_with("signal_line") {
        return (Relation::SignalTo, Relation::SignalFrom);
    }
    let relations = EDGE_RELATIONS
        .iter()
        .find(|(kinds, ..)| vocabulary::contains(kinds, kind))
        .map(|(_, forward, backward)| (*forward, *backward));
    match relations {
        Some(relations) => relations,
        None if kind.is_empty() => (Relation::FlowTo, Relation::FlowFrom),
        None if vocabulary::contains(vocabulary::SIGNALS, kind) && class.is_empty() => {
            (Relation::SignalTo, Relation::SignalFrom)
        }
        None => (Relation::With, Relation::With),
    }
}

/// Returns the display name of an item: its tag, or its class and id. A segment has the tag of its line.
fn name(fields: Object<'_>) -> String {
    let field = |keys: &[&str]| keys.iter().find_map(|key| fields.get(key).and_then(scalar));
    let is_segment = field(NODE_TYPES).is_some_and(|kind| vocabulary::contains(SEGMENT_TYPES, &kind));
    match (field(TAGS), field(NODE_IDS)) {
        (Some(tag), _) if is_segment => format!("Segment of {tag}"),
        (Some(tag), _) => tag,
        (None, Some(id)) => match CLASSES.iter().find_map(|key| fields.get(key).and_then(Value::as_str)) {
            Some(class) => format!("{} {id}", class_name(class)),
            None => id,
        },
        (None, None) => "an item without a name".into(),
    }
}

/// Returns the readable name of a class: `equipment.centrifugal_pump` becomes `centrifugal pump`.
fn class_name(class: &str) -> String {
    class.rsplit('.').next().unwrap_or(class).replace('_', " ")
}

/// `P-101 is a centrifugal pump (equipment.centrifugal_pump).`
fn class_sentence(item: &Item<'_>) -> String {
    let classes: Vec<&str> = CLASSES.iter().filter_map(|key| item.fields.get(key).and_then(Value::as_str)).collect();
    let mut words: Vec<String> = Vec::new();
    // Class and subclass only: `label` and other fields follow as attributes.
    for class in classes.iter().take(2) {
        let word = class_name(class);
        let is_same = |other: &str| normalized(other) == normalized(&word);
        if !words.iter().any(|other| is_same(other)) && !is_same(&item.name) {
            words.insert(0, word);
        }
    }
    let description = words.join(" ");
    let article = if description.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    match classes.first() {
        _ if words.is_empty() => format!("{} is on the drawing.", item.name),
        Some(class) if class.contains('.') => format!("{} is {article} {description} ({class}).", item.name),
        _ => format!("{} is {article} {description}.", item.name),
    }
}

/// Returns a word without white space in lower case, so that `CentrifugalPump` equals `centrifugal pump`.
fn normalized(word: &str) -> String {
    word.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Layout fields, and fields that are described elsewhere.
const EXCLUDED_FIELDS: &[&str] =
    &["position", "attributes", "x", "y", "width", "height", "bbox", "color", "rotation", "points"];

/// Substrings of keys whose values are only meaningful to programs.
const INTERNAL_KEY_PARTS: &[&str] = &["uri", "persistent", "handle", "_id", "guid", "uuid"];

/// `P-101: service feed pump, design pressure 25, rated flow 45 m³/h.`
fn attribute_sentence(item: &Item<'_>) -> Option<String> {
    let is_excluded = |key: &str| {
        let lists = [EXCLUDED_FIELDS, NODE_IDS, CLASSES, NODE_TYPES];
        lists.iter().any(|list| list.contains(&key)) || key.starts_with("orig_") || key == "tag"
    };
    let fields = item.fields.iter().filter(|(key, _)| !is_excluded(key));
    let fields = fields.filter_map(|(key, value)| attribute_text(key, value, None));
    let attributes = item.fields.get("attributes").map(attributes).unwrap_or_default();
    let all: Vec<String> = fields.chain(attributes).take(MAX_ATTRIBUTES).collect();
    (!all.is_empty()).then(|| format!("{}: {}.", item.name, all.join(", ")))
}

/// Returns the attributes of an item, which are an array of name, value and unit, or an object.
fn attributes(value: Value<'_>) -> Vec<String> {
    if let Some(fields) = value.as_object() {
        return fields
            .iter()
            .filter_map(|(key, value)| attribute_text(key, value, None))
            .take(MAX_ATTRIBUTES)
            .collect();
    }
    let list = value.as_array().into_iter().flat_map(Array::iter).filter_map(Value::as_object);
    let named =
        list.filter_map(|item| attribute_text(item.get("name")?.as_str()?, item.get("value")?, item.get("unit")));
    named.take(MAX_ATTRIBUTES).collect()
}

fn attribute_text(key: &str, value: Value<'_>, unit: Option<Value<'_>>) -> Option<String> {
    let lower = key.to_lowercase();
    if INTERNAL_KEY_PARTS.iter().any(|part| lower.contains(part)) {
        return None;
    }
    let value = scalar(value)?;
    let unit = unit.and_then(scalar).map(|unit| format!(" {unit}")).unwrap_or_default();
    let attribute = format!("{} {value}{unit}", key.replace('_', " "));
    Some(attribute.chars().take(MAX_ATTRIBUTE_LENGTH).collect())
}

/// Formats a string, number or boolean for readers.
fn scalar(value: Value<'_>) -> Option<String> {
    match value {
        Value::String(text) => {
            let line = one_line(text);
            (!line.is_empty()).then_some(line)
        }
        Value::Number(number) => Some(number.lexeme().map_or_else(|| number.value().to_string(), str::to_owned)),
        Value::Bool(value) => Some(if value { "yes" } else { "no" }.into()),
        _ => None,
    }
}

fn first<'a>(fields: Object<'a>, keys: &[&str]) -> Option<Value<'a>> {
    keys.iter().find_map(|key| fields.get(key).filter(|value| !value.is_null()))
}

/// Returns the map key of an id; `1` and `"1"` are different ids.
fn key(id: Value<'_>) -> String {
    match id {
        Value::String(text) => format!("\"{text}"),
        other => scalar(other).unwrap_or_default(),
    }
}

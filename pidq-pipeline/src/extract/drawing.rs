//! Drawings: a P&ID graph as sentences that an engineer would search for, a paragraph an item.
//!
//! Field names and words are those of the engine's vocabulary. What cannot be read as a graph is read as what it also is.

use std::collections::HashMap;

use pidq_core::vocabulary::{
    self, CLASSES, EDGE_CLASSES, EDGE_KINDS, ENDPOINTS, NODE_IDS, NODE_TYPES, SEGMENT_TYPES, TAGS,
};
use pidq_core::{Array, Graph, Object, Value};

use super::gather::Gather;
use super::look::{Fit, Look};
use super::{Failure, Format, Source, json};

/// The row.
pub const DRAWING: Format = Format {
    name: "drawing",
    media_types: &["application/vnd.pidq.graph+json", "application/vnd.proteus+xml", "application/graphml+xml"],
    extensions: &["json", "xml", "graphml", "pid"],
    summary: "P&ID graphs: pid_graph JSON, Proteus XML and GraphML, each item in sentences",
    sniff,
    read,
};

/// Names in one list of a sentence; what comes after is counted.
const MAX_NAMES: usize = 40;
/// Facts of one item.
const MAX_FACTS: usize = 40;
/// Characters of a fact.
const MAX_FACT: usize = 300;

fn sniff(look: &Look<'_>) -> Fit {
    let Some(decoded) = look.text() else { return Fit::No };
    let text = decoded.text.trim_start();
    let has = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    match text.as_bytes().first() {
        Some(b'<') => Fit::certain(pidq_formats::Format::sniff(text.as_bytes()).is_some()),
        Some(b'{') => Fit::certain(has("\"nodes\"") && (has("\"pid_graph\"") || has("\"edges\"") || has("\"links\""))),
        _ => Fit::No,
    }
}

fn read(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let text = source.look.text().map_or("", |decoded| decoded.text.as_str());
    if !text.trim_start().starts_with('{') {
        return imported(source, gather);
    }
    match Graph::from_json(text) {
        Ok(graph) if nodes(graph.root()).is_some() => {
            gather.is_of("application/json");
            describe(&graph, gather)
        }
        // JSON with these words that is no graph is JSON.
        _ => {
            gather.is_of("application/json");
            (json::JSON.read)(source, gather)
        }
    }
}

fn imported(source: &Source<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let broken = |error: pidq_formats::Error| {
        Failure::corrupt(format!("the drawing: {} ({})", error.message(), error.code().as_str()))
    };
    let format = pidq_formats::Format::sniff(source.look.bytes).ok_or_else(|| Failure::corrupt("no drawing"))?;
    let imported = format.import(&[source.look.bytes]).map_err(broken)?;
    for finding in
        imported.diagnostics.iter().filter(|finding| finding.finding.severity() == pidq_formats::Severity::Warning)
    {
        gather.warn(&finding.message);
    }
    gather.is_of(format.media_type);
    let graph = Graph::from_json(imported.json).map_err(|_| Failure::corrupt("the drawing is too deep"))?;
    describe(&graph, gather)
}

fn graph(root: Value<'_>) -> Option<Object<'_>> {
    let document = root.as_object()?;
    Some(document.get("pid_graph").and_then(Value::as_object).unwrap_or(document))
}

fn nodes(root: Value<'_>) -> Option<Array<'_>> {
    graph(root)?.get("nodes")?.as_array()
}

fn describe(document: &Graph, gather: &mut Gather) -> Result<(), Failure> {
    let Some(graph) = graph(document.root()) else { return Ok(()) };
    let sheet = Sheet::of(graph);
    heading(graph, gather)?;
    for item in 0..sheet.items.len() {
        gather.paragraph()?;
        for sentence in sheet.sentences(item) {
            gather.push(&sentence)?;
            gather.push("\n")?;
        }
    }
    Ok(())
}

/// What the drawing is.
fn heading(graph: Object<'_>, gather: &mut Gather) -> Result<(), Failure> {
    let Some(metadata) = graph.get("metadata").and_then(Value::as_object) else { return Ok(()) };
    let say = |key: &str| metadata.get(key).and_then(scalar);
    let Some(name) = say("drawing_name").or_else(|| say("title")).or_else(|| say("drawing_number")) else {
        return Ok(());
    };
    gather.title(&name);
    let more: Vec<String> =
        [("title", "title"), ("drawing_number", "drawing"), ("revision", "revision"), ("unit", "unit")]
            .into_iter()
            .filter_map(|(key, word)| Some(format!("{word} {}", say(key).filter(|value| *value != name)?)))
            .collect();
    let more = if more.is_empty() { String::new() } else { format!(", {}", more.join(", ")) };
    gather.push(&format!("Drawing {name}{more}.\n"))
}

/// What an edge means for the item at one end, and the words for it.
#[derive(Clone, Copy, PartialEq)]
enum Tie {
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

/// The words before the names, in the order of the sentences.
const TIES: &[(Tie, &str)] = &[
    (Tie::PartOf, "is part of"),
    (Tie::MemberOf, "belongs to"),
    (Tie::FlowFrom, "is fed from"),
    (Tie::FlowTo, "is connected to and flows to"),
    (Tie::SignalFrom, "receives a signal from"),
    (Tie::SignalTo, "sends a signal to"),
    (Tie::With, "is associated with"),
    (Tie::Part, "has the parts"),
    (Tie::Member, "contains"),
];

/// Kinds of edges, and what they are from the first end and from the second one.
const KINDS: &[(&[&str], Tie, Tie)] = &[
    (vocabulary::FLOW, Tie::FlowTo, Tie::FlowFrom),
    (vocabulary::PARTS, Tie::Part, Tie::PartOf),
    (vocabulary::MEMBERS, Tie::Member, Tie::MemberOf),
    (vocabulary::MEMBERS_REVERSED, Tie::MemberOf, Tie::Member),
    (vocabulary::SEGMENT_ENDS, Tie::With, Tie::With),
];

struct Item<'a> {
    fields: Object<'a>,
    name: String,
    ties: Vec<(Tie, usize)>,
}

struct Sheet<'a> {
    items: Vec<Item<'a>>,
}

impl<'a> Sheet<'a> {
    fn of(graph: Object<'a>) -> Self {
        let list = |key: &str| {
            graph.get(key).and_then(Value::as_array).into_iter().flat_map(Array::iter).filter_map(Value::as_object)
        };
        let items: Vec<Item<'_>> =
            list("nodes").map(|fields| Item { fields, name: name(fields), ties: Vec::new() }).collect();
        let mut sheet = Sheet { items };
        let mut places = HashMap::new();
        for (place, item) in sheet.items.iter().enumerate() {
            if let Some(id) = first(item.fields, NODE_IDS) {
                // An id that comes twice means the first item.
                places.entry(key(id)).or_insert(place);
            }
        }
        for edge in list("edges").chain(list("links")) {
            sheet.tie(edge, &places);
        }
        sheet.name_parts();
        sheet
    }

    fn tie(&mut self, edge: Object<'a>, places: &HashMap<String, usize>) {
        let place = |end: &str| {
            let value = edge.get(end)?;
            let id = value.as_object().map_or(Some(value), |node| first(node, NODE_IDS))?;
            places.get(&key(id)).copied()
        };
        let ends = ENDPOINTS.iter().find_map(|[from, to]| Some((place(from)?, place(to)?)));
        let Some((from, to)) = ends else { return };
        let (there, back) = ties(edge);
        self.items[from].ties.push((there, to));
        self.items[to].ties.push((back, from));
    }

    /// Parts are called after what they are parts of: there are many nozzles N1.
    fn name_parts(&mut self) {
        let owner = |item: &Item<'_>| {
            let owner = item.ties.iter().find(|(tie, _)| *tie == Tie::PartOf).map(|(_, owner)| *owner)?;
            let owner = &self.items[owner].name;
            (!item.name.contains(owner.as_str())).then(|| format!("{owner} {}", item.name))
        };
        let names: Vec<Option<String>> = self.items.iter().map(owner).collect();
        for (item, name) in self.items.iter_mut().zip(names) {
            item.name = name.unwrap_or_else(|| std::mem::take(&mut item.name));
        }
    }

    /// All that is said of an item.
    fn sentences(&self, item: usize) -> impl Iterator<Item = String> {
        let of = &self.items[item];
        let about = [Some(what(of)), facts(of)].into_iter().flatten();
        let own = TIES.iter().filter_map(move |(tie, words)| {
            Some(format!(
                "{} {words} {}.",
                of.name,
                self.names(of.ties.iter().filter(|(kind, _)| kind == tie).map(|(_, other)| *other))?
            ))
        });
        about.chain(own).chain(self.through_parts(of))
    }

    /// What an item is connected to through its nozzles: nobody searches for those.
    fn through_parts(&self, of: &Item<'_>) -> impl Iterator<Item = String> {
        let parts: Vec<usize> =
            of.ties.iter().filter(|(tie, _)| *tie == Tie::Part).map(|(_, part)| *part).take(MAX_NAMES).collect();
        let words = [(Tie::FlowFrom, "is fed from"), (Tie::FlowTo, "flows to")];
        let each = words.map(|(tie, words)| {
            let others = parts.iter().flat_map(|part| self.items[*part].ties.iter().take(MAX_NAMES));
            let names = self.names(others.filter(|(kind, _)| *kind == tie).map(|(_, other)| *other))?;
            Some(format!("{} {words} {names} through its parts.", of.name))
        });
        each.into_iter().flatten()
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

fn ties(edge: Object<'_>) -> (Tie, Tie) {
    let word = |keys: &[&str]| first(edge, keys).and_then(|value| value.as_str()).unwrap_or_default();
    let (kind, class) = (word(EDGE_KINDS), word(EDGE_CLASSES));
    if class.starts_with("signal_line") {
        return (Tie::SignalTo, Tie::SignalFrom);
    }
    let known = KINDS.iter().find(|(kinds, ..)| vocabulary::has(kinds, kind)).map(|(_, there, back)| (*there, *back));
    match known {
        Some(ties) => ties,
        None if kind.is_empty() => (Tie::FlowTo, Tie::FlowFrom),
        None if vocabulary::has(vocabulary::SIGNALS, kind) && class.is_empty() => (Tie::SignalTo, Tie::SignalFrom),
        None => (Tie::With, Tie::With),
    }
}

/// What people call an item: by its tag, or by what it is and its id. A segment has the tag of its line.
fn name(fields: Object<'_>) -> String {
    let said = |keys: &[&str]| keys.iter().find_map(|key| fields.get(key).and_then(scalar));
    let is_segment = said(NODE_TYPES).is_some_and(|kind| vocabulary::has(SEGMENT_TYPES, &kind));
    match (said(TAGS), said(NODE_IDS)) {
        (Some(tag), _) if is_segment => format!("Segment of {tag}"),
        (Some(tag), _) => tag,
        (None, Some(id)) => match CLASSES.iter().find_map(|key| fields.get(key).and_then(Value::as_str)) {
            Some(class) => format!("{} {id}", spoken(class)),
            None => id,
        },
        (None, None) => "an item without a name".into(),
    }
}

/// `equipment.centrifugal_pump` is a centrifugal pump.
fn spoken(class: &str) -> String {
    class.rsplit('.').next().unwrap_or(class).replace('_', " ")
}

/// `P-101 is a centrifugal pump (equipment.centrifugal_pump).`
fn what(item: &Item<'_>) -> String {
    let classes: Vec<&str> = CLASSES.iter().filter_map(|key| item.fields.get(key).and_then(Value::as_str)).collect();
    let mut words: Vec<String> = Vec::new();
    // The class, what it is called more closely, and no more: `label` and the like follow as facts.
    for class in classes.iter().take(2) {
        let word = spoken(class);
        let is_said = |said: &str| letters(said) == letters(&word);
        if !words.iter().any(|said| is_said(said)) && !is_said(&item.name) {
            words.insert(0, word);
        }
    }
    let what = words.join(" ");
    let article = if what.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O', 'U']) { "an" } else { "a" };
    match classes.first() {
        _ if words.is_empty() => format!("{} is on the drawing.", item.name),
        Some(class) if class.contains('.') => format!("{} is {article} {what} ({class}).", item.name),
        _ => format!("{} is {article} {what}.", item.name),
    }
}

/// `CentrifugalPump` and `centrifugal pump` are one word.
fn letters(word: &str) -> String {
    word.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Fields that say where an item is on the sheet, or what has been said.
const NO_FACTS: &[&str] =
    &["position", "attributes", "x", "y", "width", "height", "bbox", "color", "rotation", "points"];

/// Parts of keys whose values are for programs.
const FOR_PROGRAMS: &[&str] = &["uri", "persistent", "handle", "_id", "guid", "uuid"];

/// `P-101: service feed pump, design pressure 25, rated flow 45 m³/h.`
fn facts(item: &Item<'_>) -> Option<String> {
    let is_said = |key: &str| {
        let lists = [NO_FACTS, NODE_IDS, CLASSES, NODE_TYPES];
        lists.iter().any(|list| list.contains(&key)) || key.starts_with("orig_") || key == "tag"
    };
    let own = item.fields.iter().filter(|(key, _)| !is_said(key));
    let own = own.filter_map(|(key, value)| fact(key, value, None));
    let attributes = item.fields.get("attributes").map(attributes).unwrap_or_default();
    let all: Vec<String> = own.chain(attributes).take(MAX_FACTS).collect();
    (!all.is_empty()).then(|| format!("{}: {}.", item.name, all.join(", ")))
}

/// Attributes as a list of name, value and unit, or as an object.
fn attributes(value: Value<'_>) -> Vec<String> {
    if let Some(fields) = value.as_object() {
        return fields.iter().filter_map(|(key, value)| fact(key, value, None)).take(MAX_FACTS).collect();
    }
    let list = value.as_array().into_iter().flat_map(Array::iter).filter_map(Value::as_object);
    let named = list.filter_map(|each| fact(each.get("name")?.as_str()?, each.get("value")?, each.get("unit")));
    named.take(MAX_FACTS).collect()
}

fn fact(key: &str, value: Value<'_>, unit: Option<Value<'_>>) -> Option<String> {
    let lower = key.to_lowercase();
    if FOR_PROGRAMS.iter().any(|part| lower.contains(part)) {
        return None;
    }
    let value = scalar(value)?;
    let unit = unit.and_then(scalar).map(|unit| format!(" {unit}")).unwrap_or_default();
    let fact = format!("{} {value}{unit}", key.replace('_', " "));
    Some(fact.chars().take(MAX_FACT).collect())
}

/// A text, a number or a truth, as people write it.
fn scalar(value: Value<'_>) -> Option<String> {
    match value {
        Value::String(text) => {
            let line = super::spreadsheet::one_line(text);
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

/// `1` and `"1"` are two ids.
fn key(id: Value<'_>) -> String {
    match id {
        Value::String(text) => format!("\"{text}"),
        other => scalar(other).unwrap_or_default(),
    }
}

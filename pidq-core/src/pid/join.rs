//! Several sheets as one drawing, joined where an off-page connector of one meets that of another.
//!
//! Pairs are those that name each other; what is named by several or by none is listed, and nothing is guessed.

use hashbrown::{HashMap, HashSet};

use super::{Datum, Pay, Purse, flow};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::{Names, TopologyConfig};
use crate::graph::plant::Plant;
use crate::graph::roles::Role;
use crate::graph::topology::{Dir, Over};
use crate::value::{Object, Value, compare, convert, write};

/// By what connectors of two sheets are paired.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum JoinBy {
    /// By the id of the partner, or else by drawing and label.
    #[default]
    Any,
    /// By the id of the partner only.
    Link,
    /// By drawing and label only.
    Label,
}

/// An off-page connector of a sheet.
struct Connector {
    sheet: usize,
    node: NodeId,
    /// What has no id cannot be joined.
    has_id: bool,
    persistent_id: Option<String>,
    linked: Option<String>,
    drawing: Option<String>,
    label: Option<String>,
    enters: Option<bool>,
}

/// What a pair was found by.
const LINK: &str = "linked_persistent_id";
const LABEL: &str = "link_label";

/// What ids of the edges between two connectors begin with.
const JOINT: &str = "joint";

const PAIR: &[&str] = &["from", "to", "by"];
const LEFT: &[&str] = &["id", "drawing", "label", "candidates"];

/// A sheet, and what its ids begin with.
struct Sheet<'s, 'a> {
    plant: &'s Plant<'a>,
    name: &'s str,
    /// Ids of edges that are numbers, as texts.
    numbers: HashSet<String>,
}

impl<'s, 'a> Sheet<'s, 'a> {
    fn new(plant: &'s Plant<'a>, name: &'s str) -> Sheet<'s, 'a> {
        let ids = (0..plant.topology.edge_count() as u32).map(|edge| plant.of_edge(edge, Names::EdgeId));
        let numbers = ids.flatten().filter(|id| matches!(id, Value::Number(_))).map(convert::to_text).collect();
        Sheet { plant, name, numbers }
    }

    /// `sheet#id` of a node. The text `1` is another id than the number: where a sheet has both, it stays in quotes.
    fn node_id(&self, id: Value<'a>) -> String {
        let number = id.as_str().and_then(|text| text.parse().ok()).map(Value::number);
        let has_twin = number.is_some_and(|number| {
            self.plant.by_id(number).is_some() && Some(convert::to_text(number).as_str()) == id.as_str()
        });
        self.joined(id, has_twin)
    }

    fn edge_id(&self, id: Value<'a>) -> String {
        self.joined(id, id.as_str().is_some_and(|text| self.numbers.contains(text)))
    }

    fn joined(&self, id: Value<'a>, has_twin: bool) -> String {
        // A text that begins with a quote could be taken for one that was put in quotes.
        let is_quoted = has_twin || id.as_str().is_some_and(|text| text.starts_with('"'));
        let text = if is_quoted { write::to_string(id) } else { convert::to_text(id) };
        format!("{}#{text}", self.name)
    }
}

/// Joins sheets: a graph in the usual shape, whose metadata say which connectors were joined and which were not.
pub(crate) fn join<'a>(sheets: &[Plant<'a>], by: JoinBy, purse: &mut dyn Purse) -> Result<Datum<'a>> {
    let names = sheet_names(sheets);
    let mut nodes = Vec::new();
    let mut edges = Vec::new();
    let mut named = Vec::with_capacity(sheets.len());
    for (plant, name) in sheets.iter().zip(&names) {
        purse.pay((plant.topology.node_count() + plant.topology.edge_count()) as u64)?;
        let sheet = Sheet::new(plant, name);
        nodes.extend((0..plant.topology.node_count() as u32).map(|node| moved_node(&sheet, node)));
        edges.extend((0..plant.topology.edge_count() as u32).map(|edge| moved_edge(&sheet, edge)));
        named.push(sheet);
    }
    let connectors = connectors(sheets);
    let partners = partners(&connectors, &called(sheets, &names), by, purse)?;
    let spoken = sheets.iter().find(|sheet| own_topology(sheet).is_some()).or(sheets.first());
    let config = spoken.map_or(TopologyConfig::usual(), |sheet| &sheet.topology.config);
    let ends = Ends { sheets: &named, connectors: &connectors, partners: &partners };
    let (mut pairs, mut unmatched, mut ambiguous) = (Vec::new(), Vec::new(), Vec::new());
    for (at, candidates) in partners.iter().enumerate() {
        let Some((other, word)) = ends.partner(at) else {
            let row = ends.left(at, purse)?;
            if candidates.is_empty() {
                unmatched.push(row)
            } else {
                ambiguous.push(row)
            }
            continue;
        };
        if ends.goes_first(at, other) {
            let [from, to] = [at, other].map(|at| ends.id(at));
            edges.push(joint(config, &from, &to, pairs.len() + 1, ends.has_direction(at, other)));
            pairs.push(vec![Datum::Text(from), Datum::Text(to), Datum::Word(word)]);
        }
    }
    let report = [("pairs", PAIR, pairs), ("unmatched", LEFT, unmatched), ("ambiguous", LEFT, ambiguous)];
    let report = report.map(|(key, keys, rows)| (key.to_owned(), Datum::Table(keys, rows)));
    let metadata = metadata(sheets, &names, Datum::Map(report.into()), &mut |units| purse.pay(units))?;
    const KEYS: &[&str] = &["nodes", "edges", "metadata"];
    Ok(Datum::Record(KEYS, vec![Datum::List(nodes), Datum::List(edges), metadata]))
}

/// The connectors of all sheets, and whom each may be joined to.
struct Ends<'s, 'a> {
    sheets: &'s [Sheet<'s, 'a>],
    connectors: &'s [Connector],
    partners: &'s [Vec<(usize, &'static str)>],
}

impl<'a> Ends<'_, 'a> {
    fn id(&self, at: usize) -> String {
        let connector = &self.connectors[at];
        let sheet = &self.sheets[connector.sheet];
        sheet.node_id(sheet.plant.id(connector.node))
    }

    /// The one that a connector is joined to, and by what: each names the other and nobody else.
    fn partner(&self, at: usize) -> Option<(usize, &'static str)> {
        let [(other, word)] = *self.partners[at].as_slice() else { return None };
        let is_pair = is_only(&self.partners[other], at) && agree(&self.connectors[at], &self.connectors[other], word);
        is_pair.then_some((other, word))
    }

    /// Whether the flow goes from the one to the other. Where nobody says, from the first one.
    fn goes_first(&self, at: usize, other: usize) -> bool {
        match [at, other].map(|at| self.connectors[at].enters) {
            [Some(false), _] | [_, Some(true)] => true,
            directions => directions == [None, None] && at < other,
        }
    }

    fn has_direction(&self, at: usize, other: usize) -> bool {
        [at, other].iter().any(|at| self.connectors[*at].enters.is_some())
    }

    /// The row of a connector that was not joined.
    fn left(&self, at: usize, purse: &mut dyn Purse) -> Result<Vec<Datum<'a>>> {
        let connector = &self.connectors[at];
        let candidates = Datum::texts(self.partners[at].iter().map(|(other, _)| self.id(*other)).collect::<Vec<_>>());
        purse.hold(candidates.size())?;
        let own = connector.has_id.then(|| self.id(at));
        let texts = [own, connector.drawing.clone(), connector.label.clone()].map(Datum::text);
        Ok(texts.into_iter().chain([candidates]).collect())
    }
}

/// What the joined drawing says of itself: all that a graph needs to be stored, the sheets, and what became of their
/// connectors. What the first sheet with a topology of its own says of fields and words counts for all.
fn metadata<'a>(sheets: &[Plant<'a>], names: &[String], report: Datum<'a>, pay: Pay<'_>) -> Result<Datum<'a>> {
    let said = |key: &str| sheets.iter().find_map(|sheet| sheet.metadata.as_object()?.get(key));
    let titles = sheets.iter().zip(names).map(|(sheet, name)| sheet.said(Names::DrawingName).unwrap_or(name));
    let version = said("schema_version").map_or_else(|| Datum::Text("1.0.0".into()), Datum::Value);
    let mut entries = vec![
        ("drawing_name", Datum::Text(titles.collect::<Vec<_>>().join(" + "))),
        ("job_id", Datum::Text(job_id(sheets, names))),
        ("schema_version", version),
        ("change_version", Datum::Text("1".into())),
        ("sheets", Datum::List(sheets.iter().map(|sheet| Datum::Value(sheet.metadata)).collect())),
        ("joined", report),
    ];
    let mut topologies = sheets.iter().map(own_topology);
    if let Some(first) = topologies.find_map(|own| own) {
        let kept = first.iter().filter(|(key, _)| *key != "paths");
        entries.push(("topology", Datum::Map(kept.map(|(key, value)| (key.into(), Datum::Value(value))).collect())));
        let mut others = Vec::new();
        for (sheet, name) in sheets.iter().zip(names) {
            let own = own_topology(sheet).map_or(Value::Null, Value::Object);
            if !compare::is_equal(own, Value::Object(first), &mut *pay)? {
                others.push(name.clone());
            }
        }
        entries.push(("other_topologies", Datum::texts(others)));
    }
    Ok(Datum::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
}

/// What a sheet says itself of its fields and words.
fn own_topology<'a>(sheet: &Plant<'a>) -> Option<Object<'a>> {
    sheet.metadata.as_object()?.get("topology")?.as_object()
}

/// The ids of the sheets' jobs, or their names, in the letters that the id of a job may have.
fn job_id(sheets: &[Plant<'_>], names: &[String]) -> String {
    const LONGEST: usize = 128;
    let own = |sheet: &Plant<'_>| sheet.metadata.as_object()?.get("job_id").map(convert::to_text);
    let ids: Vec<String> =
        sheets.iter().zip(names).map(|(sheet, name)| own(sheet).unwrap_or_else(|| name.clone())).collect();
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "._:@-".contains(c) { c } else { '-' };
    ids.join("\n").chars().map(|c| if c == '\n' { '~' } else { allowed(c) }).take(LONGEST).collect()
}

/// What ids of a sheet begin with: its number, or its name where it has none, made different where they are not.
fn sheet_names(sheets: &[Plant<'_>]) -> Vec<String> {
    let (mut names, mut taken) = (Vec::new(), HashSet::<String>::from_iter([JOINT.into()]));
    for (at, sheet) in sheets.iter().enumerate() {
        let said = sheet.said(Names::DrawingNumber).or_else(|| sheet.said(Names::DrawingName));
        let name = said.map_or(format!("sheet-{}", at + 1), String::from);
        let others = (at + 1..).map(|number| format!("{name}~{number}"));
        names.extend(std::iter::once(name.clone()).chain(others).find(|name| taken.insert(name.clone())));
    }
    names
}

/// What connectors may call each sheet: its name, its number, and what we call it.
fn called<'n>(sheets: &[Plant<'n>], names: &'n [String]) -> Vec<[Option<&'n str>; 3]> {
    let said = |sheet: &Plant<'n>| [Names::DrawingName, Names::DrawingNumber].map(|names| sheet.said(names));
    let all = |(sheet, name): (&Plant<'n>, &'n String)| {
        let [title, number] = said(sheet);
        [title, number, Some(name.as_str())]
    };
    sheets.iter().zip(names).map(all).collect()
}

/// The fields of an object, with other values for some.
fn with<'a>(value: Value<'a>, change: impl Fn(&str, Value<'a>) -> Option<Datum<'a>>) -> Datum<'a> {
    let Some(object) = value.as_object() else { return Datum::Value(value) };
    let fields = object.iter().map(|(key, value)| (key.into(), change(key, value).unwrap_or(Datum::Value(value))));
    Datum::Map(fields.collect())
}

/// `sheet#id`, where a value is the id of a node of the sheet.
fn moved_id<'a>(sheet: &Sheet<'_, 'a>, value: Value<'a>) -> Option<Datum<'a>> {
    sheet.plant.by_id(value).map(|_| Datum::Text(sheet.node_id(value)))
}

/// The same for the id of a line. The number of a line is no id, even where an item has the same one.
fn moved_line<'a>(sheet: &Sheet<'_, 'a>, value: Value<'a>) -> Option<Datum<'a>> {
    flow::line_with_id(sheet.plant, value).map(|_| Datum::Text(sheet.node_id(value)))
}

fn moved_node<'a>(sheet: &Sheet<'_, 'a>, node: NodeId) -> Datum<'a> {
    let config = &sheet.plant.topology.config;
    let object = sheet.plant.node(node);
    let id_key = sheet.plant.key_and_field(object, Names::NodeId).map(|(key, _)| key);
    with(object, |key, value| match key {
        key if id_key == Some(key) => Some(Datum::Text(sheet.node_id(value))),
        key if config.is_key(&[Names::Parent, Names::Zone, Names::Segment], key) => moved_id(sheet, value),
        key if config.is_key(&[Names::Line], key) => moved_line(sheet, value),
        _ => None,
    })
}

fn moved_edge<'a>(sheet: &Sheet<'_, 'a>, edge: u32) -> Datum<'a> {
    let config = &sheet.plant.topology.config;
    with(sheet.plant.edge(edge), |key, value| match key {
        key if config.is_key(&[Names::EdgeId], key) => Some(Datum::Text(sheet.edge_id(value))),
        key if config.is_endpoint(key) => match value {
            Value::Object(_) => sheet.plant.field(value, Names::EndpointId).and_then(|id| moved_id(sheet, id)),
            id => moved_id(sheet, id),
        },
        key if config.is_key(&[Names::Segment], key) => moved_id(sheet, value),
        key if config.is_key(&[Names::Line], key) => moved_line(sheet, value),
        _ => None,
    })
}

/// The edge between two connectors, in the words of a config. It flows as the pipes at them do.
fn joint<'a>(config: &TopologyConfig, from: &str, to: &str, number: usize, is_known: bool) -> Datum<'a> {
    let first = |names: Names| config.names(names).first().cloned().unwrap_or_default();
    let [from_key, to_key] = config.endpoints().first().cloned().unwrap_or_default();
    let fields = [
        (first(Names::EdgeId), format!("{JOINT}#{number}")),
        (first(Names::EdgeKind), first(Names::Flow)),
        (first(Names::EdgeClass), "off_page_connection".into()),
        (from_key, from.into()),
        (to_key, to.into()),
    ];
    let direction = (!is_known).then(|| (first(Names::Direction), first(Names::Undirected)));
    let fields = fields.into_iter().chain(direction);
    Datum::Map(fields.map(|(key, text)| (key, Datum::Text(text))).collect())
}

fn connectors(sheets: &[Plant<'_>]) -> Vec<Connector> {
    let mut connectors = Vec::new();
    for (sheet, plant) in sheets.iter().enumerate() {
        let topology = &plant.topology;
        for node in (0..topology.node_count() as u32).filter(|node| topology.roles[*node as usize] == Role::OffPage) {
            let text = |names: Names| plant.cross_page(node, names).map(convert::to_text);
            let degree = |dir: Dir| topology.table(Over::Flow, dir).degree(node);
            connectors.push(Connector {
                sheet,
                node,
                has_id: !plant.id(node).is_null(),
                persistent_id: plant.of_node(node, Names::PersistentId).map(convert::to_text),
                linked: text(Names::CrossPagePartner),
                drawing: text(Names::CrossPageDrawing),
                label: text(Names::CrossPageLabel),
                // What flows from a connector into the sheet has come in.
                enters: match (degree(Dir::Down), degree(Dir::Up)) {
                    (0, 0) => None,
                    (_, 0) => Some(true),
                    (0, _) => Some(false),
                    _ => None,
                },
            });
        }
    }
    connectors
}

/// By connector: those that it may be joined to, and by what.
fn partners(
    connectors: &[Connector],
    names: &[[Option<&str>; 3]],
    by: JoinBy,
    purse: &mut dyn Purse,
) -> Result<Vec<Vec<(usize, &'static str)>>> {
    let known = Known::new(connectors);
    let mut partners = vec![Vec::new(); connectors.len()];
    for (at, connector) in connectors.iter().enumerate() {
        let (linked, labelled) = (known.linked(connector), known.labelled(connector));
        purse.pay(1 + (linked.len() + labelled.len()) as u64)?;
        let meets = |other: &usize| may_meet(connector, &connectors[*other]);
        if by != JoinBy::Label {
            partners[at].extend(linked.into_iter().filter(meets).map(|other| (other, LINK)));
        }
        if by != JoinBy::Link && partners[at].is_empty() {
            let fits = |other: &usize| meets(other) && name_each_other(connector, &connectors[*other], names);
            partners[at].extend(labelled.into_iter().filter(fits).map(|other| (other, LABEL)));
        }
        // Each may fit to each.
        purse.hold(size_of_val(&*partners[at]))?;
    }
    Ok(partners)
}

/// Connectors by what others may know them by.
struct Known<'c> {
    by_id: HashMap<&'c str, Vec<usize>>,
    by_link: HashMap<&'c str, Vec<usize>>,
    by_label: HashMap<String, Vec<usize>>,
}

impl<'c> Known<'c> {
    fn new(connectors: &'c [Connector]) -> Known<'c> {
        let mut known = Known { by_id: HashMap::new(), by_link: HashMap::new(), by_label: HashMap::new() };
        for (at, connector) in connectors.iter().enumerate() {
            if let Some(id) = &connector.persistent_id {
                known.by_id.entry(id).or_default().push(at);
            }
            if let Some(link) = &connector.linked {
                known.by_link.entry(link).or_default().push(at);
            }
            if let Some(label) = &connector.label {
                known.by_label.entry(bare(label)).or_default().push(at);
            }
        }
        known
    }

    /// Those that a connector links to, or that link to it, in the order of the sheets.
    fn linked(&self, connector: &Connector) -> Vec<usize> {
        let to = connector.linked.as_deref().and_then(|id| self.by_id.get(id));
        let from = connector.persistent_id.as_deref().and_then(|id| self.by_link.get(id));
        let mut linked: Vec<usize> = to.into_iter().chain(from).flatten().copied().collect();
        linked.sort_unstable();
        linked.dedup();
        linked
    }

    /// Those with the same label.
    fn labelled(&self, connector: &Connector) -> Vec<usize> {
        let label = connector.label.as_deref().map(bare);
        label.and_then(|label| self.by_label.get(&label)).cloned().unwrap_or_default()
    }
}

/// An in must meet an out, and on another sheet; edges name both.
fn may_meet(a: &Connector, b: &Connector) -> bool {
    let is_same_way = a.enters.is_some() && a.enters == b.enters;
    a.sheet != b.sheet && a.has_id && b.has_id && !is_same_way
}

/// Whether a connector is the only one that another may be joined to: what is named by its label may have a link elsewhere.
fn is_only(partners: &[(usize, &str)], at: usize) -> bool {
    matches!(partners, [(only, _)] if *only == at)
}

/// Whether neither of two connectors that a link joins says that it leads to another one.
fn agree(a: &Connector, b: &Connector, by: &str) -> bool {
    let leads_elsewhere = |a: &Connector, b: &Connector| {
        let both = a.linked.as_ref().zip(b.persistent_id.as_ref());
        both.is_some_and(|(linked, id)| linked != id)
    };
    by == LABEL || !leads_elsewhere(a, b) && !leads_elsewhere(b, a)
}

/// Whether two connectors name the drawings of each other.
fn name_each_other(a: &Connector, b: &Connector, names: &[[Option<&str>; 3]]) -> bool {
    let names_sheet = |a: &Connector, b: &Connector| {
        let is_sheet = |drawing: &String| names[b.sheet].iter().flatten().any(|name| bare(name) == bare(drawing));
        a.drawing.as_ref().is_some_and(is_sheet)
    };
    names_sheet(a, b) && names_sheet(b, a)
}

/// A label without spaces and hyphens: exporters write one connector in two ways.
fn bare(label: &str) -> String {
    label.chars().filter(|c| !c.is_whitespace() && *c != '-').flat_map(char::to_uppercase).collect()
}

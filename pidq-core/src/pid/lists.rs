//! The lists of a project: lines, segments, equipment, nozzles, valves, instruments, connectors, counts and breaks.
//!
//! Fixed columns, then every attribute that is asked for by name.

use hashbrown::{HashMap, HashSet};

use super::tag::{Tag, variable};
use super::{Datum, Pay, Purse, flow, loops, sections, segments};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::{Names, snake_case};
use crate::graph::index::Key;
use crate::graph::plant::Plant;
use crate::graph::roles::Role;
use crate::graph::topology::{Dir, Link, Over};
use crate::value::{Value, convert};

/// A list: its columns, and which nodes have a row.
pub(crate) struct List {
    columns: &'static [&'static str],
    keeps: fn(&Plant<'_>, NodeId) -> bool,
}

pub(crate) const EQUIPMENT: List = List {
    columns: &["id", "tag", "class", "nozzles", "lines"],
    keeps: |plant, node| plant.topology.roles[node as usize] == Role::Equipment,
};

pub(crate) const NOZZLES: List = List {
    columns: &["id", "tag", "qualified_tag", "equipment", "chamber", "size", "line", "connected_to"],
    keeps: |plant, node| plant.topology.owner(node).is_some() || plant.topology.roles[node as usize] == Role::Port,
};

pub(crate) const VALVES: List = List {
    columns: &["id", "tag", "class", "role", "size", "line", "normal_position", "fail_action"],
    keeps: |plant, node| is_valve(plant, node),
};

pub(crate) const INSTRUMENTS: List = List {
    columns: &["id", "tag", "class", "variable", "loop", "attached_to", "line"],
    keeps: |plant, node| plant.topology.roles[node as usize] == Role::Instrument,
};

pub(crate) const OFF_PAGE: List = List {
    columns: &["id", "tag", "direction", "drawing", "label", "partner", "line", "connected_to"],
    keeps: |plant, node| plant.topology.roles[node as usize] == Role::OffPage,
};

fn is_valve(plant: &Plant<'_>, node: NodeId) -> bool {
    let role = plant.topology.roles[node as usize];
    matches!(role, Role::Barrier | Role::Control | Role::OneWay | Role::Relief)
        || role == Role::None && plant.class(node).is_some_and(|class| snake_case(class).contains("valve"))
}

/// A list with more columns: the attributes that are asked for.
pub(crate) fn list<'a>(plant: &Plant<'a>, list: &List, more: &[&str], purse: &mut dyn Purse) -> Result<Datum<'a>> {
    let context = Context::new(plant, list, &mut |units| purse.pay(units))?;
    let mut rows = Vec::new();
    for node in (0..plant.topology.node_count() as u32).filter(|node| (list.keeps)(plant, *node)) {
        purse.pay(1 + list.columns.len() as u64)?;
        let fixed = list.columns.iter().map(|column| ((*column).into(), context.column(node, column)));
        rows.push(Datum::Map(fixed.chain(asked(plant, node, more, purse)?).collect()));
    }
    Ok(Datum::List(rows))
}

/// The attributes of a node that are asked for. How many there are and how long they are called is up to the query, so
/// they are counted.
fn asked<'a, 'n>(
    plant: &Plant<'a>,
    node: NodeId,
    names: &'n [&str],
    purse: &mut dyn Purse,
) -> Result<impl Iterator<Item = (String, Datum<'a>)> + use<'a, 'n>> {
    let bytes: usize = names.iter().map(|name| name.len()).sum();
    purse.pay(names.len() as u64 + bytes as u64 / 64)?;
    purse.hold(bytes + size_of::<(String, Datum<'_>)>() * names.len())?;
    let holder = plant.node(node);
    Ok(names.iter().map(move |name| (String::from(*name), Datum::value(attribute(holder, name)))))
}

/// What rows look up.
struct Context<'p, 'a> {
    plant: &'p Plant<'a>,
    /// By instrument: the name of its loop.
    loops: HashMap<NodeId, String>,
    /// By member of a line: the number of the line.
    lines: HashMap<NodeId, String>,
}

impl<'p, 'a> Context<'p, 'a> {
    fn new(plant: &'p Plant<'a>, list: &List, pay: Pay<'_>) -> Result<Self> {
        let mut of_node = HashMap::new();
        if list.columns.contains(&"loop") {
            for found in loops::loops(plant, pay)? {
                of_node.extend(found.members.iter().map(|member| (*member, found.name.clone())));
            }
        }
        let mut lines = HashMap::new();
        if list.columns.iter().any(|column| matches!(*column, "line" | "lines")) {
            let members = flow::Members::of(plant, pay)?;
            for line in (0..plant.topology.node_count() as u32).filter(|node| plant.has_type(*node, Names::LineType)) {
                let Some(tag) = plant.tag(line) else { continue };
                lines.extend(members.all(line, pay)?.into_iter().map(|member| (member, tag.to_owned())));
            }
        }
        Ok(Context { plant, loops: of_node, lines })
    }

    fn column(&self, node: NodeId, column: &str) -> Datum<'a> {
        let plant = self.plant;
        let topology = &plant.topology;
        let tag = |node: Option<NodeId>| Datum::text(node.and_then(|node| plant.tag(node)));
        let cross_page = |names: Names| Datum::value(plant.cross_page(node, names));
        match column {
            "id" => Datum::Value(plant.id(node)),
            "tag" => Datum::text(plant.tag(node)),
            "qualified_tag" => Datum::text(plant.qualified_tag(node)),
            "class" => Datum::text(plant.class(node)),
            "role" => Datum::Word(topology.roles[node as usize].name()),
            "nozzles" => Datum::count(topology.ports.degree(node)),
            "equipment" => tag(topology.owner(node)),
            "chamber" => self.chamber(node),
            "size" => self.size(node),
            "lines" | "line" => Datum::Text(self.lines(node).join(", ")),
            "connected_to" => Datum::Text(self.names(self.next_items(node)).join(", ")),
            "attached_to" => Datum::Text(self.names(attached_to(plant, node)).join(", ")),
            "normal_position" => Datum::value(plant.of_node(node, Names::NormalPosition)),
            "fail_action" => Datum::value(plant.of_node(node, Names::FailAction)),
            "variable" => plant
                .tag(node)
                .and_then(Tag::parse_letters)
                .as_ref()
                .and_then(variable)
                .map_or(Datum::Null, Datum::Word),
            "loop" => Datum::text(self.loops.get(&node).cloned()),
            "direction" => Datum::Word(direction(plant, node)),
            "drawing" => cross_page(Names::CrossPageDrawing),
            "label" => cross_page(Names::CrossPageLabel),
            "partner" => cross_page(Names::CrossPagePartner),
            _ => Datum::Null,
        }
    }

    /// The side of its equipment that a nozzle is on: the tag of the chamber, else its id, or the word that the nozzle says.
    fn chamber(&self, node: NodeId) -> Datum<'a> {
        let plant = self.plant;
        match plant.topology.zone(node) {
            NONE => Datum::Null,
            zone if (zone as usize) < plant.topology.node_count() => {
                plant.tag(zone).map_or(Datum::Value(plant.id(zone)), |tag| Datum::Text(tag.into()))
            }
            _ => Datum::value(plant.of_node(node, Names::Zone)),
        }
    }

    /// The size of an item, or those of the pipes at it.
    fn size(&self, node: NodeId) -> Datum<'a> {
        if let Some(size) = self.plant.of_node(node, Names::Size) {
            return Datum::Value(size);
        }
        let edges = self.plant.topology.table(Over::Flow, Dir::Both).edges(node).iter();
        let mut sizes = edges.filter_map(|edge| edge_value(self.plant, *edge, &Field::Named(Names::Size)));
        Datum::value(sizes.next())
    }

    /// The lines of an item; of an instrument that is in none, the lines of what it sits on.
    fn lines(&self, node: NodeId) -> Vec<String> {
        let own = self.own_lines(node);
        if !own.is_empty() || self.plant.topology.roles[node as usize] != Role::Instrument {
            return own;
        }
        let mut seen = HashSet::new();
        let around = attached_to(self.plant, node).into_iter().flat_map(|item| self.own_lines(item));
        around.filter(|line| seen.insert(line.clone())).collect()
    }

    /// The lines of the pipes at an item and at its ports; or what the item says of itself.
    fn own_lines(&self, node: NodeId) -> Vec<String> {
        let topology = &self.plant.topology;
        let around = std::iter::once(node).chain(topology.ports.nodes(node).iter().copied());
        let edges = around.flat_map(|node| topology.table(Over::Flow, Dir::Both).edges(node).iter().copied());
        let lines = sections::lines_of(self.plant, edges);
        if !lines.is_empty() {
            return lines;
        }
        let own = self.plant.of_node(node, Names::Line).map(|name| flow::line_called(self.plant, name));
        own.or_else(|| self.lines.get(&node).cloned()).into_iter().collect()
    }

    fn next_items(&self, node: NodeId) -> Vec<NodeId> {
        self.plant.topology.table(Over::Flow, Dir::Both).nodes(node).into()
    }

    fn names(&self, nodes: Vec<NodeId>) -> Vec<String> {
        let mut seen = HashSet::new();
        nodes.into_iter().map(|node| self.plant.name(node)).filter(|name| seen.insert(name.clone())).collect()
    }
}

/// What an instrument sits on: what it is located in, or what it is joined to by signals that is no instrument.
fn attached_to(plant: &Plant<'_>, node: NodeId) -> Vec<NodeId> {
    let topology = &plant.topology;
    let near = topology.table(Over::All, Dir::Both).arcs(node);
    let holds = |(other, edge): &(NodeId, EdgeId)| {
        let link = topology.links[*edge as usize];
        let is_joined = link.has(Link::SIGNAL) || link.has(Link::ZONE) || link.has(Link::FLOW);
        is_joined && topology.roles[*other as usize] != Role::Instrument
    };
    near.filter(holds).map(|(other, _)| other).collect()
}

/// Whether something flows onto the sheet at a connector, or off it.
fn direction(plant: &Plant<'_>, node: NodeId) -> &'static str {
    let degree = |dir: Dir| plant.topology.table(Over::Flow, dir).degree(node);
    match (degree(Dir::Down), degree(Dir::Up)) {
        (0, 0) => "unknown",
        (_, 0) => "in",
        (0, _) => "out",
        _ => "both",
    }
}

/// A field of an object, or the entry of its `attributes`, which are a list of names and values or an object.
pub(crate) fn attribute<'a>(holder: Value<'a>, name: &str) -> Option<Value<'a>> {
    let object = holder.as_object()?;
    if let Some(value) = object.get(name) {
        return Some(value);
    }
    match object.get("attributes")? {
        Value::Object(attributes) => attributes.get(name),
        Value::Array(attributes) => attributes
            .iter()
            .filter_map(Value::as_object)
            .find_map(|entry| (entry.get("name")?.as_str()? == name).then(|| entry.get("value"))?),
        _ => None,
    }
}

/// A field that edges carry: one of the usual ones under any of its names, or one by its own name.
pub(crate) enum Field {
    Named(Names),
    Plain(String),
}

impl Field {
    /// By our own word, or by the one that the drawing has for it.
    pub fn of(plant: &Plant<'_>, name: &str) -> Field {
        const WORDS: &[(Names, [&str; 2])] = &[
            (Names::PipingClass, ["piping_class", "class"]),
            (Names::Size, ["nominal_diameter", "size"]),
            (Names::Fluid, ["fluid_code", "fluid"]),
        ];
        let is_called = |names: Names| plant.topology.config.names(names).first().is_some_and(|first| first == name);
        let found = WORDS.iter().find(|(names, words)| words.contains(&name) || is_called(*names));
        found.map_or_else(|| Field::Plain(name.into()), |(names, _)| Field::Named(*names))
    }

    fn read<'a>(&self, plant: &Plant<'a>, holder: Value<'a>) -> Option<Value<'a>> {
        match self {
            Field::Named(names) => plant
                .field(holder, *names)
                .or_else(|| plant.topology.config.names(*names).iter().find_map(|name| attribute(holder, name))),
            Field::Plain(name) => attribute(holder, name).filter(|value| !value.is_null()),
        }
    }
}

/// What an edge carries; or what its segment does.
pub(crate) fn edge_value<'a>(plant: &Plant<'a>, edge: EdgeId, field: &Field) -> Option<Value<'a>> {
    field.read(plant, plant.edge(edge)).or_else(|| {
        let segment = plant.by_id(plant.of_edge(edge, Names::Segment)?)?;
        field.read(plant, plant.node(segment))
    })
}

/// The items at which the pipes carry different values, and whether the item is there to change them.
pub(crate) fn breaks<'a>(plant: &Plant<'a>, name: &str, purse: &mut dyn Purse) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["item", "field", "values", "edges", "legal"];
    let field = Field::of(plant, name);
    let topology = &plant.topology;
    let mut rows = Vec::new();
    for node in 0..topology.node_count() as u32 {
        let edges = topology.table(Over::Flow, Dir::Both).edges(node);
        // A name that is given may be long, and each edge is asked for it.
        purse.pay(1 + edges.len() as u64 * (1 + name.len() as u64 / 64))?;
        let (values, changed) = different(plant, edges, &field);
        if changed {
            purse.hold(name.len())?;
            let legal = may_change(plant, node, &field);
            rows.push(vec![
                Datum::Node(node),
                Datum::Text(name.into()),
                Datum::List(values.into_iter().map(Datum::Value).collect()),
                Datum::Edges(edges.into()),
                Datum::Bool(legal),
            ]);
        }
    }
    Ok(Datum::Table(KEYS, rows))
}

/// The different values of some edges, and whether there are several.
pub(crate) fn different<'a>(plant: &Plant<'a>, edges: &[EdgeId], field: &Field) -> (Vec<Value<'a>>, bool) {
    let mut seen = HashSet::new();
    let mut values: Vec<Value<'a>> = Vec::new();
    for value in edges.iter().filter_map(|edge| edge_value(plant, *edge, field)) {
        if Key::of(as_measured(value, field)).is_some_and(|key| seen.insert(key)) {
            values.push(value);
        }
    }
    let changed = values.len() > 1;
    (values, changed)
}

/// A size as a number where it is written as a text: `50`, `"50"` and `"50.000"` are one.
fn as_measured<'a>(value: Value<'a>, field: &Field) -> Value<'a> {
    let number = value.as_str().and_then(|text| text.trim().parse::<f64>().ok()).filter(|number| number.is_finite());
    number.filter(|_| matches!(field, Field::Named(Names::Size))).map_or(value, Value::number)
}

/// Whether an item is there to change what a pipe carries.
pub(crate) fn may_change(plant: &Plant<'_>, node: NodeId, field: &Field) -> bool {
    if plant.topology.is_equipment(node) || is_property_break(plant, node) {
        return true;
    }
    match field {
        Field::Named(Names::Size) => changes_size(plant, node) || has_smaller_branch(plant, node),
        Field::Named(Names::PipingClass) => is_valve(plant, node),
        _ => false,
    }
}

/// A mark that says where the class or another property of a pipe changes.
pub(crate) fn is_property_break(plant: &Plant<'_>, node: NodeId) -> bool {
    plant.class(node).is_some_and(|class| snake_case(class).contains("property_break"))
}

/// A tee that is drawn with ports of different sizes.
fn has_smaller_branch(plant: &Plant<'_>, node: NodeId) -> bool {
    let ports = plant.of_node(node, Names::Ports).and_then(Value::as_array);
    let sizes = ports.into_iter().flat_map(|ports| ports.iter()).filter_map(|port| plant.field(port, Names::Size));
    let mut sizes = sizes.map(|size| convert::to_text(as_measured(size, &Field::Named(Names::Size))));
    let differs = sizes.next().is_some_and(|first| sizes.any(|other| other != first));
    differs && plant.topology.roles[node as usize] == Role::Junction
}

/// A reducer, a reducing tee, or a relief device, whose outlet is larger than its inlet.
fn changes_size(plant: &Plant<'_>, node: NodeId) -> bool {
    let is_reducing = || plant.class(node).is_some_and(|class| snake_case(class).contains("reducing"));
    matches!(plant.topology.roles[node as usize], Role::SizeBreak | Role::Relief) || is_reducing()
}

/// How many components there are under each value of a field: `class`, `role`, or any other.
pub(crate) fn component_count<'a>(plant: &Plant<'a>, by: &str, pay: Pay<'_>) -> Result<Datum<'a>> {
    let topology = &plant.topology;
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for node in (0..topology.node_count() as u32).filter(|node| is_component(plant, *node)) {
        let value = match by {
            "class" => plant.class(node).unwrap_or("").into(),
            "role" => topology.roles[node as usize].name().into(),
            field => attribute(plant.node(node), field).map(convert::to_text).unwrap_or_default(),
        };
        pay(4 + (by.len() + value.len()) as u64 / 64)?;
        let at = *places.entry(value.clone()).or_insert(counts.len());
        match counts.get_mut(at) {
            Some((_, count)) => *count += 1,
            None => counts.push((value, 1)),
        }
    }
    Ok(Datum::Map(counts.into_iter().map(|(value, count)| (value, Datum::count(count))).collect()))
}

/// Whether a node is a thing of the plant and not a group of things.
pub(crate) fn is_component(plant: &Plant<'_>, node: NodeId) -> bool {
    let is_group =
        [Names::LineType, Names::SegmentType, Names::LoopType].iter().any(|names| plant.has_type(node, *names));
    let topology = &plant.topology;
    !is_group && (topology.roles[node as usize] != Role::None || topology.flow_degree(node) > 0)
}

/// A pipe line: the node that stands for it, its name, its pipes and its items.
struct Line {
    node: Option<NodeId>,
    name: String,
    segments: Vec<NodeId>,
    edges: Vec<EdgeId>,
    items: Vec<NodeId>,
}

/// One row a line: those that are nodes, then those that pipes name, then pipes without a line.
pub(crate) fn line_list<'a>(plant: &Plant<'a>, pay: Pay<'_>) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &[
        "line",
        "fluid_code",
        "piping_class",
        "nominal_diameter",
        "from",
        "to",
        "segments",
        "components",
        "insulation",
    ];
    let lines = lines(plant, pay)?;
    let mut rows = Vec::with_capacity(lines.len());
    for line in &lines {
        pay(1 + line.edges.len() as u64)?;
        let ends = line_ends(plant, line);
        let met = |names: Names| Datum::Text(values_met(plant, line, names).join(", "));
        let name = Some(line.name.clone()).filter(|name| !name.is_empty());
        let segments = if line.segments.is_empty() { line.edges.len() } else { line.segments.len() };
        rows.push(vec![
            Datum::text(name),
            met(Names::Fluid),
            met(Names::PipingClass),
            met(Names::Size),
            Datum::texts(ends[0].iter().map(|node| plant.name(*node))),
            Datum::texts(ends[1].iter().map(|node| plant.name(*node))),
            Datum::count(segments),
            Datum::count(line.items.iter().filter(|node| !plant.topology.is_equipment(**node)).count()),
            met(Names::Insulation),
        ]);
    }
    Ok(Datum::Table(KEYS, rows))
}

fn lines(plant: &Plant<'_>, pay: Pay<'_>) -> Result<Vec<Line>> {
    let mut lines = Lines::default();
    let members = flow::Members::of(plant, pay)?;
    for node in (0..plant.topology.node_count() as u32).filter(|node| plant.has_type(*node, Names::LineType)) {
        lines.add_node(plant, node, members.all(node, pay)?);
    }
    for edge in plant.topology.edges_of(Link::FLOW) {
        pay(1)?;
        lines.add_pipe(plant, edge);
    }
    let mut all = lines.all;
    for line in &mut all {
        let mut seen = HashSet::new();
        line.items.retain(|item| seen.insert(*item));
    }
    all.sort_by_key(|line| line.name.is_empty());
    Ok(all)
}

/// Lines as they are found.
#[derive(Default)]
struct Lines {
    all: Vec<Line>,
    by_name: HashMap<String, usize>,
    /// The line of what a line's node has for a member.
    line_of: HashMap<NodeId, usize>,
}

impl Lines {
    fn begin(&mut self, name: String, node: Option<NodeId>) -> usize {
        self.all.push(Line { node, name, segments: Vec::new(), edges: Vec::new(), items: Vec::new() });
        self.all.len() - 1
    }

    /// The same number on two sheets is one line.
    fn named(&mut self, name: String, node: Option<NodeId>) -> usize {
        if let Some(at) = self.by_name.get(&name) {
            return *at;
        }
        self.by_name.insert(name.clone(), self.all.len());
        self.begin(name, node)
    }

    /// Lines without a number are each their own.
    fn add_node(&mut self, plant: &Plant<'_>, node: NodeId, members: Vec<NodeId>) {
        let name = plant.tag(node).unwrap_or("").to_owned();
        let at = if name.is_empty() { self.begin(name, Some(node)) } else { self.named(name, Some(node)) };
        let line = &mut self.all[at];
        for member in members {
            let part = if plant.has_type(member, Names::SegmentType) { &mut line.segments } else { &mut line.items };
            part.push(member);
            self.line_of.insert(member, at);
        }
    }

    fn add_pipe(&mut self, plant: &Plant<'_>, edge: EdgeId) {
        let at = match plant.of_edge(edge, Names::Line).map(|name| flow::line_called(plant, name)) {
            Some(name) => Some(self.named(name, None)),
            None => self.told(plant, edge),
        };
        if let Some(at) = at {
            self.all[at].edges.push(edge);
            self.all[at].items.extend(plant.topology.ends[edge as usize]);
        }
    }

    /// A pipe without a number of a line is told by its segment, and else by its items.
    fn told(&self, plant: &Plant<'_>, edge: EdgeId) -> Option<usize> {
        let segment = plant.of_edge(edge, Names::Segment).and_then(|id| plant.by_id(id));
        let mut told = segment.into_iter().chain(plant.topology.ends[edge as usize]);
        told.find_map(|node| self.line_of.get(&node).copied())
    }
}

/// Where something flows into a line, and where out of it.
fn line_ends(plant: &Plant<'_>, line: &Line) -> [Vec<NodeId>; 2] {
    let ends: Vec<[NodeId; 2]> = line.edges.iter().map(|edge| plant.topology.flow_ends(*edge)).collect();
    let entered: HashSet<NodeId> = ends.iter().map(|[_, to]| *to).collect();
    let left: HashSet<NodeId> = ends.iter().map(|[from, _]| *from).collect();
    let unique = |nodes: Vec<NodeId>| {
        let mut seen = HashSet::new();
        nodes.into_iter().filter(|node| *node != NONE && seen.insert(*node)).collect()
    };
    let sources = ends.iter().map(|[from, _]| *from).filter(|node| !entered.contains(node)).collect();
    let sinks = ends.iter().map(|[_, to]| *to).filter(|node| !left.contains(node)).collect();
    [unique(sources), unique(sinks)]
}

/// All values of a field that a line, its segments and its pipes have: sorted, numbers as numbers and before all else.
fn values_met(plant: &Plant<'_>, line: &Line, names: Names) -> Vec<String> {
    let field = Field::Named(names);
    let nodes = line.node.iter().chain(&line.segments).filter_map(|node| plant.of_node(*node, names));
    let edges = line.edges.iter().filter_map(|edge| plant.of_edge(*edge, names));
    let values = nodes.chain(edges).map(|value| convert::to_text(as_measured(value, &field)));
    let mut values: Vec<String> = values.collect();
    let number = |text: &str| text.parse::<f64>().ok();
    values.sort_by(|a, b| match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (is, other) => other.is_some().cmp(&is.is_some()).then_with(|| a.cmp(b)),
    });
    values.dedup();
    values
}

/// One row a segment: the nodes that stand for one.
pub(crate) fn segment_list<'a>(plant: &Plant<'a>, more: &[&str], purse: &mut dyn Purse) -> Result<Datum<'a>> {
    let topology = &plant.topology;
    // All of them are looked at for the few that are of segments.
    purse.pay((topology.node_count() + topology.edge_count()) as u64 / 8)?;
    let segments = Segments::of(plant, purse)?;
    let mut rows = Vec::new();
    for node in (0..topology.node_count() as u32).filter(|node| plant.has_type(*node, Names::SegmentType)) {
        purse.pay(1)?;
        let fixed = segments.row(plant, node).map(|(key, datum)| (key.to_owned(), datum));
        rows.push(Datum::Map(fixed.into_iter().chain(asked(plant, node, more, purse)?).collect()));
    }
    Ok(Datum::List(rows))
}

/// What segments belong to, have for members and lie between.
#[derive(Default)]
struct Segments {
    line_of: HashMap<NodeId, NodeId>,
    count_of: HashMap<NodeId, usize>,
    ends: HashMap<NodeId, [Vec<NodeId>; 2]>,
}

impl Segments {
    fn of(plant: &Plant<'_>, purse: &mut dyn Purse) -> Result<Segments> {
        let mut found = Segments::default();
        for (group, member) in plant.topology.memberships() {
            purse.pay(1)?;
            *found.count_of.entry(group).or_default() += 1;
            if plant.has_type(group, Names::LineType) {
                found.line_of.insert(member, group);
            }
        }
        for edge in plant.topology.edges_of(Link::SEGMENT_END) {
            let side = segments::side(plant, edge).unwrap_or(1);
            let [segment, item] = plant.topology.ends[edge as usize];
            found.ends.entry(segment).or_default()[side].push(item);
        }
        Ok(found)
    }

    fn row<'a>(&self, plant: &Plant<'a>, node: NodeId) -> [(&'static str, Datum<'a>); 9] {
        let ends = |at: usize| self.ends.get(&node).map_or(&[][..], |ends| &ends[at]);
        let names = |nodes: &[NodeId]| Datum::texts(nodes.iter().map(|node| plant.name(*node)));
        let field = |names: Names| Datum::value(plant.of_node(node, names));
        [
            ("id", Datum::Value(plant.id(node))),
            ("tag", Datum::text(plant.tag(node))),
            ("line", Datum::text(self.line_of.get(&node).and_then(|line| plant.tag(*line)))),
            ("nominal_diameter", field(Names::Size)),
            ("piping_class", field(Names::PipingClass)),
            ("fluid_code", field(Names::Fluid)),
            ("from", names(ends(0))),
            ("to", names(ends(1))),
            ("components", Datum::count(self.count_of.get(&node).copied().unwrap_or(0))),
        ]
    }
}

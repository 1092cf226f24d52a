//! Project lists: lines, segments, equipment, nozzles, valves, instruments, connectors, counts and breaks.
//!
//! Fixed columns, then every attribute requested by name.

use hashbrown::{HashMap, HashSet};

use super::instrument_class::{self, parts};
use super::loops::Loops;
use super::tag::{Tag, variable};
use super::valve_state::drawn_closed::may_be_drawn_closed;
use super::valve_state::{self, fail_action};
use super::{Budget, ChargeFn, Datum, pipe_lines, segments, set_points};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NONE, NodeId};
use crate::graph::config::Names;
use crate::graph::drawing::Drawing;
use crate::graph::index::Key;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::graph::vocabulary;
use crate::value::{Value, convert};

/// A list: its columns, and the condition for a row.
pub(crate) struct ListSpec {
    columns: &'static [&'static str],
    /// True for instruments: parts of them have no row, and the columns of `set_points` follow.
    is_of_instruments: bool,
    includes: fn(&Drawing<'_>, NodeId) -> bool,
}

pub(crate) const EQUIPMENT: ListSpec = ListSpec {
    columns: &["id", "tag", "class", "nozzles", "lines"],
    is_of_instruments: false,
    includes: |drawing, node| drawing.topology.roles[node as usize] == Role::Equipment,
};

pub(crate) const NOZZLES: ListSpec = ListSpec {
    columns: &["id", "tag", "qualified_tag", "equipment", "chamber", "size", "line", "connected_to"],
    is_of_instruments: false,
    includes: |drawing, node| {
        drawing.topology.owner(node).is_some() || drawing.topology.roles[node as usize] == Role::Port
    },
};

pub(crate) const VALVES: ListSpec = ListSpec {
    columns: &["id", "tag", "class", "role", "size", "line", "normal_position", "fail_action"],
    is_of_instruments: false,
    includes: |drawing, node| is_valve(drawing, node),
};

pub(crate) const INSTRUMENTS: ListSpec = ListSpec {
    columns: &["id", "tag", "class", "variable", "loop", "attached_to", "line"],
    is_of_instruments: true,
    includes: |drawing, node| drawing.topology.roles[node as usize] == Role::Instrument,
};

pub(crate) const OFF_PAGE: ListSpec = ListSpec {
    columns: &["id", "tag", "direction", "drawing", "label", "partner", "line", "connected_to"],
    is_of_instruments: false,
    includes: |drawing, node| drawing.topology.roles[node as usize] == Role::OffPage,
};

pub(crate) const SPECIAL_ITEMS: ListSpec = ListSpec {
    columns: &["id", "tag", "class", "size", "line", "connected_to"],
    is_of_instruments: false,
    includes: |drawing, node| {
        let topology = &drawing.topology;
        topology.roles[node as usize] == Role::None
            && topology.flow_degree(node) > 0
            && drawing.tag(node).is_some()
            && is_component(drawing, node)
            && !topology.is_equipment(node)
            && !is_valve(drawing, node)
    },
};

/// Returns whether an item is a valve, by its role, or by its class if its kind is unknown.
pub(crate) fn is_valve(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let role = drawing.topology.roles[node as usize];
    matches!(role, Role::Barrier | Role::Control | Role::MultiWay | Role::OneWay | Role::Relief)
        || role == Role::None && drawing.class(node).is_some_and(|class| snake_case(class).contains("valve"))
}

/// Returns a list with additional columns for the requested attributes.
pub(crate) fn list<'a>(
    drawing: &Drawing<'a>,
    list: &ListSpec,
    extra_names: &[&str],
    budget: &mut dyn Budget,
) -> Result<Datum<'a>> {
    let context = ListContext::new(drawing, list, &mut |units| budget.charge(units))?;
    let mut rows = Vec::new();
    for node in (0..drawing.topology.node_count() as u32).filter(|node| (list.includes)(drawing, *node)) {
        budget.charge(1 + list.columns.len() as u64)?;
        let charge: ChargeFn<'_> = &mut |units| budget.charge(units);
        if list.is_of_instruments && parts::is_part(drawing, node, charge)? {
            continue;
        }
        let attached = if list.is_of_instruments { attached_to(drawing, node, charge)? } else { Vec::new() };
        let mut row: Vec<(String, Datum<'a>)> = Vec::with_capacity(list.columns.len());
        for column in list.columns.iter().copied() {
            let datum = match column {
                "attached_to" => Datum::String(context.names(attached.clone()).join(", ")),
                "line" if list.is_of_instruments => {
                    Datum::String(context.lines_of_instrument(node, &attached).join(", "))
                }
                "fail_action" => Datum::value(fail_action::stated(drawing, node, &mut |units| budget.charge(units))?),
                _ => context.column(node, column),
            };
            row.push((column.into(), datum));
        }
        if list.is_of_instruments {
            let loop_node = context.loop_nodes.get(&node).copied();
            row.extend(set_points::columns(drawing, node, loop_node, &mut |units| budget.charge(units))?);
        }
        row.extend(extra_columns(drawing, node, extra_names, budget)?);
        rows.push(Datum::Map(row));
    }
    Ok(Datum::Array(rows))
}

/// Returns the requested attributes of a node. Their number and the length of their names depend on the query, so they
/// are charged and reserved.
pub(crate) fn extra_columns<'a, 'n>(
    drawing: &Drawing<'a>,
    node: NodeId,
    names: &'n [&str],
    budget: &mut dyn Budget,
) -> Result<impl Iterator<Item = (String, Datum<'a>)> + use<'a, 'n>> {
    let bytes: usize = names.iter().map(|name| name.len()).sum();
    budget.charge(names.len() as u64 + bytes as u64 / 64)?;
    budget.reserve(bytes + size_of::<(String, Datum<'_>)>() * names.len())?;
    let holder = drawing.node(node);
    Ok(names.iter().map(move |name| (String::from(*name), Datum::value(attribute(holder, name)))))
}

/// Lookup tables for rows.
struct ListContext<'p, 'a> {
    drawing: &'p Drawing<'a>,
    /// By instrument: the name of its loop.
    loops: HashMap<NodeId, String>,
    /// By instrument: the node of its loop.
    loop_nodes: HashMap<NodeId, NodeId>,
    /// By member of a line: the number of the line.
    lines: HashMap<NodeId, String>,
}

impl<'p, 'a> ListContext<'p, 'a> {
    fn new(drawing: &'p Drawing<'a>, list: &ListSpec, charge: ChargeFn<'_>) -> Result<Self> {
        let (mut loop_names, mut loop_nodes) = (HashMap::new(), HashMap::new());
        if list.columns.contains(&"loop") {
            for found in Loops::find(drawing, charge)?.list {
                loop_names.extend(found.members.iter().map(|member| (*member, found.name.clone())));
                let node = found.node.into_iter();
                loop_nodes.extend(node.flat_map(|node| found.members.iter().map(move |member| (*member, node))));
            }
        }
        let mut lines = HashMap::new();
        if list.columns.iter().any(|column| matches!(*column, "line" | "lines")) {
            let members = pipe_lines::Members::collect(drawing, charge)?;
            for line in
                (0..drawing.topology.node_count() as u32).filter(|node| drawing.has_type(*node, Names::LineType))
            {
                let Some(tag) = drawing.tag(line) else { continue };
                lines.extend(members.all_members(line, charge)?.into_iter().map(|member| (member, tag.to_owned())));
            }
        }
        Ok(ListContext { drawing, loops: loop_names, loop_nodes, lines })
    }

    fn column(&self, node: NodeId, column: &str) -> Datum<'a> {
        let drawing = self.drawing;
        let topology = &drawing.topology;
        let tag = |node: Option<NodeId>| Datum::string(node.and_then(|node| drawing.tag(node)));
        let cross_page = |names: Names| Datum::value(drawing.cross_page(node, names));
        match column {
            "id" => Datum::Value(drawing.id(node)),
            "tag" => Datum::string(drawing.tag(node)),
            "qualified_tag" => Datum::string(drawing.qualified_tag(node)),
            "class" => Datum::string(drawing.class(node)),
            "role" => Datum::Word(topology.roles[node as usize].name()),
            "nozzles" => Datum::count(topology.ports.degree(node)),
            "equipment" => tag(topology.owner(node)),
            "chamber" => self.chamber(node),
            "size" => self.size(node),
            "lines" | "line" => Datum::String(self.own_lines(node).join(", ")),
            "connected_to" => Datum::String(self.names(self.next_items(node)).join(", ")),
            "normal_position" => {
                let field = drawing.node_field(node, Names::NormalPosition).filter(|field| !field.is_null());
                let by_text = || may_be_drawn_closed(drawing, node).then_some(Value::String("closed"));
                let stated = field.or_else(|| valve_state::position(drawing, node));
                Datum::value(stated.or_else(|| position_in_label(drawing, node)).or_else(by_text))
            }
            "variable" => drawing
                .tag(node)
                .filter(|_| !instrument_class::has_no_variable(drawing, node))
                .and_then(Tag::parse_letters)
                .as_ref()
                .and_then(variable)
                .map_or(Datum::Null, Datum::Word),
            "loop" => Datum::string(self.loops.get(&node).cloned()),
            "direction" => Datum::Word(direction(drawing, node)),
            "drawing" => cross_page(Names::CrossPageDrawing),
            "label" => cross_page(Names::CrossPageLabel),
            "partner" => cross_page(Names::CrossPagePartner),
            _ => Datum::Null,
        }
    }

    /// Returns the side of its equipment that a nozzle is on: the tag of the chamber, else its id, or the word in the
    /// nozzle's own field.
    fn chamber(&self, node: NodeId) -> Datum<'a> {
        let drawing = self.drawing;
        match drawing.topology.zone(node) {
            NONE => Datum::Null,
            zone if (zone as usize) < drawing.topology.node_count() => {
                drawing.tag(zone).map_or(Datum::Value(drawing.id(zone)), |tag| Datum::String(tag.into()))
            }
            _ => Datum::value(drawing.node_field(node, Names::Zone)),
        }
    }

    /// Returns the size of an item, or of the pipes at it.
    fn size(&self, node: NodeId) -> Datum<'a> {
        if let Some(size) = self.drawing.node_field(node, Names::Size) {
            return Datum::Value(size);
        }
        let edges = self.drawing.topology.table(EdgeFilter::Flow, Direction::Both).edges(node).iter();
        let mut sizes = edges.filter_map(|edge| edge_value(self.drawing, *edge, &EdgeField::Named(Names::Size)));
        Datum::value(sizes.next())
    }

    /// Returns the lines of an instrument; of one without a line, those of the items other than equipment that it is attached
    /// to.
    fn lines_of_instrument(&self, node: NodeId, attached: &[NodeId]) -> Vec<String> {
        let own_lines = self.own_lines(node);
        if !own_lines.is_empty() {
            return own_lines;
        }
        let mut seen = HashSet::new();
        // The lines of equipment are not where an instrument on it is.
        let is_equipment = |item: &&NodeId| self.drawing.topology.roles[**item as usize] == Role::Equipment;
        let items = attached.iter().filter(|item| !is_equipment(item));
        let candidates = items.flat_map(|item| self.own_lines(*item));
        candidates.filter(|line| seen.insert(line.clone())).collect()
    }

    /// Returns the lines of the pipes at an item and at its ports; otherwise the line that the item names.
    fn own_lines(&self, node: NodeId) -> Vec<String> {
        let topology = &self.drawing.topology;
        let nodes = std::iter::once(node).chain(topology.ports.nodes(node).iter().copied());
        let edges =
            nodes.flat_map(|node| topology.table(EdgeFilter::Flow, Direction::Both).edges(node).iter().copied());
        let lines = pipe_lines::lines_of(self.drawing, edges);
        if !lines.is_empty() {
            return lines;
        }
        let named_line =
            self.drawing.node_field(node, Names::Line).map(|name| pipe_lines::line_name(self.drawing, name));
        named_line.or_else(|| self.lines.get(&node).cloned()).into_iter().collect()
    }

    fn next_items(&self, node: NodeId) -> Vec<NodeId> {
        self.drawing.topology.table(EdgeFilter::Flow, Direction::Both).nodes(node).into()
    }

    fn names(&self, nodes: Vec<NodeId>) -> Vec<String> {
        let mut seen = HashSet::new();
        nodes.into_iter().map(|node| self.drawing.name(node)).filter(|name| seen.insert(name.clone())).collect()
    }
}

/// Returns the items that an instrument and its parts are attached to, and the valves that its parts move.
fn attached_to(drawing: &Drawing<'_>, node: NodeId, charge: ChargeFn<'_>) -> Result<Vec<NodeId>> {
    let mut items = attachments(drawing, node);
    charge(1 + drawing.topology.table(EdgeFilter::All, Direction::Both).degree(node) as u64)?;
    for part in parts::parts(drawing, node, charge)? {
        charge(1 + drawing.topology.table(EdgeFilter::All, Direction::Both).degree(part) as u64)?;
        items.extend(attachments(drawing, part));
        items.extend(parts::moved_valve(drawing, part, charge)?);
    }
    Ok(items)
}

/// Returns the items an instrument is attached to: its location, or items other than instruments connected to it by
/// signals. On joined sheets, those on the other sheet instead of the connector.
fn attachments(drawing: &Drawing<'_>, node: NodeId) -> Vec<NodeId> {
    let topology = &drawing.topology;
    let arcs = topology.table(EdgeFilter::All, Direction::Both).arcs(node);
    let is_attachment = |(other, edge): &(NodeId, EdgeId)| {
        let flags = topology.edge_flags[*edge as usize];
        let is_connected =
            flags.contains(EdgeFlags::SIGNAL) || flags.contains(EdgeFlags::ZONE) || flags.contains(EdgeFlags::FLOW);
        // An instrument may be located in a section of the plant, too.
        let kind = drawing.node_field(*other, Names::NodeType).and_then(Value::as_str);
        let is_group = kind.is_some_and(|kind| vocabulary::contains(vocabulary::GROUP_TYPES, kind));
        let is_item = topology.roles[*other as usize] != Role::Instrument && !drawing.is_note(*other) && !is_group;
        is_connected && is_item && !topology.is_joined(*other)
    };
    arcs.filter(is_attachment).map(|(other, _)| other).collect()
}

/// Returns the word for a position behind the tag of a valve in its label: `HV-1 NC`.
fn position_in_label<'a>(drawing: &Drawing<'a>, node: NodeId) -> Option<Value<'a>> {
    const POSITIONS: [Names; 4] = [Names::Open, Names::Closed, Names::LockedOpen, Names::LockedClosed];
    let tag = drawing.tag(node).filter(|_| drawing.topology.roles[node as usize].closes())?;
    let behind_tag = |text: &'a str| {
        let word = text.trim().strip_prefix(tag)?.trim_matches(|c: char| !c.is_alphanumeric());
        POSITIONS.iter().any(|names| drawing.topology.config.is_spelling(*names, word)).then_some(word)
    };
    let names = [Names::Description, Names::Remarks];
    names.into_iter().find_map(|names| valve_state::texts(drawing, node, names).find_map(behind_tag)).map(Value::String)
}

/// Returns whether the flow enters the sheet at a connector or leaves it.
fn direction(drawing: &Drawing<'_>, node: NodeId) -> &'static str {
    let degree = |dir: Direction| drawing.topology.table(EdgeFilter::Flow, dir).degree(node);
    match (degree(Direction::Down), degree(Direction::Up)) {
        (0, 0) => "unknown",
        (_, 0) => "in",
        (0, _) => "out",
        _ => "both",
    }
}

/// Returns a field of an object, or the entry of its `attributes`, an array of names and values or an object.
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

/// A field of edges: a known one under any of its names, or any other by its own name.
pub(crate) enum EdgeField {
    Named(Names),
    Plain(String),
}

impl EdgeField {
    /// Resolves a name: a built-in one, or the first one that the drawing uses for it.
    pub fn from_name(drawing: &Drawing<'_>, name: &str) -> EdgeField {
        const WORDS: &[(Names, [&str; 2])] = &[
            (Names::PipingClass, ["piping_class", "class"]),
            (Names::Size, ["nominal_diameter", "size"]),
            (Names::Fluid, ["fluid_code", "fluid"]),
            (Names::Material, ["material", "material"]),
        ];
        let is_called = |names: Names| drawing.topology.config.names(names).first().is_some_and(|first| first == name);
        let found = WORDS.iter().find(|(names, words)| words.contains(&name) || is_called(*names));
        found.map_or_else(|| EdgeField::Plain(name.into()), |(names, _)| EdgeField::Named(*names))
    }

    /// Returns the value of an object: its field, else its attribute.
    pub fn read<'a>(&self, drawing: &Drawing<'a>, holder: Value<'a>) -> Option<Value<'a>> {
        match self {
            EdgeField::Named(names) => drawing
                .field(holder, *names)
                .or_else(|| drawing.topology.config.names(*names).iter().find_map(|name| attribute(holder, name))),
            EdgeField::Plain(name) => attribute(holder, name).filter(|value| !value.is_null()),
        }
    }
}

/// Returns the value of a field of an edge, or of its segment.
pub(crate) fn edge_value<'a>(drawing: &Drawing<'a>, edge: EdgeId, field: &EdgeField) -> Option<Value<'a>> {
    field.read(drawing, drawing.edge(edge)).or_else(|| {
        let segment = drawing.by_id(drawing.edge_field(edge, Names::Segment)?)?;
        field.read(drawing, drawing.node(segment))
    })
}

/// Returns the items at which the pipes have different values, and whether the item may change them.
pub(crate) fn breaks<'a>(drawing: &Drawing<'a>, name: &str, budget: &mut dyn Budget) -> Result<Datum<'a>> {
    const KEYS: &[&str] = &["item", "field", "values", "edges", "legal"];
    let field = EdgeField::from_name(drawing, name);
    let topology = &drawing.topology;
    let mut rows = Vec::new();
    for node in 0..topology.node_count() as u32 {
        let edges = topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
        // The name may be long, and it is compared for each edge.
        budget.charge(1 + edges.len() as u64 * (1 + name.len() as u64 / 64))?;
        let (values, changed) = distinct_values(drawing, edges, &field);
        if changed {
            budget.reserve(name.len())?;
            let legal = may_change(drawing, node, &field);
            rows.push(vec![
                Datum::Node(node),
                Datum::String(name.into()),
                Datum::Array(values.into_iter().map(Datum::Value).collect()),
                Datum::Edges(edges.into()),
                Datum::Bool(legal),
            ]);
        }
    }
    Ok(Datum::Table(KEYS, rows))
}

/// Returns the distinct values of some edges, and whether there are several.
pub(crate) fn distinct_values<'a>(
    drawing: &Drawing<'a>,
    edges: &[EdgeId],
    field: &EdgeField,
) -> (Vec<Value<'a>>, bool) {
    let mut seen = HashSet::new();
    let mut values: Vec<Value<'a>> = Vec::new();
    for value in edges.iter().filter_map(|edge| edge_value(drawing, *edge, field)) {
        if Key::from_value(normalized(value, field)).is_some_and(|key| seen.insert(key)) {
            values.push(value);
        }
    }
    let changed = values.len() > 1;
    (values, changed)
}

/// Converts sizes in strings to numbers: `50`, `"50"` and `"50.000"` are equal.
pub(crate) fn normalized<'a>(value: Value<'a>, field: &EdgeField) -> Value<'a> {
    let number = value.as_str().and_then(|text| text.trim().parse::<f64>().ok()).filter(|number| number.is_finite());
    number.filter(|_| matches!(field, EdgeField::Named(Names::Size))).map_or(value, Value::number)
}

/// Returns whether an item may change a property of the pipe.
pub(crate) fn may_change(drawing: &Drawing<'_>, node: NodeId, field: &EdgeField) -> bool {
    if drawing.topology.is_equipment(node) || is_property_break(drawing, node) {
        return true;
    }
    match field {
        EdgeField::Named(Names::Size) => changes_size(drawing, node) || has_smaller_branch(drawing, node),
        EdgeField::Named(Names::PipingClass) => is_valve(drawing, node),
        _ => false,
    }
}

/// Returns whether a node marks a change of the class or another property of a pipe.
pub(crate) fn is_property_break(drawing: &Drawing<'_>, node: NodeId) -> bool {
    drawing.class(node).is_some_and(|class| snake_case(class).contains("property_break"))
}

/// Returns whether a node is a tee with ports of different sizes.
fn has_smaller_branch(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let ports = drawing.node_field(node, Names::Ports).and_then(Value::as_array);
    let sizes = ports.into_iter().flat_map(|ports| ports.iter()).filter_map(|port| drawing.field(port, Names::Size));
    let mut sizes = sizes.map(|size| convert::to_text(normalized(size, &EdgeField::Named(Names::Size))));
    let differs = sizes.next().is_some_and(|first| sizes.any(|other| other != first));
    differs && drawing.topology.roles[node as usize] == Role::Junction
}

/// Returns whether a node changes the size: a reducer, a reducing tee, or a relief device, whose outlet is larger than
/// its inlet.
fn changes_size(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_reducing = || drawing.class(node).is_some_and(|class| snake_case(class).contains("reducing"));
    matches!(drawing.topology.roles[node as usize], Role::SizeBreak | Role::Relief) || is_reducing()
}

/// Returns the number of components for each value of a field: `class`, `role`, or any other.
pub(crate) fn component_count<'a>(drawing: &Drawing<'a>, by: &str, charge: ChargeFn<'_>) -> Result<Datum<'a>> {
    let topology = &drawing.topology;
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut indices: HashMap<String, usize> = HashMap::new();
    for node in (0..topology.node_count() as u32).filter(|node| is_component(drawing, *node)) {
        let value = match by {
            "class" => drawing.class(node).unwrap_or("").into(),
            "role" => topology.roles[node as usize].name().into(),
            field => attribute(drawing.node(node), field).map(convert::to_text).unwrap_or_default(),
        };
        charge(4 + (by.len() + value.len()) as u64 / 64)?;
        let at = *indices.entry(value.clone()).or_insert(counts.len());
        match counts.get_mut(at) {
            Some((_, count)) => *count += 1,
            None => counts.push((value, 1)),
        }
    }
    Ok(Datum::Map(counts.into_iter().map(|(value, count)| (value, Datum::count(count))).collect()))
}

/// Returns whether a node is a physical component and not a group.
pub(crate) fn is_component(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let is_group =
        [Names::LineType, Names::SegmentType, Names::LoopType].iter().any(|names| drawing.has_type(node, *names));
    let topology = &drawing.topology;
    !is_group && (topology.roles[node as usize] != Role::None || topology.flow_degree(node) > 0)
}

/// A pipe line: its node, name, pipes and items.
struct PipeLine {
    node: Option<NodeId>,
    name: String,
    segments: Vec<NodeId>,
    edges: Vec<EdgeId>,
    items: Vec<NodeId>,
}

/// Returns one row per line: line nodes, then lines that only pipes name, then pipes without a line.
pub(crate) fn line_list<'a>(drawing: &Drawing<'a>, charge: ChargeFn<'_>) -> Result<Datum<'a>> {
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
    let lines = lines(drawing, charge)?;
    let mut rows = Vec::with_capacity(lines.len());
    for line in &lines {
        charge(1 + line.edges.len() as u64)?;
        let ends = line_ends(drawing, line);
        let joined_values = |names: Names| Datum::String(values_of_line(drawing, line, names).join(", "));
        let name = Some(line.name.clone()).filter(|name| !name.is_empty());
        let segments = if line.segments.is_empty() { line.edges.len() } else { line.segments.len() };
        rows.push(vec![
            Datum::string(name),
            joined_values(Names::Fluid),
            joined_values(Names::PipingClass),
            joined_values(Names::Size),
            Datum::strings(ends[0].iter().map(|node| drawing.name(*node))),
            Datum::strings(ends[1].iter().map(|node| drawing.name(*node))),
            Datum::count(segments),
            Datum::count(line.items.iter().filter(|node| !drawing.topology.is_equipment(**node)).count()),
            joined_values(Names::Insulation),
        ]);
    }
    Ok(Datum::Table(KEYS, rows))
}

fn lines(drawing: &Drawing<'_>, charge: ChargeFn<'_>) -> Result<Vec<PipeLine>> {
    let mut collector = LineCollector::default();
    let members = pipe_lines::Members::collect(drawing, charge)?;
    for node in (0..drawing.topology.node_count() as u32).filter(|node| drawing.has_type(*node, Names::LineType)) {
        collector.add_node(drawing, node, members.all_members(node, charge)?);
    }
    for edge in drawing.topology.edges_of(EdgeFlags::FLOW) {
        charge(1)?;
        collector.add_pipe(drawing, edge);
    }
    let mut lines = collector.lines;
    for line in &mut lines {
        let mut seen = HashSet::new();
        line.items.retain(|item| seen.insert(*item));
    }
    lines.sort_by_key(|line| line.name.is_empty());
    Ok(lines)
}

/// Collector of lines.
#[derive(Default)]
struct LineCollector {
    lines: Vec<PipeLine>,
    by_name: HashMap<String, usize>,
    /// By member of a line node: the line.
    line_of: HashMap<NodeId, usize>,
}

impl LineCollector {
    fn push_line(&mut self, name: String, node: Option<NodeId>) -> usize {
        self.lines.push(PipeLine { node, name, segments: Vec::new(), edges: Vec::new(), items: Vec::new() });
        self.lines.len() - 1
    }

    /// Returns the line with a name. The same number on two sheets is one line.
    fn named(&mut self, name: String, node: Option<NodeId>) -> usize {
        if let Some(at) = self.by_name.get(&name) {
            return *at;
        }
        self.by_name.insert(name.clone(), self.lines.len());
        self.push_line(name, node)
    }

    /// Adds a line node. Lines without a number are separate lines.
    fn add_node(&mut self, drawing: &Drawing<'_>, node: NodeId, members: Vec<NodeId>) {
        let name = drawing.tag(node).unwrap_or("").to_owned();
        let at = if name.is_empty() { self.push_line(name, Some(node)) } else { self.named(name, Some(node)) };
        let line = &mut self.lines[at];
        for member in members {
            let part = if drawing.has_type(member, Names::SegmentType) { &mut line.segments } else { &mut line.items };
            part.push(member);
            self.line_of.insert(member, at);
        }
    }

    fn add_pipe(&mut self, drawing: &Drawing<'_>, edge: EdgeId) {
        let at = match drawing.edge_field(edge, Names::Line).map(|name| pipe_lines::line_name(drawing, name)) {
            Some(name) => Some(self.named(name, None)),
            None => self.line_of_members(drawing, edge),
        };
        if let Some(at) = at {
            self.lines[at].edges.push(edge);
            self.lines[at].items.extend(drawing.topology.ends[edge as usize]);
        }
    }

    /// Returns the line of a pipe that names none: by its segment, else by its items.
    fn line_of_members(&self, drawing: &Drawing<'_>, edge: EdgeId) -> Option<usize> {
        let segment = drawing.edge_field(edge, Names::Segment).and_then(|id| drawing.by_id(id));
        let mut nodes = segment.into_iter().chain(drawing.topology.ends[edge as usize]);
        nodes.find_map(|node| self.line_of.get(&node).copied())
    }
}

/// Returns the nodes where the flow enters a line, and where it leaves.
fn line_ends(drawing: &Drawing<'_>, line: &PipeLine) -> [Vec<NodeId>; 2] {
    let ends: Vec<[NodeId; 2]> = line.edges.iter().map(|edge| drawing.topology.flow_ends(*edge)).collect();
    let flow_targets: HashSet<NodeId> = ends.iter().map(|[_, to]| *to).collect();
    let flow_sources: HashSet<NodeId> = ends.iter().map(|[from, _]| *from).collect();
    let unique = |nodes: Vec<NodeId>| {
        let mut seen = HashSet::new();
        nodes.into_iter().filter(|node| *node != NONE && seen.insert(*node)).collect()
    };
    let sources = ends.iter().map(|[from, _]| *from).filter(|node| !flow_targets.contains(node)).collect();
    let sinks = ends.iter().map(|[_, to]| *to).filter(|node| !flow_sources.contains(node)).collect();
    [unique(sources), unique(sinks)]
}

/// Returns all values of a field of a line, its segments and its pipes, or else of the items that name the line, sorted;
/// numbers are compared as numbers and come first.
fn values_of_line(drawing: &Drawing<'_>, line: &PipeLine, names: Names) -> Vec<String> {
    let field = EdgeField::Named(names);
    let nodes = line.node.iter().chain(&line.segments).filter_map(|node| drawing.node_field(*node, names));
    let edges = line.edges.iter().filter_map(|edge| drawing.edge_field(*edge, names));
    let text = |value: Value<'_>| convert::to_text(normalized(value, &field));
    let mut values: Vec<String> = nodes.chain(edges).map(text).collect();
    if values.is_empty() {
        let is_own = |node: &NodeId| {
            let named = drawing.node_field(*node, Names::Line);
            named.is_some_and(|named| pipe_lines::line_name(drawing, named) == line.name)
        };
        let items = line.items.iter().copied().filter(|node| *node != NONE && is_own(node));
        values.extend(items.filter_map(|node| drawing.node_field(node, names)).map(text));
    }
    let number = |text: &str| text.parse::<f64>().ok();
    values.sort_by(|a, b| match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (first_number, second_number) => second_number.is_some().cmp(&first_number.is_some()).then_with(|| a.cmp(b)),
    });
    values.dedup();
    values
}

/// Returns one row per segment node.
pub(crate) fn segment_list<'a>(
    drawing: &Drawing<'a>,
    extra_names: &[&str],
    budget: &mut dyn Budget,
) -> Result<Datum<'a>> {
    let topology = &drawing.topology;
    // All nodes and edges are scanned for the few of segments.
    budget.charge((topology.node_count() + topology.edge_count()) as u64 / 8)?;
    let segments = SegmentIndex::build(drawing, budget)?;
    let mut rows = Vec::new();
    for node in (0..topology.node_count() as u32).filter(|node| drawing.has_type(*node, Names::SegmentType)) {
        budget.charge(1)?;
        let fixed = segments.row(drawing, node).map(|(key, datum)| (key.to_owned(), datum));
        rows.push(Datum::Map(fixed.into_iter().chain(extra_columns(drawing, node, extra_names, budget)?).collect()));
    }
    Ok(Datum::Array(rows))
}

/// Index of segments: their lines, member counts and ends.
#[derive(Default)]
struct SegmentIndex {
    line_of: HashMap<NodeId, NodeId>,
    count_of: HashMap<NodeId, usize>,
    ends: HashMap<NodeId, [Vec<NodeId>; 2]>,
}

impl SegmentIndex {
    fn build(drawing: &Drawing<'_>, budget: &mut dyn Budget) -> Result<SegmentIndex> {
        let mut index = SegmentIndex::default();
        for (group, member) in drawing.topology.memberships() {
            budget.charge(1)?;
            *index.count_of.entry(group).or_default() += 1;
            if drawing.has_type(group, Names::LineType) {
                index.line_of.insert(member, group);
            }
        }
        for edge in drawing.topology.edges_of(EdgeFlags::SEGMENT_END) {
            let side = segments::end_index(drawing, edge).unwrap_or(1);
            let [segment, item] = drawing.topology.ends[edge as usize];
            index.ends.entry(segment).or_default()[side].push(item);
        }
        Ok(index)
    }

    fn row<'a>(&self, drawing: &Drawing<'a>, node: NodeId) -> [(&'static str, Datum<'a>); 9] {
        let ends = |at: usize| self.ends.get(&node).map_or(&[][..], |ends| &ends[at]);
        let names = |nodes: &[NodeId]| Datum::strings(nodes.iter().map(|node| drawing.name(*node)));
        let field = |names: Names| Datum::value(drawing.node_field(node, names));
        [
            ("id", Datum::Value(drawing.id(node))),
            ("tag", Datum::string(drawing.tag(node))),
            ("line", Datum::string(self.line_of.get(&node).and_then(|line| drawing.tag(*line)))),
            ("nominal_diameter", field(Names::Size)),
            ("piping_class", field(Names::PipingClass)),
            ("fluid_code", field(Names::Fluid)),
            ("from", names(ends(0))),
            ("to", names(ends(1))),
            ("components", Datum::count(self.count_of.get(&node).copied().unwrap_or(0))),
        ]
    }
}

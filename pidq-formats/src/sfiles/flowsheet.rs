//! Flowsheet: the units, streams and signals of a drawing.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::import::{Finding, Import, ImportBuilder, new_metadata};
use crate::json::{Fields, Json};
use crate::model::{Direction, Edge, EdgeRole, Model, Node};

use super::units;

/// Field of a stream with its tags, and field of a node with a unit that has no row.
pub const STREAM_TAGS: &str = "stream_tags";
const UNIT: &str = "sfiles_unit";

/// Units and their connections.
#[derive(Debug, Default)]
pub struct Flowsheet {
    pub units: Vec<Unit>,
    pub connections: Vec<Connection>,
}

/// A unit, or a pass of a heat exchanger.
#[derive(Clone, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
pub struct Unit {
    /// Abbreviation.
    pub name: String,
    /// Letters of a control unit.
    pub letters: Option<String>,
    /// Number of the heat exchanger of a pass.
    pub exchanger: Option<usize>,
}

/// Kind of connection.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Kind {
    Stream,
    Signal,
}

/// Connection of two units, by index.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Connection {
    pub from: usize,
    pub to: usize,
    pub kind: Kind,
    pub tags: Vec<String>,
}

impl Flowsheet {
    /// Returns the flowsheet of a drawing, and reports what it does not hold.
    pub fn from_model(model: &Model<'_>, builder: &mut ImportBuilder) -> Flowsheet {
        let owners = Owners::new(model);
        let edges: Vec<(usize, usize, &Edge<'_>, EdgeRole)> =
            model.edges.iter().filter_map(|edge| owners.connection(edge)).collect();
        let is_used: HashSet<usize> = edges.iter().flat_map(|(from, to, ..)| [*from, *to]).collect();
        let nodes: Vec<usize> = (0..model.nodes.len()).filter(|node| is_used.contains(node)).collect();
        let index: HashMap<usize, usize> = nodes.iter().enumerate().map(|(at, node)| (*node, at)).collect();
        let mut flowsheet = Flowsheet::default();
        let mut degrees = vec![[0_usize; 2]; nodes.len()];
        for (from, to, edge, role) in &edges {
            let [from, to] = [from, to].map(|node| index[node]);
            if *role == EdgeRole::Flow {
                degrees[from][1] += 1;
                degrees[to][0] += 1;
            }
            let kind = if *role == EdgeRole::Flow { Kind::Stream } else { Kind::Signal };
            flowsheet.connections.push(Connection { from, to, kind, tags: stream_tags(edge) });
        }
        for (at, node) in nodes.iter().enumerate() {
            let exchanger = owners.exchanger(model, *node);
            let holder = &model.nodes[exchanger.unwrap_or(*node)];
            let name = unit_name(holder, degrees[at]);
            let letters = (name == units::CONTROL).then(|| letters(holder)).flatten();
            flowsheet.units.push(Unit { name, letters, exchanger });
        }
        flowsheet.drop_single_passes();
        flowsheet.draw_measurements_as_streams(&degrees);
        // Signals have no tags.
        for connection in flowsheet.connections.iter_mut().filter(|connection| connection.kind == Kind::Signal) {
            connection.tags.clear();
        }
        report_losses(model, &owners, &is_used, &flowsheet, builder);
        flowsheet
    }

    /// Clears the exchanger of a pass that is the only one of it.
    fn drop_single_passes(&mut self) {
        let mut counts: HashMap<usize, usize> = HashMap::new();
        for exchanger in self.units.iter().filter_map(|unit| unit.exchanger) {
            *counts.entry(exchanger).or_default() += 1;
        }
        for unit in &mut self.units {
            unit.exchanger = unit.exchanger.filter(|exchanger| counts[exchanger] > 1);
        }
    }

    /// The notation draws what a control unit measures as a stream to it, unless the flow passes through the unit.
    fn draw_measurements_as_streams(&mut self, degrees: &[[usize; 2]]) {
        let is_leaf = |units: &[Unit], at: usize| units[at].name == units::CONTROL && degrees[at][1] == 0;
        for connection in &mut self.connections {
            let is_measured = self.units[connection.from].name != units::CONTROL;
            if connection.kind == Kind::Signal && is_measured && is_leaf(&self.units, connection.to) {
                connection.kind = Kind::Stream;
            }
        }
    }

    /// Returns true for a stream to a control unit outside of the flow, which is a measurement.
    fn is_measurement(&self, out_degrees: &[usize], connection: &Connection) -> bool {
        let is_leaf = out_degrees[connection.to] == 0 && self.units[connection.to].name == units::CONTROL;
        is_leaf && self.units[connection.from].name != units::CONTROL
    }

    /// Returns the drawing of a flowsheet.
    pub fn into_import(self) -> Import {
        let mut builder = ImportBuilder::default();
        let ids = self.ids();
        self.add_exchangers(&ids, &mut builder);
        for (unit, id) in self.units.iter().zip(&ids) {
            builder.nodes.push(node(unit, id));
        }
        let mut out_degrees = vec![0; self.units.len()];
        for connection in self.connections.iter().filter(|connection| connection.kind == Kind::Stream) {
            out_degrees[connection.from] += 1;
        }
        for (at, connection) in self.connections.iter().enumerate() {
            let is_flow = connection.kind == Kind::Stream && !self.is_measurement(&out_degrees, connection);
            let mut edge = Fields::default();
            edge.add("id", Json::String(format!("e{}", at + 1)));
            edge.add("edge_type", Json::text(if is_flow { "flow" } else { "signal" }));
            edge.add("from", Json::text(&ids[connection.from]));
            edge.add("to", Json::text(&ids[connection.to]));
            if !connection.tags.is_empty() {
                edge.add(STREAM_TAGS, Json::Array(connection.tags.iter().map(Json::text).collect()));
            }
            builder.edges.push(edge);
        }
        builder.metadata = new_metadata(None, "flowsheet");
        builder.finish()
    }

    /// Returns the ids of the units: abbreviation and number; `/2` for the second pass of a heat exchanger.
    fn ids(&self) -> Vec<String> {
        let mut counts: HashMap<&str, usize> = HashMap::new();
        let mut passes: HashMap<usize, (String, usize)> = HashMap::new();
        let mut next_id = |name| {
            let count = counts.entry(name).or_default();
            *count += 1;
            format!("{name}-{count}")
        };
        let mut ids = Vec::with_capacity(self.units.len());
        for unit in &self.units {
            ids.push(match unit.exchanger {
                None => next_id(&unit.name),
                Some(exchanger) => {
                    let (id, pass) = passes.entry(exchanger).or_insert_with(|| (next_id(&unit.name), 0));
                    *pass += 1;
                    format!("{id}/{pass}")
                }
            });
        }
        ids
    }

    /// Adds the nodes of heat exchangers with several passes, and their parts.
    fn add_exchangers(&self, ids: &[String], builder: &mut ImportBuilder) {
        let mut seen = HashSet::new();
        for (unit, id) in self.units.iter().zip(ids) {
            let (Some(exchanger), Some((owner, _))) = (unit.exchanger, id.rsplit_once('/')) else { continue };
            if seen.insert(exchanger) {
                let whole = Unit { exchanger: None, ..unit.clone() };
                builder.nodes.push(node(&whole, owner));
            }
            let mut edge = Fields::default();
            edge.add("id", Json::String(format!("part-{id}")));
            for (key, text) in [("edge_type", "physically_has_a"), ("from", owner), ("to", id.as_str())] {
                edge.add(key, Json::text(text));
            }
            builder.edges.push(edge);
        }
    }
}

/// Returns the node of a unit. A pass is a chamber of its heat exchanger.
fn node(unit: &Unit, id: &str) -> Fields {
    let row = units::find(&unit.name);
    let class = row.map_or(unit.name.as_str(), |row| row.class);
    let mut fields = Fields::default();
    fields.add("id", Json::text(id));
    fields.add("tag", Json::text(id));
    fields.add("node_classification", Json::text(if unit.exchanger.is_some() { "chamber" } else { class }));
    if row.is_none() {
        fields.add(UNIT, Json::text(&unit.name));
    }
    fields.add_optional_text("label", unit.letters.as_deref());
    if let (Some(_), Some((owner, _))) = (unit.exchanger, id.rsplit_once('/')) {
        fields.add("parent_id", Json::text(owner));
    }
    fields
}

/// Owners of ports and chambers.
struct Owners {
    /// By node: the unit that it is.
    units: Vec<usize>,
    /// By chamber: its owner.
    owners: HashMap<usize, usize>,
}

impl Owners {
    fn new(model: &Model<'_>) -> Owners {
        let owners = owners_of_parts(model);
        let mut units: Vec<usize> = (0..model.nodes.len()).collect();
        for unit in &mut units {
            // Ports of chambers and of parts of equipment; the number of levels is limited, since owners may be a cycle.
            for _ in 0..8 {
                let is_port = units::contains(&model.nodes[*unit].class(), units::PORT_WORDS);
                match owners.get(unit) {
                    Some(owner) if is_port => *unit = *owner,
                    _ => break,
                }
            }
        }
        Owners { units, owners }
    }

    /// Returns the ends of an edge between units, in flow direction.
    fn connection<'e, 'a>(&self, edge: &'e Edge<'a>) -> Option<(usize, usize, &'e Edge<'a>, EdgeRole)> {
        let role = edge.role();
        let [from, to] = [edge.from.node?, edge.to.node?].map(|node| self.units[node]);
        // A pipe inside a unit connects two of its ports.
        let is_inside = from == to && edge.from.node != edge.to.node;
        let is_connection = matches!(role, EdgeRole::Flow | EdgeRole::Signal) && !is_inside;
        let is_backward = role == EdgeRole::Flow && edge.direction() == Direction::Backward;
        let (from, to) = if is_backward { (to, from) } else { (from, to) };
        is_connection.then_some((from, to, edge, role))
    }

    /// Returns the heat exchanger of which a node is a chamber.
    fn exchanger(&self, model: &Model<'_>, node: usize) -> Option<usize> {
        let owner = self.owners.get(&node)?;
        let is_chamber = units::contains(&model.nodes[node].class(), units::CHAMBER_WORDS);
        let unit = units::of_class(&model.nodes[*owner].class());
        let is_exchanger = unit.is_some_and(|unit| unit.name == units::HEAT_EXCHANGER);
        (is_chamber && is_exchanger).then_some(*owner)
    }
}

/// Returns the owners of parts: by an edge for parts, and for ports without one, by an edge for members or by a field.
fn owners_of_parts(model: &Model<'_>) -> HashMap<usize, usize> {
    let mut owners = HashMap::new();
    for edge in model.edges.iter().filter(|edge| edge.role() == EdgeRole::Part) {
        if let (Some(owner), Some(part)) = (edge.from.node, edge.to.node) {
            owners.entry(part).or_insert(owner);
        }
    }
    let is_port = |node: usize| units::contains(&model.nodes[node].class(), units::PORT_WORDS);
    for edge in model.edges.iter().filter(|edge| edge.role() == EdgeRole::Member) {
        let (Some(from), Some(to)) = (edge.from.node, edge.to.node) else { continue };
        let is_reversed = model.config.contains_word("member_kinds_reversed", edge.kind());
        let (owner, part) = if is_reversed { (to, from) } else { (from, to) };
        if is_port(part) && !model.nodes[owner].is_group() {
            owners.entry(part).or_insert(owner);
        }
    }
    let names: HashMap<&str, usize> =
        model.nodes.iter().enumerate().map(|(at, node)| (node.name.as_str(), at)).collect();
    for (part, node) in model.nodes.iter().enumerate() {
        let owner = node.first_text("parent").and_then(|name| names.get(name).copied());
        if let Some(owner) = owner.filter(|owner| *owner != part && is_port(part) && !model.nodes[*owner].is_group()) {
            owners.entry(part).or_insert(owner);
        }
    }
    owners
}

/// Returns the abbreviation of a node with numbers of entering and leaving streams.
fn unit_name(node: &Node<'_>, degrees: [usize; 2]) -> String {
    let own = node.fields.get(UNIT).and_then(|value| value.as_str());
    if let Some(own) = own.filter(|own| is_name(own)) {
        return own.to_owned();
    }
    let class = node.class();
    if units::contains(&class, units::BOUNDARY_WORDS) {
        match degrees {
            [0, _] => return units::SOURCE.into(),
            [_, 0] => return units::SINK.into(),
            _ => {}
        }
    }
    let name = match units::of_class(&class) {
        Some(unit) => unit.name,
        None if units::contains(&class, units::JUNCTION_WORDS) => match degrees {
            [entering, 1] if entering > 1 => "mix",
            [1, leaving] if leaving > 1 => "splt",
            _ => units::OTHER,
        },
        None => units::OTHER,
    };
    name.to_owned()
}

/// Returns true for text that the notation allows as the name of a unit.
pub fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && text.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Returns true for text that the notation allows as the tag of a stream. Numbers are those of heat exchangers.
fn is_tag(text: &str) -> bool {
    let has_only_digits = text.chars().all(|c| c.is_ascii_digit());
    !has_only_digits && !text.contains(['{', '}', '(', ')', '[', ']']) && !text.chars().any(char::is_control)
}

/// Returns the letters of an instrument: its label if it consists of letters, or those at the beginning of its tag.
fn letters(node: &Node<'_>) -> Option<String> {
    let is_letters = |text: &&str| !text.is_empty() && text.chars().all(|c| c.is_ascii_uppercase());
    let label = node.fields.get("label").and_then(|value| value.as_str()).filter(is_letters);
    let prefix = |tag: &str| tag.chars().take_while(char::is_ascii_uppercase).collect::<String>();
    let letters = label.map(str::to_owned).or_else(|| node.tag().map(prefix))?;
    // The id of an imported control unit is no tag.
    let is_own_id = label.is_none() && node.tag().is_some_and(|tag| tag.starts_with("C-"));
    (!letters.is_empty() && !is_own_id).then_some(letters)
}

/// Returns the tags of a stream that the notation allows.
fn stream_tags(edge: &Edge<'_>) -> Vec<String> {
    let list = edge.fields.get(STREAM_TAGS).and_then(|value| value.as_array());
    let texts = list.into_iter().flat_map(|list| list.iter()).filter_map(|value| value.as_str());
    texts.filter(|text| is_tag(text)).map(str::to_owned).collect()
}

fn report_losses(
    model: &Model<'_>,
    owners: &Owners,
    is_used: &HashSet<usize>,
    flowsheet: &Flowsheet,
    builder: &mut ImportBuilder,
) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut count = |text: &str, number: usize| {
        if number > 0 {
            *counts.entry(text.to_owned()).or_default() += number;
        }
    };
    let is_left_out = |node: &usize| !is_used.contains(&owners.units[*node]);
    count("nodes without a stream or a signal", (0..model.nodes.len()).filter(is_left_out).count());
    let is_port = |node: &usize| owners.units[*node] != *node;
    count("ports, which are the units that own them", (0..model.nodes.len()).filter(is_port).count());
    let is_connection = |edge: &&Edge<'_>| matches!(edge.role(), EdgeRole::Flow | EdgeRole::Signal);
    let connections: Vec<&Edge<'_>> = model.edges.iter().filter(is_connection).collect();
    count(
        "streams and signals without a node at an end",
        connections.iter().filter(|edge| edge.from.node.is_none() || edge.to.node.is_none()).count(),
    );
    let is_undirected = |edge: &&&Edge<'_>| edge.role() == EdgeRole::Flow && edge.direction() == Direction::Undirected;
    count(
        "directions of streams that flow both ways or in an unknown direction",
        connections.iter().filter(is_undirected).count(),
    );
    count("edges that are neither streams nor signals", model.edges.len() - connections.len());
    count(
        "classes of units without an abbreviation",
        flowsheet.units.iter().filter(|unit| unit.name == units::OTHER).count(),
    );
    count("tags, sizes, positions and all other fields of units", flowsheet.units.len());
    builder.report_counts(Finding::NotInFlowsheet, &counts);
}

//! Joining of sheets into one drawing at their off-page connectors.
//!
//! Connectors are paired if they reference each other; connectors with several candidates or none are listed, and
//! nothing is guessed. Pairs of different pipes and partners that a sheet lacks are listed too.

mod role_rules;

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::joints::{self, Medium};
use super::valve_state::out_of_action::{connector_may_not_act, signal_may_not_act};
use super::valve_state::pipes::{PipeState, pipe_state};
use super::valve_state::{Installation, installation};
use super::{Budget, ChargeFn, Datum, pipe_lines};
use crate::error::Result;
use crate::graph::adjacency::NodeId;
use crate::graph::config::{Names, TopologyConfig};
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::snake_case::snake_case;
use crate::graph::tag_spelling;
use crate::graph::topology::{Direction, EdgeFilter};
use crate::graph::vocabulary;
use crate::value::{Object, Value, compare, convert, write};

/// Criterion for pairing the connectors of two sheets.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum JoinBy {
    /// By partner id, or else by drawing and label.
    #[default]
    Any,
    /// By partner id only.
    Link,
    /// By drawing and label only.
    Label,
}

/// An off-page connector of a sheet.
struct Connector {
    sheet: usize,
    node: NodeId,
    /// Connectors without an id cannot be joined.
    has_id: bool,
    persistent_id: Option<String>,
    linked: Option<String>,
    drawing: Option<String>,
    label: Option<String>,
    enters: Option<bool>,
    medium: Option<Medium>,
    /// The name of `drawing`, if a sheet has it.
    named: Option<usize>,
}

/// Names of the criteria in results.
const LINK: &str = "linked_persistent_id";
const LABEL: &str = "link_label";

/// Id prefix of the edges between connectors.
const JOINT: &str = "joint";

const PAIR: &[&str] = &["from", "to", "by"];
const UNPAIRED: &[&str] = &["id", "drawing", "label", "candidates"];
const DIFFERENCE: &[&str] = &["from", "to", "property", "from_value", "to_value"];
const MISSING_PARTNER: &[&str] = &["id", "sheet", "label", "reason"];

/// Key of the report of the join in the metadata, and of the list of partners that a sheet lacks.
pub(crate) const REPORT: &str = "joined";
pub(crate) const MISSING_PARTNERS: &str = "missing_partners";

/// Key of the metadata of the sheets in the metadata.
const SHEETS: &str = "sheets";

/// Maximum number of candidates that are listed for a connector. Equal labels would give their square.
const MAX_CANDIDATES: usize = 100;

/// A sheet with its id prefix.
struct Sheet<'s, 'a> {
    drawing: &'s Drawing<'a>,
    name: &'s str,
    /// Numeric edge ids, as strings.
    numeric_edge_ids: HashSet<String>,
}

impl<'s, 'a> Sheet<'s, 'a> {
    fn new(drawing: &'s Drawing<'a>, name: &'s str) -> Sheet<'s, 'a> {
        let ids = (0..drawing.topology.edge_count() as u32).map(|edge| drawing.edge_field(edge, Names::EdgeId));
        let numeric_edge_ids =
            ids.flatten().filter(|id| matches!(id, Value::Number(_))).map(convert::to_text).collect();
        Sheet { drawing, name, numeric_edge_ids }
    }

    /// Returns `sheet#id` of a node. The string `1` and the number 1 are different ids: if a sheet has both, the string
    /// keeps its quotes.
    fn node_id(&self, id: Value<'a>) -> String {
        let number = id.as_str().and_then(|text| text.parse().ok()).map(Value::number);
        let is_ambiguous = number.is_some_and(|number| {
            self.drawing.by_id(number).is_some() && Some(convert::to_text(number).as_str()) == id.as_str()
        });
        self.prefixed(id, is_ambiguous)
    }

    fn edge_id(&self, id: Value<'a>) -> String {
        self.prefixed(id, id.as_str().is_some_and(|text| self.numeric_edge_ids.contains(text)))
    }

    fn prefixed(&self, id: Value<'a>, is_ambiguous: bool) -> String {
        // A string that starts with a quote could be confused with a quoted one.
        let is_quoted = is_ambiguous || id.as_str().is_some_and(|text| text.starts_with('"'));
        let text = if is_quoted { write::to_string(id) } else { convert::to_text(id) };
        format!("{}#{text}", self.name)
    }
}

/// Joins sheets and returns a graph with the default field names. Its metadata lists the joined and unpaired
/// connectors.
pub(crate) fn join<'a>(sheets: &[Drawing<'a>], by: JoinBy, budget: &mut dyn Budget) -> Result<Datum<'a>> {
    let names = sheet_names(sheets);
    let mut nodes = Vec::new();
    let mut edges = Vec::new();
    let mut prefixed_sheets = Vec::with_capacity(sheets.len());
    for (drawing, name) in sheets.iter().zip(&names) {
        budget.charge((drawing.topology.node_count() + drawing.topology.edge_count()) as u64)?;
        let sheet = Sheet::new(drawing, name);
        nodes.extend((0..drawing.topology.node_count() as u32).map(|node| prefixed_node(&sheet, node)));
        edges.extend((0..drawing.topology.edge_count() as u32).map(|edge| prefixed_edge(&sheet, edge)));
        prefixed_sheets.push(sheet);
    }
    let sheet_index = SheetIndex::new(sheets, &names);
    let connectors = connectors(sheets, &sheet_index);
    let index = ConnectorIndex::new(&connectors, &sheet_index);
    let partners = partners(&connectors, &index, by, budget)?;
    let config_source = sheets.iter().find(|sheet| own_topology(sheet).is_some()).or(sheets.first());
    let config = config_source.map_or(TopologyConfig::shared_default(), |sheet| &sheet.topology.config);
    let pairing =
        Pairing { sheets: &prefixed_sheets, sheet_index: &sheet_index, connectors: &connectors, partners: &partners };
    let (mut pairs, mut unmatched, mut ambiguous) = (Vec::new(), Vec::new(), Vec::new());
    let (mut differences, mut missing_partners) = (Vec::new(), Vec::new());
    for (at, candidates) in partners.iter().enumerate() {
        let Some((other, criterion)) = pairing.partner(at) else {
            let row = pairing.unpaired_row(at, budget)?;
            if candidates.is_empty() {
                unmatched.push(row);
                missing_partners.extend(pairing.missing_partner_row(at, &index, by, budget)?);
            } else {
                ambiguous.push(row)
            }
            continue;
        };
        if pairing.is_source(at, other) {
            let [from, to] = [at, other].map(|at| pairing.id(at));
            let joint = Joint {
                config,
                number: pairs.len() + 1,
                has_direction: pairing.has_direction(at, other),
                is_signal: pairing.is_signal(at, other),
                line: pairing.line(at, other, budget)?,
                status: None,
            };
            edges.push(joint.edge(None, &from, &to));
            if joint.is_signal {
                let through = pairing.signals_through(at, other, budget)?;
                let edge = |(at, signal): (usize, &SignalThrough)| {
                    let has_direction = joint.has_direction && signal.has_direction;
                    let status = signal.status;
                    Joint { has_direction, status, line: joint.line.clone(), ..joint }.edge(
                        Some(at + 1),
                        &signal.from,
                        &signal.to,
                    )
                };
                edges.extend(through.iter().enumerate().map(edge));
            }
            differences.extend(pairing.difference_rows(at, other, budget)?);
            pairs.push(vec![Datum::String(from), Datum::String(to), Datum::Word(criterion)]);
        }
    }
    let report = [
        ("pairs", PAIR, pairs),
        ("unmatched", UNPAIRED, unmatched),
        ("ambiguous", UNPAIRED, ambiguous),
        ("differences", DIFFERENCE, differences),
        (MISSING_PARTNERS, MISSING_PARTNER, missing_partners),
    ];
    let report = report.map(|(key, keys, rows)| (key.to_owned(), Datum::Table(keys, rows)));
    let metadata = metadata(sheets, &names, Datum::Map(report.into()), &mut |units| budget.charge(units))?;
    const KEYS: &[&str] = &["nodes", "edges", "metadata"];
    Ok(Datum::Record(KEYS, vec![Datum::Array(nodes), Datum::Array(edges), metadata]))
}

/// The connectors of all sheets, and their possible partners.
struct Pairing<'s, 'a> {
    sheets: &'s [Sheet<'s, 'a>],
    sheet_index: &'s SheetIndex,
    connectors: &'s [Connector],
    partners: &'s [Vec<(usize, &'static str)>],
}

impl<'a> Pairing<'_, 'a> {
    fn id(&self, at: usize) -> String {
        let connector = &self.connectors[at];
        let sheet = &self.sheets[connector.sheet];
        sheet.node_id(sheet.drawing.id(connector.node))
    }

    /// Returns the connector that a connector is joined to, and the criterion: each must reference only the other, and
    /// none may name another one of the sheets.
    fn partner(&self, at: usize) -> Option<(usize, &'static str)> {
        let [(other, criterion)] = *self.partners[at].as_slice() else { return None };
        let is_pair = is_only_candidate(&self.partners[other], at)
            && links_agree(&self.connectors[at], &self.connectors[other], criterion)
            && self.may_name(at, other)
            && self.may_name(other, at);
        is_pair.then_some((other, criterion))
    }

    /// Returns whether a connector names the sheet of another one, or none of the sheets.
    fn may_name(&self, at: usize, other: usize) -> bool {
        let named = self.connectors[at].named;
        named.is_none_or(|name| self.sheet_index.names_of[self.connectors[other].sheet].contains(&name))
    }

    /// Returns whether the flow goes from `at` to `other`. If unknown, it goes from the first one.
    fn is_source(&self, at: usize, other: usize) -> bool {
        match [at, other].map(|at| self.connectors[at].enters) {
            [Some(false), _] | [_, Some(true)] => true,
            directions => directions == [None, None] && at < other,
        }
    }

    fn has_direction(&self, at: usize, other: usize) -> bool {
        [at, other].iter().any(|at| self.connectors[*at].enters.is_some())
    }

    /// Returns whether the connectors continue a signal.
    fn is_signal(&self, at: usize, other: usize) -> bool {
        [at, other].iter().any(|at| self.connectors[*at].medium == Some(Medium::Signal))
    }

    /// Returns the row of an unpaired connector.
    fn unpaired_row(&self, at: usize, budget: &mut dyn Budget) -> Result<Vec<Datum<'a>>> {
        let connector = &self.connectors[at];
        let candidates = Datum::strings(self.partners[at].iter().map(|(other, _)| self.id(*other)).collect::<Vec<_>>());
        budget.reserve(candidates.size())?;
        let own = connector.has_id.then(|| self.id(at));
        let texts = [own, connector.drawing.clone(), connector.label.clone()].map(Datum::string);
        Ok(texts.into_iter().chain([candidates]).collect())
    }

    /// Returns the line of the pipes on both sides. `None` if it differs, or is not known on both.
    fn line(&self, from: usize, to: usize, budget: &mut dyn Budget) -> Result<Option<String>> {
        let [from, to] = [self.values(from, budget)?, self.values(to, budget)?];
        let line = joints::common_line(&from, &to);
        budget.reserve(line.map_or(0, str::len))?;
        Ok(line.map(String::from))
    }

    fn values(&self, at: usize, budget: &mut dyn Budget) -> Result<joints::Values> {
        let connector = &self.connectors[at];
        joints::values(self.sheets[connector.sheet].drawing, connector.node, &mut |units| budget.charge(units))
    }

    /// Returns the signals that pass a pair of connectors, from one sheet to the other.
    fn signals_through(&self, from: usize, to: usize, budget: &mut dyn Budget) -> Result<Vec<SignalThrough>> {
        let [sources, targets] = [self.signal_items(from), self.signal_items(to)];
        let mut found = Vec::new();
        for source in &sources {
            for target in &targets {
                budget.charge(1)?;
                budget.reserve(source.id.len() + target.id.len() + size_of::<SignalThrough>())?;
                found.push(SignalThrough {
                    from: source.id.clone(),
                    to: target.id.clone(),
                    has_direction: source.has_direction && target.has_direction,
                    status: source.state.max(target.state).uncertainty(),
                });
            }
        }
        Ok(found)
    }

    /// Returns the items with a signal to or from a connector.
    fn signal_items(&self, at: usize) -> Vec<SignalItem> {
        let connector = &self.connectors[at];
        let sheet = &self.sheets[connector.sheet];
        let of_connector = match installation(sheet.drawing, connector.node) {
            Installation::Installed => PipeState::Open,
            Installation::Unknown => PipeState::Unknown,
            Installation::NotInstalled => PipeState::NotInstalled,
        };
        let item = |(item, signal)| {
            let id = Some(sheet.drawing.id(item)).filter(|id| !id.is_null())?;
            // A signal has no blind; it may be cut off.
            let of_signal = pipe_state(sheet.drawing, signal).min(PipeState::NotInstalled);
            let may_not_act =
                signal_may_not_act(sheet.drawing, signal) || connector_may_not_act(sheet.drawing, connector.node);
            let by_text = if may_not_act { PipeState::Unknown } else { PipeState::Open };
            Some(SignalItem {
                id: sheet.node_id(id),
                has_direction: !sheet.drawing.topology.is_assumed(signal),
                state: of_signal.max(of_connector).max(by_text),
            })
        };
        joints::signals(sheet.drawing, connector.node, Direction::Both).filter_map(item).collect()
    }

    /// Returns a row for each property in which the pipes of two joined connectors differ.
    fn difference_rows(&self, from: usize, to: usize, budget: &mut dyn Budget) -> Result<Vec<Vec<Datum<'a>>>> {
        let found = joints::differences(&self.values(from, budget)?, &self.values(to, budget)?);
        let row = |difference: joints::Difference| {
            let [from_value, to_value] = difference.values.map(Datum::String);
            let ids = [from, to].map(|at| Datum::String(self.id(at)));
            ids.into_iter().chain([Datum::Word(difference.property), from_value, to_value]).collect()
        };
        Ok(found.into_iter().map(row).collect())
    }

    /// Returns the row of a connector that names a sheet which is present but lacks its partner.
    fn missing_partner_row(
        &self,
        at: usize,
        index: &ConnectorIndex<'_>,
        by: JoinBy,
        budget: &mut dyn Budget,
    ) -> Result<Option<Vec<Datum<'a>>>> {
        let connector = &self.connectors[at];
        let is_compared = by != JoinBy::Link || connector.linked.is_some();
        let Some(name) = connector.named.filter(|_| is_compared) else { return Ok(None) };
        let own = connector.has_id.then(|| self.id(at));
        let Some(sheet) = index.sheets.first_other(name, connector.sheet) else {
            let texts = [own, Some(self.sheets[connector.sheet].name.to_owned()), connector.label.clone()];
            return Ok(Some(texts.map(Datum::string).into_iter().chain([Datum::Word("same_sheet")]).collect()));
        };
        let linked = connector.linked.as_deref().and_then(|id| index.by_id.get(id));
        let group_of_own = Group::of(connector);
        let (mut is_found, mut is_same_medium, mut is_opposite) = (false, false, false);
        for group in linked.into_iter().chain(index.with_label(connector)).flat_map(Groups::keys) {
            budget.charge(1)?;
            if group.sheet != group_of_own.sheet && index.names_sheet(name, group.sheet) {
                is_found = true;
                is_same_medium |= !group_of_own.is_other_medium(*group);
                is_opposite |= !group_of_own.is_other_medium(*group) && !group_of_own.is_same_direction(*group);
            }
        }
        let reason = match (is_found, is_same_medium, is_opposite) {
            (false, ..) if connector.linked.is_none() && connector.label.is_none() => "no_label",
            (false, ..) => "no_connector",
            (true, false, _) => "pipe_and_signal",
            (true, true, false) => "same_direction",
            (true, true, true) => "no_reference_back",
        };
        let texts = [own, Some(self.sheets[sheet].name.to_owned()), connector.label.clone()].map(Datum::string);
        Ok(Some(texts.into_iter().chain([Datum::Word(reason)]).collect()))
    }
}

/// Returns the metadata of the joined drawing: the required fields of a stored graph, the sheets, and the pairing of
/// their connectors. The topology of the first sheet that defines one applies to all, with the roles that the others give to
/// their own classes.
fn metadata<'a>(
    sheets: &[Drawing<'a>],
    names: &[String],
    report: Datum<'a>,
    charge: ChargeFn<'_>,
) -> Result<Datum<'a>> {
    let first_value = |key: &str| sheets.iter().find_map(|sheet| sheet.metadata.as_object()?.get(key));
    let titles = sheets.iter().zip(names).map(|(sheet, name)| {
        let [title, _] = titles(sheet, sheet.metadata);
        title.unwrap_or_else(|| name.clone())
    });
    let version = first_value("schema_version").map_or_else(|| Datum::String("1.0.0".into()), Datum::Value);
    let mut entries = vec![
        ("drawing_name", Datum::String(titles.collect::<Vec<_>>().join(" + "))),
        ("job_id", Datum::String(job_id(sheets, names))),
        ("schema_version", version),
        ("change_version", Datum::String("1".into())),
        (SHEETS, Datum::Array(sheets.iter().map(|sheet| Datum::Value(sheet.metadata)).collect())),
        (REPORT, report),
    ];
    let mut topologies = sheets.iter().map(own_topology);
    if let Some(first) = topologies.find_map(|own| own) {
        let config = sheets.iter().find(|sheet| own_topology(sheet).is_some()).map(|sheet| &sheet.topology.config);
        let own_rules = || first.get("roles").and_then(Value::as_array).into_iter().flat_map(|rules| rules.iter());
        let mut rules = match config {
            Some(config) => role_rules::additional_rules(sheets, names, config, own_rules().count(), &mut *charge)?,
            None => Vec::new(),
        };
        let is_own = |(key, _): &(&str, Value<'_>)| *key != "paths" && (*key != "roles" || rules.is_empty());
        let mut topology: Vec<(String, Datum<'a>)> =
            first.iter().filter(is_own).map(|(key, value)| (key.into(), Datum::Value(value))).collect();
        if !rules.is_empty() {
            rules.extend(own_rules().map(Datum::Value));
            topology.push(("roles".into(), Datum::Array(rules)));
        }
        entries.push(("topology", Datum::Map(topology)));
        let mut differing = Vec::new();
        for (sheet, name) in sheets.iter().zip(names) {
            let own = own_topology(sheet).map_or(Value::Null, Value::Object);
            if !compare::is_equal(own, Value::Object(first), &mut *charge)? {
                differing.push(name.clone());
            }
        }
        entries.push(("other_topologies", Datum::strings(differing)));
    }
    Ok(Datum::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()))
}

/// Returns the topology that a sheet defines itself.
fn own_topology<'a>(sheet: &Drawing<'a>) -> Option<Object<'a>> {
    sheet.metadata.as_object()?.get("topology")?.as_object()
}

/// Returns the graph id of the joined drawing: the sheets' `job_id`s or names, limited to the allowed characters.
fn job_id(sheets: &[Drawing<'_>], names: &[String]) -> String {
    const MAX_LENGTH: usize = 128;
    let own = |sheet: &Drawing<'_>| sheet.metadata.as_object()?.get("job_id").map(convert::to_text);
    let ids: Vec<String> =
        sheets.iter().zip(names).map(|(sheet, name)| own(sheet).unwrap_or_else(|| name.clone())).collect();
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "._:@-".contains(c) { c } else { '-' };
    ids.join("\n").chars().map(|c| if c == '\n' { '~' } else { allowed(c) }).take(MAX_LENGTH).collect()
}

/// Returns the id prefixes of the sheets: their number, else their name, made unique.
fn sheet_names(sheets: &[Drawing<'_>]) -> Vec<String> {
    let (mut names, mut used) = (Vec::new(), HashSet::<String>::from_iter([JOINT.into()]));
    for (at, sheet) in sheets.iter().enumerate() {
        let titles = titles(sheet, sheet.metadata);
        let title = titles.iter().rev().flatten().next();
        let name = title.cloned().unwrap_or_else(|| format!("sheet-{}", at + 1));
        let numbered = (at + 1..).map(|number| format!("{name}~{number}"));
        names.extend(std::iter::once(name.clone()).chain(numbered).find(|name| used.insert(name.clone())));
    }
    names
}

/// Sheets by normalized name. Connectors reference a sheet by its name, its number, or its prefix.
#[derive(Default)]
struct SheetIndex {
    names: HashMap<String, usize>,
    /// By name.
    sheets: Vec<Vec<usize>>,
    /// By sheet.
    names_of: Vec<Vec<usize>>,
}

impl SheetIndex {
    fn new(sheets: &[Drawing<'_>], prefixes: &[String]) -> SheetIndex {
        let mut index = SheetIndex::default();
        for (at, (sheet, prefix)) in sheets.iter().zip(prefixes).enumerate() {
            // A sheet that was joined earlier keeps the names of its own sheets.
            let earlier = sheet.metadata.as_object().and_then(|metadata| metadata.get(SHEETS)?.as_array());
            let all = std::iter::once(sheet.metadata).chain(earlier.into_iter().flat_map(|sheets| sheets.iter()));
            let titles = all.flat_map(|metadata| titles(sheet, metadata)).flatten();
            let mut own_names: Vec<usize> = Vec::new();
            for name in titles.chain([prefix.clone()]) {
                let next = index.sheets.len();
                let name = *index.names.entry(tag_spelling::normalized(&name)).or_insert(next);
                if name == next {
                    index.sheets.push(Vec::new());
                }
                if !own_names.contains(&name) {
                    own_names.push(name);
                    index.sheets[name].push(at);
                }
            }
            index.names_of.push(own_names);
        }
        index
    }

    /// Returns the first sheet of a name that is not a given one.
    fn first_other(&self, name: usize, sheet: usize) -> Option<usize> {
        self.sheets[name].iter().copied().find(|other| *other != sheet)
    }
}

/// Returns the name and the number that the metadata of a sheet state, as a string or a JSON number.
fn titles<'a>(sheet: &Drawing<'a>, metadata: Value<'a>) -> [Option<String>; 2] {
    let is_name = |value: &Value<'_>| value.as_str().is_some() || value.as_f64().is_some();
    let text = |names| sheet.field(metadata, names).filter(is_name).map(convert::to_text);
    [Names::DrawingName, Names::DrawingNumber].map(text)
}

/// Returns an object with changed values for some fields.
fn map_fields<'a>(value: Value<'a>, change: impl Fn(&str, Value<'a>) -> Option<Datum<'a>>) -> Datum<'a> {
    let Some(object) = value.as_object() else { return Datum::Value(value) };
    let fields = object.iter().map(|(key, value)| (key.into(), change(key, value).unwrap_or(Datum::Value(value))));
    Datum::Map(fields.collect())
}

/// Returns `sheet#id` if a value is the id of a node of the sheet.
fn prefixed_id<'a>(sheet: &Sheet<'_, 'a>, value: Value<'a>) -> Option<Datum<'a>> {
    sheet.drawing.by_id(value).map(|_| Datum::String(sheet.node_id(value)))
}

/// Returns `sheet#id` if a value is the id of a line node. A line number is not an id, even if an item has the same
/// one.
fn prefixed_line_id<'a>(sheet: &Sheet<'_, 'a>, value: Value<'a>) -> Option<Datum<'a>> {
    pipe_lines::line_with_id(sheet.drawing, value).map(|_| Datum::String(sheet.node_id(value)))
}

fn prefixed_node<'a>(sheet: &Sheet<'_, 'a>, node: NodeId) -> Datum<'a> {
    let config = &sheet.drawing.topology.config;
    let object = sheet.drawing.node(node);
    let id_key = sheet.drawing.key_and_field(object, Names::NodeId).map(|(key, _)| key);
    map_fields(object, |key, value| match key {
        key if id_key == Some(key) => Some(Datum::String(sheet.node_id(value))),
        key if config.is_key(&[Names::Parent, Names::Owner, Names::Zone, Names::Segment], key) => {
            prefixed_id(sheet, value)
        }
        key if config.is_key(&[Names::Line], key) => prefixed_line_id(sheet, value),
        _ => None,
    })
}

fn prefixed_edge<'a>(sheet: &Sheet<'_, 'a>, edge: u32) -> Datum<'a> {
    let topology = &sheet.drawing.topology;
    let config = &topology.config;
    let mut fields = map_fields(sheet.drawing.edge(edge), |key, value| match key {
        key if config.is_key(&[Names::EdgeId], key) => Some(Datum::String(sheet.edge_id(value))),
        key if config.is_endpoint(key) => match value {
            Value::Object(_) => sheet.drawing.field(value, Names::EndpointId).and_then(|id| prefixed_id(sheet, id)),
            id => prefixed_id(sheet, id),
        },
        key if config.is_key(&[Names::Segment], key) => prefixed_id(sheet, value),
        key if config.is_key(&[Names::Line], key) => prefixed_line_id(sheet, value),
        _ => None,
    });
    // Other sheets may be directed, so the edge itself states that its direction is unknown.
    let is_default = sheet.drawing.edge_field(edge, Names::Direction).is_none() && topology.is_assumed(edge);
    if let (Datum::Map(fields), true) = (&mut fields, is_default) {
        fields.retain(|(key, _)| !config.is_key(&[Names::Direction], key));
        fields.extend(unknown_direction(config));
    }
    fields
}

/// Returns the field that states an unknown direction.
fn unknown_direction(config: &TopologyConfig) -> Option<(String, Datum<'static>)> {
    let first = |names: Names| config.names(names).first().cloned();
    first(Names::Direction).zip(first(Names::Undirected)).map(|(key, word)| (key, Datum::String(word)))
}

/// A signal between the items on both sides of a pair of connectors.
struct SignalThrough {
    from: String,
    to: String,
    /// The signals on both sheets have a direction.
    has_direction: bool,
    /// The status of what is not there, or may not be: of the signals or the connectors.
    status: Option<&'static str>,
}

/// An item with a signal to or from a connector.
struct SignalItem {
    id: String,
    has_direction: bool,
    /// Presence of the signal and the connector.
    state: PipeState,
}

/// The edges of a pair of connectors.
struct Joint<'i> {
    config: &'i TopologyConfig,
    number: usize,
    has_direction: bool,
    is_signal: bool,
    /// The line of the pipes on both sides.
    line: Option<String>,
    /// The status of a signal that is not there, or may not be.
    status: Option<&'static str>,
}

impl Joint<'_> {
    /// Returns an edge with the field names of the config. Its kind and direction are those of the edges there.
    fn edge<'a>(&self, part: Option<usize>, from: &str, to: &str) -> Datum<'a> {
        let first = |names: Names| self.config.names(names).first().cloned().unwrap_or_default();
        let [from_key, to_key] = self.config.endpoints().first().cloned().unwrap_or_default();
        let part = part.map(|part| format!(".{part}")).unwrap_or_default();
        let fields = [
            (first(Names::EdgeId), format!("{JOINT}#{}{part}", self.number)),
            (first(Names::EdgeKind), first(if self.is_signal { Names::Signal } else { Names::Flow })),
            (first(Names::EdgeClass), vocabulary::JOINT_CLASS.into()),
            (from_key, from.into()),
            (to_key, to.into()),
        ];
        let direction = (!self.has_direction).then(|| (first(Names::Direction), first(Names::Undirected)));
        let line = self.line.clone().map(|line| (first(Names::Line), line));
        let status = self.status.map(|status| (first(Names::Status), status.into()));
        let fields = fields.into_iter().chain(direction).chain(line).chain(status);
        Datum::Map(fields.map(|(key, text)| (key, Datum::String(text))).collect())
    }
}

fn connectors(sheets: &[Drawing<'_>], index: &SheetIndex) -> Vec<Connector> {
    let mut connectors = Vec::new();
    for (sheet, drawing) in sheets.iter().enumerate() {
        let topology = &drawing.topology;
        let is_open = |node: &NodeId| topology.roles[*node as usize] == Role::OffPage && !topology.is_joined(*node);
        for node in (0..topology.node_count() as u32).filter(is_open) {
            let text = |names: Names| drawing.cross_page(node, names).map(convert::to_text);
            let medium = joints::medium(drawing, node);
            let degree = |dir: Direction| match medium {
                Some(Medium::Signal) => joints::signals(drawing, node, dir).count(),
                _ => topology.table(EdgeFilter::Flow, dir).degree(node),
            };
            let drawing_name = text(Names::CrossPageDrawing);
            connectors.push(Connector {
                sheet,
                node,
                has_id: !drawing.id(node).is_null(),
                persistent_id: drawing.node_field(node, Names::PersistentId).map(convert::to_text),
                linked: text(Names::CrossPagePartner),
                named: drawing_name
                    .as_deref()
                    .and_then(|name| index.names.get(&tag_spelling::normalized(name)))
                    .copied(),
                drawing: drawing_name,
                label: text(Names::CrossPageLabel).filter(|label| !is_placeholder(label)),
                medium,
                // A connector with outgoing flow is an inlet of the sheet.
                enters: match (degree(Direction::Down), degree(Direction::Up)) {
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

/// Returns whether the label of a connector stands for one that is not known yet: `-`, `TBD`, `XXX`.
fn is_placeholder(label: &str) -> bool {
    let label = label.trim();
    let is_filled = label.chars().all(|c| matches!(c, 'x' | 'X')) && label.len() > 1;
    let has_no_text = !label.chars().any(char::is_alphanumeric);
    let plain = snake_case(label).replace(['.', '/', '(', ')', '?'], "");
    is_filled
        || has_no_text
        || [vocabulary::PLACEHOLDERS, vocabulary::EMPTY_TEXTS].iter().any(|known| known.contains(&plain.as_str()))
}

/// Returns the possible partners of each connector, and the criterion.
fn partners(
    connectors: &[Connector],
    index: &ConnectorIndex<'_>,
    by: JoinBy,
    budget: &mut dyn Budget,
) -> Result<Vec<Vec<(usize, &'static str)>>> {
    let mut partners = vec![Vec::new(); connectors.len()];
    for (at, connector) in connectors.iter().enumerate() {
        if by != JoinBy::Label {
            let linked = index.linked(connector, budget)?;
            partners[at].extend(linked.into_iter().map(|other| (other, LINK)));
        }
        if by != JoinBy::Link && partners[at].is_empty() {
            let labeled = index.labeled(connector, budget)?;
            partners[at].extend(labeled.into_iter().map(|other| (other, LABEL)));
        }
        // Every pair may match.
        budget.reserve(size_of_val(&*partners[at]))?;
    }
    Ok(partners)
}

/// Connectors by id, link and label.
struct ConnectorIndex<'c> {
    sheets: &'c SheetIndex,
    by_id: HashMap<&'c str, Groups>,
    by_link: HashMap<&'c str, Groups>,
    /// By name of the sheet and normalized label.
    by_label: HashMap<(usize, String), Groups>,
}

/// Connectors by what decides whether they may be paired: the first ones of each kind. All would be compared with all if
/// many have the same label.
type Groups = BTreeMap<Group, Vec<usize>>;

/// Sheet and direction of connectors, and the name of the sheet that they reference.
#[derive(Clone, Copy, Eq, Ord, PartialEq, PartialOrd)]
struct Group {
    sheet: usize,
    enters: Option<bool>,
    medium: Option<Medium>,
    named: Option<usize>,
    has_id: bool,
}

impl Group {
    fn of(connector: &Connector) -> Group {
        let Connector { sheet, enters, medium, named, has_id, .. } = *connector;
        Group { sheet, enters, medium, named, has_id }
    }

    /// Returns whether the connectors of two groups may be paired: opposite directions, different sheets, not a pipe
    /// and a signal, and both with ids for the edge.
    fn may_be_paired(self, other: Group) -> bool {
        let have_ids = self.has_id && other.has_id;
        self.sheet != other.sheet && have_ids && !self.is_same_direction(other) && !self.is_other_medium(other)
    }

    /// Returns whether pipes end in one group, and signals in the other.
    fn is_other_medium(self, other: Group) -> bool {
        self.medium.zip(other.medium).is_some_and(|(own, other)| own != other)
    }

    /// Returns whether the flow enters the sheets in both groups, or leaves them in both.
    fn is_same_direction(self, other: Group) -> bool {
        self.enters.is_some() && self.enters == other.enters
    }
}

fn add_to_group(groups: &mut Groups, at: usize, connector: &Connector) {
    let group = groups.entry(Group::of(connector)).or_default();
    if group.len() < MAX_CANDIDATES {
        group.push(at);
    }
}

impl<'c> ConnectorIndex<'c> {
    fn new(connectors: &'c [Connector], sheets: &'c SheetIndex) -> ConnectorIndex<'c> {
        let mut index =
            ConnectorIndex { sheets, by_id: HashMap::new(), by_link: HashMap::new(), by_label: HashMap::new() };
        for (at, connector) in connectors.iter().enumerate() {
            if let Some(id) = &connector.persistent_id {
                add_to_group(index.by_id.entry(id).or_default(), at, connector);
            }
            if let Some(link) = &connector.linked {
                add_to_group(index.by_link.entry(link).or_default(), at, connector);
            }
            if let Some(label) = &connector.label {
                for name in &sheets.names_of[connector.sheet] {
                    add_to_group(
                        index.by_label.entry((*name, tag_spelling::normalized(label))).or_default(),
                        at,
                        connector,
                    );
                }
            }
        }
        index
    }

    /// Returns the connectors that a connector links to or that link to it and that it may be paired with, in sheet
    /// order.
    fn linked(&self, connector: &Connector, budget: &mut dyn Budget) -> Result<Vec<usize>> {
        let to = connector.linked.as_deref().and_then(|id| self.by_id.get(id));
        let from = connector.persistent_id.as_deref().and_then(|id| self.by_link.get(id));
        let own = Group::of(connector);
        candidates(to.into_iter().chain(from), |group| own.may_be_paired(group), budget)
    }

    /// Returns the connectors with the same label that a connector may be paired with: each names the sheet of the
    /// other.
    fn labeled(&self, connector: &Connector, budget: &mut dyn Budget) -> Result<Vec<usize>> {
        let own = Group::of(connector);
        let names_own = |group: Group| group.named.is_some_and(|name| self.names_sheet(name, own.sheet));
        candidates(self.with_label(connector).into_iter(), |group| own.may_be_paired(group) && names_own(group), budget)
    }

    /// Returns the connectors with the same label on the sheets that a connector names.
    fn with_label(&self, connector: &Connector) -> Option<&Groups> {
        self.by_label.get(&(connector.named?, tag_spelling::normalized(connector.label.as_deref()?)))
    }

    /// Returns whether a sheet has a name.
    fn names_sheet(&self, name: usize, sheet: usize) -> bool {
        self.sheets.names_of[sheet].contains(&name)
    }
}

/// Returns the connectors of some groups, in sheet order: each once, and a limited number.
fn candidates<'g>(
    groups: impl Iterator<Item = &'g Groups>,
    is_allowed: impl Fn(Group) -> bool,
    budget: &mut dyn Budget,
) -> Result<Vec<usize>> {
    let mut found: Vec<usize> = Vec::new();
    for groups in groups {
        let mut count = 0;
        for (group, connectors) in groups {
            budget.charge(1)?;
            if is_allowed(*group) && count < MAX_CANDIDATES {
                count += connectors.len();
                found.extend(connectors);
            }
        }
    }
    budget.charge(1 + found.len() as u64)?;
    found.sort_unstable();
    found.dedup();
    found.truncate(MAX_CANDIDATES);
    Ok(found)
}

/// Returns whether a connector is the only candidate of another. A connector matched by label may link to a third one.
fn is_only_candidate(partners: &[(usize, &str)], at: usize) -> bool {
    matches!(partners, [(only, _)] if *only == at)
}

/// Returns whether neither of two connectors joined by a link references a different one.
fn links_agree(a: &Connector, b: &Connector, by: &str) -> bool {
    let conflicts = |a: &Connector, b: &Connector| {
        let both = a.linked.as_ref().zip(b.persistent_id.as_ref());
        both.is_some_and(|(linked, id)| linked != id)
    };
    by == LABEL || !conflicts(a, b) && !conflicts(b, a)
}

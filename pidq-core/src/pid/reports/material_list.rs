//! Bill of material: piping components and pipe runs, counted by their class, size, piping class or other fields. What the
//! drawing states as not there, or not clearly as there, has rows of its own.

use hashbrown::{HashMap, HashSet};

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::connectivity::UnionFind;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::pid::lists::{self, EdgeField};
use crate::pid::pipe_lines::impulse_lines::{ends_impulse_line, is_impulse_line};
use crate::pid::quantity::{self, Stated, nominal_size};
use crate::pid::stated_values::{PipeValues, joint_pipes, stated_values, values_of};
use crate::pid::valve_state::installation;
use crate::pid::valve_state::phrases::clauses;
use crate::pid::valve_state::pipes::{PipeState, pipe_state};
use crate::pid::{Budget, Datum, pipe_lines};
use crate::value::{Value, convert};

/// Fields by which material is counted without arguments.
pub(crate) const DEFAULT_BY: &[&str] = &["class", "nominal_diameter", "piping_class"];

const LENGTH: &[&str] = &["unit", "total", "count"];

/// Returns one row per kind of component, then per kind of pipe.
pub(crate) fn material_list<'a>(drawing: &Drawing<'a>, by: &[&str], budget: &mut dyn Budget) -> Result<Datum<'a>> {
    let by = if by.is_empty() { DEFAULT_BY } else { by };
    let mut list = MaterialList::new(drawing, by);
    for node in (0..drawing.topology.node_count() as u32).filter(|node| is_material(drawing, *node)) {
        let values = list.values_of_component(node, budget)?;
        let status = installation(drawing, node).uncertainty().or_else(|| by_others(drawing, drawing.node(node)));
        let group = list.group(("component", status), values, budget)?;
        list.groups[group].count += 1;
    }
    list.add_pipes(budget)?;
    list.into_datum(budget)
}

/// Returns whether a node is part of the piping: no equipment, no nozzle, no end of the sheet, no instrument beside it.
fn is_material(drawing: &Drawing<'_>, node: NodeId) -> bool {
    let topology = &drawing.topology;
    let is_outside = matches!(topology.roles[node as usize], Role::OffPage | Role::OpenEnd | Role::Port);
    let is_instrument = topology.roles[node as usize] == Role::Instrument;
    let is_beside = is_instrument && (topology.flow_degree(node) == 0 || ends_impulse_line(drawing, node));
    lists::is_component(drawing, node) && !topology.is_equipment(node) && !is_outside && !is_beside
}

/// Words for what others supply, in lower case and without punctuation.
const OF_OTHERS: &[&str] = &[
    "bauseitig",
    "bauseits",
    "by client",
    "by others",
    "by owner",
    "client scope",
    "door derden",
    "hors fourniture",
    "hors lot",
    "hors périmètre",
    "nicht im lieferumfang",
    "not in contract",
    "not in scope",
    "others scope",
    "out of scope",
    "outside scope",
    "owner scope",
    "package scope",
    "par autres",
    "par d autres",
    "por otros",
    "scope of others",
    "supplier scope",
    "vendor scope",
];

/// Returns the status of an item or a pipe that is of the scope of others by a text: `by others`, `bauseits`.
fn by_others(drawing: &Drawing<'_>, holder: Value<'_>) -> Option<&'static str> {
    let has_phrase = |clause: &[String], phrase: &str| {
        let count = phrase.split(' ').count();
        clause.windows(count).any(|words| words.iter().map(String::as_str).eq(phrase.split(' ')))
    };
    let names_others =
        |text: &str| clauses(text).iter().any(|clause| OF_OTHERS.iter().any(|phrase| has_phrase(clause, phrase)));
    let texts = |names: Names| values_of(drawing, holder, names).filter_map(Value::as_str);
    let is_found = [Names::Status, Names::Remarks, Names::Description].into_iter().any(|names| {
        let mut texts = texts(names).filter(|text| text.len() <= MAX_CLASS);
        texts.any(names_others)
    });
    is_found.then_some("by_others")
}

/// Kind of a row, and why its items may not be there or are of the scope of others.
type Kind = (&'static str, Option<&'static str>);

/// A row in progress.
struct Group<'a> {
    kind: Kind,
    values: Vec<Option<Value<'a>>>,
    count: usize,
    /// By unit, in order of appearance.
    lengths: Vec<(Option<String>, f64, usize)>,
    without_length: usize,
}

/// Key of a row: its kind and the texts of its values.
type GroupKey = (Kind, Vec<Option<String>>);

struct MaterialList<'d, 'a, 'b> {
    drawing: &'d Drawing<'a>,
    by: &'b [&'b str],
    fields: Vec<EdgeField>,
    groups: Vec<Group<'a>>,
    indices: HashMap<GroupKey, usize>,
}

impl<'d, 'a, 'b> MaterialList<'d, 'a, 'b> {
    fn new(drawing: &'d Drawing<'a>, by: &'b [&'b str]) -> MaterialList<'d, 'a, 'b> {
        let fields = by.iter().map(|name| EdgeField::from_name(drawing, name)).collect();
        MaterialList { drawing, by, fields, groups: Vec::new(), indices: HashMap::new() }
    }

    /// Charges for reading the fields of an item: names are as long as the query makes them.
    fn charge_fields(&self, edges: usize, budget: &mut dyn Budget) -> Result<()> {
        let bytes: usize = self.by.iter().map(|name| name.len()).sum();
        budget.charge((1 + edges as u64) * (1 + self.by.len() as u64 + bytes as u64 / 64))
    }

    /// Returns the values of a component; a value that it does not state is that of its pipes, if all have the same.
    fn values_of_component(&self, node: NodeId, budget: &mut dyn Budget) -> Result<Vec<Option<Value<'a>>>> {
        let drawing = self.drawing;
        let edges = drawing.topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
        self.charge_fields(edges.len(), budget)?;
        let of_pipes = |field: &EdgeField| match field {
            EdgeField::Named(_) => match lists::distinct_values(drawing, edges, field).0.as_slice() {
                [only] => Some(*only),
                _ => None,
            },
            EdgeField::Plain(_) => None,
        };
        let value = |(name, field): (&&str, &EdgeField)| match *name {
            "class" => drawing.class(node).map(Value::String),
            "role" => Some(Value::String(drawing.topology.roles[node as usize].name())),
            _ => field.read(drawing, drawing.node(node)).or_else(|| of_pipes(field)),
        };
        Ok(self.by.iter().zip(&self.fields).map(value).collect())
    }

    fn values_of_pipe(
        &self,
        edge: EdgeId,
        groups: &[NodeId],
        budget: &mut dyn Budget,
    ) -> Result<Vec<Option<Value<'a>>>> {
        let drawing = self.drawing;
        self.charge_fields(groups.len(), budget)?;
        let of_group = |field: &EdgeField| groups.iter().find_map(|group| field.read(drawing, drawing.node(*group)));
        let value = |(name, field): (&&str, &EdgeField)| match *name {
            "class" | "role" => Some(Value::String("pipe")),
            _ => lists::edge_value(drawing, edge, field).or_else(|| of_group(field)),
        };
        Ok(self.by.iter().zip(&self.fields).map(value).collect())
    }

    /// Returns the index of the row with some values.
    fn group(&mut self, kind: Kind, values: Vec<Option<Value<'a>>>, budget: &mut dyn Budget) -> Result<usize> {
        // `DN 50`, `2"` and 50 are one size.
        let spelling = |text: String, field: &EdgeField| match field {
            EdgeField::Named(Names::Size) => nominal_size::dn(&text).map_or(text, |dn| dn.to_string()),
            _ => text,
        };
        let text = |(value, field): (&Option<Value<'a>>, &EdgeField)| {
            value.map(|value| spelling(convert::to_text(lists::normalized(value, field)), field))
        };
        let texts: Vec<Option<String>> = values.iter().zip(&self.fields).map(text).collect();
        let bytes: usize = texts.iter().flatten().map(String::len).sum();
        budget.charge(1 + bytes as u64 / 64)?;
        let key = (kind, texts);
        if let Some(at) = self.indices.get(&key) {
            return Ok(*at);
        }
        budget
            .reserve(bytes + size_of::<Group<'_>>() + values.len() * (size_of::<String>() + size_of::<Value<'_>>()))?;
        self.indices.insert(key, self.groups.len());
        self.groups.push(Group { kind, values, count: 0, lengths: Vec::new(), without_length: 0 });
        Ok(self.groups.len() - 1)
    }

    /// Counts pipes as runs: connected pipes of the same line and the same values, whatever components are in them.
    fn add_pipes(&mut self, budget: &mut dyn Budget) -> Result<()> {
        let topology = &self.drawing.topology;
        budget.reserve(topology.edge_count() * 3 * size_of::<usize>())?;
        let mut pipes = Pipes::new(self.drawing, budget)?;
        let mut row_of: HashMap<EdgeId, usize> = HashMap::new();
        for edge in topology.edges_of(EdgeFlags::FLOW).filter(|edge| !is_impulse_line(self.drawing, *edge)) {
            // A joint has the values of the pipe that it continues, and no length.
            let continued = joint_pipes::continued(self.drawing, edge).unwrap_or(edge);
            let groups = pipes.values.groups(continued);
            let values = self.values_of_pipe(continued, &groups, budget)?;
            // A blanked pipe is there.
            let state = Some(pipe_state(self.drawing, edge)).filter(|state| *state != PipeState::Closed);
            let status = state.and_then(PipeState::uncertainty);
            let status = status.or_else(|| by_others(self.drawing, self.drawing.edge(edge)));
            let row = self.group(("pipe", status), values, budget)?;
            row_of.insert(edge, row);
            if continued == edge {
                pipes.add(edge, row, &groups, budget)?;
            }
        }
        let runs = pipes.runs(&row_of, budget)?;
        let mut with_unknown_length = HashSet::new();
        for edge in topology.edges_of(EdgeFlags::FLOW).filter(|edge| row_of.contains_key(edge)) {
            budget.charge(1)?;
            let (row, run) = (row_of[&edge], runs[&edge]);
            if edge == run {
                self.groups[row].count += 1;
            }
            let is_joint = topology.is_joint(edge);
            if !is_joint && !pipes.has_length(edge) && with_unknown_length.insert(run) {
                self.groups[row].without_length += 1;
            }
        }
        for (row, unit, length) in pipes.lengths() {
            let lengths = &mut self.groups[row].lengths;
            match lengths.iter_mut().find(|(known, _, _)| *known == unit) {
                Some((_, total, count)) => (*total, *count) = (*total + length, *count + 1),
                None => lengths.push((unit, length, 1)),
            }
        }
        Ok(())
    }

    fn into_datum(self, budget: &mut dyn Budget) -> Result<Datum<'a>> {
        let bytes: usize = self.by.iter().map(|name| name.len() + 4 * size_of::<Datum<'_>>()).sum();
        let mut rows = Vec::with_capacity(self.groups.len());
        for group in self.groups {
            budget.charge(1 + bytes as u64 / 64)?;
            budget.reserve(bytes + 8 * size_of::<(String, Datum<'_>)>())?;
            let (kind, status) = group.kind;
            let mut row = vec![(String::from("kind"), Datum::Word(kind))];
            row.extend(
                self.by.iter().zip(group.values).map(|(name, value)| (String::from(*name), Datum::value(value))),
            );
            let length = |(unit, total, count): (Option<String>, f64, usize)| {
                vec![Datum::string(unit), Datum::Number(total), Datum::count(count)]
            };
            let lengths = group.lengths.into_iter().map(length).collect();
            row.push(("count".into(), Datum::count(group.count)));
            row.push(("lengths".into(), Datum::Table(LENGTH, lengths)));
            row.push(("without_length".into(), Datum::count(group.without_length)));
            row.push(("status".into(), status.map_or(Datum::Null, Datum::Word)));
            rows.push(Datum::Map(row));
        }
        Ok(Datum::Array(rows))
    }
}

/// Item that states a length.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
enum Holder {
    Pipe(EdgeId),
    Group(NodeId),
}

/// Stated length of a segment, a line or a pipe; `row` is `None` if its pipes are in several rows.
struct Length {
    row: Option<usize>,
    unit: Option<String>,
    value: f64,
}

/// Pipes with their lines and lengths.
struct Pipes<'d, 'a> {
    drawing: &'d Drawing<'a>,
    values: PipeValues<'d, 'a, 1>,
    /// In order of appearance.
    holders: Vec<Holder>,
    lengths: HashMap<Holder, Length>,
    holder_of: HashMap<EdgeId, Holder>,
    stated: HashMap<NodeId, Option<(f64, Option<String>)>>,
}

impl<'d, 'a> Pipes<'d, 'a> {
    fn new(drawing: &'d Drawing<'a>, budget: &mut dyn Budget) -> Result<Pipes<'d, 'a>> {
        let values = PipeValues::new(drawing, [Names::Length], &mut |units| budget.charge(units))?;
        let (holders, lengths) = (Vec::new(), HashMap::new());
        Ok(Pipes { drawing, values, holders, lengths, holder_of: HashMap::new(), stated: HashMap::new() })
    }

    /// Adds a pipe. Its length is its own, else that of its segment, else that of its line.
    fn add(&mut self, edge: EdgeId, row: usize, groups: &[NodeId], budget: &mut dyn Budget) -> Result<()> {
        let own = length_of(self.drawing, self.drawing.edge(edge), budget)?;
        let mut found = own.map(|length| (Holder::Pipe(edge), length));
        for group in groups {
            if found.is_some() {
                break;
            }
            if !self.stated.contains_key(group) {
                let length = length_of(self.drawing, self.drawing.node(*group), budget)?;
                self.stated.insert(*group, length);
            }
            found = self.stated[group].clone().map(|length| (Holder::Group(*group), length));
        }
        let Some((holder, (value, unit))) = found else { return Ok(()) };
        self.holder_of.insert(edge, holder);
        match self.lengths.get_mut(&holder) {
            Some(known) => known.row = known.row.filter(|known| *known == row),
            None => {
                budget.reserve(4 * size_of::<Length>())?;
                self.holders.push(holder);
                self.lengths.insert(holder, Length { row: Some(row), unit, value });
            }
        }
        Ok(())
    }

    /// Returns whether a length covers a pipe that can be attributed to its row.
    fn has_length(&self, edge: EdgeId) -> bool {
        self.holder_of.get(&edge).and_then(|holder| self.lengths.get(holder)).is_some_and(|length| length.row.is_some())
    }

    fn lengths(self) -> Vec<(usize, Option<String>, f64)> {
        let mut lengths = self.lengths;
        let found = self.holders.iter().filter_map(|holder| lengths.remove(holder));
        found.filter_map(|length| Some((length.row?, length.unit, length.value))).collect()
    }

    /// Returns for each pipe the first one of its run.
    fn runs(&self, row_of: &HashMap<EdgeId, usize>, budget: &mut dyn Budget) -> Result<HashMap<EdgeId, EdgeId>> {
        let topology = &self.drawing.topology;
        let line = |edge: EdgeId| {
            let edge = joint_pipes::continued(self.drawing, edge).unwrap_or(edge);
            self.drawing.edge_field(edge, Names::Line).map(|name| pipe_lines::line_name(self.drawing, name))
        };
        let mut unions = UnionFind::new(topology.edge_count());
        for node in (0..topology.node_count() as u32).filter(|node| !topology.is_equipment(*node)) {
            let edges = topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
            budget.charge(1 + edges.len() as u64)?;
            let mut first_of: HashMap<(usize, Option<String>), EdgeId> = HashMap::new();
            for edge in edges.iter().filter(|edge| row_of.contains_key(*edge)) {
                let first = *first_of.entry((row_of[edge], line(*edge))).or_insert(*edge);
                unions.join(first, *edge);
            }
        }
        let mut first_of_root: HashMap<u32, EdgeId> = HashMap::new();
        let runs = topology.edges_of(EdgeFlags::FLOW).map(|edge| {
            let root = unions.find(edge);
            (edge, *first_of_root.entry(root).or_insert(edge))
        });
        Ok(runs.collect())
    }
}

/// Returns the length that an item states, and its unit.
fn length_of(
    drawing: &Drawing<'_>,
    holder: Value<'_>,
    budget: &mut dyn Budget,
) -> Result<Option<(f64, Option<String>)>> {
    let [stated]: [Option<Stated<'_>>; 1] =
        stated_values(drawing, holder, [Names::Length], &mut |units| budget.charge(units))?;
    let length = stated.as_ref().and_then(|stated| {
        let (length, unit) = quantity::number_and_unit(stated).ok()?;
        Some((length, unit.map(String::from)))
    });
    Ok(length)
}

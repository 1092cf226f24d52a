//! Corrosion circuits: connected piping with the same fluid, piping class, material, temperature and pressure.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::Names;
use crate::graph::connectivity::UnionFind;
use crate::graph::drawing::Drawing;
use crate::graph::roles::Role;
use crate::graph::topology::{Direction, EdgeFilter, EdgeFlags};
use crate::pid::pipe_lines::impulse_lines::is_impulse_line;
use crate::pid::quantity::{self, Pressure, PressureDefaults, Reference, Stated};
use crate::pid::stated_values::PipeValues;
use crate::pid::{Budget, Datum, pipe_lines, push_row};
use crate::value::convert;

/// Properties that a circuit has one value of.
pub(crate) const PROPERTIES: &[&str] = &["fluid", "piping_class", "material", "insulation", "temperature", "pressure"];

/// Properties that end a circuit where they change, without an option.
pub(crate) const DEFAULT_BY: &[&str] = &["fluid", "piping_class", "material", "temperature", "pressure"];

const CIRCUIT: &[&str] = &[
    "circuit",
    "fluid",
    "piping_class",
    "material",
    "insulation",
    "temperature",
    "pressure",
    "lines",
    "items",
    "pipes",
    "breaks",
    "unknown",
    "certain",
];
const BREAK: &[&str] = &["at", "kind", "changes", "circuits"];
const RANGE: &[&str] = &["low", "high", "unit", "basis"];

/// Properties of pipes: texts, and a temperature and a pressure.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
struct Properties {
    texts: [Option<String>; 6],
    numbers: [Option<RangeNumber>; 2],
}

/// Returns proposals for corrosion circuits.
pub(crate) fn corrosion_circuits<'a>(drawing: &Drawing<'a>, by: &[&str], budget: &mut dyn Budget) -> Result<Datum<'a>> {
    let by: Vec<usize> = (0..PROPERTIES.len()).filter(|at| by.contains(&PROPERTIES[*at])).collect();
    let mut circuits =
        Circuits { drawing, by, properties: Vec::new(), kind_of: HashMap::new(), circuit_of: HashMap::new() };
    circuits.read(budget)?;
    let groups = circuits.connect(budget)?;
    let mut rows = Vec::with_capacity(groups.len());
    for (at, edges) in groups.iter().enumerate() {
        let row = circuits.row(at, edges, budget)?;
        push_row(&mut rows, row, budget)?;
    }
    Ok(Datum::Table(CIRCUIT, rows))
}

struct Circuits<'d, 'a> {
    drawing: &'d Drawing<'a>,
    /// Indices of the properties that end a circuit.
    by: Vec<usize>,
    properties: Vec<Properties>,
    /// By pipe: the index of its properties.
    kind_of: HashMap<EdgeId, usize>,
    /// By pipe: the index of its circuit.
    circuit_of: HashMap<EdgeId, usize>,
}

impl<'a> Circuits<'_, 'a> {
    fn read(&mut self, budget: &mut dyn Budget) -> Result<()> {
        const LISTS: [Names; 8] = [
            Names::Fluid,
            Names::PipingClass,
            Names::Material,
            Names::Insulation,
            Names::OperatingTemperature,
            Names::DesignTemperature,
            Names::OperatingPressure,
            Names::DesignPressure,
        ];
        let mut values = PipeValues::new(self.drawing, LISTS, &mut |units| budget.charge(units))?;
        let mut indices: HashMap<Properties, usize> = HashMap::new();
        let mut pressures = Pressures::default();
        budget.reserve(4 * self.drawing.topology.edge_count() * size_of::<(EdgeId, usize)>())?;
        let drawing = self.drawing;
        for edge in drawing.topology.edges_of(EdgeFlags::FLOW).filter(|edge| !is_impulse_line(drawing, *edge)) {
            let stated = values.of_edge(edge, &mut |units| budget.charge(units))?;
            let properties = properties_of(stated, &mut pressures);
            let bytes: usize = properties.texts.iter().flatten().map(String::len).sum();
            budget.charge(1 + bytes as u64 / 64)?;
            let next = self.properties.len();
            let at = *indices.entry(properties.clone()).or_insert(next);
            if at == next {
                budget.reserve(3 * (bytes + size_of::<Properties>()))?;
                self.properties.push(properties);
            }
            self.kind_of.insert(edge, at);
        }
        Ok(())
    }

    /// Connects pipes with the same properties at items other than equipment; returns the pipes of each circuit.
    fn connect(&mut self, budget: &mut dyn Budget) -> Result<Vec<Vec<EdgeId>>> {
        let topology = &self.drawing.topology;
        let mut unions = UnionFind::new(topology.edge_count());
        for node in (0..topology.node_count() as u32).filter(|node| !topology.is_equipment(*node)) {
            let edges = topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
            budget.charge(1 + edges.len() as u64 * self.by.len() as u64)?;
            let mut first_of: HashMap<Vec<&Option<String>>, EdgeId> = HashMap::new();
            for (edge, kind) in edges.iter().filter_map(|edge| Some((edge, self.kind_of.get(edge)?))) {
                let texts = &self.properties[*kind].texts;
                let key = self.by.iter().map(|at| &texts[*at]).collect();
                unions.join(*first_of.entry(key).or_insert(*edge), *edge);
            }
        }
        let mut groups: Vec<Vec<EdgeId>> = Vec::new();
        let mut group_of: HashMap<u32, usize> = HashMap::new();
        for edge in topology.edges_of(EdgeFlags::FLOW).filter(|edge| self.kind_of.contains_key(edge)) {
            let at = *group_of.entry(unions.find(edge)).or_insert(groups.len());
            if at == groups.len() {
                groups.push(Vec::new());
            }
            groups[at].push(edge);
            self.circuit_of.insert(edge, at);
        }
        Ok(groups)
    }

    fn row(&self, number: usize, edges: &[EdgeId], budget: &mut dyn Budget) -> Result<Vec<Datum<'a>>> {
        let topology = &self.drawing.topology;
        budget.charge(edges.len() as u64)?;
        let mut nodes: Vec<NodeId> = edges.iter().flat_map(|edge| topology.ends[*edge as usize]).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut kinds: Vec<usize> = edges.iter().map(|edge| self.kind_of[edge]).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let mut breaks = Vec::new();
        for node in &nodes {
            if let Some(row) = self.break_at(*node, number, budget)? {
                push_row(&mut breaks, row, budget)?;
            }
        }
        let is_unknown = |at: &&usize| kinds.iter().any(|kind| self.properties[*kind].texts[**at].is_none());
        let unknown: Vec<Datum<'a>> =
            self.by.iter().filter(is_unknown).map(|at| Datum::Word(PROPERTIES[*at])).collect();
        let certain = unknown.is_empty();
        let items = nodes.into_iter().filter(|node| !topology.is_equipment(*node)).collect();
        let text = |at: usize| self.joined(&kinds, at);
        Ok(vec![
            Datum::String(circuit_name(number)),
            text(0),
            text(1),
            text(2),
            text(3),
            self.range(&kinds, 0),
            self.range(&kinds, 1),
            Datum::strings(pipe_lines::lines_of(self.drawing, edges.iter().copied())),
            Datum::Nodes(items),
            Datum::Edges(edges.to_vec()),
            Datum::Table(BREAK, breaks),
            Datum::Array(unknown),
            Datum::Bool(certain),
        ])
    }

    /// Returns the distinct values of a property; null if none is stated.
    fn joined(&self, kinds: &[usize], at: usize) -> Datum<'a> {
        let mut values: Vec<&str> =
            kinds.iter().filter_map(|kind| self.properties[*kind].texts[at].as_deref()).collect();
        values.sort_unstable();
        values.dedup();
        Datum::string((!values.is_empty()).then(|| values.join(", ")))
    }

    /// Returns the lowest and the highest number; null if a pipe states none, or if their units differ.
    fn range(&self, kinds: &[usize], at: usize) -> Datum<'a> {
        let numbers: Option<Vec<_>> = kinds.iter().map(|kind| self.properties[*kind].numbers[at]).collect();
        let Some(numbers) = numbers else { return Datum::Null };
        let Some((_, unit, basis)) = numbers.first().copied() else { return Datum::Null };
        if numbers.iter().any(|(_, other, _)| *other != unit) {
            return Datum::Null;
        }
        let values = numbers.iter().map(|(bits, _, _)| f64::from_bits(*bits));
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let basis = if numbers.iter().all(|(_, _, other)| *other == basis) { basis } else { "mixed" };
        let unit = unit.map_or(Datum::Null, Datum::Word);
        Datum::Record(RANGE, vec![Datum::Number(low), Datum::Number(high), unit, Datum::Word(basis)])
    }

    /// Returns the row of a node at which a circuit ends.
    fn break_at(&self, node: NodeId, number: usize, budget: &mut dyn Budget) -> Result<Option<Vec<Datum<'a>>>> {
        let topology = &self.drawing.topology;
        let edges = topology.table(EdgeFilter::Flow, Direction::Both).edges(node);
        budget.charge(1 + edges.len() as u64)?;
        let role = topology.roles[node as usize];
        let is_equipment = topology.is_equipment(node);
        let (mut own, mut others) = (HashSet::new(), HashSet::new());
        let mut circuits = Vec::new();
        for (edge, circuit) in edges.iter().filter_map(|edge| Some((edge, *self.circuit_of.get(edge)?))) {
            if circuit == number {
                own.insert(self.kind_of[edge]);
            } else {
                others.insert(self.kind_of[edge]);
                circuits.push(circuit);
            }
        }
        let is_end = matches!(role, Role::OffPage | Role::OpenEnd) && !topology.is_joined(node);
        if circuits.is_empty() && !is_equipment && !is_end {
            return Ok(None);
        }
        circuits.sort_unstable();
        circuits.dedup();
        budget.charge((own.len() * others.len() * self.by.len()) as u64)?;
        let differs = |at: &&usize| {
            own.iter().any(|kind| {
                let texts = &self.properties[*kind].texts;
                others.iter().any(|other| self.properties[*other].texts[**at] != texts[**at])
            })
        };
        let changes = self.by.iter().filter(differs).map(|at| Datum::Word(PROPERTIES[*at])).collect();
        let kind = if is_equipment { Role::Equipment.name() } else { role.name() };
        Ok(Some(vec![
            Datum::Node(node),
            Datum::Word(kind),
            Datum::Array(changes),
            Datum::strings(circuits.into_iter().map(circuit_name)),
        ]))
    }
}

fn circuit_name(number: usize) -> String {
    format!("C{}", number + 1)
}

/// Number of a property, its unit, and whether it is an operating or a design value.
type RangeNumber = (u64, Option<&'static str>, &'static str);

/// Returns the properties of a pipe. An operating value takes precedence over a design value, also one that cannot be read,
/// such as a range.
fn properties_of(stated: [Option<Stated<'_>>; 8], pressures: &mut Pressures) -> Properties {
    let [fluid, class, material, insulation, stated @ ..] = stated;
    let [operating_temperature, design_temperature, operating_pressure, design_pressure] = stated;
    let temperature = match &operating_temperature {
        None => temperature(design_temperature.as_ref(), "design"),
        stated => temperature(stated.as_ref(), "operating"),
    };
    let pressure = match &operating_pressure {
        None => pressures.read(design_pressure.as_ref(), "design"),
        stated => pressures.read(stated.as_ref(), "operating"),
    };
    let text = |stated: Option<Stated<'_>>| stated.map(|stated| convert::to_text(stated.value));
    let range_text = |number: Option<RangeNumber>| {
        number.map(|(bits, unit, basis)| format!("{} {} {basis}", f64::from_bits(bits), unit.unwrap_or_default()))
    };
    let texts =
        [text(fluid), text(class), text(material), text(insulation), range_text(temperature), range_text(pressure)];
    Properties { texts, numbers: [temperature, pressure] }
}

fn temperature(stated: Option<&Stated<'_>>, basis: &'static str) -> Option<RangeNumber> {
    let (number, has_unit) = quantity::temperature(stated).ok()?;
    // 0 and -0 are equal.
    Some(((number + 0.0).to_bits(), has_unit.then_some("°C"), basis))
}

/// Maximum number of similar pressures with which one is compared.
const MAX_NEAR: usize = 64;

/// Pressures that were read before, the first of each quantity: 16 barg and 232 psig are one.
#[derive(Default)]
struct Pressures {
    /// By unit in results and by basis, then by the value in bar.
    known: HashMap<(Option<&'static str>, &'static str), BTreeMap<u64, Pressure>>,
}

impl Pressures {
    /// Returns a stated pressure in bar: that of the first which is the same apart from rounding to another unit.
    fn read(&mut self, stated: Option<&Stated<'_>>, basis: &'static str) -> Option<RangeNumber> {
        let found = quantity::pressure(stated, PressureDefaults::default()).ok()?;
        let unit = match found.reference {
            _ if !found.has_unit => None,
            Reference::Gauge => Some("barg"),
            Reference::Absolute => Some("bara"),
            Reference::Unstated => Some("bar"),
        };
        // 0 and -0 are equal.
        let bits = (found.value + 0.0).to_bits();
        let known = self.known.entry((unit, basis)).or_default();
        // The numbers of bits of positive values are in the order of the values.
        let near = [-2.0, 2.0].map(|side| (found.value * (1.0 + side * quantity::ROUNDING)).to_bits());
        let first = (found.value > 0.0).then(|| {
            known.range(near[0]..=near[1]).take(MAX_NEAR).find(|(_, other)| other.is_same(found)).map(|(bits, _)| *bits)
        });
        let bits = match first.flatten() {
            Some(first) => first,
            None => {
                known.insert(bits, found);
                bits
            }
        };
        Some((bits, unit, basis))
    }
}

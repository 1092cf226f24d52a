//! Values that a drawing states about an item, with their units: fields and attributes under any of their names.
//!
//! All that reads what an item states, positions, locks and statuses included, reads it here: in any spelling of a name,
//! as a field of the item or among its attributes.

pub(crate) mod joint_pipes;
pub(crate) mod name_scan;

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::ChargeFn;
use super::quantity::{self, Stated};
use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::name_filter::NameFilter;
use crate::graph::config::{MAX_CLASS, Names, TopologyConfig};
use crate::graph::drawing::Drawing;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary::{self, letters};
use crate::value::{Object, Value};

/// Returns for each list the value that an item states under the first of its names, with the others under the same one,
/// and for design pressures with those under the other names. A name may end in a unit: `design_pressure_bar`.
pub(crate) fn stated_values<'a, const N: usize>(
    drawing: &Drawing<'a>,
    holder: Value<'a>,
    lists: [Names; N],
    charge: ChargeFn<'_>,
) -> Result<[Option<Stated<'a>>; N]> {
    let mut found: [Option<(usize, Stated<'a>)>; N] = [const { None }; N];
    let Some(object) = holder.as_object() else { return Ok(found.map(|_| None)) };
    for field in fields(object) {
        charge(1 + (N + field.name.len() / 8) as u64 / 8)?;
        let is_stated = !field.value.is_null() && field.value.as_str().is_none_or(|text| !text.trim().is_empty());
        if !is_stated || field.name.len() > MAX_CLASS {
            continue;
        }
        let word = plain_name(field.name);
        for (list, best) in lists.iter().zip(&mut found) {
            let Some((rank, unit)) = rank(drawing.topology.config.words_of(*list), &word) else { continue };
            match best {
                Some((best_rank, known)) if rank == *best_rank => known.add(field.stated(object, unit)),
                // The lowest one limits, whatever its name.
                Some((best_rank, known)) if *list == Names::DesignPressure => {
                    let mut other = field.stated(object, unit);
                    let other_rank = rank.max(*best_rank);
                    if rank < *best_rank {
                        (*best_rank, other) = (rank, std::mem::replace(known, other));
                    }
                    let name = drawing.topology.config.words_of(*list).get(other_rank);
                    let is_allowable = name.is_some_and(|name| name == "mawp");
                    if !(is_allowable && is_at_least(&other, known)) {
                        known.add(other);
                    }
                }
                Some((best_rank, _)) if rank > *best_rank => {}
                best => *best = Some((rank, field.stated(object, unit))),
            }
        }
    }
    Ok(found.map(|best| best.map(|(_, stated)| stated)))
}

/// Returns whether a value is not below another one in the same unit. A maximum allowable working pressure above the design
/// pressure contradicts nothing.
fn is_at_least(value: &Stated<'_>, other: &Stated<'_>) -> bool {
    match (quantity::number_and_unit(value), quantity::number_and_unit(other)) {
        (Ok((value, unit)), Ok((other, other_unit))) => unit == other_unit && value >= other,
        _ => false,
    }
}

/// Returns the names and values of all fields and attributes of an item that have a value.
pub(crate) fn stated_fields<'a>(object: Object<'a>) -> impl Iterator<Item = (&'a str, Stated<'a>)> {
    let is_stated =
        |field: &Field<'a>| !field.value.is_null() && field.value.as_str().is_none_or(|text| !text.trim().is_empty());
    fields(object).filter(is_stated).map(move |field| (field.name, field.stated(object, None)))
}

/// A field or an attribute of an item.
struct Field<'a> {
    name: &'a str,
    value: Value<'a>,
    unit: Option<&'a str>,
    /// Reference to the unit in a model of units.
    unit_uri: Option<&'a str>,
}

impl<'a> Field<'a> {
    fn new(name: &'a str, value: Value<'a>) -> Field<'a> {
        Field { name, value, unit: None, unit_uri: None }
    }

    /// Returns the value with its unit: its own one, that in its name, or that of the field `NAME_unit`.
    fn stated(&self, object: Object<'a>, unit_in_name: Option<&str>) -> Stated<'a> {
        let nested = |key: &str| self.value.as_object().and_then(|nested| nested.get(key));
        let text = |key: &str| object.get(key)?.as_str();
        // The unit of all pressures of an item; `unit` may also be a part of the plant.
        let of_pressures = || {
            let is_pressure = self.name.to_ascii_lowercase().contains("pressure");
            let units = ["pressure_unit", "pressure_units", "unit", "units", "uom"].into_iter();
            let mut found = units.filter(|_| is_pressure).filter_map(text);
            found.find(|unit| quantity::pressure_unit(unit).is_some())
        };
        let sibling = || {
            let of_field = ["_unit", "_units"].into_iter().find_map(|ending| text(&format!("{}{ending}", self.name)));
            of_field.or_else(of_pressures)
        };
        let own_unit = self.unit.or_else(|| nested("unit").and_then(Value::as_str));
        let unit = own_unit.or(unit_in_name).or_else(sibling).filter(|unit| !unit.trim().is_empty());
        let zero = self.unit_uri.map_or("", zero_of_unit);
        Stated::new(nested("value").unwrap_or(self.value), unit.map(|unit| format!("{unit}{zero}")))
    }
}

/// Returns the mark of the zero of a pressure unit, which the enumerations of DEXPI 2.0 state: `PressureGaugeUnit.Bar` is
/// `Bar(g)`.
fn zero_of_unit(unit_uri: &str) -> &'static str {
    const ZEROS: [(&str, &str); 2] = [("PressureGaugeUnit.", "(g)"), ("PressureAbsoluteUnit.", "(a)")];
    ZEROS.iter().find(|(enumeration, _)| unit_uri.contains(enumeration)).map_or("", |(_, zero)| zero)
}

/// Returns the fields of an item, then its attributes: an array of names and values, or an object. Objects in fields
/// for attributes, and groups of attributes, are read too.
fn fields<'a>(object: Object<'a>) -> impl Iterator<Item = Field<'a>> {
    // A value in such a field is the item's own: `lifecycle: "future"`.
    let has_attributes = |(key, value): &(&str, Value<'_>)| {
        is_container(key)
            && (value.as_array().is_some() || value.as_object().is_some_and(|group| group.get("value").is_none()))
    };
    let own = object.iter().filter(move |field| !has_attributes(field));
    let own = own.map(|(name, value)| Field::new(name, value));
    let containers = object.iter().filter(move |field| has_attributes(field));
    own.chain(containers.flat_map(|(_, attributes)| attribute_fields(attributes, MAX_NESTED_GROUPS)))
}

/// Returns whether a field contains attributes.
pub(crate) fn is_container(key: &str) -> bool {
    static NAMES: LazyLock<NameFilter> =
        LazyLock::new(|| NameFilter::new(vocabulary::ATTRIBUTE_FIELDS.iter().copied()));
    NAMES.may_contain(key) && vocabulary::contains_plain(vocabulary::ATTRIBUTE_FIELDS, key)
}

/// Returns false only if no field and no attribute of an item has one of some names. Most items state nothing about
/// their state, and are told from the others in one pass.
pub(crate) fn may_state(holder: Value<'_>, names: &NameFilter) -> bool {
    holder.as_object().is_some_and(|object| {
        object.iter().any(|(key, value)| names.may_contain(key) || is_container(key) && has_attribute(value, names))
    })
}

/// Returns false only if none of some attributes has one of some names.
fn has_attribute(attributes: Value<'_>, names: &NameFilter) -> bool {
    let is_empty = attributes.as_object().is_none_or(|object| object.is_empty())
        && attributes.as_array().is_none_or(|list| list.is_empty());
    !is_empty && attribute_fields(attributes, MAX_NESTED_GROUPS).iter().any(|field| names.may_contain(field.name))
}

/// Groups of attributes in each other that are read.
const MAX_NESTED_GROUPS: usize = 3;

/// Returns attributes and those in their groups.
fn attribute_fields<'a>(attributes: Value<'a>, depth: usize) -> Vec<Field<'a>> {
    let mut found = Vec::new();
    if let Some(attributes) = attributes.as_object() {
        for (name, value) in attributes.iter() {
            found.push(Field::new(name, value));
            let is_group =
                value.as_object().is_some_and(|group| group.get("value").is_none()) || value.as_array().is_some();
            if is_group && depth > 0 {
                found.extend(attribute_fields(value, depth - 1));
            }
        }
    }
    let entries = || attributes.as_array().into_iter().flat_map(|list| list.iter());
    // Pairs of a name and a value.
    let pairs = entries().filter_map(Value::as_array).filter(|pair| pair.len() == 2);
    found.extend(pairs.filter_map(|pair| Some(Field::new(pair.get(0)?.as_str()?, pair.get(1)?))));
    for entry in entries().filter_map(Value::as_object) {
        let text = |keys: &[&str]| keys.iter().find_map(|key| entry.get(key)?.as_str());
        let value = ["value", "Value"].iter().find_map(|key| entry.get(key));
        match (text(&["name", "Name", "key"]), value) {
            (Some(name), Some(value)) => {
                let (unit, unit_uri) = (text(&["unit", "units"]), text(&["unit_uri"]));
                found.push(Field { name, value, unit, unit_uri });
            }
            _ => {
                // An attribute of its own: `{"actuator": "motor"}`.
                let only = entry.iter().next().filter(|_| entry.len() == 1);
                found.extend(only.map(|(name, value)| Field::new(name, value)));
                let groups = entry.iter().map(|(_, group)| group).filter(|_| depth > 0);
                found.extend(groups.flat_map(|group| attribute_fields(group, depth - 1)));
            }
        }
    }
    found
}

/// Returns the values that an item states under some names, in the order of the names; its own before its attributes.
pub(crate) fn values<'a>(drawing: &Drawing<'a>, node: NodeId, names: Names) -> impl Iterator<Item = Value<'a>> {
    let is_stated = stated_lists(drawing, node) & names.bit() != 0;
    values_of(drawing, if is_stated { drawing.node(node) } else { Value::Null }, names)
}

/// Returns the lists of names under which an item states something, as bits. An item states something under few of them, and
/// the rules ask for many.
fn stated_lists(drawing: &Drawing<'_>, node: NodeId) -> u128 {
    let read = || {
        let names = drawing.node(node).as_object().into_iter().flat_map(fields).map(|field| field.name);
        let known = names.filter(|name| name.len() <= MAX_CLASS);
        known.fold(0, |lists, name| lists | drawing.topology.config.lists_with(&plain_name(name)))
    };
    drawing.topology.memos.stated_lists_or_compute(node, read)
}

/// Returns the values that a node or an edge states under some names, in the same order.
pub(crate) fn values_of<'a>(drawing: &Drawing<'a>, holder: Value<'a>, names: Names) -> impl Iterator<Item = Value<'a>> {
    let words = drawing.topology.config.words_of(names);
    let mut found: Vec<(usize, Value<'a>)> = Vec::new();
    for field in holder.as_object().into_iter().flat_map(fields) {
        if field.name.len() > MAX_CLASS || !may_be_one_of(words, field.name) {
            continue;
        }
        let word = plain_name(field.name);
        if let Some(rank) = words.iter().position(|known| *known == word) {
            let mut parts = Vec::new();
            collect_parts(field.value, MAX_NESTED_GROUPS, &mut parts);
            found.extend(parts.into_iter().map(|value| (rank, value)));
        }
    }
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, value)| value)
}

/// Collects a value, or the elements of a list and the values in an object: `{"value": "motor"}`, `{"type": "motor"}`. An
/// object without one under a known name is a value itself.
fn collect_parts<'a>(value: Value<'a>, depth: usize, found: &mut Vec<Value<'a>>) {
    const VALUES: &[&str] = &[
        "code",
        "de",
        "description",
        "en",
        "fr",
        "kind",
        "label",
        "name",
        "state",
        "status",
        "tag",
        "text",
        "title",
        "type",
    ];
    if let (Some(list), 1..) = (value.as_array(), depth) {
        list.iter().for_each(|value| collect_parts(value, depth - 1, found));
    } else if let (Some(object), 1..) = (value.as_object(), depth) {
        let before = found.len();
        match object.get("value") {
            // Another attribute, in a group with the name of this one.
            Some(_) if ["name", "Name", "key"].iter().any(|key| object.get(key).is_some()) => {}
            Some(value) => collect_parts(value, depth - 1, found),
            None => {
                let parts = object.iter().filter(|(key, _)| VALUES.contains(key));
                parts.for_each(|(_, value)| collect_parts(value, depth - 1, found));
            }
        }
        if found.len() == before {
            found.push(value);
        }
    } else {
        found.push(value);
    }
}

/// Returns whether a name may be one of some words, with an ending or not, by its letters: most names need no conversion.
fn may_be_one_of(words: &[String], name: &str) -> bool {
    let first = letters(name).next();
    let begins_with = |word: &String| {
        // Most words are excluded by their first byte.
        let byte = word.bytes().next();
        if byte.is_some_and(|byte| byte.is_ascii_alphanumeric()) && byte != first {
            return false;
        }
        let mut found = letters(name);
        letters(word).all(|letter| found.next() == Some(letter))
    };
    !name.is_ascii() || words.iter().any(|word| !word.is_ascii() || begins_with(word))
}

/// Returns a name in snake_case without endings that say how a source stores the value.
pub(crate) fn plain_name(name: &str) -> String {
    let mut word = snake_case(name.trim());
    while let Some(length) =
        vocabulary::ATTRIBUTE_ENDINGS.iter().find_map(|ending| word.strip_suffix(ending)).map(str::len)
    {
        word.truncate(length);
    }
    word
}

/// Returns the position of a name in a list, and the unit at its end.
fn rank<'w>(known: &[String], word: &'w str) -> Option<(usize, Option<&'w str>)> {
    if let Some(at) = known.iter().position(|name| name == word) {
        return Some((at, None));
    }
    let unit =
        |name: &String| word.strip_prefix(name.as_str())?.strip_prefix('_').filter(|unit| quantity::is_unit(unit));
    known.iter().enumerate().find_map(|(at, name)| Some((at, Some(unit(name)?))))
}

impl TopologyConfig {
    /// Returns whether a rule reads fields with a name, in any spelling and with a unit at its end: `Set Pressure`,
    /// `design_pressure_bar`.
    pub fn reads_field(&self, name: &str) -> bool {
        let word = plain_name(name);
        let has_unit = || {
            let pressures = [Names::SetPressure, Names::DesignPressure, Names::OperatingPressure];
            let temperatures = [Names::DesignTemperature, Names::OperatingTemperature];
            pressures.iter().chain(&temperatures).any(|list| rank(self.words_of(*list), &word).is_some())
        };
        name.len() <= MAX_CLASS && (self.is_known_name(&word) || has_unit())
    }

    /// Returns whether a name is one of a list, by its key in JSON, in any spelling and with a unit at its end.
    pub fn is_name_of(&self, list: &str, name: &str) -> bool {
        let words: Vec<String> = self.list(list).iter().map(|known| snake_case(known)).collect();
        name.len() <= MAX_CLASS && rank(&words, &plain_name(name)).is_some()
    }

    /// Returns the texts and numbers that an item states under the names of a list, by its key in JSON, with their units: as
    /// fields in any spelling, then as attributes.
    pub fn stated_texts(&self, item: Object<'_>, list: &str) -> Vec<String> {
        let words: Vec<String> = self.list(list).iter().map(|name| snake_case(name)).collect();
        let mut found = Vec::new();
        for field in fields(item) {
            let is_short = field.name.len() <= MAX_CLASS && may_be_one_of(&words, field.name);
            let Some((_, unit)) = is_short.then(|| plain_name(field.name)).and_then(|word| {
                let (at, unit) = rank(&words, &word)?;
                Some((at, unit.map(str::to_owned)))
            }) else {
                continue;
            };
            let stated = field.stated(item, unit.as_deref());
            let value = match stated.value {
                Value::String(text) => text.trim().to_owned(),
                Value::Number(_) | Value::Bool(_) => format!("{:?}", stated.value),
                _ => continue,
            };
            let unit = stated.unit.filter(|_| value.ends_with(|c: char| c.is_ascii_digit()));
            if !value.is_empty() {
                found.push(unit.map_or_else(|| value.clone(), |unit| format!("{value} {unit}")));
            }
        }
        found
    }
}

/// Returns whether a field or an attribute is called by a word: its own name, or the key of a list of names that
/// contains it.
pub(crate) fn is_called(config: &TopologyConfig, field: &str, word: &str) -> bool {
    if field.len() > MAX_CLASS {
        return field == word;
    }
    let name = plain_name(field);
    let known: Vec<String> = config.list(word).iter().map(|name| snake_case(name)).collect();
    name == word || field == word || rank(&known, &name).is_some()
}

/// Returns the unit of the values of an instrument, unless it is a number: the unit of the plant, such as `100`.
pub(crate) fn value_unit<'a>(
    drawing: &Drawing<'a>,
    holder: Value<'a>,
    charge: ChargeFn<'_>,
) -> Result<Option<&'a str>> {
    let [unit] = stated_values(drawing, holder, [Names::ValueUnit], charge)?;
    let unit = unit.and_then(|unit| unit.value.as_str());
    Ok(unit.filter(|unit| !unit.chars().all(|c| c.is_ascii_digit())))
}

/// Reader of the values of pipes: those of the pipe itself, else of its segment, else of its line. A joint of two sheets has those
/// of the pipe that it continues.
pub(crate) struct PipeValues<'d, 'a, const N: usize> {
    drawing: &'d Drawing<'a>,
    lists: [Names; N],
    /// By segment or line: its values.
    of_groups: HashMap<NodeId, [Option<Stated<'a>>; N]>,
    /// By segment: its line.
    line_of: HashMap<NodeId, NodeId>,
}

impl<'d, 'a, const N: usize> PipeValues<'d, 'a, N> {
    pub fn new(drawing: &'d Drawing<'a>, lists: [Names; N], charge: ChargeFn<'_>) -> Result<PipeValues<'d, 'a, N>> {
        charge(drawing.topology.membership_steps())?;
        let is_line = |(group, _): &(NodeId, NodeId)| drawing.has_type(*group, Names::LineType);
        let line_of = drawing.topology.memberships().filter(is_line).map(|(line, member)| (member, line)).collect();
        Ok(PipeValues { drawing, lists, of_groups: HashMap::new(), line_of })
    }

    /// Returns the values of a pipe.
    pub fn of_edge(&mut self, edge: EdgeId, charge: ChargeFn<'_>) -> Result<[Option<Stated<'a>>; N]> {
        let mut found = self.of_pipe(edge, &mut *charge)?;
        if let Some(pipe) = joint_pipes::continued(self.drawing, edge) {
            let continued = self.of_pipe(pipe, charge)?;
            found.iter_mut().zip(continued).for_each(|(value, other)| *value = value.take().or(other));
        }
        Ok(found)
    }

    fn of_pipe(&mut self, edge: EdgeId, charge: ChargeFn<'_>) -> Result<[Option<Stated<'a>>; N]> {
        let mut found = stated_values(self.drawing, self.drawing.edge(edge), self.lists, &mut *charge)?;
        for group in self.groups(edge) {
            charge(1 + N as u64 / 4)?;
            if found.iter().all(Option::is_some) {
                break;
            }
            if !self.of_groups.contains_key(&group) {
                let values = stated_values(self.drawing, self.drawing.node(group), self.lists, &mut *charge)?;
                self.of_groups.insert(group, values);
            }
            for (value, of_group) in found.iter_mut().zip(&self.of_groups[&group]) {
                *value = value.take().or_else(|| of_group.clone());
            }
        }
        Ok(found)
    }

    /// Returns the segment and the line of a pipe.
    pub fn groups(&self, edge: EdgeId) -> Vec<NodeId> {
        let drawing = self.drawing;
        let segment = drawing.edge_field(edge, Names::Segment).and_then(|id| drawing.by_id(id));
        let named = drawing.edge_field(edge, Names::Line).and_then(|name| {
            let by_tag = || drawing.first_by_tag(name.as_str()?);
            drawing.by_id(name).or_else(by_tag).filter(|node| drawing.has_type(*node, Names::LineType))
        });
        let line = named.or_else(|| segment.and_then(|segment| self.line_of.get(&segment).copied()));
        segment.into_iter().chain(line).collect()
    }
}

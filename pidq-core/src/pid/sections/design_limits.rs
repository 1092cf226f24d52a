//! Design limits of a section: the lowest upper and the highest lower pressure and temperature of its items.

use hashbrown::HashMap;

use crate::error::Result;
use crate::graph::adjacency::{EdgeId, NodeId};
use crate::graph::config::{MAX_CLASS, Names};
use crate::graph::drawing::Drawing;
use crate::graph::snake_case::snake_case;
use crate::graph::vocabulary;
use crate::pid::quantity::{Comparison, PressureDefaults, Stated, is_unit, number_and_unit, pressure, temperature};
use crate::pid::stated_values::stated_fields;
use crate::pid::{ChargeFn, Datum};

/// Returns the limits of items and pipes by field name. A limit is a number if none states a unit, and else a record of value
/// and unit: that of the tightest value. It is null if the values cannot be compared: a text that is no number, values
/// with and without a unit, gauge and absolute pressures. The names of one quantity, such as `design_pressure` and
/// `UpperLimitDesignPressure`, have one limit, which is listed under each of them.
pub(super) fn design_limits<'a>(
    drawing: &Drawing<'a>,
    items: impl Iterator<Item = NodeId>,
    pipes: &[EdgeId],
    charge: ChargeFn<'_>,
) -> Result<Datum<'a>> {
    let mut limits = Limits::default();
    let holders = items.map(|item| drawing.node(item)).chain(pipes.iter().map(|pipe| drawing.edge(*pipe)));
    for object in holders.filter_map(|holder| holder.as_object()) {
        let mut pressures = Vec::new();
        for (name, stated) in stated_fields(object) {
            charge(1 + name.len() as u64 / 8)?;
            let Some(quantity) = Quantity::of(name) else { continue };
            let index = limits.add(drawing, name, quantity, &stated);
            pressures.extend((quantity.is_pressure && !quantity.is_lower).then_some(index));
        }
        // The lower one of the design pressure and the allowable working pressure limits, also if a side states the former.
        pressures.sort_unstable();
        pressures.dedup();
        for (name, stated) in stated_fields(object).filter(|(name, _)| is_allowable_pressure(name)) {
            charge(1 + pressures.len() as u64)?;
            let own = limits.index_of(drawing, name);
            pressures.iter().filter(|index| Some(**index) != own).for_each(|index| limits.limits[*index].add(&stated));
        }
    }
    Ok(limits.into_datum())
}

/// Limits of a section.
#[derive(Default)]
struct Limits {
    /// Field names in the order of the drawing, and the index of their limit.
    names: Vec<(String, usize)>,
    limits: Vec<Limit>,
    /// By field name, or by the quantity of several ones.
    indices: HashMap<String, usize>,
}

impl Limits {
    /// Adds a value and returns the index of its limit.
    fn add(&mut self, drawing: &Drawing<'_>, name: &str, quantity: Quantity, stated: &Stated<'_>) -> usize {
        let index = match self.index_of(drawing, name) {
            Some(index) => {
                self.limits[index].add(stated);
                index
            }
            None => {
                self.indices.insert(key_of(drawing, name).to_owned(), self.limits.len());
                self.limits.push(Limit::new(quantity, stated));
                self.limits.len() - 1
            }
        };
        if !self.names.iter().any(|(known, _)| known == name) {
            self.names.push((name.to_owned(), index));
        }
        index
    }

    fn index_of(&self, drawing: &Drawing<'_>, name: &str) -> Option<usize> {
        self.indices.get(key_of(drawing, name)).copied()
    }

    /// Returns the limits by name. A field without any number, such as a pressure class, is no limit.
    fn into_datum<'a>(self) -> Datum<'a> {
        let limits = self.limits;
        let names = self.names.into_iter().filter(|(_, index)| limits[*index].has_number);
        Datum::Map(names.map(|(name, index)| (name, limits[index].result())).collect())
    }
}

/// Returns the name under which the values of a field are collected: one for all names of the upper limit of a quantity.
fn key_of<'n>(drawing: &Drawing<'_>, name: &'n str) -> &'n str {
    let word = snake_case(name);
    let is_listed = |names: Names| drawing.topology.config.words_of(names).iter().any(|known| **known == *word);
    match () {
        () if is_allowable_pressure(name) || is_listed(Names::DesignPressure) => "design_pressure",
        () if is_listed(Names::DesignTemperature) => "design_temperature",
        () => name,
    }
}

/// Returns whether a field has the maximum allowable working pressure.
fn is_allowable_pressure(name: &str) -> bool {
    const NAMES: &[&str] = &["mawp", "max_allowable_working_pressure", "maximum_allowable_working_pressure"];
    name.len() <= MAX_CLASS && vocabulary::contains_plain(NAMES, name.trim())
}

const LIMIT: &[&str] = &["value", "unit"];

/// Quantity that a field limits.
#[derive(Clone, Copy)]
struct Quantity {
    is_pressure: bool,
    /// The field is a lower limit.
    is_lower: bool,
}

impl Quantity {
    fn of(name: &str) -> Option<Quantity> {
        if is_allowable_pressure(name) {
            return Some(Quantity { is_pressure: true, is_lower: false });
        }
        let name = snake_case(name);
        let is_pressure = name.contains("pressure");
        // The head of a pump is not a limit, and the unit of one has no value.
        let is_limit = name.contains("design") && (is_pressure || name.contains("temperature"));
        let is_other = name.contains("head") || name.ends_with("_unit") || name.ends_with("_units");
        let is_lower = name.contains("lower") || name.contains("min");
        (is_limit && !is_other).then_some(Quantity { is_pressure, is_lower })
    }
}

/// The tightest of some stated values.
struct Limit {
    quantity: Quantity,
    has_number: bool,
    /// The tightest value with its unit; `None` if a value cannot be compared.
    tightest: Option<(f64, Option<String>)>,
}

impl Limit {
    fn new(quantity: Quantity, stated: &Stated<'_>) -> Limit {
        let tightest = read(stated);
        Limit { quantity, has_number: tightest.is_some(), tightest }
    }

    fn add(&mut self, stated: &Stated<'_>) {
        let other = read(stated);
        self.has_number |= other.is_some();
        let Some(tightest) = self.tightest.take() else { return };
        self.tightest = other.and_then(|other| {
            let difference = difference(self.quantity, &other, &tightest)?;
            let is_tighter = if self.quantity.is_lower { difference > 0.0 } else { difference < 0.0 };
            Some(if is_tighter { other } else { tightest })
        });
    }

    fn result<'a>(&self) -> Datum<'a> {
        match &self.tightest {
            Some((value, Some(unit))) => Datum::Record(LIMIT, vec![Datum::Number(*value), Datum::String(unit.clone())]),
            Some((value, _)) => Datum::Number(*value),
            None => Datum::Null,
        }
    }
}

/// Returns the number and the unit of a stated value. A text with further numbers, such as those of two sides, has none.
fn read(stated: &Stated<'_>) -> Option<(f64, Option<String>)> {
    let (number, unit) = number_and_unit(stated).ok()?;
    let has_number = |unit: &str| unit.split([' ', '/']).any(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    if unit.is_some_and(|unit| has_number(unit) && !is_unit(unit)) {
        return None;
    }
    Some((number, unit.map(str::to_owned)))
}

/// Returns the first value minus the second, if they can be compared. Within one unit, numbers are compared as they are.
fn difference(quantity: Quantity, a: &(f64, Option<String>), b: &(f64, Option<String>)) -> Option<f64> {
    if a.1 == b.1 {
        return Some(a.0 - b.0);
    }
    let [first, second] = [a, b].map(as_stated);
    if quantity.is_pressure {
        let defaults = PressureDefaults::default();
        let [first, second] = [&first, &second].map(|stated| pressure(Some(stated), defaults));
        return match defaults.compare(first, second) {
            Comparison::Difference(difference, _) => Some(difference),
            Comparison::Unknown(_) => None,
        };
    }
    match (temperature(Some(&first)), temperature(Some(&second))) {
        (Ok((first, true)), Ok((second, true))) => Some(first - second),
        _ => None,
    }
}

fn as_stated((value, unit): &(f64, Option<String>)) -> Stated<'static> {
    Stated::new(crate::value::Value::from(*value), unit.clone())
}

//! Units of pressures and temperatures, and pressures that say whether they are gauge or absolute.
//!
//! Factors are exact ratios by definition: 1 psi is 0.45359237 kg × 9.80665 m/s² per square of 0.0254 m.

pub(crate) mod nominal_size;

use crate::value::Value;

/// A value as stated, and its unit.
#[derive(Clone, Debug)]
pub(crate) struct Stated<'a> {
    pub value: Value<'a>,
    pub unit: Option<String>,
    /// Further values that the item states under the same name, with their units.
    pub others: Vec<(Value<'a>, Option<String>)>,
}

impl<'a> Stated<'a> {
    pub fn new(value: Value<'a>, unit: Option<String>) -> Stated<'a> {
        Stated { value, unit, others: Vec::new() }
    }

    /// Adds another value that the item states under the same name.
    pub fn add(&mut self, other: Stated<'a>) {
        self.others.push((other.value, other.unit));
        self.others.extend(other.others);
    }
}

/// Zero of a pressure.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Reference {
    Gauge,
    Absolute,
    /// The unit does not say: `bar`.
    Unstated,
}

impl Reference {
    pub fn name(self) -> Option<&'static str> {
        match self {
            Reference::Gauge => Some("gauge"),
            Reference::Absolute => Some("absolute"),
            Reference::Unstated => None,
        }
    }
}

/// Units of pressure: names without spaces in lower case, and the value in bar as a ratio. Names in full are those of the
/// enumerations of DEXPI.
const PRESSURE_UNITS: &[(&[&str], f64, f64)] = &[
    (&["bar", "bars"], 1.0, 1.0),
    (&["mbar", "millibar"], 1.0, 1e3),
    (&["pa", "pascal"], 1.0, 1e5),
    (&["hpa", "hectopascal"], 1.0, 1e3),
    (&["kpa", "kilopascal"], 1.0, 1e2),
    (&["mpa", "megapascal"], 10.0, 1.0),
    (
        &["psi", "lbf/in2", "lb/in2", "poundforceperinchsquared", "poundforcepersquareinch", "poundpersquareinch"],
        44_482_216_152_605.0,
        645_160_000_000_000.0,
    ),
    (
        &["kgf/cm2", "kg/cm2", "at", "kilogramforcepersquarecentimetre", "kilogramforcepersquarecentimeter"],
        980_665.0,
        1e6,
    ),
    (&["atm"], 101_325.0, 1e5),
    (&["torr"], 101_325.0, 76e6),
    // Conventional columns of mercury (13595.1 kg/m³) and water (1000 kg/m³).
    (&["mmhg"], 133_322_387_415.0, 1e14),
    (&["inhg"], 3_386_388_640_341.0, 1e14),
    (&["mmh2o", "mmwc", "mmwg", "mmws"], 980_665.0, 1e10),
    (&["inh2o", "inwc", "inwg"], 24_908_891.0, 1e10),
    (&["fth2o", "ftwc"], 298_906_692.0, 1e10),
];

/// Returns the names of the units of pressure, without those of their zero.
#[cfg(feature = "units")]
pub(crate) fn pressure_unit_names() -> impl Iterator<Item = &'static [&'static str]> {
    PRESSURE_UNITS.iter().map(|(names, _, _)| *names)
}

/// Endings of units of pressure.
const REFERENCES: &[(&str, Reference)] = &[
    ("", Reference::Unstated),
    ("g", Reference::Gauge),
    ("ga", Reference::Gauge),
    ("gauge", Reference::Gauge),
    ("ü", Reference::Gauge),
    ("a", Reference::Absolute),
    ("abs", Reference::Absolute),
    ("absolute", Reference::Absolute),
];

/// Units of temperature: names, and the ratio and offset to degrees Celsius: `(value - offset) * ratio`.
const TEMPERATURE_UNITS: &[(&[&str], f64, f64)] = &[
    (&["c", "°c", "degc", "celsius", "°celsius", "degreecelsius", "degreescelsius"], 1.0, 0.0),
    (&["k", "kelvin"], 1.0, 273.15),
    (&["f", "°f", "degf", "fahrenheit", "°fahrenheit", "degreefahrenheit", "degreesfahrenheit"], 5.0 / 9.0, 32.0),
];

/// Design pressures of what is open to the atmosphere, such as a storage tank: no gauge pressure.
const ATMOSPHERIC: &[&str] =
    &["atm", "atmos", "atmospheric", "atmosphericpressure", "atmosphärisch", "drucklos", "atmosphérique"];

/// Limit in bytes of the name of a unit.
const MAX_UNIT: usize = 48;

/// Returns the value of a unit of pressure in bar as a ratio, and its zero.
pub(crate) fn pressure_unit(text: &str) -> Option<(f64, f64, Reference)> {
    pressure_unit_row(text).map(|(_, up, down, reference)| (up, down, reference))
}

/// Returns the usual name of a unit of pressure without its zero, and `gauge` or `absolute` if the unit says so: `bar` and
/// `gauge` of `bar(g)`.
pub fn pressure_unit_name(text: &str) -> Option<(&'static str, Option<&'static str>)> {
    let (names, _, _, reference) = pressure_unit_row(text)?;
    Some((names.first()?, reference.name()))
}

/// Returns the row of a unit of pressure, and its zero.
fn pressure_unit_row(text: &str) -> Option<(&'static [&'static str], f64, f64, Reference)> {
    // Prefixes are case-sensitive: nobody states a design pressure in millipascal, so it is not read as megapascal.
    if text.len() > MAX_UNIT || text.trim_start().starts_with("mPa") {
        return None;
    }
    let name = plain(text);
    let unit = |ending: &str| {
        let base = name.strip_suffix(ending)?;
        PRESSURE_UNITS.iter().find(|(names, _, _)| names.contains(&base))
    };
    let row = |(ending, reference): &(&str, Reference)| {
        unit(ending).map(|(names, up, down)| (*names, *up, *down, *reference))
    };
    REFERENCES.iter().find_map(row)
}

/// Returns whether a text names a unit of pressure or temperature.
pub(crate) fn is_unit(text: &str) -> bool {
    pressure_unit(text).is_some() || temperature_unit(text).is_some()
}

fn temperature_unit(text: &str) -> Option<(f64, f64)> {
    let name = plain(Some(text).filter(|text| text.len() <= MAX_UNIT)?);
    let row = TEMPERATURE_UNITS.iter().find(|(names, _, _)| names.contains(&name.as_str()));
    row.map(|(_, ratio, offset)| (*ratio, *offset))
}

/// Returns the name of a unit without spaces, brackets and case.
fn plain(text: &str) -> String {
    let kept = text.chars().filter(|c| !matches!(c, ' ' | '(' | ')' | '[' | ']' | '_' | '.'));
    kept.flat_map(char::to_lowercase).map(|c| if c == '²' { '2' } else { c }).collect()
}

/// Cause for which a stated value is no quantity.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Unreadable {
    Missing,
    NotANumber,
    UnknownUnit,
    /// The item states another value under the same name.
    Contradictory,
}

impl Unreadable {
    /// Returns the name in results.
    pub fn name(self) -> &'static str {
        match self {
            Unreadable::Missing => "not_stated",
            Unreadable::NotANumber => "not_a_number",
            Unreadable::UnknownUnit => "unknown_unit",
            Unreadable::Contradictory => "contradictory_values",
        }
    }
}

/// A quantity, or the cause for which it is none.
pub(crate) type Reading<T> = Result<T, Unreadable>;

/// A pressure in bar; if no unit is stated, the bare number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pressure {
    pub value: f64,
    pub reference: Reference,
    pub has_unit: bool,
    /// The unit as stated, in bar.
    pub unit: f64,
}

impl Pressure {
    /// Returns whether two pressures are the same quantity, apart from the rounding of a conversion to another unit.
    pub fn is_same(self, other: Pressure) -> bool {
        self.reference == other.reference
            && self.has_unit == other.has_unit
            && difference(self, other, [self.value, other.value]) == 0.0
    }
}

/// Units to assume for pressures that do not state them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PressureDefaults<'u> {
    pub unit: Option<&'u str>,
    /// Atmospheric pressure in bar, to compare gauge with absolute pressures.
    pub atmosphere: Option<f64>,
}

/// Returns a stated pressure.
pub(crate) fn pressure(stated: Option<&Stated<'_>>, defaults: PressureDefaults<'_>) -> Reading<Pressure> {
    let (number, unit) = number_and_unit(stated.ok_or(Unreadable::Missing)?)?;
    let Some(unit) = unit.or(defaults.unit) else {
        return Ok(Pressure { value: number, reference: Reference::Unstated, has_unit: false, unit: 1.0 });
    };
    let (up, down, reference) = pressure_unit(unit).ok_or(Unreadable::UnknownUnit)?;
    Ok(Pressure { value: number * up / down, reference, has_unit: true, unit: up / down })
}

/// Returns a stated temperature in degrees Celsius; the bare number, and false, if no unit is stated.
pub(crate) fn temperature(stated: Option<&Stated<'_>>) -> Reading<(f64, bool)> {
    let (number, unit) = number_and_unit(stated.ok_or(Unreadable::Missing)?)?;
    let Some(unit) = unit else { return Ok((number, false)) };
    let (ratio, offset) = temperature_unit(unit).ok_or(Unreadable::UnknownUnit)?;
    Ok(((number - offset) * ratio, true))
}

/// Returns the number of a stated value and its unit, which may be written after the number: `16 barg`. Other values under
/// the same name have to be the same quantity, as far as they are numbers.
pub(crate) fn number_and_unit<'s>(stated: &'s Stated<'_>) -> Reading<(f64, Option<&'s str>)> {
    let found = read_number(stated.value, stated.unit.as_deref())?;
    let mut others = stated.others.iter().filter_map(|(value, unit)| read_number(*value, unit.as_deref()).ok());
    if others.any(|other| !is_same_quantity(found, other)) {
        return Err(Unreadable::Contradictory);
    }
    Ok(found)
}

/// Relative difference of a quantity that is converted to another unit and rounded.
pub(crate) const ROUNDING: f64 = 5e-3;

/// Returns whether two numbers are the same, apart from rounding.
fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs())
}

/// Returns whether two numbers with units are the same quantity, apart from rounding.
fn is_same_quantity((a, unit_a): (f64, Option<&str>), (b, unit_b): (f64, Option<&str>)) -> bool {
    let (Some(unit_a), Some(unit_b)) = (unit_a, unit_b) else { return is_near(a, b) };
    if let (Some((up_a, down_a, reference_a)), Some((up_b, down_b, reference_b))) =
        (pressure_unit(unit_a), pressure_unit(unit_b))
    {
        let is_comparable = reference_a == reference_b || [reference_a, reference_b].contains(&Reference::Unstated);
        return is_comparable && is_near(a * up_a / down_a, b * up_b / down_b);
    }
    match (temperature_unit(unit_a), temperature_unit(unit_b)) {
        (Some((ratio_a, offset_a)), Some((ratio_b, offset_b))) => {
            ((a - offset_a) * ratio_a - (b - offset_b) * ratio_b).abs() <= 0.5
        }
        _ => is_near(a, b),
    }
}

fn read_number<'s>(value: Value<'s>, unit: Option<&'s str>) -> Reading<(f64, Option<&'s str>)> {
    if let Some(number) = value.as_f64() {
        return Ok((number, unit));
    }
    let Value::String(text) = value else { return Err(Unreadable::NotANumber) };
    if ATMOSPHERIC.contains(&plain(text.trim()).as_str()) {
        return Ok((0.0, Some("barg")));
    }
    let (text, unit_behind) = without_vacuum(without_temperature(without_condition(without_note(text.trim()))));
    let (digits, rest) = split_number(text);
    let number = decimal(digits).ok_or(Unreadable::NotANumber)?;
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty()).or(unit_behind);
    // `10/16` and `1e3` are not read: a wrong number is worse than none.
    match rest {
        Some(rest) if !rest.starts_with(|c: char| c.is_alphabetic() || c == '°') => Err(Unreadable::NotANumber),
        Some(rest)
            if rest[rest.char_indices().nth(1).map_or(rest.len(), |(at, _)| at)..].starts_with(is_number_char) =>
        {
            Err(Unreadable::NotANumber)
        }
        rest => Ok((number, rest.or(unit))),
    }
}

/// Returns the characters of a number at the start of a text, and the rest.
fn split_number(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c| !is_number_char(c)).unwrap_or(text.len()))
}

fn is_number_char(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '+')
}

/// Returns a number in digits, with a decimal point or a decimal comma; `None` if a comma may separate thousands.
fn decimal(digits: &str) -> Option<f64> {
    let Some((whole, fraction)) = digits.split_once(',') else { return digits.parse().ok() };
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let whole_digits = whole.trim_start_matches(['-', '+']);
    let may_be_thousands = fraction.len() == 3 && whole_digits != "0";
    let is_decimal = is_plain(whole_digits) && is_plain(fraction) && !may_be_thousands;
    if is_decimal { format!("{whole}.{fraction}").parse().ok() } else { None }
}

/// Returns a value without the condition for which it holds: `40 barg` of `40 barg @ 120 °C`.
fn without_condition(text: &str) -> &str {
    let unit_of = |part: &str| part.trim_start_matches(|c: char| !c.is_alphabetic() && c != '°').trim().to_owned();
    // `40 barg @ 20 °C / 10 barg @ 300 °C` are two values, and `40 barg @ -20/120 °C` is one.
    let is_condition = |behind: &str| {
        behind.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-')
            && !behind.contains('@')
            && !behind.split('/').any(|part| pressure_unit(&unit_of(part)).is_some())
    };
    let found = ["@", " at "].into_iter().find_map(|mark| text.split_once(mark));
    match found {
        Some((value, condition)) if is_condition(condition) => value.trim_end(),
        _ => text,
    }
}

/// Returns a value without the note that is written behind it in brackets: `(note 3)`, `(HOLD)`.
fn without_note(text: &str) -> &str {
    let note = || {
        let (value, note) = text.strip_suffix(')')?.rsplit_once('(')?;
        let note = note.trim().to_ascii_lowercase();
        (note.starts_with("note") || note == "hold").then(|| value.trim_end())
    };
    note().unwrap_or(text)
}

/// Returns a design pressure without the design temperature that is written behind it: `12 barg` of `12 barg / 200 °C`.
fn without_temperature(text: &str) -> &str {
    const UNITS: [&str; 7] = ["°c", "°f", "c", "f", "k", "degc", "degf"];
    let is_temperature = |text: &str| {
        let (digits, unit) = split_number(text);
        decimal(digits).is_some() && UNITS.contains(&unit.replace(' ', "").to_lowercase().as_str())
    };
    let unit_of = |part: &str| part.trim_start_matches(|c: char| !c.is_alphabetic()).trim().to_owned();
    match text.rsplit_once('/') {
        Some((value, behind)) if is_temperature(behind.trim()) && pressure_unit(&unit_of(value)).is_some() => {
            value.trim_end()
        }
        _ => text,
    }
}

/// Returns a design pressure without the vacuum that is written beside it, and the unit that is written behind the vacuum:
/// `5 barg` of `FV / 5 barg`, `5` and `barg` of `5/FV barg` and of `5/-1 barg`, `5 barg` of `-1/5 barg`.
fn without_vacuum(text: &str) -> (&str, Option<&str>) {
    const SEPARATORS: &[char] = &['/', '&', '+', ',', ';'];
    const WORDS: [&str; 3] = [" and ", " und ", " et "];
    let by_words = WORDS.into_iter().flat_map(|word| text.match_indices(word));
    for (at, separator) in text.match_indices(SEPARATORS).chain(by_words) {
        let (before, behind) = (text[..at].trim(), text[at + separator.len()..].trim());
        if unit_of_vacuum(before) == Some("") || separator == "/" && is_negative(before) {
            return (behind, None);
        }
        if let Some(unit) = unit_of_vacuum(behind).or_else(|| unit_of_negative(behind).filter(|_| separator == "/")) {
            return (before, Some(unit).filter(|unit| !unit.is_empty()));
        }
    }
    (text, None)
}

/// Returns the text behind the name of a full vacuum: ` barg` of `FV barg`.
fn unit_of_vacuum(text: &str) -> Option<&str> {
    const NAMES: &[&str] = &["full vacuum", "vacuum", "full vac", "F.V.", "FV"];
    let rest = NAMES.iter().find_map(|name| {
        let begin = text.get(..name.len())?;
        begin.eq_ignore_ascii_case(name).then(|| &text[name.len()..])
    })?;
    let is_word = rest.is_empty() || rest.starts_with(' ');
    is_word.then(|| rest.trim())
}

/// Returns the text behind a negative number: ` barg` of `-1 barg`.
fn unit_of_negative(text: &str) -> Option<&str> {
    let (digits, rest) = split_number(text);
    is_negative(digits).then(|| rest.trim())
}

fn is_negative(text: &str) -> bool {
    text.starts_with('-') && decimal(text).is_some()
}

/// Relation of two pressures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Comparison {
    /// The first minus the second; and the cause, if it is uncertain.
    Difference(f64, Option<&'static str>),
    /// Cause for which they cannot be compared.
    Unknown(&'static str),
}

impl PressureDefaults<'_> {
    /// Compares two pressures. Gauge and absolute ones are not mixed unless the atmospheric pressure is given.
    pub fn compare(&self, first: Reading<Pressure>, second: Reading<Pressure>) -> Comparison {
        let (first, second) = match (first, second) {
            (Ok(first), Ok(second)) => (first, second),
            (Err(cause), _) | (_, Err(cause)) => return Comparison::Unknown(cause.name()),
        };
        if first.has_unit != second.has_unit {
            return Comparison::Unknown("unit_not_stated");
        }
        let stated_difference = difference(first, second, [first.value, second.value]);
        match (first.reference, second.reference) {
            _ if !first.has_unit => Comparison::Difference(stated_difference, Some("unit_not_stated")),
            (Reference::Unstated, Reference::Unstated) => {
                Comparison::Difference(stated_difference, Some("reference_not_stated"))
            }
            (a, b) if a == b => Comparison::Difference(stated_difference, None),
            (Reference::Unstated, _) | (_, Reference::Unstated) => Comparison::Unknown("reference_not_stated"),
            _ => match self.atmosphere {
                Some(atmosphere) => {
                    let absolute = [first, second].map(|pressure| match pressure.reference {
                        Reference::Gauge => pressure.value + atmosphere,
                        _ => pressure.value,
                    });
                    Comparison::Difference(difference(first, second, absolute), None)
                }
                None => Comparison::Unknown("gauge_and_absolute"),
            },
        }
    }
}

/// Returns the difference of two pressures with comparable values; zero if it is within the precision of the conversion, or,
/// of pressures in different units, within that of a rounded number: 16 barg and 232 psig.
fn difference(first: Pressure, second: Pressure, [a, b]: [f64; 2]) -> f64 {
    let is_converted = first.unit != second.unit || first.reference != second.reference;
    let is_equal = is_converted && is_near(a, b) || (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
    if is_equal { 0.0 } else { a - b }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(value: &'static str) -> Option<(f64, Option<&'static str>)> {
        let stated = Stated::new(Value::String(value), None);
        let found = pressure(Some(&stated), PressureDefaults::default()).ok()?;
        found.has_unit.then_some((found.value, found.reference.name()))
    }

    #[test]
    fn units_convert_exactly_and_keep_their_zero() {
        for (text, expected) in [
            ("16 barg", (16.0, Some("gauge"))),
            ("16 bar(g)", (16.0, Some("gauge"))),
            ("16 bar", (16.0, None)),
            ("1600 kPag", (16.0, Some("gauge"))),
            ("1.6 MPa", (16.0, None)),
            ("17.01325 bara", (17.01325, Some("absolute"))),
            ("17.01325 bar abs", (17.01325, Some("absolute"))),
            ("-5 mbarg", (-0.005, Some("gauge"))),
            ("100000 Pa", (1.0, None)),
            ("2 kg/cm²g", (1.96133, Some("gauge"))),
            ("1 atm", (1.01325, None)),
            ("760 torr", (1.01325, None)),
            ("FV/5 barg", (5.0, Some("gauge"))),
            ("5 barg / FV", (5.0, Some("gauge"))),
            ("Full vacuum & 5 bar", (5.0, None)),
            ("16,5 barg", (16.5, Some("gauge"))),
            ("40,0 barg", (40.0, Some("gauge"))),
            ("0,125 bar", (0.125, None)),
            ("40/FV barg", (40.0, Some("gauge"))),
            ("40,5 / FV barg", (40.5, Some("gauge"))),
            ("40 barg & FV", (40.0, Some("gauge"))),
            ("-1/40 barg", (40.0, Some("gauge"))),
            ("10 barg and full vacuum", (10.0, Some("gauge"))),
            ("40 barg @ 120 °C", (40.0, Some("gauge"))),
            ("40 barg at 120 °C", (40.0, Some("gauge"))),
            ("FV/40 barg @ -20/120 °C", (40.0, Some("gauge"))),
            ("-0,5 barg", (-0.5, Some("gauge"))),
            ("12 barg / 200 °C", (12.0, Some("gauge"))),
            ("12 barg/200°C", (12.0, Some("gauge"))),
            ("12 barg / -20 °C", (12.0, Some("gauge"))),
            ("25 mbarg / -5 mbarg", (0.025, Some("gauge"))),
            ("+25/-5 mbarg", (0.025, Some("gauge"))),
            ("12 barg (HOLD)", (12.0, Some("gauge"))),
            ("12 barg (note 3)", (12.0, Some("gauge"))),
            ("FULL VAC/5 barg @ 300 F", (5.0, Some("gauge"))),
            ("5 at", (4.90332_5, None)),
            ("ATM", (0.0, Some("gauge"))),
            ("Atm.", (0.0, Some("gauge"))),
            ("atmospheric", (0.0, Some("gauge"))),
            ("drucklos", (0.0, Some("gauge"))),
        ] {
            assert_eq!(bar(text), Some(expected), "{text}");
        }
        for text in ["9 PoundForcePerInchSquared(g)", "9 PoundForcePerSquareInchGauge", "9 lbf/in2g"] {
            assert_eq!(bar(text), bar("9 psig"), "{text}");
        }
        assert_eq!(bar("2 KilogramForcePerSquareCentimetreGauge"), bar("2 kg/cm2g"));
        let (psi, _) = bar("14.5037737730209215 psia").expect("a pressure");
        assert!((psi - 1.0).abs() < 1e-15, "{psi}");
    }

    #[test]
    fn values_under_one_name_have_to_be_the_same_quantity() {
        let read = |value: &'static str, other: &'static str| {
            let mut stated = Stated::new(Value::String(value), None);
            stated.add(Stated::new(Value::String(other), None));
            number_and_unit(&stated).map(|(number, _)| number)
        };
        for (value, other) in
            [("4 barg", "4"), ("4 barg", "400 kPag"), ("10 bar", "145 psi"), ("4", "HOLD"), ("100 °C", "212 °F")]
        {
            assert!(read(value, other).is_ok(), "{value}, {other}");
        }
        for (value, other) in [("4", "60 barg"), ("4 barg", "4 bara"), ("4 barg", "4 psig"), ("100 °C", "100 °F")] {
            assert_eq!(read(value, other), Err(Unreadable::Contradictory), "{value}, {other}");
        }
    }

    #[test]
    fn a_rounded_pressure_in_another_unit_is_the_same_pressure() {
        let defaults = PressureDefaults { unit: None, atmosphere: Some(1.01325) };
        let compared = |first: &'static str, second: &'static str| {
            let read = |text: &'static str| pressure(Some(&Stated::new(Value::String(text), None)), defaults);
            match defaults.compare(read(first), read(second)) {
                Comparison::Difference(difference, None) => Some(difference == 0.0),
                _ => None,
            }
        };
        for (first, second, expected) in [
            ("16 barg", "232 psig", Some(true)),
            ("10.3 barg", "150 psig", Some(true)),
            ("16 barg", "17 bara", Some(true)),
            ("1.6 MPag", "16 barg", Some(true)),
            ("16 barg", "225 psig", Some(false)),
            ("16 barg", "15.95 barg", Some(false)),
            ("16 barg", "16 bar", None),
        ] {
            assert_eq!(compared(first, second), expected, "{first}, {second}");
            assert_eq!(compared(second, first), expected, "{second}, {first}");
        }
    }

    #[test]
    fn an_unreadable_value_is_no_number() {
        for text in [
            "1,500 barg",
            "16,5,5 barg",
            "16, 5 barg",
            "16,",
            "10/16 bar",
            "1/40 barg",
            "10/FV/3 bar",
            "12/200 °C",
            "5 barg / 10 barg",
            "10 barg (or 12 barg)",
            "FV/FV",
            "FV",
            "barg",
            "1.2.3 bar",
            "16 mPa",
            "16 furlong",
            "",
            "5 - 6 bar",
            "1e3",
        ] {
            assert_eq!(bar(text), None, "{text}");
        }
    }
}

//! Units of measurement: spellings, quantities, and factors to a common unit; one row per unit.

use super::plain::Plain;

/// A unit.
#[derive(Debug, PartialEq)]
pub struct Unit {
    /// The quantity: units of one quantity can be converted.
    pub quantity: Quantity,
    /// Factor and offset to the common unit of the quantity.
    factor: f64,
    offset: f64,
    /// Spellings. Words of four letters or more also match in other cases.
    spellings: &'static [&'static str],
}

/// A quantity.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Quantity {
    Angle,
    Area,
    Current,
    Density,
    DynamicViscosity,
    Energy,
    Force,
    Frequency,
    KinematicViscosity,
    Length,
    Mass,
    MassFlow,
    NormalVolumeFlow,
    Parts,
    Power,
    Pressure,
    ReactivePower,
    Rotation,
    Sound,
    StandardVolumeFlow,
    Temperature,
    Time,
    Torque,
    Velocity,
    Voltage,
    Volume,
    VolumeFlow,
}

/// Reference of a pressure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reference {
    /// Relative to the atmosphere.
    Gauge,
    /// Relative to vacuum.
    Absolute,
}

/// A unit as written, with its reference if that is stated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    pub unit: &'static Unit,
    pub reference: Option<Reference>,
}

/// The standard atmosphere, in Pa.
const ATMOSPHERE: f64 = 101_325.0;

const fn unit(quantity: Quantity, factor: f64, spellings: &'static [&'static str]) -> Unit {
    Unit { quantity, factor, offset: 0.0, spellings }
}

const fn degrees(factor: f64, offset: f64, spellings: &'static [&'static str]) -> Unit {
    Unit { quantity: Quantity::Temperature, factor, offset, spellings }
}

/// All units.
#[rustfmt::skip]
const UNITS: &[Unit] = &[
    unit(Quantity::Pressure, 1e5, &["bar", "bars"]),
    unit(Quantity::Pressure, 100.0, &["mbar", "millibar", "hPa"]),
    unit(Quantity::Pressure, 1.0, &["Pa", "pascal"]),
    unit(Quantity::Pressure, 1e3, &["kPa", "kilopascal"]),
    unit(Quantity::Pressure, 1e6, &["MPa", "megapascal", "N/mm2"]),
    unit(Quantity::Pressure, 6894.757, &["psi", "lb/in2", "lbf/in2"]),
    unit(Quantity::Pressure, 98_066.5, &["kg/cm2", "kgf/cm2"]),
    unit(Quantity::Pressure, ATMOSPHERE, &["atm"]),
    unit(Quantity::Pressure, 133.322, &["mmHg", "torr", "Torr"]),
    unit(Quantity::Pressure, 9.806_65, &["mmH2O", "mmWC", "mm WC"]),
    degrees(1.0, 273.15, &["°C", "° C", "degC", "deg C", "degrees C", "degrees celsius", "degree celsius", "Grad Celsius", "celsius", "C"]),
    degrees(5.0 / 9.0, 255.372_222, &["°F", "° F", "degF", "deg F", "degrees F", "degrees fahrenheit", "fahrenheit", "F"]),
    degrees(1.0, 0.0, &["K", "kelvin"]),
    unit(Quantity::Length, 1.0, &["m", "metre", "metres", "meter", "meters", "Meter"]),
    unit(Quantity::Length, 1e-2, &["cm", "centimetres", "centimeters", "Zentimeter"]),
    unit(Quantity::Length, 1e-3, &["mm", "millimetre", "millimetres", "millimeter", "millimeters", "Millimeter"]),
    unit(Quantity::Length, 1e-6, &["µm", "um", "micron", "microns", "micrometre", "micrometres", "micrometer", "micrometers", "Mikrometer"]),
    unit(Quantity::Length, 1e3, &["km", "kilometres", "kilometers", "kilometre", "kilometer"]),
    unit(Quantity::Length, 0.0254, &["\"", "in", "in.", "inch", "inches", "Zoll", "″"]),
    unit(Quantity::Length, 0.3048, &["ft", "ft.", "feet", "foot", "′"]),
    unit(Quantity::Area, 1.0, &["m2", "square metres", "square meters", "sqm", "Quadratmeter"]),
    unit(Quantity::Area, 1e-4, &["cm2", "square centimetres"]),
    unit(Quantity::Area, 1e-6, &["mm2", "square millimetres", "square millimeters"]),
    unit(Quantity::Area, 0.092_903, &["ft2", "sq ft", "square feet"]),
    unit(Quantity::Area, 6.4516e-4, &["in2", "sq in", "square inches"]),
    unit(Quantity::Volume, 1.0, &["m3", "cubic metres", "cubic meters", "cubic metre", "cubic meter", "Kubikmeter", "cbm"]),
    unit(Quantity::Volume, 1e-3, &["l", "L", "litre", "litres", "liter", "liters", "Liter", "dm3"]),
    unit(Quantity::Volume, 1e-6, &["ml", "mL", "millilitres", "milliliters", "cm3"]),
    unit(Quantity::Volume, 0.003_785_41, &["gal", "gallon", "gallons", "US gal"]),
    unit(Quantity::Volume, 0.158_987, &["bbl", "barrel", "barrels"]),
    unit(Quantity::Volume, 0.028_316_8, &["ft3", "cubic feet", "cu ft"]),
    unit(Quantity::Mass, 1.0, &["kg", "kilogram", "kilograms", "Kilogramm"]),
    unit(Quantity::Mass, 1e-3, &["g", "gram", "grams", "Gramm"]),
    unit(Quantity::Mass, 1e-6, &["mg", "milligram", "milligrams"]),
    unit(Quantity::Mass, 1e3, &["t", "tonne", "tonnes", "ton", "tons", "Tonnen", "metric tons"]),
    unit(Quantity::Mass, 0.453_592, &["lb", "lbs", "pound", "pounds"]),
    unit(Quantity::Time, 1.0, &["s", "sec", "secs", "second", "seconds", "Sekunden", "Sekunde"]),
    unit(Quantity::Time, 1e-3, &["ms", "milliseconds", "Millisekunden"]),
    unit(Quantity::Time, 60.0, &["min", "mins", "minute", "minutes", "Minuten", "Minute"]),
    unit(Quantity::Time, 3600.0, &["h", "hr", "hrs", "hour", "hours", "Stunden", "Stunde"]),
    unit(Quantity::Time, 86_400.0, &["d", "day", "days", "Tage", "Tagen", "Tag"]),
    unit(Quantity::Time, 604_800.0, &["week", "weeks", "Wochen", "Woche"]),
    unit(Quantity::Time, 2_629_746.0, &["month", "months", "Monate", "Monaten", "Monat"]),
    unit(Quantity::Time, 31_556_952.0, &["year", "years", "yr", "yrs", "Jahre", "Jahren", "Jahr"]),
    unit(Quantity::VolumeFlow, 1.0 / 3600.0, &["m3/h", "m3/hr", "m3/hour", "m3h-1", "m3 per hour", "cubic metres per hour", "cubic meters per hour", "cbm/h"]),
    unit(Quantity::VolumeFlow, 1.0, &["m3/s", "m3 per second", "cubic metres per second", "cubic meters per second"]),
    unit(Quantity::VolumeFlow, 1.0 / 60.0, &["m3/min", "m3 per minute"]),
    unit(Quantity::VolumeFlow, 1.0 / 86_400.0, &["m3/d", "m3/day", "m3 per day"]),
    unit(Quantity::VolumeFlow, 1e-3, &["l/s", "L/s", "litres per second", "liters per second"]),
    unit(Quantity::VolumeFlow, 1e-3 / 60.0, &["l/min", "L/min", "lpm", "litres per minute", "liters per minute"]),
    unit(Quantity::VolumeFlow, 1e-3 / 3600.0, &["l/h", "L/h", "l/hr", "litres per hour", "liters per hour"]),
    unit(Quantity::VolumeFlow, 6.309_02e-5, &["gpm", "gal/min", "US gpm", "gallons per minute"]),
    unit(Quantity::VolumeFlow, 1.840_13e-6, &["bpd", "bbl/d", "bbl/day", "barrels per day"]),
    unit(Quantity::NormalVolumeFlow, 1.0 / 3600.0, &["Nm3/h", "Nm3/hr", "normal m3/h"]),
    unit(Quantity::NormalVolumeFlow, 1.0 / 86_400.0, &["Nm3/d", "Nm3/day"]),
    unit(Quantity::StandardVolumeFlow, 1.0 / 3600.0, &["Sm3/h", "Sm3/hr", "standard m3/h"]),
    unit(Quantity::StandardVolumeFlow, 1.0 / 86_400.0, &["Sm3/d", "Sm3/day"]),
    unit(Quantity::StandardVolumeFlow, 0.028_316_8 * 1e6 / 86_400.0, &["MMSCFD", "MMscfd", "mmscfd"]),
    unit(Quantity::MassFlow, 1.0 / 3600.0, &["kg/h", "kg/hr", "kg/hour", "kg per hour", "kilograms per hour"]),
    unit(Quantity::MassFlow, 1.0, &["kg/s", "kg per second", "kilograms per second"]),
    unit(Quantity::MassFlow, 1.0 / 60.0, &["kg/min", "kg per minute"]),
    unit(Quantity::MassFlow, 1.0 / 3.6, &["t/h", "t/hr", "tonnes per hour", "tons per hour", "t per hour", "Tonnen pro Stunde"]),
    unit(Quantity::MassFlow, 1.0 / 86.4, &["t/d", "t/day", "tonnes per day", "tpd"]),
    unit(Quantity::MassFlow, 0.453_592 / 3600.0, &["lb/h", "lb/hr", "lbs/hr", "pounds per hour"]),
    unit(Quantity::Density, 1.0, &["kg/m3", "kg per cubic metre", "kg per m3", "g/l"]),
    unit(Quantity::Density, 1e3, &["g/cm3", "g/ml", "kg/l", "kg/dm3"]),
    unit(Quantity::Density, 1e-3, &["g/m3", "mg/l", "mg/L"]),
    unit(Quantity::Density, 16.0185, &["lb/ft3"]),
    unit(Quantity::Power, 1.0, &["W", "watt", "watts"]),
    unit(Quantity::Power, 1e3, &["kW", "kilowatt", "kilowatts"]),
    unit(Quantity::Power, 1e6, &["MW", "megawatt", "megawatts"]),
    unit(Quantity::Power, 745.7, &["hp", "HP", "horsepower"]),
    unit(Quantity::ReactivePower, 1.0, &["VA"]),
    unit(Quantity::ReactivePower, 1e3, &["kVA"]),
    unit(Quantity::ReactivePower, 1e6, &["MVA"]),
    unit(Quantity::Energy, 1.0, &["J", "joule", "joules"]),
    unit(Quantity::Energy, 1e3, &["kJ"]),
    unit(Quantity::Energy, 1e6, &["MJ"]),
    unit(Quantity::Energy, 3.6e6, &["kWh"]),
    unit(Quantity::Energy, 3.6e9, &["MWh"]),
    unit(Quantity::Velocity, 1.0, &["m/s", "metres per second", "meters per second"]),
    unit(Quantity::Velocity, 1.0 / 3.6, &["km/h"]),
    unit(Quantity::Velocity, 1.0 / 60.0, &["m/min"]),
    unit(Quantity::Velocity, 1e-3, &["mm/s", "millimetres per second"]),
    unit(Quantity::Velocity, 0.3048, &["ft/s"]),
    unit(Quantity::Rotation, 1.0, &["rpm", "1/min", "r/min", "min-1", "U/min", "revolutions per minute", "Umdrehungen pro Minute"]),
    unit(Quantity::Frequency, 1.0, &["Hz", "hertz"]),
    unit(Quantity::Frequency, 1e3, &["kHz"]),
    unit(Quantity::Voltage, 1.0, &["V", "VDC", "VAC", "V DC", "V AC", "volt", "volts"]),
    unit(Quantity::Voltage, 1e3, &["kV", "kilovolt", "kilovolts"]),
    unit(Quantity::Voltage, 1e-3, &["mV"]),
    unit(Quantity::Current, 1.0, &["A", "amp", "amps", "ampere", "amperes"]),
    unit(Quantity::Current, 1e-3, &["mA"]),
    unit(Quantity::Force, 1.0, &["N", "newton"]),
    unit(Quantity::Force, 1e3, &["kN"]),
    unit(Quantity::Torque, 1.0, &["Nm", "N m", "newton metres", "newton meters"]),
    unit(Quantity::Torque, 1e3, &["kNm"]),
    unit(Quantity::DynamicViscosity, 1e-3, &["mPa s", "mPas", "mPa·s", "cP", "centipoise"]),
    unit(Quantity::DynamicViscosity, 1.0, &["Pa s", "Pa·s"]),
    unit(Quantity::KinematicViscosity, 1e-6, &["cSt", "mm2/s", "centistokes"]),
    unit(Quantity::Sound, 1.0, &["dB", "dBA", "dB(A)", "dB (A)", "decibels"]),
    unit(Quantity::Parts, 1e-2, &["%", "percent", "per cent", "Prozent", "vol%", "vol.-%", "mol%", "wt%", "vol-%", "mol-%", "wt-%", "% LEL", "%LEL"]),
    unit(Quantity::Parts, 1e-6, &["ppm", "ppmv", "ppmw", "vppm", "parts per million"]),
    unit(Quantity::Parts, 1e-9, &["ppb"]),
    unit(Quantity::Angle, 1.0, &["°", "degrees", "degree", "Grad"]),
];

/// Spellings of the reference after the unit of a pressure. The letter `a` as a word of its own is an article.
const REFERENCES: &[(&str, Reference)] = &[
    ("(g)", Reference::Gauge),
    (" (g)", Reference::Gauge),
    ("(gauge)", Reference::Gauge),
    (" (gauge)", Reference::Gauge),
    (" gauge", Reference::Gauge),
    (" g", Reference::Gauge),
    ("g", Reference::Gauge),
    ("-g", Reference::Gauge),
    (" ü", Reference::Gauge),
    ("ü", Reference::Gauge),
    ("(ü)", Reference::Gauge),
    (" (ü)", Reference::Gauge),
    (" Überdruck", Reference::Gauge),
    ("(a)", Reference::Absolute),
    (" (a)", Reference::Absolute),
    ("(abs)", Reference::Absolute),
    (" (abs)", Reference::Absolute),
    ("(abs.)", Reference::Absolute),
    (" (abs.)", Reference::Absolute),
    (" absolute", Reference::Absolute),
    (" abs", Reference::Absolute),
    ("abs", Reference::Absolute),
    ("a", Reference::Absolute),
    ("-a", Reference::Absolute),
];

/// Words of this length match whatever their case is; shorter ones differ by it, as mW and MW.
const CASELESS_LENGTH: usize = 4;

impl Measure {
    /// Reads the longest unit that begins at a character. Returns it with its end.
    pub fn at(plain: &Plain, start: usize) -> Option<(Measure, usize)> {
        let first = plain_digit(plain.at(start));
        let begins = move |spelling: &&&str| {
            spelling.chars().next().is_some_and(|c| c == first || c.to_lowercase().eq(first.to_lowercase()))
        };
        let ends = |unit: &'static Unit| {
            let spellings = unit.spellings.iter().filter(begins);
            spellings.filter_map(move |spelling| spelling_end(plain, start, spelling).map(|end| (unit, end)))
        };
        let candidates = UNITS.iter().flat_map(ends);
        let complete = candidates.filter_map(|(unit, end)| {
            let (reference, end) = match unit.quantity {
                Quantity::Pressure => reference_at(plain, end),
                _ => (None, end),
            };
            is_boundary(plain, end).then_some((Measure { unit, reference }, end))
        });
        complete.max_by_key(|(_, end)| *end)
    }

    /// Returns a value in the common unit. An absolute pressure is used if `absolute` is set and the reference is known.
    fn common(self, value: f64, absolute: bool) -> f64 {
        let gauge = absolute && self.reference == Some(Reference::Gauge);
        value * self.unit.factor + self.unit.offset + if gauge { ATMOSPHERE } else { 0.0 }
    }

    /// Converts a value in this unit to another one; `None` for units of other quantities.
    ///
    /// A reference that only the source states may be left out. One that only the other states cannot be derived.
    pub fn convert(self, value: f64, to: Measure) -> Option<f64> {
        if self.unit.quantity != to.unit.quantity {
            return None;
        }
        let absolute = match (self.reference, to.reference) {
            (None, Some(_)) => return None,
            (Some(from), Some(to)) => from != to,
            (_, None) => false,
        };
        let offset = to.common(0.0, absolute);
        Some((self.common(value, absolute) - offset) / to.unit.factor)
    }

    /// Returns whether a value in one means the same in the other, without any conversion.
    pub fn is_same(self, stated: Measure) -> bool {
        let reference = self.reference.is_none() || self.reference == stated.reference;
        self.unit == stated.unit && reference
    }
}

/// Returns the end of a spelling that begins at a character.
fn spelling_end(plain: &Plain, start: usize, spelling: &str) -> Option<usize> {
    let caseless =
        spelling.chars().count() >= CASELESS_LENGTH && spelling.chars().all(|c| c.is_alphabetic() || c == ' ');
    let mut index = start;
    for expected in spelling.chars() {
        // m^3 and m³ are m3.
        if expected.is_ascii_digit() && plain.at(index) == '^' {
            index += 1;
        }
        let found = plain_digit(plain.at(index));
        let equal = match caseless {
            true => found.to_lowercase().eq(expected.to_lowercase()),
            false => found == expected || (expected == '·' && matches!(found, '*' | '.')),
        };
        if !equal {
            return None;
        }
        index += 1;
    }
    // In "3 in operation" the word is no inch.
    let is_word = spelling == "in" && plain.at(index) == ' ' && plain.at(index + 1).is_alphabetic();
    (!is_word).then_some(index)
}

fn plain_digit(c: char) -> char {
    match c {
        '¹' => '1',
        '²' => '2',
        '³' => '3',
        '⁻' => '-',
        c => c,
    }
}

fn reference_at(plain: &Plain, end: usize) -> (Option<Reference>, usize) {
    let rows = REFERENCES.iter().filter(|(spelling, _)| plain.starts_with(end, spelling));
    let found = rows.map(|(spelling, reference)| (*reference, end + spelling.chars().count()));
    let longest = found.filter(|(_, end)| is_boundary(plain, *end)).max_by_key(|(_, end)| *end);
    longest.map_or((None, end), |(reference, end)| (Some(reference), end))
}

/// Returns whether a unit may end before a character.
fn is_boundary(plain: &Plain, end: usize) -> bool {
    let last = plain.before(end);
    !last.is_alphanumeric() || !matches!(plain_digit(plain.at(end)), c if c.is_alphanumeric() || c == '^' || c == '°')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str) -> Option<(Measure, usize)> {
        Measure::at(&Plain::new(text), 0)
    }

    #[test]
    fn spellings_of_one_unit_are_equal() {
        let groups: &[&[&str]] = &[
            &["barg", "bar(g)", "bar (g)", "bar g", "bar gauge", "barü", "bar-g"],
            &["m3/h", "m³/h", "m^3/h", "m3/hr", "m³ per hour", "cubic metres per hour", "Cubic meters per hour"],
            &["°C", "℃", "deg C", "degrees Celsius", "C"],
            &["µm", "\u{3bc}m", "micron", "micrometres"],
            &["%", "percent", "Prozent", "per cent"],
            &["rpm", "1/min", "min⁻¹", "U/min"],
            &["mm", "Millimeter", "millimetres"],
        ];
        for group in groups {
            let expected = measure(group[0]).map(|found| found.0);
            for spelling in *group {
                let found = measure(spelling);
                assert_eq!(found.map(|found| found.0), expected, "{spelling}");
                assert_eq!(found.map(|found| found.1), Some(Plain::new(spelling).chars.len()), "{spelling}");
            }
        }
    }

    #[test]
    fn other_units_and_words_are_different() {
        for (one, other) in
            [("mW", "MW"), ("barg", "bara"), ("bar", "mbar"), ("m3/h", "Nm3/h"), ("m", "mm"), ("kg/h", "kg/s")]
        {
            assert_ne!(measure(one).map(|found| found.0), measure(other).map(|found| found.0), "{one} {other}");
        }
        for word in ["barrier", "meterage", "Main", "pumps", "hot", "Kerosene", "Valve"] {
            assert_eq!(measure(word), None, "{word}");
        }
        assert_eq!(measure("bar a valve").map(|found| (found.0.reference, found.1)), Some((None, 3)), "an article");
    }

    #[test]
    fn values_are_converted_within_a_quantity() {
        let check = |value: f64, from: &str, to: &str, expected: Option<f64>| {
            let (from, to) = (measure(from).expect("a unit").0, measure(to).expect("a unit").0);
            let found = from.convert(value, to);
            assert_eq!(found.map(|value| (value * 100.0).round() / 100.0), expected, "{value} {from:?} {to:?}");
        };
        check(38.5, "barg", "MPa", Some(3.85));
        check(38.5, "barg", "psig", Some(558.40));
        check(38.5, "barg", "bara", Some(39.51));
        check(1.0, "bara", "barg", Some(-0.01));
        check(38.5, "bar", "barg", None);
        check(100.0, "°C", "°F", Some(212.0));
        check(0.0, "°C", "K", Some(273.15));
        check(36.0, "m3/h", "l/s", Some(10.0));
        check(2.0, "t/h", "kg/h", Some(2000.0));
        check(1.0, "bar", "°C", None);
        check(1.0, "Nm3/h", "m3/h", None);
    }
}

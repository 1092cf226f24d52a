//! Table of units: names, and values in the base unit as exact ratios.
//!
//! Sources: the SI Brochure (9th edition); NIST Special Publication 811, appendix B, for the inch (25.4 mm), the pound
//! (0.45359237 kg), the US gallon (231 cubic inches), the petroleum barrel (42 gallons), the British gallon (4.54609 l),
//! the degree Rankine (5/9 K) and the mechanical horsepower (550 foot pounds-force a second). The units of pressure are
//! those of `pid::quantity`.

use crate::pid::quantity::{self, Reference};

/// Quantity: units of one quantity convert to each other.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Quantity {
    Length,
    Area,
    Volume,
    Mass,
    Time,
    Temperature,
    TemperatureDifference,
    Pressure,
    Power,
    MassFlow,
    VolumeFlow,
    Velocity,
}

impl Quantity {
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Length => "length",
            Quantity::Area => "area",
            Quantity::Volume => "volume",
            Quantity::Mass => "mass",
            Quantity::Time => "time",
            Quantity::Temperature => "temperature",
            Quantity::TemperatureDifference => "temperatureDifference",
            Quantity::Pressure => "pressure",
            Quantity::Power => "power",
            Quantity::MassFlow => "massFlow",
            Quantity::VolumeFlow => "volumeFlow",
            Quantity::Velocity => "velocity",
        }
    }
}

impl Quantity {
    /// Returns the unit that others are multiples of.
    fn base_unit(self) -> &'static str {
        match self {
            Quantity::Length => "m",
            Quantity::Area => "m2",
            Quantity::Volume => "m3",
            Quantity::Mass => "kg",
            Quantity::Time => "s",
            Quantity::Temperature => "K",
            Quantity::TemperatureDifference => "deltaK",
            Quantity::Pressure => "bar",
            Quantity::Power => "W",
            Quantity::MassFlow => "kg/s",
            Quantity::VolumeFlow => "m3/s",
            Quantity::Velocity => "m/s",
        }
    }
}

/// Zero of a unit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scale {
    /// Zero is nothing.
    Ratio,
    /// The freezing point of water and absolute zero in the unit.
    Temperature {
        freezing: f64,
        zero: f64,
    },
    Pressure {
        reference: Reference,
    },
}

/// A unit: `up / down` base units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    pub names: &'static [&'static str],
    pub quantity: Quantity,
    pub up: f64,
    pub down: f64,
    pub scale: Scale,
}

impl Unit {
    /// Returns the size of the unit: `10 bar`.
    pub fn in_base_unit(&self) -> String {
        format!("{} {}", self.up / self.down, self.quantity.base_unit())
    }

    /// Returns a number of this unit in another one. The ratio of the two is reduced first, so that results are exact
    /// where the definitions are: 24 t/d are 1000 kg/h.
    pub fn scaled(&self, number: f64, to: &Unit) -> f64 {
        // All factors are integers.
        let (up, down) = (self.up as u128 * to.down as u128, self.down as u128 * to.up as u128);
        let divisor = greatest_common_divisor(up, down).max(1);
        number * (up / divisor) as f64 / (down / divisor) as f64
    }
}

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

const fn unit(quantity: Quantity, names: &'static [&'static str], up: f64, down: f64) -> Unit {
    Unit { names, quantity, up, down, scale: Scale::Ratio }
}

const fn temperature(names: &'static [&'static str], up: f64, down: f64, freezing: f64, zero: f64) -> Unit {
    Unit { names, quantity: Quantity::Temperature, up, down, scale: Scale::Temperature { freezing, zero } }
}

/// Units with names of their own. Names are case-sensitive: `Mg` is no `mg`.
const UNITS: &[Unit] = &[
    unit(Quantity::Length, &["m"], 1.0, 1.0),
    unit(Quantity::Length, &["mm"], 1.0, 1e3),
    unit(Quantity::Length, &["cm"], 1.0, 1e2),
    unit(Quantity::Length, &["um", "µm", "μm"], 1.0, 1e6),
    unit(Quantity::Length, &["km"], 1e3, 1.0),
    unit(Quantity::Length, &["in", "inch", "inches"], 254.0, 1e4),
    unit(Quantity::Length, &["ft", "foot", "feet"], 3048.0, 1e4),
    unit(Quantity::Length, &["yd"], 9144.0, 1e4),
    unit(Quantity::Length, &["mil"], 254.0, 1e7),
    unit(Quantity::Length, &["mi", "mile"], 1_609_344.0, 1e3),
    unit(Quantity::Area, &["m2", "m²"], 1.0, 1.0),
    unit(Quantity::Area, &["mm2", "mm²"], 1.0, 1e6),
    unit(Quantity::Area, &["cm2", "cm²"], 1.0, 1e4),
    unit(Quantity::Area, &["in2", "sqin"], 64_516.0, 1e8),
    unit(Quantity::Area, &["ft2", "sqft"], 9_290_304.0, 1e8),
    unit(Quantity::Volume, &["m3", "m³"], 1.0, 1.0),
    unit(Quantity::Volume, &["l", "L", "dm3", "dm³"], 1.0, 1e3),
    unit(Quantity::Volume, &["ml", "mL", "cm3", "cm³"], 1.0, 1e6),
    unit(Quantity::Volume, &["ft3", "cuft"], 28_316_846_592.0, 1e12),
    unit(Quantity::Volume, &["in3", "cuin"], 16_387_064.0, 1e12),
    unit(Quantity::Volume, &["gal", "usgal"], 3_785_411_784.0, 1e12),
    unit(Quantity::Volume, &["ukgal", "impgal"], 454_609.0, 1e8),
    unit(Quantity::Volume, &["bbl"], 158_987_294_928.0, 1e12),
    unit(Quantity::Mass, &["kg"], 1.0, 1.0),
    unit(Quantity::Mass, &["g"], 1.0, 1e3),
    unit(Quantity::Mass, &["mg"], 1.0, 1e6),
    unit(Quantity::Mass, &["t", "tonne"], 1e3, 1.0),
    unit(Quantity::Mass, &["lb", "lbs"], 45_359_237.0, 1e8),
    unit(Quantity::Mass, &["oz"], 45_359_237.0, 16e8),
    unit(Quantity::Time, &["s", "sec"], 1.0, 1.0),
    unit(Quantity::Time, &["min"], 60.0, 1.0),
    unit(Quantity::Time, &["h", "hr"], 3600.0, 1.0),
    unit(Quantity::Time, &["d", "day"], 86_400.0, 1.0),
    temperature(&["K"], 1.0, 1.0, 273.15, 0.0),
    temperature(&["degC", "°C", "C"], 1.0, 1.0, 0.0, -273.15),
    temperature(&["degF", "°F", "F"], 5.0, 9.0, 32.0, -459.67),
    temperature(&["degR", "°R", "R"], 5.0, 9.0, 491.67, 0.0),
    unit(Quantity::TemperatureDifference, &["deltaK", "deltaC", "Δ°C", "ΔK"], 1.0, 1.0),
    unit(Quantity::TemperatureDifference, &["deltaF", "deltaR", "Δ°F", "Δ°R"], 5.0, 9.0),
    unit(Quantity::Power, &["kW"], 1e3, 1.0),
    unit(Quantity::Power, &["W"], 1.0, 1.0),
    unit(Quantity::Power, &["MW"], 1e6, 1.0),
    // 37,284,993,579,113,511, rounded to a double.
    unit(Quantity::Power, &["hp"], 37_284_993_579_113_512.0, 5e13),
    unit(Quantity::VolumeFlow, &["gpm"], 3_785_411_784.0, 60e12),
    unit(Quantity::VolumeFlow, &["cfm"], 28_316_846_592.0, 60e12),
    unit(Quantity::VolumeFlow, &["lpm"], 1.0, 60e3),
    unit(Quantity::VolumeFlow, &["bpd"], 158_987_294_928.0, 86_400e12),
];

/// Returns the unit with a name.
pub(super) fn find(text: &str) -> Option<Unit> {
    let text = text.trim();
    named(text).or_else(|| rate(text)).or_else(|| pressure(text))
}

fn named(text: &str) -> Option<Unit> {
    UNITS.iter().find(|unit| unit.names.contains(&text)).copied()
}

/// Returns a unit by time, such as `m3/h`.
fn rate(text: &str) -> Option<Unit> {
    let (of, by) = text.split_once('/')?;
    let (of, by) = (named(of.trim())?, named(by.trim()).filter(|by| by.quantity == Quantity::Time)?);
    let quantity = match of.quantity {
        Quantity::Mass => Quantity::MassFlow,
        Quantity::Volume => Quantity::VolumeFlow,
        Quantity::Length => Quantity::Velocity,
        _ => return None,
    };
    Some(Unit { names: &[], quantity, up: of.up * by.down, down: of.down * by.up, scale: Scale::Ratio })
}

fn pressure(text: &str) -> Option<Unit> {
    let (up, down, reference) = quantity::pressure_unit(text)?;
    Some(Unit { names: &[], quantity: Quantity::Pressure, up, down, scale: Scale::Pressure { reference } })
}

/// Returns whether a unit is a volume of gas at normal or standard conditions, such as `Nm3/h` and `scfm`.
pub(super) fn is_at_reference_conditions(text: &str) -> bool {
    const WORDS: &[&str] = &["Nm3", "Nm³", "Sm3", "Sm³", "scf", "SCF", "Nl", "mscf", "MSCF", "mmscf", "MMSCF"];
    WORDS.iter().any(|word| text.trim_start().starts_with(word))
}

/// Returns the names of the units of each quantity, in the order of the table.
pub(super) fn names() -> impl Iterator<Item = (Quantity, Vec<&'static str>)> {
    const BY_NAME: &[Quantity] = &[
        Quantity::Length,
        Quantity::Area,
        Quantity::Volume,
        Quantity::Mass,
        Quantity::Time,
        Quantity::Temperature,
        Quantity::TemperatureDifference,
        Quantity::Pressure,
        Quantity::Power,
        Quantity::VolumeFlow,
    ];
    BY_NAME.iter().map(|quantity| {
        let pressures = quantity::pressure_unit_names().filter(|_| *quantity == Quantity::Pressure);
        let others = UNITS.iter().filter(|unit| unit.quantity == *quantity).map(|unit| unit.names);
        (*quantity, others.chain(pressures).flatten().copied().collect())
    })
}

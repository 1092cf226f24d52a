//! Conversion of units of process quantities.
//!
//! A quantity says what it is: a gauge pressure is no absolute one, a difference of temperatures no temperature, and a
//! volume at reference conditions no volume. What a unit does not say is not guessed.

mod table;

use super::array::optional;
use super::helpers::expect_number;
use super::nested::invalid;
use super::string::expect_text;
use crate::error::{Error, Result};
use crate::eval::EvalContext;
use crate::eval::option_spec::{OptionSpec, describe_value};
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::pid::quantity::Reference;
use crate::suggest;
use crate::value::Value;
use table::{Quantity, Scale, Unit};

const ATMOSPHERE: OptionSpec = OptionSpec::number("atmosphere");

/// The standard atmosphere in bar, by definition.
const STANDARD_ATMOSPHERE: f64 = 1.01325;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "convertUnit",
        params: &[Param::query("value"), Param::query("from"), Param::query("to"), Param::options(&[ATMOSPHERE])],
        summary: "A number in another unit. Gauge and absolute pressures differ by the standard atmosphere, or by the option `atmosphere` in bar.",
        example: r#"[convertUnit(2, "barg", "bara"), convertUnit(68, "degF", "degC"), convertUnit(10, "m3/h", "l/min")] => [3.01325,20,166.66666666666666]"#,
        body: Body::Lazy(convert_unit),
    },
    Function {
        name: "units",
        params: &[],
        summary: "The names of the units that `convertUnit` knows, by quantity. Pressures end in `g` or `a`; a flow is a volume or mass by a time.",
        example: r#"units().temperature => ["K","degC","°C","C","degF","°F","F","degR","°R","R"]"#,
        body: Body::Lazy(units),
    },
];

fn convert_unit<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    cx.charge(4)?;
    let mut values = [Value::Undefined; 4];
    for (at, value) in values.iter_mut().enumerate() {
        *value = optional(cx, args, at, input)?;
    }
    converted(values)
}

/// Converts a value. Not inlined: locals that live during the evaluation of arguments add to the stack.
#[inline(never)]
fn converted<'a>([value, from, to, options]: [Value<'a>; 4]) -> Result<Value<'a>> {
    let (from, to) = (unit(from)?, unit(to)?);
    let atmosphere = options.as_object().and_then(|options| options.get("atmosphere")).unwrap_or(Value::Undefined);
    let atmosphere = ATMOSPHERE.as_number(atmosphere)?.unwrap_or(STANDARD_ATMOSPHERE);
    if value.is_null() {
        return Ok(Value::Null);
    }
    let number = expect_number(value)?;
    if from.quantity != to.quantity {
        return Err(different_quantities(&from, &to, value));
    }
    match (from.scale, to.scale) {
        (Scale::Temperature { .. }, _) => temperature(number, &from, &to, value),
        (Scale::Pressure { .. }, _) => pressure(number, &from, &to, atmosphere, value),
        _ => Ok(Value::number(from.scaled(number, &to))),
    }
}

/// Reads a unit.
fn unit(value: Value<'_>) -> Result<Unit> {
    let text = expect_text(value)?;
    table::find(text).ok_or_else(|| {
        let error = invalid(format!("Unknown unit {}", describe_value(value)), value);
        if table::is_at_reference_conditions(text) {
            return error.with_help("a volume at normal or standard conditions is an amount of gas: its volume depends on pressure and temperature");
        }
        let names: Vec<&str> = table::names().flat_map(|(_, names)| names).collect();
        match suggest::nearest(text, names.into_iter()).first() {
            Some(similar) if similar.eq_ignore_ascii_case(text) => {
                let size = table::find(similar).map(|unit| unit.in_base_unit()).unwrap_or_default();
                error.with_help(format!(
                    "is `{similar}` meant, which is {size}? Case tells some units apart; `units()` lists all units"
                ))
            }
            Some(similar) => error.with_help(format!("did you mean `{similar}`? `units()` lists all units")),
            None => error.with_help("`units()` lists all units"),
        }
    })
}

fn different_quantities(from: &Unit, to: &Unit, value: Value<'_>) -> Error {
    let [from_name, to_name] = [from.quantity.name(), to.quantity.name()];
    let error = invalid(format!("A {from_name} does not convert to a {to_name}"), value);
    match (from.quantity, to.quantity) {
        (Quantity::Temperature, Quantity::TemperatureDifference)
        | (Quantity::TemperatureDifference, Quantity::Temperature) => {
            error.with_help("differences of temperatures are in `deltaC`, `deltaK`, `deltaF` or `deltaR`")
        }
        (Quantity::MassFlow, Quantity::VolumeFlow) | (Quantity::VolumeFlow, Quantity::MassFlow) => {
            error.with_help("multiply a volume flow by the density, or divide a mass flow by it")
        }
        _ => error,
    }
}

/// Converts in the order that keeps integers exact: 25 °C is 77 °F.
fn temperature<'a>(number: f64, from: &Unit, to: &Unit, value: Value<'a>) -> Result<Value<'a>> {
    let (Scale::Temperature { freezing: from_freezing, zero }, Scale::Temperature { freezing: to_freezing, .. }) =
        (from.scale, to.scale)
    else {
        return Ok(value);
    };
    if number < zero {
        return Err(invalid("The temperature is below absolute zero", value));
    }
    if from.names == to.names {
        return Ok(value);
    }
    let above_freezing = from.scaled(number - from_freezing, to);
    Ok(Value::number(without_noise(above_freezing + to_freezing, number.abs().max(to_freezing).max(from_freezing))))
}

fn pressure<'a>(number: f64, from: &Unit, to: &Unit, atmosphere: f64, value: Value<'a>) -> Result<Value<'a>> {
    let (Scale::Pressure { reference: from_zero }, Scale::Pressure { reference: to_zero }) = (from.scale, to.scale)
    else {
        return Ok(value);
    };
    let bar = number * from.up / from.down;
    let vacuum = match from_zero {
        Reference::Gauge => Some(-atmosphere),
        Reference::Absolute => Some(0.0),
        // May be a difference.
        Reference::Unstated => None,
    };
    // The vacuum itself may be off by the rounding of its conversion.
    if vacuum.is_some_and(|vacuum| bar < vacuum - 1e-12 * atmosphere) {
        return Err(invalid("The pressure is below absolute vacuum", value));
    }
    let shift = match (from_zero, to_zero) {
        (a, b) if a == b => return Ok(Value::number(from.scaled(number, to))),
        (Reference::Gauge, Reference::Absolute) => atmosphere,
        (Reference::Absolute, Reference::Gauge) => -atmosphere,
        _ => {
            let error = invalid("One of the units does not say whether the pressure is gauge or absolute", value);
            return Err(error.with_help("write `barg` or `bara`, `psig` or `psia`, `kPag` or `kPaa`"));
        }
    };
    let in_unit = |bar: f64| bar * to.down / to.up;
    Ok(Value::number(without_noise(in_unit(bar + shift), in_unit(bar.abs().max(atmosphere)))))
}

/// Rounds a sum to the precision of its larger term if that is a short decimal: 300 K are 26.85 °C, not
/// 26.850000000000023.
fn without_noise(sum: f64, largest_term: f64) -> f64 {
    /// Decimal digits that a double keeps in a sum.
    const DIGITS: i32 = 14;
    if !sum.is_finite() || largest_term == 0.0 {
        return sum;
    }
    let decimals = DIGITS - 1 - largest_term.log10().floor() as i32;
    let Ok(decimals @ 0..=300) = usize::try_from(decimals) else { return sum };
    let rounded = format!("{sum:.decimals$}");
    if rounded.ends_with("000") { rounded.parse().map_or(sum, |rounded: f64| rounded + 0.0) } else { sum }
}

fn units<'a>(cx: &mut EvalContext<'a>, _: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let mut lists: Vec<(&'static str, Value<'a>)> = Vec::new();
    for (quantity, names) in table::names() {
        cx.charge(names.len() as u64)?;
        lists.push((quantity.name(), cx.make_array(names.into_iter().map(Value::String))?));
    }
    cx.make_object(lists)
}

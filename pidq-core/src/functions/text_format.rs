//! Formatting: numbers with fixed decimals and grouped digits, texts from templates.

use std::fmt::{self, Write};

use super::array::optional;
use super::helpers::{Side, expect_number, pad, string_args};
use super::json_text::json_text;
use super::nested::{PathKey, child, invalid};
use super::number::{argument, rounded};
use crate::error::{Error, Result};
use crate::eval::EvalContext;
use crate::eval::build::LimitedText;
use crate::eval::option_spec::OptionSpec;
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::eval::text_template::{self, Part};
use crate::value::{Value, convert};

const DIGITS: OptionSpec = OptionSpec::number("digits");
const GROUP: OptionSpec = OptionSpec::string("group");
const POINT: OptionSpec = OptionSpec::string("point");
const TEMPLATE: OptionSpec = OptionSpec::string("template");

/// Decimals of a number at most; a double has no more.
const MAX_DIGITS: f64 = 100.0;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "format",
        params: &[Param::text_template(&TEMPLATE)],
        summary: "A text with the fields that a template names: `{a.b}`, `{.}` for the value itself, `{a:.2}` with two decimals; null is empty, `{{` a brace.",
        example: r#"{tag: "P-1", kw: 7.456} | format("{tag}: {kw:.1} kW") => "P-1: 7.5 kW""#,
        body: Body::Piped(format_text),
    },
    Function {
        name: "formatNumber",
        params: &[Param::query("value"), Param::checked(&DIGITS).optional(), Param::options(&[GROUP, POINT])],
        summary: r#"A number as a text with a number of decimals, rounded like `round`; `group` separates thousands, `point` decimals."#,
        example: r#"[formatNumber(2, 2), formatNumber(1234567.891, 1, {group: ".", point: ","})] => ["2.00","1.234.567,9"]"#,
        body: Body::Lazy(format_number),
    },
    Function {
        name: "padEnd",
        params: &[Param::query("text"), Param::query("length"), Param::query("fill").optional()],
        summary: "The string padded at the end to a length, with spaces unless `fill` is given.",
        example: r#"padEnd("7", 3, "0") => "700""#,
        body: Body::Strict(|cx, args| pad(cx, args, Side::End)),
    },
    Function {
        name: "repeat",
        params: &[Param::query("text"), Param::query("count")],
        summary: "The string repeated a number of times.",
        example: r#"repeat("-", 3) => "---""#,
        body: Body::Strict(repeat),
    },
];

fn format_number<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    // The options may follow the number without digits.
    let (digits, options) = match args.get(1) {
        Some(Plan::Object(_)) => (Value::Undefined, optional(cx, args, 1, input)?),
        _ => (optional(cx, args, 1, input)?, optional(cx, args, 2, input)?),
    };
    let value = optional(cx, args, 0, input)?;
    if value.is_null() {
        return Ok(Value::Null);
    }
    let number = expect_number(value)?;
    let text = decimals(cx, number, digits)?;
    let option = |name| options.as_object().and_then(|options| options.get(name)).and_then(Value::as_str);
    let (group, point) = (option("group").unwrap_or_default(), option("point").unwrap_or("."));
    cx.charge_bytes(text.len() * (1 + group.len()) + point.len())?;
    cx.build_text(|out| write_grouped(out, &text, group, point)).map(Value::String)
}

/// Returns a number with a fixed number of decimals; without one, as in JSON.
fn decimals<'a>(cx: &mut EvalContext<'a>, number: f64, digits: Value<'a>) -> Result<String> {
    if !number.is_finite() {
        return Err(invalid("Finite number expected", Value::number(number)));
    }
    if digits.is_null() {
        return Ok(convert::to_text(Value::number(number)));
    }
    let count = expect_number(digits)?;
    if !(0.0..=MAX_DIGITS).contains(&count) || count.trunc() != count {
        return Err(invalid("Number of decimals expected: an integer from 0 to 100", digits));
    }
    let rounded = match rounded(cx, Value::number(number), Value::number(count))? {
        // The decimals are too many for the shift of `round`: nothing is rounded.
        result if result.is_nan() => number,
        result => result,
    };
    Ok(format!("{:.*}", count as usize, rounded + 0.0))
}

/// Writes a decimal text with separators between groups of three digits.
fn write_grouped(out: &mut LimitedText, text: &str, group: &str, point: &str) -> fmt::Result {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (integer, rest) = digits.split_at(end);
    out.write_str(sign)?;
    for (at, digit) in integer.char_indices() {
        if at > 0 && (integer.len() - at).is_multiple_of(3) {
            out.write_str(group)?;
        }
        out.write_char(digit)?;
    }
    match rest.strip_prefix('.') {
        Some(fraction) => out.write_str(point).and_then(|()| out.write_str(fraction)),
        None => out.write_str(rest),
    }
}

fn format_text<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let value = optional(cx, args, 0, input)?;
    let template = super::string::expect_text(value)?;
    cx.charge_bytes(template.len())?;
    let base = cx.mark();
    // The compiler appends the paths of the fields of a constant template.
    let mut paths = args[1..].iter();
    let mut rest = template;
    while !rest.is_empty() {
        cx.charge(1)?;
        let (part, len) = text_template::next_part(rest).ok_or_else(|| bad_template(value))?;
        rest = &rest[len..];
        let text = match part {
            Part::Text(text) => text,
            Part::Field { path, digits } => field_text(cx, input, path, digits, paths.next())?,
        };
        cx.push(Value::String(text))?;
    }
    let parts: Vec<&'a str> = cx.collected(base).iter().filter_map(|part| part.as_str()).collect();
    cx.discard_collected(base);
    cx.build_text(|out| parts.iter().try_for_each(|part| out.write_str(part))).map(Value::String)
}

fn bad_template(template: Value<'_>) -> Error {
    let error = invalid("A brace of the template has no partner, or no field in it", template);
    error.with_help("`{tag}` is a field, `{size:.1}` a number with one decimal, `{{` a brace")
}

/// Returns the text of a field; empty for a missing one. Records the lookups of the compiled path, if there is one, so
/// that a run warns of a field that no object has.
fn field_text<'a>(
    cx: &mut EvalContext<'a>,
    input: Value<'a>,
    path: &str,
    digits: Option<f64>,
    compiled: Option<&Plan>,
) -> Result<&'a str> {
    let mut value = input;
    for (at, key) in text_template::keys(path).enumerate() {
        cx.charge(1)?;
        let key = cx.build_text(|out| out.write_str(key))?;
        let key = PathKey::from_value(cx, Value::String(key))?;
        let found = child(value, &key);
        if let (Some(Plan::Get(path)), Value::Object(_)) = (compiled, value) {
            cx.record_lookup(path, at, found.is_some());
        }
        value = found.unwrap_or(Value::Null);
    }
    match (value, digits) {
        (value, _) if value.is_null() => Ok(""),
        (value, Some(digits)) => {
            let text = decimals(cx, expect_number(value)?, Value::number(digits))?;
            cx.build_text(|out| out.write_str(&text))
        }
        (Value::Array(_) | Value::Object(_), None) => json_text(cx, value),
        (value, None) => cx.convert_to_text(value),
    }
}

fn repeat<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let Some([text]) = string_args(cx, args)? else { return Ok(Value::Null) };
    let value = argument(args, 1);
    let count = expect_number(value)?;
    if count < 0.0 || count.trunc() != count {
        return Err(invalid("Number of repetitions expected: an integer of at least 0", value));
    }
    if text.is_empty() {
        return Ok(Value::String(""));
    }
    // The cast maps large numbers to the greatest one.
    let count = count as usize;
    cx.charge_bytes(count.saturating_mul(text.len()))?;
    cx.build_text(|out| (0..count).try_for_each(|_| out.write_str(text))).map(Value::String)
}

//! Arithmetic, rounding, and aggregates of arrays of numbers.

use std::fmt::Write;

use super::array;
use crate::arena::{Arena, Cell};
use crate::error::Result;
use crate::eval::EvalContext;
use crate::eval::arithmetic;
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, FoldBody, Function, Param};
use crate::eval::run_warnings::{NonNumericItem, NonNumericOperand};
use crate::value::{Array, Value, convert, js_number_format};

const TWO: &[Param] = &[Param::query("left"), Param::query("right")];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "abs",
        params: &[Param::query("value")],
        summary: "The absolute value of a number.",
        example: "abs(-3) => 3",
        body: Body::Strict(abs),
    },
    Function {
        name: "add",
        params: TWO,
        summary: "The sum of two numbers; if either is a string, array or object, both are joined as strings.",
        example: "add(2, 3) => 5",
        body: Body::Strict(add),
    },
    Function {
        name: "average",
        params: &[],
        summary: "The average of the numbers of an array, or null for an empty one; null counts as 0.",
        example: "[1, 2, 6] | average() => 3",
        body: Body::Folded(average, fold_average),
    },
    Function {
        name: "divide",
        params: TWO,
        summary: "The left number divided by the right one.",
        example: "divide(3, 2) => 1.5",
        body: Body::Strict(divide),
    },
    Function {
        name: "max",
        params: &[],
        summary: "The largest number of an array, or null for an empty one; null counts as 0.",
        example: "[3, 1, 2] | max() => 3",
        body: Body::Folded(max, fold_max),
    },
    Function {
        name: "min",
        params: &[],
        summary: "The smallest number of an array, or null for an empty one; null counts as 0.",
        example: "[3, 1, 2] | min() => 1",
        body: Body::Folded(min, fold_min),
    },
    Function {
        name: "mod",
        params: TWO,
        summary: "The remainder of a division, with the sign of the left number.",
        example: "mod(-7, 3) => -1",
        body: Body::Strict(remainder),
    },
    Function {
        name: "multiply",
        params: TWO,
        summary: "The product of two numbers.",
        example: "multiply(2, 3) => 6",
        body: Body::Strict(multiply),
    },
    Function {
        name: "number",
        params: &[Param::query("text")],
        summary: "The number that a string represents, or null if it represents none; null and an empty string are 0.",
        example: r#"number("2.5") => 2.5"#,
        body: Body::Batched(number, numbers),
    },
    Function {
        name: "pow",
        params: TWO,
        summary: "The left number to the power of the right one.",
        example: "pow(2, 10) => 1024",
        body: Body::Strict(pow),
    },
    Function {
        name: "prod",
        params: &[],
        summary: "The product of the numbers of an array, or null for an empty one; null counts as 0.",
        example: "[2, 3, 4] | prod() => 24",
        body: Body::Folded(prod, fold_prod),
    },
    Function {
        name: "round",
        params: &[Param::query("value"), Param::query("digits").optional()],
        summary: "The number rounded to a number of digits after the decimal point; null, with a warning, if it is written with an exponent, such as 1e-7: `toNumber(formatNumber(.a, 8))` rounds it.",
        example: "round(2.345, 2) => 2.35",
        body: Body::Strict(round),
    },
    Function {
        name: "subtract",
        params: TWO,
        summary: "The left number minus the right one.",
        example: "subtract(5, 3) => 2",
        body: Body::Strict(subtract),
    },
    Function {
        name: "sum",
        params: &[],
        summary: "The sum of the numbers of an array, or 0 for an empty one.",
        example: "[1, 2, 3] | sum() => 6",
        body: Body::Folded(sum, fold_sum),
    },
];

fn add<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    match args {
        [Value::Number(left), Value::Number(right)] => {
            cx.charge(1)?;
            Ok(Value::number(left.value() + right.value()))
        }
        [Value::String(left), Value::String(right)] => {
            cx.charge(1)?;
            cx.concat(left, right).map(Value::String)
        }
        _ => add_others(cx, argument(args, 0), argument(args, 1)),
    }
}

fn add_others<'a>(cx: &mut EvalContext<'a>, left: Value<'a>, right: Value<'a>) -> Result<Value<'a>> {
    let sum = add_all(cx, left, [right].into_iter())?;
    match (left, right) {
        (Value::Object(_), Value::Object(_)) => cx.warn_operand(NonNumericOperand::JoinedObjects)?,
        (Value::Array(_), Value::Array(_)) => cx.warn_operand(NonNumericOperand::JoinedArrays)?,
        (Value::Object(_), _) | (_, Value::Object(_)) => cx.warn_operand(NonNumericOperand::JoinedObject)?,
        (Value::Array(_), Value::Number(_)) | (Value::Number(_), Value::Array(_)) => {
            cx.warn_operand(NonNumericOperand::JoinedArray)?;
        }
        _ => {}
    }
    Ok(sum)
}

fn subtract<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    calculate(cx, args, |a, b| a - b)
}

fn multiply<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    calculate(cx, args, |a, b| a * b)
}

fn divide<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    calculate(cx, args, |a, b| a / b)
}

fn remainder<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    calculate(cx, args, arithmetic::remainder)
}

fn pow<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    calculate(cx, args, arithmetic::power)
}

fn calculate<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>], combine: fn(f64, f64) -> f64) -> Result<Value<'a>> {
    let (left, right) = (argument(args, 0), argument(args, 1));
    let result = combine(number_of(cx, left)?, number_of(cx, right)?);
    if !matches!((left, right), (Value::Number(_), Value::Number(_)))
        && let Some(kind) = NonNumericOperand::of(left).max(NonNumericOperand::of(right))
    {
        cx.warn_operand(kind)?;
    }
    Ok(Value::number(result))
}

impl NonNumericOperand {
    /// Returns the kind of an operand of `-`, `*` and so on that is neither a number nor the text of one. A Boolean is meant
    /// as 0 or 1.
    fn of(operand: Value<'_>) -> Option<NonNumericOperand> {
        match operand {
            Value::Null => Some(NonNumericOperand::Null),
            Value::String(text) if text.len() >= FREE_TEXT || convert::text_to_number(text).is_nan() => {
                Some(NonNumericOperand::Text)
            }
            Value::Object(_) => Some(NonNumericOperand::Object),
            _ => None,
        }
    }
}

fn abs<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    Ok(Value::number(number_of(cx, argument(args, 0))?.abs()))
}

fn number<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let number = number_of(cx, argument(args, 0))?;
    Ok(if number.is_nan() { Value::Null } else { Value::number(number) })
}

/// Converts short strings and numbers, which is free of charge.
fn numbers<'a>(_: &mut EvalContext<'a>, values: &mut [Value<'a>], _: &[Value<'a>]) -> usize {
    for (at, value) in values.iter_mut().enumerate() {
        let number = match *value {
            Value::Number(number) => number.value(),
            Value::String(text) if text.len() < FREE_TEXT => convert::text_to_number(text),
            _ => return at,
        };
        *value = if number.is_nan() { Value::Null } else { Value::number(number) };
    }
    values.len()
}

/// Shifts the point in the decimal string, like the reference: 1.005 rounds to 1.01, although its double is smaller.
///
/// A string that already has an exponent gets a second one and becomes NaN, as in the reference.
fn round<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let digits = match argument(args, 1) {
        Value::Undefined => Value::number(0.0),
        digits => digits,
    };
    if let (Value::Number(number), None) = (argument(args, 0), args.get(1))
        && PLAIN.contains(&number.value().abs())
    {
        // The decimal string is that of the number itself. Adding 0 turns the -0 of -0.2 into 0, like its string would.
        return Ok(Value::number(round_half_up(number.value()) + 0.0));
    }
    let (value, result) = (argument(args, 0), rounded(cx, argument(args, 0), digits)?);
    if let (Value::Number(number), true) = (value, result.is_nan())
        && number.value().is_finite()
        && matches!(digits, Value::Number(_))
    {
        cx.warn_rounded_exponent(value)?;
    }
    Ok(Value::number(result))
}

/// Rounds to a number of digits after the decimal point.
pub(super) fn rounded<'a>(cx: &mut EvalContext<'a>, value: Value<'a>, digits: Value<'a>) -> Result<f64> {
    let shifted = cx.build_text(|out| {
        convert::write_text(value, out)?;
        out.write_char('e')?;
        convert::write_text(digits, out)
    })?;
    let integer = round_half_up(convert::text_to_number(shifted));
    let back = -number_of(cx, digits)?;
    let rounded = format!("{}e{}", js_number_format::number_text(integer), js_number_format::number_text(back));
    Ok(convert::text_to_number(&rounded))
}

/// Range of numbers whose string has no exponent.
const PLAIN: std::ops::Range<f64> = 1e-6..1e20;

/// Rounds like `Math.round`. Not `(x + 0.5).floor()`: that sum is inexact just below a half and for large numbers.
fn round_half_up(number: f64) -> f64 {
    let below = number.floor();
    if number - below >= 0.5 { below + 1.0 } else { below }
}

fn sum<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _args: &'a [Plan]) -> Result<Value<'a>> {
    let list = array::list(input)?;
    match fold_stored(cx, list, fold_sum)? {
        Some(total) => Ok(total),
        None => {
            let total = add_all(cx, Value::number(0.0), list.iter())?;
            if concatenates(total) {
                cx.warn_non_numeric(NonNumericItem::of_joined(list))?;
            }
            Ok(total)
        }
    }
}

fn average<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _args: &'a [Plan]) -> Result<Value<'a>> {
    let list = array::list(input)?;
    if let Some(average) = fold_stored(cx, list, fold_average)? {
        return Ok(average);
    }
    let mut items = list.iter();
    let Some(first) = items.next() else { return Ok(Value::Null) };
    let total = add_all(cx, first, items)?;
    let average = number_of(cx, total)? / list.len() as f64;
    let joined = concatenates(total).then(|| NonNumericItem::of_joined(list));
    if let Some(kind) = joined.or_else(|| NonNumericItem::of_items(list)) {
        cx.warn_non_numeric(kind)?;
    }
    Ok(Value::number(average))
}

fn prod<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _args: &'a [Plan]) -> Result<Value<'a>> {
    reduce(cx, input, fold_prod, product)
}

fn min<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _args: &'a [Plan]) -> Result<Value<'a>> {
    reduce(cx, input, fold_min, smaller)
}

fn max<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _args: &'a [Plan]) -> Result<Value<'a>> {
    reduce(cx, input, fold_max, larger)
}

fn product(a: f64, b: f64) -> f64 {
    a * b
}

// Unlike `f64::min` and `f64::max`, JavaScript's do not skip NaN.
fn smaller(a: f64, b: f64) -> f64 {
    if a < b || a.is_nan() { a } else { b }
}

fn larger(a: f64, b: f64) -> f64 {
    if a > b || a.is_nan() { a } else { b }
}

/// Combines the items as numbers. A single item is returned unchanged, whatever its type.
fn reduce<'a>(
    cx: &mut EvalContext<'a>,
    input: Value<'a>,
    fold: FoldBody,
    combine: fn(f64, f64) -> f64,
) -> Result<Value<'a>> {
    let list = array::list(input)?;
    if let Some(total) = fold_stored(cx, list, fold)? {
        return Ok(total);
    }
    let mut items = list.iter();
    let Some(first) = items.next() else { return Ok(Value::Null) };
    cx.charge(1)?;
    if items.len() == 0 {
        return Ok(first);
    }
    let mut total = number_of(cx, first)?;
    for item in items {
        cx.charge(1)?;
        total = combine(total, number_of(cx, item)?);
    }
    if let Some(kind) = NonNumericItem::of_items(list) {
        cx.warn_non_numeric(kind)?;
    }
    Ok(Value::number(total))
}

impl NonNumericItem {
    /// Returns the worst of some items that are neither numbers nor texts of numbers. A Boolean is meant as 0 or 1.
    fn of_items(items: Array<'_>) -> Option<NonNumericItem> {
        let kind = |item: Value<'_>| match item {
            Value::Number(_) | Value::Bool(_) => None,
            Value::Null | Value::Undefined => Some(NonNumericItem::Null),
            Value::String(text) if text.len() < FREE_TEXT && is_number(text) => None,
            Value::String(_) => Some(NonNumericItem::Text),
            Value::Array(_) | Value::Object(_) => Some(NonNumericItem::Container),
        };
        items.iter().filter_map(kind).max()
    }

    /// Returns the same for items that `+` joins as texts.
    fn of_joined(items: Array<'_>) -> NonNumericItem {
        NonNumericItem::of_items(items).map_or(NonNumericItem::JoinedText, |kind| kind.max(NonNumericItem::JoinedText))
    }
}

/// Returns whether a text is a number, and not an empty one, which counts as 0.
fn is_number(text: &str) -> bool {
    !text.trim().is_empty() && !convert::text_to_number(text).is_nan()
}

/// Computes an aggregate of stored numbers; `None` if the items are not stored, or one is not a number.
fn fold_stored<'a>(cx: &mut EvalContext<'a>, list: Array<'a>, fold: FoldBody) -> Result<Option<Value<'a>>> {
    let Some((arena, cells)) = list.cells() else { return Ok(None) };
    let Some((total, cost)) = fold(arena, cells) else { return Ok(None) };
    cx.charge(cost)?;
    Ok(Some(Value::stored(arena, total)))
}

fn fold_sum(arena: &Arena, cells: &[Cell]) -> Option<(Cell, u64)> {
    let total = fold(arena, cells, 0.0, |a, b| a + b)?;
    Some((Cell::number(total), cells.len() as u64))
}

fn fold_average(arena: &Arena, cells: &[Cell]) -> Option<(Cell, u64)> {
    let [first, rest @ ..] = cells else { return Some((Cell::NULL, 0)) };
    let total = fold(arena, rest, arena.number(*first)?, |a, b| a + b)?;
    Some((Cell::number(total / cells.len() as f64), rest.len() as u64))
}

fn fold_prod(arena: &Arena, cells: &[Cell]) -> Option<(Cell, u64)> {
    fold_from_first(arena, cells, product)
}

fn fold_min(arena: &Arena, cells: &[Cell]) -> Option<(Cell, u64)> {
    fold_from_first(arena, cells, smaller)
}

fn fold_max(arena: &Arena, cells: &[Cell]) -> Option<(Cell, u64)> {
    fold_from_first(arena, cells, larger)
}

/// Combines stored numbers, as [`reduce`] does.
fn fold_from_first(arena: &Arena, cells: &[Cell], combine: impl Fn(f64, f64) -> f64) -> Option<(Cell, u64)> {
    let [first, rest @ ..] = cells else { return Some((Cell::NULL, 0)) };
    let start = arena.number(*first)?;
    // A single number keeps its text.
    let total = if rest.is_empty() { *first } else { Cell::number(fold(arena, rest, start, combine)?) };
    Some((total, cells.len() as u64))
}

/// Combines stored numbers; `None` if one of the cells is not a number.
fn fold(arena: &Arena, cells: &[Cell], start: f64, combine: impl Fn(f64, f64) -> f64) -> Option<f64> {
    cells.iter().try_fold(start, |total, cell| Some(combine(total, arena.number(*cell)?)))
}

/// Applies JavaScript's `+` from left to right. From the first string on, the result is one string, so it is written at
/// once.
fn add_all<'a>(
    cx: &mut EvalContext<'a>,
    start: Value<'a>,
    mut items: impl ExactSizeIterator<Item = Value<'a>>,
) -> Result<Value<'a>> {
    let mut total = start;
    while let Some(item) = items.next() {
        cx.charge(1)?;
        if let (Value::Number(before), Value::Number(next)) = (total, item) {
            total = Value::number(before.value() + next.value());
            continue;
        }
        if concatenates(total) || concatenates(item) {
            cx.charge(items.len() as u64)?;
            let mut parts = [total, item].into_iter().chain(items);
            return cx.build_text(|out| parts.try_for_each(|part| convert::write_text(part, out))).map(Value::String);
        }
        total = Value::number(convert::to_number(total) + convert::to_number(item));
    }
    Ok(total)
}

/// Returns whether `+` with this value results in a string.
fn concatenates(value: Value<'_>) -> bool {
    matches!(value, Value::String(_) | Value::Array(_) | Value::Object(_))
}

/// Returns an argument of a call; missing ones are `undefined`, as in JavaScript.
pub(super) fn argument<'a>(args: &[Value<'a>], at: usize) -> Value<'a> {
    args.get(at).copied().unwrap_or(Value::Undefined)
}

/// Length in bytes from which the conversion of a string is charged.
const FREE_TEXT: usize = 64;

/// Converts like `Number(x)` and charges for it: a string may be long, and so may be nesting such as `[["1"]]`.
#[inline]
pub(super) fn number_of<'a>(cx: &mut EvalContext<'a>, value: Value<'a>) -> Result<f64> {
    match value {
        Value::Number(number) => Ok(number.value()),
        Value::String(text) if text.len() < FREE_TEXT => Ok(convert::text_to_number(text)),
        other => number_of_other(cx, other),
    }
}

fn number_of_other<'a>(cx: &mut EvalContext<'a>, value: Value<'a>) -> Result<f64> {
    let mut inner = value;
    while let Some(only) = inner.as_array().filter(|array| array.len() == 1).and_then(|array| array.get(0)) {
        cx.charge(1)?;
        inner = only;
    }
    cx.charge_bytes(inner.as_str().map_or(0, str::len))?;
    Ok(convert::to_number(value))
}

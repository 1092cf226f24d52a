//! Helper functions beyond JSON Query 5.1.1: strict about types, where the functions of the reference convert.

use std::cmp::Ordering;
use std::fmt::{self, Write};

use super::array::{at_item, collect, key_of, list, optional, select, sorted_positions, try_vectorized_arg};
use super::number::argument;
use super::sorting::{self, ChunkedSort};
use super::string::expect_text;
use crate::error::{Code, Error, Result, Stage};
use crate::eval::EvalContext;
use crate::eval::build::{Entries, LimitedText};
use crate::eval::call_stats::Strategy;
use crate::eval::option_spec::OptionSpec;
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::value::write::describe;
use crate::value::{Array, Keys, Object, Value, compare, convert};

const COUNT: OptionSpec = OptionSpec::any_number("count");
const DIRECTION: OptionSpec = OptionSpec::keyword("direction", DIRECTIONS);
const EACH_DIRECTION: OptionSpec = OptionSpec::keyword_list("directions", DIRECTIONS);
const END: OptionSpec = OptionSpec::any_number("end");
const NAME: OptionSpec = OptionSpec::string("name");
const START: OptionSpec = OptionSpec::any_number("start");

const DIRECTIONS: &[&str] = &["asc", "desc"];
/// Index of the ascending direction.
const ASCENDING: usize = 0;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "all",
        params: &[Param::query("condition")],
        summary: "Whether a condition holds for every item of an array; true for an empty one.",
        example: "[1, 2] | all(get() > 0) => true",
        body: Body::Piped(|cx, input, args| any_or_all(cx, input, args, false)),
    },
    Function {
        name: "any",
        params: &[Param::query("condition")],
        summary: "Whether a condition holds for any item of an array.",
        example: "[1, 2] | any(get() > 1) => true",
        body: Body::Piped(|cx, input, args| any_or_all(cx, input, args, true)),
    },
    Function {
        name: "attr",
        params: &[Param::checked(&NAME), Param::query("set").optional()],
        summary: "The value of the named entry of the `attributes` of an object, optionally of one `set`; null if there is none.",
        example: r#"{attributes: [{name: "DN", value: 80}]} | attr("DN") => 80"#,
        body: Body::Piped(attribute),
    },
    Function {
        name: "avgBy",
        params: &[Param::query("value")],
        summary: "The average of a value that is computed for each item; null for an empty array. A value that is no number, such as null, is an error.",
        example: "[{a: 1}, {a: 4}] | avgBy(.a) => 2.5",
        body: Body::Piped(avg_by),
    },
    Function {
        name: "ceil",
        params: &[Param::query("value")],
        summary: "The smallest whole number that is not less than a number.",
        example: "[ceil(2.1), ceil(-2.1)] => [3,-2]",
        body: Body::Strict(|_, args| whole_number(args, f64::ceil)),
    },
    Function {
        name: "coalesce",
        params: &[Param::query("value").many()],
        summary: "The first value that is not null; later ones are not evaluated.",
        example: "coalesce(null, 2, 3) => 2",
        body: Body::Lazy(coalesce),
    },
    Function {
        name: "contains",
        params: &[Param::query("whole"), Param::query("part")],
        summary: "Whether a string contains a substring, or an array an item; false for other types.",
        example: r#"contains("P-101A", "101") => true"#,
        body: Body::Strict(contains),
    },
    Function {
        name: "count",
        params: &[Param::query("condition").optional()],
        summary: "The number of items for which a condition holds; without a condition, of all items.",
        example: "[1, 2, 3] | count(get() > 1) => 2",
        body: Body::Piped(count),
    },
    Function {
        name: "countBy",
        params: &[Param::query("key")],
        summary: "An object of counts: the number of items with each value of a key.",
        example: r#"[{a: "x"}, {a: "y"}, {a: "x"}] | countBy(.a) => {"x":2,"y":1}"#,
        body: Body::Piped(count_by),
    },
    Function {
        name: "endsWith",
        params: &[Param::query("text"), Param::query("end")],
        summary: "Whether a string ends with another one.",
        example: r#"endsWith("P-101A", "A") => true"#,
        body: Body::Strict(ends_with),
    },
    Function {
        name: "entries",
        params: &[],
        summary: "The keys and values of an object, as an array of `{key, value}`.",
        example: r#"{a: 1} | entries() => [{"key":"a","value":1}]"#,
        body: Body::Piped(entries),
    },
    Function {
        name: "first",
        params: &[],
        summary: "The first item of an array, null for an empty one.",
        example: "[7, 8] | first() => 7",
        body: Body::Piped(|_, input, _| Ok(list(input)?.get(0).unwrap_or(Value::Null))),
    },
    Function {
        name: "flatMap",
        params: &[Param::query("list")],
        summary: "The items of the arrays that a query returns for each item, as one array.",
        example: "[{a: [1, 2]}, {a: [3]}] | flatMap(.a) => [1,2,3]",
        body: Body::Piped(flat_map),
    },
    Function {
        name: "floor",
        params: &[Param::query("value")],
        summary: "The greatest whole number that is not greater than a number.",
        example: "[floor(2.9), floor(-2.1)] => [2,-3]",
        body: Body::Strict(|_, args| whole_number(args, f64::floor)),
    },
    Function {
        name: "fromEntries",
        params: &[],
        summary: "The object built from an array of `{key, value}`; if keys are equal, the last value wins.",
        example: r#"[{key: "a", value: 1}] | fromEntries() => {"a":1}"#,
        body: Body::Piped(from_entries),
    },
    Function {
        name: "last",
        params: &[],
        summary: "The last item of an array, null for an empty one.",
        example: "[7, 8] | last() => 8",
        body: Body::Piped(last),
    },
    Function {
        name: "lower",
        params: &[Param::query("text")],
        summary: "The string in lower case.",
        example: r#"lower("DN80") => "dn80""#,
        body: Body::Strict(lower),
    },
    Function {
        name: "maxBy",
        params: &[Param::query("key")],
        summary: "The item with the greatest key, the first one if several are equal; items without a key are ignored.",
        example: r#"[{a: 1}, {a: 3}] | maxBy(.a) => {"a":3}"#,
        body: Body::Piped(|cx, input, args| extreme(cx, input, args, Ordering::Greater)),
    },
    Function {
        name: "merge",
        params: &[Param::query("object").many()],
        summary: "One object with the properties of all; if keys are equal, the last value wins.",
        example: r#"merge({a: 1, b: 1}, {b: 2}) => {"a":1,"b":2}"#,
        body: Body::Piped(merge),
    },
    Function {
        name: "minBy",
        params: &[Param::query("key")],
        summary: "The item with the smallest key, the first one if several are equal; items without a key are ignored.",
        example: r#"[{a: 3}, {a: 1}] | minBy(.a) => {"a":1}"#,
        body: Body::Piped(|cx, input, args| extreme(cx, input, args, Ordering::Less)),
    },
    Function {
        name: "padStart",
        params: &[Param::query("text"), Param::query("length"), Param::query("fill").optional()],
        summary: "The string padded at the start to a length, with spaces unless `fill` is given.",
        example: r#"padStart("7", 3, "0") => "007""#,
        body: Body::Strict(|cx, args| pad(cx, args, Side::Start)),
    },
    Function {
        name: "pickBy",
        params: &[Param::query("condition")],
        summary: "The object with only the properties whose values satisfy a condition.",
        example: r#"{a: 1, b: 5} | pickBy(get() > 2) => {"b":5}"#,
        body: Body::Piped(pick_by),
    },
    Function {
        name: "replace",
        params: &[Param::query("text"), Param::query("find"), Param::query("with")],
        summary: "The string with every occurrence of a substring replaced.",
        example: r#"replace("a-b-c", "-", "/") => "a/b/c""#,
        body: Body::Strict(replace),
    },
    Function {
        name: "skip",
        params: &[Param::checked_constant(&COUNT)],
        summary: "The items after the first `count`.",
        example: "[1, 2, 3] | skip(1) => [2,3]",
        body: Body::Piped(skip),
    },
    Function {
        name: "slice",
        params: &[Param::checked_constant(&START), Param::checked_constant(&END).optional()],
        summary: "The items from start up to, not including, end; negative positions count from the end.",
        example: "[1, 2, 3, 4] | slice(1, -1) => [2,3]",
        body: Body::Piped(slice),
    },
    Function {
        name: "sortBy",
        params: &[Param::query("keys"), Param::checked(&EACH_DIRECTION).optional()],
        summary: r#"The items sorted by several keys, each with its own direction: "asc" or "desc". Stable."#,
        example: r#"[{a: 1, b: 1}, {a: 1, b: 2}] | sortBy([.a, .b], ["asc", "desc"]) | map(.b) => [2,1]"#,
        body: Body::Piped(sort_by),
    },
    Function {
        name: "startsWith",
        params: &[Param::query("text"), Param::query("start")],
        summary: "Whether a string starts with another one.",
        example: r#"startsWith("P-101A", "P-") => true"#,
        body: Body::Strict(starts_with),
    },
    Function {
        name: "sumBy",
        params: &[Param::query("value")],
        summary: "The sum of a value that is computed for each item; 0 for an empty array. A value that is no number, such as null, is an error.",
        example: "[{a: 1}, {a: 4}] | sumBy(.a) => 5",
        body: Body::Piped(|cx, input, args| total(cx, input, args).map(Value::number)),
    },
    Function {
        name: "toNumber",
        params: &[Param::query("value")],
        summary: "A number itself, a decimal string converted to a number, null for anything else.",
        example: r#"[toNumber("2.50"), toNumber("0x10")] => [2.5,null]"#,
        body: Body::Strict(to_number),
    },
    Function {
        name: "top",
        params: &[Param::checked_constant(&COUNT), Param::query("key"), Param::checked_constant(&DIRECTION).optional()],
        summary: r#"The `count` items with the greatest keys, or with "asc" the smallest; items without a key are ignored."#,
        example: r#"[{a: 1}, {a: 3}, {a: 2}] | top(2, .a) => [{"a":3},{"a":2}]"#,
        body: Body::Piped(top),
    },
    Function {
        name: "trim",
        params: &[Param::query("text")],
        summary: "The string without leading and trailing white space.",
        example: r#"trim(" P-101 ") => "P-101""#,
        body: Body::Strict(trim),
    },
    Function {
        name: "tryOr",
        params: &[Param::query("value"), Param::query("default").optional()],
        summary: "A value, or a default if its evaluation fails; exceeded limits are not caught.",
        example: "tryOr(null | size(), 0) => 0",
        body: Body::Lazy(try_or),
    },
    Function {
        name: "typeOf",
        params: &[Param::query("value")],
        summary: "The type of a value: null, boolean, number, string, array or object.",
        example: r#"typeOf([1]) => "array""#,
        body: Body::Strict(|_, args| Ok(Value::String(argument(args, 0).type_name()))),
    },
    Function {
        name: "upper",
        params: &[Param::query("text")],
        summary: "The string in upper case.",
        example: r#"upper("dn80") => "DN80""#,
        body: Body::Strict(upper),
    },
];

/// Evaluates a query for one item of an array and checks the result. Errors name the item.
pub(super) fn eval_item<'a, T>(
    cx: &mut EvalContext<'a>,
    query: Option<&'a Plan>,
    (array, at): (Array<'a>, usize),
    check: impl FnOnce(Value<'a>) -> Result<T>,
) -> Result<T> {
    cx.charge(1)?;
    let item = array.get(at).unwrap_or(Value::Undefined);
    let value = match query {
        Some(query) => at_item(cx.eval(query, item), array, at)?,
        None => Value::Undefined,
    };
    check(value).map_err(|error| {
        let error = error.with_label(format!("got {} from item {at}", describe(value)));
        match item.container() {
            Some((arena, id)) => error.with_data_path(arena.path_of(id)),
            None => error,
        }
    })
}

/// Like [`eval_item`], for keys. Long strings are charged.
pub(super) fn eval_key<'a, T>(
    cx: &mut EvalContext<'a>,
    query: Option<&'a Plan>,
    position: (Array<'a>, usize),
    check: impl FnOnce(Value<'a>) -> Result<T>,
) -> Result<T> {
    let mut length = 0;
    let key = eval_item(cx, query, position, |value| {
        length = value.as_str().map_or(0, str::len);
        check(value)
    })?;
    cx.charge_bytes(length)?;
    Ok(key)
}

pub(super) fn expect_number(value: Value<'_>) -> Result<f64> {
    value.as_f64().ok_or_else(|| {
        let help = match value {
            Value::Null | Value::Undefined => "the value is null: `coalesce(..., 0)` gives it a default",
            Value::String(text) => number_help(text),
            _ => "the value cannot be converted to a number",
        };
        let error = Error::new(Code::NumberExpected, "Number expected");
        error.with_label(format!("got {}", describe(value))).with_help(help)
    })
}

/// Returns the help for a text in place of a number: what converts it.
fn number_help(text: &str) -> &'static str {
    /// Longer texts are no numbers.
    const MAX_NUMBER: usize = 64;
    let text = text.get(..MAX_NUMBER).unwrap_or(text);
    match () {
        () if decimal(text).is_some() => "`toNumber(...)` converts a decimal string",
        () if decimal(text.trim()).is_some() => "`toNumber(trim(...))` converts it, without the white space around it",
        () if text.matches(',').count() == 1 && decimal(&text.replace(',', ".")).is_some() => {
            "a decimal comma is replaced first: `toNumber(replace(..., \",\", \".\"))`"
        }
        () if text.is_empty() => "an empty text is no number: leave it out, as in `filter(.a != \"\")`",
        () => "the text is no decimal number: `toNumber(...)` makes it null",
    }
}

pub(super) fn expect_object<'a>(value: Value<'a>) -> Result<Object<'a>> {
    value.as_object().ok_or_else(|| {
        let found = value.type_name();
        let help = match value {
            Value::Null | Value::Undefined => "the value is null: `coalesce(..., {})` gives it a default",
            Value::Array(_) => "to process every object of an array, use `map(...)`",
            _ => "only objects have keys",
        };
        let error = Error::new(Code::ObjectExpected, format!("Object expected, not {found}"));
        error.with_label(format!("got {}", describe(value))).with_help(help)
    })
}

/// Returns the string arguments of a function; `None` if one of them is null.
pub(super) fn string_args<'a, const N: usize>(
    cx: &mut EvalContext<'a>,
    args: &[Value<'a>],
) -> Result<Option<[&'a str; N]>> {
    let mut strings = [""; N];
    for (at, text) in strings.iter_mut().enumerate() {
        let value = argument(args, at);
        if value.is_null() {
            return Ok(None);
        }
        *text = expect_text(value)?;
        cx.charge_bytes(text.len())?;
    }
    Ok(Some(strings))
}

fn starts_with<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    Ok(string_args(cx, args)?.map_or(Value::Null, |[text, start]| Value::Bool(text.starts_with(start))))
}

fn ends_with<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    Ok(string_args(cx, args)?.map_or(Value::Null, |[text, end]| Value::Bool(text.ends_with(end))))
}

fn lower<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    map_string(cx, args, str::to_lowercase)
}

fn upper<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    map_string(cx, args, str::to_uppercase)
}

fn map_string<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>], change: fn(&str) -> String) -> Result<Value<'a>> {
    let Some([text]) = string_args(cx, args)? else { return Ok(Value::Null) };
    // Some letters become longer: the string is converted outside of the scratch memory, with capacity for that.
    let bytes = 2 * text.len();
    cx.charge_bytes(bytes)?;
    cx.reserve(bytes)?;
    let converted = cx.build_text(|out| out.write_str(&change(text)))?;
    cx.release(bytes);
    Ok(Value::String(converted))
}

fn trim<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    Ok(string_args(cx, args)?.map_or(Value::Null, |[text]| Value::String(text.trim_matches(convert::is_space))))
}

fn replace<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let Some([text, find, with]) = string_args(cx, args)? else { return Ok(Value::Null) };
    cx.build_text(|out| write_replaced(out, text, find, with)).map(Value::String)
}

/// Writes piece by piece, so that the limit of strings applies during writing.
fn write_replaced(out: &mut LimitedText, text: &str, find: &str, with: &str) -> fmt::Result {
    for (at, part) in text.split(find).enumerate() {
        if at > 0 {
            out.write_str(with)?;
        }
        out.write_str(part)?;
    }
    Ok(())
}

/// Side at which a string is padded.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(super) enum Side {
    Start,
    End,
}

pub(super) fn pad<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>], side: Side) -> Result<Value<'a>> {
    let fill = match argument(args, 2) {
        Value::Undefined => Value::String(" "),
        fill => fill,
    };
    let Some([text, fill]) = string_args(cx, &[argument(args, 0), fill])? else { return Ok(Value::Null) };
    let length = expect_number(argument(args, 1))? as usize;
    let missing = length.saturating_sub(convert::utf16_len(text));
    cx.charge_bytes(missing)?;
    let padded = cx.build_text(|out| match side {
        Side::Start => write_fill(out, fill, missing).and_then(|()| out.write_str(text)),
        Side::End => out.write_str(text).and_then(|()| write_fill(out, fill, missing)),
    });
    padded.map(Value::String)
}

/// Repeats a string up to a number of UTF-16 units; half of a character is left out.
fn write_fill(out: &mut LimitedText, fill: &str, units: usize) -> fmt::Result {
    let mut remaining = units;
    for c in fill.chars().cycle() {
        if c.len_utf16() > remaining {
            break;
        }
        remaining -= c.len_utf16();
        out.write_char(c)?;
    }
    Ok(())
}

fn contains<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let needle = argument(args, 1);
    match (argument(args, 0), needle) {
        (Value::String(text), Value::String(needle)) => {
            cx.charge_bytes(text.len() + needle.len())?;
            Ok(Value::Bool(text.contains(needle)))
        }
        (Value::Array(array), _) => has_item(cx, array, needle).map(Value::Bool),
        _ => Ok(Value::Bool(false)),
    }
}

fn has_item<'a>(cx: &mut EvalContext<'a>, array: Array<'a>, target: Value<'a>) -> Result<bool> {
    for item in array.iter() {
        cx.charge(1)?;
        if cx.is_equal(item, target)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Converts a number or a decimal JSON number string: no spaces, no `0x10`, no empty string.
fn to_number<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let number = match argument(args, 0) {
        Value::Number(number) if number.value().is_finite() => return Ok(Value::Number(number)),
        Value::String(text) => {
            cx.charge_bytes(text.len())?;
            decimal(text)
        }
        _ => None,
    };
    Ok(number.map_or(Value::Null, Value::number))
}

/// Rounds a number; null stays null.
fn whole_number<'a>(args: &[Value<'a>], round: fn(f64) -> f64) -> Result<Value<'a>> {
    let value = argument(args, 0);
    if value.is_null() {
        return Ok(Value::Null);
    }
    // Adding 0 turns the -0 of -0.2 into 0, as `round` does.
    Ok(Value::number(round(expect_number(value)?) + 0.0))
}

fn decimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    // Rust also parses `inf`, `nan`, a second sign, and numbers without digits on one side of the point.
    let is_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let is_decimal = is_digit(digits) && digits.split_once('.').is_none_or(|(_, fraction)| is_digit(fraction));
    text.parse::<f64>().ok().filter(|number| is_decimal && number.is_finite())
}

fn coalesce<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    for arg in args {
        let value = cx.eval(arg, input)?;
        if !value.is_null() {
            return Ok(value);
        }
    }
    Ok(Value::Null)
}

fn try_or<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let Some(query) = args.first() else { return Ok(Value::Null) };
    match cx.try_eval(query, input) {
        Err(error) if error.code().stage() != Stage::Limit => optional(cx, args, 1, input),
        result => result,
    }
}

/// Evaluates a condition on items until one decides.
fn any_or_all<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan], decisive: bool) -> Result<Value<'a>> {
    let array = list(input)?;
    if try_vectorized_arg(cx, array, args, |cx, view, condition| cx.no_item_decides(view, condition, decisive))
        .is_some()
    {
        return Ok(Value::Bool(!decisive));
    }
    let mut decided = !decisive;
    for at in 0..array.len() {
        if eval_item(cx, args.first(), (array, at), |value| Ok(value.is_truthy()))? == decisive {
            decided = decisive;
            if at + 1 < array.len() {
                cx.mark_items_skipped();
            }
            break;
        }
    }
    cx.set_strategy(Strategy::Scan);
    Ok(Value::Bool(decided))
}

fn count<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let Some(condition) = args.first() else { return Ok(Value::number(array.len() as f64)) };
    if let Some(rows) = try_vectorized_arg(cx, array, args, EvalContext::matching_rows) {
        return Ok(Value::number(rows.count() as f64));
    }
    let mut count = 0u32;
    for at in 0..array.len() {
        count += u32::from(eval_item(cx, Some(condition), (array, at), |value| Ok(value.is_truthy()))?);
    }
    cx.set_strategy(Strategy::Scan);
    Ok(Value::number(f64::from(count)))
}

fn last<'a>(_: &mut EvalContext<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    Ok(array.len().checked_sub(1).and_then(|at| array.get(at)).unwrap_or(Value::Null))
}

fn skip<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    // The cast maps NaN and negative numbers to 0.
    let count = expect_number(optional(cx, args, 0, input)?)? as usize;
    slice_items(cx, array, count, array.len())
}

fn slice<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let start = expect_number(optional(cx, args, 0, input)?)?;
    let end = match optional(cx, args, 1, input)? {
        Value::Undefined => array.len() as f64,
        end => expect_number(end)?,
    };
    slice_items(cx, array, position(start, array.len()), position(end, array.len()))
}

/// Resolves a position in an array; a negative one counts from the end.
pub(super) fn position(number: f64, len: usize) -> usize {
    let number = number.trunc();
    let number = if number < 0.0 { len as f64 + number } else { number };
    (number as usize).min(len)
}

/// Selects by position, so that the items of a stored array are written as one copy.
fn slice_items<'a>(cx: &mut EvalContext<'a>, array: Array<'a>, start: usize, end: usize) -> Result<Value<'a>> {
    let len = end.saturating_sub(start);
    cx.charge(len as u64)?;
    cx.reserve(len * size_of::<u32>())?;
    let positions: Vec<u32> = (start..end).map(|at| at as u32).collect();
    let result = select(cx, array, &positions);
    cx.release(len * size_of::<u32>());
    result
}

fn flat_map<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let base = cx.mark();
    for at in 0..array.len() {
        let inner = eval_item(cx, args.first(), (array, at), list)?;
        collect(cx, inner.iter())?;
    }
    cx.set_strategy(Strategy::Scan);
    cx.collect_list(base)
}

fn entries<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let object = expect_object(input)?;
    let keys = cx.intern_keys(&["key", "value"])?;
    let base = cx.mark();
    for (name, value) in object.iter() {
        push_pair(cx, keys, Value::String(name), value)?;
    }
    cx.collect_list(base)
}

/// Collects an object with two values.
pub(super) fn push_pair<'a>(
    cx: &mut EvalContext<'a>,
    keys: &'a Keys<'a>,
    first: Value<'a>,
    second: Value<'a>,
) -> Result<()> {
    cx.charge(1)?;
    let base = cx.mark();
    cx.push(first)?;
    cx.push(second)?;
    let pair = cx.collect_object(keys, base)?;
    cx.push(pair)
}

fn from_entries<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let mut entries = Entries::new();
    for (at, entry) in array.iter().enumerate() {
        cx.charge(1)?;
        let key = entry.as_object().and_then(|object| object.get("key")).and_then(Value::as_str);
        let Some(key) = key else { return Err(entry_expected(entry, at)) };
        let value = entry.as_object().and_then(|object| object.get("value")).unwrap_or(Value::Null);
        *entries.entry(cx, key, || value)? = value;
    }
    entries.into_object(cx)
}

fn entry_expected(entry: Value<'_>, at: usize) -> Error {
    let error = Error::new(Code::EntryExpected, format!("Entry `{{key, value}}` expected, not {}", entry.type_name()));
    error
        .with_label(format!("got {} for item {at}", describe(entry)))
        .with_help("an entry is `{key: ..., value: ...}`; the key must be a string")
}

fn merge<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let mut entries = Entries::new();
    for arg in args {
        let object = expect_object(cx.eval(arg, input)?)?;
        for (name, value) in object.iter() {
            cx.charge(1)?;
            *entries.entry(cx, name, || value)? = value;
        }
    }
    entries.into_object(cx)
}

fn pick_by<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let object = expect_object(input)?;
    let mut names = Vec::new();
    let base = cx.mark();
    for (name, value) in object.iter() {
        cx.charge(1)?;
        if optional(cx, args, 0, value)?.is_truthy() {
            cx.reserve(2 * size_of::<&str>())?;
            names.push(name);
            cx.push(value)?;
        }
    }
    let keys = cx.intern_keys(&names)?;
    cx.release(2 * size_of::<&str>() * names.len());
    cx.collect_object(keys, base)
}

fn count_by<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let counts = match try_vectorized_arg(cx, array, args, EvalContext::count_vectorized) {
        Some(counts) => counts,
        None => count_keys(cx, array, args)?,
    };
    let (names, counts) = counts.into_js_order(cx);
    let base = cx.mark();
    collect(cx, counts.into_iter().map(|count| Value::number(f64::from(count))))?;
    let keys = cx.intern_keys(&names)?;
    cx.collect_object(keys, base)
}

fn count_keys<'a>(cx: &mut EvalContext<'a>, array: Array<'a>, args: &'a [Plan]) -> Result<Entries<'a, u32>> {
    let (mut counts, mut rounded) = (Entries::new(), None);
    for at in 0..array.len() {
        cx.charge(1)?;
        let key = key_of(cx, array, args, at, &mut rounded)?;
        *counts.entry(cx, key, || 0)? += 1;
    }
    cx.set_strategy(Strategy::Scan);
    cx.warn_rounded_key(rounded)?;
    Ok(counts)
}

fn total<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<f64> {
    let array = list(input)?;
    if let Some(total) = try_vectorized_arg(cx, array, args, EvalContext::sum_vectorized) {
        return Ok(total);
    }
    let mut total = 0.0;
    for at in 0..array.len() {
        total += eval_item(cx, args.first(), (array, at), expect_number)?;
    }
    cx.set_strategy(Strategy::Scan);
    Ok(total)
}

fn avg_by<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let len = list(input)?.len();
    let total = total(cx, input, args)?;
    Ok(if len == 0 { Value::Null } else { Value::number(total / len as f64) })
}

fn extreme<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan], ordering: Ordering) -> Result<Value<'a>> {
    let array = list(input)?;
    if let Some(best) = try_vectorized_arg(cx, array, args, |cx, view, key| cx.extreme_vectorized(view, key, ordering))
    {
        return Ok(array.get(best).unwrap_or(Value::Null));
    }
    let mut best: Option<(Value<'a>, usize)> = None;
    for at in 0..array.len() {
        let key = eval_key(cx, args.first(), (array, at), Ok)?;
        if !key.is_null() && best.is_none_or(|(best, _)| compare::sort_order(key, best) == ordering) {
            best = Some((key, at));
        }
    }
    cx.set_strategy(Strategy::Scan);
    Ok(best.and_then(|(_, at)| array.get(at)).unwrap_or(Value::Null))
}

fn top<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let count = expect_number(optional(cx, args, 0, input)?)? as usize;
    let descends = DIRECTION.as_keyword(optional(cx, args, 2, input)?)? != Some(ASCENDING);
    let base = cx.mark();
    let mut positions = Vec::new();
    for at in 0..array.len() {
        let key = eval_key(cx, args.get(1), (array, at), Ok)?;
        if !key.is_null() {
            cx.push(key)?;
            positions.push(at as u32);
        }
    }
    let sorted = sorted_positions(cx, base, descends, count)?;
    cx.set_strategy(Strategy::Top);
    let best: Vec<u32> = sorted.iter().map(|at| positions[*at as usize]).collect();
    select(cx, array, &best)
}

/// The keys of an item, and the item.
type Row<'a> = (Array<'a>, Value<'a>);

fn sort_by<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let directions = directions(cx, args, input)?;
    cx.reserve(array.len() * size_of::<Row<'_>>())?;
    let mut rows: Vec<Row<'a>> = Vec::with_capacity(array.len());
    let mut max_key_cost = 0;
    for (at, item) in array.iter().enumerate() {
        let keys = eval_item(cx, args.first(), (array, at), sort_keys)?;
        cx.charge(keys.len() as u64)?;
        max_key_cost =
            keys.iter().map(|key| 1 + key.as_str().map_or(0, str::len) as u64 / 64).sum::<u64>().max(max_key_cost);
        rows.push((keys, item));
    }
    let sorted = sorted(cx, rows, &directions, max_key_cost)?;
    cx.set_strategy(Strategy::Scan);
    cx.release(array.len() * size_of::<Row<'_>>());
    Ok(sorted)
}

/// Returns the keys of an item.
fn sort_keys<'a>(value: Value<'a>) -> Result<Array<'a>> {
    list(value).map_err(|error| error.with_help("the keys are a list, as in `sortBy([.a, .b])`; one key: `sort(.a)`"))
}

fn sorted<'a>(
    cx: &mut EvalContext<'a>,
    mut rows: Vec<Row<'a>>,
    directions: &[bool],
    max_key_cost: u64,
) -> Result<Value<'a>> {
    // Charged in advance: the maximum number of comparisons of a binary merge.
    let comparisons = rows.len() as u64 * u64::from(usize::BITS - rows.len().leading_zeros());
    cx.charge(comparisons.saturating_mul(max_key_cost) / 4)?;
    let order = |(a, _): &Row<'a>, (b, _): &Row<'a>| keys_order(*a, *b, directions);
    // One unit of fuel covers 64 bytes.
    let max_len = usize::try_from(max_key_cost).unwrap_or(usize::MAX).saturating_mul(64);
    if sorting::needs_chunks(rows.len(), max_len) {
        cx.reserve(rows.len() * size_of::<Row<'_>>())?;
        ChunkedSort::new(cx.limits(), max_len, order).sort(&mut rows)?;
        cx.release(rows.len() * size_of::<Row<'_>>());
    } else {
        rows.sort_by(order);
    }
    let base = cx.mark();
    collect(cx, rows.iter().map(|(_, item)| *item))?;
    cx.collect_list(base)
}

/// Returns, by key, whether the order is descending.
fn directions<'a>(cx: &mut EvalContext<'a>, args: &'a [Plan], input: Value<'a>) -> Result<Vec<bool>> {
    let value = optional(cx, args, 1, input)?;
    let mut directions = Vec::new();
    if value.is_null() {
        return Ok(directions);
    }
    for direction in list(value)?.iter() {
        cx.charge(1)?;
        directions.push(EACH_DIRECTION.as_keyword(direction)?.is_some_and(|word| word != ASCENDING));
    }
    Ok(directions)
}

/// Compares by the first keys that differ.
fn keys_order(a: Array<'_>, b: Array<'_>, directions: &[bool]) -> Ordering {
    for at in 0..a.len().max(b.len()) {
        let (a, b) = (a.get(at).unwrap_or(Value::Undefined), b.get(at).unwrap_or(Value::Undefined));
        let order = compare::sort_order(a, b);
        if order != Ordering::Equal {
            return if directions.get(at) == Some(&true) { order.reverse() } else { order };
        }
    }
    Ordering::Equal
}

fn attribute<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let name = expect_text(optional(cx, args, 0, input)?)?;
    let set = optional(cx, args, 1, input)?;
    if input.is_null() {
        return Ok(Value::Null);
    }
    let attributes = expect_object(input)?.get("attributes").unwrap_or(Value::Null);
    named_attribute(cx, attributes, name, set)
}

fn named_attribute<'a>(
    cx: &mut EvalContext<'a>,
    attributes: Value<'a>,
    name: &str,
    set: Value<'a>,
) -> Result<Value<'a>> {
    if attributes.is_null() {
        return Ok(Value::Null);
    }
    for entry in list(attributes)?.iter().filter_map(Value::as_object) {
        cx.charge(1)?;
        let is_named = entry.get("name").and_then(Value::as_str) == Some(name);
        if is_named && (set.is_null() || cx.is_equal(entry.get("set").unwrap_or(Value::Null), set)?) {
            return Ok(entry.get("value").unwrap_or(Value::Null));
        }
    }
    Ok(Value::Null)
}

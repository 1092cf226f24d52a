//! Helpers beyond JSON Query 5.1.1: strict about types, where the functions of the reference convert.

use std::cmp::Ordering;
use std::fmt::{self, Write};

use hashbrown::HashMap;

use super::array::{at_item, at_once, collect, key_of, list, optional, select, sorted_places};
use super::number::argument;
use super::sorting::{self, Sorting};
use super::string::expect_text;
use crate::error::{Code, Error, Result, Stage};
use crate::eval::Cx;
use crate::eval::build::{Entries, LimitedText};
use crate::eval::cost::Way;
use crate::eval::function::{Body, Function, Param};
use crate::eval::plan::{Path, Plan};
use crate::eval::setting::Setting;
use crate::value::write::told;
use crate::value::{Array, Keys, Object, Value, compare, convert};

const COUNT: Setting = Setting::amount("count");
const DIRECTION: Setting = Setting::word("direction", DIRECTIONS);
const EACH_DIRECTION: Setting = Setting::words("directions", DIRECTIONS);
const END: Setting = Setting::amount("end");
const NAME: Setting = Setting::text("name");
const START: Setting = Setting::amount("start");

const DIRECTIONS: &[&str] = &["asc", "desc"];
/// The place of the direction that begins with the smallest.
const ASCENDING: usize = 0;

const JOIN: &[Param] = &[Param::query("right"), Param::query("leftKey"), Param::query("rightKey")];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "all",
        params: &[Param::query("condition")],
        summary: "Whether a condition holds for every item of a list; it does for an empty one.",
        example: "[1, 2] | all(get() > 0) => true",
        body: Body::Piped(|cx, input, args| decide(cx, input, args, false)),
    },
    Function {
        name: "any",
        params: &[Param::query("condition")],
        summary: "Whether a condition holds for some item of a list.",
        example: "[1, 2] | any(get() > 1) => true",
        body: Body::Piped(|cx, input, args| decide(cx, input, args, true)),
    },
    Function {
        name: "attr",
        params: &[Param::setting(&NAME), Param::query("set").optional()],
        summary: "The value of an entry in the `attributes` of an object, null where there is none.",
        example: r#"{attributes: [{name: "DN", value: 80}]} | attr("DN") => 80"#,
        body: Body::Piped(attribute),
    },
    Function {
        name: "avgBy",
        params: &[Param::query("value")],
        summary: "The mean of a number of each item, null for an empty list.",
        example: "[{a: 1}, {a: 4}] | avgBy(.a) => 2.5",
        body: Body::Piped(avg_by),
    },
    Function {
        name: "coalesce",
        params: &[Param::query("value").many()],
        summary: "The first value that is not null; the later ones are not looked at.",
        example: "coalesce(null, 2, 3) => 2",
        body: Body::Lazy(coalesce),
    },
    Function {
        name: "contains",
        params: &[Param::query("whole"), Param::query("part")],
        summary: "Whether a text has a part, or a list has an item; false for all else.",
        example: r#"contains("P-101A", "101") => true"#,
        body: Body::Strict(contains),
    },
    Function {
        name: "count",
        params: &[Param::query("condition").optional()],
        summary: "The number of items for which a condition holds; without one, of all items.",
        example: "[1, 2, 3] | count(get() > 1) => 2",
        body: Body::Piped(count),
    },
    Function {
        name: "countBy",
        params: &[Param::query("key")],
        summary: "An object of numbers: how many items there are under each value of a key.",
        example: r#"[{a: "x"}, {a: "y"}, {a: "x"}] | countBy(.a) => {"x":2,"y":1}"#,
        body: Body::Piped(count_by),
    },
    Function {
        name: "endsWith",
        params: &[Param::query("text"), Param::query("end")],
        summary: "Whether a text ends with another one.",
        example: r#"endsWith("P-101A", "A") => true"#,
        body: Body::Strict(ends_with),
    },
    Function {
        name: "entries",
        params: &[],
        summary: "The keys and values of an object, as a list of `{key, value}`.",
        example: r#"{a: 1} | entries() => [{"key":"a","value":1}]"#,
        body: Body::Piped(entries),
    },
    Function {
        name: "first",
        params: &[],
        summary: "The first item of a list, null for an empty one.",
        example: "[7, 8] | first() => 7",
        body: Body::Piped(|_, input, _| Ok(list(input)?.get(0).unwrap_or(Value::Null))),
    },
    Function {
        name: "flatMap",
        params: &[Param::query("list")],
        summary: "The items of the lists that each item is replaced by, as one list.",
        example: "[{a: [1, 2]}, {a: [3]}] | flatMap(.a) => [1,2,3]",
        body: Body::Piped(flat_map),
    },
    Function {
        name: "fromEntries",
        params: &[],
        summary: "The object of a list of `{key, value}`; of equal keys the last one counts.",
        example: r#"[{key: "a", value: 1}] | fromEntries() => {"a":1}"#,
        body: Body::Piped(from_entries),
    },
    Function {
        name: "innerJoin",
        params: JOIN,
        summary: "The pairs `{left, right}` of items with equal keys: of this list and of another one.",
        example: r#"[{a: 1}] | innerJoin([{b: 1, c: 2}], .a, .b) => [{"left":{"a":1},"right":{"b":1,"c":2}}]"#,
        body: Body::Piped(|cx, input, args| join(cx, input, args, false)),
    },
    Function {
        name: "last",
        params: &[],
        summary: "The last item of a list, null for an empty one.",
        example: "[7, 8] | last() => 8",
        body: Body::Piped(last),
    },
    Function {
        name: "leftJoin",
        params: JOIN,
        summary: "As `innerJoin`, with every item of this list: right is null where no key is equal.",
        example: r#"[{a: 1}] | leftJoin([], .a, .b) => [{"left":{"a":1},"right":null}]"#,
        body: Body::Piped(|cx, input, args| join(cx, input, args, true)),
    },
    Function {
        name: "lookup",
        params: &[Param::query("map"), Param::query("key")],
        summary: "The value of a key that is computed, null where there is none.",
        example: r#"lookup({a: 1, b: 2}, "b") => 2"#,
        body: Body::Strict(lookup),
    },
    Function {
        name: "lower",
        params: &[Param::query("text")],
        summary: "The text in lower case.",
        example: r#"lower("DN80") => "dn80""#,
        body: Body::Strict(lower),
    },
    Function {
        name: "maxBy",
        params: &[Param::query("key")],
        summary: "The item with the greatest key, the first one of equals; items without a key do not count.",
        example: r#"[{a: 1}, {a: 3}] | maxBy(.a) => {"a":3}"#,
        body: Body::Piped(|cx, input, args| extreme(cx, input, args, Ordering::Greater)),
    },
    Function {
        name: "merge",
        params: &[Param::query("object").many()],
        summary: "One object with the properties of all; of equal keys the last one counts.",
        example: r#"merge({a: 1, b: 1}, {b: 2}) => {"a":1,"b":2}"#,
        body: Body::Piped(merge),
    },
    Function {
        name: "minBy",
        params: &[Param::query("key")],
        summary: "The item with the smallest key, the first one of equals; items without a key do not count.",
        example: r#"[{a: 3}, {a: 1}] | minBy(.a) => {"a":1}"#,
        body: Body::Piped(|cx, input, args| extreme(cx, input, args, Ordering::Less)),
    },
    Function {
        name: "omit",
        params: &[Param::path("path").many()],
        summary: "An object, or every object of a list, without the named properties.",
        example: r#"{a: 1, b: {c: 2, d: 3}} | omit(.a, .b.c) => {"b":{"d":3}}"#,
        body: Body::Piped(omit),
    },
    Function {
        name: "padStart",
        params: &[Param::query("text"), Param::query("length"), Param::query("fill").optional()],
        summary: "The text with so much before it that it has a length; spaces unless a fill is given.",
        example: r#"padStart("7", 3, "0") => "007""#,
        body: Body::Strict(pad_start),
    },
    Function {
        name: "pickBy",
        params: &[Param::query("condition")],
        summary: "The object of the properties for whose values a condition holds.",
        example: r#"{a: 1, b: 5} | pickBy(get() > 2) => {"b":5}"#,
        body: Body::Piped(pick_by),
    },
    Function {
        name: "replace",
        params: &[Param::query("text"), Param::query("find"), Param::query("with")],
        summary: "The text with every occurrence of a text replaced by another one.",
        example: r#"replace("a-b-c", "-", "/") => "a/b/c""#,
        body: Body::Strict(replace),
    },
    Function {
        name: "skip",
        params: &[Param::fixed(&COUNT)],
        summary: "The items after the first ones.",
        example: "[1, 2, 3] | skip(1) => [2,3]",
        body: Body::Piped(skip),
    },
    Function {
        name: "slice",
        params: &[Param::fixed(&START), Param::fixed(&END).optional()],
        summary: "The items from start to before end; negative places count from the back.",
        example: "[1, 2, 3, 4] | slice(1, -1) => [2,3]",
        body: Body::Piped(slice),
    },
    Function {
        name: "sortBy",
        params: &[Param::query("keys"), Param::setting(&EACH_DIRECTION).optional()],
        summary: r#"The items by a list of keys, each with a direction of its own: "asc" or "desc". Stable."#,
        example: r#"[{a: 1, b: 1}, {a: 1, b: 2}] | sortBy([.a, .b], ["asc", "desc"]) | map(.b) => [2,1]"#,
        body: Body::Piped(sort_by),
    },
    Function {
        name: "startsWith",
        params: &[Param::query("text"), Param::query("start")],
        summary: "Whether a text starts with another one.",
        example: r#"startsWith("P-101A", "P-") => true"#,
        body: Body::Strict(starts_with),
    },
    Function {
        name: "sumBy",
        params: &[Param::query("value")],
        summary: "The sum of a number of each item, 0 for an empty list.",
        example: "[{a: 1}, {a: 4}] | sumBy(.a) => 5",
        body: Body::Piped(|cx, input, args| total(cx, input, args).map(Value::number)),
    },
    Function {
        name: "toNumber",
        params: &[Param::query("value")],
        summary: "The number that a value is or that its text is in decimal digits; null for all else.",
        example: r#"[toNumber("2.50"), toNumber("0x10")] => [2.5,null]"#,
        body: Body::Strict(to_number),
    },
    Function {
        name: "top",
        params: &[Param::fixed(&COUNT), Param::query("key"), Param::fixed(&DIRECTION).optional()],
        summary: r#"The items with the greatest keys, "asc" for the smallest; items without a key do not count."#,
        example: r#"[{a: 1}, {a: 3}, {a: 2}] | top(2, .a) => [{"a":3},{"a":2}]"#,
        body: Body::Piped(top),
    },
    Function {
        name: "trim",
        params: &[Param::query("text")],
        summary: "The text without white space around it.",
        example: r#"trim(" P-101 ") => "P-101""#,
        body: Body::Strict(trim),
    },
    Function {
        name: "tryOr",
        params: &[Param::query("value"), Param::query("default").optional()],
        summary: "A value, or another one where it fails; limits are not caught.",
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
        summary: "The text in upper case.",
        example: r#"upper("dn80") => "DN80""#,
        body: Body::Strict(upper),
    },
];

/// What a query gives for one item of a list, once it is checked. An error says which item it was.
fn of_item<'a, T>(
    cx: &mut Cx<'a>,
    query: Option<&'a Plan>,
    (array, at): (Array<'a>, usize),
    check: impl FnOnce(Value<'a>) -> Result<T>,
) -> Result<T> {
    cx.spend(1)?;
    let item = array.get(at).unwrap_or(Value::Undefined);
    let value = match query {
        Some(query) => at_item(cx.eval(query, item), array, at)?,
        None => Value::Undefined,
    };
    check(value).map_err(|error| {
        let error = error.with_label(format!("got {} from item {at}", told(value)));
        match item.container() {
            Some((arena, id)) => error.with_data_path(arena.path_of(id)),
            None => error,
        }
    })
}

/// The same for what is compared with other keys. Long texts are paid for.
fn key_of_item<'a, T>(
    cx: &mut Cx<'a>,
    query: Option<&'a Plan>,
    place: (Array<'a>, usize),
    check: impl FnOnce(Value<'a>) -> Result<T>,
) -> Result<T> {
    let mut length = 0;
    let key = of_item(cx, query, place, |value| {
        length = value.as_str().map_or(0, str::len);
        check(value)
    })?;
    cx.spend_bytes(length)?;
    Ok(key)
}

fn expect_number(value: Value<'_>) -> Result<f64> {
    value.as_f64().ok_or_else(|| {
        let help = match value {
            Value::Null | Value::Undefined => "the value is null: `coalesce(..., 0)` gives it a default",
            Value::String(_) => "`toNumber(...)` makes a number of a decimal text",
            _ => "no number can be made of it",
        };
        let error = Error::new(Code::NumberExpected, "Number expected");
        error.with_label(format!("got {}", told(value))).with_help(help)
    })
}

fn expect_object<'a>(value: Value<'a>) -> Result<Object<'a>> {
    value.as_object().ok_or_else(|| {
        let found = value.type_name();
        let help = match value {
            Value::Null | Value::Undefined => "the value is null: `coalesce(..., {})` gives it a default",
            Value::Array(_) => "for every object of a list, put it into `map(...)`",
            _ => "only objects have keys",
        };
        let error = Error::new(Code::ObjectExpected, format!("Object expected, not {found}"));
        error.with_label(format!("got {}", told(value))).with_help(help)
    })
}

/// The texts that a function is given; nothing where one of them is null.
fn texts<'a, const N: usize>(cx: &mut Cx<'a>, args: &[Value<'a>]) -> Result<Option<[&'a str; N]>> {
    let mut texts = [""; N];
    for (at, text) in texts.iter_mut().enumerate() {
        let value = argument(args, at);
        if value.is_null() {
            return Ok(None);
        }
        *text = expect_text(value)?;
        cx.spend_bytes(text.len())?;
    }
    Ok(Some(texts))
}

fn starts_with<'a>(cx: &mut Cx<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    Ok(texts(cx, args)?.map_or(Value::Null, |[text, start]| Value::Bool(text.starts_with(start))))
}

fn ends_with<'a>(cx: &mut Cx<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    Ok(texts(cx, args)?.map_or(Value::Null, |[text, end]| Value::Bool(text.ends_with(end))))
}

fn lower<'a>(cx: &mut Cx<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    changed(cx, args, str::to_lowercase)
}

fn upper<'a>(cx: &mut Cx<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    changed(cx, args, str::to_uppercase)
}

fn changed<'a>(cx: &mut Cx<'a>, args: &[Value<'a>], change: fn(&str) -> String) -> Result<Value<'a>> {
    let Some([text]) = texts(cx, args)? else { return Ok(Value::Null) };
    // A few letters become longer: the change is made outside of the scratch, with room for that.
    let bytes = 2 * text.len();
    cx.spend_bytes(bytes)?;
    cx.hold(bytes)?;
    let changed = cx.text(|out| out.write_str(&change(text)))?;
    cx.release(bytes);
    Ok(Value::String(changed))
}

fn trim<'a>(cx: &mut Cx<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    Ok(texts(cx, args)?.map_or(Value::Null, |[text]| Value::String(text.trim_matches(convert::is_space))))
}

fn replace<'a>(cx: &mut Cx<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let Some([text, find, with]) = texts(cx, args)? else { return Ok(Value::Null) };
    cx.text(|out| write_replaced(out, text, find, with)).map(Value::String)
}

/// Piece by piece, so that the limit of texts holds while it is written.
fn write_replaced(out: &mut LimitedText, text: &str, find: &str, with: &str) -> fmt::Result {
    for (at, part) in text.split(find).enumerate() {
        if at > 0 {
            out.write_str(with)?;
        }
        out.write_str(part)?;
    }
    Ok(())
}

fn pad_start<'a>(cx: &mut Cx<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let fill = match argument(args, 2) {
        Value::Undefined => Value::String(" "),
        fill => fill,
    };
    let Some([text, fill]) = texts(cx, &[argument(args, 0), fill])? else { return Ok(Value::Null) };
    let length = expect_number(argument(args, 1))? as usize;
    let missing = length.saturating_sub(convert::utf16_len(text));
    cx.spend_bytes(missing)?;
    cx.text(|out| write_fill(out, fill, missing).and_then(|()| out.write_str(text))).map(Value::String)
}

/// Repeats a text until it has so many UTF-16 units; half of a character is left out.
fn write_fill(out: &mut LimitedText, fill: &str, units: usize) -> fmt::Result {
    let mut left = units;
    for c in fill.chars().cycle() {
        if c.len_utf16() > left {
            break;
        }
        left -= c.len_utf16();
        out.write_char(c)?;
    }
    Ok(())
}

fn contains<'a>(cx: &mut Cx<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let part = argument(args, 1);
    match (argument(args, 0), part) {
        (Value::String(text), Value::String(part)) => {
            cx.spend_bytes(text.len() + part.len())?;
            Ok(Value::Bool(text.contains(part)))
        }
        (Value::Array(array), _) => has_item(cx, array, part).map(Value::Bool),
        _ => Ok(Value::Bool(false)),
    }
}

fn has_item<'a>(cx: &mut Cx<'a>, array: Array<'a>, wanted: Value<'a>) -> Result<bool> {
    for item in array.iter() {
        cx.spend(1)?;
        if cx.is_equal(item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Only a number, or the digits that JSON has for one: no spaces, no `0x10`, no empty text.
fn to_number<'a>(cx: &mut Cx<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let number = match argument(args, 0) {
        Value::Number(number) if number.value().is_finite() => return Ok(Value::Number(number)),
        Value::String(text) => {
            cx.spend_bytes(text.len())?;
            decimal(text)
        }
        _ => None,
    };
    Ok(number.map_or(Value::Null, Value::number))
}

fn decimal(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    // Rust also reads `inf`, `nan`, a second sign, and numbers with nothing on one side of the point.
    let is_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let is_plain = is_digit(digits) && digits.split_once('.').is_none_or(|(_, fraction)| is_digit(fraction));
    text.parse::<f64>().ok().filter(|number| is_plain && number.is_finite())
}

fn coalesce<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    for arg in args {
        let value = cx.eval(arg, input)?;
        if !value.is_null() {
            return Ok(value);
        }
    }
    Ok(Value::Null)
}

fn try_or<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let Some(query) = args.first() else { return Ok(Value::Null) };
    match cx.attempt(query, input) {
        Err(error) if error.code().stage() != Stage::Limit => optional(cx, args, 1, input),
        result => result,
    }
}

/// Looks at items until the condition of one decides.
fn decide<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan], decisive: bool) -> Result<Value<'a>> {
    let array = list(input)?;
    if at_once(cx, array, args, |cx, view, condition| cx.none_decides(view, condition, decisive)).is_some() {
        return Ok(Value::Bool(!decisive));
    }
    let mut decided = !decisive;
    for at in 0..array.len() {
        if of_item(cx, args.first(), (array, at), |value| Ok(value.is_truthy()))? == decisive {
            decided = decisive;
            if at + 1 < array.len() {
                cx.leave_early();
            }
            break;
        }
    }
    cx.took(Way::Scan);
    Ok(Value::Bool(decided))
}

fn count<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let Some(condition) = args.first() else { return Ok(Value::number(array.len() as f64)) };
    if let Some(rows) = at_once(cx, array, args, Cx::matching_rows) {
        return Ok(Value::number(rows.count() as f64));
    }
    let mut count = 0u32;
    for at in 0..array.len() {
        count += u32::from(of_item(cx, Some(condition), (array, at), |value| Ok(value.is_truthy()))?);
    }
    cx.took(Way::Scan);
    Ok(Value::number(f64::from(count)))
}

fn last<'a>(_: &mut Cx<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    Ok(array.len().checked_sub(1).and_then(|at| array.get(at)).unwrap_or(Value::Null))
}

fn skip<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    // The cast takes NaN and all below 0 for 0.
    let count = expect_number(optional(cx, args, 0, input)?)? as usize;
    part(cx, array, count, array.len())
}

fn slice<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let start = expect_number(optional(cx, args, 0, input)?)?;
    let end = match optional(cx, args, 1, input)? {
        Value::Undefined => array.len() as f64,
        end => expect_number(end)?,
    };
    part(cx, array, place(start, array.len()), place(end, array.len()))
}

/// A place in a list; a negative one counts from the back.
fn place(number: f64, len: usize) -> usize {
    let number = number.trunc();
    let number = if number < 0.0 { len as f64 + number } else { number };
    (number as usize).min(len)
}

/// By places, so that the items of a stored list are written as one copy.
fn part<'a>(cx: &mut Cx<'a>, array: Array<'a>, start: usize, end: usize) -> Result<Value<'a>> {
    let len = end.saturating_sub(start);
    cx.spend(len as u64)?;
    cx.hold(len * size_of::<u32>())?;
    let places: Vec<u32> = (start..end).map(|at| at as u32).collect();
    let result = select(cx, array, &places);
    cx.release(len * size_of::<u32>());
    result
}

fn flat_map<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let base = cx.mark();
    for at in 0..array.len() {
        let inner = of_item(cx, args.first(), (array, at), list)?;
        collect(cx, inner.iter())?;
    }
    cx.took(Way::Scan);
    cx.list(base)
}

fn entries<'a>(cx: &mut Cx<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let object = expect_object(input)?;
    let keys = cx.keys(&["key", "value"])?;
    let base = cx.mark();
    for (name, value) in object.iter() {
        push_pair(cx, keys, Value::String(name), value)?;
    }
    cx.list(base)
}

/// Collects an object of two values.
fn push_pair<'a>(cx: &mut Cx<'a>, keys: &'a Keys<'a>, first: Value<'a>, second: Value<'a>) -> Result<()> {
    cx.spend(1)?;
    let base = cx.mark();
    cx.push(first)?;
    cx.push(second)?;
    let pair = cx.record(keys, base)?;
    cx.push(pair)
}

fn from_entries<'a>(cx: &mut Cx<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let mut entries = Entries::new();
    for (at, entry) in array.iter().enumerate() {
        cx.spend(1)?;
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
        .with_label(format!("got {} for item {at}", told(entry)))
        .with_help("give `{key: ..., value: ...}`; the key is a text")
}

fn merge<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let mut entries = Entries::new();
    for arg in args {
        let object = expect_object(cx.eval(arg, input)?)?;
        for (name, value) in object.iter() {
            cx.spend(1)?;
            *entries.entry(cx, name, || value)? = value;
        }
    }
    entries.into_object(cx)
}

fn pick_by<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let object = expect_object(input)?;
    let mut names = Vec::new();
    let base = cx.mark();
    for (name, value) in object.iter() {
        cx.spend(1)?;
        if optional(cx, args, 0, value)?.is_truthy() {
            cx.hold(2 * size_of::<&str>())?;
            names.push(name);
            cx.push(value)?;
        }
    }
    let keys = cx.keys(&names)?;
    cx.release(2 * size_of::<&str>() * names.len());
    cx.record(keys, base)
}

fn omit<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let Some(array) = input.as_array() else { return omit_all(cx, expect_object(input)?, args) };
    let base = cx.mark();
    for at in 0..array.len() {
        let object = of_item(cx, None, (array, at), |_| expect_object(array.get(at).unwrap_or(Value::Null)))?;
        let rest = omit_all(cx, object, args)?;
        cx.push(rest)?;
    }
    cx.list(base)
}

fn omit_all<'a>(cx: &mut Cx<'a>, object: Object<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let paths = args.iter().filter_map(|arg| if let Plan::Get(path) = arg { Some(path) } else { None });
    let mut rest = object;
    for path in paths {
        rest = omit_path(cx, rest, path)?;
    }
    Ok(Value::Object(rest))
}

/// Builds the objects along a path anew, from the last one up. Iterative: a path may be long.
fn omit_path<'a>(cx: &mut Cx<'a>, object: Object<'a>, path: &'a Path) -> Result<Object<'a>> {
    let mut holders = vec![object];
    let mut inner = object;
    for key in path.keys.iter().rev().skip(1).rev() {
        cx.spend(1)?;
        let Some(Value::Object(next)) = inner.get(&key.name) else { return Ok(object) };
        holders.push(next);
        inner = next;
    }
    let mut changed = None;
    for (holder, key) in holders.into_iter().zip(path.keys.iter()).rev() {
        changed = Some(with_field(cx, holder, &key.name, changed)?);
    }
    Ok(changed.unwrap_or(object))
}

/// An object with another value for a key, or without the key.
fn with_field<'a>(cx: &mut Cx<'a>, object: Object<'a>, key: &str, value: Option<Object<'a>>) -> Result<Object<'a>> {
    let base = cx.mark();
    let mut names = Vec::with_capacity(object.len());
    for (name, old) in object.iter() {
        cx.spend(1)?;
        let new = if name == key { value.map(Value::Object) } else { Some(old) };
        if let Some(new) = new {
            names.push(name);
            cx.push(new)?;
        }
    }
    let keys = cx.keys(&names)?;
    expect_object(cx.record(keys, base)?)
}

fn count_by<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let counts = match at_once(cx, array, args, Cx::counts_together) {
        Some(counts) => counts,
        None => counts_of(cx, array, args)?,
    };
    let (names, counts) = counts.into_order(cx);
    let base = cx.mark();
    collect(cx, counts.into_iter().map(|count| Value::number(f64::from(count))))?;
    let keys = cx.keys(&names)?;
    cx.record(keys, base)
}

fn counts_of<'a>(cx: &mut Cx<'a>, array: Array<'a>, args: &'a [Plan]) -> Result<Entries<'a, u32>> {
    let mut counts = Entries::new();
    for at in 0..array.len() {
        cx.spend(1)?;
        let key = key_of(cx, array, args, at)?;
        *counts.entry(cx, key, || 0)? += 1;
    }
    cx.took(Way::Scan);
    Ok(counts)
}

fn total<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<f64> {
    let array = list(input)?;
    if let Some(total) = at_once(cx, array, args, Cx::sum_together) {
        return Ok(total);
    }
    let mut total = 0.0;
    for at in 0..array.len() {
        total += of_item(cx, args.first(), (array, at), expect_number)?;
    }
    cx.took(Way::Scan);
    Ok(total)
}

fn avg_by<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let len = list(input)?.len();
    let total = total(cx, input, args)?;
    Ok(if len == 0 { Value::Null } else { Value::number(total / len as f64) })
}

fn extreme<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan], wanted: Ordering) -> Result<Value<'a>> {
    let array = list(input)?;
    if let Some(best) = at_once(cx, array, args, |cx, view, key| cx.extreme_together(view, key, wanted)) {
        return Ok(array.get(best).unwrap_or(Value::Null));
    }
    let mut best: Option<(Value<'a>, usize)> = None;
    for at in 0..array.len() {
        let key = key_of_item(cx, args.first(), (array, at), Ok)?;
        if !key.is_null() && best.is_none_or(|(best, _)| compare::sort_order(key, best) == wanted) {
            best = Some((key, at));
        }
    }
    cx.took(Way::Scan);
    Ok(best.and_then(|(_, at)| array.get(at)).unwrap_or(Value::Null))
}

fn top<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let count = expect_number(optional(cx, args, 0, input)?)? as usize;
    let descends = DIRECTION.as_word(optional(cx, args, 2, input)?)? != Some(ASCENDING);
    let base = cx.mark();
    let mut places = Vec::new();
    for at in 0..array.len() {
        let key = key_of_item(cx, args.get(1), (array, at), Ok)?;
        if !key.is_null() {
            cx.push(key)?;
            places.push(at as u32);
        }
    }
    let sorted = sorted_places(cx, base, descends, count)?;
    cx.took(Way::Top);
    let best: Vec<u32> = sorted.iter().map(|at| places[*at as usize]).collect();
    select(cx, array, &best)
}

/// The keys of an item, and where it stands.
type Row<'a> = (Array<'a>, Value<'a>);

fn sort_by<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let directions = directions(cx, args, input)?;
    cx.hold(array.len() * size_of::<Row<'_>>())?;
    let mut rows: Vec<Row<'a>> = Vec::with_capacity(array.len());
    let mut widest = 0;
    for (at, item) in array.iter().enumerate() {
        let keys = of_item(cx, args.first(), (array, at), list)?;
        cx.spend(keys.len() as u64)?;
        widest = keys.iter().map(|key| 1 + key.as_str().map_or(0, str::len) as u64 / 64).sum::<u64>().max(widest);
        rows.push((keys, item));
    }
    let sorted = sorted(cx, rows, &directions, widest)?;
    cx.took(Way::Scan);
    cx.release(array.len() * size_of::<Row<'_>>());
    Ok(sorted)
}

fn sorted<'a>(cx: &mut Cx<'a>, mut rows: Vec<Row<'a>>, directions: &[bool], widest: u64) -> Result<Value<'a>> {
    // Paid in advance: so many comparisons as a binary merge needs at most.
    let comparisons = rows.len() as u64 * u64::from(usize::BITS - rows.len().leading_zeros());
    cx.spend(comparisons.saturating_mul(widest) / 4)?;
    let order = |(a, _): &Row<'a>, (b, _): &Row<'a>| keys_order(*a, *b, directions);
    // A step reads as much as 64 bytes.
    let longest = usize::try_from(widest).unwrap_or(usize::MAX).saturating_mul(64);
    if sorting::is_long(rows.len(), longest) {
        cx.hold(rows.len() * size_of::<Row<'_>>())?;
        Sorting::new(cx.limits(), longest, order).sort(&mut rows)?;
        cx.release(rows.len() * size_of::<Row<'_>>());
    } else {
        rows.sort_by(order);
    }
    let base = cx.mark();
    collect(cx, rows.iter().map(|(_, item)| *item))?;
    cx.list(base)
}

/// By key: whether the greatest value comes first.
fn directions<'a>(cx: &mut Cx<'a>, args: &'a [Plan], input: Value<'a>) -> Result<Vec<bool>> {
    let value = optional(cx, args, 1, input)?;
    let mut directions = Vec::new();
    if value.is_null() {
        return Ok(directions);
    }
    for direction in list(value)?.iter() {
        cx.spend(1)?;
        directions.push(EACH_DIRECTION.as_word(direction)?.is_some_and(|word| word != ASCENDING));
    }
    Ok(directions)
}

/// The order of the first keys that differ.
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

/// What items are joined by. A number and its text are different keys.
#[derive(Eq, Hash, PartialEq)]
enum JoinKey<'a> {
    Bool(bool),
    Number(u64),
    Text(&'a str),
}

/// The key that a value is; null is none, as it would join all that lacks a key with all that lacks one.
fn join_key<'a>(value: Value<'a>) -> Result<Option<JoinKey<'a>>> {
    match value {
        Value::Null | Value::Undefined => Ok(None),
        Value::Bool(value) => Ok(Some(JoinKey::Bool(value))),
        // 0 and -0 are equal.
        Value::Number(number) => Ok(Some(JoinKey::Number((number.value() + 0.0).to_bits()))),
        Value::String(text) => Ok(Some(JoinKey::Text(text))),
        Value::Array(_) | Value::Object(_) => {
            let error = Error::new(Code::StringExpected, "String expected as the key of a join");
            Err(error.with_help("a key is a text, a number or a boolean"))
        }
    }
}

/// The places of the items under each key.
fn index_by<'a>(cx: &mut Cx<'a>, array: Array<'a>, key: Option<&'a Plan>) -> Result<HashMap<JoinKey<'a>, Vec<u32>>> {
    let mut index: HashMap<JoinKey<'a>, Vec<u32>> = HashMap::new();
    for at in 0..array.len() {
        if let Some(key) = key_of_item(cx, key, (array, at), join_key)? {
            index.entry(key).or_default().push(at as u32);
        }
    }
    Ok(index)
}

/// Rows in the order of the left list, then of the right one.
fn join<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan], keeps_all: bool) -> Result<Value<'a>> {
    let left = list(input)?;
    let right = list(optional(cx, args, 0, input)?)?;
    let held = right.len() * (size_of::<JoinKey<'_>>() + size_of::<Vec<u32>>() + 4 * size_of::<u32>());
    cx.hold(held)?;
    let index = index_by(cx, right, args.get(2))?;
    let keys = cx.keys(&["left", "right"])?;
    let base = cx.mark();
    for (at, item) in left.iter().enumerate() {
        let key = key_of_item(cx, args.get(1), (left, at), join_key)?;
        let places = key.and_then(|key| index.get(&key)).map_or(&[][..], Vec::as_slice);
        for place in places {
            push_pair(cx, keys, item, right.get(*place as usize).unwrap_or(Value::Null))?;
        }
        if places.is_empty() && keeps_all {
            push_pair(cx, keys, item, Value::Null)?;
        }
    }
    cx.release(held);
    cx.list(base)
}

fn lookup<'a>(cx: &mut Cx<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let object = expect_object(argument(args, 0))?;
    let key = argument(args, 1);
    if key.is_null() {
        return Ok(Value::Null);
    }
    let key = expect_text(key)?;
    cx.spend_bytes(key.len())?;
    Ok(object.get(key).unwrap_or(Value::Null))
}

fn attribute<'a>(cx: &mut Cx<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let name = expect_text(optional(cx, args, 0, input)?)?;
    let set = optional(cx, args, 1, input)?;
    if input.is_null() {
        return Ok(Value::Null);
    }
    let attributes = expect_object(input)?.get("attributes").unwrap_or(Value::Null);
    named_attribute(cx, attributes, name, set)
}

fn named_attribute<'a>(cx: &mut Cx<'a>, attributes: Value<'a>, name: &str, set: Value<'a>) -> Result<Value<'a>> {
    if attributes.is_null() {
        return Ok(Value::Null);
    }
    for entry in list(attributes)?.iter().filter_map(Value::as_object) {
        cx.spend(1)?;
        let is_named = entry.get("name").and_then(Value::as_str) == Some(name);
        if is_named && (set.is_null() || cx.is_equal(entry.get("set").unwrap_or(Value::Null), set)?) {
            return Ok(entry.get("value").unwrap_or(Value::Null));
        }
    }
    Ok(Value::Null)
}

//! Functions of positions: ranges of numbers, items by index, rows with numbers, windows, folds.

use super::array::{list, optional};
use super::helpers::{eval_item, expect_number};
use super::nested::invalid;
use super::number::argument;
use crate::error::Result;
use crate::eval::EvalContext;
use crate::eval::option_spec::OptionSpec;
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::value::{Array, Keys, Value};

const FROM: OptionSpec = OptionSpec::any_number("from");
const INDEX: OptionSpec = OptionSpec::any_number("index");
const SIZE: OptionSpec = OptionSpec::any_number("size");
const START: OptionSpec = OptionSpec::any_number("start");
const STEP: OptionSpec = OptionSpec::any_number("step");
const TO: OptionSpec = OptionSpec::any_number("to");

const FOLD: &[Param] = &[Param::query("initial"), Param::query("next")];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "chunks",
        params: &[Param::checked(&SIZE)],
        summary: "The array in parts of `size` items; the last part may be shorter.",
        example: "[1, 2, 3, 4, 5] | chunks(2) => [[1,2],[3,4],[5]]",
        body: Body::Piped(chunks),
    },
    Function {
        name: "enumerate",
        params: &[Param::checked(&START).optional()],
        summary: "The items with their numbers, as `{index, item}`, counted from 0 or from `start`.",
        example: r#"[{a: 7}] | enumerate(1) | map(merge({no: .index}, .item)) => [{"no":1,"a":7}]"#,
        body: Body::Piped(enumerate),
    },
    Function {
        name: "nth",
        params: &[Param::checked(&INDEX)],
        summary: "The item at an index, counted from 0; a negative index counts from the end; null if there is none.",
        example: "[7, 8, 9] | [nth(1), nth(-1), nth(5)] => [8,9,null]",
        body: Body::Piped(nth),
    },
    Function {
        name: "range",
        params: &[Param::checked(&FROM), Param::checked(&TO).optional(), Param::checked(&STEP).optional()],
        summary: "The numbers from `from` up to, not including, `to`, in steps of 1 or `step`; one argument counts from 0.",
        example: "[range(3), range(1, 3), range(10, 0, -4)] => [[0,1,2],[1,2],[10,6,2]]",
        body: Body::Strict(range),
    },
    Function {
        name: "reduce",
        params: FOLD,
        summary: "One value for all items: `next` is evaluated on `{result, item, index}` for each item and returns the next `result`.",
        example: "[2, 3, 4] | reduce(1, .result * .item) => 24",
        body: Body::Piped(reduce),
    },
    Function {
        name: "runningSum",
        params: &[Param::query("value").optional()],
        summary: "The sums of the items up to each item, or of a value that is computed for each item.",
        example: "[{a: 1}, {a: 2}, {a: 3}] | runningSum(.a) => [1,3,6]",
        body: Body::Piped(running_sum),
    },
    Function {
        name: "scan",
        params: FOLD,
        summary: "Like `reduce`, but returns the result after each item, such as a running maximum.",
        example: "[2, 1, 3] | scan(0, if(.item > .result, .item, .result)) => [2,2,3]",
        body: Body::Piped(scan),
    },
    Function {
        name: "transpose",
        params: &[],
        summary: "The columns of an array of arrays, as rows; missing items are null.",
        example: "[[1, 2], [3, 4]] | transpose() => [[1,3],[2,4]]",
        body: Body::Piped(transpose),
    },
    Function {
        name: "windows",
        params: &[Param::checked(&SIZE), Param::checked(&STEP).optional()],
        summary: "The parts of `size` neighboring items, each beginning 1 or `step` items after the one before.",
        example: "[1, 2, 4, 9] | windows(2) | map(.1 - .0) => [1,2,5]",
        body: Body::Piped(windows),
    },
    Function {
        name: "zip",
        params: &[Param::query("list").many()],
        summary: "The items at the same positions of this array and others, as arrays; missing items are null.",
        example: r#"[1, 2] | zip(["a", "b"]) => [[1,"a"],[2,"b"]]"#,
        body: Body::Piped(zip),
    },
];

fn nth<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let index = expect_number(optional(cx, args, 0, input)?)?.trunc();
    let index = if index < 0.0 { array.len() as f64 + index } else { index };
    if !(0.0..array.len() as f64).contains(&index) {
        return Ok(Value::Null);
    }
    Ok(array.get(index as usize).unwrap_or(Value::Null))
}

fn range<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let first = finite(argument(args, 0))?;
    let (from, to) = match args {
        [_] => (0.0, first),
        _ => (first, finite(argument(args, 1))?),
    };
    let step = if args.len() > 2 { finite(argument(args, 2))? } else { 1.0 };
    if step == 0.0 {
        return Err(invalid("The step of a range is not 0", argument(args, 2)));
    }
    let number = |at: f64| from + at * step;
    let mut count = ((to - from) / step).ceil().max(0.0);
    // The quotient of decimal fractions may be a little above an integer.
    let is_end = |number: f64| if step > 0.0 { number >= to } else { number <= to };
    if count > 0.0 && is_end(number(count - 1.0)) {
        count -= 1.0;
    }
    // Charged before anything is built. The cast maps large numbers to the greatest one.
    cx.charge(count as u64)?;
    cx.list_from_fn(count as usize, |at| Value::number(number(at as f64)))
}

fn finite(value: Value<'_>) -> Result<f64> {
    let number = expect_number(value)?;
    if number.is_finite() { Ok(number) } else { Err(invalid("Finite number expected", value)) }
}

/// Returns a number of items: an integer of at least 1.
fn size_argument<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan], at: usize) -> Result<usize> {
    let value = match optional(cx, args, at, input)? {
        Value::Undefined => return Ok(1),
        value => value,
    };
    let number = expect_number(value)?;
    if number >= 1.0 && number.trunc() == number {
        return Ok(number as usize);
    }
    Err(invalid("Number of items expected: an integer of at least 1", value))
}

fn windows<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let size = size_argument(cx, input, args, 0)?;
    let step = size_argument(cx, input, args, 1)?;
    let starts = (array.len() + 1).saturating_sub(size);
    parts(cx, array, (0..starts).step_by(step).map(|start| (start, start + size)))
}

fn chunks<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let size = size_argument(cx, input, args, 0)?;
    let len = array.len();
    parts(cx, array, (0..len).step_by(size).map(|start| (start, start.saturating_add(size).min(len))))
}

/// Returns parts of an array, which share its items.
fn parts<'a>(
    cx: &mut EvalContext<'a>,
    array: Array<'a>,
    bounds: impl Iterator<Item = (usize, usize)>,
) -> Result<Value<'a>> {
    let base = cx.mark();
    for (start, end) in bounds {
        // A long part of a stored array is a list of positions.
        cx.charge(1 + (end - start) as u64 / 16)?;
        let part = cx.slice_list(array, start, end)?;
        cx.push(part)?;
    }
    cx.collect_list(base)
}

fn enumerate<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let start = match optional(cx, args, 0, input)? {
        Value::Undefined => 0.0,
        start => expect_number(start)?,
    };
    let keys = cx.intern_keys(&["index", "item"])?;
    let base = cx.mark();
    for (at, item) in array.iter().enumerate() {
        cx.charge(1)?;
        cx.push(Value::number(start + at as f64))?;
        cx.push(item)?;
    }
    cx.collect_objects(keys, base)
}

fn zip<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let mut lists = vec![list(input)?];
    for arg in args {
        lists.push(list(cx.eval(arg, input)?)?);
    }
    columns(cx, &lists)
}

fn transpose<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let rows = list(input)?;
    let reserved = rows.len() * size_of::<Array<'_>>();
    cx.reserve(reserved)?;
    let mut lists = Vec::with_capacity(rows.len());
    for at in 0..rows.len() {
        cx.charge(1)?;
        lists.push(eval_item(cx, None, (rows, at), |_| list(rows.get(at).unwrap_or(Value::Null)))?);
    }
    let transposed = columns(cx, &lists);
    cx.release(reserved);
    transposed
}

/// Returns, for each position, the items of all lists.
fn columns<'a>(cx: &mut EvalContext<'a>, lists: &[Array<'a>]) -> Result<Value<'a>> {
    let base = cx.mark();
    for at in 0..lists.iter().map(|list| list.len()).max().unwrap_or(0) {
        cx.charge(1 + lists.len() as u64)?;
        let column = cx.list_from_fn(lists.len(), |list| lists[list].get(at).unwrap_or(Value::Null))?;
        cx.push(column)?;
    }
    cx.collect_list(base)
}

fn running_sum<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let mut total = 0.0;
    cx.try_list_from_fn(array.len(), |cx, at| {
        let item = array.get(at).unwrap_or(Value::Null);
        total += match args.first() {
            Some(_) => eval_item(cx, args.first(), (array, at), expect_number)?,
            None => eval_item(cx, None, (array, at), |_| expect_number(item))?,
        };
        Ok(Value::number(total))
    })
}

/// Evaluation of `next` for one item after another.
struct Fold<'a> {
    array: Array<'a>,
    keys: &'a Keys<'a>,
    next: Option<&'a Plan>,
    result: Value<'a>,
}

impl<'a> Fold<'a> {
    fn new(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Fold<'a>> {
        let array = list(input)?;
        let result = optional(cx, args, 0, input)?;
        let keys = cx.intern_keys(&["result", "item", "index"])?;
        Ok(Fold { array, keys, next: args.get(1), result })
    }

    fn advance(&mut self, cx: &mut EvalContext<'a>, at: usize) -> Result<Value<'a>> {
        cx.charge(1)?;
        let item = self.array.get(at).unwrap_or(Value::Null);
        let state = cx.object_from_values(self.keys, &[self.result, item, Value::number(at as f64)])?;
        if let Some(next) = self.next {
            self.result = super::array::at_item(cx.eval(next, state), self.array, at)?;
        }
        Ok(self.result)
    }
}

fn reduce<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let mut fold = Fold::new(cx, input, args)?;
    for at in 0..fold.array.len() {
        fold.advance(cx, at)?;
    }
    Ok(fold.result)
}

fn scan<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let mut fold = Fold::new(cx, input, args)?;
    cx.try_list_from_fn(fold.array.len(), |cx, at| fold.advance(cx, at))
}

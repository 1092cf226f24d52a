//! Comparison, logic and conditional functions.

use std::cmp::Ordering;

use crate::error::{Code, Error, Result};
use crate::eval::EvalContext;
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::value::write::describe;
use crate::value::{Value, compare};

const PAIR: &[Param] = &[Param::query("a"), Param::query("b")];
const MANY: &[Param] = &[Param::query("condition").many()];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "and",
        params: MANY,
        summary: "Whether all conditions hold; evaluation stops at the first that does not.",
        example: "2 > 1 and 3 > 1 => true",
        body: Body::Lazy(and),
    },
    Function {
        name: "eq",
        params: PAIR,
        summary: "Whether two values are equal, arrays and objects by their contents.",
        example: "[1, 2] == [1, 2] => true",
        body: Body::Strict(eq),
    },
    Function {
        name: "exists",
        params: &[Param::path("path")],
        summary: "Whether there is a property at a path, even if its value is null.",
        example: "{a: null} | exists(.a) => true",
        body: Body::Lazy(exists),
    },
    Function {
        name: "gt",
        params: PAIR,
        summary: "Whether a is greater than b, for two numbers, two strings or two booleans.",
        example: "2 > 1 => true",
        body: Body::Strict(|cx, args| Ok(Value::Bool(order(cx, args)? == Some(Ordering::Greater)))),
    },
    Function {
        name: "gte",
        params: PAIR,
        summary: "Whether a is greater than b or equal to it.",
        example: "2 >= 2 => true",
        body: Body::Strict(|cx, args| or_equal(cx, args, Ordering::Greater)),
    },
    Function {
        name: "if",
        params: &[Param::query("condition"), Param::query("then"), Param::query("else").optional()],
        summary: "One of two values, chosen by a condition; only null, 0 and false count as false.",
        example: r#"if(1 > 2, "a", "b") => "b""#,
        body: Body::Lazy(if_else),
    },
    Function {
        name: "in",
        params: &[Param::query("value"), Param::query("list")],
        summary: "Whether an array contains a value.",
        example: r#""a" in ["a", "b"] => true"#,
        body: Body::Strict(|cx, args| is_in(cx, args).map(Value::Bool)),
    },
    Function {
        name: "lt",
        params: PAIR,
        summary: "Whether a is less than b, for two numbers, two strings or two booleans.",
        example: "1 < 2 => true",
        body: Body::Strict(|cx, args| Ok(Value::Bool(order(cx, args)? == Some(Ordering::Less)))),
    },
    Function {
        name: "lte",
        params: PAIR,
        summary: "Whether a is less than b or equal to it.",
        example: "2 <= 2 => true",
        body: Body::Strict(|cx, args| or_equal(cx, args, Ordering::Less)),
    },
    Function {
        name: "ne",
        params: PAIR,
        summary: "Whether two values differ.",
        example: "1 != 2 => true",
        body: Body::Strict(|cx, args| cx.is_equal(arg(args, 0), arg(args, 1)).map(|equal| Value::Bool(!equal))),
    },
    Function {
        name: "not",
        params: &[Param::query("condition")],
        summary: "Whether a condition does not hold; null, 0 and the empty string count as false.",
        example: "not(1 > 2) => true",
        body: Body::Strict(|_, args| Ok(Value::Bool(!arg(args, 0).is_truthy_in_javascript()))),
    },
    Function {
        name: "not in",
        params: &[Param::query("value"), Param::query("list")],
        summary: "Whether an array does not contain a value.",
        example: r#""c" not in ["a", "b"] => true"#,
        body: Body::Strict(|cx, args| is_in(cx, args).map(|found| Value::Bool(!found))),
    },
    Function {
        name: "or",
        params: MANY,
        summary: "Whether any condition holds; evaluation stops at the first that does.",
        example: "1 > 2 or 3 > 2 => true",
        body: Body::Lazy(or),
    },
];

/// Returns an argument; undefined if it is missing.
fn arg<'a>(args: &[Value<'a>], at: usize) -> Value<'a> {
    args.get(at).copied().unwrap_or(Value::Undefined)
}

fn order<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Option<Ordering>> {
    let (left, right) = (arg(args, 0), arg(args, 1));
    if let (Value::String(left), Value::String(right)) = (left, right) {
        cx.charge_bytes(left.len().min(right.len()))?;
    }
    if let Some(integer) = compare::rounded_tie(left, right) {
        cx.warn_rounded(integer)?;
    }
    Ok(compare::partial_order(left, right))
}

fn eq<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    cx.is_equal(arg(args, 0), arg(args, 1)).map(Value::Bool)
}

fn or_equal<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>], ordering: Ordering) -> Result<Value<'a>> {
    Ok(Value::Bool(order(cx, args)? == Some(ordering) || cx.is_equal(arg(args, 0), arg(args, 1))?))
}

fn and<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    short_circuit(cx, input, args, false)
}

fn or<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    short_circuit(cx, input, args, true)
}

/// Evaluates conditions up to the first one that equals `decisive`. As in the reference implementation, a single
/// condition is returned unchanged, and none is null.
fn short_circuit<'a>(
    cx: &mut EvalContext<'a>,
    input: Value<'a>,
    args: &'a [Plan],
    decisive: bool,
) -> Result<Value<'a>> {
    match args {
        [] => return Ok(Value::Null),
        [only] => return cx.eval(only, input),
        _ => {}
    }
    for condition in args {
        if cx.eval(condition, input)?.is_truthy_in_javascript() == decisive {
            return Ok(Value::Bool(decisive));
        }
    }
    Ok(Value::Bool(!decisive))
}

fn if_else<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let condition = match args.first() {
        Some(condition) => cx.eval(condition, input)?,
        None => Value::Undefined,
    };
    let branch = args.get(if condition.is_truthy() { 1 } else { 2 });
    branch.map_or(Ok(Value::Undefined), |branch| cx.eval(branch, input))
}

fn is_in<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<bool> {
    let Some(list) = arg(args, 1).as_array() else {
        let list = arg(args, 1);
        let message = format!("Array expected on the right of `in`, not {}", list.type_name());
        let error = Error::new(Code::ListExpected, message).with_label(format!("got {}", describe(list)));
        return Err(error.with_help("`contains` searches strings; `exists(.a)` tests for a key"));
    };
    for item in list.iter() {
        cx.charge(1)?;
        if cx.is_equal(item, arg(args, 0))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Follows a path by own properties only. A missing parent is false.
fn exists<'a>(_: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let Some(Plan::Get(path)) = args.first() else { return Ok(Value::Bool(false)) };
    let mut holder = input;
    for key in &path.keys {
        let found = match holder {
            Value::Object(object) => object.get(&key.name),
            Value::Array(array) => key.index.and_then(|index| array.get(index as usize)),
            _ => None,
        };
        match found {
            Some(value) => holder = value,
            None => return Ok(Value::Bool(false)),
        }
    }
    Ok(Value::Bool(true))
}

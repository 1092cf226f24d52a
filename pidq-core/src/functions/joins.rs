//! Joins of arrays by key: pairs of items with equal keys, and the items with or without a partner.

use hashbrown::{HashMap, HashSet};

use super::array::{list, optional, select};
use super::helpers::{eval_key, push_pair};
use crate::error::{Code, Error, Result};
use crate::eval::EvalContext;
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::value::{Array, Value, compare};

const JOIN: &[Param] = &[Param::query("right"), Param::query("leftKey"), Param::query("rightKey").optional()];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "antiJoin",
        params: JOIN,
        summary: "The items whose key no item of another array has; items without a key are among them.",
        example: "[{a: 1}, {a: 2}] | antiJoin([{b: 1}], .a, .b) => [{\"a\":2}]",
        body: Body::Piped(|cx, input, args| select_matched(cx, input, args, false)),
    },
    Function {
        name: "innerJoin",
        params: JOIN,
        summary: "The pairs `{left, right}` of items with equal keys in this array and another one.",
        example: r#"[{a: 1}] | innerJoin([{b: 1, c: 2}], .a, .b) => [{"left":{"a":1},"right":{"b":1,"c":2}}]"#,
        body: Body::Piped(|cx, input, args| join(cx, input, args, Unmatched::Dropped)),
    },
    Function {
        name: "leftJoin",
        params: JOIN,
        summary: "Like `innerJoin`, but with every item of this array; `right` is null if no key is equal. One key stands for both sides.",
        example: r#"let({names: [{id: 7, name: "A"}]}, [{no: 1, id: 7}] | leftJoin($names, .id) | map({no: .left.no, name: .right.name})) => [{"no":1,"name":"A"}]"#,
        body: Body::Piped(|cx, input, args| join(cx, input, args, Unmatched::Kept)),
    },
    Function {
        name: "semiJoin",
        params: JOIN,
        summary: "The items whose key an item of another array has, each once. Without a right key, both keys are the same.",
        example: r#"[{id: 1}, {id: 2}] | semiJoin([{id: 2}, {id: 2}], .id) => [{"id":2}]"#,
        body: Body::Piped(|cx, input, args| select_matched(cx, input, args, true)),
    },
];

/// Key of a join. A number and its string are different keys.
#[derive(Eq, Hash, PartialEq)]
enum JoinKey<'a> {
    Bool(bool),
    Number(u64),
    /// An integer whose double is another one, such as a 64-bit id.
    Digits(&'a str),
    String(&'a str),
}

/// Returns the join key of a value; `None` for null, since it would join all items without a key.
fn join_key<'a>(value: Value<'a>) -> Result<Option<JoinKey<'a>>> {
    match value {
        Value::Null | Value::Undefined => Ok(None),
        Value::Bool(value) => Ok(Some(JoinKey::Bool(value))),
        Value::Number(number) if compare::is_rounded(number) => Ok(number.lexeme().map(JoinKey::Digits)),
        // 0 and -0 are equal.
        Value::Number(number) => Ok(Some(JoinKey::Number((number.value() + 0.0).to_bits()))),
        Value::String(text) => Ok(Some(JoinKey::String(text))),
        Value::Array(_) | Value::Object(_) => {
            let error = Error::new(Code::StringExpected, "String expected as the key of a join");
            Err(error
                .with_help("a key is a string, a number or a boolean; of several, join the parts: `.a + \"|\" + .b`"))
        }
    }
}

/// Returns the positions of the items of each key.
fn index_by<'a>(
    cx: &mut EvalContext<'a>,
    array: Array<'a>,
    key: Option<&'a Plan>,
) -> Result<HashMap<JoinKey<'a>, Vec<u32>>> {
    let mut index: HashMap<JoinKey<'a>, Vec<u32>> = HashMap::new();
    for at in 0..array.len() {
        if let Some(key) = eval_key(cx, key, (array, at), join_key)? {
            index.entry(key).or_default().push(at as u32);
        }
    }
    Ok(index)
}

/// Treatment of the items without a partner.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Unmatched {
    Dropped,
    Kept,
}

/// Returns joined rows in the order of the left array, then of the right one.
fn join<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan], unmatched: Unmatched) -> Result<Value<'a>> {
    let left = list(input)?;
    let right = other_list(cx, input, args)?;
    let reserved = right.len() * (size_of::<JoinKey<'_>>() + size_of::<Vec<u32>>() + 4 * size_of::<u32>());
    cx.reserve(reserved)?;
    let index = index_by(cx, right, right_key(args))?;
    let keys = cx.intern_keys(&["left", "right"])?;
    let base = cx.mark();
    for (at, item) in left.iter().enumerate() {
        let key = eval_key(cx, args.get(1), (left, at), join_key)?;
        let positions = key.and_then(|key| index.get(&key)).map_or(&[][..], Vec::as_slice);
        for position in positions {
            push_pair(cx, keys, item, right.get(*position as usize).unwrap_or(Value::Null))?;
        }
        if positions.is_empty() && unmatched == Unmatched::Kept {
            push_pair(cx, keys, item, Value::Null)?;
        }
    }
    cx.release(reserved);
    cx.collect_list(base)
}

/// Returns the other array, the first argument. It is evaluated on the left array, not on what has both.
fn other_list<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Array<'a>> {
    let other = optional(cx, args, 0, input)?;
    list(other).map_err(|error| match other {
        Value::Null | Value::Undefined => Error::new(Code::ArrayExpected, "Array expected as the other one of a join")
            .with_label("got null")
            .with_help("it is read from the piped array: bind it before, as in `let({b: .b}, .a | leftJoin($b, .id))`"),
        _ => error,
    })
}

/// Returns the query for the keys of the right array.
fn right_key(args: &[Plan]) -> Option<&Plan> {
    args.get(2).or_else(|| args.get(1))
}

/// Returns the items that have a partner, or those that have none, in their order.
fn select_matched<'a>(
    cx: &mut EvalContext<'a>,
    input: Value<'a>,
    args: &'a [Plan],
    is_matched: bool,
) -> Result<Value<'a>> {
    let left = list(input)?;
    let right = other_list(cx, input, args)?;
    let reserved = 2 * right.len() * size_of::<JoinKey<'_>>() + left.len() * size_of::<u32>();
    cx.reserve(reserved)?;
    let mut known = HashSet::new();
    for at in 0..right.len() {
        known.extend(eval_key(cx, right_key(args), (right, at), join_key)?);
    }
    let mut positions = Vec::new();
    for at in 0..left.len() {
        let key = eval_key(cx, args.get(1), (left, at), join_key)?;
        if key.is_some_and(|key| known.contains(&key)) == is_matched {
            positions.push(at as u32);
        }
    }
    let selected = select(cx, left, &positions);
    cx.release(reserved);
    selected
}

//! Functions of nested values: descent, values at computed paths, and changes at any depth.
//!
//! Iterative, because a run can build values of any depth. A built value can contain a part many times, so that a
//! traversal may take far longer than the value is large: every visit is charged.

mod edit;
mod path_key;
mod rebuild;

use super::array::optional;
use super::helpers::expect_object;
use super::number::argument;
use crate::error::{Code, Error, Result};
use crate::eval::EvalContext;
use crate::eval::build::Entries;
use crate::eval::option_spec::OptionSpec;
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::functions::array::list;
use crate::value::write::describe;
use crate::value::{Array, Object, Value};
pub(super) use path_key::{PathKey, child};

const DEPTH: OptionSpec = OptionSpec::number("depth");

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "deleteAt",
        params: &[Param::query("keys")],
        summary: "The value without the property or item at a computed path: an array of keys and indexes.",
        example: r#"{a: [1, 2, 3]} | deleteAt(["a", 0]) => {"a":[2,3]}"#,
        body: Body::Piped(edit::delete_at),
    },
    Function {
        name: "descendants",
        params: &[Param::query("condition").optional()],
        summary: "All values in an array or object, at any depth, in document order; or those for which a condition holds.",
        example: r#"{a: {tag: "P-1"}, b: [{tag: "P-2"}]} | descendants(exists(.tag)) | map(.tag) => ["P-1","P-2"]"#,
        body: Body::Piped(descendants),
    },
    Function {
        name: "flattenDeep",
        params: &[Param::checked(&DEPTH).optional()],
        summary: "The array with its nested arrays replaced by their items, at every level or down to a depth.",
        example: "[1, [2, [3, [4]]]] | [flattenDeep(), flattenDeep(2)] => [[1,2,3,4],[1,2,3,[4]]]",
        body: Body::Piped(flatten_deep),
    },
    Function {
        name: "getAt",
        params: &[Param::query("keys")],
        summary: "The value at a computed path, null if there is none; a negative index counts from the end.",
        example: r#"{a: [{b: 1}, {b: 2}]} | getAt(["a", -1, "b"]) => 2"#,
        body: Body::Piped(get_at),
    },
    Function {
        name: "leaves",
        params: &[],
        summary: "The values at any depth that contain no others, each with its path: `{path, value}`.",
        example: r#"{a: 1, b: [{c: 2}]} | leaves() | map([.path | join("."), .value]) => [["a",1],["b.0.c",2]]"#,
        body: Body::Piped(leaves),
    },
    Function {
        name: "lookup",
        params: &[Param::query("map"), Param::query("key")],
        summary: "The value of an object at a computed key, or the item of an array at a computed index; null if there is none.",
        example: r#"[lookup({a: 1, b: 2}, "b"), lookup([7, 8], -1)] => [2,8]"#,
        body: Body::Strict(lookup),
    },
    Function {
        name: "mapDeep",
        params: &[Param::query("value")],
        summary: "The value with every part replaced, at any depth: first the innermost parts, last the value itself.",
        example: r#"{a: [1, {b: 2}]} | mapDeep(if(typeOf(get()) == "number", get() * 10, get())) => {"a":[10,{"b":20}]}"#,
        body: Body::Piped(rebuild::map_deep),
    },
    Function {
        name: "mergeDeep",
        params: &[Param::query("object").many()],
        summary: "One object with the properties of all; objects under equal keys are merged too, of other values the last wins.",
        example: r#"mergeDeep({a: {x: 1, y: 1}}, {a: {y: 2}}) => {"a":{"x":1,"y":2}}"#,
        body: Body::Piped(merge_deep),
    },
    Function {
        name: "omit",
        params: &[Param::path("path").many()],
        summary: "An object, or every object of an array, without the properties and items at the given paths.",
        example: r#"{a: 1, b: {c: 2, d: [3, 4]}} | omit(.a, .b.c, .b.d.0) => {"b":{"d":[4]}}"#,
        body: Body::Piped(edit::omit),
    },
    Function {
        name: "omitDeep",
        params: &[Param::query("condition")],
        summary: "The value without the properties and items, at any depth, for whose values a condition holds.",
        example: r#"{a: null, b: [{c: null, d: 1}]} | omitDeep(get() == null) => {"b":[{"d":1}]}"#,
        body: Body::Piped(rebuild::omit_deep),
    },
    Function {
        name: "set",
        params: &[Param::path("path"), Param::query("value")],
        summary: "The value with another value at a path; objects that are missing on the way are created.",
        example: r#"{a: 1} | set(.b.c, .a + 1) => {"a":1,"b":{"c":2}}"#,
        body: Body::Piped(edit::set),
    },
    Function {
        name: "setAt",
        params: &[Param::query("keys"), Param::query("value")],
        summary: "Like `set`, with a computed path: an array of keys and indexes. The index after the last one appends.",
        example: r#"{a: [1, 2]} | setAt(["a", 0], 9) => {"a":[9,2]}"#,
        body: Body::Piped(edit::set_at),
    },
    Function {
        name: "update",
        params: &[Param::path("path"), Param::query("value")],
        summary: "The value with the value at a path replaced by the result of a query on it; a missing one stays missing.",
        example: r#"{a: {b: 2}} | update(.a.b, get() * 10) => {"a":{"b":20}}"#,
        body: Body::Piped(edit::update),
    },
    Function {
        name: "updateAt",
        params: &[Param::query("keys"), Param::query("value")],
        summary: "Like `update`, with a computed path: an array of keys and indexes.",
        example: r#"{a: [1, 2]} | updateAt(["a", -1], get() * 10) => {"a":[1,20]}"#,
        body: Body::Piped(edit::update_at),
    },
    Function {
        name: "valuePaths",
        params: &[Param::query("condition").optional()],
        summary: "The paths, as arrays of keys and indexes, of all values inside the value, at any depth, without the value itself, or of those for which a condition holds.",
        example: r#"{a: [5, 7]} | valuePaths(get() == 7) => [["a",1]]"#,
        body: Body::Piped(value_paths),
    },
];

/// An array or an object.
#[derive(Clone, Copy)]
enum Container<'a> {
    Array(Array<'a>),
    Object(Object<'a>),
}

impl<'a> Container<'a> {
    fn from_value(value: Value<'a>) -> Option<Container<'a>> {
        match value {
            Value::Array(array) => Some(Container::Array(array)),
            Value::Object(object) => Some(Container::Object(object)),
            _ => None,
        }
    }

    /// Returns the value at a position, and its key or index; `None` at the end.
    fn entry(self, at: usize) -> Option<(Value<'a>, Value<'a>)> {
        match self {
            Container::Array(array) => {
                let item = array.get(at)?;
                // An item without a value prints as null.
                let item = if let Value::Undefined = item { Value::Null } else { item };
                Some((Value::number(at as f64), item))
            }
            Container::Object(object) if at < object.len() => Some((Value::String(object.key(at)), object.value(at))),
            Container::Object(_) => None,
        }
    }

    fn is_empty(self) -> bool {
        match self {
            Container::Array(array) => array.is_empty(),
            Container::Object(object) => object.is_empty(),
        }
    }
}

/// Depth-first traversal of the parts of a value, in document order.
struct Descent<'a> {
    /// The containers around the current part, and the positions of their next parts.
    open: Vec<(Container<'a>, usize)>,
    /// The path of the current part.
    path: Vec<Value<'a>>,
    /// The current part, if it is to be entered next.
    entered: Option<Container<'a>>,
}

impl<'a> Descent<'a> {
    fn new(root: Value<'a>) -> Descent<'a> {
        Descent { open: Vec::new(), path: Vec::new(), entered: Container::from_value(root) }
    }

    fn next(&mut self, cx: &mut EvalContext<'a>) -> Result<Option<Value<'a>>> {
        if let Some(container) = self.entered.take() {
            self.open.push((container, 0));
        } else {
            self.path.pop();
        }
        loop {
            let Some((container, at)) = self.open.last_mut() else { return Ok(None) };
            cx.charge(1)?;
            let Some((key, part)) = container.entry(*at) else {
                self.open.pop();
                self.path.pop();
                continue;
            };
            *at += 1;
            // A field without a value is not there.
            if let Value::Undefined = part {
                continue;
            }
            self.path.push(key);
            self.entered = Container::from_value(part);
            return Ok(Some(part));
        }
    }

    /// Builds the path of the current part.
    fn path(&self, cx: &mut EvalContext<'a>) -> Result<Value<'a>> {
        cx.charge(self.path.len() as u64)?;
        cx.list_from_fn(self.path.len(), |at| self.path[at])
    }
}

/// Returns whether a condition holds for a part. A part that cannot have the property asked for, such as the text of
/// `descendants(.link == "x")`, does not satisfy it.
fn holds<'a>(cx: &mut EvalContext<'a>, args: &'a [Plan], part: Value<'a>) -> Result<bool> {
    let Some(condition) = args.first() else { return Ok(true) };
    match cx.try_eval(condition, part) {
        Ok(value) => Ok(value.is_truthy()),
        Err(error) if error.code() == Code::UnsupportedProperty && part.as_object().is_none() => Ok(false),
        Err(error) => Err(error),
    }
}

fn descendants<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let mut descent = Descent::new(input);
    let base = cx.mark();
    while let Some(part) = descent.next(cx)? {
        if holds(cx, args, part)? {
            cx.push(part)?;
        }
    }
    cx.collect_list(base)
}

fn value_paths<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let mut descent = Descent::new(input);
    let base = cx.mark();
    while let Some(part) = descent.next(cx)? {
        if holds(cx, args, part)? {
            let path = descent.path(cx)?;
            cx.push(path)?;
        }
    }
    cx.collect_list(base)
}

fn leaves<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let mut descent = Descent::new(input);
    let keys = cx.intern_keys(&["path", "value"])?;
    let base = cx.mark();
    while let Some(part) = descent.next(cx)? {
        if Container::from_value(part).is_none_or(Container::is_empty) {
            let path = descent.path(cx)?;
            cx.push(path)?;
            cx.push(part)?;
        }
    }
    cx.collect_objects(keys, base)
}

fn get_at<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let keys = optional(cx, args, 0, input)?;
    value_at(cx, input, keys)
}

/// Returns the value at a computed path. Not inlined: locals that live during the evaluation of arguments add to the stack.
#[inline(never)]
fn value_at<'a>(cx: &mut EvalContext<'a>, root: Value<'a>, keys: Value<'a>) -> Result<Value<'a>> {
    let mut value = root;
    for key in &path_key::from_value(cx, keys)? {
        cx.charge(1)?;
        match child(value, key) {
            Some(part) => value = part,
            None => return Ok(Value::Null),
        }
    }
    Ok(if let Value::Undefined = value { Value::Null } else { value })
}

fn lookup<'a>(cx: &mut EvalContext<'a>, args: &[Value<'a>]) -> Result<Value<'a>> {
    let map = argument(args, 0);
    if map.as_array().is_none() {
        expect_object(map)?;
    }
    let key = match argument(args, 1) {
        key if key.is_null() => return Ok(Value::Null),
        key => PathKey::from_value(cx, key)?,
    };
    Ok(child(map, &key).unwrap_or(Value::Null))
}

fn flatten_deep<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let depth = DEPTH.as_number(optional(cx, args, 0, input)?)?.unwrap_or(f64::INFINITY);
    let mut open = vec![(list(input)?, 0)];
    let base = cx.mark();
    while let Some((array, at)) = open.last_mut() {
        cx.charge(1)?;
        let item = array.get(*at);
        *at += 1;
        match item {
            None => drop(open.pop()),
            Some(Value::Array(inner)) if open.len() as f64 <= depth => open.push((inner, 0)),
            Some(other) => cx.push(other)?,
        }
    }
    cx.collect_list(base)
}

/// Merge of two objects: the properties so far, those to add, and where the parent stores the result.
struct Merge<'a> {
    entries: Entries<'a, Value<'a>>,
    right: Object<'a>,
    at: usize,
    slot: usize,
}

impl<'a> Merge<'a> {
    fn new(cx: &mut EvalContext<'a>, left: Object<'a>, right: Object<'a>, slot: usize) -> Result<Merge<'a>> {
        let mut entries = Entries::new();
        for (name, value) in left.iter() {
            cx.charge(1)?;
            entries.entry(cx, name, || value)?;
        }
        Ok(Merge { entries, right, at: 0, slot })
    }

    /// Adds properties up to one whose values on both sides are objects; returns their merge, `None` at the end.
    fn advance(&mut self, cx: &mut EvalContext<'a>) -> Result<Option<Merge<'a>>> {
        while self.at < self.right.len() {
            cx.charge(1)?;
            let (name, value) = (self.right.key(self.at), self.right.value(self.at));
            self.at += 1;
            let slot = self.entries.entry_index(cx, name, || Value::Undefined)?;
            match (self.entries.values[slot], value) {
                (_, Value::Undefined) => {}
                (Value::Object(left), Value::Object(right)) => return Merge::new(cx, left, right, slot).map(Some),
                _ => self.entries.values[slot] = value,
            }
        }
        Ok(None)
    }
}

fn merge_deep<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let mut merged: Option<Object<'a>> = None;
    for arg in args {
        let object = expect_object(cx.eval(arg, input)?)?;
        merged = Some(match merged {
            Some(left) => expect_object(merge_two(cx, left, object)?)?,
            None => object,
        });
    }
    match merged {
        Some(object) => Ok(Value::Object(object)),
        None => Entries::new().into_object(cx),
    }
}

fn merge_two<'a>(cx: &mut EvalContext<'a>, left: Object<'a>, right: Object<'a>) -> Result<Value<'a>> {
    let mut outer: Vec<Merge<'a>> = Vec::new();
    let mut merge = Merge::new(cx, left, right, 0)?;
    loop {
        if let Some(inner) = merge.advance(cx)? {
            outer.push(std::mem::replace(&mut merge, inner));
            continue;
        }
        let slot = merge.slot;
        let object = merge.entries.into_object(cx)?;
        match outer.pop() {
            Some(parent) => merge = parent,
            None => return Ok(object),
        }
        merge.entries.values[slot] = object;
    }
}

/// Returns the error for a value that cannot be used.
pub(super) fn invalid(message: impl Into<String>, value: Value<'_>) -> Error {
    Error::new(Code::InvalidValue, message).with_label(format!("got {}", describe(value)))
}

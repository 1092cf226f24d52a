//! Changes at a path: the containers along it are rebuilt, everything else is shared.

use super::path_key::{self, PathKey, child};
use super::{Container, invalid};
use crate::error::{Error, Result};
use crate::eval::EvalContext;
use crate::eval::build::ObjectBuilder;
use crate::eval::plan::{Path, Plan};
use crate::functions::array::{collect, optional};
use crate::functions::helpers::{eval_item, expect_object};
use crate::value::{Array, Object, Value};

/// A missing property is created: no key is reported as one that no object has.
pub(super) fn set<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let value = optional(cx, args, 1, input)?;
    Place::written(cx, input, written_path(args, 0), Missing::Created)?.put(cx, value)
}

pub(super) fn set_at<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let keys = optional(cx, args, 0, input)?;
    let value = optional(cx, args, 1, input)?;
    Place::computed(cx, input, keys, None)?.put(cx, value)
}

pub(super) fn update<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let place = Place::written(cx, input, written_path(args, 0), Missing::Reported)?;
    let Some(old) = place.value else { return Ok(input) };
    let value = optional(cx, args, 1, old)?;
    place.put(cx, value)
}

pub(super) fn update_at<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let keys = optional(cx, args, 0, input)?;
    let place = Place::computed(cx, input, keys, written_path(args, 2))?;
    let Some(old) = place.value else { return Ok(input) };
    let value = optional(cx, args, 1, old)?;
    place.put(cx, value)
}

pub(super) fn delete_at<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let keys = optional(cx, args, 0, input)?;
    Place::computed(cx, input, keys, written_path(args, 1))?.remove(cx, input)
}

pub(super) fn omit<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let Some(array) = input.as_array() else {
        expect_object(input)?;
        return omit_paths(cx, input, args);
    };
    let base = cx.mark();
    for at in 0..array.len() {
        let item = array.get(at).unwrap_or(Value::Null);
        eval_item(cx, None, (array, at), |_| expect_object(item))?;
        let rest = omit_paths(cx, item, args)?;
        cx.push(rest)?;
    }
    cx.collect_list(base)
}

/// Removes what is at some paths, which are those of the value before any removal.
fn omit_paths<'a>(cx: &mut EvalContext<'a>, root: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let mut paths = Vec::with_capacity(args.len());
    for at in 0..args.len() {
        let path = written_path(args, at);
        let place = Place::written(cx, root, path, Missing::Reported)?;
        match path {
            _ if args.len() == 1 => return place.remove(cx, root),
            Some(path) if place.value.is_some() => paths.push(path),
            _ => {}
        }
    }
    // Later items and inner values first: no other path then leads to another value.
    let keys = |path: &'a Path| path.keys.iter().map(|key| (key.index, &*key.name));
    paths.sort_by(|a, b| keys(b).cmp(keys(a)));
    paths.dedup_by(|a, b| keys(a).eq(keys(b)));
    let mut rest = root;
    for path in paths {
        rest = Place::written(cx, rest, Some(path), Missing::Created)?.remove(cx, rest)?;
    }
    Ok(rest)
}

/// Returns the path that is an argument; for a computed one, the argument that the compiler adds if its keys are
/// constants.
fn written_path(args: &[Plan], at: usize) -> Option<&Path> {
    if let Some(Plan::Get(path)) = args.get(at) { Some(path) } else { None }
}

/// Treatment of a key that is missing.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Missing {
    Created,
    /// It counts as one that was read, so that there is a warning if no value has it.
    Reported,
}

/// A place in a value. On the heap and with functions that are not inlined, so that nested calls fit on a small stack.
struct Place<'a> {
    keys: Vec<PathKey<'a>>,
    /// The containers on the way to the place, one for each key; those that are missing are undefined.
    holders: Vec<Value<'a>>,
    /// The value at the place, if there is one.
    value: Option<Value<'a>>,
}

impl<'a> Place<'a> {
    /// Returns the place of a path as written.
    #[inline(never)]
    fn written(
        cx: &mut EvalContext<'a>,
        root: Value<'a>,
        path: Option<&'a Path>,
        missing: Missing,
    ) -> Result<Box<Place<'a>>> {
        let keys = path.map(path_key::from_literal).unwrap_or_default();
        Place::new(cx, root, keys, path.filter(|_| missing == Missing::Reported))
    }

    /// Returns the place of a computed path. `written` has the same keys, if they are constants.
    #[inline(never)]
    fn computed(
        cx: &mut EvalContext<'a>,
        root: Value<'a>,
        keys: Value<'a>,
        written: Option<&'a Path>,
    ) -> Result<Box<Place<'a>>> {
        let keys = path_key::from_value(cx, keys)?;
        Place::new(cx, root, keys, written)
    }

    /// An array in place of an object is an error, so that no change is lost silently. The lookups of a reported path are
    /// recorded.
    fn new(
        cx: &mut EvalContext<'a>,
        root: Value<'a>,
        keys: Vec<PathKey<'a>>,
        reported: Option<&'a Path>,
    ) -> Result<Box<Place<'a>>> {
        let mut holders = Vec::with_capacity(keys.len());
        let mut value = Some(root);
        for (at, key) in keys.iter().enumerate() {
            cx.charge(1)?;
            if let (Some(array @ Value::Array(_)), None) = (value, key.index) {
                return Err(not_in_array(array, key));
            }
            holders.push(value.unwrap_or(Value::Undefined));
            let part = value.and_then(|holder| child(holder, key));
            if let (Some(path), Some(Value::Array(_) | Value::Object(_))) = (reported, value) {
                cx.record_lookup(path, at, part.is_some());
            }
            value = part;
        }
        Ok(Box::new(Place { keys, holders, value }))
    }

    /// Returns the whole value with another value at the place.
    #[inline(never)]
    fn put(&self, cx: &mut EvalContext<'a>, value: Value<'a>) -> Result<Value<'a>> {
        rebuild(cx, &self.holders, &self.keys, if let Value::Undefined = value { Value::Null } else { value })
    }

    /// Returns the whole value without the place.
    #[inline(never)]
    fn remove(&self, cx: &mut EvalContext<'a>, root: Value<'a>) -> Result<Value<'a>> {
        let Some((last, outer)) = self.keys.split_last() else {
            return Err(invalid("Path with at least one key expected", Value::Array(Array::EMPTY)));
        };
        if self.value.is_none() {
            return Ok(root);
        }
        let changed = without(cx, self.holders[outer.len()], last)?;
        rebuild(cx, &self.holders[..outer.len()], outer, changed)
    }
}

/// Rebuilds the containers along a path, from the last one up.
fn rebuild<'a>(
    cx: &mut EvalContext<'a>,
    holders: &[Value<'a>],
    keys: &[PathKey<'a>],
    value: Value<'a>,
) -> Result<Value<'a>> {
    let mut changed = value;
    for (holder, key) in holders.iter().zip(keys).rev() {
        changed = with_child(cx, *holder, key, changed)?;
    }
    Ok(changed)
}

/// Returns a container with another value for a key; a missing one is created.
fn with_child<'a>(
    cx: &mut EvalContext<'a>,
    holder: Value<'a>,
    key: &PathKey<'a>,
    value: Value<'a>,
) -> Result<Value<'a>> {
    match holder {
        Value::Object(object) => with_field(cx, object, key.name, value),
        Value::Array(array) => with_item(cx, array, key, value),
        Value::Null | Value::Undefined if key.is_number => with_item(cx, Array::EMPTY, key, value),
        Value::Null | Value::Undefined => {
            let keys = cx.intern_keys(&[key.name])?;
            cx.object_from_values(keys, &[value])
        }
        scalar => {
            let message = format!("Object or array expected to set `{}`, not {}", key.name, scalar.type_name());
            Err(invalid(message, scalar).with_help("only objects and arrays have parts"))
        }
    }
}

fn with_field<'a>(cx: &mut EvalContext<'a>, object: Object<'a>, name: &'a str, value: Value<'a>) -> Result<Value<'a>> {
    cx.charge(object.len() as u64)?;
    let keys = cx.object_keys(object)?;
    let base = cx.mark();
    if let Some(slot) = keys.slot(name) {
        for (at, old) in object.values().enumerate() {
            cx.push(if at == slot { value } else { old })?;
        }
        return cx.collect_object(keys, base);
    }
    let mut builder = ObjectBuilder::new(cx);
    for (name, value) in object.iter() {
        builder.insert(cx, name, value)?;
    }
    builder.insert(cx, name, value)?;
    builder.into_object(cx)
}

fn with_item<'a>(cx: &mut EvalContext<'a>, array: Array<'a>, key: &PathKey<'_>, value: Value<'a>) -> Result<Value<'a>> {
    let position = match key.position(array.len()) {
        Some(position) if position <= array.len() => position,
        _ => return Err(out_of_range(array, key)),
    };
    let base = cx.mark();
    collect(cx, array.iter())?;
    match cx.collected(base).get_mut(position) {
        Some(item) => *item = value,
        None => cx.push(value)?,
    }
    cx.collect_list(base)
}

/// Returns a container without a key that it has.
fn without<'a>(cx: &mut EvalContext<'a>, holder: Value<'a>, key: &PathKey<'_>) -> Result<Value<'a>> {
    let base = cx.mark();
    match Container::from_value(holder) {
        Some(Container::Array(array)) => {
            let position = key.position(array.len());
            let kept = array.iter().enumerate().filter(|(at, _)| Some(*at) != position);
            collect(cx, kept.map(|(_, item)| item))?;
            cx.collect_list(base)
        }
        Some(Container::Object(object)) => {
            let kept = object.iter().filter(|(name, _)| *name != key.name);
            collect(cx, kept.clone().map(|(_, value)| value))?;
            let names: Vec<&'a str> = kept.map(|(name, _)| name).collect();
            let keys = cx.intern_keys(&names)?;
            cx.collect_object(keys, base)
        }
        None => Ok(holder),
    }
}

fn not_in_array(array: Value<'_>, key: &PathKey<'_>) -> Error {
    let error = invalid(format!("Object expected for the key `{}`, not array", key.name), array);
    error.with_help("to change every object of an array, use `map(...)`, as in `update(.items, map(...))`")
}

fn out_of_range(array: Array<'_>, key: &PathKey<'_>) -> Error {
    let message = format!("The index {} is outside of an array of {} items", key.name, array.len());
    invalid(message, Value::Array(array)).with_help(format!("the index {} appends an item", array.len()))
}

//! Structural functions: properties, objects, array literals, pipes; keys and values of objects.

use crate::error::{Code, Error, Result};
use crate::eval::EvalContext;
use crate::eval::build::{Entries, ObjectBuilder};
use crate::eval::call_stats::Strategy;
use crate::eval::plan::function::{Body, Function, Param};
use crate::eval::plan::{Fields, Path, Plan};
use crate::value::write::describe;
use crate::value::{Array, Keys, Object, Value};

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "array",
        params: &[Param::query("item").many()],
        summary: "An array of values. Usually written `[a, b]`.",
        example: "[1, 1 + 1] => [1,2]",
        body: Body::SpecialForm,
    },
    Function {
        name: "get",
        params: &[Param::constant("key").many()],
        summary: "The value at a path, or null if there is none; without keys, the current value. Usually written `.a.b`.",
        example: "{a: {b: 3}} | .a.b => 3",
        body: Body::SpecialForm,
    },
    Function {
        name: "keys",
        params: &[],
        summary: "The keys of an object, or the indexes of an array.",
        example: r#"{a: 1, b: 2} | keys() => ["a","b"]"#,
        body: Body::Piped(keys),
    },
    Function {
        name: "mapKeys",
        params: &[Param::query("key")],
        summary: "The object with each key replaced; if two new keys are equal, the last value wins.",
        example: r#"{a: 1} | mapKeys("x" + get()) => {"xa":1}"#,
        body: Body::Piped(map_keys),
    },
    Function {
        name: "mapObject",
        params: &[Param::query("entry")],
        summary: "The object with each entry `{key, value}` replaced by another.",
        example: r#"{a: 1} | mapObject({key: .key, value: .value + 1}) => {"a":2}"#,
        body: Body::Piped(map_object),
    },
    Function {
        name: "mapValues",
        params: &[Param::query("value")],
        summary: "The object with each value replaced.",
        example: r#"{a: 1, b: 2} | mapValues(get() * 10) => {"a":10,"b":20}"#,
        body: Body::Piped(map_values),
    },
    Function {
        name: "object",
        params: &[Param::query("entries")],
        summary: "An object. Usually written `{key: query}`.",
        example: r#"{sum: 1 + 2} => {"sum":3}"#,
        body: Body::SpecialForm,
    },
    Function {
        name: "pick",
        params: &[Param::path("path").many()],
        summary: "The given properties of an object, or of every object of an array; of paths with the same last name, the last one.",
        example: r#"[{a: 1, b: {c: 2}}] | pick(.a, .b.c) => [{"a":1,"c":2}]"#,
        body: Body::Piped(pick),
    },
    Function {
        name: "pipe",
        params: &[Param::query("stage").many()],
        summary: "Each stage applied to the result of the one before. Usually written `a | b`.",
        example: "[1, 2] | size() => 2",
        body: Body::SpecialForm,
    },
    Function {
        name: "values",
        params: &[],
        summary: "The values of an object, or the items of an array.",
        example: "{a: 1, b: 2} | values() => [1,2]",
        body: Body::Piped(values),
    },
];

pub(crate) const BINDINGS: &[Function] = &[Function {
    name: "let",
    params: &[Param::query("bindings"), Param::query("body")],
    summary: "The result of `body`, in which `$name` is the value of a binding. Later bindings can use earlier ones.",
    example: "let({a: 2, b: $a * 3}, $a + $b) => 8",
    body: Body::SpecialForm,
}];

/// A value with keys. As in JavaScript, arrays and strings have keys, and numbers have none.
#[derive(Clone, Copy)]
enum Keyed<'a> {
    Object(Object<'a>),
    Array(Array<'a>),
    None,
}

impl<'a> Keyed<'a> {
    fn from_value(cx: &mut EvalContext<'a>, value: Value<'a>) -> Result<Keyed<'a>> {
        match value {
            Value::Object(object) => Ok(Keyed::Object(object)),
            Value::Array(array) => Ok(Keyed::Array(array)),
            Value::String(text) => Ok(cx.units(text)?.as_array().map_or(Keyed::None, Keyed::Array)),
            Value::Number(_) | Value::Bool(_) => Ok(Keyed::None),
            Value::Null | Value::Undefined => Err(object_expected(value)),
        }
    }

    fn len(self) -> usize {
        match self {
            Keyed::Object(object) => object.len(),
            Keyed::Array(array) => array.len(),
            Keyed::None => 0,
        }
    }

    fn entry(self, cx: &mut EvalContext<'a>, at: usize) -> Result<(&'a str, Value<'a>)> {
        cx.charge(1)?;
        match self {
            Keyed::Object(object) => Ok((cx.object_keys(object)?.names[at], object.value(at))),
            Keyed::Array(array) => {
                let name = cx.build_text(|out| std::fmt::Write::write_fmt(out, format_args!("{at}")))?;
                Ok((name, array.get(at).unwrap_or(Value::Undefined)))
            }
            Keyed::None => Ok(("", Value::Undefined)),
        }
    }

    /// Returns `{key, value}`.
    fn pair(self, cx: &mut EvalContext<'a>, keys: &'a Keys<'a>, at: usize) -> Result<Value<'a>> {
        let (name, value) = self.entry(cx, at)?;
        cx.pair_object(keys, Value::String(name), value)
    }
}

impl<'a> EvalContext<'a> {
    /// Returns the UTF-16 units of a string, as strings; halves of a surrogate pair become U+FFFD.
    pub(crate) fn units(&mut self, text: &'a str) -> Result<Value<'a>> {
        let base = self.mark();
        for (at, c) in text.char_indices() {
            self.charge(1)?;
            let halves = c.len_utf16() == 2;
            let unit = if halves { "\u{FFFD}" } else { &text[at..at + c.len_utf8()] };
            for _ in 0..c.len_utf16() {
                self.push(Value::String(unit))?;
            }
        }
        self.collect_list(base)
    }
}

fn object_expected(value: Value<'_>) -> Error {
    let error = Error::new(Code::ObjectExpected, format!("Object expected, not {}", value.type_name()));
    error.with_label(format!("got {}", describe(value)))
}

fn keys<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    if let Value::Object(object) = input {
        let names = cx.key_list(object)?;
        cx.charge(names.len() as u64)?;
        return cx.list_from_slice(names);
    }
    let keyed = Keyed::from_value(cx, input)?;
    let base = cx.mark();
    for at in 0..keyed.len() {
        let (name, _) = keyed.entry(cx, at)?;
        cx.push(Value::String(name))?;
    }
    cx.collect_list(base)
}

fn values<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    if let Value::Object(object) = input {
        return cx.value_list(object);
    }
    match Keyed::from_value(cx, input)? {
        Keyed::Array(array) => Ok(Value::Array(array)),
        Keyed::Object(object) => cx.value_list(object),
        Keyed::None => cx.list_from_slice(&[]),
    }
}

/// Returns the value of an optional argument.
#[inline]
fn optional<'a>(cx: &mut EvalContext<'a>, args: &'a [Plan], input: Value<'a>) -> Result<Value<'a>> {
    match args {
        [] => Ok(Value::Undefined),
        [arg, ..] => cx.eval(arg, input),
    }
}

fn map_keys<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    match Keyed::from_value(cx, input)? {
        Keyed::Object(object) => rename_object(cx, object, args),
        keyed => rename_items(cx, keyed, args),
    }
}

/// Hot: the keys and values of an object are contiguous.
fn rename_object<'a>(cx: &mut EvalContext<'a>, object: Object<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let names = cx.object_keys(object)?.names;
    let mut builder = ObjectBuilder::new(cx);
    for (name, value) in names.iter().zip(object.values()) {
        cx.charge(1)?;
        insert_renamed(cx, args, name, value, &mut builder)?;
    }
    builder.into_object(cx)
}

fn rename_items<'a>(cx: &mut EvalContext<'a>, keyed: Keyed<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let mut builder = ObjectBuilder::new(cx);
    for at in 0..keyed.len() {
        let (name, value) = keyed.entry(cx, at)?;
        insert_renamed(cx, args, name, value, &mut builder)?;
    }
    builder.into_object(cx)
}

fn insert_renamed<'a>(
    cx: &mut EvalContext<'a>,
    args: &'a [Plan],
    name: &'a str,
    value: Value<'a>,
    builder: &mut ObjectBuilder<'a>,
) -> Result<()> {
    let key = match args {
        [] => Ok(Value::Undefined),
        [key, ..] => cx.eval(key, Value::String(name)),
    };
    insert_with_key(cx, key, value, builder)
}

/// Not inlined, like [`insert_result`]: locals that live during evaluation add to the stack.
fn insert_with_key<'a>(
    cx: &mut EvalContext<'a>,
    key: Result<Value<'a>>,
    value: Value<'a>,
    builder: &mut ObjectBuilder<'a>,
) -> Result<()> {
    let key = cx.convert_to_text(key?)?;
    builder.insert(cx, key, value)
}

fn map_values<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    match Keyed::from_value(cx, input)? {
        Keyed::Object(object) => map_object_values(cx, object, args),
        keyed => map_keyed_values(cx, keyed, args),
    }
}

/// Hot: the keys do not change.
fn map_object_values<'a>(cx: &mut EvalContext<'a>, object: Object<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let base = cx.mark();
    for value in object.values() {
        cx.charge(1)?;
        let value = optional(cx, args, value)?;
        cx.push(value)?;
    }
    let keys = cx.object_keys(object)?;
    cx.collect_object(keys, base)
}

fn map_keyed_values<'a>(cx: &mut EvalContext<'a>, keyed: Keyed<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    // Memory of the keys and their lookup table, until the object is built.
    let reserved = keyed.len() * (size_of::<&str>() + 2 * size_of::<u32>());
    cx.reserve(reserved)?;
    let base = cx.mark();
    let mut names = Vec::with_capacity(keyed.len());
    for at in 0..keyed.len() {
        let (name, value) = keyed.entry(cx, at)?;
        names.push(name);
        let value = optional(cx, args, value)?;
        cx.push(value)?;
    }
    let keys = cx.intern_keys(&names)?;
    cx.release(reserved);
    cx.collect_object(keys, base)
}

fn map_object<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let keyed = Keyed::from_value(cx, input)?;
    let pair = cx.intern_keys(&["key", "value"])?;
    let mut builder = ObjectBuilder::new(cx);
    for at in 0..keyed.len() {
        let entry = keyed.pair(cx, pair, at)?;
        insert_mapped(cx, args, entry, &mut builder)?;
    }
    builder.into_object(cx)
}

fn insert_mapped<'a>(
    cx: &mut EvalContext<'a>,
    args: &'a [Plan],
    entry: Value<'a>,
    builder: &mut ObjectBuilder<'a>,
) -> Result<()> {
    let result = match args {
        [] => Ok(Value::Undefined),
        [Plan::Object(fields), ..] => return insert_literal(cx, fields, entry, builder),
        [plan, ..] => cx.eval(plan, entry),
    };
    insert_result(cx, result, builder)
}

fn insert_result<'a>(
    cx: &mut EvalContext<'a>,
    result: Result<Value<'a>>,
    builder: &mut ObjectBuilder<'a>,
) -> Result<()> {
    let (key, value) = entry_parts(cx, result?)?;
    builder.insert(cx, key, value)
}

/// Adds the key and value of `{key: ..., value: ...}` without building the object.
fn insert_literal<'a>(
    cx: &mut EvalContext<'a>,
    fields: &'a Fields,
    entry: Value<'a>,
    builder: &mut ObjectBuilder<'a>,
) -> Result<()> {
    cx.charge(1)?;
    let (mut key, mut value) = (Value::Undefined, Value::Undefined);
    for (name, plan) in fields.names.iter().zip(&fields.values) {
        let part = cx.eval(plan, entry)?;
        match &**name {
            "key" => key = part,
            "value" => value = part,
            _ => {}
        }
    }
    insert_with_key(cx, Ok(key), value, builder)
}

fn entry_parts<'a>(cx: &mut EvalContext<'a>, entry: Value<'a>) -> Result<(&'a str, Value<'a>)> {
    if entry.is_null() {
        let error = Error::new(Code::EntryExpected, "Entry `{key, value}` expected, not null");
        return Err(error.with_help("return `{key: ..., value: ...}`"));
    }
    let part = |name| entry.as_object().and_then(|object| object.get(name)).unwrap_or(Value::Undefined);
    Ok((cx.convert_to_text(part("key"))?, part("value")))
}

fn pick<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let paths: Vec<&'a Path> =
        args.iter().filter_map(|arg| if let Plan::Get(path) = arg { Some(path) } else { None }).collect();
    let picks = Picks::new(cx, &paths)?;
    let Some(array) = input.as_array() else { return picks.pick_from(cx, input) };
    if let Some(view) = cx.view(array)
        && let Some(table) = cx.try_vectorized(|cx| cx.table(view, picks.keys, &picks.paths, 0))
    {
        cx.set_strategy(Strategy::Table);
        return Ok(table);
    }
    let base = cx.mark();
    for item in array.iter() {
        let picked = picks.pick_from(cx, item)?;
        cx.push(picked)?;
    }
    cx.set_strategy(Strategy::Scan);
    cx.collect_list(base)
}

/// Paths of `pick` and their keys. Of two paths with the same key, the last value counts, at the first position.
struct Picks<'a> {
    keys: &'a Keys<'a>,
    paths: Vec<&'a Path>,
}

impl<'a> Picks<'a> {
    fn new(cx: &mut EvalContext<'a>, paths: &[&'a Path]) -> Result<Picks<'a>> {
        let mut entries = Entries::new();
        for path in paths {
            let name = path.keys.last().map_or("undefined", |key| &key.name);
            *entries.entry(cx, name, || *path)? = *path;
        }
        let (names, paths) = entries.into_js_order(cx);
        Ok(Picks { keys: cx.intern_keys(&names)?, paths })
    }

    fn pick_from(&self, cx: &mut EvalContext<'a>, item: Value<'a>) -> Result<Value<'a>> {
        let base = cx.mark();
        for path in &self.paths {
            let value = cx.get(path, item)?;
            cx.push(value)?;
        }
        cx.collect_object(self.keys, base)
    }
}

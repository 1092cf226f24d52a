//! Array functions: filtering, mapping, sorting, grouping.

use super::sorting::{self, ChunkedSort};
use crate::arena::{Arena, Cell};
use crate::error::{Code, Error, Result};
use crate::eval::EvalContext;
use crate::eval::build::Entries;
use crate::eval::call_stats::Strategy;
use crate::eval::column_view::ColumnView;
use crate::eval::plan::Plan;
use crate::eval::plan::function::{Body, Function, Param};
use crate::eval::plan::fusion;
use crate::functions::dedup::DedupSet;
use crate::value::compare::{self, SortKey};
use crate::value::write::describe;
use crate::value::{Array, Items, Value, convert};

pub(crate) const FUNCTIONS: &[Function] = &[
    Function {
        name: "filter",
        params: &[Param::query("condition")],
        summary: "The items for which a condition holds.",
        example: "[1, 2, 3] | filter(get() > 1) => [2,3]",
        body: Body::Piped(filter),
    },
    Function {
        name: "flatten",
        params: &[],
        summary: "The array with its nested arrays replaced by their items, one level deep.",
        example: "[1, [2, [3]]] | flatten() => [1,2,[3]]",
        body: Body::Piped(flatten),
    },
    Function {
        name: "groupBy",
        params: &[Param::query("key")],
        summary: "An object of arrays: for each value of a key, the items that have it.",
        example: r#"[{a: "x"}, {a: "y"}, {a: "x"}] | groupBy(.a) | mapValues(size()) => {"x":2,"y":1}"#,
        body: Body::Piped(group_by),
    },
    Function {
        name: "keyBy",
        params: &[Param::query("key")],
        summary: "An object of items: for each value of a key, the first item that has it.",
        example: r#"[{a: "x", b: 1}] | keyBy(.a) => {"x":{"a":"x","b":1}}"#,
        body: Body::Piped(key_by),
    },
    Function {
        name: "limit",
        params: &[Param::constant("count")],
        summary: "The first `count` items.",
        example: "[1, 2, 3] | limit(2) => [1,2]",
        body: Body::Piped(limit),
    },
    Function {
        name: "map",
        params: &[Param::query("value")],
        summary: "The array with each item replaced by a value.",
        example: "[1, 2] | map(get() * 10) => [10,20]",
        body: Body::Piped(map),
    },
    Function {
        name: "reverse",
        params: &[],
        summary: "The items from last to first.",
        example: "[1, 2] | reverse() => [2,1]",
        body: Body::Piped(reverse),
    },
    Function {
        name: "size",
        params: &[],
        summary: "The number of items of an array, or of UTF-16 code units of a string.",
        example: "[7, 8] | size() => 2",
        body: Body::Piped(size),
    },
    Function {
        name: "sort",
        params: &[Param::query("key").optional(), Param::constant("direction").optional()],
        summary: r#"The items sorted by a key: booleans, then numbers, strings, and the rest in its order; "desc" sorts descending. Stable."#,
        example: r#"[1, 3, 2] | sort(get(), "desc") => [3,2,1]"#,
        body: Body::Piped(sort),
    },
    Function {
        name: "uniq",
        params: &[],
        summary: "The items without duplicates; of equal items, the first is kept.",
        example: "[1, 2, 1] | uniq() => [1,2]",
        body: Body::Piped(uniq),
    },
    Function {
        name: "uniqBy",
        params: &[Param::query("key")],
        summary: "For each value of a key, the first item that has it, in the order of `keyBy`.",
        example: r#"[{a: 1, b: 1}, {a: 1, b: 2}] | uniqBy(.a) => [{"a":1,"b":1}]"#,
        body: Body::Piped(uniq_by),
    },
];

/// Returns the array that a function operates on.
pub(super) fn list(input: Value<'_>) -> Result<Array<'_>> {
    input.as_array().ok_or_else(|| array_expected(input))
}

const ITEMS_OF_OBJECT: &str =
    "the values of an object are `values()`; with their keys, `entries()`; `pickBy()` keeps some";

/// Returns the error for an input that is not an array.
pub(super) fn array_expected(input: Value<'_>) -> Error {
    let error = Error::new(Code::ArrayExpected, "Array expected").with_label(format!("got {}", describe(input)));
    match input {
        Value::Object(_) => error.with_help(ITEMS_OF_OBJECT),
        Value::Null | Value::Undefined => error.with_help("check the path before it: a missing property is null"),
        _ => error,
    }
}

/// Returns the value of an optional argument.
#[inline]
pub(super) fn optional<'a>(
    cx: &mut EvalContext<'a>,
    args: &'a [Plan],
    at: usize,
    input: Value<'a>,
) -> Result<Value<'a>> {
    match args.get(at) {
        Some(arg) => cx.eval(arg, input),
        None => Ok(Value::Undefined),
    }
}

/// Adds the path of the failing item to an error.
pub(super) fn at_item<'a>(result: Result<Value<'a>>, array: Array<'a>, at: usize) -> Result<Value<'a>> {
    result.map_err(|error| match array.get(at).and_then(Value::container) {
        Some((arena, id)) if error.data_path().is_none() => error.with_data_path(arena.path_of(id)),
        _ => error,
    })
}

pub(super) fn filter<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let item_limit = cx.take_item_limit();
    let array = list(input)?;
    let Some(condition) = args.first() else { return Ok(input) };
    if let Some(item_limit) = item_limit
        && let Some(found) = first_matches(cx, array, condition, item_limit)?
    {
        return Ok(found);
    }
    if let Some(view) = cx.view(array)
        && let Some(matching) = cx.try_vectorized(|cx| cx.filter_vectorized(view, condition))
    {
        return Ok(matching);
    }
    let mut positions: Vec<u32> = Vec::new();
    for (at, item) in array.iter().enumerate() {
        cx.charge(1)?;
        if at_item(cx.eval(condition, item), array, at)?.is_truthy() {
            positions.push(at as u32);
        }
    }
    cx.set_strategy(Strategy::Scan);
    select(cx, array, &positions)
}

/// Returns the first `count` matches, if they are among the first items and none of the skipped items could have
/// failed.
fn first_matches<'a>(
    cx: &mut EvalContext<'a>,
    array: Array<'a>,
    condition: &'a Plan,
    count: usize,
) -> Result<Option<Value<'a>>> {
    if !fusion::cannot_fail(condition) {
        return Ok(None);
    }
    let found = cx.try_vectorized(|cx| {
        let mut positions: Vec<u32> = Vec::new();
        for (at, item) in array.iter().take(fusion::PROBE_SIZE).enumerate() {
            if positions.len() == count {
                break;
            }
            cx.charge(1)?;
            if cx.eval(condition, item)?.is_truthy() {
                positions.push(at as u32);
            }
        }
        Ok((positions.len() == count).then_some(positions))
    });
    cx.set_strategy(if found.is_some() { Strategy::Top } else { Strategy::Plain });
    let Some(positions) = found else { return Ok(None) };
    if positions.last().is_some_and(|last| (*last as usize) + 1 < array.len()) {
        cx.mark_items_skipped();
    }
    select(cx, array, &positions).map(Some)
}

fn map<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    if let (Some(view), Some(value)) = (cx.view(array), args.first())
        && let Some(mapped) = cx.try_vectorized(|cx| cx.map_vectorized(view, value))
    {
        return Ok(mapped);
    }
    let mapped = cx.map_each(array, args.first());
    cx.set_strategy(Strategy::Scan);
    mapped
}

fn flatten<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    if let Some((arena, cells)) = array.cells()
        && cx.allows_fast_path(arena)
    {
        return flatten_cells(cx, arena, cells);
    }
    let base = cx.mark();
    for item in array.iter() {
        cx.charge(1)?;
        match item {
            Value::Array(inner) => collect(cx, inner.iter())?,
            other => cx.push(other)?,
        }
    }
    cx.collect_list(base)
}

/// Flattens an array of values of the document.
fn flatten_cells<'a>(cx: &mut EvalContext<'a>, arena: &'a Arena, cells: &'a [Cell]) -> Result<Value<'a>> {
    let (mut count, mut items) = (0, 0);
    for cell in cells {
        let len = cell.array_id().map(|id| arena.items(id).len());
        count += len.unwrap_or(1);
        items += len.unwrap_or(0);
    }
    cx.charge((cells.len() + items) as u64)?;
    let flat = cx.cell_buffer(count)?;
    let mut rest = &mut *flat;
    for cell in cells {
        let items = cell.array_id().map_or(std::slice::from_ref(cell), |id| arena.items(id));
        let (next, after) = rest.split_at_mut(items.len());
        next.copy_from_slice(items);
        rest = after;
    }
    cx.cell_list(flat)
}

pub(super) fn collect<'a>(cx: &mut EvalContext<'a>, values: impl Iterator<Item = Value<'a>>) -> Result<()> {
    for value in values {
        cx.charge(1)?;
        cx.push(value)?;
    }
    Ok(())
}

/// Positions in descending order down to 0: the end of it is the order of a stored list that is reversed.
static DESCENDING: [u32; 4096] = {
    let mut rows = [0; 4096];
    let mut at = 0;
    while at < rows.len() {
        rows[at] = (rows.len() - 1 - at) as u32;
        at += 1;
    }
    rows
};

fn reverse<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let array = list(input)?;
    let count = array.len();
    cx.charge(count as u64)?;
    match array.0 {
        Items::Stored(arena, base) if count <= DESCENDING.len() => {
            cx.select_scratch_rows(arena, base, &DESCENDING[DESCENDING.len() - count..])
        }
        Items::Stored(arena, base) => {
            // In 32 bits: the loop handles twice as many rows per instruction.
            let last = (count as u32).saturating_sub(1);
            cx.select_rows_by(arena, base, count, |at| last - at as u32)
        }
        Items::Rows(rows) => cx.select_rows_by(rows.arena, rows.base, count, |at| rows.rows[count - 1 - at]),
        Items::Slice { arena, base, first, len } => {
            let last = first + len.saturating_sub(1);
            cx.select_rows_by(arena, base, count, |at| last - at as u32)
        }
        _ => cx.list_from_fn(count, |at| array.get(count - 1 - at).unwrap_or(Value::Undefined)),
    }
}

fn size<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    match input {
        Value::Array(array) => Ok(Value::number(array.len() as f64)),
        Value::String(text) => {
            cx.charge_bytes(text.len())?;
            Ok(Value::number(convert::utf16_len(text) as f64))
        }
        Value::Null | Value::Undefined => Err(array_expected(input)),
        Value::Object(object) => Ok(object.get("length").unwrap_or(Value::Undefined)),
        _ => Ok(Value::Undefined),
    }
}

fn limit<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let count = match optional(cx, args, 0, input)? {
        Value::Number(count) => count.value(),
        other => convert::to_number(other),
    };
    let count = count.max(0.0) as usize;
    let array = match input {
        Value::Array(array) => array,
        Value::String(text) => return cx.build_text(|out| write_units(out, text, count)).map(Value::String),
        _ => return Err(array_expected(input)),
    };
    if count >= array.len() { Ok(input) } else { cx.slice_list(array, 0, count) }
}

fn write_units(out: &mut impl std::fmt::Write, text: &str, count: usize) -> std::fmt::Result {
    write!(out, "{}", convert::utf16_slice(text, 0, count))
}

fn sort<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let item_limit = cx.take_item_limit();
    let array = list(input)?;
    let descends = matches!(optional(cx, args, 1, input)?, Value::String("desc"));
    // Without a comparison, keys are not evaluated, so a failing key is no error.
    if array.len() < 2 {
        return Ok(input);
    }
    if let (Some(view), Some(Plan::Get(path))) = (cx.view(array), args.first())
        && let Some(sorted) = cx.try_vectorized(|cx| cx.sort_vectorized(view, path, descends))
    {
        cx.set_strategy(Strategy::Order);
        return Ok(sorted);
    }
    let base = cx.mark();
    for (at, item) in array.iter().enumerate() {
        cx.charge(1)?;
        let key = match args.first() {
            Some(key) => at_item(cx.eval(key, item), array, at)?,
            None => item,
        };
        cx.push(key)?;
    }
    let positions = sorted_positions(cx, base, descends, item_limit.unwrap_or(array.len()))?;
    cx.set_strategy(if item_limit.is_some() { Strategy::Top } else { Strategy::Scan });
    select(cx, array, &positions)
}

/// Removes the values collected since a mark and returns the first positions in the stable order of those values.
///
/// Charges for the comparisons in advance.
pub(super) fn sorted_positions(
    cx: &mut EvalContext<'_>,
    base: usize,
    descends: bool,
    limit: usize,
) -> Result<Vec<u32>> {
    let count = cx.collected(base).len();
    let max_len = cx.collected(base).iter().map(|key| key.as_str().map_or(0, str::len)).max().unwrap_or(0);
    cx.charge_sort(count, max_len)?;
    let is_chunked = sorting::needs_chunks(count, max_len);
    let bytes = count * (size_of::<(SortKey, u32)>() * (1 + usize::from(is_chunked)) + size_of::<u32>());
    cx.reserve(bytes)?;
    let limits = *cx.limits();
    let keys = cx.collected(base);
    let mut order: Vec<(SortKey, u32)> =
        keys.iter().zip(0..).map(|(key, position)| (SortKey::new(*key), position)).collect();
    let full_order = |a: u32, b: u32| compare::sort_order(keys[a as usize], keys[b as usize]);
    let ascending = |a: &(SortKey, u32), b: &(SortKey, u32)| a.0.cmp(&b.0).then_with(|| full_order(a.1, b.1));
    let sorted = |a: &(SortKey, u32), b: &(SortKey, u32)| {
        let by_value = if descends { ascending(b, a) } else { ascending(a, b) };
        by_value.then(a.1.cmp(&b.1))
    };
    match (is_chunked, limit < count) {
        (true, true) => ChunkedSort::new(&limits, max_len, sorted).keep_first(&mut order, limit)?,
        (true, false) => ChunkedSort::new(&limits, max_len, sorted).sort(&mut order)?,
        (false, is_part) => {
            if is_part {
                order.select_nth_unstable_by(limit, sorted);
                order.truncate(limit);
            }
            order.sort_unstable_by(sorted);
        }
    }
    cx.discard_collected(base);
    cx.release(bytes);
    Ok(order.iter().map(|(_, position)| *position).collect())
}

/// Returns the values that JavaScript iterates: the items of an array, the characters of a string.
fn iterable<'a>(cx: &mut EvalContext<'a>, input: Value<'a>) -> Result<Array<'a>> {
    let Value::String(text) = input else { return list(input) };
    let base = cx.mark();
    collect(cx, text.char_indices().map(|(at, c)| Value::String(&text[at..at + c.len_utf8()])))?;
    list(cx.collect_list(base)?)
}

fn group_by<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = iterable(cx, input)?;
    if let Some(grouped) = try_vectorized_arg(cx, array, args, EvalContext::group_vectorized) {
        return Ok(grouped);
    }
    cx.reserve(array.len() * size_of::<u32>())?;
    let (mut groups, mut rounded): (Entries<'a, Vec<u32>>, _) = (Entries::new(), None);
    for at in 0..array.len() {
        cx.charge(1)?;
        let key = key_of(cx, array, args, at, &mut rounded)?;
        groups.entry(cx, key, Vec::new)?.push(at as u32);
    }
    cx.set_strategy(Strategy::Scan);
    let (names, groups) = groups.into_js_order(cx);
    let base = cx.mark();
    for group in &groups {
        let items = select(cx, array, group)?;
        cx.push(items)?;
    }
    cx.release(array.len() * size_of::<u32>());
    let keys = cx.intern_keys(&names)?;
    cx.warn_rounded_key(rounded)?;
    cx.collect_object(keys, base)
}

/// Evaluates the first argument for all items at once, from columns; `None` if the items must be evaluated one by one.
/// Not inlined, since grouping may be nested: see [`EvalContext::eval`].
#[inline(never)]
pub(super) fn try_vectorized_arg<'a, T>(
    cx: &mut EvalContext<'a>,
    array: Array<'a>,
    args: &'a [Plan],
    operation: impl FnOnce(&mut EvalContext<'a>, ColumnView<'a>, &'a Plan) -> Result<Option<T>>,
) -> Option<T> {
    let (view, query) = (cx.view(array)?, args.first()?);
    cx.try_vectorized(|cx| operation(cx, view, query))
}

/// Returns the key of the item at a position, as a string. An integer whose double is another one is noted in `rounded`.
pub(super) fn key_of<'a>(
    cx: &mut EvalContext<'a>,
    array: Array<'a>,
    args: &'a [Plan],
    at: usize,
    rounded: &mut Option<Value<'a>>,
) -> Result<&'a str> {
    let item = array.get(at).unwrap_or(Value::Undefined);
    let key = at_item(optional(cx, args, 0, item), array, at)?;
    if let Value::Number(number) = key
        && compare::is_rounded(number)
    {
        *rounded = Some(key);
    }
    cx.convert_to_text(key)
}

/// Returns the items of an array at some positions.
pub(super) fn select<'a>(cx: &mut EvalContext<'a>, array: Array<'a>, positions: &[u32]) -> Result<Value<'a>> {
    match array.0 {
        Items::Stored(arena, base) => cx.select_rows(arena, base, positions),
        Items::Rows(rows) => {
            let positions: Vec<u32> = positions.iter().map(|at| rows.rows[*at as usize]).collect();
            cx.select_rows(rows.arena, rows.base, &positions)
        }
        Items::Slice { arena, base, first, .. } => {
            let positions: Vec<u32> = positions.iter().map(|at| first + at).collect();
            cx.select_rows(arena, base, &positions)
        }
        Items::Cells(_) | Items::Table(_) | Items::Built(_) | Items::Records(_) | Items::Owned(_) => {
            let base = cx.mark();
            collect(cx, positions.iter().map(|at| array.get(*at as usize).unwrap_or(Value::Undefined)))?;
            cx.collect_list(base)
        }
    }
}

/// Returns the position of the first item of each key.
fn first_positions<'a>(cx: &mut EvalContext<'a>, array: Array<'a>, args: &'a [Plan]) -> Result<Entries<'a, u32>> {
    if let Some(entries) = try_vectorized_arg(cx, array, args, first_positions_vectorized) {
        return Ok(entries);
    }
    let (mut entries, mut rounded) = (Entries::new(), None);
    for at in 0..array.len() {
        cx.charge(1)?;
        let key = key_of(cx, array, args, at, &mut rounded)?;
        entries.entry_index(cx, key, || at as u32)?;
    }
    cx.set_strategy(Strategy::Scan);
    cx.warn_rounded_key(rounded)?;
    Ok(entries)
}

/// Like [`first_positions`], if the key depends on one dictionary-encoded field.
fn first_positions_vectorized<'a>(
    cx: &mut EvalContext<'a>,
    view: ColumnView<'a>,
    key: &'a Plan,
) -> Result<Option<Entries<'a, u32>>> {
    const NONE: u32 = u32::MAX;
    let mut entries: Entries<'a, u32> = Entries::new();
    let Some(coded) = cx.group_by_code(view, key, &mut entries)? else { return Ok(None) };
    entries.values.fill(NONE);
    let mut remaining = entries.values.len();
    for at in 0..view.len() {
        let code = coded.codes[view.row(at) as usize];
        let first = &mut entries.values[coded.groups[code as usize] as usize];
        if *first == NONE {
            *first = at as u32;
            remaining -= 1;
            if remaining == 0 {
                break;
            }
        }
    }
    Ok(Some(entries))
}

fn key_by<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = iterable(cx, input)?;
    if let Some(keyed) = try_vectorized_arg(cx, array, args, EvalContext::key_by_vectorized) {
        cx.set_strategy(Strategy::Index);
        return Ok(keyed);
    }
    let entries = first_positions(cx, array, args)?;
    entries.into_object_by(cx, |position| array.get(*position as usize).unwrap_or(Value::Undefined))
}

fn uniq_by<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, args: &'a [Plan]) -> Result<Value<'a>> {
    let array = iterable(cx, input)?;
    let (_, positions) = first_positions(cx, array, args)?.into_js_order(cx);
    cx.charge(positions.len() as u64)?;
    select(cx, array, &positions)
}

fn uniq<'a>(cx: &mut EvalContext<'a>, input: Value<'a>, _: &'a [Plan]) -> Result<Value<'a>> {
    let array = iterable(cx, input)?;
    let mut seen = DedupSet::default();
    let base = cx.mark();
    match array.cells().filter(|_| cx.is_optimized()) {
        Some((arena, cells)) => uniq_cells(cx, arena, cells, &mut seen)?,
        None => {
            for item in array.iter() {
                cx.charge(1)?;
                seen.insert(cx, item)?;
            }
        }
    }
    seen.release(cx);
    cx.collect_list(base)
}

/// Inserts cells. Cells with the same bits are the same value, so recent cells are skipped without a lookup.
fn uniq_cells<'a>(
    cx: &mut EvalContext<'a>,
    arena: &'a Arena,
    cells: &'a [Cell],
    seen: &mut DedupSet<'a>,
) -> Result<()> {
    const BITS: u32 = 8;
    let mut recent = [None; 1 << BITS];
    for cell in cells {
        cx.charge(1)?;
        let position = (cell.bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - BITS)) as usize;
        if recent[position] == Some(*cell) {
            continue;
        }
        let item = Value::stored(arena, *cell);
        seen.insert(cx, item)?;
        if is_cheap_to_compare(item) {
            recent[position] = Some(*cell);
        }
    }
    Ok(())
}

/// Returns whether comparing an item is cheap. NaN is not equal to itself.
fn is_cheap_to_compare(item: Value<'_>) -> bool {
    match item {
        Value::Undefined | Value::Null | Value::Bool(_) => true,
        Value::Number(number) => !number.value().is_nan(),
        Value::String(text) => text.len() < 64,
        Value::Array(_) | Value::Object(_) => false,
    }
}

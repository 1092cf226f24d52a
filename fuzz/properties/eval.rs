//! Fuzz property of `eval`: for a query in the first line and a document in the rest, results, errors and fuel are the
//! same with and without optimizations.
//!
//! Only long arrays have columns, and inputs of a few thousand bytes rarely contain one. So the query runs on the document
//! and on a lengthened one, whose arrays are filled with copies of their items.

use std::fmt::Write;

use pidq_core::error::{Code, Stage};
use pidq_core::{Array, Graph, Limits, Object, Query, RunResult, Scratch, Value};

/// Number of items of a lengthened array: enough for columns, also after a filter.
const ROWS: usize = 80;
/// Maximum size of a lengthened document.
const MAX_SIZE: usize = 96 << 10;

/// Panics if the property is violated.
pub fn check(input: &str) {
    let Some((text, document)) = input.split_once('\n') else { return };
    let Ok(query) = Query::parse(text) else { return };
    let Ok(graph) = Graph::from_json(document) else { return };
    let lengthened = lengthen_document(graph.root(), CopyVariant::of_query(text));

    let plain = Query::parse(text).expect("valid query").without_optimizations();
    compare(&query, &plain, &graph);
    compare_projection(&query, &graph);
    if let Some(lengthened) = lengthened {
        let graph = Graph::from_json(lengthened).expect("a lengthened document is JSON");
        compare(&query, &plain, &graph);
        compare_projection(&query, &graph);
        // Again with all columns available.
        compare(&query, &plain, &graph);
    }
}

fn compare(query: &Query, plain: &Query, graph: &Graph) {
    let (fast, slow) = (run(query, graph), run(plain, graph));
    let stops_early = stops_early(&query.tree());
    match (&fast, &slow) {
        // The memory of a run depends on the strategy; its fuel does not.
        (Err((code, _)), _) | (_, Err((code, _))) if code.stage() == Stage::Limit => {
            let is_out_of_fuel = |run: &Run| matches!(run, Err((Code::OutOfFuel, _)));
            let is_limit = |run: &Run| run.as_ref().is_err_and(|(code, _)| code.stage() == Stage::Limit);
            assert!(
                stops_early || !is_out_of_fuel(&fast) || is_limit(&slow),
                "only with optimizations: {fast:?} {slow:?}"
            );
            assert!(
                stops_early || !is_out_of_fuel(&slow) || is_limit(&fast),
                "only without optimizations: {fast:?} {slow:?}"
            );
        }
        (Ok((json, fuel)), Ok((plain_json, plain_fuel))) => {
            assert_eq!(json, plain_json, "the results with and without optimizations");
            assert!(fuel <= plain_fuel, "more fuel with optimizations: {fuel} {plain_fuel}");
            assert!(stops_early || fuel == plain_fuel, "less fuel with optimizations: {fuel} {plain_fuel}");
        }
        _ => assert_eq!(fast, slow, "with and without optimizations"),
    }
}

/// Checks that a projected document gives the same result as the complete one.
fn compare_projection(query: &Query, graph: &Graph) {
    let projected = query.load(graph.source()).expect("valid JSON");
    let scratch = Scratch::new();
    assert_eq!(observe(query, projected.run(&scratch, limits())), run(query, graph), "with and without projection");
}

/// Observable outcome of a run: result and fuel, or error. Without warnings: a column includes rows that evaluation
/// item by item may never reach, so warnings about unknown fields may differ.
type Run = Result<(String, u64), (Code, String)>;

fn run(query: &Query, graph: &Graph) -> Run {
    let scratch = Scratch::new();
    observe(query, query.run(graph, &scratch, limits()))
}

fn limits() -> Limits<'static> {
    Limits { fuel: 200_000, memory: 16 << 20, output: 4 << 20, ..Limits::default() }
}

fn observe(query: &Query, run: pidq_core::Result<RunResult<'_>>) -> Run {
    let describe = |error: pidq_core::Error| (error.code(), error.render(query.source()));
    let outcome = run.map_err(describe)?;
    let mut json = Vec::new();
    outcome.write_json(&mut json).map_err(describe)?;
    let json = String::from_utf8(json).expect("results are UTF-8");
    Ok((json, outcome.fuel))
}

/// Returns true if a step may need only the leading items of the previous one. May return true unnecessarily.
fn stops_early(tree: &str) -> bool {
    let has = |names: &[&str]| names.iter().any(|name| tree.contains(&format!("[\"{name}\"")));
    let is_index = |part: &str| part.starts_with(|first: char| first.is_ascii_digit() || first == '"');
    let picks = tree.split("[\"get\",").skip(1).any(is_index);
    has(&["filter", "sort"]) && (picks || has(&["limit", "first"]))
}

/// Differences between the copies of an item.
#[derive(Clone, Copy)]
enum CopyVariant {
    /// No difference: few distinct values, and columns hold one byte per row.
    Same,
    /// Different numbers and strings: columns hold the values.
    Numbered,
    /// Fields from other items.
    Mixed,
    /// Missing fields, and null items.
    Gaps,
    /// One item of another type.
    OtherType,
}

impl CopyVariant {
    const ALL: [CopyVariant; 5] =
        [CopyVariant::Same, CopyVariant::Numbered, CopyVariant::Mixed, CopyVariant::Gaps, CopyVariant::OtherType];

    /// Returns the variant for a query. It depends on every byte, so that mutations of the query reach all variants.
    fn of_query(text: &str) -> CopyVariant {
        let sum: usize = text.bytes().map(usize::from).sum();
        CopyVariant::ALL[sum % CopyVariant::ALL.len()]
    }
}

/// Returns the document with lengthened arrays; `None` if it has no array to lengthen.
fn lengthen_document(root: Value<'_>, variant: CopyVariant) -> Option<String> {
    let mut json = String::new();
    let has_array = lengthen(root, variant, 2, &mut json);
    (has_array && json.len() <= MAX_SIZE).then_some(json)
}

/// Lengthens arrays at the top and in nested objects. Returns true if there was any.
fn lengthen(value: Value<'_>, variant: CopyVariant, levels: usize, json: &mut String) -> bool {
    match value {
        Value::Array(array) if !array.is_empty() => {
            write_array(array, variant, json);
            true
        }
        Value::Object(object) if levels > 0 => {
            let mut has_array = false;
            write_fields(object, json, |value, json| has_array |= lengthen(value, variant, levels - 1, json));
            has_array
        }
        other => {
            write_json(other, json);
            false
        }
    }
}

fn write_array(array: Array<'_>, variant: CopyVariant, json: &mut String) {
    json.push('[');
    for row in 0..array.len().max(ROWS) {
        if row > 0 {
            json.push(',');
        }
        // Stops at the size limit.
        if json.len() > MAX_SIZE {
            json.push('0');
            break;
        }
        write_item(array, row, variant, json);
    }
    json.push(']');
}

fn write_item(array: Array<'_>, row: usize, variant: CopyVariant, json: &mut String) {
    let item = array.get(row % array.len()).unwrap_or(Value::Null);
    match (variant, item) {
        (CopyVariant::Gaps, _) if row % 7 == 3 => json.push_str("null"),
        (CopyVariant::OtherType, _) if row == ROWS / 2 => {
            json.push_str(["3", "[1]", "\"text\"", "true"][array.len() % 4])
        }
        (CopyVariant::Numbered, Value::Object(object)) => {
            write_fields(object, json, |value, json| write_numbered(value, row, json));
        }
        (CopyVariant::Numbered, other) => write_numbered(other, row, json),
        (CopyVariant::Mixed, Value::Object(object)) => write_mixed(array, object, row, json),
        (CopyVariant::Gaps, Value::Object(object)) => {
            let present = object.iter().enumerate().filter(|(at, _)| row % 5 != *at).map(|(_, field)| field);
            write_object(present, json, write_json);
        }
        (_, other) => write_json(other, json),
    }
}

/// Writes a number or a string that differs by row.
fn write_numbered(value: Value<'_>, row: usize, json: &mut String) {
    match value {
        Value::Number(number) if number.value().is_finite() => {
            write!(json, "{}", number.value() + row as f64).expect("writing to a string succeeds");
        }
        Value::String(_) => {
            write_json(value, json);
            json.pop();
            write!(json, "{row}\"").expect("writing to a string succeeds");
        }
        other => write_json(other, json),
    }
}

/// Writes each field from another item, if that has it.
fn write_mixed(array: Array<'_>, object: Object<'_>, row: usize, json: &mut String) {
    let from = |at: usize, key: &str| array.get((row * (at + 2) + row / 3) % array.len())?.as_object()?.get(key);
    let fields = object.iter().enumerate();
    write_object(fields.map(|(at, (key, value))| (key, from(at, key).unwrap_or(value))), json, write_json);
}

fn write_fields(object: Object<'_>, json: &mut String, write: impl FnMut(Value<'_>, &mut String)) {
    write_object(object.iter(), json, write);
}

fn write_object<'a>(
    fields: impl Iterator<Item = (&'a str, Value<'a>)>,
    json: &mut String,
    mut write: impl FnMut(Value<'a>, &mut String),
) {
    json.push('{');
    for (at, (key, value)) in fields.enumerate() {
        if at > 0 {
            json.push(',');
        }
        write_key(key, json);
        json.push(':');
        write(value, json);
    }
    json.push('}');
}

fn write_key(key: &str, json: &mut String) {
    json.push('"');
    for character in key.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            '\0'..='\x1f' => write!(json, "\\u{:04x}", u32::from(character)).expect("writing to a string succeeds"),
            other => json.push(other),
        }
    }
    json.push('"');
}

fn write_json(value: Value<'_>, json: &mut String) {
    let mut sink = |part: &str| {
        json.push_str(part);
        Ok(())
    };
    value.write_json(MAX_SIZE, &mut sink).unwrap_or_default();
}

//! Fuzz property of `eval`: for a query in the first line and a document in the rest, results, errors and fuel are the
//! same with and without optimizations.
//!
//! Columns are used for long lists only, which inputs of a few thousand bytes rarely have. So the query runs on the
//! document and on a longer one, whose lists hold copies of their items.

use std::fmt::Write;

use pidq_core::error::{Code, Stage};
use pidq_core::{Array, Graph, Limits, Object, Query, RunResult, Scratch, Value};

/// Items of a lengthened list: enough for columns, even for a part of them.
const ROWS: usize = 80;
/// Maximum size of a lengthened document.
const LONGEST: usize = 96 << 10;

/// Panics if the property is violated.
pub fn check(input: &str) {
    let Some((text, document)) = input.split_once('\n') else { return };
    let Ok(query) = Query::parse(text) else { return };
    let Ok(graph) = Graph::from_json(document) else { return };
    let longer = lengthened(graph.root(), Copies::chosen_by(text));

    let plain = Query::parse(text).expect("it compiled before").without_optimizations();
    compare(&query, &plain, &graph);
    compare_parts(&query, &graph);
    if let Some(longer) = longer {
        let graph = Graph::from_json(longer).expect("copies of JSON are JSON");
        compare(&query, &plain, &graph);
        compare_parts(&query, &graph);
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
            assert!(stops_early || !is_out_of_fuel(&fast) || is_limit(&slow), "with shortcuts only: {fast:?} {slow:?}");
            assert!(stops_early || !is_out_of_fuel(&slow) || is_limit(&fast), "without them only: {fast:?} {slow:?}");
        }
        (Ok((json, fuel)), Ok((plain_json, plain_fuel))) => {
            assert_eq!(json, plain_json, "the result with and without shortcuts");
            assert!(fuel <= plain_fuel, "more fuel with shortcuts: {fuel} {plain_fuel}");
            assert!(stops_early || fuel == plain_fuel, "less fuel with shortcuts: {fuel} {plain_fuel}");
        }
        _ => assert_eq!(fast, slow, "with and without shortcuts"),
    }
}

/// Checks that a document loaded for the query alone gives the same result as the whole one.
fn compare_parts(query: &Query, graph: &Graph) {
    let reading = query.load(graph.source()).expect("it was read before");
    let scratch = Scratch::new();
    assert_eq!(seen(query, reading.run(&scratch, limits())), run(query, graph), "of its parts and of the whole");
}

/// Observable outcome of a run: result and fuel, or error. Without warnings: a column includes rows that evaluation
/// item by item may never reach, so warnings about unknown fields may differ.
type Run = Result<(String, u64), (Code, String)>;

fn run(query: &Query, graph: &Graph) -> Run {
    let scratch = Scratch::new();
    seen(query, query.run(graph, &scratch, limits()))
}

fn limits() -> Limits<'static> {
    Limits { fuel: 200_000, memory: 16 << 20, output: 4 << 20, ..Limits::default() }
}

fn seen(query: &Query, run: pidq_core::Result<RunResult<'_>>) -> Run {
    let refused = |error: pidq_core::Error| (error.code(), error.render(query.source()));
    let outcome = run.map_err(refused)?;
    let mut json = Vec::new();
    outcome.write_json(&mut json).map_err(refused)?;
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
enum Copies {
    /// No difference: few distinct values, and columns hold one byte per row.
    Same,
    /// Different numbers and strings: columns hold the values.
    Numbered,
    /// Fields from other items.
    Mixed,
    /// Missing fields, and null items.
    Gaps,
    /// One item of another type.
    Odd,
}

impl Copies {
    const ALL: [Copies; 5] = [Copies::Same, Copies::Numbered, Copies::Mixed, Copies::Gaps, Copies::Odd];

    /// Chooses by the query, so that any change of it may choose another.
    fn chosen_by(text: &str) -> Copies {
        let sum: usize = text.bytes().map(usize::from).sum();
        Copies::ALL[sum % Copies::ALL.len()]
    }
}

/// Returns the document with longer lists; `None` if it has no list to lengthen.
fn lengthened(root: Value<'_>, copies: Copies) -> Option<String> {
    let mut json = String::new();
    let has_longer = lengthen(root, copies, 2, &mut json);
    (has_longer && json.len() <= LONGEST).then_some(json)
}

/// Lengthens lists at the top and in nested objects. Returns true if there was any.
fn lengthen(value: Value<'_>, copies: Copies, levels: usize, json: &mut String) -> bool {
    match value {
        Value::Array(list) if !list.is_empty() => {
            write_list(list, copies, json);
            true
        }
        Value::Object(object) if levels > 0 => {
            let mut has_longer = false;
            write_members(object, json, |value, json| has_longer |= lengthen(value, copies, levels - 1, json));
            has_longer
        }
        other => {
            write_json(other, json);
            false
        }
    }
}

fn write_list(list: Array<'_>, copies: Copies, json: &mut String) {
    json.push('[');
    for row in 0..list.len().max(ROWS) {
        if row > 0 {
            json.push(',');
        }
        // Stops at the size limit.
        if json.len() > LONGEST {
            json.push('0');
            break;
        }
        write_item(list, row, copies, json);
    }
    json.push(']');
}

fn write_item(list: Array<'_>, row: usize, copies: Copies, json: &mut String) {
    let item = list.get(row % list.len()).unwrap_or(Value::Null);
    match (copies, item) {
        (Copies::Gaps, _) if row % 7 == 3 => json.push_str("null"),
        (Copies::Odd, _) if row == ROWS / 2 => json.push_str(["3", "[1]", "\"text\"", "true"][list.len() % 4]),
        (Copies::Numbered, Value::Object(object)) => {
            write_members(object, json, |value, json| write_numbered(value, row, json));
        }
        (Copies::Numbered, other) => write_numbered(other, row, json),
        (Copies::Mixed, Value::Object(object)) => write_mixed(list, object, row, json),
        (Copies::Gaps, Value::Object(object)) => {
            let kept = object.iter().enumerate().filter(|(at, _)| row % 5 != *at).map(|(_, member)| member);
            write_object(kept, json, write_json);
        }
        (_, other) => write_json(other, json),
    }
}

/// Writes a number or a string that differs by row.
fn write_numbered(value: Value<'_>, row: usize, json: &mut String) {
    match value {
        Value::Number(number) if number.value().is_finite() => {
            write!(json, "{}", number.value() + row as f64).expect("a text grows");
        }
        Value::String(_) => {
            write_json(value, json);
            json.pop();
            write!(json, "{row}\"").expect("a text grows");
        }
        other => write_json(other, json),
    }
}

/// Writes each field from another item, if that has it.
fn write_mixed(list: Array<'_>, object: Object<'_>, row: usize, json: &mut String) {
    let from = |at: usize, key: &str| list.get((row * (at + 2) + row / 3) % list.len())?.as_object()?.get(key);
    let members = object.iter().enumerate();
    write_object(members.map(|(at, (key, value))| (key, from(at, key).unwrap_or(value))), json, write_json);
}

fn write_members(object: Object<'_>, json: &mut String, write: impl FnMut(Value<'_>, &mut String)) {
    write_object(object.iter(), json, write);
}

fn write_object<'a>(
    members: impl Iterator<Item = (&'a str, Value<'a>)>,
    json: &mut String,
    mut write: impl FnMut(Value<'a>, &mut String),
) {
    json.push('{');
    for (at, (key, value)) in members.enumerate() {
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
            '\0'..='\x1f' => write!(json, "\\u{:04x}", u32::from(character)).expect("a text grows"),
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
    value.write_json(LONGEST, &mut sink).unwrap_or_default();
}

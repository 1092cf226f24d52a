//! Columns of long arrays change neither results nor errors nor fuel.

use pidq::{Graph, Limits, Query, RunResult, Scratch};
use proptest::prelude::*;

/// Generates an item whose fields have few or many values, numbers, mixed types or nested values, or are missing.
fn item() -> impl Strategy<Value = String> {
    let class = prop::sample::select(vec![r#""valve""#, r#""pump""#, r#""v\u0061lve""#, "null", "1", "1.0"]);
    let number = prop::sample::select(vec!["1", "2.50", "-0", "1e2", "40", "1e400"]);
    let mixed = prop::sample::select(vec!["7", "\"7\"", "null", "true", "false", "[]", "{}", "\"\""]);
    let nested = prop::sample::select(vec![
        r#"{"c": 1}"#,
        r#"{"c": "x"}"#,
        "null",
        "{}",
        r#"{"c": null}"#,
        r#"{"c": 2, "d": [1]}"#,
        r#"{"d": 1.50, "7": true, "c": "y"}"#,
        r#"{"c": {"c": 3}, "x1": "2"}"#,
    ]);
    let list = prop::sample::select(vec!["[]", "[1]", "[1, 2.50, 3]", r#"["a", 1]"#, "[null, true]", "[[1], 2]"]);
    let place = prop::sample::select(vec![
        r#"{"x": 639.3, "y": 344.0, "sheet": "P-1"}"#,
        r#"{"x": 0.25, "y": -12.125, "sheet": null}"#,
        r#"{"x": 1e21, "y": 0.1, "sheet": {"z": 5}}"#,
        r#"{"x": 99999.9, "y": "7", "sheet": [2]}"#,
    ]);
    let sizes =
        prop::sample::select(vec!["[]", "[7.50]", "[-0, 0]", "[1, 2.50, 3]", "[1e400, 0]", "[3, -1e400, 1e400]"]);
    let fields = (class, number, mixed, nested, list.clone(), place, list, sizes);
    // Nearly every item has a code, a place, corners and sizes, so in many arrays all have them.
    (fields, 0..200u32, 0..5000u32, 0..300u32).prop_map(|(fields, tag, code, shape)| {
        let (class, number, mixed, nested, list, place, corners, sizes) = fields;
        let fields = [
            format!(r#""list": {list}"#),
            format!(r#""code": "P-{code}""#),
            format!(r#""class": {class}"#),
            format!(r#""number": {number}"#),
            format!(r#""mixed": {mixed}"#),
            format!(r#""nested": {nested}"#),
            format!(r#""tag": "T-{tag}😀""#),
            format!(r#""place": {place}"#),
            format!(r#""corners": {corners}"#),
            format!(r#""sizes": {sizes}"#),
        ];
        let present = fields
            .iter()
            .enumerate()
            .filter(|(at, _)| shape % 16 != *at as u32 || ([1, 7, 8, 9].contains(at) && shape > 16))
            .map(|(_, field)| field.as_str());
        format!("{{{}}}", present.collect::<Vec<_>>().join(","))
    })
}

/// Generates an array long enough for columns; in some, one item is not an object.
fn list() -> impl Strategy<Value = String> {
    let other =
        prop::sample::select(vec!["null", "null", "null", "3", "[1]", r#"{"nested": 3}"#, r#"{"nested": [1]}"#]);
    (prop::collection::vec(item(), 30..90), other, any::<bool>()).prop_map(|(mut items, other, has_other)| {
        // In half of the arrays the rows are sequential, so numbers are found by binary search.
        let is_sequential = items.len() % 2 == 0;
        for (at, item) in items.iter_mut().enumerate() {
            let row = if is_sequential { at } else { at * 7 % 31 };
            *item = item.replacen('{', &format!(r#"{{"row": {row}{}"#, if item == "{}" { "" } else { ", " }), 1);
        }
        if has_other {
            items.insert(items.len() / 2, other.to_owned());
        }
        format!("[{}]", items.join(","))
    })
}

const CONDITIONS: &[&str] = &[
    r#".class == "valve""#,
    r#".class != "valve""#,
    r#""valve" == .class"#,
    ".number > 2",
    "2 > .number",
    ".number >= 40 and .class == \"pump\"",
    ".number == 1 or .mixed == 7",
    "not(.number <= 2.5)",
    ".mixed",
    ".mixed == null",
    ".mixed != 7",
    ".nested.c",
    ".nested.c == 1",
    "exists(.nested.c)",
    "exists(.class)",
    "exists(.tag)",
    "not(exists(.tag)) or exists(.missing)",
    r#".tag == "T-7😀""#,
    r#".tag != "T-7😀" and .number < 3"#,
    r#".tag > "T-5""#,
    ".number in [1, 40, 2.5]",
    ".number not in [40, \"7\", 1]",
    ".mixed in [7, \"7\"]",
    ".code in [1, \"P-7\", 0]",
    ".nested.c not in [1, 2]",
    ".row == 17",
    ".row != 17 and .number > 1",
    ".row in [3, 17, 3, -1, 1e9]",
    ".row not in [3, \"x\"]",
    ".row in [0 / 0, 5, 1 / 0]",
    r#".class in ["pump", null, 1]"#,
    "regex(.class, \"^v\")",
    "regex(.tag, \"^T-1[0-9]+\")",
    "regex(.code, \"^[A-Z]+-(1|20)\")",
    "regex(.code, \"^P-1[0-9]*$\") or regex(.mixed, \"7\")",
    "not(startsWith(.code, \"P-1\"))",
    "number(substring(.code, 2)) > 100",
    ".code in [.tag, .class, \"P-7\"]",
    "size(.class) == 4",
    ".number + 1 > 2",
    ".number * .number < .number + 10",
    ".number == .number",
    "abs(.number - 40) > 1",
    ".class == .tag",
    "$root | size() > 40",
    ".class == $name",
    r#".number > 1 and string(.tag) == "T-3😀""#,
    ".nested.c and .mixed or .class == 1",
    "get() == null",
    ".tag.length",
    ".nested.c.d == 1",
    "if(.number > 2, true, null)",
    "if(.class == \"valve\", .number > 2, if(.mixed, .nested.c))",
];

const VALUES: &[&str] = &[
    ".class",
    ".nested.c",
    ".tag",
    "string(.class)",
    "split(.tag, \"-\")",
    ".number * 2",
    ".number + .number",
    ".number / 0",
    ".number % 7",
    "-5 % .number",
    ".row % -3",
    ".row % .number",
    "(.row - 9.5) % 4",
    "(.row - .row) / 0 % 4",
    ".mixed % 2",
    ".number ^ 2",
    ".number ^ 3",
    "2 ^ .number",
    ".number ^ .number",
    "(.number / 0) ^ 2",
    ".mixed ^ 2",
    "abs(.number)",
    ".mixed + 1",
    ".number > 2",
    ".number == 1",
    "{class: .class, tag: .tag}",
    "{b: .class, a: .number + 1}",
    "[.class, .mixed]",
    "if(.class == \"valve\", \"v\", .mixed)",
    "number(.mixed)",
    "exists(.mixed)",
    "size(.class)",
    ".class | size()",
    ".tag | size()",
    ".nested | values()",
    ".nested | mapValues(string(get()))",
    ".nested | mapKeys(\"x\" + get()) | keys()",
    ".nested | mapObject({key: .value, value: .key})",
    "[.tag, .nested.c, .number]",
    "if(.number > 2, .tag, .class)",
    "if(.number > 2, .number * 2, \"none\")",
    "if(.number > 2, \"large\", if(.number > 1, \"middle\", if(.mixed, .tag)))",
    "if(regex(.code, \"1\"), match(.code, \"[0-9]+\"), [.class, .mixed])",
    "if(.class == \"pump\", .nested | keys(), if(.mixed == null, .list | size(), .code))",
    "if(.class == \"pump\", size(.mixed), if(.number > 2, split(.tag, \"-\"), 0))",
    "if(.class == \"pump\", 1, if(size(.mixed) > 0, 2, 3))",
    "if(.number < -5, .nowhere, .code)",
    "if(.number < -5, 1)",
    "if(.mixed)",
    "substring(.tag, 0, 3)",
    "number(substring(.tag, 2))",
    "round(.number, 1)",
    "string(.number) + .tag",
    "regex(.code, \"1$\")",
    "match(.code, \"([A-Z]+)-([0-9]+)\")",
    "match(.code, \"(?<kind>[A-Z]+)-(?<number>[0-9]+)\")",
    "matchAll(.code, \"[0-9]\")",
    "matchAll(.code, \"([0-9])[0-9]?\")",
    "match(.tag, \"-([0-9]*)\")",
    "match(.code, \"^P-1[0-9]$\")",
    "match(.code, \"1?(2?)$\", \"y\")",
    "match(.code, \"p-([1-4]*)\", \"i\").groups",
    "matchAll(.code, \"5?\")",
    "matchAll(.class, \".\")",
    "split(.code, \"-\")",
    "split(.code, \"P-\")",
    "split(.tag, \"😀\")",
    "number(substring(.code, 2))",
    "substring(.code, .number)",
    ".code",
    ".code | size()",
    ".code | substring(get(), 1)",
    ".nested | keys()",
    ".place | .x",
    ".place | .missing",
    ".place | .sheet.z",
    ".nested | .c",
    ".class | .c",
    ".place | mapValues(string(get()))",
    ".place | mapValues(number(get()))",
    ".place | mapValues(size(get()))",
    ".corners | size()",
    ".corners | limit(0)",
    ".corners | limit(2)",
    ".corners | limit(-1)",
    ".list | size()",
    ".list | limit(2)",
    ".list | keys()",
    ".list | sum()",
    ".list | min()",
    ".sizes | sum()",
    ".sizes | prod()",
    ".sizes | min()",
    ".sizes | max()",
    ".sizes | average()",
    ".sizes | values()",
    ".place | values()",
    ".list | max()",
    ".list | average()",
    ".list | map(get() + 1) | join(\"-\")",
    ".nested | mapKeys(if(get() == \"c\", 1, 0))",
    ".nested | mapKeys($name)",
    ".nested | mapKeys($root | size())",
    ".nested | mapObject({key: .key, value: .value})",
    ".nested | mapObject({key: .key + \"!\", value: .value})",
    ".nested | mapObject({key: \"k\", value: .value})",
    ".nested | mapObject({key: .key, value: [.value, .key]})",
    ".nested | mapObject({key: .key, value: .value.c})",
    ".list | mapObject({key: .value, value: .key})",
    ".list | mapKeys(get() + 1)",
    ".nested | mapValues(get() + 1)",
    ".nested | mapValues(size(get()))",
    ".nested | mapValues(\"x\")",
    ".nested | mapValues({v: get()})",
    "let({c: .class}, .nested | mapKeys($c + get()))",
    "keys()",
    "let({c: .class}, [$c, $name])",
];

/// Generates a query of a few steps over such an array.
fn query() -> impl Strategy<Value = String> {
    let condition = || prop::sample::select(CONDITIONS.to_vec());
    let value = || prop::sample::select(VALUES.to_vec());
    let step = prop_oneof![
        3 => condition().prop_map(|condition| format!("filter({condition})")),
        2 => value().prop_map(|value| format!("map({value})")),
        1 => value().prop_map(|value| format!("sort({value})")),
        1 => value().prop_map(|value| format!("sort({value}, \"desc\")")),
        1 => value().prop_map(|value| format!("groupBy({value})")),
        1 => value().prop_map(|value| format!("groupBy({value}) | mapValues(size())")),
        1 => value().prop_map(|value| format!("uniqBy({value})")),
        1 => value().prop_map(|value| format!("keyBy({value})")),
        2 => value().prop_flat_map(|value| {
            let calls = ["countBy", "sumBy", "avgBy", "minBy", "maxBy"].map(|name| format!("{name}({value})"));
            prop::sample::select(calls.to_vec())
        }),
        1 => condition().prop_map(|condition| format!("count({condition})")),
        1 => (1..40usize).prop_map(|count| format!("limit({count})")),
        1 => prop::sample::select(vec![
            "pick(.class, .tag)", "pick(.nested.c)", "pick(.tag, .missing)", "size()", "reverse()", "uniq()", "flatten()",
            "map(.corners) | flatten()", "map(.list) | flatten()", "map(.code) | join(\", \")", "map(.place | .sheet) | flatten()",
            "map(.code) | join(\"\")", "map(.code) | join(\" and, after it, \")",
            "values()", ".0", ".class", "sort(.tag) | limit(5)", "sort(.number, \"desc\") | limit(3)", "join(\",\")",
            "filter(.class == \"valve\") | size()", "first()", "last()", "any(.number > 30)", "all(.number > 30)",
        ]).prop_map(str::to_owned),
    ];
    prop::collection::vec(step, 1..4).prop_map(|steps| steps.join(" | "))
}

/// The observable results of a run: the JSON or the rendered error, the warnings, and the fuel.
pub type Observed = (Result<String, String>, Vec<String>, Option<u64>);

fn observe(query: Query, graph: &Graph) -> Observed {
    let scratch = Scratch::new();
    observe_run(query.source(), query.run(graph, &scratch, Limits::default()))
}

pub fn observe_run(text: &str, run: pidq::Result<RunResult<'_>>) -> Observed {
    match run {
        Ok(outcome) => {
            let mut json = Vec::new();
            let written = outcome.write_json(&mut json).map_err(|error| error.render(text));
            let warnings = outcome.warnings.iter().map(|warning| format!("{warning:?}")).collect();
            (written.map(|()| String::from_utf8(json).expect("UTF-8")), warnings, Some(outcome.fuel))
        }
        Err(error) => (Err(error.render(text)), Vec::new(), None),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn columns_change_neither_results_nor_errors_nor_fuel(text in query(), json in list()) {
        let graph = Graph::from_json(json).expect("valid JSON");
        let query = || Query::with_params(&text, r#"{"name": "pump"}"#).expect("valid query");
        let (fast, warnings, fuel) = observe(query(), &graph);
        let (slow, plain_warnings, plain_fuel) = observe(query().without_optimizations(), &graph);
        prop_assert_eq!(fast, slow, "{}", &text);
        let stops_early = text.contains("limit") || text.contains("first") || text.contains(".0");
        // A run that skips items cannot warn about all of them, but gives no other warnings.
        prop_assert!(warnings == plain_warnings || stops_early, "{warnings:?} {plain_warnings:?} {text}");
        prop_assert!(warnings.iter().all(|warning| plain_warnings.contains(warning)), "{warnings:?} {text}");
        prop_assert!(fuel <= plain_fuel && (stops_early || fuel == plain_fuel), "{fuel:?} {plain_fuel:?} {text}");
    }

    #[test]
    fn a_second_run_has_the_same_result_and_cost(text in query(), json in list()) {
        let graph = Graph::from_json(json).expect("valid JSON");
        let query = || Query::with_params(&text, r#"{"name": "pump"}"#).expect("valid query");
        prop_assert_eq!(observe(query(), &graph), observe(query(), &graph));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_projected_document_gives_the_same_result(text in query(), json in list()) {
        // The array is part of a larger document, and also queried one level deeper.
        let json = format!(r#"{{"more": {json}, "list": {json}, "deep": [{{"list": {json}}}]}}"#);
        let graph = Graph::from_json(json.as_str()).expect("valid JSON");
        for text in [format!(".list | {text}"), format!(".deep | map(.list | {text})")] {
            let query = || Query::with_params(&text, r#"{"name": "pump"}"#).expect("valid query");
            let projected_query = query();
            let projected = projected_query.load(json.as_str()).expect("valid JSON");
            let scratch = Scratch::new();
            let result = observe_run(&text, projected.run(&scratch, Limits::default()));
            prop_assert_eq!(result, observe(query(), &graph), "{}", &text);
        }
    }
}

#[test]
fn queries_of_the_first_items_do_not_warn_about_the_rest() {
    let graph = Graph::from_json(r#"[{"a": 1}, {"a": 1, "b": 1}]"#).expect("valid JSON");
    let warned = |text: &str| !observe(Query::parse(text).expect(text), &graph).1.is_empty();
    assert!(!warned("filter(.b == .b) | first()"));
    assert!(warned("filter(.b == .c)"));
    assert!(warned("filter(.c == .c) | first()"), "no object of the document has one");
}

/// Complements the random queries, which may omit a value or use it on an array without columns.
#[test]
fn each_value_is_the_same_with_and_without_columns() {
    let item = |at: usize| {
        let class = ["valve", "pump", "tank"][at % 3];
        format!(
            r#"{{"code": "P-{}", "tag": "T-{at}é", "class": "{class}", "number": {}.50, "mixed": {},
                "list": [{at}, 2.5], "sizes": [{at}.50], "nested": {{"c": {at}, "d": -0.125}}, "corners": [{at}, "x", null],
                "place": {{"x": {at}.3, "y": 344.0, "sheet": {{"z": "S-{at}"}}}}}}"#,
            at * 7,
            at % 5,
            ["7", "null", "\"x\""][at % 3],
        )
    };
    let items: Vec<String> = (0..80).map(item).collect();
    let graph = Graph::from_json(format!("[{}]", items.join(","))).expect("valid JSON");
    for value in VALUES {
        for text in [format!("map({value})"), format!("filter({value})"), format!("map({value}) | uniq()")] {
            let query = || Query::with_params(&text, r#"{"name": "pump"}"#).expect("valid query");
            assert_eq!(observe(query(), &graph), observe(query().without_optimizations(), &graph), "{text}");
        }
    }
}

/// Fuel runs out in the same place with and without columns.
#[test]
fn each_value_uses_the_same_fuel_with_and_without_columns() {
    let item = |at: usize| {
        let (class, mixed) = (["valve", "pump", "tank"][at % 3], ["7", "null", "\"x\""][at % 3]);
        format!(
            r#"{{"code": "P-{at}", "tag": "T-{at}é", "class": "{class}", "number": {}, "mixed": {mixed},
                "sizes": [{at}, 2.5], "list": [{at}, "x"], "nested": {{"c": {at}}}}}"#,
            at % 7
        )
    };
    let items: Vec<String> = (0..40).map(item).collect();
    let graph = Graph::from_json(format!("[{}]", items.join(","))).expect("valid JSON");
    for value in VALUES {
        let text = format!("map({value})");
        let query = || Query::with_params(&text, r#"{"name": "pump"}"#).expect("valid query");
        let fuel = observe(query(), &graph).2.unwrap_or(500);
        for fuel in [fuel, fuel - 1, fuel * 3 / 4, fuel / 2, fuel / 10] {
            let limits = Limits { fuel, ..Limits::default() };
            let [fast, plain] = [query(), query().without_optimizations()].map(|query| {
                let (result, warnings, fuel) = observe_run(&text, query.run(&graph, &Scratch::new(), limits));
                // The call that spent most is found by the fuel of each call, which columns split differently.
                let result = result.map_err(|error| error.split("  = most fuel").next().map(str::to_owned));
                (result, warnings, fuel)
            });
            assert_eq!(fast, plain, "{text} with {fuel} of fuel");
        }
    }
}

/// Objects of values with common prefixes, and with prefixes that are only similar.
const COMMON_PREFIXES: &[&str] = &[
    "{a: filter(.class == \"valve\") | map(.tag), b: filter(.class == \"valve\") | map(.number) | sum()}",
    "{a: filter(.number > 1), b: filter(.number > 1) | map(.mixed), c: filter(.number > 2), d: filter(.number > 1)}",
    "{a: .0.nested | keys(), b: .0.nested | keys() | size(), c: .0.nested | values()}",
    "{a: map(.nothing), b: map(.nothing) | uniq(), c: map(.nothing.tag)}",
    "{a: map(.tag.x), b: map(.tag.x) | size()}",
    "{a: filter(.number == -0) | size(), b: filter(.number == 0) | map(.tag), c: filter(.number == -0) | map(.tag)}",
    "{a: filter(.number > 1e400) | map(.tag), b: filter(.number > null) | map(.tag)}",
    "map({a: .list | map(get() + 1), b: .list | map(get() + 1) | sum(), c: .tag})",
    "map({a: .list | filter(. == $name), b: .list | filter(. == $name)})",
    "{a: {b: map(.class) | uniq(), c: map(.class) | uniq()}, d: map(.class) | uniq()}",
    "{a: map(.number) | limit(3), b: map(.number) | limit(5), c: map(.number)}",
    "{a: tryOr(map(.tag.length), 1), b: tryOr(map(.tag.length), 1)}",
    "{a: map(size(.tag)), b: map(size(.tag)) | max(), c: map(.tag | sort())}",
    "let({x: 1}, {a: map(.number + $x) | sum(), b: let({x: 2}, map(.number + $x)) | sum(), c: map(.number + $x)})",
    "[{a: sort(.tag) | size(), b: sort(.tag) | reverse(), c: sort(.tag) | map(.tag)}, {a: sort(.tag) | reverse()}]",
];

/// Returns the profile of each call without its strategy, and for columns without its fuel, which is split differently.
fn costs(query: Query, graph: &Graph, limits: Limits<'_>) -> Result<String, String> {
    let text = query.source().to_owned();
    let has_columns = graph.root().as_array().is_some_and(|items| items.len() > 30);
    let rendered = |error: pidq::Error| match error.render(&text).split_once("  = most fuel") {
        Some((message, _)) if has_columns => message.into(),
        _ => error.render(&text),
    };
    let profile = query.explain(graph, limits).map_err(rendered)?;
    let fuel = |fuel: u64| if has_columns { 0 } else { fuel };
    let steps = profile.steps.iter().map(|step| (step.text.clone(), step.runs, step.rows, fuel(step.fuel)));
    Ok(format!("{:?} {:?} {:?}", steps.collect::<Vec<_>>(), profile.fuel, profile.warnings))
}

/// Common prefixes are evaluated once, which changes neither results, nor costs, nor the point at which fuel runs out.
#[test]
fn common_subexpressions_change_no_results() {
    let item = |at: usize| {
        let class = ["valve", "pump", "tank"][at % 3];
        format!(
            r#"{{"tag": "T-{}", "class": "{class}", "number": {}, "mixed": {}, "list": [{at}, 2.5], "nested": {{"c": {at}}}}}"#,
            at * 7 % 40,
            at % 5,
            ["7", "null", "\"x\""][at % 3],
        )
    };
    for count in [3, 40] {
        let items: Vec<String> = (0..count).map(item).collect();
        let graph = Graph::from_json(format!("[{}]", items.join(","))).expect("valid JSON");
        for text in COMMON_PREFIXES {
            let query = || Query::with_params(text, r#"{"name": 2.5}"#).expect("valid query");
            assert_eq!(observe(query(), &graph), observe(query().without_optimizations(), &graph), "{text}");
            let fuel = observe(query(), &graph).2.unwrap_or(2_000);
            for fuel in [fuel, fuel - 1, fuel * 3 / 4, fuel * 2 / 3, fuel / 2, fuel / 3] {
                let limits = Limits { fuel, ..Limits::default() };
                let [fast, plain] =
                    [query(), query().without_optimizations()].map(|query| costs(query, &graph, limits));
                assert_eq!(fast, plain, "{text} with {fuel} of fuel");
            }
        }
    }
}

/// Returns the strategy of each call of a query on an array of `rows` items.
fn strategies(query: &str, rows: usize) -> Vec<&'static str> {
    let row = |at: usize| format!(r#"{{"id": "n{at}", "kind": "k{}", "size": {at}}}"#, at % 3);
    let rows: Vec<String> = (0..rows).map(row).collect();
    let graph = Graph::from_json(format!("[{}]", rows.join(","))).expect("valid JSON");
    let query = Query::parse(query).expect("valid query");
    query.explain(&graph, Limits::default()).expect("it runs").steps.iter().map(|step| step.strategy).collect()
}

#[test]
fn profiles_show_the_strategy_of_each_call() {
    for (query, few, many) in [
        ("map(.kind)", "scan", "columns"),
        ("filter(.size > 1)", "scan", "columns"),
        ("groupBy(.kind)", "scan", "columns"),
        ("keyBy(.id)", "scan", "index"),
        ("uniqBy(.kind)", "scan", "columns"),
        ("sort(.size)", "scan", "column order"),
        ("pick(.id, .size)", "scan", "column cells"),
        ("map({a: upper(.id)})", "scan", "scan"),
        ("sumBy(.size)", "scan", "columns"),
        ("sumBy(number(substring(.id, 1)))", "scan", "scan"),
        ("avgBy(.size * 2)", "scan", "columns"),
        ("any(.size == 900)", "scan", "columns"),
        ("any(.size == 3)", "scan", "scan"),
        ("all(.size >= 0)", "scan", "columns"),
        ("maxBy(.size)", "scan", "columns"),
        ("minBy(.kind)", "scan", "scan"),
        ("countBy(.kind)", "scan", "columns"),
        ("count(.size > 1)", "scan", "columns"),
        ("sortBy([.kind])", "scan", "scan"),
        ("size()", "", ""),
    ] {
        assert_eq!((strategies(query, 3)[0], strategies(query, 500)[0]), (few, many), "{query}");
    }
    // Two fused calls have their own strategy, and so has the outer one.
    assert_eq!(strategies("[get()] | flatMap([filter(.size > 1) | size()])", 500)[..2], ["scan", "count only"]);
    assert_eq!(
        strategies("abs(filter(.size > 1) | size())", 500),
        ["", "count only", "vectorized numbers", "count only"]
    );
}

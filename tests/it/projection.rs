//! Documents loaded for one query: values that it does not read are validated but not stored.

use pidq::{Dialect, Graph, Limits, Query, Scratch};

use crate::allocator;
use crate::columns::observe_run;

const COUNT: &str = r#".nodes | filter(.class == "valve") | size()"#;

fn query() -> Query {
    Query::parse(COUNT).expect("valid query")
}

/// A drawing whose nodes have much data that the query does not read.
fn drawing() -> String {
    let node = |at: usize| {
        let class = ["valve", "pump"][at % 2];
        format!(r#"{{"id": "n{at}", "class": "{class}", "attributes": {{"vendor": "V{at}", "list": [{at}.5, {at}]}}}}"#)
    };
    let nodes: Vec<String> = (0..500).map(node).collect();
    let edges: Vec<String> = (1..500).map(|at| format!(r#"{{"source": "n{}", "target": "n{at}"}}"#, at - 1)).collect();
    format!(r#"{{"nodes": [{}], "edges": [{}]}}"#, nodes.join(","), edges.join(","))
}

#[test]
fn values_that_are_not_read_take_no_memory() {
    let (query, complete) = (query(), Graph::from_json(drawing()).expect("valid JSON"));
    let projected = query.load(drawing()).expect("valid JSON");
    let scratch = Scratch::new();
    assert_eq!(projected.run(&scratch, Limits::default()).expect("it runs").value.as_f64(), Some(250.0));
    let (partial, total) = (projected.graph().size(), complete.size());
    assert!(partial * 3 < total, "{partial} bytes of {total}");
}

#[test]
fn loading_for_a_query_takes_no_more_than_loading_everything() {
    let keys: Vec<String> = (0..50_000).map(|at| format!(r#""key{at}": {at}"#)).collect();
    let json = format!("{{{}}}", keys.join(","));
    let fields: Vec<String> = (0..60).map(|at| format!(".key{}", at * 7)).collect();
    let query = Query::parse(&format!("[{}]", fields.join(","))).expect("valid query");
    let (complete, complete_allocations) = allocator::measure(|| Graph::from_json(json.as_str()).map(drop));
    let (projected, projected_allocations) = allocator::measure(|| query.load(json.as_str()).map(drop));
    assert!(complete.is_ok() && projected.is_ok());
    assert!(
        projected_allocations.peak <= complete_allocations.peak + (1 << 20),
        "{} bytes, {} for the complete document",
        projected_allocations.peak,
        complete_allocations.peak
    );
}

#[test]
fn values_that_are_not_read_are_validated() {
    for invalid in [
        "",
        "nul",
        "01",
        "1.",
        "-",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\n\"",
        "[1,]",
        "[1 2]",
        "[",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "{1:2}",
        "{\"a\":1",
        "]",
        "1 2",
        "{\"a\": [tru]}",
        "[}",
        "{]",
        "'x'",
        "1e",
        "\u{FEFF}1",
    ] {
        let json = format!(r#"{{"nodes": [{{"class": "valve", "more": {invalid}}}]}}"#);
        let error = |error: pidq::Error| error.render(&json);
        let complete = Graph::from_json(json.as_str()).map_err(error).err();
        assert!(complete.is_some(), "{invalid} is rejected");
        assert_eq!(query().load(json.as_str()).map_err(error).err(), complete);
    }
    let deep = |levels: usize| format!(r#"{{"more": {}{}, "nodes": []}}"#, "[".repeat(levels), "]".repeat(levels));
    assert!(query().load(deep(511)).is_ok());
    let code = query().load(deep(512)).map_err(|error| error.code().as_str()).err();
    assert_eq!(code, Some("PQ5003"));
}

/// Warnings suggest fields that the query did not read, and report duplicate keys in omitted values.
#[test]
fn warnings_are_those_of_the_whole_document() {
    for (text, json) in [
        (".nodes | filter(.clas == 1) | size()", drawing()),
        (".nodes | filter(.vendr == 1) | size()", drawing()),
        (".nodes | map(.attributes) | filter(.lst) | size()", drawing()),
        (
            COUNT,
            r#"{"nodes": [{"class": "valve", "x": {"a": 1, "a": 2}, "x": 1}], "y": {"b": [{"c": 1, "c": 2}]}}"#.into(),
        ),
    ] {
        let (query, graph) = (Query::parse(text).expect(text), Graph::from_json(json.as_str()).expect("valid JSON"));
        let projected = query.load(json).expect("valid JSON");
        let (first, second) = (Scratch::new(), Scratch::new());
        let expected = query.run(&graph, &first, Limits::default()).expect("it runs").warnings;
        assert!(!expected.is_empty(), "{text}");
        let warnings = projected.run(&second, Limits::default()).expect("it runs").warnings;
        assert_eq!(format!("{warnings:?}"), format!("{expected:?}"));
        assert_eq!(projected.graph().duplicate_keys(), graph.duplicate_keys());
    }
}

/// Tests every function with arguments that read other values than the next step does.
#[test]
fn every_function_returns_the_result_of_the_whole_document() {
    let item = |at: usize| {
        format!(r#"{{"a": "k{}", "b": {{"c": {at}, "d": [{{"c": "x"}}]}}, "c": [{at}, 2], "e": "E{at}"}}"#, at % 3)
    };
    let items: Vec<String> = (0..10).map(item).collect();
    let json = format!(r#"{{"list": [{}], "one": {}, "lists": [[{}], []]}}"#, items.join(","), items[1], items[2]);
    let graph = Graph::from_json(json.as_str()).expect("valid JSON");
    let dialect = Dialect::standard();
    let calls = dialect.functions().flat_map(|function| ARGUMENTS.map(|args| format!("{}({args})", function.name())));
    let texts = calls.flat_map(|call| {
        let calls_on_inputs =
            [".list | ", ".one | ", ".lists | ", ".list | map(.b) | "].map(|input| format!("{input}{call}"));
        calls_on_inputs.into_iter().flat_map(|text| NEXT_STEPS.map(|next| format!("{text}{next}")))
    });
    let mut compiled = 0;
    for text in texts {
        let Ok(query) = Query::parse(&text) else { continue };
        let projected = query.load(json.as_str()).expect("valid JSON");
        let (first, second) = (Scratch::new(), Scratch::new());
        let expected = observe_run(&text, query.run(&graph, &first, Limits::default()));
        assert_eq!(observe_run(&text, projected.run(&second, Limits::default())), expected, "{text}");
        compiled += 1;
    }
    assert!(compiled > 10_000, "{compiled} queries compiled");
}

const ARGUMENTS: [&str; 12] = [
    "",
    ".a",
    ".b",
    ".b.c",
    "get()",
    "1",
    "\"c\"",
    "{k: .a}",
    ".a, .b",
    ".a == \"k1\", .e",
    ".b | .c, \"desc\"",
    "$root.list, .a, .a",
];

const NEXT_STEPS: [&str; 8] = [
    "",
    " | .c",
    " | map(.c)",
    " | mapValues(.c)",
    " | size()",
    " | keys()",
    " | map(.e) | size()",
    " | filter(.b.c > 3) | map(.a)",
];

//! Documents that are read for one query: what it does not look at is checked like the rest, and not kept.

use pidq::{Dialect, Graph, Limits, Query, Scratch};

use crate::allocator;
use crate::columns::told;

const COUNT: &str = r#".nodes | filter(.class == "valve") | size()"#;

fn query() -> Query {
    Query::parse(COUNT).expect("it compiles")
}

/// A drawing whose nodes have much that is not asked.
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
fn what_is_not_asked_takes_no_memory() {
    let (query, whole) = (query(), Graph::from_json(drawing()).expect("it is JSON"));
    let reading = query.read(drawing()).expect("it is JSON");
    let scratch = Scratch::new();
    assert_eq!(reading.run(&scratch, Limits::default()).expect("it runs").value.as_f64(), Some(250.0));
    let (kept, all) = (reading.graph().size(), whole.size());
    assert!(kept * 3 < all, "{kept} bytes of {all}");
}

/// However many keys a document has, and however many of them a query asks for.
#[test]
fn reading_for_a_query_takes_no_more_than_reading_it_all() {
    let keys: Vec<String> = (0..50_000).map(|at| format!(r#""key{at}": {at}"#)).collect();
    let json = format!("{{{}}}", keys.join(","));
    let fields: Vec<String> = (0..60).map(|at| format!(".key{}", at * 7)).collect();
    let query = Query::parse(&format!("[{}]", fields.join(","))).expect("it compiles");
    let (whole, of_all) = allocator::peak(|| Graph::from_json(json.as_str()).map(drop));
    let (parts, of_parts) = allocator::peak(|| query.read(json.as_str()).map(drop));
    assert!(whole.is_ok() && parts.is_ok());
    assert!(of_parts.peak <= of_all.peak + (1 << 20), "{} bytes, of all {}", of_parts.peak, of_all.peak);
}

#[test]
fn what_is_not_asked_is_still_checked() {
    for broken in [
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
        let json = format!(r#"{{"nodes": [{{"class": "valve", "more": {broken}}}]}}"#);
        let error = |error: pidq::Error| error.render(&json);
        let whole = Graph::from_json(json.as_str()).map_err(error).err();
        assert!(whole.is_some(), "{broken} is no value");
        assert_eq!(query().read(json.as_str()).map_err(error).err(), whole);
    }
    let deep = |levels: usize| format!(r#"{{"more": {}{}, "nodes": []}}"#, "[".repeat(levels), "]".repeat(levels));
    assert!(query().read(deep(511)).is_ok());
    let code = query().read(deep(512)).map_err(|error| error.code().as_str()).err();
    assert_eq!(code, Some("PQ5003"));
}

/// Warnings suggest fields that the query did not look at, and tell of keys in parts that it did not.
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
        let (query, graph) = (Query::parse(text).expect(text), Graph::from_json(json.as_str()).expect("it is JSON"));
        let reading = query.read(json).expect("it is JSON");
        let (first, second) = (Scratch::new(), Scratch::new());
        let wanted = query.run(&graph, &first, Limits::default()).expect("it runs").warnings;
        assert!(!wanted.is_empty(), "{text}");
        let warnings = reading.run(&second, Limits::default()).expect("it runs").warnings;
        assert_eq!(format!("{warnings:?}"), format!("{wanted:?}"));
        assert_eq!(reading.graph().duplicate_keys(), graph.duplicate_keys());
    }
}

/// Every function, with arguments that look at other parts than the next step does.
#[test]
fn every_function_gives_what_it_gives_of_the_whole_document() {
    let item = |at: usize| {
        format!(r#"{{"a": "k{}", "b": {{"c": {at}, "d": [{{"c": "x"}}]}}, "c": [{at}, 2], "e": "E{at}"}}"#, at % 3)
    };
    let items: Vec<String> = (0..40).map(item).collect();
    let json = format!(r#"{{"list": [{}], "one": {}, "lists": [[{}], []]}}"#, items.join(","), items[1], items[2]);
    let graph = Graph::from_json(json.as_str()).expect("it is JSON");
    let dialect = Dialect::standard();
    let calls = dialect.functions().flat_map(|function| ARGUMENTS.map(|args| format!("{}({args})", function.name)));
    let texts = calls.flat_map(|call| {
        let before = [".list | ", ".one | ", ".lists | ", ".list | map(.b) | "].map(|before| format!("{before}{call}"));
        before.into_iter().flat_map(|text| AFTER.map(|after| format!("{text}{after}")))
    });
    let mut asked = 0;
    for text in texts {
        let Ok(query) = Query::parse(&text) else { continue };
        let reading = query.read(json.as_str()).expect("it is JSON");
        let (first, second) = (Scratch::new(), Scratch::new());
        let of_all = told(&text, query.run(&graph, &first, Limits::default()));
        assert_eq!(told(&text, reading.run(&second, Limits::default())), of_all, "{text}");
        asked += 1;
    }
    assert!(asked > 10_000, "{asked} queries compiled");
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

const AFTER: [&str; 8] = [
    "",
    " | .c",
    " | map(.c)",
    " | mapValues(.c)",
    " | size()",
    " | keys()",
    " | map(.e) | size()",
    " | filter(.b.c > 3) | map(.a)",
];

//! Messages of errors and warnings. `cargo insta review` shows changes.

use std::fmt::Write;

use pidq::{Dialect, Graph, Limits, Query};

/// Queries that fail to compile: syntax, names, arguments.
const QUERIES: &[&str] = &[
    "",
    ".nodes | fliter(.a == 1)",
    ".nodes | length()",
    ".nodes | select(.a == 1)",
    ".nodes | group_by(.a)",
    "filter(.a = 1)",
    "filter(.a === 1)",
    "filter(.a == 1 && .b == 2)",
    "filter(.a == 1 || .b == 2)",
    "filter(!.a)",
    "filter(.a == 'x')",
    ".nodes[0]",
    ".nodes[*].a",
    "$.nodes",
    "nodes",
    "map(.a",
    "[1, 2,]",
    "{a: 1",
    "\"abc",
    "\"\\x\"",
    "sort(.a, .b)",
    "pick(\"a\")",
    "exists(a)",
    "regex(.a, \"(\")",
    "regex(.a, \"a\", \"q\")",
    "filter(.a == $tag)",
    "let(1, 2)",
    "let({a: 1})",
    ".nodes | top(3)",
    "contains(.a, \"x\", \"i\")",
    ".a | .b c",
    ".nodes | length",
    ".kw | add",
    "limit([1])",
    ".nodes.map(.tag)",
    "filter(.kw => 1)",
    ".tag like \"P%\"",
    ".nodes order by .kw",
    "map({tag, kw})",
    "filter(.kw in (1, 2))",
    "map .tag",
    "select tag from nodes where kw > 1",
    "map(x => x.tag)",
    ".node-type == \"x\"",
    ".tag == P-101",
    "regex(.tag, /^P-/)",
    ".a += 1",
];

/// Queries that fail at run time, on a small drawing.
const RUNS: &[&str] = &[
    ".pid_graph.nodes | map(.tags | sort())",
    ".pid_graph | filter(.a)",
    ".pid_graph.nodes.length",
    ".pid_graph.nodes | map(split(.kw))",
    "1 in .pid_graph",
    ".pid_graph.nodes | mapObject(null)",
    "filter(.pid_graph.nodes, .kw > 1)",
    "sum(.pid_graph.nodes)",
];

/// Queries that run, but contain likely mistakes for that drawing.
const WARNINGS: &[&str] = &[
    ".pid_graph.node // 1",
    ".pid_graph.nodes | sort(\"tag\") | limit(1)",
    "nodes(\"P-101\") | size()",
    ".pid_graph.nodes | map(.tga)",
    ".pid_graph.nodes | size(.tag)",
    ".pid_graph.node",
    ".pid_graph.nodes | filter(size() == \"2\")",
    ".pid_graph.nodes | filter(.kw == \"15\")",
    ".pid_graph.nodes | filter(.tag in [1, 2])",
    ".pid_graph.nodes | map(get(.tag))",
    ".pid_graph.nodes | sum()",
    ".pid_graph.nodes | map(.tag) | sum()",
    ".pid_graph.nodes | filter(true)",
    ".pid_graph.nodes | filter([.kw == 1])",
    ".pid_graph.nodes.tag",
    ".pid_graph.nodes | map(.tag).tag",
    ".pid_graph.nodes | filter(.kw > 1, .tag == \"V-1\")",
    ".pid_graph.nodes | map(.tag, .kw)",
    ".pid_graph.nodes | max(.kw)",
    "[1, 2] | add()",
    ".pid_graph.nodes | map(if(.kw > 1))",
];

const DRAWING: &str =
    r#"{"pid_graph": {"nodes": [{"tag": "P-101", "kw": 15, "tags": [1]}, {"tag": "V-1", "kw": 2, "tags": null}]}}"#;

#[test]
fn messages() {
    let dialect = Dialect::standard();
    let graph = Graph::from_json(DRAWING).expect("the drawing is JSON");
    let mut shown = String::new();
    for text in QUERIES.iter().chain(RUNS) {
        let result = dialect.parse(text).and_then(|query| query.to_json(&graph, Limits::default()));
        let error = result.expect_err(text);
        writeln!(shown, "{}", error.render(text)).expect("writing to a string succeeds");
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn documents() {
    let mut shown = String::new();
    for json in [
        "",
        "{",
        "[1,]",
        "{'a': 1}",
        "{\"a\" 1}",
        "[1] 2",
        "[1]]",
        "01",
        "1.",
        "\"\\x\"",
        "\"a\nb\"",
        "\u{FEFF}[]",
        "NaN",
        "[1, // one\n2]",
    ] {
        let error = Graph::from_json(json).expect_err(json);
        writeln!(shown, "{json:?}\n  {error}").expect("writing to a string succeeds");
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn warnings() {
    let graph = Graph::from_json(DRAWING).expect("the drawing is JSON");
    let mut shown = String::new();
    for text in WARNINGS {
        let query = Dialect::standard().parse(text).expect("valid query");
        let scratch = pidq::Scratch::new();
        let run_warnings = query.run(&graph, &scratch, Limits::default()).expect("it runs").warnings;
        for warning in run_warnings.into_iter().chain(query.check_against(&graph, Limits::default())) {
            writeln!(shown, "{}", warning.render_with(text, &pidq::error::Styles::PLAIN))
                .expect("writing to a string succeeds");
        }
    }
    insta::assert_snapshot!(shown);
}

/// Queries in JSON format, and the JSON Pointer of their error.
const POINTERS: &[(&str, &str)] = &[
    (r#"["size"}"#, ""),
    (r#"["map", ["get", ]]"#, "/1/1"),
    (r#"["map", {"a": 1}]"#, "/1"),
    (r#"["map", ["fliter", 1]]"#, "/1/0"),
    (r#"["object", {"a/b": ["fliter", 1]}]"#, "/1/a~1b/0"),
    (r#"[["size"]]"#, "/0"),
    (r#"["map", []]"#, "/1"),
    (r#"["pick", "a"]"#, "/1"),
    (r#"["regex", ["get"], "("]"#, "/2"),
    (r#"["regex", ["get"], "a", "q"]"#, "/3"),
    (r#"["limit", ["size"]]"#, "/1"),
    (r#"["eq", 1, ["$", "tag"]]"#, "/2"),
    (r#"["top", 1, ["get"], "asc", 4, 5]"#, "/4"),
    (r#"["let", ["object", {"_a": 1}], 2]"#, "/1/1/_a"),
    (r#"["pipe", ["get", "pid_graph", "nodes"], ["map", ["pipe", ["get", "kw"], ["sort"]]]]"#, "/2/1/2"),
    (r#"["pipe", ["get", "pid_graph"], ["get", "nodes", "length"]]"#, "/2/2"),
];

#[test]
fn errors_of_the_json_format_have_pointers() {
    let graph = Graph::from_json(DRAWING).expect("the drawing is JSON");
    for (json, pointer) in POINTERS {
        let result = Dialect::standard().compile_json(json).and_then(|query| query.to_json(&graph, Limits::default()));
        let error = result.expect_err(json);
        assert_eq!(error.pointer(), Some(*pointer), "{json}: {error}");
    }
}

#[test]
fn the_trace_of_the_json_format_has_pointers() {
    let graph = Graph::from_json("[[1]]").expect("valid JSON");
    let query = Dialect::standard().compile_json(r#"["map", ["map", ["pipe", ["get"], ["sort"]]]]"#);
    let error = query.and_then(|query| query.to_json(&graph, Limits::default())).expect_err("1 is not an array");
    assert_eq!(error.trace_pointers(), ["", "/1", "/1/1/2"]);
    let shown = serde_json::to_value(&error).expect("an error is data");
    assert_eq!(shown["stack"][1], serde_json::json!({"start": 8, "end": 44, "pointer": "/1"}));
    assert_eq!(shown["pointer"], "/1/1/2");
}

#[test]
fn errors_of_the_text_format_have_no_pointer() {
    let error = Dialect::standard().parse("map(fliter(1))").expect_err("there is no such function");
    assert_eq!((error.pointer(), error.trace_pointers().len()), (None, 0));
}

/// The path of an error about a scalar is the path of the item, so the message contains the value.
#[test]
fn a_rejected_value_is_in_the_message() {
    let long = "x".repeat(1_000);
    let document =
        format!(r#"{{"a": [{{"t": "P-101", "n": 53.0, "b": true, "l": [1], "o": {{}}, "long": "é\"{long}"}}]}}"#);
    let graph = Graph::from_json(document).expect("the document is JSON");
    let cut = format!("got string \"é\\\"{}\"…", "x".repeat(38));
    for (query, label) in [
        (".a | map(.t | sum())", "got string \"P-101\""),
        (".a | map(lower(.n))", "got number 53"),
        (".a | map(.b | map(.x))", "got boolean true"),
        (".a | map(.none | reverse())", "got null"),
        (".a | map(upper(.l))", "got array"),
        (".a | map(.o | filter(.x))", "got object"),
        (".a | map(.long | sort())", &*cut),
        (".a | map(.t in .n)", "got number 53"),
        (".a | map(.t | merge(get()))", "got string \"P-101\""),
        (".a | sumBy(.t)", "got string \"P-101\" from item 0"),
        ("[\"a\"] | fromEntries()", "got string \"a\" for item 0"),
    ] {
        let error = Query::parse(query).and_then(|query| query.to_json(&graph, Limits::default())).expect_err(query);
        assert_eq!(error.label(), Some(label), "{query}");
        assert!(error.code().as_str().starts_with("PQ2"), "{query}");
        assert!(error.render(query).contains(label), "{query}");
    }
}

const IMPROVEMENTS: &str = include_str!("../data/messages/improvements.txt");

/// Checks that the list is up to date: an improved message must be removed from it.
#[test]
fn messages_to_improve() {
    let graph = Graph::from_json(DRAWING).expect("the drawing is JSON");
    for entry in IMPROVEMENTS.split("\n\n").filter(|entry| entry.starts_with("query")) {
        let line = |name: &str| entry.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let (Some(query), Some(now), Some(_)) = (line("query"), line("now"), line("better")) else {
            panic!("an entry has a query, the current message and a better one: {entry}");
        };
        let result = Dialect::standard().parse(query).and_then(|query| query.to_json(&graph, Limits::default()));
        assert_eq!(result.map_or_else(|error| error.to_string(), |_| "ok".into()), now, "{query}");
    }
}

#[test]
fn windows_line_ends_are_not_shown() {
    let text = ".a\r\n| fliter(.b)\r\n| size()";
    let shown = Query::parse(text).expect_err("there is no such function").render(text);
    assert!(shown.contains("\n2 | | fliter(.b)\n  |   ^^^^^^ unknown function\n"), "{shown}");
}

#[test]
fn a_lone_word_is_not_suggested_as_an_unknown_function() {
    let help = |text: &str| Query::parse(text).expect_err(text).help().map(String::from).expect(text);
    assert_eq!(help("map(tag)"), "did you mean `.tag`?");
    assert_eq!(help("size"), "did you mean `.size` or `size()`?");
    assert_eq!(help(".nodes | revers"), "did you mean `.revers` or `reverse()`?");
}

#[test]
fn a_suggestion_has_the_span_that_it_replaces() {
    let text = "downstream(\"P-101A\", {dept: 1})";
    let error = Query::parse(text).expect_err("there is no such option");
    let [suggestion] = error.suggestions() else { panic!("one suggestion: {:?}", error.suggestions()) };
    let span = suggestion.span.expect("a place").range(text);
    assert_eq!((&text[span], &*suggestion.text), ("dept", "depth"));
}

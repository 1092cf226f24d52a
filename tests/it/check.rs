//! Static checks: certain mistakes are reported, and correct queries get no warning.

use pidq::{Cancel, Dialect, Graph, Limits, Query};

/// Has a field with different types in two kinds of nodes, a field that only some nodes have, and an object with data as keys.
const PLANT: &str = r#"{
    "nodes": [
        {"id": 1, "node_type": "pump", "tag": "P-101", "size": 80, "spare": null, "notes": ["a"], "pos": {"x": 1}},
        {"id": 2, "node_type": "pump", "tag": "P-102", "size": 50, "spare": true, "notes": [], "pos": {"x": 2}},
        {"id": 3, "node_type": "valve", "tag": "V-1", "size": "DN50", "spare": false, "notes": ["b"], "pos": null},
        {"id": 4, "node_type": "valve", "tag": "V-2", "size": "DN80", "mixed": 1, "notes": ["c"], "pos": {"x": "?"}}
    ],
    "byTag": {"P-101": {"kw": 15}, "P-102": {"kw": 11}},
    "empty": [],
    "numbers": [1, 2, null],
    "texts": ["1", "2"]
}"#;

fn parse(query: &str) -> Query {
    Dialect::standard().parse(query).expect(query)
}

/// Returns the codes of the findings without a document.
fn static_codes(query: &str) -> Vec<&'static str> {
    match parse(query).check() {
        Ok(warnings) => warnings.iter().map(|warning| warning.code).collect(),
        Err(error) => vec![error.code().as_str()],
    }
}

/// Returns the codes of the findings with the types of the plant.
fn plant_codes(query: &str) -> Vec<&'static str> {
    let graph = Graph::from_json(PLANT).expect("the plant is JSON");
    let query = parse(query);
    let known = query.check().expect("no call of these fails always");
    let codes = known.into_iter().chain(query.check_against(&graph, Limits::default())).map(|warning| warning.code);
    codes.collect()
}

fn check(query: &str, codes: &[&str]) {
    assert_eq!(static_codes(query), codes, "{query}");
}

fn check_plant(query: &str, codes: &[&str]) {
    assert_eq!(plant_codes(query), codes, "{query} against the plant");
}

#[test]
fn comparisons_that_never_hold_are_reported() {
    check("1 == 2", &["PQW02"]);
    check("\"a\" > \"b\"", &["PQW02"]);
    check("1 != 1", &["PQW02"]);
    check("1 == \"1\"", &["PQW02"]);
    check("map(.a) == 1", &["PQW02"]);
    check("string(.a) == 1", &["PQW02"]);
    check("(.a > 1) == \"yes\"", &["PQW02"]);
    check("abs(.a) in [\"1\", \"2\"]", &["PQW02"]);
    check("number(.a) > \"1\"", &["PQW02"]);
    check("let({n: map(.a)}, filter(.b == $n) | $n == 1)", &["PQW02"]);
}

#[test]
fn comparisons_that_may_hold_get_no_warning() {
    for query in [
        "1 == 1",
        "2 > 1",
        ".a == 1",
        ".a == .b",
        ".a + 1 == \"11\"",
        "number(.a) == null",
        "size() == 1",
        "size() == null",
        "map(.a) == [1]",
        "map(.a) == {a: 1}",
        "{a: 1} == [1]",
        "1 in [\"1\", .a]",
        "1 in []",
        "1 in .list",
        "not(.a) == true",
        "and(.a) == \"text\"",
        "if(.a, 1, \"b\") == \"b\"",
        "if(.a, 1) == null",
        "min() == \"a\"",
        "match(.a, \"b\") == null",
        "first() == 1",
        "tryOr(1, 2) == \"a\"",
        "substring(.a, 1) == [1]",
    ] {
        check(query, &[]);
    }
    let with = |params| Dialect::standard().parse_with("size() == $n", params).expect("valid query");
    assert_eq!(with(r#"{"n": 1}"#).check().map(|warnings| warnings.len()).ok(), Some(0));
}

#[test]
fn comparisons_that_never_hold_in_a_document_are_reported() {
    check_plant(".nodes | filter(.tag == 1)", &["PQW02"]);
    check_plant(".nodes | filter(.id == \"1\")", &["PQW02"]);
    check_plant(".nodes | filter(.id > \"1\")", &["PQW02"]);
    check_plant(".nodes | map(.id in [\"1\"])", &["PQW02"]);
    check_plant(".nodes | filter(.node_type == \"pmup\")", &["PQW02"]);
    check_plant(".nodes | sort(.tag) | reverse() | limit(2) | filter(.notes == 1)", &["PQW02"]);
    check_plant(".nodes.0.tag == 1", &["PQW02"]);
    check_plant(".byTag.\"P-101\".kw == \"15\"", &["PQW02"]);
    check_plant("$root.nodes | filter(.tag == 1)", &["PQW02"]);
    check_plant("let({n: .nodes}, $n | filter(.tag == 1))", &["PQW02"]);
    check_plant(".nodes | groupBy(.tag == 1)", &["PQW02"]);
}

#[test]
fn a_node_type_narrows_the_types_of_a_field() {
    check_plant(".nodes | filter(.size == \"DN50\")", &[]);
    check_plant(".nodes | filter(.size == 80)", &[]);
    check_plant(".nodes | filter(.node_type == \"pump\" and .size == \"DN50\")", &["PQW02"]);
    check_plant(".nodes | filter(.node_type == \"pump\") | filter(.size == \"DN50\")", &["PQW02"]);
    check_plant(".nodes | filter(.node_type == \"valve\") | map(.size) | sum()", &["PQW05"]);
    check_plant(".nodes | filter(.node_type == \"pump\") | map(.size) | sum()", &[]);
    check_plant(".nodes | filter(.size == \"DN50\" and .node_type == \"pump\")", &[]);
    check_plant(".nodes | filter(.node_type == \"pump\" or .size == \"DN50\")", &[]);
    check_plant(".nodes | filter(.node_type != \"pump\" and .size == 80)", &[]);
}

#[test]
fn comparisons_that_may_hold_in_a_document_get_no_warning() {
    for query in [
        ".nodes | filter(.tag == null)",
        ".nodes | filter(.tag == \"X-9\")",
        ".nodes | filter(.tag == \"P-103\")",
        ".nodes | filter(.node_type == \"heat_exchanger\")",
        ".nodes | filter(.node_type == \"pump\")",
        ".nodes | filter(.size == 80 or .size == \"DN80\")",
        ".nodes | filter(.spare == true)",
        ".nodes | filter(.mixed == 1)",
        ".nodes | filter(.mixed > 0)",
        ".nodes | filter(.pos.x == \"?\")",
        ".nodes | map(.pos.x == 1)",
        ".empty | filter(.a == 1)",
        ".empty | map(.a == \"b\")",
        ".byTag | mapValues(.kw == 15)",
        ".byTag | values() | filter(.kw == 15)",
        ".nodes | map({t: .tag, s: .size}) | filter(.s == 80)",
        ".texts | map(number(.)) | filter(. == 1)",
    ] {
        check_plant(query, &[]);
    }
}

#[test]
fn queries_inside_static_arguments_are_reported() {
    check("get(.a)", &["PQW04"]);
    check("map(get(\"a\", .b))", &["PQW04"]);
    check("get(\"a\", 0, true)", &[]);
}

#[test]
fn sums_of_other_values_than_numbers_are_reported() {
    check("map(string(.a)) | sum()", &["PQW05"]);
    check("map({a: .b}) | max()", &["PQW05"]);
    check("[\"a\", \"b\"] | average()", &["PQW05"]);
    check_plant(".nodes | sum()", &["PQW05"]);
    check_plant(".nodes | map(.tag) | sum()", &["PQW05"]);
    check_plant(".nodes | map(.notes) | flatten() | sum()", &[]);
}

#[test]
fn sums_that_may_be_of_numbers_get_no_warning() {
    for query in ["sum()", "map(.a) | sum()", "map(number(.a)) | sum()", "[] | sum()", "[1, \"a\"] | sum()"] {
        check(query, &[]);
    }
    for query in [
        ".numbers | sum()",
        ".nodes | map(.size) | sum()",
        ".nodes | map(.spare) | sum()",
        ".empty | sum()",
        ".texts | max()",
        ".texts | prod()",
    ] {
        check_plant(query, &[]);
    }
}

#[test]
fn filters_that_do_not_filter_are_reported() {
    check("filter(true)", &["PQW06"]);
    check("filter(\"a\")", &["PQW06"]);
    check("filter(null)", &["PQW06"]);
    check("filter(1 == 1)", &["PQW06"]);
    check("filter([.a == 1])", &["PQW06"]);
    check("filter({a: 1})", &["PQW06"]);
    check("filter(string(.a))", &["PQW06"]);
    check("filter(.a | map(.b))", &["PQW06"]);
    check("filter(1 == 2)", &["PQW02"]);
    for query in [
        "filter(.level == \"warn\" or \"error\")",
        "if(.a == \"x\" or \"z\", 1, 2)",
        "filter(.a and \"x\")",
        "map(.a or 1)",
        "filter(.a == 1 or .b == 2 or 3)",
    ] {
        check(query, &["PQW06"]);
    }
    for query in ["filter(.a or true)", "filter(.a and .b)", "filter(.a == \"x\" or .a == \"y\")", "filter(.a or $b)"] {
        let query = Query::with_params(query, if query.contains("$b") { r#"{"b": "x"}"# } else { "{}" });
        assert_eq!(query.expect("valid query").check().map(|warnings| warnings.len()).ok(), Some(0));
    }
    let help = parse("filter(.level == \"warn\" or \"error\")").check().expect("it may run").remove(0).help;
    assert_eq!(help.as_deref(), Some("compare with each value: `.level in [\"warn\", \"error\"]`"));
}

#[test]
fn missing_arguments_are_reported() {
    for query in ["eq(1)", "filter()", "if(1)", "split()", "exists()", "add()", "map(limit())"] {
        check(query, &["PQW11"]);
    }
    for query in ["sort()", "join()", "round(1)", "and()", "pick()", "substring(.a, 1)", "get()", "[1] | size()"] {
        check(query, &[]);
    }
}

#[test]
fn strings_instead_of_fields_are_reported() {
    for query in ["sort(\"tag\")", "groupBy(\"kw\")", "sort(\"desc\")", "countBy(\"a b\")"] {
        check(query, &["PQW13"]);
    }
    for query in ["sort(.tag)", "sort(get(), \"desc\")", "groupBy(1)", "uniqBy(\"\" + .a)", "map(\"a\")"] {
        check(query, &[]);
    }
    for query in [
        "sort([.a, .b])",
        "maxBy([.a])",
        "minBy({a: .a})",
        "top(1, [.a])",
        "groupBy({a: .a})",
        "uniqBy({})",
        "top(2, \"id\")",
        "innerJoin(.b, \"id\")",
        "antiJoin(.b, \"id\", .no)",
    ] {
        check(query, &["PQW13"]);
    }
    for query in ["sortBy([.a, .b])", "groupBy([.a, .b])", "countBy(.a)", "top(1, .a)"] {
        check(query, &[]);
    }
    for (query, code) in [
        ("{a: 1} | size()", "PQW22"),
        ("5 | size()", "PQW22"),
        ("true | size()", "PQW22"),
        ("map(.ms / $root | size())", "PQW22"),
        ("map(substring(.a, -3))", "PQW27"),
        ("filter(.id == 9007199254740993)", "PQW26"),
        ("1 + {a: 1}", "PQW21"),
        ("pick(.a.id, .b.id)", "PQW23"),
        (".a | merge({b: 2})", "PQW14"),
        (".a | merge()", "PQW14"),
        ("[.a .b]", "PQW25"),
        ("map(\"x\" .a)", "PQW25"),
    ] {
        check(query, &[code]);
    }
    for query in
        ["map(substring(.a, 1, -1))", "map(substring(.a, .b))", "filter(.id == 9007199254740992)", "\"ab\" | size()"]
    {
        check(query, &[]);
    }
    for query in
        ["[1] | size()", "pick(.a.id, .b.no)", ".a | merge(get(), {b: 2})", ".a | merge(.b)", "merge({a: 1}, {b: 2})"]
    {
        check(query, &[]);
    }
    for query in ["nodes(\"P-101A\")", "edges(\"a\")", "nodes(true)"] {
        check(query, &["PQW06"]);
    }
    check("nodes(.tag == \"P-101A\")", &[]);
}

#[test]
fn stages_that_do_not_read_the_piped_value_are_reported() {
    for query in [".a | split(\",\")", "map(.a | upper(\"x\"))", ".a | regex(\"a\", \"b\")", ".a | (1 + 2)"] {
        check(query, &["PQW14"]);
    }
    for query in [
        "split(\"a,b\", \",\") | size()",
        ".a | split(get(), \",\")",
        ".a | \"x\"",
        "size() | [1, 2]",
        ".a | if(1, 2, 3)",
    ] {
        check(query, &[]);
    }
}

#[test]
fn unused_parameters_are_reported() {
    let codes = |query: &str, params: &str| {
        let query = Query::with_params(query, params).expect("valid query");
        query.check().expect("it has no error").iter().map(|warning| warning.message.clone()).collect::<Vec<_>>()
    };
    let params = r#"{"n": 1, "part": {"a": "x"}, "limt": 3}"#;
    assert_eq!(codes("limit($n) | map($part.a)", params), ["the parameter `$limt` is not read"]);
    assert_eq!(codes("filter(regex(.a, $part.a)) | {n: $n, limt: [$limt]}", params), [""; 0]);
    assert_eq!(codes("size()", r#"{"a": 1, "b": 2}"#).len(), 2);
    assert_eq!(codes("size()", "{}"), [""; 0]);
}

#[test]
fn a_field_of_an_array_is_reported_by_the_run() {
    let codes = |query: &str, document: &str| {
        let graph = Graph::from_json(document).expect("valid JSON");
        let scratch = pidq::Scratch::new();
        let query = Query::parse(query).expect("valid query");
        let outcome = query.run(&graph, &scratch, Limits::default()).expect("it runs");
        outcome.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>()
    };
    let nodes = r#"{"nodes": [{"tag": "A", "notes": [{"text": "x"}]}, {"tag": "B", "notes": []}]}"#;
    assert_eq!(codes(".nodes.tag", nodes), ["PQW07"]);
    assert_eq!(codes(".nodes | .tag", nodes), ["PQW07"]);
    assert_eq!(codes(".nodes | map(.notes.text)", nodes), ["PQW07"]);
    assert_eq!(codes(".nodes | map(.tag).0", nodes), [""; 0]);
    assert_eq!(codes("map(.a)", r#"[[1], {"a": 1}]"#), [""; 0]);
    assert_eq!(codes("map(.a)", r#"[[1], {"b": 1}]"#), ["PQW01"]);
    assert_eq!(codes("map(.tag).tag", r#"[{"tag": 1}]"#), ["PQW07"]);
}

#[test]
fn values_in_comments_are_reported() {
    for query in [".a // 1", ".a // \"none\" | size()", ".a\n| map(.b) // .c", "pick(.a) //null\n| size()"] {
        check(query, &["PQW12"]);
    }
    for query in
        [".a // the first", "// .a\n.b", ".a\n  // 1\n", ".a /* 1 */", "\"// 1\"", "regex(.a, \"//\") // | not()"]
    {
        check(query, &[]);
    }
}

#[test]
fn filters_that_may_filter_get_no_warning() {
    for query in ["filter(.a)", "filter(not(.a))", "filter(.a and .b)", "filter(size())", "filter(first())"] {
        check(query, &[]);
    }
    for query in [".nodes | filter(.tag)", ".nodes | filter(.notes)", ".nodes | filter(exists(.absent))"] {
        check_plant(query, &[]);
    }
}

#[test]
fn fields_of_arrays_are_reported() {
    check("map(.a).b", &["PQW07"]);
    check("filter(.a).tag", &["PQW07"]);
    check("split(.a).b", &["PQW07"]);
    check("[1, 2].a", &["PQW07"]);
    check_plant(".nodes.tag", &["PQW07"]);
    check_plant(".nodes | map(.notes.text)", &["PQW07"]);
    check_plant(".nodes | filter(.notes.text == 1)", &["PQW07"]);
}

#[test]
fn fields_that_may_exist_get_no_warning() {
    for query in [
        "map(.a).0",
        "map(.a).0.b",
        ".a.b",
        "sort().length",
        "filter(.a) | map(.b)",
        "keyBy(.a).b",
        "limit(2).a",
        "if(.x, [1], {a: 1}) | .a",
    ] {
        check(query, &[]);
    }
    check_plant(".nodes.0.tag", &[]);
    check_plant(".byTag | mapValues(.kw)", &[]);
    check_plant(".empty.0", &[]);
}

#[test]
fn fields_that_no_object_has_are_reported() {
    check_plant(".node", &["PQW01"]);
    check_plant(".nodes | map(.tga)", &["PQW01"]);
    check_plant(".nodes | filter(.tag == \"X\") | map(.tga)", &["PQW01"]);
    check_plant(".nodes | filter(.node_type == \"pump\") | map(.mixed)", &["PQW01"]);
    check_plant(".byTag.\"P-103\".kw", &["PQW01"]);
    check_plant("{a: .nodes} | .a.0.b", &["PQW01"]);
    check_plant(".nodes | filter(.node_type == \"valve\") | map(.mixed)", &[]);
    check_plant(".nodes | map(.pos.x)", &[]);
    check_plant(".empty | map(.a)", &[]);
    check_plant(".nodes | map({a: .tag}) | map(.b)", &[]);
    check_plant(".nodes | filter(exists(.absent))", &[]);
}

#[test]
fn calls_that_fail_on_every_document_are_reported() {
    check("{a: 1} | filter(.a)", &["PQ2001"]);
    check("size() | sort()", &[]);
    check("string(.a) | map(.b)", &["PQ2001"]);
    check(".a > 1 | sum()", &["PQ2001"]);
    check("groupBy(.a) | map(.b)", &["PQ2001"]);
    check("1 in \"a\"", &["PQ2005"]);
    check("null | keys()", &["PQ2003"]);
    check("[groupBy(.a) | join()]", &["PQ2001"]);
}

#[test]
fn calls_that_may_not_run_get_no_error() {
    for query in [
        "map({a: 1} | filter(.a))",
        "if(.a, 1 | sort(), 2)",
        ".a and (1 | sort())",
        "tryOr(1 | sort(), 2)",
        "groupBy(.a) | values() | map(.b)",
        "filter(1 in .a)",
    ] {
        check(query, &[]);
    }
}

#[test]
fn custom_functions_are_not_checked() {
    let filter = pidq::Function::new("filter", |_, input, _| Ok(input));
    let query = Dialect::standard().with_function(filter).parse("{a: 1} | filter(true)").expect("valid query");
    assert_eq!(query.check().map(|warnings| warnings.len()).ok(), Some(0));
}

#[test]
fn warnings_are_limited() {
    let query = parse(&format!("[{}]", vec!["1 == 2"; 1_000].join(",")));
    assert_eq!(query.check().map(|warnings| warnings.len()).ok(), Some(100));
}

#[test]
fn large_and_deep_documents_are_bounded() {
    let table = |count: usize| -> String {
        let entries: Vec<String> = (0..count).map(|at| format!("\"k{at}\": {{\"kw\": {at}}}")).collect();
        format!("{{{}}}", entries.join(","))
    };
    let graph = Graph::from_json(table(20_000)).expect("valid JSON");
    let query = parse(".k19999.kw == \"1\"");
    assert_eq!(query.check_against(&graph, Limits::default()).len(), 0, "keys of a table are data");
    let query_with_warning = parse("get() == 1");
    let warning_count = |limits| query_with_warning.check_against(&graph, limits).len();
    assert_eq!(warning_count(Limits::default()), 1);
    assert_eq!(warning_count(Limits { fuel: 100, ..Limits::default() }), 0, "the fuel ends");
    let cancel = Cancel::default();
    cancel.cancel();
    assert_eq!(warning_count(Limits { cancel: Some(&cancel), ..Limits::default() }), 0, "the run is cancelled");
    let deep = format!("{}1{}", "[{\"a\":".repeat(256), "}]".repeat(256));
    let graph = Graph::from_json(deep).expect("valid JSON");
    assert_eq!(parse(".0.a.0.a.b").check_against(&graph, Limits::default()).len(), 1);
}

/// Operands of all types, for every node of the plant.
const OPERANDS: &[&str] = &[
    "1",
    "80",
    "\"1\"",
    "\"pump\"",
    "\"pmup\"",
    "true",
    "null",
    ".id",
    ".tag",
    ".size",
    ".spare",
    ".notes",
    ".notes.0",
    ".notes.text",
    ".pos",
    ".pos.x",
    ".mixed",
    ".absent",
    ".node_type",
    "[.id]",
    "{a: 1}",
    "keys()",
    "size()",
    "string(.id)",
    "number(.size)",
    ".id + 1",
    ".tag + 1",
    "if(.spare, 1, .tag)",
    "if(.spare, .notes)",
    "(.notes | first())",
    "(.notes | map(.a))",
    "[{a: .id}, .size]",
];

/// Runs the queries to verify each warning about a comparison, and about a filter that keeps all items or none.
#[test]
fn warnings_about_conditions_are_true_at_run_time() {
    let graph = Graph::from_json(PLANT).expect("the plant is JSON");
    let run = |text: &str| parse(text).to_json(&graph, Limits::default());
    let mut reported = 0;
    for a in OPERANDS {
        for operator in ["==", "!=", "<", ">", "<=", ">=", "in", "and"] {
            for b in OPERANDS {
                let condition = format!("({a}) {operator} ({b})");
                let text = format!(".nodes | map({condition})");
                let query = parse(&text);
                let known = query.check().unwrap_or_default();
                let warnings = known.into_iter().chain(query.check_against(&graph, Limits::default()));
                if warnings.filter(|warning| warning.code == "PQW02").count() > 0 {
                    reported += 1;
                    assert!(!run(&text).is_ok_and(|result| result.contains("true")), "{text} is true somewhere");
                }
            }
        }
        let text = format!(".nodes | filter({a})");
        if static_codes(&text) == ["PQW06"] {
            let size = run(&format!("{text} | size()"));
            assert!(["0", "4"].contains(&size.as_deref().unwrap_or("0")), "{text} keeps {size:?}");
        }
    }
    assert!(reported > 1000, "only {reported} conditions had a warning");
}

/// Checks the cases of the JSON Query suite that have results: none is reported to fail, and no warning is false.
#[test]
fn the_suite_gets_no_false_warnings() {
    let suite: serde_json::Value =
        serde_json::from_str(include_str!("../data/jsonquery/language_public.json")).expect("JSON");
    let mut checked = 0;
    for case in suite["cases"].as_array().expect("a list of cases") {
        let (Some(text), Some(output)) = (case["query"].as_str(), case.get("output")) else { continue };
        let Ok(query) = Dialect::json_query().parse(text) else { continue };
        let input = case["input_ref"].as_str().map_or(&case["input"], |name| &suite["inputs"][name]);
        let graph = Graph::from_json(input.to_string()).expect("an input is JSON");
        let known = query.check();
        assert!(known.is_ok(), "{text} gives {output}, but is reported to fail: {known:?}");
        let warnings: Vec<_> =
            known.into_iter().flatten().chain(query.check_against(&graph, Limits::default())).collect();
        let spans_all = |span: Option<pidq::error::Span>| span.is_some_and(|span| span.range(text) == (0..text.len()));
        let is_reported = warnings.iter().any(|warning| warning.code == "PQW02" && spans_all(warning.span));
        assert!(!is_reported || output == false, "{text} gives {output}: {warnings:?}");
        checked += 1;
    }
    assert!(checked > 500, "only {checked} cases");
}

/// Runs each query that is reported to fail on every document.
#[test]
fn calls_reported_to_fail_do_fail() {
    let steps = ["filter(.a)", "map(.a)", "sort()", "keys()", "sum()", "join()", "size()", "uniq()", "groupBy(.a)"];
    let mut reported = 0;
    for input in ["null", "1", "\"text\"", "[]", "[1, 2]", "{\"a\": [1]}"] {
        let graph = Graph::from_json(input).expect("valid JSON");
        for start in OPERANDS.iter().chain(&["get()"]) {
            for first in steps {
                for second in steps {
                    let query = parse(&format!("{start} | {first} | {second}"));
                    if query.check().is_err() {
                        reported += 1;
                        let result = query.to_json(&graph, Limits::default());
                        assert!(result.is_err(), "{} on {input} gives {result:?}", query.source());
                    }
                }
            }
        }
    }
    assert!(reported > 1000, "only {reported} queries were reported to fail");
}

/// Returns the code, the marked part and the message of the error of a query that does not compile.
fn compile_error(query: &str, params: &str) -> (&'static str, String, String) {
    let error = Dialect::standard().parse_with(query, params).expect_err(query);
    let marked = query[error.span().expect("a place").range(query)].to_string();
    (error.code().as_str(), marked, error.message().into())
}

#[test]
fn invalid_options_are_compile_errors() {
    for (query, marked, message) in [
        ("downstream(\"T\", {dir: \"sideways\"})", "\"sideways\"", "\"down\", \"up\", \"both\", \"out\" or \"in\""),
        ("downstream({depth: -1})", "-1", "a number of at least zero"),
        ("nodes() | map(downstream({depth: \"1\"}))", "\"1\"", "a number of at least zero"),
        ("isolate(\"x\", {scope: \"shrink\"})", "\"shrink\"", "\"item\" or \"grow\""),
        ("isolate({acceptRelief: 1})", "1", "true or false"),
        ("validate({rules: \"P999\"})", "\"P999\"", "a rule name, code or code prefix"),
        ("validate({rules: [\"P101\", \"P999\"]})", "\"P999\"", "a rule name, code or code prefix"),
        ("hazopNodes({cut: \"x\"})", "\"x\"", "\"control\", \"size\", \"class\" or \"fluid\""),
        ("components({zones: \"no\"})", "\"no\"", "true or false"),
        ("diff({}, {}, {tolerance: \"1\"})", "\"1\"", "a number of at least zero"),
        ("neighbors(\"sideways\")", "\"sideways\"", "\"down\", \"up\", \"both\", \"out\" or \"in\""),
        ("expand(-1)", "-1", "a number of at least zero"),
        ("expand(null)", "null", "a number of at least zero"),
        ("top(3, .a, \"sideways\")", "\"sideways\"", "\"asc\" or \"desc\""),
        ("top(3, .a, 1)", "1", "\"asc\" or \"desc\""),
        ("top(\"3\", .a)", "\"3\"", "a number"),
        ("skip(null)", "null", "a number"),
        ("slice(0, \"2\")", "\"2\"", "a number"),
        ("sortBy([.a, .b], [\"asc\", \"down\"])", "\"down\"", "an array of \"asc\" or \"desc\""),
        ("sortBy([.a], \"desc\")", "\"desc\"", "an array of \"asc\" or \"desc\""),
        ("attr(5)", "5", "a string"),
        ("breaks(null)", "null", "a string"),
        ("componentCount(1)", "1", "a string"),
        ("valveList(\"material\", 2)", "2", "a string"),
        ("near(\"P-101A\", \"60\")", "\"60\"", "a number"),
        ("findPattern(5)", "5", "a string"),
    ] {
        let (code, at, reported) = compile_error(query, "{}");
        assert_eq!((code, &*at), ("PQ1012", marked), "{query}");
        assert!(reported.starts_with(&format!("{message} expected for `")), "{reported}");
    }
}

#[test]
fn graph_patterns_are_parsed_at_compile_time() {
    let (code, marked, message) = compile_error("nodes() | map(findPattern(\"(a\"))", "{}");
    assert_eq!((code, &*marked), ("PQ1020", "\"(a\""));
    assert_eq!(message, "`)` expected in the pattern at position 2");
    assert_eq!(compile_error("findPattern($p)", r#"{"p": "(a)-"}"#).0, "PQ1020");
    check("findPattern(.pattern)", &[]);
    check("findPattern(\"(a)-[e]->(b)\", .a.tag == .b.tag, {limit: 5})", &[]);
}

#[test]
fn numbers_and_keywords_of_options_are_constants() {
    for (query, marked) in [
        ("downstream(\"T-101\", {depth: .x})", ".x"),
        ("let({n: .x}, downstream({depth: $n}))", "$n"),
        ("downstream({depth: $root.x})", "$root.x"),
        ("downstream({pass: if(.x, \"any\", \"none\")})", "if(.x, \"any\", \"none\")"),
        ("downstream({depth: [1]})", "[1]"),
        ("validate({rules: [.code]})", ".code"),
        ("validate({rules: map(.code)})", "map(.code)"),
    ] {
        let (code, at, message) = compile_error(query, "{}");
        assert_eq!((code, &*at), ("PQ1006", marked), "{query}");
        assert!(message.starts_with("A constant expected for `"), "{message}");
    }
}

#[test]
fn parameters_are_options_if_their_values_are() {
    let params = r#"{"n": 2, "word": "any", "no": -1, "rules": ["P101", "G0"], "all": {"depth": 3}, "nothing": null}"#;
    let options = "{depth: $n, pass: $word, limit: $all.depth, until: .x == $n, edges: true}";
    for query in [
        &*format!("downstream(\"T-101\", {options})"),
        "downstream({depth: $nothing, dir: null})",
        "let({two: 2, word: $word}, downstream({depth: $two, pass: $word}))",
        "validate({rules: $rules})",
        "validate({rules: [\"P102\", $rules.1]})",
        "expand($n, {limit: $n})",
        "degree($nothing)",
        "neighbors(.edge_type == $word)",
        "top($n, .a, $nothing)",
        "sortBy([.a], [\"desc\", $nothing, .b])",
        "sortBy([.a], $nothing)",
        "near($n)",
        "attr($word)",
        "skip($no)",
    ] {
        assert!(Dialect::standard().parse_with(query, params).is_ok(), "{query}");
    }
    assert_eq!(compile_error("downstream({depth: $no})", params).1, "$no");
    assert_eq!(compile_error("downstream({depth: $rules})", params).0, "PQ1012");
    assert_eq!(compile_error("expand($no)", params).0, "PQ1012");
    assert_eq!(compile_error("degree($word)", params).0, "PQ1012");
    assert_eq!(compile_error("top(1, .a, $word)", params).0, "PQ1012");
    assert_eq!(compile_error("sortBy([.a], $rules)", params).0, "PQ1012");
}

#[test]
fn a_run_rejects_what_the_compiler_rejects() {
    let graph = Graph::from_json(r#"{"nodes": [{"id": 1}], "edges": [], "n": -1}"#).expect("the drawing is JSON");
    let error = Query::parse("node(1) | expand($root.n)").and_then(|query| query.to_json(&graph, Limits::default()));
    let error = error.expect_err("a number below zero");
    assert_eq!((error.code().as_str(), error.message()), ("PQ1012", &*compile_error("expand(-1)", "{}").2));
    let error = Query::parse("[1] | sortBy([.], [$root.n])").and_then(|query| query.to_json(&graph, Limits::default()));
    assert_eq!(error.map_err(|error| error.code().as_str()), Err("PQ1012"));
}

/// A drawing with its own names for its lists, and another list of nodes.
const DRAWING: &str = r#"{
    "pid_graph": {
        "nodes": [
            {"id": "a", "node_type": "pid_component", "tag": "T-101", "class": "tank", "size": 80},
            {"id": "b", "node_type": "pid_component", "tag": "V-1", "class": "gate_valve", "size": 50},
            {"id": "c", "node_type": "loop", "tag": "F-1", "members": ["b"]},
            {"id": "d", "node_type": "pid_component", "tag": "V-2", "class": "gate_valve"}
        ],
        "edges": [
            {"id": 1, "edge_type": "piping", "from": "a", "to": "b", "length": 2},
            {"id": 2, "edge_type": "piping", "from": "b", "to": "d", "length": 3},
            {"id": 3, "edge_type": "signal", "from": "c", "to": "b"},
            {"id": 4, "edge_type": "piping", "from": "d", "to": "a", "length": 1}
        ]
    },
    "nodes": [{"tag": 5}]
}"#;

fn drawing_codes(document: &str, query: &str) -> Vec<&'static str> {
    let graph = Graph::from_json(document).expect("the drawing is JSON");
    parse(query).check_against(&graph, Limits::default()).into_iter().map(|warning| warning.code).collect()
}

#[test]
fn graph_functions_return_nodes_and_edges() {
    for (query, codes) in [
        ("nodes(.tag == 5)", &["PQW02"][..]),
        ("nodes() | filter(.tag == 5)", &["PQW02"]),
        ("edges(.edge_type == 5)", &["PQW02"]),
        ("nodes(.node_type == \"pid_componnt\")", &["PQW02"]),
        ("edges() | map(.edge_type) | sum()", &["PQW05"]),
        ("downstream(\"T-101\", {until: .clas == \"tank\"})", &["PQW01"]),
        ("downstream(\"T-101\", {until: .node_type == \"lop\"})", &["PQW02"]),
        ("downstream(\"T-101\", {edges: .tag == \"x\"})", &["PQW01"]),
        ("shortestPath(\"T-101\", \"V-2\", {weight: .lenght})", &["PQW01"]),
        ("isolate(\"V-1\", {barriers: .size == \"80\"})", &["PQW02"]),
        ("components({nodes: .size == \"80\"})", &["PQW02"]),
        ("node(\"T-101\") | .size == \"80\"", &["PQW02"]),
        ("node(\"T-101\") | neighbors(\"out\", .edge_type == 5) | map(.tagg)", &["PQW02", "PQW01"]),
        ("node(\"T-101\") | outgoing() | map(.lenght)", &["PQW01"]),
        ("nodes(.node_type == \"loop\") | map(.size)", &["PQW01"]),
        ("upstream(\"V-2\") | expand(1) | map(.tag == 5)", &["PQW02"]),
        ("nodes() | map(degree(.edge_type == \"pipping\"))", &["PQW02"]),
    ] {
        assert_eq!(drawing_codes(DRAWING, query), codes, "{query}");
    }
}

#[test]
fn fields_that_a_graph_may_have_get_no_warning() {
    for query in [
        "nodes(.tag == \"T-101\" and .size > 50)",
        "nodes(.members) | map(.members | size())",
        "edges(.length > 2) | map(.length) | sum()",
        "downstream(\"T-101\", {until: .class == \"gate_valve\", edges: .edge_type == \"piping\", depth: 2})",
        "node(\"X\", {tag: 5}) | .tag == 5",
        "node(\"X\", null) == null",
        "withGraph({nodes: [{id: 1, tag: 5, x: 1}]}, nodes(.tag == 5) | map(.x))",
        "withTopology({paths: {nodes: [\"nodes\"]}}, nodes(.tag == 5))",
        "endpoints() | .source.tag == \"T-101\"",
        "paths(\"T-101\", \"V-2\") | map(.nodes | map(.tag))",
        "expand(1, {edges: true}) | subgraph() | .nodes",
    ] {
        assert_eq!(drawing_codes(DRAWING, query), [""; 0], "{query}");
    }
    assert_eq!(drawing_codes("{\"a\": 1}", "nodes(.tag == 5) | map(.x)"), [""; 0]);
}

#[test]
fn fields_that_no_function_returns_are_reported() {
    for query in [
        "isolate(\"P-101\") | .barrier",
        "isolate(\"P-101\").barriers | map(.nod)",
        "shortestPath(\"a\", \"b\") | .node",
        "paths(\"a\", \"b\") | sort(.cost)",
        "trace(\"a\") | filter(.stopped) | map(.node.tag)",
        "cycles() | map({n: .lenght})",
        "edges() | endpoints() | map(.from)",
        "findPattern(\"(a)-[e]->(b)\", .c.tag == 1)",
        "findPattern(\"(a)-[e {1,3}]->(b)\") | map(.d)",
        "valveList(\"material\") | map(.materials)",
        "let({found: isolate(\"x\")}, $found.unresolved | map(.reason))",
        "validate() | groupBy(.rule)",
        "withGraph(.other, lineList() | map(.number))",
        "withGraph(.other, lineList()) | map(.number)",
        "loop(\"F-101\").final",
        "parseTag(.tag).letter",
        "diff($root, .old).changed | map(.was)",
    ] {
        check(query, &["PQW01"]);
    }
    check("trace(\"a\") | filter(.depth == \"1\")", &["PQW02"]);
    check("isolate(\"a\") | .barriers.node", &["PQW07"]);
    let help = |query| parse(query).check().expect("it may run").remove(0).help;
    assert_eq!(help("isolate(\"P-101\") | .barrier").as_deref(), Some("did you mean `.barriers`?"));
    assert_eq!(help("findPattern(\"(pump)-[e]->(v)\") | map(.pumps)").as_deref(), Some("did you mean `.pump`?"));
}

#[test]
fn fields_that_functions_return_get_no_warning() {
    for query in [
        "isolate(\"a\") | [.target.x, .target.0.x, .barriers | map(.fail_action.x)]",
        "findPattern(.pattern) | map(.x)",
        "findPattern(\"(a)-[e]->(b)\", .e.kind == .a.kind, {limit: 3}) | map(.e.kind)",
        "valveList(\"material\", \"a b\") | map([.tag, .material, .\"a b\"])",
        "valveList(.name) | map(.x)",
        "componentCount() | .valve",
        "graphInfo() | [.roles.barrier, .topology.tag.0]",
        "hazopNodes() | map(.design_limits.x)",
        "subgraph(\"a\") | [.nodes.0.x, .metadata.x.y]",
        "joinSheets(.sheets) | .metadata.joined.pairs",
        "endpoints() | .0",
        "endpoints() | .source.x",
        "if(.a, isolate(\"a\"), {x: 1}) | .x",
        "coalesce(shortestPath(\"a\", \"b\"), {x: 1}) | .x",
        "shortestPath(\"a\", \"b\") == null",
        "loop(\"F-101\") | .node == null",
    ] {
        check(query, &[]);
    }
}

/// Calls whose results are records or arrays of them, for the example drawings.
const RECORDS: &[&str] = &[
    "boundary(\"P-101A\", [\"HV-1003A\", \"HV-1004A\"])",
    "breaks(\"size\")",
    "bypasses(\"FV-1101\")",
    "cycles()",
    "deadEnds()",
    "diff($root, $other)",
    "edges() | endpoints()",
    "equipmentGraph()",
    "equipmentList(\"volume\")",
    "findPattern(\"(a)-[e]-(b)-[r {1,2}]->(c)\", {limit: 2, onLimit: \"truncate\"})",
    "graphInfo()",
    "group(\"L-1103\")",
    "hazopNodes()",
    "instrumentIndex()",
    "causeAndEffect({scope: \"all\"})",
    "corrosionCircuits()",
    "diffRanking()",
    "numberingGaps()",
    "pressureInterfaces({unit: \"barg\"})",
    "rankDiff($root, $other)",
    "reliefList(\"set_vacuum\")",
    "specialItemList(\"mesh\")",
    "isolate(\"P-101A\")",
    "isolate(\"V-101\")",
    "isolate(\"T-101\")",
    "joinSheets([$root, $other])",
    "lineList()",
    "loop(\"FIC-1101\")",
    "loops()",
    "nozzleList()",
    "offPageList()",
    "openEnds()",
    "parseTag(\"20-PDT-101A\")",
    "paths(\"T-101\", \"P-101A\")",
    "recycles()",
    "section(\"T-101\", \"P-101A\")",
    "withGraph({nodes: [{id: 1, node_type: \"piping_network_segment\"}]}, segmentList(\"fluid\"))",
    "shortestPath(\"T-101\", \"P-101A\")",
    "subgraph(\"P-101A\")",
    "trace(\"P-101A\")",
    "validate()",
    "valveList()",
];

/// Compares result types with results: they have every field that a run returns, and no other.
#[test]
fn all_fields_that_functions_return_are_known() {
    let read = |name: &str| std::fs::read(format!("{}/examples/data/{name}", env!("CARGO_MANIFEST_DIR")));
    let [plant, other] = ["plant.json", "plant_b.json"].map(|name| read(name).expect("a drawing of ours"));
    let params = format!(r#"{{"other": {}}}"#, String::from_utf8(other).expect("it is text"));
    let graph = Graph::from_json(plant).expect("valid JSON");
    for call in RECORDS {
        let params = if call.contains("$other") { &params } else { "{}" };
        let codes = |query: &str| {
            let query = Dialect::standard().parse_with(query, params).expect(query);
            query.check().expect(call).iter().map(|warning| warning.code).collect::<Vec<_>>()
        };
        let query = Dialect::standard().parse_with(call, params).expect(call);
        let result = query.to_json(&graph, Limits::default()).expect(call);
        let mut stack = vec![(call.to_string(), serde_json::from_str::<serde_json::Value>(&result).expect("JSON"))];
        let is_list = stack[0].1.is_array();
        assert!(!matches!(&stack[0].1, serde_json::Value::Array(rows) if rows.is_empty()), "{call} gives nothing");
        let other = if is_list { format!("{call} | map(.other)") } else { format!("{call} | .other") };
        assert_eq!(codes(&other), ["PQW01"], "{other}");
        while let Some((path, value)) = stack.pop().filter(|(path, _)| path.len() < call.len() + 50) {
            let parts: Vec<(String, serde_json::Value)> = match value {
                serde_json::Value::Array(items) => items.into_iter().take(3).map(|item| ("0".into(), item)).collect(),
                serde_json::Value::Object(fields) => fields.into_iter().collect(),
                _ => continue,
            };
            for (key, value) in parts {
                let path = format!("{path} | .{}", serde_json::json!(key));
                assert_eq!(codes(&path), [""; 0], "{path}");
                stack.push((path, value));
            }
        }
    }
}

#[test]
fn a_field_that_no_function_returns_is_reported_once() {
    let graph = Graph::from_json(DRAWING).expect("the drawing is JSON");
    let query = parse("isolate(\"V-1\") | [.barrier, .insid]");
    let scratch = pidq::Scratch::new();
    let codes = query.run(&graph, &scratch, Limits::default()).expect("it runs").warnings;
    let codes: Vec<String> = codes.iter().map(|warning| format!("{}: {}", warning.code, warning.message)).collect();
    let [first, second] = ["barrier", "insid"].map(|name| format!("PQW01: no object here has a field `{name}`"));
    assert_eq!(codes, [first, second]);
    assert_eq!(drawing_codes(DRAWING, query.source()), [""; 0]);
}

#[test]
fn nodes_and_edges_in_records_are_those_of_the_drawing() {
    for (query, codes) in [
        ("trace(\"T-101\") | map(.node.tagg)", &["PQW01"][..]),
        ("isolate(\"V-1\") | .barriers | map(.node.clas)", &["PQW01"]),
        ("isolate(\"V-1\") | .inside | filter(.tag == 5)", &["PQW02"]),
        ("shortestPath(\"T-101\", \"V-2\") | .edges | map(.lenght)", &["PQW01"]),
        ("findPattern(\"(a)-[e]->(b)\", .a.tag == 5) | map(.e.lenght)", &["PQW02", "PQW01"]),
        ("components() | map(map(.tagg))", &["PQW01"]),
        ("edges() | map(endpoints() | .source.tag == 5)", &["PQW02"]),
        ("edges() | first() | endpoints() | .sources", &["PQW01"]),
        ("withGraph({nodes: [{id: 1, x: 1}]}, trace(1)) | map(.node.x)", &[]),
        ("trace(\"T-101\") | map(.node.size)", &[]),
    ] {
        assert_eq!(drawing_codes(DRAWING, query), codes, "{query}");
    }
}

#[test]
fn the_nodes_of_a_drawing_are_found_by_its_topology() {
    let own = r#"{"items": [{"oid": 1, "tag": "T-1"}], "nodes": [{"tag": 5}], "pipes": [],
        "metadata": {"topology": {"paths": {"nodes": ["items"], "edges": ["pipes"]}, "node_id": ["oid"]}}}"#;
    assert_eq!(drawing_codes(own, "nodes(.tag == 5)"), ["PQW02"]);
    assert_eq!(drawing_codes(own, "nodes(.oid == 5)"), [""; 0]);
}

#[test]
fn a_list_of_nodes_is_an_array_without_a_document() {
    check("nodes() == 5", &["PQW02"]);
    check("reachable(\"a\", \"b\") == \"yes\"", &["PQW02"]);
    check("nodes().tag", &["PQW07"]);
    check("degree() == \"1\"", &["PQW02"]);
    check("nodes() | mapValues(.a)", &[]);
    check("node(\"a\").tag", &[]);
}

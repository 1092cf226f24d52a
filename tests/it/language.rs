//! Language features beyond the reference suite: extensions, byte fidelity, intended deviations.

use pidq::{Dialect, Graph, Limits};

fn check(query: &str, input: &str, expected: &str) {
    check_with(query, "{}", input, expected);
}

fn check_with(query: &str, params: &str, input: &str, expected: &str) {
    let graph = Graph::from_json(input).expect("the input is JSON");
    let result =
        Dialect::standard().parse_with(query, params).and_then(|query| query.to_json(&graph, Limits::default()));
    assert_eq!(result.as_deref().map_err(ToString::to_string), Ok(expected), "{query} on {input}");
}

#[test]
fn unchanged_values_keep_their_bytes() {
    check("get()", r#" {"b": 53.0, "a" : "\u00e9\/"} "#, r#"{"b": 53.0, "a" : "\u00e9\/"}"#);
    check(".a", r#"{"a": 1.50e3}"#, "1.50e3");
    check("map(.a)", r#"[{"a": 53.0}, {"a": 12345678901234567890}]"#, "[53.0,12345678901234567890]");
    check("filter(.a > 1)", r#"[{"a": 2},{"a": 3},{"a":0}]"#, r#"[{"a": 2},{"a": 3}]"#);
    check(".a", r#"{"a": {"x": 1, "x": 2}}"#, r#"{"x": 1, "x": 2}"#);
}

#[test]
fn computed_numbers_print_as_in_javascript() {
    check(".a + 0", r#"{"a": 53.0}"#, "53");
    check("1e21 + 0", "null", "1e+21");
    check("1 / 3", "null", "0.3333333333333333");
    check("0.1 + 0.2", "null", "0.30000000000000004");
    check("1 / 0", "null", "null");
}

#[test]
fn of_two_equal_keys_the_last_value_is_kept_at_the_first_position() {
    check("keys()", r#"{"x": 1, "y": 2, "x": 3}"#, r#"["x","y"]"#);
    check(".x", r#"{"x": 1, "y": 2, "x": 3}"#, "3");
    check("values()", r#"{"b": 1, "2": 2, "1": 3}"#, "[3,2,1]");
}

#[test]
fn parameters_are_never_parsed_as_query_text() {
    check_with(
        "filter(.a == $a)",
        r#"{"a": "x) | size("}"#,
        r#"[{"a":"x) | size("},{"a":"y"}]"#,
        r#"[{"a":"x) | size("}]"#,
    );
    check_with("limit($n)", r#"{"n": 2}"#, "[1,2,3]", "[1,2]");
    check_with("sort(get(), $order)", r#"{"order": "desc"}"#, "[1,2,3]", "[3,2,1]");
    check_with("regex(., $p)", r#"{"p": "^a"}"#, r#""abc""#, "true");
    check_with("$p.a.0", r#"{"p": {"a": [7.0]}}"#, "null", "7.0");
    check_with("limit($p.n.1)", r#"{"p": {"n": [9, 2]}}"#, "[1,2,3]", "[1,2]");
    check_with("regex(., $p.text, $p.flags)", r#"{"p": {"text": "^A", "flags": "i"}}"#, r#""abc""#, "true");
    check_with("get($k)", r#"{"k": "a b"}"#, r#"{"a b": 1}"#, "1");
    check_with("get($k.of, \"b\")", r#"{"k": {"of": 1}}"#, r#"[0, {"b": 2}]"#, "2");
    check_with("[exists(get($k)), pick(get($k))]", r#"{"k": "a"}"#, r#"{"a": 1, "b": 2}"#, r#"[true,{"a":1}]"#);
}

#[test]
fn let_binds_on_the_current_data() {
    check("let({n: size()}, map(. / $n))", "[2,4]", "[1,2]");
    check("map(let({a: .x, b: $a + 1}, [$a, $b]))", r#"[{"x":1},{"x":5}]"#, "[[1,2],[5,6]]");
    check("let({a: 1}, let({a: 2}, $a) + $a)", "null", "3");
    check(".a | $root.b", r#"{"a": 1, "b": 2}"#, "2");
}

#[test]
fn comments_and_the_lone_dot_are_part_of_the_language() {
    check("filter(. > 1) // more than one", "[1,2]", "[2]");
    check("/* all */ map([., 1])", "[0]", "[[0,1]]");
}

#[test]
fn profile_jsonquery_has_no_extensions() {
    for query in ["$a", "map(.)", "1 // one", "let({a: 1}, 2)"] {
        assert!(Dialect::json_query().parse(query).is_err(), "{query}");
    }
}

#[test]
fn inherited_names_of_javascript_are_ordinary_keys() {
    check("groupBy(.) | keys()", r#"["constructor","__proto__"]"#, r#"["constructor","__proto__"]"#);
}

#[test]
fn values_built_deeper_than_any_document_are_written_and_compared() {
    let deep = format!("get(){}", " | [get()]".repeat(900));
    let graph = Graph::from_json("1").expect("1 is JSON");
    let compare = format!("{{a: {deep}, b: {deep}}} | [.a == .b, string(.a), number(.a)]");
    let query = Dialect::standard().parse(&compare).expect("valid query");
    assert_eq!(query.to_json(&graph, Limits::default()).ok().as_deref(), Some(r#"[true,"1",1]"#));
}

#[test]
fn arguments_that_the_reference_ignores_are_ignored() {
    check("sort(.a.b)", r#"[{"a": "text"}]"#, r#"[{"a": "text"}]"#);
    check("sort(.toString) | limit(0)", r#"[{"a": 1}]"#, "[]");
    check("sort(sum())", "[]", "[]");
    check("in(1, [1], sum())", "null", "true");
    check("size(foo())", "[1, 2]", "2");
}

#[test]
fn null_is_no_flag_of_match_all_and_a_string_elsewhere() {
    check(r#"matchAll("aa", "a", null) | size()"#, "null", "2");
    for query in [r#"match("a", "a", null)"#, r#"regex("a", "a", null)"#, r#"matchAll("a", "a", "null")"#] {
        assert_eq!(code(query, &Dialect::standard()), Some("PQ1008"), "{query}");
    }
    // The flag `g` is always set.
    assert_eq!(code(r#"matchAll("a", "a", "g")"#, &Dialect::standard()), Some("PQ1008"));
}

#[test]
fn constants_may_be_parameters_but_not_computed_values() {
    let code = |query: &str| {
        let error = Dialect::standard().parse_with(query, r#"{"list": [1], "object": {"a": {}}}"#).err();
        error.map(|error| error.code().as_str())
    };
    for query in ["limit($list)", "limit($object.a)", "get($list)", "get(\"a\", $object)", "regex(., $list)"] {
        assert_eq!(code(query), Some("PQ1004"), "{query}");
    }
    for query in ["let({n: .x}, get($n))", "let({k: .k}, regex(., \"a\", $k))", "limit($root)", "get($root.a)"] {
        assert_eq!(code(query), Some("PQ1006"), "{query}");
    }
    for query in ["let({n: 1}, limit($n))", "let({k: \"a\"}, get($k))", "let({n: .x}, limit($n))"] {
        assert_eq!(code(query), None, "{query}");
    }
    assert_eq!(code("get($lits)"), Some("PQ1005"));
    assert_eq!(code("get($list.0)"), None);
}

#[test]
fn a_key_of_the_reference_is_always_a_string() {
    let graph = Graph::from_json(r#"{"$,k": 7}"#).expect("the input is JSON");
    let query = Dialect::json_query().compile_json(r#"["get", ["$", "k"]]"#).expect("valid query");
    assert_eq!(query.to_json(&graph, Limits::default()).expect("it runs"), "7");
}

#[test]
fn parameters_do_not_hide_names_of_the_language() {
    for params in [r#"{"root": 1}"#, r#"{"_a": 1}"#] {
        let error = Dialect::standard().parse_with("1", params).err().map(|error| error.code().as_str());
        assert_eq!(error, Some("PQ1005"), "{params}");
    }
}

#[test]
fn uniq_ignores_the_order_of_fields() {
    let items =
        r#"[[1,2],{"1":2,"0":1},{"a":{"b":[{"c":1}]}},{"a":{"b":[{"c":2}]}},{"a":{"b":[{"c":1}]}},[],{},[[]],-0.0,0]"#;
    check("uniq()", items, r#"[[1,2],{"a":{"b":[{"c":1}]}},{"a":{"b":[{"c":2}]}},[],[[]],-0.0]"#);
}

/// Returns the code of a query that does not compile; `None` if it does.
fn code(query: &str, dialect: &Dialect) -> Option<&'static str> {
    dialect.parse(query).err().map(|error| error.code().as_str())
}

#[test]
fn functions_of_pidq_check_their_number_of_arguments() {
    let dialect = Dialect::standard();
    for query in ["top(1)", "top(1, .a, \"asc\", 2)", "contains(.a)", "any()", "first(1)", "upper()", "let({a: 1})"] {
        assert_eq!(code(query, &dialect), Some("PQ1003"), "{query}");
    }
    for query in ["top(1, .a)", "count()", "count(.a)", "coalesce()", "coalesce(1, 2, 3, 4, 5)", "slice(1)"] {
        assert_eq!(code(query, &dialect), None, "{query}");
    }
}

#[test]
fn functions_of_json_query_take_any_number_of_arguments() {
    for dialect in [Dialect::standard(), Dialect::json_query()] {
        for query in ["size(1)", "size(foo())", "filter()", "eq()", "add(1, 2, 3)", "sort(.a, \"asc\", 3)", "round()"] {
            assert_eq!(code(query, &dialect), None, "{query}");
        }
    }
}

//! Nested values: descent, computed paths, changes at any depth, deep merge.

use pidq_core::Limits;
use serde_json::{Map, Value, json};

use crate::{Random, check, check_error, run_with, value};

const PLANT: &str =
    r#"{"unit": "U1", "items": [{"tag": "P-1", "size": 80.0, "sub": [{"tag": "V-1"}]}, {"tag": "P-2"}]}"#;

#[test]
fn descendants_are_all_parts_in_document_order() {
    check("descendants()", r#"{"a": [1, {"b": null}], "c": {}}"#, r#"[[1, {"b": null}],1,{"b": null},null,{}]"#);
    check("descendants(exists(.tag)) | map(.tag)", PLANT, r#"["P-1","V-1","P-2"]"#);
    check(r#"descendants(typeOf(get()) == "number")"#, PLANT, "[80.0]");
    for empty in ["null", "1", "\"text\"", "[]", "{}"] {
        check("[descendants(), valuePaths(), leaves()]", empty, "[[],[],[]]");
    }
}

#[test]
fn a_condition_on_a_property_does_not_hold_for_parts_that_cannot_have_it() {
    // Texts have a method `link` in JavaScript, arrays a length.
    check(r#"descendants(.link == "x") | size()"#, r#"{"a": ["text", {"link": "x"}]}"#, "1");
    check("descendants(.length > 5) | map(.length)", r#"[[1], {"length": 6}]"#, "[6]");
}

#[test]
fn paths_lead_back_to_their_values() {
    check("valuePaths()", r#"{"a": [5, {"b": 6}]}"#, r#"[["a"],["a",0],["a",1],["a",1,"b"]]"#);
    check(
        "let({all: get()}, valuePaths(get() == 6) | map(let({p: get()}, $all | getAt($p))))",
        r#"{"a": [5, {"b": 6}]}"#,
        "[6]",
    );
    check("leaves()", r#"{"a": [], "b": {"c": {}}}"#, r#"[{"path":["a"],"value":[]},{"path":["b","c"],"value":{}}]"#);
}

#[test]
fn a_computed_path_reads_keys_indexes_and_numbers_in_texts() {
    check(r#"getAt(["items", -1, "tag"])"#, PLANT, r#""P-2""#);
    check(r#"getAt(split("items.0.sub.0.tag", "."))"#, PLANT, r#""V-1""#);
    check(
        r#"[getAt("unit"), getAt(["unit", "x"]), getAt(["items", 2]), getAt(["items", -3])]"#,
        PLANT,
        r#"["U1",null,null,null]"#,
    );
    check("getAt([])", "[1]", "[1]");
    check("getAt([1])", r#"{"1": "one"}"#, r#""one""#);
    check_error("getAt([0.5])", "[1]", "PQ2008", "an integer");
    check_error("getAt([null])", "[1]", "PQ2008", "a string or an integer");
    check(
        "[lookup(.a, 1), lookup(.a, -1), lookup(.a, 5), lookup(.o, 7), lookup(.a, null)]",
        r#"{"a": [4, 5, 6], "o": {"7": "x"}}"#,
        r#"[5,6,null,"x",null]"#,
    );
}

#[test]
fn set_creates_what_is_missing_and_leaves_the_rest_as_it_was() {
    check(
        "set(.items.1.size, 50)",
        PLANT,
        r#"{"unit":"U1","items":[{"tag": "P-1", "size": 80.0, "sub": [{"tag": "V-1"}]},{"tag":"P-2","size":50}]}"#,
    );
    check("set(.a.b.c, 1)", "null", r#"{"a":{"b":{"c":1}}}"#);
    check("set(.a.0.b, 1)", "{}", r#"{"a":[{"b":1}]}"#);
    check(r#"set(."0", 1)"#, "{}", r#"{"0":1}"#);
    check("set(.a, .missing)", "{}", r#"{"a":null}"#);
    check(r#"setAt(["a", "0"], 1)"#, "{}", r#"{"a":{"0":1}}"#);
    check("setAt([2], 9)", "[1, 2]", "[1,2,9]");
    check("setAt([-1], 9)", "[1, 2]", "[1,9]");
    check("setAt([], 9)", "[1, 2]", "9");
    // Keys that are integers come first, as in JavaScript.
    check(r#"setAt(["7"], 1)"#, r#"{"b": 0}"#, r#"{"7":1,"b":0}"#);
}

#[test]
fn set_does_not_guess() {
    check_error("set(.a, 1)", r#"[{"a": 0}]"#, "PQ2008", "`map(...)`");
    check_error("update(.a, 1)", r#"[{"a": 0}]"#, "PQ2008", "`map(...)`");
    for query in ["set(.a.b, 1)", "update(.a.b, 1)", r#"deleteAt(["a", "b"])"#] {
        check_error(query, r#"{"a": [{"b": 0}]}"#, "PQ2008", "`update(.items, map(...))`");
    }
    check_error("set(.a.b, 1)", r#"{"a": 5}"#, "PQ2008", "not number");
    check_error("setAt([3], 1)", "[1, 2]", "PQ2008", "the index 2 appends");
    check_error("setAt([-3], 1)", "[1, 2]", "PQ2008", "outside of an array");
    check_error("setAt([1000000000000], 1)", "[]", "PQ2008", "outside of an array");
    check_error("deleteAt([])", "[]", "PQ2008", "at least one key");
}

#[test]
fn update_changes_only_what_is_there() {
    check("update(.a, get() * 2)", r#"{"a": 3}"#, r#"{"a":6}"#);
    check("update(.a, get() * 2)", r#"{"b": 3.0}"#, r#"{"b": 3.0}"#);
    check("update(.a.b.c, 1)", r#"{"a": 5}"#, r#"{"a": 5}"#);
    check("update(.a, 1)", r#"{"a": null}"#, r#"{"a":1}"#);
    check("update(.items, map(.tag))", PLANT, r#"{"unit":"U1","items":["P-1","P-2"]}"#);
    check(r#"updateAt(["items", -1], keys())"#, r#"{"items": [{}, {"k": 1}]}"#, r#"{"items":[{},["k"]]}"#);
}

#[test]
fn delete_closes_the_gap_and_ignores_what_is_missing() {
    check(r#"deleteAt(["a", 1])"#, r#"{"a": [1, 2.0, 3]}"#, r#"{"a":[1,3]}"#);
    check(r#"deleteAt(["a", -1])"#, r#"{"a": [1, 2.0, 3]}"#, r#"{"a":[1,2.0]}"#);
    check(r#"deleteAt("a")"#, r#"{"a": 1, "b": 2}"#, r#"{"b":2}"#);
    for missing in [r#"["x"]"#, r#"["a", 7]"#, r#"["a", 0, "b"]"#, r#"["b", "c", "d"]"#] {
        check(&format!("deleteAt({missing})"), r#"{"a": [1.0]}"#, r#"{"a": [1.0]}"#);
    }
}

#[test]
fn omit_removes_what_was_at_its_paths() {
    for (query, input, expected) in [
        ("omit(.n.0)", r#"{"n": [3, 1, 2]}"#, r#"{"n":[1,2]}"#),
        ("omit(.n.0, .n.1)", r#"{"n": [3, 1, 2]}"#, r#"{"n":[2]}"#),
        ("omit(.n.1, .n.0, .n.1)", r#"{"n": [3, 1, 2]}"#, r#"{"n":[2]}"#),
        ("omit(.n.0, .n.0.a, .n.1.a)", r#"{"n": [{"a": 1}, {"a": 2, "b": 3.0}]}"#, r#"{"n":[{"b":3.0}]}"#),
        ("omit(.a.b, .a)", r#"{"a": {"b": 1}, "c": 2}"#, r#"{"c":2}"#),
        ("omit(.a)", r#"[{"a": 1, "b": 1.0}, {"b": 2}]"#, r#"[{"b":1.0},{"b": 2}]"#),
        ("omit(.x.y)", r#"{"a":  1.0}"#, r#"{"a":  1.0}"#),
        ("omit(.a.0)", r#"{"a": {"0": 1}}"#, r#"{"a":{}}"#),
        ("omit()", r#"{"a": 1}"#, r#"{"a": 1}"#),
    ] {
        check(query, input, expected);
    }
    check_error("omit(.emp.n)", r#"{"emp": [{"n": 1}]}"#, "PQ2008", "`update(.items, map(...))`");
    check_error("omit(.a)", "[1]", "PQ2003", "only objects have keys");
    check_error("omit(.a)", "null", "PQ2003", "null");
}

#[test]
fn omit_deep_keeps_the_text_of_unchanged_parts() {
    check("omitDeep(get() == null)", r#"{"a": [1.0,  2], "b": [null, {"c": null}]}"#, r#"{"a":[1.0,  2],"b":[{}]}"#);
    check("omitDeep(false)", r#"{"a":  1.0}"#, r#"{"a":  1.0}"#);
    check("omitDeep(true)", r#"{"a": [1]}"#, "{}");
    check("[omitDeep(true)]", "5", "[5]");
}

#[test]
fn map_deep_replaces_inner_parts_before_outer_ones() {
    check(r#"mapDeep(if(typeOf(get()) == "array", size(), get()))"#, r#"[[1, 2], [[3]]]"#, "2");
    check(
        r#"mapDeep(if(typeOf(get()) == "string", upper(get()), get()))"#,
        r#"{"a": ["x", {"b": "y"}]}"#,
        r#"{"a":["X",{"b":"Y"}]}"#,
    );
    check("mapDeep(get())", r#"{"b": 1.0, "2": [], "1": {}}"#, r#"{"1":{},"2":[],"b":1.0}"#);
}

#[test]
fn merge_deep_merges_objects_and_replaces_everything_else() {
    check(
        "mergeDeep(.l, .r)",
        r#"{"l": {"a": {"x": 1, "y": [1]}, "b": 1}, "r": {"a": {"y": [2], "z": 3}, "b": {"c": 1}}}"#,
        r#"{"a":{"x":1,"y":[2],"z":3},"b":{"c": 1}}"#,
    );
    check("mergeDeep({a: {b: 1}}, {a: null}, {a: {c: 2}})", "null", r#"{"a":{"c":2}}"#);
    check("[mergeDeep(), mergeDeep({a: 1})]", "null", r#"[{},{"a":1}]"#);
    check_error("mergeDeep({}, [])", "null", "PQ2003", "not array");
}

#[test]
fn flatten_deep_takes_a_depth() {
    check(
        "[flattenDeep(), flattenDeep(0), flattenDeep(1), flattenDeep(2)]",
        "[[1,[2,[3]]],[],4]",
        "[[1,2,3,4],[[1,[2,[3]]],[],4],[1,[2,[3]],4],[1,2,[3],4]]",
    );
    check_error("flattenDeep()", "{}", "PQ2001", "Array");
}

/// A value that contains the one before it twice, 40 times over, takes little memory; a visit of all its parts would
/// take years.
#[test]
fn shared_parts_are_charged_for_every_visit() {
    let limits = Limits { fuel: 100_000, ..Limits::default() };
    let doubled = format!("{{a: 1}} | {}", vec!["{l: get(), r: get()}"; 40].join(" | "));
    let lists = format!("[1] | {}", vec!["[get(), get()]"; 40].join(" | "));
    let calls =
        ["descendants()", "valuePaths()", "leaves()", "mapDeep(get())", "omitDeep(false)", "mergeDeep(get(), get())"];
    let queries = calls.map(|call| format!("{doubled} | {call}"));
    for query in queries.into_iter().chain([format!("{lists} | flattenDeep()")]) {
        assert_eq!(run_with(&query, "null", limits).expect_err("too much").code().as_str(), "PQ4001", "{query}");
    }
}

#[test]
fn deep_values_need_no_stack() {
    let deep = format!("{}1{}", "[".repeat(400), "]".repeat(400));
    let nested = "mapDeep(get()) | omitDeep(false) | [size(), flattenDeep(), descendants() | size()]";
    check(nested, &deep, "[1,[1],400]");
}

#[test]
fn a_run_out_of_memory_is_an_error() {
    let input = Value::from_iter((0..2000).map(|at| json!({"a": {"b": at}}))).to_string();
    for query in
        ["valuePaths()", "leaves()", "mapDeep(get())", "map(mergeDeep(get(), {a: {c: 1}}))", "map(set(.a.c, 1))"]
    {
        let limits = Limits { memory: 50_000, ..Limits::default() };
        let code = run_with(query, &input, limits).expect_err(query).code().as_str();
        assert_eq!(code, "PQ4007", "{query}");
    }
}

/// The leaves of a value by recursion.
fn leaves_of(value: &Value, path: &mut Vec<Value>, found: &mut Vec<Value>) {
    let parts: Vec<(Value, &Value)> = match value {
        Value::Array(items) => items.iter().enumerate().map(|(at, item)| (json!(at), item)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, field)| (json!(name), field)).collect(),
        _ => Vec::new(),
    };
    for (key, part) in parts {
        path.push(key);
        leaves_of(part, path, found);
        if part.as_array().is_none_or(Vec::is_empty) && part.as_object().is_none_or(Map::is_empty) {
            found.push(json!({"path": path.clone(), "value": part}));
        }
        path.pop();
    }
}

fn merged(left: &Value, right: &Value) -> Value {
    let (Value::Object(left), Value::Object(right)) = (left, right) else { return right.clone() };
    let mut result = left.clone();
    for (name, value) in right {
        let value = left.get(name).map_or_else(|| value.clone(), |old| merged(old, value));
        result.insert(name.clone(), value);
    }
    Value::Object(result)
}

#[test]
fn random_values_agree_with_a_recursive_oracle() {
    let mut random = Random(7);
    for _ in 0..300 {
        let (left, right) = (random.object(4), random.object(4));
        let input = json!({"l": left, "r": right}).to_string();
        assert_eq!(value("mergeDeep(.l, .r)", &input), merged(&left, &right), "{input}");
        let (mut expected, mut found) = (Vec::new(), value(".l | leaves()", &input));
        leaves_of(&left, &mut Vec::new(), &mut expected);
        let sort = |rows: &mut Vec<Value>| rows.sort_by_key(ToString::to_string);
        sort(&mut expected);
        sort(found.as_array_mut().expect("a list"));
        assert_eq!(found, Value::from(expected), "{input}");
    }
}

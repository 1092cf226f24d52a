//! One case for each class of vulnerabilities fixed in jq up to 1.8.2.

use pidq::{Dialect, Graph, Limits, Query};

use super::families::colliding_key;
use super::{Attack, AttackQuery, AttackResult, cpu, run_attack};

const SMALL: Limits<'static> = Limits {
    fuel: 2_000_000,
    memory: 8 << 20,
    output: 1 << 20,
    string: 4 << 20,
    backtracks: 100_000,
    rows: 10_000,
    paths: 1_000,
    depth: 1_000,
    cancel: None,
};

fn run_case(query: &str, document: &str) -> AttackResult {
    run_attack(&Attack { document: document.into(), query: AttackQuery::Text(query.into()), limits: SMALL })
}

#[track_caller]
fn assert_result(query: &str, document: &str, expected: &str) {
    let graph = Graph::from_json(document).expect("the case is JSON");
    let result = Query::parse(query).and_then(|query| query.to_json(&graph, SMALL));
    assert_eq!(result.as_deref().map_err(|error| error.code().as_str()), Ok(expected), "{query}");
}

/// Asserts that a query ends with the error of a limit.
#[track_caller]
fn assert_limit_error(query: &str, document: &str) {
    let result = run_case(query, document);
    assert!(result.is_err_and(|code| code.starts_with("PQ4")), "{query}: {result:?}");
}

/// CVE-2026-32316: the length of a joined string overflowed.
#[test]
fn the_length_of_a_string_does_not_overflow() {
    let long = format!("\"{}\"", "a".repeat(10_000));
    assert_limit_error(&format!("get(){}", " | get() + get()".repeat(63)), "\"a\"");
    assert_limit_error("padStart(\"a\", 1e300, \"bc\")", "null");
    assert_limit_error("padStart(\"a\", 18446744073709551615, \"b\")", "null");
    assert_limit_error("replace(get(), \"a\", get())", &long);
}

/// CVE-2026-33947, 40612, 43896, 44777, 47770: recursion on the depth of a path, in `contains`, in merging, in
/// comparing, in freeing.
#[test]
fn the_depth_of_a_value_costs_no_stack() {
    let deep = |wrap: &str, last: &str| run_case(&format!("get(){} | {last}", format!(" | {wrap}").repeat(2_000)), "1");
    for wrap in ["[get()]", "{a: get()}", "[get(), [get()]]"] {
        for last in [
            "get()",
            "get() == get()",
            "[get(), get()] | uniq() | size()",
            "[get(), get()] | sort() | size()",
            "string(get())",
            "get() + 1",
            "number(get())",
            "get() in [get()]",
            "contains([get()], get())",
            "merge({b: get()})",
            "merge(get())",
            "[get(), get()] | keyBy(get()) | keys() | size()",
            "flatten() | size()",
            "[get(), get()] | groupBy(get()) | size()",
            "[get()] | join()",
            "get() > get()",
            "[get(), get()] | max()",
            "[get(), get()] | uniqBy(get())",
            "innerJoin(get(), get(), get())",
            "typeOf(get())",
            "not(get())",
        ] {
            if let Err(code) = deep(wrap, last) {
                assert!(["PQ2", "PQ4"].iter().any(|stage| code.starts_with(stage)), "{wrap} {last}: {code}");
            }
        }
    }
    assert_result(&format!("get(){}", ".a".repeat(9_000)), "{\"a\":{\"a\":null}}", "null");
}

/// CVE-2026-33948, 41256, 43895: a NUL truncated strings, keys, programs and files.
#[test]
fn nul_is_an_ordinary_character() {
    assert_result(
        "[.0 == .1, .0 > .1, .0 + .1, size()]",
        r#"["a\u0000b","a\u0000c"]"#,
        r#"[false,false,"a\u0000ba\u0000c",2]"#,
    );
    assert_result(".\"a\\u0000b\"", r#"{"a":1,"a\u0000b":2}"#, "2");
    assert_result("keyBy(get()) | keys()", r#"["a","a\u0000","a\u0000b"]"#, r#"["a","a\u0000","a\u0000b"]"#);
    assert_result("split(get(), \"\\u0000\")", r#""a\u0000b\u0000""#, r#"["a","b",""]"#);
    assert_result("regex(get(), \"^a.b$\")", r#""a\u0000b""#, "true");
    assert_result("uniq() | size()", r#"["\u0000","\u0000\u0000",""]"#, "3");
    assert_eq!(run_case("get()", "[1]\0"), Err("PQ5001"));
    assert_eq!(run_case("get()", "[1,\x002]"), Err("PQ5001"));
    assert_eq!(run_case("get()", "\"a\0b\""), Err("PQ5001"));
    assert!(run_case("get()\0 | nope()", "1").is_err_and(|code| code.starts_with("PQ0")));
    assert!(run_case("\"a\0b\"", "1").is_err_and(|code| code.starts_with("PQ0")));
}

/// CVE-2026-39956: a function trusted the type of its argument.
#[test]
fn every_function_accepts_every_type() {
    const VALUES: [&str; 9] =
        ["null", "true", "-1.5", "1e308", "\"\"", "\"a\"", "[]", "[1, \"a\", null, {a: 1}]", "{a: {b: [1]}}"];
    for function in Dialect::standard().functions() {
        let name = function.name().replace(' ', "");
        for input in VALUES {
            for first in VALUES {
                let _ = run_case(&format!("{input} | {name}({first})"), "null");
                let _ = run_case(&format!("{input} | {name}({first}, {first})"), "null");
                let _ = run_case(&format!("{input} | {name}({first}, \"a\", {input})"), "null");
            }
        }
    }
}

/// CVE-2026-39979: an input without a terminator was read beyond its end.
#[test]
fn an_input_may_end_at_every_byte() {
    let document = "{\"a\\u00e9\":[1.5e-3,true,false,null,{\"b\":\"\\ud83d\\ude00\u{1F600}\"}]}";
    for at in 0..document.len() {
        let code = Graph::from_json(&document.as_bytes()[..at]).err().map(|error| error.code().as_str());
        assert!(matches!(code, Some("PQ5001" | "PQ5004")), "{at}: {code:?}");
    }
    let query = "let({x: .\"é\".0}, map(.a == \"\\ud83d\\ude00\" and $x not in [1.5e-3, {b: /* c */ null}]) | sort(.a, \"desc\")) // d";
    for at in (0..=query.len()).filter(|at| query.is_char_boundary(*at)) {
        let _ = run_case(&query[..at], "[]");
    }
    let json = r#"["pipe",["get","é"],["map",["eq",["get"],1.5e-3]],["object",{"a":[true,"\ud83d\ude00"]}]]"#;
    for at in (0..json.len()).filter(|at| json.is_char_boundary(*at)) {
        assert!(Query::from_json(&json[..at]).is_err(), "{at}");
    }
}

/// CVE-2026-40164: keys that collide in the hash table made objects quadratic.
#[test]
fn colliding_keys_cost_no_more_than_others() {
    const KEYS: usize = 30_000;
    let seconds = |key: fn(usize) -> String| {
        let fields: Vec<String> = (0..KEYS).map(|at| format!("\"{}\":{at}", key(at))).collect();
        let document = format!("{{{}}}", fields.join(","));
        let before = cpu();
        assert_result("keys() | keyBy(get()) | keys() | size()", &document, &KEYS.to_string());
        before.and_then(|before| Some(cpu()? - before)).unwrap_or(1.0)
    };
    let ordinary = seconds(|at| format!("{at:034}x"));
    let hostile = seconds(colliding_key);
    assert!(hostile < 4.0 * ordinary + 0.5, "{hostile:.2} s instead of {ordinary:.2} s");
}

/// CVE-2026-41257: a count overflowed its integer type.
#[test]
fn counts_accept_every_number() {
    for count in [
        "1e308",
        "-1e308",
        "9223372036854775808",
        "4294967296",
        "2147483648",
        "-1",
        "0.5",
        "1e-320",
        "(0 / 0)",
        "(1 / 0)",
    ] {
        for call in [
            "limit(N)",
            "skip(N)",
            "slice(N, N)",
            "slice(0, N)",
            "substring(get(), N, N)",
            "substring(\"añ😀\", N)",
            "round(1.5, N)",
            "round(N, N)",
            "padStart(\"a\", N)",
            "top(N)",
            "get(N)",
            "first(N)",
            "last(N)",
            "N % 3",
            "3 % N",
            "N ^ N",
            "abs(N)",
            "string(N)",
            "[N] | sum()",
            "[N, N] | average()",
            "[N] | join()",
            "[N] | prod()",
        ] {
            let _ = run_case(&call.replace('N', count), "[1,2,3]");
        }
    }
    for index in ["4294967295", "4294967296", "18446744073709551616", "999999999999999999999999"] {
        assert_result(&format!(".{index}"), "[1,2,3]", "null");
    }
}

/// CVE-2026-43894: numerals of a million digits.
#[test]
fn a_number_may_have_a_million_digits() {
    let digits = "9".repeat(1_000_000);
    assert_result("get() > 1e307", &digits, "true");
    assert_result("number(get())", &format!("\"{digits}\""), "null");
    assert_result("get() + 0", &format!("0.{}", "0".repeat(1_000_000)), "0");
    assert_result("get() == 1", &format!("1.{}", "0".repeat(1_000_000)), "true");
    assert_result("get() + 0", &format!("1e-{digits}"), "0");
    assert!(Graph::from_json(format!("{digits}.")).is_err());
    assert_eq!(run_case(&digits, "1"), Err("PQ0009"));
    assert!(run_case(&digits[..60_000], "1").is_ok());
}

/// Not a vulnerability of jq: each pattern is within its limit, and all together take gigabytes.
#[test]
fn many_patterns_share_one_limit() {
    for pattern in ["[^a]{500}", "(a{1,20}){1,20}", "[^b]{90}(?=c)", "^[^a]{400}$"] {
        let query = format!("[{}]", vec![format!("regex(get(), \"{pattern}\", \"m\")"); 1_500].join(","));
        assert_eq!(run_case(&query, "1"), Err("PQ1007"), "{pattern}");
    }
    let query = format!("[{}] | size()", vec!["regex(get(), \"^[A-Z]+-[0-9]+$\")"; 500].join(","));
    assert_result(&query, "\"P-1\"", "500");
}

/// Runs queries that take the reference implementation minutes or crash it.
#[test]
fn queries_that_hang_the_reference_terminate() {
    for query in [
        format!("{}1{}", "(".repeat(10_000), ")".repeat(10_000)),
        format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000)),
        format!("{}get(){}", "map(".repeat(5_000), ")".repeat(5_000)),
        format!("1{}", " + 1".repeat(16_000)),
        format!("get(){}", " | get()".repeat(7_000)),
        format!("get(){}", " | [get(), get()] | flatten()".repeat(22)),
        format!("get(){}", " | [get(), get()] | join()".repeat(27)),
    ] {
        let _ = run_case(&query, "[1]");
    }
    assert_result("regex(get(), \"^(a+)+$\")", &format!("\"{}b\"", "a".repeat(30)), "false");
    assert_result("groupBy(.a) | keys()", r#"[{"a":"__proto__"}]"#, r#"["__proto__"]"#);
    assert_result("{\"__proto__\": 1} | keys()", "null", r#"["__proto__"]"#);
    assert_eq!(run_case(".constructor", "{}"), Err("PQ2004"));
}

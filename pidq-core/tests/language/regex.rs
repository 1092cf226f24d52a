//! Replacement by regular expressions.

use pidq_core::{Dialect, Graph, Limits, Query, Scratch};
use serde_json::{Value, json};

use crate::{check, check_error, run_with, value};

/// Text, pattern, replacement, flags, and what `replaceAll` of V8 makes of them.
const REPLACED_BY_V8: &[&str] = &[
    r##"["abc","b","[$&]","","a[b]c"]"##,
    r##"["aXbX","x","-","i","a-b-"]"##,
    r##"["aaa","a*?","-","","-a-a-a-"]"##,
    r##"["","a*","x","","x"]"##,
    r##"["abc","","-","","-a-b-c-"]"##,
    r##"["2026-11-26","(\\d+)-(\\d+)-(\\d+)","$3.$2.$1","","26.11.2026"]"##,
    r##"["P-101A","(?<kind>[A-Z]+)-(?<no>\\d+)","$<no>/$<kind>$<none>.","","101/P.A"]"##,
    r##"["P-1","(P)(X)?","[$1|$2|$3]","","[P||$3]-1"]"##,
    r##"["cost","o","$$1","","c$1st"]"##,
    r##"["abc","b","$`|$'","","aa|cc"]"##,
    r##"["abc","(b)","$10$01$0$00","","ab0b$0$00c"]"##,
    r##"["abc","b","$<x>","","a$<x>c"]"##,
    r##"["abc","(?<x>b)","$<x","","a$<xc"]"##,
    r##"["a1b22","\\d+","#","","a#b#"]"##,
    r##"["ab","(a)|(b)","<$1$2>","","<a><b>"]"##,
    r##"["äöü😀x","[^x]","_","u","____x"]"##,
    r##"["a\nb","^","> ","m","> a\n> b"]"##,
    r##"["aaa","a","b","","bbb"]"##,
    r##"["xaxa","(?<=x)a","b","","xbxb"]"##,
    r##"["abab","(a)(b)\\1\\2","$2$1","","ba"]"##,
    r##"["a$b","\\$","$","","a$b"]"##,
    r##"["tel 12","(?:(?<y>\\d)(?<z>\\d))","$<z>$<y>","","tel 21"]"##,
    r##"["abcdefghijkl","(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)(k)","$11-$12-$1","","k-a2-al"]"##,
    r##"["DN 80","\\s+","","","DN80"]"##,
    r##"["aba","a","$x$","y","$x$ba"]"##,
];

#[test]
fn replacements_are_those_of_javascript() {
    for row in REPLACED_BY_V8 {
        let row: Vec<String> = serde_json::from_str(row).expect("five texts");
        let [text, pattern, with, flags, expected] = &row[..] else { panic!("five texts: {row:?}") };
        let query = format!("replaceRegex(get(), {}, {}, {})", json!(pattern), json!(with), json!(flags));
        assert_eq!(value(&query, &json!(text).to_string()), Value::from(expected.as_str()), "{query} on {text:?}");
    }
}

#[test]
fn the_replacement_may_be_computed_and_null_stays_null() {
    check(
        r#"map(replaceRegex(.t, "[0-9]+", .by))"#,
        r#"[{"t": "P-101", "by": "x"}, {"t": "V-2", "by": "y"}]"#,
        r#"["P-x","V-y"]"#,
    );
    check(
        r#"[replaceRegex(null, "a", "b"), replaceRegex("a", "a", null), replaceRegex("a", "x", "b")]"#,
        "null",
        r#"[null,null,"a"]"#,
    );
    check_error(r#"replaceRegex(1, "a", "b")"#, "null", "PQ2002", "string(...)");
    check_error(r#"replaceRegex("a", "(", "b")"#, "null", "PQ1007", "Invalid regular expression");
    check_error(r#"replaceRegex("a", "a", "b", "q")"#, "null", "PQ1008", "flag");
    check_error(r#"replaceRegex("a", "b")"#, "null", "PQ1003", "3 or 4 arguments");
}

#[test]
fn long_replacements_are_limited() {
    let doubled = [r#"replaceRegex(get(), "x", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")"#; 8].join(" | ");
    // Every match writes everything before and after it.
    let quadratic = r#"replaceRegex(get(), "x", "$`$'") | size()"#;
    for (query, input) in [(&*doubled, "x".into()), (quadratic, "x".repeat(20_000))] {
        let limits = Limits { string: 100_000, ..Limits::default() };
        let error = run_with(query, &json!(input).to_string(), limits).expect_err("too long");
        assert_eq!(error.code().as_str(), "PQ4007", "{query}");
    }
    let limits = Limits { memory: 100_000, ..Limits::default() };
    let error = run_with(r#"replaceRegex(get(), "x", "")"#, &json!("x".repeat(20_000)).to_string(), limits);
    assert_eq!(error.expect_err("too many matches").code().as_str(), "PQ4007");
    check_error(r#"replaceRegex(get(), "(a+)+b(?=c)", "")"#, &format!("\"{}\"", "a".repeat(40)), "PQ4006", "backtrack");
}

#[test]
fn patterns_may_be_computed() {
    let rows = r#"[{"t": "P-101", "p": "^P-"}, {"t": "V-7", "p": "^P-"}, {"t": "v-7", "p": "^V"}]"#;
    check("filter(regex(.t, .p)) | map(.t)", rows, r#"["P-101"]"#);
    check(r#"filter(regex(.t, .p, "i")) | map(.t)"#, rows, r#"["P-101","v-7"]"#);
    check(r#"map(regex(.t, "^" + substring(.t, 0, 1)))"#, rows, "[true,true,true]");
    check("let({p: .0.p}, map(match(.t, $p).value))", rows, r#"["P-",null,null]"#);
    check("let({one: .0}, map(regex(.t, $one.p)))", rows, "[true,false,false]");
    check("map(regex(.t, $root.0.p))", rows, "[true,false,false]");
    check(r#"map(replaceRegex(.t, .p, "<$&>"))"#, rows, r#"["<P->101","V-7","v-7"]"#);
    check(r#"map(replaceRegex(.t, .p, "<$&>", "i") | upper(get()))"#, rows, r#"["<P->101","V-7","<V>-7"]"#);
    check(
        r#"matchAll("a1b22", .p)"#,
        r#"{"p": "(?<n>[0-9]+)"}"#,
        r#"[{"value":"1","groups":["1"],"namedGroups":{"n":"1"}},{"value":"22","groups":["22"],"namedGroups":{"n":"22"}}]"#,
    );
    // Each pattern has its own names of groups.
    check(
        "map(match(\"ab\", get()).namedGroups)",
        r#"["(?<x>a)", "(?<y>b)", "(?<x>a)"]"#,
        r#"[{"x":"a"},{"y":"b"},{"x":"a"}]"#,
    );
}

#[test]
fn a_computed_pattern_that_is_not_valid_is_an_error_of_the_data() {
    check_error(
        "map(regex(.t, .p))",
        r#"[{"t": "a", "p": "a"}, {"t": "a", "p": "("}]"#,
        "PQ2008",
        "Invalid regular expression: /(/",
    );
    check_error("regex(.t, .p)", r#"{"t": "a"}"#, "PQ2002", "A pattern expected");
    check_error("regex(.t, .p)", r#"{"t": "a", "p": 7}"#, "PQ2002", "A pattern expected");
    check(r#"tryOr(regex(.t, .p), "bad")"#, r#"{"t": "a", "p": "["}"#, r#""bad""#);
    check_error(r#"regex(.t, .p, .f)"#, "{}", "PQ1006", "`flags`");
    // JSON Query knows constants only.
    let error = Dialect::json_query().parse("regex(.t, .p)").expect_err("not a constant");
    assert_eq!(error.code().as_str(), "PQ1006");
}

/// The cache of a run begins empty, and drops its patterns when they are too many.
#[test]
fn computed_patterns_cost_the_same_fuel_in_every_run() {
    let patterns: Vec<Value> = (0..2_000).map(|at| json!(format!("^(?:{at}|x{{{}}})$", at % 50))).collect();
    let graph = Graph::from_json(Value::from(patterns).to_string()).expect("JSON");
    let query = Query::parse("[count(regex(\"7\", get())), count(regex(\"7\", get()))]").expect("it compiles");
    let mut scratch = Scratch::new();
    let mut fuel = Vec::new();
    for _ in 0..3 {
        scratch.reset();
        let result = query.run(&graph, &scratch, Limits::default()).expect("it runs");
        assert_eq!(result.to_json().expect("JSON"), "[1,1]");
        fuel.push(result.fuel);
    }
    assert_eq!(fuel, [fuel[0]; 3]);
    let limits = Limits { fuel: fuel[0] - 1, ..Limits::default() };
    assert_eq!(query.to_json(&graph, limits).map_err(|error| error.code().as_str()), Err("PQ4001"));
    let limits = Limits { fuel: fuel[0], ..Limits::default() };
    assert!(query.to_json(&graph, limits).is_ok());
}

/// A pattern is compiled where the run needs it, inside of the query: on a stack of 256 KiB, also in a debug build.
#[test]
fn computed_patterns_compile_inside_of_a_query() {
    let patterns = [
        format!("{}a{}", "(".repeat(45), ")".repeat(45)),
        format!("{}a{}", "(?:".repeat(45), "|b)".repeat(45)),
        format!("{}a{}", "(?:".repeat(6), "|b)*".repeat(6)),
        format!("{}a{}", "(?=".repeat(45), ")".repeat(45)),
        r"(?:\w+\s*(?<n>[\p{L}]|[^ab])){1,50}".to_owned(),
        r"(?<=a)(b)\1{2,9}".to_owned(),
    ];
    let nestings =
        [("map(", ")"), ("filter(", ")"), ("[", "]"), ("if(true, ", ")"), ("let({n: 1}, ", ")"), ("1 + (", ")")];
    let work = move || {
        for pattern in patterns {
            let input = format!("{}{}{}", "[".repeat(60), Value::from(&*pattern), "]".repeat(60));
            let pattern = "$root | flattenDeep() | first()";
            for inner in [format!("regex(\"aab\", {pattern})"), format!("replaceRegex(\"aab\", {pattern}, \"x\")")] {
                for (open, close) in nestings {
                    let depth = 22;
                    let query = format!("{}{inner}{}", open.repeat(depth), close.repeat(depth));
                    let code = run_with(&query, &input, Limits::default()).err().map(|error| error.code().as_str());
                    assert!(matches!(code, None | Some("PQ2008")), "{query}: {code:?}");
                }
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(work).expect("a thread starts");
    thread.join().expect("the stack is large enough");
    let deep = format!("{}regex(\"a\", get()){}", "map(".repeat(60), ")".repeat(60));
    check_error(&deep, "[]", "PQ0008", "24 calls");
    check(&deep.replace("get()", "\"a\""), "[]", "[]");
}

#[test]
fn a_pattern_that_matches_the_text_of_null_is_a_warning() {
    let codes = |query: &str, input: &str| {
        let graph = Graph::from_json(input).expect("JSON");
        let query = Dialect::standard().parse(query).expect("a query");
        let warned = |query: &Query| {
            let warnings = query.run(&graph, &Scratch::new(), Limits::default()).expect("it runs").warnings;
            warnings.iter().map(|warning| warning.code).collect::<Vec<_>>()
        };
        (warned(&query), warned(&query.without_optimizations()))
    };
    let input = r#"[{"n": null}, {"n": "ul"}, {}]"#;
    for (query, expected) in [
        (r#"filter(regex(.n, "l"))"#, vec!["PQW24"]),
        (r#"map(regex(.n, "l"))"#, vec!["PQW24"]),
        (r#"filter(.n != null and regex(.n, "l"))"#, vec![]),
        (r#"filter(regex(.n, "x"))"#, vec![]),
        (r#"filter(regex(.n, "^ul$"))"#, vec![]),
    ] {
        assert_eq!(codes(query, input), (expected.clone(), expected), "{query}");
    }
}

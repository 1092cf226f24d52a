//! Names bound by `let` in the place of a constant.

use pidq_core::Limits;

use crate::{check, check_error, run_with};

#[test]
fn a_name_bound_to_a_constant_is_one() {
    check("let({n: 2}, limit($n))", "[1, 2, 3]", "[1,2]");
    check(r#"let({p: "^P-", f: "i"}, map(regex(get(), $p, $f)))"#, r#"["p-1", "V-1"]"#, "[true,false]");
    check(r#"let({p: "(\\d+)"}, replaceRegex(get(), $p, "<$1>"))"#, r#""P-1""#, r#""P-<1>""#);
    check(r#"let({order: "desc", keys: 1}, top($keys, get(), $order))"#, "[1, 3, 2]", "[3]");
    check(r#"let({k: "a b", i: 1}, [get($k), pick(get($k)), get($i)])"#, r#"{"a b": 1, "1": 2}"#, r#"[1,{"a b":1},2]"#);
    // The innermost binding of a name counts, also if it stands for another one.
    check("let({n: 1}, let({m: $n}, let({n: 2}, [limit($n), limit($m)])))", "[1, 2, 3]", "[[1,2],[1]]");
    check_error("let({n: \"x\"}, skip($n))", "[1]", "PQ1012", "a number");
    check_error("let({p: \"(\"}, regex(\"a\", $p))", "[1]", "PQ1007", "Invalid regular expression");
}

#[test]
fn options_take_names_bound_to_constants() {
    let drawing =
        r#"{"nodes": [{"id": 1}, {"id": 2}, {"id": 3}], "edges": [{"from": 1, "to": 2}, {"from": 2, "to": 3}]}"#;
    check("let({n: 1}, downstream(1, {depth: $n}) | map(.id))", drawing, "[2]");
    check_error("let({n: 0 - 1}, downstream(1, {depth: $n}))", drawing, "PQ1006", "constant");
    check_error("let({n: -1}, downstream(1, {depth: $n}))", drawing, "PQ1012", "at least zero");
}

#[test]
fn a_piped_value_in_place_of_the_first_argument_is_explained() {
    check_error(
        r#".d | dateFormat("%Y")"#,
        "{}",
        "PQ1003",
        "`dateFormat(date, format)`; the value that comes through the pipe is `get()`",
    );
    check_error(r#"convertUnit("m", "mm")"#, "{}", "PQ1003", "`get()`");
}

#[test]
fn a_name_bound_to_a_computed_value_is_checked_in_the_run() {
    check("let({n: size() / 2}, [limit($n), skip($n), slice(0, $n)])", "[1, 2, 3, 4]", "[[1,2],[3,4],[1,2]]");
    check(
        r#"let({s: .sep, d: .dir}, .list | [join($s), sort(get(), $d)])"#,
        r#"{"sep": "-", "dir": "desc", "list": [1, 2]}"#,
        r#"["1-2",[2,1]]"#,
    );
    check("let({n: size() - 1}, top($n, get()))", "[1, 3, 2]", "[3,2]");
    check("let({o: .}, .list | limit($o.n))", r#"{"n": 1, "list": [7, 8]}"#, "[7]");
    check_error("let({n: keys()}, skip($n))", "[1]", "PQ2007", "Number");
    check_error(r#"let({d: .0}, top(1, get(), $d))"#, r#"["up"]"#, "PQ1012", "desc");
    // What is compiled before the run cannot be computed in it.
    check_error("let({k: .0}, get($k))", r#"["a"]"#, "PQ1006", "lookup");
    check_error("limit(size() / 2)", "[1]", "PQ1006", "bound by `let`");
}

/// 128 levels of any function fit on a stack of 256 KiB, also in a debug build.
#[test]
fn deep_queries_compile_and_run_on_a_small_stack() {
    let work = || {
        for (open, close) in [
            ("[", "]"),
            ("{a: ", "}"),
            ("map(", ")"),
            ("filter(", ")"),
            ("let({n: 1}, ", ")"),
            ("let({n: ", "}, $n)"),
            ("if(true, ", ", 1)"),
            ("coalesce(", ")"),
            ("string(", ")"),
            ("descendants(", ")"),
            ("mapDeep(", ")"),
            ("omitDeep(", ")"),
            ("set(.a, ", ")"),
            ("updateAt([], ", ")"),
            ("mergeDeep(", ")"),
            ("reduce(1, ", ")"),
            ("runningSum(", ")"),
            ("range(", ")"),
            ("zip(", ")"),
            ("antiJoin([1], ", ")"),
            ("replaceRegex(", ", \"a\", \"b\")"),
            ("replaceRegex(\"a\", ", ", \"b\")"),
            ("regex(\"a\", ", ")"),
            ("matchAll(.a, ", ")"),
            ("fromJson(", ")"),
            ("toJson(", ")"),
            ("dateAdd(", ", \"P1D\")"),
            ("convertUnit(", ", \"m\", \"m\")"),
            ("formatNumber(", ")"),
        ] {
            let query = format!("{}get(){}", open.repeat(126), close.repeat(126));
            // The result or the error does not matter.
            drop(run_with(&query, "[1]", Limits { fuel: 1_000_000, ..Limits::default() }));
        }
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(work).expect("a thread starts");
    thread.join().expect("the stack is large enough");
}

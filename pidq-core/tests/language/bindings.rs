//! Names bound by `let` in the place of a constant.

use crate::{check, check_error};

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
    check_error("let({p: .0}, regex(\"a\", $p))", r#"["a"]"#, "PQ1006", "constant");
    check_error("let({k: .0}, get($k))", r#"["a"]"#, "PQ1006", "lookup");
    check_error("limit(size() / 2)", "[1]", "PQ1006", "bound by `let`");
}

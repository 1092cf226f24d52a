//! Ranges, items by index, numbered rows, windows, folds.

use pidq_core::Limits;

use crate::{Random, check, check_error, run_with, value};

#[test]
fn a_range_ends_before_its_end() {
    check(
        "[range(0), range(-2), range(2), range(2, 2), range(3, 1), range(-1, 2)]",
        "null",
        "[[],[],[0,1],[],[],[-1,0,1]]",
    );
    check("[range(0, 5, 2), range(5, 0, -2), range(1, 3, -1), range(2.5)]", "null", "[[0,2,4],[5,3,1],[],[0,1,2]]");
    // Neither one too many nor one too few where a step is no exact double.
    check("range(0, 1, 0.1) | size()", "null", "10");
    check("range(1, 1.3, 0.1)", "null", "[1,1.1,1.2]");
    for (from, to, step) in [(0.0, 0.6, 0.2), (0.0, 0.7, 0.1), (1.0, 2.2, 0.3), (0.1, 1.0, 0.3), (-1.0, 0.0, 0.1)] {
        let numbers = value(&format!("range({from}, {to}, {step})"), "null");
        let numbers: Vec<f64> =
            numbers.as_array().expect("a list").iter().filter_map(|number| number.as_f64()).collect();
        assert!(numbers.iter().all(|number| (from..to).contains(number)), "{numbers:?}");
        assert!(numbers.last().is_some_and(|last| last + 1.001 * step >= to), "{numbers:?}");
    }
}

#[test]
fn a_range_is_finite_and_paid_for_before_it_is_built() {
    for query in ["range(1e12)", "range(0, 1e300, 1e-300)", "range(-1e308, 1e308)"] {
        check_error(query, "null", "PQ4001", "fuel");
    }
    let limits = Limits { memory: 1 << 20, ..Limits::default() };
    assert_eq!(run_with("range(1000000) | size()", "null", limits).expect_err("too large").code().as_str(), "PQ4007");
    check_error("range(1, 2, 0)", "null", "PQ2008", "step");
    check_error("range(1 / 0)", "null", "PQ2008", "Finite");
    check_error("range(0, get())", "null", "PQ2007", "Number");
    check_error("range(\"3\")", "null", "PQ1012", "number");
}

#[test]
fn nth_counts_from_either_end() {
    check("[nth(0), nth(2), nth(3), nth(-3), nth(-4), nth(1.9)]", "[1, 2, 3]", "[1,3,null,1,null,2]");
    check("[[] | nth(0), [1] | nth(0 / 0), [1, 2, 3] | nth(size() - 2)]", "null", "[null,null,2]");
    check_error("nth(0)", "{}", "PQ2001", "Array");
}

#[test]
fn zip_and_transpose_fill_with_null() {
    check("zip([1, 2], [])", r#"["a"]"#, r#"[["a",1,null],[null,2,null]]"#);
    check(
        "[transpose(), [] | transpose(), [[], []] | transpose()]",
        "[[1, 2, 3], [4]]",
        "[[[1,4],[2,null],[3,null]],[],[]]",
    );
    check_error("transpose()", "[[1], 2]", "PQ2001", "Array");
    check_error("zip(1)", "[]", "PQ2001", "Array");
}

#[test]
fn numbered_rows_begin_at_the_start() {
    check("[enumerate(), enumerate(1)]", r#"["a"]"#, r#"[[{"index":0,"item":"a"}],[{"index":1,"item":"a"}]]"#);
    check("enumerate() | size()", "[]", "0");
}

#[test]
fn windows_are_complete_and_chunks_cover_everything() {
    check("[windows(1), windows(3), windows(4), windows(2, 2)]", "[1, 2, 3]", "[[[1],[2],[3]],[[1,2,3]],[],[[1,2]]]");
    check("[chunks(1), chunks(2), chunks(9)]", "[1, 2, 3]", "[[[1],[2],[3]],[[1,2],[3]],[[1,2,3]]]");
    check("[windows(2), chunks(2)]", "[]", "[[],[]]");
    check("windows(3) | map(average())", "[1, 2, 3, 7]", "[2,4]");
    check("range(300) | chunks(100) | map([.0, size()])", "null", "[[0,100],[100,100],[200,100]]");
    check("chunks(200) | map(size())", &format!("[{}1]", "{},".repeat(400)), "[200,200,1]");
    for size in ["0", "-1", "1.5", "0 / 0"] {
        check_error(&format!("windows({size})"), "[1]", "PQ2008", "at least 1");
        check_error(&format!("chunks({size})"), "[1]", "PQ2008", "at least 1");
    }
}

#[test]
fn folds_see_result_item_and_index() {
    check("reduce(0, .result + .item * .index)", "[5, 6, 7]", "20");
    check("[reduce(7, .item), scan(7, .item)]", "[]", "[7,[]]");
    check("scan([], [.index, .item])", r#"["a", "b"]"#, r#"[[0,"a"],[1,"b"]]"#);
    check("reduce(size(), .result + 1)", "[1, 2]", "4");
    check("[runningSum(), map({a: get()}) | runningSum(.a)]", "[0.5, 1, -1]", "[[0.5,1.5,0.5],[0.5,1.5,0.5]]");
    check_error("runningSum()", "[1, null]", "PQ2007", "coalesce");
    check_error("map({a: get()}) | runningSum(.a)", r#"[1, "2"]"#, "PQ2007", "toNumber");
}

#[test]
fn setting_all_leaves_one_after_another_builds_the_value_again() {
    let mut random = Random(3);
    for _ in 0..200 {
        let object = random.object(4);
        let query = "leaves() | reduce({}, let({p: .item.path, v: .item.value}, .result | setAt($p, $v)))";
        assert_eq!(value(query, &object.to_string()), object, "{object}");
    }
}

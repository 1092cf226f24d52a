//! Formatting of numbers and texts.

use pidq_core::Limits;

use crate::{check, check_error, run_with, value};

#[test]
fn numbers_are_rounded_like_round_and_keep_their_decimals() {
    check(
        r#"[formatNumber(1.005, 2), formatNumber(2.5, 0), formatNumber(-2.5, 0), formatNumber(-0.4, 0), formatNumber(7, 3), formatNumber(1e21, 1)]"#,
        "null",
        r#"["1.01","3","-2","0","7.000","1000000000000000000000.0"]"#,
    );
    check(
        r#"[formatNumber(1234.5), formatNumber(1e21), formatNumber(1e-7), formatNumber(1e-7, 2), formatNumber(5e-324, 3)]"#,
        "null",
        r#"["1234.5","1e+21","1e-7","0.00","0.000"]"#,
    );
    for (number, digits) in
        [("0.5", 0), ("1.45", 1), ("8.345", 2), ("1.0049999", 2), ("-1.25", 1), ("123456.789", 1), ("99.995", 2)]
    {
        let rounded = value(&format!("round({number}, {digits})"), "null").as_f64().expect("a number");
        check(&format!("formatNumber({number}, {digits})"), "null", &format!("\"{rounded:.digits$}\""));
    }
}

#[test]
fn numbers_are_rounded_down_and_up() {
    check(
        "map([floor(get()), ceil(get())])",
        "[2, 2.1, -2.1, -0.2, 0.2, 1e21, null]",
        "[[2,2],[2,3],[-3,-2],[-1,0],[0,1],[1e+21,1e+21],[null,null]]",
    );
    check_error(r#"floor("2.5")"#, "null", "PQ2007", "toNumber");
}

#[test]
fn thousands_are_grouped_from_the_point() {
    check(
        r#"[1, 12, 123, 1234, 123456, 1234567.25, -1234, -123] | map(formatNumber(get(), {group: ","}))"#,
        "null",
        r#"["1","12","123","1,234","123,456","1,234,567.25","-1,234","-123"]"#,
    );
    check(r#"formatNumber(1234.5, 2, {group: " ", point: ","})"#, "null", r#""1 234,50""#);
    check(r#"formatNumber(1e21, {group: ","})"#, "null", r#""1e+21""#);
    check("[formatNumber(null, 2), formatNumber(.x)]", "{}", "[null,null]");
    check_error("formatNumber(1 / 0, 2)", "null", "PQ2008", "Finite");
    check_error("formatNumber(1, 101)", "null", "PQ2008", "0 to 100");
    check_error("formatNumber(1, 0.5)", "null", "PQ2008", "0 to 100");
    check_error("formatNumber(\"1\", 2)", "null", "PQ2007", "toNumber");
    check_error("formatNumber(1, 2, {sep: 1})", "null", "PQ1011", "group, point");
}

#[test]
fn templates_name_fields_by_path() {
    let row = r#"{"tag": "P-1", "a": {"b": [1.0, {"c": true}]}, "n": null, "kw": 7.456}"#;
    check(
        r#"format("{tag}|{a.b.1.c}|{n}|{missing.x}|{kw}|{kw:.1}|{kw:.0}|{{x}}|{ tag }")"#,
        row,
        r#""P-1|true|||7.456|7.5|7|{x}|P-1""#,
    );
    check(r#"format("{a}")"#, row, r#""{\"b\":[1.0,{\"c\":true}]}""#);
    check(r#"map(format("<{.}>"))"#, r#"[1, "x"]"#, r#"["<1>","<x>"]"#);
    check(r#"format("")"#, row, r#""""#);
    for template in ["{", "}", "{tag", "{}", "{tag:.x}", "{a{b}"] {
        check_error(&format!("format(\"{template}\")"), row, "PQ2008", "brace");
    }
    check_error(r#"format("{tag:.1}")"#, row, "PQ2007", "Number");
    check_error("format(1)", row, "PQ1012", "a string");
}

#[test]
fn padding_and_repetition_are_limited() {
    check(
        r#"[padEnd("ab", 4), padEnd("ab", 1), padEnd("a", 4, "xy"), padEnd(null, 2), padStart("7", 3, "0")]"#,
        "null",
        r#"["ab  ","ab","axyx",null,"007"]"#,
    );
    check(
        r#"[repeat("ab", 2), repeat("ab", 0), repeat("", 1e300), repeat(null, 2)]"#,
        "null",
        r#"["abab","","",null]"#,
    );
    check_error(r#"repeat("a", -1)"#, "null", "PQ2008", "repetitions");
    check_error(r#"repeat("a", 1.5)"#, "null", "PQ2008", "repetitions");
    for query in [r#"repeat("a", 1e300)"#, r#"repeat("ab", 1e8)"#, r#"padEnd("a", 1e8)"#] {
        let error = run_with(query, "null", Limits::default()).expect_err(query);
        assert!(error.code().as_str().starts_with("PQ4"), "{query}: {error}");
    }
}

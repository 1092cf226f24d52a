//! JSON in strings.

use pidq_core::Limits;
use serde_json::Value;

use crate::{Random, check, check_error, run_with, value};

#[test]
fn strings_become_values_and_values_strings() {
    check(
        "map(fromJson(get()))",
        r#"["1", " [1, {\"a\": null}] ", "\"x\"", "true", null]"#,
        r#"[1,[1,{"a":null}],"x",true,null]"#,
    );
    check(
        "map(toJson(get()))",
        r#"[1, "x", null, [true], {"a": {}}]"#,
        r#"["1","\"x\"","null","[true]","{\"a\":{}}"]"#,
    );
    check("toJson(get())", r#"{"a b": [1,  "x \" y\\", 2]}"#, r#""{\"a b\":[1,\"x \\\" y\\\\\",2]}""#);
    check("toJson(.missing)", "{}", r#""null""#);
    check("fromJson(.payload).user", r#"{"payload": "{\"user\": \"ada\"}"}"#, r#""ada""#);
    check(r#"fromJson(get())"#, r#""\"\\u00e4\\ud83d\\ude00\\n\"""#, r#""ä😀\n""#);
    // As in a document: the last of equal keys counts, and integer keys come first.
    check("fromJson(get())", r#""{\"b\":1,\"7\":2,\"b\":3}""#, r#"{"7":2,"b":3}"#);
}

#[test]
fn numbers_in_strings_keep_their_digits() {
    check(
        "fromJson(get())",
        r#""[53.0, 1e2, -0, 12345678901234567890, 7, 0.5]""#,
        "[53.0,1e2,-0,12345678901234567890,7,0.5]",
    );
    check("fromJson(get()) | map(get() + 1)", r#""[53.0, 1e2]""#, "[54,101]");
    check("fromJson(get()) | toJson(get())", r#""[1.10]""#, r#""[1.10]""#);
}

#[test]
fn a_string_that_is_not_json_is_an_error_with_its_position() {
    for (text, words) in [
        ("", "a value is expected (line 1, column 1 of the string)"),
        ("oops", "a value is expected (line 1, column 1"),
        ("nullx", "a value is expected"),
        ("[1,]", "a value is expected (line 1, column 4"),
        ("[1 2]", "`,` or `]` is expected (line 1, column 4"),
        ("{\n  a: 1}", "a key in quotes is expected (line 2, column 3"),
        ("{\"a\" 1}", "`:` is expected"),
        ("{\"a\": 1]", "`,` or `}` is expected"),
        ("[1] 2", "the end is expected (line 1, column 5"),
        ("01", "a number is malformed"),
        ("1.", "a number is malformed"),
        ("-", "a digit is expected"),
        ("NaN", "a value is expected"),
        ("\"a", "a string has no closing quote"),
        ("\"\t\"", "Bad control character"),
        ("\"ab\\ud800\"", "Lone surrogate in string (line 1, column 4"),
        ("\"\\x\"", "Bad escaped character"),
    ] {
        let input = Value::from(text).to_string();
        check_error("fromJson(get())", &input, "PQ2008", words);
        check("tryOr(fromJson(get()), \"none\")", &input, "\"none\"");
    }
    check_error("fromJson(get())", "5", "PQ2002", "`string(...)` converts it");
    let deep = format!("\"{}\"", "[".repeat(600));
    check_error("fromJson(get())", &deep, "PQ2008", "nested deeper than 512 levels");
}

#[test]
fn what_to_json_writes_from_json_reads() {
    let mut random = Random(32);
    for _ in 0..500 {
        let input = random.value(4).to_string();
        assert_eq!(value("fromJson(toJson(get()))", &input), value("get()", &input), "{input}");
    }
}

#[test]
fn json_in_strings_counts_to_the_limits() {
    let code = |query: &str, limits: Limits<'_>| {
        let input = format!("\"[{}1]\"", "1,".repeat(50_000));
        run_with(query, &input, limits).err().map(|error| error.code().as_str())
    };
    assert_eq!(code("fromJson(get()) | size()", Limits::default()), None);
    assert_eq!(code("fromJson(get()) | size()", Limits { fuel: 50_000, ..Limits::default() }), Some("PQ4001"));
    assert_eq!(code("fromJson(get()) | size()", Limits { memory: 100_000, ..Limits::default() }), Some("PQ4007"));
    assert_eq!(code("toJson(get()) | size()", Limits { string: 1_000, ..Limits::default() }), Some("PQ4003"));
}

//! Splitter and ranking corpora with results of reference implementations.

use pidq_text::conformance::run_case;
use serde_json::Value;

/// Input fields of a case.
const INPUT_FIELDS: &[&str] = &[
    "id",
    "group",
    "splitter",
    "params",
    "text",
    "embeddings",
    "kind",
    "k1",
    "b",
    "idf",
    "tf",
    "docs",
    "query",
    "k",
    "weights",
    "lists",
    "qrels",
    "run",
    "langchain_start_index",
    "quirk",
];

#[test]
fn splitters_equal_the_reference() {
    check("splitter.json");
}

#[test]
fn rankings_equal_the_reference() {
    check("ranking.json");
}

#[test]
fn integers_of_any_length_keep_their_digits() {
    let json = r#"{"a": 18446744073709551616, "b": [-9223372036854775809, 1e3, "123456789012345678901234567890"]}"#;
    let case = serde_json::json!({"splitter": "json", "params": {}, "text": json});
    let answer = run_case(&case.to_string());
    assert_eq!(answer["ok"]["chunks"], serde_json::json!([json.replace("1e3", "1000.0")]), "{answer}");
}

fn check(file: &str) {
    let path = format!("{}/tests/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let corpus: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let cases = corpus["cases"].as_array().unwrap();
    let differences: Vec<String> = cases.iter().filter_map(difference).collect();
    assert!(
        differences.is_empty(),
        "{} of {} cases:\n{}",
        differences.len(),
        cases.len(),
        differences[..differences.len().min(20)].join("\n")
    );
}

/// Returns the difference between the result and the expectation of a case.
fn difference(case: &Value) -> Option<String> {
    let mut expected = case.as_object().unwrap().clone();
    let mut input = expected.clone();
    input.retain(|field, _| INPUT_FIELDS.contains(&field.as_str()));
    expected.retain(|field, _| !INPUT_FIELDS.contains(&field.as_str()));
    let result = run_case(&Value::Object(input).to_string());
    if expected.contains_key("error") {
        return result.get("error").is_none().then(|| format!("{}: was not rejected: {result}", case["id"]));
    }
    let missing = expected.iter().find(|(field, value)| !approximately_equal(&result["ok"][field.as_str()], value));
    missing.map(|(field, value)| {
        format!(
            "{} {field}:\n  expected {value}\n  actual   {}{}",
            case["id"],
            result["ok"][field.as_str()],
            result["error"]
        )
    })
}

/// Compares values, with a tolerance for numbers.
fn approximately_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-4,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| approximately_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            b.iter().all(|(key, b)| a.get(key).is_some_and(|a| approximately_equal(a, b)))
        }
        _ => a == b,
    }
}

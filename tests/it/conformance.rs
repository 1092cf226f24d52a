//! The JSON Query suite: cases with results computed by the reference implementation, 5.1.1.
//!
//! Profile `match`: every case except those marked `may-differ`, whose results are accidents of the reference.

use pidq::{Dialect, Error, Graph, Limits, Operator, Precedence, PrintOptions, Query, Scratch};
use serde_json::Value;

const SUITE: &str = include_str!("../data/jsonquery/language_public.json");

#[test]
fn every_case_of_the_suite_passes() {
    let suite: Value = serde_json::from_str(SUITE).expect("the suite is JSON");
    let cases = suite["cases"].as_array().expect("a list of cases");
    let cases: Vec<&Value> = cases.iter().filter(|case| case["recommend"] != "may-differ").collect();
    assert_eq!(cases.len(), 2133, "cases in profile `match`");
    let failures: Vec<String> = cases.iter().flat_map(|case| check(case, &suite["inputs"])).collect();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Returns the failures of a case.
fn check(case: &Value, inputs: &Value) -> Vec<String> {
    let dialect = Dialect::json_query().with_operators(&operators(&case["options"])).expect("valid operators");
    let error = case.get("error");
    let is_syntax_error = error.is_some_and(|error| error["stage"] == "parse");
    let mut failures = Vec::new();
    if let Some(text) = case["query"].as_str() {
        let expected =
            if is_syntax_error { Expected::Error(&case["error"]) } else { Expected::from_case(case.get("json_query")) };
        failures.extend(expected.differs_from(&dialect.tree(text), 0));
    }
    if case["kind"] == "eval" && !is_syntax_error {
        let input = case.get("input_ref").and_then(Value::as_str).map_or(&case["input"], |name| &inputs[name]);
        let expected = error.map_or(Expected::from_case(case.get("output")), Expected::Error);
        failures
            .extend(expected.differs_from(&run(&dialect, case, input), case["tolerance_ulp"].as_u64().unwrap_or(0)));
    }
    if let (Some(text), Some(query)) = (case["stringified"].as_str(), case.get("json_query")) {
        let printed = dialect.stringify(&query.to_string(), &print_options(&case["options"]));
        let printed = printed.map(|text| Value::String(text).to_string());
        failures.extend(Expected::Value(&Value::String(text.into())).differs_from(&printed, 0));
    }
    failures.iter().map(|failure| format!("{} {}: {failure}", case["id"], case["query"])).collect()
}

fn run(dialect: &Dialect, case: &Value, input: &Value) -> Result<String, Error> {
    let query = match case["query"].as_str() {
        Some(text) => dialect.parse(text)?,
        None => dialect.compile_json(&case["json_query"].to_string())?,
    };
    let result = query.to_json(&Graph::from_json(input.to_string())?, Limits::default());
    let shown = |result: &Result<String, Error>| format!("{result:?}");
    assert_eq!(shown(&run_projected(&query, input)), shown(&result), "{}: {query} on a projected document", case["id"]);
    result
}

/// Returns the result for a document loaded only for this query.
fn run_projected(query: &Query, input: &Value) -> Result<String, Error> {
    let (projected, scratch) = (query.load(input.to_string())?, Scratch::new());
    let mut json = Vec::new();
    projected.run(&scratch, Limits::default())?.write_json(&mut json)?;
    Ok(String::from_utf8(json).expect("results are UTF-8"))
}

/// Expected result of a case.
enum Expected<'c> {
    Nothing,
    Value(&'c Value),
    Error(&'c Value),
}

impl<'c> Expected<'c> {
    fn from_case(value: Option<&'c Value>) -> Expected<'c> {
        value.map_or(Expected::Nothing, Expected::Value)
    }

    fn differs_from(&self, result: &Result<String, Error>, ulp: u64) -> Option<String> {
        let is_met = match (self, result) {
            (Expected::Nothing, _) => true,
            (Expected::Value(expected), Ok(text)) => {
                same(expected, &serde_json::from_str(text).expect("a result is JSON"), ulp)
            }
            (Expected::Error(expected), Err(error)) => {
                let text = expected["message"].as_str().expect("a message");
                expected["message_stable"] == false || error.message().starts_with(text)
            }
            _ => false,
        };
        let expected =
            if let Expected::Value(expected) | Expected::Error(expected) = self { expected } else { &Value::Null };
        (!is_met).then(|| format!("\n  expected {expected}\n  got      {result:?}"))
    }
}

fn same(a: &Value, b: &Value, ulp: u64) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => near(a.as_f64(), b.as_f64(), ulp),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, ulp)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b, ulp)))
        }
        _ => a == b,
    }
}

fn near(a: Option<f64>, b: Option<f64>, ulp: u64) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return false };
    a == b || a.to_bits().abs_diff(b.to_bits()) <= ulp
}

fn operators(options: &Value) -> Vec<Operator> {
    options["operators"].as_array().map_or_else(Vec::new, |rows| rows.iter().map(operator).collect())
}

fn operator(row: &Value) -> Operator {
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let precedence = match (row["at"].as_str(), row["before"].as_str()) {
        (Some(_), _) => Precedence::At(text("at")),
        (_, Some(_)) => Precedence::Before(text("before")),
        _ => Precedence::After(text("after")),
    };
    let flag = |name: &str| row[name] == true;
    Operator {
        name: text("name"),
        text: text("op"),
        precedence,
        vararg: flag("vararg"),
        left_associative: flag("leftAssociative"),
    }
}

fn print_options(options: &Value) -> PrintOptions {
    let default = PrintOptions::default();
    PrintOptions {
        indentation: options["indentation"].as_str().map_or(default.indentation, str::to_owned),
        max_line_length: options["maxLineLength"].as_u64().map_or(default.max_line_length, |length| length as usize),
    }
}

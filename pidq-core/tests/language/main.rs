//! Tests of the functions of the extended profile that work on any JSON: corners, oracles and limits.

mod bindings;
mod dates;
mod encoding;
mod joins;
mod jq;
mod json_text;
mod manual_lists;
mod messages;
mod nested;
mod regex;
mod sequences;
mod text_format;
mod units;

use pidq_core::{Dialect, Graph, Limits};
use serde_json::Value;

/// Runs a query in the extended profile.
fn run_with(query: &str, input: &str, limits: Limits<'_>) -> Result<String, pidq_core::Error> {
    let graph = Graph::from_json(input)?;
    let query = Dialect::standard().parse(query)?;
    let result = query.to_json(&graph, limits);
    // Optimizations change neither results nor errors.
    let plain = query.without_optimizations().to_json(&graph, limits);
    if let (Ok(result), Ok(plain)) = (&result, &plain) {
        assert_eq!(result, plain, "with and without optimizations");
    }
    result
}

/// Checks the result of a query.
fn check(query: &str, input: &str, expected: &str) {
    let result = run_with(query, input, Limits::default());
    assert_eq!(result.as_deref().map_err(ToString::to_string), Ok(expected), "{query} on {input}");
}

/// Checks the code of an error, and a part of its message or help.
fn check_error(query: &str, input: &str, code: &str, words: &str) {
    let error = match run_with(query, input, Limits::default()) {
        Ok(result) => panic!("{query} on {input}: {result}"),
        Err(error) => error,
    };
    let text = format!("{} {}", error.message(), error.help().unwrap_or_default());
    assert!(
        error.code().as_str() == code && text.contains(words),
        "{query} on {input}: {} {text}",
        error.code().as_str()
    );
}

/// Returns the result of a query.
fn value(query: &str, input: &str) -> Value {
    let result = run_with(query, input, Limits::default()).unwrap_or_else(|error| panic!("{query}: {error}"));
    serde_json::from_str(&result).expect("JSON")
}

/// Reproducible pseudorandom numbers (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// Returns a value nested at most `depth` deep.
    fn value(&mut self, depth: u64) -> Value {
        match self.below(if depth == 0 { 4 } else { 7 }) {
            0 => Value::Null,
            1 => Value::from(self.below(2) == 0),
            2 => Value::from(self.below(5)),
            3 => Value::from(["", "a", "b", "x"][self.below(4) as usize]),
            4 => (0..self.below(4)).map(|_| self.value(depth - 1)).collect(),
            _ => self.object(depth),
        }
    }

    fn object(&mut self, depth: u64) -> Value {
        let names = ["a", "b", "c", "d e", "7"];
        let fields = (0..self.below(4)).map(|_| {
            let name = names[self.below(5) as usize].to_owned();
            (name, self.value(depth.saturating_sub(1)))
        });
        Value::Object(fields.collect())
    }
}

//! Tests of the loader, which predicts keys and strings from earlier ones: objects with changing keys load correctly.

use pidq::Graph;
use serde_json::{Map, Value, json};

/// Keys of each length class of the loader, and keys with escapes.
const KEYS: [&str; 14] = [
    "",
    "x",
    "tag",
    "tagged",
    "ninechars",
    "thirteen chars",
    "fourteen chars",
    "sixteen byte key",
    "design_temperature",
    "a key of twenty-nine bytes ..",
    "a key of twenty-nine bytes ,,",
    "a key of thirty bytes and more",
    "\u{fc}ber",
    "a \"quoted\" key",
];

#[test]
fn objects_with_changing_keys_are_loaded_exactly() {
    let mut random = Random(1);
    for _ in 0..400 {
        check(&Value::Array((0..60).map(|_| object(&mut random, 3)).collect()));
    }
}

#[test]
fn similar_strings_stay_distinct() {
    let long = "0123456789abcdef0123456789abcdef";
    let texts: Vec<&str> = (0..=long.len()).map(|len| &long[..len]).collect();
    let rows: Vec<Value> = (0..2000).map(|row| json!({"text": texts[row % texts.len()], "row": row})).collect();
    check(&Value::Array(rows));
}

#[test]
fn repeated_strings_are_loaded_exactly() {
    let text = |row: usize, repeats: bool| if repeats { "again".into() } else { format!("text {row}") };
    for repeats in [true, false] {
        let rows = (0..5000).map(|row| json!({"text": text(row, (row < 2500) == repeats)}));
        check(&Value::Array(rows.collect()));
    }
}

#[test]
fn numbers_of_every_length_are_loaded_exactly() {
    let digits = "1234567890123456789";
    for integer_digits in 1..digits.len() {
        for scale in 0..digits.len() {
            let point = if scale == 0 { "" } else { "." };
            let number = format!("{}{point}{}", &digits[..integer_digits], &digits[..scale]);
            for text in [number.clone(), format!("-{number}"), format!("{number}e3"), format!("0{point}{number}")] {
                let Ok(expected) = text.parse::<f64>() else { continue };
                let Ok(graph) = Graph::from_json(format!("[{text}]")) else { continue };
                let Some(items) = graph.root().as_array() else { panic!("a list") };
                assert_eq!(items.get(0).and_then(|item| item.as_f64()), Some(expected), "{text}");
            }
        }
    }
}

fn check(document: &Value) {
    for text in [document.to_string(), format!("{document:#}")] {
        let graph = Graph::from_json(text).expect("it loads");
        assert_eq!(serde_json::to_string(&graph.root()).expect("a text"), document.to_string());
    }
}

/// Returns an object of some keys with nested objects.
fn object(random: &mut Random, depth: usize) -> Value {
    let mut object = Map::new();
    for _ in 0..random.below(6) {
        let key = KEYS[random.below(KEYS.len() as u64) as usize];
        let value = match random.below(4) {
            0 if depth > 0 => self::object(random, depth - 1),
            1 => json!(KEYS[random.below(KEYS.len() as u64) as usize]),
            2 => json!(random.below(100_000)),
            _ => Value::Null,
        };
        object.insert(key.into(), value);
    }
    Value::Object(object)
}

/// Deterministic pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

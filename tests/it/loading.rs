//! Documents are read right whatever came before in them: the reader guesses keys and texts from what it has seen.

use pidq::Graph;
use serde_json::{Map, Value, json};

/// Keys of every length that matters to the reader, one with an escape and one that is an escape away from another.
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
fn objects_of_changing_keys_are_read_as_they_stand() {
    let mut dice = Dice(1);
    for _ in 0..400 {
        check(&Value::Array((0..60).map(|_| object(&mut dice, 3)).collect()));
    }
}

#[test]
fn texts_that_look_alike_stay_apart() {
    let long = "0123456789abcdef0123456789abcdef";
    let texts: Vec<&str> = (0..=long.len()).map(|len| &long[..len]).collect();
    let rows: Vec<Value> = (0..2000).map(|row| json!({"text": texts[row % texts.len()], "row": row})).collect();
    check(&Value::Array(rows));
}

#[test]
fn texts_that_repeat_at_first_or_at_last_are_read_as_they_stand() {
    let text = |row: usize, repeats: bool| if repeats { "again".into() } else { format!("text {row}") };
    for repeats in [true, false] {
        let rows = (0..5000).map(|row| json!({"text": text(row, (row < 2500) == repeats)}));
        check(&Value::Array(rows.collect()));
    }
}

#[test]
fn numbers_of_every_length_are_read_as_they_stand() {
    let digits = "1234567890123456789";
    for whole in 1..digits.len() {
        for scale in 0..digits.len() {
            let point = if scale == 0 { "" } else { "." };
            let number = format!("{}{point}{}", &digits[..whole], &digits[..scale]);
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

/// An object of some keys, with objects in it.
fn object(dice: &mut Dice, depth: usize) -> Value {
    let mut object = Map::new();
    for _ in 0..dice.below(6) {
        let key = KEYS[dice.below(KEYS.len() as u64) as usize];
        let value = match dice.below(4) {
            0 if depth > 0 => self::object(dice, depth - 1),
            1 => json!(KEYS[dice.below(KEYS.len() as u64) as usize]),
            2 => json!(dice.below(100_000)),
            _ => Value::Null,
        };
        object.insert(key.into(), value);
    }
    Value::Object(object)
}

/// Numbers that are the same on every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

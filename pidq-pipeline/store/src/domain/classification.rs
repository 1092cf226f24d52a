//! Normalization of classifications: trimmed and composed (NFC), so that equal-looking names are equal.

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

/// Normalizes a classification.
pub fn normalize(classification: &str) -> String {
    classification.trim().nfc().collect()
}

/// Normalizes the keys of an object.
pub fn normalize_keys(object: Map<String, Value>) -> Map<String, Value> {
    object.into_iter().map(|(key, value)| (normalize(&key), value)).collect()
}

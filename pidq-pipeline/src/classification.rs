//! Normalization of classifications: trimmed and composed (NFC), so that equal-looking names are equal.

use pidq_http::Problem;
use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use crate::problems::validation;

/// Maximum length in characters.
const MAX_LENGTH: usize = 64;

/// Normalizes a classification.
pub(crate) fn normalize(given: &str) -> String {
    given.trim().nfc().collect()
}

/// Validates the classifications of a pipeline: unique, and at most `limit`.
pub(crate) fn validate(given: &[String], limit: usize) -> Result<Vec<String>, Problem> {
    if !(1..=limit).contains(&given.len()) {
        return Err(validation("/classifications", &format!("1 to {limit} classifications are required.")));
    }
    let mut normalized: Vec<String> = Vec::with_capacity(given.len());
    for (at, label) in given.iter().enumerate() {
        let label = normalize(label);
        let pointer = format!("/classifications/{at}");
        if !(1..=MAX_LENGTH).contains(&label.chars().count()) {
            return Err(validation(&pointer, &format!("A classification must have 1 to {MAX_LENGTH} characters.")));
        }
        // PostgreSQL cannot store U+0000 in a text.
        if label.contains('\0') {
            return Err(validation(&pointer, "A classification must not contain U+0000."));
        }
        if normalized.contains(&label) {
            return Err(validation(&pointer, "Duplicate classification."));
        }
        normalized.push(label);
    }
    Ok(normalized)
}

/// Normalizes the keys of an object.
pub(crate) fn normalize_keys(members: Map<String, Value>) -> Map<String, Value> {
    members.into_iter().map(|(label, value)| (normalize(&label), value)).collect()
}

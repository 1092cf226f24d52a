//! Classifications as they are written: trimmed and composed (NFC), so that what looks alike is alike.

use pidq_http::Problem;
use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use crate::problems::validation;

/// The longest label, in characters.
const LONGEST: usize = 64;

/// A label as it is compared and stored.
pub(crate) fn normal(given: &str) -> String {
    given.trim().nfc().collect()
}

/// The labels of a pipeline, each of them once, and at most so many.
pub(crate) fn read(given: &[String], most: usize) -> Result<Vec<String>, Problem> {
    if !(1..=most).contains(&given.len()) {
        return Err(validation("/classifications", &format!("There are 1 to {most} classifications.")));
    }
    let mut labels: Vec<String> = Vec::with_capacity(given.len());
    for (at, label) in given.iter().enumerate() {
        let label = normal(label);
        let pointer = format!("/classifications/{at}");
        if !(1..=LONGEST).contains(&label.chars().count()) {
            return Err(validation(&pointer, &format!("A classification has 1 to {LONGEST} characters.")));
        }
        // PostgreSQL stores none as a text, so that no document could have it.
        if label.contains('\0') {
            return Err(validation(&pointer, "A classification has no character U+0000."));
        }
        if labels.contains(&label) {
            return Err(validation(&pointer, "This classification is there already."));
        }
        labels.push(label);
    }
    Ok(labels)
}

/// Members that are named by labels.
pub(crate) fn named(members: Map<String, Value>) -> Map<String, Value> {
    members.into_iter().map(|(label, value)| (normal(&label), value)).collect()
}

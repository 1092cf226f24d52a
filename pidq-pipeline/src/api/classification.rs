//! Validation of the classifications of a pipeline.

use pidq_http::Problem;
use pidq_store::domain::classification::normalize;

use crate::api::problems::validation;

/// Maximum length in characters.
const MAX_LENGTH: usize = 64;

/// Validates the classifications of a pipeline: unique, and at most `limit`.
pub(crate) fn validate_classifications(classifications: &[String], limit: usize) -> Result<Vec<String>, Problem> {
    if !(1..=limit).contains(&classifications.len()) {
        return Err(validation("/classifications", &format!("1 to {limit} classifications are required.")));
    }
    let mut normalized: Vec<String> = Vec::with_capacity(classifications.len());
    for (index, classification) in classifications.iter().enumerate() {
        let classification = normalize(classification);
        let pointer = format!("/classifications/{index}");
        if !(1..=MAX_LENGTH).contains(&classification.chars().count()) {
            return Err(validation(&pointer, &format!("A classification must have 1 to {MAX_LENGTH} characters.")));
        }
        // PostgreSQL cannot store U+0000 in a text.
        if classification.contains('\0') {
            return Err(validation(&pointer, "A classification must not contain U+0000."));
        }
        if normalized.contains(&classification) {
            return Err(validation(&pointer, "Duplicate classification."));
        }
        normalized.push(classification);
    }
    Ok(normalized)
}

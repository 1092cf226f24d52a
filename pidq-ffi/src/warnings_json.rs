//! Warnings as JSON.

use pidq_core::error::Warning;
use serde_json::{Value as Json, json};

/// Returns warnings as a JSON array.
pub fn warnings_json(warnings: &[Warning]) -> String {
    let warning = |warning: &Warning| {
        let span = warning.span.map(|span| json!({"start": span.start, "end": span.end}));
        json!({"code": warning.code, "message": warning.message, "span": span, "help": warning.help})
    };
    Json::Array(warnings.iter().map(warning).collect()).to_string()
}

//! Sampling fields of a question, which are passed to the model unchanged.

use pidq_http::Problem;
use schemars::JsonSchema;
use serde_json::Value;

use crate::api::json_body;
use crate::api::problems::validation;
use crate::llm::Sampling;

/// Maximum number of stop strings; OpenAI and most others reject more.
const MAX_STOP_STRINGS: usize = 4;
/// Maximum length of a stop string, in characters.
const MAX_STOP_LENGTH: usize = 256;

/// Sampling fields of a question.
pub(super) struct SamplingFields {
    pub temperature: Option<f64>,
    pub max_tokens: Option<u32>,
    pub top_p: Option<f64>,
    pub seed: Option<i64>,
    pub stop: Option<Value>,
}

/// Stop strings: one, or an array.
#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(untagged)]
#[allow(dead_code, reason = "only describes the field")]
pub(super) enum StopStrings {
    One(#[schemars(length(min = 1, max = MAX_STOP_LENGTH))] String),
    Several(#[schemars(length(max = MAX_STOP_STRINGS), inner(length(min = 1, max = MAX_STOP_LENGTH)))] Vec<String>),
}

/// Validates the sampling fields.
pub(super) fn validate(fields: SamplingFields) -> Result<Sampling, Problem> {
    let SamplingFields { temperature, max_tokens, top_p, seed, stop } = fields;
    if temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
        return Err(validation("/temperature", "`temperature` must be from 0 to 2."));
    }
    if max_tokens == Some(0) {
        return Err(validation("/max_tokens", "`max_tokens` must be at least 1."));
    }
    if top_p.is_some_and(|top_p| !(0.0..=1.0).contains(&top_p)) {
        return Err(validation("/top_p", "`top_p` must be from 0 to 1."));
    }
    Ok(Sampling { temperature, max_tokens, top_p, seed, stop: parse_stop(stop)? })
}

/// Parses the stop strings: one string or an array, as in OpenAI's API.
fn parse_stop(stop: Option<Value>) -> Result<Vec<String>, Problem> {
    let stops: Vec<String> = match stop {
        None => return Ok(Vec::new()),
        Some(Value::String(text)) => vec![text],
        Some(array) => json_body::from_value("/stop", array)?,
    };
    let is_valid = |stop: &String| (1..=MAX_STOP_LENGTH).contains(&stop.chars().count());
    if stops.len() > MAX_STOP_STRINGS || !stops.iter().all(is_valid) {
        let detail = format!(
            "`stop` must be a string of 1 to {MAX_STOP_LENGTH} characters, or an array of at most {MAX_STOP_STRINGS} such strings."
        );
        return Err(validation("/stop", &detail));
    }
    Ok(stops)
}

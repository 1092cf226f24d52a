//! Sampling fields of a question, which are passed to the model unchanged.

use pidq_http::Problem;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::api::json_body;
use crate::api::problems::validation;
use crate::llm::Sampling;

/// Names of the sampling fields.
pub(super) const FIELDS: &[&str] = &["temperature", "max_tokens", "top_p", "seed", "stop"];

/// Maximum number of stop strings; OpenAI and most others reject more.
const MAX_STOP_STRINGS: usize = 4;
/// Maximum length of a stop string, in characters.
const MAX_STOP_LENGTH: usize = 256;

#[derive(Deserialize)]
struct SamplingFields {
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    top_p: Option<f64>,
    seed: Option<i64>,
    stop: Option<Value>,
}

/// Parses and validates the sampling fields of a body.
pub(super) fn parse(body: &Map<String, Value>) -> Result<Sampling, Problem> {
    let fields = body.iter().filter(|(field, _)| FIELDS.contains(&field.as_str()));
    let SamplingFields { temperature, max_tokens, top_p, seed, stop } =
        json_body::from_object(fields.map(|(field, value)| (field.clone(), value.clone())).collect())?;
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

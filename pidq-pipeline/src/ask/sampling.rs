//! What a query says of how its answer is written: the members that go to the model as they came.

use pidq_http::Problem;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::bodies;
use crate::llm::Sampling;
use crate::problems::validation;

/// The members of a query that are read here.
pub(super) const MEMBERS: &[&str] = &["temperature", "max_tokens", "top_p", "seed", "stop"];

/// How many texts may end an answer: more is refused by OpenAI, and so by most.
const STOPS: usize = 4;
/// The longest of them, in characters.
const STOP: usize = 256;

#[derive(Deserialize)]
struct Given {
    temperature: Option<f64>,
    max_tokens: Option<u32>,
    top_p: Option<f64>,
    seed: Option<i64>,
    stop: Option<Value>,
}

/// What a body says of it.
pub(super) fn read(body: &Map<String, Value>) -> Result<Sampling, Problem> {
    let own = body.iter().filter(|(member, _)| MEMBERS.contains(&member.as_str()));
    let Given { temperature, max_tokens, top_p, seed, stop } =
        bodies::read(own.map(|(member, value)| (member.clone(), value.clone())).collect())?;
    if temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
        return Err(validation("/temperature", "`temperature` is from 0 to 2."));
    }
    if max_tokens == Some(0) {
        return Err(validation("/max_tokens", "`max_tokens` is 1 or more."));
    }
    if top_p.is_some_and(|top_p| !(0.0..=1.0).contains(&top_p)) {
        return Err(validation("/top_p", "`top_p` is from 0 to 1."));
    }
    Ok(Sampling { temperature, max_tokens, top_p, seed, stop: stops(stop)? })
}

/// Texts that end an answer: one, or a list, as OpenAI has it.
fn stops(given: Option<Value>) -> Result<Vec<String>, Problem> {
    let stops: Vec<String> = match given {
        None => return Ok(Vec::new()),
        Some(Value::String(text)) => vec![text],
        Some(list) => bodies::part("/stop", list)?,
    };
    let is_sound = |stop: &String| (1..=STOP).contains(&stop.chars().count());
    if stops.len() > STOPS || !stops.iter().all(is_sound) {
        let detail = format!("`stop` is a text of 1 to {STOP} characters, or a list of at most {STOPS} such texts.");
        return Err(validation("/stop", &detail));
    }
    Ok(stops)
}

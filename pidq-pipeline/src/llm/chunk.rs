//! One JSON object of an answer, whole or a piece of a stream, and what it tells.

use serde::Serialize;
use serde_json::Value;

/// What a question cost.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Usage {
    /// Of the question with its contexts.
    pub prompt_tokens: u64,
    /// Of the answer.
    pub completion_tokens: u64,
    /// The server did not count; we estimated.
    pub estimated: bool,
}

/// What an object of an answer tells. Nothing of it has to be there.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) text: String,
    pub(super) has_choice: bool,
    pub(super) finish_reason: Option<String>,
    pub(super) usage: Option<Usage>,
    pub(super) model: Option<String>,
}

impl Chunk {
    /// Reads an object that is no error.
    pub(super) fn of(object: &Value) -> Chunk {
        let choice = object["choices"].as_array().and_then(|choices| choices.iter().find(|choice| is_first(choice)));
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        Chunk {
            text: choice.map(content).unwrap_or_default(),
            has_choice: choice.is_some(),
            finish_reason: choice.and_then(|choice| text(&choice["finish_reason"])),
            usage: usage(&object["usage"]),
            model: text(&object["model"]),
        }
    }
}

/// We ask for one answer. A server that gives several numbers them.
fn is_first(choice: &Value) -> bool {
    choice["index"].as_u64().unwrap_or(0) == 0
}

/// The text of a piece, of a whole message, or of the old completions.
fn content(choice: &Value) -> String {
    let places = [&choice["delta"]["content"], &choice["message"]["content"], &choice["text"]];
    places.into_iter().map(text).find(|text| !text.is_empty()).unwrap_or_default()
}

/// A text, or parts of which some are texts.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let prompt_tokens = value["prompt_tokens"].as_u64()?;
    let completion_tokens = value["completion_tokens"].as_u64().unwrap_or(0);
    Some(Usage { prompt_tokens, completion_tokens, estimated: false })
}

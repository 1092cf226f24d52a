//! Parser of a chat completion object, complete or one chunk of a stream.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

/// Token usage of a question.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "TokenUsage")]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: u64,
    /// Tokens of the answer.
    pub completion_tokens: u64,
    /// `true` if the server reported no usage and the numbers are estimates.
    pub estimated: bool,
}

/// Contents of a chat completion object. Every field is optional.
#[derive(Debug, Default)]
pub(super) struct ChatChunk {
    pub(super) text: String,
    pub(super) has_choice: bool,
    pub(super) finish_reason: Option<String>,
    pub(super) usage: Option<Usage>,
    pub(super) model: Option<String>,
}

impl ChatChunk {
    /// Parses an object that is not an error.
    pub(super) fn from_json(object: &Value) -> ChatChunk {
        let choice = object["choices"].as_array().and_then(|choices| choices.iter().find(|choice| is_first(choice)));
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        ChatChunk {
            text: choice.map(content).unwrap_or_default(),
            has_choice: choice.is_some(),
            finish_reason: choice.and_then(|choice| text(&choice["finish_reason"])),
            usage: usage(&object["usage"]),
            model: text(&object["model"]),
        }
    }
}

/// Returns `true` for the first choice. One is requested, but some servers send several, with indexes.
fn is_first(choice: &Value) -> bool {
    choice["index"].as_u64().unwrap_or(0) == 0
}

/// Returns the text of a chunk, of a complete message, or of a legacy completion.
fn content(choice: &Value) -> String {
    let candidates = [&choice["delta"]["content"], &choice["message"]["content"], &choice["text"]];
    candidates.into_iter().map(text).find(|text| !text.is_empty()).unwrap_or_default()
}

/// Returns a string, or the concatenated text parts of an array.
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

//! Events of a streamed answer.

use serde::Serialize;

use super::{Answer, Citation, Context};
use crate::llm::LlmError;

/// StreamEvent of a streamed answer.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// The contexts: always the first event.
    Retrieval {
        /// Contexts in the prompt.
        contexts: Vec<Context>,
        /// Number of contexts that did not fit.
        contexts_dropped: usize,
    },
    /// More text of the answer.
    Delta {
        /// The text.
        text: String,
    },
    /// First citation of a context.
    Citation(Box<Citation>),
    /// The complete answer: the last event on success.
    Done(Box<Answer>),
    /// The last event on failure. On the wire it is a problem.
    Error(LlmError),
}

/// Data of an event during the answer.
#[derive(Serialize)]
#[serde(untagged)]
enum Data<'a> {
    Retrieval { contexts: &'a [Context], contexts_dropped: usize },
    Delta { text: &'a str },
    Citation(&'a Citation),
}

impl StreamEvent {
    /// Returns the name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            StreamEvent::Retrieval { .. } => "retrieval",
            StreamEvent::Delta { .. } => "delta",
            StreamEvent::Citation(_) => "citation",
            StreamEvent::Done(_) => "done",
            StreamEvent::Error(_) => "error",
        }
    }

    /// Returns the data on the wire; `None` for the last event, whose data depends on the request: the answer with its
    /// metadata, or a problem with the request id.
    pub fn data(&self) -> Option<serde_json::Value> {
        let data = match self {
            StreamEvent::Retrieval { contexts, contexts_dropped } => {
                Data::Retrieval { contexts, contexts_dropped: *contexts_dropped }
            }
            StreamEvent::Delta { text } => Data::Delta { text },
            StreamEvent::Citation(citation) => Data::Citation(citation),
            StreamEvent::Done(_) | StreamEvent::Error(_) => return None,
        };
        serde_json::to_value(data).ok()
    }
}

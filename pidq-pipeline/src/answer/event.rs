//! What is told of an answer while it is written.

use serde::Serialize;

use super::{Answer, Citation, Context};
use crate::llm::LlmError;

/// A step of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// What was found: always the first.
    Retrieval {
        /// The contexts that the model is given.
        contexts: Vec<Context>,
        /// How many more did not fit.
        contexts_dropped: usize,
    },
    /// A piece of text.
    Delta {
        /// The piece.
        text: String,
    },
    /// A context that the answer names for the first time.
    Citation(Box<Citation>),
    /// The whole answer: the last event, if all went well.
    Done(Box<Answer>),
    /// Why there is no more: the last event, if it did not. On the wire it is a problem.
    Error(LlmError),
}

/// The data of an event, but for errors.
#[derive(Serialize)]
#[serde(untagged)]
enum Data<'a> {
    Retrieval { contexts: &'a [Context], contexts_dropped: usize },
    Delta { text: &'a str },
    Citation(&'a Citation),
    Done(&'a Answer),
}

impl Event {
    /// The name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Event::Retrieval { .. } => "retrieval",
            Event::Delta { .. } => "delta",
            Event::Citation(_) => "citation",
            Event::Done(_) => "done",
            Event::Error(_) => "error",
        }
    }

    /// The data on the wire. None for an error, whose data is a problem with the id of its request.
    pub fn data(&self) -> Option<serde_json::Value> {
        let data = match self {
            Event::Retrieval { contexts, contexts_dropped } => {
                Data::Retrieval { contexts, contexts_dropped: *contexts_dropped }
            }
            Event::Delta { text } => Data::Delta { text },
            Event::Citation(citation) => Data::Citation(citation),
            Event::Done(answer) => Data::Done(answer),
            Event::Error(_) => return None,
        };
        serde_json::to_value(data).ok()
    }
}

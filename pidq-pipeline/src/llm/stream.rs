//! Streamed text of an answer. A server that sends a complete answer instead is supported as well.

use std::collections::VecDeque;
use std::time::Duration;

use pidq_http::Secret;
use serde_json::Value;

use super::ClientOptions;
use super::call_span::CallSpan;
use super::chat_chunk::{ChatChunk, Usage};
use super::deadline::Deadline;
use super::error::LlmError;
use super::http::Exchange;
use super::sse::SseParser;

/// Time to wait for the usage after the finish reason, if the server does not end its response.
const USAGE_GRACE: Duration = Duration::from_secs(2);

/// An answer in progress. Dropping it closes the connection.
pub struct Deltas {
    exchange: Exchange,
    deadline: Deadline,
    first_byte_timeout: Duration,
    idle_timeout: Duration,
    secrets: Vec<Secret>,
    format: BodyFormat,
    pending: VecDeque<String>,
    info: CompletionInfo,
    has_text: bool,
    has_choice: bool,
    is_done: bool,
    /// Error to return after the text that precedes it.
    failure: Option<LlmError>,
    /// Span of the call, which ends with the answer.
    span: CallSpan,
}

/// Format of the response, whatever was requested.
enum BodyFormat {
    /// No data received yet.
    Unknown,
    Events(SseParser),
    Json(Vec<u8>),
}

/// Information known at the end of an answer.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CompletionInfo {
    /// Finish reason: `stop`, `length`.
    pub finish_reason: Option<String>,
    /// Token usage, if reported by the server.
    pub usage: Option<Usage>,
    /// Name of the model, as reported by the server.
    pub model: Option<String>,
}

impl CompletionInfo {
    /// Adds what the server reported about a complete answer to a span.
    fn record(&self, span: &mut CallSpan) {
        span.set("gen_ai.response.model", self.model.clone());
        span.set("gen_ai.response.finish_reasons", self.finish_reason.clone().map(|reason| vec![reason]));
        let usage = self.usage.filter(|usage| !usage.estimated);
        span.set("gen_ai.usage.input_tokens", usage.map(|usage| usage.prompt_tokens));
        span.set("gen_ai.usage.output_tokens", usage.map(|usage| usage.completion_tokens));
    }
}

impl Deltas {
    /// Waits for the first text: errors before it can be retried.
    pub(super) async fn open(
        exchange: Exchange,
        deadline: Deadline,
        options: &ClientOptions,
        first_byte_timeout: Duration,
        secrets: Vec<Secret>,
    ) -> Result<Deltas, LlmError> {
        let (format, pending, info) = (BodyFormat::Unknown, VecDeque::new(), CompletionInfo::default());
        let (has_text, has_choice, is_done, idle_timeout) = (false, false, false, options.idle_timeout);
        let failure = None;
        let mut deltas = Deltas {
            exchange,
            deadline,
            first_byte_timeout,
            idle_timeout,
            secrets,
            format,
            pending,
            info,
            has_text,
            has_choice,
            is_done,
            failure,
            span: CallSpan::default(),
        };
        if let Some(text) = deltas.next().await? {
            deltas.pending.push_front(text);
        }
        Ok(deltas)
    }

    /// Returns the answer with the span of its call.
    pub(super) fn in_span(self, span: CallSpan) -> Deltas {
        Deltas { span, ..self }
    }

    /// Returns more text; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<String>, LlmError> {
        let next = self.next_text().await;
        match &next {
            Ok(Some(_)) => {}
            Ok(None) => self.info.record(&mut self.span),
            Err(error) => self.span.fail(error),
        }
        next
    }

    async fn next_text(&mut self) -> Result<Option<String>, LlmError> {
        loop {
            if let Some(text) = self.pending.pop_front() {
                return Ok(Some(text));
            }
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            if self.is_done {
                return self.close();
            }
            self.failure = self.read().await.err();
        }
    }

    /// Returns the information that is known when there is no more text.
    pub fn info(&self) -> &CompletionInfo {
        &self.info
    }

    async fn read(&mut self) -> Result<(), LlmError> {
        let has_finished = self.info.finish_reason.is_some();
        let timeout = match has_finished {
            true => USAGE_GRACE.min(self.idle_timeout),
            false if self.has_text => self.idle_timeout,
            false => self.first_byte_timeout,
        };
        match self.exchange.next_chunk(&self.deadline, timeout).await {
            Ok(Some(bytes)) => self.push(&bytes),
            Ok(None) => self.finish(),
            // The text is complete; only the usage is lost.
            Err(_) if has_finished => self.mark_done(),
            Err(error) => Err(error),
        }
    }

    fn mark_done(&mut self) -> Result<(), LlmError> {
        self.is_done = true;
        Ok(())
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), LlmError> {
        if let BodyFormat::Unknown = self.format {
            self.format = match bytes.iter().find(|byte| !byte.is_ascii_whitespace()) {
                Some(b'{' | b'[') => BodyFormat::Json(Vec::new()),
                Some(_) => BodyFormat::Events(SseParser::default()),
                None => return Ok(()),
            };
        }
        match &mut self.format {
            BodyFormat::Events(events) => {
                let events = events.push(bytes);
                events.iter().try_for_each(|event| self.process_event(event))
            }
            BodyFormat::Json(json) => {
                json.extend_from_slice(bytes);
                Ok(())
            }
            BodyFormat::Unknown => Ok(()),
        }
    }

    /// Processes the end of the connection. A stream that ends without a finish reason and `[DONE]` has broken off, even
    /// where HTTP sees a regular end; a JSON object that can be parsed is complete.
    fn finish(&mut self) -> Result<(), LlmError> {
        let was_complete = self.info.finish_reason.is_some();
        let last = match std::mem::replace(&mut self.format, BodyFormat::Unknown) {
            BodyFormat::Events(mut events) => self.finish_events(events.finish()),
            BodyFormat::Json(json) => self.process_object(&json),
            BodyFormat::Unknown => Ok(()),
        };
        self.is_done = true;
        if was_complete { Ok(()) } else { last }
    }

    /// Processes the last event of a stream, which may have no blank line after it. A part of an event is cut off text.
    fn finish_events(&mut self, last: Option<String>) -> Result<(), LlmError> {
        let result = last.map_or(Ok(()), |event| self.process_event(&event));
        let has_ended = self.is_done || self.info.finish_reason.is_some();
        match result {
            Err(error) if error.upstream().is_some() => Err(error),
            _ if !has_ended && self.has_text => Err(LlmError::truncated()),
            result => result,
        }
    }

    fn process_event(&mut self, event: &str) -> Result<(), LlmError> {
        match event.trim() {
            // Data after the end is ignored.
            _ if self.is_done => Ok(()),
            "" => Ok(()),
            "[DONE]" => self.mark_done(),
            object => self.process_object(object.as_bytes()),
        }
    }

    fn process_object(&mut self, object: &[u8]) -> Result<(), LlmError> {
        let object: Value = serde_json::from_slice(object).map_err(|_| LlmError::bad_response("it is not JSON"))?;
        if !object["error"].is_null() {
            return Err(LlmError::from_event(&object["error"], &self.secrets));
        }
        let chunk = ChatChunk::from_json(&object);
        self.has_choice |= chunk.has_choice;
        self.info.finish_reason = chunk.finish_reason.or(self.info.finish_reason.take());
        self.info.usage = chunk.usage.or(self.info.usage);
        self.info.model = self.info.model.take().or(chunk.model);
        if !chunk.text.is_empty() {
            self.has_text = true;
            self.pending.push_back(chunk.text);
        }
        Ok(())
    }

    fn close(&self) -> Result<Option<String>, LlmError> {
        match (self.has_text, self.has_choice, self.info.finish_reason.as_deref()) {
            (true, ..) => Ok(None),
            (_, true, Some("length")) => {
                Err(LlmError::bad_response("it reached the token limit without any text; raise `max_tokens`"))
            }
            (_, true, _) => Err(LlmError::bad_response("it has no text")),
            (_, false, _) => Err(LlmError::bad_response("it has no choices")),
        }
    }
}

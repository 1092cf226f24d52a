//! The text of an answer while it is written. A server that answers in one piece is taken as it is.

use std::collections::VecDeque;
use std::time::Duration;

use pidq_http::Secret;
use serde_json::Value;

use super::Patience;
use super::chunk::{Chunk, Usage};
use super::error::LlmError;
use super::events::Events;
use super::exchange::{Clock, Exchange};

/// How long a server that has finished may still tell what it counted, if it does not end its answer.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// An answer under way. Dropping it ends the connection.
pub struct Deltas {
    exchange: Exchange,
    clock: Clock,
    first: Duration,
    idle: Duration,
    secrets: Vec<Secret>,
    form: Form,
    ready: VecDeque<String>,
    ending: Ending,
    has_text: bool,
    has_choice: bool,
    is_over: bool,
    /// Told after the text that came before it.
    failure: Option<LlmError>,
}

/// How a server answers, whatever was asked for.
enum Form {
    /// Nothing came yet.
    Unknown,
    Events(Events),
    Whole(Vec<u8>),
}

/// What is known at the end of an answer.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Ending {
    /// Why it ended: `stop`, `length`.
    pub finish_reason: Option<String>,
    /// What it cost, if the server counts.
    pub usage: Option<Usage>,
    /// The model as the server names it.
    pub model: Option<String>,
}

impl Deltas {
    /// Waits for the first text: what fails before may be asked for again.
    pub(super) async fn open(
        exchange: Exchange,
        clock: Clock,
        patience: &Patience,
        first: Duration,
        secrets: Vec<Secret>,
    ) -> Result<Deltas, LlmError> {
        let (form, ready, ending) = (Form::Unknown, VecDeque::new(), Ending::default());
        let (has_text, has_choice, is_over, idle) = (false, false, false, patience.idle);
        let failure = None;
        let mut deltas = Deltas {
            exchange,
            clock,
            first,
            idle,
            secrets,
            form,
            ready,
            ending,
            has_text,
            has_choice,
            is_over,
            failure,
        };
        if let Some(text) = deltas.next().await? {
            deltas.ready.push_front(text);
        }
        Ok(deltas)
    }

    /// The next piece of text; none at the end.
    pub async fn next(&mut self) -> Result<Option<String>, LlmError> {
        loop {
            if let Some(text) = self.ready.pop_front() {
                return Ok(Some(text));
            }
            if let Some(error) = self.failure.take() {
                return Err(error);
            }
            if self.is_over {
                return self.close();
            }
            self.failure = self.read().await.err();
        }
    }

    /// What is known once there is no more text.
    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    async fn read(&mut self) -> Result<(), LlmError> {
        let has_finished = self.ending.finish_reason.is_some();
        let patience = match has_finished {
            true => AFTERWARDS.min(self.idle),
            false if self.has_text => self.idle,
            false => self.first,
        };
        match self.exchange.piece(&self.clock, patience).await {
            Ok(Some(piece)) => self.take(&piece),
            Ok(None) => self.rest(),
            // The text is whole; only how it was counted is lost.
            Err(_) if has_finished => self.over(),
            Err(error) => Err(error),
        }
    }

    fn over(&mut self) -> Result<(), LlmError> {
        self.is_over = true;
        Ok(())
    }

    fn take(&mut self, piece: &[u8]) -> Result<(), LlmError> {
        if let Form::Unknown = self.form {
            self.form = match piece.iter().find(|byte| !byte.is_ascii_whitespace()) {
                Some(b'{' | b'[') => Form::Whole(Vec::new()),
                Some(_) => Form::Events(Events::default()),
                None => return Ok(()),
            };
        }
        match &mut self.form {
            Form::Events(events) => {
                let events = events.push(piece);
                events.iter().try_for_each(|event| self.event(event))
            }
            Form::Whole(whole) => {
                whole.extend_from_slice(piece);
                Ok(())
            }
            Form::Unknown => Ok(()),
        }
    }

    /// What the end of the connection completes. An event that breaks off there is no end, unless the text was whole before.
    fn rest(&mut self) -> Result<(), LlmError> {
        let was_whole = self.ending.finish_reason.is_some();
        let last = match std::mem::replace(&mut self.form, Form::Unknown) {
            Form::Events(mut events) => events.finish().map_or(Ok(()), |event| self.event(&event)),
            Form::Whole(whole) => self.object(&whole),
            Form::Unknown => Ok(()),
        };
        self.is_over = true;
        if was_whole { Ok(()) } else { last }
    }

    fn event(&mut self, event: &str) -> Result<(), LlmError> {
        match event.trim() {
            // What comes after the end is nothing to us.
            _ if self.is_over => Ok(()),
            "" => Ok(()),
            "[DONE]" => self.over(),
            object => self.object(object.as_bytes()),
        }
    }

    fn object(&mut self, object: &[u8]) -> Result<(), LlmError> {
        let object: Value = serde_json::from_slice(object).map_err(|_| LlmError::broken("it is not JSON"))?;
        if !object["error"].is_null() {
            return Err(LlmError::of_event(&object["error"], &self.secrets));
        }
        let chunk = Chunk::of(&object);
        self.has_choice |= chunk.has_choice;
        self.ending.finish_reason = chunk.finish_reason.or(self.ending.finish_reason.take());
        self.ending.usage = chunk.usage.or(self.ending.usage);
        self.ending.model = self.ending.model.take().or(chunk.model);
        if !chunk.text.is_empty() {
            self.has_text = true;
            self.ready.push_back(chunk.text);
        }
        Ok(())
    }

    fn close(&self) -> Result<Option<String>, LlmError> {
        match (self.has_text, self.has_choice, self.ending.finish_reason.as_deref()) {
            (true, ..) => Ok(None),
            (_, true, Some("length")) => {
                Err(LlmError::broken("it spent all its tokens without a text: raise `max_tokens`"))
            }
            (_, true, _) => Err(LlmError::broken("it has no text")),
            (_, false, _) => Err(LlmError::broken("it has no choices")),
        }
    }
}

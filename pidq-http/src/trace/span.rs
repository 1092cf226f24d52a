//! Span: one operation in a trace, with attributes and an outcome.

use std::borrow::Cow;

use super::Trace;
use super::recorder::RecordedSpan;
use super::span_value::SpanValue;

/// One operation in a trace; it ends when it is dropped.
///
/// Attributes never contain secrets, queries, or text of documents, questions and answers.
#[derive(Debug, Default)]
pub struct Span {
    /// `None` if the span is not recorded.
    recorded: Option<RecordedSpan>,
    trace: Trace,
}

impl Span {
    pub(super) fn new(recorded: Option<RecordedSpan>, trace: Trace) -> Span {
        Span { recorded, trace }
    }

    /// Returns the position of this span, for the spans and calls within it.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Returns whether attributes are recorded.
    pub fn is_recorded(&self) -> bool {
        self.recorded.as_ref().is_some_and(RecordedSpan::is_recording)
    }

    /// Sets the name, if it was not known at the start.
    pub(crate) fn rename(&mut self, name: String) {
        if let Some(span) = &mut self.recorded {
            span.rename(name);
        }
    }

    /// Sets an attribute.
    pub fn set(&mut self, name: &'static str, value: impl Into<SpanValue>) {
        if let Some(span) = &mut self.recorded {
            span.set(name, value.into());
        }
    }

    /// Marks the operation as failed, with a stable code such as `timeout`.
    pub fn fail(&mut self, code: impl Into<Cow<'static, str>>) {
        if let Some(span) = &mut self.recorded {
            span.set("error.type", SpanValue::Text(code.into()));
            span.fail();
        }
    }
}

//! Span of a call of a model server, with the attributes of the semantic conventions for generative AI.
//!
//! It has no prompts, no answers and no texts, only the model, the parameters, token counts and the outcome.

use pidq_http::{Span, SpanKind, SpanValue, Trace};

use super::{Endpoint, LlmError};
use crate::net::egress::{Host, TargetUrl};

/// Operation of a call, `gen_ai.operation.name`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Operation {
    Chat,
    Embeddings,
    Rerank,
}

impl Operation {
    fn as_str(self) -> &'static str {
        match self {
            Operation::Chat => "chat",
            Operation::Embeddings => "embeddings",
            Operation::Rerank => "rerank",
        }
    }
}

/// Span of a call, retries included. Dropping it ends the span.
#[derive(Debug, Default)]
pub(super) struct CallSpan(Span);

impl CallSpan {
    /// Begins a span at the position of the running task. Its name lacks the model, which callers choose freely, so that
    /// they cannot create any number of names.
    pub fn begin(operation: Operation, endpoint: &Endpoint) -> CallSpan {
        let operation = operation.as_str();
        let mut span = Trace::current().span(SpanKind::Client, operation);
        if span.is_recorded() {
            span.set("gen_ai.operation.name", operation);
            // The protocol; the servers themselves are of any make.
            span.set("gen_ai.provider.name", "openai");
            span.set("gen_ai.request.model", endpoint.model.clone());
            if let Ok(url) = TargetUrl::parse(&endpoint.base_url) {
                span.set("server.address", host_name(url.host()));
                span.set("server.port", url.port());
            }
        }
        CallSpan(span)
    }

    /// Returns the position of the span, which the server receives.
    pub fn trace(&self) -> &Trace {
        self.0.trace()
    }

    /// Adds an attribute, if it has a value.
    pub fn set<T: Into<SpanValue>>(&mut self, name: &'static str, value: Option<T>) {
        if let Some(value) = value {
            self.0.set(name, value);
        }
    }

    /// Adds the number and the length of vectors, and the tokens that the server reported.
    pub fn record_vectors(&mut self, vectors: &[Vec<f32>], tokens: Option<u64>) {
        let span = &mut self.0;
        span.set("pidq.embeddings.count", vectors.len() as u64);
        span.set("gen_ai.embeddings.dimension.count", vectors.first().map_or(0, Vec::len) as u64);
        tokens.into_iter().for_each(|tokens| span.set("gen_ai.usage.input_tokens", tokens));
    }

    /// Marks the call as failed.
    pub fn fail(&mut self, error: &LlmError) {
        self.0.fail(error.code());
        if let Some(upstream) = error.upstream() {
            self.0.set("http.response.status_code", upstream.status);
        }
    }
}

fn host_name(host: &Host) -> String {
    match host {
        Host::Name(name) => name.clone(),
        Host::Ip(address) => address.to_string(),
    }
}

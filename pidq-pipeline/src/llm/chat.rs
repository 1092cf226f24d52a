//! Chat completions: the request body, and fallbacks for servers that reject some of its fields.

use std::time::Duration;

use hyper::Method;
use pidq_http::{Bytes, Trace};
use serde_json::{Map, Value, json};

use super::call_span::{CallSpan, Operation};
use super::deadline::Deadline;
use super::error::LlmError;
use super::http::HttpRequest;
use super::stream::{CompletionInfo, Deltas};
use super::{Client, Endpoint};
use crate::net::egress::Target;

/// A chat request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chat {
    /// System message.
    pub system: String,
    /// User message: the question with its contexts.
    pub user: String,
    /// Sampling parameters.
    pub sampling: Sampling,
    /// Total timeout, at most ten minutes.
    pub total_timeout: Option<Duration>,
}

/// Sampling parameters; only those that the caller set are sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling {
    /// Sampling temperature.
    pub temperature: Option<f64>,
    /// Maximum length of the answer, in tokens.
    pub max_tokens: Option<u32>,
    /// Nucleus sampling threshold.
    pub top_p: Option<f64>,
    /// Random seed.
    pub seed: Option<i64>,
    /// Stop strings.
    pub stop: Vec<String>,
}

impl Sampling {
    /// Adds the parameters that the caller set to a span.
    fn record(&self, span: &mut CallSpan) {
        span.set("gen_ai.request.temperature", self.temperature);
        span.set("gen_ai.request.top_p", self.top_p);
        span.set("gen_ai.request.max_tokens", self.max_tokens);
        span.set("gen_ai.request.seed", self.seed);
    }
}

/// A complete answer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Completion {
    /// The text.
    pub text: String,
    /// Finish reason, usage and model.
    pub info: CompletionInfo,
}

/// Delivery of an answer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Delivery {
    Streamed,
    Complete,
}

/// Request fields that a server accepts, learned from its errors.
#[derive(Clone, Copy, Debug)]
struct Dialect {
    max_tokens: &'static str,
    include_usage: bool,
}

impl Client {
    /// Requests a completion and waits for the complete answer.
    pub async fn chat(&self, endpoint: &Endpoint, chat: &Chat) -> Result<Completion, LlmError> {
        let mut deltas = self.open(endpoint, chat, Delivery::Complete).await?;
        let mut text = String::new();
        while let Some(delta) = deltas.next().await.map_err(|error| error.with_partial_answer(&text))? {
            text.push_str(&delta);
        }
        Ok(Completion { text, info: deltas.info().clone() })
    }

    /// Requests a streamed completion. When this returns, the first text has arrived, and nothing is retried any more.
    pub async fn stream(&self, endpoint: &Endpoint, chat: &Chat) -> Result<Deltas, LlmError> {
        self.open(endpoint, chat, Delivery::Streamed).await
    }

    async fn open(&self, endpoint: &Endpoint, chat: &Chat, delivery: Delivery) -> Result<Deltas, LlmError> {
        let mut span = CallSpan::begin(Operation::Chat, endpoint);
        chat.sampling.record(&mut span);
        match self.request_answer(endpoint, chat, delivery, span.trace()).await {
            Ok(deltas) => Ok(deltas.in_span(span)),
            Err(error) => {
                span.fail(&error);
                Err(error)
            }
        }
    }

    async fn request_answer(
        &self,
        endpoint: &Endpoint,
        chat: &Chat,
        delivery: Delivery,
        trace: &Trace,
    ) -> Result<Deltas, LlmError> {
        let deadline = self.deadline(chat.total_timeout);
        let target = self.target(endpoint, &deadline).await?;
        let mut dialect = Dialect { max_tokens: "max_tokens", include_usage: delivery == Delivery::Streamed };
        loop {
            let body = body(chat, &endpoint.model, delivery, dialect);
            let request =
                HttpRequest { traceparent: trace.traceparent(), ..self.request(endpoint, body, delivery, &deadline) };
            match self.with_retries(&target, &deadline, || self.attempt(&target, &request, &deadline)).await {
                Err(error) => dialect = dialect.after(&error).ok_or(error)?,
                result => return result,
            }
        }
    }

    fn request<'a>(
        &self,
        endpoint: &'a Endpoint,
        body: Bytes,
        delivery: Delivery,
        deadline: &Deadline,
    ) -> HttpRequest<'a> {
        let (accept, head_timeout) = match delivery {
            Delivery::Streamed => ("text/event-stream", self.options.first_byte_timeout),
            Delivery::Complete => ("application/json", deadline.remaining()),
        };
        let (method, path, traceparent) = (Method::POST, "/chat/completions", None);
        HttpRequest { method, path, endpoint, accept, body, head_timeout, traceparent }
    }

    async fn attempt(
        &self,
        target: &Target,
        request: &HttpRequest<'_>,
        deadline: &Deadline,
    ) -> Result<Deltas, LlmError> {
        let exchange = self.send(target, request, deadline).await?;
        let secrets = request.endpoint.secrets();
        Deltas::open(exchange, *deadline, &self.options, request.head_timeout, secrets).await
    }
}

impl Dialect {
    /// Returns the fallback after an error, if there is one. Each fallback is tried once.
    fn after(self, error: &LlmError) -> Option<Dialect> {
        if self.max_tokens == "max_tokens" && error.rejects("max_tokens") {
            return Some(Dialect { max_tokens: "max_completion_tokens", ..self });
        }
        if self.include_usage && error.is_bad_request() {
            return Some(Dialect { include_usage: false, ..self });
        }
        None
    }
}

fn body(chat: &Chat, model: &str, delivery: Delivery, dialect: Dialect) -> Bytes {
    let message = |role: &str, content: &str| json!({"role": role, "content": content});
    let mut body = Map::new();
    body.insert("model".into(), model.into());
    body.insert("messages".into(), json!([message("system", &chat.system), message("user", &chat.user)]));
    body.insert("stream".into(), (delivery == Delivery::Streamed).into());
    let mut insert = |name: &str, value: Option<Value>| value.and_then(|value| body.insert(name.into(), value));
    let Sampling { temperature, max_tokens, top_p, seed, stop } = &chat.sampling;
    insert("temperature", temperature.map(Value::from));
    insert(dialect.max_tokens, max_tokens.map(Value::from));
    insert("top_p", top_p.map(Value::from));
    insert("seed", seed.map(Value::from));
    insert("stop", (!stop.is_empty()).then(|| json!(stop)));
    insert("stream_options", dialect.include_usage.then(|| json!({"include_usage": true})));
    Bytes::from(Value::Object(body).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(chat: &Chat, delivery: Delivery, dialect: Dialect, expected: Value) {
        let body = body(chat, "m", delivery, dialect);
        assert_eq!(serde_json::from_slice::<Value>(&body).expect("JSON"), expected);
    }

    #[test]
    fn a_body_has_only_the_fields_that_the_caller_set() {
        let messages = json!([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]);
        let mut chat = Chat { system: "s".into(), user: "u".into(), ..Chat::default() };
        let dialect = Dialect { max_tokens: "max_tokens", include_usage: false };
        check(&chat, Delivery::Complete, dialect, json!({"model": "m", "messages": messages, "stream": false}));
        chat.sampling = Sampling {
            temperature: Some(0.0),
            max_tokens: Some(7),
            top_p: Some(0.5),
            seed: Some(-3),
            stop: vec!["END".into()],
        };
        check(
            &chat,
            Delivery::Streamed,
            Dialect { max_tokens: "max_completion_tokens", include_usage: true },
            json!({
                "model": "m", "messages": messages, "stream": true, "temperature": 0.0, "max_completion_tokens": 7,
                "top_p": 0.5, "seed": -3, "stop": ["END"], "stream_options": {"include_usage": true},
            }),
        );
    }
}

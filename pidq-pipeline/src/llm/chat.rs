//! One question to a model: its body, and what is left out when a server does not take it.

use std::time::Duration;

use hyper::Method;
use pidq_http::Bytes;
use serde_json::{Map, Value, json};

use super::error::LlmError;
use super::exchange::{Clock, Question};
use super::stream::{Deltas, Ending};
use super::{Client, Endpoint};
use crate::egress::Target;

/// A question, and what the caller wants of the answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chat {
    /// What the model is told by us.
    pub system: String,
    /// The question with its contexts.
    pub user: String,
    /// How the answer is written.
    pub sampling: Sampling,
    /// How long all may take; ten minutes at most.
    pub total: Option<Duration>,
}

/// How a model writes an answer: what the caller says of it, and nothing where the caller says nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampling {
    /// How much chance there is.
    pub temperature: Option<f64>,
    /// The longest answer, in tokens.
    pub max_tokens: Option<u32>,
    /// The other way to say how much chance there is.
    pub top_p: Option<f64>,
    /// Where chance begins.
    pub seed: Option<i64>,
    /// Texts that end an answer.
    pub stop: Vec<String>,
}

/// An answer in one piece.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Completion {
    /// The text.
    pub text: String,
    /// How it ended.
    pub ending: Ending,
}

/// How an answer is wanted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Delivery {
    Streamed,
    Whole,
}

/// What a server takes: found out by what it refuses.
#[derive(Clone, Copy, Debug)]
struct Dialect {
    max_tokens: &'static str,
    asks_for_usage: bool,
}

impl Client {
    /// Asks, and waits for the whole answer.
    pub async fn chat(&self, endpoint: &Endpoint, chat: &Chat) -> Result<Completion, LlmError> {
        let mut deltas = self.open(endpoint, chat, Delivery::Whole).await?;
        let mut text = String::new();
        while let Some(delta) = deltas.next().await? {
            text.push_str(&delta);
        }
        Ok(Completion { text, ending: deltas.ending().clone() })
    }

    /// Asks, and gives the answer while it is written. Once this returns there is text, and nothing is repeated.
    pub async fn stream(&self, endpoint: &Endpoint, chat: &Chat) -> Result<Deltas, LlmError> {
        self.open(endpoint, chat, Delivery::Streamed).await
    }

    async fn open(&self, endpoint: &Endpoint, chat: &Chat, delivery: Delivery) -> Result<Deltas, LlmError> {
        let clock = self.clock(chat.total);
        let target = self.target(endpoint, &clock).await?;
        let mut dialect = Dialect { max_tokens: "max_tokens", asks_for_usage: delivery == Delivery::Streamed };
        loop {
            let body = body(chat, &endpoint.model, delivery, dialect);
            let question = self.question(endpoint, body, delivery, &clock);
            match self.retried(&target, &clock, || self.once(&target, &question, &clock)).await {
                Err(error) => dialect = dialect.after(&error).ok_or(error)?,
                answer => return answer,
            }
        }
    }

    fn question<'a>(&self, endpoint: &'a Endpoint, body: Bytes, delivery: Delivery, clock: &Clock) -> Question<'a> {
        let (accept, head) = match delivery {
            Delivery::Streamed => ("text/event-stream", self.patience.first_byte),
            Delivery::Whole => ("application/json", clock.left()),
        };
        Question { method: Method::POST, path: "/chat/completions", endpoint, accept, body, head }
    }

    async fn once(&self, target: &Target, question: &Question<'_>, clock: &Clock) -> Result<Deltas, LlmError> {
        let exchange = self.ask(target, question, clock).await?;
        let secrets = question.endpoint.secrets();
        Deltas::open(exchange, *clock, &self.patience, question.head, secrets).await
    }
}

impl Dialect {
    /// What to try after a refusal; none if nothing is left. Each step is taken once.
    fn after(self, error: &LlmError) -> Option<Dialect> {
        if self.max_tokens == "max_tokens" && error.rejects("max_tokens") {
            return Some(Dialect { max_tokens: "max_completion_tokens", ..self });
        }
        if self.asks_for_usage && error.is_bad_request() {
            return Some(Dialect { asks_for_usage: false, ..self });
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
    let mut given = |name: &str, value: Option<Value>| value.and_then(|value| body.insert(name.into(), value));
    let Sampling { temperature, max_tokens, top_p, seed, stop } = &chat.sampling;
    given("temperature", temperature.map(Value::from));
    given(dialect.max_tokens, max_tokens.map(Value::from));
    given("top_p", top_p.map(Value::from));
    given("seed", seed.map(Value::from));
    given("stop", (!stop.is_empty()).then(|| json!(stop)));
    given("stream_options", dialect.asks_for_usage.then(|| json!({"include_usage": true})));
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
    fn a_body_has_what_the_caller_set_and_nothing_else() {
        let messages = json!([{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]);
        let mut chat = Chat { system: "s".into(), user: "u".into(), ..Chat::default() };
        let plain = Dialect { max_tokens: "max_tokens", asks_for_usage: false };
        check(&chat, Delivery::Whole, plain, json!({"model": "m", "messages": messages, "stream": false}));
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
            Dialect { max_tokens: "max_completion_tokens", asks_for_usage: true },
            json!({
                "model": "m", "messages": messages, "stream": true, "temperature": 0.0, "max_completion_tokens": 7,
                "top_p": 0.5, "seed": -3, "stop": ["END"], "stream_options": {"include_usage": true},
            }),
        );
    }
}

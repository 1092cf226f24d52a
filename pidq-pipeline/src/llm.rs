//! A client of language models that speak OpenAI's protocol: chat, embeddings, and the list of models.
//!
//! Servers that "speak OpenAI" differ in a hundred small things; what they are forgiven stands in `events` and
//! `chunk`, what they are not in `error`. Dropping a future or a [`Deltas`] closes the connection, so a caller who
//! goes away costs the model nothing more.

mod breaker;
mod chat;
mod chunk;
mod embeddings;
mod endpoint;
mod error;
mod events;
mod exchange;
mod models;
mod rerank;
mod retry;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

pub use chat::{Chat, Completion, Sampling};
pub use chunk::Usage;
pub use embeddings::Batches;
pub use endpoint::{Endpoint, Fault};
pub use error::{Kind, LlmError, Upstream};
pub use stream::{Deltas, Ending};

use crate::egress::{Guard, NoTarget, Target};
use breaker::Breakers;
use error::Trouble;
use exchange::{Clock, Exchange, Question};

/// How long a model may take, and how often it is asked again.
#[derive(Clone, Debug, PartialEq)]
pub struct Patience {
    /// Until there is a connection.
    pub connect: Duration,
    /// Until the first byte of a streamed answer. An answer in one piece has none before its end.
    pub first_byte: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
    /// All together, repetitions included, unless a caller says otherwise.
    pub total: Duration,
    /// How often a request is repeated.
    pub retries: u32,
    /// The first pause before a repetition; each is twice the one before, up to eight seconds.
    pub pause: Duration,
    /// After how many failures in a row an address rests.
    pub failures: u32,
    /// For how long it rests.
    pub rest: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_secs(60),
            idle: Duration::from_secs(30),
            total: Duration::from_secs(120),
            retries: 2,
            pause: Duration::from_millis(500),
            failures: 5,
            rest: Duration::from_secs(30),
        }
    }
}

/// The longest that a caller may wait.
pub const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// The longest answer of a model, in bytes on the wire.
pub const LARGEST_ANSWER: usize = 8 << 20;

/// A client of language models.
#[derive(Clone, Debug)]
pub struct Client {
    guard: Guard,
    patience: Patience,
    breakers: Arc<Breakers>,
}

impl Client {
    /// A client that calls what the guard lets through.
    pub fn new(guard: Guard, patience: Patience) -> Client {
        let breakers = Arc::new(Breakers::new(patience.failures, patience.rest));
        Client { guard, patience, breakers }
    }

    /// How long a call may take if its caller does not say.
    pub(crate) fn total(&self) -> Duration {
        self.patience.total
    }

    /// The end of a call that begins now.
    fn clock(&self, total: Option<Duration>) -> Clock {
        Clock::until(Instant::now() + total.unwrap_or(self.patience.total).min(LONGEST_WAIT))
    }

    /// Where an endpoint is. Looked up and checked once a call, repetitions included.
    async fn target(&self, endpoint: &Endpoint, clock: &Clock) -> Result<Target, LlmError> {
        let looking = self.guard.target(&endpoint.base_url, endpoint.allow.as_ref());
        match clock.within(self.patience.connect, looking).await {
            Ok(Ok(target)) => Ok(target),
            Ok(Err(NoTarget::Refused(refusal))) => Err(LlmError::forbidden(&refusal)),
            Ok(Err(NoTarget::Unresolved)) => Err(LlmError::unreachable("its name leads nowhere")),
            Err(_) => Err(LlmError::unreachable("its name could not be looked up in time")),
        }
    }

    /// One request and the head of its answer. What is no success is an error, read from the body.
    async fn ask(&self, target: &Target, question: &Question<'_>, clock: &Clock) -> Result<Exchange, LlmError> {
        let mut exchange = exchange::open(&self.guard, target, question, &self.patience, clock).await?;
        if exchange.status.is_success() {
            return Ok(exchange);
        }
        let body = exchange.whole(clock, self.patience.idle).await.unwrap_or_default();
        Err(LlmError::of_answer(exchange.status, &exchange.headers, &body, &question.endpoint.secrets()))
    }

    /// Repeats what may be repeated while there is time, and lets an address rest that keeps failing.
    async fn retried<T, F>(&self, target: &Target, clock: &Clock, once: impl Fn() -> F) -> Result<T, LlmError>
    where
        F: Future<Output = Result<T, LlmError>>,
    {
        let server = target.address.to_string();
        self.breakers.admit(&server)?;
        let mut repetitions = 0;
        loop {
            let error = match once().await {
                Ok(answer) => {
                    self.breakers.answered(&server);
                    return Ok(answer);
                }
                Err(error) => error,
            };
            match error.trouble() {
                Trouble::Server => self.breakers.failed(&server),
                Trouble::Request => self.breakers.answered(&server),
                Trouble::Ours => {}
            }
            let Some(pause) = retry::pause(&error, repetitions, &self.patience, clock) else { return Err(error) };
            tokio::time::sleep(pause).await;
            if self.breakers.admit(&server).is_err() {
                // What went wrong here says more than that others are turned away now.
                return Err(error);
            }
            repetitions += 1;
        }
    }
}

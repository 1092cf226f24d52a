//! Client of OpenAI-compatible model servers: chat completions, embeddings, reranking, list of models.
//!
//! OpenAI-compatible servers differ in many details; `sse` and `chat_chunk` contain what is tolerated, `error` what is
//! not. Dropping a future or a [`Deltas`] closes the connection, so a disconnected caller stops the generation.

mod call_span;
mod chat;
mod chat_chunk;
mod circuit_breaker;
mod deadline;
mod embeddings;
mod endpoint;
mod error;
mod http;
mod invisible;
mod models;
mod rerank;
mod retry;
mod retry_after;
mod sse;
mod stream;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

pub use chat::{Chat, Completion, Sampling};
pub use chat_chunk::Usage;
pub use embeddings::BatchOptions;
pub use endpoint::{Endpoint, EndpointError};
pub use error::{LlmError, LlmErrorKind, Upstream};
pub use invisible::is_invisible;
pub use stream::{CompletionInfo, Deltas};

use circuit_breaker::Breakers;
use deadline::Deadline;
use error::FailureScope;
use http::{Exchange, HttpRequest};

use crate::net::egress::{EgressError, Guard, Target};

/// Timeouts, retries and circuit breaker of a client.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientOptions {
    /// Timeout of connecting.
    pub connect_timeout: Duration,
    /// Timeout of the first byte of a streamed response. A complete response sends none before its end.
    pub first_byte_timeout: Duration,
    /// Timeout between two chunks of a response.
    pub idle_timeout: Duration,
    /// Default total timeout of a call, retries included.
    pub total_timeout: Duration,
    /// Maximum number of retries.
    pub max_retries: u32,
    /// Delay before the first retry; it doubles with each retry, up to eight seconds.
    pub retry_delay: Duration,
    /// Consecutive failures that open the circuit breaker of a server.
    pub failure_threshold: u32,
    /// Time until an open circuit breaker admits a request.
    pub cooldown: Duration,
}

impl Default for ClientOptions {
    fn default() -> Self {
        ClientOptions {
            connect_timeout: Duration::from_secs(5),
            first_byte_timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(120),
            max_retries: 2,
            retry_delay: Duration::from_millis(500),
            failure_threshold: 5,
            cooldown: Duration::from_secs(30),
        }
    }
}

/// Maximum total timeout that a caller may set.
pub const MAX_TOTAL_TIMEOUT: Duration = Duration::from_secs(600);

/// Maximum size of a response, in bytes.
pub const MAX_RESPONSE_SIZE: usize = 8 << 20;

/// Client of language models.
#[derive(Clone, Debug)]
pub struct Client {
    guard: Guard,
    options: ClientOptions,
    breakers: Arc<Breakers>,
}

impl Client {
    /// Creates a client that connects only to addresses that the guard permits.
    pub fn new(guard: Guard, options: ClientOptions) -> Client {
        let breakers = Arc::new(Breakers::new(options.failure_threshold, options.cooldown));
        Client { guard, options, breakers }
    }

    /// Returns the default total timeout of a call.
    pub(crate) fn total_timeout(&self) -> Duration {
        self.options.total_timeout
    }

    /// Returns the deadline of a call that starts now.
    fn deadline(&self, total: Option<Duration>) -> Deadline {
        Deadline::until(Instant::now() + total.unwrap_or(self.options.total_timeout).min(MAX_TOTAL_TIMEOUT))
    }

    /// Resolves and checks the address of an endpoint, once per call, retries included.
    async fn target(&self, endpoint: &Endpoint, deadline: &Deadline) -> Result<Target, LlmError> {
        let resolving = self.guard.target(&endpoint.base_url, endpoint.allow.as_ref());
        match deadline.within(self.options.connect_timeout, resolving).await {
            Ok(Ok(target)) => Ok(target),
            Ok(Err(EgressError::Rejected(rejection))) => Err(LlmError::forbidden(&rejection)),
            Ok(Err(EgressError::Unresolved)) => Err(LlmError::unreachable("its host name does not resolve")),
            Err(_) => Err(LlmError::unreachable("resolving its host name timed out")),
        }
    }

    /// Sends a request and reads the head of the response. An error status becomes an error with details from the body.
    async fn send(
        &self,
        target: &Target,
        request: &HttpRequest<'_>,
        deadline: &Deadline,
    ) -> Result<Exchange, LlmError> {
        let mut exchange = http::open(&self.guard, target, request, &self.options, deadline).await?;
        if exchange.status().is_success() {
            return Ok(exchange);
        }
        let body = exchange.read_all(deadline, self.options.idle_timeout).await.unwrap_or_default();
        Err(LlmError::from_response(exchange.status(), exchange.headers(), &body, &request.endpoint.secrets()))
    }

    /// Retries retryable errors until the deadline and drives the circuit breaker of the server.
    async fn with_retries<T, F>(
        &self,
        target: &Target,
        deadline: &Deadline,
        attempt: impl Fn() -> F,
    ) -> Result<T, LlmError>
    where
        F: Future<Output = Result<T, LlmError>>,
    {
        let server = target.url.to_string();
        self.breakers.admit(&server)?;
        let mut retries = 0;
        loop {
            let error = match attempt().await {
                Ok(value) => {
                    self.breakers.record_success(&server);
                    return Ok(value);
                }
                Err(error) => error,
            };
            match error.scope() {
                FailureScope::Server => self.breakers.record_failure(&server),
                FailureScope::Request => self.breakers.record_success(&server),
                FailureScope::Unknown => {}
            }
            let Some(delay) = retry::delay(&error, retries, &self.options, deadline) else { return Err(error) };
            tokio::time::sleep(delay).await;
            if self.breakers.admit(&server).is_err() {
                // The error of this call is more specific than that of an open circuit breaker.
                return Err(error);
            }
            retries += 1;
        }
    }
}

//! One HTTP request to a checked place, and its answer piece by piece within a time and a size.
//!
//! A connection serves one request. Keeping it would save a handshake beside seconds of a model's thinking, and would
//! hand a connection that was checked under one policy to a question under another.

use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use hyper::http::request::Builder;
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use pidq_http::Bytes;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::endpoint::{Endpoint, bearer, header};
use super::error::LlmError;
use super::{LARGEST_ANSWER, Patience};
use crate::egress::{Connection, Guard, NoConnection, Target};

/// The end of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock(Instant);

/// There was no answer in time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Late {
    /// The server was silent.
    Silent,
    /// The call is over, whoever is to blame.
    Over,
}

impl Clock {
    pub(super) fn until(end: Instant) -> Clock {
        Clock(end)
    }

    pub(super) fn left(&self) -> Duration {
        self.0.saturating_duration_since(Instant::now())
    }

    /// Waits, but neither longer than `patience` nor beyond the end of the call.
    pub(super) async fn within<F: Future>(&self, patience: Duration, future: F) -> Result<F::Output, Late> {
        let patient = Instant::now() + patience;
        let late = if patient < self.0 { Late::Silent } else { Late::Over };
        timeout_at(patient.min(self.0), future).await.map_err(|_| late)
    }
}

/// What is asked.
pub(super) struct Question<'a> {
    pub(super) method: Method,
    /// Below the base URL: `/chat/completions`.
    pub(super) path: &'static str,
    pub(super) endpoint: &'a Endpoint,
    pub(super) accept: &'static str,
    pub(super) body: Bytes,
    /// How long there may be no answer at all.
    pub(super) head: Duration,
}

/// An answer under way.
pub(super) struct Exchange {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: Incoming,
    taken: usize,
    _driver: Driver,
}

/// The task that moves the bytes. It ends with the exchange, and the connection with it.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(super) async fn open(
    guard: &Guard,
    target: &Target,
    question: &Question<'_>,
    patience: &Patience,
    clock: &Clock,
) -> Result<Exchange, LlmError> {
    let connection = clock.within(patience.connect, guard.connect(target, patience.connect)).await;
    let connection = match connection {
        Ok(Ok(connection)) => connection,
        Ok(Err(NoConnection::Tls)) => return Err(LlmError::unreachable("its certificate is not believed").for_good()),
        Err(Late::Over) => return Err(LlmError::late(Late::Over)),
        _ => return Err(LlmError::unreachable("there is no connection")),
    };
    let request = request(target, question).ok_or_else(LlmError::unsendable)?;
    match clock.within(question.head, send(connection, request)).await {
        Ok(answer) => answer.map_err(|_| LlmError::unreachable("the connection broke off before an answer")),
        Err(late) => Err(LlmError::late(late)),
    }
}

fn request(target: &Target, question: &Question<'_>) -> Option<Request<Full<Bytes>>> {
    let endpoint = question.endpoint;
    let mut request = Builder::new()
        .method(question.method.clone())
        .uri(target.address.endpoint(question.path))
        .header(HOST, target.address.authority())
        .header(USER_AGENT, concat!("pidq/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, question.accept)
        .header(ACCEPT_ENCODING, "identity");
    if question.method == Method::POST {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    if !endpoint.api_key.expose().is_empty() {
        request = request.header(AUTHORIZATION, bearer(&endpoint.api_key)?);
    }
    for (name, value) in &endpoint.extra_headers {
        let (name, value) = header(name, value)?;
        request = request.header(name, value);
    }
    request.body(Full::new(question.body.clone())).ok()
}

async fn send(connection: Connection, request: Request<Full<Bytes>>) -> hyper::Result<Exchange> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(connection)).await?;
    let driver = Driver(tokio::spawn(async move {
        let _ = connection.await;
    }));
    let (head, body) = sender.send_request(request).await?.into_parts();
    Ok(Exchange { status: head.status, headers: head.headers, body, taken: 0, _driver: driver })
}

impl Exchange {
    /// The next piece of the answer; none at its good end.
    pub(super) async fn piece(&mut self, clock: &Clock, patience: Duration) -> Result<Option<Bytes>, LlmError> {
        loop {
            let frame = clock.within(patience, self.body.frame()).await.map_err(LlmError::late)?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|_| LlmError::broken("the answer broke off"))?;
            // What is no data is trailers.
            let Ok(data) = frame.into_data() else { continue };
            self.taken += data.len();
            if self.taken > LARGEST_ANSWER {
                return Err(LlmError::broken("the answer is longer than 8 MiB"));
            }
            return Ok(Some(data));
        }
    }

    /// All of the answer.
    pub(super) async fn whole(&mut self, clock: &Clock, patience: Duration) -> Result<Vec<u8>, LlmError> {
        let mut whole = Vec::with_capacity(self.body.size_hint().lower().min(1 << 16) as usize);
        while let Some(piece) = self.piece(clock, patience).await? {
            whole.extend_from_slice(&piece);
        }
        Ok(whole)
    }
}

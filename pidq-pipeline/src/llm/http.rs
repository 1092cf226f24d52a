//! One HTTP request to a checked address; its response is read in chunks, limited in time and size.
//!
//! A connection serves one request. Pooling would save a handshake, which is short compared to a model's response time,
//! and would reuse a connection checked under one policy for a question under another.

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

use super::deadline::{Deadline, TimeoutCause};
use super::endpoint::{Endpoint, bearer, header};
use super::error::LlmError;
use super::{ClientOptions, MAX_RESPONSE_SIZE};
use crate::net::egress::{ConnectError, Connection, Guard, Target};

/// A request.
pub(super) struct HttpRequest<'a> {
    pub(super) method: Method,
    /// Path below the base URL: `/chat/completions`.
    pub(super) path: &'static str,
    pub(super) endpoint: &'a Endpoint,
    pub(super) accept: &'static str,
    pub(super) body: Bytes,
    /// Timeout of the response head.
    pub(super) head_timeout: Duration,
}

/// A response in progress.
pub(super) struct Exchange {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    body: Incoming,
    received: usize,
    _driver: Driver,
}

/// Task that drives the connection. Dropping it closes the connection.
struct Driver(JoinHandle<()>);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}

pub(super) async fn open(
    guard: &Guard,
    target: &Target,
    http_request: &HttpRequest<'_>,
    options: &ClientOptions,
    deadline: &Deadline,
) -> Result<Exchange, LlmError> {
    let connection = deadline.within(options.connect_timeout, guard.connect(target, options.connect_timeout)).await;
    let connection = match connection {
        Ok(Ok(connection)) => connection,
        Ok(Err(ConnectError::Tls)) => return Err(LlmError::unreachable("its certificate is not trusted").permanent()),
        Err(TimeoutCause::Deadline) => return Err(LlmError::timeout(TimeoutCause::Deadline)),
        _ => return Err(LlmError::unreachable("connecting failed")),
    };
    let request = request(target, http_request).ok_or_else(LlmError::invalid_header)?;
    match deadline.within(http_request.head_timeout, send(connection, request)).await {
        Ok(result) => result.map_err(|_| LlmError::unreachable("the connection closed before a response")),
        Err(cause) => Err(LlmError::timeout(cause)),
    }
}

fn request(target: &Target, http_request: &HttpRequest<'_>) -> Option<Request<Full<Bytes>>> {
    let endpoint = http_request.endpoint;
    let mut request = Builder::new()
        .method(http_request.method.clone())
        .uri(target.url.endpoint(http_request.path))
        .header(HOST, target.url.authority())
        .header(USER_AGENT, concat!("pidq/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, http_request.accept)
        .header(ACCEPT_ENCODING, "identity");
    if http_request.method == Method::POST {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    if !endpoint.api_key.expose().is_empty() {
        request = request.header(AUTHORIZATION, bearer(&endpoint.api_key)?);
    }
    for (name, value) in &endpoint.extra_headers {
        let (name, value) = header(name, value)?;
        request = request.header(name, value);
    }
    request.body(Full::new(http_request.body.clone())).ok()
}

async fn send(connection: Connection, request: Request<Full<Bytes>>) -> hyper::Result<Exchange> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(connection)).await?;
    let driver = Driver(tokio::spawn(async move {
        let _ = connection.await;
    }));
    let (head, body) = sender.send_request(request).await?.into_parts();
    Ok(Exchange { status: head.status, headers: head.headers, body, received: 0, _driver: driver })
}

impl Exchange {
    /// Returns the next chunk of the body; `None` at its regular end.
    pub(super) async fn next_chunk(&mut self, deadline: &Deadline, idle: Duration) -> Result<Option<Bytes>, LlmError> {
        loop {
            let frame = deadline.within(idle, self.body.frame()).await.map_err(LlmError::timeout)?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|_| LlmError::bad_response("the response ended early"))?;
            // Skip trailers.
            let Ok(data) = frame.into_data() else { continue };
            self.received += data.len();
            if self.received > MAX_RESPONSE_SIZE {
                return Err(LlmError::bad_response("the response exceeds 8 MiB"));
            }
            return Ok(Some(data));
        }
    }

    /// Reads the complete body.
    pub(super) async fn read_all(&mut self, deadline: &Deadline, idle: Duration) -> Result<Vec<u8>, LlmError> {
        let mut body = Vec::with_capacity(self.body.size_hint().lower().min(1 << 16) as usize);
        while let Some(chunk) = self.next_chunk(deadline, idle).await? {
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

//! HTTP requests to model servers, with timeouts and a deadline.

use std::time::Duration;

use http_body_util::Full;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use hyper::{HeaderMap, Method, Request, StatusCode};
use pidq_http::{Bytes, TRACEPARENT};

use super::deadline::{Deadline, TimeoutCause};
use super::endpoint::{Endpoint, bearer, header};
use super::error::LlmError;
use super::{ClientOptions, MAX_RESPONSE_SIZE};
use crate::net::egress::{self, BodyError, ConnectError, Guard, ResponseLimits, Target};

/// Limits of a response.
const LIMITS: ResponseLimits = ResponseLimits { head: 408 << 10, body: MAX_RESPONSE_SIZE };

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
    /// Trace context for the server.
    pub(super) traceparent: Option<&'a str>,
}

/// A response in progress.
pub(super) struct Exchange(egress::Exchange);

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
    let exchange = egress::Exchange::open(connection, request, LIMITS);
    match deadline.within(http_request.head_timeout, exchange).await {
        Ok(result) => {
            result.map(Exchange).map_err(|_| LlmError::unreachable("the connection closed before a response"))
        }
        Err(cause) => Err(LlmError::timeout(cause)),
    }
}

fn request(target: &Target, http_request: &HttpRequest<'_>) -> Option<Request<Full<Bytes>>> {
    let endpoint = http_request.endpoint;
    let path = target.url.endpoint(http_request.path);
    let mut request = target.request(http_request.method.clone(), &path).header(ACCEPT, http_request.accept);
    if http_request.method == Method::POST {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    if !endpoint.api_key.expose().is_empty() {
        request = request.header(AUTHORIZATION, bearer(&endpoint.api_key)?);
    }
    // One in the extra headers has priority.
    let sets_trace = |(name, _): &(String, _)| name.eq_ignore_ascii_case(TRACEPARENT.as_str());
    if let Some(traceparent) = http_request.traceparent.filter(|_| !endpoint.extra_headers.iter().any(sets_trace)) {
        request = request.header(TRACEPARENT, traceparent);
    }
    for (name, value) in &endpoint.extra_headers {
        let (name, value) = header(name, value)?;
        request = request.header(name, value);
    }
    request.body(Full::new(http_request.body.clone())).ok()
}

impl Exchange {
    pub(super) fn status(&self) -> StatusCode {
        self.0.status
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.0.headers
    }

    /// Returns the next chunk of the body; `None` at its regular end.
    pub(super) async fn next_chunk(&mut self, deadline: &Deadline, idle: Duration) -> Result<Option<Bytes>, LlmError> {
        let chunk = deadline.within(idle, self.0.next_chunk()).await.map_err(LlmError::timeout)?;
        chunk.map_err(|error| match error {
            BodyError::Truncated => LlmError::truncated(),
            BodyError::TooLarge => LlmError::bad_response("the response exceeds 8 MiB"),
        })
    }

    /// Reads the complete body.
    pub(super) async fn read_all(&mut self, deadline: &Deadline, idle: Duration) -> Result<Vec<u8>, LlmError> {
        let mut body = Vec::with_capacity(self.0.declared_size().min(1 << 16) as usize);
        while let Some(chunk) = self.next_chunk(deadline, idle).await? {
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }
}

//! HTTP exchange with a checked target: one request, and a response that is read in chunks and limited in size.
//!
//! A connection serves one request. Pooling would save a handshake, which is short compared to a model's response time,
//! and would reuse a connection checked under one policy for a request under another. Redirects are not followed: their
//! targets have not been checked.

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::header::{ACCEPT_ENCODING, HOST, USER_AGENT};
use hyper::http::request::Builder;
use hyper::{HeaderMap, Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;

use super::{Connection, Target};

/// Maximum sizes of a response in bytes.
#[derive(Clone, Copy, Debug)]
pub struct ResponseLimits {
    /// Status line and headers.
    pub head: usize,
    /// Body.
    pub body: usize,
}

/// A response in progress. Dropping it closes the connection.
pub struct Exchange {
    /// Status.
    pub status: StatusCode,
    /// Headers.
    pub headers: HeaderMap,
    body: Limited<Incoming>,
    /// Task that drives the connection; it ends when this is dropped.
    _driver: JoinSet<()>,
}

/// Error of reading a response body.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BodyError {
    /// The connection closed before the end.
    Truncated,
    /// The body exceeds the limit.
    TooLarge,
}

impl Target {
    /// Starts a request for a path with its query, with the headers that all requests have.
    pub fn request(&self, method: Method, path_and_query: &str) -> Builder {
        Request::builder()
            .method(method)
            .uri(path_and_query)
            .header(HOST, self.url.authority())
            .header(USER_AGENT, concat!("pidq/", env!("CARGO_PKG_VERSION")))
            .header(ACCEPT_ENCODING, "identity")
    }
}

impl Exchange {
    /// Sends a request and reads the head of the response.
    ///
    /// # Errors
    /// If the connection closes before the end of the head, or the head is invalid or too large.
    pub async fn open(
        connection: Connection,
        request: Request<Full<Bytes>>,
        limits: ResponseLimits,
    ) -> hyper::Result<Exchange> {
        let handshake = http1::Builder::new().max_buf_size(limits.head).handshake(TokioIo::new(connection));
        let (mut sender, connection) = handshake.await?;
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            let _ = connection.await;
        });
        let (head, body) = sender.send_request(request).await?.into_parts();
        let body = Limited::new(body, limits.body);
        Ok(Exchange { status: head.status, headers: head.headers, body, _driver: driver })
    }

    /// Returns the next chunk of the body; `None` at its regular end.
    ///
    /// # Errors
    /// If the body is truncated or too large.
    pub async fn next_chunk(&mut self) -> Result<Option<Bytes>, BodyError> {
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|error| match error.is::<http_body_util::LengthLimitError>() {
                true => BodyError::TooLarge,
                false => BodyError::Truncated,
            })?;
            // Skip trailers.
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// Returns the declared size of the rest of the body in bytes, or 0.
    pub fn declared_size(&self) -> u64 {
        self.body.size_hint().lower()
    }
}

//! Response: status, headers, and a full or streamed body.

mod body;
mod forwarded;
mod service_body;
mod stream;
mod stream_body;

use std::ops::Range;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::body::Body;
use hyper::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderName,
    HeaderValue, LOCATION,
};
use serde::Serialize;

pub use body::BodyProducer;
pub(crate) use body::{CHUNK_SIZE, Content, ResponseBody};
pub use forwarded::BodyError;
pub use service_body::ServiceBody;
pub use stream::{Disconnected, Events, Lines, Sender};

use crate::message::head::Head;
use crate::message::range;
use crate::message::vectored::{VectoredBody, VectoredBuf};
use crate::metrics::QueryMeasurements;
use crate::problem::{Occurrence, Problem};

/// Number of headers without a reallocation, those of most responses: a map that grows hashes its names again.
const HEADER_CAPACITY: usize = 12;

/// Response of a handler.
pub struct Response {
    /// Status.
    pub status: StatusCode,
    /// Headers. Common headers are added later and do not replace these.
    pub headers: HeaderMap,
    pub(crate) body: Content,
    pub(crate) query_measurements: Option<QueryMeasurements>,
}

impl Response {
    /// Creates a response with a body. Text is UTF-8, and its content type gets that charset.
    pub fn new(status: StatusCode, media: &'static str, body: impl Into<Bytes>) -> Self {
        Response::with_content(status, media, Content::Full(body.into()))
    }

    /// Creates a 200 response with a body.
    pub fn ok(media: &'static str, body: impl Into<Bytes>) -> Self {
        Response::new(StatusCode::OK, media, body)
    }

    /// Creates a 200 response with JSON.
    pub fn json(value: &impl Serialize) -> Result<Self, Problem> {
        let body = serde_json::to_vec(value).map_err(|error| {
            tracing::error!(%error, "serializing a response failed; responding with 500");
            Problem::internal()
        })?;
        Ok(Response::ok("application/json", body))
    }

    /// Creates a response without a body.
    pub fn empty(status: StatusCode) -> Self {
        let headers = HeaderMap::with_capacity(HEADER_CAPACITY);
        Response { status, headers, body: Content::Empty, query_measurements: None }
    }

    /// Creates a 200 response with a streamed body. The sender waits while the client is slow.
    pub fn stream(media: &'static str) -> (Sender, Self) {
        let (sender, content) = stream::channel(None);
        (sender, Response::with_content(StatusCode::OK, media, content))
    }

    /// Creates a 200 response with a streamed body of known length, or a 206 response for the range that the client
    /// requests. The caller must send exactly the returned range. Ranges refer to the content named by the entity
    /// tag.
    ///
    /// # Errors
    ///
    /// 416 if the range is beyond the end.
    pub fn range_stream(
        head: &Head,
        media: &'static str,
        etag: &str,
        length: u64,
    ) -> Result<(Sender, Range<u64>, Self), Problem> {
        let mut response = Response::empty(StatusCode::OK).etag(etag).accept_ranges();
        response.headers.insert(CONTENT_TYPE, content_type(media));
        // A client that has this content gets 304 for any range.
        let part = if head.has_cached(etag) { None } else { range::requested(head, &response.headers, length)? };
        if let Some(part) = &part {
            response = response.partial(part, length);
        }
        let part = part.unwrap_or(0..length);
        let (sender, content) = stream::channel_with_length(part.end - part.start);
        response.body = content;
        Ok((sender, part, response))
    }

    /// Turns the response into 206 for a part of the content.
    pub(crate) fn partial(self, part: &Range<u64>, length: u64) -> Self {
        let value = format!("bytes {}-{}/{length}", part.start, part.end - 1);
        self.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_RANGE, value)
    }

    /// Applies the requested range to a response that offers ranges; 416 if it is beyond the end.
    pub(crate) fn apply_range(&mut self, head: &Head) -> Result<(), Problem> {
        if self.status != StatusCode::OK {
            return Ok(());
        }
        let Content::Full(bytes) = &self.body else { return Ok(()) };
        let length = bytes.len() as u64;
        if let Some(part) = range::requested(head, &self.headers, length)? {
            let bytes = bytes.slice(part.start as usize..part.end as usize);
            let cut = std::mem::replace(self, Response::empty(StatusCode::OK)).partial(&part, length);
            *self = Response { body: Content::Full(bytes), ..cut };
        }
        Ok(())
    }

    /// Creates the response for a problem.
    pub(crate) fn from_problem(problem: Problem, occurrence: &Occurrence<'_>) -> Response {
        let (media, body) = problem.to_body(occurrence);
        let mut response = Response::new(problem.status(), media, body.to_string());
        response.headers.extend(problem.into_headers());
        response.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    /// Creates a 200 response with a body of known length, produced as the client takes it.
    pub fn from_producer(media: &'static str, body: impl BodyProducer + 'static) -> Self {
        Response::with_content(StatusCode::OK, media, Content::Produced(Box::new(body)))
    }

    /// Creates a 200 response with a vectored body, sent without copying. Worth it if most parts have hundreds of
    /// bytes.
    pub fn vectored(media: &'static str, body: impl VectoredBody) -> Self {
        Response::with_content(StatusCode::OK, media, Content::Vectored(VectoredBuf::new(body)))
    }

    /// Creates a response that becomes 304, for a client that already [has this content](Head::has_cached). The
    /// length decides the content coding, which the entity tag contains.
    pub fn not_modified(media: &'static str, length: u64) -> Self {
        Response::with_content(StatusCode::OK, media, Content::NotModified(length))
    }

    /// Creates a 200 response with newline-delimited JSON.
    pub fn ndjson() -> (Lines, Self) {
        let (sender, response) = Response::stream("application/x-ndjson");
        (Lines(sender), response)
    }

    /// Creates a 200 response with server-sent events, and a heartbeat every 15 seconds.
    pub fn events() -> (Events, Self) {
        let (sender, content) = stream::channel(Some(stream::HEARTBEAT));
        let response = Response::with_content(StatusCode::OK, "text/event-stream", content)
            .header(CACHE_CONTROL, "no-store")
            .header(HeaderName::from_static("x-accel-buffering"), "no");
        (Events(sender), response)
    }

    /// Recreates a stored response.
    pub fn replay(status: StatusCode, headers: HeaderMap, body: impl Into<Bytes>) -> Self {
        Response { status, headers, body: Content::Full(body.into()), query_measurements: None }
    }

    /// Creates a response from that of another server. Its content coding and validators are kept.
    pub fn forwarded<B>(response: hyper::Response<B>) -> Self
    where
        B: Body<Data = Bytes, Error: Into<BodyError>> + Send + 'static,
    {
        let (head, body) = response.into_parts();
        let body = Content::Forwarded(forwarded::forward(body));
        Response { status: head.status, headers: head.headers, body, query_measurements: None }
    }

    /// Returns whether the content comes from another server, which has negotiated it.
    pub(crate) fn is_forwarded(&self) -> bool {
        matches!(self.body, Content::Forwarded(_))
    }

    /// Returns the body if it is fully in memory.
    pub fn bytes(&self) -> Option<Bytes> {
        match &self.body {
            Content::Empty => Some(Bytes::new()),
            Content::Full(bytes) => Some(bytes.clone()),
            Content::Produced(_)
            | Content::Vectored(_)
            | Content::Stream(_)
            | Content::Forwarded(_)
            | Content::NotModified(_) => None,
        }
    }

    /// Offers range requests; the body stays uncompressed.
    pub fn accept_ranges(self) -> Self {
        self.header(ACCEPT_RANGES, "bytes")
    }

    fn with_content(status: StatusCode, media: &'static str, body: Content) -> Self {
        // Capacity for the headers that all responses share.
        let mut response = Response { status, headers: HeaderMap::with_capacity(12), body, query_measurements: None };
        response.headers.insert(CONTENT_TYPE, content_type(media));
        response
    }

    /// Sets the status.
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Sets a header. An invalid value is ignored.
    pub fn header(mut self, name: HeaderName, value: impl AsRef<str>) -> Self {
        if let Ok(value) = HeaderValue::from_str(value.as_ref()) {
            self.headers.insert(name, value);
        }
        self
    }

    /// Sets a header with a prepared value.
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Turns the response into 201 with a `Location`.
    pub fn created(self, location: impl AsRef<str>) -> Self {
        self.status(StatusCode::CREATED).header(LOCATION, location)
    }

    /// Sets a strong entity tag, used for `If-None-Match` and changed by content codings.
    pub fn etag(self, tag: impl AsRef<str>) -> Self {
        self.header(ETAG, format!("\"{}\"", tag.as_ref()))
    }

    /// Marks the body as already compressed. Check `Head::accepts_encoding` before.
    pub fn encoded(self, coding: &'static str) -> Self {
        self.header(CONTENT_ENCODING, coding)
    }

    /// Adds the measurements of a query to the access log and the metrics.
    pub fn query_measurements(mut self, measurements: QueryMeasurements) -> Self {
        self.query_measurements = Some(measurements);
        self
    }
}

/// Returns the content type with a charset for text and XML, where clients would guess one. JSON has none, and event
/// streams are UTF-8 by definition.
fn content_type(media: &'static str) -> HeaderValue {
    let is_xml = media.ends_with("+xml") || media == "application/xml";
    let is_guessed = is_xml || media.starts_with("text/") && media != "text/event-stream";
    let value = (is_guessed && !media.contains(';')).then(|| format!("{media}; charset=utf-8"));
    value.and_then(|value| HeaderValue::try_from(value).ok()).unwrap_or(HeaderValue::from_static(media))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_has_a_charset() {
        let check = |media, value: &str| assert_eq!(Response::ok(media, "").headers[CONTENT_TYPE], value);
        check("text/csv", "text/csv; charset=utf-8");
        check("text/plain; charset=utf-8", "text/plain; charset=utf-8");
        check("image/svg+xml", "image/svg+xml; charset=utf-8");
        check("text/event-stream", "text/event-stream");
        check("application/problem+json", "application/problem+json");
        check("application/octet-stream", "application/octet-stream");
    }
}

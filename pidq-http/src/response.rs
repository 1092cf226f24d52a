//! An answer: status, headers, and a body that is there, or that comes piece by piece.

mod body;
mod gathered;
mod stream;

use std::ops::Range;

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{
    ACCEPT_RANGES, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderMap, HeaderName,
    HeaderValue, LOCATION,
};
use serde::Serialize;

pub use body::Filling;
pub(crate) use body::{Activity, Content, Outgoing, PIECE, Portion};
pub(crate) use gathered::Gathered;
pub use gathered::Gathering;
pub use stream::{Events, Gone, Lines, Sender};

use crate::problem::Problem;
use crate::range;
use crate::request::Head;

/// What a handler gives back.
pub struct Response {
    /// The status.
    pub status: StatusCode,
    /// The headers. Common ones are added later and do not replace these.
    pub headers: HeaderMap,
    pub(crate) body: Content,
    pub(crate) notes: Vec<(&'static str, u64)>,
}

impl Response {
    /// A response with a body of some content type. Text is UTF-8, and its type is sent with that charset.
    pub fn new(status: StatusCode, media: &'static str, body: impl Into<Bytes>) -> Self {
        Response::with_content(status, media, Content::Whole(body.into()))
    }

    /// 200 with a body of some content type.
    pub fn ok(media: &'static str, body: impl Into<Bytes>) -> Self {
        Response::new(StatusCode::OK, media, body)
    }

    /// 200 with JSON.
    pub fn json(value: &impl Serialize) -> Result<Self, Problem> {
        let body = serde_json::to_vec(value).map_err(|error| {
            tracing::error!(%error, "an answer cannot be written as JSON");
            Problem::internal()
        })?;
        Ok(Response::ok("application/json", body))
    }

    /// A status without a body.
    pub fn empty(status: StatusCode) -> Self {
        Response { status, headers: HeaderMap::new(), body: Content::Empty, notes: Vec::new() }
    }

    /// 200 with a body that is sent while it is made. The sender waits while the client is slow.
    pub fn stream(media: &'static str) -> (Sender, Self) {
        let (sender, content) = stream::channel(None);
        (sender, Response::with_content(StatusCode::OK, media, content))
    }

    /// 200 with so many bytes that are sent while they are made, or 206 with the part of them that somebody wants: that
    /// range is to be made, no more and no less. Ranges are of the bytes that the validator tells.
    ///
    /// # Errors
    /// 416: there are no such bytes.
    pub fn made(
        head: &Head,
        media: &'static str,
        etag: &str,
        length: u64,
    ) -> Result<(Sender, Range<u64>, Self), Problem> {
        let mut response = Response::empty(StatusCode::OK).etag(etag).ranged();
        response.headers.insert(CONTENT_TYPE, content_type(media));
        // Who has these bytes is told so, whatever part was asked for.
        let part = if head.knows(etag) { None } else { range::of(head, &response.headers, length)? };
        if let Some(part) = &part {
            response = response.in_part(part, length);
        }
        let part = part.unwrap_or(0..length);
        let (sender, content) = stream::channel_of_length(part.end - part.start);
        response.body = content;
        Ok((sender, part, response))
    }

    /// 206: these of so many bytes.
    pub(crate) fn in_part(self, part: &Range<u64>, length: u64) -> Self {
        let told = format!("bytes {}-{}/{length}", part.start, part.end - 1);
        self.status(StatusCode::PARTIAL_CONTENT).header(CONTENT_RANGE, told)
    }

    /// 200 with a body of known length that is written as the client takes it.
    pub fn filled(media: &'static str, body: impl Filling + 'static) -> Self {
        Response::with_content(StatusCode::OK, media, Content::Filled(Box::new(body)))
    }

    /// 200 with a body that is sent from where it lies. Worth it where most of its parts have hundreds of bytes.
    pub fn gathered(media: &'static str, body: impl Gathering) -> Self {
        Response::with_content(StatusCode::OK, media, Content::Gathered(Gathered::new(body)))
    }

    /// 304, once it has its validator, for a client that [`Head::knows`] it: the answer that would have these bytes, and
    /// has none. How many they are decides on their coding, which the validator tells.
    pub fn unsent(media: &'static str, length: u64) -> Self {
        Response::with_content(StatusCode::OK, media, Content::Unsent(length))
    }

    /// 200 with one JSON value a line.
    pub fn ndjson() -> (Lines, Self) {
        let (sender, response) = Response::stream("application/x-ndjson");
        (Lines(sender), response)
    }

    /// 200 with server-sent events, and a sign of life every 15 seconds.
    pub fn events() -> (Events, Self) {
        let (sender, content) = stream::channel(Some(stream::HEARTBEAT));
        let response = Response::with_content(StatusCode::OK, "text/event-stream", content)
            .header(CACHE_CONTROL, "no-store")
            .header(HeaderName::from_static("x-accel-buffering"), "no");
        (Events(sender), response)
    }

    /// An answer that was given before.
    pub fn again(status: StatusCode, headers: HeaderMap, body: impl Into<Bytes>) -> Self {
        Response { status, headers, body: Content::Whole(body.into()), notes: Vec::new() }
    }

    /// The body, if all of it is there: none of one that is sent while it is made.
    pub fn bytes(&self) -> Option<Bytes> {
        match &self.body {
            Content::Empty => Some(Bytes::new()),
            Content::Whole(bytes) => Some(bytes.clone()),
            Content::Filled(_) | Content::Gathered(_) | Content::Stream(_) | Content::Unsent(_) => None,
        }
    }

    /// The same, in parts if somebody wants: `Range` is looked after then, and the bytes stay uncompressed.
    pub fn ranged(self) -> Self {
        self.header(ACCEPT_RANGES, "bytes")
    }

    fn with_content(status: StatusCode, media: &'static str, body: Content) -> Self {
        // Room for those that all answers share.
        let mut response = Response { status, headers: HeaderMap::with_capacity(12), body, notes: Vec::new() };
        response.headers.insert(CONTENT_TYPE, content_type(media));
        response
    }

    /// The same with another status.
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The same with a header. A value that no header can hold is left out.
    pub fn header(mut self, name: HeaderName, value: impl AsRef<str>) -> Self {
        if let Ok(value) = HeaderValue::from_str(value.as_ref()) {
            self.headers.insert(name, value);
        }
        self
    }

    /// The same with a header whose value is ready.
    pub fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// 201 for something new at a place.
    pub fn created(self, location: impl AsRef<str>) -> Self {
        self.status(StatusCode::CREATED).header(LOCATION, location)
    }

    /// The same with a strong validator. `If-None-Match` is looked after, and so are content codings.
    pub fn etag(self, tag: impl AsRef<str>) -> Self {
        self.header(ETAG, format!("\"{}\"", tag.as_ref()))
    }

    /// Says that the body is already compressed. Ask `Head::accepts_encoding` before.
    pub fn encoded(self, coding: &'static str) -> Self {
        self.header(CONTENT_ENCODING, coding)
    }

    /// A figure for the access log and for the metrics, for example `fuel`.
    pub fn note(mut self, name: &'static str, value: u64) -> Self {
        self.notes.push((name, value));
        self
    }
}

/// A content type with its charset where readers would guess one: of text and of XML. JSON has none, and events are UTF-8
/// by their standard.
fn content_type(media: &'static str) -> HeaderValue {
    let is_xml = media.ends_with("+xml") || media == "application/xml";
    let is_guessed = is_xml || media.starts_with("text/") && media != "text/event-stream";
    let told = (is_guessed && !media.contains(';')).then(|| format!("{media}; charset=utf-8"));
    told.and_then(|told| HeaderValue::try_from(told).ok()).unwrap_or(HeaderValue::from_static(media))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_says_its_charset() {
        let check = |media, told: &str| assert_eq!(Response::ok(media, "").headers[CONTENT_TYPE], told);
        check("text/csv", "text/csv; charset=utf-8");
        check("text/plain; charset=utf-8", "text/plain; charset=utf-8");
        check("image/svg+xml", "image/svg+xml; charset=utf-8");
        check("text/event-stream", "text/event-stream");
        check("application/problem+json", "application/problem+json");
        check("application/octet-stream", "application/octet-stream");
    }
}

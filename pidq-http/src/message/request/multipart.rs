//! Parser of `multipart/form-data`: sequential, size-limited parts, none buffered unless requested.
//!
//! `multer` finds the parts. It limits neither their number nor their headers, so this module does.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use hyper::header::{CONTENT_TYPE, HeaderMap};

use super::body::{BodyRead, BodyReader, content_encoding};
use crate::message::boxed_future::Fut;
use crate::problem::{Problem, codes};

/// Limits of a multipart body.
#[derive(Clone, Copy, Debug)]
pub struct MultipartLimits {
    /// Maximum number of parts.
    pub parts: usize,
    /// Maximum size of the headers of one part.
    pub headers: usize,
    /// Maximum size of a part that is read as a string.
    pub field: u64,
}

impl Default for MultipartLimits {
    fn default() -> Self {
        MultipartLimits { parts: 16, headers: 8 << 10, field: 64 << 10 }
    }
}

/// Parts of a body, in order. Read or skip a part before requesting the next.
pub struct Multipart {
    inner: multer::Multipart<'static>,
    limits: MultipartLimits,
    part_count: usize,
    /// True if the last part was read to its end.
    is_finished: Arc<AtomicBool>,
    /// Number of bytes that may arrive before the next part begins.
    header_budget: Arc<AtomicUsize>,
}

/// Part of a multipart body.
pub struct Part {
    field: multer::Field<'static>,
    limits: MultipartLimits,
    is_finished: Arc<AtomicBool>,
}

/// Maximum size of a boundary (RFC 2046).
const BOUNDARY_LIMIT: usize = 70;

impl Multipart {
    pub(crate) fn new(
        headers: &HeaderMap,
        body: BodyReader,
        limit: u64,
        limits: MultipartLimits,
    ) -> Result<Self, Problem> {
        if !content_encoding(headers)?.is_empty() {
            return Err(malformed("A multipart body must not be compressed."));
        }
        let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let boundary = multer::parse_boundary(media).ok().filter(|b| !b.is_empty() && b.len() <= BOUNDARY_LIMIT);
        let boundary = boundary.ok_or_else(|| malformed("The content type has no valid boundary."))?;
        let size = multer::SizeLimit::new().whole_stream(limit);
        let constraints = multer::Constraints::new().size_limit(size);
        let header_budget = Arc::new(AtomicUsize::new(0));
        let chunks = PacedChunks::new(body.start(limit)?, header_budget.clone());
        let inner = multer::Multipart::with_constraints(chunks, boundary, constraints);
        Ok(Multipart { inner, limits, part_count: 0, is_finished: Arc::new(AtomicBool::new(true)), header_budget })
    }

    /// Returns the next part, or `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Part>, Problem> {
        if !self.is_finished.load(Relaxed) {
            tracing::error!("a handler requested the next part before it read the previous one");
            return Err(Problem::internal());
        }
        self.header_budget.store(self.limits.headers + CHUNK_SIZE, Relaxed);
        let field = self.inner.next_field().await.map_err(problem)?;
        self.header_budget.store(usize::MAX, Relaxed);
        field.map(|field| self.part(field)).transpose()
    }

    fn part(&mut self, field: multer::Field<'static>) -> Result<Part, Problem> {
        self.part_count += 1;
        if self.part_count > self.limits.parts {
            return Err(malformed(format!("A multipart body may have at most {} parts.", self.limits.parts)));
        }
        let headers: usize = field.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        if headers > self.limits.headers {
            return Err(malformed("The headers of a part are too long."));
        }
        self.is_finished.store(false, Relaxed);
        Ok(Part { field, limits: self.limits, is_finished: self.is_finished.clone() })
    }
}

impl Part {
    /// Returns the field name.
    pub fn name(&self) -> &str {
        self.field.name().unwrap_or_default()
    }

    /// Returns the client's file name. It is never a server path.
    pub fn file_name(&self) -> Option<&str> {
        self.field.file_name()
    }

    /// Returns the content type declared by the client.
    pub fn content_type(&self) -> Option<&str> {
        self.field.content_type().map(AsRef::as_ref)
    }

    /// Returns the next bytes, or `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Problem> {
        let chunk = self.field.chunk().await.map_err(problem)?;
        self.is_finished.store(chunk.is_none(), Relaxed);
        Ok(chunk)
    }

    /// Reads the part to its end and discards it.
    pub async fn skip(mut self) -> Result<(), Problem> {
        while self.chunk().await?.is_some() {}
        Ok(())
    }

    /// Reads the whole part as a string, within the field limit.
    pub async fn text(mut self) -> Result<String, Problem> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if (bytes.len() + chunk.len()) as u64 > self.limits.field {
                return Err(Problem::payload_too_large(self.limits.field).with("part", self.name()));
            }
            bytes.extend_from_slice(&chunk);
        }
        String::from_utf8(bytes).map_err(|_| malformed("A part is not UTF-8."))
    }
}

/// Stream of body chunks for multer. multer consumes everything a stream has ready before it parses, so this stream
/// yields one chunk at a time, and limits the number of bytes before a part begins.
struct PacedChunks {
    next: Option<Fut<'static, Read>>,
    unread: Bytes,
    header_budget: Arc<AtomicUsize>,
    has_yielded: bool,
}

/// Result of a read, with the body to continue reading.
type Read = (BodyRead, Result<Option<Bytes>, Problem>);

/// Chunk size.
const CHUNK_SIZE: usize = 8 << 10;

impl PacedChunks {
    fn new(reading: BodyRead, header_budget: Arc<AtomicUsize>) -> Self {
        PacedChunks { next: Some(Box::pin(read(reading))), unread: Bytes::new(), header_budget, has_yielded: true }
    }

    fn chunk(&mut self) -> Result<Bytes, Problem> {
        let chunk = self.unread.split_to(self.unread.len().min(CHUNK_SIZE));
        let left = self.header_budget.load(Relaxed);
        if left < chunk.len() {
            return Err(malformed("The headers of a part are too long."));
        }
        if left != usize::MAX {
            self.header_budget.store(left - chunk.len(), Relaxed);
        }
        self.has_yielded = false;
        Ok(chunk)
    }
}

async fn read(mut reading: BodyRead) -> Read {
    let chunk = reading.chunk().await;
    (reading, chunk)
}

impl Stream for PacedChunks {
    type Item = Result<Bytes, Problem>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if !this.has_yielded {
            this.has_yielded = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if !this.unread.is_empty() {
            return Poll::Ready(Some(this.chunk()));
        }
        let Some(next) = &mut this.next else { return Poll::Ready(None) };
        let Poll::Ready((reading, chunk)) = next.as_mut().poll(cx) else { return Poll::Pending };
        this.next = None;
        Poll::Ready(match chunk {
            Err(problem) => Some(Err(problem)),
            Ok(None) => None,
            Ok(Some(bytes)) => {
                this.next = Some(Box::pin(read(reading)));
                this.unread = bytes;
                Some(this.chunk())
            }
        })
    }
}

fn problem(error: multer::Error) -> Problem {
    match error {
        multer::Error::StreamReadFailed(cause) => match cause.downcast::<Problem>() {
            Ok(problem) => *problem,
            Err(_) => malformed("The body ended early."),
        },
        multer::Error::StreamSizeExceeded { limit } => Problem::payload_too_large(limit),
        multer::Error::IncompleteStream
        | multer::Error::IncompleteFieldData { .. }
        | multer::Error::IncompleteHeaders => malformed("The body ends in the middle of a part."),
        _ => malformed("The multipart body is malformed."),
    }
}

fn malformed(detail: impl Into<String>) -> Problem {
    Problem::new(codes::MALFORMED_MULTIPART).detail(detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::message::request::UnreadBody;

    async fn parts(media: &str, body: String, limit: u64) -> Result<Vec<(String, String)>, String> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, media.parse().map_err(|_| "no header")?);
        let reader = BodyReader::new(UnreadBody::default().source(Bytes::from(body).into()), &Limits::default());
        let code = |problem: Problem| problem.code().to_owned();
        let limits = MultipartLimits { parts: 3, headers: 1024, field: 100 };
        let mut multipart = Multipart::new(&headers, reader, limit, limits).map_err(code)?;
        let mut found = Vec::new();
        while let Some(part) = multipart.next().await.map_err(code)? {
            found.push((part.name().to_owned(), part.text().await.map_err(code)?));
        }
        Ok(found)
    }

    const MEDIA: &str = "multipart/form-data; boundary=x";

    fn part(name: &str, text: &str) -> String {
        format!("--x\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
    }

    #[tokio::test]
    async fn parts_come_in_their_order() {
        let body = part("a", "1") + &part("b", "two\r\nlines") + "--x--\r\n";
        let expected = [("a".to_owned(), "1".to_owned()), ("b".to_owned(), "two\r\nlines".to_owned())];
        assert_eq!(parts(MEDIA, body, 1000).await.as_deref(), Ok(&expected[..]));
    }

    #[tokio::test]
    async fn all_limits_are_enforced() {
        let malformed = Err("malformed-multipart".to_owned());
        let too_large = Err("payload-too-large".to_owned());
        assert_eq!(parts(MEDIA, part("a", "").repeat(4) + "--x--", 1000).await, malformed, "parts");
        assert_eq!(parts(MEDIA, part("a", &"x".repeat(101)) + "--x--", 1000).await, too_large, "a field");
        assert_eq!(parts(MEDIA, part("a", "x") + "--x--", 20).await, too_large, "the whole");
        assert_eq!(parts(MEDIA, part("a", "x"), 1000).await, malformed, "no end");
        let name = "n".repeat(4000);
        assert_eq!(parts(MEDIA, part(&name, "x") + "--x--", 10_000).await, malformed, "headers");
        let media = format!("multipart/form-data; boundary={}", "x".repeat(71));
        assert_eq!(parts(&media, String::new(), 1000).await, malformed, "the boundary");
    }
}

//! `multipart/form-data`: parts one after the other, each bounded, none kept in memory unless asked.
//!
//! `multer` finds the parts. It bounds neither their number nor their headers, so that is done here.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use hyper::header::{CONTENT_TYPE, HeaderMap};

use super::body::{Reader, Reading, content_encoding};
use crate::problem::Problem;
use crate::route::Fut;

/// How much of a form with parts is taken.
#[derive(Clone, Copy, Debug)]
pub struct MultipartLimits {
    /// The most parts.
    pub parts: usize,
    /// The most bytes of the headers of one part.
    pub headers: usize,
    /// The most bytes of one part that is read as a whole.
    pub field: u64,
}

impl Default for MultipartLimits {
    fn default() -> Self {
        MultipartLimits { parts: 16, headers: 8 << 10, field: 64 << 10 }
    }
}

/// The parts of a body, in their order. Read or skip one before asking for the next.
pub struct Multipart {
    inner: multer::Multipart<'static>,
    limits: MultipartLimits,
    seen: usize,
    /// Whether the last part was read to its end.
    finished: Arc<AtomicBool>,
    /// How many bytes may come before the next part begins.
    seek: Arc<AtomicUsize>,
}

/// A part: its names, and its bytes as they arrive.
pub struct Part {
    field: multer::Field<'static>,
    limits: MultipartLimits,
    finished: Arc<AtomicBool>,
}

/// What a boundary may be at most (RFC 2046).
const BOUNDARY: usize = 70;

impl Multipart {
    pub(crate) fn new(headers: &HeaderMap, body: Reader, limit: u64, limits: MultipartLimits) -> Result<Self, Problem> {
        if !content_encoding(headers)?.is_empty() {
            return Err(malformed("A form with parts may not be compressed as a whole."));
        }
        let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let boundary = multer::parse_boundary(media).ok().filter(|b| !b.is_empty() && b.len() <= BOUNDARY);
        let boundary = boundary.ok_or_else(|| malformed("The content type has no usable boundary."))?;
        let size = multer::SizeLimit::new().whole_stream(limit);
        let constraints = multer::Constraints::new().size_limit(size);
        let seek = Arc::new(AtomicUsize::new(0));
        let chunks = Chunks::new(body.begin(limit)?, seek.clone());
        let inner = multer::Multipart::with_constraints(chunks, boundary, constraints);
        Ok(Multipart { inner, limits, seen: 0, finished: Arc::new(AtomicBool::new(true)), seek })
    }

    /// The next part, or none at the end.
    pub async fn next(&mut self) -> Result<Option<Part>, Problem> {
        if !self.finished.load(Relaxed) {
            tracing::error!("a handler asks for the next part before it has read the last one");
            return Err(Problem::internal());
        }
        self.seek.store(self.limits.headers + PIECE, Relaxed);
        let field = self.inner.next_field().await.map_err(problem)?;
        self.seek.store(usize::MAX, Relaxed);
        field.map(|field| self.part(field)).transpose()
    }

    fn part(&mut self, field: multer::Field<'static>) -> Result<Part, Problem> {
        self.seen += 1;
        if self.seen > self.limits.parts {
            return Err(malformed(format!("There may be at most {} parts.", self.limits.parts)));
        }
        let headers: usize = field.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
        if headers > self.limits.headers {
            return Err(malformed("The headers of a part are too long."));
        }
        self.finished.store(false, Relaxed);
        Ok(Part { field, limits: self.limits, finished: self.finished.clone() })
    }
}

impl Part {
    /// The name of the field.
    pub fn name(&self) -> &str {
        self.field.name().unwrap_or_default()
    }

    /// The name that the file had at the client. Never a path to anything here.
    pub fn file_name(&self) -> Option<&str> {
        self.field.file_name()
    }

    /// The content type that the client believes it has.
    pub fn content_type(&self) -> Option<&str> {
        self.field.content_type().map(AsRef::as_ref)
    }

    /// The next bytes, or none at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Problem> {
        let chunk = self.field.chunk().await.map_err(problem)?;
        self.finished.store(chunk.is_none(), Relaxed);
        Ok(chunk)
    }

    /// Reads on to the end of the part, and keeps nothing.
    pub async fn skip(mut self) -> Result<(), Problem> {
        while self.chunk().await?.is_some() {}
        Ok(())
    }

    /// The whole part as text, if it is small.
    pub async fn text(mut self) -> Result<String, Problem> {
        let mut whole = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if (whole.len() + chunk.len()) as u64 > self.limits.field {
                return Err(Problem::too_large("payload-too-large", self.limits.field).with("part", self.name()));
            }
            whole.extend_from_slice(&chunk);
        }
        String::from_utf8(whole).map_err(|_| malformed("A part is not UTF-8."))
    }
}

/// A reading as a stream. multer takes all that a stream has ready, and looks at it then; so this one has a
/// piece ready at a time, and while multer looks for the beginning of a part, only so many of them.
struct Chunks {
    next: Option<Fut<'static, Read>>,
    rest: Bytes,
    seek: Arc<AtomicUsize>,
    rested: bool,
}

/// What a read gives back: the reading, and what came.
type Read = (Reading, Result<Option<Bytes>, Problem>);

/// The size of a piece.
const PIECE: usize = 8 << 10;

impl Chunks {
    fn new(reading: Reading, seek: Arc<AtomicUsize>) -> Self {
        Chunks { next: Some(Box::pin(read(reading))), rest: Bytes::new(), seek, rested: true }
    }

    fn piece(&mut self) -> Result<Bytes, Problem> {
        let piece = self.rest.split_to(self.rest.len().min(PIECE));
        let left = self.seek.load(Relaxed);
        if left < piece.len() {
            return Err(malformed("The headers of a part are too long."));
        }
        if left != usize::MAX {
            self.seek.store(left - piece.len(), Relaxed);
        }
        self.rested = false;
        Ok(piece)
    }
}

async fn read(mut reading: Reading) -> Read {
    let chunk = reading.chunk().await;
    (reading, chunk)
}

impl Stream for Chunks {
    type Item = Result<Bytes, Problem>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if !this.rested {
            this.rested = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        if !this.rest.is_empty() {
            return Poll::Ready(Some(this.piece()));
        }
        let Some(next) = &mut this.next else { return Poll::Ready(None) };
        let Poll::Ready((reading, chunk)) = next.as_mut().poll(cx) else { return Poll::Pending };
        this.next = None;
        Poll::Ready(match chunk {
            Err(problem) => Some(Err(problem)),
            Ok(None) => None,
            Ok(Some(bytes)) => {
                this.next = Some(Box::pin(read(reading)));
                this.rest = bytes;
                Some(this.piece())
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
        multer::Error::StreamSizeExceeded { limit } => Problem::too_large("payload-too-large", limit),
        multer::Error::IncompleteStream
        | multer::Error::IncompleteFieldData { .. }
        | multer::Error::IncompleteHeaders => malformed("The body ends in the middle of a part."),
        _ => malformed("The parts of the body are not well formed."),
    }
}

fn malformed(detail: impl Into<String>) -> Problem {
    Problem::bad_request("malformed-multipart", detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::request::Leftover;

    async fn parts(media: &str, body: String, limit: u64) -> Result<Vec<(String, String)>, String> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, media.parse().map_err(|_| "no header")?);
        let reader = Reader::new(Leftover::default().source(Bytes::from(body).into()), &Limits::default());
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
    async fn whatever_is_too_much_has_an_end() {
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

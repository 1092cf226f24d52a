//! Request body reader with limits on size, minimum rate and total time.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Body;
use hyper::header::{CONTENT_ENCODING, HeaderMap};
use tokio::time::{Instant, timeout_at};

use super::drain::BodySource;
use super::incoming::Incoming;
use super::inflate::Inflater;
use crate::limits::Limits;
use crate::problem::{Problem, codes};

/// Rate and time limits of a body; a small copy of [`Limits`].
#[derive(Clone, Copy)]
struct RateGuard {
    grace: Duration,
    rate: u64,
    idle_timeout: Duration,
    total_timeout: Duration,
}

impl From<&Limits> for RateGuard {
    fn from(limits: &Limits) -> Self {
        RateGuard {
            grace: limits.body_grace,
            rate: limits.body_rate,
            idle_timeout: limits.body_idle_timeout,
            total_timeout: limits.body_timeout,
        }
    }
}

/// Body reader with rate and time limits.
pub(crate) struct BodyReader {
    source: BodySource,
    rate_guard: RateGuard,
    observer: Option<BodyObserver>,
}

/// Observer of the body chunks as they arrive.
pub(crate) type BodyObserver = Box<dyn FnMut(&[u8]) + Send + Sync>;

/// Body read in progress: the bytes received, and the start time.
pub(crate) struct BodyRead {
    source: BodySource,
    rate_guard: RateGuard,
    observer: Option<BodyObserver>,
    started_at: Instant,
    total_timeout: Duration,
    bytes: u64,
}

impl BodyReader {
    pub fn new(source: BodySource, limits: &Limits) -> Self {
        BodyReader { source, rate_guard: limits.into(), observer: None }
    }

    pub fn observe(&mut self, observer: BodyObserver) {
        self.observer = Some(observer);
    }

    /// Takes the body out; this reader is empty afterwards.
    pub fn take(&mut self) -> BodyReader {
        BodyReader { source: self.source.take(), rate_guard: self.rate_guard, observer: self.observer.take() }
    }

    /// Takes out the body as it arrived.
    pub fn into_raw(self) -> Incoming {
        self.source.into_body()
    }

    /// Returns the body size, if it is known.
    pub fn content_length(&self) -> Option<u64> {
        self.source.body.size_hint().exact()
    }

    /// Reads the whole body, decompressed.
    pub async fn read_all(&mut self, headers: &HeaderMap, limit: u64) -> Result<Bytes, Problem> {
        let coding = content_encoding(headers)?;
        let mut reading = self.take().start(limit)?;
        match Inflater::new(&coding, limit)? {
            None => reading.read_plain(limit).await,
            Some(inflater) => reading.read_inflated(inflater, limit).await,
        }
    }

    /// Reads the body to its end and discards it.
    pub async fn skip(&mut self, limit: u64) -> Result<(), Problem> {
        let mut reading = self.take().start(limit)?;
        while reading.chunk().await?.is_some() {
            if reading.bytes > limit {
                return Err(Problem::payload_too_large(limit));
            }
        }
        Ok(())
    }

    /// Starts reading. A body whose announced size exceeds the limit is rejected before it is read.
    pub fn start(self, limit: u64) -> Result<BodyRead, Problem> {
        if self.source.body.size_hint().lower() > limit {
            return Err(Problem::payload_too_large(limit));
        }
        let total_timeout = self.rate_guard.total_timeout.max(Duration::from_secs(limit / SLOWEST_UPLOAD_RATE));
        let BodyReader { source, rate_guard, observer } = self;
        Ok(BodyRead { source, rate_guard, observer, started_at: Instant::now(), total_timeout, bytes: 0 })
    }
}

/// Decompressed body in chunks. At most one chunk is in memory.
pub struct BodyChunks {
    reading: BodyRead,
    inflater: Option<Inflater>,
    limit: u64,
    received: u64,
    is_ended: bool,
}

impl BodyChunks {
    pub(super) fn new(reader: BodyReader, headers: &HeaderMap, limit: u64) -> Result<BodyChunks, Problem> {
        let inflater = Inflater::new(&content_encoding(headers)?, limit)?;
        Ok(BodyChunks { reading: reader.start(limit)?, inflater, limit, received: 0, is_ended: false })
    }

    /// Returns the next chunk, which may be empty; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        if self.is_ended {
            return Ok(None);
        }
        let chunk = self.reading.chunk().await?;
        self.is_ended = chunk.is_none();
        self.received += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if self.received > self.limit {
            return Err(Problem::payload_too_large(self.limit));
        }
        match (&mut self.inflater, chunk) {
            (None, chunk) => Ok(chunk),
            (Some(inflater), Some(chunk)) => {
                inflater.write(&chunk).await?;
                Ok(Some(inflater.drain().into()))
            }
            (inflater, None) => match inflater.take() {
                Some(inflater) => Ok(Some(inflater.finish()?.into())),
                None => Ok(None),
            },
        }
    }
}

/// Minimum rate assumed for large uploads, in bytes per second: 2 Mbit/s.
const SLOWEST_UPLOAD_RATE: u64 = 256 * 1024;

impl BodyRead {
    async fn read_plain(&mut self, limit: u64) -> Result<Bytes, Problem> {
        let Some(first) = self.chunk().await? else { return Ok(Bytes::new()) };
        let mut bytes = Vec::new();
        let mut next = Some(first);
        while let Some(chunk) = next {
            if (bytes.len() + chunk.len()) as u64 > limit {
                return Err(Problem::payload_too_large(limit));
            }
            next = self.chunk().await?;
            if next.is_none() && bytes.is_empty() {
                return Ok(chunk);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes.into())
    }

    async fn read_inflated(&mut self, mut inflater: Inflater, limit: u64) -> Result<Bytes, Problem> {
        while let Some(chunk) = self.chunk().await? {
            if self.bytes > limit {
                return Err(Problem::payload_too_large(limit));
            }
            inflater.write(&chunk).await?;
        }
        Ok(inflater.finish()?.into())
    }

    /// Returns the next bytes, or `None` at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            // Hot: most bodies arrive at once with a known length.
            if self.source.body.is_end_stream() {
                return Ok(None);
            }
            let frame = timeout_at(self.deadline(), self.source.body.frame()).await.map_err(|_| too_slow())?;
            let Some(frame) = frame else { return Ok(None) };
            // Trailers are ignored.
            let Ok(data) = frame.map_err(|_| broken())?.into_data() else { continue };
            self.bytes += data.len() as u64;
            if let Some(observer) = &mut self.observer {
                observer(&data);
            }
            if !data.is_empty() {
                return Ok(Some(data));
            }
        }
    }

    /// Returns the deadline for the next byte: the grace period plus the time earned by the bytes received, bounded
    /// by the total and idle timeouts.
    fn deadline(&self) -> Instant {
        let earned = Duration::from_millis(self.bytes.saturating_mul(1000) / self.rate_guard.rate.max(1));
        let rate_deadline = self.started_at + (self.rate_guard.grace + earned).min(self.total_timeout);
        rate_deadline.min(Instant::now() + self.rate_guard.idle_timeout)
    }
}

pub(crate) fn content_encoding(headers: &HeaderMap) -> Result<String, Problem> {
    let mut values = headers.get_all(CONTENT_ENCODING).iter().map(|value| value.to_str().unwrap_or("?"));
    let first = values.next().unwrap_or_default().to_owned();
    Ok(if values.next().is_some() { "several".into() } else { first })
}

fn too_slow() -> Problem {
    Problem::new(codes::REQUEST_TIMEOUT)
        .detail("The body arrived too slowly.")
        .header(hyper::header::CONNECTION, "close")
}

fn broken() -> Problem {
    Problem::new(codes::MALFORMED_BODY)
        .detail("The body ended early or its HTTP framing is invalid.")
        .header(hyper::header::CONNECTION, "close")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::message::request::UnreadBody;

    fn reader(bytes: &'static [u8]) -> BodyReader {
        BodyReader::new(UnreadBody::default().source(Bytes::from_static(bytes).into()), &Limits::default())
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit() {
        let read_all = async |limit| reader(b"12345").read_all(&HeaderMap::new(), limit).await.map_err(|p| p.status());
        assert_eq!(read_all(5).await, Ok(Bytes::from("12345")));
        assert_eq!(read_all(4).await, Err(hyper::StatusCode::PAYLOAD_TOO_LARGE));
        assert_eq!(reader(b"").read_all(&HeaderMap::new(), 0).await.map_err(|p| p.status()), Ok(Bytes::new()));
    }

    #[tokio::test]
    async fn a_compressed_body_is_chunked_and_limited() {
        let text = "a pump and a valve ".repeat(50_000);
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        let compressed =
            encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).expect("memory does not fail");
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, hyper::header::HeaderValue::from_static("gzip"))]);
        let chunks = |limit| {
            let body = Bytes::from(compressed.clone());
            BodyChunks::new(
                BodyReader::new(UnreadBody::default().source(body.into()), &Limits::default()),
                &headers,
                limit,
            )
        };
        let mut bytes = Vec::new();
        let mut reading = chunks(1 << 20).expect("it is small");
        while let Some(chunk) = reading.next().await.expect("it is sound") {
            bytes.extend_from_slice(&chunk);
        }
        assert!(bytes == text.as_bytes());
        let mut limited = chunks(text.len() as u64 - 1).expect("it is small while it is compressed");
        let end = loop {
            match limited.next().await {
                Ok(Some(_)) => {}
                other => break other.map_err(|problem| problem.status()),
            }
        };
        assert_eq!(end, Err(hyper::StatusCode::PAYLOAD_TOO_LARGE));
    }

    #[tokio::test]
    async fn received_bytes_extend_the_deadline_up_to_the_timeouts() {
        let mut reading = reader(b"").start(1 << 20).expect("an empty body is not too large");
        let at = |reading: &BodyRead| reading.deadline().duration_since(reading.started_at);
        assert_eq!(at(&reading), Duration::from_secs(5));
        reading.bytes = 10 * 1024;
        assert_eq!(at(&reading), Duration::from_secs(15));
        reading.bytes = 1 << 20;
        assert_eq!(at(&reading).as_secs(), 30, "the idle timeout applies whatever was received");
        reading.started_at -= Duration::from_secs(40);
        assert_eq!(at(&reading), Duration::from_secs(60));
    }
}

//! The bytes of a body: never more than the row takes, never slower than a modem, never for ever.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CONTENT_ENCODING, HeaderMap};
use tokio::time::{Instant, timeout_at};

use super::inflate::Inflater;
use super::leftover::Source;
use crate::limits::Limits;
use crate::problem::Problem;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a request: from a connection, or from memory when there is none.
pub(crate) enum Incoming {
    /// From a connection.
    Wire(hyper::body::Incoming),
    /// From memory: what tests and embedders send.
    Memory(Option<Bytes>),
}

impl From<Bytes> for Incoming {
    fn from(bytes: Bytes) -> Self {
        Incoming::Memory(Some(bytes).filter(|b| !b.is_empty()))
    }
}

impl Body for Incoming {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match self.get_mut() {
            Incoming::Wire(body) => Pin::new(body).poll_frame(cx).map_err(Into::into),
            Incoming::Memory(bytes) => Poll::Ready(bytes.take().map(|b| Ok(Frame::data(b)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Incoming::Wire(body) => body.is_end_stream(),
            Incoming::Memory(bytes) => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Incoming::Wire(body) => body.size_hint(),
            Incoming::Memory(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64)),
        }
    }
}

/// How fast a body has to come. It is moved with each reader, and [`Limits`] are many.
#[derive(Clone, Copy)]
struct Pace {
    grace: Duration,
    rate: u64,
    idle: Duration,
    time: Duration,
}

impl From<&Limits> for Pace {
    fn from(limits: &Limits) -> Self {
        Pace { grace: limits.body_grace, rate: limits.body_rate, idle: limits.body_idle, time: limits.body_time }
    }
}

/// Reads a body against the clock.
pub(crate) struct Reader {
    source: Source,
    pace: Pace,
    observer: Option<Observer>,
}

/// Who sees each piece of a body, as it came, while it is read.
pub(crate) type Observer = Box<dyn FnMut(&[u8]) + Send + Sync>;

/// One reading of a body: how much came, and since when.
pub(crate) struct Reading {
    source: Source,
    pace: Pace,
    observer: Option<Observer>,
    begun: Instant,
    total: Duration,
    bytes: u64,
}

impl Reader {
    pub fn new(source: Source, limits: &Limits) -> Self {
        Reader { source, pace: limits.into(), observer: None }
    }

    pub fn observe(&mut self, observer: Observer) {
        self.observer = Some(observer);
    }

    /// The reader that the handler gets; this one is empty from now on.
    pub fn take(&mut self) -> Reader {
        Reader { source: self.source.take(), pace: self.pace, observer: self.observer.take() }
    }

    /// How many bytes there are, if that is known.
    pub fn announced(&self) -> Option<u64> {
        self.source.body.size_hint().exact()
    }

    /// The whole body, decompressed.
    pub async fn whole(&mut self, headers: &HeaderMap, limit: u64) -> Result<Bytes, Problem> {
        let coding = content_encoding(headers)?;
        let mut reading = self.take().begin(limit)?;
        match Inflater::new(&coding, limit)? {
            None => reading.plain(limit).await,
            Some(inflater) => reading.inflated(inflater, limit).await,
        }
    }

    /// Reads it to its end, and keeps nothing.
    pub async fn skip(&mut self, limit: u64) -> Result<(), Problem> {
        let mut reading = self.take().begin(limit)?;
        while reading.chunk().await?.is_some() {
            if reading.bytes > limit {
                return Err(Problem::too_large("payload-too-large", limit));
            }
        }
        Ok(())
    }

    /// Starts the clock. A body that announces too much is refused before it is read.
    pub fn begin(self, limit: u64) -> Result<Reading, Problem> {
        if self.source.body.size_hint().lower() > limit {
            return Err(Problem::too_large("payload-too-large", limit));
        }
        let total = self.pace.time.max(Duration::from_secs(limit / FAIR_RATE));
        let Reader { source, pace, observer } = self;
        Ok(Reading { source, pace, observer, begun: Instant::now(), total, bytes: 0 })
    }
}

/// A body piece by piece, decompressed: never more in memory than one piece becomes.
pub struct Pieces {
    reading: Reading,
    inflater: Option<Inflater>,
    limit: u64,
    taken: u64,
    is_over: bool,
}

impl Pieces {
    pub(super) fn new(reader: Reader, headers: &HeaderMap, limit: u64) -> Result<Pieces, Problem> {
        let inflater = Inflater::new(&content_encoding(headers)?, limit)?;
        Ok(Pieces { reading: reader.begin(limit)?, inflater, limit, taken: 0, is_over: false })
    }

    /// The next piece, which may be empty; none at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        if self.is_over {
            return Ok(None);
        }
        let chunk = self.reading.chunk().await?;
        self.is_over = chunk.is_none();
        self.taken += chunk.as_ref().map_or(0, |chunk| chunk.len() as u64);
        if self.taken > self.limit {
            return Err(Problem::too_large("payload-too-large", self.limit));
        }
        match (&mut self.inflater, chunk) {
            (None, chunk) => Ok(chunk),
            (Some(inflater), Some(chunk)) => inflater.write(&chunk).map(|()| Some(inflater.drain().into())),
            (inflater, None) => match inflater.take() {
                Some(inflater) => Ok(Some(inflater.finish()?.into())),
                None => Ok(None),
            },
        }
    }
}

/// Large uploads get the time that they take on a line of 2 Mbit/s.
const FAIR_RATE: u64 = 256 * 1024;

impl Reading {
    async fn plain(&mut self, limit: u64) -> Result<Bytes, Problem> {
        let Some(first) = self.chunk().await? else { return Ok(Bytes::new()) };
        let mut whole = Vec::new();
        let mut next = Some(first);
        while let Some(chunk) = next {
            if (whole.len() + chunk.len()) as u64 > limit {
                return Err(Problem::too_large("payload-too-large", limit));
            }
            next = self.chunk().await?;
            if next.is_none() && whole.is_empty() {
                return Ok(chunk);
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.into())
    }

    async fn inflated(&mut self, mut inflater: Inflater, limit: u64) -> Result<Bytes, Problem> {
        while let Some(chunk) = self.chunk().await? {
            if self.bytes > limit {
                return Err(Problem::too_large("payload-too-large", limit));
            }
            inflater.write(&chunk)?;
        }
        Ok(inflater.finish()?.into())
    }

    /// The next bytes, or none at the end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Problem> {
        loop {
            // Hot: most bodies come at once, and say how long they are.
            if self.source.body.is_end_stream() {
                return Ok(None);
            }
            let frame = timeout_at(self.deadline(), self.source.body.frame()).await.map_err(|_| too_slow())?;
            let Some(frame) = frame else { return Ok(None) };
            // Trailers are nothing that we look at.
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

    /// When the next byte has to be there: after the grace, so many bytes buy one more second. Nobody who said much may
    /// be silent for long.
    fn deadline(&self) -> Instant {
        let bought = Duration::from_millis(self.bytes.saturating_mul(1000) / self.pace.rate.max(1));
        let paced = self.begun + (self.pace.grace + bought).min(self.total);
        paced.min(Instant::now() + self.pace.idle)
    }
}

pub(crate) fn content_encoding(headers: &HeaderMap) -> Result<String, Problem> {
    let mut values = headers.get_all(CONTENT_ENCODING).iter().map(|value| value.to_str().unwrap_or("?"));
    let first = values.next().unwrap_or_default().to_owned();
    Ok(if values.next().is_some() { "several".into() } else { first })
}

fn too_slow() -> Problem {
    Problem::new(StatusCode::REQUEST_TIMEOUT, "body-too-slow")
        .detail("The body came too slowly.")
        .header(hyper::header::CONNECTION, "close")
}

fn broken() -> Problem {
    Problem::bad_request("malformed-body", "The body ended early, or is not framed as HTTP has it.")
        .header(hyper::header::CONNECTION, "close")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::request::Leftover;

    fn reader(bytes: &'static [u8]) -> Reader {
        Reader::new(Leftover::default().source(Bytes::from_static(bytes).into()), &Limits::default())
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_its_limit() {
        let whole = async |limit| reader(b"12345").whole(&HeaderMap::new(), limit).await.map_err(|p| p.status());
        assert_eq!(whole(5).await, Ok(Bytes::from("12345")));
        assert_eq!(whole(4).await, Err(StatusCode::PAYLOAD_TOO_LARGE));
        assert_eq!(reader(b"").whole(&HeaderMap::new(), 0).await.map_err(|p| p.status()), Ok(Bytes::new()));
    }

    #[tokio::test]
    async fn a_compressed_body_comes_in_pieces_and_ends_at_its_limit() {
        let text = "a pump and a valve ".repeat(50_000);
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        let packed = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish()).expect("memory does not fail");
        let headers = HeaderMap::from_iter([(CONTENT_ENCODING, hyper::header::HeaderValue::from_static("gzip"))]);
        let pieces = |limit| {
            let body = Bytes::from(packed.clone());
            Pieces::new(Reader::new(Leftover::default().source(body.into()), &Limits::default()), &headers, limit)
        };
        let mut whole = Vec::new();
        let mut reading = pieces(1 << 20).expect("it is small");
        while let Some(piece) = reading.next().await.expect("it is sound") {
            whole.extend_from_slice(&piece);
        }
        assert!(whole == text.as_bytes());
        let mut cut = pieces(text.len() as u64 - 1).expect("it is small while it is packed");
        let end = loop {
            match cut.next().await {
                Ok(Some(_)) => {}
                other => break other.map_err(|problem| problem.status()),
            }
        };
        assert_eq!(end, Err(StatusCode::PAYLOAD_TOO_LARGE));
    }

    #[tokio::test]
    async fn bytes_buy_time_and_silence_or_the_total_ends_it() {
        let mut reading = reader(b"").begin(1 << 20).expect("an empty body is not too large");
        let at = |reading: &Reading| reading.deadline().duration_since(reading.begun);
        assert_eq!(at(&reading), Duration::from_secs(5));
        reading.bytes = 10 * 1024;
        assert_eq!(at(&reading), Duration::from_secs(15));
        reading.bytes = 1 << 20;
        assert_eq!(at(&reading).as_secs(), 30, "however much came, it may not stop for longer");
        reading.begun -= Duration::from_secs(40);
        assert_eq!(at(&reading), Duration::from_secs(60));
    }
}

//! Response body as hyper takes it: full or streamed, compressed or plain, with its access-log entry.

use std::io::IoSlice;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};

use super::forwarded::{self, ForwardedBody};
use super::stream_body::{BodyAborted, StreamBody};
use crate::message::access_log::AccessLog;
use crate::message::compress::Encoder;
use crate::message::conn_info::{ConnActivity, ConnInfo};
use crate::message::vectored::VectoredBuf;

/// Body of a response, as handlers create it.
pub(crate) enum Content {
    Empty,
    Full(Bytes),
    Produced(Box<dyn BodyProducer>),
    Vectored(VectoredBuf),
    Stream(StreamBody),
    Forwarded(ForwardedBody),
    /// Length of a body that is not sent because the client has it.
    NotModified(u64),
}

/// Body produced chunk by chunk on the thread that sends it; producing a chunk must be fast.
pub trait BodyProducer: Send {
    /// Returns the number of remaining bytes.
    fn remaining(&self) -> u64;
    /// Returns the next chunk of at most `max` bytes; it is empty only at the end.
    fn next_chunk(&mut self, max: usize) -> Bytes;
}

impl Content {
    /// Returns the length, if it is known.
    pub fn length(&self) -> Option<u64> {
        match self {
            Content::Empty => Some(0),
            Content::Full(bytes) => Some(bytes.len() as u64),
            Content::Produced(producer) => Some(producer.remaining()),
            Content::Vectored(parts) => Some(parts.remaining() as u64),
            Content::Stream(stream) => stream.remaining,
            Content::Forwarded(body) => body.size_hint().exact(),
            Content::NotModified(length) => Some(*length),
        }
    }

    /// Takes out a large body that is fully available.
    fn take_large(&mut self, connection: &Arc<ConnActivity>) -> Option<Box<dyn Buf + Send>> {
        match std::mem::replace(self, Content::Empty) {
            Content::Vectored(parts) if parts.has_remaining() => Some(Box::new(parts.with_tail(&connection.tail))),
            Content::Full(bytes) if bytes.len() > CHUNK_SIZE => Some(Box::new(bytes)),
            other => {
                *self = other;
                None
            }
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>, chunk_size: usize) -> Poll<Option<Result<Bytes, BodyAborted>>> {
        match self {
            Content::Empty => Poll::Ready(None),
            Content::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Full(bytes) => Poll::Ready(Some(Ok(bytes.split_to(bytes.len().min(chunk_size))))),
            Content::Produced(producer) if producer.remaining() == 0 => Poll::Ready(None),
            Content::Produced(producer) => Poll::Ready(Some(Ok(producer.next_chunk(chunk_size)))),
            Content::Vectored(parts) if !parts.has_remaining() => Poll::Ready(None),
            Content::Vectored(parts) if parts.chunk().is_empty() => Poll::Ready(Some(Err(BodyAborted))),
            Content::Vectored(parts) => Poll::Ready(Some(Ok(parts.copy_to_bytes(parts.remaining().min(chunk_size))))),
            Content::Stream(stream) => stream.poll_item(cx),
            Content::Forwarded(body) => forwarded::poll_next(body, cx),
            Content::NotModified(_) => Poll::Ready(Some(Err(BodyAborted))),
        }
    }
}

/// Maximum number of bytes compressed at once. Other tasks of the thread run in between, so that none waits for long.
pub(crate) const CHUNK_SIZE: usize = 64 << 10;

/// Unit of data given to hyper.
pub(crate) enum BodyChunk {
    Bytes(Bytes),
    Large(LargeChunk),
}

/// Large body given to hyper at once, with its access-log entry, which counts the bytes that the client has taken. A
/// small body fits in the kernel's buffer and counts as sent when hyper takes it.
pub(crate) struct LargeChunk {
    bytes: Box<dyn Buf + Send>,
    access_log: Box<AccessLog>,
}

/// Response body.
pub(crate) struct ResponseBody {
    content: Content,
    encoder: Option<Encoder>,
    /// Number of bytes compressed since other tasks of the thread ran.
    compressed_since_yield: usize,
    /// `None` once it moved to a large chunk.
    access_log: Option<Box<AccessLog>>,
    activity: Arc<ConnActivity>,
    chunk_size: usize,
    is_in_flight: bool,
    is_ended: bool,
}

impl ResponseBody {
    pub fn new(content: Content, encoder: Option<Encoder>, access_log: Box<AccessLog>, conn: &ConnInfo) -> Self {
        let is_ended = content.length() == Some(0) && encoder.is_none();
        let chunk_size = if encoder.is_some() { CHUNK_SIZE } else { conn.chunk_size };
        let activity = conn.activity.clone();
        let mut body = ResponseBody {
            content,
            encoder,
            compressed_since_yield: 0,
            access_log: Some(access_log),
            activity,
            chunk_size,
            is_in_flight: false,
            is_ended,
        };
        body.set_in_flight(true);
        if is_ended {
            body.complete();
        }
        body
    }

    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<BodyChunk, BodyAborted>>> {
        match self.take_large() {
            Some(large) => Poll::Ready(Some(Ok(BodyChunk::Large(large)))),
            None => self.poll_bytes(cx).map(|bytes| bytes.map(|bytes| bytes.map(BodyChunk::Bytes))),
        }
    }

    /// Takes out the whole body if it is large and hyper can take it at once: HTTP/1, uncompressed.
    fn take_large(&mut self) -> Option<LargeChunk> {
        let bytes = (self.chunk_size == usize::MAX).then(|| self.content.take_large(&self.activity)).flatten()?;
        self.is_ended = true;
        Some(LargeChunk { bytes, access_log: self.access_log.take()? })
    }

    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyAborted>>> {
        loop {
            if self.is_ended {
                return Poll::Ready(None);
            }
            if self.compressed_since_yield >= CHUNK_SIZE {
                self.compressed_since_yield = 0;
                ready!(pin!(tokio::task::yield_now()).poll(cx));
            }
            let chunk = ready!(self.content.poll_next(cx, self.chunk_size)).transpose()?;
            self.is_ended = chunk.is_none() || self.encoder.is_none() && self.content.length() == Some(0);
            let bytes = match (&mut self.encoder, chunk) {
                (None, Some(bytes)) => bytes,
                (None, None) => Bytes::new(),
                (Some(encoder), Some(bytes)) => {
                    self.compressed_since_yield += bytes.len();
                    encoder.write(&bytes).map_err(|_| BodyAborted)?
                }
                (Some(encoder), None) => encoder.finish().map_err(|_| BodyAborted)?,
            };
            if !bytes.is_empty() {
                return Poll::Ready(Some(Ok(bytes)));
            }
        }
    }

    fn complete(&mut self) {
        if let Some(access_log) = &mut self.access_log {
            access_log.complete();
        }
    }

    /// Marks bytes given to hyper as in flight, until hyper polls for more.
    fn set_in_flight(&mut self, is_in_flight: bool) {
        if is_in_flight != self.is_in_flight {
            self.activity.in_flight.fetch_add(if is_in_flight { 1 } else { -1 }, Relaxed);
            self.is_in_flight = is_in_flight;
        }
        self.activity.record_progress();
    }
}

impl Body for ResponseBody {
    type Data = BodyChunk;
    type Error = BodyAborted;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<BodyChunk>, BodyAborted>>> {
        let this = self.get_mut();
        this.set_in_flight(false);
        let frame = ready!(this.poll_chunk(cx));
        match &frame {
            Some(Ok(chunk)) => {
                if let Some(access_log) = &mut this.access_log {
                    access_log.record_sent(chunk.remaining());
                }
                this.set_in_flight(true);
            }
            Some(Err(_)) => this.is_ended = true,
            None => this.complete(),
        }
        if this.is_ended && matches!(frame, Some(Ok(_))) {
            this.complete();
        }
        Poll::Ready(frame.map(|chunk| chunk.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.is_ended
    }

    fn size_hint(&self) -> SizeHint {
        match (self.content.length(), &self.encoder) {
            (Some(length), None) => SizeHint::with_exact(length),
            _ => SizeHint::default(),
        }
    }
}

impl BodyChunk {
    /// Returns all bytes.
    pub fn into_bytes(self) -> Bytes {
        match self {
            BodyChunk::Bytes(bytes) => bytes,
            BodyChunk::Large(mut large) => large.copy_to_bytes(large.remaining()),
        }
    }

    fn buffer(&self) -> &dyn Buf {
        match self {
            BodyChunk::Bytes(bytes) => bytes,
            BodyChunk::Large(large) => large,
        }
    }
}

impl Buf for BodyChunk {
    fn remaining(&self) -> usize {
        self.buffer().remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.buffer().chunk()
    }

    fn chunks_vectored<'a>(&'a self, into: &mut [IoSlice<'a>]) -> usize {
        self.buffer().chunks_vectored(into)
    }

    fn advance(&mut self, count: usize) {
        match self {
            BodyChunk::Bytes(bytes) => bytes.advance(count),
            BodyChunk::Large(large) => large.advance(count),
        }
    }
}

impl Buf for LargeChunk {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn chunks_vectored<'a>(&'a self, into: &mut [IoSlice<'a>]) -> usize {
        self.bytes.chunks_vectored(into)
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        self.access_log.record_sent(count);
        if !self.bytes.has_remaining() {
            self.access_log.complete();
        }
    }
}

impl Drop for ResponseBody {
    fn drop(&mut self) {
        self.set_in_flight(false);
    }
}

//! The bytes of an answer on their way out: whole or streamed, compressed or not, counted at the end.

use std::io::IoSlice;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc;
use tokio::time::{Sleep, sleep};

use super::gathered::{Following, Gathered};
use super::stream::Piece;
use crate::compress::Encoder;
use crate::log::Exchange;
use crate::site::Wire;

/// A body as handlers make it.
pub(crate) enum Content {
    Empty,
    Whole(Bytes),
    Filled(Box<dyn Filling>),
    Gathered(Gathered),
    Stream(Streaming),
    /// So many bytes that are not there, since the client has them.
    Unsent(u64),
}

/// A body that is written while it is sent, a part at a time, on the thread that sends it: so quickly.
pub trait Filling: Send {
    /// Bytes that are to come.
    fn left(&self) -> u64;
    /// The next of them, so many at most; some, unless none are left.
    fn next(&mut self, most: usize) -> Bytes;
}

/// Pieces from a maker, and signs of life while it thinks.
pub(crate) struct Streaming {
    pieces: mpsc::Receiver<Piece>,
    /// Bytes that are to come, if that was said.
    left: Option<u64>,
    heartbeat: Option<(Duration, Pin<Box<Sleep>>)>,
}

/// What ends a streamed body that its maker left alone.
#[derive(Debug)]
pub(crate) struct Abandoned;

impl Streaming {
    pub(super) fn new(pieces: mpsc::Receiver<Piece>, heartbeat: Option<Duration>) -> Self {
        Streaming { pieces, left: None, heartbeat: heartbeat.map(|every| (every, Box::pin(sleep(every)))) }
    }

    pub(super) fn of_length(pieces: mpsc::Receiver<Piece>, length: u64) -> Self {
        Streaming { left: Some(length), ..Streaming::new(pieces, None) }
    }

    /// A maker that makes more or less than it said has made nothing that anybody could take for the whole.
    fn count(&mut self, bytes: Bytes) -> Result<Bytes, Abandoned> {
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(bytes.len() as u64).ok_or(Abandoned)?;
        }
        Ok(bytes)
    }

    fn end(&self) -> Option<Result<Bytes, Abandoned>> {
        self.left.is_some_and(|left| left > 0).then_some(Err(Abandoned))
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Abandoned>>> {
        if let Poll::Ready(piece) = self.pieces.poll_recv(cx) {
            if let Some((every, timer)) = &mut self.heartbeat {
                timer.as_mut().reset(tokio::time::Instant::now() + *every);
            }
            return Poll::Ready(match piece {
                Some(Piece::Data(bytes)) => Some(self.count(bytes)),
                Some(Piece::End) => self.end(),
                None => Some(Err(Abandoned)),
            });
        }
        let Some((every, timer)) = &mut self.heartbeat else { return Poll::Pending };
        ready!(timer.as_mut().poll(cx));
        timer.as_mut().reset(tokio::time::Instant::now() + *every);
        // A second poll would not be woken otherwise.
        cx.waker().wake_by_ref();
        Poll::Ready(Some(Ok(Bytes::from_static(b": alive\n\n"))))
    }
}

impl Content {
    /// How many bytes there are, if that is known.
    pub fn length(&self) -> Option<u64> {
        match self {
            Content::Empty => Some(0),
            Content::Whole(bytes) => Some(bytes.len() as u64),
            Content::Filled(filling) => Some(filling.left()),
            Content::Gathered(parts) => Some(parts.remaining() as u64),
            Content::Stream(stream) => stream.left,
            Content::Unsent(length) => Some(*length),
        }
    }

    #[cfg(test)]
    pub fn whole(self) -> Option<Bytes> {
        match self {
            Content::Empty => Some(Bytes::new()),
            Content::Whole(bytes) => Some(bytes),
            Content::Filled(_) | Content::Gathered(_) | Content::Stream(_) | Content::Unsent(_) => None,
        }
    }

    /// All of a large body that is there.
    fn take_large(&mut self, connection: &Arc<Activity>) -> Option<Box<dyn Buf + Send>> {
        match std::mem::replace(self, Content::Empty) {
            Content::Gathered(parts) if parts.has_remaining() => Some(Box::new(parts.on(connection))),
            Content::Whole(bytes) if bytes.len() > PIECE => Some(Box::new(bytes)),
            other => {
                *self = other;
                None
            }
        }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>, piece: usize) -> Poll<Option<Result<Bytes, Abandoned>>> {
        match self {
            Content::Empty => Poll::Ready(None),
            Content::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Content::Whole(bytes) => Poll::Ready(Some(Ok(bytes.split_to(bytes.len().min(piece))))),
            Content::Filled(filling) if filling.left() == 0 => Poll::Ready(None),
            Content::Filled(filling) => Poll::Ready(Some(Ok(filling.next(piece)))),
            Content::Gathered(parts) if !parts.has_remaining() => Poll::Ready(None),
            Content::Gathered(parts) if parts.chunk().is_empty() => Poll::Ready(Some(Err(Abandoned))),
            Content::Gathered(parts) => Poll::Ready(Some(Ok(parts.copy_to_bytes(parts.remaining().min(piece))))),
            Content::Stream(stream) => stream.poll_piece(cx),
            Content::Unsent(_) => Poll::Ready(Some(Err(Abandoned))),
        }
    }
}

/// Bytes that a compressor takes at once, so that it never holds a thread for long.
pub(crate) const PIECE: usize = 64 << 10;

/// What the answers of one connection are doing, for the watch that ends connections nobody reads from. Hot: there are
/// counts in it and no times, which are for the watch to know.
#[derive(Default)]
pub(crate) struct Activity {
    /// Answers that lie with hyper until the client takes more. Those whose maker is thinking do not count.
    pub handed: AtomicI64,
    /// Requests that have not been answered to the end.
    pub open: AtomicI64,
    /// How often something moved.
    pub moved: AtomicU64,
    /// More of the answer that is being written.
    pub following: Following,
}

impl Activity {
    pub fn mark(&self) {
        self.moved.fetch_add(1, Relaxed);
    }
}

/// What hyper is given at a time.
pub(crate) enum Portion {
    Bytes(Bytes),
    Large(Large),
}

/// A large answer that hyper is given as a whole, and with it what counts how much of it the client has taken. A small one
/// is with the kernel at once, and counts as sent when it is handed over.
pub(crate) struct Large {
    bytes: Box<dyn Buf + Send>,
    exchange: Box<Exchange>,
}

/// A body as hyper takes it.
pub(crate) struct Outgoing {
    content: Content,
    encoder: Option<Encoder>,
    /// None once it went with a large answer.
    exchange: Option<Box<Exchange>>,
    activity: Arc<Activity>,
    piece: usize,
    handed: bool,
    ended: bool,
}

impl Outgoing {
    pub fn new(content: Content, encoder: Option<Encoder>, exchange: Box<Exchange>, wire: &Wire) -> Self {
        let ended = content.length() == Some(0) && encoder.is_none();
        let piece = if encoder.is_some() { PIECE } else { wire.piece };
        let activity = wire.activity.clone();
        let mut outgoing =
            Outgoing { content, encoder, exchange: Some(exchange), activity, piece, handed: false, ended };
        outgoing.hand(true);
        if ended {
            outgoing.complete();
        }
        outgoing
    }

    fn poll_portion(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Portion, Abandoned>>> {
        match self.take_large() {
            Some(large) => Poll::Ready(Some(Ok(Portion::Large(large)))),
            None => self.poll_bytes(cx).map(|bytes| bytes.map(|bytes| bytes.map(Portion::Bytes))),
        }
    }

    /// All of it, where that is a lot and hyper takes it at once: over HTTP/1, and uncompressed.
    fn take_large(&mut self) -> Option<Large> {
        let bytes = (self.piece == usize::MAX).then(|| self.content.take_large(&self.activity)).flatten()?;
        self.ended = true;
        Some(Large { bytes, exchange: self.exchange.take()? })
    }

    fn poll_bytes(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Abandoned>>> {
        loop {
            if self.ended {
                return Poll::Ready(None);
            }
            let piece = ready!(self.content.poll_next(cx, self.piece)).transpose()?;
            self.ended = piece.is_none() || self.encoder.is_none() && self.content.length() == Some(0);
            let bytes = match (&mut self.encoder, piece) {
                (None, Some(bytes)) => bytes,
                (None, None) => Bytes::new(),
                (Some(encoder), Some(bytes)) => encoder.write(&bytes).map_err(|_| Abandoned)?,
                (Some(encoder), None) => encoder.finish().map_err(|_| Abandoned)?,
            };
            if !bytes.is_empty() {
                return Poll::Ready(Some(Ok(bytes)));
            }
        }
    }

    fn complete(&mut self) {
        if let Some(exchange) = &mut self.exchange {
            exchange.complete();
        }
    }

    /// Bytes given to hyper are with the client only when hyper asks for more.
    fn hand(&mut self, handed: bool) {
        if handed != self.handed {
            self.activity.handed.fetch_add(if handed { 1 } else { -1 }, Relaxed);
            self.handed = handed;
        }
        self.activity.mark();
    }
}

impl Body for Outgoing {
    type Data = Portion;
    type Error = Abandoned;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Portion>, Abandoned>>> {
        let this = self.get_mut();
        this.hand(false);
        let frame = ready!(this.poll_portion(cx));
        match &frame {
            Some(Ok(portion)) => {
                if let Some(exchange) = &mut this.exchange {
                    exchange.sent(portion.remaining());
                }
                this.hand(true);
            }
            Some(Err(_)) => this.ended = true,
            None => this.complete(),
        }
        if this.ended && matches!(frame, Some(Ok(_))) {
            this.complete();
        }
        Poll::Ready(frame.map(|portion| portion.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.ended
    }

    fn size_hint(&self) -> SizeHint {
        match (self.content.length(), &self.encoder) {
            (Some(length), None) => SizeHint::with_exact(length),
            _ => SizeHint::default(),
        }
    }
}

impl Portion {
    /// All of it in one piece.
    pub fn whole(self) -> Bytes {
        match self {
            Portion::Bytes(bytes) => bytes,
            Portion::Large(mut large) => large.copy_to_bytes(large.remaining()),
        }
    }

    fn buffer(&self) -> &dyn Buf {
        match self {
            Portion::Bytes(bytes) => bytes,
            Portion::Large(large) => large,
        }
    }
}

impl Buf for Portion {
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
            Portion::Bytes(bytes) => bytes.advance(count),
            Portion::Large(large) => large.advance(count),
        }
    }
}

impl Buf for Large {
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
        self.exchange.sent(count);
        if !self.bytes.has_remaining() {
            self.exchange.complete();
        }
    }
}

impl Drop for Outgoing {
    fn drop(&mut self) {
        self.hand(false);
    }
}

impl std::fmt::Display for Abandoned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the maker of this answer gave up")
    }
}

impl std::error::Error for Abandoned {}

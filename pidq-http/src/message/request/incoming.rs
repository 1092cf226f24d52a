//! Incoming body: from a connection, or from memory; and its opaque form for forwarding.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

pub(super) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Body of a request, from a connection or from memory.
pub(crate) enum Incoming {
    /// Body from a connection.
    Connection(hyper::body::Incoming),
    /// Body from memory, as sent by tests and embedders.
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
            Incoming::Connection(body) => Pin::new(body).poll_frame(cx).map_err(Into::into),
            Incoming::Memory(bytes) => Poll::Ready(bytes.take().map(|b| Ok(Frame::data(b)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Incoming::Connection(body) => body.is_end_stream(),
            Incoming::Memory(bytes) => bytes.is_none(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Incoming::Connection(body) => body.size_hint(),
            Incoming::Memory(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |b| b.len() as u64)),
        }
    }
}

/// Body of a request as it arrived, still compressed and without limits: for a gateway, which forwards it to a server
/// with limits of its own.
pub struct RequestBody(pub(crate) Incoming);

impl From<Bytes> for RequestBody {
    fn from(bytes: Bytes) -> Self {
        RequestBody(bytes.into())
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.get_mut().0).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

//! Response body of a service, for callers in the same process.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use super::body::{BodyChunk, ResponseBody};
use super::forwarded::BodyError;

/// Response body of a service in this process.
pub struct ServiceBody(pub(crate) ResponseBody);

impl Body for ServiceBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let frame = ready!(Pin::new(&mut self.get_mut().0).poll_frame(cx));
        Poll::Ready(frame.map(|frame| Ok(frame?.map_data(BodyChunk::into_bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

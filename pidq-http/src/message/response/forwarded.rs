//! Bodies of responses that another server has produced, in this process or elsewhere.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body, Frame, SizeHint};

use super::body::{BodyChunk, ResponseBody};
use super::stream_body::BodyAborted;

/// Error that ended a response body.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// Body to forward. Dropping it tells the other server that the client has left.
pub(crate) type ForwardedBody = UnsyncBoxBody<Bytes, BodyError>;

/// Response body of a service in this process.
pub struct ServiceBody(pub(crate) ResponseBody);

pub(super) fn forward<B>(body: B) -> ForwardedBody
where
    B: Body<Data = Bytes, Error: Into<BodyError>> + Send + 'static,
{
    body.map_err(Into::into).boxed_unsync()
}

/// Returns the next bytes. Trailers are left out.
pub(super) fn poll_next(body: &mut ForwardedBody, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyAborted>>> {
    loop {
        match ready!(Pin::new(&mut *body).poll_frame(cx)) {
            None => return Poll::Ready(None),
            Some(Err(error)) => {
                tracing::debug!(%error, "a forwarded response ended early");
                return Poll::Ready(Some(Err(BodyAborted)));
            }
            Some(Ok(frame)) => match frame.into_data() {
                Ok(bytes) => return Poll::Ready(Some(Ok(bytes))),
                Err(_) => continue,
            },
        }
    }
}

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

//! Bodies of responses that another server has produced, in this process or elsewhere.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Body;

use super::stream_body::BodyAborted;

/// Error that ended a response body.
pub type BodyError = Box<dyn std::error::Error + Send + Sync>;

/// Body to forward. Dropping it tells the other server that the client has left.
pub(crate) type ForwardedBody = UnsyncBoxBody<Bytes, BodyError>;

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

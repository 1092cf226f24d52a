//! Receiving side of a streamed body: chunks from a sender, with heartbeats while there are none.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::{Sleep, sleep};

/// Chunk of a body, or its regular end.
pub(super) enum StreamItem {
    Data(Bytes),
    End,
}

/// Chunks from a sender, with heartbeats while there are none.
pub(crate) struct StreamBody {
    items: mpsc::Receiver<StreamItem>,
    /// Number of remaining bytes, if the length is known.
    pub remaining: Option<u64>,
    heartbeat: Option<(Duration, Pin<Box<Sleep>>)>,
}

/// Error that ends a streamed body whose sender was dropped.
#[derive(Debug, thiserror::Error)]
#[error("the response body was aborted")]
pub(crate) struct BodyAborted;

impl StreamBody {
    pub(super) fn new(items: mpsc::Receiver<StreamItem>, heartbeat: Option<Duration>) -> Self {
        StreamBody { items, remaining: None, heartbeat: heartbeat.map(|every| (every, Box::pin(sleep(every)))) }
    }

    pub(super) fn with_length(items: mpsc::Receiver<StreamItem>, length: u64) -> Self {
        StreamBody { remaining: Some(length), ..StreamBody::new(items, None) }
    }

    /// Counts bytes against the announced length. A body that is longer or shorter is aborted.
    fn consume(&mut self, bytes: Bytes) -> Result<Bytes, BodyAborted> {
        if let Some(left) = &mut self.remaining {
            *left = left.checked_sub(bytes.len() as u64).ok_or(BodyAborted)?;
        }
        Ok(bytes)
    }

    fn finish(&self) -> Option<Result<Bytes, BodyAborted>> {
        self.remaining.is_some_and(|left| left > 0).then_some(Err(BodyAborted))
    }

    pub fn poll_item(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyAborted>>> {
        if let Poll::Ready(item) = self.items.poll_recv(cx) {
            if let Some((every, timer)) = &mut self.heartbeat {
                timer.as_mut().reset(tokio::time::Instant::now() + *every);
            }
            return Poll::Ready(match item {
                Some(StreamItem::Data(bytes)) => Some(self.consume(bytes)),
                Some(StreamItem::End) => self.finish(),
                None => Some(Err(BodyAborted)),
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

//! What is left of a body when its request is answered already.
//!
//! A connection that is closed with bytes unread is reset, and the reset can overtake the answer: a client that
//! sends too much would see a broken connection instead of a 413. So what is left is read for a moment.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Body;
use hyper::header::{EXPECT, HeaderMap};
use tokio::time::timeout;

use super::Incoming;

/// How much of what nobody wants is read, and for how long.
const BYTES: usize = 64 << 20;
const TIME: Duration = Duration::from_secs(1);

/// Where a body goes that is dropped before its end.
#[derive(Clone, Default)]
pub(crate) struct Leftover(Arc<Mutex<Option<Incoming>>>);

/// A body that does not get lost.
pub(crate) struct Source {
    pub body: Incoming,
    leftover: Leftover,
}

impl Leftover {
    pub fn source(&self, body: Incoming) -> Source {
        Source { body, leftover: self.clone() }
    }

    fn keep(&self, body: Incoming) {
        if !body.is_end_stream() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }

    /// Reads what is left, if the client sends it unasked.
    pub async fn drain(&self, headers: &HeaderMap) {
        let left = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut body) = left.filter(|_| !headers.contains_key(EXPECT)) else { return };
        let drained = async {
            let mut bytes = 0;
            while let Some(Ok(frame)) = body.frame().await {
                bytes += frame.data_ref().map_or(0, |data| data.len());
                if bytes > BYTES {
                    return;
                }
            }
        };
        let _ = timeout(TIME, drained).await;
    }
}

impl Source {
    /// The body; this one is empty from now on.
    pub fn take(&mut self) -> Source {
        let body = std::mem::replace(&mut self.body, Incoming::Memory(None));
        Source { body, leftover: self.leftover.clone() }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.leftover.keep(std::mem::replace(&mut self.body, Incoming::Memory(None)));
    }
}

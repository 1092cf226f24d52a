//! Draining of unread request bodies.
//!
//! Closing a connection with unread bytes resets it, and the reset can overtake the response: a client that sends too
//! much would see a broken connection instead of a 413. So the rest is read for a short time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Body;
use hyper::header::{EXPECT, HeaderMap};
use tokio::time::timeout;

use super::incoming::Incoming;

/// Maximum number of bytes to drain, and the time for it.
const DRAIN_SIZE: usize = 64 << 20;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Slot for a body that is dropped before its end.
#[derive(Clone, Default)]
pub(crate) struct UnreadBody(Arc<Mutex<Option<Incoming>>>);

/// Body that returns to its [`UnreadBody`] slot on drop.
pub(crate) struct BodySource {
    pub body: Incoming,
    unread: UnreadBody,
}

impl UnreadBody {
    pub fn source(&self, body: Incoming) -> BodySource {
        BodySource { body, unread: self.clone() }
    }

    fn store(&self, body: Incoming) {
        if !body.is_end_stream() {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }

    /// Reads the rest of the body, unless the client waits for `100 Continue`.
    pub async fn drain(&self, headers: &HeaderMap) {
        let unread = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut body) = unread.filter(|_| !headers.contains_key(EXPECT)) else { return };
        let drained = async {
            let mut bytes = 0;
            while let Some(Ok(frame)) = body.frame().await {
                bytes += frame.data_ref().map_or(0, |data| data.len());
                if bytes > DRAIN_SIZE {
                    return;
                }
            }
        };
        let _ = timeout(DRAIN_TIMEOUT, drained).await;
    }
}

impl BodySource {
    /// Takes the body out; this source is empty afterwards.
    pub fn take(&mut self) -> BodySource {
        let body = std::mem::replace(&mut self.body, Incoming::Memory(None));
        BodySource { body, unread: self.unread.clone() }
    }

    /// Returns the body, which is not drained if it is dropped before its end.
    pub fn into_body(mut self) -> Incoming {
        std::mem::replace(&mut self.body, Incoming::Memory(None))
    }
}

impl Drop for BodySource {
    fn drop(&mut self) {
        self.unread.store(std::mem::replace(&mut self.body, Incoming::Memory(None)));
    }
}

//! Streamed bodies: a short queue between a sender and the connection.

use std::io::{self, Write};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;
use tokio::sync::mpsc;

use super::body::Content;
use super::stream_body::{StreamBody, StreamItem};

/// Maximum number of queued items: half a megabyte of 64 KiB items.
const QUEUE_SIZE: usize = 8;

/// Buffer size of `Write`.
const CHUNK_SIZE: usize = 64 << 10;

/// Heartbeat interval of event streams.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

/// Error of a send after the client disconnected or the server stopped.
#[derive(Clone, Copy, Debug, Eq, thiserror::Error, PartialEq)]
#[error("the client disconnected")]
pub struct Disconnected;

/// Sender of a streamed body.
///
/// Call [`Sender::finish`] at the end. Dropping the sender earlier aborts the connection, so that a client does not
/// take a partial response for a complete one.
pub struct Sender {
    queue: mpsc::Sender<StreamItem>,
    pending: BytesMut,
}

pub(super) fn channel(heartbeat: Option<Duration>) -> (Sender, Content) {
    let (queue, items) = mpsc::channel(QUEUE_SIZE);
    (Sender { queue, pending: BytesMut::new() }, Content::Stream(StreamBody::new(items, heartbeat)))
}

/// Creates a channel for a body of known length.
pub(super) fn channel_with_length(length: u64) -> (Sender, Content) {
    let (queue, items) = mpsc::channel(QUEUE_SIZE);
    (Sender { queue, pending: BytesMut::new() }, Content::Stream(StreamBody::with_length(items, length)))
}

impl Sender {
    /// Sends a chunk, waiting for capacity.
    pub async fn send(&mut self, bytes: impl Into<Bytes>) -> Result<(), Disconnected> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Ok(());
        }
        self.queue.send(StreamItem::Data(bytes)).await.map_err(|_| Disconnected)
    }

    /// Ends the body.
    pub async fn finish(mut self) -> Result<(), Disconnected> {
        let rest = self.pending.split().freeze();
        self.send(rest).await?;
        self.queue.send(StreamItem::End).await.map_err(|_| Disconnected)
    }

    /// Ends the body from a blocking thread.
    pub fn finish_blocking(mut self) -> Result<(), Disconnected> {
        self.flush().map_err(|_| Disconnected)?;
        self.queue.blocking_send(StreamItem::End).map_err(|_| Disconnected)
    }

    /// Waits until the client disconnects.
    pub async fn closed(&self) {
        self.queue.closed().await;
    }
}

/// For blocking threads, such as those of `ThreadPool`; never in an async function.
impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.put_slice(bytes);
        if self.pending.len() >= CHUNK_SIZE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let chunk = self.pending.split().freeze();
        self.queue.blocking_send(StreamItem::Data(chunk)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// Sender of newline-delimited JSON.
pub struct Lines(pub(super) Sender);

impl Lines {
    /// Sends a value as a line. A serialization error aborts the stream.
    pub async fn send(&mut self, value: &impl Serialize) -> Result<(), Disconnected> {
        let mut line = serde_json::to_vec(value).map_err(|_| Disconnected)?;
        line.push(b'\n');
        self.0.send(line).await
    }

    /// Ends the stream.
    pub async fn finish(self) -> Result<(), Disconnected> {
        self.0.finish().await
    }

    /// Waits until the client disconnects.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

/// Sender of server-sent events.
pub struct Events(pub(super) Sender);

impl Events {
    /// Sends an event. Line breaks in the data become several `data:` lines, as the format requires.
    pub async fn send(&mut self, event: &str, id: Option<&str>, data: &str) -> Result<(), Disconnected> {
        self.0.send(frame(event, id, data)).await
    }

    /// Sends an event with JSON data.
    pub async fn json(&mut self, event: &str, id: Option<&str>, data: &impl Serialize) -> Result<(), Disconnected> {
        let data = serde_json::to_string(data).map_err(|_| Disconnected)?;
        self.send(event, id, &data).await
    }

    /// Ends the stream.
    pub async fn finish(self) -> Result<(), Disconnected> {
        self.0.finish().await
    }

    /// Waits until the client disconnects.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

fn frame(event: &str, id: Option<&str>, data: &str) -> String {
    let mut text = String::with_capacity(data.len() + 32);
    // A line break in a name would start another field.
    let one_line = |name: &str| name.replace(['\r', '\n', '\0'], " ");
    if let Some(id) = id {
        text.push_str(&format!("id: {}\n", one_line(id)));
    }
    text.push_str(&format!("event: {}\n", one_line(event)));
    for line in data.replace("\r\n", "\n").split(['\n', '\r']) {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_cannot_inject_event_fields() {
        assert_eq!(frame("delta", None, "a\nb"), "event: delta\ndata: a\ndata: b\n\n");
        assert_eq!(frame("x\nid: 1", Some("7\r"), ""), "id: 7 \nevent: x id: 1\ndata: \n\n");
    }
}

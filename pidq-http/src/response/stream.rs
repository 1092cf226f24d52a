//! Bodies that are made while they are sent: a short queue between the maker and the connection.

use std::fmt;
use std::io::{self, Write};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use serde::Serialize;
use tokio::sync::mpsc;

use super::body::{Content, Streaming};

/// How many pieces wait between maker and connection. With pieces of 64 KiB, half a megabyte.
const QUEUE: usize = 8;

/// Pieces that `Write` collects before it sends them.
const PIECE: usize = 64 << 10;

/// How often a stream of events shows that it is alive.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(15);

/// Nobody reads any more: the client went away, or the server stops.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Gone;

/// A piece of a body, or its good end.
pub(super) enum Piece {
    Data(Bytes),
    End,
}

/// The maker's end of a streamed body.
///
/// Call [`Sender::finish`] at the end. A sender that is dropped before breaks the connection off, so that no
/// client takes half an answer for a whole one.
pub struct Sender {
    queue: mpsc::Sender<Piece>,
    pending: BytesMut,
}

pub(super) fn channel(heartbeat: Option<Duration>) -> (Sender, Content) {
    let (queue, pieces) = mpsc::channel(QUEUE);
    (Sender { queue, pending: BytesMut::new() }, Content::Stream(Streaming::new(pieces, heartbeat)))
}

/// The same for a body of known length.
pub(super) fn channel_of_length(length: u64) -> (Sender, Content) {
    let (queue, pieces) = mpsc::channel(QUEUE);
    (Sender { queue, pending: BytesMut::new() }, Content::Stream(Streaming::of_length(pieces, length)))
}

impl Sender {
    /// Sends a piece, as soon as there is room.
    pub async fn send(&mut self, bytes: impl Into<Bytes>) -> Result<(), Gone> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Ok(());
        }
        self.queue.send(Piece::Data(bytes)).await.map_err(|_| Gone)
    }

    /// Ends the body well.
    pub async fn finish(mut self) -> Result<(), Gone> {
        let rest = self.pending.split().freeze();
        self.send(rest).await?;
        self.queue.send(Piece::End).await.map_err(|_| Gone)
    }

    /// The same for threads that may wait.
    pub fn finish_blocking(mut self) -> Result<(), Gone> {
        self.flush().map_err(|_| Gone)?;
        self.queue.blocking_send(Piece::End).map_err(|_| Gone)
    }

    /// Waits until nobody reads any more.
    pub async fn closed(&self) {
        self.queue.closed().await;
    }
}

/// For threads that may wait, such as those of `Work`: never in an async function.
impl Write for Sender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.put_slice(bytes);
        if self.pending.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let piece = self.pending.split().freeze();
        self.queue.blocking_send(Piece::Data(piece)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// A stream of JSON values, one a line.
pub struct Lines(pub(super) Sender);

impl Lines {
    /// Sends a value as a line. What cannot be written as JSON ends the stream badly.
    pub async fn send(&mut self, value: &impl Serialize) -> Result<(), Gone> {
        let mut line = serde_json::to_vec(value).map_err(|_| Gone)?;
        line.push(b'\n');
        self.0.send(line).await
    }

    /// Ends the stream well.
    pub async fn finish(self) -> Result<(), Gone> {
        self.0.finish().await
    }

    /// Waits until nobody reads any more.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

/// A stream of server-sent events.
pub struct Events(pub(super) Sender);

impl Events {
    /// Sends an event. Line breaks in the data become several `data:` lines, as the format has it.
    pub async fn send(&mut self, event: &str, id: Option<&str>, data: &str) -> Result<(), Gone> {
        self.0.send(frame(event, id, data)).await
    }

    /// Sends an event whose data is JSON.
    pub async fn json(&mut self, event: &str, id: Option<&str>, data: &impl Serialize) -> Result<(), Gone> {
        let data = serde_json::to_string(data).map_err(|_| Gone)?;
        self.send(event, id, &data).await
    }

    /// Ends the stream well.
    pub async fn finish(self) -> Result<(), Gone> {
        self.0.finish().await
    }

    /// Waits until nobody listens any more.
    pub async fn closed(&self) {
        self.0.closed().await;
    }
}

fn frame(event: &str, id: Option<&str>, data: &str) -> String {
    let mut text = String::with_capacity(data.len() + 32);
    // A line break in a name would begin another field.
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

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody reads this answer any more")
    }
}

impl std::error::Error for Gone {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_cannot_be_broken_out_of() {
        assert_eq!(frame("delta", None, "a\nb"), "event: delta\ndata: a\ndata: b\n\n");
        assert_eq!(frame("x\nid: 1", Some("7\r"), ""), "id: 7 \nevent: x id: 1\ndata: \n\n");
    }
}

//! The bytes of a connection, watched: readers that take nothing are given up, ambiguous heads are noticed.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::framing::Scanner;
use crate::response::Activity;

/// A connection under watch. hyper has no timeout for writing.
pub(super) struct Guarded<T> {
    inner: T,
    /// What was read while the protocol was found out.
    prefix: Vec<u8>,
    scanner: Option<Scanner>,
    activity: Arc<Activity>,
    /// Bytes that a write takes at the most.
    room: usize,
    stall: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<T> Guarded<T> {
    pub fn new(inner: T, prefix: Vec<u8>, scanner: Option<Scanner>, activity: Arc<Activity>, stall: Duration) -> Self {
        Guarded { inner, prefix, scanner, activity, room: usize::MAX, stall, stalled: None }
    }

    /// The same over a stream that never takes more bytes at once.
    pub fn with_room(self, room: usize) -> Self {
        Guarded { room, ..self }
    }

    /// Passes on what a write says, unless it has said "not yet" for too long.
    fn watch<R>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stall = self.stall;
        let timer = self.stalled.get_or_insert_with(|| Box::pin(sleep(stall)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing of its answer")))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Guarded<T> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = into.filled().len();
        if this.prefix.is_empty() {
            ready!(Pin::new(&mut this.inner).poll_read(cx, into))?;
        } else {
            let length = this.prefix.len().min(into.remaining());
            into.put_slice(&this.prefix[..length]);
            this.prefix.drain(..length);
        }
        if let Some(scanner) = &mut this.scanner {
            scanner.read(&into.filled()[before..]);
        }
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Guarded<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write(cx, bytes);
        this.watch(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = match this.activity.following.take(bytes) {
            Some(next) => Pin::new(&mut this.inner).poll_write_vectored(cx, &next.along(bytes, this.room)),
            None => Pin::new(&mut this.inner).poll_write_vectored(cx, bytes),
        };
        this.watch(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.inner).poll_flush(cx);
        this.watch(cx, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let shut = Pin::new(&mut this.inner).poll_shutdown(cx);
        this.watch(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use http_body_util::{BodyExt, Full};
    use hyper::client::conn::http1 as client;
    use hyper::server::conn::http1 as server;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{DuplexStream, duplex};

    use super::*;
    use crate::response::{Gathered, Gathering};

    /// 1,500 times the same.
    struct Many;

    impl Gathering for Many {
        fn size(&self) -> usize {
            1500 * 4
        }

        fn part(&self, number: usize) -> Option<&[u8]> {
            (number < 1500).then_some(b"part")
        }
    }

    /// Notes of how many slices the largest write was.
    struct Counted(DuplexStream, Arc<AtomicUsize>);

    impl AsyncRead for Counted {
        fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(cx, into)
        }
    }

    impl AsyncWrite for Counted {
        fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(cx, bytes)
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bytes: &[io::IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            self.1.fetch_max(bytes.len(), Relaxed);
            Pin::new(&mut self.0).poll_write_vectored(cx, bytes)
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(cx)
        }
    }

    /// How many slices hyper's largest write was, of an answer that lies in many, over a stream that takes so much.
    async fn slices_at_once(room: usize) -> usize {
        let ((near, far), most) = (duplex(1 << 20), Arc::new(AtomicUsize::new(0)));
        let activity = Arc::new(Activity::default());
        let stream = Counted(far, most.clone());
        let guarded = Guarded::new(stream, Vec::new(), None, activity.clone(), Duration::from_secs(5)).with_room(room);
        let answer = || Ok::<_, io::Error>(hyper::Response::new(Full::new(Gathered::new(Many).on(&activity))));
        let service = service_fn(|_| std::future::ready(answer()));
        let connection = server::Builder::new().serve_connection(TokioIo::new(guarded), service);
        let (mut sender, driver) = client::handshake::<_, Full<&[u8]>>(TokioIo::new(near)).await.expect("a client");
        let client = async {
            let answer = sender.send_request(hyper::Request::default()).await.expect("an answer");
            drop(sender);
            answer.into_body().collect().await.expect("a body").to_bytes()
        };
        let (body, _, served) = tokio::join!(client, driver, connection);
        assert!(served.is_ok() && body == b"part".repeat(1500));
        most.load(Relaxed)
    }

    #[tokio::test]
    async fn hyper_writes_as_much_at_once_as_the_stream_takes() {
        assert_eq!(slices_at_once(usize::MAX).await, 1024);
        assert!((130..=150).contains(&slices_at_once(600).await));
    }
}

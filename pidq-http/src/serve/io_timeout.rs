//! Connection stream with a write timeout, and detection of ambiguous request heads.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use super::request_framing::HeadScanner;
use crate::message::conn_info::ConnActivity;

/// Stream with a write timeout, which hyper lacks.
pub(super) struct TimeoutIo<T> {
    inner: T,
    /// Bytes read during protocol detection.
    prefix: Vec<u8>,
    scanner: Option<HeadScanner>,
    activity: Arc<ConnActivity>,
    /// Maximum bytes per write.
    max_write: usize,
    write_timeout: Duration,
    write_timer: Option<Pin<Box<Sleep>>>,
}

impl<T> TimeoutIo<T> {
    pub fn new(
        inner: T,
        prefix: Vec<u8>,
        scanner: Option<HeadScanner>,
        activity: Arc<ConnActivity>,
        write_timeout: Duration,
    ) -> Self {
        TimeoutIo { inner, prefix, scanner, activity, max_write: usize::MAX, write_timeout, write_timer: None }
    }

    /// Sets the maximum size of a write for the underlying stream.
    pub fn with_max_write(self, max_write: usize) -> Self {
        TimeoutIo { max_write, ..self }
    }

    /// Returns the result of a write, or an error if the write is pending for too long.
    fn enforce_timeout<R>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if written.is_ready() {
            if self.write_timer.take().is_some() {
                self.activity.is_write_pending.store(false, Relaxed);
            }
            return written;
        }
        self.activity.is_write_pending.store(true, Relaxed);
        let write_timeout = self.write_timeout;
        let timer = self.write_timer.get_or_insert_with(|| Box::pin(sleep(write_timeout)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read the response")))
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for TimeoutIo<T> {
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

impl<T: AsyncWrite + Unpin> AsyncWrite for TimeoutIo<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.inner).poll_write(cx, bytes);
        this.activity.record_write();
        this.enforce_timeout(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = match this.activity.tail.take(bytes) {
            Some(tail) => Pin::new(&mut this.inner).poll_write_vectored(cx, &tail.extended(bytes, this.max_write)),
            None => Pin::new(&mut this.inner).poll_write_vectored(cx, bytes),
        };
        this.activity.record_write();
        this.enforce_timeout(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flushed = Pin::new(&mut this.inner).poll_flush(cx);
        this.enforce_timeout(cx, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let shut = Pin::new(&mut this.inner).poll_shutdown(cx);
        this.enforce_timeout(cx, shut)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use http_body_util::{BodyExt, Full};
    use hyper::client::conn::http1 as client;
    use hyper::server::conn::http1 as server;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use tokio::io::{DuplexStream, duplex};

    use super::*;
    use crate::message::vectored::{VectoredBody, VectoredBuf};

    /// 1,500 equal parts.
    struct ManySlices;

    impl VectoredBody for ManySlices {
        fn size(&self) -> usize {
            1500 * 4
        }

        fn part(&self, index: usize) -> Option<&[u8]> {
            (index < 1500).then_some(b"part")
        }
    }

    /// Stream that records the largest number of slices per write.
    struct CountingStream(DuplexStream, Arc<AtomicUsize>);

    impl AsyncRead for CountingStream {
        fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(cx, into)
        }
    }

    impl AsyncWrite for CountingStream {
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

    /// Returns the largest number of slices hyper writes for a vectored body, over a stream with this write size.
    async fn slices_at_once(max_write: usize) -> usize {
        let ((client_io, server_io), max_slices) = (duplex(1 << 20), Arc::new(AtomicUsize::new(0)));
        let activity = Arc::new(ConnActivity::default());
        let stream = CountingStream(server_io, max_slices.clone());
        let io = TimeoutIo::new(stream, Vec::new(), None, activity.clone(), Duration::from_secs(5))
            .with_max_write(max_write);
        let respond = || {
            Ok::<_, io::Error>(hyper::Response::new(Full::new(VectoredBuf::new(ManySlices).with_tail(&activity.tail))))
        };
        let service = service_fn(|_| std::future::ready(respond()));
        let connection = server::Builder::new().serve_connection(TokioIo::new(io), service);
        let (mut sender, driver) =
            client::handshake::<_, Full<&[u8]>>(TokioIo::new(client_io)).await.expect("a client");
        let client = async {
            let response = sender.send_request(hyper::Request::default()).await.expect("a response");
            drop(sender);
            response.into_body().collect().await.expect("a body").to_bytes()
        };
        let (body, _, served) = tokio::join!(client, driver, connection);
        assert!(served.is_ok() && body == b"part".repeat(1500));
        max_slices.load(Relaxed)
    }

    #[tokio::test]
    async fn vectored_writes_use_the_write_size_of_the_stream() {
        assert_eq!(slices_at_once(usize::MAX).await, 1024);
        assert!((130..=150).contains(&slices_at_once(600).await));
    }
}

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
    stall: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl<T> Guarded<T> {
    pub fn new(inner: T, prefix: Vec<u8>, scanner: Option<Scanner>, activity: Arc<Activity>, stall: Duration) -> Self {
        Guarded { inner, prefix, scanner, activity, stall, stalled: None }
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
            Some(next) => Pin::new(&mut this.inner).poll_write_vectored(cx, &next.along(bytes)),
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

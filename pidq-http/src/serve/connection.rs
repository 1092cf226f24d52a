//! Connection handling from the first byte to the end: protocol detection, timeouts, and the watchdog.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::Poll;
use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, interval, sleep, timeout};

use super::Phase;
use super::io_timeout::TimeoutIo;
use super::own_wake::OnOwnWake;
use super::proxy_protocol::{self, Origin};
use super::request_framing::FramingMonitor;
use crate::limits::Limits;
use crate::message::conn_info::{ConnActivity, ConnInfo, ListenerKind};
use crate::message::request::Incoming;
use crate::message::response::CHUNK_SIZE;
use crate::service::Service;
use crate::tls::Tls;

/// Connection preface of HTTP/2.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Idle timeout of an HTTP/2 connection.
const HTTP2_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// Time for the first request of a connection when the server stops: it was accepted, and its request may be in
/// transit. hyper would close it without a response.
const FIRST_REQUEST_GRACE: Duration = Duration::from_secs(1);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Write size of rustls: four records.
const TLS_WRITE_SIZE: usize = 64 << 10;

pub(super) struct Connection<S: 'static> {
    pub service: Service<S>,
    pub handshakes: Arc<Semaphore>,
    pub phases: watch::Receiver<Phase>,
    pub tls: Option<Tls>,
    pub kind: ListenerKind,
}

/// Peer of a connection.
#[derive(Clone, Copy)]
struct Peer {
    address: IpAddr,
    tls: bool,
}

#[derive(Clone, Copy)]
enum Protocol {
    Http1,
    Http2,
}

impl Protocol {
    /// Returns the maximum size of a response chunk. An HTTP/1 body is one chunk: the write timeout detects a
    /// client that does not read. HTTP/2 streams wait for flow-control windows instead, and polls for chunks show
    /// which of them make progress.
    fn chunk_size(self) -> usize {
        match self {
            Protocol::Http1 => usize::MAX,
            Protocol::Http2 => CHUNK_SIZE,
        }
    }
}

impl<S: Send + Sync + 'static> Connection<S> {
    pub async fn run(self, stream: TcpStream) {
        let metrics = &self.service.0.info.metrics;
        metrics.connections.inc();
        let mut phases = self.phases.clone();
        let stopping = OnOwnWake::new(async move { drop(phases.wait_for(|phase| *phase == Phase::Stopping).await) });
        let ended = tokio::select! {
            biased;
            ended = self.serve(stream) => ended,
            () = stopping => Ok(()),
        };
        if let Err(reason) = ended {
            metrics.connection_failed(reason);
        }
        metrics.connections.dec();
    }

    /// Serves the connection to its end. The error is the reason label of the metric for failed connections.
    async fn serve(&self, mut stream: TcpStream) -> Result<(), &'static str> {
        configure_socket(&stream, &self.service.0.limits);
        let address = stream.peer_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |address| address.ip());
        let mut peer = Peer { address, tls: self.tls.is_some() };
        if self.kind == ListenerKind::Public && self.service.0.expects_proxy_header(address) {
            Box::pin(self.read_proxy_header(&mut stream, &mut peer)).await?;
        }
        match &self.tls {
            None => self.serve_plain(stream, peer).await,
            // Boxed, here and below, so that a connection takes no more memory than it needs.
            Some(tls) => Box::pin(self.serve_tls(stream, peer, tls)).await,
        }
    }

    /// Reads the PROXY header and replaces the peer.
    async fn read_proxy_header(&self, stream: &mut TcpStream, peer: &mut Peer) -> Result<(), &'static str> {
        let header = timeout(self.service.0.limits.first_byte_timeout, proxy_protocol::read_header(stream)).await;
        match header.map_err(|_| "proxy_timeout")?.map_err(|_| "proxy_io")? {
            Ok(Origin::Local) => {}
            // Not the proxy itself, so forwarding headers of the request are not trusted.
            Ok(Origin::Unknown) => peer.address = IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            Ok(Origin::Client { address, tls }) => *peer = Peer { address, tls: peer.tls || tls },
            Err(proxy_protocol::Malformed) => {
                tracing::warn!(proxy = %peer.address, "a trusted proxy sent no valid PROXY header; connection closed");
                return Err("proxy_header");
            }
        }
        Ok(())
    }

    async fn serve_plain(&self, mut stream: TcpStream, peer: Peer) -> Result<(), &'static str> {
        let first_byte = self.service.0.limits.first_byte_timeout;
        let (protocol, prefix) = timeout(first_byte, detect_protocol(&mut stream))
            .await
            .map_err(|_| "first_byte_timeout")?
            .map_err(|_| "io")?;
        self.serve_http(stream, protocol, prefix, peer).await
    }

    async fn serve_tls(&self, stream: TcpStream, peer: Peer, tls: &Tls) -> Result<(), &'static str> {
        let limits = &self.service.0.limits;
        // Silent clients wait here, without a handshake permit.
        timeout(limits.first_byte_timeout, stream.readable())
            .await
            .map_err(|_| "first_byte_timeout")?
            .map_err(|_| "io")?;
        let handshake = async {
            let _permit = self.handshakes.acquire().await.map_err(|_| "handshake")?;
            tls.accept(stream).await.map_err(|_| "handshake")
        };
        let stream = timeout(limits.handshake_timeout, handshake).await.map_err(|_| "handshake_timeout")??;
        let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        let protocol = if http2 { Protocol::Http2 } else { Protocol::Http1 };
        self.serve_http(stream, protocol, Vec::new(), peer).await
    }

    async fn serve_http<T>(
        &self,
        stream: T,
        protocol: Protocol,
        prefix: Vec<u8>,
        peer: Peer,
    ) -> Result<(), &'static str>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let limits = &self.service.0.limits;
        let activity = Arc::new(ConnActivity::default());
        let (peer, tls, kind, chunk_size) = (peer.address, peer.tls, self.kind, protocol.chunk_size());
        let conn = ConnInfo { peer, tls, listener_kind: kind, chunk_size, activity: activity.clone() };
        let monitor = FramingMonitor::new();
        let scanner = matches!(protocol, Protocol::Http1).then(|| monitor.scanner(limits.head_size));
        let stream = TimeoutIo::new(stream, prefix, scanner, activity.clone(), limits.write_timeout);
        let io = TokioIo::new(if self.tls.is_some() { stream.with_max_write(TLS_WRITE_SIZE) } else { stream });
        let service = self.service.clone();
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let (service, conn, framing) = (service.clone(), conn.clone(), monitor.next());
            async move { Ok::<_, Infallible>(service.dispatch(&conn, request.map(Incoming::Connection), framing).await) }
        });
        match protocol {
            Protocol::Http1 => {
                let connection = http1_builder(limits).serve_connection(io, service);
                let watchdog = Watchdog { head_timeout: Some(limits.head_timeout), ..Watchdog::new(limits, &activity) };
                Box::pin(self.drive(connection, http1::Connection::graceful_shutdown, watchdog)).await
            }
            Protocol::Http2 => {
                let connection = http2_builder(limits).serve_connection(io, service);
                let watchdog = Watchdog { idle_timeout: Some(HTTP2_IDLE_TIMEOUT), ..Watchdog::new(limits, &activity) };
                Box::pin(self.drive(connection, http2::Connection::graceful_shutdown, watchdog)).await
            }
        }
    }

    /// Runs a connection to its end, with a graceful shutdown when the server stops or the connection is idle.
    async fn drive<C: Future<Output = hyper::Result<()>>>(
        &self,
        connection: C,
        finish: fn(Pin<&mut C>),
        watchdog: Watchdog<'_>,
    ) -> Result<(), &'static str> {
        let must_finish = AtomicBool::new(false);
        let mut supervision = pin!(OnOwnWake::new(self.supervise(watchdog, &must_finish)));
        let mut connection = pin!(connection);
        poll_fn(|cx| {
            if let Poll::Ready(reason) = supervision.as_mut().poll(cx) {
                return Poll::Ready(Err(reason));
            }
            if must_finish.load(Relaxed) {
                must_finish.store(false, Relaxed);
                finish(connection.as_mut());
            }
            connection.as_mut().poll(cx).map_err(|error| reason(&error))
        })
        .await
    }

    /// Sets `must_finish` when the server stops or the connection is idle. Returns the reason why the connection must end
    /// at once.
    async fn supervise(&self, mut watchdog: Watchdog<'_>, must_finish: &AtomicBool) -> &'static str {
        let mut shutdown_signal = pin!(self.shutdown_signal(watchdog.activity));
        let mut ticks = interval(watchdog.interval());
        let mut finishing = false;
        loop {
            let must_finish_now = tokio::select! {
                () = shutdown_signal.as_mut(), if !finishing => true,
                _ = ticks.tick() => match watchdog.check() {
                    ConnState::Active => false,
                    ConnState::Idle => true,
                    ConnState::Expired(reason) => return reason,
                }
            };
            if must_finish_now && !finishing {
                finishing = true;
                must_finish.store(true, Relaxed);
            }
        }
    }

    /// Completes when the server stops, after the first request of the connection or the time for it.
    async fn shutdown_signal(&self, activity: &ConnActivity) {
        let mut phases = self.phases.clone();
        let _ = phases.wait_for(|phase| *phase != Phase::Serving).await;
        let first_request = async {
            while activity.progress.load(Relaxed) == 0 {
                sleep(POLL_INTERVAL).await;
            }
        };
        let _ = timeout(FIRST_REQUEST_GRACE, first_request).await;
    }
}

/// Watchdog for conditions that hyper does not detect, such as stalled streams and idle HTTP/2 connections, and for the
/// time of request heads, for which hyper would start and remove a timer per request.
struct Watchdog<'a> {
    activity: &'a ConnActivity,
    write_timeout: Duration,
    idle_timeout: Option<Duration>,
    /// Timeout for a request head of HTTP/1, and for the wait for it.
    head_timeout: Option<Duration>,
    /// Progress counter, and the time of its last change.
    last_progress: (u64, Instant),
    /// Counters of progress and writes, and the time since which no request is open and they are unchanged.
    head_awaited: ((u64, u64), Instant),
}

enum ConnState {
    Active,
    Idle,
    Expired(&'static str),
}

impl<'a> Watchdog<'a> {
    fn new(limits: &Limits, activity: &'a ConnActivity) -> Self {
        Watchdog {
            activity,
            write_timeout: limits.write_timeout,
            idle_timeout: None,
            head_timeout: None,
            last_progress: (0, Instant::now()),
            head_awaited: ((0, 0), Instant::now()),
        }
    }

    /// Returns the interval of the checks: a timeout is a quarter longer at most.
    fn interval(&self) -> Duration {
        let shortest = self.head_timeout.map_or(self.write_timeout, |timeout| timeout.min(self.write_timeout));
        (shortest / 8).max(Duration::from_millis(10))
    }

    fn check(&mut self) -> ConnState {
        let idle_time = self.since_progress();
        if self.activity.in_flight.load(Relaxed) > 0 && idle_time > self.write_timeout {
            return ConnState::Expired("write_timeout");
        }
        if self.head_timeout.is_some_and(|timeout| self.since_head_awaited() > timeout) {
            return ConnState::Expired("timeout");
        }
        match self.idle_timeout {
            Some(limit) if self.activity.open.load(Relaxed) > 0 || idle_time < limit => ConnState::Active,
            Some(limit) if idle_time < limit + self.write_timeout => ConnState::Idle,
            Some(_) => ConnState::Expired("idle"),
            None => ConnState::Active,
        }
    }
}

impl Watchdog<'_> {
    /// Returns the time since the last observed progress.
    fn since_progress(&mut self) -> Duration {
        let progress = self.activity.progress.load(Relaxed);
        if progress != self.last_progress.0 {
            self.last_progress = (progress, Instant::now());
        }
        self.last_progress.1.elapsed()
    }

    /// Returns the time since which a request head is awaited: since the last request and the last write of its response.
    fn since_head_awaited(&mut self) -> Duration {
        let counters = (self.activity.progress.load(Relaxed), self.activity.writes.load(Relaxed));
        let is_busy = self.activity.open.load(Relaxed) > 0 || self.activity.is_write_pending.load(Relaxed);
        if is_busy || counters != self.head_awaited.0 {
            self.head_awaited = (counters, Instant::now());
        }
        self.head_awaited.1.elapsed()
    }
}

fn configure_socket(stream: &TcpStream, limits: &Limits) {
    // A missing socket option is no reason to reject a client.
    let _ = stream.set_nodelay(true);
    let socket = socket2::SockRef::from(stream);
    let _ = socket.set_tcp_user_timeout(Some(limits.write_timeout));
    let _ = socket.set_tcp_keepalive(&socket2::TcpKeepalive::new().with_time(Duration::from_secs(60)));
}

/// Reads until the protocol is clear, at most the length of the HTTP/2 preface.
async fn detect_protocol(stream: &mut TcpStream) -> io::Result<(Protocol, Vec<u8>)> {
    let mut prefix = Vec::with_capacity(PREFACE.len());
    while prefix.len() < PREFACE.len() {
        let missing = PREFACE.len() - prefix.len();
        if (&mut *stream).take(missing as u64).read_buf(&mut prefix).await? == 0 || !PREFACE.starts_with(&prefix) {
            return Ok((Protocol::Http1, prefix));
        }
    }
    Ok((Protocol::Http2, prefix))
}

fn http1_builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        // The watchdog checks the time of a head.
        .header_read_timeout(None)
        .max_headers(limits.header_limit)
        .max_header_size(limits.head_size)
        .max_buf_size(64 << 10);
    builder
}

fn http2_builder(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.stream_limit)
        .max_header_list_size(limits.head_size as u32)
        .max_pending_accept_reset_streams(20)
        .max_local_error_reset_streams(1024)
        .keep_alive_interval(Duration::from_secs(20))
        .keep_alive_timeout(Duration::from_secs(10));
    builder
}

fn reason(error: &hyper::Error) -> &'static str {
    match error {
        _ if error.is_timeout() => "timeout",
        _ if error.is_parse() => "malformed",
        _ if error.is_incomplete_message() => "incomplete",
        _ if error.is_user() => "abandoned",
        _ => "io",
    }
}

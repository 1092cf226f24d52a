//! One connection, from its first byte to its end: protocol, timeouts, and the watch over both.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};
use tokio::time::{Instant, interval, sleep, timeout};

use super::Phase;
use super::framing::Doubt;
use super::guard::Guarded;
use super::proxied::{self, Origin};
use crate::limits::Limits;
use crate::request::Incoming;
use crate::response::{Activity, PIECE};
use crate::site::{Door, Site, Wire};
use crate::tls::Tls;

/// What every HTTP/2 connection begins with.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long an HTTP/2 connection may have no request.
const IDLE: Duration = Duration::from_secs(60);

/// How long a connection has for its first request when the server stops: it was accepted, and its request may be on its
/// way. hyper would close it unanswered.
const FIRST_REQUEST: Duration = Duration::from_secs(1);
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Bytes that rustls takes in one write, for four records.
const ENCRYPTED: usize = 64 << 10;

pub(super) struct Connection<S: 'static> {
    pub site: Site<S>,
    pub handshakes: Arc<Semaphore>,
    pub phases: watch::Receiver<Phase>,
    pub tls: Option<Tls>,
    pub door: Door,
}

/// Who is at the other end, and whether the way there is encrypted.
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
    /// How much of an answer is handed over at once. Over HTTP/1 all of it: a write that gets nowhere is noticed. Streams
    /// of HTTP/2 wait for windows instead, and what is asked for in pieces shows which of them move.
    fn piece(self) -> usize {
        match self {
            Protocol::Http1 => usize::MAX,
            Protocol::Http2 => PIECE,
        }
    }
}

impl<S: Send + Sync + 'static> Connection<S> {
    pub async fn run(self, stream: TcpStream) {
        let metrics = &self.site.0.facts.metrics;
        metrics.connections.inc();
        let mut phases = self.phases.clone();
        let ended = tokio::select! {
            ended = self.serve(stream) => ended,
            _ = phases.wait_for(|phase| *phase == Phase::Ending) => Ok(()),
        };
        if let Err(reason) = ended {
            metrics.broke(reason);
        }
        metrics.connections.dec();
    }

    /// An error is the reason that a connection was ended for, in a word.
    async fn serve(&self, mut stream: TcpStream) -> Result<(), &'static str> {
        prepare(&stream, &self.site.0.limits);
        let address = stream.peer_addr().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |address| address.ip());
        let mut peer = Peer { address, tls: self.tls.is_some() };
        if self.door == Door::Public && self.site.0.speaks_proxy(address) {
            Box::pin(self.introduce(&mut stream, &mut peer)).await?;
        }
        match &self.tls {
            None => self.serve_plain(stream, peer).await,
            // Boxed, here and below, so that a connection takes no more memory than what it turns out to be.
            Some(tls) => Box::pin(self.serve_tls(stream, peer, tls)).await,
        }
    }

    /// Lets a proxy say who comes.
    async fn introduce(&self, stream: &mut TcpStream, peer: &mut Peer) -> Result<(), &'static str> {
        let header = timeout(self.site.0.limits.first_byte, proxied::header(stream)).await;
        match header.map_err(|_| "proxy_time")?.map_err(|_| "proxy_io")? {
            Ok(Origin::Proxy) => {}
            // Not the proxy: it vouches for nobody, so what the request says of where it comes from is not believed.
            Ok(Origin::Unknown) => peer.address = IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            Ok(Origin::Client { address, tls }) => *peer = Peer { address, tls: peer.tls || tls },
            Err(proxied::Malformed) => {
                tracing::warn!(proxy = %peer.address, "a trusted proxy does not begin with a PROXY header");
                return Err("proxy_header");
            }
        }
        Ok(())
    }

    async fn serve_plain(&self, mut stream: TcpStream, peer: Peer) -> Result<(), &'static str> {
        let first_byte = self.site.0.limits.first_byte;
        let (protocol, prefix) =
            timeout(first_byte, sniff(&mut stream)).await.map_err(|_| "silent")?.map_err(|_| "io")?;
        self.serve_http(stream, protocol, prefix, peer).await
    }

    async fn serve_tls(&self, stream: TcpStream, peer: Peer, tls: &Tls) -> Result<(), &'static str> {
        let limits = &self.site.0.limits;
        // Those who say nothing wait out here, and take no place from those who do.
        timeout(limits.first_byte, stream.readable()).await.map_err(|_| "silent")?.map_err(|_| "io")?;
        let handshake = async {
            let _place = self.handshakes.acquire().await.map_err(|_| "handshake")?;
            tls.accept(stream).await.map_err(|_| "handshake")
        };
        let stream = timeout(limits.handshake_time, handshake).await.map_err(|_| "handshake_time")??;
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
        let limits = &self.site.0.limits;
        let activity = Arc::new(Activity::default());
        let (peer, tls, door, piece) = (peer.address, peer.tls, self.door, protocol.piece());
        let wire = Wire { peer, tls, door, piece, activity: activity.clone() };
        let doubt = Doubt::new();
        let scanner = matches!(protocol, Protocol::Http1).then(|| doubt.scanner(limits.head_size));
        let guarded = Guarded::new(stream, prefix, scanner, activity.clone(), limits.write_stall);
        let io = TokioIo::new(if self.tls.is_some() { guarded.with_room(ENCRYPTED) } else { guarded });
        let site = self.site.clone();
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let (site, wire, framing) = (site.clone(), wire.clone(), doubt.next());
            async move { Ok::<_, Infallible>(site.answer(&wire, request.map(Incoming::Wire), framing).await) }
        });
        match protocol {
            Protocol::Http1 => {
                let connection = http1_builder(limits).serve_connection(io, service);
                let watch = Watch::new(limits, &activity);
                Box::pin(self.drive(connection, http1::Connection::graceful_shutdown, watch)).await
            }
            Protocol::Http2 => {
                let connection = http2_builder(limits).serve_connection(io, service);
                let watch = Watch { idle: Some(IDLE), ..Watch::new(limits, &activity) };
                Box::pin(self.drive(connection, http2::Connection::graceful_shutdown, watch)).await
            }
        }
    }

    /// Runs a connection to its end, and tells it when the server stops, or when nobody needs it.
    async fn drive<C: Future<Output = hyper::Result<()>>>(
        &self,
        connection: C,
        finish: fn(Pin<&mut C>),
        mut watch: Watch<'_>,
    ) -> Result<(), &'static str> {
        let mut time_to_finish = pin!(self.time_to_finish(watch.activity));
        let mut ticks = interval((watch.stall / 8).max(Duration::from_millis(10)));
        let mut connection = pin!(connection);
        let mut finishing = false;
        loop {
            tokio::select! {
                ended = connection.as_mut() => return ended.map_err(|error| reason(&error)),
                () = time_to_finish.as_mut(), if !finishing => {
                    finishing = true;
                    finish(connection.as_mut());
                }
                _ = ticks.tick() => match watch.look() {
                    Seen::Life => {}
                    Seen::Idle if finishing => {}
                    Seen::Idle => {
                        finishing = true;
                        finish(connection.as_mut());
                    }
                    Seen::Dead(reason) => return Err(reason),
                }
            }
        }
    }

    /// Ends when the server stops, and the connection has had its first request or time for it.
    async fn time_to_finish(&self, activity: &Activity) {
        let mut phases = self.phases.clone();
        let _ = phases.wait_for(|phase| *phase != Phase::Serving).await;
        let first_request = async {
            while activity.moved.load(Relaxed) == 0 {
                sleep(LOOK_AGAIN).await;
            }
        };
        let _ = timeout(FIRST_REQUEST, first_request).await;
    }
}

/// What hyper does not see: clients that stop reading a stream, and HTTP/2 connections that nobody uses.
struct Watch<'a> {
    activity: &'a Activity,
    stall: Duration,
    idle: Option<Duration>,
    /// How often something had moved, and since when that is so.
    seen: (u64, Instant),
}

enum Seen {
    Life,
    Idle,
    Dead(&'static str),
}

impl<'a> Watch<'a> {
    fn new(limits: &Limits, activity: &'a Activity) -> Self {
        Watch { activity, stall: limits.write_stall, idle: None, seen: (0, Instant::now()) }
    }

    fn look(&mut self) -> Seen {
        let still = self.still();
        if self.activity.handed.load(Relaxed) > 0 && still > self.stall {
            return Seen::Dead("stalled");
        }
        match self.idle {
            Some(idle) if self.activity.open.load(Relaxed) > 0 || still < idle => Seen::Life,
            Some(idle) if still < idle + self.stall => Seen::Idle,
            Some(_) => Seen::Dead("idle"),
            None => Seen::Life,
        }
    }
}

impl Watch<'_> {
    /// How long nothing has moved, by what was seen at each look.
    fn still(&mut self) -> Duration {
        let moved = self.activity.moved.load(Relaxed);
        if moved != self.seen.0 {
            self.seen = (moved, Instant::now());
        }
        self.seen.1.elapsed()
    }
}

fn prepare(stream: &TcpStream, limits: &Limits) {
    // An option that a system does not have is no reason to turn a client away.
    let _ = stream.set_nodelay(true);
    let socket = socket2::SockRef::from(stream);
    let _ = socket.set_tcp_user_timeout(Some(limits.write_stall));
    let _ = socket.set_tcp_keepalive(&socket2::TcpKeepalive::new().with_time(Duration::from_secs(60)));
}

/// Reads until it is clear whether this is HTTP/2: at the latest after the length of its preface.
async fn sniff(stream: &mut TcpStream) -> io::Result<(Protocol, Vec<u8>)> {
    let mut seen = Vec::with_capacity(PREFACE.len());
    while seen.len() < PREFACE.len() {
        let room = PREFACE.len() - seen.len();
        if (&mut *stream).take(room as u64).read_buf(&mut seen).await? == 0 || !PREFACE.starts_with(&seen) {
            return Ok((Protocol::Http1, seen));
        }
    }
    Ok((Protocol::Http2, seen))
}

fn http1_builder(limits: &Limits) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_headers(limits.headers)
        .max_header_size(limits.head_size)
        .max_buf_size(64 << 10);
    builder
}

fn http2_builder(limits: &Limits) -> http2::Builder<TokioExecutor> {
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits.streams)
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

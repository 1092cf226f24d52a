//! The connection to NATS: messages out, messages in, and back again after a loss.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::{self, stream};
use async_nats::{Client, ConnectOptions, Event, HeaderMap, ServerAddr};
use futures_util::StreamExt;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{Heard, Message, WAITING};
use crate::health::Health;

/// What a process hears of others.
const ALL: &str = "pidq.>";
/// Where JetStream keeps events, and which.
const STREAM: &str = "PIDQ_EVENTS";
const EVENTS: &str = "pidq.v1.>";
/// How long JetStream keeps an event that nobody fetched.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// The most of them, in bytes.
const KEPT_BYTES: i64 = 1 << 30;
/// How long an id is remembered, so that an event that is sent again is there once.
const REMEMBERED: Duration = Duration::from_secs(10 * 60);
/// How long the server may take to say that it has an event.
const PATIENCE: Duration = Duration::from_secs(2);
/// The longest time between two attempts to connect.
const RETRY: Duration = Duration::from_secs(5);

/// A URL that is none. Says nothing of it: there may be a password in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BadUrl;

impl fmt::Display for BadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "write `nats://host:4222`, `nats://user:password@host:4222` or `tls://…`, several with commas between",
        )
    }
}

impl std::error::Error for BadUrl {}

/// NATS has not got a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Undelivered;

impl fmt::Display for Undelivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NATS does not answer")
    }
}

impl std::error::Error for Undelivered {}

/// A connection that is made again whenever it is lost.
pub(super) struct Nats {
    health: Health,
    out: mpsc::Sender<Message>,
    client: watch::Receiver<Option<Client>>,
    /// Whether JetStream has our stream, as far as is known.
    has_stream: AtomicBool,
    // Ends with the connection.
    _tasks: JoinSet<()>,
}

impl Nats {
    pub fn open(urls: &str, authorities: Option<&Path>, here: broadcast::Sender<Heard>) -> Result<Nats, BadUrl> {
        let servers = servers(urls)?;
        let health = Health::of("nats", "workers look for jobs every second, and events wait");
        let (out, waiting) = mpsc::channel(WAITING);
        let (connected, client) = watch::channel(None);
        let mut options = options(&servers, &health, &here);
        if let Some(path) = authorities {
            options = options.add_root_certificates(path.to_owned());
        }
        let mut tasks = JoinSet::new();
        tasks.spawn(run(options, servers, connected, waiting, here, health.clone()));
        Ok(Nats { health, out, client, has_stream: AtomicBool::new(false), _tasks: tasks })
    }

    pub fn health(&self) -> &Health {
        &self.health
    }

    /// A message that finds no server, or too long a line before it, is lost.
    pub fn publish(&self, message: Message) {
        if self.health.is_up() {
            let _ = self.out.try_send(message);
        }
    }

    pub async fn deliver(&self, message: Message, id: &str) -> Result<(), Undelivered> {
        let client = self.client.borrow().clone().filter(|_| self.health.is_up()).ok_or(Undelivered)?;
        timeout(PATIENCE, self.delivered(&client, message, id)).await.unwrap_or(Err(Undelivered))
    }

    async fn delivered(&self, client: &Client, message: Message, id: &str) -> Result<(), Undelivered> {
        if has_streams(client) {
            return self.kept(client, message, id).await;
        }
        client.publish(message.subject, message.bytes).await.map_err(|_| Undelivered)?;
        client.flush().await.map_err(|_| Undelivered)
    }

    /// JetStream says when it has a message, and takes an id once.
    async fn kept(&self, client: &Client, message: Message, id: &str) -> Result<(), Undelivered> {
        let streams = jetstream::new(client.clone());
        if !self.has_stream.load(Ordering::Relaxed) {
            streams.get_or_create_stream(events()).await.map_err(|_| Undelivered)?;
        }
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", id);
        let sent = streams.publish_with_headers(message.subject, headers, message.bytes).await;
        let kept = sent.map_err(|_| Undelivered)?.await.is_ok();
        // A server that was set up anew has it no more: the next time it is made again.
        self.has_stream.store(kept, Ordering::Relaxed);
        if kept { Ok(()) } else { Err(Undelivered) }
    }
}

/// Whether the server has JetStream.
fn has_streams(client: &Client) -> bool {
    client.try_server_info().is_some_and(|server| server.jetstream)
}

fn events() -> stream::Config {
    stream::Config {
        name: STREAM.to_owned(),
        subjects: vec![EVENTS.to_owned()],
        max_age: KEPT,
        max_bytes: KEPT_BYTES,
        duplicate_window: REMEMBERED,
        discard: stream::DiscardPolicy::Old,
        ..stream::Config::default()
    }
}

fn servers(urls: &str) -> Result<Vec<ServerAddr>, BadUrl> {
    let servers = urls.split(',').map(str::trim).map(|url| {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme);
        let server: ServerAddr = url.parse().map_err(|_| BadUrl)?;
        let known = matches!(scheme, Some("nats" | "tls")) && !server.host().is_empty();
        if known { Ok(server) } else { Err(BadUrl) }
    });
    servers.collect()
}

fn options(servers: &[ServerAddr], health: &Health, here: &broadcast::Sender<Heard>) -> ConnectOptions {
    let (health, here, tried) = (health.clone(), here.clone(), health.clone());
    let options = ConnectOptions::new()
        .name("pidq-pipeline")
        // What is published here is heard here already.
        .no_echo()
        .retry_on_initial_connect()
        .connection_timeout(PATIENCE)
        .ping_interval(Duration::from_secs(5))
        .reconnect_delay_callback(|attempts| RETRY.min(Duration::from_millis(50 << attempts.min(8))))
        // Before each attempt: what came of the one before. It chooses no server.
        .reconnect_to_server_callback(move |servers, _| {
            if let Some(why) = servers.iter().find_map(|server| server.last_error.as_deref()) {
                tried.failed(why);
            }
            std::future::ready(None)
        })
        .event_callback(move |event| {
            match event {
                Event::Connected => {
                    health.found(true);
                    let _ = here.send(Heard::Missed);
                }
                Event::Disconnected | Event::Closed => health.found(false),
                Event::SlowConsumer(_) => drop(here.send(Heard::Missed)),
                _ => {}
            }
            std::future::ready(())
        });
    match servers.iter().find_map(|server| Some((server.username()?, server.password()))) {
        Some((user, Some(password))) => options.user_and_password(decoded(user), decoded(password)),
        Some((token, None)) => options.token(decoded(token)),
        None => options,
    }
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Connects, and then takes messages to the server and from it.
async fn run(
    options: ConnectOptions,
    servers: Vec<ServerAddr>,
    connected: watch::Sender<Option<Client>>,
    mut out: mpsc::Receiver<Message>,
    here: broadcast::Sender<Heard>,
    health: Health,
) {
    // Until the first connection nobody else says so.
    let early = async {
        sleep(PATIENCE).await;
        if !health.is_up() {
            health.found(false);
        }
        std::future::pending::<()>().await;
    };
    let client = match options.connect(servers).await {
        Ok(client) => client,
        // Certificates that cannot be read, for instance: trying again would not help.
        Err(error) => return tracing::error!(%error, "NATS cannot be used"),
    };
    let Ok(mut heard) = client.subscribe(ALL).await else { return };
    let _ = connected.send(Some(client.clone()));
    tokio::pin!(early);
    loop {
        tokio::select! {
            Some(message) = out.recv() => {
                let _ = client.publish(message.subject, message.bytes).await;
            }
            Some(message) = heard.next() => {
                let message = Message { subject: message.subject.to_string(), bytes: message.payload };
                let _ = here.send(Heard::Message(message));
            }
            () = &mut early => {}
            else => return,
        }
    }
}

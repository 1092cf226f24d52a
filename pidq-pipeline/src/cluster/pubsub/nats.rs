//! NATS connection: publishes and receives messages, and reconnects.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_nats::jetstream::{self, stream};
use async_nats::{Client, ConnectOptions, Event, HeaderMap, ServerAddr};
use futures_util::StreamExt;
use tokio::sync::{broadcast, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::{Message, QUEUE_SIZE, Received};
use crate::cluster::health::DependencyHealth;

/// Subscribed subjects.
const ALL_SUBJECTS: &str = "pidq.>";
/// JetStream stream of events, and its subjects.
const STREAM_NAME: &str = "PIDQ_EVENTS";
const EVENT_SUBJECTS: &str = "pidq.v1.>";
/// Retention of the stream.
const STREAM_MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Maximum size of the stream in bytes.
const STREAM_MAX_BYTES: i64 = 1 << 30;
/// Deduplication window of event ids.
const DEDUPLICATION_WINDOW: Duration = Duration::from_secs(10 * 60);
/// Timeout of connecting and of a publish confirmation.
const TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum delay between two connection attempts.
const MAX_RECONNECT_DELAY: Duration = Duration::from_secs(5);

/// Invalid URL. The error does not contain it, since it may include a password.
#[derive(Clone, Copy, Debug, Eq, thiserror::Error, PartialEq)]
#[error(
    "expected `nats://host:4222`, `nats://user:password@host:4222` or `tls://…`, separated by commas; in a password, special characters are encoded: `%23` for `#`"
)]
pub struct InvalidUrl;

/// A message was not confirmed by NATS.
#[derive(Clone, Copy, Debug, Eq, thiserror::Error, PartialEq)]
#[error("NATS did not confirm the message")]
pub struct PublishError;

/// Connection that reconnects automatically.
pub(super) struct Nats {
    health: DependencyHealth,
    outgoing: mpsc::Sender<Message>,
    client: watch::Receiver<Option<Client>>,
    /// True if the stream is known to exist.
    has_stream: AtomicBool,
    // Aborted when the connection is dropped.
    _tasks: JoinSet<()>,
}

impl Nats {
    pub fn open(
        urls: &str,
        root_certificates: Option<&Path>,
        local: broadcast::Sender<Received>,
    ) -> Result<Nats, InvalidUrl> {
        let servers = servers(urls)?;
        let impact = "workers poll for jobs every second, and publishing events is delayed";
        let health = DependencyHealth::new("nats", "PIDQ_NATS_URL", impact);
        let (outgoing, queued) = mpsc::channel(QUEUE_SIZE);
        let (client_sender, client) = watch::channel(None);
        let mut options = options(&servers, &health, &local);
        if let Some(path) = root_certificates {
            options = options.add_root_certificates(path.to_owned());
        }
        let mut tasks = JoinSet::new();
        tasks.spawn(run(options, servers, client_sender, queued, local, health.clone()));
        Ok(Nats { health, outgoing, client, has_stream: AtomicBool::new(false), _tasks: tasks })
    }

    pub fn health(&self) -> &DependencyHealth {
        &self.health
    }

    /// Publishes a message; it is dropped without a connection or with a full queue.
    pub fn publish(&self, message: Message) {
        if self.health.is_up() {
            let _ = self.outgoing.try_send(message);
        }
    }

    pub async fn publish_confirmed(&self, message: Message, id: &str) -> Result<(), PublishError> {
        let client = self.client.borrow().clone().filter(|_| self.health.is_up()).ok_or(PublishError)?;
        timeout(TIMEOUT, self.try_publish_confirmed(&client, message, id)).await.unwrap_or(Err(PublishError))
    }

    async fn try_publish_confirmed(&self, client: &Client, message: Message, id: &str) -> Result<(), PublishError> {
        if has_jetstream(client) {
            return self.publish_to_stream(client, message, id).await;
        }
        client.publish(message.subject, message.bytes).await.map_err(|_| PublishError)?;
        client.flush().await.map_err(|_| PublishError)
    }

    /// Publishes to JetStream, which confirms the message and deduplicates by id.
    async fn publish_to_stream(&self, client: &Client, message: Message, id: &str) -> Result<(), PublishError> {
        let streams = jetstream::new(client.clone());
        if !self.has_stream.load(Ordering::Relaxed) {
            streams.get_or_create_stream(stream_config()).await.map_err(|_| PublishError)?;
        }
        let mut headers = HeaderMap::new();
        headers.insert("Nats-Msg-Id", id);
        let sent = streams.publish_with_headers(message.subject, headers, message.bytes).await;
        let is_confirmed = sent.map_err(|_| PublishError)?.await.is_ok();
        // The stream may be missing, for example on a new server: the next call creates it again.
        self.has_stream.store(is_confirmed, Ordering::Relaxed);
        if is_confirmed { Ok(()) } else { Err(PublishError) }
    }
}

/// Returns true if the server has JetStream.
fn has_jetstream(client: &Client) -> bool {
    client.try_server_info().is_some_and(|server| server.jetstream)
}

fn stream_config() -> stream::Config {
    stream::Config {
        name: STREAM_NAME.to_owned(),
        subjects: vec![EVENT_SUBJECTS.to_owned()],
        max_age: STREAM_MAX_AGE,
        max_bytes: STREAM_MAX_BYTES,
        duplicate_window: DEDUPLICATION_WINDOW,
        discard: stream::DiscardPolicy::Old,
        ..stream::Config::default()
    }
}

fn servers(urls: &str) -> Result<Vec<ServerAddr>, InvalidUrl> {
    let servers = urls.split(',').map(str::trim).map(|url| {
        let scheme = url.split_once("://").map(|(scheme, _)| scheme);
        let server: ServerAddr = url.parse().map_err(|_| InvalidUrl)?;
        let is_valid = matches!(scheme, Some("nats" | "tls")) && !server.host().is_empty();
        if is_valid { Ok(server) } else { Err(InvalidUrl) }
    });
    servers.collect()
}

fn options(servers: &[ServerAddr], health: &DependencyHealth, local: &broadcast::Sender<Received>) -> ConnectOptions {
    let (health, local, attempts_health) = (health.clone(), local.clone(), health.clone());
    let options = ConnectOptions::new()
        .name("pidq-pipeline")
        // Published messages are already delivered locally.
        .no_echo()
        .retry_on_initial_connect()
        .connection_timeout(TIMEOUT)
        .ping_interval(Duration::from_secs(5))
        .reconnect_delay_callback(|attempts| MAX_RECONNECT_DELAY.min(Duration::from_millis(50 << attempts.min(8))))
        // Called before each attempt: records the error of the previous one. Does not choose a server.
        .reconnect_to_server_callback(move |servers, _| {
            if let Some(reason) = servers.iter().find_map(|server| server.last_error.as_deref()) {
                attempts_health.record_failure(reason);
            }
            std::future::ready(None)
        })
        .event_callback(move |event| {
            match event {
                Event::Connected => {
                    health.record(true);
                    let _ = local.send(Received::Missed);
                }
                // Not `Closed`: at the end of the process, the connection is dropped.
                Event::Disconnected => health.record(false),
                Event::SlowConsumer(_) => drop(local.send(Received::Missed)),
                _ => {}
            }
            std::future::ready(())
        });
    match servers.iter().find_map(|server| Some((server.username()?, server.password()))) {
        Some((user, Some(password))) => options.user_and_password(percent_decoded(user), percent_decoded(password)),
        Some((token, None)) => options.token(percent_decoded(token)),
        None => options,
    }
}

fn percent_decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Connects, and then forwards messages in both directions.
async fn run(
    options: ConnectOptions,
    servers: Vec<ServerAddr>,
    client_sender: watch::Sender<Option<Client>>,
    mut outgoing: mpsc::Receiver<Message>,
    local: broadcast::Sender<Received>,
    health: DependencyHealth,
) {
    // Reports an outage before the first connection, for which there is no callback.
    let report_unreachable = async {
        sleep(TIMEOUT).await;
        if !health.is_up() {
            health.record(false);
        }
        std::future::pending::<()>().await;
    };
    let client = match options.connect(servers).await {
        Ok(client) => client,
        // For example, the certificates cannot be read. A retry would not help.
        Err(error) => {
            return tracing::error!(%error, "connecting to NATS failed permanently; fix the settings and restart");
        }
    };
    let Ok(mut incoming) = client.subscribe(ALL_SUBJECTS).await else { return };
    let _ = client_sender.send(Some(client.clone()));
    tokio::pin!(report_unreachable);
    loop {
        tokio::select! {
            Some(message) = outgoing.recv() => {
                let _ = client.publish(message.subject, message.bytes).await;
            }
            Some(message) = incoming.next() => {
                let message = Message { subject: message.subject.to_string(), bytes: message.payload };
                let _ = local.send(Received::Message(message));
            }
            () = &mut report_unreachable => {}
            else => return,
        }
    }
}

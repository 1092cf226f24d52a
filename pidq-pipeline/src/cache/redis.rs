//! The connection to Redis: quick or not at all.
//!
//! A call that fails or takes too long closes the connection for everybody. While there is none, calls end at once; a
//! task of its own makes the next one. So a server that is slow or gone costs the requests of a moment one short wait.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError, ScriptInvocation, TlsCertificates};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::health::Health;

/// How long the task waits, on which no request does.
const OWN_PATIENCE: Duration = Duration::from_millis(500);
/// How often a connection that nobody uses is tried.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// The times between two attempts to connect: the first, and at most.
const RETRY: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

/// A URL that is none. Says nothing of it: there may be a password in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BadUrl;

impl fmt::Display for BadUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("write `redis://host:6379`, `redis://:password@host:6379/0`, or `rediss://…` for TLS")
    }
}

impl std::error::Error for BadUrl {}

/// A Redis server, or one that understands the same.
pub struct Redis {
    line: Arc<Line>,
    // Ends with it.
    _task: JoinSet<()>,
}

/// What requests share with the task that connects.
struct Line {
    client: Client,
    /// How long a request waits for an answer.
    patience: Duration,
    health: Health,
    open: Mutex<Option<Open>>,
    broken: Notify,
}

/// A connection, and the how-manieth it is.
#[derive(Clone)]
struct Open {
    number: u64,
    connection: MultiplexedConnection,
}

impl Redis {
    /// A server that is connected to as soon as it answers, and that no request waits for longer than this. Over TLS,
    /// these authorities (PEM) vouch for it, or those of the system.
    ///
    /// # Errors
    /// If the URL is none.
    pub fn open(url: &str, patience: Duration, authorities: Option<&[u8]>) -> Result<Redis, BadUrl> {
        let client = match authorities {
            _ if url.starts_with("redis://") => Client::open(url),
            None if url.starts_with("rediss://") => Client::open(url),
            Some(pem) if url.starts_with("rediss://") => {
                Client::build_with_tls(url, TlsCertificates { client_tls: None, root_cert: Some(pem.to_vec()) })
            }
            _ => return Err(BadUrl),
        };
        let client = client.map_err(|_| BadUrl)?;
        let health = Health::of("redis", "each process counts and remembers for itself");
        let line = Arc::new(Line { client, patience, health, open: Mutex::new(None), broken: Notify::new() });
        let mut task = JoinSet::new();
        task.spawn(keep(line.clone()));
        Ok(Redis { line, _task: task })
    }

    /// Whether it answers.
    pub fn health(&self) -> &Health {
        &self.line.health
    }

    /// What it answers to a command; none if it does not in time.
    pub async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Option<T> {
        let mut open = self.line.open().clone()?;
        let answer = timeout(self.line.patience, command.query_async(&mut open.connection)).await;
        self.line.told(&open, answer)
    }

    /// What a script gives; none if it does not in time.
    pub async fn run<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Option<T> {
        let mut open = self.line.open().clone()?;
        let answer = timeout(self.line.patience, script.invoke_async(&mut open.connection)).await;
        self.line.told(&open, answer)
    }
}

impl Line {
    fn open(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An answer, if it is one. What only says that the server will not is no reason to leave it.
    fn told<T, E>(&self, open: &Open, answer: Result<Result<T, RedisError>, E>) -> Option<T> {
        match answer {
            Ok(Ok(answer)) => Some(answer),
            Ok(Err(refused)) if refused.code().is_some() => None,
            _ => {
                self.leave(open.number);
                None
            }
        }
    }

    /// Closes a connection, if it is still the one that is open.
    fn leave(&self, number: u64) {
        let mut open = self.open();
        if open.as_ref().is_some_and(|open| open.number == number) {
            *open = None;
            self.health.found(false);
            self.broken.notify_one();
        }
    }

    async fn connect(&self) -> Result<MultiplexedConnection, String> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(OWN_PATIENCE))
            .set_response_timeout(Some(OWN_PATIENCE));
        let connecting = self.client.get_multiplexed_async_connection_with_config(&config);
        let connected = timeout(2 * OWN_PATIENCE, connecting).await.map_err(|_| "it takes too long".to_owned())?;
        let mut connection = connected.map_err(|error| error.to_string())?;
        if answers(&mut connection).await { Ok(connection) } else { Err("it does not answer".to_owned()) }
    }
}

async fn answers(connection: &mut MultiplexedConnection) -> bool {
    let ping = redis::cmd("PING");
    matches!(timeout(OWN_PATIENCE, ping.query_async::<String>(connection)).await, Ok(Ok(_)))
}

/// Connects, looks after the connection, and connects again when it is lost.
async fn keep(line: Arc<Line>) {
    let mut wait = RETRY.0;
    for number in 0.. {
        let connection = match line.connect().await {
            Ok(connection) => connection,
            Err(why) => {
                line.health.failed(&why);
                sleep(wait).await;
                wait = RETRY.1.min(2 * wait);
                continue;
            }
        };
        wait = RETRY.0;
        *line.open() = Some(Open { number, connection: connection.clone() });
        line.health.found(true);
        watch(&line, number, connection).await;
        // Whoever answers to a connection and not to what is asked is not asked at once again.
        sleep(wait).await;
    }
}

/// Until the connection is lost.
async fn watch(line: &Line, number: u64, mut connection: MultiplexedConnection) {
    while line.open().is_some() {
        tokio::select! {
            () = line.broken.notified() => {}
            () = sleep(LOOK_EVERY) => {
                if !answers(&mut connection).await {
                    line.leave(number);
                }
            }
        }
    }
}

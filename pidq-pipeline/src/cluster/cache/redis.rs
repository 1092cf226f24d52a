//! Redis connection with short timeouts.
//!
//! A failed or slow call closes the connection for all. Without a connection, calls return at once; a
//! background task reconnects. So an unavailable server costs only the concurrent requests one timeout.

use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, FromRedisValue, RedisError, Script, TlsCertificates};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::cluster::health::DependencyHealth;

/// Timeout of the background task, for which no request waits.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(500);
/// Ping interval.
const PING_INTERVAL: Duration = Duration::from_secs(2);
/// Delay between two connection attempts: first and maximum.
const RECONNECT_DELAY: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(5));

/// GCRA in Redis. A bucket is one number: the time when it will be full again, in microseconds. The clock is that of
/// Redis, so replicas need no synchronized clocks. Returns `[rejected, wait]`: the wait until the next request is
/// accepted if rejected, else until the bucket is full.
static CHARGE_SCRIPT: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"local time = redis.call('TIME')
          local now = time[1] * 1000000 + time[2]
          local one, window = tonumber(ARGV[1]), tonumber(ARGV[2])
          local after = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) + one
          if after > now + window then return {1, after - now - window} end
          redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', math.ceil((after - now) / 1000))
          return {0, after - now}",
    )
});

/// Invalid URL. The error does not contain it, since it may include a password.
#[derive(Clone, Copy, Debug, Eq, thiserror::Error, PartialEq)]
#[error(
    "expected `redis://host:6379`, `redis://:password@host:6379/0`, or `rediss://…` for TLS; in a password, special characters are encoded: `%23` for `#`"
)]
pub struct InvalidUrl;

/// Client of a Redis-compatible server.
pub struct Redis {
    state: Arc<ConnectionState>,
    // Aborted when the client is dropped.
    _task: JoinSet<()>,
}

/// State shared between requests and the connecting task.
struct ConnectionState {
    client: Client,
    /// Timeout of a request.
    request_timeout: Duration,
    health: DependencyHealth,
    open: Mutex<Option<OpenConnection>>,
    disconnected: Notify,
}

/// An open connection and its generation.
#[derive(Clone)]
struct OpenConnection {
    generation: u64,
    connection: MultiplexedConnection,
}

impl Redis {
    /// Connects in the background; the timeout applies to each request. TLS uses
    /// the given root certificates (PEM), or those of the system.
    ///
    /// # Errors
    /// If the URL is invalid.
    pub fn open(url: &str, request_timeout: Duration, root_certificates: Option<&[u8]>) -> Result<Redis, InvalidUrl> {
        let client = match root_certificates {
            _ if url.starts_with("redis://") => Client::open(url),
            None if url.starts_with("rediss://") => Client::open(url),
            Some(pem) if url.starts_with("rediss://") => {
                Client::build_with_tls(url, TlsCertificates { client_tls: None, root_cert: Some(pem.to_vec()) })
            }
            _ => return Err(InvalidUrl),
        };
        let client = client.map_err(|_| InvalidUrl)?;
        let impact = "each process has its own rate limits and caches";
        let health = DependencyHealth::new("redis", "PIDQ_REDIS_URL", impact);
        let state = Arc::new(ConnectionState {
            client,
            request_timeout,
            health,
            open: Mutex::new(None),
            disconnected: Notify::new(),
        });
        let mut task = JoinSet::new();
        task.spawn(maintain_connection(state.clone()));
        Ok(Redis { state, _task: task })
    }

    /// Returns the health of the connection.
    pub fn health(&self) -> &DependencyHealth {
        &self.state.health
    }

    /// Returns the value of a key, if there is one; none on an error or timeout.
    pub async fn get(&self, key: &str) -> Option<Option<String>> {
        self.query(redis::cmd("GET").arg(key)).await
    }

    /// Sets the value of a key for a time. Errors and timeouts are ignored.
    pub async fn set(&self, key: &str, value: &str, ttl: Duration) {
        let mut set = redis::cmd("SET");
        set.arg(key).arg(value).arg("PX").arg(u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
        let _: Option<()> = self.query(&set).await;
    }

    /// Charges a request to a bucket that gains one request per `interval` and holds the requests of a `window`. Returns
    /// whether the request is rejected, and the wait until the next request is accepted if so, else until the bucket is
    /// full. None on an error or timeout.
    pub async fn charge(&self, key: &str, interval: Duration, window: Duration) -> Option<(bool, Duration)> {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let mut script = CHARGE_SCRIPT.key(key);
        script.arg(micros(interval)).arg(micros(window));
        let mut open = self.state.open().clone()?;
        let reply = timeout(self.state.request_timeout, script.invoke_async(&mut open.connection)).await;
        let (rejected, wait): (u8, u64) = self.state.check_reply(&open, reply)?;
        Some((rejected == 1, Duration::from_micros(wait)))
    }

    /// Runs a command; none on an error or timeout.
    async fn query<T: FromRedisValue>(&self, command: &Cmd) -> Option<T> {
        let mut open = self.state.open().clone()?;
        let reply = timeout(self.state.request_timeout, command.query_async(&mut open.connection)).await;
        self.state.check_reply(&open, reply)
    }
}

impl ConnectionState {
    fn open(&self) -> MutexGuard<'_, Option<OpenConnection>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a successful reply. An error reply leaves the connection open; other failures close it.
    fn check_reply<T, E>(&self, open: &OpenConnection, reply: Result<Result<T, RedisError>, E>) -> Option<T> {
        match reply {
            Ok(Ok(reply)) => Some(reply),
            Ok(Err(error)) if error.code().is_some() => None,
            _ => {
                self.close(open.generation);
                None
            }
        }
    }

    /// Closes the connection of a generation, if it is still open.
    fn close(&self, generation: u64) {
        let mut open = self.open();
        if open.as_ref().is_some_and(|open| open.generation == generation) {
            *open = None;
            self.health.record(false);
            self.disconnected.notify_one();
        }
    }

    async fn connect(&self) -> Result<MultiplexedConnection, String> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_TIMEOUT))
            .set_response_timeout(Some(CONNECT_TIMEOUT));
        let connecting = self.client.get_multiplexed_async_connection_with_config(&config);
        let connected =
            timeout(2 * CONNECT_TIMEOUT, connecting).await.map_err(|_| "connection timed out".to_owned())?;
        let mut connection = connected.map_err(|error| error.to_string())?;
        if responds(&mut connection).await { Ok(connection) } else { Err("no reply".to_owned()) }
    }
}

async fn responds(connection: &mut MultiplexedConnection) -> bool {
    let ping = redis::cmd("PING");
    matches!(timeout(CONNECT_TIMEOUT, ping.query_async::<String>(connection)).await, Ok(Ok(_)))
}

/// Connects, monitors the connection, and reconnects.
async fn maintain_connection(state: Arc<ConnectionState>) {
    let mut delay = RECONNECT_DELAY.0;
    for generation in 0.. {
        let connection = match state.connect().await {
            Ok(connection) => connection,
            Err(reason) => {
                state.health.record_failure(&reason);
                sleep(delay).await;
                delay = RECONNECT_DELAY.1.min(2 * delay);
                continue;
            }
        };
        delay = RECONNECT_DELAY.0;
        *state.open() = Some(OpenConnection { generation, connection: connection.clone() });
        state.health.record(true);
        watch(&state, generation, connection).await;
        // Delays the reconnection to a server that accepts connections but fails commands.
        sleep(delay).await;
    }
}

/// Monitors the connection until it is lost.
async fn watch(state: &ConnectionState, generation: u64, mut connection: MultiplexedConnection) {
    while state.open().is_some() {
        tokio::select! {
            () = state.disconnected.notified() => {}
            () = sleep(PING_INTERVAL) => {
                if !responds(&mut connection).await {
                    state.close(generation);
                }
            }
        }
    }
}

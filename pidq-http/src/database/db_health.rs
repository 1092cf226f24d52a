//! PostgreSQL pool with a health probe: while the server is down, callers fail immediately.
//!
//! A pool returns no connection when the server is down, and also when all connections are in use. So a caller that
//! waits longer than `PROBE_DELAY` starts a probe with a connection outside the pool. At most one probe runs, and
//! only until the server responds.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::pool::PoolOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, Error, Pool, Postgres, Transaction};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::DatabaseError;

/// Timeout for acquiring a connection.
pub(super) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Wait for a connection after which a probe starts.
const PROBE_DELAY: Duration = Duration::from_millis(500);
/// Connection timeout of a probe, and the interval between probes.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
const PROBE_INTERVAL: Duration = Duration::from_millis(250);
/// `cannot_connect_now`: the server starts or stops.
const CANNOT_CONNECT_NOW: &str = "57P03";

/// PostgreSQL connection pool with a health probe.
pub struct PostgresPool {
    pub(super) pool: Pool<Postgres>,
    options: PgConnectOptions,
    is_down: watch::Sender<bool>,
    // The probe ends with the pool.
    probe: Mutex<JoinSet<()>>,
}

impl PostgresPool {
    /// Connects with at most this number of connections.
    ///
    /// # Errors
    ///
    /// Fails if the server does not respond or rejects the connection.
    pub async fn open(options: PgConnectOptions, connections: u32) -> Result<PostgresPool, DatabaseError> {
        let failure = |error| DatabaseError::cannot_connect(&options, &error);
        // A first connection returns the actual error. A pool would only time out.
        first_connection(&options).await.map_err(failure)?;
        let pool = PoolOptions::new().max_connections(connections).acquire_timeout(ACQUIRE_TIMEOUT);
        let pool = pool.connect_with(options.clone()).await.map_err(failure)?;
        Ok(PostgresPool { pool, options, is_down: watch::Sender::new(false), probe: Mutex::default() })
    }

    /// Acquires a connection.
    ///
    /// # Errors
    ///
    /// [`DatabaseError::Unavailable`] immediately while the server is down; otherwise the pool's error.
    pub async fn connection(&self) -> Result<sqlx::pool::PoolConnection<Postgres>, DatabaseError> {
        self.unless_down(self.pool.acquire()).await
    }

    /// Begins a transaction.
    ///
    /// # Errors
    ///
    /// As [`PostgresPool::connection`].
    pub async fn begin(&self) -> Result<Transaction<'static, Postgres>, DatabaseError> {
        self.unless_down(self.pool.begin()).await
    }

    /// Begins a transaction with a custom statement.
    pub(super) async fn begin_with(&self, sql: &'static str) -> Result<Transaction<'static, Postgres>, DatabaseError> {
        self.unless_down(self.pool.begin_with(sql)).await
    }

    /// Converts the outcome of a statement, and starts a probe if the connection failed.
    pub(super) fn probe_on_failure<T>(&self, outcome: Result<T, Error>) -> Result<T, DatabaseError> {
        if matches!(outcome, Err(Error::Io(_) | Error::PoolTimedOut)) {
            self.start_probe();
        }
        Ok(outcome?)
    }

    async fn unless_down<T>(&self, connected: impl Future<Output = Result<T, Error>>) -> Result<T, DatabaseError> {
        let mut down = self.is_down.subscribe();
        if *down.borrow_and_update() {
            // The previous probe may have ended.
            self.start_probe();
            return Err(DatabaseError::Unavailable);
        }
        let mut connected = std::pin::pin!(connected);
        tokio::select! {
            outcome = &mut connected => return self.probe_on_failure(outcome),
            _ = down.wait_for(|down| *down) => return Err(DatabaseError::Unavailable),
            () = sleep(PROBE_DELAY) => self.start_probe(),
        }
        tokio::select! {
            outcome = connected => self.probe_on_failure(outcome),
            _ = down.wait_for(|down| *down) => Err(DatabaseError::Unavailable),
        }
    }

    /// Starts a probe of the server, unless one is running. Call it after a failed connection.
    pub fn start_probe(&self) {
        let mut probe = self.probe.lock().unwrap_or_else(PoisonError::into_inner);
        while probe.try_join_next().is_some() {}
        if probe.is_empty() {
            probe.spawn(probe_until_up(self.options.clone(), self.is_down.clone()));
        }
    }
}

impl std::fmt::Debug for PostgresPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The options contain a password.
        f.debug_struct("PostgresPool").field("pool", &self.pool).finish_non_exhaustive()
    }
}

async fn probe_until_up(options: PgConnectOptions, is_down: watch::Sender<bool>) {
    loop {
        let is_unreachable = is_unreachable(&options).await;
        let changed = is_down.send_if_modified(|known| std::mem::replace(known, is_unreachable) != is_unreachable);
        match (changed, is_unreachable) {
            (true, true) => tracing::warn!("the database does not respond"),
            (true, false) => tracing::info!("the database responds again"),
            _ => {}
        }
        if !is_unreachable {
            return;
        }
        sleep(PROBE_INTERVAL).await;
    }
}

/// Connects once, retrying while the server starts, up to the acquire timeout.
async fn first_connection(options: &PgConnectOptions) -> Result<(), Error> {
    let started_at = Instant::now();
    loop {
        match timeout(ACQUIRE_TIMEOUT, options.connect()).await.unwrap_or(Err(Error::PoolTimedOut)) {
            Ok(connection) => {
                let _ = connection.close().await;
                return Ok(());
            }
            Err(error) if started_at.elapsed() >= ACQUIRE_TIMEOUT || !is_transient(&error) => return Err(error),
            Err(_) => sleep(PROBE_INTERVAL).await,
        }
    }
}

/// Returns whether an error is transient: the server is unreachable or starting.
fn is_transient(error: &Error) -> bool {
    match error {
        Error::Io(_) => true,
        Error::Database(error) => error.code().as_deref() == Some(CANNOT_CONNECT_NOW),
        _ => false,
    }
}

/// Returns whether the server is unreachable. A server that rejects the connection for another reason is up.
async fn is_unreachable(options: &PgConnectOptions) -> bool {
    match timeout(PROBE_TIMEOUT, options.connect()).await {
        Ok(Ok(connection)) => {
            // The result of the close does not matter.
            let _ = connection.close().await;
            false
        }
        Ok(Err(Error::Database(error))) => error.code().as_deref() == Some(CANNOT_CONNECT_NOW),
        Ok(Err(_)) | Err(_) => true,
    }
}

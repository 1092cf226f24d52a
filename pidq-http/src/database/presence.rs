//! Whether a server of PostgreSQL is there: once it is known to be gone, callers are told at once, until it is back.
//!
//! A pool gives nothing when the server is gone, and also when all connections are in use. So whoever waits longer than
//! usual has somebody look, with a connection that is none of the pool's. Only one looks, and not longer than needed.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use sqlx::pool::PoolOptions;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection, Error, Pool, Postgres, Transaction};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use super::DatabaseError;
use super::connect::WAIT;

/// How long a caller waits for a connection before somebody looks.
const SOON: Duration = Duration::from_millis(500);
/// How long somebody who looks waits for an answer, and between two looks.
const LOOK: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(250);
/// `cannot_connect_now`: it starts or ends just now.
const NOT_NOW: &str = "57P03";

/// A server of PostgreSQL with the connections to it.
pub struct Server {
    pub(super) pool: Pool<Postgres>,
    options: PgConnectOptions,
    gone: watch::Sender<bool>,
    // Whoever looks ends with the server.
    looking: Mutex<JoinSet<()>>,
}

impl Server {
    /// Connects to a server, with so many connections at most.
    ///
    /// # Errors
    /// If it does not answer, or lets nobody in.
    pub async fn open(options: PgConnectOptions, connections: u32) -> Result<Server, Error> {
        // The first one tells why there is none. A pool would only say that it took too long.
        first_connection(&options).await?;
        let pool = PoolOptions::new().max_connections(connections).acquire_timeout(WAIT);
        let pool = pool.connect_with(options.clone()).await?;
        Ok(Server { pool, options, gone: watch::Sender::new(false), looking: Mutex::default() })
    }

    /// A connection, as soon as one is free.
    ///
    /// # Errors
    /// [`DatabaseError::Gone`] at once while nobody answers; else what the pool says.
    pub async fn connection(&self) -> Result<sqlx::pool::PoolConnection<Postgres>, DatabaseError> {
        self.unless_gone(self.pool.acquire()).await
    }

    /// A transaction, as soon as a connection is free.
    ///
    /// # Errors
    /// As [`Server::connection`].
    pub async fn begin(&self) -> Result<Transaction<'static, Postgres>, DatabaseError> {
        self.unless_gone(self.pool.begin()).await
    }

    /// The same with another beginning.
    pub(super) async fn begin_with(&self, sql: &'static str) -> Result<Transaction<'static, Postgres>, DatabaseError> {
        self.unless_gone(self.pool.begin_with(sql)).await
    }

    /// What a statement gave. One that broke off has somebody look.
    pub(super) fn saw<T>(&self, outcome: Result<T, Error>) -> Result<T, DatabaseError> {
        if matches!(outcome, Err(Error::Io(_) | Error::PoolTimedOut)) {
            self.look();
        }
        Ok(outcome?)
    }

    async fn unless_gone<T>(&self, connected: impl Future<Output = Result<T, Error>>) -> Result<T, DatabaseError> {
        let mut gone = self.gone.subscribe();
        if *gone.borrow_and_update() {
            // Should whoever looked have ended, somebody else does.
            self.look();
            return Err(DatabaseError::Gone);
        }
        let mut connected = std::pin::pin!(connected);
        tokio::select! {
            outcome = &mut connected => return self.saw(outcome),
            _ = gone.wait_for(|gone| *gone) => return Err(DatabaseError::Gone),
            () = sleep(SOON) => self.look(),
        }
        tokio::select! {
            outcome = connected => self.saw(outcome),
            _ = gone.wait_for(|gone| *gone) => Err(DatabaseError::Gone),
        }
    }

    /// Has somebody look whether the server is still there. For whoever saw a statement break off.
    pub fn look(&self) {
        let mut looking = self.looking.lock().unwrap_or_else(PoisonError::into_inner);
        while looking.try_join_next().is_some() {}
        if looking.is_empty() {
            looking.spawn(look_until_there(self.options.clone(), self.gone.clone()));
        }
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The options have a password.
        f.debug_struct("Server").field("pool", &self.pool).finish_non_exhaustive()
    }
}

async fn look_until_there(options: PgConnectOptions, gone: watch::Sender<bool>) {
    loop {
        let is_gone = is_gone(&options).await;
        let changed = gone.send_if_modified(|known| std::mem::replace(known, is_gone) != is_gone);
        match (changed, is_gone) {
            (true, true) => tracing::warn!("the database does not answer"),
            (true, false) => tracing::info!("the database answers again"),
            _ => {}
        }
        if !is_gone {
            return;
        }
        sleep(AGAIN).await;
    }
}

/// Waits for a server that starts at the same time, and no longer than for any connection.
async fn first_connection(options: &PgConnectOptions) -> Result<(), Error> {
    let begun = Instant::now();
    loop {
        match timeout(WAIT, options.connect()).await.unwrap_or(Err(Error::PoolTimedOut)) {
            Ok(connection) => {
                let _ = connection.close().await;
                return Ok(());
            }
            Err(error) if begun.elapsed() >= WAIT || !may_pass(&error) => return Err(error),
            Err(_) => sleep(AGAIN).await,
        }
    }
}

/// Whether it may be another answer in a moment: nobody is there, or somebody who starts.
fn may_pass(error: &Error) -> bool {
    match error {
        Error::Io(_) => true,
        Error::Database(refusal) => refusal.code().as_deref() == Some(NOT_NOW),
        _ => false,
    }
}

/// Whether nobody answers. A server that refuses one more connection is there for those that it has.
async fn is_gone(options: &PgConnectOptions) -> bool {
    match timeout(LOOK, options.connect()).await {
        Ok(Ok(connection)) => {
            // It has served its purpose, however it ends.
            let _ = connection.close().await;
            false
        }
        Ok(Err(Error::Database(refusal))) => refusal.code().as_deref() == Some(NOT_NOW),
        Ok(Err(_)) | Err(_) => true,
    }
}

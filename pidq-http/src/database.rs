//! SQL database by URL: SQLite in one file by default, PostgreSQL for several replicas.
//!
//! Statements are constants in the common SQL of both databases, with `$1`, `$2` … for arguments. Where they must
//! differ, the caller checks [`Database::kind`].

mod connect;
mod copy;
mod db_health;
mod migrate;
mod statement;
mod write_probe;

use std::fmt;
use std::sync::Arc;

use sqlx::postgres::PgConnectOptions;
use sqlx::{Pool, Sqlite};
use write_probe::WriteProbe;

pub use connect::{STATEMENT_TIMEOUT, postgres_options};
pub use db_health::PostgresPool;
pub use migrate::Migration;
pub use statement::{Arg, QueryFuture, Row, Rows, Transaction};

/// Open database. Clones share its connections.
#[derive(Clone)]
pub struct Database(Pools);

#[derive(Clone)]
enum Pools {
    /// SQLite has one writer at a time. A single connection with a queue is fairer than many that collide.
    Sqlite {
        readers: Pool<Sqlite>,
        writer: Pool<Sqlite>,
        probe: Arc<WriteProbe>,
    },
    Postgres(Arc<PostgresPool>),
}

/// Statement that returns 1 if PostgreSQL accepts writes.
const IS_WRITABLE: &str =
    "select cast(case current_setting('transaction_read_only') when 'off' then 1 else 0 end as bigint)";

/// Kind of a database.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DatabaseKind {
    /// SQLite: one file, one process.
    Sqlite,
    /// PostgreSQL: a server for several processes.
    Postgres,
}

impl Database {
    /// Opens `sqlite:data/pidq.db`, `sqlite::memory:` or `postgres://user:password@host/name`.
    ///
    /// A missing SQLite file and its directory are created, accessible only by the owner.
    pub async fn open(url: &str) -> Result<Database, DatabaseError> {
        connect::open(url, true).await.map(Database)
    }

    /// Opens a database like [`Database::open`]; PostgreSQL cancels statements after a minute, so that no request
    /// waits longer for a lock.
    pub async fn open_with_statement_timeout(url: &str) -> Result<Database, DatabaseError> {
        connect::open(url, false).await.map(Database)
    }

    /// Returns the kind of the database.
    pub fn kind(&self) -> DatabaseKind {
        match self.0 {
            Pools::Sqlite { .. } => DatabaseKind::Sqlite,
            Pools::Postgres(_) => DatabaseKind::Postgres,
        }
    }

    /// Returns whether the database responds.
    pub async fn is_reachable(&self) -> bool {
        self.rows::<(i64,)>("select cast(1 as bigint)", &[]).await.is_ok()
    }

    /// Returns whether the database accepts writes. A PostgreSQL standby does not, nor a server set to read-only, nor
    /// SQLite on a full disk.
    pub async fn is_writable(&self) -> Result<bool, DatabaseError> {
        match &self.0 {
            Pools::Sqlite { writer, probe, .. } => probe.is_writable(writer).await,
            Pools::Postgres(_) => Ok(self.row::<(i64,)>(IS_WRITABLE, &[]).await?.is_some_and(|row| row.0 == 1)),
        }
    }

    /// Waits for running statements and closes all connections.
    pub async fn close(&self) {
        match &self.0 {
            Pools::Sqlite { readers, writer, .. } => {
                readers.close().await;
                writer.close().await;
            }
            Pools::Postgres(server) => server.pool.close().await,
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Database({:?})", self.kind())
    }
}

/// Database error. Never contains a URL, which may hold a password.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The URL is invalid or unsupported.
    #[error("{0}")]
    Url(String),
    /// The database cannot be opened.
    #[error("{0}")]
    Open(String),
    /// The database server does not respond.
    #[error("the database does not respond")]
    Unavailable,
    /// A statement failed.
    #[error("the database rejected a statement: {}", reason(.0))]
    Statement(#[from] sqlx::Error),
    /// The schema was created by a newer pidq.
    #[error("the tables of `{component}` have version {version}, which is newer than this pidq: update pidq")]
    Newer {
        /// Component that owns the tables.
        component: &'static str,
        /// Version found.
        version: i64,
    },
}

/// Returns the reason of an error, without the place in the source text of the server that raised it.
fn reason(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

impl DatabaseError {
    /// Error of a connection that cannot be opened: names the server and the database, but no password.
    fn cannot_connect(options: &PgConnectOptions, error: &sqlx::Error) -> DatabaseError {
        let database = options.get_database().unwrap_or(options.get_username());
        let (host, port) = (options.get_host(), options.get_port());
        DatabaseError::Open(format!(
            "cannot connect to the database `{database}` of PostgreSQL at {host}:{port}: {}",
            reason(error)
        ))
    }

    /// Returns whether a row with the same key exists.
    pub fn is_duplicate(&self) -> bool {
        matches!(self, DatabaseError::Statement(sqlx::Error::Database(error)) if error.is_unique_violation())
    }

    /// Returns whether the database rolled back a deadlocked transaction; a retry may succeed.
    pub fn is_deadlock(&self) -> bool {
        // `serialization_failure` and `deadlock_detected` of PostgreSQL.
        self.has_code(&["40001", "40P01"])
    }

    /// Returns whether a string contains a character the database cannot store: PostgreSQL rejects NUL.
    pub fn is_invalid_text(&self) -> bool {
        self.has_code(&["22021"])
    }

    /// Returns whether the disk is full: SQLite code 13, PostgreSQL code 53100.
    pub fn is_full(&self) -> bool {
        self.has_code(&["13", "53100"])
    }

    fn has_code(&self, codes: &[&str]) -> bool {
        match self {
            DatabaseError::Statement(sqlx::Error::Database(error)) => {
                error.code().is_some_and(|code| codes.contains(&code.as_ref()))
            }
            _ => false,
        }
    }
}

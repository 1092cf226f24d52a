//! URL → SQL database: SQLite in one file by default, PostgreSQL where several replicas share one.
//!
//! Statements are constants that both databases understand, with `$1`, `$2` … for their arguments. Where the two must
//! differ, the caller asks [`Database::kind`].

mod connect;
mod migrate;
mod presence;
mod statement;

use std::fmt;
use std::sync::Arc;

use sqlx::{Pool, Sqlite};

pub use connect::{IMPATIENT, postgres_options};
pub use migrate::Migration;
pub use presence::Server;
pub use statement::{Answer, Arg, Row, Rows, Transaction};

/// An open database. Clones share its connections.
#[derive(Clone)]
pub struct Database(Pools);

#[derive(Clone)]
enum Pools {
    /// SQLite has one writer at a time. One connection that waits its turn in line is fairer than many that collide.
    Sqlite {
        readers: Pool<Sqlite>,
        writer: Pool<Sqlite>,
    },
    Postgres(Arc<Server>),
}

/// Which database a URL named.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// One file, one process.
    Sqlite,
    /// A server that several processes share.
    Postgres,
}

impl Database {
    /// Opens `sqlite:data/pidq.db`, `sqlite::memory:` or `postgres://user:password@host/name`.
    ///
    /// A SQLite file that is missing is made, readable by its owner alone, and so is its folder.
    pub async fn open(url: &str) -> Result<Database, DatabaseError> {
        connect::open(url, true).await.map(Database)
    }

    /// As [`Database::open`]; on a server no statement takes longer than a minute, so that no request waits longer for the
    /// lock of another.
    pub async fn open_impatient(url: &str) -> Result<Database, DatabaseError> {
        connect::open(url, false).await.map(Database)
    }

    /// Which database this is.
    pub fn kind(&self) -> Kind {
        match self.0 {
            Pools::Sqlite { .. } => Kind::Sqlite,
            Pools::Postgres(_) => Kind::Postgres,
        }
    }

    /// Whether the database answers now.
    pub async fn is_reachable(&self) -> bool {
        self.rows::<(i64,)>("select cast(1 as bigint)", &[]).await.is_ok()
    }

    /// Whether the database takes writes now. A server that follows another one does not, nor one that was told so.
    pub async fn takes_writes(&self) -> Result<bool, DatabaseError> {
        let sql = match self.kind() {
            Kind::Sqlite => "select cast(1 as bigint)",
            Kind::Postgres => {
                "select cast(case current_setting('transaction_read_only') when 'off' then 1 else 0 end as bigint)"
            }
        };
        Ok(self.row::<(i64,)>(sql, &[]).await?.is_some_and(|row| row.0 == 1))
    }

    /// Waits for running statements and closes all connections.
    pub async fn close(&self) {
        match &self.0 {
            Pools::Sqlite { readers, writer } => {
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

/// What can go wrong with a database. Never shows a URL, which may hold a password.
#[derive(Debug)]
pub enum DatabaseError {
    /// The URL is not one that pidq understands.
    Url(String),
    /// The database cannot be opened.
    Open(String),
    /// Nobody answers where the database was.
    Gone,
    /// A statement failed.
    Statement(sqlx::Error),
    /// The database was made by a newer pidq.
    Newer {
        /// Whose tables.
        room: &'static str,
        /// The version found.
        version: i64,
    },
}

impl DatabaseError {
    /// Whether a row with the same key is there already.
    pub fn is_duplicate(&self) -> bool {
        matches!(self, DatabaseError::Statement(sqlx::Error::Database(error)) if error.is_unique_violation())
    }

    /// Whether the database ended a transaction because two of them waited for each other. The same may succeed now.
    pub fn is_deadlock(&self) -> bool {
        // `serialization_failure` and `deadlock_detected` of PostgreSQL.
        self.has_code(&["40001", "40P01"])
    }

    /// Whether a text has a character that this database stores none of: PostgreSQL takes no NUL.
    pub fn is_text_refused(&self) -> bool {
        self.has_code(&["22021"])
    }

    /// Whether the disk is full: SQLite says 13, PostgreSQL 53100.
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

impl From<sqlx::Error> for DatabaseError {
    fn from(error: sqlx::Error) -> DatabaseError {
        DatabaseError::Statement(error)
    }
}

impl fmt::Display for DatabaseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseError::Url(what) | DatabaseError::Open(what) => f.write_str(what),
            DatabaseError::Gone => f.write_str("the database does not answer"),
            DatabaseError::Statement(error) => write!(f, "the database refused a statement: {error}"),
            DatabaseError::Newer { room, version } => {
                write!(f, "the tables of `{room}` are of version {version}, which this pidq does not know: update pidq")
            }
        }
    }
}

impl std::error::Error for DatabaseError {}

//! Statements and transactions, the same for both databases.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Postgres, Sqlite};

use super::{Database, DatabaseError, Pools, Server};

/// An argument of a statement.
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    /// A number, a time in milliseconds, or 0 and 1.
    Int(Option<i64>),
    /// A text.
    Text(Option<&'a str>),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl From<i64> for Arg<'_> {
    fn from(value: i64) -> Self {
        Arg::Int(Some(value))
    }
}

impl From<Option<i64>> for Arg<'_> {
    fn from(value: Option<i64>) -> Self {
        Arg::Int(value)
    }
}

impl<'a> From<&'a str> for Arg<'a> {
    fn from(value: &'a str) -> Self {
        Arg::Text(Some(value))
    }
}

impl<'a> From<&'a String> for Arg<'a> {
    fn from(value: &'a String) -> Self {
        Arg::Text(Some(value))
    }
}

impl<'a> From<Option<&'a str>> for Arg<'a> {
    fn from(value: Option<&'a str>) -> Self {
        Arg::Text(value)
    }
}

impl<'a> From<&'a [u8]> for Arg<'a> {
    fn from(value: &'a [u8]) -> Self {
        Arg::Bytes(value)
    }
}

/// What a statement gives. What runs it is large: in a box, a future that may come to a statement stays small.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, DatabaseError>> + Send + 'a>>;

/// A row that both databases can give: tuples of `i64`, `String`, `Vec<u8>` and options of them.
pub trait Row: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

impl<T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin> Row for T {}

macro_rules! bound {
    ($query:expr, $args:expr) => {{
        let mut query = $query;
        for arg in $args {
            query = match *arg {
                Arg::Int(value) => query.bind(value),
                Arg::Text(value) => query.bind(value),
                Arg::Bytes(value) => query.bind(value),
            };
        }
        query
    }};
}

/// Runs a statement on a connection of either database, and gives what both give.
macro_rules! run {
    ($pools:expr, $pool:ident, $query:expr, $run:ident $(, $then:ident)?) => {
        Ok(match $pools {
            Pools::Sqlite { $pool, .. } => $query.$run($pool).await?$(.$then())?,
            Pools::Postgres(server) => {
                let mut connection = server.connection().await?;
                server.saw($query.$run(&mut *connection).await)?$(.$then())?
            }
        })
    };
}

/// The same within a transaction.
macro_rules! run_within {
    ($transaction:expr, $query:expr, $run:ident $(, $then:ident)?) => {
        Ok(match $transaction {
            Transaction::Sqlite(tx) => $query.$run(&mut **tx).await?$(.$then())?,
            Transaction::Postgres(tx, server) => server.saw($query.$run(&mut **tx).await)?$(.$then())?,
        })
    };
}

impl Database {
    /// Runs a statement that changes something; gives the number of rows changed.
    pub fn execute<'a>(&'a self, sql: &'static str, args: &'a [Arg<'a>]) -> Answer<'a, u64> {
        Box::pin(async move { run!(&self.0, writer, bound!(sqlx::query(sql), args), execute, rows_affected) })
    }

    /// All rows of a statement that only reads.
    pub fn rows<'a, T: Row + 'a>(&'a self, sql: &'static str, args: &'a [Arg<'a>]) -> Answer<'a, Vec<T>> {
        Box::pin(async move { run!(&self.0, readers, bound!(sqlx::query_as(sql), args), fetch_all) })
    }

    /// The rows of a statement that only reads, one after the other. They are as of one moment, and a connection is
    /// taken as long as they are read.
    pub fn stream<'a, T: Row + 'a>(&'a self, sql: &'static str, args: &'a [Arg<'a>]) -> Rows<'a, T> {
        Rows(match &self.0 {
            Pools::Sqlite { readers, .. } => bound!(sqlx::query_as(sql), args).fetch(readers),
            Pools::Postgres(server) => bound!(sqlx::query_as(sql), args).fetch(&server.pool),
        })
    }

    /// The first row of a statement that only reads.
    pub fn row<'a, T: Row + 'a>(&'a self, sql: &'static str, args: &'a [Arg<'a>]) -> Answer<'a, Option<T>> {
        Box::pin(async move { run!(&self.0, readers, bound!(sqlx::query_as(sql), args), fetch_optional) })
    }

    /// Begins a transaction that will write. Dropped without [`Transaction::commit`], it never was.
    pub fn begin(&self) -> Answer<'_, Transaction> {
        Box::pin(async move {
            Ok(match &self.0 {
                Pools::Sqlite { writer, .. } => Transaction::Sqlite(writer.begin_with("begin immediate").await?),
                Pools::Postgres(server) => Transaction::Postgres(server.begin().await?, server.clone()),
            })
        })
    }

    /// Begins a transaction that nobody waits for the disk for, for what is said and not promised: a loss of power may
    /// take it back, with all that came after it, unless something came after it that was waited for.
    pub fn begin_lightly(&self) -> Answer<'_, Transaction> {
        Box::pin(async move {
            Ok(match &self.0 {
                Pools::Sqlite { writer, .. } => Transaction::Sqlite(writer.begin_with(LIGHTLY_SQLITE).await?),
                Pools::Postgres(server) => {
                    Transaction::Postgres(server.begin_with(LIGHTLY_POSTGRES).await?, server.clone())
                }
            })
        })
    }
}

/// Not waiting for the disk at the end. What a connection of SQLite is told stays, until its pool takes it back.
const LIGHTLY_SQLITE: &str = "pragma synchronous = normal; begin immediate";
const LIGHTLY_POSTGRES: &str = "begin; set local synchronous_commit to off";

/// Rows on their way.
pub struct Rows<'a, T>(Pin<Box<dyn Stream<Item = Result<T, sqlx::Error>> + Send + 'a>>);

impl<T> Rows<'_, T> {
    /// The next row, or none at the end.
    pub async fn next(&mut self) -> Result<Option<T>, DatabaseError> {
        Ok(poll_fn(|cx| self.0.as_mut().poll_next(cx)).await.transpose()?)
    }
}

/// Several statements that happen together or not at all.
pub enum Transaction {
    #[doc(hidden)]
    Sqlite(sqlx::Transaction<'static, Sqlite>),
    #[doc(hidden)]
    Postgres(sqlx::Transaction<'static, Postgres>, Arc<Server>),
}

impl Transaction {
    /// Runs a statement that changes something; gives the number of rows changed.
    pub fn execute<'a>(&'a mut self, sql: &'static str, args: &'a [Arg<'a>]) -> Answer<'a, u64> {
        Box::pin(async move { run_within!(self, bound!(sqlx::query(sql), args), execute, rows_affected) })
    }

    /// The first row of a statement.
    pub fn row<'a, T: Row + 'a>(&'a mut self, sql: &'static str, args: &'a [Arg<'a>]) -> Answer<'a, Option<T>> {
        Box::pin(async move { run_within!(self, bound!(sqlx::query_as(sql), args), fetch_optional) })
    }

    /// All rows of a statement.
    pub fn rows<'a, T: Row + 'a>(&'a mut self, sql: &'static str, args: &'a [Arg<'a>]) -> Answer<'a, Vec<T>> {
        Box::pin(async move { run_within!(self, bound!(sqlx::query_as(sql), args), fetch_all) })
    }

    /// Runs the statements of a migration: several, without arguments.
    pub(super) async fn run_all(&mut self, sql: &'static str) -> Result<(), DatabaseError> {
        run_within!(self, sqlx::raw_sql(sql), execute, rows_affected).map(drop::<u64>)
    }

    /// Makes the changes last.
    pub fn commit(self) -> Answer<'static, ()> {
        Box::pin(async move {
            match self {
                Transaction::Sqlite(tx) => Ok(tx.commit().await?),
                Transaction::Postgres(tx, server) => server.saw(tx.commit().await),
            }
        })
    }
}

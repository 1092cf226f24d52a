//! Statements and transactions with the same interface for both databases.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use futures_core::Stream;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Postgres, Sqlite};

use super::{Database, DatabaseError, Pools, PostgresPool};

/// Argument of a statement.
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    /// Integer: a number, a time in milliseconds, or 0 and 1.
    Int(Option<i64>),
    /// String.
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

/// Boxed future of a statement. The inner future is large; boxing keeps the futures of callers small.
pub type QueryFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, DatabaseError>> + Send + 'a>>;

/// Row type of both databases: tuples of `i64`, `String`, `Vec<u8>` and options of them.
pub trait Row: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin {}

impl<T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin> Row for T {}

/// Binds the arguments of a query.
macro_rules! bind_args {
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

/// Runs a statement on a connection of either database.
macro_rules! run {
    ($pools:expr, $pool:ident, $query:expr, $run:ident $(, $then:ident)?) => {
        Ok(match $pools {
            Pools::Sqlite { $pool, .. } => $query.$run($pool).await?$(.$then())?,
            Pools::Postgres(server) => {
                let mut connection = server.connection().await?;
                server.probe_on_failure($query.$run(&mut *connection).await)?$(.$then())?
            }
        })
    };
}

/// Runs a statement within a transaction of either database.
macro_rules! run_within {
    ($transaction:expr, $query:expr, $run:ident $(, $then:ident)?) => {
        Ok(match $transaction {
            Transaction::Sqlite(tx) => $query.$run(&mut **tx).await?$(.$then())?,
            Transaction::Postgres(tx, server) => server.probe_on_failure($query.$run(&mut **tx).await)?$(.$then())?,
        })
    };
}

impl Database {
    /// Runs a writing statement; returns the number of changed rows.
    pub fn execute<'a>(&'a self, sql: &'static str, args: &'a [Arg<'a>]) -> QueryFuture<'a, u64> {
        Box::pin(async move { run!(&self.0, writer, bind_args!(sqlx::query(sql), args), execute, rows_affected) })
    }

    /// Returns all rows of a reading statement.
    pub fn rows<'a, T: Row + 'a>(&'a self, sql: &'static str, args: &'a [Arg<'a>]) -> QueryFuture<'a, Vec<T>> {
        Box::pin(async move { run!(&self.0, readers, bind_args!(sqlx::query_as(sql), args), fetch_all) })
    }

    /// Streams the rows of a reading statement from one snapshot. It holds a connection until it is dropped.
    pub fn stream<'a, T: Row + 'a>(&'a self, sql: &'static str, args: &'a [Arg<'a>]) -> Rows<'a, T> {
        Rows(match &self.0 {
            Pools::Sqlite { readers, .. } => bind_args!(sqlx::query_as(sql), args).fetch(readers),
            Pools::Postgres(server) => bind_args!(sqlx::query_as(sql), args).fetch(&server.pool),
        })
    }

    /// Returns the first row of a reading statement.
    pub fn row<'a, T: Row + 'a>(&'a self, sql: &'static str, args: &'a [Arg<'a>]) -> QueryFuture<'a, Option<T>> {
        Box::pin(async move { run!(&self.0, readers, bind_args!(sqlx::query_as(sql), args), fetch_optional) })
    }

    /// Begins a write transaction. Dropping it without [`Transaction::commit`] rolls back.
    pub fn begin(&self) -> QueryFuture<'_, Transaction> {
        Box::pin(async move {
            Ok(match &self.0 {
                Pools::Sqlite { writer, .. } => Transaction::Sqlite(writer.begin_with("begin immediate").await?),
                Pools::Postgres(server) => Transaction::Postgres(server.begin().await?, server.clone()),
            })
        })
    }

    /// Begins a transaction whose commit does not wait for the disk. A power failure may undo it, together with later
    /// relaxed commits, unless a durable commit followed.
    pub fn begin_relaxed(&self) -> QueryFuture<'_, Transaction> {
        Box::pin(async move {
            Ok(match &self.0 {
                Pools::Sqlite { writer, .. } => Transaction::Sqlite(writer.begin_with(BEGIN_RELAXED_SQLITE).await?),
                Pools::Postgres(server) => {
                    Transaction::Postgres(server.begin_with(BEGIN_RELAXED_POSTGRES).await?, server.clone())
                }
            })
        })
    }
}

/// Relaxed durability. The SQLite setting stays on the connection until it returns to the pool.
const BEGIN_RELAXED_SQLITE: &str = "pragma synchronous = normal; begin immediate";
const BEGIN_RELAXED_POSTGRES: &str = "begin; set local synchronous_commit to off";

/// Stream of rows.
pub struct Rows<'a, T>(Pin<Box<dyn Stream<Item = Result<T, sqlx::Error>> + Send + 'a>>);

impl<T> Rows<'_, T> {
    /// Returns the next row, or `None` at the end.
    pub async fn next(&mut self) -> Result<Option<T>, DatabaseError> {
        Ok(poll_fn(|cx| self.0.as_mut().poll_next(cx)).await.transpose()?)
    }
}

/// Transaction.
pub enum Transaction {
    #[doc(hidden)]
    Sqlite(sqlx::Transaction<'static, Sqlite>),
    #[doc(hidden)]
    Postgres(sqlx::Transaction<'static, Postgres>, Arc<PostgresPool>),
}

impl Transaction {
    /// Runs a writing statement; returns the number of changed rows.
    pub fn execute<'a>(&'a mut self, sql: &'static str, args: &'a [Arg<'a>]) -> QueryFuture<'a, u64> {
        Box::pin(async move { run_within!(self, bind_args!(sqlx::query(sql), args), execute, rows_affected) })
    }

    /// Returns the first row of a statement.
    pub fn row<'a, T: Row + 'a>(&'a mut self, sql: &'static str, args: &'a [Arg<'a>]) -> QueryFuture<'a, Option<T>> {
        Box::pin(async move { run_within!(self, bind_args!(sqlx::query_as(sql), args), fetch_optional) })
    }

    /// Returns all rows of a statement.
    pub fn rows<'a, T: Row + 'a>(&'a mut self, sql: &'static str, args: &'a [Arg<'a>]) -> QueryFuture<'a, Vec<T>> {
        Box::pin(async move { run_within!(self, bind_args!(sqlx::query_as(sql), args), fetch_all) })
    }

    /// Applies the missing steps of a schema.
    pub(super) async fn migrate(&mut self, migrator: &Migrator) -> Result<(), MigrateError> {
        // `run` calls `run_direct`, but its future is not `Send` for a borrowed connection.
        match self {
            Transaction::Sqlite(tx) => migrator.run_direct(None, &mut **tx, false).await,
            Transaction::Postgres(tx, _) => migrator.run_direct(None, &mut **tx, false).await,
        }
    }

    /// Commits the transaction.
    pub fn commit(self) -> QueryFuture<'static, ()> {
        Box::pin(async move {
            match self {
                Transaction::Sqlite(tx) => Ok(tx.commit().await?),
                Transaction::Postgres(tx, server) => server.probe_on_failure(tx.commit().await),
            }
        })
    }
}

//! Connections from a URL, with durable settings.

use std::fs;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;

use sqlx::pool::{PoolConnectionMetadata, PoolOptions};
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Pool, Sqlite};

use super::db_health::ACQUIRE_TIMEOUT;
use super::{DatabaseError, Pools, PostgresPool};

/// Setting of [`sqlite_options`].
const FULL_SYNCHRONOUS: &str = "pragma synchronous = full";
const SQLITE_READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 10;

pub(super) async fn open(url: &str, is_unlimited: bool) -> Result<Pools, DatabaseError> {
    match url.split_once(':') {
        Some(("sqlite", rest)) => open_sqlite(rest.strip_prefix("//").unwrap_or(rest)).await,
        Some(("postgres" | "postgresql", _)) => open_postgres(url, is_unlimited).await,
        Some((scheme, _)) => Err(unknown_scheme(scheme)),
        None => Err(DatabaseError::Url("the database URL has no scheme: write `sqlite:` before a path".into())),
    }
}

fn unknown_scheme(scheme: &str) -> DatabaseError {
    let scheme: String = scheme.chars().take(20).collect();
    DatabaseError::Url(format!("unknown database scheme `{scheme}:`; use `sqlite:` or `postgres:`"))
}

async fn open_sqlite(path: &str) -> Result<Pools, DatabaseError> {
    if path == ":memory:" {
        return open_memory().await;
    }
    if path.is_empty() || path.contains('?') {
        return Err(DatabaseError::Url("`sqlite:` needs the path of a file and takes no options".into()));
    }
    create_private_file(Path::new(path))
        .map_err(|error| DatabaseError::Open(format!("cannot open the database file `{path}`: {error}")))?;
    let options = sqlite_options().filename(path).create_if_missing(false);
    let writer = connect_pool(sqlite_pool(1).after_release(is_reusable), options.clone()).await?;
    let readers = connect_pool(sqlite_pool(SQLITE_READERS), options.pragma("query_only", "on")).await?;
    Ok(Pools::Sqlite { readers, writer, probe: Arc::default() })
}

/// An in-memory database ends with its connection, so there is exactly one.
async fn open_memory() -> Result<Pools, DatabaseError> {
    let options = sqlite_options().in_memory(true).shared_cache(false);
    let only = connect_pool(sqlite_pool(1), options).await?;
    Ok(Pools::Sqlite { readers: only.clone(), writer: only, probe: Arc::default() })
}

fn sqlite_options() -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .busy_timeout(ACQUIRE_TIMEOUT)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        // FULL: a revoked token stays revoked after a power failure.
        .synchronous(SqliteSynchronous::Full)
        .disable_statement_logging()
}

fn sqlite_pool(connections: u32) -> PoolOptions<Sqlite> {
    PoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

/// Restores durable commits and returns whether a connection is outside a transaction. A connection whose transaction
/// could not be ended, for example because the disk was full, is closed and replaced.
fn is_reusable(
    connection: &mut SqliteConnection,
    _: PoolConnectionMetadata,
) -> Pin<Box<dyn Future<Output = Result<bool, sqlx::Error>> + Send + '_>> {
    Box::pin(async move {
        // Runs after a pending rollback, and fails if that failed.
        sqlx::raw_sql(FULL_SYNCHRONOUS).execute(&mut *connection).await?;
        Ok(!connection.is_in_transaction())
    })
}

async fn connect_pool(pool: PoolOptions<Sqlite>, options: SqliteConnectOptions) -> Result<Pool<Sqlite>, DatabaseError> {
    pool.connect_with(options)
        .await
        .map_err(|error| DatabaseError::Open(format!("cannot open the SQLite database: {error}")))
}

/// SQLite gives its journals the permissions of the file, so making the file private is enough.
fn create_private_file(path: &Path) -> io::Result<()> {
    if let Some(dir) = path.parent().filter(|dir| !dir.as_os_str().is_empty()) {
        create_private_dir(dir)?;
    }
    let mut options = fs::OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

fn create_private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// URL parameters known to the driver. It logs unknown ones, which may contain a password.
const URL_PARAMETERS: &[&str] = &[
    "sslmode",
    "ssl-mode",
    "sslrootcert",
    "ssl-root-cert",
    "ssl-ca",
    "sslcert",
    "ssl-cert",
    "sslkey",
    "ssl-key",
    "statement-cache-capacity",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "application_name",
    "options",
];

fn check_parameters(url: &str) -> Result<(), DatabaseError> {
    let query = url.split_once('?').map_or("", |(_, query)| query.split('#').next().unwrap_or_default());
    let mut names = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| pair.split('=').next().unwrap_or(pair));
    match names.find(|name| !URL_PARAMETERS.contains(name) && !name.starts_with("options[")) {
        None => Ok(()),
        Some(name) => {
            let name: String = name.chars().take(20).collect();
            Err(DatabaseError::Url(format!(
                "unknown database URL parameter `{name}`; known parameters: {}",
                URL_PARAMETERS.join(", ")
            )))
        }
    }
}

/// Session option that cancels statements longer than any request may take.
pub const STATEMENT_TIMEOUT: [(&str, &str); 1] = [("statement_timeout", "60s")];

/// Reason of most invalid URLs: characters of a password that end it in a URL.
const HINT: &str = "; in a password, special characters are encoded: `%23` for `#`, `%2F` for `/`, `%40` for `@`";

/// Parses a PostgreSQL URL: `postgres://user:password@host:5432/name`.
///
/// # Errors
///
/// Returns an error if the URL is invalid; the message contains no part that may be a password.
pub fn postgres_options(url: &str) -> Result<PgConnectOptions, DatabaseError> {
    check_parameters(url)?;
    // The parser's error may quote the URL, so it is not passed on.
    let options = PgConnectOptions::from_str(url).map_err(|_| {
        DatabaseError::Url(format!("expected a URL such as `postgres://user:password@host:5432/name`{HINT}"))
    })?;
    Ok(options.disable_statement_logging())
}

async fn open_postgres(url: &str, is_unlimited: bool) -> Result<Pools, DatabaseError> {
    let options = postgres_options(url)?.application_name("pidq");
    let options = if is_unlimited { options } else { options.options(STATEMENT_TIMEOUT) };
    Ok(Pools::Postgres(Arc::new(PostgresPool::open(options, POSTGRES_CONNECTIONS).await?)))
}

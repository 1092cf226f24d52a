//! From a URL to connections, with the settings that keep what was acknowledged.

use std::fs;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::pool::{PoolConnectionMetadata, PoolOptions};
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Pool, Sqlite};

use super::{DatabaseError, Pools, Server};

/// How long a request waits for a connection. Beyond it the honest answer is "unavailable".
pub(super) const WAIT: Duration = Duration::from_secs(5);
/// As [`sqlite_options`] say it.
const WAITED_FOR: &str = "pragma synchronous = full";
const SQLITE_READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 10;

pub(super) async fn open(url: &str, is_patient: bool) -> Result<Pools, DatabaseError> {
    match url.split_once(':') {
        Some(("sqlite", rest)) => open_sqlite(rest.strip_prefix("//").unwrap_or(rest)).await,
        Some(("postgres" | "postgresql", _)) => open_postgres(url, is_patient).await,
        Some((scheme, _)) => Err(unknown_scheme(scheme)),
        None => Err(DatabaseError::Url("the database URL has no scheme: write `sqlite:` before a path".into())),
    }
}

fn unknown_scheme(scheme: &str) -> DatabaseError {
    let scheme: String = scheme.chars().take(20).collect();
    DatabaseError::Url(format!("`{scheme}:` is no database that pidq knows: use `sqlite:` or `postgres:`"))
}

async fn open_sqlite(path: &str) -> Result<Pools, DatabaseError> {
    if path == ":memory:" {
        return open_memory().await;
    }
    if path.is_empty() || path.contains('?') {
        return Err(DatabaseError::Url("`sqlite:` needs the path of a file and takes no options".into()));
    }
    make_private_file(Path::new(path))
        .map_err(|error| DatabaseError::Open(format!("cannot open the database file `{path}`: {error}")))?;
    let options = sqlite_options().filename(path).create_if_missing(false);
    let writer = connected(sqlite_pool(1).after_release(is_free), options.clone()).await?;
    let readers = connected(sqlite_pool(SQLITE_READERS), options.pragma("query_only", "on")).await?;
    Ok(Pools::Sqlite { readers, writer })
}

/// A database in memory is gone with its connection, so there is exactly one.
async fn open_memory() -> Result<Pools, DatabaseError> {
    let options = sqlite_options().in_memory(true).shared_cache(false);
    let only = connected(sqlite_pool(1), options).await?;
    Ok(Pools::Sqlite { readers: only.clone(), writer: only })
}

fn sqlite_options() -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .busy_timeout(WAIT)
        .foreign_keys(true)
        .journal_mode(SqliteJournalMode::Wal)
        // FULL: a token that was revoked stays revoked after a power cut.
        .synchronous(SqliteSynchronous::Full)
        .disable_statement_logging()
}

fn sqlite_pool(connections: u32) -> PoolOptions<Sqlite> {
    PoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(WAIT)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

/// Whether a connection can begin a transaction, which is waited for again if the last one was not. One whose transaction
/// could not be ended, because the disk was full for instance, never can again: it is closed, and the next one is new.
fn is_free(
    connection: &mut SqliteConnection,
    _: PoolConnectionMetadata,
) -> Pin<Box<dyn Future<Output = Result<bool, sqlx::Error>> + Send + '_>> {
    Box::pin(async move {
        // After what is being rolled back; and an error, if that could not be.
        sqlx::raw_sql(WAITED_FOR).execute(&mut *connection).await?;
        Ok(!connection.is_in_transaction())
    })
}

async fn connected(pool: PoolOptions<Sqlite>, options: SqliteConnectOptions) -> Result<Pool<Sqlite>, DatabaseError> {
    pool.connect_with(options)
        .await
        .map_err(|error| DatabaseError::Open(format!("cannot open the SQLite database: {error}")))
}

/// SQLite gives its journals the permissions of the file, so making the file private is enough.
fn make_private_file(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_private_folder(folder)?;
    }
    let mut options = fs::OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// What the driver understands after the `?` of a URL. It logs what it does not, and that may be a password.
const PARAMETERS: &[&str] = &[
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
    match names.find(|name| !PARAMETERS.contains(name) && !name.starts_with("options[")) {
        None => Ok(()),
        Some(name) => {
            let name: String = name.chars().take(20).collect();
            Err(DatabaseError::Url(format!(
                "`{name}` is no parameter of a database URL: use some of {}",
                PARAMETERS.join(", ")
            )))
        }
    }
}

/// What ends a statement that takes longer than any of a request may.
pub const IMPATIENT: [(&str, &str); 1] = [("statement_timeout", "60s")];

/// Where a URL leads: `postgres://user:password@host:5432/name`.
///
/// # Errors
/// What is wrong with it, without a word of it that may be a password.
pub fn postgres_options(url: &str) -> Result<PgConnectOptions, DatabaseError> {
    check_parameters(url)?;
    // What the parser says of a URL may quote it, so it is not passed on.
    let options = PgConnectOptions::from_str(url)
        .map_err(|_| DatabaseError::Url("write the URL as `postgres://user:password@host:5432/name`".into()))?;
    Ok(options.disable_statement_logging())
}

async fn open_postgres(url: &str, is_patient: bool) -> Result<Pools, DatabaseError> {
    let options = postgres_options(url)?.application_name("pidq");
    let options = if is_patient { options } else { options.options(IMPATIENT) };
    let server = Server::open(options, POSTGRES_CONNECTIONS).await;
    let server = server.map_err(|error| DatabaseError::Open(format!("cannot connect to PostgreSQL: {error}")))?;
    Ok(Pools::Postgres(Arc::new(server)))
}

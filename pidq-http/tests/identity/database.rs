//! Database URLs, files and migrations.

use std::os::unix::fs::MetadataExt;

use pidq_http::database::{Database, DatabaseError, DatabaseKind, Migration, Transaction};
use tempfile::TempDir;

use crate::databases::{fresh_postgres, on_each, open, sqlite_url};

const FIRST: Migration = Migration { version: 1, sql: "create table a (x bigint not null); insert into a values (7);" };
const SECOND: Migration = Migration { version: 2, sql: "insert into a values (8);" };

async fn open_error(url: &str) -> String {
    Database::open(url).await.err().map(|error| error.to_string()).unwrap_or_else(|| panic!("`{url}` was accepted"))
}

#[tokio::test]
async fn an_invalid_url_is_rejected_with_advice() {
    for (url, hint) in [
        ("", "has no scheme"),
        ("data/pidq.db", "write `sqlite:` before a path"),
        ("mysql://a/b", "unknown database scheme `mysql:`; use `sqlite:` or `postgres:`"),
        ("sqlite:", "needs the path of a file"),
        ("sqlite:a.db?mode=ro", "takes no options"),
        ("postgres://u:canary@:x/y", "postgres://user:password@host:5432/name"),
        ("postgres://u@h/y?pasword=canary", "unknown database URL parameter `pasword`"),
        ("postgres://u@h/y?sslmode=disable&user=u&sslmod=canary", "unknown database URL parameter"),
        ("postgres://u:canary@127.0.0.1:1/y", "onnection refused"),
        ("sqlite:/proc/none/a.db", "cannot open the database file"),
    ] {
        let message = open_error(url).await;
        assert!(message.contains(hint), "{url}: {message}");
        assert!(!message.contains("canary"), "{message}");
    }
}

#[tokio::test]
async fn a_read_only_database_is_detected() {
    let Some(url) = fresh_postgres() else { return eprintln!("SKIPPED: there is no PostgreSQL") };
    let database = open(&url).await;
    assert!(database.is_writable().await.unwrap());
    let name = database.rows::<(String,)>("select cast(current_database() as text)", &[]).await.unwrap().remove(0).0;
    let mut tx = database.begin().await.unwrap();
    let deny: &'static str = Box::leak(format!("alter database {name} set default_transaction_read_only = on").into());
    tx.execute(deny, &[]).await.unwrap();
    tx.commit().await.unwrap();
    assert!(!open(&url).await.is_writable().await.unwrap());
}

#[tokio::test]
async fn statements_time_out_after_a_minute_except_in_migrations() {
    const SEEN: Migration =
        Migration { version: 1, sql: "create table seen as select current_setting('statement_timeout') as timeout" };
    let Some(url) = fresh_postgres() else { return eprintln!("SKIPPED: there is no PostgreSQL") };
    let timeout =
        async |database: &Database, sql: &'static str| database.rows::<(String,)>(sql, &[]).await.unwrap().remove(0).0;
    let limited = Database::open_with_statement_timeout(&url).await.unwrap();
    assert_eq!(timeout(&limited, "show statement_timeout").await, "1min");
    assert_eq!(timeout(&open(&url).await, "show statement_timeout").await, "0");
    limited.migrate("test", &[SEEN]).await.unwrap();
    assert_eq!(timeout(&limited, "select timeout from seen").await, "0");
}

#[tokio::test]
async fn a_database_file_is_accessible_to_its_owner_only() {
    let folder = TempDir::new().unwrap();
    let database = open(&sqlite_url(&folder)).await;
    database.migrate("test", &[FIRST]).await.unwrap();
    for entry in std::fs::read_dir(folder.path().join("data")).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().mode() & 0o777, 0o600, "{:?}", entry.file_name());
    }
}

#[tokio::test]
async fn sqlite_commits_are_durable() {
    let folder = TempDir::new().unwrap();
    let mut tx = open(&sqlite_url(&folder)).await.begin().await.unwrap();
    assert_eq!(tx.row::<(String,)>("pragma journal_mode", &[]).await.unwrap().unwrap().0, "wal");
    assert_eq!(tx.row::<(i64,)>("pragma synchronous", &[]).await.unwrap().unwrap().0, 2);
    assert_eq!(tx.row::<(i64,)>("pragma foreign_keys", &[]).await.unwrap().unwrap().0, 1);
}

#[tokio::test]
async fn a_database_in_memory_is_one_database() {
    let database = open("sqlite::memory:").await;
    database.migrate("test", &[FIRST]).await.unwrap();
    assert_eq!(database.rows::<(i64,)>("select x from a", &[]).await.unwrap(), [(7,)]);
}

#[tokio::test]
async fn each_migration_is_applied_once() {
    on_each(async |database: Database| {
        database.migrate("test", &[FIRST]).await.unwrap();
        database.migrate("test", &[FIRST, SECOND]).await.unwrap();
        database.migrate("test", &[FIRST, SECOND]).await.unwrap();
        assert_eq!(database.rows::<(i64,)>("select x from a order by x", &[]).await.unwrap(), [(7,), (8,)]);
    })
    .await;
}

#[tokio::test]
async fn tables_of_a_newer_version_are_not_touched() {
    on_each(async |database: Database| {
        database.migrate("test", &[FIRST, SECOND]).await.unwrap();
        let result = database.migrate("test", &[FIRST]).await;
        assert!(matches!(result, Err(DatabaseError::Newer { version: 2, .. })), "{result:?}");
    })
    .await;
}

#[tokio::test]
async fn a_changed_step_and_a_failed_step_are_errors() {
    const CHANGED: Migration = Migration { version: 1, sql: "create table a (x bigint)" };
    const WRONG: Migration = Migration { version: 2, sql: "create table b (x bigint); insert into none values (1);" };
    on_each(async |database: Database| {
        database.migrate("test", &[FIRST]).await.unwrap();
        assert!(database.migrate("test", &[CHANGED]).await.is_err());
        assert!(database.migrate("test", &[FIRST, WRONG]).await.is_err());
        assert!(database.rows::<(i64,)>("select x from b", &[]).await.is_err(), "the step is rolled back");
        database.migrate("test", &[FIRST, SECOND]).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn replicas_that_start_together_migrate_once() {
    on_each(async |database: Database| {
        let starts = (0..8).map(|_| {
            let database = database.clone();
            tokio::spawn(async move { database.migrate("test", &[FIRST, SECOND]).await })
        });
        for start in starts.collect::<Vec<_>>() {
            start.await.unwrap().unwrap();
        }
        assert_eq!(database.rows::<(i64,)>("select x from a order by x", &[]).await.unwrap(), [(7,), (8,)]);
    })
    .await;
}

#[tokio::test]
async fn a_dropped_transaction_is_rolled_back() {
    on_each(async |database: Database| {
        database.migrate("test", &[FIRST]).await.unwrap();
        let mut tx = database.begin().await.unwrap();
        tx.execute("insert into a values ($1)", &[9.into()]).await.unwrap();
        drop(tx);
        assert_eq!(database.rows::<(i64,)>("select x from a", &[]).await.unwrap(), [(7,)]);
    })
    .await;
}

#[tokio::test]
async fn a_relaxed_transaction_does_not_relax_others() {
    on_each(async |database: Database| {
        let sql = match database.kind() {
            DatabaseKind::Sqlite => "select cast(synchronous as text) from pragma_synchronous",
            DatabaseKind::Postgres => "select current_setting('synchronous_commit')",
        };
        let setting = async |mut tx: Transaction| tx.row::<(String,)>(sql, &[]).await.unwrap().unwrap().0;
        let [relaxed, durable] = if database.kind() == DatabaseKind::Sqlite { ["1", "2"] } else { ["off", "on"] };
        for _ in 0..3 {
            assert_eq!(setting(database.begin_relaxed().await.unwrap()).await, relaxed);
            assert_eq!(setting(database.begin().await.unwrap()).await, durable);
        }
        let mut tx = database.begin_relaxed().await.unwrap();
        tx.execute("create table notes (text text not null)", &[]).await.unwrap();
        tx.commit().await.unwrap();
        database.execute("insert into notes (text) values ('kept')", &[]).await.unwrap();
        assert_eq!(database.rows::<(String,)>("select text from notes", &[]).await.unwrap(), [("kept".to_owned(),)]);
        assert_eq!(setting(database.begin().await.unwrap()).await, durable);
    })
    .await;
}

//! Schema migrations: numbered steps, each applied once.

use std::borrow::Cow;

use sqlx::SqlStr;
use sqlx::migrate::{MigrateError, MigrationType, Migrator};

use super::{Database, DatabaseError, DatabaseKind};

/// Step of a schema. Released steps are never changed; new ones are appended.
#[derive(Clone, Copy)]
pub struct Migration {
    /// Version: 1, 2, 3 … without gaps.
    pub version: i64,
    /// SQL statements valid in both databases.
    pub sql: &'static str,
}

// A step may take long, and so may waiting for another replica.
const NO_STATEMENT_TIMEOUT: &str = "set local statement_timeout = 0";
// Lock id; any number, the same in every replica.
const LOCK: &str = "select 1 from (select pg_advisory_xact_lock(7001900)) as locked";

impl Database {
    /// Applies the missing steps. Concurrent replicas wait for each other.
    pub async fn migrate(&self, component: &'static str, steps: &[Migration]) -> Result<(), DatabaseError> {
        let mut tx = self.begin().await?;
        if self.kind() == DatabaseKind::Postgres {
            tx.execute(NO_STATEMENT_TIMEOUT, &[]).await?;
            tx.execute(LOCK, &[]).await?;
        }
        tx.migrate(&migrator(component, steps)).await.map_err(|error| match error {
            MigrateError::VersionMissing(version) => DatabaseError::Newer { component, version },
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => error.into(),
            other => sqlx::Error::from(other).into(),
        })?;
        tx.commit().await
    }
}

/// Returns the steps of a component, with a table of its own: components may share the database.
fn migrator(component: &str, steps: &[Migration]) -> Migrator {
    let migration = |step: &Migration| {
        let sql = SqlStr::from_static(step.sql);
        sqlx::migrate::Migration::new(step.version, Cow::Borrowed(""), MigrationType::Simple, sql, false)
    };
    let mut migrator = Migrator::with_migrations(steps.iter().map(migration).collect());
    migrator.dangerous_set_table_name(format!("{component}_migration"));
    // The lock of the crate ends before the transaction; ours ends with it.
    migrator.set_locking(false);
    migrator
}

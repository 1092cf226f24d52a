//! Schema migrations: numbered steps, each applied once.

use super::{Database, DatabaseError, DatabaseKind, Transaction};

/// Step of a schema. Released steps are never changed; new ones are appended.
#[derive(Clone, Copy)]
pub struct Migration {
    /// Version: 1, 2, 3 … without gaps.
    pub version: i64,
    /// SQL statements valid in both databases.
    pub sql: &'static str,
}

const CREATE_TABLE: &str = "create table if not exists migrations
  (component text not null, version bigint not null, primary key (component, version))";
const APPLIED_VERSION: &str = "select coalesce(max(version), 0) from migrations where component = $1";
const INSERT_VERSION: &str = "insert into migrations (component, version) values ($1, $2)";
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
        tx.execute(CREATE_TABLE, &[]).await?;
        let applied = tx.row::<(i64,)>(APPLIED_VERSION, &[component.into()]).await?.map_or(0, |row| row.0);
        reject_newer(component, steps, applied)?;
        for step in steps.iter().filter(|step| step.version > applied) {
            apply(&mut tx, component, step).await?;
        }
        tx.commit().await
    }
}

fn reject_newer(component: &'static str, steps: &[Migration], applied: i64) -> Result<(), DatabaseError> {
    let known = steps.last().map_or(0, |step| step.version);
    if applied > known { Err(DatabaseError::Newer { component, version: applied }) } else { Ok(()) }
}

async fn apply(tx: &mut Transaction, component: &'static str, step: &Migration) -> Result<(), DatabaseError> {
    tx.run_all(step.sql).await?;
    tx.execute(INSERT_VERSION, &[component.into(), step.version.into()]).await.map(drop)
}

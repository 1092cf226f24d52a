//! Tables as they grow: numbered steps, each applied once.

use super::{Database, DatabaseError, Kind, Transaction};

/// One step of a schema. Steps are never changed after they were released, only added.
#[derive(Clone, Copy)]
pub struct Migration {
    /// 1, 2, 3 … without gaps.
    pub version: i64,
    /// Statements that both databases understand.
    pub sql: &'static str,
}

const CREATE_LEDGER: &str = "create table if not exists migrations
  (room text not null, version bigint not null, primary key (room, version))";
const APPLIED: &str = "select coalesce(max(version), 0) from migrations where room = $1";
const RECORD: &str = "insert into migrations (room, version) values ($1, $2)";
// A step may take long, and so may the turn of another replica.
const PATIENCE: &str = "set local statement_timeout = 0";
// Any number does, as long as it is this one in every replica.
const LOCK: &str = "select 1 from (select pg_advisory_xact_lock(7001900)) as locked";

impl Database {
    /// Applies the steps that are missing. Replicas that start together take turns.
    pub async fn migrate(&self, room: &'static str, steps: &[Migration]) -> Result<(), DatabaseError> {
        let mut tx = self.begin().await?;
        if self.kind() == Kind::Postgres {
            tx.execute(PATIENCE, &[]).await?;
            tx.execute(LOCK, &[]).await?;
        }
        tx.execute(CREATE_LEDGER, &[]).await?;
        let applied = tx.row::<(i64,)>(APPLIED, &[room.into()]).await?.map_or(0, |row| row.0);
        refuse_newer(room, steps, applied)?;
        for step in steps.iter().filter(|step| step.version > applied) {
            apply(&mut tx, room, step).await?;
        }
        tx.commit().await
    }
}

fn refuse_newer(room: &'static str, steps: &[Migration], applied: i64) -> Result<(), DatabaseError> {
    let known = steps.last().map_or(0, |step| step.version);
    if applied > known { Err(DatabaseError::Newer { room, version: applied }) } else { Ok(()) }
}

async fn apply(tx: &mut Transaction, room: &'static str, step: &Migration) -> Result<(), DatabaseError> {
    tx.run_all(step.sql).await?;
    tx.execute(RECORD, &[room.into(), step.version.into()]).await.map(drop)
}

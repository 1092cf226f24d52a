//! Audit log in the database: append-only rows.

use pidq_http::database::{Arg, DatabaseError, Transaction};
use pidq_http::uuid_v7;
use serde_json::Value;

use super::{Result, Store, from_json};
use crate::domain::audit_context::AuditEntry;

/// Filter of audit entries.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuditFilter<'a> {
    /// Earliest time, inclusive.
    pub since: Option<i64>,
    /// Latest time, exclusive.
    pub until: Option<i64>,
    /// Only this actor.
    pub actor: Option<&'a str>,
    /// Only this action.
    pub action: Option<&'a str>,
    /// Only this pipeline.
    pub pipeline: Option<&'a str>,
    /// Only this result.
    pub result: Option<&'a str>,
}

#[rustfmt::skip]
type Row = (
    String, i64, String, String, Option<String>, String, String, Option<String>, Option<String>, String,
);

const INSERT: &str =
    "insert into audit_log (id, happened_at, actor, action, pipeline_id, resource, details, request_id,
  source, result) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
/// Time stamps are unique within a process; ids break ties between processes.
const LIST: &str = "select id, happened_at, actor, action, pipeline_id, resource, details, request_id, source, result
  from audit_log where (cast($1 as bigint) is null or (happened_at, id) < (cast($1 as bigint), $2))
  and (cast($3 as bigint) is null or happened_at >= $3) and (cast($4 as bigint) is null or happened_at < $4)
  and (cast($5 as text) is null or actor = $5) and (cast($6 as text) is null or action = $6)
  and (cast($7 as text) is null or pipeline_id = $7) and (cast($8 as text) is null or result = $8)
  order by happened_at desc, id desc limit $9";
const PURGE: &str = "delete from audit_log where happened_at < $1";

/// Inserts an audit entry in a transaction.
pub(super) async fn insert_entry(
    tx: &mut Transaction,
    entry: &AuditEntry,
    now: i64,
) -> std::result::Result<(), DatabaseError> {
    let (id, details) = (uuid_v7(), Value::Object(entry.details.clone()).to_string());
    tx.execute(INSERT, &arguments(entry, &id, &details, now)).await.map(drop)
}

fn arguments<'a>(entry: &'a AuditEntry, id: &'a str, details: &'a str, now: i64) -> [Arg<'a>; 10] {
    [
        id.into(),
        now.into(),
        (&entry.actor).into(),
        (&entry.action).into(),
        entry.pipeline_id.as_deref().into(),
        (&entry.resource).into(),
        details.into(),
        entry.request_id.as_deref().into(),
        entry.source.as_deref().into(),
        (&entry.result).into(),
    ]
}

impl Store {
    /// Inserts an audit entry outside a transaction.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn add_audit_entry(&self, entry: &AuditEntry) -> Result<()> {
        let (id, details) = (uuid_v7(), Value::Object(entry.details.clone()).to_string());
        self.database.execute(INSERT, &arguments(entry, &id, &details, self.outbox.next_timestamp())).await?;
        Ok(())
    }

    /// Returns the audit entries before a cursor, newest first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn audit_entries(
        &self,
        filter: AuditFilter<'_>,
        before: Option<&str>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>> {
        let cursor = before.and_then(|cursor| cursor.split_once(' '));
        let arguments = [
            cursor.and_then(|(timestamp, _)| timestamp.parse::<i64>().ok()).into(),
            cursor.map_or("", |(_, id)| id).into(),
            filter.since.into(),
            filter.until.into(),
            filter.actor.into(),
            filter.action.into(),
            filter.pipeline.into(),
            filter.result.into(),
            (limit as i64).into(),
        ];
        self.database.rows::<Row>(LIST, &arguments).await?.into_iter().map(entry_from_row).collect()
    }

    /// Deletes the audit entries before a time.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn purge_audit(&self, before: i64) -> Result<()> {
        self.database.execute(PURGE, &[before.into()]).await?;
        Ok(())
    }
}

fn entry_from_row(row: Row) -> Result<AuditEntry> {
    Ok(AuditEntry {
        details: from_json("details", &row.6)?,
        id: row.0,
        happened_at: row.1,
        actor: row.2,
        action: row.3,
        pipeline_id: row.4,
        resource: row.5,
        request_id: row.7,
        source: row.8,
        result: row.9,
    })
}

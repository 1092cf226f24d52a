//! Who did what, as rows that nothing changes.

use pidq_http::database::{Arg, DatabaseError, Transaction};
use pidq_http::uuid_v7;
use serde_json::Value;

use super::{Result, Store, structure};
use crate::audit::Act;

/// Which acts a list has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Searched<'a> {
    /// From this moment on.
    pub since: Option<i64>,
    /// Before this moment.
    pub until: Option<i64>,
    /// Of this actor only.
    pub actor: Option<&'a str>,
    /// Of this kind only.
    pub action: Option<&'a str>,
    /// In this pipeline only.
    pub pipeline: Option<&'a str>,
    /// With this result only.
    pub result: Option<&'a str>,
}

#[rustfmt::skip]
type Row = (
    String, i64, String, String, Option<String>, String, String, Option<String>, Option<String>, String,
);

const INSERT: &str = "insert into audit (id, happened_at, actor, action, pipeline_id, resource, details, request_id,
  source, result) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
/// One process does nothing twice at the same moment, so moments are an order; ids are one where processes meet.
const LIST: &str = "select id, happened_at, actor, action, pipeline_id, resource, details, request_id, source, result
  from audit where (cast($1 as bigint) is null or (happened_at, id) < (cast($1 as bigint), $2))
  and (cast($3 as bigint) is null or happened_at >= $3) and (cast($4 as bigint) is null or happened_at < $4)
  and (cast($5 as text) is null or actor = $5) and (cast($6 as text) is null or action = $6)
  and (cast($7 as text) is null or pipeline_id = $7) and (cast($8 as text) is null or result = $8)
  order by happened_at desc, id desc limit $9";
const FORGET: &str = "delete from audit where happened_at < $1";

/// Writes an act down in a transaction.
pub(super) async fn note(tx: &mut Transaction, act: &Act, now: i64) -> std::result::Result<(), DatabaseError> {
    let (id, details) = (uuid_v7(), Value::Object(act.details.clone()).to_string());
    tx.execute(INSERT, &arguments(act, &id, &details, now)).await.map(drop)
}

fn arguments<'a>(act: &'a Act, id: &'a str, details: &'a str, now: i64) -> [Arg<'a>; 10] {
    [
        id.into(),
        now.into(),
        (&act.actor).into(),
        (&act.action).into(),
        act.pipeline_id.as_deref().into(),
        (&act.resource).into(),
        details.into(),
        act.request_id.as_deref().into(),
        act.source.as_deref().into(),
        (&act.result).into(),
    ]
}

impl Store {
    /// Writes down an act that has no transaction.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn note_act(&self, act: &Act) -> Result<()> {
        let (id, details) = (uuid_v7(), Value::Object(act.details.clone()).to_string());
        self.database.execute(INSERT, &arguments(act, &id, &details, self.outbox.moment())).await?;
        Ok(())
    }

    /// Acts before a place, the newest first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn acts(&self, wanted: Searched<'_>, before: Option<&str>, limit: usize) -> Result<Vec<Act>> {
        let place = before.and_then(|place| place.split_once(' '));
        let arguments = [
            place.and_then(|(moment, _)| moment.parse::<i64>().ok()).into(),
            place.map_or("", |(_, id)| id).into(),
            wanted.since.into(),
            wanted.until.into(),
            wanted.actor.into(),
            wanted.action.into(),
            wanted.pipeline.into(),
            wanted.result.into(),
            (limit as i64).into(),
        ];
        self.database.rows::<Row>(LIST, &arguments).await?.into_iter().map(act).collect()
    }

    /// Forgets acts before a moment.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn forget_acts(&self, before: i64) -> Result<()> {
        self.database.execute(FORGET, &[before.into()]).await?;
        Ok(())
    }
}

fn act(row: Row) -> Result<Act> {
    Ok(Act {
        details: structure("details", &row.6)?,
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

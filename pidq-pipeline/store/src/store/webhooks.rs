//! Webhooks in the database: leases, deliveries and their outcomes.
//!
//! Deliveries are inserted in the transaction that assigns event positions, so each webhook gets each matching event,
//! in order. Every transaction writes the webhook before its deliveries, which prevents deadlocks.

use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_http::database::{DatabaseKind, Transaction};
use serde_json::Map;

use super::outbox::{self, EventDraft};
use super::{Result, Store, StoreError, api_keys, audit, from_json, latest_plausible, to_json};
use crate::domain::audit_context::AuditEntry;
use crate::domain::event;
use crate::domain::webhook::{ORPHANED, Recipient};
use crate::domain::webhook::{Webhook, WebhookState};

/// Delivery of an event to a webhook.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delivery {
    /// The event.
    pub event_id: String,
    /// The `type` of the event.
    pub kind: String,
    /// Position of the event.
    pub position: i64,
    /// `waiting`, `delivered`, `failed` or `dropped`.
    pub state: String,
    /// Number of attempts.
    pub attempts: i64,
    /// Time of the next attempt, while it is waiting.
    pub run_at: i64,
    /// Time of the last attempt.
    pub attempted_at: Option<i64>,
    /// Last response status.
    pub last_status: Option<i64>,
    /// Last error.
    pub failure: Option<String>,
}

/// Outcome of a delivery attempt.
#[derive(Clone, Debug)]
pub enum DeliveryOutcome {
    /// Accepted by the webhook.
    Delivered {
        /// Response status.
        status: i64,
        /// True if the webhook has recovered, so that waiting deliveries are due now.
        recovered: bool,
    },
    /// Not accepted.
    Failed {
        /// Response status, if any.
        status: Option<i64>,
        /// The error.
        error: String,
        /// Time of the retry; none if the retries are exhausted.
        retry_at: Option<i64>,
        /// End of the webhook's pause.
        paused_until: i64,
    },
    /// The webhook is disabled.
    Disabled {
        /// Response status, if any.
        status: Option<i64>,
        /// The error.
        error: String,
    },
    /// The recipient may no longer see the event.
    Discarded,
}

macro_rules! columns {
    () => {
        "id, url, event_types, pipelines, encrypted_secret, status, owner, revision, failures, failing_since, failure, created_at, \
         updated_at"
    };
}

#[rustfmt::skip]
type Row = (
    String, String, String, String, String, String, Option<String>, i64, i64, Option<i64>, Option<String>, i64, i64,
);

const INSERT: &str =
    "insert into webhooks (id, url, event_types, pipelines, encrypted_secret, status, owner, created_at, updated_at)
  select $1, $2, $3, $4, $5, 'active', cast($6 as text), cast($7 as bigint), cast($7 as bigint)
  where (select count(*) from webhooks) < $8";
const BY_ID: &str = concat!("select ", columns!(), " from webhooks where id = $1");
const ACTIVE: &str = concat!("select ", columns!(), " from webhooks where status = 'active' order by id");
const LIST: &str = concat!(
    "select ",
    columns!(),
    " from webhooks where id > $1 and (cast($2 as text) is null or owner = $2) order by id limit $3"
);
/// Enabling a webhook resets its failures.
const UPDATE: &str =
    "update webhooks set url = $3, event_types = $4, pipelines = $5, encrypted_secret = $6, status = $7,
  failures = case when status = $7 then failures else 0 end,
  paused_until = case when status = $7 then paused_until else 0 end,
  failing_since = case when status = $7 then failing_since else null end,
  failure = case when status = $7 then failure else null end,
  revision = revision + 1, updated_at = $8 where id = $1 and revision = $2";
const LOCK: &str = "update webhooks set lease_owner = null where id = $1";
const DELETE_DELIVERIES: &str = "delete from deliveries where webhook_id = $1";
const DELETE: &str = "delete from webhooks where id = $1";
const DROP_DELIVERIES: &str = "update deliveries set state = 'dropped' where webhook_id = $1 and state = 'waiting'";

macro_rules! deliver {
    ($rows:literal) => {
        concat!(
            "insert into deliveries (webhook_id, event_id, attempts, run_at, position) \
             select value ->> 0, value ->> 1, 0, $2, cast(value ->> 2 as bigint) from ",
            $rows,
            " where true on conflict (webhook_id, event_id) do nothing"
        )
    };
}
/// Inserts all deliveries from one JSON array of [webhook, event, position]; the databases differ in JSON functions.
const DELIVER_SQLITE: &str = deliver!("json_each($1)");
const DELIVER_POSTGRES: &str = deliver!("json_array_elements(cast($1 as json)) as rows (value)");

/// Longest `Retry-After` of a webhook that counts, and therefore its longest pause.
pub const MAX_RETRY_AFTER: Duration = Duration::from_hours(24);
/// Leases after `$2`, pauses after `$3`, and first attempts in the future were recorded before the clock was set back.
const DUE: &str = "select id from webhooks where status = 'active' and (lease_until < $1 or lease_until > $2)
  and (paused_until <= $1 or paused_until > $3) and exists (select 1 from deliveries
  where webhook_id = webhooks.id and state = 'waiting' and (run_at <= $1 or attempts = 0))
  order by lease_until limit 1";
const LEASE: &str = "update webhooks set lease_owner = $2, lease_until = $3
  where id = $1 and status = 'active' and (lease_until < $4 or lease_until > $5)";
const RENEW: &str = "update webhooks set lease_until = $3 where id = $1 and lease_owner = $2 and status = 'active'";
const RELEASE: &str = "update webhooks set lease_owner = null, lease_until = $3 where id = $1 and lease_owner = $2";
macro_rules! select_deliveries {
    ($condition:literal) => {
        concat!(
            "select d.event_id, e.event_type, d.position, d.state, d.attempts, d.run_at, d.attempted_at, d.last_status, d.failure \
             from deliveries d join events e on e.id = d.event_id where d.webhook_id = $1 and ",
            $condition
        )
    };
}
const NEXT: &str =
    select_deliveries!("d.state = 'waiting' and (d.run_at <= $2 or d.attempts = 0) order by d.position limit 1");
const DELIVERIES: &str = select_deliveries!(
    "d.position < $2 and (cast($3 as text) is null or d.state = $3) order by d.position desc limit $4"
);
const RECORD_SUCCESS: &str = "update webhooks set failures = 0, paused_until = 0, failing_since = null, failure = null
  where id = $1 and lease_owner = $2";
const RECORD_FAILURE: &str = "update webhooks set failures = failures + 1, failing_since = coalesce(failing_since, $3),
  failure = $4, paused_until = $5 where id = $1 and lease_owner = $2";
const DISABLE: &str = "update webhooks set status = 'disabled', failures = failures + 1,
  failing_since = coalesce(failing_since, $3), failure = $4, updated_at = $3 where id = $1 and lease_owner = $2";
const DISABLE_ORPHAN: &str = "update webhooks set status = 'disabled', failure = $2, updated_at = $3 where id = $1";
const CHECK_LEASE: &str = "update webhooks set lease_until = lease_until where id = $1 and lease_owner = $2";
const UPDATE_DELIVERY: &str = "update deliveries set state = $3, attempts = attempts + 1, attempted_at = $4,
  last_status = cast($5 as bigint), failure = cast($6 as text), run_at = coalesce(cast($7 as bigint), run_at)
  where webhook_id = $1 and event_id = $2 and state = 'waiting'";
const RETRY_NOW: &str = "update deliveries set run_at = $2 where webhook_id = $1 and state = 'waiting' and run_at > $2";
const DELETE_DELIVERY: &str = "delete from deliveries where webhook_id = $1 and event_id = $2";
const PURGE_DELIVERIES: &str = "delete from deliveries where state <> 'waiting'
  and event_id in (select id from events where happened_at < $1 and position is not null)";

impl Store {
    /// Inserts the deliveries of the events that were positioned in this transaction, after a position.
    pub(super) async fn fan_out(&self, tx: &mut Transaction, position: i64, limit: usize) -> Result<()> {
        let hooks = tx.rows::<Row>(ACTIVE, &[]).await?.into_iter().map(webhook).collect::<Result<Vec<_>>>()?;
        if hooks.is_empty() {
            return Ok(());
        }
        let (now, events) = (Timestamp::now(), outbox::events_after(tx, position, limit).await?);
        let owners = api_keys::active_webhook_owners(tx).await?;
        let mut deliveries: Vec<(&str, &str, i64)> = Vec::new();
        for hook in &hooks {
            let owner = hook.owner.as_ref().and_then(|id| owners.get(id).cloned());
            let Some(recipient) = Recipient::new(hook, owner, now) else {
                self.disable_orphan(tx, hook, now).await?;
                continue;
            };
            let matching =
                events.iter().filter(|event| recipient.visible(event).is_some_and(|visible| hook.matches(&visible)));
            deliveries.extend(matching.map(|event| (&*hook.id, &*event.id, event.position)));
        }
        if deliveries.is_empty() {
            return Ok(());
        }
        let deliver = match self.database.kind() {
            DatabaseKind::Sqlite => DELIVER_SQLITE,
            DatabaseKind::Postgres => DELIVER_POSTGRES,
        };
        tx.execute(deliver, &[(&to_json(&deliveries)?).into(), now.0.into()]).await?;
        Ok(())
    }

    /// Disables a webhook whose owner key was deleted or has expired.
    async fn disable_orphan(&self, tx: &mut Transaction, hook: &Webhook, now: Timestamp) -> Result<()> {
        tx.execute(DISABLE_ORPHAN, &[(&hook.id).into(), ORPHANED.into(), now.0.into()]).await?;
        tx.execute(DROP_DELIVERIES, &[(&hook.id).into()]).await?;
        self.emit_webhook_disabled(tx, &hook.id, ORPHANED).await
    }

    /// Inserts a webhook; returns false if the limit is reached.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn add_webhook(&self, webhook: &Webhook, limit: i64) -> Result<bool> {
        let (event_types, pipelines) = (to_json(&webhook.event_types)?, to_json(&webhook.pipelines)?);
        let arguments = [
            (&webhook.id).into(),
            (&webhook.url).into(),
            (&event_types).into(),
            (&pipelines).into(),
            (&webhook.encrypted_secret).into(),
            webhook.owner.as_deref().into(),
            webhook.created_at.into(),
            limit.into(),
        ];
        let mut tx = self.database.begin().await?;
        let added = tx.execute(INSERT, &arguments).await? > 0;
        if added {
            crate::domain::audit_context::set_resource(&webhook.id);
            self.outbox.commit(tx).await?;
        }
        Ok(added)
    }

    /// Returns a webhook by id.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn webhook(&self, id: &str) -> Result<Option<Webhook>> {
        self.database.row::<Row>(BY_ID, &[id.into()]).await?.map(webhook).transpose()
    }

    /// Returns the webhooks after an id, in creation order, optionally of one owner.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn webhooks(&self, after: &str, owner: Option<&str>, limit: usize) -> Result<Vec<Webhook>> {
        let arguments = [after.into(), owner.into(), (limit as i64).into()];
        self.database.rows::<Row>(LIST, &arguments).await?.into_iter().map(webhook).collect()
    }

    /// Updates a webhook if its revision is unchanged. Disabling it drops its waiting deliveries.
    ///
    /// # Errors
    /// If it was modified concurrently.
    pub async fn update_webhook(&self, webhook: &Webhook) -> Result<Webhook> {
        let (event_types, pipelines) = (to_json(&webhook.event_types)?, to_json(&webhook.pipelines)?);
        let arguments = [
            (&webhook.id).into(),
            webhook.revision.into(),
            (&webhook.url).into(),
            (&event_types).into(),
            (&pipelines).into(),
            (&webhook.encrypted_secret).into(),
            webhook.state.as_str().into(),
            Timestamp::now().0.into(),
        ];
        let mut tx = self.database.begin().await?;
        outbox::lock_positions(&mut tx).await?;
        if tx.execute(UPDATE, &arguments).await? == 0 {
            return Err(StoreError::Conflict);
        }
        if webhook.state == WebhookState::Disabled {
            tx.execute(DROP_DELIVERIES, &[(&webhook.id).into()]).await?;
        }
        self.outbox.commit(tx).await?;
        self.webhook(&webhook.id).await?.ok_or(StoreError::Conflict)
    }

    /// Deletes a webhook with its deliveries; returns false if it does not exist.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn delete_webhook(&self, id: &str) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        outbox::lock_positions(&mut tx).await?;
        tx.execute(LOCK, &[id.into()]).await?;
        tx.execute(DELETE_DELIVERIES, &[id.into()]).await?;
        let deleted = tx.execute(DELETE, &[id.into()]).await? > 0;
        if deleted {
            self.outbox.commit(tx).await?;
        }
        Ok(deleted)
    }

    /// Leases the webhook with due deliveries that was served least recently.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn lease_webhook(&self, lease_owner: &str, lease: Duration) -> Result<Option<Webhook>> {
        let now = Timestamp::now();
        let (latest, latest_pause) = (latest_plausible(now, lease), latest_plausible(now, MAX_RETRY_AFTER));
        loop {
            let arguments = [now.0.into(), latest.into(), latest_pause.into()];
            let Some((id,)) = self.database.row::<(String,)>(DUE, &arguments).await? else { return Ok(None) };
            let arguments = [(&id).into(), lease_owner.into(), (now + lease).0.into(), now.0.into(), latest.into()];
            // Another replica may have leased it first; then it is not due anymore.
            if self.database.execute(LEASE, &arguments).await? > 0 {
                return self.webhook(&id).await;
            }
        }
    }

    /// Renews the lease; returns false if it was lost.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn renew_webhook_lease(&self, id: &str, lease_owner: &str, lease: Duration) -> Result<bool> {
        let arguments = [id.into(), lease_owner.into(), (Timestamp::now() + lease).0.into()];
        Ok(self.database.execute(RENEW, &arguments).await? > 0)
    }

    /// Releases the lease.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn release_webhook(&self, id: &str, lease_owner: &str) -> Result<()> {
        // `lease_until` in the past makes it due again, after the webhooks that have waited longer.
        let arguments = [id.into(), lease_owner.into(), (Timestamp::now().0 - 1).into()];
        self.database.execute(RELEASE, &arguments).await?;
        Ok(())
    }

    /// Returns the next due delivery.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn next_delivery(&self, webhook: &str) -> Result<Option<Delivery>> {
        let arguments = [webhook.into(), Timestamp::now().0.into()];
        Ok(self.database.row(NEXT, &arguments).await?.map(delivery))
    }

    /// Returns the deliveries before a position, newest first, optionally in one state.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn deliveries(
        &self,
        webhook: &str,
        before: i64,
        state: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Delivery>> {
        let arguments = [webhook.into(), before.into(), state.into(), (limit as i64).into()];
        Ok(self.database.rows(DELIVERIES, &arguments).await?.into_iter().map(delivery).collect())
    }

    /// Records the outcome of an attempt; returns false if the lease was lost.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn record_delivery(
        &self,
        webhook: &str,
        lease_owner: &str,
        event: &str,
        attempt: &DeliveryOutcome,
    ) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        if !update_webhook(&mut tx, webhook, lease_owner, attempt).await? {
            return Ok(false);
        }
        match attempt {
            DeliveryOutcome::Delivered { status, recovered } => {
                update_delivery(&mut tx, [webhook, event], "delivered", Some(*status), None, None).await?;
                if *recovered {
                    tx.execute(RETRY_NOW, &[webhook.into(), Timestamp::now().0.into()]).await?;
                }
            }
            DeliveryOutcome::Failed { status, error, retry_at, .. } => {
                let state = if retry_at.is_some() { "waiting" } else { "failed" };
                update_delivery(&mut tx, [webhook, event], state, *status, Some(error), *retry_at).await?;
            }
            DeliveryOutcome::Disabled { status, error } => {
                update_delivery(&mut tx, [webhook, event], "failed", *status, Some(error), None).await?;
                tx.execute(DROP_DELIVERIES, &[webhook.into()]).await?;
                self.emit_webhook_disabled(&mut tx, webhook, error).await?;
            }
            DeliveryOutcome::Discarded => drop(tx.execute(DELETE_DELIVERY, &[webhook.into(), event.into()]).await?),
        }
        self.outbox.commit(tx).await?;
        Ok(true)
    }

    async fn emit_webhook_disabled(&self, tx: &mut Transaction, webhook: &str, reason: &str) -> Result<()> {
        let details = [("webhook_id", webhook), ("status", WebhookState::Disabled.as_str()), ("reason", reason)];
        let details: Map<_, _> = details.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        let entry = AuditEntry::by_system("webhook.disable", format!("/api/webhooks/{webhook}"), details.clone());
        audit::insert_entry(tx, &entry, self.outbox.next_timestamp()).await?;
        Ok(self.outbox.emit(tx, event::WEBHOOK_DISABLED, EventDraft { details, ..EventDraft::default() }).await?)
    }

    /// Deletes finished deliveries of events before a time.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn purge_deliveries(&self, before: i64) -> Result<()> {
        self.database.execute(PURGE_DELIVERIES, &[before.into()]).await?;
        Ok(())
    }
}

/// Updates the webhook after an attempt, first, so that it is locked. Returns false if the lease was lost.
async fn update_webhook(
    tx: &mut Transaction,
    webhook: &str,
    lease_owner: &str,
    attempt: &DeliveryOutcome,
) -> Result<bool> {
    let now = Timestamp::now().0;
    let (id, lease_owner) = (webhook.into(), lease_owner.into());
    let changed = match attempt {
        DeliveryOutcome::Delivered { .. } => tx.execute(RECORD_SUCCESS, &[id, lease_owner]).await?,
        DeliveryOutcome::Failed { error, paused_until, .. } => {
            tx.execute(RECORD_FAILURE, &[id, lease_owner, now.into(), error.into(), (*paused_until).into()]).await?
        }
        DeliveryOutcome::Disabled { error, .. } => {
            tx.execute(DISABLE, &[id, lease_owner, now.into(), error.into()]).await?
        }
        DeliveryOutcome::Discarded => tx.execute(CHECK_LEASE, &[id, lease_owner]).await?,
    };
    Ok(changed > 0)
}

async fn update_delivery(
    tx: &mut Transaction,
    [webhook, event]: [&str; 2],
    state: &str,
    status: Option<i64>,
    failure: Option<&String>,
    run_at: Option<i64>,
) -> Result<()> {
    let arguments = [
        webhook.into(),
        event.into(),
        state.into(),
        Timestamp::now().0.into(),
        status.into(),
        failure.map(String::as_str).into(),
        run_at.into(),
    ];
    tx.execute(UPDATE_DELIVERY, &arguments).await?;
    Ok(())
}

#[rustfmt::skip]
type DeliveryRow = (String, String, i64, String, i64, i64, Option<i64>, Option<i64>, Option<String>);

fn delivery(row: DeliveryRow) -> Delivery {
    Delivery {
        event_id: row.0,
        kind: row.1,
        position: row.2,
        state: row.3,
        attempts: row.4,
        run_at: row.5,
        attempted_at: row.6,
        last_status: row.7,
        failure: row.8,
    }
}

fn webhook(row: Row) -> Result<Webhook> {
    Ok(Webhook {
        event_types: from_json("event_types", &row.2)?,
        pipelines: from_json("pipelines", &row.3)?,
        state: WebhookState::parse(&row.5).ok_or_else(|| StoreError::Corrupt(format!("webhook {}", row.5)))?,
        id: row.0,
        url: row.1,
        encrypted_secret: row.4,
        owner: row.6,
        revision: row.7,
        failures: row.8,
        failing_since: row.9,
        last_error: row.10,
        created_at: row.11,
        updated_at: row.12,
    })
}

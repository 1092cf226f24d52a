//! Webhooks in the database, who sends to them, and what they got and are to get.
//!
//! Deliveries are written in the transaction that gives events their places, so each webhook is told of each event that
//! it wants, in their order. Whoever writes to a webhook and its deliveries writes the webhook first: nobody waits for
//! each other in a circle.

use std::time::Duration;

use pidq_http::auth::Moment;
use pidq_http::database::{Kind, Transaction};
use serde_json::Map;

use super::outbox::{self, Word};
use super::{Result, Store, StoreError, audit, keys, structure, text};
use crate::audit::Act;
use crate::events;
use crate::webhooks::{ORPHANED, Reader, State, Webhook};

/// An event that a webhook is told of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delivery {
    /// The event.
    pub event_id: String,
    /// The `type` of the event.
    pub kind: String,
    /// The place of the event among all.
    pub position: i64,
    /// `waiting`, `delivered`, `failed` or `dropped`.
    pub state: String,
    /// How often it was tried.
    pub attempts: i64,
    /// When it is tried next, as long as it waits.
    pub run_at: i64,
    /// When it was tried last.
    pub tried_at: Option<i64>,
    /// What the webhook answered then, if it did.
    pub last_status: Option<i64>,
    /// What was wrong then.
    pub failure: Option<String>,
}

/// What came of an attempt.
#[derive(Clone, Debug)]
pub enum Attempt {
    /// The webhook took it.
    Taken {
        /// What it answered.
        status: i64,
        /// Whether what waits for later is tried now: the webhook is back after a while.
        back: bool,
    },
    /// It did not.
    Missed {
        /// What it answered, if it did.
        status: Option<i64>,
        /// What was wrong.
        why: String,
        /// When it is tried again; none if it is given up.
        again_at: Option<i64>,
        /// Until when the webhook is left in peace.
        rests_until: i64,
    },
    /// It will not: it is told nothing more.
    Over {
        /// What it answered, if it did.
        status: Option<i64>,
        /// What was wrong.
        why: String,
    },
    /// The webhook is not to know of this event any more.
    Unwanted,
}

macro_rules! columns {
    () => {
        "id, url, kinds, pipelines, secret, status, owner, revision, failures, failing_since, failure, created_at, \
         updated_at"
    };
}

#[rustfmt::skip]
type Row = (
    String, String, String, String, String, String, Option<String>, i64, i64, Option<i64>, Option<String>, i64, i64,
);

const INSERT: &str = "insert into webhooks (id, url, kinds, pipelines, secret, status, owner, created_at, updated_at)
  select $1, $2, $3, $4, $5, 'active', cast($6 as text), cast($7 as bigint), cast($7 as bigint)
  where (select count(*) from webhooks) < $8";
const BY_ID: &str = concat!("select ", columns!(), " from webhooks where id = $1");
const ACTIVE: &str = concat!("select ", columns!(), " from webhooks where status = 'active' order by id");
const LIST: &str = concat!(
    "select ",
    columns!(),
    " from webhooks where id > $1 and (cast($2 as text) is null or owner = $2) order by id limit $3"
);
/// One that is switched on begins anew.
const UPDATE: &str = "update webhooks set url = $3, kinds = $4, pipelines = $5, secret = $6, status = $7,
  failures = case when status = $7 then failures else 0 end,
  rests_until = case when status = $7 then rests_until else 0 end,
  failing_since = case when status = $7 then failing_since else null end,
  failure = case when status = $7 then failure else null end,
  revision = revision + 1, updated_at = $8 where id = $1 and revision = $2";
const LOCK: &str = "update webhooks set holder = null where id = $1";
const FORGET_ALL: &str = "delete from deliveries where webhook_id = $1";
const DELETE: &str = "delete from webhooks where id = $1";
const DROP: &str = "update deliveries set state = 'dropped' where webhook_id = $1 and state = 'waiting'";

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
/// All deliveries at once, as JSON: a list of webhook, event and place for each. Databases differ in how they read one.
const DELIVER_SQLITE: &str = deliver!("json_each($1)");
const DELIVER_POSTGRES: &str = deliver!("json_array_elements(cast($1 as json)) as rows (value)");

const DUE: &str = "select id from webhooks where status = 'active' and held_until < $1 and rests_until <= $1
  and exists (select 1 from deliveries where webhook_id = webhooks.id and state = 'waiting' and run_at <= $1)
  order by held_until limit 1";
const TAKE: &str = "update webhooks set holder = $2, held_until = $3
  where id = $1 and status = 'active' and held_until < $4";
const HOLD_ON: &str = "update webhooks set held_until = $3 where id = $1 and holder = $2 and status = 'active'";
const RELEASE: &str = "update webhooks set holder = null, held_until = $3 where id = $1 and holder = $2";
macro_rules! of_deliveries {
    ($rest:literal) => {
        concat!(
            "select d.event_id, e.kind, d.position, d.state, d.attempts, d.run_at, d.tried_at, d.last_status, d.failure \
             from deliveries d join events e on e.id = d.event_id where d.webhook_id = $1 and ",
            $rest
        )
    };
}
const NEXT: &str = of_deliveries!("d.state = 'waiting' and d.run_at <= $2 order by d.position limit 1");
const DELIVERIES: &str =
    of_deliveries!("d.position < $2 and (cast($3 as text) is null or d.state = $3) order by d.position desc limit $4");
const REACHED: &str = "update webhooks set failures = 0, rests_until = 0, failing_since = null, failure = null
  where id = $1 and holder = $2";
const MISSED: &str = "update webhooks set failures = failures + 1, failing_since = coalesce(failing_since, $3),
  failure = $4, rests_until = $5 where id = $1 and holder = $2";
const DISABLE: &str = "update webhooks set status = 'disabled', failures = failures + 1,
  failing_since = coalesce(failing_since, $3), failure = $4, updated_at = $3 where id = $1 and holder = $2";
const ORPHAN: &str = "update webhooks set status = 'disabled', failure = $2, updated_at = $3 where id = $1";
const HELD: &str = "update webhooks set held_until = held_until where id = $1 and holder = $2";
const SETTLE: &str = "update deliveries set state = $3, attempts = attempts + 1, tried_at = $4,
  last_status = cast($5 as bigint), failure = cast($6 as text), run_at = coalesce(cast($7 as bigint), run_at)
  where webhook_id = $1 and event_id = $2 and state = 'waiting'";
const BRING_FORWARD: &str =
    "update deliveries set run_at = $2 where webhook_id = $1 and state = 'waiting' and run_at > $2";
const FORGET_ONE: &str = "delete from deliveries where webhook_id = $1 and event_id = $2";
const FORGET: &str = "delete from deliveries where state <> 'waiting'
  and event_id in (select id from events where happened_at < $1 and position is not null)";

impl Store {
    /// Writes down who is to be told of the events that got a place in this transaction, behind a position.
    pub(super) async fn fan_out(&self, tx: &mut Transaction, behind: i64, most: usize) -> Result<()> {
        let hooks = tx.rows::<Row>(ACTIVE, &[]).await?.into_iter().map(webhook).collect::<Result<Vec<_>>>()?;
        if hooks.is_empty() {
            return Ok(());
        }
        let (now, events) = (Moment::now(), outbox::behind(tx, behind, most).await?);
        let owners = keys::of_active_webhooks(tx).await?;
        let mut deliveries: Vec<(&str, &str, i64)> = Vec::new();
        for hook in &hooks {
            let owner = hook.owner.as_ref().and_then(|id| owners.get(id).cloned());
            let Some(reader) = Reader::of(hook, owner, now) else {
                self.end_orphan(tx, hook, now).await?;
                continue;
            };
            let wanted = events.iter().filter(|event| reader.sees(event).is_some_and(|seen| hook.wants(&seen)));
            deliveries.extend(wanted.map(|event| (&*hook.id, &*event.id, event.position)));
        }
        if deliveries.is_empty() {
            return Ok(());
        }
        let deliver = match self.database.kind() {
            Kind::Sqlite => DELIVER_SQLITE,
            Kind::Postgres => DELIVER_POSTGRES,
        };
        tx.execute(deliver, &[(&text(&deliveries)?).into(), now.0.into()]).await?;
        Ok(())
    }

    /// Switches a webhook off whose key is not good any more.
    async fn end_orphan(&self, tx: &mut Transaction, hook: &Webhook, now: Moment) -> Result<()> {
        tx.execute(ORPHAN, &[(&hook.id).into(), ORPHANED.into(), now.0.into()]).await?;
        tx.execute(DROP, &[(&hook.id).into()]).await?;
        self.tell_of_end(tx, &hook.id, ORPHANED).await
    }

    /// Stores a webhook, unless there are so many. Says whether it did.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn add_webhook(&self, webhook: &Webhook, most: i64) -> Result<bool> {
        let (kinds, pipelines) = (text(&webhook.kinds)?, text(&webhook.pipelines)?);
        let arguments = [
            (&webhook.id).into(),
            (&webhook.url).into(),
            (&kinds).into(),
            (&pipelines).into(),
            (&webhook.sealed).into(),
            webhook.owner.as_deref().into(),
            webhook.created_at.into(),
            most.into(),
        ];
        let mut tx = self.database.begin().await?;
        let added = tx.execute(INSERT, &arguments).await? > 0;
        if added {
            crate::audit::made(&webhook.id);
            self.outbox.commit(tx).await?;
        }
        Ok(added)
    }

    /// The webhook of an id.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn webhook(&self, id: &str) -> Result<Option<Webhook>> {
        self.database.row::<Row>(BY_ID, &[id.into()]).await?.map(webhook).transpose()
    }

    /// Webhooks after one, in the order in which they were made; of an owner alone, if one is named.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn webhooks(&self, after: &str, owner: Option<&str>, limit: usize) -> Result<Vec<Webhook>> {
        let arguments = [after.into(), owner.into(), (limit as i64).into()];
        self.database.rows::<Row>(LIST, &arguments).await?.into_iter().map(webhook).collect()
    }

    /// Stores a webhook that is still as it was read. What waits for one that is switched off is dropped.
    ///
    /// # Errors
    /// If it was changed in between.
    pub async fn update_webhook(&self, webhook: &Webhook) -> Result<Webhook> {
        let (kinds, pipelines) = (text(&webhook.kinds)?, text(&webhook.pipelines)?);
        let arguments = [
            (&webhook.id).into(),
            webhook.revision.into(),
            (&webhook.url).into(),
            (&kinds).into(),
            (&pipelines).into(),
            (&webhook.sealed).into(),
            webhook.state.word().into(),
            Moment::now().0.into(),
        ];
        let mut tx = self.database.begin().await?;
        outbox::hold(&mut tx).await?;
        if tx.execute(UPDATE, &arguments).await? == 0 {
            return Err(StoreError::Changed);
        }
        if webhook.state == State::Disabled {
            tx.execute(DROP, &[(&webhook.id).into()]).await?;
        }
        self.outbox.commit(tx).await?;
        self.webhook(&webhook.id).await?.ok_or(StoreError::Changed)
    }

    /// Deletes a webhook with its deliveries. Says whether there was one.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn delete_webhook(&self, id: &str) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        outbox::hold(&mut tx).await?;
        tx.execute(LOCK, &[id.into()]).await?;
        tx.execute(FORGET_ALL, &[id.into()]).await?;
        let deleted = tx.execute(DELETE, &[id.into()]).await? > 0;
        if deleted {
            self.outbox.commit(tx).await?;
        }
        Ok(deleted)
    }

    /// Takes a webhook that something is due for, for a while: the one that was sent to the longest time ago.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn take_webhook(&self, holder: &str, hold: Duration) -> Result<Option<Webhook>> {
        let now = Moment::now();
        loop {
            let Some((id,)) = self.database.row::<(String,)>(DUE, &[now.0.into()]).await? else { return Ok(None) };
            let arguments = [(&id).into(), holder.into(), (now + hold).0.into(), now.0.into()];
            // Another replica may have been quicker; then it is not due any more.
            if self.database.execute(TAKE, &arguments).await? > 0 {
                return self.webhook(&id).await;
            }
        }
    }

    /// Holds a webhook longer. Says whether it is still held.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn hold_webhook(&self, id: &str, holder: &str, hold: Duration) -> Result<bool> {
        let arguments = [id.into(), holder.into(), (Moment::now() + hold).0.into()];
        Ok(self.database.execute(HOLD_ON, &arguments).await? > 0)
    }

    /// Leaves a webhook to others.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn release_webhook(&self, id: &str, holder: &str) -> Result<()> {
        // Not at once, but behind those that wait for longer.
        let arguments = [id.into(), holder.into(), (Moment::now().0 - 1).into()];
        self.database.execute(RELEASE, &arguments).await?;
        Ok(())
    }

    /// What a webhook is to be told next.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn next_delivery(&self, webhook: &str) -> Result<Option<Delivery>> {
        let arguments = [webhook.into(), Moment::now().0.into()];
        Ok(self.database.row(NEXT, &arguments).await?.map(delivery))
    }

    /// What a webhook got and is to get before a place, the newest first; of a state alone, if one is named.
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

    /// Notes what came of an attempt. Says whether whoever tried held the webhook until now.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn note_attempt(&self, webhook: &str, holder: &str, event: &str, attempt: &Attempt) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        if !note_webhook(&mut tx, webhook, holder, attempt).await? {
            return Ok(false);
        }
        match attempt {
            Attempt::Taken { status, back } => {
                settle(&mut tx, [webhook, event], "delivered", Some(*status), None, None).await?;
                if *back {
                    tx.execute(BRING_FORWARD, &[webhook.into(), Moment::now().0.into()]).await?;
                }
            }
            Attempt::Missed { status, why, again_at, .. } => {
                let state = if again_at.is_some() { "waiting" } else { "failed" };
                settle(&mut tx, [webhook, event], state, *status, Some(why), *again_at).await?;
            }
            Attempt::Over { status, why } => {
                settle(&mut tx, [webhook, event], "failed", *status, Some(why), None).await?;
                tx.execute(DROP, &[webhook.into()]).await?;
                self.tell_of_end(&mut tx, webhook, why).await?;
            }
            Attempt::Unwanted => drop(tx.execute(FORGET_ONE, &[webhook.into(), event.into()]).await?),
        }
        self.outbox.commit(tx).await?;
        Ok(true)
    }

    async fn tell_of_end(&self, tx: &mut Transaction, webhook: &str, why: &str) -> Result<()> {
        let details = [("webhook_id", webhook), ("status", State::Disabled.word()), ("reason", why)];
        let details: Map<_, _> = details.into_iter().map(|(name, value)| (name.to_owned(), value.into())).collect();
        let act = Act::of_system("webhook.disable", format!("/api/webhooks/{webhook}"), details.clone());
        audit::note(tx, &act, self.outbox.moment()).await?;
        Ok(self.outbox.tell(tx, events::WEBHOOK_DISABLED, Word { details, ..Word::default() }).await?)
    }

    /// Forgets what is over, of events before a moment.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn forget_deliveries(&self, before: i64) -> Result<()> {
        self.database.execute(FORGET, &[before.into()]).await?;
        Ok(())
    }
}

/// What an attempt means for the webhook itself; first of all, so that it is locked. Says whether it is held.
async fn note_webhook(tx: &mut Transaction, webhook: &str, holder: &str, attempt: &Attempt) -> Result<bool> {
    let now = Moment::now().0;
    let (id, holder) = (webhook.into(), holder.into());
    let changed = match attempt {
        Attempt::Taken { .. } => tx.execute(REACHED, &[id, holder]).await?,
        Attempt::Missed { why, rests_until, .. } => {
            tx.execute(MISSED, &[id, holder, now.into(), why.into(), (*rests_until).into()]).await?
        }
        Attempt::Over { why, .. } => tx.execute(DISABLE, &[id, holder, now.into(), why.into()]).await?,
        Attempt::Unwanted => tx.execute(HELD, &[id, holder]).await?,
    };
    Ok(changed > 0)
}

async fn settle(
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
        Moment::now().0.into(),
        status.into(),
        failure.map(String::as_str).into(),
        run_at.into(),
    ];
    tx.execute(SETTLE, &arguments).await?;
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
        tried_at: row.6,
        last_status: row.7,
        failure: row.8,
    }
}

fn webhook(row: Row) -> Result<Webhook> {
    Ok(Webhook {
        kinds: structure("kinds", &row.2)?,
        pipelines: structure("pipelines", &row.3)?,
        state: State::of_word(&row.5).ok_or_else(|| StoreError::Damaged(format!("webhook {}", row.5)))?,
        id: row.0,
        url: row.1,
        sealed: row.4,
        owner: row.6,
        revision: row.7,
        failures: row.8,
        failing_since: row.9,
        fault: row.10,
        created_at: row.11,
        updated_at: row.12,
    })
}

//! Transactional outbox: events are inserted with the change that they report and delivered after the commit.
//!
//! Transactions commit in another order than they begin, so a sequence number taken inside a transaction may become
//! visible after a later one, and a reader of "all after 7" would miss it. Therefore positions are assigned after the
//! commit, under a lock on the counter: the visible positions never have gaps.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_http::database::{Arg, DatabaseError, Transaction};
use pidq_http::uuid_v7;
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::{DocumentKey, Result, Store, StoreError, audit, from_json, latest_plausible};
use crate::domain::audit_context::AuditEntry;
use crate::domain::event::{self, Event, EventKind};
use crate::domain::model::Status;

/// Transactional outbox of events.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    notify: Arc<Notify>,
    /// Time stamp of the last event of this process.
    last_timestamp: Arc<AtomicI64>,
    includes_filenames: bool,
}

/// Transition of a document to an ingestion stage.
#[derive(Clone, Copy, Debug)]
pub struct StageTransition {
    /// The stage.
    pub status: Status,
    /// Event time stamp.
    pub at: i64,
}

/// Fields of an event to emit.
#[derive(Default)]
pub(super) struct EventDraft<'a> {
    pub pipeline: Option<&'a str>,
    pub document: Option<&'a str>,
    pub classification: Option<&'a str>,
    pub previous_classification: Option<&'a str>,
    pub details: Map<String, Value>,
}

/// An event to insert.
struct NewEvent<'a> {
    id: String,
    kind: &'static EventKind,
    draft: EventDraft<'a>,
    details: String,
    at: i64,
}

impl<'a> NewEvent<'a> {
    fn new(kind: &'static EventKind, mut draft: EventDraft<'a>, at: i64) -> NewEvent<'a> {
        let details = Value::Object(std::mem::take(&mut draft.details)).to_string();
        NewEvent { id: uuid_v7(), kind, draft, details, at }
    }

    fn arguments(&self) -> [Arg<'_>; 8] {
        let draft = &self.draft;
        [
            (&self.id).into(),
            self.kind.name.into(),
            draft.pipeline.into(),
            draft.document.into(),
            draft.classification.into(),
            draft.previous_classification.into(),
            (&self.details).into(),
            self.at.into(),
        ]
    }
}

async fn insert_events(tx: &mut Transaction, events: &[NewEvent<'_>]) -> std::result::Result<(), DatabaseError> {
    let (batches, remainder) = events.as_chunks::<5>();
    for batch in batches {
        tx.execute(INSERT_FIVE, &batch.each_ref().map(NewEvent::arguments).concat()).await?;
    }
    for event in remainder {
        tx.execute(INSERT, &event.arguments()).await?;
    }
    Ok(())
}

type Row = (String, i64, String, Option<String>, Option<String>, Option<String>, Option<String>, String, i64);

const INSERT: &str =
    "insert into events (id, event_type, pipeline_id, document_id, classification, previous_classification, details, happened_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)";
/// Stages and final event of a document mostly arrive together, and a statement costs more than a row.
const INSERT_FIVE: &str =
    "insert into events (id, event_type, pipeline_id, document_id, classification, previous_classification, details, happened_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8), ($9, $10, $11, $12, $13, $14, $15, $16),
  ($17, $18, $19, $20, $21, $22, $23, $24), ($25, $26, $27, $28, $29, $30, $31, $32),
  ($33, $34, $35, $36, $37, $38, $39, $40)";
const DOCUMENT: &str =
    "select classification, revision, status, filename, parent_id from documents where id = $1 and pipeline_id = $2";
const UNSEQUENCED: &str = "select id from events where position is null limit 1";
/// Locks the counter until the transaction ends, without changing it.
const LOCK_COUNTER: &str = "update counters set value = value where name = 'events'";
const ASSIGN_POSITIONS: &str = "update events set position = numbered.number from (
    select id as numbered_id, (select value from counters where name = 'events')
      + row_number() over (order by happened_at, id) as number
    from events where position is null order by happened_at, id limit $1
  ) as numbered where events.id = numbered.numbered_id";
const ADVANCE_COUNTER: &str = "update counters set value = value + $1 where name = 'events'";
const LAST_POSITION: &str = "select value from counters where name = 'events'";
const AFTER: &str =
    "select id, position, event_type, pipeline_id, document_id, classification, previous_classification, details, happened_at
  from events where position > $1 order by position limit $2";
const BY_ID: &str =
    "select id, coalesce(position, 0), event_type, pipeline_id, document_id, classification, previous_classification, details, happened_at
  from events where id = $1";
const POSITION: &str = "select coalesce(position, 0) from events where id = $1";
const PURGE: &str = "delete from events where id in (
    select id from events where happened_at < $1 and position is not null
    and not exists (select 1 from deliveries where event_id = events.id) order by happened_at limit $2)";
const INIT_PUBLISHING: &str =
    "insert into counters (name, value) values ('published_position', 0), ('publisher_lease_until', 0)
  on conflict (name) do nothing";
const LEASE_PUBLISHING: &str = "update counters set value = $3 where name = 'publisher_lease_until'
  and (value = $1 or value < $2 or value > $4)";
const PUBLISHED_POSITION: &str = "select value from counters where name = 'published_position'";
const SET_PUBLISHED_POSITION: &str = "update counters set value = $1 where name = 'published_position' and value < $1";
const INSERT_LICENSE_STATE: &str =
    "insert into installation (name, value) values ('license_state', $1) on conflict (name) do nothing";
const UPDATE_LICENSE_STATE: &str = "update installation set value = $1 where name = 'license_state' and value <> $1";

/// State of a document for its events.
struct DocumentState {
    id: String,
    pipeline: String,
    classification: String,
    revision: i64,
    status: String,
    filename: String,
    parent_id: Option<String>,
}

impl DocumentState {
    async fn load(
        tx: &mut Transaction,
        (pipeline, document): DocumentKey<'_>,
    ) -> std::result::Result<Option<DocumentState>, DatabaseError> {
        type Row = (String, i64, String, String, Option<String>);
        let row = tx.row::<Row>(DOCUMENT, &[document.into(), pipeline.into()]).await?;
        Ok(row.map(|(classification, revision, status, filename, parent_id)| DocumentState {
            id: document.to_owned(),
            pipeline: pipeline.to_owned(),
            classification,
            revision,
            status,
            filename,
            parent_id,
        }))
    }
}

impl Outbox {
    /// Creates an outbox; file names, which may reveal content, are optional in events.
    pub fn new(includes_filenames: bool) -> Outbox {
        Outbox { includes_filenames, ..Outbox::default() }
    }

    /// Waits until an event was committed.
    pub async fn notified(&self) {
        self.notify.notified().await;
    }

    /// Inserts an event in the transaction of its change.
    pub(super) async fn emit(
        &self,
        tx: &mut Transaction,
        kind: &'static EventKind,
        draft: EventDraft<'_>,
    ) -> std::result::Result<(), DatabaseError> {
        insert_events(tx, &[NewEvent::new(kind, draft, self.next_timestamp())]).await
    }

    /// Returns the current time, strictly increasing, so that the events of a process stay in order.
    pub fn next_timestamp(&self) -> i64 {
        let now = Timestamp::now().0;
        let next = |last: i64| now.max(last + 1);
        // `Relaxed`: the number guards no other data.
        let last = self.last_timestamp.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
        next(last.unwrap_or(0))
    }

    /// Inserts an event with the current state of a document. `previous` is its classification before a
    /// reclassification.
    pub(super) async fn emit_document_event(
        &self,
        tx: &mut Transaction,
        kind: &'static EventKind,
        document: DocumentKey<'_>,
        previous: Option<&str>,
    ) -> std::result::Result<(), DatabaseError> {
        let Some(state) = DocumentState::load(tx, document).await? else { return Ok(()) };
        let draft = EventDraft { previous_classification: previous, ..self.document_draft(&state, &state.status) };
        self.emit(tx, kind, draft).await
    }

    /// Inserts the stage events of a document, and its final event if there is one.
    pub(super) async fn emit_stage_events(
        &self,
        tx: &mut Transaction,
        document: DocumentKey<'_>,
        stages: &[StageTransition],
        end: Option<&'static EventKind>,
    ) -> std::result::Result<(), DatabaseError> {
        if stages.is_empty() && end.is_none() {
            return Ok(());
        }
        let Some(state) = DocumentState::load(tx, document).await? else { return Ok(()) };
        let stage = |stage: &StageTransition| {
            NewEvent::new(event::DOCUMENT_STAGE, self.document_draft(&state, stage.status.as_str()), stage.at)
        };
        let end =
            end.map(|kind| NewEvent::new(kind, self.document_draft(&state, &state.status), self.next_timestamp()));
        let new_events: Vec<NewEvent<'_>> = stages.iter().map(stage).chain(end).collect();
        insert_events(tx, &new_events).await
    }

    /// Builds the event fields of a document with a status.
    fn document_draft<'a>(&self, state: &'a DocumentState, status: &str) -> EventDraft<'a> {
        let mut details =
            Map::from_iter([("status".into(), status.into()), ("revision".into(), state.revision.into())]);
        if let Some(mail) = &state.parent_id {
            details.insert("parent_id".into(), mail.as_str().into());
        }
        if self.includes_filenames {
            details.insert("filename".into(), state.filename.clone().into());
        }
        let (pipeline, document, classification) =
            (Some(&*state.pipeline), Some(&*state.id), Some(&*state.classification));
        EventDraft { pipeline, document, classification, previous_classification: None, details }
    }

    /// Commits a transaction with its audit entry and wakes the sequencer.
    pub(super) async fn commit(&self, mut tx: Transaction) -> std::result::Result<(), DatabaseError> {
        if let Some(entry) = crate::domain::audit_context::pending_entry() {
            audit::insert_entry(&mut tx, &entry, self.next_timestamp()).await?;
        }
        tx.commit().await?;
        crate::domain::audit_context::mark_written();
        self.notify.notify_one();
        Ok(())
    }
}

impl Store {
    /// Returns the transactional outbox of events.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Assigns positions to at most `limit` events that have none; returns the number assigned.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn assign_positions(&self, limit: usize) -> Result<usize> {
        if self.database.row::<(String,)>(UNSEQUENCED, &[]).await?.is_none() {
            return Ok(0);
        }
        let mut tx = self.database.begin().await?;
        lock_positions(&mut tx).await?;
        let last = tx.row::<(i64,)>(LAST_POSITION, &[]).await?.map_or(0, |row| row.0);
        let assigned = tx.execute(ASSIGN_POSITIONS, &[(limit as i64).into()]).await?;
        self.fan_out(&mut tx, last, limit).await?;
        tx.execute(ADVANCE_COUNTER, &[(assigned as i64).into()]).await?;
        tx.commit().await?;
        Ok(assigned as usize)
    }

    /// Returns the last assigned position.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn last_position(&self) -> Result<i64> {
        Ok(self.database.row::<(i64,)>(LAST_POSITION, &[]).await?.map_or(0, |row| row.0))
    }

    /// Returns the events after a position, in order.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn events_after(&self, position: i64, limit: usize) -> Result<Vec<Event>> {
        let rows = self.database.rows::<Row>(AFTER, &[position.into(), (limit as i64).into()]).await?;
        rows.into_iter().map(event).collect()
    }

    /// Returns an event by id; none if it was purged.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn event(&self, id: &str) -> Result<Option<Event>> {
        self.database.row::<Row>(BY_ID, &[id.into()]).await?.map(event).transpose()
    }

    /// Returns the position of an event; none if it was purged.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn event_position(&self, id: &str) -> Result<Option<i64>> {
        Ok(self.database.row::<(i64,)>(POSITION, &[id.into()]).await?.map(|row| row.0))
    }

    /// Deletes at most `limit` events before a time that have no deliveries; returns the number deleted.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn purge_events(&self, before: i64, limit: usize) -> Result<usize> {
        Ok(self.database.execute(PURGE, &[before.into(), (limit as i64).into()]).await? as usize)
    }

    /// Creates the counters of the NATS publisher.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn init_publishing(&self) -> Result<()> {
        self.database.execute(INIT_PUBLISHING, &[]).await?;
        Ok(())
    }

    /// Takes or renews the publisher lease; `before` is its previous expiry. Returns false if another process
    /// holds it.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn lease_publishing(&self, before: i64, now: i64, until: i64) -> Result<bool> {
        let latest = latest_plausible(Timestamp(until), Duration::ZERO);
        let arguments = [before.into(), now.into(), until.into(), latest.into()];
        Ok(self.database.execute(LEASE_PUBLISHING, &arguments).await? > 0)
    }

    /// Returns the position of the last published event.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn published_position(&self) -> Result<i64> {
        Ok(self.database.row::<(i64,)>(PUBLISHED_POSITION, &[]).await?.map_or(0, |row| row.0))
    }

    /// Records that all events up to a position were published.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn set_published_position(&self, position: i64) -> Result<()> {
        self.database.execute(SET_PUBLISHED_POSITION, &[position.into()]).await?;
        Ok(())
    }

    /// Emits an event if the license or its state has changed.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn record_license_state(&self, state: &str, id: &str) -> Result<()> {
        let value = format!("{state} {id}");
        let value = value.trim_end();
        let mut tx = self.database.begin().await?;
        let is_first = tx.execute(INSERT_LICENSE_STATE, &[value.into()]).await? > 0;
        if is_first {
            return Ok(tx.commit().await?);
        }
        if tx.execute(UPDATE_LICENSE_STATE, &[value.into()]).await? == 0 {
            return Ok(());
        }
        let details = Map::from_iter([("status".to_owned(), state.into())]);
        let entry = AuditEntry::by_system("license.change", "/api/license".to_owned(), details.clone());
        audit::insert_entry(&mut tx, &entry, self.outbox.next_timestamp()).await?;
        self.outbox.emit(&mut tx, event::LICENSE_CHANGED, EventDraft { details, ..EventDraft::default() }).await?;
        self.outbox.commit(tx).await?;
        Ok(())
    }
}

/// Locks the assignment of positions until the transaction ends.
pub(super) async fn lock_positions(tx: &mut Transaction) -> Result<()> {
    tx.execute(LOCK_COUNTER, &[]).await?;
    Ok(())
}

/// Returns the events after a position, including those positioned in this transaction.
pub(super) async fn events_after(tx: &mut Transaction, position: i64, limit: usize) -> Result<Vec<Event>> {
    let rows = tx.rows::<Row>(AFTER, &[position.into(), (limit as i64).into()]).await?;
    rows.into_iter().map(event).collect()
}

fn event(row: Row) -> Result<Event> {
    let kind = event::find(&row.2).ok_or_else(|| StoreError::Corrupt(format!("event {}", row.2)))?;
    Ok(Event {
        details: from_json("details", &row.7)?,
        id: row.0,
        position: row.1,
        kind,
        pipeline_id: row.3,
        document_id: row.4,
        classification: row.5,
        previous_classification: row.6,
        happened_at: row.8,
    })
}

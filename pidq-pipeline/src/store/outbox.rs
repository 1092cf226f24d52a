//! Events in the database: written with the change that they tell of, and told when that is sure.
//!
//! Transactions end in another order than they begin, so a number that a transaction takes may become visible after a
//! later one, and whoever asks for "all behind 7" would miss it. So events get their place afterwards, by whoever
//! holds the counter: what is visible of places is always all up to the last.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use pidq_http::auth::Moment;
use pidq_http::database::{Arg, DatabaseError, Transaction};
use pidq_http::uuid_v7;
use serde_json::{Map, Value};
use tokio::sync::Notify;

use super::jobs::Stage;
use super::{Result, Store, StoreError, audit, structure};
use crate::audit::Act;
use crate::events::{self, Event, Kind};

/// Where changes leave word of themselves.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    bell: Arc<Notify>,
    /// The moment of the last event of this process.
    last: Arc<AtomicI64>,
    with_names: bool,
}

/// What a change tells.
#[derive(Default)]
pub(super) struct Word<'a> {
    pub pipeline: Option<&'a str>,
    pub document: Option<&'a str>,
    pub label: Option<&'a str>,
    pub previous: Option<&'a str>,
    pub details: Map<String, Value>,
}

/// An event on its way into its row.
struct Told<'a> {
    id: String,
    kind: &'static Kind,
    word: Word<'a>,
    details: String,
    at: i64,
}

impl<'a> Told<'a> {
    fn new(kind: &'static Kind, mut word: Word<'a>, at: i64) -> Told<'a> {
        let details = Value::Object(std::mem::take(&mut word.details)).to_string();
        Told { id: uuid_v7(), kind, word, details, at }
    }

    fn arguments(&self) -> [Arg<'_>; 8] {
        let word = &self.word;
        [
            (&self.id).into(),
            self.kind.name.into(),
            word.pipeline.into(),
            word.document.into(),
            word.label.into(),
            word.previous.into(),
            (&self.details).into(),
            self.at.into(),
        ]
    }
}

async fn write(tx: &mut Transaction, events: &[Told<'_>]) -> std::result::Result<(), DatabaseError> {
    let (fives, rest) = events.as_chunks::<5>();
    for five in fives {
        tx.execute(INSERT_FIVE, &five.each_ref().map(Told::arguments).concat()).await?;
    }
    for event in rest {
        tx.execute(INSERT, &event.arguments()).await?;
    }
    Ok(())
}

type Row = (String, i64, String, Option<String>, Option<String>, Option<String>, Option<String>, String, i64);

const INSERT: &str =
    "insert into events (id, kind, pipeline_id, document_id, classification, previous, details, happened_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)";
/// The stages of a document and its end, as they come together mostly: a statement costs more than a row.
const INSERT_FIVE: &str =
    "insert into events (id, kind, pipeline_id, document_id, classification, previous, details, happened_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8), ($9, $10, $11, $12, $13, $14, $15, $16),
  ($17, $18, $19, $20, $21, $22, $23, $24), ($25, $26, $27, $28, $29, $30, $31, $32),
  ($33, $34, $35, $36, $37, $38, $39, $40)";
const DOCUMENT: &str = "select pipeline_id, classification, revision, status, filename from documents where id = $1";
const WAITING: &str = "select id from events where position is null limit 1";
/// Changes nothing, and holds the counter until the transaction is over.
const HOLD: &str = "update counters set value = value where name = 'events'";
const PLACE: &str = "update events set position = placed.place from (
    select id as placed_id, (select value from counters where name = 'events')
      + row_number() over (order by happened_at, id) as place
    from events where position is null order by happened_at, id limit $1
  ) as placed where events.id = placed.placed_id";
const COUNT: &str = "update counters set value = value + $1 where name = 'events'";
const LAST: &str = "select value from counters where name = 'events'";
const AFTER: &str =
    "select id, position, kind, pipeline_id, document_id, classification, previous, details, happened_at
  from events where position > $1 order by position limit $2";
const BY_ID: &str =
    "select id, coalesce(position, 0), kind, pipeline_id, document_id, classification, previous, details, happened_at
  from events where id = $1";
const POSITION: &str = "select coalesce(position, 0) from events where id = $1";
const FORGET: &str = "delete from events where id in (
    select id from events where happened_at < $1 and position is not null
    and not exists (select 1 from deliveries where event_id = events.id) order by happened_at limit $2)";
const HANDING_ON: &str = "insert into counters (name, value) values ('handed_on', 0), ('handing_on_until', 0)
  on conflict (name) do nothing";
const HOLD_HANDING_ON: &str = "update counters set value = $3 where name = 'handing_on_until'
  and (value = $1 or value < $2)";
const HANDED_ON: &str = "select value from counters where name = 'handed_on'";
const NOTE_HANDED_ON: &str = "update counters set value = $1 where name = 'handed_on' and value < $1";
const FIRST_LICENCE: &str =
    "insert into installation (name, value) values ('licence', $1) on conflict (name) do nothing";
const OTHER_LICENCE: &str = "update installation set value = $1 where name = 'licence' and value <> $1";

/// A document as events tell of it.
struct Seen {
    id: String,
    pipeline: String,
    label: String,
    revision: i64,
    status: String,
    filename: String,
}

impl Seen {
    async fn of(tx: &mut Transaction, document: &str) -> std::result::Result<Option<Seen>, DatabaseError> {
        type Row = (String, String, i64, String, String);
        let row = tx.row::<Row>(DOCUMENT, &[document.into()]).await?;
        Ok(row.map(|(pipeline, label, revision, status, filename)| Seen {
            id: document.to_owned(),
            pipeline,
            label,
            revision,
            status,
            filename,
        }))
    }
}

impl Outbox {
    /// With or without the names of files, which may tell what is in them.
    pub fn new(with_names: bool) -> Outbox {
        Outbox { with_names, ..Outbox::default() }
    }

    /// Waits until something was written.
    pub async fn heard(&self) {
        self.bell.notified().await;
    }

    /// Writes an event in the transaction of its change.
    pub(super) async fn tell(
        &self,
        tx: &mut Transaction,
        kind: &'static Kind,
        word: Word<'_>,
    ) -> std::result::Result<(), DatabaseError> {
        write(tx, &[Told::new(kind, word, self.moment())]).await
    }

    /// Now, and never twice the same: what one process tells is in its order.
    pub(crate) fn moment(&self) -> i64 {
        let now = Moment::now().0;
        let next = |last: i64| now.max(last + 1);
        // `Relaxed`: nothing but the number itself is shared.
        let last = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(next(last)));
        next(last.unwrap_or(0))
    }

    /// Writes what happened to a document, as it is now. `previous` is its label before, if it got another one.
    pub(super) async fn tell_of(
        &self,
        tx: &mut Transaction,
        kind: &'static Kind,
        document: &str,
        previous: Option<&str>,
    ) -> std::result::Result<(), DatabaseError> {
        let Some(seen) = Seen::of(tx, document).await? else { return Ok(()) };
        let word = Word { previous, ..self.word(&seen, &seen.status) };
        self.tell(tx, kind, word).await
    }

    /// Writes to which stages a document came, and what came of it then, if anything did.
    pub(super) async fn tell_way(
        &self,
        tx: &mut Transaction,
        document: &str,
        stages: &[Stage],
        end: Option<&'static Kind>,
    ) -> std::result::Result<(), DatabaseError> {
        if stages.is_empty() && end.is_none() {
            return Ok(());
        }
        let Some(seen) = Seen::of(tx, document).await? else { return Ok(()) };
        let stage = |stage: &Stage| Told::new(events::DOCUMENT_STAGE, self.word(&seen, stage.status.word()), stage.at);
        let end = end.map(|kind| Told::new(kind, self.word(&seen, &seen.status), self.moment()));
        let told: Vec<Told<'_>> = stages.iter().map(stage).chain(end).collect();
        write(tx, &told).await
    }

    /// What is told of a document that has such a status.
    fn word<'a>(&self, seen: &'a Seen, status: &str) -> Word<'a> {
        let mut details = Map::from_iter([("status".into(), status.into()), ("revision".into(), seen.revision.into())]);
        if self.with_names {
            details.insert("filename".into(), seen.filename.clone().into());
        }
        let (pipeline, document, label) = (Some(&*seen.pipeline), Some(&*seen.id), Some(&*seen.label));
        Word { pipeline, document, label, previous: None, details }
    }

    /// Makes the changes last, with the act that they are, and tells that there is something to tell.
    pub(super) async fn commit(&self, mut tx: Transaction) -> std::result::Result<(), DatabaseError> {
        if let Some(act) = crate::audit::current() {
            audit::note(&mut tx, &act, self.moment()).await?;
        }
        tx.commit().await?;
        crate::audit::is_noted();
        self.bell.notify_one();
        Ok(())
    }
}

impl Store {
    /// Where changes leave word of themselves.
    pub fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Gives places to events that have none, at most so many. Says to how many.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn place_events(&self, most: usize) -> Result<usize> {
        if self.database.row::<(String,)>(WAITING, &[]).await?.is_none() {
            return Ok(0);
        }
        let mut tx = self.database.begin().await?;
        hold(&mut tx).await?;
        let last = tx.row::<(i64,)>(LAST, &[]).await?.map_or(0, |row| row.0);
        let placed = tx.execute(PLACE, &[(most as i64).into()]).await?;
        self.fan_out(&mut tx, last, most).await?;
        tx.execute(COUNT, &[(placed as i64).into()]).await?;
        tx.commit().await?;
        Ok(placed as usize)
    }

    /// The last place that was given.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn last_position(&self) -> Result<i64> {
        Ok(self.database.row::<(i64,)>(LAST, &[]).await?.map_or(0, |row| row.0))
    }

    /// Events behind a position, in their order.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn events_after(&self, position: i64, most: usize) -> Result<Vec<Event>> {
        let rows = self.database.rows::<Row>(AFTER, &[position.into(), (most as i64).into()]).await?;
        rows.into_iter().map(event).collect()
    }

    /// The event of an id; none if it is forgotten.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn event(&self, id: &str) -> Result<Option<Event>> {
        self.database.row::<Row>(BY_ID, &[id.into()]).await?.map(event).transpose()
    }

    /// The place of an event; none if it is forgotten.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn position_of_event(&self, id: &str) -> Result<Option<i64>> {
        Ok(self.database.row::<(i64,)>(POSITION, &[id.into()]).await?.map(|row| row.0))
    }

    /// Forgets events before a moment that nobody waits for, at most so many. Says how many.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn forget_events(&self, before: i64, most: usize) -> Result<usize> {
        Ok(self.database.execute(FORGET, &[before.into(), (most as i64).into()]).await? as usize)
    }

    /// Makes ready what is needed to hand events on.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn begin_handing_on(&self) -> Result<()> {
        self.database.execute(HANDING_ON, &[]).await?;
        Ok(())
    }

    /// Holds the handing on of events for a while, or longer; `before` is until when it was held. Says whether nobody
    /// else holds it.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn hold_handing_on(&self, before: i64, now: i64, until: i64) -> Result<bool> {
        Ok(self.database.execute(HOLD_HANDING_ON, &[before.into(), now.into(), until.into()]).await? > 0)
    }

    /// The place of the last event that was handed on.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn handed_on(&self) -> Result<i64> {
        Ok(self.database.row::<(i64,)>(HANDED_ON, &[]).await?.map_or(0, |row| row.0))
    }

    /// Notes that all events up to a place were handed on.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn note_handed_on(&self, position: i64) -> Result<()> {
        self.database.execute(NOTE_HANDED_ON, &[position.into()]).await?;
        Ok(())
    }

    /// Tells of a licence that is another one, or in another state than it was.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn note_licence(&self, state: &str, id: &str) -> Result<()> {
        let noted = format!("{state} {id}");
        let noted = noted.trim_end();
        let mut tx = self.database.begin().await?;
        let is_first = tx.execute(FIRST_LICENCE, &[noted.into()]).await? > 0;
        if is_first {
            return Ok(tx.commit().await?);
        }
        if tx.execute(OTHER_LICENCE, &[noted.into()]).await? == 0 {
            return Ok(());
        }
        let details = Map::from_iter([("status".to_owned(), state.into())]);
        let act = Act::of_system("license.change", "/api/license".to_owned(), details.clone());
        audit::note(&mut tx, &act, self.outbox.moment()).await?;
        self.outbox.tell(&mut tx, events::LICENSE_CHANGED, Word { details, ..Word::default() }).await?;
        self.outbox.commit(tx).await?;
        Ok(())
    }
}

/// Lets nobody give places until the transaction is over.
pub(super) async fn hold(tx: &mut Transaction) -> Result<()> {
    tx.execute(HOLD, &[]).await?;
    Ok(())
}

/// Events behind a position, those too that got their places in this transaction.
pub(super) async fn behind(tx: &mut Transaction, position: i64, most: usize) -> Result<Vec<Event>> {
    let rows = tx.rows::<Row>(AFTER, &[position.into(), (most as i64).into()]).await?;
    rows.into_iter().map(event).collect()
}

fn event(row: Row) -> Result<Event> {
    let kind = events::find(&row.2).ok_or_else(|| StoreError::Damaged(format!("event {}", row.2)))?;
    Ok(Event {
        details: structure("details", &row.7)?,
        id: row.0,
        position: row.1,
        kind,
        pipeline_id: row.3,
        document_id: row.4,
        classification: row.5,
        previous: row.6,
        happened_at: row.8,
    })
}

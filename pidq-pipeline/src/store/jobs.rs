//! Work as leased rows: a job lives until it is done, and whoever works on it holds it for a while.
//!
//! A worker that dies lets go when its time is over; another one takes the job then. What a worker writes is written
//! only while it still holds the job, so that two never work on the same document's state.

use std::collections::HashMap;
use std::time::Duration;

use pidq_http::auth::Moment;
use pidq_http::database::{Arg, DatabaseError, Kind, Transaction};
use pidq_http::uuid_v7;

use super::usage::{self, Amount};
use super::{Result, Store, StoreError, again, chunks, partitions, reindexes, text};
use crate::events;
use crate::records::{Chunk, Progress, Status};

/// What is to be done.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JobKind {
    /// Read a document: text, chunks, vectors.
    Read,
    /// Take a pipeline away with its documents.
    Delete,
    /// Make another index of a pipeline.
    Reindex,
    /// Remove the chunks of a generation that is searched no more.
    Sweep,
}

impl JobKind {
    fn word(self) -> &'static str {
        match self {
            JobKind::Read => "read",
            JobKind::Delete => "delete",
            JobKind::Reindex => "reindex",
            JobKind::Sweep => "sweep",
        }
    }

    const ALL: [JobKind; 4] = [JobKind::Read, JobKind::Delete, JobKind::Reindex, JobKind::Sweep];

    fn of_word(word: &str) -> Option<JobKind> {
        JobKind::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// A job that is held.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// What is to be done.
    pub kind: JobKind,
    /// With which pipeline.
    pub pipeline_id: String,
    /// With which document.
    pub document_id: Option<String>,
    /// With which of its revisions; with which generation, if chunks are removed.
    pub revision: i64,
    /// How often it was begun, this time included.
    pub attempts: i64,
    /// Who holds it.
    holder: String,
    /// Where its document has been, and nobody was told: it is told with what is written next.
    untold: Vec<Stage>,
}

/// A stage of reading that a document came to.
#[derive(Clone, Copy, Debug)]
pub struct Stage {
    /// Which.
    pub status: Status,
    /// When, as events count.
    pub at: i64,
}

type Row = (String, String, String, Option<String>, Option<i64>, i64);

const INSERT: &str = "insert into jobs (id, kind, pipeline_id, document_id, revision, attempts, run_at, created_at)
  values ($1, $2, $3, $4, $5, 0, $6, $6) on conflict (document_id, kind) do update
  set revision = excluded.revision, attempts = 0, run_at = excluded.run_at, holder = null, held_until = null";

/// Looking takes no turn among those who write, and mostly there is nothing to take.
const DUE: &str = "select cast(1 as bigint) from jobs
  where run_at <= $1 and (held_until is null or held_until < $1) limit 1";
/// Both databases take the first job that is due; in PostgreSQL, jobs that others are just taking are passed over.
macro_rules! take {
    ($lock:literal) => {
        concat!(
            "update jobs set holder = $1, held_until = $2, attempts = attempts + 1 where id = (select id from jobs \
             where run_at <= $3 and (held_until is null or held_until < $3) order by run_at, id limit 1",
            $lock,
            ") returning id, kind, pipeline_id, document_id, revision, attempts"
        )
    };
}
const TAKE_SQLITE: &str = take!("");
const TAKE_POSTGRES: &str = take!(" for update skip locked");
const HOLD: &str = "update jobs set held_until = $3 where id = $1 and holder = $2 and held_until >= $4";
const DONE: &str = "delete from jobs where id = $1 and holder = $2";
const LATER: &str = "update jobs set holder = null, held_until = null, run_at = $3 where id = $1 and holder = $2";
const WAIT: &str = "update jobs set holder = null, held_until = null, run_at = $3, attempts = attempts - 1
  where id = $1 and holder = $2";
const COUNT: &str = "select kind, count(*) from jobs group by kind";
/// It was not in vain: what is to be done again is done for the first time.
const YIELD: &str = "update jobs set holder = null, held_until = null, run_at = $3, attempts = 0
  where id = $1 and holder = $2";
/// Changes nothing but that nobody else takes the job before the transaction ends.
const HELD: &str = "update jobs set holder = $2 where id = $1 and holder = $2 and held_until >= $3";
const PROGRESS: &str = "update documents set status = $2, attempts = $3, progress = $4, updated_at = $5
  where id = $1 and status not in ('deleting', 'cancelled')";
const FORGET_CHUNKS: &str = "delete from chunks where document_id = $1 and generation = $2";
const FORGET_CONTENTS: &str = "delete from contents where document_id = $1 and revision < $2";
const EXTRACTED: &str =
    "update contents set extracted = $3, pages = $4, title = $5 where document_id = $1 and revision = $2";
/// Never the same moment twice: an index that knows the document as of then would not look at it again.
const READY: &str = "update documents set status = 'ready', searchable_revision = $2, progress = $3, content_type = $4,
  indexed_at = case when indexed_at >= $5 then indexed_at + 1 else $5 end, updated_at = $5, attempts = $6
  where id = $1 and status not in ('deleting', 'cancelled') returning classification";

/// Adds the job of a document, or begins it anew.
pub(super) async fn add(
    tx: &mut Transaction,
    kind: JobKind,
    pipeline: &str,
    document: Option<(&str, i64)>,
    now: i64,
) -> std::result::Result<(), DatabaseError> {
    let id = uuid_v7();
    let (document, revision) = (document.map(|(id, _)| id), document.map(|(_, revision)| revision));
    let arguments: [Arg<'_>; 6] =
        [(&id).into(), kind.word().into(), pipeline.into(), document.into(), revision.into(), now.into()];
    tx.execute(INSERT, &arguments).await.map(drop)
}

/// Has the chunks of a generation removed, from a moment on.
pub(super) async fn sweep(tx: &mut Transaction, pipeline: &str, generation: i64, at: Moment) -> Result<()> {
    let (id, none) = (uuid_v7(), None::<&str>);
    let arguments: [Arg<'_>; 6] =
        [(&id).into(), JobKind::Sweep.word().into(), pipeline.into(), none.into(), generation.into(), at.0.into()];
    tx.execute(INSERT, &arguments).await?;
    Ok(())
}

impl Job {
    /// The same with one of many documents.
    pub fn with_document(&self, id: &str, revision: i64) -> Job {
        Job { document_id: Some(id.to_owned()), revision, ..self.clone() }
    }

    /// The same with stages that nobody was told of.
    pub fn with_untold(&self, untold: Vec<Stage>) -> Job {
        Job { untold, ..self.clone() }
    }
}

/// What came of what was read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Published {
    /// Queries find it.
    Done,
    /// Somebody else reads the document, or nobody wants it any more.
    Unwanted,
    /// Another index answers by now: read it again for that one.
    Outdated,
}

/// What reading a document gave.
pub struct ReadDocument {
    /// The generation of the pipeline's index that the chunks are for.
    pub generation: i64,
    /// The media type that the content has.
    pub content_type: String,
    /// Its text.
    pub extracted: String,
    /// Where its pages are, as JSON.
    pub pages: String,
    /// What it calls itself.
    pub title: Option<String>,
    /// Its chunks in order.
    pub chunks: Vec<Chunk>,
    /// What to say of it.
    pub progress: Progress,
}

impl Store {
    /// How many jobs of each kind there are, held or not.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn jobs(&self) -> Result<Vec<(&'static str, i64)>> {
        let counts: HashMap<String, i64> = self.database.rows::<(String, i64)>(COUNT, &[]).await?.into_iter().collect();
        Ok(JobKind::ALL.map(|kind| (kind.word(), counts.get(kind.word()).copied().unwrap_or(0))).into())
    }

    /// Takes the first job that is due, for a while.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn take_job(&self, holder: &str, hold: Duration) -> Result<Option<Job>> {
        let now = Moment::now();
        if self.database.row::<(i64,)>(DUE, &[now.0.into()]).await?.is_none() {
            return Ok(None);
        }
        let sql = if self.database.kind() == Kind::Postgres { TAKE_POSTGRES } else { TAKE_SQLITE };
        // What was taken and is forgotten is taken again, as after the death of a worker.
        let mut tx = self.database.begin_lightly().await?;
        let row = tx.row::<Row>(sql, &[holder.into(), (now + hold).0.into(), now.0.into()]).await?;
        tx.commit().await?;
        row.map(|row| job(row, holder)).transpose()
    }

    /// Holds a job longer. Says whether it was still held.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn hold_job(&self, job: &Job, hold: Duration) -> Result<bool> {
        let now = Moment::now();
        let arguments = [(&job.id).into(), (&job.holder).into(), (now + hold).0.into(), now.0.into()];
        Ok(self.database.execute(HOLD, &arguments).await? > 0)
    }

    /// Ends a job that is done.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn end_job(&self, job: &Job) -> Result<()> {
        self.database.execute(DONE, &[(&job.id).into(), (&job.holder).into()]).await?;
        Ok(())
    }

    /// Lets others have their turn with a job that is not done yet.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn yield_job(&self, job: &Job) -> Result<()> {
        let arguments = [(&job.id).into(), (&job.holder).into(), Moment::now().0.into()];
        self.database.execute(YIELD, &arguments).await?;
        Ok(())
    }

    /// Puts off a job until a moment.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn put_off(&self, job: &Job, until: i64) -> Result<()> {
        self.database.execute(LATER, &[(&job.id).into(), (&job.holder).into(), until.into()]).await?;
        Ok(())
    }

    /// Puts off a job until a moment, as if this attempt had not been: what it needs does not answer.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn wait_until(&self, job: &Job, until: i64) -> Result<()> {
        self.database.execute(WAIT, &[(&job.id).into(), (&job.holder).into(), until.into()]).await?;
        Ok(())
    }

    /// Says how far a document is, and where it has been. Says whether the job is still held and the document still
    /// wanted.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn report(&self, job: &Job, status: Status, progress: &Progress) -> Result<bool> {
        // Said and not promised: what comes of it is waited for.
        let mut tx = self.database.begin_lightly().await?;
        let wanted = set_progress(&mut tx, job, status, progress).await? && is_held(&mut tx, job).await?;
        if wanted {
            self.tell_of_job(&mut tx, job, None).await?;
            self.outbox.commit(tx).await?;
        }
        Ok(wanted)
    }

    /// Tells where the document of a job has been, and what came of it, if anything did.
    async fn tell_of_job(&self, tx: &mut Transaction, job: &Job, end: Option<&'static events::Kind>) -> Result<()> {
        let document = job.document_id.as_deref().unwrap_or_default();
        Ok(self.outbox.tell_way(tx, document, &job.untold, end).await?)
    }

    /// Ends a job whose document failed for good, or tries again at a moment.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn fail(&self, job: &Job, progress: &Progress, again_at: Option<i64>) -> Result<bool> {
        let status = if again_at.is_some() { Status::Queued } else { Status::Failed };
        let mut tx = self.database.begin().await?;
        let written = set_progress(&mut tx, job, status, progress).await?;
        if !is_held(&mut tx, job).await? {
            return Ok(false);
        }
        if written {
            let kind = if again_at.is_some() { events::DOCUMENT_QUEUED } else { events::DOCUMENT_FAILED };
            self.tell_of_job(&mut tx, job, Some(kind)).await?;
        }
        match again_at {
            Some(moment) => tx.execute(LATER, &[(&job.id).into(), (&job.holder).into(), moment.into()]).await?,
            None => tx.execute(DONE, &[(&job.id).into(), (&job.holder).into()]).await?,
        };
        self.outbox.commit(tx).await?;
        Ok(true)
    }

    /// Puts a job back until a moment with the document that it is of, as if this attempt had not been.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn postpone(&self, job: &Job, progress: &Progress, until: i64) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        let written = set_progress(&mut tx, job, Status::Queued, progress).await?;
        if !is_held(&mut tx, job).await? {
            return Ok(false);
        }
        if written {
            self.tell_of_job(&mut tx, job, Some(events::DOCUMENT_QUEUED)).await?;
        }
        tx.execute(WAIT, &[(&job.id).into(), (&job.holder).into(), until.into()]).await?;
        self.outbox.commit(tx).await?;
        Ok(true)
    }

    /// Stores all that reading a document gave, and makes queries find it, at once. What was read for an index that
    /// answers no more is not stored.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn publish(&self, job: &Job, read: &ReadDocument) -> Result<Published> {
        again(|| Box::pin(self.try_publish(job, read))).await
    }

    async fn try_publish(&self, job: &Job, read: &ReadDocument) -> Result<Published> {
        let Some(document) = &job.document_id else { return Ok(Published::Unwanted) };
        let mut tx = self.database.begin().await?;
        // First of all, as whoever puts another index in the place of this one does.
        let generation = reindexes::stay(&mut tx, self.database.kind(), &job.pipeline_id).await?;
        let progress = text(&read.progress)?;
        let arguments = [
            document.into(),
            job.revision.into(),
            (&progress).into(),
            (&read.content_type).into(),
            Moment::now().0.into(),
            job.attempts.into(),
        ];
        // The label of this moment: nobody changes it while this transaction has the row.
        let Some((label,)) = tx.row::<(String,)>(READY, &arguments).await? else { return Ok(Published::Unwanted) };
        if !is_held(&mut tx, job).await? {
            return Ok(Published::Unwanted);
        }
        if generation != Some(read.generation) {
            return Ok(Published::Outdated);
        }
        put_text(&mut tx, job, document, &label, read).await?;
        tx.execute(DONE, &[(&job.id).into(), (&job.holder).into()]).await?;
        // Figures come last everywhere, so that nobody waits for them in a circle.
        let amount = Amount { chunks: read.chunks.len() as i64, ..Amount::default() };
        usage::count(&mut tx, &job.pipeline_id, &label, amount).await?;
        self.tell_of_job(&mut tx, job, Some(events::DOCUMENT_READY)).await?;
        self.outbox.commit(tx).await?;
        Ok(Published::Done)
    }
}

/// Puts what was read of a document, and its chunks, in the place of what was there.
async fn put_text(tx: &mut Transaction, job: &Job, document: &str, label: &str, read: &ReadDocument) -> Result<()> {
    let title = read.title.as_deref();
    let arguments =
        [document.into(), job.revision.into(), (&read.extracted).into(), (&read.pages).into(), title.into()];
    tx.execute(EXTRACTED, &arguments).await?;
    tx.execute(FORGET_CONTENTS, &[document.into(), job.revision.into()]).await?;
    let forgotten = tx.execute(FORGET_CHUNKS, &[document.into(), read.generation.into()]).await?;
    let home = chunks::Home {
        pipeline: &job.pipeline_id,
        generation: read.generation,
        classification: label,
        document,
        revision: job.revision,
    };
    chunks::insert(tx, &home, &read.chunks).await?;
    match forgotten {
        0 => partitions::grown(tx, &job.pipeline_id, label).await?,
        _ => partitions::changed_under(tx, &job.pipeline_id, label).await?,
    }
    Ok(())
}

/// Whether a job is held, and then until the transaction ends.
///
/// Asked after the document was written: whoever ends a job writes its document first, so that all wait for each other in
/// the same order, and nothing can happen to the job between this answer and the end.
pub(super) async fn is_held(tx: &mut Transaction, job: &Job) -> Result<bool> {
    let arguments = [(&job.id).into(), (&job.holder).into(), Moment::now().0.into()];
    Ok(tx.execute(HELD, &arguments).await? > 0)
}

async fn set_progress(tx: &mut Transaction, job: &Job, status: Status, progress: &Progress) -> Result<bool> {
    let Some(document) = &job.document_id else { return Ok(false) };
    let progress = text(progress)?;
    let arguments =
        [document.into(), status.word().into(), job.attempts.into(), (&progress).into(), Moment::now().0.into()];
    Ok(tx.execute(PROGRESS, &arguments).await? > 0)
}

fn job(row: Row, holder: &str) -> Result<Job> {
    let kind = JobKind::of_word(&row.1).ok_or_else(|| StoreError::Damaged(format!("job {}", row.1)))?;
    let (document_id, revision) = (row.3, row.4.unwrap_or(0));
    Ok(Job {
        id: row.0,
        kind,
        pipeline_id: row.2,
        document_id,
        revision,
        attempts: row.5,
        holder: holder.to_owned(),
        untold: Vec::new(),
    })
}

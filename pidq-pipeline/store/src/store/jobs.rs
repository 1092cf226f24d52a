//! Job queue of leased rows: a row exists until its job is done, and a worker holds a lease while it runs the job.
//!
//! The lease of a crashed worker expires, and another worker takes the job. A worker's writes are committed
//! only while it holds the lease, so that two workers never modify the same document.

use std::collections::HashMap;
use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_http::database::{Arg, DatabaseError, DatabaseKind, Transaction};
use pidq_http::{Trace, uuid_v7};

use super::outbox::StageTransition;
use super::{Result, Store, StoreError, latest_plausible, to_json};
use crate::domain::event;
use crate::domain::model::{Progress, Status};

/// Kind of a job.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JobKind {
    /// Ingest a document: text, chunks, vectors.
    Ingest,
    /// Delete a pipeline with its documents.
    Delete,
    /// Build a new index of a pipeline.
    Reindex,
    /// Delete the chunks of a generation that is no longer searched.
    Sweep,
}

impl JobKind {
    /// Returns the name.
    pub fn as_str(self) -> &'static str {
        match self {
            JobKind::Ingest => "ingest",
            JobKind::Delete => "delete",
            JobKind::Reindex => "reindex",
            JobKind::Sweep => "sweep",
        }
    }

    const ALL: [JobKind; 4] = [JobKind::Ingest, JobKind::Delete, JobKind::Reindex, JobKind::Sweep];

    fn parse(name: &str) -> Option<JobKind> {
        JobKind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// A leased job.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// Its kind.
    pub kind: JobKind,
    /// The pipeline.
    pub pipeline_id: String,
    /// The document.
    pub document_id: Option<String>,
    /// The document's revision; for a sweep, the generation.
    pub revision: i64,
    /// Number of attempts, including this one.
    pub attempts: i64,
    /// Position of the request that added the job in its trace, if it has one.
    pub traceparent: Option<String>,
    /// Lease owner.
    lease_owner: String,
    /// Stage transitions without an event yet; the next write emits them.
    pending_stages: Vec<StageTransition>,
}

type Row = (String, String, String, Option<String>, Option<i64>, i64, Option<String>);

/// Longest delay of a job, except for one lease: the sweep after an index swap. The last retry of a job comes earlier.
pub(super) const MAX_DELAY: Duration = Duration::from_mins(5);

const INSERT: &str =
    "insert into jobs (id, kind, pipeline_id, document_id, revision, attempts, run_at, created_at, traceparent)
  values ($1, $2, $3, $4, $5, 0, $6, $6, $7) on conflict (document_id, kind) do update
  set revision = excluded.revision, attempts = 0, run_at = excluded.run_at, lease_owner = null, lease_until = null,
  traceparent = excluded.traceparent";

/// Checked before leasing: a read takes no write lock, and usually no job is due. Times after `$2` were recorded before
/// the clock was set back.
const DUE: &str = "select cast(1 as bigint)
  where exists (select 1 from jobs where run_at <= $1 and (lease_until is null or lease_until < $1 or lease_until > $2))
  or exists (select 1 from jobs where run_at > $2 and (lease_until is null or lease_until < $1 or lease_until > $2))";
/// Selects the first job of a time range that no worker runs. Two ranges, because the index serves one range at a time.
macro_rules! first_available {
    ($range:literal, $lock:literal) => {
        concat!(
            "(select id from jobs where ",
            $range,
            " and (lease_until is null or lease_until < $3 or lease_until > $4) order by run_at, id limit 1",
            $lock,
            ")"
        )
    };
}
/// Leases the first due job; PostgreSQL skips jobs that other workers are leasing.
macro_rules! lease_first_due {
    ($lock:literal) => {
        concat!(
            "update jobs set lease_owner = $1, lease_until = $2, attempts = attempts + 1 where id = coalesce(",
            first_available!("run_at <= $3", $lock),
            ", ",
            first_available!("run_at > $4", $lock),
            ") returning id, kind, pipeline_id, document_id, revision, attempts, traceparent"
        )
    };
}
const LEASE_SQLITE: &str = lease_first_due!("");
const LEASE_POSTGRES: &str = lease_first_due!(" for update skip locked");
const RENEW: &str = "update jobs set lease_until = $3 where id = $1 and lease_owner = $2 and lease_until >= $4";
const DELETE: &str = "delete from jobs where id = $1 and lease_owner = $2";
const DELAY: &str =
    "update jobs set lease_owner = null, lease_until = null, run_at = $3 where id = $1 and lease_owner = $2";
const POSTPONE: &str = "update jobs set lease_owner = null, lease_until = null, run_at = $3, attempts = attempts - 1
  where id = $1 and lease_owner = $2";
/// Run time of the oldest job that is due and that no worker runs.
const OLDEST_DUE: &str =
    "select min(run_at) from jobs where run_at <= $1 and (lease_until is null or lease_until < $1)";
const COUNT: &str = "select kind, count(*) from jobs group by kind";
/// Progress was made, so the attempts start over.
const YIELD: &str = "update jobs set lease_owner = null, lease_until = null, run_at = $3, attempts = 0
  where id = $1 and lease_owner = $2";
/// Locks the row without changing it, so that no other worker takes the job before the transaction ends.
const LOCK_LEASE: &str = "update jobs set lease_owner = $2 where id = $1 and lease_owner = $2 and lease_until >= $3";
const SET_PROGRESS: &str = "update documents set status = $2, attempts = $3, progress = $4, updated_at = $5
  where id = $1 and pipeline_id = $6 and status not in ('deleting', 'cancelled')";
/// Adds a job in the trace of the running task, or restarts the existing one of the document.
pub(super) async fn add(
    tx: &mut Transaction,
    kind: JobKind,
    pipeline: &str,
    document: Option<(&str, i64)>,
    now: i64,
) -> std::result::Result<(), DatabaseError> {
    let id = uuid_v7();
    let (document, revision) = (document.map(|(id, _)| id), document.map(|(_, revision)| revision));
    let trace = Trace::current();
    let arguments: [Arg<'_>; 7] = [
        (&id).into(),
        kind.as_str().into(),
        pipeline.into(),
        document.into(),
        revision.into(),
        now.into(),
        trace.traceparent().into(),
    ];
    tx.execute(INSERT, &arguments).await.map(drop)
}

/// Schedules the deletion of a generation's chunks.
pub(super) async fn sweep(tx: &mut Transaction, pipeline: &str, generation: i64, run_at: Timestamp) -> Result<()> {
    let (id, none) = (uuid_v7(), None::<&str>);
    let arguments: [Arg<'_>; 7] = [
        (&id).into(),
        JobKind::Sweep.as_str().into(),
        pipeline.into(),
        none.into(),
        generation.into(),
        run_at.0.into(),
        none.into(),
    ];
    tx.execute(INSERT, &arguments).await?;
    Ok(())
}

impl Job {
    /// Returns the job for one document of many.
    pub fn with_document(&self, id: &str, revision: i64) -> Job {
        Job { document_id: Some(id.to_owned()), revision, ..self.clone() }
    }

    /// Returns the job with pending stage transitions.
    pub fn with_pending_stages(&self, stages: Vec<StageTransition>) -> Job {
        Job { pending_stages: stages, ..self.clone() }
    }
}

impl Store {
    /// Counts the jobs of each kind, leased or not.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn count_jobs_by_kind(&self) -> Result<Vec<(&'static str, i64)>> {
        let counts: HashMap<String, i64> = self.database.rows::<(String, i64)>(COUNT, &[]).await?.into_iter().collect();
        Ok(JobKind::ALL.map(|kind| (kind.as_str(), counts.get(kind.as_str()).copied().unwrap_or(0))).into())
    }

    /// Returns how long the oldest due job has waited for a worker; zero if none is due.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn oldest_job_age(&self) -> Result<Duration> {
        let now = Timestamp::now().0;
        let oldest = self.database.row::<(Option<i64>,)>(OLDEST_DUE, &[now.into()]).await?.and_then(|row| row.0);
        let waited = oldest.map_or(0, |run_at| now.saturating_sub(run_at));
        Ok(Duration::from_millis(u64::try_from(waited).unwrap_or(0)))
    }

    /// Leases the first due job.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn lease_job(&self, lease_owner: &str, lease: Duration) -> Result<Option<Job>> {
        let now = Timestamp::now();
        let latest = latest_plausible(now, lease.max(MAX_DELAY));
        if self.database.row::<(i64,)>(DUE, &[now.0.into(), latest.into()]).await?.is_none() {
            return Ok(None);
        }
        let sql = if self.database.kind() == DatabaseKind::Postgres { LEASE_POSTGRES } else { LEASE_SQLITE };
        // No durability needed: if a crash loses this commit, the job is leased again, as after a worker crash.
        let mut tx = self.database.begin_relaxed().await?;
        let arguments = [lease_owner.into(), (now + lease).0.into(), now.0.into(), latest.into()];
        let row = tx.row::<Row>(sql, &arguments).await?;
        tx.commit().await?;
        row.map(|row| job(row, lease_owner)).transpose()
    }

    /// Renews the lease of a job; returns false if it was lost.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn renew_job_lease(&self, job: &Job, lease: Duration) -> Result<bool> {
        let now = Timestamp::now();
        let arguments = [(&job.id).into(), (&job.lease_owner).into(), (now + lease).0.into(), now.0.into()];
        Ok(self.database.execute(RENEW, &arguments).await? > 0)
    }

    /// Deletes a completed job.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn complete_job(&self, job: &Job) -> Result<()> {
        self.database.execute(DELETE, &[(&job.id).into(), (&job.lease_owner).into()]).await?;
        Ok(())
    }

    /// Releases an unfinished job, so that other jobs run first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn yield_job(&self, job: &Job) -> Result<()> {
        let arguments = [(&job.id).into(), (&job.lease_owner).into(), Timestamp::now().0.into()];
        self.database.execute(YIELD, &arguments).await?;
        Ok(())
    }

    /// Delays a job until a time.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn delay_job(&self, job: &Job, until: i64) -> Result<()> {
        self.database.execute(DELAY, &[(&job.id).into(), (&job.lease_owner).into(), until.into()]).await?;
        Ok(())
    }

    /// Delays a job until a time without counting this attempt, because a dependency is unavailable.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn postpone_job(&self, job: &Job, until: i64) -> Result<()> {
        self.database.execute(POSTPONE, &[(&job.id).into(), (&job.lease_owner).into(), until.into()]).await?;
        Ok(())
    }

    /// Stores the progress of a document and emits its stage events. Returns false if the lease was lost or the
    /// document was deleted or cancelled.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn report_progress(&self, job: &Job, status: Status, progress: &Progress) -> Result<bool> {
        // No durability needed: only the result of the job must survive a crash.
        let mut tx = self.database.begin_relaxed().await?;
        let is_current = set_progress(&mut tx, job, status, progress).await? && holds_lease(&mut tx, job).await?;
        if is_current {
            self.emit_job_events(&mut tx, job, None).await?;
            self.outbox.commit(tx).await?;
        }
        Ok(is_current)
    }

    /// Emits the pending stage events of a job, and the final event if there is one.
    pub(super) async fn emit_job_events(
        &self,
        tx: &mut Transaction,
        job: &Job,
        end: Option<&'static event::EventKind>,
    ) -> Result<()> {
        let document = job.document_id.as_deref().unwrap_or_default();
        let key = (job.pipeline_id.as_str(), document);
        Ok(self.outbox.emit_stage_events(tx, key, &job.pending_stages, end).await?)
    }

    /// Marks a document as failed, or schedules a retry.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn fail_job(&self, job: &Job, progress: &Progress, retry_at: Option<i64>) -> Result<bool> {
        let status = if retry_at.is_some() { Status::Queued } else { Status::Failed };
        let mut tx = self.database.begin().await?;
        let written = set_progress(&mut tx, job, status, progress).await?;
        if !holds_lease(&mut tx, job).await? {
            return Ok(false);
        }
        if written {
            let kind = if retry_at.is_some() { event::DOCUMENT_QUEUED } else { event::DOCUMENT_FAILED };
            self.emit_job_events(&mut tx, job, Some(kind)).await?;
        }
        match retry_at {
            Some(timestamp) => {
                tx.execute(DELAY, &[(&job.id).into(), (&job.lease_owner).into(), timestamp.into()]).await?
            }
            None => tx.execute(DELETE, &[(&job.id).into(), (&job.lease_owner).into()]).await?,
        };
        self.outbox.commit(tx).await?;
        Ok(true)
    }

    /// Delays a job and its document until a time without counting this attempt.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn postpone_document(&self, job: &Job, progress: &Progress, until: i64) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        let written = set_progress(&mut tx, job, Status::Queued, progress).await?;
        if !holds_lease(&mut tx, job).await? {
            return Ok(false);
        }
        if written {
            self.emit_job_events(&mut tx, job, Some(event::DOCUMENT_QUEUED)).await?;
        }
        tx.execute(POSTPONE, &[(&job.id).into(), (&job.lease_owner).into(), until.into()]).await?;
        self.outbox.commit(tx).await?;
        Ok(true)
    }
}

/// Returns true if the lease is held, and keeps it until the transaction ends.
///
/// Called after the document was written: every transaction that ends a job writes its document first, so that locks
/// are taken in one order, and the job cannot change between this check and the commit.
pub(super) async fn holds_lease(tx: &mut Transaction, job: &Job) -> Result<bool> {
    let arguments = [(&job.id).into(), (&job.lease_owner).into(), Timestamp::now().0.into()];
    Ok(tx.execute(LOCK_LEASE, &arguments).await? > 0)
}

/// Deletes a completed job in a transaction that checked its lease.
pub(super) async fn complete(tx: &mut Transaction, job: &Job) -> Result<()> {
    tx.execute(DELETE, &[(&job.id).into(), (&job.lease_owner).into()]).await?;
    Ok(())
}

async fn set_progress(tx: &mut Transaction, job: &Job, status: Status, progress: &Progress) -> Result<bool> {
    let Some(document) = &job.document_id else { return Ok(false) };
    let progress = to_json(progress)?;
    let arguments = [
        document.into(),
        status.as_str().into(),
        job.attempts.into(),
        (&progress).into(),
        Timestamp::now().0.into(),
        (&job.pipeline_id).into(),
    ];
    Ok(tx.execute(SET_PROGRESS, &arguments).await? > 0)
}

fn job(row: Row, lease_owner: &str) -> Result<Job> {
    let kind = JobKind::parse(&row.1).ok_or_else(|| StoreError::Corrupt(format!("job {}", row.1)))?;
    let (document_id, revision) = (row.3, row.4.unwrap_or(0));
    Ok(Job {
        id: row.0,
        kind,
        pipeline_id: row.2,
        document_id,
        revision,
        attempts: row.5,
        traceparent: row.6,
        lease_owner: lease_owner.to_owned(),
        pending_stages: Vec::new(),
    })
}

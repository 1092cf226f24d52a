//! Another index of a pipeline: built beside the one that answers, and put in its place at once.
//!
//! The chunks of the new index carry a generation of their own, which no query reads. A document is marked when it is
//! in it, with the revision that is. The indexes change places only in a transaction that sees every document marked
//! as it is: what came or changed in between is built first. In PostgreSQL that transaction and those that make a
//! document ready take turns by the row of the pipeline.

use std::time::Duration;

use pidq_http::auth::Moment;
use pidq_http::database::{Kind as DatabaseKind, Transaction};
use serde_json::{Map, Value};

use super::jobs::{self, JobKind};
use super::operations;
use super::outbox::Word;
use super::{Job, ReadDocument, Result, Store, StoreError, again, chunks, structure, text};
use crate::events;
use crate::operations::{Fault, Kind, Operation, Progress, State};
use crate::records::Pipeline;

/// What a pipeline will be.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// A known model.
    pub embedding_model: String,
    /// How many numbers a vector has.
    pub embedding_dimensions: i64,
    /// A known splitter.
    pub text_splitter: String,
    /// All its parameters.
    pub splitter_parameters: Map<String, Value>,
}

/// An index that is being made.
#[derive(Clone, Debug, PartialEq)]
pub struct Reindex {
    /// The operation that it is.
    pub operation: String,
    /// The generation of its chunks.
    pub generation: i64,
    /// What the pipeline will be.
    pub target: Target,
}

impl Reindex {
    /// The pipeline as it will be.
    pub fn of(&self, pipeline: &Pipeline) -> Pipeline {
        Pipeline {
            generation: self.generation,
            embedding_model: self.target.embedding_model.clone(),
            embedding_dimensions: self.target.embedding_dimensions,
            text_splitter: self.target.text_splitter.clone(),
            splitter_parameters: self.target.splitter_parameters.clone(),
            ..pipeline.clone()
        }
    }
}

/// What came of an attempt to put the new index in the place of the old one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Swap {
    /// It answers now.
    Done,
    /// Documents are missing in it.
    NotYet,
    /// Somebody else makes it, or nobody wants it any more.
    Unwanted,
}

const BEGIN: &str = "update pipelines set status = 'reindexing', updated_at = $2 where id = $1 and status = 'active'";
const END: &str = "update pipelines set status = 'active', updated_at = $2 where id = $1 and status = 'reindexing'";
/// Changes nothing. Whoever needs the row of the pipeline and that of the job takes them in this order, and documents after
/// both: so nobody waits for somebody who waits for him.
const LOCK: &str = "update pipelines set status = status where id = $1";
const NEXT_GENERATION: &str = "select coalesce(max(known.generation), 0) + 1 from (
    select generation from pipelines where id = $1
    union all select generation from operations where pipeline_id = $1 and generation is not null) as known";
const INSERT: &str = "insert into reindexes (pipeline_id, operation_id, generation, embedding_model,
  embedding_dimensions, text_splitter, splitter_parameters) values ($1, $2, $3, $4, $5, $6, $7)";
const BY_PIPELINE: &str = "select operation_id, generation, embedding_model, embedding_dimensions, text_splitter,
  splitter_parameters from reindexes where pipeline_id = $1";
const GENERATION: &str = "select generation from reindexes where pipeline_id = $1";
const DELETE: &str = "delete from reindexes where pipeline_id = $1";
const DELETE_JOBS: &str = "delete from jobs where pipeline_id = $1 and kind = 'reindex'";
macro_rules! missing {
    ($select:literal, $end:literal) => {
        concat!(
            "select ",
            $select,
            " from documents d where d.pipeline_id = $1 and d.searchable_revision is not null and not exists \
             (select 1 from shadows s where s.document_id = d.id and s.generation = $2 \
             and s.revision = d.searchable_revision)",
            $end
        )
    };
}
const MISSING: &str = missing!("d.id, d.searchable_revision", " order by d.id limit $3");
const COUNT_MISSING: &str = missing!("count(*)", "");
const COUNT_SEARCHABLE: &str =
    "select count(*) from documents where pipeline_id = $1 and searchable_revision is not null";
/// Nobody else changes the row until the transaction is over. SQLite has one writer anyway.
macro_rules! locked {
    ($name:ident, $sql:literal, $lock:literal) => {
        mod $name {
            pub const SQLITE: &str = $sql;
            pub const POSTGRES: &str = concat!($sql, $lock);
        }
    };
}
locked!(lock_document, "select searchable_revision, classification from documents where id = $1", " for no key update");
locked!(
    lock_pipeline,
    "select generation from pipelines where id = $1 and status = 'reindexing'",
    " for no key update"
);
locked!(share_pipeline, "select generation from pipelines where id = $1", " for share");
const SAME_TEXT: &str = "select 1 from contents where document_id = $1 and revision = $2 and extracted = $3
  and pages = $4 and coalesce(title, '') = coalesce($5, '')";
const FORGET_CHUNKS: &str = "delete from chunks where document_id = $1 and generation = $2";
const MARK: &str =
    "insert into shadows (document_id, pipeline_id, generation, revision, content_type, extracted, pages,
  title, progress) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (document_id, generation) do update set
  revision = excluded.revision, content_type = excluded.content_type, extracted = excluded.extracted,
  pages = excluded.pages, title = excluded.title, progress = excluded.progress";
const TAKE_TEXTS: &str = "update contents set extracted = s.extracted, pages = s.pages, title = s.title
  from shadows s where s.pipeline_id = $1 and s.generation = $2 and s.extracted is not null
  and contents.document_id = s.document_id and contents.revision = s.revision";
const TAKE_STATES: &str = "update documents set progress = s.progress, content_type = s.content_type,
  updated_at = case when updated_at >= $3 then updated_at + 1 else $3 end
  from shadows s where s.pipeline_id = $1 and s.generation = $2
  and documents.id = s.document_id and documents.status = 'ready' and documents.searchable_revision = s.revision";
const TAKE_PLACE: &str = "update pipelines set generation = $2, embedding_model = $3, embedding_dimensions = $4,
  text_splitter = $5, splitter_parameters = $6, status = 'active', revision = revision + 1, updated_at = $7 where id = $1";
const FORGET_MARKS: &str = "delete from shadows where pipeline_id = $1 and generation = $2";
const SWEEP: &str = "delete from chunks where id in
  (select id from chunks where pipeline_id = $1 and generation = $2 limit $3)";

/// The generation that a pipeline's documents are made ready in. It stays until the transaction is over.
pub(super) async fn stay(tx: &mut Transaction, kind: DatabaseKind, pipeline: &str) -> Result<Option<i64>> {
    let sql = if kind == DatabaseKind::Postgres { share_pipeline::POSTGRES } else { share_pipeline::SQLITE };
    Ok(tx.row::<(i64,)>(sql, &[pipeline.into()]).await?.map(|row| row.0))
}

/// Ends the making of an index, for whatever reason, and has what is there of it removed. Says what it was.
pub(super) async fn give_up(
    tx: &mut Transaction,
    pipeline: &str,
    state: State,
    fault: Option<&Fault>,
) -> Result<Option<i64>> {
    tx.execute(END, &[pipeline.into(), Moment::now().0.into()]).await?;
    let Some((generation,)) = tx.row::<(i64,)>(GENERATION, &[pipeline.into()]).await? else { return Ok(None) };
    tx.execute(DELETE_JOBS, &[pipeline.into()]).await?;
    tx.execute(DELETE, &[pipeline.into()]).await?;
    operations::end(tx, Kind::Reindex, pipeline, state, fault).await?;
    jobs::sweep(tx, pipeline, generation, Moment::now() + LATECOMERS).await?;
    Ok(Some(generation))
}

/// How long chunks that are searched no more are kept for those who began to search before.
pub const LATECOMERS: Duration = Duration::from_secs(300);

impl Store {
    /// Begins to make another index.
    ///
    /// # Errors
    /// If one is being made, or the pipeline goes away.
    pub async fn begin_reindex(&self, pipeline: &str, target: &Target) -> Result<Operation> {
        let now = Moment::now().0;
        let mut tx = self.database.begin().await?;
        if tx.execute(BEGIN, &[pipeline.into(), now.into()]).await? == 0 {
            return Err(StoreError::Busy);
        }
        let generation = tx.row::<(i64,)>(NEXT_GENERATION, &[pipeline.into()]).await?.map_or(1, |row| row.0);
        let operation = operations::begin(&mut tx, Kind::Reindex, pipeline, Some(generation)).await?;
        let parameters = text(&target.splitter_parameters)?;
        let arguments = [
            pipeline.into(),
            (&operation).into(),
            generation.into(),
            (&target.embedding_model).into(),
            target.embedding_dimensions.into(),
            (&target.text_splitter).into(),
            (&parameters).into(),
        ];
        tx.execute(INSERT, &arguments).await?;
        jobs::add(&mut tx, JobKind::Reindex, pipeline, None, now).await?;
        self.tell_of_reindex(&mut tx, events::REINDEX_STARTED, pipeline, &operation, State::Running).await?;
        self.outbox.commit(tx).await?;
        self.operation(&operation).await?.ok_or(StoreError::Changed)
    }

    async fn tell_of_reindex(
        &self,
        tx: &mut Transaction,
        kind: &'static events::Kind,
        pipeline: &str,
        operation: &str,
        state: State,
    ) -> Result<()> {
        let details =
            Map::from_iter([("operation_id".into(), operation.into()), ("status".into(), state.word().into())]);
        let word = Word { pipeline: Some(pipeline), details, ..Word::default() };
        Ok(self.outbox.tell(tx, kind, word).await?)
    }

    /// The index that is being made for a pipeline.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn reindex(&self, pipeline: &str) -> Result<Option<Reindex>> {
        type Row = (String, i64, String, i64, String, String);
        let Some(row) = self.database.row::<Row>(BY_PIPELINE, &[pipeline.into()]).await? else { return Ok(None) };
        let target = Target {
            embedding_model: row.2,
            embedding_dimensions: row.3,
            text_splitter: row.4,
            splitter_parameters: structure("splitter_parameters", &row.5)?,
        };
        Ok(Some(Reindex { operation: row.0, generation: row.1, target }))
    }

    /// Documents that queries find and that are not in the new index as they are, with their revisions.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn missing_in(&self, pipeline: &str, reindex: &Reindex, most: usize) -> Result<Vec<(String, i64)>> {
        let arguments = [pipeline.into(), reindex.generation.into(), (most as i64).into()];
        Ok(self.database.rows(MISSING, &arguments).await?)
    }

    /// How far the new index is.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn progress_of(&self, pipeline: &str, reindex: &Reindex) -> Result<Progress> {
        let all = self.database.row::<(i64,)>(COUNT_SEARCHABLE, &[pipeline.into()]).await?.map_or(0, |row| row.0);
        let missing = [pipeline.into(), reindex.generation.into()];
        let missing = self.database.row::<(i64,)>(COUNT_MISSING, &missing).await?.map_or(0, |row| row.0);
        Ok(Progress { done: all.saturating_sub(missing), total: Some(all), ..Progress::default() })
    }

    /// Puts a document into the new index, where no query looks yet. One that changed in between is left out: it is
    /// still missing. Says whether the job is still held.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn shadow(&self, job: &Job, reindex: &Reindex, read: &ReadDocument) -> Result<bool> {
        let Some(document) = job.document_id.as_deref() else { return Ok(false) };
        let mut tx = self.database.begin().await?;
        if !jobs::is_held(&mut tx, job).await? {
            return Ok(false);
        }
        let sql = if self.is_postgres() { lock_document::POSTGRES } else { lock_document::SQLITE };
        let found = tx.row::<(Option<i64>, String)>(sql, &[document.into()]).await?;
        let Some((_, label)) = found.filter(|found| found.0 == Some(job.revision)) else { return Ok(true) };
        tx.execute(FORGET_CHUNKS, &[document.into(), reindex.generation.into()]).await?;
        let home = chunks::Home {
            pipeline: &job.pipeline_id,
            generation: reindex.generation,
            classification: &label,
            document,
            revision: job.revision,
        };
        chunks::insert(&mut tx, &home, &read.chunks).await?;
        mark(&mut tx, job, document, reindex, read).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Puts the new index in the place of the old one, if it is complete.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn swap(&self, job: &Job, reindex: &Reindex, latecomers: Duration) -> Result<Swap> {
        again(|| Box::pin(self.try_swap(job, reindex, latecomers))).await
    }

    async fn try_swap(&self, job: &Job, reindex: &Reindex, latecomers: Duration) -> Result<Swap> {
        let (pipeline, generation) = (job.pipeline_id.as_str(), reindex.generation);
        let mut tx = self.database.begin().await?;
        let sql = if self.is_postgres() { lock_pipeline::POSTGRES } else { lock_pipeline::SQLITE };
        let Some((old,)) = tx.row::<(i64,)>(sql, &[pipeline.into()]).await? else { return Ok(Swap::Unwanted) };
        if !jobs::is_held(&mut tx, job).await? {
            return Ok(Swap::Unwanted);
        }
        let missing = tx.row::<(i64,)>(COUNT_MISSING, &[pipeline.into(), generation.into()]).await?;
        if missing.is_none_or(|row| row.0 > 0) {
            return Ok(Swap::NotYet);
        }
        take_place(&mut tx, pipeline, reindex).await?;
        tx.execute(DELETE, &[pipeline.into()]).await?;
        tx.execute(DELETE_JOBS, &[pipeline.into()]).await?;
        operations::end(&mut tx, Kind::Reindex, pipeline, State::Succeeded, None).await?;
        jobs::sweep(&mut tx, pipeline, old, Moment::now() + latecomers).await?;
        let (kind, state) = (events::REINDEX_COMPLETED, State::Succeeded);
        self.tell_of_reindex(&mut tx, kind, pipeline, &reindex.operation, state).await?;
        self.outbox.commit(tx).await?;
        Ok(Swap::Done)
    }

    /// Ends the making of an index that cannot be made. The old one answers as before.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn fail_reindex(&self, job: &Job, reindex: &Reindex, fault: &Fault) -> Result<()> {
        let mut tx = self.database.begin().await?;
        let pipeline = &job.pipeline_id;
        tx.execute(LOCK, &[pipeline.into()]).await?;
        if jobs::is_held(&mut tx, job).await? {
            give_up(&mut tx, pipeline, State::Failed, Some(fault)).await?;
            let (kind, state) = (events::REINDEX_COMPLETED, State::Failed);
            self.tell_of_reindex(&mut tx, kind, pipeline, &reindex.operation, state).await?;
            self.outbox.commit(tx).await?;
        }
        Ok(())
    }

    /// Ends the making of an index that nobody wants any more. The old one answers as before.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn cancel_reindex(&self, operation: &Operation) -> Result<()> {
        let mut tx = self.database.begin().await?;
        let pipeline = &operation.pipeline_id;
        if give_up(&mut tx, pipeline, State::Cancelled, None).await?.is_some() {
            let (kind, state) = (events::REINDEX_COMPLETED, State::Cancelled);
            self.tell_of_reindex(&mut tx, kind, pipeline, &operation.id, state).await?;
            self.outbox.commit(tx).await?;
        }
        Ok(())
    }

    /// Removes chunks of a generation that is searched no more, at most so many. Says how many.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn sweep(&self, pipeline: &str, generation: i64, most: usize) -> Result<usize> {
        let arguments = [pipeline.into(), generation.into(), (most as i64).into()];
        let swept = self.database.execute(SWEEP, &arguments).await? as usize;
        if swept < most {
            self.database.execute(FORGET_MARKS, &[pipeline.into(), generation.into()]).await?;
        }
        Ok(swept)
    }

    fn is_postgres(&self) -> bool {
        self.database.kind() == DatabaseKind::Postgres
    }
}

/// Notes that a document is in the new index, and what of it will change. Its text stays away if it stays the same.
async fn mark(tx: &mut Transaction, job: &Job, document: &str, reindex: &Reindex, read: &ReadDocument) -> Result<()> {
    let (extracted, pages) = (read.extracted.as_str(), read.pages.as_str());
    let title = read.title.as_deref();
    let arguments = [document.into(), job.revision.into(), extracted.into(), pages.into(), title.into()];
    let is_same = tx.row::<(i32,)>(SAME_TEXT, &arguments).await?.is_some();
    let progress = text(&read.progress)?;
    let arguments = [
        document.into(),
        (&job.pipeline_id).into(),
        reindex.generation.into(),
        job.revision.into(),
        (&read.content_type).into(),
        (!is_same).then_some(extracted).into(),
        (!is_same).then_some(pages).into(),
        title.filter(|_| !is_same).into(),
        (&progress).into(),
    ];
    tx.execute(MARK, &arguments).await?;
    Ok(())
}

async fn take_place(tx: &mut Transaction, pipeline: &str, reindex: &Reindex) -> Result<()> {
    let (now, generation) = (Moment::now().0, reindex.generation);
    // Documents before their texts, as whoever deletes one does.
    tx.execute(TAKE_STATES, &[pipeline.into(), generation.into(), now.into()]).await?;
    tx.execute(TAKE_TEXTS, &[pipeline.into(), generation.into()]).await?;
    tx.execute(FORGET_MARKS, &[pipeline.into(), generation.into()]).await?;
    let parameters = text(&reindex.target.splitter_parameters)?;
    let arguments = [
        pipeline.into(),
        generation.into(),
        (&reindex.target.embedding_model).into(),
        reindex.target.embedding_dimensions.into(),
        (&reindex.target.text_splitter).into(),
        (&parameters).into(),
        now.into(),
    ];
    tx.execute(TAKE_PLACE, &arguments).await?;
    Ok(())
}

//! Reindexing: a new index is built next to the active one and replaces it atomically.
//!
//! The chunks of the new index have their own generation, which no search reads. A row in `reindex_documents` marks
//! each document in it, with its revision. The swap happens only in a transaction that sees every document marked
//! at its current revision: documents that changed meanwhile are indexed first. In PostgreSQL, that transaction and
//! those that make a document ready are serialized by a lock on the pipeline row.

use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_http::database::{DatabaseKind, Transaction};
use serde_json::{Map, Value};

use super::jobs::{self, JobKind};
use super::operations;
use super::outbox::EventDraft;
use super::{
    IngestedDocument, Job, Result, Store, StoreError, chunks, from_json, page_words, retry_on_deadlock, to_json,
};
use crate::domain::event;
use crate::domain::model::Pipeline;
use crate::domain::operation::{Operation, OperationError};
use crate::domain::operation::{OperationKind, OperationState, Progress};

/// Target configuration of a reindex.
#[derive(Clone, Debug, PartialEq)]
pub struct ReindexTarget {
    /// Name of an embedding model.
    pub embedding_model: String,
    /// Dimensions of a vector.
    pub embedding_dimensions: i64,
    /// Name of a text splitter.
    pub text_splitter: String,
    /// All parameters of the splitter.
    pub splitter_parameters: Map<String, Value>,
}

/// A reindex in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Reindex {
    /// Id of its operation.
    pub operation_id: String,
    /// The generation of its chunks.
    pub generation: i64,
    /// Target configuration.
    pub target: ReindexTarget,
}

impl Reindex {
    /// Returns the pipeline with the target configuration.
    pub fn apply_to(&self, pipeline: &Pipeline) -> Pipeline {
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

/// Outcome of swapping the index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SwapOutcome {
    /// The new index is active.
    Swapped,
    /// Documents are missing in the new index.
    Incomplete,
    /// The lease was lost or the reindex was cancelled.
    Abandoned,
}

const BEGIN: &str = "update pipelines set status = 'reindexing', updated_at = $2 where id = $1 and status = 'active'";
const END: &str = "update pipelines set status = 'active', updated_at = $2 where id = $1 and status = 'reindexing'";
/// Locks the row without changing it. Locks are taken in the order pipeline, job, documents, which prevents deadlocks.
const LOCK_PIPELINE: &str = "update pipelines set status = status where id = $1";
const NEXT_GENERATION: &str = "select coalesce(max(used.generation), 0) + 1 from (
    select generation from pipelines where id = $1
    union all select generation from operations where pipeline_id = $1 and generation is not null) as used";
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
             (select 1 from reindex_documents s where s.document_id = d.id and s.pipeline_id = $1 and s.generation = $2 \
             and s.revision = d.searchable_revision)",
            $end
        )
    };
}
const MISSING: &str = missing!("d.id, d.searchable_revision", " order by d.id limit $3");
const COUNT_MISSING: &str = missing!("count(*)", "");
const COUNT_SEARCHABLE: &str =
    "select count(*) from documents where pipeline_id = $1 and searchable_revision is not null";
/// Row lock until the transaction ends. SQLite has a single writer anyway.
macro_rules! locked {
    ($name:ident, $sql:literal, $lock:literal) => {
        mod $name {
            pub const SQLITE: &str = $sql;
            pub const POSTGRES: &str = concat!($sql, $lock);
        }
    };
}
locked!(
    lock_document,
    "select searchable_revision, classification from documents where id = $1 and pipeline_id = $2",
    " for no key update"
);
locked!(
    lock_pipeline,
    "select generation from pipelines where id = $1 and status = 'reindexing'",
    " for no key update"
);
const SAME_TEXT: &str = "select 1 from document_contents where document_id = $1 and revision = $2 and extracted = $3
  and pages = $4 and coalesce(title, '') = coalesce($5, '')";
const DELETE_CHUNKS: &str = "delete from chunks where document_id = $1 and generation = $2";
const UPSERT_DOCUMENT: &str =
    "insert into reindex_documents (document_id, pipeline_id, generation, revision, content_type, extracted, pages,
  title, progress) values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (document_id, generation) do update set
  revision = excluded.revision, content_type = excluded.content_type, extracted = excluded.extracted,
  pages = excluded.pages, title = excluded.title, progress = excluded.progress";
const APPLY_TEXTS: &str = "update document_contents set extracted = s.extracted, pages = s.pages, title = s.title
  from reindex_documents s where s.pipeline_id = $1 and s.generation = $2 and s.extracted is not null
  and document_contents.document_id = s.document_id and document_contents.revision = s.revision";
const APPLY_STATES: &str = "update documents set progress = s.progress, content_type = s.content_type,
  updated_at = case when updated_at >= $3 then updated_at + 1 else $3 end
  from reindex_documents s where s.pipeline_id = $1 and s.generation = $2
  and documents.id = s.document_id and documents.pipeline_id = $1 and documents.status = 'ready' and documents.searchable_revision = s.revision";
const ACTIVATE_GENERATION: &str = "update pipelines set generation = $2, embedding_model = $3, embedding_dimensions = $4,
  text_splitter = $5, splitter_parameters = $6, status = 'active', revision = revision + 1, updated_at = $7 where id = $1";
const DELETE_DOCUMENTS: &str = "delete from reindex_documents where pipeline_id = $1 and generation = $2";
const SWEEP: &str = "delete from chunks where id in
  (select id from chunks where pipeline_id = $1 and generation = $2 limit $3)";

/// Ends a reindex and schedules the deletion of its chunks; returns its generation.
pub(super) async fn abort_reindex(
    tx: &mut Transaction,
    pipeline: &str,
    state: OperationState,
    error: Option<&OperationError>,
) -> Result<Option<i64>> {
    tx.execute(END, &[pipeline.into(), Timestamp::now().0.into()]).await?;
    let Some((generation,)) = tx.row::<(i64,)>(GENERATION, &[pipeline.into()]).await? else { return Ok(None) };
    tx.execute(DELETE_JOBS, &[pipeline.into()]).await?;
    tx.execute(DELETE, &[pipeline.into()]).await?;
    operations::end(tx, OperationKind::Reindex, pipeline, state, error).await?;
    jobs::sweep(tx, pipeline, generation, Timestamp::now() + OLD_GENERATION_GRACE).await?;
    Ok(Some(generation))
}

/// Grace period before the chunks of an old generation are deleted, for searches in progress.
pub const OLD_GENERATION_GRACE: Duration = jobs::MAX_DELAY;

impl Store {
    /// Starts a reindex.
    ///
    /// # Errors
    /// If the pipeline is being reindexed or deleted.
    pub async fn begin_reindex(&self, pipeline: &str, target: &ReindexTarget) -> Result<Operation> {
        let now = Timestamp::now().0;
        let mut tx = self.database.begin().await?;
        if tx.execute(BEGIN, &[pipeline.into(), now.into()]).await? == 0 {
            return Err(StoreError::PipelineBusy);
        }
        let generation = tx.row::<(i64,)>(NEXT_GENERATION, &[pipeline.into()]).await?.map_or(1, |row| row.0);
        let operation = operations::begin(&mut tx, OperationKind::Reindex, pipeline, Some(generation)).await?;
        let parameters = to_json(&target.splitter_parameters)?;
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
        self.emit_reindex_event(&mut tx, event::REINDEX_STARTED, pipeline, &operation, OperationState::Running).await?;
        self.outbox.commit(tx).await?;
        self.operation(&operation).await?.ok_or(StoreError::Conflict)
    }

    async fn emit_reindex_event(
        &self,
        tx: &mut Transaction,
        kind: &'static event::EventKind,
        pipeline: &str,
        operation: &str,
        state: OperationState,
    ) -> Result<()> {
        let details =
            Map::from_iter([("operation_id".into(), operation.into()), ("status".into(), state.as_str().into())]);
        let draft = EventDraft { pipeline: Some(pipeline), details, ..EventDraft::default() };
        Ok(self.outbox.emit(tx, kind, draft).await?)
    }

    /// Returns the reindex of a pipeline.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn reindex(&self, pipeline: &str) -> Result<Option<Reindex>> {
        type Row = (String, i64, String, i64, String, String);
        let Some(row) = self.database.row::<Row>(BY_PIPELINE, &[pipeline.into()]).await? else { return Ok(None) };
        let target = ReindexTarget {
            embedding_model: row.2,
            embedding_dimensions: row.3,
            text_splitter: row.4,
            splitter_parameters: from_json("splitter_parameters", &row.5)?,
        };
        Ok(Some(Reindex { operation_id: row.0, generation: row.1, target }))
    }

    /// Returns searchable documents that the new index lacks, with their revisions.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn missing_documents(
        &self,
        pipeline: &str,
        reindex: &Reindex,
        limit: usize,
    ) -> Result<Vec<(String, i64)>> {
        let arguments = [pipeline.into(), reindex.generation.into(), (limit as i64).into()];
        Ok(self.database.rows(MISSING, &arguments).await?)
    }

    /// Returns the progress of the new index.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn reindex_progress(&self, pipeline: &str, reindex: &Reindex) -> Result<Progress> {
        let total = self.database.row::<(i64,)>(COUNT_SEARCHABLE, &[pipeline.into()]).await?.map_or(0, |row| row.0);
        let missing = [pipeline.into(), reindex.generation.into()];
        let missing = self.database.row::<(i64,)>(COUNT_MISSING, &missing).await?.map_or(0, |row| row.0);
        Ok(Progress { done: total.saturating_sub(missing), total: Some(total), ..Progress::default() })
    }

    /// Adds a document to the new index, which is not searched yet. A document that changed meanwhile is skipped and
    /// stays missing. Returns false if the lease was lost.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn store_reindexed_document(
        &self,
        job: &Job,
        reindex: &Reindex,
        ingested: &IngestedDocument,
    ) -> Result<bool> {
        let Some(document) = job.document_id.as_deref() else { return Ok(false) };
        let mut tx = self.database.begin().await?;
        if !jobs::holds_lease(&mut tx, job).await? {
            return Ok(false);
        }
        let sql = if self.is_postgres() { lock_document::POSTGRES } else { lock_document::SQLITE };
        let key = [document.into(), (&job.pipeline_id).into()];
        let found = tx.row::<(Option<i64>, String)>(sql, &key).await?;
        let Some((_, classification)) = found.filter(|found| found.0 == Some(job.revision)) else { return Ok(true) };
        tx.execute(DELETE_CHUNKS, &[document.into(), reindex.generation.into()]).await?;
        let context = chunks::ChunkContext {
            pipeline: &job.pipeline_id,
            generation: reindex.generation,
            classification: &classification,
            document,
            revision: job.revision,
        };
        chunks::insert(&mut tx, &context, &ingested.chunks).await?;
        let (key, generation) = ((job.pipeline_id.as_str(), document), reindex.generation);
        page_words::replace(&mut tx, key, job.revision, generation, &ingested.page_words).await?;
        upsert_document(&mut tx, job, document, reindex, ingested).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Activates the new index if it is complete.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn swap_index(&self, job: &Job, reindex: &Reindex, grace: Duration) -> Result<SwapOutcome> {
        retry_on_deadlock(|| Box::pin(self.try_swap_index(job, reindex, grace))).await
    }

    async fn try_swap_index(&self, job: &Job, reindex: &Reindex, grace: Duration) -> Result<SwapOutcome> {
        let (pipeline, generation) = (job.pipeline_id.as_str(), reindex.generation);
        let mut tx = self.database.begin().await?;
        let sql = if self.is_postgres() { lock_pipeline::POSTGRES } else { lock_pipeline::SQLITE };
        let Some((old,)) = tx.row::<(i64,)>(sql, &[pipeline.into()]).await? else { return Ok(SwapOutcome::Abandoned) };
        if !jobs::holds_lease(&mut tx, job).await? {
            return Ok(SwapOutcome::Abandoned);
        }
        let missing = tx.row::<(i64,)>(COUNT_MISSING, &[pipeline.into(), generation.into()]).await?;
        if missing.is_none_or(|row| row.0 > 0) {
            return Ok(SwapOutcome::Incomplete);
        }
        activate_generation(&mut tx, pipeline, reindex).await?;
        tx.execute(DELETE, &[pipeline.into()]).await?;
        tx.execute(DELETE_JOBS, &[pipeline.into()]).await?;
        operations::end(&mut tx, OperationKind::Reindex, pipeline, OperationState::Succeeded, None).await?;
        jobs::sweep(&mut tx, pipeline, old, Timestamp::now() + grace).await?;
        let (kind, state) = (event::REINDEX_COMPLETED, OperationState::Succeeded);
        self.emit_reindex_event(&mut tx, kind, pipeline, &reindex.operation_id, state).await?;
        self.outbox.commit(tx).await?;
        Ok(SwapOutcome::Swapped)
    }

    /// Marks a reindex as failed. The old index stays active.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn fail_reindex(&self, job: &Job, reindex: &Reindex, error: &OperationError) -> Result<()> {
        let mut tx = self.database.begin().await?;
        let pipeline = &job.pipeline_id;
        tx.execute(LOCK_PIPELINE, &[pipeline.into()]).await?;
        if jobs::holds_lease(&mut tx, job).await? {
            abort_reindex(&mut tx, pipeline, OperationState::Failed, Some(error)).await?;
            let (kind, state) = (event::REINDEX_COMPLETED, OperationState::Failed);
            self.emit_reindex_event(&mut tx, kind, pipeline, &reindex.operation_id, state).await?;
            self.outbox.commit(tx).await?;
        }
        Ok(())
    }

    /// Cancels a reindex. The old index stays active.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn cancel_reindex(&self, operation: &Operation) -> Result<()> {
        let mut tx = self.database.begin().await?;
        let pipeline = &operation.pipeline_id;
        if abort_reindex(&mut tx, pipeline, OperationState::Cancelled, None).await?.is_some() {
            let (kind, state) = (event::REINDEX_COMPLETED, OperationState::Cancelled);
            self.emit_reindex_event(&mut tx, kind, pipeline, &operation.id, state).await?;
            self.outbox.commit(tx).await?;
        }
        Ok(())
    }

    /// Deletes at most `limit` chunks of an old generation; returns the number deleted.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn sweep_chunks(&self, pipeline: &str, generation: i64, limit: usize) -> Result<usize> {
        let arguments = [pipeline.into(), generation.into(), (limit as i64).into()];
        let deleted = self.database.execute(SWEEP, &arguments).await? as usize;
        if deleted < limit {
            self.database.execute(DELETE_DOCUMENTS, &[pipeline.into(), generation.into()]).await?;
            self.delete_page_words(pipeline, generation).await?;
        }
        Ok(deleted)
    }

    fn is_postgres(&self) -> bool {
        self.database.kind() == DatabaseKind::Postgres
    }
}

/// Records that a document is in the new index, with its new values. An unchanged text is not stored again.
async fn upsert_document(
    tx: &mut Transaction,
    job: &Job,
    document: &str,
    reindex: &Reindex,
    ingested: &IngestedDocument,
) -> Result<()> {
    let (extracted, pages) = (ingested.extracted.as_str(), ingested.pages.as_str());
    let title = ingested.title.as_deref();
    let arguments = [document.into(), job.revision.into(), extracted.into(), pages.into(), title.into()];
    let is_unchanged = tx.row::<(i32,)>(SAME_TEXT, &arguments).await?.is_some();
    let progress = to_json(&ingested.progress)?;
    let arguments = [
        document.into(),
        (&job.pipeline_id).into(),
        reindex.generation.into(),
        job.revision.into(),
        (&ingested.content_type).into(),
        (!is_unchanged).then_some(extracted).into(),
        (!is_unchanged).then_some(pages).into(),
        title.filter(|_| !is_unchanged).into(),
        (&progress).into(),
    ];
    tx.execute(UPSERT_DOCUMENT, &arguments).await?;
    Ok(())
}

async fn activate_generation(tx: &mut Transaction, pipeline: &str, reindex: &Reindex) -> Result<()> {
    let (now, generation) = (Timestamp::now().0, reindex.generation);
    // Documents before their contents, in the same lock order as a deletion.
    tx.execute(APPLY_STATES, &[pipeline.into(), generation.into(), now.into()]).await?;
    tx.execute(APPLY_TEXTS, &[pipeline.into(), generation.into()]).await?;
    tx.execute(DELETE_DOCUMENTS, &[pipeline.into(), generation.into()]).await?;
    let parameters = to_json(&reindex.target.splitter_parameters)?;
    let arguments = [
        pipeline.into(),
        generation.into(),
        (&reindex.target.embedding_model).into(),
        reindex.target.embedding_dimensions.into(),
        (&reindex.target.text_splitter).into(),
        (&parameters).into(),
        now.into(),
    ];
    tx.execute(ACTIVATE_GENERATION, &arguments).await?;
    Ok(())
}

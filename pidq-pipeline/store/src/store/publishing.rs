//! Publishing of ingested documents: text, chunks and attachments become visible in one transaction, which also ends the job.

use pidq_http::auth::Timestamp;
use pidq_http::database::{DatabaseKind, Transaction};

use super::attachments::{Mail, NewAttachments};
use super::usage::{self, Amount};
use super::{Job, PageWordsRecord, Result, Store, chunks, jobs, page_words, partitions, retry_on_deadlock, to_json};
use crate::domain::event;
use crate::domain::model::{Chunk, Progress};

/// Result of publishing an ingested document.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PublishOutcome {
    /// The document is searchable.
    Done,
    /// The lease was lost, or the document was deleted or cancelled.
    Discarded,
    /// The pipeline has a newer generation; ingest again for that one.
    StaleGeneration,
}

/// Result of ingesting a document.
pub struct IngestedDocument {
    /// Index generation of the chunks.
    pub generation: i64,
    /// Detected media type.
    pub content_type: String,
    /// Extracted text.
    pub extracted: String,
    /// Page offsets, as JSON.
    pub pages: String,
    /// Boxes of the words of the pages that have positions.
    pub page_words: Vec<PageWordsRecord>,
    /// Title of the document.
    pub title: Option<String>,
    /// Chunks in order.
    pub chunks: Vec<Chunk>,
    /// Attachments, if it is a mail.
    pub attachments: NewAttachments,
    /// Progress to store.
    pub progress: Progress,
}

const DELETE_CHUNKS: &str = "delete from chunks where document_id = $1 and generation = $2";
const DELETE_OLD_CONTENTS: &str = "delete from document_contents where document_id = $1 and revision < $2";
const SET_EXTRACTED: &str =
    "update document_contents set extracted = $3, pages = $4, title = $5 where document_id = $1 and revision = $2";
/// `indexed_at` always increases: an index that holds the document at that value would not reload it.
const SET_READY: &str =
    "update documents set status = 'ready', searchable_revision = $2, progress = $3, content_type = $4,
  indexed_at = case when indexed_at >= $5 then indexed_at + 1 else $5 end, updated_at = $5, attempts = $6
  where id = $1 and pipeline_id = $7 and status not in ('deleting', 'cancelled') returning classification, metadata";
const SET_PROGRESS: &str = "update documents set progress = $3 where id = $1 and pipeline_id = $2";
/// Active generation of a pipeline, in SQLite and in PostgreSQL, where the row must be locked.
const GENERATION: &str = "select generation from pipelines where id = $1";
const SHARE_GENERATION: &str = "select generation from pipelines where id = $1 for share";

/// Returns the active generation and locks it until the transaction ends.
async fn lock_generation(tx: &mut Transaction, kind: DatabaseKind, pipeline: &str) -> Result<Option<i64>> {
    let sql = if kind == DatabaseKind::Postgres { SHARE_GENERATION } else { GENERATION };
    Ok(tx.row::<(i64,)>(sql, &[pipeline.into()]).await?.map(|row| row.0))
}

impl Store {
    /// Stores an ingested document and makes it searchable, atomically; new attachments are queued. A document that was
    /// ingested for an old generation is not stored.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn publish_document(&self, job: &Job, ingested: &IngestedDocument) -> Result<PublishOutcome> {
        retry_on_deadlock(|| Box::pin(self.try_publish_document(job, ingested))).await
    }

    async fn try_publish_document(&self, job: &Job, ingested: &IngestedDocument) -> Result<PublishOutcome> {
        let Some(document) = &job.document_id else { return Ok(PublishOutcome::Discarded) };
        let mut tx = self.database.begin().await?;
        // Locks the pipeline row first, as the index swap does.
        let generation = lock_generation(&mut tx, self.database.kind(), &job.pipeline_id).await?;
        let progress = to_json(&ingested.progress)?;
        let arguments = [
            document.into(),
            job.revision.into(),
            (&progress).into(),
            (&ingested.content_type).into(),
            Timestamp::now().0.into(),
            job.attempts.into(),
            (&job.pipeline_id).into(),
        ];
        // The row lock keeps the classification unchanged until the commit.
        let Some((classification, metadata)) = tx.row::<(String, String)>(SET_READY, &arguments).await? else {
            return Ok(PublishOutcome::Discarded);
        };
        if !jobs::holds_lease(&mut tx, job).await? {
            return Ok(PublishOutcome::Discarded);
        }
        if generation != Some(ingested.generation) {
            return Ok(PublishOutcome::StaleGeneration);
        }
        replace_text(&mut tx, job, document, &classification, ingested).await?;
        jobs::complete(&mut tx, job).await?;
        let mail = Mail { key: (&job.pipeline_id, document), classification: &classification, metadata: &metadata };
        let added = self.publish_attachments(&mut tx, mail, ingested).await?;
        // Usage is written last in every transaction, which prevents deadlocks.
        let amount = Amount { chunks: ingested.chunks.len() as i64, ..added };
        usage::count(&mut tx, &job.pipeline_id, &classification, amount).await?;
        self.emit_job_events(&mut tx, job, Some(event::DOCUMENT_READY)).await?;
        self.outbox.commit(tx).await?;
        Ok(PublishOutcome::Done)
    }

    /// Stores the attachments of a mail, and names those that the license does not allow in its warnings.
    async fn publish_attachments(
        &self,
        tx: &mut Transaction,
        mail: Mail<'_>,
        ingested: &IngestedDocument,
    ) -> Result<Amount> {
        let (added, mut warnings) = self.replace_attachments(tx, mail, &ingested.attachments).await?;
        if !warnings.is_empty() {
            let mut progress = ingested.progress.clone();
            progress.warnings.append(&mut warnings);
            let (pipeline, document) = mail.key;
            tx.execute(SET_PROGRESS, &[document.into(), pipeline.into(), (&to_json(&progress)?).into()]).await?;
        }
        Ok(added)
    }
}

/// Replaces the text and chunks of a document.
async fn replace_text(
    tx: &mut Transaction,
    job: &Job,
    document: &str,
    classification: &str,
    ingested: &IngestedDocument,
) -> Result<()> {
    let title = ingested.title.as_deref();
    let arguments =
        [document.into(), job.revision.into(), (&ingested.extracted).into(), (&ingested.pages).into(), title.into()];
    tx.execute(SET_EXTRACTED, &arguments).await?;
    let (key, generation) = ((job.pipeline_id.as_str(), document), ingested.generation);
    page_words::replace(tx, key, job.revision, generation, &ingested.page_words).await?;
    tx.execute(DELETE_OLD_CONTENTS, &[document.into(), job.revision.into()]).await?;
    let deleted = tx.execute(DELETE_CHUNKS, &[document.into(), ingested.generation.into()]).await?;
    let context = chunks::ChunkContext {
        pipeline: &job.pipeline_id,
        generation: ingested.generation,
        classification,
        document,
        revision: job.revision,
    };
    chunks::insert(tx, &context, &ingested.chunks).await?;
    match deleted {
        0 => partitions::record_addition(tx, &job.pipeline_id, classification).await?,
        _ => partitions::record_change(tx, &job.pipeline_id, classification).await?,
    }
    Ok(())
}

//! Deletion of documents: a mail is deleted with its attachments, in one transaction.

use pidq_http::auth::Timestamp;
use pidq_http::database::Transaction;

use super::{DocumentKey, Result, Store, answers, attachments, partitions, retry_on_deadlock};
use crate::domain::event;

const MARK_DELETING: &str = "update documents set status = 'deleting', searchable_revision = null, updated_at = $3
  where id = $1 and pipeline_id = $2 and status <> 'deleting'";
const DELETE_CHUNKS: &str = "delete from chunks where document_id = $1";
const DELETE_CONTENTS: &str = "delete from document_contents where document_id = $1";
const DELETE_REINDEX_DOCUMENTS: &str = "delete from reindex_documents where document_id = $1";
const DELETE_JOBS: &str = "delete from jobs where document_id = $1";
const DELETE: &str = "delete from documents where id = $1 and pipeline_id = $2";

impl Store {
    /// Deletes a document with its index entries and attachments; returns false if it does not exist.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn delete_document(&self, pipeline: &str, id: &str) -> Result<bool> {
        retry_on_deadlock(|| Box::pin(self.try_delete_document(pipeline, id))).await
    }

    async fn try_delete_document(&self, pipeline: &str, id: &str) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        if !self.delete_with_attachments(&mut tx, (pipeline, id)).await? {
            return Ok(false);
        }
        self.outbox.commit(tx).await?;
        Ok(true)
    }

    /// Deletes a document and its attachments, and theirs; returns false if it does not exist.
    pub(super) async fn delete_with_attachments(
        &self,
        tx: &mut Transaction,
        (pipeline, id): DocumentKey<'_>,
    ) -> Result<bool> {
        let (mut remaining, mut is_deleted) = (vec![id.to_owned()], false);
        while let Some(next) = remaining.pop() {
            if self.delete_rows(tx, (pipeline, &next)).await? {
                is_deleted = true;
                // Read after the mail was locked: a worker that publishes it has added all or none.
                remaining.extend(attachments::ids(tx, (pipeline, &next)).await?);
            }
        }
        Ok(is_deleted)
    }

    async fn delete_rows(&self, tx: &mut Transaction, (pipeline, id): DocumentKey<'_>) -> Result<bool> {
        if tx.execute(MARK_DELETING, &[id.into(), pipeline.into(), Timestamp::now().0.into()]).await? == 0 {
            return Ok(false);
        }
        partitions::record_document_change(tx, (pipeline, id)).await?;
        answers::delete_by_document(tx, id).await?;
        self.outbox.emit_document_event(tx, event::DOCUMENT_DELETED, (pipeline, id), None).await?;
        for statement in [DELETE_CHUNKS, DELETE_CONTENTS, DELETE_REINDEX_DOCUMENTS, DELETE_JOBS] {
            tx.execute(statement, &[id.into()]).await?;
        }
        tx.execute(DELETE, &[id.into(), pipeline.into()]).await?;
        Ok(true)
    }
}

//! Stored answers: served while every source document exists under the same classification.

use pidq_http::auth::Timestamp;
use pidq_http::database::{DatabaseError, Transaction};
use serde_json::Value;

use super::{Result, Store, from_json};

/// An answer to store.
pub struct NewAnswer<'a> {
    /// Its id.
    pub id: &'a str,
    /// The pipeline.
    pub pipeline_id: &'a str,
    /// The classification.
    pub classification: &'a str,
    /// The response body.
    pub answer: &'a Value,
    /// Ids of the source documents, without duplicates.
    pub documents: &'a [String],
}

/// A stored answer.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredAnswer {
    /// The pipeline.
    pub pipeline_id: String,
    /// The classification.
    pub classification: String,
    /// The response body.
    pub answer: Value,
    /// Feedback rating: 1 or -1.
    pub rating: Option<i64>,
    /// Feedback comment.
    pub comment: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: i64,
}

type Row = (String, String, String, Option<i64>, Option<String>, i64);

const INSERT: &str = "insert into answers (id, pipeline_id, classification, document_count, answer, created_at)
  values ($1, $2, $3, $4, $5, $6)";
const INSERT_DOCUMENT: &str = "insert into answer_documents (document_id, answer_id, pipeline_id) values ($1, $2, $3)";
const BY_ID: &str = "select a.pipeline_id, a.classification, a.answer, a.rating, a.comment, a.created_at from answers a
  where a.id = $1 and a.created_at > $2 and a.document_count =
    (select count(*) from answer_documents source join documents d on d.id = source.document_id
      where source.answer_id = a.id and d.classification = a.classification and d.status <> 'deleting')";
const RATE: &str = "update answers set rating = $2, comment = $3 where id = $1";
const DELETE_BY_DOCUMENT: &str =
    "delete from answers where id in (select answer_id from answer_documents where document_id = $1)";
const PURGE: &str = "delete from answers where created_at <= $1";

/// Deletes the answers that cite a document that is deleted or reclassified.
pub(super) async fn delete_by_document(tx: &mut Transaction, document: &str) -> std::result::Result<(), DatabaseError> {
    tx.execute(DELETE_BY_DOCUMENT, &[document.into()]).await.map(drop)
}

impl Store {
    /// Stores an answer.
    ///
    /// # Errors
    /// If the database is unavailable or the pipeline does not exist.
    pub async fn save_answer(&self, new: NewAnswer<'_>) -> Result<()> {
        let answer = new.answer.to_string();
        let arguments = [
            new.id.into(),
            new.pipeline_id.into(),
            new.classification.into(),
            (new.documents.len() as i64).into(),
            (&answer).into(),
            Timestamp::now().0.into(),
        ];
        let mut tx = self.database.begin().await?;
        tx.execute(INSERT, &arguments).await?;
        for document in new.documents {
            tx.execute(INSERT_DOCUMENT, &[document.into(), new.id.into(), new.pipeline_id.into()]).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// Returns a stored answer that is newer than a time.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn answer(&self, id: &str, after: i64) -> Result<Option<StoredAnswer>> {
        let row = self.database.row::<Row>(BY_ID, &[id.into(), after.into()]).await?;
        let from_row = |(pipeline_id, classification, answer, rating, comment, created_at): Row| {
            let answer = from_json("an answer", &answer)?;
            Ok(StoredAnswer { pipeline_id, classification, answer, rating, comment, created_at })
        };
        row.map(from_row).transpose()
    }

    /// Replaces the feedback of an answer.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn rate_answer(&self, id: &str, rating: i64, comment: Option<&str>) -> Result<()> {
        let mut tx = self.database.begin().await?;
        tx.execute(RATE, &[id.into(), rating.into(), comment.into()]).await?;
        Ok(self.outbox.commit(tx).await?)
    }

    /// Deletes the answers before a time.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn purge_answers(&self, before: i64) -> Result<u64> {
        Ok(self.database.execute(PURGE, &[before.into()]).await?)
    }
}

//! Questions whose answers are kept: shown while every document that they were made of is there, under the same label.

use pidq_http::auth::Moment;
use pidq_http::database::{DatabaseError, Transaction};
use serde_json::Value;

use super::{Result, Store, structure};

/// A question to be kept, with its answer.
pub struct NewQuery<'a> {
    /// Its id.
    pub id: &'a str,
    /// The pipeline that was asked.
    pub pipeline_id: &'a str,
    /// The label.
    pub classification: &'a str,
    /// What was answered, as it was sent.
    pub answer: &'a Value,
    /// The documents that the model was shown, each once.
    pub documents: &'a [String],
}

/// A question that was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptQuery {
    /// The pipeline that was asked.
    pub pipeline_id: String,
    /// The label.
    pub classification: String,
    /// What was answered.
    pub answer: Value,
    /// What somebody thought of it: 1 or -1.
    pub rating: Option<i64>,
    /// In their words.
    pub comment: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: i64,
}

type Row = (String, String, String, Option<i64>, Option<String>, i64);

const INSERT: &str = "insert into queries (id, pipeline_id, classification, documents, answer, created_at)
  values ($1, $2, $3, $4, $5, $6)";
const INSERT_DOCUMENT: &str = "insert into query_documents (document_id, query_id) values ($1, $2)";
const BY_ID: &str = "select q.pipeline_id, q.classification, q.answer, q.rating, q.comment, q.created_at from queries q
  where q.id = $1 and q.created_at > $2 and q.documents =
    (select count(*) from query_documents made join documents d on d.id = made.document_id
      where made.query_id = q.id and d.classification = q.classification and d.status <> 'deleting')";
const RATE: &str = "update queries set rating = $2, comment = $3 where id = $1";
const OF_DOCUMENT: &str =
    "delete from queries where id in (select query_id from query_documents where document_id = $1)";
const PURGE: &str = "delete from queries where created_at <= $1";

/// Forgets answers that were made of a document, since it goes away or to another label.
pub(super) async fn forget_of(tx: &mut Transaction, document: &str) -> std::result::Result<(), DatabaseError> {
    tx.execute(OF_DOCUMENT, &[document.into()]).await.map(drop)
}

impl Store {
    /// Keeps a question with its answer.
    ///
    /// # Errors
    /// If the database does not answer, or the pipeline is gone.
    pub async fn keep_query(&self, new: NewQuery<'_>) -> Result<()> {
        let answer = new.answer.to_string();
        let arguments = [
            new.id.into(),
            new.pipeline_id.into(),
            new.classification.into(),
            (new.documents.len() as i64).into(),
            (&answer).into(),
            Moment::now().0.into(),
        ];
        let mut tx = self.database.begin().await?;
        tx.execute(INSERT, &arguments).await?;
        for document in new.documents {
            tx.execute(INSERT_DOCUMENT, &[document.into(), new.id.into()]).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// A question that was kept and came after a moment.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn query(&self, id: &str, after: i64) -> Result<Option<KeptQuery>> {
        let row = self.database.row::<Row>(BY_ID, &[id.into(), after.into()]).await?;
        let kept = |(pipeline_id, classification, answer, rating, comment, created_at): Row| {
            let answer = structure("an answer", &answer)?;
            Ok(KeptQuery { pipeline_id, classification, answer, rating, comment, created_at })
        };
        row.map(kept).transpose()
    }

    /// Notes what somebody thought of an answer, in place of what was noted before.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn rate_query(&self, id: &str, rating: i64, comment: Option<&str>) -> Result<()> {
        let mut tx = self.database.begin().await?;
        tx.execute(RATE, &[id.into(), rating.into(), comment.into()]).await?;
        Ok(self.outbox.commit(tx).await?)
    }

    /// Removes what came before a moment.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn purge_queries(&self, before: i64) -> Result<u64> {
        Ok(self.database.execute(PURGE, &[before.into()]).await?)
    }
}

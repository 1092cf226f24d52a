//! Outages of embedding models, shared by all replicas.

use pidq_http::auth::Timestamp;

use super::{Result, Store};

/// An unavailable embedding model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelOutage {
    /// Model name in pipelines.
    pub model: String,
    /// Vector dimensions in a pipeline that uses the model or will; none if no pipeline does.
    pub dimensions: Option<i64>,
}

const UPSERT: &str = "insert into model_outages (model, since, detail) values ($1, $2, $3) on conflict (model) do update set detail = excluded.detail";
/// Joins the models of pipelines and of reindexes in progress.
const LIST: &str = "select o.model, min(m.embedding_dimensions) from model_outages o left join (
    select embedding_model, embedding_dimensions from pipelines
    union all select embedding_model, embedding_dimensions from reindexes
  ) m on m.embedding_model = o.model group by o.model order by o.model";
const DELETE: &str = "delete from model_outages where model = $1";
const WAKE_JOBS: &str = "update jobs set run_at = $2 where run_at > $2 and lease_until is null
  and pipeline_id in (select id from pipelines where embedding_model = $1
    union all select pipeline_id from reindexes where embedding_model = $1)";

impl Store {
    /// Records that a model is unavailable, and the reason.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn record_outage(&self, model: &str, detail: &str) -> Result<()> {
        self.database.execute(UPSERT, &[model.into(), Timestamp::now().0.into(), detail.into()]).await?;
        Ok(())
    }

    /// Returns the unavailable models.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn outages(&self) -> Result<Vec<ModelOutage>> {
        let rows = self.database.rows::<(String, Option<i64>)>(LIST, &[]).await?;
        Ok(rows.into_iter().map(|(model, dimensions)| ModelOutage { model, dimensions }).collect())
    }

    /// Ends an outage and makes the waiting jobs due.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn end_outage(&self, model: &str) -> Result<()> {
        let mut tx = self.database.begin().await?;
        tx.execute(DELETE, &[model.into()]).await?;
        tx.execute(WAKE_JOBS, &[model.into(), Timestamp::now().0.into()]).await?;
        tx.commit().await?;
        Ok(())
    }
}

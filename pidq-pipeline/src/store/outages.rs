//! Embedding models that do not answer, as every replica sees them.

use pidq_http::auth::Moment;

use super::{Result, Store};

/// A model that does not answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Outage {
    /// Its name in pipelines.
    pub model: String,
    /// How long its vectors are in a pipeline that has it, or will; none: nobody wants it any more.
    pub dimensions: Option<i64>,
}

const NOTE: &str = "insert into outages (model, since, detail) values ($1, $2, $3) on conflict (model) do update set detail = excluded.detail";
/// Models of pipelines, and those of indexes that are being made.
const OUT: &str = "select o.model, min(m.embedding_dimensions) from outages o left join (
    select embedding_model, embedding_dimensions from pipelines
    union all select embedding_model, embedding_dimensions from reindexes
  ) m on m.embedding_model = o.model group by o.model order by o.model";
const FORGET: &str = "delete from outages where model = $1";
const RELEASE: &str = "update jobs set run_at = $2 where run_at > $2 and held_until is null
  and pipeline_id in (select id from pipelines where embedding_model = $1
    union all select pipeline_id from reindexes where embedding_model = $1)";

impl Store {
    /// Notes that a model does not answer, and why.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn note_outage(&self, model: &str, detail: &str) -> Result<()> {
        self.database.execute(NOTE, &[model.into(), Moment::now().0.into(), detail.into()]).await?;
        Ok(())
    }

    /// The models that do not answer.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn outages(&self) -> Result<Vec<Outage>> {
        let rows = self.database.rows::<(String, Option<i64>)>(OUT, &[]).await?;
        Ok(rows.into_iter().map(|(model, dimensions)| Outage { model, dimensions }).collect())
    }

    /// Notes that a model answers again: the jobs that wait for it are due.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn end_outage(&self, model: &str) -> Result<()> {
        let mut tx = self.database.begin().await?;
        tx.execute(FORGET, &[model.into()]).await?;
        tx.execute(RELEASE, &[model.into(), Moment::now().0.into()]).await?;
        tx.commit().await?;
        Ok(())
    }
}

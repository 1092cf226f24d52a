//! Pipelines in the database.

use pidq_http::auth::Timestamp;
use pidq_http::database::Transaction;
use pidq_http::uuid_v7;
use serde_json::{Map, Value};

use super::jobs::{self, JobKind};
use super::outbox::EventDraft;
use super::{Result, Store, StoreError, count_limits, from_json, operations, reindexes, to_json};
use crate::domain::event::{self, EventKind};
use crate::domain::model::{DocumentCounts, Options, Pipeline, PipelineStatus};
use crate::domain::operation::{Operation, OperationState};

/// A pipeline to create.
pub struct NewPipeline {
    /// Unique.
    pub name: String,
    /// Name of an embedding model.
    pub embedding_model: String,
    /// Dimensions of a vector.
    pub embedding_dimensions: i64,
    /// Name of a text splitter.
    pub text_splitter: String,
    /// All parameters of the splitter.
    pub splitter_parameters: Map<String, Value>,
    /// The classifications.
    pub classifications: Vec<String>,
    /// Optional configuration.
    pub options: Options,
}

macro_rules! columns {
    () => {
        "id, name, revision, embedding_model, embedding_dimensions, text_splitter, splitter_parameters, \
         classifications, options, status, generation, created_at, updated_at"
    };
}

type Row = (String, String, i64, String, i64, String, String, String, String, String, i64, i64, i64);

const INSERT: &str =
    concat!("insert into pipelines (", columns!(), ") values ($1, $2, 1, $3, $4, $5, $6, $7, $8, 'active', 1, $9, $9)");
const BY_ID: &str = concat!("select ", columns!(), " from pipelines where id = $1");
// Ids are UUIDs, which contain no wildcards of `like`.
const LIST: &str = concat!(
    "select ",
    columns!(),
    " from pipelines where id > $1 and (cast($2 as text) is null or name = $2) \
     and (cast($3 as text) is null or $3 like '%' || id || '%') order by id limit $4"
);
const COUNT_MATCHING: &str = "select count(*) from pipelines where (cast($1 as text) is null or name = $1)
  and (cast($2 as text) is null or $2 like '%' || id || '%')";
const UPDATE: &str = "update pipelines set name = $3, classifications = $4, options = $5, revision = revision + 1,
  updated_at = $6 where id = $1 and revision = $2";
const SET_STATUS: &str = "update pipelines set status = $2, updated_at = $3 where id = $1 and status <> $2";
const COUNT_BY_STATUS: &str = "select pipeline_id, classification, status, count(*) from documents
  where pipeline_id >= $1 and pipeline_id <= $2 and status <> 'deleting' group by pipeline_id, classification, status";
const DELETE_JOBS: &str = "delete from jobs where pipeline_id = $1";
const COUNT_PIPELINES: &str = "select count(*) from pipelines";
const DELETE: &str = "delete from pipelines where id = $1";
const COUNT_PIPELINE_DOCUMENTS: &str = "select count(*) from documents where pipeline_id = $1";

/// Filter of pipelines.
#[derive(Clone, Copy, Debug, Default)]
pub struct PipelineFilter<'a> {
    /// Only this name.
    pub name: Option<&'a str>,
    /// Only ids contained in this string.
    pub ids: Option<&'a str>,
}

impl Store {
    /// Creates a pipeline.
    ///
    /// # Errors
    /// If its name is taken.
    pub async fn create_pipeline(&self, new: NewPipeline) -> Result<Pipeline> {
        self.create_pipeline_with_limit(new, None).await
    }

    /// Like `create_pipeline`, with a limit on the number of pipelines.
    ///
    /// # Errors
    /// If the name is taken or the limit is reached.
    pub async fn create_pipeline_with_limit(&self, new: NewPipeline, limit: Option<u64>) -> Result<Pipeline> {
        let now = Timestamp::now().0;
        let pipeline = Pipeline {
            id: uuid_v7(),
            name: new.name,
            revision: 1,
            embedding_model: new.embedding_model,
            embedding_dimensions: new.embedding_dimensions,
            text_splitter: new.text_splitter,
            splitter_parameters: new.splitter_parameters,
            classifications: new.classifications,
            options: new.options,
            status: PipelineStatus::Active,
            generation: 1,
            created_at: now,
            updated_at: now,
        };
        let (parameters, classifications) =
            (to_json(&pipeline.splitter_parameters)?, to_json(&pipeline.classifications)?);
        let options = to_json(&pipeline.options)?;
        let arguments = [
            (&pipeline.id).into(),
            (&pipeline.name).into(),
            (&pipeline.embedding_model).into(),
            pipeline.embedding_dimensions.into(),
            (&pipeline.text_splitter).into(),
            (&parameters).into(),
            (&classifications).into(),
            (&options).into(),
            now.into(),
        ];
        let mut tx = self.database.begin().await?;
        count_limits::check(&mut tx, ("pipelines", COUNT_PIPELINES), limit).await?;
        tx.execute(INSERT, &arguments).await.map_err(name_taken)?;
        crate::domain::audit_context::set_resource(&pipeline.id);
        self.emit_pipeline_event(&mut tx, event::PIPELINE_CREATED, &pipeline).await?;
        self.outbox.commit(tx).await?;
        Ok(pipeline)
    }

    /// Returns a pipeline by id.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn pipeline(&self, id: &str) -> Result<Option<Pipeline>> {
        self.database.row::<Row>(BY_ID, &[id.into()]).await?.map(pipeline).transpose()
    }

    /// Returns the pipelines after an id, in creation order.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn pipelines(&self, after: &str, filter: PipelineFilter<'_>, limit: usize) -> Result<Vec<Pipeline>> {
        let arguments = [after.into(), filter.name.into(), filter.ids.into(), (limit as i64).into()];
        self.database.rows::<Row>(LIST, &arguments).await?.into_iter().map(pipeline).collect()
    }

    /// Counts the pipelines of a filter on all pages.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn count_matching_pipelines(&self, filter: PipelineFilter<'_>) -> Result<i64> {
        let row = self.database.row::<(i64,)>(COUNT_MATCHING, &[filter.name.into(), filter.ids.into()]).await?;
        Ok(row.map_or(0, |row| row.0))
    }

    /// Counts all pipelines.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn count_pipelines(&self) -> Result<u64> {
        self.count_rows(COUNT_PIPELINES).await
    }

    /// Counts the documents of all pipelines.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn count_documents(&self) -> Result<u64> {
        self.count_rows(count_limits::DOCUMENTS.1).await
    }

    async fn count_rows(&self, sql: &'static str) -> Result<u64> {
        let row = self.database.row::<(i64,)>(sql, &[]).await?;
        Ok(row.and_then(|row| u64::try_from(row.0).ok()).unwrap_or(0))
    }

    /// Counts the documents of the pipelines between two ids, inclusive.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn status_counts(&self, first: &str, last: &str) -> Result<StatusCounts> {
        Ok(StatusCounts(self.database.rows(COUNT_BY_STATUS, &[first.into(), last.into()]).await?))
    }

    /// Returns true if documents have the classification.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn is_classification_used(&self, pipeline: &str, classification: &str) -> Result<bool> {
        Ok(self.status_counts(pipeline, pipeline).await?.0.iter().any(|(_, used, _, _)| used == classification))
    }

    /// Updates name, classifications and options of a pipeline if its revision is unchanged.
    ///
    /// # Errors
    /// If it was modified concurrently or the name is taken.
    pub async fn update_pipeline(&self, pipeline: &Pipeline) -> Result<Pipeline> {
        let now = Timestamp::now().0;
        let (classifications, options) = (to_json(&pipeline.classifications)?, to_json(&pipeline.options)?);
        let arguments = [
            (&pipeline.id).into(),
            pipeline.revision.into(),
            (&pipeline.name).into(),
            (&classifications).into(),
            (&options).into(),
            now.into(),
        ];
        let mut tx = self.database.begin().await?;
        if tx.execute(UPDATE, &arguments).await.map_err(name_taken)? == 0 {
            return Err(StoreError::Conflict);
        }
        let updated = Pipeline { revision: pipeline.revision + 1, updated_at: now, ..pipeline.clone() };
        self.emit_pipeline_event(&mut tx, event::PIPELINE_UPDATED, &updated).await?;
        self.outbox.commit(tx).await?;
        Ok(updated)
    }

    async fn emit_pipeline_event(
        &self,
        tx: &mut Transaction,
        kind: &'static EventKind,
        pipeline: &Pipeline,
    ) -> Result<()> {
        let status = ("status".into(), pipeline.status.as_str().into());
        let details = Map::from_iter([status, ("revision".into(), pipeline.revision.into())]);
        let draft = EventDraft { pipeline: Some(&pipeline.id), details, ..EventDraft::default() };
        Ok(self.outbox.emit(tx, kind, draft).await?)
    }

    /// Marks a pipeline as deleting and queues the job. Returns the operation; a repeated call returns the first one.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn begin_deletion(&self, id: &str) -> Result<Operation> {
        let now = Timestamp::now().0;
        let mut tx = self.database.begin().await?;
        let started =
            tx.execute(SET_STATUS, &[id.into(), PipelineStatus::Deleting.as_str().into(), now.into()]).await? > 0;
        let operation = if started {
            reindexes::abort_reindex(&mut tx, id, OperationState::Cancelled, None).await?;
            jobs::add(&mut tx, JobKind::Delete, id, None, now).await?;
            Some(operations::begin(&mut tx, operations::OperationKind::Delete, id, None).await?)
        } else {
            None
        };
        self.outbox.commit(tx).await?;
        let found = match operation {
            Some(operation) => self.operation(&operation).await?,
            None => self.running_operation(id, operations::OperationKind::Delete).await?,
        };
        found.ok_or(StoreError::Conflict)
    }

    /// Deletes a pipeline; returns false if it still has documents.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn delete_pipeline(&self, id: &str) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        let documents = tx.row::<(i64,)>(COUNT_PIPELINE_DOCUMENTS, &[id.into()]).await?.map_or(0, |row| row.0);
        if documents > 0 {
            return Ok(false);
        }
        tx.execute(DELETE_JOBS, &[id.into()]).await?;
        if tx.execute(DELETE, &[id.into()]).await? > 0 {
            let details = Map::from_iter([("status".into(), "deleted".into())]);
            let draft = EventDraft { pipeline: Some(id), details, ..EventDraft::default() };
            self.outbox.emit(&mut tx, event::PIPELINE_DELETED, draft).await?;
            operations::end(&mut tx, operations::OperationKind::Delete, id, OperationState::Succeeded, None).await?;
        }
        self.outbox.commit(tx).await?;
        Ok(true)
    }
}

/// Document counts by pipeline, classification and status.
pub struct StatusCounts(Vec<(String, String, String, i64)>);

impl StatusCounts {
    /// Sums the documents of a pipeline in some classifications.
    pub fn counts_for(&self, pipeline: &str, classifications: &[String]) -> DocumentCounts {
        let mut counts = DocumentCounts::default();
        for (_, _, status, documents) in
            self.0.iter().filter(|row| row.0 == pipeline && classifications.contains(&row.1))
        {
            counts.add(status, *documents);
        }
        counts
    }
}

fn name_taken(error: pidq_http::database::DatabaseError) -> StoreError {
    if error.is_duplicate() { StoreError::NameTaken } else { error.into() }
}

fn pipeline(row: Row) -> Result<Pipeline> {
    let status = PipelineStatus::parse(&row.9).ok_or_else(|| StoreError::Corrupt(format!("status {}", row.9)))?;
    Ok(Pipeline {
        splitter_parameters: from_json("splitter_parameters", &row.6)?,
        classifications: from_json("classifications", &row.7)?,
        options: from_json("options", &row.8)?,
        id: row.0,
        name: row.1,
        revision: row.2,
        embedding_model: row.3,
        embedding_dimensions: row.4,
        text_splitter: row.5,
        status,
        generation: row.10,
        created_at: row.11,
        updated_at: row.12,
    })
}

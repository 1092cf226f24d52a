//! Pipelines in the database.

use pidq_http::auth::Moment;
use pidq_http::database::Transaction;
use pidq_http::uuid_v7;
use serde_json::{Map, Value};

use super::jobs::{self, JobKind};
use super::outbox::Word;
use super::{Result, Store, StoreError, operations, reindexes, room, structure, text};
use crate::events::{self, Kind};
use crate::operations::{Operation, State};
use crate::records::{Counts, Options, Pipeline, PipelineStatus};

/// A pipeline to be made.
pub struct NewPipeline {
    /// Unique.
    pub name: String,
    /// A known model.
    pub embedding_model: String,
    /// How many numbers a vector has.
    pub embedding_dimensions: i64,
    /// A known splitter.
    pub text_splitter: String,
    /// All its parameters.
    pub splitter_parameters: Map<String, Value>,
    /// The labels.
    pub classifications: Vec<String>,
    /// What else was said.
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
// An id is a UUID: nothing in it means anything to `like`.
const LIST: &str = concat!(
    "select ",
    columns!(),
    " from pipelines where id > $1 and (cast($2 as text) is null or name = $2) \
     and (cast($3 as text) is null or $3 like '%' || id || '%') order by id limit $4"
);
const TOTAL: &str = "select count(*) from pipelines where (cast($1 as text) is null or name = $1)
  and (cast($2 as text) is null or $2 like '%' || id || '%')";
const UPDATE: &str = "update pipelines set name = $3, classifications = $4, options = $5, revision = revision + 1,
  updated_at = $6 where id = $1 and revision = $2";
const SET_STATUS: &str = "update pipelines set status = $2, updated_at = $3 where id = $1 and status <> $2";
const COUNT: &str = "select pipeline_id, classification, status, count(*) from documents
  where pipeline_id >= $1 and pipeline_id <= $2 and status <> 'deleting' group by pipeline_id, classification, status";
const DELETE_JOBS: &str = "delete from jobs where pipeline_id = $1";
const PIPELINES: &str = "select count(*) from pipelines";
pub(super) const ALL_DOCUMENTS: &str = "select count(*) from documents where status <> 'deleting'";
const DELETE: &str = "delete from pipelines where id = $1";
const DOCUMENTS: &str = "select count(*) from documents where pipeline_id = $1";

/// Which pipelines a list has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen<'a> {
    /// The one of this name only.
    pub name: Option<&'a str>,
    /// Those whose ids stand in this text only.
    pub within: Option<&'a str>,
}

impl Store {
    /// Makes a pipeline.
    ///
    /// # Errors
    /// If its name is taken.
    pub async fn create_pipeline(&self, new: NewPipeline) -> Result<Pipeline> {
        self.create_pipeline_up_to(new, None).await
    }

    /// The same, if there are fewer than the most.
    ///
    /// # Errors
    /// If the name is taken, or there are as many.
    pub async fn create_pipeline_up_to(&self, new: NewPipeline, most: Option<u64>) -> Result<Pipeline> {
        let now = Moment::now().0;
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
        let (parameters, labels) = (text(&pipeline.splitter_parameters)?, text(&pipeline.classifications)?);
        let options = text(&pipeline.options)?;
        let arguments = [
            (&pipeline.id).into(),
            (&pipeline.name).into(),
            (&pipeline.embedding_model).into(),
            pipeline.embedding_dimensions.into(),
            (&pipeline.text_splitter).into(),
            (&parameters).into(),
            (&labels).into(),
            (&options).into(),
            now.into(),
        ];
        let mut tx = self.database.begin().await?;
        room::for_one(&mut tx, ("pipelines", PIPELINES), most).await?;
        tx.execute(INSERT, &arguments).await.map_err(name_taken)?;
        crate::audit::made(&pipeline.id);
        self.tell_of_pipeline(&mut tx, events::PIPELINE_CREATED, &pipeline).await?;
        self.outbox.commit(tx).await?;
        Ok(pipeline)
    }

    /// The pipeline of an id.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn pipeline(&self, id: &str) -> Result<Option<Pipeline>> {
        self.database.row::<Row>(BY_ID, &[id.into()]).await?.map(pipeline).transpose()
    }

    /// Pipelines after one, in the order in which they were made.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn pipelines(&self, after: &str, seen: Seen<'_>, limit: usize) -> Result<Vec<Pipeline>> {
        let arguments = [after.into(), seen.name.into(), seen.within.into(), (limit as i64).into()];
        self.database.rows::<Row>(LIST, &arguments).await?.into_iter().map(pipeline).collect()
    }

    /// How many pipelines such a list has on all its pages.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn total_pipelines(&self, seen: Seen<'_>) -> Result<i64> {
        let row = self.database.row::<(i64,)>(TOTAL, &[seen.name.into(), seen.within.into()]).await?;
        Ok(row.map_or(0, |row| row.0))
    }

    /// How many pipelines there are.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn count_pipelines(&self) -> Result<u64> {
        self.count_rows(PIPELINES).await
    }

    /// How many documents there are in all pipelines.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn count_documents(&self) -> Result<u64> {
        self.count_rows(ALL_DOCUMENTS).await
    }

    async fn count_rows(&self, sql: &'static str) -> Result<u64> {
        let row = self.database.row::<(i64,)>(sql, &[]).await?;
        Ok(row.and_then(|row| u64::try_from(row.0).ok()).unwrap_or(0))
    }

    /// How many documents the pipelines of a page have, which are those between two ids.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn counts_between(&self, first: &str, last: &str) -> Result<Census> {
        Ok(Census(self.database.rows(COUNT, &[first.into(), last.into()]).await?))
    }

    /// Whether documents have a label.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn is_label_used(&self, pipeline: &str, label: &str) -> Result<bool> {
        Ok(self.counts_between(pipeline, pipeline).await?.0.iter().any(|(_, used, _, _)| used == label))
    }

    /// Stores name, labels and options of a pipeline that is still as it was read.
    ///
    /// # Errors
    /// If it was changed in between, or the name is taken.
    pub async fn update_pipeline(&self, pipeline: &Pipeline) -> Result<Pipeline> {
        let now = Moment::now().0;
        let (labels, options) = (text(&pipeline.classifications)?, text(&pipeline.options)?);
        let arguments = [
            (&pipeline.id).into(),
            pipeline.revision.into(),
            (&pipeline.name).into(),
            (&labels).into(),
            (&options).into(),
            now.into(),
        ];
        let mut tx = self.database.begin().await?;
        if tx.execute(UPDATE, &arguments).await.map_err(name_taken)? == 0 {
            return Err(StoreError::Changed);
        }
        let updated = Pipeline { revision: pipeline.revision + 1, updated_at: now, ..pipeline.clone() };
        self.tell_of_pipeline(&mut tx, events::PIPELINE_UPDATED, &updated).await?;
        self.outbox.commit(tx).await?;
        Ok(updated)
    }

    async fn tell_of_pipeline(&self, tx: &mut Transaction, kind: &'static Kind, pipeline: &Pipeline) -> Result<()> {
        let status = ("status".into(), pipeline.status.word().into());
        let details = Map::from_iter([status, ("revision".into(), pipeline.revision.into())]);
        let word = Word { pipeline: Some(&pipeline.id), details, ..Word::default() };
        Ok(self.outbox.tell(tx, kind, word).await?)
    }

    /// Says that a pipeline goes away, and leaves the job of it. Gives the operation, the first one if there were more.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn begin_deletion(&self, id: &str) -> Result<Operation> {
        let now = Moment::now().0;
        let mut tx = self.database.begin().await?;
        let begun = tx.execute(SET_STATUS, &[id.into(), PipelineStatus::Deleting.word().into(), now.into()]).await? > 0;
        let operation = if begun {
            reindexes::give_up(&mut tx, id, State::Cancelled, None).await?;
            jobs::add(&mut tx, JobKind::Delete, id, None, now).await?;
            Some(operations::begin(&mut tx, operations::Kind::Delete, id, None).await?)
        } else {
            None
        };
        self.outbox.commit(tx).await?;
        let found = match operation {
            Some(operation) => self.operation(&operation).await?,
            None => self.running_operation(id, operations::Kind::Delete).await?,
        };
        found.ok_or(StoreError::Changed)
    }

    /// Deletes a pipeline without documents; says whether it had none.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn delete_pipeline(&self, id: &str) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        let documents = tx.row::<(i64,)>(DOCUMENTS, &[id.into()]).await?.map_or(0, |row| row.0);
        if documents > 0 {
            return Ok(false);
        }
        tx.execute(DELETE_JOBS, &[id.into()]).await?;
        if tx.execute(DELETE, &[id.into()]).await? > 0 {
            let details = Map::from_iter([("status".into(), "deleted".into())]);
            let word = Word { pipeline: Some(id), details, ..Word::default() };
            self.outbox.tell(&mut tx, events::PIPELINE_DELETED, word).await?;
            operations::end(&mut tx, operations::Kind::Delete, id, State::Succeeded, None).await?;
        }
        self.outbox.commit(tx).await?;
        Ok(true)
    }
}

/// How many documents have a label and a status, in some pipelines.
pub struct Census(Vec<(String, String, String, i64)>);

impl Census {
    /// The documents of a pipeline that have one of these labels.
    pub fn of(&self, pipeline: &str, labels: &[String]) -> Counts {
        let mut counts = Counts::default();
        for (_, _, status, documents) in self.0.iter().filter(|row| row.0 == pipeline && labels.contains(&row.1)) {
            counts.add(status, *documents);
        }
        counts
    }
}

fn name_taken(error: pidq_http::database::DatabaseError) -> StoreError {
    if error.is_duplicate() { StoreError::NameTaken } else { error.into() }
}

fn pipeline(row: Row) -> Result<Pipeline> {
    let status = PipelineStatus::of_word(&row.9).ok_or_else(|| StoreError::Damaged(format!("status {}", row.9)))?;
    Ok(Pipeline {
        splitter_parameters: structure("splitter_parameters", &row.6)?,
        classifications: structure("classifications", &row.7)?,
        options: structure("options", &row.8)?,
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

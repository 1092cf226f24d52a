//! Long-running operations in the database: state, progress and result.

use pidq_http::auth::Timestamp;
use pidq_http::database::Transaction;
use pidq_http::uuid_v7;

use super::{Result, Store, StoreError, from_json, to_json};
pub(super) use crate::domain::operation::OperationKind;
use crate::domain::operation::{Operation, OperationError};
use crate::domain::operation::{OperationState, Progress};

macro_rules! columns {
    () => {
        "id, kind, pipeline_id, status, progress, failure, created_at, updated_at"
    };
}

type Row = (String, String, String, String, String, Option<String>, i64, i64);

const INSERT: &str =
    "insert into operations (id, kind, pipeline_id, status, progress, generation, created_at, updated_at)
  values ($1, $2, $3, 'running', '{}', $4, $5, $5)";
const BY_ID: &str = concat!("select ", columns!(), " from operations where id = $1");
const RUNNING: &str =
    concat!("select ", columns!(), " from operations where pipeline_id = $1 and kind = $2 and status = 'running'");
const PROGRESS: &str = "update operations set progress = $2, updated_at = $3 where id = $1 and status = 'running'";
const END: &str = "update operations set status = $3, failure = $4, updated_at = $5
  where pipeline_id = $1 and kind = $2 and status = 'running'";

/// Starts an operation, optionally with the generation of chunks that it builds.
pub(super) async fn begin(
    tx: &mut Transaction,
    kind: OperationKind,
    pipeline: &str,
    generation: Option<i64>,
) -> Result<String> {
    let id = uuid_v7();
    let arguments = [(&id).into(), kind.as_str().into(), pipeline.into(), generation.into(), Timestamp::now().0.into()];
    tx.execute(INSERT, &arguments).await?;
    Ok(id)
}

/// Ends the running operation of a kind for a pipeline.
pub(super) async fn end(
    tx: &mut Transaction,
    kind: OperationKind,
    pipeline: &str,
    state: OperationState,
    error: Option<&OperationError>,
) -> Result<()> {
    let error = error.map(to_json).transpose()?;
    let arguments = [
        pipeline.into(),
        kind.as_str().into(),
        state.as_str().into(),
        error.as_deref().into(),
        Timestamp::now().0.into(),
    ];
    tx.execute(END, &arguments).await?;
    Ok(())
}

impl Store {
    /// Returns an operation by id.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn operation(&self, id: &str) -> Result<Option<Operation>> {
        self.database.row::<Row>(BY_ID, &[id.into()]).await?.map(operation).transpose()
    }

    /// Returns the running operation of a kind for a pipeline.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn running_operation(&self, pipeline: &str, kind: OperationKind) -> Result<Option<Operation>> {
        self.database.row::<Row>(RUNNING, &[pipeline.into(), kind.as_str().into()]).await?.map(operation).transpose()
    }

    /// Updates the progress of an operation.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn update_operation_progress(&self, operation: &str, progress: &Progress) -> Result<()> {
        let progress = to_json(progress)?;
        self.database.execute(PROGRESS, &[operation.into(), (&progress).into(), Timestamp::now().0.into()]).await?;
        Ok(())
    }
}

fn operation(row: Row) -> Result<Operation> {
    let kind = OperationKind::parse(&row.1).ok_or_else(|| StoreError::Corrupt(format!("operation {}", row.1)))?;
    let state = OperationState::parse(&row.3).ok_or_else(|| StoreError::Corrupt(format!("operation {}", row.3)))?;
    Ok(Operation {
        progress: from_json("progress", &row.4)?,
        error: row.5.map(|error| from_json("failure", &error)).transpose()?,
        id: row.0,
        kind,
        pipeline_id: row.2,
        state,
        created_at: row.6,
        updated_at: row.7,
    })
}

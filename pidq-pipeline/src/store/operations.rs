//! Operations in the database: work that somebody asked for, how far it is, and what came of it.

use pidq_http::auth::Moment;
use pidq_http::database::Transaction;
use pidq_http::uuid_v7;

use super::{Result, Store, StoreError, structure, text};
pub(super) use crate::operations::Kind;
use crate::operations::{Fault, Operation, Progress, State};

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

/// Begins an operation, which may make a generation of chunks.
pub(super) async fn begin(tx: &mut Transaction, kind: Kind, pipeline: &str, generation: Option<i64>) -> Result<String> {
    let id = uuid_v7();
    let arguments = [(&id).into(), kind.word().into(), pipeline.into(), generation.into(), Moment::now().0.into()];
    tx.execute(INSERT, &arguments).await?;
    Ok(id)
}

/// Ends what of a kind is under way for a pipeline.
pub(super) async fn end(
    tx: &mut Transaction,
    kind: Kind,
    pipeline: &str,
    state: State,
    fault: Option<&Fault>,
) -> Result<()> {
    let fault = fault.map(text).transpose()?;
    let arguments =
        [pipeline.into(), kind.word().into(), state.word().into(), fault.as_deref().into(), Moment::now().0.into()];
    tx.execute(END, &arguments).await?;
    Ok(())
}

impl Store {
    /// The operation of an id.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn operation(&self, id: &str) -> Result<Option<Operation>> {
        self.database.row::<Row>(BY_ID, &[id.into()]).await?.map(operation).transpose()
    }

    /// What of a kind is under way for a pipeline.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn running_operation(&self, pipeline: &str, kind: Kind) -> Result<Option<Operation>> {
        self.database.row::<Row>(RUNNING, &[pipeline.into(), kind.word().into()]).await?.map(operation).transpose()
    }

    /// Says how far an operation is.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn note_progress(&self, operation: &str, progress: &Progress) -> Result<()> {
        let progress = text(progress)?;
        self.database.execute(PROGRESS, &[operation.into(), (&progress).into(), Moment::now().0.into()]).await?;
        Ok(())
    }
}

fn operation(row: Row) -> Result<Operation> {
    let kind = Kind::of_word(&row.1).ok_or_else(|| StoreError::Damaged(format!("operation {}", row.1)))?;
    let state = State::of_word(&row.3).ok_or_else(|| StoreError::Damaged(format!("operation {}", row.3)))?;
    Ok(Operation {
        progress: structure("progress", &row.4)?,
        fault: row.5.map(|fault| structure("failure", &fault)).transpose()?,
        id: row.0,
        kind,
        pipeline_id: row.2,
        state,
        created_at: row.6,
        updated_at: row.7,
    })
}

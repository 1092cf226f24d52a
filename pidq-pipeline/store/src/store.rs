//! Persistent storage of the platform in SQLite or PostgreSQL: pipelines, documents, chunks and the job queue.

mod account_limits;
mod answers;
mod api_keys;
mod attachments;
mod audit;
mod chunks;
mod contents;
mod count_limits;
mod daily_quota;
mod deletion;
mod documents;
mod idempotency;
mod jobs;
mod licenses;
mod llm_connections;
mod model_outages;
mod operations;
mod outbox;
mod page_words;
mod partitions;
mod pipelines;
mod publishing;
mod reindexes;
mod usage;
mod webhooks;

use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_http::database::{Database, DatabaseError, Migration};
use pidq_http::{Fut, uuid_v7};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use account_limits::AccountLimit;
pub use answers::{NewAnswer, StoredAnswer};
pub use attachments::{NewAttachment, NewAttachments};
pub use audit::AuditFilter;
pub use contents::Content;
pub use daily_quota::CountedQuestion;
pub use documents::{
    DocumentFilter, DocumentUpdate, FilenameWords, MAX_FILENAME_WORDS, NewContent, NewDocument, SORTS, Sort,
};
pub use idempotency::LEASE_MS;
pub use idempotency::{Claim, IdempotencyKey};
pub use jobs::{Job, JobKind};
pub use model_outages::ModelOutage;
pub use outbox::{Outbox, StageTransition};
pub use page_words::{PageSelection, PageWordsRecord, StoredPageWords};
pub use partitions::{IndexedRevision, SearchableDocument, StoredChunk};
pub use pipelines::{NewPipeline, PipelineFilter, StatusCounts};
pub use publishing::{IngestedDocument, PublishOutcome};
pub use reindexes::{OLD_GENERATION_GRACE, Reindex, ReindexTarget, SwapOutcome};
pub use usage::{Amount, AnswerStats, CLIENT_GONE, DailyUsage, QuestionStats, UsageFilter};
pub use webhooks::{Delivery, DeliveryOutcome, MAX_RETRY_AFTER};

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, sql: include_str!("../migrations/platform_1.sql") },
    Migration { version: 2, sql: include_str!("../migrations/platform_2.sql") },
    Migration { version: 3, sql: include_str!("../migrations/platform_3.sql") },
    Migration { version: 4, sql: include_str!("../migrations/platform_4.sql") },
    Migration { version: 5, sql: include_str!("../migrations/platform_5.sql") },
];

/// Pipeline and id of a document. Ids are unique, but a database that is partitioned by pipeline finds a row by both.
type DocumentKey<'a> = (&'a str, &'a str);

/// The database of the platform.
#[derive(Clone, Debug)]
pub struct Store {
    database: Database,
    outbox: Outbox,
}

/// Error of a storage operation.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database is unavailable or rejected a statement.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A stored value cannot be parsed.
    #[error("stored value cannot be parsed: {0}")]
    Corrupt(String),
    /// The name is taken.
    #[error("the name is taken")]
    NameTaken,
    /// The external id is taken in the classification.
    #[error("a document with that external id exists in the classification")]
    ExternalIdTaken,
    /// The classification already has a document with the same content.
    #[error("a document with the same content exists in the classification")]
    DuplicateContent,
    /// The row was modified concurrently.
    #[error("modified concurrently")]
    Conflict,
    /// The pipeline is being reindexed or deleted.
    #[error("the pipeline is being reindexed or deleted")]
    PipelineBusy,
    /// A count limit is reached; the value is the current count.
    #[error("the limit of {0} is reached")]
    LimitReached(u64),
    /// The spooled upload cannot be read back.
    #[error("the spooled upload cannot be read: {0}")]
    UploadUnreadable(std::io::Error),
}

type Result<T> = std::result::Result<T, StoreError>;

const SELECT_INSTALLATION: &str = "select value from installation where name = 'id'";
const INSERT_INSTALLATION: &str =
    "insert into installation (name, value) values ('id', $1) on conflict (name) do nothing";

impl Store {
    /// Opens the store and creates missing tables.
    ///
    /// # Errors
    /// If the database is unavailable or its schema is newer than this version.
    pub async fn open(database: Database) -> Result<Store> {
        database.migrate("platform", MIGRATIONS).await?;
        database.execute(INSERT_INSTALLATION, &[(&uuid_v7()).into()]).await?;
        Ok(Store { database, outbox: Outbox::default() })
    }

    /// Replaces the outbox.
    #[must_use]
    pub fn with_outbox(self, outbox: Outbox) -> Store {
        Store { outbox, ..self }
    }

    /// Returns true if the database answers.
    pub async fn is_reachable(&self) -> bool {
        self.database.is_reachable().await
    }

    /// Returns the installation id, which was generated at the first start.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn installation_id(&self) -> Result<String> {
        let row = self.database.row::<(String,)>(SELECT_INSTALLATION, &[]).await?;
        row.map(|row| row.0).ok_or_else(|| StoreError::Corrupt("the installation has no id".into()))
    }
}

/// Time by which the clocks of two machines may differ.
const CLOCK_TOLERANCE: Duration = Duration::from_mins(15);

/// Returns the latest time that a process may have recorded for something after a delay. A later time was recorded before
/// the clock was set back, and counts as past: otherwise leases and delays would last as long as the clock was set back.
fn latest_plausible(now: Timestamp, delay: Duration) -> i64 {
    (now + delay + CLOCK_TOLERANCE).0
}

/// Attempts of a transaction that runs into deadlocks.
const TRANSACTION_ATTEMPTS: usize = 5;

/// Runs a transaction and retries it after a deadlock, in which the database aborts one of the transactions involved.
/// Locks are taken in a fixed order where possible; that is impossible where two transactions insert the same unique
/// keys.
async fn retry_on_deadlock<'a, T>(transaction: impl Fn() -> Fut<'a, Result<T>>) -> Result<T> {
    for _ in 1..TRANSACTION_ATTEMPTS {
        match transaction().await {
            Err(StoreError::Database(error)) if error.is_deadlock() => {
                tracing::info!("deadlock detected; retrying transaction");
            }
            outcome => return outcome,
        }
    }
    transaction().await
}

/// Serializes a value for a JSON column.
fn to_json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}

fn from_json<T: DeserializeOwned>(column: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| StoreError::Corrupt(format!("{column}: {error}")))
}

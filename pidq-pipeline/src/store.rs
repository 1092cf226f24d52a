//! What survives: pipelines, documents, their chunks, and the work on them, in SQLite or PostgreSQL.

mod audit;
mod chunks;
mod connections;
mod contents;
mod documents;
mod idempotency;
mod jobs;
mod keys;
mod licences;
mod operations;
mod outages;
mod outbox;
mod partitions;
mod pipelines;
mod queries;
mod questions;
mod reindexes;
mod room;
mod usage;
mod webhooks;

use pidq_http::database::{Database, DatabaseError, Migration};
use pidq_http::{Fut, uuid_v7};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use audit::Searched;
pub use contents::Content;
pub use documents::{Change, Listed, NewContent, NewDocument, SORTS, Sort};
pub(crate) use idempotency::HOLD;
pub use idempotency::{Claimed, Repeatable};
pub use jobs::{Job, JobKind, Published, ReadDocument, Stage};
pub use outages::Outage;
pub use outbox::Outbox;
pub use partitions::{Listing, Searchable, StoredChunk};
pub use pipelines::{Census, NewPipeline, Seen};
pub use queries::{KeptQuery, NewQuery};
pub use questions::Counted;
pub use reindexes::{LATECOMERS, Reindex, Swap, Target};
pub use usage::{Amount, Asked, CLIENT_GONE, Figures, Span, Told};
pub use webhooks::{Attempt, Delivery};

const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, sql: include_str!("../migrations/platform_1.sql") },
    Migration { version: 2, sql: include_str!("../migrations/platform_2.sql") },
    Migration { version: 3, sql: include_str!("../migrations/platform_3.sql") },
    Migration { version: 4, sql: include_str!("../migrations/platform_4.sql") },
    Migration { version: 6, sql: include_str!("../migrations/platform_6.sql") },
    Migration { version: 7, sql: include_str!("../migrations/platform_7.sql") },
    Migration { version: 8, sql: include_str!("../migrations/platform_8.sql") },
    Migration { version: 10, sql: include_str!("../migrations/platform_10.sql") },
    Migration { version: 11, sql: include_str!("../migrations/platform_11.sql") },
];

/// The database of the platform.
#[derive(Clone, Debug)]
pub struct Store {
    database: Database,
    outbox: Outbox,
}

/// Why something is not stored.
#[derive(Debug)]
pub enum StoreError {
    /// The database does not answer or does not agree.
    Database(DatabaseError),
    /// What is stored cannot be read.
    Damaged(String),
    /// Something of that name exists.
    NameTaken,
    /// A document with that id of the caller's exists in the pipeline.
    ExternalIdTaken,
    /// The same bytes are there already under the label.
    SameContent,
    /// Somebody else changed it in between.
    Changed,
    /// The pipeline is being reindexed, or goes away.
    Busy,
    /// There are so many already, and that is the most.
    AsManyAsMayBe(u64),
    /// What was sent cannot be read again.
    Lost(std::io::Error),
}

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> StoreError {
        StoreError::Database(error)
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StoreError::Database(error) => error.fmt(f),
            StoreError::Damaged(what) => write!(f, "what is stored cannot be read: {what}"),
            StoreError::NameTaken => f.write_str("that name is taken"),
            StoreError::ExternalIdTaken => f.write_str("a document with that external id exists in the classification"),
            StoreError::SameContent => f.write_str("the same bytes are there already under the label"),
            StoreError::Busy => f.write_str("the pipeline is being reindexed, or goes away"),
            StoreError::AsManyAsMayBe(there) => write!(f, "there are {there}, and that is the most"),
            StoreError::Lost(error) => write!(f, "what was sent cannot be read again: {error}"),
            StoreError::Changed => f.write_str("somebody else changed it in between"),
        }
    }
}

impl std::error::Error for StoreError {}

type Result<T> = std::result::Result<T, StoreError>;

const INSTALLATION: &str = "select value from installation where name = 'id'";
const INSTALL: &str = "insert into installation (name, value) values ('id', $1) on conflict (name) do nothing";

impl Store {
    /// Makes the tables where they are missing.
    ///
    /// # Errors
    /// If the database does not answer, or was made by a newer pidq.
    pub async fn open(database: Database) -> Result<Store> {
        database.migrate("platform", MIGRATIONS).await?;
        database.execute(INSTALL, &[(&uuid_v7()).into()]).await?;
        Ok(Store { database, outbox: Outbox::default() })
    }

    /// The same with another place where changes leave word of themselves.
    #[must_use]
    pub fn with_outbox(self, outbox: Outbox) -> Store {
        Store { outbox, ..self }
    }

    /// Whether the database answers now.
    pub async fn is_reachable(&self) -> bool {
        self.database.is_reachable().await
    }

    /// The identity that this installation got at its first start.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn installation(&self) -> Result<String> {
        let row = self.database.row::<(String,)>(INSTALLATION, &[]).await?;
        row.map(|row| row.0).ok_or_else(|| StoreError::Damaged("the installation has no id".into()))
    }
}

/// How often a transaction is tried that others are in the way of.
const TRIES: usize = 5;

/// Does in one transaction what may wait for another one that waits for it: the database ends one of the two, which is
/// tried again. Locks are taken in one order where that can be; where a row has the key that another one will have, it
/// cannot.
async fn again<'a, T>(transaction: impl Fn() -> Fut<'a, Result<T>>) -> Result<T> {
    for _ in 1..TRIES {
        match transaction().await {
            Err(StoreError::Database(error)) if error.is_deadlock() => {
                tracing::info!("two transactions waited for each other: one is tried again");
            }
            outcome => return outcome,
        }
    }
    transaction().await
}

/// A structure as the text that is stored of it.
fn text(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| StoreError::Damaged(error.to_string()))
}

fn structure<T: DeserializeOwned>(what: &str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| StoreError::Damaged(format!("{what}: {error}")))
}

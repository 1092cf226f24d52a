//! The nearest vectors of a partition that is too large to look at all of them: an index of pgvector, where PostgreSQL
//! has that.
//!
//! It names candidates and decides nothing: their order and scores are exact. It is brought up to date beside the
//! questions, and until then all vectors are looked at, so that what was just written or deleted is never missed. Its
//! figures: M 16, 200 when it is built, 64 to 256 when it is asked, numbers of half precision.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pidq_http::database::{Arg, Database, DatabaseError, Kind, Migration};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::embedding::from_blob;
use crate::records::Pipeline;

/// From so many chunks of a label on, looking at all takes longer than a question may.
pub const FROM: usize = 1_000_000;

/// Vectors that are written at once.
const BATCH: i64 = 500;
/// The most numbers that an index of half precision takes.
const LONGEST: i64 = 4000;

// Numbers of half precision came with 0.7.
const AVAILABLE: &str = "select 1 from pg_available_extensions
  where name = 'vector' and string_to_array(default_version, '.')::int[] >= '{0,7}'";
const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, sql: include_str!("../migrations/near_1.sql") },
    Migration { version: 2, sql: include_str!("../migrations/near_2.sql") },
];
const OPEN: &str = "select pidq_near_open($1, $2)";
const LEAVE: &str = "select pidq_near_leave($1, $2)";
const MISSING: &str = "select id, vector from pidq_near_missing($1, $2, $3, $4, $5, $6)";
const PUT: &str = "select pidq_near_put($1, $2)";
const INDEX: &str = "select pidq_near_index($1)";
const SEARCH: &str = "select document_id, number from pidq_near_search($1, $2, $3, $4)";
const TIDY: &str = "select pidq_near_tidy()";

/// A chunk: its document, and its number there.
pub type Place = (String, u32);

/// The indexes of a database.
pub struct Near {
    database: Database,
    from: usize,
    tables: Mutex<HashMap<String, State>>,
}

/// How far the index of a partition is.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// Somebody brings it up to date.
    Busy,
    /// It has what the partition had at this count of changes.
    AsOf(i64),
}

/// A partition.
#[derive(Clone)]
struct Table {
    name: String,
    pipeline: String,
    generation: i64,
    label: String,
    dimensions: i64,
}

impl Near {
    /// The indexes of a database for partitions from a size on, if it has pgvector.
    pub async fn open(database: &Database, from: usize) -> Option<Arc<Near>> {
        let postgres = database.kind() == Kind::Postgres;
        if !postgres || !matches!(database.row::<(i32,)>(AVAILABLE, &[]).await, Ok(Some(_))) {
            return None;
        }
        match database.migrate("near", MIGRATIONS).await {
            Ok(()) => Some(Arc::new(Near { database: database.clone(), from, tables: Mutex::default() })),
            Err(error) => {
                tracing::warn!(%error, "pgvector is there and cannot be used: all vectors are looked at");
                None
            }
        }
    }

    /// The chunks nearest to a vector, about. None where all are to be looked at: the partition has few, or its index is
    /// not what the partition is; then the index is brought up to date in the background.
    pub async fn nearest(
        self: &Arc<Self>,
        pipeline: &Pipeline,
        label: &str,
        (chunks, changes): (usize, i64),
        vector: &[f32],
        most: usize,
    ) -> Option<Vec<Place>> {
        if chunks < self.from || pipeline.embedding_dimensions > LONGEST {
            return None;
        }
        let table = Table::of(pipeline, label);
        if !self.is_as_of(&table, changes) {
            return None;
        }
        let found = self.search(&table, vector, most).await;
        found.inspect_err(|error| tracing::warn!(%error, "an index of vectors does not answer")).ok()
    }

    /// Whether an index is as of a count of changes. If nobody does yet, it is brought there.
    fn is_as_of(self: &Arc<Self>, table: &Table, changes: i64) -> bool {
        let before = self.tables().get(&table.name).copied();
        match before {
            Some(State::AsOf(then)) if then == changes => return true,
            Some(State::Busy) => return false,
            _ => self.tables().insert(table.name.clone(), State::Busy),
        };
        let (near, table) = (self.clone(), table.clone());
        tokio::spawn(async move {
            let end = near.bring_up_to_date(&table).await;
            match end {
                Ok(()) => near.tables().insert(table.name, State::AsOf(changes)),
                Err(error) => {
                    tracing::warn!(%error, "an index of vectors cannot be brought up to date");
                    near.tables().remove(&table.name)
                }
            };
        });
        false
    }

    async fn bring_up_to_date(&self, table: &Table) -> Result<(), DatabaseError> {
        let name: Arg<'_> = (&table.name).into();
        self.database.execute(OPEN, &[name, table.dimensions.into()]).await?;
        self.database.execute(LEAVE, &[name, (&table.label).into()]).await?;
        let mut after = String::new();
        loop {
            let (pipeline, label) = ((&table.pipeline).into(), (&table.label).into());
            let arguments = [name, pipeline, table.generation.into(), label, (&after).into(), BATCH.into()];
            let rows = self.database.rows::<(String, Vec<u8>)>(MISSING, &arguments).await?;
            let Some(last) = rows.last().map(|(id, _)| id.clone()) else { break };
            after = last;
            let pair = |(id, vector): &(String, Vec<u8>)| Some(json!([id, written(&from_blob(vector)?)]));
            let pairs: Vec<_> = rows.iter().filter_map(pair).collect();
            self.database.execute(PUT, &[name, (&json!(pairs).to_string()).into()]).await?;
        }
        // After the vectors, since a graph is faster built than grown. Later ones are put into it.
        self.database.execute(INDEX, &[name]).await.map(drop)
    }

    async fn search(&self, table: &Table, vector: &[f32], most: usize) -> Result<Vec<Place>, DatabaseError> {
        let (question, most) = (written(vector), most as i64);
        let effort = (2 * most).clamp(64, 256);
        let arguments = [(&table.name).into(), (&question).into(), most.into(), effort.into()];
        let rows = self.database.rows::<(String, i64)>(SEARCH, &arguments).await?;
        Ok(rows.into_iter().map(|(document, number)| (document, u32::try_from(number).unwrap_or(u32::MAX))).collect())
    }

    /// Removes the indexes of partitions that are gone, or are searched in another generation.
    ///
    /// # Errors
    /// If the database does not answer, or others use the chunks all the time.
    pub async fn tidy(&self) -> Result<(), DatabaseError> {
        let gone = self.database.rows::<(String,)>(TIDY, &[]).await?;
        self.tables().retain(|name, _| !gone.iter().any(|(gone,)| gone == name));
        Ok(())
    }

    fn tables(&self) -> MutexGuard<'_, HashMap<String, State>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// A name says nothing of the label: names of tables are seen by others than the label's readers.
    fn of(pipeline: &Pipeline, label: &str) -> Table {
        let whole = format!("{}\0{}\0{label}", pipeline.id, pipeline.generation);
        let digest = Sha256::digest(whole.as_bytes());
        let name = format!("near_{}", digest[..16].iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        let (dimensions, generation) = (pipeline.embedding_dimensions, pipeline.generation);
        Table { name, pipeline: pipeline.id.clone(), generation, label: label.to_owned(), dimensions }
    }
}

/// A vector as PostgreSQL reads it.
fn written(vector: &[f32]) -> String {
    let numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
    format!("[{}]", numbers.join(","))
}

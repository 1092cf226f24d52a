//! Approximate nearest-neighbor (HNSW) indexes of pgvector for large partitions, on PostgreSQL with pgvector.
//!
//! An index only selects candidates; their scores and order are exact. It is updated in the background, and until it is
//! current all vectors are scanned, so that recent changes are never missed. Parameters: M 16, ef_construction 200,
//! ef_search 64 to 256, half-precision vectors.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use data_encoding::HEXLOWER;
use pidq_http::database::{Arg, Database, DatabaseError, DatabaseKind, Migration};
use pidq_store::domain::model::Pipeline;
use pidq_text::embedding::from_blob;
use serde_json::json;
use sha2::{Digest, Sha256};

/// Default number of chunks of a partition from which an index is used instead of a full scan.
pub const DEFAULT_THRESHOLD: usize = 1_000_000;

/// Number of vectors written per statement.
const BATCH_SIZE: i64 = 500;
/// Maximum number of dimensions of a half-precision index.
const MAX_DIMENSIONS: i64 = 4000;

// Half-precision vectors require pgvector 0.7.
const AVAILABLE: &str = "select 1 from pg_available_extensions
  where name = 'vector' and string_to_array(default_version, '.')::int[] >= '{0,7}'";
const MIGRATIONS: &[Migration] = &[Migration { version: 1, sql: include_str!("../../migrations/pgvector_1.sql") }];
const CREATE_TABLE: &str = "select pidq_vectors_create($1, $2)";
const DELETE_RECLASSIFIED: &str = "select pidq_vectors_delete_reclassified($1, $2)";
const MISSING: &str = "select id, vector from pidq_vectors_missing($1, $2, $3, $4, $5, $6)";
const INSERT: &str = "select pidq_vectors_insert($1, $2)";
const CREATE_INDEX: &str = "select pidq_vectors_create_index($1)";
const SEARCH: &str = "select document_id, number from pidq_vectors_search($1, $2, $3, $4)";
const DROP_OBSOLETE: &str = "select pidq_vectors_drop_obsolete()";

/// Position of a chunk: document id and chunk number.
pub type ChunkPosition = (String, u32);

/// The pgvector indexes of a database.
pub struct PgvectorIndex {
    database: Database,
    threshold: usize,
    states: Mutex<HashMap<String, IndexState>>,
}

/// State of a partition's index.
#[derive(Clone, Copy, Debug, PartialEq)]
enum IndexState {
    /// An update is running.
    Updating,
    /// The index reflects the partition at this change count.
    UpToDate(i64),
}

/// The table of a partition's index.
#[derive(Clone)]
struct IndexTable {
    name: String,
    pipeline: String,
    generation: i64,
    classification: String,
    dimensions: i64,
}

impl PgvectorIndex {
    /// Opens the indexes of a database for partitions of at least `threshold` chunks, if pgvector is available.
    pub async fn open(database: &Database, threshold: usize) -> Option<Arc<PgvectorIndex>> {
        let postgres = database.kind() == DatabaseKind::Postgres;
        if !postgres || !matches!(database.row::<(i32,)>(AVAILABLE, &[]).await, Ok(Some(_))) {
            return None;
        }
        match database.migrate("pgvector", MIGRATIONS).await {
            Ok(()) => Some(Arc::new(PgvectorIndex { database: database.clone(), threshold, states: Mutex::default() })),
            Err(error) => {
                tracing::warn!(%error, "pgvector is installed but cannot be used; dense search scans all vectors");
                None
            }
        }
    }

    /// Returns the approximately nearest chunks to a vector. None if all must be scanned: the partition is small, or its index
    /// is outdated, in which case an update starts in the background.
    pub async fn nearest(
        self: &Arc<Self>,
        pipeline: &Pipeline,
        classification: &str,
        (chunks, change_count): (usize, i64),
        vector: &[f32],
        limit: usize,
    ) -> Option<Vec<ChunkPosition>> {
        if chunks < self.threshold || pipeline.embedding_dimensions > MAX_DIMENSIONS {
            return None;
        }
        let table = IndexTable::new(pipeline, classification);
        if !self.ensure_current(&table, change_count) {
            return None;
        }
        let found = self.search(&table, vector, limit).await;
        found.inspect_err(|error| tracing::warn!(%error, "querying a vector index failed; scanning all vectors")).ok()
    }

    /// Returns whether an index is current, and starts an update if it is not.
    fn ensure_current(self: &Arc<Self>, table: &IndexTable, change_count: i64) -> bool {
        let state = self.states().get(&table.name).copied();
        match state {
            Some(IndexState::UpToDate(indexed)) if indexed == change_count => return true,
            Some(IndexState::Updating) => return false,
            _ => self.states().insert(table.name.clone(), IndexState::Updating),
        };
        let (index, table) = (self.clone(), table.clone());
        tokio::spawn(async move {
            let result = index.update(&table).await;
            match result {
                Ok(()) => index.states().insert(table.name, IndexState::UpToDate(change_count)),
                Err(error) => {
                    tracing::warn!(%error, "updating a vector index failed; retrying with the next query");
                    index.states().remove(&table.name)
                }
            };
        });
        false
    }

    async fn update(&self, table: &IndexTable) -> Result<(), DatabaseError> {
        let name: Arg<'_> = (&table.name).into();
        self.database.execute(CREATE_TABLE, &[name, table.dimensions.into()]).await?;
        self.database.execute(DELETE_RECLASSIFIED, &[name, (&table.classification).into()]).await?;
        let mut after = String::new();
        loop {
            let (pipeline, classification) = ((&table.pipeline).into(), (&table.classification).into());
            let arguments =
                [name, pipeline, table.generation.into(), classification, (&after).into(), BATCH_SIZE.into()];
            let rows = self.database.rows::<(String, Vec<u8>)>(MISSING, &arguments).await?;
            let Some(last) = rows.last().map(|(id, _)| id.clone()) else { break };
            after = last;
            let pair = |(id, vector): &(String, Vec<u8>)| Some(json!([id, vector_literal(&from_blob(vector)?)]));
            let pairs: Vec<_> = rows.iter().filter_map(pair).collect();
            self.database.execute(INSERT, &[name, (&json!(pairs).to_string()).into()]).await?;
        }
        // Build the index after inserting the vectors, which is faster. Later vectors are inserted into it.
        self.database.execute(CREATE_INDEX, &[name]).await.map(drop)
    }

    async fn search(
        &self,
        table: &IndexTable,
        vector: &[f32],
        limit: usize,
    ) -> Result<Vec<ChunkPosition>, DatabaseError> {
        let (query, limit) = (vector_literal(vector), limit as i64);
        let ef_search = (2 * limit).clamp(64, 256);
        let arguments = [(&table.name).into(), (&query).into(), limit.into(), ef_search.into()];
        let rows = self.database.rows::<(String, i64)>(SEARCH, &arguments).await?;
        Ok(rows.into_iter().map(|(document, number)| (document, u32::try_from(number).unwrap_or(u32::MAX))).collect())
    }

    /// Removes the indexes of deleted partitions and old generations.
    ///
    /// # Errors
    /// Fails if the database is unavailable, or the chunks are locked for too long.
    pub async fn remove_obsolete(&self) -> Result<(), DatabaseError> {
        let dropped = self.database.rows::<(String,)>(DROP_OBSOLETE, &[]).await?;
        self.states().retain(|name, _| !dropped.iter().any(|(dropped,)| dropped == name));
        Ok(())
    }

    fn states(&self) -> MutexGuard<'_, HashMap<String, IndexState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl IndexTable {
    /// Creates a table reference. The name is a digest, because table names are visible to others than the readers of the
    /// classification.
    fn new(pipeline: &Pipeline, classification: &str) -> IndexTable {
        let identity = format!("{}\0{}\0{classification}", pipeline.id, pipeline.generation);
        let digest = Sha256::digest(identity.as_bytes());
        let name = format!("vectors_{}", HEXLOWER.encode(&digest[..16]));
        let (dimensions, generation) = (pipeline.embedding_dimensions, pipeline.generation);
        IndexTable {
            name,
            pipeline: pipeline.id.clone(),
            generation,
            classification: classification.to_owned(),
            dimensions,
        }
    }
}

/// Formats a vector as a pgvector literal.
fn vector_literal(vector: &[f32]) -> String {
    let numbers: Vec<String> = vector.iter().map(f32::to_string).collect();
    format!("[{}]", numbers.join(","))
}

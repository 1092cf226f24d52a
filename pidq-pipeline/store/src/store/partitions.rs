//! Partitions: the searchable documents and chunks of a classification, and a change count that reveals modifications.

use std::mem::take;

use pidq_http::database::{DatabaseError, Transaction};
use serde_json::{Map, Value};

use super::{DocumentKey, Result, Store, from_json};
use crate::domain::model::Chunk;

/// A searchable document.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchableDocument {
    /// Its id.
    pub id: String,
    /// The searchable revision.
    pub revision: i64,
    /// Increases with every change.
    pub indexed_at: i64,
    /// Metadata for filters.
    pub metadata: Map<String, Value>,
    /// Title, or the file name.
    pub title: String,
    /// File name.
    pub filename: String,
}

/// Indexed revision of a document, for change detection.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IndexedRevision {
    /// Its id.
    pub id: String,
    /// The searchable revision.
    pub revision: i64,
    /// Increases with every change.
    pub indexed_at: i64,
}

impl SearchableDocument {
    /// Returns the indexed revision.
    pub fn indexed_revision(&self) -> IndexedRevision {
        IndexedRevision { id: self.id.clone(), revision: self.revision, indexed_at: self.indexed_at }
    }
}

/// A stored chunk.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredChunk {
    /// Its id.
    pub id: String,
    /// Index among the chunks of the document, from 0.
    pub number: i64,
    /// The chunk.
    pub chunk: Chunk,
}

type Row = (
    String,
    i64,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    Option<i64>,
    String,
    String,
    String,
    Option<Vec<u8>>,
    Option<String>,
    String,
    i64,
);

const CHANGE_COUNT: &str = "select change_count from partitions where pipeline_id = $1 and classification = $2";
const RECORD_CHANGE: &str = "insert into partitions (pipeline_id, classification, change_count) values ($1, $2, 1)
  on conflict (pipeline_id, classification) do update set change_count = partitions.change_count + 1, snapshot_key = null";
const RECORD_ADDITION: &str = "insert into partitions (pipeline_id, classification, change_count) values ($1, $2, 1)
  on conflict (pipeline_id, classification) do update set change_count = partitions.change_count + 1";
const SNAPSHOT_KEY: &str = "select snapshot_key from partitions
  where pipeline_id = $1 and classification = $2 and snapshot_key is not null";
/// Only at the current change count: an older snapshot could contain documents deleted since.
const ASSIGN_SNAPSHOT_KEY: &str = "update partitions set snapshot_key = coalesce(snapshot_key, $4)
  where pipeline_id = $1 and classification = $2 and change_count = $3 returning snapshot_key";
const SNAPSHOT_KEYS: &str = "select p.id, p.generation, s.classification, s.snapshot_key from partitions s
  join pipelines p on p.id = s.pipeline_id where s.snapshot_key is not null";
const CLASSIFICATION_OF_DOCUMENT: &str = "select classification from documents where id = $1 and pipeline_id = $2";
const INDEXED_REVISIONS: &str = "select id, searchable_revision, coalesce(indexed_at, 0) from documents
  where pipeline_id = $1 and classification = $2 and searchable_revision is not null";
macro_rules! searchable {
    ($where:literal) => {
        concat!(
            "select d.id, d.searchable_revision, coalesce(d.indexed_at, 0), d.metadata, \
             coalesce(c.title, d.filename), d.filename from documents d \
             join document_contents c on c.document_id = d.id and c.revision = d.searchable_revision \
             where d.pipeline_id = $1 and d.classification = $2 and d.searchable_revision is not null",
            $where
        )
    };
}
const SEARCHABLE: &str = searchable!("");
const ONE_SEARCHABLE: &str = searchable!(" and d.id = $3");
macro_rules! chunks {
    ($where:literal, $order:literal) => {
        concat!(
            "select id, number, start_char, end_char, start_byte, end_byte, page, headings, content, tags, vector, \
             gap, document_id, revision from chunks where ",
            $where,
            " order by ",
            $order
        )
    };
}
const CHUNKS: &str = chunks!("document_id = $1 and revision = $2 and generation = $3", "number");
const CHUNK_RANGE: &str =
    chunks!("document_id = $1 and revision = $2 and generation = $3 and number > $4 and number <= $5", "number");
const PARTITION_CHUNKS: &str =
    chunks!("pipeline_id = $1 and generation = $2 and classification = $3", "document_id, number");

/// Records that documents were only added to a partition. Its snapshots stay valid for the documents they contain.
pub(super) async fn record_addition(
    tx: &mut Transaction,
    pipeline: &str,
    classification: &str,
) -> std::result::Result<(), DatabaseError> {
    tx.execute(RECORD_ADDITION, &[pipeline.into(), classification.into()]).await.map(drop)
}

/// Records a change in the partition of a document and invalidates its snapshots.
pub(super) async fn record_document_change(
    tx: &mut Transaction,
    (pipeline, document): DocumentKey<'_>,
) -> std::result::Result<(), DatabaseError> {
    match tx.row::<(String,)>(CLASSIFICATION_OF_DOCUMENT, &[document.into(), pipeline.into()]).await? {
        Some((classification,)) => record_change(tx, pipeline, &classification).await,
        None => Ok(()),
    }
}

/// Records a change in a partition and invalidates its snapshots.
pub(super) async fn record_change(
    tx: &mut Transaction,
    pipeline: &str,
    classification: &str,
) -> std::result::Result<(), DatabaseError> {
    tx.execute(RECORD_CHANGE, &[pipeline.into(), classification.into()]).await.map(drop)
}

impl Store {
    /// Returns the change count of a partition.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn change_count(&self, pipeline: &str, classification: &str) -> Result<i64> {
        let row = self.database.row::<(i64,)>(CHANGE_COUNT, &[pipeline.into(), classification.into()]).await?;
        Ok(row.map_or(0, |row| row.0))
    }

    /// Returns the snapshot key of a partition; none without snapshots, or if documents were removed since.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn snapshot_key(&self, pipeline: &str, classification: &str) -> Result<Option<Vec<u8>>> {
        let row = self.database.row::<(Vec<u8>,)>(SNAPSHOT_KEY, &[pipeline.into(), classification.into()]).await?;
        Ok(row.map(|row| row.0))
    }

    /// Returns the snapshot key of a partition at a change count: the existing one, or else `new`. None if
    /// the partition has changed since.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn assign_snapshot_key(
        &self,
        pipeline: &str,
        classification: &str,
        change_count: i64,
        new: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let mut tx = self.database.begin().await?;
        let arguments = [pipeline.into(), classification.into(), change_count.into(), new.into()];
        let row = tx.row::<(Vec<u8>,)>(ASSIGN_SNAPSHOT_KEY, &arguments).await?;
        tx.commit().await?;
        Ok(row.map(|row| row.0))
    }

    /// Returns pipeline, generation, classification and key of all partitions that may have snapshots.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn snapshot_keys(&self) -> Result<Vec<(String, i64, String, Vec<u8>)>> {
        Ok(self.database.rows(SNAPSHOT_KEYS, &[]).await?)
    }

    /// Returns the indexed revisions of a partition.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn indexed_revisions(&self, pipeline: &str, classification: &str) -> Result<Vec<IndexedRevision>> {
        let rows = self
            .database
            .rows::<(String, i64, i64)>(INDEXED_REVISIONS, &[pipeline.into(), classification.into()])
            .await?;
        Ok(rows.into_iter().map(|(id, revision, indexed_at)| IndexedRevision { id, revision, indexed_at }).collect())
    }

    /// Returns the searchable documents of a partition.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn searchable_documents(&self, pipeline: &str, classification: &str) -> Result<Vec<SearchableDocument>> {
        let rows = self.database.rows(SEARCHABLE, &[pipeline.into(), classification.into()]).await?;
        rows.into_iter().map(searchable).collect()
    }

    /// Returns one searchable document.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn searchable_document(
        &self,
        pipeline: &str,
        classification: &str,
        id: &str,
    ) -> Result<Option<SearchableDocument>> {
        let arguments = [pipeline.into(), classification.into(), id.into()];
        self.database.row(ONE_SEARCHABLE, &arguments).await?.map(searchable).transpose()
    }

    /// Sends the chunks of a partition document by document: id, revision, chunks in order. All come from one
    /// snapshot. Ends early when the receiver closes.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn stream_partition_chunks(
        &self,
        pipeline: &str,
        generation: i64,
        classification: &str,
        sender: tokio::sync::mpsc::Sender<(String, i64, Vec<StoredChunk>)>,
    ) -> Result<()> {
        let arguments = [pipeline.into(), generation.into(), classification.into()];
        let mut rows = self.database.stream::<Row>(PARTITION_CHUNKS, &arguments);
        let mut document: Option<(String, i64, Vec<StoredChunk>)> = None;
        while let Some(mut row) = rows.next().await? {
            let (id, revision) = (take(&mut row.12), row.13);
            let chunk = chunk(row)?;
            match &mut document {
                Some(current) if current.0 == id && current.1 == revision => current.2.push(chunk),
                _ => {
                    if let Some(complete) = document.replace((id, revision, vec![chunk]))
                        && sender.send(complete).await.is_err()
                    {
                        return Ok(());
                    }
                }
            }
        }
        if let Some(complete) = document {
            // A closed receiver needs no more chunks.
            let _ = sender.send(complete).await;
        }
        Ok(())
    }

    /// Returns the chunks of a revision, in order.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn chunks(&self, document: &str, revision: i64, generation: i64) -> Result<Vec<StoredChunk>> {
        let arguments = [document.into(), revision.into(), generation.into()];
        self.database.rows::<Row>(CHUNKS, &arguments).await?.into_iter().map(chunk).collect()
    }

    /// Returns at most `limit` chunks after a number.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn chunks_after(
        &self,
        document: &str,
        revision: i64,
        generation: i64,
        after: i64,
        limit: usize,
    ) -> Result<Vec<StoredChunk>> {
        let last = after.saturating_add(limit as i64);
        let arguments = [document.into(), revision.into(), generation.into(), after.into(), last.into()];
        self.database.rows::<Row>(CHUNK_RANGE, &arguments).await?.into_iter().map(chunk).collect()
    }
}

type SearchableRow = (String, i64, i64, String, String, String);

fn searchable((id, revision, indexed_at, metadata, title, filename): SearchableRow) -> Result<SearchableDocument> {
    Ok(SearchableDocument { id, revision, indexed_at, metadata: from_json("metadata", &metadata)?, title, filename })
}

fn chunk(row: Row) -> Result<StoredChunk> {
    let chunk = Chunk {
        char_range: row.2.zip(row.3),
        byte_range: row.4.zip(row.5),
        page: row.6,
        headings: from_json("headings", &row.7)?,
        content: row.8,
        tags: from_json("tags", &row.9)?,
        vector: row.10.unwrap_or_default(),
        gap: row.11,
    };
    Ok(StoredChunk { id: row.0, number: row.1, chunk })
}

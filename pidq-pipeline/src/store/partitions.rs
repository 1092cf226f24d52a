//! What queries find under a label: its documents, their chunks, and a count by which a change is seen.

use std::mem::take;

use pidq_http::database::{DatabaseError, Transaction};
use serde_json::{Map, Value};

use super::{Result, Store, structure};
use crate::records::Chunk;

/// A document that queries find.
#[derive(Clone, Debug, PartialEq)]
pub struct Searchable {
    /// Its id.
    pub id: String,
    /// The revision that is found.
    pub revision: i64,
    /// Changes whenever something of it does.
    pub indexed_at: i64,
    /// What filters look at.
    pub metadata: Map<String, Value>,
    /// What it calls itself, or its file is called.
    pub title: String,
    /// What its file is called.
    pub filename: String,
}

/// A document that queries find, in so far as it tells a change.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Listing {
    /// Its id.
    pub id: String,
    /// The revision that is found.
    pub revision: i64,
    /// Changes whenever something of it does.
    pub indexed_at: i64,
}

impl Searchable {
    /// In so far as it tells a change.
    pub fn listing(&self) -> Listing {
        Listing { id: self.id.clone(), revision: self.revision, indexed_at: self.indexed_at }
    }
}

/// A chunk as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredChunk {
    /// Its id.
    pub id: String,
    /// Its place among the chunks of the document, from 0.
    pub number: i64,
    /// What is stored of it.
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

const CHANGES: &str = "select changes from partitions where pipeline_id = $1 and classification = $2";
const COUNT: &str = "insert into partitions (pipeline_id, classification, changes) values ($1, $2, 1)
  on conflict (pipeline_id, classification) do update set changes = partitions.changes + 1, snapshot_key = null";
const COUNT_MORE: &str = "insert into partitions (pipeline_id, classification, changes) values ($1, $2, 1)
  on conflict (pipeline_id, classification) do update set changes = partitions.changes + 1";
const SNAPSHOT_KEY: &str = "select snapshot_key from partitions
  where pipeline_id = $1 and classification = $2 and snapshot_key is not null";
/// Only for what is as the database is: whoever wrote anything older would write what is gone since.
const GIVE_SNAPSHOT_KEY: &str = "update partitions set snapshot_key = coalesce(snapshot_key, $4)
  where pipeline_id = $1 and classification = $2 and changes = $3 returning snapshot_key";
const SNAPSHOTS: &str = "select p.id, p.generation, s.classification, s.snapshot_key from partitions s
  join pipelines p on p.id = s.pipeline_id where s.snapshot_key is not null";
const LABEL: &str = "select pipeline_id, classification from documents where id = $1";
const LISTING: &str = "select id, searchable_revision, coalesce(indexed_at, 0) from documents
  where pipeline_id = $1 and classification = $2 and searchable_revision is not null";
macro_rules! searchable {
    ($where:literal) => {
        concat!(
            "select d.id, d.searchable_revision, coalesce(d.indexed_at, 0), d.metadata, \
             coalesce(c.title, d.filename), d.filename from documents d \
             join contents c on c.document_id = d.id and c.revision = d.searchable_revision \
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
            "select id, number, starts, ends, first_byte, last_byte, page, headings, content, tags, vector, \
             gap, document_id, revision from chunks where ",
            $where,
            " order by ",
            $order
        )
    };
}
const CHUNKS: &str = chunks!("document_id = $1 and revision = $2 and generation = $3", "number");
const SOME_CHUNKS: &str =
    chunks!("document_id = $1 and revision = $2 and generation = $3 and number > $4 and number <= $5", "number");
const ALL_CHUNKS: &str = chunks!("pipeline_id = $1 and generation = $2 and classification = $3", "document_id, number");

/// Counts that more is found under a label, and all that was found before. Snapshots of it stay good for what they have.
pub(super) async fn grown(tx: &mut Transaction, pipeline: &str, label: &str) -> std::result::Result<(), DatabaseError> {
    tx.execute(COUNT_MORE, &[pipeline.into(), label.into()]).await.map(drop)
}

/// Counts a change of what is found under the label of a document. No snapshot opens any more that was written before.
pub(super) async fn changed(tx: &mut Transaction, document: &str) -> std::result::Result<(), DatabaseError> {
    match tx.row::<(String, String)>(LABEL, &[document.into()]).await? {
        Some((pipeline, label)) => changed_under(tx, &pipeline, &label).await,
        None => Ok(()),
    }
}

/// Counts a change of what is found under a label. No snapshot opens any more that was written before.
pub(super) async fn changed_under(
    tx: &mut Transaction,
    pipeline: &str,
    label: &str,
) -> std::result::Result<(), DatabaseError> {
    tx.execute(COUNT, &[pipeline.into(), label.into()]).await.map(drop)
}

impl Store {
    /// How often changed what is found under a label.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn changes(&self, pipeline: &str, label: &str) -> Result<i64> {
        let row = self.database.row::<(i64,)>(CHANGES, &[pipeline.into(), label.into()]).await?;
        Ok(row.map_or(0, |row| row.0))
    }

    /// The key of the snapshots of a label; none if there are none, or something went since they were written.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn snapshot_key(&self, pipeline: &str, label: &str) -> Result<Option<Vec<u8>>> {
        let row = self.database.row::<(Vec<u8>,)>(SNAPSHOT_KEY, &[pipeline.into(), label.into()]).await?;
        Ok(row.map(|row| row.0))
    }

    /// The key for a snapshot of a label as of a count of changes: the one that there is, or else the given one. None if
    /// there was another change since.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn give_snapshot_key(
        &self,
        pipeline: &str,
        label: &str,
        changes: i64,
        new: &[u8],
    ) -> Result<Option<Vec<u8>>> {
        let mut tx = self.database.begin().await?;
        let arguments = [pipeline.into(), label.into(), changes.into(), new.into()];
        let row = tx.row::<(Vec<u8>,)>(GIVE_SNAPSHOT_KEY, &arguments).await?;
        tx.commit().await?;
        Ok(row.map(|row| row.0))
    }

    /// What snapshots there may be: pipelines, their generations, labels and keys.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn snapshots(&self) -> Result<Vec<(String, i64, String, Vec<u8>)>> {
        Ok(self.database.rows(SNAPSHOTS, &[]).await?)
    }

    /// Which documents are found under a label, and as of when.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn listing(&self, pipeline: &str, label: &str) -> Result<Vec<Listing>> {
        let rows = self.database.rows::<(String, i64, i64)>(LISTING, &[pipeline.into(), label.into()]).await?;
        Ok(rows.into_iter().map(|(id, revision, indexed_at)| Listing { id, revision, indexed_at }).collect())
    }

    /// The documents that are found under a label.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn searchable(&self, pipeline: &str, label: &str) -> Result<Vec<Searchable>> {
        let rows = self.database.rows(SEARCHABLE, &[pipeline.into(), label.into()]).await?;
        rows.into_iter().map(searchable).collect()
    }

    /// One of them.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn one_searchable(&self, pipeline: &str, label: &str, id: &str) -> Result<Option<Searchable>> {
        let arguments = [pipeline.into(), label.into(), id.into()];
        self.database.row(ONE_SEARCHABLE, &arguments).await?.map(searchable).transpose()
    }

    /// Hands over the chunks of a label document by document: its id, its revision, its chunks in order. All are as of
    /// one moment. Ends early when nobody takes them any more.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn chunks_of_label(
        &self,
        pipeline: &str,
        generation: i64,
        label: &str,
        taken: tokio::sync::mpsc::Sender<(String, i64, Vec<StoredChunk>)>,
    ) -> Result<()> {
        let arguments = [pipeline.into(), generation.into(), label.into()];
        let mut rows = self.database.stream::<Row>(ALL_CHUNKS, &arguments);
        let mut document: Option<(String, i64, Vec<StoredChunk>)> = None;
        while let Some(mut row) = rows.next().await? {
            let (id, revision) = (take(&mut row.12), row.13);
            let chunk = chunk(row)?;
            match &mut document {
                Some(same) if same.0 == id && same.1 == revision => same.2.push(chunk),
                _ => {
                    if let Some(whole) = document.replace((id, revision, vec![chunk]))
                        && taken.send(whole).await.is_err()
                    {
                        return Ok(());
                    }
                }
            }
        }
        if let Some(whole) = document {
            // Nobody is left to be told.
            let _ = taken.send(whole).await;
        }
        Ok(())
    }

    /// The chunks of a revision, in order.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn chunks(&self, document: &str, revision: i64, generation: i64) -> Result<Vec<StoredChunk>> {
        let arguments = [document.into(), revision.into(), generation.into()];
        self.database.rows::<Row>(CHUNKS, &arguments).await?.into_iter().map(chunk).collect()
    }

    /// Some of them: those behind a number, at most so many.
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
        self.database.rows::<Row>(SOME_CHUNKS, &arguments).await?.into_iter().map(chunk).collect()
    }
}

type SearchableRow = (String, i64, i64, String, String, String);

fn searchable((id, revision, indexed_at, metadata, title, filename): SearchableRow) -> Result<Searchable> {
    Ok(Searchable { id, revision, indexed_at, metadata: structure("metadata", &metadata)?, title, filename })
}

fn chunk(row: Row) -> Result<StoredChunk> {
    let chunk = Chunk {
        place: row.2.zip(row.3),
        bytes: row.4.zip(row.5),
        page: row.6,
        headings: structure("headings", &row.7)?,
        content: row.8,
        tags: structure("tags", &row.9)?,
        vector: row.10.unwrap_or_default(),
        gap: row.11,
    };
    Ok(StoredChunk { id: row.0, number: row.1, chunk })
}

//! Documents in the database: what is known of them, and their bytes.

use std::collections::BTreeSet;

use pidq_http::auth::Moment;
use pidq_http::database::Transaction;
use pidq_http::uuid_v7;
use serde_json::{Map, Value};

use super::jobs::{self, JobKind};
use super::pipelines::ALL_DOCUMENTS;
use super::usage::{self, Amount};
use super::{Content, Result, Store, StoreError, again, contents, partitions, queries, room, structure, text};
use crate::records::{Document, Progress, Status};
use crate::{audit, events};

/// A document to be stored.
pub struct NewDocument<'a> {
    /// The pipeline.
    pub pipeline_id: &'a str,
    /// One of its labels.
    pub classification: &'a str,
    /// What the caller knows it by.
    pub external_id: Option<&'a str>,
    /// The name of the file.
    pub filename: &'a str,
    /// The media type.
    pub content_type: &'a str,
    /// What the caller says of it.
    pub metadata: &'a Map<String, Value>,
    /// The bytes.
    pub content: Content<'a>,
    /// Their SHA-256 as hexadecimal digits.
    pub sha256: &'a str,
}

/// Another content of a document.
#[derive(Clone, Copy, Debug)]
pub struct NewContent<'a> {
    /// The name of the file.
    pub filename: &'a str,
    /// The media type.
    pub content_type: &'a str,
    /// The bytes.
    pub content: Content<'a>,
    /// Their SHA-256 as hexadecimal digits.
    pub sha256: &'a str,
}

/// What is changed of a document.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// Another label.
    pub classification: Option<&'a str>,
    /// Another file name.
    pub filename: Option<&'a str>,
    /// Other metadata.
    pub metadata: Option<&'a Map<String, Value>>,
}

macro_rules! columns {
    () => {
        "id, pipeline_id, classification, external_id, filename, content_type, size, sha256, metadata, revision, \
         status, searchable_revision, attempts, progress, created_at, updated_at"
    };
}

/// Which documents a list has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Listed<'a> {
    /// Of this label only.
    pub classification: Option<&'a str>,
    /// Of this status only.
    pub status: Option<Status>,
    /// With this file name only.
    pub filename: Option<&'a str>,
    /// With this id of the caller's only.
    pub external_id: Option<&'a str>,
    /// In which order; the oldest first, if nobody says.
    pub sort: Option<&'static Sort>,
}

/// An order of documents. Where two are alike in it, their ids decide.
#[derive(Debug)]
pub struct Sort {
    /// What callers say.
    pub name: &'static str,
    /// The page behind a place.
    statement: &'static str,
    /// What is compared before the id, as text; nothing if ids say it all, since they grow with time.
    by: Option<fn(&Document) -> String>,
    /// The place before the first one.
    start: &'static str,
}

impl Sort {
    /// The place of a document in this order.
    pub fn place(&self, document: &Document) -> String {
        match self.by {
            None => document.id.clone(),
            Some(by) => format!("{}\n{}", by(document), document.id),
        }
    }
}

macro_rules! list {
    ($behind:literal, $order:literal) => {
        concat!(
            "select ",
            columns!(),
            " from documents where pipeline_id = $1 and ",
            $behind,
            " and status <> 'deleting' \
             and (cast($3 as text) is null or classification = $3) and (cast($4 as text) is null or status = $4) \
             and (cast($5 as text) is null or filename = $5) and (cast($6 as text) is null or external_id = $6) \
             order by ",
            $order,
            " limit $7"
        )
    };
}

const COUNT: &str = "select classification, count(*) from documents where pipeline_id = $1 and status <> 'deleting'
  and (cast($2 as text) is null or classification = $2) and (cast($3 as text) is null or status = $3)
  and (cast($4 as text) is null or filename = $4) and (cast($5 as text) is null or external_id = $5)
  group by classification";

macro_rules! sorts {
    ($($name:literal, $behind:literal, $order:literal, $start:literal, $by:expr;)*) => {
        &[$(Sort { name: $name, statement: list!($behind, $order), by: $by, start: $start }),*]
    };
}

/// All orders. The first one holds if nobody says.
pub const SORTS: &[Sort] = sorts![
    "created_at", "id > $2", "id", "", None;
    "-created_at", "id < $2", "id desc", "~", None;
    "filename", "(cast($8 as text) is null or (filename, id) > ($8, $2))", "filename, id", "", Some(|document| document.filename.clone());
    "-filename", "(cast($8 as text) is null or (filename, id) < ($8, $2))", "filename desc, id desc", "", Some(|document| document.filename.clone());
    "size", "(cast($8 as bigint) is null or (size, id) > (cast($8 as bigint), $2))", "size, id", "", Some(|document| document.size.to_string());
    "-size", "(cast($8 as bigint) is null or (size, id) < (cast($8 as bigint), $2))", "size desc, id desc", "", Some(|document| document.size.to_string());
    "updated_at", "(cast($8 as bigint) is null or (updated_at, id) > (cast($8 as bigint), $2))", "updated_at, id", "", Some(|document| document.updated_at.to_string());
    "-updated_at", "(cast($8 as bigint) is null or (updated_at, id) < (cast($8 as bigint), $2))", "updated_at desc, id desc", "", Some(|document| document.updated_at.to_string());
];

#[rustfmt::skip]
type Row = (
    String, String, String, Option<String>, String, String, i64, String, String, i64,
    String, Option<i64>, i64, String, i64, i64,
);

const INSERT: &str =
    "insert into documents (id, pipeline_id, classification, external_id, filename, content_type, size,
  sha256, metadata, revision, status, attempts, progress, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, 'queued', 0, '{}', $10, $10)";
const BY_ID: &str = concat!("select ", columns!(), " from documents where id = $1 and pipeline_id = $2");
const SAME: &str = "select id from documents where pipeline_id = $1 and classification = $2 and sha256 = $3
  and status <> 'deleting'";
const EXTRACTED: &str = "select extracted, pages from contents where document_id = $1 and revision = $2";
const CHANGE: &str = "update documents set classification = coalesce($4, classification),
  filename = coalesce($5, filename), metadata = coalesce($6, metadata), updated_at = $3,
  indexed_at = case when indexed_at >= $3 then indexed_at + 1 else $3 end
  where id = $1 and updated_at = $2 and status <> 'deleting'";
const RELABEL_CHUNKS: &str = "update chunks set classification = $2 where document_id = $1";
const QUEUE: &str = "update documents set status = 'queued', attempts = 0, progress = '{}', updated_at = $2
  where id = $1 and status in ('ready', 'failed', 'cancelled')";
const REPLACE: &str = "update documents set revision = revision + 1, filename = $3, content_type = $4, size = $5,
  sha256 = $6, status = 'queued', attempts = 0, progress = '{}',
  updated_at = case when updated_at >= $7 then updated_at + 1 else $7 end
  where id = $1 and revision = $2 and status in ('ready', 'failed', 'cancelled')";
/// A revision that was never found and was replaced is of no use any more.
const DELETE_PASSED: &str = "delete from contents where document_id = $1 and revision < $2
  and revision <> (select coalesce(searchable_revision, 0) from documents where id = $1)";
const CANCEL: &str = "update documents set
  status = case when searchable_revision = revision then 'ready' else 'cancelled' end,
  updated_at = $2 where id = $1 and status in ('queued', 'parsing', 'splitting', 'embedding', 'indexing')";
const PAGES: &str = "select pages from contents where document_id = $1 and revision = $2";
const CHUNKS: &str = "select count(*) from chunks where document_id = $1 and revision = $2
  and generation = (select generation from pipelines where id = $3)";
const PROGRESS: &str = "update documents set progress = $2 where id = $1";
const OF_PIPELINE: &str = "select id from documents where pipeline_id = $1 limit $2";
const MARK_DELETING: &str = "update documents set status = 'deleting', searchable_revision = null, updated_at = $3
  where id = $1 and pipeline_id = $2 and status <> 'deleting'";
const DELETE_CHUNKS: &str = "delete from chunks where document_id = $1";
const DELETE_CONTENTS: &str = "delete from contents where document_id = $1";
const DELETE_SHADOWS: &str = "delete from shadows where document_id = $1";
const DELETE_JOBS: &str = "delete from jobs where document_id = $1";
const DELETE: &str = "delete from documents where id = $1";

/// How often is looked for a document that comes and goes while another one with its bytes is stored.
const LOOKS: usize = 4;

impl Store {
    /// Stores a document with the job of reading it, or finds the one with the same bytes under the same label. Says
    /// whether it is new.
    ///
    /// # Errors
    /// If the caller's id of it is taken.
    pub async fn add_document(&self, new: NewDocument<'_>) -> Result<(Document, bool)> {
        self.add_document_up_to(new, None).await
    }

    /// The same, if there are fewer documents than the most in all pipelines.
    ///
    /// # Errors
    /// If the caller's id of it is taken, or there are as many.
    pub async fn add_document_up_to(&self, new: NewDocument<'_>, most: Option<u64>) -> Result<(Document, bool)> {
        for _ in 0..LOOKS {
            if let Some(known) = self.same_document(&new).await? {
                return Ok((known, false));
            }
            let id = uuid_v7();
            match self.insert_document(&id, &new, most).await {
                Ok(()) => {
                    let stored = self.document(new.pipeline_id, &id).await?;
                    return stored.map(|document| (document, true)).ok_or(StoreError::Changed);
                }
                Err(StoreError::Database(error)) if error.is_duplicate() => self.no_other_is_called(&new).await?,
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Changed)
    }

    /// Of two reasons why a document is a duplicate this is one. The other one is that somebody else stored the same
    /// bytes between the look and the insertion, and that is found by another look, unless it was deleted since.
    async fn no_other_is_called(&self, new: &NewDocument<'_>) -> Result<()> {
        let Some(external_id) = new.external_id else { return Ok(()) };
        match self.called(new.pipeline_id, Some(new.classification), external_id).await?.pop() {
            Some(other) if other.sha256 != new.sha256 => Err(StoreError::ExternalIdTaken),
            _ => Ok(()),
        }
    }

    /// The documents that the caller knows by an id: at most one of a classification.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn called(&self, pipeline: &str, label: Option<&str>, external_id: &str) -> Result<Vec<Document>> {
        let listed = Listed { external_id: Some(external_id), classification: label, ..Listed::default() };
        self.documents(pipeline, listed, "", i32::MAX as usize).await
    }

    async fn same_document(&self, new: &NewDocument<'_>) -> Result<Option<Document>> {
        let arguments = [new.pipeline_id.into(), new.classification.into(), new.sha256.into()];
        match self.database.row::<(String,)>(SAME, &arguments).await? {
            Some((id,)) => self.document(new.pipeline_id, &id).await,
            None => Ok(None),
        }
    }

    async fn insert_document(&self, id: &str, new: &NewDocument<'_>, most: Option<u64>) -> Result<()> {
        let now = Moment::now().0;
        let metadata = Value::Object(new.metadata.clone()).to_string();
        let arguments = [
            id.into(),
            new.pipeline_id.into(),
            new.classification.into(),
            new.external_id.into(),
            new.filename.into(),
            new.content_type.into(),
            new.content.size().into(),
            new.sha256.into(),
            (&metadata).into(),
            now.into(),
        ];
        let mut tx = self.database.begin().await?;
        room::for_one(&mut tx, ("documents", ALL_DOCUMENTS), most).await?;
        tx.execute(INSERT, &arguments).await?;
        audit::made(id);
        contents::add(&mut tx, id, 1, new.content).await?;
        jobs::add(&mut tx, JobKind::Read, new.pipeline_id, Some((id, 1)), now).await?;
        let amount = Amount { documents: 1, bytes: new.content.size(), ..Amount::default() };
        usage::count(&mut tx, new.pipeline_id, new.classification, amount).await?;
        self.outbox.tell_of(&mut tx, events::DOCUMENT_QUEUED, id, None).await?;
        Ok(self.outbox.commit(tx).await?)
    }

    /// The document of an id, in its pipeline.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn document(&self, pipeline: &str, id: &str) -> Result<Option<Document>> {
        self.database.row::<Row>(BY_ID, &[id.into(), pipeline.into()]).await?.map(document).transpose()
    }

    /// Documents behind a place of their order; from the first one, if it is empty.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn documents(
        &self,
        pipeline: &str,
        listed: Listed<'_>,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Document>> {
        let sort = listed.sort.unwrap_or(&SORTS[0]);
        let place = Some(after)
            .filter(|after| !after.is_empty())
            .map(|after| after.rsplit_once('\n').map_or((None, after), |(value, id)| (Some(value), id)));
        let (value, id) = place.unwrap_or((None, sort.start));
        let mut arguments = vec![
            pipeline.into(),
            id.into(),
            listed.classification.into(),
            listed.status.map(Status::word).into(),
            listed.filename.into(),
            listed.external_id.into(),
            (limit as i64).into(),
        ];
        if sort.by.is_some() {
            arguments.push(value.into());
        }
        self.database.rows::<Row>(sort.statement, &arguments).await?.into_iter().map(document).collect()
    }

    /// How many documents a list has on all its pages, by their labels.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn count_listed(&self, pipeline: &str, listed: Listed<'_>) -> Result<Vec<(String, i64)>> {
        let arguments = [
            pipeline.into(),
            listed.classification.into(),
            listed.status.map(Status::word).into(),
            listed.filename.into(),
            listed.external_id.into(),
        ];
        Ok(self.database.rows(COUNT, &arguments).await?)
    }

    /// The text of a revision and its pages as they were stored; none before it was read.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn extracted(&self, id: &str, revision: i64) -> Result<Option<(String, String)>> {
        let arguments = [id.into(), revision.into()];
        let row = self.database.row::<(Option<String>, Option<String>)>(EXTRACTED, &arguments).await?;
        Ok(row.and_then(|(text, pages)| Some((text?, pages.unwrap_or_else(|| "[]".into())))))
    }

    /// Changes a document that is still as it was read, and the label of its chunks with it.
    ///
    /// # Errors
    /// If it was changed in between, or the same bytes have the new label already.
    pub async fn change_document(&self, document: &Document, change: Change<'_>) -> Result<()> {
        match again(|| Box::pin(self.try_change(document, change))).await {
            Err(StoreError::SameContent) if self.is_called_there(document, change.classification).await? => {
                Err(StoreError::ExternalIdTaken)
            }
            done => done,
        }
    }

    /// Whether the caller's id of a document names another one under a label.
    async fn is_called_there(&self, document: &Document, label: Option<&str>) -> Result<bool> {
        let (Some(name), Some(label)) = (document.external_id.as_deref(), label) else { return Ok(false) };
        Ok(self.called(&document.pipeline_id, Some(label), name).await?.iter().any(|other| other.id != document.id))
    }

    async fn try_change(&self, document: &Document, change: Change<'_>) -> Result<()> {
        let metadata = change.metadata.map(|members| Value::Object(members.clone()).to_string());
        // Never the same moment: what was read before must not look like what is there now.
        let now = Moment::now().0.max(document.updated_at + 1);
        let arguments = [
            (&document.id).into(),
            document.updated_at.into(),
            now.into(),
            change.classification.into(),
            change.filename.into(),
            metadata.as_deref().into(),
        ];
        let mut tx = self.database.begin().await?;
        match tx.execute(CHANGE, &arguments).await {
            Ok(0) => return Err(StoreError::Changed),
            Ok(_) => {}
            Err(error) if error.is_duplicate() => return Err(StoreError::SameContent),
            Err(error) => return Err(error.into()),
        }
        let label = change.classification.unwrap_or(&document.classification);
        // Always in the same order: two that change places must not wait for each other.
        let labels = BTreeSet::from([document.classification.as_str(), label]);
        for label in labels {
            partitions::changed_under(&mut tx, &document.pipeline_id, label).await?;
        }
        if let Some(label) = change.classification {
            tx.execute(RELABEL_CHUNKS, &[(&document.id).into(), label.into()]).await?;
            queries::forget_of(&mut tx, &document.id).await?;
            if label != document.classification {
                let previous = Some(document.classification.as_str());
                self.outbox.tell_of(&mut tx, events::DOCUMENT_RECLASSIFIED, &document.id, previous).await?;
            }
        }
        self.outbox.commit(tx).await?;
        Ok(())
    }

    /// Has a document read again from the start.
    ///
    /// # Errors
    /// If it is being read.
    pub async fn read_again(&self, document: &Document) -> Result<()> {
        let now = Moment::now().0;
        let mut tx = self.database.begin().await?;
        if tx.execute(QUEUE, &[(&document.id).into(), now.into()]).await? == 0 {
            return Err(StoreError::Changed);
        }
        let what = Some((document.id.as_str(), document.revision));
        jobs::add(&mut tx, JobKind::Read, &document.pipeline_id, what, now).await?;
        self.outbox.tell_of(&mut tx, events::DOCUMENT_QUEUED, &document.id, None).await?;
        self.outbox.commit(tx).await?;
        Ok(())
    }

    /// Gives a document another content as its next revision, with the job of reading it. The revision that queries find
    /// stays until that is done.
    ///
    /// # Errors
    /// If the content was replaced in between, if the document is being read, or if another one under the label has the
    /// same bytes.
    pub async fn replace_content(&self, document: &Document, new: NewContent<'_>) -> Result<()> {
        again(|| Box::pin(self.try_replace(document, new))).await
    }

    async fn try_replace(&self, document: &Document, new: NewContent<'_>) -> Result<()> {
        let (now, revision) = (Moment::now().0, document.revision + 1);
        let arguments = [
            (&document.id).into(),
            document.revision.into(),
            new.filename.into(),
            new.content_type.into(),
            new.content.size().into(),
            new.sha256.into(),
            now.into(),
        ];
        let mut tx = self.database.begin().await?;
        match tx.execute(REPLACE, &arguments).await {
            Ok(0) => return Err(StoreError::Changed),
            Ok(_) => {}
            Err(error) if error.is_duplicate() => return Err(StoreError::SameContent),
            Err(error) => return Err(error.into()),
        }
        tx.execute(DELETE_PASSED, &[(&document.id).into(), revision.into()]).await?;
        contents::add(&mut tx, &document.id, revision, new.content).await?;
        jobs::add(&mut tx, JobKind::Read, &document.pipeline_id, Some((&document.id, revision)), now).await?;
        let amount = Amount { documents: 1, bytes: new.content.size(), ..Amount::default() };
        usage::count(&mut tx, &document.pipeline_id, &document.classification, amount).await?;
        self.outbox.tell_of(&mut tx, events::DOCUMENT_QUEUED, &document.id, None).await?;
        self.outbox.commit(tx).await?;
        Ok(())
    }

    /// Ends the work on a document. One whose content was ready before stays so.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn cancel_document(&self, document: &Document) -> Result<()> {
        let mut tx = self.database.begin().await?;
        if tx.execute(CANCEL, &[(&document.id).into(), Moment::now().0.into()]).await? > 0 {
            tx.execute(DELETE_JOBS, &[(&document.id).into()]).await?;
            if document.searchable_revision == Some(document.revision) {
                recount(&mut tx, document).await?;
            }
            self.outbox.tell_of(&mut tx, events::DOCUMENT_CANCELLED, &document.id, None).await?;
            self.outbox.commit(tx).await?;
        }
        Ok(())
    }

    /// Some documents of a pipeline, whatever their status.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn any_documents(&self, pipeline: &str, limit: usize) -> Result<Vec<String>> {
        let rows = self.database.rows::<(String,)>(OF_PIPELINE, &[pipeline.into(), (limit as i64).into()]).await?;
        Ok(rows.into_iter().map(|row| row.0).collect())
    }

    /// Takes a document out of every index and removes it. Says whether there was one.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn delete_document(&self, pipeline: &str, id: &str) -> Result<bool> {
        again(|| Box::pin(self.try_delete(pipeline, id))).await
    }

    async fn try_delete(&self, pipeline: &str, id: &str) -> Result<bool> {
        let mut tx = self.database.begin().await?;
        if tx.execute(MARK_DELETING, &[id.into(), pipeline.into(), Moment::now().0.into()]).await? == 0 {
            return Ok(false);
        }
        partitions::changed(&mut tx, id).await?;
        queries::forget_of(&mut tx, id).await?;
        self.outbox.tell_of(&mut tx, events::DOCUMENT_DELETED, id, None).await?;
        for statement in [DELETE_CHUNKS, DELETE_CONTENTS, DELETE_SHADOWS, DELETE_JOBS, DELETE] {
            tx.execute(statement, &[id.into()]).await?;
        }
        self.outbox.commit(tx).await?;
        Ok(true)
    }
}

/// What there is of a document that is found as before: the count of it went when it was to be read again.
async fn recount(tx: &mut Transaction, document: &Document) -> Result<()> {
    let (id, revision) = (&document.id, document.revision);
    let chunks = tx.row::<(i64,)>(CHUNKS, &[id.into(), revision.into(), (&document.pipeline_id).into()]).await?;
    let chunks = chunks.map_or(0, |row| row.0);
    let pages = tx.row::<(Option<String>,)>(PAGES, &[id.into(), revision.into()]).await?.and_then(|row| row.0);
    let pages: Option<Vec<Value>> = pages.map(|pages| structure("pages", &pages)).transpose()?;
    let (chunk_count, page_count) = (Some(chunks), pages.map(|pages| pages.len() as i64));
    let progress = Progress { done: chunks, total: chunk_count, chunk_count, page_count, ..Progress::default() };
    tx.execute(PROGRESS, &[id.into(), (&text(&progress)?).into()]).await?;
    Ok(())
}

fn document(row: Row) -> Result<Document> {
    let status = Status::of_word(&row.10).ok_or_else(|| StoreError::Damaged(format!("status {}", row.10)))?;
    Ok(Document {
        metadata: structure("metadata", &row.8)?,
        progress: structure("progress", &row.13)?,
        status,
        id: row.0,
        pipeline_id: row.1,
        classification: row.2,
        external_id: row.3,
        filename: row.4,
        content_type: row.5,
        size: row.6,
        sha256: row.7,
        revision: row.9,
        searchable_revision: row.11,
        attempts: row.12,
        created_at: row.14,
        updated_at: row.15,
    })
}

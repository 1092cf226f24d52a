//! Documents in the database: metadata, state and content.

use std::collections::BTreeSet;

use pidq_http::auth::Timestamp;
use pidq_http::database::{Arg, Transaction};
use pidq_http::uuid_v7;
use serde_json::{Map, Value};

use super::jobs::{self, JobKind};
use super::usage::{self, Amount};
use super::{
    Content, DocumentKey, Result, Store, StoreError, answers, contents, count_limits, from_json, partitions,
    retry_on_deadlock, to_json,
};
use crate::domain::model::{Document, Progress, Status};
use crate::domain::{audit_context, event};

/// A document to insert.
pub struct NewDocument<'a> {
    /// The pipeline.
    pub pipeline_id: &'a str,
    /// A classification of the pipeline.
    pub classification: &'a str,
    /// Id assigned by the caller.
    pub external_id: Option<&'a str>,
    /// The name of the file.
    pub filename: &'a str,
    /// The media type.
    pub content_type: &'a str,
    /// Metadata from the caller.
    pub metadata: &'a Map<String, Value>,
    /// The bytes.
    pub content: Content<'a>,
    /// Their SHA-256 as hexadecimal digits.
    pub sha256: &'a str,
}

/// New content of an existing document.
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

/// Changed fields of a document.
#[derive(Clone, Copy, Debug)]
pub struct DocumentUpdate<'a> {
    /// New classification.
    pub classification: Option<&'a str>,
    /// New file name.
    pub filename: Option<&'a str>,
    /// New metadata.
    pub metadata: Option<&'a Map<String, Value>>,
}

macro_rules! columns {
    () => {
        "id, parent_id, classification, external_id, filename, content_type, size, sha256, metadata, revision, \
         status, searchable_revision, attempts, progress, created_at, updated_at"
    };
}

/// Filter and order of a document list.
#[derive(Clone, Copy, Debug, Default)]
pub struct DocumentFilter<'a> {
    /// Only this classification.
    pub classification: Option<&'a str>,
    /// Only this status.
    pub status: Option<Status>,
    /// Only this file name.
    pub filename: Option<&'a str>,
    /// Only this external id.
    pub external_id: Option<&'a str>,
    /// Only attachments of this mail.
    pub parent_id: Option<&'a str>,
    /// Only file names that contain all these words.
    pub words: FilenameWords<'a>,
    /// Order; oldest first by default.
    pub sort: Option<&'static Sort>,
}

/// Words that a file name contains, in any order. Upper and lower case of `A-Z` are the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct FilenameWords<'a>([Option<&'a str>; MAX_FILENAME_WORDS]);

/// Maximum number of words that a file name is searched for; the statements have a parameter for each.
pub const MAX_FILENAME_WORDS: usize = 8;

impl<'a> FilenameWords<'a> {
    /// Splits a text at white space; none if it has too many words.
    pub fn parse(text: &'a str) -> Option<FilenameWords<'a>> {
        let mut words = FilenameWords::default();
        for (index, word) in text.split_whitespace().enumerate() {
            *words.0.get_mut(index)? = Some(word);
        }
        Some(words)
    }

    /// Returns the patterns for `like`, in which backslash escapes.
    fn patterns(&self) -> [Option<String>; MAX_FILENAME_WORDS] {
        self.0.map(|word| {
            let mut pattern = String::from("%");
            for character in word?.chars() {
                if matches!(character, '%' | '_' | '\\') {
                    pattern.push('\\');
                }
                pattern.push(character);
            }
            pattern.push('%');
            Some(pattern)
        })
    }
}

/// Order of documents; ties are broken by id.
#[derive(Debug)]
pub struct Sort {
    /// Name in the API.
    pub name: &'static str,
    /// Statement that selects the page after a cursor.
    statement: &'static str,
    /// Sort key before the id, as text; none if the id alone is the order, since ids grow with time.
    key: Option<fn(&Document) -> String>,
    /// Start value of the id comparison.
    start_id: &'static str,
}

impl Sort {
    /// Returns the cursor of a document in this order.
    pub fn cursor(&self, document: &Document) -> String {
        match self.key {
            None => document.id.clone(),
            Some(key) => format!("{}\n{}", key(document), document.id),
        }
    }
}

/// Condition that a file name matches the pattern in each of the parameters, if it is set.
macro_rules! matches_words {
    ($($parameter:literal;)*) => {
        concat!($(
            " and (cast(", $parameter, " as text) is null or lower(filename) like lower(", $parameter, ") escape '\\')"
        ),*)
    };
}

macro_rules! list {
    ($after:literal, $order:literal) => {
        concat!(
            "select ",
            columns!(),
            " from documents where pipeline_id = $1 and ",
            $after,
            " and status <> 'deleting' \
             and (cast($3 as text) is null or classification = $3) and (cast($4 as text) is null or status = $4) \
             and (cast($5 as text) is null or filename = $5) and (cast($6 as text) is null or external_id = $6) \
             and (cast($8 as text) is null or parent_id = $8)",
            matches_words!("$9"; "$10"; "$11"; "$12"; "$13"; "$14"; "$15"; "$16";),
            " order by ",
            $order,
            " limit $7"
        )
    };
}

const COUNT: &str = concat!(
    "select classification, count(*) from documents where pipeline_id = $1 and status <> 'deleting'
  and (cast($2 as text) is null or classification = $2) and (cast($3 as text) is null or status = $3)
  and (cast($4 as text) is null or filename = $4) and (cast($5 as text) is null or external_id = $5)
  and (cast($6 as text) is null or parent_id = $6)",
    matches_words!("$7"; "$8"; "$9"; "$10"; "$11"; "$12"; "$13"; "$14";),
    " group by classification"
);

macro_rules! sorts {
    ($($name:literal, $after:literal, $order:literal, $start_id:literal, $key:expr;)*) => {
        &[$(Sort { name: $name, statement: list!($after, $order), key: $key, start_id: $start_id }),*]
    };
}

/// All orders; the first is the default.
pub const SORTS: &[Sort] = sorts![
    "created_at", "id > $2", "id", "", None;
    "-created_at", "id < $2", "id desc", "~", None;
    "filename", "(cast($17 as text) is null or (filename, id) > ($17, $2))", "filename, id", "", Some(|document| document.filename.clone());
    "-filename", "(cast($17 as text) is null or (filename, id) < ($17, $2))", "filename desc, id desc", "", Some(|document| document.filename.clone());
    "size", "(cast($17 as bigint) is null or (size, id) > (cast($17 as bigint), $2))", "size, id", "", Some(|document| document.size.to_string());
    "-size", "(cast($17 as bigint) is null or (size, id) < (cast($17 as bigint), $2))", "size desc, id desc", "", Some(|document| document.size.to_string());
    "updated_at", "(cast($17 as bigint) is null or (updated_at, id) > (cast($17 as bigint), $2))", "updated_at, id", "", Some(|document| document.updated_at.to_string());
    "-updated_at", "(cast($17 as bigint) is null or (updated_at, id) < (cast($17 as bigint), $2))", "updated_at desc, id desc", "", Some(|document| document.updated_at.to_string());
];

#[rustfmt::skip]
type Row = (
    String, Option<String>, String, Option<String>, String, String, i64, String, String, i64,
    String, Option<i64>, i64, String, i64, i64,
);

const INSERT: &str =
    "insert into documents (id, pipeline_id, classification, external_id, filename, content_type, size,
  sha256, metadata, revision, status, attempts, progress, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, 1, 'queued', 0, '{}', $10, $10)";
const BY_ID: &str = concat!("select ", columns!(), " from documents where id = $1 and pipeline_id = $2");
const FIND_DUPLICATE: &str = "select id from documents where pipeline_id = $1 and classification = $2 and sha256 = $3
  and status <> 'deleting' and parent_id is null";
const EXTRACTED: &str = "select extracted, pages from document_contents where document_id = $1 and revision = $2";
const UPDATE: &str = "update documents set classification = coalesce($4, classification),
  filename = coalesce($5, filename), metadata = coalesce($6, metadata), updated_at = $3,
  indexed_at = case when indexed_at >= $3 then indexed_at + 1 else $3 end
  where id = $1 and pipeline_id = $7 and updated_at = $2 and status <> 'deleting'";
const RECLASSIFY_CHUNKS: &str = "update chunks set classification = $2 where document_id = $1";
const QUEUE: &str = "update documents set status = 'queued', attempts = 0, progress = '{}', updated_at = $2
  where id = $1 and pipeline_id = $3 and status in ('ready', 'failed', 'cancelled')";
const REPLACE: &str = "update documents set revision = revision + 1, filename = $3, content_type = $4, size = $5,
  sha256 = $6, status = 'queued', attempts = 0, progress = '{}',
  updated_at = case when updated_at >= $7 then updated_at + 1 else $7 end
  where id = $1 and pipeline_id = $8 and revision = $2 and status in ('ready', 'failed', 'cancelled')";
/// Deletes revisions that were replaced before they became searchable.
const DELETE_SUPERSEDED: &str = "delete from document_contents where document_id = $1 and revision < $2
  and revision <> (select coalesce(searchable_revision, 0) from documents where id = $1 and pipeline_id = $3)";
const CANCEL: &str = "update documents set
  status = case when searchable_revision = revision then 'ready' else 'cancelled' end,
  updated_at = $2 where id = $1 and pipeline_id = $3
  and status in ('queued', 'parsing', 'splitting', 'embedding', 'indexing')";
const PAGES: &str = "select pages from document_contents where document_id = $1 and revision = $2";
const CHUNKS: &str = "select count(*) from chunks where document_id = $1 and revision = $2 and pipeline_id = $3
  and generation = (select generation from pipelines where id = $3)";
const PROGRESS: &str = "update documents set progress = $2 where id = $1 and pipeline_id = $3";
const IDS_BY_PIPELINE: &str = "select id from documents where pipeline_id = $1 limit $2";
const DELETE_JOBS: &str = "delete from jobs where document_id = $1";

/// Attempts to insert a document while a duplicate is created and deleted concurrently.
const INSERT_ATTEMPTS: usize = 4;

impl Store {
    /// Inserts a document and its ingestion job, or finds the document with the same content in the classification. The
    /// flag is true if the document is new.
    ///
    /// # Errors
    /// If the external id is taken.
    pub async fn add_document(&self, new: NewDocument<'_>) -> Result<(Document, bool)> {
        self.add_document_with_limit(new, None).await
    }

    /// Like `add_document`, with a limit on the number of documents in all pipelines.
    ///
    /// # Errors
    /// If the external id is taken or the limit is reached.
    pub async fn add_document_with_limit(&self, new: NewDocument<'_>, limit: Option<u64>) -> Result<(Document, bool)> {
        for _ in 0..INSERT_ATTEMPTS {
            if let Some(duplicate) = self.find_duplicate(&new).await? {
                return Ok((duplicate, false));
            }
            let id = uuid_v7();
            match self.insert_document(&id, &new, limit).await {
                Ok(()) => {
                    let stored = self.document(new.pipeline_id, &id).await?;
                    return stored.map(|document| (document, true)).ok_or(StoreError::Conflict);
                }
                Err(StoreError::Database(error)) if error.is_duplicate() => self.check_external_id(&new).await?,
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Conflict)
    }

    /// Checks the first of two causes of a unique violation, a taken external id. The second, a concurrent insertion of
    /// the same content, is found by the next lookup, unless that document was deleted since.
    async fn check_external_id(&self, new: &NewDocument<'_>) -> Result<()> {
        let Some(external_id) = new.external_id else { return Ok(()) };
        match self.documents_by_external_id(new.pipeline_id, Some(new.classification), external_id).await?.pop() {
            Some(other) if other.sha256 != new.sha256 => Err(StoreError::ExternalIdTaken),
            _ => Ok(()),
        }
    }

    /// Returns the documents with an external id: at most one per classification.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn documents_by_external_id(
        &self,
        pipeline: &str,
        classification: Option<&str>,
        external_id: &str,
    ) -> Result<Vec<Document>> {
        let filter = DocumentFilter { external_id: Some(external_id), classification, ..DocumentFilter::default() };
        self.documents(pipeline, filter, "", i32::MAX as usize).await
    }

    async fn find_duplicate(&self, new: &NewDocument<'_>) -> Result<Option<Document>> {
        let arguments = [new.pipeline_id.into(), new.classification.into(), new.sha256.into()];
        match self.database.row::<(String,)>(FIND_DUPLICATE, &arguments).await? {
            Some((id,)) => self.document(new.pipeline_id, &id).await,
            None => Ok(None),
        }
    }

    async fn insert_document(&self, id: &str, new: &NewDocument<'_>, limit: Option<u64>) -> Result<()> {
        let now = Timestamp::now().0;
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
        count_limits::check(&mut tx, count_limits::DOCUMENTS, limit).await?;
        tx.execute(INSERT, &arguments).await?;
        audit_context::set_resource(id);
        contents::add(&mut tx, (new.pipeline_id, id), 1, new.content).await?;
        jobs::add(&mut tx, JobKind::Ingest, new.pipeline_id, Some((id, 1)), now).await?;
        let amount = Amount { documents: 1, bytes: new.content.size(), ..Amount::default() };
        usage::count(&mut tx, new.pipeline_id, new.classification, amount).await?;
        self.outbox.emit_document_event(&mut tx, event::DOCUMENT_QUEUED, (new.pipeline_id, id), None).await?;
        Ok(self.outbox.commit(tx).await?)
    }

    /// Returns a document of a pipeline by id.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn document(&self, pipeline: &str, id: &str) -> Result<Option<Document>> {
        let row = self.database.row::<Row>(BY_ID, &[id.into(), pipeline.into()]).await?;
        row.map(|row| document(pipeline, row)).transpose()
    }

    /// Returns the documents after a cursor; an empty cursor starts at the first.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn documents(
        &self,
        pipeline: &str,
        filter: DocumentFilter<'_>,
        after: &str,
        limit: usize,
    ) -> Result<Vec<Document>> {
        let sort = filter.sort.unwrap_or(&SORTS[0]);
        let position = Some(after)
            .filter(|after| !after.is_empty())
            .map(|after| after.rsplit_once('\n').map_or((None, after), |(value, id)| (Some(value), id)));
        let (value, id) = position.unwrap_or((None, sort.start_id));
        let patterns = filter.words.patterns();
        let mut arguments = vec![
            pipeline.into(),
            id.into(),
            filter.classification.into(),
            filter.status.map(Status::as_str).into(),
            filter.filename.into(),
            filter.external_id.into(),
            (limit as i64).into(),
            filter.parent_id.into(),
        ];
        arguments.extend(patterns.iter().map(|pattern| Arg::from(pattern.as_deref())));
        if sort.key.is_some() {
            arguments.push(value.into());
        }
        let rows = self.database.rows::<Row>(sort.statement, &arguments).await?;
        rows.into_iter().map(|row| document(pipeline, row)).collect()
    }

    /// Counts the documents of a filter on all pages, by classification.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn count_documents_by_classification(
        &self,
        pipeline: &str,
        filter: DocumentFilter<'_>,
    ) -> Result<Vec<(String, i64)>> {
        let patterns = filter.words.patterns();
        let mut arguments = vec![
            pipeline.into(),
            filter.classification.into(),
            filter.status.map(Status::as_str).into(),
            filter.filename.into(),
            filter.external_id.into(),
            filter.parent_id.into(),
        ];
        arguments.extend(patterns.iter().map(|pattern| Arg::from(pattern.as_deref())));
        Ok(self.database.rows(COUNT, &arguments).await?)
    }

    /// Returns the extracted text and pages of a revision; none before extraction.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn extracted(&self, id: &str, revision: i64) -> Result<Option<(String, String)>> {
        let arguments = [id.into(), revision.into()];
        let row = self.database.row::<(Option<String>, Option<String>)>(EXTRACTED, &arguments).await?;
        Ok(row.and_then(|(text, pages)| Some((text?, pages.unwrap_or_else(|| "[]".into())))))
    }

    /// Returns the pages of a revision; none before extraction.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn pages(&self, id: &str, revision: i64) -> Result<Option<String>> {
        let row = self.database.row::<(Option<String>,)>(PAGES, &[id.into(), revision.into()]).await?;
        Ok(row.and_then(|row| row.0))
    }

    /// Updates a document that is unchanged since it was read, and the classification of its chunks.
    ///
    /// # Errors
    /// If it was modified concurrently, or the new classification has the same content already.
    pub async fn update_document(&self, document: &Document, change: DocumentUpdate<'_>) -> Result<()> {
        match retry_on_deadlock(|| Box::pin(self.try_update_document(document, change))).await {
            Err(StoreError::DuplicateContent) if self.is_external_id_taken(document, change.classification).await? => {
                Err(StoreError::ExternalIdTaken)
            }
            result => result,
        }
    }

    /// Returns true if another document of a classification has the external id.
    async fn is_external_id_taken(&self, document: &Document, classification: Option<&str>) -> Result<bool> {
        let (Some(external_id), Some(classification)) = (document.external_id.as_deref(), classification) else {
            return Ok(false);
        };
        Ok(self
            .documents_by_external_id(&document.pipeline_id, Some(classification), external_id)
            .await?
            .iter()
            .any(|other| other.id != document.id))
    }

    async fn try_update_document(&self, document: &Document, change: DocumentUpdate<'_>) -> Result<()> {
        let metadata = change.metadata.map(|fields| Value::Object(fields.clone()).to_string());
        // Strictly later than before: the previous state must not carry the same time stamp.
        let now = Timestamp::now().0.max(document.updated_at + 1);
        let arguments = [
            (&document.id).into(),
            document.updated_at.into(),
            now.into(),
            change.classification.into(),
            change.filename.into(),
            metadata.as_deref().into(),
            (&document.pipeline_id).into(),
        ];
        let mut tx = self.database.begin().await?;
        match tx.execute(UPDATE, &arguments).await {
            Ok(0) => return Err(StoreError::Conflict),
            Ok(_) => {}
            Err(error) if error.is_duplicate() => return Err(StoreError::DuplicateContent),
            Err(error) => return Err(error.into()),
        }
        let classification = change.classification.unwrap_or(&document.classification);
        // In sorted order: two documents that swap classifications must not deadlock.
        let classifications = BTreeSet::from([document.classification.as_str(), classification]);
        for classification in classifications {
            partitions::record_change(&mut tx, &document.pipeline_id, classification).await?;
        }
        if let Some(classification) = change.classification {
            self.reclassify(&mut tx, document.key(), classification, &document.classification).await?;
            if classification != document.classification {
                self.reclassify_attachments(&mut tx, document.key(), classification).await?;
            }
        }
        self.outbox.commit(tx).await?;
        Ok(())
    }

    /// Reclassifies what belongs to a document whose row has its new classification.
    pub(super) async fn reclassify(
        &self,
        tx: &mut Transaction,
        key: DocumentKey<'_>,
        classification: &str,
        previous: &str,
    ) -> Result<()> {
        tx.execute(RECLASSIFY_CHUNKS, &[key.1.into(), classification.into()]).await?;
        answers::delete_by_document(tx, key.1).await?;
        if classification != previous {
            self.outbox.emit_document_event(tx, event::DOCUMENT_RECLASSIFIED, key, Some(previous)).await?;
        }
        Ok(())
    }

    /// Queues a document for ingestion again.
    ///
    /// # Errors
    /// If ingestion is in progress.
    pub async fn requeue_document(&self, document: &Document) -> Result<()> {
        let now = Timestamp::now().0;
        let mut tx = self.database.begin().await?;
        if tx.execute(QUEUE, &[(&document.id).into(), now.into(), (&document.pipeline_id).into()]).await? == 0 {
            return Err(StoreError::Conflict);
        }
        let target = Some((document.id.as_str(), document.revision));
        jobs::add(&mut tx, JobKind::Ingest, &document.pipeline_id, target, now).await?;
        self.outbox.emit_document_event(&mut tx, event::DOCUMENT_QUEUED, document.key(), None).await?;
        self.outbox.commit(tx).await?;
        Ok(())
    }

    /// Stores new content as the next revision of a document and queues its ingestion. The searchable revision
    /// stays in place until that is done.
    ///
    /// # Errors
    /// If the content was replaced concurrently, if ingestion is in progress, or if another document of the
    /// classification has the same content.
    pub async fn replace_content(&self, document: &Document, new: NewContent<'_>) -> Result<()> {
        retry_on_deadlock(|| Box::pin(self.try_replace_content(document, new))).await
    }

    async fn try_replace_content(&self, document: &Document, new: NewContent<'_>) -> Result<()> {
        let (now, revision) = (Timestamp::now().0, document.revision + 1);
        let arguments = [
            (&document.id).into(),
            document.revision.into(),
            new.filename.into(),
            new.content_type.into(),
            new.content.size().into(),
            new.sha256.into(),
            now.into(),
            (&document.pipeline_id).into(),
        ];
        let mut tx = self.database.begin().await?;
        match tx.execute(REPLACE, &arguments).await {
            Ok(0) => return Err(StoreError::Conflict),
            Ok(_) => {}
            Err(error) if error.is_duplicate() => return Err(StoreError::DuplicateContent),
            Err(error) => return Err(error.into()),
        }
        let superseded = [(&document.id).into(), revision.into(), (&document.pipeline_id).into()];
        tx.execute(DELETE_SUPERSEDED, &superseded).await?;
        contents::add(&mut tx, document.key(), revision, new.content).await?;
        jobs::add(&mut tx, JobKind::Ingest, &document.pipeline_id, Some((&document.id, revision)), now).await?;
        let amount = Amount { documents: 1, bytes: new.content.size(), ..Amount::default() };
        usage::count(&mut tx, &document.pipeline_id, &document.classification, amount).await?;
        self.outbox.emit_document_event(&mut tx, event::DOCUMENT_QUEUED, document.key(), None).await?;
        self.outbox.commit(tx).await?;
        Ok(())
    }

    /// Cancels the ingestion of a document. A document whose current revision is searchable stays ready.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn cancel_document(&self, document: &Document) -> Result<()> {
        let mut tx = self.database.begin().await?;
        let arguments = [(&document.id).into(), Timestamp::now().0.into(), (&document.pipeline_id).into()];
        if tx.execute(CANCEL, &arguments).await? > 0 {
            tx.execute(DELETE_JOBS, &[(&document.id).into()]).await?;
            if document.searchable_revision == Some(document.revision) {
                restore_counts(&mut tx, document).await?;
            }
            self.outbox.emit_document_event(&mut tx, event::DOCUMENT_CANCELLED, document.key(), None).await?;
            self.outbox.commit(tx).await?;
        }
        Ok(())
    }

    /// Returns ids of documents of a pipeline, in any status.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn document_ids(&self, pipeline: &str, limit: usize) -> Result<Vec<String>> {
        let rows = self.database.rows::<(String,)>(IDS_BY_PIPELINE, &[pipeline.into(), (limit as i64).into()]).await?;
        Ok(rows.into_iter().map(|row| row.0).collect())
    }
}

/// Restores the chunk and page counts of a searchable document; queuing it again cleared them.
async fn restore_counts(tx: &mut Transaction, document: &Document) -> Result<()> {
    let (id, revision) = (&document.id, document.revision);
    let chunks = tx.row::<(i64,)>(CHUNKS, &[id.into(), revision.into(), (&document.pipeline_id).into()]).await?;
    let chunks = chunks.map_or(0, |row| row.0);
    let pages = tx.row::<(Option<String>,)>(PAGES, &[id.into(), revision.into()]).await?.and_then(|row| row.0);
    let pages: Option<Vec<Value>> = pages.map(|pages| from_json("pages", &pages)).transpose()?;
    let (chunk_count, page_count) = (Some(chunks), pages.map(|pages| pages.len() as i64));
    let progress = Progress { done: chunks, total: chunk_count, chunk_count, page_count, ..Progress::default() };
    tx.execute(PROGRESS, &[id.into(), (&to_json(&progress)?).into(), (&document.pipeline_id).into()]).await?;
    Ok(())
}

fn document(pipeline: &str, row: Row) -> Result<Document> {
    let status = Status::parse(&row.10).ok_or_else(|| StoreError::Corrupt(format!("status {}", row.10)))?;
    Ok(Document {
        metadata: from_json("metadata", &row.8)?,
        progress: from_json("progress", &row.13)?,
        status,
        id: row.0,
        pipeline_id: pipeline.to_owned(),
        parent_id: row.1,
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

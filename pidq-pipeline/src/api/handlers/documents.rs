//! `/api/pipelines/{pipeline_id}/documents`: documents of a pipeline.

mod bodies;
mod bulk_delete;
mod download;
mod page_image;
mod page_words;
mod preview;
mod replace_content;
mod upload;

use std::sync::Arc;

use pidq_http::{Problem, Request, Response, StatusCode, codes, header};
use pidq_store::domain::api_key::{ApiKey, Verb};
use pidq_store::domain::model::{Document, Pipeline, Status};
use pidq_store::domain::{audit_context, classification};
use pidq_store::{DocumentFilter, DocumentUpdate, FilenameWords, MAX_FILENAME_WORDS, SORTS, Sort, StoreError};
use serde_json::{Map, Value};

use crate::api::json_body;
use crate::api::merge_patch::{self, none_if_changed};
use crate::api::page_response::{counted_page_response, page_response};
use crate::api::pipeline_access::{find_pipeline, require_access, require_not_deleting};
use crate::api::problems::{store_problem, validation};
use crate::api::schema::Page;
use crate::cluster::pubsub::Signal;
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform};

pub(crate) use bodies::{
    BulkDeleteRequest, BulkDeletion, ChunkResponse, DocumentForm, DocumentPatch, DocumentResponse, Preview, PreviewBody,
};
pub(crate) use bulk_delete::bulk_delete;
pub(crate) use page_image::page_image;
pub(crate) use page_words::{WordsResponse, words};
pub(crate) use preview::{preview_in_pipeline, preview_without_pipeline};
pub(crate) use replace_content::replace;
pub(crate) use upload::{PARTS, create};

/// `GET /api/pipelines/{pipeline_id}/documents`.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = find_pipeline(platform, &request).await?;
    let query = request.query()?;
    let sort = query.single("sort")?.map_or(Ok(&SORTS[0]), parse_sort)?;
    let classification = query.single("classification")?.map(classification::normalize);
    let filter = DocumentFilter {
        classification: classification.as_deref(),
        status: query.single("status")?.map(parse_status).transpose()?,
        filename: query.single("filename")?,
        external_id: query.single("external_id")?,
        parent_id: query.single("parent_id")?,
        words: query.single("q")?.map_or_else(|| Ok(FilenameWords::default()), parse_words)?,
        sort: Some(sort),
    };
    if let Some(classification) = filter.classification {
        require_access(&key, &pipeline, classification, Verb::Read)?;
    }
    let list = format!("documents/{}/{}", pipeline.id, sort.name);
    let page = platform.cursors.page(&request, &list, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)?;
    // Counting reads all documents: once per list, not for each page.
    let total = match page.after {
        None => Some(count_visible(platform, &pipeline, &key, filter).await?),
        Some(_) => None,
    };
    let (data, next) = visible_page(platform, &pipeline, &key, filter, sort, page).await?;
    let next_cursor = next.map(|last| platform.cursors.sign(&list, &last));
    let data = data.iter().map(DocumentResponse::from).collect();
    counted_page_response(&request, Page { data, next_cursor, total })
}

/// Counts the documents of a filter that a key may see.
async fn count_visible(
    platform: &Platform,
    pipeline: &Pipeline,
    key: &ApiKey,
    filter: DocumentFilter<'_>,
) -> Result<i64, Problem> {
    let counts = platform.store.count_documents_by_classification(&pipeline.id, filter).await.map_err(store_problem)?;
    let visible = counts.iter().filter(|(classification, _)| key.allows(&pipeline.id, classification, Verb::Read));
    Ok(visible.map(|(_, documents)| documents).sum())
}

/// Returns a page of documents that a key may see, and the cursor if there are more.
async fn visible_page(
    platform: &Platform,
    pipeline: &Pipeline,
    key: &ApiKey,
    filter: DocumentFilter<'_>,
    sort: &Sort,
    page: pidq_http::PageRequest,
) -> Result<(Vec<Document>, Option<String>), Problem> {
    let mut after = page.after;
    let mut data = Vec::new();
    loop {
        let batch =
            platform.store.documents(&pipeline.id, filter, after.as_deref().unwrap_or_default(), page.limit + 1);
        let batch = batch.await.map_err(store_problem)?;
        let is_last = batch.len() <= page.limit;
        for document in batch {
            let is_visible = key.allows(&pipeline.id, &document.classification, Verb::Read);
            if is_visible && data.len() == page.limit {
                return Ok((data, after));
            }
            after = Some(sort.cursor(&document));
            if is_visible {
                data.push(document);
            }
        }
        if is_last {
            return Ok((data, None));
        }
    }
}

fn parse_sort(name: &str) -> Result<&'static Sort, Problem> {
    SORTS.iter().find(|sort| sort.name == name).ok_or_else(|| {
        Problem::new(codes::INVALID_PARAMETER)
            .detail("Unknown sort order; see `allowed`.")
            .with("parameter", "sort")
            .with("allowed", SORTS.iter().map(|sort| sort.name).collect::<Vec<_>>())
    })
}

fn parse_status(name: &str) -> Result<Status, Problem> {
    Status::parse(name).ok_or_else(|| {
        let all: Vec<&str> = Status::ALL.iter().map(|status| status.as_str()).collect();
        Problem::new(codes::INVALID_PARAMETER)
            .detail("Unknown document status; see `allowed`.")
            .with("parameter", "status")
            .with("allowed", all)
    })
}

fn parse_words(text: &str) -> Result<FilenameWords<'_>, Problem> {
    FilenameWords::parse(text).ok_or_else(|| {
        let detail = format!("At most {MAX_FILENAME_WORDS} words are allowed.");
        Problem::new(codes::INVALID_PARAMETER).detail(detail).with("parameter", "q")
    })
}

/// `GET /api/pipelines/{pipeline_id}/documents/{document_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (_, _, document) = find_document(platform, &request, Verb::Read).await?;
    document_response(&document)
}

/// `GET …/content`: the original bytes, always as a download.
pub(crate) async fn content(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (_, _, document) = find_document(platform, &request, Verb::Read).await?;
    let tag = document.content_etag();
    if request.head.has_cached(&tag) {
        return Ok(Response::ok("application/octet-stream", "").etag(tag));
    }
    let row = platform.store.inline_content(&document.id, document.revision).await.map_err(store_problem)?;
    let bytes = row.ok_or_else(not_found)?;
    let response = match u64::try_from(document.size) {
        Ok(size) if bytes.is_empty() && size > 0 => download::stream_content(platform, &request.head, &document, size)?,
        _ => Response::ok("application/octet-stream", bytes).etag(tag).accept_ranges(),
    };
    let name = pidq_http::percent_encode(&document.filename);
    Ok(response.header(header::CONTENT_DISPOSITION, format!("attachment; filename*=UTF-8''{name}")))
}

/// `GET …/text`: the extracted text.
pub(crate) async fn text(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (_, _, document) = find_document(platform, &request, Verb::Read).await?;
    let revision = document.searchable_revision.ok_or_else(not_indexed)?;
    let (text, _) =
        platform.store.extracted(&document.id, revision).await.map_err(store_problem)?.ok_or_else(not_indexed)?;
    Ok(Response::ok("text/plain; charset=utf-8", text))
}

/// `GET …/chunks`: the searchable chunks.
pub(crate) async fn chunks(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, _, document) = find_document(platform, &request, Verb::Read).await?;
    let revision = document.searchable_revision.ok_or_else(not_indexed)?;
    let list = format!("chunks/{}/{revision}/{}", document.id, pipeline.generation);
    let page = platform.cursors.page(&request, &list, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)?;
    let after = page.after.as_deref().and_then(|after| after.parse().ok()).unwrap_or(-1);
    let (store, limit) = (&platform.store, page.limit + 1);
    let mut chunks =
        store.chunks_after(&document.id, revision, pipeline.generation, after, limit).await.map_err(store_problem)?;
    let is_last = chunks.len() <= page.limit;
    chunks.truncate(page.limit);
    let next = chunks.last().filter(|_| !is_last);
    let next = next.map(|last| platform.cursors.sign(&list, &last.number.to_string()));
    let data = chunks.iter().map(ChunkResponse::from).collect();
    page_response(&request, data, next)
}

fn not_indexed() -> Problem {
    Problem::new(codes::DOCUMENT_BUSY).detail("The document is not ingested yet. Wait until it is ready.")
}

/// `PATCH …`: changes classification, metadata or file name.
pub(crate) async fn change(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let patch: Map<String, Value> = request.object().await?;
    merge_patch::retry_on_conflict(|| try_change(platform, &request, &patch)).await
}

/// Applies a patch; none after a concurrent modification, for instance by a worker.
async fn try_change(
    platform: &Arc<Platform>,
    request: &Request,
    patch: &Map<String, Value>,
) -> Result<Option<Response>, Problem> {
    let (pipeline, key, document) = find_document(platform, request, Verb::Write).await?;
    require_not_deleting(&pipeline)?;
    request.head.precondition(Some(&document.etag()))?;
    let body: DocumentPatch = json_body::from_object(patch.clone())?;
    let classification = body.classification.as_deref().map(classification::normalize);
    if let Some(classification) = &classification {
        require_access(&key, &pipeline, classification, Verb::Write)?;
        require_class_of_mail(&document, classification)?;
    }
    let filename = body.filename.as_deref().map(validate_filename).transpose()?;
    let max_size = platform.limits.metadata_size;
    let metadata =
        body.metadata.as_ref().map(|patch| merge_metadata(&document.metadata, patch, max_size)).transpose()?;
    let change = DocumentUpdate {
        classification: classification.as_deref(),
        filename: filename.as_deref(),
        metadata: metadata.as_ref(),
    };
    audit_context::add_changed_fields(patch);
    if let Some(classification) =
        classification.as_deref().filter(|classification| *classification != document.classification)
    {
        audit_context::add_detail("previous_classification", document.classification.as_str());
        audit_context::add_detail("classification", classification);
    }
    if none_if_changed(platform.store.update_document(&document, change).await)?.is_none() {
        return Ok(None);
    }
    document_response(&reload(platform, &document).await?).map(Some)
}

/// Rejects another classification for an attachment: whoever may read a mail may read its attachments, and nobody else.
fn require_class_of_mail(document: &Document, classification: &str) -> Result<(), Problem> {
    match &document.parent_id {
        Some(mail) if classification != document.classification => Err(validation(
            "/classification",
            &format!("An attachment has the classification of its mail. Change that of the mail {mail}."),
        )),
        _ => Ok(()),
    }
}

/// Normalizes a file name like that of an upload; an empty name is an error.
fn validate_filename(filename: &str) -> Result<String, Problem> {
    match filename.trim().is_empty() {
        true => Err(validation("/filename", "A file name must have 1 to 255 characters.")),
        false => Ok(upload::filename(Some(filename))),
    }
}

/// Applies a merge patch to metadata, within a size limit; null removes all.
fn merge_metadata(current: &Map<String, Value>, patch: &Value, max_size: usize) -> Result<Map<String, Value>, Problem> {
    if patch.is_null() {
        return Ok(Map::new());
    }
    let mut merged = Value::Object(current.clone());
    merge_patch::merge(&mut merged, patch);
    match merged {
        Value::Object(object) => upload::check_metadata_size(object, max_size),
        _ => Err(validation("/metadata", "Metadata must be an object.")),
    }
}

/// `POST …/retry`: ingests the document again.
pub(crate) async fn retry(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, _, document) = find_document(platform, &request, Verb::Write).await?;
    require_not_deleting(&pipeline)?;
    if !document.status.is_terminal() {
        return Err(busy());
    }
    platform.store.requeue_document(&document).await.map_err(|error| match error {
        // It was queued by a concurrent request.
        StoreError::Conflict => busy(),
        error => store_problem(error),
    })?;
    platform.messaging.job_notifier.notify_all();
    document_response(&reload(platform, &document).await?).map(|response| response.status(StatusCode::ACCEPTED))
}

fn busy() -> Problem {
    let problem = Problem::new(codes::DOCUMENT_BUSY);
    problem.detail("The document is being ingested. Wait, or cancel it first.")
}

/// `POST …/cancel`: cancels the ingestion. A revision that was ready stays ready.
pub(crate) async fn cancel(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (_, _, document) = find_document(platform, &request, Verb::Write).await?;
    platform.store.cancel_document(&document).await.map_err(store_problem)?;
    platform.messaging.pubsub.signal(&Signal::DocumentCancelled { document: document.id.clone() });
    document_response(&reload(platform, &document).await?)
}

/// `DELETE …`: deletes the document from all indexes and tables.
pub(crate) async fn delete(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, _, document) = find_document(platform, &request, Verb::Write).await?;
    request.head.precondition(Some(&document.etag()))?;
    audit_context::add_detail("classification", document.classification.as_str());
    match platform.store.delete_document(&pipeline.id, &document.id).await.map_err(store_problem)? {
        true => {
            platform.messaging.pubsub.signal(&Signal::DocumentCancelled { document: document.id });
            Ok(Response::empty(StatusCode::NO_CONTENT))
        }
        false => Err(not_found()),
    }
}

/// Returns the document of a request if the caller may access it.
async fn find_document(
    platform: &Platform,
    request: &Request,
    verb: Verb,
) -> Result<(Pipeline, ApiKey, Document), Problem> {
    let (pipeline, key) = find_pipeline(platform, request).await?;
    let found = platform.store.document(&pipeline.id, request.path("document_id")?).await.map_err(store_problem)?;
    let document = found.filter(|document| document.status != Status::Deleting).ok_or_else(not_found)?;
    if !key.allows(&pipeline.id, &document.classification, Verb::Read) {
        return Err(not_found());
    }
    require_access(&key, &pipeline, &document.classification, verb)?;
    Ok((pipeline, key, document))
}

async fn reload(platform: &Platform, document: &Document) -> Result<Document, Problem> {
    platform.store.document(&document.pipeline_id, &document.id).await.map_err(store_problem)?.ok_or_else(not_found)
}

fn document_response(document: &Document) -> Result<Response, Problem> {
    Ok(Response::json(&DocumentResponse::from(document))?.etag(document.etag()))
}

fn not_found() -> Problem {
    Problem::new(codes::DOCUMENT_NOT_FOUND).detail("Document not found.")
}

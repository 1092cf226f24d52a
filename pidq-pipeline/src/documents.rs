//! `/api/pipelines/{pipeline_id}/documents`: what pipelines hold.

mod download;
mod preview;
mod replace;
mod several;
mod upload;

use std::sync::Arc;

use pidq_http::{Problem, Request, Response, StatusCode, header};
use serde_json::{Map, Value, json};

use crate::audit;
use crate::keys::{ApiKey, Verb};
use crate::labels;
use crate::messages::Signal;
use crate::patches::{self, unless_changed};
use crate::pipelines::{self, known_members, must, must_stay};
use crate::platform::{LONGEST_PAGE, PAGE, Platform};
use crate::problems::{stored, validation};
use crate::prompt;
use crate::records::{Chunk, Document, Pipeline, Status};
use crate::store::{Change, Listed, SORTS, Sort, StoreError, StoredChunk};

pub(crate) use preview::preview;
pub(crate) use replace::replace;
pub(crate) use several::delete as delete_several;
pub(crate) use upload::{PARTS, create};

/// `GET /api/pipelines/{pipeline_id}/documents`.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = pipelines::of(platform, &request).await?;
    let query = request.query()?;
    let sort = query.one("sort")?.map_or(Ok(&SORTS[0]), sort)?;
    let label = query.one("classification")?.map(labels::normal);
    let listed = Listed {
        classification: label.as_deref(),
        status: query.one("status")?.map(status).transpose()?,
        filename: query.one("filename")?,
        external_id: query.one("external_id")?,
        sort: Some(sort),
    };
    if let Some(label) = listed.classification {
        must(&key, &pipeline, label, Verb::Read)?;
    }
    let list = format!("documents/{}/{}", pipeline.id, sort.name);
    let page = platform.cursors.page(&request, &list, PAGE, LONGEST_PAGE)?;
    // Counting looks at all of them: once for a list, and not for each of its pages.
    let total = match page.after {
        None => Some(total(platform, &pipeline, &key, listed).await?),
        Some(_) => None,
    };
    let (shown, next) = page_of(platform, &pipeline, &key, listed, sort, page).await?;
    let next = next.map(|last| platform.cursors.seal(&list, &last));
    let mut told = json!({"data": shown, "next_cursor": next});
    if let Some(total) = total {
        told["total"] = total.into();
    }
    let response = Response::json(&told)?;
    Ok(match next {
        Some(next) => response.next_page(&request, &next),
        None => response,
    })
}

/// How many documents of a list a key sees.
async fn total(platform: &Platform, pipeline: &Pipeline, key: &ApiKey, listed: Listed<'_>) -> Result<i64, Problem> {
    let labels = platform.store.count_listed(&pipeline.id, listed).await.map_err(stored)?;
    let seen = labels.iter().filter(|(label, _)| key.may(&pipeline.id, label, Verb::Read));
    Ok(seen.map(|(_, documents)| documents).sum())
}

/// Documents that a key sees, and the last one if there are more.
async fn page_of(
    platform: &Platform,
    pipeline: &Pipeline,
    key: &ApiKey,
    listed: Listed<'_>,
    sort: &Sort,
    page: pidq_http::Page,
) -> Result<(Vec<Value>, Option<String>), Problem> {
    let mut after = page.after;
    let mut shown = Vec::new();
    loop {
        let some = platform.store.documents(&pipeline.id, listed, after.as_deref().unwrap_or_default(), page.limit + 1);
        let some = some.await.map_err(stored)?;
        let is_last = some.len() <= page.limit;
        for document in some {
            if key.may(&pipeline.id, &document.classification, Verb::Read) {
                if shown.len() == page.limit {
                    return Ok((shown, after));
                }
                shown.push(document.show());
            }
            after = Some(sort.place(&document));
        }
        if is_last {
            return Ok((shown, None));
        }
    }
}

fn sort(name: &str) -> Result<&'static Sort, Problem> {
    SORTS.iter().find(|sort| sort.name == name).ok_or_else(|| {
        Problem::bad_request("invalid-parameter", "`sort` is no order of documents.")
            .with("parameter", "sort")
            .with("allowed", SORTS.iter().map(|sort| sort.name).collect::<Vec<_>>())
    })
}

fn status(word: &str) -> Result<Status, Problem> {
    Status::of_word(word).ok_or_else(|| {
        let all: Vec<&str> = Status::ALL.iter().map(|status| status.word()).collect();
        Problem::bad_request("invalid-parameter", "`status` is no status of documents.")
            .with("parameter", "status")
            .with("allowed", all)
    })
}

/// `GET /api/pipelines/{pipeline_id}/documents/{document_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (_, _, document) = of(platform, &request, Verb::Read).await?;
    shown(&document)
}

/// `GET …/content`: the bytes as they came. Never shown in the page of a browser.
pub(crate) async fn content(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (_, _, document) = of(platform, &request, Verb::Read).await?;
    let tag = document.content_etag();
    if request.head.knows(&tag) {
        return Ok(Response::ok("application/octet-stream", "").etag(tag));
    }
    let row = platform.store.content_row(&document.id, document.revision).await.map_err(stored)?;
    let bytes = row.ok_or_else(not_found)?;
    let response = match u64::try_from(document.size) {
        Ok(size) if bytes.is_empty() && size > 0 => download::in_pieces(platform, &request.head, &document, size)?,
        _ => Response::ok("application/octet-stream", bytes).etag(tag).ranged(),
    };
    let name = pidq_http::percent_encode(&document.filename);
    Ok(response.header(header::CONTENT_DISPOSITION, format!("attachment; filename*=UTF-8''{name}")))
}

/// `GET …/text`: what was read of it.
pub(crate) async fn text(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (_, _, document) = of(platform, &request, Verb::Read).await?;
    let revision = document.searchable_revision.ok_or_else(not_read)?;
    let (text, _) = platform.store.extracted(&document.id, revision).await.map_err(stored)?.ok_or_else(not_read)?;
    Ok(Response::ok("text/plain; charset=utf-8", text))
}

/// `GET …/chunks`: the parts that queries find.
pub(crate) async fn chunks(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, _, document) = of(platform, &request, Verb::Read).await?;
    let revision = document.searchable_revision.ok_or_else(not_read)?;
    let list = format!("chunks/{}/{revision}/{}", document.id, pipeline.generation);
    let page = platform.cursors.page(&request, &list, PAGE, LONGEST_PAGE)?;
    let after = page.after.as_deref().and_then(|after| after.parse().ok()).unwrap_or(-1);
    let (store, limit) = (&platform.store, page.limit + 1);
    let mut chunks =
        store.chunks_after(&document.id, revision, pipeline.generation, after, limit).await.map_err(stored)?;
    let is_last = chunks.len() <= page.limit;
    chunks.truncate(page.limit);
    let next = chunks.last().filter(|_| !is_last);
    let next = next.map(|last| platform.cursors.seal(&list, &last.number.to_string()));
    let shown: Vec<_> = chunks.iter().map(chunk).collect();
    let response = Response::json(&json!({"data": shown, "next_cursor": next}))?;
    Ok(match next {
        Some(next) => response.next_page(&request, &next),
        None => response,
    })
}

fn chunk(StoredChunk { id, number, chunk }: &StoredChunk) -> Value {
    let mut shown = json!({"id": id});
    pipelines::join(&mut shown, part(*number, chunk));
    shown
}

/// A part of a document, stored or not.
fn part(number: i64, chunk: &Chunk) -> Value {
    json!({
        "index": number, "start": chunk.place.map(|place| place.0),
        "end": chunk.place.map(|place| place.1), "page": chunk.page, "headings": chunk.headings,
        "text": chunk.content, "token_estimate": prompt::tokens(&chunk.content), "tags": chunk.tags,
    })
}

fn not_read() -> Problem {
    Problem::new(StatusCode::CONFLICT, "document-busy")
        .detail("The document has not been read yet. Wait until it is ready.")
}

/// `PATCH …`: another label, other metadata, another file name.
pub(crate) async fn change(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let patch: Map<String, Value> = request.object().await?;
    patches::put(|| try_change(platform, &request, &patch)).await
}

/// Patches a document; nothing, if somebody else changed it since it was read, as whoever reads it does.
async fn try_change(
    platform: &Arc<Platform>,
    request: &Request,
    patch: &Map<String, Value>,
) -> Result<Option<Response>, Problem> {
    let (pipeline, key, document) = of(platform, request, Verb::Write).await?;
    must_stay(&pipeline)?;
    request.head.precondition(Some(&document.etag()))?;
    known_members(patch, &["classification", "metadata", "filename"])?;
    let text = |member: &str| match patch.get(member) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(validation(&format!("/{member}"), "This must be a text.")),
    };
    let label = text("classification")?.map(labels::normal);
    if let Some(label) = &label {
        must(&key, &pipeline, label, Verb::Write)?;
    }
    let filename = text("filename")?.map(renamed).transpose()?;
    let most = platform.limits.metadata;
    let metadata = patch.get("metadata").map(|patch| merged(&document.metadata, patch, most)).transpose()?;
    let change =
        Change { classification: label.as_deref(), filename: filename.as_deref(), metadata: metadata.as_ref() };
    audit::changed(patch);
    if let Some(label) = label.as_deref().filter(|label| *label != document.classification) {
        audit::detail("previous_classification", document.classification.as_str());
        audit::detail("classification", label);
    }
    if unless_changed(platform.store.change_document(&document, change).await)?.is_none() {
        return Ok(None);
    }
    shown(&again(platform, &document).await?).map(Some)
}

/// A name is made fit as that of an upload is; but who gives one gives a name.
fn renamed(given: &str) -> Result<String, Problem> {
    match given.trim().is_empty() {
        true => Err(validation("/filename", "A file name has 1 to 255 characters.")),
        false => Ok(upload::filename(Some(given))),
    }
}

/// Metadata with a merge patch, of so many bytes at most; null takes all of them away.
fn merged(now: &Map<String, Value>, patch: &Value, most: usize) -> Result<Map<String, Value>, Problem> {
    if patch.is_null() {
        return Ok(Map::new());
    }
    let mut merged = Value::Object(now.clone());
    patches::merge(&mut merged, patch);
    match merged {
        Value::Object(members) => upload::small(members, most),
        _ => Err(validation("/metadata", "Metadata are an object.")),
    }
}

/// `POST …/retry`: reads it again from the start.
pub(crate) async fn retry(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, _, document) = of(platform, &request, Verb::Write).await?;
    must_stay(&pipeline)?;
    if !document.status.is_terminal() {
        return Err(busy());
    }
    platform.store.read_again(&document).await.map_err(|error| match error {
        // Somebody else has it read already.
        StoreError::Changed => busy(),
        error => stored(error),
    })?;
    platform.bell.ring();
    shown(&again(platform, &document).await?).map(|response| response.status(StatusCode::ACCEPTED))
}

fn busy() -> Problem {
    let problem = Problem::new(StatusCode::CONFLICT, "document-busy");
    problem.detail("The document is being read. Wait, or cancel it first.")
}

/// `POST …/cancel`: ends the work on it. What was ready before stays so.
pub(crate) async fn cancel(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (_, _, document) = of(platform, &request, Verb::Write).await?;
    platform.store.cancel_document(&document).await.map_err(stored)?;
    platform.messages.signal(&Signal::Stop { document: document.id.clone() });
    shown(&again(platform, &document).await?)
}

/// `DELETE …`: gone from every index and table.
pub(crate) async fn delete(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, _, document) = of(platform, &request, Verb::Write).await?;
    request.head.precondition(Some(&document.etag()))?;
    audit::detail("classification", document.classification.as_str());
    match platform.store.delete_document(&pipeline.id, &document.id).await.map_err(stored)? {
        true => {
            platform.messages.signal(&Signal::Stop { document: document.id });
            Ok(Response::empty(StatusCode::NO_CONTENT))
        }
        false => Err(not_found()),
    }
}

/// The document that a request names, if it exists for whoever asks.
async fn of(platform: &Platform, request: &Request, verb: Verb) -> Result<(Pipeline, ApiKey, Document), Problem> {
    let (pipeline, key) = pipelines::of(platform, request).await?;
    let found = platform.store.document(&pipeline.id, request.path("document_id")?).await.map_err(stored)?;
    let document = found.filter(|document| document.status != Status::Deleting).ok_or_else(not_found)?;
    if !key.may(&pipeline.id, &document.classification, Verb::Read) {
        return Err(not_found());
    }
    must(&key, &pipeline, &document.classification, verb)?;
    Ok((pipeline, key, document))
}

async fn again(platform: &Platform, document: &Document) -> Result<Document, Problem> {
    platform.store.document(&document.pipeline_id, &document.id).await.map_err(stored)?.ok_or_else(not_found)
}

fn shown(document: &Document) -> Result<Response, Problem> {
    Ok(Response::json(&document.show())?.etag(document.etag()))
}

fn not_found() -> Problem {
    Problem::not_found("document-not-found").detail("There is no such document.")
}

//! Document upload: multipart parts in any order. The file is spooled, since it may be large.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::{MultipartLimits, Part, Problem, Request, Response, StatusCode, codes};
use pidq_store::domain::api_key::Verb;
use pidq_store::domain::classification;
use pidq_store::domain::model::{Document, Status};
use pidq_store::spool::{IncomingUpload, SpooledUpload};
use pidq_store::{NewDocument, StoreError};
use serde_json::{Map, Value};

use super::DocumentResponse;
use crate::api::pipeline_access::{find_active_pipeline, require_access};
use crate::api::problems::{store_problem, unprocessable, validation};
use crate::ingest::file_name;
use crate::platform::Platform;

/// Limits of the multipart form.
pub(crate) const PARTS: MultipartLimits = MultipartLimits { parts: 16, headers: 16 << 10, field: 64 << 10 };
/// Maximum `wait` for a document in seconds.
const MAX_WAIT: u64 = 300;
/// Poll interval of a waiting request.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Parts of the form.
#[derive(Default)]
struct Form {
    file: Option<UploadedFile>,
    classification: Option<String>,
    external_id: Option<String>,
    filename: Option<String>,
    sha256: Option<String>,
    metadata: Map<String, Value>,
}

/// An uploaded file.
pub(super) struct UploadedFile {
    pub name: Option<String>,
    pub media_type: Option<String>,
    pub content: SpooledUpload,
}

/// `POST /api/pipelines/{pipeline_id}/documents`.
pub(crate) async fn create(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    find_active_pipeline(platform, &request).await?;
    // Counting is slow, so it is done only with a limit. The limit is checked again when the document is stored, since
    // concurrent uploads may have reached it.
    let document_limit = platform.licensing.require_license()?.documents;
    if let Some(limit) = document_limit {
        let documents = platform.store.count_documents().await.map_err(store_problem)?;
        platform.licensing.check_limit("documents", limit, documents)?;
    }
    let wait = parse_wait(&request)?;
    let (permit, incoming) = platform.ingestion.uploads.reserve(&request)?;
    let form = read_form(&mut request, incoming, platform.limits.metadata_size).await?;
    // Access is checked again: the classification may have been removed during a long upload.
    let (pipeline, key) = find_active_pipeline(platform, &request).await?;
    let classification = form.classification.as_deref().ok_or_else(|| missing_part("classification"))?;
    let classification = classification::normalize(classification);
    require_access(&key, &pipeline, &classification, Verb::Write)?;
    let file = form.file.as_ref().ok_or_else(|| missing_part("file"))?;
    verify_checksum(&file.content, form.sha256.as_deref())?;
    check_supported(platform, &file.content)?;
    let new = NewDocument {
        pipeline_id: &pipeline.id,
        classification: &classification,
        external_id: form.external_id.as_deref(),
        filename: &filename(form.filename.as_deref().or(file.name.as_deref())),
        content_type: file.media_type.as_deref().unwrap_or("application/octet-stream"),
        metadata: &form.metadata,
        content: (&file.content).into(),
        sha256: file.content.sha256(),
    };
    let added = platform.store.add_document_with_limit(new, document_limit).await;
    if let (Err(StoreError::LimitReached(count)), Some(limit)) = (&added, document_limit) {
        platform.licensing.check_limit("documents", limit, *count)?;
    }
    let (document, is_new) = added.map_err(store_problem)?;
    drop((form, permit));
    if is_new {
        platform.messaging.job_notifier.notify_all();
    }
    let document = wait_for(platform, document, wait).await?;
    let status = match (is_new, document.status == Status::Ready) {
        (false, _) => StatusCode::OK,
        (true, true) => StatusCode::CREATED,
        (true, false) => StatusCode::ACCEPTED,
    };
    upload_response(&document, status, !is_new)
}

/// Parses the `wait` parameter.
pub(super) fn parse_wait(request: &Request) -> Result<Duration, Problem> {
    match request.query()?.parsed("wait")?.unwrap_or(0) {
        seconds @ 0..=MAX_WAIT => Ok(Duration::from_secs(seconds)),
        _ => Err(Problem::new(codes::INVALID_PARAMETER)
            .detail(format!("`wait` must be at most {MAX_WAIT}."))
            .with("parameter", "wait")),
    }
}

/// Builds the response with the document, marked if it is a duplicate.
pub(super) fn upload_response(
    document: &Document,
    status: StatusCode,
    is_duplicate: bool,
) -> Result<Response, Problem> {
    let mut body = DocumentResponse::from(document);
    body.duplicate = is_duplicate.then_some(true);
    let location = format!("/api/pipelines/{}/documents/{}", document.pipeline_id, document.id);
    Ok(Response::json(&body)?.created(location).status(status).etag(document.etag()))
}

/// Waits until the status of the document is terminal or the time has elapsed, and returns the document.
pub(super) async fn wait_for(platform: &Platform, mut document: Document, wait: Duration) -> Result<Document, Problem> {
    let end = tokio::time::Instant::now() + wait;
    while !document.status.is_terminal() && tokio::time::Instant::now() < end {
        tokio::time::sleep(POLL_INTERVAL).await;
        match platform.store.document(&document.pipeline_id, &document.id).await.map_err(store_problem)? {
            Some(current) => document = current,
            None => break,
        }
    }
    Ok(document)
}

/// Reads the form, with a size limit for metadata.
async fn read_form(request: &mut Request, incoming: IncomingUpload, max_size: usize) -> Result<Form, Problem> {
    let mut incoming = Some(incoming);
    // The size limit applies to compact JSON; the part may contain whitespace.
    let field = PARTS.field.max(max_size as u64 * 4);
    let mut parts = request.multipart(MultipartLimits { field, ..PARTS })?;
    let mut form = Form::default();
    while let Some(part) = parts.next().await? {
        let name = part.name().to_owned();
        match name.as_str() {
            "file" => {
                form.file = Some(receive_file(part, incoming.take().ok_or_else(|| duplicate_part("file"))?).await?)
            }
            "classification" => set_once(&mut form.classification, "classification", part.text().await?)?,
            "external_id" => set_once(&mut form.external_id, "external_id", external_id(part.text().await?)?)?,
            "filename" => set_once(&mut form.filename, "filename", part.text().await?)?,
            "sha256" => set_once(&mut form.sha256, "sha256", part.text().await?)?,
            "metadata" => form.metadata = metadata(&part.text().await?, max_size)?,
            _ => return Err(unknown_part(&name)),
        }
    }
    Ok(form)
}

pub(super) fn set_once<T>(slot: &mut Option<T>, name: &str, value: T) -> Result<(), Problem> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(duplicate_part(name)),
    }
}

pub(super) fn duplicate_part(name: &str) -> Problem {
    validation(&format!("/{name}"), "This part occurs more than once.")
}

fn unknown_part(name: &str) -> Problem {
    let allowed = vec!["file", "classification", "external_id", "metadata", "filename", "sha256"];
    unprocessable(codes::UNKNOWN_FIELD, &format!("/{name}"), "Unknown part.").with("allowed", allowed)
}

fn missing_part(name: &str) -> Problem {
    unprocessable(codes::MISSING_PART, &format!("/{name}"), &format!("The part {name:?} is missing."))
}

/// Spools a file part.
pub(super) async fn receive_file(mut part: Part, mut incoming: IncomingUpload) -> Result<UploadedFile, Problem> {
    let (name, media_type) = (part.file_name().map(str::to_owned), part.content_type().map(str::to_owned));
    while let Some(chunk) = part.chunk().await? {
        incoming.push(&chunk).await.map_err(|problem| problem.with("part", "file"))?;
    }
    let content = incoming.finish().await?;
    if content.size() == 0 {
        return Err(validation("/file", "The file is empty."));
    }
    Ok(UploadedFile { name, media_type, content })
}

fn external_id(text: String) -> Result<String, Problem> {
    match text.chars().count() {
        1..=256 => Ok(text),
        _ => Err(validation("/external_id", "An external id must have 1 to 256 characters.")),
    }
}

fn metadata(text: &str, max_size: usize) -> Result<Map<String, Value>, Problem> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => check_metadata_size(object, max_size),
        _ => Err(validation("/metadata", "Metadata must be a JSON object.")),
    }
}

/// Checks the size of metadata.
pub(super) fn check_metadata_size(
    metadata: Map<String, Value>,
    max_size: usize,
) -> Result<Map<String, Value>, Problem> {
    let size = Value::Object(metadata.clone()).to_string().len();
    if size > max_size {
        return Err(validation("/metadata", &format!("Metadata must have at most {max_size} bytes, not {size}.")));
    }
    Ok(metadata)
}

/// Returns a normalized file name.
pub(super) fn filename(name: Option<&str>) -> String {
    name.and_then(file_name::normalize).unwrap_or_else(|| "document".to_owned())
}

/// Verifies the SHA-256 that the client sent.
fn verify_checksum(content: &SpooledUpload, expected: Option<&str>) -> Result<(), Problem> {
    match expected {
        Some(expected) if !expected.trim().eq_ignore_ascii_case(content.sha256()) => {
            Err(validation("/sha256", "The SHA-256 hash of the file differs from `sha256`. Send the file again."))
        }
        _ => Ok(()),
    }
}

/// Returns 415 for types that are certainly unsupported. Others are detected during ingestion.
pub(super) fn check_supported(platform: &Platform, content: &SpooledUpload) -> Result<(), Problem> {
    let options = &platform.ingestion.extraction_limits;
    match pidq_extract::unsupported_media_type(content.prefix(), options) {
        Some(media_type) => {
            let supported: Vec<&str> =
                pidq_extract::readable_formats(options).map(|format| format.media_types[0]).collect();
            let detail = format!("The content type {media_type} is not supported.");
            let problem = Problem::new(codes::UNSUPPORTED_MEDIA_TYPE).detail(detail);
            Err(problem.with("allowed", supported))
        }
        None => Ok(()),
    }
}

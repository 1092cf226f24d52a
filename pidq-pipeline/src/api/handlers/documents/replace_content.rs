//! `PUT …/content`: a new revision of a document. The previous one stays searchable until the new one is ready, or
//! forever if ingestion fails.

use std::sync::Arc;

use pidq_http::{Problem, Request, Response, StatusCode, codes, header};
use pidq_store::domain::api_key::Verb;
use pidq_store::domain::model::{Document, Status};
use pidq_store::{NewContent, StoreError};

use super::upload::{check_supported, filename, parse_wait, upload_response, wait_for};
use super::{busy, find_document, not_found, reload};
use crate::api::pipeline_access::require_not_deleting;
use crate::api::problems::{store_problem, validation};
use crate::platform::Platform;

/// `PUT /api/pipelines/{pipeline_id}/documents/{document_id}/content`.
pub(crate) async fn replace(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, _, document) = find_document(platform, &request, Verb::Write).await?;
    require_not_deleting(&pipeline)?;
    let wait = parse_wait(&request)?;
    // Checked before the precondition: an empty document is always invalid.
    if request.content_length() == Some(0) {
        return Err(empty());
    }
    check_precondition(&request, &document)?;
    platform.licensing.require_license()?;
    let name = request.query()?.single("filename")?.map(|name| filename(Some(name)));
    let media_type = request.head.media_type().unwrap_or_else(|| "application/octet-stream".into());
    let (permit, mut incoming) = platform.ingestion.uploads.reserve(&request)?;
    let mut body_chunks = request.chunks(platform.limits.upload_size)?;
    while let Some(chunk) = body_chunks.next().await? {
        incoming.push(&chunk).await?;
    }
    let content = incoming.finish().await?;
    if content.size() == 0 {
        return Err(empty());
    }
    if content.sha256() == document.sha256 {
        return upload_response(&document, StatusCode::OK, true);
    }
    check_supported(platform, &content)?;
    let filename = name.as_deref().unwrap_or(&document.filename);
    let new = NewContent { filename, content_type: &media_type, content: (&content).into(), sha256: content.sha256() };
    let replaced = platform.store.replace_content(&document, new).await;
    drop((content, permit));
    let document = match replaced {
        Ok(()) => reload(platform, &document).await?,
        Err(error) => return Err(replace_problem(platform, &document, error).await),
    };
    platform.messaging.job_notifier.notify_all();
    let document = wait_for(platform, document, wait).await?;
    let status = if document.status == Status::Ready { StatusCode::OK } else { StatusCode::ACCEPTED };
    upload_response(&document, status, false)
}

fn empty() -> Problem {
    validation("", "The document is empty.")
}

/// Checks `If-Match` against the entity tag of the content or of the document.
fn check_precondition(request: &Request, document: &Document) -> Result<(), Problem> {
    let tag = document.content_etag();
    if !request.head.headers.contains_key(header::IF_MATCH) {
        return Err(Problem::new(codes::PRECONDITION_REQUIRED)
            .detail("`If-Match` is required: the ETag of the content to replace, or `*` for any.")
            .header(header::ETAG, format!("\"{tag}\"")));
    }
    let by_content = request.head.precondition(Some(&tag));
    by_content.or_else(|problem| request.head.precondition(Some(&document.etag())).map_err(|_| problem))
}

/// Converts a replace error, depending on the current state of the document.
async fn replace_problem(platform: &Platform, document: &Document, error: StoreError) -> Problem {
    if !matches!(error, StoreError::Conflict) {
        return store_problem(error);
    }
    match reload(platform, document).await {
        Ok(current) if current.revision == document.revision && !current.status.is_terminal() => busy(),
        Ok(_) => store_problem(error),
        Err(_) => not_found(),
    }
}

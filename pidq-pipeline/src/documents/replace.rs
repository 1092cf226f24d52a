//! `PUT …/content`: another revision of a document. The one before answers until this one is ready, and goes on
//! answering if it never is.

use std::sync::Arc;

use pidq_http::{Problem, Request, Response, StatusCode, header};

use super::upload::{answer, filename, readable, wait_for, wait_of};
use super::{again, busy, not_found, of};
use crate::keys::Verb;
use crate::pipelines::must_stay;
use crate::platform::Platform;
use crate::problems::{stored, validation};
use crate::records::{Document, Status};
use crate::store::{NewContent, StoreError};

/// `PUT /api/pipelines/{pipeline_id}/documents/{document_id}/content`.
pub(crate) async fn replace(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, _, document) = of(platform, &request, Verb::Write).await?;
    must_stay(&pipeline)?;
    let wait = wait_of(&request)?;
    // What would be refused anyway is refused for that, and not for the condition.
    if request.announced() == Some(0) {
        return Err(empty());
    }
    condition(&request, &document)?;
    platform.licensing.admit()?;
    let name = request.query()?.one("filename")?.map(|name| filename(Some(name)));
    let media = request.head.media_type().unwrap_or_else(|| "application/octet-stream".into());
    let (room, mut incoming) = platform.uploads.take(&request)?;
    let mut pieces = request.pieces(platform.limits.upload)?;
    while let Some(piece) = pieces.next().await? {
        incoming.push(&piece).await?;
    }
    let content = incoming.finish().await?;
    if content.size() == 0 {
        return Err(empty());
    }
    if content.sha256() == document.sha256 {
        return answer(&document, StatusCode::OK, true);
    }
    readable(&content)?;
    let filename = name.as_deref().unwrap_or(&document.filename);
    let new = NewContent { filename, content_type: &media, content: (&content).into(), sha256: content.sha256() };
    let replaced = platform.store.replace_content(&document, new).await;
    drop((content, room));
    let document = match replaced {
        Ok(()) => again(platform, &document).await?,
        Err(error) => return Err(refused(platform, &document, error).await),
    };
    platform.bell.ring();
    let document = wait_for(platform, document, wait).await?;
    let status = if document.status == Status::Ready { StatusCode::OK } else { StatusCode::ACCEPTED };
    answer(&document, status, false)
}

fn empty() -> Problem {
    validation("", "The document is empty.")
}

/// Who replaces something says what: the validator of the content, or that of the document.
fn condition(request: &Request, document: &Document) -> Result<(), Problem> {
    let tag = document.content_etag();
    if !request.head.headers.contains_key(header::IF_MATCH) {
        return Err(Problem::new(StatusCode::PRECONDITION_REQUIRED, "precondition-required")
            .detail("Say in If-Match which content is to be replaced: its ETag, or `*` for whatever there is.")
            .header(header::ETAG, format!("\"{tag}\"")));
    }
    let by_content = request.head.precondition(Some(&tag));
    by_content.or_else(|problem| request.head.precondition(Some(&document.etag())).map_err(|_| problem))
}

/// Why a document was not replaced, as it is now.
async fn refused(platform: &Platform, document: &Document, error: StoreError) -> Problem {
    if !matches!(error, StoreError::Changed) {
        return stored(error);
    }
    match again(platform, document).await {
        Ok(now) if now.revision == document.revision && !now.status.is_terminal() => busy(),
        Ok(_) => stored(error),
        Err(_) => not_found(),
    }
}

//! `GET …/pages/{page}/image`: the image of a page of a PDF, on which a citation is marked with the boxes of its words.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::{Form, Problem, Request, Response, codes};
use pidq_store::domain::api_key::Verb;
use pidq_store::domain::model::Document;

use super::{find_document, not_indexed};
use crate::api::problems::store_problem;
use crate::api::schema::{DEFAULT_IMAGE_SIZE, MAX_IMAGE_SIZE, MIN_IMAGE_SIZE};
use crate::ingest::extract_and_split::{DocumentError, ReadError};
use crate::ingest::page_image::{DocumentPage, render};
use crate::platform::Platform;
use crate::platform::programs::PageRenderer;

/// Media type of the documents whose pages have images.
const PDF: &str = "application/pdf";

/// Maximum time in the queue of pages to render.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(10);

/// `GET …/pages/{page}/image`.
pub(crate) async fn page_image(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (_, _, document) = find_document(platform, &request, Verb::Read).await?;
    let page = request.path("page")?.parse().unwrap_or(0);
    let query = request.query()?;
    let longer_side = longer_side(&query)?;
    let revision = shown_revision(&document, &query)?;
    let renderer = renderer(platform, &document)?;
    let tag = etag(&document, revision, (page, longer_side), renderer);
    if request.head.has_cached(&tag) {
        return Ok(Response::ok("image/png", "").etag(tag));
    }
    let caller = request.principal()?.key();
    let _permit = platform.ingestion.page_images.acquire(caller, QUEUE_TIMEOUT).await.ok_or_else(busy)?;
    let rendered = render(platform, renderer, DocumentPage { document: &document.id, revision, page, longer_side });
    match rendered.await.map_err(problem)? {
        Some(image) => Ok(Response::ok("image/png", image).etag(tag)),
        None => Err(not_found("The document has no page of this number.")),
    }
}

fn longer_side(query: &Form) -> Result<u32, Problem> {
    let size = query.parsed::<u32>("size")?.unwrap_or(DEFAULT_IMAGE_SIZE);
    match size {
        MIN_IMAGE_SIZE..=MAX_IMAGE_SIZE => Ok(size),
        _ => Err(Problem::new(codes::INVALID_PARAMETER)
            .detail(format!("`size` must be from {MIN_IMAGE_SIZE} to {MAX_IMAGE_SIZE}."))
            .with("parameter", "size")),
    }
}

/// Returns the revision whose pages are shown: the one that is searched, to which citations belong, or the first one before
/// it is ingested. A request for another one is rejected, because the words of a citation would be marked on a wrong page.
fn shown_revision(document: &Document, query: &Form) -> Result<i64, Problem> {
    let shown = document.searchable_revision.unwrap_or(document.revision);
    match query.parsed::<i64>("revision")? {
        Some(revision) if revision != shown => {
            Err(not_found(&format!("The pages are those of revision {shown} of the document.")))
        }
        _ => Ok(shown),
    }
}

/// Returns the renderer. The type of a revision that was not ingested is the one that the client declared, and tells nothing.
fn renderer<'p>(platform: &'p Platform, document: &Document) -> Result<&'p PageRenderer, Problem> {
    if document.searchable_revision == Some(document.revision) && document.content_type != PDF {
        return Err(no_images());
    }
    let renderer = platform.ingestion.programs.renderer.as_ref();
    renderer.ok_or_else(|| {
        Problem::new(codes::RENDERER_NOT_CONFIGURED).detail("The service has no program that renders pages.")
    })
}

/// Returns the entity tag of an image: the same file gives the same image as long as the renderer is the same.
fn etag(document: &Document, revision: i64, (page, longer_side): (u32, u32), renderer: &PageRenderer) -> String {
    let version = &renderer.component.version;
    format!("{revision}-{}-{page}-{longer_side}-{version}", document.content_etag())
}

fn problem(error: ReadError) -> Problem {
    match error {
        ReadError::Store(error) => store_problem(error),
        // The revision was replaced in the meantime.
        ReadError::Deleted => not_indexed(),
        ReadError::Document(error) => document_problem(error),
    }
}

fn document_problem(DocumentError { code, message, .. }: DocumentError) -> Problem {
    match code {
        "unsupported-type" => no_images(),
        "encrypted-document" => Problem::new(codes::ENCRYPTED_DOCUMENT).detail(message),
        "corrupt-document" | "too-large-text" => Problem::new(codes::PAGE_NOT_RENDERED).detail(message),
        _ => {
            tracing::error!(error = message, "rendering a page failed; responding with 500");
            Problem::internal()
        }
    }
}

fn no_images() -> Problem {
    Problem::new(codes::NO_PAGE_IMAGES).detail("Only pages of PDFs have images, and this document is no PDF.")
}

fn not_found(detail: &str) -> Problem {
    Problem::new(codes::PAGE_NOT_FOUND).detail(detail)
}

fn busy() -> Problem {
    Problem::new(codes::UNAVAILABLE).detail("Too many pages are being rendered. Try again later.").retry_after(5)
}

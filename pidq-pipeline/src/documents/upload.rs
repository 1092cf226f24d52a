//! A document that is sent: the parts of its form, in any order. The file goes by the spool: it may be large.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::{MultipartLimits, Part, Problem, Request, Response, StatusCode};
use serde_json::{Map, Value};

use crate::extract;
use crate::keys::Verb;
use crate::labels;
use crate::pipelines::{self, must};
use crate::platform::Platform;
use crate::problems::{stored, unprocessable, validation};
use crate::records::{Document, Status};
use crate::spool::{Incoming, Spooled};
use crate::store::{NewDocument, StoreError};

/// What is taken of a form.
pub(crate) const PARTS: MultipartLimits = MultipartLimits { parts: 16, headers: 16 << 10, field: 64 << 10 };
/// The longest wait for a document, in seconds.
const LONGEST_WAIT: u64 = 300;
/// How often a waiting request looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What a form says.
#[derive(Default)]
struct Form {
    file: Option<Sent>,
    classification: Option<String>,
    external_id: Option<String>,
    filename: Option<String>,
    sha256: Option<String>,
    metadata: Map<String, Value>,
}

/// A file as it came.
pub(super) struct Sent {
    pub name: Option<String>,
    pub media: Option<String>,
    pub content: Spooled,
}

/// `POST /api/pipelines/{pipeline_id}/documents`.
pub(crate) async fn create(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    pipelines::staying(platform, &request).await?;
    // Counting them all takes a while: only where it matters. Whether there are as many is looked at again when this one is
    // stored, since others may have come meanwhile.
    let most = platform.licensing.admit()?.documents;
    if let Some(limit) = most {
        let documents = platform.store.count_documents().await.map_err(stored)?;
        platform.licensing.admit_more("documents", limit, documents)?;
    }
    let wait = wait_of(&request)?;
    let (room, incoming) = platform.uploads.take(&request)?;
    let form = read(&mut request, incoming, platform.limits.metadata).await?;
    // What was refused at once is looked at again: a label may have gone while the form came, which can take long.
    let (pipeline, key) = pipelines::staying(platform, &request).await?;
    let label = form.classification.as_deref().ok_or_else(|| missing("classification"))?;
    let label = labels::normal(label);
    must(&key, &pipeline, &label, Verb::Write)?;
    let file = form.file.as_ref().ok_or_else(|| missing("file"))?;
    as_promised(&file.content, form.sha256.as_deref())?;
    readable(&file.content)?;
    let new = NewDocument {
        pipeline_id: &pipeline.id,
        classification: &label,
        external_id: form.external_id.as_deref(),
        filename: &filename(form.filename.as_deref().or(file.name.as_deref())),
        content_type: file.media.as_deref().unwrap_or("application/octet-stream"),
        metadata: &form.metadata,
        content: (&file.content).into(),
        sha256: file.content.sha256(),
    };
    let added = platform.store.add_document_up_to(new, most).await;
    if let (Err(StoreError::AsManyAsMayBe(there)), Some(limit)) = (&added, most) {
        platform.licensing.admit_more("documents", limit, *there)?;
    }
    let (document, is_new) = added.map_err(stored)?;
    drop((form, room));
    if is_new {
        platform.bell.ring();
    }
    let document = wait_for(platform, document, wait).await?;
    let status = match (is_new, document.status == Status::Ready) {
        (false, _) => StatusCode::OK,
        (true, true) => StatusCode::CREATED,
        (true, false) => StatusCode::ACCEPTED,
    };
    answer(&document, status, !is_new)
}

/// How long a request waits for its document.
pub(super) fn wait_of(request: &Request) -> Result<Duration, Problem> {
    match request.query()?.parsed("wait")?.unwrap_or(0) {
        seconds @ 0..=LONGEST_WAIT => Ok(Duration::from_secs(seconds)),
        _ => Err(Problem::bad_request("invalid-parameter", format!("`wait` is at most {LONGEST_WAIT}."))
            .with("parameter", "wait")),
    }
}

/// The document as it is now, and whether its bytes were there before.
pub(super) fn answer(document: &Document, status: StatusCode, is_duplicate: bool) -> Result<Response, Problem> {
    let mut shown = document.show();
    if is_duplicate {
        shown["duplicate"] = true.into();
    }
    let place = format!("/api/pipelines/{}/documents/{}", document.pipeline_id, document.id);
    Ok(Response::json(&shown)?.created(place).status(status).etag(document.etag()))
}

/// The document as it is when it is ready, or when the time is over.
pub(super) async fn wait_for(platform: &Platform, mut document: Document, wait: Duration) -> Result<Document, Problem> {
    let end = tokio::time::Instant::now() + wait;
    while !document.status.is_terminal() && tokio::time::Instant::now() < end {
        tokio::time::sleep(LOOK_EVERY).await;
        match platform.store.document(&document.pipeline_id, &document.id).await.map_err(stored)? {
            Some(now) => document = now,
            None => break,
        }
    }
    Ok(document)
}

/// A form with metadata of so many bytes at most.
async fn read(request: &mut Request, incoming: Incoming, most: usize) -> Result<Form, Problem> {
    let mut incoming = Some(incoming);
    // Metadata with blanks are longer than they are once they are stored.
    let field = PARTS.field.max(most as u64 * 4);
    let mut parts = request.multipart(MultipartLimits { field, ..PARTS })?;
    let mut form = Form::default();
    while let Some(part) = parts.next().await? {
        let name = part.name().to_owned();
        match name.as_str() {
            "file" => form.file = Some(sent(part, incoming.take().ok_or_else(|| twice("file"))?).await?),
            "classification" => once(&mut form.classification, "classification", part.text().await?)?,
            "external_id" => once(&mut form.external_id, "external_id", external_id(part.text().await?)?)?,
            "filename" => once(&mut form.filename, "filename", part.text().await?)?,
            "sha256" => once(&mut form.sha256, "sha256", part.text().await?)?,
            "metadata" => form.metadata = metadata(&part.text().await?, most)?,
            _ => return Err(unknown(&name)),
        }
    }
    Ok(form)
}

pub(super) fn once<T>(place: &mut Option<T>, name: &str, value: T) -> Result<(), Problem> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(twice(name)),
    }
}

pub(super) fn twice(name: &str) -> Problem {
    validation(&format!("/{name}"), "There is more than one part of this name.")
}

fn unknown(name: &str) -> Problem {
    let known = vec!["file", "classification", "external_id", "metadata", "filename", "sha256"];
    unprocessable("unknown-field", &format!("/{name}"), "There is no such part.").with("allowed", known)
}

fn missing(name: &str) -> Problem {
    unprocessable("missing-part", &format!("/{name}"), &format!("The form has no part {name:?}."))
}

/// Takes in a file.
pub(super) async fn sent(mut part: Part, mut incoming: Incoming) -> Result<Sent, Problem> {
    let (name, media) = (part.file_name().map(str::to_owned), part.content_type().map(str::to_owned));
    while let Some(chunk) = part.chunk().await? {
        incoming.push(&chunk).await.map_err(|problem| problem.with("part", "file"))?;
    }
    let content = incoming.finish().await?;
    if content.size() == 0 {
        return Err(validation("/file", "The file is empty."));
    }
    Ok(Sent { name, media, content })
}

fn external_id(text: String) -> Result<String, Problem> {
    match text.chars().count() {
        1..=256 => Ok(text),
        _ => Err(validation("/external_id", "An external id has 1 to 256 characters.")),
    }
}

fn metadata(text: &str, most: usize) -> Result<Map<String, Value>, Problem> {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => small(members, most),
        _ => Err(validation("/metadata", "Metadata are a JSON object.")),
    }
}

/// Metadata of so many bytes at most.
pub(super) fn small(members: Map<String, Value>, most: usize) -> Result<Map<String, Value>, Problem> {
    let size = Value::Object(members.clone()).to_string().len();
    if size > most {
        return Err(validation("/metadata", &format!("Metadata have at most {most} bytes, and these have {size}.")));
    }
    Ok(members)
}

/// The last part of what the caller calls the file, without what no file name has.
pub(super) fn filename(given: Option<&str>) -> String {
    let name = given.unwrap_or_default().rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = name.chars().filter(|c| !c.is_control()).take(255).collect();
    let name = name.trim();
    if name.is_empty() || name == "." || name == ".." { "document".to_owned() } else { name.to_owned() }
}

/// Damage on the way is found by the sum that the sender made.
fn as_promised(content: &Spooled, promised: Option<&str>) -> Result<(), Problem> {
    match promised {
        Some(promised) if !promised.trim().eq_ignore_ascii_case(content.sha256()) => {
            Err(validation("/sha256", "The file has another SHA-256: it was damaged on its way. Send it again."))
        }
        _ => Ok(()),
    }
}

/// 415 for what is of no format beyond doubt. What it takes a longer look to tell fails when it is read.
pub(super) fn readable(content: &Spooled) -> Result<(), Problem> {
    match extract::foreign(content.beginning()) {
        Some(media_type) => {
            let read: Vec<&str> = extract::FORMATS.iter().map(|format| format.media_types[0]).collect();
            let detail = format!("The content is {media_type}, and nothing of that kind is read.");
            let problem = Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type").detail(detail);
            Err(problem.with("allowed", read))
        }
        None => Ok(()),
    }
}

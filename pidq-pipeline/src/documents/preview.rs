//! `POST /api/pipelines/{pipeline_id}/preview`: how a document would be cut, without keeping anything of it.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::{MultipartLimits, Problem, Request, Response, StatusCode};
use serde_json::{Map, Value, json};

use super::upload::{Sent, once, sent, twice};
use crate::extract::{CodePoints, Extracted};
use crate::ingest::reader::{self, Content, Piece, Source, Trouble, Unread};
use crate::keys::Verb;
use crate::pipelines::{self, known_members, text_splitter};
use crate::platform::{LONGEST_PAGE, PAGE, Platform};
use crate::problems::{stored, unprocessable, validation};
use crate::records::Pipeline;
use crate::spool::Incoming;

/// How long a request waits for others to be done.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is to be cut, and how.
#[derive(Default)]
struct Wanted {
    file: Option<Sent>,
    text: Option<String>,
    filename: Option<String>,
    text_splitter: Option<Value>,
}

/// `POST /api/pipelines/{pipeline_id}/preview`.
pub(crate) async fn preview(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = pipelines::of(platform, &request).await?;
    if !pipeline.classifications.iter().any(|label| key.may(&pipeline.id, label, Verb::Write)) {
        let problem = Problem::new(StatusCode::FORBIDDEN, "classification-forbidden");
        return Err(problem.detail("This key adds no documents to the pipeline, and so it has nothing to look at."));
    }
    let limit = limit(&request)?;
    let (room, incoming) = platform.uploads.take(&request)?;
    let wanted = read(&mut request, incoming, platform.limits.http.json_body).await?;
    let (splitter, parameters) = splitter(&pipeline, wanted.text_splitter.as_ref())?;
    let source = source(wanted)?;
    let model = platform.models.of_texts(&pipeline).await.map_err(|error| problem(reader::unembedded(&error)))?;
    let turn = tokio::time::timeout(PATIENCE, platform.previews.acquire()).await;
    let _turn = turn.ok().and_then(Result::ok).ok_or_else(busy)?;
    let extracted = reader::text(platform, &splitter, source).await.map_err(unread)?;
    drop(room);
    let cut =
        reader::pieces(&splitter, &parameters, extracted, model, platform.limits.chunks).await.map_err(problem)?;
    let mut shown = show(&cut.0, &cut.1, limit);
    pipelines::join(&mut shown, json!({"text_splitter": splitter, "text_splitter_params": parameters}));
    Response::json(&shown)
}

fn limit(request: &Request) -> Result<usize, Problem> {
    let limit = request.query()?.parsed::<usize>("limit")?.unwrap_or(PAGE);
    match limit {
        1..=LONGEST_PAGE => Ok(limit),
        _ => Err(Problem::bad_request("invalid-parameter", format!("`limit` is from 1 to {LONGEST_PAGE}."))
            .with("parameter", "limit")),
    }
}

/// A form with parts, or an object with a text.
async fn read(request: &mut Request, incoming: Incoming, json: u64) -> Result<Wanted, Problem> {
    if request.head.media_type().as_deref() == Some("application/json") {
        let bytes = request.bytes_up_to(json).await?;
        let body = serde_json::from_slice(&bytes);
        return object(body.map_err(|_| Problem::bad_request("malformed-json", "The body is no JSON object."))?);
    }
    let limits = MultipartLimits { headers: 16 << 10, field: json, ..MultipartLimits::default() };
    let mut incoming = Some(incoming);
    let mut parts = request.multipart(limits)?;
    let mut wanted = Wanted::default();
    while let Some(part) = parts.next().await? {
        let name = part.name().to_owned();
        match name.as_str() {
            "file" => wanted.file = Some(sent(part, incoming.take().ok_or_else(|| twice("file"))?).await?),
            "text" => once(&mut wanted.text, "text", part.text().await?)?,
            "filename" => once(&mut wanted.filename, "filename", part.text().await?)?,
            "text_splitter" => once(&mut wanted.text_splitter, "text_splitter", name_or_object(part.text().await?))?,
            _ => return Err(unknown(&name)),
        }
    }
    Ok(wanted)
}

fn object(body: Map<String, Value>) -> Result<Wanted, Problem> {
    known_members(&body, &["text", "text_splitter"])?;
    let text = match body.get("text") {
        None => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => return Err(validation("/text", "This must be a text.")),
    };
    Ok(Wanted { text, text_splitter: body.get("text_splitter").cloned(), ..Wanted::default() })
}

/// A part says the name of a splitter, or JSON as it stands in a pipeline.
fn name_or_object(text: String) -> Value {
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

fn unknown(name: &str) -> Problem {
    let known = vec!["file", "text", "filename", "text_splitter"];
    unprocessable("unknown-field", &format!("/{name}"), "There is no such part.").with("allowed", known)
}

/// The splitter that is wanted, or that of the pipeline.
fn splitter(pipeline: &Pipeline, wanted: Option<&Value>) -> Result<(String, Map<String, Value>), Problem> {
    match wanted {
        Some(wanted) => text_splitter(wanted),
        None => Ok((pipeline.text_splitter.clone(), pipeline.splitter_parameters.clone())),
    }
}

/// A text is read like a file of which nothing is known but its content.
fn source(wanted: Wanted) -> Result<Source, Problem> {
    match (wanted.file, wanted.text) {
        (Some(file), None) => {
            let name = wanted.filename.or(file.name);
            Ok(Source { content: Content::Sent(file.content), name, media_type: file.media })
        }
        (None, Some(text)) => Ok(Source { content: Content::Text(text), name: wanted.filename, media_type: None }),
        _ => Err(unprocessable("missing-part", "", "The request has either a `file` or a `text`.")),
    }
}

fn show(extracted: &Extracted, pieces: &[Piece], limit: usize) -> Value {
    let places = CodePoints::of(&extracted.text);
    let chunks = pieces.iter().take(limit).zip(0..);
    let chunks = chunks.map(|(piece, number)| super::part(number, &piece.stored(extracted, &places, &[])));
    json!({
        "content_type": extracted.media_type, "title": extracted.title, "page_count": extracted.pages.len(),
        "characters": extracted.text.chars().count(), "warnings": extracted.warnings,
        "chunk_count": pieces.len(), "truncated": pieces.len() > limit, "chunks": chunks.collect::<Vec<_>>(),
    })
}

fn unread(why: Unread) -> Problem {
    match why {
        Unread::Trouble(trouble) => problem(trouble),
        Unread::Store(error) => stored(error),
        Unread::Gone => Problem::internal(),
    }
}

/// What would be the failure of a document, as an answer.
fn problem(trouble: Trouble) -> Problem {
    match trouble.code {
        "unsupported-type" => {
            Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type").detail(trouble.message)
        }
        "internal" => Problem::internal(),
        code if trouble.retryable => Problem::unavailable(code, trouble.message, 5),
        code => unprocessable(code, "/file", &trouble.message),
    }
}

fn busy() -> Problem {
    Problem::unavailable("unavailable", "Many documents are looked at just now. Try again.", 5)
}

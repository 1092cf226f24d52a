//! `POST /api/pipelines/{pipeline_id}/preview` and `POST /api/preview`: split a document without storing it.

use std::sync::Arc;
use std::time::Duration;

use pidq_extract::{CodePoints, Extracted};
use pidq_http::{MultipartLimits, Problem, ProblemCode, Request, Response, codes};
use pidq_store::domain::api_key::Verb;
use pidq_store::domain::model::Pipeline;
use pidq_store::spool::IncomingUpload;
use pidq_text::embedding::{CachingEmbedder, HASH_512};
use serde_json::{Map, Value};

use super::bodies::{ChunkContent, Preview, PreviewBody};
use super::upload::{UploadedFile, duplicate_part, receive_file, set_once};
use crate::api::handlers::catalog;
use crate::api::handlers::pipelines::text_splitter;
use crate::api::json_body;
use crate::api::pipeline_access::find_pipeline;
use crate::api::problems::{store_problem, unprocessable, validation};
use crate::ingest::extract_and_split::{self, ChunkDraft, DocumentError, DocumentInput, InputContent, ReadError};
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform};

/// Embedding model of splitters by meaning where there is no pipeline.
const DEFAULT_MODEL: &str = HASH_512.name;

/// Maximum time in the preview queue.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum time of text recognition: the caller waits for it, and others for their previews.
const RECOGNITION_TIMEOUT: Duration = Duration::from_secs(60);

/// Input of a preview.
#[derive(Default)]
struct PreviewInput {
    file: Option<UploadedFile>,
    text: Option<String>,
    filename: Option<String>,
    text_splitter: Option<Value>,
    embedding_model: Option<String>,
}

/// Text splitter of a preview with its parameters, and the embedding model of splitters by meaning.
struct PreviewSplitter {
    name: String,
    parameters: Map<String, Value>,
    model: Arc<CachingEmbedder>,
}

/// `POST /api/preview`.
pub(crate) async fn preview_without_pipeline(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    preview(platform, request, None).await
}

/// `POST /api/pipelines/{pipeline_id}/preview`.
pub(crate) async fn preview_in_pipeline(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (pipeline, key) = find_pipeline(platform, &request).await?;
    if !pipeline.classifications.iter().any(|classification| key.allows(&pipeline.id, classification, Verb::Write)) {
        let problem = Problem::new(codes::CLASSIFICATION_FORBIDDEN);
        return Err(problem.detail("Previewing requires write access to a classification of the pipeline."));
    }
    preview(platform, request, Some(&pipeline)).await
}

async fn preview(
    platform: &Arc<Platform>,
    mut request: Request,
    pipeline: Option<&Pipeline>,
) -> Result<Response, Problem> {
    let limit = limit(&request)?;
    let (permit, incoming) = platform.ingestion.uploads.reserve(&request)?;
    let input = read_input(&mut request, incoming, platform.limits.http.json_body_size).await?;
    let splitter = splitter(platform, pipeline, &input).await?;
    let source = source(input)?;
    let caller = request.principal()?.key();
    let _slot = platform.ingestion.previews.acquire(caller, QUEUE_TIMEOUT).await.ok_or_else(busy)?;
    let extracted = extract_and_split::extract_text(platform, &splitter.name, source).await.map_err(read_problem)?;
    drop(permit);
    let PreviewSplitter { name, parameters, model } = splitter;
    let max_chunks = platform.limits.chunks_per_document;
    let split =
        extract_and_split::split_text(&name, &parameters, extracted, model, max_chunks).await.map_err(problem)?;
    preview_response(&split.0, &split.1, limit, (&name, &parameters))
}

fn limit(request: &Request) -> Result<usize, Problem> {
    let limit = request.query()?.parsed::<usize>("limit")?.unwrap_or(DEFAULT_PAGE_SIZE);
    match limit {
        1..=MAX_PAGE_SIZE => Ok(limit),
        _ => Err(Problem::new(codes::INVALID_PARAMETER)
            .detail(format!("`limit` must be from 1 to {MAX_PAGE_SIZE}."))
            .with("parameter", "limit")),
    }
}

/// Reads a multipart form, or a JSON object with a text.
async fn read_input(
    request: &mut Request,
    incoming: IncomingUpload,
    max_json_size: u64,
) -> Result<PreviewInput, Problem> {
    if request.head.media_type().as_deref() == Some("application/json") {
        let bytes = request.bytes_up_to(max_json_size).await?;
        let object: Map<String, Value> = serde_json::from_slice(&bytes)
            .map_err(|_| Problem::new(codes::MALFORMED_JSON).detail("The body must be a JSON object."))?;
        let PreviewBody { file, text, filename, text_splitter, embedding_model } = json_body::from_object(object)?;
        if file.is_some() {
            return Err(validation("/file", "A file can only be sent as a part of a form."));
        }
        return Ok(PreviewInput { file: None, text, filename, text_splitter, embedding_model });
    }
    let limits = MultipartLimits { headers: 16 << 10, field: max_json_size, ..MultipartLimits::default() };
    let mut incoming = Some(incoming);
    let mut parts = request.multipart(limits)?;
    let mut input = PreviewInput::default();
    while let Some(part) = parts.next().await? {
        let name = part.name().to_owned();
        match name.as_str() {
            "file" => {
                input.file = Some(receive_file(part, incoming.take().ok_or_else(|| duplicate_part("file"))?).await?)
            }
            "text" => set_once(&mut input.text, "text", part.text().await?)?,
            "filename" => set_once(&mut input.filename, "filename", part.text().await?)?,
            "text_splitter" => set_once(&mut input.text_splitter, "text_splitter", name_or_object(part.text().await?))?,
            "embedding_model" => set_once(&mut input.embedding_model, "embedding_model", part.text().await?)?,
            _ => return Err(unknown_part(&name)),
        }
    }
    Ok(input)
}

/// Parses a splitter part: a name, or the JSON of a pipeline's splitter.
fn name_or_object(text: String) -> Value {
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

fn unknown_part(name: &str) -> Problem {
    let allowed = vec!["file", "text", "filename", "text_splitter", "embedding_model"];
    unprocessable(codes::UNKNOWN_FIELD, &format!("/{name}"), "Unknown part.").with("allowed", allowed)
}

/// Returns the requested splitter and embedding model, or those of the pipeline.
async fn splitter(
    platform: &Platform,
    pipeline: Option<&Pipeline>,
    input: &PreviewInput,
) -> Result<PreviewSplitter, Problem> {
    let (name, parameters) = match (&input.text_splitter, pipeline) {
        (Some(requested), _) => text_splitter(requested)?,
        (None, Some(pipeline)) => (pipeline.text_splitter.clone(), pipeline.splitter_parameters.clone()),
        (None, None) => {
            return Err(unprocessable(codes::MISSING_PART, "/text_splitter", "A `text_splitter` is required."));
        }
    };
    let models = &platform.search.models;
    let (model, dimensions) = match (&input.embedding_model, pipeline) {
        (None, Some(pipeline)) => (pipeline.embedding_model.as_str(), pipeline.embedding_dimensions),
        (requested, _) => {
            let model = requested.as_deref().unwrap_or(DEFAULT_MODEL);
            (model, catalog::dimensions(models, model).await? as i64)
        }
    };
    let model = models
        .for_documents(model, dimensions)
        .await
        .map_err(|error| problem(extract_and_split::embedding_error(&error)))?;
    Ok(PreviewSplitter { name, parameters, model })
}

/// Converts the input; a text is treated like a file without name and type.
fn source(input: PreviewInput) -> Result<DocumentInput, Problem> {
    match (input.file, input.text) {
        (Some(file), None) => {
            let name = input.filename.or(file.name);
            Ok(DocumentInput {
                content: InputContent::Spooled(file.content),
                scope: None,
                name,
                media_type: file.media_type,
                recognition_timeout: Some(RECOGNITION_TIMEOUT),
                attachments: None,
            })
        }
        (None, Some(text)) => {
            let (content, name) = (InputContent::Text(text), input.filename);
            Ok(DocumentInput {
                content,
                scope: None,
                name,
                media_type: None,
                recognition_timeout: None,
                attachments: None,
            })
        }
        (Some(_), Some(_)) => Err(validation("/text", "Only one of `file` and `text` is allowed.")),
        (None, None) => {
            Err(unprocessable(codes::MISSING_PART, "", "The request must have either a `file` or a `text`."))
        }
    }
}

fn preview_response(
    extracted: &Extracted,
    drafts: &[ChunkDraft],
    limit: usize,
    (text_splitter, text_splitter_params): (&str, &Map<String, Value>),
) -> Result<Response, Problem> {
    let positions = CodePoints::new(&extracted.text);
    let chunks: Vec<_> = drafts.iter().take(limit).map(|draft| draft.to_record(extracted, &positions, &[])).collect();
    Response::json(&Preview {
        content_type: &extracted.media_type,
        title: extracted.title.as_deref(),
        page_count: extracted.pages.len(),
        characters: extracted.text.chars().count(),
        warnings: &extracted.warnings,
        chunk_count: drafts.len(),
        truncated: drafts.len() > limit,
        chunks: chunks.iter().zip(0..).map(|(chunk, number)| ChunkContent::new(number, chunk)).collect(),
        text_splitter,
        text_splitter_params,
    })
}

fn read_problem(error: ReadError) -> Problem {
    match error {
        ReadError::Document(error) => problem(error),
        ReadError::Store(error) => store_problem(error),
        ReadError::Deleted => Problem::internal(),
    }
}

/// Converts an ingestion failure to a problem.
fn problem(error: DocumentError) -> Problem {
    match error.code {
        "unsupported-type" => Problem::new(codes::UNSUPPORTED_MEDIA_TYPE).detail(error.message),
        "internal" => Problem::internal(),
        code => {
            let code = ProblemCode::find(code).unwrap_or(codes::INTERNAL);
            match error.retryable {
                true => Problem::new(code).detail(error.message).retry_after(5),
                false => unprocessable(code, "/file", &error.message),
            }
        }
    }
}

fn busy() -> Problem {
    Problem::new(codes::UNAVAILABLE).detail("Too many previews are in progress. Try again later.").retry_after(5)
}

//! Representations of documents and chunks, and the bodies of requests about documents.

use pidq_http::Binary;
use pidq_store::StoredChunk;
use pidq_store::domain::model::{Chunk, Document, Failure, Status, TextRecognition};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::api::handlers::pipelines::TextSplitterChoice;
use crate::api::schema::{DateTime, Uuid, not_null};
use crate::generation::prompt;

/// Document with its processing status.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Document")]
pub(crate) struct DocumentResponse<'a> {
    /// Id.
    #[schemars(with = "Uuid")]
    id: &'a str,
    /// The pipeline.
    #[schemars(with = "Uuid")]
    pipeline_id: &'a str,
    /// The mail of which the document is an attachment. Null if it was uploaded.
    #[schemars(with = "Option<Uuid>")]
    parent_id: Option<&'a str>,
    /// File name.
    filename: &'a str,
    /// Media type: that of the upload, then the detected one.
    content_type: &'a str,
    /// Size in bytes.
    size: i64,
    /// SHA-256 of the content, in hexadecimal.
    sha256: &'a str,
    /// Classification, one of the pipeline's.
    classification: &'a str,
    /// Id assigned by the caller.
    external_id: Option<&'a str>,
    /// Metadata of the caller, usable in filters.
    metadata: &'a Map<String, Value>,
    /// Revision of the content, from 1.
    revision: i64,
    /// Status.
    status: Status,
    /// `true` if the status changes only on request.
    terminal: bool,
    /// `true` if a revision is searchable.
    searchable: bool,
    /// Searchable revision.
    searchable_revision: Option<i64>,
    /// Progress of the ingestion.
    progress: IngestionProgress,
    /// Number of attempts.
    attempts: i64,
    /// Time of the next attempt. Null if none is planned.
    next_attempt_at: Option<DateTime>,
    /// Last failure.
    error: Option<&'a Failure>,
    /// Number of chunks. Null until they are counted.
    chunk_count: Option<i64>,
    /// Number of pages, slides or sheets. Null until they are counted.
    page_count: Option<i64>,
    /// Warnings of the extraction.
    warnings: &'a [String],
    /// Pages whose text was recognized (OCR). Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "TextRecognition")]
    text_recognition: Option<&'a TextRecognition>,
    /// Creation.
    created_at: DateTime,
    /// Last change.
    updated_at: DateTime,
    /// `true` in the response to an upload whose content exists already.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub duplicate: Option<bool>,
}

/// Progress of an ingestion.
#[derive(JsonSchema, Serialize)]
struct IngestionProgress {
    /// Stage.
    stage: Status,
    /// Completed units of the stage.
    done: i64,
    /// All units of the stage. Null if the number is not known.
    total: Option<i64>,
}

impl<'a> From<&'a Document> for DocumentResponse<'a> {
    fn from(document: &'a Document) -> DocumentResponse<'a> {
        let progress = &document.progress;
        DocumentResponse {
            id: &document.id,
            pipeline_id: &document.pipeline_id,
            parent_id: document.parent_id.as_deref(),
            filename: &document.filename,
            content_type: &document.content_type,
            size: document.size,
            sha256: &document.sha256,
            classification: &document.classification,
            external_id: document.external_id.as_deref(),
            metadata: &document.metadata,
            revision: document.revision,
            status: document.status,
            terminal: document.status.is_terminal(),
            searchable: document.searchable_revision.is_some(),
            searchable_revision: document.searchable_revision,
            progress: IngestionProgress { stage: document.status, done: progress.done, total: progress.total },
            attempts: document.attempts,
            next_attempt_at: progress.next_attempt_at.map(DateTime),
            error: progress.failure.as_ref(),
            chunk_count: progress.chunk_count,
            page_count: progress.page_count,
            warnings: &progress.warnings,
            text_recognition: progress.text_recognition.as_ref(),
            created_at: DateTime(document.created_at),
            updated_at: DateTime(document.updated_at),
            duplicate: None,
        }
    }
}

/// Chunk of a document.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Chunk")]
pub(crate) struct ChunkResponse<'a> {
    /// Id.
    id: &'a str,
    #[serde(flatten)]
    content: ChunkContent<'a>,
}

impl<'a> From<&'a StoredChunk> for ChunkResponse<'a> {
    fn from(StoredChunk { id, number, chunk }: &'a StoredChunk) -> ChunkResponse<'a> {
        ChunkResponse { id, content: ChunkContent::new(*number, chunk) }
    }
}

/// Content of a chunk, stored or not.
#[derive(JsonSchema, Serialize)]
pub(super) struct ChunkContent<'a> {
    /// Index among the chunks of the document, from 0.
    index: i64,
    /// Start in the text of the document, in code points. Null if the splitter composed the chunk from several parts.
    start: Option<i64>,
    /// End, exclusive.
    end: Option<i64>,
    /// First page, from 1.
    page: Option<i64>,
    /// Headings, outermost first.
    headings: &'a [String],
    /// Text.
    text: &'a str,
    /// Estimated number of tokens.
    token_estimate: usize,
    /// Equipment tags in the text.
    tags: &'a [String],
}

impl<'a> ChunkContent<'a> {
    pub(super) fn new(number: i64, chunk: &'a Chunk) -> ChunkContent<'a> {
        ChunkContent {
            index: number,
            start: chunk.char_range.map(|range| range.0),
            end: chunk.char_range.map(|range| range.1),
            page: chunk.page,
            headings: &chunk.headings,
            text: &chunk.content,
            token_estimate: prompt::estimate_tokens(&chunk.content),
            tags: &chunk.tags,
        }
    }
}

/// Form of an upload. The parts may have any order.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the parts are read while they arrive")]
pub(crate) struct DocumentForm {
    /// The file.
    #[schemars(with = "Binary")]
    file: (),
    /// Classification, one of the pipeline's.
    classification: String,
    /// Id assigned by the caller.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 256))]
    external_id: Option<String>,
    /// Metadata: a JSON object.
    #[serde(default)]
    #[schemars(with = "String")]
    metadata: Option<String>,
    /// File name. Default: that of the part `file`.
    #[serde(default)]
    #[schemars(with = "String")]
    filename: Option<String>,
    /// SHA-256 of the file in hexadecimal, to detect transmission errors.
    #[serde(default)]
    #[schemars(with = "String")]
    sha256: Option<String>,
}

/// Merge patch (RFC 7396) of a document.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentPatch {
    /// New classification.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String")]
    pub classification: Option<String>,
    /// Changes of the metadata; null removes a field, or all of them.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "Option<Map<String, Value>>")]
    pub metadata: Option<Value>,
    /// New file name.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String", length(min = 1))]
    pub filename: Option<String>,
}

/// Documents to delete: either `ids` or `external_ids`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1))]
pub(crate) struct BulkDeleteRequest {
    /// Ids of documents.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "Vec<String>", length(min = 1, max = 200))]
    pub ids: Option<Vec<String>>,
    /// Ids assigned by the caller. Each names the documents of all classifications.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "Vec<String>", length(min = 1, max = 200))]
    pub external_ids: Option<Vec<String>>,
}

/// Result of a bulk deletion.
#[derive(JsonSchema, Serialize)]
pub(crate) struct BulkDeletion<'a> {
    /// Number of deleted ids.
    pub deleted: usize,
    /// Outcome of each id, in the order of the request.
    pub data: Vec<DeletionOutcome<'a>>,
}

/// Outcome of the deletion of one id.
#[derive(JsonSchema, Serialize)]
pub(crate) struct DeletionOutcome<'a> {
    /// Id of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub id: Option<&'a str>,
    /// Id assigned by the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub external_id: Option<&'a str>,
    /// Outcome.
    pub status: DeletionStatus,
}

/// Outcome of a deletion.
#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DeletionStatus {
    /// Deleted.
    Deleted,
    /// Not found, or the caller may not delete it.
    NotFound,
}

/// Document to split: either `text`, or the part `file` of a form.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PreviewRequest")]
pub(crate) struct PreviewBody {
    /// A file; only in a form.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "Binary")]
    pub file: Option<Value>,
    /// A text.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String")]
    pub text: Option<String>,
    /// File name, from which the format is detected if the content is not sufficient.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String")]
    pub filename: Option<String>,
    /// Text splitter. Default: that of the pipeline; required without one.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "TextSplitterChoice")]
    pub text_splitter: Option<Value>,
    /// Embedding model of splitters by meaning. Default: that of the pipeline, or `hash-512`.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String")]
    pub embedding_model: Option<String>,
}

/// Chunks into which a document would be split.
#[derive(JsonSchema, Serialize)]
pub(crate) struct Preview<'a> {
    /// Detected media type.
    pub content_type: &'a str,
    /// Title from the metadata of the document.
    pub title: Option<&'a str>,
    /// Number of pages, slides or sheets.
    pub page_count: usize,
    /// Length of the text, in code points.
    pub characters: usize,
    /// Warnings of the extraction.
    pub warnings: &'a [String],
    /// Number of all chunks.
    pub chunk_count: usize,
    /// `true` if only the first chunks are shown.
    pub truncated: bool,
    /// The first chunks.
    pub(super) chunks: Vec<ChunkContent<'a>>,
    /// Name of the text splitter.
    pub text_splitter: &'a str,
    /// Parameters of the text splitter, including defaults.
    pub text_splitter_params: &'a Map<String, Value>,
}

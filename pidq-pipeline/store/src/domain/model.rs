//! Records of pipelines and documents, and their JSON representations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A collection of documents with its configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// A UUID of version 7.
    pub id: String,
    /// Unique among all pipelines.
    pub name: String,
    /// Revision, from 1.
    pub revision: i64,
    /// Name of an embedding model.
    pub embedding_model: String,
    /// Dimensions of a vector.
    pub embedding_dimensions: i64,
    /// Name of a text splitter.
    pub text_splitter: String,
    /// All parameters, including defaults.
    pub splitter_parameters: Map<String, Value>,
    /// Classifications of documents and queries.
    pub classifications: Vec<String>,
    /// Optional configuration.
    pub options: Options,
    /// Status.
    pub status: PipelineStatus,
    /// Active index generation.
    pub generation: i64,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

/// Optional configuration of a pipeline.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Free text.
    pub description: Option<String>,
    /// Metadata of the caller; not interpreted.
    pub metadata: Map<String, Value>,
    /// Default search parameters.
    pub retrieval: Retrieval,
    /// Includes title and headings in the indexed text of a chunk.
    pub chunk_header: Option<bool>,
    /// Policies by classification.
    pub policies: Map<String, Value>,
}

/// Default search parameters of a pipeline; null means the default of the platform.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retrieval {
    /// `hybrid`, `dense` or `sparse`.
    pub mode: Option<String>,
    /// Number of chunks.
    pub top_k: Option<u32>,
    /// Minimum score of a chunk.
    pub min_score: Option<f64>,
}

/// Declares an enum whose values have a name in the database and on the wire.
#[macro_export]
macro_rules! string_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),* $(,)? }) => {
        #[derive(Clone, Copy, Debug, Eq, PartialEq, schemars::JsonSchema, serde::Serialize)]
        $(#[$doc])*
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $text)] $variant),*
        }

        impl $name {
            /// All values.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// Name in the database and on the wire.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($name::$variant => $text),*
                }
            }

            /// Parses a name.
            pub fn parse(name: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|value| value.as_str() == name)
            }
        }
    };
}

pub(crate) use string_enum;

string_enum! {
    /// Status of a pipeline.
    PipelineStatus {
        /// Accepts documents and questions.
        Active = "active",
        /// A new index is being built; the old one is active.
        Reindexing = "reindexing",
        /// Being deleted.
        Deleting = "deleting",
    }
}

string_enum! {
    /// Status of a document.
    #[schemars(rename = "DocumentStatus")]
    Status {
        /// Waiting for a worker.
        Queued = "queued",
        /// Text is being extracted.
        Parsing = "parsing",
        /// Text is being split.
        Splitting = "splitting",
        /// Chunks are being embedded.
        Embedding = "embedding",
        /// Chunks are being stored.
        Indexing = "indexing",
        /// Searchable.
        Ready = "ready",
        /// Ingestion failed; see the failure.
        Failed = "failed",
        /// Ingestion was cancelled.
        Cancelled = "cancelled",
        /// Being deleted.
        Deleting = "deleting",
    }
}

impl Status {
    /// Returns true if the status changes only on request.
    pub fn is_terminal(self) -> bool {
        matches!(self, Status::Ready | Status::Failed | Status::Cancelled)
    }
}

/// A document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// A UUID of version 7.
    pub id: String,
    /// The pipeline.
    pub pipeline_id: String,
    /// The mail of which the document is an attachment.
    pub parent_id: Option<String>,
    /// Classification, one of the pipeline's.
    pub classification: String,
    /// Id assigned by the caller.
    pub external_id: Option<String>,
    /// The name of the file.
    pub filename: String,
    /// Media type from the caller, then the detected one.
    pub content_type: String,
    /// Size in bytes.
    pub size: i64,
    /// SHA-256 of the content in hexadecimal.
    pub sha256: String,
    /// Metadata of the caller, usable in filters.
    pub metadata: Map<String, Value>,
    /// Content revision, from 1.
    pub revision: i64,
    /// Status.
    pub status: Status,
    /// The searchable revision.
    pub searchable_revision: Option<i64>,
    /// Number of attempts.
    pub attempts: i64,
    /// Progress of the ingestion.
    pub progress: Progress,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

/// Progress and result of an ingestion.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Progress {
    /// Completed units of the stage.
    pub done: i64,
    /// Total units of the stage.
    pub total: Option<i64>,
    /// Last failure.
    pub failure: Option<Failure>,
    /// Warnings.
    pub warnings: Vec<String>,
    /// Number of chunks.
    pub chunk_count: Option<i64>,
    /// Number of pages.
    pub page_count: Option<i64>,
    /// Pages whose text was recognized (OCR), if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text_recognition: Option<TextRecognition>,
    /// Next attempt, in milliseconds since 1970.
    pub next_attempt_at: Option<i64>,
}

/// Pages of a document whose text was recognized in images (OCR).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct TextRecognition {
    /// Programs and data that recognized the text, with their versions.
    pub recognizer: String,
    /// Number of these pages.
    pub pages: i64,
    /// Mean confidence of these pages in percent.
    pub mean_confidence: i64,
    /// Confidence of the page with the lowest one, in percent.
    pub lowest_confidence: i64,
}

/// Failure of an ingestion.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "IngestionFailure")]
pub struct Failure {
    /// The stage, such as `parsing`.
    pub stage: String,
    /// Machine-readable code.
    pub code: String,
    /// Human-readable message.
    pub message: String,
    /// True if a retry may succeed.
    pub retryable: bool,
    /// Number of the attempt.
    pub attempt: i64,
}

/// A chunk of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// Character range; none if the splitter composed it from several parts of the text.
    pub char_range: Option<(i64, i64)>,
    /// Byte range.
    pub byte_range: Option<(i64, i64)>,
    /// Text between the previous chunk and this one, where they do not touch.
    pub gap: Option<String>,
    /// First page, from 1.
    pub page: Option<i64>,
    /// Headings, outermost first.
    pub headings: Vec<String>,
    /// Text.
    pub content: String,
    /// Equipment tags in the text.
    pub tags: Vec<String>,
    /// Vector as little-endian `f32` values.
    pub vector: Vec<u8>,
}

impl Pipeline {
    /// Returns true if title and headings are part of the indexed text of a chunk.
    pub fn has_chunk_header(&self) -> bool {
        self.options.chunk_header.unwrap_or(true)
    }

    /// Returns the entity tag of its state.
    pub fn etag(&self) -> String {
        format!("{}-{}", self.id, self.revision)
    }
}

/// Document counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DocumentCounts {
    /// All documents.
    pub total: i64,
    /// Ready documents.
    pub ready: i64,
    /// Failed or cancelled documents.
    pub failed: i64,
}

impl DocumentCounts {
    /// Adds documents of a status.
    pub fn add(&mut self, status: &str, documents: i64) {
        self.total += documents;
        match Status::parse(status) {
            Some(Status::Ready) => self.ready += documents,
            Some(Status::Failed | Status::Cancelled) => self.failed += documents,
            _ => {}
        }
    }
}

impl Document {
    /// Returns its pipeline and id, by which statements find it.
    pub fn key(&self) -> (&str, &str) {
        (&self.pipeline_id, &self.id)
    }

    /// Returns the entity tag of its state.
    pub fn etag(&self) -> String {
        format!("{}-{}-{}", self.id, self.revision, self.updated_at)
    }

    /// Returns the entity tag of its content.
    pub fn content_etag(&self) -> String {
        format!("{}-{}", self.revision, &self.sha256[..16.min(self.sha256.len())])
    }
}

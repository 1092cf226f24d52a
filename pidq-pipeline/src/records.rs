//! Pipelines and documents: what is stored of them, and how they are shown.

use pidq_http::auth::Moment;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::search::context;

/// A collection of documents with its configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// A UUID of version 7.
    pub id: String,
    /// Unique among all pipelines.
    pub name: String,
    /// Counts changes from 1.
    pub revision: i64,
    /// The name of a row of the embedding models.
    pub embedding_model: String,
    /// How many numbers a vector has.
    pub embedding_dimensions: i64,
    /// The name of a row of the splitters.
    pub text_splitter: String,
    /// All its parameters, the defaults too.
    pub splitter_parameters: Map<String, Value>,
    /// The labels that documents and queries may have.
    pub classifications: Vec<String>,
    /// What else was said.
    pub options: Options,
    /// What it is doing.
    pub status: PipelineStatus,
    /// Which of its indexes answers.
    pub generation: i64,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

/// What may be said of a pipeline, and need not.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// For people.
    pub description: Option<String>,
    /// For programs; nothing here reads it.
    pub metadata: Map<String, Value>,
    /// How queries search when they do not say.
    pub retrieval: Retrieval,
    /// Whether title and headings are searched with the text of a chunk.
    pub chunk_header: Option<bool>,
    /// What holds for a label alone.
    pub policies: Map<String, Value>,
}

/// How to search.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retrieval {
    /// `hybrid`, `dense` or `sparse`.
    pub mode: Option<String>,
    /// How many chunks.
    pub top_k: Option<u32>,
    /// How good a chunk must be.
    pub min_score: Option<f64>,
}

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$what:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        pub enum $name {
            $($(#[$what])* $variant),*
        }

        impl $name {
            /// All of them.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// Its name in the database and on the wire.
            pub fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word),*
                }
            }

            /// The one of a name.
            pub fn of_word(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|known| known.word() == word)
            }
        }
    };
}

pub(crate) use words;

words! {
    /// What a pipeline is doing.
    PipelineStatus {
        /// It takes documents and answers.
        Active = "active",
        /// Another index of it is made; the one that it has answers.
        Reindexing = "reindexing",
        /// It is going away.
        Deleting = "deleting",
    }
}

words! {
    /// Where a document is on its way.
    Status {
        /// It waits for a worker.
        Queued = "queued",
        /// Its text is read.
        Parsing = "parsing",
        /// Its text is split.
        Splitting = "splitting",
        /// Its chunks get vectors.
        Embedding = "embedding",
        /// Its chunks are stored.
        Indexing = "indexing",
        /// Queries find it.
        Ready = "ready",
        /// It cannot be read; the failure says why.
        Failed = "failed",
        /// Somebody ended the work on it.
        Cancelled = "cancelled",
        /// It is going away.
        Deleting = "deleting",
    }
}

impl Status {
    /// Whether nothing happens any more unless somebody asks.
    pub fn is_terminal(self) -> bool {
        matches!(self, Status::Ready | Status::Failed | Status::Cancelled)
    }
}

/// A document.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// A UUID of version 7.
    pub id: String,
    /// The pipeline that it is in.
    pub pipeline_id: String,
    /// Its label, one of the pipeline's.
    pub classification: String,
    /// What the caller knows it by.
    pub external_id: Option<String>,
    /// The name of the file.
    pub filename: String,
    /// The media type that the caller named, until the content tells.
    pub content_type: String,
    /// Bytes.
    pub size: i64,
    /// Of the bytes, as hexadecimal digits.
    pub sha256: String,
    /// What the caller says of it; queries may filter by it.
    pub metadata: Map<String, Value>,
    /// Counts contents from 1.
    pub revision: i64,
    /// Where it is on its way.
    pub status: Status,
    /// The revision that queries find.
    pub searchable_revision: Option<i64>,
    /// How often it was begun.
    pub attempts: i64,
    /// What whoever works on it says.
    pub progress: Progress,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

/// How far the work on a document is, and what came of it.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(default)]
pub struct Progress {
    /// How much of the stage is done.
    pub done: i64,
    /// Of how much.
    pub total: Option<i64>,
    /// Why it failed, the last time.
    pub failure: Option<Failure>,
    /// What was odd about it.
    pub warnings: Vec<String>,
    /// How many chunks it has.
    pub chunk_count: Option<i64>,
    /// How many pages it has.
    pub page_count: Option<i64>,
    /// When it is tried again, in milliseconds since 1970.
    pub next_attempt_at: Option<i64>,
}

/// Why a document failed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Failure {
    /// The stage.
    pub stage: String,
    /// What programs look at.
    pub code: String,
    /// What people read.
    pub message: String,
    /// Whether trying again may help.
    pub retryable: bool,
    /// Which attempt it was.
    pub attempt: i64,
}

/// A chunk of a document, as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// Where it begins and ends, in characters; nothing if it is made of parts from all over the text.
    pub place: Option<(i64, i64)>,
    /// The same in bytes.
    pub bytes: Option<(i64, i64)>,
    /// What stands between the chunk before and this one, where they do not touch.
    pub gap: Option<String>,
    /// The page that it begins on, from 1.
    pub page: Option<i64>,
    /// The headings that it stands under, outermost first.
    pub headings: Vec<String>,
    /// What it says.
    pub content: String,
    /// The tags in it.
    pub tags: Vec<String>,
    /// What it means, as little-endian numbers of four bytes.
    pub vector: Vec<u8>,
}

impl Pipeline {
    /// Whether title and headings are searched with the text of a chunk.
    pub fn has_chunk_header(&self) -> bool {
        self.options.chunk_header.unwrap_or(true)
    }

    /// What is searched with the text of a chunk: title and headings, or nothing.
    pub fn context(&self, title: &str, headings: &[String]) -> String {
        if !self.has_chunk_header() {
            return String::new();
        }
        context(title, headings.iter().map(String::as_str))
    }

    /// The validator of its state.
    pub fn etag(&self) -> String {
        format!("{}-{}", self.id, self.revision)
    }

    /// As the interface shows it to somebody who sees these labels, with the counts of their documents.
    pub fn show(&self, classifications: &[String], counts: &Counts) -> Value {
        let policies = self.options.policies.iter().filter(|(label, _)| classifications.contains(label));
        let policies: Map<String, Value> = policies.map(|(label, policy)| (label.clone(), policy.clone())).collect();
        json!({
            "id": self.id, "name": self.name,
            "embedding_model": self.embedding_model, "embedding_dimensions": self.embedding_dimensions,
            "text_splitter": self.text_splitter, "text_splitter_params": self.splitter_parameters,
            "classifications": classifications,
            "description": self.options.description, "metadata": self.options.metadata,
            "retrieval": self.options.retrieval, "chunk_header": self.has_chunk_header(),
            "policies": policies,
            "status": self.status.word(), "document_counts": counts.show(),
            "created_at": rfc3339(self.created_at), "updated_at": rfc3339(self.updated_at), "revision": self.revision,
        })
    }
}

/// How many documents there are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// All of them.
    pub total: i64,
    /// Those that are ready.
    pub ready: i64,
    /// Those that failed or were cancelled.
    pub failed: i64,
}

impl Counts {
    fn show(&self) -> Value {
        let processing = self.total - self.ready - self.failed;
        json!({"total": self.total, "ready": self.ready, "processing": processing, "failed": self.failed})
    }

    /// Counts documents of a status.
    pub fn add(&mut self, status: &str, documents: i64) {
        self.total += documents;
        match Status::of_word(status) {
            Some(Status::Ready) => self.ready += documents,
            Some(Status::Failed | Status::Cancelled) => self.failed += documents,
            _ => {}
        }
    }
}

impl Document {
    /// The validator of its state.
    pub fn etag(&self) -> String {
        format!("{}-{}-{}", self.id, self.revision, self.updated_at)
    }

    /// The validator of its content.
    pub fn content_etag(&self) -> String {
        format!("{}-{}", self.revision, &self.sha256[..16.min(self.sha256.len())])
    }

    /// As the interface shows it.
    pub fn show(&self) -> Value {
        json!({
            "id": self.id, "pipeline_id": self.pipeline_id, "filename": self.filename,
            "content_type": self.content_type, "size": self.size, "sha256": self.sha256,
            "classification": self.classification, "external_id": self.external_id, "metadata": self.metadata,
            "revision": self.revision, "status": self.status.word(), "terminal": self.status.is_terminal(),
            "searchable": self.searchable_revision.is_some(), "searchable_revision": self.searchable_revision,
            "progress": {"stage": self.status.word(), "done": self.progress.done, "total": self.progress.total},
            "attempts": self.attempts, "next_attempt_at": self.progress.next_attempt_at.map(rfc3339),
            "error": self.progress.failure, "chunk_count": self.progress.chunk_count,
            "page_count": self.progress.page_count, "warnings": self.progress.warnings,
            "created_at": rfc3339(self.created_at), "updated_at": rfc3339(self.updated_at),
        })
    }
}

fn rfc3339(milliseconds: i64) -> String {
    Moment(milliseconds).to_rfc3339()
}

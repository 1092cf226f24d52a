//! `GET /api/limits`: limits and current usage of the platform, and the settings of request limits.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pidq_extract::{AttachmentLimits, SandboxOptions};
use pidq_http::{MemorySize, Problem, Request, Response, SettingError, Settings, Size, settings};
use pidq_store::domain::license::LicenseLimits;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::api::handlers::documents::PARTS;
use crate::api::quota::Usage;
use crate::platform::{Limits, MAX_PAGE_SIZE, Platform};

/// Upper bound of the setting for the size of JSON bodies, in bytes.
pub(crate) const MAX_JSON_SIZE: u64 = 64 << 20;

settings! {
    /// Settings that limit a request and the extraction of a document.
    pub SETTINGS {
        pub(crate) JSON_SIZE: Size = ("PIDQ_JSON_SIZE", "config.limits.jsonSize", "Maximum size of a JSON body, up to 64 MiB.") or "1MiB";
        pub(crate) UPLOAD_SIZE: Size = ("PIDQ_UPLOAD_SIZE", "config.limits.uploadSize", "Maximum size of a document.") or "100MiB";
        pub(crate) QUESTION_LENGTH_LIMIT: usize = ("PIDQ_QUESTION_LENGTH_LIMIT", "config.limits.questionLength", "Maximum length of a question, in characters.") or "8000";
        pub(crate) METADATA_SIZE: MemorySize = ("PIDQ_METADATA_SIZE", "config.limits.metadataSize", "Maximum size of a document's metadata, as JSON.") or "16KiB";
        pub(crate) CLASSIFICATION_LIMIT: usize = ("PIDQ_CLASSIFICATION_LIMIT", "config.limits.classifications", "Maximum number of classifications of a pipeline.") or "64";
        pub(crate) CHUNK_LIMIT: usize = ("PIDQ_CHUNK_LIMIT", "config.limits.chunks", "Maximum number of chunks of a document.") or "200000";
        pub(crate) EXTRACTION_TIMEOUT: Duration = ("PIDQ_EXTRACTION_TIMEOUT", "config.limits.extractionTimeout", "Wall-clock and CPU time limit for extracting one document, without text recognition.") or "120s";
        pub(crate) TEXT_LENGTH_LIMIT: usize = ("PIDQ_TEXT_LENGTH_LIMIT", "config.limits.textLength", "Maximum length of a document's text, in characters.") or "50000000";
        pub(crate) ARCHIVE_SIZE: Size = ("PIDQ_ARCHIVE_SIZE", "config.limits.archiveSize", "Maximum unpacked size of a document that is an archive.") or "1GiB";
        pub(crate) ARCHIVE_RATIO: u64 = ("PIDQ_ARCHIVE_RATIO", "config.limits.archiveRatio", "Maximum compression ratio of an archive.") or "200";
        pub(crate) ARCHIVE_ENTRY_LIMIT: usize = ("PIDQ_ARCHIVE_ENTRY_LIMIT", "config.limits.archiveEntries", "Maximum number of files in an archive.") or "10000";
        pub(crate) MAIL_ATTACHMENT_LIMIT: usize = ("PIDQ_MAIL_ATTACHMENT_LIMIT", "config.limits.mailAttachments", "Maximum number of attachments of a mail that become documents of their own; 0 only names them in the warnings of the mail. For a mail that is an attachment itself, it is a tenth, and a hundredth in the next level.") or "100";
    }
}

/// Returns the limits of the extractor.
pub(crate) fn extraction_limits(settings: &Settings) -> Result<pidq_extract::Options, SettingError> {
    Ok(pidq_extract::Options {
        max_characters: settings.get(&TEXT_LENGTH_LIMIT)?,
        max_unpacked_size: settings.get(&ARCHIVE_SIZE)?,
        max_compression_ratio: settings.get(&ARCHIVE_RATIO)?,
        max_entries: settings.get(&ARCHIVE_ENTRY_LIMIT)?,
        ..pidq_extract::Options::default()
    })
}

/// Maximum size of the attachments of a mail together, which are in memory while the mail is ingested.
const MAX_ATTACHMENTS_SIZE: u64 = 256 << 20;

/// Returns the limits of the attachments of a mail.
pub(crate) fn attachment_limits(settings: &Settings) -> Result<AttachmentLimits, SettingError> {
    let size = settings.get(&UPLOAD_SIZE)?.min(MAX_ATTACHMENTS_SIZE);
    Ok(AttachmentLimits { count: settings.get(&MAIL_ATTACHMENT_LIMIT)?, size })
}

/// Sets the wall-clock and CPU time limits of the extractor.
pub(crate) fn with_timeout(sandbox: SandboxOptions, settings: &Settings) -> Result<SandboxOptions, SettingError> {
    let timeout = settings.get(&EXTRACTION_TIMEOUT)?;
    Ok(SandboxOptions { timeout, cpu_seconds: timeout.as_secs().max(1), ..sandbox })
}

/// Returns the limits that appear in JSON schemas, by the setting's name in their `$comment`.
pub(crate) fn schema_limits(limits: &Limits) -> Vec<(&'static str, u64)> {
    vec![
        (QUESTION_LENGTH_LIMIT.env(), limits.question_length as u64),
        (CLASSIFICATION_LIMIT.env(), limits.classifications as u64),
    ]
}

/// Limits of the platform, and the current usage.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Limits")]
pub(crate) struct LimitsResponse {
    /// Size of a document, in bytes.
    upload_bytes: u64,
    /// Ids in a bulk deletion.
    documents_deleted_at_once: usize,
    /// Size of a JSON body, in bytes.
    json_bytes: u64,
    /// Length of a question, in characters.
    question_characters: usize,
    /// Limits of a form.
    multipart: FormLimits,
    /// Pipelines.
    pipelines: u64,
    /// Classifications of a pipeline.
    classifications: usize,
    /// Size of a document's metadata as JSON, in bytes.
    metadata_bytes: usize,
    /// Length of a document's text, in characters.
    text_characters: usize,
    /// Chunks of a document.
    chunks: usize,
    /// Attachments of a mail that become documents.
    mail_attachments: usize,
    /// Limits of documents that are archives.
    archives: ArchiveLimits,
    /// Time limit of the extraction of a document, in seconds.
    extraction_timeout_seconds: u64,
    /// Rows of a page.
    page: usize,
    /// Streams at a time.
    streams: StreamLimits,
    /// Limits of an HTTP request.
    request: RequestLimits,
    /// Requests per minute of a caller, by kind. Kinds without a limit are absent.
    #[schemars(with = "BTreeMap<String, u64>")]
    requests_per_minute: Map<String, Value>,
    /// Retention of answers, in seconds; 0 if they are not stored.
    answer_retention_seconds: u64,
    /// Limits of the license.
    license: LicenseLimits,
    /// Usage that counts toward the limits. Null for a restricted key.
    usage: Option<Usage>,
}

/// Limits of a form.
#[derive(JsonSchema, Serialize)]
struct FormLimits {
    /// Parts.
    parts: usize,
    /// Size of the headers of a part, in bytes.
    header_bytes: usize,
}

/// Limits of documents that are archives.
#[derive(JsonSchema, Serialize)]
struct ArchiveLimits {
    /// Unpacked size, in bytes.
    unpacked_bytes: u64,
    /// Compression ratio.
    ratio: u64,
    /// Files in the archive.
    entries: usize,
}

/// Limits of streams.
#[derive(JsonSchema, Serialize)]
struct StreamLimits {
    /// Streamed answers.
    answers: usize,
    /// Event streams.
    events: usize,
}

/// Limits of an HTTP request.
#[derive(JsonSchema, Serialize)]
struct RequestLimits {
    /// Time limit of the head, in seconds.
    head_seconds: u64,
    /// Size of the head, in bytes.
    head_bytes: usize,
    /// Headers.
    headers: usize,
    /// Time after which the minimum rate of the body applies, in seconds.
    body_grace_seconds: u64,
    /// Minimum rate of the body, in bytes per second.
    body_bytes_per_second: u64,
    /// Time limit between parts of the body, in seconds.
    body_idle_seconds: u64,
    /// Time limit of the body, in seconds.
    body_seconds: u64,
    /// Time limit between parts of the response, in seconds.
    write_timeout_seconds: u64,
}

impl From<&pidq_http::Limits> for RequestLimits {
    fn from(http: &pidq_http::Limits) -> RequestLimits {
        RequestLimits {
            head_seconds: http.head_timeout.as_secs(),
            head_bytes: http.head_size,
            headers: http.header_limit,
            body_grace_seconds: http.body_grace.as_secs(),
            body_bytes_per_second: http.body_rate,
            body_idle_seconds: http.body_idle_timeout.as_secs(),
            body_seconds: http.body_timeout.as_secs(),
            write_timeout_seconds: http.write_timeout.as_secs(),
        }
    }
}

/// `GET /api/limits`.
pub(crate) async fn show(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (limits, extraction) = (&platform.limits, &platform.ingestion.extraction_limits);
    Response::json(&LimitsResponse {
        upload_bytes: limits.upload_size,
        documents_deleted_at_once: MAX_PAGE_SIZE,
        json_bytes: limits.http.json_body_size.min(MAX_JSON_SIZE),
        question_characters: limits.question_length,
        multipart: FormLimits { parts: PARTS.parts, header_bytes: PARTS.headers },
        pipelines: limits.pipelines,
        classifications: limits.classifications,
        metadata_bytes: limits.metadata_size,
        text_characters: extraction.max_characters,
        chunks: limits.chunks_per_document,
        mail_attachments: limits.attachments.count,
        archives: ArchiveLimits {
            unpacked_bytes: extraction.max_unpacked_size,
            ratio: extraction.max_compression_ratio,
            entries: extraction.max_entries,
        },
        extraction_timeout_seconds: platform.ingestion.extractor.timeout.as_secs(),
        page: MAX_PAGE_SIZE,
        streams: StreamLimits { answers: limits.answer_streams, events: limits.event_streams },
        request: RequestLimits::from(&limits.http),
        requests_per_minute: platform.access.rate_limits.per_minute(),
        answer_retention_seconds: limits.answer_retention.as_secs(),
        license: platform.licensing.state().license().map(|license| license.limits).unwrap_or_default(),
        usage: Usage::for_caller(platform, &request).await?,
    })
}

//! `GET /api/limits`: limits and current usage of the platform, and the settings of request limits.

use std::sync::Arc;

use pidq_extract::{self, SandboxOptions};
use pidq_http::{Problem, Request, Response, Setting, SettingError, Settings, ValueKind, settings};
use serde_json::json;

use crate::api::handlers::documents::PARTS;
use crate::api::quota::Usage;
use crate::platform::{Limits, MAX_PAGE_SIZE, Platform};

/// Upper bound of the setting for the size of JSON bodies, in bytes.
pub(crate) const MAX_JSON_SIZE: u64 = 64 << 20;

/// Settings that limit a request and the extraction of a document.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_JSON_SIZE", "config.limits.jsonSize", ValueKind::Size, Some("1MiB"), false, "Maximum size of a JSON body, up to 64 MiB.";
    "PIDQ_QUESTION_LENGTH_LIMIT", "config.limits.questionLength", ValueKind::Number, Some("8000"), false, "Maximum length of a question, in characters.";
    "PIDQ_METADATA_SIZE", "config.limits.metadataSize", ValueKind::Size, Some("16KiB"), false, "Maximum size of a document's metadata, as JSON.";
    "PIDQ_CLASSIFICATION_LIMIT", "config.limits.classifications", ValueKind::Number, Some("64"), false, "Maximum number of classifications of a pipeline.";
    "PIDQ_CHUNK_LIMIT", "config.limits.chunks", ValueKind::Number, Some("200000"), false, "Maximum number of chunks of a document.";
    "PIDQ_EXTRACTION_TIMEOUT", "config.limits.extractionTimeout", ValueKind::Duration, Some("120s"), false, "Wall-clock and CPU time limit for extracting one document.";
    "PIDQ_TEXT_LENGTH_LIMIT", "config.limits.textLength", ValueKind::Number, Some("50000000"), false, "Maximum length of a document's text, in characters.";
    "PIDQ_ARCHIVE_SIZE", "config.limits.archiveSize", ValueKind::Size, Some("1GiB"), false, "Maximum unpacked size of a document that is an archive.";
    "PIDQ_ARCHIVE_RATIO", "config.limits.archiveRatio", ValueKind::Number, Some("200"), false, "Maximum compression ratio of an archive.";
    "PIDQ_ARCHIVE_ENTRY_LIMIT", "config.limits.archiveEntries", ValueKind::Number, Some("10000"), false, "Maximum number of files in an archive.";
];

/// Returns the limits of the extractor.
pub(crate) fn extraction_limits(settings: &Settings) -> Result<pidq_extract::Options, SettingError> {
    Ok(pidq_extract::Options {
        max_characters: settings.parsed("PIDQ_TEXT_LENGTH_LIMIT")?,
        max_unpacked_size: settings.size("PIDQ_ARCHIVE_SIZE")?,
        max_compression_ratio: settings.parsed("PIDQ_ARCHIVE_RATIO")?,
        max_entries: settings.parsed("PIDQ_ARCHIVE_ENTRY_LIMIT")?,
        ..pidq_extract::Options::with_installed_tools()
    })
}

/// Sets the wall-clock and CPU time limits of the extractor.
pub(crate) fn with_timeout(sandbox: SandboxOptions, settings: &Settings) -> Result<SandboxOptions, SettingError> {
    let timeout = settings.duration("PIDQ_EXTRACTION_TIMEOUT")?;
    Ok(SandboxOptions { timeout, cpu_seconds: timeout.as_secs().max(1), ..sandbox })
}

/// Returns the limits that appear in JSON schemas, by the setting's name in their `$comment`.
pub(crate) fn schema_limits(limits: &Limits) -> Vec<(&'static str, u64)> {
    vec![
        ("PIDQ_QUESTION_LENGTH_LIMIT", limits.question_length as u64),
        ("PIDQ_CLASSIFICATION_LIMIT", limits.classifications as u64),
    ]
}

/// `GET /api/limits`.
pub(crate) async fn show(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (extraction, http) = (&platform.ingestion.extraction_limits, &platform.limits.http);
    let license_limits = platform.licensing.state().license().map(|license| license.limits).unwrap_or_default();
    Response::json(&json!({
        "upload_bytes": platform.limits.upload_size,
        "documents_deleted_at_once": MAX_PAGE_SIZE,
        "json_bytes": http.json_body_size.min(MAX_JSON_SIZE),
        "question_characters": platform.limits.question_length,
        "multipart": {"parts": PARTS.parts, "header_bytes": PARTS.headers},
        "pipelines": platform.limits.pipelines,
        "classifications": platform.limits.classifications,
        "metadata_bytes": platform.limits.metadata_size,
        "text_characters": extraction.max_characters,
        "chunks": platform.limits.chunks_per_document,
        "archives": {"unpacked_bytes": extraction.max_unpacked_size, "ratio": extraction.max_compression_ratio, "entries": extraction.max_entries},
        "extraction_timeout_seconds": platform.ingestion.extractor.timeout.as_secs(),
        "page": MAX_PAGE_SIZE,
        "streams": {"answers": platform.limits.answer_streams, "events": platform.limits.event_streams},
        "request": {
            "head_seconds": http.head_timeout.as_secs(), "head_bytes": http.head_size, "headers": http.header_limit,
            "body_grace_seconds": http.body_grace.as_secs(), "body_bytes_per_second": http.body_rate,
            "body_idle_seconds": http.body_idle_timeout.as_secs(),
            "body_seconds": http.body_timeout.as_secs(), "write_timeout_seconds": http.write_timeout.as_secs(),
        },
        "requests_per_minute": platform.access.rate_limits.to_json(),
        "answer_retention_seconds": platform.limits.answer_retention.as_secs(),
        "license": license_limits,
        "usage": Usage::for_caller(platform, &request).await?,
    }))
}

//! `GET /api/limits`: how much of everything there may be, and how much there is.

use std::sync::Arc;

use pidq_http::{Kind, Problem, Request, Response, Setting, SettingError, Settings, settings};
use serde_json::json;

use crate::documents::PARTS;
use crate::extract::{self, Isolation};
use crate::platform::{LONGEST_PAGE, Limits, Platform};
use crate::routes::JSON_BODY;
use crate::usage::Usage;

/// How much of everything there may be in a request, and how much may be read of a document.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_JSON_SIZE", "config.limits.json", Kind::Size, Some("1MiB"), false, "The largest JSON body; 64 MiB at most.";
    "PIDQ_QUERY_CHARACTERS", "config.limits.queryCharacters", Kind::Number, Some("8000"), false, "The longest question.";
    "PIDQ_METADATA_SIZE", "config.limits.metadata", Kind::Size, Some("16KiB"), false, "The largest metadata of a document, as JSON.";
    "PIDQ_MAX_CLASSIFICATIONS", "config.limits.classifications", Kind::Number, Some("64"), false, "How many classifications a pipeline may have.";
    "PIDQ_MAX_CHUNKS", "config.limits.chunks", Kind::Number, Some("200000"), false, "How many chunks a document may become.";
    "PIDQ_PARSE_TIME", "config.limits.parseTime", Kind::Duration, Some("120s"), false, "How long a document may be read, and how much time of a processor that may take.";
    "PIDQ_TEXT_CHARACTERS", "config.limits.textCharacters", Kind::Number, Some("50000000"), false, "The longest text of a document.";
    "PIDQ_ARCHIVE_SIZE", "config.limits.archiveSize", Kind::Size, Some("1GiB"), false, "What a document that is an archive may unpack to.";
    "PIDQ_ARCHIVE_RATIO", "config.limits.archiveRatio", Kind::Number, Some("200"), false, "How many bytes a byte of it may become.";
    "PIDQ_ARCHIVE_ENTRIES", "config.limits.archiveEntries", Kind::Number, Some("10000"), false, "How many files it may have.";
];

/// What a reader of documents may spend.
pub(crate) fn of_reader(settings: &Settings) -> Result<extract::Options, SettingError> {
    Ok(extract::Options {
        characters: settings.parsed("PIDQ_TEXT_CHARACTERS")?,
        unpacked: settings.size("PIDQ_ARCHIVE_SIZE")?,
        ratio: settings.parsed("PIDQ_ARCHIVE_RATIO")?,
        entries: settings.parsed("PIDQ_ARCHIVE_ENTRIES")?,
        ..extract::Options::of_this_machine()
    })
}

/// The same reader, with the time that it has.
pub(crate) fn timed(isolation: Isolation, settings: &Settings) -> Result<Isolation, SettingError> {
    let time = settings.duration("PIDQ_PARSE_TIME")?;
    Ok(Isolation { time, processor: time.as_secs().max(1), ..isolation })
}

/// Those that stand in schemas, by the names that stand beside them.
pub(crate) fn in_schemas(limits: &Limits) -> Vec<(&'static str, u64)> {
    vec![("PIDQ_QUERY_CHARACTERS", limits.question as u64), ("PIDQ_MAX_CLASSIFICATIONS", limits.labels as u64)]
}

/// `GET /api/limits`.
pub(crate) async fn show(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (read, http) = (&platform.extraction, &platform.limits.http);
    let licensed = platform.licensing.state().licence().map(|licence| licence.limits).unwrap_or_default();
    Response::json(&json!({
        "upload_bytes": platform.limits.upload,
        "documents_deleted_at_once": LONGEST_PAGE,
        "json_bytes": http.json_body.min(JSON_BODY),
        "query_characters": platform.limits.question,
        "multipart": {"parts": PARTS.parts, "header_bytes": PARTS.headers},
        "pipelines": platform.limits.pipelines,
        "classifications": platform.limits.labels,
        "metadata_bytes": platform.limits.metadata,
        "text_characters": read.characters,
        "chunks": platform.limits.chunks,
        "archives": {"unpacked_bytes": read.unpacked, "ratio": read.ratio, "entries": read.entries},
        "parse_seconds": platform.isolation.time.as_secs(),
        "page": LONGEST_PAGE,
        "streams": {"answers": platform.limits.answer_streams, "events": platform.limits.event_streams},
        "request": {
            "head_seconds": http.head_time.as_secs(), "head_bytes": http.head_size, "headers": http.headers,
            "body_grace_seconds": http.body_grace.as_secs(), "body_bytes_per_second": http.body_rate,
            "body_idle_seconds": http.body_idle.as_secs(),
            "body_seconds": http.body_time.as_secs(), "write_stall_seconds": http.write_stall.as_secs(),
        },
        "requests_per_minute": platform.rates.show(),
        "queries_kept_seconds": platform.limits.retention.as_secs(),
        "license": licensed,
        "usage": Usage::for_caller(platform, &request).await?,
    }))
}

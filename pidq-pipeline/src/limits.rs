//! `GET /api/limits`: how much of everything there may be, and how much there is.

use std::sync::Arc;

use pidq_http::{Problem, Response};
use serde_json::json;

use crate::documents::{METADATA, PARTS};
use crate::ingest::MOST_CHUNKS;
use crate::pipelines::LABELS;
use crate::platform::{LONGEST_PAGE, Platform};
use crate::questions::LONGEST;
use crate::routes::JSON_BODY;
use crate::usage::Usage;

pub(crate) async fn show(platform: &Arc<Platform>) -> Result<Response, Problem> {
    let read = &platform.extraction;
    let licensed = platform.licensing.state().licence().map(|licence| licence.limits).unwrap_or_default();
    Response::json(&json!({
        "upload_bytes": platform.limits.upload,
        "documents_deleted_at_once": LONGEST_PAGE,
        "json_bytes": JSON_BODY,
        "query_characters": LONGEST,
        "multipart": {"parts": PARTS.parts, "header_bytes": PARTS.headers},
        "pipelines": platform.limits.pipelines,
        "classifications": LABELS,
        "metadata_bytes": METADATA,
        "text_characters": read.characters,
        "chunks": MOST_CHUNKS,
        "archives": {"unpacked_bytes": read.unpacked, "ratio": read.ratio, "entries": read.entries},
        "page": LONGEST_PAGE,
        "requests_per_minute": platform.rates.show(),
        "queries_kept_seconds": platform.limits.retention.as_secs(),
        "license": licensed,
        "usage": Usage::of(platform).await?,
    }))
}

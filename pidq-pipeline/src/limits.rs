//! `GET /api/limits`: how much of everything there may be.

use pidq_http::{Problem, Response};
use serde_json::json;

use crate::documents::METADATA;
use crate::pipelines::LABELS;
use crate::platform::{LONGEST_PAGE, Platform};

pub(crate) fn show(platform: &Platform) -> Result<Response, Problem> {
    Response::json(&json!({
        "upload_bytes": platform.limits.upload,
        "documents_deleted_at_once": LONGEST_PAGE,
        "pipelines": platform.limits.pipelines,
        "classifications": LABELS,
        "metadata_bytes": METADATA,
        "page": LONGEST_PAGE,
        "requests_per_minute": platform.rates.show(),
    }))
}

//! `GET /api/limits`: how much of everything there may be.

use pidq_http::{Problem, Response};
use serde_json::json;

use crate::platform::Platform;

pub(crate) fn show(platform: &Platform) -> Result<Response, Problem> {
    Response::json(&json!({
        "upload_bytes": platform.limits.upload,
        "pipelines": platform.limits.pipelines,
        "classifications": 64,
        "metadata_bytes": 16 << 10,
        "page": 200,
    }))
}

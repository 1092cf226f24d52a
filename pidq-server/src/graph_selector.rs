//! Graph and version that a request selects, and the version headers of its response.

use std::time::{Duration, UNIX_EPOCH};

use pidq_http::{Problem, Request, Response, StatusCode, codes, header};
use schemars::JsonSchema;
use serde_json::json;

use crate::problems::problem;
use crate::store::{GRAPH_ID_PATTERN, GraphId, GraphMeta, Version, VersionSelector};

/// Returns the graph id of the request path.
pub(crate) fn graph_id(request: &Request) -> Result<GraphId, Problem> {
    // An undecodable path segment is reported as an invalid id.
    GraphId::parse(request.path("job_id").unwrap_or_default()).map_err(problem)
}

/// Returns the requested version. Responds with 406 if the requested schema version is unsupported.
pub(crate) fn version_selector(request: &Request) -> Result<VersionSelector, Problem> {
    let schema = request.head.header(SCHEMA_VERSION).unwrap_or(SCHEMA);
    // Clients accept any schema with the same major version.
    if schema.trim().split('.').next() != Some(SCHEMA) {
        let detail = "This schema version is not supported.";
        let problem =
            Problem::with_status(codes::UNSUPPORTED_SCHEMA_VERSION, StatusCode::NOT_ACCEPTABLE).detail(detail);
        return Err(problem.with("allowed", json!([SCHEMA])));
    }
    let form = request.query()?;
    match (request.head.header(CHANGE_VERSION).map(str::trim), form.single("change_version")?) {
        (Some(header), Some(parameter)) if header != parameter => Err(version_mismatch()),
        (None, None) => Ok(VersionSelector::Latest),
        (Some(version), _) | (None, Some(version)) => Ok(VersionSelector::Version(Version::named(version))),
    }
}

fn version_mismatch() -> Problem {
    let detail = "`X-Change-Version` and `change_version` name different versions.";
    Problem::new(codes::INVALID_PARAMETER).detail(detail).with("parameter", "change_version")
}

/// Adds the version headers.
pub(crate) fn with_version_headers(response: Response, meta: &GraphMeta) -> Response {
    let changed = UNIX_EPOCH + Duration::from_millis(meta.created_on.0.unsigned_abs());
    response
        .etag(meta.etag().as_str())
        .header(header::LAST_MODIFIED, httpdate::fmt_http_date(changed))
        .header(header::ACCEPT_RANGES, "none")
        .header(CHANGE_VERSION, meta.version.as_str())
}

/// Graph id in a path or a body; it is parsed as a [`GraphId`].
#[derive(JsonSchema)]
#[schemars(inline, description = "Graph id.")]
#[allow(dead_code, reason = "only describes the text")]
pub(crate) struct GraphIdText(#[schemars(regex(pattern = GRAPH_ID_PATTERN))] String);

/// Supported major schema version.
const SCHEMA: &str = "1";

const SCHEMA_VERSION: header::HeaderName = header::HeaderName::from_static("x-schema-version");

/// Header with the graph version.
pub(crate) const CHANGE_VERSION: header::HeaderName = header::HeaderName::from_static("x-change-version");

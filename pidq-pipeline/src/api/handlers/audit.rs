//! `GET /api/audit`: audit log of changes and rejected requests. Entries are append-only until their retention ends.

use std::sync::Arc;

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, Request, Response, codes};
use pidq_store::AuditFilter;
use pidq_store::domain::audit_context::AuditEntry;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::api::auth::request_key;
use crate::api::page_response::page_response;
use crate::api::pipeline_access::require_unrestricted;
use crate::api::problems::store_problem;
use crate::api::schema::{DateTime, Uuid};
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform};

/// Entry of the audit log.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "AuditEntry")]
pub(crate) struct EntryResponse<'a> {
    /// Id.
    #[schemars(with = "Uuid")]
    id: &'a str,
    /// Time.
    time: DateTime,
    /// Actor: `key:ID`, `client:ID`, `user:ID`, `anyone`, or `system`.
    actor: &'a str,
    /// Action, such as `document.delete`; method and path of a rejected request without one.
    action: &'a str,
    /// The pipeline, if there is one.
    pipeline_id: Option<&'a str>,
    /// Path of the resource.
    resource: &'a str,
    /// `done`, or the problem code of a rejected request.
    result: &'a str,
    /// Further fields, without secrets and content of documents.
    details: &'a Map<String, Value>,
    /// Client address. Null for the system itself.
    source: Option<&'a str>,
    /// Id of the request in the log.
    request_id: Option<&'a str>,
}

impl<'a> From<&'a AuditEntry> for EntryResponse<'a> {
    fn from(entry: &'a AuditEntry) -> EntryResponse<'a> {
        EntryResponse {
            id: &entry.id,
            time: DateTime(entry.happened_at),
            actor: &entry.actor,
            action: &entry.action,
            pipeline_id: entry.pipeline_id.as_deref(),
            resource: &entry.resource,
            result: &entry.result,
            details: &entry.details,
            source: entry.source.as_deref(),
            request_id: entry.request_id.as_deref(),
        }
    }
}

/// `GET /api/audit`: the newest first.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    require_unrestricted(&request_key(&request)?)?;
    let query = request.query()?;
    let timestamp = |name: &'static str| query.single(name)?.map(|text| parse_timestamp(name, text)).transpose();
    let filter = AuditFilter {
        since: timestamp("since")?,
        until: timestamp("until")?,
        actor: query.single("actor")?,
        action: query.single("action")?,
        pipeline: query.single("pipeline")?,
        result: query.single("result")?,
    };
    let list = format!("audit/{filter:?}");
    let page = platform.cursors.page(&request, &list, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)?;
    let entries =
        platform.store.audit_entries(filter, page.after.as_deref(), page.limit + 1).await.map_err(store_problem)?;
    let next = (entries.len() > page.limit).then(|| platform.cursors.sign(&list, &entries[page.limit - 1].cursor()));
    let data = entries.iter().take(page.limit).map(EntryResponse::from).collect();
    page_response(&request, data, next)
}

fn parse_timestamp(name: &'static str, text: &str) -> Result<i64, Problem> {
    Timestamp::from_rfc3339(text).map(|timestamp| timestamp.0).ok_or_else(|| {
        let detail = format!("`{name}` must be an RFC 3339 timestamp, such as `2027-01-31T00:00:00Z`.");
        Problem::new(codes::INVALID_PARAMETER).detail(detail).with("parameter", name)
    })
}

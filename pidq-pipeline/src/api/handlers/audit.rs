//! `GET /api/audit`: audit log of changes and rejected requests. Entries are append-only until their retention ends.

use pidq_store::domain::audit_context::AuditEntry;

use crate::api::page_response::page_response;
use crate::api::pipeline_access::require_unrestricted;
use std::sync::Arc;

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, Request, Response, codes};
use pidq_store::AuditFilter;

use crate::api::auth::request_key;
use crate::api::problems::store_problem;
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform};

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
    let data: Vec<_> = entries.iter().take(page.limit).map(AuditEntry::to_json).collect();
    page_response(&request, data, next)
}

fn parse_timestamp(name: &'static str, text: &str) -> Result<i64, Problem> {
    Timestamp::from_rfc3339(text).map(|timestamp| timestamp.0).ok_or_else(|| {
        let detail = format!("`{name}` must be an RFC 3339 timestamp, such as `2027-01-31T00:00:00Z`.");
        Problem::new(codes::INVALID_PARAMETER).detail(detail).with("parameter", name)
    })
}

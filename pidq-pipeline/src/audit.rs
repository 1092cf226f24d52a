//! `GET /api/audit`: audit log of changes and rejected requests. Entries are append-only until their retention ends.
//!
//! The audit context is a task-local of the request: the store inserts the entry in the transaction of the
//! change, without an extra argument in each function. Workers act on behalf of requests and write no entries.

use std::sync::{Arc, Mutex, PoisonError};

use pidq_http::auth::Timestamp;
use pidq_http::{Fut, Handler, Head, Principal, Problem, Request, Response, StatusCode, codes};
use serde_json::{Map, Value, json};

use crate::api_keys;
use crate::pipelines::require_unrestricted;
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform};
use crate::problems::store_problem;
use crate::store::AuditFilter;

/// Action of a route.
struct Action {
    method: &'static str,
    path: &'static str,
    name: &'static str,
}

macro_rules! actions {
    ($($method:literal $path:literal = $name:literal;)*) => {
        &[$(Action { method: $method, path: $path, name: $name }),*]
    };
}

/// Routes that change something. Other rejected requests are named by method and path.
const ACTIONS: &[Action] = actions![
    "POST" "/api/pipelines" = "pipeline.create";
    "PATCH" "/api/pipelines/{pipeline_id}" = "pipeline.update";
    "DELETE" "/api/pipelines/{pipeline_id}" = "pipeline.delete";
    "POST" "/api/pipelines/{pipeline_id}/reindex" = "pipeline.reindex";
    "POST" "/api/operations/{operation_id}/cancel" = "operation.cancel";
    "POST" "/api/pipelines/{pipeline_id}/documents" = "document.create";
    "PATCH" "/api/pipelines/{pipeline_id}/documents/{document_id}" = "document.update";
    "DELETE" "/api/pipelines/{pipeline_id}/documents/{document_id}" = "document.delete";
    "PUT" "/api/pipelines/{pipeline_id}/documents/{document_id}/content" = "document.replace";
    "POST" "/api/pipelines/{pipeline_id}/documents:delete" = "document.delete";
    "POST" "/api/pipelines/{pipeline_id}/documents/{document_id}/retry" = "document.retry";
    "POST" "/api/pipelines/{pipeline_id}/documents/{document_id}/cancel" = "document.cancel";
    "POST" "/api/queries/{query_id}/feedback" = "query.feedback";
    "POST" "/api/llm-connections" = "llm-connection.create";
    "PATCH" "/api/llm-connections/{connection_id}" = "llm-connection.update";
    "DELETE" "/api/llm-connections/{connection_id}" = "llm-connection.delete";
    "POST" "/api/llm-connections/{connection_id}/test" = "llm-connection.test";
    "POST" "/api/webhooks" = "webhook.create";
    "PATCH" "/api/webhooks/{webhook_id}" = "webhook.update";
    "DELETE" "/api/webhooks/{webhook_id}" = "webhook.delete";
    "POST" "/api/webhooks/{webhook_id}/test" = "webhook.test";
    "POST" "/api/webhooks/{webhook_id}/rotate" = "webhook.rotate";
    "PUT" "/api/license" = "license.update";
    "POST" "/api/keys" = "key.create";
    "DELETE" "/api/keys/{key_id}" = "key.delete";
];

/// Actions without a change in the database: their entry is written afterwards.
const NON_MUTATING: &[&str] = &["llm-connection.test", "webhook.test"];

/// Result of a successful action.
const DONE: &str = "done";

/// An entry of the audit log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditEntry {
    /// A UUID of version 7.
    pub id: String,
    /// Milliseconds since 1970.
    pub happened_at: i64,
    /// Actor: `key:ID`, `client:ID`, `user:ID`, `anyone`, or `system`.
    pub actor: String,
    /// Action, for example `document.delete`.
    pub action: String,
    /// The pipeline.
    pub pipeline_id: Option<String>,
    /// Path of the resource, with ids only.
    pub resource: String,
    /// Further fields, without document content and secrets.
    pub details: Map<String, Value>,
    /// Request id, as in the log.
    pub request_id: Option<String>,
    /// Client address.
    pub source: Option<String>,
    /// `done`, or the problem code.
    pub result: String,
}

impl AuditEntry {
    /// Creates the entry of a request.
    fn for_request(action: &str, head: &Head, principal: &Principal) -> AuditEntry {
        AuditEntry {
            actor: principal.id.clone(),
            action: action.to_owned(),
            pipeline_id: pipeline_id_in_path(head.uri.path()),
            resource: head.uri.path().to_owned(),
            request_id: Some(head.id.to_string()),
            source: Some(head.client.to_string()),
            result: DONE.to_owned(),
            ..AuditEntry::default()
        }
    }

    /// Creates an entry of the system itself.
    pub(crate) fn by_system(action: &str, resource: String, details: Map<String, Value>) -> AuditEntry {
        let (actor, action) = ("system".to_owned(), action.to_owned());
        AuditEntry { actor, action, resource, details, result: DONE.to_owned(), ..AuditEntry::default() }
    }

    /// Returns the cursor.
    fn cursor(&self) -> String {
        format!("{} {}", self.happened_at, self.id)
    }

    fn to_json(&self) -> Value {
        json!({
            "id": self.id, "time": Timestamp(self.happened_at).to_rfc3339(), "actor": self.actor, "action": self.action,
            "pipeline_id": self.pipeline_id, "resource": self.resource, "result": self.result,
            "details": self.details, "source": self.source, "request_id": self.request_id,
        })
    }
}

/// Returns the pipeline id of a path.
fn pipeline_id_in_path(path: &str) -> Option<String> {
    let id = path.strip_prefix("/api/pipelines/")?.split('/').next()?;
    let is_id = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_id.then(|| id.to_owned())
}

/// Audit context of a request: the entry, the path, and a flag for a written entry.
struct AuditContext {
    entry: AuditEntry,
    path: String,
    written: bool,
}

impl AuditContext {
    fn new(entry: AuditEntry) -> Arc<Mutex<AuditContext>> {
        Arc::new(Mutex::new(AuditContext { path: entry.resource.clone(), entry, written: false }))
    }
}

tokio::task_local! {
    static AUDIT_CONTEXT: Arc<Mutex<AuditContext>>;
}

fn with_context<T>(f: impl FnOnce(&mut AuditContext) -> T) -> Option<T> {
    AUDIT_CONTEXT.try_with(|context| f(&mut context.lock().unwrap_or_else(PoisonError::into_inner))).ok()
}

/// Returns the entry to write with the next commit; none if it is written or there is no context.
pub(crate) fn pending_entry() -> Option<AuditEntry> {
    with_context(|context| (!context.written).then(|| context.entry.clone())).flatten()
}

/// Marks the entry as committed.
pub(crate) fn mark_written() {
    with_context(|context| context.written = true);
}

/// Sets the resource to the created id.
pub(crate) fn set_resource(id: &str) {
    with_context(|context| {
        context.entry.resource = format!("{}/{id}", context.path.trim_end_matches('/'));
        context.entry.pipeline_id = pipeline_id_in_path(&context.entry.resource);
    });
}

/// Adds a detail.
pub(crate) fn add_detail(name: &str, value: impl Into<Value>) {
    with_context(|context| context.entry.details.insert(name.to_owned(), value.into()));
}

/// Adds the names of changed fields, without values, which may be secret.
pub(crate) fn add_changed_fields(patch: &Map<String, Value>) {
    add_detail("changed", patch.keys().cloned().collect::<Vec<_>>());
}

/// Runs work as a separate entry for another resource.
pub(crate) async fn with_resource<T>(resource: String, work: impl Future<Output = T>) -> T {
    match with_context(|context| AuditEntry { resource, ..context.entry.clone() }) {
        Some(entry) => AUDIT_CONTEXT.scope(AuditContext::new(entry), work).await,
        None => work.await,
    }
}

/// Handles a request with an audit context; rejections for missing permissions are recorded.
pub(crate) async fn handle(
    platform: &Arc<Platform>,
    request: Request,
    handler: Handler<Platform>,
) -> Result<Response, Problem> {
    let Ok(principal) = request.principal().cloned() else { return handler(platform, request).await };
    let (head, route) = (request.head.clone(), request.route);
    let Some(action) = find_action(&head, route) else {
        let response = handler(platform, request).await;
        if let Err(problem) = &response {
            record_if_forbidden(platform, &head, &principal, route, problem).await;
        }
        return response;
    };
    let entry = AuditEntry::for_request(action, &head, &principal);
    let response = AUDIT_CONTEXT.scope(AuditContext::new(entry.clone()), handler(platform, request)).await;
    match &response {
        Err(problem) => record_if_forbidden(platform, &head, &principal, route, problem).await,
        Ok(_) if NON_MUTATING.contains(&action) => write(platform, entry).await,
        Ok(_) => {}
    }
    response
}

/// Hook of the HTTP layer for requests rejected for a missing scope.
pub(crate) fn record_rejection<'a>(
    platform: &'a Arc<Platform>,
    head: &'a Head,
    principal: &'a Principal,
    route: &'static str,
    problem: &'a Problem,
) -> Fut<'a, ()> {
    Box::pin(record_if_forbidden(platform, head, principal, route, problem))
}

/// Records a rejection for missing permissions or a missing license.
async fn record_if_forbidden(
    platform: &Platform,
    head: &Head,
    principal: &Principal,
    route: &'static str,
    problem: &Problem,
) {
    if ![StatusCode::FORBIDDEN, StatusCode::PAYMENT_REQUIRED].contains(&problem.status()) {
        return;
    }
    let action = find_action(head, route).map_or_else(|| format!("{} {route}", head.method), str::to_owned);
    let entry = AuditEntry::for_request(&action, head, principal);
    write(platform, AuditEntry { result: problem.code().to_owned(), ..entry }).await;
}

async fn write(platform: &Platform, entry: AuditEntry) {
    if let Err(error) = platform.store.add_audit_entry(&entry).await {
        // The action cannot be undone; the log is the only record.
        tracing::error!(%error, entry.action, entry.actor, entry.resource, "writing an audit entry failed; only this log line records the action");
    }
}

fn find_action(head: &Head, route: &str) -> Option<&'static str> {
    let method = head.method.as_str();
    ACTIONS.iter().find(|action| action.method == method && action.path == route).map(|action| action.name)
}

/// `GET /api/audit`: the newest first.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    require_unrestricted(&api_keys::from_request(&request)?)?;
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
    let response = Response::json(&json!({"data": data, "next_cursor": next}))?;
    Ok(match next {
        Some(next) => response.next_page(&request, &next),
        None => response,
    })
}

fn parse_timestamp(name: &'static str, text: &str) -> Result<i64, Problem> {
    Timestamp::from_rfc3339(text).map(|timestamp| timestamp.0).ok_or_else(|| {
        let detail = format!("`{name}` must be an RFC 3339 timestamp, such as `2027-01-31T00:00:00Z`.");
        Problem::new(codes::INVALID_PARAMETER).detail(detail).with("parameter", name)
    })
}

#[cfg(test)]
mod tests {
    use pidq_http::Method;

    use super::*;
    use crate::routes::ROUTES;

    /// Routes that change nothing although their method is not GET.
    const NON_MUTATING_PATHS: &[&str] = &[
        "/o/token/",
        "/o/revoke_token/",
        "/api/pipelines/{pipeline_id}/preview",
        "/api/pipelines/{pipeline_id}/search",
        "/api/pipelines/{pipeline_id}/query",
    ];

    #[test]
    fn every_mutating_route_has_an_action() {
        for route in
            ROUTES.iter().filter(|route| route.method != Method::GET && !NON_MUTATING_PATHS.contains(&route.path))
        {
            let is_same = |action: &&Action| action.method == route.method.as_str() && action.path == route.path;
            assert_eq!(ACTIONS.iter().filter(is_same).count(), 1, "{} {}", route.method, route.path);
        }
        for action in ACTIONS {
            let exists = ROUTES.iter().any(|route| route.path == action.path && route.method.as_str() == action.method);
            assert!(exists, "{} {}", action.method, action.path);
        }
    }

    #[test]
    fn the_pipeline_id_is_taken_from_the_path() {
        let id = "0199aaaa-0000-7000-8000-000000000001";
        assert_eq!(pipeline_id_in_path(&format!("/api/pipelines/{id}/documents")).as_deref(), Some(id));
        assert_eq!(pipeline_id_in_path("/api/pipelines/whatever"), None);
        assert_eq!(pipeline_id_in_path("/api/pipelines"), None);
    }
}

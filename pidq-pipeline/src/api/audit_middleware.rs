//! Audit middleware: the actions of routes, and entries for changes and rejected requests.

use std::sync::Arc;

use pidq_http::{Fut, Handler, Head, Principal, Problem, Request, Response, StatusCode};
use pidq_store::domain::audit_context::{AuditEntry, with_entry};

use crate::platform::Platform;

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
    let response = with_entry(entry.clone(), handler(platform, request)).await;
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

#[cfg(test)]
mod tests {
    use pidq_http::Method;

    use super::*;
    use crate::api::routes::ROUTES;

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
}

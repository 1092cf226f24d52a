//! Audit middleware: entries for changes and rejected requests, with the actions of their routes.

use std::sync::Arc;

use pidq_http::{Action, Fut, Handler, Head, Principal, Problem, Request, Response, StatusCode};
use pidq_store::domain::audit_context::{AuditEntry, with_entry};

use crate::api::routes::find_route;
use crate::platform::Platform;

/// Handles a request with an audit context; rejections for missing permissions are recorded.
pub(crate) async fn handle(
    platform: &Arc<Platform>,
    request: Request,
    handler: Handler<Platform>,
) -> Result<Response, Problem> {
    let Ok(principal) = request.principal().cloned() else { return handler(platform, request).await };
    let (head, route) = (request.head.clone(), request.route);
    let action = find_action(&head, route);
    let Some(name) = action.name() else {
        let response = handler(platform, request).await;
        if let Err(problem) = &response {
            record_if_forbidden(platform, &head, &principal, route, problem).await;
        }
        return response;
    };
    let entry = AuditEntry::for_request(name, &head, &principal);
    let response = with_entry(entry.clone(), handler(platform, request)).await;
    match &response {
        Err(problem) => record_if_forbidden(platform, &head, &principal, route, problem).await,
        Ok(_) if matches!(action, Action::Effect(_)) => write(platform, entry).await,
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
    let action = find_action(head, route).name().map_or_else(|| format!("{} {route}", head.method), str::to_owned);
    let entry = AuditEntry::for_request(&action, head, principal);
    write(platform, AuditEntry { result: problem.code().to_owned(), ..entry }).await;
}

async fn write(platform: &Platform, entry: AuditEntry) {
    if let Err(error) = platform.store.add_audit_entry(&entry).await {
        // The action cannot be undone; the log is the only record.
        tracing::error!(%error, entry.action, entry.actor, entry.resource, "writing an audit entry failed; only this log line records the action");
    }
}

fn find_action(head: &Head, route: &str) -> Action {
    find_route(head, route).map_or(Action::None, |route| route.action)
}

#[cfg(test)]
mod tests {
    use pidq_http::Method;

    use crate::api::routes::ROUTES;

    /// Routes that change nothing although their method is not GET.
    const NON_MUTATING_PATHS: &[&str] = &[
        "/o/token/",
        "/o/revoke_token/",
        "/api/pipelines/{pipeline_id}/preview",
        "/api/preview",
        "/api/pipelines/{pipeline_id}/search",
        "/api/pipelines/{pipeline_id}/query",
    ];

    #[test]
    fn every_mutating_route_has_an_action() {
        for route in ROUTES {
            let is_mutating = route.method != Method::GET && !NON_MUTATING_PATHS.contains(&route.path);
            assert_eq!(route.action.name().is_some(), is_mutating, "{} {}", route.method, route.path);
        }
    }
}

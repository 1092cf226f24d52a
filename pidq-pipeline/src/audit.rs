//! `GET /api/audit`: who did what to which resource, when and from where, and what was refused. Rows are added, and
//! nothing else, until their time is over.
//!
//! What somebody does is known all the way down while a request is handled: the store writes it in the transaction of the
//! change, without an argument more in each of its functions. Workers do nothing of their own accord, and leave nothing.

use std::sync::{Arc, Mutex, PoisonError};

use pidq_http::auth::Moment;
use pidq_http::{Fut, Handler, Head, Principal, Problem, Request, Response, StatusCode};
use serde_json::{Map, Value, json};

use crate::keys;
use crate::pipelines::must_see_all;
use crate::platform::{LONGEST_PAGE, PAGE, Platform};
use crate::problems::stored;
use crate::store::Searched;

/// An act: what the caller of a row does.
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

/// The rows that change something. Whatever else is refused has the name of its row.
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

/// The acts that change nothing here: they are written down when they are over.
const WITHOUT_CHANGE: &[&str] = &["llm-connection.test", "webhook.test"];

/// The result of what was done.
const DONE: &str = "done";

/// Somebody did something, or was not let.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Act {
    /// A UUID of version 7.
    pub id: String,
    /// Milliseconds since 1970.
    pub happened_at: i64,
    /// Who: `key:ID`, `client:ID`, `user:ID`, `anyone`, or `system`.
    pub actor: String,
    /// What: `document.delete`.
    pub action: String,
    /// In which pipeline.
    pub pipeline_id: Option<String>,
    /// To what: the path of the resource, which has ids alone.
    pub resource: String,
    /// What else is to be known. No text of a document is, and no secret.
    pub details: Map<String, Value>,
    /// The id of the request, as the log has it.
    pub request_id: Option<String>,
    /// The address that the request came from.
    pub source: Option<String>,
    /// `done`, or the code of the refusal.
    pub result: String,
}

impl Act {
    /// What the sender of a request does.
    fn of(action: &str, head: &Head, principal: &Principal) -> Act {
        Act {
            actor: principal.id.clone(),
            action: action.to_owned(),
            pipeline_id: pipeline_of(head.uri.path()),
            resource: head.uri.path().to_owned(),
            request_id: Some(head.id.to_string()),
            source: Some(head.client.to_string()),
            result: DONE.to_owned(),
            ..Act::default()
        }
    }

    /// What happens by itself.
    pub(crate) fn of_system(action: &str, resource: String, details: Map<String, Value>) -> Act {
        let (actor, action) = ("system".to_owned(), action.to_owned());
        Act { actor, action, resource, details, result: DONE.to_owned(), ..Act::default() }
    }

    /// Its place in a list.
    fn place(&self) -> String {
        format!("{} {}", self.happened_at, self.id)
    }

    fn show(&self) -> Value {
        json!({
            "id": self.id, "time": Moment(self.happened_at).to_rfc3339(), "actor": self.actor, "action": self.action,
            "pipeline_id": self.pipeline_id, "resource": self.resource, "result": self.result,
            "details": self.details, "source": self.source, "request_id": self.request_id,
        })
    }
}

/// The pipeline that a path leads to.
fn pipeline_of(path: &str) -> Option<String> {
    let id = path.strip_prefix("/api/pipelines/")?.split('/').next()?;
    let is_id = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_id.then(|| id.to_owned())
}

/// What is being done, by which path, and whether it is written down already.
struct Doing {
    act: Act,
    path: String,
    noted: bool,
}

impl Doing {
    fn of(act: Act) -> Arc<Mutex<Doing>> {
        Arc::new(Mutex::new(Doing { path: act.resource.clone(), act, noted: false }))
    }
}

tokio::task_local! {
    static DOING: Arc<Mutex<Doing>>;
}

fn doing<T>(what: impl FnOnce(&mut Doing) -> T) -> Option<T> {
    DOING.try_with(|doing| what(&mut doing.lock().unwrap_or_else(PoisonError::into_inner))).ok()
}

/// What is being done now and has to be written down with its change; nothing, if it is already, or nobody does anything.
pub(crate) fn current() -> Option<Act> {
    doing(|doing| (!doing.noted).then(|| doing.act.clone())).flatten()
}

/// Says that it is written down, and lasts.
pub(crate) fn is_noted() {
    doing(|doing| doing.noted = true);
}

/// Says which resource is being made.
pub(crate) fn made(id: &str) {
    doing(|doing| {
        doing.act.resource = format!("{}/{id}", doing.path.trim_end_matches('/'));
        doing.act.pipeline_id = pipeline_of(&doing.act.resource);
    });
}

/// Says what else is to be known.
pub(crate) fn detail(name: &str, value: impl Into<Value>) {
    doing(|doing| doing.act.details.insert(name.to_owned(), value.into()));
}

/// Says which members a patch changes, and not to what: that may be a secret.
pub(crate) fn changed(patch: &Map<String, Value>) {
    detail("changed", patch.keys().cloned().collect::<Vec<_>>());
}

/// Does a part of what is being done, to a resource of its own.
pub(crate) async fn part<T>(resource: String, work: impl Future<Output = T>) -> T {
    match doing(|doing| Act { resource, ..doing.act.clone() }) {
        Some(act) => DOING.scope(Doing::of(act), work).await,
        None => work.await,
    }
}

/// Handles a request. What it changes is written down, and what it is refused for want of a right.
pub(crate) async fn handled(
    platform: &Arc<Platform>,
    request: Request,
    handler: Handler<Platform>,
) -> Result<Response, Problem> {
    let Ok(principal) = request.principal().cloned() else { return handler(platform, request).await };
    let (head, row) = (request.head.clone(), request.route);
    let Some(action) = action_of(&head, row) else {
        let answer = handler(platform, request).await;
        if let Err(problem) = &answer {
            refused(platform, &head, &principal, row, problem).await;
        }
        return answer;
    };
    let act = Act::of(action, &head, &principal);
    let answer = DOING.scope(Doing::of(act.clone()), handler(platform, request)).await;
    match &answer {
        Err(problem) => refused(platform, &head, &principal, row, problem).await,
        Ok(_) if WITHOUT_CHANGE.contains(&action) => note(platform, act).await,
        Ok(_) => {}
    }
    answer
}

/// Hears of requests that were refused for want of a scope: the hook of the floor below.
pub(crate) fn note_refusal<'a>(
    platform: &'a Arc<Platform>,
    head: &'a Head,
    principal: &'a Principal,
    row: &'static str,
    problem: &'a Problem,
) -> Fut<'a, ()> {
    Box::pin(refused(platform, head, principal, row, problem))
}

/// Notes that something was refused for want of a right, or of a licence.
async fn refused(platform: &Platform, head: &Head, principal: &Principal, row: &'static str, problem: &Problem) {
    if ![StatusCode::FORBIDDEN, StatusCode::PAYMENT_REQUIRED].contains(&problem.status()) {
        return;
    }
    let action = action_of(head, row).map_or_else(|| format!("{} {row}", head.method), str::to_owned);
    let act = Act::of(&action, head, principal);
    note(platform, Act { result: problem.code().to_owned(), ..act }).await;
}

async fn note(platform: &Platform, act: Act) {
    if let Err(error) = platform.store.note_act(&act).await {
        // It is over, and cannot be undone: the log has it at least.
        tracing::error!(%error, act.action, act.actor, act.resource, "an act is not in the audit");
    }
}

fn action_of(head: &Head, row: &str) -> Option<&'static str> {
    let method = head.method.as_str();
    ACTIONS.iter().find(|action| action.method == method && action.path == row).map(|action| action.name)
}

/// `GET /api/audit`: the newest first.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    must_see_all(&keys::of(&request)?)?;
    let query = request.query()?;
    let moment = |name: &'static str| query.one(name)?.map(|text| time(name, text)).transpose();
    let wanted = Searched {
        since: moment("since")?,
        until: moment("until")?,
        actor: query.one("actor")?,
        action: query.one("action")?,
        pipeline: query.one("pipeline")?,
        result: query.one("result")?,
    };
    let list = format!("audit/{wanted:?}");
    let page = platform.cursors.page(&request, &list, PAGE, LONGEST_PAGE)?;
    let acts = platform.store.acts(wanted, page.after.as_deref(), page.limit + 1).await.map_err(stored)?;
    let next = (acts.len() > page.limit).then(|| platform.cursors.seal(&list, &acts[page.limit - 1].place()));
    let shown: Vec<_> = acts.iter().take(page.limit).map(Act::show).collect();
    let response = Response::json(&json!({"data": shown, "next_cursor": next}))?;
    Ok(match next {
        Some(next) => response.next_page(&request, &next),
        None => response,
    })
}

fn time(name: &'static str, text: &str) -> Result<i64, Problem> {
    Moment::from_rfc3339(text).map(|moment| moment.0).ok_or_else(|| {
        let detail = format!("`{name}` is a time as RFC 3339 has it, `2027-01-31T00:00:00Z`.");
        Problem::bad_request("invalid-parameter", detail).with("parameter", name)
    })
}

#[cfg(test)]
mod tests {
    use pidq_http::Method;

    use super::*;
    use crate::routes::ROUTES;

    /// The rows that are no reading by their method and change nothing.
    const READING: &[&str] = &[
        "/o/token/",
        "/o/revoke_token/",
        "/api/pipelines/{pipeline_id}/preview",
        "/api/pipelines/{pipeline_id}/search",
        "/api/pipelines/{pipeline_id}/query",
    ];

    #[test]
    fn every_row_that_changes_something_has_an_action() {
        for route in ROUTES.iter().filter(|route| route.method != Method::GET && !READING.contains(&route.path)) {
            let is_it = |action: &&Action| action.method == route.method.as_str() && action.path == route.path;
            assert_eq!(ACTIONS.iter().filter(is_it).count(), 1, "{} {}", route.method, route.path);
        }
        for action in ACTIONS {
            let is_there =
                ROUTES.iter().any(|route| route.path == action.path && route.method.as_str() == action.method);
            assert!(is_there, "{} {}", action.method, action.path);
        }
    }

    #[test]
    fn a_path_tells_its_pipeline() {
        let id = "0199aaaa-0000-7000-8000-000000000001";
        assert_eq!(pipeline_of(&format!("/api/pipelines/{id}/documents")).as_deref(), Some(id));
        assert_eq!(pipeline_of("/api/pipelines/whatever"), None);
        assert_eq!(pipeline_of("/api/pipelines"), None);
    }
}

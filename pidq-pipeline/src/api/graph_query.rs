//! Query on the graph service on behalf of a caller, with problems that point into the question.

use std::time::Duration;

use hyper::Request;
use hyper::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use pidq_http::{Bytes, Head, Problem, SpanKind, StatusCode, TRACEPARENT, Trace, codes, percent_encode, sentence};
use serde_json::Value;
use tokio::time::timeout;

use crate::api::auth::parse_key;
use crate::api::problems::unprocessable;
use crate::generation::graph_client::{GraphCallError, GraphResponse, GraphService};

/// Timeout of a call. The service itself stops a query after ten seconds by default.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size of a response, in bytes.
const MAX_RESPONSE_SIZE: usize = 1 << 20;
/// Queries a graph with the token of the request `head`.
pub(crate) async fn query(
    service: &dyn GraphService,
    head: &Head,
    graph_id: &str,
    body: &Value,
    media_type: &'static str,
) -> Result<GraphResponse, Problem> {
    let mut span = Trace::current().span(SpanKind::Client, "POST /graph/{job_id}");
    span.set("http.request.method", "POST");
    let request = request(head, graph_id, body, media_type, span.trace()).ok_or_else(invalid_graph_id)?;
    let response =
        timeout(TIMEOUT, service.call(request, MAX_RESPONSE_SIZE)).await.unwrap_or(Err(GraphCallError::Unreachable));
    match &response {
        Ok(response) => {
            span.set("http.response.status_code", response.status.as_u16());
            if !response.status.is_success() {
                span.fail(response.status.as_u16().to_string());
            }
        }
        Err(GraphCallError::Unreachable) => span.fail("unreachable"),
        Err(GraphCallError::TooLarge) => span.fail("response-too-large"),
    }
    drop(span);
    match response {
        Ok(response) if response.status == StatusCode::OK => Ok(response),
        Ok(response) => Err(problem_from_response(&response)),
        Err(GraphCallError::Unreachable) => Err(unavailable("The graph query service does not respond.", 5)),
        Err(GraphCallError::TooLarge) => {
            let detail =
                format!("The result exceeds {MAX_RESPONSE_SIZE} bytes; query only ids and tags, or the first items.");
            Err(unprocessable(codes::GRAPH_QUERY_FAILED, "/graph/query", &detail))
        }
    }
}

fn request(
    head: &Head,
    graph_id: &str,
    body: &Value,
    media_type: &'static str,
    trace: &Trace,
) -> Option<Request<Bytes>> {
    // `.` and `..` would change the path.
    let graph_id = Some(percent_encode(graph_id)).filter(|id| !id.trim_matches('.').is_empty())?;
    let mut request = Request::post(format!("/graph/{graph_id}"))
        .header(HOST, "localhost")
        .header(USER_AGENT, concat!("pidq/", env!("CARGO_PKG_VERSION")))
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, media_type)
        .header(ACCEPT_ENCODING, "identity")
        .header("x-request-id", &*head.id);
    // API keys are secrets of the platform and are never sent to another service.
    let token = head.bearer().ok().flatten().filter(|token| parse_key(token).is_none());
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    if let Some(traceparent) = trace.traceparent() {
        request = request.header(TRACEPARENT, traceparent);
    }
    let body = body.to_string();
    request.header("content-length", body.len()).body(Bytes::from(body)).ok()
}

/// Converts an error response to a problem of the question, with pointers to `graph.job_id` or `graph.query`.
fn problem_from_response(response: &GraphResponse) -> Problem {
    let body: Value = serde_json::from_slice(&response.body).unwrap_or_default();
    let detail = body["detail"]
        .as_str()
        .or(body["error_description"].as_str())
        .unwrap_or("The graph query service returned an error without details.");
    let detail = sentence(detail);
    match response.status {
        StatusCode::UNAUTHORIZED => Problem::new(codes::GRAPH_ACCESS_DENIED).detail(
            "The graph query service does not accept the token. Use a token from `/o/token/` that is valid for both services; API keys are not accepted there.",
        ),
        StatusCode::FORBIDDEN => Problem::new(codes::GRAPH_ACCESS_DENIED).detail(detail),
        StatusCode::NOT_FOUND => unprocessable(codes::GRAPH_NOT_FOUND, "/graph/job_id", &detail),
        StatusCode::TOO_MANY_REQUESTS => unavailable(&detail, 5),
        StatusCode::BAD_REQUEST if body["code"] == "invalid-job-id" => invalid_graph_id(),
        status if status.is_client_error() => query_problem(&body, &detail),
        _ => unavailable("The graph query service is unavailable.", 5),
    }
}

fn invalid_graph_id() -> Problem {
    let detail = "A graph id must have 1 to 128 characters: letters, digits and `._:@~-`.";
    unprocessable(codes::VALIDATION, "/graph/job_id", detail)
}

/// 422 for a query that does not compile or fails, with the details of the query engine.
fn query_problem(body: &Value, detail: &str) -> Problem {
    let problem = unprocessable(codes::GRAPH_QUERY_FAILED, "/graph/query", detail);
    ["pq_code", "position", "line", "column", "span", "help", "suggestions"].into_iter().fold(
        problem,
        |problem, name| match body.get(name) {
            Some(value) => problem.with(name, value.clone()),
            None => problem,
        },
    )
}

fn unavailable(detail: &str, seconds: u64) -> Problem {
    Problem::new(codes::GRAPH_UNAVAILABLE).detail(detail).retry_after(seconds)
}

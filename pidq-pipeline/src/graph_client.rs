//! Client of the graph query service, for questions with a graph query.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Request, Uri};
use pidq_http::{
    Bytes, Fut, Head, HttpsClient, Problem, Setting, SettingError, Settings, StatusCode, ValueKind, codes,
};
use pidq_http::{https_client, percent_encode, sentence, settings};
use serde_json::Value;
use tokio::time::timeout;

use crate::api_keys;
use crate::problems::unprocessable;

/// Settings of the graph query service.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_GRAPH_URL", "config.graph.url", ValueKind::Text, None, false, "URL of the graph query service for questions with `graph`, such as `https://graphs.plant.example`. The caller's token must also be valid there.";
];

/// Timeout of a call. The service itself stops a query after ten seconds by default.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size of a response, in bytes.
const MAX_RESPONSE_SIZE: usize = 1 << 20;
/// Idle connections that are reused.
const MAX_IDLE_CONNECTIONS: usize = 4;

/// A graph query service. The request carries the caller's token; the service checks the access.
pub trait GraphService: Send + Sync {
    /// Sends a request; `max_size` is the maximum size of the response body in bytes.
    fn call(&self, request: Request<Bytes>, max_size: usize) -> Fut<'_, Result<GraphResponse, GraphCallError>>;
}

/// Response of the service.
#[derive(Clone, Debug)]
pub struct GraphResponse {
    /// HTTP status.
    pub status: StatusCode,
    /// Version of the graph.
    pub version: Option<String>,
    /// Body.
    pub body: Bytes,
}

/// Error of a call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GraphCallError {
    /// The service is unreachable, or the connection was closed early.
    Unreachable,
    /// The response exceeds the maximum size.
    TooLarge,
}

impl GraphResponse {
    /// Reads a response.
    ///
    /// # Errors
    /// If the body ends early or exceeds `max_size`.
    pub async fn from_response<B>(
        response: hyper::Response<B>,
        max_size: usize,
    ) -> Result<GraphResponse, GraphCallError>
    where
        B: hyper::body::Body<Data = Bytes>,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let (head, body) = response.into_parts();
        let version = head.headers.get("x-change-version").and_then(|version| version.to_str().ok());
        let version = version.map(str::to_owned);
        match Limited::new(body, max_size).collect().await {
            Ok(body) => Ok(GraphResponse { status: head.status, version, body: body.to_bytes() }),
            Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(GraphCallError::TooLarge),
            Err(_) => Err(GraphCallError::Unreachable),
        }
    }
}

/// A graph query service over HTTP.
pub struct RemoteGraphService {
    client: HttpsClient<Full<Bytes>>,
    base: String,
}

impl RemoteGraphService {
    /// Creates the client from the settings, if configured. The CA certificates `root_certificates` (PEM) are trusted in
    /// addition to the public ones.
    ///
    /// # Errors
    /// If a setting is invalid.
    pub fn from_settings(
        settings: &Settings,
        root_certificates: Option<&str>,
    ) -> Result<Option<RemoteGraphService>, SettingError> {
        const NAME: &str = "PIDQ_GRAPH_URL";
        let Some(url) = settings.optional(NAME)? else { return Ok(None) };
        let base = url.trim_end_matches('/').to_owned();
        let address: Option<Uri> = base.parse().ok();
        let is_valid = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.query().is_none();
        if !address.as_ref().is_some_and(is_valid) {
            return Err(settings.invalid(NAME, "expected a URL such as `https://graphs.plant.example`"));
        }
        let client = https_client(root_certificates, MAX_IDLE_CONNECTIONS)
            .map_err(|reason| settings.invalid("PIDQ_LLM_CA", &reason))?;
        Ok(Some(RemoteGraphService { client, base }))
    }

    async fn send(&self, request: Request<Bytes>, max_size: usize) -> Result<GraphResponse, GraphCallError> {
        let (mut head, body) = request.into_parts();
        head.uri = format!("{}{}", self.base, head.uri).parse().map_err(|_| GraphCallError::Unreachable)?;
        head.headers.remove(HOST);
        let response = self.client.request(Request::from_parts(head, Full::new(body))).await;
        GraphResponse::from_response(response.map_err(|_| GraphCallError::Unreachable)?, max_size).await
    }
}

impl GraphService for RemoteGraphService {
    fn call(&self, request: Request<Bytes>, max_size: usize) -> Fut<'_, Result<GraphResponse, GraphCallError>> {
        Box::pin(self.send(request, max_size))
    }
}

/// Queries a graph with the token of the request `head`.
pub(crate) async fn query(
    service: &dyn GraphService,
    head: &Head,
    graph_id: &str,
    body: &Value,
    media_type: &'static str,
) -> Result<GraphResponse, Problem> {
    let request = request(head, graph_id, body, media_type).ok_or_else(invalid_graph_id)?;
    let response =
        timeout(TIMEOUT, service.call(request, MAX_RESPONSE_SIZE)).await.unwrap_or(Err(GraphCallError::Unreachable));
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

fn request(head: &Head, graph_id: &str, body: &Value, media_type: &'static str) -> Option<Request<Bytes>> {
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
    let token = head.bearer().ok().flatten().filter(|token| api_keys::parse(token).is_none());
    if let Some(token) = token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    if let Some(trace) = &head.traceparent {
        request = request.header("traceparent", trace);
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

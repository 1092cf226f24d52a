//! Built-in routes of every service: health, version, documentation, metrics.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::atomic::Ordering::Relaxed;

use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, LOCATION, REFERRER_POLICY, VARY};
use hyper::{Method, StatusCode};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::message::request::Request;
use crate::message::response::Response;
use crate::metrics::{OPENMETRICS, PROMETHEUS_TEXT, to_prometheus_text};
use crate::problem::{Problem, codes};
use crate::routing::problem_pages::{self, ProblemDescription};
use crate::routing::route::{Access, Action, Reply, Route};

/// Built-in routes, for a service with any state.
pub(crate) struct BuiltinRoutes<S>(PhantomData<S>);

/// Name and version of a service.
#[derive(JsonSchema, Serialize)]
struct ServiceVersion<'a> {
    /// Name of the service.
    name: &'static str,
    /// Version (Semantic Versioning). Absent if the service hides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    version: Option<&'static str>,
    /// Versions of optional programs on which results depend, by their names. Absent if the service uses none, or hides its
    /// version.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    components: BTreeMap<&'a str, &'a str>,
}

const TEXT: Reply = Reply::of::<String>(200, "text/plain", "Healthy.");
const OPENAPI: Reply = Reply::json::<Map<String, Value>>(200, "The document.");
const VERSION: Reply = Reply::json::<ServiceVersion<'_>>(200, "Name and version.");
const PROBLEMS: Reply = Reply::json::<Vec<ProblemDescription>>(200, "Problem codes.");
const PROBLEM: Reply = Reply::json::<ProblemDescription>(200, "The problem code.");
const INDEX: Reply = Reply::empty(303, "The dashboard if it runs, else the documentation; for browsers.");
const PAGE: Reply = Reply::of::<String>(200, "text/html", "The page.");

macro_rules! route {
    ($path:literal, $summary:literal, $reply:expr, $handler:path) => {
        Route {
            method: Method::GET,
            path: $path,
            access: Access::Public,
            action: Action::None,
            summary: $summary,
            parameters: &[],
            body: None,
            replies: &[$reply],
            handler: |_, request| Box::pin($handler(request)),
        }
    };
}

impl<S: 'static> BuiltinRoutes<S> {
    /// Routes on the public listeners.
    pub const PUBLIC: &'static [Route<S>] = &[
        route!("/", "Redirects browsers to the start page.", INDEX, index),
        route!("/livez", "Returns 200 while the process is alive.", TEXT, livez),
        route!("/readyz", "Returns 200 while the service is ready.", TEXT, readyz),
        route!("/version", "Name and version of the service.", VERSION, version),
        route!("/openapi.json", "OpenAPI document.", OPENAPI, openapi),
        route!("/docs", "API documentation as a page.", PAGE, docs),
        route!("/problems", "All problem codes, as HTML or JSON.", PROBLEMS, problem_pages::list),
        route!("/problems/{code}", "One problem code: title, statuses and remedy.", PROBLEM, problem_pages::show),
    ];

    /// Routes on the admin listener.
    pub const ADMIN: &'static [Route<S>] = &[
        route!("/livez", "Returns 200 while the process is alive.", TEXT, livez),
        route!("/readyz", "Returns 200 while the service is ready.", TEXT, readyz),
        route!("/version", "Name and version of the service.", VERSION, version),
        route!(
            "/metrics",
            "Metrics in the OpenMetrics or the Prometheus text format, by the header `Accept`.",
            TEXT,
            metrics
        ),
    ];
}

/// Returns whether a path is exempt from the rate and concurrency limits, so that it is available under overload.
/// Requests to it are logged at level debug.
pub(crate) fn is_exempt_from_limits(path: &str) -> bool {
    ["/livez", "/readyz", "/version", "/openapi.json", "/docs", "/metrics"].contains(&path)
}

/// Redirects browsers to the start page, and tells programs where the documentation is.
async fn index(request: Request) -> Result<Response, Problem> {
    if request.head.prefers_html() {
        return Ok(Response::empty(StatusCode::SEE_OTHER)
            .header(LOCATION, &request.info.start_page)
            .header(VARY, "Accept"));
    }
    Err(Problem::new(codes::NOT_FOUND)
        .detail("There is no resource here. `/docs` and `/openapi.json` describe the API."))
}

async fn livez(_: Request) -> Result<Response, Problem> {
    Ok(Response::ok("text/plain", "ok\n"))
}

async fn readyz(request: Request) -> Result<Response, Problem> {
    if request.info.draining.load(Relaxed) {
        return Ok(not_ready());
    }
    let ready = (request.info.ready)().await;
    Ok(ready.map_or_else(
        |reason| {
            tracing::warn!(reason, "not ready; /readyz responds with 503");
            not_ready()
        },
        |degraded| Response::ok("text/plain", ready_text(&degraded)),
    ))
}

/// Returns one line, and another if the service is degraded.
fn ready_text(degraded: &[&str]) -> String {
    if degraded.is_empty() { "ready\n".to_owned() } else { format!("ready\ndegraded: {degraded:?}\n") }
}

/// Returns 503 without details, since the route is public.
fn not_ready() -> Response {
    Response::new(StatusCode::SERVICE_UNAVAILABLE, "text/plain", "not ready\n")
}

async fn version(request: Request) -> Result<Response, Problem> {
    let info = &request.info;
    let components = info.components.iter().map(|(name, version)| (name.as_str(), version.as_str()));
    let components = if info.version.is_some() { components.collect() } else { BTreeMap::new() };
    Response::json(&ServiceVersion { name: info.name, version: info.version, components })
}

async fn openapi(request: Request) -> Result<Response, Problem> {
    Ok(Response::ok("application/json", request.info.openapi.clone()).header(CACHE_CONTROL, "no-cache"))
}

async fn docs(request: Request) -> Result<Response, Problem> {
    let page = Response::ok("text/html; charset=utf-8", request.info.docs.clone());
    Ok(page
        .header(CACHE_CONTROL, "no-cache")
        .header(REFERRER_POLICY, "no-referrer")
        .header(CONTENT_SECURITY_POLICY, crate::routing::openapi::policy()))
}

async fn metrics(request: Request) -> Result<Response, Problem> {
    let text = request.info.metrics_text();
    let response = match request.head.prefers_open_metrics() {
        true => Response::ok(OPENMETRICS, text),
        false => Response::ok(PROMETHEUS_TEXT, to_prometheus_text(&text)),
    };
    Ok(response.header(VARY, "Accept"))
}

//! What every service answers, whatever it is for: alive, ready, version, documentation, metrics.

use std::marker::PhantomData;
use std::sync::atomic::Ordering::Relaxed;

use hyper::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use hyper::{Method, StatusCode};

use crate::metrics::OPENMETRICS;
use crate::problem::Problem;
use crate::request::Request;
use crate::response::Response;
use crate::route::{Access, Reply, Route};

/// The rows of the floor, for a service of any state.
pub(crate) struct Operations<S>(PhantomData<S>);

const TEXT: Reply = Reply { status: 200, media: Some("text/plain"), schema: r#"{"type":"string"}"#, summary: "Yes." };
const JSON: Reply =
    Reply { status: 200, media: Some("application/json"), schema: r#"{"type":"object"}"#, summary: "The document." };
const VERSION: Reply = Reply {
    status: 200,
    media: Some("application/json"),
    schema: r#"{"type":"object","required":["name"],"properties":{"name":{"type":"string"},"version":{"type":"string"}}}"#,
    summary: "Name and version.",
};
const PAGE: Reply =
    Reply { status: 200, media: Some("text/html"), schema: r#"{"type":"string"}"#, summary: "The page." };

macro_rules! operation {
    ($path:literal, $summary:literal, $reply:expr, $answer:path) => {
        Route {
            method: Method::GET,
            path: $path,
            access: Access::Public,
            summary: $summary,
            parameters: &[],
            body: None,
            replies: &[$reply],
            handler: |_, request| Box::pin($answer(request)),
        }
    };
}

impl<S: 'static> Operations<S> {
    /// On the listeners of the service.
    pub const PUBLIC: &'static [Route<S>] = &[
        operation!("/livez", "Whether the process is alive.", TEXT, livez),
        operation!("/readyz", "Whether the service can do its work.", TEXT, readyz),
        operation!("/version", "What runs here.", VERSION, version),
        operation!("/openapi.json", "This interface as OpenAPI.", JSON, openapi),
        operation!("/docs", "This interface as a page.", PAGE, docs),
    ];

    /// On the listener of the administrator.
    pub const ADMIN: &'static [Route<S>] = &[
        operation!("/livez", "Whether the process is alive.", TEXT, livez),
        operation!("/readyz", "Whether the service can do its work.", TEXT, readyz),
        operation!("/version", "What runs here.", VERSION, version),
        operation!("/metrics", "Figures, as OpenMetrics.", TEXT, metrics),
    ];
}

/// Operations answer even when there is too much to do, and are no news in the log.
pub(crate) fn is_operation(path: &str) -> bool {
    ["/livez", "/readyz", "/version", "/openapi.json", "/docs", "/metrics"].contains(&path)
}

async fn livez(_: Request) -> Result<Response, Problem> {
    Ok(Response::ok("text/plain", "ok\n"))
}

async fn readyz(request: Request) -> Result<Response, Problem> {
    if request.facts.draining.load(Relaxed) {
        return Ok(not_ready());
    }
    let ready = (request.facts.ready)().await;
    Ok(ready.map_or_else(
        |reason| {
            tracing::warn!(reason, "not ready");
            not_ready()
        },
        |without| Response::ok("text/plain", ready_text(&without)),
    ))
}

/// One line, and another where something is missing that the service can do without.
fn ready_text(without: &[&str]) -> String {
    if without.is_empty() { "ready\n".to_owned() } else { format!("ready\ndegraded: {without:?}\n") }
}

/// Without detail: strangers may ask.
fn not_ready() -> Response {
    Response::new(StatusCode::SERVICE_UNAVAILABLE, "text/plain", "not ready\n")
}

async fn version(request: Request) -> Result<Response, Problem> {
    let mut about = serde_json::Map::from_iter([("name".to_owned(), request.facts.name.into())]);
    if let Some(version) = request.facts.version {
        about.insert("version".to_owned(), version.into());
    }
    Response::json(&about)
}

async fn openapi(request: Request) -> Result<Response, Problem> {
    Ok(Response::ok("application/json", request.facts.openapi.clone()).header(CACHE_CONTROL, "no-cache"))
}

async fn docs(request: Request) -> Result<Response, Problem> {
    let page = Response::ok("text/html; charset=utf-8", request.facts.docs.clone());
    Ok(page
        .header(CACHE_CONTROL, "no-cache")
        .header(REFERRER_POLICY, "no-referrer")
        .header(CONTENT_SECURITY_POLICY, crate::openapi::policy()))
}

async fn metrics(request: Request) -> Result<Response, Problem> {
    Ok(Response::ok(OPENMETRICS, request.facts.metrics.text()))
}

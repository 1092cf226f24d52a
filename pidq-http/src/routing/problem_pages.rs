//! Pages about problem codes, which the `type` of a problem links to, and about occurrences: HTML for browsers, JSON for programs.

use std::fmt::Write;

use hyper::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, VARY};
use schemars::JsonSchema;
use serde::Serialize;

use crate::message::request::Request;
use crate::message::response::{Content, Response};
use crate::problem::Problem;
use crate::problem::codes::{self, ALL, ProblemCode};
use crate::routing::openapi::{policy, prose, standalone_page};

/// `GET /problems`: all codes.
pub(crate) async fn list(request: Request) -> Result<Response, Problem> {
    if request.head.prefers_html() {
        return Ok(html("Problem codes", &html_table()));
    }
    Ok(Response::json(&ALL.iter().map(|code| ProblemDescription::new(code)).collect::<Vec<_>>())?
        .header(VARY, "Accept"))
}

/// `GET /problems/{code}`: one code.
pub(crate) async fn show(request: Request) -> Result<Response, Problem> {
    let code = ProblemCode::find(request.path("code")?)
        .ok_or_else(|| Problem::new(codes::NOT_FOUND).detail("Unknown problem code; `/problems` lists all codes."))?;
    if request.head.prefers_html() {
        return Ok(html(code.title, &article(code)));
    }
    Ok(Response::json(&ProblemDescription::new(code))?.header(VARY, "Accept"))
}

/// Description of a problem code.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ProblemDescription {
    /// URL of this description, relative to the service: the `type` of problems with this code.
    #[schemars(extend("format" = "uri-reference"))]
    r#type: String,
    /// Code: stable, for programs.
    code: &'static str,
    /// Title, for people.
    title: &'static str,
    /// HTTP statuses of problems with this code.
    statuses: &'static [u16],
    /// Remedy.
    remedy: &'static str,
}

impl ProblemDescription {
    fn new(code: &ProblemCode) -> ProblemDescription {
        let ProblemCode { name, title, statuses, remedy, .. } = *code;
        ProblemDescription { r#type: code.path(), code: name, title, statuses, remedy }
    }
}

/// Returns the page of a problem for a browser: what went wrong, what to do, and the id of the request in the log.
pub(crate) fn occurrence(problem: &Problem, request_id: &str) -> Option<String> {
    let code = ProblemCode::find(problem.code())?;
    let detail = problem.detail_text().map(|detail| format!("<p>{}</p>", prose(detail))).unwrap_or_default();
    let body = format!(
        "{detail}<h2>What to do</h2><p>{}</p><p><a href=\"/docs\">API documentation</a> · <a href=\"{}\">{}</a></p>\
         <p class=\"soft\">Status {} · request {}</p>",
        prose(code.remedy),
        code.path(),
        code.name,
        problem.status().as_u16(),
        prose(request_id),
    );
    Some(standalone_page(code.title, &body))
}

/// Returns the response with a page as its body.
pub(crate) fn as_page(mut response: Response, page: String) -> Response {
    response.body = Content::Full(page.into());
    response
        .header(CONTENT_TYPE, "text/html; charset=utf-8")
        .header(REFERRER_POLICY, "no-referrer")
        .header(CONTENT_SECURITY_POLICY, policy())
}

fn html(title: &str, body: &str) -> Response {
    Response::ok("text/html; charset=utf-8", standalone_page(title, body))
        .header(VARY, "Accept")
        .header(REFERRER_POLICY, "no-referrer")
        .header(CONTENT_SECURITY_POLICY, policy())
}

fn article(code: &ProblemCode) -> String {
    format!(
        "<p>Code <code>{}</code>, status {}.</p><h2>What to do</h2><p>{}</p><p><a href=\"../problems\">All problem codes</a></p>",
        code.name,
        code.status_list(),
        prose(code.remedy)
    )
}

fn html_table() -> String {
    let mut text = String::from("<table><tr><th>Code</th><th>Title</th><th>Status</th><th>What to do</th></tr>");
    for code in ALL {
        let (name, remedy) = (code.name, prose(code.remedy));
        let _ = write!(
            text,
            "<tr><td><a href=\"problems/{name}\"><code>{name}</code></a></td><td>{}</td><td>{}</td><td>{remedy}</td></tr>",
            code.title,
            code.status_list()
        );
    }
    text + "</table>"
}

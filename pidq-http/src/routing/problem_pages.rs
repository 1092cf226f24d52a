//! Pages about problem codes, which the `type` of a problem links to: HTML for browsers, JSON for programs.

use std::fmt::Write;

use hyper::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY, VARY};
use serde_json::{Value, json};

use crate::message::request::Request;
use crate::message::response::Response;
use crate::problem::Problem;
use crate::problem::codes::{self, ALL, ProblemCode};
use crate::routing::openapi::{policy, prose, standalone_page};

/// `GET /problems`: all codes.
pub(crate) async fn list(request: Request) -> Result<Response, Problem> {
    if prefers_html(&request) {
        return Ok(html("Problem codes", &html_table()));
    }
    Ok(Response::json(&ALL.iter().map(|code| object(code)).collect::<Vec<_>>())?.header(VARY, "Accept"))
}

/// `GET /problems/{code}`: one code.
pub(crate) async fn show(request: Request) -> Result<Response, Problem> {
    let code = ProblemCode::find(request.path("code")?)
        .ok_or_else(|| Problem::new(codes::NOT_FOUND).detail("Unknown problem code; `/problems` lists all codes."))?;
    if prefers_html(&request) {
        return Ok(html(code.title, &article(code)));
    }
    Ok(Response::json(&object(code))?.header(VARY, "Accept"))
}

fn prefers_html(request: &Request) -> bool {
    request.head.accepts("text/html") > request.head.accepts("application/json")
}

fn object(code: &ProblemCode) -> Value {
    json!({
        "type": code.path(), "code": code.name, "title": code.title, "statuses": code.statuses, "remedy": code.remedy,
    })
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

//! What a service refused, told as the command tells its own errors: code, what, where, help, request.

use std::time::Duration;

use pidq::error::Styles;
use pidq_http::StatusCode;
use serde_json::Value as Json;

use crate::cli::failure::{Failure, Status, stderr_styles};
use crate::cli::table::clean;

/// An answer that is not the wanted one.
pub struct Refusal {
    pub status: StatusCode,
    /// When to come back, as the service says.
    pub retry_after: Option<Duration>,
    /// The id under which the log of the service has more.
    pub request: Option<String>,
    /// What the answer says: a problem (RFC 9457), OAuth's form of one, or nothing that we know.
    pub body: Json,
}

impl Refusal {
    /// The stable code. Whatever answers without one, such as a proxy, is known by its status.
    pub fn code(&self) -> String {
        let code = ["code", "error"].iter().find_map(|name| self.body[name].as_str());
        code.map_or_else(|| format!("http-{}", self.status.as_u16()), clean)
    }

    /// Whether the same may be answered a little later. A query that took too long would only take as long again.
    pub fn comes_back(&self) -> Option<Duration> {
        let is_busy = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&self.status);
        self.retry_after.filter(|_| is_busy && self.code() != "query-timeout")
    }

    /// The same as a failure of the command. `about` is what it is about, such as a file.
    pub fn into_failure(self, about: Option<&str>, help: Option<&str>) -> Failure {
        let text = self.render(about, help, &stderr_styles());
        Failure::Refused(text, self.exit())
    }

    /// A query that the service refuses ends the command as one that we refuse.
    fn exit(&self) -> Status {
        exit(&self.body).unwrap_or(Status::Usage)
    }

    fn render(&self, about: Option<&str>, help: Option<&str>, styles: &Styles) -> String {
        let told = ["detail", "error_description", "title"].iter().find_map(|name| self.body[name].as_str());
        let told = told.or(self.status.canonical_reason()).unwrap_or("the service refused");
        let mut text = format!("{}error[{}]:{} {}\n", styles.error, self.code(), styles.reset, clean(told));
        if let Some(place) = about.map(str::to_owned).or_else(|| self.place()) {
            text.push_str(&format!("  --> {place}\n"));
        }
        let faults = self.body["errors"].as_array().into_iter().flatten().filter_map(fault);
        let request = self.request.as_ref().map(|id| format!(", request {}", clean(id))).unwrap_or_default();
        let notes = faults.map(|fault| ("fault", fault));
        let notes = notes.chain(self.help(help).map(|help| ("help", help)));
        for (name, note) in notes.chain([("service", format!("status {}{request}", self.status.as_u16()))]) {
            text.push_str(&format!("  {}= {name}:{} {note}\n", styles.help, styles.reset));
        }
        text
    }

    /// Where in the query it is.
    fn place(&self) -> Option<String> {
        Some(format!("the query:{}:{}", self.body["line"].as_u64()?, self.body["column"].as_u64()?))
    }

    fn help(&self, help: Option<&str>) -> Option<String> {
        self.body["help"].as_str().or(help).map(clean)
    }
}

/// One of several things that are wrong with a graph: where, and what.
fn fault(fault: &Json) -> Option<String> {
    let (pointer, detail) = (fault["pointer"].as_str()?, fault["detail"].as_str()?);
    Some(clean(&format!("{pointer}: {detail}")))
}

/// The status of the command for a query error, by its `stage`.
pub fn exit(error: &Json) -> Option<Status> {
    match error["stage"].as_str()? {
        "parse" | "compile" => Some(Status::Compile),
        "eval" | "limit" => Some(Status::Failed),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(status: u16, body: Json) -> Refusal {
        let status = StatusCode::from_u16(status).expect("a status");
        Refusal { status, retry_after: Some(Duration::from_secs(1)), request: Some("r-1".into()), body }
    }

    fn rendered(status: u16, body: Json) -> String {
        refusal(status, body).render(None, None, &Styles::PLAIN)
    }

    #[test]
    fn a_problem_is_told_with_its_place_its_help_and_its_request() {
        let body = json!({"code": "unknown-function", "detail": "Unknown function \"siez\".", "stage": "compile",
            "line": 1, "column": 20, "help": "did you mean `size`?"});
        let expected = "error[unknown-function]: Unknown function \"siez\".\n  --> the query:1:20\n  \
                        = help: did you mean `size`?\n  = service: status 422, request r-1\n";
        assert_eq!(rendered(422, body.clone()), expected);
        assert_eq!(refusal(422, body).exit(), Status::Compile);
    }

    #[test]
    fn oauth_and_strangers_are_understood_too() {
        let body = json!({"error": "invalid_grant", "error_description": "Invalid credentials given."});
        let first = |text: String| text.lines().next().map(str::to_owned);
        assert_eq!(first(rendered(400, body)).as_deref(), Some("error[invalid_grant]: Invalid credentials given."));
        assert_eq!(first(rendered(502, Json::Null)).as_deref(), Some("error[http-502]: Bad Gateway"));
        let evil = json!({"code": "\u{1b}[2J", "detail": "\u{7}"});
        assert!(!rendered(400, evil).contains(['\u{1b}', '\u{7}']), "nothing moves the cursor");
    }

    #[test]
    fn every_fault_of_a_graph_is_told() {
        let body = json!({"code": "invalid-graph", "errors": [{"pointer": "/a", "detail": "no"}, {"pointer": 1}]});
        assert!(rendered(422, body).contains("  = fault: /a: no\n  = service"));
    }

    #[test]
    fn what_is_busy_is_asked_again_and_a_long_query_is_not() {
        let again = |status, code: &str| refusal(status, json!({"code": code})).comes_back().is_some();
        assert!(again(429, "rate-limited") && again(503, "overloaded"));
        assert!(!again(503, "query-timeout") && !again(500, "internal") && !again(404, "graph-not-found"));
    }
}

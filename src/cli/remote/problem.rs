//! Problem response of a service, rendered like the command's own errors.

use std::time::Duration;

use pidq::error::Styles;
use pidq_http::StatusCode;
use serde_json::Value as Json;

use crate::cli::failure::{Failure, Status, stderr_styles};
use crate::cli::table::clean;

/// Problem response.
pub struct RemoteProblem {
    pub status: StatusCode,
    /// Value of `Retry-After`.
    pub retry_after: Option<Duration>,
    /// Request id, for the log of the service.
    pub request: Option<String>,
    /// Body: a problem (RFC 9457), an OAuth error, or anything else.
    pub body: Json,
}

impl RemoteProblem {
    /// Returns the error code; responses without one, such as those of proxies, are identified by status.
    pub fn code(&self) -> String {
        let code = ["code", "error"].iter().find_map(|name| self.body[name].as_str());
        code.map_or_else(|| format!("http-{}", self.status.as_u16()), clean)
    }

    /// Returns the delay before a retry, if a retry may succeed. A query timeout is not retried.
    pub fn retry_delay(&self) -> Option<Duration> {
        let is_busy = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&self.status);
        self.retry_after.filter(|_| is_busy && self.code() != "query-timeout")
    }

    /// Converts the problem into a failure. `about` names its subject, such as a file.
    pub fn into_failure(self, about: Option<&str>, help: Option<&str>) -> Failure {
        let text = self.render(about, help, &stderr_styles());
        Failure::Refused(text, self.exit())
    }

    /// Returns the exit status, the same as for a local query error.
    fn exit(&self) -> Status {
        exit(&self.body).unwrap_or(Status::Usage)
    }

    fn render(&self, about: Option<&str>, help: Option<&str>, styles: &Styles) -> String {
        let message = ["detail", "error_description", "title"].iter().find_map(|name| self.body[name].as_str());
        let message = message.or(self.status.canonical_reason()).unwrap_or("request failed");
        let mut text = format!("{}error[{}]:{} {}\n", styles.error, self.code(), styles.reset, clean(message));
        if let Some(location) = about.map(str::to_owned).or_else(|| self.location()) {
            text.push_str(&format!("  --> {location}\n"));
        }
        let findings = self.body["errors"].as_array().into_iter().flatten().filter_map(finding);
        let request = self.request.as_ref().map(|id| format!(", request {}", clean(id))).unwrap_or_default();
        let notes = findings.map(|finding| ("finding", finding));
        let notes = notes.chain(self.help(help).map(|help| ("help", help)));
        for (name, note) in notes.chain([("service", format!("status {}{request}", self.status.as_u16()))]) {
            text.push_str(&format!("  {}= {name}:{} {note}\n", styles.help, styles.reset));
        }
        text
    }

    /// Returns the location in the query.
    fn location(&self) -> Option<String> {
        Some(format!("the query:{}:{}", self.body["line"].as_u64()?, self.body["column"].as_u64()?))
    }

    fn help(&self, help: Option<&str>) -> Option<String> {
        self.body["help"].as_str().or(help).map(clean)
    }
}

/// Formats a validation finding: pointer and detail.
fn finding(finding: &Json) -> Option<String> {
    let (pointer, detail) = (finding["pointer"].as_str()?, finding["detail"].as_str()?);
    Some(clean(&format!("{pointer}: {detail}")))
}

/// Returns the exit status of a query error by its `stage`.
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

    fn remote_problem(status: u16, body: Json) -> RemoteProblem {
        let status = StatusCode::from_u16(status).expect("a status");
        RemoteProblem { status, retry_after: Some(Duration::from_secs(1)), request: Some("r-1".into()), body }
    }

    fn rendered(status: u16, body: Json) -> String {
        remote_problem(status, body).render(None, None, &Styles::PLAIN)
    }

    #[test]
    fn a_problem_is_rendered_with_location_help_and_request() {
        let body = json!({"code": "unknown-function", "detail": "Unknown function \"siez\".", "stage": "compile",
            "line": 1, "column": 20, "help": "did you mean `size`?"});
        let expected = "error[unknown-function]: Unknown function \"siez\".\n  --> the query:1:20\n  \
                        = help: did you mean `size`?\n  = service: status 422, request r-1\n";
        assert_eq!(rendered(422, body.clone()), expected);
        assert_eq!(remote_problem(422, body).exit(), Status::Compile);
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
    fn every_finding_of_a_graph_is_shown() {
        let body = json!({"code": "invalid-graph", "errors": [{"pointer": "/a", "detail": "no"}, {"pointer": 1}]});
        assert!(rendered(422, body).contains("  = finding: /a: no\n  = service"));
    }

    #[test]
    fn an_overloaded_service_is_retried_but_not_a_query_timeout() {
        let is_retried = |status, code: &str| remote_problem(status, json!({"code": code})).retry_delay().is_some();
        assert!(is_retried(429, "rate-limited") && is_retried(503, "overloaded"));
        assert!(
            !is_retried(503, "query-timeout") && !is_retried(500, "internal") && !is_retried(404, "graph-not-found")
        );
    }
}

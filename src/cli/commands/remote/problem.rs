//! Problem response of a service, rendered like the command's own errors.

use std::time::Duration;

use pidq::error::Styles;
use pidq_http::StatusCode;
use serde_json::Value as Json;

use crate::cli::failure::{Failure, Status, stderr_styles};
use crate::cli::table::escape_controls;

/// Problem response.
pub struct RemoteProblem {
    pub status: StatusCode,
    /// Value of `Retry-After`.
    pub retry_after: Option<Duration>,
    /// Request id, for the log of the service.
    pub request_id: Option<String>,
    /// Body: a problem (RFC 9457), an OAuth error, or anything else.
    pub body: Json,
}

impl RemoteProblem {
    /// Returns the error code; responses without one, such as those of proxies, are identified by status.
    pub fn code(&self) -> String {
        let code = ["code", "error"].iter().find_map(|name| self.body[name].as_str());
        code.map_or_else(|| format!("http-{}", self.status.as_u16()), escape_controls)
    }

    /// Returns the delay before a retry, if a retry may succeed. A query timeout is not retried.
    pub fn retry_delay(&self) -> Option<Duration> {
        let is_busy = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE].contains(&self.status);
        self.retry_after.filter(|_| is_busy && self.code() != "query-timeout")
    }

    /// Converts the problem into a failure that shows `subject`, such as a file, as its location.
    pub fn into_failure(self, subject: Option<&str>, help: Option<&str>) -> Failure {
        let text = self.render(subject, help, &stderr_styles());
        Failure::Problem(text, self.exit_status())
    }

    /// Returns the exit status, the same as for a local query error.
    fn exit_status(&self) -> Status {
        exit_status(&self.body).unwrap_or(Status::Usage)
    }

    fn render(&self, subject: Option<&str>, help: Option<&str>, styles: &Styles) -> String {
        let message = ["detail", "error_description", "title"].iter().find_map(|name| self.body[name].as_str());
        let message = message.or(self.status.canonical_reason()).unwrap_or("request failed");
        let mut text =
            format!("{}error[{}]:{} {}\n", styles.error, self.code(), styles.reset, escape_controls(message));
        if let Some(location) = subject.map(str::to_owned).or_else(|| self.location()) {
            text.push_str(&format!("  --> {location}\n"));
        }
        let findings = self.body["errors"].as_array().into_iter().flatten().filter_map(finding);
        let request =
            self.request_id.as_ref().map(|id| format!(", request {}", escape_controls(id))).unwrap_or_default();
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
        self.body["help"].as_str().or(help).map(escape_controls)
    }
}

/// Formats a validation finding: pointer and detail.
fn finding(finding: &Json) -> Option<String> {
    let (pointer, detail) = (finding["pointer"].as_str()?, finding["detail"].as_str()?);
    Some(escape_controls(&format!("{pointer}: {detail}")))
}

/// Returns the exit status of a query error by its `stage`.
pub fn exit_status(error: &Json) -> Option<Status> {
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
        RemoteProblem { status, retry_after: Some(Duration::from_secs(1)), request_id: Some("r-1".into()), body }
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
        assert_eq!(remote_problem(422, body).exit_status(), Status::Compile);
    }

    #[test]
    fn oauth_errors_and_responses_of_proxies_are_rendered() {
        let body = json!({"error": "invalid_grant", "error_description": "Invalid credentials given."});
        let first = |text: String| text.lines().next().map(str::to_owned);
        assert_eq!(first(rendered(400, body)).as_deref(), Some("error[invalid_grant]: Invalid credentials given."));
        assert_eq!(first(rendered(502, Json::Null)).as_deref(), Some("error[http-502]: Bad Gateway"));
        let hostile = json!({"code": "\u{1b}[2J", "detail": "\u{7}"});
        assert!(!rendered(400, hostile).contains(['\u{1b}', '\u{7}']), "control characters are escaped");
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

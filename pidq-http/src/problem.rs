//! Problem details for HTTP APIs (RFC 9457): `application/problem+json` with a stable `code`.
//!
//! OAuth endpoints use the form of RFC 6749 instead; a problem can be written in either form.

pub mod codes;

use std::fmt;

use hyper::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use self::codes::ProblemCode;

/// An error response.
///
/// `code` is for programs and never changes; `detail` is for people and may change.
/// Neither contains a secret or the text of a document.
#[derive(thiserror::Error)]
pub struct Problem(Box<Inner>);

struct Inner {
    status: StatusCode,
    code: Code,
    detail: Option<String>,
    fields: Map<String, Value>,
    headers: HeaderMap,
}

/// Error name: a row of the problem table, or an error name of RFC 6749.
#[derive(Clone, Copy)]
enum Code {
    Problem(&'static ProblemCode),
    OAuth(&'static str),
}

impl Code {
    fn name(self) -> &'static str {
        match self {
            Code::Problem(code) => code.name,
            Code::OAuth(name) => name,
        }
    }
}

/// Formats an error message as a sentence: capital letter and full stop.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}

/// Formats a name as one step of a JSON pointer (RFC 6901), with its slash.
pub fn pointer_step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Request that caused a problem: the source of `instance` and `request_id`.
pub(crate) struct Occurrence<'a> {
    pub path: &'a str,
    pub request_id: &'a str,
    /// Id of the trace, if it is recorded.
    pub trace_id: Option<&'a str>,
}

impl Problem {
    /// Creates a problem with the default status of its code.
    pub fn new(code: &'static ProblemCode) -> Self {
        let status = StatusCode::from_u16(code.statuses[0]).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Problem::from_parts(status, Code::Problem(code))
    }

    /// Creates a problem with another status of its code; the table lists all of them.
    pub fn with_status(code: &'static ProblemCode, status: StatusCode) -> Self {
        debug_assert!(code.statuses.contains(&status.as_u16()), "{code:?} has no status {status}");
        Problem::from_parts(status, Code::Problem(code))
    }

    /// Creates a problem in the form of RFC 6749, 5.2: `error` and `error_description`.
    pub fn oauth(status: StatusCode, error: &'static str, description: impl Into<String>) -> Self {
        Problem::from_parts(status, Code::OAuth(error)).detail(description)
    }

    fn from_parts(status: StatusCode, code: Code) -> Self {
        let (fields, headers) = (Map::new(), HeaderMap::new());
        Problem(Box::new(Inner { status, code, detail: None, fields, headers }))
    }

    /// Sets the explanation of this occurrence, a sentence.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// Adds a field, such as `allowed` or `errors`.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.fields.insert(name.into(), value.into());
        self
    }

    /// Adds a header. A value that is not valid in a header is omitted.
    pub fn header(mut self, name: HeaderName, value: impl AsRef<str>) -> Self {
        if let Ok(value) = HeaderValue::from_str(value.as_ref()) {
            self.0.headers.append(name, value);
        }
        self
    }

    /// Adds `Retry-After` in seconds.
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header(RETRY_AFTER, seconds.to_string())
    }

    /// Returns the status of the response.
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// Returns the explanation of this occurrence.
    pub(crate) fn detail_text(&self) -> Option<&str> {
        self.0.detail.as_deref()
    }

    /// The stable code.
    pub fn code(&self) -> &'static str {
        self.0.code.name()
    }

    /// 401 without credentials: RFC 6750 defines no error code for it.
    pub fn unauthenticated() -> Self {
        Problem::new(codes::UNAUTHENTICATED)
            .detail("An access token is required.")
            .header(WWW_AUTHENTICATE, "Bearer realm=\"pidq\"")
    }

    /// 401 for an invalid or expired token. `description` gives no further reason.
    pub fn invalid_token(description: &'static str) -> Self {
        let challenge = format!("Bearer realm=\"pidq\", error=\"invalid_token\", error_description=\"{description}\"");
        Problem::new(codes::INVALID_TOKEN).detail(description).header(WWW_AUTHENTICATE, challenge)
    }

    /// 403: the token is valid but lacks a scope.
    pub fn insufficient_scope(scope: &str) -> Self {
        let challenge = format!("Bearer realm=\"pidq\", error=\"insufficient_scope\", scope=\"{scope}\"");
        Problem::new(codes::INSUFFICIENT_SCOPE)
            .detail("The access token does not have the required scope.")
            .header(WWW_AUTHENTICATE, challenge)
    }

    /// 413: the body is larger than `limit` bytes.
    pub fn payload_too_large(limit: u64) -> Self {
        Problem::new(codes::PAYLOAD_TOO_LARGE)
            .detail(format!("The body may have at most {limit} bytes."))
            .with("limit", limit)
    }

    /// 415: the content type is none of `allowed`.
    pub fn unsupported_media_type(allowed: &[&str]) -> Self {
        Problem::new(codes::UNSUPPORTED_MEDIA_TYPE)
            .detail("The content type is not supported by this endpoint.")
            .with("allowed", allowed.iter().map(|&a| Value::from(a)).collect::<Vec<_>>())
            .header(header::ACCEPT, allowed.join(", "))
    }

    /// 500. The cause is written to the log, never to the client.
    pub fn internal() -> Self {
        Problem::new(codes::INTERNAL)
            .detail("An internal error occurred. The log contains the cause under the request id.")
    }

    /// Appends parameters to the `WWW-Authenticate` challenge, if there is one.
    pub(crate) fn extend_challenge(&mut self, parameters: &str) {
        let Some(challenge) = self.0.headers.get(WWW_AUTHENTICATE).and_then(|c| c.to_str().ok()) else { return };
        if challenge.starts_with("Bearer")
            && !challenge.contains(parameters)
            && let Ok(longer) = HeaderValue::from_str(&format!("{challenge}, {parameters}"))
        {
            self.0.headers.insert(WWW_AUTHENTICATE, longer);
        }
    }

    /// Converts a problem to the form of RFC 6749 5.2.
    pub(crate) fn into_oauth(mut self) -> Self {
        if matches!(self.0.code, Code::OAuth(_)) {
            return self;
        }
        self.0.code = Code::OAuth(oauth_error(self.0.status));
        // RFC 6749 5.2 has one status for invalid requests.
        if matches!(self.0.status, StatusCode::UNSUPPORTED_MEDIA_TYPE | StatusCode::UNPROCESSABLE_ENTITY) {
            self.0.status = StatusCode::BAD_REQUEST;
        }
        self
    }

    /// Returns the content type and the body.
    pub(crate) fn to_body(&self, occurrence: &Occurrence<'_>) -> (&'static str, Value) {
        match self.0.code {
            Code::Problem(code) => ("application/problem+json", self.problem_body(code, occurrence)),
            Code::OAuth(_) => ("application/json", self.oauth_body()),
        }
    }

    pub(crate) fn into_headers(self) -> HeaderMap {
        self.0.headers
    }

    fn problem_body(&self, code: &ProblemCode, occurrence: &Occurrence<'_>) -> Value {
        let body = ProblemBody {
            r#type: code.path(),
            title: code.title,
            status: self.0.status.as_u16(),
            detail: self.0.detail.as_deref(),
            instance: format!("{}#{}", occurrence.path, occurrence.request_id),
            code: code.name,
            request_id: occurrence.request_id,
            trace_id: occurrence.trace_id,
            fields: &self.0.fields,
        };
        serde_json::to_value(body).unwrap_or_default()
    }

    fn oauth_body(&self) -> Value {
        let body = OAuthErrorBody { error: self.code(), error_description: self.0.detail.as_deref() };
        serde_json::to_value(body).unwrap_or_default()
    }
}

/// Error (RFC 9457). Depending on the code, it has more fields, such as `errors` with the JSON pointers (RFC 6901) of
/// invalid fields, or `allowed` with the allowed values.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemBody<'a> {
    /// URL of a description of the code, relative to the service.
    #[schemars(extend("format" = "uri-reference"))]
    r#type: String,
    /// Summary of the code, for people.
    title: &'static str,
    /// HTTP status.
    #[schemars(range(min = 400, max = 599))]
    status: u16,
    /// Explanation of this occurrence, for people; its wording may change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    detail: Option<&'a str>,
    /// This occurrence: the path and the request id. It is no resource; the id only makes it unique.
    #[schemars(extend("format" = "uri-reference"))]
    instance: String,
    /// Code: stable, for programs.
    #[schemars(extend("enum" = codes::ALL.iter().map(|code| code.name).collect::<Vec<_>>()))]
    code: &'static str,
    /// Id of the request in the log.
    request_id: &'a str,
    /// Id of the trace of the request, if the service records it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    trace_id: Option<&'a str>,
    #[serde(flatten)]
    fields: &'a Map<String, Value>,
}

/// Error of an OAuth endpoint (RFC 6749, 5.2).
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "OAuthError")]
pub(crate) struct OAuthErrorBody<'a> {
    /// Error code of the RFC, such as `invalid_grant`.
    error: &'static str,
    /// Explanation, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    error_description: Option<&'a str>,
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Problem({} {})", self.0.status.as_u16(), self.code())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.detail {
            Some(detail) => write!(f, "{}: {detail}", self.code()),
            None => f.write_str(self.code()),
        }
    }
}

fn oauth_error(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "invalid_client",
        429 | 503 => "temporarily_unavailable",
        500.. => "server_error",
        _ => "invalid_request",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OCCURRENCE: Occurrence<'_> = Occurrence { path: "/graph/7", request_id: "r-1", trace_id: None };

    fn body(problem: Problem) -> Value {
        problem.to_body(&OCCURRENCE).1
    }

    #[test]
    fn a_problem_has_a_code_a_detail_and_an_instance() {
        let problem = Problem::new(codes::UNKNOWN_CLASSIFICATION).detail("Not one of ours.").with("allowed", vec!["a"]);
        let expected = serde_json::json!({
            "type": "/problems/unknown-classification", "title": "Unknown classification",
            "status": 422, "detail": "Not one of ours.", "instance": "/graph/7#r-1",
            "code": "unknown-classification", "request_id": "r-1", "allowed": ["a"],
        });
        assert_eq!(body(problem), expected);
    }

    #[test]
    fn a_problem_can_be_converted_to_the_oauth_form() {
        let expected = serde_json::json!({
            "error": "invalid_request", "error_description": "The body may have at most 7 bytes.",
        });
        assert_eq!(body(Problem::payload_too_large(7).into_oauth()), expected);
    }

    #[test]
    fn a_challenge_can_be_extended() {
        let mut problem = Problem::unauthenticated();
        problem.extend_challenge("resource_metadata=\"u\"");
        assert_eq!(problem.0.headers[WWW_AUTHENTICATE], "Bearer realm=\"pidq\", resource_metadata=\"u\"");
    }
}

//! Errors of model calls: a stable code, the message of the model server, and the next step.
//!
//! A 401 of the model server never becomes a 401 of this service: it means that the key of the model is wrong, not that
//! of the caller. Of a response body, only the message of an OpenAI error object is passed on, truncated: any server
//! could be at the other end.

use std::fmt;
use std::time::Duration;

use hyper::header::RETRY_AFTER;
use hyper::{HeaderMap, StatusCode};
use pidq_http::{Problem, ProblemCode, Secret, codes, sentence};
use serde::Serialize;
use serde_json::Value;

use super::deadline::TimeoutCause;
use super::invisible::is_invisible;
use super::retry_after::server_delay;
use crate::net::egress::EgressRejection;

/// Maximum length of a server's message that is passed on, in characters.
const MAX_MESSAGE_LENGTH: usize = 300;

/// Kind of an error.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LlmErrorKind {
    /// The egress policy forbids the address.
    Forbidden,
    /// The server cannot be reached.
    Unreachable,
    /// The server did not respond in time.
    Timeout,
    /// The server rejected the key.
    AuthFailed,
    /// The server does not have the model.
    ModelNotFound,
    /// The prompt exceeds the context window of the model.
    ContextExceeded,
    /// The server rejected the request for another reason.
    RejectedRequest,
    /// The server limits the rate.
    RateLimited,
    /// The server failed, or its response is invalid.
    BadResponse,
    /// The answer broke off before its end.
    Truncated,
}

/// Kinds and their rows in the table of problems.
const KINDS: &[(LlmErrorKind, &ProblemCode)] = &[
    (LlmErrorKind::Forbidden, codes::LLM_ENDPOINT_FORBIDDEN),
    (LlmErrorKind::Unreachable, codes::LLM_UNREACHABLE),
    (LlmErrorKind::Timeout, codes::LLM_TIMEOUT),
    (LlmErrorKind::AuthFailed, codes::LLM_AUTH_FAILED),
    (LlmErrorKind::ModelNotFound, codes::LLM_MODEL_NOT_FOUND),
    (LlmErrorKind::ContextExceeded, codes::LLM_CONTEXT_EXCEEDED),
    (LlmErrorKind::RejectedRequest, codes::LLM_REJECTED_REQUEST),
    (LlmErrorKind::RateLimited, codes::LLM_RATE_LIMITED),
    (LlmErrorKind::BadResponse, codes::LLM_BAD_RESPONSE),
    (LlmErrorKind::Truncated, codes::LLM_TRUNCATED),
];

/// Error reported by a model server.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Upstream {
    /// HTTP status.
    pub status: u16,
    /// Code of the error object.
    pub code: Option<String>,
    /// Beginning of the message of the error object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Scope of a failure, for the circuit breaker.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum FailureScope {
    /// The server fails for all requests.
    Server,
    /// Only this request failed; the server works.
    Request,
    /// The error does not indicate the state of the server.
    Unknown,
}

/// Error of a model call.
#[derive(Clone, thiserror::Error, PartialEq)]
pub struct LlmError(Box<Inner>);

#[derive(Clone, PartialEq)]
struct Inner {
    kind: LlmErrorKind,
    message: String,
    upstream: Option<Upstream>,
    retry_after: Option<Duration>,
    scope: FailureScope,
    is_retryable: bool,
    rejection: Option<EgressRejection>,
    /// Text of the error object in lower case, for classification; never shown.
    error_text: String,
    /// Text of the answer that arrived before the error.
    partial_answer: Option<String>,
}

impl LlmError {
    fn new(kind: LlmErrorKind, message: impl Into<String>) -> LlmError {
        let (message, error_text) = (message.into(), String::new());
        let (upstream, retry_after, rejection, partial_answer) = (None, None, None, None);
        let (scope, is_retryable) = (FailureScope::Unknown, false);
        LlmError(Box::new(Inner {
            kind,
            message,
            upstream,
            retry_after,
            scope,
            is_retryable,
            rejection,
            error_text,
            partial_answer,
        }))
    }

    pub(super) fn forbidden(rejection: &EgressRejection) -> LlmError {
        let mut error = LlmError::new(LlmErrorKind::Forbidden, rejection.to_string());
        error.0.rejection = Some(rejection.clone());
        error
    }

    pub(super) fn unreachable(reason: &str) -> LlmError {
        let mut error = LlmError::new(LlmErrorKind::Unreachable, format!("the model server is unreachable: {reason}"));
        error.0.scope = FailureScope::Server;
        error.0.is_retryable = true;
        error
    }

    /// Marks the error as not retryable.
    pub(super) fn permanent(mut self) -> LlmError {
        self.0.is_retryable = false;
        self
    }

    /// Adapts an error that occurs after text was sent: an exceeded context window is then a broken response.
    pub(crate) fn after_output(mut self) -> LlmError {
        if self.0.kind == LlmErrorKind::ContextExceeded {
            self.0.kind = LlmErrorKind::BadResponse;
        }
        self
    }

    pub(super) fn circuit_open(remaining: Duration) -> LlmError {
        let message = "the model server failed several times in a row; calls to it are suspended temporarily";
        let mut error = LlmError::new(LlmErrorKind::Unreachable, message);
        error.0.retry_after = Some(remaining);
        error
    }

    pub(super) fn timeout(cause: TimeoutCause) -> LlmError {
        let mut error = LlmError::new(LlmErrorKind::Timeout, "the model server did not respond in time");
        // A caller with a timeout of a millisecond must not open the circuit breaker for all.
        error.0.scope = if cause == TimeoutCause::Idle { FailureScope::Server } else { FailureScope::Unknown };
        error
    }

    /// Returns the error for the caller's own timeout.
    pub(crate) fn caller_timeout() -> LlmError {
        LlmError::timeout(TimeoutCause::Deadline)
    }

    pub(super) fn bad_response(reason: &str) -> LlmError {
        LlmError::new(LlmErrorKind::BadResponse, format!("the response of the model server is invalid: {reason}"))
    }

    /// Returns the error for an answer that ends without a finish reason and without `[DONE]`.
    pub(super) fn truncated() -> LlmError {
        LlmError::new(LlmErrorKind::Truncated, "the answer of the model server broke off before its end")
    }

    /// Adds the text of the answer that arrived before the error.
    pub(crate) fn with_partial_answer(mut self, text: &str) -> LlmError {
        self.0.partial_answer = (!text.is_empty()).then(|| text.to_owned());
        self
    }

    /// Returns the text of the answer that arrived before the error. It is incomplete.
    pub fn partial_answer(&self) -> Option<&str> {
        self.0.partial_answer.as_deref()
    }

    pub(super) fn invalid_header() -> LlmError {
        LlmError::new(
            LlmErrorKind::RejectedRequest,
            "`api_key` or a header has characters that are not allowed in a header",
        )
    }

    /// Returns the error for a question that alone exceeds the context window of the model.
    pub(crate) fn window_too_small() -> LlmError {
        LlmError::new(
            LlmErrorKind::ContextExceeded,
            "the question leaves no space for passages in the context window of the model",
        )
    }

    /// Converts a response with an error status.
    pub(super) fn from_response(status: StatusCode, headers: &HeaderMap, body: &[u8], secrets: &[Secret]) -> LlmError {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        // Some servers send the error object itself as the body.
        let object = if body["object"] == "error" { &body } else { &body["error"] };
        let mut error = LlmError::from_error_object(status.as_u16(), object, secrets);
        error.0.retry_after = server_delay(headers);
        error.0.is_retryable = match headers.get("x-should-retry").map(|value| value.as_bytes()) {
            Some(b"true") => true,
            Some(b"false") => false,
            _ => is_transient(status.as_u16()),
        };
        error
    }

    /// Converts an error object in a successful response. Its code may be an HTTP status.
    pub(super) fn from_event(object: &Value, secrets: &[Secret]) -> LlmError {
        let code = object["code"].as_u64().or_else(|| object["status"].as_u64());
        let status = code.filter(|code| (400..600).contains(code)).unwrap_or(200) as u16;
        let mut error = LlmError::from_error_object(status, object, secrets);
        error.0.is_retryable = is_transient(status);
        error
    }

    fn from_error_object(status: u16, object: &Value, secrets: &[Secret]) -> LlmError {
        let text = error_text(object);
        let kind = kind_of(status, &text);
        let mut error = LlmError::new(kind, message_for(kind, status));
        error.0.scope = if (502..=504).contains(&status) { FailureScope::Server } else { FailureScope::Request };
        error.0.upstream =
            Some(Upstream { status, code: code_of(object, secrets), message: public_message(object, secrets) });
        error.0.error_text = text;
        error
    }

    /// Returns the kind.
    pub fn kind(&self) -> LlmErrorKind {
        self.0.kind
    }

    /// Returns the stable code, such as `llm-timeout`.
    pub fn code(&self) -> &'static str {
        self.problem_code().name
    }

    /// Returns the HTTP status of this service's response.
    pub fn status(&self) -> u16 {
        self.problem_code().statuses[0]
    }

    /// Returns the error reported by the server, if any.
    pub fn upstream(&self) -> Option<&Upstream> {
        self.0.upstream.as_ref()
    }

    /// Returns the delay after which to retry, if known.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns the reason for rejecting the address. For the log only: callers must not learn what a name resolves to.
    pub fn rejection(&self) -> Option<&EgressRejection> {
        self.0.rejection.as_ref()
    }

    pub(super) fn scope(&self) -> FailureScope {
        self.0.scope
    }

    pub(super) fn is_retryable(&self) -> bool {
        self.0.is_retryable
    }

    /// Returns `true` if the server rejected a parameter by name.
    pub(super) fn rejects(&self, parameter: &str) -> bool {
        self.0.kind == LlmErrorKind::RejectedRequest && self.0.error_text.contains(parameter)
    }

    pub(super) fn is_bad_request(&self) -> bool {
        let bad = self.0.upstream.as_ref().is_some_and(|upstream| matches!(upstream.status, 400 | 422));
        bad && self.0.kind == LlmErrorKind::RejectedRequest
    }

    /// Returns the context window reported in the error, in tokens.
    pub(crate) fn window(&self) -> Option<usize> {
        let (_, tail) =
            self.0.error_text.split_once("context length").or_else(|| self.0.error_text.split_once("context size"))?;
        let digits: String =
            tail.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
        digits.parse().ok().filter(|tokens| (16..100_000_000).contains(tokens))
    }

    fn problem_code(&self) -> &'static ProblemCode {
        KINDS.iter().find(|row| row.0 == self.0.kind).map_or(codes::LLM_BAD_RESPONSE, |row| row.1)
    }
}

/// Concatenates code, type, parameter and message of an error object, in lower case.
fn error_text(object: &Value) -> String {
    let fields = ["code", "type", "param", "message"].map(|name| object[name].as_str().unwrap_or(""));
    let text = match object.as_str() {
        Some(text) => text.to_owned(),
        None => fields.join(" "),
    };
    text.chars().take(4096).flat_map(char::to_lowercase).collect()
}

const CONTEXT_PHRASES: &[&str] = &[
    "context_length_exceeded",
    "context length",
    "context size",
    "context window",
    "contextwindowexceeded",
    "exceed_context",
    "prompt is too long",
    "too many tokens",
];

const MODEL_PHRASES: &[&str] = &["model_not_found", "invalid model name", "no such model", "unknown model"];

fn kind_of(status: u16, error_text: &str) -> LlmErrorKind {
    let mentions = |phrases: &[&str]| phrases.iter().any(|phrase| error_text.contains(phrase));
    match status {
        400 | 413 | 422 | 200 if mentions(CONTEXT_PHRASES) => LlmErrorKind::ContextExceeded,
        400 | 404 | 422 | 200 if mentions(MODEL_PHRASES) => LlmErrorKind::ModelNotFound,
        401 | 403 => LlmErrorKind::AuthFailed,
        404 if error_text.contains("model") => LlmErrorKind::ModelNotFound,
        408 => LlmErrorKind::Timeout,
        429 => LlmErrorKind::RateLimited,
        200 if mentions(&["rate_limit", "rate limit"]) => LlmErrorKind::RateLimited,
        400 | 402 | 409 | 413 | 415 | 422 => LlmErrorKind::RejectedRequest,
        _ => LlmErrorKind::BadResponse,
    }
}

/// Returns `true` if the same request may succeed a little later.
fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..)
}

fn message_for(kind: LlmErrorKind, status: u16) -> String {
    match kind {
        LlmErrorKind::AuthFailed => "the model server rejected the API key".to_owned(),
        LlmErrorKind::ModelNotFound => "the model server does not have the model".to_owned(),
        LlmErrorKind::ContextExceeded => "the prompt exceeds the context window of the model".to_owned(),
        LlmErrorKind::RateLimited => "the rate limit of the model server is exceeded".to_owned(),
        LlmErrorKind::Timeout => "the model server did not respond in time".to_owned(),
        LlmErrorKind::RejectedRequest => format!("the model server rejected the request with {status}"),
        _ if status == 200 => "the model server reported an error in its response".to_owned(),
        _ if (300..400).contains(&status) => {
            format!("the model server responded with {status}; redirects are not followed")
        }
        _ => format!("the model server responded with {status}"),
    }
}

/// Returns the code of an error object, sanitized and without secrets: like the message, it is untrusted text.
fn code_of(object: &Value, secrets: &[Secret]) -> Option<String> {
    let text = |name: &str| match &object[name] {
        Value::String(code) if !code.is_empty() => Some(code.clone()),
        Value::Number(code) => Some(code.to_string()),
        _ => None,
    };
    let is_allowed = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let code = redact(secrets, text("code").or_else(|| text("type"))?);
    let code: String = code.chars().filter(is_allowed).take(64).collect();
    (!code.is_empty()).then_some(code)
}

/// Returns the message of an error object: on one line, truncated, and without secrets, which some servers repeat.
fn public_message(object: &Value, secrets: &[Secret]) -> Option<String> {
    let message = redact(secrets, object["message"].as_str()?.to_owned());
    let line = message.chars().map(|c| if c.is_control() { ' ' } else { c });
    let line: String = line.filter(|&c| !is_invisible(c)).take(MAX_MESSAGE_LENGTH).collect();
    (!line.trim().is_empty()).then(|| line.trim().to_owned())
}

fn redact(secrets: &[Secret], mut text: String) -> String {
    for secret in secrets.iter().map(Secret::expose).filter(|secret| secret.len() >= 4) {
        text = text.replace(secret, "***");
    }
    text
}

/// Returns a sentence as the second half of another one: lower case, no full stop.
fn clause(sentence: &str) -> String {
    let mut letters = sentence.trim_end_matches('.').chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

impl fmt::Display for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The remedy of an answer that broke off is about the part of it that arrived.
        let is_without_answer = self.0.kind == LlmErrorKind::Truncated && self.0.partial_answer.is_none();
        let remedy = if is_without_answer { "Try again." } else { self.problem_code().remedy };
        write!(f, "{}; {}", self.0.message, clause(remedy))
    }
}

impl fmt::Debug for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LlmError({}: {}, {:?})", self.code(), self.0.message, self.0.upstream)
    }
}

impl From<LlmError> for Problem {
    fn from(error: LlmError) -> Problem {
        let mut problem = Problem::new(error.problem_code()).detail(sentence(&error.to_string()));
        if let Some(upstream) = error.upstream() {
            problem = problem.with("upstream", serde_json::to_value(upstream).unwrap_or_default());
        }
        if let Some(text) = error.partial_answer() {
            problem = problem.with("partial_answer", text);
        }
        let delay = error.retry_after().map(|delay| delay.as_secs_f64().ceil() as u64);
        match delay.or((error.kind() == LlmErrorKind::RateLimited).then_some(5)) {
            Some(seconds) => problem.header(RETRY_AFTER, seconds.max(1).to_string()),
            None => problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_that_broke_off_has_a_part_that_arrived() {
        let without = LlmError::truncated().to_string();
        assert_eq!(without, "the answer of the model server broke off before its end; try again");
        let with = LlmError::truncated().with_partial_answer("PSV-2015A is").to_string();
        assert!(with.contains("`partial_answer`"), "{with}");
    }
}

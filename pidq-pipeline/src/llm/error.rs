//! What goes wrong with a model, as our callers are told it: a stable code, what the server said, what to do next.
//!
//! A server's 401 is never ours: it means that the key of the model is wrong, not that of our caller. And nothing of
//! a body is repeated but the message of an OpenAI error object, shortened: any server could be at the other end.

use std::fmt;
use std::time::Duration;

use hyper::header::RETRY_AFTER;
use hyper::{HeaderMap, StatusCode};
use pidq_http::{Problem, Secret, sentence};
use serde::Serialize;
use serde_json::Value;

use super::exchange::Late;
use super::retry;
use crate::egress::Refusal;

/// How much of a server's message is repeated, in characters.
const SHOWN: usize = 300;

/// What went wrong.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// The policy does not let us call this address.
    Forbidden,
    /// There is no connection.
    Unreachable,
    /// There was no answer in time.
    Timeout,
    /// The server does not take the key.
    AuthFailed,
    /// The server does not have the model.
    ModelNotFound,
    /// The question and its contexts are longer than the model takes.
    ContextExceeded,
    /// The server refuses the request for another reason.
    RejectedRequest,
    /// The server wants a pause.
    RateLimited,
    /// The server failed, or its answer makes no sense.
    BadResponse,
}

/// Kind, status, code, what to do next.
const KINDS: &[(Kind, u16, &str, &str)] = &[
    (Kind::Forbidden, 403, "llm-endpoint-forbidden", ""),
    (Kind::Unreachable, 502, "llm-unreachable", "check `base_url`, and that the model server runs"),
    (Kind::Timeout, 504, "llm-timeout", "ask again, raise `timeout_ms`, or take a faster model"),
    (Kind::AuthFailed, 502, "llm-auth-failed", "check `api_key`, and that it may use this model"),
    (Kind::ModelNotFound, 422, "llm-model-not-found", "check `model`: the server lists its models under `/models`"),
    (Kind::ContextExceeded, 422, "llm-context-exceeded", "ask with a smaller `top_k`, or take a model that reads more"),
    (
        Kind::RejectedRequest,
        502,
        "llm-rejected-request",
        "check what this model takes: `temperature`, `max_tokens`, `top_p`, `seed`, `stop`",
    ),
    (Kind::RateLimited, 503, "llm-rate-limited", "wait and ask again"),
    (
        Kind::BadResponse,
        502,
        "llm-bad-response",
        "ask again; if it stays so, check that `base_url` is the whole address, with `/v1`",
    ),
];

/// What a server said.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct Upstream {
    /// The status of its answer.
    pub status: u16,
    /// The code of its error object.
    pub code: Option<String>,
    /// The beginning of the message of its error object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Whose trouble an error is: an address that troubles everybody rests for a while.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Trouble {
    /// Everybody's who asks this server.
    Server,
    /// That of this request: the server is well.
    Request,
    /// Nothing is known about the server.
    Ours,
}

/// Why a model gave no answer.
#[derive(Clone, PartialEq)]
pub struct LlmError(Box<Inner>);

#[derive(Clone, PartialEq)]
struct Inner {
    kind: Kind,
    what: String,
    upstream: Option<Upstream>,
    retry_after: Option<Duration>,
    trouble: Trouble,
    may_repeat: bool,
    refusal: Option<Refusal>,
    /// All that the error object says, in lower case: for decisions, never shown.
    said: String,
}

impl LlmError {
    fn new(kind: Kind, what: impl Into<String>) -> LlmError {
        let (what, said) = (what.into(), String::new());
        let (upstream, retry_after, refusal, trouble, may_repeat) = (None, None, None, Trouble::Ours, false);
        LlmError(Box::new(Inner { kind, what, upstream, retry_after, trouble, may_repeat, refusal, said }))
    }

    pub(super) fn forbidden(refusal: &Refusal) -> LlmError {
        let mut error = LlmError::new(Kind::Forbidden, refusal.to_string());
        error.0.refusal = Some(refusal.clone());
        error
    }

    pub(super) fn unreachable(why: &str) -> LlmError {
        let mut error = LlmError::new(Kind::Unreachable, format!("the model server cannot be reached: {why}"));
        error.0.trouble = Trouble::Server;
        error.0.may_repeat = true;
        error
    }

    /// The same, and it will be so the next time.
    pub(super) fn for_good(mut self) -> LlmError {
        self.0.may_repeat = false;
        self
    }

    /// The same after text went out: what was too long then is an answer that broke off.
    pub(crate) fn too_late_to_repeat(mut self) -> LlmError {
        if self.0.kind == Kind::ContextExceeded {
            self.0.kind = Kind::BadResponse;
        }
        self
    }

    pub(super) fn resting(rest: Duration) -> LlmError {
        let what = "the model server failed several times in a row and is left alone for a while";
        let mut error = LlmError::new(Kind::Unreachable, what);
        error.0.retry_after = Some(rest);
        error
    }

    pub(super) fn late(late: Late) -> LlmError {
        let mut error = LlmError::new(Kind::Timeout, "the model server did not answer in time");
        // A caller who waits a millisecond must not make a server rest for all.
        error.0.trouble = if late == Late::Silent { Trouble::Server } else { Trouble::Ours };
        error
    }

    /// A caller's own time is over.
    pub(crate) fn silent() -> LlmError {
        LlmError::late(Late::Over)
    }

    pub(super) fn broken(what: &str) -> LlmError {
        LlmError::new(Kind::BadResponse, format!("the model server's answer cannot be used: {what}"))
    }

    pub(super) fn unsendable() -> LlmError {
        LlmError::new(Kind::RejectedRequest, "`api_key` or a header has characters that cannot be sent")
    }

    /// The question alone is longer than the model's window.
    pub(crate) fn no_room() -> LlmError {
        LlmError::new(Kind::ContextExceeded, "the question leaves no room for contexts in the window of the model")
    }

    /// An answer that is no success.
    pub(super) fn of_answer(status: StatusCode, headers: &HeaderMap, body: &[u8], secrets: &[Secret]) -> LlmError {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        // Some servers put the object itself at the top.
        let object = if body["object"] == "error" { &body } else { &body["error"] };
        let mut error = LlmError::of_object(status.as_u16(), object, secrets);
        error.0.retry_after = retry::wanted(headers);
        error.0.may_repeat = match headers.get("x-should-retry").map(|value| value.as_bytes()) {
            Some(b"true") => true,
            Some(b"false") => false,
            _ => is_passing(status.as_u16()),
        };
        error
    }

    /// An error object in an answer that began well. Its code may be a status.
    pub(super) fn of_event(object: &Value, secrets: &[Secret]) -> LlmError {
        let code = object["code"].as_u64().or_else(|| object["status"].as_u64());
        let status = code.filter(|code| (400..600).contains(code)).unwrap_or(200) as u16;
        let mut error = LlmError::of_object(status, object, secrets);
        error.0.may_repeat = is_passing(status);
        error
    }

    fn of_object(status: u16, object: &Value, secrets: &[Secret]) -> LlmError {
        let said = said(object);
        let kind = kind_of(status, &said);
        let mut error = LlmError::new(kind, what_of(kind, status));
        error.0.trouble = if (502..=504).contains(&status) { Trouble::Server } else { Trouble::Request };
        error.0.upstream = Some(Upstream { status, code: code_of(object, secrets), message: shown(object, secrets) });
        error.0.said = said;
        error
    }

    /// What went wrong.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The stable code: `llm-timeout`.
    pub fn code(&self) -> &'static str {
        self.row().2
    }

    /// The status of our own answer.
    pub fn status(&self) -> u16 {
        self.row().1
    }

    /// What the server said, if it said anything.
    pub fn upstream(&self) -> Option<&Upstream> {
        self.0.upstream.as_ref()
    }

    /// When the server wants to be asked again.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Why an address is not called: for the log, since callers are not told where a name leads.
    pub fn refusal(&self) -> Option<&Refusal> {
        self.0.refusal.as_ref()
    }

    pub(super) fn trouble(&self) -> Trouble {
        self.0.trouble
    }

    pub(super) fn may_repeat(&self) -> bool {
        self.0.may_repeat
    }

    /// Whether a 400 speaks of a parameter.
    pub(super) fn rejects(&self, parameter: &str) -> bool {
        self.0.kind == Kind::RejectedRequest && self.0.said.contains(parameter)
    }

    pub(super) fn is_bad_request(&self) -> bool {
        let bad = self.0.upstream.as_ref().is_some_and(|upstream| matches!(upstream.status, 400 | 422));
        bad && self.0.kind == Kind::RejectedRequest
    }

    /// The window that the server says the model has, in tokens.
    pub(crate) fn window(&self) -> Option<usize> {
        let (_, rest) = self.0.said.split_once("context length").or_else(|| self.0.said.split_once("context size"))?;
        let digits: String =
            rest.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
        digits.parse().ok().filter(|tokens| (16..100_000_000).contains(tokens))
    }

    fn row(&self) -> &'static (Kind, u16, &'static str, &'static str) {
        KINDS.iter().find(|row| row.0 == self.0.kind).unwrap_or(&KINDS[KINDS.len() - 1])
    }
}

/// Code, type, parameter and message of an error object, together and in lower case.
fn said(object: &Value) -> String {
    let members = ["code", "type", "param", "message"].map(|name| object[name].as_str().unwrap_or(""));
    let text = match object.as_str() {
        Some(text) => text.to_owned(),
        None => members.join(" "),
    };
    text.chars().take(4096).flat_map(char::to_lowercase).collect()
}

const CONTEXT: &[&str] = &[
    "context_length_exceeded",
    "context length",
    "context size",
    "context window",
    "contextwindowexceeded",
    "exceed_context",
    "prompt is too long",
    "too many tokens",
];

const MODEL: &[&str] = &["model_not_found", "invalid model name", "no such model", "unknown model"];

fn kind_of(status: u16, said: &str) -> Kind {
    let speaks = |words: &[&str]| words.iter().any(|words| said.contains(words));
    match status {
        400 | 413 | 422 | 200 if speaks(CONTEXT) => Kind::ContextExceeded,
        400 | 404 | 422 | 200 if speaks(MODEL) => Kind::ModelNotFound,
        401 | 403 => Kind::AuthFailed,
        404 if said.contains("model") => Kind::ModelNotFound,
        408 => Kind::Timeout,
        429 => Kind::RateLimited,
        200 if speaks(&["rate_limit", "rate limit"]) => Kind::RateLimited,
        400 | 402 | 409 | 413 | 415 | 422 => Kind::RejectedRequest,
        _ => Kind::BadResponse,
    }
}

/// Whether the same request may be answered a little later.
fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..)
}

fn what_of(kind: Kind, status: u16) -> String {
    match kind {
        Kind::AuthFailed => "the model server does not take the key".to_owned(),
        Kind::ModelNotFound => "the model server does not have the model".to_owned(),
        Kind::ContextExceeded => "the contexts are longer than the model takes".to_owned(),
        Kind::RateLimited => "the model server asks for a pause".to_owned(),
        Kind::Timeout => "the model server did not answer in time".to_owned(),
        Kind::RejectedRequest => format!("the model server refused the request with {status}"),
        _ if status == 200 => "the model server reported an error in its answer".to_owned(),
        _ if (300..400).contains(&status) => {
            format!("the model server answered {status}, and redirects are not followed")
        }
        _ => format!("the model server answered {status}"),
    }
}

/// The code of an error object, without what is secret: like a message it is the server's own text.
fn code_of(object: &Value, secrets: &[Secret]) -> Option<String> {
    let word = |name: &str| match &object[name] {
        Value::String(code) if !code.is_empty() => Some(code.clone()),
        Value::Number(code) => Some(code.to_string()),
        _ => None,
    };
    let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let code = without(secrets, word("code").or_else(|| word("type"))?);
    let code: String = code.chars().filter(plain).take(64).collect();
    (!code.is_empty()).then_some(code)
}

/// The message, on one line, shortened, and without the key and what else is secret: some servers repeat it.
fn shown(object: &Value, secrets: &[Secret]) -> Option<String> {
    let message = without(secrets, object["message"].as_str()?.to_owned());
    let line = message.chars().map(|c| if c.is_control() { ' ' } else { c });
    let line: String = line.filter(|&c| !crate::prompt::is_invisible(c)).take(SHOWN).collect();
    (!line.trim().is_empty()).then(|| line.trim().to_owned())
}

fn without(secrets: &[Secret], mut text: String) -> String {
    for secret in secrets.iter().map(Secret::expose).filter(|secret| secret.len() >= 4) {
        text = text.replace(secret, "***");
    }
    text
}

impl fmt::Display for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.what)?;
        match self.row().3 {
            "" => Ok(()),
            next => write!(f, "; {next}"),
        }
    }
}

impl fmt::Debug for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LlmError({}: {}, {:?})", self.code(), self.0.what, self.0.upstream)
    }
}

impl std::error::Error for LlmError {}

impl From<LlmError> for Problem {
    fn from(error: LlmError) -> Problem {
        let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::BAD_GATEWAY);
        let mut problem = Problem::new(status, error.code()).detail(sentence(&error.to_string()));
        if let Some(upstream) = error.upstream() {
            problem = problem.with("upstream", serde_json::to_value(upstream).unwrap_or_default());
        }
        let pause = error.retry_after().map(|pause| pause.as_secs_f64().ceil() as u64);
        match pause.or((error.kind() == Kind::RateLimited).then_some(5)) {
            Some(seconds) => problem.header(RETRY_AFTER, seconds.max(1).to_string()),
            None => problem,
        }
    }
}

//! What went wrong, as RFC 9457 tells it: `application/problem+json` with a stable `code`.
//!
//! OAuth's endpoints speak RFC 6749 instead; the same problem knows both forms.

use std::borrow::Cow;
use std::fmt;

use hyper::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{StatusCode, header};
use serde_json::{Map, Value};

use crate::request::Head;
use crate::response::Response;

/// An answer that is not the wanted one.
///
/// `code` is what programs look at and never changes; `detail` is for people and may improve.
/// Neither holds a secret, nor the text of a document.
pub struct Problem(Box<Inner>);

struct Inner {
    status: StatusCode,
    code: Cow<'static, str>,
    detail: Option<String>,
    members: Map<String, Value>,
    headers: HeaderMap,
    oauth: bool,
}

/// What an error says, as a sentence of prose: a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let Some(first) = letters.next() else { return String::new() };
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), letters.as_str())
}

/// A name as a step of a JSON pointer (RFC 6901), with its slash.
pub fn pointer_step(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Where a problem happened, for the members that every problem has.
pub(crate) struct Place<'a> {
    pub path: &'a str,
    pub request_id: &'a str,
}

impl Problem {
    /// A problem with a status and a stable, kebab-case code.
    pub fn new(status: StatusCode, code: impl Into<Cow<'static, str>>) -> Self {
        let (members, headers) = (Map::new(), HeaderMap::new());
        Problem(Box::new(Inner { status, code: code.into(), detail: None, members, headers, oauth: false }))
    }

    /// A problem in the form of RFC 6749 5.2: `error` and `error_description`.
    pub fn oauth(status: StatusCode, error: &'static str, description: impl Into<String>) -> Self {
        let mut problem = Problem::new(status, error).detail(description);
        problem.0.oauth = true;
        problem
    }

    /// The same, with a sentence for people.
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.0.detail = Some(detail.into());
        self
    }

    /// The same, with one more member, for example `allowed` or `errors`.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.members.insert(name.into(), value.into());
        self
    }

    /// The same, with a header. A value that no header can hold is left out.
    pub fn header(mut self, name: HeaderName, value: impl AsRef<str>) -> Self {
        if let Ok(value) = HeaderValue::from_str(value.as_ref()) {
            self.0.headers.append(name, value);
        }
        self
    }

    /// The same, telling the client when to come back.
    pub fn retry_after(self, seconds: u64) -> Self {
        self.header(RETRY_AFTER, seconds.to_string())
    }

    /// The status of the answer.
    pub fn status(&self) -> StatusCode {
        self.0.status
    }

    /// The stable code.
    pub fn code(&self) -> &str {
        &self.0.code
    }

    /// 400: what was sent is not what it should be.
    pub fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::BAD_REQUEST, code).detail(detail)
    }

    /// 401 without credentials: RFC 6750 gives no error code then.
    pub fn unauthenticated() -> Self {
        Problem::new(StatusCode::UNAUTHORIZED, "unauthenticated")
            .detail("An access token is needed.")
            .header(WWW_AUTHENTICATE, "Bearer realm=\"pidq\"")
    }

    /// 401 for a token that is not, or no longer, good. `description` says no more than that.
    pub fn invalid_token(description: &'static str) -> Self {
        let challenge = format!("Bearer realm=\"pidq\", error=\"invalid_token\", error_description=\"{description}\"");
        Problem::new(StatusCode::UNAUTHORIZED, "invalid-token").detail(description).header(WWW_AUTHENTICATE, challenge)
    }

    /// 403: the token is good, and does not reach that far.
    pub fn insufficient_scope(scope: &str) -> Self {
        let challenge = format!("Bearer realm=\"pidq\", error=\"insufficient_scope\", scope=\"{scope}\"");
        Problem::new(StatusCode::FORBIDDEN, "insufficient-scope")
            .detail("The access token does not have the scope that this needs.")
            .header(WWW_AUTHENTICATE, challenge)
    }

    /// 404 with the code of the thing that is not there.
    pub fn not_found(code: &'static str) -> Self {
        Problem::new(StatusCode::NOT_FOUND, code)
    }

    /// 413: more bytes than this takes.
    pub fn too_large(code: &'static str, limit: u64) -> Self {
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, code)
            .detail(format!("The body may have at most {limit} bytes."))
            .with("limit", limit)
    }

    /// 415: the content type is none of `allowed`.
    pub fn unsupported_media_type(allowed: &[&str]) -> Self {
        Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported-media-type")
            .detail("The content type is not one that this takes.")
            .with("allowed", allowed.iter().map(|&a| Value::from(a)).collect::<Vec<_>>())
            .header(header::ACCEPT, allowed.join(", "))
    }

    /// 422: well formed, and still not right.
    pub fn unprocessable(code: &'static str, detail: impl Into<String>) -> Self {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, code).detail(detail)
    }

    /// 500. What happened goes to the log, never to the client.
    pub fn internal() -> Self {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "internal")
            .detail("Something went wrong here. The log has more under the id of this request.")
    }

    /// 503: not now.
    pub fn unavailable(code: &'static str, detail: impl Into<String>, retry_after: u64) -> Self {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, code).detail(detail).retry_after(retry_after)
    }

    /// The body that it has as the answer to a request, for answers that have begun already.
    pub fn to_json(&self, head: &Head) -> Value {
        self.problem_body(&Place { path: head.uri.path(), request_id: &head.id })
    }

    /// Appends parameters to the challenge, if there is one.
    pub(crate) fn extend_challenge(&mut self, parameters: &str) {
        let Some(challenge) = self.0.headers.get(WWW_AUTHENTICATE).and_then(|c| c.to_str().ok()) else { return };
        if challenge.starts_with("Bearer")
            && !challenge.contains(parameters)
            && let Ok(longer) = HeaderValue::from_str(&format!("{challenge}, {parameters}"))
        {
            self.0.headers.insert(WWW_AUTHENTICATE, longer);
        }
    }

    /// Turns a problem of the floor into the form that OAuth's clients read.
    pub(crate) fn into_oauth(mut self) -> Self {
        if self.0.oauth {
            return self;
        }
        self.0.code = Cow::Borrowed(oauth_error(self.0.status));
        self.0.oauth = true;
        // RFC 6749 5.2 knows one status for a request that is not as it should be.
        if matches!(self.0.status, StatusCode::UNSUPPORTED_MEDIA_TYPE | StatusCode::UNPROCESSABLE_ENTITY) {
            self.0.status = StatusCode::BAD_REQUEST;
        }
        self
    }

    pub(crate) fn into_response(self, place: &Place<'_>) -> Response {
        let body = if self.0.oauth { self.oauth_body() } else { self.problem_body(place) };
        let media = if self.0.oauth { "application/json" } else { "application/problem+json" };
        let mut response = Response::new(self.0.status, media, body.to_string());
        response.headers.extend(self.0.headers);
        response.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }

    fn problem_body(&self, place: &Place<'_>) -> Value {
        let code = &self.0.code;
        let mut body = Map::new();
        body.insert("type".into(), format!("https://pidq.dev/problems/{code}").into());
        body.insert("title".into(), title(code).into());
        body.insert("status".into(), self.0.status.as_u16().into());
        if let Some(detail) = &self.0.detail {
            body.insert("detail".into(), detail.as_str().into());
        }
        // The occurrence, not the resource: the id makes it unique.
        body.insert("instance".into(), format!("{}#{}", place.path, place.request_id).into());
        body.insert("code".into(), code.as_ref().into());
        body.insert("request_id".into(), place.request_id.into());
        body.extend(self.0.members.clone());
        Value::Object(body)
    }

    fn oauth_body(&self) -> Value {
        let mut body = Map::new();
        body.insert("error".into(), self.0.code.as_ref().into());
        if let Some(detail) = &self.0.detail {
            body.insert("error_description".into(), detail.as_str().into());
        }
        Value::Object(body)
    }
}

impl fmt::Debug for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Problem({} {})", self.0.status.as_u16(), self.0.code)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.detail {
            Some(detail) => write!(f, "{}: {detail}", self.0.code),
            None => f.write_str(&self.0.code),
        }
    }
}

impl std::error::Error for Problem {}

/// What is not written as other words are.
const ABBREVIATIONS: &[&str] = &["API", "HTTP", "ID", "JSON", "LLM", "SQL", "SSO", "TLS", "URL"];

/// `unknown-classification` → `Unknown classification`, `llm-unreachable` → `LLM unreachable`.
fn title(code: &str) -> String {
    let word = |word: &str| ABBREVIATIONS.iter().copied().find(|known| known.eq_ignore_ascii_case(word));
    let words: Vec<_> = code.split(['-', '_']).map(|part| word(part).unwrap_or(part)).collect();
    let words = words.join(" ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
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

    #[test]
    fn titles_are_codes_as_people_write_them() {
        for (code, written) in [
            ("unknown-classification", "Unknown classification"),
            ("llm-unreachable", "LLM unreachable"),
            ("malformed-json", "Malformed JSON"),
            ("invalid-job-id", "Invalid job ID"),
        ] {
            assert_eq!(title(code), written);
        }
    }

    const PLACE: Place<'_> = Place { path: "/graph/7", request_id: "r-1" };

    fn body(problem: Problem) -> Value {
        serde_json::from_slice(&problem.into_response(&PLACE).body.whole().expect("problems are small"))
            .expect("problems are JSON")
    }

    #[test]
    fn a_problem_says_what_where_and_which_one() {
        let problem = Problem::unprocessable("unknown-classification", "Not one of ours.").with("allowed", vec!["a"]);
        let expected = serde_json::json!({
            "type": "https://pidq.dev/problems/unknown-classification", "title": "Unknown classification",
            "status": 422, "detail": "Not one of ours.", "instance": "/graph/7#r-1",
            "code": "unknown-classification", "request_id": "r-1", "allowed": ["a"],
        });
        assert_eq!(body(problem), expected);
    }

    #[test]
    fn problems_of_the_floor_speak_oauth_where_oauth_is_spoken() {
        let expected = serde_json::json!({
            "error": "invalid_request", "error_description": "The body may have at most 7 bytes.",
        });
        assert_eq!(body(Problem::too_large("payload-too-large", 7).into_oauth()), expected);
    }

    #[test]
    fn a_challenge_can_be_extended_and_others_stay_as_they_are() {
        let mut problem = Problem::unauthenticated();
        problem.extend_challenge("resource_metadata=\"u\"");
        assert_eq!(problem.0.headers[WWW_AUTHENTICATE], "Bearer realm=\"pidq\", resource_metadata=\"u\"");
    }
}

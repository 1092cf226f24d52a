//! Request as handlers see it: head, parameters, principal, and a size-limited body.

mod body;
mod drain;
mod form;
mod inflate;
mod multipart;

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use hyper::header::{AUTHORIZATION, AsHeaderName, CONTENT_TYPE, HeaderMap};
use hyper::http::uri::Authority;
use hyper::{Method, Uri, header};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

pub use body::BodyChunks;
pub(crate) use body::{BodyReader, Incoming};
pub(crate) use drain::{BodySource, UnreadBody};
pub use form::Form;
pub use multipart::{Multipart, MultipartLimits, Part};

use crate::compress;
use crate::log::Fingerprint;
use crate::negotiate::{media_quality, quality};
use crate::principal::Principal;
use crate::problem::{Problem, codes};
use crate::route::{Accepts, Params};
use crate::service::ServiceInfo;

/// Request head: everything that is available before the body is read.
#[derive(Clone, Debug)]
pub struct Head {
    /// Method.
    pub method: Method,
    /// Path and query.
    pub uri: Uri,
    /// Headers.
    pub headers: HeaderMap,
    /// Client address, as reported by trusted proxies.
    pub client: IpAddr,
    /// True if the request came over TLS, to this server or to a trusted proxy.
    pub secure: bool,
    /// Request id, safe for logs and headers.
    pub id: Arc<str>,
    /// `traceparent` of the caller (W3C Trace Context), if it is valid.
    pub traceparent: Option<String>,
    /// Fingerprint of the query, once it is known.
    pub(crate) query: OnceLock<Fingerprint>,
}

impl Head {
    /// Records the fingerprint of the query for the access log.
    pub fn record_query(&self, query: Fingerprint) {
        self.query.get_or_init(|| query);
    }

    pub(crate) fn query(&self) -> Option<Fingerprint> {
        self.query.get().copied()
    }

    /// Returns the host name that the client used, without its port, in lower case.
    pub fn host(&self) -> Option<String> {
        let from_header = || self.header("host").and_then(|host| host.parse().ok());
        let authority: Authority = self.uri.authority().cloned().or_else(from_header)?;
        let name = authority.host();
        let in_brackets = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        Some(in_brackets.unwrap_or(name).to_ascii_lowercase())
    }

    /// Rejects host names other than loopback names and `own`, as protection against DNS rebinding.
    ///
    /// # Errors
    ///
    /// 400 for another name.
    pub fn check_host(&self, own: Option<&str>) -> Result<(), Problem> {
        let Some(name) = self.host() else { return Ok(()) };
        let is_loopback = name.parse().is_ok_and(|address: IpAddr| address.to_canonical().is_loopback());
        if is_loopback || name == "localhost" || name.ends_with(".localhost") || own == Some(&name) {
            return Ok(());
        }
        let detail =
            "Unknown host. Without accounts, the service accepts only loopback and the host of `PIDQ_PUBLIC_URL`.";
        Err(Problem::new(codes::INVALID_REQUEST).detail(detail))
    }

    /// Returns the bearer token, if there is one. Two `Authorization` headers are an error; another scheme is
    /// ignored.
    pub fn bearer(&self) -> Result<Option<&str>, Problem> {
        Ok(self.authorization("Bearer")?.filter(|token| !token.is_empty()))
    }

    /// Returns the credentials in `Authorization`, if the scheme matches.
    pub fn authorization(&self, scheme: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.headers.get_all(AUTHORIZATION).iter();
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(Problem::new(codes::INVALID_REQUEST).detail("There is more than one Authorization header."));
        }
        let Some((name, rest)) = value.to_str().ok().and_then(|value| value.split_once(' ')) else { return Ok(None) };
        Ok(name.eq_ignore_ascii_case(scheme).then(|| rest.trim()))
    }

    /// Returns a header as a string. `None` if it is missing or not ASCII.
    pub fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns a list header with its lines joined (RFC 9110 5.3). Bytes that are not UTF-8 are replaced, so that
    /// they match nothing.
    pub fn list(&self, name: impl AsHeaderName) -> Option<Cow<'_, str>> {
        let mut lines = self.headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
        let first = lines.next()?;
        Some(lines.fold(first, |list, line| Cow::Owned(format!("{list}, {line}"))))
    }

    /// Returns the content type without its parameters, in lower case.
    pub fn media_type(&self) -> Option<String> {
        let value = self.headers.get(CONTENT_TYPE)?.to_str().ok()?;
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }

    /// Returns the quality of a content type in `Accept`, in thousandths; 0 means not acceptable.
    pub fn accepts(&self, media_type: &str) -> u16 {
        media_quality(self.headers.get_all(header::ACCEPT), media_type)
    }

    /// Returns whether `If-None-Match` contains this tag, in any content coding.
    pub fn has_cached(&self, tag: &str) -> bool {
        self.list(header::IF_NONE_MATCH).is_some_and(|condition| compress::matches_etag(&condition, tag))
    }

    /// Returns 412 unless `If-Match` and `If-None-Match` hold for the current tag; `None` if the resource does not
    /// exist.
    pub fn precondition(&self, current: Option<&str>) -> Result<(), Problem> {
        let matches = |condition: &str| current.is_some_and(|tag| compress::matches_etag(condition, tag));
        let missed = self.list(header::IF_MATCH).is_some_and(|expected| !matches(&expected));
        if missed || self.list(header::IF_NONE_MATCH).is_some_and(|unwanted| matches(&unwanted)) {
            let problem = Problem::new(codes::PRECONDITION_FAILED);
            let problem = problem.detail("The current version does not match `If-Match` or `If-None-Match`.");
            return Err(match current {
                Some(tag) => problem.header(header::ETAG, format!("\"{tag}\"")),
                None => problem,
            });
        }
        Ok(())
    }

    /// Returns the idempotency key, if there is one: 1 to 255 visible ASCII characters.
    pub fn idempotency_key(&self) -> Result<Option<&str>, Problem> {
        let Some(value) = self.headers.get("idempotency-key") else { return Ok(None) };
        let is_valid = |key: &&str| (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        let key = value.to_str().ok().filter(is_valid);
        let wrong = || {
            Problem::new(codes::INVALID_IDEMPOTENCY_KEY)
                .detail("An Idempotency-Key must have 1 to 255 visible ASCII characters.")
        };
        key.map(Some).ok_or_else(wrong)
    }

    /// Returns whether the client accepts a content coding.
    pub fn accepts_encoding(&self, coding: &str) -> bool {
        quality(self.headers.get_all(header::ACCEPT_ENCODING), coding) > 0
    }
}

/// Request passed to a handler.
pub struct Request {
    /// Head of the request.
    pub head: Arc<Head>,
    /// Path of the matched route.
    pub route: &'static str,
    pub(crate) params: Params,
    pub(crate) principal: Option<Arc<Principal>>,
    pub(crate) accepts: Option<Accepts>,
    pub(crate) body: BodyReader,
    pub(crate) info: Arc<ServiceInfo>,
}

impl Request {
    /// Returns a path parameter, decoded.
    pub fn path(&self, name: &str) -> Result<&str, Problem> {
        let Some((_, value)) = self.params.iter().find(|(param, _)| *param == name) else {
            tracing::error!(name, "a handler read an undeclared path parameter");
            return Err(Problem::internal());
        };
        let wrong = || Problem::new(codes::INVALID_PATH).detail("The decoded path is not UTF-8.");
        value.as_deref().ok_or_else(wrong)
    }

    /// Returns the query parameters.
    pub fn query(&self) -> Result<Form, Problem> {
        let malformed = || Problem::new(codes::INVALID_PARAMETER).detail("The query string is malformed.");
        self.head.uri.query().map_or_else(|| Ok(Form::default()), |text| Form::parse(text).ok_or_else(malformed))
    }

    /// Returns the authenticated principal. Public routes have none.
    pub fn principal(&self) -> Result<&Arc<Principal>, Problem> {
        self.principal.as_ref().ok_or_else(Problem::unauthenticated)
    }

    /// Reads the whole body, decompressed, within the limit of the route.
    pub async fn bytes(&mut self) -> Result<Bytes, Problem> {
        let accepts = self.accepted_body()?;
        self.body.read_all(&self.head.headers, accepts.limit).await
    }

    /// Returns the body size if it is known before reading. A compressed body has none.
    pub fn content_length(&self) -> Option<u64> {
        let plain = !self.head.headers.contains_key(header::CONTENT_ENCODING);
        self.body.content_length().filter(|_| plain)
    }

    /// Reads the whole body with a smaller limit than that of the route, for limits that come from a setting.
    pub async fn bytes_up_to(&mut self, limit: u64) -> Result<Bytes, Problem> {
        let accepts = self.accepted_body()?;
        self.body.read_all(&self.head.headers, accepts.limit.min(limit)).await
    }

    /// Returns the body in chunks, for bodies that may not fit in memory.
    pub fn chunks(&mut self, limit: u64) -> Result<BodyChunks, Problem> {
        let accepts = self.accepted_body()?;
        BodyChunks::new(self.body.take(), &self.head.headers, accepts.limit.min(limit))
    }

    /// Reads the whole body of any content type, for handlers that check the type themselves.
    pub async fn bytes_of_any_type(&mut self) -> Result<Bytes, Problem> {
        let limit = self.route_accepts()?.limit;
        self.body.read_all(&self.head.headers, limit).await
    }

    /// Parses the body as JSON.
    ///
    /// The message of a syntax error contains the position, never a part of the body.
    pub async fn json<T: DeserializeOwned>(&mut self) -> Result<T, Problem> {
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes).map_err(malformed_json)
    }

    /// Parses the body as a JSON object. An array of the field values, which serde also accepts, is an error.
    pub async fn object<T: DeserializeOwned>(&mut self) -> Result<T, Problem> {
        Request::parse_object(&self.bytes().await?)
    }

    /// Parses a JSON object from bytes that were already read.
    pub fn parse_object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
        let value = serde_json::from_slice(bytes).map_err(malformed_json)?;
        match bytes.trim_ascii_start().first() {
            Some(b'{') => Ok(value),
            _ => Err(Problem::new(codes::INVALID_REQUEST).detail("The body must be a JSON object.")),
        }
    }

    /// Parses the body as a form.
    pub async fn form(&mut self) -> Result<Form, Problem> {
        let bytes = self.bytes().await?;
        let malformed = || Problem::new(codes::MALFORMED_FORM).detail("The body is not a valid form.");
        Form::parse(std::str::from_utf8(&bytes).map_err(|_| malformed())?).ok_or_else(malformed)
    }

    /// Returns the parts of a multipart body in order of arrival.
    pub fn multipart(&mut self, limits: MultipartLimits) -> Result<Multipart, Problem> {
        let accepts = self.accepted_body()?;
        Multipart::new(&self.head.headers, self.body.take(), accepts.limit, limits)
    }

    /// Registers an observer of the body bytes as they arrive, before decompression.
    pub fn observe(&mut self, observer: impl FnMut(&[u8]) + Send + Sync + 'static) {
        self.body.observe(Box::new(observer));
    }

    /// Reads the body to its end and discards it. Does nothing on a route without a body.
    pub async fn skip_body(&mut self) -> Result<(), Problem> {
        match self.accepts {
            Some(accepts) => self.body.skip(accepts.limit).await,
            None => Ok(()),
        }
    }

    /// Returns the accepted body of the route if the content type matches.
    fn accepted_body(&self) -> Result<Accepts, Problem> {
        let accepts = self.route_accepts()?;
        // Hot: most clients send the content type exactly as the route has it.
        if self.head.header(CONTENT_TYPE).is_some_and(|media| accepts.media.contains(&media)) {
            return Ok(accepts);
        }
        let media = self.head.media_type().unwrap_or_default();
        let is_accepted = accepts.media.iter().any(|&m| m == media || m == "*/*");
        if is_accepted { Ok(accepts) } else { Err(Problem::unsupported_media_type(accepts.media)) }
    }

    fn route_accepts(&self) -> Result<Accepts, Problem> {
        self.accepts.ok_or_else(|| {
            tracing::error!(path = self.head.uri.path(), "a handler read the body of a route without one");
            Problem::internal()
        })
    }
}

fn malformed_json(error: serde_json::Error) -> Problem {
    let position = format!("line {}, column {}", error.line(), error.column());
    let (code, what) = match error.classify() {
        Category::Data => (codes::INVALID_REQUEST, format!("The JSON body is invalid{}", expected(&error))),
        Category::Eof if error.column() == 0 => (codes::MALFORMED_JSON, "The body is empty; expected JSON".into()),
        _ => (codes::MALFORMED_JSON, "The body is not JSON".into()),
    };
    let problem = Problem::new(code).detail(format!("{what} (at {position})."));
    problem.with("line", error.line()).with("column", error.column())
}

/// Returns what serde expected. What it found is part of the body and stays out.
fn expected(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(&*text, |(before, _)| before);
    match (text.strip_prefix("missing field "), text.rsplit_once(", expected ")) {
        (Some(name), _) => format!(": the field {name} is missing"),
        (None, Some((_, expected))) => format!(": expected {}", json_type_name(expected)),
        (None, None) => String::new(),
    }
}

/// Translates an expectation of serde into JSON terms.
fn json_type_name(expected: &str) -> &str {
    match expected {
        "a map" => "an object",
        "a sequence" => "an array",
        "a boolean" => "`true` or `false`",
        "u8" | "u16" | "u32" | "u64" | "usize" => "an integer",
        named if named.starts_with("struct ") => "an object",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(headers: &[(&'static str, &'static str)]) -> Head {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a value"));
        }
        let (uri, id) = (Uri::from_static("/"), "x".into());
        let client = IpAddr::from([127, 0, 0, 1]);
        let (traceparent, query) = (None, OnceLock::new());
        Head { method: Method::GET, uri, headers: map, client, secure: false, id, traceparent, query }
    }

    #[test]
    fn a_json_error_names_the_expectation_and_does_not_quote_the_body() {
        #[derive(Debug, serde::Deserialize)]
        struct Body {
            #[serde(rename = "query")]
            _query: String,
            #[serde(rename = "most", default)]
            _most: u8,
        }
        let detail = |body: &str| {
            let problem = malformed_json(serde_json::from_str::<Body>(body).expect_err(body));
            problem.to_json(&head(&[]))["detail"].as_str().expect("a detail").to_owned()
        };
        let wrong = "The JSON body is invalid";
        assert_eq!(detail("{}"), format!("{wrong}: the field `query` is missing (at line 1, column 2)."));
        assert_eq!(detail(r#"{"query": 5}"#), format!("{wrong}: expected a string (at line 1, column 11)."));
        let quoted = r#"{"query": "", "most": "s, expected z at line 7"}"#;
        assert_eq!(detail(quoted), format!("{wrong}: expected an integer (at line 1, column 47)."));
        assert_eq!(detail(""), "The body is empty; expected JSON (at line 1, column 0).");
        assert_eq!(detail("{"), "The body is not JSON (at line 1, column 1).");
    }

    #[test]
    fn a_bearer_token_is_found_whatever_the_case_of_its_scheme() {
        let token = |headers| head(headers).bearer().map(|t| t.map(str::to_owned)).map_err(|p| p.status().as_u16());
        assert_eq!(token(&[]), Ok(None));
        assert_eq!(token(&[("authorization", "bEaReR  x")]), Ok(Some("x".into())));
        assert_eq!(token(&[("authorization", "Basic x")]), Ok(None));
        assert_eq!(token(&[("authorization", "Bearer ")]), Ok(None));
        assert_eq!(token(&[("authorization", "Bearer")]), Ok(None));
        assert_eq!(token(&[("authorization", "Bearer x"), ("authorization", "Bearer x")]), Err(400));
    }

    #[test]
    fn preconditions_hold_or_are_412() {
        let holds = |headers, current| head(headers).precondition(current).map_err(|p| p.status().as_u16());
        assert_eq!(holds(&[], None), Ok(()));
        assert_eq!(holds(&[("if-match", "\"6\", \"7-zstd\"")], Some("7")), Ok(()));
        assert_eq!(holds(&[("if-match", "\"6\"")], Some("7")), Err(412));
        assert_eq!(holds(&[("if-match", "*")], None), Err(412));
        assert_eq!(holds(&[("if-none-match", "*")], Some("7")), Err(412));
        assert_eq!(holds(&[("if-none-match", "*")], None), Ok(()));
        assert_eq!(holds(&[("if-match", "\"6\""), ("if-match", "\"7\"")], Some("7")), Ok(()));
        assert_eq!(holds(&[("if-match", "\"\u{e4}\"")], Some("7")), Err(412), "an unreadable condition does not match");
    }

    #[test]
    fn an_idempotency_key_is_short_and_visible() {
        let key = |value| head(&[("idempotency-key", value)]).idempotency_key().map(|k| k.map(str::to_owned)).ok();
        assert_eq!(key("a-1"), Some(Some("a-1".into())));
        assert_eq!((key(""), key("a b")), (None, None));
    }

    #[test]
    fn a_media_type_has_no_parameters_and_no_capitals() {
        assert_eq!(
            head(&[("content-type", "Application/JSON; charset=utf-8")]).media_type().as_deref(),
            Some("application/json")
        );
        assert_eq!(head(&[]).media_type(), None);
    }
}

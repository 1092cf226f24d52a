//! A request as handlers see it: head, parameters, who asks, and a body within limits.

mod body;
mod form;
mod inflate;
mod leftover;
mod multipart;

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use hyper::header::{AUTHORIZATION, AsHeaderName, CONTENT_TYPE, HeaderMap};
use hyper::http::uri::Authority;
use hyper::{Method, StatusCode, Uri, header};
use serde::de::DeserializeOwned;
use serde_json::error::Category;

pub use body::Pieces;
pub(crate) use body::{Incoming, Reader};
pub use form::Form;
pub(crate) use leftover::{Leftover, Source};
pub use multipart::{Multipart, MultipartLimits, Part};

use crate::compress;
use crate::log::Fingerprint;
use crate::negotiate::{media_quality, quality};
use crate::principal::Principal;
use crate::problem::Problem;
use crate::route::{Accepts, Params};
use crate::site::Facts;

/// What is known of a request before its body: all that an authenticator may look at.
#[derive(Clone, Debug)]
pub struct Head {
    /// The method.
    pub method: Method,
    /// Path and query.
    pub uri: Uri,
    /// The headers.
    pub headers: HeaderMap,
    /// Who is at the other end, as far as trusted proxies tell.
    pub client: IpAddr,
    /// Whether it came over TLS, here or at a trusted proxy.
    pub secure: bool,
    /// The id of this request, fit for logs and headers.
    pub id: Arc<str>,
    /// The trace of the caller, as W3C Trace Context writes it, if there was a good one.
    pub traceparent: Option<String>,
    /// Which query is asked, once that is known.
    pub(crate) query: OnceLock<Fingerprint>,
}

impl Head {
    /// Says which query is asked, for the log.
    pub fn asks(&self, query: Fingerprint) {
        self.query.get_or_init(|| query);
    }

    pub(crate) fn query(&self) -> Option<Fingerprint> {
        self.query.get().copied()
    }

    /// The name that the service was asked by, without its port, in lower case.
    pub fn host(&self) -> Option<String> {
        let of_header = || self.header("host").and_then(|host| host.parse().ok());
        let authority: Authority = self.uri.authority().cloned().or_else(of_header)?;
        let name = authority.host();
        let in_brackets = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        Some(in_brackets.unwrap_or(name).to_ascii_lowercase())
    }

    /// Whether it was asked by a name of this machine, or by its own. A page of a stranger can have its name lead here and
    /// then ask from a browser on this machine; the name shows it.
    ///
    /// # Errors
    /// 400 for another name.
    pub fn known_host(&self, own: Option<&str>) -> Result<(), Problem> {
        let Some(name) = self.host() else { return Ok(()) };
        let is_loopback = name.parse().is_ok_and(|address: IpAddr| address.to_canonical().is_loopback());
        if is_loopback || name == "localhost" || name.ends_with(".localhost") || own == Some(&name) {
            return Ok(());
        }
        let why = "Without accounts the service goes by `localhost`, and by the name in `PIDQ_PUBLIC_URL`.";
        Err(Problem::bad_request("invalid-request", why))
    }

    /// The bearer token, if there is one. Two `Authorization` headers are a mistake; another scheme is no token.
    pub fn bearer(&self) -> Result<Option<&str>, Problem> {
        Ok(self.authorization("Bearer")?.filter(|token| !token.is_empty()))
    }

    /// What follows the scheme in `Authorization`, if it is this scheme.
    pub fn authorization(&self, scheme: &str) -> Result<Option<&str>, Problem> {
        let mut values = self.headers.get_all(AUTHORIZATION).iter();
        let Some(value) = values.next() else { return Ok(None) };
        if values.next().is_some() {
            return Err(Problem::bad_request("invalid-request", "There is more than one Authorization header."));
        }
        let Some((name, rest)) = value.to_str().ok().and_then(|value| value.split_once(' ')) else { return Ok(None) };
        Ok(name.eq_ignore_ascii_case(scheme).then(|| rest.trim()))
    }

    /// A header as text. None when it is missing, or not ASCII.
    pub fn header(&self, name: impl AsHeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// A header that is a list: its lines as one (RFC 9110 5.3). What is not ASCII stays, as something that nothing equals.
    pub fn list(&self, name: impl AsHeaderName) -> Option<Cow<'_, str>> {
        let mut lines = self.headers.get_all(name).iter().map(|line| String::from_utf8_lossy(line.as_bytes()));
        let first = lines.next()?;
        Some(lines.fold(first, |list, line| Cow::Owned(format!("{list}, {line}"))))
    }

    /// The content type without its parameters, in lower case.
    pub fn media_type(&self) -> Option<String> {
        let value = self.headers.get(CONTENT_TYPE)?.to_str().ok()?;
        Some(value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase())
    }

    /// How much the client wants a content type, in thousandths: 0 is not at all.
    pub fn accepts(&self, media_type: &str) -> u16 {
        media_quality(self.headers.get_all(header::ACCEPT), media_type)
    }

    /// Whether what the client has is what this tag names, in whatever coding it came.
    pub fn knows(&self, tag: &str) -> bool {
        self.list(header::IF_NONE_MATCH).is_some_and(|condition| compress::matches_etag(&condition, tag))
    }

    /// 412 unless `If-Match` and `If-None-Match` hold for what is there now: its tag, or none when nothing is there.
    pub fn precondition(&self, current: Option<&str>) -> Result<(), Problem> {
        let held = |condition: &str| current.is_some_and(|tag| compress::matches_etag(condition, tag));
        let missed = self.list(header::IF_MATCH).is_some_and(|wanted| !held(&wanted));
        if missed || self.list(header::IF_NONE_MATCH).is_some_and(|unwanted| held(&unwanted)) {
            let problem = Problem::new(StatusCode::PRECONDITION_FAILED, "precondition-failed");
            let problem = problem.detail("What is there now is not what the condition asks for.");
            return Err(match current {
                Some(tag) => problem.header(header::ETAG, format!("\"{tag}\"")),
                None => problem,
            });
        }
        Ok(())
    }

    /// The key that makes a POST safe to repeat, if there is one: 1 to 255 visible characters.
    pub fn idempotency_key(&self) -> Result<Option<&str>, Problem> {
        let Some(value) = self.headers.get("idempotency-key") else { return Ok(None) };
        let fit = |key: &&str| (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        let key = value.to_str().ok().filter(fit);
        let wrong =
            || Problem::bad_request("invalid-idempotency-key", "An Idempotency-Key has 1 to 255 visible characters.");
        key.map(Some).ok_or_else(wrong)
    }

    /// Whether the client takes a content coding.
    pub fn accepts_encoding(&self, coding: &str) -> bool {
        quality(self.headers.get_all(header::ACCEPT_ENCODING), coding) > 0
    }
}

/// A request on its way to its handler.
pub struct Request {
    /// All but the body.
    pub head: Arc<Head>,
    /// The path of the row that answers.
    pub route: &'static str,
    pub(crate) params: Params,
    pub(crate) principal: Option<Arc<Principal>>,
    pub(crate) accepts: Option<Accepts>,
    pub(crate) body: Reader,
    pub(crate) facts: Arc<Facts>,
}

impl Request {
    /// A parameter of the path, decoded.
    pub fn path(&self, name: &str) -> Result<&str, Problem> {
        let Some((_, value)) = self.params.iter().find(|(param, _)| *param == name) else {
            tracing::error!(name, "a handler asks for a parameter that its path does not have");
            return Err(Problem::internal());
        };
        let wrong = || Problem::bad_request("invalid-path", "The path is not UTF-8 once it is decoded.");
        value.as_deref().ok_or_else(wrong)
    }

    /// The parameters behind the question mark.
    pub fn query(&self) -> Result<Form, Problem> {
        let malformed = || Problem::bad_request("invalid-parameter", "The query of the URL is not well formed.");
        self.head.uri.query().map_or_else(|| Ok(Form::default()), |text| Form::parse(text).ok_or_else(malformed))
    }

    /// Who asks. Rows that are for everybody have nobody to tell of.
    pub fn principal(&self) -> Result<&Arc<Principal>, Problem> {
        self.principal.as_ref().ok_or_else(Problem::unauthenticated)
    }

    /// The whole body, decompressed, within the limits of the row.
    pub async fn bytes(&mut self) -> Result<Bytes, Problem> {
        let accepts = self.accepted()?;
        self.body.whole(&self.head.headers, accepts.limit).await
    }

    /// How many bytes the body has, if that is known before it is read. What is compressed may become anything.
    pub fn announced(&self) -> Option<u64> {
        let plain = !self.head.headers.contains_key(header::CONTENT_ENCODING);
        self.body.announced().filter(|_| plain)
    }

    /// The same for handlers that take less than their row says: a setting decides, and the table cannot know it.
    pub async fn bytes_up_to(&mut self, limit: u64) -> Result<Bytes, Problem> {
        let accepts = self.accepted()?;
        self.body.whole(&self.head.headers, accepts.limit.min(limit)).await
    }

    /// The body piece by piece, for what may be too large for memory.
    pub fn pieces(&mut self, limit: u64) -> Result<Pieces, Problem> {
        let accepts = self.accepted()?;
        Pieces::new(self.body.take(), &self.head.headers, accepts.limit.min(limit))
    }

    /// The whole body, whatever its content type, for handlers that have an opinion of their own about that.
    pub async fn bytes_of_any_type(&mut self) -> Result<Bytes, Problem> {
        let limit = self.row_accepts()?.limit;
        self.body.whole(&self.head.headers, limit).await
    }

    /// The body as JSON.
    ///
    /// The message of a syntax error says where it is; it never quotes the body.
    pub async fn json<T: DeserializeOwned>(&mut self) -> Result<T, Problem> {
        let bytes = self.bytes().await?;
        serde_json::from_slice(&bytes).map_err(malformed_json)
    }

    /// The body as a JSON object with named members. A list of their values, which serde takes as well, is none.
    pub async fn object<T: DeserializeOwned>(&mut self) -> Result<T, Problem> {
        Request::object_in(&self.bytes().await?)
    }

    /// The same of a body that was read already.
    pub fn object_in<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
        let value = serde_json::from_slice(bytes).map_err(malformed_json)?;
        match bytes.trim_ascii_start().first() {
            Some(b'{') => Ok(value),
            _ => Err(Problem::bad_request("invalid-request", "The body is JSON, and not an object.")),
        }
    }

    /// The body as a form.
    pub async fn form(&mut self) -> Result<Form, Problem> {
        let bytes = self.bytes().await?;
        let malformed = || Problem::bad_request("malformed-form", "The body is not a well-formed form.");
        Form::parse(std::str::from_utf8(&bytes).map_err(|_| malformed())?).ok_or_else(malformed)
    }

    /// The body as parts that arrive one after the other.
    pub fn multipart(&mut self, limits: MultipartLimits) -> Result<Multipart, Problem> {
        let accepts = self.accepted()?;
        Multipart::new(&self.head.headers, self.body.take(), accepts.limit, limits)
    }

    /// Shows every piece of the body to somebody while it is read: as it came, before it is decompressed.
    pub fn observe(&mut self, observer: impl FnMut(&[u8]) + Send + Sync + 'static) {
        self.body.observe(Box::new(observer));
    }

    /// Reads the body to its end and keeps nothing, for whoever only observes it. A row without a body has none.
    pub async fn skip_body(&mut self) -> Result<(), Problem> {
        match self.accepts {
            Some(accepts) => self.body.skip(accepts.limit).await,
            None => Ok(()),
        }
    }

    /// What the row takes, if the content type is among it.
    fn accepted(&self) -> Result<Accepts, Problem> {
        let accepts = self.row_accepts()?;
        // Hot: most clients write it as the row does.
        if self.head.header(CONTENT_TYPE).is_some_and(|media| accepts.media.contains(&media)) {
            return Ok(accepts);
        }
        let media = self.head.media_type().unwrap_or_default();
        let fits = accepts.media.iter().any(|&m| m == media || m == "*/*");
        if fits { Ok(accepts) } else { Err(Problem::unsupported_media_type(accepts.media)) }
    }

    fn row_accepts(&self) -> Result<Accepts, Problem> {
        self.accepts.ok_or_else(|| {
            tracing::error!(path = self.head.uri.path(), "a handler reads a body that its row does not have");
            Problem::internal()
        })
    }
}

fn malformed_json(error: serde_json::Error) -> Problem {
    let place = format!("line {}, column {}", error.line(), error.column());
    let (code, what) = match error.classify() {
        Category::Data => ("invalid-request", format!("The body is JSON, and not what is expected{}", wanted(&error))),
        Category::Eof if error.column() == 0 => ("malformed-json", "The body is empty, and should be JSON".into()),
        _ => ("malformed-json", "The body is not JSON".into()),
    };
    let problem = Problem::new(StatusCode::BAD_REQUEST, code).detail(format!("{what} (at {place})."));
    problem.with("line", error.line()).with("column", error.column())
}

/// What serde expected. What it found stays out: that is the body's.
fn wanted(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.rsplit_once(" at line ").map_or(&*text, |(before, _)| before);
    match (text.strip_prefix("missing field "), text.rsplit_once(", expected ")) {
        (Some(name), _) => format!(": the member {name} is missing"),
        (None, Some((_, expected))) => format!(": {} is expected", in_json(expected)),
        (None, None) => String::new(),
    }
}

/// What serde expects, in the words of JSON.
fn in_json(expected: &str) -> &str {
    match expected {
        "a map" => "an object",
        "a sequence" => "a list",
        "a boolean" => "`true` or `false`",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
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
    fn a_body_that_does_not_fit_is_told_what_is_expected_and_not_what_it_said() {
        #[derive(Debug, serde::Deserialize)]
        struct Asked {
            #[serde(rename = "query")]
            _query: String,
            #[serde(rename = "most", default)]
            _most: u8,
        }
        let detail = |body: &str| {
            let problem = malformed_json(serde_json::from_str::<Asked>(body).expect_err(body));
            problem.to_json(&head(&[]))["detail"].as_str().expect("a detail").to_owned()
        };
        let wrong = "The body is JSON, and not what is expected";
        assert_eq!(detail("{}"), format!("{wrong}: the member `query` is missing (at line 1, column 2)."));
        assert_eq!(detail(r#"{"query": 5}"#), format!("{wrong}: a string is expected (at line 1, column 11)."));
        let quoted = r#"{"query": "", "most": "s, expected z at line 7"}"#;
        assert_eq!(detail(quoted), format!("{wrong}: a whole number is expected (at line 1, column 47)."));
        assert_eq!(detail(""), "The body is empty, and should be JSON (at line 1, column 0).");
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
        assert_eq!(holds(&[("if-match", "\"\u{e4}\"")], Some("7")), Err(412), "a condition nobody can read is one");
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

//! Request head: everything that is available before the body is read.

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use hyper::header::{AUTHORIZATION, AsHeaderName, CONTENT_TYPE, HeaderMap};
use hyper::http::uri::Authority;
use hyper::{Method, Uri, header};
use serde_json::Value;

use crate::message::compress::CODINGS;
use crate::message::etag::matches_etag;
use crate::message::fingerprint::Fingerprint;
use crate::message::negotiate::{media_quality, preferred_coding, quality, refuses_identity};
use crate::problem::{Occurrence, Problem, codes};
use crate::trace::Trace;

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
    /// Position in the trace of the caller: the span of this request, if it is recorded.
    pub trace: Trace,
    /// Fingerprint of the query, once it is known.
    pub(crate) query: OnceLock<Fingerprint>,
}

impl Head {
    /// Records the fingerprint of the query for the access log.
    pub fn record_query(&self, query: Fingerprint) {
        self.query.get_or_init(|| query);
    }

    /// Returns the JSON body of a problem for this request, for responses that have already started.
    pub fn problem_json(&self, problem: &Problem) -> Value {
        problem.to_body(&self.occurrence()).1
    }

    /// Returns the occurrence of a problem of this request.
    pub(crate) fn occurrence(&self) -> Occurrence<'_> {
        Occurrence { path: self.uri.path(), request_id: &self.id, trace_id: self.trace.recorded_id() }
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
        if is_loopback_name(&name) || own == Some(&name) {
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

    /// Returns whether the client prefers a page to JSON, as browsers do.
    pub fn prefers_html(&self) -> bool {
        self.accepts("text/html") > self.accepts("application/json")
    }

    /// Returns whether `If-None-Match` contains this tag, in any content coding.
    pub fn has_cached(&self, tag: &str) -> bool {
        self.list(header::IF_NONE_MATCH).is_some_and(|condition| matches_etag(&condition, tag))
    }

    /// Returns 412 unless `If-Match` and `If-None-Match` hold for the current tag; `None` if the resource does not
    /// exist.
    pub fn precondition(&self, current: Option<&str>) -> Result<(), Problem> {
        let matches = |condition: &str| current.is_some_and(|tag| matches_etag(condition, tag));
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
        quality(&self.headers.get_all(header::ACCEPT_ENCODING), coding) > 0
    }

    /// Returns the content coding with the highest quality; the first one among equals. `None` if the client accepts
    /// none of them.
    pub fn preferred_encoding<'a>(&self, codings: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
        preferred_coding(self.headers.get_all(header::ACCEPT_ENCODING), codings)
    }

    /// Returns whether the client prefers metrics as OpenMetrics. Those that do not say so get the older format, which
    /// every reader knows.
    pub(crate) fn prefers_open_metrics(&self) -> bool {
        let quality = |media| media_quality(self.headers.get_all(header::ACCEPT), media);
        quality("application/openmetrics-text") > quality("text/plain")
    }

    /// Returns 406 if the client refuses every content coding, and content without a coding as well.
    pub(crate) fn check_accepts_content(&self) -> Result<(), Problem> {
        let accepted = || self.headers.get_all(header::ACCEPT_ENCODING);
        if !refuses_identity(&accepted()) || preferred_coding(accepted(), CODINGS).is_some() {
            return Ok(());
        }
        Err(Problem::new(codes::NOT_ACCEPTABLE)
            .detail("`Accept-Encoding` refuses every content coding that the server can send.")
            .with("allowed", [&["identity"][..], &CODINGS[..]].concat()))
    }
}

/// Returns true for the names of this machine: `localhost` and loopback addresses.
pub(crate) fn is_loopback_name(name: &str) -> bool {
    let is_address = name.parse().is_ok_and(|address: IpAddr| address.to_canonical().is_loopback());
    is_address || name == "localhost" || name.ends_with(".localhost")
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
        let (trace, query) = (Trace::default(), OnceLock::new());
        Head { method: Method::GET, uri, headers: map, client, secure: false, id, trace, query }
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

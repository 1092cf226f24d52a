//! Endpoint of a model: base URL, API key, model name and extra headers.

use std::fmt;

use hyper::header::{HeaderName, HeaderValue};
use pidq_http::{Bytes, Secret};
use zeroize::Zeroizing;

use crate::net::egress::AllowList;

/// Headers that callers cannot set: hop-by-hop headers and those set by this client.
const RESERVED_HEADERS: &[&str] = &[
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// A model on a server.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Base URL, usually ending in `/v1`.
    pub base_url: String,
    /// API key; any value for a server that needs none.
    pub api_key: Secret,
    /// Name of the model.
    pub model: String,
    /// Extra headers for servers that require them: `api-key`, `OpenAI-Organization`.
    pub extra_headers: Vec<(String, Secret)>,
    /// Allow list of the classification; it narrows the administrator's allow list.
    pub allow: Option<AllowList>,
}

/// Invalid field of an endpoint, found before any request.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EndpointError {
    /// JSON pointer of the field: `/api_key`.
    pub pointer: &'static str,
    /// Description of the error.
    pub detail: String,
}

impl Endpoint {
    /// Creates an endpoint without extra headers.
    pub fn new(base_url: impl Into<String>, api_key: Secret, model: impl Into<String>) -> Endpoint {
        let (base_url, model) = (base_url.into(), model.into());
        Endpoint { base_url, api_key, model, extra_headers: Vec::new(), allow: None }
    }

    /// Returns the secrets, which are redacted from messages.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        [&self.api_key].into_iter().chain(self.extra_headers.iter().map(|(_, value)| value)).cloned().collect()
    }

    /// Returns the errors of all invalid fields.
    pub fn validate(&self) -> Vec<EndpointError> {
        let mut errors = Vec::new();
        let mut add = |pointer, detail: &str| errors.push(EndpointError { pointer, detail: detail.to_owned() });
        if bearer(&self.api_key).is_none() {
            add("/api_key", "has characters that are not allowed in a header; copy it again, without line breaks");
        }
        if self.model.trim().is_empty() || self.model.len() > 256 {
            add("/model", "must have 1 to 256 bytes");
        }
        if let Err(error) = crate::net::egress::TargetUrl::parse(&self.base_url) {
            add("/base_url", &error.to_string());
        }
        for (name, value) in &self.extra_headers {
            if header(name, value).is_none() {
                add("/extra_headers", &format!("`{name}` cannot be sent as a header"));
            }
        }
        errors
    }
}

/// Returns `Bearer KEY`, in memory that is zeroed on drop; `None` if the key has characters not allowed in a header.
pub(super) fn bearer(key: &Secret) -> Option<HeaderValue> {
    sensitive_header(&["Bearer ", key.expose()].concat())
}

pub(super) fn header(name: &str, value: &Secret) -> Option<(HeaderName, HeaderValue)> {
    let name: HeaderName = name.parse().ok().filter(|name: &HeaderName| !RESERVED_HEADERS.contains(&name.as_str()))?;
    Some((name, sensitive_header(value.expose())?))
}

fn sensitive_header(text: &str) -> Option<HeaderValue> {
    let bytes = Bytes::from_owner(Zeroizing::new(text.as_bytes().to_vec()));
    let mut value = HeaderValue::from_maybe_shared(bytes).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl fmt::Display for EndpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.pointer.trim_start_matches('/'), self.detail)
    }
}

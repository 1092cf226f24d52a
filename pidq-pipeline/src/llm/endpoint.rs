//! Which model is asked, where, and with which key.

use std::fmt;

use hyper::header::{HeaderName, HeaderValue};
use pidq_http::{Bytes, Head, Secret};
use zeroize::Zeroizing;

use crate::egress::AllowList;

/// Headers that say how a message is sent, or that are ours to say.
const NOT_EXTRA: &[&str] = &[
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

/// A model of a server.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The address, usually with `/v1` at its end.
    pub base_url: String,
    /// The key; any word for a server that needs none.
    pub api_key: Secret,
    /// The name of the model.
    pub model: String,
    /// More headers, for servers that want them: `api-key`, `OpenAI-Organization`.
    pub extra_headers: Vec<(String, Secret)>,
    /// What the classification of the question allows; it narrows what the administrator allows.
    pub allow: Option<AllowList>,
}

/// What is wrong with an endpoint before anybody is asked.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fault {
    /// The member: `/api_key`.
    pub pointer: &'static str,
    /// What is wrong with it.
    pub detail: String,
}

impl Endpoint {
    /// An endpoint with the three members that a query has.
    pub fn new(base_url: impl Into<String>, api_key: Secret, model: impl Into<String>) -> Endpoint {
        let (base_url, model) = (base_url.into(), model.into());
        Endpoint { base_url, api_key, model, extra_headers: Vec::new(), allow: None }
    }

    /// Hands on the trace of whoever asks (W3C Trace Context), unless there is one to be sent already.
    pub fn hand_on(&mut self, head: &Head) {
        const NAME: &str = "traceparent";
        if self.extra_headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(NAME)) {
            return;
        }
        if let Some(trace) = &head.traceparent {
            self.extra_headers.push((NAME.to_owned(), Secret::new(trace.as_str())));
        }
    }

    /// What is sent to its server and shown to nobody.
    pub(super) fn secrets(&self) -> Vec<Secret> {
        [&self.api_key].into_iter().chain(self.extra_headers.iter().map(|(_, value)| value)).cloned().collect()
    }

    /// What is wrong with it; nothing, mostly.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut fault = |pointer, detail: &str| faults.push(Fault { pointer, detail: detail.to_owned() });
        if bearer(&self.api_key).is_none() {
            fault("/api_key", "has characters that no header can hold: copy it again, without line breaks");
        }
        if self.model.trim().is_empty() || self.model.len() > 256 {
            fault("/model", "is the name of the model, 1 to 256 bytes");
        }
        if let Err(spelling) = crate::egress::Address::parse(&self.base_url) {
            fault("/base_url", &spelling.to_string());
        }
        for (name, value) in &self.extra_headers {
            if header(name, value).is_none() {
                fault("/extra_headers", &format!("`{name}` cannot be sent as a header"));
            }
        }
        faults
    }
}

/// `Bearer KEY`, in memory that is wiped. None: no header can hold it.
pub(super) fn bearer(key: &Secret) -> Option<HeaderValue> {
    wiped(&["Bearer ", key.expose()].concat())
}

pub(super) fn header(name: &str, value: &Secret) -> Option<(HeaderName, HeaderValue)> {
    let name: HeaderName = name.parse().ok().filter(|name: &HeaderName| !NOT_EXTRA.contains(&name.as_str()))?;
    Some((name, wiped(value.expose())?))
}

fn wiped(text: &str) -> Option<HeaderValue> {
    let bytes = Bytes::from_owner(Zeroizing::new(text.as_bytes().to_vec()));
    let mut value = HeaderValue::from_maybe_shared(bytes).ok()?;
    value.set_sensitive(true);
    Some(value)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.pointer.trim_start_matches('/'), self.detail)
    }
}

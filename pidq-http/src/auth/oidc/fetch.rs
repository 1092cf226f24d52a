//! Requests to a provider: small JSON documents and forms, with a timeout and a size limit, and without redirects.

use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use hyper::{Request, StatusCode, Uri};
use serde_json::Value;

use crate::auth::IdentityError;
use crate::tls::{HttpsClient, https_client};

const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
const DOCUMENT_SIZE_LIMIT: usize = 256 * 1024;
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");

#[derive(Clone)]
pub(super) struct Fetcher(HttpsClient<Full<Bytes>>);

impl Fetcher {
    /// `is_secure_url` decides which URLs may be fetched without TLS.
    pub(super) fn new(root_certificates: Option<&str>) -> Result<Fetcher, IdentityError> {
        let refused = |what| IdentityError::Invalid(format!("single sign-on: {what}"));
        https_client(root_certificates, 0).map(Fetcher).map_err(refused)
    }

    /// Fetches a document. The error says nothing about its content.
    pub(super) async fn json(&self, url: &str) -> Result<Value, &'static str> {
        let (status, bytes) = self.send(Request::get(parse(url)?), Bytes::new()).await?;
        if status != StatusCode::OK {
            return Err("the status is not 200");
        }
        serde_json::from_slice(&bytes).map_err(|_| "the response is not JSON")
    }

    /// Sends a form, and returns the status and the body of the response.
    pub(super) async fn post(
        &self,
        url: &str,
        form: String,
        authorization: Option<HeaderValue>,
    ) -> Result<(StatusCode, Bytes), &'static str> {
        let mut request = Request::post(parse(url)?).header(CONTENT_TYPE, FORM);
        if let Some(value) = authorization {
            request = request.header(AUTHORIZATION, value);
        }
        self.send(request, form.into()).await
    }

    async fn send(
        &self,
        request: hyper::http::request::Builder,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), &'static str> {
        let request = request.header(ACCEPT, JSON).body(Full::new(body));
        let request = request.map_err(|_| "the request cannot be built")?;
        let exchange = async {
            let response = self.0.request(request).await.map_err(|_| "the connection failed")?;
            let status = response.status();
            let body = Limited::new(response.into_body(), DOCUMENT_SIZE_LIMIT).collect().await;
            let body = body.map_err(|_| "the response ended early or is too large")?;
            Ok((status, body.to_bytes()))
        };
        tokio::time::timeout(FETCH_TIMEOUT, exchange).await.map_err(|_| "the request timed out")?
    }
}

fn parse(url: &str) -> Result<Uri, &'static str> {
    url.parse().map_err(|_| "the URL is invalid")
}

/// Returns whether a URL is protected against modification: HTTPS, or loopback.
pub(super) fn is_secure_url(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    match (uri.scheme_str(), uri.host()) {
        (Some("https"), Some(host)) => !host.is_empty(),
        (Some("http"), Some(host)) => ["localhost", "127.0.0.1", "[::1]"].contains(&host),
        _ => false,
    }
}

//! Fetching of small JSON documents from a provider, with a timeout and a size limit, and without redirects.

use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::{Request, StatusCode, Uri};
use serde_json::Value;

use crate::auth::IdentityError;
use crate::tls::{HttpsClient, https_client};

const FETCH_TIMEOUT: Duration = Duration::from_secs(5);
const DOCUMENT_SIZE_LIMIT: usize = 256 * 1024;

pub(super) struct Fetcher(HttpsClient<Empty<Bytes>>);

impl Fetcher {
    /// `is_secure_url` decides which URLs may be fetched without TLS.
    pub(super) fn new(root_certificates: Option<&str>) -> Result<Fetcher, IdentityError> {
        let refused = |what| IdentityError::Invalid(format!("single sign-on: {what}"));
        https_client(root_certificates, 0).map(Fetcher).map_err(refused)
    }

    /// Fetches a document. The error says nothing about its content.
    pub(super) async fn json(&self, url: &str) -> Result<Value, &'static str> {
        let uri: Uri = url.parse().map_err(|_| "the URL is invalid")?;
        let bytes =
            tokio::time::timeout(FETCH_TIMEOUT, self.bytes(uri)).await.map_err(|_| "the request timed out")??;
        serde_json::from_slice(&bytes).map_err(|_| "the response is not JSON")
    }

    async fn bytes(&self, uri: Uri) -> Result<Bytes, &'static str> {
        let request = Request::get(uri).header("Accept", "application/json").body(Empty::new());
        let request = request.map_err(|_| "the request cannot be built")?;
        let response = self.0.request(request).await.map_err(|_| "the connection failed")?;
        if response.status() != StatusCode::OK {
            return Err("the status is not 200");
        }
        let body = Limited::new(response.into_body(), DOCUMENT_SIZE_LIMIT).collect().await;
        body.map(|body| body.to_bytes()).map_err(|_| "the response ended early or is too large")
    }
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

//! Small JSON documents from a provider: over TLS, within a time and a size, and without following anybody.

use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::{Request, StatusCode, Uri};
use serde_json::Value;

use crate::auth::IdentityError;
use crate::tls::{HttpsClient, https_client};

const PATIENCE: Duration = Duration::from_secs(5);
const LARGEST: usize = 256 * 1024;

pub(super) struct Fetcher(HttpsClient<Empty<Bytes>>);

impl Fetcher {
    /// What may be fetched without TLS is decided by `is_safe`.
    pub(super) fn new(authorities: Option<&str>) -> Result<Fetcher, IdentityError> {
        let refused = |what| IdentityError::Refused(format!("single sign-on: {what}"));
        https_client(authorities, 0).map(Fetcher).map_err(refused)
    }

    /// A document. The reason of a failure says nothing of its content.
    pub(super) async fn json(&self, url: &str) -> Result<Value, &'static str> {
        let uri: Uri = url.parse().map_err(|_| "the address cannot be read")?;
        let bytes =
            tokio::time::timeout(PATIENCE, self.bytes(uri)).await.map_err(|_| "there was no answer in time")??;
        serde_json::from_slice(&bytes).map_err(|_| "the answer is not JSON")
    }

    async fn bytes(&self, uri: Uri) -> Result<Bytes, &'static str> {
        let request = Request::get(uri).header("Accept", "application/json").body(Empty::new());
        let request = request.map_err(|_| "the address cannot be asked")?;
        let response = self.0.request(request).await.map_err(|_| "there is no connection")?;
        if response.status() != StatusCode::OK {
            return Err("the answer is not 200");
        }
        let body = Limited::new(response.into_body(), LARGEST).collect().await;
        body.map(|body| body.to_bytes()).map_err(|_| "the answer ended early or is too long")
    }
}

/// Whether nobody between us and the provider can change what it says.
pub(super) fn is_safe(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else { return false };
    match (uri.scheme_str(), uri.host()) {
        (Some("https"), Some(host)) => !host.is_empty(),
        (Some("http"), Some(host)) => ["localhost", "127.0.0.1", "[::1]"].contains(&host),
        _ => false,
    }
}

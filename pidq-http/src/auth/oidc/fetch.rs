//! Small JSON documents from a provider: over TLS, within a time and a size, and without following anybody.

use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::{Request, StatusCode, Uri};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;

use crate::auth::IdentityError;
use crate::tls::client_tls;

const PATIENCE: Duration = Duration::from_secs(5);
const LARGEST: usize = 256 * 1024;

pub(super) struct Fetcher(Client<HttpsConnector<HttpConnector>, Empty<Bytes>>);

impl Fetcher {
    pub(super) fn new(authorities: Option<&str>) -> Result<Fetcher, IdentityError> {
        let refused = |what| IdentityError::Refused(format!("single sign-on: {what}"));
        let tls = client_tls(authorities).map_err(refused)?;
        let connector = hyper_rustls::HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            // What may be fetched without TLS is decided by `is_safe`.
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Fetcher(Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build(connector)))
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

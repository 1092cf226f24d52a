//! Small JSON documents from a provider: over TLS, within a time and a size, and without following anybody.

use std::time::Duration;

use http_body_util::{BodyExt, Empty, Limited};
use hyper::body::Bytes;
use hyper::{Request, StatusCode, Uri};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use serde_json::Value;

use crate::auth::IdentityError;

const PATIENCE: Duration = Duration::from_secs(5);
const LARGEST: usize = 256 * 1024;

pub(super) struct Fetcher(Client<HttpsConnector<HttpConnector>, Empty<Bytes>>);

impl Fetcher {
    pub(super) fn new(authorities: Option<&str>) -> Result<Fetcher, IdentityError> {
        let tls = tls(roots(authorities)?)?;
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

fn tls(roots: RootCertStore) -> Result<ClientConfig, IdentityError> {
    let provider = rustls::crypto::ring::default_provider();
    let config = ClientConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions();
    let config = config.map_err(|error| IdentityError::Refused(format!("single sign-on: TLS: {error}")))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}

fn roots(authorities: Option<&str>) -> Result<RootCertStore, IdentityError> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for certificate in CertificateDer::pem_slice_iter(authorities.unwrap_or("").as_bytes()) {
        let added = certificate.map_err(|_| ()).and_then(|certificate| roots.add(certificate).map_err(|_| ()));
        added.map_err(|()| IdentityError::Refused("single sign-on: a certificate cannot be read".to_owned()))?;
    }
    Ok(roots)
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

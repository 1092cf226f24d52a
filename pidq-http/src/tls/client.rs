//! TLS client configuration and HTTPS client.

use std::time::Duration;

use hyper::body::Body;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// HTTP/1.1 client, with or without TLS. It does not follow redirects.
pub type HttpsClient<B> = Client<HttpsConnector<HttpConnector>, B>;

/// Timeout for establishing a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Creates a client with the certificates of [`client_tls`] and this number of idle connections per host. The caller
/// decides which URLs may be requested without TLS.
pub fn https_client<B>(root_certificates: Option<&str>, max_idle: usize) -> Result<HttpsClient<B>, String>
where
    B: Body<Data: Send> + Send,
{
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT_TIMEOUT));
    let builder = HttpsConnectorBuilder::new().with_tls_config(client_tls(root_certificates)?).https_or_http();
    let connector = builder.enable_http1().wrap_connector(connector);
    Ok(Client::builder(TokioExecutor::new()).pool_max_idle_per_host(max_idle).build(connector))
}

/// Returns the TLS configuration of a client: the public root certificates, and additional ones (PEM).
///
/// The error is a message for an administrator.
pub fn client_tls(root_certificates: Option<&str>) -> Result<ClientConfig, String> {
    let provider = rustls::crypto::ring::default_provider();
    let config = ClientConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions();
    let config = config.map_err(|error| format!("TLS: {error}"))?;
    Ok(config.with_root_certificates(roots(root_certificates)?).with_no_client_auth())
}

fn roots(root_certificates: Option<&str>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let Some(root_certificates) = root_certificates else { return Ok(roots) };
    let public = roots.len();
    for certificate in CertificateDer::pem_slice_iter(root_certificates.as_bytes()) {
        let added = certificate.map_err(|_| ()).and_then(|certificate| roots.add(certificate).map_err(|_| ()));
        added.map_err(|()| "a certificate cannot be parsed".to_owned())?;
    }
    if roots.len() == public { Err("the file contains no certificate".to_owned()) } else { Ok(roots) }
}

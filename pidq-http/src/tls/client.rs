//! TLS as a client speaks it: whom it believes, and the client that asks over it.

use std::time::Duration;

use hyper::body::Body;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

/// A client that speaks HTTP/1.1, over TLS or without, and follows nobody.
pub type HttpsClient<B> = Client<HttpsConnector<HttpConnector>, B>;

/// How long a connection may take to be there.
const CONNECT: Duration = Duration::from_secs(10);

/// A client that believes what [`client_tls`] says, and keeps so many connections for its next requests.
/// What may be asked without TLS is for its user to decide.
pub fn https_client<B>(authorities: Option<&str>, kept: usize) -> Result<HttpsClient<B>, String>
where
    B: Body<Data: Send> + Send,
{
    let mut connector = HttpConnector::new();
    connector.enforce_http(false);
    connector.set_connect_timeout(Some(CONNECT));
    let builder = HttpsConnectorBuilder::new().with_tls_config(client_tls(authorities)?).https_or_http();
    let connector = builder.enable_http1().wrap_connector(connector);
    Ok(Client::builder(TokioExecutor::new()).pool_max_idle_per_host(kept).build(connector))
}

/// What a client of ours believes: the public authorities, and those of `authorities` (PEM).
///
/// The reason of a failure is a text for an administrator.
pub fn client_tls(authorities: Option<&str>) -> Result<ClientConfig, String> {
    let provider = rustls::crypto::ring::default_provider();
    let config = ClientConfig::builder_with_provider(provider.into()).with_safe_default_protocol_versions();
    let config = config.map_err(|error| format!("TLS: {error}"))?;
    Ok(config.with_root_certificates(roots(authorities)?).with_no_client_auth())
}

fn roots(authorities: Option<&str>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let Some(authorities) = authorities else { return Ok(roots) };
    let public = roots.len();
    for certificate in CertificateDer::pem_slice_iter(authorities.as_bytes()) {
        let added = certificate.map_err(|_| ()).and_then(|certificate| roots.add(certificate).map_err(|_| ()));
        added.map_err(|()| "a certificate cannot be read".to_owned())?;
    }
    if roots.len() == public { Err("there is no certificate in it".to_owned()) } else { Ok(roots) }
}

//! TLS as a client speaks it: whom it believes.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

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
    for certificate in CertificateDer::pem_slice_iter(authorities.unwrap_or("").as_bytes()) {
        let added = certificate.map_err(|_| ()).and_then(|certificate| roots.add(certificate).map_err(|_| ()));
        added.map_err(|()| "a certificate cannot be read".to_owned())?;
    }
    Ok(roots)
}

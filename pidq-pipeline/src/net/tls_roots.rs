//! TLS root certificates for Redis and NATS, from the system or from a file.

use std::path::PathBuf;

use pidq_http::{SettingError, Settings, settings};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

settings! {
    /// Settings.
    pub SETTINGS {
        BACKEND_CA: Option<PathBuf> = ("PIDQ_BACKEND_CA", "config.backendCa", "CA certificates (PEM) for Redis (`rediss://…`) and NATS (`tls://…`), used instead of those of the system.");
    }
}

/// Validated root certificates.
pub(crate) struct RootCertificates {
    pub path: PathBuf,
    pub pem: Vec<u8>,
}

impl RootCertificates {
    /// Loads the certificates that the settings name.
    pub fn from_settings(settings: &Settings) -> Result<Option<RootCertificates>, SettingError> {
        let Some(path) = settings.get(&BACKEND_CA)? else { return Ok(None) };
        let invalid = |reason: &str| settings.invalid(&BACKEND_CA, reason);
        let pem = std::fs::read(&path).map_err(|error| invalid(&error.to_string()))?;
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let added = certificate.ok().and_then(|certificate| roots.add(certificate).ok());
            added.ok_or_else(|| invalid("it contains an invalid certificate"))?;
        }
        if roots.is_empty() {
            Err(invalid("the file contains no certificate"))
        } else {
            Ok(Some(RootCertificates { path, pem }))
        }
    }
}

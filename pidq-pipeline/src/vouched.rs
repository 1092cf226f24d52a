//! Who vouches for Redis and NATS where they speak TLS: the authorities of the system, or those of a file.

use std::path::PathBuf;

use pidq_http::{Kind, Setting, SettingError, Settings, settings};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// What an administrator decides about it.
pub const SETTINGS: &[Setting] = settings![
    "PIDQ_SERVERS_CA", "config.serversCa", Kind::Path, None, false, "Certificates (PEM) of authorities that vouch for Redis (`rediss://…`) and NATS (`tls://…`), instead of those of the system.";
];

/// Authorities that were looked at once: there are some, and they can be read.
pub(crate) struct Authorities {
    pub path: PathBuf,
    pub pem: Vec<u8>,
}

impl Authorities {
    /// Those that the settings name.
    pub fn of(settings: &Settings) -> Result<Option<Authorities>, SettingError> {
        let Some(path) = settings.path("PIDQ_SERVERS_CA")? else { return Ok(None) };
        let wrong = |why: &str| settings.wrong("PIDQ_SERVERS_CA", why);
        let pem = std::fs::read(&path).map_err(|error| wrong(&error.to_string()))?;
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(&pem) {
            let added = certificate.ok().and_then(|certificate| roots.add(certificate).ok());
            added.ok_or_else(|| wrong("a certificate in it cannot be read"))?;
        }
        if roots.is_empty() { Err(wrong("there is no certificate in it")) } else { Ok(Some(Authorities { path, pem })) }
    }
}

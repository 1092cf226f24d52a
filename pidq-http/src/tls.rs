//! TLS server configuration with reloadable certificates.

mod client;
mod expiry;

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use ring::digest::{SHA256, digest};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, SupportedProtocolVersion};
use tokio::net::TcpStream;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio::time::interval;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::message::service_info::ServiceInfo;

pub use client::{HttpsClient, client_tls, https_client};

/// Minimum TLS version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TlsVersion {
    /// TLS 1.2 and 1.3.
    V1_2,
    /// TLS 1.3 only.
    V1_3,
}

/// Certificate with its key, reloaded from files on SIGHUP and once a minute.
#[derive(Clone)]
pub struct Tls {
    config: Arc<ServerConfig>,
    pair: Arc<CertificatePair>,
}

struct CertificatePair {
    certificates: PathBuf,
    key: PathBuf,
    current: ArcSwap<Loaded>,
}

struct Loaded {
    key: Arc<CertifiedKey>,
    digest: Vec<u8>,
}

/// Error of a certificate or key file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", path.display())]
pub struct TlsError {
    path: PathBuf,
    what: String,
}

const RELOAD_INTERVAL: Duration = Duration::from_secs(60);

impl Tls {
    /// Loads a certificate chain and the key of its first certificate, both PEM.
    pub fn open(
        certificates: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
        min_version: TlsVersion,
    ) -> Result<Self, TlsError> {
        let (certificates, key) = (certificates.into(), key.into());
        let current = ArcSwap::from_pointee(load(&certificates, &key)?);
        let pair = Arc::new(CertificatePair { certificates, key, current });
        let config = config(pair.clone(), min_version)
            .map_err(|error| TlsError { path: pair.certificates.clone(), what: error.to_string() })?;
        Ok(Tls { config: Arc::new(config), pair })
    }

    /// Reloads the files. On an error the current certificate stays. Returns whether the certificate changed.
    pub fn reload(&self) -> Result<bool, TlsError> {
        let fresh = load(&self.pair.certificates, &self.pair.key)?;
        if fresh.digest == self.pair.current.load().digest {
            return Ok(false);
        }
        self.pair.current.store(Arc::new(fresh));
        Ok(true)
    }

    /// Returns the expiry of the certificate in seconds since 1970, if it can be parsed.
    pub fn expires_at(&self) -> Option<i64> {
        let loaded = self.pair.current.load();
        loaded.key.cert.first().and_then(|certificate| expiry::not_after(certificate))
    }

    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        TlsAcceptor::from(self.config.clone()).accept(stream).await
    }

    /// Spawns the task that reloads the files, until the handle is dropped.
    pub(crate) fn spawn_reload_task(self, info: Arc<ServiceInfo>) -> ReloadTask {
        ReloadTask(tokio::spawn(async move {
            let mut ticks = interval(RELOAD_INTERVAL);
            let record_expiry = |tls: &Tls| info.metrics.certificate_expiry.set(tls.expires_at().unwrap_or_default());
            record_expiry(&self);
            let mut hangups = signal(SignalKind::hangup()).ok();
            loop {
                let hangup = async {
                    match &mut hangups {
                        Some(signal) => signal.recv().await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! { _ = ticks.tick() => {}, _ = hangup => {} }
                let tls = self.clone();
                let reloaded = tokio::task::spawn_blocking(move || tls.reload()).await;
                info.metrics.certificate_reload(match reloaded {
                    Ok(Ok(false)) => "unchanged",
                    Ok(Ok(true)) => {
                        tracing::info!("certificate reloaded");
                        record_expiry(&self);
                        "replaced"
                    }
                    Ok(Err(error)) => {
                        tracing::error!(%error, "reloading the certificate failed; the current one stays in use");
                        "failed"
                    }
                    Err(_) => return,
                });
            }
        }))
    }
}

/// Task that reloads certificate files; aborted on drop.
pub(crate) struct ReloadTask(JoinHandle<()>);

impl Drop for ReloadTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn config(pair: Arc<CertificatePair>, min_version: TlsVersion) -> Result<ServerConfig, rustls::Error> {
    const BOTH: &[&SupportedProtocolVersion] = &[&rustls::version::TLS13, &rustls::version::TLS12];
    let versions = match min_version {
        TlsVersion::V1_2 => BOTH,
        TlsVersion::V1_3 => &BOTH[..1],
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(versions)?
        .with_no_client_auth()
        .with_cert_resolver(pair);
    config.ignore_client_order = true;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

fn load(certificates: &Path, key: &Path) -> Result<Loaded, TlsError> {
    let wrong = |path: &Path, what: &dyn fmt::Display| TlsError { path: path.to_owned(), what: what.to_string() };
    let chain_text = fs::read(certificates).map_err(|error| wrong(certificates, &error))?;
    let key_text = fs::read(key).map_err(|error| wrong(key, &error))?;
    let chain = CertificateDer::pem_slice_iter(&chain_text).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| wrong(certificates, &error))?;
    if chain.is_empty() {
        return Err(wrong(certificates, &"the file contains no certificate"));
    }
    let der = PrivateKeyDer::from_pem_slice(&key_text).map_err(|error| wrong(key, &error))?;
    let pair = CertifiedKey::from_der(chain, der, &default_provider()).map_err(|error| wrong(key, &error))?;
    pair.keys_match().map_err(|error| wrong(key, &error))?;
    let digest = digest(&SHA256, &[chain_text, key_text].concat()).as_ref().to_vec();
    Ok(Loaded { key: Arc::new(pair), digest })
}

impl ResolvesServerCert for CertificatePair {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.current.load().key.clone())
    }
}

impl fmt::Debug for CertificatePair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CertificatePair({})", self.certificates.display())
    }
}

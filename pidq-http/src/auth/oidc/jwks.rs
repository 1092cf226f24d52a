//! Cache of a provider's signing keys (JWKS), with limited refresh and retention during outages.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use super::TokenError;
use super::discovery::Discovery;
use super::fetch::Fetcher;
use super::jws::{Algorithm, PublicKey, decode};
use crate::auth::Timestamp;

/// Age after which keys are fetched again, so that removed keys become invalid.
const REFRESH_INTERVAL: Duration = Duration::from_secs(5 * 60);
/// Age after which keys that could not be fetched again are discarded.
const KEY_RETENTION: Duration = Duration::from_secs(24 * 60 * 60);
/// Minimum interval between fetches, so that unknown key ids cannot flood the provider.
const RETRY_INTERVAL: Duration = Duration::from_secs(60);
/// Minimum interval between fetches while there are no keys and no login is possible.
const RETRY_INTERVAL_WITHOUT_KEYS: Duration = Duration::from_secs(5);
/// Maximum wait of a request for a refresh that it does not need.
const BACKGROUND_REFRESH_TIMEOUT: Duration = Duration::from_secs(1);
const KEY_LIMIT: usize = 100;

struct Key {
    id: Option<String>,
    /// Algorithm the provider restricts the key to, if any.
    algorithm: Option<String>,
    key: Arc<PublicKey>,
}

pub(super) struct JwksCache(Arc<KeySource>);

struct KeySource {
    fetcher: Fetcher,
    issuer: String,
    configured_uri: Option<String>,
    cached: Mutex<CachedKeys>,
    /// Held by the task that fetches.
    refresh_lock: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct CachedKeys {
    keys: Arc<Vec<Key>>,
    fetched_at: Option<Timestamp>,
    tried_at: Option<Timestamp>,
    discovered_uri: Option<String>,
}

impl JwksCache {
    /// Creates a cache of the keys at a URL; without one, it is discovered.
    pub(super) fn new(fetcher: Fetcher, issuer: &str, uri: Option<&str>) -> JwksCache {
        JwksCache(Arc::new(KeySource {
            fetcher,
            issuer: issuer.to_owned(),
            configured_uri: uri.map(str::to_owned),
            cached: Mutex::default(),
            refresh_lock: Arc::default(),
        }))
    }

    /// Returns the keys that may have signed a token. If there are none, the keys are fetched again.
    pub(super) async fn candidates(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
        now: Timestamp,
    ) -> Result<Vec<Arc<PublicKey>>, TokenError> {
        let source = &self.0;
        if source.matching(id, algorithm, now).is_empty() {
            self.refresh(source.refresh_lock.clone().lock_owned().await, now).await;
        } else if source.is_stale(now)
            && let Ok(refresh_lock) = source.refresh_lock.clone().try_lock_owned()
        {
            // One request refreshes stale keys, and waits for a short time only; the others continue with the current
            // keys.
            let _ = timeout(BACKGROUND_REFRESH_TIMEOUT, self.refresh(refresh_lock, now)).await;
        }
        let found = source.matching(id, algorithm, now);
        if !found.is_empty() {
            return Ok(found);
        }
        Err(if source.has_keys(now) { TokenError::Key } else { TokenError::Unavailable })
    }

    /// Fetches the keys before the first token, so that a wrong setting is logged at the start. Does not count as an attempt:
    /// a token that the keys do not match may fetch them again at once.
    pub(super) async fn prefetch(&self, now: Timestamp) {
        let _refresh_lock = self.0.refresh_lock.clone().lock_owned().await;
        self.0.refresh(now).await;
        self.0.cached().tried_at = None;
    }

    /// Runs on its own task, so that a disconnecting client does not cancel the refresh for others.
    async fn refresh(&self, refresh_lock: OwnedMutexGuard<()>, now: Timestamp) {
        let source = self.0.clone();
        let task = tokio::spawn(async move {
            source.refresh(now).await;
            drop(refresh_lock);
        });
        // It can only fail by a panic, which leaves the keys unchanged.
        task.await.unwrap_or_default();
    }
}

impl KeySource {
    fn matching(&self, id: Option<&str>, algorithm: Algorithm, now: Timestamp) -> Vec<Arc<PublicKey>> {
        if !self.has_keys(now) {
            return Vec::new();
        }
        let keys = self.cached().keys.clone();
        let usable = keys.iter().filter(|key| key.supports(algorithm));
        match id {
            Some(id) => usable.filter(|key| key.id.as_deref() == Some(id)).map(|key| key.key.clone()).collect(),
            // A token without a key id is accepted only if the provider has one key.
            None => {
                let all: Vec<_> = usable.map(|key| key.key.clone()).collect();
                if all.len() == 1 { all } else { Vec::new() }
            }
        }
    }

    fn has_keys(&self, now: Timestamp) -> bool {
        self.cached().fetched_at.is_some_and(|at| now.since(at) < KEY_RETENTION)
    }

    fn is_stale(&self, now: Timestamp) -> bool {
        self.cached().fetched_at.is_none_or(|at| now.distance(at) >= REFRESH_INTERVAL)
    }

    async fn refresh(&self, now: Timestamp) {
        let interval = if self.has_keys(now) { RETRY_INTERVAL } else { RETRY_INTERVAL_WITHOUT_KEYS };
        if self.cached().tried_at.is_some_and(|at| now.distance(at) < interval) {
            return;
        }
        let started_at = Instant::now();
        let fetched = self.fetch().await;
        // The interval starts at the end of the attempt: a slow attempt would otherwise be followed by the next at
        // once.
        self.cached().tried_at = Some(now + started_at.elapsed());
        match fetched {
            Ok(keys) => {
                let mut cached = self.cached();
                cached.keys = Arc::new(keys);
                cached.fetched_at = Some(now);
            }
            Err(what) => {
                self.cached().discovered_uri = None;
                self.warn_about_fetch(what, now);
            }
        }
    }

    fn warn_about_fetch(&self, reason: &str, now: Timestamp) {
        let issuer = &self.issuer;
        if self.has_keys(now) {
            let message = "fetching the keys of the identity provider failed; the cached keys stay in use";
            return tracing::warn!(%issuer, reason, "{message}");
        }
        tracing::warn!(
            %issuer,
            reason,
            "fetching the keys of the identity provider failed; its tokens are rejected until they are fetched \
             (see `PIDQ_SSO_ISSUER`, `PIDQ_SSO_JWKS_URI`, `PIDQ_SSO_CA`)"
        );
    }

    async fn fetch(&self) -> Result<Vec<Key>, &'static str> {
        let known = self.configured_uri.clone().or_else(|| self.cached().discovered_uri.clone());
        let uri = match known {
            Some(uri) => uri,
            None => self.discover().await?,
        };
        let document = self.fetcher.json(&uri).await?;
        let keys = document.get("keys").and_then(Value::as_array).ok_or("the key set has no `keys`")?;
        Ok(keys.iter().take(KEY_LIMIT).filter_map(key).collect())
    }

    async fn discover(&self) -> Result<String, &'static str> {
        let discovery = Discovery::fetch(&self.fetcher, &self.issuer).await?;
        let uri = discovery.url("jwks_uri").ok_or("the discovery document has no `jwks_uri` with `https:`")?;
        self.cached().discovered_uri = Some(uri.to_owned());
        Ok(uri.to_owned())
    }

    fn cached(&self) -> std::sync::MutexGuard<'_, CachedKeys> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Key {
    fn supports(&self, algorithm: Algorithm) -> bool {
        let is_permitted = self.algorithm.as_deref().is_none_or(|name| Algorithm::from_name(name) == Some(algorithm));
        let is_compatible = match *self.key {
            PublicKey::Rsa { .. } => matches!(algorithm, Algorithm::Rs256 | Algorithm::Ps256),
            PublicKey::P256(_) => algorithm == Algorithm::Es256,
            PublicKey::Ed25519(_) => algorithm == Algorithm::EdDsa,
        };
        is_permitted && is_compatible
    }
}

/// Parses a key (RFC 7517). Keys for other uses and of other types are ignored, as the RFC requires.
fn key(jwk: &Value) -> Option<Key> {
    let text = |name: &str| jwk.get(name).and_then(Value::as_str);
    if text("use").is_some_and(|usage| usage != "sig") {
        return None;
    }
    let operations = jwk.get("key_ops").and_then(Value::as_array);
    if operations.is_some_and(|operations| !operations.iter().any(|operation| operation == "verify")) {
        return None;
    }
    let key = public_key(jwk)?;
    Some(Key { id: text("kid").map(str::to_owned), algorithm: text("alg").map(str::to_owned), key: Arc::new(key) })
}

/// Parses the numbers of a key.
pub(super) fn public_key(jwk: &Value) -> Option<PublicKey> {
    let text = |name: &str| jwk.get(name).and_then(Value::as_str);
    let bytes = |name: &str| text(name).and_then(|part| decode(part).ok());
    match (text("kty")?, text("crv")) {
        ("RSA", _) => Some(PublicKey::Rsa { n: without_zeros(bytes("n")?), e: without_zeros(bytes("e")?) }),
        ("EC", Some("P-256")) => {
            let (x, y) = (bytes("x")?, bytes("y")?);
            let is_point = x.len() == 32 && y.len() == 32;
            is_point.then(|| PublicKey::P256([vec![4], x, y].concat()))
        }
        ("OKP", Some("Ed25519")) => Some(PublicKey::Ed25519(bytes("x")?)),
        _ => None,
    }
}

/// Removes leading zeros. Some providers add one if the first bit of a number is set.
fn without_zeros(number: Vec<u8>) -> Vec<u8> {
    number.into_iter().skip_while(|byte| *byte == 0).collect()
}

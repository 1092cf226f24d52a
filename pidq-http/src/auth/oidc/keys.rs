//! A provider's keys: fetched when they are needed, kept when the provider is away, and never asked for in a hurry.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use super::fetch::{Fetcher, is_safe};
use super::jws::{Algorithm, decode};
use super::{ProviderSettings, TokenFault};
use crate::auth::Moment;

/// After this, keys are fetched again: one that the provider dropped stops working.
const FRESH: Duration = Duration::from_secs(5 * 60);
/// After this, keys that could not be fetched again are forgotten.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);
/// Whatever happens, the provider is asked no more often. Else a flood of unknown keys would go through to it.
const PAUSE: Duration = Duration::from_secs(60);
/// Without any keys nobody can log in, so a provider that was away is asked again sooner.
const PAUSE_WITHOUT_KEYS: Duration = Duration::from_secs(5);
/// How long a request waits for keys that are not needed yet.
const MOMENT: Duration = Duration::from_secs(1);
const MOST_KEYS: usize = 100;

/// A key that can check signatures.
#[derive(Clone, Eq, PartialEq)]
pub(super) enum PublicKey {
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    Ed25519(Vec<u8>),
}

struct Key {
    id: Option<String>,
    /// Some providers say what a key is for; then it is for nothing else.
    algorithm: Option<String>,
    key: Arc<PublicKey>,
}

pub(super) struct KeyRing(Arc<Source>);

struct Source {
    fetcher: Fetcher,
    issuer: String,
    configured_uri: Option<String>,
    ring: Mutex<Ring>,
    /// Held by the one who fetches.
    turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Default)]
struct Ring {
    keys: Arc<Vec<Key>>,
    fetched_at: Option<Moment>,
    tried_at: Option<Moment>,
    discovered_uri: Option<String>,
}

impl KeyRing {
    pub(super) fn new(fetcher: Fetcher, settings: &ProviderSettings) -> KeyRing {
        KeyRing(Arc::new(Source {
            fetcher,
            issuer: settings.issuer.clone(),
            configured_uri: settings.jwks_uri.clone(),
            ring: Mutex::default(),
            turn: Arc::default(),
        }))
    }

    /// The keys that may have signed a token. If there are none, the provider may have got new ones.
    pub(super) async fn candidates(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
        now: Moment,
    ) -> Result<Vec<Arc<PublicKey>>, TokenFault> {
        let source = &self.0;
        if source.found(id, algorithm, now).is_empty() {
            self.refresh(source.turn.clone().lock_owned().await, now).await;
        } else if source.is_stale(now)
            && let Ok(turn) = source.turn.clone().try_lock_owned()
        {
            // One looks for new keys, for a moment; the others go on with those that are there, and so does this one
            // if the provider takes its time.
            let _ = timeout(MOMENT, self.refresh(turn, now)).await;
        }
        let found = source.found(id, algorithm, now);
        if !found.is_empty() {
            return Ok(found);
        }
        Err(if source.has_keys(now) { TokenFault::Key } else { TokenFault::Unavailable })
    }

    /// On a task of its own: who hangs up while keys are fetched must not keep them from the others.
    async fn refresh(&self, turn: OwnedMutexGuard<()>, now: Moment) {
        let source = self.0.clone();
        let task = tokio::spawn(async move {
            source.refresh(now).await;
            drop(turn);
        });
        // It can only fail by a panic, and then the keys are what they were.
        task.await.unwrap_or_default();
    }
}

impl Source {
    fn found(&self, id: Option<&str>, algorithm: Algorithm, now: Moment) -> Vec<Arc<PublicKey>> {
        if !self.has_keys(now) {
            return Vec::new();
        }
        let keys = self.ring().keys.clone();
        let fitting = keys.iter().filter(|key| key.fits(algorithm));
        match id {
            Some(id) => fitting.filter(|key| key.id.as_deref() == Some(id)).map(|key| key.key.clone()).collect(),
            // A token that names no key is for a provider that has one.
            None => {
                let all: Vec<_> = fitting.map(|key| key.key.clone()).collect();
                if all.len() == 1 { all } else { Vec::new() }
            }
        }
    }

    fn has_keys(&self, now: Moment) -> bool {
        self.ring().fetched_at.is_some_and(|at| now.since(at) < KEPT)
    }

    fn is_stale(&self, now: Moment) -> bool {
        self.ring().fetched_at.is_none_or(|at| now.since(at) >= FRESH)
    }

    async fn refresh(&self, now: Moment) {
        let pause = if self.has_keys(now) { PAUSE } else { PAUSE_WITHOUT_KEYS };
        if self.ring().tried_at.is_some_and(|at| now.since(at) < pause) {
            return;
        }
        let begun = Instant::now();
        let fetched = self.fetch().await;
        // The pause begins where the attempt ends: one that took its time would else be followed by the next at once.
        self.ring().tried_at = Some(now + begun.elapsed());
        match fetched {
            Ok(keys) => {
                let mut ring = self.ring();
                ring.keys = Arc::new(keys);
                ring.fetched_at = Some(now);
            }
            Err(what) => {
                self.ring().discovered_uri = None;
                tracing::warn!(issuer = %self.issuer, what, "the keys of the provider cannot be had");
            }
        }
    }

    async fn fetch(&self) -> Result<Vec<Key>, &'static str> {
        let known = self.configured_uri.clone().or_else(|| self.ring().discovered_uri.clone());
        let uri = match known {
            Some(uri) => uri,
            None => self.discover().await?,
        };
        let document = self.fetcher.json(&uri).await?;
        let keys = document.get("keys").and_then(Value::as_array).ok_or("the key set has no `keys`")?;
        Ok(keys.iter().take(MOST_KEYS).filter_map(key).collect())
    }

    async fn discover(&self) -> Result<String, &'static str> {
        let url = format!("{}/.well-known/openid-configuration", self.issuer.trim_end_matches('/'));
        let document = self.fetcher.json(&url).await?;
        if document.get("issuer").and_then(Value::as_str) != Some(&self.issuer) {
            return Err("the discovery document is of another issuer");
        }
        let uri = document.get("jwks_uri").and_then(Value::as_str).ok_or("the discovery document names no keys")?;
        if !is_safe(uri) {
            return Err("the discovery document names keys without `https:`");
        }
        self.ring().discovered_uri = Some(uri.to_owned());
        Ok(uri.to_owned())
    }

    fn ring(&self) -> std::sync::MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Key {
    fn fits(&self, algorithm: Algorithm) -> bool {
        let is_meant = self.algorithm.as_deref().is_none_or(|name| Algorithm::named(name) == Some(algorithm));
        let can = match *self.key {
            PublicKey::Rsa { .. } => matches!(algorithm, Algorithm::Rs256 | Algorithm::Ps256),
            PublicKey::P256(_) => algorithm == Algorithm::Es256,
            PublicKey::Ed25519(_) => algorithm == Algorithm::EdDsa,
        };
        is_meant && can
    }
}

/// A key of a set (RFC 7517). Keys for other ends and of other kinds are passed over, as the RFC wants it.
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

fn public_key(jwk: &Value) -> Option<PublicKey> {
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

/// Some providers put a zero before a number whose first bit is set.
fn without_zeros(number: Vec<u8>) -> Vec<u8> {
    number.into_iter().skip_while(|byte| *byte == 0).collect()
}

//! Cache of query vectors and search results: in-process, optionally shared through Redis.
//!
//! Vectors, passages and classifications reveal document content, and administrators copy, list and log the data of a Redis
//! server. So keys in Redis are hashed and values are encrypted, with keys derived from the application secret. Without the
//! secret nothing leaves the process.
//!
//! Entries are never stale: their key includes everything that the value depends on, such as the change count of a partition.

mod local;
#[cfg_attr(not(feature = "redis"), path = "cache/without_redis.rs")]
mod redis;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use pidq_http::Secret;
use pidq_http::prometheus_client::metrics::counter::Counter;
use pidq_http::prometheus_client::metrics::family::Family;
use pidq_http::prometheus_client::registry::Registry;
use pidq_store::crypto::{EncryptionContext, Encryptor};
use ring::hmac;

use crate::metrics::{CACHE_REQUESTS, Labels};
use local::{CacheKey, LocalCache};

pub use redis::{InvalidUrl, Redis};

/// Maximum size of a value in Redis: fetching it must not take longer than recomputing it.
const MAX_VALUE_SIZE: usize = 1 << 20;

/// Kind of cached values.
#[derive(Debug)]
pub struct CacheKind {
    /// Name in metrics.
    pub name: &'static str,
    /// Time to live.
    pub ttl: Duration,
}

/// Vectors of questions.
pub const VECTORS: CacheKind = CacheKind { name: "vectors", ttl: Duration::from_secs(60 * 60) };
/// Search results.
pub const PASSAGES: CacheKind = CacheKind { name: "passages", ttl: Duration::from_secs(5 * 60) };

/// Two-level cache.
pub struct Cache {
    local: Mutex<LocalCache>,
    shared: Option<SharedCache>,
    key_hmac: hmac::Key,
    lookups: Family<Labels<&'static str, 2>, Counter>,
}

/// Redis level, shared by all processes of an installation.
struct SharedCache {
    redis: Arc<Redis>,
    encryptor: Encryptor,
    installation: String,
}

impl Cache {
    /// Creates a cache within this process, with a capacity in bytes.
    pub fn in_process(bytes: usize) -> Cache {
        Cache::new(bytes, Secret::random().ok().as_ref())
    }

    /// Creates a cache shared by the processes of an installation, which have the same secret. Values are also cached in
    /// the process, which alone is used while Redis is down.
    pub fn with_redis(redis: Arc<Redis>, secret: &Secret, installation: &str, bytes: usize) -> Cache {
        let shared =
            SharedCache { redis, encryptor: Encryptor::from_secret(secret), installation: installation.to_owned() };
        Cache { shared: Some(shared), ..Cache::new(bytes, Some(secret)) }
    }

    fn new(bytes: usize, secret: Option<&Secret>) -> Cache {
        // Without randomness the keys are guessable, which is harmless within the process.
        let secret = secret.map_or("", |secret| secret.expose());
        let root = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let key_hmac = hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&root, b"pidq: cache keys").as_ref());
        Cache {
            local: Mutex::new(LocalCache::with_capacity(bytes)),
            shared: None,
            key_hmac,
            lookups: Family::default(),
        }
    }

    /// Registers the metrics.
    pub(crate) fn register(&self, registry: &mut Registry) {
        CACHE_REQUESTS.register(registry, self.lookups.clone());
    }

    /// Returns the number of hits of a kind.
    pub fn hits(&self, kind: &CacheKind) -> u64 {
        self.lookups.get_or_create(&CACHE_REQUESTS.labels([kind.name, "hit"])).get()
    }

    /// Returns a cached value.
    pub async fn get(&self, kind: &CacheKind, parts: &[&str]) -> Option<Bytes> {
        let key = self.key(kind, parts);
        let local = self.local().get(&key, Instant::now());
        let found = match (local, &self.shared) {
            (Some(local), _) => Some(local),
            (None, Some(shared)) => shared.get(kind, &key).await,
            (None, None) => None,
        };
        let result = if found.is_some() { "hit" } else { "miss" };
        self.lookups.get_or_create(&CACHE_REQUESTS.labels([kind.name, result])).inc();
        found
    }

    /// Stores a value.
    pub async fn put(&self, kind: &CacheKind, parts: &[&str], bytes: Bytes) {
        let key = self.key(kind, parts);
        self.local().put(key, bytes.clone(), kind.ttl, Instant::now());
        if let Some(shared) = &self.shared {
            shared.put(kind, &key, &bytes).await;
        }
    }

    /// Computes the key; length prefixes make it unambiguous.
    fn key(&self, kind: &CacheKind, parts: &[&str]) -> CacheKey {
        let mut digest = hmac::Context::with_key(&self.key_hmac);
        for part in [kind.name].iter().chain(parts) {
            digest.update(&(part.len() as u64).to_le_bytes());
            digest.update(part.as_bytes());
        }
        let mut key = [0; 32];
        key.copy_from_slice(digest.sign().as_ref());
        key
    }

    fn local(&self) -> MutexGuard<'_, LocalCache> {
        self.local.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SharedCache {
    async fn get(&self, kind: &CacheKind, key: &CacheKey) -> Option<Bytes> {
        let redis_key = self.redis_key(kind, key);
        let ciphertext: Option<String> = self.redis.get(&redis_key).await?;
        let plaintext = self.encryptor.decrypt(encryption_context(&[&redis_key]), &ciphertext?)?;
        Some(Bytes::copy_from_slice(&plaintext))
    }

    async fn put(&self, kind: &CacheKind, key: &CacheKey, bytes: &Bytes) {
        let redis_key = self.redis_key(kind, key);
        if bytes.len() > MAX_VALUE_SIZE {
            return;
        }
        let Some(ciphertext) = self.encryptor.encrypt(encryption_context(&[&redis_key]), bytes) else { return };
        self.redis.set(&redis_key, &ciphertext, kind.ttl).await;
    }

    fn redis_key(&self, kind: &CacheKind, key: &CacheKey) -> String {
        let digest = data_encoding::HEXLOWER.encode(key);
        format!("pidq:{}:{}:{digest}", self.installation, kind.name)
    }
}

/// Binds a value to its key, so that values cannot be exchanged.
fn encryption_context<'a>(key: &'a [&'a str]) -> EncryptionContext<'a> {
    EncryptionContext { purpose: &["cache"], context: key }
}

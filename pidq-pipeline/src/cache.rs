//! What may be lost: what was worked out a moment ago. In this process, and where Redis is named in all of them.
//!
//! A vector or a passage tells what stands in documents, a label may be a confidentiality, and a server of keys is copied,
//! listed and logged by whoever looks after it. So names and values in Redis are sealed with keys that are made of the
//! application secret. Without the secret nothing of this leaves the process.
//!
//! Nothing is ever out of date: what a value depends on is in its name, the count of changes of a partition for instance.

mod memory;
mod redis;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use pidq_http::Secret;
use pidq_http::prometheus_client::metrics::counter::Counter;
use pidq_http::prometheus_client::metrics::family::Family;
use pidq_http::prometheus_client::registry::Registry;
use ring::hmac;

use crate::seal::{Place, Sealer};
use memory::{Memory, Name};

pub use redis::{BadUrl, Redis};

/// The most bytes of a value that goes to Redis: fetching it must not take longer than making it.
const LARGEST: usize = 1 << 20;

/// Values of a kind.
#[derive(Debug)]
pub struct Kind {
    /// Its name in metrics.
    pub name: &'static str,
    /// How long a value is kept.
    pub lasts: Duration,
}

/// The vectors of questions.
pub const VECTORS: Kind = Kind { name: "vectors", lasts: Duration::from_secs(60 * 60) };
/// What was found for questions.
pub const PASSAGES: Kind = Kind { name: "passages", lasts: Duration::from_secs(5 * 60) };

/// Values by what they are of.
pub struct Cache {
    here: Mutex<Memory>,
    everywhere: Option<Everywhere>,
    names: hmac::Key,
    looks: Family<[(&'static str, &'static str); 2], Counter>,
}

/// Where all processes of an installation look.
struct Everywhere {
    redis: Arc<Redis>,
    sealer: Sealer,
    installation: String,
}

impl Cache {
    /// Values in so many bytes of this process alone.
    pub fn in_process(bytes: usize) -> Cache {
        Cache::of(bytes, Secret::random().ok().as_ref())
    }

    /// Values that all processes of an installation share, who have the same secret. Those used last are here as well,
    /// and all that there are while Redis does not answer.
    pub fn over(redis: Arc<Redis>, secret: &Secret, installation: &str, bytes: usize) -> Cache {
        let everywhere = Everywhere { redis, sealer: Sealer::of(secret), installation: installation.to_owned() };
        Cache { everywhere: Some(everywhere), ..Cache::of(bytes, Some(secret)) }
    }

    fn of(bytes: usize, secret: Option<&Secret>) -> Cache {
        // Without randomness names could be told by whoever sees them, and within the process nobody does.
        let secret = secret.map_or("", |secret| secret.expose());
        let root = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
        let names = hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&root, b"pidq: names of what is remembered").as_ref());
        Cache { here: Mutex::new(Memory::of(bytes)), everywhere: None, names, looks: Family::default() }
    }

    /// Counts what is found and what is not.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("pidq_pipeline_remembered", "Looks for what was worked out before", self.looks.clone());
    }

    /// How often values of a kind were found.
    pub fn found(&self, kind: &Kind) -> u64 {
        self.looks.get_or_create(&[("kind", kind.name), ("outcome", "found")]).get()
    }

    /// The value of something, if somebody remembers it.
    pub async fn get(&self, kind: &Kind, of: &[&str]) -> Option<Bytes> {
        let name = self.name(kind, of);
        let near = self.here().get(&name, Instant::now());
        let found = match (near, &self.everywhere) {
            (Some(near), _) => Some(near),
            (None, Some(everywhere)) => everywhere.get(kind, &name).await,
            (None, None) => None,
        };
        let outcome = if found.is_some() { "found" } else { "missed" };
        self.looks.get_or_create(&[("kind", kind.name), ("outcome", outcome)]).inc();
        found
    }

    /// Remembers the value of something.
    pub async fn put(&self, kind: &Kind, of: &[&str], bytes: Bytes) {
        let name = self.name(kind, of);
        self.here().put(name, bytes.clone(), kind.lasts, Instant::now());
        if let Some(everywhere) = &self.everywhere {
            everywhere.put(kind, &name, &bytes).await;
        }
    }

    /// No two lists of parts have the same name: each part is told with its length.
    fn name(&self, kind: &Kind, of: &[&str]) -> Name {
        let mut digest = hmac::Context::with_key(&self.names);
        for part in [kind.name].iter().chain(of) {
            digest.update(&(part.len() as u64).to_le_bytes());
            digest.update(part.as_bytes());
        }
        let mut name = [0; 32];
        name.copy_from_slice(digest.sign().as_ref());
        name
    }

    fn here(&self) -> MutexGuard<'_, Memory> {
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Everywhere {
    async fn get(&self, kind: &Kind, name: &Name) -> Option<Bytes> {
        let key = self.key(kind, name);
        let sealed: Option<String> = self.redis.ask(::redis::cmd("GET").arg(&key)).await?;
        let text = self.sealer.open(place(&[&key]), &sealed?)?;
        Some(Bytes::copy_from_slice(&text))
    }

    async fn put(&self, kind: &Kind, name: &Name, bytes: &Bytes) {
        let key = self.key(kind, name);
        if bytes.len() > LARGEST {
            return;
        }
        let Some(sealed) = self.sealer.seal(place(&[&key]), bytes) else { return };
        let mut set = ::redis::cmd("SET");
        set.arg(&key).arg(sealed).arg("PX").arg(u64::try_from(kind.lasts.as_millis()).unwrap_or(u64::MAX));
        let _: Option<()> = self.redis.ask(&set).await;
    }

    fn key(&self, kind: &Kind, name: &Name) -> String {
        let name = data_encoding::HEXLOWER.encode(name);
        format!("pidq:{}:{}:{name}", self.installation, kind.name)
    }
}

/// A value opens under its own key only: nobody can put one in the place of another.
fn place<'a>(key: &'a [&'a str]) -> Place<'a> {
    Place { purpose: &["what is remembered"], context: key }
}

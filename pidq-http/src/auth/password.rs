//! Password rules, and Argon2id hashing on few threads.
//!
//! Hashing is expensive: about a dozen per second and core. So few hashes run at once, few are queued, and further
//! ones fail immediately with a busy error. Logins from known networks have priority.

mod priority_queue;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use data_encoding::HEXLOWER;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::oneshot;
use zeroize::Zeroizing;

use super::IdentityError;
use super::login_throttle::NetworkTrust;
use super::secret::random;
use crate::process::thread_pool::{LOWEST_NICE, lower_priority};
use priority_queue::PriorityQueue;

/// Cost of a password hash.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HashCost {
    /// Memory in KiB.
    pub memory: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
    /// Maximum number of queued hashes, for known and for unknown networks each.
    pub queue: usize,
}

impl Default for HashCost {
    fn default() -> HashCost {
        HashCost { memory: 19 * 1024, passes: 2, lanes: 1, queue: 16 }
    }
}

const MIN_LENGTH: usize = 8;
const MAX_SIZE: usize = 1024;
/// First 12 hex digits of the SHA-256 of the 3,000 most frequent passwords of at least eight characters in lower
/// case, sorted; from the frequencies that zxcvbn (MIT license) publishes.
const COMMON_PASSWORDS: &str = include_str!("common_passwords.txt");

/// Checks the length of a password and rejects common ones. There are no rules about its characters.
pub fn check_password(password: &str) -> Result<(), IdentityError> {
    if password.chars().count() < MIN_LENGTH {
        return Err(IdentityError::Invalid(format!("a password must have at least {MIN_LENGTH} characters")));
    }
    if password.len() > MAX_SIZE {
        return Err(IdentityError::Invalid(format!("a password must have at most {MAX_SIZE} bytes")));
    }
    if is_common(password) {
        return Err(IdentityError::Invalid("this password is too common: choose another".into()));
    }
    Ok(())
}

fn is_common(password: &str) -> bool {
    let hash = Sha256::digest(password.to_lowercase());
    let head = HEXLOWER.encode(&hash[..6]);
    // A binary search would be possible, but scanning 3,000 lines is fast enough.
    COMMON_PASSWORDS.lines().any(|line| line == head)
}

/// Hashing threads. They are fixed, since each keeps the memory of a hash, and end on drop.
pub(crate) struct PasswordHasher {
    hasher: Arc<Hasher>,
    queue: Arc<PriorityQueue<Job>>,
}

type Job = Box<dyn FnOnce(&Hasher, &mut HashMemory) -> SendResult + Send>;

/// Sends the result, after the thread is free for the next job.
type SendResult = Box<dyn FnOnce()>;

/// Memory of a hash. It is as large as the rest of an idle server, so each thread keeps one from its first hash on.
type HashMemory = Vec<Block>;

struct Hasher {
    params: Params,
    /// Verified for unknown accounts, so that they cost the same. Its password is unknown.
    dummy_hash: PasswordHash,
    hash_count: AtomicU64,
}

impl PasswordHasher {
    pub(crate) fn new(cost: HashCost) -> Result<PasswordHasher, IdentityError> {
        let hasher = Arc::new(Hasher::new(cost)?);
        let threads = thread_count();
        let queue = Arc::new(PriorityQueue::new(threads, cost.queue));
        for _ in 0..threads {
            let (hasher, queue) = (hasher.clone(), queue.clone());
            let started = thread::Builder::new().name("hash".into()).spawn(move || run_worker(&hasher, &queue));
            started.map_err(|_| IdentityError::Busy)?;
        }
        Ok(PasswordHasher { hasher, queue })
    }

    /// Returns the number of computed hashes.
    pub(crate) fn hash_count(&self) -> u64 {
        self.hasher.hash_count.load(Ordering::Relaxed)
    }

    pub(crate) async fn hash(&self, password: Zeroizing<String>) -> Result<String, IdentityError> {
        self.run(NetworkTrust::Known, move |hasher, memory| hasher.hash(&password, memory)).await?
    }

    /// Verifies a password. Without a hash the result is false, after the same work.
    pub(crate) async fn verify(
        &self,
        trust: NetworkTrust,
        password: Zeroizing<String>,
        hash: Option<String>,
    ) -> Result<bool, IdentityError> {
        self.run(trust, move |hasher, memory| hasher.verify(&password, hash.as_deref(), memory)).await
    }

    /// Returns whether a hash has another cost than the current one.
    pub(crate) fn is_outdated(&self, hash: &str) -> bool {
        let params = PasswordHash::new(hash).ok().and_then(|hash| Params::try_from(&hash).ok());
        params.is_none_or(|params| params != self.hasher.params)
    }

    async fn run<T: Send + 'static>(
        &self,
        trust: NetworkTrust,
        job: impl FnOnce(&Hasher, &mut HashMemory) -> T + Send + 'static,
    ) -> Result<T, IdentityError> {
        let (sender, done) = oneshot::channel();
        let run: Job = Box::new(move |hasher, memory| {
            // The caller may have gone away.
            let done = (!sender.is_closed()).then(|| job(hasher, memory));
            Box::new(move || drop(done.map(|done| sender.send(done))))
        });
        self.queue.push(trust, run).map_err(|_| IdentityError::Busy)?;
        done.await.map_err(|_| IdentityError::Busy)
    }
}

impl Drop for PasswordHasher {
    fn drop(&mut self) {
        self.queue.close();
    }
}

fn run_worker(hasher: &Hasher, queue: &PriorityQueue<Job>) {
    // Hashing takes a whole processor; queries have priority over logins.
    lower_priority(LOWEST_NICE);
    let mut memory = HashMemory::new();
    queue.serve(|job| {
        catch_unwind(AssertUnwindSafe(|| job(hasher, &mut memory))).unwrap_or_else(|_| {
            tracing::error!("hashing a password panicked; responding with 503");
            Box::new(|| ())
        })
    });
}

fn thread_count() -> usize {
    (thread::available_parallelism().map_or(1, usize::from) / 2).clamp(1, 2)
}

impl Hasher {
    fn new(cost: HashCost) -> Result<Hasher, IdentityError> {
        let params = Params::new(cost.memory, cost.passes, cost.lanes, Some(Params::DEFAULT_OUTPUT_LEN))
            .map_err(|error| IdentityError::Invalid(format!("password hash cost: {error}")))?;
        let dummy_hash = phc(&params, &random::<16>()?, &random::<{ Params::DEFAULT_OUTPUT_LEN }>()?)?;
        Ok(Hasher { params, dummy_hash, hash_count: AtomicU64::new(0) })
    }

    fn hash(&self, password: &str, memory: &mut HashMemory) -> Result<String, IdentityError> {
        self.hash_count.fetch_add(1, Ordering::Relaxed);
        let (salt, mut output) = (random::<16>()?, [0; Params::DEFAULT_OUTPUT_LEN]);
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, self.params.clone());
        argon2_hash(&argon2, password, &salt, &mut output, memory).ok_or(IdentityError::Busy)?;
        Ok(phc(&self.params, &salt, &output)?.to_string())
    }

    fn verify(&self, password: &str, hash: Option<&str>, memory: &mut HashMemory) -> bool {
        self.hash_count.fetch_add(1, Ordering::Relaxed);
        let stored_hash = hash.and_then(|hash| PasswordHash::new(hash).ok());
        let matches = matches_hash(password, stored_hash.as_ref().unwrap_or(&self.dummy_hash), memory).unwrap_or(false);
        matches && stored_hash.is_some()
    }
}

/// Returns whether a password matches a hash, at the cost that the hash names.
fn matches_hash(password: &str, hash: &PasswordHash, memory: &mut HashMemory) -> Option<bool> {
    let version = hash.version.map_or(Some(Version::V0x13), |version| Version::try_from(version).ok())?;
    let argon2 = Argon2::new(Algorithm::try_from(hash.algorithm.as_str()).ok()?, version, Params::try_from(hash).ok()?);
    let (salt, expected) = (hash.salt.as_ref()?, hash.hash.as_ref()?.as_bytes());
    let mut output = vec![0; expected.len()];
    argon2_hash(&argon2, password, salt, &mut output, memory)?;
    Some(output.ct_eq(expected).into())
}

fn argon2_hash(
    argon2: &Argon2<'_>,
    password: &str,
    salt: &[u8],
    output: &mut [u8],
    memory: &mut HashMemory,
) -> Option<()> {
    let count = argon2.params().block_count();
    memory.try_reserve_exact(count.saturating_sub(memory.len())).ok()?;
    // Old contents are not read: the first pass writes every block.
    memory.resize(count, Block::new());
    argon2.hash_password_into_with_memory(password.as_bytes(), salt, output, memory).ok()
}

/// Returns a hash in its stored form.
fn phc(params: &Params, salt: &[u8], output: &[u8]) -> Result<PasswordHash, IdentityError> {
    let make = || {
        Some(PasswordHash {
            algorithm: Algorithm::Argon2id.ident(),
            version: Some(Version::V0x13.into()),
            params: ParamsString::try_from(params).ok()?,
            salt: Some(Salt::new(salt).ok()?),
            hash: Some(Output::new(output).ok()?),
        })
    };
    make().ok_or_else(|| IdentityError::Invalid("the password hash cost cannot be encoded".into()))
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::{PasswordHasher, PasswordVerifier};

    use super::*;

    #[test]
    fn reused_memory_gives_the_same_hash_as_fresh_memory() {
        let cost = |memory| HashCost { memory, passes: 2, lanes: 1, queue: 0 };
        let mut memory = HashMemory::new();
        for kib in [64, 256, 32, 64] {
            let hasher = Hasher::new(cost(kib)).expect("a cost");
            let hash = hasher.hash("blue valve", &mut memory).expect("a hash");
            let parsed = PasswordHash::new(&hash).expect("a hash as text");
            assert!(Argon2::default().verify_password(b"blue valve", &parsed).is_ok());
            assert!(hasher.verify("blue valve", Some(&hash), &mut memory));
            assert!(!hasher.verify("red valve", Some(&hash), &mut memory));
            let reference_hash: PasswordHash =
                Argon2::default().hash_password_with_salt(b"blue valve", &[7; 16]).expect("a hash");
            assert!(hasher.verify("blue valve", Some(&reference_hash.to_string()), &mut memory));
        }
    }
}

//! Passwords: what is accepted as one, and Argon2id on few threads.
//!
//! Hashing is the scarcest thing that a server has: about a dozen a second and core. So few run at once, few wait, and
//! all others are told at once that the server is busy. Those who have logged in from where they are go first.

mod lanes;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use argon2::password_hash::phc::{Output, ParamsString, PasswordHash, Salt};
use argon2::{Algorithm, Argon2, Block, Params, Version};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::oneshot;
use zeroize::Zeroizing;

use super::IdentityError;
use super::secret::random;
use super::throttle::Acquaintance;
use crate::ids::hex;
use crate::work::{LOWEST, stand_back};
use lanes::Lanes;

/// How much work a hash is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HashCost {
    /// Memory in KiB.
    pub memory: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
    /// Hashes of strangers that may wait for a thread, and as many of those who are known; one more is refused.
    pub queue: usize,
}

impl Default for HashCost {
    fn default() -> HashCost {
        HashCost { memory: 19 * 1024, passes: 2, lanes: 1, queue: 16 }
    }
}

const SHORTEST: usize = 8;
const LONGEST: usize = 1024;
/// The first 12 hex digits of the SHA-256 of the 3,000 most frequent passwords of at least eight characters in lower
/// case, sorted; from the frequencies that zxcvbn (MIT licence) publishes.
const COMMON: &str = include_str!("common_passwords.txt");

/// Says why a text is no good as a password. There are no rules about its characters.
pub fn check_password(password: &str) -> Result<(), IdentityError> {
    if password.chars().count() < SHORTEST {
        return Err(IdentityError::Refused(format!("a password has at least {SHORTEST} characters")));
    }
    if password.len() > LONGEST {
        return Err(IdentityError::Refused(format!("a password has at most {LONGEST} bytes")));
    }
    if is_common(password) {
        return Err(IdentityError::Refused("this password is among those that are tried first: take another".into()));
    }
    Ok(())
}

fn is_common(password: &str) -> bool {
    let hash = Sha256::digest(password.to_lowercase());
    let head = hex(&hash[..6]);
    // Every line has the same length, but 3,000 lines are read faster than this is explained.
    COMMON.lines().any(|line| line == head)
}

/// The threads that hash: always the same ones, since each keeps the memory of a hash, and ending with this.
pub(crate) struct Passwords {
    work: Arc<Work>,
    lanes: Arc<Lanes<Job>>,
}

type Job = Box<dyn FnOnce(&Work, &mut Memory) -> Tell + Send>;

/// Tells whoever asked, once the thread is free for the next job.
type Tell = Box<dyn FnOnce()>;

/// What a hash is computed in. It is as large as all else that a quiet server takes, so that each thread has one, from
/// the first hash on.
type Memory = Vec<Block>;

struct Work {
    params: Params,
    /// Verified for accounts that do not exist, so that they cost what others cost. Nobody knows its password.
    decoy: PasswordHash,
    runs: AtomicU64,
}

impl Passwords {
    pub(crate) fn new(cost: HashCost) -> Result<Passwords, IdentityError> {
        let work = Arc::new(Work::new(cost)?);
        let threads = threads();
        let lanes = Arc::new(Lanes::new(threads, cost.queue));
        for _ in 0..threads {
            let (work, lanes) = (work.clone(), lanes.clone());
            let started = thread::Builder::new().name("hash".into()).spawn(move || hash_all(&work, &lanes));
            started.map_err(|_| IdentityError::Busy)?;
        }
        Ok(Passwords { work, lanes })
    }

    /// How many hashes were computed so far.
    pub(crate) fn runs(&self) -> u64 {
        self.work.runs.load(Ordering::Relaxed)
    }

    pub(crate) async fn hash(&self, password: Zeroizing<String>) -> Result<String, IdentityError> {
        self.run(Acquaintance::Known, move |work, memory| work.hash(&password, memory)).await?
    }

    /// Whether the password is the one that was hashed. Without a hash the answer is no, after the same work.
    pub(crate) async fn verify(
        &self,
        who: Acquaintance,
        password: Zeroizing<String>,
        hash: Option<String>,
    ) -> Result<bool, IdentityError> {
        self.run(who, move |work, memory| work.verify(&password, hash.as_deref(), memory)).await
    }

    /// Whether a hash was made at another cost than that of today.
    pub(crate) fn is_outdated(&self, hash: &str) -> bool {
        let params = PasswordHash::new(hash).ok().and_then(|hash| Params::try_from(&hash).ok());
        params.is_none_or(|params| params != self.work.params)
    }

    async fn run<T: Send + 'static>(
        &self,
        who: Acquaintance,
        job: impl FnOnce(&Work, &mut Memory) -> T + Send + 'static,
    ) -> Result<T, IdentityError> {
        let (sender, done) = oneshot::channel();
        let run: Job = Box::new(move |work, memory| {
            // Whoever asked may have gone away.
            let done = (!sender.is_closed()).then(|| job(work, memory));
            Box::new(move || drop(done.map(|done| sender.send(done))))
        });
        self.lanes.push(who, run).map_err(|_| IdentityError::Busy)?;
        done.await.map_err(|_| IdentityError::Busy)
    }
}

impl Drop for Passwords {
    fn drop(&mut self) {
        self.lanes.close();
    }
}

fn hash_all(work: &Work, lanes: &Lanes<Job>) {
    // Hashing takes all of a processor, and gives way to queries: a login can wait.
    stand_back(LOWEST);
    let mut memory = Memory::new();
    lanes.serve(|job| {
        catch_unwind(AssertUnwindSafe(|| job(work, &mut memory))).unwrap_or_else(|_| {
            tracing::error!("a password could not be hashed");
            Box::new(|| ())
        })
    });
}

fn threads() -> usize {
    (thread::available_parallelism().map_or(1, usize::from) / 2).clamp(1, 2)
}

impl Work {
    fn new(cost: HashCost) -> Result<Work, IdentityError> {
        let params = Params::new(cost.memory, cost.passes, cost.lanes, Some(Params::DEFAULT_OUTPUT_LEN))
            .map_err(|error| IdentityError::Refused(format!("the cost of passwords: {error}")))?;
        let decoy = phc(&params, &random::<16>()?, &random::<{ Params::DEFAULT_OUTPUT_LEN }>()?)?;
        Ok(Work { params, decoy, runs: AtomicU64::new(0) })
    }

    fn hash(&self, password: &str, memory: &mut Memory) -> Result<String, IdentityError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let (salt, mut output) = (random::<16>()?, [0; Params::DEFAULT_OUTPUT_LEN]);
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, self.params.clone());
        fill(&argon2, password, &salt, &mut output, memory).ok_or(IdentityError::Busy)?;
        Ok(phc(&self.params, &salt, &output)?.to_string())
    }

    fn verify(&self, password: &str, hash: Option<&str>, memory: &mut Memory) -> bool {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let known = hash.and_then(|hash| PasswordHash::new(hash).ok());
        let matches = is_of(password, known.as_ref().unwrap_or(&self.decoy), memory).unwrap_or(false);
        matches && known.is_some()
    }
}

/// Whether a hash is that of a password; at the cost that the hash names.
fn is_of(password: &str, hash: &PasswordHash, memory: &mut Memory) -> Option<bool> {
    let version = hash.version.map_or(Some(Version::V0x13), |version| Version::try_from(version).ok())?;
    let argon2 = Argon2::new(Algorithm::try_from(hash.algorithm.as_str()).ok()?, version, Params::try_from(hash).ok()?);
    let (salt, expected) = (hash.salt.as_ref()?, hash.hash.as_ref()?.as_bytes());
    let mut output = vec![0; expected.len()];
    fill(&argon2, password, salt, &mut output, memory)?;
    Some(output.ct_eq(expected).into())
}

fn fill(argon2: &Argon2<'_>, password: &str, salt: &[u8], output: &mut [u8], memory: &mut Memory) -> Option<()> {
    let count = argon2.params().block_count();
    memory.try_reserve_exact(count.saturating_sub(memory.len())).ok()?;
    // What stands in it from before is not read: the first pass writes every block.
    memory.resize(count, Block::new());
    argon2.hash_password_into_with_memory(password.as_bytes(), salt, output, memory).ok()
}

/// A hash as it is stored.
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
    make().ok_or_else(|| IdentityError::Refused("the cost of passwords cannot be written down".into()))
}

#[cfg(test)]
mod tests {
    use argon2::password_hash::{PasswordHasher, PasswordVerifier};

    use super::*;

    #[test]
    fn memory_that_was_used_gives_what_fresh_memory_gives() {
        let cost = |memory| HashCost { memory, passes: 2, lanes: 1, queue: 0 };
        let mut memory = Memory::new();
        for kib in [64, 256, 32, 64] {
            let work = Work::new(cost(kib)).expect("a cost");
            let ours = work.hash("blue valve", &mut memory).expect("a hash");
            let read = PasswordHash::new(&ours).expect("a hash as text");
            assert!(Argon2::default().verify_password(b"blue valve", &read).is_ok());
            assert!(work.verify("blue valve", Some(&ours), &mut memory));
            assert!(!work.verify("red valve", Some(&ours), &mut memory));
            let theirs: PasswordHash =
                Argon2::default().hash_password_with_salt(b"blue valve", &[7; 16]).expect("a hash");
            assert!(work.verify("blue valve", Some(&theirs.to_string()), &mut memory));
        }
    }
}

//! Passwords: what is accepted as one, and Argon2id on few threads.
//!
//! Hashing is the scarcest thing that a server has: about a dozen a second and core. So few run at once, few wait, and
//! all others are told at once that the server is busy.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use rustix::process::setpriority_process;
use rustix::thread::gettid;
use sha2::{Digest, Sha256};
use tokio::sync::{Semaphore, oneshot};
use zeroize::Zeroizing;

use super::IdentityError;
use super::secret::random;

/// How much work a hash is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct HashCost {
    /// Memory in KiB.
    pub memory: u32,
    /// Passes over the memory.
    pub passes: u32,
    /// Lanes.
    pub lanes: u32,
    /// Hashes that may wait for a thread; one more is refused.
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
    let head: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    // Every line has the same length, but 3,000 lines are read faster than this is explained.
    COMMON.lines().any(|line| line == head)
}

/// The threads that hash: always the same ones, since each keeps the memory of a hash, and ending with this.
pub(crate) struct Passwords {
    work: Arc<Work>,
    jobs: mpsc::Sender<Job>,
    /// Those that run and those that wait.
    places: Arc<Semaphore>,
}

type Job = Box<dyn FnOnce(&Work) + Send>;

/// Hashing takes all of a processor, and gives way to queries: a login can wait.
const NICE: i32 = 10;

struct Work {
    argon2: Argon2<'static>,
    /// Verified for accounts that do not exist, so that they cost what others cost.
    decoy: String,
    runs: AtomicU64,
}

impl Passwords {
    pub(crate) fn new(cost: HashCost) -> Result<Passwords, IdentityError> {
        let params = Params::new(cost.memory, cost.passes, cost.lanes, Some(Params::DEFAULT_OUTPUT_LEN))
            .map_err(|error| IdentityError::Refused(format!("the cost of passwords: {error}")))?;
        let mut work = Work {
            argon2: Argon2::new(Algorithm::Argon2id, Version::V0x13, params),
            decoy: String::new(),
            runs: AtomicU64::new(0),
        };
        work.decoy = work.hash("nobody has this password")?;
        work.runs = AtomicU64::new(0);
        let (work, threads) = (Arc::new(work), threads());
        let (jobs, waiting) = mpsc::channel();
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..threads {
            let (work, waiting) = (work.clone(), waiting.clone());
            let started = thread::Builder::new().name("hash".into()).spawn(move || hash_all(&work, &waiting));
            started.map_err(|_| IdentityError::Busy)?;
        }
        Ok(Passwords { work, jobs, places: Arc::new(Semaphore::new(threads + cost.queue)) })
    }

    /// How many hashes were computed so far.
    pub(crate) fn runs(&self) -> u64 {
        self.work.runs.load(Ordering::Relaxed)
    }

    pub(crate) async fn hash(&self, password: Zeroizing<String>) -> Result<String, IdentityError> {
        self.run(move |work| work.hash(&password)).await?
    }

    /// Whether the password is the one that was hashed. Without a hash the answer is no, after the same work.
    pub(crate) async fn verify(
        &self,
        password: Zeroizing<String>,
        hash: Option<String>,
    ) -> Result<bool, IdentityError> {
        self.run(move |work| work.verify(&password, hash.as_deref())).await
    }

    /// Whether a hash was made at another cost than that of today.
    pub(crate) fn is_outdated(&self, hash: &str) -> bool {
        let params = PasswordHash::new(hash).ok().and_then(|hash| Params::try_from(&hash).ok());
        params.is_none_or(|params| params != *self.work.argon2.params())
    }

    async fn run<T: Send + 'static>(&self, job: impl FnOnce(&Work) -> T + Send + 'static) -> Result<T, IdentityError> {
        let place = self.places.clone().try_acquire_owned().map_err(|_| IdentityError::Busy)?;
        let (sender, done) = oneshot::channel();
        let run: Job = Box::new(move |work| {
            // It is given back when the work is done, even if the one who asked has gone away.
            let _held = place;
            let _ = sender.send(job(work));
        });
        self.jobs.send(run).map_err(|_| IdentityError::Busy)?;
        done.await.map_err(|_| IdentityError::Busy)
    }
}

/// Does one job after the other, until nobody can send any more.
fn hash_all(work: &Work, waiting: &Mutex<mpsc::Receiver<Job>>) {
    // Where it cannot be lowered it is as fast as the others.
    let _ = setpriority_process(Some(gettid()), NICE);
    loop {
        let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        if catch_unwind(AssertUnwindSafe(|| job(work))).is_err() {
            tracing::error!("a password could not be hashed");
        }
    }
}

fn threads() -> usize {
    (thread::available_parallelism().map_or(1, usize::from) / 2).clamp(1, 2)
}

impl Work {
    fn hash(&self, password: &str) -> Result<String, IdentityError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let salt = random::<16>()?;
        let hash: Result<PasswordHash, _> = self.argon2.hash_password_with_salt(password.as_bytes(), &salt);
        hash.map(|hash| hash.to_string()).map_err(|_| IdentityError::Busy)
    }

    fn verify(&self, password: &str, hash: Option<&str>) -> bool {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let known = hash.and_then(|hash| PasswordHash::new(hash).ok());
        let is_known = known.is_some();
        let Some(hash) = known.or_else(|| PasswordHash::new(&self.decoy).ok()) else { return false };
        let matches = self.argon2.verify_password(password.as_bytes(), &hash).is_ok();
        matches && is_known
    }
}

//! Who was found to be behind a token a moment ago, so that a database is not asked the same thing for every request.
//!
//! What is in here is believed for [`IdentityOptions::token_cache`](super::IdentityOptions) and no longer, whatever other
//! processes do to the database meanwhile. What this process does counts at once: whatever may take something from
//! somebody empties the shelf. A look-up that began before that is not kept after it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use super::{Caller, Identities, Moment};
use crate::database::{Arg, DatabaseError};
use crate::principal::Principal;

/// Tokens that are remembered.
const TOKENS: usize = 10_000;
/// Jobs that are remembered for one token.
const JOBS: usize = 1_000;

/// The SHA-256 of a token. Tokens themselves are not kept.
pub(super) type Digest = [u8; 32];

/// Somebody with a token, as they were found.
pub(crate) struct Bearer {
    pub(crate) caller: Arc<Caller>,
    /// The same as the floor sees them.
    pub(crate) principal: Arc<Principal>,
    /// When the token ends.
    pub(crate) expires_at: Moment,
    /// When it was looked up.
    found_at: Moment,
}

/// The tokens that were used of late.
pub(super) struct Recent {
    life: Duration,
    shelf: RwLock<Shelf>,
    /// Counts the changes of rights.
    rights: AtomicU64,
}

#[derive(Default)]
struct Shelf {
    /// Counts how often it was emptied.
    era: u64,
    /// When those were last put away whose time is over: with each goes what is known of its jobs.
    swept_at: Moment,
    tokens: HashMap<Digest, Arc<Bearer>>,
}

impl Bearer {
    pub(super) fn new(caller: Caller, expires_at: Moment, found_at: Moment) -> Bearer {
        let caller = Arc::new(caller);
        Bearer { principal: Arc::new(caller.principal()), caller, expires_at, found_at }
    }

    /// A clock that was put back makes it as good as unknown.
    fn is_fresh(&self, life: Duration, now: Moment) -> bool {
        self.found_at <= now && now.since(self.found_at) < life
    }
}

impl Recent {
    pub fn new(life: Duration) -> Recent {
        Recent { life, shelf: RwLock::default(), rights: AtomicU64::new(0) }
    }

    /// Who is behind a token, if that was found out within its time. Whether the token has expired is still to be asked.
    pub fn find(&self, token: &Digest, now: Moment) -> Option<Arc<Bearer>> {
        let shelf = self.shelf.read().unwrap_or_else(PoisonError::into_inner);
        shelf.tokens.get(token).filter(|bearer| bearer.is_fresh(self.life, now)).cloned()
    }

    /// The era to name when what is looked up from now on is kept.
    pub fn era(&self) -> u64 {
        self.shelf.read().unwrap_or_else(PoisonError::into_inner).era
    }

    /// Remembers what was looked up since an era, unless the shelf was emptied meanwhile.
    pub fn keep(&self, era: u64, token: Digest, bearer: &Arc<Bearer>) {
        if self.life.is_zero() {
            return;
        }
        let mut shelf = self.shelf.write().unwrap_or_else(PoisonError::into_inner);
        if shelf.era != era {
            return;
        }
        let now = bearer.found_at;
        if shelf.tokens.len() >= TOKENS || now.since(shelf.swept_at) >= self.life {
            shelf.tokens.retain(|_, other| other.is_fresh(self.life, now));
            shelf.swept_at = now;
        }
        if shelf.tokens.len() < TOKENS {
            shelf.tokens.insert(token, bearer.clone());
        }
    }

    fn forget(&self) {
        let mut shelf = self.shelf.write().unwrap_or_else(PoisonError::into_inner);
        shelf.era += 1;
        shelf.tokens.clear();
    }

    /// How often rights have changed.
    pub fn rights(&self) -> u64 {
        self.rights.load(Ordering::Acquire)
    }
}

impl Identities {
    /// Runs a statement after which somebody may be let in no more, or as somebody else.
    pub(super) async fn change(&self, sql: &'static str, args: &[Arg<'_>]) -> Result<u64, DatabaseError> {
        let _then = Then(|| self.recent.forget());
        self.database.execute(sql, args).await
    }

    /// Runs a statement after which somebody may do more or less.
    pub(super) async fn change_rights(&self, sql: &'static str, args: &[Arg<'_>]) -> Result<u64, DatabaseError> {
        let _then = Then(|| {
            self.recent.rights.fetch_add(1, Ordering::Release);
        });
        self.database.execute(sql, args).await
    }
}

/// What happens in any case: when a statement is done, when it failed, and when nobody waits for it any more.
struct Then<F: FnMut()>(F);

impl<F: FnMut()> Drop for Then<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// The jobs that a caller was found to be allowed to read, or not, since rights last changed.
///
/// It lives as long as its caller, who is looked up anew when the shelf says so.
#[derive(Default)]
pub(super) struct Readable(Mutex<Jobs>);

#[derive(Default)]
struct Jobs {
    rights: u64,
    known: HashMap<Box<str>, bool>,
}

impl Readable {
    pub fn find(&self, job: &str, rights: u64) -> Option<bool> {
        let jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.rights == rights { jobs.known.get(job).copied() } else { None }
    }

    /// Remembers what was looked up when rights had changed so often.
    pub fn keep(&self, job: &str, rights: u64, may: bool) {
        let mut jobs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if jobs.rights != rights || jobs.known.len() >= JOBS {
            *jobs = Jobs { rights, known: HashMap::new() };
        }
        jobs.known.insert(job.into(), may);
    }
}

/// A copy of a caller knows nothing yet.
impl Clone for Readable {
    fn clone(&self) -> Readable {
        Readable::default()
    }
}

/// What was looked up is no part of who somebody is.
impl PartialEq for Readable {
    fn eq(&self, _: &Readable) -> bool {
        true
    }
}

impl Eq for Readable {}

impl std::fmt::Debug for Readable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Readable")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Subject;

    fn bearer(found_at: i64) -> Arc<Bearer> {
        let caller = Caller {
            subject: Subject::user("u"),
            tenant: "acme".into(),
            scopes: Vec::new(),
            groups: Vec::new(),
            is_admin: false,
            client_id: None,
            name: "u".into(),
            readable: Readable::default(),
        };
        Arc::new(Bearer::new(caller, Moment(i64::MAX), Moment(found_at)))
    }

    #[test]
    fn what_was_found_is_believed_for_its_time() {
        let recent = Recent::new(Duration::from_secs(1));
        recent.keep(recent.era(), [1; 32], &bearer(5_000));
        let is_known = |now| recent.find(&[1; 32], Moment(now)).is_some();
        assert_eq!([4_999, 5_000, 5_999, 6_000].map(is_known), [false, true, true, false]);
        assert!(recent.find(&[2; 32], Moment(5_000)).is_none());
    }

    #[test]
    fn what_began_before_a_change_is_not_kept_after_it() {
        let recent = Recent::new(Duration::from_secs(1));
        let era = recent.era();
        recent.keep(era, [1; 32], &bearer(0));
        recent.forget();
        assert!(recent.find(&[1; 32], Moment(0)).is_none());
        recent.keep(era, [1; 32], &bearer(0));
        assert!(recent.find(&[1; 32], Moment(0)).is_none());
        recent.keep(recent.era(), [1; 32], &bearer(0));
        assert!(recent.find(&[1; 32], Moment(0)).is_some());
    }

    #[test]
    fn there_are_only_so_many_and_the_old_ones_go() {
        let recent = Recent::new(Duration::from_secs(1));
        let token = |n: usize| {
            let mut digest = [0; 32];
            digest[..8].copy_from_slice(&n.to_le_bytes());
            digest
        };
        (0..TOKENS).for_each(|n| recent.keep(0, token(n), &bearer(0)));
        recent.keep(0, token(TOKENS), &bearer(999));
        assert!(recent.find(&token(TOKENS), Moment(999)).is_none(), "those before it are all fresh");
        recent.keep(0, token(TOKENS), &bearer(1_000));
        assert!(recent.find(&token(TOKENS), Moment(1_000)).is_some());
        assert!(recent.find(&token(0), Moment(1_000)).is_none());
    }

    #[test]
    fn those_whose_time_is_over_do_not_stay() {
        let recent = Recent::new(Duration::from_secs(1));
        for second in 0..100_u8 {
            recent.keep(0, [second; 32], &bearer(i64::from(second) * 1_000));
        }
        assert!(recent.shelf.read().expect("no panic").tokens.len() <= 2);
    }

    #[test]
    fn a_time_of_zero_keeps_nothing() {
        let recent = Recent::new(Duration::ZERO);
        recent.keep(0, [1; 32], &bearer(0));
        assert!(recent.find(&[1; 32], Moment(0)).is_none());
    }
}

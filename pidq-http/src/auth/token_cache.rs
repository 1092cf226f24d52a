//! Short-lived cache of verified tokens.
//!
//! Entries are valid for [`IdentityOptions::token_cache_ttl`](super::IdentityOptions), whatever other processes
//! change in the database meanwhile. Changes by this process take effect at once: every change that may revoke access
//! clears the cache. A look-up that began before a change is not cached after it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use quick_cache::sync::Cache;

use super::{Caller, Identities, Timestamp};
use crate::database::{Arg, DatabaseError};
use crate::principal::Principal;

/// Maximum number of cached tokens, approximately.
const TOKEN_LIMIT: usize = 10_000;

/// SHA-256 of a token. Tokens themselves are not stored.
pub(super) type Digest = [u8; 32];

/// Verified token with its caller.
pub(crate) struct VerifiedToken {
    pub(crate) caller: Arc<Caller>,
    /// Caller as a principal of the HTTP layer.
    pub(crate) principal: Arc<Principal>,
    /// Expiry of the token.
    pub(crate) expires_at: Timestamp,
    /// Time of the verification.
    verified_at: Timestamp,
}

/// Cache of verified tokens.
pub(super) struct TokenCache {
    ttl: Duration,
    tokens: Cache<Digest, CachedToken>,
    /// Number of times the cache was cleared.
    generation: AtomicU64,
    /// Time of the last purge of expired entries, each with its graph rights, in milliseconds.
    purged_at: AtomicI64,
    /// Number of changes of rights.
    rights_version: AtomicU64,
}

#[derive(Clone)]
struct CachedToken {
    verified: Arc<VerifiedToken>,
    /// Generation in which the look-up began. Entries of earlier generations are invalid.
    generation: u64,
}

impl VerifiedToken {
    pub(super) fn new(caller: Caller, expires_at: Timestamp, verified_at: Timestamp) -> VerifiedToken {
        let caller = Arc::new(caller);
        VerifiedToken { principal: Arc::new(caller.principal()), caller, expires_at, verified_at }
    }

    /// An entry from the future, after the clock was set back, is not fresh.
    fn is_fresh(&self, ttl: Duration, now: Timestamp) -> bool {
        self.verified_at <= now && now.since(self.verified_at) < ttl
    }
}

impl TokenCache {
    pub fn new(ttl: Duration) -> TokenCache {
        TokenCache {
            ttl,
            tokens: Cache::new(TOKEN_LIMIT),
            generation: AtomicU64::new(0),
            purged_at: AtomicI64::new(0),
            rights_version: AtomicU64::new(0),
        }
    }

    /// Returns a fresh entry. The caller must still check the expiry of the token.
    pub fn get(&self, token: &Digest, now: Timestamp) -> Option<Arc<VerifiedToken>> {
        let cached = self.tokens.get(token).filter(|cached| cached.generation == self.generation())?;
        Some(cached.verified).filter(|verified| verified.is_fresh(self.ttl, now))
    }

    /// Returns the generation, for a later [`TokenCache::insert`].
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Inserts a verified token. It is never returned if the cache was cleared since the generation.
    pub fn insert(&self, generation: u64, token: Digest, verified: &Arc<VerifiedToken>) {
        if self.ttl.is_zero() || generation != self.generation() {
            return;
        }
        let now = verified.verified_at;
        let purged_at = Timestamp(self.purged_at.load(Ordering::Relaxed));
        if now.distance(purged_at) >= self.ttl {
            self.purged_at.store(now.0, Ordering::Relaxed);
            self.tokens.retain(|_, cached| cached.verified.is_fresh(self.ttl, now));
        }
        self.tokens.insert(token, CachedToken { verified: verified.clone(), generation });
    }

    fn clear(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.tokens.clear();
    }

    /// Returns the number of changes of rights.
    pub fn rights_version(&self) -> u64 {
        self.rights_version.load(Ordering::Acquire)
    }
}

impl Identities {
    /// Executes a statement that may revoke access or change a caller, and clears the cache.
    pub(super) async fn execute_and_clear_cache(
        &self,
        sql: &'static str,
        args: &[Arg<'_>],
    ) -> Result<u64, DatabaseError> {
        let _on_drop = RunOnDrop(|| self.token_cache.clear());
        self.database.execute(sql, args).await
    }

    /// Executes a statement that changes rights, and invalidates cached rights.
    pub(super) async fn execute_and_bump_rights(
        &self,
        sql: &'static str,
        args: &[Arg<'_>],
    ) -> Result<u64, DatabaseError> {
        let _on_drop = RunOnDrop(|| {
            self.token_cache.rights_version.fetch_add(1, Ordering::Release);
        });
        self.database.execute(sql, args).await
    }
}

/// Guard that runs a function on drop: after success, failure, and cancellation.
struct RunOnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for RunOnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Subject;
    use crate::auth::readable_graphs::ReadableGraphs;

    fn verified_token(verified_at: i64) -> Arc<VerifiedToken> {
        let caller = Caller {
            subject: Subject::user("u"),
            tenant: "acme".into(),
            scopes: Vec::new(),
            groups: Vec::new(),
            is_admin: false,
            client_id: None,
            name: "u".into(),
            readable_graphs: ReadableGraphs::default(),
        };
        Arc::new(VerifiedToken::new(caller, Timestamp(i64::MAX), Timestamp(verified_at)))
    }

    #[test]
    fn a_token_is_cached_for_its_ttl() {
        let cache = TokenCache::new(Duration::from_secs(1));
        cache.insert(cache.generation(), [1; 32], &verified_token(5_000));
        let is_cached = |now| cache.get(&[1; 32], Timestamp(now)).is_some();
        assert_eq!([4_999, 5_000, 5_999, 6_000].map(is_cached), [false, true, true, false]);
        assert!(cache.get(&[2; 32], Timestamp(5_000)).is_none());
    }

    #[test]
    fn a_lookup_that_began_before_a_change_is_not_cached() {
        let cache = TokenCache::new(Duration::from_secs(1));
        let generation = cache.generation();
        cache.insert(generation, [1; 32], &verified_token(0));
        cache.clear();
        assert!(cache.get(&[1; 32], Timestamp(0)).is_none());
        cache.insert(generation, [1; 32], &verified_token(0));
        assert!(cache.get(&[1; 32], Timestamp(0)).is_none());
        cache.insert(cache.generation(), [1; 32], &verified_token(0));
        assert!(cache.get(&[1; 32], Timestamp(0)).is_some());
        // The change may come between the two steps of an insertion.
        cache.tokens.insert([1; 32], CachedToken { verified: verified_token(0), generation });
        assert!(cache.get(&[1; 32], Timestamp(0)).is_none());
    }

    #[test]
    fn the_cache_is_bounded_and_keeps_new_tokens() {
        let cache = TokenCache::new(Duration::from_secs(1));
        for n in 0..2 * TOKEN_LIMIT {
            let mut token = [0; 32];
            token[..8].copy_from_slice(&n.to_le_bytes());
            cache.insert(0, token, &verified_token(0));
            assert!(cache.get(&token, Timestamp(0)).is_some(), "{n}");
        }
        // Shards round their capacity up.
        assert!(cache.tokens.len() <= TOKEN_LIMIT + TOKEN_LIMIT / 100, "{}", cache.tokens.len());
    }

    #[test]
    fn expired_tokens_are_purged() {
        let cache = TokenCache::new(Duration::from_secs(1));
        for second in 0..100_u8 {
            cache.insert(0, [second; 32], &verified_token(i64::from(second) * 1_000));
        }
        assert!(cache.tokens.len() <= 2);
        const DAY: i64 = 86_400_000;
        for second in 100..200_u8 {
            cache.insert(0, [second; 32], &verified_token(i64::from(second) * 1_000 - DAY));
        }
        assert!(cache.tokens.len() <= 2, "also after the clock was set back");
    }

    #[test]
    fn a_ttl_of_zero_caches_nothing() {
        let cache = TokenCache::new(Duration::ZERO);
        cache.insert(0, [1; 32], &verified_token(0));
        assert!(cache.get(&[1; 32], Timestamp(0)).is_none());
    }
}

//! Short-lived cache of verified tokens.
//!
//! Entries are valid for [`IdentityOptions::token_cache_ttl`](super::IdentityOptions), whatever other processes
//! change in the database meanwhile. Changes by this process take effect at once: every change that may revoke access
//! clears the cache. A look-up that began before a change is not cached after it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::{Caller, Identities, Timestamp};
use crate::database::{Arg, DatabaseError};
use crate::principal::Principal;

/// Maximum number of cached tokens.
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
    entries: RwLock<CacheEntries>,
    /// Number of changes of rights.
    rights_version: AtomicU64,
}

#[derive(Default)]
struct CacheEntries {
    /// Number of times the cache was cleared.
    generation: u64,
    /// Time of the last purge of expired entries, each with its graph rights.
    purged_at: Timestamp,
    tokens: HashMap<Digest, Arc<VerifiedToken>>,
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
        TokenCache { ttl, entries: RwLock::default(), rights_version: AtomicU64::new(0) }
    }

    /// Returns a fresh entry. The caller must still check the expiry of the token.
    pub fn get(&self, token: &Digest, now: Timestamp) -> Option<Arc<VerifiedToken>> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.tokens.get(token).filter(|verified| verified.is_fresh(self.ttl, now)).cloned()
    }

    /// Returns the generation, for a later [`TokenCache::insert`].
    pub fn generation(&self) -> u64 {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).generation
    }

    /// Inserts a verified token, unless the cache was cleared since the generation.
    pub fn insert(&self, generation: u64, token: Digest, verified: &Arc<VerifiedToken>) {
        if self.ttl.is_zero() {
            return;
        }
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        if entries.generation != generation {
            return;
        }
        let now = verified.verified_at;
        if entries.tokens.len() >= TOKEN_LIMIT || now.since(entries.purged_at) >= self.ttl {
            entries.tokens.retain(|_, other| other.is_fresh(self.ttl, now));
            entries.purged_at = now;
        }
        if entries.tokens.len() < TOKEN_LIMIT {
            entries.tokens.insert(token, verified.clone());
        }
    }

    fn clear(&self) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        entries.generation += 1;
        entries.tokens.clear();
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
    }

    #[test]
    fn the_cache_is_bounded_and_evicts_expired_tokens() {
        let cache = TokenCache::new(Duration::from_secs(1));
        let token = |n: usize| {
            let mut digest = [0; 32];
            digest[..8].copy_from_slice(&n.to_le_bytes());
            digest
        };
        (0..TOKEN_LIMIT).for_each(|n| cache.insert(0, token(n), &verified_token(0)));
        cache.insert(0, token(TOKEN_LIMIT), &verified_token(999));
        assert!(cache.get(&token(TOKEN_LIMIT), Timestamp(999)).is_none(), "those before it are all fresh");
        cache.insert(0, token(TOKEN_LIMIT), &verified_token(1_000));
        assert!(cache.get(&token(TOKEN_LIMIT), Timestamp(1_000)).is_some());
        assert!(cache.get(&token(0), Timestamp(1_000)).is_none());
    }

    #[test]
    fn expired_tokens_are_purged() {
        let cache = TokenCache::new(Duration::from_secs(1));
        for second in 0..100_u8 {
            cache.insert(0, [second; 32], &verified_token(i64::from(second) * 1_000));
        }
        assert!(cache.entries.read().expect("no panic").tokens.len() <= 2);
    }

    #[test]
    fn a_ttl_of_zero_caches_nothing() {
        let cache = TokenCache::new(Duration::ZERO);
        cache.insert(0, [1; 32], &verified_token(0));
        assert!(cache.get(&[1; 32], Timestamp(0)).is_none());
    }
}

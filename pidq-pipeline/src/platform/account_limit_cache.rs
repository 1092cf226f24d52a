//! Short-lived cache of the limits of accounts, which every request with a token needs.
//!
//! As for verified tokens, changes by this process take effect at once, and those of other processes after the time to live.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pidq_store::{AccountLimit, Store, StoreError};

/// Maximum number of cached accounts.
const MAX_ACCOUNTS: usize = 10_000;

/// Cache of limits by account; `None` is an account without a limit.
#[derive(Default)]
pub struct AccountLimitCache(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    by_account: HashMap<String, (Instant, Option<Arc<AccountLimit>>)>,
    /// Number of changes. A look-up that began before a change is not cached after it.
    generation: u64,
}

impl AccountLimitCache {
    /// Returns the limit of an account, if it has one, at most `ttl` old.
    pub async fn get(
        &self,
        store: &Store,
        account: &str,
        ttl: Duration,
    ) -> Result<Option<Arc<AccountLimit>>, StoreError> {
        let generation = match self.cached(account, ttl) {
            Ok(limit) => return Ok(limit),
            Err(generation) => generation,
        };
        let looked_up_at = Instant::now();
        let limit = store.account_limit(account).await?.map(Arc::new);
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.generation == generation {
            if entries.by_account.len() >= MAX_ACCOUNTS {
                entries.by_account.clear();
            }
            entries.by_account.insert(account.to_owned(), (looked_up_at, limit.clone()));
        }
        Ok(limit)
    }

    /// Returns the cached limit, or else the generation in which a look-up begins.
    fn cached(&self, account: &str, ttl: Duration) -> Result<Option<Arc<AccountLimit>>, u64> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match entries.by_account.get(account) {
            Some((looked_up_at, limit)) if looked_up_at.elapsed() < ttl => Ok(limit.clone()),
            _ => Err(entries.generation),
        }
    }

    /// Forgets all limits. Call it after a change was committed.
    pub fn clear(&self) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.generation += 1;
        entries.by_account.clear();
    }
}

//! Idempotency keys in the database: leases of running requests and stored responses.

use std::time::Duration;

use pidq_http::auth::Timestamp;

use super::{Result, Store, latest_plausible};

/// Retention of responses in milliseconds.
const RETENTION_MS: i64 = 24 * 60 * 60 * 1000;

/// Lease of a running request in milliseconds.
pub const LEASE_MS: i64 = 30_000;

/// Key of an idempotent request.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    /// The caller.
    pub caller: String,
    /// Fingerprint of the `Idempotency-Key`.
    pub fingerprint: String,
    /// Lease owner.
    pub lease_owner: String,
}

/// Result of claiming an idempotency key.
#[derive(Debug)]
pub enum Claim {
    /// The key is new; the caller holds the lease now.
    Acquired,
    /// Another request holds the lease.
    InProgress,
    /// The request is complete; the value is the stored response.
    Completed(String),
}

const CLAIM: &str = "insert into idempotency_keys (caller, fingerprint, lease_owner, lease_until, created_at) values ($1, $2, $3, $4, $5)
  on conflict (caller, fingerprint) do update set lease_owner = $3, lease_until = $4, response = null, created_at = $5
  where idempotency_keys.created_at <= $6 or (idempotency_keys.response is null and (idempotency_keys.lease_until <= $5 or idempotency_keys.lease_until > $7))";
const RESPONSE: &str = "select response from idempotency_keys where caller = $1 and fingerprint = $2";
const RENEW: &str = "update idempotency_keys set lease_until = $4
  where caller = $1 and fingerprint = $2 and lease_owner = $3 and response is null";
const SAVE: &str = "update idempotency_keys set response = $4
  where caller = $1 and fingerprint = $2 and lease_owner = $3 and response is null";
const RELEASE: &str =
    "delete from idempotency_keys where caller = $1 and fingerprint = $2 and lease_owner = $3 and response is null";
const PURGE: &str = "delete from idempotency_keys where created_at <= $1 and lease_until <= $2";

impl Store {
    /// Claims a key that has no response and no valid lease. The lease of a crashed process expires.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn claim_idempotency_key(&self, key: &IdempotencyKey) -> Result<Claim> {
        let now = Timestamp::now().0;
        let arguments = [
            (&key.caller).into(),
            (&key.fingerprint).into(),
            (&key.lease_owner).into(),
            (now + LEASE_MS).into(),
            now.into(),
            (now - RETENTION_MS).into(),
            latest_plausible(Timestamp(now), Duration::from_millis(LEASE_MS as u64)).into(),
        ];
        if self.database.execute(CLAIM, &arguments).await? > 0 {
            return Ok(Claim::Acquired);
        }
        let row = self.database.row::<(Option<String>,)>(RESPONSE, &arguments[..2]).await?;
        Ok(row.and_then(|row| row.0).map_or(Claim::InProgress, Claim::Completed))
    }

    /// Renews the lease.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn renew_idempotency_lease(&self, key: &IdempotencyKey) -> Result<()> {
        self.execute_as_owner(RENEW, key, Some((Timestamp::now().0 + LEASE_MS).into())).await
    }

    /// Saves the response if the lease is still held.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn save_response(&self, key: &IdempotencyKey, response: &str) -> Result<()> {
        self.execute_as_owner(SAVE, key, Some(response.into())).await
    }

    /// Deletes the key of a request that failed.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn release_idempotency_key(&self, key: &IdempotencyKey) -> Result<()> {
        self.execute_as_owner(RELEASE, key, None).await
    }

    async fn execute_as_owner(
        &self,
        statement: &'static str,
        key: &IdempotencyKey,
        value: Option<pidq_http::database::Arg<'_>>,
    ) -> Result<()> {
        let owner_arguments = [(&key.caller).into(), (&key.fingerprint).into(), (&key.lease_owner).into()];
        let arguments: Vec<_> = owner_arguments.into_iter().chain(value).collect();
        self.database.execute(statement, &arguments).await?;
        Ok(())
    }

    /// Deletes keys that are older than a day.
    ///
    /// # Errors
    /// If the database does not answer.
    pub async fn purge_idempotency_keys(&self) -> Result<u64> {
        let now = Timestamp::now().0;
        Ok(self.database.execute(PURGE, &[(now - RETENTION_MS).into(), now.into()]).await?)
    }
}

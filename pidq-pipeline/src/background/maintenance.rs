//! Periodic maintenance: purges expired rows and obsolete index files, and writes snapshots of loaded partitions.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_store::StoreError;

use crate::platform::Platform;

/// Purge interval. Expired data is hidden before it is purged.
const PURGE_INTERVAL: Duration = Duration::from_secs(600);

/// Interval of writing snapshots of loaded partitions.
const SNAPSHOT_INTERVAL: Duration = Duration::from_secs(15);
/// Time without changes before a snapshot: during bulk ingestion each file would be outdated at once.
const QUIET_PERIOD: Duration = Duration::from_secs(30);

/// Writes snapshots of quiet partitions and removes obsolete files. Never returns.
pub(crate) async fn save_snapshots(platform: Arc<Platform>) {
    let (indexes, store) = (&platform.search.indexes, &platform.store);
    loop {
        for result in [indexes.save(store, QUIET_PERIOD).await, indexes.remove_obsolete_snapshots(store).await] {
            if let Err(error) = result {
                tracing::debug!(%error, "writing partition snapshots failed");
            }
        }
        tokio::time::sleep(SNAPSHOT_INTERVAL).await;
    }
}

/// Purges expired data periodically. Never returns.
pub(crate) async fn run_purge(platform: Arc<Platform>) {
    loop {
        if let Err(error) = purge_expired(&platform).await {
            tracing::warn!(%error, "purging expired rows failed; retrying in 10 min");
        }
        purge_tokens(&platform).await;
        tokio::time::sleep(PURGE_INTERVAL).await;
    }
}

/// Purges expired data once.
///
/// # Errors
/// If the database does not answer.
pub async fn purge_expired(platform: &Platform) -> Result<(), StoreError> {
    platform.store.purge_answers((Timestamp::now() - platform.limits.answer_retention).0).await?;
    platform.store.purge_idempotency_keys().await?;
    platform.store.repair_attachments().await?;
    if !platform.retention.audit.is_zero() {
        platform.store.purge_audit((Timestamp::now() - platform.retention.audit).0).await?;
    }
    if let Some(pgvector) = &platform.search.pgvector {
        pgvector.remove_obsolete().await?;
    }
    Ok(())
}

/// Deletes expired tokens.
async fn purge_tokens(platform: &Platform) {
    let Some(accounts) = &platform.access.accounts else { return };
    if let Err(error) = accounts.identities.purge_expired(Timestamp::now()).await {
        tracing::warn!(%error, "purging expired tokens failed; retrying in 10 min");
    }
}

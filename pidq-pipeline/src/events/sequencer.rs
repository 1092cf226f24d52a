//! Event sequencer: assigns positions, loads the feed, and purges old events.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_store::StoreError;
use tokio::time::Instant;

use crate::platform::Platform;

/// Poll interval without notifications; other replicas notify only themselves.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Delay that batches events, so that those of one document are mostly positioned together.
const BATCH_DELAY: Duration = Duration::from_millis(20);
/// Interval of purging old events and checking the license.
const PURGE_INTERVAL: Duration = Duration::from_secs(60);
/// Events positioned or purged per statement.
const BATCH_SIZE: usize = 500;

/// Runs until the future is dropped.
pub async fn run_sequencer(platform: Arc<Platform>) {
    let mut purged_at: Option<Instant> = None;
    loop {
        if let Err(error) = assign_positions(&platform).await {
            tracing::warn!(%error, "assigning event positions failed; retrying in 1 s");
            tokio::time::sleep(POLL_INTERVAL).await;
            continue;
        }
        if purged_at.is_none_or(|at| at.elapsed() >= PURGE_INTERVAL) {
            purged_at = Some(Instant::now());
            if let Err(error) = purge(&platform).await {
                tracing::warn!(%error, "purging old events failed; retrying in 60 s");
            }
        }
        tokio::select! {
            () = platform.store.outbox().notified() => tokio::time::sleep(BATCH_DELAY).await,
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    }
}

/// Assigns positions to all events and loads them into the feed.
pub(crate) async fn assign_positions(platform: &Platform) -> Result<(), StoreError> {
    while platform.store.assign_positions(BATCH_SIZE).await? == BATCH_SIZE {}
    platform.messaging.feed.catch_up(&platform.store).await
}

async fn purge(platform: &Platform) -> Result<(), StoreError> {
    platform.licensing.refresh(&platform.store).await?;
    let before = Timestamp::now() - platform.retention.events;
    platform.store.purge_deliveries(before.0).await?;
    while platform.store.purge_events(before.0, BATCH_SIZE).await? == BATCH_SIZE {}
    Ok(())
}

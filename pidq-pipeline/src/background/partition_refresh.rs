//! Cache refresh when another replica signals a change, so that the next search does not have to wait.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use pidq_store::StoreError;
use tokio::time::timeout;

use crate::cluster::pubsub::{Received, Signal, Subscription};
use crate::platform::Platform;

/// Time without changes before a partition is refreshed: during bulk ingestion each search refreshes it
/// anyway, and a refresh per document would be wasted.
const QUIET_PERIOD: Duration = Duration::from_secs(1);

/// Pipeline and classification.
type PartitionKey = (String, String);

/// Refreshes loaded partitions after a change and a quiet period.
pub async fn run(platform: Arc<Platform>) {
    let signal = Signal::PartitionChanged { pipeline: String::new(), classification: String::new() };
    let mut signals = platform.messaging.pubsub.subscribe(signal.subject());
    while let Some(first) = signals.next().await {
        for (pipeline, classification) in collect_changes(first, &mut signals).await {
            if let Err(error) = refresh(&platform, &pipeline, &classification).await {
                tracing::debug!(%error, "refreshing a partition failed; the next search retries");
            }
        }
    }
}

/// Collects changes until the quiet period has passed.
async fn collect_changes(first: Received, signals: &mut Subscription) -> HashSet<PartitionKey> {
    let mut changed: HashSet<PartitionKey> = changed_partition(first).into_iter().collect();
    while let Ok(Some(received)) = timeout(QUIET_PERIOD, signals.next()).await {
        changed.extend(changed_partition(received));
    }
    changed
}

fn changed_partition(received: Received) -> Option<PartitionKey> {
    // Missed changes are found by the next search.
    let Received::Message(message) = received else { return None };
    match Signal::from_message(&message)? {
        Signal::PartitionChanged { pipeline, classification } => Some((pipeline, classification)),
        _ => None,
    }
}

async fn refresh(platform: &Platform, pipeline: &str, classification: &str) -> Result<(), StoreError> {
    if !platform.search.indexes.is_open(pipeline, classification) {
        return Ok(());
    }
    match platform.store.pipeline(pipeline).await? {
        Some(pipeline) => platform.search.indexes.get(&platform.store, &pipeline, classification).await.map(drop),
        None => Ok(()),
    }
}

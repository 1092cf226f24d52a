//! What a process does when another one says that something changed, so that the next question need not wait for it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::messages::{Heard, Signal, Subscription};
use crate::platform::Platform;
use crate::store::StoreError;

/// How long nothing may change before a partition is brought up to date: while many documents come, each question does
/// that for itself, and doing it for each document would be work for nobody.
const QUIET: Duration = Duration::from_secs(1);

/// Pipeline and label.
type Changed = (String, String);

/// Brings partitions that are open up to date when something changed and then nothing did for a moment.
pub async fn follow(platform: Arc<Platform>) {
    let partition = Signal::Partition { pipeline: String::new(), classification: String::new() };
    let mut signals = platform.messages.subscribe(partition.subject());
    while let Some(first) = signals.next().await {
        for (pipeline, label) in quiet(first, &mut signals).await {
            if let Err(error) = catch_up(&platform, &pipeline, &label).await {
                tracing::debug!(%error, "a partition was not brought up to date");
            }
        }
    }
}

/// All that changed until nothing does.
async fn quiet(first: Heard, signals: &mut Subscription) -> HashSet<Changed> {
    let mut changed: HashSet<Changed> = of(first).into_iter().collect();
    while let Ok(Some(heard)) = timeout(QUIET, signals.next()).await {
        changed.extend(of(heard));
    }
    changed
}

fn of(heard: Heard) -> Option<Changed> {
    // What was not heard is found by the next question.
    let Heard::Message(message) = heard else { return None };
    match Signal::of(&message)? {
        Signal::Partition { pipeline, classification } => Some((pipeline, classification)),
        _ => None,
    }
}

async fn catch_up(platform: &Platform, pipeline: &str, label: &str) -> Result<(), StoreError> {
    if !platform.indexes.is_open(pipeline, label) {
        return Ok(());
    }
    match platform.store.pipeline(pipeline).await? {
        Some(pipeline) => platform.indexes.of(&platform.store, &pipeline, label).await.map(drop),
        None => Ok(()),
    }
}

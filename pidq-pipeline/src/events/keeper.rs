//! What has to be done about events all the time: they get their places, listeners are told, old ones are forgotten.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Moment;
use tokio::time::Instant;

use crate::licensing;
use crate::platform::Platform;
use crate::store::StoreError;

/// How often to look, if nobody rings: other replicas ring their own bell.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long events gather, so that those of one document mostly get their places together.
const GATHER: Duration = Duration::from_millis(20);
/// How often old events are forgotten, and the licence is looked at.
const TIDY_EVERY: Duration = Duration::from_secs(60);
/// Events that get a place, or are forgotten, at once.
const BATCH: usize = 500;

/// Works until the future is dropped.
pub async fn keep(platform: Arc<Platform>) {
    let mut tidied: Option<Instant> = None;
    loop {
        if let Err(error) = place(&platform).await {
            tracing::warn!(%error, "events cannot be looked after");
            tokio::time::sleep(LOOK_EVERY).await;
            continue;
        }
        if tidied.is_none_or(|at| at.elapsed() >= TIDY_EVERY) {
            tidied = Some(Instant::now());
            if let Err(error) = tidy(&platform).await {
                tracing::warn!(%error, "old events cannot be forgotten");
            }
        }
        tokio::select! {
            () = platform.store.outbox().heard() => tokio::time::sleep(GATHER).await,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

/// Gives all events their places, and takes them in.
pub(super) async fn place(platform: &Platform) -> Result<(), StoreError> {
    while platform.store.place_events(BATCH).await? == BATCH {}
    platform.feed.catch_up(&platform.store).await
}

async fn tidy(platform: &Platform) -> Result<(), StoreError> {
    licensing::look(platform).await?;
    let before = Moment::now() - platform.keep_events;
    platform.store.forget_deliveries(before.0).await?;
    while platform.store.forget_events(before.0, BATCH).await? == BATCH {}
    Ok(())
}

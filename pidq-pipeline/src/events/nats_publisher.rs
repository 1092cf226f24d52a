//! NATS publisher of events: `pidq.v1.<type>`, at least once, from one process at a time.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_store::StoreError;
use pidq_store::domain::event::Event;

use crate::cluster::event_feed::BATCH_SIZE;
use crate::platform::Platform;

/// Subject prefix. Only the event type follows, because servers log subjects.
const SUBJECT_PREFIX: &str = "pidq.v1.";
/// Lease of the publishing process.
const LEASE_TTL: Duration = Duration::from_secs(30);
/// Poll interval without notifications.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Runs until the future is dropped; returns immediately without NATS.
pub async fn publish(platform: Arc<Platform>) {
    if platform.messaging.pubsub.health().is_none() {
        return;
    }
    let mut positions = platform.messaging.feed.subscribe();
    let mut lease_until = 0;
    while let Err(error) = platform.store.init_publishing().await {
        tracing::warn!(%error, "publishing events to NATS failed; retrying in 1 s");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    loop {
        if let Err(error) = publish_pending(&platform, &mut lease_until).await {
            tracing::warn!(%error, "publishing events to NATS failed; retrying in 1 s");
        }
        tokio::select! {
            _ = positions.changed() => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    }
}

/// Publishes pending events. Events that the server does not accept are published again later.
async fn publish_pending(platform: &Platform, lease_until: &mut i64) -> Result<(), StoreError> {
    loop {
        let (now, store) = (Timestamp::now(), &platform.store);
        if store.published_position().await? >= platform.messaging.feed.last_position() {
            return Ok(());
        }
        let until = (now + LEASE_TTL).0;
        if !store.lease_publishing(*lease_until, now.0, until).await? {
            return Ok(());
        }
        *lease_until = until;
        let position = store.published_position().await?;
        let events = store.events_after(position, BATCH_SIZE).await?;
        let mut last = position;
        for event in &events {
            if !publish_event(platform, event).await {
                break;
            }
            last = event.position;
        }
        store.set_published_position(last).await?;
        if events.len() < BATCH_SIZE || last == position {
            return Ok(());
        }
    }
}

async fn publish_event(platform: &Platform, event: &Event) -> bool {
    let subject = format!("{SUBJECT_PREFIX}{}", event.kind.name);
    let body = event.to_json(&platform.licensing.system_id).to_string();
    match platform.messaging.pubsub.publish_confirmed(&subject, &event.id, body).await {
        Ok(()) => true,
        Err(error) => {
            tracing::debug!(%error, "event not published to NATS; retrying");
            false
        }
    }
}

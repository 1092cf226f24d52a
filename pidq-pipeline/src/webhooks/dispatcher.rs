//! Webhook dispatcher: delivers events with retries.
//!
//! A single dispatcher at a time holds the lease of a webhook and delivers its events in order. After a failed call the
//! webhook is paused, longer each time; the event itself has its own retry delays, so that an event that is never
//! accepted does not block those after it. When a webhook recovers, its waiting events are sent immediately.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Timestamp;
use pidq_http::uuid_v7;
use pidq_store::domain::webhook::{ORPHANED, Recipient, Webhook, WebhookState};
use pidq_store::{Delivery, DeliveryOutcome, StoreError};
use tokio::task::JoinSet;

use super::delivery::{DeliveryRequest, DeliveryResponse};
use super::secrets;
use crate::platform::Platform;

/// Webhooks served concurrently by a process.
const MAX_CONCURRENT_WEBHOOKS: usize = 8;
/// Events per webhook before other webhooks are served.
const BATCH_SIZE: usize = 50;
/// Margin of the lease beyond the call timeout.
const LEASE_MARGIN: Duration = Duration::from_secs(15);
/// Poll interval without notifications.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Delays after the first failed call, the second, and so on. After the last one the delivery fails.
const RETRY_DELAYS: [Duration; 10] = [
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_mins(5),
    Duration::from_mins(30),
    Duration::from_hours(2),
    Duration::from_hours(5),
    Duration::from_hours(10),
    Duration::from_hours(14),
    Duration::from_hours(20),
    Duration::from_hours(24),
];
/// Maximum pause of a webhook; bounds how long one rejected event delays the others.
const MAX_PAUSE: Duration = Duration::from_mins(5);
/// Failure duration after which a recovered webhook gets its waiting events immediately.
const RECOVERY_THRESHOLD: Duration = Duration::from_mins(5);

/// Runs until the future is dropped.
pub async fn dispatch(platform: Arc<Platform>) {
    let mut positions = platform.messaging.feed.subscribe();
    let mut senders = JoinSet::new();
    loop {
        while senders.len() < MAX_CONCURRENT_WEBHOOKS {
            let lease_owner = uuid_v7();
            match platform.store.lease_webhook(&lease_owner, lease_ttl(&platform)).await {
                Ok(Some(webhook)) => drop(senders.spawn(serve_webhook(Arc::clone(&platform), webhook, lease_owner))),
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "leasing a webhook failed; retrying in 1 s");
                    break;
                }
            }
        }
        tokio::select! {
            Some(_) = senders.join_next() => {}
            _ = positions.changed() => {}
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    }
}

fn lease_ttl(platform: &Platform) -> Duration {
    platform.webhooks.timeout + LEASE_MARGIN
}

async fn serve_webhook(platform: Arc<Platform>, webhook: Webhook, lease_owner: String) {
    let id = webhook.id.clone();
    if let Err(error) = deliver_due(&platform, webhook, &lease_owner).await {
        tracing::warn!(%error, webhook = id, "delivering events to a webhook failed; retrying");
    }
    if let Err(error) = platform.store.release_webhook(&id, &lease_owner).await {
        tracing::warn!(%error, webhook = id, "releasing a webhook failed; deliveries resume when its lease expires");
    }
}

/// Delivers due events until none is left, one fails, or the batch is full.
async fn deliver_due(platform: &Platform, mut webhook: Webhook, lease_owner: &str) -> Result<(), StoreError> {
    for _ in 0..BATCH_SIZE {
        if !platform.store.renew_webhook_lease(&webhook.id, lease_owner, lease_ttl(platform)).await? {
            return Ok(());
        }
        let Some(delivery) = platform.store.next_delivery(&webhook.id).await? else { return Ok(()) };
        let outcome = attempt(platform, &webhook, &delivery).await?;
        let holds_lease =
            platform.store.record_delivery(&webhook.id, lease_owner, &delivery.event_id, &outcome).await?;
        let continues = matches!(outcome, DeliveryOutcome::Delivered { .. } | DeliveryOutcome::Discarded);
        if !holds_lease || !continues {
            return Ok(());
        }
        // The webhook may have been changed or disabled meanwhile.
        match platform.store.webhook(&webhook.id).await? {
            Some(current) if current.state == WebhookState::Active => webhook = current,
            _ => return Ok(()),
        }
    }
    Ok(())
}

async fn attempt(platform: &Platform, webhook: &Webhook, delivery: &Delivery) -> Result<DeliveryOutcome, StoreError> {
    let owner = match &webhook.owner {
        Some(id) => platform.store.key(id).await?.map(|(key, _)| key),
        None => None,
    };
    let Some(recipient) = Recipient::new(webhook, owner, Timestamp::now()) else {
        return Ok(DeliveryOutcome::Disabled { status: None, error: ORPHANED.to_owned() });
    };
    let visible = platform.store.event(&delivery.event_id).await?.and_then(|event| recipient.visible(&event));
    let Some(event) = visible else { return Ok(DeliveryOutcome::Discarded) };
    let response = match secrets::decrypt(webhook, &platform.encryptor) {
        Some(secrets) => DeliveryRequest::new(platform, &event, &secrets).send(&platform.webhooks, &webhook.url).await,
        None => DeliveryResponse::NoResponse("the secret was encrypted with another PIDQ_APP_SECRET; rotate it"),
    };
    Ok(classify_response(webhook, delivery, &response, platform.webhooks.disable_after, Timestamp::now()))
}

/// Classifies a response.
fn classify_response(
    webhook: &Webhook,
    delivery: &Delivery,
    response: &DeliveryResponse,
    disable_after: Duration,
    now: Timestamp,
) -> DeliveryOutcome {
    let status = response.status().map(i64::from);
    let failing_for = webhook.failing_since.map_or(Duration::ZERO, |since| now.since(Timestamp(since)));
    let Some(error) = response.error() else {
        return DeliveryOutcome::Delivered {
            status: status.unwrap_or_default(),
            recovered: failing_for >= RECOVERY_THRESHOLD,
        };
    };
    if *response == DeliveryResponse::Gone || (webhook.failing_since.is_some() && failing_for >= disable_after) {
        return DeliveryOutcome::Disabled { status, error };
    }
    let retry_after = match response {
        DeliveryResponse::Rejected(_, Some(seconds)) => Duration::from_secs(seconds.unsigned_abs()),
        _ => Duration::ZERO,
    };
    // The same factor for both, so that the event is retried first after the pause.
    let jitter = jitter();
    let pause =
        retry_delay(webhook.failures).map_or(MAX_PAUSE, |wait| wait.mul_f64(jitter).min(MAX_PAUSE)).max(retry_after);
    let retry_at = retry_delay(delivery.attempts).map(|wait| (now + wait.mul_f64(jitter).max(retry_after)).0);
    DeliveryOutcome::Failed { status, error, retry_at, paused_until: (now + pause).0 }
}

/// Returns the delay after a number of failures plus one. None if the retries are exhausted.
fn retry_delay(failures: i64) -> Option<Duration> {
    usize::try_from(failures).ok().and_then(|index| RETRY_DELAYS.get(index)).copied()
}

/// Returns a random factor from 1 to 1.2 that spreads retries.
fn jitter() -> f64 {
    let mut random = [0; 2];
    // Without randomness the factor is 1: retries are not spread.
    let _ = getrandom::fill(&mut random);
    1.0 + 0.2 * f64::from(u16::from_le_bytes(random)) / f64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_last_three_days_with_growing_delays() {
        assert_eq!(retry_delay(0), Some(Duration::from_secs(5)));
        assert_eq!(retry_delay(9), Some(Duration::from_hours(24)));
        assert_eq!((retry_delay(10), retry_delay(-1)), (None, None));
        assert!(RETRY_DELAYS.is_sorted() && RETRY_DELAYS.iter().sum::<Duration>() > Duration::from_hours(72));
        assert!((0..100).all(|_| (1.0..=1.2).contains(&jitter())));
    }
}

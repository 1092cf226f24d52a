//! Tells webhooks what they are to be told: as long as it takes, but not for ever.
//!
//! A webhook is held by one sender at a time, which tells it one event after the other, in their order. After a call that
//! failed the webhook is left in peace for a while, longer each time; the event itself has waits of its own, so that one
//! that is never taken does not keep back those behind it. What waits when a webhook is back after a while goes out at
//! once.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Moment;
use pidq_http::uuid_v7;
use tokio::task::JoinSet;

use super::call::{Answer, Call};
use super::{ORPHANED, Reader, State, Webhook};
use crate::platform::Platform;
use crate::store::{Attempt, Delivery, StoreError};

/// Webhooks that a process sends to at once.
const SENDERS: usize = 8;
/// Events that a webhook is told before others have their turn.
const BATCH: usize = 50;
/// How much longer than a call takes a webhook is held.
const MARGIN: Duration = Duration::from_secs(15);
/// How often to look, if nothing is heard.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long an event waits after the first call that fails, the second one, and so on. After the last one it is given up.
const WAITS: [Duration; 10] = [
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
/// How long a webhook is left in peace at most. One event that is never taken keeps back others for not much longer.
const LONGEST_REST: Duration = Duration::from_mins(5);
/// A webhook that was not reached for so long is told at once what waits when it is back.
const BACK_AFTER: Duration = Duration::from_mins(5);

/// Works until the future is dropped.
pub async fn send(platform: Arc<Platform>) {
    let mut heard = platform.feed.heard();
    let mut senders = JoinSet::new();
    loop {
        while senders.len() < SENDERS {
            let holder = uuid_v7();
            match platform.store.take_webhook(&holder, hold(&platform)).await {
                Ok(Some(webhook)) => drop(senders.spawn(serve(Arc::clone(&platform), webhook, holder))),
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "webhooks cannot be looked after");
                    break;
                }
            }
        }
        tokio::select! {
            Some(_) = senders.join_next() => {}
            _ = heard.changed() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

fn hold(platform: &Platform) -> Duration {
    platform.webhooks.time + MARGIN
}

async fn serve(platform: Arc<Platform>, webhook: Webhook, holder: String) {
    let id = webhook.id.clone();
    if let Err(error) = tell_all(&platform, webhook, &holder).await {
        tracing::warn!(%error, webhook = id, "events were not sent");
    }
    if let Err(error) = platform.store.release_webhook(&id, &holder).await {
        tracing::warn!(%error, webhook = id, "a webhook is held until its time is over");
    }
}

/// Tells a webhook what is due, until it is told all, or does not take something, or others have their turn.
async fn tell_all(platform: &Platform, mut webhook: Webhook, holder: &str) -> Result<(), StoreError> {
    for _ in 0..BATCH {
        if !platform.store.hold_webhook(&webhook.id, holder, hold(platform)).await? {
            return Ok(());
        }
        let Some(delivery) = platform.store.next_delivery(&webhook.id).await? else { return Ok(()) };
        let attempt = attempt(platform, &webhook, &delivery).await?;
        let is_held = platform.store.note_attempt(&webhook.id, holder, &delivery.event_id, &attempt).await?;
        let goes_on = matches!(attempt, Attempt::Taken { .. } | Attempt::Unwanted);
        if !is_held || !goes_on {
            return Ok(());
        }
        // Somebody may have changed it in between.
        match platform.store.webhook(&webhook.id).await? {
            Some(now) if now.state == State::Active => webhook = now,
            _ => return Ok(()),
        }
    }
    Ok(())
}

async fn attempt(platform: &Platform, webhook: &Webhook, delivery: &Delivery) -> Result<Attempt, StoreError> {
    let owner = match &webhook.owner {
        Some(id) => platform.store.key(id).await?.map(|(key, _)| key),
        None => None,
    };
    let Some(reader) = Reader::of(webhook, owner, Moment::now()) else {
        return Ok(Attempt::Over { status: None, why: ORPHANED.to_owned() });
    };
    let seen = platform.store.event(&delivery.event_id).await?.and_then(|event| reader.sees(&event));
    let Some(event) = seen else { return Ok(Attempt::Unwanted) };
    let answer = match webhook.secrets(platform) {
        Some(secrets) => Call::of(platform, &event, &secrets).make(&platform.webhooks, &webhook.url).await,
        None => Answer::Silent("its secret was sealed with another PIDQ_APP_SECRET: rotate it"),
    };
    Ok(understood(webhook, delivery, &answer, platform.webhooks.patience, Moment::now()))
}

/// What an answer means.
fn understood(webhook: &Webhook, delivery: &Delivery, answer: &Answer, patience: Duration, now: Moment) -> Attempt {
    let status = answer.status().map(i64::from);
    let failing_for = webhook.failing_since.map_or(Duration::ZERO, |since| now.since(Moment(since)));
    let Some(why) = answer.fault() else {
        return Attempt::Taken { status: status.unwrap_or_default(), back: failing_for >= BACK_AFTER };
    };
    if *answer == Answer::Gone || (webhook.failing_since.is_some() && failing_for >= patience) {
        return Attempt::Over { status, why };
    }
    let asked = match answer {
        Answer::Refused(_, Some(seconds)) => Duration::from_secs(seconds.unsigned_abs()),
        _ => Duration::ZERO,
    };
    // The same for both, so that the event is the first one to be tried again.
    let jitter = jitter();
    let rest = wait(webhook.failures).map_or(LONGEST_REST, |wait| wait.mul_f64(jitter).min(LONGEST_REST)).max(asked);
    let again_at = wait(delivery.attempts).map(|wait| (now + wait.mul_f64(jitter).max(asked)).0);
    Attempt::Missed { status, why, again_at, rests_until: (now + rest).0 }
}

/// How long to wait after so many calls that failed and one more. None: no longer than that.
fn wait(failures: i64) -> Option<Duration> {
    usize::try_from(failures).ok().and_then(|at| WAITS.get(at)).copied()
}

/// By how much longer to wait than planned, up to a fifth, so that not all come back at once.
fn jitter() -> f64 {
    let mut random = [0; 2];
    // Without randomness all come back at once, and are taken all the same.
    let _ = getrandom::fill(&mut random);
    1.0 + 0.2 * f64::from(u16::from_le_bytes(random)) / f64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_tried_for_three_days_with_growing_pauses_and_given_up() {
        assert_eq!(wait(0), Some(Duration::from_secs(5)));
        assert_eq!(wait(9), Some(Duration::from_hours(24)));
        assert_eq!((wait(10), wait(-1)), (None, None));
        assert!(WAITS.is_sorted() && WAITS.iter().sum::<Duration>() > Duration::from_hours(72));
        assert!((0..100).all(|_| (1.0..=1.2).contains(&jitter())));
    }
}

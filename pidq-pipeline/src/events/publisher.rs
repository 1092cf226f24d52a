//! Events on their way to NATS: `pidq.v1.<type>`, at least once, from one process at a time.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::auth::Moment;

use super::Event;
use super::feed::BATCH;
use crate::platform::Platform;
use crate::store::StoreError;

/// What subjects begin with. A type follows, and nothing that tells more: servers keep subjects in their logs.
const SUBJECT: &str = "pidq.v1.";
/// How long a process hands on before it has to say that it lives.
const HOLD: Duration = Duration::from_secs(30);
/// How often to look, if nothing is heard.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Works until the future is dropped; without NATS there is nothing to do.
pub async fn publish(platform: Arc<Platform>) {
    if platform.messages.health().is_none() {
        return;
    }
    let mut heard = platform.feed.heard();
    let mut held_until = 0;
    while let Err(error) = platform.store.begin_handing_on().await {
        tracing::warn!(%error, "events cannot be handed on");
        tokio::time::sleep(LOOK_EVERY).await;
    }
    loop {
        if let Err(error) = hand_on(&platform, &mut held_until).await {
            tracing::warn!(%error, "events cannot be handed on");
        }
        tokio::select! {
            _ = heard.changed() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

/// Hands on what is there. What the server does not take is handed on again.
async fn hand_on(platform: &Platform, held_until: &mut i64) -> Result<(), StoreError> {
    loop {
        let (now, store) = (Moment::now(), &platform.store);
        if store.handed_on().await? >= platform.feed.last() {
            return Ok(());
        }
        let until = (now + HOLD).0;
        if !store.hold_handing_on(*held_until, now.0, until).await? {
            return Ok(());
        }
        *held_until = until;
        let position = store.handed_on().await?;
        let events = store.events_after(position, BATCH).await?;
        let mut last = position;
        for event in &events {
            if !deliver(platform, event).await {
                break;
            }
            last = event.position;
        }
        store.note_handed_on(last).await?;
        if events.len() < BATCH || last == position {
            return Ok(());
        }
    }
}

async fn deliver(platform: &Platform, event: &Event) -> bool {
    let subject = format!("{SUBJECT}{}", event.kind.name);
    let body = event.to_json(&platform.licensing.system_id).to_string();
    match platform.messages.deliver(&subject, &event.id, body).await {
        Ok(()) => true,
        Err(error) => {
            tracing::debug!(%error, "an event is handed on later");
            false
        }
    }
}

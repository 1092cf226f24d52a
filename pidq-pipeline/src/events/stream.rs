//! `GET /api/events`: events as they happen, and those that were missed.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::{Events, Head, Problem, Request, Response};
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::Instant;

use super::{Event, KINDS, Kind, find, keeper};
use crate::accounts::authenticate;
use crate::keys::ApiKey;
use crate::platform::Platform;
use crate::problems::stored;

/// How long somebody who was recognised counts as such.
const RECOGNISED: Duration = Duration::from_secs(1);
/// How often it is looked whether somebody who only waits may still listen.
const LOOK_EVERY: Duration = Duration::from_secs(15);

/// Which events somebody wants.
struct Wanted {
    kinds: Vec<&'static Kind>,
    pipelines: Vec<String>,
}

/// Somebody who listens.
struct Listener {
    platform: Arc<Platform>,
    head: Arc<Head>,
    wanted: Wanted,
    position: i64,
    heard: watch::Receiver<i64>,
    _place: OwnedSemaphorePermit,
}

/// `GET /api/events`.
pub(crate) async fn listen(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let wanted = wanted(&request)?;
    let place = platform
        .feed
        .place()
        .ok_or_else(|| Problem::unavailable("too-many-streams", "As many as may listen do already. Try again.", 10))?;
    let position = position(platform, &request).await?;
    let heard = platform.feed.heard();
    let listener = Listener { platform: platform.clone(), head: request.head, wanted, position, heard, _place: place };
    let (events, response) = Response::events();
    tokio::spawn(listener.run(events));
    Ok(response)
}

fn wanted(request: &Request) -> Result<Wanted, Problem> {
    let query = request.query()?;
    let several = |name| Ok::<_, Problem>(query.one(name)?.into_iter().flat_map(|text| text.split(',')));
    let kinds = several("type")?.map(|name| find(name).ok_or_else(|| unknown(name))).collect::<Result<_, _>>()?;
    Ok(Wanted { kinds, pipelines: several("pipeline")?.map(str::to_owned).collect() })
}

fn unknown(name: &str) -> Problem {
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    Problem::bad_request("invalid-parameter", format!("There are no events of the type {name:?}."))
        .with("parameter", "type")
        .with("allowed", names)
}

/// Behind the event that the caller had last; without one, behind all that happened. Of an event that is forgotten
/// everything that is left is newer.
async fn position(platform: &Platform, request: &Request) -> Result<i64, Problem> {
    keeper::place(platform).await.map_err(stored)?;
    let Some(last) = request.head.header("last-event-id").filter(|id| !id.is_empty()) else {
        return Ok(platform.feed.last());
    };
    Ok(platform.store.position_of_event(last).await.map_err(stored)?.unwrap_or(0))
}

impl Listener {
    /// Tells until nobody listens, somebody may not any more, or the service ends.
    async fn run(mut self, mut events: Events) {
        loop {
            if self.platform.feed.is_closed() || self.tell(&mut events).await.is_none() {
                break;
            }
            tokio::select! {
                () = events.closed() => return,
                _ = self.heard.changed() => {}
                () = tokio::time::sleep(LOOK_EVERY) => if self.recognised().await.is_none() { break },
            }
        }
        let _ = events.finish().await;
    }

    /// Tells of all that there is. None: there is no use in going on.
    async fn tell(&mut self, events: &mut Events) -> Option<()> {
        loop {
            // What comes while this is told is heard of once more.
            self.heard.borrow_and_update();
            let some = match self.platform.feed.after(&self.platform.store, self.position).await {
                Ok(some) => some,
                Err(error) => {
                    tracing::warn!(%error, "events cannot be read");
                    return Some(());
                }
            };
            if some.is_empty() {
                return Some(());
            }
            // Asked after the events were read: of what happened after a key was taken away nothing is told.
            let (mut key, mut scopes) = self.recognised().await?;
            let mut at = Instant::now();
            for event in some {
                if at.elapsed() > RECOGNISED {
                    (key, scopes) = self.recognised().await?;
                    at = Instant::now();
                }
                let seen = event.seen_by(&key, |scope| scopes.iter().any(|had| had == scope));
                if let Some(seen) = seen.filter(|seen| self.wanted.has(seen)) {
                    let data = seen.to_json(&self.platform.licensing.system_id);
                    events.json(seen.kind.name, Some(&seen.id), &data).await.ok()?;
                }
                self.position = event.position;
            }
        }
    }

    /// What the sender of the request may do now. While the database does not answer nobody is recognised.
    async fn recognised(&self) -> Option<(ApiKey, Vec<String>)> {
        let principal = authenticate(&self.platform, &self.head).await.ok()?;
        Some((principal.known::<ApiKey>()?.clone(), principal.scopes.clone()))
    }
}

impl Wanted {
    fn has(&self, event: &Event) -> bool {
        let of_pipeline = || event.pipeline_id.as_ref().is_some_and(|id| self.pipelines.contains(id));
        (self.kinds.is_empty() || self.kinds.iter().any(|kind| kind.name == event.kind.name))
            && (self.pipelines.is_empty() || of_pipeline())
    }
}

//! `GET /api/events`: stream of new and missed events.

use std::sync::Arc;
use std::time::Duration;

use pidq_http::{Events, Head, Problem, Request, Response, codes};
use pidq_store::domain::api_key::ApiKey;
use pidq_store::domain::event::{Event, EventKind, KINDS, find};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::api::auth::authenticate;
use crate::api::problems::store_problem;
use crate::events::sequencer;
use crate::platform::Platform;
use crate::shared_budget::BudgetPermit;

/// Validity of one authorization check during delivery.
const AUTHORIZATION_TTL: Duration = Duration::from_secs(1);
/// Interval of authorization checks while a stream waits for events.
const AUTHORIZATION_CHECK_INTERVAL: Duration = Duration::from_secs(15);

/// Server-sent event (HTML Living Standard, 9.2), parsed.
#[derive(JsonSchema, Serialize)]
#[allow(dead_code, reason = "describes the lines of a stream")]
pub(crate) struct ServerSentEvent {
    /// Id of the event, for `Last-Event-ID`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    id: Option<String>,
    /// Event type.
    event: String,
    /// JSON: a CloudEvents event, a part of an answer, or a problem.
    data: String,
}

/// Filter of a stream.
struct EventFilter {
    kinds: Vec<&'static EventKind>,
    pipelines: Vec<String>,
}

/// Stream of events to one client.
struct EventStream {
    platform: Arc<Platform>,
    head: Arc<Head>,
    filter: EventFilter,
    position: i64,
    positions: watch::Receiver<i64>,
    _permit: BudgetPermit,
}

/// `GET /api/events`.
pub(crate) async fn stream_events(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let filter = parse_filter(&request)?;
    if platform.messaging.feed.is_closed() {
        return Ok(ended_stream());
    }
    let permit = platform.messaging.feed.acquire_permit(request.principal()?.key()).ok_or_else(|| {
        Problem::new(codes::TOO_MANY_STREAMS)
            .detail("Too many event streams are open. Try again later.")
            .retry_after(10)
    })?;
    let position = position(platform, &request).await?;
    let positions = platform.messaging.feed.subscribe();
    let stream =
        EventStream { platform: platform.clone(), head: request.head, filter, position, positions, _permit: permit };
    let (events, response) = Response::events();
    tokio::spawn(stream.run(events));
    Ok(response)
}

/// Returns a stream that ends at once: browsers resume streams that end, and give up after any status other than 200.
fn ended_stream() -> Response {
    let (events, response) = Response::events();
    tokio::spawn(events.finish());
    response
}

fn parse_filter(request: &Request) -> Result<EventFilter, Problem> {
    let query = request.query()?;
    let values = |name| Ok::<_, Problem>(query.single(name)?.into_iter().flat_map(|text| text.split(',')));
    let kinds =
        values("type")?.map(|name| find(name).ok_or_else(|| unknown_event_type(name))).collect::<Result<_, _>>()?;
    Ok(EventFilter { kinds, pipelines: values("pipeline")?.map(str::to_owned).collect() })
}

fn unknown_event_type(name: &str) -> Problem {
    let names: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
    Problem::new(codes::INVALID_PARAMETER)
        .detail(format!("Unknown event type {name:?}."))
        .with("parameter", "type")
        .with("allowed", names)
}

/// Returns the position of the event in `Last-Event-ID`; without the header, the last position.
/// If that event was purged, all remaining events are newer.
async fn position(platform: &Platform, request: &Request) -> Result<i64, Problem> {
    sequencer::assign_positions(platform).await.map_err(store_problem)?;
    let Some(last) = request.head.header("last-event-id").filter(|id| !id.is_empty()) else {
        return Ok(platform.messaging.feed.last_position());
    };
    Ok(platform.store.event_position(last).await.map_err(store_problem)?.unwrap_or(0))
}

impl EventStream {
    /// Sends events until the client disconnects, loses its authorization, or the service shuts down.
    async fn run(mut self, mut events: Events) {
        loop {
            if self.platform.messaging.feed.is_closed() || self.send_pending(&mut events).await.is_none() {
                break;
            }
            tokio::select! {
                () = events.closed() => return,
                _ = self.positions.changed() => {}
                () = tokio::time::sleep(AUTHORIZATION_CHECK_INTERVAL) => if self.authorize().await.is_none() { break },
            }
        }
        let _ = events.finish().await;
    }

    /// Sends all pending events. Returns none if the stream must end.
    async fn send_pending(&mut self, events: &mut Events) -> Option<()> {
        loop {
            // Events that arrive while these are sent trigger another notification.
            self.positions.borrow_and_update();
            let batch = match self.platform.messaging.feed.after(&self.platform.store, self.position).await {
                Ok(batch) => batch,
                Err(error) => {
                    tracing::warn!(%error, "reading events failed; an event stream is delayed");
                    return Some(());
                }
            };
            if batch.is_empty() {
                return Some(());
            }
            // Authorized after reading the events: nothing that happened after a key was deleted is sent.
            let (mut key, mut scopes) = self.authorize().await?;
            let mut authorized_at = Instant::now();
            for event in batch {
                if authorized_at.elapsed() > AUTHORIZATION_TTL {
                    (key, scopes) = self.authorize().await?;
                    authorized_at = Instant::now();
                }
                let visible = event.visible_to(&key, |scope| scopes.iter().any(|granted| granted == scope));
                if let Some(visible) = visible.filter(|event| self.filter.matches(event)) {
                    let data = visible.to_json(&self.platform.licensing.system_id);
                    events.json(visible.kind.name, Some(&visible.id), &data).await.ok()?;
                }
                self.position = event.position;
            }
        }
    }

    /// Authenticates the request again. None while the database is unavailable.
    async fn authorize(&self) -> Option<(ApiKey, Vec<String>)> {
        let principal = authenticate(&self.platform, &self.head).await.ok()?;
        Some((principal.extension::<ApiKey>()?.clone(), principal.scopes.clone()))
    }
}

impl EventFilter {
    fn matches(&self, event: &Event) -> bool {
        let matches_pipeline = || event.pipeline_id.as_ref().is_some_and(|id| self.pipelines.contains(id));
        (self.kinds.is_empty() || self.kinds.iter().any(|kind| kind.name == event.kind.name))
            && (self.pipelines.is_empty() || matches_pipeline())
    }
}

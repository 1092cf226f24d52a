//! `/api/webhooks`: addresses that are told of events as they happen, signed as Standard Webhooks has it.
//!
//! A webhook of somebody who sees everything belongs to the installation. One that was made by a key to some pipelines
//! belongs to that key: it is told what the key may know, nobody else's key to some pipelines sees it, and it ends with
//! the key.

mod call;
mod secret;
mod sender;

use std::sync::Arc;
use std::time::{Duration, Instant};

use pidq_http::auth::Moment;
use pidq_http::{Problem, Request, Response, StatusCode, uuid_v7};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::audit;
use crate::bodies;
use crate::egress::{Address, Guard, NoTarget};
use crate::events::{self, Event, KINDS};
use crate::keys::{self, ApiKey};
use crate::patches::{self, unless_changed};
use crate::pipelines::known_members;
use crate::platform::{LONGEST_PAGE, PAGE, Platform};
use crate::problems::{stored, validation};
use crate::seal::Place;
use crate::store::Delivery;
use call::Call;
use secret::Secrets;

pub use sender::send;

/// The most webhooks.
const MOST: i64 = 100;
/// How long the secret before is good beside a new one, if nobody says, and at most.
const OVERLAP: i64 = 86_400;
const LONGEST_OVERLAP: i64 = 7 * 86_400;
/// The states of deliveries.
const STATES: &[&str] = &["waiting", "delivered", "failed", "dropped"];
/// Why a webhook is switched off whose key is not good any more.
pub const ORPHANED: &str = "the API key that made it is gone or has expired";

/// Whether a webhook is told anything.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum State {
    /// It is.
    Active,
    /// It is not: somebody said so, or it was not reached for too long.
    Disabled,
}

impl State {
    const ALL: [State; 2] = [State::Active, State::Disabled];

    /// As it is stored and shown.
    pub fn word(self) -> &'static str {
        match self {
            State::Active => "active",
            State::Disabled => "disabled",
        }
    }

    /// The state of a word.
    pub fn of_word(word: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// An address that is told of events.
#[derive(Clone, Debug)]
pub struct Webhook {
    /// A UUID of version 7.
    pub id: String,
    /// Where it is.
    pub url: String,
    /// The types of its events; none is all of them.
    pub kinds: Vec<String>,
    /// The pipelines of its events; none is all of them.
    pub pipelines: Vec<String>,
    /// What its events are signed with, sealed.
    pub sealed: String,
    /// Whether it is told anything.
    pub state: State,
    /// The id of the key that it belongs to; none if it belongs to the installation.
    pub owner: Option<String>,
    /// Counts changes from 1.
    pub revision: i64,
    /// How often in a row it was not reached.
    pub failures: i64,
    /// Since when it is not reached.
    pub failing_since: Option<i64>,
    /// What was wrong the last time, or why it is switched off.
    pub fault: Option<String>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

impl Webhook {
    /// Whether an event is one of those that it is to be told of.
    pub fn wants(&self, event: &Event) -> bool {
        let of_pipeline = || event.pipeline_id.as_ref().is_some_and(|id| self.pipelines.contains(id));
        (self.kinds.is_empty() || self.kinds.iter().any(|kind| kind == event.kind.name))
            && (self.pipelines.is_empty() || of_pipeline())
    }

    fn show(&self) -> Value {
        let moment = |milliseconds| Moment(milliseconds).to_rfc3339();
        json!({
            "id": self.id, "url": self.url, "types": self.kinds, "pipelines": self.pipelines,
            "status": self.state.word(), "failures": self.failures,
            "failing_since": self.failing_since.map(moment), "error": self.fault, "key_id": self.owner,
            "created_at": moment(self.created_at), "updated_at": moment(self.updated_at),
        })
    }

    fn context(&self) -> [&str; 2] {
        [&self.id, &self.url]
    }

    /// Seals its secrets for this id and this address.
    fn seal(&mut self, platform: &Platform, secrets: &Secrets) -> Result<(), Problem> {
        let place = Place { purpose: PURPOSE, context: &self.context() };
        let sealed = secrets.to_bytes().and_then(|bytes| platform.sealer.seal(place, &bytes));
        self.sealed = sealed.ok_or_else(Problem::internal)?;
        Ok(())
    }

    /// What its events are signed with. None: it was sealed with another application secret.
    fn secrets(&self, platform: &Platform) -> Option<Secrets> {
        let place = Place { purpose: PURPOSE, context: &self.context() };
        Secrets::of_bytes(&platform.sealer.open(place, &self.sealed)?)
    }
}

const PURPOSE: &[&str] = &["webhooks"];

/// What somebody who is told by a webhook may know.
pub struct Reader {
    key: ApiKey,
}

impl Reader {
    /// Whoever is behind a webhook now. None: its key is not good any more.
    pub fn of(webhook: &Webhook, owner: Option<ApiKey>, now: Moment) -> Option<Reader> {
        let key = match webhook.owner {
            None => ApiKey::root(),
            Some(_) => owner.filter(|key| key.expires_at.is_none_or(|end| end > now.0))?,
        };
        Some(Reader { key })
    }

    /// An event as they see it; nothing, if it is none of their business.
    pub fn sees(&self, event: &Event) -> Option<Event> {
        event.seen_by(&self.key, |scope| self.key.scopes.iter().any(|had| had == scope))
    }
}

/// What calls webhooks.
pub struct Caller {
    /// Where they may be.
    pub guard: Guard,
    /// How long a call may take.
    pub time: Duration,
    /// How long one may not be reached before it is switched off.
    pub patience: Duration,
}

/// What can be said of a webhook.
#[derive(Deserialize)]
struct Wanted {
    url: String,
    #[serde(default)]
    types: Vec<String>,
    #[serde(default)]
    pipelines: Vec<String>,
    #[serde(default)]
    status: Option<String>,
}

const MEMBERS: &[&str] = &["url", "types", "pipelines"];
const CHANGEABLE: &[&str] = &["url", "types", "pipelines", "status"];

/// `POST /api/webhooks`.
pub(crate) async fn create(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let key = keys::of(&request)?;
    let body: Map<String, Value> = request.object().await?;
    known_members(&body, MEMBERS)?;
    let wanted = checked(platform, &key, Value::Object(body)).await?;
    must_last(platform)?;
    let secrets = Secrets::new().ok_or_else(Problem::internal)?;
    let now = Moment::now().0;
    let mut webhook = Webhook {
        id: uuid_v7(),
        url: wanted.url,
        kinds: wanted.types,
        pipelines: wanted.pipelines,
        sealed: String::new(),
        state: State::Active,
        owner: (!key.is_unrestricted()).then(|| key.id.clone()),
        revision: 1,
        failures: 0,
        failing_since: None,
        fault: None,
        created_at: now,
        updated_at: now,
    };
    webhook.seal(platform, &secrets)?;
    if !platform.store.add_webhook(&webhook, MOST).await.map_err(stored)? {
        let detail = format!("There are {MOST} webhooks, and that is the most.");
        return Err(Problem::new(StatusCode::CONFLICT, "too-many-webhooks").detail(detail));
    }
    Ok(with_secret(&webhook, &secrets)?.created(format!("/api/webhooks/{}", webhook.id)))
}

/// A webhook with its secret, which is shown this once.
fn with_secret(webhook: &Webhook, secrets: &Secrets) -> Result<Response, Problem> {
    let mut shown = webhook.show();
    shown["secret"] = secrets.show().as_str().into();
    Response::json(&shown)
}

/// Without an application secret that lasts, the secret of a webhook would be lost with this process.
fn must_last(platform: &Platform) -> Result<(), Problem> {
    if platform.sealer.is_lasting() {
        return Ok(());
    }
    let detail = "Secrets are kept only where there is a secret to seal them with: set PIDQ_APP_SECRET.";
    Err(Problem::new(StatusCode::CONFLICT, "app-secret-missing").detail(detail))
}

/// What somebody wants, if it can be had. A key to some pipelines has these, if it names none.
async fn checked(platform: &Platform, key: &ApiKey, body: Value) -> Result<Wanted, Problem> {
    let mut wanted: Wanted = bodies::part("", body)?;
    check_kinds(&wanted.types)?;
    if wanted.pipelines.is_empty() && !key.is_unrestricted() {
        wanted.pipelines = key.pipelines.keys().cloned().collect();
    }
    check_pipelines(platform, key, &wanted.pipelines).await?;
    check_address(platform, &wanted.url).await?;
    Ok(wanted)
}

fn check_kinds(names: &[String]) -> Result<(), Problem> {
    match names.iter().position(|name| events::find(name).is_none()) {
        None => Ok(()),
        Some(at) => {
            let allowed: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            Err(validation(&format!("/types/{at}"), "There are no such events.").with("allowed", allowed))
        }
    }
}

/// A pipeline that a key does not reach does not exist for it.
async fn check_pipelines(platform: &Platform, key: &ApiKey, ids: &[String]) -> Result<(), Problem> {
    if ids.len() > LONGEST_PAGE {
        return Err(validation("/pipelines", &format!("There are at most {LONGEST_PAGE}; none is all of them.")));
    }
    for (at, id) in ids.iter().enumerate() {
        let is_seen = key.labels(id, &[]).is_some();
        if !is_seen || platform.store.pipeline(id).await.map_err(stored)?.is_none() {
            return Err(validation(&format!("/pipelines/{at}"), "There is no such pipeline."));
        }
    }
    Ok(())
}

async fn check_address(platform: &Platform, url: &str) -> Result<(), Problem> {
    if let Err(spelling) = Address::parse(url) {
        return Err(validation("/url", &pidq_http::sentence(&format!("the address {spelling}"))));
    }
    match platform.webhooks.guard.target(url, None).await {
        Err(NoTarget::Refused(refusal)) => {
            tracing::warn!(?refusal, "the address of a webhook was refused");
            let detail = "This service does not call that address: use another one, or ask the administrator \
                (`PIDQ_WEBHOOK_ALLOW`, `PIDQ_WEBHOOK_EGRESS`).";
            Err(Problem::new(StatusCode::FORBIDDEN, "webhook-url-forbidden").detail(detail))
        }
        // A name that leads nowhere may lead somewhere tomorrow.
        Err(NoTarget::Unresolved) | Ok(_) => Ok(()),
    }
}

/// `GET /api/webhooks`.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let key = keys::of(&request)?;
    let owner = (!key.is_unrestricted()).then_some(key.id.as_str());
    let page = platform.cursors.page(&request, "webhooks", PAGE, LONGEST_PAGE)?;
    let after = page.after.unwrap_or_default();
    let some = platform.store.webhooks(&after, owner, page.limit + 1).await.map_err(stored)?;
    let next = (some.len() > page.limit).then(|| platform.cursors.seal("webhooks", &some[page.limit - 1].id));
    let shown: Vec<_> = some.iter().take(page.limit).map(Webhook::show).collect();
    listed(&request, shown, next)
}

fn listed(request: &Request, shown: Vec<Value>, next: Option<String>) -> Result<Response, Problem> {
    let response = Response::json(&json!({"data": shown, "next_cursor": next}))?;
    Ok(match next {
        Some(next) => response.next_page(request, &next),
        None => response,
    })
}

/// `GET /api/webhooks/{webhook_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    Response::json(&of(platform, &request).await?.show())
}

/// `PATCH /api/webhooks/{webhook_id}`: a merge patch (RFC 7396).
pub(crate) async fn change(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let patch: Map<String, Value> = request.object().await?;
    known_members(&patch, CHANGEABLE)?;
    patches::put(|| try_change(platform, &request, &patch)).await
}

/// Patches a webhook; nothing, if somebody else changed it since it was read.
async fn try_change(
    platform: &Arc<Platform>,
    request: &Request,
    patch: &Map<String, Value>,
) -> Result<Option<Response>, Problem> {
    let webhook = of(platform, request).await?;
    let mut members = json!({
        "url": webhook.url, "types": webhook.kinds, "pipelines": webhook.pipelines, "status": webhook.state.word(),
    });
    audit::changed(patch);
    patches::merge(&mut members, &Value::Object(patch.clone()));
    let wanted = checked(platform, &keys::of(request)?, members).await?;
    let state = wanted.status.as_deref().map_or(Some(webhook.state), State::of_word);
    let state = state.ok_or_else(|| {
        validation("/status", "This is no status.").with("allowed", State::ALL.map(State::word).to_vec())
    })?;
    let mut changed = Webhook { kinds: wanted.types, pipelines: wanted.pipelines, state, ..webhook.clone() };
    if wanted.url != webhook.url {
        must_last(platform)?;
        let secrets = webhook.secrets(platform).ok_or_else(sealed)?;
        changed.url = wanted.url;
        changed.seal(platform, &secrets)?;
    }
    let changed = unless_changed(platform.store.update_webhook(&changed).await)?;
    changed.map(|changed| Response::json(&changed.show())).transpose()
}

/// `DELETE /api/webhooks/{webhook_id}`: it is told nothing more, nor what it was to be told.
pub(crate) async fn delete(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let webhook = of(platform, &request).await?;
    match platform.store.delete_webhook(&webhook.id).await.map_err(stored)? {
        true => Ok(Response::empty(StatusCode::NO_CONTENT)),
        false => Err(not_found()),
    }
}

/// `POST /api/webhooks/{webhook_id}/rotate`: another secret. The one before is good beside it for a while.
pub(crate) async fn rotate(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let webhook = of(platform, &request).await?;
    let overlap = request.query()?.parsed::<i64>("overlap")?.unwrap_or(OVERLAP);
    if !(0..=LONGEST_OVERLAP).contains(&overlap) {
        let problem = Problem::bad_request("invalid-parameter", format!("`overlap` is from 0 to {LONGEST_OVERLAP}."));
        return Err(problem.with("parameter", "overlap"));
    }
    must_last(platform)?;
    let until = Moment::now() + Duration::from_secs(overlap.unsigned_abs());
    // One that does not open any more is replaced all the same: that is the way out.
    let secrets = Secrets::after(webhook.secrets(platform), until.0).ok_or_else(Problem::internal)?;
    let mut changed = webhook;
    changed.seal(platform, &secrets)?;
    let changed = platform.store.update_webhook(&changed).await.map_err(stored)?;
    with_secret(&changed, &secrets)
}

/// `POST /api/webhooks/{webhook_id}/test`: tells it of an event that tells nothing, now and once.
pub(crate) async fn test(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let webhook = of(platform, &request).await?;
    let secrets = webhook.secrets(platform).ok_or_else(sealed)?;
    let event = Event {
        id: uuid_v7(),
        position: 0,
        kind: events::WEBHOOK_TEST,
        pipeline_id: None,
        document_id: None,
        classification: None,
        previous: None,
        details: Map::from_iter([("webhook_id".into(), webhook.id.as_str().into())]),
        happened_at: Moment::now().0,
    };
    let begun = Instant::now();
    let answer = Call::of(platform, &event, &secrets).make(&platform.webhooks, &webhook.url).await;
    let latency = begun.elapsed().as_millis() as u64;
    Response::json(&json!({
        "delivered": answer.is_taken(), "event_id": event.id, "status": answer.status(), "error": answer.fault(),
        "latency_ms": latency,
    }))
}

/// `GET /api/webhooks/{webhook_id}/deliveries`: what it got and is to get, the newest first.
pub(crate) async fn deliveries(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let webhook = of(platform, &request).await?;
    let query = request.query()?;
    let state = query.one("state")?;
    if state.is_some_and(|state| !STATES.contains(&state)) {
        let problem = Problem::bad_request("invalid-parameter", "`state` is no state of deliveries.");
        return Err(problem.with("parameter", "state").with("allowed", STATES.to_vec()));
    }
    let list = format!("deliveries/{}/{}", webhook.id, state.unwrap_or_default());
    let page = platform.cursors.page(&request, &list, PAGE, LONGEST_PAGE)?;
    let before = page.after.as_deref().and_then(|place| place.parse().ok()).unwrap_or(i64::MAX);
    let some = platform.store.deliveries(&webhook.id, before, state, page.limit + 1).await.map_err(stored)?;
    let last = some.get(page.limit.saturating_sub(1)).filter(|_| some.len() > page.limit);
    let next = last.map(|last| platform.cursors.seal(&list, &last.position.to_string()));
    let shown = some.iter().take(page.limit).map(|delivery| row(&webhook, delivery)).collect();
    listed(&request, shown, next)
}

fn row(webhook: &Webhook, delivery: &Delivery) -> Value {
    let moment = |milliseconds| Moment(milliseconds).to_rfc3339();
    let waits = delivery.state == "waiting" && webhook.state == State::Active;
    json!({
        "event_id": delivery.event_id, "type": delivery.kind, "state": delivery.state,
        "attempts": delivery.attempts, "last_status": delivery.last_status, "error": delivery.failure,
        "last_attempt_at": delivery.tried_at.map(moment), "next_attempt_at": waits.then(|| moment(delivery.run_at)),
    })
}

/// The webhook that a request names, if it exists for whoever asks.
async fn of(platform: &Platform, request: &Request) -> Result<Webhook, Problem> {
    let (id, key) = (request.path("webhook_id")?, keys::of(request)?);
    let webhook = platform.store.webhook(id).await.map_err(stored)?;
    let is_theirs = |webhook: &Webhook| key.is_unrestricted() || webhook.owner.as_deref() == Some(key.id.as_str());
    webhook.filter(is_theirs).ok_or_else(not_found)
}

fn sealed() -> Problem {
    let detail = "The secret was sealed with another application secret: ask for another one by `POST …/rotate`.";
    Problem::new(StatusCode::CONFLICT, "webhook-sealed").detail(detail)
}

fn not_found() -> Problem {
    Problem::not_found("webhook-not-found").detail("There is no such webhook.")
}

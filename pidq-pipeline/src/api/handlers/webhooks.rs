//! `/api/webhooks`: event delivery to URLs, signed according to Standard Webhooks.
//!
//! A webhook of an unrestricted caller belongs to the installation. A webhook of a restricted key belongs to
//! that key: it receives the events that the key may see, is hidden from other restricted keys, and is disabled with
//! the key.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, Request, Response, StatusCode, codes, uuid_v7};
use pidq_store::Delivery;
use pidq_store::domain::api_key::ApiKey;
use pidq_store::domain::audit_context;
use pidq_store::domain::event::{self, Event, KINDS};
use pidq_store::domain::webhook::{Webhook, WebhookState};
use pidq_store::string_enum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api::auth::request_key;
use crate::api::json_body;
use crate::api::merge_patch::{self, none_if_changed};
use crate::api::page_response::page_response;
use crate::api::problems::{forbidden, store_problem, validation};
use crate::api::schema::{DateTime, Uuid, not_null};
use crate::net::egress::{EgressError, TargetUrl};
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform};
use crate::webhooks::delivery::DeliveryRequest;
use crate::webhooks::secrets;
use crate::webhooks::signing::SigningKeys;

/// Maximum number of webhooks.
const MAX_WEBHOOKS: i64 = 100;
/// Validity of the previous secret after a rotation in seconds: default and maximum.
const DEFAULT_OVERLAP: i64 = 86_400;
const MAX_OVERLAP: i64 = 7 * 86_400;
/// New webhook.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookRequest {
    /// Address that events are sent to.
    url: String,
    /// Event types. An empty list means all.
    #[serde(default)]
    types: Vec<String>,
    /// Ids of pipelines. An empty list means all, or all of a restricted key.
    #[serde(default)]
    #[schemars(length(max = MAX_PAGE_SIZE))]
    pipelines: Vec<String>,
}

/// Merge patch (RFC 7396) of a webhook; null removes a filter.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the patch is merged as JSON, and the result is deserialized")]
pub(crate) struct WebhookPatch {
    /// New address.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String")]
    url: Option<String>,
    /// Event types.
    types: Option<Vec<String>>,
    /// Ids of pipelines.
    #[schemars(length(max = MAX_PAGE_SIZE))]
    pipelines: Option<Vec<String>>,
    /// `disabled` pauses the deliveries, `active` resumes them.
    #[schemars(with = "Option<WebhookState>")]
    status: Option<String>,
}

/// Fields of a webhook that a patch was merged with.
#[derive(Deserialize)]
struct WebhookFields {
    url: String,
    #[serde(default)]
    types: Vec<String>,
    #[serde(default)]
    pipelines: Vec<String>,
    status: Option<String>,
}

/// Webhook with its delivery status.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Webhook")]
pub(crate) struct WebhookResponse<'a> {
    /// Id.
    #[schemars(with = "Uuid")]
    id: &'a str,
    /// Address that events are sent to.
    url: &'a str,
    /// Event types. An empty list means all.
    types: &'a [String],
    /// Ids of pipelines. An empty list means all.
    pipelines: &'a [String],
    /// Status.
    status: WebhookState,
    /// Number of consecutive failures.
    failures: i64,
    /// Time of the first of them.
    failing_since: Option<DateTime>,
    /// Last error, or the reason for disabling the webhook.
    error: Option<&'a str>,
    /// Key that owns the webhook. Null if it belongs to the installation.
    key_id: Option<&'a str>,
    /// Creation.
    created_at: DateTime,
    /// Last change.
    updated_at: DateTime,
    /// Signing secret (Standard Webhooks); only when the webhook is created or the secret is rotated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    secret: Option<&'a str>,
}

impl<'a> From<&'a Webhook> for WebhookResponse<'a> {
    fn from(webhook: &'a Webhook) -> WebhookResponse<'a> {
        WebhookResponse {
            id: &webhook.id,
            url: &webhook.url,
            types: &webhook.event_types,
            pipelines: &webhook.pipelines,
            status: webhook.state,
            failures: webhook.failures,
            failing_since: webhook.failing_since.map(DateTime),
            error: webhook.last_error.as_deref(),
            key_id: webhook.owner.as_deref(),
            created_at: DateTime(webhook.created_at),
            updated_at: DateTime(webhook.updated_at),
            secret: None,
        }
    }
}

/// Result of a test of a webhook.
#[derive(JsonSchema, Serialize)]
pub(crate) struct WebhookTest {
    /// `true` if the webhook accepted the event.
    delivered: bool,
    /// Id of the test event.
    #[schemars(with = "Uuid")]
    event_id: String,
    /// Status of the response. Null if there was none.
    status: Option<u16>,
    /// Error, if it was not delivered.
    error: Option<String>,
    /// Response time, in milliseconds.
    latency_ms: u64,
}

/// Delivery of an event to a webhook.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Delivery")]
pub(crate) struct DeliveryResponse<'a> {
    /// Id of the event.
    #[schemars(with = "Uuid")]
    event_id: &'a str,
    /// Event type.
    r#type: &'a str,
    /// State.
    #[schemars(with = "DeliveryState")]
    state: &'a str,
    /// Number of attempts.
    attempts: i64,
    /// Status of the last response.
    last_status: Option<i64>,
    /// Last error.
    error: Option<&'a str>,
    /// Time of the last attempt.
    last_attempt_at: Option<DateTime>,
    /// Time of the next attempt. Null if none is planned.
    next_attempt_at: Option<DateTime>,
}

string_enum! {
    /// State of a delivery.
    DeliveryState {
        /// Not delivered yet.
        Waiting = "waiting",
        /// Accepted by the webhook.
        Delivered = "delivered",
        /// Not accepted by the last attempt.
        Failed = "failed",
        /// Dropped because the webhook was disabled or deleted.
        Dropped = "dropped",
    }
}

/// Seconds for which the previous secret stays valid.
#[derive(JsonSchema)]
#[schemars(inline, extend("default" = DEFAULT_OVERLAP))]
#[allow(dead_code, reason = "only describes a parameter")]
pub(crate) struct OverlapSeconds(#[schemars(range(min = 0, max = MAX_OVERLAP))] u64);

/// `POST /api/webhooks`.
pub(crate) async fn create(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let key = request_key(&request)?;
    if key.is_of_account() {
        // Deliveries are authorized by the key that owns the webhook.
        return Err(forbidden("An account with a limit cannot create webhooks; a key with the same limit can."));
    }
    let WebhookRequest { url, types, pipelines } = json_body::parse(&mut request).await?;
    let body = validate(platform, &key, WebhookFields { url, types, pipelines, status: None }).await?;
    require_app_secret(platform)?;
    let keys = SigningKeys::new().ok_or_else(Problem::internal)?;
    let now = Timestamp::now().0;
    let mut webhook = Webhook {
        id: uuid_v7(),
        url: body.url,
        event_types: body.types,
        pipelines: body.pipelines,
        encrypted_secret: String::new(),
        state: WebhookState::Active,
        owner: (!key.is_unrestricted()).then(|| key.id.clone()),
        revision: 1,
        failures: 0,
        failing_since: None,
        last_error: None,
        created_at: now,
        updated_at: now,
    };
    secrets::encrypt(&mut webhook, &platform.encryptor, &keys).ok_or_else(Problem::internal)?;
    if !platform.store.add_webhook(&webhook, MAX_WEBHOOKS).await.map_err(store_problem)? {
        let detail = format!("The limit of {MAX_WEBHOOKS} webhooks is reached.");
        return Err(Problem::new(codes::TOO_MANY_WEBHOOKS).detail(detail));
    }
    Ok(with_secret(&webhook, &keys)?.created(format!("/api/webhooks/{}", webhook.id)))
}

/// Returns the response with the secret, which only creation and rotation return.
fn with_secret(webhook: &Webhook, keys: &SigningKeys) -> Result<Response, Problem> {
    let secret = keys.encoded();
    Response::json(&WebhookResponse { secret: Some(secret.as_str()), ..WebhookResponse::from(webhook) })
}

/// Requires a configured application secret: otherwise the webhook's secret would be lost with this process.
fn require_app_secret(platform: &Platform) -> Result<(), Problem> {
    if platform.encryptor.is_persistent() {
        return Ok(());
    }
    let detail = "Storing webhook secrets requires an application secret. Set PIDQ_APP_SECRET.";
    Err(Problem::new(codes::APP_SECRET_MISSING).detail(detail))
}

/// Validates a webhook body. For a restricted key, the default is its own pipelines.
async fn validate(platform: &Platform, key: &ApiKey, mut body: WebhookFields) -> Result<WebhookFields, Problem> {
    validate_event_types(&body.types)?;
    if body.pipelines.is_empty() && !key.is_unrestricted() {
        body.pipelines = key.pipelines.keys().cloned().collect();
    }
    validate_pipelines(platform, key, &body.pipelines).await?;
    validate_url(platform, &body.url).await?;
    Ok(body)
}

fn validate_event_types(names: &[String]) -> Result<(), Problem> {
    match names.iter().position(|name| event::find(name).is_none()) {
        None => Ok(()),
        Some(index) => {
            let allowed: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
            Err(validation(&format!("/types/{index}"), "Unknown event type.").with("allowed", allowed))
        }
    }
}

/// Checks the pipelines; those outside the key's access scope are reported as missing.
async fn validate_pipelines(platform: &Platform, key: &ApiKey, ids: &[String]) -> Result<(), Problem> {
    if ids.len() > MAX_PAGE_SIZE {
        return Err(validation(
            "/pipelines",
            &format!("At most {MAX_PAGE_SIZE} pipelines are allowed; an empty list means all."),
        ));
    }
    for (index, id) in ids.iter().enumerate() {
        let is_visible = key.visible_classifications(id, &[]).is_some();
        if !is_visible || platform.store.pipeline(id).await.map_err(store_problem)?.is_none() {
            return Err(validation(&format!("/pipelines/{index}"), "Pipeline not found."));
        }
    }
    Ok(())
}

async fn validate_url(platform: &Platform, url: &str) -> Result<(), Problem> {
    if let Err(error) = TargetUrl::parse(url) {
        return Err(validation("/url", &pidq_http::sentence(&format!("the address {error}"))));
    }
    match platform.webhooks.guard.target(url, None).await {
        Err(EgressError::Rejected(reason)) => {
            tracing::warn!(?reason, "webhook URL rejected by the egress policy");
            let detail = "This address is not allowed. Use another one, or ask the administrator \
                (`PIDQ_WEBHOOK_ALLOW`, `PIDQ_WEBHOOK_EGRESS`).";
            Err(Problem::new(codes::WEBHOOK_URL_FORBIDDEN).detail(detail))
        }
        // An unresolvable name may resolve later; every call checks it again.
        Err(EgressError::Unresolved) | Ok(_) => Ok(()),
    }
}

/// `GET /api/webhooks`.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let key = request_key(&request)?;
    let owner = (!key.is_unrestricted()).then_some(key.id.as_str());
    let page = platform.cursors.page(&request, "webhooks", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)?;
    let after = page.after.unwrap_or_default();
    let webhooks = platform.store.webhooks(&after, owner, page.limit + 1).await.map_err(store_problem)?;
    let next = (webhooks.len() > page.limit).then(|| platform.cursors.sign("webhooks", &webhooks[page.limit - 1].id));
    let data = webhooks.iter().take(page.limit).map(WebhookResponse::from).collect();
    page_response(&request, data, next)
}

/// `GET /api/webhooks/{webhook_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    Response::json(&WebhookResponse::from(&find_webhook(platform, &request).await?))
}

/// `PATCH /api/webhooks/{webhook_id}`: a merge patch (RFC 7396).
pub(crate) async fn change(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let patch: Map<String, Value> = request.object().await?;
    json_body::from_object::<WebhookPatch>(patch.clone())?;
    merge_patch::retry_on_conflict(|| try_change(platform, &request, &patch)).await
}

/// Applies a merge patch; none after a concurrent modification.
async fn try_change(
    platform: &Arc<Platform>,
    request: &Request,
    patch: &Map<String, Value>,
) -> Result<Option<Response>, Problem> {
    let webhook = find_webhook(platform, request).await?;
    let mut fields = json!({
        "url": webhook.url, "types": webhook.event_types, "pipelines": webhook.pipelines, "status": webhook.state.as_str(),
    });
    audit_context::add_changed_fields(patch);
    merge_patch::merge(&mut fields, &Value::Object(patch.clone()));
    let body = validate(platform, &request_key(request)?, json_body::from_value("", fields)?).await?;
    let state = body.status.as_deref().map_or(Some(webhook.state), WebhookState::parse);
    let state = state.ok_or_else(|| {
        validation("/status", "Unknown status.").with("allowed", WebhookState::ALL.map(WebhookState::as_str).to_vec())
    })?;
    let mut changed = Webhook { event_types: body.types, pipelines: body.pipelines, state, ..webhook.clone() };
    if body.url != webhook.url {
        require_app_secret(platform)?;
        let keys = secrets::decrypt(&webhook, &platform.encryptor).ok_or_else(undecryptable)?;
        changed.url = body.url;
        secrets::encrypt(&mut changed, &platform.encryptor, &keys).ok_or_else(Problem::internal)?;
    }
    let changed = none_if_changed(platform.store.update_webhook(&changed).await)?;
    changed.map(|changed| Response::json(&WebhookResponse::from(&changed))).transpose()
}

/// `DELETE /api/webhooks/{webhook_id}`: also drops pending deliveries.
pub(crate) async fn delete(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let webhook = find_webhook(platform, &request).await?;
    match platform.store.delete_webhook(&webhook.id).await.map_err(store_problem)? {
        true => Ok(Response::empty(StatusCode::NO_CONTENT)),
        false => Err(not_found()),
    }
}

/// `POST /api/webhooks/{webhook_id}/rotate`: new secret; the previous one stays valid for the overlap.
pub(crate) async fn rotate(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let webhook = find_webhook(platform, &request).await?;
    let overlap = request.query()?.parsed::<i64>("overlap")?.unwrap_or(DEFAULT_OVERLAP);
    if !(0..=MAX_OVERLAP).contains(&overlap) {
        let problem =
            Problem::new(codes::INVALID_PARAMETER).detail(format!("`overlap` must be from 0 to {MAX_OVERLAP}."));
        return Err(problem.with("parameter", "overlap"));
    }
    require_app_secret(platform)?;
    let until = Timestamp::now() + Duration::from_secs(overlap.unsigned_abs());
    // A secret that cannot be decrypted is replaced as well: rotation is the only remedy for it.
    let keys =
        SigningKeys::rotated(secrets::decrypt(&webhook, &platform.encryptor), until.0).ok_or_else(Problem::internal)?;
    let mut changed = webhook;
    secrets::encrypt(&mut changed, &platform.encryptor, &keys).ok_or_else(Problem::internal)?;
    let changed = platform.store.update_webhook(&changed).await.map_err(store_problem)?;
    with_secret(&changed, &keys)
}

/// `POST /api/webhooks/{webhook_id}/test`: sends a test event immediately, without retries.
pub(crate) async fn test(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let webhook = find_webhook(platform, &request).await?;
    let keys = secrets::decrypt(&webhook, &platform.encryptor).ok_or_else(undecryptable)?;
    let event = Event {
        id: uuid_v7(),
        position: 0,
        kind: event::WEBHOOK_TEST,
        pipeline_id: None,
        document_id: None,
        classification: None,
        previous_classification: None,
        details: Map::from_iter([("webhook_id".into(), webhook.id.as_str().into())]),
        happened_at: Timestamp::now().0,
    };
    let started = Instant::now();
    let response = DeliveryRequest::new(platform, &event, &keys).send(&platform.webhooks, &webhook.url).await;
    let latency = started.elapsed().as_millis() as u64;
    Response::json(&WebhookTest {
        delivered: response.is_accepted(),
        event_id: event.id,
        status: response.status(),
        error: response.error(),
        latency_ms: latency,
    })
}

/// `GET /api/webhooks/{webhook_id}/deliveries`: past and pending deliveries, newest first.
pub(crate) async fn deliveries(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let webhook = find_webhook(platform, &request).await?;
    let query = request.query()?;
    let state = query.single("state")?;
    if state.is_some_and(|state| DeliveryState::parse(state).is_none()) {
        let states: Vec<&str> = DeliveryState::ALL.iter().map(|state| state.as_str()).collect();
        let problem = Problem::new(codes::INVALID_PARAMETER).detail("Unknown delivery state; see `allowed`.");
        return Err(problem.with("parameter", "state").with("allowed", states));
    }
    let list = format!("deliveries/{}/{}", webhook.id, state.unwrap_or_default());
    let page = platform.cursors.page(&request, &list, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)?;
    let before = page.after.as_deref().and_then(|position| position.parse().ok()).unwrap_or(i64::MAX);
    let deliveries =
        platform.store.deliveries(&webhook.id, before, state, page.limit + 1).await.map_err(store_problem)?;
    let last = deliveries.get(page.limit.saturating_sub(1)).filter(|_| deliveries.len() > page.limit);
    let next = last.map(|last| platform.cursors.sign(&list, &last.position.to_string()));
    let data = deliveries.iter().take(page.limit).map(|delivery| delivery_response(&webhook, delivery)).collect();
    page_response(&request, data, next)
}

fn delivery_response<'a>(webhook: &Webhook, delivery: &'a Delivery) -> DeliveryResponse<'a> {
    let is_waiting = delivery.state == DeliveryState::Waiting.as_str() && webhook.state == WebhookState::Active;
    DeliveryResponse {
        event_id: &delivery.event_id,
        r#type: &delivery.kind,
        state: &delivery.state,
        attempts: delivery.attempts,
        last_status: delivery.last_status,
        error: delivery.failure.as_deref(),
        last_attempt_at: delivery.attempted_at.map(DateTime),
        next_attempt_at: is_waiting.then_some(DateTime(delivery.run_at)),
    }
}

/// Returns the webhook of a request if the caller may see it.
async fn find_webhook(platform: &Platform, request: &Request) -> Result<Webhook, Problem> {
    let (id, key) = (request.path("webhook_id")?, request_key(request)?);
    let webhook = platform.store.webhook(id).await.map_err(store_problem)?;
    let is_visible = |webhook: &Webhook| key.is_unrestricted() || webhook.owner.as_deref() == Some(key.id.as_str());
    webhook.filter(is_visible).ok_or_else(not_found)
}

fn undecryptable() -> Problem {
    let detail = "The secret was encrypted with another application secret. Create a new one with `POST …/rotate`.";
    Problem::new(codes::WEBHOOK_UNDECRYPTABLE).detail(detail)
}

fn not_found() -> Problem {
    Problem::new(codes::WEBHOOK_NOT_FOUND).detail("Webhook not found.")
}

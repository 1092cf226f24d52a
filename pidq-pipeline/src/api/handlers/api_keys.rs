//! API keys and their access scopes: pipelines, classifications, permissions (verbs).

use std::collections::BTreeMap;
use std::sync::Arc;

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, Request, Response, Secret, StatusCode, codes};
use pidq_store::domain::api_key::SCOPES;
use pidq_store::domain::api_key::{AccessScope, ApiKey};
use pidq_store::domain::audit_context;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::auth::KEY_PREFIX;
use crate::api::auth::request_key;
use crate::api::json_body;
use crate::api::page_response::page_response;
use crate::api::problems::{require_pipelines, store_problem, validation};
use crate::api::schema::{DateTime, ScopeName, Uuid};
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform};

/// New API key.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeyRequest {
    /// Free text.
    #[schemars(length(min = 1, max = 128))]
    name: String,
    /// Scopes.
    #[schemars(with = "Vec<ScopeName>", length(min = 1))]
    scopes: Vec<String>,
    /// Access by pipeline id. Without any, the key is unrestricted.
    #[serde(default)]
    pipelines: BTreeMap<String, AccessScope>,
    /// Expiry. Default: none.
    #[serde(default)]
    #[schemars(with = "Option<DateTime>")]
    expires_at: Option<String>,
}

/// API key, without its secret.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "ApiKey")]
pub(crate) struct KeyResponse<'a> {
    /// Id.
    #[schemars(with = "Uuid")]
    id: &'a str,
    /// Free text.
    name: &'a str,
    /// Scopes.
    #[schemars(with = "Vec<ScopeName>")]
    scopes: &'a [String],
    /// Access by pipeline id. Empty for an unrestricted key.
    pipelines: &'a BTreeMap<String, AccessScope>,
    /// Creation.
    created_at: DateTime,
    /// Expiry. Null if there is none.
    expires_at: Option<DateTime>,
    /// The key with its secret; only when it is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    key: Option<String>,
}

impl<'a> From<&'a ApiKey> for KeyResponse<'a> {
    fn from(key: &'a ApiKey) -> KeyResponse<'a> {
        KeyResponse {
            id: &key.id,
            name: &key.name,
            scopes: &key.scopes,
            pipelines: &key.pipelines,
            created_at: DateTime(key.created_at),
            expires_at: key.expires_at.map(DateTime),
            key: None,
        }
    }
}

/// `POST /api/keys`.
pub(crate) async fn create(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    require_unrestricted(&request)?;
    let mut new: KeyRequest = json_body::parse(&mut request).await?;
    check(&new)?;
    require_pipelines(&platform.store, &new.pipelines).await?;
    new.pipelines.values_mut().for_each(AccessScope::normalize);
    let now = Timestamp::now();
    let expires_at = new.expires_at.as_deref().map(|text| parse_expiry(text, now)).transpose()?;
    let key = ApiKey {
        id: pidq_http::uuid_v7(),
        name: new.name,
        scopes: new.scopes,
        pipelines: new.pipelines,
        created_at: now.0,
        expires_at: expires_at.map(|timestamp| timestamp.0),
    };
    audit_context::add_detail("name", key.name.as_str());
    audit_context::add_detail("scopes", key.scopes.clone());
    let secret = Secret::random().map_err(|_| Problem::internal())?;
    platform.store.add_key(&key, &secret.fingerprint()).await.map_err(store_problem)?;
    let text = format!("{KEY_PREFIX}{}_{}", key.id, secret.expose());
    let body = KeyResponse { key: Some(text), ..KeyResponse::from(&key) };
    Ok(Response::json(&body)?.created(format!("/api/keys/{}", key.id)))
}

/// Rejects restricted keys, which could otherwise create unrestricted ones.
fn require_unrestricted(request: &Request) -> Result<(), Problem> {
    match request_key(request)?.is_unrestricted() {
        true => Ok(()),
        false => Err(Problem::new(codes::FORBIDDEN).detail("Managing keys requires an unrestricted key.")),
    }
}

fn parse_expiry(text: &str, now: Timestamp) -> Result<Timestamp, Problem> {
    let timestamp = Timestamp::from_rfc3339(text)
        .ok_or_else(|| validation("/expires_at", "Expected an RFC 3339 timestamp, such as `2027-01-31T00:00:00Z`."))?;
    if timestamp <= now {
        return Err(validation("/expires_at", "The expiry must be in the future."));
    }
    Ok(timestamp)
}

fn check(new: &KeyRequest) -> Result<(), Problem> {
    if !(1..=128).contains(&new.name.chars().count()) {
        return Err(validation("/name", "A name must have 1 to 128 characters."));
    }
    match new.scopes.iter().position(|scope| !SCOPES.contains(&scope.as_str())) {
        Some(index) => Err(validation(&format!("/scopes/{index}"), "Unknown scope.").with("allowed", SCOPES.to_vec())),
        None if new.scopes.is_empty() => Err(validation("/scopes", "At least one scope is required.")),
        None => Ok(()),
    }
}

/// `GET /api/keys`.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    require_unrestricted(&request)?;
    let page = platform.cursors.page(&request, "keys", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)?;
    let after = page.after.unwrap_or_default();
    let keys = platform.store.keys(&after, page.limit + 1).await.map_err(store_problem)?;
    let next = (keys.len() > page.limit).then(|| platform.cursors.sign("keys", &keys[page.limit - 1].id));
    let data = keys.iter().take(page.limit).map(KeyResponse::from).collect();
    page_response(&request, data, next)
}

/// `GET /api/keys/{key_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    require_unrestricted(&request)?;
    let (key, _) = platform.store.key(request.path("key_id")?).await.map_err(store_problem)?.ok_or_else(not_found)?;
    Response::json(&KeyResponse::from(&key))
}

/// `DELETE /api/keys/{key_id}`.
pub(crate) async fn delete(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    require_unrestricted(&request)?;
    match platform.store.delete_key(request.path("key_id")?).await.map_err(store_problem)? {
        true => Ok(Response::empty(StatusCode::NO_CONTENT)),
        false => Err(not_found()),
    }
}

fn not_found() -> Problem {
    Problem::new(codes::KEY_NOT_FOUND).detail("API key not found.")
}

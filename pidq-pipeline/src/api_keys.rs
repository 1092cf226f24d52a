//! API keys and their access scopes: pipelines, classifications, verbs.

use std::collections::BTreeMap;
use std::sync::Arc;

use pidq_http::auth::Timestamp;
use pidq_http::{Principal, PrincipalKind, Problem, Request, Response, Secret, StatusCode, codes};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::audit;
use crate::auth::{SCOPES, token_expired, unauthenticated};
use crate::classification;
use crate::json_body;
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform, TENANT};
use crate::problems::{store_problem, validation};
use crate::store::Store;

/// Prefix of every key, for secret scanners.
const PREFIX: &str = "pidq_";

/// Parses id and secret of `pidq_<id>_<secret>`. Tokens share the prefix but have no UUID there.
pub(crate) fn parse(token: &str) -> Option<(&str, &str)> {
    let (id, secret) = token.strip_prefix(PREFIX)?.split_once('_')?;
    (id.len() == 36).then_some((id, secret))
}

/// A key, without its secret.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApiKey {
    /// A UUID of version 7.
    pub id: String,
    /// Free text.
    pub name: String,
    /// OAuth scopes.
    pub scopes: Vec<String>,
    /// Access by pipeline; empty means all.
    pub pipelines: BTreeMap<String, AccessScope>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub expires_at: Option<i64>,
}

/// Access of a key to one pipeline.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AccessScope {
    /// Visible classifications.
    pub classifications: Vec<String>,
    /// Allowed verbs.
    pub verbs: Vec<Verb>,
}

/// Verb on the documents of a classification.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Read documents.
    Read,
    /// Modify documents.
    Write,
    /// Ask questions.
    Query,
}

impl AccessScope {
    fn normalize(&mut self) {
        self.classifications = self.classifications.iter().map(|name| classification::normalize(name)).collect();
    }
}

impl ApiKey {
    /// Returns an unrestricted key.
    pub fn root() -> ApiKey {
        ApiKey { scopes: SCOPES.iter().map(|&scope| scope.to_owned()).collect(), ..ApiKey::default() }
    }

    /// Returns true if it has access to all pipelines and classifications.
    pub fn is_unrestricted(&self) -> bool {
        self.pipelines.is_empty()
    }

    /// Returns its pipeline ids separated by spaces; none if it is unrestricted.
    pub fn pipeline_ids(&self) -> Option<String> {
        (!self.is_unrestricted()).then(|| self.pipelines.keys().map(String::as_str).collect::<Vec<_>>().join(" "))
    }

    /// Returns the visible classifications of a pipeline; none if the pipeline is outside its scope.
    pub fn visible_classifications(&self, pipeline: &str, all: &[String]) -> Option<Vec<String>> {
        if self.is_unrestricted() {
            return Some(all.to_vec());
        }
        let scope = self.pipelines.get(pipeline)?;
        Some(all.iter().filter(|classification| scope.classifications.contains(classification)).cloned().collect())
    }

    /// Returns true if it allows a verb on a classification.
    pub fn allows(&self, pipeline: &str, classification: &str, verb: Verb) -> bool {
        let grants = |scope: &AccessScope| {
            scope.verbs.contains(&verb) && scope.classifications.iter().any(|name| name == classification)
        };
        self.is_unrestricted() || self.pipelines.get(pipeline).is_some_and(grants)
    }

    fn to_json(&self) -> Value {
        json!({
            "id": self.id, "name": self.name, "scopes": self.scopes, "pipelines": self.pipelines,
            "created_at": Timestamp(self.created_at).to_rfc3339(),
            "expires_at": self.expires_at.map(|milliseconds| Timestamp(milliseconds).to_rfc3339()),
        })
    }
}

/// Authenticates a key.
pub(crate) async fn authenticate(store: &Store, id: &str, secret: &str) -> Result<Principal, Problem> {
    let unknown = || unauthenticated("The API key is unknown or was deleted.");
    let Some((key, fingerprint)) = store.key(id).await.map_err(store_problem)? else { return Err(unknown()) };
    if !Secret::new(secret).matches(&fingerprint) {
        return Err(unknown());
    }
    if key.expires_at.is_some_and(|expiry| expiry <= Timestamp::now().0) {
        return Err(token_expired("The API key has expired."));
    }
    let mut principal = Principal::new(PrincipalKind::Key, TENANT, format!("key:{id}"));
    principal.name = Some(key.name.clone());
    principal.scopes.clone_from(&key.scopes);
    Ok(principal.with_extension(key))
}

/// Returns the key, and so the access scope, of a request.
pub(crate) fn from_request(request: &Request) -> Result<ApiKey, Problem> {
    request.principal()?.extension::<ApiKey>().cloned().ok_or_else(Problem::unauthenticated)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewKey {
    name: String,
    scopes: Vec<String>,
    #[serde(default)]
    pipelines: BTreeMap<String, AccessScope>,
    #[serde(default)]
    expires_at: Option<String>,
}

/// `POST /api/keys`.
pub(crate) async fn create(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    require_unrestricted(&request)?;
    let mut new: NewKey = json_body::parse(&mut request).await?;
    check(&new)?;
    for id in new.pipelines.keys() {
        if platform.store.pipeline(id).await.map_err(store_problem)?.is_none() {
            let pointer = format!("/pipelines{}", pidq_http::pointer_step(id));
            return Err(validation(&pointer, "Pipeline not found."));
        }
    }
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
    audit::add_detail("name", key.name.as_str());
    audit::add_detail("scopes", key.scopes.clone());
    let secret = Secret::random().map_err(|_| Problem::internal())?;
    platform.store.add_key(&key, &secret.fingerprint()).await.map_err(store_problem)?;
    let mut body = key.to_json();
    body["key"] = format!("{PREFIX}{}_{}", key.id, secret.expose()).into();
    Ok(Response::json(&body)?.created(format!("/api/keys/{}", key.id)))
}

/// Rejects restricted keys, which could otherwise create unrestricted ones.
fn require_unrestricted(request: &Request) -> Result<(), Problem> {
    match from_request(request)?.is_unrestricted() {
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

fn check(new: &NewKey) -> Result<(), Problem> {
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
    let data: Vec<_> = keys.iter().take(page.limit).map(ApiKey::to_json).collect();
    let response = Response::json(&json!({"data": data, "next_cursor": next}))?;
    Ok(match next {
        Some(next) => response.next_page(&request, &next),
        None => response,
    })
}

/// `GET /api/keys/{key_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    require_unrestricted(&request)?;
    let (key, _) = platform.store.key(request.path("key_id")?).await.map_err(store_problem)?.ok_or_else(not_found)?;
    Response::json(&key.to_json())
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

//! API keys: who may do what in which pipelines, under which labels.

use std::collections::BTreeMap;
use std::sync::Arc;

use pidq_http::auth::Moment;
use pidq_http::{Principal, PrincipalKind, Problem, Request, Response, Secret, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::accounts::{SCOPES, expired, unknown};
use crate::audit;
use crate::bodies;
use crate::labels;
use crate::platform::{LONGEST_PAGE, PAGE, Platform, TENANT};
use crate::problems::{stored, validation};
use crate::store::Store;

/// What every key begins with, by which scanners find keys that leaked.
const PREFIX: &str = "pidq_";

/// Id and secret of a key, `pidq_<id>_<secret>`. Tokens begin alike, and have no UUID there.
pub(crate) fn parts(token: &str) -> Option<(&str, &str)> {
    let (id, secret) = token.strip_prefix(PREFIX)?.split_once('_')?;
    (id.len() == 36).then_some((id, secret))
}

/// A key, without its secret.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ApiKey {
    /// A UUID of version 7.
    pub id: String,
    /// For people.
    pub name: String,
    /// What it may do at all.
    pub scopes: Vec<String>,
    /// Its pipelines; none is all of them.
    pub pipelines: BTreeMap<String, Reach>,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub expires_at: Option<i64>,
}

/// What a key may do in a pipeline.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Reach {
    /// The labels that it sees.
    pub classifications: Vec<String>,
    /// What it may do with them.
    pub verbs: Vec<Verb>,
}

/// What can be done with the documents of a label.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// See them.
    Read,
    /// Change them.
    Write,
    /// Ask them.
    Query,
}

impl Reach {
    fn normalise(&mut self) {
        self.classifications = self.classifications.iter().map(|label| labels::normal(label)).collect();
    }
}

impl ApiKey {
    /// The key of somebody who may do everything.
    pub fn root() -> ApiKey {
        ApiKey { scopes: SCOPES.iter().map(|&scope| scope.to_owned()).collect(), ..ApiKey::default() }
    }

    /// Whether it reaches all pipelines and labels.
    pub fn is_unrestricted(&self) -> bool {
        self.pipelines.is_empty()
    }

    /// The ids of its pipelines in one text; none if it reaches all.
    pub fn pipeline_ids(&self) -> Option<String> {
        (!self.is_unrestricted()).then(|| self.pipelines.keys().map(String::as_str).collect::<Vec<_>>().join(" "))
    }

    /// The labels of a pipeline that it sees; none if the pipeline does not exist for it.
    pub fn labels(&self, pipeline: &str, all: &[String]) -> Option<Vec<String>> {
        if self.is_unrestricted() {
            return Some(all.to_vec());
        }
        let reach = self.pipelines.get(pipeline)?;
        Some(all.iter().filter(|label| reach.classifications.contains(label)).cloned().collect())
    }

    /// Whether it may do something with the documents of a label.
    pub fn may(&self, pipeline: &str, label: &str, verb: Verb) -> bool {
        let reaches =
            |reach: &Reach| reach.verbs.contains(&verb) && reach.classifications.iter().any(|known| known == label);
        self.is_unrestricted() || self.pipelines.get(pipeline).is_some_and(reaches)
    }

    fn show(&self) -> Value {
        json!({
            "id": self.id, "name": self.name, "scopes": self.scopes, "pipelines": self.pipelines,
            "created_at": Moment(self.created_at).to_rfc3339(),
            "expires_at": self.expires_at.map(|moment| Moment(moment).to_rfc3339()),
        })
    }
}

/// Who holds a key.
pub(crate) async fn authenticate(store: &Store, id: &str, secret: &str) -> Result<Principal, Problem> {
    let wrong = || unknown("The API key is not known, or no longer good.");
    let Some((key, known)) = store.key(id).await.map_err(stored)? else { return Err(wrong()) };
    if !Secret::new(secret).is(&known) {
        return Err(wrong());
    }
    if key.expires_at.is_some_and(|moment| moment <= Moment::now().0) {
        return Err(expired("The API key has expired."));
    }
    let mut principal = Principal::new(PrincipalKind::Key, TENANT, format!("key:{id}"));
    principal.name = Some(key.name.clone());
    principal.scopes.clone_from(&key.scopes);
    Ok(principal.with_known(key))
}

/// What the sender of a request may do.
pub(crate) fn of(request: &Request) -> Result<ApiKey, Problem> {
    request.principal()?.known::<ApiKey>().cloned().ok_or_else(Problem::unauthenticated)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    name: String,
    scopes: Vec<String>,
    #[serde(default)]
    pipelines: BTreeMap<String, Reach>,
    #[serde(default)]
    expires_at: Option<String>,
}

/// `POST /api/keys`.
pub(crate) async fn create(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    only_unrestricted(&request)?;
    let mut wanted: Wanted = bodies::of(&mut request).await?;
    check(&wanted)?;
    for id in wanted.pipelines.keys() {
        if platform.store.pipeline(id).await.map_err(stored)?.is_none() {
            let pointer = format!("/pipelines{}", pidq_http::pointer_step(id));
            return Err(validation(&pointer, "There is no such pipeline."));
        }
    }
    wanted.pipelines.values_mut().for_each(Reach::normalise);
    let now = Moment::now();
    let expires_at = wanted.expires_at.as_deref().map(|text| expiry(text, now)).transpose()?;
    let key = ApiKey {
        id: pidq_http::uuid_v7(),
        name: wanted.name,
        scopes: wanted.scopes,
        pipelines: wanted.pipelines,
        created_at: now.0,
        expires_at: expires_at.map(|moment| moment.0),
    };
    audit::detail("name", key.name.as_str());
    audit::detail("scopes", key.scopes.clone());
    let secret = Secret::random().map_err(|_| Problem::internal())?;
    platform.store.add_key(&key, &secret.fingerprint()).await.map_err(stored)?;
    let mut shown = key.show();
    shown["key"] = format!("{PREFIX}{}_{}", key.id, secret.expose()).into();
    Ok(Response::json(&shown)?.created(format!("/api/keys/{}", key.id)))
}

/// A key that reaches some pipelines only would otherwise make one that reaches all.
fn only_unrestricted(request: &Request) -> Result<(), Problem> {
    match of(request)?.is_unrestricted() {
        true => Ok(()),
        false => Err(Problem::new(StatusCode::FORBIDDEN, "forbidden")
            .detail("This key reaches some pipelines only, and looks after no keys.")),
    }
}

fn expiry(text: &str, now: Moment) -> Result<Moment, Problem> {
    let moment = Moment::from_rfc3339(text).ok_or_else(|| {
        validation("/expires_at", "This is no time: write it as RFC 3339 has it, `2027-01-31T00:00:00Z`.")
    })?;
    if moment <= now {
        return Err(validation("/expires_at", "This time is over: such a key would be good for nothing."));
    }
    Ok(moment)
}

fn check(wanted: &Wanted) -> Result<(), Problem> {
    if !(1..=128).contains(&wanted.name.chars().count()) {
        return Err(validation("/name", "A name has 1 to 128 characters."));
    }
    match wanted.scopes.iter().position(|scope| !SCOPES.contains(&scope.as_str())) {
        Some(at) => Err(validation(&format!("/scopes/{at}"), "This is no scope.").with("allowed", SCOPES.to_vec())),
        None if wanted.scopes.is_empty() => Err(validation("/scopes", "A key without a scope is good for nothing.")),
        None => Ok(()),
    }
}

/// `GET /api/keys`.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    only_unrestricted(&request)?;
    let page = platform.cursors.page(&request, "keys", PAGE, LONGEST_PAGE)?;
    let after = page.after.unwrap_or_default();
    let keys = platform.store.keys(&after, page.limit + 1).await.map_err(stored)?;
    let next = (keys.len() > page.limit).then(|| platform.cursors.seal("keys", &keys[page.limit - 1].id));
    let shown: Vec<_> = keys.iter().take(page.limit).map(ApiKey::show).collect();
    let response = Response::json(&json!({"data": shown, "next_cursor": next}))?;
    Ok(match next {
        Some(next) => response.next_page(&request, &next),
        None => response,
    })
}

/// `GET /api/keys/{key_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    only_unrestricted(&request)?;
    let (key, _) = platform.store.key(request.path("key_id")?).await.map_err(stored)?.ok_or_else(not_found)?;
    Response::json(&key.show())
}

/// `DELETE /api/keys/{key_id}`.
pub(crate) async fn delete(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    only_unrestricted(&request)?;
    match platform.store.delete_key(request.path("key_id")?).await.map_err(stored)? {
        true => Ok(Response::empty(StatusCode::NO_CONTENT)),
        false => Err(not_found()),
    }
}

fn not_found() -> Problem {
    Problem::not_found("key-not-found").detail("There is no such key.")
}

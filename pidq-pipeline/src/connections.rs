//! `/api/llm-connections`: models that queries name by an id, with keys that nobody reads again.
//!
//! A key is sealed for the id and the address of its connection, so that it opens for no other address: neither by a
//! query, nor by a change of the address, nor by a hand in the database.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use pidq_http::auth::Moment;
use pidq_http::{Problem, Request, Response, Secret, StatusCode, uuid_v7};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::ask::{known_provider, told};
use crate::audit;
use crate::bodies;
use crate::llm::{Endpoint, Fault};
use crate::patches::{self, unless_changed};
use crate::pipelines::known_members;
use crate::platform::{LONGEST_PAGE, PAGE, Platform};
use crate::problems::{stored, unprocessable, validation};
use crate::seal::Place;

/// A connection, its key sealed.
#[derive(Clone, Debug, PartialEq)]
pub struct Connection {
    /// A UUID of version 7.
    pub id: String,
    /// Unique, for people.
    pub name: String,
    /// Counts changes from 1.
    pub revision: i64,
    /// The kind of the interface.
    pub provider: String,
    /// The name of the model.
    pub model: String,
    /// The address, usually with `/v1` at its end.
    pub base_url: String,
    /// What the model reads and writes together, in tokens.
    pub context_window: Option<i64>,
    /// The names of more headers; their values are sealed.
    pub header_names: Vec<String>,
    /// The key and the values of the headers.
    pub sealed: String,
    /// Milliseconds since 1970.
    pub created_at: i64,
    /// Milliseconds since 1970.
    pub updated_at: i64,
}

/// What is sealed of a connection.
#[derive(Clone, Default, Deserialize, Serialize)]
struct Sealed {
    api_key: String,
    #[serde(default)]
    extra_headers: BTreeMap<String, String>,
}

/// What somebody says of a connection.
#[derive(Deserialize)]
struct Wanted {
    name: String,
    #[serde(default)]
    provider: Option<String>,
    api_key: String,
    model: String,
    base_url: String,
    #[serde(default)]
    context_window: Option<i64>,
    #[serde(default)]
    extra_headers: BTreeMap<String, String>,
}

const MEMBERS: &[&str] = &["name", "provider", "api_key", "model", "base_url", "context_window", "extra_headers"];
/// The fewest tokens that a question and a passage need, and more than any model has.
const WINDOW: std::ops::RangeInclusive<i64> = 1024..=100_000_000;
/// The most headers.
const HEADERS: usize = 16;

impl Connection {
    fn etag(&self) -> String {
        format!("{}-{}", self.id, self.revision)
    }

    fn show(&self) -> Value {
        json!({
            "id": self.id, "name": self.name, "provider": self.provider, "model": self.model,
            "base_url": self.base_url, "context_window": self.context_window, "extra_headers": self.header_names,
            "created_at": Moment(self.created_at).to_rfc3339(), "updated_at": Moment(self.updated_at).to_rfc3339(),
            "revision": self.revision,
        })
    }

    fn context(&self) -> [&str; 2] {
        [&self.id, &self.base_url]
    }

    /// Seals a secret for this connection and its address.
    fn seal(&mut self, platform: &Platform, secret: &Sealed) -> Result<(), Problem> {
        let text = serde_json::to_vec(secret).map_err(|_| Problem::internal())?;
        let place = Place { purpose: PURPOSE, context: &self.context() };
        let sealed = platform.sealer.seal(place, &text).ok_or_else(Problem::internal)?;
        self.sealed = sealed;
        self.header_names = secret.extra_headers.keys().cloned().collect();
        Ok(())
    }

    fn open(&self, platform: &Platform) -> Result<Sealed, Problem> {
        let place = Place { purpose: PURPOSE, context: &self.context() };
        let text = platform.sealer.open(place, &self.sealed).ok_or_else(|| {
            let detail =
                "The key was sealed with another application secret: change the connection, with its `api_key`.";
            Problem::new(StatusCode::CONFLICT, "llm-connection-sealed").detail(detail)
        })?;
        serde_json::from_slice(&text).map_err(|_| Problem::internal())
    }

    /// The model that it leads to.
    pub(crate) fn endpoint(&self, platform: &Platform) -> Result<Endpoint, Problem> {
        Ok(endpoint(&self.base_url, &self.model, self.open(platform)?))
    }
}

const PURPOSE: &[&str] = &["llm-connections"];

fn endpoint(base_url: &str, model: &str, secret: Sealed) -> Endpoint {
    let headers = secret.extra_headers.into_iter().map(|(name, value)| (name, Secret::new(value)));
    let extra_headers = headers.collect();
    Endpoint { extra_headers, ..Endpoint::new(base_url, Secret::new(secret.api_key), model) }
}

/// `POST /api/llm-connections`.
pub(crate) async fn create(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let body: Map<String, Value> = request.object().await?;
    known_members(&body, MEMBERS)?;
    let wanted: Wanted = bodies::read(body)?;
    must_last(platform)?;
    let now = Moment::now().0;
    let connection = Connection {
        id: uuid_v7(),
        name: String::new(),
        revision: 1,
        provider: String::new(),
        model: String::new(),
        base_url: String::new(),
        context_window: None,
        header_names: Vec::new(),
        sealed: String::new(),
        created_at: now,
        updated_at: now,
    };
    let connection = connected(platform, connection, wanted)?;
    audit::detail("name", connection.name.as_str());
    platform.store.add_connection(&connection).await.map_err(stored)?;
    let place = format!("/api/llm-connections/{}", connection.id);
    Ok(Response::json(&connection.show())?.created(place).etag(connection.etag()))
}

/// Without a secret that lasts, a key would be lost with this process.
fn must_last(platform: &Platform) -> Result<(), Problem> {
    if platform.sealer.is_lasting() {
        return Ok(());
    }
    let detail = "Keys are kept only where there is a secret to seal them with: set PIDQ_APP_SECRET.";
    Err(Problem::new(StatusCode::CONFLICT, "app-secret-missing").detail(detail))
}

/// A connection as somebody wants it, checked and sealed.
fn connected(platform: &Platform, connection: Connection, wanted: Wanted) -> Result<Connection, Problem> {
    let provider = known_provider(wanted.provider.as_deref(), "/provider")?.to_owned();
    let name = wanted.name.trim().to_owned();
    if !(1..=128).contains(&name.chars().count()) {
        return Err(validation("/name", "A name has 1 to 128 characters."));
    }
    if wanted.context_window.is_some_and(|window| !WINDOW.contains(&window)) {
        let detail = format!("A window has {} to {} tokens.", WINDOW.start(), WINDOW.end());
        return Err(validation("/context_window", &detail));
    }
    if wanted.extra_headers.len() > HEADERS {
        return Err(validation("/extra_headers", &format!("There are at most {HEADERS} more headers.")));
    }
    let secret = Sealed { api_key: wanted.api_key, extra_headers: wanted.extra_headers };
    sound(&endpoint(&wanted.base_url, &wanted.model, secret.clone()), "")?;
    let (model, base_url, context_window) = (wanted.model, wanted.base_url, wanted.context_window);
    let mut connection = Connection { name, provider, model, base_url, context_window, ..connection };
    connection.seal(platform, &secret)?;
    Ok(connection)
}

/// 422 for an endpoint that cannot be right, whoever is asked. `place` is where it stands in the body.
pub(crate) fn sound(endpoint: &Endpoint, place: &str) -> Result<(), Problem> {
    let faults = endpoint.faults();
    let Some(first) = faults.first() else { return Ok(()) };
    let told = |fault: &Fault| json!({"pointer": format!("{place}{}", fault.pointer), "detail": fault.detail});
    let errors: Vec<_> = faults.iter().map(told).collect();
    let before = if place.is_empty() { String::new() } else { format!("`{}`: ", place.trim_start_matches('/')) };
    let detail = pidq_http::sentence(&format!("{before}{first}"));
    Err(Problem::unprocessable("validation", detail).with("errors", errors))
}

/// `GET /api/llm-connections`.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let page = platform.cursors.page(&request, "llm-connections", PAGE, LONGEST_PAGE)?;
    let after = page.after.unwrap_or_default();
    let some = platform.store.connections(&after, page.limit + 1).await.map_err(stored)?;
    let next = (some.len() > page.limit).then(|| platform.cursors.seal("llm-connections", &some[page.limit - 1].id));
    let shown: Vec<_> = some.iter().take(page.limit).map(Connection::show).collect();
    let response = Response::json(&json!({"data": shown, "next_cursor": next}))?;
    Ok(match next {
        Some(next) => response.next_page(&request, &next),
        None => response,
    })
}

/// `GET /api/llm-connections/{connection_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let connection = of(platform, &request).await?;
    Ok(Response::json(&connection.show())?.etag(connection.etag()))
}

/// `PATCH /api/llm-connections/{connection_id}`: a merge patch (RFC 7396).
pub(crate) async fn change(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let patch: Map<String, Value> = request.object().await?;
    known_members(&patch, MEMBERS)?;
    must_last(platform)?;
    patches::put(|| try_change(platform, &request, &patch)).await
}

/// Patches a connection; nothing, if somebody else changed it since it was read.
async fn try_change(
    platform: &Arc<Platform>,
    request: &Request,
    patch: &Map<String, Value>,
) -> Result<Option<Response>, Problem> {
    let connection = of(platform, request).await?;
    request.head.precondition(Some(&connection.etag()))?;
    audit::changed(patch);
    let wanted = patched(platform, &connection, patch)?;
    let changed = connected(platform, connection, wanted)?;
    let Some(changed) = unless_changed(platform.store.update_connection(&changed).await)? else { return Ok(None) };
    Ok(Some(Response::json(&changed.show())?.etag(changed.etag())))
}

/// What a connection says with a patch. What is secret stays with its address: another one needs it again.
fn patched(platform: &Platform, connection: &Connection, patch: &Map<String, Value>) -> Result<Wanted, Problem> {
    let moves = patch.get("base_url").is_some_and(|url| url.as_str() != Some(connection.base_url.as_str()));
    if moves && !patch.get("api_key").is_some_and(Value::is_string) {
        return Err(validation("/api_key", "A key goes to its own address only: another `base_url` needs it again."));
    }
    if moves && !connection.header_names.is_empty() && !patch.contains_key("extra_headers") {
        let detail = "Headers go to their own address only: another `base_url` needs them again, or null.";
        return Err(validation("/extra_headers", detail));
    }
    let all_new = ["api_key", "extra_headers"].iter().all(|member| patch.contains_key(*member));
    // A patch with all that is secret also mends a connection that does not open any more.
    let kept = if moves || all_new { Sealed::default() } else { connection.open(platform)? };
    let mut members = json!({
        "name": connection.name, "provider": connection.provider, "api_key": kept.api_key, "model": connection.model,
        "base_url": connection.base_url, "context_window": connection.context_window,
        "extra_headers": kept.extra_headers,
    });
    patches::merge(&mut members, &Value::Object(patch.clone()));
    bodies::part("", members)
}

/// `DELETE /api/llm-connections/{connection_id}`.
pub(crate) async fn delete(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let connection = of(platform, &request).await?;
    request.head.precondition(Some(&connection.etag()))?;
    match platform.store.delete_connection(&connection.id).await.map_err(stored)? {
        true => Ok(Response::empty(StatusCode::NO_CONTENT)),
        false => Err(not_found()),
    }
}

/// `POST /api/llm-connections/{connection_id}/test`: whether the server answers, and which models it has.
pub(crate) async fn test(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let endpoint = of(platform, &request).await?.endpoint(platform)?;
    let begun = Instant::now();
    let models = platform.llm.models(&endpoint).await.map_err(told)?;
    let latency = begun.elapsed().as_millis() as u64;
    Response::json(&json!({"ok": true, "latency_ms": latency, "models": models}))
}

/// The connection that a request names.
async fn of(platform: &Platform, request: &Request) -> Result<Connection, Problem> {
    let id = request.path("connection_id")?;
    platform.store.connection(id).await.map_err(stored)?.ok_or_else(not_found)
}

/// The connection that a query names.
pub(crate) async fn named(platform: &Platform, id: &str) -> Result<Connection, Problem> {
    platform
        .store
        .connection(id)
        .await
        .map_err(stored)?
        .ok_or_else(|| unprocessable("llm-connection-not-found", "/llm_connection", "There is no such connection."))
}

fn not_found() -> Problem {
    Problem::not_found("llm-connection-not-found").detail("There is no such connection.")
}

//! `/api/llm-connections`: LLM endpoints referenced by id, with write-only secrets.
//!
//! Secrets are encrypted for the id and the base URL of their connection, so they cannot be used for another URL: not by a
//! query, a changed URL, or a manual change in the database.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use pidq_http::auth::Timestamp;
use pidq_http::{Problem, Request, Response, Secret, StatusCode, codes, uuid_v7};
use pidq_store::crypto::EncryptionContext;
use pidq_store::domain::audit_context;
use pidq_store::domain::llm_connection::LlmConnection;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::api::json_body;
use crate::api::llm_problems::{ProviderName, llm_problem, parse_provider};
use crate::api::merge_patch::{self, none_if_changed};
use crate::api::page_response::page_response;
use crate::api::problems::{store_problem, unprocessable, validation};
use crate::api::schema::{DateTime, Uuid, not_null};
use crate::llm::{Endpoint, EndpointError};
use crate::platform::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, Platform};

/// Secrets of a connection.
#[derive(Clone, Default, Deserialize, Serialize)]
struct ConnectionSecrets {
    api_key: String,
    #[serde(default)]
    extra_headers: BTreeMap<String, String>,
}

/// LLM connection with its secrets.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConnectionRequest {
    /// Unique name; 1 to 128 characters without the white space around them.
    #[schemars(length(min = 1, max = 128))]
    name: String,
    /// Kind of the API. There is one, with two names.
    #[schemars(with = "Option<ProviderName>")]
    provider: Option<String>,
    /// API key. It cannot be read back.
    api_key: String,
    /// Name of the model.
    #[schemars(length(min = 1, max = 256))]
    model: String,
    /// Base URL, usually ending with `/v1`.
    base_url: String,
    /// Context window of the model, in tokens.
    #[schemars(range(min = *CONTEXT_WINDOW.start(), max = *CONTEXT_WINDOW.end()))]
    context_window: Option<i64>,
    /// Additional headers of requests to the model. Their values cannot be read back.
    #[serde(default)]
    #[schemars(extend("maxProperties" = MAX_HEADERS))]
    extra_headers: BTreeMap<String, String>,
}

/// Merge patch (RFC 7396) of an LLM connection. A new `base_url` requires the secrets again.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the patch is merged as JSON, and the result is deserialized")]
pub(crate) struct ConnectionPatch {
    /// New name.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String", length(min = 1, max = 128))]
    name: Option<String>,
    /// Kind of the API. There is one, with two names.
    #[schemars(with = "Option<ProviderName>")]
    provider: Option<String>,
    /// New API key.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String")]
    api_key: Option<String>,
    /// Name of another model.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String", length(min = 1, max = 256))]
    model: Option<String>,
    /// New base URL.
    #[serde(default, deserialize_with = "not_null")]
    #[schemars(with = "String")]
    base_url: Option<String>,
    /// Context window of the model, in tokens; null removes it.
    #[schemars(range(min = *CONTEXT_WINDOW.start(), max = *CONTEXT_WINDOW.end()))]
    context_window: Option<i64>,
    /// Changes of the additional headers; null removes a header, or all of them.
    extra_headers: Option<BTreeMap<String, Option<String>>>,
}

/// LLM connection, without its secrets.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "LlmConnection")]
pub(crate) struct ConnectionResponse<'a> {
    /// Id.
    #[schemars(with = "Uuid")]
    id: &'a str,
    /// Unique name.
    name: &'a str,
    /// Kind of the API.
    provider: &'a str,
    /// Name of the model.
    model: &'a str,
    /// Base URL.
    base_url: &'a str,
    /// Context window of the model, in tokens. Null if it is not known.
    context_window: Option<i64>,
    /// Names of the additional headers.
    extra_headers: &'a [String],
    /// Creation.
    created_at: DateTime,
    /// Last change.
    updated_at: DateTime,
    /// Revision, from 1.
    revision: i64,
}

impl<'a> From<&'a LlmConnection> for ConnectionResponse<'a> {
    fn from(connection: &'a LlmConnection) -> ConnectionResponse<'a> {
        ConnectionResponse {
            id: &connection.id,
            name: &connection.name,
            provider: &connection.provider,
            model: &connection.model,
            base_url: &connection.base_url,
            context_window: connection.context_window,
            extra_headers: &connection.header_names,
            created_at: DateTime(connection.created_at),
            updated_at: DateTime(connection.updated_at),
            revision: connection.revision,
        }
    }
}

/// Language model that questions can name by `llm_connection`.
#[derive(JsonSchema, Serialize)]
pub(crate) struct LanguageModel<'a> {
    /// Id of the connection.
    #[schemars(with = "Uuid")]
    id: &'a str,
    /// Name of the connection.
    name: &'a str,
    /// Name of the model.
    model: &'a str,
}

impl<'a> From<&'a LlmConnection> for LanguageModel<'a> {
    fn from(connection: &'a LlmConnection) -> LanguageModel<'a> {
        LanguageModel { id: &connection.id, name: &connection.name, model: &connection.model }
    }
}

/// Result of the test of an LLM connection.
#[derive(JsonSchema, Serialize)]
pub(crate) struct ConnectionTest {
    /// `true`: an error is a problem.
    ok: bool,
    /// Response time of the server, in milliseconds.
    latency_ms: u64,
    /// Models of the server.
    models: Vec<String>,
}

/// Accepted context windows: enough for a question and a passage, and beyond any model.
const CONTEXT_WINDOW: std::ops::RangeInclusive<i64> = 1024..=100_000_000;
/// Maximum number of extra headers.
const MAX_HEADERS: usize = 16;

/// Encrypts the secrets for a connection and its base URL.
fn encrypt(platform: &Platform, connection: &mut LlmConnection, secret: &ConnectionSecrets) -> Result<(), Problem> {
    let text = serde_json::to_vec(secret).map_err(|_| Problem::internal())?;
    let context = EncryptionContext { purpose: PURPOSE, context: &[&connection.id, &connection.base_url] };
    let ciphertext = platform.encryptor.encrypt(context, &text).ok_or_else(Problem::internal)?;
    connection.encrypted_secrets = ciphertext;
    connection.header_names = secret.extra_headers.keys().cloned().collect();
    Ok(())
}

fn decrypt(platform: &Platform, connection: &LlmConnection) -> Result<ConnectionSecrets, Problem> {
    let context = EncryptionContext { purpose: PURPOSE, context: &[&connection.id, &connection.base_url] };
    let text = platform.encryptor.decrypt(context, &connection.encrypted_secrets).ok_or_else(|| {
        let detail = "The key was encrypted with another application secret. Update the connection with its `api_key`.";
        Problem::new(codes::LLM_CONNECTION_UNDECRYPTABLE).detail(detail)
    })?;
    serde_json::from_slice(&text).map_err(|_| Problem::internal())
}

/// Returns the endpoint of a connection.
pub(crate) fn connection_endpoint(platform: &Platform, connection: &LlmConnection) -> Result<Endpoint, Problem> {
    Ok(endpoint(&connection.base_url, &connection.model, decrypt(platform, connection)?))
}

const PURPOSE: &[&str] = &["llm-connections"];

fn endpoint(base_url: &str, model: &str, secret: ConnectionSecrets) -> Endpoint {
    let headers = secret.extra_headers.into_iter().map(|(name, value)| (name, Secret::new(value)));
    let extra_headers = headers.collect();
    Endpoint { extra_headers, ..Endpoint::new(base_url, Secret::new(secret.api_key), model) }
}

/// `POST /api/llm-connections`.
pub(crate) async fn create(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let body: ConnectionRequest = json_body::parse(&mut request).await?;
    require_app_secret(platform)?;
    let now = Timestamp::now().0;
    let connection = LlmConnection {
        id: uuid_v7(),
        name: String::new(),
        revision: 1,
        provider: String::new(),
        model: String::new(),
        base_url: String::new(),
        context_window: None,
        header_names: Vec::new(),
        encrypted_secrets: String::new(),
        created_at: now,
        updated_at: now,
    };
    let connection = validate(platform, connection, body)?;
    audit_context::add_detail("name", connection.name.as_str());
    platform.store.add_connection(&connection).await.map_err(store_problem)?;
    let location = format!("/api/llm-connections/{}", connection.id);
    Ok(Response::json(&ConnectionResponse::from(&connection))?.created(location).etag(connection.etag()))
}

/// Requires a configured application secret: otherwise the API key would be lost with this process.
fn require_app_secret(platform: &Platform) -> Result<(), Problem> {
    if platform.encryptor.is_persistent() {
        return Ok(());
    }
    let detail = "Storing API keys requires an application secret. Set PIDQ_APP_SECRET.";
    Err(Problem::new(codes::APP_SECRET_MISSING).detail(detail))
}

/// Validates a body and applies it to a connection.
fn validate(platform: &Platform, connection: LlmConnection, body: ConnectionRequest) -> Result<LlmConnection, Problem> {
    let provider = parse_provider(body.provider.as_deref(), "/provider")?.to_owned();
    let name = body.name.trim().to_owned();
    if !(1..=128).contains(&name.chars().count()) {
        return Err(validation("/name", "A name must have 1 to 128 characters."));
    }
    if body.context_window.is_some_and(|window| !CONTEXT_WINDOW.contains(&window)) {
        let detail =
            format!("A context window must have {} to {} tokens.", CONTEXT_WINDOW.start(), CONTEXT_WINDOW.end());
        return Err(validation("/context_window", &detail));
    }
    if body.extra_headers.len() > MAX_HEADERS {
        return Err(validation("/extra_headers", &format!("At most {MAX_HEADERS} extra headers are allowed.")));
    }
    let secret = ConnectionSecrets { api_key: body.api_key, extra_headers: body.extra_headers };
    validate_endpoint(&endpoint(&body.base_url, &body.model, secret.clone()), "")?;
    let (model, base_url, context_window) = (body.model, body.base_url, body.context_window);
    let mut connection = LlmConnection { name, provider, model, base_url, context_window, ..connection };
    encrypt(platform, &mut connection, &secret)?;
    Ok(connection)
}

/// Returns 422 for an invalid endpoint. `base` is its JSON pointer in the body.
pub(crate) fn validate_endpoint(endpoint: &Endpoint, base: &str) -> Result<(), Problem> {
    let endpoint_errors = endpoint.validate();
    let Some(first) = endpoint_errors.first() else { return Ok(()) };
    let to_error =
        |error: &EndpointError| json!({"pointer": format!("{base}{}", error.pointer), "detail": error.detail});
    let errors: Vec<_> = endpoint_errors.iter().map(to_error).collect();
    let prefix = if base.is_empty() { String::new() } else { format!("`{}`: ", base.trim_start_matches('/')) };
    let detail = pidq_http::sentence(&format!("{prefix}{first}"));
    Err(Problem::new(codes::VALIDATION).detail(detail).with("errors", errors))
}

/// `GET /api/llm-connections`.
pub(crate) async fn list(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (connections, next) = page(platform, &request).await?;
    page_response(&request, connections.iter().map(ConnectionResponse::from).collect(), next)
}

/// `GET /api/language-models`: what a question needs, without the addresses of the servers.
pub(crate) async fn list_models(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let (connections, next) = page(platform, &request).await?;
    page_response(&request, connections.iter().map(LanguageModel::from).collect(), next)
}

/// Returns a page of the connections, and the cursor of the next one.
async fn page(platform: &Arc<Platform>, request: &Request) -> Result<(Vec<LlmConnection>, Option<String>), Problem> {
    let page = platform.cursors.page(request, "llm-connections", DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)?;
    let after = page.after.unwrap_or_default();
    let mut rows = platform.store.connections(&after, page.limit + 1).await.map_err(store_problem)?;
    let next = (rows.len() > page.limit).then(|| platform.cursors.sign("llm-connections", &rows[page.limit - 1].id));
    rows.truncate(page.limit);
    Ok((rows, next))
}

/// `GET /api/llm-connections/{connection_id}`.
pub(crate) async fn fetch(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let connection = find_connection(platform, &request).await?;
    Ok(Response::json(&ConnectionResponse::from(&connection))?.etag(connection.etag()))
}

/// `PATCH /api/llm-connections/{connection_id}`: a merge patch (RFC 7396).
pub(crate) async fn change(platform: &Arc<Platform>, mut request: Request) -> Result<Response, Problem> {
    let patch: Map<String, Value> = request.object().await?;
    json_body::from_object::<ConnectionPatch>(patch.clone())?;
    require_app_secret(platform)?;
    merge_patch::retry_on_conflict(|| try_change(platform, &request, &patch)).await
}

/// Applies a merge patch; none after a concurrent modification.
async fn try_change(
    platform: &Arc<Platform>,
    request: &Request,
    patch: &Map<String, Value>,
) -> Result<Option<Response>, Problem> {
    let connection = find_connection(platform, request).await?;
    request.head.precondition(Some(&connection.etag()))?;
    audit_context::add_changed_fields(patch);
    let body = apply_patch(platform, &connection, patch)?;
    let changed = validate(platform, connection, body)?;
    let Some(changed) = none_if_changed(platform.store.update_connection(&changed).await)? else { return Ok(None) };
    Ok(Some(Response::json(&ConnectionResponse::from(&changed))?.etag(changed.etag())))
}

/// Merges a patch. A new base URL requires the secrets again.
fn apply_patch(
    platform: &Platform,
    connection: &LlmConnection,
    patch: &Map<String, Value>,
) -> Result<ConnectionRequest, Problem> {
    let changes_url = patch.get("base_url").is_some_and(|url| url.as_str() != Some(connection.base_url.as_str()));
    if changes_url && !patch.get("api_key").is_some_and(Value::is_string) {
        return Err(validation("/api_key", "To change `base_url`, send `api_key` again."));
    }
    if changes_url && !connection.header_names.is_empty() && !patch.contains_key("extra_headers") {
        let detail = "To change `base_url`, send `extra_headers` again, or null to remove them.";
        return Err(validation("/extra_headers", detail));
    }
    let replaces_secrets = ["api_key", "extra_headers"].iter().all(|field| patch.contains_key(*field));
    // A patch with all secrets also repairs a connection that cannot be decrypted.
    let secrets =
        if changes_url || replaces_secrets { ConnectionSecrets::default() } else { decrypt(platform, connection)? };
    let mut merged = json!({
        "name": connection.name, "provider": connection.provider, "api_key": secrets.api_key, "model": connection.model,
        "base_url": connection.base_url, "context_window": connection.context_window,
        "extra_headers": secrets.extra_headers,
    });
    merge_patch::merge(&mut merged, &Value::Object(patch.clone()));
    json_body::from_value("", merged)
}

/// `DELETE /api/llm-connections/{connection_id}`.
pub(crate) async fn delete(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let connection = find_connection(platform, &request).await?;
    request.head.precondition(Some(&connection.etag()))?;
    match platform.store.delete_connection(&connection.id).await.map_err(store_problem)? {
        true => Ok(Response::empty(StatusCode::NO_CONTENT)),
        false => Err(not_found()),
    }
}

/// `POST /api/llm-connections/{connection_id}/test`: checks the server and lists its models.
pub(crate) async fn test(platform: &Arc<Platform>, request: Request) -> Result<Response, Problem> {
    let endpoint = connection_endpoint(platform, &find_connection(platform, &request).await?)?;
    let started = Instant::now();
    let models = platform.generation.llm.models(&endpoint).await.map_err(llm_problem)?;
    let latency = started.elapsed().as_millis() as u64;
    Response::json(&ConnectionTest { ok: true, latency_ms: latency, models })
}

/// Returns the connection of a request.
async fn find_connection(platform: &Platform, request: &Request) -> Result<LlmConnection, Problem> {
    let id = request.path("connection_id")?;
    platform.store.connection(id).await.map_err(store_problem)?.ok_or_else(not_found)
}

/// Returns the connection that a query references.
pub(crate) async fn connection_by_id(platform: &Platform, id: &str) -> Result<LlmConnection, Problem> {
    platform
        .store
        .connection(id)
        .await
        .map_err(store_problem)?
        .ok_or_else(|| unprocessable(codes::LLM_CONNECTION_NOT_FOUND, "/llm_connection", "LLM connection not found."))
}

fn not_found() -> Problem {
    Problem::new(codes::LLM_CONNECTION_NOT_FOUND).detail("LLM connection not found.")
}
